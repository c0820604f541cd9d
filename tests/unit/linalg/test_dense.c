/* Tests dense solvers: residuals of random systems of orders 1 to 20, matrices with closed forms, and refused matrices.
 */
#include <string.h>

#include "linalg/dense.h"
#include "support/compare.h"

enum { N = 20 };

static void random_symmetric(Random* random, int n, double* a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) a[i * n + j] = a[j * n + i] = random_normal(random);
}

/* B B^T + 0.1 I */
static void random_positive(Random* random, int n, double* a) {
  double b[N * N];
  for (int k = 0; k < n * n; k++) b[k] = random_normal(random);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      a[i * n + j] = i == j ? 0.1 : 0;
      for (int k = 0; k < n; k++) a[i * n + j] += b[i * n + k] * b[j * n + k];
    }
}

/* Copies the lower triangle; the entries above it are NaN. */
static void lower_of(int n, const double* a, double* out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[i * n + j] = j <= i ? a[i * n + j] : (double)NAN;
}

static void multiply(int rows, int columns, const double* a, const double* x, double* out) {
  for (int i = 0; i < rows; i++) {
    out[i] = 0;
    for (int j = 0; j < columns; j++) out[i] += a[i * columns + j] * x[j];
  }
}

static double dot(int n, const double* x, const double* y) {
  double sum = 0;
  for (int k = 0; k < n; k++) sum += x[k] * y[k];
  return sum;
}

/* ---------------------------------------------------------------- eigenvalues */

static void eigenvectors_solve_A_v_is_value_v(void** state) {
  (void)state;
  Random random = {31};
  for (int n = 1; n <= N; n++) {
    double a[N * N], v[N * N], values[N], product[N];
    random_symmetric(&random, n, a);
    lower_of(n, a, v);
    assert_true(dense_eigen(n, v, values));
    for (int e = 0; e < n; e++) {
      const double* row = v + e * n;
      int largest = 0;
      multiply(n, n, a, row, product);
      for (int i = 0; i < n; i++) {
        compare_near(product[i], values[e] * row[i], 1e-13 * n, "seed 31, order %d, eigenvector %d", n, e);
        if (fabs(row[i]) > fabs(row[largest])) largest = i;
      }
      assert_true(row[largest] > 0);
      for (int o = 0; o <= e; o++)
        compare_near(dot(n, row, v + o * n), o == e, 1e-14 * n, "seed 31, order %d, vectors %d and %d", n, e, o);
      if (e > 0) assert_true(values[e] >= values[e - 1]);
    }
  }
}

/* 2 on the diagonal, -1 beside it: 2 - 2 cos(k pi / (n + 1)), sin(i k pi / (n + 1)), i, k = 1 .. n. */
static void eigenvalues_of_second_differences(void** state) {
  (void)state;
  for (int n = 1; n <= N; n++) {
    double a[N * N] = {0}, values[N];
    for (int i = 0; i < n; i++) {
      a[i * n + i] = 2;
      if (i > 0) a[i * n + i - 1] = -1;
    }
    assert_true(dense_eigen(n, a, values));
    for (int k = 1; k <= n; k++) {
      double along = 0;
      compare_near(values[k - 1], 2 - 2 * cos(k * M_PI / (n + 1)), 1e-14, "order %d, eigenvalue %d", n, k);
      for (int i = 1; i <= n; i++) along += a[(k - 1) * n + i - 1] * sin(i * k * M_PI / (n + 1)) * sqrt(2.0 / (n + 1));
      compare_near(fabs(along), 1, 1e-13, "order %d, eigenvector %d", n, k);
    }
  }
}

/* ---------------------------------------------------------------- Cholesky */

static void cholesky_makes_and_solves_A_Q3(void** state) {
  (void)state;
  Random random = {32};
  for (int n = 1; n <= N; n++) {
    double a[N * N], l[N * N], wanted[N], x[N];
    random_positive(&random, n, a);
    for (int i = 0; i < n; i++) wanted[i] = random_normal(&random);
    multiply(n, n, a, wanted, x);
    lower_of(n, a, l);
    assert_true(dense_cholesky(n, l));
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        if (j > i)
          assert_true(isnan(l[i * n + j]));
        else
          compare_near(dot(j + 1, l + i * n, l + j * n), a[i * n + j], 1e-14 * n * n, "seed 32, order %d", n);
      }
    dense_solve(n, l, x);
    for (int i = 0; i < n; i++) compare_near(x[i], wanted[i], 1e-10, "seed 32, order %d, unknown %d", n, i);
  }
}

