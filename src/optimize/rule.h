/* Private to optimize/: the interface of an update rule, and functions shared by the rules. Each rule is one file and
 * one entry of the table in optimizer.c. */
#ifndef SDRS_OPTIMIZE_RULE_H
#define SDRS_OPTIMIZE_RULE_H

#include "optimize/linear_program.h"
#include "scene/task.h"

typedef struct Optimizer Optimizer;

/* Indices into Optimizer.state. Counts and flags are stored as doubles, so that the state is one array. */
enum {
  STATE_FACTOR,   /* factor on the steps in the settings (O3) */
  STATE_LENGTH,   /* length of the last trial: |(trial - x) / step|_2 */
  STATE_REFUSED,  /* length of the last rejected trial at this x; 0 = none */
  STATE_ACCEPTED, /* number of accepted trials, the argument of the step schedule (O2) */
  STATE_BEFORE,   /* factor before the first rejection at this x; 0 = none */
  STATE_ROW,      /* number of accepted trials since the last rejection */
  STATE_FRESH, /* 1 before the first proposal at this x, else 0: averages and curvature pairs are updated once per x */
  STATE_OWN    /* first entry that belongs to the rule */
};

typedef struct {
  bool descends;
  double factor_limit; /* upper limit of the factor (O3) */
  bool restores;       /* an accepted step raises a factor below 1 to 1 */
  bool remembers;      /* the rule stores differences of gradients, which become invalid when the function changes */
  bool recovers;       /* a rejection says little about the step length: an accepted step returns half of the reduction
                          (geometric mean), and further accepted steps grow the factor progressively */
  int (*state_size)(const TaskOptimizer* settings, int count); /* number of the rule's own state entries; NULL: none */
  int (*work_size)(const TaskOptimizer* settings, const FeasibleSet* set);
  /* Sets trial[count] to a point of the feasible set. If that trial is too long, the caller calls again with a smaller
   * factor. The gradient is finite and not clipped. Returns false, with trial undefined, if there is no step. */
  bool (*propose)(Optimizer* optimizer, const double* x, const double* gradient, double* trial);
  /* Called when the caller replaces the last proposal by another point. NULL: the rule stores nothing about its
   * proposals. */
  void (*take)(Optimizer* optimizer, const double* trial);
  /* Receives the loss and violation of the last trial (optimizer_tell), for rules that use values only. NULL: the rule
   * uses gradients. */
  bool (*tell)(Optimizer* optimizer, double loss, double violation);
  /* Returns the number of samples in a generation for `count` variables. NULL: the rule uses gradients. */
  int (*samples)(const TaskOptimizer* settings, int count);
} UpdateRule;

struct Optimizer {
  const UpdateRule* rule;
  TaskOptimizer settings;
  const FeasibleSet* set; /* in scaled variables (O21) */
  double* unit;           /* of the variables; NULL: 1  (count) */
  FeasibleSet own_set; /* feasible set in scaled variables, used if there are units; owns its limits and coefficients */
  double *own_x, *own_gradient;
  Projector* projector;
  LinearProgram* program; /* NULL unless the rule solves linear programs */
  double steps[2];        /* step of each block in the settings */
  double *step_of, *ones; /* metrics of projections: the step of each variable's block; 1 for every variable (count) */
  double clip;            /* factor on the present gradient (O10) */
  double *state, *own;    /* own = state + STATE_OWN */
  int state_size;
  double* work;
};

/* Sets trial to the point of the set nearest to x + step in the metric sum (dx_i / scale_i)^2. Returns false if there
 * is none. All arrays (count); x and step are only read. Allocates nothing. */
bool rule_project_step(Optimizer* optimizer, const double* scale, const double* x, const double* step, double* trial);
/* As optimizer_project in scaled variables: x[count], in place. Returns false if no point of the set is found. */
bool rule_project(const Optimizer* optimizer, double* x);
/* Sets the limits of a step d = y - x for points y of the set: low <= d <= high and row_low <= A d <= row_high. They
 * always admit d = 0, because x lies in the set up to rounding. x[count], low[count] and high[count];
 * row_low[row_count] and row_high[row_count]. Never fails. */
void rule_shift_limits(const FeasibleSet* set, const double* x, double* low, double* high, double* row_low,
                       double* row_high);
/* Returns the largest absolute value of a block's entries. vector[count]; block 0 or 1; 0 for a block without
 * variables. */
double rule_largest(const FeasibleSet* set, const double* vector, int block);
/* Returns the Euclidean norm, without overflow. vector[count]; 0 when all are zero. */
double rule_norm(const double* vector, int count);

extern const UpdateRule RULE_ADAM, RULE_GRADIENT, RULE_STEP_BOUNDED, RULE_LBFGS, RULE_CMA_ES;

#endif
