/* optimize: variables of a task, update rules, and the optimization loop (SDRS sections III-B, V;
 * docs/derivations/design.md). An Optimization borrows the Task, changes its scenes, and must be destroyed before it.
 * Results do not depend on the number of threads. A run continued from a checkpoint is bit-identical to an
 * uninterrupted one. */
#ifndef SDRS_OPTIMIZE_H
#define SDRS_OPTIMIZE_H

#include "differentiate/differentiate.h"

typedef struct Optimization Optimization;

/* Outcome of the trial design of an iteration. */
typedef enum {
  TRIAL_START, /* iteration 0: the initial design */
  TRIAL_ACCEPTED,
  TRIAL_ROSE,        /* the loss rose, and the method requires descent */
  TRIAL_INVALID,     /* bodies intersect at the start, a hull is flat or too thin, or the scene is invalid */
  TRIAL_SOLVER,      /* a step was not solved */
  TRIAL_NO_GRADIENT, /* the run has no gradient: a singular Hessian */
  TRIAL_NOT_FINITE,  /* the loss is not finite */
} TrialOutcome;
/* Returns the text of convergence.csv: "accepted", "rejected_solver", ... Static, never NULL. Undefined for an invalid
 * outcome. */
const char* trial_outcome_text(TrialOutcome outcome);

