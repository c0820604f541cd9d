/* Private to decompose/: symmetric parts are cut as one half, quarter or eighth, and unfolded. Unit size: the mirror
 * planes pass through the origin. */
#ifndef SDRS_DECOMPOSE_MIRROR_H
#define SDRS_DECOMPOSE_MIRROR_H

#include "decompose/blocks.h"

/* Does every point of the solid have its mirror image among the points, within 1e-6? */
bool part_is_mirrored(const Part* part, int axis);
/* Is the image of every block in each of the planes a block? */
bool blocks_are_mirrored(const Blocks* blocks, const bool mirror[3]);
/* Which blocks are images of others. Owned arrays. */
typedef struct {
  int* first;     /* the block that it is an image of, itself if none before     (count) */
  int* by;        /* bit k = mirrored in plane k                                 (count) */
  bool (*own)[3]; /* planes in which it is its own image                         (count) */
} MirrorGroups;
MirrorGroups mirror_groups(const Blocks* blocks, const bool mirror[3]);
void mirror_groups_free(MirrorGroups* groups);
/* Thin every hull, and make the images those of the first of their group again. */
HullResult blocks_thin_mirrored(Blocks* blocks, const MirrorGroups* groups, int max_vertices);

#endif
