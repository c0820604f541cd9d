/* Factorization of components by Cholesky's method or by modified eigenvalues, and solves with all kinds of factors. */
#include <assert.h>
#include <string.h>

#include "linalg/block_solver.h"
#include "linalg/eigen.h"
#include "linalg/front.h"

void block_fill_dense(const BlockSolver* s, const Component* c, double* matrix, int stride) {
  assert(stride >= c->order);
  if (c->order == 0) return;
  memset(matrix, 0, sizeof(double) * (size_t)stride * (size_t)c->order);
  for (int k = c[0].member_first; k < c[1].member_first; k++) {
    int a = s->members[k], size = s->size[a];
    const double* value = s->values + s->offset[a];
    for (int i = 0; i < size; i++)
      for (int j = i; j < size; j++)
        matrix[(size_t)(s->local_first[a] + i) * (size_t)stride + (size_t)(s->local_first[a] + j)] =
            value[i * size + j];
  }
  for (int k = c[0].coupling_first; k < c[1].coupling_first; k++) {
    int link = s->component_couplings[k], a = s->row[link], b = s->column[link];
    const double* value = s->values + s->offset[s->block_count + link];
    for (int i = 0; i < s->size[a]; i++)
      for (int j = 0; j < s->size[b]; j++)
        matrix[(size_t)(s->local_first[a] + i) * (size_t)stride + (size_t)(s->local_first[b] + j)] =
            value[i * s->size[b] + j];
  }
}

bool block_solver_factor_component(BlockSolver* s, int component) {
  assert(component >= 0 && component < s->component_count);
  block_find_components(s);
  Component* c = &s->components[component];
  double* storage = s->storage + c->storage;
  bool definite;
  if (c->plan >= 0)
    definite = plan_factor(&s->plans[c->plan], block_component_values(s, c), 0, storage);
  else {
    int stride = front_stride(c->order);
    block_fill_dense(s, c, storage, stride);
    definite = front_factor(c->order, c->order, stride, storage, NULL, storage + block_dense_size(c));
  }
  c->factor = definite ? FACTOR_CHOLESKY : FACTOR_NONE;
  return definite;
}

bool block_compute_eigenvectors(BlockSolver* s, Component* c) {
  int stride = front_stride(c->order);
  double* matrix = s->storage + c->storage;
  block_fill_dense(s, c, matrix, stride);
  for (int i = 0; i < c->order; i++)
    for (int j = i + 1; j < c->order; j++)
      matrix[(size_t)j * (size_t)stride + (size_t)i] = matrix[(size_t)i * (size_t)stride + (size_t)j];
  return symmetric_eigen(c->order, stride, matrix, s->eigenvalues + c->unknown_first,
                         s->off_diagonal + c->unknown_first);
}

bool block_solver_factor_component_modified(BlockSolver* s, int component, double floor) {
  assert(component >= 0 && component < s->component_count && floor > 0);
  block_find_components(s);
  Component* c = &s->components[component];
  c->factor = FACTOR_NONE;
  if (c->plan >= 0) {
    for (double shift = 1e-4; shift < 1e6 && c->factor == FACTOR_NONE; shift *= 10)
      if (plan_factor(&s->plans[c->plan], block_component_values(s, c), shift, s->storage + c->storage))
        c->factor = FACTOR_CHOLESKY;
    return c->factor == FACTOR_CHOLESKY;
  }
  if (!block_compute_eigenvectors(s, c)) return false;
  double* values = s->eigenvalues + c->unknown_first;
  for (int k = 0; k < c->order; k++) values[k] = fmax(fabs(values[k]), floor);
  c->factor = FACTOR_SPECTRAL;
  return true;
}

/* Solves the linear system of a component by its eigenvalues: replaces x by V diag(1 / eigenvalues) V^T x, where the
 * rows of V^T are the eigenvectors. */
static void solve_spectral(const BlockSolver* s, const Component* c, double* x) {
  const double *v = s->storage + c->storage, *values = s->eigenvalues + c->unknown_first;
  double* spectral = s->spectral + c->unknown_first;
  int n = c->order, stride = front_stride(n);
  for (int k = 0; k < n; k++, v += stride) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += v[i] * x[i];
    spectral[k] = sum / values[k];
  }
  memset(x, 0, sizeof(double) * (size_t)n);
  v = s->storage + c->storage;
  for (int k = 0; k < n; k++, v += stride)
    for (int i = 0; i < n; i++) x[i] += v[i] * spectral[k];
}

/* Solves the linear system of a component by its dense Cholesky factor. Unknown k of the complete matrix is x[k *
 * stride_x]. */
static void solve_dense(const BlockSolver* s, const Component* c, double* x, size_t stride_x) {
  int n = c->order, stride = front_stride(n);
  const int* unknown = s->unknowns + c->unknown_first;
  double *panel = s->storage + c->storage, *y = panel + (size_t)stride * (size_t)n;
  for (int k = 0; k < n; k++) y[k] = x[(size_t)unknown[k] * stride_x];
  for (int k = n; k < stride; k++) y[k] = 0;
  front_forward(n, stride, panel, y);
  front_backward(n, stride, panel, y);
  for (int k = 0; k < n; k++) x[(size_t)unknown[k] * stride_x] = y[k];
}

static bool is_dense(const Component* c) { return c->plan < 0 && c->factor <= FACTOR_CHOLESKY; }

/* Solves the linear system of a component by its factor of any kind. Unknown k of the complete matrix is x[k *
 * stride_x]. */
static void solve_any(BlockSolver* s, const Component* c, double* x, size_t stride_x) {
  const int* unknown = s->unknowns + c->unknown_first;
  double* local = s->off_diagonal + c->unknown_first;
  if (is_dense(c)) {
    solve_dense(s, c, x, stride_x);
    return;
  }
  for (int k = 0; k < c->order; k++) local[k] = x[(size_t)unknown[k] * stride_x];
  if (c->factor == FACTOR_SPECTRAL)
    solve_spectral(s, c, local);
  else if (c->factor == FACTOR_INDEFINITE)
    block_solve_refined(s, c, local);
  else
    plan_solve(&s->plans[c->plan], s->storage + c->storage, NULL, local);
  for (int k = 0; k < c->order; k++) x[(size_t)unknown[k] * stride_x] = local[k];
}

void block_solver_solve_component(BlockSolver* s, int component, double* x) {
  assert(component >= 0 && component < s->component_count);
  assert(s->components[component].factor != FACTOR_NONE || s->components[component].order == 0);
  solve_any(s, &s->components[component], x, 1);
}

/* Largest order of a component for which one or two right-hand sides are solved as a batch of four. Larger components
 * are solved once for each right-hand side. */
enum { BATCH_MAX_ORDER = 8 };

void block_solver_solve_four(BlockSolver* s, int component, unsigned columns, double* x, int stride) {
  assert(component >= 0 && component < s->component_count && stride >= 4);
  const Component* c = &s->components[component];
  unsigned remaining = columns & (columns - 1); /* clears the lowest bit */
  bool at_most_two = (remaining & (remaining - 1)) == 0;
  if (is_dense(c) && (c->order <= BATCH_MAX_ORDER || !at_most_two))
    front_solve_four(c->order, front_stride(c->order), s->storage + c->storage, s->unknowns + c->unknown_first, x,
                     stride);
  else
    for (int k = 0; k < 4; k++)
      if (columns >> k & 1) solve_any(s, c, x + k, (size_t)stride);
}
