/* Private to decompose/: quality of a decomposition, measured from its hulls alone. */
#ifndef SDRS_DECOMPOSE_CHECK_H
#define SDRS_DECOMPOSE_CHECK_H

#include "decompose/blocks.h"
#include "decompose/mesh_repair.h"

/* COVER_TOLERANCE: a surface sample farther outside than this is not covered. CONVEX_TOLERANCE: a corner farther beyond
 * a face's plane makes a hull concave [mesh diagonal]. */
#define COVER_TOLERANCE 1e-6
#define CONVEX_TOLERANCE 1e-9
/* Largest distance of mirrored corners for symmetry [mesh diagonal]. */
#define MIRROR_TOLERANCE 1e-6
/* Least radius of a ball inside two hulls that counts as overlap [mesh diagonal]. */
#define OVERLAP_TOLERANCE 1e-6

/* Computes the measures and guarantees of the result, whose hulls are in the mesh's coordinates. solid: the repaired
 * mesh in unit size. Allocates the arrays of the result; those of an earlier check must have been freed. */
void decomposition_check(Decomposition* d, const Mesh* mesh, const Part* solid, UnitFrame frame,
                         const DecomposeOptions* options);
/* Finds the joints of all overlapping pairs: allocates d->joints from d->hulls and d->diagonal. */
void decomposition_join(Decomposition* d);

/* ---------------------------------------------------------------- depth (depth.c) */

/* Computes depths, depth and depth_at_most from hulls and diagonal, with a resolution of a tenth of options->tolerance
 * if that is given. Allocates d->depths (hull_count) [mesh unit]. */
void decomposition_measure_depth(Decomposition* d, const Part* solid, UnitFrame frame, const DecomposeOptions* options);

/* ---------------------------------------------------------------- connection (connect.c) */

/* Two connected hulls; depth 0: by a common corner. */
typedef struct {
  int a, b;
  double depth;
} HullLink;

/* Computes components, apart and connected; allocates d->components. A hull belongs to a component if it contains one
 * of its surface samples. Of the connected sets of these hulls, only those needed to cover all covered samples are
 * counted. links: (link_count), depth in mesh unit; sorted in place. */
void decomposition_connect(Decomposition* d, HullLink* links, int link_count, const Part* solid, UnitFrame frame);

#endif
