/* optimize: optimization of the design and control variables of a task (SDRS sections III-B, V;
 * docs/derivations/design.md). An Optimization borrows the Task and changes its scenes. The caller destroys the
 * Optimization before the Task. Results do not depend on the number of threads. A run continued from a checkpoint
 * gives the same bits as an uninterrupted run. */
#ifndef SDRS_OPTIMIZE_H
#define SDRS_OPTIMIZE_H

#include "differentiate/differentiate.h"

typedef struct Optimization Optimization;

/* Outcome of a trial, the design that an iteration proposes and evaluates. */
typedef enum {
  TRIAL_START, /* iteration 0: the initial design */
  TRIAL_ACCEPTED,
  TRIAL_ROSE,        /* the loss rose, and the method requires descent */
  TRIAL_INVALID,     /* bodies intersect at the start, a hull is flat or too thin, or the scene is invalid */
  TRIAL_SOLVER,      /* a step was not solved */
  TRIAL_NO_GRADIENT, /* the run has no gradient: a singular Hessian */
  TRIAL_NOT_FINITE,  /* the loss is not finite */
} TrialOutcome;
/* Returns the text that convergence.csv shows for an outcome, such as "accepted" or "rejected_solver". The text is
 * static and never NULL. An invalid outcome is undefined behaviour. */
const char* trial_outcome_text(TrialOutcome outcome);

/* A row of convergence.csv: the current design after an iteration, and the outcome of the iteration's trial. */
typedef struct {
  double loss;                      /* loss of the current design */
  double trial_loss;                /* loss of the trial; NaN if the trial was not evaluated */
  double grad_design, grad_control; /* Euclidean norms of the gradient at the current design */
  double step_design, step_control; /* infinity norms of the trial's step */
  double seconds;                   /* wall time [s]; equal runs differ only in this number */
  TrialOutcome outcome;
} OptimizationRow;

typedef enum {
  STOP_NOT_YET,
  STOP_ITERATIONS,
  STOP_LOSS,       /* the loss is below stop_loss */
  STOP_STALL,      /* no better design for `stall` iterations */
  STOP_SHORT_STEP, /* trials were rejected until the step was too short */
  STOP_FLAT,       /* the gradient is zero */
  STOP_INTERRUPTED,
} OptimizationStop;
/* Returns the reason in words, for messages. The text is static and never NULL. An invalid reason is undefined
 * behaviour. */
const char* optimization_stop_text(OptimizationStop stop);

typedef struct {
  int threads;
  bool (*interrupted)(
      void); /* returns true to interrupt the search; called often during runs; NULL: never interrupted */
} OptimizationOptions;

/* Creates an optimization of a task without simulating it. Borrows and changes the task; copies the options. Returns
 * STATUS_BAD_INPUT with diagnostics if the task has an error. Always sets *optimization, which the caller frees with
 * optimization_destroy. */
Status optimization_create(Optimization** optimization, Task* task, const OptimizationOptions* options,
                           Diagnostics* diagnostics);
/* Frees the optimization but not its task. Accepts NULL and an optimization whose creation failed. */
void optimization_destroy(Optimization* optimization);
/* Sets the initial values of the variables names[count] to values[count], in the units of the variables. Values that
 * violate bounds or constraints are projected onto the feasible set. Returns how many of the names are variables of the
 * task; other names are ignored. Names of earlier versions are accepted. Non-finite values are not refused. Call before
 * optimization_start. Allocates temporary memory. */
int optimization_set_initial(Optimization* optimization, const char* const* names, const double* values, int count);
/* A function of the variables that replaces the task's losses. */
typedef struct {
  void* context; /* borrowed */
  /* Sets *value to the function at x[variables], and gradient[variables] to its gradient unless gradient is NULL.
   * Both results are valid only if TRIAL_ACCEPTED is returned. *interrupted is false on entry; the function sets it
   * to true if it was interrupted. Every MPI process calls the function. */
  TrialOutcome (*evaluate)(void* context, const double* x, double* value, double* gradient, bool* interrupted);
  /* Large change of each variable, > 0 (variables). The optimizer's steps are fractions of this change, except for
   * variables whose step the task gives. */
  const double* unit;
  const bool* held; /* true for fixed variables (variables); NULL if no variable is fixed */
} OptimizationFunction;
/* Makes the optimization minimize `function` instead of the task's losses (O21). The task's bounds, constraints and
 * optimizer stay in use. Call before optimization_start or optimization_load (not checked). All loss terms are then
 * reported as 0. Norms of gradients and steps in the rows refer to variables divided by their units. Copies unit and
 * held; borrows the context. */
