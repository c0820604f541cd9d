/* Tests runs with a refined time step. The scene changes in dt only, and settings that must not depend on dt stay. */
#include "loss_testing.h"

#define SCENE                                                                                                  \
  "simulation: {dt: 0.02, steps: 6, integrator: first_order}\n"                                                \
  "contact: {friction: 0.3}\n"                                                                                 \
  "links:\n"                                                                                                   \
  "  - {name: ground, fixed: true, shape: {type: half_space}}\n"                                               \
  "  - {name: arm, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, joint: {type: hinge, axis: [0, 1, 0], " \
  "position: [0, 0, 1]}}\n"                                                                                    \
  "controllers: [{link: arm, type: pd, position_gain: 3, velocity_gain: 0.4, target: 1}]\n"

static void the_damping_and_contact_stay(void** state) {
  (void)state;
  LossRun* run = loss_run_create(6, SCENE);
  const Scene* scene = run->run->model.scene;
  Diagnostics diagnostics = {0};
  RefinedRunInput subject = {scene, NULL, 0, 4};
  RecordOptions options = {.threads = 1};
  RefinedRun fine;
  assert_int_equal(refined_run(&fine, &subject, 4, &options, &diagnostics), STATUS_OK);
  compare_near(fine.model.simulation.dt, 0.005, 1e-18, "dt");
  assert_int_equal(fine.recording.steps, 24);
  compare_near(fine.model.controllers[0].velocity_gain[0] / 0.005, 0.4 / 0.02, 1e-12, "damping");
  compare_near(fine.model.contact.smoothing, run->run->model.contact.smoothing, 0, "smoothing");
  compare_near(fine.model.contact.stiffness, run->run->model.contact.stiffness, 0, "stiffness");
  compare_near(scene->controllers[0].velocity_gain[0], 0.4, 0, "the scene's own gain");
  compare_near(scene->simulation.dt, 0.02, 0, "the scene's own dt");
  assert_int_equal(fine.samples, 4);
  assert_int_equal(refined_sample_row(&fine, 3), 24);
  assert_int_equal(refined_sample_row(&fine, 0), 4); /* the coarse run's row 1 */
  refined_run_free(&fine);
  refined_run_free(&fine); /* a zeroed one is accepted */
  diagnostics_free(&diagnostics);
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_damping_and_contact_stay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
