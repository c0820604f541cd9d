/* Private to optimize/: the state of an optimization, and functions that evaluate a design in all scenarios
 * (optimize/evaluate.c). Every MPI process holds the whole state but simulates only its own scenarios. The processes
 * then exchange outcome, value, terms and by_variables of their runs, so that all processes take the same steps. */
#ifndef SDRS_OPTIMIZE_OPTIMIZATION_H
#define SDRS_OPTIMIZE_OPTIMIZATION_H

#include "optimize/design.h"
#include "optimize/optimize.h"

/* Number of hashes of a task that precede the hashes of its scenes. */
enum { IDENTITY_SCENES = 3 };

/* Data of the last evaluation of a design in one scenario. */
typedef struct {
  const Scene* scene; /* borrowed from the task; contains the initial design */
  double weight;
  Model model;
  bool has_model, made; /* has_model: the model was built; made: it was built without an error */
  int number_count;     /* number of overrides with which the model was built */
  RowSelection keep;    /* rows that recording and seeds store if memory is bounded */
  Recording recording;
  Recording repeated; /* run whose substeps the runs repeat (optimization_fix_substeps); zero: none */
  Loss* loss;
  LossSeeds seeds;
  ModelGradient gradient;
  double* by_variables; /* gradient of weight times value (variables) */
  double* terms;
  double value;
  double* success_terms; /* values of the success terms; NULL if the task has none */
  bool meets;            /* true if the design meets the success terms; used only if success_is_known_in_search */
  Status status;
  RecordReport report;
  AdjointReport adjoint;
  TrialOutcome outcome;
  Text reason;
} ScenarioRun;

typedef struct Success Success;
typedef struct Validation Validation;

/* Random changes of the scenes, such as targets and initial poses (optimize/draws.c; docs/derivations/update.md,
 * O18). The drawn values depend only on the seed, the stream, a number and the scenario, so checkpoints do not store
 * them. The number is iteration / every in training and the number of the try in validation. */
typedef enum { DRAW_NONE, DRAW_TRAINING, DRAW_VALIDATION } DrawStream;
typedef struct {
  DrawStream stream;
  int number;
} DrawIndex;
typedef struct Draws Draws;
/* Creates the draws of a task. Sets *out to NULL if the task has no draws. The scenes must be the initial ones.
 * design and task must outlive the draws. Returns STATUS_BAD_INPUT with diagnostics if the task has an error. The
 * caller frees *out with draws_destroy, also after a failure. */
Status draws_create(Draws** out, const Design* design, const Task* task, Diagnostics* diagnostics);
/* Frees the draws and everything they own. Accepts NULL. */
void draws_destroy(Draws* draws);
/* Returns the largest number of overrides that draws_apply adds to the caller's array. Returns 0 if draws is NULL. */
int draws_override_capacity(const Draws* draws);
/* Adds the values drawn for `moment` and `scenario` to overrides[count]. Returns the new number of overrides. Does
 * nothing if draws is NULL or the stream is DRAW_NONE. Calls with equal arguments give equal results. Thread-safe. */
int draws_apply(const Draws* draws, DrawIndex moment, int scenario, ModelOverride* overrides, int count);

/* ---------------------------------------------------------------- bounds on terms, `subject_to` (optimize/subjects.c;
 * docs/derivations/update.md, O11, O12). g_i = term_i - bound_i; the bounded terms follow the terms of the loss. */
typedef struct BoundedTerms BoundedTerms;
/* Creates the bounds that the task's `subject_to` gives. Returns NULL if the task has none. Copies from the task.
 * The caller frees the result with bounded_terms_destroy. */
BoundedTerms* bounded_terms_create(const Task* task);
/* Frees the bounds. Accepts NULL. */
void bounded_terms_destroy(BoundedTerms* subjects);
/* Returns the augmented Lagrangian, the value that the optimizer minimizes (O11):
 * A = loss + sum_i (rho_i / 2) (max(0, g_i + lambda_i / rho_i)^2 - (lambda_i / rho_i)^2),
 * with multipliers lambda_i and penalties rho_i. The array terms (losses, then bounded terms) is only read. NaN
 * propagates. */
double bounded_terms_merit(const BoundedTerms* subjects, double loss, const double* terms);
/* Returns the derivatives of the augmented Lagrangian with respect to the terms (losses, then bounded terms). The
 * derivative is 1 for a loss and max(0, lambda_i + rho_i g_i) for a bounded term. The BoundedTerms own the result,
 * which is valid until the next call. */