void optimization_set_function(Optimization* optimization, const OptimizationFunction* function);
/* Evaluates the initial design (iteration 0) in all scenarios, with its gradient. Returns STATUS_SOLVER or
 * STATUS_BAD_INPUT with diagnostics if the design fails. Returns STATUS_INTERRUPTED without a message if
 * interrupted. Must be called once. Allocates. */
Status optimization_start(Optimization* optimization, Diagnostics* diagnostics);
/* Performs one iteration and adds its row. Returns STATUS_OK also if the trial is rejected; the row then holds the
 * outcome. If it returns STATUS_INTERRUPTED, nothing has changed. Do not call after optimization_stop has returned a
 * reason. Allocates if runs need more memory. */
Status optimization_advance(Optimization* optimization);
/* Returns why the search has ended, or STOP_NOT_YET. Allocates nothing, never fails. */
OptimizationStop optimization_stop(const Optimization* optimization);
/* Returns the number of the last iteration; 0 is the initial design. Allocates nothing, never fails. */
int optimization_iteration(const Optimization* optimization);
/* Returns the rows of the iterations 0 ... optimization_iteration. The optimization owns the rows;
 * optimization_advance invalidates them. Undefined before optimization_start. */
const OptimizationRow* optimization_rows(const Optimization* optimization);
/* Returns the number of loss terms, which is the length of each row of optimization_terms. optimization_create fixes
 * the number. Never fails. */
int optimization_term_count(const Optimization* optimization);
/* Returns the name of a loss term, which is the header of its column in convergence.csv. The optimization owns the
 * name, which is never NULL. `term` is not checked. */
const char* optimization_term_name(const Optimization* optimization, int term);
/* Returns the loss terms of an iteration [optimization_term_count], weighted and summed over scenarios. The
 * optimization owns the array; optimization_advance invalidates it. `iteration` is not checked. */
const double* optimization_terms(const Optimization* optimization, int iteration);
/* Returns the number of terms that the task's `subject_to` bounds, which is the length of each row of
 * optimization_multipliers. These terms are the last of the loss terms. Never fails. */
int optimization_bounded_term_count(const Optimization* optimization);
/* Returns the Lagrange multipliers of an iteration [optimization_bounded_term_count]. The optimization owns the array.
 * `iteration` is not checked. */
const double* optimization_multipliers(const Optimization* optimization, int iteration);
/* Returns by how much the best design violates the bounds of `subject_to`: the largest violation relative to its
 * bound. Returns -HUGE_VAL if the task has no such bounds. Never fails, allocates nothing. */
double optimization_best_violation(const Optimization* optimization);
/* Returns the loss of the best design so far, without the terms of multipliers, in the units of the task. If the
 * task schedules the contact, designs evaluated with an earlier contact no longer count once the last contact is
 * reached. Never fails, allocates nothing. */
double optimization_best_loss(const Optimization* optimization);
/* Returns the iteration of the best design, a row of optimization_rows. Never fails, allocates nothing. */
int optimization_best_iteration(const Optimization* optimization);
/* Returns the number, from 0, of the start that found the best design. */
int optimization_best_start(const Optimization* optimization);
/* Returns how many starts of `multistart` failed because their design could not be simulated. Sets *reason to the
 * reason of the last failure, or to "" if the reason is unknown. The optimization owns the reason;
 * optimization_advance invalidates it. Allocates nothing, never fails. */
int optimization_failed_starts(const Optimization* optimization, const char** reason);
/* Returns why the last trial was rejected, or "" if it was accepted. The optimization owns the text;
 * optimization_advance invalidates it. */
