#include <stdlib.h>
#include <unistd.h>
#include "task_testing.h"

/* ---------------------------------------------------------------- scenes/invalid/tasks: one mistake a file */

static void check_invalid(const char* path) {
  char* wanted = expected_problem(path);
  Task task;
  Diagnostics diagnostics = {0};
  assert_true(task_recognise(path));
  assert_int_equal(task_load(&task, path, NULL, 0, &diagnostics), STATUS_BAD_INPUT);
  char* found = told(&diagnostics);
  found[strcspn(found, "\n")] = '\0';
  if (strcmp(found, wanted) != 0 || diagnostics.count != 1)
    fail_msg("%s: %d problems\ntold   %s\nwanted %s", path, diagnostics.count, found, wanted);
  assert_string_equal(diagnostics.items[0].file, path);
  memory_free(found);
  memory_free(wanted);
  task_free(&task);
  diagnostics_free(&diagnostics);
}

static void every_invalid_task_gets_its_message(void** state) {
  (void)state;
  check_every_yaml("scenes/invalid/tasks", check_invalid, 12);
}

/* ---------------------------------------------------------------- the file */

static void the_root_is_read(void** state) {
  (void)state;
  static const char TEXT[] = "name: reach\nseed: 2147483647\n" TWO_LINKS MOVE_BOX SHAPE_LOSS;
  Task task = load_task(TEXT);
  assert_string_equal(task.path, TASK_PATH);
  assert_string_equal(task.name, "reach");
  assert_int_equal(task.seed, 2147483647);
  char hash[65];
  hash_sha256(TEXT, sizeof TEXT - 1, hash);
  assert_string_equal(task.sha256, hash);
  assert_int_equal(task.source_count, 0);
  task_free(&task);
  task = load_task(TWO_LINKS MOVE_BOX SHAPE_LOSS);
  assert_string_equal(task.name, "test.task"); /* the file's name */
  assert_int_equal(task.seed, 0);
  task_free(&task);
}

static void a_zeroed_task_can_be_freed(void** state) {
  (void)state;
  Task task = {0};
  task_free(&task);
  task_free(&task);
}

static void names_and_seeds_are_checked(void** state) {
  (void)state;
  expect_task_problems("name: a/b\nseed: 1.5\nsed: 1\n" TWO_LINKS MOVE_BOX SHAPE_LOSS,
                       "2:7: error: seed: must be a whole number, got 1.5\n"
                       "3:1: error: unknown key 'sed' in the file (did you mean 'seed'?)\n"
                       "1:7: error: name: a task's name must not contain a slash\n");
  expect_task_problems("- a\n", "1:1: error: expected a map, got a list\n");
}

static void a_file_that_cannot_be_read_is_an_io_error(void** state) {
  (void)state;
  Task task;
  Diagnostics diagnostics = {0};
  assert_int_equal(task_load(&task, "scenes/no-such-task.yaml", NULL, 0, &diagnostics), STATUS_IO);
  assert_int_equal(diagnostics.error_count, 1);
  assert_string_equal(diagnostics.items[0].file, "scenes/no-such-task.yaml");
  task_free(&task);
  diagnostics_free(&diagnostics);
}

static void json_says_the_same(void** state) {
  (void)state;
  static const char JSON[] =
      "{\"scene\": {\"links\": [{\"name\": \"a\", \"mass\": 1, \"shape\": {\"type\": \"sphere\", \"radius\": 1}}]},\n"
      "\"design\": {\"vertices\": [{\"link\": \"a\", \"axes\": [\"x\"], \"low\": -1}]},\n"
      "\"loss\": [{\"type\": \"point\", \"link\": \"a\", \"target\": [1, 2, 3]}]}";
  Task task;
  Diagnostics diagnostics = {0};
  assert_int_equal(task_parse(&task, "t.json", JSON, sizeof JSON - 1, true, NULL, 0, &diagnostics), STATUS_OK);
  assert_int_equal(diagnostics.count, 0);
  assert_true(task.vertices[0].axes[0] && !task.vertices[0].axes[1]);
  compare_near(task.vertices[0].bounds.low[2], -1, 0, "low");
  compare_vec3(task.losses[0].target, vec3(1, 2, 3), 0, "target");
  task_free(&task);
}

static void something_must_be_free_to_change(void** state) {
  (void)state;
  static const char* const GOOD[] = {"control: [{link: arm}]\n", "initial: [{link: arm, coordinates: true}]\n",
                                     "design: {vertices: [{link: arm}]}\n", "design: {attachments: [{link: arm}]}\n"};
  for (int i = 0; i < COUNT(GOOD); i++) {
    Text text = {0};
    text_add(&text, TWO_LINKS SHAPE_LOSS "%s", GOOD[i]);
    Task task = load_task(text.data);
    task_free(&task);
    text_free(&text);
  }
  expect_task_problems(TWO_LINKS SHAPE_LOSS "control: []\ndesign: {symmetry: []}\n",
                       "1:1: error: the task has no variables: give 'control', 'initial', 'parameters', or 'design' "
                       "with vertices, a cage or attachments\n");
}