const double* bounded_terms_derivatives(BoundedTerms* subjects, const double* terms);
/* Returns the largest violation g_i, divided by the size of its bound. All bounds hold if the result is at most
 * BOUNDED_TERM_TOLERANCE. Terms that are NaN are ignored. The array terms (losses, then bounded terms) is only read. */
double bounded_terms_violation(const BoundedTerms* subjects, const double* terms);
#define BOUNDED_TERM_TOLERANCE 1e-6
/* Sets the multipliers to zero and the penalties in proportion to the loss. The array terms (losses, then bounded
 * terms) is only read. */
void bounded_terms_reset(BoundedTerms* subjects, double loss, const double* terms);
/* Updates the multipliers from the terms of a design (O12). Penalties may grow only if `solved` is true, which means
 * that the optimizer has converged for the present multipliers. Returns false if the multipliers have converged and
 * the bounds hold. The array terms (losses, then bounded terms) is only read. */
bool bounded_terms_update(BoundedTerms* subjects, const double* terms, bool solved);
/* Updates the multipliers of violations that do not decrease, during the search (O20). Called every
 * optimizer_patience iterations. For descent methods, `mean` holds the terms of the current design and `spread` is
 * NULL. For other methods, `mean` holds the mean of each term over these iterations, and `spread` the largest
 * difference between two values of the term. Both arrays contain the losses, then the bounded terms. Returns false
 * if nothing changed. */
bool bounded_terms_update_in_search(BoundedTerms* subjects, const double* mean, const double* spread);
/* Returns true if the multipliers must be updated. since: number of iterations since the last update. norm_then,
 * norm: norm of the gradient at the last update and at present. Sets *solved to true if the optimizer has nearly
 * converged for the present multipliers. */
bool bounded_terms_update_is_due(int since, double norm_then, double norm, bool* solved);
/* Returns the number of bounds. Returns 0 if subjects is NULL. */
int bounded_terms_count(const BoundedTerms* subjects);
/* Returns the array of numbers that a checkpoint stores, and sets *count to its length. The multipliers come first.
 * The BoundedTerms own the array. To load a checkpoint, write to the array. */
double* bounded_terms_state(BoundedTerms* subjects, int* count);

/* Contact parameters of a scene before and after a schedule changes the contact law. given: contact of the task's
 * scene. switched: contact with the new law, whose parameters are derived once from the initial state. Both share
 * their arrays with the scene. */
typedef struct {
  SceneContact given, switched;
  bool has_switched;
} ScheduledContact;

/* Reason why `optimizer: auto` changes the method. */
typedef enum {
  CHANGE_SHORT_OF_PREDICTION, /* trials gain less than the gradient predicts, or the loss rises */
  CHANGE_SHORT_STEP,          /* no step length improves the loss */
  CHANGE_NO_PROGRESS,         /* the best design has hardly improved */
  CHANGE_NO_SLOPE,            /* the gradient is zero */
  CHANGE_NO_SUCCESS,          /* the search has converged to a design that fails `success` */
  CHANGE_BETTER_SAMPLE        /* a sample is better than the minimum that L-BFGS found */
} MethodReason;
typedef struct {
  int iteration; /* iteration after which the method changed */
  TaskOptimizerType from, to;
  MethodReason reason;
  int count; /* number of poor trials, or of iterations without progress */
} MethodChange;
/* Largest number of stored method changes, over all starts. */
enum { METHOD_CHANGES_MAX = 32 };
/* State of the method choice by `optimizer: auto` (optimize/automatic.c; docs/derivations/update.md, O23). */
typedef struct {
  TaskOptimizerType method;
  double factor; /* factor on the steps of the settings */
  int tried;     /* trials with the present method */
  unsigned weak; /* one bit for each of the last trials; 1 means that the trial was poor */
  double mark;   /* value of the best design when it last improved by enough to count as progress */
  int mark_iteration, restarts;
  bool return_to_best; /* true if the best design becomes the current one before the next trial */
  MethodChange changes[METHOD_CHANGES_MAX];
  int change_count;
} Automatic;

/* Two links that intersect in the initial state of a trial design of a scenario. */
typedef struct {
  int scenario, a, b;
} StartPair;

