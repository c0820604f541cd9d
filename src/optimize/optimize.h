/* Optimization of the design and control variables of a task (docs/derivations/design.md). An Optimization borrows the
 * Task and changes its scenes; destroy it before the Task. Results do not depend on the number of threads. A search
 * that continues from a checkpoint gives the same bits as an uninterrupted one. */
#ifndef SDRS_OPTIMIZE_H
#define SDRS_OPTIMIZE_H

#include "differentiate/differentiate.h"

typedef struct Optimization Optimization;

/* Outcome of a trial: the design that an iteration proposes and evaluates. */
typedef enum {
  TRIAL_START, /* iteration 0: the initial design */
  TRIAL_ACCEPTED,
  TRIAL_ROSE,        /* the loss increased, and the method accepts only decreases */
  TRIAL_INVALID,     /* bodies intersect initially, a hull is too thin, or the scene is invalid */
  TRIAL_SOLVER,      /* a time step was not solved */
  TRIAL_NO_GRADIENT, /* a time step has no derivative */
  TRIAL_NOT_FINITE,  /* the loss is not finite */
} TrialOutcome;
/* Returns the text of an outcome in convergence.csv, for example "accepted". The text is static. */
const char* trial_outcome_text(TrialOutcome outcome);

/* Row of convergence.csv: the current design after an iteration, and the trial of the iteration. */
typedef struct {
  double loss;                      /* loss of the current design */
  double trial_loss;                /* loss of the trial; NaN if the trial was not evaluated */
  double grad_design, grad_control; /* Euclidean norms of the gradient at the current design: of its components for
                                       design variables, and of those for control variables */
  double step_design,
      step_control; /* largest absolute change of a variable by the trial, for the design and the control variables */
  double seconds;   /* wall time [s]; the only member that differs between equal searches */
  TrialOutcome outcome;
} OptimizationRow;

typedef enum {
  STOP_NOT_YET,
  STOP_ITERATIONS,
  STOP_LOSS,       /* the loss is at most the value of the task's key `stop_loss` */
  STOP_STALL,      /* no better design for as many iterations as the task's key `stall` gives */
  STOP_SHORT_STEP, /* steps became too short */
  STOP_FLAT,       /* the gradient is zero */
  STOP_INTERRUPTED,
} OptimizationStop;
/* Returns the reason why a search stopped, in words. The text is static. */
const char* optimization_stop_text(OptimizationStop stop);

typedef struct {
  int threads;
  bool (*interrupted)(void); /* returns true to interrupt the search, or NULL */
} OptimizationOptions;

/* Creates an optimization without simulating. Borrows and changes the task. Returns STATUS_BAD_INPUT with diagnostics
 * for an invalid task. The caller frees *optimization with optimization_destroy, also after errors. */
Status optimization_create(Optimization** optimization, Task* task, const OptimizationOptions* options,
                           Diagnostics* diagnostics);
/* Frees the optimization, not its task. Accepts NULL and an incomplete optimization. */
void optimization_destroy(Optimization* optimization);
/* Sets the initial values of the variables with the given names to values[count], projected onto the feasible set.
 * Returns how many names are variables of the task; other names are ignored. Names of earlier versions are accepted.
 * Call it before optimization_start. Allocates temporary memory. */
int optimization_set_initial(Optimization* optimization, const char* const* names, const double* values, int count);
/* Function of the variables that replaces the losses of the task. */
typedef struct {
  void* context; /* argument of `evaluate`, borrowed */
  /* Computes the function at x[variables], and gradient[variables] unless NULL. The results are valid if it returns
   * TRIAL_ACCEPTED. Sets *interrupted to true if interrupted. With MPI, every process calls it. */
  TrialOutcome (*evaluate)(void* context, const double* x, double* value, double* gradient, bool* interrupted);
  /* typical large change of each variable, > 0 (variables). Steps of the optimizer are fractions of it unless the task
   * gives steps */
  const double* unit;
  const bool* fixed; /* for each variable, true if it is fixed (variables); NULL if no variable is fixed */
} OptimizationFunction;
/* Makes the optimization minimize a function instead of the losses (update.md, O21). Bounds, constraints and optimizer
 * of the task stay in use. Call it before optimization_start and optimization_load. The terms of the task's losses are
 * then reported as 0. Gradient norms in OptimizationRow refer to variables divided by `unit`. Copies `unit` and
 * `fixed`, borrows the context. */
