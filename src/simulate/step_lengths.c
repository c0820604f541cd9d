/* Computes derivatives of a recorded step with respect to its length, the lengths of the two previous steps and its end
 * time. Also computes the derivatives of these lengths with respect to the states (docs/derivations/impact.md, I11,
 * I12). */
#include <assert.h>
#include <string.h>

#include "contact/step.h"
#include "linalg/arrays.h"
#include "simulate/target_rounding.h"
#include "simulate/step_adjoint.h"
#include "simulate/stops.h"

/* ---------------------------------------------------------------- derivatives with respect to lengths, at fixed
 * states */

/* Step of the central difference of tenth order, relative to the step length that is changed. The inertial terms are
 * homogeneous of degree -2 in the step length, so their relative truncation error is 172800 h^10, far below rounding.
 * Force limits of drives bend within a change of a few percent, where a longer step would be wrong. The rounding error
 * of the targets of trees in free flight is divided by this step. */
#define LENGTH_DIFFERENCE_STEP 2e-3
/* Relative step of the central difference for the expected poses, on which friction of round bodies depends
 * (friction.md, F13). A longer step would make a rolling contact slip. With LENGTH_DIFFERENCE_STEP, the derivatives of
 * a ball that rolls by 0.28 rad in a step and hits a wall had errors of 2e-3 to 5e-2. With a step of 2e-6, rounding of
 * rotations causes errors of 1e-6. */
#define EXPECTED_POSE_DIFFERENCE_STEP 2e-4

/* Returns the scalar product of rate[nv] and the joint rates at t + dt, which depend on the step lengths. */
static double rate_product(const StepAdjoint* a, const RecordedStep* step, const double* rate) {
  const Sim* s = a->sim;
  double sum = 0;
  for (int i = 0; i < a->model->link_count; i++) {
    const ModelLink* link = &a->model->links[i];
    double difference[JOINT_MAX_DOF];
    bool spins = s->spin_bodies && s->spin_bodies[i].spins;
    joint_difference(&link->joint, step->q_now + link->coordinate_first, step->q_next + link->coordinate_first,
                     difference);
    for (int k = 0; k < link->dof_count; k++)
      if (!spins || k < link->joint.slide_count)
        sum += rate[link->dof_first + k] *
               (s->weights.rate_now * difference[k] - s->weights.rate_old * s->difference_old[link->dof_first + k]);
  }
  return sum;
}

/* Returns the sum over links of force->link . (contact force on the link); 0 if force or force->link is NULL. */
static double force_product(const ForceSlopes* force, ContactTermList contact) {
  double sum = 0;
  int count = force && force->link && contact.holder ? contact.count(contact.holder) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact.at(contact.holder, k);
    sum -= vec3_dot(force->link[t.link_a], t.force[0]) + vec3_dot(force->link[t.link_b], t.force[1]);
  }
  return sum;
}

/* Evaluates the objective of a recorded step and its derivatives at the recorded states, with the time and lengths of
 * substeps in `clock`. Returns false if a recorded coordinate is beyond a barrier limit. */
static bool evaluate_with_clock(StepAdjoint* a, const RecordedStep* step, const StepClock* clock, Assembly* assembly) {
  Sim* s = a->sim;
  Configuration* c = &s->configuration[s->current];
  s->clock = *clock;
  step_prepare(s);
  memcpy(c->q, step->q_next, sizeof(double) * (size_t)a->model->coordinate_count);
  memcpy(c->pose, step->pose_next, sizeof(Pose) * (size_t)a->model->link_count);
  ContactTermList contact = {0};
  if (a->replay) {
    contact_replay_set_dt(a->replay, clock->dt);
    Integrator integrator = a->model->simulation.integrator;
    contact_replay_refresh(a->replay, step_force_ratio(integrator, clock) - step_force_ratio(integrator, &step->clock));
    contact = contact_replay_terms(a->replay);
  }
  if (!configuration_evaluate(s, c)) return false;
  step_assemble_keeping_scales(s, contact, assembly);
  return true;
}

