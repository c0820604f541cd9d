#include <assert.h>

#include "contact/ring.h"

/* Nodes and weights of Gauss-Legendre quadrature on [0, 1], upper half: {node - 1/2, weight}. */
static const double GAUSS[RING_HALF / 2][2] = {
    {0.06261670425573451, 0.12457352290670144},  {0.18391574949909006, 0.11674626826917739},
    {0.29365897714330869, 0.10158371336153292},  {0.38495133709715235, 0.080039164271673166},
    {0.45205862818523745, 0.053469662997659088}, {0.49078031712335957, 0.023587668193255917}};
/* Cosine and sine of pi/8, 3 pi/8, 5 pi/8 and 7 pi/8. Together with their mirror images these are eight equidistant
 * nodes on the circle. Their quadrature is exact up to order 7. */
#define COS_1 0.92387953251128675613
#define COS_3 0.38268343236508977173
static const double WHOLE[4][2] = {{COS_1, COS_3}, {COS_3, COS_1}, {-COS_3, COS_1}, {-COS_1, COS_3}};

RingPosition ring_position(const Circle* ring, double rounding, double sigma, Vec3 n, double o) {
  Vec3 a = ring->axis, across = vec3_add_scaled(n, -vec3_dot(n, a), a);
  double length = vec3_norm(n), slope = vec3_norm(across);
  RingPosition p = {.middle = sigma * (vec3_dot(n, ring->center) + o) - rounding * length};
  p.u = slope > 1e-14 * length ? vec3_scale(across, -sigma / slope) : vec3_perpendicular(a);
  p.v = vec3_cross(a, p.u);
  p.spread = ring->radius * slope;
  p.least = p.middle - p.spread;
  return p;
}

/* Quantities that all nodes of a circle use. They are computed once per circle. The compiler could not do this itself,
 * because it must assume that writing a node changes the RingPosition. */
typedef struct {
  double e;    /* RingPosition.spread / RingPosition.middle */
  double q;    /* RingPosition.least times (1 + e) */
  double root; /* sqrt(q / middle) */
} RingScale;

/* Adds the pair of quadrature nodes at the angles +psi and -psi, with the clearance c = q / (1 + e cos psi). With the
 * substitution of psi for the angle phi on the circle, the integrand of the barrier P is a polynomial in cos psi. */
static inline void put(RingNodes* out, RingScale s, double cosine, double sine, double weight) {
  int k = out->count++;
  double below = 1 / (1 + s.e * cosine);
  out->clearance[k] = s.q * below;
  out->cosine[k] = (cosine + s.e) * below;
  out->sine[k] = s.root * sine * below;
  out->weight[k] = RING_WEIGHT * weight * s.root * below;
}

void ring_nodes(const RingPosition* p, RingNodes* out) {
  assert(!(p->least <= 0));
  out->count = 0;
  if (!(p->least < 1)) return;
  RingScale scale = {.e = p->spread / p->middle};
  scale.q = p->least * (1 + scale.e);
  scale.root = sqrt(scale.q / p->middle);
  double most = p->middle + p->spread;
  if (most <= 1) {
    for (int k = 0; k < 4; k++) put(out, scale, WHOLE[k][0], WHOLE[k][1], 1.0 / 8);
    return;
  }
  double left = p->least / p->middle;
  double half = math_atan2(sqrt((1 + scale.e) * (1 - p->least)),
                           sqrt(left * (most - 1))); /* half of the angle psi at which the clearance c is 1 */
  double middle[2], turn[2], part = half / M_PI;
  math_sincos(half, &middle[1], &middle[0]);
  for (int k = 0; k < RING_HALF / 2; k++) {
    math_sincos(2 * half * GAUSS[k][0], &turn[1], &turn[0]);
    double c = middle[0] * turn[0], s = middle[1] * turn[1], sc = middle[1] * turn[0], cs = middle[0] * turn[1];
    double weight = part * GAUSS[k][1];
    put(out, scale, c + s, sc - cs, weight);
    put(out, scale, c - s, sc + cs, weight);
  }
}

RingLoad ring_load(const HullInstance* hull, int k, double sigma, double support, const Plane* plane) {
  assert(k >= 0 && support > 0);
  Circle rings[ROUND_RINGS_MAX];
  ring_world(hull, plane->origin, rings);
  double inverse = 1 / support;
  RingLoad load = {
      .ring = rings[k],
      .place = ring_position(&rings[k], hull->rounding, sigma, vec3_scale(plane->n, inverse), plane->o * inverse)};
  if (!(load.place.least > 0)) return load;
  RingNodes nodes;
  ring_nodes(&load.place, &nodes);
  double force = 0, moment = 0;
  for (int i = 0; i < nodes.count; i++) {
    double f = -2 * nodes.weight[i] * barrier_eval(nodes.clearance[i]).first;
    force += f;
    moment += f * nodes.cosine[i];
  }
  load.force = force * inverse * inverse;
  if (force > 0) load.mean = vec3_scale(load.place.u, moment / force);
  double rest = 1 - vec3_dot(load.mean, load.mean);
  load.spread = RING_SPREAD * rest * rest;
  return load;
}

Vec3 ring_radius(const Circle* ring, int j) {
  static const double C[RING_POINTS] = {1, M_SQRT1_2, 0, -M_SQRT1_2, -1, -M_SQRT1_2, 0, M_SQRT1_2};
  Vec3 e = vec3_perpendicular(ring->axis), f = vec3_cross(ring->axis, e);
  return vec3_add(vec3_scale(e, C[j]), vec3_scale(f, C[(j + 6) % RING_POINTS]));
}
