/* Tests closures that engage and release during a run. The references are closed forms and, for derivatives,
 * differences of whole runs (docs/derivations/closures.md, Z12). */
#include <math.h>
#include <string.h>

#include "library/library.h"
#include "support/compare.h"

static void must(sdrs* s, sdrs_status status) {
  if (status != SDRS_OK) fail_msg("status %d: %s", (int)status, sdrs_error(s));
}

static sdrs* parsed(const char* format, const char* integrator) {
  char text[4096];
  snprintf(text, sizeof text, format, integrator);
  sdrs* s = NULL;
  sdrs_status status = sdrs_parse(&s, text, NULL, NULL);
  must(s, status);
  return s;
}

static sdrs_array shown(sdrs* s, sdrs_block block, int link) {
  sdrs_array out = SDRS_INIT(sdrs_array);
  must(s, sdrs_record(s, block, link, &out));
  return out;
}

/* Two carts of 2 and 3 kg join at 0.1 s and part at 0.2 s. */
static const char CARTS[] =
    "simulation: {dt: 0.01, steps: 30, gravity: [0, 0, 0], integrator: %s}\n"
    "links:\n"
    "  - {name: a, joint: {type: slide, axis: [1, 0, 0]}, mass: 2, center: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"
    "  - {name: b, joint: {type: slide, axis: [1, 0, 0], position: [1, 0, 0]}, mass: 3, center: [0, 0, 0], inertia: "
    "[1, 1, 1, 0, 0, 0]}\n"
    "closures: [{type: weld, a: a, b: b, active: {type: keyframes, times: [0.095, 0.0951, 0.195, 0.1951], values: [0, "
    "1, 1, 0]}}]\n"
    "initial: [{link: a, velocities: [1]}, {link: b, velocities: [-0.5]}]\n";

static void carts_join_with_their_momentum_Z12(void** state) {
  (void)state;
  static const char* const integrators[] = {"momentum", "first_order"};
  for (int i = 0; i < 2; i++) {
    sdrs* s = parsed(CARTS, integrators[i]);
    must(s, sdrs_run(s, 30));
    sdrs_array q = shown(s, SDRS_COORDINATES, -1);
    double common = (2 * 1 - 3 * 0.5) / 5, before[2] = {q.data[20], q.data[21]};
    compare_near(before[0], 0.1, 1e-12, "a moves freely until 0.1 s");
    compare_near(before[1], -0.05, 1e-12, "b moves freely until 0.1 s");
    for (int row = 11; row <= 30; row++)
      for (int k = 0; k < 2; k++)
        compare_near(q.data[2 * row + k], before[k] + common * 0.01 * (row - 10), 1e-9, "row %d, cart %d", row, k);
    sdrs_free(s);
  }
}

/* An arm grasps a rotating, flying body, swings the body and releases it. The loss is the body's final position as a
 * function of the initial state. */
static const char GRASP[] =
    "simulation: {dt: 0.01, steps: 16, tolerance: 1e-13, integrator: %s}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: arm, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, shapes: [{type: box, size: [0.5, 0.1, 0.1], "
    "position: [0.25, 0, 0]}]}\n"
    "  - {name: body, position: [0.6, 0.1, 0], mass: 0.4, shapes: [{type: box, size: [0.1, 0.2, 0.3]}]}\n"
    "closures: [{type: %%s, a: arm, b: body, point: [0.5, 0, 0], active: {type: keyframes, "
    "times: [0.045, 0.0451, 0.115, 0.1151], values: [0, 1, 1, 0]}}]\n"
    "initial: [{link: arm, coordinates: [0.3], velocities: [1]}, {link: body, velocities: [0.3, 0.1, 0.5, 1, -2, "
    "3]}]\n";
enum { STEPS = 16, NV = 7, MOST = (STEPS + 1) * 3 };

