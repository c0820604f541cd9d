#include "decompose/part.h"
#include "geometry_testing.h"
#include "support/long.h"

/* ---------------------------------------------------------------- an independent check
 * Counts with a full table of point pairs, unlike the sorted edges of surface_check. */

static void check_manifold(const TriangleSurface* surface, int want_euler) {
  int n = surface->point_count, edges = 0;
  signed char *times = calloc((size_t)n * (size_t)n, 1), *used = calloc((size_t)n, 1);
  int *spokes = calloc((size_t)n, sizeof(int)), *next = calloc((size_t)n * (size_t)n, sizeof(int));
  for (int t = 0; t < surface->triangle_count; t++)
    for (int k = 0; k < 3; k++) {
      const int* c = surface->triangles[t];
      int a = c[k], b = c[(k + 1) % 3];
      assert_in_range(a, 0, n - 1);
      assert_true(a != b);
      assert_int_equal(times[a * n + b], 0); /* each way once */
      times[a * n + b] = 1;
      next[a * n + b] = c[(k + 2) % 3]; /* round a, the spoke after ab */
      used[a] = 1;
      spokes[a]++;
    }
  for (int a = 0; a < n; a++) {
    assert_true(used[a]);
    int first = -1, turned = 0;
    for (int b = 0; b < n; b++) {
      assert_int_equal(times[a * n + b], times[b * n + a]);
      edges += times[a * n + b] && a < b;
      if (times[a * n + b] && first < 0) first = b;
    }
    for (int b = first; turned == 0 || b != first; b = next[a * n + b]) turned++;
    assert_int_equal(turned, spokes[a]); /* one fan */
  }
  if (n - edges + surface->triangle_count != want_euler)
    print_error("Euler number %d\n", n - edges + surface->triangle_count);
  assert_int_equal(n - edges + surface->triangle_count, want_euler);
  free(times);
  free(used);
  free(spokes);
  free(next);
}

static double surface_volume(const TriangleSurface* surface) {
  const ConvexHull as_hull = {surface->points, surface->point_count, surface->triangles, surface->triangle_count};
  return volume_by_flux(&as_hull);
}

/* No edge of a triangle runs inside a hull, no point of the surface is outside all of them. */
static void check_boundary(const TriangleSurface* surface, const ConvexHull* hulls, int count, double tolerance) {
  for (int t = 0; t < surface->triangle_count; t++) {
    const int* c = surface->triangles[t];
    Vec3 middle =
        vec3_scale(vec3_add(surface->points[c[0]], vec3_add(surface->points[c[1]], surface->points[c[2]])), 1.0 / 3);
    double deepest = -INFINITY;
    for (int h = 0; h < count; h++) {
      double outside = -INFINITY;
      for (int i = 0; i < hulls[h].triangle_count; i++) {
        const int* f = hulls[h].triangles[i];
        Vec3 o = hulls[h].vertices[f[0]],
             cross = vec3_cross(vec3_sub(hulls[h].vertices[f[1]], o), vec3_sub(hulls[h].vertices[f[2]], o));
        if (vec3_norm(cross) > 0) outside = fmax(outside, vec3_dot(vec3_normalized(cross), vec3_sub(middle, o)));
      }
      deepest = fmax(deepest, -outside);
    }
    assert_close(deepest, 0, tolerance);
  }
}

/* ---------------------------------------------------------------- volumes by inclusion and exclusion */

static Part part_of_hull(const ConvexHull* hull) {
  Part part = {0};
  for (int i = 0; i < hull->vertex_count; i++) part_add_point(&part, hull->vertices[i]);
  for (int t = 0; t < hull->triangle_count; t++)
    part_add_triangle(&part, hull->triangles[t][0], hull->triangles[t][1], hull->triangles[t][2]);
  return part;
}

static Part part_in_hull(const Part* part, const ConvexHull* hull) {
  Part rest = part_cut(part, (CutPlane){{1, 0, 0}, 1e9}, 1e-14); /* all of it */
  for (int t = 0; t < hull->triangle_count; t++) {
    const int* f = hull->triangles[t];
    Vec3 o = hull->vertices[f[0]], n = vec3_cross(vec3_sub(hull->vertices[f[1]], o), vec3_sub(hull->vertices[f[2]], o));
    n = vec3_normalized(n);
    Part cut = part_cut(&rest, (CutPlane){n, vec3_dot(n, o)}, 1e-14);
    part_free(&rest);
    rest = cut;
  }
  return rest;
}

