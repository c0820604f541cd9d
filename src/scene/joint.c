#include <assert.h>
#include "scene/scene.h"

Joint scene_joint(const SceneJoint* joint) {
  assert(joint);
  return joint_make(joint->type, joint->axes, joint->free_axes, joint->parameters);
}

int scene_joint_dof(const SceneJoint* joint) { return scene_joint(joint).dof_count; }

const char* scene_joint_coordinate_name(const SceneJoint* joint, int index) {
  Joint made = scene_joint(joint);
  return index < 0 || index >= made.coordinate_count ? "" : made.names[index];
}
