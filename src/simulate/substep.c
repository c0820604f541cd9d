/* Divides a step into substeps (docs/derivations/step.md). Equal substeps are requested by the scene, or needed because
 * the whole step was not solved (S13, S14). Unequal substeps occur in impacts with restitution (S15). */
#include <assert.h>
#include <float.h>
#include <string.h>

#include "contact/restitution.h"
#include "contact/step.h"
#include "simulate/signal_span.h"
#include "simulate/delay.h"
#include "simulate/spin.h"
#include "simulate/stops.h"
#include "simulate/tree_flight.h"

/* Number of consecutive steps solved at the first attempt, after which fewer substeps are tried again. */
enum { UNREFINED_STEPS = 4 };
/* Replaces UNREFINED_STEPS if a tree in free flight (tree_flight.h) required shorter substeps. It is larger because
 * each change of the substep length changes the energy of the tree by (w dt)^2 (W50). */
enum { UNREFINED_STEPS_IN_FLIGHT = 4000 };

/* ---------------------------------------------------------------- state at the start of a step */

static SimPast past_of_sim(Sim* s) {
  return (SimPast){.q_now = s->q_now,
                   .q_old = s->q_old,
                   .difference_old = s->difference_old,
                   .rate = s->state.rate,
                   .momentum = s->state.momentum,
                   .contact_force = s->state.contact_force,
                   .pose_now = s->pose_now,
                   .pose_old = s->pose_old,
                   .pose_older = s->pose_older,
                   .q_older = s->q_older};
}

static void copy_past(const Model* m, const SimPast* to, const SimPast* from) {
  size_t coordinates = sizeof(double) * (size_t)m->coordinate_count, dofs = sizeof(double) * (size_t)m->dof_count,
         poses = sizeof(Pose) * (size_t)m->link_count;
  memcpy(to->q_now, from->q_now, coordinates);
  memcpy(to->q_old, from->q_old, coordinates);
  memcpy(to->difference_old, from->difference_old, dofs);
  memcpy(to->rate, from->rate, dofs);
  if (to->q_older && from->q_older) memcpy(to->q_older, from->q_older, coordinates);
  memcpy(to->momentum, from->momentum, sizeof(Vec3) * (size_t)m->link_count);
  if (to->contact_force) memcpy(to->contact_force, from->contact_force, sizeof(Vec3) * (size_t)m->link_count);
  memcpy(to->pose_now, from->pose_now, poses);
  memcpy(to->pose_old, from->pose_old, poses);
  memcpy(to->pose_older, from->pose_older, poses);
}

static void create_backup(Sim* s) {
  const Model* m = s->model;
  if (s->saved.past.q_now) return;
  s->saved.past = (SimPast){.q_now = MEMORY_NEW(double, m->coordinate_count),
                            .q_old = MEMORY_NEW(double, m->coordinate_count),
                            .difference_old = MEMORY_NEW(double, m->dof_count),
                            .rate = MEMORY_NEW(double, m->dof_count),
                            .momentum = MEMORY_NEW(Vec3, m->link_count),
                            .contact_force = m->feels ? MEMORY_NEW(Vec3, m->link_count) : NULL,
                            .pose_now = MEMORY_NEW(Pose, m->link_count),
                            .pose_old = MEMORY_NEW(Pose, m->link_count),
                            .pose_older = MEMORY_NEW(Pose, m->link_count),
                            .q_older = m->armature ? MEMORY_NEW(double, m->coordinate_count) : NULL};
}

static void save_state(Sim* s) {
  s->saved.clock = s->clock;
  s->saved.reached = s->reached;
  s->saved.weights = s->weights;
  path_save_counts(s);
  delays_save(s);
  scheme_balance_save(s);
  if (s->closures) closures_save(s->closures);
  if (s->contact) contact_save(s->contact, CONTACT_STEP_START);
  create_backup(s);
  SimPast past = past_of_sim(s);
  copy_past(s->model, &s->saved.past, &past);
}

static void restore_state(Sim* s) {
  SimPast past = past_of_sim(s);
  s->clock = s->saved.clock;
  s->reached = s->saved.reached;
  s->weights = s->saved.weights;
  path_restore_counts(s);
  if (s->closures) closures_restore(s->closures);
  copy_past(s->model, &past, &s->saved.past);
  delays_restore(s);
  scheme_balance_restore(s);
  sim_update_public_state(s);
}

/* Resets contact, because the candidate list was built for the rejected states and may lack pairs that the restored
 * state needs. */
void step_restore(Sim* s, ContactMemory to) {
  if (to == CONTACT_STEP_START) restore_state(s);
  if (!s->contact) return;
  (void)contact_reset(s->contact, s->pose_now);
  contact_restore(s->contact, to);
}

/* ---------------------------------------------------------------- recorded states of the substeps */

static void reserve_substates(SubstateStore* b, const Model* m) {
  if (b->count < b->capacity) return;
  size_t old = (size_t)b->capacity, new = b->capacity > 0 ? 2 * old : 4;
  size_t q = sizeof(double) * (size_t)m->coordinate_count, poses = sizeof(Pose) * (size_t)m->link_count;
  size_t momenta = sizeof(Vec3) * (size_t)m->link_count;
  size_t firsts = b->contact_first_row ? old + 1 : 0;
  b->clock = memory_resize(b->clock, sizeof(StepClock) * old, sizeof(StepClock) * new);
  b->q = memory_resize(b->q, q * old, q * new);
  b->pose = memory_resize(b->pose, poses * old, poses * new);
  b->momentum = memory_resize(b->momentum, momenta * old, momenta * new);
  if (m->feels) b->contact_force = memory_resize(b->contact_force, momenta * old, momenta * new);
  size_t delayed = sizeof(double) * 2 * (size_t)m->delayed_count;
  if (delayed > 0) b->delayed = memory_resize(b->delayed, delayed * old, delayed * new);
  b->solve_end = memory_resize(b->solve_end, sizeof(int) * old, sizeof(int) * new);
  b->contact_first_row = memory_resize(b->contact_first_row, sizeof(int) * firsts, sizeof(int) * (new + 1));
  b->list = memory_resize(b->list, sizeof(SimSubstate) * old, sizeof(SimSubstate) * new);
  b->capacity = (int)new;
}

