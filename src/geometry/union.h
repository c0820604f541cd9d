/* Private to geometry/: exact planes, points and faces for the union of convex hulls (geometry/union*.c,
 * docs/derivations/union.md). Lengths are in a unit frame: x = center + scale y, scale a power of two, all hulls within
 * |y| <= 1/2. */
#ifndef SDRS_GEOMETRY_UNION_H
#define SDRS_GEOMETRY_UNION_H

#include "geometry/geometry.h"

/* ---------------------------------------------------------------- exact planes and points (geometry/union_exact.c) */

/* A half-space n . y + o <= 0: unit normal n and offset o, times 2^40 and rounded. */
typedef struct {
  int64_t row[4];
} ExactPlane;

/* Intersection of three planes, y = w[0..2] / w[3] with w[3] > 0: determinants of at most 123 bits, never rounded.
 * (U1) */
typedef struct {
  __int128 w[4];
} ExactPoint;

/* Returns the plane with this unit normal and offset, unit frame. Each number is rounded to 2^-40. */
ExactPlane exact_plane(Vec3 normal, double offset);
/* Sets *point to the intersection of three planes. Returns false, with w[3] = 0, if two of them are parallel or all
 * three are parallel to one direction. */
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

/* Frees both arrays and zeroes the face. */
void face_free(UnionFace* face);
/* Appends the face; the list owns its arrays. */
void face_list_add(FaceList* list, UnionFace face);
/* Frees all faces and zeroes the list. */
void face_list_free(FaceList* list);

/* A hull as the intersection of half-spaces. low, high: its bounding box in the unit frame, slightly enlarged. */
typedef struct {
  PlaneSide* sides;
  int side_count;
  Vec3 low, high;
} PlaneHull;

/* Planes of all hulls, followed by BOX_WALLS walls of the box |y_k| <= 1, from index box_first on. */
enum { BOX_WALLS = 6 };
typedef struct {
  const ExactPlane* planes;
  int box_first;
} PlaneTable;

/* Returns the hull's face on its k-th half-space; count 0 if it has none. The caller frees it with face_free. */
UnionFace hull_face(const PlaneTable* table, const PlaneHull* hull, int k);
/* Adds the parts of the face that are surface of the union to the list, and takes ownership of the face. Parts inside
 * other hulls are removed. Where faces of several hulls lie on one plane, only the first hull's part is kept if their
 * orientations are equal, and none if they are opposite. (U3) hull: index of the face's hull; hulls: (hull_count). */
void face_of_union(const PlaneTable* table, UnionFace face, int hull, const PlaneHull* hulls, int hull_count,
                   FaceList* list);

/* ---------------------------------------------------------------- faces -> triangles (geometry/union_weld.c) */

typedef struct {
  const FaceList* faces;
  const ExactPlane* planes;
  const Vec3* normals; /* of the planes (unit frame = that of the hulls, up to scale and shift) */
  const Vec3* corners; /* of all hulls, unit frame; points within `weld` move to them (corner_count) */
  int corner_count;
  double weld;
} WeldInput;

/* Returns the triangulated surface of the faces, in the unit frame. Points nearer to each other than `weld` are joined;
 * points that near to an edge become its corners; faces of one plane with a convex union are joined; straight corners
 * are removed. (U4) Sets (*corner)[i] to the hull corner that equals point i, or -1. The caller owns surface and array.
 * The input is unchanged. */
TriangleSurface weld_faces(const WeldInput* input, int** corner);

#endif
