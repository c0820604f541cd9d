/* Newton's method for one solve of a step (docs/derivations/step.md, S8-S9). */
#include <assert.h>
#include <float.h>
#include <string.h>

#include "simulate/sim.h"

/* Sets step[nv] to the remaining displacements of the prescribed joints [m, rad]. Returns true if these joints have
 * reached their targets. */
static bool compute_prescribed_increments(Sim* s, double* step) {
  bool prescribed_arrived = true;
  if (s->fixed_count == 0) return true;
  const double* q = s->configuration[s->current].q;
  for (int i = 0; i < s->model->link_count; i++) {
    const ModelLink* link = &s->model->links[i];
    if (link->prescribed < 0) continue;
    joint_difference(&link->joint, q + link->coordinate_first, s->prescribed + link->coordinate_first,
                     step + link->dof_first);
    for (int k = 0; k < link->dof_count; k++)
      prescribed_arrived =
          prescribed_arrived && fabs(step[link->dof_first + k]) < 1e-13 * (1 + fabs(q[link->coordinate_first + k]));
  }
  return prescribed_arrived;
}

static void report_energies(Sim* s, StepReport* report) {
  const Configuration* c = &s->configuration[s->current];
  const Model* m = s->model;
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->tree >= 0) {
      Vec3 center = pose_apply(c->pose[i], link->center);
      report->terms.gravity -= link->mass * vec3_dot(model_link_gravity(m, i), center);
      report->terms.inertia += c->inertia[i];
    }
    if (link->dof_count == 0) continue;
    report->terms.controller += c->joints[i].controller;
    report->terms.limit += c->joints[i].limit;
    report->terms.damping += c->joints[i].damping;
    report->terms.inertia += c->joints[i].inertia;
  }
  if (!s->contact) return;
  contact_energy(s->contact, &report->terms.contact, &report->terms.friction);
  report->terms.stored = contact_stored(s->contact);
  report->active_pairs = contact_active_count(s->contact);
  report->candidate_pairs = contact_candidate_count(s->contact);
}

/* State of Newton's method at the accepted configuration, and results of the previous iterations. */
typedef struct {
  bool prescribed_arrived;       /* prescribed joints have reached their targets */
  bool closed;                   /* the errors of all closures are below their tolerance */
  bool solved;                   /* true if the state has arrived, is closed, and is balanced to the tolerance */
  bool below_rounding;           /* the predicted energy decrease of the last iteration was below rounding */
  bool at_rounding;              /* the rounding error of the coordinates explains the last residual */
  bool ended;                    /* no further iteration is allowed, although the step is not solved */
  double residual;               /* residual of the previous iteration; INFINITY in the first iteration */
  double gap;                    /* largest closure error, relative to its tolerance, when it was last halved */
  int open_iterations;           /* iterations since the closure error was last halved */
  int below_rounding_iterations; /* iterations with a predicted decrease below rounding whose residual was not halved
                       and stayed above BELOW_ROUNDING_RESIDUAL_MAX */
} NewtonProgress;

/* If the closure error is not halved within this number of iterations, the loop is reported as open. Loops that can be
 * closed converge in a few iterations. */
enum { OPEN_ITERATIONS_MAX = 60 };

static bool is_stalling(NewtonProgress* progress, double gap) {
  bool halved = !(gap > 0.5 * progress->gap);
  progress->open_iterations = halved ? 0 : progress->open_iterations + 1;
  if (halved) progress->gap = gap;
  return progress->open_iterations >= OPEN_ITERATIONS_MAX;
}

/* Returns true if the closures cannot be closed. This is the case if the gap is not halved in an iteration at the
 * rounding floor of the objective, or not for OPEN_ITERATIONS_MAX iterations. Before prescribed joints have reached
 * their targets, iterations are only counted. */
static bool is_closure_unclosable(Sim* s, NewtonProgress* progress) {
  ClosureSystem* c = s->closures;
  double gap = closures_largest_error(c, NULL), before = c->gap_before;
  c->gap_before = gap;
  bool floor = progress->below_rounding && gap > 0.5 * before;
  bool stuck = is_stalling(progress, gap);
  return progress->prescribed_arrived && (stuck || floor);
}

/* A step without a solution is attributed to an open closure if the closure's gap was not halved for this many
 * iterations. A blocked step is attributed to an open closure if no pairs are in contact. */
enum { OPEN_ITERATIONS_AT_END = 5 };

static bool is_failure_due_to_closure(const Sim* s, const NewtonProgress* progress, StepOutcome outcome) {
  if (!s->closures || closures_largest_error(s->closures, NULL) <= 1) return false;
  if (outcome == STEP_BLOCKED) return !s->contact || contact_term_count(s->contact) == 0;
  return outcome == STEP_NO_SOLUTION && progress->open_iterations >= OPEN_ITERATIONS_AT_END;
}

/* From this number of iterations on, a residual that rounding explains ends the step, because more iterations would not
 * reduce it. */
