#include "geometry_testing.h"

/* ---------------------------------------------------------------- a grid by hand: the upper side of four corners */

/* Heights of a cell at (u, v) in [0, 1]^2, cut along one diagonal and along the other: the hull's is the larger. */
static double cut_height(const double h[4], double u, double v, bool other) {
  if (other) { /* from (1, 0) to (0, 1) */
    if (u + v <= 1) return h[0] + u * (h[1] - h[0]) + v * (h[3] - h[0]);
    return h[2] + (1 - u) * (h[3] - h[2]) + (1 - v) * (h[1] - h[2]);
  }
  if (v <= u) return h[0] + u * (h[1] - h[0]) + v * (h[2] - h[1]);
  return h[0] + u * (h[2] - h[3]) + v * (h[3] - h[0]);
}

static double roof_height(const double h[4], double u, double v) {
  return fmax(cut_height(h, u, v, false), cut_height(h, u, v, true));
}

static void cell_corners(const HeightGrid* g, int i, int j, double h[4]) {
  const double* low = g->values + j * g->columns + i;
  h[0] = low[0], h[1] = low[1], h[2] = low[g->columns + 1], h[3] = low[g->columns];
}

static double grid_height(const HeightGrid* g, const HeightFieldFrame* p, double x, double y) {
  double u = ((x - p->origin.x) / p->size.x + 0.5) * (g->columns - 1), h[4];
  double v = ((y - p->origin.y) / p->size.y + 0.5) * (g->rows - 1);
  int i = (int)u, j = (int)v;
  cell_corners(g, i, j, h);
  return p->origin.z + p->size.z * roof_height(h, u - i, v - j);
}

/* ---------------------------------------------------------------- pieces */

/* Checks that no corner lies above a triangle's plane and that each edge is used in both directions. Returns the
 * volume. */
static double check_convex(const ConvexHull* hull) {
  double six = 0;
  int edges[8][8] = {{0}};
  for (int t = 0; t < hull->triangle_count; t++) {
    const int* c = hull->triangles[t];
    Vec3 a = hull->vertices[c[0]], b = hull->vertices[c[1]], d = hull->vertices[c[2]];
    Vec3 normal = vec3_normalized(vec3_cross(vec3_sub(b, a), vec3_sub(d, a)));
    for (int m = 0; m < hull->vertex_count; m++)
      if (vec3_dot(normal, vec3_sub(hull->vertices[m], a)) > 1e-12) fail_msg("corner %d is above triangle %d", m, t);
    for (int k = 0; k < 3; k++) edges[c[k]][c[(k + 1) % 3]]++;
    six += vec3_dot(a, vec3_cross(b, d));
  }
  for (int k = 0; k < 8; k++)
    for (int m = 0; m < 8; m++) assert_int_equal(edges[k][m], edges[m][k]);
  return six / 6;
}

/* Height of the upper side above (x, y), or -INFINITY outside of the footprint. */
static double height_of(const ConvexHull* hull, double x, double y) {
  const Vec3* v = hull->vertices;
  if (!(x > v[0].x && x < v[2].x && y > v[0].y && y < v[2].y)) return -INFINITY;
  double least = INFINITY;
  for (int t = 0; t < hull->triangle_count; t++) {
    const int* c = hull->triangles[t];
    Vec3 n = vec3_cross(vec3_sub(v[c[1]], v[c[0]]), vec3_sub(v[c[2]], v[c[0]]));
    if (n.z > 1e-9) least = fmin(least, v[c[0]].z - (n.x * (x - v[c[0]].x) + n.y * (y - v[c[0]].y)) / n.z);
  }
  return least;
}

static void check_cover(const HeightGrid* grid, const HeightFieldFrame* place, int wanted, uint64_t seed) {
  ConvexHull* pieces;
  int count = height_field_pieces(grid, place, &pieces);
  if (wanted > 0) assert_int_equal(count, wanted);
  double volume = 0, low = INFINITY, by_hand = 0;
  for (int k = 0; k < count; k++) volume += check_convex(&pieces[k]);
  for (int k = 0; k < grid->columns * grid->rows; k++) low = fmin(low, grid->values[k]);
  for (int j = 0; j < grid->rows - 1; j++)
    for (int i = 0; i < grid->columns - 1; i++) {
      double h[4];
      cell_corners(grid, i, j, h);
      by_hand += fmax(2 * h[0] + h[1] + 2 * h[2] + h[3], h[0] + 2 * h[1] + h[2] + 2 * h[3]) / 6 - low;
    }
  by_hand *= place->size.z / (grid->columns - 1) / (grid->rows - 1);
  by_hand = (by_hand + place->base) * place->size.x * place->size.y;
  assert_close(volume, by_hand, 1e-12 * by_hand);
  Random random = {seed};
  for (int n = 0; n < 500; n++) { /* every place lies in one piece, whose upper side is the surface */
    double x = place->origin.x + place->size.x * random_uniform(&random, -0.5, 0.5);
    double y = place->origin.y + place->size.y * random_uniform(&random, -0.5, 0.5);
    int covers = 0;
    for (int k = 0; k < count; k++) {
      double height = height_of(&pieces[k], x, y);
      if (isinf(height)) continue;
      covers++;
      if (fabs(height - grid_height(grid, place, x, y)) > 1e-12)
        fail_msg("seed %lu: height %.17g at (%g, %g), want %.17g", (unsigned long)seed, height, x, y,
                 grid_height(grid, place, x, y));
    }
    if (covers != 1) fail_msg("seed %lu: (%g, %g) is in %d pieces", (unsigned long)seed, x, y, covers);
  }
  for (int k = 0; k < count; k++) hull_free(&pieces[k]);
  memory_free(pieces);
}

static HeightGrid grid_of(int columns, int rows) {
  return (HeightGrid){columns, rows, MEMORY_NEW(double, columns* rows)};
}

static void pieces_cover_the_ground_exactly(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    Random random = {seed};
    HeightGrid grid = grid_of(9, 6);
    for (int k = 0; k < 54; k++) grid.values[k] = random_uniform(&random, -1, 1);
    HeightFieldFrame place = {{2, 1.5, 0.3}, {0.2, -0.4, 1}, 0.1};
    check_cover(&grid, &place, 40, seed); /* cells of random corners lie on no plane */
    height_grid_free(&grid);
  }
}

static void cells_on_one_plane_are_one_piece(void** state) {
  (void)state;
  HeightFieldFrame place = {{3, 2, 0.5}, {0, 0, 0}, 0.2};
  HeightGrid grid = grid_of(13, 9);
  check_cover(&grid, &place, 1, 1); /* level */
  for (int j = 0; j < 9; j++)
    for (int i = 0; i < 13; i++) grid.values[j * 13 + i] = 0.3 * i - 0.1 * j;
  check_cover(&grid, &place, 1, 2); /* a slope */
  for (int j = 0; j < 9; j++)
    for (int i = 0; i < 13; i++) grid.values[j * 13 + i] = floor(i / 4.0);
  check_cover(&grid, &place, 3 + 3, 3); /* treads of columns 0-3, 4-7, 8-11; risers to 4, 8 and 12 */
  grid.values[4 * 13 + 6] += 0.01;
  check_cover(&grid, &place, 0, 4);
  height_grid_free(&grid);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_cover_the_ground_exactly),
      cmocka_unit_test(cells_on_one_plane_are_one_piece),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
