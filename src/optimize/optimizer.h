/* Private to optimize/: update rules on a vector of variables (docs/derivations/update.md), independent of robots. The
 * state is stored in flat arrays, so a checkpoint can hold it exactly. Step lengths are per block, in the units of its
 * variables. */
#ifndef SDRS_OPTIMIZE_OPTIMIZER_H
#define SDRS_OPTIMIZE_OPTIMIZER_H

#include "optimize/project.h"
#include "scene/task.h"

typedef struct Optimizer Optimizer;

/* Creates an optimizer. Borrows the set, whose bounds must not change, and copies the settings (both steps > 0,
 * asserted). Allocates all memory except GLPK's. Freed with optimizer_destroy before the set. */
Optimizer* optimizer_create(const TaskOptimizer* settings, const FeasibleSet* set);
/* As optimizer_create, in scaled variables x_i / u_i with u_i the power of two at or below unit[i] > 0; unit NULL: 1.
 * All steps and norms are scaled; arguments and results are x. Copies unit[count]. (O21) */
Optimizer* optimizer_create_in(const TaskOptimizer* settings, const FeasibleSet* given, const double* unit);
/* Frees the optimizer, not the set. Accepts NULL. */
void optimizer_destroy(Optimizer* optimizer);
/* Projects x[count] onto the set (Euclidean): bounds by clamping, exactly; rows by a dual active-set method to 1e-12
 * relative. False, with x unchanged, if the set is empty or x is not finite. (O1) Allocates nothing. */
bool optimizer_project(const Optimizer* optimizer, double* x);
/* Sets the next trial, a point of the set, from the loss and gradient at x. x is the last accepted point and lies in
 * the set. `step` is optimizer_step_bound.
 * - adam: x - step m / (sqrt(v) + epsilon), projected (O5).
 * - gradient: x - step g / max(1, |g|_inf of the block), projected (O4).
 * - step_bounded: the minimizer of g . trial over the set with |trial - x| <= step per block. Infinity norm: closed
 * form for variables in no row, GLPK for the others (O6). Euclidean norm: exact in finitely many steps without rows
 * (O7), else proximal steps until they are below 1e-10 of the radius (O8).
 * - lbfgs: x + d, projected; d by the two-loop recursion within the active face at x, |d|_inf <= step (O9).
 * - cma_es: a sample of its distribution, projected; x matters only for the first sample (O15).
 * Projections are nearest points in the metric of the method, so that rows do not turn a descent direction into an
 * ascent direction. Without rows they clamp to the bounds. trial = x if there is no step: x is stationary, or a number
 * is not finite. x[count], gradient[count] and trial[count]. Only GLPK allocates. */
void optimizer_propose(Optimizer* optimizer, const double* x, double loss, const double* gradient, double* trial);
/* Reports whether the trial was accepted or rejected (run failed, shapes intersect, or loss rose in a descent method).
 * After a rejection the next optimizer_propose from the same x takes a step at most `shrink` times as long. Returns
 * false when the step falls below 1e-9 of the steps in the settings. (O3) Allocates nothing; loss is unused. */
bool optimizer_verdict(Optimizer* optimizer, bool accepted, double loss);
/* Replaces the trial by another point of the set; the memory of the last proposal then refers to it. x[count],
 * trial[count]. Allocates nothing. */
void optimizer_take(Optimizer* optimizer, const double* x, const double* trial);
/* Returns the number of iterations after which the convergence of the method can be judged (O20). */
int optimizer_patience(const Optimizer* optimizer);
/* Returns true if the method uses differences of gradients and must restart when the function changes. */
bool optimizer_remembers(const Optimizer* optimizer);
/* Restarts the method, but not the schedule's time, after a change of the function. Allocates nothing. Not for
 * optimizer_is_free. */
void optimizer_begin_anew(Optimizer* optimizer);
/* Returns true if the method uses values only: it reads no gradients, has no step bound, and needs optimizer_tell
 * instead of optimizer_verdict after each trial. */
bool optimizer_is_free(const Optimizer* optimizer);
/* Returns the number of samples in a generation; 0 for methods with gradients. */
int optimizer_samples(const Optimizer* optimizer);
/* Reports the last trial: its loss, not finite if undefined, and its constraint violation (<= 0: none). Returns false
 * when the method has ended. (O14-O16) Only for optimizer_is_free. */
bool optimizer_tell(Optimizer* optimizer, double loss, double violation);
/* Returns true if the method requires descent, within a tolerance: step_bounded, lbfgs, gradient; not adam. */
bool optimizer_descends(const Optimizer* optimizer);
/* Returns the present step bound of a block (0 design, 1 control): step of the settings x schedule (O2) x factor (O3),
 * in the units of its variables. */
double optimizer_step_bound(const Optimizer* optimizer, int block);
/* Returns the number of doubles in the state for checkpoints, constant over the iterations. */
int optimizer_state_size(const Optimizer* optimizer);
/* Copies the state to state[optimizer_state_size]. */
void optimizer_state_save(const Optimizer* optimizer, double* state);
/* Copies the state from state[optimizer_state_size]; the search continues bit-identically. */
void optimizer_state_load(Optimizer* optimizer, const double* state);

#endif
