/* Joint motions: up to three slides, then hinges or a quaternion (K1). */
#include <string.h>

#include "model/model.h"

/* Slides first, so that they point along fixed axes of the joint frame. */
static Vec3 slide_offset(const ModelLink* link, const double* q) {
  Vec3 t = vec3(0, 0, 0);
  for (int k = 0; k < link->slide_count; k++) t = vec3_add_scaled(t, q[k], link->slide_axis[k]);
  return t;
}

static Mat3 hinge_rotation(Vec3 axis, double angle) { return mat3_from_quat(quat_about(axis, angle)); }

static Quat quat_at(const double* q) { return (Quat){q[0], q[1], q[2], q[3]}; }

static void quat_store(Quat value, double* q) {
  q[0] = value.w;
  q[1] = value.x;
  q[2] = value.y;
  q[3] = value.z;
}

Pose joint_motion(const ModelLink* link, const double* q) {
  Pose motion = {mat3_identity(), slide_offset(link, q)};
  const double* angle = q + link->slide_count;
  switch (link->rotation) {
    case ROTATION_NONE:
      break;
    case ROTATION_HINGE:
      motion.r = hinge_rotation(link->hinge_axis[0], angle[0]);
      break;
    case ROTATION_UNIVERSAL:
      motion.r = mat3_mul(hinge_rotation(link->hinge_axis[0], angle[0]), hinge_rotation(link->hinge_axis[1], angle[1]));
      break;
    case ROTATION_BALL:
      motion.r = mat3_from_quat(quat_at(angle));
      break;
  }
  return motion;
}

void joint_increment(const ModelLink* link, const double* q, const double* d, double* out) {
  int plain = link->rotation == ROTATION_BALL ? link->slide_count : link->dof_count;
  for (int k = 0; k < plain; k++) out[k] = q[k] + d[k];
  if (link->rotation != ROTATION_BALL) return;
  if (d[plain] == 0 && d[plain + 1] == 0 && d[plain + 2] == 0) { /* to the bit: who stays is not looked at again */
    memcpy(out + plain, q + plain, 4 * sizeof(double));
    return;
  }
  Quat turn = quat_mul(quat_mul(quat_about(vec3(1, 0, 0), d[plain]), quat_about(vec3(0, 1, 0), d[plain + 1])),
                       quat_about(vec3(0, 0, 1), d[plain + 2]));
  quat_store(quat_normalized(quat_mul(quat_at(q + plain), turn)), out + plain);
}

void joint_difference(const ModelLink* link, const double* q_from, const double* q_to, double* d) {
  int plain = link->rotation == ROTATION_BALL ? link->slide_count : link->dof_count;
  for (int k = 0; k < plain; k++) d[k] = q_to[k] - q_from[k];
  if (link->rotation != ROTATION_BALL) return;
  Vec3 v = quat_log(quat_mul(quat_conjugate(quat_at(q_from + plain)), quat_at(q_to + plain)));
  d[plain] = v.x;
  d[plain + 1] = v.y;
  d[plain + 2] = v.z;
}

void joint_coordinates_from_target(const ModelLink* link, const double* target, double* q) {
  int plain = link->rotation == ROTATION_BALL ? link->slide_count : link->dof_count;
  for (int k = 0; k < plain; k++) q[k] = target[k];
  if (link->rotation != ROTATION_BALL) return;
  quat_store(quat_exp(vec3(target[plain], target[plain + 1], target[plain + 2])), q + plain);
}

void joint_zero(const ModelLink* link, double* q) {
  for (int k = 0; k < link->coordinate_count; k++) q[k] = 0;
  if (link->rotation == ROTATION_BALL) q[link->slide_count] = 1;
}
