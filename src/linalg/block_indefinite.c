/* Factorization of components that are not positive definite: L D L^T with iterative refinement, or eigenvalues. */
#include <assert.h>
#include <string.h>

#include "linalg/arrays.h"
#include "linalg/block_solver.h"
#include "linalg/eigen.h"
#include "linalg/front.h"

/* A component is singular if its eigenvalue nearest to zero is below this fraction of the largest one. */
#define SINGULAR_RATIO 1e-14

/* Indefinite dense components up to this order are factored by their eigenvalues. */
enum { SPECTRAL_MAX_ORDER = 96 };
/* Iterative refinement of a solution ends after MAX_REFINEMENTS iterations or at the backward error
 * REFINEMENT_TOLERANCE. Refinement is needed because pivots are chosen within fronts only. */
enum { MAX_REFINEMENTS = 10 };
#define REFINEMENT_TOLERANCE 4e-16
/* Largest accepted backward error of a sparse factor after refinement. If the error is larger, the component is
 * factored as a dense matrix, with pivots from all rows. */
#define MAX_BACKWARD_ERROR 1e-12
/* Smallest magnitude of a pivot, relative to the largest entry of the matrix. Smaller pivots are replaced by this
 * value. */
#define PIVOT_TINY 1e-16
/* Largest number of Lanczos iterations in the search for the eigenvalue nearest to zero. */
enum { LANCZOS_STEPS = 40 };

static IndefinitePivots component_pivots(const BlockSolver* s, const Component* c) {
  return (IndefinitePivots){s->pivot_permutation + c->unknown_first, s->pivot_off_diagonal + c->unknown_first};
}

static void add_product(const double* block, int rows, int columns, bool diagonal, const double* x_rows,
                        const double* x_columns, double* y_rows, double* y_columns) {
  for (int r = 0; r < rows; r++)
    for (int c = diagonal ? r : 0; c < columns; c++) {
      y_rows[r] += block[r * columns + c] * x_columns[c];
      if (!diagonal || r != c) y_columns[c] += block[r * columns + c] * x_rows[r];
    }
}

/* Sets y to H x for the matrix H of one component. x and y are in the order of the component's unknowns. */
static void multiply_component(const BlockSolver* s, const Component* c, const double* x, double* y) {
  memset(y, 0, sizeof(double) * (size_t)c->order);
  for (int k = c[0].member_first; k < c[1].member_first; k++) {
    int a = s->members[k], p = s->local_first[a];
    add_product(s->values + s->offset[a], s->size[a], s->size[a], true, x + p, x + p, y + p, y + p);
  }
  for (int k = c[0].coupling_first; k < c[1].coupling_first; k++) {
    int link = s->component_couplings[k], a = s->row[link], b = s->column[link], p = s->local_first[a],
        q = s->local_first[b];
    add_product(s->values + s->offset[s->block_count + link], s->size[a], s->size[b], false, x + p, x + q, y + p,
                y + q);
  }
}

/* Largest magnitude of an entry, and largest absolute row sum, of the matrix of a component. */
typedef struct {
  double entry, row;
} Norms;

static Norms compute_norms(BlockSolver* s, const Component* c) {
  double *sum = s->residual + c->unknown_first, entry = 0;
  memset(sum, 0, sizeof(double) * (size_t)c->order);
  for (int k = c[0].member_first + c[0].coupling_first; k < c[1].member_first + c[1].coupling_first; k++) {
    int local = k - c[0].member_first - c[0].coupling_first, members = c[1].member_first - c[0].member_first;
    int link = local < members ? -1 : s->component_couplings[c->coupling_first + local - members];
    int a = link < 0 ? s->members[c->member_first + local] : s->row[link], b = link < 0 ? a : s->column[link];
    const double* value = s->values + s->local_offset[k];
    for (int i = 0; i < s->size[a]; i++)
      for (int j = link < 0 ? i : 0; j < s->size[b]; j++) {
        double size = fabs(value[i * s->size[b] + j]);
        entry = fmax(entry, size);
        sum[s->local_first[a] + i] += size;
        if (link >= 0 || i != j) sum[s->local_first[b] + j] += size;
      }
  }
  return (Norms){entry, array_largest(c->order, sum)};
}

/* Solves the linear system of a component by its factor L D L^T, without iterative refinement: replaces the right-hand
 * side x by the solution. */
static void solve_unrefined(const BlockSolver* s, const Component* c, double* x) {
  IndefinitePivots pivots = component_pivots(s, c);
  double* storage = s->storage + c->storage;
  if (c->plan >= 0) {
    plan_solve(&s->plans[c->plan], storage, &pivots, x);
    return;
  }
  int n = c->order, stride = front_stride(n);
  double *y = storage + (size_t)stride * (size_t)n, *spare = y + stride;
  memcpy(y, x, sizeof(double) * (size_t)n);
  memset(y + n, 0, sizeof(double) * (size_t)(stride - n));
  indefinite_forward(n, stride, storage, pivots, y, spare);
  indefinite_backward(n, stride, storage, pivots, y, spare);
  memcpy(x, y, sizeof(double) * (size_t)n);
}

double block_solve_refined(BlockSolver* s, const Component* c, double* x) {
  double *b = s->right_side + c->unknown_first, *residual = s->residual + c->unknown_first, previous_error = HUGE_VAL,
         error = 0;
  memcpy(b, x, sizeof(double) * (size_t)c->order);
  solve_unrefined(s, c, x);
  for (int iteration = 0; iteration <= MAX_REFINEMENTS; iteration++) {
    multiply_component(s, c, x, residual);
    for (int k = 0; k < c->order; k++) residual[k] = b[k] - residual[k];
    double scale = c->norm * array_largest(c->order, x) + array_largest(c->order, b);
    error = scale > 0 ? array_largest(c->order, residual) / scale : 0;
    if (!(error > REFINEMENT_TOLERANCE) || error > 0.5 * previous_error || iteration == MAX_REFINEMENTS) break;
    previous_error = error;
    solve_unrefined(s, c, residual);
    for (int k = 0; k < c->order; k++) x[k] += residual[k];
  }
  return error;
}

