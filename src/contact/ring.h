/* Private to contact/: circles of round hulls (docs/derivations/contact.md, C7). A circle has infinitely many vertices:
 * its energy is the mean over its rim, times RING_WEIGHT. */
#ifndef SDRS_CONTACT_RING_H
#define SDRS_CONTACT_RING_H

#include "contact/pair.h"

/* Weight of a circle's mean: gives a cylinder on its end the equilibrium gap of a box on four corners. */
#define RING_WEIGHT 4.0
/* Where friction of a circle that lies flat acts, over its radius: even pressure on the disk resists a spin by
 * 2/3 mu N R. */
#define RING_SPREAD (2.0 / 3)
enum { RING_HALF = 12 };  /* pairs of nodes, mirrored at the circle's point nearest to the plane */
enum { RING_POINTS = 8 }; /* points that friction of a circle acts at */

/* A circle before a plane, in units of the support: clearance of its centre less the rounding, least clearance, and the
 * unit vectors across its axis towards the plane and along it. */
typedef struct {
  double middle, least, spread;
  Vec3 u, v;
} RingPlace;
/* ring: center from the plane's origin, world axes [m]; rounding [m]. n [1/m] and o are those of the plane over the
 * support. By value; cannot fail. */
RingPlace ring_place(const Circle* ring, double rounding, double sigma, Vec3 n, double o);

/* Nodes at center + radius (cosine u +- sine v), clearance 0 < c < 1; weight: of either of the two, RING_WEIGHT in all
 * round the circle. Sums over the nodes with P, P', P'' are the rim's means to 1e-12. */
typedef struct {
  int count;
  double clearance[RING_HALF], cosine[RING_HALF], sine[RING_HALF], weight[RING_HALF];
} RingNodes;
/* place->least > 0; none where it is 1 and more. out is set. Cannot fail, allocates nothing. */
void ring_nodes(const RingPlace* place, RingNodes* out);

/* The circles of a hull where it stands, centers from an origin. out: ring_count. */
static inline void ring_world(const HullInstance* hull, Vec3 origin, Circle* out) {
  Vec3 shift = vec3_sub(hull->pose.t, origin);
  for (int k = 0; k < hull->ring_count; k++)
    out[k] = (Circle){vec3_add(mat3_mul_vec(hull->pose.r, hull->rings[k].center), shift),
                      mat3_mul_vec(hull->pose.r, hull->rings[k].axis), hull->rings[k].radius};
}
/* Circle k of a hull before a plane, in metres for stiffness 1. */
typedef struct {
  Circle ring;     /* center from the plane's origin, world axes */
  RingPlace place; /* in units of the support */
  double force;    /* - sum w P' [1/m^2]; 0: it feels nothing */
  Vec3 mean;       /* of the rim's unit radii, by force */
  double spread;   /* 2/3 (1 - mean^2)^2: 0 rolling */
} RingLoad;
/* Cannot fail, allocates nothing. */
RingLoad ring_load(const HullInstance* hull, int k, double sigma, double support, const Plane* plane);
/* Unit radius j of RING_POINTS, fixed in the hull; local. */
Vec3 ring_radius(const Circle* ring, int j);

#endif
