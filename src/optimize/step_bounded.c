/* Step-bounded method: minimizes the linearized loss over the feasible set and a trust region (SDRS Eq. 15). */
#include <math.h>
#include <string.h>
#include "optimize/optimizer.h"
#include "optimize/rule.h"
#include "optimize/step_ball.h"

/* Subproblem: limits of a step from x, and workspace, in Optimizer.work. */
typedef struct {
  double *low, *high, *row_low, *row_high; /* limits of the step and of its products with the rows of constraints */
  double *face_low, *face_high, *face_row_low, *face_row_high;
  double *d, *scratch, *radii; /* step (count), workspace (3 count), radius of each variable (size: count) */
  double radius[2];
} StepProblem;

static int work_size(const TaskOptimizer* settings, const FeasibleSet* set) {
  (void)settings;
  return 9 * set->count + 4 * set->row_count;
}

static StepProblem set_up_problem(const Optimizer* o) {
  int n = o->set->count, m = o->set->row_count;
  double* w = o->work;
  return (StepProblem){.low = w,
                       .high = w + n,
                       .face_low = w + 2 * n,
                       .face_high = w + 3 * n,
                       .d = w + 4 * n,
                       .scratch = w + 5 * n,
                       .radii = w + 8 * n,
                       .row_low = w + 9 * n,
                       .row_high = w + 9 * n + m,
                       .face_row_low = w + 9 * n + 2 * m,
                       .face_row_high = w + 9 * n + 3 * m,
                       .radius = {optimizer_step_bound(o, 0), optimizer_step_bound(o, 1)}};
}

static void compute_limits(const FeasibleSet* set, const double* x, StepProblem* p) {
  rule_shift_limits(set, x, p->low, p->high, p->row_low, p->row_high);
  for (int i = 0; i < set->count; i++) {
    double radius = p->radii[i] = p->radius[set->block[i]];
    p->low[i] = fmax(p->low[i], -radius);
    p->high[i] = fmin(p->high[i], radius);
  }
}

/* Sets p->d[count] to the minimizer of the linearized loss in the infinity norm (update.md, O6). A variable in no row
 * moves to an end of its interval. For the other variables the shortest of all optimal steps is chosen, measured in
 * radii, so that variables without influence do not move. Returns false if the projection fails. */
static bool step_infinity(const Optimizer* o, const double* gradient, StepProblem* p) {
  for (int i = 0; i < o->set->count; i++) {
    p->d[i] = gradient[i] > 0 ? p->low[i] : gradient[i] < 0 ? p->high[i] : 0.0;
    p->face_low[i] = p->face_high[i] = p->d[i];
  }
  if (projector_rows(o->projector)->column_count == 0) return true;
  ProjectLimits limits = {p->low, p->high, p->row_low, p->row_high};
  ProjectLimits face = {p->face_low, p->face_high, p->face_row_low, p->face_row_high};
  const ProjectRows* rows = projector_rows(o->projector);
  for (int c = 0; c < rows->column_count; c++) p->d[rows->variable[c]] = 0;
  if (linear_program_solve(o->program, o->set->block, p->radius, gradient, &limits, p->face_low, p->face_high,
                           p->face_row_low, p->face_row_high) &&
      projector_project(o->projector, &face, p->radii, p->d))
    return true;
  /* rounding prevented a minimum: project a long gradient step, which also descends */
  double length = 0;
  for (int b = 0; b < 2; b++) length = fmax(length, rule_largest_entry(o->set, gradient, b) * p->radius[b]);
  for (int i = 0; i < o->set->count; i++) {
    double radius = p->radii[i];
    p->d[i] = length > 0 ? -radius * (gradient[i] * radius / length) : 0.0;
  }
  return projector_project(o->projector, &limits, p->radii, p->d);
}

static bool step_euclidean(const Optimizer* o, const double* gradient, StepProblem* p) {
  const FeasibleSet* set = o->set;
  ProjectLimits limits = {p->low, p->high, p->row_low, p->row_high};
  if (projector_rows(o->projector)->column_count > 0)
    return step_ball_rows(o->projector, set->count, set->block, &limits, gradient, p->radius, p->scratch, p->d);
  step_ball_bounds(set->count, set->block, p->low, p->high, gradient, p->radius, p->d);
  return true;
}

/* Proposes the step (O6-O8). The gradient is not clipped, because its scale does not change the minimizer. */
static bool propose(Optimizer* o, const double* x, const double* gradient, double* trial) {
  StepProblem problem = set_up_problem(o);
  compute_limits(o->set, x, &problem);
  bool infinity = o->settings.norm == NORM_INFINITY;
  if (!(infinity ? step_infinity : step_euclidean)(o, gradient, &problem)) return false;
  for (int i = 0; i < o->set->count; i++) trial[i] = x[i] + problem.d[i];
  return rule_project(o, trial); /* removes the rounding error of the sum */
}

const UpdateRule RULE_STEP_BOUNDED = {.descends = true, .factor_limit = 10, .work_size = work_size, .propose = propose};
