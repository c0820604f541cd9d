/* Private to decompose/. Measures the quality of a decomposition from its hulls. */
#ifndef SDRS_DECOMPOSE_CHECK_H
#define SDRS_DECOMPOSE_CHECK_H

#include "decompose/blocks.h"
#include "decompose/mesh_repair.h"

/* Tolerances in diagonals of the mesh. A surface sample is covered if its distance outside the hulls is at most
 * COVER_TOLERANCE. A hull is convex if its corners lie at most CONVEX_TOLERANCE outside the planes of its faces. */
#define COVER_TOLERANCE 1e-6
#define CONVEX_TOLERANCE 1e-9
/* Two hulls are symmetric if every mirrored corner lies at most this far outside the mirror image [mesh diagonal]. */
#define MIRROR_TOLERANCE 1e-6
/* Two hulls overlap if a ball of at least this radius lies inside both [mesh diagonal]. */
#define OVERLAP_TOLERANCE 1e-6

/* Sets the measures and guarantees of *d from its hulls, which are in mesh coordinates. solid: repaired mesh in unit
 * size. Allocates the arrays of *d; those of an earlier check must have been freed. */
void decomposition_check(Decomposition* d, const Mesh* mesh, const Part* solid, UnitFrame frame,
                         const DecomposeOptions* options);
/* Finds all overlapping pairs of d->hulls with the tolerance of d->diagonal. Allocates d->joints with one joint per
 * pair. */
void decomposition_find_joints(Decomposition* d);

/* Measures how far the hulls extend outside the solid. Sets d->depths[hull_count], d->depth and d->depth_at_most [mesh
 * unit]. The resolution is a tenth of options->tolerance, if that is given. Allocates d->depths. */
void decomposition_measure_depth(Decomposition* d, const Part* solid, UnitFrame frame, const DecomposeOptions* options);

/* Two connected hulls and the depth of their overlap, 0 for a common corner only. */
typedef struct {
  int a, b;
  double depth;
} HullLink;

/* Finds the hulls of every component of the mesh, those that contain a surface sample of it, and tests whether they are
 * connected. Counts only connected sets that are needed to cover all covered samples. Allocates d->components, and sets
 * d->apart and d->connected. Sorts links[link_count], whose depths are in mesh unit. */
void decomposition_connect(Decomposition* d, HullLink* links, int link_count, const Part* solid, UnitFrame frame);

#endif
