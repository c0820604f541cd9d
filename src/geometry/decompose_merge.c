/* Neighbours that are nearly convex together become one hull. */
#include <string.h>

#include "geometry/decompose.h"

/* A triangle this thin (height / longest side) has a normal of rounding only; its neighbours bound the hull there. */
#define NEEDLE 1e-6

Plane hull_plane(const ConvexHull* hull, int triangle) {
  const int* t = hull->triangles[triangle];
  Vec3 a = hull->vertices[t[0]];
  Vec3 n = vec3_cross(vec3_sub(hull->vertices[t[1]], a), vec3_sub(hull->vertices[t[2]], a));
  double length = vec3_norm(n), longest = 0;
  for (int k = 0; k < 3; k++)
    longest = fmax(longest, vec3_norm(vec3_sub(hull->vertices[t[k]], hull->vertices[t[(k + 1) % 3]])));
  if (!(length > NEEDLE * longest * longest)) return (Plane){{0, 0, 0}, 0};
  n = vec3_scale(n, 1.0 / length);
  return (Plane){n, vec3_dot(n, a)};
}

double hull_outside(const ConvexHull* hull, Vec3 point) {
  double most = -HUGE_VAL;
  for (int t = 0; t < hull->triangle_count; t++) {
    Plane p = hull_plane(hull, t);
    if (vec3_dot(p.n, p.n) > 0) most = fmax(most, vec3_dot(p.n, point) - p.offset);
  }
  return most;
}

double solid_volume(const ConvexHull* hull) {
  double sum = 0;
  for (int t = 0; t < hull->triangle_count; t++) {
    Vec3 o = hull->vertices[0], a = vec3_sub(hull->vertices[hull->triangles[t][0]], o);
    Vec3 b = vec3_sub(hull->vertices[hull->triangles[t][1]], o), c = vec3_sub(hull->vertices[hull->triangles[t][2]], o);
    sum += vec3_dot(a, vec3_cross(b, c));
  }
  return sum / 6.0;
}

/* ---------------------------------------------------------------- blocks */

Block block_create(const Vec3* points, int count) {
  Block block = {0};
  if (hull_create(&block.hull, points, count) != HULL_OK) {
    block.flat = true;
    block.hull = (ConvexHull){.vertices = MEMORY_NEW(Vec3, count + 1), .vertex_count = count};
    memcpy(block.hull.vertices, points, sizeof(Vec3) * (size_t)count);
  }
  block.estimate = hull_estimate(block.hull.vertices, block.hull.vertex_count);
  if (block.flat) block.estimate.volume = 0;
  return block;
}

void block_free(Block* block) { hull_free(&block->hull); }

Block block_copy(const Block* block) {
  Block copy = *block;
  const ConvexHull* hull = &block->hull;
  copy.hull.vertices = MEMORY_NEW(Vec3, hull->vertex_count + 1);
  copy.hull.triangles = memory_alloc(sizeof *hull->triangles * (size_t)(hull->triangle_count + 1));
  memcpy(copy.hull.vertices, hull->vertices, sizeof(Vec3) * (size_t)hull->vertex_count);
  if (hull->triangle_count > 0)
    memcpy(copy.hull.triangles, hull->triangles, sizeof *hull->triangles * (size_t)hull->triangle_count);
  return copy;
}

Block block_join(const Block* a, const Block* b) {
  int count = a->hull.vertex_count + b->hull.vertex_count;
  Vec3* points = MEMORY_NEW(Vec3, count);
  memcpy(points, a->hull.vertices, sizeof(Vec3) * (size_t)a->hull.vertex_count);
  memcpy(points + a->hull.vertex_count, b->hull.vertices, sizeof(Vec3) * (size_t)b->hull.vertex_count);
  Block joined = block_create(points, count);
  memory_free(points);
  return joined;
}

Blocks blocks_create(const Pieces* pieces) {
  Blocks blocks = {MEMORY_NEW(Block, pieces->count + 1), pieces->count};
  for (int k = 0; k < pieces->count; k++)
    blocks.items[k] = block_create(pieces->items[k].part.points, pieces->items[k].part.point_count);
  return blocks;
}

void blocks_free(Blocks* blocks) {
  for (int k = 0; k < blocks->count; k++) block_free(&blocks->items[k]);
  memory_free(blocks->items);
  *blocks = (Blocks){0};
}

