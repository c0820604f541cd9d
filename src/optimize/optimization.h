/* Private to optimize/: state of an optimization, and the evaluation of a design in all scenarios
 * (optimize/evaluate.c). Every MPI process holds the whole state but simulates only its own scenarios. The processes
 * exchange outcome, value, terms and by_variables of their runs, so that all take the same steps. */
#ifndef SDRS_OPTIMIZE_OPTIMIZATION_H
#define SDRS_OPTIMIZE_OPTIMIZATION_H

#include "optimize/design.h"
#include "optimize/optimize.h"

/* Number of hashes in Optimization.identity before the hashes of the scenes. */
enum { IDENTITY_SCENES = 3 };

/* Last evaluation of a design in one scenario. */
typedef struct {
  const Scene* scene; /* scene of the task with the initial design, borrowed */
  double weight;
  Model model;
  bool has_model, model_is_valid; /* has_model: true if there is a model to free; model_is_valid: true if the model was
                                     built without an error */
  int number_count;               /* number of overrides of the model */
  RowSelection selection;         /* time steps of the run that are stored if memory is limited */
  Recording recording;
  Recording repeated; /* run whose substep lengths all other runs repeat (optimization_fix_substeps); a zeroed struct
                         means that there is none */
  Loss* loss;
  LossSeeds seeds;
  ModelGradient gradient;
  /* derivatives of the weighted loss of this scenario with respect to the variables (size: variables) */
  double* by_variables;
  double* terms;
  double value;
  double* success_terms; /* values of the success terms, or NULL */
  bool is_successful; /* true if the run meets the success terms; set only if success_is_known_in_search returns true */
  Status status;
  RecordReport report;
  AdjointReport adjoint;
  TrialOutcome outcome;
  Text reason;
} ScenarioRun;

typedef struct Success Success;
typedef struct Validation Validation;

/* Random changes of the scenes, for example of targets and initial poses (optimize/draws.c; docs/derivations/update.md,
 * O18). The values depend only on seed, stream, index and scenario, so that checkpoints do not store them. The index is
 * iteration / draw_every in training, and the number of the draw in validation. */
typedef enum { DRAW_NONE, DRAW_TRAINING, DRAW_VALIDATION } DrawStream;
typedef struct {
  DrawStream stream;
  int number;
} DrawIndex;
typedef struct Draws Draws;
/* Creates the draws of a task, or sets *out to NULL without draws. The scenes must be the initial ones. design and task
 * must outlive the draws. Returns STATUS_BAD_INPUT with diagnostics for an invalid task. The caller frees *out with
 * draws_destroy, also after errors. */
Status draws_create(Draws** out, const Design* design, const Task* task, Diagnostics* diagnostics);
/* Frees the draws. Accepts NULL. */
void draws_destroy(Draws* draws);
/* Returns the largest number of overrides that draws_apply adds. Returns 0 if draws is NULL. */
int draws_override_capacity(const Draws* draws);
/* Adds the drawn values of a scenario to overrides[count] and returns the new number of overrides. Does nothing if
 * draws is NULL or the stream is DRAW_NONE. Equal arguments give equal results. Thread-safe. */
int draws_apply(const Draws* draws, DrawIndex draw, int scenario, ModelOverride* overrides, int count);

/* ---------------------------------------------------------------- bounded terms, `subject_to` (optimize/subjects.c;
 * docs/derivations/update.md, O11, O12). g_i = term_i - bound_i, positive if the bound is violated. The arrays of terms
 * contain the losses, then the bounded terms. */
typedef struct BoundedTerms BoundedTerms;
/* Creates the bounded terms of a task, or returns NULL without bounds. Copies from the task. The caller frees the
 * result with bounded_terms_destroy. */
BoundedTerms* bounded_terms_create(const Task* task);
/* Frees the object. Accepts NULL. */
void bounded_terms_destroy(BoundedTerms* bounded_terms);
/* Returns the augmented Lagrangian, which the optimizer minimizes (O11), for all terms (losses, then bounded terms):
 * A = loss + sum_i (rho_i / 2) (max(0, g_i + lambda_i / rho_i)^2 - (lambda_i / rho_i)^2),
 * with multipliers lambda_i and penalties rho_i. NaN propagates. */
double bounded_terms_merit(const BoundedTerms* bounded_terms, double loss, const double* terms);
/* Returns the derivatives of the augmented Lagrangian with respect to terms (losses, then bounded terms): 1 for a loss,
 * max(0, lambda_i + rho_i g_i) for a bounded term. lambda_i: multiplier. rho_i: penalty. g_i: term minus bound. Owned
 * by the bounded terms, valid until the next call. */
