/* Tests NULL for every argument of every function of sdrs.h. The result is SDRS_USAGE or the value in the header, never
 * a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "library/sdrs.h"

static const char SCENE[] =
    "simulation: {dt: 0.01, steps: 2, integrator: first_order}\n"
    "links: [{name: a, mass: 1, joint: {type: hinge, axis: [0, 1, 0]}, shape: {type: sphere, radius: 0.1}}]\n"
    "controllers: [{link: a, type: pd, position_gain: 1, velocity_gain: 0, target: 0.5}]\n";

static sdrs* recorded(void) {
  sdrs* s;
  assert_int_equal(sdrs_parse(&s, SCENE, NULL, NULL), SDRS_OK);
  assert_int_equal(sdrs_run(s, 0), SDRS_OK);
  return s;
}

/* Refused with words, and the object goes on. */
static void expect_usage(sdrs* s, sdrs_status status, const char* word) {
  assert_int_equal(status, SDRS_USAGE);
  if (!strstr(sdrs_error(s), word)) fail_msg("'%s' is not in '%s'", word, sdrs_error(s));
  assert_int_equal(sdrs_reset(s), SDRS_OK);
}

/* ---------------------------------------------------------------- loading */

static void expect_load_usage(const char* path, const char* text, const sdrs_options* options, const char* word) {
  for (int k = 0; k < 2; k++) {
    sdrs* s;
    sdrs_status status = k == 0 ? sdrs_load(&s, path, options) : sdrs_parse(&s, text, NULL, options);
    assert_int_equal(status, SDRS_USAGE);
    if (!strstr(sdrs_error(s), word)) fail_msg("'%s' is not in '%s'", word, sdrs_error(s));
    assert_int_equal(sdrs_step(s, 1), SDRS_USAGE);
    sdrs_free(s);
  }
}

static void loading(void** state) {
  (void)state;
  sdrs* s;
  const char* const gap[] = {"simulation.steps=1", NULL};
  assert_int_equal(sdrs_load(NULL, "scenes/slide.yaml", NULL), SDRS_USAGE);
  assert_int_equal(sdrs_parse(NULL, SCENE, NULL, NULL), SDRS_USAGE);
  expect_load_usage(NULL, NULL, NULL, "is NULL");
  expect_load_usage("scenes/slide.yaml", SCENE, &(sdrs_options){.size = sizeof(sdrs_options), .override_count = 1},
                    "without overrides");
  expect_load_usage("scenes/slide.yaml", SCENE, &(sdrs_options){.size = sizeof(sdrs_options), .override_count = -1},
                    "negative");
  expect_load_usage("scenes/slide.yaml", SCENE,
                    &(sdrs_options){.size = sizeof(sdrs_options), .overrides = gap, .override_count = 2}, "NULL");
  assert_int_equal(
      sdrs_parse(&s, SCENE, NULL, &(sdrs_options){.size = sizeof(sdrs_options), .overrides = gap, .override_count = 1}),
      SDRS_OK);
  assert_int_equal(sdrs_clone(NULL, s), SDRS_USAGE);
  sdrs* clone = s;
  assert_int_equal(sdrs_clone(&clone, NULL), SDRS_USAGE);
  assert_null(clone);
  sdrs_free(s);
  sdrs_free(NULL);
}

/* ---------------------------------------------------------------- no object */

static void no_object(void** state) {
  (void)state;
  sdrs_array array = SDRS_INIT(sdrs_array);
  sdrs_proof proof = SDRS_INIT(sdrs_proof);
  double value;
  sdrs* const none[2] = {NULL, NULL};
  assert_int_equal(sdrs_view(NULL, SDRS_TIME, -1, &array), SDRS_USAGE);
  assert_int_equal(sdrs_set(NULL, SDRS_INPUT, &value, 0), SDRS_USAGE);
  assert_int_equal(sdrs_reset(NULL), SDRS_USAGE);
  assert_int_equal(sdrs_clear(NULL), SDRS_USAGE);
  assert_int_equal(sdrs_step(NULL, 1), SDRS_USAGE);
  assert_int_equal(sdrs_step_all(none, 2, 1, 1), SDRS_USAGE);
  assert_int_equal(sdrs_run_all(none, 2, 1, 1), SDRS_USAGE);
  assert_int_equal(sdrs_gradient_all(none, 2, NULL, 0, 1), SDRS_USAGE);
  assert_int_equal(sdrs_rollout(NULL, &(sdrs_rollouts){.size = sizeof(sdrs_rollouts), .count = 1, .steps = 1}),
                   SDRS_USAGE);
  assert_int_equal(sdrs_run(NULL, 1), SDRS_USAGE);
  assert_int_equal(sdrs_record(NULL, SDRS_TIME, -1, &array), SDRS_USAGE);
  assert_int_equal(sdrs_gradient(NULL, NULL, 0), SDRS_USAGE);
  assert_int_equal(sdrs_loss(NULL, NULL, NULL, &value), SDRS_USAGE);
  assert_int_equal(sdrs_gradient_view(NULL, SDRS_MASS, &array), SDRS_USAGE);
  assert_int_equal(sdrs_certify(NULL, &proof), SDRS_USAGE);
  assert_non_null(sdrs_error(NULL));
  assert_int_equal(sdrs_diagnostic_count(NULL), 0);
  sdrs_diagnostic diagnostic = SDRS_INIT(sdrs_diagnostic);
  sdrs_info info = SDRS_INIT(sdrs_info);
  assert_int_equal(sdrs_diagnostic_at(NULL, 0, &diagnostic), SDRS_USAGE);
  assert_null(diagnostic.text);
  assert_int_equal(sdrs_describe(NULL, &info), SDRS_USAGE);
  assert_int_equal(info.links, 0);
  assert_null(sdrs_link_name(NULL, 0));
  assert_int_equal(sdrs_link_find(NULL, "a"), -1);
  assert_null(sdrs_entry_name(NULL, SDRS_COORDINATES, 0));
}