typedef enum { BY_DT, BY_BEFORE, BY_OLDER, BY_TIME } ClockEntry;

static double* clock_entry(StepClock* clock, ClockEntry entry) {
  switch (entry) {
    case BY_DT:
      return &clock->dt;
    case BY_BEFORE:
      return &clock->dt_before;
    case BY_OLDER:
      return &clock->dt_older;
    case BY_TIME:
      break;
  }
  return &clock->time;
}

/* Adds `factor` times the inertial forces of the rounding errors of all targets to a->lengths->rounding_force. The
 * rounding error of a target is as large as the rounding error of a position. In a short substep of an impact, the
 * force due to this error, divided by the step of the finite differences, would dominate the error of the derivative.
 */
static void add_rounding_forces(const StepAdjoint* a, double factor) {
  const Sim* s = a->sim;
  double weight = factor * step_inertia_weight(s);
  for (int i = 0; i < a->model->link_count; i++) {
    const ModelLink* link = &a->model->links[i];
    if (link->tree < 0 || !(link->mass > 0)) continue;
    double* out = a->lengths->rounding_force[i] + 3;
    vec3_store(vec3_add_scaled(vec3_at(out), -weight * link->mass, target_rounding_error(s, i)), out);
  }
}

static void add_generalized_rounding_forces(StepAdjoint* a, const RecordedStep* step, ClockDerivative* out) {
  step_adjoint_reduce_wrenches(a, step, (const double(*)[6])a->lengths->rounding_force, a->lengths->event_bar,
                               out->equations);
}

/* Sets the expected poses for friction to those of `clock`. */
static void set_expected_poses(StepAdjoint* a, const StepClock* clock) {
  a->sim->clock = *clock;
  step_prepare(a->sim);
  memcpy(a->lengths->expected, a->sim->target, sizeof(Pose) * (size_t)a->model->link_count);
}

/* Clocks and weight of one term of a central difference. */
typedef struct {
  StepClock clock, expected; /* expected: clock of the expected poses */
  double factor;
} DifferenceTerm;

/* Adds one term of a central difference to *out. */
static bool add_difference_term(StepAdjoint* a, const RecordedStep* step, ClockEntry entry, const DifferenceTerm* term,
                                const double* rate, const ForceSlopes* force, ClockDerivative* out) {
  Assembly assembly;
  set_expected_poses(a, &term->expected);
  if (!evaluate_with_clock(a, step, &term->clock, &assembly)) return false;
  for (int d = 0; d < a->model->dof_count; d++) out->equations[d] += term->factor * a->sim->newton.gradient[d];
  double direct = rate_product(a, step, rate) + force_product(force, assembly.contact);
  direct +=
      reaction_product(a, force ? force->reaction : NULL) + closure_adjoint_target_force_product(a->closures, a->sim);
  direct += spin_adjoint_momentum_product(a->spin, a->sim, step, rate, assembly.contact);
  direct += feedback_product(a->sim, force ? force->feedback : NULL);
  out->direct += term->factor * direct;
  if (a->replay) contact_replay_add_difference(a->replay, (int)entry, term->factor);
  return true;
}

