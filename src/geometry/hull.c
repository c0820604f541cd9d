#include <assert.h>
#include <string.h>

#include "geometry/facets.h"
#include "geometry/point_set.h"

/* Sets number[i] to the vertex index of point i if the point is a corner of a facet, otherwise to -1. Vertices are
 * numbered in the order of the points. Returns the number of vertices. */
static int assign_vertex_indices(const Facets* facets, int* number, int count) {
  for (int i = 0; i < count; i++) number[i] = -1;
  for (int i = 0; i < facets->first[facets->facet_count]; i++) number[facets->corners[i]] = 0;
  int vertex_count = 0;
  for (int i = 0; i < count; i++)
    if (number[i] == 0) number[i] = vertex_count++;
  return vertex_count;
}

static void set_hull(ConvexHull* hull, const Facets* facets, const Vec3* points, int count) {
  int* number = MEMORY_NEW(int, count);
  hull->vertex_count = assign_vertex_indices(facets, number, count);
  hull->vertices = MEMORY_NEW(Vec3, hull->vertex_count);
  for (int i = 0; i < count; i++)
    if (number[i] >= 0) hull->vertices[number[i]] = points[i];
  int triangle_count = facets->first[facets->facet_count] - 2 * facets->facet_count;
  hull->triangles = memory_alloc(sizeof *hull->triangles * (size_t)triangle_count);
  hull->triangle_count = facets_triangles(facets, points, hull->triangles);
  for (int i = 0; i < hull->triangle_count; i++)
    for (int k = 0; k < 3; k++) hull->triangles[i][k] = number[hull->triangles[i][k]];
  memory_free(number);
}

HullResult hull_create(ConvexHull* hull, const Vec3* points, int count) {
  assert(points || count == 0);
  *hull = (ConvexHull){0};
  Facets facets;
  HullResult result = facets_create(&facets, points, count);
  if (result == HULL_OK) set_hull(hull, &facets, points, count);
  facets_free(&facets);
  return result;
}

HullResult hull_create_with_interior(ConvexHull* hull, const Vec3* points, int count) {
  assert(points || count == 0);
  *hull = (ConvexHull){0};
  Facets facets;
  HullResult result = facets_create(&facets, points, count);
  if (result == HULL_OK) {
    hull->vertex_count = count;
    hull->vertices = MEMORY_NEW(Vec3, count);
    memcpy(hull->vertices, points, sizeof(Vec3) * (size_t)count);
    int triangle_count = facets.first[facets.facet_count] - 2 * facets.facet_count;
    hull->triangles = memory_alloc(sizeof *hull->triangles * (size_t)triangle_count);
    hull->triangle_count = facets_triangles(&facets, points, hull->triangles);
  }
  facets_free(&facets);
  return result;
}

void hull_free(ConvexHull* hull) {
  memory_free(hull->vertices);
  memory_free(hull->triangles);
  *hull = (ConvexHull){0};
}

const char* hull_result_text(HullResult result) {
  switch (result) {
    case HULL_OK:
      return "has a convex hull";
    case HULL_TOO_FEW_POINTS:
      return "has fewer than four different points";
    case HULL_FLAT:
      return "is flat: all points lie in one plane";
    case HULL_FAILED:
      break;
  }
  return "has no convex hull that can be computed: its coordinates are not finite, or differ too much in size";
}

/* ---------------------------------------------------------------- reduction */

/* Greedy selection of vertices. The distance of a vertex from the hull of the selected vertices never increases, so
 * that an old distance is an upper bound. Only the vertex with the largest bound is updated. */
typedef struct {
  Vec3* points;      /* relative to the first vertex */
  double* distance;  /* upper bound of each vertex's distance [m]; -1: selected */
  int* update_count; /* number of selected vertices when the bound was computed */
  int count;
  PointView selected;
  double* selected_coordinates[3]; /* storage of `selected` */
} HullReduction;

