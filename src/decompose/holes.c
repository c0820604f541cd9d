/* Counts the through holes (genus) of a solid on a grid of cubes (docs/decompose.md). A cube is solid if the distance
 * of its centre from the solid is at most half its diagonal, so that thin walls are covered. The Euler characteristic
 * of the union of the cubes gives the number of holes: corners - edges + squares - cubes = regions - holes + voids.
 * Flood fill counts regions and voids. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "decompose/decompose.h"

/* CUBES_ALONG: number of cubes along the longest edge of the bounding box. CUBES_FREE: width of the empty margin on
 * every side [cubes]. */
enum { CUBES_ALONG = 72, CUBES_FREE = 2 };

typedef struct {
  Vec3 low;     /* centre of the first cube, mesh unit */
  double edge;  /* edge of a cube, mesh unit */
  int count[3]; /* number of cubes along x, y, z */
  bool* solid;  /* true for a solid cube, x fastest */
} CubeGrid;

static size_t cube_index(const CubeGrid* g, int i, int j, int k) {
  assert(i >= 0 && j >= 0 && k >= 0);
  return ((size_t)k * (size_t)g->count[1] + (size_t)j) * (size_t)g->count[0] + (size_t)i;
}

static Vec3 cube_center(const CubeGrid* g, int i, int j, int k) {
  return vec3_add_scaled(g->low, g->edge, vec3(i, j, k));
}

/* Returns half the diagonal of a cube [mesh unit]. */
static double cube_radius(const CubeGrid* g) { return 0.5 * sqrt(3) * g->edge; }

static CubeGrid grid_around(const ConvexHull* hulls, int hull_count, const ConvexHull* surface) {
  Vec3 low = surface->vertices[0], high = low;
  for (int h = -1; h < hull_count; h++) {
    const ConvexHull* hull = h < 0 ? surface : &hulls[h];
    for (int i = 0; i < hull->vertex_count; i++)
      low = vec3_min(low, hull->vertices[i]), high = vec3_max(high, hull->vertices[i]);
  }
  Vec3 size = vec3_sub(high, low);
  const double extent[3] = {size.x, size.y, size.z};
  CubeGrid g = {.edge = fmax(size.x, fmax(size.y, size.z)) / CUBES_ALONG};
  for (int axis = 0; axis < 3; axis++) g.count[axis] = (int)(extent[axis] / g.edge) + 2 + 2 * CUBES_FREE;
  g.low = vec3_add_scaled(low, -CUBES_FREE * g.edge, vec3(1, 1, 1));
  g.solid = MEMORY_NEW(bool, cube_index(&g, 0, 0, g.count[2]) + 1);
  return g;
}

/* Returns the number of cubes along x, from the present one on, that certainly lie on the same side of the surface.
 * distance: distance of the present cube's centre from the surface [mesh unit]. */
static int count_equal_cubes(const CubeGrid* g, double distance) {
  double room = (distance - cube_radius(g)) / g->edge;
  return room >= CUBES_ALONG * 4 ? CUBES_ALONG * 4 : 1 + (int)room;
}

static void mark_row_of_mesh(CubeGrid* g, const SurfaceTree* tree, int* nearest, int j, int k) {
  for (int i = 0, next; i < g->count[0]; i = next) {
    Vec3 center = cube_center(g, i, j, k);
    double distance = surface_tree_distance(tree, center, nearest);
    bool near = distance <= cube_radius(g);
    bool solid = near || surface_tree_winding(tree, center) != 0;
    next = near ? i + 1 : i + count_equal_cubes(g, distance);
    for (; i < next && i < g->count[0]; i++) g->solid[cube_index(g, i, j, k)] |= solid;
  }
}

static void mark_mesh(CubeGrid* g, const ConvexHull* surface) {
  SurfaceTree tree =
      surface_tree_create(surface->vertices, (const int(*)[3])surface->triangles, surface->triangle_count);
  int nearest = 0;
  for (int k = 0; k < g->count[2]; k++)
    for (int j = 0; j < g->count[1]; j++) mark_row_of_mesh(g, &tree, &nearest, j, k);
  surface_tree_free(&tree);
}

/* Marks as solid the cubes of row (j, k) along x that a hull covers. */
static void mark_row_of_hull(CubeGrid* g, PointView points, int j, int k) {
  for (int i = 0, next; i < g->count[0]; i = next) {
    double distance = gjk_point_distance(points, cube_center(g, i, j, k));
    bool solid = distance <= cube_radius(g);
    next = solid ? i + 1 : i + count_equal_cubes(g, distance);
    if (solid) g->solid[cube_index(g, i, j, k)] = true;
  }
}

