/* Tests shape queries on arrays: closed forms of balls and boxes, order of results, threads, and refused input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "library/sdrs.h"

static const char SHAPES[] =
    "[{\"type\": \"sphere\", \"radius\": 0.5}, {\"type\": \"sphere\", \"radius\": 1},\n"
    " {\"type\": \"box\", \"size\": [2, 2, 2]}, {\"type\": \"points\", \"points\": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]]}]";

static sdrs_shapes* created(void) {
  sdrs_shapes* s;
  assert_int_equal(sdrs_shapes_new(&s, SHAPES, NULL), SDRS_OK);
  assert_int_equal(sdrs_shapes_count(s), 4);
  return s;
}

enum { ROWS = 300, POSE = 7 };

typedef struct {
  int shapes[ROWS][2];
  double a[ROWS][POSE], b[ROWS][POSE];
} Rows;

/* b at these distances along x, the axes of the world. */
static void fill(Rows* rows, int i, int j, double x) {
  for (int k = 0; k < ROWS; k++) {
    const double a[POSE] = {0, 0, 0, 1}, b[POSE] = {x + 0.01 * k, 0, 0, 1};
    rows->shapes[k][0] = i;
    rows->shapes[k][1] = j;
    memcpy(rows->a[k], a, sizeof a);
    memcpy(rows->b[k], b, sizeof b);
  }
}

static sdrs_pairs request(const Rows* rows, const char* method, const char* const* answers, int count, double* out,
                          size_t stride) {
  sdrs_pairs pairs = SDRS_INIT(sdrs_pairs);
  pairs.method = method;
  pairs.answers = answers;
  pairs.answer_count = count;
  pairs.count = ROWS;
  pairs.shapes = rows->shapes[0];
  pairs.poses_a = rows->a[0];
  pairs.poses_b = rows->b[0];
  pairs.out = out;
  pairs.stride = stride;
  return pairs;
}

/* alpha = |r| / (ra + rb); gap = |r| - (ra + rb) |r| / |r| for balls: |r| (1 - 1/alpha). */
static void growth_of_balls_has_its_closed_form(void** state) {
  (void)state;
  static const char* const answers[] = {"gap", "normal", "alpha", "d_gap_b"};
  static Rows rows;
  static double out[ROWS][13];
  sdrs_shapes* s = created();
  fill(&rows, 0, 1, 2);
  sdrs_pairs pairs = request(&rows, "growth", answers, 4, out[0], 13);
  size_t columns[4];
  assert_int_equal(sdrs_shapes_layout(s, &pairs, columns), SDRS_OK);
  const size_t expected[4] = {1, 3, 1, 6};
  assert_memory_equal(columns, expected, sizeof columns);
  for (int k = 0; k < ROWS; k++) out[k][11] = out[k][12] = 7;
  assert_int_equal(sdrs_shapes_query(s, &pairs), SDRS_OK);
  for (int k = 0; k < ROWS; k++) {
    double r = 2 + 0.01 * k;
    assert_true(fabs(out[k][0] - (r - 1.5)) < 1e-12);
    assert_true(fabs(out[k][1] - 1) < 1e-12 && fabs(out[k][2]) < 1e-12);
    assert_true(fabs(out[k][4] - r / 1.5) < 1e-12);
    assert_true(fabs(out[k][8] - 1) < 1e-9 && fabs(out[k][9]) < 1e-9); /* the move along x, along y */
    assert_true(out[k][11] == 7 && out[k][12] == 7);                   /* beyond the row */
  }
  sdrs_shapes_free(s);
}

/* A ball is a superellipsoid with an exponent and three sizes. Along x, alpha = |r| / (ra + rb), so its derivative by
 * either size along x is -|r| / (ra + rb)^2. A box has other parameters and cannot share a call with a ball. */
static void derivatives_by_sizes_have_their_closed_form(void** state) {
  (void)state;
  static const char* const answers[] = {"d_alpha_shape_b", "alpha", "d_alpha_shape_a"};
  static Rows rows;
  static double out[ROWS][9];
  sdrs_shapes* s = created();
  fill(&rows, 0, 1, 2);
  sdrs_pairs pairs = request(&rows, "growth", answers, 3, out[0], 9);
  size_t columns[3];
  assert_int_equal(sdrs_shapes_layout(s, &pairs, columns), SDRS_OK);
  const size_t expected[3] = {4, 1, 4};
  assert_memory_equal(columns, expected, sizeof columns);
  assert_int_equal(sdrs_shapes_query(s, &pairs), SDRS_OK);
  for (int k = 0; k < ROWS; k++) {
    double slope = -(2 + 0.01 * k) / (1.5 * 1.5);
    assert_true(fabs(out[k][4] + slope * 1.5) < 1e-12);
    for (int side = 0; side < 2; side++)
      for (int c = 0; c < 4; c++) assert_true(fabs(out[k][5 * side + c] - (c == 1 ? slope : 0)) < 1e-9);
  }
  static const char* const nearest[] = {"d_distance_shape_b"};
  rows.shapes[9][1] = 3;
  pairs = request(&rows, "distance", nearest, 1, out[0], 9);
  assert_int_equal(sdrs_shapes_layout(s, &pairs, columns), SDRS_BAD_INPUT);
  const char* reason = "row 0: 'd_distance_shape_b' of shapes 0 and 1 has 4 numbers, in other rows 12";
  if (!strstr(sdrs_shapes_error(s), reason)) fail_msg("'%s'", sdrs_shapes_error(s));
  sdrs_shapes_free(s);
}