struct Optimization {
  Task* task;
  OptimizationOptions options;
  Design design;
  OptimizationFunction function; /* function minimized instead of the losses; evaluate NULL: none */
  double step[2];                /* step of each block, before the factor of `auto` */
  double* unit;                  /* units of the variables; NULL: 1 (variables) */
  double* function_gradient;     /* gradient of `function` at the last evaluation (variables) */
  Optimizer* optimizer;
  Automatic automatic;
  ScenarioRun* runs;
  int run_count, term_count;
  int capacity;                                           /* length of the arrays of rows */
  double *x, *gradient, *trial, *trial_gradient, *best_x; /* (variables) */
  double *terms, *trial_terms;                            /* terms of the current design; terms of the trial (terms) */
  BoundedTerms* subjects;                                 /* NULL: no bounds */
  Success* success;                                       /* NULL: no success terms */
  Validation* validation;                                 /* NULL: not run yet, or not requested */
  Draws* draws;                                           /* NULL: no draws */
  ScheduledContact* contacts;                             /* contact of a schedule (scenarios) */
  DrawIndex moment;                                       /* draws used by evaluations */
  double plain, best_violation; /* plain: loss of the current design without the terms of bounds; best_violation:
                                   violation of the best design */
  bool ran_meets, meets, trial_meets,
      best_meets;      /* success is met by the design that ran last, the current one,
                          the trial and the best; false where success_is_known_in_search is */
  double* spare_state; /* optimizer state before a proposal */
  double loss, best_loss, best_worth;
  int iteration, best_iteration, since_best;
  OptimizationStop stop;
  OptimizationRow* rows;              /* (capacity) */
  double* row_terms;                  /* (capacity * terms) */
  double* row_multipliers;            /* (capacity * subjects) */
  const double* factors;              /* derivatives of the minimized value by the terms; NULL: 1 */
  int since_update;                   /* iterations since the multipliers changed */
  int since_look;                     /* iterations since the violations were checked */
  double norm_updated;                /* norm of the gradient when the multipliers changed */
  bool stuck;                         /* the optimizer has no step left with these multipliers */
  int start, best_start;              /* present start, from 0, and the start of the best design */
  int first_iteration;                /* first iteration of the current start */
  double start_best, start_violation; /* best loss and violation of the current start */
  bool between_starts;                /* the next start has not begun yet */
  char* unstarted_reason;             /* why the last start did not begin, owned; NULL: none, or before a resume */
  char* reason;
  int failed_scenario;  /* scenario in which the last rejected trial failed */
  char (*identity)[65]; /* hashes that a checkpoint must match: settings, variables, losses, each scene (identity_count)
                         */
  int identity_count;
  StartPair* start_pairs;
  int start_pair_count, start_pair_capacity;
  int moved_trials; /* trials that intersected at the start and were moved until they did not */
  Text note;
  Scene* shown;          /* scene returned by optimization_scene; NULL before */
  const Scene* shown_of; /* scenario scene whose arrays `shown` shares */
  AdjointReport adjoint;
  double started, seconds_before; /* wall time [s] */
  double forward_seconds, adjoint_seconds;
};

/* ---- evaluation of the result (optimize/success.c) */
/* Creates the `success` terms of the task. Looks up their links in every scenario, whose models must be the initial
 * ones. Sets *out to NULL if the task has no such terms. Returns STATUS_BAD_INPUT with diagnostics if the task has
 * an error. The caller frees *out with success_destroy, also after a failure. */
Status success_create(Success** out, const Optimization* o, Diagnostics* diagnostics);
/* Frees the terms. Accepts NULL. */
void success_destroy(Success* success);
/* Returns the success terms of a scenario. A recording must store the rows that the terms read. The Success owns the
 * result. */
const Loss* success_loss(const Success* success, int scenario);
/* Simulates the best design in a scenario with the given draws, and sets *met to whether the run meets the success
 * terms. Sets *met to false if the run fails. Returns the status of the run. Thread-safe. */
Status success_simulate(Optimization* o, int scenario, DrawIndex moment, bool* met);
/* Returns true if the runs of the search can also decide whether a design meets the success terms. The task must
 * have success terms, and the runs must depend on the design only (no draws). No term may read the force between a
 * pair of links, because recordings store pair forces for the loss only. */
bool success_is_known_in_search(const Optimization* o);
/* Returns true if the recorded run of a scenario meets the success terms. Overwrites run->success_terms. Call only
 * if success_is_known_in_search returns true. Thread-safe for different scenarios. */
