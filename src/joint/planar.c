/* Planar joint: two translations perpendicular to an axis, and a rotation about the axis. The first translation is
 * along the x axis of the joint frame, projected onto the plane. If the joint axis is nearly x, the y axis is projected
 * instead. The second translation is perpendicular to the joint axis and to the first translation. */
#include "joint/joint.h"

/* Largest |x component| of the joint axis for which the first translation is along the projected x axis. */
#define MAX_X_COMPONENT 0.9

static void add_coordinates(Joint* joint, const Vec3 axes[2], unsigned free_axes) {
  (void)free_axes;
  Vec3 axis = axes[0], x = vec3_perpendicular_near_x(axis, MAX_X_COMPONENT);
  joint_add_slide(joint, x, "x");
  joint_add_slide(joint, vec3_cross(axis, x), "y");
  joint_add_hinge(joint, axis, "angle");
  joint->kind = &JOINT_KIND_HINGE; /* the rotation acts after the translations */
}

const JointKind JOINT_KIND_PLANAR = {.add_coordinates = add_coordinates};
