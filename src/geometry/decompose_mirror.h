/* Private to geometry/: symmetric parts are cut as one half, quarter or eighth, and unfolded. Unit size: the mirror
 * planes pass through the origin. */
#ifndef SDRS_GEOMETRY_DECOMPOSE_MIRROR_H
#define SDRS_GEOMETRY_DECOMPOSE_MIRROR_H

#include "geometry/decompose.h"

/* Does every point of the solid have its mirror image among the points, within 1e-6? */
bool part_is_mirrored(const Part* part, int axis);
/* Add the mirror image of every block; a block that touches the plane is joined with its own image when that adds at
 * most free_volume. */
void blocks_unfold(Blocks* blocks, int axis, double free_volume);
/* Is the image of every block in each of the planes a block? */
bool blocks_are_mirrored(const Blocks* blocks, const bool mirror[3]);
/* Thin every hull so that hulls that were mirror images stay so, and those that were their own stay so. */
HullResult blocks_thin_mirrored(Blocks* blocks, const bool mirror[3], int max_vertices);

#endif