enum { ITERATIONS_UNTIL_ROUNDING = 12 };

/* The estimated rounding error of the energies may be a thousand times too large. Suppose that an iteration predicts a
 * decrease below this estimate and does not halve the residual. The residual then counts as rounding error in three
 * cases: it is at most BELOW_ROUNDING_RESIDUAL_MAX, the rounding error of the forces explains it, or
 * BELOW_ROUNDING_ITERATIONS_MAX such iterations occurred. */
#define BELOW_ROUNDING_RESIDUAL_MAX 1e-8
enum { BELOW_ROUNDING_ITERATIONS_MAX = 12 };

static bool ends_below_rounding(const Sim* s, const Assembly* a, NewtonProgress* progress, double residual) {
  if (!progress->below_rounding || !(residual > 0.5 * progress->residual)) return false;
  if (residual <= BELOW_ROUNDING_RESIDUAL_MAX) return true;
  progress->at_rounding = balance_is_at_rounding(s, a);
  return progress->at_rounding || ++progress->below_rounding_iterations >= BELOW_ROUNDING_ITERATIONS_MAX;
}

static StepOutcome end_without_solution(NewtonProgress* progress) {
  progress->ended = true;
  progress->below_rounding = false;
  return STEP_NO_SOLUTION;
}

/* Assembles the terms at the accepted configuration. Sets arrived, closed and enough of *progress, and the residuals of
 * the report. */
static void assemble_and_test_balance(Sim* s, NewtonProgress* progress, StepReport* report, Assembly* a) {
  double start = timer_now();
  progress->prescribed_arrived = compute_prescribed_increments(s, s->rhs);
  if (s->closures) closures_include_curvature(s->closures);
  if (s->closures) closures_set_tolerance_factor(s->closures, report->iterations, s->tolerance);
  step_assemble(s, contact_term_list(s->contact), a);
  s->times.assembly += timer_now() - start;
  report->residual = balance_residual(s, &report->residual_dof);
  report->residual_force = report->residual_dof < 0 ? 0 : fabs(s->gradient[report->residual_dof]);
  progress->closed = closures_largest_error(s->closures, NULL) <= 1;
  progress->solved = progress->prescribed_arrived && progress->closed && report->residual <= s->tolerance;
}

/* Returns the outcome for the accepted configuration. STEP_NO_SOLUTION: Newton's method continues, unless
 * progress->ended is set. */
static StepOutcome outcome_of_balance(Sim* s, NewtonProgress* progress, const StepReport* report, const Assembly* a) {
  bool free_to_end = progress->prescribed_arrived && progress->closed;
  if (!isfinite(report->residual)) return end_without_solution(progress);
  if (progress->solved && balance_closures_are_reached(s)) return STEP_CONVERGED;
  if (free_to_end && ends_below_rounding(s, a, progress, report->residual)) return STEP_ROUNDING_FLOOR;
  if (!progress->closed && is_closure_unclosable(s, progress)) return STEP_CLOSURE_OPEN;
  /* for small residuals the rounding of contact forces is ignored, because the energies show it */
  const Assembly* stiff = report->residual > BELOW_ROUNDING_RESIDUAL_MAX ? a : NULL;
  if (free_to_end && report->iterations >= ITERATIONS_UNTIL_ROUNDING && balance_is_at_rounding(s, stiff)) {
    progress->at_rounding = true;
    return STEP_ROUNDING_FLOOR;
  }
  if (report->iterations == s->iteration_limit) {
    progress->ended = true;
    progress->at_rounding = progress->below_rounding && balance_is_at_rounding(s, a);
  }
  return STEP_NO_SOLUTION;
}

/* Returns the outcome after a line search. STEP_NO_SOLUTION: Newton's method continues, unless progress->ended is set.
 */
static StepOutcome outcome_of_line_search(Sim* s, NewtonProgress* progress, LineSearchResult found, const Assembly* a) {
  bool lost = found == SEARCH_NEAR_ROUNDING, accepted = found == SEARCH_ACCEPTED || found == SEARCH_AT_ROUNDING;
  progress->below_rounding = found == SEARCH_AT_ROUNDING;
  progress->ended = found == SEARCH_LEAVES_REGION;
  if (accepted || progress->ended) return STEP_NO_SOLUTION;
  if (progress->solved) return STEP_CONVERGED; /* only the stricter tolerance of trees with closures (Z10) is not met */
  if (!progress->prescribed_arrived) return STEP_BLOCKED;
  progress->at_rounding = balance_is_at_rounding(s, a);
  bool floor = lost || (progress->closed && progress->at_rounding);
  return floor ? STEP_ROUNDING_FLOOR : end_without_solution(progress);
}

/* Performs one iteration: computes residual and direction, then searches along the direction. Returns STEP_NO_SOLUTION
 * if the step has not converged yet, or if progress->ended is set. */
