/* Private to contact/: circles of round hulls (docs/derivations/contact.md, C7). A circle has infinitely many vertices:
 * its energy is the mean over its rim, times RING_WEIGHT. */
#ifndef SDRS_CONTACT_RING_H
#define SDRS_CONTACT_RING_H

#include "contact/pair.h"

/* Weight of a circle's mean: gives a cylinder on its end the equilibrium gap of a box on four corners. */
#define RING_WEIGHT 4.0
/* Radius of the friction points of a circle that lies flat, over its radius: uniform pressure on the disk resists spin
 * by 2/3 mu N R. */
#define RING_SPREAD (2.0 / 3)
enum { RING_HALF = 12 };  /* pairs of nodes, mirrored at the circle's point nearest to the plane */
enum { RING_POINTS = 8 }; /* friction points of a circle */

/* A circle relative to a plane, lengths over the support. middle: clearance of its centre minus the rounding; least:
 * smallest clearance; spread: middle - least; u, v: unit vectors in the circle's plane, u towards the separating plane,
 * v along it. */
typedef struct {
  double middle, least, spread;
  Vec3 u, v;
} RingPlace;
/* Returns a circle's position relative to a plane. ring: center from the plane's origin, world axes [m]; rounding [m];
 * n [1/m] and o: the plane's, divided by the support. Cannot fail. */
RingPlace ring_place(const Circle* ring, double rounding, double sigma, Vec3 n, double o);

/* Nodes at center + radius (cosine u +- sine v), clearance 0 < c < 1. weight: of each of the two nodes; all weights of
 * a circle add to RING_WEIGHT if it is in range all round. Sums over the nodes with P, P', P'' are the rim's means to
 * 1e-12. */
typedef struct {
  int count;
  double clearance[RING_HALF], cosine[RING_HALF], sine[RING_HALF], weight[RING_HALF];
} RingNodes;
/* Sets out to the nodes of a circle with place->least > 0 (not checked); to none if it is 1 or more. Cannot fail,
 * allocates nothing. */
void ring_nodes(const RingPlace* place, RingNodes* out);

/* Sets out (ring_count) to the circles of a hull at its pose: world axes, centers relative to an origin. */
static inline void ring_world(const HullInstance* hull, Vec3 origin, Circle* out) {
  Vec3 shift = vec3_sub(hull->pose.t, origin);
  for (int k = 0; k < hull->ring_count; k++)
    out[k] = (Circle){vec3_add(mat3_mul_vec(hull->pose.r, hull->rings[k].center), shift),
                      mat3_mul_vec(hull->pose.r, hull->rings[k].axis), hull->rings[k].radius};
}
/* Circle of a hull relative to a plane, with its force for stiffness 1. */
typedef struct {
  Circle ring;     /* center from the plane's origin, world axes */
  RingPlace place; /* in units of the support */
  double force;    /* - sum w P' [1/m^2]; 0: out of range */
  Vec3 mean;       /* mean of the rim's unit radii, weighted by force */
  double spread;   /* 2/3 (1 - mean^2)^2; 0 if one point of the rim carries all force */
} RingLoad;
/* Returns the load of circle k of a hull. Cannot fail, allocates nothing. */
RingLoad ring_load(const HullInstance* hull, int k, double sigma, double support, const Plane* plane);
/* Returns unit radius j < RING_POINTS of a circle, fixed in the hull; hull frame. */
Vec3 ring_radius(const Circle* ring, int j);

#endif
