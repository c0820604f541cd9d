/* Shrinks hulls until they lie inside the solid (docs/decompose.md). A convex hull with a point inside the solid lies
 * inside the solid if no triangle of the surface enters the hull's interior. A triangle that enters the hull is
 * excluded by cutting the hull with the triangle's plane. The planes of the deepest triangles are tried, and the plane
 * that keeps the most volume is used. Cutting ends when no triangle enters. */
#include <stdlib.h>
#include <string.h>

#include "decompose/inside.h"
#include "decompose/mesh_repair.h"

/* A triangle of the surface enters a hull if its depth is larger than this [unit size]. */
#define REACH 1e-9
/* CANDIDATES: planes tried for one cut. TANGENT_CUTS: largest number of cuts of a hull by planes of the surface.
 * CUTS_MAX: largest number of all cuts of a hull. */
enum { CANDIDATES = 6, TANGENT_CUTS = 600, CUTS_MAX = 2000 };
/* Hulls with a smaller volume are removed [volume of the solid]. */
#define LEAST_VOLUME 1e-9
/* A new corner is first placed at this fraction of the distance into the neighbour. The fraction is halved at most
 * CORNER_HALVINGS times. */
#define CORNER_SHARE 0.2
enum { CORNER_HALVINGS = 10 };
/* Two hulls overlap if a ball of at least this radius lies inside both hulls [unit size]. */
#define LEAST_OVERLAP 1e-5
/* The winding number is evaluated at this distance outside a triangle [unit size]. The winding number is not evaluated
 * if the solid has more than INNER_TRIANGLES triangles. */
#define JUST_OUTSIDE 1e-7
enum { INNER_TRIANGLES = 20000 };
/* Wider gaps between hulls are not bridged [unit size]. */
#define WIDEST_GAP 0.3
/* Number of vertices below the limit that are kept free for corners that overlap the neighbours. */
enum { SPARE_CORNERS = 12 };

/* ---------------------------------------------------------------- depth of a triangle in a hull */

typedef struct {
  CutPlane* planes;
  int count;
} PlaneList;

static PlaneList planes_of(const ConvexHull* hull) {
  PlaneList list = {MEMORY_NEW(CutPlane, hull->triangle_count + 1), 0};
  for (int t = 0; t < hull->triangle_count; t++) {
    CutPlane p = hull_plane(hull, t);
    if (vec3_dot(p.n, p.n) > 0) list.planes[list.count++] = p;
  }
  return list;
}

static double height(CutPlane plane, Vec3 p) { return vec3_dot(plane.n, p) - plane.offset; }

/* Clips a polygon (count) to the half-space below the plane, by the algorithm of Sutherland and Hodgman. Sets out to
 * the clipped polygon. Returns its number of points. */
static int clip(const Vec3* in, int count, CutPlane plane, Vec3* out) {
  int kept = 0;
  for (int i = 0; i < count; i++) {
    Vec3 a = in[i], b = in[(i + 1) % count];
    double ha = height(plane, a), hb = height(plane, b);
    if (ha <= 0) out[kept++] = a;
    if ((ha < 0 && hb > 0) || (ha > 0 && hb < 0)) out[kept++] = vec3_add_scaled(a, ha / (ha - hb), vec3_sub(b, a));
  }
  return kept;
}

/* Largest depth of a triangle inside a hull, and the plane of the hull nearest to the deepest point. */
typedef struct {
  double depth; /* at most 0 if the triangle does not enter the hull */
  int plane;
} OutsideReach;

/* Returns the largest depth of a triangle below the planes of a hull. Clips the triangle to the hull and evaluates the
 * depth at the corners of the clipped polygon and at their mean. room: memory for two polygons. */
