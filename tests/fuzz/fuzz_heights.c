/* libFuzzer target: any bytes as a height field, table or PNG, give a grid of finite heights whose pieces are convex,
 * or an error. */
#include "fuzz/fuzzing.h"
#include "geometry/geometry.h"

static void check_pieces(const HeightGrid* grid) {
  HeightFieldFrame place = {{1, 2, 1e-6}, {0, 0, 0}, 0.1};
  ConvexHull* pieces;
  int count = height_field_pieces(grid, &place, &pieces);
  require(count > 0 && count <= (grid->columns - 1) * (grid->rows - 1));
  for (int k = 0; k < count; k++) {
    require(pieces[k].vertex_count == 8 && pieces[k].triangle_count == 12);
    hull_free(&pieces[k]);
  }
  memory_free(pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  HeightGrid grid;
  Diagnostics diagnostics = {0};
  bool png = size > 0 && data[0] == 0x89;
  Status status = height_grid_parse(&grid, "fuzz", (const char*)data, size, png, &diagnostics);
  if (status == STATUS_OK) {
    require(grid.columns >= 2 && grid.rows >= 2 && diagnostics.error_count == 0);
    for (int k = 0; k < grid.columns * grid.rows; k++) require(fabs(grid.values[k]) <= 1e30);
    check_pieces(&grid);
  } else {
    require(status == STATUS_BAD_INPUT && diagnostics.error_count > 0 && diagnostics.error_count <= 20);
    require(!grid.values);
  }
  height_grid_free(&grid);
  diagnostics_free(&diagnostics);
  return 0;
}
