/* Helpers of the optimizer tests: feasible sets and independent references by enumeration and by GLPK's multipliers. */
#ifndef SDRS_TESTS_OPTIMIZE_TESTING_H
#define SDRS_TESTS_OPTIMIZE_TESTING_H

#include <glpk.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "optimize/optimizer.h"
#include "support/compare.h"

enum { TEST_COUNT_MAX = 200, TEST_ROWS_MAX = 40 };

/* A set with its memory. Rows are dense here; zeros are left out of the set. */
typedef struct {
  FeasibleSet set;
  int block[TEST_COUNT_MAX];
  double low[TEST_COUNT_MAX], high[TEST_COUNT_MAX], row_low[TEST_ROWS_MAX], row_high[TEST_ROWS_MAX];
  double dense[TEST_ROWS_MAX][TEST_COUNT_MAX];
  int first[TEST_ROWS_MAX + 1], column[TEST_ROWS_MAX * TEST_COUNT_MAX];
  double coefficient[TEST_ROWS_MAX * TEST_COUNT_MAX];
} TestSet;

/* Zeroed, unbounded, everything in block 0. */
static inline TestSet* test_set_create(int count, int rows) {
  TestSet* t = memory_alloc(sizeof *t);
  assert_true(count <= TEST_COUNT_MAX && rows <= TEST_ROWS_MAX);
  t->set = (FeasibleSet){count,    t->block,  t->low,         t->high,    rows,
                         t->first, t->column, t->coefficient, t->row_low, t->row_high};
  for (int i = 0; i < count; i++) t->low[i] = -HUGE_VAL, t->high[i] = HUGE_VAL;
  for (int r = 0; r < rows; r++) t->row_low[r] = -HUGE_VAL, t->row_high[r] = HUGE_VAL;
  return t;
}

/* After `dense` was filled. */
static inline void test_set_pack(TestSet* t) {
  int next = 0;
  for (int r = 0; r < t->set.row_count; r++) {
    for (int i = 0; i < t->set.count; i++) {
      if (t->dense[r][i] == 0) continue;
      t->column[next] = i;
      t->coefficient[next++] = t->dense[r][i];
    }
    t->first[r + 1] = next;
  }
}

/* A set with a point in it: bounds of all kinds (none, one side, two, equal) around `inside`, rows of a few entries,
 * one in four an equation; blocks at random. */
static inline TestSet* test_set_random(Random* random, int count, int rows, double fill, double* inside) {
  TestSet* t = test_set_create(count, rows);
  for (int i = 0; i < count; i++) {
    inside[i] = random_uniform(random, -1, 1);
    t->block[i] = random_uniform(random, 0, 1) < 0.5;
    double kind = random_uniform(random, 0, 1);
    if (kind < 0.7) t->low[i] = inside[i] - random_uniform(random, 0, 1);
    if (kind > 0.2 && kind < 0.9) t->high[i] = inside[i] + random_uniform(random, 0, 1);
    if (kind > 0.45 && kind < 0.5) t->low[i] = t->high[i] = inside[i];
  }
  for (int r = 0; r < rows; r++) {
    double value = 0;
    for (int i = 0; i < count; i++) {
      if (random_uniform(random, 0, 1) > fill) continue;
      t->dense[r][i] = random_uniform(random, -2, 2);
      value += t->dense[r][i] * inside[i];
    }
    double kind = random_uniform(random, 0, 1);
    if (kind < 0.75) t->row_low[r] = value - random_uniform(random, 0, 0.5);
    if (kind > 0.4) t->row_high[r] = value + random_uniform(random, 0, 0.5);
    if (kind > 0.45 && kind < 0.7) t->row_low[r] = t->row_high[r] = value;
  }
  test_set_pack(t);
  return t;
}

static inline double test_row(const TestSet* t, int row, const double* x) {
  double sum = 0;
  for (int i = 0; i < t->set.count; i++) sum += t->dense[row][i] * x[i];
  return sum;
}