static OutsideReach reach_in(const PlaneList* hull, const Vec3 corner[3], Vec3* room) {
  Vec3 *now = room, *next = room + hull->count + 4;
  int count = 3;
  memcpy(now, corner, 3 * sizeof *corner);
  for (int k = 0; k < hull->count && count > 0; k++) {
    bool cut = false;
    for (int i = 0; i < count && !cut; i++) cut = height(hull->planes[k], now[i]) > 0;
    if (!cut) continue;
    count = clip(now, count, hull->planes[k], next);
    Vec3* swap = now;
    now = next, next = swap;
  }
  OutsideReach reach = {0, 0};
  if (count < 3) return reach;
  Vec3 mean = now[0];
  for (int i = 1; i < count; i++) mean = vec3_add(mean, now[i]);
  now[count] = vec3_scale(mean, 1.0 / count);
  for (int i = 0; i <= count; i++) {
    OutsideReach at = {HUGE_VAL, 0};
    for (int k = 0; k < hull->count && at.depth > reach.depth; k++)
      if (-height(hull->planes[k], now[i]) < at.depth) at = (OutsideReach){-height(hull->planes[k], now[i]), k};
    if (at.depth > reach.depth) reach = at;
  }
  return reach;
}

/* ---------------------------------------------------------------- the surface near a hull */

typedef struct {
  const Part* part;
  bool* inner; /* for each triangle: true if it lies inside another body of the part. NULL if no triangle does */
} Solid;

typedef struct {
  const Part* solid;
  int* triangles;
  double* depths; /* upper bounds of the depths of the triangles; cutting the hull only reduces the depths */
  int* cuts;      /* for each triangle: number of cuts after which its depth was measured */
  int count;
} Near;

static void corners_of(const Part* solid, int triangle, Vec3 corner[3]) {
  for (int k = 0; k < 3; k++) corner[k] = solid->points[solid->triangles[triangle][k]];
}

static Near near_create(const Solid* s, const ConvexHull* hull) {
  const Part* solid = s->part;
  Near near = {solid, MEMORY_NEW(int, solid->triangle_count + 1), MEMORY_NEW(double, solid->triangle_count + 1),
               MEMORY_NEW(int, solid->triangle_count + 1), 0};
  Vec3 low = hull->vertices[0], high = low;
  for (int i = 1; i < hull->vertex_count; i++)
    low = vec3_min(low, hull->vertices[i]), high = vec3_max(high, hull->vertices[i]);
  for (int t = 0; t < solid->triangle_count; t++) {
    Vec3 c[3];
    if (s->inner && s->inner[t]) continue;
    corners_of(solid, t, c);
    Vec3 a = vec3_min(c[0], vec3_min(c[1], c[2])), b = vec3_max(c[0], vec3_max(c[1], c[2]));
    if (a.x < high.x && a.y < high.y && a.z < high.z && b.x > low.x && b.y > low.y && b.z > low.z)
      near.triangles[near.count++] = t;
  }
  return near;
}

static void near_free(Near* near) {
  memory_free(near->triangles);
  memory_free(near->depths);
  memory_free(near->cuts);
}

static OutsideReach near_reach(const Near* near, int k, const PlaneList* planes, Vec3* room) {
  Vec3 corner[3];
  corners_of(near->solid, near->triangles[k], corner);
  return reach_in(planes, corner, room);
}

/* Removes the triangles that do not enter the hull from the list. */
static void keep_reaching(Near* near, const ConvexHull* hull) {
  PlaneList planes = planes_of(hull);
  Vec3* room = MEMORY_NEW(Vec3, 2 * planes.count + 8);
  int kept = 0;
  for (int k = 0; k < near->count; k++) {
    double depth = near_reach(near, k, &planes, room).depth;
    if (depth <= REACH) continue;
    near->triangles[kept] = near->triangles[k];
    near->depths[kept++] = depth;
  }
  near->count = kept;
  memory_free(room);
  memory_free(planes.planes);
}

static bool reached_by(const Solid* solid, const ConvexHull* hull) {
  Near near = near_create(solid, hull);
  keep_reaching(&near, hull);
  bool reached = near.count > 0;
  near_free(&near);
  return reached;
}

