/* Tests the outputs of the task table: the page and the JSON Schema agree with the reader. */
#include <stdlib.h>
#include "json_schema.h"
#include "task_testing.h"

/* ---------------------------------------------------------------- the stored copies */

static void check_stored(const char* path, void (*write)(Text* out)) {
  Text text = {0};
  char* stored;
  size_t length;
  write(&text);
  if (getenv("SDRS_UPDATE_DOCS")) assert_int_equal(file_write(path, text.data, text.length), STATUS_OK);
  assert_int_equal(file_read(path, &stored, &length), STATUS_OK);
  if (strcmp(stored, text.data) != 0)
    fail_msg("%s is not what the table says; run this test with SDRS_UPDATE_DOCS=1 to write it anew", path);
  memory_free(stored);
  text_free(&text);
}

static void the_stored_page_is_current(void** state) {
  (void)state;
  check_stored("docs/task-format.md", task_schema_markdown);
}

static void the_stored_schema_is_current(void** state) {
  (void)state;
  check_stored("docs/task.schema.json", task_schema_json);
}

/* ---------------------------------------------------------------- the page */

static void every_key_is_documented(void** state) {
  (void)state;
  Text text = {0};
  task_schema_markdown(&text);
  for (int i = 0; i < TASK_SCHEMA.row_count; i++) {
    Text cell = {0};
    text_add(&cell, "| `%s` |", TASK_SCHEMA.rows[i].key);
    if (!strstr(text.data, cell.data)) fail_msg("%s is not in the page", cell.data);
    text_free(&cell);
  }
  text_free(&text);
}

static void every_example_loads(void** state) {
  (void)state;
  int count = 0;
  for (int i = 0; i < TASK_SCHEMA.object_count; i++) {
    const char* example = TASK_SCHEMA.objects[i].example;
    if (!example) continue;
    Task task = load_task(example);
    task_free(&task);
    count++;
  }
  assert_in_range(count, 10, 100);
}

/* ---------------------------------------------------------------- the schema */

static cJSON* parse_schema(void) {
  Text text = {0};
  task_schema_json(&text);
  cJSON* root = cJSON_ParseWithOpts(text.data, NULL, true);
  assert_non_null(root);
  text_free(&text);
  return root;
}

static void the_schema_is_a_schema(void** state) {
  (void)state;
  cJSON* root = parse_schema();
  check_schema(root, root, "root");
  const cJSON* definitions = member(root, "definitions");
  assert_int_equal(cJSON_GetArraySize(definitions), TASK_SCHEMA.object_count + SCENE_SCHEMA.object_count);
  const cJSON* axes = member(member(member(definitions, "vertices"), "properties"), "axes");
  assert_int_equal(cJSON_GetArraySize(member(axes, "default")), 3);
  assert_string_equal(cJSON_GetArrayItem(member(axes, "default"), 2)->valuestring, "z");
  cJSON_Delete(root);
}

static void what_the_reader_accepts_the_schema_accepts(void** state) {
  (void)state;
  cJSON* root = parse_schema();
  for (int i = 0; i < TASK_SCHEMA.object_count; i++) {
    const char* example = TASK_SCHEMA.objects[i].example;
    if (example && !accepts(root, example))
      fail_msg("the schema refuses the example of %s", TASK_SCHEMA.objects[i].name);
  }
  assert_true(accepts(root, TWO_LINKS MOVE_BOX SHAPE_LOSS "design:\noptimizer: {beta1: 0.5}"));
  cJSON_Delete(root);
}

static void what_the_table_forbids_the_schema_refuses(void** state) {
  (void)state;
#define WHOLE(rest) TWO_LINKS MOVE_BOX SHAPE_LOSS rest
  static const char* const REFUSED[] = {
      TWO_LINKS MOVE_BOX "loss: 5\n",
      WHOLE("scenarios: []\n"),
      WHOLE("steps: -1\n"),
      WHOLE("seed: -1\n"),
      WHOLE("sed: 1\n"),
      WHOLE("set: contact.friction=2\n"),
      "scene: {lnks: []}\n" MOVE_BOX SHAPE_LOSS,
      "scene: 5\n" MOVE_BOX SHAPE_LOSS,
      WHOLE("design: {mass: free}\n"),
      WHOLE("design: {vertices: [{link: box, links: [box]}]}\n"),
      WHOLE("design: {vertices: [{link: box, hulls: []}]}\n"),
      WHOLE("design: {vertices: [{link: box, hulls: [0.5]}]}\n"),
      WHOLE("design: {vertices: [{link: box, axes: [x, x]}]}\n"),
      WHOLE("design: {vertices: [{link: box, axes: [rx]}]}\n"),
      WHOLE("design: {vertices: [{link: box, low: [1, 2]}]}\n"),
      WHOLE("design: {vertices: [{link: box, within: -1}]}\n"),
      WHOLE("design: {vertices: [{link: box, box: {low: [0, 0, 0]}}]}\n"),
      WHOLE("design: {symmetry: [{type: mirror, links: [box]}]}\n"),
      WHOLE("design: {symmetry: [{type: copy, links: [box, arm], count: 2}]}\n"),
      WHOLE("design: {constraints: [{variables: [box/attachment/x]}]}\n"),
      WHOLE("control: [{link: arm, parameters: []}]\n"),
      WHOLE("optimizer: {type: lbfgs, beta1: 0.5}\n"),
      WHOLE("optimizer: {type: adam, memory: 5}\n"), /* of lbfgs */
      WHOLE("optimizer: {discount: 0}\n"),
      TWO_LINKS MOVE_BOX "loss: [{link: box}]\n",
      TWO_LINKS MOVE_BOX "loss: [{type: point, link: box}]\n",
      TWO_LINKS MOVE_BOX "loss: [{type: point, link: box}]\n",
      TWO_LINKS MOVE_BOX "loss: [{type: point, link: box, target: [0, 0, 1], power: 3}]\n",
      TWO_LINKS MOVE_BOX "loss: [{type: shape, from: 1}]\n",
      TWO_LINKS MOVE_BOX "loss: [{type: gap, link: box, other: arm}]\n",
      TWO_LINKS MOVE_BOX "loss: [{type: gap, link: box, other: arm, margin: 0}]\n",
      TWO_LINKS MOVE_BOX "loss: [{type: effort, weight: 0}]\n",
  };
  cJSON* root = parse_schema();
  for (int i = 0; i < COUNT(REFUSED); i++) {
    if (accepts(root, REFUSED[i])) fail_msg("the schema accepts %s", REFUSED[i]);
    Task task; /* and so does the reader */
    Diagnostics diagnostics = {0};
    if (parse_task_with(&task, &diagnostics, REFUSED[i], NULL, 0) == STATUS_OK)
      fail_msg("the reader accepts %s", REFUSED[i]);
    task_free(&task);
    diagnostics_free(&diagnostics);
  }
  cJSON_Delete(root);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_stored_page_is_current),
      cmocka_unit_test(the_stored_schema_is_current),
      cmocka_unit_test(every_key_is_documented),
      cmocka_unit_test(every_example_loads),
      cmocka_unit_test(the_schema_is_a_schema),
      cmocka_unit_test(what_the_reader_accepts_the_schema_accepts),
      cmocka_unit_test(what_the_table_forbids_the_schema_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
