/* Private to decompose/. Repairs a mesh to a closed, outward-oriented triangle surface and scales the surface to unit
 * size. */
#ifndef SDRS_DECOMPOSE_MESH_REPAIR_H
#define SDRS_DECOMPOSE_MESH_REPAIR_H

#include "decompose/part.h"

/* Transformation from unit size to mesh coordinates: x_mesh = center + scale x_unit. scale is a power of two, so that
 * multiplication has no rounding error. The diagonal in unit size lies in (0.5, 1]. */
typedef struct {
  Vec3 center;
  double scale;
} UnitFrame;

/* Points are merged if their distance is at most this [unit size]. The value is larger than the gaps of
 * single-precision exporters and smaller than features. */
#define WELD_DISTANCE 1e-7
/* Largest merge distance [unit size]. Larger distances than WELD_DISTANCE are used only if the triangles do not connect
 * otherwise. */
#define WELD_DISTANCE_MOST 1e-2

/* Repairs a mesh and scales it to unit size. Triangulates faces by ear clipping. Merges equal points, at a larger
 * distance if that closes the surface. Removes duplicate triangles, degenerate triangles that do not keep the surface
 * closed, and one side of double-sided closed surfaces. Orients neighbours consistently and surfaces outward, or inward
 * if the winding number of the other surfaces shows a cavity. Closes the remaining borders by a fan of triangles to
 * their centre.
 * Sets *solid to the repaired surface in unit size, *frame to the transformation from unit size to mesh coordinates,
 * and *condition to the repairs. Returns false if no triangle is left. The caller frees *solid with part_free even if
 * the function returns false. */
bool mesh_repair(const Mesh* mesh, Part* solid, UnitFrame* frame, MeshCondition* condition);
/* Returns the winding number of the triangles at a point. The winding number is the sum of the solid angles of all
 * triangles divided by 4 pi. The winding number is 1 inside a closed outward surface, 0 outside, and between 0 and 1
 * near an open border. Caps are ignored. Allocates nothing. */
double winding_number(const Part* part, Vec3 point);
/* Removes every closed surface that coincides with another closed surface (decompose/sheets.c). Surfaces coincide if
 * their bounding boxes, areas and absolute volumes are equal. The triangulations may differ. Points are kept. Returns
 * the number of removed triangles. Returns 0 if there are too many surfaces to compare. */
int part_remove_equal_surfaces(Part* part);
/* Returns the volume enclosed by a closed surface, with overlapping regions counted once [unit size^3]
 * (decompose/mesh_volume.c). Overlapping regions are measured on a grid of columns and subtracted from part_volume. The
 * error is proportional to the squared distance between the columns. Allocates temporary memory. */
double part_solid_volume(const Part* part);

#endif
