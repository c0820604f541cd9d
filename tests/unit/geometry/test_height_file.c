#include "geometry_testing.h"

static char* told(const Diagnostics* diagnostics) {
  Text text = {0};
  text_add(&text, "%s", "");
  for (int i = 0; i < diagnostics->count; i++)
    text_add(&text, "%d:%d: %s\n", diagnostics->items[i].line, diagnostics->items[i].column,
             diagnostics->items[i].text);
  return text.data;
}

static void expect_grid(const char* path, int columns, int rows, const double* wanted) {
  HeightGrid grid;
  Diagnostics diagnostics = {0};
  assert_int_equal(height_grid_read(&grid, path, &diagnostics), STATUS_OK);
  assert_int_equal(grid.columns, columns);
  assert_int_equal(grid.rows, rows);
  for (int k = 0; k < columns * rows; k++) assert_close(grid.values[k], wanted[k], 0);
  height_grid_free(&grid);
  diagnostics_free(&diagnostics);
}

/* The first row of a file is the last of the grid. */
static void tables_and_pictures_by_hand(void** state) {
  (void)state;
#define CORPUS "tests/fuzz/corpus/heights/"
  expect_grid(CORPUS "table.csv", 3, 2, (const double[]){0, 1, 2, 0, 0.5, 1});
  expect_grid(CORPUS "grey8.png", 3, 2, (const double[]){0.4, 0, 0.8, 0, 0.2, 1});
  expect_grid(CORPUS "grey16.png", 2, 2, (const double[]){0.2, 1 / 65535.0, 0, 1});
  expect_grid(CORPUS "colour.png", 2, 3, (const double[]){1, 0, 1, 0, 1, 0});
}

static void expect_problems(const char* data, size_t length, bool png, const char* wanted) {
  HeightGrid grid;
  Diagnostics diagnostics = {0};
  char* exact = malloc(length > 0 ? length : 1); /* no NUL behind it: reading past the end shows */
  if (length > 0) memcpy(exact, data, length);
  assert_int_equal(height_grid_parse(&grid, "test", exact, length, png, &diagnostics), STATUS_BAD_INPUT);
  char* found = told(&diagnostics);
  assert_string_equal(found, wanted);
  assert_null(grid.values);
  free(exact);
  memory_free(found);
  diagnostics_free(&diagnostics);
}

static void bad_files_are_refused(void** state) {
  (void)state;
  static const char* const few = "0:0: a height field needs at least 2 x 2 samples and at most 4000000 in all, got ";
  static const struct {
    const char *text, *wanted;
  } rows[] = {
      {"1 2\n3 x\n", "2:3: expected a finite decimal number, got 'x'\n"},
      {"1 2\n3\n4 5\n", "2:1: the row has 1 numbers, but the first row has 2: give all rows equally many numbers\n"},
      {"1 2\n1e40 3\n", "2:1: height '1e40' is beyond 1e+30\n"},
      {"1 2\nnan 3\n", "2:1: expected a finite decimal number, got 'nan'\n"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    expect_problems(rows[k].text, strlen(rows[k].text), false, rows[k].wanted);
  Text text = {0};
  text_add(&text, "%s0 x 0\n", few);
  expect_problems("", 0, false, text.data);
  text_free(&text);
  text_add(&text, "%s3 x 1\n", few);
  expect_problems("1 2 3\n", 6, false, text.data);
  text_free(&text);
  expect_problems("1 2\n", 4, true,
                  "0:0: the file is not a PNG image: save the heights as a PNG image, or as numbers in a text file\n");
  char* data;
  size_t length;
  Diagnostics diagnostics = {0};
  assert_int_equal(file_read_reported(CORPUS "grey8.png", &data, &length, &diagnostics), STATUS_OK);
  expect_problems(data, length - 25, true, "0:0: the PNG image is damaged: save the image again\n");
  for (size_t k = 8; k < length; k++) { /* every byte behind the signature is under a checksum, or is one */
    data[k] ^= 1;
    HeightGrid changed;
    assert_int_equal(height_grid_parse(&changed, "test", data, length, true, &diagnostics), STATUS_BAD_INPUT);
    data[k] ^= 1;
  }
  memory_free(data);
  HeightGrid grid;
  assert_int_equal(height_grid_read(&grid, CORPUS "nowhere.csv", &diagnostics), STATUS_IO);
  diagnostics_free(&diagnostics);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_and_pictures_by_hand),
      cmocka_unit_test(bad_files_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