const double* bounded_terms_derivatives(BoundedTerms* bounded_terms, const double* terms);
/* Returns the largest amount by which a bounded term exceeds its bound, relative to the bound, for terms (losses, then
 * bounded terms). All bounds hold if it is at most BOUNDED_TERM_TOLERANCE. NaN is ignored. */
double bounded_terms_violation(const BoundedTerms* bounded_terms, const double* terms);
#define BOUNDED_TERM_TOLERANCE 1e-6
/* Sets the multipliers to zero and the penalties in proportion to the loss, for terms (losses, then bounded terms) of
 * the initial design. */
void bounded_terms_reset(BoundedTerms* bounded_terms, double loss, const double* terms);
/* Updates the multipliers from terms (losses, then bounded terms) of a design (O12). Penalties grow only if `solved` is
 * true: the optimizer has converged for the current multipliers. Returns false if the multipliers have converged and
 * the bounds hold. */
bool bounded_terms_update(BoundedTerms* bounded_terms, const double* terms, bool solved);
/* Updates, during the search, the Lagrange multipliers of bounds whose violation does not decrease (O20). Called every
 * optimizer_patience iterations. For descent methods, `mean` holds all terms of the current design, and `spread` is
 * NULL. For other methods, `mean` and `spread` hold the mean and the range of all terms over these iterations. Returns
 * false if nothing changed. */
bool bounded_terms_update_in_search(BoundedTerms* bounded_terms, const double* mean, const double* spread);
/* Returns true if the Lagrange multipliers must be updated. since: iterations since the last update. norm_then: norm of
 * the gradient at the last update. norm: norm of the gradient now. Sets *solved to true if the optimizer has nearly
 * converged. */
bool bounded_terms_update_is_due(int since, double norm_then, double norm, bool* solved);
/* Returns the number of bounds, 0 if bounded_terms is NULL. */
int bounded_terms_count(const BoundedTerms* bounded_terms);
/* Returns the array of multipliers, then penalties and statistics, which a checkpoint stores. Sets *count to its
 * length. Owned by the bounded terms. Write to it to restore a checkpoint. */
double* bounded_terms_state(BoundedTerms* bounded_terms, int* count);

/* Contact parameters of a scene before and after a schedule changes the contact law. given: contact parameters of the
 * task's scene. switched: parameters of the new contact law, derived from the initial state. Both share their arrays
 * with the scene. */
typedef struct {
  SceneContact given, switched;
  bool has_switched;
} ScheduledContact;

typedef enum {
  CHANGE_SHORT_OF_PREDICTION, /* trials decrease the loss less than the gradient predicts, or increase it */
  CHANGE_SHORT_STEP,          /* no step length improves the loss */
  CHANGE_NO_PROGRESS,         /* the best design has hardly improved */
  CHANGE_NO_SLOPE,            /* the gradient is zero */
  CHANGE_NO_SUCCESS,          /* the search has converged to a design that does not meet the task's `success` terms */
  CHANGE_BETTER_SAMPLE,       /* a sample is better than the minimum that L-BFGS found */
  CHANGE_SMOOTHER_FRICTION,   /* as CHANGE_SHORT_OF_PREDICTION; L-BFGS continues with smoother friction */
  CHANGE_SCENE_FRICTION       /* the search with smoother friction has ended */
} MethodReason;
typedef struct {
  int iteration; /* the method changed after this iteration */
  TaskOptimizerType from, to;
  MethodReason reason;
  int count; /* number of poor trials, or number of iterations without progress */
} MethodChange;
/* Largest number of stored method changes of all starts. */
enum { METHOD_CHANGES_MAX = 32 };
/* Method selection of `optimizer: auto` (optimize/automatic.c; docs/derivations/update.md, O23). */
typedef struct {
  TaskOptimizerType method;
  double factor;        /* factor by which the step sizes of the task are multiplied */
  int tried;            /* number of trials with the present method */
  unsigned poor_trials; /* results of the last trials, one bit each; 1: the trial was poor */
  double best_value;    /* value of the best design when it last made progress */
  int best_value_iteration, restarts;
  bool return_to_best; /* true: the best design replaces the current design before the next trial */
  /* wants_smooth_friction: the next trial has smoother friction than the scene. has_smooth_friction: the loss and the
   * gradient of the current design have it. */
  bool wants_smooth_friction, has_smooth_friction;
  int smooth_friction_end; /* last iteration with smoother friction; 0: it was not used yet */
  MethodChange changes[METHOD_CHANGES_MAX];
  int change_count;
} Automatic;

