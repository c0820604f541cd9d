/* Private to decompose/: measures the quality of a decomposition from its hulls. */
#ifndef SDRS_DECOMPOSE_CHECK_H
#define SDRS_DECOMPOSE_CHECK_H

#include "decompose/blocks.h"
#include "decompose/mesh_repair.h"

/* A surface sample counts as covered if its distance outside the hulls is at most COVER_TOLERANCE. A hull counts as
 * convex if its corners lie at most CONVEX_TOLERANCE outside the planes of its faces. The unit of both tolerances is
 * the diagonal of the mesh. */
#define COVER_TOLERANCE 1e-6
#define CONVEX_TOLERANCE 1e-9
/* Two hulls count as symmetric if every mirrored corner lies at most this far outside the mirror image [mesh diagonal].
 */
#define MIRROR_TOLERANCE 1e-6
/* Two hulls count as overlapping if a ball of at least this radius lies inside both hulls [mesh diagonal]. */
#define OVERLAP_TOLERANCE 1e-6

/* Sets the measures and guarantees of *d from its hulls, which are in mesh coordinates. solid: the repaired mesh in
 * unit size. Allocates the arrays of *d; the arrays of an earlier check must have been freed. */
void decomposition_check(Decomposition* d, const Mesh* mesh, const Part* solid, UnitFrame frame,
                         const DecomposeOptions* options);
/* Finds all overlapping pairs of d->hulls. Allocates d->joints and stores a joint for every pair. Uses d->diagonal. */
void decomposition_find_joints(Decomposition* d);

/* ---------------------------------------------------------------- depth (depth.c) */

/* Measures how far the hulls extend outside the solid. Sets d->depths, d->depth and d->depth_at_most [mesh unit] from
 * d->hulls and d->diagonal. If options->tolerance is given, the resolution is a tenth of the tolerance. Allocates
 * d->depths (hull_count). */
void decomposition_measure_depth(Decomposition* d, const Part* solid, UnitFrame frame, const DecomposeOptions* options);

/* ---------------------------------------------------------------- connection (connect.c) */

/* Two connected hulls and the depth of their overlap. The depth is 0 if the hulls are connected only by a common
 * corner. */
typedef struct {
  int a, b;
  double depth;
} HullLink;

/* Finds the hulls of every component of the mesh and tests if they are connected. A hull belongs to a component if the
 * hull contains a surface sample of the component. Only connected sets of hulls that are needed to cover all covered
 * samples are counted. Allocates and sets d->components, and sets d->apart and d->connected. links (link_count), with
 * depths in mesh unit, are sorted in place. */
void decomposition_connect(Decomposition* d, HullLink* links, int link_count, const Part* solid, UnitFrame frame);

#endif