/* ---------------------------------------------------------------- arguments */

static int seeds_without_values(void* context, sdrs* object, double* value) {
  (void)context;
  *value = 1;
  sdrs_seed seed = SDRS_INIT(sdrs_seed);
  seed.block = SDRS_COORDINATES;
  seed.link = -1;
  seed.count = 3;
  return sdrs_add_seed(object, &seed);
}

static void arguments(void** state) {
  (void)state;
  sdrs* s = recorded();
  double value;
  expect_usage(s, sdrs_view(s, SDRS_TIME, -1, NULL), "'out'");
  expect_usage(s, sdrs_set(s, SDRS_COORDINATES, NULL, 1), "'values'");
  expect_usage(s, sdrs_set(s, SDRS_INPUT, NULL, 1), "'values'");
  assert_int_equal(sdrs_set(s, SDRS_INPUT, NULL, 0), SDRS_OK);
  expect_usage(s, sdrs_rollout(s, NULL), "'rollouts'");
  expect_usage(s, sdrs_record(s, SDRS_TIME, -1, NULL), "'out'");
  expect_usage(s, sdrs_gradient(s, NULL, 1), "'seeds'");
  expect_usage(s, sdrs_gradient(s, NULL, -1), "must be 0 or more");
  expect_usage(
      s,
      sdrs_gradient(s, &(sdrs_seed){.size = sizeof(sdrs_seed), .block = SDRS_COORDINATES, .link = -1, .count = 3}, 1),
      "'values'");
  expect_usage(s, sdrs_loss(s, seeds_without_values, NULL, NULL), "'value'");
  expect_usage(s, sdrs_loss(s, NULL, NULL, NULL), "'value'");
  expect_usage(s, sdrs_loss(s, seeds_without_values, NULL, &value), "'values'");
  assert_int_equal(sdrs_gradient(s, NULL, 0), SDRS_OK);
  expect_usage(s, sdrs_gradient_view(s, SDRS_MASS, NULL), "'out'");
  expect_usage(s, sdrs_certify(s, NULL), "'out'");
  assert_int_equal(sdrs_step_all(NULL, 1, 1, 1), SDRS_USAGE);
  assert_int_equal(sdrs_step_all(NULL, 0, 1, 1), SDRS_OK);
  assert_int_equal(sdrs_run_all(NULL, 1, 1, 1), SDRS_USAGE);
  assert_int_equal(sdrs_run_all(NULL, 0, 1, 1), SDRS_OK);
  assert_int_equal(sdrs_run_all(&s, 1, 1, -1), SDRS_USAGE);
  assert_int_equal(sdrs_gradient_all(NULL, 1, NULL, 0, 1), SDRS_USAGE);
  assert_int_equal(sdrs_gradient_all(NULL, 0, NULL, 0, 1), SDRS_OK);
  assert_int_equal(sdrs_gradient_all(&s, 1, NULL, 1, 1), SDRS_USAGE);
  assert_int_equal(sdrs_gradient_all(&s, 1, NULL, 0, -1), SDRS_USAGE);
  assert_int_equal(sdrs_link_find(s, NULL), -1);
  assert_int_equal(sdrs_block_find(NULL), SDRS_NO_BLOCK);
  sdrs_free(s);
}

/* Under the undefined-behaviour sanitizer: NULL is for no numbers, where the scene has none. */
static void nothing_to_set(void** state) {
  (void)state;
  sdrs* s = NULL;
  const char* fixed = "links: [{name: ground, fixed: true, shape: {type: box, size: [1, 1, 1]}}]\n";
  assert_int_equal(sdrs_parse(&s, fixed, NULL, NULL), SDRS_OK);
  assert_int_equal(sdrs_set(s, SDRS_COORDINATES, NULL, 0), SDRS_OK);
  assert_int_equal(sdrs_set(s, SDRS_VELOCITIES, NULL, 0), SDRS_OK);
  sdrs_free(s);
}

static void queries(void** state) {
  (void)state;
  static const double POINTS[3] = {0, 0, 0};
  sdrs_distance distance;
  char* answers = "kept";
  assert_int_equal(sdrs_query(NULL, 1, POINTS, 1, 1, &distance, NULL, NULL), SDRS_USAGE);
  assert_int_equal(sdrs_query(POINTS, 1, NULL, 1, 1, &distance, NULL, NULL), SDRS_USAGE);
  assert_int_equal(sdrs_query(POINTS, 1, POINTS, 1, 1, NULL, NULL, NULL), SDRS_USAGE);
  assert_int_equal(sdrs_query(NULL, 0, POINTS, 1, 1, &distance, NULL, NULL), SDRS_BAD_INPUT);
  assert_int_equal(sdrs_query_text("[]", NULL, NULL), SDRS_USAGE);
  assert_int_equal(sdrs_query_text(NULL, NULL, &answers), SDRS_USAGE);
  assert_null(answers);
  sdrs_free_text(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(loading), cmocka_unit_test(no_object),
                                     cmocka_unit_test(nothing_to_set), cmocka_unit_test(arguments),
                                     cmocka_unit_test(queries)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
