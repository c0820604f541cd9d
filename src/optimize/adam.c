/* Adam method: steps along the running mean of the gradients, divided by their root mean square. */
#include <math.h>
#include "optimize/optimizer.h"
#include "optimize/rule.h"

/* Lower limit of the divisor of a variable, relative to the largest divisor. Without the limit, variables with tiny
 * gradients would absorb the correction of a constraint, and 0 / 0 could occur. */
#define DIVISOR_MIN 1e-12

/* Indices into the state of the rule: number of gradients so far; running means of the gradients; running means of
 * their squares.
 */
enum { GRADIENT_COUNT, MEANS };

static int state_size(const TaskOptimizer* settings, int count) {
  (void)settings;
  return MEANS + 2 * count;
}

static int work_size(const TaskOptimizer* settings, const FeasibleSet* set) {
  (void)settings;
  return 2 * set->count;
}

static void update_means(Optimizer* o, const double* gradient) {
  int count = o->set->count;
  double *mean = o->rule_state + MEANS, *square = mean + count;
  double beta1 = o->settings.beta1, beta2 = o->settings.beta2;
  for (int i = 0; i < count; i++) {
    double g = gradient[i] * o->clip;
    mean[i] = beta1 * mean[i] + (1 - beta1) * g;
    square[i] = beta2 * square[i] + (1 - beta2) * g * g;
  }
  o->rule_state[GRADIENT_COUNT] += 1;
}

/* Computes the root mean squares of the gradients, by which the mean gradients are divided: divisor[count]. Division by
 * 1 - beta2^GRADIENT_COUNT corrects the bias of means that start at zero. */
static void compute_divisors(const Optimizer* o, double* divisor) {
  const double* square = o->rule_state + MEANS + o->set->count;
  double missing = 1 - math_pow(o->settings.beta2, o->rule_state[GRADIENT_COUNT]), largest = 0;
  for (int i = 0; i < o->set->count; i++) {
    divisor[i] = sqrt(square[i] / missing) + o->settings.epsilon;
    largest = fmax(largest, divisor[i]);
  }
  for (int i = 0; i < o->set->count; i++) divisor[i] = fmax(divisor[i], largest > 0 ? DIVISOR_MIN * largest : 1.0);
}

/* Proposes the Adam step, projected onto the feasible set (update.md, O5). The unprojected step d minimizes mean . d +
 * sum divisor_i d_i^2 / (2 bound). mean: running mean of the gradients. bound: step size. The projection uses the
 * metric of this sum, so that the method stops only where the constraints balance the mean gradient. */
static bool propose(Optimizer* o, const double* x, const double* gradient, double* trial) {
  if (o->state[STATE_IS_NEW_POINT] == 1) update_means(o, gradient);
  o->state[STATE_IS_NEW_POINT] = 0;
  int count = o->set->count;
  double missing = 1 - math_pow(o->settings.beta1, o->rule_state[GRADIENT_COUNT]);
  double bound[2] = {optimizer_step_bound(o, 0), optimizer_step_bound(o, 1)};
  double *step = o->work, *scale = step + count;
  compute_divisors(o, scale);
  for (int i = 0; i < count; i++) {
    double rate = bound[o->set->block[i]] / scale[i];
    step[i] = -rate * (o->rule_state[MEANS + i] / missing);
    scale[i] = sqrt(rate);
  }
  return rule_project_step(o, scale, x, step, trial);
}

const UpdateRule RULE_ADAM = {.descends = false,
                              .factor_limit = 1,
                              .undoes_rejections = true,
                              .state_size = state_size,
                              .work_size = work_size,
                              .propose = propose};
