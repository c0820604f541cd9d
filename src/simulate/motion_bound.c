/* Bounds on the motion of links along a straight line in joint increments (docs/derivations/certificate.md, P1-P3). */
#include <assert.h>

#include "simulate/terms.h"

static JointBound joint_bound(const ModelLink* link, const double* q, const double* d) {
  JointMotionBound joint = joint_bound_motion(&link->joint, q, d);
  return (JointBound){.arm = vec3_norm(link->origin.t),
                      .length = joint.length,
                      .slide = joint.slide,
                      .spin = joint.spin,
                      .spin_rate = joint.spin_rate};
}

MotionBound motion_bound_below(MotionBound parent, const JointBound* joint) {
  double turning = parent.spin * parent.spin + parent.spin_rate, arm = joint->arm + joint->length;
  return (MotionBound){parent.speed + parent.spin * arm + joint->slide,
                       parent.acceleration + turning * arm + 2 * parent.spin * joint->slide, parent.spin + joint->spin,
                       parent.spin_rate + parent.spin * joint->spin + joint->spin_rate};
}

/* Sets joints[i].start_w and start_v, the exact twist of the frame of link i at the start of the path. The twist of the
 * parent must be set. */
static void set_start_twist(const Model* model, int i, const Pose* poses, const Screw* screws, const double* delta,
                            JointBound* joints) {
  const ModelLink* link = &model->links[i];
  Vec3 w = {0, 0, 0}, v = {0, 0, 0};
  if (link->parent >= 0) {
    const JointBound* up = &joints[link->parent];
    w = up->start_w;
    v = vec3_add(up->start_v, vec3_cross(w, vec3_sub(poses[i].t, poses[link->parent].t)));
  }
  for (int k = link->dof_first; k < link->dof_first + link->dof_count; k++) {
    w = vec3_add_scaled(w, delta[k], screws[k].w);
    v = vec3_add_scaled(v, delta[k], screw_velocity(&screws[k], poses[i].t));
  }
  joints[i].start_w = w;
  joints[i].start_v = v;
}

/* Replaces the bounds on the speeds, which are sums over the chain, by the exact speed at the start plus its largest
 * possible change if this is smaller. The sum over the chain is often far above the true speed. */
static void replace_by_start_speed_bounds(MotionBound* b, const JointBound* joint) {
  b->spin = fmin(b->spin, vec3_norm(joint->start_w) + b->spin_rate);
  b->speed = fmin(b->speed, vec3_norm(joint->start_v) + b->acceleration);
}

void motion_bounds_of_link(const Model* model, int i, const double* q, const Pose* poses, const Screw* screws,
                           const double* delta, MotionBounds* bounds) {
  assert(i >= 0 && i < model->link_count);
  const ModelLink* link = &model->links[i];
  MotionBound up = link->parent < 0 ? (MotionBound){0, 0, 0, 0} : bounds->link[link->parent];
  bounds->joint[i] = joint_bound(link, q + link->coordinate_first, delta + link->dof_first);
  bounds->link[i] = motion_bound_below(up, &bounds->joint[i]);
  set_start_twist(model, i, poses, screws, delta, bounds->joint);
  if (link->tree >= 0) replace_by_start_speed_bounds(&bounds->link[i], &bounds->joint[i]);
}

void motion_bounds(const Model* model, const double* q, const Pose* poses, const Screw* screws, const double* delta,
                   MotionBounds* bounds) {
  for (int i = 0; i < model->link_count; i++) motion_bounds_of_link(model, i, q, poses, screws, delta, bounds);
}