static bool differentiate_by_entry(StepAdjoint* a, const RecordedStep* step, ClockEntry entry, const double* rate,
                                   const ForceSlopes* force, ClockDerivative* out) {
  static const double AT[] = {-5, -4, -3, -2, -1, 1, 2, 3, 4, 5},
                      WEIGHT[] = {-1.0 / 1260, 5.0 / 504, -5.0 / 84, 5.0 / 21,   -5.0 / 6,
                                  5.0 / 6,     -5.0 / 21, 5.0 / 84,  -5.0 / 504, 1.0 / 1260};
  const StepClock clock = step->clock;
  StepClock read = clock;
  const double length = entry == BY_TIME ? clock.dt : *clock_entry(&read, entry);
  const double unit = LENGTH_DIFFERENCE_STEP * length, expected_unit = EXPECTED_POSE_DIFFERENCE_STEP * length;
  memset(out->equations, 0, sizeof(double) * (size_t)a->model->dof_count);
  out->direct = 0;
  memset(a->lengths->rounding_force, 0, sizeof(double[6]) * (size_t)a->model->link_count);
  if (a->replay) contact_replay_clear_clock_derivatives(a->replay, (int)entry);
  for (size_t k = 0; k < sizeof(AT) / sizeof(AT[0]); k++) {
    DifferenceTerm term = {clock, clock, WEIGHT[k] / unit};
    *clock_entry(&term.clock, entry) += AT[k] * unit;
    if (!a->lengths->has_round_bodies) term.expected = term.clock;
    if (!add_difference_term(a, step, entry, &term, rate, force, out)) return false;
    add_rounding_forces(a, term.factor);
    if (!a->lengths->has_round_bodies) continue;
    term = (DifferenceTerm){clock, clock, WEIGHT[k] / expected_unit};
    *clock_entry(&term.expected, entry) += AT[k] * expected_unit;
    if (!add_difference_term(a, step, entry, &term, rate, force, out)) return false;
  }
  add_generalized_rounding_forces(a, step, out);
  out->known = true;
  return true;
}

bool step_lengths_compute(StepAdjoint* a, const RecordedStep* step, const double* rate, const ForceSlopes* force,
                          Assembly* assembly) {
  StepLengths* l = a->lengths;
  const StepClock* c = &step->clock;
  const bool wanted[CLOCK_DERIVATIVES] = {c->dt_varies, c->before_varies, c->older_varies,
                                          c->begin_varies || c->dt_varies};
  bool any = false, found = true;
  for (int k = 0; k < CLOCK_DERIVATIVES; k++) l->by[k].known = false;
  if (l->fixed) return true;
  /* forces balance at the recorded lengths only; the exchange of angular momentum (spin.md, W6) that they permit is a
   * choice without derivative */
  if (a->spin) spin_compute_residual_forces(a->sim, a->replay ? contact_replay_terms(a->replay) : (ContactTermList){0});
  a->sim->replayed.clock = c;
  for (int k = 0; k < CLOCK_DERIVATIVES && found; k++) {
    if (!wanted[k]) continue;
    if (!any && a->replay) contact_replay_set_expected_poses(a->replay, l->expected, a->expected_bar);
    any = true;
    found = differentiate_by_entry(a, step, (ClockEntry)k, rate, force, &l->by[k]);
  }
  a->sim->replayed.clock = NULL;
  if (any && a->replay) contact_replay_set_expected_poses(a->replay, a->sim->target, a->expected_bar);
  if (!any || !found) return found;
  if (!evaluate_with_clock(a, step, c, assembly) || !step_adjoint_closure_forces(a, assembly)) return false;
  for (int k = 0; k < CLOCK_DERIVATIVES && a->replay; k++)
    if (l->by[k].known) l->by[k].direct += contact_replay_length_derivative(a->replay, k);
  return true;
}

/* Returns lambda times the derivative of the step's equations with respect to `entry`, a length or the time of the
 * clock. */
static double equation_derivative(const StepAdjoint* a, ClockEntry entry, const double* lambda) {
  const ClockDerivative* by = &a->lengths->by[entry];
  return by->known ? array_dot(a->model->dof_count, by->equations, lambda) : 0;
}

static double direct_derivative(const StepAdjoint* a, ClockEntry entry) {
  const ClockDerivative* by = &a->lengths->by[entry];
  return by->known ? by->direct : 0;
}

void step_lengths_rates(const StepAdjoint* a, double t, double* rates) {
  const Model* m = a->model;
  memset(rates, 0, sizeof(double) * (size_t)m->dof_count);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->prescribed < 0) continue;
    double value[JOINT_MAX_DOF], value_rate[JOINT_MAX_DOF];
    signal_eval(&m->controllers[link->prescribed].target, t, value, value_rate);
    joint_rates_from_target(&link->joint, value, value_rate, rates + link->dof_first);
  }
}

