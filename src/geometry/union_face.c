/* Convex faces cut by planes, and the parts of faces outside other hulls (docs/derivations/union.md). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/union.h"

void face_free(UnionFace* face) {
  memory_free(face->points);
  memory_free(face->edges);
  *face = (UnionFace){0};
}

void face_list_add(FaceList* list, UnionFace face) {
  list->items = memory_grow_array(list->items, sizeof(UnionFace), list->count, &list->capacity);
  list->items[list->count++] = face;
}

void face_list_free(FaceList* list) {
  for (int i = 0; i < list->count; i++) face_free(&list->items[i]);
  memory_free(list->items);
  *list = (FaceList){0};
}

static UnionFace face_create(PlaneSide side, int capacity) {
  UnionFace face = {.side = side};
  face.points = MEMORY_NEW(ExactPoint, capacity);
  face.edges = MEMORY_NEW(int, capacity);
  return face;
}

static void face_add(UnionFace* face, ExactPoint point, int edge) {
  face->points[face->count] = point;
  face->edges[face->count++] = edge;
}

/* ---------------------------------------------------------------- cutting */

/* Sets signs to the side of each corner relative to a plane. Returns a bit mask: bit 0 is set if a corner is inside,
 * bit 1 if a corner is outside. */
static int face_signs(const PlaneTable* table, const UnionFace* face, PlaneSide side, signed char* signs) {
  int found = 0;
  for (int i = 0; i < face->count; i++) {
    int sign = exact_side(&table->planes[side.plane], &face->points[i]);
    signs[i] = (signed char)(side.flipped ? -sign : sign);
    if (sign != 0) found |= signs[i] < 0 ? 1 : 2;
  }
  return found;
}

/* Returns the intersection of edge k with the cutting plane, as the intersection of three planes. */
static ExactPoint crossing(const PlaneTable* table, const UnionFace* face, int k, int plane) {
  ExactPoint point;
  bool met = exact_intersection(&point, &table->planes[face->side.plane], &table->planes[face->edges[k]],
                                &table->planes[plane]);
  assert(met);
  (void)met;
  return point;
}

/* Returns the part of the face where the sign is `keep` or zero. keep is -1 for inside and 1 for outside. At least one
 * sign must equal `keep`. */
static UnionFace face_part(const PlaneTable* table, const UnionFace* face, const signed char* signs, int plane,
                           int keep) {
  UnionFace part = face_create(face->side, face->count + 2);
  for (int i = 0; i < face->count; i++) {
    int here = keep * signs[i], next = keep * signs[i + 1 < face->count ? i + 1 : 0];
    if (here >= 0) face_add(&part, face->points[i], here == 0 && next < 0 ? plane : face->edges[i]);
    if (here > 0 && next < 0) face_add(&part, crossing(table, face, i, plane), plane);
    if (here < 0 && next > 0) face_add(&part, crossing(table, face, i, plane), face->edges[i]);
  }
  return part;
}

/* Cuts the face by a half-space and keeps the part inside. The part outside is added to `outside` unless outside is
 * NULL. */
static void face_cut(const PlaneTable* table, UnionFace* face, PlaneSide side, FaceList* outside) {
  signed char* signs = MEMORY_NEW(signed char, face->count + 1);
  int found = face_signs(table, face, side, signs);
  if (found & 2) {
    UnionFace inside = {.side = face->side};
    if (found & 1) inside = face_part(table, face, signs, side.plane, -1);
    if (outside && (found & 1)) face_list_add(outside, face_part(table, face, signs, side.plane, 1));
    face_free(face);
    *face = inside;
  } else if (!(found & 1)) {
    face_free(face); /* the face lies in the cutting plane */
  }
  memory_free(signs);
}

/* ---------------------------------------------------------------- faces of a hull */

/* Returns a square on a plane that covers the intersection of the plane with the box |y| <= 1. The square is bounded by
 * the walls of the box along the two axes other than the plane's dominant axis. */
