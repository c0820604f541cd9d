/* Shrinks hulls until they lie inside the solid (docs/decompose.md). A convex hull with a point inside the solid lies
 * inside it if no triangle of the surface enters the hull. A triangle that enters is excluded by a cut with its plane.
 * The cut uses the plane that keeps the most volume, among the planes of the deepest triangles. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "decompose/inside.h"
#include "decompose/mesh_repair.h"

/* A triangle of the solid's surface enters a hull if it reaches deeper into the hull than this value [unit size]. */
#define ENTRY_DEPTH 1e-9
/* CANDIDATES: number of planes tried for one cut. TANGENT_CUTS: largest number of cuts of a hull by planes of the
 * surface. CUTS_MAX: largest number of all cuts of a hull. */
enum { CANDIDATES = 6, TANGENT_CUTS = 600, CUTS_MAX = 2000 };
/* A hull is removed if its volume is below this fraction of the solid's volume. */
#define VOLUME_MIN 1e-9
/* A new corner makes a hull overlap a touching hull. The corner is first placed at this fraction of the distance to the
 * touching hull's centre. The fraction is halved at most CORNER_HALVINGS times. */
#define CORNER_SHARE 0.2
enum { CORNER_HALVINGS = 10 };
/* Two hulls overlap if a ball of at least this radius lies inside both [unit size]. */
#define OVERLAP_RADIUS_MIN 1e-5
/* The winding number is evaluated at this distance outside a triangle [unit size], if the solid has at most
 * INNER_TRIANGLES triangles. */
#define OUTSIDE_DISTANCE 1e-7
enum { INNER_TRIANGLES = 20000 };
/* Gaps between hulls that are wider than this value are not bridged [unit size]. */
#define GAP_MAX 0.3
/* Number of vertices reserved for new corners that make a hull overlap touching hulls. */
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

static double signed_distance(CutPlane plane, Vec3 p) { return vec3_dot(plane.n, p) - plane.offset; }

/* Clips a polygon in[count] to the half-space below a plane, by the algorithm of Sutherland and Hodgman. Sets out to
 * the clipped polygon, and returns its number of points. */
static int clip_polygon(const Vec3* in, int count, CutPlane plane, Vec3* out) {
  assert(count >= 0);
  int kept = 0;
  for (int i = 0; i < count; i++) {
    Vec3 a = in[i], b = in[(i + 1) % count];
    double ha = signed_distance(plane, a), hb = signed_distance(plane, b);
    if (ha <= 0) out[kept++] = a;
    if ((ha < 0 && hb > 0) || (ha > 0 && hb < 0)) out[kept++] = vec3_add_scaled(a, ha / (ha - hb), vec3_sub(b, a));
  }
  return kept;
}

/* Largest depth of a triangle inside a hull, and the hull's plane nearest to the deepest point. */
typedef struct {
  double depth; /* at most 0 if the triangle does not enter the hull */
  int plane;
} TriangleDepth;

/* Returns the largest depth of a triangle below the planes of a hull. Clips the triangle to the hull and evaluates the
 * depth at the corners and the mean of the clipped polygon. workspace: space for two polygons. */
static TriangleDepth compute_depth(const PlaneList* hull, const Vec3 corner[3], Vec3* workspace) {
  Vec3 *now = workspace, *next = workspace + hull->count + 4;
  int count = 3;
  memcpy(now, corner, 3 * sizeof *corner);
  for (int k = 0; k < hull->count && count > 0; k++) {
    bool cut = false;
    for (int i = 0; i < count && !cut; i++) cut = signed_distance(hull->planes[k], now[i]) > 0;
    if (!cut) continue;
    count = clip_polygon(now, count, hull->planes[k], next);
    Vec3* swap = now;
    now = next, next = swap;
  }
  TriangleDepth reach = {0, 0};
  if (count < 3) return reach;
  Vec3 mean = now[0];
  for (int i = 1; i < count; i++) mean = vec3_add(mean, now[i]);
  now[count] = vec3_scale(mean, 1.0 / count);
  for (int i = 0; i <= count; i++) {
    TriangleDepth at = {HUGE_VAL, 0};
    for (int k = 0; k < hull->count && at.depth > reach.depth; k++)
      if (-signed_distance(hull->planes[k], now[i]) < at.depth)
        at = (TriangleDepth){-signed_distance(hull->planes[k], now[i]), k};
    if (at.depth > reach.depth) reach = at;
  }
  return reach;
}

