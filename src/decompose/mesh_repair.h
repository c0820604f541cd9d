/* Private to decompose/. Repairs a mesh so that it is a closed, outward-oriented triangle surface, and scales it to
 * unit size. */
#ifndef SDRS_DECOMPOSE_MESH_REPAIR_H
#define SDRS_DECOMPOSE_MESH_REPAIR_H

#include "decompose/part.h"

/* x_mesh = center + scale x_unit; scale is a power of two, so that only the translation rounds. The diagonal in unit
 * size lies in (0.5, 1]. */
typedef struct {
  Vec3 center;
  double scale;
} UnitFrame;

/* Merge distance [unit size]: above the gaps of single-precision exporters, below features. */
#define WELD_DISTANCE 1e-7
/* Largest merge distance, used when the triangles do not connect otherwise. */
#define WELD_DISTANCE_MOST 1e-2

/* Repairs a mesh, in this order: triangulates faces (ear clipping); merges equal points (at a larger distance if that
 * closes the surface); removes duplicate triangles, degenerate triangles of closed surfaces, and one side of
 * double-sided closed surfaces; orients neighbours consistently and surfaces outward (inward if the winding number of
 * the others shows a cavity); closes remaining borders by a fan to their centre. Sets *solid to the repaired surface in
 * unit size, *frame to the transformation from unit size to mesh coordinates, and *condition to the repairs. Returns
 * false if all points are coplanar or no triangle is left. The caller frees *solid with part_free in any case. */
bool mesh_repair(const Mesh* mesh, Part* solid, UnitFrame* frame, MeshCondition* condition);
/* Returns the winding number of the triangles at a point: the solid angle of all triangles divided by 4 pi. It is 1
 * inside a closed outward surface, 0 outside, and between 0 and 1 near an open border. Caps are ignored. Allocates
 * nothing. */
double winding_number(const Part* part, Vec3 point);
/* Removes every closed surface that coincides with another closed surface. Surfaces coincide if bounding box, area and
 * absolute volume are equal, whatever their triangulation (decompose/sheets.c). Points are kept. Returns the number of
 * removed triangles; 0 if there are too many surfaces to compare. */
int part_drop_same_surfaces(Part* part);
/* Returns the volume enclosed by a closed surface, with overlapping regions counted once (decompose/mesh_volume.c)
 * [unit size^3]. Regions counted several times are measured on a grid of columns and subtracted, with an error
 * proportional to the squared distance of the columns. Without overlaps it equals part_volume. Allocates
 * temporarily. */
double part_solid_volume(const Part* part);

#endif
