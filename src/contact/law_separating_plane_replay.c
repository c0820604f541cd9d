/* Terms and adjoint of recorded pairs of the law `separating_plane` (adjoint.h). */
#include "contact/law_separating_plane_types.h"

#include <string.h>

#include "contact/ring.h"

static PlaneRecord record_of(const ContactRecord* from) {
  PlaneRecord r;
  memcpy(&r, from->kept, sizeof(r));
  return r;
}

bool plane_law_revisit(void* instance, int thread, const ContactRecord* from, const PairBody body[2], void* data) {
  const PlaneLaw* law = instance;
  if (!from->active) return true;
  return plane_solve(&body[0].hull, &body[1].hull, law->support, record_of(from).plane, &law->scratch[thread], data) ==
         PLANE_ACTIVE;
}

/* Returns the state of the impact of a recorded pair, with its impulses for the present force_ratio. */
static ImpactPast past_of(const LawReplay* p, const PlaneRecord* r) {
  const double change =
      ((const PlaneLaw*)p->law)->step->force_ratio - 1; /* change of the ratio relative to the recorded one */
  ImpactPast past = r->past;
  past.recorded = true;
  if (!(past.ratio > 0)) return past;
  past.impulse *= 1 + change / past.ratio;
  past.latest *= 1 + change / past.ratio;
  return past;
}

/* Returns the impact factor of the normal force that limits friction, for the present force_ratio. The factor is
 * extrapolated to first order from the recorded factor, except in an impact with restitution. */
static double load_of(const LawReplay* p, const PlaneRecord* r) {
  const PlaneLaw* law = p->law;
  if (!r->load.bounces) return r->load.factor + (law->step->force_ratio - 1) * r->load.by_ratio;
  if (!p->data_now) return 0;
  ImpactParameters impact = impact_parameters(law, p->material);
  ImpactPast past = past_of(p, r);
  return impact_friction_limit(&impact, &past).value / force_of(p->data_now);
}

/* Returns true if the friction term with the points of the previous solve acts on a recorded pair (friction.md, F14).
 */
static bool current_term_acts(const LawReplay* p) {
  return p->record->current_force && has_current_points(&p->next[0].hull, &p->next[1].hull);
}

/* (F14) Normal forces that limit friction of a recorded pair, for stiffness 1. */
typedef struct {
  double load, current_load;   /* impact factors at t, without the impulse of an impact, and in the previous solve */
  double slope;                /* derivative of `load` with respect to the complete factor at t */
  double force, current_force; /* normal forces at t and in the previous solve, without the impact factors */
  FrictionFactors factors;     /* l and c of the two terms */
  double bound;                /* l load force + c current_load current_force */
  FrictionScale debt_factor;
} RecordedBound;

static RecordedBound bound_of(const LawReplay* p, const PlaneRecord* r) {
  RecordedBound b = {.slope = 1, .debt_factor = {.value = 1}};
  b.factors = (FrictionFactors){.late = 1 - r->current_weight, .current = r->current_weight};
  if (p->now && p->data_now) b.load = load_of(p, r);
  if (p->record->current_force) b.current_load = ((const PlaneReplay*)p->memory)->solve_impact.first;
  const PlaneDeferredForce debt = r->debt;
  if (!debt.carries_debt) return b;
  const Impact whole = {.first = b.load, .second = 1}, late = impact_friction_factor(&whole, 0);
  b.load = late.first;
  b.slope = late.second;
  if (b.load > 0 && p->data_now) b.force = force_of(p->data_now);
  if (b.current_load > 0 && p->data_solve) b.current_force = force_of(p->data_solve);
  const double start = b.load * b.force, current = b.current_load * b.current_force;
  b.factors =
      friction_factors(r->current_weight, start, current, has_current_points(&p->next[0].hull, &p->next[1].hull));
  b.bound = b.factors.late * start + b.factors.current * current;
  const double change =
      ((const PlaneLaw*)p->law)->step->force_ratio - 1; /* change of the ratio relative to the recorded one */
  b.debt_factor = compute_friction_scale(b.bound, debt.friction_debt * (1 + change / debt.ratio));
  return b;
}

