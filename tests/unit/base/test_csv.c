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

static void compare_row(CsvRows* rows, const CsvTable* table, int row) {
  const CsvTable* one = csv_rows_read(rows, row);
  assert_int_equal(one->row_count, 1);
  assert_int_equal(one->column_count, table->column_count);
  assert_int_equal(one->lines[0], table->lines[row]);
  for (int k = 0; k < table->column_count; k++) {
    assert_string_equal(one->names[k], table->names[k]);
    assert_string_equal(csv_cell(one, 0, k), csv_cell(table, row, k));
  }
}

/* Row by row, forwards, backwards and at random. */
static void compare_rows(CsvRows* rows, const CsvTable* table) {
  assert_int_equal(csv_rows_count(rows), table->row_count);
  assert_int_equal(csv_rows_header(rows)->column_count, table->column_count);
  Random random = {5};
  for (int row = 0; row < table->row_count; row++) compare_row(rows, table, row);
  for (int row = table->row_count - 1; row >= 0; row--) compare_row(rows, table, row);
  for (int k = 0; k < 2 * table->row_count; k++)
    compare_row(rows, table, (int)random_uniform(&random, 0, table->row_count));
}

/* Reads a text as a CSV file, as a whole and row by row: the same cells and lines, or the same refusal. */
static Status read_bytes(CsvTable* table, const char* text, size_t length, Diagnostics* diagnostics) {
  char path[] = "/tmp/sdrs-csv-XXXXXX";
  int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  assert_int_equal(write(descriptor, text, length), length);
  close(descriptor);
  Status status = csv_read(table, path, diagnostics);
  CsvRows* rows;
  Diagnostics again = {0};
  assert_int_equal(csv_rows_open(&rows, path, &again), status);
  assert_int_equal(again.count, diagnostics->count);
  for (int k = 0; k < again.count; k++) {
    assert_string_equal(again.items[k].text, diagnostics->items[k].text);
    assert_int_equal(again.items[k].line, diagnostics->items[k].line);
  }
  if (rows) compare_rows(rows, table);
  csv_rows_close(rows);
  diagnostics_free(&again);
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
  expect_cells("\"a,\"\"x\"\"\",b\n\"c\nd\",2\n", 2, 1, (const char* const[]){"a,\"x\"", "b", "c\nd", "2"});
}

static void written_fields_read_back(void** state) {
  (void)state;
  static const char* const fields[] = {"plain", "with,comma", "\"quoted\"", "two\nlines", "", "\"", "a\"b,c\r\n"};
  enum { COUNT = sizeof fields / sizeof fields[0] };
  const char* cells[1 + 2 * COUNT] = {0};
  Text text = {0};
  for (int i = 0; i < COUNT; i++) {
    text_add(&text, "%sc", i > 0 ? "," : "");
    cells[i] = "c";
    cells[COUNT + i] = fields[i];
  }
  for (int i = 0; i < COUNT; i++) {
    text_add(&text, i > 0 ? "," : "\n");
    csv_add_field(&text, fields[i]);
  }
  text_add(&text, "\n");
  expect_cells(text.data, COUNT, 1, cells);
  text_free(&text);
}

static void lines_count_through_quoted_breaks(void** state) {
  (void)state;
  CsvTable table;
  Diagnostics diagnostics = {0};
  assert_int_equal(read_text(&table, "a,b\n1,\"x\ny\"\n2,3\n", &diagnostics), STATUS_OK);
  assert_int_equal(table.lines[0], 2);
  assert_int_equal(table.lines[1], 4);
  assert_int_equal(csv_find_column(&table, "b"), 1);
  assert_int_equal(csv_find_column(&table, "c"), -1);
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
  expect_refused("a,\"b\nc\"\n", 8, 1, "the name of column 2 has a control character: remove the character");
  expect_refused("a\x7f\n", 3, 1, "the name of column 1 has a control character: remove the character");
  expect_refused("a\xc2\x9bm\n", 5, 1, "the name of column 1 has a control character: remove the character");
  expect_refused("", 0, 0, "empty file: a CSV file begins with a header line");
  expect_refused("a,b\n1,2\n1\n", 10, 3,
                 "the row has 1 fields, but the header has 2: give all rows as many fields as the header");
  expect_refused("a,b\n1,2,3\n", 10, 2,
                 "the row has 3 fields, but the header has 2: give all rows as many fields as the header");
  expect_refused("a,b\n1,\"2\n", 9, 2, "a quoted field has no closing quote: add the quote");
  expect_refused("\"a", 2, 1, "a quoted field has no closing quote: add the quote");
  expect_refused("a\0b\n", 4, 0, "not a CSV file, because the file has a NUL byte: save the table as plain text");
}