/* min(i, j), i, j = 1 .. n, has the factor with ones below the diagonal. */
static void factor_of_smaller_indices_is_one(void** state) {
  (void)state;
  double a[N * N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i * N + j] = fmin(i, j) + 1;
  assert_true(dense_cholesky(N, a));
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) compare_near(a[i * N + j], 1, 0, "entry %d, %d", i, j);
}

static void cholesky_refuses_what_is_not_definite(void** state) {
  (void)state;
  double indefinite[4] = {1, 2, 2, 1}, zero[1] = {0}, unknown[4] = {1, 0, NAN, 1}, large[1] = {HUGE_VAL}, v[2];
  double again[4] = {1, 0, NAN, 1}, last[4] = {1, 0, 0, NAN};
  assert_false(dense_cholesky(2, indefinite));
  assert_false(dense_cholesky(1, zero));
  assert_false(dense_cholesky(2, unknown));
  assert_false(dense_cholesky(1, large));
  assert_false(dense_eigen(2, again, v));
  assert_false(dense_eigen(2, last, v));
}

static void nothing_is_solved_without_rows(void** state) {
  (void)state;
  assert_true(dense_eigen(0, NULL, NULL) && dense_cholesky(0, NULL) && dense_solve_band(0, 3, NULL, NULL));
  dense_solve(0, NULL, NULL);
}

/* ---------------------------------------------------------------- bands */

/* Entries outside of the band are not stored; those before the first column are NaN. */
static void band_systems_are_solved(void** state) {
  (void)state;
  Random random = {33};
  for (int n = 1; n <= N; n++)
    for (int band = 0; band <= 9; band++) {
      double full[N * N] = {0}, a[N * 10], wanted[N], x[N];
      for (int i = 0; i < n; i++) {
        for (int j = i - band; j <= i; j++) {
          double entry = random_normal(&random) + (i == j ? 4 * band + 4 : 0);
          a[i * (band + 1) + j - i + band] = j < 0 ? (double)NAN : entry;
          if (j >= 0) full[i * n + j] = full[j * n + i] = entry;
        }
        wanted[i] = random_normal(&random);
      }
      multiply(n, n, full, wanted, x);
      assert_true(dense_solve_band(n, band, a, x));
      for (int i = 0; i < n; i++) compare_near(x[i], wanted[i], 1e-13, "seed 33, order %d, band %d", n, band);
    }
}

/* -y'' = 1 with y = 0 at both ends: i (n + 1 - i) / 2. */
static void second_differences_of_a_parabola_are_one(void** state) {
  (void)state;
  double a[2 * N], x[N];
  for (int i = 0; i < N; i++) a[2 * i] = -1, a[2 * i + 1] = 2, x[i] = 1;
  assert_true(dense_solve_band(N, 1, a, x));
  for (int i = 1; i <= N; i++) compare_near(x[i - 1], i * (N + 1 - i) / 2.0, 1e-12, "unknown %d", i);
}

static void bands_that_are_not_definite_are_refused(void** state) {
  (void)state;
  double a[4] = {0, 1, 2, 1}, x[2] = {3, 4}, b[4] = {0, 1, NAN, 1};
  assert_false(dense_solve_band(2, 1, a, x));
  assert_false(dense_solve_band(2, 1, b, x));
  assert_true(x[0] == 3 && x[1] == 4);
}

/* ---------------------------------------------------------------- least squares */

#define RANK 1e-10

/* The residual is orthogonal to the columns of A, and the solution to its null space: x = A^T y. */
static void check_least_squares(int rows, int columns, int rank, const double* a, const double* b, const char* what) {
  double x[N], product[N], residual[N];
  memcpy(x, b, sizeof(double) * (size_t)rows);
  assert_int_equal(dense_least_squares(rows, columns, a, x, RANK), rank);
  multiply(rows, columns, a, x, product);
  for (int i = 0; i < rows; i++) residual[i] = b[i] - product[i];
  for (int j = 0; j < columns; j++) {
    double along = 0;
    for (int i = 0; i < rows; i++) along += a[i * columns + j] * residual[i];
    compare_near(along, 0, 1e-11, "%s %d x %d, column %d", what, rows, columns, j);
  }
  if (rank == columns) return;
  const int height = columns, width = rows; /* of A^T */
  double transposed[N * N], least[N];       /* the nearest A^T y to x is x */
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) transposed[j * rows + i] = a[i * columns + j];
  memcpy(least, x, sizeof(double) * (size_t)columns);
  assert_int_equal(dense_least_squares(height, width, transposed, least, RANK), rank);
  multiply(height, width, transposed, least, product);
  for (int j = 0; j < columns; j++) compare_near(product[j], x[j], 1e-11, "%s %d x %d", what, rows, columns);
}

