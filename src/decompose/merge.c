/* Convex hulls of pieces (blocks), and merging of neighbouring blocks whose union is nearly convex. */
#include <assert.h>
#include <string.h>

#include "decompose/blocks.h"

/* A triangle is degenerate if its ratio of height to longest side is below this value. Its normal is dominated by
 * rounding errors, and the planes of adjacent triangles bound the hull. */
#define ASPECT_MIN 1e-6

CutPlane hull_plane(const ConvexHull* hull, int triangle) {
  const int* t = hull->triangles[triangle];
  Vec3 a = hull->vertices[t[0]];
  Vec3 n = vec3_cross(vec3_sub(hull->vertices[t[1]], a), vec3_sub(hull->vertices[t[2]], a));
  double length = vec3_norm(n), longest = 0;
  for (int k = 0; k < 3; k++)
    longest = fmax(longest, vec3_norm(vec3_sub(hull->vertices[t[k]], hull->vertices[t[(k + 1) % 3]])));
  if (!(length > ASPECT_MIN * longest * longest)) return (CutPlane){{0, 0, 0}, 0};
  n = vec3_scale(n, 1.0 / length);
  return (CutPlane){n, vec3_dot(n, a)};
}

double hull_outside(const ConvexHull* hull, Vec3 point) {
  double most = -HUGE_VAL;
  for (int t = 0; t < hull->triangle_count; t++) {
    CutPlane p = hull_plane(hull, t);
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

Part part_of_hull(const ConvexHull* hull) {
  Part part = {0};
  for (int i = 0; i < hull->vertex_count; i++) part_add_point(&part, hull->vertices[i]);
  for (int t = 0; t < hull->triangle_count; t++)
    part_add_triangle(&part, hull->triangles[t][0], hull->triangles[t][1], hull->triangles[t][2]);
  return part;
}

/* ---------------------------------------------------------------- blocks */

Block block_create(const Vec3* points, int count) {
  assert(count >= 1);
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
  const Block* both[2] = {a, b};
  return block_join_all(both, 2);
}

Block block_join_all(const Block* const* blocks, int count) {
  assert(count >= 1);
  int total = 0;
  for (int k = 0; k < count; k++) total += blocks[k]->hull.vertex_count;
  Vec3* points = MEMORY_NEW(Vec3, total + 1);
  total = 0;
  for (int k = 0; k < count; k++) {
    const ConvexHull* hull = &blocks[k]->hull;
    memcpy(points + total, hull->vertices, sizeof(Vec3) * (size_t)hull->vertex_count);
    total += hull->vertex_count;
  }
  Block joined = block_create(points, total);
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

double block_nearest_points(const Block* a, const Block* b, Vec3* on_a, Vec3* on_b) {
  PointView va = point_view_create(a->hull.vertices, a->hull.vertex_count);
  PointView vb = point_view_create(b->hull.vertices, b->hull.vertex_count);
  GjkResult found = gjk_distance(va, pose_identity(), vb, pose_identity(), NULL);
  *on_a = found.witness_a;
  *on_b = found.witness_b;
  point_view_free(&va);
  point_view_free(&vb);
  return found.distance;
}

double block_distance(const Block* a, const Block* b) {
  Vec3 on_a, on_b;
  return block_nearest_points(a, b, &on_a, &on_b);
}

/* ---------------------------------------------------------------- merging */

static bool contains(const int* list, int count, int value) {
  for (int k = 0; k < count; k++)
    if (list[k] == value) return true;
  return false;
}

/* The volume common to two overlapping hulls is computed only if neither has more faces than this. */
#define FACES_CUT 80

/* Returns the common volume of two hulls [unit size^3], or 0 if a hull has more than FACES_CUT faces. The added volume
 * of a merge is then underestimated. */
static double common_volume(const Block* a, const Block* b) {
  if (a->hull.triangle_count > FACES_CUT || b->hull.triangle_count > FACES_CUT) return 0;
  Part part = part_of_hull(&a->hull);
  for (int t = 0; t < b->hull.triangle_count && part.triangle_count > 0; t++) {
    CutPlane plane = hull_plane(&b->hull, t);
    if (!(vec3_dot(plane.n, plane.n) > 0)) continue;
    Part cut = part_cut(&part, plane, PLANE_ROUNDING);
    part_free(&part);
    part = cut;
  }
  double volume = part_volume(&part);
  part_free(&part);
  return fmax(volume, 0);
}

/* Returns the volume that the convex hull of the union of the blocks members[count] adds [unit size^3]. Overlaps of two
 * blocks count once. */
static double added_volume(const Blocks* blocks, const int* members, int count) {
  Vec3 points[IMAGES_MAX * ESTIMATE_POINTS];
  int total = 0;
  double parts = 0;
  for (int i = 0; i < count; i++) {
    const Block* a = &blocks->items[members[i]];
    memcpy(points + total, a->estimate.points, sizeof(Vec3) * (size_t)a->estimate.count);
    total += a->estimate.count;
    parts += a->estimate.volume;
    for (int j = 0; j < i; j++) parts -= common_volume(a, &blocks->items[members[j]]);
  }
  return hull_estimate(points, total).volume - parts;
}

/* A merge of a pair of blocks and of all mirror images of the pair. */
typedef struct {
  double added; /* total added volume; infinite if the blocks do not touch or if a mirror image of the pair has a
                   smaller index */
  int removed;  /* number of removed blocks */
} Merge;

typedef struct {
  Blocks* blocks; /* blocks indexed by slot; a block that is merged into another leaves its slot empty */
  MirrorImages images;
  bool* is_removed;
  int remaining;
  Merge* merges; /* possible merges of the blocks in slots i and j, at [i * stride + j] (size: stride x stride) */
  int stride;
  int* slot; /* slot of the merged block that contains each original block */
} MergeTable;

/* Sets members to the blocks that are merged with `a` when the pair (a, b) and its mirror images are merged, and
 * returns their number. Sets *images to the number of resulting blocks, with mirror images. */
static int find_members(const MergeTable* table, int a, int b, int members[IMAGES_MAX], int* images) {
  assert(a != b);
  int ends[8][2], edges = 0, count = 1, all[IMAGES_MAX], total = 0;
  for (int which = 0; which < 8; which++) {
    if (which & ~table->images.planes) continue;
    ends[edges][0] = mirror_image(&table->images, a, which);
    ends[edges++][1] = mirror_image(&table->images, b, which);
  }
  members[0] = a;
  for (int round = 0; round < edges; round++)
    for (int k = 0; k < edges; k++)
      for (int end = 0; end < 2; end++)
        if (contains(members, count, ends[k][end]) && !contains(members, count, ends[k][1 - end]))
          members[count++] = ends[k][1 - end];
  for (int k = 0; k < 2 * edges; k++)
    if (!contains(all, total, ends[k / 2][k % 2])) all[total++] = ends[k / 2][k % 2];
  *images = total / count;
  return count;
}

/* Returns true if the pair (a, b) comes before all its mirror images in the order of indices. */
static bool is_first_image(const MergeTable* table, int a, int b) {
  for (int which = 1; which < 8; which++) {
    if (which & ~table->images.planes) continue;
    int c = mirror_image(&table->images, a, which), d = mirror_image(&table->images, b, which);
    int low = c < d ? c : d, high = c < d ? d : c;
    if (low < a || (low == a && high < b)) return false;
  }
  return true;
}

static void compute_merge_cost(MergeTable* table, int i, int j) {
  int a = i < j ? i : j, b = i < j ? j : i, members[IMAGES_MAX], images;
  Merge* move = &table->merges[a * table->stride + b];
  *move = (Merge){HUGE_VAL, 1};
  const Block *p = &table->blocks->items[a], *q = &table->blocks->items[b];
  if (!is_first_image(table, a, b)) return;
  if (!p->flat && !q->flat && block_distance(p, q) > TOUCH_DISTANCE) return;
  int count = find_members(table, a, b, members, &images);
  *move = (Merge){images * added_volume(table->blocks, members, count), images * (count - 1)};
}

/* Finds the merge with the least added volume per removed block; merges of flat blocks come first. Returns false if
 * there is none. */
static bool find_best_merge(const MergeTable* table, int count, int* first, int* second) {
  double best = HUGE_VAL;
  bool flat_found = false;
  int needed = table->remaining > count ? table->remaining - count : 1;
  for (int i = 0; i < table->stride; i++)
    for (int j = i + 1; j < table->stride; j++) {
      if (table->is_removed[i] || table->is_removed[j]) continue;
      const Merge* move = &table->merges[i * table->stride + j];
      double cost = move->added / (move->removed < needed ? move->removed : needed);
      bool flat = table->blocks->items[i].flat || table->blocks->items[j].flat;
      if (flat_found && !flat) continue;
      if (!(cost < best) && !(flat && !flat_found && isfinite(cost))) continue;
      best = cost, flat_found = flat, *first = i, *second = j;
    }
  return isfinite(best);
}

static Block join_members(const Blocks* blocks, const int* members, int count) {
  assert(count >= 1 && count <= IMAGES_MAX);
  const Block* all[IMAGES_MAX] = {NULL};
  for (int k = 0; k < count; k++) all[k] = &blocks->items[members[k]];
  return block_join_all(all, count);
}

/* Merges the pair (a, b) and its mirror images. The slot of its first member stores a merged block. The other merged
 * blocks are mirror images of the first. */
static void merge_pair(MergeTable* table, int a, int b) {
  assert(a != b);
  int members[IMAGES_MAX], images, moved[IMAGES_MAX], moved_count = 0;
  int count = find_members(table, a, b, members, &images);
  Block joined = join_members(table->blocks, members, count);
  int* into = MEMORY_NEW(int, table->stride);
  for (int k = 0; k < table->stride; k++) into[k] = k;
  for (int which = 0; which < 8; which++) {
    if (which & ~table->images.planes) continue;
    int slot = table->stride;
    for (int k = 0; k < count; k++) {
      int image = mirror_image(&table->images, members[k], which);
      slot = image < slot ? image : slot;
    }
    if (contains(moved, moved_count, slot)) continue;
    moved[moved_count++] = slot;
    for (int k = 0; k < count; k++) {
      int image = mirror_image(&table->images, members[k], which);
      block_free(&table->blocks->items[image]);
      table->is_removed[image] = image != slot;
      into[image] = slot;
    }
    table->blocks->items[slot] = block_image(&joined, which);
  }
  block_free(&joined);
  table->remaining -= images * (count - 1);
  for (int axis = 0; axis < 3; axis++)
    for (int k = 0; table->images.of[axis] && k < table->stride; k++)
      table->images.of[axis][k] = into[table->images.of[axis][k]];
  for (int k = 0; k < table->stride; k++) table->slot[k] = into[table->slot[k]];
  memory_free(into);
  for (int k = 0; k < moved_count; k++)
    for (int i = 0; i < table->stride; i++)
      if (i != moved[k] && !table->is_removed[i]) compute_merge_cost(table, moved[k], i);
}

static void remove_empty_slots(MergeTable* table) {
  Blocks* blocks = table->blocks;
  int kept = 0;
  for (int k = 0; k < table->stride; k++)
    if (!table->is_removed[k]) blocks->items[kept++] = blocks->items[k];
  blocks->count = kept;
}

static MirrorImages images_copy(const MirrorImages* images, int count) {
  MirrorImages copy = {.planes = images->planes};
  for (int axis = 0; axis < 3; axis++) {
    if (!images->of[axis]) continue;
    copy.of[axis] = MEMORY_NEW(int, count + 1);
    memcpy(copy.of[axis], images->of[axis], sizeof(int) * (size_t)count);
  }
  return copy;
}

double blocks_merge(Blocks* blocks, const MirrorImages* images, int count, double free_volume, int* slot) {
  assert(count >= 0);
  int n = blocks->count;
  MergeTable table = {
      blocks, images_copy(images, n), MEMORY_NEW(bool, n + 1), n, MEMORY_NEW(Merge, (size_t)n * (size_t)n + 1), n,
      slot};
  double added = 0;
  for (int k = 0; k < n; k++) slot[k] = k;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) compute_merge_cost(&table, i, j);
  for (int i = 0, j = 0; table.remaining > 1 && find_best_merge(&table, count, &i, &j);) {
    bool flat = blocks->items[i].flat || blocks->items[j].flat;
    double price = table.merges[i * n + j].added;
    if (!flat && table.remaining <= count && price > free_volume) break;
    if (price > 0) added += price;
    merge_pair(&table, i, j);
  }
  remove_empty_slots(&table);
  mirror_images_free(&table.images);
  memory_free(table.merges);
  memory_free(table.is_removed);
  return added;
}
