/* Tests screw and planar joints. Motion is compared with closed forms, joint screws with differences of the motion. */
#include "joint/joint.h"

#include "support/bodies.h"
#include "support/compare.h"

static Vec3 rodrigues(Vec3 k, double a, Vec3 v) {
  Vec3 sum = vec3_add_scaled(vec3_scale(v, cos(a)), sin(a), vec3_cross(k, v));
  return vec3_add_scaled(sum, vec3_dot(k, v) * (1 - cos(a)), k);
}

static void screw_K1_motion(void** state) {
  (void)state;
  Random random = {7};
  print_message("seed 7\n");
  for (int trial = 0; trial < 50; trial++) {
    Vec3 axes[2] = {random_direction(&random)}, x = random_direction(&random);
    double pitch[JOINT_MAX_PARAMETER] = {random_normal(&random)}, q = 3 * random_normal(&random);
    Joint joint = joint_make(JOINT_SCREW, axes, 0, pitch);
    assert_int_equal(joint.dof_count, 1);
    Vec3 wanted = vec3_add_scaled(rodrigues(axes[0], q, x), pitch[0] * q, axes[0]);
    compare_vec3(pose_apply(joint_motion(&joint, &q), x), wanted, 1e-13, "screw");
  }
}

static void planar_K1_motion(void** state) {
  (void)state;
  Random random = {8};
  print_message("seed 8\n");
  const double none[JOINT_MAX_PARAMETER] = {0};
  for (int trial = 0; trial < 50; trial++) {
    Vec3 axes[2] = {trial == 0 ? vec3(0, 0, 1) : trial == 1 ? vec3(1, 0, 0) : random_direction(&random)};
    Joint joint = joint_make(JOINT_PLANAR, axes, 0, none);
    assert_int_equal(joint.dof_count, 3);
    Vec3 x = joint.slide_axis[0], y = joint.slide_axis[1], point = random_direction(&random);
    compare_vec3(vec3_cross(x, y), axes[0], 1e-14, "x, y and the axis");
    if (trial == 0) compare_vec3(x, vec3(1, 0, 0), 0, "x across z");
    double q[3] = {random_normal(&random), random_normal(&random), random_normal(&random)};
    Vec3 wanted = vec3_add_scaled(vec3_add_scaled(rodrigues(axes[0], q[2], point), q[0], x), q[1], y);
    compare_vec3(pose_apply(joint_motion(&joint, q), point), wanted, 1e-13, "planar");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(screw_K1_motion),
      cmocka_unit_test(planar_K1_motion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