const char* optimization_reason(const Optimization* optimization);
/* Returns the number of method changes by `optimizer: auto`. Allocates nothing, never fails. */
int optimization_method_change_count(const Optimization* optimization);
/* Appends a description of a method change to `out`: iteration, reason and methods, on one line without line end.
 * index is 0 ... optimization_method_change_count - 1. Allocates in out. */
void optimization_add_method_change(const Optimization* optimization, int index, Text* out);
/* Returns how many pairs of links have limited the design through their gap in the initial state. A trial in which
 * such a pair intersects initially is moved until the links are apart. Allocates nothing, never fails. */
int optimization_start_pair_count(const Optimization* optimization);
/* Returns the names of a pair that limits the design, as text "'a' and 'b'". index is 0 ...
 * optimization_start_pair_count - 1, in order of detection. */
Excerpt optimization_start_pair(const Optimization* optimization, int index);
/* Returns the report of the adjoint run that computed the last gradient. Undefined before optimization_start. */
AdjointReport optimization_adjoint(const Optimization* optimization);
/* Returns which steps of the last evaluated runs ended with a residual above the tolerance. The steps belong to the
 * scenario with the largest residual. Sets *model to the model of that scenario, borrowed until
 * optimization_advance. */
UnconvergedSteps optimization_unconverged(const Optimization* optimization, const Model** model);
/* Returns which steps of the last evaluated runs ended before the friction iteration converged. The steps belong to
 * the scenario with the most such steps. Sets *model as optimization_unconverged does. */
UnconvergedSteps optimization_unconverged_friction(const Optimization* optimization, const Model** model);
/* Sets *forward to the total wall time of forward simulations and *adjoint to the total wall time of adjoint runs [s].
 * Neither pointer may be NULL. Allocates nothing. */
void optimization_times(const Optimization* optimization, double* forward, double* adjoint);

/* A variable of the design or of the control. Values are in the unit of the variable. */
typedef struct {
  const char* name;
  double initial, low, high, now, best;
  bool is_control;
  double scale;         /* a large change of the variable */
  double prior;         /* standard deviation of the prior; 0 if there is no prior */
  double step;          /* optimizer step of the variable; 0: the variable has the step of its block */
  SourcePosition place; /* task entry that created it */
} OptimizationVariable;
/* Returns the number of variables, design and control together. The arrays `values` and `slope` below have this
 * length. Never fails. */
int optimization_variable_count(const Optimization* optimization);
/* Returns a variable with its values in its unit (m, rad, ...). index is 0 ... optimization_variable_count - 1,
 * unchecked. The optimization owns the name. */
OptimizationVariable optimization_variable(const Optimization* optimization, int index);
/* Returns the scene of a scenario with the best design applied if `best`, otherwise with the current design. The
 * optimization owns the scene until the next call of a function that returns a scene. scenario is 0 ...
 * scenario_count - 1, unchecked. */
const Scene* optimization_scene(Optimization* optimization, int scenario, bool best);
/* Returns the scene of a scenario with the design values[variables] applied. Ownership is as for optimization_scene.
 * The values are not checked for bounds, constraints or being finite. */
const Scene* optimization_scene_of(Optimization* optimization, int scenario, const double* values);
/* Builds the model of a scenario for the design values[variables]. Returns STATUS_BAD_INPUT with diagnostics as
 * model_create does. The caller frees *model with model_destroy, also after a failure. */
Status optimization_model(const Optimization* optimization, int scenario, const double* values, Model* model,
                          Diagnostics* diagnostics);
/* Sets `gradient` to the gradient of a loss over a recorded run, by the adjoint method. The gradient has every
 * derivative that optimization_add_gradient reads. The recording must be of a model of optimization_model. seeds:
 * derivatives of the loss with respect to the recorded quantities. discount: as for run_adjoint. If optimization is
 * NULL, derivatives with respect to joint frames and axes are not computed (without_turns). If the report says that the
 * adjoint failed, the gradient is undefined. Allocates temporary memory. */
AdjointReport optimization_run_adjoint(const Optimization* optimization, Recording* recording, const LossSeeds* seeds,
                                       double discount, int threads, ModelGradient* gradient);
/* Adds to slope[variables] the derivatives with respect to the variables, by the chain rule. `gradient` holds the
 * derivatives with respect to the numbers of `model`, which must be a model of optimization_model (not checked).
 * Asserts that `gradient` has derivatives with respect to joint frames and axes if variables rotate them. Never
 * fails. */
