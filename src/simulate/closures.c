/* Closures in a step (docs/derivations/closures.md). */
#include "simulate/closures.h"

#include <float.h>
#include <string.h>

/* Roundings of a position that no step can do without. */
#define CLOSURE_ROUNDINGS (64 * DBL_EPSILON)
/* Part of its size, or angle, that a closure may be open by at the start: the first step closes it. */
#define START_OPEN 1e-3
/* Rounding of an energy, relative, and of a position. */
#define ENERGY_ROUNDING 1e-14
#define POSITION_ROUNDING 1e-15

/* ---------------------------------------------------------------- the equations (Z1) */

ClosureEnds closure_ends(const ModelClosure* c, const Pose* poses) {
  ClosureEnds e;
  for (int side = 0; side < 2; side++) {
    e.pose[side] = model_closure_pose(c, side, poses);
    e.end[side] = pose_apply(e.pose[side], c->end[side]);
  }
  e.apart = vec3_sub(e.end[0], e.end[1]);
  return e;
}

static Vec3 unit_axis(int axis) { return vec3(axis == 0, axis == 1, axis == 2); }

double closure_row_value(const ModelClosure* c, const ClosureRow* row, const ClosureEnds* e) {
  switch (row->kind) {
    case CLOSURE_POINT:
      return vec3_dot(unit_axis(row->axis), e->apart);
    case CLOSURE_ALIGN:
      return vec3_dot(mat3_mul_vec(e->pose[0].r, row->u), mat3_mul_vec(e->pose[1].r, row->v));
    case CLOSURE_ACROSS:
      return vec3_dot(e->apart, mat3_mul_vec(e->pose[1].r, row->v));
    case CLOSURE_LENGTH:
      break;
  }
  return 0.5 * (vec3_dot(e->apart, e->apart) / c->length - c->length);
}

double closure_coupling_value(const ModelCoupling* c, const double* q) {
  double sum = -c->offset;
  for (int i = 0; i < c->count; i++) sum += c->slope[i] * q[c->coordinate[i]];
  return sum;
}

void closures_values(const ClosureSystem* s, const Pose* poses, const double* q, double* values) {
  const Model* m = s->model;
  for (int k = 0; k < m->closure_count; k++) {
    const ModelClosure* c = &m->closures[k];
    ClosureEnds e = closure_ends(c, poses);
    for (int i = 0; i < c->row_count; i++) values[c->row_first + i] = closure_row_value(c, &c->rows[i], &e);
  }
  for (int k = 0; k < m->coupling_count; k++) values[m->couplings[k].row] = closure_coupling_value(&m->couplings[k], q);
}

Vec3 closure_row_direction(const ModelClosure* c, const ClosureRow* row, const ClosureEnds* e) {
  if (row->kind == CLOSURE_POINT) return unit_axis(row->axis);
  if (row->kind == CLOSURE_ACROSS) return mat3_mul_vec(e->pose[1].r, row->v);
  if (row->kind == CLOSURE_LENGTH) return vec3_scale(e->apart, 1 / c->length);
  return vec3(0, 0, 0);
}

/* ---------------------------------------------------------------- what a step asks */

/* What a row is measured in, and what its positions are rounded by: the size of the links, or 1 rad. */
static bool measures_angle(const ClosureSystem* s, int k, int i) {
  return k < s->model->closure_count && s->model->closures[k].rows[i].kind == CLOSURE_ALIGN;
}
static double size_of(const ClosureSystem* s, int k, int i) {
  if (k >= s->model->closure_count) return closure_coupling(s, k)->size;
  return measures_angle(s, k, i) ? 1 : s->model->closures[k].size;
}
static double extent_of(const ClosureSystem* s, int k, int i) { return measures_angle(s, k, i) ? 1 : s->extent[k]; }

double closure_gap(const ClosureSystem* s, int k, const double* values) {
  double gap = 0;
  for (int i = 0; i < closure_rows(s, k) && !s->open[k]; i++) {
    double allowed = s->exact * size_of(s, k, i) + CLOSURE_ROUNDINGS * extent_of(s, k, i);
    double own = fabs(values[closure_first(s, k) + i]) / allowed;
    if (own > gap) gap = own;
  }
  return gap;
}

double closure_open_by(const ClosureSystem* s, int k) {
  double most = 0;
  for (int i = 0; i < closure_rows(s, k); i++) most = fmax(most, fabs(s->value[closure_first(s, k) + i]));
  return most;
}

