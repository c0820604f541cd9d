/* Private to decompose/: quality of a decomposition, measured from its hulls alone. */
#ifndef SDRS_DECOMPOSE_CHECK_H
#define SDRS_DECOMPOSE_CHECK_H

#include "decompose/blocks.h"
#include "decompose/mesh_repair.h"

/* COVER_TOLERANCE: largest distance outside the hulls at which a surface sample counts as covered. CONVEX_TOLERANCE:
 * largest distance of a corner outside the plane of a face at which a hull counts as convex. Both in mesh diagonals. */
#define COVER_TOLERANCE 1e-6
#define CONVEX_TOLERANCE 1e-9
/* Largest distance of a mirrored corner outside the image hull at which the hulls count as symmetric [mesh diagonal].
 * */
#define MIRROR_TOLERANCE 1e-6
/* Two hulls overlap if a ball of at least this radius lies inside both [mesh diagonal]. */
#define OVERLAP_TOLERANCE 1e-6

/* Sets the measures and guarantees of *d from its hulls, which are in mesh coordinates. solid: the repaired mesh in
 * unit size. Allocates the arrays of *d; the arrays of an earlier check must have been freed. */
void decomposition_check(Decomposition* d, const Mesh* mesh, const Part* solid, UnitFrame frame,
                         const DecomposeOptions* options);
/* Allocates d->joints and sets it to the joints of all overlapping pairs of d->hulls. Uses d->diagonal. */
void decomposition_join(Decomposition* d);

/* ---------------------------------------------------------------- depth (depth.c) */

/* Sets d->depths, d->depth and d->depth_at_most [mesh unit] from d->hulls and d->diagonal. If options->tolerance is
 * given, the resolution is a tenth of it. Allocates d->depths (hull_count). */
void decomposition_measure_depth(Decomposition* d, const Part* solid, UnitFrame frame, const DecomposeOptions* options);

/* ---------------------------------------------------------------- connection (connect.c) */

/* Two connected hulls and the depth of their overlap. Depth 0: they are connected by a common corner. */
typedef struct {
  int a, b;
  double depth;
} HullLink;

/* Sets d->components, which it allocates, d->apart and d->connected. A hull belongs to a component of the mesh if it
 * contains a surface sample of the component. The hulls of a component form connected sets; only sets needed to cover
 * all covered samples are counted. links (link_count), with depths in mesh unit, are sorted in place. */
void decomposition_connect(Decomposition* d, HullLink* links, int link_count, const Part* solid, UnitFrame frame);

#endif
