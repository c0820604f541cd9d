#include "scene/schema.h"
#include "scene_testing.h"

static void ranges_refuse_nan_and_know_their_ends(void** state) {
  (void)state;
  const ValueRange any = {0}, above = {true, 0, HUGE_VAL, true, true}, between = {true, 0, 4, false, false};
  const ValueRange half_open = {true, 0, 1, true, false}, below = {true, -HUGE_VAL, 3, true, true};
  const ValueRange* all[] = {&any, &above, &between, &half_open, &below};
  for (int i = 0; i < COUNT(all); i++) {
    assert_false(range_contains(all[i], (double)NAN));
    assert_false(range_contains(all[i], HUGE_VAL));
    assert_false(range_contains(all[i], -HUGE_VAL));
  }
  assert_true(range_contains(&any, -1e300));
  assert_true(range_contains(&above, 1e-300) && !range_contains(&above, 0));
  assert_true(range_contains(&between, 0) && range_contains(&between, 4) && !range_contains(&between, 4.001));
  assert_true(!range_contains(&half_open, 0) && range_contains(&half_open, 1));
  assert_true(range_contains(&below, -5) && !range_contains(&below, 3));
  assert_string_equal(range_text(&any).text, "");
  assert_string_equal(range_text(&above).text, "> 0");
  assert_string_equal(range_text(&between).text, "between 0 and 4");
  assert_string_equal(range_text(&half_open).text, "> 0 and <= 1");
  assert_string_equal(range_text(&below).text, "< 3");
}

static bool has_object(ValueKind kind) {
  return kind == VALUE_OBJECT || kind == VALUE_LIST || kind == VALUE_MAP || kind == VALUE_TERMS;
}

static void check_choices(const SchemaRow* row) {
  bool words = row->kind == VALUE_CHOICE || row->kind == VALUE_WORDS;
  if (words && !row->of) fail_msg("%s.%s: of which words?", row->object, row->key);
  if (row->kind == VALUE_CHOICE && row->fallback && row->fallback[0] != '(')
    assert_true(words_index(row->of, row->fallback) >= 0);
}

/* A slip in the table would be a crash or a silent gap. */
static void check_rows(const SchemaTable* table) {
  for (int i = 0; i < table->row_count; i++) {
    const SchemaRow* row = &table->rows[i];
    const SchemaObject* object = schema_object(table, row->object);
    if (!object) {
      fail_msg("%s.%s: no such object", row->object, row->key);
      return;
    }
    if (row->offset >= object->size) fail_msg("%s.%s: offset beyond its struct", row->object, row->key);
    if (has_object(row->kind) && !schema_object(table, row->of)) fail_msg("%s.%s: of what?", row->object, row->key);
    check_choices(row);
    if (row->only) {
      const SchemaRow* type = schema_row(table, object, object->type_key, NULL);
      for (int k = 0; k < words_count(row->only); k++)
        assert_true(words_index(type->of, words_at(row->only, k).text) >= 0);
    }
    assert_non_null(row->meaning);
    assert_non_null(value_kind_title(row->kind));
    assert_true(row->meaning[strlen(row->meaning) - 1] == '.');
  }
}

static void check_objects(const SchemaTable* table) {
  for (int i = 0; i < table->object_count; i++) {
    const SchemaObject* object = &table->objects[i];
    SchemaMember rows[SCHEMA_ROWS_MAX];
    int count = schema_rows(table, object, rows);
    assert_in_range(count, 1, SCHEMA_ROWS_MAX - 1); /* none cut off */
    for (int k = 0; k < 2 && object->includes[k].name; k++) {
      const SchemaObject* part = schema_object(table, object->includes[k].name);
      assert_non_null(part);
      assert_true(object->includes[k].offset + part->size <= object->size);
    }
  }
}

static void every_row_is_sound(void** state) {
  (void)state;
  check_rows(&SCENE_SCHEMA);
  check_rows(&TASK_SCHEMA);
}

static void every_object_is_sound(void** state) {
  (void)state;
  check_objects(&SCENE_SCHEMA);
  check_objects(&TASK_SCHEMA);
  for (int i = 0; i < TASK_SCHEMA.object_count; i++) /* one JSON Schema holds both */
    assert_null(schema_object(&SCENE_SCHEMA, TASK_SCHEMA.objects[i].name));
}

static void rows_depend_on_the_type(void** state) {
  (void)state;
  const SchemaObject* shape = schema_object(&SCENE_SCHEMA, "shape");
  assert_non_null(schema_row(&SCENE_SCHEMA, shape, "radius", "sphere"));
  assert_null(schema_row(&SCENE_SCHEMA, shape, "radius", "box"));
  assert_non_null(schema_row(&SCENE_SCHEMA, shape, "radius", NULL));
  assert_string_equal(schema_row(&SCENE_SCHEMA, shape, "segments", "capsule")->fallback, "12");
  assert_string_equal(schema_row(&SCENE_SCHEMA, shape, "segments", "cylinder")->fallback, "16");
}

static void replacing_a_key_drops_what_it_excludes(void** state) {
  (void)state;
  Document document = {0};
  Diagnostics diagnostics = {0};
  const char *text = "{name: a, density: 3, mass: 2}", *other = "{mass: 7}";
  Node* map = document_read_yaml(&document, "t", text, strlen(text), &diagnostics);
  Node* child = document_read_yaml(&document, "t", other, strlen(other), &diagnostics)->first;
  schema_replace(&SCENE_SCHEMA, schema_object(&SCENE_SCHEMA, "link"), map, child);
  assert_int_equal(map->count, 2);
  assert_string_equal(node_find(map, "mass")->text, "7");
  assert_null(node_find(map, "density"));
  document_free(&document);
  diagnostics_free(&diagnostics);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges_refuse_nan_and_know_their_ends),
      cmocka_unit_test(every_row_is_sound),
      cmocka_unit_test(every_object_is_sound),
      cmocka_unit_test(rows_depend_on_the_type),
      cmocka_unit_test(replacing_a_key_drops_what_it_excludes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
