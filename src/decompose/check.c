#include "decompose/check.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Smallest number of sample points on the surface of the mesh. Corners and centres of faces are always sampled;
 * triangles are subdivided until this number is reached. */
#define SAMPLES_MIN 20000

typedef struct {
  CutPlane* planes;
  double* tilt; /* largest angle by which rounding of the corners rotates each plane [rad] */
  int* first;   /* first plane of each hull (size: hull_count + 1) */
  int hull_count;
} HullPlanes;

/* Returns the rounding error of the coordinates [mesh unit], which grows with the distance of the mesh from the origin.
 */
static double coordinate_rounding(const Decomposition* d) {
  double largest = 0;
  for (int h = 0; h < d->hull_count; h++)
    for (int i = 0; i < d->hulls[h].vertex_count; i++) {
      Vec3 p = d->hulls[h].vertices[i];
      largest = fmax(largest, fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))));
    }
  return DBL_EPSILON * largest;
}

static double smallest_height(const ConvexHull* hull, int triangle) {
  const int* corner = hull->triangles[triangle];
  Vec3 a = hull->vertices[corner[0]], b = hull->vertices[corner[1]], c = hull->vertices[corner[2]];
  Vec3 u = vec3_sub(b, a), v = vec3_sub(c, a), w = vec3_sub(c, b);
  return vec3_norm(vec3_cross(u, v)) / fmax(vec3_norm(u), fmax(vec3_norm(v), vec3_norm(w)));
}

static HullPlanes plane_table(const Decomposition* d) {
  HullPlanes table = {.hull_count = d->hull_count, .first = MEMORY_NEW(int, d->hull_count + 1)};
  int total = 0;
  for (int h = 0; h < d->hull_count; h++) total += d->hulls[h].triangle_count;
  table.planes = MEMORY_NEW(CutPlane, total + 1);
  table.tilt = MEMORY_NEW(double, total + 1);
  double rounding = coordinate_rounding(d);
  total = 0;
  for (int h = 0; h < d->hull_count; h++) {
    table.first[h] = total;
    for (int t = 0; t < d->hulls[h].triangle_count; t++) {
      CutPlane p = hull_plane(&d->hulls[h], t);
      if (!(vec3_dot(p.n, p.n) > 0)) continue;
      table.tilt[total] = rounding / smallest_height(&d->hulls[h], t);
      table.planes[total++] = p;
    }
  }
  table.first[d->hull_count] = total;
  return table;
}

static void plane_table_free(HullPlanes* table) {
  memory_free(table->planes);
  memory_free(table->tilt);
  memory_free(table->first);
}

/* Returns a lower bound of the distance of a point from the union of the hulls, from the planes of the hulls; 0 inside.
 */
static double outside_union(const HullPlanes* table, Vec3 p) {
  double least = HUGE_VAL;
  for (int h = 0; h < table->hull_count; h++) {
    double most = -HUGE_VAL;
    for (int k = table->first[h]; k < table->first[h + 1] && most < least; k++)
      most = fmax(most, vec3_dot(table->planes[k].n, p) - table->planes[k].offset);
    least = fmin(least, most);
    if (least <= 0) return 0;
  }
  return least;
}

/* Returns the largest depth of a point below the surface of a hull, 0 outside all hulls. */
static double inside_hull(const HullPlanes* table, Vec3 p) {
  double deepest = 0;
  for (int h = 0; h < table->hull_count; h++) {
    double depth = HUGE_VAL;
    for (int k = table->first[h]; k < table->first[h + 1] && depth > deepest; k++)
      depth = fmin(depth, table->planes[k].offset - vec3_dot(table->planes[k].n, p));
    deepest = fmax(deepest, depth);
  }
  return deepest;
}

typedef struct {
  const Mesh* mesh;
  const HullPlanes* table;
  double (*measure)(const HullPlanes* table, Vec3 p); /* quantity that is measured at every sample point p of a face */
  int rings;                                          /* number of subdivisions of a face's triangles */
  double* worst;                                      /* maximum of the measured quantity on every face */
} Coverage;

/* Samples the triangles of a face at multiples of 1/n of their sides. A face with more than three corners is sampled at
 * its corners only, because the triangle fan of a bent or concave face may leave the face. */
static void sample_face(void* context, int face, int thread) {
  Coverage* c = context;
  (void)thread;
  const int* corners = c->mesh->corners + c->mesh->face_first[face];
  int count = c->mesh->face_first[face + 1] - c->mesh->face_first[face], n = count == 3 ? c->rings : 1;
  Vec3 a = c->mesh->positions[corners[0]];
  double worst = 0;
  for (int k = 1; k + 1 < count; k++) {
    Vec3 u = vec3_sub(c->mesh->positions[corners[k]], a), v = vec3_sub(c->mesh->positions[corners[k + 1]], a);
    for (int i = 0; i <= n; i++)
      for (int j = 0; i + j <= n; j++)
        worst =
            fmax(worst, c->measure(c->table, vec3_add_scaled(vec3_add_scaled(a, (double)i / n, u), (double)j / n, v)));
    if (count == 3)
      worst = fmax(worst, c->measure(c->table, vec3_add_scaled(vec3_add_scaled(a, 1.0 / 3, u), 1.0 / 3, v)));
  }
  c->worst[face] = worst;
}