/* Links that intersect in the initial state of a trial. */
typedef struct {
  int scenario, a, b;
} StartPair;

struct Optimization {
  Task* task;
  OptimizationOptions options;
  double check_tolerance; /* tolerance of the time-step solver in runs of a gradient check (gradcheck.md, J18); 0: that
                             of the task */
  Design design;
  OptimizationFunction function; /* function that replaces the losses of the task; not used if `evaluate` is NULL */
  double step[2]; /* step size of the design variables and of the control variables, before the factor of `optimizer:
                     auto` is applied */
  double* unit;   /* typical large change of each variable, by which the optimizer divides it (variables); NULL: 1 */
  double* function_gradient; /* gradient of `function` (size: variables) */
  Optimizer* optimizer;
  Automatic automatic;
  ScenarioRun* runs;
  int run_count, term_count;
  int capacity; /* number of rows for which the arrays of rows are allocated */
  /* current design, its gradient, trial design, its gradient, and best design (size: variables) */
  double *x, *gradient, *trial, *trial_gradient, *best_x;
  double *terms, *trial_terms;               /* values of the terms for the current design and for the trial (terms) */
  BoundedTerms* bounded_terms;               /* bounded terms of the task; NULL if there are none */
  Success* success;                          /* `success` terms of the task; NULL if there are none */
  Validation* validation;                    /* results of the validation; NULL before it has run */
  Draws* draws;                              /* random changes of the scenes; NULL if there are none */
  ScheduledContact* contacts;                /* contact parameters that a schedule changes (size: scenarios) */
  DrawIndex draw;                            /* draw of random numbers that the scenes use now */
  double unconstrained_loss, best_violation; /* loss of the current design without bounded terms; best_violation:
                                                largest relative violation of the bounds by the best design */
  bool last_is_successful, is_successful, trial_is_successful,
      best_is_successful; /* true if the last, current, trial and best design meet `success`; false if unknown */
  double* saved_state;    /* copy of the optimizer's state before it proposed the trial */
  double loss, best_loss, best_compared_loss;
  int iteration, best_iteration, since_best;
  OptimizationStop stop;
  OptimizationRow* rows;   /* rows of convergence.csv so far (size: capacity) */
  double* row_terms;       /* loss terms of every row of convergence.csv (capacity * terms) */
  double* row_multipliers; /* Lagrange multipliers of every row of convergence.csv (capacity * bounded terms) */
  const double* factors;   /* derivatives of the minimized function (loss plus penalties) with respect to the terms
                              (terms); NULL: all are 1 */
  int since_update;        /* number of iterations since the multipliers last changed */
  int since_check;         /* number of iterations since the violations of the bounds were last checked */
  double norm_updated;     /* norm of the gradient when the multipliers last changed */
  bool stuck;              /* true if the optimizer finds no further step with the present Lagrange multipliers */
  int start, best_start;   /* index of the current start and of the start of the best design */
  int first_iteration;     /* first iteration of the current start */
  double start_best, start_violation; /* best loss and violation of the current start */
  bool next_start_is_pending;
  char* failed_start_reason; /* why the last start failed, owned, or NULL */
  char* reason;
  int failed_scenario;  /* scenario in which the last trial failed */
  char (*identity)[65]; /* hashes that a checkpoint must match: settings, variables, losses, scenes (size:
                           identity_count) */
  int identity_count;
  StartPair* start_pairs;
  int start_pair_count, start_pair_capacity;
  int corrected_trials; /* trials whose initial intersections were corrected */
  Text note;
  Scene* displayed;               /* scene that optimization_scene returned last, or NULL */
  const Scene* displayed_source;  /* scene of a scenario whose arrays `displayed` shares */
  AdjointReport adjoint;          /* report of the gradient with the largest growth; zero before the first gradient */
  double started, seconds_before; /* started: wall time at the start [s]; seconds_before: wall time of the run before
                                     the checkpoint [s] */
  double forward_seconds, adjoint_seconds;
};

/* ---- evaluation of `success` (optimize/success.c) */
/* Creates the `success` terms of the task, or sets *out to NULL without terms. The models must be the initial ones.
 * Returns STATUS_BAD_INPUT with diagnostics for an invalid task. The caller frees *out with success_destroy, also after
 * errors. */
Status success_create(Success** out, const Optimization* o, Diagnostics* diagnostics);
/* Frees the object. Accepts NULL. */
void success_destroy(Success* success);
/* Returns the success terms of a scenario as losses. Owned by the Success. */
const Loss* success_loss(const Success* success, int scenario);
/* Simulates the best design in a scenario with the given draw, and sets *met to true if the run succeeds and meets the
 * success terms. Returns the status of the run. Thread-safe. */
