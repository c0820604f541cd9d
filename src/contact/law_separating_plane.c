/* The contact law `separating_plane` of SDRS. The contact energy is the minimum, over all planes between two convex
 * hulls, of the barrier energies of both hulls (plane.h, docs/derivations/contact.md). The law also has dissipation and
 * restitution of impacts (impact.h), and friction in the contact plane at the start of the step (friction.h).
 * law_separating_plane_store.c stores and records pairs, law_separating_plane_replay.c evaluates recorded pairs. */
#include "contact/law_separating_plane_types.h"

#include <float.h>
#include <string.h>

#include "contact/law_separating_plane_pair.h"
#include "contact/rest.h"
#include "contact/ring.h"
#include "contact/tree_mass.h"

/* Estimated rounding error of a pair's energy, divided by DBL_EPSILON times the energy. ENERGY_ROUNDINGS accounts for
 * the rounding of sums. CLEARANCE_ROUNDINGS accounts for the clearances of a few vertices, because the energy is
 * inversely proportional to the fifth power of a clearance. */
#define ENERGY_ROUNDINGS 50.0
#define CLEARANCE_ROUNDINGS 20.0
/* If the tolerance of steps is at least LOOSE_TOLERANCE, the plane iteration ends with a step below LOOSE_LAST_STEP,
 * and forces are accurate to about 1e-10. For smaller tolerances, planes are solved to rounding. */
#define LOOSE_TOLERANCE 1e-6
#define LOOSE_LAST_STEP 1e-11
/* Largest number of VertexShare entries of a vertex. Each of these quantities has an entry: contact; potential at t +
 * dt, at t and in the previous solve of the step; force at t and in the previous solve; the two friction terms; the
 * normal of rolling friction. */
enum { VERTEX_SHARES = 10 };

/* ---------------------------------------------------------------- creation and parameters of the law */

#define ONLY "none|separating_plane"
static const SchemaRow rows[] = {
    {"contact", "barrier_distance", VALUE_NUMBER, offsetof(ContactForm, contact.support), .only = ONLY, .unit = "m",
     .fallback = "(derived from the scene)", .range = RANGE_ABOVE(0),
     .meaning = "Support s of the contact potential: contact forces act at gaps below about 2 s."},
    {"contact", "stiffness", VALUE_NUMBER, offsetof(ContactForm, contact.stiffness), .only = ONLY, .unit = "J m",
     .fallback = "(derived from the scene)", .range = RANGE_ABOVE(0),
     .meaning = "Stiffness kappa in front of the contact potential."},
    LAW_FRICTION_ROW(ONLY),
    {"contact", "rolling", VALUE_NUMBER, offsetof(ContactForm, contact.rolling), .only = ONLY, .unit = "m",
     .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Coefficient of rolling friction. At the normal force N, the moment rolling times N resists relative "
                "rotation about axes in the contact plane. The moment is smooth below 0.01 rad/s."},
    {"contact", "spinning", VALUE_NUMBER, offsetof(ContactForm, contact.spinning), .only = ONLY, .unit = "m",
     .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Coefficient of spinning friction. At the normal force N, the moment spinning times N resists relative "
                "rotation about the contact normal."},
    {"contact", "static_friction", VALUE_NUMBER, offsetof(ContactForm, contact.static_friction), .only = ONLY,
     .fallback = "(contact.friction)", .range = RANGE_BETWEEN(0, 100),
     .meaning = "Coulomb coefficient at rest, at least friction. At the slip v friction is friction + (static_friction "
                "- friction) exp(-(v / stribeck_speed)^2). v is the slip at the start of the step."},
    {"contact", "stribeck_speed", VALUE_NUMBER, offsetof(ContactForm, contact.stribeck_speed), .only = ONLY,
     .unit = "m/s", .fallback = "0.01", .range = RANGE_ABOVE(0),
     .meaning = "Slip over which static_friction falls to friction."},
    LAW_SMOOTHING_ROW_WITH(
        ONLY,
        "Friction smoothing epsilon: friction has 71 % of its full force at the slip sqrt(epsilon) on each side. "
        "A contact that sticks holds up to 98 % of its full force without creep."),
    {"contact", "restitution", VALUE_NUMBER, offsetof(ContactForm, contact.restitution), .only = ONLY, .fallback = "0",
     .nullable = true, .range = RANGE_BETWEEN(0, 1),
     .meaning = "Coefficient of restitution, independent of dt. It applies to approach speeds above 10 rest_speed. "
                "Below 5 rest_speed the restitution is 0. If null, only the barrier acts. It returns more energy for "
                "smaller dt."},
    {"contact", "rest_speed", VALUE_NUMBER, offsetof(ContactForm, contact.rest_speed), .only = ONLY, .unit = "m/s",
     .fallback = "(derived from the scene)", .range = RANGE_ABOVE(0),
     .meaning = "Speed below which impacts have no restitution. With restitution 0, bodies separate at no more than "
                "about this speed."},
};