/* A row of convergence.csv: the current design after an iteration, and the result of its trial. */
typedef struct {
  double loss;                      /* loss of the current design */
  double trial_loss;                /* NaN if undefined */
  double grad_design, grad_control; /* Euclidean norms of the gradient at the current design */
  double step_design, step_control; /* infinity norms of the trial's step */
  double seconds;                   /* wall time; the only number that differs between equal runs */
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
/* Returns the reason in words. Static, never NULL. Undefined for an invalid reason. */
const char* optimization_stop_text(OptimizationStop stop);

typedef struct {
  int threads;
  bool (*interrupted)(void); /* polled during runs; NULL: never */
} OptimizationOptions;

/* Creates an optimization: variables, losses and memory; simulates nothing. Borrows and changes the task, copies
 * options. Returns STATUS_BAD_INPUT with diagnostics on an error. *optimization is set in any case; the caller frees it
 * with optimization_destroy. */
Status optimization_create(Optimization** optimization, Task* task, const OptimizationOptions* options,
                           Diagnostics* diagnostics);
/* Frees the optimization, not its task. Accepts NULL or a partly built one. */
void optimization_destroy(Optimization* optimization);
/* Sets the initial values of variables given by name, as near to values[count] as bounds and constraints allow. Returns
 * the number of names[count] that are variables of the task; other names are ignored. Names of earlier versions are
 * accepted. values[count] in the units of the variables; non-finite values are not refused. Call before
 * optimization_start. Allocates temporarily. */
int optimization_begin_with(Optimization* optimization, const char* const* names, const double* values, int count);
/* A function of the variables that replaces the task's losses. */
typedef struct {
  void* context; /* borrowed */
  /* Evaluates the function at x (variables), and its derivatives (variables) unless gradient is NULL. Both are
   * undefined unless TRIAL_ACCEPTED is returned. *interrupted is false on entry and set when interrupted. All processes
   * call it. */
  TrialOutcome (*evaluate)(void* context, const double* x, double* value, double* gradient, bool* interrupted);
  /* a large change of each variable, > 0 (variables): the steps of the optimizer are fractions of it, except for
   * variables with a step in the task */
  const double* unit;
  const bool* held; /* fixed variables; NULL: none (variables) */
} OptimizationFunction;
/* Makes the optimization minimize `function` instead of the task's losses, within the task's bounds and constraints, by
 * the task's optimizer. Call before optimization_start or optimization_load (not checked). The values of all loss terms
 * are then reported as 0. Norms of gradients and steps in the rows refer to variables divided by their units. Copies
 * unit and held; borrows the context. (O21) */
void optimization_minimise(Optimization* optimization, const OptimizationFunction* function);
/* Runs the initial design (iteration 0) in all scenarios, with its gradient. Returns STATUS_SOLVER or STATUS_BAD_INPUT
 * with diagnostics if the design fails, STATUS_INTERRUPTED without a message. Must be called once. Allocates. */
Status optimization_start(Optimization* optimization, Diagnostics* diagnostics);
/* Performs one iteration and adds its row. If the trial is rejected, returns STATUS_OK, and the row holds the outcome.
 * STATUS_INTERRUPTED: nothing has changed. Must not be called after optimization_stop returns a reason. Allocates while
 * runs need more memory. */
Status optimization_advance(Optimization* optimization);
/* Returns why the search has ended, or STOP_NOT_YET. Allocates nothing, never fails. */
OptimizationStop optimization_stop(const Optimization* optimization);
/* Returns the number of the last iteration; 0 is the initial design. Allocates nothing, never fails. */
int optimization_iteration(const Optimization* optimization);
/* Returns the rows of iterations 0 ... optimization_iteration, owned by the optimization until it advances. Undefined
 * before optimization_start. */
const OptimizationRow* optimization_rows(const Optimization* optimization);
/* Returns the number of terms of the loss, the length of each row of optimization_terms. Fixed by optimization_create;
 * never fails. */
int optimization_term_count(const Optimization* optimization);
/* Returns the name of a term, the header of its column. Owned by the optimization, never NULL. Undefined for a term out
 * of range, unchecked. */
const char* optimization_term_name(const Optimization* optimization, int term);
/* Returns the terms (optimization_term_count) of an iteration's row, weighted and summed over scenarios. Owned by the
 * optimization until it advances. Undefined for an iteration out of range, unchecked. */
const double* optimization_terms(const Optimization* optimization, int iteration);
/* Returns the number of terms of subject_to, which are the last terms, and the length of each row of
 * optimization_multipliers. Never fails. */
int optimization_subject_count(const Optimization* optimization);
/* Returns the multipliers (optimization_subject_count) of an iteration's row. Owned by the optimization. Undefined for
 * an iteration out of range, unchecked. */
const double* optimization_multipliers(const Optimization* optimization, int iteration);
/* Returns the largest violation of the best design, relative to its bound; -HUGE_VAL without bounds. Never fails,
 * allocates nothing. */
double optimization_best_violation(const Optimization* optimization);
/* Returns the loss of the best design so far, in the task's units, without the terms of multipliers. With a schedule,
 * designs from before its last contact do not count once that is reached. Never fails, allocates nothing. */
double optimization_best_loss(const Optimization* optimization);
/* Returns the iteration of the best design, a row of optimization_rows. Never fails, allocates nothing. */
int optimization_best_iteration(const Optimization* optimization);
int optimization_best_start(
    const Optimization* optimization); /* Returns the number, from 0, of the start that found the best design. */
/* Returns the number of starts of `multistart` that could not begin. Sets *reason to the reason of the last of them, ""
 * if unknown; owned by the optimization until it advances. Allocates nothing, never fails. */
int optimization_unstarted(const Optimization* optimization, const char** reason);
/* Returns the reason for the last rejection, "" if the last trial was accepted. Owned by the optimization until it
 * advances. */
const char* optimization_reason(const Optimization* optimization);
/* Returns the number of method changes by `optimizer: auto`. Allocates nothing, never fails. */
int optimization_method_change_count(const Optimization* optimization);
/* Appends a method change 0 ... count - 1 to a text: iteration, reason and methods, one line without line end.
 * Allocates in out. */
void optimization_add_method_change(const Optimization* optimization, int index, Text* out);
/* Returns the number of link pairs that have limited the design so far: a trial in which they intersect in the initial
 * state was moved until they do not. Allocates nothing, never fails. */
int optimization_start_pair_count(const Optimization* optimization);
/* Returns pair index (0 ... optimization_start_pair_count - 1), in order of detection, as text: "'a' and 'b'". */
Excerpt optimization_start_pair(const Optimization* optimization, int index);
/* Returns the report of the adjoint that computed the last gradient. Undefined before optimization_start. */
AdjointReport optimization_adjoint(const Optimization* optimization);
/* Returns the steps of the last evaluated runs that ended with a residual above the tolerance, for the scenario with
 * the largest residual. Sets *model to the model of that scenario, borrowed until the optimization advances. */
UnconvergedSteps optimization_unconverged(const Optimization* optimization, const Model** model);
/* Does the same as optimization_unconverged, for the scenario with the most steps in which friction did not
 * converge. */
UnconvergedSteps optimization_friction_open(const Optimization* optimization, const Model** model);
/* Sets *forward and *adjoint to the wall time of all forward runs and of all adjoints so far [s]. Neither pointer may
 * be NULL. Allocates nothing. */
void optimization_times(const Optimization* optimization, double* forward, double* adjoint);

/* A variable: name, initial value, bounds, present and best value. */
typedef struct {
  const char* name;
  double initial, low, high, now, best;
  bool is_control;
  double scale;      /* a large change */
  double prior;      /* standard deviation of prior knowledge; 0: none */
  double step;       /* optimizer step of the variable; 0: step of the block */
  SourcePlace place; /* task entry that created it */
} OptimizationVariable;
/* Returns the number of variables of design and control, the length of every `values` and `slope` below. Never fails.
 */
int optimization_variable_count(const Optimization* optimization);
/* Returns a variable 0 ... count - 1, in its unit (m, rad, ...). The optimization owns its name. Undefined for an index
 * out of range, unchecked. */
OptimizationVariable optimization_variable(const Optimization* optimization, int index);
/* Returns the scene of a scenario with the numbers of the best design if `best`, else of the current one. Owned by the
 * optimization until one of these functions is called again. scenario: 0 ... scenario_count - 1, unchecked. */
const Scene* optimization_scene(Optimization* optimization, int scenario, bool best);
/* As optimization_scene with values[variables] of the caller. Values are not checked against bounds, constraints or for
 * being finite. */
const Scene* optimization_scene_of(Optimization* optimization, int scenario, const double* values);
/* Builds a scenario's model with values[variables]. The caller frees *model with model_destroy, also after a failure.
 * Returns STATUS_BAD_INPUT with diagnostics as model_create does. */
Status optimization_model(const Optimization* optimization, int scenario, const double* values, Model* model,
                          Diagnostics* diagnostics);
/* Sets `gradient` to the gradient of a loss over a recorded run by the adjoint method, with every derivative that
 * optimization_chain reads. optimize, gradcheck, identify and the library all use this function. optimization NULL:
 * there are no variables, and derivatives with respect to joint frames and axes are not computed (without_turns). The
 * recording must be of a model of optimization_model. seeds: derivatives of the loss with respect to the recorded
 * quantities. discount: as of run_adjoint. Without a sound report gradient is undefined. Allocates temporarily. */
AdjointReport optimization_adjoint_of(const Optimization* optimization, Recording* recording, const LossSeeds* seeds,
                                      double discount, int threads, ModelGradient* gradient);
/* Chain rule: adds to slope[variables] the derivatives with respect to the variables that follow from `gradient`, the
 * derivatives with respect to the numbers of `model`. The model must be one of optimization_model (not checked).
 * Asserts that gradient has derivatives with respect to joint frames and axes if variables rotate them. Never fails. */
void optimization_chain(const Optimization* optimization, int scenario, const Model* model,
                        const ModelGradient* gradient, double* slope);
/* Returns true if some variable rotates a joint frame or axis. If not, the chain rule needs no derivatives with respect
 * to them (ModelGradient.without_turns). Allocates nothing, never fails. */
bool optimization_turns_joints(const Optimization* optimization);
/* Returns the scene of the last rejected trial in the scenario that failed, and sets *scenario to its number. Ownership
 * as of optimization_scene. Undefined if no trial was rejected. */
const Scene* optimization_trial_scene(Optimization* optimization, int* scenario);
/* Returns true if the shape of a link is a design variable. link < number of links, unchecked. Allocates nothing. */
bool optimization_shapes_link(const Optimization* optimization, int link);
/* Returns a report of vertices inserted to connect hulls, one line each; "" if none. Owned by the optimization, never
 * NULL. */
const char* optimization_note(const Optimization* optimization);

/* Adds the identity of the task (settings, variables, losses, scenes) to a checkpoint. Asserts that the file has no
 * such words yet. */
void optimization_note_identity(const Optimization* optimization, NumberFile* checkpoint);
/* Returns true if the checkpoint belongs to this task. Returns false, with diagnostics, if the checkpoint belongs to
 * another task or the task has changed since. Allocates temporarily. */
bool optimization_is_of(const Optimization* optimization, const NumberFile* checkpoint, Diagnostics* diagnostics);
#define CHECKPOINT_KIND "checkpoint"
/* Adds the whole state between two iterations to a file of this kind, copied. The caller owns the file:
 * number_file_free. Never fails. */
void optimization_save(const Optimization* optimization, NumberFile* checkpoint);
/* Restores the state from a checkpoint, which is only read; copies what it needs. Returns false, with diagnostics, if
 * the checkpoint belongs to another task or to other settings; the optimization may then be partly loaded and must be
 * destroyed. The number of iterations, the other stop conditions and save_every may differ. */
bool optimization_load(Optimization* optimization, const NumberFile* checkpoint, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- evaluation of the result (optimize/success.c)
 * A term of the task's `success` for the run of the best design: its largest value over all scenarios. NaN before
 * optimization_judge, and if the run failed. */
typedef struct {
  const char* name; /* owned by the optimization */
  double value, bound;
  bool met; /* value <= bound */
} SuccessTerm;
/* Returns the number of `success` terms; 0 without them. Allocates nothing, never fails. */
int optimization_success_count(const Optimization* optimization);
/* Returns a copy of term 0 ... count - 1. Its value is NaN until optimization_judge. The optimization owns the name.
 * Undefined for an index out of range, unchecked. */
SuccessTerm optimization_success(const Optimization* optimization, int index);
/* Returns true if all terms are met, or there are none; false before optimization_judge. Allocates nothing, never
 * fails. */
bool optimization_succeeded(const Optimization* optimization);
/* Runs the best design again and evaluates the `success` terms. All processes call it. Returns STATUS_INTERRUPTED if a
 * run was interrupted; the terms are then not evaluated. Otherwise returns STATUS_OK, also if the task has no terms or
 * a run fails; after a failed run the values are NaN. Allocates temporarily. */
Status optimization_judge(Optimization* optimization);
/* Runs the best design with the draws of the task's `validation` (optimize/validation.c). A failed run counts as a draw
 * that does not meet `success`, not as an error. Returns STATUS_INTERRUPTED if a run was interrupted; no result is then
 * stored. Otherwise returns STATUS_OK, also if the task has no validation. Allocates the result, freed by
 * optimization_destroy. */
Status optimization_validate(Optimization* optimization);
/* Returns the number of validation draws per scenario; 0 before validation or without it. Allocates nothing, never
 * fails. */
int optimization_validation_tries(const Optimization* optimization);
/* Returns how many draws of a scenario met all terms of `success`. scenario is not checked. Allocates nothing, never
 * fails. */
int optimization_validation_held(const Optimization* optimization, int scenario);

/* ---------------------------------------------------------------- how it ended (optimize/advice.c) */
/* Numbers of rejected trials, by reason: bodies intersect or a loop is open at the start; a step was not solved or has
 * no gradient; the loss rose. */
typedef struct {
  int invalid, solver, rose;
} RejectedTrials;
/* Counts the rejected trials of all rows. Allocates nothing, never fails. */
RejectedTrials optimization_rejected(const Optimization* optimization);
/* Report, as text, why a search ended and how to improve the result. */
typedef struct {
  Text stopped;  /* one line without line end: reason, losses, best iteration */
  Text findings; /* lines: rejections, terms that fell and rose, active bounds, the first failing `success` term */
  Text advice;   /* at most three lines: remedies, each with its exact --set options; none if the task succeeded */
} OptimizationReport;
/* Writes the report. Call after optimization_judge. interrupted: a signal ended the search; no advice is then given.
 * Runs nothing. The caller frees the texts with optimization_report_free. Never fails. */
void optimization_report(const Optimization* optimization, bool interrupted, OptimizationReport* report);
/* Frees the texts, not the struct. */
void optimization_report_free(OptimizationReport* report);

/* ---------------------------------------------------------------- discrete choices
 * (optimize/choices.c) Combinations of a task's choices. Each is optimized on its own, and its result is passed to the
 * search before the next combination is chosen. */
typedef struct ChoiceSearch ChoiceSearch;
/* Relative violation up to which a bound of subject_to counts as satisfied. */
#define CHOICE_EXCESS 1e-6
/* Returns a search over the task's choices. Borrows the task, which must have choices. The caller frees it with
 * choice_search_destroy. Never NULL. */
ChoiceSearch* choice_search_create(const Task* task);
/* Frees the search. Accepts NULL. */
void choice_search_destroy(ChoiceSearch* search);
/* Returns the number of combinations to evaluate. Allocates nothing, never fails. */
int choice_search_tries(const ChoiceSearch* search);
/* Sets pick[choices] to the next combination (number of each value, from 0). False: all are done; pick is unchanged.
 * Allocates nothing. */
bool choice_search_next(ChoiceSearch* search, int* pick);
/* Passes the result of the last combination to the search. violation: optimization_best_violation; meets:
 * optimization_succeeded. Do not call it for a combination that cannot run. Returns true if the result is the best so
 * far; false also if a number is not finite. Allocates nothing. */
bool choice_search_tell(ChoiceSearch* search, double loss, double violation, bool meets);

/* ---------------------------------------------------------------- receding horizon (optimize/receding.c)
 * Consecutive windows of `horizon` steps are optimized. The first `apply` steps of each are executed, and the next
 * window begins at the state reached. The executed steps form one continuous run; receding_is_one_run returns whether
 * one scene reproduces it. */
typedef struct Receding Receding;
/* Result of a window. */
typedef struct {
  int step; /* step of the whole run at which it begins */
  int iterations;
  double initial_loss, loss;
  OptimizationStop stop;
  double seconds; /* wall time; the only number that differs between equal runs */
} RecedingRow;

/* Creates a receding-horizon optimization for a task with `receding`; the scenario's run becomes one window. Changes
 * and borrows the task, which must outlive it; copies options. Returns STATUS_BAD_INPUT with diagnostics. Free with
 * receding_destroy in any case. */
Status receding_create(Receding** out, Task* task, const OptimizationOptions* options, Diagnostics* diagnostics);
/* Frees it with its optimization and restores the scene's initial state; the task stays. Accepts NULL. */
void receding_destroy(Receding* receding);
/* Returns the optimization of the present window: the same object in all windows, owned by the receding. Never NULL
 * after receding_create returned STATUS_OK. */
Optimization* receding_optimization(Receding* receding);
/* Returns the total number of steps to execute. Allocates nothing, never fails. */
int receding_steps(const Receding* receding);
/* Returns the number of windows (>= 1); the last may execute fewer steps. Allocates nothing, never fails. */
int receding_window_count(const Receding* receding);
/* Returns the present window, from 0; the number of windows when all are executed. Allocates nothing, never fails. */
int receding_window(const Receding* receding);
/* Returns a row for each executed window (receding_window). Owned by the receding. Undefined beyond. */
const RecedingRow* receding_rows(const Receding* receding);
/* Returns the terms of an executed window's loss (optimization_term_count). Owned by the receding. window: 0 ...
 * receding_window - 1, unchecked. */
const double* receding_terms(const Receding* receding, int window);
/* Returns true if one scene reproduces the executed steps. False if a window changes signals before its start.
 * Allocates nothing, never fails. */
bool receding_is_one_run(const Receding* receding);
/* Begins the present window's optimization with the previous result, under the first contact of a schedule. Call
 * optimization_start or _load next. Allocates a new optimizer; never fails. */
void receding_begin(Receding* receding);
/* Called after every executed step, and once before the first with report NULL. Any status but STATUS_OK ends the
 * execution. */
typedef Status (*RecedingRecord)(void* context, Sim* sim, const StepReport* report);
/* Executes the first steps of the window with the result, under the last contact of a schedule, and advances to the
 * next window. Returns STATUS_SOLVER with a diagnostic if a step fails, STATUS_BAD_INPUT if it cannot start, otherwise
 * the status of record (not NULL). After a failure the window is unchanged. Allocates temporarily. */
Status receding_execute(Receding* receding, RecedingRecord record, void* context, Diagnostics* diagnostics);
/* Moves the state at the start of the present window, and the present signal numbers, into a scene with the content of
 * the task's file. Does nothing before the first window. Afterwards the receding can only be destroyed. Never fails. */
void receding_hand_over(Receding* receding, Scene* scene);
/* Returns the scene of the whole run with the results so far: first initial state, receding_steps steps. Owned by the
 * receding until the next call. Never NULL. */
const Scene* receding_scene(Receding* receding);
/* Evaluates the executed run, when complete, for optimization_success. Values are NaN if the scene gives no model.
 * Allocates temporarily. */
void receding_judge(Receding* receding);
/* Adds all executed windows and the state of the present one to the file. inside: the present window's optimization has
 * begun. Never fails. */
void receding_save(const Receding* receding, bool inside, NumberFile* checkpoint);
/* Reads the data of receding_save. Call receding_repeat next, then optimization_load if *inside was set. False, with
 * diagnostics, if the file belongs to another task or is damaged. The checkpoint is copied. */
bool receding_load(Receding* receding, const NumberFile* checkpoint, bool* inside, Diagnostics* diagnostics);
/* Executes the loaded windows again; record, statuses and allocation as of receding_execute. After a failure the
 * remaining windows are not executed. */
Status receding_repeat(Receding* receding, RecedingRecord record, void* context, Diagnostics* diagnostics);

/* Compares the gradient of the summed loss by design (report[0]) and control variables (report[1]) with central
 * differences along random directions. Call after optimization_start. Afterwards runs repeat their substeps, so the
 * optimization cannot be continued. Failed runs appear in the report as NaN. Allocates temporarily. */
void optimization_gradcheck(Optimization* optimization, const GradcheckOptions* options,
                            GradcheckBlockReport report[2]);

#endif