static inline double test_row_size(const TestSet* t, int row, const double* x) {
  double sum = 0;
  for (int i = 0; i < t->set.count; i++) sum += fabs(t->dense[row][i] * x[i]);
  return sum;
}

/* Bounds exactly, rows to `tolerance` of the sizes of their terms. */
static inline void test_expect_inside(const TestSet* t, const double* x, double tolerance, const char* what,
                                      int round) {
  for (int i = 0; i < t->set.count; i++)
    if (!(t->low[i] <= x[i] && x[i] <= t->high[i]))
      fail_msg("%s, round %d: x[%d] = %.17g is not in [%.17g, %.17g]", what, round, i, x[i], t->low[i], t->high[i]);
  for (int r = 0; r < t->set.row_count; r++) {
    double value = test_row(t, r, x), allowed = tolerance * (test_row_size(t, r, x) + 1e-3);
    compare_at_most(t->row_low[r] - value, allowed, "%s, round %d: row %d", what, round, r);
    compare_at_most(value - t->row_high[r], allowed, "%s, round %d: row %d", what, round, r);
  }
}

/* A linear program of the tests' own: min cost . x over the set; every entry also within [least, most] (NULL: no more
 * than the set). Returns false when GLPK finds none. */
static inline bool test_linear_program(const TestSet* t, const double* cost, const double* least, const double* most,
                                       double* x) {
  int count = t->set.count, rows = t->set.row_count;
  glp_term_out(GLP_OFF);
  glp_prob* lp = glp_create_prob();
  glp_add_cols(lp, count);
  if (rows > 0) glp_add_rows(lp, rows);
  for (int i = 0; i < count; i++) {
    double low = fmax(t->low[i], least ? least[i] : -HUGE_VAL), high = fmin(t->high[i], most ? most[i] : HUGE_VAL);
    int kind = isinf(low) ? (isinf(high) ? GLP_FR : GLP_UP) : isinf(high) ? GLP_LO : low == high ? GLP_FX : GLP_DB;
    glp_set_col_bnds(lp, i + 1, kind, low, high);
    glp_set_obj_coef(lp, i + 1, cost[i]);
  }
  for (int r = 0; r < rows; r++) {
    double low = t->row_low[r], high = t->row_high[r];
    int kind = isinf(low) ? (isinf(high) ? GLP_FR : GLP_UP) : isinf(high) ? GLP_LO : low == high ? GLP_FX : GLP_DB;
    glp_set_row_bnds(lp, r + 1, kind, low, high);
    int index[TEST_COUNT_MAX + 1], length = 0;
    double value[TEST_COUNT_MAX + 1];
    for (int i = 0; i < count; i++) {
      if (t->dense[r][i] == 0) continue;
      index[++length] = i + 1;
      value[length] = t->dense[r][i];
    }
    glp_set_mat_row(lp, r + 1, length, index, value);
  }
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.tol_bnd = 1e-10;
  options.tol_dj = 1e-10;
  bool found = glp_simplex(lp, &options) == 0 && glp_get_status(lp) == GLP_OPT;
  for (int i = 0; i < count && found; i++) x[i] = glp_get_col_prim(lp, i + 1);
  glp_delete_prob(lp);
  return found;
}

/* Columns of a fit  v ~ sum_k a_k column_k  with a_k >= 0 (or of any sign). */
typedef struct {
  int count; /* entries of v */
  int length;
  bool any_sign[3 * TEST_COUNT_MAX];
  double column[3 * TEST_COUNT_MAX][TEST_COUNT_MAX];
} TestCone;

static inline void test_cone_add(TestCone* cone, bool any_sign) {
  assert_true(cone->length < 3 * TEST_COUNT_MAX);
  cone->any_sign[cone->length++] = any_sign;
}

/* Adds the outward normals of the constraints active at x, within the absolute distance `near`. If x maximises v . x
 * over the set, v lies in their cone. */