static void store_contacts(Sim* s) {
  SubstateStore* b = &s->substeps.states;
  int count, first = b->contact_first_row[b->count];
  const ContactRecord* records = sim_contact_records(s, &count);
  if (first + count > b->contact_capacity) {
    int capacity = 2 * (first + count) + 64;
    b->contacts = memory_resize(b->contacts, sizeof(ContactRecord) * (size_t)b->contact_capacity,
                                sizeof(ContactRecord) * (size_t)capacity);
    b->contact_capacity = capacity;
  }
  if (count > 0) memcpy(b->contacts + first, records, sizeof(ContactRecord) * (size_t)count);
  b->contact_first_row[b->count + 1] = first + count;
}

static void store_substate(Sim* s) {
  const Model* m = s->model;
  SubstateStore* b = &s->substeps.states;
  reserve_substates(b, m);
  size_t at = (size_t)b->count, nq = (size_t)m->coordinate_count, links = (size_t)m->link_count;
  b->clock[at] = s->reached;
  memcpy(b->q + at * nq, s->q_now, sizeof(double) * nq);
  memcpy(b->pose + at * links, s->pose_now, sizeof(Pose) * links);
  memcpy(b->momentum + at * links, s->state.momentum, sizeof(Vec3) * links);
  if (b->contact_force) memcpy(b->contact_force + at * links, s->state.contact_force, sizeof(Vec3) * links);
  size_t delayed = 2 * (size_t)m->delayed_count;
  if (b->delayed) memcpy(b->delayed + at * delayed, s->state.delayed, sizeof(double) * delayed);
  store_contacts(s);
  b->solve_end[at] = s->substeps.solves.count;
  b->count++;
}

/* Sets the list of substates for sim_substates. Its entries point into the arrays of the store. Call only when these
 * arrays no longer grow. */
static void list_substates(Sim* s) {
  const Model* m = s->model;
  SubstateStore* b = &s->substeps.states;
  for (int k = 0; k < b->count; k++)
    b->list[k] =
        (SimSubstate){.clock = b->clock[k],
                      .q = b->q + (size_t)k * (size_t)m->coordinate_count,
                      .pose = b->pose + (size_t)k * (size_t)m->link_count,
                      .momentum = b->momentum + (size_t)k * (size_t)m->link_count,
                      .contact_force = b->contact_force ? b->contact_force + (size_t)k * (size_t)m->link_count : NULL,
                      .delayed = b->delayed ? b->delayed + 2 * (size_t)k * (size_t)m->delayed_count : NULL,
                      .contacts = b->contacts + b->contact_first_row[k],
                      .contact_count = b->contact_first_row[k + 1] - b->contact_first_row[k],
                      .solves = s->substeps.solves.list + (k > 0 ? b->solve_end[k - 1] : 0),
                      .solve_count = b->solve_end[k] - (k > 0 ? b->solve_end[k - 1] : 0)};
}

const SimSubstate* sim_substates(const Sim* s, int* count) {
  *count = s->substeps.states.count;
  return s->substeps.states.list;
}

void substates_free(Sim* s) {
  SubstateStore* b = &s->substeps.states;
  const SimPast* past = &s->saved.past;
  void* owned[] = {b->clock,
                   b->q,
                   b->pose,
                   b->contacts,
                   b->contact_first_row,
                   b->list,
                   past->q_now,
                   past->q_old,
                   past->difference_old,
                   past->q_older,
                   past->rate,
                   past->pose_now,
                   past->pose_old,
                   past->pose_older,
                   b->momentum,
                   past->momentum,
                   b->contact_force,
                   past->contact_force,
                   b->delayed,
                   b->solve_end};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
}

/* ---------------------------------------------------------------- clock and report of a step */

StepClock sim_clock(const Sim* s) { return s->reached; }

/* Times are multiples of the substep length, as in a run whose steps have the length of these substeps. */
void sim_set_clock(Sim* s, int count, int index) {
  assert(count >= 1 && index >= 0 && index < count);
  double whole = s->model->simulation.dt;
  s->clock.dt = whole / count;
  s->clock.end = END_AT_FRACTION;
  s->clock.share = 1;
  s->clock.time =
      index + 1 == count ? (s->state.step + 1) * whole : ((double)s->state.step * count + index + 1) * s->clock.dt;
}

void step_add_counters(StepReport* to, const StepReport* from) {
  to->iterations += from->iterations;
  to->trials += from->trials;
  to->certified_intervals += from->certified_intervals;
  to->factor_retries += from->factor_retries;
}

/* Returns the report of two consecutive substeps: the sum of their work, the worse of their quality measures, and all
 * other entries of the second substep. */
static StepReport add_substep_report(const StepReport* sum, const StepReport* next) {
  StepReport out = *next;
  step_add_counters(&out, sum);
  if (step_outcome_failed(next->outcome)) return out;
  if (sum->friction_open) {
    out.friction_open = true;
    memcpy(out.friction_links, sum->friction_links, sizeof(out.friction_links));
  }
  if (sum->late_friction > out.late_friction) {
    out.late_friction = sum->late_friction;
    memcpy(out.late_links, sum->late_links, sizeof(out.late_links));
  }
  out.outcome = step_worse(sum->outcome, next->outcome);
  out.speed_error = fmax(out.speed_error, sum->speed_error);
  if (sum->residual > out.residual) {
    out.residual = sum->residual;
    out.residual_force = sum->residual_force;
    out.residual_dof = sum->residual_dof;
  }
  return out;
}

/* ---------------------------------------------------------------- length and kind of a substep */

