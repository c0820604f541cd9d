/* Tests the JSON Schema with a small independent validator. */
#include <stdlib.h>
#include "json_schema.h"

static cJSON* parse_schema(void) {
  Text text = {0};
  scene_schema_json(&text);
  cJSON* root = cJSON_ParseWithOpts(text.data, NULL, true);
  assert_non_null(root);
  text_free(&text);
  return root;
}

static void the_schema_is_a_schema(void** state) {
  (void)state;
  cJSON* root = parse_schema();
  assert_string_equal(member(root, "$schema")->valuestring, "http://json-schema.org/draft-07/schema#");
  check_schema(root, root, "root");
  for (const cJSON* object = member(root, "definitions")->child; object; object = object->next) {
    assert_true(cJSON_IsFalse(member(object, "additionalProperties")));
    assert_true(cJSON_IsString(member(object, "description")));
  }
  const cJSON* dt = member(member(member(member(root, "definitions"), "simulation"), "properties"), "dt");
  assert_non_null(strstr(member(dt, "description")->valuestring, "Unit: s."));
  compare_near(member(dt, "default")->valuedouble, 0.01, 0, "default of dt");
  cJSON_Delete(root);
}

static void what_the_reader_accepts_the_schema_accepts(void** state) {
  (void)state;
  cJSON* root = parse_schema();
  for (int i = 0; i < SCENE_SCHEMA.object_count; i++) {
    const char* example = SCENE_SCHEMA.objects[i].example;
    if (example && !accepts(root, example))
      fail_msg("the schema refuses the example of %s", SCENE_SCHEMA.objects[i].name);
  }
  assert_true(accepts(root, "simulation:\nlinks: [{name: a, parent: ~, shapes: , groups: [b], color: '#00ff00'}]"));
  cJSON_Delete(root);
}

static void what_the_table_forbids_the_schema_refuses(void** state) {
  (void)state;
  static const char* const REFUSED[] = {
      "{}",
      "links: {}",
      "links: [5]",
      "links: [{mass: 1}]",
      "links: [{name: 5}]",
      "links: [{name: a, masss: 1}]",
      "links: [{name: a, mass: 0}]",
      "links: [{name: a, mass: 1, density: 1}]",
      "links: [{name: a, color: red}]",
      "links: [{name: a, color: [0, 0, 1.5]}]",
      "links: [{name: a, shape: {}}]",
      "links: [{name: a, shape: {shape: b, type: box, size: [1, 1, 1]}}]",
      "links: [{name: a, shape: {type: box}}]",
      "links: [{name: a, shape: {type: box, size: [1, 1, 0]}}]",
      "links: [{name: a, shape: {type: box, size: [1, 1, 1], radius: 1}}]",
      "links: [{name: a, shape: {type: rounded_box, size: [1, 1, 0]}}]",
      "links: [{name: a, joint: {axis: [1, 0, 0]}}]",
      "links: [{name: a, joint: {type: hinge}}]",
      "links: [{name: a, joint: {type: ball, axis: [1, 0, 0]}}]",
      "links: [{name: a, joint: {type: free, free_axes: [x, x]}}]",
      "links: [{name: a, joint: {type: ball, rpy: [0, 0, 0], rotation: [1, 0, 0, 0]}}]",
      "links: [{name: a, repeat: {}}]",
      "links: [{name: a, repeat: {count: -1}}]",
      "links: [{name: a, repeat: {count: [1, 2, 3, 4]}}]",
      "links: [{name: a, repeat: {count: 1, first: {nme: b}}}]",
      "{links: [], simulation: {duration: 1, steps: 5}}",
      "{links: [], simulation: {steps: 1.5}}",
      "{links: [], simulation: {dt: '0.1'}}",
      "{links: [], simulation: {integrator: third_order}}",
      "{links: [], contact: {exclude: [[a]]}}",
      "{links: [], controllers: [{link: a, type: prescribed, target: 0, position_gain: 1}]}",
      "{links: [], controllers: [{link: a, type: pd, target: 0}]}",
      "{links: [], controllers: [{link: a, type: prescribed, target: {type: sines, values: [1]}}]}",
      "{links: [], initial: [{}]}",
  };
  cJSON* root = parse_schema();
  for (int i = 0; i < COUNT(REFUSED); i++) {
    if (accepts(root, REFUSED[i])) fail_msg("the schema accepts %s", REFUSED[i]);
    Scene scene; /* and so does the reader */
    Diagnostics diagnostics = {0};
    if (parse_with(&scene, &diagnostics, REFUSED[i], NULL) == STATUS_OK) fail_msg("the reader accepts %s", REFUSED[i]);
    scene_free(&scene);
    diagnostics_free(&diagnostics);
  }
  cJSON_Delete(root);
}

static void the_stored_schema_is_current(void** state) {
  (void)state;
  static const char PATH[] = "docs/scene.schema.json";
  Text text = {0};
  char* stored;
  size_t length;
  scene_schema_json(&text);
  if (getenv("SDRS_UPDATE_DOCS")) assert_int_equal(file_write(PATH, text.data, text.length), STATUS_OK);
  assert_int_equal(file_read(PATH, &stored, &length), STATUS_OK);
  if (strcmp(stored, text.data) != 0)
    fail_msg("%s is not what the table says; run this test with SDRS_UPDATE_DOCS=1 to write it anew", PATH);
  memory_free(stored);
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_schema_is_a_schema),
      cmocka_unit_test(what_the_reader_accepts_the_schema_accepts),
      cmocka_unit_test(what_the_table_forbids_the_schema_refuses),
      cmocka_unit_test(the_stored_schema_is_current),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
