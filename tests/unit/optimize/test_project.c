#include "optimize/project.h"
#include "optimize_testing.h"

static const double UNIT[2] = {1, 1};

/* By block. */
static void fill_scale(const TestSet* t, const double by_block[2], double* scale) {
  for (int i = 0; i < t->set.count; i++) scale[i] = by_block[t->block[i]];
}

static ProjectLimits limits_of(const TestSet* t) { return (ProjectLimits){t->low, t->high, t->row_low, t->row_high}; }

static bool nearest(const TestSet* t, const double by_block[2], double* x) {
  double scale[TEST_COUNT_MAX];
  fill_scale(t, by_block, scale);
  Projector* projector = projector_create(&t->set);
  ProjectLimits limits = limits_of(t);
  bool found = projector_project(projector, &limits, scale, x);
  projector_destroy(projector);
  return found;
}

static void bounds_alone_clamp(void** state) {
  (void)state;
  TestSet* t = test_set_create(5, 0);
  t->low[0] = -1, t->high[0] = 1;
  t->low[1] = 2;
  t->high[2] = -3;
  t->low[3] = t->high[3] = 0.1;
  double x[5] = {-7, 1, 5, 9, 1e300};
  assert_true(nearest(t, UNIT, x));
  compare_bytes(x, (double[]){-1, 2, -3, 0.1, 1e300}, sizeof x, "clamped");
  memory_free(t);
}

/* Onto x + y = 1, x >= 0: (y and x closed form), the foot of the perpendicular and the corner. */
static void a_line_has_a_closed_form(void** state) {
  (void)state;
  TestSet* t = test_set_create(2, 1);
  t->low[0] = 0;
  t->dense[0][0] = t->dense[0][1] = 1;
  t->row_low[0] = t->row_high[0] = 1;
  test_set_pack(t);
  double foot[2] = {2, 3}, corner[2] = {-2, 3}, weighted[2] = {2, 3};
  assert_true(nearest(t, UNIT, foot));
  compare_arrays(foot, (double[]){0, 1}, 2, 1e-15, "foot");
  assert_true(nearest(t, UNIT, corner));
  compare_arrays(corner, (double[]){0, 1}, 2, 1e-15, "corner");
  /* Block 1 ten times as wide: minimise (dx)^2 + (dy/10)^2 with dx + dy = -4 -> dx = -4/101. */
  t->block[1] = 1;
  assert_true(nearest(t, (double[]){1, 10}, weighted));
  compare_arrays(weighted, (double[]){2 - 4.0 / 101, 3 - 400.0 / 101}, 2, 1e-14, "weighted");
  memory_free(t);
}

/* Random sets in two and three dimensions, feasible and not, against trying every choice of sides. */
static void O1_nearest_point_matches_enumeration(void** state) {
  (void)state;
  Random random = {11};
  int empty = 0, held = 0;
  for (int round = 0; round < 1500; round++) {
    int n = 2 + round % 2;
    double inside[3], y[3], x[3], wanted[3], scale[2] = {1, 1}, by_variable[3];
    TestSet* t = test_set_random(&random, n, 1 + round % 4, 0.8, inside);
    if (round % 3 == 0) scale[1] = 3;
    if (round % 4 == 1) t->row_low[0] = t->row_high[0] = test_row(t, 0, inside) + random_uniform(&random, -2, 2);
    for (int i = 0; i < n; i++) y[i] = x[i] = random_uniform(&random, -3, 3);
    for (int i = 0; i < n; i++) by_variable[i] = scale[t->block[i]];
    bool possible = test_nearest_by_enumeration(t, by_variable, y, wanted), found = nearest(t, scale, x);
    if (possible != found) fail_msg("round %d: the set is %s", round, possible ? "not empty" : "empty");
    if (found) {
      for (int i = 0; i < n; i++) compare_near(x[i], wanted[i], 1e-9, "round %d, x[%d]", round, i);
      test_expect_inside(t, x, 1e-12, "enumeration", round);
      held += memcmp(x, y, sizeof(double) * (size_t)n) != 0;
    } else {
      empty++;
      compare_bytes(x, y, sizeof(double) * (size_t)n, "left alone, round %d", round);
    }
    memory_free(t);
  }
  assert_in_range(empty, 50, 700);
  assert_in_range(held, 500, 1500);
}

