#include "contact/features.h"

#include <assert.h>
#include <string.h>

/* Features of two surfaces are skipped if their distance exceeds the range. The range is enlarged by RANGE_ROUNDING
 * times the range plus COORDINATE_ROUNDING times the largest coordinate, so that rounding does not skip a near feature.
 */
#define RANGE_ROUNDING 1e-6
#define COORDINATE_ROUNDING 1e-14

/* ---------------------------------------------------------------- table of known corners and edges */

/* Hash table with open addressing. It gives each distinct key a number: 0, 1, ... in the order of insertion. A key
 * consists of three 64-bit words. */
typedef struct {
  uint64_t (*keys)[3];
  int* slots; /* number of the key in each slot, or -1 for an empty slot  (size, a power of two) */
  int size, count;
} KeyTable;

static KeyTable create_key_table(int capacity) {
  KeyTable s = {.size = 16};
  while (s.size < 2 * capacity) s.size *= 2;
  s.keys = memory_alloc(sizeof *s.keys * (size_t)(capacity + 1));
  s.slots = MEMORY_NEW(int, s.size);
  for (int k = 0; k < s.size; k++) s.slots[k] = -1;
  return s;
}

static void free_key_table(KeyTable* s) {
  memory_free(s->keys);
  memory_free(s->slots);
}

static uint64_t hash(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
  return x ^ (x >> 29);
}

/* Returns the number of a key. If the key is not in the table, inserts it. Sets *new to whether the key was
 * inserted. */
static int number_of_key(KeyTable* s, const uint64_t key[3], bool* new) {
  uint64_t at = hash(key[0] + hash(key[1] + hash(key[2]))) & (uint64_t)(s->size - 1);
  for (; s->slots[at] >= 0; at = (at + 1) & (uint64_t)(s->size - 1))
    if (memcmp(s->keys[s->slots[at]], key, sizeof s->keys[0]) == 0) {
      *new = false;
      return s->slots[at];
    }
  memcpy(s->keys[s->count], key, sizeof s->keys[0]);
  *new = true;
  return s->slots[at] = s->count++;
}

static int number_of_position(KeyTable* s, Vec3 x, bool* new) {
  const double value[3] = {x.x + 0.0, x.y + 0.0, x.z + 0.0}; /* turns -0.0 into 0.0 */
  uint64_t key[3];
  memcpy(key, value, sizeof key);
  return number_of_key(s, key, new);
}

static bool is_edge_new(KeyTable* s, int a, int b) {
  const uint64_t key[3] = {(uint64_t)(a < b ? a : b), (uint64_t)(a < b ? b : a), 0};
  bool new;
  number_of_key(s, key, &new);
  return new;
}

/* ---------------------------------------------------------------- features of hulls */

/* Corner positions and edges found so far in one link, or in one hull if its corners are not shared with other
 * hulls. */
typedef struct {
  KeyTable places, edges;
  int last_unshared_corner; /* number of the last corner that is not shared with other hulls; corners of this kind have
                the numbers -1, -2, ... */
} KnownFeatures;

/* Sets *f to the features of a solid: all its triangles, and those of its vertices and edges that are not in `known`
 * yet. first: number of the solid's first vertex in its link. shares: true if corners of the solid may coincide with
 * corners of other solids. */
static void append_solid(const ConvexHull* solid, int first, bool shares, KnownFeatures* known, Features* f) {
  int* place = MEMORY_NEW(int, solid->vertex_count + 1);
  f->vertices = MEMORY_NEW(int, solid->vertex_count + 1);
  f->triangles = memory_alloc(sizeof *f->triangles * (size_t)(solid->triangle_count + 1));
  f->edges = memory_alloc(sizeof *f->edges * (size_t)(3 * solid->triangle_count + 1));
  for (int m = 0; m < solid->vertex_count; m++) {
    bool new = true;
    place[m] = shares ? number_of_position(&known->places, solid->vertices[m], &new) : --known->last_unshared_corner;
    if (new) f->vertices[f->vertex_count++] = first + m;
  }
  for (int t = 0; t < solid->triangle_count; t++)
    for (int k = 0; k < 3; k++) {
      int a = solid->triangles[t][k], b = solid->triangles[t][(k + 1) % 3];
      f->triangles[t][k] = first + a;
      if (!is_edge_new(&known->edges, place[a], place[b])) continue;
      f->edges[f->edge_count][0] = first + a;
      f->edges[f->edge_count++][1] = first + b;
    }
  f->triangle_count = solid->triangle_count;
  memory_free(place);
}

static KnownFeatures create_known_features(int vertices, int triangles) {
  return (KnownFeatures){.places = create_key_table(vertices), .edges = create_key_table(3 * triangles)};
}

static void free_known_features(KnownFeatures* known) {
  free_key_table(&known->places);
  free_key_table(&known->edges);
}

void features_of_solid(const ConvexHull* solid, Features* features) {
  KnownFeatures known = create_known_features(solid->vertex_count, solid->triangle_count);
  *features = (Features){0};
  append_solid(solid, 0, false, &known, features);
  free_known_features(&known);
}

