/* Private to optimize/: the interface of an optimization method ("update rule"), and functions that several methods
 * use. Each rule is one file and one entry of the table in optimizer.c. */
#ifndef SDRS_OPTIMIZE_RULE_H
#define SDRS_OPTIMIZE_RULE_H

#include "optimize/linear_program.h"
#include "scene/task.h"

typedef struct Optimizer Optimizer;

/* RepeatIndices into Optimizer.state. Counts and flags are stored as doubles, so that the state is one array. x is the
 * last accepted point. */
enum {
  STATE_FACTOR,   /* factor on the steps in the settings (O3) */
  STATE_LENGTH,   /* length of the last trial: |(trial - x) / step|_2 */
  STATE_REFUSED,  /* length of the last rejected trial at this x; 0 = none */
  STATE_ACCEPTED, /* number of accepted trials, the argument of the step schedule (O2) */
  STATE_BEFORE,   /* factor before the first rejection at this x; 0 = none */
  STATE_ROW,      /* number of accepted trials since the last rejection */
  STATE_FRESH, /* 1 before the first proposal at this x, otherwise 0. Averages and curvature pairs are updated once per
                  x. */
  STATE_OWN    /* first entry that belongs to the rule */
};

typedef struct {
  bool descends;
  double factor_limit; /* upper limit of the factor (O3) */
  bool restores;       /* true: an accepted step raises a factor below 1 to 1 */
  bool remembers; /* true: the rule stores differences of gradients, which are invalid after a change of the function */
  bool recovers;  /* true: a rejection says little about the step length. An accepted step then undoes half of the
                     reduction (geometric mean), and further accepted steps increase the factor progressively. */
  int (*state_size)(const TaskOptimizer* settings,
                    int count); /* Returns the number of state entries of the rule. NULL: none. */
  int (*work_size)(const TaskOptimizer* settings, const FeasibleSet* set);
  /* Sets trial[count] to a proposal in the feasible set. Returns false, with trial undefined, if there is no step.
   * If the trial is too long, the caller calls again with a smaller factor. The gradient is finite and not clipped. */
  bool (*propose)(Optimizer* optimizer, const double* x, const double* gradient, double* trial);
  /* Tells the rule that the caller replaces the last proposal by trial[count]. NULL: the rule stores nothing about
   * its proposals. */
  void (*take)(Optimizer* optimizer, const double* trial);
  /* Tells the rule the loss and gradient of the rejected last proposal. NULL: the rule uses no gradients of rejected
   * trials. */
  void (*reject)(Optimizer* optimizer, const LossAtPoint* current, const LossAtPoint* trial);
  /* Tells a rule without gradients the loss and violation of the last trial (optimizer_report_loss). NULL: the rule
   * uses gradients. */
  bool (*tell)(Optimizer* optimizer, double loss, double violation);
  /* Returns the number of samples in a generation for `count` variables. NULL: the rule uses gradients. */
  int (*samples)(const TaskOptimizer* settings, int count);
} UpdateRule;

struct Optimizer {
  const UpdateRule* rule;
  TaskOptimizer settings;
  const FeasibleSet* set; /* in scaled variables (O21) */
  double* unit;           /* units of the variables (count); NULL: all units are 1 */
  FeasibleSet
      own_set; /* Feasible set in scaled variables, used if there are units. Owns its limits and coefficients. */
  double *own_x, *own_gradient, *own_trial, *own_trial_gradient; /* in scaled variables (count); NULL: no units */
  Projector* projector;
  LinearProgram* program; /* NULL unless the rule solves linear programs */
  double steps[2];        /* step of each block in the settings */
  double *step_of, *ones; /* metrics of projections (count): the step of each variable's block; 1 for every variable */
  double clip;            /* factor on the present gradient (O10) */
  double *state, *own;    /* own = state + STATE_OWN */
  int state_size;
  double* work;
};

/* Sets trial to the point of the set nearest to x + step. The distance is sum (dx_i / scale_i)^2. Returns false if
 * no point is found. All arrays have the length count. Allocates nothing. */
bool rule_project_step(Optimizer* optimizer, const double* scale, const double* x, const double* step, double* trial);
/* Replaces x[count] by the nearest point of the set, as optimizer_project but in scaled variables. Returns false if
 * no point of the set is found. */
bool rule_project(const Optimizer* optimizer, double* x);
/* Sets the limits of a step d = y - x from x to a point y of the set: low <= d <= high and row_low <= A d <=
 * row_high. The limits always admit d = 0, because x lies in the set up to rounding. x[count], low[count],
 * high[count], row_low[row_count], row_high[row_count]. Never fails. */
void rule_shift_limits(const FeasibleSet* set, const double* x, double* low, double* high, double* row_low,
                       double* row_high);
/* Returns the largest absolute value of vector[count] in a block (0 or 1). Returns 0 for a block without variables. */
double rule_largest_entry(const FeasibleSet* set, const double* vector, int block);
/* Returns the Euclidean norm of vector[count], without overflow. */
double rule_norm(const double* vector, int count);

extern const UpdateRule RULE_ADAM, RULE_GRADIENT, RULE_STEP_BOUNDED, RULE_LBFGS, RULE_CMA_ES;

#endif
