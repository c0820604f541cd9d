/* Private to optimize/: the state of an optimization, and the evaluation of a design in all scenarios
 * (optimize/evaluate.c). Every MPI process holds all of it and runs its own scenarios. Outcome, value, terms and
 * by_variables of a run are then exchanged, so that all processes take the same steps. */
#ifndef SDRS_OPTIMIZE_OPTIMIZATION_H
#define SDRS_OPTIMIZE_OPTIMIZATION_H

#include "optimize/design.h"
#include "optimize/optimize.h"

/* Hashes of a task's identity before those of its scenes. */
enum { IDENTITY_SCENES = 3 };

/* A scenario with the design evaluated last. */
typedef struct {
  const Scene* scene; /* borrowed from the task, whose design is the initial one */
  double weight;
  Model model;
  bool has_model, made; /* has_model: the model was built; made: it was built without an error */
  int number_count;     /* number of overrides with which the model was built */
  RowKeep keep;         /* kept rows of recording and seeds, when memory is bounded */
  Recording recording;
  Recording repeated; /* run whose substeps are repeated (optimization_repeat_parts); zero: none */
  Loss* loss;
  LossSeeds seeds;
  ModelGradient gradient;
  double* by_variables; /* gradient of weight times value  (variables) */
  double* terms;
  double value;
  double* success_terms; /* values of the success terms; NULL: no such terms */
  bool meets;            /* true: the design meets the criteria; false if success_follows */
  Status status;
  RecordReport report;
  AdjointReport adjoint;
  TrialOutcome outcome;
  Text reason;
} ScenarioRun;

typedef struct Success Success;
typedef struct Validation Validation;

/* Random draws (optimize/draws.c; docs/derivations/update.md, O18). A draw depends only on the seed, its stream, a
 * number (iteration / every, or number of the try) and the scenario, so checkpoints do not store it. */
typedef enum { DRAW_NONE, DRAW_TRAINING, DRAW_VALIDATION } DrawStream;
typedef struct {
  DrawStream stream;
  int number;
} DrawMoment;
typedef struct Draws Draws;
/* Creates the draws of a task; *out is NULL if the task has none. The scenes must be the initial ones. design and task
 * must outlive the draws. Returns STATUS_BAD_INPUT with diagnostics on an error. The caller frees the draws with
 * draws_destroy, also after a failure. */
Status draws_create(Draws** out, const Design* design, const Task* task, Diagnostics* diagnostics);
/* Frees the draws and everything they own. Accepts NULL. */
void draws_destroy(Draws* draws);
/* Returns the largest number of overrides that draws_apply adds; the array of the caller must have room for them. 0 if
 * draws is NULL. */
int draws_room(const Draws* draws);
/* Merges the numbers drawn for `moment` and `scenario` into overrides[count] and returns the new count. Does nothing if
 * draws is NULL or the stream is DRAW_NONE. Every call with the same arguments gives the same result. Thread-safe. */
int draws_apply(const Draws* draws, DrawMoment moment, int scenario, ModelOverride* overrides, int count);

/* ---------------------------------------------------------------- bounds on terms, `subject_to` (optimize/subjects.c;
 * docs/derivations/update.md, O11, O12). g_i = term_i - bound_i; the bounded terms follow the terms of the loss. */
typedef struct Subjects Subjects;
/* Creates the bounds of subject_to. Returns NULL if the task has none. Copies from the task. The caller frees them with
 * subjects_destroy. */
Subjects* subjects_create(const Task* task);
/* Frees the bounds. Accepts NULL. */
void subjects_destroy(Subjects* subjects);
/* Returns the augmented Lagrangian A = loss + sum_i (rho_i / 2) (max(0, g_i + lambda_i / rho_i)^2 - (lambda_i /
 * rho_i)^2). terms (losses, then bounded terms): values of the terms. NaN propagates. */
double subjects_merit(const Subjects* subjects, double loss, const double* terms);
/* Returns the derivatives of A with respect to the terms (losses, then bounded terms): 1 for losses, max(0, lambda_i +
 * rho_i g_i) for bounded terms. The array is owned by the subjects and valid until the next call. */
const double* subjects_factors(Subjects* subjects, const double* terms);
/* Returns the largest g_i divided by the size of its bound. All bounds hold if the result is <= SUBJECTS_TOLERANCE.
 * Terms that are NaN are ignored. terms (losses, then bounded terms). */
