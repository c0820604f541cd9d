/* Errors, energies and forces of closures in a step, and their state from step to step (docs/derivations/closures.md).
 */
#include "simulate/closures.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Relative rounding error of a position, for the rounding error of closure errors. */
#define CLOSURE_ROUNDINGS (64 * DBL_EPSILON)
/* Largest error of a closure at the start of a run, relative to the closure's size or in rad. The first step closes it.
 */
#define START_OPEN 1e-3
/* Before the first iteration, the residual of trees with closures must be at most FORETOLD_SHARE times the tolerance,
 * or FORETOLD_FINEST if this is larger. A larger error of the extrapolation would have the same sign in every step and
 * accumulate. */
#define FORETOLD_SHARE 1e-3
#define FORETOLD_FINEST 1e-13
/* A closure that would open by its force before this fraction of a substep opens at the end of the substep, because a
 * shorter substep does not determine velocities (Z21). */
#define OPENS_APART 1e-5
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
  assert(k >= 0 && k < s->count && row >= 0 && row < closure_rows(s, k));
  if (k >= s->model->closure_count) return closure_coupling(s, k)->size;
  return measures_angle(s, k, row) ? 1 : s->model->closures[k].size;
}

/* Returns `most`, the largest error of some rows, divided by its tolerance. The tolerance is s->exact times `size` plus
 * the rounding error of positions of size `extent`. */
static double gap_of(const ClosureSystem* s, double most, double size, double extent) {
  double gap = most / (s->exact * size + CLOSURE_ROUNDINGS * extent);
  return gap > 0 ? gap : 0;
}

/* Returns the larger of the closure's length error and angle error, each divided by its tolerance; 0 for an open
 * closure. */
double closure_relative_error(const ClosureSystem* s, int k, const double* values) {
  assert(k >= 0 && k < s->count);
  if (s->open[k]) return 0;
  if (k >= s->model->closure_count)
    return gap_of(s, fabs(values[closure_first(s, k)]), closure_coupling(s, k)->size, s->extent[k]);
  const ModelClosure* c = &s->model->closures[k];
  double length = 0, angle = 0;
  for (int i = 0; i < c->row_count; i++) {
    double own = fabs(values[c->row_first + i]);
    if (c->rows[i].kind == CLOSURE_ALIGN)
      angle = own > angle ? own : angle;
    else
      length = own > length ? own : length;
  }
  length = gap_of(s, length, c->size, s->extent[k]);
  if (angle > 0) angle = gap_of(s, angle, 1, 1);
  return angle > length ? angle : length;
}

double closure_absolute_error(const ClosureSystem* s, int k) {
  assert(k >= 0 && k < s->count);
  double most = 0;
  for (int i = 0; i < closure_rows(s, k); i++) most = fmax(most, fabs(s->value[closure_first(s, k) + i]));
  return most;
}

int closures_find_open_at_start(ClosureSystem* s, const Pose* poses, const double* q) {
  if (!s) return -1;
  s->found = false;
  closures_compute_values(s, poses, q, s->value);
  s->found = false;
  for (int k = 0; k < s->count; k++)
    for (int i = 0; i < closure_rows(s, k) && !s->open[k]; i++)
      if (!(fabs(s->value[closure_first(s, k) + i]) <= START_OPEN * closure_row_size(s, k, i))) return k;
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
  for (int row = closure_first(s, k), end = row + closure_rows(s, k); row < end; row++)
    sum += (s->multiplier[row] + 0.5 * s->stiffness[row] * values[row]) * values[row];
  return sum;
}

double closure_rounding(ClosureSystem* s, int k) {
  assert(k >= 0 && k < s->count);
  double sum = 0, energy = 0, extent = POSITION_ROUNDING * s->extent[k];
  const ClosureRow* rows = k < s->model->closure_count ? s->model->closures[k].rows : NULL;
  int first = closure_first(s, k), count = s->open[k] ? 0 : closure_rows(s, k);
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
  return s->home[k];
}

/* ---------------------------------------------------------------- multipliers and increments from step to step */