/* Returns the polyhedron of a hull that laws of polyhedra and the certificate use. The drawn surface ModelHull.solid of
 * a smooth union may be concave; then the polyhedron is the convex hull of its points. This convex hull is written to
 * *convex, which the caller frees. */
static const ConvexHull* polyhedron_of(const ModelHull* hull, ConvexHull* convex) {
  bool is_concave = hull->smooth && !hull_is_convex_smooth(hull);
  if (!is_concave) return &hull->solid;
  HullResult result = hull_create_with_interior(convex, hull->solid.vertices, hull->solid.vertex_count);
  return result == HULL_OK ? convex : &hull->solid;
}

void features_of_link(const Model* model, int link, Features* features) {
  const ModelLink* l = &model->links[link];
  int vertices = 1, triangles = 1;
  for (int k = l->hull_first; k < l->hull_first + l->hull_count; k++) {
    vertices += model->hulls[k].solid.vertex_count;
    triangles += model->hulls[k].solid.triangle_count;
  }
  KnownFeatures known = create_known_features(vertices, triangles);
  for (int k = l->hull_first; k < l->hull_first + l->hull_count; k++) {
    const ModelHull* hull = &model->hulls[k];
    if (!hull->kind->bounded) continue;
    ConvexHull convex = {0};
    append_solid(polyhedron_of(hull, &convex), hull->vertex_first - model->hulls[l->hull_first].vertex_first,
                 hull->solid.triangle_count == 1, &known, &features[k]);
    hull_free(&convex);
  }
  free_known_features(&known);
}

void features_free(Features* f) {
  memory_free(f->vertices);
  memory_free(f->edges);
  memory_free(f->triangles);
}

Stencil* stencils_next(Stencils* out) {
  assert(out && out->count >= 0);
  if (out->count == out->capacity) {
    int more = 2 * out->capacity + 16;
    out->list = memory_resize(out->list, sizeof(Stencil) * (size_t)out->capacity, sizeof(Stencil) * (size_t)more);
    out->capacity = more;
  }
  return &out->list[out->count];
}

/* ---------------------------------------------------------------- features near the other surface (law-ipc.md, N24) */

void near_features_free(NearFeatures* near) {
  for (int side = 0; side < 2; side++) {
    memory_free(near->vertex[side]);
    memory_free(near->edge[side]);
    memory_free(near->triangle[side]);
    memory_free(near->edge_box[side]);
    memory_free(near->triangle_box[side]);
  }
}

static void reserve_near_features(NearFeatures* near, int side, const Features* f) {
  int needed = f->edge_count > f->triangle_count ? f->edge_count : f->triangle_count;
  if (f->vertex_count > needed) needed = f->vertex_count;
  if (needed <= near->capacity[side]) return;
  int capacity = 2 * needed + 16;
  memory_free(near->vertex[side]);
  memory_free(near->edge[side]);
  memory_free(near->triangle[side]);
  memory_free(near->edge_box[side]);
  memory_free(near->triangle_box[side]);
  near->vertex[side] = MEMORY_NEW(int, capacity);
  near->edge[side] = MEMORY_NEW(int, capacity);
  near->triangle[side] = MEMORY_NEW(int, capacity);
  near->edge_box[side] = MEMORY_NEW(Box, capacity);
  near->triangle_box[side] = MEMORY_NEW(Box, capacity);
  near->capacity[side] = capacity;
}

static Vec3 surface_point(const Surface* s, int vertex) { return s->points[vertex - s->first]; }

static Box box_of_vertices(const Surface* s, const int* vertices, int count) {
  Vec3 x = surface_point(s, vertices[0]);
  Box box = {x, x};
  for (int k = 1; k < count; k++) {
    x = surface_point(s, vertices[k]);
    box.low = vec3_min(box.low, x);
    box.high = vec3_max(box.high, x);
  }
  return box;
}

static Box enlarged_box(Box box, double by) {
  Vec3 e = {by, by, by};
  return (Box){vec3_sub(box.low, e), vec3_add(box.high, e)};
}

/* Region in which a feature of one side counts as near the other side. The feature must overlap `box`, the box of the
 * other side extended by the range. It must also contain a point x with across . x >= least. */
typedef struct {
  Box box;
  Vec3 across; /* unit direction towards the other side; zero if it is unknown */
  double least;
} NearRegion;

static bool is_near(const NearRegion* r, const Surface* s, const int* vertices, int count, Box* box) {
  double height = -INFINITY;
  for (int k = 0; k < count; k++) height = fmax(height, vec3_dot(r->across, surface_point(s, vertices[k])));
  if (height < r->least) return false;
  *box = box_of_vertices(s, vertices, count);
  return box_overlap(box, &r->box);
}