void optimization_add_gradient(const Optimization* optimization, int scenario, const Model* model,
                               const ModelGradient* gradient, double* slope);
/* Returns true if a variable rotates a joint frame or a joint axis. Otherwise the chain rule needs no derivatives
 * with respect to joint frames and axes (ModelGradient.without_turns). Allocates nothing, never fails. */
bool optimization_rotates_joints(const Optimization* optimization);
/* Returns the scene of the last rejected trial, in the scenario in which the trial failed. Sets *scenario to the
 * number of that scenario. Ownership is as for optimization_scene. Undefined if no trial was rejected. */
const Scene* optimization_trial_scene(Optimization* optimization, int* scenario);
/* Returns true if the design changes the shape of a link. link < number of links, unchecked. Allocates nothing. */
bool optimization_changes_shape(const Optimization* optimization, int link);
/* Returns a text that lists the vertices inserted to connect hulls, one per line, or "" if there are none. The
 * optimization owns the text, which is never NULL. */
const char* optimization_note(const Optimization* optimization);

/* Adds hashes that identify the task (settings, variables, losses, scenes) to a checkpoint. Asserts that the file
 * contains no such hashes yet. */
void optimization_write_identity(const Optimization* optimization, NumberFile* checkpoint);
/* Returns true if the checkpoint belongs to this task. Returns false with diagnostics if it belongs to another task, or
 * if the task has changed since the checkpoint was written. Allocates temporary memory. */
bool optimization_matches(const Optimization* optimization, const NumberFile* checkpoint, Diagnostics* diagnostics);
#define CHECKPOINT_KIND "checkpoint"
/* Copies the whole state of the optimization between two iterations to a file of kind CHECKPOINT_KIND. The caller
 * owns the file and frees it with number_file_free. Never fails. */
void optimization_save(const Optimization* optimization, NumberFile* checkpoint);
/* Restores the state of the optimization from a checkpoint, which is copied. Returns false with diagnostics if the
 * checkpoint belongs to another task or other settings. After a failure the optimization can only be destroyed. The
 * number of iterations, the other stop conditions and save_every may differ from the checkpoint. */
