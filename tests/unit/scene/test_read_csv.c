/* Tests signals from CSV files: values equal those written in a scene, and quaternions become rotation vectors. Every
 * error names file, line and column. */
#include <stdlib.h>
#include <unistd.h>

#include "control/control.h"
#include "linalg/linalg.h"
#include "scene_testing.h"

static const char LINKS[] =
    "links:\n"
    "  - {name: h, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, shape: {type: sphere, radius: 1}}\n"
    "  - {name: f, mass: 1, position: [5, 0, 0], shape: {type: sphere, radius: 1}}\n"
    "controllers:\n";

typedef struct {
  char path[32];
  Text scene;
} File;

/* A file with this text, and a scene whose link is driven by it; `keys` follow the file's name. */
static File file_with(const char* link, const char* text, const char* keys) {
  File file = {"/tmp/sdrs-csv-XXXXXX.csv", {0}};
  int descriptor = mkstemps(file.path, 4);
  assert_true(descriptor >= 0);
  assert_int_equal(write(descriptor, text, strlen(text)), strlen(text));
  close(descriptor);
  text_add(&file.scene, "%s  - link: %s\n    type: prescribed\n    target: {type: csv, file: %s, %s}\n", LINKS, link,
           file.path, keys);
  return file;
}

static void file_end(File* file) {
  unlink(file->path);
  text_free(&file->scene);
}

static void expect_problem(const char* link, const char* text, const char* keys, const char* where,
                           const char* problem) {
  File file = file_with(link, text, keys);
  Text wanted = {0};
  text_add(&wanted, "7:%s: error: controllers[0].target.file: %s%s\n", where, file.path, problem);
  expect_problems(file.scene.data, wanted.data);
  text_free(&wanted);
  file_end(&file);
}

/* ---------------------------------------------------------------- values */

static void columns_by_name(void** state) {
  (void)state;
  File file = file_with("h", "t,left,right\n0,1,10\n0.5,2,20\n2,4,40\n", "time: t, column: right");
  Scene scene = load(file.scene.data);
  const SceneSignal* signal = &scene.controllers[0].target;
  assert_int_equal(signal->type, SIGNAL_KEYFRAMES);
  assert_int_equal(signal->rows, 3);
  compare_arrays(signal->times, (double[]){0, 0.5, 2}, 3, 0, "times");
  compare_arrays(signal->values, (double[]){10, 20, 40}, 3, 0, "values");
  assert_string_equal(signal->file, file.path);
  scene_free(&scene);
  file_end(&file);
}

/* The natural cubic through (0,0), (1,1), (2,0): 3/2 x - x^3 / 2 on the first piece. */
static void a_cubic(void** state) {
  (void)state;
  File file = file_with("h", "time,x\n0,0\n1,1\n2,0\n", "column: x, interpolation: cubic");
  Scene scene = load(file.scene.data);
  assert_int_equal(scene.controllers[0].target.type, SIGNAL_SPLINE);
  Signal signal;
  double value, rate;
  signal_create(&signal, &scene.controllers[0].target);
  signal_eval(&signal, 0.5, &value, &rate);
  compare_near(value, 1.5 * 0.5 - 0.5 * 0.125, 1e-15, "value");
  compare_near(rate, 1.5 - 1.5 * 0.25, 1e-15, "rate");
  signal_destroy(&signal);
  scene_free(&scene);
  file_end(&file);
}

/* Three rotations about a slanted axis as quaternions of either sign. The rotation vector continues beyond pi. */
static void quaternions_become_rotation_vectors(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, "time,px,py,pz,qw,qx,qy,qz\n");
  Vec3 axis = vec3_scale(vec3(1, 2, 2), 1.0 / 3);
  enum { ROWS = 40 };
  for (int k = 0; k < ROWS; k++) {
    Quat q = quat_exp(vec3_scale(axis, 6 * M_PI * k / (ROWS - 1)));
    double size = k % 3 == 0 ? -2 : 1;
    text_add(&text, "%d,%d,0,1,%.17g,%.17g,%.17g,%.17g\n", k, k, size * q.w, size * q.x, size * q.y, size * q.z);
  }
  File file = file_with("f", text.data, "columns: [px, py, pz, qw, qx, qy, qz]");
  Scene scene = load(file.scene.data);
  const SceneSignal* signal = &scene.controllers[0].target;
  assert_int_equal(signal->channels, 6);
  assert_int_equal(signal->rows, ROWS);
  for (int k = 0; k < ROWS; k++) {
    compare_near(signal->values[6 * k], k, 0, "px of row %d", k);
    compare_vec3(vec3_at(signal->values + 6 * k + 3), vec3_scale(axis, 6 * M_PI * k / (ROWS - 1)), 1e-12, "row %d", k);
  }
  scene_free(&scene);
  file_end(&file);
  text_free(&text);
}

