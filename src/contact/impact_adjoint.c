/* Reverse derivatives of what an impact makes of a pair's force (docs/derivations/impact.md, I5, I6). */
#include "contact/adjoint.h"

/* Adds bar times dU by everything that U depends on, at one moment (envelope theorem: the plane stays). */
static void potential_adjoint(double bar, double support, const ImpactMoment* at, bool now, ActiveVertex* vertices,
                              PairShares* out) {
  const Plane* plane = &at->solution->plane;
  bool half_space = at->body[1].hull.half_space;
  GroundShare* ground = now ? &out->ground_now : &out->ground_next;
  out->support -= bar * at->solution->energy / support;
  for (int side = 0; side < 2; side++) {
    double sigma = side == 0 ? -1 : 1;
    int count = active_vertices(&at->body[side].hull, sigma, support, plane, vertices);
    for (int k = 0; k < count; k++) {
      const ActiveVertex* v = &vertices[k];
      out->support -= bar * v->first * v->clearance / support;
      if (v->vertex < 0) continue;
      Vec3 slope = vec3_scale(plane->n, bar * sigma * v->first), none = {0, 0, 0};
      out->share[side][out->count[side]++] =
          now ? (VertexShare){v->vertex, none, slope} : (VertexShare){v->vertex, slope, none};
      if (half_space) ground_add(ground, vec3_scale(slope, -1), vec3_add(plane->origin, v->x), at->body[1].hull.pose.t);
    }
  }
}

/* By y at t. */
static void compression_adjoint(double y_bar, const ImpactParameters* parameters, const ImpactMoment* now,
                                ActiveVertex* vertices, PairShares* out) {
  if (!now->solution || y_bar == 0) return;
  double s = parameters->support, energy = now->solution->energy, y = impact_compression(s, energy);
  out->support += y_bar * y / (2 * s);
  potential_adjoint(y_bar * y / (2 * energy), s, now, true, vertices, out);
}

/* By the size of the force at t: that of a field along the force, which is the same for all points (A5). */
static void force_adjoint(double bar, double support, const ImpactMoment* now, ActiveVertex* vertices,
                          PairShares* out) {
  PairDerivatives d;
  PlaneResponse response;
  plane_derivatives(now->solution, now->body[1].hull.half_space, now->body[0].reference, now->body[1].reference, &d,
                    &response);
  Vec3 along = vec3_scale(d.force[0], bar / vec3_norm(d.force[0]));
  double twist[2][6] = {{0, 0, 0, along.x, along.y, along.z}};
  PairShares own = {.share = {out->share[0] + out->count[0], out->share[1] + out->count[1]}};
  plane_adjoint(now->body, support, now->solution, &response, twist, vertices, &own);
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < own.count[side]; k++) {
      VertexShare* share = &own.share[side][k];
      *share = (VertexShare){share->vertex, {0, 0, 0}, share->next};
    }
    out->count[side] += own.count[side];
  }
  out->support += own.support;
  out->ground_now.force = vec3_add(out->ground_now.force, own.ground_next.force);
  out->ground_now.torque = vec3_add(out->ground_now.torque, own.ground_next.torque);
}

static void pressure_adjoint(const Pressure* bar, double support, const ImpactMoment* now, ActiveVertex* vertices,
                             PairShares* out) {
  if (!now->solution) return;
  if (bar->potential != 0) potential_adjoint(bar->potential, support, now, true, vertices, out);
  if (bar->force != 0) force_adjoint(bar->force, support, now, vertices, out);
}

void impact_carry_adjoint(const PairCarry* carried, const ImpactParameters* parameters, const ImpactMoment* now,
                          ActiveVertex* vertices, PairShares* out) {
  compression_adjoint(carried->y, parameters, now, vertices, out);
}

static void scale_shares(PairShares* out, double factor) {
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < out->count[side]; k++) out->share[side][k].next = vec3_scale(out->share[side][k].next, factor);
  out->ground_next.force = vec3_scale(out->ground_next.force, factor);
  out->ground_next.torque = vec3_scale(out->ground_next.torque, factor);
  out->support *= factor;
  out->value *= factor;
}

static void add_pressure(Pressure* to, double factor, const Pressure* from) {
  to->potential += factor * from->potential;
  to->force += factor * from->force;
}

/* By all that the factor of a pair that bounces rests on besides its potential at t + dt; bar: by the factor (I12). */
static void course_adjoint(double bar, const Impact* impact, const ImpactParameters* parameters, const ImpactPast* past,
                           const PairCarry* carried, Pressure* now, PairShares* out) {
  ImpactDamping damping = {0};
  if (past->speed > 0) damping = impact_damping(parameters, past->speed);
  double by_damping = bar * impact->by_damping, speed = carried->speed + by_damping * damping.by_speed;
  out->support += bar * impact->by_support;
  out->rest_speed += by_damping * damping.by_rest_speed;
  *now = carried->old;
  add_pressure(now, bar, &impact->by_now);
  add_pressure(&out->carry.old, bar, &impact->by_old);
  if (!past->fresh) {
    out->carry.speed += speed;
    return;
  }
  ImpactSpeed v = impact_speed(parameters, past);
  out->support += speed * v.by_support;
  add_pressure(now, speed, &v.by_now);
  add_pressure(&out->carry.old, speed, &v.by_old);
}

static void bounce_adjoint(const ImpactParameters* parameters, const ImpactPast* past, const PairCarry* carried,
                           const ImpactMoment* now, const ImpactMoment* next, ActiveVertex* vertices, PairShares* out) {
  double s = parameters->support, value = out->value;
  Impact impact = impact_bounce(parameters, next->solution->energy, past);
  Pressure by_now;
  scale_shares(out, impact.first);
  if (impact.second != 0) potential_adjoint(value * impact.second, s, next, false, vertices, out);
  course_adjoint(value + carried->load, &impact, parameters, past, carried, &by_now, out);
  pressure_adjoint(&by_now, s, now, vertices, out);
}

void impact_adjoint(const ImpactParameters* parameters, const ImpactPast* past, const PairCarry* carried,
                    const ImpactMoment* now, const ImpactMoment* next, ActiveVertex* vertices, PairShares* out) {
  if (past->bounces) {
    bounce_adjoint(parameters, past, carried, now, next, vertices, out);
    return;
  }
  double s = parameters->support, value = out->value;
  double before = now->solution ? impact_compression(s, now->solution->energy) : 0;
  Impact impact = impact_eval(parameters, next->solution->energy, before);
  scale_shares(out, impact.first);
  out->support += value * impact.by_support;
  out->rest_speed += value * impact.by_rest_speed;
  if (impact.second != 0) potential_adjoint(value * impact.second, s, next, false, vertices, out);
  compression_adjoint(value * impact.by_before, parameters, now, vertices, out);
  pressure_adjoint(&carried->old, s, now, vertices, out);
}

void impact_load_adjoint(const ContactLoad* load, double coefficient, const ImpactParameters* parameters,
                         const ImpactMoment* now, ActiveVertex* vertices, PairShares* out) {
  double bar = out->friction * coefficient; /* friction holds the derivative by coefficient times factor */
  out->friction *= load->factor;
  if (load->bounces)
    out->carry.load += bar;
  else {
    out->support += bar * load->by_support;
    out->rest_speed += bar * load->by_rest_speed;
    out->carry.y += bar * load->by_before;
  }
  if (load->by_potential != 0)
    potential_adjoint(bar * load->by_potential, parameters->support, now, true, vertices, out);
}
