#include "optimize/step_ball.h"
#include "optimize_testing.h"

static double inner(int count, const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

static void O7_closed_forms(void** state) {
  (void)state;
  const int block[4] = {0, 0, 1, 1};
  double low[4] = {-10, -10, -0.2, -10}, high[4] = {10, 10, 10, 10}, g[4] = {3, 4, 3, 4}, d[4];
  /* Free: -r g / |g|. One clamped: the rest of the radius goes to the other. */
  step_ball_bounds(4, block, low, high, g, (double[]){2, 1}, d);
  compare_arrays(d, (double[]){-1.2, -1.6, -0.2, -sqrt(0.96)}, 4, 1e-15, "free and clamped");
  /* The corner lies in the ball; a variable without a gradient stays. */
  double small_low[4] = {-0.1, -0.1, -0.1, -0.1}, small_high[4] = {0.1, 0.2, 0.3, 0.4}, h[4] = {1, -1e-9, 0, -1};
  step_ball_bounds(4, block, small_low, small_high, h, (double[]){2, 1}, d);
  compare_bytes(d, (double[]){-0.1, 0.2, 0, 0.4}, sizeof d, "corner");
  /* Numbers whose squares are out of range. */
  double huge[4] = {3e200, 4e200, 3e-200, 4e-200};
  step_ball_bounds(4, block, low, high, huge, (double[]){2, 1}, d);
  compare_arrays(d, (double[]){-1.2, -1.6, -0.2, -sqrt(0.96)}, 4, 1e-15, "out of range");
}

/* g + multiplier d + normals = 0 with multipliers that GLPK finds, the ball's only where |d| = radius. */
static void check_multipliers(const TestSet* limits, const double* g, const double radius[2], const double* d,
                              double tolerance, const char* what, int round) {
  TestCone* cone = memory_alloc(sizeof *cone);
  double minus[TEST_COUNT_MAX], largest = 0;
  test_cone_normals(cone, limits, d, 1e-9);
  for (int b = 0; b < 2; b++) {
    double norm = step_ball_norm(limits->set.count, limits->block, d, b) / radius[b];
    compare_at_most(norm, 1 + 1e-14, "%s, round %d: ball %d", what, round, b);
    if (norm < 1 - 1e-9) continue;
    for (int i = 0; i < limits->set.count; i++)
      if (limits->block[i] == b) cone->column[cone->length][i] = d[i] / radius[b];
    test_cone_add(cone, false);
  }
  for (int i = 0; i < limits->set.count; i++) {
    minus[i] = -g[i];
    largest = fmax(largest, fabs(g[i]));
  }
  compare_at_most(test_cone_residual(cone, minus), tolerance * largest, "%s, round %d: multipliers", what, round);
  memory_free(cone);
}

static void O7_multipliers_exist(void** state) {
  (void)state;
  Random random = {21};
  for (int round = 0; round < 400; round++) {
    int n = 1 + round % 30;
    TestSet* t = test_set_create(n, 0);
    double g[TEST_COUNT_MAX] = {0}, d[TEST_COUNT_MAX], radius[2];
    for (int b = 0; b < 2; b++) radius[b] = exp(random_uniform(&random, -2, 2));
    for (int i = 0; i < n; i++) {
      t->block[i] = random_bits(&random) % 2;
      g[i] = random_bits(&random) % 6 ? random_normal(&random) : 0;
      if (random_bits(&random) % 3) t->low[i] = -random_uniform(&random, 0, 0.7);
      if (random_bits(&random) % 3) t->high[i] = random_uniform(&random, 0, 0.7);
      if (random_bits(&random) % 9 == 0) t->low[i] = 0;
    }
    step_ball_bounds(n, t->block, t->low, t->high, g, radius, d);
    test_expect_inside(t, d, 0, "bounds", round);
    for (int i = 0; i < n; i++)
      if (g[i] == 0) compare_near(d[i], 0, 0, "round %d: no gradient, no step, d[%d]", round, i);
    check_multipliers(t, g, radius, d, 1e-12, "bounds", round);
    memory_free(t);
  }
}

/* As the update uses it: limits that also hold every variable within its radius, zero inside. */
static void cut_to_radius(TestSet* t, const double* inside, const double radius[2]) {
  for (int r = 0; r < t->set.row_count; r++) {
    double value = test_row(t, r, inside);
    t->row_low[r] = t->row_low[r] == t->row_high[r] ? 0 : fmin(t->row_low[r] - value, 0);
    t->row_high[r] = t->row_low[r] == 0 ? 0 : fmax(t->row_high[r] - value, 0);
  }
  for (int i = 0; i < t->set.count; i++) {
    t->low[i] = fmin(fmax(t->low[i] - inside[i], -radius[t->block[i]]), 0);
    t->high[i] = fmax(fmin(t->high[i] - inside[i], radius[t->block[i]]), 0);
  }
}

static void solve_rows(const TestSet* t, const double* g, const double radius[2], double* d) {
  double work[3 * TEST_COUNT_MAX];
  Projector* projector = projector_create(&t->set);
  ProjectLimits limits = {t->low, t->high, t->row_low, t->row_high};
  uint64_t before = memory_allocation_count();
  assert_true(step_ball_rows(projector, t->set.count, t->block, &limits, g, radius, work, d));
  assert_int_equal(memory_allocation_count(), before);
  projector_destroy(projector);
}

static void O8_multipliers_exist(void** state) {
  (void)state;
  Random random = {22};
  for (int round = 0; round < 150; round++) {
    int n = 2 + round % 24, rows = 1 + round % 5;
    double inside[TEST_COUNT_MAX], g[TEST_COUNT_MAX] = {0}, d[TEST_COUNT_MAX], radius[2];
    for (int b = 0; b < 2; b++) radius[b] = exp(random_uniform(&random, -3, 1));
    TestSet* t = test_set_random(&random, n, rows, 0.5, inside);
    cut_to_radius(t, inside, radius);
    /* Blocks whose gradients are far apart, and some with none. */
    double size[2] = {exp(random_uniform(&random, -5, 5)), round % 7 ? 1 : 0};
    for (int i = 0; i < n; i++) g[i] = size[t->block[i]] * random_normal(&random);
    solve_rows(t, g, radius, d);
    test_expect_inside(t, d, 1e-12, "rows", round);
    check_multipliers(t, g, radius, d, 1e-8, "rows", round);
    memory_free(t);
  }
}

/* Reference in two dimensions: a linear function over the intersection of polygon and disc. The minimum is a corner in
 * the disc, the circle's point opposite to g, or an intersection of a side and the circle. */
static double least_in_plane(const TestSet* t, const double* g, double radius) {
  static TestSides sides;
  test_sides_of(t, &sides);
  double least = 0, norm = hypot(g[0], g[1]), candidates[3][2];
  for (int a = 0; a <= sides.count; a++)
    for (int b = 0; b < sides.count; b++) {
      int length = 0;
      if (a == sides.count) { /* against g; also side b with the circle */
        candidates[length][0] = -radius * g[0] / norm;
        candidates[length++][1] = -radius * g[1] / norm;
        const double* normal = sides.normal[b];
        double size = hypot(normal[0], normal[1]), offset = sides.limit[b] / size;
        double along = sqrt(fmax(radius * radius - offset * offset, 0));
        for (int side = -1; side <= 1 && fabs(offset) < radius; side += 2) {
          candidates[length][0] = (offset * normal[0] - side * along * normal[1]) / size;
          candidates[length++][1] = (offset * normal[1] + side * along * normal[0]) / size;
        }
      } else {
        double matrix[4] = {sides.normal[a][0], sides.normal[a][1], sides.normal[b][0], sides.normal[b][1]};
        double corner[2] = {sides.limit[a], sides.limit[b]};
        if (a < b && test_solve(2, matrix, corner)) memcpy(candidates[length++], corner, sizeof corner);
      }
      for (int k = 0; k < length; k++)
        if (test_sides_keep(&sides, 2, candidates[k], 1e-12) &&
            hypot(candidates[k][0], candidates[k][1]) < radius + 1e-12)
          least = fmin(least, inner(2, g, candidates[k]));
    }
  return least;
}

static void O8_least_matches_enumeration_in_the_plane(void** state) {
  (void)state;
  Random random = {23};
  for (int round = 0; round < 500; round++) {
    double inside[2], g[2] = {random_normal(&random), random_normal(&random)}, d[2];
    double radius[2] = {exp(random_uniform(&random, -2, 1)), 1};
    TestSet* t = test_set_random(&random, 2, 1 + round % 3, 0.9, inside);
    t->block[0] = t->block[1] = 0;
    cut_to_radius(t, inside, radius);
    solve_rows(t, g, radius, d);
    test_expect_inside(t, d, 1e-12, "plane", round);
    compare_near(inner(2, g, d), least_in_plane(t, g, radius[0]), 1e-10 * radius[0] * hypot(g[0], g[1]), "round %d",
                 round);
    memory_free(t);
  }
}

/* With an inactive constraint both methods give the same result. */
static void O7_and_O8_agree_without_rows_that_hold(void** state) {
  (void)state;
  Random random = {24};
  for (int round = 0; round < 200; round++) {
    enum { N = 12 };
    double inside[N], g[N], by_bounds[N], by_rows[N];
    const double radius[2] = {0.4, 0.9};
    TestSet* t = test_set_random(&random, N, 1, 1, inside);
    t->row_low[0] = -1e3, t->row_high[0] = 1e3;
    cut_to_radius(t, inside, radius);
    for (int i = 0; i < N; i++) g[i] = random_normal(&random);
    step_ball_bounds(N, t->block, t->low, t->high, g, radius, by_bounds);
    solve_rows(t, g, radius, by_rows);
    compare_arrays(by_rows, by_bounds, N, 1e-9, "round %d", round);
    memory_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(O7_closed_forms),
      cmocka_unit_test(O7_multipliers_exist),
      cmocka_unit_test(O8_multipliers_exist),
      cmocka_unit_test(O8_least_matches_enumeration_in_the_plane),
      cmocka_unit_test(O7_and_O8_agree_without_rows_that_hold),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
