/* Errors, energies and forces of closures in a step, and their state from step to step (docs/derivations/closures.md).
 */
#include "simulate/closures.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Relative rounding error of a position, for the rounding error of closure errors. */
#define CLOSURE_ROUNDING_ERROR (64 * DBL_EPSILON)
/* Largest error of a closure at the start of a run, relative to the closure's size or in rad. The first step reduces
 * the error to the tolerance.
 */
#define START_ERROR_MAX 1e-3
/* Before the first iteration, the residual of trees with closures must be at most START_RESIDUAL_FACTOR times the
 * tolerance, or START_RESIDUAL_MIN if this is larger. A larger error of the extrapolation would have the same sign in
 * every step and accumulate. */
#define START_RESIDUAL_FACTOR 1e-3
#define START_RESIDUAL_MIN 1e-13
/* Smallest fraction of a substep after which the force of a closure can open it. A closure that would open earlier
 * opens at the end of the substep, because a shorter substep does not determine velocities (Z21). */
#define OPENING_TIME_MIN 1e-5
/* Relative rounding error of an energy, and relative rounding error of a position. */
#define ENERGY_ROUNDING 1e-14
#define POSITION_ROUNDING 1e-15

/* ---------------------------------------------------------------- closure errors */

/* Returns true if row i of closure k measures an angle. The reference size of such a row is 1 rad; the reference size
 * of other rows is the closure's size. */
static bool measures_angle(const ClosureSystem* s, int k, int i) {
  return k < s->model->closure_count && s->model->closures[k].rows[i].kind == CLOSURE_ALIGN;
}
double closure_row_size(const ClosureSystem* s, int k, int row) {
  assert(k >= 0 && k < s->count && row >= 0 && row < closure_row_count(s, k));
  if (k >= s->model->closure_count) return closure_coupling(s, k)->size;
  return measures_angle(s, k, row) ? 1 : s->model->closures[k].size;
}

/* Returns `most`, the largest error of some rows, divided by its tolerance. The tolerance is s->exact times `size` plus
 * the rounding error of positions of size `extent`. */
static double relative_error(const ClosureSystem* s, double most, double size, double extent) {
  double gap = most / (s->exact * size + CLOSURE_ROUNDING_ERROR * extent);
  return gap > 0 ? gap : 0;
}

/* Returns the larger of the closure's length error and angle error, each divided by its tolerance; 0 for an open
 * closure. */
double closure_relative_error(const ClosureSystem* s, int k, const double* values) {
  assert(k >= 0 && k < s->count);
  if (s->open[k]) return 0;
  if (k >= s->model->closure_count)
    return relative_error(s, fabs(values[closure_first_row(s, k)]), closure_coupling(s, k)->size, s->extent[k]);
  const ModelClosure* c = &s->model->closures[k];
  double length = 0, angle = 0;
  for (int i = 0; i < c->row_count; i++) {
    double row_error = fabs(values[c->row_first + i]);
    if (c->rows[i].kind == CLOSURE_ALIGN)
      angle = row_error > angle ? row_error : angle;
    else
      length = row_error > length ? row_error : length;
  }
  length = relative_error(s, length, c->size, s->extent[k]);
  if (angle > 0) angle = relative_error(s, angle, 1, 1);
  return angle > length ? angle : length;
}

double closure_absolute_error(const ClosureSystem* s, int k) {
  assert(k >= 0 && k < s->count);
  double most = 0;
  for (int i = 0; i < closure_row_count(s, k); i++) most = fmax(most, fabs(s->value[closure_first_row(s, k) + i]));
  return most;
}

int closures_find_open_at_start(ClosureSystem* s, const Pose* poses, const double* q) {
  assert(poses && q);
  if (!s) return -1;
  s->found = false;
  closures_compute_values(s, poses, q, s->value);
  s->found = false;
  for (int k = 0; k < s->count; k++)
    for (int i = 0; i < closure_row_count(s, k) && !s->open[k]; i++)
      if (!(fabs(s->value[closure_first_row(s, k) + i]) <= START_ERROR_MAX * closure_row_size(s, k, i))) return k;
  return -1;
}

double closures_largest_error(const ClosureSystem* s, int* worst) {
  double gap = 0;
  for (int k = 0; s && k < s->count; k++) {
    if (s->gap[k] <= gap) continue;
    gap = s->gap[k];
    if (worst) *worst = k;
  }
  return gap;
}