static void set_random_vector(int count, double* x) {
  Random random = {1};
  for (int k = 0; k < count; k++) x[k] = random_uniform(&random, -1, 1);
}

/* Returns the eigenvalue nearest to zero of a component's matrix H. Lanczos iterations with full reorthogonalization
 * find the eigenvalue of H^-1 of largest magnitude; the result is its reciprocal. Returns 0 on failure. */
static double nearest_eigenvalue(BlockSolver* s, const Component* c) {
  int n = c->order, steps = n < LANCZOS_STEPS ? n : LANCZOS_STEPS, count = 0;
  double *basis = MEMORY_NEW(double, (size_t)n*((size_t)steps + 1)), diagonal[LANCZOS_STEPS],
         off_diagonal[LANCZOS_STEPS + 1];
  set_random_vector(n, basis);
  off_diagonal[0] = 0;
  double length = sqrt(array_dot(n, basis, basis));
  for (; count < steps && length > 0 && isfinite(length); count++) {
    double *v = basis + (size_t)count * (size_t)n, *w = v + n;
    for (int k = 0; k < n; k++) w[k] = v[k] /= length;
    block_solve_refined(s, c, w);
    diagonal[count] = array_dot(n, v, w);
    double length_before = sqrt(array_dot(n, w, w));
    for (int pass = 0; pass < 2; pass++)
      for (int i = 0; i <= count; i++) {
        const double* previous = basis + (size_t)i * (size_t)n;
        double projection = array_dot(n, previous, w);
        for (int k = 0; k < n; k++) w[k] -= projection * previous[k];
      }
    off_diagonal[count + 1] = length = sqrt(array_dot(n, w, w));
    if (!(length > 1e-13 * length_before)) length = 0; /* the Krylov space is exhausted */
  }
  memory_free(basis);
  if (!tridiagonal_eigenvalues(count, diagonal, off_diagonal) || count == 0) return 0;
  double largest = fabs(diagonal[0]) > fabs(diagonal[count - 1]) ? diagonal[0] : diagonal[count - 1];
  return 1 / largest;
}

/* Appends storage for a dense factor of a component. The component stays dense until the matrix is filled again. */
static void become_dense(BlockSolver* s, Component* c) {
  c->storage = s->storage_capacity;
  s->storage_capacity += block_dense_storage(c);
  s->storage = memory_resize(s->storage, sizeof(double) * c->storage, sizeof(double) * s->storage_capacity);
  c->plan = -1;
  s->became_dense = true;
}

/* Computes the factor L D L^T of a component. Returns false if the component is not finite. */
static bool factor_ldl(BlockSolver* s, Component* c, double tiny) {
  IndefinitePivots pivots = component_pivots(s, c);
  double* storage = s->storage + c->storage;
  if (c->plan >= 0)
    return plan_factor_indefinite(&s->plans[c->plan], block_component_values(s, c), tiny, storage, &pivots) >= 0;
  int stride = front_stride(c->order);
  block_fill_dense(s, c, storage, stride);
  return indefinite_factor(c->order, c->order, stride, tiny, storage, NULL, pivots) >= 0;
}

static double measure_backward_error(BlockSolver* s, const Component* c) {
  double* x = s->spectral + c->unknown_first;
  set_random_vector(c->order, x);
  return block_solve_refined(s, c, x);
}

static bool factor_large_indefinite(BlockSolver* s, Component* c, double* smallest) {
  Norms norms = compute_norms(s, c);
  double tiny = norms.entry > 0 ? PIVOT_TINY * norms.entry : 1;
  c->norm = norms.row;
  if (!isfinite(norms.row) || !factor_ldl(s, c, tiny)) return false;
  if (c->plan >= 0 && !(measure_backward_error(s, c) <= MAX_BACKWARD_ERROR)) {
    become_dense(s, c);
    if (!factor_ldl(s, c, tiny)) return false;
  }
  double nearest = nearest_eigenvalue(s, c);
  if (!(fabs(nearest) >= fabs(*smallest))) *smallest = nearest;
  c->factor = FACTOR_INDEFINITE;
  return fabs(nearest) > SINGULAR_RATIO * norms.row;
}

static bool factor_small_indefinite(BlockSolver* s, Component* c, double* smallest) {
  if (!block_compute_eigenvectors(s, c)) return false;
  const double* values = s->eigenvalues + c->unknown_first;
  double largest = 0, nearest = HUGE_VAL;
  for (int k = 0; k < c->order; k++) {
    largest = fmax(largest, fabs(values[k]));
    if (fabs(values[k]) < fabs(nearest)) nearest = values[k];
  }
  if (fabs(nearest) < fabs(*smallest)) *smallest = nearest;
  c->factor = FACTOR_SPECTRAL;
  return fabs(nearest) > SINGULAR_RATIO * largest;
}

bool block_solver_factor_component_indefinite(BlockSolver* s, int component, double* smallest) {
  assert(smallest);
  block_find_components(s);
  Component* c = &s->components[component];
  c->factor = FACTOR_NONE;
  return c->plan < 0 && c->order <= SPECTRAL_MAX_ORDER ? factor_small_indefinite(s, c, smallest)
                                                       : factor_large_indefinite(s, c, smallest);
}
