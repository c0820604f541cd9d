/* Tests libsdrs: loading, error messages, and lack of memory. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "library/library.h"

#ifdef __SANITIZE_ADDRESS__
/* Leak suppressions: functions that lose memory if an allocation fails inside them (docs/library.md). */
__attribute__((visibility("default"))) const char* __lsan_default_suppressions(void);
const char* __lsan_default_suppressions(void) {
  return "leak:libyaml\nleak:yaml_\nleak:libqhull_r\nleak:open_memstream\n";
}
#endif

static const char SLIDE[] =
    "simulation: {dt: 0.01, steps: 5, integrator: first_order}\n"
    "contact: {friction: 0.3}\n"
    "shapes: {box: {type: box, size: [0.2, 0.2, 0.2]}, ground: {type: half_space}}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: ground}\n"
    "  - {name: box, shape: box, mass: 1, position: [0, 0, 0.1005]}\n"
    "  - {name: arm, shape: box, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [0, 1, 1]}}\n"
    "controllers: [{link: arm, type: pd, position_gain: 1, velocity_gain: 0, target: 0.5}]\n"
    "initial: [{link: box, velocities: [1, 0, 0, 0, 0, 0]}]\n";

static sdrs* loaded(const char* text) {
  sdrs* s;
  sdrs_status status = sdrs_parse(&s, text, NULL, NULL);
  if (status != SDRS_OK) fail_msg("%s", sdrs_error(s));
  return s;
}

static sdrs_info described(const sdrs* s) {
  sdrs_info info = SDRS_INIT(sdrs_info);
  assert_int_equal(sdrs_describe(s, &info), SDRS_OK);
  return info;
}

static void sizes_and_names_are_those_of_the_scene(void** state) {
  (void)state;
  sdrs* s = loaded(SLIDE);
  sdrs_info info = described(s);
  assert_int_equal(info.links, 3);
  assert_int_equal(info.coordinates, 8); /* position, quaternion; angle */
  assert_int_equal(info.velocities, 7);
  assert_int_equal(info.inputs, 1);
  assert_int_equal(info.steps, 5);
  assert_int_equal(info.design, 0);
  assert_true(info.dt == 0.01);
  assert_string_equal(sdrs_link_name(s, 1), "box");
  assert_null(sdrs_link_name(s, 3));
  assert_int_equal(sdrs_link_find(s, "arm"), 2);
  assert_int_equal(sdrs_link_find(s, "leg"), -1);
  assert_string_equal(sdrs_entry_name(s, SDRS_COORDINATES, 3), "box/qw");
  assert_string_equal(sdrs_entry_name(s, SDRS_VELOCITIES, 6), "arm/0");
  assert_string_equal(sdrs_entry_name(s, SDRS_INPUT, 0), "arm/0");
  assert_null(sdrs_entry_name(s, SDRS_COORDINATES, 8));
  assert_string_equal(sdrs_entry_name(s, SDRS_CONTROL, 0), "arm/values/0");
  assert_null(sdrs_entry_name(s, SDRS_CONTROL, 1));
  assert_string_equal(sdrs_entry_name(s, SDRS_MASS, 2), "arm");
  sdrs_array contact = SDRS_INIT(sdrs_array);
  assert_int_equal(sdrs_view(s, SDRS_CONTACT, -1, &contact), SDRS_OK);
  assert_string_equal(sdrs_entry_name(s, SDRS_CONTACT, 2), "friction");
  assert_true(contact.data[2] == 0.3);
  assert_non_null(sdrs_entry_name(s, SDRS_CONTACT, (int)contact.columns - 1));
  assert_null(sdrs_entry_name(s, SDRS_CONTACT, (int)contact.columns));
  sdrs_array material = SDRS_INIT(sdrs_array);
  assert_int_equal(sdrs_view(s, SDRS_MATERIAL, -1, &material), SDRS_OK);
  assert_true(material.rows == 4 && material.columns == 9);
  assert_string_equal(sdrs_entry_name(s, SDRS_MATERIAL, 1), "restitution");
  assert_null(sdrs_entry_name(s, SDRS_MATERIAL, 9));
  assert_true(material.data[0] == 0.3 && material.data[1] == 0 && isnan(material.data[material.stride]));
  for (int b = 0; b < sdrs_block_count(); b++) assert_int_equal(sdrs_block_find(sdrs_block_name((sdrs_block)b)), b);
  assert_int_equal(sdrs_block_find("pose"), SDRS_NO_BLOCK);
  sdrs_free(s);
}