Status success_simulate(Optimization* o, int scenario, DrawIndex draw, bool* met);
/* Returns true if the runs of the search show whether a design meets the success terms, so that no further runs are
 * necessary. Conditions: there are success terms, no draws, and no success term of a pair force. Recordings store pair
 * forces for losses only. */
bool success_is_known_in_search(const Optimization* o);
/* Returns true if the recorded run of a scenario meets the success terms. Sets run->success_terms. Requires
 * success_is_known_in_search. Thread-safe for different scenarios. */
bool success_is_met(const Optimization* o, ScenarioRun* run);
/* Determines whether the current and the best design of a resumed search meet `success`, by simulating them. A
 * checkpoint does not store this, because `success` may have changed. Does nothing unless success_is_known_in_search.
 */
void success_restore(Optimization* o);
/* Frees the validation. Accepts NULL. */
void validation_destroy(Validation* validation);

/* Returns true if the random changes of the scenes are drawn again during the search. */
bool draws_change(const Optimization* o);
/* Selects the random changes of the scenes that an iteration uses. */
void draws_select(Optimization* o, int iteration);
/* Selects the random changes of the scenes for the next iteration. If the optimization method requires descent,
 * evaluates the current design again with them. Returns STATUS_INTERRUPTED without a change if interrupted. */
Status draws_advance(Optimization* o);
/* Returns the scene values that the design x[variables] and the draw change in a scenario, and their number *count. The
 * caller frees the array with memory_free. */
ModelOverride* optimization_overrides(const Optimization* o, const double* x, int scenario, DrawIndex draw, int* count);

/* Adds the values of the success terms in one scenario, of which the largest over all scenarios is kept. values[terms];
 * NULL: the run failed. Call it for scenario 0 first. A term that was NaN stays NaN. */
void success_add_scenario(Success* success, int scenario, const double* values);

/* Simulates the design x[variables] in all scenarios. Sets *loss to the weighted loss and terms[term_count] to the
 * weighted terms, summed over scenarios. Returns TRIAL_ACCEPTED, or another outcome with its reason in o->reason; *loss
 * is then unspecified. Sets *interrupted to true if a run was interrupted. */
TrialOutcome evaluate_design(Optimization* o, const double* x, double* loss, double* terms, bool* interrupted);
/* Builds the model of a scenario for the design x[variables] without simulating it. Returns false if the design cannot
 * be simulated, with the reason in o->runs[scenario].reason. */
bool evaluate_start(Optimization* o, const double* x, int scenario);
/* Moves the trial o->trial, which is invalid in the initial state, towards the current design until it is valid.
 * Returns false if no such design is found; o->trial is then unspecified. Allocates temporary memory. */
bool correct_trial_gaps(Optimization* o);
/* Sets o->x to the design drawn[variables], moved towards the initial design of the task until it is valid. drawn:
 * neither o->x nor o->trial (asserted). Returns false if the initial design is invalid too; o->x is then unspecified.
 * Allocates temporary memory. */
bool move_to_valid_start(Optimization* o, const double* drawn);
/* Returns the merit function that the optimizer minimizes: the loss plus penalties of the bounded terms.
 * terms[term_count]. */
double optimization_merit(Optimization* o, double loss, const double* terms);
/* Computes the gradient of the merit function at the design that evaluate_design simulated last, summed over scenarios:
 * gradient[variables]. It is valid only if TRIAL_ACCEPTED is returned. */
TrialOutcome evaluate_gradient(Optimization* o, double* gradient);
/* Frees the data of a run, not its scene. */
void scenario_run_free(ScenarioRun* run);
/* Makes all further runs repeat the substep lengths of the last runs, as difference quotients require. Call it at most
 * once. scenario_run_free frees the recordings. */
void optimization_fix_substeps(Optimization* o);
/* Makes the design o->x the current design: simulates it and stores its loss, terms and gradient. Sets *interrupted to
 * true if a run was interrupted. */
TrialOutcome optimization_set_current(Optimization* o, bool* interrupted);
/* Simulates the current design again and stores its loss, terms and gradient, without resetting the multipliers. Sets
 * *interrupted to true if a run was interrupted. */
TrialOutcome optimization_reevaluate_current(Optimization* o, bool* interrupted);
/* Returns the value by which designs of different iterations are compared. This value is `loss`. If the random changes
 * of the scenes vary, the value is the larger of `loss` and the mean loss of the last iterations. */
