#include "fixture.h"

#define BOX "mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}"

static const double* coordinates(const Model* model, const char* name) {
  return model->initial_coordinates + link_named(model, name)->coordinate_first;
}

static const double* velocities(const Model* model, const char* name) {
  return model->initial_velocities + link_named(model, name)->dof_first;
}

static void silence_means_zero(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "links:\n"
               "  - {name: a, " BOX
               "}\n"
               "  - {name: b, " BOX ", joint: {type: universal, axes: [[1, 0, 0], [0, 1, 0]], position: [1, 0, 0]}}\n");
  check_clean(&f);
  const double wanted[9] = {0, 0, 0, 1, 0, 0, 0, 0, 0};
  for (int i = 0; i < 9; i++) check_near(f.model.initial_coordinates[i], wanted[i], 0, "coordinate");
  for (int i = 0; i < 8; i++) check_near(f.model.initial_velocities[i], 0, 0, "velocity");
  fixture_free(&f);
}

/* World velocity of a point on the link, by moving the joint: the user's w is in link axes. */
static void angular_velocity_is_in_link_axes(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "links:\n"
               "  - {name: a, " BOX
               ", joint: {type: free, rpy: [0.3, 0.2, 0.1]}}\n"
               "initial:\n"
               "  - {link: a, coordinates: [1, 2, 3, 0.4, -0.5, 0.6], velocities: [7, 8, 9, 0.1, 0.2, -0.3]}\n");
  check_clean(&f);
  const ModelLink* link = link_named(&f.model, "a");
  const double *q = coordinates(&f.model, "a"), *v = velocities(&f.model, "a");
  for (int k = 0; k < 3; k++) check_near(v[k], 7 + k, 0, "slides");
  const double h = 1e-5;
  double step[6], ahead[7], behind[7];
  for (int k = 0; k < 6; k++) step[k] = h * v[k];
  joint_increment(&link->joint, q, step, ahead);
  for (int k = 0; k < 6; k++) step[k] = -h * v[k];
  joint_increment(&link->joint, q, step, behind);
  Vec3 point = vec3(0.2, -0.7, 0.5), w = mat3_mul_vec(joint_motion(&link->joint, q).r, vec3(0.1, 0.2, -0.3));
  Vec3 arm = mat3_mul_vec(joint_motion(&link->joint, q).r, point);
  Vec3 moved = vec3_sub(pose_apply(joint_motion(&link->joint, ahead), point),
                        pose_apply(joint_motion(&link->joint, behind), point));
  check_vec3(vec3_scale(moved, 0.5 / h), vec3_add(vec3(7, 8, 9), vec3_cross(w, arm)), 1e-9, "velocity of a point");
  fixture_free(&f);
}

static const char* PRESCRIBED =
    "links:\n"
    "  - {name: ball, " BOX
    ", joint: {type: ball}}\n"
    "  - {name: arm, " BOX
    ", joint: {type: hinge, axis: [0, 0, 1], position: [1, 0, 0]}}\n"
    "controllers:\n"
    "  - link: ball\n"
    "    type: prescribed\n"
    "    target: {type: sines, offset: [0.9, -0.4, 1.1], terms: [[{amplitude: 0.2, frequency: 1.5, phase: 0.3}], "
    "[{amplitude: 0.5, frequency: 0.5}], [{amplitude: 0.1, frequency: 1}]]}\n"
    "  - {link: arm, type: prescribed, target: {type: keyframes, times: [0, 2], values: [0.5, 1.5]}}\n";

/* Joint coordinates along the signal at +-h give the angular velocity in link axes by differences. */
static void prescribed_joints_start_on_their_signal(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f, PRESCRIBED);
  check_clean(&f);
  const ModelLink* ball = link_named(&f.model, "ball");
  const Signal* signal = &f.model.controllers[ball->prescribed].target;
  double value[3], rate[3], q[4], ahead[4], far[4], turn[3], far_turn[3]; /* before the start all stands still */
  const double h = 1e-4;
  signal_eval(signal, 0, value, rate);
  joint_coordinates_from_target(&ball->joint, value, q);
  for (int k = 0; k < 4; k++) check_near(coordinates(&f.model, "ball")[k], q[k], 1e-15, "coordinate of the ball");
  signal_eval(signal, h, value, rate);
  joint_coordinates_from_target(&ball->joint, value, ahead);
  signal_eval(signal, 2 * h, value, rate);
  joint_coordinates_from_target(&ball->joint, value, far);
  joint_difference(&ball->joint, q, ahead, turn);
  joint_difference(&ball->joint, q, far, far_turn);
  Vec3 slope = vec3_scale(vec3_sub(vec3_scale(vec3_at(turn), 4), vec3_at(far_turn)), 0.5 / h);
  check_vec3(vec3_at(velocities(&f.model, "ball")), slope, 1e-6, "velocity of the ball");
  check_near(coordinates(&f.model, "arm")[0], 0.5, 1e-15, "angle of the arm");
  check_near(velocities(&f.model, "arm")[0], 0.5, 1e-15, "rate of the arm");
  fixture_free(&f);
}

/* Both sides of the switch to the series, against each other and the limit. */
static void small_rotation_vectors_have_the_same_velocity(void** state) {
  (void)state;
  const double angles[] = {0, 1e-8, 1e-3, 0.999e-2, 1.001e-2, 0.1};
  for (int i = 0; i < 6; i++) {
    char yaml[600];
    double a = angles[i];
    snprintf(yaml, sizeof yaml,
             "links:\n"
             "  - {name: ball, " BOX
             ", joint: {type: ball}}\n"
             "controllers:\n"
             "  - {link: ball, type: prescribed, target: {type: keyframes, times: [0, 1], values: [[%.17g, 0, 0], "
             "[%.17g, 1, 0]]}}\n",
             a, a);
    Fixture f;
    fixture_load(&f, yaml);
    check_clean(&f);
    /* v = (a, 0, 0), dv/dt = (0, 1, 0): J_r dv/dt = (0, sin a / a, -(1 - cos a) / a) */
    Vec3 wanted = a > 0 ? vec3(0, sin(a) / a, -2 * sin(a / 2) * sin(a / 2) / a) : vec3(0, 1, 0);
    check_vec3(vec3_at(velocities(&f.model, "ball")), wanted, 1e-14, "velocity");
    fixture_free(&f);
  }
}

static void a_prescribed_joint_may_repeat_its_signal_only(void** state) {
  (void)state;
  char yaml[2000];
  Fixture f;
  snprintf(yaml, sizeof yaml, "%sinitial:\n  - {link: arm, coordinates: [0.5], velocities: [0.5]}\n", PRESCRIBED);
  fixture_load(&f, yaml);
  check_clean(&f);
  fixture_free(&f);
  snprintf(yaml, sizeof yaml, "%sinitial:\n  - {link: arm, coordinates: [0.6], velocities: [0.4]}\n", PRESCRIBED);
  fixture_load(&f, yaml);
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  check_message(&f, SEVERITY_ERROR, 10, "the joint of link 'arm' is prescribed and starts at the value of its signal");
  check_message(&f, SEVERITY_ERROR, 10, "the joint of link 'arm' is prescribed and starts with the rate");
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(silence_means_zero),
      cmocka_unit_test(angular_velocity_is_in_link_axes),
      cmocka_unit_test(prescribed_joints_start_on_their_signal),
      cmocka_unit_test(small_rotation_vectors_have_the_same_velocity),
      cmocka_unit_test(a_prescribed_joint_may_repeat_its_signal_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
