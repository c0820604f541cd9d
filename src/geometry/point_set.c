#include "geometry/point_set.h"
#include <assert.h>
#include <stdlib.h>

/* Distance of coplanar points from a plane, relative to their diameter. Nearer points have a hull that consists of
 * rounding errors. */
#define FLAT_TOLERANCE 1e-10
/* Relative rounding error of coordinates of points far from the origin. */
#define COORDINATE_ROUNDING 1e-15

static int farthest_from_point(const Vec3* points, int count, Vec3 from) {
  int best = 0;
  double most = -1;
  for (int i = 0; i < count; i++) {
    double distance = vec3_norm(vec3_sub(points[i], from));
    if (distance > most) most = distance, best = i;
  }
  return best;
}

static int farthest_from_line(const Vec3* points, int count, Vec3 from, Vec3 unit) {
  int best = 0;
  double most = -1;
  for (int i = 0; i < count; i++) {
    double distance = vec3_norm(vec3_cross(unit, vec3_sub(points[i], from)));
    if (distance > most) most = distance, best = i;
  }
  return best;
}

static int farthest_from_plane(const Vec3* points, int count, Vec3 from, Vec3 unit, double* height) {
  int best = 0;
  *height = -1;
  for (int i = 0; i < count; i++) {
    double distance = fabs(vec3_dot(unit, vec3_sub(points[i], from)));
    if (distance > *height) *height = distance, best = i;
  }
  return best;
}

PointExtent compute_extent(const Vec3* points, int count) {
  assert(points || count == 0);
  PointExtent spread = {{0}, 0, {0, 0, 0}, 0};
  int* corner = spread.corner;
  corner[0] = farthest_from_point(points, count, points[0]);
  Vec3 from = points[corner[0]];
  corner[1] = farthest_from_point(points, count, from);
  Vec3 line = vec3_sub(points[corner[1]], from);
  spread.diameter = vec3_norm(line);
  if (!(spread.diameter > 0)) return spread;
  line = vec3_scale(line, 1.0 / spread.diameter);
  corner[2] = farthest_from_line(points, count, from, line);
  Vec3 normal = vec3_cross(line, vec3_sub(points[corner[2]], from));
  if (!(vec3_norm(normal) > 0)) return spread;
  spread.normal = vec3_normalized(normal);
  corner[3] = farthest_from_plane(points, count, from, spread.normal, &spread.height);
  return spread;
}

typedef struct {
  Vec3 point;
  int source;
} IndexedPoint;

static int compare_numbers(double a, double b) { return (a > b) - (a < b); }

static int compare_points(const void* left, const void* right) {
  const IndexedPoint *a = left, *b = right;
  int order = compare_numbers(a->point.x, b->point.x);
  if (order == 0) order = compare_numbers(a->point.y, b->point.y);
  if (order == 0) order = compare_numbers(a->point.z, b->point.z);
  return order != 0 ? order : (a->source > b->source) - (a->source < b->source);
}

static bool points_are_equal(Vec3 a, Vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* Removes duplicates and keeps the first of equal points, in input order. */
static void remove_duplicates(NormalizedSet* set) {
  int count = set->count;
  IndexedPoint* sorted = MEMORY_NEW(IndexedPoint, count);
  for (int i = 0; i < count; i++) sorted[i] = (IndexedPoint){set->points[i], i};
  qsort(sorted, (size_t)count, sizeof *sorted, compare_points);
  bool* first = MEMORY_NEW(bool, count);
  for (int i = 0; i < count; i++)
    first[sorted[i].source] = i == 0 || !points_are_equal(sorted[i].point, sorted[i - 1].point);
  set->count = 0;
  for (int i = 0; i < count; i++) {
    if (!first[i]) continue;
    set->points[set->count] = set->points[i];
    set->source[set->count++] = i;
  }
  memory_free(first);
  memory_free(sorted);
}

/* Computes the bounding box. Returns false if a coordinate is not finite. */
static bool bounding_box(const Vec3* points, int count, Vec3* low, Vec3* high) {
  *low = *high = points[0];
  for (int i = 0; i < count; i++) {
    if (!isfinite(points[i].x) || !isfinite(points[i].y) || !isfinite(points[i].z)) return false;
    *low = vec3_min(*low, points[i]);
    *high = vec3_max(*high, points[i]);
  }
  return true;
}

static double largest_coordinate(Vec3 v) { return fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z))); }

static void scale_points(NormalizedSet* set, const Vec3* points, int count) {
  set->points = MEMORY_NEW(Vec3, count);
  set->source = MEMORY_NEW(int, count);
  set->count = count;
  for (int i = 0; i < count; i++) set->points[i] = vec3_scale(vec3_sub(points[i], set->center), set->factor);
}

HullResult normalized_set_create(NormalizedSet* set, const Vec3* points, int count) {
  *set = (NormalizedSet){0};
  Vec3 low, high;
  if (count < 4) return HULL_TOO_FEW_POINTS;
  if (!bounding_box(points, count, &low, &high)) return HULL_FAILED;
  set->center = vec3_add(vec3_scale(low, 0.5), vec3_scale(high, 0.5)); /* halved before the sum, which could overflow */
  set->factor = 1.0 / largest_coordinate(vec3_sub(vec3_scale(high, 0.5), vec3_scale(low, 0.5)));
  if (!isfinite(set->factor)) return HULL_TOO_FEW_POINTS; /* all points coincide */
  scale_points(set, points, count);
  remove_duplicates(set);
  if (set->count < 4) return HULL_TOO_FEW_POINTS;
  double rounding = COORDINATE_ROUNDING * set->factor * fmax(largest_coordinate(low), largest_coordinate(high));
  PointExtent spread = compute_extent(set->points, set->count);
  return spread.height > fmax(FLAT_TOLERANCE * spread.diameter, rounding) ? HULL_OK : HULL_FLAT;
}

void normalized_set_free(NormalizedSet* set) {
  memory_free(set->points);
  memory_free(set->source);
  *set = (NormalizedSet){0};
}
