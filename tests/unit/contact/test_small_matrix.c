/* Tests the Cholesky factorization of orders 1 to 4 against LAPACK, and its handling of singular directions. */
#include "contact/small_matrix.h"

#include <lapacke.h>
#include <string.h>

#include "support/compare.h"

static void random_definite(Random* random, int n, double a[4][4]) {
  double b[4][4];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) b[i][j] = random_normal(random);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      a[i][j] = i == j ? 0.1 : 0;
      for (int k = 0; k < n; k++) a[i][j] += b[i][k] * b[j][k];
    }
}

static void small_cholesky_agrees_with_lapack(void** state) {
  (void)state;
  Random random = {131};
  for (int trial = 0; trial < 200; trial++)
    for (int n = 1; n <= 4; n++) {
      double a[4][4] = {{0}}, full[16], x[4], wanted[4];
      random_definite(&random, n, a);
      for (int i = 0; i < n; i++) {
        x[i] = wanted[i] = random_normal(&random);
        for (int j = 0; j < n; j++) full[i * n + j] = a[i][j];
      }
      for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) a[i][j] = NAN; /* only the lower triangle may be read */
      assert_int_equal(LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', n, 1, full, n, wanted, 1), 0);
      small_cholesky(n, a);
      small_forward(n, a, x);
      small_backward(n, a, x);
      compare_arrays(x, wanted, n, 1e-11, "seed 131, order %d, trial %d", n, trial);
      for (int i = 0; i < n; i++)
        compare_relative(1 / a[i][i], full[i * n + i], 1e-12, "seed 131, order %d: pivot %d", n, i);
    }
}

/* A direction without curvature stays where it is; the others are solved as if it were not there. */
static void small_cholesky_leaves_undetermined_directions(void** state) {
  (void)state;
  double a[4][4] = {{4, 0, 0, 0}, {0, 0, 0, 0}, {2, 0, 9, 0}, {0, 0, 0, 1}}, x[4] = {8, 5, 13, 3};
  small_cholesky(4, a);
  small_forward(4, a, x);
  small_backward(4, a, x);
  compare_near(x[1], 0, 0, "undetermined direction");
  compare_near(x[3], 3, 1e-15, "direction of its own");
  compare_near(4 * x[0] + 2 * x[2], 8, 1e-14, "first equation");
  compare_near(2 * x[0] + 9 * x[2], 13, 1e-14, "third equation");
  /* two equal rows: a pivot that is rounding */
  double b[4][4] = {{1, 0, 0, 0}, {1, 1 + 1e-16, 0, 0}}, y[2] = {2, 2};
  small_cholesky(2, b);
  small_forward(2, b, y);
  small_backward(2, b, y);
  compare_near(y[0] + y[1], 2, 1e-15, "the determined combination");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_cholesky_agrees_with_lapack),
      cmocka_unit_test(small_cholesky_leaves_undetermined_directions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
