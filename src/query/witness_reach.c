/* Lower bound of how far the nearest points of two bodies must stay from their target points (witness.md, V11). */
#include "query/witness.h"

/* Triangles are coplanar if the sine between their normals is below this value. The edge between coplanar triangles is
 * ignored. */
#define COPLANAR_SINE 1e-6

/* Squared distances [m^2] of a point from the nearest vertex and from the nearest edge of all pieces. */
typedef struct {
  double corner, edge;
} TargetDistances;

static double squared_norm(Vec3 v) { return vec3_dot(v, v); }

static double squared_segment_distance(Vec3 a, Vec3 b, Vec3 point) {
  Vec3 along = vec3_sub(b, a), apart = vec3_sub(point, a);
  double t = vec3_dot(along, apart) / fmax(vec3_dot(along, along), 1e-300);
  return squared_norm(vec3_add_scaled(apart, -fmin(fmax(t, 0), 1), along));
}

static Vec3 unit_normal(const ConvexHull* hull, int i) {
  const int* v = hull->triangles[i];
  Vec3 a = hull->vertices[v[0]];
  return vec3_normalized(vec3_cross(vec3_sub(hull->vertices[v[1]], a), vec3_sub(hull->vertices[v[2]], a)));
}

/* Returns true if the two triangles at an edge are coplanar. The edge begins at corner k of triangle i. */
static bool is_flat_edge(const ConvexHull* hull, int i, int k) {
  int from = hull->triangles[i][k], to = hull->triangles[i][(k + 1) % 3];
  for (int j = 0; j < hull->triangle_count; j++)
    for (int l = 0; l < 3; l++)
      if (hull->triangles[j][l] == to && hull->triangles[j][(l + 1) % 3] == from)
        return vec3_norm(vec3_cross(unit_normal(hull, i), unit_normal(hull, j))) < COPLANAR_SINE;
  return false;
}

static TargetDistances squared_distances(const WitnessBody* body, Vec3 point) {
  TargetDistances out = {HUGE_VAL, HUGE_VAL};
  for (int p = 0; p < body->piece_count; p++) {
    const ConvexHull* hull = &body->pieces[p].hull;
    for (int v = 0; v < hull->vertex_count; v++)
      out.corner = fmin(out.corner, squared_norm(vec3_sub(hull->vertices[v], point)));
    for (int i = 0; i < hull->triangle_count; i++)
      for (int k = 0; k < 3; k++) {
        Vec3 a = hull->vertices[hull->triangles[i][k]], b = hull->vertices[hull->triangles[i][(k + 1) % 3]];
        double edge = squared_segment_distance(a, b, point);
        if (edge < out.edge && !is_flat_edge(hull, i, k)) out.edge = edge;
      }
  }
  return out;
}

double witness_reach_bound(const WitnessBody* a, const WitnessBody* b, const Vec3* targets) {
  TargetDistances of_a = squared_distances(a, targets[0]), of_b = squared_distances(b, targets[1]);
  return fmin(fmin(of_a.corner, of_b.corner), of_a.edge + of_b.edge);
}