/* ---------------------------------------------------------------- mistakes */

static void mistakes_of_the_file(void** state) {
  (void)state;
  expect_problem("h", "time,x\n0,1\n1,abc\n", "column: x", "31",
                 ":3: column 'x': 'abc' is not a finite decimal number");
  expect_problem("h", "time,x\n0,1\n1,nan\n", "column: x", "31",
                 ":3: column 'x': 'nan' is not a finite decimal number");
  expect_problem("h", "time,x\n0,1\n0,2\n", "column: x", "31",
                 ":3: column 'time': times must increase from row to row, got 0 after 0");
  expect_problem("h", "time,x\n0,1\n1\n", "column: x", "31",
                 ":3: the row has 1 fields, but the header has 2: give all rows as many fields as the header");
  expect_problem("h", "time,x\n", "column: x", "31", ": the file has no row below its header: add at least one row");
  expect_problem("h", "time,x\n0,1\n", "column: x, interpolation: cubic", "31",
                 ": interpolation: cubic needs at least two rows: add rows, or use linear");
  expect_problem("h", "time,x\n0,1\n1,0x10\n", "column: x", "31",
                 ":3: column 'x': '0x10' is not a finite decimal number");
  expect_problem("h", "time,x,x\n0,1,2\n", "column: x", "65", ":1: two columns are named 'x': rename one");
  expect_problem("h", "time,time,x\n0,1,2\n", "column: x", "31", ":1: two columns are named 'time': rename one");
  expect_problem("h", "time,\"x\ny\"\n0,1\n", "column: x", "31",
                 ":1: the name of column 2 has a control character: remove the character");
  expect_problem("h", "", "column: x", "31", ": empty file: a CSV file begins with a header line");
  expect_problem("h", "when,x\n0,1\n", "column: x", "31", ":1: the file has no column 'time'");
  expect_problem("h", "time,xy\n0,1\n", "column: xz", "65", ":1: the file has no column 'xz' (did you mean 'xy'?)");
  expect_problem("f", "time,x,qw\n0,1,0\n", "columns: [x, x, x, qw, qw, qw, qw]", "31",
                 ":2: a quaternion must not be zero: write 1, 0, 0, 0 for no rotation");
  /* half a turn about x, then half a turn about z: 2^0.5 pi apart as rotation vectors */
  expect_problem("f", "time,x,a,b\n0,0,1,0\n1,0,0,1\n", "columns: [x, x, x, x, a, x, b]", "31",
                 ":3: the rotation from the previous row exceeds half a turn: add rows in between");
}

static void columns_that_are_not_as_many(void** state) {
  (void)state;
  File file = file_with("h", "time,x,y\n0,1,2\n", "columns: [x, y]");
  expect_problems(file.scene.data,
                  "7:13: error: controllers[0].target.file: expected 1 column, one per channel, got 2\n");
  file_end(&file);
  file = file_with("h", "time,x,y\n0,1,2\n", "interpolation: linear");
  expect_problems(
      file.scene.data,
      "7:13: error: controllers[0].target.file: 'columns' is missing: give names of columns, one per channel\n");
  file_end(&file);
}

static void a_file_that_is_not_there(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, "%s  - {link: h, type: torque, target: {type: csv, file: /nowhere/at-all.csv, column: x}}\n", LINKS);
  expect_problems(text.data,
                  "5:55: error: controllers[0].target.file: /nowhere/at-all.csv: cannot read: No such file or "
                  "directory\n");
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_by_name),
      cmocka_unit_test(a_cubic),
      cmocka_unit_test(quaternions_become_rotation_vectors),
      cmocka_unit_test(mistakes_of_the_file),
      cmocka_unit_test(columns_that_are_not_as_many),
      cmocka_unit_test(a_file_that_is_not_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