/* ---------------------------------------------------------------- cutting off */

static CutPlane plane_of(const Part* solid, int triangle) {
  Vec3 c[3];
  corners_of(solid, triangle, c);
  Vec3 n = vec3_cross(vec3_sub(c[1], c[0]), vec3_sub(c[2], c[0]));
  double length = vec3_norm(n);
  if (!(length > 0)) return (CutPlane){vec3(0, 0, 0), 0};
  n = vec3_scale(n, 1 / length);
  return (CutPlane){n, fmin(vec3_dot(n, c[0]), fmin(vec3_dot(n, c[1]), vec3_dot(n, c[2])))};
}

static CutPlane plane_image(CutPlane plane, int which) {
  return (CutPlane){vec3_mirrored(plane.n, which), plane.offset};
}

/* Cuts the hull by the plane and by the mirror images of the plane in the mirror planes `own` (bit = axis). */
static Part cut_images(const ConvexHull* hull, CutPlane plane, int own) {
  Part part = part_of_hull(hull);
  for (int which = 0; which < 8; which++) {
    if (which & ~own) continue;
    Part cut = part_cut(&part, plane_image(plane, which), PLANE_ROUNDING);
    part_free(&part);
    part = cut;
  }
  return part;
}

/* Selects the triangles with the largest depths. Sets chosen to their positions in the list, sorted by decreasing
 * depth, on ties in the order of the surface. Returns the number of selected triangles. */
static int deepest_of(const Near* near, int chosen[CANDIDATES]) {
  int count = 0;
  for (int k = 0; k < near->count; k++) {
    int place = count < CANDIDATES ? count++ : CANDIDATES;
    while (place > 0 && near->depths[chosen[place - 1]] < near->depths[k]) {
      if (place < CANDIDATES) chosen[place] = chosen[place - 1];
      place--;
    }
    if (place < CANDIDATES) chosen[place] = k;
  }
  return count;
}

/* Selects the deepest triangles by exact depths after `cuts` cuts. Outdated depths are measured until all selected
 * depths are exact. Returns the number of selected triangles that enter the hull. */
static int deepest_now(Near* near, const ConvexHull* hull, int cuts, int chosen[CANDIDATES]) {
  PlaneList planes = planes_of(hull);
  Vec3* room = MEMORY_NEW(Vec3, 2 * planes.count + 8);
  int count = 0;
  for (bool exact = false; !exact;) {
    exact = true;
    count = deepest_of(near, chosen);
    for (int k = 0; k < count; k++) {
      if (near->cuts[chosen[k]] == cuts) continue;
      near->depths[chosen[k]] = near_reach(near, chosen[k], &planes, room).depth;
      near->cuts[chosen[k]] = cuts;
      exact = false;
    }
  }
  while (count > 0 && near->depths[chosen[count - 1]] <= REACH) count--;
  memory_free(room);
  memory_free(planes.planes);
  return count;
}

/* Returns the plane of the hull's face nearest to triangle k, moved inward until the plane excludes the triangle. Used
 * after many cuts, because a single moved face can exclude many small bumps of the surface. */
static CutPlane lowered_face(const Near* near, int k, const ConvexHull* hull) {
  PlaneList planes = planes_of(hull);
  Vec3* room = MEMORY_NEW(Vec3, 2 * planes.count + 8);
  OutsideReach reach = near_reach(near, k, &planes, room);
  CutPlane plane = planes.planes[reach.plane];
  plane.offset -= reach.depth;
  memory_free(room);
  memory_free(planes.planes);
  return plane;
}

/* Cuts the hull by the plane that keeps the most volume. The block becomes flat if the remaining volume is at most
 * `least`. lower: true to move faces of the hull inward instead of using planes of the surface. */
