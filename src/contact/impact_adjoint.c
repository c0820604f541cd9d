/* Adjoint of the impact law of a pair (docs/derivations/impact.md, I5, I6, I12). */
#include "contact/adjoint.h"

/* Adds the derivatives of a scalar with respect to an active vertex of body `side`, in its state of the previous solve
 * of the step. by: derivative with respect to the position of the vertex. */
static void add_derivatives_at_solve(const HullInstance* at, const Plane* plane, int side, const ActiveVertex* v,
                                     Vec3 by, PairShares* out) {
  if (at->ring_count == 0) {
    out->share[side][out->count[side]++] = (VertexShare){.vertex = v->vertex, .solve = by};
    return;
  }
  PairShares moved = {.shape = {out->shape[0], out->shape[1]}};
  active_add_derivatives(at, plane, side, v, by, vec3(0, 0, 0), &moved);
  out->move_solve[side] = vec3_add(out->move_solve[side], moved.move_next[side]);
  out->turn_solve[side] = vec3_add(out->turn_solve[side], moved.turn_next[side]);
}

/* Adds `bar` times the derivatives of the potential U in one state to *out, with respect to all quantities on which U
 * depends. The plane counts as constant, because it minimises U (envelope theorem). moment: state in which U is
 * evaluated, at t, at t + dt, or in the previous solve of the step. */
typedef enum { AT_NOW, AT_NEXT, AT_SOLVE } MomentShare;
static void potential_adjoint(double bar, double support, const ImpactMoment* at, MomentShare moment,
                              ActiveSides* active, PairShares* out) {
  const Plane* plane = &at->solution->plane;
  bool half_space = at->body[1].hull.half_space;
  GroundShare* ground = moment == AT_NOW ? &out->ground_now : &out->ground_next;
  out->support -= bar * at->solution->energy / support;
  active_compute(at, support, active);
  for (int side = 0; side < 2; side++) {
    double sigma = side == 0 ? -1 : 1;
    for (int k = 0; k < active->count[side]; k++) {
      const ActiveVertex* v = &active->vertices[k + (side ? active->count[0] : 0)];
      out->support -= bar * v->first * v->clearance / support;
      if (v->vertex < 0) continue;
      out->rounding[side] -= bar * v->first * vec3_norm(plane->n);
      Vec3 slope = vec3_scale(plane->n, bar * sigma * v->first), none = {0, 0, 0};
      if (moment == AT_SOLVE)
        add_derivatives_at_solve(&at->body[side].hull, plane, side, v, slope, out);
      else
        active_add_derivatives(&at->body[side].hull, plane, side, v, moment == AT_NOW ? none : slope,
                               moment == AT_NOW ? slope : none, out);
      if (half_space) ground_add(ground, vec3_scale(slope, -1), vec3_add(plane->origin, v->x), at->body[1].hull.pose.t);
    }
  }
}

/* Adds the contribution of the compression y of the pair at t (impact_compression) to derivatives of Phi. The
 * derivative with respect to the support is added to *out, the derivative with respect to the potential at t to *bar.
 * y_bar: derivative of Phi with respect to y. */
static void compression_adjoint(double y_bar, const ImpactParameters* parameters, const ImpactMoment* now,
                                Pressure* bar, PairShares* out) {
  if (!now->solution || y_bar == 0) return;
  double energy = now->solution->energy, y = impact_compression(parameters->support, energy);
  out->support += y_bar * y / (2 * parameters->support);
  bar->potential += y_bar * y / (2 * energy);
}

/* Adds the derivatives of Phi to *out, the work of the contact force of U at t along the twists of both bodies, or that
 * of the previous solve of the step (AT_SOLVE). */
static void work_adjoint(const double twist[2][6], const PlaneResponse* response, double support,
                         const ImpactMoment* now, MomentShare moment, ActiveSides* sides, PairShares* out) {
  double shape[2][ROUND_PARAMETERS_MAX] = {{0}};
  PairShares plane = {.share = {out->share[0] + out->count[0], out->share[1] + out->count[1]},
                      .shape = {shape[0], shape[1]}};
  plane_adjoint(now->body, support, now->solution, response, twist, sides, &plane);
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < plane.count[side]; k++) {
      VertexShare* share = &plane.share[side][k];
      Vec3 by = share->next;
      *share = (VertexShare){.vertex = share->vertex};
      *(moment == AT_SOLVE ? &share->solve : &share->now) = by;
    }
    out->count[side] += plane.count[side];
    out->rounding[side] += plane.rounding[side];
    Vec3* move = moment == AT_SOLVE ? &out->move_solve[side] : &out->move_now[side];
    Vec3* turn = moment == AT_SOLVE ? &out->turn_solve[side] : &out->turn_now[side];
    *move = vec3_add(*move, plane.move_next[side]);
    *turn = vec3_add(*turn, plane.turn_next[side]);
    for (int k = 0; k < now->body[side].hull.slope_count; k++) out->shape[side][k] += shape[side][k];
  }
  out->support += plane.support;
  GroundShare* ground = moment == AT_SOLVE ? &out->ground_next : &out->ground_now;
  ground->force = vec3_add(ground->force, plane.ground_next.force);
  ground->torque = vec3_add(ground->torque, plane.ground_next.torque);
}