static void reduction_free(HullReduction* reduction) {
  memory_free(reduction->points);
  memory_free(reduction->distance);
  memory_free(reduction->update_count);
  for (int k = 0; k < 3; k++) memory_free(reduction->selected_coordinates[k]);
}

/* Selects a vertex. Copies of the last selected vertex pad the last block of the view. */
static void reduction_add_vertex(HullReduction* reduction, int index) {
  assert(index >= 0);
  PointView* selected = &reduction->selected;
  selected->padded = (selected->count + 8) / 8 * 8;
  Vec3 point = reduction->points[index];
  for (int i = selected->count; i < selected->padded; i++) {
    reduction->selected_coordinates[0][i] = point.x;
    reduction->selected_coordinates[1][i] = point.y;
    reduction->selected_coordinates[2][i] = point.z;
  }
  selected->count++;
  reduction->distance[index] = -1;
}

static HullReduction reduction_create(const ConvexHull* hull, int max_vertices) {
  HullReduction reduction = {.count = hull->vertex_count};
  reduction.points = MEMORY_NEW(Vec3, hull->vertex_count);
  reduction.distance = MEMORY_NEW(double, hull->vertex_count);
  reduction.update_count = MEMORY_NEW(int, hull->vertex_count);
  for (int i = 0; i < hull->vertex_count; i++) {
    reduction.points[i] = vec3_sub(hull->vertices[i], hull->vertices[0]);
    reduction.distance[i] = HUGE_VAL;
  }
  for (int k = 0; k < 3; k++) reduction.selected_coordinates[k] = MEMORY_NEW(double, max_vertices + 8);
  double* const* selected = reduction.selected_coordinates;
  reduction.selected = (PointView){selected[0], selected[1], selected[2], 0, 0};
  PointExtent spread = compute_extent(reduction.points, reduction.count);
  for (int i = 0; i < 4; i++) reduction_add_vertex(&reduction, spread.corner[i]);
  return reduction;
}

/* Returns the vertex farthest from the hull of the selected vertices, the first of several. */
static int reduction_find_farthest(HullReduction* reduction) {
  for (;;) {
    int best = 0;
    for (int i = 1; i < reduction->count; i++)
      if (reduction->distance[i] > reduction->distance[best]) best = i;
    if (reduction->distance[best] <= 0 || reduction->update_count[best] == reduction->selected.count) return best;
    reduction->distance[best] = gjk_point_distance(reduction->selected, reduction->points[best]);
    reduction->update_count[best] = reduction->selected.count;
  }
}

/* Replaces the hull by the hull of the selected vertices, in their original order and coordinates. */
static HullResult reduction_build_hull(const HullReduction* reduction, ConvexHull* hull) {
  Vec3* points = MEMORY_NEW(Vec3, reduction->selected.count);
  int count = 0;
  for (int i = 0; i < reduction->count; i++)
    if (reduction->distance[i] < 0) points[count++] = hull->vertices[i];
  ConvexHull thinned;
  HullResult result = hull_create(&thinned, points, count);
  memory_free(points);
  if (result != HULL_OK) return result;
  hull_free(hull);
  *hull = thinned;
  return HULL_OK;
}

HullResult hull_reduce(ConvexHull* hull, int max_vertices, double* error) {
  *error = 0;
  if (max_vertices < 4) max_vertices = 4;
  if (hull->vertex_count <= max_vertices) return HULL_OK;
  HullReduction reduction = reduction_create(hull, max_vertices);
  int farthest = reduction_find_farthest(&reduction);
  while (reduction.selected.count < max_vertices && reduction.distance[farthest] > 0) {
    reduction_add_vertex(&reduction, farthest);
    farthest = reduction_find_farthest(&reduction);
  }
  *error = fmax(reduction.distance[farthest], 0);
  HullResult result = reduction_build_hull(&reduction, hull);
  reduction_free(&reduction);
  return result;
}
