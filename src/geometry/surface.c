/* Properties of a triangle surface: closed, manifold, oriented, and the enclosed volume. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/geometry.h"

/* Largest number of passes that contract short edges. A contraction can give another edge more than two triangles. One
 * or two passes are usually enough. */
enum { PASSES_MAX = 5 };

/* An edge of a triangle. key is the first member because compare_uint64 sorts by it. */
typedef struct {
  uint64_t key; /* smaller point << 32 | larger point */
  int triangle;
  bool forward; /* true if the triangle traverses the edge from the smaller to the larger point */
} EdgeUse;

TriangleSurface surface_of_hull(const ConvexHull* hull) {
  TriangleSurface surface = {.point_count = hull->vertex_count, .triangle_count = hull->triangle_count};
  surface.points = MEMORY_NEW(Vec3, hull->vertex_count + 1);
  surface.triangles = (int(*)[3])memory_alloc(sizeof *surface.triangles * (size_t)(hull->triangle_count + 1));
  memcpy(surface.points, hull->vertices, sizeof(Vec3) * (size_t)hull->vertex_count);
  memcpy(surface.triangles, hull->triangles, sizeof *surface.triangles * (size_t)hull->triangle_count);
  return surface;
}

void surface_free(TriangleSurface* surface) {
  memory_free(surface->points);
  memory_free(surface->triangles);
  *surface = (TriangleSurface){0};
}

typedef struct {
  double xyz[3];
  int index;
} IndexedPoint;

/* Compares points by coordinates, then by number. */
static int compare_points(const void* left, const void* right) {
  const IndexedPoint *a = left, *b = right;
  for (int k = 0; k < 3; k++)
    if (a->xyz[k] != b->xyz[k]) return a->xyz[k] < b->xyz[k] ? -1 : 1;
  return a->index - b->index;
}

int* find_equal_points(const Vec3* points, int count) {
  assert(points || count == 0);
  IndexedPoint* sorted = MEMORY_NEW(IndexedPoint, count + 1);
  int *number = MEMORY_NEW(int, count + 1), first = 0;
  for (int i = 0; i < count; i++) sorted[i] = (IndexedPoint){{points[i].x, points[i].y, points[i].z}, i};
  qsort(sorted, (size_t)count, sizeof *sorted, compare_points);
  for (int i = 0; i < count; i++) {
    bool same = i > 0;
    for (int k = 0; k < 3 && same; k++) same = sorted[i].xyz[k] == sorted[i - 1].xyz[k];
    if (!same) first = sorted[i].index;
    number[sorted[i].index] = first;
  }
  memory_free(sorted);
  return number;
}

void surface_join_corners(TriangleSurface* surface) {
  assert(surface->point_count % 3 == 0);
  int* same = find_equal_points(surface->points, surface->point_count);
  surface->triangle_count = surface->point_count / 3;
  surface->triangles = memory_alloc(sizeof *surface->triangles * (size_t)(surface->triangle_count + 1));
  for (int i = 0; i < surface->point_count; i++) surface->triangles[i / 3][i % 3] = same[i];
  memory_free(same);
}

/* A triangle with ascending corners and its orientation: 1 as given, -1 reversed. */
typedef struct {
  int corner[3], orientation, index;
} OrientedTriangle;

static int compare_triangles(const void* left, const void* right) {
  const OrientedTriangle *a = left, *b = right;
  for (int k = 0; k < 3; k++)
    if (a->corner[k] != b->corner[k]) return a->corner[k] - b->corner[k];
  return a->orientation != b->orientation ? a->orientation - b->orientation : a->index - b->index;
}

static OrientedTriangle sort_corners(const int triangle[3], int index) {
  OrientedTriangle t = {{triangle[0], triangle[1], triangle[2]}, 1, index};
  for (int pass = 0; pass < 3; pass++) {
    int k = pass % 2;
    if (t.corner[k] <= t.corner[k + 1]) continue;
    int keep = t.corner[k];
    t.corner[k] = t.corner[k + 1], t.corner[k + 1] = keep, t.orientation = -t.orientation;
  }
  return t;
}

