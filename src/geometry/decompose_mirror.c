#include "geometry/decompose_mirror.h"

#include <stdlib.h>
#include <string.h>

/* Points this near to a mirror image are it [unit size]. */
#define IMAGE_DISTANCE 1e-7

static Vec3 image(Vec3 p, int axis) {
  double x[3] = {p.x, p.y, p.z};
  x[axis] = -x[axis];
  return vec3(x[0], x[1], x[2]);
}

static double along(Vec3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

/* ---------------------------------------------------------------- is it symmetric? */

static int order_first(const void* a, const void* b) {
  const Vec3 *p = a, *q = b;
  return p->x < q->x ? -1 : p->x > q->x;
}

/* Sorted by x: the image is looked for among the points of nearly the same x. */
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
  Vec3* sorted = MEMORY_NEW(Vec3, part->point_count + 1);
  memcpy(sorted, part->points, sizeof(Vec3) * (size_t)part->point_count);
  qsort(sorted, (size_t)part->point_count, sizeof(Vec3), order_first);
  bool good = true;
  for (int i = 0; good && i < part->point_count; i++)
    good = has_image(sorted, part->point_count, image(part->points[i], axis));
  memory_free(sorted);
  return good;
}

/* ---------------------------------------------------------------- unfolding */

static Block block_image(const Block* block, int axis) {
  Block copy = block_copy(block);
  for (int i = 0; i < copy.hull.vertex_count; i++) copy.hull.vertices[i] = image(copy.hull.vertices[i], axis);
  for (int t = 0; t < copy.hull.triangle_count; t++) {
    int* corner = copy.hull.triangles[t];
    int kept = corner[1];
    corner[1] = corner[2], corner[2] = kept;
  }
  for (int i = 0; i < copy.estimate.count; i++) copy.estimate.points[i] = image(copy.estimate.points[i], axis);
  return copy;
}

/* The half is that of negative coordinates. */
static bool touches(const Block* block, int axis) {
  double most = -HUGE_VAL;
  for (int i = 0; i < block->hull.vertex_count; i++) most = fmax(most, along(block->hull.vertices[i], axis));
  return most > -TOUCH_DISTANCE;
}

void blocks_unfold(Blocks* blocks, int axis, double free_volume) {
  Block* items = MEMORY_NEW(Block, 2 * blocks->count + 1);
  int count = 0;
  for (int k = 0; k < blocks->count; k++) {
    Block copy = block_image(&blocks->items[k], axis);
    if (touches(&blocks->items[k], axis) && merge_cost(&blocks->items[k], &copy) <= free_volume) {
      items[count++] = block_join(&blocks->items[k], &copy);
      block_free(&blocks->items[k]);
      block_free(&copy);
    } else {
      items[count++] = blocks->items[k];
      items[count++] = copy;
    }
  }
  memory_free(blocks->items);
  *blocks = (Blocks){items, count};
}

/* ---------------------------------------------------------------- thinning alike */

static Vec3 image_of_image(Vec3 p, const bool mirror[3], int which) {
  for (int axis = 0; axis < 3; axis++)
    if (mirror[axis] && which >> axis & 1) p = image(p, axis);
  return p;
}

/* How far the image of a sticks out of b. */
static double image_outside(const ConvexHull* a, const ConvexHull* b, const bool mirror[3], int which) {
  double worst = -HUGE_VAL;
  for (int i = 0; i < a->vertex_count && worst <= IMAGE_DISTANCE; i++)
    worst = fmax(worst, hull_outside(b, image_of_image(a->vertices[i], mirror, which)));
  return worst;
}

static bool are_images(const ConvexHull* a, const ConvexHull* b, const bool mirror[3], int which) {
  return image_outside(a, b, mirror, which) <= IMAGE_DISTANCE && image_outside(b, a, mirror, which) <= IMAGE_DISTANCE;
}