static void cut_once(Block* block, const Near* near, const int* chosen, int count, bool lower, int own, double least) {
  Part best = {0};
  double most = least;
  for (int k = 0; k < count; k++) {
    CutPlane plane =
        lower ? lowered_face(near, chosen[k], &block->hull) : plane_of(near->solid, near->triangles[chosen[k]]);
    if (!(vec3_dot(plane.n, plane.n) > 0)) continue;
    Part part = cut_images(&block->hull, plane, own);
    double volume = part.triangle_count > 0 ? part_volume(&part) : 0;
    bool better = volume > most;
    if (better) most = volume;
    part_free(better ? &best : &part);
    if (better) best = part;
  }
  Block left = {.flat = true};
  if (best.point_count > 3) left = block_create(best.points, best.point_count);
  part_free(&best);
  block_free(block);
  *block = left;
}

static void shrink(Block* block, const Solid* solid, int own, double least) {
  if (block->flat) return;
  Near near = near_create(solid, &block->hull);
  keep_reaching(&near, &block->hull);
  int chosen[CANDIDATES], count = deepest_now(&near, &block->hull, 0, chosen);
  for (int cut = 1; count > 0 && cut <= CUTS_MAX; cut++) {
    bool lower = cut > TANGENT_CUTS;
    cut_once(block, &near, chosen, lower ? 1 : count, lower, own, least);
    count = block->flat ? 0 : deepest_now(&near, &block->hull, cut, chosen);
  }
  if (count > 0) block->flat = true;
  near_free(&near);
}

/* ---------------------------------------------------------------- fewer vertices */

/* Returns a copy of the block whose hull is reduced to `wanted` corners. The mirror images of these corners are added.
 * own: mirror planes of the block (bit = axis). */
static Block with_images(const Block* block, int own, int wanted) {
  Block thinned = block_copy(block);
  double error;
  (void)hull_reduce(&thinned.hull, wanted, &error);
  int count = thinned.hull.vertex_count, total = 0;
  Vec3* corners = MEMORY_NEW(Vec3, 8 * count);
  for (int which = 0; which < 8; which++)
    for (int i = 0; i < count && !(which & ~own); i++)
      corners[total++] = vec3_mirrored(thinned.hull.vertices[i], which);
  block_free(&thinned);
  thinned = block_create(corners, total);
  memory_free(corners);
  return thinned;
}

static bool thin_to(Block* block, int own, int wanted, int most) {
  Block thinned = with_images(block, own, wanted);
  bool enough = !thinned.flat && thinned.hull.vertex_count <= most;
  block_free(enough ? block : &thinned);
  if (enough) *block = thinned;
  return enough;
}

/* Reduces a hull to at most `wished` vertices. Allows up to `most` vertices if `wished` vertices enclose no volume. The
 * result lies inside the old hull and stays symmetric. If the reduction fails, the block becomes flat and is later
 * removed. */
static void thin(Block* block, int own, int wished, int most) {
  if (block->flat || block->hull.vertex_count <= wished) return;
  for (int wanted = wished; wanted >= 4; wanted = wanted * 3 / 4)
    if (thin_to(block, own, wanted, wished)) return;
  for (int wanted = wished + 1; wanted <= most && block->hull.vertex_count > most; wanted++)
    if (thin_to(block, own, wanted, most)) return;
  block->flat = block->hull.vertex_count > most;
}

/* ---------------------------------------------------------------- all blocks */

typedef struct {
  Blocks* blocks;
  const Solid* solid;
  const MirrorGroups* groups;
  double least;
  int wished, max_vertices; /* number of vertices after thinning, which leaves room for new corners; largest number of
                               vertices */
} Shrinking;

static int own_planes(const MirrorGroups* groups, int block) {
  int own = 0;
  for (int axis = 0; axis < 3; axis++) own |= groups->own[block][axis] << axis;
  return own;
}

/* Shrinks block k into the solid. Thinning before shrinking reduces the number of cuts. */
static void shrink_block(void* context, int k, int thread) {
  (void)thread;
  const Shrinking* s = context;
  if (s->groups->first[k] != k) return;
  int own = own_planes(s->groups, k);
  thin(&s->blocks->items[k], own, s->wished, s->max_vertices);
  shrink(&s->blocks->items[k], s->solid, own, s->least);
  thin(&s->blocks->items[k], own, s->wished, s->max_vertices);
}