/* ---------------------------------------------------------------- --set */

static void overrides_of_the_task_are_applied(void** state) {
  (void)state;
  static const char* const SETS[] = {"optimizer.iterations=7",
                                     "loss.tip.weight=3",
                                     "design.vertices.box.within=0.5",
                                     "design.vertices.1.axes=[z]",
                                     "seed=9",
                                     "scene.links.box.mass=4",
                                     "initial=[{link: arm, coordinates: true}]"};
  Task task = load_task_set(TWO_LINKS MOVE_BOX
                            "design: {vertices: [{link: box}, {link: arm}]}\n"
                            "loss: [{type: point, name: tip, link: arm, target: [0, 0, 1]}]\n",
                            SETS, COUNT(SETS));
  assert_int_equal(task.optimizer.iterations, 7);
  compare_near(task.losses[0].weight, 3, 0, "weight");
  compare_near(task.vertices[0].bounds.within, 0.5, 0, "within");
  assert_true(task.vertices[1].axes[2] && !task.vertices[1].axes[0]);
  assert_int_equal(task.seed, 9);
  compare_near(task.scenarios[0].scene.links[0].mass, 4, 0, "mass");
  assert_string_equal(task.starts[0].link.text, "arm");
  assert_string_equal(task.starts[0].place.file, "--set initial=[{link: arm, coordinates: true}]");
  assert_int_equal(task.source_count, COUNT(SETS));
  assert_string_equal(task.sources[4], "--set seed=9");
  task_free(&task);
}

static void expect_set_problem(const char* set, const char* wanted) {
  Task task;
  Diagnostics diagnostics = {0};
  Text source = {0};
  text_add(&source, "--set %s", set);
  assert_int_equal(parse_task_with(&task, &diagnostics, TWO_LINKS MOVE_BOX SHAPE_LOSS, &set, 1), STATUS_BAD_INPUT);
  assert_int_equal(diagnostics.count, 1);
  assert_string_equal(diagnostics.items[0].file, source.data);
  assert_string_equal(diagnostics.items[0].text, wanted);
  text_free(&source);
  task_free(&task);
  diagnostics_free(&diagnostics);
}

static void mistakes_in_overrides_name_them(void** state) {
  (void)state;
  expect_set_problem("optimizer.iteration=7", "unknown key 'iteration' in optimizer (did you mean 'iterations'?)");
  expect_set_problem("optimizer.iterations=0", "optimizer.iterations: must be between 1 and 100000000, got 0");
  expect_set_problem("scene.contact.frction=1", "unknown key 'frction' in contact (did you mean 'friction'?)");
  expect_set_problem("scene.links.box.mass=-1", "scene.links[0].mass: must be > 0 kg, got -1");
  expect_set_problem("loss.tip.weight=1", "loss has no item named 'tip'");
}

/* ---------------------------------------------------------------- telling tasks from scenes */

static bool recognise_text(const char* text, const char* extension) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/sdrs-task-%ld.%s", (long)getpid(), extension);
  assert_int_equal(file_write(path, text, strlen(text)), STATUS_OK);
  bool found = task_recognise(path);
  unlink(path);
  return found;
}

static void tasks_are_told_from_scenes(void** state) {
  (void)state;
  assert_true(recognise_text(TWO_LINKS MOVE_BOX SHAPE_LOSS, "yaml"));
  assert_true(recognise_text("loss: 5\n", "yaml"));
  assert_true(recognise_text("scenarios:\n", "yaml"));
  assert_true(recognise_text("scene: a.yaml\n", "yaml"));
  assert_true(recognise_text("{\"loss\": []}", "json"));
  assert_false(recognise_text("links: []\nname: loss\n", "yaml"));
  assert_false(recognise_text("contact: {loss: 1}\n", "yaml"));
  assert_false(recognise_text("[loss]\n", "yaml"));
  assert_false(recognise_text("loss: [\n", "yaml"));
  assert_false(recognise_text("", "yaml"));
  assert_false(recognise_text("loss: []\n", "json")); /* no JSON */
  assert_false(task_recognise("scenes/slide.yaml"));
  assert_false(task_recognise("scenes/no-such-file.yaml"));
  assert_false(task_recognise("scenes"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_invalid_task_gets_its_message),
      cmocka_unit_test(the_root_is_read),
      cmocka_unit_test(a_zeroed_task_can_be_freed),
      cmocka_unit_test(names_and_seeds_are_checked),
      cmocka_unit_test(a_file_that_cannot_be_read_is_an_io_error),
      cmocka_unit_test(json_says_the_same),
      cmocka_unit_test(something_must_be_free_to_change),
      cmocka_unit_test(overrides_of_the_task_are_applied),
      cmocka_unit_test(mistakes_in_overrides_name_them),
      cmocka_unit_test(tasks_are_told_from_scenes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