/* Returns the parameters of one of the two friction terms (F14) of a recorded pair. current: false for the term that
 * the force at t limits, true for the term that the force of the previous solve of the step limits. The coefficient
 * contains the impact factor of this force, the weight of the term, and the factor of (F14). */
static FrictionParameters recorded_friction(const LawReplay* p, const PlaneRecord* r, bool current) {
  FrictionParameters parameters = friction_parameters(p->law);
  RecordedBound b = bound_of(p, r);
  double load = current ? b.factors.current * b.current_load : b.factors.late * b.load;
  parameters.coefficient = acting(p->material, &r->slip).value[MATERIAL_FRICTION] * load * b.debt_factor.value;
  return parameters;
}

/* Returns true if the step changes the elastic slip of a recorded pair (F16). */
static bool changes_elastic_slip(const LawReplay* p) { return p->now && p->data_now && slides(p->material); }

/* Returns the factor s on the displacement in the trial elastic slip V (F16). */
static ElasticShare share_of(const LawReplay* p) {
  return elastic_share(force_of(p->data_now), p->record->active ? force_of(p->data_next) : 0);
}

/* Sets *bar to the derivatives of a scalar with respect to the displacement of the step, which determines numbers that
 * the pair passes to the next step. carry: derivatives with respect to these numbers. Returns false if the derivatives
 * are zero. */
static bool displacement_bar(const LawReplay* p, const PairCarry* carry, DisplacementBar* bar) {
  const PlaneLaw* law = p->law;
  const FrictionLag* lag = &((const PlaneReplay*)p->memory)->lag;
  *bar = (DisplacementBar){0};
  if (!changes_elastic_slip(p) || (vec3_is_zero(carry->elastic) && carry->slip == 0)) return false;
  const Pose* const next[2] = {&p->next[0].hull.pose, &p->next[1].hull.pose};
  *bar = displacement_reverse(lag, next, share_of(p).value, law->step->dt, law->smoothing, carry->elastic, carry->slip);
  return true;
}

bool plane_law_displacement_wrench(const LawReplay* p, const PairCarry* carry, double wrench[2][6]) {
  DisplacementBar bar;
  if (!displacement_bar(p, carry, &bar)) return false;
  const Pose* const next[2] = {&p->next[0].hull.pose, &p->next[1].hull.pose};
  const Vec3 reference[2] = {p->next[0].reference, p->next[1].reference};
  displacement_wrench(&((const PlaneReplay*)p->memory)->lag, next, reference, bar.by_displacement, wrench);
  return true;
}

PairTransfer plane_law_transfer(const LawReplay* p) {
  PairTransfer out = {.net_limit = 0};
  const FrictionLag* lag = &((const PlaneReplay*)p->memory)->lag;
  PlaneRecord r = record_of(p->record);
  if (changes_elastic_slip(p))
    out.displacement = friction_displacement(lag, &p->next[0].hull.pose, &p->next[1].hull.pose);
  if (r.debt.carries_debt) out.net_limit = p->record->grip * bound_of(p, &r).debt_factor.net_limit;
  if (impact_acts(r.past.stage)) out.net_limit = -past_of(p, &r).impulse;
  return out;
}

PairTransfer plane_law_transfer_slopes(const LawReplay* p, const PairCarry* carry) {
  DisplacementBar bar;
  (void)displacement_bar(p, carry, &bar);
  return (PairTransfer){bar.by_displacement, carry->net_limit};
}

/* Returns true if friction is limited by the impulse of an impact with restitution (impact.md, I9). */
static bool follows_impulse(const LawReplay* p) {
  if (!p->record->has_friction || p->record->current_force || !slides(p->material)) return false;
  PlaneRecord r = record_of(p->record);
  return r.load.bounces;
}

