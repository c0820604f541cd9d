/* Adam: the step of a variable follows the mean of its gradients, divided by their root mean square. */
#include <math.h>
#include "optimize/optimizer.h"
#include "optimize/rule.h"

/* A variable whose gradients have been smaller than this part of the largest ones' is as free as one of this size: with
 * less, rows would be met by it alone, and 0 / 0 is none. */
#define SIZE_LEAST 1e-12

/* Own state: gradients seen, their mean, the mean of their squares. */
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

/* What the mean gradient of each variable is divided by. The means began at zero; dividing by 1 - beta^seen undoes it.
 */
static void find_sizes(const Optimizer* o, double* size) {
  const double* square = o->own + MEANS + o->set->count;
  double missing = 1 - math_pow(o->settings.beta2, o->own[SEEN]), largest = 0;
  for (int i = 0; i < o->set->count; i++) {
    size[i] = sqrt(square[i] / missing) + o->settings.epsilon;
    largest = fmax(largest, size[i]);
  }
  for (int i = 0; i < o->set->count; i++) size[i] = fmax(size[i], largest > 0 ? SIZE_LEAST * largest : 1.0);
}

/* (O5). The step minimises  mean . d + sum size_i d_i^2 / (2 bound)  without the set, so it is projected in the metric
 * of that sum: then a point where the set holds the mean gradient is one where Adam stays. */
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
