/* Smallest width of a hull: the smallest distance of two parallel support planes. Either one plane contains a face, or
 * each plane contains an edge. */
#include <assert.h>
#include "geometry/geometry.h"

/* Largest distance by which rounding may put a vertex outside a support plane, relative to the hull's size. */
#define OUTSIDE_TOLERANCE 1e-12

static Vec3 at(const ConvexHull* hull, int i) { return hull->vertices[i]; }

/* Computes the barycentric coordinates of the projection of the point p onto the plane of the triangle a, b, c. */
static void foot_weights(Vec3 p, Vec3 a, Vec3 b, Vec3 c, double weight[3]) {
  Vec3 u = vec3_sub(b, a), v = vec3_sub(c, a), n = vec3_cross(u, v), w = vec3_sub(p, a);
  double square = vec3_dot(n, n);
  weight[1] = vec3_dot(vec3_cross(w, v), n) / square;
  weight[2] = vec3_dot(vec3_cross(u, w), n) / square;
  weight[0] = 1 - weight[1] - weight[2];
}

static void try_face(const ConvexHull* hull, int triangle, HullWidth* best) {
  const int* t = hull->triangles[triangle];
  Vec3 n = vec3_cross(vec3_sub(at(hull, t[1]), at(hull, t[0])), vec3_sub(at(hull, t[2]), at(hull, t[0])));
  double length = vec3_norm(n), width = 0;
  int far = t[0];
  if (!(length > 0)) return;
  n = vec3_scale(n, 1 / length);
  for (int i = 0; i < hull->vertex_count; i++) {
    double depth = vec3_dot(n, vec3_sub(at(hull, t[0]), at(hull, i)));
    if (depth > width) width = depth, far = i;
  }
  if (!(width < best->width)) return;
  *best = (HullWidth){.width = width, .normal = n, .bottom = {far}, .bottom_count = 1, .bottom_weight = {1}};
  best->top_count = 3;
  for (int k = 0; k < 3; k++) best->top[k] = t[k];
  foot_weights(at(hull, far), at(hull, t[0]), at(hull, t[1]), at(hull, t[2]), best->top_weight);
}

/* Returns true if all vertices lie between the planes n . x = low and n . x = high, up to rounding. */
static bool lies_between(const ConvexHull* hull, Vec3 n, double low, double high, double rounding) {
  for (int i = 0; i < hull->vertex_count; i++) {
    double height = vec3_dot(n, at(hull, i));
    if (height < low - rounding || height > high + rounding) return false;
  }
  return true;
}

/* Updates the smallest width of the hull by the distance of two parallel planes through its edges e and f. All vertices
 * must lie between the planes. The end points of the common perpendicular give the weights of the four corners. */
static void try_edges(const ConvexHull* hull, const int e[2], const int f[2], double rounding, HullWidth* best) {
  Vec3 a = at(hull, e[0]), c = at(hull, f[0]), u = vec3_sub(at(hull, e[1]), a), v = vec3_sub(at(hull, f[1]), c);
  Vec3 n = vec3_cross(u, v), w = vec3_sub(c, a);
  double square = vec3_dot(n, n);
  if (!(square > 1e-24 * vec3_dot(u, u) * vec3_dot(v, v))) return; /* for parallel edges, a face has the same width */
  n = vec3_scale(n, 1 / sqrt(square));
  double width = vec3_dot(n, w);
  if (width < 0) n = vec3_scale(n, -1), width = -width;
  if (!(width < best->width) || !lies_between(hull, n, vec3_dot(n, a), vec3_dot(n, c), rounding)) return;
  double s = vec3_dot(vec3_cross(w, v), vec3_cross(u, v)) / square;
  double t = vec3_dot(vec3_cross(w, u), vec3_cross(u, v)) / square;
  *best = (HullWidth){.width = width,
                      .normal = n,
                      .top = {f[0], f[1]},
                      .bottom = {e[0], e[1]},
                      .top_count = 2,
                      .bottom_count = 2,
                      .top_weight = {1 - t, t},
                      .bottom_weight = {1 - s, s}};
}

/* Lists every edge once. An edge is taken from the triangle in which its vertex indices ascend. Returns the number of
 * edges. */
static int list_edges(const ConvexHull* hull, int (*edges)[2]) {
  int count = 0;
  for (int i = 0; i < 3 * hull->triangle_count; i++) {
    const int* t = hull->triangles[i / 3];
    int a = t[i % 3], b = t[(i + 1) % 3];
    if (a < b) edges[count][0] = a, edges[count++][1] = b;
  }
  return count;
}

HullWidth hull_smallest_width(const ConvexHull* hull) {
  assert(hull->vertex_count >= 4);
  HullWidth best = {.width = HUGE_VAL};
  double rounding = OUTSIDE_TOLERANCE * hull_size(hull);
  for (int t = 0; t < hull->triangle_count; t++) try_face(hull, t, &best);
  int(*edges)[2] = memory_alloc(sizeof *edges * (size_t)(3 * hull->triangle_count + 1));
  int count = list_edges(hull, edges);
  for (int i = 0; i < count; i++)
    for (int k = i + 1; k < count; k++) try_edges(hull, edges[i], edges[k], rounding, &best);
  memory_free(edges);
  return best;
}