static double weighted(sdrs* s, const double* q0, const double* v0, const double* moved, const double* weights) {
  double q[16], v[16];
  const Model* m = &s->shared->model;
  model_increment(m, q0, moved, 1, q);
  for (int k = 0; k < NV; k++) v[k] = v0[k] + moved[NV + k];
  must(s, sdrs_set(s, SDRS_COORDINATES, q, (size_t)m->coordinate_count));
  must(s, sdrs_set(s, SDRS_VELOCITIES, v, NV));
  must(s, sdrs_run(s, STEPS));
  sdrs_array x = shown(s, SDRS_POSITION, 1);
  double sum = 0;
  for (size_t row = 0; row < x.rows; row++)
    for (size_t k = 0; k < 3; k++) sum += weights[3 * row + k] * x.data[row * x.stride + k];
  return sum;
}

static void compare_grasp(const char* scene, const char* integrator, const char* type) {
  char format[4096];
  snprintf(format, sizeof format, scene, integrator);
  sdrs* s = parsed(format, type);
  double q0[16], v0[16], weights[MOST], direction[2 * NV], moved[2 * NV] = {0}, slope = 0;
  sdrs_array at = SDRS_INIT(sdrs_array);
  must(s, sdrs_view(s, SDRS_COORDINATES, -1, &at));
  memcpy(q0, at.data, sizeof(double) * at.columns);
  must(s, sdrs_view(s, SDRS_VELOCITIES, -1, &at));
  memcpy(v0, at.data, sizeof(double) * at.columns);
  Random random = {9};
  for (int k = 0; k < MOST; k++) weights[k] = random_normal(&random);
  for (int k = 0; k < 2 * NV; k++) direction[k] = random_normal(&random);
  (void)weighted(s, q0, v0, moved, weights);
  must(s, sdrs_step(s, STEPS / 2));
  double closed_at = sim_closures_joined(s->state->sim)[0].since;
  if (!(closed_at > 0.03 && closed_at < 0.06)) fail_msg("%s: closed at %g s", type, closed_at);
  (void)weighted(s, q0, v0, moved, weights);
  sdrs_seed seed = {sizeof(sdrs_seed), SDRS_POSITION, 1, weights, MOST};
  must(s, sdrs_gradient(s, &seed, 1));
  const sdrs_block blocks[] = {SDRS_COORDINATES, SDRS_VELOCITIES};
  for (int b = 0; b < 2; b++) {
    must(s, sdrs_gradient_view(s, blocks[b], &at));
    for (int k = 0; k < NV; k++) slope += at.data[k] * direction[b * NV + k];
  }
  double best = INFINITY, difference = 0;
  for (double h = 1e-3; h > 1e-7; h /= 4) {
    double value[2];
    for (int side = 0; side < 2; side++) {
      for (int k = 0; k < 2 * NV; k++) moved[k] = (side ? -h : h) * direction[k];
      value[side] = weighted(s, q0, v0, moved, weights);
    }
    double quotient = (value[0] - value[1]) / (2 * h);
    if (fabs(quotient - slope) >= best) continue;
    best = fabs(quotient - slope);
    difference = quotient;
  }
  compare_relative(slope, difference, 1e-6, "%s, %s", type, integrator);
  sdrs_free(s);
}

static void a_grasp_has_derivatives(void** state) {
  (void)state;
  compare_grasp(GRASP, "first_order", "weld");
  compare_grasp(GRASP, "momentum", "weld");
  compare_grasp(GRASP, "momentum", "hinge, axis: [0, 0.6, 0.8]");
  compare_grasp(GRASP, "second_order", "ball");
}

/* The carts couple at a distance of 0.2 m, at t* = (1 - 0.2) / (v_a - v_b). At t = 1, a is at x = v_a t* + w (1 - t*)
 * with w = (2 v_a + 3 v_b) / 5. */
