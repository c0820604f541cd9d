/* Universal joint: two rotations R = R(axis 1, r1) R(axis 2, r2); axis 1 is fixed to the parent link, axis 2 to the
 * child link. */
#include "joint/joint.h"

static Mat3 rotation(Vec3 axis, double angle) { return mat3_from_quat(quat_about(axis, angle)); }

static void add_coordinates(Joint* joint, const Vec3 axes[2], unsigned free_axes) {
  (void)free_axes;
  joint_add_hinge(joint, axes[0], "angle1");
  joint_add_hinge(joint, axes[1], "angle2");
}

static void apply_motion(const Joint* joint, const double* r, Pose* motion) {
  motion->r = mat3_mul(rotation(joint->axis[0], r[0]), rotation(joint->axis[1], r[1]));
}

static void compute_screws(const Joint* joint, const double* r, Mat3 frame, Pose link, Screw* out) {
  Vec3 second = mat3_mul_vec(rotation(joint->axis[0], r[0]), joint->axis[1]);
  out[0] = (Screw){mat3_mul_vec(frame, joint->axis[0]), {0, 0, 0}, link.t};
  out[1] = (Screw){mat3_mul_vec(frame, second), {0, 0, 0}, link.t};
}

static void bound_motion(const Joint* joint, const double* r, const double* d, JointMotionBound* bound) {
  (void)joint, (void)r;
  bound->spin = fabs(d[0]) + fabs(d[1]);
  bound->spin_rate = fabs(d[0] * d[1]);
}

const JointKind JOINT_KIND_UNIVERSAL = {add_coordinates, apply_motion, compute_screws, bound_motion};
