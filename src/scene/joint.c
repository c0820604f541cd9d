#include "scene/scene.h"

static int bit_count(unsigned bits) {
  int count = 0;
  for (; bits; bits &= bits - 1) count++; /* drops the lowest bit */
  return count;
}

static bool has_quaternion(const SceneJoint* joint) {
  const unsigned rotations = FREE_RX | FREE_RY | FREE_RZ;
  if (joint->type == JOINT_BALL) return true;
  return joint->type == JOINT_FREE && (joint->free_axes & rotations) == rotations;
}

int scene_joint_dof(const SceneJoint* joint) {
  switch (joint->type) {
    case JOINT_FIXED:
      return 0;
    case JOINT_HINGE:
    case JOINT_SLIDE:
      return 1;
    case JOINT_UNIVERSAL:
      return 2;
    case JOINT_BALL:
      return 3;
    case JOINT_FREE:
      return bit_count(joint->free_axes & FREE_ALL);
  }
  return 0;
}

int scene_joint_coordinates(const SceneJoint* joint) {
  return scene_joint_dof(joint) + (has_quaternion(joint) ? 1 : 0);
}

int scene_joint_slides(const SceneJoint* joint) {
  if (joint->type == JOINT_SLIDE) return 1;
  return joint->type == JOINT_FREE ? bit_count(joint->free_axes & (FREE_X | FREE_Y | FREE_Z)) : 0;
}

/* The index-th of the names whose bits are set. */
static const char* free_axis_name(unsigned axes, int index) {
  static const char* const NAMES[] = {"x", "y", "z", "rx", "ry", "rz"};
  for (int i = 0; i < 6; i++)
    if ((axes & (1u << i)) && index-- == 0) return NAMES[i];
  return "";
}

const char* scene_joint_coordinate_name(const SceneJoint* joint, int index) {
  static const char* const QUATERNION[] = {"qw", "qx", "qy", "qz"};
  int slides = scene_joint_slides(joint);
  if (index < 0 || index >= scene_joint_coordinates(joint)) return "";
  if (has_quaternion(joint) && index >= slides) return QUATERNION[index - slides];
  switch (joint->type) {
    case JOINT_HINGE:
      return "angle";
    case JOINT_SLIDE:
      return "position";
    case JOINT_UNIVERSAL:
      return index == 0 ? "angle1" : "angle2";
    case JOINT_FREE:
      return free_axis_name(joint->free_axes, index);
    default:
      return "";
  }
}
