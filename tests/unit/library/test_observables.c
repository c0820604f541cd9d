/* Tests reactions and inertial measurements. Derivatives are compared with differences of whole runs. Unsupported
 * requests are refused (docs/derivations/observables.md). */
#include <math.h>
#include <string.h>

#include "library/library.h"
#include "support/compare.h"

/* A free trunk has an arm on a ball joint and a hinge. The arm is driven, loaded, pulled by a tendon, attached to a
 * bushing and in contact with the ground. */
static const char ROBOT[] =
    "simulation: {dt: 0.01, steps: 10, tolerance: 1e-13, integrator: %s, output: [reactions]}\n"
    "contact: {friction: 0.3}\n"
    "shapes: {box: {type: box, size: [0.2, 0.2, 0.2]}, ground: {type: half_space}}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: ground}\n"
    "  - {name: trunk, shape: box, mass: 1, position: [0, 0, 0.1005]}\n"
    "  - {name: arm, parent: trunk, shape: box, mass: 1, joint: {type: ball, position: [0.3, 0, 0.3]}}\n"
    "  - {name: hand, parent: arm, shape: box, mass: 0.5, joint: {type: hinge, axis: [0, 1, 0], position: [0.3, 0, "
    "0], stiffness: 3}}\n"
    "controllers:\n"
    "  - {link: arm, type: pd, position_gain: 20, velocity_gain: 1, target: [0.1, 0.2, 0.3]}\n"
    "loads: [{link: hand, force: [1, 2, 3], point: [0.1, 0, 0.1], axes: link}, {link: arm, force: [0.5, -1, 2], point: "
    "[0.1, 0.1, 0], torque: [0.1, 0, 0.2]}]\n"
    "tendons: [{points: [{link: trunk, point: [0, 0.1, 0.1]}, {link: hand, point: [0, 0.1, 0]}], stiffness: 40, "
    "rest_length: 0.2}]\n"
    "bushings: [{a: hand, b: trunk, frame_a: {position: [0.05, 0, 0], rpy: [0.2, 0, 0.1]}, frame_b: {position: [0.5, "
    "0.1, 0.2]}, stiffness: [30, 20, 40, 0.5, 1, 2], damping: [1, 1, 2, 0.01, 0.02, 0.01], preload: [1, 0, 2, 0.1, 0, "
    "0]}]\n"
    "initial: [{link: trunk, velocities: [0.4, 0.2, 0, 0, 0, 0.3]}, {link: arm, velocities: [0.3, -0.2, 0.5]}]\n";
/* Two links on hinges, the second of a given mass; a loop of three, likewise. */
static const char CHAIN[] =
    "simulation: {dt: 0.01, steps: 10, tolerance: 1e-13, integrator: %s, output: [reactions]}\n"
    "links:\n"
    "  - {name: a, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, shapes: [{type: box, size: [0.1, 0.1, 0.5], "
    "position: [0, 0, -0.25]}]}\n"
    "  - {name: b, parent: a, joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, -0.5]}, mass: %.17g, "
    "shapes: [{type: box, size: [0.1, 0.1, 0.5], position: [0, 0, -0.25]}]}\n"
    "initial: [{link: a, coordinates: [1]}]\n";
static const char LOOP[] =
    "simulation: {dt: 0.01, steps: 10, tolerance: 1e-13, integrator: %s, output: [reactions]}\n"
    "contact: {model: none}\n"
    "shapes: {rod: {type: box, size: [0.4, 0.05, 0.05]}}\n"
    "links:\n"
    "  - {name: crank, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, shapes: [{shape: rod, position: [0.2, 0, 0]}]}\n"
    "  - {name: rod, parent: crank, joint: {type: hinge, axis: [0, 1, 0], position: [0.4, 0, 0]}, mass: %.17g, shapes: "
    "[{shape: rod, position: [0.2, 0, 0]}]}\n"
    "  - {name: piston, joint: {type: slide, axis: [1, 0, 0], stiffness: 30}, mass: 0.5, shapes: [{shape: rod}]}\n"
    "closures: [{type: ball, a: rod, b: piston, point: [0.66026, 0, 0]}]\n"
    "initial: [{link: crank, coordinates: [0.6]}, {link: rod, coordinates: [-1.2]}, {link: piston, coordinates: "
    "[0.66026]}]\n";
