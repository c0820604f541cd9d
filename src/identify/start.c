/* Initial state of a run at a sample. Velocities that are not measured are slopes of a parabola through the following
 * positions. */
#include <assert.h>
#include <string.h>

#include "identify/data.h"

/* Largest and smallest number of samples of the parabola. */
enum { FIT_SAMPLES_MAX = 9, FIT_SAMPLES_MIN = 3 };

/* Returns the slope at t = 0 of the least-squares parabola through value[count], or NaN for fewer than three values. */
static double parabola_slope(const double* t, const double* value, int count) {
  double s[5] = {0}, b[3] = {0};
  if (count < FIT_SAMPLES_MIN) return NAN;
  double unit = t[count - 1] > 0 ? t[count - 1] : 1;
  for (int k = 0; k < count; k++) {
    double power = 1, x = t[k] / unit;
    for (int n = 0; n < 5; n++, power *= x) {
      s[n] += power;
      if (n < 3) b[n] += power * value[k];
    }
  }
  Mat3 normal = {{{s[0], s[1], s[2]}, {s[1], s[2], s[3]}, {s[2], s[3], s[4]}}};
  return mat3_mul_vec(mat3_inverse(normal), vec3(b[0], b[1], b[2])).y / unit;
}

static Vec3 estimate_velocity(const MeasuredRun* r, const MeasuredLink* l, int sample) {
  double t[FIT_SAMPLES_MAX], x[3][FIT_SAMPLES_MAX];
  int count = 0;
  if (l->has_velocity && vec3_known(l->velocity[sample])) return l->velocity[sample];
  for (int k = sample; k < r->count && count < FIT_SAMPLES_MAX; k++) {
    if (!vec3_known(l->position[k])) continue;
    t[count] = r->time[k] - r->time[sample];
    x[0][count] = l->position[k].x;
    x[1][count] = l->position[k].y;
    x[2][count++] = l->position[k].z;
  }
  Vec3 v = vec3(parabola_slope(t, x[0], count), parabola_slope(t, x[1], count), parabola_slope(t, x[2], count));
  return vec3_known(v) ? v : vec3(0, 0, 0);
}

/* Returns the angular velocity at a sample, link axes, from rotation vectors relative to the sample. */
static Vec3 estimate_spin(const MeasuredRun* r, const MeasuredLink* l, int sample) {
  double t[FIT_SAMPLES_MAX], x[3][FIT_SAMPLES_MAX];
  int count = 0;
  if (l->has_spin && vec3_known(l->spin[sample])) return l->spin[sample];
  for (int k = sample; k < r->count && count < FIT_SAMPLES_MAX; k++) {
    if (!quat_known(l->rotation[k])) continue;
    Quat turn = quat_mul(quat_conjugate(l->rotation[sample]), l->rotation[k]);
    if (turn.w < 0) turn = (Quat){-turn.w, -turn.x, -turn.y, -turn.z};
    Vec3 phi = quat_log(turn);
    t[count] = r->time[k] - r->time[sample];
    x[0][count] = phi.x;
    x[1][count] = phi.y;
    x[2][count++] = phi.z;
  }
  Vec3 v = vec3(parabola_slope(t, x[0], count), parabola_slope(t, x[1], count), parabola_slope(t, x[2], count));
  return vec3_known(v) ? v : vec3(0, 0, 0);
}

/* Sets the slides of a link on the world from its measured position, and its ball joint from its measured rotation.
 * Coordinates that are not measured keep their values. */
static void set_root(const MeasuredRun* r, const MeasuredLink* l, int sample, const ModelLink* link, double* q,
                     double* v) {
  const Joint* joint = &link->joint;
  if (link->parent >= 0) return;
  if (l->has_position && vec3_known(l->position[sample])) {
    Vec3 place = pose_apply_inverse(link->origin, l->position[sample]);
    Vec3 velocity = mat3_tmul_vec(link->origin.r, estimate_velocity(r, l, sample));
    for (int k = 0; k < joint->slide_count; k++) {
      q[link->coordinate_first + k] = vec3_dot(joint->slide_axis[k], place);
      v[link->dof_first + k] = vec3_dot(joint->slide_axis[k], velocity);
    }
  }
  if (!joint->quaternion || !l->has_rotation || !quat_known(l->rotation[sample])) return;
  Quat turn = quat_from_mat3(mat3_mul(mat3_transpose(link->origin.r), mat3_from_quat(l->rotation[sample])));
  const double four[4] = {turn.w, turn.x, turn.y, turn.z};
  memcpy(q + link->coordinate_first + joint->scalar_count, four, sizeof(four));
  vec3_store(estimate_spin(r, l, sample), v + link->dof_first + joint->scalar_count);
}

static double estimate_rate(const MeasuredRun* r, const MeasuredLink* l, int sample, int k) {
  double t[FIT_SAMPLES_MAX], x[FIT_SAMPLES_MAX];
  int count = 0;
  if (k < l->rate_count && !isnan(l->rates[sample * l->rate_count + k])) return l->rates[sample * l->rate_count + k];
  for (int n = sample; n < r->count && count < FIT_SAMPLES_MAX; n++) {
    double value = l->coordinates[n * l->coordinate_count + k];
    if (isnan(value)) continue;
    if (l->has_wrapped_angle[k] && count > 0) value = x[count - 1] + wrap_angle(value - x[count - 1]);
    t[count] = r->time[n] - r->time[sample];
    x[count++] = value;
  }
  double rate = parabola_slope(t, x, count);
  return isnan(rate) ? 0 : rate;
}

static void set_joint(const MeasuredRun* r, const MeasuredLink* l, int sample, const ModelLink* link, double* q,
                      double* v) {
  for (int k = 0; k < l->coordinate_count; k++) {
    double value = l->coordinates[sample * l->coordinate_count + k];
    if (isnan(value)) continue;
    q[link->coordinate_first + k] = value;
    v[link->dof_first + k] = estimate_rate(r, l, sample, k);
  }
}

void measured_state(const MeasuredRun* run, int sample, const Model* model, double* coordinates, double* velocities) {
  assert(sample >= 0 && sample < run->count);
  for (int k = 0; k < run->link_count; k++) {
    const MeasuredLink* l = &run->links[k];
    const ModelLink* link = &model->links[l->link];
    if (link->prescribed >= 0) continue;
    set_root(run, l, sample, link, coordinates, velocities);
    set_joint(run, l, sample, link, coordinates, velocities);
  }
}
