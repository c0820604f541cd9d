/* Private to decompose/: what a decomposition is worth, found from its hulls alone. */
#ifndef SDRS_DECOMPOSE_CHECK_H
#define SDRS_DECOMPOSE_CHECK_H

#include "decompose/blocks.h"
#include "decompose/mesh_repair.h"

/* A surface sample farther outside than this is missed, a corner farther inside a face's plane makes a hull concave
 * [mesh diagonal]. */
#define COVER_TOLERANCE 1e-6
#define CONVEX_TOLERANCE 1e-9
/* Largest distance of mirrored corners that counts as symmetric [mesh diagonal]. */
#define MIRROR_TOLERANCE 1e-6
/* Radius of a ball in two hulls from which they overlap [mesh diagonal]. */
#define OVERLAP_TOLERANCE 1e-6

/* Fill in the measures and guarantees of the result, whose hulls are in the mesh's coordinates; all loops over samples
 * write to their own slots. `solid` is the mended mesh, in unit size. Makes the arrays of the result that it fills;
 * those of a former check must be gone. */
void decomposition_check(Decomposition* d, const Mesh* mesh, const Part* solid, UnitFrame frame,
                         const DecomposeOptions* options);
/* Find the joints of all overlapping pairs. Makes d->joints; d->hulls and d->diagonal must be there. */
void decomposition_join(Decomposition* d);

/* ---------------------------------------------------------------- depth (depth.c) */

/* Fill in depths, depth and depth_at_most; the hulls and the diagonal must be there. Looks closely enough to tell
 * whether options->tolerance is kept, within a tenth of it. Makes d->depths (hull_count) [mesh unit]. */
void decomposition_measure_depth(Decomposition* d, const Part* solid, UnitFrame frame, const DecomposeOptions* options);

/* ---------------------------------------------------------------- connection (connect.c) */

/* Two hulls that hang together; depth 0: by a corner that they share. */
typedef struct {
  int a, b;
  double depth;
} HullLink;

/* Fill in components, apart and connected. Hulls belong to a component when they hold one of its surface samples; sets
 * of them that hang together by links among themselves are counted as far as they are needed to hold all that is held.
 * Sorts the links. links: (link_count), depth in mesh unit. Makes d->components. */
void decomposition_connect(Decomposition* d, HullLink* links, int link_count, const Part* solid, UnitFrame frame);

#endif