bool plane_law_slip_product(const LawReplay* p, const double twist[2][6], double wrench[2][6]) {
  if (!follows_impulse(p)) return false;
  const PlaneLaw* law = p->law;
  PlaneRecord r = record_of(p->record);
  FrictionParameters parameters = recorded_friction(p, &r, false);
  friction_product(&((const PlaneReplay*)p->memory)->lag, &parameters, p->next, twist, wrench);
  for (int i = 0; i < 12; i++) wrench[i / 6][i % 6] *= law->stiffness;
  return true;
}

/* Sets the friction reference of one of the two friction terms (PairMemory.current_weight). current: as of
 * replay_friction. */
static void replay_lag(const LawReplay* p, const PlaneRecord* r, bool current) {
  const PlaneLaw* law = p->law;
  PlaneReplay* memory = p->memory;
  const PairBody* at = current ? p->solve : p->now;
  const PlaneSolution* solution = current ? p->data_solve : p->data_now;
  FrictionLag* lag = current ? &memory->current_lag : &memory->lag;
  FrictionVertex* room = p->vertices;
  if (current && changes_elastic_slip(p)) room += memory->lag.count[0] + memory->lag.count[1];
  FrictionDirection direction;
  friction_lag(&at[0].hull, &at[1].hull, law->support, &solution->plane, current ? p->begin : NULL, p->aim, p->shift,
               direction_of(p->material, &direction), room, lag);
  friction_set_elastic(lag, r->elastic.value);
}

/* Adds force and Hessian of one of the two friction terms (F14) to *d. current: false for the term that the force at t
 * limits, true for the term that the force of the previous solve limits. Returns false if the minimum over the slip was
 * not found. */
static bool replay_friction(const LawReplay* p, const PlaneRecord* r, bool current, PairDerivatives* d) {
  PlaneReplay* memory = p->memory;
  const PairBody* body = p->next;
  FrictionLag* lag = current ? &memory->current_lag : &memory->lag;
  FrictionParameters parameters = recorded_friction(p, r, current);
  memcpy(lag->slip, r->plane_slip[current], sizeof(lag->slip));
  if (friction_recall(lag, &parameters, &body[0].hull.pose, &body[1].hull.pose) < 0) return false;
  double others[12][12];
  bool excludes = p->apart && follows_impulse(p);
  if (excludes) memcpy(others, d->hessian, sizeof(others));
  friction_derivatives(lag, &parameters, &body[0].hull.pose, &body[1].hull.pose, body[0].reference, body[1].reference,
                       d);
  if (excludes) memcpy(d->hessian, others, sizeof(others));
  return true;
}

/* Returns true if the constant wrench of an impact acts on a recorded pair (impact.md, I7a). */
static bool restitution_acts(const LawReplay* p) {
  return p->data_now && record_of(p->record).past.stage == IMPACT_RESTITUTION;
}

static ReturnWrench recorded_return(const LawReplay* p) {
  PlaneRecord r = record_of(p->record);
  ImpactParameters impact = impact_parameters(p->law, p->material);
  const ImpactPast past = past_of(p, &r);
  PairDerivatives contact;
  PlaneResponse response;
  plane_derivatives(p->data_now, p->now[1].hull.half_space, p->now[0].reference, p->now[1].reference, &contact,
                    &response);
  plane_balance(p->data_now, &response, &contact);
  const Vec3 reference[2] = {p->now[0].reference, p->now[1].reference};
  const Pose* const pose[2] = {&p->now[0].hull.pose, &p->now[1].hull.pose};
  ReturnWrench out;
  impact_return_wrench(&contact, impact_return(&impact, &past).value / force_of(p->data_now), reference, pose, &out);
  return out;
}