static void check_coverage(Decomposition* d, const Mesh* mesh, const HullPlanes* table, int threads) {
  int rings = 1;
  while ((rings + 1) * (rings + 2) / 2 * mesh->face_count < SAMPLES_MIN) rings++;
  Coverage c = {mesh, table, d->inside ? inside_hull : outside_union, rings, MEMORY_NEW(double, mesh->face_count + 1)};
  parallel_for(threads, mesh->face_count, 64, 64, sample_face, &c);
  double worst = 0;
  for (int f = 0; f < mesh->face_count; f++) worst = fmax(worst, c.worst[f]);
  d->samples = ((rings + 1) * (rings + 2) / 2 + 1) * mesh->face_count;
  d->covered_miss = worst / d->diagonal;
  d->covers = d->covered_miss <= COVER_TOLERANCE + d->condition.joining / d->diagonal;
  memory_free(c.worst);
}

static void check_hulls(Decomposition* d, const HullPlanes* table, const DecomposeOptions* options) {
  d->convex = true;
  d->within_budget = options->grid[0] > 0 || d->hull_count <= options->max_hulls;
  d->hull_volume = 0;
  for (int h = 0; h < d->hull_count; h++) {
    const ConvexHull* hull = &d->hulls[h];
    double volume = solid_volume(hull);
    d->hull_volume += volume;
    d->convex &= volume > 0;
    d->within_budget &= hull->vertex_count <= options->max_vertices;
    for (int k = table->first[h]; k < table->first[h + 1]; k++) {
      double tolerance = (CONVEX_TOLERANCE + table->tilt[k]) * d->diagonal;
      for (int i = 0; i < hull->vertex_count; i++)
        d->convex &= vec3_dot(table->planes[k].n, hull->vertices[i]) - table->planes[k].offset <= tolerance;
    }
  }
}

static bool are_boxes_separate(const ConvexHull* a, const ConvexHull* b) {
  Vec3 la = a->vertices[0], ha = la, lb = b->vertices[0], hb = lb;
  for (int i = 1; i < a->vertex_count; i++) la = vec3_min(la, a->vertices[i]), ha = vec3_max(ha, a->vertices[i]);
  for (int i = 1; i < b->vertex_count; i++) lb = vec3_min(lb, b->vertices[i]), hb = vec3_max(hb, b->vertices[i]);
  return la.x > hb.x || lb.x > ha.x || la.y > hb.y || lb.y > ha.y || la.z > hb.z || lb.z > ha.z;
}

void decomposition_find_joints(Decomposition* d) {
  assert(d->hulls && d->diagonal);
  int* piece = MEMORY_NEW(int, d->hull_count + 1);
  disjoint_sets_init(piece, d->hull_count);
  d->joints = MEMORY_NEW(HullJoint, d->hull_count * (d->hull_count - 1) / 2 + 1);
  for (int i = 0; i < d->hull_count; i++)
    for (int j = i + 1; j < d->hull_count; j++) {
      HullJoint joint = {.a = i, .b = j};
      if (are_boxes_separate(&d->hulls[i], &d->hulls[j])) continue;
      if (!hulls_common_ball(&d->hulls[i], &d->hulls[j], &joint.point, &joint.depth)) continue;
      if (joint.depth <= OVERLAP_TOLERANCE * d->diagonal) continue;
      d->joints[d->joint_count++] = joint;
      disjoint_sets_unite(piece, i, j);
    }
  d->pieces = 0;
  for (int i = 0; i < d->hull_count; i++) d->pieces += disjoint_sets_find(piece, i) == i;
  memory_free(piece);
}

/* A corner of a hull, with the index of the hull. */
typedef struct {
  Vec3 point;
  int hull;
} HullCorner;

static int order_corners(const void* a, const void* b) {
  const HullCorner *p = a, *q = b;
  const double u[3] = {p->point.x, p->point.y, p->point.z}, v[3] = {q->point.x, q->point.y, q->point.z};
  for (int k = 0; k < 3; k++)
    if (u[k] != v[k]) return u[k] < v[k] ? -1 : 1;
  return p->hull < q->hull ? -1 : p->hull > q->hull;
}

/* Finds connected blocks of a grid by exactly equal corners. Adds the number of connected sets to d->pieces. Sets
 * *links to the pairs of blocks with a common corner, and returns their number. */