static void least_squares_of_full_and_of_less_rank(void** state) {
  (void)state;
  Random random = {34};
  for (int rows = 1; rows <= N; rows++)
    for (int columns = 1; columns <= N; columns++) {
      double a[N * N], b[N], left[N * N], right[N * N];
      int most = rows < columns ? rows : columns, rank = (most + 1) / 2;
      for (int k = 0; k < rows * columns; k++) a[k] = random_normal(&random);
      for (int i = 0; i < rows; i++) b[i] = random_normal(&random);
      if (rows != columns) check_least_squares(rows, columns, most, a, b, "seed 34, full rank");
      for (int k = 0; k < rows * rank; k++) left[k] = random_normal(&random);
      for (int k = 0; k < rank * columns; k++) right[k] = random_normal(&random);
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
          a[i * columns + j] = 0;
          for (int k = 0; k < rank; k++) a[i * columns + j] += left[i * rank + k] * right[k * columns + j];
        }
      if (rank < most) check_least_squares(rows, columns, rank, a, b, "seed 34, less rank");
    }
}

/* One equation sum x = 1: 1 / n each. n equations x = b_i: their mean. No equation: 0. Whatever the scale. */
static void least_squares_in_closed_form(void** state) {
  (void)state;
  const double scales[] = {1, 1e-150, 1e150};
  for (int s = 0; s < 3; s++)
    for (int n = 1; n <= N; n++) {
      double ones[N], x[N] = {0}, zeros[N] = {0};
      for (int i = 0; i < n; i++) ones[i] = scales[s];
      x[0] = scales[s];
      assert_int_equal(dense_least_squares(1, n, ones, x, RANK), 1);
      for (int i = 0; i < n; i++) compare_near(x[i], 1.0 / n, 1e-15, "%d unknowns", n);
      for (int i = 0; i < n; i++) x[i] = (i + 1) * scales[s];
      assert_int_equal(dense_least_squares(n, 1, ones, x, RANK), 1);
      compare_near(x[0], 0.5 * (n + 1), 1e-13, "%d equations", n);
      for (int i = 0; i < n; i++) x[i] = 1;
      assert_int_equal(dense_least_squares(1, n, zeros, x, RANK), 0);
      for (int i = 0; i < n; i++) compare_near(x[i], 0, 0, "no equation");
    }
}

/* Singular values 1 and 1e-6: the limit decides which count. */
static void least_squares_counts_singular_values_above_the_limit(void** state) {
  (void)state;
  const double a[4] = {1, 0, 0, 1e-6};
  double all[2] = {1, 1}, one[2] = {1, 1}, unknown[2] = {1, NAN};
  assert_int_equal(dense_least_squares(2, 2, a, all, 0.9e-6), 2);
  compare_near(all[1], 1e6, 1e-9, "small singular value");
  assert_int_equal(dense_least_squares(2, 2, a, one, 1.1e-6), 1);
  assert_true(one[0] == 1 && one[1] == 0);
  assert_int_equal(dense_least_squares(2, 2, a, unknown, 0.9e-6), -1);
  assert_true(unknown[0] == 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(eigenvectors_solve_A_v_is_value_v),
      cmocka_unit_test(eigenvalues_of_second_differences),
      cmocka_unit_test(cholesky_makes_and_solves_A_Q3),
      cmocka_unit_test(factor_of_smaller_indices_is_one),
      cmocka_unit_test(cholesky_refuses_what_is_not_definite),
      cmocka_unit_test(nothing_is_solved_without_rows),
      cmocka_unit_test(band_systems_are_solved),
      cmocka_unit_test(second_differences_of_a_parabola_are_one),
      cmocka_unit_test(bands_that_are_not_definite_are_refused),
      cmocka_unit_test(least_squares_of_full_and_of_less_rank),
      cmocka_unit_test(least_squares_in_closed_form),
      cmocka_unit_test(least_squares_counts_singular_values_above_the_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
