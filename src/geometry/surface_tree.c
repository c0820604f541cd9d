#include "geometry/geometry.h"

#include <assert.h>
#include <stdlib.h>

#include "geometry/nearest.h"

/* Approximate number of triangles in a leaf. */
#define LEAF_TRIANGLES 4
/* Number of grid cells along each axis for the Morton order of the triangles. */
#define GRID_STEPS 1024

/* Spreads the ten bits of x so that two zero bits separate neighbouring bits. */
static uint64_t spread_bits(uint64_t x) {
  x = (x | x << 16) & 0x030000FFu;
  x = (x | x << 8) & 0x0300F00Fu;
  x = (x | x << 4) & 0x030C30C3u;
  return (x | x << 2) & 0x09249249u;
}

static uint64_t grid_step(double x, double low, double width) {
  double step = width > 0 ? GRID_STEPS * (x - low) / width : 0;
  return step < GRID_STEPS ? (uint64_t)fmax(step, 0) : GRID_STEPS - 1;
}

/* Returns the triangles in Morton order of their centres, ties by number (count). The lower 32 bits of an entry are the
 * triangle. The caller frees the array with memory_free. */
static uint64_t* morton_order(const Vec3 (*corners)[3], int count) {
  Vec3 low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_scale(low, -1);
  for (int t = 0; t < count; t++) low = vec3_min(low, corners[t][0]), high = vec3_max(high, corners[t][0]);
  double width = fmax(high.x - low.x, fmax(high.y - low.y, high.z - low.z));
  uint64_t* keys = MEMORY_NEW(uint64_t, count);
  for (int t = 0; t < count; t++) {
    Vec3 middle = vec3_scale(vec3_add(corners[t][0], vec3_add(corners[t][1], corners[t][2])), 1.0 / 3);
    uint64_t code = spread_bits(grid_step(middle.x, low.x, width)) |
                    spread_bits(grid_step(middle.y, low.y, width)) << 1 |
                    spread_bits(grid_step(middle.z, low.z, width)) << 2;
    keys[t] = code << 32 | (uint64_t)t;
  }
  qsort(keys, (size_t)count, sizeof *keys, compare_uint64);
  return keys;
}

static int first_triangle_of_leaf(const SurfaceTree* tree, int leaf) {
  return (int)((int64_t)tree->count * leaf / tree->leaves);
}

static void compute_boxes(SurfaceTree* tree) {
  for (int leaf = 0; leaf < tree->leaves; leaf++) {
    Vec3 low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_scale(low, -1);
    for (int t = first_triangle_of_leaf(tree, leaf); t < first_triangle_of_leaf(tree, leaf + 1); t++)
      for (int k = 0; k < 3; k++) low = vec3_min(low, tree->corners[t][k]), high = vec3_max(high, tree->corners[t][k]);
    tree->low[tree->leaves + leaf] = low;
    tree->high[tree->leaves + leaf] = high;
  }
  for (int k = tree->leaves - 1; k >= 1; k--) {
    tree->low[k] = vec3_min(tree->low[2 * k], tree->low[2 * k + 1]);
    tree->high[k] = vec3_max(tree->high[2 * k], tree->high[2 * k + 1]);
  }
}

SurfaceTree surface_tree_create(const Vec3* points, const int (*triangles)[3], int count) {
  assert(points && triangles && count > 0);
  SurfaceTree tree = {.count = count, .leaves = 1};
  while (tree.leaves * LEAF_TRIANGLES < count) tree.leaves *= 2;
  /* The rotation is not aligned with faces of usual solids. */
  tree.rotation = mat3_from_quat(quat_normalized((Quat){sqrt(7), sqrt(2), sqrt(3), sqrt(5)}));
  tree.corners = memory_alloc(sizeof *tree.corners * (size_t)count);
  tree.low = MEMORY_NEW(Vec3, 2 * tree.leaves);
  tree.high = MEMORY_NEW(Vec3, 2 * tree.leaves);
  Vec3(*corners)[3] = memory_alloc(sizeof *corners * (size_t)count);
  for (int i = 0; i < 3 * count; i++)
    corners[i / 3][i % 3] = mat3_mul_vec(tree.rotation, points[triangles[i / 3][i % 3]]);
  uint64_t* order = morton_order((const Vec3(*)[3])corners, count);
  for (int t = 0; t < count; t++)
    for (int k = 0; k < 3; k++) tree.corners[t][k] = corners[order[t] & UINT32_MAX][k];
  memory_free(order);
  memory_free(corners);
  compute_boxes(&tree);
  return tree;
}

