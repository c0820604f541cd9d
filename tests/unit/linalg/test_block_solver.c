/* Tests the block solver, dense and sparse, against LAPACK on the full matrix: solutions, constraints, matrices that
 * are not positive definite, and growth of the pattern. */
#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

#include "support/compare.h"

typedef struct {
  int blocks, order;
  int *size, *first;
  uint64_t* couplings;
  int coupling_count;
  double* full; /* symmetric, row-major (order x order) */
} System;

/* A chain of blocks with a few random couplings; positive definite by its diagonal. */
static System system_create(Random* random, int blocks, int largest, int extra, double shift) {
  System s = {.blocks = blocks, .size = MEMORY_NEW(int, blocks), .first = MEMORY_NEW(int, blocks + 1)};
  for (int k = 0; k < blocks; k++) {
    s.size[k] = 1 + (int)random_uniform(random, 0, largest);
    s.first[k + 1] = s.first[k] + s.size[k];
  }
  s.order = s.first[blocks];
  bool* used = MEMORY_NEW(bool, blocks* blocks);
  for (int k = 0; k + 1 < blocks; k++) used[k * blocks + k + 1] = true;
  for (int k = 0; k < extra; k++) {
    int a = (int)random_uniform(random, 0, blocks), b = (int)random_uniform(random, 0, blocks);
    if (a != b) used[(a < b ? a : b) * blocks + (a < b ? b : a)] = true;
  }
  s.couplings = MEMORY_NEW(uint64_t, blocks * blocks);
  for (int a = 0; a < blocks; a++)
    for (int b = a + 1; b < blocks; b++)
      if (used[a * blocks + b]) s.couplings[s.coupling_count++] = (uint64_t)a << 32 | (uint32_t)b;
  s.full = MEMORY_NEW(double, s.order* s.order);
  for (int a = 0; a < blocks; a++)
    for (int b = a; b < blocks; b++) {
      if (a != b && !used[a * blocks + b]) continue;
      for (int r = s.first[a]; r < s.first[a + 1]; r++)
        for (int c = s.first[b]; c < s.first[b + 1]; c++) {
          if (c < r) continue;
          s.full[r * s.order + c] = s.full[c * s.order + r] = random_normal(random) + (r == c ? shift : 0);
        }
    }
  memory_free(used);
  return s;
}

static void system_free(System* s) {
  memory_free(s->size);
  memory_free(s->first);
  memory_free(s->couplings);
  memory_free(s->full);
}

/* Fills the entries that the solver reads: upper blocks, and in diagonal blocks c >= r. All other entries get random
 * values. */
static void fill(BlockSolver* solver, const System* s) {
  block_solver_clear(solver);
  for (int a = 0; a < s->blocks; a++)
    for (int b = a; b < s->blocks; b++) {
      uint64_t key = (uint64_t)a << 32 | (uint32_t)b;
      bool there = a == b;
      for (int k = 0; k < s->coupling_count; k++) there = there || s->couplings[k] == key;
      if (!there) continue;
      int stride;
      double* block = block_solver_block(solver, a, b, &stride);
      assert_non_null(block);
      for (int r = 0; r < s->size[a]; r++)
        for (int c = 0; c < s->size[b]; c++) {
          if (a == b && c < r) continue;
          block[r * stride + c] += s->full[(s->first[a] + r) * s->order + s->first[b] + c];
        }
    }
}

static BlockSolver* prepared(const System* s) {
  BlockSolver* solver = block_solver_create(s->blocks, s->size);
  assert_int_equal(block_solver_order(solver), s->order);
  block_solver_pattern(solver, s->couplings, s->coupling_count);
  fill(solver, s);
  return solver;
}

/* x with full x = b by LAPACK's general elimination. */
static void reference_solve(const double* full, int n, const double* b, double* x) {
  double* copy = MEMORY_NEW(double, n* n);
  lapack_int* pivot = memory_alloc(sizeof(lapack_int) * (size_t)(n + 1));
  memcpy(copy, full, sizeof(double) * (size_t)n * (size_t)n);
  memcpy(x, b, sizeof(double) * (size_t)n);
  assert_int_equal(LAPACKE_dgesv(LAPACK_COL_MAJOR, n, 1, copy, n, pivot, x, n), 0); /* symmetric: either order */
  memory_free(copy);
  memory_free(pivot);
}

static void random_vector(Random* random, double* x, int n) {
  for (int k = 0; k < n; k++) x[k] = random_normal(random);
}

