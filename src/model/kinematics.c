/* Forward kinematics and screws (K1; docs/derivations/kinematics.md). */
#include "model/model.h"

static Pose parent_pose(const ModelLink* link, const Pose* poses) {
  return link->parent < 0 ? pose_identity() : poses[link->parent];
}

void model_poses(const Model* model, const double* q, Pose* poses) {
  for (int i = 0; i < model->link_count; i++) model_link_pose(model, i, q, poses);
}

void model_link_pose(const Model* model, int i, const double* q, Pose* poses) {
  const ModelLink* link = &model->links[i];
  Pose joint = pose_mul(parent_pose(link, poses), link->origin);
  poses[i] = pose_mul(joint, joint_motion(link, q + link->coordinate_first));
}

void model_increment(const Model* model, const double* q, const double* increments, double fraction, double* out) {
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    double d[JOINT_MAX_DOF];
    for (int k = 0; k < link->dof_count; k++) d[k] = fraction * increments[link->dof_first + k];
    if (link->dof_count > 0) joint_increment(link, q + link->coordinate_first, d, out + link->coordinate_first);
  }
}

void model_screws(const Model* model, const double* q, const Pose* poses, Screw* screws) {
  const Vec3 zero = {0, 0, 0};
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    if (link->dof_count == 0) continue;
    Screw* out = screws + link->dof_first;
    Mat3 joint = mat3_mul(parent_pose(link, poses).r, link->origin.r);
    for (int k = 0; k < link->slide_count; k++) *out++ = (Screw){zero, mat3_mul_vec(joint, link->slide_axis[k]), zero};
    Vec3 p = poses[i].t; /* the link frame's origin lies on every rotation axis of its joint */
    if (link->rotation == ROTATION_HINGE || link->rotation == ROTATION_UNIVERSAL)
      *out++ = (Screw){mat3_mul_vec(joint, link->hinge_axis[0]), zero, p};
    if (link->rotation == ROTATION_UNIVERSAL) {
      double angle = q[link->coordinate_first + link->slide_count];
      Vec3 axis = mat3_mul_vec(mat3_from_quat(quat_about(link->hinge_axis[0], angle)), link->hinge_axis[1]);
      *out++ = (Screw){mat3_mul_vec(joint, axis), zero, p};
    }
    if (link->rotation == ROTATION_BALL)
      for (int k = 0; k < 3; k++)
        *out++ = (Screw){vec3(poses[i].r.m[0][k], poses[i].r.m[1][k], poses[i].r.m[2][k]), zero, p};
  }
}
