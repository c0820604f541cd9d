/* Comparison of the gradient with respect to the variables with central differences. Symmetries and shared vertices
 * are included in the gradient. */
#include <float.h>
#include <string.h>

#include "optimize/optimization.h"

/* Large change of a variable, used if the task gives no scale [m, rad, ...]. */
#define LARGE 0.1
/* Derivatives of the loss along a direction count as rounding errors below this tolerance. The tolerance is relative to
 * the norm of the vector with the entries dL/dx_k s_k, where s_k is the large change of variable k (large_change). */
#define ZERO 1e-12

typedef struct {
  Optimization* optimization;
  int block;
  double* x;
} BlockMove;

/* Returns the minimized value with `values` for the variables of the block. Returns NaN if a run fails. */
static double moved_loss(void* context, const double* values) {
  BlockMove* move = context;
  Optimization* o = move->optimization;
  double loss;
  bool interrupted;
  for (int k = 0, next = 0; k < o->design.variable_count; k++)
    move->x[k] = o->design.block[k] == move->block ? values[next++] : o->x[k];
  TrialOutcome outcome = evaluate_design(o, move->x, &loss, o->trial_terms, &interrupted);
  return outcome == TRIAL_ACCEPTED && !interrupted ? optimization_merit(o, loss, o->trial_terms) : (double)NAN;
}

static double large_change(const DesignVariable* v) { return v->scale > 0 ? v->scale : LARGE; }

static GradcheckFloor floor_of(const Optimization* o) {
  GradcheckFloor floor = {0, 0, NULL};
  for (int k = 0; k < o->term_count; k++) floor.value += DBL_EPSILON * fabs(o->terms[k]);
  for (int k = 0; k < o->design.variable_count; k++)
    floor.gradient = math_hypot(floor.gradient, ZERO * large_change(&o->design.variables[k]) * o->gradient[k]);
  return floor;
}

static void check_block(Optimization* o, const GradcheckOptions* options, int block, GradcheckBlockReport* report) {
  size_t n = (size_t)o->design.variable_count;
  double* memory = MEMORY_NEW(double, 4 * n + 1);
  double *gradient = memory, *scale = gradient + n, *base = scale + n;
  int count = 0;
  for (int k = 0; k < o->design.variable_count; k++) {
    if (o->design.block[k] != block) continue;
    gradient[count] = o->gradient[k];
    scale[count] = large_change(&o->design.variables[k]);
    base[count++] = o->x[k];
  }
  BlockMove move = {o, block, base + n};
  gradcheck_vector(count, gradient, scale, base, floor_of(o), moved_loss, &move, options,
                   options->seed * 104729u + (uint64_t)block, report);
  memory_free(memory);
}

/* Returns true if a closure is singular in a model of the current design. */
static bool is_singular(const Optimization* o) {
  bool singular = false;
  for (int k = 0; !o->function.evaluate && k < o->run_count; k++)
    singular = singular || (o->runs[k].made && o->runs[k].model.singular_closure >= 0);
  return singular;
}

void optimization_gradcheck(Optimization* o, const GradcheckOptions* options, GradcheckBlockReport report[2]) {
  bool singular = is_singular(o);
  if (options->fixed_substeps) optimization_fix_substeps(o);
  for (int block = 0; block < 2; block++) {
    check_block(o, options, block, &report[block]);
    gradcheck_mark_singular(singular, &report[block]);
  }
}
