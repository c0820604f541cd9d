/* Private to contact/: energy of two near features of surfaces under the mesh contact law `ipc`
 * (docs/derivations/law-ipc.md). A stencil (stencil.h) is a vertex with a triangle, or two edges. */
#ifndef SDRS_CONTACT_MESH_BARRIER_H
#define SDRS_CONTACT_MESH_BARRIER_H

#include "contact/stencil.h"

/* A pair of edges has no energy if the squared sine of the angle between them is smaller than this value. */
#define PARALLEL_LEAST 1e-13

/* Logarithmic barrier b(d) = -(d - D)^2 ln(d / D), and its derivatives with respect to d and D (N21). d: distance of
 * two features, below the support D, the contact range of the law [m]. Units of the members: m^2, m, 1, m, 1. */
typedef struct {
  double value, first, second, by_support, first_by_support;
} LogBarrier;
/* Returns the barrier at the distance d > 0 for support = D; all members are 0 if d >= D. */
LogBarrier log_barrier(double d, double support);

/* Returns the energy m(s) b(d) of a stencil for stiffness 1 [m^2] (N19, N21). d: distance of the features; b:
 * log_barrier; s: squared sine of the angle between two edges. The factor m(s) reduces the energy of nearly parallel
 * edges; m = 1 unless the stencil has two edges. All members are 0 if d >= support. */
StencilEnergy mesh_barrier(const Stencil* stencil, double support);
/* Returns the long-range energy m(s) / d of a stencil at the distance d (N25) [1/m]. m(s): factor of mesh_barrier. It
 * is nonzero for all d > 0, except for parallel
 * edges. */
StencilEnergy mesh_reciprocal(const Stencil* stencil);
/* Returns the derivatives of the members `value`, `by_d` and `by_s` of mesh_barrier's result with respect to the
 * support. The second derivatives in the result are 0. */
StencilEnergy mesh_barrier_by_support(const Stencil* stencil, double support);

#endif
