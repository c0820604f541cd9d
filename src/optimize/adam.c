/* The Adam method: a step along the running mean of the gradients, divided by their root mean square. */
#include <math.h>
#include "optimize/optimizer.h"
#include "optimize/rule.h"

/* Lower limit of the divisor of a variable's gradient, relative to the largest divisor. Without the limit, variables
 * with tiny gradients would absorb all of a constraint's correction, and 0 / 0 could occur. */
#define SIZE_LEAST 1e-12

/* RepeatIndices into the state of the rule: the number of gradients so far; then the means of the gradients, followed
 * by the means of their squares. */
enum { SEEN, MEANS };

static int state_size(const TaskOptimizer* settings, int count) {
  (void)settings;
  return MEANS + 2 * count;
}

static int work_size(const TaskOptimizer* settings, const FeasibleSet* set) {
  (void)settings;
  return 2 * set->count;
}

static void advance_means(Optimizer* o, const double* gradient) {
  int count = o->set->count;
  double *mean = o->own + MEANS, *square = mean + count;
  double beta1 = o->settings.beta1, beta2 = o->settings.beta2;
  for (int i = 0; i < count; i++) {
    double g = gradient[i] * o->clip;
    mean[i] = beta1 * mean[i] + (1 - beta1) * g;
    square[i] = beta2 * square[i] + (1 - beta2) * g * g;
  }
  o->own[SEEN] += 1;
}

/* Sets size[count] to the divisors of the mean gradients. Division by 1 - beta2^SEEN corrects the bias of means that
 * start at zero. */
static void find_sizes(const Optimizer* o, double* size) {
  const double* square = o->own + MEANS + o->set->count;
  double missing = 1 - math_pow(o->settings.beta2, o->own[SEEN]), largest = 0;
  for (int i = 0; i < o->set->count; i++) {
    size[i] = sqrt(square[i] / missing) + o->settings.epsilon;
    largest = fmax(largest, size[i]);
  }
  for (int i = 0; i < o->set->count; i++) size[i] = fmax(size[i], largest > 0 ? SIZE_LEAST * largest : 1.0);
}

/* Proposes the Adam step, projected onto the feasible set (O5). The unprojected step d minimizes mean . d + sum
 * size_i d_i^2 / (2 bound), so the projection uses the metric of that sum. The method then stops only at points
 * where the constraints balance the mean gradient. */
static bool propose(Optimizer* o, const double* x, const double* gradient, double* trial) {
  if (o->state[STATE_FRESH] == 1) advance_means(o, gradient);
  o->state[STATE_FRESH] = 0;
  int count = o->set->count;
  double missing = 1 - math_pow(o->settings.beta1, o->own[SEEN]);
  double bound[2] = {optimizer_step_bound(o, 0), optimizer_step_bound(o, 1)};
  double *step = o->work, *scale = step + count;
  find_sizes(o, scale);
  for (int i = 0; i < count; i++) {
    double rate = bound[o->set->block[i]] / scale[i];
    step[i] = -rate * (o->own[MEANS + i] / missing);
    scale[i] = sqrt(rate);
  }
  return rule_project_step(o, scale, x, step, trial);
}

const UpdateRule RULE_ADAM = {.descends = false,
                              .factor_limit = 1,
                              .recovers = true,
                              .state_size = state_size,
                              .work_size = work_size,
                              .propose = propose};
