/* Tests the effort loss: forces of PD controllers in closed form and against the gradient of the step's energies. */
#include "loss_testing.h"
#include "simulate/terms.h"

#include <string.h>

static double* coordinate_at(LossRun* run, int step, int link) {
  const Model* m = &run->run->model;
  return run->recording.q + step * m->coordinate_count + m->links[link].coordinate_first;
}
static double* rate_at(LossRun* run, int step, int link) {
  const Model* m = &run->run->model;
  return run->recording.rate + step * m->dof_count + m->links[link].dof_first;
}

#define DRIVEN                                                                                                       \
  "simulation: {dt: 0.1, steps: 2, integrator: first_order}\n"                                                       \
  "links:\n"                                                                                                         \
  "  - {name: a, joint: {type: hinge, axis: [1, 0, 0]}, mass: 1, shape: {type: sphere, radius: 0.1}}\n"              \
  "  - {name: b, joint: {type: ball, position: [9, 0, 0]}, mass: 1, shape: {type: sphere, radius: 0.1}}\n"           \
  "controllers:\n"                                                                                                   \
  "  - {link: a, type: pd, position_gain: 10, velocity_gain: 0.3, target: {type: keyframes, times: [0, 1], values: " \
  "[0, 4]}}\n"                                                                                                       \
  "  - {link: a, type: pd, position_gain: 5, target: 1}\n"                                                           \
  "  - {link: b, type: pd, position_gain: 10, velocity_gain: 0.3,\n"                                                 \
  "     target: {type: keyframes, times: [0, 1], values: [[0, 0, 0], [0, 0, 4]]}}\n"

/* At t = 0.2: target 0.8 and its rate 4. q 0.5, rate 3: 10 (0.8 - 0.5) + 0.3/0.1 (4 - 3) = 6; the second 5 (1 - 0.5).
 */
static void each_controller_counts(void** state) {
  (void)state;
  LossRun* run = loss_run_create(2, DRIVEN);
  *coordinate_at(run, 2, 0) = 0.5;
  *rate_at(run, 2, 0) = 3;
  TaskLoss loss = loss_of(LOSS_EFFORT, "a");
  loss.from = 0.2;
  compare_near(loss_value(run, &loss), 36 + 6.25, 1e-12, "the last state");
  /* at t = 0.1: target 0.4, rate 4; q 0.5, rate 4: 10 (-0.1) = -1; the second 2.5 */
  *coordinate_at(run, 1, 0) = 0.5;
  *rate_at(run, 1, 0) = 4;
  loss.from = -1;
  compare_near(loss_value(run, &loss), (36 + 6.25 + 1 + 6.25) / 2, 1e-12, "the run without its first state");
  loss_run_free(run);
}

/* The damping is the gain divided by the substep: 0.3 / (0.1 / 4) = 12. At t = 0.2 with q = 0.5 and rate 3 the force is
 * 10 (0.8 - 0.5) + 12 (4 - 3). */
static void the_damper_of_steps_in_substeps(void** state) {
  (void)state;
  LossRun* run =
      loss_run_create(2,
                      "simulation: {dt: 0.1, steps: 2, substeps: 4, integrator: first_order}\n"
                      "links:\n"
                      "  - {name: a, joint: {type: hinge, axis: [1, 0, 0]}, mass: 1, shape: {type: sphere, radius: "
                      "0.1}}\n"
                      "controllers:\n"
                      "  - {link: a, type: pd, position_gain: 10, velocity_gain: 0.3, target: {type: keyframes, "
                      "times: [0, 1], values: [0, 4]}}\n");
  *coordinate_at(run, 2, 0) = 0.5;
  *rate_at(run, 2, 0) = 3;
  TaskLoss loss = loss_of(LOSS_EFFORT, "a");
  loss.from = 0.2;
  compare_near(loss_value(run, &loss), 225, 1e-11, "the last state");
  loss_run_free(run);
}

