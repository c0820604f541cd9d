/* Smallest size of a hull that contact has to resolve, compared with the barrier distance (docs/contact-parameters.md).
 */
#include "model/build.h"

/* Largest product of the numbers of faces and vertices for which every face is evaluated. Larger hulls use every n-th
 * face, whose normals still cover all directions. */
#define FACE_VERTEX_MAX 2e7

static Vec3 area_vector(const ConvexHull* hull, int triangle) {
  const int* t = hull->triangles[triangle];
  Vec3 a = hull->vertices[t[0]], b = hull->vertices[t[1]], c = hull->vertices[t[2]];
  return vec3_scale(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)), 0.5);
}

static double extent_along(const ConvexHull* hull, Vec3 normal) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (int i = 0; i < hull->vertex_count; i++) {
    double x = vec3_dot(normal, hull->vertices[i]);
    low = x < low ? x : low; /* faster than fmin and fmax, which are library calls */
    high = x > high ? x : high;
  }
  return high - low;
}

static double smallest_extent(const ConvexHull* hull) {
  double work = (double)hull->triangle_count * hull->vertex_count;
  int stride = 1 + (int)(work / FACE_VERTEX_MAX);
  double least = HUGE_VAL;
  for (int i = 0; i < hull->triangle_count; i += stride) {
    Vec3 area = area_vector(hull, i);
    double size = vec3_norm(area);
    if (size > 0) least = fmin(least, extent_along(hull, vec3_scale(area, 1 / size)));
  }
  return least;
}

static double surface_area(const ConvexHull* hull) {
  double sum = 0;
  for (int i = 0; i < hull->triangle_count; i++) sum += vec3_norm(area_vector(hull, i));
  return sum;
}

double hull_feature(const ConvexHull* hull) {
  MassMoment solid = mass_moment_solid(hull);
  return fmin(smallest_extent(hull), 6 * mass_moment_mass(&solid) / surface_area(hull)); /* (R3) */
}
