/* Private to decompose/: mirror symmetry. A symmetric part is decomposed as a half, quarter or eighth, and the hulls
 * are unfolded. Unit size: the mirror planes pass through the origin. */
#ifndef SDRS_DECOMPOSE_MIRROR_H
#define SDRS_DECOMPOSE_MIRROR_H

#include "decompose/blocks.h"

/* Returns true if every point of the solid has its mirror image among the points, within 1e-7. axis: normal of the
 * plane, 0 to 2. */
bool part_is_mirrored(const Part* part, int axis);
/* Returns true if the image of every block in each plane is a block; also true without planes. */
bool blocks_are_mirrored(const Blocks* blocks, const bool mirror[3]);
/* Groups of blocks that are mirror images of each other. Owned arrays. */
typedef struct {
  int* first;     /* first block whose image it is, else itself (count) */
  int* by;        /* planes in which block `first` is reflected to give it, bit = axis (count) */
  bool (*own)[3]; /* planes in which it is its own image                     (count) */
} MirrorGroups;
/* Returns the groups of blocks in the given mirror planes; freed by mirror_groups_free. */
MirrorGroups mirror_groups(const Blocks* blocks, const bool mirror[3]);
/* Frees the arrays; must be called only once. */
void mirror_groups_free(MirrorGroups* groups);
/* Reduces every hull to at most max_vertices vertices, keeping images equal. Returns the first failure of
 * hull_outer_mirrored, with the remaining blocks unchanged. */
HullResult blocks_thin_mirrored(Blocks* blocks, const MirrorGroups* groups, int max_vertices);

#endif