static void collect_near_features(const Surface* s, int side, const NearRegion* r, NearFeatures* near) {
  const Features* f = s->features;
  Box box;
  reserve_near_features(near, side, f);
  near->vertex_count[side] = near->edge_count[side] = near->triangle_count[side] = 0;
  for (int k = 0; k < f->vertex_count; k++)
    if (is_near(r, s, &f->vertices[k], 1, &box)) near->vertex[side][near->vertex_count[side]++] = k;
  for (int k = 0; k < f->edge_count; k++) {
    if (!is_near(r, s, f->edges[k], 2, &box)) continue;
    near->edge_box[side][near->edge_count[side]] = box;
    near->edge[side][near->edge_count[side]++] = k;
  }
  for (int k = 0; k < f->triangle_count; k++) {
    if (!is_near(r, s, f->triangles[k], 3, &box)) continue;
    near->triangle_box[side][near->triangle_count[side]] = box;
    near->triangle[side][near->triangle_count[side]++] = k;
  }
}

/* ---------------------------------------------------------------- pairs of near features (stencils) */

static void set_point(Stencil* s, int i, const Surface* surface, int side, int vertex) {
  s->side[i] = side;
  s->vertex[i] = vertex;
  s->x[i] = surface_point(&surface[side], vertex);
}

static void append_point_triangle_stencils(const Surface* surface, int side, double range, double reach,
                                           const NearFeatures* near, Stencils* out) {
  const Features *points = surface[side].features, *faces = surface[1 - side].features;
  for (int p = 0; p < near->vertex_count[side]; p++) {
    int vertex = points->vertices[near->vertex[side][p]];
    Vec3 x = surface_point(&surface[side], vertex);
    Box about = enlarged_box((Box){x, x}, reach);
    for (int t = 0; t < near->triangle_count[1 - side]; t++) {
      if (!box_overlap(&about, &near->triangle_box[1 - side][t])) continue;
      Stencil* s = stencils_next(out);
      const int* corner = faces->triangles[near->triangle[1 - side][t]];
      set_point(s, 0, surface, side, vertex);
      for (int k = 0; k < 3; k++) set_point(s, 1 + k, surface, 1 - side, corner[k]);
      stencil_point_triangle(s);
      out->count += s->d < range;
    }
  }
}

static void append_edge_edge_stencils(const Surface* surface, double range, double reach, double least_sine,
                                      const NearFeatures* near, Stencils* out) {
  const Features *a = surface[0].features, *b = surface[1].features;
  for (int i = 0; i < near->edge_count[0]; i++) {
    Box about = enlarged_box(near->edge_box[0][i], reach);
    for (int j = 0; j < near->edge_count[1]; j++) {
      if (!box_overlap(&about, &near->edge_box[1][j])) continue;
      Stencil* s = stencils_next(out);
      for (int k = 0; k < 2; k++) {
        set_point(s, k, surface, 0, a->edges[near->edge[0][i]][k]);
        set_point(s, 2 + k, surface, 1, b->edges[near->edge[1][j]][k]);
      }
      stencil_edge_edge(s);
      if (!(s->d < range)) continue;
      Vec3 u = vec3_sub(s->x[1], s->x[0]), v = vec3_sub(s->x[3], s->x[2]);
      out->count += !(edges_sine_squared(u, v, NULL, NULL) < least_sine);
    }
  }
}

/* Returns the minimum of direction . x over the points x of a surface. */
static double min_along(const Surface* s, Vec3 direction) {
  double least = INFINITY;
  for (int k = 0; k < s->count; k++) least = fmin(least, vec3_dot(direction, s->points[k]));
  return least;
}

static Box surface_box(const Surface* s) {
  Box box = {s->points[0], s->points[0]};
  for (int k = 1; k < s->count; k++) {
    box.low = vec3_min(box.low, s->points[k]);
    box.high = vec3_max(box.high, s->points[k]);
  }
  return box;
}

static double max_coordinate(const Box* box) {
  double size = fmax(fabs(box->low.x), fabs(box->high.x));
  size = fmax(size, fmax(fabs(box->low.y), fabs(box->high.y)));
  return fmax(size, fmax(fabs(box->low.z), fabs(box->high.z)));
}

void stencils_between(const Surface surface[2], Vec3 across, double range, double least_sine, NearFeatures* near,
                      Stencils* out) {
  assert(range > 0 && near && out);
  Box box[2] = {surface_box(&surface[0]), surface_box(&surface[1])};
  double reach =
      range * (1 + RANGE_ROUNDING) + COORDINATE_ROUNDING * fmax(max_coordinate(&box[0]), max_coordinate(&box[1]));
  bool known = vec3_dot(across, across) > 0;
  for (int side = 0; side < 2; side++) {
    Vec3 towards = side == 0 ? across : vec3_scale(across, -1);
    double least = known ? min_along(&surface[1 - side], towards) - reach : (double)-INFINITY;
    NearRegion r = {enlarged_box(box[1 - side], reach), towards, least};
    if (!box_overlap(&box[side], &r.box)) return;
    collect_near_features(&surface[side], side, &r, near);
  }
  append_point_triangle_stencils(surface, 0, range, reach, near, out);
  append_point_triangle_stencils(surface, 1, range, reach, near, out);
  append_edge_edge_stencils(surface, range, reach, least_sine, near, out);
}
