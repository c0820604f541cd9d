/* Two slides across an axis, x and y, and a turn about it. The first goes along the frame's x axis as far as that lies
 * across (its y axis, where the axis is nearly x itself); the second stands at right angles to both. */
#include "joint/joint.h"

/* Nearer than this to the axis x is no direction across it. */
#define NEARLY_ALONG 0.9

static void make(Joint* joint, const Vec3 axes[2], unsigned free_axes) {
  (void)free_axes;
  Vec3 axis = axes[0], x = vec3_x_across(axis, NEARLY_ALONG);
  joint_add_slide(joint, x, "x");
  joint_add_slide(joint, vec3_cross(axis, x), "y");
  joint_add_hinge(joint, axis, "angle");
  joint->kind = &JOINT_KIND_HINGE; /* which turns after the slides */
}

const JointKind JOINT_KIND_PLANAR = {.make = make};
