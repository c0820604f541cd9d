/* Tests the reader of joints.csv: written values are read bit for bit, and invalid files are refused. */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/runs.h"

static const char trees[] =
    "contact: {model: none}\n"
    "shapes: {bar: {type: box, size: [0.1, 0.1, 0.1]}}\n"
    "links:\n"
    "  - {name: a, mass: 1, shape: bar, joint: {type: hinge, axis: [0, 0, 1]}}\n"
    "  - {name: b, mass: 1, shape: bar, joint: {type: free}}\n"
    "  - {name: c, parent: a, mass: 1, shape: bar, joint: {type: slide, axis: [1, 0, 0]}}\n";
static const char header[] = "time,a/angle,b/x,b/y,b/z,b/qw,b/qx,b/qy,b/qz,c/position\n";

static Status read_text(CsvRows** read, const Model* model, const char* text, Diagnostics* diagnostics) {
  char path[] = "/tmp/test_read_joints.XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && close(file) == 0);
  Status status = run_coordinates_open(read, path, model, diagnostics);
  unlink(path);
  return status;
}

/* The columns follow the links, q follows the trees: a and c are one tree and stand together in q. */
static void columns_go_where_the_joints_are(void** state) {
  (void)state;
  Run* run = run_model("%s", trees);
  const Model* m = &run->model;
  Text text = {0};
  text_add(&text, "%s0,1,2,3,4,5,6,7,8,9\n0.5,0.1,-2e-300,3,4,1,0,0,0,0.30000000000000004\n", header);
  CsvRows* read;
  double q[9], last[9];
  Diagnostics diagnostics = {0};
  assert_int_equal(read_text(&read, m, text.data, &diagnostics), STATUS_OK);
  assert_int_equal(csv_rows_count(read), 2);
  assert_int_equal(m->coordinate_count, 9);
  assert_true(csv_number_or_nan(csv_rows_read(read, 1), 0, 0) == 0.5);
  run_coordinates_read_row(read, 1, m, last);
  run_coordinates_read_row(read, 0, m, q);
  assert_true(last[m->links[run_link(run, "a")].coordinate_first] == 0.1);
  assert_true(last[m->links[run_link(run, "b")].coordinate_first] == -2e-300);
  assert_true(last[m->links[run_link(run, "c")].coordinate_first] == 0.30000000000000004);
  for (int k = 0; k < 7; k++) assert_true(q[m->links[run_link(run, "b")].coordinate_first + k] == 2 + k);
  csv_rows_close(read);
  text_free(&text);
  run_free(run);
}

static void refuse(const Model* model, const char* text, const char* word) {
  CsvRows* read;
  Diagnostics diagnostics = {0};
  assert_int_equal(read_text(&read, model, text, &diagnostics), STATUS_BAD_INPUT);
  assert_int_equal(diagnostics.count, 1);
  if (!strstr(diagnostics.items[0].text, word)) fail_msg("'%s' does not name '%s'", diagnostics.items[0].text, word);
  assert_null(read);
  diagnostics_free(&diagnostics);
}

static void other_columns_and_numbers_that_are_none_are_refused(void** state) {
  (void)state;
  Run* run = run_model("%s", trees);
  refuse(&run->model, "time,a/angle\n0,1\n", "another scene");
  refuse(&run->model, "time,b/angle,b/x,b/y,b/z,b/qw,b/qx,b/qy,b/qz,c/position\n0,1,2,3,4,5,6,7,8,9\n",
         "another scene");
  Text text = {0};
  text_add(&text, "%s0,1,2,3,4,5,6,7,8,nan\n", header);
  refuse(&run->model, text.data, "'nan'");
  text_free(&text);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_go_where_the_joints_are),
      cmocka_unit_test(other_columns_and_numbers_that_are_none_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