double optimization_compared_loss(const Optimization* o, int iteration, double loss);
/* Adds the row of the first design of a search to o->rows and updates the best design. */
void optimization_record_start(Optimization* o);

/* Returns true if a start of multistart has ended and another one follows (docs/derivations/update.md, O17). */
bool multistart_has_next(const Optimization* o);
/* Begins the next valid start of multistart, or ends the optimization. Returns STATUS_INTERRUPTED if interrupted; call
 * it again then. */
Status multistart_next(Optimization* o);
/* Restarts the search at x[variables] with a new optimizer and iteration 0. fixed[variables] true: the variable keeps
 * its value; NULL: none. Call optimization_start next. */
void optimization_restart(Optimization* o, const double* x, const bool* fixed);
/* Sets o->stop to the reason why the search ends after this iteration, or to STOP_NOT_YET. can_step: true if the
 * optimizer can propose another step. */
void optimization_check_stop(Optimization* o, bool can_step);
/* Computes the hashes that identify the task, o->identity[identity_count]. The scenes must be the initial ones.
 * optimization_destroy frees the array. */
void optimization_compute_identity(Optimization* o);

/* ---- method selection of `optimizer: auto` (optimize/automatic.c); no effect on a task that names its method */
/* Sets the first method of a search and clears its statistics. */
void automatic_begin(Optimization* o);
/* Returns the task's optimizer settings with the current method and steps. */
TaskOptimizer automatic_settings(const Optimization* o);
/* Returns the number of iterations without progress after which the search changes the current method. */
int automatic_patience(const Optimization* o);
/* Replaces the optimizer by one with the current settings. */
void automatic_create_optimizer(Optimization* o);
/* Evaluates a trial and changes the method if necessary. gained: decrease of the loss. predicted: decrease that the
 * gradient predicts. can_step: true if the optimizer can propose another step. Returns true if the optimization can
 * continue. */
bool automatic_update(Optimization* o, TrialOutcome outcome, double gained, double predicted, bool can_step);
/* Changes to a sampling method if the gradient is zero before any trial, or if L-BFGS has no step left and the best
 * design fails `success`. If L-BFGS has no step left but the gradient predicts a larger decrease, changes the method
 * too. Returns false if the method is unchanged. */
bool automatic_handle_zero_gradient(Optimization* o);
/* Makes the best design the current one if the last change of method requires it. Returns STATUS_INTERRUPTED if
 * interrupted; call it again then. */
Status automatic_restore_best(Optimization* o);
/* Evaluates the current design again if the smoothing of friction changes before the next trial. After a search with
 * smoother friction, the method changes unless the design is the best one. Returns STATUS_INTERRUPTED if interrupted;
 * call it again then. */
Status automatic_change_friction(Optimization* o);
/* Returns the factor on the smoothing of friction for the current trials (O26): 1 if friction is that of the scene. */
double automatic_friction_factor(const Optimization* o);

/* ---- contact schedule (optimize/continuation.c): contact parameters that change during the search. They depend only
 * on the iteration, so that checkpoints do not store them. */
/* Sets the contact parameters of iteration 0 in all scenes. Returns STATUS_BAD_INPUT with diagnostics if the contact
 * law lacks a key or the schedule is too long. optimization_destroy frees o->contacts (scenarios), also after errors.
 */
Status continuation_start(Optimization* o, Diagnostics* diagnostics);
/* Sets the contact parameters of an iteration in all scenes. Returns true if they changed. */
bool continuation_set(Optimization* o, int iteration);
/* Sets the contact parameters of iteration 0, with which the optimization of each time window of a receding horizon
 * begins. */
void continuation_restart(Optimization* o);
/* Sets the last contact parameters of the schedule, with which time windows of a receding horizon are executed. */
void continuation_finish(Optimization* o);
/* Returns true if the schedule still changes the contact parameters after this iteration. */
bool continuation_is_active(const Optimization* o, int iteration);
/* Sets the contact parameters of the next iteration and evaluates the current design with them. The loss of a design
 * that cannot be simulated becomes infinite. Returns STATUS_INTERRUPTED if interrupted; call it again then. */
Status continuation_advance(Optimization* o);
/* Replaces the optimizer by a new one, because its state does not apply to a changed loss. */
void continuation_reset_optimizer(Optimization* o);

/* Reserves memory for `rows` rows of convergence.csv, with their loss terms and multipliers. Invalidates pointers into
 * the old arrays. */
void optimization_reserve_rows(Optimization* o, int rows);

#endif
