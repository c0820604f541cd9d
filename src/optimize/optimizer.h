/* Private to optimize/: update rules on a vector of variables (docs/derivations/update.md). They know nothing of
 * robots. All state is in flat arrays, so that a checkpoint can hold it exactly. Every step length is per block and in
 * the units of the block's variables. */
#ifndef SDRS_OPTIMIZE_OPTIMIZER_H
#define SDRS_OPTIMIZE_OPTIMIZER_H

#include "optimize/project.h"
#include "scene/task.h"

typedef struct Optimizer Optimizer;

/* Borrows the set, whose bounds must not change; copies the settings (both steps > 0, asserted). All memory but
 * GLPK's is taken here. Freed with optimizer_destroy before the set. */
Optimizer* optimizer_create(const TaskOptimizer* settings, const FeasibleSet* set);
/* The same for variables of different kinds: all steps and norms are those of x_i / unit_i, unit_i the power of two at
 * or below unit[i] > 0; NULL: 1. What is handed in and out is x. unit[count] is copied.                         (O21)
 */
Optimizer* optimizer_create_in(const TaskOptimizer* settings, const FeasibleSet* given, const double* unit);
/* Frees it, not the set; NULL is accepted. */
void optimizer_destroy(Optimizer* optimizer);
/* The nearest point of the set (Euclidean): bounds by clamping, rows by a dual active-set method to 1e-12 relative.
 * Bounds hold exactly. false: the set is empty, or x is not finite; x is unchanged.                            (O1)
 * x[count], in the units of the variables; no allocation. */
bool optimizer_project(const Optimizer* optimizer, double* x);
/* Next trial, a point of the set, from x with loss and gradient there. x is the last accepted point, of the set too.
 *   adam          x - step m / (sqrt(v) + epsilon), projected                                                  (O5)
 *   gradient      x - step g / max(1, |g|_inf of the block), projected                                         (O4)
 *   step_bounded  the least g . trial over the set and |trial - x| <= step per block. Infinity norm: closed form for
 *                 variables in no row, GLPK for the others (O6). Euclidean norm: exact in finitely many steps when
 * there are no rows (O7), else proximal steps until they are below 1e-10 of the radius (O8). lbfgs         x + d,
 * projected; d by the two-loop formula within the face ahead of x, |d|_inf <= step      (O9)
 *   cma_es        a sample of its distribution, whatever x is, but for the first one, projected                (O15)
 * `step` is optimizer_step_bound. Projections here are nearest points in the metric of the method, so that rows do not
 * turn a descent; with bounds alone all of them clamp. trial = x when there is no step: x is stationary, or a number
 * was not finite. x[count], gradient[count] and trial[count]. No allocation but GLPK's. */
void optimizer_propose(Optimizer* optimizer, const double* x, double loss, const double* gradient, double* trial);
/* The trial was accepted (loss known) or rejected (run failed, shapes intersect, or the loss rose where the method
 * demands descent): the next optimizer_propose from the same x gives a step at most `shrink` times as long. Returns
 * false when the step has become too short to go on: below 1e-9 of the steps in the settings. (O3) No allocation;
 * the loss is not looked at. */
bool optimizer_verdict(Optimizer* optimizer, bool accepted, double loss);
/* The trial was moved to another point of the set, which is tried in its place: what is remembered of the last proposal
 * is of this one. x[count] and trial[count] are only read. No allocation. */
void optimizer_take(Optimizer* optimizer, const double* x, const double* trial);
/* After how many iterations its way shows whether what it does is enough, for (O20): what it remembers must be of that
 * way. */
int optimizer_patience(const Optimizer* optimizer);
/* Does it learn from differences of gradients? Then it has to begin anew when the function changes. */
bool optimizer_remembers(const Optimizer* optimizer);
/* As at the start, but for the time of the schedule: the function has changed. No allocation. Not where
 * optimizer_is_free. */
void optimizer_begin_anew(Optimizer* optimizer);
/* Does this method look at values alone? Then gradients are not looked at, no trial is too long, and after each comes
 * optimizer_tell instead of optimizer_verdict. */
bool optimizer_is_free(const Optimizer* optimizer);
/* What the last trial gave: its loss, not finite where it has none, and by how much it breaks what is bounded; <= 0:
 * not at all. Returns false when the method has come to its end.                                              (O14-O16)
 * Only where optimizer_is_free. */
bool optimizer_tell(Optimizer* optimizer, double loss, double violation);
/* Does this method demand that the loss falls? (step_bounded, lbfgs and gradient: yes within a tolerance; adam: no) */
bool optimizer_descends(const Optimizer* optimizer);
/* Present step bound of a block, for the log: the step in the settings x schedule (O2) x factor (O3). block: 0
 * design, 1 control; in the units of its variables. */
double optimizer_step_bound(const Optimizer* optimizer, int block);
/* The whole state for checkpoints: how many doubles it has, whatever the iteration. */
int optimizer_state_size(const Optimizer* optimizer);
/* Copies it to state (optimizer_state_size). */
void optimizer_state_save(const Optimizer* optimizer, double* state);
/* Copies it from state (optimizer_state_size numbers); what follows is bit for bit what it would have been. */
void optimizer_state_load(Optimizer* optimizer, const double* state);

#endif
