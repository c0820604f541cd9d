#include <stdlib.h>
#include "scene/schema.h"
#include "scene_testing.h"

static const char PATH[] = "docs/scene-format.md";

static void the_stored_page_is_current(void** state) {
  (void)state;
  Text text = {0};
  char* stored;
  size_t length;
  scene_schema_markdown(&text);
  if (getenv("SDRS_UPDATE_DOCS")) assert_int_equal(file_write(PATH, text.data, text.length), STATUS_OK);
  assert_int_equal(file_read(PATH, &stored, &length), STATUS_OK);
  if (strcmp(stored, text.data) != 0)
    fail_msg("%s is not what the table says; run this test with SDRS_UPDATE_DOCS=1 to write it anew", PATH);
  memory_free(stored);
  text_free(&text);
}

/* As a file beside the page: examples name others. */
static Scene load_example(const char* text) {
  Scene scene;
  Diagnostics diagnostics = {0};
  Status status = scene_parse(&scene, "docs/example.yaml", text, strlen(text), false, NULL, 0, &diagnostics);
  char* found = told(&diagnostics);
  if (status != STATUS_OK || *found) fail_msg("for the text\n%s\ntold\n%s", text, found);
  memory_free(found);
  diagnostics_free(&diagnostics);
  return scene;
}

static void every_example_loads(void** state) {
  (void)state;
  static const char OPEN[] = "```yaml\n", CLOSE[] = "```\n";
  char* page;
  size_t length;
  assert_int_equal(file_read(PATH, &page, &length), STATUS_OK);
  int count = 0;
  for (char* at = strstr(page, OPEN); at; at = strstr(at, OPEN)) {
    at += sizeof OPEN - 1;
    char* end = strstr(at, CLOSE);
    assert_non_null(end);
    *end = '\0';
    Scene scene = load_example(at);
    scene_free(&scene);
    at = end + 1;
    count++;
  }
  assert_in_range(count, 10, 100);
  memory_free(page);
}

static void every_key_is_documented(void** state) {
  (void)state;
  Text text = {0};
  scene_schema_markdown(&text);
  for (int i = 0; i < SCENE_SCHEMA.row_count; i++) {
    Text cell = {0};
    text_add(&cell, "| `%s` |", SCENE_SCHEMA.rows[i].key);
    if (!strstr(text.data, cell.data)) fail_msg("%s is not in the page", cell.data);
    text_free(&cell);
  }
  text_free(&text);
}

/* "[map](#joint)" needs a heading "## joint". */
static void every_link_has_its_heading(void** state) {
  (void)state;
  Text text = {0};
  scene_schema_markdown(&text);
  for (const char* at = strstr(text.data, "](#"); at; at = strstr(at + 1, "](#")) {
    char anchor[64];
    snprintf(anchor, sizeof anchor, "%.*s", (int)strcspn(at + 3, ")"), at + 3);
    bool found = false;
    for (int i = 0; i < SCENE_SCHEMA.object_count && !found; i++) {
      char heading[64], *out = heading; /* as renderers make it: lower case, dashes, no punctuation */
      for (const char* p = SCENE_SCHEMA.objects[i].title; *p; p++)
        if (*p != ',') *out++ = *p == ' ' ? '-' : *p;
      *out = '\0';
      found = strcmp(heading, anchor) == 0;
    }
    if (!found) fail_msg("no heading for #%s", anchor);
  }
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_stored_page_is_current),
      cmocka_unit_test(every_example_loads),
      cmocka_unit_test(every_key_is_documented),
      cmocka_unit_test(every_link_has_its_heading),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