/* REPETITIONS_MAX: largest number of times that a substep is repeated. SUBSTEP_COUNT_MAX: largest number of substeps in
 * a step. */
enum { REPETITIONS_MAX = 60, SUBSTEP_COUNT_MAX = 4000 };
/* Length of a short substep of an impact, relative to the time step. */
#define IMPACT_SUBSTEP_FRACTION (1.0 / 1024)
/* Shortest remainder of a step that becomes a substep, relative to a short substep of an impact. Velocities over a
 * shorter remainder would be dominated by rounding. */
#define REMAINDER_MIN (1.0 / 4)
/* Largest residual, relative to the acting forces, that counts as converged in a short substep of an impact. A smaller
 * residual may be unattainable, because rounding of positions changes the force that reverses an approach (impact.md,
 * I7). */
#define IMPACT_RESIDUAL_MAX 1e-3

/* Returns true if impacts of bodies can change the lengths or kinds of substeps. This requires a rest speed above 0,
 * and either the integrator second_order or restitution. */
static bool do_impacts_change_substeps(const Sim* s) {
  const ModelContact* c = &s->model->contact;
  bool second = s->model->simulation.integrator == INTEGRATOR_SECOND_ORDER;
  return s->contact && c->rest_speed > 0 && (second || c->bounces);
}

/* Returns true if events of joint limits or closures can determine the lengths of substeps. */
static bool has_joint_events(const Sim* s) { return s->joint_stops.stop || closures_have_events(s->closures); }

/* Returns true if events (impacts with restitution, impacts at joint limits, closing closures) can determine the
 * lengths of substeps. */
static bool has_events(const Sim* s) { return s->model->contact.bounces || has_joint_events(s); }

/* Returns the kind of a substep after the end of an approach. second_order resumes only after both steps from which it
 * extrapolates were free of impacts. */
static StepKind kind_after_impact(const Sim* s) {
  StepKind before = s->reached.kind;
  if (before == STEP_IMPACT_BEGINS || (s->contact && contact_impact_continues(s->contact))) return STEP_IMPACT_ACTS;
  return before == STEP_IMPACT_ACTS ? STEP_IMPACT_ENDS : STEP_FREE;
}

/* Shortest substep, relative to the time step, from which second_order extrapolates to the next substep. */
#define EXTRAPOLATED_LENGTH_MIN (1.0 / 16)

/* Returns the kind of a substep without an impact whose length differs from the length of the previous substep.
 * second_order has weights for unequal lengths, so the kind is STEP_FREE. After a very short substep these weights
 * would multiply rounding by the ratio of the lengths, so the kind is STEP_AFTER_IMPACT. */
static StepKind kind_of_unequal_length(const Sim* s) {
  bool second = s->model->simulation.integrator == INTEGRATOR_SECOND_ORDER;
  return second && !(s->reached.dt < EXTRAPOLATED_LENGTH_MIN * s->model->simulation.dt) ? STEP_FREE : STEP_AFTER_IMPACT;
}

/* Returns the kind of the next substep. Under `momentum`, every substep whose length differs from the previous one has
 * the weights of unequal lengths (step.md, S15). */
static StepKind next_kind(const Sim* s, bool impact, double length) {
  StepKind before = s->reached.kind;
  if (impact) return STEP_IMPACT_SUBSTEP;
  if (before == STEP_IMPACT_SUBSTEP) return STEP_AFTER_IMPACT;
  bool looks_back = s->model->simulation.integrator == INTEGRATOR_MOMENTUM && before == STEP_FREE && s->reached.dt > 0;
  if ((looks_back || before == STEP_AFTER_IMPACT) && length != s->reached.dt) return kind_of_unequal_length(s);
  return before == STEP_FREE || before == STEP_AFTER_IMPACT ? STEP_FREE : kind_after_impact(s);
}

/* Returns true in the first substep of a run that does not start from a stored state. */
static bool is_first_substep(const Sim* s) {
  return !s->model->start && s->state.step == 0 && s->substeps.states.count == 0;
}

/* Solves the substep of s->clock from the present state. Does not advance the state. */
static StepReport solve_substep(Sim* s) {
  step_prepare(s);
  StepReport report = step_unsolved(INFINITY), initial_friction = step_no_work();
  if (s->substep_memory.may_refine && s->clock.kind != STEP_IMPACT_SUBSTEP && tree_flight_needs_refinement(s->flight)) {
    s->substep_memory.is_refined = true;
    return step_unsolved(0);
  }
  if (s->contact) contact_set_first(s->contact, is_first_substep(s));
  if (s->contact)
    contact_set_substep(s->contact, s->clock.dt, s->clock.dt_before,
                        step_force_ratio(s->model->simulation.integrator, &s->clock));
  if (s->contact) contact_set_grip(s->contact, GRIP_FULL);
  friction_iteration_discard(s);
  if (initial_friction_needed(s) && !initial_friction_solve(s, &initial_friction)) return initial_friction;
  if (!s->contact || contact_lag(s->contact)) {
    path_begin(s);
    report = step_solve(s);
    if (s->contact && !step_outcome_failed(report.outcome)) friction_iteration_solve(s, &report);
    if (s->contact && s->clock.kind == STEP_IMPACT_SUBSTEP && !step_outcome_failed(report.outcome))
      step_refine_impacts(s);
  }
  step_add_counters(&report, &initial_friction);
  return report;
}

/* Returns true if bodies tunnelled through each other over several Newton iterations of a solved substep (crossing.c).
 * Only shorter steps resolve such an impact. *found is the pair of links. */
static bool substep_tunnels(const Sim* s, const StepReport* report, BlockingPair* found) {
  return report->iterations >= 2 && sim_finds_tunneling(s, s->pose_now, s->configuration[s->current].pose, found);
}

/* Replaces the outcome of Newton's method in *report by the outcome of the substep: STEP_CONVERGED if an impact substep
 * has a small residual, STEP_CROSSED if bodies tunnelled through each other. */