typedef struct {
  int blocks, largest, extra;
  bool sparse;
} Shape;
/* the last ones are large and loosely coupled: fronts, ordered by minimum degree and by nested dissection */
static const Shape shapes[] = {{1, 6, 0, false},   {3, 6, 2, false},  {12, 6, 20, false}, {30, 6, 400, false},
                               {120, 6, 10, true}, {60, 20, 5, true}, {400, 4, 300, true}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void solver_agrees_with_lapack(void** state) {
  (void)state;
  Random random = {91};
  for (int k = 0; k < SHAPES; k++) {
    System s = system_create(&random, shapes[k].blocks, shapes[k].largest, shapes[k].extra, 60);
    BlockSolver* solver = prepared(&s);
    if (block_solver_is_sparse(solver) != shapes[k].sparse)
      fail_msg("seed 91, shape %d of order %d: sparse %d, wanted %d", k, s.order, block_solver_is_sparse(solver),
               shapes[k].sparse);
    double *b = MEMORY_NEW(double, s.order), *x = MEMORY_NEW(double, s.order), *wanted = MEMORY_NEW(double, s.order);
    assert_true(block_solver_factor(solver));
    for (int trial = 0; trial < 3; trial++) { /* one factorisation serves many right-hand sides */
      random_vector(&random, b, s.order);
      reference_solve(s.full, s.order, b, wanted);
      memcpy(x, b, sizeof(double) * (size_t)s.order);
      block_solver_solve(solver, x);
      compare_arrays(x, wanted, s.order, 1e-11, "seed 91, shape %d of order %d", k, s.order);
    }
    /* the same numbers once more: same bits */
    memcpy(wanted, x, sizeof(double) * (size_t)s.order);
    fill(solver, &s);
    assert_true(block_solver_factor(solver));
    memcpy(x, b, sizeof(double) * (size_t)s.order);
    block_solver_solve(solver, x);
    compare_bytes(x, wanted, sizeof(double) * (size_t)s.order, "shape %d: repeated solve", k);
    memory_free(b);
    memory_free(x);
    memory_free(wanted);
    block_solver_destroy(solver);
    system_free(&s);
  }
}

/* Unknowns are fixed at values. The reference eliminates them from the full system. */
static void solver_constrains_unknowns(void** state) {
  (void)state;
  Random random = {92};
  for (int k = 0; k < SHAPES; k++) {
    System s = system_create(&random, shapes[k].blocks, shapes[k].largest, shapes[k].extra, 60);
    BlockSolver* solver = prepared(&s);
    int n = s.order;
    double *b = MEMORY_NEW(double, n), *value = MEMORY_NEW(double, n), *x = MEMORY_NEW(double, n),
           *wanted = MEMORY_NEW(double, n), *full = MEMORY_NEW(double, n*n);
    bool* fixed = MEMORY_NEW(bool, n);
    random_vector(&random, b, n);
    random_vector(&random, value, n);
    for (int i = 0; i < n; i++) fixed[i] = random_uniform(&random, 0, 1) < 0.3;
    memcpy(full, s.full, sizeof(double) * (size_t)n * (size_t)n);
    memcpy(wanted, b, sizeof(double) * (size_t)n);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        if (!fixed[i] && fixed[j]) wanted[i] -= s.full[i * n + j] * value[j];
    for (int i = 0; i < n; i++) {
      if (fixed[i]) wanted[i] = value[i];
      for (int j = 0; j < n; j++)
        if (fixed[i] || fixed[j]) full[i * n + j] = i == j;
    }
    double* rhs = MEMORY_NEW(double, n);
    memcpy(rhs, wanted, sizeof(double) * (size_t)n);
    reference_solve(full, n, rhs, wanted);
    memcpy(x, b, sizeof(double) * (size_t)n);
    block_solver_constrain(solver, fixed, value, x);
    assert_true(block_solver_factor(solver));
    block_solver_solve(solver, x);
    compare_arrays(x, wanted, n, 1e-11, "seed 92, shape %d of order %d", k, n);
    for (int i = 0; i < n; i++)
      if (fixed[i]) compare_near(x[i], value[i], 1e-15 * fabs(value[i]), "seed 92, shape %d: held unknown %d", k, i);
    memory_free(b);
    memory_free(value);
    memory_free(x);
    memory_free(wanted);
    memory_free(full);
    memory_free(fixed);
    memory_free(rhs);
    block_solver_destroy(solver);
    system_free(&s);
  }
}

/* Each component by Cholesky's method, or lifted where that fails. */
static bool factor_lifted(BlockSolver* solver, double floor) {
  for (int k = 0; k < block_solver_component_count(solver); k++)
    if (!block_solver_factor_component(solver, k) && !block_solver_factor_component_modified(solver, k, floor))
      return false;
  return true;
}

/* An indefinite matrix is refused; the lifted factorisation then gives a descent direction; afterwards a definite one
 * is factored as if nothing had been. */
static void solver_lifts_what_is_not_definite(void** state) {
  (void)state;
  Random random = {93};
  for (int k = 0; k < SHAPES; k++) {
    System s = system_create(&random, shapes[k].blocks, shapes[k].largest, shapes[k].extra, 0);
    s.full[0] = -3; /* surely indefinite */
    BlockSolver* solver = prepared(&s);
    double *g = MEMORY_NEW(double, s.order), *x = MEMORY_NEW(double, s.order), *wanted = MEMORY_NEW(double, s.order),
           slope = 0;
    assert_false(block_solver_factor(solver));
    assert_true(factor_lifted(solver, 1e-3));
    random_vector(&random, g, s.order);
    memcpy(x, g, sizeof(double) * (size_t)s.order);
    block_solver_solve(solver, x);
    for (int i = 0; i < s.order; i++) slope += g[i] * x[i];
    if (!(slope > 0)) fail_msg("seed 93, shape %d: g . H^-1 g = %g after lifting", k, slope);
    for (int i = 0; i < s.order; i++) s.full[i * s.order + i] += 80;
    fill(solver, &s);
    assert_true(block_solver_factor(solver));
    reference_solve(s.full, s.order, g, wanted);
    memcpy(x, g, sizeof(double) * (size_t)s.order);
    block_solver_solve(solver, x);
    compare_arrays(x, wanted, s.order, 1e-11, "seed 93, shape %d: after a lifted one", k);
    memory_free(g);
    memory_free(x);
    memory_free(wanted);
    block_solver_destroy(solver);
    system_free(&s);
  }
}

/* Dense lifting, against the definition: eigenvalues |l| and at least the floor, eigenvectors kept. */
static void solver_lifts_eigenvalues(void** state) {
  (void)state;
  Random random = {94};
  System s = system_create(&random, 4, 5, 6, 0);
  int n = s.order;
  s.full[0] = -2;
  double floor = 0.5;
  BlockSolver* solver = prepared(&s);
  assert_true(factor_lifted(solver, floor));
  double *v = MEMORY_NEW(double, n*n), *l = MEMORY_NEW(double, n), *b = MEMORY_NEW(double, n),
         *x = MEMORY_NEW(double, n), *wanted = MEMORY_NEW(double, n);
  memcpy(v, s.full, sizeof(double) * (size_t)n * (size_t)n);
  assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', n, v, n, l), 0);
  random_vector(&random, b, n);
  for (int e = 0; e < n; e++) {
    double along = 0;
    for (int i = 0; i < n; i++) along += v[e * n + i] * b[i];
    for (int i = 0; i < n; i++) wanted[i] += v[e * n + i] * along / fmax(fabs(l[e]), floor);
  }
  memcpy(x, b, sizeof(double) * (size_t)n);
  block_solver_solve(solver, x);
  compare_arrays(x, wanted, n, 1e-12, "seed 94: lifted solve");
  memory_free(v);
  memory_free(l);
  memory_free(b);
  memory_free(x);
  memory_free(wanted);
  block_solver_destroy(solver);
  system_free(&s);
}

static void solver_refuses_numbers_that_are_not(void** state) {
  (void)state;
  Random random = {95};
  for (int k = 0; k < SHAPES; k++) {
    System s = system_create(&random, shapes[k].blocks, shapes[k].largest, shapes[k].extra, 60);
    s.full[0] = NAN;
    BlockSolver* solver = prepared(&s);
    bool factored = block_solver_factor(solver);
    if (factored) { /* CHOLMOD may not notice: then the solution must show it */
      double* x = MEMORY_NEW(double, s.order);
      x[0] = 1;
      block_solver_solve(solver, x);
      if (isfinite(x[0])) fail_msg("seed 95, shape %d: a finite solution %g of a matrix with a NaN", k, x[0]);
      memory_free(x);
    }
    block_solver_destroy(solver);
    system_free(&s);
  }
}

/* A wider pattern than needed only costs time; a new pattern replaces the old one. */
static void solver_takes_a_new_pattern(void** state) {
  (void)state;
  Random random = {96};
  for (int k = 0; k < SHAPES; k++) {
    System s = system_create(&random, shapes[k].blocks, shapes[k].largest, shapes[k].extra, 60), narrow = s;
    BlockSolver* solver = block_solver_create(s.blocks, s.size);
    narrow.coupling_count = 0;
    double *full = MEMORY_NEW(double, s.order*s.order), *b = MEMORY_NEW(double, s.order),
           *x = MEMORY_NEW(double, s.order), *wanted = MEMORY_NEW(double, s.order);
    random_vector(&random, b, s.order);
    for (int round = 0; round < 4; round++) {
      bool wide = round % 2 == 1;
      block_solver_pattern(solver, s.couplings, wide ? s.coupling_count : 0);
      fill(solver, wide ? &s : &narrow);
      memcpy(full, s.full, sizeof(double) * (size_t)s.order * (size_t)s.order);
      for (int i = 0; i < s.blocks && !wide; i++)
        for (int r = s.first[i]; r < s.first[i + 1]; r++)
          for (int c = 0; c < s.order; c++)
            if (c < s.first[i] || c >= s.first[i + 1]) full[r * s.order + c] = 0;
      assert_true(block_solver_factor(solver));
      reference_solve(full, s.order, b, wanted);
      memcpy(x, b, sizeof(double) * (size_t)s.order);
      block_solver_solve(solver, x);
      compare_arrays(x, wanted, s.order, 1e-11, "seed 96, shape %d, round %d", k, round);
    }
    memory_free(full);
    memory_free(b);
    memory_free(x);
    memory_free(wanted);
    block_solver_destroy(solver);
    system_free(&s);
  }
}

/* Filling, factorizing and solving with an unchanged pattern allocate nothing. */
static void solver_does_not_allocate_after_the_first_time(void** state) {
  (void)state;
  Random random = {97};
  for (int k = 0; k < SHAPES; k++) {
    System s = system_create(&random, shapes[k].blocks, shapes[k].largest, shapes[k].extra, 60);
    BlockSolver* solver = prepared(&s);
    double* x = MEMORY_NEW(double, s.order);
    assert_true(block_solver_factor(solver));
    uint64_t before = memory_allocation_count();
    for (int round = 0; round < 3; round++) {
      fill(solver, &s);
      assert_true(block_solver_factor(solver));
      block_solver_solve(solver, x);
    }
    assert_int_equal(memory_allocation_count() - before, 0);
    memory_free(x);
    block_solver_destroy(solver);
    system_free(&s);
  }
}

/* ---------------------------------------------------------------- products and indefinite matrices */

static void solver_multiplies(void** state) {
  (void)state;
  Random random = {97};
  for (int k = 0; k < SHAPES; k++) {
    System s = system_create(&random, shapes[k].blocks, shapes[k].largest, shapes[k].extra, 5);
    BlockSolver* solver = prepared(&s);
    double *x = MEMORY_NEW(double, s.order), *y = MEMORY_NEW(double, s.order), *wanted = MEMORY_NEW(double, s.order);
    random_vector(&random, x, s.order);
    for (int i = 0; i < s.order; i++)
      for (int j = 0; j < s.order; j++) wanted[i] += s.full[i * s.order + j] * x[j];
    block_solver_multiply(solver, x, y);
    compare_arrays(y, wanted, s.order, 1e-13, "seed 97, shape %d", k);
    memory_free(x);
    memory_free(y);
    memory_free(wanted);
    block_solver_destroy(solver);
    system_free(&s);
  }
}

/* Eigenvalue of the full matrix nearest to zero. */
static double nearest_eigenvalue(const System* s) {
  size_t n = (size_t)s->order;
  double *copy = MEMORY_NEW(double, n*n), *values = MEMORY_NEW(double, n), nearest = HUGE_VAL;
  memcpy(copy, s->full, sizeof(double) * n * n);
  assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', s->order, copy, s->order, values), 0);
  for (size_t k = 0; k < n; k++)
    if (fabs(values[k]) < fabs(nearest)) nearest = values[k];
  memory_free(copy);
  memory_free(values);
  return nearest;
}

static void solver_factors_indefinite_matrices_as_they_are(void** state) {
  (void)state;
  Random random = {98};
  for (int k = 0; k < SHAPES; k++) {
    System s = system_create(&random, shapes[k].blocks, shapes[k].largest, shapes[k].extra, 0.3);
    BlockSolver* solver = prepared(&s);
    if (s.order > 3) assert_false(block_solver_factor(solver));
    fill(solver, &s);
    double *b = MEMORY_NEW(double, s.order), *x = MEMORY_NEW(double, s.order), *back = MEMORY_NEW(double, s.order);
    double smallest, nearest = nearest_eigenvalue(&s);
    assert_true(block_solver_factor_indefinite(solver, &smallest));
    compare_near(smallest, nearest, 1e-12 * s.order, "seed 98, shape %d: eigenvalue nearest to zero", k);
    random_vector(&random, b, s.order);
    memcpy(x, b, sizeof(double) * (size_t)s.order);
    block_solver_solve(solver, x);
    for (int i = 0; i < s.order; i++)
      for (int j = 0; j < s.order; j++) back[i] += s.full[i * s.order + j] * x[j];
    compare_arrays(back, b, s.order, 1e-12 * s.order / fabs(nearest), "seed 98, shape %d: H (H^-1 b)", k);
    memory_free(b);
    memory_free(x);
    memory_free(back);
    block_solver_destroy(solver);
    system_free(&s);
  }
}

/* Two equal rows and columns; and a matrix with a number that is none. */
static void solver_tells_singular_matrices(void** state) {
  (void)state;
  Random random = {99};
  for (int k = 1; k < SHAPES; k++) {
    System s = system_create(&random, shapes[k].blocks, shapes[k].largest, shapes[k].extra, 1);
    int n = s.order, last = n - 1;
    for (int j = 0; j < n; j++) s.full[last * n + j] = s.full[j * n + last] = 0;
    BlockSolver* solver = prepared(&s);
    double smallest = 1;
    assert_false(block_solver_factor_indefinite(solver, &smallest));
    compare_near(smallest, 0, 1e-13, "seed 99, shape %d", k);
    s.full[0] = NAN;
    fill(solver, &s);
    assert_false(block_solver_factor_indefinite(solver, &smallest));
    block_solver_destroy(solver);
    system_free(&s);
  }
}

/* Two chains of hubs. Leaves with zero diagonal (constraints) couple with one hub each. A leaf that is eliminated first
 * has no pivot, so the pivot must be chosen among all rows. */
static System constrained_chain(Random* random, int hubs) {
  System s = system_create(random, 5 * hubs, 1, 0, 0);
  s.coupling_count = 0;
  memory_free(s.full);
  s.order = 0;
  for (int k = 0; k < s.blocks; k++) {
    s.size[k] = k % 5 == 0 ? 6 : 1;
    s.first[k] = s.order;
    s.order += s.size[k];
  }
  s.first[s.blocks] = s.order;
  s.full = MEMORY_NEW(double, s.order* s.order);
  for (int a = 0; a < s.blocks; a++)
    for (int b = a; b < s.blocks; b++) {
      bool hub = a % 5 == 0, coupled = hub && ((b > a && b < a + 5) || (b == a + 5 && b != 5 * (hubs / 2)));
      if (coupled) s.couplings[s.coupling_count++] = (uint64_t)a << 32 | (uint32_t)b;
      if (!coupled && !(a == b && hub)) continue;
      for (int i = s.first[a]; i < s.first[a + 1]; i++)
        for (int j = s.first[b]; j < s.first[b + 1]; j++)
          s.full[i * s.order + j] = s.full[j * s.order + i] = random_normal(random);
    }
  return s;
}

static void solver_finds_pivots_elsewhere(void** state) {
  (void)state;
  Random random = {100};
  System s = constrained_chain(&random, 40);
  int n = s.order;
  BlockSolver* solver = prepared(&s);
  double *b = MEMORY_NEW(double, n), *x = MEMORY_NEW(double, n), *wanted = MEMORY_NEW(double, n), smallest = HUGE_VAL;
  random_vector(&random, b, n);
  reference_solve(s.full, n, b, wanted);
  assert_true(block_solver_is_sparse(solver));
  assert_true(block_solver_factor_indefinite(solver, &smallest));
  memcpy(x, b, sizeof(double) * (size_t)n);
  block_solver_solve(solver, x);
  double scale = 0;
  for (int i = 0; i < n; i++) scale = fmax(scale, fabs(wanted[i]));
  for (int i = 0; i < n; i++) compare_near(x[i], wanted[i], 1e-10 * scale, "seed 100, unknown %d", i);
  assert_int_equal(block_solver_component_count(solver), 2);
  memcpy(wanted, x, sizeof(double) * (size_t)n); /* once more: same bits */
  fill(solver, &s);
  assert_true(block_solver_is_sparse(solver));
  assert_true(block_solver_factor_indefinite(solver, &smallest));
  memcpy(x, b, sizeof(double) * (size_t)n);
  block_solver_solve(solver, x);
  compare_bytes(x, wanted, sizeof(double) * (size_t)n, "seed 100: repeated");
  memory_free(b);
  memory_free(x);
  memory_free(wanted);
  block_solver_destroy(solver);
  system_free(&s);
}

/* ---------------------------------------------------------------- components */

/* Returns the subsystem of the couplings in `keep` as a full system. */
static System thinned(Random* random, const System* whole, double keep) {
  System s = *whole;
  s.size = MEMORY_NEW(int, s.blocks);
  s.first = MEMORY_NEW(int, s.blocks + 1);
  s.couplings = MEMORY_NEW(uint64_t, whole->coupling_count + 1);
  s.full = MEMORY_NEW(double, s.order* s.order);
  memcpy(s.size, whole->size, sizeof(int) * (size_t)s.blocks);
  memcpy(s.first, whole->first, sizeof(int) * (size_t)(s.blocks + 1));
  s.coupling_count = 0;
  for (int k = 0; k < whole->coupling_count + s.blocks; k++) {
    bool diagonal = k < s.blocks;
    uint64_t key = diagonal ? (uint64_t)k << 32 | (uint32_t)k : whole->couplings[k - s.blocks];
    if (!diagonal && random_uniform(random, 0, 1) > keep) continue;
    if (!diagonal) s.couplings[s.coupling_count++] = key;
    int a = (int)(key >> 32), b = (int)(key & 0xffffffffu);
    for (int i = s.first[a]; i < s.first[a + 1]; i++)
      for (int j = s.first[b]; j < s.first[b + 1]; j++)
        s.full[i * s.order + j] = s.full[j * s.order + i] = whole->full[i * s.order + j];
  }
  return s;
}

/* label of every block: the smallest that it hangs together with, by walking until nothing changes */
static void label_blocks(const System* s, int* label) {
  for (int k = 0; k < s->blocks; k++) label[k] = k;
  for (bool changed = true; changed;) {
    changed = false;
    for (int k = 0; k < s->coupling_count; k++) {
      int *a = &label[s->couplings[k] >> 32], *b = &label[s->couplings[k] & 0xffffffffu];
      if (*a == *b) continue;
      *a = *b = *a < *b ? *a : *b;
      changed = true;
    }
  }
}

/* Components follow the filled entries, not the pattern. Each component is solved independently and compared with
 * LAPACK. */
static void components_are_those_of_what_is_filled(void** state) {
  (void)state;
  Random random = {331};
  for (int k = 1; k < SHAPES; k++)
    for (int round = 0; round < 4; round++) {
      System whole = system_create(&random, shapes[k].blocks, shapes[k].largest, shapes[k].extra, 60);
      System s = thinned(&random, &whole, 0.3 * round);
      BlockSolver* solver = block_solver_create(s.blocks, s.size);
      block_solver_pattern(solver, whole.couplings, whole.coupling_count);
      fill(solver, &s);
      int *label = MEMORY_NEW(int, s.blocks), count = 0;
      label_blocks(&s, label);
      for (int a = 0; a < s.blocks; a++) {
        if (label[a] == a) label[a] = -1 - count++; /* numbered in the order of their smallest blocks */
        int wanted = -1 - label[label[a] < 0 ? a : label[a]];
        if (block_solver_component_of(solver, a) != wanted)
          fail_msg("seed 331, shape %d, round %d: block %d is in component %d, wanted %d", k, round, a,
                   block_solver_component_of(solver, a), wanted);
      }
      assert_int_equal(block_solver_component_count(solver), count);
      double *b = MEMORY_NEW(double, s.order), *x = MEMORY_NEW(double, s.order), *wanted = MEMORY_NEW(double, s.order);
      random_vector(&random, b, s.order);
      reference_solve(s.full, s.order, b, wanted);
      memcpy(x, b, sizeof(double) * (size_t)s.order);
      int half = count / 2;
      for (int c = half; c < count; c++) {
        assert_true(block_solver_factor_component(solver, c));
        block_solver_solve_component(solver, c, x);
      }
      for (int a = 0; a < s.blocks; a++)
        for (int i = s.first[a]; i < s.first[a + 1]; i++) {
          bool solved = block_solver_component_of(solver, a) >= half;
          compare_near(x[i], solved ? wanted[i] : b[i], solved ? 1e-11 : 0, "seed 331, shape %d, round %d", k, round);
        }
      memory_free(label);
      memory_free(b);
      memory_free(x);
      memory_free(wanted);
      block_solver_destroy(solver);
      system_free(&s);
      system_free(&whole);
    }
}

/* Four columns at once are solved to the bits of one after the other, by whatever factor; those not wanted stay zero.
 */
static void four_columns_are_solved_as_one(void** state) {
  (void)state;
  enum { STRIDE = 7, FIRST = 2 }; /* four of seven columns */
  Random random = {335};
  for (int k = 1; k < SHAPES; k++)
    for (int round = 0; round < 4; round++) {
      System whole = system_create(&random, shapes[k].blocks, shapes[k].largest, shapes[k].extra, 60);
      System s = thinned(&random, &whole, 0.3 * round);
      BlockSolver* solver = prepared(&s);
      int count = block_solver_component_count(solver), n = s.order;
      unsigned wanted = 1U << round | 1U << (round + 1) % 4;
      double *four = MEMORY_NEW(double, n*STRIDE), *x = MEMORY_NEW(double, n), smallest = HUGE_VAL;
      for (int c = 0; c < count; c++) {
        if (c % 3 == 0) assert_true(block_solver_factor_component(solver, c));
        if (c % 3 == 1) assert_true(block_solver_factor_component_modified(solver, c, 1e-3));
        if (c % 3 == 2) assert_true(block_solver_factor_component_indefinite(solver, c, &smallest));
      }
      for (int i = 0; i < n * STRIDE; i++) {
        int column = i % STRIDE - FIRST;
        bool other = column < 0 || column >= 4;
        four[i] = other ? 7 : wanted >> column & 1 ? random_uniform(&random, -1, 1) : 0;
      }
      double* before = MEMORY_NEW(double, n* STRIDE);
      memcpy(before, four, sizeof(double) * (size_t)n * STRIDE);
      for (int c = 0; c < count; c++) block_solver_solve_four(solver, c, wanted, four + FIRST, STRIDE);
      for (int column = 0; column < STRIDE; column++) {
        bool solved = column >= FIRST && column < FIRST + 4 && wanted >> (column - FIRST) & 1;
        for (int i = 0; i < n; i++) x[i] = before[i * STRIDE + column];
        for (int c = 0; c < count && solved; c++) block_solver_solve_component(solver, c, x);
        for (int i = 0; i < n; i++)
          compare_bytes(&four[i * STRIDE + column], &x[i], sizeof(double), "seed 335, shape %d, round %d, column %d", k,
                        round, column);
      }
      memory_free(before);
      memory_free(four);
      memory_free(x);
      block_solver_destroy(solver);
      system_free(&s);
      system_free(&whole);
    }
}

/* Indefinite components do not touch the definite ones. */
static void components_are_lifted_alone(void** state) {
  (void)state;
  Random random = {332};
  System whole = system_create(&random, 80, 6, 60, 40), s = thinned(&random, &whole, 0.4);
  BlockSolver *solver = prepared(&s), *bad;
  int count = block_solver_component_count(solver), n = s.order, refused = 0;
  double *b = MEMORY_NEW(double, n), *x = MEMORY_NEW(double, n), *y = MEMORY_NEW(double, n);
  random_vector(&random, b, n);
  memcpy(x, b, sizeof(double) * (size_t)n);
  memcpy(y, b, sizeof(double) * (size_t)n);
  assert_true(block_solver_factor(solver));
  block_solver_solve(solver, x);
  int first = s.first[40];
  s.full[first * n + first] = -3;
  bad = prepared(&s);
  assert_false(block_solver_factor(bad));
  for (int c = 0; c < count; c++) {
    bool definite = block_solver_factor_component(bad, c);
    refused += !definite;
    assert_int_equal(definite, c != block_solver_component_of(bad, 40));
    if (!definite) assert_true(block_solver_factor_component_modified(bad, c, 1e-3));
    block_solver_solve_component(bad, c, y);
  }
  assert_int_equal(refused, 1);
  for (int a = 0; a < s.blocks; a++)
    if (block_solver_component_of(bad, a) != block_solver_component_of(bad, 40))
      compare_bytes(y + s.first[a], x + s.first[a], sizeof(double) * (size_t)s.size[a], "block %d", a);
  memcpy(y, b, sizeof(double) * (size_t)n); /* the whole at once does the same */
  assert_true(factor_lifted(bad, 1e-3));
  block_solver_solve(bad, y);
  double slope = 0;
  for (int i = 0; i < n; i++) slope += y[i] * b[i];
  assert_true(slope > 0);
  memory_free(b);
  memory_free(x);
  memory_free(y);
  block_solver_destroy(solver);
  block_solver_destroy(bad);
  system_free(&s);
  system_free(&whole);
}

/* The same bits, whatever the solver solved before and whatever else the pattern allows. */
static void solutions_do_not_depend_on_the_past(void** state) {
  (void)state;
  Random random = {333};
  for (int k = 1; k < SHAPES; k++) {
    System whole = system_create(&random, shapes[k].blocks, shapes[k].largest, shapes[k].extra, 60);
    BlockSolver* old = block_solver_create(whole.blocks, whole.size);
    block_solver_pattern(old, whole.couplings, whole.coupling_count);
    double *b = MEMORY_NEW(double, whole.order), *x = MEMORY_NEW(double, whole.order),
           *wanted = MEMORY_NEW(double, whole.order);
    random_vector(&random, b, whole.order);
    for (int round = 0; round < 5; round++) {
      System s = thinned(&random, &whole, round == 3 ? 1 : 0.9);
      BlockSolver* fresh = prepared(&s);
      fill(old, &s);
      assert_true(block_solver_factor(fresh));
      assert_true(block_solver_factor(old));
      memcpy(x, b, sizeof(double) * (size_t)s.order);
      memcpy(wanted, b, sizeof(double) * (size_t)s.order);
      block_solver_solve(old, x);
      block_solver_solve(fresh, wanted);
      compare_bytes(x, wanted, sizeof(double) * (size_t)s.order, "seed 333, shape %d, round %d", k, round);
      block_solver_destroy(fresh);
      system_free(&s);
    }
    memory_free(b);
    memory_free(x);
    memory_free(wanted);
    block_solver_destroy(old);
    system_free(&whole);
  }
}

/* Stored elimination orders give right, bit-identical solutions, independently of earlier systems and orders. */
static void held_orders_do_not_depend_on_what_was_before(void** state) {
  (void)state;
  Random random = {334};
  for (int k = 1; k < SHAPES; k++) {
    System whole = system_create(&random, shapes[k].blocks, shapes[k].largest, shapes[k].extra, 60);
    BlockSolver* old = prepared(&whole);
    size_t bytes = sizeof(double) * (size_t)whole.order;
    double *b = MEMORY_NEW(double, whole.order), *x = MEMORY_NEW(double, whole.order),
           *wanted = MEMORY_NEW(double, whole.order);
    random_vector(&random, b, whole.order);
    for (int hold = 0; hold < 3; hold++) {
      BlockSolver* fresh = block_solver_create(whole.blocks, whole.size);
      block_solver_pattern(fresh, whole.couplings, whole.coupling_count);
      block_solver_keep_orders(old);
      block_solver_keep_orders(fresh);
      for (int round = 0; round < 4; round++) { /* the whole makes one of the components that the others fell into */
        System s = thinned(&random, &whole, round == 2 ? 1 : round == 3 ? 0.995 : 0.98);
        fill(old, &s);
        fill(fresh, &s);
        assert_true(block_solver_factor(fresh));
        assert_true(block_solver_factor(old));
        memcpy(x, b, bytes);
        block_solver_solve(old, x);
        memcpy(wanted, b, bytes);
        block_solver_solve(fresh, wanted);
        compare_bytes(x, wanted, bytes, "seed 334, shape %d, held %d, round %d", k, hold, round);
        reference_solve(s.full, s.order, b, wanted);
        compare_arrays(x, wanted, s.order, 1e-11, "seed 334, shape %d, held %d, round %d", k, hold, round);
        system_free(&s);
      }
      block_solver_destroy(fresh);
    }
    memory_free(b);
    memory_free(x);
    memory_free(wanted);
    block_solver_destroy(old);
    system_free(&whole);
  }
}

/* One solver takes matrices of many shapes in turn. Its results are bit-identical to those of a new solver for each
 * shape. */
static void solver_takes_another_shape(void** state) {
  (void)state;
  enum { MOST = 40, LARGEST = 6 };
  Random random = {20261126};
  int sizes[MOST];
  for (int k = 0; k < MOST; k++) sizes[k] = LARGEST;
  BlockSolver* room = block_solver_create(MOST, sizes);
  for (int n = 0; n < 40; n++) {
    int blocks = 1 + (int)random_uniform(&random, 0, MOST);
    System s = system_create(&random, blocks, LARGEST, blocks / 2, 40);
    BlockSolver* own = block_solver_create(s.blocks, s.size);
    double *x = MEMORY_NEW(double, s.order), *y = MEMORY_NEW(double, s.order);
    random_vector(&random, x, s.order);
    memcpy(y, x, sizeof(double) * (size_t)s.order);
    block_solver_reshape(room, s.blocks, s.size);
    assert_int_equal(block_solver_order(room), s.order);
    BlockSolver* const both[] = {own, room};
    double* const solutions[] = {x, y};
    for (int k = 0; k < 2; k++) {
      block_solver_pattern(both[k], s.couplings, s.coupling_count);
      fill(both[k], &s);
      assert_true(block_solver_factor(both[k]));
      block_solver_solve(both[k], solutions[k]);
    }
    assert_memory_equal(x, y, sizeof(double) * (size_t)s.order);
    memory_free(x);
    memory_free(y);
    block_solver_destroy(own);
    system_free(&s);
  }
  block_solver_destroy(room);
}

static void solver_of_order_zero(void** state) {
  (void)state;
  const int sizes[2] = {0, 0};
  for (int blocks = 0; blocks <= 2; blocks++) {
    BlockSolver* solver = block_solver_create(blocks, sizes);
    block_solver_pattern(solver, NULL, 0);
    block_solver_clear(solver);
    assert_int_equal(block_solver_order(solver), 0);
    assert_true(block_solver_factor(solver));
    block_solver_solve(solver, NULL);
    block_solver_destroy(solver);
  }
  block_solver_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solver_agrees_with_lapack),
      cmocka_unit_test(solver_constrains_unknowns),
      cmocka_unit_test(solver_lifts_what_is_not_definite),
      cmocka_unit_test(solver_lifts_eigenvalues),
      cmocka_unit_test(solver_refuses_numbers_that_are_not),
      cmocka_unit_test(solver_takes_a_new_pattern),
      cmocka_unit_test(solver_does_not_allocate_after_the_first_time),
      cmocka_unit_test(solver_multiplies),
      cmocka_unit_test(solver_factors_indefinite_matrices_as_they_are),
      cmocka_unit_test(solver_tells_singular_matrices),
      cmocka_unit_test(solver_finds_pivots_elsewhere),
      cmocka_unit_test(components_are_those_of_what_is_filled),
      cmocka_unit_test(four_columns_are_solved_as_one),
      cmocka_unit_test(components_are_lifted_alone),
      cmocka_unit_test(solutions_do_not_depend_on_the_past),
      cmocka_unit_test(held_orders_do_not_depend_on_what_was_before),
      cmocka_unit_test(solver_takes_another_shape),
      cmocka_unit_test(solver_of_order_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
