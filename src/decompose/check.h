/* Private to decompose/. Measures the quality of a decomposition from its hulls. */
#ifndef SDRS_DECOMPOSE_CHECK_H
#define SDRS_DECOMPOSE_CHECK_H

#include "decompose/blocks.h"
#include "decompose/mesh_repair.h"

/* Tolerances relative to the diagonal of the mesh's bounding box. A surface sample is covered if its distance outside
 * the hulls is at most COVER_TOLERANCE. A hull is convex if its corners lie at most CONVEX_TOLERANCE outside the planes
 * of its faces. */
#define COVER_TOLERANCE 1e-6
#define CONVEX_TOLERANCE 1e-9
/* Two hulls are symmetric if every mirrored corner lies at most this far outside the mirror image [mesh diagonal]. */
#define MIRROR_TOLERANCE 1e-6
/* Two hulls overlap if a ball of at least this radius lies inside both [mesh diagonal]. */
#define OVERLAP_TOLERANCE 1e-6

/* Sets the quality measures and the results of the checks of *d from its hulls, which are in mesh coordinates. solid:
 * repaired mesh in the scaled coordinates of `frame`. Allocates the arrays of *d; arrays of an earlier check must have
 * been freed. */
void decomposition_check(Decomposition* d, const Mesh* mesh, const Part* solid, UnitFrame frame,
                         const DecomposeOptions* options);
/* Finds all pairs of d->hulls that overlap by more than OVERLAP_TOLERANCE times d->diagonal. Allocates d->joints with
 * one joint per pair. */
void decomposition_find_joints(Decomposition* d);

/* Measures how far the hulls extend outside the solid. Sets d->depths[hull_count], d->depth and d->depth_at_most [mesh
 * unit]. The depths are exact to a tenth of options->tolerance, if that is given. Allocates d->depths. */
void decomposition_measure_depth(Decomposition* d, const Part* solid, UnitFrame frame, const DecomposeOptions* options);

/* Two connected hulls and the depth of their overlap, 0 for a common corner only. */
typedef struct {
  int a, b;
  double depth;
} HullLink;

/* Finds, for every connected surface of the mesh, the hulls that contain a sample of it, and tests whether these hulls
 * are connected. A connected set of hulls counts only if it is needed to cover all samples that any hull covers.
 * Allocates d->components, and sets d->apart and d->connected. Sorts links[link_count], the pairs of connected hulls,
 * whose depths are in mesh unit. */
void decomposition_connect(Decomposition* d, HullLink* links, int link_count, const Part* solid, UnitFrame frame);

#endif