static void set_substep_outcome(const Sim* s, StepReport* report) {
  BlockingPair found;
  bool small = s->clock.kind == STEP_IMPACT_SUBSTEP && report->residual <= IMPACT_RESIDUAL_MAX;
  if (step_outcome_failed(report->outcome)) return;
  if (small) report->outcome = STEP_CONVERGED;
  if (!substep_tunnels(s, report, &found)) return;
  report->outcome = STEP_CROSSED;
  report->squeeze = found;
}

static void end_substep(Sim* s, const StepReport* report) {
  bool reached = !step_outcome_failed(report->outcome);
  path_end(s, reached, s->clock.time);
  if (reached) sim_advance(s);
}

static StepReport repeat_substep(Sim* s, const StepClock* recorded) {
  s->clock = *recorded;
  StepReport report = solve_substep(s);
  end_substep(s, &report);
  return report;
}

/* Returns true if an approach ended in a substep of second_order. The extrapolation of this scheme over the end of the
 * approach would cause a rebound. */
static bool has_approach_ended(const Sim* s) {
  bool second = s->model->simulation.integrator == INTEGRATOR_SECOND_ORDER;
  bool free = s->clock.kind == STEP_FREE || s->clock.kind == STEP_AFTER_IMPACT;
  return second && free && do_impacts_change_substeps(s) && contact_impact_began(s->contact);
}

/* Returns true if a contact force vanished in a substep of second_order. This scheme continues with half of the last
 * acceleration, so the vanished force would still act and would be halved in each step. */
static bool has_contact_ended(const Sim* s) {
  bool looks_back = s->clock.kind == STEP_FREE || s->clock.kind == STEP_IMPACT_ENDS;
  if (!looks_back || s->model->simulation.integrator != INTEGRATOR_SECOND_ORDER) return false;
  return (do_impacts_change_substeps(s) && contact_pair_separated(s->contact)) || stops_has_left_margin(s);
}

/* Returns the kind with which the solved substep of s->clock must be repeated, or s->clock.kind if the substep can be
 * accepted. */
static StepKind required_kind(const Sim* s) {
  if (has_approach_ended(s)) return STEP_IMPACT_BEGINS;
  return has_contact_ended(s) ? STEP_IMPACT_ACTS : s->clock.kind;
}

/* SPEED_ACCURACY: required accuracy of speeds, relative to the rest speed. EVENT_POSITION_ROUNDING: relative rounding
 * error of a position. */
#define SPEED_ACCURACY 1e-3
#define EVENT_POSITION_ROUNDING (16 * DBL_EPSILON)

/* Returns true if rounding of positions prevents measuring speeds over a substep of this length [s]. */
static bool is_speed_lost_in_rounding(const Sim* s, double length) {
  return length * SPEED_ACCURACY * s->model->contact.rest_speed < EVENT_POSITION_ROUNDING * balance_largest_position(s);
}

/* An event that begins within a substep. */
typedef struct {
  StepEvent what;
  double before, after; /* distance from the start of the event, at the start and at the end of the substep, in units of
                           the contact range, the limit margin or `within` */
} SubstepEvent;

/* State of the search for the length of a substep that ends when an event begins (impact.md, I10). The length is
 * between `low`, before the event, and `high`, after the event. distance_low and distance_high are the distances from
 * the event at these two lengths. */
typedef struct {
  bool found; /* true after an event was found */
  SubstepEvent event;
  double low, high, distance_low, distance_high;
  double end; /* end time of the span [s]; a closure that would close within CLOSING_TIME_MIN before this time closes at
                 this time (closures.md, Z20) */
  int side;   /* 1: the last length replaced `high`; -1: it replaced `low`; for the Illinois rule */
  int replacements; /* number of successive replacements of `high` after the first one */
  bool is_curved; /* true: the distance is treated as a strongly curved function of the length, because the barrier of a
                limit acts after the event */
} EventSearch;

/* CURVED_REPLACEMENTS: after this many successive replacements of the same end of the bracket, the distance is treated
 * as strongly curved and the bracket is halved. LINEAR_RATIO_MAX: if the ratio of the distances at both ends is below
 * this value, a strongly curved distance is interpolated linearly again. */
enum { CURVED_REPLACEMENTS = 8, LINEAR_RATIO_MAX = 16 };

static double next_length(const EventSearch* e) {
  double width = e->high - e->low, length = e->low + width * e->distance_low / (e->distance_low - e->distance_high);
  bool halve = e->is_curved && e->distance_low > -LINEAR_RATIO_MAX * e->distance_high;
  return length > e->low && length < e->high && !halve ? length : e->low + 0.5 * width;
}

static bool same_event(const StepEvent* a, const StepEvent* b) {
  if (a->kind == EVENT_HULLS) return b->kind == EVENT_HULLS && a->hull_a == b->hull_a && a->hull_b == b->hull_b;
  return a->kind == b->kind && (a->kind == EVENT_CLOSURE ? a->closure == b->closure : a->dof == b->dof);
}

static bool is_stop_event(const StepEvent* event) { return event->kind == EVENT_LOWER || event->kind == EVENT_UPPER; }

static void narrow_after_event(EventSearch* e, const SubstepEvent* event, double length) {
  bool same = e->found && same_event(&event->what, &e->event.what);
  if (!same) *e = (EventSearch){.found = true, .event = *event, .distance_low = event->before, .end = e->end};
  e->high = length;
  e->distance_high = event->after;
  e->replacements = same && e->side > 0 ? e->replacements + 1 : 0;
  e->is_curved = e->is_curved || (e->replacements >= CURVED_REPLACEMENTS && is_stop_event(&event->what));
  if (e->replacements > 0 && !e->is_curved) e->distance_low *= 0.5;
  e->side = 1;
}

static void narrow_before_event(EventSearch* e, double ahead, double length) {
  e->low = length;
  e->distance_low = ahead;
  if (e->side < 0) e->distance_high *= 0.5;
  e->side = -1;
}