void closures_begin_step(ClosureSystem* s) {
  s->aims = false;
  for (int row = 0; row < s->row_count; row++) {
    s->multiplier[row] = s->accepted[row] - s->aimed[row];
    s->aims = s->aims || s->aimed[row] != 0;
  }
  memset(s->convex, 0, sizeof(bool) * (size_t)s->count);
  s->gap_before = INFINITY;
  s->stiffening = 0;
  s->ambiguous = false;
}

void closures_store_multipliers(ClosureSystem* s) {
  memcpy(s->kept, s->multiplier, sizeof(double) * (size_t)s->row_count);
}

void closures_restore_multipliers(ClosureSystem* s) {
  memcpy(s->multiplier, s->kept, sizeof(double) * (size_t)s->row_count);
}

void closures_omit_curvature(ClosureSystem* s, const bool* marked) {
  for (int k = 0; k < s->count; k++) s->convex[k] = s->convex[k] || marked[closure_link(s, k)];
}

void closures_include_curvature(ClosureSystem* s) { memset(s->convex, 0, sizeof(bool) * (size_t)s->count); }

/* Returns the magnitude of the closure's force [N]. In a closed closure the directions of all rows except ALIGN are
 * orthonormal, so the force is the norm of the multipliers of these rows (Z21). */
double closure_force(const ClosureSystem* s, int k, const double* multiplier, const double* aimed) {
  assert(k >= 0 && k < s->model->closure_count);
  const ModelClosure* c = &s->model->closures[k];
  double sum = 0;
  for (int i = 0; i < c->row_count; i++) {
    double own = multiplier[c->row_first + i] + aimed[c->row_first + i];
    if (c->rows[i].kind != CLOSURE_ALIGN) sum += own * own;
  }
  return sqrt(sum);
}

/* Opens closure k at `time` because its force exceeds the limit. A closure with `releases` is barred and can close
 * again later; any other closure is broken. */
static void open_by_force(ClosureSystem* s, int k, double time) {
  const ModelClosure* c = &s->model->closures[k];
  s->open[k] = true;
  if (c->releases) {
    s->joined[k].until = time;
    s->joined[k].barred = true;
  } else
    s->broken_at[k] = time;
  for (int i = 0; i < c->row_count; i++)
    s->multiplier[c->row_first + i] = s->accepted[c->row_first + i] = s->aimed[c->row_first + i] = 0;
}

/* Records the force of closure k in this substep. Returns true if the closure opens at the end of this substep. If it
 * opens earlier, sets load->due to the fraction of the substep after which it opens. */
static bool note_load(ClosureSystem* s, int k) {
  ClosureForceHistory* load = &s->load[k];
  double limit = s->model->closures[k].force_limit;
  load->due = INFINITY;
  if (load->skipped < s->closing_substeps) {
    load->skipped++;
    return false;
  }
  load->before = load->now;
  load->now = closure_force(s, k, s->multiplier, s->aimed);
  load->known = load->known < 2 ? load->known + 1 : 2;
  if (load->now <= limit) return false;
  if (load->known < 2 || load->before >= limit) return true;
  double share = (limit - load->before) / (load->now - load->before);
  if (share < OPENS_APART) return true;
  load->due = share;
  return false;
}

/* Opens the closures whose force exceeds the limit. If one opens, the forces of all other closures change, so their
 * recorded forces are discarded. */
static void open_by_forces(ClosureSystem* s, const StepClock* clock) {
  bool opens = false;
  for (int k = 0; k < s->model->closure_count; k++) {
    if (s->open[k] || !(s->model->closures[k].force_limit > 0)) continue;
    bool own = clock->end == END_AT_CLOSURE_OPENING ? clock->event.closure == k : note_load(s, k);
    if (own) open_by_force(s, k, clock->time);
    opens = opens || own;
  }
  for (int k = 0; opens && k < s->model->closure_count; k++) {
    s->load[k].known = 0;
    s->load[k].due = INFINITY;
  }
}

void closures_advance(ClosureSystem* s, const StepClock* clock) {
  for (int row = 0; row < s->row_count; row++) s->accepted[row] = s->multiplier[row] + s->aimed[row];
  if (s->limited) open_by_forces(s, clock);
}