/* Sum over all sets of hulls that take part of (-1)^(size + 1) times their common volume. */
static double union_volume(const ConvexHull* hulls, int count, int from, const Part* common, double sign) {
  double sum = 0;
  for (int h = from; h < count; h++) {
    Part part = common ? part_in_hull(common, &hulls[h]) : part_of_hull(&hulls[h]);
    if (part.point_count > 0) {
      sum += sign * part_volume(&part);
      sum += union_volume(hulls, count, h + 1, &part, -sign);
    }
    part_free(&part);
  }
  return sum;
}

/* ---------------------------------------------------------------- shapes */

static ConvexHull moved(ConvexHull hull, Pose pose) {
  for (int i = 0; i < hull.vertex_count; i++) hull.vertices[i] = pose_apply(pose, hull.vertices[i]);
  return hull;
}

static ConvexHull box(double x, double y, double z, Vec3 center) {
  ConvexHull hull;
  assert_int_equal(primitive_box(&hull, vec3(x, y, z)), HULL_OK);
  return moved(hull, (Pose){mat3_identity(), center});
}

static void free_hulls(ConvexHull* hulls, int count) {
  for (int h = 0; h < count; h++) hull_free(&hulls[h]);
}

/* Unite, check, compare the volume; frees the hulls. Returns the number of triangles. */
static int check_union(ConvexHull* hulls, int count, double volume, double tolerance, int euler) {
  TriangleSurface surface;
  double snap;
  UnionResult result = hulls_union(&surface, &snap, hulls, count);
  if (result != UNION_OK) print_error("%s\n", union_result_text(result));
  assert_int_equal(result, UNION_OK);
  int triangles = surface.triangle_count;
  check_manifold(&surface, euler);
  assert_close(surface_volume(&surface), volume, tolerance);
  check_boundary(&surface, hulls, count, 10 * snap);
  SurfaceCheck check = surface_check(&surface);
  assert_true(check.closed && check.manifold && check.oriented);
  assert_int_equal(check.points - check.edges + triangles, euler);
  assert_close(check.volume, volume, tolerance);
  surface_free(&surface);
  free_hulls(hulls, count);
  return triangles;
}

/* Returns a general pose, because planes that are exact along the axes are inexact after a rotation. */
static Pose some_pose(int k) {
  Random random = {(uint64_t)(100 + k)};
  return k == 0 ? pose_identity() : random_pose(&random, 2);
}

/* ---------------------------------------------------------------- tests */

static void two_boxes_side_by_side_are_one_box(void** state) {
  (void)state;
  for (int k = 0; k < 20; k++) {
    ConvexHull hulls[2] = {moved(box(1, 1, 1, vec3(0, 0, 0)), some_pose(k)),
                           moved(box(1, 1, 1, vec3(1, 0, 0)), some_pose(k))};
    int triangles = check_union(hulls, 2, 2, 1e-6, 2);
    if (k == 0) assert_int_equal(triangles, 12);
  }
}

/* A smaller face within a larger one, flush at one side; overlapping boxes with four common planes. */
static void boxes_with_common_planes(void** state) {
  (void)state;
  for (int k = 0; k < 20; k++) {
    Pose pose = some_pose(k);
    ConvexHull step[2] = {moved(box(2, 2, 2, vec3(0, 0, 0)), pose), moved(box(1, 1, 1, vec3(1.5, 0.5, 0)), pose)};
    check_union(step, 2, 9, 1e-5, 2);
    ConvexHull bar[2] = {moved(box(2, 1, 1, vec3(0, 0, 0)), pose), moved(box(2, 1, 1, vec3(1.3, 0, 0)), pose)};
    check_union(bar, 2, 3.3, 1e-5, 2);
    ConvexHull same[2] = {moved(box(2, 1, 1, vec3(0, 0, 0)), pose), moved(box(2, 1, 1, vec3(0, 0, 0)), pose)};
    check_union(same, 2, 2, 1e-5, 2);
    ConvexHull within[2] = {moved(box(2, 1, 1, vec3(0, 0, 0)), pose), moved(box(1, 0.5, 0.5, vec3(0, 0, 0)), pose)};
    check_union(within, 2, 2, 1e-5, 2);
  }
}