/* Replaces every block by the mirror image of the first block of its group. */
static void copy_images(Blocks* blocks, const MirrorGroups* groups) {
  for (int k = 0; k < blocks->count; k++) {
    const Block* first = &blocks->items[groups->first[k]];
    if (groups->first[k] == k) continue;
    block_free(&blocks->items[k]);
    blocks->items[k] = (Block){.flat = true};
    if (!first->flat) blocks->items[k] = block_image(first, groups->by[k]);
  }
}

/* ---------------------------------------------------------------- overlap within the solid */

/* Returns the block extended by a corner and by the mirror images of the corner. own: mirror planes of the block (bit =
 * axis). */
static Block with_corner(const Block* block, Vec3 corner, int own) {
  Vec3 corners[8];
  int count = 0;
  for (int which = 0; which < 8; which++)
    if (!(which & ~own)) corners[count++] = vec3_mirrored(corner, which);
  Block extra = {.hull = {.vertices = corners, .vertex_count = count}, .flat = true};
  return block_join(block, &extra);
}

/* Adds a new corner to block k and its mirror images to the mirror images of block k. */
static void grow_images(Blocks* blocks, const MirrorGroups* groups, int k, Vec3 corner) {
  for (int m = 0; m < blocks->count; m++) {
    if (groups->first[m] != groups->first[k]) continue;
    Block grown =
        with_corner(&blocks->items[m], vec3_mirrored(corner, groups->by[k] ^ groups->by[m]), own_planes(groups, m));
    block_free(&blocks->items[m]);
    blocks->items[m] = grown;
  }
}

static bool overlapping(const Block* a, const Block* b) {
  Vec3 center;
  double radius;
  return hulls_common_ball(&a->hull, &b->hull, &center, &radius) && radius > LEAST_OVERLAP;
}

/* Extends block k by a new corner inside block `neighbour`, as deep as the solid allows. from: start of the line to the
 * centre of the neighbour on which the corner is placed. Returns false if no position of the corner fits. */
static bool grow_into(const Shrinking* s, int k, int neighbour, Vec3 from, int max_vertices) {
  const Block *block = &s->blocks->items[k], *other = &s->blocks->items[neighbour];
  Vec3 way = vec3_sub(hull_box_center(&other->hull), from);
  double share = CORNER_SHARE;
  for (int i = 0; i < CORNER_HALVINGS; i++, share *= 0.5) {
    Vec3 corner = vec3_add_scaled(from, share, way);
    Block grown = with_corner(block, corner, own_planes(s->groups, k));
    bool fits = !grown.flat && grown.hull.vertex_count <= max_vertices && overlapping(&grown, other) &&
                !reached_by(s->solid, &grown.hull);
    block_free(&grown);
    if (!fits) continue;
    grow_images(s->blocks, s->groups, k, corner);
    return true;
  }
  return false;
}

/* Makes touching pairs of blocks overlap. */
static void overlap_touching(const Shrinking* s, int max_vertices) {
  for (int i = 0; i < s->blocks->count; i++)
    for (int j = i + 1; j < s->blocks->count; j++) {
      const Block *a = &s->blocks->items[i], *b = &s->blocks->items[j];
      Vec3 from;
      if (a->flat || b->flat || block_distance(a, b) > TOUCH_DISTANCE || overlapping(a, b)) continue;
      if (!hulls_find_shared_center(&a->hull, &b->hull, &from)) continue;
      if (!grow_into(s, i, j, from, max_vertices)) grow_into(s, j, i, from, max_vertices);
    }
}

typedef struct {
  double distance;
  int a, b;
} Gap;

static int order_gaps(const void* a, const void* b) {
  const Gap *p = a, *q = b;
  if (p->distance != q->distance) return p->distance < q->distance ? -1 : 1;
  return p->a != q->a ? (p->a > q->a) - (p->a < q->a) : (p->b > q->b) - (p->b < q->b);
}

