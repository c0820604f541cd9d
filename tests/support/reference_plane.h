/* Reference for plane_solve: a slow, independent solver of the separating plane. It uses long double, all vertices, the
 * paper's potential P_s(c) = (c - s)^4 / c^5, and damped Newton with Gaussian elimination. */
#ifndef SDRS_TESTS_SUPPORT_REFERENCE_PLANE_H
#define SDRS_TESTS_SUPPORT_REFERENCE_PLANE_H

#include "support/bodies.h"

typedef struct {
  Vec3 n;
  double o;        /* n . x + o, x relative to the origin asked for */
  double energy;   /* U [1/m] */
  double gradient; /* norm of dU/dp relative to the largest term in it: how well it is solved */
  /* Relative change of U by a relative error of 1 in coordinates and |n|: (sum |P_s'| (|x| + |origin| + r) + |dQ/d|n||
   * / s) / U */
  double condition;
} ReferencePlane;

/* Plane with its offset about `origin`. The bodies must be apart. */
ReferencePlane reference_plane(const Body* a, const Body* b, double support, Vec3 origin);
/* U of any plane; INFINITY when it does not separate. Offset about origin. */
double reference_energy(const Body* a, const Body* b, double support, Vec3 origin, Vec3 n, double o);

#endif
