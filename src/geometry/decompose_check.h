/* Private to geometry/: what a decomposition is worth, found from its hulls alone. */
#ifndef SDRS_GEOMETRY_DECOMPOSE_CHECK_H
#define SDRS_GEOMETRY_DECOMPOSE_CHECK_H

#include "geometry/decompose.h"

/* A surface sample farther outside than this is missed, a corner farther inside a face's plane makes a hull concave
 * [mesh diagonal]. */
#define COVER_TOLERANCE 1e-6
#define CONVEX_TOLERANCE 1e-9
/* Largest distance of mirrored corners that counts as symmetric [mesh diagonal]. */
#define MIRROR_TOLERANCE 1e-6
/* Radius of a ball in two hulls from which they overlap [mesh diagonal]. */
#define OVERLAP_TOLERANCE 1e-6

/* Fill in the measures and guarantees of the result, whose hulls are in the mesh's coordinates; all loops over samples
 * write to their own slots. */
void decomposition_check(Decomposition* d, const Mesh* mesh, const DecomposeOptions* options);
/* Find the joints of all overlapping pairs. */
void decomposition_join(Decomposition* d);

#endif
