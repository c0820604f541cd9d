/* Private to optimize/: update rules on a vector of variables (docs/derivations/update.md). They know nothing of
 * robots. All state is in flat arrays, so that a checkpoint can hold it exactly. */
#ifndef SDRS_OPTIMIZE_OPTIMIZER_H
#define SDRS_OPTIMIZE_OPTIMIZER_H

#include "scene/task.h"

/* Feasible set: low <= x <= high, and rows  low_row <= A x <= high_row (sparse by rows). */
typedef struct {
  int count;
  const int* block; /* of every variable: 0 = design, 1 = control (initial state too) */
  double *low, *high;
  int row_count;
  int* row_first; /* (row_count + 1) */
  int* column;
  double* coefficient;
  double *row_low, *row_high;
} FeasibleSet;

typedef struct Optimizer Optimizer;

Optimizer* optimizer_create(const TaskOptimizer* settings, const FeasibleSet* set);
void optimizer_destroy(Optimizer* optimizer);
/* The nearest point of the set (Euclidean), by clamping when there are only bounds, else by Dykstra's or an active-set
 * method to 1e-12 relative. false: the set is empty. */
bool optimizer_project(const Optimizer* optimizer, double* x);
/* Next trial from x with loss and gradient there. x is the last accepted point. */
void optimizer_propose(Optimizer* optimizer, const double* x, double loss, const double* gradient, double* trial);
/* The trial was accepted (loss known) or rejected (run failed, shapes intersect, or the loss rose where the method
 * demands descent): the next optimizer_propose from the same x gives a shorter step. Returns false when the step has
 * become too short to go on. */
bool optimizer_verdict(Optimizer* optimizer, bool accepted, double loss);
/* Does this method demand that the loss falls? (step_bounded, lbfgs and gradient: yes within a tolerance; adam: no) */
bool optimizer_descends(const Optimizer* optimizer);
/* Present step bound of a block, for the log. */
double optimizer_step_bound(const Optimizer* optimizer, int block);
/* The whole state as doubles, for checkpoints: size, write, read back. */
int optimizer_state_size(const Optimizer* optimizer);
void optimizer_state_save(const Optimizer* optimizer, double* state);
void optimizer_state_load(Optimizer* optimizer, const double* state);

#endif
