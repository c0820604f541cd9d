/* Ball joint: three rotations, represented by a quaternion. */
#include "joint/joint.h"

static void add_coordinates(Joint* joint, const Vec3 axes[2], unsigned free_axes) {
  (void)free_axes;
  joint->axis[0] = axes[0]; /* twist axis, used by the joint limits */
  joint_add_quaternion(joint);
}

static void apply_motion(const Joint* joint, const double* r, Pose* motion) {
  (void)joint;
  motion->r = mat3_from_quat(quat_at(r));
}

static void compute_screws(const Joint* joint, const double* r, Mat3 frame, Pose link, Screw* out) {
  (void)joint, (void)r, (void)frame;
  for (int k = 0; k < 3; k++) out[k] = (Screw){vec3(link.r.m[0][k], link.r.m[1][k], link.r.m[2][k]), {0, 0, 0}, link.t};
}

/* Sets the bounds of the angular speed and of its rate. The angular velocity along the path is d[0] a + d[1] b + d[2]
 * c, where a, b, c are the unit axes of the three rotations. b is perpendicular to a and c; a . c = sin(alpha d[1]) for
 * the path parameter alpha. */
static void bound_motion(const Joint* joint, const double* r, const double* d, JointMotionBound* bound) {
  (void)joint, (void)r;
  double cross = 2 * fabs(d[0] * d[2]) * fmin(1.0, fabs(d[1]));
  bound->spin = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + cross);
  bound->spin_rate = fabs(d[0] * d[1]) + fabs(d[0] * d[2]) + fabs(d[1] * d[2]);
}

const JointKind JOINT_KIND_BALL = {add_coordinates, apply_motion, compute_screws, bound_motion};
