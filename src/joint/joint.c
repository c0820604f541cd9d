/* Table of the joint types, and operations on joint coordinates (K1). */
#include "joint/joint.h"

#include <assert.h>
#include <string.h>

/* ---------------------------------------------------------------- the table */

#define TABLE_ROW(NAME, word, freedom, moves, axis, axes, free_axes) {word, axis, axes, free_axes, &JOINT_KIND_##NAME},
const JointTypeRow JOINT_TABLE[] = {JOINT_TYPE_ROWS(TABLE_ROW)};

#define NUMBER_ROW(slot, key, types, ...) {slot, key, types},
const JointParameterRow JOINT_PARAMETERS[] = {JOINT_PARAMETER_ROWS(NUMBER_ROW){0, NULL, NULL}};

/* ---------------------------------------------------------------- making */

static void add_plain(Joint* joint, const char* name) {
  joint->names[joint->coordinate_count++] = name;
  joint->scalar_count++;
  joint->dof_count++;
}

void joint_add_slide(Joint* joint, Vec3 axis, const char* name) {
  assert(joint->slide_count < 3);
  joint->slide_axis[joint->slide_count++] = axis;
  add_plain(joint, name);
}

void joint_add_rotation_coordinate(Joint* joint, const char* name) {
  assert(joint->hinge_count < JOINT_MAX_COORDINATE - joint->slide_count);
  add_plain(joint, name);
}

void joint_add_hinge(Joint* joint, Vec3 axis, const char* name) {
  joint->axis[joint->hinge_count++] = axis;
  add_plain(joint, name);
}

void joint_add_quaternion(Joint* joint) {
  static const char* const NAMES[] = {"qw", "qx", "qy", "qz"};
  for (int k = 0; k < 4; k++) joint->names[joint->coordinate_count++] = NAMES[k];
  joint->dof_count += 3;
  joint->quaternion = true;
}

Joint joint_make(JointType type, const Vec3 axes[2], unsigned free_axes, const double* parameters) {
  Joint joint = {.kind = JOINT_TABLE[type].kind};
  memcpy(joint.parameters, parameters, sizeof joint.parameters);
  joint.kind->make(&joint, axes, free_axes);
  return joint;
}

bool joint_is_elementary(const Joint* joint) { return joint->scalar_count == joint->slide_count + joint->hinge_count; }

/* ---------------------------------------------------------------- motion */

Pose joint_motion(const Joint* joint, const double* q) {
  Pose motion = pose_identity();
  for (int k = 0; k < joint->slide_count; k++) motion.t = vec3_add_scaled(motion.t, q[k], joint->slide_axis[k]);
  if (joint->kind->move) joint->kind->move(joint, q + joint->slide_count, &motion);
  return motion;
}

void joint_screws(const Joint* joint, const double* q, Mat3 frame, Pose link, Screw* out) {
  const Vec3 zero = {0, 0, 0};
  for (int k = 0; k < joint->slide_count; k++) *out++ = (Screw){zero, mat3_mul_vec(frame, joint->slide_axis[k]), zero};
  if (joint->kind->screws) joint->kind->screws(joint, q + joint->slide_count, frame, link, out);
}

JointMotionBound joint_bound_motion(const Joint* joint, const double* q, const double* d) {
  JointMotionBound reach = {0};
  double square = 0;
  for (int k = 0; k < joint->slide_count; k++) {
    reach.length += fabs(q[k]) + fabs(d[k]);
    square += d[k] * d[k]; /* the slide axes are perpendicular */
  }
  reach.slide = sqrt(square);
  if (joint->kind->reach) joint->kind->reach(joint, q + joint->slide_count, d + joint->slide_count, &reach);
  return reach;
}

/* ---------------------------------------------------------------- coordinates */

void joint_increment(const Joint* joint, const double* q, const double* d, double* out) {
  int plain = joint->scalar_count;
  for (int k = 0; k < plain; k++) out[k] = q[k] + d[k];
  if (!joint->quaternion) return;
  if (d[plain] == 0 && d[plain + 1] == 0 &&
      d[plain + 2] == 0) { /* the quaternion is copied bit-identically, so that links at rest are not recomputed */
    memmove(out + plain, q + plain, 4 * sizeof(double));
    return;
  }
  Quat turn = quat_mul(quat_mul(quat_about(vec3(1, 0, 0), d[plain]), quat_about(vec3(0, 1, 0), d[plain + 1])),
                       quat_about(vec3(0, 0, 1), d[plain + 2]));
  quat_store(quat_normalized(quat_mul(quat_at(q + plain), turn)), out + plain);
}

void joint_difference(const Joint* joint, const double* q_from, const double* q_to, double* d) {
  assert(q_from && q_to && d);
  int plain = joint->scalar_count;
  for (int k = 0; k < plain; k++) d[k] = q_to[k] - q_from[k];
  if (!joint->quaternion) return;
  vec3_store(quat_log(quat_mul(quat_conjugate(quat_at(q_from + plain)), quat_at(q_to + plain))), d + plain);
}

void joint_extrapolate(const Joint* joint, const double* q, const double* d, double factor, double* out) {
  int plain = joint->scalar_count;
  for (int k = 0; k < plain; k++) out[k] = q[k] + factor * d[k];
  if (!joint->quaternion) return;
  Quat turn = quat_exp(vec3_scale(vec3_at(d + plain), factor));
  quat_store(quat_normalized(quat_mul(quat_at(q + plain), turn)), out + plain);
}

void joint_coordinates_from_target(const Joint* joint, const double* target, double* q) {
  int plain = joint->scalar_count;
  for (int k = 0; k < plain; k++) q[k] = target[k];
  if (joint->quaternion) quat_store(quat_exp(vec3_at(target + plain)), q + plain);
}

void joint_rates_from_target(const Joint* joint, const double* value, const double* value_rate, double* rate) {
  int plain = joint->scalar_count;
  for (int k = 0; k < plain; k++) rate[k] = value_rate[k];
  if (joint->quaternion) vec3_store(rotation_rate(vec3_at(value + plain), vec3_at(value_rate + plain)), rate + plain);
}

void joint_zero(const Joint* joint, double* q) {
  for (int k = 0; k < joint->coordinate_count; k++) q[k] = 0;
  if (joint->quaternion) q[joint->scalar_count] = 1;
}
