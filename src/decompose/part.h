/* Private to decompose/: a solid as a closed oriented surface that can be cut exactly by planes.
 * The outer surface is a list of triangles. The face that a cut creates (a cap) is stored only as its oriented boundary
 * segments, so no polygon needs triangulation and self-intersecting surfaces can be cut too. */
#ifndef SDRS_DECOMPOSE_PART_H
#define SDRS_DECOMPOSE_PART_H

#include "decompose/decompose.h"

/* Half-space n . x <= offset, n a unit vector. */
typedef struct {
  Vec3 n;
  double offset;
} CutPlane;

/* Boundary edge a -> b of a cap. */
typedef struct {
  int a, b, cap;
} CapEdge;

/* Owned arrays; part_free accepts a zeroed struct. Triangles are counter-clockwise seen from outside. */
typedef struct {
  Vec3* points;
  int point_count, point_capacity;
  int (*triangles)[3];
  int triangle_count, triangle_capacity;
  CapEdge* edges;
  int edge_count, edge_capacity;
  CutPlane* caps; /* outward */
  int cap_count, cap_capacity;
} Part;

/* Frees the arrays and zeroes the part; accepts a zeroed one. */
void part_free(Part* part);
/* Appends a point; returns its index. */
int part_add_point(Part* part, Vec3 point);
/* Appends a triangle of point indices a, b, c (not checked). */
void part_add_triangle(Part* part, int a, int b, int c);
/* Appends an edge a -> b of cap `cap`. */
void part_add_edge(Part* part, int a, int b, int cap);
/* Appends a cap without edges; returns its index. */
int part_add_cap(Part* part, CutPlane cap);

/* Returns the region of the part inside the half-space `plane` as a new Part without unused points. The new Part is
 * empty if no region is inside. Points within `rounding` (the part's unit) of the plane count as lying on the plane.
 * Cutting with a plane and with the flipped plane gives bit-identical new points. The caller frees the result with
 * part_free. */
Part part_cut(const Part* part, CutPlane plane, double rounding);
/* Splits a part into its connected surfaces, in the order of their first points. A surface without positive volume (a
 * cavity) is added to the smallest surface whose bounding box contains it. If there are more than 512 surfaces,
 * surfaces whose box centres lie in the same of 8 x 8 x 8 cells become one piece. Sets *pieces to the pieces and
 * returns their number. The part is unchanged. The caller frees each piece with part_free and the array *pieces with
 * memory_free. */
int part_components(const Part* part, Part** pieces);
/* Returns the enclosed volume [unit^3] by the divergence theorem; negative for an inward surface, 0 without points. */
double part_volume(const Part* part);
/* Returns the opposite half-space: -n . x <= -offset. */
CutPlane plane_flipped(CutPlane plane);

/* Side k of a triangle, from corner k to the next. */
typedef struct {
  int low, high, triangle;
  bool backward; /* the triangle traverses the side from high to low */
} Side;
/* Returns the sides of all triangles (3 triangle_count), sorted so that the sides at the same edge are consecutive. The
 * caller frees the array with memory_free. */
Side* part_sides(const Part* part);
/* Returns the index after the last side at the edge of sides[first], which must be the first side at this edge. sides
 * (count): result of part_sides. */
int part_edge_end(const Side* sides, int count, int first);

#endif
