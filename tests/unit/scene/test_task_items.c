#include "task_testing.h"

static Task repeat_item(const char* head, const char* item, int count, Status wanted, const char* problem) {
  Text text = {0};
  text_add(&text, TWO_LINKS "%s", head);
  for (int i = 0; i < count; i++) text_add(&text, "%s", item);
  Task task;
  Diagnostics diagnostics = {0};
  assert_int_equal(parse_task_with(&task, &diagnostics, text.data, NULL, 0), wanted);
  if (problem) assert_string_equal(diagnostics.items[0].text, problem);
  diagnostics_free(&diagnostics);
  text_free(&text);
  return task;
}

static void lists_grow(void** state) {
  (void)state;
  Task task = repeat_item(SHAPE_LOSS "initial:\n", "  - {link: box, velocities: true}\n", 1000, STATUS_OK, NULL);
  assert_int_equal(task.start_count, 1000);
  assert_int_equal(task.starts[999].place.line, 1002 + 1);
  assert_string_equal(task.starts[999].link.text, "box");
  task_free(&task);
}

static void lists_have_an_end(void** state) {
  (void)state;
  Task task = repeat_item(SHAPE_LOSS "initial:\n", "  - {link: box, velocities: true}\n", 100001, STATUS_BAD_INPUT,
                          "initial: must have at most 100000 items: remove items");
  task_free(&task);
}

/* Unnamed terms by the ten thousand are named in no time, whatever names are taken. */
static void many_terms_get_their_names(void** state) {
  (void)state;
  Task task = repeat_item(MOVE_BOX "loss:\n", "  - {type: shape}\n", 20000, STATUS_OK, NULL);
  assert_string_equal(task.losses[19999].name, "shape_20000");
  task_free(&task);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_grow),
      cmocka_unit_test(lists_have_an_end),
      cmocka_unit_test(many_terms_get_their_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
