/* Private to decompose/: a solid as a closed chain of oriented pieces of surface, which planes cut exactly.
 * The outside surface is a list of triangles. Where a plane cut the solid, the new wall (a cap) is kept as its oriented
 * boundary segments only; no polygon has to be triangulated, so surfaces that cross themselves are cut as well. */
#ifndef SDRS_DECOMPOSE_PART_H
#define SDRS_DECOMPOSE_PART_H

#include "decompose/decompose.h"

/* Half space n . x <= offset, n a unit vector. */
typedef struct {
  Vec3 n;
  double offset;
} CutPlane;

/* One edge a -> b of the boundary of a cap. */
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

/* Frees the arrays and leaves a zeroed part; accepts a zeroed one. */
void part_free(Part* part);
/* Appends, growing the array where it is full; returns the point's number. */
int part_add_point(Part* part, Vec3 point);
/* Appends a triangle of points a, b, c, which are not checked. */
void part_add_triangle(Part* part, int a, int b, int c);
/* Appends an edge a -> b of cap number `cap`. */
void part_add_edge(Part* part, int a, int b, int cap);
/* Appends a copy of the plane as a cap without edges; returns its number. */
int part_add_cap(Part* part, CutPlane cap);

/* The pieces of the part in the half space. Points nearer to the plane than `rounding` count as on it. Both sides of a
 * plane get the same new points, bit for bit. Unused points are dropped. A new part, freed by part_free; the old one
 * stays. rounding in the part's unit. Empty where nothing is inside. */
Part part_cut(const Part* part, CutPlane plane, double rounding);
/* The surfaces that do not hang together, in the order of their first point.
 * A surface that encloses no positive volume (a cavity) stays with the smallest one whose box holds it; of more than
 * 512 surfaces those whose boxes' middles lie in one of 8 x 8 x 8 cells are one. Returns how many; *pieces is an owned
 * array of them. Each is freed by part_free, the array by memory_free; the part stays. */
int part_components(const Part* part, Part** pieces);
/* Volume enclosed, negative when the surface is inside out. (divergence theorem) [unit^3] of the part; 0 without
 * points. */
double part_volume(const Part* part);
/* The half space on the other side of the same plane: -n . x <= -offset. */
CutPlane plane_flipped(CutPlane plane);

/* Side k of a triangle: from its corner k to the next one. */
typedef struct {
  int low, high, triangle;
  bool backward; /* runs from high to low */
} Side;
/* The sides of all triangles, those at the same edge together; owned by the caller  (3 triangle_count) Freed by
 * memory_free. */
Side* part_sides(const Part* part);
/* End of the run of sides at the same edge. sides: (count), of part_sides; the run begins at `first`. */
int part_edge_end(const Side* sides, int count, int first);

#endif
