#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "scene/schema.h"
#include "scene/task.h"

/* Every key of every row stands as a term of its own, with its meaning. */
static void expect_all_keys(const SchemaTable* table, void (*write)(Text* out)) {
  Text page = {0};
  write(&page);
  for (int i = 0; i < table->row_count; i++) {
    Text term = {0};
    text_add(&term, ".TP\n.B %s\n", table->rows[i].key);
    if (!strstr(page.data, term.data)) fail_msg("no '%s' of %s", table->rows[i].key, table->rows[i].object);
    term.length = 0;
    text_add_roff(&term, table->rows[i].meaning);
    if (!strstr(page.data, term.data)) fail_msg("no '%s'", term.data);
    text_free(&term);
  }
  text_free(&page);
}

static void pages_tell_every_key(void** state) {
  (void)state;
  expect_all_keys(&SCENE_SCHEMA, scene_schema_man);
  expect_all_keys(&TASK_SCHEMA, task_schema_man);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pages_tell_every_key)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
