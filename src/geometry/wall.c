/* Smallest wall thickness of a solid, measured by rays from its surface inward (docs/derivations/union.md, U5). */
#include <assert.h>

#include "geometry/geometry.h"

/* Two faces form a wall if their normals are opposite to within 30 degrees. Faces at a larger angle form a wedge, whose
 * thin edge does not count as a wall. The constant is the cosine of the angle. */
#define FACING_COSINE 0.8660254037844387
/* Intersections of a ray within this distance of its start are ignored, relative to the solid's size, because the ray
 * starts on a triangle. */
#define START_DISTANCE_MIN 1e-9
/* Tolerance of the barycentric coordinates of a ray's intersection with a triangle, so that no ray passes between
 * adjacent triangles. */
#define SEAM 1e-9

typedef struct {
  const TriangleSurface* surface;
  Vec3* normals;     /* unit normals of the triangles; zero for a triangle without area (size: triangles) */
  int* rays;         /* number of rays of each triangle */
  double* thickness; /* smallest thickness measured by the rays of each triangle [m] */
  double start_distance_min;
} Walls;

static Vec3 corner(const TriangleSurface* surface, int triangle, int k) {
  return surface->points[surface->triangles[triangle][k]];
}

/* Returns twice the vector area of a triangle. */
static Vec3 double_area_vector(const TriangleSurface* surface, int triangle) {
  Vec3 a = corner(surface, triangle, 0);
  return vec3_cross(vec3_sub(corner(surface, triangle, 1), a), vec3_sub(corner(surface, triangle, 2), a));
}

/* Returns the distance t along a ray to its exit through a triangle, or HUGE_VAL if the ray does not exit there. Solves
 * from + t direction = a + u ab + v ac, where a is a corner and ab, ac are edges of the triangle. */
static double distance_to_exit(const Walls* walls, Vec3 from, Vec3 direction, int triangle) {
  if (!(vec3_dot(direction, walls->normals[triangle]) > 0)) return HUGE_VAL;
  Vec3 a = corner(walls->surface, triangle, 0);
  Vec3 ab = vec3_sub(corner(walls->surface, triangle, 1), a), ac = vec3_sub(corner(walls->surface, triangle, 2), a);
  Vec3 to = vec3_sub(from, a), p = vec3_cross(direction, ac), q = vec3_cross(to, ab);
  double det = vec3_dot(ab, p), u = vec3_dot(to, p) / det, v = vec3_dot(direction, q) / det, t = vec3_dot(ac, q) / det;
  bool meets = u >= -SEAM && v >= -SEAM && u + v <= 1 + SEAM && t > walls->start_distance_min;
  return meets ? t : HUGE_VAL;
}

/* Returns the distance along a ray to the nearest exit. Returns HUGE_VAL if the surface there does not face the
 * opposite direction. */
static double ray_thickness(const Walls* walls, Vec3 from, Vec3 direction) {
  double least = HUGE_VAL;
  int wall = -1;
  for (int t = 0; t < walls->surface->triangle_count; t++) {
    double length = distance_to_exit(walls, from, direction, t);
    if (length < least) least = length, wall = t;
  }
  return wall >= 0 && vec3_dot(direction, walls->normals[wall]) >= FACING_COSINE ? least : HUGE_VAL;
}

/* Returns sample k of a triangle: the centre for k = 0, otherwise a point of the additive R2 sequence (Roberts), which
 * covers the triangle evenly. */
static Vec3 sample_of(const TriangleSurface* surface, int triangle, int k) {
  double u = 1.0 / 3, v = 1.0 / 3;
  if (k > 0) {
    double whole;
    u = modf(k * 0.7548776662466927, &whole);
    v = modf(k * 0.5698402909980532, &whole);
    if (u + v > 1) u = 1 - u, v = 1 - v;
  }
  Vec3 a = corner(surface, triangle, 0);
  Vec3 x = vec3_add_scaled(a, u, vec3_sub(corner(surface, triangle, 1), a));
  return vec3_add_scaled(x, v, vec3_sub(corner(surface, triangle, 2), a));
}

static void measure_triangle(void* context, int triangle, int thread) {
  Walls* walls = context;
  Vec3 inward = vec3_scale(walls->normals[triangle], -1);
  double least = HUGE_VAL;
  (void)thread;
  for (int k = 0; k < walls->rays[triangle]; k++)
    least = fmin(least, ray_thickness(walls, sample_of(walls->surface, triangle, k), inward));
  walls->thickness[triangle] = least;
}

/* Distributes rays so that each ray represents the same area. Several triangles with a smaller area share a ray, so
 * that slivers at an acute edge do not count as walls. Returns the total area. */
static double share_rays(Walls* walls, int samples) {
  const TriangleSurface* surface = walls->surface;
  double total = 0, before = 0;
  for (int t = 0; t < surface->triangle_count; t++) total += vec3_norm(double_area_vector(surface, t));
  for (int t = 0; t < surface->triangle_count; t++) {
    Vec3 cross = double_area_vector(surface, t);
    double twice = vec3_norm(cross), after = before + twice;
    if (!(twice > 0)) continue;
    walls->normals[t] = vec3_scale(cross, 1 / twice);
    walls->rays[t] = (int)(floor(after / total * samples + 0.5) - floor(before / total * samples + 0.5));
    before = after;
  }
  return 0.5 * total;
}

double surface_thickness(const TriangleSurface* surface, int samples, int threads, double* spacing) {
  assert(spacing && samples >= 0);
  int count = surface->triangle_count;
  Walls walls = {.surface = surface};
  Vec3 low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_scale(low, -1);
  for (int i = 0; i < surface->point_count; i++) {
    low = vec3_min(low, surface->points[i]);
    high = vec3_max(high, surface->points[i]);
  }
  walls.start_distance_min = START_DISTANCE_MIN * vec3_norm(vec3_sub(high, low));
  walls.normals = MEMORY_NEW(Vec3, count + 1);
  walls.rays = MEMORY_NEW(int, count + 1);
  walls.thickness = MEMORY_NEW(double, count + 1);
  *spacing = sqrt(share_rays(&walls, samples) / samples);
  parallel_for(threads, count, 64, 16, measure_triangle, &walls);
  double least = HUGE_VAL;
  for (int t = 0; t < count; t++) least = fmin(least, walls.thickness[t]);
  memory_free(walls.normals);
  memory_free(walls.rays);
  memory_free(walls.thickness);
  return least;
}