/* The same about one axis of a ball; then 0.1 off about another: both squares. */
/* At q 0.5 and rate 3: pd 10 (0.8 - 0.5) + 2 (4 - 3) = 5, limited to 4; torque 7 - 2 3 = 1; velocity 0.5 (5 - 3) = 1.
 */
static void drives_of_all_types_count(void** state) {
  (void)state;
  LossRun* run = loss_run_create(2,
                                 "simulation: {dt: 0.1, steps: 2, integrator: first_order}\n"
                                 "links:\n"
                                 "  - {name: a, joint: {type: hinge, axis: [1, 0, 0]}, mass: 1, shape: {type: sphere, "
                                 "radius: 0.1}}\n"
                                 "controllers:\n"
                                 "  - {link: a, type: pd, position_gain: 10, damping_gain: 2, max_force: 4, target: "
                                 "{type: keyframes, times: [0, 1], values: [0, 4]}}\n"
                                 "  - {link: a, type: torque, damping_gain: 2, target: 7}\n"
                                 "  - {link: a, type: velocity, damping_gain: 0.5, target: 5}\n");
  *coordinate_at(run, 2, 0) = 0.5;
  *rate_at(run, 2, 0) = 3;
  TaskLoss loss = loss_of(LOSS_EFFORT, "a");
  loss.from = 0.2;
  compare_near(loss_value(run, &loss), 16 + 1 + 1, 1e-12, "the last state");
  loss_run_free(run);
}

/* Feedback of 0.1 rad and of 1.5 N m in the step: pd 10 (0.8 + 0.1 - 0.5) = 4, torque 7 + 1.5 - 2 3 = 2.5. */
static void feedback_adds_to_the_signal_E8(void** state) {
  (void)state;
  LossRun* run = loss_run_create(2,
                                 "simulation: {dt: 0.1, steps: 2, integrator: first_order}\n"
                                 "links:\n"
                                 "  - {name: a, joint: {type: hinge, axis: [1, 0, 0]}, mass: 1, shape: {type: sphere, "
                                 "radius: 0.1}}\n"
                                 "controllers:\n"
                                 "  - {link: a, type: pd, position_gain: 10, target: 0.8, feedback: {measures: "
                                 "[a/angle], matrix: [1]}}\n"
                                 "  - {link: a, type: torque, damping_gain: 2, target: 7, feedback: {measures: "
                                 "[a/angle], matrix: [1]}}\n");
  *coordinate_at(run, 2, 0) = 0.5;
  *rate_at(run, 2, 0) = 3;
  run->recording.feedback[2 * 2] = 0.1;
  run->recording.feedback[2 * 2 + 1] = 1.5;
  TaskLoss loss = loss_of(LOSS_EFFORT, "a");
  loss.from = 0.2;
  compare_near(loss_value(run, &loss), 16 + 6.25, 1e-12, "the last state");
  loss_run_free(run);
}

static void a_ball_about_one_axis_is_a_hinge(void** state) {
  (void)state;
  LossRun* run = loss_run_create(2, DRIVEN);
  Quat q = quat_about(vec3(0, 0, 1), 0.5);
  memcpy(coordinate_at(run, 2, 1), &q, sizeof q);
  rate_at(run, 2, 1)[0] = rate_at(run, 2, 1)[1] = 0;
  rate_at(run, 2, 1)[2] = 3;
  TaskLoss loss = loss_of(LOSS_EFFORT, "b");
  loss.from = 0.2;
  compare_near(loss_value(run, &loss), 36, 1e-12, "one axis");
  /* target^-1 q is then a turn of 0.1 about x: force -1 about x, nothing else but 0.3/0.1 (4 - 3) about z */
  q = quat_mul(quat_about(vec3(0, 0, 1), 0.8), quat_about(vec3(1, 0, 0), 0.1));
  memcpy(coordinate_at(run, 2, 1), &q, sizeof q);
  compare_near(loss_value(run, &loss), 1 + 9, 1e-12, "two axes");
  loss_run_free(run);
}

