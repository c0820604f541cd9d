/* Tests the adjoint through time: the worked example of docs/derivations/adjoint.md, a closed form over many steps,
 * discounts, and messages for runs without a gradient. */
#include "differentiate/differentiate.h"

#include <string.h>

#include "support/runs.h"

/* 2 kg on a slide without gravity, a spring of 50 N/m to u = 0, at 1 m with 2 m/s. */
static const char SPRING[] =
    "simulation: {dt: 0.1, steps: %d, gravity: [0, 0, 0], integrator: first_order}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: mass, mass: 2, joint: {type: slide, axis: [0, 0, 1]}, center: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"
    "controllers: [{link: mass, type: pd, position_gain: 50, target: 0}]\n"
    "initial: [{link: mass, coordinates: [1], velocities: [2]}]\n";

typedef struct {
  Run* run;
  Recording recording;
  LossSeeds seeds;
  ModelGradient gradient;
  AdjointReport report;
} Rig;

static Rig* rig_create(int steps, const char* scene) {
  Rig* r = MEMORY_NEW(Rig, 1);
  r->run = run_model(scene, steps);
  const Model* m = &r->run->model;
  RecordOptions options = {.threads = 1, .tolerance = 1e-12};
  RecordReport report;
  recording_create(&r->recording, m, steps);
  assert_int_equal(recording_run(&r->recording, m, &options, &report, &r->run->diagnostics), STATUS_OK);
  r->seeds = loss_seeds_create(m, steps);
  model_gradient_create(&r->gradient, m);
  return r;
}

static void rig_derive(Rig* r, double discount) {
  RunAdjoint* adjoint = run_adjoint_create(&r->run->model, 1);
  r->report = run_adjoint(adjoint, &r->recording, &r->seeds, discount, &r->gradient);
  run_adjoint_destroy(adjoint);
}

static void rig_free(Rig* r) {
  model_gradient_destroy(&r->gradient);
  loss_seeds_destroy(&r->seeds);
  recording_destroy(&r->recording);
  run_free(r->run);
  memory_free(r);
}

static void adjoint_A1_worked_example(void** state) {
  (void)state;
  Rig* r = rig_create(2, SPRING);
  compare_near(r->recording.q[1], 0.96, 1e-12, "x_1");
  compare_near(r->recording.q[2], 0.736, 1e-12, "x_2");
  r->seeds.q[2] = 1;
  rig_derive(r, 1);
  assert_true(r->report.sound);
  compare_near(r->gradient.control[0], 0.52, 1e-12, "by the target");
  compare_near(r->gradient.coordinates[0], 0.48, 1e-12, "by x0");
  compare_near(r->gradient.velocities[0], 0.128, 1e-12, "by v0");
  compare_near(r->gradient.mass[0], 0.2272, 1e-12, "by the mass");
  compare_near(r->report.step.largest_lambda, 0.0064, 1e-14, "largest lambda");
  assert_int_equal(r->report.largest_step, 1);
  compare_near(r->report.growth, 1.6, 1e-12, "growth");
  assert_int_equal(r->report.indefinite_steps, 0);
  rig_free(r);
}

/* The same by a seed on the pose, and the rate (x_2 - x_1) / dt. */
static void adjoint_A1_poses_and_rates_lead_to_the_same(void** state) {
  (void)state;
  Rig* r = rig_create(2, SPRING);
  r->seeds.pose[2][2][3] = 1;
  rig_derive(r, 1);
  compare_near(r->gradient.coordinates[0], 0.48, 1e-12, "pose: by x0");
  compare_near(r->gradient.attachments[0].z, 1, 1e-12, "pose: by the joint's origin");
  loss_seeds_clear(&r->seeds);
  r->seeds.rate[2] = 1;
  rig_derive(r, 1);
  compare_near(r->gradient.coordinates[0], (0.48 - 0.8) / 0.1, 1e-11, "rate: by x0");
  compare_near(r->gradient.velocities[0], (0.128 - 0.08) / 0.1, 1e-11, "rate: by v0");
  compare_near(r->gradient.attachments[0].z, 0, 1e-11, "rate: by the joint's origin");
  loss_seeds_clear(&r->seeds);
  r->seeds.rate[0] = 3; /* of the start itself */
  rig_derive(r, 1);
  compare_near(r->gradient.velocities[0], 3, 0, "first rate: by v0");
  rig_free(r);
}

