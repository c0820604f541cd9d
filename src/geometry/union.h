/* Private to geometry/: exact planes, points and faces for the union of convex hulls (geometry/union*.c,
 * docs/derivations/union.md). Lengths are in a unit frame: a point x has the coordinates y with x = center + scale y.
 * scale is a power of two, chosen such that all hulls lie within |y| <= 1/2. */
#ifndef SDRS_GEOMETRY_UNION_H
#define SDRS_GEOMETRY_UNION_H

#include "geometry/geometry.h"

/* ---------------------------------------------------------------- exact planes and points (geometry/union_exact.c) */

/* A half-space n . y + o <= 0. The row contains the unit normal n and the offset o, multiplied by 2^40 and rounded to
 * integers. */
typedef struct {
  int64_t row[4];
} ExactPlane;

/* Intersection of three planes, y = w[0..2] / w[3] with w[3] > 0. The numbers are exact determinants of at most 123
 * bits. (U1) */
typedef struct {
  __int128 w[4];
} ExactPoint;

/* Returns the exact plane with a unit normal and an offset in the unit frame. Each number is rounded to 2^-40. */
ExactPlane exact_plane(Vec3 normal, double offset);
/* Computes the intersection of three planes. Returns false, with w[3] = 0, if two planes are parallel or all three
 * planes are parallel to one direction. */
bool exact_intersection(ExactPoint* point, const ExactPlane* a, const ExactPlane* b, const ExactPlane* c);
/* Returns the exact side of a point relative to the half-space of a plane: -1 inside, 0 on the plane, 1 outside. (U2)
 */
int exact_side(const ExactPlane* plane, const ExactPoint* point);
/* Returns the point rounded to doubles, in the unit frame. */
Vec3 exact_position(const ExactPoint* point);

/* ---------------------------------------------------------------- convex faces (geometry/union_face.c) */

/* An oriented plane: index of the plane, and whether the normal is reversed. */
typedef struct {
  int plane;
  bool flipped;
} PlaneSide;

/* A convex polygon on a plane, counter-clockwise seen from outside. Edge k runs from point k to the next point. Edge k
 * is the intersection of the polygon's plane with the plane of index edges[k]. The arrays are owned. */
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
/* Appends the face. The list takes ownership of its arrays. */
void face_list_add(FaceList* list, UnionFace face);
/* Frees all faces and zeroes the list. */
void face_list_free(FaceList* list);

/* A hull as the intersection of half-spaces. low and high are the corners of its bounding box in the unit frame,
 * slightly enlarged. */
typedef struct {
  PlaneSide* sides;
  int side_count;
  Vec3 low, high;
} PlaneHull;

/* Table of the planes of all hulls. The last BOX_WALLS planes, from index box_first on, bound the box |y_k| <= 1. */
enum { BOX_WALLS = 6 };
typedef struct {
  const ExactPlane* planes;
  int box_first;
} PlaneTable;

/* Returns the hull's face on its half-space k. The face has count 0 if the half-space does not bound the hull. The
 * caller frees the face with face_free. */
UnionFace hull_face(const PlaneTable* table, const PlaneHull* hull, int k);
/* Adds the parts of a face that lie on the surface of the union to the list. Takes ownership of the face. Parts inside
 * other hulls are removed. If faces of several hulls lie on one plane, only the first hull's part is kept for equal
 * orientations, and no part for opposite orientations. (U3) hull: index of the face's hull. hulls: (hull_count). */
void add_union_face(const PlaneTable* table, UnionFace face, int hull, const PlaneHull* hulls, int hull_count,
                    FaceList* list);

/* ---------------------------------------------------------------- faces -> triangles (geometry/union_weld.c) */

typedef struct {
  const FaceList* faces;
  const ExactPlane* planes;
  const Vec3* normals; /* normals of the planes; the unit frame has the same axes as the frame of the hulls */
  const Vec3* corners; /* corners of all hulls in the unit frame (size: corner_count). Points within `weld` of a corner
                          move to the corner */
  int corner_count;
  double weld; /* distance within which points are merged [unit frame] */
} WeldInput;

/* Returns the triangulated surface of the faces, in the unit frame. (U4) Points nearer to each other than `weld` are
 * merged. Points nearer to an edge than `weld` become corners of the edge's face. Faces of one plane with a convex
 * union are merged, and straight corners are removed. Sets (*corner)[i] to the hull corner that equals point i, or to
 * -1. The caller frees the surface with surface_free and the array with memory_free. */
TriangleSurface weld_faces(const WeldInput* input, int** corner);

#endif
