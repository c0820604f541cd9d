#include <assert.h>
#include <string.h>

#include "export/format.h"
#include "model/drawn.h"

/* Largest deviation of the corners of a box, relative to the size of the box. */
#define BOX_TOLERANCE 1e-9

/* Sets *edge to the next edge of a box at its first vertex: the shortest vector to another vertex that is perpendicular
 * to edges[found]. In a box with edges a, b, c these vectors are a, b, c and their sums. Returns false if there is
 * none.
 */
static bool next_edge(const ConvexHull* solid, const Vec3* edges, int found, double tolerance, Vec3* edge) {
  assert(found >= 0 && found < 3);
  double shortest = HUGE_VAL;
  for (int i = 1; i < solid->vertex_count; i++) {
    Vec3 d = vec3_sub(solid->vertices[i], solid->vertices[0]);
    bool square = true;
    for (int k = 0; k < found; k++) square = square && fabs(vec3_dot(d, edges[k])) <= tolerance * vec3_norm(edges[k]);
    if (!square || vec3_norm(d) >= shortest) continue;
    shortest = vec3_norm(d);
    *edge = d;
  }
  return isfinite(shortest);
}

static bool is_corner(const ConvexHull* solid, Vec3 point, double tolerance) {
  for (int i = 0; i < solid->vertex_count; i++)
    if (vec3_norm(vec3_sub(solid->vertices[i], point)) <= tolerance) return true;
  return false;
}

static double component(Vec3 v, int k) {
  assert(k >= 0 && k < 3);
  return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

/* Sorts and reverses the edges of a box to a right-handed frame. Of all such frames, chooses the one closest to the
 * link's axes, whose rotation matrix has the largest trace. */
static void sort_edges(Vec3 edges[3]) {
  static const int ORDERS[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  Vec3 best[3] = {edges[0], edges[1], edges[2]};
  double most = -HUGE_VAL;
  for (int p = 0; p < 6; p++) {
    Vec3 frame[3];
    double along[3], trace = 0;
    int least = 0;
    for (int k = 0; k < 3; k++) {
      Vec3 edge = edges[ORDERS[p][k]];
      along[k] = component(edge, k) / vec3_norm(edge);
      frame[k] = along[k] < 0 ? vec3_scale(edge, -1) : edge;
      trace += fabs(along[k]);
      if (fabs(along[k]) < fabs(along[least])) least = k;
    }
    if (vec3_dot(vec3_cross(frame[0], frame[1]), frame[2]) < 0) {
      frame[least] = vec3_scale(frame[least], -1);
      trace -= 2 * fabs(along[least]);
    }
    if (trace <= most) continue;
    most = trace;
    memcpy(best, frame, sizeof best);
  }
  memcpy(edges, best, sizeof best);
}

bool hull_is_box(const ConvexHull* solid, Pose* pose, Vec3* half) {
  Vec3 edges[3];
  double size = 0;
  if (solid->vertex_count != 8) return false;
  for (int i = 1; i < 8; i++) size = fmax(size, vec3_norm(vec3_sub(solid->vertices[i], solid->vertices[0])));
  double tolerance = BOX_TOLERANCE * size;
  for (int k = 0; k < 3; k++)
    if (!next_edge(solid, edges, k, tolerance, &edges[k])) return false;
  for (int corner = 0; corner < 8; corner++) {
    Vec3 point = solid->vertices[0];
    for (int k = 0; k < 3; k++)
      if (corner >> k & 1) point = vec3_add(point, edges[k]);
    if (!is_corner(solid, point, tolerance)) return false;
  }
  pose->t = vec3_add_scaled(solid->vertices[0], 0.5, vec3_add(edges[0], vec3_add(edges[1], edges[2])));
  sort_edges(edges);
  Vec3 x = vec3_normalized(edges[0]), y = vec3_normalized(edges[1]), z = vec3_cross(x, y);
  pose->r = (Mat3){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
  *half = vec3_scale(vec3(vec3_norm(edges[0]), vec3_norm(edges[1]), vec3_norm(edges[2])), 0.5);
  return true;
}

bool hull_is_cylinder(const ModelHull* hull) {
  if (!hull_is_round(hull)) return false;
  RoundBody body = hull_contact_geometry(hull);
  return body.ring_count == 2 && body.points.count == 0 && !(body.rounding > 0) &&
         body.rings[0].radius == body.rings[1].radius;
}

void append_mesh_deviation(Text* text, const Model* model, bool (*is_mesh)(const ModelHull*), const bool* omitted) {
  double largest = 0;
  int count = 0, link = -1;
  for (int h = 0; h < model->hull_count; h++) {
    const ModelHull* hull = &model->hulls[h];
    if ((omitted && omitted[hull->link]) || !is_mesh(hull)) continue;
    double deviation = model_drawn_deviation(model, h);
    count += deviation > 0;
    if (deviation > largest) largest = deviation, link = hull->link;
  }
  if (count == 0) return;
  text_add(text,
           "%d round solid%s%s a mesh with faces up to %.3g mm inside of the solid (link '%s'): --tolerance MM "
           "sets this distance",
           count, count == 1 ? "" : "s", count == 1 ? " becomes" : " become each", 1e3 * largest,
           model->links[link].name);
}