void surface_tree_free(SurfaceTree* tree) {
  assert(tree);
  memory_free(tree->corners);
  memory_free(tree->low);
  memory_free(tree->high);
  *tree = (SurfaceTree){0};
}

typedef struct {
  const SurfaceTree* tree;
  Vec3 point;
  double square;
  int nearest;
} DistanceSearch;

static double squared_triangle_distance(const SurfaceTree* tree, int triangle, Vec3 point) {
  Vec3 p[3];
  for (int k = 0; k < 3; k++) p[k] = vec3_sub(tree->corners[triangle][k], point);
  return nearest_on_triangle(p, 0, 1, 2).square;
}

static double squared_box_distance(const SurfaceTree* tree, int node, Vec3 p) {
  Vec3 low = tree->low[node], high = tree->high[node];
  double x = larger(larger(low.x - p.x, p.x - high.x), 0), y = larger(larger(low.y - p.y, p.y - high.y), 0),
         z = larger(larger(low.z - p.z, p.z - high.z), 0);
  return x * x + y * y + z * z;
}

static void search_distance(DistanceSearch* s, int node) {
  const SurfaceTree* tree = s->tree;
  if (node >= tree->leaves) {
    int leaf = node - tree->leaves;
    for (int t = first_triangle_of_leaf(tree, leaf); t < first_triangle_of_leaf(tree, leaf + 1); t++) {
      double square = squared_triangle_distance(tree, t, s->point);
      if (square < s->square) s->square = square, s->nearest = t;
    }
    return;
  }
  double left = squared_box_distance(tree, 2 * node, s->point),
         right = squared_box_distance(tree, 2 * node + 1, s->point);
  int first = right < left;
  if ((first ? right : left) < s->square) search_distance(s, 2 * node + first);
  if ((first ? left : right) < s->square) search_distance(s, 2 * node + 1 - first);
}

double surface_tree_distance(const SurfaceTree* tree, Vec3 point, int* nearest) {
  assert(*nearest >= 0 && *nearest < tree->count);
  DistanceSearch s = {tree, mat3_mul_vec(tree->rotation, point), 0, *nearest};
  s.square = squared_triangle_distance(tree, *nearest, s.point);
  search_distance(&s, 1);
  *nearest = s.nearest;
  return sqrt(s.square);
}

double surface_tree_triangle_distance(const SurfaceTree* tree, int triangle, Vec3 point) {
  assert(triangle >= 0 && triangle < tree->count);
  return sqrt(squared_triangle_distance(tree, triangle, mat3_mul_vec(tree->rotation, point)));
}

/* Returns true if the point p lies left of the edge a -> b in the x-y plane. The results for a -> b and b -> a are
 * opposite, even for points on the edge. */
static bool is_left_of(Vec3 a, Vec3 b, Vec3 p) {
  bool turned = b.x < a.x || (b.x == a.x && b.y < a.y);
  Vec3 from = turned ? b : a, to = turned ? a : b;
  bool left = (to.x - from.x) * (p.y - from.y) - (to.y - from.y) * (p.x - from.x) > 0;
  return left != turned;
}

/* Returns 1 if the triangle lies above the point and faces up, -1 if it lies above and faces down, and 0 otherwise. */
static int triangle_crossing(const Vec3 corners[3], Vec3 p) {
  Vec3 a = corners[0], b = corners[1], c = corners[2];
  bool left = is_left_of(a, b, p);
  if (left != is_left_of(b, c, p) || left != is_left_of(c, a, p)) return 0;
  Vec3 n = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
  bool above = n.z != 0 ? vec3_dot(n, vec3_sub(a, p)) / n.z > 0 : a.z > p.z;
  return above ? (left ? 1 : -1) : 0;
}

static int node_winding(const SurfaceTree* tree, int node, Vec3 p) {
  Vec3 low = tree->low[node], high = tree->high[node];
  if (!(p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y && p.z <= high.z)) return 0;
  if (node < tree->leaves) return node_winding(tree, 2 * node, p) + node_winding(tree, 2 * node + 1, p);
  int sum = 0, leaf = node - tree->leaves;
  for (int t = first_triangle_of_leaf(tree, leaf); t < first_triangle_of_leaf(tree, leaf + 1); t++)
    sum += triangle_crossing(tree->corners[t], p);
  return sum;
}

int surface_tree_winding(const SurfaceTree* tree, Vec3 point) {
  return node_winding(tree, 1, mat3_mul_vec(tree->rotation, point));
}
