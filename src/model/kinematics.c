/* Poses of links from joint coordinates, and screw axes of joints (K1; docs/derivations/kinematics.md). */
#include <assert.h>

#include "model/model.h"

static Pose parent_pose(const ModelLink* link, const Pose* poses) {
  return link->parent < 0 ? pose_identity() : poses[link->parent];
}

void model_poses(const Model* model, const double* q, Pose* poses) {
  for (int i = 0; i < model->link_count; i++) model_link_pose(model, i, q, poses);
}

void model_link_pose(const Model* model, int i, const double* q, Pose* poses) {
  assert(i >= 0 && i < model->link_count);
  assert(i >= 0 && i < model->link_count);
  const ModelLink* link = &model->links[i];
  Pose joint = pose_mul(parent_pose(link, poses), link->origin);
  poses[i] = pose_mul(joint, joint_motion(&link->joint, q + link->coordinate_first));
}

static void increment_link(const ModelLink* link, const double* q, const double* increments, double fraction,
                           double* out) {
  double d[JOINT_MAX_DOF];
  for (int k = 0; k < link->dof_count; k++) d[k] = fraction * increments[link->dof_first + k];
  if (link->dof_count > 0) joint_increment(&link->joint, q + link->coordinate_first, d, out + link->coordinate_first);
}

void model_increment(const Model* model, const double* q, const double* increments, double fraction, double* out) {
  for (int i = 0; i < model->link_count; i++) increment_link(&model->links[i], q, increments, fraction, out);
}

void model_displaced_link_pose(const Model* model, int i, int from, const double* q, const double* increments,
                               double fraction, double* displaced, Pose* poses) {
  assert(i >= 0 && i < model->link_count);
  const ModelLink* link = &model->links[i];
  if (i == from) return;
  if (link->parent >= 0)
    model_displaced_link_pose(model, link->parent, from, q, increments, fraction, displaced, poses);
  increment_link(link, q, increments, fraction, displaced);
  model_link_pose(model, i, displaced, poses);
}

void model_link_screws(const Model* model, int i, const double* q, const Pose* poses, Screw* screws) {
  assert(i >= 0 && i < model->link_count);
  const ModelLink* link = &model->links[i];
  if (link->dof_count == 0) return;
  Mat3 frame = mat3_mul(parent_pose(link, poses).r, link->origin.r);
  joint_screws(&link->joint, q + link->coordinate_first, frame, poses[i], screws + link->dof_first);
}

void model_screws(const Model* model, const double* q, const Pose* poses, Screw* screws) {
  for (int i = 0; i < model->link_count; i++) model_link_screws(model, i, q, poses, screws);
}

void model_add_generalized_force(const Model* model, int link, const Screw* screws, Vec3 at, Vec3 force, Vec3 torque,
                                 double* out) {
  for (int up = link; up >= 0; up = model->links[up].parent)
    for (int d = model->links[up].dof_first; d < model->links[up].dof_first + model->links[up].dof_count; d++)
      out[d] += vec3_dot(screws[d].w, torque) + vec3_dot(screw_velocity(&screws[d], at), force);
}