static UnionFace plane_square(const PlaneTable* table, PlaneSide side) {
  const int64_t* n = table->planes[side.plane].row;
  int axis = 0;
  for (int k = 1; k < 3; k++)
    if (llabs(n[k]) > llabs(n[axis])) axis = k;
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  const int walls[4] = {table->box_first + 2 * u, table->box_first + 2 * v, table->box_first + 2 * u + 1,
                        table->box_first + 2 * v + 1};
  UnionFace face = face_create(side, 4);
  bool backwards = (n[axis] < 0) != side.flipped;
  for (int i = 0; i < 4; i++) {
    int edge = backwards ? 3 - i : i, before = backwards ? (edge + 1) % 4 : (edge + 3) % 4;
    ExactPoint point;
    exact_intersection(&point, &table->planes[side.plane], &table->planes[walls[before]], &table->planes[walls[edge]]);
    face_add(&face, point, walls[edge]);
  }
  return face;
}

UnionFace hull_face(const PlaneTable* table, const PlaneHull* hull, int k) {
  UnionFace face = plane_square(table, hull->sides[k]);
  for (int i = 0; i < hull->side_count && face.count > 0; i++)
    if (i != k) face_cut(table, &face, hull->sides[i], NULL);
  return face;
}

/* ---------------------------------------------------------------- clipping by the other hulls */

/* Returns true if the hull has a face on the plane. Sets *same to true if the face has the same orientation. */
static bool hull_on_plane(const PlaneHull* hull, PlaneSide side, bool* same) {
  for (int i = 0; i < hull->side_count; i++)
    if (hull->sides[i].plane == side.plane) {
      *same = hull->sides[i].flipped == side.flipped;
      return true;
    }
  return false;
}

static bool box_meets(const UnionFace* face, const PlaneHull* hull) {
  Vec3 low = exact_position(&face->points[0]), high = low;
  for (int i = 1; i < face->count; i++) {
    Vec3 p = exact_position(&face->points[i]);
    low = vec3_min(low, p), high = vec3_max(high, p);
  }
  return low.x <= hull->high.x && low.y <= hull->high.y && low.z <= hull->high.z && high.x >= hull->low.x &&
         high.y >= hull->low.y && high.z >= hull->low.z;
}

/* Adds the part of the face outside a hull to the list. A face that does not intersect the hull stays undivided. Pieces
 * that were cut off before this was known are discarded. */
static void face_subtract(const PlaneTable* table, UnionFace face, const PlaneHull* hull, FaceList* list) {
  FaceList pieces = {0};
  UnionFace inside = face_create(face.side, face.count);
  memcpy(inside.points, face.points, sizeof *face.points * (size_t)face.count);
  memcpy(inside.edges, face.edges, sizeof *face.edges * (size_t)face.count);
  inside.count = face.count;
  for (int i = 0; i < hull->side_count && inside.count > 0; i++)
    if (hull->sides[i].plane != face.side.plane) face_cut(table, &inside, hull->sides[i], &pieces);
  if (inside.count == 0) {
    face_list_add(list, face);
  } else {
    for (int i = 0; i < pieces.count; i++) face_list_add(list, pieces.items[i]);
    pieces.count = 0; /* the list now owns the pieces */
    face_free(&face);
  }
  face_free(&inside);
  face_list_free(&pieces);
}

void add_union_face(const PlaneTable* table, UnionFace face, int hull, const PlaneHull* hulls, int hull_count,
                    FaceList* list) {
  assert(hull >= 0 && hull < hull_count);
  FaceList left = {0};
  face_list_add(&left, face);
  for (int h = 0; h < hull_count; h++) {
    bool same = false, on_plane = h != hull && hull_on_plane(&hulls[h], face.side, &same);
    if (h == hull || (on_plane && same && hull < h)) continue;
    FaceList next = {0};
    for (int i = 0; i < left.count; i++)
      if (box_meets(&left.items[i], &hulls[h]))
        face_subtract(table, left.items[i], &hulls[h], &next);
      else
        face_list_add(&next, left.items[i]);
    memory_free(left.items);
    left = next;
  }
  for (int i = 0; i < left.count; i++) face_list_add(list, left.items[i]);
  memory_free(left.items);
}
