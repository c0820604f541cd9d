#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <cjson/cJSON.h>
#include "expect.h"
#include "fixture.h"

static cJSON* at(cJSON* root, const char* path) {
  char* copy = memory_copy_text(path);
  for (char* name = strtok(copy, "."); name && root; name = strtok(NULL, "."))
    root = cJSON_GetObjectItemCaseSensitive(root, name);
  memory_free(copy);
  return root;
}

static double number_at(cJSON* root, const char* path) {
  cJSON* item = at(root, path);
  assert_non_null(item);
  assert_true(cJSON_IsNumber(item));
  return item->valuedouble;
}

static const char* text_at(cJSON* root, const char* path) {
  cJSON* item = at(root, path);
  assert_non_null(item);
  return cJSON_GetStringValue(item);
}

static void totals_are_sums_and_extremes(void** state) {
  (void)state;
  RunTotals totals = run_totals_start();
  StepReport first = {.iterations = 3, .trials = 4, .residual = 1e-5, .active_pairs = 2, .candidate_pairs = 9};
  StepReport second = {.outcome = STEP_ROUNDING_FLOOR,
                       .iterations = 5,
                       .trials = 5,
                       .residual = 1e-6,
                       .active_pairs = 7,
                       .candidate_pairs = 8,
                       .factor_retries = 1,
                       .substeps = 4,
                       .halved = true,
                       .certified_intervals = 6};
  SimState step_1 = {.step = 1, .time = 0.1}, step_2 = {.step = 2, .time = 0.2};
  run_totals_add_step(&totals, &first, &step_1);
  run_totals_add_step(&totals, &second, &step_2);
  SimMeasure none = {.smallest_gap = (double)INFINITY}, near = {.smallest_gap = 0.5}, far = {.smallest_gap = 0.7};
  run_totals_update_gap(&totals, &none, &step_1);
  assert_true(isinf(totals.smallest_gap));
  run_totals_update_gap(&totals, &near, &step_1);
  run_totals_update_gap(&totals, &far, &step_2);
  assert_int_equal(totals.steps, 2);
  expect_near(totals.time, 0.2, 0);
  assert_int_equal(totals.iterations, 8);
  assert_int_equal(totals.iterations_max, 5);
  assert_int_equal(totals.trials, 9);
  assert_int_equal(totals.active_pairs_max, 7);
  assert_int_equal(totals.candidate_pairs_max, 9);
  assert_int_equal(totals.rounding_floor_steps, 1);
  assert_int_equal(totals.factor_retries, 1);
  assert_int_equal(totals.substeps_max, 4);
  assert_int_equal(totals.halved_steps, 1);
  assert_int_equal(totals.certified_intervals, 6);
  expect_near(totals.residual_max, 1e-5, 0);
  expect_near(totals.smallest_gap, 0.5, 0);
  expect_near(totals.smallest_gap_time, 0.1, 0);
}

