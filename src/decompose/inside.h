/* Private to decompose/. Computes hulls that lie inside the solid. */
#ifndef SDRS_DECOMPOSE_INSIDE_H
#define SDRS_DECOMPOSE_INSIDE_H

#include "decompose/mirror.h"

/* Shrinks the blocks until they lie inside the solid `part`, and removes empty blocks. Reduces every block to at most
 * o->max_vertices vertices, and makes neighbouring blocks overlap if they stay inside the solid. Changes the blocks in
 * place and keeps their symmetry. groups: blocks that are mirror images of each other. many_bodies: the solid has
 * several surfaces, which may overlap. The result does not depend on the number of threads. */
void blocks_shrink_into(Blocks* blocks, const Part* part, bool many_bodies, const MirrorGroups* groups,
                        const DecomposeOptions* o);

#endif
