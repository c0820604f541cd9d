/* Samples of a solid for fitting: distances from the surface on a grid, and points on the surface. */
#include <assert.h>
#include "decompose/superquadric.h"

enum { MARGIN = 3, SURFACE_SAMPLES = 8000 };

typedef struct {
  SolidSamples* samples;
  const SurfaceTree* tree;
} Filling;

int solid_samples_count(const SolidSamples* s) { return s->size[0] * s->size[1] * s->size[2]; }

Vec3 solid_samples_position(const SolidSamples* s, int node) {
  assert(node >= 0 && node < solid_samples_count(s));
  int i = node % s->size[0], j = node / s->size[0] % s->size[1], k = node / s->size[0] / s->size[1];
  return vec3_add_scaled(s->low, s->edge, vec3(i, j, k));
}

static void fill_layer(void* context, int layer, int thread) {
  const Filling* f = context;
  (void)thread;
  int row = f->samples->size[0] * f->samples->size[1], nearest = 0;
  for (int node = layer * row; node < (layer + 1) * row; node++) {
    Vec3 place = solid_samples_position(f->samples, node);
    double distance = surface_tree_distance(f->tree, place, &nearest);
    f->samples->distance[node] = surface_tree_winding(f->tree, place) != 0 ? -distance : distance;
  }
}

static double triangle_area(const ConvexHull* s, int t) {
  const int* c = s->triangles[t];
  return 0.5 * vec3_norm(vec3_cross(vec3_sub(s->vertices[c[1]], s->vertices[c[0]]),
                                    vec3_sub(s->vertices[c[2]], s->vertices[c[0]])));
}

/* Returns a point of triangle t from two numbers u, v in [0, 1). */
static Vec3 triangle_point(const ConvexHull* s, int t, double u, double v) {
  assert(u >= 0 && v >= 0);
  const int* c = s->triangles[t];
  if (u + v > 1) u = 1 - u, v = 1 - v;
  Vec3 place = vec3_add_scaled(s->vertices[c[0]], u, vec3_sub(s->vertices[c[1]], s->vertices[c[0]]));
  return vec3_add_scaled(place, v, vec3_sub(s->vertices[c[2]], s->vertices[c[0]]));
}

/* Returns true if the position just outside triangle t lies inside the solid. An overlapping part of the solid then
 * covers the triangle. */
static bool is_hidden(const SurfaceTree* tree, const ConvexHull* s, int t, Vec3 place, double offset) {
  const int* c = s->triangles[t];
  Vec3 normal =
      vec3_cross(vec3_sub(s->vertices[c[1]], s->vertices[c[0]]), vec3_sub(s->vertices[c[2]], s->vertices[c[0]]));
  return surface_tree_winding(tree, vec3_add_scaled(place, offset / vec3_norm(normal), normal)) != 0;
}

/* Returns number k of an evenly distributed sequence in [0, 1): multiples of an irrational number modulo 1. */
static double evenly_distributed(int k, double ratio) {
  assert(k >= 0);
  double x = 0.5 + k * ratio;
  return x - floor(x);
}

/* Distributes points over the surface at equal steps of accumulated area. */
static void sample_surface(SolidSamples* out, const ConvexHull* s, const SurfaceTree* tree) {
  double step = out->area / SURFACE_SAMPLES, behind = 0, next = 0.5 * step;
  out->surface = MEMORY_NEW(Vec3, SURFACE_SAMPLES + 1);
  for (int t = 0, made = 0; t < s->triangle_count; t++) {
    behind += triangle_area(s, t);
    for (; next < behind && made < SURFACE_SAMPLES; next += step, made++) {
      Vec3 place = triangle_point(s, t, evenly_distributed(made, 0.7548776662466927),
                                  evenly_distributed(made, 0.5698402909980532));
      if (!is_hidden(tree, s, t, place, 1e-6 * out->edge)) out->surface[out->surface_count++] = place;
    }
  }
}

SolidSamples solid_samples_create(const ConvexHull* surface, int cells, int threads) {
  Vec3 low = surface->vertices[0], high = low;
  for (int i = 0; i < surface->vertex_count; i++)
    low = vec3_min(low, surface->vertices[i]), high = vec3_max(high, surface->vertices[i]);
  Vec3 box = vec3_sub(high, low);
  SolidSamples out = {.edge = fmax(box.x, fmax(box.y, box.z)) / cells};
  const double extent[3] = {box.x, box.y, box.z};
  for (int k = 0; k < 3; k++) out.size[k] = (int)(extent[k] / out.edge) + 2 + 2 * MARGIN;
  /* The grid is offset by a quarter of an edge, so that no node lies on a face of the bounding box. */
  out.low = vec3_add_scaled(low, -(MARGIN + 0.25) * out.edge, vec3(1, 1, 1));
  out.distance = MEMORY_NEW(double, solid_samples_count(&out));
  for (int t = 0; t < surface->triangle_count; t++) out.area += triangle_area(surface, t);
  SurfaceTree tree =
      surface_tree_create(surface->vertices, (const int(*)[3])surface->triangles, surface->triangle_count);
  Filling filling = {&out, &tree};
  parallel_for(threads, out.size[2], 2, 1, fill_layer, &filling);
  sample_surface(&out, surface, &tree);
  surface_tree_free(&tree);
  return out;
}

void solid_samples_free(SolidSamples* samples) {
  memory_free(samples->distance);
  memory_free(samples->surface);
  *samples = (SolidSamples){0};
}