void optimization_set_function(Optimization* optimization, const OptimizationFunction* function);
/* Evaluates loss and gradient of the initial design (iteration 0). Returns STATUS_SOLVER or STATUS_BAD_INPUT with
 * diagnostics if the design fails, and STATUS_INTERRUPTED without a message. Call it once. Allocates memory. */
Status optimization_start(Optimization* optimization, Diagnostics* diagnostics);
/* Performs one iteration: proposes and evaluates a trial design. Adds a row to optimization_rows, which contains the
 * outcome of the trial. Returns STATUS_INTERRUPTED without a change if interrupted, otherwise STATUS_OK. Do not call it
 * after optimization_stop has returned a reason. Allocates memory. */
Status optimization_advance(Optimization* optimization);
/* Returns why the search has ended, or STOP_NOT_YET. */
OptimizationStop optimization_stop(const Optimization* optimization);
/* Returns the number of the last iteration; 0 is the initial design. */
int optimization_iteration(const Optimization* optimization);
/* Returns the rows of the iterations 0..optimization_iteration. Owned by the optimization, valid until
 * optimization_advance. */
const OptimizationRow* optimization_rows(const Optimization* optimization);
/* Returns the number of loss terms: the losses of the task, then the terms that `subject_to` bounds. */
int optimization_term_count(const Optimization* optimization);
/* Returns the name of a loss term, its column in convergence.csv. Owned by the optimization. */
const char* optimization_term_name(const Optimization* optimization, int term);
/* Returns the loss terms of an iteration [optimization_term_count], weighted and summed over scenarios. Owned by the
 * optimization, valid until optimization_advance. */
const double* optimization_terms(const Optimization* optimization, int iteration);
/* Returns the number of terms that the task's key `subject_to` bounds (constraints). They are the last loss terms. */
int optimization_bounded_term_count(const Optimization* optimization);
/* Returns the Lagrange multipliers of the terms that `subject_to` bounds, after an iteration
 * [optimization_bounded_term_count]. Owned by the optimization. */
const double* optimization_multipliers(const Optimization* optimization, int iteration);
/* Returns the largest violation of a constraint (task key `subject_to`) by the best design, relative to the bound of
 * the constraint. Returns -HUGE_VAL without constraints. */
double optimization_best_violation(const Optimization* optimization);
/* Returns the loss of the best design, without penalties. If the task changes the contact parameters by a schedule and
 * has reached the last ones, only designs simulated with these count. */
double optimization_best_loss(const Optimization* optimization);
/* Returns the iteration of the best design. */
int optimization_best_iteration(const Optimization* optimization);
/* Returns the index of the random start (task key `multistart`) whose search found the best design. */
int optimization_best_start(const Optimization* optimization);
/* Returns how many random starts of the search (task key `multistart`) failed. Sets *reason to that of the last
 * failure, or "" if unknown. The optimization owns the reason, valid until optimization_advance. */
int optimization_failed_starts(const Optimization* optimization, const char** reason);
/* Returns why the last trial was rejected, or "". Owned by the optimization, valid until optimization_advance. */
const char* optimization_reason(const Optimization* optimization);
int optimization_method_change_count(const Optimization* optimization);
/* Appends one line that describes how `optimizer: auto` changed the optimization method: iteration, reason and both
 * methods. 0 <= index < optimization_method_change_count. */
void optimization_add_method_change(const Optimization* optimization, int index, Text* out);
/* Returns the number of link pairs that intersected initially in a trial and were moved apart. */
int optimization_start_pair_count(const Optimization* optimization);
/* Returns the names "'a' and 'b'" of the link pair `index` that was moved apart at the start. 0 <= index <
 * optimization_start_pair_count. */
Excerpt optimization_start_pair(const Optimization* optimization, int index);
/* Returns the report of the gradient whose adjoint variable grew most backwards in time, of all iterations and
 * scenarios. All zero before the first gradient. */
AdjointReport optimization_adjoint(const Optimization* optimization);
/* Returns the time steps of the last runs whose solver residual is above the tolerance, for the scenario with the
 * largest residual. Sets *model to the model of this scenario, borrowed until optimization_advance. */
UnconvergedSteps optimization_unconverged(const Optimization* optimization, const Model** model);
/* Returns the time steps of the last runs whose friction iteration did not converge, for the scenario with most such
 * steps. Sets *model to the model of this scenario, borrowed until optimization_advance. */