static int join_shared_corners(Decomposition* d, HullLink** links) {
  int total = 0, *piece = MEMORY_NEW(int, d->hull_count + 1);
  for (int h = 0; h < d->hull_count; h++) total += d->hulls[h].vertex_count;
  HullCorner* corners = MEMORY_NEW(HullCorner, total + 1);
  total = 0;
  for (int h = 0; h < d->hull_count; h++)
    for (int i = 0; i < d->hulls[h].vertex_count; i++) corners[total++] = (HullCorner){d->hulls[h].vertices[i], h};
  qsort(corners, (size_t)total, sizeof *corners, order_corners);
  *links = MEMORY_NEW(HullLink, total + 1);
  int link_count = 0;
  disjoint_sets_init(piece, d->hull_count);
  for (int i = 0; i + 1 < total; i++) {
    HullCorner a = corners[i], b = corners[i + 1];
    if (a.point.x != b.point.x || a.point.y != b.point.y || a.point.z != b.point.z) continue;
    disjoint_sets_unite(piece, a.hull, b.hull);
    (*links)[link_count++] = (HullLink){a.hull, b.hull, 0};
  }
  for (int h = 0; h < d->hull_count; h++) d->pieces += disjoint_sets_find(piece, h) == h;
  memory_free(corners);
  memory_free(piece);
  return link_count;
}

static int join_overlapping(Decomposition* d, HullLink** links) {
  decomposition_find_joints(d);
  *links = MEMORY_NEW(HullLink, d->joint_count + 1);
  for (int k = 0; k < d->joint_count; k++) (*links)[k] = (HullLink){d->joints[k].a, d->joints[k].b, d->joints[k].depth};
  return d->joint_count;
}

/* Checks that the hulls are connected: blocks of a grid by common corners, other hulls by overlap. */
static void check_connection(Decomposition* d, const Part* solid, UnitFrame frame, bool is_grid) {
  HullLink* links;
  int count = is_grid ? join_shared_corners(d, &links) : join_overlapping(d, &links);
  decomposition_connect(d, links, count, solid, frame);
  memory_free(links);
}

static Vec3 mirrored(Vec3 p, int axis, Vec3 twice_middle) {
  assert(axis >= 0 && axis < 3);
  if (axis == 0) p.x = twice_middle.x - p.x;
  if (axis == 1) p.y = twice_middle.y - p.y;
  if (axis == 2) p.z = twice_middle.z - p.z;
  return p;
}

/* Returns the distance by which the mirror image of a hull extends outside the best matching hull. */
static double mirror_distance(const Decomposition* d, int hull, int axis, Vec3 twice_middle) {
  const ConvexHull* a = &d->hulls[hull];
  double best = HUGE_VAL;
  for (int h = 0; h < d->hull_count; h++) {
    double worst = 0;
    for (int i = 0; i < a->vertex_count && worst < best; i++)
      worst = fmax(worst, hull_outside(&d->hulls[h], mirrored(a->vertices[i], axis, twice_middle)));
    best = fmin(best, worst);
  }
  return best;
}

static void check_symmetry(Decomposition* d, Vec3 low, Vec3 high) {
  Vec3 twice_middle = vec3_add(low, high);
  d->mirror_error = 0;
  for (int axis = 0; axis < 3; axis++) {
    if (!d->mirror[axis]) continue;
    for (int h = 0; h < d->hull_count; h++)
      d->mirror_error = fmax(d->mirror_error, mirror_distance(d, h, axis, twice_middle) / d->diagonal);
  }
  d->symmetric = d->mirror_error <= MIRROR_TOLERANCE;
}

/* Sets d->covers for hulls inside the solid: no hull extends outside the solid, and the surface does not enter a hull.
 * The second condition is skipped for several bodies, which can overlap. */
static void check_inside(Decomposition* d) {
  bool reached = d->condition.components == 1 && d->covered_miss > COVER_TOLERANCE;
  d->covers = d->hull_count > 0 && d->depth <= COVER_TOLERANCE * d->diagonal && !reached;
}

void decomposition_check(Decomposition* d, const Mesh* mesh, const Part* solid, UnitFrame frame,
                         const DecomposeOptions* options) {
  Vec3 low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_scale(low, -1.0);
  for (int i = 0; i < mesh->corner_count; i++) {
    low = vec3_min(low, mesh->positions[mesh->corners[i]]);
    high = vec3_max(high, mesh->positions[mesh->corners[i]]);
  }
  d->diagonal = vec3_norm(vec3_sub(high, low));
  d->inside = options->inside;
  HullPlanes table = plane_table(d);
  check_hulls(d, &table, options);
  check_coverage(d, mesh, &table, options->threads);
  check_connection(d, solid, frame, options->grid[0] > 0);
  decomposition_measure_depth(d, solid, frame, options);
  d->within_tolerance = !(options->tolerance > 0) || d->depth_at_most <= options->tolerance;
  if (d->inside) check_inside(d);
  check_symmetry(d, low, high);
  plane_table_free(&table);
}
