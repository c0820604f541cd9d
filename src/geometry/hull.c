#include <assert.h>
#include <string.h>

#include "geometry/facets.h"
#include "geometry/point_set.h"

/* Numbers the points that are corners of a facet, in input order. Sets number[i] to -1 for all other points. Returns
 * the number of corners. */
static int number_vertices(const Facets* facets, int* number, int count) {
  for (int i = 0; i < count; i++) number[i] = -1;
  for (int i = 0; i < facets->first[facets->facet_count]; i++) number[facets->corners[i]] = 0;
  int vertex_count = 0;
  for (int i = 0; i < count; i++)
    if (number[i] == 0) number[i] = vertex_count++;
  return vertex_count;
}

static void fill_hull(ConvexHull* hull, const Facets* facets, const Vec3* points, int count) {
  int* number = MEMORY_NEW(int, count);
  hull->vertex_count = number_vertices(facets, number, count);
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
  if (result == HULL_OK) fill_hull(hull, &facets, points, count);
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

/* ---------------------------------------------------------------- thinning */

/* Greedy selection of vertices. The distance of a vertex from the hull of the selected vertices never increases, so an
 * old distance is an upper bound. Only the vertex with the largest bound is updated. */
typedef struct {
  Vec3* points; /* points relative to the first vertex */
  double* miss; /* upper bound of the distance of each vertex [m]; -1 if selected */
  int* stamp;   /* number of selected vertices when the bound was computed */
  int count;
  PointView kept;
  double* kept_coordinates[3]; /* storage of the view */
} Thinning;

static void thinning_free(Thinning* thinning) {
  memory_free(thinning->points);
  memory_free(thinning->miss);
  memory_free(thinning->stamp);
  for (int k = 0; k < 3; k++) memory_free(thinning->kept_coordinates[k]);
}

/* Selects a vertex and pads the last block of the view with copies of the vertex. */
static void thinning_keep(Thinning* thinning, int index) {
  PointView* kept = &thinning->kept;
  kept->padded = (kept->count + 8) / 8 * 8;
  Vec3 point = thinning->points[index];
  for (int i = kept->count; i < kept->padded; i++) {
    thinning->kept_coordinates[0][i] = point.x;
    thinning->kept_coordinates[1][i] = point.y;
    thinning->kept_coordinates[2][i] = point.z;
  }
  kept->count++;
  thinning->miss[index] = -1;
}

static Thinning thinning_start(const ConvexHull* hull, int max_vertices) {
  Thinning thinning = {.count = hull->vertex_count};
  thinning.points = MEMORY_NEW(Vec3, hull->vertex_count);
  thinning.miss = MEMORY_NEW(double, hull->vertex_count);
  thinning.stamp = MEMORY_NEW(int, hull->vertex_count);
  for (int i = 0; i < hull->vertex_count; i++) {
    thinning.points[i] = vec3_sub(hull->vertices[i], hull->vertices[0]);
    thinning.miss[i] = HUGE_VAL;
  }
  for (int k = 0; k < 3; k++) thinning.kept_coordinates[k] = MEMORY_NEW(double, max_vertices + 8);
  double* const* kept = thinning.kept_coordinates;
  thinning.kept = (PointView){kept[0], kept[1], kept[2], 0, 0};
  PointExtent spread = compute_extent(thinning.points, thinning.count);
  for (int i = 0; i < 4; i++) thinning_keep(&thinning, spread.corner[i]);
  return thinning;
}

/* Returns the vertex farthest from the hull of the selected vertices. On ties the first vertex is returned. */
static int thinning_farthest(Thinning* thinning) {
  for (;;) {
    int best = 0;
    for (int i = 1; i < thinning->count; i++)
      if (thinning->miss[i] > thinning->miss[best]) best = i;
    if (thinning->miss[best] <= 0 || thinning->stamp[best] == thinning->kept.count) return best;
    thinning->miss[best] = gjk_point_distance(thinning->kept, thinning->points[best]);
    thinning->stamp[best] = thinning->kept.count;
  }
}

/* Replaces *hull by the hull of the selected vertices, in their original order and coordinates. */
static HullResult thinning_finish(const Thinning* thinning, ConvexHull* hull) {
  Vec3* points = MEMORY_NEW(Vec3, thinning->kept.count);
  int count = 0;
  for (int i = 0; i < thinning->count; i++)
    if (thinning->miss[i] < 0) points[count++] = hull->vertices[i];
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
  Thinning thinning = thinning_start(hull, max_vertices);
  int farthest = thinning_farthest(&thinning);
  while (thinning.kept.count < max_vertices && thinning.miss[farthest] > 0) {
    thinning_keep(&thinning, farthest);
    farthest = thinning_farthest(&thinning);
  }
  *error = fmax(thinning.miss[farthest], 0);
  HullResult result = thinning_finish(&thinning, hull);
  thinning_free(&thinning);
  return result;
}
