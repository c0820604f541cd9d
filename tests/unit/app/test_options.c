#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "app/app.h"

static const OptionRow ROWS[] = {
    {"steps", 0, OPTION_COUNT, "N", "steps"},
    {"abs", 'a', OPTION_NUMBER, "X", "tolerance"},
    {"columns", 0, OPTION_TEXT, "LIST", "columns"},
    {"markdown", 'm', OPTION_FLAG, NULL, "page"},
    {"package", 'p', OPTION_TEXT_LIST, "NAME=DIR", "package"},
};
static const Verb VERB = {
    .name = "act", .operands = "A B", .operand_min = 1, .operand_max = 2, .options = ROWS, .option_count = 5};

enum { WORDS_MAX = 16 };

/* Parse the words of one line, split at blanks. The words live in `copy`. */
typedef struct {
  Options options;
  Text faults;
  char* copy;
  bool good;
} Parsed;

static Parsed parse(const char* line) {
  Parsed parsed = {.copy = memory_copy_text(line)};
  char* words[WORDS_MAX];
  int count = 0;
  for (char* word = strtok(parsed.copy, " "); word; word = strtok(NULL, " ")) words[count++] = word;
  parsed.good = options_parse(&parsed.options, &VERB, count, words, &parsed.faults);
  return parsed;
}

static void parsed_free(Parsed* parsed) {
  options_free(&parsed->options);
  text_free(&parsed->faults);
  memory_free(parsed->copy);
}

static void expect_fault(const char* line, const char* faults) {
  Parsed parsed = parse(line);
  assert_false(parsed.good);
  assert_string_equal(parsed.faults.data, faults);
  parsed_free(&parsed);
}

static void every_form_of_an_option_is_read(void** state) {
  (void)state;
  Parsed p = parse("-o dir x --set a.b=1 --set=c=2=3 --threads 3 -qv --json --steps=7 -a0.5 y --columns t,u* -m");
  assert_true(p.good);
  assert_string_equal(p.options.folder, "dir");
  assert_int_equal(p.options.operand_count, 2);
  assert_string_equal(p.options.operands[0], "x");
  assert_string_equal(p.options.operands[1], "y");
  assert_int_equal(p.options.override_count, 2);
  assert_string_equal(p.options.overrides[0].text, "a.b=1");
  assert_string_equal(p.options.overrides[1].text, "c=2=3");
  assert_int_equal(p.options.threads, 3);
  assert_true(p.options.quiet && p.options.verbose && p.options.json && !p.options.help);
  assert_int_equal(option_count(&p.options, "steps", 1), 7);
  assert_true(option_number(&p.options, "abs", 0) == 0.5);
  assert_string_equal(option_text(&p.options, "columns"), "t,u*");
  assert_true(option_given(&p.options, "markdown"));
  parsed_free(&p);
}

static void absent_options_take_their_fallback(void** state) {
  (void)state;
  Parsed p = parse("x");
  assert_true(p.good);
  assert_null(p.options.folder);
  assert_int_equal(option_count(&p.options, "steps", 5), 5);
  assert_true(option_number(&p.options, "abs", 0.25) == 0.25);
  assert_null(option_text(&p.options, "columns"));
  assert_false(option_given(&p.options, "markdown"));
  parsed_free(&p);
}

static void a_double_dash_ends_the_options(void** state) {
  (void)state;
  Parsed p = parse("-q -- --steps -x");
  assert_true(p.good);
  assert_int_equal(p.options.operand_count, 2);
  assert_string_equal(p.options.operands[0], "--steps");
  assert_string_equal(p.options.operands[1], "-x");
  parsed_free(&p);
  p = parse("-"); /* a lone dash is an operand */
  assert_true(p.good);
  assert_string_equal(p.options.operands[0], "-");
  parsed_free(&p);
}

static void help_wins_over_what_is_missing(void** state) {
  (void)state;
  Parsed p = parse("--help --nonsense");
  assert_true(p.good);
  assert_true(p.options.help);
  parsed_free(&p);
  p = parse("-h");
  assert_true(p.good && p.options.help);
  parsed_free(&p);
}

