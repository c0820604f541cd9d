#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "app/app.h"

static const Verb* const VERBS[] = {&VERB_SIMULATE, &VERB_RENDER, &VERB_VALIDATE, &VERB_SCHEMA, &VERB_QUERY,
                                    &VERB_COMPARE,  &VERB_BENCH,  &VERB_EXPORT,   &VERB_PLOT};
enum { VERB_COUNT = sizeof VERBS / sizeof VERBS[0] };

/* Returns the text that a verb prints. The caller frees it. */
static char* printed(const Verb* verb) {
  FILE* file = tmpfile();
  assert_non_null(file);
  if (verb)
    verb_help(file, verb);
  else
    verb_list(file);
  size_t length = (size_t)ftell(file);
  char* text = memory_alloc(length + 1);
  rewind(file);
  assert_int_equal(fread(text, 1, length, file), length);
  fclose(file);
  return text;
}

static void verbs_are_found_and_misspelt_ones_guessed(void** state) {
  (void)state;
  for (int i = 0; i < VERB_COUNT; i++) assert_ptr_equal(verb_find(VERBS[i]->name), VERBS[i]);
  assert_null(verb_find("simulat"));
  assert_string_equal(verb_nearest("simulat"), "simulate");
  assert_string_equal(verb_nearest("qeury"), "query");
  assert_null(verb_nearest("xyzzy"));
}

static void the_list_names_every_verb(void** state) {
  (void)state;
  char* text = printed(NULL);
  for (int i = 0; i < VERB_COUNT; i++) assert_non_null(strstr(text, VERBS[i]->summary));
  memory_free(text);
}

/* Examples come first, and every option of the verb and of all verbs is there. */
static void help_shows_examples_then_every_option(void** state) {
  (void)state;
  for (int i = 0; i < VERB_COUNT; i++) {
    const Verb* verb = VERBS[i];
    char* text = printed(verb);
    const char *examples = strstr(text, verb->examples), *usage = strstr(text, "Usage: sdrs ");
    assert_true(examples && usage && examples < usage);
    for (int k = 0; k < verb->option_count; k++) assert_non_null(strstr(text, verb->options[k].help));
    int count;
    const OptionRow* common = common_options(&count);
    for (int k = 0; k < count; k++) assert_non_null(strstr(text, common[k].help));
    memory_free(text);
  }
}

/* No verb gives a common name or letter a second meaning; help lines fit a terminal. */
static void tables_are_consistent(void** state) {
  (void)state;
  int count;
  const OptionRow* common = common_options(&count);
  for (int i = 0; i < VERB_COUNT; i++) {
    for (int k = 0; k < VERBS[i]->option_count; k++) {
      const OptionRow* row = &VERBS[i]->options[k];
      assert_true((row->type == OPTION_FLAG) == (row->value_name == NULL));
      for (int c = 0; c < count; c++) {
        assert_string_not_equal(row->name, common[c].name);
        assert_true(row->letter == 0 || row->letter != common[c].letter);
      }
    }
    char* text = printed(VERBS[i]);
    for (char* line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
      if (strlen(line) > 120)
        fail_msg("sdrs %s --help: a line of %zu characters: %s", VERBS[i]->name, strlen(line), line);
    }
    memory_free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(verbs_are_found_and_misspelt_ones_guessed),
      cmocka_unit_test(the_list_names_every_verb),
      cmocka_unit_test(help_shows_examples_then_every_option),
      cmocka_unit_test(tables_are_consistent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