UnconvergedSteps optimization_unconverged_friction(const Optimization* optimization, const Model** model);
/* Sets *forward and *adjoint to the wall time of all forward and adjoint runs [s]. */
void optimization_times(const Optimization* optimization, double* forward, double* adjoint);

/* Variable of the design or control, with values in its unit. */
typedef struct {
  const char* name;
  double initial, low, high, current, best;
  bool is_control;
  double scale;         /* typical large change of the variable */
  double prior;         /* standard deviation of the normal prior distribution around the initial value; 0: no prior */
  double step;          /* step size of the optimizer; 0: common step size of the design or of the control variables */
  SourcePosition place; /* task entry that defines it */
} OptimizationVariable;
/* Returns the number of variables of design and control. */
int optimization_variable_count(const Optimization* optimization);
/* Returns a variable, with 0 <= index < optimization_variable_count. The optimization owns the name. */
OptimizationVariable optimization_variable(const Optimization* optimization, int index);
/* Returns the scene of a scenario with the best or the current design. Owned by the optimization, valid until the next
 * call that returns a scene. */
const Scene* optimization_scene(Optimization* optimization, int scenario, bool best);
/* Returns the scene of a scenario with the design values[variables], which is not checked against bounds. Owned by the
 * optimization, valid until the next call that returns a scene. */
const Scene* optimization_scene_of(Optimization* optimization, int scenario, const double* values);
/* Builds the model of a scenario for the design values[variables]. Returns STATUS_BAD_INPUT with diagnostics for an
 * invalid design. The caller frees *model with model_destroy, also after errors. */
Status optimization_model(const Optimization* optimization, int scenario, const double* values, Model* model,
                          Diagnostics* diagnostics);
/* Computes the gradient of a loss by the adjoint method. recording: run of a model that optimization_model built.
 * seeds: derivatives of the loss with respect to the recorded quantities. discount: factor per time step on derivatives
 * that run_adjoint propagates backwards; 1 gives the exact gradient. If optimization is NULL, derivatives with respect
 * to joint frames and axes are omitted. The gradient is undefined if AdjointReport.sound is false. Allocates temporary
 * memory. */
AdjointReport optimization_run_adjoint(const Optimization* optimization, Recording* recording, const LossSeeds* seeds,
                                       double discount, int threads, ModelGradient* gradient);
/* Adds the derivatives of the loss with respect to the task's variables to slope[variables], by the chain rule.
 * gradient: derivatives of the loss with respect to the parameters of `model`, which optimization_model built. It must
 * include joint frames and axes if variables rotate them (asserted). */
void optimization_add_gradient(const Optimization* optimization, int scenario, const Model* model,
                               const ModelGradient* gradient, double* slope);
/* Returns true if a variable rotates a joint frame or axis. Otherwise the derivatives of the loss with respect to joint
 * frames and axes are not needed (ModelGradient.without_turns). */
bool optimization_rotates_joints(const Optimization* optimization);
/* Returns the scene of the last rejected trial in the scenario in which it failed, *scenario. Owned by the
 * optimization, valid until the next call that returns a scene. Undefined without a rejected trial. */
const Scene* optimization_trial_scene(Optimization* optimization, int* scenario);
/* Returns true if the design changes the shape of a link. */
bool optimization_changes_shape(const Optimization* optimization, int link);
/* Returns a text with one line for each vertex that was inserted to connect two hulls of a link, or "". Owned by the
 * optimization. */
const char* optimization_note(const Optimization* optimization);

/* Adds the hashes that identify the task (settings, variables, losses, scenes) to a checkpoint without such hashes. */
void optimization_write_identity(const Optimization* optimization, NumberFile* checkpoint);
/* Returns true if the checkpoint belongs to this task. Returns false with diagnostics for another or a changed task.
 * Allocates temporary memory. */
bool optimization_matches(const Optimization* optimization, const NumberFile* checkpoint, Diagnostics* diagnostics);
#define CHECKPOINT_KIND "checkpoint"
/* Copies the state of the optimization between two iterations to a file of kind CHECKPOINT_KIND. The caller frees the
 * file with number_file_free. */
void optimization_save(const Optimization* optimization, NumberFile* checkpoint);
/* Restores the state of the optimization from a checkpoint. Returns false with diagnostics if the checkpoint belongs to
 * another task or other settings; the optimization can then only be destroyed. The stop conditions and save_every may
 * differ from the checkpoint. */
