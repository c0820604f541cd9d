/* Tests joint motions, increments and differences (K1) by second methods: Rodrigues' formula for hinges, composition,
 * and round trips. */
#include "model/model.h"

#include <string.h>

#include "support/bodies.h"
#include "support/compare.h"
#include "support/joints.h"

static Joint joint_of(int slides, int rotation) {
  Joint joint = link_of(slides, rotation).joint;
  joint.slide_axis[0] = vec3(0, 0, 1), joint.slide_axis[1] = vec3(1, 0, 0), joint.slide_axis[2] = vec3(0, 1, 0);
  joint.axis[0] = vec3_normalized(vec3(1, 2, -0.5)), joint.axis[1] = vec3_normalized(vec3(0.2, -1, 0.7));
  return joint;
}

/* v cos a + k x v sin a + k (k . v)(1 - cos a) */
static Vec3 rodrigues(Vec3 k, double a, Vec3 v) {
  Vec3 sum = vec3_add_scaled(vec3_scale(v, cos(a)), sin(a), vec3_cross(k, v));
  return vec3_add_scaled(sum, vec3_dot(k, v) * (1 - cos(a)), k);
}

static void joint_K1_motion_is_slides_then_rotations(void** state) {
  (void)state;
  Random random = {101};
  for (int trial = 0; trial < 100; trial++)
    for (int slides = 0; slides <= 3; slides++)
      for (int rotation = 0; rotation <= 3; rotation++) {
        Joint joint = joint_of(slides, rotation);
        double q[JOINT_MAX_COORDINATE] = {0};
        joint_zero(&joint, q);
        for (int k = 0; k < slides + (rotation < 3 ? rotation : 0); k++) q[k] = 3 * random_normal(&random);
        Vec3 axis = random_direction(&random);
        double angle = random_uniform(&random, -3, 3);
        if (rotation == 3) {
          q[slides] = cos(angle / 2);
          q[slides + 1] = sin(angle / 2) * axis.x, q[slides + 2] = sin(angle / 2) * axis.y,
                     q[slides + 3] = sin(angle / 2) * axis.z;
        }
        Vec3 x = vec3(random_normal(&random), random_normal(&random), random_normal(&random)), wanted = x;
        if (rotation == 2) wanted = rodrigues(joint.axis[1], q[slides + 1], wanted);
        if (rotation == 1 || rotation == 2) wanted = rodrigues(joint.axis[0], q[slides], wanted);
        if (rotation == 3) wanted = rodrigues(axis, angle, wanted);
        for (int k = 0; k < slides; k++) wanted = vec3_add_scaled(wanted, q[k], joint.slide_axis[k]);
        compare_vec3(pose_apply(joint_motion(&joint, q), x), wanted, 1e-13, "seed 101, %d slides, rotation %d", slides,
                     rotation);
      }
}

static void joint_zero_is_no_motion(void** state) {
  (void)state;
  for (int slides = 0; slides <= 3; slides++)
    for (int rotation = 0; rotation <= 3; rotation++) {
      Joint joint = joint_of(slides, rotation);
      double q[JOINT_MAX_COORDINATE];
      memset(q, 0x7f, sizeof q);
      joint_zero(&joint, q);
      Pose motion = joint_motion(&joint, q);
      compare_vec3(pose_apply(motion, vec3(1, 2, 3)), vec3(1, 2, 3), 0, "%d slides, rotation %d", slides, rotation);
    }
}

/* R <- R Rx(d1) Ry(d2) Rz(d3) */
static void joint_K1_increment_of_a_ball_turns_about_its_own_axes(void** state) {
  (void)state;
  Random random = {102};
  Joint joint = joint_of(2, 3);
  for (int trial = 0; trial < 100; trial++) {
    double q[7], d[5], out[7];
    joint_zero(&joint, q);
    Quat start = quat_about(random_direction(&random), random_uniform(&random, -3, 3));
    q[2] = start.w, q[3] = start.x, q[4] = start.y, q[5] = start.z;
    for (int k = 0; k < 5; k++) d[k] = random_normal(&random);
    joint_increment(&joint, q, d, out);
    Vec3 x = random_direction(&random);
    Vec3 wanted = rodrigues(vec3(0, 0, 1), d[4], x);
    wanted = rodrigues(vec3(0, 1, 0), d[3], wanted);
    wanted = rodrigues(vec3(1, 0, 0), d[2], wanted);
    wanted = mat3_mul_vec(mat3_from_quat(start), wanted);
    compare_vec3(mat3_mul_vec(joint_motion(&joint, out).r, x), wanted, 1e-13, "seed 102, trial %d", trial);
    compare_near(out[0], q[0] + d[0], 0, "slide");
    double norm = sqrt(out[2] * out[2] + out[3] * out[3] + out[4] * out[4] + out[5] * out[5]);
    compare_near(norm, 1, 4e-16, "norm of the quaternion");
  }
}

static void joint_increment_may_work_in_place(void** state) {
  (void)state;
  Random random = {103};
  for (int rotation = 0; rotation <= 3; rotation++) {
    Joint joint = joint_of(3, rotation);
    double q[7], d[6], out[7];
    joint_zero(&joint, q);
    for (int k = 0; k < 6; k++) d[k] = random_normal(&random);
    joint_increment(&joint, q, d, out);
    joint_increment(&joint, q, d, q);
    compare_bytes(q, out, sizeof(double) * (size_t)joint.coordinate_count, "rotation %d", rotation);
  }
}