double closure_energy(const ClosureSystem* s, int k, const double* values) {
  assert(k >= 0 && k < s->count);
  if (s->open[k]) return 0;
  double sum = 0;
  for (int row = closure_first_row(s, k), end = row + closure_row_count(s, k); row < end; row++)
    sum += (s->multiplier[row] + 0.5 * s->stiffness[row] * values[row]) * values[row];
  return sum;
}

double closure_rounding(ClosureSystem* s, int k) {
  assert(k >= 0 && k < s->count);
  double sum = 0, energy = 0, extent = POSITION_ROUNDING * s->extent[k];
  const ClosureRow* rows = k < s->model->closure_count ? s->model->closures[k].rows : NULL;
  int first = closure_first_row(s, k), count = s->open[k] ? 0 : closure_row_count(s, k);
  for (int i = 0; i < count; i++) {
    double push = s->multiplier[first + i], stiffness = s->stiffness[first + i], value = s->value[first + i];
    sum +=
        (rows && rows[i].kind == CLOSURE_ALIGN ? POSITION_ROUNDING : extent) * (fabs(push) + stiffness * fabs(value));
    energy += (push + 0.5 * stiffness * value) * value;
  }
  s->energy[k] = energy;
  return sum + ENERGY_ROUNDING * fabs(energy);
}

int closure_link(const ClosureSystem* s, int k) {
  assert(k >= 0 && k < s->count);
  return s->tree_link[k];
}

/* ---------------------------------------------------------------- multipliers and increments from step to step */

void closures_begin_step(ClosureSystem* s) {
  s->has_target_force = false;
  for (int row = 0; row < s->row_count; row++) {
    s->multiplier[row] = s->accepted[row] - s->target_force[row];
    s->has_target_force = s->has_target_force || s->target_force[row] != 0;
  }
  memset(s->convex, 0, sizeof(bool) * (size_t)s->count);
  s->gap_before = INFINITY;
  s->stiffening = 0;
  s->ambiguous = false;
}

void closures_omit_curvature(ClosureSystem* s, const bool* marked) {
  for (int k = 0; k < s->count; k++) s->convex[k] = s->convex[k] || marked[closure_link(s, k)];
}

void closures_include_curvature(ClosureSystem* s) { memset(s->convex, 0, sizeof(bool) * (size_t)s->count); }

/* Returns the magnitude of the closure's force [N]. In a closed closure the directions of all rows except ALIGN are
 * orthonormal, so the force is the norm of the multipliers of these rows (Z21). */
double closure_force(const ClosureSystem* system, int k, const double* multiplier, const double* target_force) {
  assert(k >= 0 && k < system->model->closure_count);
  const ModelClosure* c = &system->model->closures[k];
  double sum = 0;
  for (int i = 0; i < c->row_count; i++) {
    double row_force = multiplier[c->row_first + i] + target_force[c->row_first + i];
    if (c->rows[i].kind != CLOSURE_ALIGN) sum += row_force * row_force;
  }
  return sqrt(sum);
}

/* Opens closure k at `time` because its force exceeds the limit. A closure with `releases` is barred and can close
 * again later; any other closure is broken. */
static void open_by_force_limit(ClosureSystem* s, int k, double time) {
  const ModelClosure* c = &s->model->closures[k];
  s->open[k] = true;
  if (c->releases) {
    s->joined[k].until = time;
    s->joined[k].barred = true;
  } else
    s->broken_at[k] = time;
  for (int i = 0; i < c->row_count; i++)
    s->multiplier[c->row_first + i] = s->accepted[c->row_first + i] = s->target_force[c->row_first + i] = 0;
}

/* Records the force of closure k in this substep. Returns true if the closure opens at the end of this substep. If it
 * opens earlier, sets load->opening_fraction to the fraction of the substep after which it opens. */
static bool record_force(ClosureSystem* s, int k) {
  ClosureForceHistory* load = &s->load[k];
  double limit = s->model->closures[k].force_limit;
  load->opening_fraction = INFINITY;
  if (load->skipped < s->closing_substeps) {
    load->skipped++;
    return false;
  }
  load->before = load->now;
  load->now = closure_force(s, k, s->multiplier, s->target_force);
  load->known = load->known < 2 ? load->known + 1 : 2;
  if (load->now <= limit) return false;
  if (load->known < 2 || load->before >= limit) return true;
  double share = (limit - load->before) / (load->now - load->before);
  if (share < OPENING_TIME_MIN) return true;
  load->opening_fraction = share;
  return false;
}

