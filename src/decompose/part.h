/* Private to decompose/. A Part is a solid, stored as a closed oriented surface that can be cut by planes. The outer
 * surface is a list of triangles. A cut creates a new face, a cap, of which only the oriented boundary segments are
 * stored. Polygons thus need no triangulation, and self-intersecting surfaces can be cut. */
#ifndef SDRS_DECOMPOSE_PART_H
#define SDRS_DECOMPOSE_PART_H

#include "decompose/decompose.h"

/* Half-space n . x <= offset with the unit vector n. */
typedef struct {
  Vec3 n;
  double offset;
} CutPlane;

/* Boundary edge of a cap (a plane face created by a cut), from point a to point b. cap: index of the cap. */
typedef struct {
  int a, b, cap;
} CapEdge;

/* A solid bounded by triangles and caps, the plane faces that cuts created. Owns its arrays. Triangles are
 * counter-clockwise seen from outside. part_free accepts a zeroed struct. */
typedef struct {
  Vec3* points;
  int point_count, point_capacity;
  int (*triangles)[3];
  int triangle_count, triangle_capacity;
  CapEdge* edges;
  int edge_count, edge_capacity;
  CutPlane* caps; /* planes of the caps, with outward normals */
  int cap_count, cap_capacity;
} Part;

/* Frees the arrays and zeroes the part. Accepts a zeroed part. */
void part_free(Part* part);
/* Appends a point and returns its index. */
int part_add_point(Part* part, Vec3 point);
/* Appends a triangle with the point indices a, b, c. */
void part_add_triangle(Part* part, int a, int b, int c);
/* Appends the boundary edge from point a to point b of the cap with index `cap`. */
void part_add_edge(Part* part, int a, int b, int cap);
/* Appends a cap without edges and returns the index of the cap. */
int part_add_cap(Part* part, CutPlane cap);

/* Returns the region of the part inside the half-space `plane`, empty if there is none, without unused points. Points
 * within the distance `rounding` count as on the plane. Cuts with a plane and with the flipped plane give bit-identical
 * new points. The caller frees the result with part_free. */
Part part_cut(const Part* part, CutPlane plane, double rounding);
/* Splits a part into its connected surfaces, in the order of their first points. A surface that is oriented inward,
 * with negative or zero volume, bounds a cavity. A cavity belongs to the smallest surface whose bounding box contains
 * it. If there are more than 512 surfaces, the bounding box is divided into 8 x 8 x 8 cells, and surfaces with centres
 * in the same cell become one piece. Sets *pieces to the pieces and returns their number. The caller frees each piece
 * with part_free and the array *pieces with memory_free. */
int part_components(const Part* part, Part** pieces);
/* Returns the volume enclosed by the solid's surface, by the divergence theorem [unit^3], negative if the surface is
 * oriented inward, and 0 without points. */
double part_volume(const Part* part);
/* Returns the half-space on the other side of the same plane, -n . x <= -offset. */
CutPlane plane_flipped(CutPlane plane);

/* One side of a triangle. low, high: smaller and larger index of its end points. */
typedef struct {
  int low, high, triangle;
  bool backward; /* true if the triangle traverses the side from high to low */
} Side;
/* Returns the sides of all triangles (3 triangle_count), sorted such that sides with the same end points are
 * consecutive. The caller frees the array with memory_free. */
Side* part_sides(const Part* part);
/* Returns the index after the last side with the same end points as sides[first]: the end of the triangles at one edge.
 * sides[count]: result of part_sides. */
int part_edge_end(const Side* sides, int count, int first);

#endif
