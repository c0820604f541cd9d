/* Bounds on the motion of links along a straight line in joint increments (docs/derivations/certificate.md, P1-P3). */
#include "simulate/terms.h"

/* Angular speed of the joint's own rotation and the bound on its derivative. */
static void own_rotation(const ModelLink* link, const double* d, double* spin, double* rate) {
  const double* r = d + link->slide_count;
  *spin = *rate = 0;
  if (link->rotation == ROTATION_HINGE) *spin = fabs(r[0]);
  if (link->rotation == ROTATION_UNIVERSAL) {
    *spin = fabs(r[0]) + fabs(r[1]);
    *rate = fabs(r[0] * r[1]);
  }
  if (link->rotation == ROTATION_BALL) { /* axes 1-2 and 2-3 stay perpendicular; 1-3 have cosine sin(alpha d2) */
    double cross = 2 * fabs(r[0] * r[2]) * fmin(1.0, fabs(r[1]));
    *spin = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + cross);
    *rate = fabs(r[0] * r[1]) + fabs(r[0] * r[2]) + fabs(r[1] * r[2]);
  }
}

static JointBound joint_bound(const ModelLink* link, const double* q, const double* d) {
  JointBound own = {.arm = vec3_norm(link->origin.t)};
  double slide = 0;
  for (int k = 0; k < link->slide_count; k++) {
    own.length += fabs(q[k]) + fabs(d[k]);
    slide += d[k] * d[k]; /* several slides are perpendicular */
  }
  own.slide = sqrt(slide);
  if (link->dof_count > 0) own_rotation(link, d, &own.spin, &own.spin_rate);
  return own;
}

MotionBound motion_bound_below(MotionBound up, const JointBound* own) {
  double turning = up.spin * up.spin + up.spin_rate, arm = own->arm + own->length;
  return (MotionBound){up.speed + up.spin * arm + own->slide,
                       up.acceleration + turning * arm + 2 * up.spin * own->slide, up.spin + own->spin,
                       up.spin_rate + up.spin * own->spin + own->spin_rate};
}

/* Exact twist of a link's frame at the start of the path, from that of its parent. */
static void start_twist(const Model* model, int i, const Pose* poses, const Screw* screws, const double* delta,
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

/* Summed rates of a chain are far above its true speed: what is known at the start, plus what can be gained on the way,
 * is the better bound. */
static void sharpen(MotionBound* b, const JointBound* own) {
  b->spin = fmin(b->spin, vec3_norm(own->start_w) + b->spin_rate);
  b->speed = fmin(b->speed, vec3_norm(own->start_v) + b->acceleration);
}

void motion_bounds(const Model* model, const double* q, const Pose* poses, const Screw* screws, const double* delta,
                   MotionBounds* bounds) {
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    MotionBound up = link->parent < 0 ? (MotionBound){0, 0, 0, 0} : bounds->link[link->parent];
    bounds->joint[i] = joint_bound(link, q + link->coordinate_first, delta + link->dof_first);
    bounds->link[i] = motion_bound_below(up, &bounds->joint[i]);
    start_twist(model, i, poses, screws, delta, bounds->joint);
    if (link->tree >= 0) sharpen(&bounds->link[i], &bounds->joint[i]);
  }
}