/* Joins overlapping blocks in the union-find sets `piece`. Sets gaps to the other pairs, sorted by distance. Returns
 * the number of gaps. */
static int list_gaps(const Blocks* blocks, int* piece, Gap* gaps) {
  int count = 0;
  disjoint_sets_init(piece, blocks->count);
  for (int i = 0; i < blocks->count; i++)
    for (int j = i + 1; j < blocks->count; j++) {
      const Block *a = &blocks->items[i], *b = &blocks->items[j];
      if (a->flat || b->flat) continue;
      if (overlapping(a, b))
        disjoint_sets_unite(piece, i, j);
      else
        gaps[count++] = (Gap){block_distance(a, b), i, j};
    }
  qsort(gaps, (size_t)count, sizeof *gaps, order_gaps);
  return count;
}

/* Bridges gaps between hulls that cutting has separated. A hull is extended by a corner near the nearest point of the
 * other hull. Gaps are left open if the corner would leave the solid. */
static void bridge_gaps(const Shrinking* s, int max_vertices) {
  int count = s->blocks->count, *piece = MEMORY_NEW(int, count + 1);
  Gap* gaps = MEMORY_NEW(Gap, count * (count + 1) / 2 + 1);
  for (bool bridged = true; bridged;) {
    bridged = false;
    int gap_count = list_gaps(s->blocks, piece, gaps);
    for (int g = 0; g < gap_count && !bridged; g++) {
      int a = gaps[g].a, b = gaps[g].b;
      if (disjoint_sets_find(piece, a) == disjoint_sets_find(piece, b) || gaps[g].distance > WIDEST_GAP) continue;
      Vec3 on_a, on_b;
      block_nearest_points(&s->blocks->items[a], &s->blocks->items[b], &on_a, &on_b);
      bridged = grow_into(s, a, b, on_b, max_vertices) || grow_into(s, b, a, on_a, max_vertices);
    }
  }
  memory_free(piece);
  memory_free(gaps);
}

static void drop_flat(Blocks* blocks) {
  int kept = 0;
  for (int k = 0; k < blocks->count; k++) {
    if (blocks->items[k].flat)
      block_free(&blocks->items[k]);
    else
      blocks->items[kept++] = blocks->items[k];
  }
  blocks->count = kept;
}

/* Marks triangle t if it lies inside another body. Such a triangle does not bound the solid. */
static void mark_inner(void* context, int t, int thread) {
  (void)thread;
  Solid* s = context;
  Vec3 c[3], middle;
  corners_of(s->part, t, c);
  middle = vec3_scale(vec3_add(c[0], vec3_add(c[1], c[2])), 1.0 / 3);
  s->inner[t] = winding_number(s->part, vec3_add_scaled(middle, JUST_OUTSIDE, plane_of(s->part, t).n)) > 0.5;
}

void blocks_shrink_into(Blocks* blocks, const Part* part, bool many_bodies, const MirrorGroups* groups,
                        const DecomposeOptions* o) {
  int spare = o->max_vertices - SPARE_CORNERS > 4 ? o->max_vertices - SPARE_CORNERS : 4;
  Solid solid = {part, NULL};
  if (many_bodies && part->triangle_count <= INNER_TRIANGLES) {
    solid.inner = MEMORY_NEW(bool, part->triangle_count + 1);
    parallel_for(o->threads, part->triangle_count, 64, 16, mark_inner, &solid);
  }
  Shrinking s = {blocks, &solid, groups, LEAST_VOLUME * fabs(part_volume(part)), spare, o->max_vertices};
  parallel_for(o->threads, blocks->count, 2, 1, shrink_block, &s);
  copy_images(blocks, groups);
  overlap_touching(&s, o->max_vertices);
  bridge_gaps(&s, o->max_vertices);
  drop_flat(blocks);
  memory_free(solid.inner);
}