static double event_fraction(const SubstepEvent* event) { return event->before / (event->before - event->after); }

static SubstepEvent event_of_closure(const ClosingClosure* join) {
  return (SubstepEvent){{.kind = EVENT_CLOSURE, .closure = join->closure}, join->before, join->after};
}

/* Sets *event to the first event in the solved substep of s->clock: the start of an impact, or the closing of a
 * closure. Returns false if there is no event. An impact that the search found before counts at any speed, because the
 * approach over a shorter substep may appear slower. The first short substep of the impact measures the approach speed.
 */
static bool find_event(Sim* s, const EventSearch* search, SubstepEvent* event) {
  ContactEntry pair, sought = {search->event.what.hull_a, search->event.what.hull_b, 0, 0};
  bool seeks = search->found && search->event.what.kind == EVENT_HULLS;
  bool seeks_stop = search->found && is_stop_event(&search->event.what);
  LimitImpact stop, limit = {search->event.what.dof, search->event.what.kind == EVENT_LOWER ? -1 : 1, 0, 0};
  bool found = do_impacts_change_substeps(s) &&
               contact_impact_entry(s->contact, s->pose_now, s->target, s->clock.dt, seeks ? &sought : NULL, &pair);
  if (found)
    *event =
        (SubstepEvent){{.kind = EVENT_HULLS, .hull_a = pair.hull_a, .hull_b = pair.hull_b}, pair.before, pair.after};
  if (stops_find_impact(s, seeks_stop ? &limit : NULL, &stop)) {
    SubstepEvent candidate = {
        {.kind = stop.side < 0 ? EVENT_LOWER : EVENT_UPPER, .dof = stop.dof}, stop.before, stop.after};
    if (!found || event_fraction(&candidate) < event_fraction(event)) *event = candidate;
    found = true;
  }
  ClosingClosure join;
  const Pose* ahead = s->configuration[s->current].pose;
  if (!closures_find_closing(s->closures, s->pose_now, ahead, s->state.time, &join)) return found;
  SubstepEvent candidate = event_of_closure(&join);
  double at = s->clock.time - (1 - event_fraction(&candidate)) * s->clock.dt;
  if (search->end - at < CLOSING_TIME_MIN * s->model->simulation.dt) return found;
  if (!found || event_fraction(&candidate) < event_fraction(event)) *event = candidate;
  return true;
}

/* Returns the distance from the event at the end of the solved substep, in the units of SubstepEvent. */
static double distance_to_event(Sim* s, const StepEvent* event) {
  switch (event->kind) {
    case EVENT_LOWER:
    case EVENT_UPPER:
      return stops_distance_to_impact(s, event->dof, event->kind == EVENT_LOWER ? -1 : 1);
    case EVENT_CLOSURE:
      return closures_range_excess(s->model, event->closure, s->configuration[s->current].pose);
    default:
      return contact_impact_distance(s->contact, event->hull_a, event->hull_b);
  }
}

/* Returns true if the solved substep of s->clock ends at an event or contains no event. Otherwise returns false and
 * sets *length to the next length to try [s]. */
static bool ends_at_event(Sim* s, EventSearch* e, double* length) {
  SubstepEvent event = {{.kind = EVENT_HULLS}, 0, 0};
  bool entry = find_event(s, e, &event);
  if (s->clock.kind == STEP_IMPACT_SUBSTEP) return true; /* a short substep of an impact is not shortened to an event */
  if (!entry && !e->found) return true;
  if (entry) {
    narrow_after_event(e, &event, *length);
  } else {
    double ahead = distance_to_event(s, &e->event.what);
    /* contact_impact_entry reports no entry from -IMPACT_START_TOLERANCE on */
    bool late = ahead < -IMPACT_EVENT_TOLERANCE && !(ahead < -IMPACT_START_TOLERANCE);
    if (ahead <= IMPACT_EVENT_TOLERANCE && !late) return true;
    event = e->event;
    event.after = ahead;
    if (late)
      narrow_after_event(e, &event, *length);
    else
      narrow_before_event(e, ahead, *length);
  }
  if (!(e->high - e->low > 4 * DBL_EPSILON * e->high)) return true;
  *length = next_length(e);
  return false;
}

/* Planned length and kind of a substep. */
typedef struct {
  double length; /* length of the substep [s] */
  StepKind kind;
} SubstepPlan;

/* Returns the plan of a substep at whose end a closure opens (Z21). The length of the substep is the fraction
 * ClosureForceHistory.opening_fraction of the remaining span. left: length of the remaining span [s]. */
static SubstepPlan plan_opening(Sim* s, int closure, double left) {
  const ClosureForceHistory* load = &s->closures->load[closure];
  double share = load->opening_fraction < 1 - CLOSING_TIME_MIN ? load->opening_fraction : 1;
  s->clock.end = END_AT_CLOSURE_OPENING;
  s->clock.share = share;
  s->clock.event = (StepEvent){.kind = EVENT_CLOSURE, .closure = closure, .rise = load->now - load->before};
  StepKind kind = next_kind(s, false, share * left);
  return (SubstepPlan){share * left, kind == STEP_FREE && share < 1 ? kind_of_unequal_length(s) : kind};
}

/* Returns the length of the next substep such that the first jump of a force is in the middle of a substep (loads.md,
 * L99) [s]; `left` if no jump requires a shorter substep. begin: start of the substep [s]; left: length of the
 * remaining span [s]; least: shortest length of a substep [s]; early: tolerance of times [s]. */
static double length_before_jump(const Sim* s, double begin, double left, double least, double early) {
  double jump = step_first_jump(s, (SignalSpan){begin - early, begin + left - early}), twice = 2 * (jump - begin);
  if (!(jump < begin + left) || fabs(twice - left) < least) return left;
  return twice < left ? fmax(twice, least) : left - fmax(2 * left - twice, least);
}

