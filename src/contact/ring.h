/* Private to contact/: contact of round hulls that consist of circles (docs/derivations/contact.md, C7). The energy of
 * a circle is the mean of the vertex barrier over the points of the circle, times RING_WEIGHT. */
#ifndef SDRS_CONTACT_RING_H
#define SDRS_CONTACT_RING_H

#include "contact/pair.h"

/* Factor on the mean energy of a circle. With 4, a cylinder on its end face has the same equilibrium gap as a box on
 * four corners. */
#define RING_WEIGHT 4.0
/* Distance of the friction points of a flat circle from its centre, divided by its radius. The value is 2/3, because
 * uniform pressure on a disk of radius R with the normal force N resists spin with the torque 2/3 mu N R. mu: friction
 * coefficient. */
#define RING_SPREAD (2.0 / 3)
enum {
  RING_HALF = 12
}; /* largest number of pairs of quadrature nodes; the nodes of a pair are mirror images about the point of the circle
      nearest to the plane */
enum { RING_POINTS = 8 }; /* number of friction points of a circle */

/* Position of a circle relative to a separating plane, with all lengths divided by the support. center_clearance:
 * clearance of the circle's centre minus the rounding. min_clearance: smallest clearance of the circle. spread:
 * center_clearance - min_clearance. The clearance is the distance of a point from the separating plane. u, v: unit
 * vectors in the plane of the circle; u points towards the separating plane, v is parallel to it. */
typedef struct {
  double center_clearance, min_clearance, spread;
  Vec3 u, v;
} RingPosition;
/* Returns the position of a circle relative to a plane. ring: circle with its centre relative to the plane's origin,
 * world axes [m]. rounding: radius of the rounding [m]. sigma: -1 for body a, +1 for body b. n [1/m], o: normal and
 * offset of the plane, divided by the support. */
RingPosition ring_position(const Circle* ring, double rounding, double sigma, Vec3 n, double o);

/* Quadrature nodes of a circle, with clearances c divided by the support, 0 < c < 1. Pair k has the nodes center +
 * radius (cosine[k] u +- sine[k] v), with the vectors u and v of RingPosition. weight: weight of each node of a pair;
 * if the complete circle is in range, all weights add up to RING_WEIGHT. Weighted sums of the vertex barrier P and its
 * derivatives over the nodes agree with the means over the circle to 1e-12. */
typedef struct {
  int count;
  double clearance[RING_HALF], cosine[RING_HALF], sine[RING_HALF], weight[RING_HALF];
} RingNodes;
/* Computes the quadrature nodes of a circle with position->min_clearance > 0 (asserted). If min_clearance >= 1, the
 * circle is out of range and has no nodes. */
void ring_nodes(const RingPosition* position, RingNodes* out);

/* Sets out (ring_count) to the circles of a hull at its pose, world axes. The centres are relative to the world point
 * `origin` [m]. */
static inline void ring_world(const HullInstance* hull, Vec3 origin, Circle* out) {
  Vec3 shift = vec3_sub(hull->pose.t, origin);
  for (int k = 0; k < hull->ring_count; k++)
    out[k] = (Circle){vec3_add(mat3_mul_vec(hull->pose.r, hull->rings[k].center), shift),
                      mat3_mul_vec(hull->pose.r, hull->rings[k].axis), hull->rings[k].radius};
}
/* A circle of a hull relative to a plane, and its force for stiffness 1. */
typedef struct {
  Circle ring;           /* circle with its centre relative to the plane's origin, world axes */
  RingPosition position; /* position relative to the plane, lengths divided by the support */
  double force;          /* normal force for stiffness 1 [1/m^2]; 0 if the circle is out of range */
  Vec3 mean;     /* mean of the unit vectors from the centre to the points of the circle, weighted by their forces */
  double spread; /* spread of the friction points, 2/3 (1 - |mean|^2)^2; 0 if one point of the circle carries all of the
                    force */
} RingLoad;
/* Returns the position and normal force of circle k of a hull. sigma: -1 for body a, +1 for body b. support: s [m].
 * Allocates nothing. */
RingLoad ring_load(const HullInstance* hull, int k, double sigma, double support, const Plane* plane);
/* Returns the radii of the circles of a hull. */
RingProfile ring_profile(const HullInstance* hull);
/* Adds the derivatives of a scalar with respect to the shape parameters of a hull to out (size: hull->slope_count). by:
 * derivatives of the scalar with respect to the members of ring_profile. */
void ring_profile_reverse(const HullInstance* hull, const RingProfile* by, double* out);
/* Returns the unit vector from the centre of a circle to its friction point j < RING_POINTS, hull frame. The vector is
 * fixed in the hull. */
Vec3 ring_radius(const Circle* ring, int j);

#endif
