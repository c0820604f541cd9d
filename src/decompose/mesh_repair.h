/* Private to decompose/: a mesh as it was read becomes a closed, outward, unit-size chain of triangles. */
#ifndef SDRS_DECOMPOSE_MESH_REPAIR_H
#define SDRS_DECOMPOSE_MESH_REPAIR_H

#include "decompose/part.h"

/* x_mesh = center + scale x_unit; scale is a power of two, so that nothing is rounded but by the shift. The longest
 * diagonal in unit size lies in (0.5, 1]. */
typedef struct {
  Vec3 center;
  double scale;
} UnitFrame;

/* Points nearer than this are one [unit size]: below the cracks of exporters in single precision, above rounding. */
#define WELD_DISTANCE 1e-7
/* ... and at most, where the triangles do not meet otherwise. */
#define WELD_DISTANCE_MOST 1e-2

/* In order: faces become triangles (ear clipping), equal points are joined (from farther where that closes
 * what lies open), repeated triangles and those without area
 * that hang on a closed surface are dropped, and one side of closed surfaces that are drawn from both; neighbours are
 * turned alike, surfaces are turned outward (inward when the winding number of the others says that they bound a
 * cavity), and what is still open is closed by a fan to the middle of each border. `solid` is owned by the caller.
 * Returns false when all points lie in one plane. Or when no triangle is left; part_free may be called in any case.
 * *frame and *condition are written; the mesh stays. */
bool mesh_repair(const Mesh* mesh, Part* solid, UnitFrame* frame, MeshCondition* condition);
/* (1 / 4 pi) times the solid angle of the triangles seen from a point: 1 inside a closed outward surface, 0 outside,
 * between them near an open border. Sums over all triangles, in their order; caps do not count. No allocation. */
double winding_number(const Part* part, Vec3 point);
/* Drop closed surfaces that lie on another of the same box, area and volume up to its sign, whatever the triangles of
 * both (decompose/sheets.c): how many triangles went. 0, and all stay, where there are too many surfaces to compare.
 * Points stay, used or not. */
int part_drop_same_surfaces(Part* part);
/* Volume of all places that a closed surface winds around, each once, however often (decompose/mesh_volume.c): the
 * enclosed volume, less what is counted more than once on a grid of columns, with an error of the columns' distance
 * squared; where nothing overlaps it is part_volume. [unit size^3]; allocates for the time of the call. */
double part_solid_volume(const Part* part);

#endif