/* Returns the length of the next substep such that a substep of the length `least` ends at the first jump of the rate
 * of a prescribed coordinate (L99) [s]; `left` if no jump requires a shorter substep. Parameters as of
 * length_before_jump. */
static double length_before_rate_jump(const Sim* s, double begin, double left, double least, double early) {
  double jump = step_first_rate_jump(s, (SignalSpan){begin + early, begin + left + early}), until = jump - begin;
  if (!(jump <= begin + left + early)) return left;
  double length = until < 2 * least ? until : until - least;
  return left - length < early ? left : length;
}

/* Returns the length of the next substep that the jumps of all signals permit [s]; `left` if they permit the remaining
 * span. The lengths must not depend on the state. end: end of the span [s]; left: length of the remaining span [s]. */
static double length_between_jumps(const Sim* s, double end, double left) {
  const double whole = s->model->simulation.dt, least = IMPACT_SUBSTEP_FRACTION * whole, early = JUMP_TOLERANCE * whole;
  if (s->clock.begin_varies || !(left > 2 * least)) return left;
  return fmin(length_before_jump(s, end - left, left, least, early),
              length_before_rate_jump(s, end - left, left, least, early));
}

/* Returns the plan of the next substep from the conditions that are known before this substep is solved: an impact that
 * begins, spinning bodies, or a closure that opens. A short substep of an impact keeps its length even if it ends after
 * the end of the step. In this case the step ends late (I10). end: end of the span [s]. left: time to the end of the
 * span [s]. solved_count: number of substeps of the span so far. Sets end and share of s->clock. */
static SubstepPlan plan_substep(Sim* s, double end, double left, int solved_count) {
  double brief = IMPACT_SUBSTEP_FRACTION * s->model->simulation.dt;
  bool last = solved_count >= SUBSTEP_COUNT_MAX;
  bool impact = s->contact && !last && contact_impact_begins(s->contact, s->reached.dt);
  if (impact) contact_impact_shorten(s->contact, s->reached.dt, &brief);
  if (!last && stops_shorten_substep(s, &brief)) impact = true;
  int shares = !impact && !last && solved_count > 0 ? spin_substep_count(s, left) : 1;
  if (s->reached.kind == STEP_IMPACT_SUBSTEP) brief = fmin(brief, s->reached.dt);
  double length = impact ? brief : left / shares;
  s->clock.end = impact ? END_AT_FIXED_LENGTH : END_AT_FRACTION;
  s->clock.share = 1.0 / shares;
  int opens = impact ? -1 : closures_find_opening(s->closures);
  if (opens >= 0) return plan_opening(s, opens, left);
  double until_jump = impact || last ? length : length_between_jumps(s, end, left);
  if (until_jump < length) {
    length = until_jump;
    s->clock.end = END_AT_FIXED_LENGTH;
  }
  return (SubstepPlan){length, next_kind(s, impact, length)};
}

/* Returns the plan with which the solved substep must be repeated, or `plan` if the substep can be accepted. A short
 * substep that failed is halved, unless half its length is too short to measure speeds. A substep in which an event
 * begins is shortened to end at the event. A substep in which an approach or a contact ends gets another kind.
 * may_shorten: true if the substep may still be shortened. */
static SubstepPlan plan_repetition(Sim* s, SubstepPlan plan, bool failed, bool may_shorten, EventSearch* event) {
  SubstepPlan next = plan;
  if (failed) {
    bool halved = may_shorten && plan.kind == STEP_IMPACT_SUBSTEP && !is_speed_lost_in_rounding(s, 0.5 * plan.length);
    if (halved) next.length = 0.5 * plan.length;
  } else if ((do_impacts_change_substeps(s) || has_joint_events(s)) && !ends_at_event(s, event, &next.length) &&
             may_shorten) {
    if (plan.kind == STEP_FREE) next.kind = kind_of_unequal_length(s);
  } else {
    next = (SubstepPlan){plan.length, required_kind(s)};
  }
  return next;
}

/* Sets the clock of a substep that ends at the event that the search found. Call before every solve, because friction
 * of a substep whose length varies uses the force at its start (friction.md, F14). */
static void end_at_event(Sim* s, const EventSearch* event) {
  if (event->found) {
    s->clock.end = END_AT_EVENT;
    s->clock.event = event->event.what;
  }
  s->clock.dt_varies = event->found || s->clock.end == END_AT_CLOSURE_OPENING ||
                       (s->clock.end == END_AT_FRACTION && s->clock.begin_varies);
}

/* Solves the planned substep, and repeats it as plan_repetition requires. Sets *plan to the plan of the last
 * repetition. */
static StepReport solve_planned_substep(Sim* s, double end, double left, SubstepPlan* plan) {
  StepReport spent = step_no_work(), report;
  const EventSearch no_event = {.found = false, .end = end};
  const double whole = plan->length;
  const StepEnd planned_end = s->clock.end;
  EventSearch event = no_event;
  for (int k = 0;; k++) {
    s->clock.dt = plan->length;
    s->clock.time = plan->length == left ? end : end - left + plan->length;
    s->clock.kind = plan->kind;
    end_at_event(s, &event);
    if (s->contact && (do_impacts_change_substeps(s) || has_joint_events(s)))
      contact_save(s->contact, CONTACT_SUBSTEP_START);
    report = solve_substep(s);
    step_add_counters(&report, &spent);
    bool may_shorten = k < REPETITIONS_MAX && has_events(s) && report.outcome != STEP_INTERRUPTED;
    SubstepPlan next = plan_repetition(s, *plan, step_outcome_failed(report.outcome), may_shorten, &event);
    bool same_length = next.length == plan->length;
    if (same_length && plan->kind == STEP_IMPACT_ENDS) s->clock.kind = next.kind; /* both kinds have the same weights */
    if (same_length && (next.kind == plan->kind || plan->kind == STEP_IMPACT_ENDS)) break;
    spent = report;
    path_end(s, false, s->clock.time);
    step_restore(s, CONTACT_SUBSTEP_START);
    *plan = next;
    if (!same_length || !event.found) continue;
    event = no_event; /* with the weights of another kind, the event begins after another length, or not at all */
    s->clock.end = planned_end;
    plan->length = whole;
  }
  ClosingClosure join;
  const Pose* ahead = s->configuration[s->current].pose;
  if (!event.found && !(plan->length < left) &&
      closures_find_closing_at_end(s->closures, s->pose_now, ahead, s->state.time, &join)) {
    event.found = true;
    event.event = event_of_closure(&join);
  }
  end_at_event(s, &event);
  set_substep_outcome(s, &report);
  end_substep(s, &report);
  return report;
}