/* Opens the closures whose force exceeds the limit. If one opens, the forces of all other closures change, so their
 * recorded forces are discarded. */
static void open_overloaded_closures(ClosureSystem* s, const StepClock* clock) {
  bool opens = false;
  for (int k = 0; k < s->model->closure_count; k++) {
    if (s->open[k] || !(s->model->closures[k].force_limit > 0)) continue;
    bool overloaded = clock->end == END_AT_CLOSURE_OPENING ? clock->event.closure == k : record_force(s, k);
    if (overloaded) open_by_force_limit(s, k, clock->time);
    opens = opens || overloaded;
  }
  for (int k = 0; opens && k < s->model->closure_count; k++) {
    s->load[k].known = 0;
    s->load[k].opening_fraction = INFINITY;
  }
}

void closures_advance(ClosureSystem* s, const StepClock* clock) {
  assert(s && clock->dt > 0);
  for (int row = 0; row < s->row_count; row++) s->accepted[row] = s->multiplier[row] + s->target_force[row];
  if (s->limited) open_overloaded_closures(s, clock);
}

int closures_find_opening(const ClosureSystem* s) {
  int first = -1;
  for (int k = 0; s && s->limited && k < s->model->closure_count; k++)
    if (s->load[k].opening_fraction < (double)INFINITY &&
        (first < 0 || s->load[k].opening_fraction < s->load[first].opening_fraction))
      first = k;
  return first;
}

/* Returns the size of the stored increments [bytes]. The copy that closures_save makes has the same size. */
static size_t past_increments_size(const ClosureSystem* s) {
  return sizeof(double) * EXTRAPOLATION_STEPS * (size_t)s->model->dof_count;
}
static double* saved_past_increments(const ClosureSystem* s) {
  return s->past_increments + EXTRAPOLATION_STEPS * s->model->dof_count;
}

void closures_store_increments(ClosureSystem* s, const double* increments, bool even) {
  size_t nv = (size_t)s->model->dof_count;
  memmove(s->past_increments + nv, s->past_increments, sizeof(double) * (EXTRAPOLATION_STEPS - 1) * nv);
  memcpy(s->past_increments, increments, sizeof(double) * nv);
  s->past_count = !even || s->ambiguous                 ? 1
                  : s->past_count < EXTRAPOLATION_STEPS ? s->past_count + 1
                                                        : EXTRAPOLATION_STEPS;
}

void closures_extrapolate(const ClosureSystem* s, double* increments) {
  /* weights of the last increments, newest first: the polynomial through past_count steps, evaluated one step ahead */
  static const double SHARE[EXTRAPOLATION_STEPS + 1][EXTRAPOLATION_STEPS] = {
      {1}, {1}, {2, -1}, {3, -3, 1}, {4, -6, 4, -1}};
  int nv = s->model->dof_count;
  if (s->past_count < 2) return;
  for (int k = 0; k < s->model->tree_count; k++) {
    const ModelTree* tree = &s->model->trees[k];
    if (!s->tree_has_closures[k]) continue;
    for (int d = tree->dof_first; d < tree->dof_first + tree->dof_count; d++) {
      increments[d] = 0;
      for (int n = 0; n < s->past_count; n++) increments[d] += SHARE[s->past_count][n] * s->past_increments[n * nv + d];
    }
  }
}

void closures_set_tolerance_factor(ClosureSystem* s, int iterations, double tolerance) {
  assert(s && iterations >= 0 && tolerance > 0);
  s->tolerance_factor = iterations > 0 ? 1 : fmin(1, fmax(START_RESIDUAL_FACTOR, START_RESIDUAL_MIN / tolerance));
}

