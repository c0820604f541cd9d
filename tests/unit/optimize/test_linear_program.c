#include "optimize/linear_program.h"
#include "optimize_testing.h"

typedef struct {
  double low[TEST_COUNT_MAX], high[TEST_COUNT_MAX], row_low[TEST_ROWS_MAX], row_high[TEST_ROWS_MAX];
} Face;

static const double UNIT[2] = {1, 1};

static bool find_face(const TestSet* t, const double unit[2], const double* cost, Face* face) {
  Projector* projector = projector_create(&t->set);
  LinearProgram* program = linear_program_create(projector_rows(projector));
  ProjectLimits limits = {t->low, t->high, t->row_low, t->row_high};
  uint64_t before = memory_allocation_count();
  bool found = linear_program_solve(program, t->block, unit, cost, &limits, face->low, face->high, face->row_low,
                                    face->row_high);
  assert_int_equal(memory_allocation_count(), before);
  linear_program_destroy(program);
  projector_destroy(projector);
  return found;
}

/* max x + y, x + 2 y <= 2, 0 <= x <= 1, 0 <= y <= 1: at x = 1, y = 1/2; x and the row hold. */
static void a_corner_by_hand(void** state) {
  (void)state;
  TestSet* t = test_set_create(2, 1);
  t->low[0] = t->low[1] = 0;
  t->high[0] = t->high[1] = 1;
  t->dense[0][0] = 1, t->dense[0][1] = 2;
  t->row_high[0] = 2;
  test_set_pack(t);
  Face face;
  assert_true(find_face(t, UNIT, (double[]){-1, -1}, &face));
  assert_true(face.low[0] == 1 && face.high[0] == 1);
  assert_true(face.low[1] == 0 && face.high[1] == 1);
  assert_true(face.row_low[0] == 2 && face.row_high[0] == 2);
  /* Costs along the row: all of the edge is best, only the row holds. */
  assert_true(find_face(t, UNIT, (double[]){-1, -2}, &face));
  assert_true(face.low[0] == 0 && face.high[0] == 1 && face.low[1] == 0 && face.high[1] == 1);
  assert_true(face.row_low[0] == 2 && face.row_high[0] == 2);
  /* No costs: everything is best. */
  assert_true(find_face(t, UNIT, (double[]){0, 0}, &face));
  assert_true(face.low[0] == 0 && face.high[0] == 1 && isinf(face.row_low[0]) && face.row_high[0] == 2);
  memory_free(t);
}

/* Any point of the face has the least cost, which GLPK's ordinary simplex method finds from other data structures. */
static void every_point_of_the_face_is_best(void** state) {
  (void)state;
  Random random = {31};
  for (int round = 0; round < 300; round++) {
    int n = 2 + round % 30, rows = 1 + round % 8;
    double inside[TEST_COUNT_MAX], cost[TEST_COUNT_MAX] = {0}, wanted[TEST_COUNT_MAX] = {0};
    double x[TEST_COUNT_MAX] = {0}, scale[TEST_COUNT_MAX];
    const double unit[2] = {1, round % 2 ? 1e-3 : 1};
    TestSet* t = test_set_random(&random, n, rows, 0.5, inside);
    for (int r = 0; r < rows; r++) {
      double value = test_row(t, r, inside);
      bool equation = t->row_low[r] == t->row_high[r];
      t->row_low[r] = equation ? 0 : t->row_low[r] - value;
      t->row_high[r] = equation ? 0 : t->row_high[r] - value;
    }
    for (int i = 0; i < n; i++) {
      double u = unit[t->block[i]];
      t->low[i] = -u * random_uniform(&random, 0, 1);
      t->high[i] = u * random_uniform(&random, 0, 1);
      cost[i] = random_bits(&random) % 4 ? random_normal(&random) : 0;
    }
    Face face;
    assert_true(find_face(t, unit, cost, &face));
    assert_true(test_linear_program(t, cost, NULL, NULL, wanted));
    /* The nearest point of the face to a point anywhere. */
    for (int i = 0; i < n; i++) {
      scale[i] = unit[t->block[i]];
      x[i] = scale[i] * random_normal(&random);
    }
    Projector* projector = projector_create(&t->set);
    for (int i = 0; i < n; i++) {
      bool in_row = false;
      for (int r = 0; r < rows; r++) in_row = in_row || t->dense[r][i] != 0;
      if (!in_row) face.low[i] = face.high[i] = cost[i] > 0 ? t->low[i] : cost[i] < 0 ? t->high[i] : 0;
    }
    ProjectLimits limits = {face.low, face.high, face.row_low, face.row_high};
    assert_true(projector_project(projector, &limits, scale, x));
    double found = 0, least = 0, size = 0;
    for (int i = 0; i < n; i++) {
      found += cost[i] * x[i];
      least += cost[i] * wanted[i];
      size += fabs(cost[i]) * unit[t->block[i]];
    }
    test_expect_inside(t, x, 1e-12, "face", round);
    compare_near(found, least, 1e-8 * size, "round %d: cost", round);
    projector_destroy(projector);
    memory_free(t);
  }
}

/* The terminal stays as it was: GLPK's switch is the process's. */
static void the_terminal_setting_is_put_back(void** state) {
  (void)state;
  TestSet* t = test_set_create(1, 1);
  t->low[0] = -1, t->high[0] = 1;
  t->dense[0][0] = 1;
  test_set_pack(t);
  Face face;
  for (int setting = GLP_OFF; setting <= GLP_ON; setting++) {
    glp_term_out(setting);
    assert_true(find_face(t, UNIT, (double[]){1}, &face));
    assert_true(face.high[0] == -1);
    assert_int_equal(glp_term_out(GLP_OFF), setting);
  }
  linear_program_destroy(NULL);
  memory_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_corner_by_hand),
      cmocka_unit_test(every_point_of_the_face_is_best),
      cmocka_unit_test(the_terminal_setting_is_put_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
