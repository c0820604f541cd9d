#include "decompose/mirror.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A point is the mirror image of another if it lies at most this far from the exact reflection [unit size]. */
#define IMAGE_DISTANCE 1e-7

static int plane_bits(const bool planes[3]) { return (planes[0] ? 1 : 0) | (planes[1] ? 2 : 0) | (planes[2] ? 4 : 0); }

Vec3 vec3_mirrored(Vec3 p, int image_planes) {
  assert(image_planes >= 0 && image_planes < 8);
  return vec3(image_planes & 1 ? -p.x : p.x, image_planes & 2 ? -p.y : p.y, image_planes & 4 ? -p.z : p.z);
}

static int order_first(const void* a, const void* b) {
  const Vec3 *p = a, *q = b;
  return p->x < q->x ? -1 : p->x > q->x;
}

/* Returns true if a point of sorted[count], which is sorted by x, lies within IMAGE_DISTANCE of p. */
static bool has_image(const Vec3* sorted, int count, Vec3 p) {
  int low = 0, high = count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle].x < p.x - IMAGE_DISTANCE)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < count && sorted[low].x <= p.x + IMAGE_DISTANCE; low++)
    if (vec3_norm(vec3_sub(sorted[low], p)) <= IMAGE_DISTANCE) return true;
  return false;
}

bool part_is_mirrored(const Part* part, int axis) {
  assert(axis >= 0 && axis < 3);
  Vec3* sorted = MEMORY_NEW(Vec3, part->point_count + 1);
  memcpy(sorted, part->points, sizeof(Vec3) * (size_t)part->point_count);
  qsort(sorted, (size_t)part->point_count, sizeof(Vec3), order_first);
  bool good = true;
  for (int i = 0; good && i < part->point_count; i++)
    good = has_image(sorted, part->point_count, vec3_mirrored(part->points[i], 1 << axis));
  memory_free(sorted);
  return good;
}

Block block_image(const Block* block, int image_planes) {
  assert(image_planes >= 0 && image_planes < 8);
  Block copy = block_copy(block);
  bool turned = (image_planes & 1) ^ (image_planes >> 1 & 1) ^ (image_planes >> 2 & 1);
  for (int i = 0; i < copy.hull.vertex_count; i++)
    copy.hull.vertices[i] = vec3_mirrored(copy.hull.vertices[i], image_planes);
  for (int t = 0; turned && t < copy.hull.triangle_count; t++) {
    int* corner = copy.hull.triangles[t];
    int kept = corner[1];
    corner[1] = corner[2], corner[2] = kept;
  }
  for (int i = 0; i < copy.estimate.count; i++)
    copy.estimate.points[i] = vec3_mirrored(copy.estimate.points[i], image_planes);
  return copy;
}

int mirror_image(const MirrorImages* images, int block, int image_planes) {
  assert(!(image_planes & ~images->planes));
  for (int axis = 0; axis < 3; axis++)
    if (image_planes >> axis & 1) block = images->of[axis][block];
  return block;
}

MirrorImages blocks_add_images(Blocks* blocks, const bool mirror[3]) {
  MirrorImages images = {0};
  int first = blocks->count, count = 0;
  Block* items = MEMORY_NEW(Block, 8 * first + 1);
  for (int image_planes = 0; image_planes < 8; image_planes++) {
    bool wanted = true;
    for (int axis = 0; axis < 3; axis++) wanted &= mirror[axis] || !(image_planes >> axis & 1);
    for (int k = 0; wanted && k < first; k++) items[count++] = block_image(&blocks->items[k], image_planes);
  }
  blocks_free(blocks);
  *blocks = (Blocks){items, count};
  for (int axis = 0, step = first; axis < 3; axis++) {
    if (!mirror[axis]) continue;
    images.planes |= 1 << axis;
    images.of[axis] = MEMORY_NEW(int, count + 1);
    for (int k = 0; k < count; k++) images.of[axis][k] = k / step % 2 == 0 ? k + step : k - step;
    step *= 2;
  }
  return images;
}

void mirror_images_free(MirrorImages* images) {
  for (int axis = 0; axis < 3; axis++) memory_free(images->of[axis]);
  *images = (MirrorImages){0};
}

/* Returns the distance by which the mirror image of a extends outside b. Stops at the first distance above
 * IMAGE_DISTANCE. */
static double image_outside(const ConvexHull* a, const ConvexHull* b, int image_planes) {
  double worst = -HUGE_VAL;
  for (int i = 0; i < a->vertex_count && worst <= IMAGE_DISTANCE; i++)
    worst = fmax(worst, hull_outside(b, vec3_mirrored(a->vertices[i], image_planes)));
  return worst;
}

