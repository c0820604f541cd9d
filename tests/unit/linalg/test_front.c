/* Tests fronts against textbook loops bit for bit, and against LAPACK. */
#include "linalg/front.h"

#include <lapacke.h>
#include <string.h>

#include "support/compare.h"

/* Rows and pivots of all kinds: tails of tiles, panels and vectors, small and packed. */
static const int shapes[][2] = {{1, 1},    {2, 1},    {3, 3},   {6, 6},    {7, 5},     {12, 6},    {17, 4},
                                {40, 40},  {95, 31},  {96, 96}, {97, 6},   {100, 50},  {131, 131}, {160, 47},
                                {160, 49}, {205, 99}, {300, 1}, {300, 48}, {301, 200}, {512, 60}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef struct {
  int rows, pivots, stride;
  double *full, *panel, *update, *work; /* full: rows x rows, row-major */
} Case;

/* Returns a front with a dominant, positive diagonal. The entries above the diagonal and the padding of `panel` are
 * zero. */
static Case case_create(Random* random, int rows, int pivots) {
  size_t n = (size_t)rows, stride = (size_t)front_stride(rows);
  Case c = {rows,
            pivots,
            (int)stride,
            MEMORY_NEW(double, n* n),
            MEMORY_NEW(double, stride*(size_t)pivots),
            MEMORY_NEW(double, stride*(n - (size_t)pivots)),
            MEMORY_NEW(double, front_work(rows))};
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double value = random_normal(random) + (i == j ? 3 * sqrt((double)rows) + 2 : 0);
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
  memory_free(c->work);
}

/* The loops: column by column, products in order. l: rows x rows row-major, lower; diagonal of pivots inverted. */
static void textbook(int rows, int pivots, double* l) {
  for (int j = 0; j < rows; j++) {
    int depth = j < pivots ? j : pivots;
    for (int i = j; i < rows; i++)
      for (int k = 0; k < depth; k++) l[i * rows + j] -= l[i * rows + k] * l[j * rows + k];
    if (j >= pivots) continue;
    double inverse = 1.0 / sqrt(l[j * rows + j]);
    for (int i = j + 1; i < rows; i++) l[i * rows + j] *= inverse;
    l[j * rows + j] = inverse;
  }
}

static double entry(const Case* c, int i, int j) {
  return j < c->pivots ? c->panel[(size_t)j * (size_t)c->stride + (size_t)i]
                       : c->update[(size_t)(j - c->pivots) * (size_t)c->stride + (size_t)i];
}

static void front_has_the_bits_of_the_textbook(void** state) {
  (void)state;
  Random random = {311};
  for (int k = 0; k < SHAPES; k++) {
    Case c = case_create(&random, shapes[k][0], shapes[k][1]);
    assert_true(front_factor(c.rows, c.pivots, c.stride, c.panel, c.update, c.work));
    textbook(c.rows, c.pivots, c.full);
    for (int i = 0; i < c.rows; i++)
      for (int j = 0; j <= i; j++) {
        double got = entry(&c, i, j), wanted = c.full[i * c.rows + j];
        if (memcmp(&got, &wanted, sizeof got) != 0)
          fail_msg("seed 311, %d rows, %d pivots, entry (%d, %d): %.17g, textbook %.17g", c.rows, c.pivots, i, j, got,
                   wanted);
      }
    case_free(&c);
  }
}

static void front_agrees_with_lapack(void** state) {
  (void)state;
  Random random = {312};
  for (int k = 0; k < SHAPES; k++) {
    int n = shapes[k][0];
    Case c = case_create(&random, n, n);
    double *x = MEMORY_NEW(double, c.stride), *wanted = MEMORY_NEW(double, n);
    for (int i = 0; i < n; i++) x[i] = wanted[i] = random_normal(&random);
    assert_true(front_factor(n, n, c.stride, c.panel, NULL, c.work));
    front_forward(n, c.stride, c.panel, x);
    front_backward(n, c.stride, c.panel, x);
    assert_int_equal(LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', n, 1, c.full, n, wanted, n), 0);
    compare_arrays(x, wanted, n, 1e-12, "seed 312, order %d", n);
    memory_free(x);
    memory_free(wanted);
    case_free(&c);
  }
}

static void front_refuses_what_is_not_positive_definite(void** state) {
  (void)state;
  Random random = {313};
  static const double bad[] = {-1, 0, NAN, INFINITY};
  for (int k = 0; k < SHAPES; k++)
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
      Case c = case_create(&random, shapes[k][0], shapes[k][1]);
      int last = c.pivots - 1;
      c.panel[(size_t)last * (size_t)c.stride + (size_t)last] = bad[b];
      if (front_factor(c.rows, c.pivots, c.stride, c.panel, c.update, c.work))
        fail_msg("seed 313, %d rows, %d pivots: a pivot of %g was taken", c.rows, c.pivots, bad[b]);
      case_free(&c);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(front_has_the_bits_of_the_textbook),
      cmocka_unit_test(front_agrees_with_lapack),
      cmocka_unit_test(front_refuses_what_is_not_positive_definite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