bool plane_law_replay(const LawReplay* p, PairDerivatives* d) {
  const PlaneLaw* law = p->law;
  PlaneReplay* memory = p->memory;
  const PlaneSolution *now = p->data_now, *next = p->data_next;
  const PairBody* body = p->next;
  if (p->record->active) {
    plane_derivatives(next, body[1].hull.half_space, body[0].reference, body[1].reference, d, &memory->response);
    plane_balance(next, &memory->response, d);
    double before = now ? impact_compression(law->support, now->energy) : 0;
    PlaneRecord r = record_of(p->record);
    ImpactParameters impact = impact_parameters(law, p->material);
    ImpactPast past = past_of(p, &r);
    memory->impact = impact_evaluate_pair(&impact, next->energy, before, &past);
    impact_scale(&memory->impact, body[1].hull.half_space, d);
  }
  if (p->record->current_force) {
    double before = now ? impact_compression(law->support, now->energy) : 0;
    PlaneRecord r = record_of(p->record);
    ImpactParameters impact = impact_parameters(law, p->material);
    memory->solve_impact =
        impact_evaluate_pair(&impact, ((const PlaneSolution*)p->data_solve)->energy, before, &r.past);
  }
  if (restitution_acts(p)) {
    const Pose* const pose[2] = {&body[0].hull.pose, &body[1].hull.pose};
    const Vec3 reference[2] = {body[0].reference, body[1].reference};
    ReturnWrench wrench = recorded_return(p);
    impact_return_derivatives(&wrench, reference, pose, d);
  }
  bool sound = true;
  if (p->record->has_friction && now && rolls(p->material)) {
    PlaneRecord r = record_of(p->record);
    RollingParameters rolling = rolling_parameters(law, p->material, bound_of(p, &r).load);
    memory->rolling = rolling_lag(&p->now[0].hull, &p->now[1].hull, &now->plane, force_of(now));
    rolling_derivatives(&memory->rolling, &rolling, &body[0].hull.pose, &body[1].hull.pose, body[1].hull.half_space, d);
  }
  if (changes_elastic_slip(p)) {
    PlaneRecord r = record_of(p->record);
    replay_lag(p, &r, false);
  }
  if (p->record->has_friction && slides(p->material)) {
    PlaneRecord r = record_of(p->record);
    if (current_term_acts(p)) replay_lag(p, &r, true);
    if (p->record->late) sound = replay_friction(p, &r, false, d);
    if (current_term_acts(p)) sound = sound && replay_friction(p, &r, true, d);
  }
  pair_scale(d, law->stiffness);
  return sound;
}

static double potential(const LawReplay* p, Vec3 force[2], Vec3 torque[2]) {
  PairDerivatives d;
  PlaneResponse response;
  const PairBody* body = p->next;
  plane_derivatives(p->data_next, body[1].hull.half_space, body[0].reference, body[1].reference, &d, &response);
  plane_balance(p->data_next, &response, &d);
  for (int side = 0; side < 2; side++) {
    force[side] = d.force[side];
    torque[side] = mat3_axial(d.moment[side]);
  }
  if (body[1].hull.half_space) force[1] = torque[1] = vec3(0, 0, 0); /* PairShares.ground_next contains them */
  return ((const PlaneReplay*)p->memory)->impact.second;
}

void plane_law_passes(const LawReplay* p, PairPasses* out) {
  *out = (PairPasses){.slope = 0};
  if (p->record->active) out->slope = potential(p, out->force, out->torque);
}

ContactWork plane_work(const PlaneLaw* law, const HullInstance* const hull[2], const PairDerivatives* contact,
                       double factor, double energy, double before) {
  ContactWork out = {.stored = law->stiffness * (energy - before), .support = law->support};
  for (int side = 0; side < 2; side++) { /* a force is minus the gradient of the energy */
    out.profile[side] = ring_profile(hull[side]);
    out.force[side] = vec3_scale(contact->force[side], -law->stiffness * factor);
    out.torque[side] = vec3_scale(mat3_axial(contact->moment[side]), -law->stiffness * factor);
  }
  return out;
}

static double potential_before(const LawReplay* p) {
  return p->data_now ? ((const PlaneSolution*)p->data_now)->energy : 0;
}