/* Two bars a x a x L that cross at an angle in one plane: 2 a^2 L - a^3 / sin(angle). */
static void crossed_bars(void** state) {
  (void)state;
  for (int k = 1; k <= 30; k++) {
    double angle = 3.14159265358979323846 * k / 31, wide = 0.1, length = 4;
    Pose turn = {mat3_from_quat(quat_about(vec3(0, 0, 1), angle)), vec3(0, 0, 0)};
    ConvexHull bars[2] = {moved(box(length, wide, wide, vec3(0, 0, 0)), some_pose(k % 5)),
                          moved(box(length, wide, wide, vec3(0, 0, 0)), pose_mul(some_pose(k % 5), turn))};
    check_union(bars, 2, 2 * wide * wide * length - wide * wide * wide / sin(angle), 1e-7, 2);
  }
}

/* 3 x 3 x 3 cubes without a central through hole form a ring of genus 1, V - E + F = 0. Without the central cube only,
 * the surface is two spheres. */
static void grids_with_a_hole(void** state) {
  (void)state;
  for (int k = 0; k < 10; k++)
    for (int all = 0; all < 2; all++) {
      ConvexHull hulls[27];
      int count = 0;
      for (int i = 0; i < 27; i++) {
        int x = i % 3 - 1, y = i / 3 % 3 - 1, z = i / 9 - 1;
        if (x == 0 && y == 0 && (z == 0 || !all)) continue;
        hulls[count++] = moved(box(0.1, 0.2, 0.3, vec3(0.1 * x, 0.2 * y, 0.3 * z)), some_pose(k));
      }
      check_union(hulls, count, count * 0.006, 1e-7, all ? 4 : 0);
    }
}

/* Wedges about an axis, 360 / n degrees each. All their planes intersect in one line, up to rounding errors. */
static void wedges_of_a_cake(void** state) {
  (void)state;
  for (int n = 3; n <= 12; n++) {
    ConvexHull hulls[12];
    for (int i = 0; i < n; i++) {
      Vec3 points[6];
      for (int p = 0; p < 6; p++) {
        double angle = 2 * 3.14159265358979323846 * (i + (p % 3 == 2)) / n, radius = p % 3 == 0 ? 0 : 1;
        points[p] = vec3(radius * cos(angle), radius * sin(angle), p < 3 ? -0.5 : 0.5);
      }
      assert_int_equal(hull_create(&hulls[i], points, 6), HULL_OK);
      hulls[i] = moved(hulls[i], some_pose(n));
    }
    check_union(hulls, n, 0.5 * n * sin(2 * 3.14159265358979323846 / n), 1e-5, 2);
  }
}

static ConvexHull random_hull(Random* random, int points, double spread) {
  Vec3 place[64], center = random_vector(random, spread);
  for (int i = 0; i < points; i++) place[i] = vec3_add(center, random_direction(random));
  ConvexHull hull;
  assert_int_equal(hull_create(&hull, place, points), HULL_OK);
  return hull;
}

static void random_hulls_U3(void** state) {
  (void)state;
  Random random = {7};
  int united = 0;
  const int trials = tests_count(20, 120);
  for (int trial = 0; trial < trials; trial++) {
    int count = 2 + trial % 4;
    ConvexHull hulls[5];
    for (int h = 0; h < count; h++) hulls[h] = random_hull(&random, 6 + trial % 40, 0.5);
    double volume = union_volume(hulls, count, 0, NULL, 1);
    TriangleSurface surface;
    double snap;
    UnionResult result = hulls_union(&surface, &snap, hulls, count);
    if (result != UNION_OK) print_error("seed 7, trial %d: %s\n", trial, union_result_text(result));
    assert_int_equal(result, UNION_OK);
    SurfaceCheck check = surface_check(&surface);
    check_manifold(&surface, check.points - check.edges + surface.triangle_count);
    assert_close(surface_volume(&surface), volume, 1e-4);
    united += check.shells == 1;
    surface_free(&surface);
    free_hulls(hulls, count);
  }
  print_message("seed 7: %d of %d of one shell\n", united, trials);
  assert_true(2 * united > trials);
}

/* Hulls that share corners as designs do: neighbours along a chain have four common points, in no common plane. */
static void hulls_with_common_corners_U4(void** state) {
  (void)state;
  Random random = {9};
  const int trials = tests_count(12, 60);
  for (int trial = 0; trial < trials; trial++) {
    Vec3 rings[6][4];
    for (int r = 0; r < 6; r++)
      for (int i = 0; i < 4; i++)
        rings[r][i] =
            vec3_add(vec3(i == 0 || i == 3 ? -0.5 : 0.5, i < 2 ? -0.5 : 0.5, r), random_vector(&random, 0.15));
    ConvexHull hulls[5];
    for (int h = 0; h < 5; h++) {
      Vec3 points[8];
      memcpy(points, rings[h], sizeof rings[h]);
      memcpy(points + 4, rings[h + 1], sizeof rings[h]);
      assert_int_equal(hull_create(&hulls[h], points, 8), HULL_OK);
      hulls[h] = moved(hulls[h], some_pose(trial));
    }
    double volume = union_volume(hulls, 5, 0, NULL, 1);
    check_union(hulls, 5, volume, 1e-5, 2);
  }
}