/* ---------------------------------------------------------------- the surface near a hull */

typedef struct {
  const Part* part;
  bool* inner; /* true for a triangle inside another body of the part; NULL if there is none */
} Solid;

typedef struct {
  const Part* solid;
  int* triangles;
  double* depths; /* upper bounds of the depths of the triangles; cuts of the hull only reduce depths */
  int* cuts;      /* number of cuts after which the depth of each triangle was measured */
  int count;
} NearTriangles;

static void corners_of(const Part* solid, int triangle, Vec3 corner[3]) {
  for (int k = 0; k < 3; k++) corner[k] = solid->points[solid->triangles[triangle][k]];
}

static NearTriangles find_near_triangles(const Solid* s, const ConvexHull* hull) {
  const Part* solid = s->part;
  NearTriangles near = {solid, MEMORY_NEW(int, solid->triangle_count + 1),
                        MEMORY_NEW(double, solid->triangle_count + 1), MEMORY_NEW(int, solid->triangle_count + 1), 0};
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

static void free_near_triangles(NearTriangles* near) {
  memory_free(near->triangles);
  memory_free(near->depths);
  memory_free(near->cuts);
}

static TriangleDepth near_depth(const NearTriangles* near, int k, const PlaneList* planes, Vec3* workspace) {
  Vec3 corner[3];
  corners_of(near->solid, near->triangles[k], corner);
  return compute_depth(planes, corner, workspace);
}

/* Removes the triangles that do not enter the hull from the list. */
static void remove_outside_triangles(NearTriangles* near, const ConvexHull* hull) {
  PlaneList planes = planes_of(hull);
  Vec3* workspace = MEMORY_NEW(Vec3, 2 * planes.count + 8);
  int kept = 0;
  for (int k = 0; k < near->count; k++) {
    double depth = near_depth(near, k, &planes, workspace).depth;
    if (depth <= ENTRY_DEPTH) continue;
    near->triangles[kept] = near->triangles[k];
    near->depths[kept++] = depth;
  }
  near->count = kept;
  memory_free(workspace);
  memory_free(planes.planes);
}

static bool is_entered(const Solid* solid, const ConvexHull* hull) {
  NearTriangles near = find_near_triangles(solid, hull);
  remove_outside_triangles(&near, hull);
  bool reached = near.count > 0;
  free_near_triangles(&near);
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

/* Cuts the hull by a plane and by the plane's mirror images. Bit k of own_planes: mirror plane normal to axis k. */
static Part cut_images(const ConvexHull* hull, CutPlane plane, int own_planes) {
  Part part = part_of_hull(hull);
  for (int which = 0; which < 8; which++) {
    if (which & ~own_planes) continue;
    Part cut = part_cut(&part, plane_image(plane, which), PLANE_ROUNDING);
    part_free(&part);
    part = cut;
  }
  return part;
}

/* Sets selected to the list positions of the deepest triangles, in descending order of depth. Triangles of equal depth
 * have the order of the surface. Returns their number. */
static int select_deepest(const NearTriangles* near, int selected[CANDIDATES]) {
  int count = 0;
  for (int k = 0; k < near->count; k++) {
    int place = count < CANDIDATES ? count++ : CANDIDATES;
    while (place > 0 && near->depths[selected[place - 1]] < near->depths[k]) {
      if (place < CANDIDATES) selected[place] = selected[place - 1];
      place--;
    }
    if (place < CANDIDATES) selected[place] = k;
  }
  return count;
}

/* Selects the deepest triangles by exact depths after `cuts` cuts, measuring outdated depths. Returns the number of
 * selected triangles that enter the hull. */
static int select_deepest_exactly(NearTriangles* near, const ConvexHull* hull, int cuts, int selected[CANDIDATES]) {
  PlaneList planes = planes_of(hull);
  Vec3* workspace = MEMORY_NEW(Vec3, 2 * planes.count + 8);
  int count = 0;
  for (bool exact = false; !exact;) {
    exact = true;
    count = select_deepest(near, selected);
    for (int k = 0; k < count; k++) {
      if (near->cuts[selected[k]] == cuts) continue;
      near->depths[selected[k]] = near_depth(near, selected[k], &planes, workspace).depth;
      near->cuts[selected[k]] = cuts;
      exact = false;
    }
  }
  while (count > 0 && near->depths[selected[count - 1]] <= ENTRY_DEPTH) count--;
  memory_free(workspace);
  memory_free(planes.planes);
  return count;
}

/* Returns the plane of the hull's face nearest to triangle k, moved inward until it excludes the triangle. Used after
 * many cuts, because one moved face can exclude many small bumps of the surface. */
static CutPlane lower_nearest_face(const NearTriangles* near, int k, const ConvexHull* hull) {
  PlaneList planes = planes_of(hull);
  Vec3* workspace = MEMORY_NEW(Vec3, 2 * planes.count + 8);
  TriangleDepth reach = near_depth(near, k, &planes, workspace);
  CutPlane plane = planes.planes[reach.plane];
  plane.offset -= reach.depth;
  memory_free(workspace);
  memory_free(planes.planes);
  return plane;
}

/* Cuts the hull by the plane that keeps the most volume. The block becomes flat if the remaining volume is at most
 * `volume_min`. lower: true if faces of the hull are moved inward instead of cutting with planes of the surface. */
static void cut_by_best_plane(Block* block, const NearTriangles* near, const int* selected, int count, bool lower,
                              int own_planes, double volume_min) {
  Part best = {0};
  double most = volume_min;
  for (int k = 0; k < count; k++) {
    CutPlane plane = lower ? lower_nearest_face(near, selected[k], &block->hull)
                           : plane_of(near->solid, near->triangles[selected[k]]);
    if (!(vec3_dot(plane.n, plane.n) > 0)) continue;
    Part part = cut_images(&block->hull, plane, own_planes);
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

static void shrink_into_solid(Block* block, const Solid* solid, int own_planes, double volume_min) {
  if (block->flat) return;
  NearTriangles near = find_near_triangles(solid, &block->hull);
  remove_outside_triangles(&near, &block->hull);
  int selected[CANDIDATES], count = select_deepest_exactly(&near, &block->hull, 0, selected);
  for (int cut = 1; count > 0 && cut <= CUTS_MAX; cut++) {
    bool lower = cut > TANGENT_CUTS;
    cut_by_best_plane(block, &near, selected, lower ? 1 : count, lower, own_planes, volume_min);
    count = block->flat ? 0 : select_deepest_exactly(&near, &block->hull, cut, selected);
  }
  if (count > 0) block->flat = true;
  free_near_triangles(&near);
}

/* ---------------------------------------------------------------- fewer vertices */

/* Returns a copy of the block whose hull has `corner_count` corners and their mirror images. own_planes: mirror planes
 * of the block (bit = axis). */
static Block reduce_with_images(const Block* block, int own_planes, int corner_count) {
  Block thinned = block_copy(block);
  double error;
  (void)hull_reduce(&thinned.hull, corner_count, &error);
  int count = thinned.hull.vertex_count, total = 0;
  Vec3* corners = MEMORY_NEW(Vec3, 8 * count);
  for (int which = 0; which < 8; which++)
    for (int i = 0; i < count && !(which & ~own_planes); i++)
      corners[total++] = vec3_mirrored(thinned.hull.vertices[i], which);
  block_free(&thinned);
  thinned = block_create(corners, total);
  memory_free(corners);
  return thinned;
}

static bool reduce_to(Block* block, int own_planes, int corner_count, int most) {
  assert(corner_count <= most);
  Block thinned = reduce_with_images(block, own_planes, corner_count);
  bool enough = !thinned.flat && thinned.hull.vertex_count <= most;
  block_free(enough ? block : &thinned);
  if (enough) *block = thinned;
  return enough;
}

/* Reduces a hull to at most `preferred` vertices. If these enclose no volume, up to `most` are kept. The result lies
 * inside the old hull and stays symmetric. After a failure the block becomes flat and is later removed. */
static void reduce_vertices(Block* block, int own_planes, int preferred, int most) {
  if (block->flat || block->hull.vertex_count <= preferred) return;
  for (int corner_count = preferred; corner_count >= 4; corner_count = corner_count * 3 / 4)
    if (reduce_to(block, own_planes, corner_count, preferred)) return;
  for (int corner_count = preferred + 1; corner_count <= most && block->hull.vertex_count > most; corner_count++)
    if (reduce_to(block, own_planes, corner_count, most)) return;
  block->flat = block->hull.vertex_count > most;
}

/* ---------------------------------------------------------------- all blocks */

typedef struct {
  Blocks* blocks;
  const Solid* solid;
  const MirrorGroups* groups;
  double volume_min;
  int preferred, max_vertices; /* number of vertices after the reduction, which leaves space for new corners; largest
                                  number of vertices */
} ShrinkContext;

static int symmetry_planes(const MirrorGroups* groups, int block) {
  int own_planes = 0;
  for (int axis = 0; axis < 3; axis++) own_planes |= groups->symmetric[block][axis] << axis;
  return own_planes;
}

/* Shrinks block k into the solid. Reducing vertices first reduces the number of cuts. */
static void shrink_block(void* context, int k, int thread) {
  (void)thread;
  const ShrinkContext* s = context;
  if (s->groups->first[k] != k) return;
  int own_planes = symmetry_planes(s->groups, k);
  reduce_vertices(&s->blocks->items[k], own_planes, s->preferred, s->max_vertices);
  shrink_into_solid(&s->blocks->items[k], s->solid, own_planes, s->volume_min);
  reduce_vertices(&s->blocks->items[k], own_planes, s->preferred, s->max_vertices);
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

/* Returns the block extended by a corner and its mirror images. own_planes: mirror planes of the block (bit =
 * axis). */
static Block add_corner(const Block* block, Vec3 corner, int own_planes) {
  Vec3 corners[8];
  int count = 0;
  for (int which = 0; which < 8; which++)
    if (!(which & ~own_planes)) corners[count++] = vec3_mirrored(corner, which);
  Block extra = {.hull = {.vertices = corners, .vertex_count = count}, .flat = true};
  return block_join(block, &extra);
}

/* Adds a corner to block k, and its mirror images to the mirror images of block k. */
static void add_corner_to_images(Blocks* blocks, const MirrorGroups* groups, int k, Vec3 corner) {
  for (int m = 0; m < blocks->count; m++) {
    if (groups->first[m] != groups->first[k]) continue;
    Block grown =
        add_corner(&blocks->items[m], vec3_mirrored(corner, groups->by[k] ^ groups->by[m]), symmetry_planes(groups, m));
    block_free(&blocks->items[m]);
    blocks->items[m] = grown;
  }
}

static bool are_overlapping(const Block* a, const Block* b) {
  Vec3 center;
  double radius;
  return hulls_common_ball(&a->hull, &b->hull, &center, &radius) && radius > OVERLAP_RADIUS_MIN;
}

/* Adds a corner to block k, so that it reaches into block `neighbour`. The corner lies on the line from `from` to the
 * centre of the neighbour, as far along the line as the extended block stays inside the solid. Returns false if there
 * is no such corner. */
static bool extend_into(const ShrinkContext* s, int k, int neighbour, Vec3 from, int max_vertices) {
  const Block *block = &s->blocks->items[k], *other = &s->blocks->items[neighbour];
  Vec3 to_center = vec3_sub(hull_box_center(&other->hull), from);
  double share = CORNER_SHARE;
  for (int i = 0; i < CORNER_HALVINGS; i++, share *= 0.5) {
    Vec3 corner = vec3_add_scaled(from, share, to_center);
    Block grown = add_corner(block, corner, symmetry_planes(s->groups, k));
    bool fits = !grown.flat && grown.hull.vertex_count <= max_vertices && are_overlapping(&grown, other) &&
                !is_entered(s->solid, &grown.hull);
    block_free(&grown);
    if (!fits) continue;
    add_corner_to_images(s->blocks, s->groups, k, corner);
    return true;
  }
  return false;
}

/* Makes touching pairs of blocks overlap. */
static void overlap_touching(const ShrinkContext* s, int max_vertices) {
  for (int i = 0; i < s->blocks->count; i++)
    for (int j = i + 1; j < s->blocks->count; j++) {
      const Block *a = &s->blocks->items[i], *b = &s->blocks->items[j];
      Vec3 from;
      if (a->flat || b->flat || block_distance(a, b) > TOUCH_DISTANCE || are_overlapping(a, b)) continue;
      if (!hulls_find_shared_center(&a->hull, &b->hull, &from)) continue;
      if (!extend_into(s, i, j, from, max_vertices)) extend_into(s, j, i, from, max_vertices);
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

/* Joins overlapping blocks in the disjoint-set forest `piece`. Sets gaps to the pairs of blocks that do not overlap, in
 * ascending order of distance, and returns their number. */
static int list_gaps(const Blocks* blocks, int* piece, Gap* gaps) {
  int count = 0;
  disjoint_sets_init(piece, blocks->count);
  for (int i = 0; i < blocks->count; i++)
    for (int j = i + 1; j < blocks->count; j++) {
      const Block *a = &blocks->items[i], *b = &blocks->items[j];
      if (a->flat || b->flat) continue;
      if (are_overlapping(a, b))
        disjoint_sets_unite(piece, i, j);
      else
        gaps[count++] = (Gap){block_distance(a, b), i, j};
    }
  qsort(gaps, (size_t)count, sizeof *gaps, order_gaps);
  return count;
}

/* Bridges gaps between hulls that cutting has separated: extends a hull by a corner near the nearest point of the other
 * hull. Leaves a gap open if the corner would leave the solid. */
static void bridge_gaps(const ShrinkContext* s, int max_vertices) {
  int count = s->blocks->count, *piece = MEMORY_NEW(int, count + 1);
  Gap* gaps = MEMORY_NEW(Gap, count * (count + 1) / 2 + 1);
  for (bool bridged = true; bridged;) {
    bridged = false;
    int gap_count = list_gaps(s->blocks, piece, gaps);
    for (int g = 0; g < gap_count && !bridged; g++) {
      int a = gaps[g].a, b = gaps[g].b;
      if (disjoint_sets_find(piece, a) == disjoint_sets_find(piece, b) || gaps[g].distance > GAP_MAX) continue;
      Vec3 on_a, on_b;
      block_nearest_points(&s->blocks->items[a], &s->blocks->items[b], &on_a, &on_b);
      bridged = extend_into(s, a, b, on_b, max_vertices) || extend_into(s, b, a, on_a, max_vertices);
    }
  }
  memory_free(piece);
  memory_free(gaps);
}

static void remove_flat(Blocks* blocks) {
  int kept = 0;
  for (int k = 0; k < blocks->count; k++) {
    if (blocks->items[k].flat)
      block_free(&blocks->items[k]);
    else
      blocks->items[kept++] = blocks->items[k];
  }
  blocks->count = kept;
}

/* Marks triangle t if it lies inside another body and thus does not bound the solid. */
static void mark_inner(void* context, int t, int thread) {
  (void)thread;
  Solid* s = context;
  Vec3 c[3], middle;
  corners_of(s->part, t, c);
  middle = vec3_scale(vec3_add(c[0], vec3_add(c[1], c[2])), 1.0 / 3);
  s->inner[t] = winding_number(s->part, vec3_add_scaled(middle, OUTSIDE_DISTANCE, plane_of(s->part, t).n)) > 0.5;
}

void blocks_shrink_into(Blocks* blocks, const Part* part, bool many_bodies, const MirrorGroups* groups,
                        const DecomposeOptions* o) {
  int spare = o->max_vertices - SPARE_CORNERS > 4 ? o->max_vertices - SPARE_CORNERS : 4;
  Solid solid = {part, NULL};
  if (many_bodies && part->triangle_count <= INNER_TRIANGLES) {
    solid.inner = MEMORY_NEW(bool, part->triangle_count + 1);
    parallel_for(o->threads, part->triangle_count, 64, 16, mark_inner, &solid);
  }
  ShrinkContext s = {blocks, &solid, groups, VOLUME_MIN * fabs(part_volume(part)), spare, o->max_vertices};
  parallel_for(o->threads, blocks->count, 2, 1, shrink_block, &s);
  copy_images(blocks, groups);
  overlap_touching(&s, o->max_vertices);
  bridge_gaps(&s, o->max_vertices);
  remove_flat(blocks);
  memory_free(solid.inner);
}