bool success_is_met(const Optimization* o, ScenarioRun* run);
/* Sets o->meets and o->best_meets of a resumed search by simulating the current and the best design. The checkpoint
 * does not contain the two values, because `success` may have changed since. An interrupted run counts as a failure.
 * Does nothing if success_is_known_in_search returns false. */
void success_restore(Optimization* o);
/* Frees the validation. Accepts NULL (optimize/validation.c). */
void validation_destroy(Validation* validation);

/* Returns true if the task draws new random values during the search. */
bool draws_change(const Optimization* o);
/* Selects the draws of an iteration, in o->moment. Does nothing if the task has no draws. */
void draws_select(Optimization* o, int iteration);
/* Selects the draws of iteration + 1. If the method requires descent, evaluates the current design again with these
 * draws. If it returns STATUS_INTERRUPTED, nothing has changed. */
Status draws_advance(Optimization* o);
/* Returns the scene numbers that the design x[variables] and the draws change in a scenario. Sets *count to the
 * length of the array. The caller frees the array with memory_free. */
ModelOverride* optimization_overrides(const Optimization* o, const double* x, int scenario, DrawIndex moment,
                                      int* count);

/* Adds the success terms of one scenario to the result. values[terms]; NULL if the run failed. Call for scenario 0
 * first. The result of a term is its largest value over the scenarios to which the term applies. The result is NaN
 * if one of these values is NaN. */
void success_add_scenario(Success* success, int scenario, const double* values);

/* Simulates the design x[variables] in all scenarios. If it returns TRIAL_ACCEPTED, *loss is the weighted loss, and
 * terms[term_count] are the weighted terms, summed over scenarios. Otherwise *loss is undefined and o->reason states
 * the reason. Sets *interrupted to whether a run was interrupted. */
TrialOutcome evaluate_design(Optimization* o, const double* x, double* loss, double* terms, bool* interrupted);
/* Builds the model of a scenario for the design x[variables] without simulating it. Returns false if the design
 * cannot be simulated, with the reason in the ScenarioRun. */
bool evaluate_start(Optimization* o, const double* x, int scenario);
/* Moves a trial that is invalid in the initial state towards the current design until it can be simulated
 * (optimize/start_gaps.c). The trial is o->trial, which evaluate_design rejected as TRIAL_INVALID. Returns false, with
 * o->trial undefined, if no such design is found. Allocates temporary memory. */
bool correct_trial_gaps(Optimization* o);
/* Sets o->x to the design drawn[variables], moved towards the initial values of the task until it can be simulated.
 * Uses the constraints and halvings of correct_trial_gaps. Returns false, with o->x undefined, if the initial values
 * cannot be simulated either. drawn must be neither o->x nor o->trial. Allocates temporary memory. */
bool move_to_valid_start(Optimization* o, const double* drawn);
/* Returns the value that the optimizer minimizes (optimize/optimization.c): the loss plus the terms of the bounds,
 * with the present multipliers. terms[term_count]. */
double optimization_merit(Optimization* o, double loss, const double* terms);
/* Sets gradient[variables] to the gradient of the minimized value (optimization_merit), summed over scenarios. The
 * gradient belongs to the design that evaluate_design simulated last. The gradient is undefined unless the function
 * returns TRIAL_ACCEPTED. */
TrialOutcome evaluate_gradient(Optimization* o, double* gradient);
/* Frees the data of a run; the Scene belongs to the task. */
void scenario_run_free(ScenarioRun* run);
/* Makes all further runs repeat the substeps of the last runs. Difference quotients need equal substeps, because the
 * adjoint treats substeps as constants. Call once. Creates new recordings; scenario_run_free frees the old ones. */
void optimization_fix_substeps(Optimization* o);
/* Simulates the design o->x and makes it the current design with its loss, terms and gradient
 * (optimize/optimization.c). Sets *interrupted to whether a run was interrupted. */
TrialOutcome optimization_set_current(Optimization* o, bool* interrupted);
/* Does the same as optimization_set_current but leaves the multipliers unchanged. Used after a change of method. */
TrialOutcome optimization_reevaluate_current(Optimization* o, bool* interrupted);
/* Returns the value by which designs are compared. `loss` is the loss of this iteration. If draws vary, returns the
 * larger of `loss` and the mean loss of the last iterations, otherwise `loss`. */
double optimization_compared_loss(const Optimization* o, int iteration, double loss);
/* Writes the row of the first design of a search (row o->iteration) and updates the best design. */
void optimization_record_start(Optimization* o);