static inline void test_cone_normals(TestCone* cone, const TestSet* t, const double* x, double near) {
  cone->count = t->set.count;
  for (int i = 0; i < t->set.count; i++) {
    bool at_low = x[i] - t->low[i] <= near, at_high = t->high[i] - x[i] <= near;
    if (!at_low && !at_high) continue;
    cone->column[cone->length][i] = at_high ? 1 : -1;
    test_cone_add(cone, at_low && at_high);
  }
  for (int r = 0; r < t->set.row_count; r++) {
    double value = test_row(t, r, x);
    bool at_low = value - t->row_low[r] <= near, at_high = t->row_high[r] - value <= near;
    if (!at_low && !at_high) continue;
    for (int i = 0; i < t->set.count; i++) cone->column[cone->length][i] = (at_high ? 1 : -1) * t->dense[r][i];
    test_cone_add(cone, at_low && at_high);
  }
}

/* The least possible largest entry of |v - sum_k a_k column_k|, by a linear program. */
static inline double test_cone_residual(const TestCone* cone, const double* v) {
  glp_term_out(GLP_OFF);
  glp_prob* lp = glp_create_prob();
  glp_add_cols(lp, cone->length + 1);
  glp_add_rows(lp, 2 * cone->count);
  for (int k = 0; k < cone->length; k++) glp_set_col_bnds(lp, k + 1, cone->any_sign[k] ? GLP_FR : GLP_LO, 0, 0);
  glp_set_col_bnds(lp, cone->length + 1, GLP_LO, 0, 0);
  glp_set_obj_coef(lp, cone->length + 1, 1);
  for (int i = 0; i < cone->count; i++)
    for (int side = 0; side < 2; side++) {
      int row = 2 * i + side + 1, length = 0, index[3 * TEST_COUNT_MAX + 2];
      double value[3 * TEST_COUNT_MAX + 2], sign = side == 0 ? 1 : -1;
      for (int k = 0; k < cone->length; k++) {
        if (cone->column[k][i] == 0) continue;
        index[++length] = k + 1;
        value[length] = sign * cone->column[k][i];
      }
      index[++length] = cone->length + 1;
      value[length] = 1;
      glp_set_mat_row(lp, row, length, index, value);
      glp_set_row_bnds(lp, row, GLP_LO, sign * v[i], 0);
    }
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.tol_bnd = 1e-11;
  options.tol_dj = 1e-11;
  assert_int_equal(glp_simplex(lp, &options), 0);
  double residual = glp_get_obj_val(lp);
  glp_delete_prob(lp);
  return residual;
}

/* Gaussian elimination with row exchanges; false when singular. */
static inline bool test_solve(int order, double* a, double* b) {
  for (int k = 0; k < order; k++) {
    int pivot = k;
    for (int i = k + 1; i < order; i++)
      if (fabs(a[i * order + k]) > fabs(a[pivot * order + k])) pivot = i;
    if (fabs(a[pivot * order + k]) < 1e-9) return false;
    for (int j = 0; j < order; j++) {
      double swap = a[k * order + j];
      a[k * order + j] = a[pivot * order + j];
      a[pivot * order + j] = swap;
    }
    double swap = b[k];
    b[k] = b[pivot];
    b[pivot] = swap;
    for (int i = k + 1; i < order; i++) {
      double factor = a[i * order + k] / a[k * order + k];
      for (int j = k; j < order; j++) a[i * order + j] -= factor * a[k * order + j];
      b[i] -= factor * b[k];
    }
  }
  for (int k = order - 1; k >= 0; k--) {
    for (int j = k + 1; j < order; j++) b[k] -= a[k * order + j] * b[j];
    b[k] /= a[k * order + k];
  }
  return true;
}

/* All sides of a set as  normal . x <= limit. */
typedef struct {
  int count;
  double normal[2 * (TEST_COUNT_MAX + TEST_ROWS_MAX)][3], limit[2 * (TEST_COUNT_MAX + TEST_ROWS_MAX)];
} TestSides;