/* A controller's torque as the step has it: the slope of the energy it minimises, with the integrator's weights. */
static double torque_of_step(const LossRun* run, int link, int controller, int step, int dof, bool second_order) {
  const Model* m = &run->run->model;
  const ModelLink* l = &m->links[link];
  const ModelController* c = &m->controllers[controller];
  double dt = m->simulation.dt, value[JOINT_MAX_DOF], difference[JOINT_MAX_DOF] = {0};
  bool late =
      second_order && step > 1 && run->clock[step].kind == STEP_FREE; /* the crate lands in one of first order */
  StepWeights weights = {.rate_now = (late ? 1.5 : 1) / dt, .rate_old = (late ? 0.5 : 0) / dt};
  const double* q = run->recording.q + l->coordinate_first;
  int nq = m->coordinate_count;
  if (step > 1) joint_difference(&l->joint, q + (step - 2) * nq, q + (step - 1) * nq, difference);
  JointDrive drive = {.target = {0}};
  double before[JOINT_MAX_DOF], unused[JOINT_MAX_DOF];
  signal_eval(&c->target, (step - 1) * dt, before, unused);
  signal_eval(&c->target, step * dt, value, drive.target_rate);
  for (int k = 0; k < c->target.source->channels && !second_order; k++)
    drive.target_rate[k] = (value[k] - before[k]) / dt; /* the mean over the step (L98) */
  joint_coordinates_from_target(&l->joint, value, drive.target);
  memcpy(drive.position_gain, c->position_gain, sizeof drive.position_gain);
  memcpy(drive.velocity_gain, c->velocity_gain, sizeof drive.velocity_gain);
  ModelLink bare = *l;
  memset(bare.damping, 0, sizeof bare.damping);
  memset(bare.limited, 0, sizeof bare.limited);
  JointInput in = {
      &bare, q + step * nq, q + (step - 1) * nq, difference, &drive, 1, dt, weights, NULL, 0, {0, 0, 0}, 0, NULL,
      NULL,  NULL};
  JointTerms terms;
  assert_true(joint_terms(&in, true, &terms));
  return terms.gradient[dof];
}

static void it_is_the_force_of_the_step(void** state) {
  (void)state;
  for (int order = 1; order <= 2; order++) {
    LossRun* run =
        loss_run_create(6, LOSS_SCENE, order == 2 ? ", integrator: second_order" : ", integrator: first_order");
    int cart = run_link(run->run, "cart");
    double sum = 0;
    for (int k = 1; k <= 6; k++)
      for (int c = 2; c <= 3; c++)
        for (int dof = 0; dof < 3; dof++) sum += pow(torque_of_step(run, cart, c, k, dof, order == 2), 2) / 6;
    TaskLoss loss = loss_of(LOSS_EFFORT, "cart");
    compare_relative(loss_value(run, &loss), sum, 1e-11, "cart, integrator of order %d", order);
    int arm = run_link(run->run, "arm");
    sum = 0;
    for (int k = 1; k <= 6; k++) sum += pow(torque_of_step(run, arm, 0, k, 0, order == 2), 2) / 6;
    loss.link.text = name_text("arm");
    /* the mean rate of the sine by two Gauss points: (w h)^4 / 4320 (L98) */
    compare_relative(loss_value(run, &loss), sum, order == 1 ? 1e-6 : 1e-11, "arm, integrator of order %d", order);
    loss_run_free(run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_controller_counts),      cmocka_unit_test(the_damper_of_steps_in_substeps),
      cmocka_unit_test(drives_of_all_types_count),   cmocka_unit_test(a_ball_about_one_axis_is_a_hinge),
      cmocka_unit_test(it_is_the_force_of_the_step), cmocka_unit_test(feedback_adds_to_the_signal_E8),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