/* Returns true if a start of multistart has ended and another follows (optimize/multistart.c;
 * docs/derivations/update.md, O17). */
bool multistart_has_next(const Optimization* o);
/* Begins the next start of multistart whose design can be simulated. Ends the optimization if there is none. If it
 * returns STATUS_INTERRUPTED, call it again. */
Status multistart_next(Optimization* o);
/* Restarts the search at x[variables] with a new optimizer (optimize/optimization_create.c). Variables with
 * held[variables] true are fixed. If held is NULL, no variable is fixed. Iterations are counted from 0 again. Call
 * optimization_start next. */
void optimization_restart(Optimization* o, const double* x, const bool* held);
/* Sets o->stop to the reason why the search ends after this iteration, or to STOP_NOT_YET (optimize/optimization.c).
 * can_step: true if the optimizer can take another step. */
void optimization_check_stop(Optimization* o, bool can_step);
/* Sets o->identity[identity_count] to the hashes that identify the task (optimize/optimization_checkpoint.c). The
 * scenes must be the initial ones. optimization_destroy frees the array. */
void optimization_compute_identity(Optimization* o);

/* ---- choice of the method for `optimizer: auto` (optimize/automatic.c) */
/* Sets the first method of a search and clears the statistics. This function and the following ones also apply to a
 * task that names its method. */
void automatic_begin(Optimization* o);
/* Returns the task's optimizer settings with the present method and its steps. */
TaskOptimizer automatic_settings(const Optimization* o);
/* Replaces the optimizer by a new one with the present settings. Reallocates o->spare_state, the copy of the
 * optimizer's state. */
void automatic_create_optimizer(Optimization* o);
/* Records the outcome of a trial and changes the method if needed. gained: decrease of the loss by the trial, > 0 if
 * the loss fell. predicted: decrease that the gradient predicts, > 0 if the loss should fall. can_step: true if the
 * optimizer can propose another step. Returns true if the optimization can continue. */
bool automatic_update(Optimization* o, TrialOutcome outcome, double gained, double predicted, bool can_step);
/* Changes the method when gradients give no further step. Changes to a sampling method if the gradient is zero
 * before any trial, or if L-BFGS has no step left and the best design fails `success`. If L-BFGS has no step left
 * although the gradient predicts a larger decrease, changes the method as automatic_update does. Returns false if the
 * method is unchanged. */
bool automatic_handle_zero_gradient(Optimization* o);
/* Makes the best design the current one if the last change of method requires it. If it returns STATUS_INTERRUPTED,
 * call it again. */
Status automatic_restore_best(Optimization* o);

/* ---- contact that changes over the iterations (optimize/continuation.c), in the scenes of all scenarios. It depends
 * only on the number of the iteration, so checkpoints do not store it. */
/* Sets the contact of iteration 0 in all scenes. Returns STATUS_BAD_INPUT with diagnostics if the contact law has no
 * such key or the schedule does not end before the optimizer does. Allocates o->contacts (scenarios), which
 * optimization_destroy frees, also after a failure. */
Status continuation_start(Optimization* o, Diagnostics* diagnostics);
/* Sets the contact of an iteration in all scenes of the task. Returns true if the contact changed. */
bool continuation_set(Optimization* o, int iteration);
/* Sets the contact of iteration 0. Each window of a receding horizon begins with this contact. */
void continuation_restart(Optimization* o);
/* Sets the last contact of the schedule. Windows of a receding horizon are executed with this contact. */
void continuation_finish(Optimization* o);
/* Returns true if the schedule still changes the contact after this iteration. */
bool continuation_is_active(const Optimization* o, int iteration);
/* Sets the contact of iteration + 1 and evaluates the current design with it. If it returns STATUS_INTERRUPTED, a
 * run was interrupted: call it again. Otherwise returns STATUS_OK. If the design cannot be simulated with this
 * contact, its loss becomes infinite, so that every design that can be simulated is better. */
Status continuation_advance(Optimization* o);
/* Replaces the optimizer by a new one with the same feasible set. Call after the loss function has changed, because
 * the state of the old optimizer then no longer applies. Allocates. */
void continuation_reset_optimizer(Optimization* o);

/* Allocates the arrays of rows, terms and multipliers for `rows` rows. Pointers into the old arrays become invalid. */
void optimization_reserve_rows(Optimization* o, int rows);

#endif