/* Removes pairs of opposite triangles, which enclose no volume. */
static void remove_opposite_pairs(TriangleSurface* surface) {
  int count = surface->triangle_count, kept = 0;
  OrientedTriangle* sorted = MEMORY_NEW(OrientedTriangle, count + 1);
  bool* gone = MEMORY_NEW(bool, count + 1);
  for (int t = 0; t < count; t++) sorted[t] = sort_corners(surface->triangles[t], t);
  qsort(sorted, (size_t)count, sizeof *sorted, compare_triangles);
  for (int t = 0; t + 1 < count; t++) {
    const OrientedTriangle *a = &sorted[t], *b = &sorted[t + 1];
    if (gone[a->index] || a->orientation == b->orientation || memcmp(a->corner, b->corner, sizeof a->corner) != 0)
      continue;
    gone[a->index] = gone[b->index] = true;
  }
  for (int t = 0; t < count; t++)
    if (!gone[t]) memmove(surface->triangles[kept++], surface->triangles[t], sizeof *surface->triangles);
  surface->triangle_count = kept;
  memory_free(gone);
  memory_free(sorted);
}

void surface_merge_points(TriangleSurface* surface, const int* number) {
  for (int i = 0; i < surface->point_count; i++) assert(number[i] >= 0 && number[i] < surface->point_count);
  int kept = 0;
  for (int t = 0; t < surface->triangle_count; t++) {
    int* corner = surface->triangles[kept];
    for (int k = 0; k < 3; k++) corner[k] = number[surface->triangles[t][k]];
    if (corner[0] != corner[1] && corner[1] != corner[2] && corner[2] != corner[0]) kept++;
  }
  surface->triangle_count = kept;
  remove_opposite_pairs(surface);
}

void surface_remove_unused(TriangleSurface* surface, int* old) {
  int *place = MEMORY_NEW(int, surface->point_count + 1), points = 0;
  for (int i = 0; i < 3 * surface->triangle_count; i++) place[surface->triangles[i / 3][i % 3]] = 1;
  for (int i = 0; i < surface->point_count; i++) {
    if (!place[i]) continue;
    place[i] = points;
    if (old) old[points] = i;
    surface->points[points++] = surface->points[i];
  }
  surface->point_count = points;
  for (int i = 0; i < 3 * surface->triangle_count; i++) {
    int* corner = &surface->triangles[i / 3][i % 3];
    *corner = place[*corner];
  }
  memory_free(place);
}

static EdgeUse* create_edge_uses(const TriangleSurface* surface) {
  int count = 3 * surface->triangle_count;
  EdgeUse* uses = MEMORY_NEW(EdgeUse, count + 1);
  for (int i = 0; i < count; i++) {
    const int* corner = surface->triangles[i / 3];
    int a = corner[i % 3], b = corner[(i + 1) % 3], low = a < b ? a : b, high = a < b ? b : a;
    uses[i] = (EdgeUse){(uint64_t)low << 32 | (uint64_t)high, i / 3, a < b};
  }
  qsort(uses, (size_t)count, sizeof *uses, compare_uint64);
  return uses;
}

/* Joins the ends of edges that have more than two triangles and are at most `length` long. Returns the number of joined
 * edges. */
static int join_branching_edges(const TriangleSurface* surface, double length, int* set) {
  int count = 3 * surface->triangle_count, joined = 0;
  EdgeUse* uses = create_edge_uses(surface);
  for (int i = 0; i + 2 < count; i++) {
    int a = (int)(uses[i].key >> 32), b = (int)(uses[i].key & UINT32_MAX);
    if (uses[i].key != uses[i + 2].key || disjoint_sets_find(set, a) == disjoint_sets_find(set, b)) continue;
    if (vec3_norm(vec3_sub(surface->points[a], surface->points[b])) > length) continue;
    disjoint_sets_unite(set, a, b);
    joined++;
  }
  memory_free(uses);
  return joined;
}

void surface_collapse_short_edges(TriangleSurface* surface, double length) {
  assert(length > 0);
  int *set = MEMORY_NEW(int, surface->point_count + 1), *number = MEMORY_NEW(int, surface->point_count + 1);
  int joined = 1;
  disjoint_sets_init(set, surface->point_count);
  for (int pass = 0; pass < PASSES_MAX && joined > 0; pass++) {
    for (int i = 0; i < surface->point_count; i++) number[i] = disjoint_sets_find(set, i);
    surface_merge_points(surface, number); /* also removes pairs of opposite triangles */
    joined = join_branching_edges(surface, length, set);
  }
  memory_free(number);
  memory_free(set);
}

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

