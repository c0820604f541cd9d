/* Fixed joint: no degree of freedom. */
#include "joint/joint.h"

static void make(Joint* joint, const Vec3 axes[2], unsigned free_axes) { (void)joint, (void)axes, (void)free_axes; }

const JointKind JOINT_KIND_FIXED = {.make = make};
