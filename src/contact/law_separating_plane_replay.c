/* Terms and reverse derivatives of recorded pairs of the law `separating_plane` (adjoint.h). */
#include "contact/law_separating_plane.h"

#include <string.h>

static PlaneRecord record_of(const ContactRecord* from) {
  PlaneRecord r;
  memcpy(&r, from->kept, sizeof(r));
  return r;
}

bool plane_law_revisit(void* instance, int thread, const ContactRecord* from, const PairBody body[2], void* own) {
  const PlaneLaw* law = instance;
  if (!from->active) return true;
  return plane_solve(&body[0].hull, &body[1].hull, law->support, record_of(from).plane, &law->scratch[thread], own) ==
         PLANE_ACTIVE;
}

/* Returns the load factor of friction at the present force_ratio, to first order from the recorded one. */
static double load_of(const PlaneLaw* law, const PlaneRecord* r) {
  return r->load.factor + (law->force_ratio - 1) * r->load.by_ratio;
}

/* Returns the friction parameters of a recorded pair. The coefficient is scaled by the impact factor at t, or in the
 * previous solve of the step if friction depends on its force. */
static FrictionParameters recorded_friction(const LawReplay* p, const PlaneRecord* r) {
  FrictionParameters parameters = ((const PlaneLaw*)p->law)->friction;
  double load = p->record->own_force ? ((const PlaneReplay*)p->memory)->solve_impact.first : load_of(p->law, r);
  parameters.coefficient = acting(p->material, &r->slip).value[MATERIAL_FRICTION] * load;
  return parameters;
}

/* Returns true if friction on a half-space is limited by the impulse of an impact with restitution (impact.md, I9). */
static bool follows_impulse(const LawReplay* p) {
  if (!p->record->rubbing || p->record->own_force || !slides(p->material)) return false;
  if (!p->next[1].hull.half_space) return false;
  PlaneRecord r = record_of(p->record);
  return r.load.bounces;
}

bool plane_law_slip_product(const LawReplay* p, const double twist[2][6], double wrench[6]) {
  if (!follows_impulse(p)) return false;
  const PlaneLaw* law = p->law;
  PlaneRecord r = record_of(p->record);
  FrictionParameters parameters = recorded_friction(p, &r);
  friction_product(&((const PlaneReplay*)p->memory)->lag, &parameters, p->next, twist, wrench);
  for (int i = 0; i < 6; i++) wrench[i] *= law->stiffness;
  return true;
}

bool plane_law_replay(const LawReplay* p, PairDerivatives* d) {
  const PlaneLaw* law = p->law;
  PlaneReplay* memory = p->memory;
  const PlaneSolution *now = p->own_now, *next = p->own_next;
  const PairBody* body = p->next;
  if (p->record->active) {
    plane_derivatives(next, body[1].hull.half_space, body[0].reference, body[1].reference, d, &memory->response);
    plane_balance(next, &memory->response, d);
    double before = now ? impact_compression(law->support, now->energy) : 0;
    PlaneRecord r = record_of(p->record);
    ImpactParameters impact = impact_parameters(law, p->material);
    r.past.recorded = true;
    memory->impact = impact_of(&impact, next->energy, before, &r.past);
    impact_scale(&memory->impact, body[1].hull.half_space, d);
  }
  if (p->record->own_force) {
    double before = now ? impact_compression(law->support, now->energy) : 0;
    PlaneRecord r = record_of(p->record);
    ImpactParameters impact = impact_parameters(law, p->material);
    memory->solve_impact = impact_of(&impact, ((const PlaneSolution*)p->own_solve)->energy, before, &r.past);
  }
  bool sound = true;
  if (p->record->rubbing && now && rolls(p->material)) {
    PlaneRecord r = record_of(p->record);
    RollingParameters rolling = rolling_of(law, p->material, load_of(law, &r));
    memory->rolling = rolling_lag(&p->now[0].hull, &p->now[1].hull, &now->plane, force_of(now));
    rolling_derivatives(&memory->rolling, &rolling, &body[0].hull.pose, &body[1].hull.pose, body[1].hull.half_space, d);
  }
  if (p->record->rubbing && slides(p->material)) {
    PlaneRecord r = record_of(p->record);
    FrictionParameters parameters = recorded_friction(p, &r);
    const PairBody* at = p->record->own_force ? p->solve : p->now;
    const PlaneSolution* solution = p->record->own_force ? p->own_solve : now;
    FrictionDirection direction;
    friction_lag(&at[0].hull, &at[1].hull, law->support, &solution->plane, p->record->own_force ? p->begin : NULL,
                 p->aim, direction_of(p->material, &direction), p->vertices, &memory->lag);
    memcpy(memory->lag.slip, r.plane_slip, sizeof(r.plane_slip));
    sound = friction_recall(&memory->lag, &parameters, &body[0].hull.pose, &body[1].hull.pose) >= 0;
    double others[12][12];
    bool apart = p->apart && follows_impulse(p);
    if (apart) memcpy(others, d->hessian, sizeof(others));
    if (sound)
      friction_derivatives(&memory->lag, &parameters, &body[0].hull.pose, &body[1].hull.pose, body[0].reference,
                           body[1].reference, d);
    if (apart) memcpy(d->hessian, others, sizeof(others));
  }
  pair_scale(d, law->stiffness);
  return sound;
}

