/* A helix: a rotation about an axis that carries the link along it, `pitch` metres per radian. */
#include "joint/joint.h"

static void add_coordinates(Joint* joint, const Vec3 axes[2], unsigned free_axes) {
  (void)free_axes;
  joint->axis[0] = axes[0];
  joint_add_rotation_coordinate(joint, "angle");
}

static void apply_motion(const Joint* joint, const double* r, Pose* motion) {
  motion->r = mat3_from_quat(quat_about(joint->axis[0], r[0]));
  motion->t = vec3_add_scaled(motion->t, joint->parameters[0] * r[0], joint->axis[0]);
}

static void compute_screws(const Joint* joint, const double* r, Mat3 frame, Pose link, Screw* out) {
  Vec3 axis = mat3_mul_vec(frame, joint->axis[0]);
  (void)r;
  *out = (Screw){axis, vec3_scale(axis, joint->parameters[0]), link.t};
}

static void bound_motion(const Joint* joint, const double* r, const double* d, JointMotionBound* bound) {
  double pitch = fabs(joint->parameters[0]);
  bound->length += pitch * (fabs(r[0]) + fabs(d[0]));
  bound->slide += pitch * fabs(d[0]);
  bound->spin = fabs(d[0]);
}

const JointKind JOINT_KIND_HELIX = {add_coordinates, apply_motion, compute_screws, bound_motion};