void closures_save(ClosureSystem* s) {
  memcpy(saved_past_increments(s), s->past_increments, past_increments_size(s));
  s->past_count_saved = s->past_count;
  memcpy(s->saved, s->accepted, sizeof(double) * (size_t)s->row_count);
  memcpy(s->open_saved, s->open, sizeof(bool) * (size_t)s->count);
  if (s->joined) memcpy(s->joined_saved, s->joined, sizeof(SimJoin) * (size_t)s->model->closure_count);
  if (s->load) memcpy(s->load_saved, s->load, sizeof(ClosureForceHistory) * (size_t)s->model->closure_count);
}

void closures_restore(ClosureSystem* s) {
  memcpy(s->past_increments, saved_past_increments(s), past_increments_size(s));
  s->past_count = s->past_count_saved;
  memcpy(s->accepted, s->saved, sizeof(double) * (size_t)s->row_count);
  memcpy(s->open, s->open_saved, sizeof(bool) * (size_t)s->count);
  for (int k = 0; k < s->count; k++) {
    bool closed_since = s->joined && k < s->model->closure_count && s->joined[k].since < (double)INFINITY &&
                        s->joined[k].since != s->joined_saved[k].since;
    if (!s->open[k] || closed_since) s->broken_at[k] = INFINITY;
    if (s->joined && k < s->model->closure_count) s->joined[k] = s->joined_saved[k];
  }
  if (s->load) memcpy(s->load, s->load_saved, sizeof(ClosureForceHistory) * (size_t)s->model->closure_count);
}

void closures_serialize_state(ClosureSystem* s, StateBlock* block) {
  state_block_doubles(block, s->accepted, (size_t)s->row_count);
  state_block_doubles(block, s->broken_at, (size_t)s->count);
  state_block_int(block, &s->past_count, 0, EXTRAPOLATION_STEPS);
  state_block_doubles(block, s->past_increments, EXTRAPOLATION_STEPS * (size_t)s->model->dof_count);
  for (int k = 0; k < s->count; k++) s->open[k] = s->broken_at[k] < (double)INFINITY;
  for (int k = 0; s->joined && k < s->model->closure_count; k++) {
    state_block_doubles(block, &s->joined[k].since, 1);
    state_block_doubles(block, &s->joined[k].at.r.m[0][0], 9);
    state_block_doubles(block, &s->joined[k].at.t.x, 3);
    state_block_doubles(block, &s->joined[k].until, 1);
    state_block_bool(block, &s->joined[k].barred);
  }
  for (int k = 0; s->limited && k < s->model->closure_count; k++) {
    ClosureForceHistory* load = &s->load[k];
    double* const numbers[] = {&load->before, &load->now, &load->opening_fraction};
    for (int i = 0; i < 3; i++) state_block_doubles(block, numbers[i], 1);
    state_block_int(block, &load->known, 0, 2);
    state_block_int(block, &load->skipped, 0, CLOSING_SUBSTEPS_SECOND_ORDER);
  }
  closures_apply_joined(s, s->joined);
}

/* ---------------------------------------------------------------- results for the public interface */

SimClosure coupling_state(const ClosureSystem* s, int k, const double* q) {
  assert(k >= 0 && k < s->model->coupling_count);
  const ModelCoupling* c = &s->model->couplings[k];
  return (SimClosure){
      .broken_at = INFINITY, .gap = fabs(closure_coupling_value(c, q)), .force = {-s->accepted[c->row], 0, 0}};
}

SimClosure closure_state(const ClosureSystem* s, int k, const Pose* poses) {
  assert(k >= 0 && k < s->model->closure_count);
  const ModelClosure* c = &s->model->closures[k];
  SimClosure out = {.broken = s->open[k], .broken_at = s->broken_at[k]};
  ClosureAttachments e = closure_attachments(c, poses);
  for (int i = 0; i < c->row_count && !s->open[k]; i++) {
    const ClosureRow* row = &c->rows[i];
    double value = fabs(closure_row_value(c, row, &e)), mu = s->accepted[c->row_first + i];
    if (row->kind == CLOSURE_ALIGN) {
      Vec3 u = mat3_mul_vec(e.pose[0].r, row->u), v = mat3_mul_vec(e.pose[1].r, row->v);
      out.angle = fmax(out.angle, value);
      out.torque = vec3_add_scaled(out.torque, -mu, vec3_cross(u, v));
      continue;
    }
    out.gap = fmax(out.gap, value);
    out.force = vec3_add_scaled(out.force, -mu, closure_row_direction(c, row, &e));
  }
  return out;
}
