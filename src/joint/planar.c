/* Planar joint: two translations perpendicular to an axis, and a rotation about it. The first is along the projection
 * of the frame's x axis onto the plane (of its y axis, if the axis is nearly x). The second is perpendicular to the
 * axis and the first. */
#include "joint/joint.h"

/* Largest |x component| of the axis for which the first slide is along x; above it along y. */
#define NEARLY_ALONG 0.9

static void make(Joint* joint, const Vec3 axes[2], unsigned free_axes) {
  (void)free_axes;
  Vec3 axis = axes[0], x = vec3_x_across(axis, NEARLY_ALONG);
  joint_add_slide(joint, x, "x");
  joint_add_slide(joint, vec3_cross(axis, x), "y");
  joint_add_hinge(joint, axis, "angle");
  joint->kind = &JOINT_KIND_HINGE; /* the rotation acts after the translations */
}

const JointKind JOINT_KIND_PLANAR = {.make = make};
