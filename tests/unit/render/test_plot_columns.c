#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "render/plot.h"

/* A temporary folder for PATH with a fake gnuplot that stores its input. */
typedef struct {
  char folder[32], table[64], target[64];
  char* path_before;
} Desk;

static void write_text(const char* path, const char* text) {
  assert_int_equal(file_write(path, text, strlen(text)), STATUS_OK);
}

static int desk_open(void** state) {
  Desk* d = MEMORY_NEW(Desk, 1);
  strcpy(d->folder, "/tmp/sdrs-plot-XXXXXX");
  assert_non_null(mkdtemp(d->folder));
  snprintf(d->table, sizeof d->table, "%s/table.csv", d->folder);
  snprintf(d->target, sizeof d->target, "%s/x.png", d->folder);
  char stand_in[64], script[200], path[1000];
  snprintf(stand_in, sizeof stand_in, "%s/gnuplot", d->folder);
  snprintf(script, sizeof script, "#!/bin/sh\ncat >%s/told\nprintf '%%032dIEND' 0\n", d->folder);
  write_text(stand_in, script);
  assert_int_equal(chmod(stand_in, 0700), 0);
  d->path_before = memory_copy_text(getenv("PATH"));
  snprintf(path, sizeof path, "%s:%s", d->folder, d->path_before);
  setenv("PATH", path, 1);
  *state = d;
  return 0;
}

static int desk_close(void** state) {
  Desk* d = *state;
  setenv("PATH", d->path_before, 1);
  static const char* const names[] = {"table.csv", "x.png", "gnuplot", "told", "joints.csv"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char* path = file_join(d->folder, names[i]);
    unlink(path);
    memory_free(path);
  }
  rmdir(d->folder);
  memory_free(d->path_before);
  memory_free(d);
  return 0;
}

/* Returns gnuplot's input for a finished plot. The caller frees it. */
static char* told(const Desk* d, const char* patterns, const PlotOptions* options) {
  Diagnostics diagnostics = {0};
  assert_int_equal(plot_columns(d->target, d->table, patterns, options, &diagnostics), STATUS_OK);
  char *path = file_join(d->folder, "told"), *text;
  size_t length;
  assert_int_equal(file_read(path, &text, &length), STATUS_OK);
  memory_free(path);
  diagnostics_free(&diagnostics);
  return text;
}

static void expect_in(const char* text, const char* piece) {
  if (!strstr(text, piece)) fail_msg("no '%s' in\n%s", piece, text);
}

/* Rows of a group need not be adjacent. A curve's label is the group's text, or its number with the column's name. */
static void each_value_has_its_curve(void** state) {
  const Desk* d = *state;
  write_text(d->table, "dt,law,mass,a,b\n1,hard,0.5,10,3\n1,soft,0.5,20,4\n2,hard,0.7,30,5\n2,soft,0.7,40,\n");
  PlotOptions options = plot_defaults(false);
  options.by = "law";
  char* text = told(d, "a", &options);
  expect_in(text, "$d0_0 << END\n1 10\n2 30\nEND\n$d0_1 << END\n1 20\n2 40\nEND\n");
  expect_in(text, "title 'hard', $d0_1");
  expect_in(text, "linewidth 1.5 dashtype 2 title 'soft'"); /* over the first, both are seen */
  expect_in(text, "set xlabel 'dt'");
  memory_free(text);
  options.by = "mass";
  options.x = "b";
  text = told(d, "a,dt", &options);
  expect_in(text, "title 'dt, mass = 0.5'");
  expect_in(text, "title 'a, mass = 0.7'");
  expect_in(text, "$d0_3 << END\n5 30\n\nEND\n");
  expect_in(text, "set xlabel 'b'");
  memory_free(text);
}

/* The columns across and of the groups are no curves of their own, even where a pattern fits them. */
static void what_has_a_part_is_no_curve(void** state) {
  const Desk* d = *state;
  write_text(d->table, "time,group,y\n0,1,5\n1,1,6\n");
  PlotOptions options = plot_defaults(false);
  options.by = "group";
  char* text = told(d, "*", &options);
  assert_null(strstr(text, "$d0_1"));
  expect_in(text, "set xlabel 'time [s]'");
  expect_in(text, "set ylabel 'y'");
  memory_free(text);
}

static void expect_refused(const Desk* d, const PlotOptions* options, const char* words) {
  Diagnostics diagnostics = {0};
  assert_int_equal(plot_columns(d->target, d->table, "y", options, &diagnostics), STATUS_BAD_INPUT);
  assert_int_equal(diagnostics.error_count, 1);
  expect_in(diagnostics.items[0].text, words);
  diagnostics_free(&diagnostics);
}

static void columns_that_are_not_there_are_named(void** state) {
  const Desk* d = *state;
  write_text(d->table, "time,word,y\n0,a,5\n1,b,6\n");
  PlotOptions options = plot_defaults(false);
  options.x = "t";
  expect_refused(d, &options, "no column 't'");
  options.x = NULL;
  options.by = "g";
  expect_refused(d, &options, "no column 'g'");
  options.by = NULL;
  options.x = "word"; /* holds no number */
  expect_refused(d, &options, "no row has finite numbers");
}

static void the_first_file_with_a_column_is_found(void** state) {
  const Desk* d = *state;
  char* joints = file_join(d->folder, "joints.csv");
  write_text(joints, "time,arm/angle\n0,1\n");
  Diagnostics said = {0};
  char* found = plot_find_file(d->folder, "*/angle", &said);
  assert_string_equal(found, joints);
  assert_null(plot_find_file(d->folder, "time", &said));
  assert_int_equal(said.error_count, 1);
  diagnostics_free(&said);
  memory_free(found);
  memory_free(joints);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(each_value_has_its_curve, desk_open, desk_close),
      cmocka_unit_test_setup_teardown(what_has_a_part_is_no_curve, desk_open, desk_close),
      cmocka_unit_test_setup_teardown(columns_that_are_not_there_are_named, desk_open, desk_close),
      cmocka_unit_test_setup_teardown(the_first_file_with_a_column_is_found, desk_open, desk_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