/* ---------------------------------------------------------------- volumes by columns */

/* The part of a vertical line that lies in a hull. */
static bool column_in_hull(const ConvexHull* hull, double x, double y, double* low, double* high) {
  *low = -HUGE_VAL, *high = HUGE_VAL;
  for (int t = 0; t < hull->triangle_count; t++) {
    const int* f = hull->triangles[t];
    Vec3 o = hull->vertices[f[0]];
    Vec3 n = vec3_cross(vec3_sub(hull->vertices[f[1]], o), vec3_sub(hull->vertices[f[2]], o));
    double left = n.x * (x - o.x) + n.y * (y - o.y);
    if (n.z > 0) *high = fmin(*high, o.z - left / n.z);
    if (n.z < 0) *low = fmax(*low, o.z - left / n.z);
    if (n.z == 0 && left > 0) return false;
  }
  return *low < *high;
}

static int compare_starts(const void* a, const void* b) {
  double p = *(const double*)a, q = *(const double*)b;
  return (p > q) - (p < q);
}

static double column_length(const ConvexHull* hulls, int count, double x, double y) {
  double(*spans)[2] = calloc((size_t)count, sizeof *spans), length = 0, end = -HUGE_VAL;
  int found = 0;
  for (int h = 0; h < count; h++) found += column_in_hull(&hulls[h], x, y, &spans[found][0], &spans[found][1]);
  qsort(spans, (size_t)found, sizeof *spans, compare_starts);
  for (int i = 0; i < found; i++) {
    length += fmax(0, spans[i][1] - fmax(spans[i][0], end));
    end = fmax(end, spans[i][1]);
  }
  free(spans);
  return length;
}

static double column_volume(const ConvexHull* hulls, int count, int columns) {
  Random random = {1};
  Vec3 low = hulls[0].vertices[0], high = low;
  for (int h = 0; h < count; h++)
    for (int i = 0; i < hulls[h].vertex_count; i++)
      low = vec3_min(low, hulls[h].vertices[i]), high = vec3_max(high, hulls[h].vertices[i]);
  double dx = (high.x - low.x) / columns, dy = (high.y - low.y) / columns, sum = 0;
  for (int i = 0; i < columns * columns; i++) {
    int row = i / columns;
    double x = low.x + dx * (i % columns + random_uniform(&random, 0, 1));
    sum += column_length(hulls, count, x, low.y + dy * (row + random_uniform(&random, 0, 1)));
  }
  return sum * dx * dy;
}

/* Many hulls that overlap and share faces and corners, from the decomposition of the repository's meshes. */
static void decomposed_meshes(void** state) {
  (void)state;
  static const char* const files[] = {"assets/mug.obj", "assets/gear.obj", "assets/bracket.obj"};
  for (int k = 0; k < 6; k++) {
    if (!tests_are_long() && k != 5) continue; /* the bracket by blocks of a grid */
    Mesh mesh;
    Diagnostics diagnostics = {0};
    Decomposition parts;
    DecomposeOptions options = {.max_hulls = 24, .symmetry_auto = true, .threads = 2};
    for (int axis = 0; axis < 3 && k >= 3; axis++) options.grid[axis] = 4;
    assert_int_equal(mesh_read(&mesh, files[k % 3], 1, &diagnostics), STATUS_OK);
    assert_int_equal(mesh_decompose(&parts, &mesh, &options), HULL_OK);
    TriangleSurface surface;
    double snap;
    UnionResult result = hulls_union(&surface, &snap, parts.hulls, parts.hull_count);
    if (result != UNION_OK) print_error("%s: %s\n", files[k % 3], union_result_text(result));
    assert_int_equal(result, UNION_OK);
    SurfaceCheck check = surface_check(&surface);
    check_manifold(&surface, check.points - check.edges + surface.triangle_count);
    double volume = column_volume(parts.hulls, parts.hull_count, 150);
    assert_close(surface_volume(&surface) / volume, 1, 4e-3);
    check_boundary(&surface, parts.hulls, parts.hull_count, 10 * snap);
    surface_free(&surface);
    decomposition_free(&parts);
    mesh_free(&mesh);
    diagnostics_free(&diagnostics);
  }
}

