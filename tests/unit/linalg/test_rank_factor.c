/* Tests square systems with dependent equations by products with the matrix. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "linalg/linalg.h"
#include "support/compare.h"

enum { ORDER = 7, MOST = ORDER * ORDER };

/* A = B C with inner dimension `rank`: entries of order 1. */
static void product_of(Random* seed, int rank, double* a) {
  double b[MOST], c[MOST];
  for (int k = 0; k < MOST; k++) b[k] = random_uniform(seed, -1, 1), c[k] = random_uniform(seed, -1, 1);
  for (int i = 0; i < ORDER; i++)
    for (int j = 0; j < ORDER; j++) {
      a[i * ORDER + j] = 0;
      for (int k = 0; k < rank; k++) a[i * ORDER + j] += b[i * ORDER + k] * c[k * ORDER + j];
    }
}

static void times(const double* a, bool transposed, const double* x, double* out) {
  for (int i = 0; i < ORDER; i++) {
    out[i] = 0;
    for (int j = 0; j < ORDER; j++) out[i] += (transposed ? a[j * ORDER + i] : a[i * ORDER + j]) * x[j];
  }
}

static double largest(const double* a, const double* b) {
  double most = 0;
  for (int k = 0; k < ORDER; k++) most = fmax(most, fabs(a[k] - b[k]));
  return most;
}

/* Of every rank: both systems are solved whose right-hand sides have a solution, by no more unknowns than the rank. */
static void factor_W16_solves_both_ways(void** state) {
  (void)state;
  Random random = {7};
  for (int rank = 0; rank <= ORDER; rank++) {
    double a[MOST], factor[MOST], wanted[ORDER], x[ORDER], back[ORDER], work[ORDER];
    int row[ORDER], column[ORDER];
    product_of(&random, rank, a);
    memcpy(factor, a, sizeof a);
    assert_int_equal(rank_factor(ORDER, factor, row, column, 1e-12), rank);
    for (int transposed = 0; transposed < 2; transposed++) {
      for (int k = 0; k < ORDER; k++) wanted[k] = random_uniform(&random, -1, 1);
      times(a, transposed, wanted, x);
      double right[ORDER];
      memcpy(right, x, sizeof right);
      (transposed ? rank_solve_transposed : rank_solve)(ORDER, rank, factor, row, column, x, work);
      times(a, transposed, x, back);
      compare_at_most(largest(back, right), 1e-11, "rank %d, transposed %d", rank, transposed);
      int zero = 0;
      for (int k = 0; k < ORDER; k++) zero += x[k] == 0;
      assert_true(zero >= ORDER - rank);
    }
  }
}

/* The solution has minimum norm: it is orthogonal to the null space of A, in which two solutions differ. */
static void factor_W17_shortens(void** state) {
  (void)state;
  Random random = {11};
  for (int rank = 0; rank <= ORDER; rank++) {
    double a[MOST], factor[MOST], x[ORDER], y[ORDER], before[ORDER], after[ORDER], work[MOST + ORDER];
    int row[ORDER], column[ORDER];
    product_of(&random, rank, a);
    memcpy(factor, a, sizeof a);
    (void)rank_factor(ORDER, factor, row, column, 1e-12);
    for (int k = 0; k < ORDER; k++) x[k] = random_uniform(&random, -1, 1);
    times(a, false, x, y);
    memcpy(before, y, sizeof y);
    rank_solve(ORDER, rank, factor, row, column, y, work); /* another with the same product */
    rank_remove_null_space(ORDER, rank, factor, column, x, work);
    rank_remove_null_space(ORDER, rank, factor, column, y, work);
    times(a, false, x, after);
    compare_at_most(largest(after, before), 1e-11, "the product stays, rank %d", rank);
    compare_at_most(largest(x, y), 1e-11, "there is one smallest, rank %d", rank);
  }
}

static void factor_W16_refuses_what_is_no_number(void** state) {
  (void)state;
  double a[4] = {1, 2, NAN, 4};
  int row[2], column[2];
  assert_int_equal(rank_factor(2, a, row, column, 1e-12), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factor_W16_solves_both_ways),
      cmocka_unit_test(factor_W17_shortens),
      cmocka_unit_test(factor_W16_refuses_what_is_no_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