/* y - x lies in the cone of the outward normals at x, by multipliers that GLPK finds. */
static void check_multipliers(const TestSet* t, const double* y, const double* x, const char* what, int round) {
  TestCone* cone = memory_alloc(sizeof *cone);
  double difference[TEST_COUNT_MAX], largest = 0;
  for (int i = 0; i < t->set.count; i++) {
    difference[i] = y[i] - x[i];
    largest = fmax(largest, fabs(difference[i]));
  }
  test_cone_normals(cone, t, x, 1e-9);
  compare_at_most(test_cone_residual(cone, difference), 1e-8 * (1 + largest), "%s, round %d: multipliers", what, round);
  memory_free(cone);
}

static void O1_multipliers_exist_in_many_dimensions(void** state) {
  (void)state;
  Random random = {12};
  for (int round = 0; round < 200; round++) {
    int n = 5 + round % 40, rows = round % 13;
    double inside[TEST_COUNT_MAX], y[TEST_COUNT_MAX], x[TEST_COUNT_MAX];
    TestSet* t = test_set_random(&random, n, rows, 0.3, inside);
    for (int i = 0; i < n; i++) y[i] = x[i] = random_uniform(&random, -4, 4);
    assert_true(nearest(t, UNIT, x));
    test_expect_inside(t, x, 1e-12, "large", round);
    check_multipliers(t, y, x, "large", round);
    memory_free(t);
  }
}

/* Whole coefficients and limits: rows repeated, multiples of each other, through corners of the bounds, all at once. */
static void degenerate_sets_are_no_trouble(void** state) {
  (void)state;
  Random random = {13};
  int empty = 0, found = 0;
  for (int round = 0; round < 2000; round++) {
    int n = 2 + round % 2, rows = 1 + round % 6;
    TestSet* t = test_set_create(n, rows);
    for (int i = 0; i < n; i++) {
      t->low[i] = -(double)(random_bits(&random) % 3);
      t->high[i] = (double)(random_bits(&random) % 3);
    }
    for (int r = 0; r < rows; r++) {
      for (int i = 0; i < n; i++) t->dense[r][i] = (double)(random_bits(&random) % 5) - 2;
      t->row_low[r] = (double)(random_bits(&random) % 5) - 3;
      t->row_high[r] = t->row_low[r] + (double)(random_bits(&random) % 3);
      if (r > 0 && random_bits(&random) % 3 == 0) {
        memcpy(t->dense[r], t->dense[r - 1], sizeof t->dense[r]);
        t->row_low[r] = t->row_low[r - 1];
        t->row_high[r] = t->row_high[r - 1];
      }
    }
    test_set_pack(t);
    double y[3] = {0}, x[3], wanted[3] = {0};
    for (int i = 0; i < n; i++) y[i] = x[i] = (double)(random_bits(&random) % 9) - 4;
    bool possible = test_nearest_by_enumeration(t, (double[]){1, 1, 1}, y, wanted), is_found = nearest(t, UNIT, x);
    if (possible != is_found) fail_msg("round %d: the set is %s", round, possible ? "not empty" : "empty");
    for (int i = 0; i < n && is_found; i++) compare_near(x[i], wanted[i], 1e-11, "round %d, x[%d]", round, i);
    empty += !is_found;
    found += is_found;
    memory_free(t);
  }
  assert_true(empty > 200 && found > 200);
}

/* The same equations many times over, far from the point: consistent, so not a contradiction, however they round. */
static void repeated_equations_are_no_contradiction(void** state) {
  (void)state;
  Random random = {14};
  for (int round = 0; round < 200; round++) {
    enum { N = 12, ROWS = 20 };
    TestSet* t = test_set_create(N, ROWS);
    double inside[N], x[N];
    for (int i = 0; i < N; i++) {
      inside[i] = random_uniform(&random, -1, 1);
      x[i] = 1e4 * random_normal(&random);
      if (i % 3 == 0) t->low[i] = inside[i];
    }
    for (int r = 0; r < ROWS; r++) {
      double factor = random_uniform(&random, 0.1, 10);
      for (int i = 0; i < N; i++) t->dense[r][i] = r < 5 ? random_normal(&random) : factor * t->dense[r % 5][i];
      t->row_low[r] = t->row_high[r] = test_row(t, r, inside);
    }
    test_set_pack(t);
    assert_true(nearest(t, UNIT, x));
    test_expect_inside(t, x, 1e-9, "repeated", round);
    memory_free(t);
  }
}

