/* Measures the depth of the hulls, the largest distance by which they extend outside the solid. Two facts bound the
 * depth inside a triangle from its corners: the signed distance changes by at most the distance moved, and the distance
 * from one triangle is convex. Triangles are halved while their bound exceeds the found depth by more than the
 * resolution. */
#include <assert.h>
#include "decompose/check.h"

/* The measured depth has an uncertainty of at most DEPTH_RESOLUTION [mesh diagonal], or of DEPTH_SHARE times the depth
 * if that is larger. */
#define DEPTH_RESOLUTION 2e-3
/* The search of a hull ends after DEPTH_POINTS points, even if the uncertainty is larger. */
#define DEPTH_SHARE 0.02
#define DEPTH_POINTS 60000
/* If the caller requests a tolerance, the absolute uncertainty of the depth is at most this fraction of the tolerance.
 */
#define TOLERANCE_SHARE 0.1
/* A point counts as on the solid's surface if its distance is at most this value [unit size]. */
#define DEPTH_ROUNDING 1e-13

/* A point of a hull's surface. outside: signed distance from the solid's surface, positive outside [unit size].
 * nearest: index of the nearest triangle of the solid. */
typedef struct {
  Vec3 point;
  double outside;
  int nearest;
} DepthPoint;

typedef struct {
  DepthPoint corner[3];
  double bound; /* upper bound of the distance of the triangle's points outside the solid [unit size] */
} DepthTriangle;

typedef struct {
  DepthTriangle* items;
  int count, capacity;
} DepthQueue;

typedef struct {
  const SurfaceTree* tree;
  const Decomposition* decomposition;
  UnitFrame frame;
  double resolution; /* uncertainty at which a triangle is not halved any more [unit size] */
  double* found;     /* depth of each hull, unit size */
  double* at_most;
} DepthSearch;

static DepthPoint depth_point(const SurfaceTree* tree, Vec3 point, int near) {
  DepthPoint p = {point, 0, near};
  p.outside = surface_tree_distance(tree, point, &p.nearest);
  if (p.outside <= DEPTH_ROUNDING)
    p.outside = 0;
  else if (surface_tree_winding(tree, point) != 0)
    p.outside = -p.outside;
  return p;
}

static double edge_length(const DepthTriangle* t, int k) {
  assert(k >= 0 && k < 3);
  return vec3_norm(vec3_sub(t->corner[(k + 1) % 3].point, t->corner[k].point));
}

static int longest_edge(const DepthTriangle* t) {
  int longest = 0;
  for (int k = 1; k < 3; k++)
    if (edge_length(t, k) > edge_length(t, longest)) longest = k;
  return longest;
}

/* Returns an upper bound of the depth in a triangle of a hull. Every point of the triangle is within (longest edge) /
 * sqrt 3 of a corner, and the distance to one surface triangle is largest at a corner. */
static double depth_bound(const SurfaceTree* tree, const DepthTriangle* t) {
  double bound = -HUGE_VAL;
  for (int k = 0; k < 3; k++) bound = fmax(bound, t->corner[k].outside);
  bound += edge_length(t, longest_edge(t)) / sqrt(3);
  for (int k = 0; k < 3 && bound > 0; k++) {
    double farthest = 0;
    for (int i = 0; i < 3 && farthest < bound; i++) {
      bool same_nearest = t->corner[i].nearest == t->corner[k].nearest;
      double distance = same_nearest ? fabs(t->corner[i].outside)
                                     : surface_tree_triangle_distance(tree, t->corner[k].nearest, t->corner[i].point);
      farthest = fmax(farthest, distance);
    }
    bound = fmin(bound, farthest);
  }
  return fmax(bound, 0);
}

static void add_triangle(DepthQueue* queue, const SurfaceTree* tree, DepthTriangle t) {
  queue->items = memory_grow_array(queue->items, sizeof *queue->items, queue->count, &queue->capacity);
  t.bound = depth_bound(tree, &t);
  queue->items[queue->count++] = t;
}

/* Adds both halves of a triangle to the queue. Returns the depth at the midpoint of the halved edge. */
static double halve_triangle(DepthQueue* queue, const SurfaceTree* tree, DepthTriangle t) {
  int k = longest_edge(&t), next = (k + 1) % 3;
  Vec3 middle = vec3_scale(vec3_add(t.corner[k].point, t.corner[next].point), 0.5);
  DepthPoint p = depth_point(tree, middle, t.corner[k].nearest);
  DepthTriangle first = t, second = t;
  first.corner[next] = p;
  second.corner[k] = p;
  add_triangle(queue, tree, first);
  add_triangle(queue, tree, second);
  return p.outside;
}

static DepthQueue hull_faces(const DepthSearch* search, const ConvexHull* hull, double* found) {
  DepthQueue queue = {0};
  DepthPoint* corners = MEMORY_NEW(DepthPoint, hull->vertex_count);
  int near = 0;
  for (int i = 0; i < hull->vertex_count; i++) {
    Vec3 unit = vec3_scale(vec3_sub(hull->vertices[i], search->frame.center), 1 / search->frame.scale);
    corners[i] = depth_point(search->tree, unit, near);
    near = corners[i].nearest;
    *found = fmax(*found, corners[i].outside);
  }
  for (int t = 0; t < hull->triangle_count; t++) {
    DepthTriangle face = {.bound = HUGE_VAL};
    for (int k = 0; k < 3; k++) face.corner[k] = corners[hull->triangles[t][k]];
    add_triangle(&queue, search->tree, face);
  }
  memory_free(corners);
  return queue;
}

/* Computes the depth of hull h. Processes triangles in the order of creation, so that the coarse triangles of all faces
 * come first. */
static void search_hull(void* context, int h, int thread) {
  DepthSearch* search = context;
  double found = 0, at_most = 0;
  (void)thread;
  DepthQueue queue = hull_faces(search, &search->decomposition->hulls[h], &found);
  for (int i = 0; i < queue.count; i++) {
    DepthTriangle t = queue.items[i];
    if (t.bound > found + fmax(search->resolution, DEPTH_SHARE * found) && queue.count < 2 * DEPTH_POINTS)
      found = fmax(found, halve_triangle(&queue, search->tree, t));
    else
      at_most = fmax(at_most, t.bound);
  }
  search->found[h] = found;
  search->at_most[h] = fmax(found, at_most);
  memory_free(queue.items);
}

void decomposition_measure_depth(Decomposition* d, const Part* solid, UnitFrame frame,
                                 const DecomposeOptions* options) {
  double resolution = DEPTH_RESOLUTION * d->diagonal;
  if (options->tolerance > 0) resolution = fmin(resolution, TOLERANCE_SHARE * options->tolerance);
  SurfaceTree tree = surface_tree_create(solid->points, (const int(*)[3])solid->triangles, solid->triangle_count);
  d->depths = MEMORY_NEW(double, d->hull_count + 1);
  double* at_most = MEMORY_NEW(double, d->hull_count + 1);
  DepthSearch search = {&tree, d, frame, resolution / frame.scale, d->depths, at_most};
  parallel_for(options->threads, d->hull_count, 2, 1, search_hull, &search);
  d->depth = d->depth_at_most = 0;
  for (int h = 0; h < d->hull_count; h++) {
    d->depths[h] *= frame.scale;
    d->depth = fmax(d->depth, d->depths[h]);
    d->depth_at_most = fmax(d->depth_at_most, at_most[h] * frame.scale);
  }
  memory_free(at_most);
  surface_tree_free(&tree);
}
