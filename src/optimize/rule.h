/* Private to optimize/: what an update rule is, and what all of them share. A rule is one file and one row of the table
 * in optimizer.c. */
#ifndef SDRS_OPTIMIZE_RULE_H
#define SDRS_OPTIMIZE_RULE_H

#include "optimize/linear_program.h"
#include "scene/task.h"

typedef struct Optimizer Optimizer;

/* Places in Optimizer.state. Counts and flags are doubles too, so that the state is one array. */
enum {
  STATE_FACTOR,   /* of the steps in the settings, (O3) */
  STATE_LENGTH,   /* of the last trial, as optimizer_propose measures it */
  STATE_REFUSED,  /* length of the trial refused last at this x; 0 = none */
  STATE_ACCEPTED, /* trials accepted: the time of the schedule */
  STATE_BEFORE,   /* factor before the first refusal at this x; 0 = none refused */
  STATE_ROW,      /* trials accepted one after the other since the last refusal */
  STATE_FRESH,    /* 1 until the gradient at this x was seen: moments and pairs advance once for each x */
  STATE_OWN       /* where the rule's own begins */
};

typedef struct {
  bool descends;
  double factor_limit; /* how far (O3) may grow */
  bool restores;       /* an accepted step brings a factor below 1 back to 1 at once */
  bool remembers;      /* differences of gradients, which are of no use once the function is another one */
  bool recovers;       /* refusals say little of the length: an accepted step brings the factor half the way back, and
                          those that follow ever faster */
  int (*state_size)(const TaskOptimizer* settings, int count); /* of the rule's own; NULL: none */
  int (*work_size)(const TaskOptimizer* settings, const FeasibleSet* set);
  /* Sets trial, a point of the set; called again with a smaller factor when the trial is too long. The gradient is
   * finite and not clipped. false: no step, trial is of no use. */
  bool (*propose)(Optimizer* optimizer, const double* x, const double* gradient, double* trial);
  /* Another point is tried in place of the last proposal; NULL: nothing is remembered of it. */
  void (*take)(Optimizer* optimizer, const double* trial);
  /* Receives the result of the last trial (optimizer_tell), for rules that use values only. NULL: a rule with
   * gradients. */
  bool (*tell)(Optimizer* optimizer, double loss, double violation);
  /* Returns the number of samples in a generation, by the number of variables. NULL: a rule with gradients. */
  int (*samples)(const TaskOptimizer* settings, int count);
} UpdateRule;

struct Optimizer {
  const UpdateRule* rule;
  TaskOptimizer settings;
  const FeasibleSet* set; /* in units */
  double* unit;           /* of the variables; NULL: 1  (count) */
  FeasibleSet own_set;    /* where there are units: limits and coefficients of its own */
  double *own_x, *own_gradient;
  Projector* projector;
  LinearProgram* program; /* NULL unless the rule solves some */
  double steps[2];        /* of the settings, per block */
  double *step_of, *ones; /* scales for the projection: steps of every variable's block; 1 */
  double clip;            /* factor of the present gradient, (O10) */
  double *state, *own;    /* own = state + STATE_OWN */
  int state_size;
  double* work;
};

/* trial = the projection of x + step, nearest in the metric sum (dx_i / scale_i)^2. false: none. All arrays (count);
 * x and step are only read. No allocation. */
bool rule_project_step(Optimizer* optimizer, const double* scale, const double* x, const double* step, double* trial);
/* optimizer_project in units: x[count], in place; false: no point of the set is found. */
bool rule_project(const Optimizer* optimizer, double* x);
/* The set as seen from x: limits of a step. Zero is within all of them: x is in the set, so what is not is rounding.
 * x[count], low[count] and high[count]; row_low[row_count] and row_high[row_count]. Never fails. */
void rule_shift_limits(const FeasibleSet* set, const double* x, double* low, double* high, double* row_low,
                       double* row_high);
/* The largest size of a block's entries. vector[count]; block 0 or 1; 0 for a block without variables. */
double rule_largest(const FeasibleSet* set, const double* vector, int block);
/* Euclidean norm without overflow. vector[count]; 0 when all are zero. */
double rule_norm(const double* vector, int count);

extern const UpdateRule RULE_ADAM, RULE_GRADIENT, RULE_STEP_BOUNDED, RULE_LBFGS, RULE_CMA_ES;

#endif
