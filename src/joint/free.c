/* Free joint: a selection of translations along the axes of the joint frame, followed by a selection of rotations about
 * the axes. One or two rotations are hinges in the order x, y, z. Three rotations are a quaternion. */
#include "joint/joint.h"

static void add_coordinates(Joint* joint, const Vec3 axes[2], unsigned free_axes) {
  static const JointKind* const ROTATION_KINDS[] = {&JOINT_KIND_FIXED, &JOINT_KIND_HINGE, &JOINT_KIND_UNIVERSAL,
                                                    &JOINT_KIND_BALL};
  static const char* const NAMES[] = {"x", "y", "z", "rx", "ry", "rz"};
  static const Vec3 UNIT[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const unsigned all = FREE_RX | FREE_RY | FREE_RZ;
  int rotations = 0;
  (void)axes;
  for (int k = 0; k < 3; k++)
    if (free_axes & (unsigned)FREE_X << k) joint_add_slide(joint, UNIT[k], NAMES[k]);
  for (int k = 0; k < 3; k++) {
    if (!(free_axes & (unsigned)FREE_RX << k)) continue;
    rotations++;
    if ((free_axes & all) != all) joint_add_hinge(joint, UNIT[k], NAMES[3 + k]);
  }
  joint->kind = ROTATION_KINDS[rotations];
  if (rotations == 3) joint_add_quaternion(joint);
}

const JointKind JOINT_KIND_FREE = {.add_coordinates = add_coordinates};
