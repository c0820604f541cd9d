/* Residuals of a shot and their derivatives, row by row of its simulation (docs/derivations/identify.md, Q2, Q7). */
#include <string.h>

#include "identify/shot.h"

/* Returns the rotation vector of R_m^T R, from the measured rotation R_m to the simulated rotation R. Sets *slope to
 * its derivative with respect to a small rotation of the link about link axes. */
static Vec3 rotation_residual(Quat measured, Mat3 r, Mat3* slope) {
  Quat turn = quat_mul(quat_conjugate(measured), quat_from_mat3(r));
  if (turn.w < 0) turn = (Quat){-turn.w, -turn.x, -turn.y, -turn.z};
  Vec3 phi = quat_log(turn);
  double angle = vec3_norm(phi), factor = 1.0 / 12;
  if (angle > 1e-4) factor = 1 / (angle * angle) - turn.w / (2 * angle * sqrt(1 - turn.w * turn.w));
  Mat3 cross = mat3_cross(phi);
  *slope = mat3_add(mat3_add(mat3_identity(), mat3_scale(cross, 0.5)), mat3_scale(mat3_mul(cross, cross), factor));
  return phi;
}

LinkRates residuals_link_rates(const TaskIdentify* t, const MeasuredLink* l, bool compared) {
  LinkRates r = {compared && t->velocity > 0 && l->has_velocity,
                 compared && t->angular_velocity > 0 && l->has_spin && l->has_rotation,
                 compared && t->rate > 0 ? l->rate_count : 0, 0};
  r.count = 3 * r.velocity + 3 * r.spin + r.rates;
  return r;
}

int residuals_state_count(const MeasuredLink* l) {
  return 3 * l->has_position + 3 * l->has_rotation + l->coordinate_count;
}

int residuals_per_sample(const TaskIdentify* t, const MeasuredRun* r, bool rates) {
  int count = 0;
  for (int k = 0; k < r->link_count; k++)
    count += residuals_state_count(&r->links[k]) + residuals_link_rates(t, &r->links[k], rates).count;
  return count;
}

static double* jacobian_row(const Residuals* s, int sample, int index) {
  return s->j ? s->j + ((size_t)sample * (size_t)s->count + (size_t)index) * (size_t)s->columns : NULL;
}

/* Returns the derivative of the cost with respect to residual `index` of a sample, or 0 if the derivatives are not
 * given. */
static double get_cost_derivative(const Residuals* s, int sample, int index) {
  return s->cost_derivative ? s->cost_derivative[(size_t)sample * (size_t)s->count + (size_t)index] : 0;
}

/* Adds the derivative of a residual with respect to a pose to the residual's row of the Jacobian. For the adjoint
 * method, adds the derivative times the derivative of the cost to s->seeds instead. turn, shift: derivatives of the
 * residual with respect to a small rotation and translation of the link, world axes. */
static void add_pose_row(Residuals* s, int row, int link, Vec3 turn, Vec3 shift, int sample, int index) {
  const Recording* r = &s->simulation->recording;
  const RecordedState* state = &r->states[r->row_state[row]];
  const Pose* pose = recording_state_pose(r, state);
  double cost_derivative = get_cost_derivative(s, sample, index);
  if (!s->j && (cost_derivative == 0 || !s->seeds.pose)) return;
  Mat3 by_r = mat3_scale(mat3_mul(mat3_cross(turn), pose[link].r), 0.5);
  const double by_t[3] = {shift.x, shift.y, shift.z};
  double(*pose_derivative)[4] =
      s->j ? s->pose_derivative[link] : s->seeds.pose[(size_t)row * (size_t)r->model->link_count + (size_t)link];
  double factor = s->j ? 1 : cost_derivative;
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) pose_derivative[i][k] += factor * by_r.m[i][k];
    pose_derivative[i][3] += factor * by_t[i];
  }
  if (!s->j) return;
  step_forward_row(s->forward, recording_state_q(r, state), pose, 0, s->pose_derivative,
                   jacobian_row(s, sample, index));
  memset(pose_derivative, 0, sizeof(double[3][4]));
}

/* Adds the derivative of a residual with respect to a joint coordinate to the residual's row of the Jacobian. For the
 * adjoint method, adds the derivative times the derivative of the cost to s->seeds instead. */
static void add_coordinate_row(Residuals* s, int row, int dof, double weight, int sample, int index) {
  double *out = jacobian_row(s, sample, index), cost_derivative = get_cost_derivative(s, sample, index);
  if (cost_derivative != 0 && s->seeds.q)
    s->seeds.q[(size_t)row * (size_t)s->simulation->model.dof_count + (size_t)dof] += cost_derivative * weight;
  if (!out) return;
  const double* from = step_forward_state(s->forward, 0) + (size_t)dof * (size_t)s->columns;
  for (int n = 0; n < s->columns; n++) out[n] += weight * from[n];
}

static Vec3 unit_axis(int k) { return vec3(k == 0, k == 1, k == 2); }

