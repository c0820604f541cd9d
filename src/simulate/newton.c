/* Newton's method for one step (docs/derivations/step.md, S8-S9). */
#include <float.h>
#include <string.h>

#include "simulate/sim.h"

/* How far the prescribed joints still have to go; returns whether they have arrived. */
static bool prescribed_step(Sim* s, double* step) {
  bool arrived = true;
  if (s->fixed_count == 0) return true;
  const double* q = s->configuration[s->current].q;
  for (int i = 0; i < s->model->link_count; i++) {
    const ModelLink* link = &s->model->links[i];
    if (link->prescribed < 0) continue;
    joint_difference(&link->joint, q + link->coordinate_first, s->prescribed + link->coordinate_first,
                     step + link->dof_first);
    for (int k = 0; k < link->dof_count; k++)
      arrived = arrived && fabs(step[link->dof_first + k]) < 1e-13 * (1 + fabs(q[link->coordinate_first + k]));
  }
  return arrived;
}

static void report_terms(Sim* s, StepReport* report) {
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

/* What the rounds of Newton's method before this one came to. */
typedef struct {
  double residual;    /* of the last */
  double gap;         /* of closures: what the largest was halved to last, without unit */
  int rounds_as_open; /* since then */
  int rounds_blind;   /* that the energies could not tell, and that left more than BLIND_MUCH */
  bool at_rounding;   /* the last has left no more than the roundings of the coordinates do */
} NewtonProgress;

/* Rounds after which what has not come down to half of what it was open by is not expected to close: where a loop can
 * be closed Newton's method does it in a few. */
enum { ROUNDS_AS_OPEN = 60 };

static bool stalls(NewtonProgress* progress, double gap) {
  bool halved = !(gap > 0.5 * progress->gap);
  progress->rounds_as_open = halved ? 0 : progress->rounds_as_open + 1;
  if (halved) progress->gap = gap;
  return progress->rounds_as_open >= ROUNDS_AS_OPEN;
}

static void tell_open(const ClosureSystem* c, StepReport* report) {
  closures_gap(c, &report->open_closure);
  report->outcome = STEP_OPEN;
  report->open_gap = closure_open_by(c, report->open_closure);
}

/* At the floor of the objective nothing closes any more what Newton's method has not closed; nor where it stalls.
 * Before prescribed joints have arrived its rounds are counted. */
static bool stays_open(Sim* s, bool arrived, NewtonProgress* progress, StepReport* report) {
  ClosureSystem* c = s->closures;
  double gap = closures_gap(c, NULL), before = c->gap_before;
  c->gap_before = gap;
  bool floor = report->outcome == STEP_ROUNDING_FLOOR && gap > 0.5 * before;
  bool stuck = stalls(progress, gap);
  if (!arrived || !(stuck || floor)) return false;
  tell_open(c, report);
  return true;
}

/* A search that fails with a loop open as it has been for some rounds fails for that, and so does one before the
 * prescribed joints have arrived where no pair is in their way. */
enum { ROUNDS_OPEN_AT_END = 5 };

static bool fails_open(const Sim* s, const NewtonProgress* progress, const StepReport* report) {
  if (!s->closures || closures_gap(s->closures, NULL) <= 1) return false;
  if (report->outcome == STEP_BLOCKED) return !s->contact || contact_term_count(s->contact) == 0;
  return report->outcome == STEP_LINE_SEARCH && progress->rounds_as_open >= ROUNDS_OPEN_AT_END;
}

/* Steps that find their solution do so in less; where rounding is all that is left more of them find nothing. */
enum { ITERATIONS_UNTIL_ROUNDING = 12 };

/* The bound of the energies' rounding may be a thousand times what it is. Where a round that they could not tell did
 * not halve the residual, it has come to what rounding leaves; where it is above this only if the forces' rounding says
 * so too, or after several. */
#define BLIND_MUCH 1e-8
enum { ROUNDS_BLIND = 12 };

static bool ends_blind(const Sim* s, const Assembly* a, NewtonProgress* before, const StepReport* report) {
  if (report->outcome != STEP_ROUNDING_FLOOR || !(report->residual > 0.5 * before->residual)) return false;
  if (report->residual <= BLIND_MUCH) return true;
  before->at_rounding = balance_at_rounding(s, a);
  return before->at_rounding || ++before->rounds_blind >= ROUNDS_BLIND;
}

/* One round: residual, direction, search. Returns true when the loop is over. */
static bool newton_round(Sim* s, NewtonProgress* before, StepReport* report) {
  Assembly a;
  double start = timer_now();
  bool arrived = prescribed_step(s, s->rhs);
  if (s->closures) closures_bend(s->closures);
  if (s->closures) closures_begin_round(s->closures, report->iterations, s->tolerance);
  step_assemble(s, contact_term_list(s->contact), &a);
  s->times.assembly += timer_now() - start;
  report->residual = balance_residual(s, &report->residual_dof);
  report->residual_force = report->residual_dof < 0 ? 0 : fabs(s->gradient[report->residual_dof]);
  if (!isfinite(report->residual)) {
    report->outcome = STEP_NOT_FINITE;
    return true;
  }
  bool closed = closures_gap(s->closures, NULL) <= 1;
  bool enough = arrived && closed && report->residual <= s->tolerance;
  if (enough && balance_of_machines(s)) {
    report->outcome = STEP_CONVERGED;
    return true;
  }
  if (arrived && closed && ends_blind(s, &a, before, report)) return true;
  if (!closed && stays_open(s, arrived, before, report)) return true;
  /* near the origin the rounding of contact's forces leaves little, which the energies tell */
  const Assembly* stiff = report->residual > BLIND_MUCH ? &a : NULL;
  if (arrived && closed && report->iterations >= ITERATIONS_UNTIL_ROUNDING && balance_at_rounding(s, stiff)) {
    before->at_rounding = true;
    report->outcome = STEP_ROUNDING_FLOOR;
    return true;
  }
  bool first = isinf(before->residual);
  before->residual = report->residual;
  if (report->iterations == s->iteration_limit) { /* as many as are allowed */
    before->at_rounding = report->outcome == STEP_ROUNDING_FLOOR && balance_at_rounding(s, &a);
    return true;
  }
  if (first && !s->settling && s->model->simulation.max_iterations > 0 && step_repeat_last(s, report)) return false;
  report->outcome = STEP_NOT_FINITE;
  if (!step_direction(s, &a, report)) return true;
  StepSearch found = step_search(s, arrived, report);
  if (found == SEARCH_LEAVES) {
    report->outcome = STEP_MAX_ITERATIONS; /* of those that it was given */
    return true;
  }
  report->outcome = arrived ? STEP_LINE_SEARCH : STEP_BLOCKED;
  if (arrived && (found == SEARCH_LOST || found == SEARCH_FAILED)) before->at_rounding = balance_at_rounding(s, &a);
  if (arrived && (found == SEARCH_LOST || (closed && before->at_rounding))) report->outcome = STEP_ROUNDING_FLOOR;
  if (found == SEARCH_LOST || found == SEARCH_FAILED) {
    if (enough) report->outcome = STEP_CONVERGED; /* more was asked of a foretold step than the tolerance does */
    return true;
  }
  report->iterations++;
  report->outcome = found == SEARCH_AT_ROUNDING ? STEP_ROUNDING_FLOOR : STEP_MAX_ITERATIONS;
  return false;
}

void step_rounds(Sim* s, StepReport* report) {
  NewtonProgress before = {INFINITY, INFINITY, 0, 0, false};
  bool interrupted = false;
  for (int k = 0; k <= s->iteration_limit && !interrupted; k++) {
    interrupted = s->options.interrupted && s->options.interrupted();
    if (!interrupted && newton_round(s, &before, report)) break;
  }
  if (interrupted) {
    report->outcome = STEP_INTERRUPTED;
    return;
  }
  if (fails_open(s, &before, report)) tell_open(s->closures, report);
  /* Rounding may leave a little that cannot be solved; where it leaves much, shorter steps will say what is right. */
  bool much = report->outcome == STEP_ROUNDING_FLOOR && report->residual > FLOOR_MOST;
  if (much && !before.at_rounding) report->outcome = STEP_LINE_SEARCH;
}

/* Gaps below so many roundings of the links' positions hold bodies apart by rounding alone: only a motion that leaves
 * no room brings bodies there. */
#define CRUSHED_ROUNDINGS 1e4

static bool crushed(const Sim* s) {
  if (!s->contact || contact_overlaps(s->model->contact_model)) return false;
  double least = CRUSHED_ROUNDINGS * DBL_EPSILON * balance_largest_place(s);
  for (int k = 0; k < contact_candidate_count(s->contact); k++)
    if (contact_squeeze(s->contact, k).before < least) return true;
  return false;
}

StepReport step_solve(Sim* s) {
  StepReport report = {.outcome = STEP_MAX_ITERATIONS, .residual_dof = -1};
  if (s->model->dof_count == 0) {
    report.outcome = STEP_CONVERGED;
    return report;
  }
  if (s->closures) closures_begin(s->closures);
  Configuration* c = &s->configuration[s->current];
  step_all_stale(s);
  for (int i = 0; i < s->model->link_count; i++) s->same[i] = false;
  memcpy(s->configuration[1 - s->current].q, c->q, sizeof(double) * (size_t)s->model->coordinate_count);
  if (!configuration_evaluate(s, c)) {
    report.outcome = STEP_NOT_FINITE;
    return report;
  }
  int most = s->settling ? 0 : parts_solve(s, &report);
  if (report.outcome == STEP_MAX_ITERATIONS) step_rounds(s, &report); /* else the parts were all */
  report.iterations = most > report.iterations ? most : report.iterations;
  if (s->closures && report.outcome == STEP_ROUNDING_FLOOR && closures_gap(s->closures, NULL) > 1)
    report.outcome = STEP_MAX_ITERATIONS;
  if (report.outcome == STEP_ROUNDING_FLOOR && crushed(s))
    report.outcome = step_leads(s) ? STEP_BLOCKED : STEP_LINE_SEARCH;
  report_terms(s, &report);
  return report;
}