static void faults_are_told_all_at_once(void** state) {
  (void)state;
  expect_fault("x --thread=2", "unknown option '--thread' (did you mean '--threads'?)\n");
  expect_fault("x --zzzzzz", "unknown option '--zzzzzz'\n");
  expect_fault("x -z", "unknown option '-z'\n");
  expect_fault("", "needs A B\n");
  expect_fault("x y z", "unexpected 'z' after A B\n");
  expect_fault("x --quiet=1", "--quiet takes no value\n");
  expect_fault("x --columns", "--columns needs a value (LIST)\n");
  expect_fault("x -o", "--output needs a value (DIR)\n");
  expect_fault("x --columns=", "--columns needs a value (LIST)\n");
  expect_fault("x --set friction", "--set needs path.to.key=value, got 'friction'\n");
  expect_fault("x --set =1", "--set needs path.to.key=value, got '=1'\n");
  expect_fault("--steps=0 --abs=nan",
               "--steps needs a whole number of at least 1, got '0'\n"
               "--abs needs a finite number >= 0, got 'nan'\nneeds A B\n");
}

static void numbers_outside_their_range_are_refused(void** state) {
  (void)state;
  static const char* const counts[] = {"-1", "1.5", "", "1e3", "99999999999", "two", "3x"};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    char line[64];
    snprintf(line, sizeof line, "x --steps=%s", counts[i]);
    Parsed p = parse(line);
    assert_false(p.good);
    parsed_free(&p);
  }
  static const char* const numbers[] = {"-1", "inf", "nan", "", "1e999", "1,5", "x"};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    char line[64];
    snprintf(line, sizeof line, "x --abs=%s", numbers[i]);
    Parsed p = parse(line);
    assert_false(p.good);
    parsed_free(&p);
  }
}

static void threads_follow_the_environment(void** state) {
  (void)state;
  const char* before = getenv("OMP_NUM_THREADS");
  char* kept = before ? memory_copy_text(before) : NULL;
  setenv("OMP_NUM_THREADS", "3", 1);
  Parsed p = parse("x");
  assert_int_equal(p.options.threads, 3);
  parsed_free(&p);
  setenv("OMP_NUM_THREADS", "2,4", 1);
  p = parse("x");
  assert_int_equal(p.options.threads, 2);
  parsed_free(&p);
  p = parse("x --threads 5");
  assert_int_equal(p.options.threads, 5);
  parsed_free(&p);
  setenv("OMP_NUM_THREADS", "many", 1);
  p = parse("x");
  assert_int_equal(p.options.threads, parallel_processor_count());
  parsed_free(&p);
  p = parse("x --threads 100000");
  assert_false(p.good);
  parsed_free(&p);
  if (kept)
    setenv("OMP_NUM_THREADS", kept, 1);
  else
    unsetenv("OMP_NUM_THREADS");
  memory_free(kept);
}

static void repeatable_options_keep_all_their_values(void** state) {
  (void)state;
  Parsed p = parse("x --package a=b -p c=d --package=e");
  assert_true(p.good);
  assert_string_equal(option_item(&p.options, "package", 0), "a=b");
  assert_string_equal(option_item(&p.options, "package", 1), "c=d");
  assert_string_equal(option_item(&p.options, "package", 2), "e");
  assert_null(option_item(&p.options, "package", 3));
  assert_true(option_given(&p.options, "package"));
  parsed_free(&p);
  expect_fault("x --package=", "--package needs a value (NAME=DIR)\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_form_of_an_option_is_read), cmocka_unit_test(absent_options_take_their_fallback),
      cmocka_unit_test(a_double_dash_ends_the_options),  cmocka_unit_test(help_wins_over_what_is_missing),
      cmocka_unit_test(faults_are_told_all_at_once),     cmocka_unit_test(numbers_outside_their_range_are_refused),
      cmocka_unit_test(threads_follow_the_environment),  cmocka_unit_test(repeatable_options_keep_all_their_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