static void add_position(Residuals* s, int sample, int at, const MeasuredLink* l, int row, double fraction) {
  int measured = s->simulation->shot->first + sample;
  Vec3 seen = l->position[measured], is = recording_pose(&s->simulation->recording, row)[l->link].t;
  double weight = fraction * l->source->weight / s->settings->position;
  double apart[3] = {is.x - seen.x, is.y - seen.y, is.z - seen.z};
  for (int k = 0; k < 3; k++) {
    s->r[sample * s->count + at + k] += weight * apart[k];
    add_pose_row(s, row, l->link, vec3(0, 0, 0), vec3_scale(unit_axis(k), weight), sample, at + k);
  }
}

static void add_rotation(Residuals* s, int sample, int at, const MeasuredLink* l, int row, double fraction) {
  int measured = s->simulation->shot->first + sample;
  Mat3 slope, r = recording_pose(&s->simulation->recording, row)[l->link].r;
  Vec3 phi = rotation_residual(l->rotation[measured], r, &slope);
  double weight = fraction * l->source->weight / s->settings->rotation, value[3] = {phi.x, phi.y, phi.z};
  for (int k = 0; k < 3; k++) {
    s->r[sample * s->count + at + k] += weight * value[k];
    Vec3 own_axes = vec3(slope.m[k][0], slope.m[k][1], slope.m[k][2]);
    add_pose_row(s, row, l->link, vec3_scale(mat3_mul_vec(r, own_axes), weight), vec3(0, 0, 0), sample, at + k);
  }
}

static void add_coordinates(Residuals* s, int sample, int at, const MeasuredLink* l, int row, double fraction) {
  const Recording* r = &s->simulation->recording;
  const ModelLink* link = &s->simulation->model.links[l->link];
  const double* q = recording_state_q(r, &r->states[r->row_state[row]]) + link->coordinate_first;
  double weight = fraction * l->source->weight / s->settings->coordinate;
  int measured = s->simulation->shot->first + sample;
  for (int k = 0; k < l->coordinate_count; k++) {
    double apart = q[k] - l->coordinates[measured * l->coordinate_count + k];
    s->r[sample * s->count + at + k] += weight * (l->has_wrapped_angle[k] ? wrap_angle(apart) : apart);
    add_coordinate_row(s, row, link->dof_first + k, weight, sample, at + k);
  }
}

/* Finds the two time steps (rows) of the simulation whose difference quotient is compared with a measured velocity:
 * rows[2]. */
static void find_rate_rows(const Shot* shot, int sample, int rows[2]) {
  SampleTime p = shot->sample_times[sample];
  bool between = p.fraction > 0;
  rows[0] = between || p.row == 0 ? p.row : p.row - 1;
  rows[1] = p.row < shot->steps ? p.row + 1 : p.row;
}

static Pose row_pose(const Residuals* s, int row, int link) {
  return recording_pose(&s->simulation->recording, row)[link];
}

/* Adds the derivatives of a velocity residual. side: 0 for the row before, 1 for the row after. scale: 1 / (time
 * between the rows). */
static void add_velocity(Residuals* s, int sample, int at, const MeasuredLink* l, int row, int side, double scale) {
  Vec3 seen = l->velocity[s->simulation->shot->first + sample], is = row_pose(s, row, l->link).t;
  double weight = l->source->weight / s->settings->velocity, sign = side ? scale : -scale;
  double value[3] = {sign * is.x, sign * is.y, sign * is.z}, said[3] = {seen.x, seen.y, seen.z};
  for (int k = 0; k < 3; k++) {
    s->r[sample * s->count + at + k] += weight * (value[k] - (side ? said[k] : 0));
    add_pose_row(s, row, l->link, vec3(0, 0, 0), vec3_scale(unit_axis(k), sign * weight), sample, at + k);
  }
}

/* Adds the derivatives of an angular velocity residual, from the rotation vector log(R_a^T R_b). R_a, R_b: rotation
 * matrices of the link in both rows. A small world rotation w of the link in row b changes the vector by J_r^-1 R_b^T
 * w; a rotation in row a changes it by -J_r^-1 R_b^T w. J_r: right Jacobian of the rotation vector. */
static void add_spin(Residuals* s, int sample, int at, const MeasuredLink* l, const int rows[2], int side,
                     double scale) {
  Vec3 seen = l->spin[s->simulation->shot->first + sample];
  Mat3 slope, before = row_pose(s, rows[0], l->link).r, after = row_pose(s, rows[1], l->link).r;
  Vec3 phi = rotation_residual(quat_from_mat3(before), after, &slope);
  double weight = l->source->weight / s->settings->angular_velocity, sign = side ? scale : -scale;
  double value[3] = {phi.x, phi.y, phi.z}, said[3] = {seen.x, seen.y, seen.z};
  for (int k = 0; k < 3; k++) {
    if (side) s->r[sample * s->count + at + k] += weight * (scale * value[k] - said[k]);
    Vec3 own_axes = vec3(slope.m[k][0], slope.m[k][1], slope.m[k][2]);
    add_pose_row(s, rows[side], l->link, vec3_scale(mat3_mul_vec(after, own_axes), sign * weight), vec3(0, 0, 0),
                 sample, at + k);
  }
}