/* The command line prints the same: tests/library/run.sh compares them. */
static void a_mistake_is_told_with_its_place(void** state) {
  (void)state;
  sdrs* s;
  assert_int_equal(sdrs_parse(&s, "links: [{name: box, mas: 1}]\n", "wrong.yaml", NULL), SDRS_BAD_INPUT);
  assert_non_null(strstr(sdrs_error(s), "wrong.yaml:1:"));
  assert_non_null(strstr(sdrs_error(s), "mas"));
  assert_true(sdrs_diagnostic_count(s) > 0);
  sdrs_diagnostic first = SDRS_INIT(sdrs_diagnostic), none = first;
  assert_int_equal(sdrs_diagnostic_at(s, 0, &first), SDRS_OK);
  assert_int_equal(first.severity, 0);
  assert_string_equal(first.file, "wrong.yaml");
  assert_int_equal(first.line, 1);
  assert_int_equal(sdrs_diagnostic_at(s, 1000, &none), SDRS_USAGE);
  assert_null(none.text);
  assert_int_equal(sdrs_run(s, 1), SDRS_USAGE); /* there is nothing to run */
  assert_non_null(strstr(sdrs_error(s), "wrong.yaml:1:"));
  sdrs_free(s);
  assert_int_equal(sdrs_load(&s, "nowhere/at-all.yaml", NULL), SDRS_IO);
  assert_non_null(strstr(sdrs_error(s), "nowhere/at-all.yaml"));
  sdrs_free(s);
  sdrs_free(NULL);
}

static void fewer_threads_than_none_are_refused(void** state) {
  (void)state;
  sdrs* s;
  assert_int_equal(sdrs_parse(&s, SLIDE, NULL, &(sdrs_options){.size = sizeof(sdrs_options), .threads = -3}),
                   SDRS_BAD_INPUT);
  assert_non_null(strstr(sdrs_error(s), "threads must be 0 or more, got -3"));
  sdrs_free(s);
  assert_int_equal(sdrs_parse(&s, SLIDE, NULL, &(sdrs_options){.size = sizeof(sdrs_options), .threads = 0}), SDRS_OK);
  assert_int_equal(
      sdrs_rollout(s, &(sdrs_rollouts){.size = sizeof(sdrs_rollouts), .count = 1, .steps = 1, .threads = -3}),
      SDRS_USAGE);
  assert_non_null(strstr(sdrs_error(s), "threads must be 0 or more, got -3"));
  assert_int_equal(sdrs_rollout(s, &(sdrs_rollouts){.size = sizeof(sdrs_rollouts), .count = 1, .steps = 1}), SDRS_OK);
  sdrs* const all[] = {s};
  assert_int_equal(sdrs_step_all(all, 1, 1, -3), SDRS_USAGE);
  assert_int_equal(sdrs_step_all(all, 1, 1, 0), SDRS_OK);
  sdrs_free(s);
}

static void overrides_are_those_of_set(void** state) {
  (void)state;
  const char* overrides[] = {"simulation.dt=0.02", "links.box.mass=3"};
  sdrs_options options = {.size = sizeof(sdrs_options), .overrides = overrides, .override_count = 2};
  sdrs* s;
  sdrs_array mass = SDRS_INIT(sdrs_array);
  assert_int_equal(sdrs_parse(&s, SLIDE, NULL, &options), SDRS_OK);
  assert_true(described(s).dt == 0.02);
  assert_int_equal(sdrs_view(s, SDRS_MASS, -1, &mass), SDRS_OK);
  assert_int_equal(mass.columns, 3);
  assert_true(mass.data[1] == 3);
  sdrs_free(s);
  overrides[1] = "links.bax.mass=3";
  assert_int_equal(sdrs_parse(&s, SLIDE, NULL, &options), SDRS_BAD_INPUT);
  assert_non_null(strstr(sdrs_error(s), "bax"));
  sdrs_free(s);
}

