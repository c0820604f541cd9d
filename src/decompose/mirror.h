/* Private to decompose/: mirror symmetry. If a part is symmetric, only a half, quarter or eighth of it is decomposed,
 * and the mirror images of the hulls are added. Unit size: the mirror planes pass through the origin. */
#ifndef SDRS_DECOMPOSE_MIRROR_H
#define SDRS_DECOMPOSE_MIRROR_H

#include "decompose/blocks.h"

/* Returns true if the mirror image of every point of the solid is a point of the solid, within 1e-7. axis: normal of
 * the mirror plane, 0 to 2. */
bool part_is_mirrored(const Part* part, int axis);
/* Returns true if, for every mirror plane with mirror[axis] set, the mirror image of every block is a block. True if no
 * plane is set. */
bool blocks_are_mirrored(const Blocks* blocks, const bool mirror[3]);
/* Groups of blocks that are mirror images of each other. Owned arrays. */
typedef struct {
  int* first;     /* first block of which this block is a mirror image, or the block itself if there is none (count) */
  int* by;        /* mirror planes that reflect block `first` to this block, bit = axis (count) */
  bool (*own)[3]; /* for each axis, true if the block is its own mirror image in this plane (count) */
} MirrorGroups;
/* Returns the groups of blocks that are mirror images of each other in the planes with mirror[axis] set. The caller
 * frees them with mirror_groups_free. */
MirrorGroups mirror_groups(const Blocks* blocks, const bool mirror[3]);
/* Frees the arrays; must be called only once. */
void mirror_groups_free(MirrorGroups* groups);
/* Reduces every hull to at most max_vertices vertices, so that mirror images stay mirror images. Returns HULL_OK, or
 * the first failure of hull_outer_mirrored; the blocks after the failure are then unchanged. */
HullResult blocks_thin_mirrored(Blocks* blocks, const MirrorGroups* groups, int max_vertices);

#endif