static void scratch_create(PlaneScratch* scratch, const Model* model, double tolerance) {
  int largest = 8, second = 8;
  for (int i = 0; i < model->hull_count; i++) {
    int n = model->hulls[i].points.padded, nodes = 2 * RING_HALF * ROUND_RINGS_MAX;
    if (hull_is_round(&model->hulls[i]) && n < nodes) n = nodes;
    if (n > largest) {
      second = largest;
      largest = n;
    } else if (n > second)
      second = n;
  }
  int capacity = largest + second;
  *scratch = (PlaneScratch){MEMORY_NEW(double, capacity), MEMORY_NEW(double, capacity), MEMORY_NEW(double, capacity),
                            capacity, tolerance >= LOOSE_TOLERANCE ? LOOSE_LAST_STEP : 0};
}

static double* inverse_masses(const Model* model) {
  double *mass = tree_masses(model), *inverse = MEMORY_NEW(double, model->hull_count);
  for (int i = 0; i < model->hull_count; i++) inverse[i] = tree_inverse_mass(model, mass, model->hulls[i].link);
  memory_free(mass);
  return inverse;
}

static void* create(const Model* model, int threads, double tolerance, const LawStep* step) {
  const ModelContact* contact = &model->contact;
  PlaneLaw* law = MEMORY_NEW(PlaneLaw, 1);
  *law = (PlaneLaw){.support = contact->support,
                    .stiffness = contact->stiffness,
                    .range = plane_range(contact->support),
                    .threads = threads,
                    .scratch = MEMORY_NEW(PlaneScratch, threads),
                    .active = MEMORY_NEW(ActiveVertex*, threads),
                    .step = step,
                    .smoothing = contact->smoothing,
                    .rest_speed = contact->rest_speed,
                    .inverse_mass = inverse_masses(model),
                    .carries_debt = contact->friction_iterations < 0 && contact->rest_speed > 0};
  for (int t = 0; t < threads; t++) {
    scratch_create(&law->scratch[t], model, tolerance);
    law->active[t] = MEMORY_NEW(ActiveVertex, law->scratch[t].capacity);
  }
  return law;
}

static void destroy(void* instance) {
  PlaneLaw* law = instance;
  for (int t = 0; t < law->threads; t++) {
    memory_free(law->scratch[t].x);
    memory_free(law->scratch[t].y);
    memory_free(law->scratch[t].z);
    memory_free(law->active[t]);
  }
  memory_free(law->scratch);
  memory_free(law->inverse_mass);
  memory_free(law->active);
  memory_free(law);
}

static double range(const Model* model) { return plane_range(model->contact.support); }

/* ---------------------------------------------------------------- energy of a pair in a line-search evaluation */

static Plane start_plane(const PlaneLaw* law, const HullInstance* a, const HullInstance* b, const GjkResult* found) {
  return b->half_space ? plane_from_half_space(a, b, law->support, found->distance)
                       : plane_from_witness(a, b, law->support, found->witness_a, found->witness_b, found->normal);
}

/* Computes the contact plane by iterations that start from the plane between the closest points of the hulls. If the
 * hulls are out of range, marks the pair as separated. */
static PlaneOutcome solve_cold(const LawPair* p, PlaneSolution* solution) {
  const PlaneLaw* law = p->law;
  GjkResult found;
  double distance = pair_distance(p->a, p->b, p->gjk, &found);
  if (!(distance > 0)) return PLANE_INFEASIBLE;
  if (distance >= law->range) {
    pair_set_apart(p->state, distance, found.normal);
    return PLANE_SEPARATED;
  }
  Plane start = start_plane(law, p->a, p->b, &found);
  PlaneOutcome outcome = plane_solve(p->a, p->b, law->support, start, &law->scratch[p->thread], solution);
  p->state->has_plane = true;
  return outcome;
}

/* Computes the contact plane by iterations that start from a prediction. The prediction is the plane of the accepted
 * state, corrected to first order for the motion of the bodies. */
