/* Tests the nearest positive semidefinite matrix by its definition and by LAPACK's eigenvalues. */
#include <lapacke.h>
#include <string.h>

#include "support/compare.h"

enum { N = SYMMETRIC_PROJECT_MAX };

static void random_symmetric(Random* random, int n, double shift, double* a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) a[i * n + j] = a[j * n + i] = random_normal(random) + (i == j ? shift : 0);
}

static void eigen(const double* a, int n, double* vectors, double* values) {
  memcpy(vectors, a, sizeof(double) * (size_t)(n * n));
  assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', n, vectors, n, values), 0);
}

static void project_drops_negative_eigenvalues(void** state) {
  (void)state;
  Random random = {171};
  for (int n = 1; n <= N; n++)
    for (int trial = 0; trial < 20; trial++) {
      double a[N * N], before[N * N], v[N * N], l[N], wanted[N * N] = {0};
      random_symmetric(&random, n, random_uniform(&random, -3, 3), a);
      memcpy(before, a, sizeof a);
      eigen(before, n, v, l);
      for (int e = 0; e < n; e++)
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++) wanted[i * n + j] += fmax(l[e], 0) * v[e * n + i] * v[e * n + j];
      assert_true(symmetric_project(n, a));
      double scale = 0;
      for (int k = 0; k < n * n; k++) scale = fmax(scale, fabs(before[k]));
      for (int k = 0; k < n * n; k++)
        compare_near(a[k], wanted[k], 1e-13 * n * scale, "seed 171, order %d, entry %d", n, k);
    }
}

static void project_leaves_a_definite_matrix_alone(void** state) {
  (void)state;
  Random random = {172};
  double a[N * N], before[N * N];
  random_symmetric(&random, N, 40, a);
  memcpy(before, a, sizeof a);
  assert_true(symmetric_project(N, a));
  compare_bytes(a, before, sizeof a, "a positive definite matrix");
}

static void project_refuses_numbers_that_are_not(void** state) {
  (void)state;
  double a[4] = {1, NAN, NAN, 1};
  assert_false(symmetric_project(2, a));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(project_drops_negative_eigenvalues),
      cmocka_unit_test(project_leaves_a_definite_matrix_alone),
      cmocka_unit_test(project_refuses_numbers_that_are_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
