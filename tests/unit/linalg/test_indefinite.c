/* Tests the L D L^T factorization of indefinite fronts. Solutions are compared with LAPACK's, Schur complements with
 * elimination. */
#include "linalg/indefinite.h"

#include <lapacke.h>
#include <string.h>

#include "linalg/front.h"
#include "support/compare.h"

typedef struct {
  int rows, pivots, stride;
  double *full, *panel, *update;
  IndefinitePivots pivot;
} Case;

/* zeros: the diagonal is zero, so that no pivot of one row is any good. */
static Case case_create(Random* random, int rows, int pivots, bool zeros) {
  size_t n = (size_t)rows, stride = (size_t)front_stride(rows);
  Case c = {rows,
            pivots,
            (int)stride,
            MEMORY_NEW(double, n* n),
            MEMORY_NEW(double, stride*(size_t)pivots),
            MEMORY_NEW(double, stride*(n - (size_t)pivots)),
            {MEMORY_NEW(int, pivots), MEMORY_NEW(double, pivots)}};
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double value = i == j && zeros ? 0 : random_normal(random);
      c.full[i * n + j] = c.full[j * n + i] = value;
      if (j < (size_t)pivots)
        c.panel[j * stride + i] = value;
      else
        c.update[(j - (size_t)pivots) * stride + i] = value;
    }
  return c;
}

static void case_free(Case* c) {
  memory_free(c->full);
  memory_free(c->panel);
  memory_free(c->update);
  memory_free(c->pivot.permutation);
  memory_free(c->pivot.off_diagonal);
}

static void solve_whole(Case* c, double* x) {
  double* spare = MEMORY_NEW(double, c->stride);
  indefinite_forward(c->pivots, c->stride, c->panel, c->pivot, x, spare);
  indefinite_backward(c->pivots, c->stride, c->panel, c->pivot, x, spare);
  memory_free(spare);
}

static void whole_matrix_agrees_with_lapack(void** state) {
  (void)state;
  Random random = {321};
  for (int n = 1; n <= 130; n += n < 20 ? 1 : 11)
    for (int zeros = n > 1 && n % 2 == 0; zeros >= 0; zeros--) {
      Case c = case_create(&random, n, n, zeros);
      double *x = MEMORY_NEW(double, c.stride), *wanted = MEMORY_NEW(double, n), *back = MEMORY_NEW(double, n);
      lapack_int* pivot = memory_alloc(sizeof(lapack_int) * (size_t)n);
      double* copy = MEMORY_NEW(double, n* n);
      memcpy(copy, c.full, sizeof(double) * (size_t)(n * n));
      for (int i = 0; i < n; i++) x[i] = wanted[i] = random_normal(&random);
      assert_int_equal(indefinite_factor(n, n, c.stride, 1e-16, c.panel, NULL, c.pivot), 0);
      solve_whole(&c, x);
      assert_int_equal(LAPACKE_dsysv(LAPACK_COL_MAJOR, 'L', n, 1, copy, n, pivot, wanted, n), 0);
      double scale = 0; /* both are within their condition of the truth */
      for (int i = 0; i < n; i++) scale = fmax(scale, fabs(wanted[i]));
      for (int i = 0; i < n; i++)
        compare_near(x[i], wanted[i], 1e-11 * n * scale * fmax(1, scale), "seed 321, order %d, zeros %d", n, zeros);
      memory_free(x);
      memory_free(wanted);
      memory_free(back);
      memory_free(pivot);
      memory_free(copy);
      case_free(&c);
    }
}

/* With fewer pivots than rows, the remainder equals the Schur complement Arr - Arp App^-1 Apr by LAPACK. The full
 * solution is compared too. */
static void rest_is_the_schur_complement(void** state) {
  (void)state;
  Random random = {322};
  static const int shapes[][2] = {{2, 1}, {7, 3}, {12, 6}, {30, 12}, {97, 40}, {130, 7}};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    int n = shapes[k][0], p = shapes[k][1];
    Case c = case_create(&random, n, p, false);
    double *a11 = MEMORY_NEW(double, p*p), *a12 = MEMORY_NEW(double, p*(n - p));
    lapack_int* pivot = memory_alloc(sizeof(lapack_int) * (size_t)p);
    for (int i = 0; i < p; i++)
      for (int j = 0; j < p; j++) a11[j * p + i] = c.full[i * n + j];
    for (int i = 0; i < p; i++)
      for (int j = p; j < n; j++) a12[(j - p) * p + i] = c.full[i * n + j];
    assert_int_equal(LAPACKE_dgesv(LAPACK_COL_MAJOR, p, n - p, a11, p, pivot, a12, p), 0);
    double largest = 1;
    for (int i = 0; i < p * (n - p); i++) largest = fmax(largest, fabs(a12[i]));
    assert_int_equal(indefinite_factor(n, p, c.stride, 1e-16, c.panel, c.update, c.pivot), 0);
    for (int i = p; i < n; i++)
      for (int j = p; j <= i; j++) {
        double wanted = c.full[i * n + j];
        for (int m = 0; m < p; m++) wanted -= c.full[i * n + m] * a12[(j - p) * p + m];
        compare_near(c.update[(j - p) * c.stride + i], wanted, 1e-12 * n * largest * largest,
                     "seed 322, %d rows, %d pivots, entry (%d, %d)", n, p, i, j);
      }
    memory_free(a11);
    memory_free(a12);
    memory_free(pivot);
    case_free(&c);
  }
}

static void singular_and_bad_matrices_are_told(void** state) {
  (void)state;
  Random random = {323};
  Case c = case_create(&random, 9, 9, false);
  for (int i = 0; i < 9; i++) c.panel[(i < 4 ? i : 4) * c.stride + (i < 4 ? 4 : i)] = 0;
  assert_int_equal(indefinite_factor(9, 9, c.stride, 1e-16, c.panel, NULL, c.pivot), 1);
  case_free(&c);
  c = case_create(&random, 9, 9, false);
  c.panel[0] = NAN;
  assert_int_equal(indefinite_factor(9, 9, c.stride, 1e-16, c.panel, NULL, c.pivot), -1);
  case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_matrix_agrees_with_lapack),
      cmocka_unit_test(rest_is_the_schur_complement),
      cmocka_unit_test(singular_and_bad_matrices_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