static PlaneOutcome solve_warm(const LawPair* p, const LawOrigin* from, PlaneSolution* solution) {
  const PlaneLaw* law = p->law;
  const PairData* old = from->data;
  p->state->has_plane = true;
  if (from->stays) {
    *solution = old->solution;
    return PLANE_ACTIVE;
  }
  PlaneScratch* scratch = &law->scratch[p->thread];
  Plane predicted = plane_predict(old->solution.plane, &old->response, from->twist[0], from->twist[1]);
  PlaneOutcome outcome = plane_solve(p->a, p->b, law->support, predicted, scratch, solution);
  if (outcome == PLANE_INFEASIBLE)
    outcome = plane_solve(p->a, p->b, law->support, old->solution.plane, scratch, solution);
  return outcome == PLANE_ACTIVE || outcome == PLANE_SEPARATED ? outcome : solve_cold(p, solution);
}

static PairOutcome pair_outcome(PlaneOutcome outcome) {
  switch (outcome) {
    case PLANE_ACTIVE:
      return PAIR_PRESSED;
    case PLANE_SEPARATED:
      return PAIR_APART;
    case PLANE_INFEASIBLE:
      return PAIR_INFEASIBLE;
    case PLANE_FAILED:
      break;
  }
  return PAIR_FAILED;
}

double plane_pair_compression(const LawPair* p) {
  return impact_compression(((const PlaneLaw*)p->law)->support, ((const PairData*)p->data)->solution.energy);
}

/* Initializes an active pair at the start of a run. The contact of the pair counts as resting, not as an impact. */
static void begin(const LawPair* p) {
  PairMemory* memory = p->memory;
  memory->start_compression = plane_pair_compression(p);
  memory->has_last_slip = true;
  memory->last_slip = (FrictionSlip){.known = true};
  memory->next_elastic = (ElasticSlip){0};
}

static void evaluate(const LawPair* p, const LawOrigin* from) {
  const PlaneLaw* law = p->law;
  PairState* state = p->state;
  PairData* data = p->data;
  PlaneSolution* solution = &data->solution;
  bool warm = from->state->outcome == PAIR_PRESSED;
  state->outcome = pair_outcome(warm ? solve_warm(p, from, solution) : solve_cold(p, solution));
  bool pressed = state->outcome == PAIR_PRESSED;
  if (!pressed && !(state->outcome == PAIR_APART && state->has_plane)) return;
  state->plane = solution->plane;
  memcpy(state->clearance, solution->clearance, sizeof(state->clearance));
  state->separation = solution->clearance[0] + solution->clearance[1];
  state->axis = vec3_normalized(solution->plane.n);
  if (!pressed) return;
  ImpactParameters impact = impact_parameters(law, p->material);
  if (from->begins)
    impact.rest_speed = 0; /* the energy is then the potential without impact factor (W = U), so contacts at the start
                              of a run count as resting */
  PairMemory* memory = p->memory;
  Impact found = impact_evaluate_pair(&impact, solution->energy, memory->start_compression, &memory->progress.past);
  if (from->begins) begin(p);
  data->impact = found;
  state->contact_energy = law->stiffness * found.value;
  state->spent_energy = law->stiffness * (found.value - solution->energy);
  state->has_terms = true;
}

FrictionSlip plane_pair_slip(const LawPair* p) {
  const PairMemory* memory = p->memory;
  if (!sticks(p->material)) return (FrictionSlip){.known = false};
  if (memory->has_last_slip) return memory->last_slip;
  if (!memory->has_friction) return (FrictionSlip){.known = false};
  return friction_slip(&memory->lag, friction_displacement(&memory->lag, &p->a->pose, &p->b->pose), memory->dt);
}

bool plane_pair_friction_acts(const LawPair* p, bool current) {
  const PairMemory* memory = p->memory;
  if (current) return memory->factors.current > 0 && memory->current_impact.first > 0;
  return memory->factors.late > 0 && memory->friction_impact.first > 0;
}

/* Returns true if the constant wrench of an impact acts on the pair (impact.md, I7a). */
static bool restitution_acts(const LawPair* p) {
  return p->lagged && ((const PairMemory*)p->memory)->progress.past.stage == IMPACT_RESTITUTION;
}

static bool friction_force_acts(const LawPair* p) {
  return p->lagged && (slides(p->material) || rolls(p->material)) &&
         (plane_pair_friction_acts(p, false) || plane_pair_friction_acts(p, true));
}

/* Returns true if friction, or the constant wrench of an impact, acts on the pair. */
static bool friction_acts(const LawPair* p) { return friction_force_acts(p) || restitution_acts(p); }

static FrictionLag* lag_of_part(const LawPair* p, bool current) {
  PairMemory* memory = p->memory;
  return current ? &memory->current_lag : &memory->lag;
}

