/* libFuzzer target: any bytes give a table whose rows are as long as its header, or an error; and as the file of a
 * signal, knots with rising times and finite values, or an error with a place in the scene. */
#include "fuzz/fuzzing.h"
#include "scene/scene.h"

static void check_table(const uint8_t* data, size_t size) {
  CsvTable table;
  Diagnostics diagnostics = {0};
  char* text = fuzz_text(data, size);
  Status status = csv_parse(&table, "fuzz.csv", text, size, &diagnostics);
  require((status == STATUS_OK) == (diagnostics.error_count == 0));
  for (int row = 0; status == STATUS_OK && row < table.row_count; row++) {
    require(table.lines[row] >= 2);
    for (int k = 0; k < table.column_count; k++) require(csv_cell(&table, row, k) != NULL);
  }
  csv_free(&table);
  diagnostics_free(&diagnostics);
}

static void check_signal(const SceneSignal* signal) {
  for (int k = 1; k < signal->rows && signal->times; k++) require(signal->times[k] > signal->times[k - 1]);
  for (int k = 0; k < signal->rows * signal->channels; k++) require(isfinite(signal->values[k]));
}

static void check_scene(const char* path) {
  Scene scene;
  Diagnostics diagnostics = {0};
  Text text = {0};
  text_add(&text,
           "links:\n  - {name: a, mass: 1, shape: {type: sphere, radius: 1}}\n"
           "controllers:\n  - {link: a, type: prescribed, target: {type: csv, file: %s, columns: [x, y, z, a, b, c, "
           "d]}}\n",
           path);
  Status status = scene_parse(&scene, "fuzz.yaml", text.data, text.length, false, NULL, 0, &diagnostics);
  require((status == STATUS_OK) == (diagnostics.error_count == 0));
  if (status == STATUS_OK) check_signal(&scene.controllers[0].target);
  for (int i = 0; i < diagnostics.count; i++) require(diagnostics.items[i].line >= 1);
  scene_free(&scene);
  text_free(&text);
  diagnostics_free(&diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char path[] = "/tmp/sdrs-fuzz-XXXXXX";
  check_table(data, size);
  fuzz_file(path, data, size);
  check_scene(path);
  unlink(path);
  return 0;
}
