/* Observables: measurements of six numbers on each link, with derivatives (docs/derivations/observables.md). */
#include <assert.h>
#include <string.h>

#include "differentiate/observe.h"

/* ---------------------------------------------------------------- reactions (update.md, O1) */

static void reaction_value(const Observation* o, int link, double* out) {
  memcpy(out, o->reaction[link], sizeof(double[OBSERVABLE_COLUMNS]));
}

static void reaction_seed(const Observation* o, int link, const double* bar, const ObservationBars* out) {
  (void)o;
  for (int k = 0; k < OBSERVABLE_COLUMNS; k++) out->reaction[link][k] += bar[k];
}

/* ---------------------------------------------------------------- inertial measurement (O2) */

/* Returns the acceleration of the link's frame origin minus gravity, world axes [m/s^2]. The acceleration is the mean
 * over the steps before and after the row. */
static Vec3 proper_acceleration(const Observation* o, int link) {
  Vec3 before = o->pose[0][link].t, now = o->pose[1][link].t, after = o->pose[2][link].t;
  Vec3 change = vec3_sub(vec3_sub(after, now), vec3_sub(now, before));
  return vec3_sub(vec3_scale(change, 1 / (o->dt * o->dt)), o->model->simulation.gravity);
}

/* Returns the rotation vector of a step beside the row, link axes [rad]. step: 0 before the row, 1 after it. */
static Vec3 rotation_in_step(const Observation* o, int link, int step) {
  return quat_log(quat_from_mat3(mat3_mul(mat3_transpose(o->pose[step][link].r), o->pose[step + 1][link].r)));
}

static void imu_value(const Observation* o, int link, double* out) {
  vec3_store(mat3_tmul_vec(o->pose[1][link].r, proper_acceleration(o, link)), out);
  Vec3 turned = vec3_add(rotation_in_step(o, link, 0), rotation_in_step(o, link, 1));
  vec3_store(vec3_scale(turned, 0.5 / o->dt), out + 3);
}

/* Multiplies w by the matrix by which a rotation vector phi changes if a small rotation d follows: the derivative of
 * log(exp(phi) exp(d)) at d = 0. sign -1: multiplies by its transpose; otherwise sign is 1. */
static Vec3 apply_log_derivative(Vec3 phi, double sign, Vec3 w) {
  double angle = vec3_norm(phi), half = 0.5 * angle;
  double bend =
      angle < 1e-2 ? (1 + angle * angle / 60) / 12 : (1 - half * math_cos(half) / math_sin(half)) / (angle * angle);
  Vec3 across = vec3_cross(phi, w);
  return vec3_add_scaled(vec3_add_scaled(w, 0.5 * sign, across), bend, vec3_cross(phi, across));
}

/* Adds the derivatives of a scalar with respect to the entries of the rotation matrix R to `bar`. a: derivative of the
 * scalar with respect to a small rotation d of the link, R exp(d). */
static void add_rotation_derivative(double bar[3][4], Mat3 r, Vec3 a) {
  pose_matrix_add_rotation(bar, mat3_scale(mat3_mul(r, mat3_cross(a)), 0.5));
}

static void imu_seed(const Observation* o, int link, const double* bar, const ObservationBars* out) {
  Vec3 by = vec3_at(bar), by_turn = vec3_scale(vec3_at(bar + 3), 0.5 / o->dt);
  Vec3 felt = proper_acceleration(o, link);
  double world[3], y[3] = {felt.x, felt.y, felt.z};
  vec3_store(vec3_scale(mat3_mul_vec(o->pose[1][link].r, by), 1 / (o->dt * o->dt)), world);
  for (int i = 0; i < 3; i++) {
    out->pose[0][link][i][3] += world[i];
    out->pose[1][link][i][3] -= 2 * world[i];
    out->pose[2][link][i][3] += world[i];
    for (int j = 0; j < 3; j++) out->pose[1][link][i][j] += y[i] * bar[j];
  }
  for (int step = 0; step < 2; step++) {
    Vec3 turn = rotation_in_step(o, link, step);
    add_rotation_derivative(out->pose[step + 1][link], o->pose[step + 1][link].r,
                            apply_log_derivative(turn, -1, by_turn));
    add_rotation_derivative(out->pose[step][link], o->pose[step][link].r,
                            vec3_scale(apply_log_derivative(turn, 1, by_turn), -1));
  }
}

static const Observable OBSERVABLE_TABLE[OBSERVABLES] = {
    [OBSERVABLE_REACTIONS] =
        {"reactions", {"fx", "fy", "fz", "mx", "my", "mz"}, OUTPUT_REACTIONS, 1, 0, reaction_value, reaction_seed},
    [OBSERVABLE_IMU] = {"imu", {"ax", "ay", "az", "wx", "wy", "wz"}, OUTPUT_IMU, 1, 1, imu_value, imu_seed},
    [OBSERVABLE_RANGE] = {"range", {"+x", "-x", "+y", "-y", "+z", "-z"}, OUTPUT_RANGE, 0, 0, range_value, range_seed},
};

const Observable* observable_at(int index) {
  assert(index >= 0 && index < OBSERVABLES);
  return &OBSERVABLE_TABLE[index];
}

bool observable_is_defined(const Observable* observable, const Recording* r, int row) {
  return row >= observable->first && row + observable->reach <= r->steps;
}

Observation observation_at(const Recording* r, int row) {
  size_t links = (size_t)r->model->link_count;
  Observation o = {.model = r->model, .dt = r->model->simulation.dt};
  for (int k = 0; k < 3; k++) {
    int at = row - 1 + k;
    o.pose[k] = at >= 0 && at <= r->steps ? r->pose + (size_t)at * links : NULL;
  }
  o.reaction = r->reaction ? (const double(*)[6])(r->reaction + (size_t)row * links) : NULL;
  return o;
}

ObservationBars observation_bars(const Recording* r, int row, LossSeeds* seeds) {
  size_t links = (size_t)r->model->link_count;
  ObservationBars bars = {.reaction = seeds->reaction ? seeds->reaction + (size_t)row * links : NULL, .seeds = seeds};
  for (int k = 0; k < 3; k++) {
    int at = row - 1 + k;
    bars.pose[k] = at >= 0 && at <= r->steps ? seeds->pose + (size_t)at * links : NULL;
  }
  return bars;
}
