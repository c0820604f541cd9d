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
static const double CIRCLE_NODES[4][2] = {{COS_1, COS_3}, {COS_3, COS_1}, {-COS_3, COS_1}, {-COS_1, COS_3}};

RingPosition ring_position(const Circle* ring, double rounding, double sigma, Vec3 n, double o) {
  Vec3 a = ring->axis, in_plane = vec3_add_scaled(n, -vec3_dot(n, a), a);
  double length = vec3_norm(n), slope = vec3_norm(in_plane);
  RingPosition p = {.center_clearance = sigma * (vec3_dot(n, ring->center) + o) - rounding * length};
  p.u = slope > 1e-14 * length ? vec3_scale(in_plane, -sigma / slope) : vec3_perpendicular(a);
  p.v = vec3_cross(a, p.u);
  p.spread = ring->radius * slope;
  p.min_clearance = p.center_clearance - p.spread;
  return p;
}

/* Quantities that are equal for all nodes of a circle. */
typedef struct {
  double e;    /* ratio spread / center_clearance (RingPosition) */
  double q;    /* q = min_clearance (1 + e), the clearance at psi = pi / 2 */
  double root; /* sqrt(q / center_clearance) */
} RingSubstitution;

/* Adds a pair of quadrature nodes of the circle, with the clearance c = q / (1 + e cos psi) at the substituted angles
 * +psi and -psi (RingSubstitution). With the substitution of psi for the angle phi on the circle, the integrand of the
 * barrier P is a polynomial in cos psi. */
static inline void append_node_pair(RingNodes* out, RingSubstitution s, double cosine, double sine, double weight) {
  int k = out->count++;
  double inverse = 1 / (1 + s.e * cosine);
  out->clearance[k] = s.q * inverse;
  out->cosine[k] = (cosine + s.e) * inverse;
  out->sine[k] = s.root * sine * inverse;
  out->weight[k] = RING_WEIGHT * weight * s.root * inverse;
}

void ring_nodes(const RingPosition* p, RingNodes* out) {
  assert(!(p->min_clearance <= 0));
  out->count = 0;
  if (!(p->min_clearance < 1)) return;
  RingSubstitution scale = {.e = p->spread / p->center_clearance};
  scale.q = p->min_clearance * (1 + scale.e);
  scale.root = sqrt(scale.q / p->center_clearance);
  double max_clearance = p->center_clearance + p->spread;
  if (max_clearance <= 1) {
    for (int k = 0; k < 4; k++) append_node_pair(out, scale, CIRCLE_NODES[k][0], CIRCLE_NODES[k][1], 1.0 / 8);
    return;
  }
  double ratio = p->min_clearance / p->center_clearance;
  double half = math_atan2(sqrt((1 + scale.e) * (1 - p->min_clearance)),
                           sqrt(ratio * (max_clearance - 1))); /* half of the angle psi at which the clearance c is 1 */
  double center[2], offset[2], weight_scale = half / M_PI;
  math_sincos(half, &center[1], &center[0]);
  for (int k = 0; k < RING_HALF / 2; k++) {
    math_sincos(2 * half * GAUSS[k][0], &offset[1], &offset[0]);
    double c = center[0] * offset[0], s = center[1] * offset[1], sc = center[1] * offset[0], cs = center[0] * offset[1];
    double weight = weight_scale * GAUSS[k][1];
    append_node_pair(out, scale, c + s, sc - cs, weight);
    append_node_pair(out, scale, c - s, sc + cs, weight);
  }
}

RingLoad ring_load(const HullInstance* hull, int k, double sigma, double support, const Plane* plane) {
  assert(k >= 0 && support > 0);
  Circle rings[ROUND_RINGS_MAX];
  ring_world(hull, plane->origin, rings);
  double inverse = 1 / support;
  RingLoad load = {
      .ring = rings[k],
      .position = ring_position(&rings[k], hull->rounding, sigma, vec3_scale(plane->n, inverse), plane->o * inverse)};
  if (!(load.position.min_clearance > 0)) return load;
  RingNodes nodes;
  ring_nodes(&load.position, &nodes);
  double force = 0, moment = 0;
  for (int i = 0; i < nodes.count; i++) {
    double f = -2 * nodes.weight[i] * barrier_eval(nodes.clearance[i]).first;
    force += f;
    moment += f * nodes.cosine[i];
  }
  load.force = force * inverse * inverse;
  if (force > 0) load.mean = vec3_scale(load.position.u, moment / force);
  double remainder = 1 - vec3_dot(load.mean, load.mean);
  load.spread = RING_SPREAD * remainder * remainder;
  return load;
}

/* Index of the circle with the largest radius (sign = 1) or the smallest radius (sign = -1). */
static int extreme_ring(const HullInstance* hull, double sign) {
  int best = 0;
  for (int k = 1; k < hull->ring_count; k++)
    if (sign * hull->rings[k].radius > sign * hull->rings[best].radius) best = k;
  return best;
}

static double ring_height(const HullInstance* hull, int k) {
  return vec3_dot(hull->rings[0].axis, hull->rings[k].center);
}

RingProfile ring_profile(const HullInstance* hull) {
  if (hull->ring_count == 0) return (RingProfile){.largest = 0};
  const Circle* rings = hull->rings;
  RingProfile p = {.largest = rings[extreme_ring(hull, 1)].radius, .least = rings[extreme_ring(hull, -1)].radius};
  if (hull->ring_count > 1)
    p.taper = (rings[1].radius - rings[0].radius) / (ring_height(hull, 1) - ring_height(hull, 0));
  p.origin = rings[0].radius - p.taper * ring_height(hull, 0);
  return p;
}

void ring_profile_reverse(const HullInstance* hull, const RingProfile* by, double* out) {
  if (hull->ring_count == 0 || ring_profile_is_zero(by)) return;
  double radius[ROUND_RINGS_MAX] = {0}, height[ROUND_RINGS_MAX] = {0}, taper = ring_profile(hull).taper;
  double by_taper = by->taper - ring_height(hull, 0) * by->origin;
  radius[extreme_ring(hull, 1)] += by->largest;
  radius[extreme_ring(hull, -1)] += by->least;
  radius[0] += by->origin;
  height[0] -= taper * by->origin;
  if (hull->ring_count > 1) {
    double share = by_taper / (ring_height(hull, 1) - ring_height(hull, 0));
    radius[1] += share;
    radius[0] -= share;
    height[1] -= taper * share;
    height[0] += taper * share;
  }
  for (int k = 0; k < hull->slope_count; k++)
    for (int i = 0; i < hull->ring_count; i++)
      out[k] +=
          radius[i] * hull->slope[k].radius[i] + height[i] * vec3_dot(hull->rings[0].axis, hull->slope[k].center[i]);
}

Vec3 ring_radius(const Circle* ring, int j) {
  assert(j >= 0 && j < RING_POINTS);
  static const double C[RING_POINTS] = {1, M_SQRT1_2, 0, -M_SQRT1_2, -1, -M_SQRT1_2, 0, M_SQRT1_2};
  Vec3 e = vec3_perpendicular(ring->axis), f = vec3_cross(ring->axis, e);
  return vec3_add(vec3_scale(e, C[j]), vec3_scale(f, C[(j + 6) % RING_POINTS]));
}
