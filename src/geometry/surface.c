/* Triangles as a surface: is it closed, a manifold, oriented, and what does it enclose. */
#include <stdlib.h>

#include "geometry/geometry.h"

/* A side of a triangle. key first: order_uint64 sorts by it. */
typedef struct {
  uint64_t key; /* smaller point << 32 | larger point */
  int triangle;
  bool forward; /* from the smaller to the larger */
} EdgeUse;

void surface_free(TriangleSurface* surface) {
  memory_free(surface->points);
  memory_free(surface->triangles);
  *surface = (TriangleSurface){0};
}

static EdgeUse* edge_uses(const TriangleSurface* surface) {
  int count = 3 * surface->triangle_count;
  EdgeUse* uses = MEMORY_NEW(EdgeUse, count + 1);
  for (int i = 0; i < count; i++) {
    const int* corner = surface->triangles[i / 3];
    int a = corner[i % 3], b = corner[(i + 1) % 3], low = a < b ? a : b, high = a < b ? b : a;
    uses[i] = (EdgeUse){(uint64_t)low << 32 | (uint64_t)high, i / 3, a < b};
  }
  qsort(uses, (size_t)count, sizeof *uses, order_uint64);
  return uses;
}

/* ---------------------------------------------------------------- edges */

static void check_edges(SurfaceCheck* check, const EdgeUse* uses, int count) {
  for (int first = 0, end; first < count; first = end) {
    int forward = 0;
    for (end = first; end < count && uses[end].key == uses[first].key; end++) forward += uses[end].forward;
    check->edges++;
    check->open_edges += end - first == 1;
    check->branching_edges += end - first > 2;
    if (2 * forward != end - first) check->oriented = false;
  }
}

/* ---------------------------------------------------------------- fans */

static int corner_of(const TriangleSurface* surface, int triangle, int point) {
  const int* corner = surface->triangles[triangle];
  return 3 * triangle + (corner[0] == point ? 0 : corner[1] == point ? 1 : 2);
}

/* Corners of triangles that share an edge at their point belong to one fan. */
static void check_fans(SurfaceCheck* check, const TriangleSurface* surface, const EdgeUse* uses) {
  int count = 3 * surface->triangle_count;
  int *fan = MEMORY_NEW(int, count + 1), *fans = MEMORY_NEW(int, surface->point_count + 1);
  sets_separate(fan, count);
  for (int i = 1; i < count; i++) {
    if (uses[i].key != uses[i - 1].key) continue;
    const int ends[2] = {(int)(uses[i].key >> 32), (int)(uses[i].key & UINT32_MAX)};
    for (int k = 0; k < 2; k++)
      sets_join(fan, corner_of(surface, uses[i].triangle, ends[k]), corner_of(surface, uses[i - 1].triangle, ends[k]));
  }
  for (int i = 0; i < count; i++)
    if (sets_root(fan, i) == i) fans[surface->triangles[i / 3][i % 3]]++;
  for (int i = 0; i < surface->point_count; i++) {
    check->points += fans[i] > 0;
    check->branching_points += fans[i] > 1;
  }
  memory_free(fans);
  memory_free(fan);
}

/* ---------------------------------------------------------------- shells */

/* Six times the signed volume of the tetrahedron over a triangle from `apex`. */
static double six_volume(const TriangleSurface* surface, int triangle, Vec3 apex) {
  const int* corner = surface->triangles[triangle];
  Vec3 a = vec3_sub(surface->points[corner[0]], apex), b = vec3_sub(surface->points[corner[1]], apex),
       c = vec3_sub(surface->points[corner[2]], apex);
  return vec3_dot(a, vec3_cross(b, c));
}

static void check_shells(SurfaceCheck* check, const TriangleSurface* surface) {
  int* set = MEMORY_NEW(int, surface->point_count + 1);
  double* volume = MEMORY_NEW(double, surface->point_count + 1);
  sets_separate(set, surface->point_count);
  for (int t = 0; t < surface->triangle_count; t++)
    for (int k = 1; k < 3; k++) sets_join(set, surface->triangles[t][0], surface->triangles[t][k]);
  for (int t = 0; t < surface->triangle_count; t++) {
    int root = sets_root(set, surface->triangles[t][0]);
    volume[root] += six_volume(surface, t, surface->points[root]) / 6; /* about its own point: small numbers */
  }
  for (int t = 0; t < surface->triangle_count; t++)
    for (int k = 0; k < 3; k++) {
      int point = surface->triangles[t][k];
      if (sets_root(set, point) != point || isnan(volume[point])) continue;
      check->shells++;
      check->cavities += volume[point] < 0;
      check->volume += volume[point];
      volume[point] = NAN; /* counted */
    }
  memory_free(volume);
  memory_free(set);
}

SurfaceCheck surface_check(const TriangleSurface* surface) {
  SurfaceCheck check = {.oriented = true};
  EdgeUse* uses = edge_uses(surface);
  check_edges(&check, uses, 3 * surface->triangle_count);
  check_fans(&check, surface, uses);
  check_shells(&check, surface);
  memory_free(uses);
  check.closed = surface->triangle_count > 0 && check.open_edges == 0;
  check.manifold = check.closed && check.branching_edges == 0 && check.branching_points == 0;
  return check;
}