/* From a million times as far as the set is large, the rows are met as closely as numbers of the set's size allow. */
static void rows_hold_from_far_away(void** state) {
  (void)state;
  Random random = {17};
  for (int round = 0; round < 100; round++) {
    enum { N = 10, ROWS = 6 };
    double inside[N], x[N];
    TestSet* t = test_set_create(N, ROWS);
    for (int i = 0; i < N; i++) {
      inside[i] = random_uniform(&random, -1, 1);
      x[i] = 1e6 * random_normal(&random);
      if (i % 2) t->low[i] = inside[i] - 0.5, t->high[i] = inside[i] + 0.5;
    }
    for (int r = 0; r < ROWS; r++) {
      for (int i = 0; i < N; i++) t->dense[r][i] = random_normal(&random);
      t->row_low[r] = test_row(t, r, inside) - (r % 2);
      t->row_high[r] = test_row(t, r, inside) + (r % 2);
    }
    test_set_pack(t);
    assert_true(nearest(t, UNIT, x));
    test_expect_inside(t, x, 1e-13, "from far away", round);
    memory_free(t);
  }
}

/* Two planes at an angle of 1e-7 through a point: the nearest point of their line, with the plane equations themselves
 * and, as the judge, with an orthogonal pair that spans the same normals. */
static void nearly_parallel_rows(void** state) {
  (void)state;
  const double angle = 1e-7;
  Random random = {18};
  for (int round = 0; round < 100; round++) {
    TestSet *t = test_set_create(3, 2), *judge = test_set_create(3, 2);
    Vec3 a = vec3_normalized(vec3(random_normal(&random), random_normal(&random), random_normal(&random)));
    Vec3 b = vec3_normalized(vec3_cross(a, vec3(random_normal(&random), random_normal(&random), 1)));
    Vec3 p = vec3(random_normal(&random), random_normal(&random), random_normal(&random));
    Vec3 tilted = vec3_add_scaled(a, angle, b);
    const Vec3 rows[2] = {a, tilted}, judges[2] = {a, b};
    for (int r = 0; r < 2; r++) {
      memcpy(t->dense[r], &rows[r], sizeof(Vec3));
      memcpy(judge->dense[r], &judges[r], sizeof(Vec3));
      t->row_low[r] = t->row_high[r] = vec3_dot(rows[r], p);
      judge->row_low[r] = judge->row_high[r] = vec3_dot(judges[r], p);
    }
    test_set_pack(t);
    test_set_pack(judge);
    double x[3], wanted[3];
    for (int i = 0; i < 3; i++) x[i] = wanted[i] = random_uniform(&random, -3, 3);
    assert_true(nearest(t, UNIT, x));
    assert_true(nearest(judge, UNIT, wanted));
    test_expect_inside(t, x, 1e-12, "nearly parallel", round);
    /* The limits have rounding errors of 1e-16, which the angle amplifies to 1e-9. */
    for (int i = 0; i < 3; i++) compare_near(x[i], wanted[i], 1e-8, "round %d, x[%d]", round, i);
    memory_free(t);
    memory_free(judge);
  }
}

static void what_is_empty_is_said(void** state) {
  (void)state;
  TestSet* t = test_set_create(3, 2);
  double x[3] = {0.1, 0.2, 0.3};
  t->low[1] = 1, t->high[1] = 0.5;
  test_set_pack(t);
  assert_false(nearest(t, UNIT, x)); /* bounds the wrong way round */
  t->low[1] = -1;
  t->dense[0][0] = t->dense[0][1] = t->dense[1][0] = t->dense[1][1] = 1;
  t->row_low[0] = 2;
  t->row_high[1] = 1;
  test_set_pack(t);
  assert_false(nearest(t, UNIT, x)); /* two rows against each other */
  t->row_high[1] = 3;
  t->high[0] = 1.4;
  assert_false(nearest(t, UNIT, x)); /* a row against bounds */
  t->high[0] = 1.5;
  assert_true(nearest(t, UNIT, x)); /* one point is a set */
  compare_arrays(x, (double[]){1.5, 0.5, 0.3}, 3, 1e-15, "the only point");
  memset(t->dense[0], 0, sizeof t->dense[0]);
  test_set_pack(t);
  assert_false(nearest(t, UNIT, x)); /* 0 >= 2 */
  t->row_low[0] = 0;
  assert_true(nearest(t, UNIT, x)); /* 0 >= 0 */
  double bad[3] = {0, NAN, 0};
  assert_false(nearest(t, UNIT, bad));
  memory_free(t);
}