double block_distance(const Block* a, const Block* b) {
  PointView va = point_view_create(a->hull.vertices, a->hull.vertex_count);
  PointView vb = point_view_create(b->hull.vertices, b->hull.vertex_count);
  double distance = gjk_distance(va, pose_identity(), vb, pose_identity(), NULL).distance;
  point_view_free(&va);
  point_view_free(&vb);
  return distance;
}

/* ---------------------------------------------------------------- merging */

/* Hulls with more faces than this are not cut to find their common volume. */
#define FACES_CUT 80

/* Volume of what two hulls share, 0 when they have many faces: the cost is then a little small where they overlap. */
static double common_volume(const Block* a, const Block* b) {
  if (a->hull.triangle_count > FACES_CUT || b->hull.triangle_count > FACES_CUT) return 0;
  Part part = {0};
  for (int i = 0; i < a->hull.vertex_count; i++) part_add_point(&part, a->hull.vertices[i]);
  for (int t = 0; t < a->hull.triangle_count; t++)
    part_add_triangle(&part, a->hull.triangles[t][0], a->hull.triangles[t][1], a->hull.triangles[t][2]);
  for (int t = 0; t < b->hull.triangle_count && part.triangle_count > 0; t++) {
    Plane plane = hull_plane(&b->hull, t);
    if (!(vec3_dot(plane.n, plane.n) > 0)) continue;
    Part cut = part_cut(&part, plane, PLANE_ROUNDING);
    part_free(&part);
    part = cut;
  }
  double volume = part_volume(&part);
  part_free(&part);
  return fmax(volume, 0);
}

double merge_cost(const Block* a, const Block* b) {
  HullEstimate joined = hull_estimate_joined(&a->estimate, &b->estimate);
  return joined.volume - a->estimate.volume - b->estimate.volume + common_volume(a, b);
}

/* Cost of every pair, infinite when they do not touch. */
typedef struct {
  Blocks* blocks;
  double* cost;
  int stride;
} MergeTable;

static void fill_cost(MergeTable* table, int i, int j) {
  const Block *a = &table->blocks->items[i], *b = &table->blocks->items[j];
  bool near = a->flat || b->flat || block_distance(a, b) <= TOUCH_DISTANCE;
  table->cost[i * table->stride + j] = table->cost[j * table->stride + i] = near ? merge_cost(a, b) : HUGE_VAL;
}

/* A flat piece is joined first, to whatever that costs least. */
static bool best_pair(const MergeTable* table, int* first, int* second) {
  const Blocks* blocks = table->blocks;
  double best = HUGE_VAL;
  bool flat_found = false;
  for (int i = 0; i < blocks->count; i++)
    for (int j = i + 1; j < blocks->count; j++) {
      double cost = table->cost[i * table->stride + j];
      bool flat = blocks->items[i].flat || blocks->items[j].flat;
      if (flat_found && !flat) continue;
      if (!(cost < best) && !(flat && !flat_found)) continue;
      best = cost, flat_found = flat, *first = i, *second = j;
    }
  return isfinite(best);
}

static void merge_pair(MergeTable* table, int i, int j) {
  Blocks* blocks = table->blocks;
  int stride = table->stride;
  Block joined = block_join(&blocks->items[i], &blocks->items[j]);
  block_free(&blocks->items[i]);
  block_free(&blocks->items[j]);
  blocks->items[i] = joined;
  for (int k = j; k + 1 < blocks->count; k++) blocks->items[k] = blocks->items[k + 1];
  blocks->count--;
  for (int a = 0; a <= blocks->count; a++)
    for (int b = j; b < blocks->count; b++) table->cost[a * stride + b] = table->cost[a * stride + b + 1];
  for (int a = j; a < blocks->count; a++)
    for (int b = 0; b < blocks->count; b++) table->cost[a * stride + b] = table->cost[(a + 1) * stride + b];
  for (int k = 0; k < blocks->count; k++)
    if (k != i) fill_cost(table, i < k ? i : k, i < k ? k : i);
}

void blocks_merge(Blocks* blocks, int count, double free_volume) {
  int stride = blocks->count;
  MergeTable table = {blocks, MEMORY_NEW(double, (size_t)stride*(size_t)stride + 1), stride};
  for (int i = 0; i < blocks->count; i++)
    for (int j = i + 1; j < blocks->count; j++) fill_cost(&table, i, j);
  for (int i = 0, j = 0; blocks->count > 1 && best_pair(&table, &i, &j);) {
    bool flat = blocks->items[i].flat || blocks->items[j].flat;
    if (!flat && blocks->count <= count && table.cost[i * stride + j] > free_volume) break;
    merge_pair(&table, i, j);
  }
  memory_free(table.cost);
}
