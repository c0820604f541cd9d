/* Private to decompose/. Mirror symmetry of solids and blocks in planes through the origin. Only a half, quarter or
 * eighth of a symmetric solid is decomposed, and the mirror images of the hulls are added. */
#ifndef SDRS_DECOMPOSE_MIRROR_H
#define SDRS_DECOMPOSE_MIRROR_H

#include "decompose/blocks.h"

/* Returns true if the points of the solid equal their mirror images to within 1e-7 [unit size]. axis: normal of the
 * mirror plane, 0 to 2. */
bool part_is_mirrored(const Part* part, int axis);
/* Returns true if the mirror image of every block is a block, for every mirror plane with mirror[axis] set. */
bool blocks_are_mirrored(const Blocks* blocks, const bool mirror[3]);
/* Groups of blocks that are mirror images of each other. The arrays are owned. */
typedef struct {
  int* first; /* first[k]: lowest index of a block of which block k is a mirror image, or k itself (size: count) */
  int* by;    /* by[k]: planes in which block first[k] is reflected to obtain block k; bit `axis` is set for the plane
                 normal to this axis (size: count) */
  bool (*symmetric)[3]; /* symmetric[k][axis]: true if block k equals its mirror image in the plane normal to `axis`
                           (size: count) */
} MirrorGroups;
/* Returns the groups of blocks that are mirror images of each other. mirror[axis]: true if the coordinate plane normal
 * to this axis is a mirror plane. The caller frees the groups with mirror_groups_free. */
MirrorGroups mirror_groups(const Blocks* blocks, const bool mirror[3]);
/* Frees the arrays. Must be called only once. */
void mirror_groups_free(MirrorGroups* groups);
/* Reduces every hull to at most max_vertices vertices such that mirror images stay mirror images. Returns HULL_OK, or
 * the first failure of hull_outer_mirrored, after which the remaining blocks are unchanged. */
HullResult blocks_reduce_vertices(Blocks* blocks, const MirrorGroups* groups, int max_vertices);

#endif
