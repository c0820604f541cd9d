#include "scene/reader.h"
#include "scene_testing.h"

static Diagnostics diagnostics;

static int teardown(void** state) {
  (void)state;
  diagnostics_free(&diagnostics);
  return 0;
}

static void messages_say_where_they_are(void** state) {
  (void)state;
  RepeatIndices indices = {.n = 3};
  Reader reader = {.diagnostics = &diagnostics};
  SourcePosition place = {"t", 4, 5};
  reader_error(&reader, place, "plain");
  size_t links = reader_enter_key(&reader, "links");
  size_t second = reader_enter_index(&reader, 1);
  reader_enter_key(&reader, "mass");
  reader_error(&reader, place, "deep %d", 7);
  reader_leave(&reader, second);
  reader.indices = &indices;
  reader_warning(&reader, place, "in a list");
  reader_leave(&reader, links);
  reader_error(&reader, place, "at the root");
  char* found = told(&diagnostics);
  assert_string_equal(found,
                      "4:5: error: plain\n"
                      "4:5: error: links[1].mass: deep 7\n"
                      "4:5: warning: links: in a list (item 3 of the repeat)\n"
                      "4:5: error: at the root (item 3 of the repeat)\n");
  assert_int_equal(reader.problem_count, 3);
  memory_free(found);
  reader_free(&reader);
}

static void a_muted_reader_counts_and_says_nothing(void** state) {
  (void)state;
  Reader reader = {.diagnostics = &diagnostics, .muted = true};
  reader_error(&reader, (SourcePosition){0}, "x");
  reader_warning(&reader, (SourcePosition){0}, "x");
  assert_int_equal(reader.problem_count, 1);
  assert_int_equal(diagnostics.count, 0);
  reader_free(&reader);
}

static void work_has_an_end(void** state) {
  (void)state;
  Reader reader = {.diagnostics = &diagnostics, .muted = true};
  assert_true(reader_count_values(&reader, (SourcePosition){0}, READER_VALUES_MAX));
  assert_false(reader_count_values(&reader, (SourcePosition){0}, 1));
  assert_false(reader_count_values(&reader, (SourcePosition){0}, 1));
  assert_true(reader.exhausted);
  assert_int_equal(diagnostics.count, 1); /* told once, though an earlier item had a problem */
  reader_free(&reader);
}

/* A small text that stands for 2000 signals of 20000 values each. */
static void a_file_cannot_stand_for_everything(void** state) {
  (void)state;
  Text text = {0};
  text_add(
      &text,
      "links: [{name: 'a{i}', joint: {type: slide, axis: [1, 0, 0]}, mass: 1, shape: {type: sphere, radius: 1}, "
      "repeat: {count: 2000}}]\n"
      "controllers: [{link: 'a{i}', type: prescribed, repeat: {count: 2000}, target: {type: sequence, interval: 1, "
      "values: [0");
  for (int i = 1; i < 20000; i++) text_add(&text, ",%d", i);
  text_add(&text, "]}}]\n");
  Scene scene;
  assert_int_equal(parse_with(&scene, &diagnostics, text.data, NULL), STATUS_BAD_INPUT);
  assert_int_equal(diagnostics.count, 1);
  assert_non_null(strstr(diagnostics.items[0].text, "the file is too large"));
  scene_free(&scene);
  text_free(&text);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(messages_say_where_they_are),
      TEST(a_muted_reader_counts_and_says_nothing),
      TEST(work_has_an_end),
      TEST(a_file_cannot_stand_for_everything),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
