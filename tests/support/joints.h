/* Joints for tests: a number of translations, followed by 0 to 3 free rotations (3: a quaternion). */
#ifndef SDRS_TEST_JOINTS_H
#define SDRS_TEST_JOINTS_H

#include "model/model.h"

/* A link of its own that nothing limits, drives or damps. */
static inline ModelLink link_of(int slides, int rotations) {
  const Vec3 axes[2] = {{0, 0, 1}, {0, 1, 0}};
  const double parameters[JOINT_MAX_PARAMETER] = {0};
  ModelLink link = {.parent = -1, .prescribed = -1};
  link.joint = joint_make(JOINT_FREE, axes, ((1u << slides) - 1) | ((1u << rotations) - 1) << 3, parameters);
  link.dof_count = link.joint.dof_count;
  link.coordinate_count = link.joint.coordinate_count;
  if (rotations < 3) link.joint.axis[0] = axes[0], link.joint.axis[1] = axes[1];
  return link;
}

#endif