/* One call may mix pairs of every type. Results that a type lacks are NaN. The number of threads changes no bit. */
static void pairs_are_mixed_and_threads_change_nothing(void** state) {
  (void)state;
  static const char* const answers[] = {"distance", "proved", "d_distance_b"};
  static Rows rows;
  static double out[3][ROWS][8];
  sdrs_shapes* s = created();
  fill(&rows, 2, 2, 2.5);
  for (int k = 0; k < ROWS; k++) {
    rows.shapes[k][0] = k % 3 == 0 ? 0 : 2;
    rows.shapes[k][1] = k % 3 == 1 ? 1 : 3;
  }
  for (int threads = 0; threads < 3; threads++) {
    sdrs_pairs pairs = request(&rows, "distance", answers, 3, out[threads][0], 8);
    pairs.threads = threads;
    assert_int_equal(sdrs_shapes_query(s, &pairs), SDRS_OK);
  }
  assert_memory_equal(out[0], out[1], sizeof out[0]);
  assert_memory_equal(out[0], out[2], sizeof out[0]);
  for (int k = 0; k < ROWS; k++) {
    double x = 2.5 + 0.01 * k, radius = k % 3 == 0 ? 0.5 : 1, reach = k % 3 == 1 ? 1 : 0;
    assert_true(fabs(out[0][k][0] - (x - radius - reach)) < 1e-9);
    assert_true(k % 3 == 2 ? isnan(out[0][k][1]) : out[0][k][1] == 1); /* of hulls nothing has to be proved */
  }
  sdrs_shapes_free(s);
}

static void expect_refusal(sdrs_shapes* s, const sdrs_pairs* pairs, sdrs_status status, const char* words) {
  assert_int_equal(sdrs_shapes_query(s, pairs), status);
  if (!strstr(sdrs_shapes_error(s), words)) fail_msg("'%s' is not in '%s'", words, sdrs_shapes_error(s));
  for (int k = 0; k < ROWS; k++) assert_true(pairs->out[(size_t)k * pairs->stride] == 7);
}

static void wrong_questions_are_refused_with_their_reason(void** state) {
  (void)state;
  static const char* const alpha[] = {"alpha"};
  static const char* const alpah[] = {"alpah"};
  static const char* const twice[] = {"alpha", "alpha"};
  static Rows rows;
  static double out[ROWS];
  sdrs_shapes* s = created();
  for (int k = 0; k < ROWS; k++) out[k] = 7;
  fill(&rows, 0, 1, 2);
  sdrs_pairs pairs = request(&rows, "growth", alpah, 1, out, 1);
  expect_refusal(s, &pairs, SDRS_BAD_INPUT, "growth does not answer 'alpah' (did you mean 'alpha'?)");
  pairs = request(&rows, "growth", twice, 2, out, 2);
  pairs.stride = 1;
  expect_refusal(s, &pairs, SDRS_BAD_INPUT, "'alpha' is listed twice");
  pairs = request(&rows, "growht", alpha, 1, out, 1);
  expect_refusal(s, &pairs, SDRS_BAD_INPUT,
                 "method must be growth, distance, manifold, witness or touch, got 'growht'");
  pairs = request(&rows, "touch", alpha, 1, out, 1);
  expect_refusal(s, &pairs, SDRS_BAD_INPUT, "touch needs");
  pairs = request(&rows, "growth", alpha, 1, out, 1);
  pairs.options = "{\"smothing\": 1}";
  expect_refusal(s, &pairs, SDRS_BAD_INPUT, "options:1:2: error: unknown key 'smothing' (did you mean 'smoothing'?)");
  pairs.options = "{\"derivatives\": true}";
  expect_refusal(s, &pairs, SDRS_BAD_INPUT, "'derivatives' is not allowed in the options of a query of arrays");
  pairs.options = "{\"stiffness\": -1}";
  expect_refusal(s, &pairs, SDRS_BAD_INPUT, "must be in 1e-12");
  pairs.options = "[";
  expect_refusal(s, &pairs, SDRS_BAD_INPUT, "options must be a JSON object");
  pairs.options = NULL;
  pairs.stride = 0;
  assert_int_equal(sdrs_shapes_query(s, &pairs), SDRS_USAGE);
  assert_non_null(strstr(sdrs_shapes_error(s), "stride"));
  pairs.stride = 1;
  rows.b[5][3] = 2;
  expect_refusal(s, &pairs, SDRS_BAD_INPUT, "row 5: quaternion_b: a quaternion [w, x, y, z] must have length 1");
  rows.b[5][3] = 1;
  rows.a[299][2] = (double)NAN;
  expect_refusal(s, &pairs, SDRS_BAD_INPUT, "row 299: position_a[2]: must be in");
  rows.a[299][2] = 0;
  rows.shapes[7][1] = 4;
  expect_refusal(s, &pairs, SDRS_BAD_INPUT, "row 7: there is no shape 4: shapes are numbered from 0 to 3");
  rows.shapes[7][1] = 2;
  expect_refusal(s, &pairs, SDRS_BAD_INPUT, "shape 2: growth needs a smooth shape");
  rows.shapes[7][1] = 1;
  assert_int_equal(sdrs_shapes_query(s, &pairs), SDRS_OK);
  sdrs_shapes_free(s);
}