bool plane_law_recorded_work(const LawReplay* p, ContactWork* out) {
  if (!p->record->active || p->material->value[MATERIAL_RESTITUTION] > 0) return false;
  PairDerivatives d;
  PlaneResponse response;
  const PairBody* body = p->next;
  const PlaneSolution* next = p->data_next;
  plane_derivatives(next, body[1].hull.half_space, body[0].reference, body[1].reference, &d, &response);
  const HullInstance* const hull[2] = {&body[0].hull, &body[1].hull};
  *out = plane_work(p->law, hull, &d, ((const PlaneReplay*)p->memory)->impact.first, next->energy, potential_before(p));
  return true;
}

void plane_law_work_wrench(const LawReplay* p, double wrench[2][6]) {
  const PlaneLaw* law = p->law;
  const PairBody* body = p->next;
  PairDerivatives d;
  PlaneResponse response;
  plane_derivatives(p->data_next, body[1].hull.half_space, body[0].reference, body[1].reference, &d, &response);
  double bar[12], slope[12];
  for (int side = 0; side < 2; side++) {
    vec3_store(p->work->torque[side], bar + 6 * side);
    vec3_store(p->work->force[side], bar + 6 * side + 3);
    vec3_store(mat3_axial(d.moment[side]), slope + 6 * side);
    vec3_store(d.force[side], slope + 6 * side + 3);
  }
  impact_scale(&((const PlaneReplay*)p->memory)->impact, body[1].hull.half_space, &d);
  int rows = body[1].hull.half_space ? 6 : 12;
  for (int i = 0; i < 12; i++) {
    double sum = i < rows ? p->work->stored * slope[i] : 0;
    for (int j = 0; i < rows && j < rows; j++) sum -= d.hessian[i][j] * bar[j];
    wrench[i / 6][i % 6] = law->stiffness * sum;
  }
  for (int side = 0; 6 * side < rows;
       side++) { /* the Hessian leaves out the rotation of the lever arms (contact.md, C5) */
    Vec3 turn = p->work->torque[side];
    Vec3 curved = vec3_add_scaled(mat3_mul_vec(d.moment[side], turn), -mat3_trace(d.moment[side]), turn);
    vec3_store(vec3_add_scaled(vec3_at(wrench[side]), -law->stiffness, curved), wrench[side]);
  }
}

/* Sets contact_twist to the twists of both bodies, minus the derivatives of a scalar with respect to the normal force
 * and its torque. Adds the derivative of the scalar with respect to the potential at t to *bar. Returns the derivatives
 * with respect to the numbers that the pair passes to the next step, with the derivative of the scalar with respect to
 * the potential at t + dt. */
static PairCarry add_work_bars(const LawReplay* p, const double twist[2][6], const PairCarry* carry,
                               double contact_twist[2][6], Pressure* bar) {
  PairCarry out = *carry;
  memcpy(contact_twist, twist, 2 * sizeof(double[6]));
  if (!p->work) return out;
  for (int side = 0; side < 2; side++) {
    double by[6];
    vec3_store(p->work->torque[side], by);
    vec3_store(p->work->force[side], by + 3);
    for (int k = 0; k < 6; k++) contact_twist[side][k] -= by[k];
  }
  out.event += p->work->stored;
  bar->potential -= p->work->stored;
  return out;
}

/* The friction force is a weighted sum of two terms, which the force at t and the force of the previous solve of the
 * step limit (F14). Adds the contribution of the weight of the second term to the derivatives of Phi with respect to
 * parameters. by_share: derivative of Phi with respect to this weight. change: difference of the second force from the
 * force at t, for stiffness 1. Returns the derivative of Phi with respect to `change`. */