static FrictionParameters friction_parameters_of_part(const LawPair* p, bool current) {
  FrictionParameters parameters = friction_parameters(p->law);
  const PairMemory* memory = p->memory;
  double load = current ? memory->factors.current * memory->current_impact.first
                        : memory->factors.late * memory->friction_impact.first;
  parameters.coefficient = acting(p->material, &memory->slip).value[MATERIAL_FRICTION] * load * memory->debt_factor;
  parameters.state = p->which;
  parameters.follow = ((const PairData*)p->data)->follows;
  return parameters;
}

static bool evaluate_friction(const LawPair* p, const LawOrigin* from) {
  const PlaneLaw* law = p->law;
  PairMemory* memory = p->memory;
  PairData* data = p->data;
  double energy = 0;
  bool found = true;
  data->follows = from->follows;
  memset(data->slip, 0, sizeof(data->slip));
  for (int k = 0; k < 2 && slides(p->material); k++) {
    if (!plane_pair_friction_acts(p, k == 1)) continue;
    FrictionParameters parameters = friction_parameters_of_part(p, k == 1);
    FrictionLag* lag = lag_of_part(p, k == 1);
    double one = 0;
    found = friction_value(lag, &parameters, &p->a->pose, &p->b->pose, &one) >= 0 && found;
    energy += one;
    memcpy(data->slip[k], lag->slip, sizeof(data->slip[k]));
  }
  if (rolls(p->material)) {
    RollingParameters rolling = rolling_parameters(law, p->material, memory->friction_impact.first);
    energy += rolling_value(&memory->rolling, &rolling, &p->a->pose, &p->b->pose);
  }
  if (restitution_acts(p))
    energy += impact_return_energy(&memory->return_wrench, (const Pose* const[2]){&p->a->pose, &p->b->pose});
  p->state->friction_energy = law->stiffness * energy;
  p->state->has_terms = true;
  return found;
}

static void take_over(const LawPair* p) {
  for (int k = 0; k < 2 && p->lagged; k++)
    if (plane_pair_friction_acts(p, k == 1)) friction_keep(lag_of_part(p, k == 1), p->which);
}

/* ---------------------------------------------------------------- derivatives and results in the accepted state */

static bool derive(const LawPair* p) {
  const PlaneLaw* law = p->law;
  PairDerivatives* d = p->derivatives;
  PairData* data = p->data;
  if (p->state->outcome == PAIR_PRESSED) {
    plane_derivatives(&data->solution, p->b->half_space, p->reference[0], p->reference[1], d, &data->response);
    impact_scale(&data->impact, p->b->half_space, d);
  } else
    memset(d, 0, sizeof(*d));
  PairMemory* memory = p->memory;
  if (friction_acts(p) && rolls(p->material)) {
    RollingParameters rolling = rolling_parameters(law, p->material, memory->friction_impact.first);
    rolling_derivatives(&memory->rolling, &rolling, &p->a->pose, &p->b->pose, p->b->half_space, d);
  }
  if (restitution_acts(p))
    impact_return_derivatives(&memory->return_wrench, p->reference, (const Pose* const[2]){&p->a->pose, &p->b->pose},
                              d);
  for (int k = 0; k < 2 && friction_acts(p) && slides(p->material); k++) {
    if (!plane_pair_friction_acts(p, k == 1)) continue;
    FrictionParameters parameters = friction_parameters_of_part(p, k == 1);
    friction_derivatives(lag_of_part(p, k == 1), &parameters, &p->a->pose, &p->b->pose, p->reference[0],
                         p->reference[1], d);
  }
  pair_scale(d, law->stiffness);
  return true;
}

/* Returns an estimate of the rounding error of the pair's energy [J]. A clearance c is a difference of coordinates of
 * size `reach`, so the error of c / s is eps reach / s with the machine precision eps. The barrier P_s with the barrier
 * distance s is approximately proportional to (c / s)^-5. */
static double rounding(const LawPair* p, double reach) {
  const PlaneLaw* law = p->law;
  const PairData* data = p->data;
  double contact = 0; /* the impact factor W' scales the change of the potential U */
  if (p->state->outcome == PAIR_PRESSED) contact = law->stiffness * data->impact.first * data->solution.energy;
  return DBL_EPSILON * (ENERGY_ROUNDINGS + CLEARANCE_ROUNDINGS * reach / law->support) *
         (fmax(contact, p->state->contact_energy) + fabs(p->state->friction_energy));
}

/* Returns the first-order change of the potential of a pair if body `side` moves by the twist (w, v). d: derivatives of
 * the potential. */
static double change_under(const PairDerivatives* d, int side, const double twist[6]) {
  return vec3_dot(mat3_axial(d->moment[side]), vec3(twist[0], twist[1], twist[2])) +
         vec3_dot(d->force[side], vec3(twist[3], twist[4], twist[5]));
}