/* Random files usually have two columns; separators and quotes are frequent. */
static void random_texts_are_read_alike(void** state) {
  (void)state;
  static const char *const cells[] = {"1",    "",       "\"x\"",    "\"a\"\"b\"",  "\"p\nq\"",
                                      "u\"v", "w\"\"x", "\"c\"d\"", "\"r\r\ns,\"", "\"t\"\"\""},
                           *const ends[] = {"\n", "\r\n", "\r"};
  enum { CELLS = sizeof cells / sizeof cells[0] };
  Random random = {77};
  int good = 0;
  for (int trial = 0; trial < 400; trial++) {
    Text text = {0};
    text_add(&text, "%s", "");
    int rows = (int)random_uniform(&random, 0, trial % 10 == 0 ? 300 : 8);
    for (int row = 0; row <= rows; row++) {
      int columns = random_uniform(&random, 0, 1) < 0.005 ? 3 : 2;
      for (int k = 0; k < columns; k++)
        text_add(&text, "%s%s", k > 0 ? "," : "", cells[(int)random_uniform(&random, 0, CELLS)]);
      text_add(&text, "%s", row < rows || trial % 3 ? ends[(int)random_uniform(&random, 0, 3)] : "");
    }
    CsvTable table;
    Diagnostics diagnostics = {0};
    good += read_text(&table, text.data, &diagnostics) == STATUS_OK;
    csv_free(&table);
    diagnostics_free(&diagnostics);
    text_free(&text);
  }
  assert_true(good > 200 && good < 400);
}

static void a_file_cut_short_has_empty_cells(void** state) {
  (void)state;
  char path[] = "/tmp/sdrs-csv-XXXXXX";
  int descriptor = mkstemp(path);
  for (int k = 0; k < 3000; k++) assert_int_equal(write(descriptor, "one,two\n", 8), 8);
  CsvRows* rows;
  Diagnostics diagnostics = {0};
  assert_int_equal(csv_rows_open(&rows, path, &diagnostics), STATUS_OK);
  assert_int_equal(csv_rows_count(rows), 2999);
  assert_string_equal(csv_cell(csv_rows_read(rows, 2998), 0, 1), "two");
  assert_int_equal(ftruncate(descriptor, 20), 0);
  assert_string_equal(csv_cell(csv_rows_read(rows, 0), 0, 1), "two");
  assert_string_equal(csv_cell(csv_rows_read(rows, 2900), 0, 1), "");
  csv_rows_close(rows);
  close(descriptor);
  unlink(path);
}

static void rows_are_of_a_regular_file(void** state) {
  (void)state;
  CsvRows* rows;
  Diagnostics diagnostics = {0};
  assert_int_equal(csv_rows_open(&rows, "/nowhere/a.csv", &diagnostics), STATUS_IO);
  assert_int_equal(csv_rows_open(&rows, "/dev/zero", &diagnostics), STATUS_IO);
  assert_null(rows);
  assert_string_equal(diagnostics.items[0].text, "cannot read: No such file or directory");
  assert_string_equal(diagnostics.items[1].text, "cannot read: not a regular file");
  diagnostics_free(&diagnostics);
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
  static const char text[] = "a,b,c\n1.5,inf,1e-3x\n,nan,word\n0x10,1p3,nan(7)\n";
  assert_int_equal(read_bytes(&table, text, strlen(text), &diagnostics), STATUS_OK);
  assert_true(csv_number_or_nan(&table, 0, 0) == 1.5);
  assert_true(csv_number_or_nan(&table, 0, 1) == (double)INFINITY);
  assert_true(isnan(csv_number_or_nan(&table, 0, 2)));
  for (int column = 0; column < 3; column++)
    for (int row = 1; row < 3; row++) assert_true(isnan(csv_number_or_nan(&table, row, column)));
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
      cmocka_unit_test(random_texts_are_read_alike),       cmocka_unit_test(a_file_cut_short_has_empty_cells),
      cmocka_unit_test(rows_are_of_a_regular_file),        cmocka_unit_test(a_missing_file_is_an_io_error),
      cmocka_unit_test(numbers_are_those_of_whole_cells),  cmocka_unit_test(random_bytes_are_read_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