/* Adds `bar` times the derivatives of the magnitude of the pair's force to *out. The force is the force at t, or the
 * force of the previous solve of the step (AT_SOLVE). They equal the derivatives of Phi, the work of the contact force,
 * for a uniform velocity of the body along the force (adjoint.md, A5). */
static void force_adjoint(double bar, double support, const ImpactMoment* now, MomentShare moment, ActiveSides* sides,
                          PairShares* out) {
  PairDerivatives d;
  PlaneResponse response;
  plane_derivatives(now->solution, now->body[1].hull.half_space, now->body[0].reference, now->body[1].reference, &d,
                    &response);
  Vec3 along = vec3_scale(d.force[0], bar / vec3_norm(d.force[0]));
  const double twist[2][6] = {{0, 0, 0, along.x, along.y, along.z}};
  work_adjoint(twist, &response, support, now, moment, sides, out);
}

void impact_pressure_adjoint(const Pressure* bar, const ImpactParameters* parameters, const ImpactMoment* now,
                             ActiveSides* sides, PairShares* out) {
  if (!now->solution) return;
  if (bar->potential != 0) potential_adjoint(bar->potential, parameters->support, now, AT_NOW, sides, out);
  if (bar->force != 0) force_adjoint(bar->force, parameters->support, now, AT_NOW, sides, out);
}

void impact_carry_adjoint(const PairCarry* carried, const ImpactParameters* parameters, const ImpactMoment* now,
                          Pressure* bar, PairShares* out) {
  compression_adjoint(carried->y, parameters, now, bar, out);
}

static void scale_shares(const PairBody body[2], PairShares* out, double factor) {
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < body[side].hull.slope_count; k++) out->shape[side][k] *= factor;
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < out->count[side]; k++) out->share[side][k].next = vec3_scale(out->share[side][k].next, factor);
  for (int side = 0; side < 2; side++) out->rounding[side] *= factor;
  out->ground_next.force = vec3_scale(out->ground_next.force, factor);
  out->ground_next.torque = vec3_scale(out->ground_next.torque, factor);
  out->support *= factor;
  out->value *= factor;
}

static void add_pressure(Pressure* to, double factor, const Pressure* from) {
  to->potential += factor * from->potential;
  to->force += factor * from->force;
}

/* Adds the contribution of the impact factor of a bouncing pair to the derivatives of Phi (I12). The contribution of
 * the pair's potential at t + dt is not included. by_factor: derivative of Phi with respect to the factor. by_load:
 * part of by_factor that results from the force that limits friction. */
static void bounce_adjoint(double by_factor, double by_load, const Impact* impact, Pressure* bar, PairShares* out) {
  out->support += by_factor * impact->by_support;
  out->inertia += by_factor * impact->by_inertia;
  /* the force that limits friction does not depend on the stiffness */
  out->stiffness += (by_factor - by_load) * impact->by_stiffness;
  out->dt += by_load * impact->by_dt; /* only the contribution of friction is added here; step_lengths.c adds the
                                         contribution of the contact force */
  out->dt_before += by_factor * impact->by_dt_before;
  add_pressure(bar, by_factor, &impact->by_now);
  add_pressure(&out->carry.old, by_factor, &impact->by_old);
}

void impact_adjoint(const Impact* impact, const ImpactParameters* parameters, const ImpactPast* past,
                    const PairCarry* carried, const ImpactMoment* now, const ImpactMoment* next, ActiveSides* active,
                    Pressure* bar, PairShares* out) {
  double value = out->value;
  scale_shares(next->body, out, impact->first);
  double by_potential = (value + carried->load) * impact->second + carried->event;
  if (by_potential != 0) potential_adjoint(by_potential, parameters->support, next, AT_NEXT, active, out);
  if (impact_acts(past->stage))
    bounce_adjoint(value + carried->load, carried->load, impact, bar, out);
  else {
    out->support += value * impact->by_support;
    out->rest_speed += value * impact->by_rest_speed;
    compression_adjoint(value * impact->by_before, parameters, now, bar, out);
  }
  add_pressure(bar, 1, &carried->old);
}

void impact_load_adjoint(const ContactLoad* load, const PairMaterial* material, const ImpactImpulse* impulse,
                         Pressure* bar, PairShares* out) {
  /* the derivatives friction, rolling and spinning in *out are with respect to the coefficient times the impact factor
   */
  double by_factor = out->friction * material->value[MATERIAL_FRICTION];
  if (out->rolling != 0 || out->spinning != 0)
    by_factor += out->rolling * material->value[MATERIAL_ROLLING] + out->spinning * material->value[MATERIAL_SPINNING];
  out->friction *= load->factor;
  out->rolling *= load->factor;
  out->spinning *= load->factor;
  impact_late_load_adjoint(load, by_factor, impulse, bar, out);
}