/* Corrects the impact factor of a pair to first order for the motion of the next Newton step. The stiff spring of an
 * impact (I7) amplifies rounding errors of positions. The corrected force balances the inertia force, which does not
 * amplify these errors (I13). */
static void refine(const LawPair* p, const double twist_a[6], const double twist_b[6]) {
  PairData* data = p->data;
  if (p->state->outcome != PAIR_PRESSED || !impact_compresses(((const PairMemory*)p->memory)->progress.past.stage))
    return;
  PairDerivatives contact;
  PlaneResponse response;
  plane_derivatives(&data->solution, p->b->half_space, p->reference[0], p->reference[1], &contact, &response);
  double change = change_under(&contact, 0, twist_a);
  if (!p->b->half_space) change += change_under(&contact, 1, twist_b);
  data->impact.first = fmax(data->impact.first + data->impact.second * change, 0);
}

static bool work(const LawPair* p, ContactWork* out) {
  const PlaneLaw* law = p->law;
  const PairData* data = p->data;
  const double before = ((const PairMemory*)p->memory)->start_compression;
  if (p->state->outcome != PAIR_PRESSED || p->material->value[MATERIAL_RESTITUTION] > 0) return false;
  PairDerivatives contact;
  PlaneResponse response;
  plane_derivatives(&data->solution, p->b->half_space, p->reference[0], p->reference[1], &contact, &response);
  const HullInstance* const hull[2] = {p->a, p->b};
  *out = plane_work(law, hull, &contact, data->impact.first, data->solution.energy,
                    before * before * POTENTIAL_TERMS / law->support);
  return true;
}

static Pressure pressure_of(const LawPair* p) {
  const PlaneSolution* solution = &((const PairData*)p->data)->solution;
  if (p->state->outcome != PAIR_PRESSED) return (Pressure){0, 0};
  return (Pressure){solution->energy, force_of(solution)};
}

ElasticSlip plane_pair_elastic_slip(const LawPair* p) {
  PairMemory* memory = p->memory;
  const double smoothing = ((const PlaneLaw*)p->law)->smoothing;
  if (memory->has_last_slip) return memory->next_elastic;
  if (!memory->has_elastic_slip || p->state->outcome != PAIR_PRESSED) return (ElasticSlip){0};
  ElasticShare share = elastic_share(memory->force, pressure_of(p).force);
  Vec3 displacement = friction_displacement(&memory->lag, &p->a->pose, &p->b->pose);
  return elastic_slip_next(&memory->lag, displacement, share, memory->dt, smoothing);
}

static void impact(const LawPair* p, PairImpact* out) {
  const PlaneLaw* law = p->law;
  PairMemory* memory = p->memory;
  double mobility = law->inverse_mass[p->item[0]] + law->inverse_mass[p->item[1]];
  *out = (PairImpact){.parameters = impact_parameters(law, p->material),
                      .inertia = mobility > 0 ? 1 / mobility : 0,
                      .course = &memory->progress,
                      .now = pressure_of(p),
                      .impact = &((const PairData*)p->data)->impact,
                      .load = memory->start_impact.first,
                      .before = memory->start_compression};
}

static size_t lag_room(const LawPair* p) {
  const Plane* plane = &((const PairData*)p->data)->solution.plane;
  return sizeof(FrictionVertex) * (size_t)friction_count(p->a, p->b, ((const PlaneLaw*)p->law)->support, plane);
}

/* Returns the centre of pressure on the surface of body a, in the frame of body `side` [m] (C3). */
static Vec3 center_in_body(const LawPair* p, int side) {
  const PlaneSolution* solution = &((const PairData*)p->data)->solution;
  const double* first = solution->side[0].first;
  Vec3 center = vec3_add_scaled(solution->plane.origin, 1.0 / first[3], vec3(first[0], first[1], first[2]));
  center = vec3_add_scaled(center, p->a->rounding / vec3_norm(solution->plane.n), solution->plane.n);
  return pose_apply_inverse((side == 0 ? p->a : p->b)->pose, center);
}

static void note_load(const LawPair* p, double force) {
  PairMemory* memory = p->memory;
  memory->lag_force = force;
  for (int side = 0; side < 2 && force > 0; side++) memory->lag_center[side] = center_in_body(p, side);
}

/* Returns true if later steps correct the friction of the pair for the normal force of a step (friction.md, F8, F14).
 * Returns false for impacts with restitution, because their friction acts in a separate substep (impact.md, I9). */
static bool corrects_friction(const LawPair* p) {
  const PairMemory* memory = p->memory;
  return slides(p->material) && !memory->start_impact_bounces && !impact_acts(memory->progress.past.stage);
}

bool plane_pair_has_account(const LawPair* p) {
  return ((const PlaneLaw*)p->law)->carries_debt && corrects_friction(p);
}

