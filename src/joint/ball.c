/* Ball joint: three rotations, represented by a quaternion. */
#include "joint/joint.h"

static void make(Joint* joint, const Vec3 axes[2], unsigned free_axes) {
  (void)free_axes;
  joint->axis[0] = axes[0]; /* axis of the joint's twist; only the joint limits read it */
  joint_add_quaternion(joint);
}

static void move(const Joint* joint, const double* r, Pose* motion) {
  (void)joint;
  motion->r = mat3_from_quat(quat_at(r));
}

/* The three screws are rotations about the axes of the link frame. */
static void screws(const Joint* joint, const double* r, Mat3 frame, Pose link, Screw* out) {
  (void)joint, (void)r, (void)frame;
  for (int k = 0; k < 3; k++) out[k] = (Screw){vec3(link.r.m[0][k], link.r.m[1][k], link.r.m[2][k]), {0, 0, 0}, link.t};
}

/* The link performs rotations by alpha d[0], alpha d[1] and alpha d[2] about three axes. Axis 2 stays perpendicular to
 * axes 1 and 3. The cosine of the angle between axes 1 and 3 is sin(alpha d[1]). */
static void bound(const Joint* joint, const double* r, const double* d, JointMotionBound* reach) {
  (void)joint, (void)r;
  double cross = 2 * fabs(d[0] * d[2]) * fmin(1.0, fabs(d[1]));
  reach->spin = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + cross);
  reach->spin_rate = fabs(d[0] * d[1]) + fabs(d[0] * d[2]) + fabs(d[1] * d[2]);
}

const JointKind JOINT_KIND_BALL = {make, move, screws, bound};
