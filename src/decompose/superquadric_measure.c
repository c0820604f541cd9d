/* Measures the quality of superquadrics at points that the fit did not use: volumes from a low-discrepancy sequence in
 * the common bounding box, and distances between the surfaces. */
#include <assert.h>

#include "decompose/superquadric.h"

enum { VOLUME_SAMPLES = 100000, SURFACE_LEVEL = 3, CHUNK = 1000 };

HullResult superquadric_hull(const Superquadric* superquadric, int level, ConvexHull* hull) {
  assert(level >= 0 && level <= 3);
  assert(level >= 0);
  Primitive primitive = primitive_create(superquadric);
  ConvexHull sphere;
  HullResult made = primitive_sphere(&sphere, 1, level);
  if (made != HULL_OK) return made;
  for (int i = 0; i < sphere.vertex_count; i++) {
    Vec3 place = shape_surface_point(&primitive.shape, sphere.vertices[i]);
    sphere.vertices[i] = vec3_add(mat3_mul_vec(primitive.rotation, place), superquadric->position);
  }
  made = hull_create(hull, sphere.vertices, sphere.vertex_count);
  hull_free(&sphere);
  return made;
}

typedef struct {
  const SurfaceTree* tree;
  const Primitive* list;
  int count;
  Vec3 low, box;
  int (*found)[3]; /* numbers of sample points in the mesh, in the union of superquadrics and in both, for each chunk of
                      points */
} Volumes;

/* Returns point k of the R3 low-discrepancy sequence in the box. The ratios are powers of 1 / x with the root x of x^4
 * = x + 1. */