/* Returns true if friction of the pair may act at the points of the previous solve of the step. */
static bool takes_current_force(const LawPair* p) { return has_current_points(p->a, p->b) && corrects_friction(p); }

static void set_debt_factor(const LawPair* p, double bound) {
  PairMemory* memory = p->memory;
  FrictionScale scale = compute_friction_scale(bound, memory->friction_debt);
  memory->debt_factor = scale.value;
  memory->net_limit = p->grip * scale.net_limit;
}

/* (F14) Sets memory->friction_debt at t, and the factor on friction for the first solve of the step. `friction_debt` is
 * 0 in the first step of a run and for a pair that has left the range. force: normal force at t, without the impact
 * factor. */
static void begin_debt(const LawPair* p, double force) {
  PairMemory* memory = p->memory;
  const PlaneLaw* law = p->law;
  memory->has_debt = plane_pair_has_account(p) && p->lagged && law->step->dt_before > 0 && !law->step->is_first;
  memory->friction_debt =
      memory->has_debt ? law->step->force_ratio * (memory->start_impact.first * force - memory->net_limit) : 0;
  set_debt_factor(p, memory->start_force);
}

/* Returns the factor by which the impulse of an impact counts for friction. The normal force at t, which limits
 * friction, may contain such an impulse. The factor is 0 if friction of later steps uses the impulse (F14), otherwise
 * it is the factor of (I5). */
static double load_ratio(const LawPair* p) {
  const PlaneLaw* law = p->law;
  return plane_pair_has_account(p) ? 0 : law->step->force_ratio;
}

/* Sets the impact factor of the force that limits friction. In an impact with restitution, the force is the limit (I9)
 * and does not act after the impact. */
static void set_friction_impact(const LawPair* p, const Pressure* now) {
  PairMemory* memory = p->memory;
  const ImpactPast* past = &memory->progress.past;
  if (!memory->start_impact_bounces) {
    memory->friction_impact = impact_friction_factor(&memory->start_impact, load_ratio(p));
    return;
  }
  ImpactParameters parameters = impact_parameters(p->law, p->material);
  bool acts = impact_acts(past->stage) && now->force > 0;
  memory->friction_impact = (Impact){.first = acts ? impact_friction_limit(&parameters, past).value / now->force : 0};
}

/* Sets memory->return_wrench, the constant wrench of the substep IMPACT_RESTITUTION, from the force at t. */
static void set_return_wrench(const LawPair* p, const Pressure* now) {
  PairMemory* memory = p->memory;
  if (!restitution_acts(p)) return;
  ImpactParameters parameters = impact_parameters(p->law, p->material);
  PairDerivatives contact;
  PlaneResponse response;
  plane_derivatives(&((const PairData*)p->data)->solution, p->b->half_space, p->reference[0], p->reference[1], &contact,
                    &response);
  plane_balance(&((const PairData*)p->data)->solution, &response, &contact);
  impact_return_wrench(&contact, impact_return(&parameters, &memory->progress.past).value / now->force, p->reference,
                       (const Pose* const[2]){&p->a->pose, &p->b->pose}, &memory->return_wrench);
}

static size_t lag(const LawPair* p, void* room) {
  if (!room) return lag_room(p);
  PairMemory* memory = p->memory;
  const PairData* data = p->data;
  memory->lag_force_is_current = false;
  memory->current_weight = memory->lag_force = memory->start_force = 0;
  memory->factors = (FrictionFactors){.late = 1};
  memory->start_compression = p->lagged ? plane_pair_compression(p) : 0;
  memory->start_impact = p->lagged ? data->impact : (Impact){0};
  memory->start_impact_bounces = p->lagged && impact_acts(memory->progress.past.stage);
  Pressure now = pressure_of(p);
  PairImpact pair;
  impact(p, &pair);
  const LawStep* step = ((const PlaneLaw*)p->law)->step;
  memory->progress = impact_advance(&pair.parameters, step->dt_before, step->impacts, pair.inertia, &now,
                                    memory->start_impact.first, step->force_ratio, &memory->progress);
  set_friction_impact(p, &now);
  set_return_wrench(p, &now);
  memory->slip = plane_pair_slip(p);
  memory->elastic = p->lagged && slides(p->material) ? plane_pair_elastic_slip(p) : (ElasticSlip){0};
  memory->force = p->lagged ? now.force : 0;
  memory->has_elastic_slip = p->lagged && slides(p->material);
  memory->has_last_slip = false;
  memory->dt = ((const PlaneLaw*)p->law)->step->dt;
  memory->has_friction = p->lagged && slides(p->material) && memory->friction_impact.first > 0;
  if (p->lagged) note_load(p, memory->friction_impact.first * now.force);
  memory->start_force = memory->lag_force;
  begin_debt(p, now.force);
  if (!p->lagged) return 0;
  FrictionDirection direction;
  friction_lag(p->a, p->b, ((const PlaneLaw*)p->law)->support, &data->solution.plane, NULL, p->aim, p->shift,
               direction_of(p->material, &direction), room, &memory->lag);
  friction_set_elastic(&memory->lag, memory->elastic.value);
  memory->rolling = rolling_lag(p->a, p->b, &data->solution.plane, now.force);
  return sizeof(FrictionVertex) * (size_t)(memory->lag.count[0] + memory->lag.count[1]);
}