static void calls_that_make_no_sense_are_refused(void** state) {
  (void)state;
  sdrs* s = loaded(SLIDE);
  double zeros[64] = {0}, none = NAN;
  sdrs_array out = SDRS_INIT(sdrs_array);
  assert_int_equal(sdrs_set(s, SDRS_VELOCITIES, zeros, 6), SDRS_USAGE);
  assert_string_equal(sdrs_error(s), "velocities: got 6 numbers, expected 7");
  assert_int_equal(sdrs_set(s, SDRS_COORDINATES, zeros, 8), SDRS_BAD_INPUT); /* a quaternion of zeros */
  assert_int_equal(sdrs_set(s, SDRS_INPUT, &none, 1), SDRS_BAD_INPUT);
  assert_int_equal(sdrs_set(s, SDRS_MASS, zeros, 3), SDRS_USAGE);
  assert_int_equal(sdrs_set(s, SDRS_DESIGN, zeros, 1), SDRS_USAGE);
  assert_int_equal(sdrs_record(s, SDRS_POSITION, 1, &out), SDRS_USAGE);
  assert_int_equal(sdrs_gradient(s, NULL, 0), SDRS_USAGE);
  assert_int_equal(sdrs_run(s, 2), SDRS_OK);
  assert_int_equal(sdrs_record(s, SDRS_POSITION, 3, &out), SDRS_USAGE);
  assert_int_equal(sdrs_record(s, SDRS_MASS, -1, &out), SDRS_USAGE);
  assert_null(out.data);
  assert_int_equal(sdrs_gradient_view(s, SDRS_MASS, &out), SDRS_USAGE);
  sdrs_seed seed = {sizeof(sdrs_seed), SDRS_POSITION, 1, zeros, 8};
  assert_int_equal(sdrs_gradient(s, &seed, 1), SDRS_USAGE);
  assert_string_equal(sdrs_error(s), "derivatives with respect to position: got 8 numbers, expected 3 x 3");
  assert_int_equal(sdrs_loss(s, NULL, NULL, zeros), SDRS_USAGE); /* a scene has none */
  assert_int_equal(sdrs_run(NULL, 1), SDRS_USAGE);
  assert_string_equal(sdrs_error(NULL), "out of memory");
  sdrs_free(s);
}

/* A start within the ground is a start that is refused; another one then goes. */
static void a_start_that_intersects_is_refused(void** state) {
  (void)state;
  sdrs* s = loaded(SLIDE);
  double q[8] = {0, 0, -0.05, 1, 0, 0, 0, 0}; /* from where the joint is */
  sdrs_array out = SDRS_INIT(sdrs_array);
  assert_int_equal(sdrs_set(s, SDRS_COORDINATES, q, 8), SDRS_OK);
  assert_int_equal(sdrs_step(s, 1), SDRS_BAD_INPUT);
  assert_non_null(strstr(sdrs_error(s), "bodies intersect"));
  q[2] = 0.3;
  assert_int_equal(sdrs_set(s, SDRS_COORDINATES, q, 8), SDRS_OK);
  assert_int_equal(sdrs_step(s, 1), SDRS_OK);
  assert_int_equal(sdrs_clear(s), SDRS_OK);
  assert_int_equal(sdrs_view(s, SDRS_COORDINATES, -1, &out), SDRS_OK);
  assert_true(out.data[2] == 0);
  sdrs_free(s);
}

static void a_decimal_comma_of_the_program_is_not_ours(void** state) {
  (void)state;
  const char* commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
  bool found = false;
  for (int k = 0; !found && k < 4; k++) found = setlocale(LC_ALL, commas[k]) != NULL;
  if (!found) skip();
  sdrs* s = loaded(SLIDE);
  assert_true(described(s).dt == 0.01);
  assert_string_equal(localeconv()->decimal_point, ",");
  sdrs_free(s);
  setlocale(LC_ALL, "C");
}

/* ---------------------------------------------------------------- memory */