/* All images of the points by the planes that map the hull to itself, as one hull. */
static HullResult hull_of_images(ConvexHull* out, const ConvexHull* hull, const bool own[3]) {
  Vec3* points = MEMORY_NEW(Vec3, 8 * hull->vertex_count);
  int count = 0;
  for (int which = 0; which < 8; which++) {
    bool wanted = true;
    for (int axis = 0; axis < 3; axis++) wanted &= own[axis] || !(which >> axis & 1);
    for (int i = 0; wanted && i < hull->vertex_count; i++)
      points[count++] = image_of_image(hull->vertices[i], own, which);
  }
  HullResult result = hull_create(out, points, count);
  memory_free(points);
  return result;
}

/* The box of the hull, cut by the planes that support it at the cube's edge and corner directions: at most 48 corners,
 * and symmetric where the hull is. */
static HullResult supported(ConvexHull* out, const ConvexHull* hull) {
  Part part = {0};
  ConvexHull box;
  HullResult result = primitive_box(&box, vec3(8, 8, 8));
  if (result != HULL_OK) return result;
  for (int i = 0; i < box.vertex_count; i++) part_add_point(&part, box.vertices[i]);
  for (int t = 0; t < box.triangle_count; t++)
    part_add_triangle(&part, box.triangles[t][0], box.triangles[t][1], box.triangles[t][2]);
  hull_free(&box);
  for (int k = 0; k < 27; k++) {
    if (k == 13) continue;
    Vec3 n = cube_direction(k);
    double offset = -HUGE_VAL;
    for (int i = 0; i < hull->vertex_count; i++) offset = fmax(offset, vec3_dot(n, hull->vertices[i]));
    Part cut = part_cut(&part, (Plane){n, offset}, PLANE_ROUNDING);
    part_free(&part);
    part = cut;
  }
  result = hull_create(out, part.points, part.point_count);
  part_free(&part);
  return result;
}

/* Take `from` when it is a smaller hull within the budget. */
static void take_smaller(ConvexHull* best, ConvexHull* from, HullResult result, int max_vertices) {
  bool good = result == HULL_OK && from->vertex_count <= max_vertices;
  if (good && (best->vertex_count == 0 || solid_volume(from) < solid_volume(best))) {
    hull_free(best);
    *best = *from;
  } else if (result == HULL_OK) {
    hull_free(from);
  }
}

static Part part_of(const ConvexHull* hull) {
  Part part = {0};
  for (int i = 0; i < hull->vertex_count; i++) part_add_point(&part, hull->vertices[i]);
  for (int t = 0; t < hull->triangle_count; t++)
    part_add_triangle(&part, hull->triangles[t][0], hull->triangles[t][1], hull->triangles[t][2]);
  return part;
}

/* What all images have in common: it holds the hull when each of them does. */
static HullResult common_to_images(ConvexHull* out, const ConvexHull* hull, const bool own[3]) {
  Part part = part_of(hull);
  for (int which = 1; which < 8; which++) {
    bool wanted = true;
    for (int axis = 0; axis < 3; axis++) wanted &= own[axis] || !(which >> axis & 1);
    for (int t = 0; wanted && t < hull->triangle_count && part.triangle_count > 0; t++) {
      Plane p = hull_plane(hull, t);
      if (!(vec3_dot(p.n, p.n) > 0)) continue;
      p.n = image_of_image(p.n, own, which);
      Part cut = part_cut(&part, p, PLANE_ROUNDING);
      part_free(&part);
      part = cut;
    }
  }
  HullResult result = hull_create(out, part.points, part.point_count);
  part_free(&part);
  return result;
}

/* The intersection of the images of a thinner and thinner hull, until it has few enough corners. */
static void try_intersections(ConvexHull* best, const ConvexHull* hull, const bool own[3], int max_vertices) {
  for (int tenths = 9; tenths >= 2; tenths--) {
    ConvexHull tried;
    Block copy = block_copy(&(Block){.hull = *hull});
    HullResult result = HULL_FAILED;
    if (max_vertices * tenths / 10 >= 8 && hull_outer(&copy.hull, max_vertices * tenths / 10) == HULL_OK)
      result = common_to_images(&tried, &copy.hull, own);
    block_free(&copy);
    bool fits = result == HULL_OK && tried.vertex_count <= max_vertices;
    take_smaller(best, &tried, result, max_vertices);
    if (fits) return;
  }
}