static double force_now(const LawPair* p) {
  return p->state->outcome == PAIR_PRESSED ? pressure_of(p).force * ((const PairData*)p->data)->impact.first : 0;
}

/* Returns the distance between the centres of pressure of the present state and of the friction reference, divided by
 * the radius of the smaller body. The expected part of this motion is not counted if the reference is the state at t:
 * sliding bodies move the centre relative to one of them, and balls move it relative to both. */
static double center_shift(const LawPair* p) {
  const PairMemory* memory = p->memory;
  bool one_point =
      (memory->lag_force_is_current ? &memory->current_lag : &memory->lag)->order == 2 && !p->b->half_space;
  if (!memory->lag_force_is_current && (one_point || p->a->rounding > 0)) return 0;
  double by[2], size = p->a->radius;
  if (!p->b->half_space) size = fmin(size, p->b->radius);
  for (int side = 0; side < 2; side++)
    by[side] = vec3_norm(vec3_sub(center_in_body(p, side), memory->lag_center[side]));
  double shift = p->b->half_space ? by[0] : memory->lag_force_is_current ? fmax(by[0], by[1]) : fmin(by[0], by[1]);
  return shift / size;
}

static double weight_of_current_force(const LawPair* p) {
  const PlaneLaw* law = p->law;
  if (!plane_pair_has_account(p)) return 0;
  double mobility = law->inverse_mass[p->item[0]] + law->inverse_mass[p->item[1]];
  return current_force_weight(law, p->material, mobility, force_now(p) - ((const PairMemory*)p->memory)->start_force)
      .value;
}

static void loads(const LawPair* p, double* load, double* change) {
  const PairMemory* memory = p->memory;
  *load = *change = 0;
  if (!takes_current_force(p) && !plane_pair_has_account(p)) return;
  double scale = ((const PlaneLaw*)p->law)->stiffness * pair_largest_friction(p->material);
  if (((const PlaneLaw*)p->law)->carries_debt) {
    *change = p->state->outcome == PAIR_PRESSED ? 0 : scale * fabs(memory->net_limit);
    return;
  }
  double force = force_now(p), old = memory->current_weight > 0 ? memory->lag_force : memory->start_force;
  double shift = force > 0 && old > 0 ? center_shift(p) : 0;
  *load = scale * fmax(force, old);
  *change = scale * (fabs(force - old) + fmin(force, old) * shift);
}

static void account(const LawPair* p, FrictionAccount* out) {
  const PairMemory* memory = p->memory;
  const PlaneLaw* law = p->law;
  bool carried = plane_pair_has_account(p) && p->state->outcome == PAIR_PRESSED;
  /* not computed as net_limit + friction_debt, which would lose the digits of a small force */
  double bound = memory->factors.late * memory->start_force;
  if (memory->factors.current > 0) bound += memory->factors.current * memory->lag_force;
  out->load = law->stiffness * p->grip * memory->debt_factor * bound;
  out->deferred_force = law->stiffness * (force_now(p) - memory->net_limit);
  out->lost = carried ? 0 : out->deferred_force;
}

static void current_force(const LawPair* p, StepFriction* out) {
  loads(p, &out->load, &out->change);
  out->share = weight_of_current_force(p);
  account(p, &out->account);
}

static bool relag(const LawPair* p, const Pose begin[2], bool blends, void* room) {
  PairMemory* memory = p->memory;
  const PairData* data = p->data;
  if (!(blends ? corrects_friction(p) : takes_current_force(p))) return false;
  bool presses = p->state->outcome == PAIR_PRESSED;
  memory->current_weight = blends ? weight_of_current_force(p) : 1;
  memory->current_impact = (Impact){0};
  memory->factors = blends ? friction_factors(memory->current_weight, memory->start_force, force_now(p),
                                              has_current_points(p->a, p->b))
                           : (FrictionFactors){.current = 1};
  set_debt_factor(p, memory->factors.late * memory->start_force + memory->factors.current * force_now(p));
  if (!(memory->current_weight > 0)) return true;
  if (presses) memory->current_impact = data->impact;
  if (!(memory->factors.current > 0)) return true;
  memory->lag_force_is_current = true;
  note_load(p, force_now(p));
  if (!presses) return true;
  FrictionDirection direction;
  friction_lag(p->a, p->b, ((const PlaneLaw*)p->law)->support, &data->solution.plane, begin, NULL, NULL,
               direction_of(p->material, &direction), room, &memory->current_lag);
  friction_set_elastic(&memory->current_lag, memory->elastic.value);
  return true;
}

