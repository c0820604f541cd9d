/* Private to decompose/. Repairs a mesh to a closed, outward-oriented triangle surface and scales it to unit size. */
#ifndef SDRS_DECOMPOSE_MESH_REPAIR_H
#define SDRS_DECOMPOSE_MESH_REPAIR_H

#include "decompose/part.h"

/* Transformation of points from the scaled copy of a mesh to the mesh: x_mesh = center + scale * x_scaled. scale is a
 * power of two, so that the multiplication has no rounding error. The scaled copy has a bounding box with a diagonal in
 * (0.5, 1], called unit size. */
typedef struct {
  Vec3 center;
  double scale;
} UnitFrame;

/* Mesh points within this distance of each other are merged [unit size]. The value is larger than the gaps between
 * points of single-precision files and smaller than features. */
#define WELD_DISTANCE 1e-7
/* Largest merge distance [unit size], for triangles that do not connect at WELD_DISTANCE. */
#define WELD_DISTANCE_MAX 1e-2

/* Repairs a mesh and scales it to unit size. Triangulates faces by ear clipping. Merges equal points, at a larger
 * distance if that closes the surface. Removes duplicate triangles, degenerate triangles that do not keep the surface
 * closed, and one side of double-sided closed surfaces. Orients neighbours consistently, and surfaces outward, or
 * inward if the winding number of the other surfaces shows a cavity. Closes remaining borders by a fan of triangles to
 * their centre. Sets *solid to the repaired surface in unit size, *frame to the transformation to mesh coordinates, and
 * *condition to the repairs. Returns false if no triangle is left. The caller frees *solid with part_free in both
 * cases. */
bool mesh_repair(const Mesh* mesh, Part* solid, UnitFrame* frame, MeshCondition* condition);
/* Returns the winding number of the triangles at a point: the sum of their solid angles divided by 4 pi. The winding
 * number is 1 inside a closed outward surface, 0 outside, and between 0 and 1 near an open border. Ignores faces that
 * cuts created (caps). */
double winding_number(const Part* part, Vec3 point);
/* Removes every closed surface that coincides with another closed surface. Two surfaces coincide if bounding boxes,
 * areas and absolute volumes are equal; triangulations may differ. Keeps all points. Returns the number of removed
 * triangles, or 0 if there are too many surfaces to compare. */
int part_remove_equal_surfaces(Part* part);
/* Returns the volume enclosed by a closed surface, with overlapping regions counted once [unit size^3]. Measures
 * overlapping regions along a grid of parallel lines, the columns, and subtracts their volume from part_volume. The
 * error is proportional to the squared distance of neighbouring columns. */
double part_solid_volume(const Part* part);

#endif