static inline void test_sides_add(TestSides* sides, const double normal[3], double sign, double limit) {
  if (isinf(limit)) return;
  for (int i = 0; i < 3; i++) sides->normal[sides->count][i] = sign * normal[i];
  sides->limit[sides->count++] = sign * limit;
}

static inline void test_sides_of(const TestSet* t, TestSides* sides) {
  sides->count = 0;
  for (int i = 0; i < t->set.count; i++) {
    double normal[3] = {i == 0, i == 1, i == 2};
    test_sides_add(sides, normal, -1, t->low[i]);
    test_sides_add(sides, normal, 1, t->high[i]);
  }
  for (int r = 0; r < t->set.row_count; r++) {
    double normal[3] = {t->dense[r][0], t->dense[r][1], t->dense[r][2]};
    test_sides_add(sides, normal, -1, t->row_low[r]);
    test_sides_add(sides, normal, 1, t->row_high[r]);
  }
}

/* The point of the planes in `chosen` that is nearest to y in the metric sum (dx_i / scale_i)^2. */
static inline bool test_nearest_on(const TestSides* sides, const int* chosen, int chosen_count, int n, const double* y,
                                   const double* scale, double* x) {
  double gram[9], force[3];
  for (int a = 0; a < chosen_count; a++) {
    force[a] = -sides->limit[chosen[a]];
    for (int i = 0; i < n; i++) force[a] += sides->normal[chosen[a]][i] * y[i];
    for (int b = 0; b < chosen_count; b++) {
      gram[a * chosen_count + b] = 0;
      for (int i = 0; i < n; i++)
        gram[a * chosen_count + b] += sides->normal[chosen[a]][i] * sides->normal[chosen[b]][i] * scale[i] * scale[i];
    }
  }
  if (!test_solve(chosen_count, gram, force)) return false;
  for (int i = 0; i < n; i++) {
    x[i] = y[i];
    for (int a = 0; a < chosen_count; a++) x[i] -= scale[i] * scale[i] * force[a] * sides->normal[chosen[a]][i];
  }
  return true;
}

static inline bool test_sides_keep(const TestSides* sides, int n, const double* x, double tolerance) {
  for (int k = 0; k < sides->count; k++) {
    double value = -sides->limit[k];
    for (int i = 0; i < n; i++) value += sides->normal[k][i] * x[i];
    if (!(value <= tolerance)) return false;
  }
  return true;
}

/* The nearest point by trying every choice of at most n sides (n <= 3). false: the set is empty. */
static inline bool test_nearest_by_enumeration(const TestSet* t, const double* scale, const double* y,
                                               double* nearest) {
  static TestSides sides;
  int n = t->set.count;
  if (n > 3) {
    fail_msg("no enumeration in %d dimensions", n);
    return false;
  }
  test_sides_of(t, &sides);
  double least = HUGE_VAL;
  int none = sides.count; /* an index that chooses nothing; one chosen twice counts once */
  for (int a = 0; a <= none; a++)
    for (int b = a; b <= none; b++)
      for (int c = b; c <= none; c++) {
        int chosen[3], chosen_count = 0;
        if (a < none) chosen[chosen_count++] = a;
        if (b < none && b != a) chosen[chosen_count++] = b;
        if (c < none && c != b) chosen[chosen_count++] = c;
        if (chosen_count > n) continue;
        double x[3] = {0}, distance = 0;
        if (!test_nearest_on(&sides, chosen, chosen_count, n, y, scale, x) || !test_sides_keep(&sides, n, x, 1e-10))
          continue;
        for (int i = 0; i < n; i++) distance += (x[i] - y[i]) * (x[i] - y[i]) / (scale[i] * scale[i]);
        if (distance >= least) continue;
        least = distance;
        memcpy(nearest, x, sizeof(double) * (size_t)n);
      }
  return !isinf(least);
}

#endif