static StepOutcome newton_iteration(Sim* s, NewtonProgress* progress, StepReport* report) {
  Assembly a;
  if (s->options.interrupted && s->options.interrupted()) return STEP_INTERRUPTED;
  assemble_and_test_balance(s, progress, report, &a);
  StepOutcome outcome = outcome_of_balance(s, progress, report, &a);
  if (outcome != STEP_NO_SOLUTION || progress->ended) return outcome;
  bool first = isinf(progress->residual);
  progress->residual = report->residual;
  bool repeats = first && !s->iterates_friction && s->model->simulation.max_iterations > 0;
  if (repeats && line_search_repeat_last_step(s, report)) return STEP_NO_SOLUTION;
  if (!step_direction(s, &a, report)) return end_without_solution(progress);
  LineSearchResult found = line_search_run(s, progress->prescribed_arrived, report);
  report->iterations += found == SEARCH_ACCEPTED || found == SEARCH_AT_ROUNDING;
  return outcome_of_line_search(s, progress, found, &a);
}

static StepOutcome final_outcome(const Sim* s, const NewtonProgress* progress, StepOutcome outcome, double residual) {
  if (!isfinite(residual)) return outcome;
  if (outcome == STEP_NO_SOLUTION && progress->below_rounding) outcome = STEP_ROUNDING_FLOOR;
  if (is_failure_due_to_closure(s, progress, outcome)) return STEP_CLOSURE_OPEN;
  /* a small residual at the rounding floor is accepted; a large residual makes the step fail, so that shorter substeps
   * are tried */
  bool much = outcome == STEP_ROUNDING_FLOOR && residual > ROUNDING_FLOOR_RESIDUAL_MAX;
  return much && !progress->at_rounding ? STEP_NO_SOLUTION : outcome;
}

void newton_iterate(Sim* s, StepReport* report) {
  NewtonProgress progress = {.residual = INFINITY, .gap = INFINITY};
  StepOutcome outcome = STEP_NO_SOLUTION;
  for (int k = 0; k <= s->iteration_limit && outcome == STEP_NO_SOLUTION && !progress.ended; k++)
    outcome = newton_iteration(s, &progress, report);
  report->outcome = final_outcome(s, &progress, outcome, report->residual);
  if (report->outcome != STEP_CLOSURE_OPEN) return;
  closures_largest_error(s->closures, &report->open_closure);
  report->open_gap = closure_absolute_error(s->closures, report->open_closure);
}

/* A gap below this many rounding errors of the links' positions exists only by rounding. The motion then leaves no
 * space between the bodies. */
#define CLOSED_GAP_ROUNDINGS 1e4

static bool is_gap_rounding_error(const Sim* s) {
  if (!s->contact || contact_allows_overlap(s->model->contact_model)) return false;
  double least = CLOSED_GAP_ROUNDINGS * DBL_EPSILON * balance_largest_position(s);
  for (int k = 0; k < contact_candidate_count(s->contact); k++)
    if (contact_squeeze(s->contact, k).before < least) return true;
  return false;
}

/* Evaluates the state at the start of a step. Returns false if a coordinate is beyond a barrier limit. */
static bool evaluate_start(Sim* s) {
  Configuration* c = &s->configuration[s->current];
  if (s->closures) closures_begin_step(s->closures);
  step_mark_all_stale(s);
  for (int i = 0; i < s->model->link_count; i++) s->same[i] = false;
  memcpy(s->configuration[1 - s->current].q, c->q, sizeof(double) * (size_t)s->model->coordinate_count);
  return configuration_evaluate(s, c);
}

/* Returns the outcome at the rounding floor. This is a failure if a closure is open, or if only rounding separates
 * bodies. */
static StepOutcome outcome_at_rounding_floor(const Sim* s) {
  if (s->closures && closures_largest_error(s->closures, NULL) > 1) return STEP_NO_SOLUTION;
  if (!is_gap_rounding_error(s)) return STEP_ROUNDING_FLOOR;
  return sim_has_prescribed_motion(s) ? STEP_BLOCKED : STEP_NO_SOLUTION;
}

StepReport step_solve(Sim* s) {
  assert(s->clock.dt > 0 && s->iteration_limit >= 0);
  bool moves = s->model->dof_count > 0;
  StepReport report = {.outcome = moves ? STEP_NO_SOLUTION : STEP_CONVERGED, .residual_dof = -1};
  if (!moves) return report;
  if (!evaluate_start(s)) return step_not_finite();
  int most = s->iterates_friction ? 0 : subsystems_solve(s, &report);
  /* any other outcome: the independent parts solved every tree, or the solve was interrupted */
  if (report.outcome == STEP_NO_SOLUTION) newton_iterate(s, &report);
  report.iterations = most > report.iterations ? most : report.iterations;
  if (report.outcome == STEP_ROUNDING_FLOOR) {
    report.outcome = outcome_at_rounding_floor(s);
    if (report.residual_dof >= 0) report.speed_error = balance_speed_error(s, report.residual_dof);
  }
  report_energies(s, &report);
  return report;
}
