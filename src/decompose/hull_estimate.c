#include "decompose/hull_estimate.h"

#include <assert.h>
#include <string.h>

typedef struct {
  int corner[3];
  Vec3 n; /* outward normal, not normalized */
  double offset, slack;
  bool is_removed;
} EstimateFace;

typedef struct {
  const Vec3* points;
  int count;
  EstimateFace* faces;
  int face_count, face_capacity;
  uint16_t* left_face; /* index of the face to the left of the edge from point i to point j (size: count x count) */
  double rounding;
} IncrementalHull;

static void add_face(IncrementalHull* g, int a, int b, int c) {
  if (g->face_count == g->face_capacity) {
    int capacity = 2 * g->face_capacity + 64;
    g->faces = memory_resize(g->faces, sizeof(EstimateFace) * (size_t)g->face_capacity,
                             sizeof(EstimateFace) * (size_t)capacity);
    g->face_capacity = capacity;
  }
  Vec3 p = g->points[a];
  Vec3 n = vec3_cross(vec3_sub(g->points[b], p), vec3_sub(g->points[c], p));
  g->faces[g->face_count] = (EstimateFace){{a, b, c}, n, vec3_dot(n, p), g->rounding * vec3_norm(n), false};
  g->left_face[a * g->count + b] = g->left_face[b * g->count + c] = g->left_face[c * g->count + a] =
      (uint16_t)g->face_count;
  g->face_count++;
}

static bool is_visible(const IncrementalHull* g, const EstimateFace* face, int point) {
  return vec3_dot(face->n, g->points[point]) - face->offset > face->slack;
}

/* Finds the four points of an initial tetrahedron, each as far as possible from the point, line or plane through the
 * earlier points. Returns false if all points are coplanar. */
static bool find_tetrahedron(const IncrementalHull* g, int four[4]) {
  const Vec3* p = g->points;
  double best[4] = {-1, -1, -1, -1};
  for (int i = 0; i < g->count; i++)
    if (-p[i].x > best[0] || i == 0) best[0] = -p[i].x, four[0] = i;
  for (int i = 0; i < g->count; i++) {
    double d = vec3_norm(vec3_sub(p[i], p[four[0]]));
    if (d > best[1]) best[1] = d, four[1] = i;
  }
  Vec3 line = vec3_sub(p[four[1]], p[four[0]]);
  for (int i = 0; i < g->count; i++) {
    double d = vec3_norm(vec3_cross(line, vec3_sub(p[i], p[four[0]])));
    if (d > best[2]) best[2] = d, four[2] = i;
  }
  Vec3 n = vec3_cross(line, vec3_sub(p[four[2]], p[four[0]]));
  for (int i = 0; i < g->count; i++) {
    double d = fabs(vec3_dot(n, vec3_sub(p[i], p[four[0]])));
    if (d > best[3]) best[3] = d, four[3] = i;
  }
  return best[3] > g->rounding * vec3_norm(n);
}

static void create_tetrahedron(IncrementalHull* g, const int four[4]) {
  Vec3 a = g->points[four[0]];
  Vec3 n = vec3_cross(vec3_sub(g->points[four[1]], a), vec3_sub(g->points[four[2]], a));
  bool above = vec3_dot(n, vec3_sub(g->points[four[3]], a)) > 0;
  int p = four[0], q = above ? four[2] : four[1], r = above ? four[1] : four[2], s = four[3];
  add_face(g, p, q, r), add_face(g, p, s, q), add_face(g, q, s, r), add_face(g, r, s, p);
}

/* Adds a point to the hull. Replaces the faces visible from the point by faces between the point and the boundary of
 * the visible region. */
static void add_point(IncrementalHull* g, int point) {
  int count = g->face_count, kept = 0;
  static const int next[3] = {1, 2, 0};
  bool any = false;
  for (int f = 0; f < count; f++) any |= g->faces[f].is_removed = is_visible(g, &g->faces[f], point);
  if (!any) return;
  for (int f = 0; f < count; f++) {
    EstimateFace face = g->faces[f];
    for (int k = 0; face.is_removed && k < 3; k++) {
      int a = face.corner[k], b = face.corner[next[k]];
      if (g->faces[g->left_face[b * g->count + a]].is_removed) continue;
      add_face(g, a, b, point);
    }
  }
  for (int f = 0; f < g->face_count; f++) {
    if (g->faces[f].is_removed) continue;
    EstimateFace face = g->faces[kept] = g->faces[f];
    for (int k = 0; k < 3; k++) g->left_face[face.corner[k] * g->count + face.corner[next[k]]] = (uint16_t)kept;
    kept++;
  }
  g->face_count = kept;
}