static double reverse_current_weight(const LawReplay* p, double by_share, double change, PairShares* s) {
  const PlaneLaw* law = p->law;
  double mu = p->material->value[MATERIAL_FRICTION];
  double mobility = law->inverse_mass[p->record->hull_a] + law->inverse_mass[p->record->hull_b];
  CurrentForceWeight share = current_force_weight(law, p->material, mobility, change);
  double by_speed = by_share * share.by_speed;
  if (by_speed == 0) return 0;
  s->friction += by_speed * share.speed / mu;
  s->stiffness += by_speed * share.speed / law->stiffness;
  s->inertia -= by_speed * share.speed * mobility;
  s->rest_speed -= by_speed * share.speed / law->rest_speed;
  return by_speed * share.speed / change;
}

/* Adds the contribution of the impact factor at t to the derivatives of Phi. by_factor: derivative of Phi with respect
 * to the impact factor. The impact factor depends on the displacement v_r dt at the rest speed v_r in the previous step
 * of length dt (impact.md, I2). */
static void load_adjoint(const PlaneLaw* law, const PlaneRecord* r, double by_factor, Pressure* bar, PairShares* s) {
  const double before = s->rest_speed;
  impact_late_load_adjoint(&r->load, by_factor, NULL, bar, s);
  if (r->past.dt_before > 0) s->dt_before += (s->rest_speed - before) * law->rest_speed / r->past.dt_before;
}

/* Converts the derivative with respect to the acting friction coefficient into derivatives with respect to both
 * coefficients, the Stribeck speed and the slip (F12). The step to t differentiates the slip (PairCarry.slip). */
static void reverse_static_friction(const LawReplay* p, const FrictionSlip* slip, PairShares* s) {
  const double* value = p->material->value;
  double part = static_friction_fraction(p->material, slip), speed = value[MATERIAL_STRIBECK_SPEED], by = s->friction;
  double above = value[MATERIAL_STATIC_FRICTION] - value[MATERIAL_FRICTION];
  if (!(part > 0)) return;
  s->friction = by * (1 - part);
  s->static_friction = by * part;
  s->stribeck_speed = by * above * part * 2 * slip->square / (speed * speed * speed);
  double by_slip = -by * above * part / (speed * speed);
  if (!(slip->dt > 0)) return; /* the slip at the start of a run is a constant without derivatives */
  s->carry.slip = by_slip;
  s->dt_before -= 2 * slip->square / slip->dt * by_slip;
}

/* Adds the contribution of friction that depends on the force of the previous solve of the step (F9), or on weighted
 * forces (F14), to the derivatives of Phi. by_net_limit: derivative of the scalar with respect to
 * FrictionScale.net_limit, found in the next step. Adds the derivatives with respect to the potential and force of the
 * pair at t to *bar. */