/* ---------------------------------------------------------------- boxes of cells */

enum { CELLS = 7 };
typedef bool Cells[CELLS + 2][CELLS + 2][CELLS + 2]; /* with a border of empty ones */

/* Returns true if two full cells share an edge whose other two cells are empty. */
static bool cells_touch_in_an_edge(Cells cell) {
  for (int i = 0; i <= CELLS; i++)
    for (int j = 0; j <= CELLS; j++)
      for (int k = 0; k <= CELLS; k++)
        for (int axis = 0; axis < 3; axis++) {
          int u[3] = {axis == 1, axis == 2, axis == 0}, v[3] = {axis == 2, axis == 0, axis == 1};
          bool a = cell[i][j][k], b = cell[i + u[0]][j + u[1]][k + u[2]], c = cell[i + v[0]][j + v[1]][k + v[2]],
               d = cell[i + u[0] + v[0]][j + u[1] + v[1]][k + u[2] + v[2]];
          if (a == d && b == c && a != b) return true;
        }
  return false;
}

/* Boxes of whole cells in a common rotation share faces, edges and corners of all kinds. The reference from the cells
 * is the volume and whether the union is a manifold. */
static void boxes_of_cells(void** state) {
  (void)state;
  Random random = {21};
  int united = 0, edges = 0;
  const int trials = tests_count(25, 200);
  for (int trial = 0; trial < trials; trial++) {
    ConvexHull hulls[10];
    Cells cell = {{{false}}};
    int count = 2 + trial % 9, cells = 0;
    for (int h = 0; h < count; h++) {
      int low[3], size[3];
      for (int k = 0; k < 3; k++) {
        low[k] = (int)random_uniform(&random, 0, 4.99);
        size[k] = 1 + (int)random_uniform(&random, 0, 2.99);
      }
      Vec3 center = vec3(low[0] + 0.5 * size[0], low[1] + 0.5 * size[1], low[2] + 0.5 * size[2]);
      hulls[h] = moved(box(size[0], size[1], size[2], center), some_pose(trial));
      for (int n = 0; n < size[0] * size[1] * size[2]; n++) {
        int row = n / size[0];
        bool* at = &cell[1 + low[0] + n % size[0]][1 + low[1] + row % size[1]][1 + low[2] + row / size[1]];
        cells += !*at;
        *at = true;
      }
    }
    TriangleSurface surface;
    double snap;
    UnionResult result = hulls_union(&surface, &snap, hulls, count);
    bool touch = cells_touch_in_an_edge(cell);
    if (touch != (result == UNION_TOUCHES_IN_EDGE)) print_error("seed 21, trial %d\n", trial);
    assert_true(touch == (result == UNION_TOUCHES_IN_EDGE) && result != UNION_FAILED);
    if (result == UNION_OK) assert_close(surface_volume(&surface), cells, 1e-4);
    united += result == UNION_OK;
    edges += touch;
    surface_free(&surface);
    free_hulls(hulls, count);
  }
  print_message("seed 21: %d of %d united, %d touch in an edge\n", united, trials, edges);
  assert_true(4 * united > trials && 4 * edges > trials);
}

static void what_is_no_manifold_is_told(void** state) {
  (void)state;
  TriangleSurface surface;
  double snap;
  for (int k = 0; k < 5; k++) {
    ConvexHull edge[2] = {moved(box(1, 1, 1, vec3(0, 0, 0)), some_pose(k)),
                          moved(box(1, 1, 1, vec3(1, 1, 0)), some_pose(k))};
    assert_int_equal(hulls_union(&surface, &snap, edge, 2), UNION_TOUCHES_IN_EDGE);
    free_hulls(edge, 2);
    ConvexHull point[2] = {moved(box(1, 1, 1, vec3(0, 0, 0)), some_pose(k)),
                           moved(box(1, 1, 1, vec3(1, 1, 1)), some_pose(k))};
    assert_int_equal(hulls_union(&surface, &snap, point, 2), UNION_TOUCHES_IN_POINT);
    free_hulls(point, 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_boxes_side_by_side_are_one_box),
      cmocka_unit_test(boxes_with_common_planes),
      cmocka_unit_test(crossed_bars),
      cmocka_unit_test(grids_with_a_hole),
      cmocka_unit_test(wedges_of_a_cake),
      cmocka_unit_test(random_hulls_U3),
      cmocka_unit_test(hulls_with_common_corners_U4),
      cmocka_unit_test(decomposed_meshes),
      cmocka_unit_test(boxes_of_cells),
      cmocka_unit_test(what_is_no_manifold_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