static void expect_bad_shapes(const char* text, const char* words) {
  sdrs_shapes* s;
  assert_int_equal(sdrs_shapes_new(&s, text, "my.json"), SDRS_BAD_INPUT);
  if (!strstr(sdrs_shapes_error(s), words)) fail_msg("'%s' is not in '%s'", words, sdrs_shapes_error(s));
  assert_int_equal(sdrs_shapes_count(s), 0);
  sdrs_shapes_free(s);
}

static void wrong_shapes_are_refused_with_their_place(void** state) {
  (void)state;
  expect_bad_shapes("[{\"type\": \"sphere\", \"radius\": 1},\n {\"type\": \"sphere\", \"radius\": -1}]",
                    "my.json:2:31: error: shape 1: radius: must be in");
  expect_bad_shapes("[{\"type\": \"sphere\", \"radius\": 1, \"position\": [0, 0, 0]}]",
                    "'position' is not allowed in a shape");
  expect_bad_shapes("{\"type\": \"sphere\", \"radius\": 1}", "expected a list of shapes");
  expect_bad_shapes("[]", "an empty list");
  expect_bad_shapes("[{\"type\": \"sphere\"", "not valid JSON");
}

static void null_is_refused(void** state) {
  (void)state;
  static const char* const answers[] = {"alpha", NULL};
  static Rows rows;
  static double out[ROWS];
  size_t columns;
  sdrs_shapes* s = NULL;
  assert_int_equal(sdrs_shapes_new(NULL, SHAPES, NULL), SDRS_USAGE);
  assert_int_equal(sdrs_shapes_new(&s, NULL, NULL), SDRS_USAGE);
  assert_null(s);
  sdrs_shapes_free(NULL);
  assert_string_equal(sdrs_shapes_error(NULL), "out of memory");
  assert_int_equal(sdrs_shapes_count(NULL), 0);
  s = created();
  fill(&rows, 0, 1, 2);
  sdrs_pairs good = request(&rows, "growth", answers, 1, out, 1), pairs = good;
  assert_int_equal(sdrs_shapes_query(NULL, &good), SDRS_USAGE);
  assert_int_equal(sdrs_shapes_query(s, NULL), SDRS_USAGE);
  assert_int_equal(sdrs_shapes_layout(s, &good, NULL), SDRS_USAGE);
  pairs.size = 8;
  assert_int_equal(sdrs_shapes_query(s, &pairs), SDRS_USAGE);
  pairs = good;
  pairs.method = NULL;
  assert_int_equal(sdrs_shapes_query(s, &pairs), SDRS_USAGE);
  pairs = good;
  pairs.answer_count = 2;
  assert_int_equal(sdrs_shapes_query(s, &pairs), SDRS_USAGE);
  pairs = good;
  pairs.poses_b = NULL;
  assert_int_equal(sdrs_shapes_query(s, &pairs), SDRS_USAGE);
  assert_int_equal(sdrs_shapes_layout(s, &pairs, &columns), SDRS_OK);
  pairs = good;
  pairs.threads = -1;
  assert_int_equal(sdrs_shapes_query(s, &pairs), SDRS_USAGE);
  pairs = good;
  pairs.count = 0;
  assert_int_equal(sdrs_shapes_query(s, &pairs), SDRS_OK);
  sdrs_shapes_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(growth_of_balls_has_its_closed_form),
      cmocka_unit_test(derivatives_by_sizes_have_their_closed_form),
      cmocka_unit_test(pairs_are_mixed_and_threads_change_nothing),
      cmocka_unit_test(wrong_questions_are_refused_with_their_reason),
      cmocka_unit_test(wrong_shapes_are_refused_with_their_place),
      cmocka_unit_test(null_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