enum { STEPS = 10, MOST = (STEPS + 1) * 6 };

static void must(sdrs* s, sdrs_status status) {
  if (status != SDRS_OK) fail_msg("status %d: %s", (int)status, sdrs_error(s));
}

static sdrs* parsed(const char* scene, const char* integrator) {
  char text[4096];
  snprintf(text, sizeof text, scene, integrator);
  sdrs* s = NULL;
  sdrs_status status = sdrs_parse(&s, text, NULL, NULL);
  must(s, status);
  return s;
}

typedef struct {
  sdrs_block block;
  int link;
} Asked;

static double weighted(sdrs* s, Asked asked, const double* weights) {
  sdrs_array shown = SDRS_INIT(sdrs_array);
  must(s, sdrs_record(s, asked.block, asked.link, &shown));
  assert_int_equal(shown.columns, 6);
  double sum = 0;
  for (size_t row = 0; row < shown.rows; row++)
    for (size_t k = 0; k < 6; k++)
      if (weights[6 * row + k] != 0) sum += weights[6 * row + k] * shown.data[row * shown.stride + k];
  return sum;
}

/* Weights of rows that have a value. */
static void draw(Random* random, Asked asked, double* weights) {
  for (int k = 0; k < MOST; k++) weights[k] = random_normal(random);
  memset(weights, 0, sizeof(double[6]));
  if (asked.block == SDRS_IMU) memset(weights + MOST - 6, 0, sizeof(double[6]));
}

static void begin_at(sdrs* s, const double* q0, const double* v0, const double* moved) {
  const Model* m = &s->shared->model;
  double q[32], v[32];
  model_increment(m, q0, moved, 1, q);
  for (int k = 0; k < m->dof_count; k++) v[k] = v0[k] + moved[m->dof_count + k];
  must(s, sdrs_set(s, SDRS_COORDINATES, q, (size_t)m->coordinate_count));
  must(s, sdrs_set(s, SDRS_VELOCITIES, v, (size_t)m->dof_count));
  must(s, sdrs_run(s, STEPS));
}

static double slope_along(sdrs* s, const double* direction) {
  int nv = s->shared->model.dof_count;
  const sdrs_block blocks[] = {SDRS_COORDINATES, SDRS_VELOCITIES};
  double sum = 0;
  for (int b = 0; b < 2; b++) {
    sdrs_array part = SDRS_INIT(sdrs_array);
    must(s, sdrs_gradient_view(s, blocks[b], &part));
    for (int k = 0; k < nv; k++) sum += part.data[k] * direction[b * nv + k];
  }
  return sum;
}

/* By a random direction of the start; the best of several steps decides. scale: of directions by coordinates. */
static void compare_with_differences(sdrs* s, Asked asked, double scale, double within) {
  int nv = s->shared->model.dof_count;
  double q0[32] = {0}, v0[32] = {0}, weights[MOST], direction[64] = {0}, moved[64] = {0};
  sdrs_array at = SDRS_INIT(sdrs_array);
  must(s, sdrs_view(s, SDRS_COORDINATES, -1, &at));
  memcpy(q0, at.data, sizeof(double) * at.columns);
  must(s, sdrs_view(s, SDRS_VELOCITIES, -1, &at));
  memcpy(v0, at.data, sizeof(double) * at.columns);
  Random random = {7 + (uint64_t)asked.link};
  draw(&random, asked, weights);
  for (int k = 0; k < 2 * nv; k++) direction[k] = (k < nv ? scale : 1) * random_normal(&random);
  begin_at(s, q0, v0, moved);
  sdrs_seed seed = {sizeof(sdrs_seed), asked.block, asked.link, weights, MOST};
  must(s, sdrs_gradient(s, &seed, 1));
  double analytic = slope_along(s, direction), best = INFINITY, difference = 0;
  for (double h = 1e-3; h > 1e-7; h /= 4) {
    double value[2];
    for (int side = 0; side < 2; side++) {
      for (int k = 0; k < 2 * nv; k++) moved[k] = (side ? -h : h) * direction[k];
      begin_at(s, q0, v0, moved);
      value[side] = weighted(s, asked, weights);
    }
    double quotient = (value[0] - value[1]) / (2 * h);
    if (fabs(quotient - analytic) >= best) continue;
    best = fabs(quotient - analytic);
    difference = quotient;
  }
  must(s, sdrs_set(s, SDRS_COORDINATES, q0, (size_t)s->shared->model.coordinate_count));
  must(s, sdrs_set(s, SDRS_VELOCITIES, v0, (size_t)nv));
  compare_relative(analytic, difference, within, "by '%s' of link %d", sdrs_block_name(asked.block), asked.link);
  assert_true(fabs(analytic) > 1e-4);
}