/* Returns the contribution of the prescribed coordinates to a derivative with respect to time. The contribution is
 * product . (rates of the prescribed coordinates at time t). product[nv]. */
static double prescribed_time_derivative(const StepAdjoint* a, const double* product, double t) {
  step_lengths_rates(a, t, a->lengths->rates);
  return array_dot(a->model->dof_count, product, a->lengths->rates);
}

void step_lengths_prescribed(StepAdjoint* a, const double* product, double t) {
  a->lengths->prescribed_bar += prescribed_time_derivative(a, product, t);
}

/* Returns the contribution of the prescribed coordinates at t + dt to the derivative of the adjoint's scalar (reduced .
 * coordinates + lambda . equations) with respect to the end time. Half-spaces, which have no rows in H, are included
 * (adjoint.md, A11, A13). event: if not NULL, the event function is added to the differentiated scalar. */
static double prescribed_end_derivative(StepAdjoint* a, const RecordedStep* step, const Assembly* assembly,
                                        const double* reduced, const double* lambda, const double* nu,
                                        const ContactField* more, const EventTerms* event) {
  Sim* s = a->sim;
  StepLengths* l = a->lengths;
  int nv = a->model->dof_count;
  assemble_hessian(assembly, true, s->solver);
  block_solver_multiply(s->solver, lambda, a->product);
  for (int k = 0; k < nv; k++) a->product[k] += reduced[k];
  if (a->closures) closures_add_force(s->closures, nu, a->product);
  double sum = prescribed_time_derivative(a, a->product, step->clock.time);
  step_adjoint_twists(a->model, s->assembly.screws, s->assembly.reference, lambda, a->twist);
  ContactField field = *more;
  field.twist = a->twist;
  memset(a->ground_bar, 0, sizeof(double[3][4]) * (size_t)a->model->link_count);
  if (event) step_lengths_seed_event(a, step, event, 1, &l->unused);
  if (a->replay) contact_replay_adjoint(a->replay, &field, l->unused_bar, a->ground_bar, &l->unused);
  if (event) step_lengths_seed_event(a, step, event, -1, &l->unused);
  step_adjoint_compose(a, step->pose_next, a->ground_bar);
  memset(a->product, 0, sizeof(double) * (size_t)nv);
  step_adjoint_reduce(a, step->pose_next, s->assembly.screws, a->product);
  return sum + prescribed_time_derivative(a, a->product, step->clock.time);
}

/* ---------------------------------------------------------------- event at the end of a step */

void step_lengths_seed_event(StepAdjoint* a, const RecordedStep* step, const EventTerms* event, double nu,
                             ModelGradient* gradient) {
  const StepEvent* what = &step->clock.event;
  if (what->kind == EVENT_HULLS) contact_replay_seed_event(a->replay, event, nu, gradient);
  if (what->kind == EVENT_LOWER) gradient->joint[what->dof][JOINT_LOWER] -= nu;
  if (what->kind == EVENT_UPPER) gradient->joint[what->dof][JOINT_UPPER] -= nu;
}

/* Sets event_bar to the derivatives of the event function of an impact of two hulls. Returns false if the pair is not
 * among the recorded pairs. */
static bool evaluate_hulls_event(StepAdjoint* a, const RecordedStep* step, EventTerms* event) {
  const StepEvent* what = &step->clock.event;
  if (!a->replay || !contact_replay_event(a->replay, what->hull_a, what->hull_b, event)) return false;
  memset(a->wrench, 0, sizeof(double[6]) * (size_t)a->model->link_count);
  for (int side = 0; side < 2; side++) {
    vec3_store(event->torque[side], a->wrench[event->link[side]]);
    vec3_store(event->force[side], a->wrench[event->link[side]] + 3);
  }
  step_adjoint_wrenches_to_poses(a, step->pose_next, a->lengths->event_bar);
  return true;
}