double subjects_violation(const Subjects* subjects, const double* terms);
#define SUBJECTS_TOLERANCE 1e-6
/* Sets the multipliers to zero and the penalties in proportion to the loss. terms (losses, then bounded terms). */
void subjects_begin(Subjects* subjects, double loss, const double* terms);
/* Updates the multipliers from the terms of a design. solved: the optimizer has converged for the present multipliers;
 * penalties may grow only then. Returns false if the multipliers have converged and the bounds hold. terms (losses,
 * then bounded terms). */
bool subjects_update(Subjects* subjects, const double* terms, bool solved);
/* Updates the multipliers of violations that do not decrease; called every optimizer_patience iterations during the
 * search (O20). For descent methods, mean holds the terms of the current design and spread is NULL. For other methods,
 * mean holds the mean of each term over these iterations, and spread the largest difference between two of its values.
 * Both arrays: losses, then bounded terms. Returns false if nothing changed. */
bool subjects_follow(Subjects* subjects, const double* mean, const double* spread);
/* Returns true if the multipliers must be updated. since: iterations since their last change. norm_then, norm: norm of
 * the gradient at that change and at present. Sets *solved to true if the optimizer has nearly converged for the
 * present multipliers. */
bool subjects_due(int since, double norm_then, double norm, bool* solved);
/* Returns the number of bounds; 0 for NULL. */
int subjects_count(const Subjects* subjects);
/* Returns the numbers that a checkpoint stores, and sets *count to how many they are; the multipliers (subjects) come
 * first. Owned by the subjects. To load a checkpoint, write to this array. */
double* subjects_state(Subjects* subjects, int* count);

/* The contact of a scene: as given, before a schedule changes it, and `switched`, after a schedule has changed the law.
 * The parameters of the new law are derived once from the initial state of the scene. Both share their arrays with the
 * scene. */
typedef struct {
  SceneContact given, switched;
  bool has_switched;
} ScheduledContact;

