/* Makes touching hulls overlap, if possible without changing their union. */
#include <string.h>

#include "decompose/blocks.h"

/* Blocks with more vertices than this are not extended into touching blocks. */
#define EXTEND_VERTICES 32
/* A new corner is placed at this fraction of the distance to the centre of the other hull. If smaller, the distance at
 * which the corner stays behind the other faces of its own hull is used. */
#define DEPTH_SHARE 0.6
/* Largest depth of a new corner that enlarges the union by slivers [unit size]. */
#define SLIVER_DEPTH 0.01
/* Two hulls are joined if a ball of at least this radius lies inside both [unit size]. */
#define JOINED_RADIUS 1e-3

/* Finds the plane of a face of a that separates a from b. Returns false if there is none. */
static bool find_separating_face(const ConvexHull* a, const ConvexHull* b, CutPlane* plane) {
  for (int t = 0; t < a->triangle_count; t++) {
    CutPlane p = hull_plane(a, t);
    double least = HUGE_VAL;
    if (!(vec3_dot(p.n, p.n) > 0)) continue;
    for (int i = 0; i < b->vertex_count && least >= -TOUCH_DISTANCE; i++)
      least = fmin(least, vec3_dot(p.n, b->vertices[i]) - p.offset);
    if (least < -TOUCH_DISTANCE) continue;
    *plane = p;
    return true;
  }
  return false;
}

static bool on_plane(CutPlane plane, Vec3 p) { return fabs(vec3_dot(plane.n, p) - plane.offset) <= TOUCH_DISTANCE; }

static bool face_in_plane(const ConvexHull* hull, int triangle, CutPlane plane) {
  for (int k = 0; k < 3; k++)
    if (!on_plane(plane, hull->vertices[hull->triangles[triangle][k]])) return false;
  return true;
}

/* Returns true if b contains every corner of a that lies in the plane. */
static bool is_face_inside(const ConvexHull* a, const ConvexHull* b, CutPlane plane) {
  for (int i = 0; i < a->vertex_count; i++)
    if (on_plane(plane, a->vertices[i]) && hull_outside(b, a->vertices[i]) > TOUCH_DISTANCE) return false;
  return true;
}

/* Returns the region of hull b behind all face planes of hull a, except the faces of a in the contact plane `plane`. If
 * b contains a's face in the plane, the union of a and this region is convex, because every segment from a to the
 * region passes through the face. */
static Part region_beyond(const ConvexHull* a, const ConvexHull* b, CutPlane plane) {
  Part part = part_of_hull(b);
  for (int t = 0; t < a->triangle_count && part.triangle_count > 0; t++) {
    CutPlane p = hull_plane(a, t);
    if (!(vec3_dot(p.n, p.n) > 0) || face_in_plane(a, t, plane)) continue;
    Part cut = part_cut(&part, p, PLANE_ROUNDING);
    part_free(&part);
    part = cut;
  }
  return part;
}

static bool extend_block(Block* a, const Block* b) {
  CutPlane plane;
  if (!find_separating_face(&a->hull, &b->hull, &plane) || !is_face_inside(&a->hull, &b->hull, plane)) return false;
  Part part = region_beyond(&a->hull, &b->hull, plane);
  bool grown = false;
  if (part.point_count > 3 && part_volume(&part) > 1e-9 * a->estimate.volume) {
    for (int i = 0; i < a->hull.vertex_count; i++) part_add_point(&part, a->hull.vertices[i]);
    Block larger = block_create(part.points, part.point_count);
    grown = !larger.flat && larger.hull.vertex_count <= a->hull.vertex_count + 2;
    if (grown) {
      block_free(a);
      *a = larger;
    } else {
      block_free(&larger);
    }
  }
  part_free(&part);
  return grown;
}

void blocks_extend(Blocks* blocks) {
  for (int i = 0; i < blocks->count; i++) {
    Block* a = &blocks->items[i];
    bool grown = true;
    for (int round = 0; grown && round < blocks->count; round++) {
      grown = false;
      for (int j = 0; j < blocks->count; j++) {
        const Block* b = &blocks->items[j];
        if (j == i || a->flat || b->flat || a->hull.vertex_count > EXTEND_VERTICES) continue;
        if (b->hull.vertex_count > EXTEND_VERTICES || block_distance(a, b) > TOUCH_DISTANCE) continue;
        grown |= extend_block(a, b);
      }
    }
  }
}

Vec3 hull_box_center(const ConvexHull* hull) {
  Vec3 low = hull->vertices[0], high = low;
  for (int i = 1; i < hull->vertex_count; i++)
    low = vec3_min(low, hull->vertices[i]), high = vec3_max(high, hull->vertices[i]);
  return vec3_scale(vec3_add(low, high), 0.5);
}

/* Sets *center to the centre of the common area of two hulls in a plane: the centre of the bounding box of each face's
 * corners that lie in the other hull. Returns false if there are none. */