static int find_corner(const TriangleSurface* surface, int triangle, int point) {
  const int* corner = surface->triangles[triangle];
  return 3 * triangle + (corner[0] == point ? 0 : corner[1] == point ? 1 : 2);
}

/* Counts the points, and the points whose triangles form more than one fan. Triangles that share an edge at the point
 * belong to the same fan. */
static void check_fans(SurfaceCheck* check, const TriangleSurface* surface, const EdgeUse* uses) {
  int count = 3 * surface->triangle_count;
  int *fan = MEMORY_NEW(int, count + 1), *fans = MEMORY_NEW(int, surface->point_count + 1);
  disjoint_sets_init(fan, count);
  for (int i = 1; i < count; i++) {
    if (uses[i].key != uses[i - 1].key) continue;
    const int ends[2] = {(int)(uses[i].key >> 32), (int)(uses[i].key & UINT32_MAX)};
    for (int k = 0; k < 2; k++)
      disjoint_sets_unite(fan, find_corner(surface, uses[i].triangle, ends[k]),
                          find_corner(surface, uses[i - 1].triangle, ends[k]));
  }
  for (int i = 0; i < count; i++)
    if (disjoint_sets_find(fan, i) == i) fans[surface->triangles[i / 3][i % 3]]++;
  for (int i = 0; i < surface->point_count; i++) {
    check->points += fans[i] > 0;
    check->branching_points += fans[i] > 1;
  }
  memory_free(fans);
  memory_free(fan);
}

/* Returns six times the signed volume of the tetrahedron of a triangle and `apex`. */
static double six_volume(const TriangleSurface* surface, int triangle, Vec3 apex) {
  const int* corner = surface->triangles[triangle];
  Vec3 a = vec3_sub(surface->points[corner[0]], apex), b = vec3_sub(surface->points[corner[1]], apex),
       c = vec3_sub(surface->points[corner[2]], apex);
  return vec3_dot(a, vec3_cross(b, c));
}

/* Counts shells and cavities and adds their volumes. Triangles that share an edge belong to the same shell. */
static void check_shells(SurfaceCheck* check, const TriangleSurface* surface, const EdgeUse* uses) {
  int count = surface->triangle_count, *set = MEMORY_NEW(int, count + 1);
  double* volume = MEMORY_NEW(double, count + 1);
  disjoint_sets_init(set, count);
  for (int i = 1; i < 3 * count; i++)
    if (uses[i].key == uses[i - 1].key) disjoint_sets_unite(set, uses[i].triangle, uses[i - 1].triangle);
  for (int t = 0; t < count; t++) {
    int root = disjoint_sets_find(set, t);
    /* A point of the same shell is the apex of the tetrahedra, which limits cancellation. */
    volume[root] += six_volume(surface, t, surface->points[surface->triangles[root][0]]) / 6;
  }
  for (int t = 0; t < count; t++) {
    if (disjoint_sets_find(set, t) != t) continue;
    check->shells++;
    check->cavities += volume[t] < 0;
    check->volume += volume[t];
  }
  memory_free(volume);
  memory_free(set);
}

/* Counts groups of triangles that are connected by points. */
static void check_groups(SurfaceCheck* check, const TriangleSurface* surface) {
  int* set = MEMORY_NEW(int, surface->point_count + 1);
  bool* counted = MEMORY_NEW(bool, surface->point_count + 1);
  disjoint_sets_init(set, surface->point_count);
  for (int t = 0; t < surface->triangle_count; t++)
    for (int k = 1; k < 3; k++) disjoint_sets_unite(set, surface->triangles[t][0], surface->triangles[t][k]);
  for (int t = 0; t < surface->triangle_count; t++) {
    int root = disjoint_sets_find(set, surface->triangles[t][0]);
    check->groups += !counted[root];
    counted[root] = true;
  }
  memory_free(counted);
  memory_free(set);
}

SurfaceCheck surface_check(const TriangleSurface* surface) {
  SurfaceCheck check = {.oriented = true};
  EdgeUse* uses = create_edge_uses(surface);
  check_edges(&check, uses, 3 * surface->triangle_count);
  check_fans(&check, surface, uses);
  check_shells(&check, surface, uses);
  check_groups(&check, surface);
  memory_free(uses);
  check.closed = surface->triangle_count > 0 && check.open_edges == 0;
  check.manifold = check.closed && check.branching_edges == 0 && check.branching_points == 0;
  return check;
}
