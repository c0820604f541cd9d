/* Normal equations of a shot with eliminated local unknowns (docs/derivations/identify.md, Q3), and normal equations of
 * subsets of its residuals (Q12). */
#include <assert.h>
#include <string.h>

#include "identify/fit.h"
#include "linalg/dense.h"

double robust_loss(double r, double threshold, double* weight) {
  assert(threshold > 0 && weight);
  double size = fabs(r);
  *weight = size <= threshold ? 1 : threshold / size;
  return size <= threshold ? 0.5 * r * r : threshold * (size - 0.5 * threshold);
}

double local_deviation(const Identification* id, int k) {
  assert(k >= 0 && k < 2 * id->model.dof_count);
  const Model* m = &id->model;
  int dof = k % m->dof_count;
  const ModelLink* link = &m->links[m->dof_link[dof]];
  bool slides = dof - link->dof_first < link->joint.slide_count, free = link->joint.dof_count == 6;
  const TaskIdentify* t = &id->task->identify;
  if (k >= m->dof_count) return slides ? t->initial_velocity : t->initial_rate;
  if (!free) return t->coordinate;
  return slides ? t->position : t->rotation;
}

static void add_outer(ShotSums* out, const double* row, double weight, double r, int n, int locals, double* full_c) {
  for (int i = 0; i < n; i++) {
    double wi = weight * row[i];
    if (wi == 0) continue;
    out->g[i] += wi * r;
    for (int k = 0; k <= i; k++) out->a[i * n + k] += wi * row[k];
    for (int k = 0; k < locals; k++) out->b[i * locals + k] += wi * row[n + k];
  }
  for (int i = 0; i < locals; i++) {
    double wi = weight * row[n + i];
    out->h[i] += wi * r;
    for (int k = 0; k <= i; k++) full_c[i * locals + k] += wi * row[n + k];
  }
}

/* Eliminates the increments of the initial state (local unknowns) from the normal equations: A := A - B C^-1 B', g := g
 * - B C^-1 h. A, B, C: blocks of the matrix. g, h: right-hand sides. */
static void eliminate_locals(ShotSums* out, int n, int locals) {
  double* column = MEMORY_NEW(double, locals + 1);
  for (int i = 0; i < n; i++) {
    memcpy(column, out->b + i * locals, sizeof(double) * (size_t)locals);
    dense_solve(locals, out->c, column);
    for (int k = 0; k <= i; k++)
      for (int m = 0; m < locals; m++) out->a[i * n + k] -= column[m] * out->b[k * locals + m];
    for (int m = 0; m < locals; m++) out->g[i] -= column[m] * out->h[m];
  }
  memory_free(column);
}

void shot_clear(const Identification* id, ShotSums* out) {
  size_t n = (size_t)id->variables, l = (size_t)id->locals;
  memset(out->a, 0, sizeof(double) * n * n);
  memset(out->g, 0, sizeof(double) * n);
  memset(out->b, 0, sizeof(double) * n * l);
  memset(out->c, 0, sizeof(double) * l * l);
  memset(out->h, 0, sizeof(double) * l);
}

/* Computes the derivatives of one residual with respect to the variables after elimination of the local unknowns, J_x -
 * J_u C^-1 B'. J_x, J_u: derivatives of the residual with respect to variables and local unknowns (row). elimination: B
 * C^-1 (variables x locals). */
static void eliminate_from_row(const double* row, const double* elimination, int n, int locals, double* out) {
  for (int i = 0; i < n; i++) {
    out[i] = row[i];
    for (int k = 0; k < locals; k++) out[i] -= elimination[i * locals + k] * row[n + k];
  }
}

static void add_to_subset(int n, const double* row, double weight, double r, double* a, double* g) {
  for (int i = 0; i < n; i++) {
    double wi = weight * row[i];
    if (wi == 0) continue;
    g[i] += wi * r;
    for (int k = 0; k <= i; k++) a[i * n + k] += wi * row[k];
  }
}

/* Adds the matrix A and the vector g of the normal equations of each subset of the residuals. */
static void sum_subsets(const Identification* id, const ShotResiduals* s, ShotSums* out) {
  int n = id->variables, locals = id->locals;
  double *elimination = MEMORY_NEW(double, n*locals + 1), *row = MEMORY_NEW(double, n + 1);
  if (locals > 0) memcpy(elimination, out->b, sizeof(double) * (size_t)(n * locals));
  for (int i = 0; i < n && locals > 0; i++) dense_solve(locals, out->c, elimination + i * locals);
  memset(out->subset_a, 0, sizeof(double) * (size_t)(SUBSETS * n * n));
  memset(out->subset_g, 0, sizeof(double) * (size_t)(SUBSETS * n));
  for (int k = 0; k < s->samples * s->count; k++) {
    double weight, r = s->r[k];
    if (isnan(r)) continue;
    robust_loss(r, s->huber, &weight);
    eliminate_from_row(s->j + (size_t)k * (size_t)s->columns, elimination, n, locals, row);
    int sample = k / s->count;
    const int parts[] = {sample < s->first_after_contact ? SUBSET_BEFORE_CONTACT : SUBSET_AFTER_CONTACT,
                         2 * sample < s->samples ? SUBSET_FIRST_HALF : SUBSET_SECOND_HALF,
                         s->turns[k % s->count] ? SUBSET_ROTATIONS : SUBSET_POSITIONS};
    for (int p = 0; p < SUBSETS / 2; p++)
      add_to_subset(n, row, weight, r, out->subset_a + (size_t)(parts[p] * n * n),
                    out->subset_g + (size_t)(parts[p] * n));
  }
  memory_free(elimination);
  memory_free(row);
}

/* Adds the residuals of a shot and the priors of its local unknowns. */
static void sum_residuals(const Identification* id, const ShotResiduals* s, const double* local, bool derivatives,
                          ShotSums* out) {
  int n = id->variables, locals = id->locals;
  out->cost = 0;
  out->residuals = 0;
  if (derivatives) shot_clear(id, out);
  for (int k = 0; k < s->samples * s->count; k++) {
    double weight;
    if (isnan(s->r[k])) continue;
    out->cost += robust_loss(s->r[k], s->huber, &weight);
    out->residuals++;
    if (derivatives) add_outer(out, s->j + (size_t)k * (size_t)s->columns, weight, s->r[k], n, locals, out->c);
  }
  for (int k = 0; k < locals; k++) {
    double p = 1 / local_deviation(id, k);
    out->cost += 0.5 * p * p * local[k] * local[k];
    if (!derivatives) continue;
    out->c[k * locals + k] += p * p;
    out->h[k] += p * p * local[k];
  }
}

bool shot_sum(const Identification* id, const ShotResiduals* s, const double* local, bool derivatives, ShotSums* out) {
  assert(s->samples >= 0 && s->count >= 0 && s->first_after_contact >= 0 && out);
  sum_residuals(id, s, local, derivatives, out);
  if (!isfinite(out->cost)) return false;
  if (derivatives && id->locals > 0) {
    if (!dense_cholesky(id->locals, out->c)) return false;
    eliminate_locals(out, id->variables, id->locals);
  }
  if (derivatives && out->subset_a) sum_subsets(id, s, out);
  return true;
}