/* All that an object does, on one thread or two: the first status that is not SDRS_OK. */
static sdrs_status do_everything(sdrs** out, const char* text, const char* path, bool design) {
  sdrs_options options = {.size = sizeof(sdrs_options), .threads = 2};
  sdrs_status status = sdrs_parse(out, text, path, &options);
  sdrs_array array = SDRS_INIT(sdrs_array);
  double record[2 * 6 * 16], value = 1;
  sdrs_rollouts rollouts = {.size = sizeof(sdrs_rollouts), .count = 2, .steps = 5, .threads = 2, .record = record};
  if (status == SDRS_OK) status = sdrs_step(*out, 2);
  if (status == SDRS_OK && !design) status = sdrs_set(*out, SDRS_INPUT, &value, 1);
  if (status == SDRS_OK && design) status = sdrs_set(*out, SDRS_DESIGN, &value, 1);
  if (status == SDRS_OK) status = sdrs_run(*out, design ? 0 : 5);
  if (status == SDRS_OK && design) status = sdrs_loss(*out, NULL, NULL, &value);
  if (status == SDRS_OK && !design) status = sdrs_gradient(*out, NULL, 0);
  if (status == SDRS_OK) status = sdrs_gradient_view(*out, design ? SDRS_DESIGN : SDRS_INPUT, &array);
  if (status == SDRS_OK) status = sdrs_record(*out, SDRS_ORIENTATION, -1, &array);
  if (status == SDRS_OK && !design) status = sdrs_rollout(*out, &rollouts);
  if (status == SDRS_OK && !sdrs_entry_name(*out, SDRS_COORDINATES, 0)) status = SDRS_NO_MEMORY;
  return status;
}

/* The n-th allocation fails, for every n that there is: the status says so, and the object can be used again. */
static void survives(const char* text, const char* path, bool design) {
  sdrs* s;
  int failures = 0;
  for (int64_t n = 1;; n++) {
    memory_fail_allocation_at(n);
    sdrs_status status = do_everything(&s, text, path, design);
    memory_fail_allocation_at(0);
    if (status == SDRS_OK) break;
    assert_int_equal(status, SDRS_NO_MEMORY);
    assert_string_equal(sdrs_error(s), "out of memory");
    if (s && s->shared) assert_int_equal(sdrs_step(s, 1), SDRS_OK);
    sdrs_free(s);
    failures++;
    n += n / 40; /* all of the first, fewer of those that come over and over */
  }
  sdrs_free(s);
  assert_true(failures > 100);
}

static void no_allocation_that_fails_ends_the_process(void** state) {
  (void)state;
  survives(SLIDE, NULL, false);
  survives(
      "scene: throw-scene.yaml\n"
      "steps: 5\n"
      "initial: [{link: box, velocities: true, dof: [0], low: 0.1, high: 5}]\n"
      "loss: [{type: point, link: box, target: [0.5, 0, 0.1], power: 2}]\n"
      "optimizer: {type: lbfgs, iterations: 2}\n",
      "scenes/tasks/of-a-test.yaml", true);
}

/* A run that needs too much memory is refused, and the object stays unchanged. */
static void a_run_that_is_too_long_is_refused(void** state) {
  (void)state;
  sdrs* s = loaded(SLIDE);
  sdrs_array out = SDRS_INIT(sdrs_array);
  assert_int_equal(sdrs_step(s, 3), SDRS_OK);
  memory_fail_allocation_at(4);
  assert_int_equal(sdrs_run(s, 5), SDRS_NO_MEMORY);
  memory_fail_allocation_at(0);
  assert_int_equal(sdrs_view(s, SDRS_TIME, -1, &out), SDRS_OK);
  assert_true(out.data[0] == 0);
  assert_int_equal(sdrs_run(s, 5), SDRS_OK);
  sdrs_free(s);
}

static void nothing_is_left_in_the_pools(void** state) {
  (void)state;
  sdrs* s;
  assert_int_equal(do_everything(&s, SLIDE, NULL, false), SDRS_OK);
  assert_true(memory_pool_block_count(s->pool) > 0);
  assert_int_equal(sdrs_clear(s), SDRS_OK);
  int64_t fresh = memory_pool_block_count(s->pool);
  sdrs_free(s);
  s = loaded(SLIDE);
  assert_int_equal(memory_pool_block_count(s->pool), fresh);
  sdrs_free(s);
}

/* ---------------------------------------------------------------- programs built with another sdrs.h */

static void wrong_size_told(sdrs* s, sdrs_status status, const char* type) {
  assert_int_equal(status, SDRS_USAGE);
  if (!strstr(sdrs_error(s), type)) fail_msg("%s is not in: %s", type, sdrs_error(s));
}