/* A row may name a variable twice. */
static void repeated_columns_are_summed(void** state) {
  (void)state;
  TestSet* t = test_set_create(2, 1);
  t->row_low[0] = t->row_high[0] = 6;
  memcpy(t->column, (int[]){1, 0, 1}, sizeof(int[3]));
  memcpy(t->coefficient, (double[]){1, 1, 1}, sizeof(double[3]));
  t->first[1] = 3;
  double x[2] = {0, 0}; /* nearest of x + 2 y = 6: 6/5 (1, 2) */
  assert_true(nearest(t, UNIT, x));
  compare_arrays(x, (double[]){1.2, 2.4}, 2, 1e-15, "summed");
  memory_free(t);
}

/* Projection along the face: orthogonal to the active constraints, idempotent, and vectors in the face are unchanged.
 */
static void directions_along_the_face(void** state) {
  (void)state;
  Random random = {15};
  for (int round = 0; round < 100; round++) {
    enum { N = 15 };
    double inside[N], x[N], v[N], w[N], scale[N];
    TestSet* t = test_set_random(&random, N, 6, 0.4, inside);
    for (int i = 0; i < N; i++) x[i] = random_uniform(&random, -4, 4);
    Projector* projector = projector_create(&t->set);
    ProjectLimits limits = limits_of(t);
    fill_scale(t, UNIT, scale);
    assert_true(projector_project(projector, &limits, scale, x));
    for (int i = 0; i < N; i++) v[i] = random_normal(&random);
    projector_project_direction(projector, v);
    memcpy(w, v, sizeof v);
    projector_project_direction(projector, w);
    compare_arrays(w, v, N, 1e-13, "round %d: twice", round);
    /* A small step keeps every bound and row that x touches with a force; here all that it touches. */
    for (int i = 0; i < N; i++)
      if (x[i] == t->low[i] || x[i] == t->high[i]) compare_near(v[i], 0, 0, "round %d, held %d", round, i);
    for (int r = 0; r < 6; r++) {
      double value = test_row(t, r, x);
      if (fabs(value - t->row_low[r]) > 1e-11 && fabs(value - t->row_high[r]) > 1e-11) continue;
      compare_near(test_row(t, r, v), 0, 1e-12, "round %d, row %d", round, r);
    }
    projector_destroy(projector);
    memory_free(t);
  }
}

static void nothing_is_allocated_after_creation(void** state) {
  (void)state;
  Random random = {16};
  double inside[30], x[30], scale[30];
  TestSet* t = test_set_random(&random, 30, 8, 0.3, inside);
  Projector* projector = projector_create(&t->set);
  ProjectLimits limits = limits_of(t);
  for (int i = 0; i < 30; i++) x[i] = random_uniform(&random, -4, 4);
  fill_scale(t, UNIT, scale);
  uint64_t before = memory_allocation_count();
  assert_true(projector_project(projector, &limits, scale, x));
  projector_project_direction(projector, x);
  assert_int_equal(memory_allocation_count(), before);
  projector_destroy(projector);
  projector_destroy(NULL);
  memory_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_alone_clamp),
      cmocka_unit_test(a_line_has_a_closed_form),
      cmocka_unit_test(O1_nearest_point_matches_enumeration),
      cmocka_unit_test(O1_multipliers_exist_in_many_dimensions),
      cmocka_unit_test(degenerate_sets_are_no_trouble),
      cmocka_unit_test(repeated_equations_are_no_contradiction),
      cmocka_unit_test(rows_hold_from_far_away),
      cmocka_unit_test(nearly_parallel_rows),
      cmocka_unit_test(what_is_empty_is_said),
      cmocka_unit_test(repeated_columns_are_summed),
      cmocka_unit_test(directions_along_the_face),
      cmocka_unit_test(nothing_is_allocated_after_creation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