static double impact_factor(const LawPair* p, const void* kept, double rest_speed, double restitution, double dt) {
  const PlaneLaw* law = p->law;
  ImpactParameters parameters = {law->support, rest_speed, dt, restitution, law->stiffness};
  double before = kept ? ((const KeptPair*)kept)->compression : 0;
  return impact_evaluate(&parameters, ((const PairData*)p->data)->solution.energy, before).first;
}

/* ---------------------------------------------------------------- contact of two hulls outside of a run */

static bool part(void* instance, int thread, const HullInstance* a, const HullInstance* b, const GjkResult* found,
                 Plane* plane, double clearance[2]) {
  const PlaneLaw* law = instance;
  PlaneSolution solution;
  PlaneOutcome outcome =
      plane_solve(a, b, law->support, start_plane(law, a, b, found), &law->scratch[thread], &solution);
  if (outcome != PLANE_ACTIVE && outcome != PLANE_SEPARATED) return false;
  *plane = solution.plane;
  memcpy(clearance, solution.clearance, sizeof(solution.clearance));
  return true;
}

/* Returns true and sets *spot if the hulls exert a force on each other. spot->point is the mean of the vertices of a,
 * weighted by their forces (C3) and projected onto the plane. */
static bool press(void* instance, const HullInstance* a, const HullInstance* b, const GjkResult* found,
                  ContactSpot* spot) {
  const PlaneLaw* law = instance;
  PlaneSolution solution;
  Plane start = start_plane(law, a, b, found);
  if (plane_solve(a, b, law->support, start, law->scratch, &solution) != PLANE_ACTIVE) return false;
  const double* first = solution.side[0].first;
  const Plane* plane = &solution.plane;
  Vec3 center = vec3_add_scaled(plane->origin, 1.0 / first[3], vec3(first[0], first[1], first[2]));
  double length = vec3_norm(plane->n);
  spot->normal = vec3_scale(plane->n, 1.0 / length);
  double height = vec3_dot(spot->normal, vec3_sub(center, plane->origin)) + plane->o / length;
  spot->point = vec3_add_scaled(center, -height, spot->normal);
  spot->pressure = law->stiffness * first[3] * length;
  return true;
}

static const LawImpacts impacts = {
    .impact = impact,
    .refine = refine,
    .work = work,
    .impact_factor = impact_factor,
    .current_force = current_force,
    .relag = relag,
    .keep = plane_pair_keep,
    .recall = plane_pair_recall,
    .hold = plane_pair_hold,
    .passes = plane_law_passes,
    .displacement_wrench = plane_law_displacement_wrench,
    .transfer = plane_law_transfer,
    .transfer_slopes = plane_law_transfer_slopes,
    .slip_product = plane_law_slip_product,
    .recorded_work = plane_law_recorded_work,
    .work_wrench = plane_law_work_wrench,
};

static const LawHistory history = {
    .evaluate_friction = evaluate_friction,
    .friction_acts = friction_acts,
    .take_over = take_over,
    .lag = lag,
    .pass = plane_pair_pass,
    .record = plane_pair_record,
    .revisit = plane_law_revisit,
    .replay = plane_law_replay,
};

const ContactLaw LAW_separating_plane = {
    .name = "separating_plane",
    .parameters = rows,
    .parameter_count = sizeof(rows) / sizeof(rows[0]),
    .pair_size = sizeof(PairMemory),
    .state_size = sizeof(PairData),
    .kept_size = sizeof(KeptPair),
    .moment_size = sizeof(PlaneSolution),
    .replay_size = sizeof(PlaneReplay),
    .vertex_size = 2 * sizeof(FrictionVertex),
    .vertex_shares = VERTEX_SHARES,
    .round = true,
    .directions = true,
    .create = create,
    .destroy = destroy,
    .range = range,
    .rest = rest_at_clearance,
    .evaluate = evaluate,
    .derive = derive,
    .rounding = rounding,
    .history = &history,
    .impacts = &impacts,
    .part = part,
    .press = press,
    .reverse = plane_law_reverse,
};
