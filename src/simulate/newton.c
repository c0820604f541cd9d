/* Newton's method for one solve of a step (docs/derivations/step.md, S8-S9). */
#include <assert.h>
#include <float.h>
#include <string.h>

#include "simulate/sim.h"

/* Sets step[nv] to the remaining displacements of the prescribed joints [m, rad]. Returns true if these joints have
 * reached their targets. */
static bool compute_prescribed_increments(Sim* s, double* step) {
  bool prescribed_arrived = true;
  if (s->prescribed_joints.count == 0) return true;
  const double* q = s->configuration[s->current].q;
  for (int i = 0; i < s->model->link_count; i++) {
    const ModelLink* link = &s->model->links[i];
    if (link->prescribed < 0) continue;
    joint_difference(&link->joint, q + link->coordinate_first, s->prescribed_joints.target + link->coordinate_first,
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
  report->terms.stored = contact_stored_energy(s->contact);
  report->active_pairs = contact_active_count(s->contact);
  report->candidate_pairs = contact_candidate_count(s->contact);
}

/* Reason why Newton's method ended. */
typedef enum {
  END_NONE,        /* the method continues */
  END_INTERRUPTED, /* the callback SimOptions.interrupted returned true */
  END_BALANCED,    /* the forces are balanced to the tolerance */
  END_ROUNDING,    /* rounding leaves no decrease of the energy, or explains the residual */
  END_OPEN,        /* closures cannot be closed */
  END_BLOCKED,     /* the line search failed before prescribed joints reached their targets */
  END_LIMIT,       /* the iteration limit was reached */
  END_FAILED,      /* no finite residual, direction or step was found, or links left the regions of their subsystem */
} NewtonEnd;

/* State of Newton's method at the accepted configuration, and results of the previous iterations. */
typedef struct {
  NewtonEnd end;
  bool prescribed_arrived; /* true if prescribed joints have reached their targets */
  bool closed;             /* true if the errors of all closures are below their tolerance */
  bool solved; /* true if `prescribed_arrived` and `closed` are true and the forces are balanced to the tolerance */
  bool below_rounding; /* true if the predicted energy decrease of the last iteration was below rounding */
  bool at_rounding;    /* true if the rounding error of the coordinates explains the last residual */
  double residual;     /* residual of the previous iteration; INFINITY in the first iteration */
  double gap;          /* largest closure error at the time when it was last halved, relative to its tolerance */
  int open_iterations; /* number of iterations since the closure error was last halved */
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

/* Returns true if the closures cannot be closed: OPEN_ITERATIONS_MAX iterations, or one iteration at the rounding floor
 * of the objective, did not halve the closure error. Returns false as long as prescribed joints have not reached their
 * targets. */
static bool is_closure_unclosable(Sim* s, NewtonProgress* progress) {
  ClosureSystem* c = s->closures;
  double gap = closures_largest_error(c, NULL), before = c->gap_before;
  c->gap_before = gap;
  bool floor = progress->below_rounding && gap > 0.5 * before;
  bool stuck = is_stalling(progress, gap);
  return progress->prescribed_arrived && (stuck || floor);
}

/* From this number of iterations on, a residual that rounding explains ends the step, because more iterations would not
 * reduce it. */
enum { ITERATIONS_UNTIL_ROUNDING = 12 };

/* The estimated rounding error of the energies may be a thousand times too large. Suppose that an iteration predicts a
 * decrease below this estimate and does not halve the residual. The residual then counts as rounding error if it is at
 * most BELOW_ROUNDING_RESIDUAL_MAX, or if the rounding error of the forces explains it. */
#define BELOW_ROUNDING_RESIDUAL_MAX 1e-8

static bool ends_below_rounding(const Sim* s, const Assembly* a, NewtonProgress* progress, double residual) {
  if (!progress->below_rounding || !(residual > 0.5 * progress->residual)) return false;
  if (residual <= BELOW_ROUNDING_RESIDUAL_MAX) return true;
  progress->at_rounding = balance_is_at_rounding(s, a);
  return progress->at_rounding;
}

/* Assembles the terms at the accepted configuration. Sets prescribed_arrived, closed and solved of *progress, and the
 * residuals of the report. */
static void assemble_and_test_balance(Sim* s, NewtonProgress* progress, StepReport* report, Assembly* a) {
  double start = timer_now();
  progress->prescribed_arrived = compute_prescribed_increments(s, s->newton.rhs);
  if (s->closures) closures_include_curvature(s->closures);
  if (s->closures) closures_set_tolerance_factor(s->closures, report->iterations, s->tolerance);
  step_assemble(s, contact_term_list(s->contact), a);
  s->times.assembly += timer_now() - start;
  report->residual = balance_residual(s, &report->residual_dof);
  report->residual_force = report->residual_dof < 0 ? 0 : fabs(s->newton.gradient[report->residual_dof]);
  progress->closed = closures_largest_error(s->closures, NULL) <= 1;
  progress->solved = progress->prescribed_arrived && progress->closed && report->residual <= s->tolerance;
}

/* Returns the reason to end at the accepted configuration. */
static NewtonEnd outcome_of_balance(Sim* s, NewtonProgress* progress, const StepReport* report, const Assembly* a) {
  bool free_to_end = progress->prescribed_arrived && progress->closed;
  if (!isfinite(report->residual)) return END_FAILED;
  if (progress->solved && balance_closures_are_reached(s)) return END_BALANCED;
  if (free_to_end && ends_below_rounding(s, a, progress, report->residual)) return END_ROUNDING;
  if (!progress->closed && is_closure_unclosable(s, progress)) return END_OPEN;
  /* small residuals: ignores the rounding of contact forces, because ends_below_rounding already tests the energies */
  const Assembly* stiff = report->residual > BELOW_ROUNDING_RESIDUAL_MAX ? a : NULL;
  if (free_to_end && report->iterations >= ITERATIONS_UNTIL_ROUNDING && balance_is_at_rounding(s, stiff)) {
    progress->at_rounding = true;
    return END_ROUNDING;
  }
  if (report->iterations < s->iteration_limit) return END_NONE;
  progress->at_rounding = progress->below_rounding && balance_is_at_rounding(s, a);
  return END_LIMIT;
}

/* Returns the reason to end after a line search. */
static NewtonEnd outcome_of_line_search(Sim* s, NewtonProgress* progress, LineSearchResult found, const Assembly* a) {
  progress->below_rounding = found == SEARCH_AT_ROUNDING;
  if (found == SEARCH_ACCEPTED || found == SEARCH_AT_ROUNDING) return END_NONE;
  if (found == SEARCH_LEAVES_REGION) return END_FAILED;
  if (progress->solved)
    return END_BALANCED; /* only the stricter tolerance of trees with closures (closures.md, Z10) is not met */
  if (!progress->prescribed_arrived) return END_BLOCKED;
  progress->at_rounding = balance_is_at_rounding(s, a);
  return progress->closed && progress->at_rounding ? END_ROUNDING : END_FAILED;
}

/* Performs one iteration: computes residual and direction, then searches along the direction. Sets progress->end. */
static void newton_iteration(Sim* s, NewtonProgress* progress, StepReport* report) {
  Assembly a;
  progress->end = s->options.interrupted && s->options.interrupted() ? END_INTERRUPTED : END_NONE;
  if (progress->end != END_NONE) return;
  assemble_and_test_balance(s, progress, report, &a);
  progress->end = outcome_of_balance(s, progress, report, &a);
  if (progress->end != END_NONE) return;
  bool first = isinf(progress->residual);
  progress->residual = report->residual;
  bool repeats = first && !s->friction_solve.iterates && s->model->simulation.max_iterations > 0;
  if (repeats && line_search_repeat_last_step(s, report)) return;
  progress->end = END_FAILED;
  if (!step_direction(s, &a, report)) return;
  LineSearchResult found = line_search_run(s, progress->prescribed_arrived, report);
  report->iterations += found == SEARCH_ACCEPTED || found == SEARCH_AT_ROUNDING;
  progress->end = outcome_of_line_search(s, progress, found, &a);
}

/* A step without a solution is attributed to an open closure if the closure's gap was not halved for this many
 * iterations. A blocked step is attributed to an open closure if no pairs are in contact. */
enum { OPEN_ITERATIONS_AT_END = 5 };

static bool is_failure_due_to_closure(const Sim* s, const NewtonProgress* progress) {
  if (progress->end == END_OPEN) return true;
  if (!s->closures || closures_largest_error(s->closures, NULL) <= 1) return false;
  if (progress->end == END_BLOCKED) return !s->contact || contact_term_count(s->contact) == 0;
  return progress->open_iterations >= OPEN_ITERATIONS_AT_END;
}

/* Returns the outcome of Newton's method, which has ended with this residual. A small residual at the rounding floor is
 * accepted. A large residual makes the step fail, so that shorter substeps are tried. */
static StepOutcome newton_outcome(const Sim* s, const NewtonProgress* progress, double residual) {
  NewtonEnd end = progress->end;
  bool floor = end == END_ROUNDING || (end == END_LIMIT && progress->below_rounding);
  if (end == END_INTERRUPTED) return STEP_INTERRUPTED;
  if (end == END_BALANCED) return STEP_CONVERGED;
  if (!isfinite(residual)) return STEP_NO_SOLUTION;
  if (floor)
    return residual > ROUNDING_FLOOR_RESIDUAL_MAX && !progress->at_rounding ? STEP_NO_SOLUTION : STEP_ROUNDING_FLOOR;
  if (is_failure_due_to_closure(s, progress)) return STEP_CLOSURE_OPEN;
  return end == END_BLOCKED ? STEP_BLOCKED : STEP_NO_SOLUTION;
}

void newton_iterate(Sim* s, StepReport* report) {
  NewtonProgress progress = {.residual = INFINITY, .gap = INFINITY};
  for (int k = 0; k <= s->iteration_limit && progress.end == END_NONE; k++) newton_iteration(s, &progress, report);
  if (progress.end == END_NONE) progress.end = END_LIMIT;
  report->outcome = newton_outcome(s, &progress, report->residual);
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
    if (contact_directional_gap(s->contact, k).before < least) return true;
  return false;
}

/* Evaluates the state at the start of a step. Returns false if a coordinate is beyond a barrier limit. */
static bool evaluate_start(Sim* s) {
  Configuration* c = &s->configuration[s->current];
  if (s->closures) closures_begin_step(s->closures);
  step_mark_all_stale(s);
  for (int i = 0; i < s->model->link_count; i++) s->trial.same[i] = false;
  memcpy(s->configuration[1 - s->current].q, c->q, sizeof(double) * (size_t)s->model->coordinate_count);
  return configuration_evaluate(s, c);
}

/* Returns the outcome of a solve at the rounding floor. This is a failure if a closure is open, or if only rounding
 * separates bodies. */
static StepOutcome floor_outcome(const Sim* s) {
  bool open = s->closures && closures_largest_error(s->closures, NULL) > 1, crush = !open && is_gap_rounding_error(s);
  if (!open && !crush) return STEP_ROUNDING_FLOOR;
  return crush && sim_has_prescribed_motion(s) ? STEP_BLOCKED : STEP_NO_SOLUTION;
}

StepReport step_solve(Sim* s) {
  StepReport report = step_unsolved(0);
  if (s->model->dof_count == 0) return step_no_work();
  if (!evaluate_start(s)) return step_unsolved(INFINITY);
  int most = s->friction_solve.iterates ? 0 : subsystems_solve(s, &report);
  /* any other outcome: the subsystems solved every tree, or the solve was interrupted */
  if (report.outcome == STEP_NO_SOLUTION) newton_iterate(s, &report);
  report.iterations = most > report.iterations ? most : report.iterations;
  if (report.outcome == STEP_ROUNDING_FLOOR) {
    report.outcome = floor_outcome(s);
    if (report.residual_dof >= 0) report.speed_error = balance_speed_error(s, report.residual_dof);
  }
  report_energies(s, &report);
  return report;
}
