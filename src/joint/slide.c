/* Slide joint: a translation along an axis. */
#include "joint/joint.h"

static void add_coordinates(Joint* joint, const Vec3 axes[2], unsigned free_axes) {
  (void)free_axes;
  joint_add_slide(joint, axes[0], "position");
}

const JointKind JOINT_KIND_SLIDE = {.add_coordinates = add_coordinates};