static const char MEETING[] =
    "simulation: {dt: 0.01, steps: %d, gravity: [0, 0, 0], tolerance: 1e-13, integrator: %s, substeps: %d}\n"
    "links:\n"
    "  - {name: a, joint: {type: slide, axis: [1, 0, 0]}, mass: 2, center: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"
    "  - {name: b, joint: {type: slide, axis: [1, 0, 0], position: [1, 0, 0]}, mass: 3, center: [0, 0, 0], inertia: "
    "[1, 1, 1, 0, 0, 0]}\n"
    "closures: [{type: weld, a: a, b: b, within: 0.2, near_a: [-0.1, 0, 0], near_b: [-0.1, 0, 0]}]\n"
    "initial: [{link: a, velocities: [1]}, {link: b, velocities: [-0.5]}]\n";

static void carts_join_where_they_meet_Z20(void** state) {
  (void)state;
  static const char* const integrators[] = {"momentum", "first_order"};
  const double va = 1, vb = -0.5, t = 0.8 / (va - vb), w = (2 * va + 3 * vb) / 5, end = 1;
  const double by_va = -t / (va - vb), by_vb = t / (va - vb); /* of t */
  for (int n = 0; n < 4; n++) {
    char text[2048];
    snprintf(text, sizeof text, MEETING, 100, integrators[n % 2], n < 2 ? 1 : 3); /* 3: t* is an end of a substep */
    sdrs* s = NULL;
    sdrs_status status = sdrs_parse(&s, text, NULL, NULL);
    must(s, status);
    must(s, sdrs_run(s, 100));
    sdrs_array q = shown(s, SDRS_COORDINATES, -1);
    double expected[2] = {va * t + w * (end - t), vb * t + w * (end - t)};
    for (int k = 0; k < 2; k++) compare_near(q.data[200 + k], expected[k], 1e-9, "cart %d", k);
    double weights[3 * 101] = {0};
    weights[300] = 1;
    sdrs_seed seed = {sizeof(sdrs_seed), SDRS_POSITION, 0, weights, 303};
    must(s, sdrs_gradient(s, &seed, 1));
    sdrs_array at = SDRS_INIT(sdrs_array);
    must(s, sdrs_gradient_view(s, SDRS_VELOCITIES, &at));
    compare_near(at.data[0], t + (va - w) * by_va + 0.4 * (end - t), 1e-8, "dx_a/dv_a");
    compare_near(at.data[1], (va - w) * by_vb + 0.6 * (end - t), 1e-8, "dx_a/dv_b");
    must(s, sdrs_gradient_view(s, SDRS_COORDINATES, &at));
    compare_near(at.data[0], 1 + (va - w) * -1 / (va - vb), 1e-8, "dx_a/dx_a");
    compare_near(at.data[1], (va - w) / (va - vb), 1e-8, "dx_a/dx_b");
    sdrs_free(s);
  }
}

/* A body flies past an arm and is grasped when it comes near; later it is let go. */
static const char CATCH[] =
    "simulation: {dt: 0.01, steps: 16, tolerance: 1e-13, integrator: %s}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: arm, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, shapes: [{type: box, size: [0.5, 0.1, 0.1], "
    "position: [0.25, 0, 0]}]}\n"
    "  - {name: body, position: [0.6, 0.1, -0.3], mass: 0.4, shapes: [{type: box, size: [0.1, 0.2, 0.3]}]}\n"
    "closures: [{type: %%s, a: arm, b: body, point: [0.5, 0, 0], within: 0.185, near_a: [0.5, 0, 0], near_b: [0.02, "
    "0.01, 0.03], active: {type: keyframes, times: [0.115, 0.1151], values: [1, 0]}}]\n"
    "initial: [{link: arm, coordinates: [0.3], velocities: [1]}, {link: body, velocities: [-0.3, 0.1, 1.5, 1, -2, "
    "3]}]\n";

static void a_catch_has_derivatives(void** state) {
  (void)state;
  compare_grasp(CATCH, "first_order", "weld");
  compare_grasp(CATCH, "second_order", "weld");
  compare_grasp(CATCH, "momentum", "weld");
  compare_grasp(CATCH, "momentum", "hinge, axis: [0, 0.6, 0.8]");
}

/* A suction cup holds a box of 0.5 kg with at most 10 N while the load grows by 10 N/s. The cup opens one dt after t* =
 * (10 - m g) / (10 N/s) = 0.5095 s. After its signal was off, the cup holds again. */