/* x_n = n a combination of x0 and v0 by the recursion x_(n+1) = 0.8 (2 x_n - x_(n-1)). */
static void adjoint_A1_over_many_steps(void** state) {
  (void)state;
  enum { N = 60 };
  double by_x[N + 1] = {1, 0.8}, by_v[N + 1] = {0, 0.08};
  for (int n = 1; n < N; n++) {
    by_x[n + 1] = 0.8 * (2 * by_x[n] - by_x[n - 1]);
    by_v[n + 1] = 0.8 * (2 * by_v[n] - by_v[n - 1]);
  }
  Rig* r = rig_create(N, SPRING);
  double sum_x = 0, sum_v = 0;
  for (int n = 0; n <= N; n++) { /* sum of w_n x_n */
    double weight = cos(0.3 * n);
    r->seeds.q[n] = weight;
    sum_x += weight * by_x[n], sum_v += weight * by_v[n];
  }
  rig_derive(r, 1);
  compare_relative(r->gradient.coordinates[0], sum_x, 1e-11, "by x0");
  compare_relative(r->gradient.velocities[0], sum_v, 1e-11, "by v0");
  rig_free(r);
}

/* With a discount factor c the adjoint recursion is, backwards in time: x_2 = 1.6 c x_1 - 0.8 c^2 x0, x_1 = 0.8 c x0 +
 * 0.08 v0. v0 is not a state, so it is not discounted. */
static void adjoint_discounts_what_is_handed_back(void** state) {
  (void)state;
  Rig* r = rig_create(2, SPRING);
  double c = 0.9;
  r->seeds.q[2] = 1;
  rig_derive(r, c);
  compare_near(r->gradient.coordinates[0], (1.28 - 0.8) * c * c, 1e-12, "by x0");
  compare_near(r->gradient.velocities[0], 0.128 * c, 1e-12, "by v0");
  compare_near(r->gradient.control[0], 0.32 * c + 0.2, 1e-12, "by the target");
  rig_free(r);
}

/* A run whose contact cannot be had again: the recording's poses were changed. */
static void adjoint_tells_where_it_fails(void** state) {
  (void)state;
  Rig* r =
      rig_create(5,
                 "simulation: {dt: 0.01, steps: %d, integrator: first_order}\n"
                 "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-8, friction: 0.4, smoothing: 1.0e-4}\n"
                 "links:\n"
                 "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                 "  - {name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.1015]}\n");
  r->seeds.q[5 * 6] = 1;
  r->recording.pose[3 * 2 + 1].t.z -= 0.05;
  rig_derive(r, 1);
  assert_false(r->report.sound);
  assert_true(r->report.step.contact_failed);
  assert_in_range(r->report.unsound_step, 3, 4);
  rig_free(r);
  run_adjoint_destroy(NULL);
}

/* In a run without steps the gradient is that of the loss at the initial state. */
static void adjoint_of_a_run_without_steps(void** state) {
  (void)state;
  Rig* r = rig_create(1, SPRING);
  r->recording.steps = 0;
  r->seeds.q[0] = 2;
  r->seeds.control[0] = 5;
  r->seeds.center[0] = vec3(0, 0, 1);
  rig_derive(r, 1);
  assert_true(r->report.sound);
  compare_near(r->gradient.coordinates[0], 2, 0, "by x0");
  compare_near(r->gradient.control[0], 5, 0, "by the target itself");
  compare_near(r->gradient.mass[0], 0, 1e-15, "a given centre does not move with the mass");
  rig_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(adjoint_A1_worked_example),    cmocka_unit_test(adjoint_A1_poses_and_rates_lead_to_the_same),
      cmocka_unit_test(adjoint_A1_over_many_steps),   cmocka_unit_test(adjoint_discounts_what_is_handed_back),
      cmocka_unit_test(adjoint_tells_where_it_fails), cmocka_unit_test(adjoint_of_a_run_without_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
