/* Volume: sum over hulls of (V / V_initial - 1)^2.
 * V = 1/6 sum over triangles of a . (b x c), dV/da = 1/6 sum of b x c, about any origin since the surface is closed; a
 * vertex inside the hull is the corner of no triangle and has no derivative. */
#include "differentiate/loss.h"

/* The hull's first vertex is the origin: far from the link's frame the digits would cancel. */
static Vec3 corner(const ConvexHull* solid, int i) { return vec3_sub(solid->vertices[i], solid->vertices[0]); }

static double volume_of(const ConvexHull* solid) {
  double sum = 0;
  for (int k = 0; k < solid->triangle_count; k++) {
    const int* t = solid->triangles[k];
    sum += vec3_dot(corner(solid, t[0]), vec3_cross(corner(solid, t[1]), corner(solid, t[2])));
  }
  return sum / 6;
}

/* gradient += factor dV/dX. */
static void add_volume_grad(const ConvexHull* solid, double factor, Vec3* gradient) {
  for (int k = 0; k < solid->triangle_count; k++)
    for (int i = 0; i < 3; i++) {
      const int* t = solid->triangles[k];
      Vec3 area = vec3_cross(corner(solid, t[(i + 1) % 3]), corner(solid, t[(i + 2) % 3]));
      gradient[t[i]] = vec3_add_scaled(gradient[t[i]], factor / 6, area);
    }
}

double loss_volume(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0;
  for (int h = 0; h < term->hull_count; h++) {
    const HullReference* hull = &term->hulls[h];
    const ConvexHull* solid = &recording->model->hulls[hull->hull].solid;
    double excess = volume_of(solid) / hull->volume - 1;
    sum += excess * excess;
    if (seeds) add_volume_grad(solid, 2 * term->weight * excess / hull->volume, seeds->vertices + hull->first_vertex);
  }
  return term->weight * sum;
}
