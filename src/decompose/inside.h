/* Private to decompose/: hulls that lie inside the solid. */
#ifndef SDRS_DECOMPOSE_INSIDE_H
#define SDRS_DECOMPOSE_INSIDE_H

#include "decompose/mirror.h"

/* Shrinks the blocks into the solid and drops empty ones. Then limits them to o->max_vertices vertices and makes
 * neighbours overlap where the solid allows. groups: mirror groups of the blocks, preserved. many_bodies: the solid has
 * surfaces that may overlap. In place, unit size. Independent of the number of threads. */
void blocks_inside(Blocks* blocks, const Part* part, bool many_bodies, const MirrorGroups* groups,
                   const DecomposeOptions* o);

#endif