/* A zero increment keeps the coordinates bit-identical, also if the quaternion's norm differs from 1 by rounding.
 * Bodies at rest then need no new evaluation. */
static void joint_increment_of_zero_keeps_the_bits(void** state) {
  (void)state;
  Random random = {105};
  for (int trial = 0; trial < 200; trial++)
    for (int rotation = 0; rotation <= 3; rotation++) {
      Joint joint = joint_of(trial % 4, rotation);
      double q[7], d[6] = {0}, out[7];
      joint_zero(&joint, q);
      for (int k = 0; k < joint.dof_count; k++) q[k] += random_normal(&random);
      if (rotation == 3) {
        Quat turn = quat_normalized((Quat){random_normal(&random), random_normal(&random), random_normal(&random), 1});
        double* to = q + joint.slide_count;
        to[0] = turn.w * (1 + 1e-15), to[1] = turn.x, to[2] = turn.y, to[3] = turn.z * (1 - 1e-15);
      }
      joint_increment(&joint, q, d, out);
      compare_bytes(out, q, sizeof(double) * (size_t)joint.coordinate_count, "seed 105, trial %d, rotation %d", trial,
                    rotation);
    }
}

/* The difference is the rotation vector of q_from^-1 q_to: exp of it leads there; small increments come back. */
static void joint_K1_difference_undoes_the_way(void** state) {
  (void)state;
  Random random = {104};
  for (int rotation = 0; rotation <= 3; rotation++) {
    Joint joint = joint_of(1, rotation);
    for (double size = 2.5; size > 1e-9; size *= 0.1) {
      double from[7], to[7], d[6] = {0}, back[6];
      joint_zero(&joint, from);
      for (int k = 0; k < joint.dof_count; k++) d[k] = random_normal(&random);
      joint_increment(&joint, from, d, from);
      Vec3 turn = vec3_scale(random_direction(&random), size);
      for (int k = 0; k < joint.dof_count; k++) d[k] = size * random_normal(&random);
      if (rotation == 3) {
        memcpy(to, from, sizeof to);
        to[0] += d[0];
        Quat q = quat_mul((Quat){from[1], from[2], from[3], from[4]}, quat_exp(turn));
        to[1] = q.w, to[2] = q.x, to[3] = q.y, to[4] = q.z;
        d[1] = turn.x, d[2] = turn.y, d[3] = turn.z;
      } else
        joint_increment(&joint, from, d, to);
      joint_difference(&joint, from, to, back);
      compare_arrays(back, d, joint.dof_count, 2e-15 / size + 1e-14, "seed 104, rotation %d, size %g", rotation, size);
    }
  }
}

/* An increment and its difference agree to second order (Rx Ry Rz against exp). */
static void joint_K1_increment_and_difference_agree_to_first_order(void** state) {
  (void)state;
  Random random = {105};
  Joint joint = joint_of(0, 3);
  double d[3] = {random_normal(&random), random_normal(&random), random_normal(&random)}, before = HUGE_VAL;
  for (double h = 0.1; h > 1e-6; h *= 0.1) {
    double q[4], out[4], step[3], back[3], error = 0;
    joint_zero(&joint, q);
    for (int k = 0; k < 3; k++) step[k] = h * d[k];
    joint_increment(&joint, q, step, out);
    joint_difference(&joint, q, out, back);
    for (int k = 0; k < 3; k++) error = fmax(error, fabs(back[k] - step[k]));
    compare_at_most(error, before / 80, "seed 105, h = %g", h);
    before = error;
  }
}

static void joint_target_of_a_ball_is_a_rotation_vector(void** state) {
  (void)state;
  Joint joint = joint_of(1, 3);
  const double target[4] = {0.3, 0.2, -0.5, 0.4};
  double q[5], zero[5], d[4];
  joint_coordinates_from_target(&joint, target, q);
  joint_zero(&joint, zero);
  joint_difference(&joint, zero, q, d);
  compare_arrays(d, target, 4, 1e-14, "target");
}

/* Coordinates of a model's joints lie one after the other: none may write into those of the next. */
static void joint_target_sets_the_coordinates_of_this_joint_alone(void** state) {
  (void)state;
  for (int slides = 0; slides <= 3; slides++)
    for (int rotations = 0; rotations <= 3; rotations++) {
      Joint joint = joint_of(slides, rotations);
      const double target[8] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8};
      double q[8];
      int own = slides + (rotations == 3 ? 4 : rotations);
      for (int k = 0; k < 8; k++) q[k] = 7;
      joint_coordinates_from_target(&joint, target, q);
      for (int k = own; k < 8; k++) compare_near(q[k], 7, 0, "%d slides, %d rotations, q[%d]", slides, rotations, k);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joint_K1_motion_is_slides_then_rotations),
      cmocka_unit_test(joint_zero_is_no_motion),
      cmocka_unit_test(joint_K1_increment_of_a_ball_turns_about_its_own_axes),
      cmocka_unit_test(joint_increment_may_work_in_place),
      cmocka_unit_test(joint_increment_of_zero_keeps_the_bits),
      cmocka_unit_test(joint_K1_difference_undoes_the_way),
      cmocka_unit_test(joint_K1_increment_and_difference_agree_to_first_order),
      cmocka_unit_test(joint_target_of_a_ball_is_a_rotation_vector),
      cmocka_unit_test(joint_target_sets_the_coordinates_of_this_joint_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
