/* Reverse derivatives of what an impact makes of a pair's force (docs/derivations/impact.md, I5, I6). */
#include "contact/adjoint.h"

static void find_active(const ImpactMoment* at, double support, ActiveSides* active) {
  if (active->known) return;
  active->count[0] = active->count[1] = 0;
  for (int side = 0; side < 2; side++)
    active->count[side] = active_vertices(&at->body[side].hull, side == 0 ? -1 : 1, support, &at->solution->plane,
                                          active->vertices + active->count[0]);
  active->known = true;
}

/* Adds bar times dU by everything that U depends on, at one moment (envelope theorem: the plane stays). */
static void potential_adjoint(double bar, double support, const ImpactMoment* at, bool now, ActiveSides* active,
                              PairShares* out) {
  const Plane* plane = &at->solution->plane;
  bool half_space = at->body[1].hull.half_space;
  GroundShare* ground = now ? &out->ground_now : &out->ground_next;
  out->support -= bar * at->solution->energy / support;
  find_active(at, support, active);
  for (int side = 0; side < 2; side++) {
    double sigma = side == 0 ? -1 : 1;
    for (int k = 0; k < active->count[side]; k++) {
      const ActiveVertex* v = &active->vertices[k + (side ? active->count[0] : 0)];
      out->support -= bar * v->first * v->clearance / support;
      if (v->vertex < 0) continue;
      Vec3 slope = vec3_scale(plane->n, bar * sigma * v->first), none = {0, 0, 0};
      out->share[side][out->count[side]++] =
          now ? (VertexShare){v->vertex, none, slope} : (VertexShare){v->vertex, slope, none};
      if (half_space) ground_add(ground, vec3_scale(slope, -1), vec3_add(plane->origin, v->x), at->body[1].hull.pose.t);
    }
  }
}

double impact_carry_adjoint(double y_bar, const ImpactParameters* parameters, const ImpactMoment* now,
                            PairShares* out) {
  if (!now->solution || y_bar == 0) return 0;
  double energy = now->solution->energy, y = impact_compression(parameters->support, energy);
  out->support += y_bar * y / (2 * parameters->support);
  return y_bar * y / (2 * energy);
}

void impact_potential_adjoint(double bar, const ImpactParameters* parameters, const ImpactMoment* now,
                              ActiveSides* then, PairShares* out) {
  potential_adjoint(bar, parameters->support, now, true, then, out);
}

static void scale_shares(PairShares* out, double factor) {
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < out->count[side]; k++) out->share[side][k].next = vec3_scale(out->share[side][k].next, factor);
  out->ground_next.force = vec3_scale(out->ground_next.force, factor);
  out->ground_next.torque = vec3_scale(out->ground_next.torque, factor);
  out->support *= factor;
  out->value *= factor;
}

double impact_adjoint(const Impact* impact, const ImpactParameters* parameters, const ImpactMoment* now,
                      const ImpactMoment* next, ActiveSides* active, PairShares* out) {
  double value = out->value;
  scale_shares(out, impact->first);
  out->support += value * impact->by_support;
  out->rest_speed += value * impact->by_rest_speed;
  if (impact->second != 0) potential_adjoint(value * impact->second, parameters->support, next, false, active, out);
  return impact_carry_adjoint(value * impact->by_before, parameters, now, out);
}

double impact_load_adjoint(const ContactLoad* load, double coefficient, PairShares* out) {
  double bar = out->friction * coefficient; /* friction holds the derivative by coefficient times factor */
  out->friction *= load->factor;
  out->support += bar * load->by_support;
  out->rest_speed += bar * load->by_rest_speed;
  out->carry += bar * load->by_before;
  return bar * load->by_potential;
}