static double extent_of(const Vec3* points, int count) {
  Vec3 low = points[0], high = points[0];
  for (int i = 1; i < count; i++) low = vec3_min(low, points[i]), high = vec3_max(high, points[i]);
  return vec3_norm(vec3_sub(high, low));
}

static double volume_by_qhull(const Vec3* points, int count) {
  ConvexHull hull;
  double sum = 0;
  if (hull_create(&hull, points, count) == HULL_OK) sum = mass_moment_solid(&hull).s[3][3];
  hull_free(&hull);
  return sum;
}

double points_volume(const Vec3* points, int count) {
  if (count < 4 || count > 2 * ESTIMATE_POINTS) return 0;
  IncrementalHull g = {.points = points, .count = count, .rounding = 1e-12 * extent_of(points, count)};
  int four[4] = {0};
  if (!find_tetrahedron(&g, four)) return 0;
  /* The array is on the stack, because allocation would take longer than computing the hull. */
  uint16_t left_face[4 * ESTIMATE_POINTS * ESTIMATE_POINTS];
  memset(left_face, 0, sizeof left_face[0] * (size_t)count * (size_t)count);
  g.left_face = left_face;
  create_tetrahedron(&g, four);
  for (int i = 0; i < count; i++)
    if (i != four[0] && i != four[1] && i != four[2] && i != four[3] && g.face_count <= 2 * count) add_point(&g, i);
  /* A closed surface has fewer faces: rounding at nearly coplanar points made the surface invalid. */
  if (g.face_count > 2 * count) {
    memory_free(g.faces);
    return volume_by_qhull(points, count);
  }
  double sum = 0;
  Vec3 origin = points[four[0]];
  for (int f = 0; f < g.face_count; f++) sum += g.faces[f].offset - vec3_dot(g.faces[f].n, origin);
  memory_free(g.faces);
  return sum / 6.0;
}

/* Sets directions to the directions of the support points: 26 directions from a cube's centre to its faces, edges and
 * corners, then evenly distributed directions. The set contains the mirror images of every direction in the coordinate
 * planes, so that mirrored hulls have equal estimates. Returns the number of directions, at most `count_max`. */
static int make_directions(Vec3* directions, int count_max) {
  assert(count_max >= 26);
  int count = 0;
  for (int k = 0; k < 27; k++)
    if (k != 13) directions[count++] = cube_direction(k);
  int octant = (count_max - count) / 8;
  for (int i = 0; i < octant; i++) {
    double z = (i + 0.5) / octant, angle = 0.5 * 3.14159265358979323846 * fmod(0.5 + 0.6180339887498949 * i, 1.0);
    double r = sqrt(1 - z * z);
    Vec3 d = vec3(r * math_cos(angle), r * math_sin(angle), z);
    for (int m = 0; m < 8; m++) directions[count++] = vec3(m & 1 ? -d.x : d.x, m & 2 ? -d.y : d.y, m & 4 ? -d.z : d.z);
  }
  return count;
}

static void select_support_points(HullEstimate* e, const Vec3* points, int count, int count_max) {
  Vec3 directions[ESTIMATE_DIRECTIONS];
  int direction_count = make_directions(directions, count_max);
  PointView view = point_view_create(points, count);
  bool* taken = MEMORY_NEW(bool, count);
  e->count = 0;
  for (int k = 0; k < direction_count; k++) {
    double height;
    int i = support_index(view, directions[k], &height);
    if (!taken[i]) e->points[e->count++] = points[i];
    taken[i] = true;
  }
  memory_free(taken);
  point_view_free(&view);
}

HullEstimate hull_estimate(const Vec3* points, int count) {
  assert(count >= 0);
  HullEstimate e = {.count = count};
  if (count > ESTIMATE_POINTS / 2)
    select_support_points(&e, points, count, ESTIMATE_DIRECTIONS);
  else
    memcpy(e.points, points, sizeof(Vec3) * (size_t)count);
  e.volume = points_volume(e.points, e.count);
  return e;
}

/* Number of directions in which hull_volume_bound takes the farthest points. */
#define ROUGH_DIRECTIONS 50

double hull_volume_bound(const Vec3* points, int count) {
  if (count <= ROUGH_DIRECTIONS) return points_volume(points, count);
  HullEstimate e;
  select_support_points(&e, points, count, ROUGH_DIRECTIONS);
  return points_volume(e.points, e.count);
}