/* Reason why `auto` changes the method. */
typedef enum {
  CHANGE_SHORT_OF_PREDICTION, /* trials gain less than the gradient predicts, or the loss rises */
  CHANGE_SHORT_STEP,          /* no step length improves the loss */
  CHANGE_NO_PROGRESS,         /* the best design has hardly improved */
  CHANGE_NO_SLOPE,            /* the gradient is zero */
  CHANGE_NO_SUCCESS           /* the search has converged to a design that fails `success` */
} MethodReason;
typedef struct {
  int iteration; /* iteration after which the method changed */
  TaskOptimizerType from, to;
  MethodReason reason;
  int count; /* number of poor trials, or of iterations without progress */
} MethodChange;
/* Largest number of stored changes, over all starts. */
enum { METHOD_CHANGES_MOST = 32 };
/* Statistics for `auto` (optimize/automatic.c; docs/derivations/update.md, O23). */
typedef struct {
  TaskOptimizerType method;
  double factor; /* factor on the steps of the settings */
  int tried;     /* trials with the present method */
  unsigned weak; /* one bit for each of the last trials: 1 for a poor trial */
  double mark;   /* value of the best design when it last improved by enough to count as progress */
  int mark_iteration, restarts;
  bool return_to_best; /* return to the best design before the next trial */
  MethodChange changes[METHOD_CHANGES_MOST];
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
  OptimizationFunction function; /* replaces the losses of runs; evaluate NULL: not used */
  double step[2];                /* step of each block, before the factor of `auto` */
  double* unit;                  /* units of the variables; NULL: 1 (variables) */
  double* function_gradient;     /* at the last evaluation (variables) */
  Optimizer* optimizer;
  Automatic automatic;
  ScenarioRun* runs;
  int run_count, term_count;
  int capacity;                                           /* length of the arrays of rows */
  double *x, *gradient, *trial, *trial_gradient, *best_x; /* (variables) */
  double *terms, *trial_terms;                            /* terms of the current design; terms of the trial (terms) */
  Subjects* subjects;                                     /* NULL: no bounds */
  Success* success;                                       /* NULL: no success terms */
  Validation* validation;                                 /* NULL: not run yet, or not requested */
  Draws* draws;                                           /* NULL: no draws */
  ScheduledContact* contacts;                             /* contact of a schedule (scenarios) */
  DrawMoment moment;                                      /* draws used by evaluations */
  double plain, best_violation; /* plain: loss of the current design without the terms of bounds; best_violation:
                                   violation of the best design */
  bool ran_meets, meets, trial_meets, best_meets; /* success is met by the design that ran last, the current one,
                                                     the trial and the best; false where success_follows is */
  double* spare_state;                            /* optimizer state before a proposal */
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
/* Looks up the links of the success terms in every scenario of o, whose models must be the initial ones. *out is NULL
 * if the task has no success terms. Returns STATUS_BAD_INPUT with diagnostics on an error. The caller frees *out with
 * success_destroy, also after a failure. */
Status success_create(Success** out, const Optimization* o, Diagnostics* diagnostics);
/* Frees the terms. Accepts NULL. */
void success_destroy(Success* success);
/* Returns the success terms of a scenario. A recording must store the rows that they read. Owned by the success. */
const Loss* success_loss(const Success* success, int scenario);
/* Sets *met to true if the best design meets the terms in a scenario with the given draws; false if its run fails.
 * Returns the status of the run. Thread-safe. */
Status success_try(Optimization* o, int scenario, DrawMoment moment, bool* met);
/* Returns true if the runs of the search also decide whether a design meets the success terms: the task has such terms,
 * the runs depend on the design only (no draws), and no term reads the force between a pair of links, which recordings
 * store for the loss only. */
bool success_follows(const Optimization* o);
/* Returns true if the recorded run of a scenario meets the success terms. Overwrites run->success_terms. Requires
 * success_follows. Thread-safe for different scenarios. */
bool success_meets(const Optimization* o, ScenarioRun* run);
/* Sets o->meets and o->best_meets of a resumed search by running the current and the best design, because `success` may
 * have changed since the checkpoint was written. An interrupted run counts as a failure. Does nothing unless
 * success_follows. */
void success_recall(Optimization* o);
/* Frees the validation. Accepts NULL (optimize/validation.c). */
void validation_destroy(Validation* validation);

/* Returns true if draws differ between iterations. */
bool draws_vary(const Optimization* o);
/* Sets o->moment to the draws of an iteration. Does nothing without draws. */
void draws_set(Optimization* o, int iteration);
/* Sets the draws of iteration + 1. If the method requires descent, evaluates the current design again with these draws.
 * STATUS_INTERRUPTED: nothing has changed. */
Status draws_advance(Optimization* o);
/* Returns the overrides of a scenario for the design x[variables], including drawn numbers, and sets *count. The caller
 * frees the array with memory_free. */
ModelOverride* optimization_overrides(const Optimization* o, const double* x, int scenario, DrawMoment moment,
                                      int* count);

/* Adds the success terms values[terms] of a run in a scenario to the result; values is NULL if the run failed. Call for
 * scenario 0 first. The result of each term is its largest value over the scenarios to which it applies, or NaN if one
 * of them is NaN. */
void success_add(Success* success, int scenario, const double* values);

/* Builds and simulates the models of the design x[variables] in all scenarios. If it returns TRIAL_ACCEPTED, *loss is
 * the weighted loss, and terms[term_count] are the weighted terms, summed over scenarios. Otherwise *loss is undefined
 * and o->reason states the reason. Sets *interrupted to true if a run was interrupted, else to false. */
TrialOutcome evaluate_design(Optimization* o, const double* x, double* loss, double* terms, bool* interrupted);
/* Builds the model of a scenario for the design x[variables] without simulating it. Returns false if the design cannot
 * start; the reason is stored in the ScenarioRun. */
bool evaluate_start(Optimization* o, const double* x, int scenario);
/* Moves o->trial, which evaluate_design rejected as TRIAL_INVALID, towards the current design until it can start
 * (optimize/start_gaps.c). Returns false, with o->trial undefined, if no such design is found. Allocates
 * temporarily. */
bool start_gaps_correct(Optimization* o);
/* Sets o->x to the design drawn[variables], moved towards the initial values of the task until it can start, by the
 * same rows and halvings as start_gaps_correct. Returns false, with o->x undefined, if the initial values cannot start
 * either. drawn must be neither o->x nor o->trial. Allocates temporarily. */
bool start_gaps_move(Optimization* o, const double* drawn);
/* Returns the value that the optimizer minimizes: the loss plus the terms of the bounds with the present multipliers
 * (optimize/optimization.c). terms[term_count]. */
double optimization_merit(Optimization* o, double loss, const double* terms);
/* Sets gradient[variables] to the gradient of the merit function at the design that evaluate_design ran last, summed
 * over scenarios. gradient is undefined unless the function returns TRIAL_ACCEPTED. */
TrialOutcome evaluate_gradient(Optimization* o, double* gradient);
/* Frees the data of a run; the Scene belongs to the task. */
void scenario_run_free(ScenarioRun* run);
/* Makes all further runs repeat the substeps of the last runs. Difference quotients need this, because the adjoint
 * treats substeps as constants. Call once. Creates new recordings; scenario_run_free frees the old ones. */
void optimization_repeat_parts(Optimization* o);
/* Runs the design o->x and makes it the current design: sets its loss, terms and gradient (optimize/optimization.c).
 * Always sets *interrupted. */
TrialOutcome optimization_stand(Optimization* o, bool* interrupted);
/* Does the same as optimization_stand, but leaves the multipliers unchanged. Used after a change of method. */
TrialOutcome optimization_stand_again(Optimization* o, bool* interrupted);
/* Returns the value by which designs are compared: `loss`, the loss of this iteration; if draws vary, the larger of
 * `loss` and its mean over the last iterations. */
double optimization_worth(const Optimization* o, int iteration, double loss);
/* Writes the row o->iteration of the first design of a search, and updates the best design. */
void optimization_note_start(Optimization* o);

/* Multistart (optimize/multistart.c; docs/derivations/update.md, O17). Returns true if a search has ended and another
 * follows. */
bool multistart_goes_on(const Optimization* o);
/* Begins the next start of multistart whose design can run. If there is none, the optimization ends.
 * STATUS_INTERRUPTED: call again. */
Status multistart_next(Optimization* o);
/* Restarts the search at x[variables] with a new optimizer. Variables with held[variables] true are fixed; held NULL:
 * none is fixed. Iterations are counted from 0 again. Call optimization_start next (optimize/optimization_create.c). */
void optimization_restart(Optimization* o, const double* x, const bool* held);
/* Sets o->stop to the reason why the search ends after this iteration, or to STOP_NOT_YET. can_step: the optimizer can
 * continue (optimize/optimization.c). */
void optimization_judge_end(Optimization* o, bool can_step);
/* Sets o->identity (identity_count) to the hashes of the task. optimization_destroy frees it. The scenes must be the
 * initial ones (optimize/optimization_checkpoint.c). */
void optimization_identify(Optimization* o);

/* ---- choice of the method for `optimizer: auto` (optimize/automatic.c) */
/* Sets the first method of a search, without statistics. This and the following functions also apply to a task that
 * names its method. */
void automatic_begin(Optimization* o);
/* Returns the task's settings with the present method and its steps. */
TaskOptimizer automatic_settings(const Optimization* o);
/* Replaces the optimizer by a new one with the present settings, and reallocates o->spare_state, the copy of its
 * state. */
void automatic_renew(Optimization* o);
/* Judges the outcome of a trial and changes the method if needed. gained: decrease of the loss by the trial, > 0 if the
 * loss fell. predicted: decrease that the gradient predicts, same sign. can_step: the optimizer can propose another
 * step. Returns true if the optimization can continue. */
bool automatic_watch(Optimization* o, TrialOutcome outcome, double gained, double predicted, bool can_step);
/* Changes to a sampling method in one of two cases: the gradient is zero before any trial, or L-BFGS has no step left
 * and the best design fails `success`. If L-BFGS has no step left although the gradient predicts a larger decrease,
 * changes the method as automatic_watch does. Returns false if the method is unchanged. */
bool automatic_leave_flat(Optimization* o);
/* Makes the best design the current one if the last change of method requires it. STATUS_INTERRUPTED: call again. */
Status automatic_return(Optimization* o);

/* ---- contact that changes over the iterations (optimize/continuation.c), in the scenes of all scenarios. It depends
 * only on the number of the iteration, so checkpoints do not store it. */
/* Sets the contact of iteration 0. Returns STATUS_BAD_INPUT, with diagnostics, if the law has no such key or the
 * schedule never reaches its end. Allocates o->contacts (scenarios), freed by optimization_destroy, also after a
 * failure. */
Status continuation_start(Optimization* o, Diagnostics* diagnostics);
/* Sets the contact of an iteration in all scenes of the task. Returns true if it differs from the contact before. */
bool continuation_set(Optimization* o, int iteration);
/* Sets the contact of iteration 0, with which each window of a receding horizon begins. */
void continuation_restart(Optimization* o);
/* Sets the last contact of the schedule, with which windows are executed. */
void continuation_finish(Optimization* o);
/* Returns true if the contact of this iteration is not yet the last one of the schedule. */
bool continuation_goes_on(const Optimization* o, int iteration);
/* Sets the contact of iteration + 1 and evaluates the current design with it. Returns STATUS_INTERRUPTED if a run was
 * interrupted: call again. Otherwise returns STATUS_OK. If the design cannot run with this contact, its loss becomes
 * infinite, so that any design that runs is better. */
Status continuation_advance(Optimization* o);
/* Replaces the optimizer by a new one with the same feasible set. Call after a change of the loss, to which the state
 * of the old optimizer does not apply. Allocates. */
void continuation_forget(Optimization* o);

/* Allocates the arrays of rows, terms and multipliers for `rows` rows. Pointers into them become invalid. */
void optimization_room(Optimization* o, int rows);

#endif