static void structs_without_their_size_are_refused(void** state) {
  (void)state;
  sdrs* s = loaded(SLIDE);
  sdrs_array array = {0};
  sdrs_info info = {0};
  sdrs_proof proof = {0};
  sdrs_distance distance = {0};
  sdrs_diagnostic diagnostic = {0};
  double numbers[3] = {0};
  sdrs_seed seed = {0, SDRS_POSITION, 1, numbers, 3};
  assert_int_equal(sdrs_run(s, 2), SDRS_OK);
  wrong_size_told(s, sdrs_view(s, SDRS_TIME, -1, &array), "sdrs_array");
  wrong_size_told(s, sdrs_record(s, SDRS_TIME, -1, &array), "sdrs_array");
  wrong_size_told(s, sdrs_gradient_view(s, SDRS_MASS, &array), "sdrs_array");
  wrong_size_told(s, sdrs_certify(s, &proof), "sdrs_proof");
  wrong_size_told(s, sdrs_rollout(s, &(sdrs_rollouts){.count = 1, .steps = 1}), "sdrs_rollouts");
  wrong_size_told(s, sdrs_add_seed(s, &seed), "sdrs_seed");
  wrong_size_told(s, sdrs_gradient(s, &seed, 1), "seed 0");
  assert_int_equal(sdrs_describe(s, &info), SDRS_USAGE);
  assert_int_equal(sdrs_diagnostic_at(s, 0, &diagnostic), SDRS_USAGE);
  assert_int_equal(sdrs_query(numbers, 1, numbers, 1, 1, &distance, NULL, NULL), SDRS_USAGE);
  sdrs_free(s);
  wrong_size_told(s, sdrs_parse(&s, SLIDE, NULL, &(sdrs_options){.threads = 1}), "sdrs_options");
  sdrs_free(s);
}

/* As if a later sdrs.h had one number more behind each struct. */
static void longer_structs_are_taken_while_they_hold_nothing_more(void** state) {
  (void)state;
  struct {
    sdrs_rollouts known;
    double more;
  } rollouts = {{.size = sizeof(rollouts), .count = 1, .steps = 1}, 0};
  struct {
    sdrs_array known;
    double more;
  } array = {{.size = sizeof(array)}, 7};
  struct {
    sdrs_seed known;
    double more;
  } seeds[2] = {0};
  double slope[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, twice[7];
  sdrs* s = loaded(SLIDE);
  assert_int_equal(sdrs_rollout(s, &rollouts.known), SDRS_OK);
  rollouts.more = 1;
  wrong_size_told(s, sdrs_rollout(s, &rollouts.known), "sdrs_rollouts");
  assert_int_equal(sdrs_run(s, 2), SDRS_OK);
  assert_int_equal(sdrs_record(s, SDRS_TIME, -1, &array.known), SDRS_OK);
  assert_int_equal(array.known.size, sizeof(sdrs_array));
  assert_int_equal(array.known.rows, 3);
  assert_true(array.more == 7);
  for (int k = 0; k < 2; k++) seeds[k].known = (sdrs_seed){sizeof(seeds[0]), SDRS_POSITION, 1, slope, 9};
  assert_int_equal(sdrs_gradient(s, &seeds[0].known, 2), SDRS_OK);
  array.known.size = sizeof(sdrs_array);
  assert_int_equal(sdrs_gradient_view(s, SDRS_VELOCITIES, &array.known), SDRS_OK);
  memcpy(twice, array.known.data, sizeof(twice));
  assert_int_equal(sdrs_gradient(s, &seeds[0].known, 1), SDRS_OK);
  assert_int_equal(sdrs_gradient_view(s, SDRS_VELOCITIES, &array.known), SDRS_OK);
  assert_true(array.known.data[0] != 0);
  for (int k = 0; k < 7; k++) assert_true(fabs(twice[k] - 2 * array.known.data[k]) <= 1e-12 * fabs(twice[k]));
  sdrs_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(structs_without_their_size_are_refused),
      cmocka_unit_test(longer_structs_are_taken_while_they_hold_nothing_more),
      cmocka_unit_test(sizes_and_names_are_those_of_the_scene),
      cmocka_unit_test(a_mistake_is_told_with_its_place),
      cmocka_unit_test(fewer_threads_than_none_are_refused),
      cmocka_unit_test(overrides_are_those_of_set),
      cmocka_unit_test(calls_that_make_no_sense_are_refused),
      cmocka_unit_test(a_start_that_intersects_is_refused),
      cmocka_unit_test(a_decimal_comma_of_the_program_is_not_ours),
      cmocka_unit_test(no_allocation_that_fails_ends_the_process),
      cmocka_unit_test(a_run_that_is_too_long_is_refused),
      cmocka_unit_test(nothing_is_left_in_the_pools),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
