/* Loss "volume": sum over hulls of (V / V_initial - 1)^2, with the volume V. a, b, c: corners of a triangle. V = 1/6
 * sum over triangles of a . (b x c), dV/da = 1/6 sum of b x c, about any origin, because the surface is closed. A
 * vertex inside the hull has no derivative. A flat face with more than three corners is a kink of V. There the
 * derivative of the fan of triangles about the corners' mean is used, which prefers no diagonal. */
#include "differentiate/loss.h"

/* Returns a vertex relative to the hull's first vertex, which avoids cancellation far from the link frame. */
static Vec3 relative_vertex(const ConvexHull* solid, int i) { return vec3_sub(solid->vertices[i], solid->vertices[0]); }

static double compute_volume(const ConvexHull* solid) {
  double sum = 0;
  for (int k = 0; k < solid->triangle_count; k++) {
    const int* t = solid->triangles[k];
    sum +=
        vec3_dot(relative_vertex(solid, t[0]), vec3_cross(relative_vertex(solid, t[1]), relative_vertex(solid, t[2])));
  }
  return sum / 6;
}

/* Adds factor times the derivatives of the volume under a flat face. The face is a fan about the mean m of its corners:
 * 1/6 sum over its edges of m . (a x b). */
static void add_face_gradient(const ConvexHull* solid, const FlatFaces* faces, int face, double factor,
                              Vec3* gradient) {
  const int* corners = faces->corners + faces->corner_first[face];
  int count = faces->corner_first[face + 1] - faces->corner_first[face];
  Vec3 middle = {0, 0, 0}, by_middle = {0, 0, 0};
  for (int i = 0; i < count; i++) middle = vec3_add_scaled(middle, 1.0 / count, relative_vertex(solid, corners[i]));
  for (int e = faces->edge_first[face]; e < faces->edge_first[face + 1]; e++) {
    int a = faces->edges[e][0], b = faces->edges[e][1];
    by_middle = vec3_add(by_middle, vec3_cross(relative_vertex(solid, a), relative_vertex(solid, b)));
    gradient[a] = vec3_add_scaled(gradient[a], factor / 6, vec3_cross(relative_vertex(solid, b), middle));
    gradient[b] = vec3_add_scaled(gradient[b], factor / 6, vec3_cross(middle, relative_vertex(solid, a)));
  }
  for (int i = 0; i < count; i++)
    gradient[corners[i]] = vec3_add_scaled(gradient[corners[i]], factor / (6 * count), by_middle);
}

static void add_volume_gradient(const ConvexHull* solid, double factor, Vec3* gradient) {
  FlatFaces faces;
  flat_faces_create(&faces, solid);
  for (int f = 0; f < faces.count; f++) add_face_gradient(solid, &faces, f, factor, gradient);
  flat_faces_free(&faces);
}

double loss_volume(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0;
  for (int h = 0; h < term->hull_count; h++) {
    const HullReference* hull = &term->hulls[h];
    const ConvexHull* solid = &recording->model->hulls[hull->hull].solid;
    double excess = compute_volume(solid) / hull->volume - 1;
    sum += excess * excess;
    if (seeds)
      add_volume_gradient(solid, 2 * term->weight * excess / hull->volume, seeds->vertices + hull->first_vertex);
  }
  return term->weight * sum;
}
