/* Tests nearly dependent equations with two orthogonal eigenvectors and chosen eigenvalues and gaps. */
#include "linalg/least_change.h"

#include <math.h>

#include "linalg/linalg.h"
#include "support/compare.h"

static const double V[2] = {0.8, 0.6}, W[2] = {-0.6, 0.8};

/* Solves A = V V^T + small W W^T for the right-hand side V + share W, with gap = open_v V + open_w W. Checks that the
 * component of x along V is 1. Returns the component along W and sets *ambiguous to the solver's value. */
static double along_w(double small, double share, double open_v, double open_w, bool* ambiguous) {
  double matrix[4], x[2], gap[2], work[4];
  const double scale[2] = {1, 1};
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) matrix[2 * i + j] = V[i] * V[j] + small * W[i] * W[j];
    x[i] = V[i] + share * W[i];
    gap[i] = open_v * V[i] + open_w * W[i];
  }
  *ambiguous = false;
  assert_true(symmetric_pseudo_solve_violated(2, 2, matrix, x, scale, gap, work, ambiguous));
  compare_near(x[0] * V[0] + x[1] * V[1], 1, 1e-7, "what is told apart");
  return x[0] * W[0] + x[1] * W[1];
}

/* By an eigenvalue of 1e-8: kept where the equations hold, left out where the other one is open by more than its root,
 * and kept where it is open itself. */
static void closures_Z3_says_what_openness_makes(void** state) {
  (void)state;
  bool ambiguous;
  compare_near(along_w(1e-8, 1e-6, 0, 0, &ambiguous), 100, 1e-4, "closed");
  assert_false(ambiguous);
  compare_near(along_w(1e-8, 1e-6, 0.5e-4, 0, &ambiguous), 100, 1e-4, "open by less than its root");
  assert_false(ambiguous);
  compare_near(along_w(1e-8, 1e-6, 2e-4, 0, &ambiguous), 0, 1e-12, "open by more");
  assert_true(ambiguous);
  compare_near(along_w(1e-8, 1e-6, 0, 2e-4, &ambiguous), 100, 1e-4, "open itself");
  assert_false(ambiguous);
}

/* Equations weaker by less than a factor of a million are closed, however large the gap. Rounding errors have no
 * effect. */
static void closures_Z3_closes_from_afar(void** state) {
  (void)state;
  bool ambiguous;
  compare_near(along_w(1e-3, 1, 1, 0, &ambiguous), 1000, 1e-7, "weak");
  assert_false(ambiguous);
  compare_near(along_w(1e-14, 1e-6, 0, 0, &ambiguous), 0, 1e-12, "rounding");
  assert_true(ambiguous);
}

/* The door's function is that of equations that hold. */
static void closures_Z3_without_gaps(void** state) {
  (void)state;
  const double scale[2] = {2, 0.5};
  double matrix[4], x[2] = {1, 2}, work[4];
  for (int i = 0; i < 4; i++) matrix[i] = 3 * V[i / 2] * V[i % 2] + 0.5 * W[i / 2] * W[i % 2];
  const double a[4] = {matrix[0], matrix[1], matrix[2], matrix[3]};
  assert_true(symmetric_pseudo_solve(2, matrix, x, scale, work, NULL));
  for (int i = 0; i < 2; i++) compare_near(a[2 * i] * x[0] + a[2 * i + 1] * x[1], 1 + i, 1e-14, "A x");
}

/* Orders around whole fours: definite ones against their own product, and those of half the rank, in which every
 * equation stands twice, shared out evenly. */
static void closures_Z3_of_any_order(void** state) {
  (void)state;
  enum { MOST = 19 };
  Random random = {77};
  for (int order = 1; order <= MOST; order++)
    for (int twice = 0; twice < 2; twice++) {
      int rows = twice ? 2 * order : order;
      double half[MOST * MOST], matrix[4 * MOST * MOST], x[2 * MOST], b[2 * MOST], a[4 * MOST * MOST], scale[2 * MOST],
          work[4 * MOST];
      for (int i = 0; i < order * order; i++) half[i] = random_uniform(&random, -1, 1);
      for (int i = 0; i < rows; i++) {
        scale[i] = 1;
        for (int j = 0; j < rows; j++) {
          double sum = i % order == j % order ? 0.5 : 0;
          for (int k = 0; k < order; k++) sum += half[i % order * order + k] * half[j % order * order + k] / order;
          a[i * rows + j] = matrix[i * rows + j] = sum;
        }
      }
      for (int i = 0; i < rows; i++) b[i] = x[i] = i < order ? random_uniform(&random, -1, 1) : b[i - order];
      bool ambiguous = false;
      double padded[2 * MOST * (2 * MOST + 2)], same[2 * MOST];
      int stride = (rows + 3) / 4 * 4;
      for (int i = 0; i < rows; i++) {
        for (int j = 0; j < stride; j++) padded[i * stride + j] = j < rows ? matrix[i * rows + j] : (double)NAN;
        same[i] = x[i];
      }
      assert_true(symmetric_pseudo_solve(rows, matrix, x, scale, work, &ambiguous));
      assert_int_equal(ambiguous, twice);
      assert_true(symmetric_pseudo_solve_violated(rows, stride, padded, same, scale, NULL, work, NULL));
      compare_bytes(same, x, sizeof(double) * (size_t)rows, "seed 77, order %d, rows in whole fours", order);
      for (int i = 0; i < rows; i++) {
        double sum = 0;
        for (int j = 0; j < rows; j++) sum += a[i * rows + j] * x[j];
        compare_near(sum, b[i], 1e-12, "seed 77, order %d, row %d of %d", order, i, rows);
        compare_near(x[i], x[i % order], 1e-12, "seed 77, order %d, shares %d of %d", order, i, rows);
      }
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(closures_Z3_says_what_openness_makes),
      cmocka_unit_test(closures_Z3_closes_from_afar),
      cmocka_unit_test(closures_Z3_without_gaps),
      cmocka_unit_test(closures_Z3_of_any_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