static void mark_hull(CubeGrid* g, const ConvexHull* hull) {
  PointView points = point_view_create(hull->vertices, hull->vertex_count);
  for (int k = 0; k < g->count[2]; k++)
    for (int j = 0; j < g->count[1]; j++) mark_row_of_hull(g, points, j, k);
  point_view_free(&points);
}

/* Returns true if a cube adjacent to a cell (corner, edge, square or cube) of the grid is solid. The cell begins at
 * grid corner (i, j, k) and extends along the axes in `directions` (bit = axis). */
static bool is_cell_solid(const CubeGrid* g, int i, int j, int k, int directions) {
  for (int side = 0; side < 8; side++) {
    if (side & directions) continue;
    if (g->solid[cube_index(g, i - (side & 1), j - (side >> 1 & 1), k - (side >> 2))]) return true;
  }
  return false;
}

/* Returns the Euler characteristic of the union of the solid cubes. The outermost cubes must not be solid. */
static long euler_number(const CubeGrid* g) {
  long sum = 0;
  for (int k = 1; k < g->count[2]; k++)
    for (int j = 1; j < g->count[1]; j++)
      for (int i = 1; i < g->count[0]; i++)
        for (int directions = 0; directions < 8; directions++) {
          int dimension = (directions & 1) + (directions >> 1 & 1) + (directions >> 2);
          if (is_cell_solid(g, i, j, k, directions)) sum += dimension & 1 ? -1 : 1;
        }
  return sum;
}

typedef struct {
  size_t* cubes;
  int count, capacity;
} CubeStack;

static void visit(CubeStack* stack, bool* seen, size_t cube) {
  seen[cube] = true;
  stack->cubes = memory_grow_array(stack->cubes, sizeof *stack->cubes, stack->count, &stack->capacity);
  stack->cubes[stack->count++] = cube;
}

/* Visits the neighbours of a cube that are of the same kind. Solid cubes are neighbours if they share a corner, free
 * cubes if they share a face. */
static void visit_neighbours(const CubeGrid* g, CubeStack* stack, bool* seen, size_t cube) {
  int nx = g->count[0], ny = g->count[1];
  int at[3] = {(int)(cube % (size_t)nx), (int)(cube / (size_t)nx % (size_t)ny), (int)(cube / (size_t)nx / (size_t)ny)};
  for (int n = 0; n < 27; n++) {
    const int step[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
    if (!g->solid[cube] && abs(step[0]) + abs(step[1]) + abs(step[2]) != 1) continue;
    bool within = true;
    for (int axis = 0; axis < 3; axis++) within &= at[axis] + step[axis] >= 0 && at[axis] + step[axis] < g->count[axis];
    if (!within) continue;
    size_t other = cube_index(g, at[0] + step[0], at[1] + step[1], at[2] + step[2]);
    if (!seen[other] && g->solid[other] == g->solid[cube]) visit(stack, seen, other);
  }
}

/* Adds the number of connected solid regions of cubes to counts[0] and the number of free regions to counts[1]. */
static void count_regions(const CubeGrid* g, long counts[2]) {
  size_t cubes = cube_index(g, 0, 0, g->count[2]);
  bool* seen = MEMORY_NEW(bool, cubes);
  CubeStack stack = {0};
  for (size_t first = 0; first < cubes; first++) {
    if (seen[first]) continue;
    counts[!g->solid[first]]++;
    visit(&stack, seen, first);
    while (stack.count > 0) visit_neighbours(g, &stack, seen, stack.cubes[--stack.count]);
  }
  memory_free(stack.cubes);
  memory_free(seen);
}

/* Returns the number of through holes: solid regions + voids - Euler characteristic. Voids are free regions except for
 * the one outside the solid. */
static int count_holes(const CubeGrid* g) {
  long counts[2] = {0, 0};
  count_regions(g, counts);
  return (int)(counts[0] + (counts[1] - 1) - euler_number(g));
}

bool decomposition_count_holes(HoleCount* out, const Decomposition* d, const Mesh* mesh) {
  *out = (HoleCount){0};
  ConvexHull surface;
  if (d->hull_count == 0 || !mesh_surface(&surface, NULL, mesh)) return false;
  CubeGrid grid = grid_around(d->hulls, d->hull_count, &surface);
  out->cube = grid.edge;
  mark_mesh(&grid, &surface);
  out->mesh = count_holes(&grid);
  memset(grid.solid, 0, cube_index(&grid, 0, 0, grid.count[2]) * sizeof *grid.solid);
  for (int h = 0; h < d->hull_count; h++) mark_hull(&grid, &d->hulls[h]);
  out->hulls = count_holes(&grid);
  memory_free(grid.solid);
  hull_free(&surface);
  return true;
}
