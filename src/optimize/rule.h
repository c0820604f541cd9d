/* Private to optimize/: interface of an optimization method ("update rule"), and functions of several methods. Each
 * rule has a file and an entry in optimizer.c. */
#ifndef SDRS_OPTIMIZE_RULE_H
#define SDRS_OPTIMIZE_RULE_H

#include "optimize/linear_program.h"
#include "scene/task.h"

typedef struct Optimizer Optimizer;

/* Indices into Optimizer.state. x: last accepted point. */
enum {
  STATE_FACTOR, /* factor by which the step control multiplies the step sizes of the settings (update.md, O3) */
  STATE_LENGTH, /* length of the last trial: |(trial - x) / step|_2 */
  STATE_REJECTED_LENGTH, /* length of the last rejected trial at x; 0: none */
  STATE_ACCEPTED,        /* number of accepted trials, argument of the step schedule (O2) */
  STATE_FACTOR_BEFORE,   /* STATE_FACTOR before the first rejected trial at x; 0: no trial at x was rejected */
  STATE_ACCEPTED_IN_ROW, /* number of accepted trials since the last rejection */
  STATE_IS_NEW_POINT,    /* 1 before the first proposal at x, otherwise 0. The rules update means and differences of
                            gradients only if it is 1 */
  STATE_OWN              /* first of the entries that the optimization method defines itself */
};

typedef struct {
  bool descends;
  double factor_limit;    /* upper limit of the factor on the step sizes of the settings (O3) */
  bool restores;          /* an accepted step raises the factor on the step sizes to at least 1 */
  bool uses_curvature;    /* stores differences of gradients, which a change of the function invalidates */
  bool undoes_rejections; /* an accepted step after rejections sets the step factor to at least the geometric mean of
                             its value and its value before the rejections. Consecutive accepted steps increase the
                             factor by growing powers of TaskOptimizer.grow */
  /* Returns how many doubles of state the method stores, for `count` variables. NULL: none. */
  int (*state_size)(const TaskOptimizer* settings, int count);
  int (*work_size)(const TaskOptimizer* settings, const FeasibleSet* set);
  /* Sets trial[count] to a proposal in the feasible set. Returns false if there is no step. Is called again with a
   * smaller factor if the trial is too long. The gradient is finite and not clipped. */
  bool (*propose)(Optimizer* optimizer, const double* x, const double* gradient, double* trial);
  /* Replaces the last proposal by trial[count]. NULL: the rule does not store its proposals. */
  void (*set_trial)(Optimizer* optimizer, const double* trial);
  /* Reports loss and gradient of the rejected last proposal. NULL: the rule uses no gradients of rejected trials. */
  void (*reject)(Optimizer* optimizer, const LossAtPoint* current, const LossAtPoint* trial);
  /* Reports loss and violation of the last trial. NULL: the rule uses gradients. */
  bool (*report_loss)(Optimizer* optimizer, double loss, double violation);
  /* Returns the number of samples in a generation for `count` variables. NULL: the rule uses gradients. */
  int (*samples)(const TaskOptimizer* settings, int count);
} UpdateRule;

struct Optimizer {
  const UpdateRule* rule;
  TaskOptimizer settings;
  const FeasibleSet* set; /* feasible set of the variables, divided by their units (O21) */
  double* unit;           /* power of two by which each variable is divided (count); NULL: 1 */
  FeasibleSet scaled_set; /* feasible set of the variables divided by their units, used if there are units. Owns its
                             limits and coefficients */
  /* points and gradients in variables divided by their units (count); NULL: no units */
  double *own_x, *own_gradient, *own_trial, *own_trial_gradient;
  Projector* projector;
  LinearProgram* program;     /* NULL unless the rule solves linear programs */
  double steps[2];            /* step size in the settings for each block: design variables, control variables */
  double *step_of, *ones;     /* weights of distances in projections: step size of each variable, and 1 (size: count) */
  double clip;                /* factor on the gradient that limits its norm (O10) */
  double *state, *rule_state; /* own = state + STATE_OWN */
  int state_size;
  double* work;
};

/* Sets trial to the point of the set nearest to x + step, with each component of the distance divided by scale[i].
 * Returns false if no point is found. All arrays have the length count. */
bool rule_project_step(Optimizer* optimizer, const double* scale, const double* x, const double* step, double* trial);
/* Replaces x[count], variables divided by their units, by the nearest point of the feasible set. Returns false if no
 * point is found. */
bool rule_project(const Optimizer* optimizer, double* x);
/* Computes the limits of a step d from x within the set: low <= d <= high (count) and row_low <= A d <= row_high
 * (row_count). They always admit d = 0. */
void rule_shift_limits(const FeasibleSet* set, const double* x, double* low, double* high, double* row_low,
                       double* row_high);
/* Returns the largest absolute value of the entries of vector[count] whose variables belong to a block (0 design, 1
 * control). Returns 0 without such variables. */
double rule_largest_entry(const FeasibleSet* set, const double* vector, int block);
/* Returns the Euclidean norm of vector[count], without overflow. */
double rule_norm(const double* vector, int count);

extern const UpdateRule RULE_ADAM, RULE_GRADIENT, RULE_STEP_BOUNDED, RULE_LBFGS, RULE_CMA_ES;

#endif