static void reverse_current_force(const LawReplay* p, const double twist[2][6], const ImpactParameters* impact,
                                  double by_net_limit, const DisplacementBar* passed, Pressure* bar, PairShares* s) {
  const PlaneLaw* law = p->law;
  const PlaneReplay* memory = p->memory;
  PlaneRecord r = record_of(p->record);
  ActiveSides lag_sides = {.vertices = law->active[p->thread]};
  ImpactMoment solve = {p->solve, p->data_solve}, now = {p->now, p->data_now};
  RecordedBound b = bound_of(p, &r);
  const PlaneDeferredForce debt = r.debt;
  double mu = acting(p->material, &r.slip).value[MATERIAL_FRICTION], weight = r.current_weight;
  const FrictionFactors factors = b.factors;
  double late_factor = factors.late * b.debt_factor.value, current_factor = factors.current * b.debt_factor.value;
  double by_late = 0, by_own = 0; /* derivatives with respect to the friction coefficients of both friction terms, times
                                     the factors of (F14) */
  if (p->record->late || passed) {
    FrictionParameters parameters = recorded_friction(p, &r, false);
    friction_adjoint(&memory->lag, &parameters, law->support, p->now, p->next, false, now.solution, twist, passed,
                     &lag_sides, s);
    by_late = s->friction;
    s->friction = 0;
  }
  double by_rolling_load = 0;
  if (p->record->has_friction && p->data_now && rolls(p->material)) {
    const double* value = p->material->value;
    RollingParameters rolling = rolling_parameters(law, p->material, b.load);
    bar->force += rolling_adjoint(&memory->rolling, &rolling, law->support, &now, p->next, twist, &lag_sides, s);
    by_rolling_load = s->rolling * value[MATERIAL_ROLLING] + s->spinning * value[MATERIAL_SPINNING];
    s->rolling *= b.load;
    s->spinning *= b.load;
  }
  lag_sides.is_set = false;
  if (current_term_acts(p)) {
    FrictionParameters parameters = recorded_friction(p, &r, true);
    friction_adjoint(&memory->current_lag, &parameters, law->support, p->solve, p->next, true, solve.solution, twist,
                     NULL, &lag_sides, s);
    by_own = s->friction;
  }
  s->friction = by_late * late_factor * b.load + by_own * current_factor * b.current_load;
  double by_debt_factor = mu * (by_late * factors.late * b.load + by_own * factors.current * b.current_load);
  double by_debt = by_debt_factor * b.debt_factor.by_debt + by_net_limit * b.debt_factor.net_limit_by_debt;
  double by_bound =
      by_debt_factor * b.debt_factor.by_bound + by_net_limit * p->record->grip * b.debt_factor.net_limit_by_bound;
  s->grip = by_net_limit * b.debt_factor.net_limit; /* a pair whose grip is not 1 has no debt */
  double force = b.load * b.force, current_force = b.current_load * b.current_force;
  double by_change = 0;
  double by_late_factor = mu * b.debt_factor.value * by_late * b.load + by_bound * force;
  double by_current_factor = mu * b.debt_factor.value * by_own * b.current_load + by_bound * current_force;
  reverse_static_friction(p, &r.slip, s);
  if (debt.carries_debt && weight > 0) /* if the weight is 0, the step may have no previous solve */
    by_change = reverse_current_weight(
        p, by_late_factor * factors.late_by_weight + by_current_factor * factors.current_by_weight,
        current_force - force, s);
  if (b.current_load > 0) {
    double by_force = by_bound * factors.current + by_change + by_late_factor * factors.late_by_current +
                      by_current_factor * factors.current_by_current;
    impact_current_load_adjoint(&memory->solve_impact, impact,
                                by_own * mu * current_factor + by_force * b.current_force, by_force * b.current_load,
                                &now, &solve, &lag_sides, bar, s);
  }
  const double by_whole = debt.has_debt ? by_debt * debt.ratio : 0;
  s->carry.net_limit = -by_whole;
  if (b.load > 0) {
    double by_force = by_bound * factors.late - by_change + by_late_factor * factors.late_by_start +
                      by_current_factor * factors.current_by_start;
    bar->force += by_force * b.load + by_whole * r.load.factor;
    double by_factor =
        (by_late * mu * late_factor + by_force * b.force + by_rolling_load) * b.slope + by_whole * b.force;
    load_adjoint(law, &r, by_factor, bar, s);
  }
}

/* Returns Phi of a pair whose impact has restitution, computed from the same numbers as the Hessian. plane_adjoint
 * rounds differently. If its result were added to the derivatives of the load, the sum would lose its digits by
 * cancellation (impact.md, I14). */
static double potential_change(const LawReplay* p, const double twist[2][6]) {
  Vec3 force[2], torque[2];
  double sum = 0;
  (void)potential(p, force, torque);
  for (int side = 0; side < 2; side++)
    sum += vec3_dot(torque[side], vec3_at(twist[side])) + vec3_dot(force[side], vec3_at(twist[side] + 3));
  return sum;
}