/* The event function of a joint limit is the distance of the coordinate from the position at which the impact begins
 * (I15). The event function of a closure is the distance of its points (closures.md, Z20). */
bool step_lengths_event(StepAdjoint* a, const RecordedStep* step, EventTerms* event) {
  assert(step->clock.end == END_AT_EVENT);
  StepLengths* l = a->lengths;
  const StepEvent* what = &step->clock.event;
  memset(l->event_bar, 0, sizeof(double[3][4]) * (size_t)a->model->link_count);
  if (what->kind == EVENT_HULLS && !evaluate_hulls_event(a, step, event)) return false;
  if (what->kind == EVENT_CLOSURE)
    closures_range_excess_adjoint(a->model, what->closure, step->pose_next, l->event_bar);
  step_adjoint_compose(a, step->pose_next, l->event_bar);
  memset(l->reduced, 0, sizeof(double) * (size_t)a->model->dof_count);
  if (what->kind == EVENT_LOWER || what->kind == EVENT_UPPER)
    stops_coordinate_gradient(a->sim, what->dof, l->reduced);
  else
    step_adjoint_reduce(a, step->pose_next, a->sim->assembly.screws, l->reduced);
  return true;
}

/* For a step that ends at an event, where the event function is zero. Adds nu times the adjoint solution of the event
 * function to lambda. nu makes the derivative of the adjoint's scalar with respect to the step length vanish (I12).
 * Returns false if the event has no derivative. */
static bool solve_event(StepAdjoint* a, const RecordedStep* step, const ForceSlopes* force, const Assembly* assembly,
                        ModelGradient* gradient) {
  StepLengths* l = a->lengths;
  Sim* s = a->sim;
  int nv = a->model->dof_count;
  EventTerms event;
  if (!step_lengths_event(a, step, &event)) return false;
  for (int k = 0; k < nv; k++) l->lambda[k] = s->prescribed_joints.is_fixed[k] ? 0 : -l->reduced[k];
  block_solver_solve(s->solver, l->lambda);
  if (a->closures &&
      !closures_solve(s->closures, s->solver, NULL, s->prescribed_joints.is_fixed, NULL, l->lambda, l->nu))
    return false;
  double by_length = equation_derivative(a, BY_DT, l->lambda) + equation_derivative(a, BY_TIME, l->lambda);
  double sum = l->dt_bar + l->end_time_bar + direct_derivative(a, BY_DT) + direct_derivative(a, BY_TIME) +
               equation_derivative(a, BY_DT, a->lambda) + equation_derivative(a, BY_TIME, a->lambda);
  if (s->prescribed_joints.count > 0) {
    const ContactField none = {.twist = NULL}, all = step_adjoint_field(NULL, force, step_adjoint_pair_slopes(a));
    const double* nu = a->closures ? a->closures->nu : NULL;
    by_length += prescribed_end_derivative(a, step, assembly, l->reduced, l->lambda, l->nu, &none, &event);
    sum += prescribed_end_derivative(a, step, assembly, a->reduced, a->lambda, nu, &all, NULL);
  }
  double nu = -sum / by_length;
  if (!isfinite(nu)) return false;
  for (int k = 0; k < nv; k++) a->lambda[k] += nu * l->lambda[k];
  for (int k = 0; k < nv; k++) a->reduced[k] += nu * l->reduced[k];
  for (int k = 0; a->closures && k < a->model->closure_row_count; k++) a->closures->nu[k] += nu * l->nu[k];
  for (int i = 0; i < a->model->link_count; i++)
    for (int k = 0; k < 12; k++) l->event_bar[i][k / 4][k % 4] *= nu;
  step_adjoint_compose(a, step->pose_next, l->event_bar);
  step_adjoint_frames(a, step->pose_next, gradient);
  step_lengths_seed_event(a, step, &event, nu, gradient);
  return true;
}

