/* Private to decompose/: hulls that lie inside the solid. */
#ifndef SDRS_DECOMPOSE_INSIDE_H
#define SDRS_DECOMPOSE_INSIDE_H

#include "decompose/mirror.h"

/* Shrinks the blocks until they lie inside the solid `part`, and removes blocks that become empty. Then reduces each
 * block to at most o->max_vertices vertices and makes neighbouring blocks overlap where the solid allows. The blocks
 * are changed in place, in unit size. groups: mirror groups of the blocks; the result has the same symmetry.
 * many_bodies: the solid has surfaces that may overlap. The result does not depend on the number of threads. */
void blocks_inside(Blocks* blocks, const Part* part, bool many_bodies, const MirrorGroups* groups,
                   const DecomposeOptions* o);

#endif