/* Adds the contribution of ContactWork to the derivatives of a scalar with respect to parameters, at fixed poses. */
static void add_work_parameters(const LawReplay* p, PairShares* s) {
  const PlaneLaw* law = p->law;
  const PlaneSolution* next = p->data_next;
  s->value += p->work->stored * (next->energy - potential_before(p));
  s->support += p->work->support / law->stiffness; /* all of *s is multiplied by the stiffness */
  for (int side = 0; side < 2; side++) {
    const RingProfile* by = &p->work->profile[side];
    double k = 1 / law->stiffness;
    ring_profile_reverse(&p->next[side].hull,
                         &(RingProfile){by->largest * k, by->least * k, by->origin * k, by->taper * k}, s->shape[side]);
  }
}

void plane_law_reverse(const LawReplay* p, const double twist[2][6], const PairCarry* carry, PairShares* s) {
  const PlaneLaw* law = p->law;
  const PlaneReplay* memory = p->memory;
  ActiveSides active = {.vertices = law->active[p->thread]}, lag_sides = active;
  ImpactMoment next = {p->next, p->data_next}, now = {p->now, p->data_now};
  ImpactParameters impact = impact_parameters(law, p->material);
  Pressure bar = {0, 0}; /* derivatives with respect to the pressure at t */
  PlaneRecord r = record_of(p->record);
  const ImpactImpulse impact_at_start = {&impact, &r.past, p->data_now ? force_of(p->data_now) : 0};
  if (p->record->active) {
    double contact_twist[2][6];
    const PairCarry at_end = add_work_bars(p, twist, carry, contact_twist, &bar);
    plane_adjoint(p->next, law->support, next.solution, &memory->response, (const double(*)[6])contact_twist, &active,
                  s);
    if (impact_acts(r.past.stage)) s->value = potential_change(p, (const double(*)[6])contact_twist);
    impact_adjoint(&memory->impact, &impact, &r.past, &at_end, &now, &next, &active, &bar, s);
    if (p->work) add_work_parameters(p, s);
  }
  bool weighted = p->record->current_force || r.debt.carries_debt;
  DisplacementBar displacement;
  const DisplacementBar* passed = displacement_bar(p, carry, &displacement) ? &displacement : NULL;
  s->smoothing += displacement.by_smoothing;
  if (passed) bar.force += displacement.by_share * share_of(p).by_start;
  if (weighted) reverse_current_force(p, twist, &impact, carry->net_limit, passed, &bar, s);
  if ((p->record->has_friction || passed) && !weighted) {
    FrictionParameters parameters = recorded_friction(p, &r, false);
    RollingParameters rolling = rolling_parameters(law, p->material, load_of(p, &r));
    if (slides(p->material))
      friction_adjoint(&memory->lag, &parameters, law->support, now.body, p->next, false, now.solution, twist, passed,
                       &lag_sides, s);
    if (p->record->has_friction && rolls(p->material))
      bar.force += rolling_adjoint(&memory->rolling, &rolling, law->support, &now, p->next, twist, &lag_sides, s);
    double by_rest_speed = s->rest_speed;
    PairMaterial material = acting(p->material, &r.slip);
    impact_load_adjoint(&r.load, &material, &impact_at_start, &bar, s);
    reverse_static_friction(p, &r.slip, s);
    if (r.past.dt_before > 0) /* the width of the impact depends on v_r dt (I2) */
      s->dt_before += (s->rest_speed - by_rest_speed) * law->rest_speed / r.past.dt_before;
  }
  s->carry.elastic = s->elastic;
  bar.force += vec3_dot(s->elastic, r.elastic.by_force);
  s->dt_before += vec3_dot(s->elastic, r.elastic.by_dt);
  impact_carry_adjoint(carry, &impact, &now, &bar, s);
  if (restitution_acts(p)) {
    const ReturnWrench wrench = recorded_return(p);
    impact_return_adjoint(&impact_at_start, &wrench, &now, p->next, twist, &lag_sides, &bar, s);
  }
  if (impact_acts(r.past.stage)) impact_impulse_adjoint(&impact_at_start, carry->net_limit, &bar, s);
  impact_pressure_adjoint(&bar, &impact, &now, &lag_sides, s);
}