static const char CUP[] =
    "simulation: {dt: 0.005, steps: 220, integrator: %s}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: box, mass: 0.5, position: [0, 0, 1], shape: {type: box, size: [0.1, 0.1, 0.1]}}\n"
    "closures: [{type: weld, a: box, release_force: 10, active: {type: keyframes, times: [0, 0.8, 0.801, 0.9, 0.901], "
    "values: [1, 1, 0, 0, 1]}}]\n"
    "loads: [{link: box, force: {type: keyframes, times: [0, 0.6, 0.7], values: [[0, 0, 0], [0, 0, -6], [0, 0, "
    "0]]}}]\n";

static void a_cup_lets_go_and_holds_again_Z21(void** state) {
  (void)state;
  static const char* const integrators[] = {"momentum", "first_order", "second_order"};
  const double opens[] = {0.5195, 0.517, 0.5145}; /* 2, 1.5 and 1 dt after the pull reaches the limit */
  for (int n = 0; n < 3; n++) {
    sdrs* s = parsed(CUP, integrators[n]);
    must(s, sdrs_run(s, 220));
    sdrs_array x = shown(s, SDRS_POSITION, 0);
    must(s, sdrs_step(s, 110));
    compare_near(sim_closures_joined(s->state->sim)[0].until, opens[n], 1e-9, "%s: opens", integrators[n]);
    const double g = 9.81, from = opens[n], t = 0.6 - from; /* the fall until 0.6 s */
    double fall = (g + 20 * from) * t * t / 2 + 20 * t * t * t / 6, speed = (g + 20 * from) * t + 10 * t * t;
    compare_near(x.data[120 * x.stride + 2], 1 - fall, 0.51 * 0.005 * speed, "%s: falls", integrators[n]);
    double rest = x.data[185 * x.stride + 2];
    for (size_t row = 185; row <= 220; row++)
      compare_near(x.data[row * x.stride + 2], rest, 1e-9, "%s: held again, row %zu", integrators[n], row);
    sdrs_free(s);
  }
}

static const char NEVER_CLOSES[] =
    "links: [{name: box, mass: 0.5, shape: {type: box, size: [0.1, 0.1, 0.1]}}]\n"
    "closures: [{type: weld, a: box, release_force: 10%s}]\n";

static void release_force_needs_what_closes_it(void** state) {
  (void)state;
  static const char *const more[] = {"", ", active: 1, break_force: 5"}, *const said[] = {"needs 'within' or 'active'",
                                                                                          "not both"};
  for (int n = 0; n < 2; n++) {
    char text[512];
    snprintf(text, sizeof text, NEVER_CLOSES, more[n]);
    sdrs* s = NULL;
    assert_int_equal(sdrs_parse(&s, text, NULL, NULL), SDRS_BAD_INPUT);
    if (!strstr(sdrs_error(s), said[n])) fail_msg("%s", sdrs_error(s));
    sdrs_free(s);
  }
}

static void a_distance_is_not_switched(void** state) {
  (void)state;
  sdrs* s = NULL;
  static const char text[] =
      "links:\n"
      "  - {name: a, joint: {type: slide, axis: [1, 0, 0]}, mass: 2, center: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"
      "closures: [{type: distance, a: a, b: world, point: [0, 0, 0], axis: [0, 0, 1], length: 1, active: 1}]\n";
  assert_int_equal(sdrs_parse(&s, text, NULL, NULL), SDRS_BAD_INPUT);
  assert_non_null(strstr(sdrs_error(s), "a closure of type distance cannot have"));
  sdrs_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(carts_join_with_their_momentum_Z12), cmocka_unit_test(a_grasp_has_derivatives),
      cmocka_unit_test(carts_join_where_they_meet_Z20),     cmocka_unit_test(a_catch_has_derivatives),
      cmocka_unit_test(a_distance_is_not_switched),         cmocka_unit_test(a_cup_lets_go_and_holds_again_Z21),
      cmocka_unit_test(release_force_needs_what_closes_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