static HullResult thin_own_image(ConvexHull* hull, const bool own[3], int max_vertices) {
  ConvexHull best = {0}, tried;
  int fold = (own[0] ? 2 : 1) * (own[1] ? 2 : 1) * (own[2] ? 2 : 1);
  HullResult result = supported(&tried, hull);
  take_smaller(&best, &tried, result, max_vertices);
  Block copy = block_copy(&(Block){.hull = *hull});
  if (max_vertices / fold >= 8 && hull_outer(&copy.hull, max_vertices / fold) == HULL_OK) {
    result = hull_of_images(&tried, &copy.hull, own);
    take_smaller(&best, &tried, result, max_vertices);
  }
  block_free(&copy);
  try_intersections(&best, hull, own, max_vertices);
  /* With a small budget the box is left. */
  if (best.vertex_count == 0) {
    if (hull_outer(hull, 8) != HULL_OK) return HULL_FAILED;
    result = hull_of_images(&tried, hull, own);
    take_smaller(&best, &tried, result, max_vertices);
  }
  if (best.vertex_count == 0) return HULL_FAILED;
  hull_free(hull);
  *hull = best;
  return HULL_OK;
}

bool blocks_are_mirrored(const Blocks* blocks, const bool mirror[3]) {
  for (int axis = 0; axis < 3; axis++)
    for (int k = 0; mirror[axis] && k < blocks->count; k++) {
      bool found = false;
      for (int h = 0; h < blocks->count && !found; h++)
        found = are_images(&blocks->items[k].hull, &blocks->items[h].hull, mirror, 1 << axis);
      if (!found) return false;
    }
  return true;
}

MirrorGroups mirror_groups(const Blocks* blocks, const bool mirror[3]) {
  MirrorGroups g = {MEMORY_NEW(int, blocks->count + 1), MEMORY_NEW(int, blocks->count + 1),
                    memory_alloc(sizeof *g.own * (size_t)(blocks->count + 1))};
  for (int k = 0; k < blocks->count; k++) {
    const ConvexHull* hull = &blocks->items[k].hull;
    g.first[k] = k;
    for (int axis = 0; axis < 3; axis++) g.own[k][axis] = mirror[axis] && are_images(hull, hull, mirror, 1 << axis);
    for (int h = 0; h < k && g.first[k] == k; h++)
      for (int which = 1; which < 8 && g.first[k] == k; which++)
        if (g.first[h] == h && are_images(&blocks->items[h].hull, hull, mirror, which)) g.first[k] = h, g.by[k] = which;
  }
  return g;
}

void mirror_groups_free(MirrorGroups* groups) {
  memory_free(groups->first);
  memory_free(groups->by);
  memory_free(groups->own);
}

static HullResult copy_image(ConvexHull* hull, const Block* first, const bool mirror[3], int by) {
  Block copy = block_copy(first);
  for (int i = 0; i < copy.hull.vertex_count; i++)
    copy.hull.vertices[i] = image_of_image(copy.hull.vertices[i], mirror, by);
  hull_free(hull);
  HullResult result = hull_create(hull, copy.hull.vertices, copy.hull.vertex_count);
  block_free(&copy);
  return result;
}

/* With the corners that it got for overlap on one side on all sides. */
static HullResult thin_first(ConvexHull* hull, const bool own[3], int max_vertices) {
  if (!own[0] && !own[1] && !own[2]) return hull_outer(hull, max_vertices);
  ConvexHull whole;
  HullResult result = hull_of_images(&whole, hull, own);
  if (result != HULL_OK) return result;
  hull_free(hull);
  *hull = whole;
  return hull->vertex_count > max_vertices ? thin_own_image(hull, own, max_vertices) : HULL_OK;
}

HullResult blocks_thin_mirrored(Blocks* blocks, const MirrorGroups* groups, const bool mirror[3], int max_vertices) {
  HullResult result = HULL_OK;
  for (int k = 0; k < blocks->count && result == HULL_OK; k++) {
    ConvexHull* hull = &blocks->items[k].hull;
    int first = groups->first[k];
    result = first == k ? thin_first(hull, groups->own[k], max_vertices)
                        : copy_image(hull, &blocks->items[first], mirror, groups->by[k]);
  }
  return result;
}