int closures_open_at_start(ClosureSystem* s, const Pose* poses, const double* q) {
  if (!s) return -1;
  closures_values(s, poses, q, s->value);
  s->placed_weight = -1;
  for (int k = 0; k < s->count; k++)
    for (int i = 0; i < closure_rows(s, k) && !s->open[k]; i++)
      if (!(fabs(s->value[closure_first(s, k) + i]) <= START_OPEN * size_of(s, k, i))) return k;
  return -1;
}

double closures_gap(const ClosureSystem* s, int* worst) {
  double gap = 0;
  for (int k = 0; s && k < s->count; k++) {
    if (s->gap[k] <= gap) continue;
    gap = s->gap[k];
    if (worst) *worst = k;
  }
  return gap;
}

double closure_energy(const ClosureSystem* s, int k, const double* values) {
  double sum = 0;
  for (int row = closure_first(s, k); row < closure_first(s, k) + closure_rows(s, k) && !s->open[k]; row++)
    sum += (s->multiplier[row] + 0.5 * s->stiffness[row] * values[row]) * values[row];
  return sum;
}

double closure_rounding(const ClosureSystem* s, int k) {
  double sum = 0;
  for (int i = 0; i < closure_rows(s, k) && !s->open[k]; i++) {
    int row = closure_first(s, k) + i;
    double force = fabs(s->multiplier[row]) + s->stiffness[row] * fabs(s->value[row]);
    sum += POSITION_ROUNDING * extent_of(s, k, i) * force;
  }
  return sum + ENERGY_ROUNDING * fabs(closure_energy(s, k, s->value));
}

int closure_link(const ClosureSystem* s, int k) { return s->home[k]; }

/* ---------------------------------------------------------------- from state to state */

void closures_begin(ClosureSystem* s) {
  memcpy(s->multiplier, s->accepted, sizeof(double) * (size_t)s->row_count);
  memset(s->convex, 0, sizeof(bool) * (size_t)s->count);
  s->gap_before = INFINITY;
  s->stiffening = 0;
}

void closures_keep(ClosureSystem* s) { memcpy(s->kept, s->multiplier, sizeof(double) * (size_t)s->row_count); }

void closures_put_back(ClosureSystem* s) { memcpy(s->multiplier, s->kept, sizeof(double) * (size_t)s->row_count); }

void closures_straighten(ClosureSystem* s, const bool* marked) {
  for (int k = 0; k < s->count; k++) s->convex[k] = s->convex[k] || marked[closure_link(s, k)];
}

void closures_bend(ClosureSystem* s) { memset(s->convex, 0, sizeof(bool) * (size_t)s->count); }

/* What is pulled too hard in this step is gone from the next one on (Z5). */
void closures_advance(ClosureSystem* s, double time) {
  memcpy(s->accepted, s->multiplier, sizeof(double) * (size_t)s->row_count);
  for (int k = 0; k < s->model->closure_count; k++) {
    const ModelClosure* c = &s->model->closures[k];
    if (s->open[k] || !(c->break_force > 0) || vec3_norm(s->sum[k].force[0]) <= c->break_force) continue;
    s->open[k] = true;
    s->broken_at[k] = time;
    for (int i = 0; i < c->row_count; i++) s->multiplier[c->row_first + i] = s->accepted[c->row_first + i] = 0;
  }
}

void closures_save(ClosureSystem* s) {
  memcpy(s->saved, s->accepted, sizeof(double) * (size_t)s->row_count);
  memcpy(s->open_saved, s->open, sizeof(bool) * (size_t)s->count);
}

void closures_restore(ClosureSystem* s) {
  memcpy(s->accepted, s->saved, sizeof(double) * (size_t)s->row_count);
  memcpy(s->open, s->open_saved, sizeof(bool) * (size_t)s->count);
  for (int k = 0; k < s->count; k++)
    if (!s->open[k]) s->broken_at[k] = INFINITY;
}

void closures_pass_state(ClosureSystem* s, StateBlock* block) {
  state_block_doubles(block, s->accepted, (size_t)s->row_count);
  state_block_doubles(block, s->broken_at, (size_t)s->count);
  for (int k = 0; k < s->count; k++) s->open[k] = s->broken_at[k] < (double)INFINITY;
}

/* ---------------------------------------------------------------- for the user */

SimClosure coupling_state(const ClosureSystem* s, int k, const double* q) {
  const ModelCoupling* c = &s->model->couplings[k];
  return (SimClosure){
      .broken_at = INFINITY, .gap = fabs(closure_coupling_value(c, q)), .force = {-s->accepted[c->row], 0, 0}};
}

SimClosure closure_state(const ClosureSystem* s, int k, const Pose* poses) {
  const ModelClosure* c = &s->model->closures[k];
  SimClosure out = {.broken = s->open[k], .broken_at = s->broken_at[k]};
  ClosureEnds e = closure_ends(c, poses);
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
