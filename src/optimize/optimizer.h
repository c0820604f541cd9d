/* Private to optimize/: optimization methods for a vector of variables (docs/derivations/update.md). The state of an
 * optimizer is one array of doubles, so that checkpoints are exact. Variables belong to two blocks (0 design, 1
 * control), each with a step length. */
#ifndef SDRS_OPTIMIZE_OPTIMIZER_H
#define SDRS_OPTIMIZE_OPTIMIZER_H

#include "optimize/project.h"
#include "scene/task.h"

typedef struct Optimizer Optimizer;

/* A point x[count] with its loss and gradient[count]. The pointers are borrowed. */
typedef struct {
  const double* x;
  double loss;
  const double* gradient;
} LossAtPoint;

/* Creates an optimizer. Copies the settings, whose steps must be > 0. Borrows the feasible set, whose bounds must not
 * change. The caller frees the optimizer with optimizer_destroy before the set. */
Optimizer* optimizer_create(const TaskOptimizer* settings, const FeasibleSet* set);
/* Creates an optimizer of the scaled variables x_i / u_i (O21). u_i: largest power of two <= unit[i] > 0, or 1 if unit
 * is NULL. Arguments and results of all functions are unscaled. Copies unit[count], borrows the set. The caller frees
 * the optimizer with optimizer_destroy. */
Optimizer* optimizer_create_scaled(const TaskOptimizer* settings, const FeasibleSet* given, const double* unit);
/* Frees the object. Accepts NULL. */
void optimizer_destroy(Optimizer* optimizer);
/* Replaces x[count] by the nearest point of the feasible set in the Euclidean norm (O1). Bounds hold exactly, linear
 * constraints to a relative error of 1e-12. Returns false, with x unchanged, if the set is empty or x is not finite.
 * Allocates nothing. */
bool optimizer_project(const Optimizer* optimizer, double* x);
/* Sets trial[count] to the next design to evaluate, a point of the set. x[count] is the last accepted point and lies in
 * the set. loss and gradient[count] are those at x. Sets trial = x if x is stationary or a number is not finite. `step`
 * is optimizer_step_bound, g the gradient:
 * - adam: x - step m / (sqrt(v) + epsilon), projected (O5). m and v are running means of g and g^2.
 * - gradient: x - step g / max(1, |g|_inf of the block), projected (O4).
 * - step_bounded: the minimizer of g . trial over the set with |trial - x| <= step per block. In the infinity norm, the
 * solution is closed-form for variables in no row, and GLPK finds the others (O6). In the Euclidean norm, it is exact
 * without rows (O7); with rows, proximal steps end below 1e-10 of the radius (O8).
 * - lbfgs: x + d, projected. d follows from the two-loop recursion within the active face at x, |d|_inf <= step (O9).
 * - cma_es: a sample of the normal distribution, projected (O15). Only the first sample depends on x.
 * Projections use the metric of the method, so that rows do not turn a descent direction into an ascent direction.
 * Only GLPK allocates. */
void optimizer_propose(Optimizer* optimizer, const double* x, double loss, const double* gradient, double* trial);
/* Reports whether the last trial was accepted (O3). It is rejected if its run failed, shapes intersect, or the loss
 * rose in a descent method. After a rejection the next proposal is at most TaskOptimizer.shrink times as long. Returns
 * false if the step is below 1e-9 of the steps in the settings. */
bool optimizer_report_outcome(Optimizer* optimizer, bool accepted, double loss);
/* Returns true if the method uses the gradient of a trial that is about to be rejected (O25). The trial must be the
 * second rejected trial from this point, or the first after a point that also had a rejected trial. A single rejected
 * trial is not used, because its step may only have been too long. */
bool optimizer_uses_rejected(const Optimizer* optimizer);
/* Reports the loss and the finite gradient of the last trial, which was rejected because its loss rose. Call before
 * optimizer_report_outcome, and only if optimizer_uses_rejected. current: last accepted point. */
void optimizer_reject(Optimizer* optimizer, const LossAtPoint* current, const LossAtPoint* trial);
/* Replaces the last proposal by another point trial[count] of the feasible set, which the caller evaluates instead.
 * x[count]: last accepted point. */
void optimizer_set_trial(Optimizer* optimizer, const double* x, const double* trial);
/* Returns the number of iterations after which the convergence of the method can be judged (O20). */
int optimizer_patience(const Optimizer* optimizer);
/* Returns true if the method uses differences of gradients (curvature) and must restart when the function changes. */
bool optimizer_uses_curvature(const Optimizer* optimizer);
/* Restarts the method after a change of the function. The step schedule continues. Not for gradient-free methods. */
void optimizer_reset(Optimizer* optimizer);
/* Returns true if the method uses no gradients (CMA-ES) and has no step bound. Call optimizer_report_loss instead of
 * optimizer_report_outcome for such a method. */
bool optimizer_is_gradient_free(const Optimizer* optimizer);
/* Returns how many samples a method without gradients (CMA-ES) evaluates before it adapts its distribution. Returns 0
 * for methods with gradients. */
int optimizer_samples(const Optimizer* optimizer);
/* Reports loss and constraint violation of the last trial to a gradient-free method (O14-O16). The loss is not finite
 * if the trial failed. violation <= 0: all constraints hold. Returns false if the method has ended. */
bool optimizer_report_loss(Optimizer* optimizer, double loss, double violation);
/* Returns true if the method rejects trials whose loss rises: step_bounded, lbfgs and gradient. */
bool optimizer_descends(const Optimizer* optimizer);
/* Returns the current step bound of a block, in the units of its variables: step of the settings times the factor of
 * the schedule (O2) times the factor of the step control (O3). */
double optimizer_step_bound(const Optimizer* optimizer, int block);
/* Returns the number of doubles in the optimizer's state, constant during the search. */
int optimizer_state_size(const Optimizer* optimizer);
/* Copies the state of the optimizer to state[optimizer_state_size]. */
void optimizer_state_save(const Optimizer* optimizer, double* state);
/* Restores the state of the optimizer from state[optimizer_state_size]. The search then continues bit-identically. */
void optimizer_state_load(Optimizer* optimizer, const double* state);

#endif