bool optimization_load(Optimization* optimization, const NumberFile* checkpoint, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- evaluation of `success` (optimize/success.c) */

/* Term of the task's `success`, evaluated for the best design: the largest value over all scenarios. NaN before
 * optimization_evaluate_success and if a run failed. */
typedef struct {
  const char* name; /* owned by the optimization */
  double value, bound;
  bool met; /* true if `value` is at most `bound` */
} SuccessTerm;
/* Returns the number of `success` terms. */
int optimization_success_count(const Optimization* optimization);
/* Returns a `success` term, with 0 <= index < optimization_success_count. The optimization owns the name. */
SuccessTerm optimization_success(const Optimization* optimization, int index);
/* Returns true if the best design meets all `success` terms, or if there are none. Returns false before
 * optimization_evaluate_success. */
bool optimization_succeeded(const Optimization* optimization);
/* Simulates the best design and evaluates the `success` terms; they are NaN if a run fails. Every MPI process must call
 * it. Returns STATUS_INTERRUPTED without an evaluation if interrupted, otherwise STATUS_OK. Allocates temporary memory.
 */
Status optimization_evaluate_success(Optimization* optimization);
/* Simulates the best design with the random draws of `validation`. A failed run counts as not meeting `success`.
 * Returns STATUS_INTERRUPTED without a result if interrupted, otherwise STATUS_OK. optimization_destroy frees the
 * result. */
Status optimization_validate(Optimization* optimization);
/* Returns the number of validation draws per scenario, 0 before optimization_validate. */
int optimization_validation_tries(const Optimization* optimization);
/* Returns in how many validation draws of a scenario the best design met `success`. */
int optimization_validation_passed(const Optimization* optimization, int scenario);

/* ---------------------------------------------------------------- report on the search (optimize/advice.c) */
/* Numbers of trial designs that were rejected, by cause. invalid: the initial state or the scene was invalid. solver: a
 * time step was not solved, or gradient or loss were not usable. rose: the loss rose. */
typedef struct {
  int invalid, solver, rose;
} RejectedTrials;
RejectedTrials optimization_rejected(const Optimization* optimization);
/* Texts that say why a search ended and how the result can be improved. */
typedef struct {
  Text reason;   /* one line: reason, losses, best iteration */
  Text findings; /* lines: rejections, terms that fell and rose, active bounds, first failed `success` term */
  Text advice;   /* at most three lines: remedies with --set options; none if the task succeeded */
} OptimizationReport;
/* Writes the report on the search, after optimization_evaluate_success. interrupted: a signal ended the search, and the
 * report gives no advice. The caller frees the texts with optimization_report_free. */
void optimization_report(const Optimization* optimization, bool interrupted, OptimizationReport* report);
/* Frees the texts, not the struct. */
void optimization_report_free(OptimizationReport* report);

/* ---------------------------------------------------------------- discrete choices (optimize/choices.c) */

/* Search over the combinations of a task's discrete choices. The caller optimizes each combination and reports its
 * result, from which the next combination is selected. */
typedef struct ChoiceSearch ChoiceSearch;
/* Largest violation, relative to the bound, at which a bound of `subject_to` counts as satisfied. */
#define CHOICE_TOLERANCE 1e-6
/* Creates a search over the choices of a task. Borrows the task. The caller frees it with choice_search_destroy. */
ChoiceSearch* choice_search_create(const Task* task);
/* Frees the object. Accepts NULL. */
void choice_search_destroy(ChoiceSearch* search);
/* Returns the number of combinations to evaluate. */
int choice_search_count(const ChoiceSearch* search);
/* Selects the next combination of values: sets pick[k] to the index of the value of choice k. Returns false without a
 * change if all combinations are done. */
bool choice_search_next(ChoiceSearch* search, int* pick);
/* Reports the result of the last combination. violation: result of optimization_best_violation. meets: result of
 * optimization_succeeded. Returns true if it is the best result so far. Do not call it for a combination that cannot
 * run. */
bool choice_search_report(ChoiceSearch* search, double loss, double violation, bool meets);

/* ---------------------------------------------------------------- receding horizon (optimize/receding.c) */

/* Optimization of consecutive time windows of a long run. Each window has `horizon` steps. After its optimization the
 * first `apply` steps are executed, and the next window begins at the state reached. */
typedef struct Receding Receding;
typedef struct {
  int step; /* first step of the window in the whole run */
  int iterations;
  double initial_loss, loss;
  OptimizationStop stop;
  double seconds; /* wall time [s]; the only member that differs between equal runs */
} RecedingRow;

/* Creates a receding-horizon optimization. Sets the scenario's number of steps to one window. Borrows and changes the
 * task, which must outlive *out. Returns STATUS_BAD_INPUT with diagnostics for an invalid task. The caller frees *out
 * with receding_destroy, also after errors. */
Status receding_create(Receding** out, Task* task, const OptimizationOptions* options, Diagnostics* diagnostics);
/* Frees the object with its Optimization, and restores the initial state of the scene. Accepts NULL. */
void receding_destroy(Receding* receding);
/* Returns the optimization of the current window, the same object for all windows. Owned by the Receding. */
Optimization* receding_optimization(Receding* receding);
int receding_steps(const Receding* receding);
/* Returns the number of windows, at least 1. */
int receding_window_count(const Receding* receding);
/* Returns the index of the current window, or the number of windows if all are executed. */
int receding_window(const Receding* receding);
/* Returns one result for each executed window [receding_window]. Owned by the Receding. */
const RecedingRow* receding_rows(const Receding* receding);
/* Returns the loss terms of an executed window [optimization_term_count], with 0 <= window < receding_window. Owned by
 * the Receding. */
const double* receding_terms(const Receding* receding, int window);
/* Returns true if one simulation reproduces all executed steps. Returns false if the optimization of a window changed
 * control signals at times that were already executed. */
bool receding_is_reproducible(const Receding* receding);
/* Prepares the optimization of the current window. It begins with the result of the previous window and, if a schedule
 * changes the contact parameters, with the first ones. Call optimization_start or optimization_load next. */
void receding_begin(Receding* receding);
/* Callback after every executed step, and before the first step with report NULL. Any status but STATUS_OK ends the
 * execution. */
typedef Status (*RecedingRecord)(void* context, Sim* sim, const StepReport* report);
/* Executes the first steps of the window with its best design, and advances to the next window. If a schedule changes
 * the contact parameters, the last ones are used. Returns STATUS_BAD_INPUT if the simulation cannot start,
 * STATUS_SOLVER with a diagnostic if a step fails, otherwise the status of `record` (not NULL). The window is unchanged
 * after a failure. */
Status receding_execute(Receding* receding, RecedingRecord record, void* context, Diagnostics* diagnostics);
/* Moves the initial state and the signal values of the current window into `scene`, which must equal the task's scene.
 * Afterwards the Receding can only be destroyed. */
void receding_move_start(Receding* receding, Scene* scene);
/* Creates the model of the executed run in its initial state. If a schedule changes the contact parameters, the model
 * has the last ones. Call before the first window. Returns the status of model_create. The caller frees the model with
 * model_destroy, after a failure too. The model borrows the scene of the task. */
Status receding_executed_model(Receding* receding, Model* model, Diagnostics* diagnostics);
/* Returns the scene of the whole run, with the first initial state and the results so far. Owned by the Receding, valid
 * until the next call. */
const Scene* receding_scene(Receding* receding);
/* Evaluates the `success` terms of the executed run, for optimization_success. Call it when all windows are executed.
 * The terms are NaN if the scene is invalid. Allocates temporary memory. */
void receding_evaluate_success(Receding* receding);
/* Adds all executed windows and the current window to the checkpoint. inside: true if the optimization of the current
 * window has begun. */
void receding_save(const Receding* receding, bool inside, NumberFile* checkpoint);
/* Restores a copy of the state that receding_save wrote, with its flag *inside. Call receding_replay next, then
 * optimization_load if *inside is true. Returns false with diagnostics if the file belongs to another task or is
 * damaged. */
bool receding_load(Receding* receding, const NumberFile* checkpoint, bool* inside, Diagnostics* diagnostics);
/* Simulates the restored windows again and calls `record` after each step. Returns STATUS_BAD_INPUT, STATUS_SOLVER or
 * the status of `record`; the remaining windows are then not simulated. */
Status receding_replay(Receding* receding, RecedingRecord record, void* context, Diagnostics* diagnostics);

/* Compares the gradient of the loss with respect to the variables with central differences along random directions.
 * report[0]: design variables. report[1]: control variables. Call it after optimization_start. The optimization cannot
 * continue afterwards. Allocates temporary memory. */
void optimization_gradcheck(Optimization* optimization, const GradcheckOptions* options,
                            GradcheckBlockReport report[2]);

#endif
