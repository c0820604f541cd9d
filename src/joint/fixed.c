/* Fixed joint: no degree of freedom. */
#include "joint/joint.h"

static void add_coordinates(Joint* joint, const Vec3 axes[2], unsigned free_axes) {
  (void)joint, (void)axes, (void)free_axes;
}

const JointKind JOINT_KIND_FIXED = {.add_coordinates = add_coordinates};
