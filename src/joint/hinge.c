/* Hinge joint: a rotation about an axis. */
#include "joint/joint.h"

static void add_coordinates(Joint* joint, const Vec3 axes[2], unsigned free_axes) {
  (void)free_axes;
  joint_add_hinge(joint, axes[0], "angle");
}

static void apply_motion(const Joint* joint, const double* r, Pose* motion) {
  motion->r = mat3_from_quat(quat_about(joint->axis[0], r[0]));
}

static void compute_screws(const Joint* joint, const double* r, Mat3 frame, Pose link, Screw* out) {
  (void)r;
  *out = (Screw){mat3_mul_vec(frame, joint->axis[0]), {0, 0, 0}, link.t};
}

static void bound_motion(const Joint* joint, const double* r, const double* d, JointMotionBound* bound) {
  (void)joint, (void)r;
  bound->spin = fabs(d[0]);
}

const JointKind JOINT_KIND_HINGE = {add_coordinates, apply_motion, compute_screws, bound_motion};