bool step_lengths_solve(StepAdjoint* a, const RecordedStep* step, const ForceSlopes* force, const Assembly* assembly,
                        ModelGradient* gradient) {
  a->lengths->prescribed_bar = 0;
  if (a->lengths->fixed || step->clock.end != END_AT_EVENT) return true;
  return solve_event(a, step, force, assembly, gradient);
}

/* ---------------------------------------------------------------- derivatives with respect to earlier lengths */

void step_lengths_update(StepAdjoint* a, const RecordedStep* step) {
  StepLengths* l = a->lengths;
  const StepClock* c = &step->clock;
  if (l->fixed) return;
  ContactLengths contact = {0, 0};
  if (a->replay) contact = contact_replay_lengths(a->replay);
  double by_length = l->dt_bar + direct_derivative(a, BY_DT) + equation_derivative(a, BY_DT, a->lambda) + contact.dt;
  double end = l->end_time_bar + direct_derivative(a, BY_TIME) + equation_derivative(a, BY_TIME, a->lambda);
  if (c->begin_varies || c->dt_varies) end += l->prescribed_bar;
  l->dt_bar = l->dt_before_bar + direct_derivative(a, BY_BEFORE) + equation_derivative(a, BY_BEFORE, a->lambda) +
              contact.dt_before;
  l->dt_before_bar = direct_derivative(a, BY_OLDER) + equation_derivative(a, BY_OLDER, a->lambda);
  bool share = c->end == END_AT_FRACTION || c->end == END_AT_CLOSURE_OPENING;
  double begin = share ? end - c->share * (by_length + end) : end;
  if (c->end == END_AT_CLOSURE_OPENING) closure_adjoint_opens(a->closures, c, (by_length + end) * c->dt / c->share);
  l->dt_bar += l->delay_bars.before;
  l->end_time_bar = c->begin_varies ? begin + l->delay_bars.start : 0;
  if (!c->before_varies) l->dt_bar = 0;
  if (!c->older_varies) l->dt_before_bar = 0;
}

/* ---------------------------------------------------------------- creation */

StepLengths* step_lengths_create(const Model* model) {
  StepLengths* l = MEMORY_NEW(StepLengths, 1);
  for (int k = 0; k < CLOCK_DERIVATIVES; k++) l->by[k].equations = MEMORY_NEW(double, model->dof_count);
  l->lambda = MEMORY_NEW(double, model->dof_count);
  l->rates = MEMORY_NEW(double, model->dof_count);
  l->reduced = MEMORY_NEW(double, model->dof_count);
  l->nu = MEMORY_NEW(double, model->closure_row_count + 1);
  l->event_bar = memory_alloc(sizeof(double[3][4]) * (size_t)model->link_count);
  l->expected = memory_alloc(sizeof(Pose) * (size_t)model->link_count);
  for (int k = 0; k < model->hull_count; k++)
    l->has_round_bodies = l->has_round_bodies || hull_is_round(&model->hulls[k]);
  l->rounding_force = memory_alloc(sizeof(double[6]) * (size_t)model->link_count);
  l->unused_bar = memory_alloc(sizeof(double[3][4]) * (size_t)model->link_count);
  model_gradient_create(&l->unused, model);
  return l;
}

void step_lengths_destroy(StepLengths* l) {
  if (!l) return;
  for (int k = 0; k < CLOCK_DERIVATIVES; k++) memory_free(l->by[k].equations);
  memory_free(l->lambda);
  memory_free(l->rates);
  memory_free(l->reduced);
  memory_free(l->nu);
  memory_free(l->event_bar);
  memory_free(l->unused_bar);
  memory_free(l->rounding_force);
  memory_free(l->expected);
  model_gradient_destroy(&l->unused);
  memory_free(l);
}

void step_lengths_begin(StepLengths* l) { l->dt_bar = l->dt_before_bar = l->end_time_bar = 0; }

void step_lengths_discount(StepLengths* l, double factor) {
  assert(factor >= 0);
  l->dt_bar *= factor;
  l->dt_before_bar *= factor;
  l->end_time_bar *= factor;
}
