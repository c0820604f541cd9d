/* Table of the joint types, and operations on joint coordinates (kinematics.md, K1). */
#include "joint/joint.h"

#include <assert.h>
#include <string.h>

#define TABLE_ROW(NAME, word, freedom, moves, axis, axes, free_axes) {word, axis, axes, free_axes, &JOINT_KIND_##NAME},
const JointTypeRow JOINT_TABLE[] = {JOINT_TYPE_ROWS(TABLE_ROW)};

#define NUMBER_ROW(slot, key, types, ...) {slot, key, types},
const JointParameterRow JOINT_PARAMETERS[] = {JOINT_PARAMETER_ROWS(NUMBER_ROW){0, NULL, NULL}};

static void add_scalar_coordinate(Joint* joint, const char* name) {
  joint->names[joint->coordinate_count++] = name;
  joint->scalar_count++;
  joint->dof_count++;
}

void joint_add_slide(Joint* joint, Vec3 axis, const char* name) {
  assert(joint->slide_count < 3);
  joint->slide_axis[joint->slide_count++] = axis;
  add_scalar_coordinate(joint, name);
}

void joint_add_rotation_coordinate(Joint* joint, const char* name) {
  assert(joint->hinge_count < JOINT_MAX_COORDINATE - joint->slide_count);
  add_scalar_coordinate(joint, name);
}

void joint_add_hinge(Joint* joint, Vec3 axis, const char* name) {
  assert(joint->hinge_count < 2 && !joint->quaternion);
  joint->axis[joint->hinge_count++] = axis;
  add_scalar_coordinate(joint, name);
}

void joint_add_quaternion(Joint* joint) {
  static const char* const NAMES[] = {"qw", "qx", "qy", "qz"};
  assert(!joint->quaternion);
  for (int k = 0; k < 4; k++) joint->names[joint->coordinate_count++] = NAMES[k];
  joint->dof_count += 3;
  joint->quaternion = true;
}

Joint joint_make(JointType type, const Vec3 axes[2], unsigned free_axes, const double* parameters) {
  Joint joint = {.kind = JOINT_TABLE[type].kind};
  memcpy(joint.parameters, parameters, sizeof joint.parameters);
  joint.kind->add_coordinates(&joint, axes, free_axes);
  return joint;
}

bool joint_is_elementary(const Joint* joint) { return joint->scalar_count == joint->slide_count + joint->hinge_count; }

Pose joint_motion(const Joint* joint, const double* q) {
  Pose motion = pose_identity();
  for (int k = 0; k < joint->slide_count; k++) motion.t = vec3_add_scaled(motion.t, q[k], joint->slide_axis[k]);
  if (joint->kind->apply_motion) joint->kind->apply_motion(joint, q + joint->slide_count, &motion);
  return motion;
}

void joint_screws(const Joint* joint, const double* q, Mat3 frame, Pose link, Screw* out) {
  const Vec3 zero = {0, 0, 0};
  for (int k = 0; k < joint->slide_count; k++) *out++ = (Screw){zero, mat3_mul_vec(frame, joint->slide_axis[k]), zero};
  if (joint->kind->compute_screws) joint->kind->compute_screws(joint, q + joint->slide_count, frame, link, out);
}

JointMotionBound joint_bound_motion(const Joint* joint, const double* q, const double* d) {
  JointMotionBound bound = {0};
  double square = 0;
  for (int k = 0; k < joint->slide_count; k++) {
    bound.length += fabs(q[k]) + fabs(d[k]);
    square += d[k] * d[k]; /* the slide axes are perpendicular */
  }
  bound.slide = sqrt(square);
  if (joint->kind->bound_motion)
    joint->kind->bound_motion(joint, q + joint->slide_count, d + joint->slide_count, &bound);
  return bound;
}

void joint_increment(const Joint* joint, const double* q, const double* d, double* out) {
  int first = joint->scalar_count;
  for (int k = 0; k < first; k++) out[k] = q[k] + d[k];
  if (!joint->quaternion) return;
  if (d[first] == 0 && d[first + 1] == 0 &&
      d[first + 2] == 0) { /* copying keeps the poses of links at rest bit-identical */
    memmove(out + first, q + first, 4 * sizeof(double));
    return;
  }
  Quat rotation = quat_mul(quat_mul(quat_about(vec3(1, 0, 0), d[first]), quat_about(vec3(0, 1, 0), d[first + 1])),
                           quat_about(vec3(0, 0, 1), d[first + 2]));
  quat_store(quat_normalized(quat_mul(quat_at(q + first), rotation)), out + first);
}

void joint_difference(const Joint* joint, const double* q_from, const double* q_to, double* d) {
  assert(q_from && q_to && d);
  int first = joint->scalar_count;
  for (int k = 0; k < first; k++) d[k] = q_to[k] - q_from[k];
  if (!joint->quaternion) return;
  vec3_store(quat_log(quat_mul(quat_conjugate(quat_at(q_from + first)), quat_at(q_to + first))), d + first);
}

void joint_extrapolate(const Joint* joint, const double* q, const double* d, double factor, double* out) {
  int first = joint->scalar_count;
  for (int k = 0; k < first; k++) out[k] = q[k] + factor * d[k];
  if (!joint->quaternion) return;
  Quat rotation = quat_exp(vec3_scale(vec3_at(d + first), factor));
  quat_store(quat_normalized(quat_mul(quat_at(q + first), rotation)), out + first);
}

void joint_coordinates_from_target(const Joint* joint, const double* target, double* q) {
  int first = joint->scalar_count;
  for (int k = 0; k < first; k++) q[k] = target[k];
  if (joint->quaternion) quat_store(quat_exp(vec3_at(target + first)), q + first);
}

void joint_rates_from_target(const Joint* joint, const double* value, const double* value_rate, double* rate) {
  int first = joint->scalar_count;
  for (int k = 0; k < first; k++) rate[k] = value_rate[k];
  if (joint->quaternion) vec3_store(rotation_rate(vec3_at(value + first), vec3_at(value_rate + first)), rate + first);
}

void joint_zero(const Joint* joint, double* q) {
  for (int k = 0; k < joint->coordinate_count; k++) q[k] = 0;
  if (joint->quaternion) q[joint->scalar_count] = 1;
}

bool joint_is_free_in_plane(const Joint* joint) {
  if (joint->hinge_count != 1 || joint->scalar_count != joint->slide_count + 1 || joint->quaternion) return false;
  int across = 0;
  for (int k = 0; k < joint->slide_count; k++)
    if (vec3_dot(joint->slide_axis[k], joint->axis[0]) == 0) across++;
  return across == 2;
}

Vec3 joint_free_angular_velocity(const Joint* joint, const double* rate) {
  assert(joint_is_floating(joint) || joint_is_free_in_plane(joint));
  const double* rotation = rate + joint->slide_count;
  return joint->quaternion ? vec3_at(rotation) : vec3_scale(joint->axis[0], rotation[0]);
}

void joint_set_free_rotation_rates(const Joint* joint, Vec3 w, double* rate) {
  assert(joint_is_floating(joint) || joint_is_free_in_plane(joint));
  double* rotation = rate + joint->slide_count;
  if (joint->quaternion)
    vec3_store(w, rotation);
  else
    rotation[0] = vec3_dot(joint->axis[0], w);
}