static void derivatives_are_those_of_differences(void** state) {
  (void)state;
  static const char* const integrators[] = {"first_order", "second_order", "momentum"};
  static const Asked asked[] = {{SDRS_REACTIONS, 2}, {SDRS_REACTIONS, 3}, {SDRS_IMU, 1}, {SDRS_IMU, 3}};
  for (int i = 0; i < 3; i++) {
    sdrs* s = parsed(ROBOT, integrators[i]);
    for (size_t k = 0; k < sizeof(asked) / sizeof(asked[0]); k++) compare_with_differences(s, asked[k], 1e-3, 5e-6);
    sdrs_free(s);
  }
}

/* Reactions of the first link by the mass of the second. */
static void compare_by_mass(const char* scene, const char* integrator) {
  static const double masses[3] = {1, 1 + 1e-5, 1 - 1e-5};
  double value[3], slope = 0, weights[MOST];
  Random random = {3};
  draw(&random, (Asked){SDRS_REACTIONS, 0}, weights);
  for (int k = 0; k < 3; k++) {
    char text[2048];
    snprintf(text, sizeof text, scene, integrator, masses[k]);
    sdrs* s = NULL;
    sdrs_status status = sdrs_parse(&s, text, NULL, NULL);
    must(s, status);
    must(s, sdrs_run(s, STEPS));
    value[k] = weighted(s, (Asked){SDRS_REACTIONS, 0}, weights);
    if (k == 0) {
      sdrs_seed seed = {sizeof(sdrs_seed), SDRS_REACTIONS, 0, weights, MOST};
      must(s, sdrs_gradient(s, &seed, 1));
      sdrs_array mass = SDRS_INIT(sdrs_array);
      must(s, sdrs_gradient_view(s, SDRS_MASS, &mass));
      slope = mass.data[1];
    }
    sdrs_free(s);
  }
  compare_relative(slope, (value[1] - value[2]) / 2e-5, 2e-6, "by the mass, %s", integrator);
}

static void masses_change_reactions(void** state) {
  (void)state;
  compare_by_mass(CHAIN, "first_order");
  compare_by_mass(CHAIN, "momentum");
  compare_by_mass(LOOP, "first_order");
  compare_by_mass(LOOP, "second_order");
}

static void what_has_no_value_is_refused(void** state) {
  (void)state;
  sdrs* s = NULL;
  char text[2048];
  snprintf(text, sizeof text, LOOP, "momentum", 1.0);
  must(s, sdrs_parse(&s, text, NULL, NULL));
  double weights[MOST] = {1};
  sdrs_seed seed = {sizeof(sdrs_seed), SDRS_REACTIONS, 0, weights, MOST};
  must(s, sdrs_run(s, STEPS));
  assert_int_equal(sdrs_gradient(s, &seed, 1), SDRS_BAD_INPUT);
  assert_non_null(strstr(sdrs_error(s), "row 0 has no reactions"));
  weights[0] = 0;
  weights[6] = 1;
  assert_int_equal(sdrs_gradient(s, &seed, 1), SDRS_BAD_INPUT);
  assert_non_null(strstr(sdrs_error(s), "the reaction of 'crank' has no derivative"));
  sdrs_array shown = SDRS_INIT(sdrs_array);
  assert_int_equal(sdrs_view(s, SDRS_IMU, 0, &shown), SDRS_USAGE);
  must(s, sdrs_record(s, SDRS_IMU, 0, &shown));
  assert_true(isnan(shown.data[0]) && isfinite(shown.data[shown.stride]));
  sdrs_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_those_of_differences),
      cmocka_unit_test(masses_change_reactions),
      cmocka_unit_test(what_has_no_value_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