bool optimization_load(Optimization* optimization, const NumberFile* checkpoint, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- evaluation of the result (optimize/success.c) */

/* A term of the task's `success`, evaluated for the best design. The value is the largest over all scenarios. The
 * value is NaN before optimization_evaluate_success, and if a run failed. */
typedef struct {
  const char* name; /* owned by the optimization */
  double value, bound;
  bool met; /* value <= bound */
} SuccessTerm;
/* Returns the number of `success` terms, 0 if the task has none. Allocates nothing, never fails. */
int optimization_success_count(const Optimization* optimization);
/* Returns a `success` term, whose value is NaN until optimization_evaluate_success. index is 0 ...
 * optimization_success_count - 1, unchecked. The optimization owns the name. */
SuccessTerm optimization_success(const Optimization* optimization, int index);
/* Returns true if the best design meets all `success` terms, or the task has none. Returns false before
 * optimization_evaluate_success. Allocates nothing, never fails. */
bool optimization_succeeded(const Optimization* optimization);
/* Simulates the best design again and evaluates the `success` terms. Every MPI process must call the function. Returns
 * STATUS_INTERRUPTED, with no term evaluated, if a run was interrupted. Otherwise returns STATUS_OK. If a run fails,
 * the values of the terms are NaN. Allocates temporary memory. */
Status optimization_evaluate_success(Optimization* optimization);
/* Simulates the best design with the random draws of the task's `validation` (optimize/validation.c). A draw whose
 * run fails counts as not meeting `success`. Returns STATUS_INTERRUPTED, with no result stored, if a run was
 * interrupted. Otherwise returns STATUS_OK, also if the task has no validation. optimization_destroy frees the
 * result. */
Status optimization_validate(Optimization* optimization);
/* Returns the number of validation draws per scenario. Returns 0 before optimization_validate or if the task has no
 * validation. Allocates nothing, never fails. */
int optimization_validation_tries(const Optimization* optimization);
/* Returns in how many validation draws the best design met all `success` terms in a scenario. scenario is not
 * checked. Allocates nothing, never fails. */
int optimization_validation_passed(const Optimization* optimization, int scenario);

/* ---------------------------------------------------------------- report on the end of the search (optimize/advice.c)
 */
/* Numbers of rejected trials by reason. invalid: the design is invalid at the start, for example because bodies
 * intersect or a loop is open. solver: a step was not solved, or the gradient or loss was not usable. rose: the loss
 * rose. */
typedef struct {
  int invalid, solver, rose;
} RejectedTrials;
/* Returns the numbers of rejected trials in all rows. Allocates nothing, never fails. */
RejectedTrials optimization_rejected(const Optimization* optimization);
/* Texts that say why a search ended and how the result can be improved. */
typedef struct {
  Text stopped;  /* one line without line end: reason, losses, best iteration */
  Text findings; /* lines: rejections, terms that fell and rose, active bounds, the first failing `success` term */
  Text advice;   /* at most three lines: remedies, each with its exact --set options; none if the task succeeded */
} OptimizationReport;
/* Writes the report on the search. Call after optimization_evaluate_success. interrupted: a signal ended the search;
 * the report then contains no advice. Simulates nothing. The caller frees the texts with optimization_report_free.
 * Never fails. */
void optimization_report(const Optimization* optimization, bool interrupted, OptimizationReport* report);
/* Frees the texts, not the struct. */
void optimization_report_free(OptimizationReport* report);

/* ---------------------------------------------------------------- discrete choices (optimize/choices.c) */

/* Search over the combinations of a task's discrete choices. The caller optimizes every combination separately and
 * passes its result to the search, which then selects the next combination. */
typedef struct ChoiceSearch ChoiceSearch;
/* A bound of subject_to counts as satisfied up to this violation, relative to the bound. */
#define CHOICE_TOLERANCE 1e-6
/* Returns a search over the task's choices. Borrows the task, which must have choices. The caller frees it with
 * choice_search_destroy. Never NULL. */
ChoiceSearch* choice_search_create(const Task* task);
/* Frees the search. Accepts NULL. */
void choice_search_destroy(ChoiceSearch* search);
/* Returns the number of combinations to evaluate. Allocates nothing, never fails. */
int choice_search_count(const ChoiceSearch* search);
/* Sets pick[choices] to the next combination: for each choice, the number of its value, from 0. Returns false, with
 * pick unchanged, if all combinations are done. Allocates nothing. */
bool choice_search_next(ChoiceSearch* search, int* pick);
/* Passes the result of the last combination to the search. violation: from optimization_best_violation. meets: from
 * optimization_succeeded. Returns true if the result is the best so far. Returns false otherwise, also if a number
 * is not finite. Do not call for a combination that cannot run. Allocates nothing. */
bool choice_search_report(ChoiceSearch* search, double loss, double violation, bool meets);

/* ---------------------------------------------------------------- receding horizon (optimize/receding.c) */

/* Optimization of consecutive time windows of a long run. Every window has `horizon` steps. Only its first `apply`
 * steps are executed, and the next window begins at the state reached. receding_is_reproducible returns whether a
 * simulation of one scene reproduces all executed steps. */
typedef struct Receding Receding;
/* Result of one window. */
typedef struct {
  int step; /* step of the whole run at which the window begins */
  int iterations;
  double initial_loss, loss;
  OptimizationStop stop;
  double seconds; /* wall time [s]; equal runs differ only in this number */
} RecedingRow;

/* Creates a receding-horizon optimization for a task with `receding`. Sets the scenario's number of steps to the
 * length of one window. Borrows and changes the task, which must outlive *out; copies options. Returns
 * STATUS_BAD_INPUT with diagnostics if the task has an error. The caller frees *out with receding_destroy, also
 * after a failure. */
Status receding_create(Receding** out, Task* task, const OptimizationOptions* options, Diagnostics* diagnostics);
/* Frees the receding-horizon optimization with its Optimization, and restores the initial state of the scene. Does
 * not free the task. Accepts NULL. */
void receding_destroy(Receding* receding);
/* Returns the optimization of the present window. All windows use the same object, which the Receding owns. Never
 * NULL after receding_create returned STATUS_OK. */
Optimization* receding_optimization(Receding* receding);
/* Returns the total number of steps to execute. Allocates nothing, never fails. */
int receding_steps(const Receding* receding);
/* Returns the number of windows, at least 1. The last window may execute fewer steps. Allocates nothing, never
 * fails. */
int receding_window_count(const Receding* receding);
/* Returns the number of the present window, from 0, or the number of windows if all are executed. Allocates nothing,
 * never fails. */
int receding_window(const Receding* receding);
/* Returns the results of the executed windows, receding_window rows. The Receding owns the array. */
const RecedingRow* receding_rows(const Receding* receding);
/* Returns the loss terms of an executed window [optimization_term_count]. The Receding owns the array. window is 0
 * ... receding_window - 1, unchecked. */
const double* receding_terms(const Receding* receding, int window);
/* Returns true if a simulation of one scene reproduces all executed steps. Returns false if a window changes signals
 * at times before its start. Allocates nothing, never fails. */
bool receding_is_reproducible(const Receding* receding);
/* Prepares the optimization of the present window. The search begins with the result of the previous window and the
 * first contact of a schedule. Call optimization_start or optimization_load next. Allocates a new optimizer; never
 * fails. */
void receding_begin(Receding* receding);
/* Function that is called after every executed step, and once before the first step with report NULL. The execution
 * ends if the function returns a status other than STATUS_OK. */
typedef Status (*RecedingRecord)(void* context, Sim* sim, const StepReport* report);
/* Simulates the first steps of the window with its best design and advances to the next window. The last contact of a
 * schedule is used. Returns STATUS_BAD_INPUT if the simulation cannot start, STATUS_SOLVER with a diagnostic if a step
 * fails, otherwise the status of record (not NULL). After a failure the window is unchanged. Allocates temporary
 * memory. */
Status receding_execute(Receding* receding, RecedingRecord record, void* context, Diagnostics* diagnostics);
/* Moves the initial state of the present window and the present signal values into `scene`. The scene must have the
 * content of the task's file. Does nothing before the first window is executed. Afterwards the Receding can only be
 * destroyed. Never fails. */
void receding_move_start(Receding* receding, Scene* scene);
/* Creates the model of the executed run in its initial state, with the last contact of a schedule. Call before the
 * first window. Returns the status of model_create. The caller frees the model with model_destroy, after a failure
 * too. The model borrows the scene of the task. */
Status receding_executed_model(Receding* receding, Model* model, Diagnostics* diagnostics);
/* Returns the scene of the whole run of receding_steps steps, with the first initial state and the results so far.
 * The Receding owns the scene until the next call. Never NULL. */
const Scene* receding_scene(Receding* receding);
/* Evaluates the `success` terms of the executed run for optimization_success. Call when all windows are executed. The
 * values are NaN if no model can be built from the scene. Allocates temporary memory. */
void receding_evaluate_success(Receding* receding);
/* Adds all executed windows and the state of the present window to the file. inside: true if the optimization of the
 * present window has begun. Never fails. */
void receding_save(const Receding* receding, bool inside, NumberFile* checkpoint);
/* Loads the data that receding_save wrote and copies them. Sets *inside to the value that receding_save was given.
 * Call receding_replay next, then optimization_load if *inside is true. Returns false with diagnostics if the file
 * belongs to another task or is damaged. */
bool receding_load(Receding* receding, const NumberFile* checkpoint, bool* inside, Diagnostics* diagnostics);
/* Simulates the loaded windows again. record, statuses and allocation are as for receding_execute. After a failure
 * the remaining windows are not simulated. */
Status receding_replay(Receding* receding, RecedingRecord record, void* context, Diagnostics* diagnostics);

/* Compares the gradient of the summed loss with central differences along random directions. report[0] is for the
 * design variables, report[1] for the control variables. Failed runs appear in the report as NaN. Call after
 * optimization_start. Do not continue the optimization afterwards, because later simulations reuse the recorded
 * substeps. Allocates temporary memory. */
void optimization_gradcheck(Optimization* optimization, const GradcheckOptions* options,
                            GradcheckBlockReport report[2]);

#endif