static bool are_images(const ConvexHull* a, const ConvexHull* b, int image_planes) {
  return image_outside(a, b, image_planes) <= IMAGE_DISTANCE && image_outside(b, a, image_planes) <= IMAGE_DISTANCE;
}

/* Computes the convex hull of the points of a hull and of their mirror images in the planes normal to every axis with
 * symmetric[axis] true. */
static HullResult hull_of_images(ConvexHull* out, const ConvexHull* hull, const bool symmetric[3]) {
  Vec3* points = MEMORY_NEW(Vec3, 8 * hull->vertex_count);
  int count = 0;
  for (int image_planes = 0; image_planes < 8; image_planes++) {
    bool wanted = true;
    for (int axis = 0; axis < 3; axis++) wanted &= symmetric[axis] || !(image_planes >> axis & 1);
    for (int i = 0; wanted && i < hull->vertex_count; i++)
      points[count++] = vec3_mirrored(hull->vertices[i], image_planes);
  }
  HullResult result = hull_create(out, points, count);
  memory_free(points);
  return result;
}

bool blocks_are_mirrored(const Blocks* blocks, const bool mirror[3]) {
  for (int axis = 0; axis < 3; axis++)
    for (int k = 0; mirror[axis] && k < blocks->count; k++) {
      bool found = false;
      for (int h = 0; h < blocks->count && !found; h++)
        found = are_images(&blocks->items[k].hull, &blocks->items[h].hull, 1 << axis);
      if (!found) return false;
    }
  return true;
}

MirrorGroups mirror_groups(const Blocks* blocks, const bool mirror[3]) {
  MirrorGroups g = {MEMORY_NEW(int, blocks->count + 1), MEMORY_NEW(int, blocks->count + 1),
                    memory_alloc(sizeof *g.symmetric * (size_t)(blocks->count + 1))};
  int planes = plane_bits(mirror);
  for (int k = 0; k < blocks->count; k++) {
    const ConvexHull* hull = &blocks->items[k].hull;
    g.first[k] = k;
    for (int axis = 0; axis < 3; axis++) g.symmetric[k][axis] = mirror[axis] && are_images(hull, hull, 1 << axis);
    for (int h = 0; h < k && g.first[k] == k; h++)
      for (int image_planes = 1; image_planes < 8 && g.first[k] == k; image_planes++)
        if (!(image_planes & ~planes) && g.first[h] == h && are_images(&blocks->items[h].hull, hull, image_planes))
          g.first[k] = h, g.by[k] = image_planes;
  }
  return g;
}

void mirror_groups_free(MirrorGroups* groups) {
  memory_free(groups->first);
  memory_free(groups->by);
  memory_free(groups->symmetric);
}

static HullResult copy_image(ConvexHull* hull, const Block* first, int by) {
  Block copy = block_image(first, by);
  hull_free(hull);
  HullResult result = hull_create(hull, copy.hull.vertices, copy.hull.vertex_count);
  block_free(&copy);
  return result;
}

/* Makes a block symmetric in the planes normal to every axis with symmetric[axis] true, after a corner was added on one
 * side. */
static HullResult make_symmetric(Block* block, const bool symmetric[3]) {
  if (!symmetric[0] && !symmetric[1] && !symmetric[2]) return HULL_OK;
  ConvexHull whole;
  HullResult result = hull_of_images(&whole, &block->hull, symmetric);
  if (result != HULL_OK) return result;
  hull_free(&block->hull);
  block->hull = whole;
  return HULL_OK;
}

HullResult blocks_reduce_vertices(Blocks* blocks, const MirrorGroups* groups, int max_vertices) {
  HullResult result = HULL_OK;
  for (int k = 0; k < blocks->count && result == HULL_OK; k++)
    result = make_symmetric(&blocks->items[k], groups->symmetric[k]);
  for (int k = 0; k < blocks->count && result == HULL_OK; k++) {
    if (groups->first[k] != k) continue;
    NeighbourFaces near = neighbours_create(blocks, k);
    result = hull_outer_mirrored(&blocks->items[k].hull, plane_bits(groups->symmetric[k]), max_vertices, &near);
    neighbours_free(&near);
  }
  for (int k = 0; k < blocks->count && result == HULL_OK; k++)
    if (groups->first[k] != k)
      result = copy_image(&blocks->items[k].hull, &blocks->items[groups->first[k]], groups->by[k]);
  return result;
}
