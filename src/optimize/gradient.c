/* Projected gradient method: a step along the negative gradient, limited in each block. */
#include <math.h>
#include "optimize/optimizer.h"
#include "optimize/rule.h"

static int work_size(const TaskOptimizer* settings, const FeasibleSet* set) {
  (void)settings;
  return 2 * set->count;
}

/* Proposes the gradient step, projected onto the feasible set (update.md, O4). The projection uses the metric in which
 * the step is steepest descent. Otherwise linear constraints over design and control variables, whose step sizes
 * differ, could turn it into an ascent direction. */
static bool propose(Optimizer* o, const double* x, const double* gradient, double* trial) {
  double *step = o->work, *scale = step + o->set->count;
  for (int block = 0; block < 2; block++) {
    double largest = rule_largest_entry(o->set, gradient, block) * o->clip;
    double rate = optimizer_step_bound(o, block) * o->clip / fmax(1.0, largest);
    for (int i = 0; i < o->set->count; i++) {
      if (o->set->block[i] != block) continue;
      step[i] = -rate * gradient[i];
      scale[i] = sqrt(rate);
    }
  }
  return rule_project_step(o, scale, x, step, trial);
}

const UpdateRule RULE_GRADIENT = {.descends = true, .factor_limit = 10, .work_size = work_size, .propose = propose};