/* Opens and closes closures by their signals, before a substep that starts at `time` [s]. */
static void switch_closures(Sim* s, double time) {
  if (closures_update_active(s->closures, s->pose_now, s->pose_old, s->state.time, time))
    scheme_balance_reset_reference(s);
}

/* Returns the nominal start time of equal substep `index` of `count` [s]. A short substep of an impact may end later
 * than this time. */
static double span_start(const Sim* s, int count, int index) {
  double whole = s->model->simulation.dt;
  return index == 0 ? s->state.step * whole : ((double)s->state.step * count + index) * (whole / count);
}

/* Solves equal substep `index` of `count`. Divides it further if impacts with restitution or other events require
 * shorter substeps. */
static StepReport solve_span(Sim* s, int count, int index) {
  assert(count >= 1 && index >= 0 && index < count);
  sim_set_clock(s, count, index);
  double end = s->clock.time, left = s->clock.dt - (s->reached.time - span_start(s, count, index));
  StepReport report = step_no_work();
  const double least = REMAINDER_MIN * IMPACT_SUBSTEP_FRACTION * s->model->simulation.dt;
  for (int solved_count = 0;; solved_count++) {
    SubstepPlan plan = plan_substep(s, end, left, solved_count);
    StepReport one = solve_planned_substep(s, end, left, &plan);
    report = add_substep_report(&report, &one);
    if (step_outcome_failed(report.outcome) || !(left - plan.length > least)) return report;
    left -= plan.length;
    switch_closures(s, s->reached.time);
    store_substate(s);
  }
}

/* Returns the pair of links that made the last trial fail: the pair with the largest overlap or, if none overlap, the
 * pair with the largest contact force. */
static BlockingPair find_blocking_pair(Sim* s) {
  BlockingPair worst = {.known = false};
  int count = s->contact ? contact_candidate_count(s->contact) : 0;
  bool any_overlap = false;
  for (int k = 0; k < count; k++) {
    Vec3 force;
    bool in_contact = contact_force(s->contact, k, &force), overlaps = !contact_candidate_trial(s->contact, k).feasible;
    if (!overlaps && (any_overlap || !in_contact)) continue;
    ContactDirectionalGap pair = contact_directional_gap(s->contact, k);
    BlockingPair one = {true, pair.link_a, pair.link_b, pair.gap, in_contact ? vec3_norm(force) : 0};
    bool worse = overlaps && any_overlap ? one.gap < worst.gap : overlaps || one.force > worst.force;
    if (worse) worst = one;
    any_overlap = any_overlap || overlaps;
  }
  return worst;
}

/* Iteration limit of an attempt that can still be refined, because finer substeps cost less than many more iterations.
 * The finest number of substeps that a scene may request has all iterations. If all attempts fail, each is repeated
 * with all iterations. A coarse attempt may then be the easiest, because finer substeps need a larger force for the
 * same change of momentum. */
enum { ATTEMPT_ITERATIONS = 200 };

static bool has_all_iterations(int count) {
  return (count <= SUBSTEP_COUNT_MAX && 2 * count > SUBSTEP_COUNT_MAX) || 2 * count > SUBSTEPS_FINEST;
}

/* Solves all substeps of a step. recorded NULL: `count` equal substeps, divided further at events; otherwise exactly
 * the `count` substeps of `recorded`. Restores the state before the step if a substep fails. limit: largest number of
 * iterations in a substep. */
static StepReport solve_substeps(Sim* s, const StepClock* recorded, int count, int limit) {
  StepReport report = step_no_work();
  s->substeps.states.count = 0;
  s->friction_solve.has_initial = false;
  s->substep_memory.may_refine =
      !recorded && count < FLIGHT_SUBSTEPS_FACTOR_MAX * simulation_substep_count(&s->model->simulation);
  s->iteration_limit = limit;
  save_state(s);
  for (int k = 0; k < count && !step_outcome_failed(report.outcome); k++) {
    if (k > 0) switch_closures(s, s->reached.time);
    if (k > 0) store_substate(s);
    StepReport one = recorded ? repeat_substep(s, &recorded[k]) : solve_span(s, count, k);
    report = add_substep_report(&report, &one);
  }
  s->substep_memory.reached = s->substeps.states.count;
  bool failed = step_outcome_failed(report.outcome);
  report.substeps = failed ? count : s->substeps.states.count + 1;
  if (!failed) return report;
  s->substeps.states.count = 0;
  if (report.outcome != STEP_CROSSED && report.outcome != STEP_INTERRUPTED) report.squeeze = find_blocking_pair(s);
  step_restore(s, CONTACT_STEP_START);
  return report;
}

static StepReport attempt_substeps(Sim* s, int count, int limit) {
  StepReport report = solve_substeps(s, NULL, count, limit);
  s->substep_memory.attempted = count;
  report.halved = count > s->substep_memory.minimum;
  return report;
}

static void finish_step(Sim* s) {
  s->state.step++;
  s->state.time = s->reached.time;
  sim_set_clock(s, simulation_substep_count(&s->model->simulation), 0);
  list_substates(s);
  joint_forces_publish(s);
  reactions_publish(s);
  sim_update_public_state(s);
}