int closures_find_opening(const ClosureSystem* s) {
  int first = -1;
  for (int k = 0; s && s->limited && k < s->model->closure_count; k++)
    if (s->load[k].due < (double)INFINITY && (first < 0 || s->load[k].due < s->load[first].due)) first = k;
  return first;
}

/* Returns the size of the stored increments [bytes]. The copy that closures_save makes has the same size. */
static size_t ways_size(const ClosureSystem* s) { return sizeof(double) * WAYS * (size_t)s->model->dof_count; }
static double* saved_ways(const ClosureSystem* s) { return s->way + WAYS * s->model->dof_count; }

void closures_store_increments(ClosureSystem* s, const double* increments, bool even) {
  size_t nv = (size_t)s->model->dof_count;
  memmove(s->way + nv, s->way, sizeof(double) * (WAYS - 1) * nv);
  memcpy(s->way, increments, sizeof(double) * nv);
  s->way_count = !even || s->ambiguous ? 1 : s->way_count < WAYS ? s->way_count + 1 : WAYS;
}

void closures_extrapolate(const ClosureSystem* s, double* increments) {
  /* weights of the last increments, newest first: the polynomial through way_count steps, evaluated one step ahead */
  static const double SHARE[WAYS + 1][WAYS] = {{1}, {1}, {2, -1}, {3, -3, 1}, {4, -6, 4, -1}};
  int nv = s->model->dof_count;
  if (s->way_count < 2) return;
  for (int k = 0; k < s->model->tree_count; k++) {
    const ModelTree* tree = &s->model->trees[k];
    if (!s->tree_moves_on[k]) continue;
    for (int d = tree->dof_first; d < tree->dof_first + tree->dof_count; d++) {
      increments[d] = 0;
      for (int n = 0; n < s->way_count; n++) increments[d] += SHARE[s->way_count][n] * s->way[n * nv + d];
    }
  }
}

void closures_set_tolerance_factor(ClosureSystem* s, int iterations, double tolerance) {
  s->share = iterations > 0 ? 1 : fmin(1, fmax(FORETOLD_SHARE, FORETOLD_FINEST / tolerance));
}

void closures_save(ClosureSystem* s) {
  memcpy(saved_ways(s), s->way, ways_size(s));
  s->way_count_saved = s->way_count;
  memcpy(s->saved, s->accepted, sizeof(double) * (size_t)s->row_count);
  memcpy(s->open_saved, s->open, sizeof(bool) * (size_t)s->count);
  if (s->joined) memcpy(s->joined_saved, s->joined, sizeof(SimJoin) * (size_t)s->model->closure_count);
  if (s->load) memcpy(s->load_saved, s->load, sizeof(ClosureForceHistory) * (size_t)s->model->closure_count);
}

void closures_restore(ClosureSystem* s) {
  memcpy(s->way, saved_ways(s), ways_size(s));
  s->way_count = s->way_count_saved;
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
  state_block_int(block, &s->way_count, 0, WAYS);
  state_block_doubles(block, s->way, WAYS * (size_t)s->model->dof_count);
  for (int k = 0; k < s->count; k++) s->open[k] = s->broken_at[k] < (double)INFINITY;
  for (int k = 0; s->joined && k < s->model->closure_count; k++) {
    state_block_doubles(block, &s->joined[k].since, 1);
    state_block_doubles(block, &s->joined[k].at.r.m[0][0], 9);
    state_block_doubles(block, &s->joined[k].at.t.x, 3);
  }
  for (int k = 0; s->limited && k < s->model->closure_count; k++) {
    ClosureForceHistory* load = &s->load[k];
    double* const numbers[] = {&load->before, &load->now, &load->due};
    for (int i = 0; i < 3; i++) state_block_doubles(block, numbers[i], 1);
    state_block_int(block, &load->known, 0, 2);
    state_block_int(block, &load->skipped, 0, CLOSING_SUBSTEPS_SECOND_ORDER);
    if (!s->joined) continue;
    state_block_doubles(block, &s->joined[k].until, 1);
    state_block_bool(block, &s->joined[k].barred);
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
