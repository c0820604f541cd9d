/* Compares the gradient with respect to the variables with central differences, symmetries and shared vertices
 * included. */
#include <float.h>
#include <string.h>

#include "optimize/optimization.h"

/* Typical large change of a variable for which the task gives none [m, rad, ...]. */
#define DEFAULT_SCALE 0.1
/* Derivatives along a direction are rounding errors below this fraction of the gradient's norm in the scales of the
 * variables. */
#define ZERO_GRADIENT 1e-12

typedef struct {
  Optimization* optimization;
  int block;
  double* x;
} CheckedVariableBlock;

/* Returns the minimized function (loss plus penalties) for `values` of the variables of one block, or NaN if a run
 * fails. */
static double evaluate_block(void* context, const double* values) {
  CheckedVariableBlock* move = context;
  Optimization* o = move->optimization;
  double loss;
  bool interrupted;
  for (int k = 0, next = 0; k < o->design.variable_count; k++)
    move->x[k] = o->design.block[k] == move->block ? values[next++] : o->x[k];
  TrialOutcome outcome = evaluate_design(o, move->x, &loss, o->trial_terms, &interrupted);
  return outcome == TRIAL_ACCEPTED && !interrupted ? optimization_merit(o, loss, o->trial_terms) : (double)NAN;
}

/* Returns the same value from runs with the solver tolerance times GRADCHECK_PRECISE_FACTOR (gradcheck.md, J18). */
static double evaluate_precisely(void* context, const double* values) {
  Optimization* o = ((const CheckedVariableBlock*)context)->optimization;
  o->check_tolerance = GRADCHECK_PRECISE_FACTOR * o->task->optimizer.tolerance;
  double value = evaluate_block(context, values);
  o->check_tolerance = 0;
  return value;
}

static double variable_scale(const DesignVariable* v) { return v->scale > 0 ? v->scale : DEFAULT_SCALE; }

static GradcheckFloor compute_rounding(const Optimization* o) {
  GradcheckFloor floor = {.precise_value = evaluate_precisely};
  for (int k = 0; k < o->term_count; k++) floor.value += DBL_EPSILON * fabs(o->terms[k]);
  for (int k = 0; k < o->design.variable_count; k++)
    floor.gradient =
        math_hypot(floor.gradient, ZERO_GRADIENT * variable_scale(&o->design.variables[k]) * o->gradient[k]);
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
    scale[count] = variable_scale(&o->design.variables[k]);
    base[count++] = o->x[k];
  }
  CheckedVariableBlock move = {o, block, base + n};
  gradcheck_vector(count, gradient, scale, base, compute_rounding(o), evaluate_block, &move, options,
                   options->seed * 104729u + (uint64_t)block, report);
  memory_free(memory);
}

/* Returns true if a loop of the current design is in a singular configuration. */
static bool is_singular(const Optimization* o) {
  bool singular = false;
  for (int k = 0; !o->function.evaluate && k < o->run_count; k++)
    singular = singular || (o->runs[k].model_is_valid && o->runs[k].model.singular_closure >= 0);
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