bool sim_has_prescribed_motion(const Sim* s) {
  for (int i = 0; i < s->model->link_count; i++)
    if (s->model->links[i].prescribed >= 0) return true;
  return false;
}

/* Attempt to solve a step: number of substeps, and iteration limit of each substep. */
typedef struct {
  int count, limit;
} SubstepAttempt;
enum { ATTEMPTS_MAX = 24 };

/* Sets attempts[ATTEMPTS_MAX] to the attempts of a step and returns their number. The first *finer_count attempts have
 * `substeps` substeps, then twice as many, and so on. The other attempts have all iterations. They repeat the numbers
 * of substeps, from the least number on, that were not attempted with all iterations. */
static int list_attempts(const Sim* s, int substeps, SubstepAttempt* attempts, int* finer_count) {
  int most = s->model->simulation.max_iterations, few = most < ATTEMPT_ITERATIONS ? most : ATTEMPT_ITERATIONS, n = 0;
  for (int count = substeps; n == 0 || count <= SUBSTEPS_FINEST; count *= 2)
    attempts[n++] = (SubstepAttempt){count, has_all_iterations(count) ? most : few};
  *finer_count = n;
  for (int count = s->substep_memory.minimum; count <= SUBSTEPS_FINEST; count *= 2)
    if (count < substeps || (!has_all_iterations(count) && few < most)) attempts[n++] = (SubstepAttempt){count, most};
  return n;
}

/* Makes attempts until one succeeds. If all fail, returns the report of the attempt with the most substeps. Its outcome
 * is STEP_BLOCKED if a prescribed link was blocked in one of the attempts. Attempts with all iterations are left out in
 * two cases: a prescribed link was blocked, or only last substeps failed. In the second case another body may block the
 * prescribed position at the end of the step. */
static StepReport step_with_attempts(Sim* s, int substeps) {
  assert(substeps >= 1);
  SubstepAttempt attempts[ATTEMPTS_MAX];
  int finer_count, count = list_attempts(s, substeps, attempts, &finer_count);
  bool blocked = false,
       at_end = sim_has_prescribed_motion(s); /* at_end: all attempts so far failed in their last substep */
  StepReport failed = step_no_work();
  for (int k = 0; k < count && !(k == finer_count && (blocked || at_end)); k++) {
    StepReport report = attempt_substeps(s, attempts[k].count, attempts[k].limit), last = report;
    step_add_counters(&report, &failed);
    bool solved = !step_outcome_failed(report.outcome);
    if (solved) finish_step(s);
    if (solved || report.outcome == STEP_INTERRUPTED) return report;
    blocked = blocked || (k < finer_count && report.outcome == STEP_BLOCKED);
    at_end = at_end && s->substep_memory.reached + 1 >= attempts[k].count;
    if (k < finer_count)
      failed = report;
    else
      step_add_counters(&failed, &last);
  }
  if (blocked) failed.outcome = STEP_BLOCKED;
  return failed;
}

/* Returns the number of substeps that the scene requests, or a larger number while a spinning body has friction
 * (spin.md, W10). */
static int substeps_min(Sim* s) {
  int given = simulation_substep_count(&s->model->simulation);
  double length = s->model->simulation.dt / given;
  int factor = spin_substep_count(s, length);
  return given * factor <= SUBSTEP_COUNT_MAX ? given * factor : given;
}

static ContactTimes times_of_contact(const Sim* s) {
  return s->contact ? contact_times(s->contact) : (ContactTimes){0};
}

/* Adds the times of a step. elapsed: duration of the step [s]; before: times of contact at its beginning, which include
 * the creation of the simulation. */
static void update_times(Sim* s, double elapsed, ContactTimes before) {
  ContactTimes after = times_of_contact(s);
  s->times.total += elapsed;
  s->times.broad_phase += after.broad_phase - before.broad_phase;
  s->times.contact += after.contact - before.contact;
  s->times.friction += after.friction - before.friction;
  const SimTimes* t = &s->times;
  s->times.other = t->total - t->broad_phase - t->contact - t->friction - t->assembly - t->factor - t->certificate;
}

StepReport sim_step_with_substeps(Sim* s, int substeps) {
  assert(substeps >= 1);
  double start = timer_now();
  ContactTimes before = times_of_contact(s);
  switch_closures(s, s->state.time);
  s->substep_memory.minimum = substeps_min(s);
  StepReport report = step_with_attempts(s, substeps);
  update_times(s, timer_now() - start, before);
  return report;
}

/* The first attempt uses the number of substeps that the last step needed, because a failed attempt costs far more than
 * unnecessary substeps. Substeps for spinning bodies are determined anew in each step. */
StepReport sim_step(Sim* s) {
  SubstepMemory* memory = &s->substep_memory;
  int least = substeps_min(s), first = least;
  memory->is_refined = false;
  if (memory->last_count > least)
    first = memory->steps_without_retry < UNREFINED_STEPS || memory->last_count < 2 * least ? memory->last_count
                                                                                            : memory->last_count / 2;
  StepReport report = sim_step_with_substeps(s, first);
  if (step_outcome_failed(report.outcome)) return report;
  memory->steps_without_retry =
      memory->attempted == memory->last_count && memory->attempted == first ? memory->steps_without_retry + 1 : 1;
  if (memory->is_refined) memory->steps_without_retry = UNREFINED_STEPS - UNREFINED_STEPS_IN_FLIGHT;
  memory->last_count =
      memory->attempted > memory->minimum ? memory->attempted : simulation_substep_count(&s->model->simulation);
  return report;
}

StepReport sim_step_repeat(Sim* s, const StepClock* parts, int count) {
  assert(parts && count >= 1);
  double start = timer_now();
  ContactTimes before = times_of_contact(s);
  switch_closures(s, s->state.time);
  StepReport report = solve_substeps(s, parts, count, s->model->simulation.max_iterations);
  if (!step_outcome_failed(report.outcome)) finish_step(s);
  update_times(s, timer_now() - start, before);
  return report;
}