static Vec3 sample_point(const Volumes* v, int k) {
  static const double RATIO[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
  double part[3];
  for (int i = 0; i < 3; i++) part[i] = 0.5 + k * RATIO[i] - floor(0.5 + k * RATIO[i]);
  return vec3_add(v->low, vec3(part[0] * v->box.x, part[1] * v->box.y, part[2] * v->box.z));
}

static void count_chunk(void* context, int chunk, int thread) {
  const Volumes* v = context;
  (void)thread;
  int* found = v->found[chunk];
  found[0] = found[1] = found[2] = 0;
  for (int i = chunk * CHUNK; i < (chunk + 1) * CHUNK; i++) {
    Vec3 place = sample_point(v, i);
    bool solid = surface_tree_winding(v->tree, place) != 0, covered = false;
    for (int k = 0; k < v->count && !covered; k++) covered = primitive_distance(&v->list[k], place, 1e-300) < 0;
    found[0] += solid, found[1] += covered, found[2] += solid && covered;
  }
}

static void measure_volumes(SuperquadricUnion* out, Volumes* v, int threads) {
  int chunks = VOLUME_SAMPLES / CHUNK, sum[3] = {0};
  v->found = memory_alloc(sizeof *v->found * (size_t)chunks);
  parallel_for(threads, chunks, 2, 1, count_chunk, v);
  for (int c = 0; c < chunks; c++)
    for (int k = 0; k < 3; k++) sum[k] += v->found[c][k];
  memory_free(v->found);
  double each = v->box.x * v->box.y * v->box.z / VOLUME_SAMPLES;
  out->volume_samples = VOLUME_SAMPLES;
  out->mesh_volume = each * sum[0];
  out->union_volume = each * sum[1];
  int either = sum[0] + sum[1] - sum[2];
  out->intersection_over_union = either > 0 ? (double)sum[2] / either : 0;
  out->wrong_volume = sum[0] > 0 ? (double)(either - sum[2]) / sum[0] : 0;
}

static SurfaceGap gap_between(const Vec3* places, int count, const SurfaceTree* tree) {
  SurfaceGap gap = {0};
  int nearest = 0;
  for (int i = 0; i < count; i++) {
    double distance = surface_tree_distance(tree, places[i], &nearest);
    gap.mean += distance / count;
    gap.root_mean_square += distance * distance / count;
    gap.largest = fmax(gap.largest, distance);
  }
  gap.root_mean_square = sqrt(gap.root_mean_square);
  return gap;
}

/* Returns true if the centre of a triangle lies inside a superquadric other than `excluded`. */
static bool is_within_others(const ConvexHull* s, const int* corner, const Primitive* list, int count, int excluded) {
  Vec3 sum = vec3_add(s->vertices[corner[0]], vec3_add(s->vertices[corner[1]], s->vertices[corner[2]]));
  for (int k = 0; k < count; k++)
    if (k != excluded && primitive_distance(&list[k], vec3_scale(sum, 1.0 / 3), HUGE_VAL) < 0) return true;
  return false;
}

/* Returns the surfaces of all superquadrics in one mesh. Omits triangles inside other superquadrics unless
 * `with_hidden`. */
static ConvexHull join_surfaces(const SuperquadricUnion* d, const Primitive* list, bool with_hidden) {
  ConvexHull out = {0}, one;
  int triangles = 20 << (2 * SURFACE_LEVEL), vertices = triangles / 2 + 2;
  out.vertices = MEMORY_NEW(Vec3, d->count * vertices);
  out.triangles = memory_alloc(sizeof *out.triangles * (size_t)(d->count * 2 * vertices));
  for (int k = 0; k < d->count; k++) {
    if (superquadric_hull(&d->list[k], SURFACE_LEVEL, &one) != HULL_OK) continue;
    for (int t = 0; t < one.triangle_count; t++) {
      if (!with_hidden && is_within_others(&one, one.triangles[t], list, d->count, k)) continue;
      for (int c = 0; c < 3; c++) out.triangles[out.triangle_count][c] = out.vertex_count + one.triangles[t][c];
      out.triangle_count++;
    }
    for (int i = 0; i < one.vertex_count; i++) out.vertices[out.vertex_count++] = one.vertices[i];
    hull_free(&one);
  }
  return out;
}

static SurfaceGap gap_of(const ConvexHull* from, const ConvexHull* to, int threads, int* samples) {
  SolidSamples places = solid_samples_create(from, 1, threads);
  SurfaceTree tree = surface_tree_create(to->vertices, (const int(*)[3])to->triangles, to->triangle_count);
  SurfaceGap gap = gap_between(places.surface, places.surface_count, &tree);
  *samples = places.surface_count;
  surface_tree_free(&tree);
  solid_samples_free(&places);
  return gap;
}

static void measure_gaps(SuperquadricUnion* out, const ConvexHull* surface, const Primitive* list, int threads) {
  ConvexHull all_faces = join_surfaces(out, list, true), outer = join_surfaces(out, list, false);
  if (outer.triangle_count > 0) {
    out->mesh_to_union = gap_of(surface, &outer, threads, &out->mesh_samples);
    out->union_to_mesh = gap_of(&all_faces, surface, threads, &out->union_samples);
  }
  hull_free(&all_faces);
  hull_free(&outer);
}

void superquadrics_measure(SuperquadricUnion* out, const ConvexHull* surface, int threads) {
  SurfaceTree tree =
      surface_tree_create(surface->vertices, (const int(*)[3])surface->triangles, surface->triangle_count);
  Primitive* list = MEMORY_NEW(Primitive, out->count);
  Vec3 low = surface->vertices[0], high = low;
  for (int i = 0; i < surface->vertex_count; i++)
    low = vec3_min(low, surface->vertices[i]), high = vec3_max(high, surface->vertices[i]);
  out->diagonal = vec3_norm(vec3_sub(high, low));
  for (int k = 0; k < out->count; k++) {
    list[k] = primitive_create(&out->list[k]);
    Vec3 reach = vec3_scale(vec3(1, 1, 1), list[k].shape.outer), at = out->list[k].position;
    low = vec3_min(low, vec3_sub(at, reach)), high = vec3_max(high, vec3_add(at, reach));
  }
  Volumes volumes = {&tree, list, out->count, low, vec3_sub(high, low), NULL};
  measure_volumes(out, &volumes, threads);
  measure_gaps(out, surface, list, threads);
  memory_free(list);
  surface_tree_free(&tree);
}
