#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "expect.h"
#include "run/run.h"

static CsvTable table_of(const char* text) {
  char path[] = "/tmp/sdrs-compare-XXXXXX";
  int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  assert_int_equal(write(descriptor, text, strlen(text)), strlen(text));
  close(descriptor);
  CsvTable table;
  Diagnostics diagnostics = {0};
  assert_int_equal(csv_read(&table, path, &diagnostics), STATUS_OK);
  unlink(path);
  return table;
}

static Comparison compare(const char* a, const char* b, const char* columns, double abs, double rel) {
  CsvTable table_a = table_of(a), table_b = table_of(b);
  Diagnostics diagnostics = {0};
  Comparison comparison;
  Status status = csv_compare(&comparison, &table_a, "a.csv", &table_b, "b.csv", columns, abs, rel, &diagnostics);
  assert_int_equal(status, STATUS_OK);
  csv_free(&table_a);
  csv_free(&table_b);
  return comparison;
}

static void equal_tables_differ_nowhere(void** state) {
  (void)state;
  Comparison c = compare("time,x\n0,1\n1,nan\n", "time,x\n0,1.0\n1,NaN\n", NULL, 0, 0);
  assert_int_equal(c.values, 4);
  assert_int_equal(c.different, 0);
  assert_int_equal(c.worst.column, -1);
}

static void the_worst_cell_is_found(void** state) {
  (void)state;
  Comparison c = compare("time,x,y\n0,1,100\n1,2,200\n", "time,x,y\n0,1.5,100\n1,2,202\n", NULL, 0.1, 0.009);
  assert_int_equal(c.different, 2);
  assert_int_equal(c.outside, 2);
  expect_near(c.worst_absolute.value, 2.0, 0);
  assert_int_equal(c.worst_absolute.column, 2);
  assert_int_equal(c.worst_absolute.row, 1);
  expect_near(c.worst_relative.value, 0.5 / 1.5, 1e-15);
  assert_int_equal(c.worst_relative.column, 1);
  assert_int_equal(c.worst_relative.row, 0);
  expect_near(c.worst.value, 0.5 / (0.1 + 0.009 * 1.5), 1e-12);
  assert_int_equal(c.worst.row, 0);
}

static void tolerances_are_abs_plus_rel_of_the_larger(void** state) {
  (void)state;
  assert_int_equal(compare("x\n100\n", "x\n101\n", NULL, 1.0, 0).outside, 0); /* exactly on the edge */
  assert_int_equal(compare("x\n100\n", "x\n101\n", NULL, 0.99, 0).outside, 1);
  assert_int_equal(compare("x\n100\n", "x\n101\n", NULL, 0, 0.01).outside, 0); /* 0.01 x 101 */
  assert_int_equal(compare("x\n101\n", "x\n100\n", NULL, 0, 0.01).outside, 0); /* symmetric */
  assert_int_equal(compare("x\n100\n", "x\n101\n", NULL, 0, 0.0099).outside, 1);
  assert_int_equal(compare("x\n100\n", "x\n101\n", NULL, 0.5, 0.005).outside, 0);
}

static void what_is_not_finite_agrees_with_itself_only(void** state) {
  (void)state;
  assert_int_equal(compare("x\nnan\n", "x\n1\n", NULL, 1e300, 1).outside, 1);
  assert_int_equal(compare("x\ninf\n", "x\n1\n", NULL, 1e300, 1).outside, 1);
  assert_int_equal(compare("x\ninf\n", "x\n-inf\n", NULL, 1e300, 1).outside, 1);
  assert_int_equal(compare("x\ninf\n", "x\nInfinity\n", NULL, 0, 0).outside, 0);
  assert_int_equal(compare("x\nnan\n", "x\n-nan\n", NULL, 0, 0).outside, 0);
  assert_int_equal(compare("x\n0\n", "x\n-0\n", NULL, 0, 0).different, 0);
  assert_true(isinf(compare("x\nnan\n", "x\n1\n", NULL, 0, 0).worst_absolute.value));
}

static void text_must_be_the_same(void** state) {
  (void)state;
  assert_int_equal(compare("a\nbox\n", "a\nbox\n", NULL, 0, 0).different, 0);
  assert_int_equal(compare("a\nbox\n", "a\nball\n", NULL, 1e9, 1).outside, 1);
  assert_int_equal(compare("a\nbox\n", "a\n1\n", NULL, 1e9, 1).outside, 1);
}

static void columns_are_chosen_by_patterns_and_matched_by_name(void** state) {
  (void)state;
  const char *a = "time,box/px,box/py,n\n0,1,2,3\n", *b = "n,box/py,box/px,time\n9,2,1,0\n";
  assert_int_equal(compare(a, b, NULL, 0, 0).outside, 1);
  Comparison c = compare(a, b, "box/*", 0, 0);
  assert_int_equal(c.values, 2);
  assert_int_equal(c.outside, 0);
  assert_int_equal(compare(a, b, "time,*y", 0, 0).values, 2);
  assert_int_equal(compare(a, b, "*", 0, 0).values, 4);
}

static void expect_mismatch(const char* a, const char* b, const char* columns, const char* message) {
  CsvTable table_a = table_of(a), table_b = table_of(b);
  Diagnostics diagnostics = {0};
  Comparison comparison;
  Status status = csv_compare(&comparison, &table_a, "a.csv", &table_b, "b.csv", columns, 0, 0, &diagnostics);
  assert_int_equal(status, STATUS_BAD_INPUT);
  assert_string_equal(diagnostics.items[0].text, message);
  diagnostics_free(&diagnostics);
  csv_free(&table_a);
  csv_free(&table_b);
}

static void other_shapes_are_refused(void** state) {
  (void)state;
  expect_mismatch(
      "x,y\n1,2\n", "x\n1\n", NULL,
      "no column 'y', which a.csv has: compare tables with the same columns, or select common columns by --columns");
  expect_mismatch(
      "x\n1\n", "x,y\n1,2\n", NULL,
      "no column 'y', which b.csv has: compare tables with the same columns, or select common columns by --columns");
  /* one line, however many there are */
  expect_mismatch("x,y,z\n1,2,3\n", "x\n1\n", NULL,
                  "no columns 'y', 'z', which a.csv has: compare tables with the same columns, or select common "
                  "columns by --columns");
  expect_mismatch("a,b,c,d,e,x\n1,2,3,4,5,6\n", "x\n1\n", NULL,
                  "no columns 'a', 'b', 'c' and 2 more, which a.csv has: compare tables with the same columns, or "
                  "select common columns by --columns");
  expect_mismatch("x\n1\n", "x\n1\n2\n", NULL,
                  "the file has 2 rows, but a.csv has 1: compare tables with the same number of rows");
  expect_mismatch("x\n1\n", "x\n1\n", "z*", "no column matches 'z*': line 1 of the file lists the columns");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_tables_differ_nowhere),
      cmocka_unit_test(the_worst_cell_is_found),
      cmocka_unit_test(tolerances_are_abs_plus_rel_of_the_larger),
      cmocka_unit_test(what_is_not_finite_agrees_with_itself_only),
      cmocka_unit_test(text_must_be_the_same),
      cmocka_unit_test(columns_are_chosen_by_patterns_and_matched_by_name),
      cmocka_unit_test(other_shapes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