static bool find_shared_center(const ConvexHull* a, const ConvexHull* b, CutPlane plane, Vec3* center) {
  const ConvexHull* hulls[2] = {a, b};
  int count = 0;
  Vec3 low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_scale(low, -1.0);
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < hulls[side]->vertex_count; i++) {
      Vec3 p = hulls[side]->vertices[i];
      if (!on_plane(plane, p) || hull_outside(hulls[1 - side], p) > TOUCH_DISTANCE) continue;
      low = vec3_min(low, p), high = vec3_max(high, p);
      count++;
    }
  *center = vec3_scale(vec3_add(low, high), 0.5);
  return count > 0;
}

bool hulls_find_shared_center(const ConvexHull* a, const ConvexHull* b, Vec3* center) {
  CutPlane plane;
  return (find_separating_face(a, b, &plane) || find_separating_face(b, a, &plane)) &&
         find_shared_center(a, b, plane, center);
}

/* Returns the largest fraction, 0 to 1, of the vector `step` that can be added to `from` inside the hull. Ignores the
 * hull's faces in the plane `plane`. */
static double free_fraction(const ConvexHull* hull, CutPlane plane, Vec3 from, Vec3 step) {
  double room = 1;
  for (int t = 0; t < hull->triangle_count; t++) {
    CutPlane p = hull_plane(hull, t);
    if (!(vec3_dot(p.n, p.n) > 0) || face_in_plane(hull, t, plane)) continue;
    double rise = vec3_dot(p.n, step), left = p.offset - vec3_dot(p.n, from);
    if (rise > 0) room = fmin(room, fmax(left, 0) / rise);
  }
  return room;
}

/* Finds a position inside hull b for a new corner of hull a, which touches b in the plane. Returns false if no position
 * is deep enough. */
static bool find_corner_inside(const ConvexHull* a, const ConvexHull* b, CutPlane plane, double sliver, Vec3* corner) {
  Vec3 from;
  if (!find_shared_center(a, b, plane, &from)) return false;
  Vec3 step = vec3_sub(hull_box_center(b), from);
  double share = DEPTH_SHARE * free_fraction(a, plane, from, step);
  double depth = fabs(vec3_dot(plane.n, step));
  if (!is_face_inside(a, b, plane)) share = fmax(share, 0.1), share = fmin(share, sliver / fmax(depth, sliver));
  *corner = vec3_add_scaled(from, share, step);
  return share * depth > TOUCH_DISTANCE;
}

typedef struct {
  Vec3* points;
  int count, capacity;
} NewCorners;

static void add_corner(NewCorners* list, Vec3 point) {
  list->points = memory_grow_array(list->points, sizeof(Vec3), list->count, &list->capacity);
  list->points[list->count++] = point;
}

/* Lets two hulls with a common face plane overlap. If the face of one hull lies inside the face of the other, the hull
 * with the smaller face gets a new corner inside the hull with the larger face. Otherwise each hull gets a new corner,
 * so that mirror images are treated alike. */
static void overlap_pair(const ConvexHull* a, const ConvexHull* b, double sliver, NewCorners* for_a,
                         NewCorners* for_b) {
  CutPlane plane;
  if (!find_separating_face(a, b, &plane) && !find_separating_face(b, a, &plane)) return;
  bool a_held = is_face_inside(a, b, plane), b_held = is_face_inside(b, a, plane);
  Vec3 corner;
  if ((a_held || !b_held) && find_corner_inside(a, b, plane, sliver, &corner)) add_corner(for_a, corner);
  if ((b_held || !a_held) && find_corner_inside(b, a, plane, sliver, &corner)) add_corner(for_b, corner);
}

static void add_corners(Block* block, const NewCorners* corners) {
  if (corners->count == 0) return;
  Block extra = {.hull = {.vertices = corners->points, .vertex_count = corners->count}, .flat = true};
  Block grown = block_join(block, &extra);
  block_free(block);
  *block = grown;
}

void blocks_overlap(Blocks* blocks, double largest_depth) {
  double sliver = fmin(SLIVER_DEPTH, largest_depth);
  NewCorners* corners = MEMORY_NEW(NewCorners, blocks->count + 1);
  for (int i = 0; i < blocks->count; i++)
    for (int j = i + 1; j < blocks->count; j++) {
      const Block *a = &blocks->items[i], *b = &blocks->items[j];
      Vec3 center;
      double radius;
      if (a->flat || b->flat || block_distance(a, b) > TOUCH_DISTANCE) continue;
      if (hulls_common_ball(&a->hull, &b->hull, &center, &radius) && radius > JOINED_RADIUS) continue;
      overlap_pair(&a->hull, &b->hull, sliver, &corners[i], &corners[j]);
    }
  for (int i = 0; i < blocks->count; i++) {
    add_corners(&blocks->items[i], &corners[i]);
    memory_free(corners[i].points);
  }
  memory_free(corners);
}