static void add_joint_rates(Residuals* s, int sample, int at, const MeasuredLink* l, int row, int side, double scale) {
  const Recording* r = &s->simulation->recording;
  const ModelLink* link = &s->simulation->model.links[l->link];
  const double* q = recording_state_q(r, &r->states[r->row_state[row]]) + link->coordinate_first;
  double weight = l->source->weight / s->settings->rate, sign = side ? scale : -scale;
  int measured = s->simulation->shot->first + sample;
  for (int k = 0; k < l->rate_count; k++) {
    s->r[sample * s->count + at + k] += weight * (sign * q[k] - (side ? l->rates[measured * l->rate_count + k] : 0));
    add_coordinate_row(s, row, link->dof_first + k, sign * weight, sample, at + k);
  }
}

static void add_rates(Residuals* s, int sample, int row) {
  const Shot* shot = s->simulation->shot;
  int rows[2];
  find_rate_rows(shot, sample, rows);
  if (row != rows[0] && row != rows[1]) return;
  int side = row == rows[1];
  double scale = 1 / ((rows[1] - rows[0]) * s->simulation->model.simulation.dt);
  for (int k = 0, at = 0; k < shot->run->link_count; k++) {
    const MeasuredLink* l = &shot->run->links[k];
    LinkRates of = residuals_link_rates(s->settings, l, true);
    at += residuals_state_count(l);
    if (of.velocity) add_velocity(s, sample, at, l, row, side, scale);
    at += 3 * of.velocity;
    if (of.spin) add_spin(s, sample, at, l, rows, side, scale);
    at += 3 * of.spin;
    if (of.rates > 0) add_joint_rates(s, sample, at, l, row, side, scale);
    at += of.rates;
  }
}

static void add_sample(Residuals* s, int sample, int row, double fraction) {
  const MeasuredRun* run = s->simulation->shot->run;
  for (int k = 0, at = 0; k < run->link_count; k++) {
    const MeasuredLink* l = &run->links[k];
    if (l->has_position) add_position(s, sample, at, l, row, fraction);
    at += 3 * l->has_position;
    if (l->has_rotation) add_rotation(s, sample, at, l, row, fraction);
    at += 3 * l->has_rotation;
    add_coordinates(s, sample, at, l, row, fraction);
    at += l->coordinate_count + residuals_link_rates(s->settings, l, s->rates).count;
  }
}

/* The residuals of a sample depend on the rows before and after its time. Velocity residuals depend on the rows of
 * find_rate_rows. Samples and rows are in order of time. */
void residuals_visit_row(void* context, StepForward* forward, int row) {
  Residuals* s = context;
  (void)forward;
  const Shot* shot = s->simulation->shot;
  while (s->next_sample < shot->count && shot->sample_times[s->next_sample].row + 1 < row) s->next_sample++;
  for (int k = s->next_sample; k < shot->count && shot->sample_times[k].row <= row + s->rates; k++) {
    SampleTime p = shot->sample_times[k];
    if (p.row == row) add_sample(s, k, row, 1 - p.fraction);
    if (p.row == row - 1 && p.fraction > 0) add_sample(s, k, row, p.fraction);
    if (s->rates) add_rates(s, k, row);
  }
}

static void add_variable_derivatives(void* context, const ModelGradient* gradient, double* row) {
  const Residuals* s = context;
  const Identification* id = s->simulation->id;
  optimization_add_gradient(id->optimization, 0, &s->simulation->model, gradient, row);
  for (int k = 0; k < id->locals / 2; k++) {
    row[id->variables + k] += gradient->coordinates[k];
    row[id->variables + id->locals / 2 + k] += gradient->velocities[k];
  }
}

bool residuals_forward(Residuals* s) {
  const Simulation* simulation = s->simulation;
  const Identification* id = simulation->id;
  size_t bars = sizeof(double[3][4]) * (size_t)simulation->model.link_count;
  int failed;
  s->columns = id->variables + id->locals;
  s->j = MEMORY_NEW(double, (size_t)simulation->shot->count*(size_t)s->count*(size_t)s->columns + 1);
  s->pose_derivative = memory_alloc(bars);
  memset(s->pose_derivative, 0, bars);
  s->forward = step_forward_create(&simulation->model, s->columns, add_variable_derivatives, s);
  if (!optimization_rotates_joints(id->optimization)) step_forward_skip_frame_rotations(s->forward);
  if (simulation->closure_coordinates)
    step_forward_set_closure_coordinates(s->forward, simulation->closure_coordinates);
  bool sound = recording_forward(s->forward, &simulation->recording, residuals_visit_row, s, &failed);
  step_forward_destroy(s->forward);
  return sound;
}