static void inputs_are_the_scene_and_each_mesh_once(void** state) {
  (void)state;
  char path[] = "/tmp/sdrs-mesh-XXXXXX";
  int descriptor = mkstemp(path);
  assert_int_equal(write(descriptor, "abc", 3), 3);
  close(descriptor);
  SceneShape shapes[4] = {{.type = SHAPE_BOX},
                          {.type = SHAPE_MESH, .file = path},
                          {.type = SHAPE_MESH, .file = path},
                          {.type = SHAPE_MESH, .file = (char*)"/nowhere/b.obj"}};
  Scene scene = {.path = (char*)"s.yaml", .sha256 = "5ce", .shapes = shapes, .shape_count = 4};
  int count;
  RunInput* inputs = run_inputs(&scene, &count);
  assert_int_equal(count, 3);
  assert_string_equal(inputs[0].path, "s.yaml");
  assert_string_equal(inputs[0].sha256, "5ce");
  /* FIPS 180-2, appendix B.1 */
  assert_string_equal(inputs[1].sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert_string_equal(inputs[2].sha256, "");
  run_inputs_free(inputs, count);
  unlink(path);
}

static RunProgram program_of_test(void) {
  return (RunProgram){"1.2.3", "abc", "-O3", "cc 9", {{"libyaml", "0.2"}, {"BLAS", "B"}}};
}

static void the_report_is_json_with_the_promised_keys(void** state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  RunProgram program = program_of_test();
  RunInput input = {.path = (char*)"s.yaml", .sha256 = "5ce"};
  SceneOverride override = {"contact.friction=0.1"};
  f.model.contact = (ModelContact){.support = 1e-3, .friction = 0.5, .support_derived = true, .feature = 0.2};
  f.model.contact_model = CONTACT_SEPARATING_PLANE;
  RunSummary summary = {.program = &program,
                        .model = &f.model,
                        .inputs = &input,
                        .input_count = 1,
                        .overrides = &override,
                        .override_count = 1,
                        .threads = 2,
                        .totals = run_totals_start(),
                        .exit_code = EXIT_DONE,
                        .stop = "all steps done",
                        .step_times = {.contact = 0.25, .total = 0.5},
                        .output_seconds = 0.1,
                        .total_seconds = 1};
  summary.totals.steps = 4;
  summary.totals.iterations = 10;
  summary.totals.time = 2.0;
  summary.totals.scheme_work = -0.125;
  f.model.simulation.integrator = INTEGRATOR_MOMENTUM;
  Text text = {0};
  run_summary_json(&text, &summary);
  cJSON* root = cJSON_Parse(text.data);
  assert_non_null(root);
  assert_string_equal(text_at(root, "program.version"), "1.2.3");
  assert_string_equal(text_at(root, "integrator"), "momentum");
  assert_string_equal(text_at(root, "simulation.integrator"), "momentum");
  expect_near(number_at(root, "scheme_work"), -0.125, 0);
  expect_near(number_at(root, "result.scheme_work"), -0.125, 0);
  assert_string_equal(text_at(root, "program.libraries.BLAS"), "B");
  assert_string_equal(cJSON_GetArrayItem(at(root, "overrides"), 0)->valuestring, "contact.friction=0.1");
  assert_string_equal(text_at(cJSON_GetArrayItem(at(root, "inputs"), 0), "sha256"), "5ce");
  expect_near(number_at(root, "threads"), 2, 0);
  expect_near(number_at(root, "model.degrees_of_freedom"), 6, 0);
  expect_near(number_at(root, "contact.barrier_distance.value"), 1e-3, 0);
  expect_near(number_at(root, "contact.barrier_distance.value"), 1e-3, 0);
  assert_true(cJSON_IsTrue(at(root, "contact.barrier_distance.derived")));
  assert_true(cJSON_IsFalse(at(root, "contact.friction.derived")));
  expect_near(number_at(root, "result.exit_code"), 0, 0);
  expect_near(number_at(root, "result.iterations_mean"), 2.5, 0);
  assert_true(cJSON_IsNull(at(root, "result.smallest_gap"))); /* infinite: no pair was near */
  assert_true(cJSON_IsNull(at(root, "result.failure")));
  expect_near(number_at(root, "wall_time.steps.contact"), 0.25, 0);
  expect_near(number_at(root, "wall_time.output"), 0.1, 0);
  expect_near(number_at(root, "real_time_factor"), 4, 0);
  assert_true(number_at(root, "peak_memory_bytes") > 1e5);
  cJSON_Delete(root);
  text_free(&text);
}

static void a_failure_names_step_time_and_link(void** state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  RunProgram program = program_of_test();
  StepReport failure = {.outcome = STEP_NO_SOLUTION, .residual = 3.5, .residual_dof = 2, .iterations = 7};
  RunSummary summary = {.program = &program,
                        .model = &f.model,
                        .totals = run_totals_start(),
                        .exit_code = EXIT_SOLVER,
                        .stop = "x",
                        .failure = &failure};
  summary.totals.steps = 4;
  summary.totals.time = 0.04;
  Text text = {0};
  run_summary_json(&text, &summary);
  cJSON* root = cJSON_Parse(text.data);
  assert_non_null(root);
  expect_near(number_at(root, "result.failure.step"), 5, 0);
  expect_near(number_at(root, "result.failure.time"), 0.05, 1e-15);
  expect_near(number_at(root, "result.failure.residual"), 3.5, 0);
  assert_string_equal(text_at(root, "result.failure.residual_link"), "box,\"1\"");
  assert_string_equal(run_dof_link_name(&f.model, -1), "?");
  assert_string_equal(run_dof_link_name(&f.model, 6), "?");
  cJSON_Delete(root);
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(totals_are_sums_and_extremes),
      cmocka_unit_test(inputs_are_the_scene_and_each_mesh_once),
      cmocka_unit_test(the_report_is_json_with_the_promised_keys),
      cmocka_unit_test(a_failure_names_step_time_and_link),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
