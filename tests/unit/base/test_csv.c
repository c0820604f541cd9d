#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"

/* Reads a text as a CSV file; the path is kept in *path for messages. */
static Status read_bytes(CsvTable* table, const char* text, size_t length, Diagnostics* diagnostics) {
  char path[] = "/tmp/sdrs-csv-XXXXXX";
  int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  assert_int_equal(write(descriptor, text, length), length);
  close(descriptor);
  Status status = csv_read(table, path, diagnostics);
  unlink(path);
  return status;
}

static Status read_text(CsvTable* table, const char* text, Diagnostics* diagnostics) {
  return read_bytes(table, text, strlen(text), diagnostics);
}

static void expect_cells(const char* text, int columns, int rows, const char* const* cells) {
  CsvTable table;
  Diagnostics diagnostics = {0};
  assert_int_equal(read_text(&table, text, &diagnostics), STATUS_OK);
  assert_int_equal(table.column_count, columns);
  assert_int_equal(table.row_count, rows);
  for (int i = 0; i < columns; i++) assert_string_equal(table.names[i], cells[i]);
  for (int i = 0; i < columns * rows; i++) assert_string_equal(table.cells[i], cells[columns + i]);
  csv_free(&table);
}

static void reads_plain_quoted_and_crlf(void** state) {
  (void)state;
  expect_cells("a,b\n1,2\n3,4\n", 2, 2, (const char* const[]){"a", "b", "1", "2", "3", "4"});
  expect_cells("a,b\r\n1,2\r\n", 2, 1, (const char* const[]){"a", "b", "1", "2"});
  expect_cells("a,b\n1,2", 2, 1, (const char* const[]){"a", "b", "1", "2"});
  expect_cells("a\n", 1, 0, (const char* const[]){"a"});
  expect_cells("a,b\n,\n", 2, 1, (const char* const[]){"a", "b", "", ""});
  expect_cells(
      "\xef\xbb\xbf"
      "a\n1\n",
      1, 1, (const char* const[]){"a", "1"});
  expect_cells("\"a,\"\"x\"\"\",\"b\nc\"\n\"\",2\n", 2, 1, (const char* const[]){"a,\"x\"", "b\nc", "", "2"});
}

static void written_fields_read_back(void** state) {
  (void)state;
  static const char* const fields[] = {"plain", "with,comma", "\"quoted\"", "two\nlines", "", "\"", "a\"b,c\r\n"};
  enum { COUNT = sizeof fields / sizeof fields[0] };
  Text text = {0};
  for (int i = 0; i < COUNT; i++) {
    if (i > 0) text_add(&text, ",");
    csv_add_field(&text, fields[i]);
  }
  text_add(&text, "\n");
  expect_cells(text.data, COUNT, 0, fields);
  text_free(&text);
}

static void lines_count_through_quoted_breaks(void** state) {
  (void)state;
  CsvTable table;
  Diagnostics diagnostics = {0};
  assert_int_equal(read_text(&table, "a,b\n1,\"x\ny\"\n2,3\n", &diagnostics), STATUS_OK);
  assert_int_equal(table.lines[0], 2);
  assert_int_equal(table.lines[1], 4);
  assert_int_equal(csv_column(&table, "b"), 1);
  assert_int_equal(csv_column(&table, "c"), -1);
  csv_free(&table);
}

static void expect_refused(const char* text, size_t length, int line, const char* message) {
  CsvTable table;
  Diagnostics diagnostics = {0};
  assert_int_equal(read_bytes(&table, text, length, &diagnostics), STATUS_BAD_INPUT);
  assert_int_equal(diagnostics.error_count, 1);
  assert_int_equal(diagnostics.items[0].line, line);
  assert_string_equal(diagnostics.items[0].text, message);
  diagnostics_free(&diagnostics);
  csv_free(&table);
}

static void refuses_what_is_not_csv(void** state) {
  (void)state;
  expect_refused("", 0, 0, "empty file: a CSV file begins with a header line");
  expect_refused("a,b\n1,2\n1\n", 10, 3, "row has 1 fields, the header has 2");
  expect_refused("a,b\n1,2,3\n", 10, 2, "row has 3 fields, the header has 2");
  expect_refused("a,b\n1,\"2\n", 9, 2, "a quoted field is not closed");
  expect_refused("\"a", 2, 1, "a quoted field is not closed");
  expect_refused("a\0b\n", 4, 0, "not a CSV file: it holds a NUL byte");
}

static void a_missing_file_is_an_io_error(void** state) {
  (void)state;
  CsvTable table;
  Diagnostics diagnostics = {0};
  assert_int_equal(csv_read(&table, "/nowhere/a.csv", &diagnostics), STATUS_IO);
  assert_string_equal(diagnostics.items[0].text, "cannot read: No such file or directory");
  diagnostics_free(&diagnostics);
  csv_free(&table);
}

static void numbers_are_those_of_whole_cells(void** state) {
  (void)state;
  CsvTable table;
  Diagnostics diagnostics = {0};
  static const char text[] = "a,b,c\n1.5,inf,1e-3x\n,nan,word\n";
  assert_int_equal(read_bytes(&table, text, strlen(text), &diagnostics), STATUS_OK);
  assert_true(csv_value(&table, 0, 0) == 1.5);
  assert_true(csv_value(&table, 0, 1) == (double)INFINITY);
  assert_true(isnan(csv_value(&table, 0, 2)));
  for (int column = 0; column < 3; column++) assert_true(isnan(csv_value(&table, 1, column)));
  assert_string_equal(csv_cell(&table, 1, 2), "word");
  csv_free(&table);
}

/* Any bytes at all: no crash, and cells and rows fit together. */
static void random_bytes_are_read_or_refused(void** state) {
  (void)state;
  Random random = {20240607};
  static const char alphabet[] = "a1,\",\n\r\"\xc3";
  for (int round = 0; round < 2000; round++) {
    char text[64];
    size_t length = random_bits(&random) % sizeof text;
    for (size_t i = 0; i < length; i++) text[i] = alphabet[random_bits(&random) % (sizeof alphabet - 1)];
    CsvTable table;
    Diagnostics diagnostics = {0};
    if (read_bytes(&table, text, length, &diagnostics) == STATUS_OK)
      for (int i = 0; i < table.row_count * table.column_count; i++) assert_non_null(table.cells[i]);
    else
      assert_int_equal(diagnostics.error_count, 1);
    diagnostics_free(&diagnostics);
    csv_free(&table);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_plain_quoted_and_crlf),       cmocka_unit_test(written_fields_read_back),
      cmocka_unit_test(lines_count_through_quoted_breaks), cmocka_unit_test(refuses_what_is_not_csv),
      cmocka_unit_test(a_missing_file_is_an_io_error),     cmocka_unit_test(numbers_are_those_of_whole_cells),
      cmocka_unit_test(random_bytes_are_read_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
