/* Private to decompose/: symmetric parts are cut as one half, quarter or eighth, and unfolded. Unit size: the mirror
 * planes pass through the origin. */
#ifndef SDRS_DECOMPOSE_MIRROR_H
#define SDRS_DECOMPOSE_MIRROR_H

#include "decompose/blocks.h"

/* Does every point of the solid have its mirror image among the points, within 1e-6? axis: 0 to 2, the plane's normal.
 */
bool part_is_mirrored(const Part* part, int axis);
/* Is the image of every block in each of the planes a block? true where no plane is asked for. */
bool blocks_are_mirrored(const Blocks* blocks, const bool mirror[3]);
/* Which blocks are images of others. Owned arrays. */
typedef struct {
  int* first;     /* the block that it is an image of, itself if none before     (count) */
  int* by;        /* bit k = mirrored in plane k                                 (count) */
  bool (*own)[3]; /* planes in which it is its own image                         (count) */
} MirrorGroups;
/* The groups of blocks in the planes asked for; freed by mirror_groups_free. */
MirrorGroups mirror_groups(const Blocks* blocks, const bool mirror[3]);
/* Frees the arrays; the pointers stay, so once only. */
void mirror_groups_free(MirrorGroups* groups);
/* Thin every hull, and make the images those of the first of their group again. At most max_vertices each. The first
 * failure of hull_outer_mirrored ends it, with some blocks thinned and others not. */
HullResult blocks_thin_mirrored(Blocks* blocks, const MirrorGroups* groups, int max_vertices);

#endif
