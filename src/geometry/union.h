/* Private to geometry/: what the union of convex hulls is made of (geometry/union*.c, docs/derivations/union.md).
 * Lengths are in a unit frame: x = center + scale y, scale a power of two, all hulls within |y| <= 1/2. */
#ifndef SDRS_GEOMETRY_UNION_H
#define SDRS_GEOMETRY_UNION_H

#include "geometry/geometry.h"

/* ---------------------------------------------------------------- exact planes and points (geometry/union_exact.c) */

/* 2^40 times a unit normal n and its offset o, rounded: n . y + o <= 0 inside. */
typedef struct {
  int64_t row[4];
} ExactPlane;

/* Where three planes meet, y = w[0..2] / w[3] with w[3] > 0: determinants of at most 123 bits, never rounded. (U1) */
typedef struct {
  __int128 w[4];
} ExactPoint;

/* normal: unit; offset in the unit frame. Each number is rounded to 2^-40.
 */
ExactPlane exact_plane(Vec3 normal, double offset);
/* false: two of the planes are parallel, or all three share a direction. Then *point has w[3] = 0. */
bool exact_meet(ExactPoint* point, const ExactPlane* a, const ExactPlane* b, const ExactPlane* c);
/* Returns the exact sign of n . y + o: -1 inside, 0 on the plane, 1 outside. (U2) */
int exact_side(const ExactPlane* plane, const ExactPoint* point);
/* Returns the point rounded to doubles, unit frame. */
Vec3 exact_position(const ExactPoint* point);

/* ---------------------------------------------------------------- convex faces (geometry/union_face.c) */

/* An oriented plane: index of the plane, and whether its normal is reversed. */
typedef struct {
  int plane;
  bool flipped;
} PlaneSide;

/* A convex polygon on a plane, counter-clockwise seen from outside. Edge k runs from point k to the next one and lies
 * on the plane edges[k] as well. Owned arrays. */
typedef struct {
  PlaneSide side;
  ExactPoint* points;
  int* edges;
  int count;
} UnionFace;

typedef struct {
  UnionFace* items;
  int count, capacity;
} FaceList;

/* Frees both arrays and leaves a zeroed face. */
void face_free(UnionFace* face);
/* Appends the face; the list owns its arrays. */
void face_list_add(FaceList* list, UnionFace face);
/* Frees all faces and leaves a zeroed list. */
void face_list_free(FaceList* list);

/* A hull as the intersection of half-spaces; box in the unit frame, with some room. */
typedef struct {
  PlaneSide* sides;
  int side_count;
  Vec3 low, high;
} PlaneHull;

/* planes holds 6 more behind the others: the walls of the box |y_k| <= 1 (BOX_WALLS of them, from box_first). */
enum { BOX_WALLS = 6 };
typedef struct {
  const ExactPlane* planes;
  int box_first;
} PlaneTable;

/* The hull's face on its k-th half-space; count 0 when the others leave nothing of it. Owned by the caller, freed by
 * face_free. */
UnionFace hull_face(const PlaneTable* table, const PlaneHull* hull, int k);
/* Part of the face that is surface of the union: parts inside other hulls are dropped, of parts of the same orientation
 * on one plane the first hull's stays, those of opposite orientation vanish. (U3) Takes `face` over, adds to list.
 * hull: the number of the face's own hull; hulls: (hull_count). */
void face_of_union(const PlaneTable* table, UnionFace face, int hull, const PlaneHull* hulls, int hull_count,
                   FaceList* list);

/* ---------------------------------------------------------------- faces -> triangles (geometry/union_weld.c) */

typedef struct {
  const FaceList* faces;
  const ExactPlane* planes;
  const Vec3* normals; /* of the planes (unit frame = that of the hulls, up to scale and shift) */
  const Vec3* corners; /* of all hulls, unit frame: points nearer than `weld` become them   (corner_count) */
  int corner_count;
  double weld;
} WeldInput;

/* Points nearer than weld are joined, points that near to an edge become its corners, faces of one plane that are
 * convex together are joined, straight corners are dropped, the rest is cut into triangles. (U4) On return
 * (*corner)[i] is the hull corner that point i is, or -1. Owned by the caller. So is the surface, in the unit frame;
 * the input stays. */
TriangleSurface weld_faces(const WeldInput* input, int** corner);

#endif