double plane_law_potential(const LawReplay* p, Vec3 force[2], Vec3 torque[2]) {
  PairDerivatives d;
  PlaneResponse response;
  const PairBody* body = p->next;
  plane_derivatives(p->own_next, body[1].hull.half_space, body[0].reference, body[1].reference, &d, &response);
  plane_balance(p->own_next, &response, &d);
  for (int side = 0; side < 2; side++) {
    force[side] = d.force[side];
    torque[side] = mat3_axial(d.moment[side]);
  }
  if (body[1].hull.half_space) force[1] = torque[1] = vec3(0, 0, 0); /* PairShares.ground_next contains them */
  return ((const PlaneReplay*)p->memory)->impact.second;
}

/* As plane_law_reverse for friction that depends on the force of the previous solve of the step. */
static void reverse_own_force(const LawReplay* p, const double twist[2][6], const ImpactParameters* impact,
                              Pressure* bar, PairShares* s) {
  const PlaneLaw* law = p->law;
  const PlaneReplay* memory = p->memory;
  PlaneRecord r = record_of(p->record);
  ActiveSides then = {.vertices = law->active[p->thread]};
  ImpactMoment solve = {p->solve, p->own_solve}, now = {p->now, p->own_now};
  FrictionParameters parameters = recorded_friction(p, &r);
  friction_adjoint(&memory->lag, &parameters, law->support, p->solve, p->next, true, solve.solution, twist, 0, &then,
                   s);
  impact_own_load_adjoint(&memory->solve_impact, impact, p->material, &now, &solve, &then, bar, s);
}

/* Distributes the derivative with respect to the acting friction coefficient to both coefficients, the Stribeck speed
 * and the slip (F12). Derivatives of the slip with respect to the poses at t are added here; the step to t adds the
 * rest (PairCarry.slip). */
static void reverse_static_friction(const LawReplay* p, const FrictionSlip* slip, PairShares* s) {
  const double* value = p->material->value;
  double part = stuck_part(p->material, slip), speed = value[MATERIAL_STRIBECK_SPEED], by = s->friction;
  double above = value[MATERIAL_STATIC_FRICTION] - value[MATERIAL_FRICTION];
  if (!(part > 0)) return;
  s->friction = by * (1 - part);
  s->static_friction = by * part;
  s->stribeck_speed = by * above * part * 2 * slip->square / (speed * speed * speed);
  double by_slip = -by * above * part / (speed * speed);
  if (!(slip->dt > 0)) return; /* the slip at the start of a run is given */
  s->carry.slip = by_slip;
  s->dt_before -= 2 * slip->square / slip->dt * by_slip;
  for (int side = 0; side < 2; side++) {
    Vec3 move = vec3_scale(slip->by, side == 0 ? by_slip : -by_slip);
    Vec3 turn = vec3_cross(vec3_sub(slip->point[side], p->now[side].hull.pose.t), move);
    bool ground = p->now[side].hull.half_space;
    Vec3* moves = ground ? &s->ground_now.force : &s->move_now[side];
    Vec3* turns = ground ? &s->ground_now.torque : &s->turn_now[side];
    *moves = vec3_add(*moves, move);
    *turns = vec3_add(*turns, turn);
  }
}

/* Returns Phi of a pair that bounces, computed from the same numbers as the Hessian. plane_adjoint rounds differently,
 * and the sum with the derivatives of the load would lose its digits by cancellation (impact.md, I14). */
static double potential_change(const LawReplay* p, const double twist[2][6]) {
  Vec3 force[2], torque[2];
  double sum = 0;
  (void)plane_law_potential(p, force, torque);
  for (int side = 0; side < 2; side++)
    sum += vec3_dot(torque[side], vec3_at(twist[side])) + vec3_dot(force[side], vec3_at(twist[side] + 3));
  return sum;
}

void plane_law_reverse(const LawReplay* p, const double twist[2][6], const PairCarry* carry, PairShares* s) {
  const PlaneLaw* law = p->law;
  const PlaneReplay* memory = p->memory;
  ActiveSides active = {.vertices = law->active[p->thread]}, then = active;
  ImpactMoment next = {p->next, p->own_next}, now = {p->now, p->own_now};
  ImpactParameters impact = impact_parameters(law, p->material);
  Pressure bar = {0, 0}; /* derivatives with respect to the pressure at t */
  if (p->record->active) {
    plane_adjoint(p->next, law->support, next.solution, &memory->response, twist, &active, s);
    PlaneRecord r = record_of(p->record);
    if (r.past.bounces) s->value = potential_change(p, twist);
    impact_adjoint(&memory->impact, &impact, &r.past, carry, &now, &next, &active, &bar, s);
  }
  if (p->record->own_force) reverse_own_force(p, twist, &impact, &bar, s);
  if (p->record->rubbing && !p->record->own_force) {
    PlaneRecord r = record_of(p->record);
    FrictionParameters parameters = recorded_friction(p, &r);
    RollingParameters rolling = rolling_of(law, p->material, load_of(law, &r));
    if (slides(p->material))
      friction_adjoint(&memory->lag, &parameters, law->support, now.body, p->next, false, now.solution, twist,
                       carry->slip, &then, s);
    if (rolls(p->material))
      bar.force += rolling_adjoint(&memory->rolling, &rolling, law->support, &now, p->next, twist, &then, s);
    double by_rest_speed = s->rest_speed;
    PairMaterial material = acting(p->material, &r.slip);
    impact_load_adjoint(&r.load, &material, &bar, s);
    reverse_static_friction(p, &r.slip, s);
    if (r.past.dt_before > 0) /* the width depends on v_r dt (I2) */
      s->dt_before += (s->rest_speed - by_rest_speed) * law->impact.rest_speed / r.past.dt_before;
  }
  impact_carry_adjoint(carry, &impact, &now, &bar, s);
  impact_pressure_adjoint(&bar, &impact, &now, &then, s);
}
