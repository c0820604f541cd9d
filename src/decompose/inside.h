/* Private to decompose/: hulls that lie inside the solid. */
#ifndef SDRS_DECOMPOSE_INSIDE_H
#define SDRS_DECOMPOSE_INSIDE_H

#include "decompose/mirror.h"

/* Cut off what of the blocks is outside the solid; those of which nothing is left are dropped. Then at most
 * o->max_vertices vertices, and corners inside the neighbours where the solid allows. `groups` are those of the blocks:
 * images stay images. many_bodies: the solid has surfaces that may overlap. In place, unit size; the same for any
 * number of threads. */
void blocks_inside(Blocks* blocks, const Part* part, bool many_bodies, const MirrorGroups* groups,
                   const DecomposeOptions* o);

#endif