void impact_late_load_adjoint(const ContactLoad* load, double by_factor, const ImpactImpulse* impulse, Pressure* bar,
                              PairShares* out) {
  if (load->bounces) {
    ImpactFrictionLimit limit = impact_friction_limit(impulse->parameters, impulse->past);
    double by_limit = by_factor / impulse->force;
    out->by_return += by_limit * limit.by_return;
    out->by_latest += by_limit * limit.by_latest;
    out->by_impulse += by_limit * limit.by_impulse;
    bar->force -= by_limit * load->factor;
    out->value -= by_factor * load->factor; /* the force that limits friction does not depend on the stiffness */
    return;
  }
  out->support += by_factor * load->by_support;
  out->rest_speed += by_factor * load->by_rest_speed;
  out->carry.y += by_factor * load->by_before;
  bar->potential += by_factor * load->by_potential;
}

/* The work of the wrench is force . (velocity of the origin) + sum_ij M_ij ([w]x Q)_ij for a rotation w of a body, with
 * the moment M and the rotation Q of the body since t. It equals the work of the force at t for the rotation
 * mat3_axial([w]x Q) / 2 about the origin. */
void impact_return_adjoint(const ImpactImpulse* impulse, const ReturnWrench* wrench, const ImpactMoment* now,
                           const PairBody next[2], const double twist[2][6], ActiveSides* sides, Pressure* bar,
                           PairShares* out) {
  ImpactReturn force = impact_return(impulse->parameters, impulse->past);
  const double share = force.value / impulse->force;
  if (!(share > 0)) return;
  double start_twist[2][6], work = 0;
  PairBody start[2] = {now->body[0], now->body[1]};
  for (int side = 0; side < 2; side++) {
    const Pose* pose = &next[side].hull.pose;
    Mat3 turned = mat3_mul(mat3_cross(vec3_at(twist[side])), mat3_mul(pose->r, mat3_transpose(wrench->start[side].r)));
    Vec3 turn = vec3_scale(mat3_axial(turned), 0.5), arm = vec3_sub(pose->t, next[side].reference);
    Vec3 move = vec3_add(vec3_at(twist[side] + 3), vec3_cross(vec3_at(twist[side]), arm));
    work += vec3_dot(wrench->force[side], move) + vec3_dot(mat3_axial(wrench->moment[side]), turn);
    Vec3 by_rotation = mat3_axial(mat3_mul(mat3_transpose(wrench->moment[side]), turned));
    out->turn_now[side] = vec3_add(out->turn_now[side], by_rotation);
    out->move_now[side] = vec3_add(out->move_now[side], vec3_cross(turn, wrench->force[side]));
    vec3_store(vec3_scale(turn, share), start_twist[side]);
    vec3_store(vec3_scale(move, share), start_twist[side] + 3);
    start[side].reference = wrench->start[side].t;
  }
  const ImpactMoment at_start = {start, now->solution};
  PairDerivatives d;
  PlaneResponse response;
  plane_derivatives(now->solution, start[1].hull.half_space, start[0].reference, start[1].reference, &d, &response);
  work_adjoint((const double(*)[6])start_twist, &response, impulse->parameters->support, &at_start, AT_NOW, sides, out);
  out->by_return += work / force.value;
  bar->force -= work / impulse->force;
}

void impact_impulse_adjoint(const ImpactImpulse* impulse, double by_next, Pressure* bar, PairShares* out) {
  const ImpactPast* past = impulse->past;
  if (past->stage == IMPACT_COMPRESSION_1) return; /* no impulse acted before */
  double by_impulse = out->by_impulse - by_next;
  if (past->stage == IMPACT_RESTITUTION) {
    ImpactReturn force = impact_return(impulse->parameters, past);
    by_impulse += out->by_return * force.by_impulse;
    out->restitution += out->by_return * force.by_restitution;
    out->rest_speed += out->by_return * force.by_rest_speed;
    out->inertia += out->by_return * force.by_inertia;
    out->dt_before += out->by_return * force.by_dt_before;
  }
  double by_latest = out->by_latest + by_impulse;
  out->carry.load += by_latest * past->ratio * impulse->force;
  if (impulse->force > 0) bar->force += by_latest * past->latest / impulse->force;
  out->carry.net_limit = -by_impulse * past->ratio;
}

void impact_current_load_adjoint(const Impact* impact, const ImpactParameters* parameters, double by_factor,
                                 double by_force, const ImpactMoment* now, const ImpactMoment* solve,
                                 ActiveSides* sides, Pressure* bar, PairShares* out) {
  out->support += by_factor * impact->by_support;
  out->rest_speed += by_factor * impact->by_rest_speed;
  compression_adjoint(by_factor * impact->by_before, parameters, now, bar, out);
  double by_potential = by_factor * impact->second;
  if (by_potential != 0) potential_adjoint(by_potential, parameters->support, solve, AT_SOLVE, sides, out);
  if (by_force != 0) force_adjoint(by_force, parameters->support, solve, AT_SOLVE, sides, out);
}
