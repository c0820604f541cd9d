/* optimize: a task's variables, update rules, and the loop that designs (SDRS sections III-B, V;
 * docs/derivations/design.md). An Optimization borrows the Task, whose scenes it rewrites, and must be destroyed before
 * it. Results do not depend on the number of threads, and a loaded checkpoint goes on bit by bit as the run that wrote
 * it would have. */
#ifndef SDRS_OPTIMIZE_H
#define SDRS_OPTIMIZE_H

#include "differentiate/differentiate.h"

typedef struct Optimization Optimization;

/* What became of an iteration's trial. */
typedef enum {
  TRIAL_START, /* iteration 0: the initial design */
  TRIAL_ACCEPTED,
  TRIAL_ROSE,        /* the loss rose where the method wants descent */
  TRIAL_INVALID,     /* bodies intersect at the start, a hull is flat or too thin, or the scene is refused */
  TRIAL_SOLVER,      /* a step was not solved */
  TRIAL_NO_GRADIENT, /* the run has no gradient: a singular Hessian */
  TRIAL_NOT_FINITE,  /* the loss is no number */
} TrialOutcome;
/* Constant, as convergence.csv has it: "accepted", "rejected_solver", ... Never NULL, not to be freed; undefined for
 * what is no TrialOutcome. */
const char* trial_outcome_text(TrialOutcome outcome);

/* A row of convergence.csv: where the optimization stands after an iteration, and what its trial gave. */
typedef struct {
  double loss;                      /* of the design that stands */
  double trial_loss;                /* NaN when there is none */
  double grad_design, grad_control; /* Euclidean norms of the gradient of the design that stands */
  double step_design, step_control; /* infinity norms of the trial's step */
  double seconds;                   /* of wall time; the only number that differs between equal runs */
  TrialOutcome outcome;
} OptimizationRow;

typedef enum {
  STOP_NOT_YET,
  STOP_ITERATIONS,
  STOP_LOSS,       /* below stop_loss */
  STOP_STALL,      /* no better design for `stall` iterations */
  STOP_SHORT_STEP, /* trials are refused until the step has become too short */
  STOP_FLAT,       /* the gradient is zero */
  STOP_INTERRUPTED,
} OptimizationStop;
/* Constant, in words for a user. Never NULL, not to be freed; undefined for what is no OptimizationStop. */
const char* optimization_stop_text(OptimizationStop stop);

typedef struct {
  int threads;
  bool (*interrupted)(void); /* NULL: never */
} OptimizationOptions;

/* Set up variables, losses, memory. STATUS_BAD_INPUT with diagnostics. Nothing is run yet. task is borrowed and
 * changed, options are copied. *optimization is set in any case, for optimization_destroy. */
Status optimization_create(Optimization** optimization, Task* task, const OptimizationOptions* options,
                           Diagnostics* diagnostics);
/* Frees it, not its task; a half-built one and NULL are accepted. */
void optimization_destroy(Optimization* optimization);
/* Begin with these values of variables by their names, where the task has them, as near as its bounds and constraints
 * allow; how many it has. Before optimization_start. names[count] and values[count], in the units of the variables, are
 * read only; unknown names are passed over. A value that is not finite is not refused here. Allocates for the time
 * of the call. */
int optimization_begin_with(Optimization* optimization, const char* const* names, const double* values, int count);
/* Another function of the same variables in place of the task's losses. */
typedef struct {
  void* context; /* borrowed */
  /* Its value at x (variables), and where gradient is not NULL its derivatives (variables). Anything but
   * TRIAL_ACCEPTED: both are of no use. *interrupted is false before, and set where it was cut short. All processes
   * call it. */
  TrialOutcome (*evaluate)(void* context, const double* x, double* value, double* gradient, bool* interrupted);
  /* > 0, of what counts as a large change: steps of the optimizer are parts of it (variables), but of those that the
   * task gives a step */
  const double* unit;
  const bool* held; /* left where they begin; NULL: none (variables) */
} OptimizationFunction;
/* Before optimization_start or _load: make the function small, within the task's bounds and constraints, by its
 * optimizer; all that follows is as of a loss, in one term that is 0. Norms of gradients and steps in the rows are
 * those of variables in units. unit and held are copied.                                                        (O21).
 * Called after optimization_start it is an error of the caller, not checked. */
void optimization_minimise(Optimization* optimization, const OptimizationFunction* function);
/* The initial design (iteration 0). It must run: STATUS_SOLVER, STATUS_BAD_INPUT with diagnostics.
 * STATUS_INTERRUPTED: it was cut short, without a message. Runs all scenarios, forward and backward. Twice is an
 * error of the caller. Allocates what a first run needs. */
Status optimization_start(Optimization* optimization, Diagnostics* diagnostics);
/* One more iteration. STATUS_INTERRUPTED: nothing has changed since the iteration before. A trial that fails is no
 * failure but a row with its outcome: STATUS_OK. Not after optimization_stop says that it has ended. Allocates while
 * runs need more than those before. */
Status optimization_advance(Optimization* optimization);
/* Why it has ended; STOP_NOT_YET: it has not. Asking allocates nothing, never fails. */
OptimizationStop optimization_stop(const Optimization* optimization);
/* The last iteration that is done, counted from 0, the initial design. Asking allocates nothing, never fails. */
int optimization_iteration(const Optimization* optimization);
/* A row for each of the iterations 0 ... optimization_iteration; owned by the optimization until it advances. Not to
 * be freed; undefined before optimization_start. */
const OptimizationRow* optimization_rows(const Optimization* optimization);
/* How many terms a loss has. The length of each row of optimization_terms. Fixed by optimization_create; never
 * fails. */
int optimization_term_count(const Optimization* optimization);
/* Name of a term 0 ... optimization_term_count - 1, the header of its column; owned by the optimization. Undefined
 * beyond, not checked; never NULL. */
const char* optimization_term_name(const Optimization* optimization, int term);
/* Terms (optimization_term_count) in the row of an iteration, weighted and summed over scenarios; owned by the
 * optimization until it advances. iteration: 0 ... optimization_iteration. Undefined beyond, not checked. */
const double* optimization_terms(const Optimization* optimization, int iteration);
/* How many of the terms are those of subject_to, the last of them all. The length of each row of
 * optimization_multipliers; 0: nothing is bounded. Never fails. */
int optimization_subject_count(const Optimization* optimization);
/* Their multipliers (optimization_subject_count) in the row of an iteration; owned by the optimization. An iteration
 * beyond is undefined, not checked; not to be freed. */
const double* optimization_multipliers(const Optimization* optimization, int iteration);
/* The largest excess over a bound of the best design, relative to the bound; -HUGE_VAL: nothing is bounded. Without
 * unit. Asking never fails, allocates nothing. */
double optimization_best_violation(const Optimization* optimization);
/* Loss of the best design so far, of a schedule under its last contact. In the task's own units, without
 * multipliers. Asking never fails, allocates nothing. */
double optimization_best_loss(const Optimization* optimization);
/* The iteration that it is of: a row of optimization_rows. Asking never fails, allocates nothing. */
int optimization_best_iteration(const Optimization* optimization);
int optimization_best_start(const Optimization* optimization); /* of several, from 0: that iteration's */
/* What the last refused trial failed of, in words ("" when it was not); owned by the optimization until it advances. */
const char* optimization_reason(const Optimization* optimization);
/* How often `optimizer: auto` has changed its method. Asking allocates nothing, never fails. */
int optimization_method_change_count(const Optimization* optimization);
/* Adds one of these changes, 0 ... count - 1, to a text: iteration, reason, methods, as one line without an end.
 * Allocates in out. */
void optimization_add_method_change(const Optimization* optimization, int index, Text* out);
/* How many pairs of links have limited designs so far: a trial would have let them intersect at the start, and was
 * moved until they do not. Asking allocates nothing, never fails. */
int optimization_start_pair_count(const Optimization* optimization);
/* One of them, 0 ... count - 1, in the order in which they were found: "'a' and 'b'". By value. */
Excerpt optimization_start_pair(const Optimization* optimization, int index);
/* How the last gradient was found. Undefined before optimization_start; copied out. */
AdjointReport optimization_adjoint(const Optimization* optimization);
/* Returns the steps of the last evaluated runs that ended above the tolerance, of the scenario with the largest
 * residual. *model: its model, borrowed until the optimization advances. */
UnconvergedSteps optimization_unconverged(const Optimization* optimization, const Model** model);
/* The same of the scenario with the most steps whose friction did not settle. */
UnconvergedSteps optimization_friction_open(const Optimization* optimization, const Model** model);
/* Seconds of wall time in forward runs and in adjoints so far; neither pointer may be NULL. Nothing is allocated. */
void optimization_times(const Optimization* optimization, double* forward, double* adjoint);

/* Variables: name, initial value, bounds, value now and in the best design. */
typedef struct {
  const char* name;
  double initial, low, high, now, best;
  bool is_control;
  double scale;      /* a change that counts as large */
  double prior;      /* standard deviation of what is known beforehand; 0: nothing */
  double step;       /* of its own, of the optimizer; 0: the block's */
  SourcePlace place; /* in the task, of what asked for it */
} OptimizationVariable;
/* How many variables there are, of the design and of control together. The length of every `values` and `slope`
 * below. Asking never fails. */
int optimization_variable_count(const Optimization* optimization);
/* One of them, 0 ... count - 1, in the unit of the variable (m, rad, ...); its name is owned by the optimization.
 * Undefined beyond, not checked. */
OptimizationVariable optimization_variable(const Optimization* optimization, int index);
/* A scenario's scene with the best (or the present) design, to be written or built from. It is the optimization's,
 * until one of these is called again. scenario: 0 ... scenario_count - 1. Not to be freed. Another number is
 * undefined, not checked. */
const Scene* optimization_scene(Optimization* optimization, int scenario, bool best);
/* The same with values[variables] of the caller's own, which are only read; owned and valid likewise. Values are
 * not held to bounds or constraints, nor checked to be finite. */
const Scene* optimization_scene_of(Optimization* optimization, int scenario, const double* values);
/* A scenario's model with values[variables] of the caller's own. The caller owns *model: model_destroy, also where
 * it was not built. STATUS_BAD_INPUT with diagnostics, as model_create. values are only read; overrides that are
 * made of them are copied. */
Status optimization_model(const Optimization* optimization, int scenario, const double* values, Model* model,
                          Diagnostics* diagnostics);
/* Computes the gradient of a recorded run by the adjoint method, with every derivative that optimization_chain reads.
 * The one path for all gradients by variables: optimize, gradcheck, identify and the library.
 * optimization NULL: there are no variables, and derivatives by joint frames and axes are left out (without_turns).
 * The recording's model is one of optimization_model. discount: as of run_adjoint. gradient is cleared first.
 * Allocates for the time of the call. Without a sound report gradient is none. */
AdjointReport optimization_adjoint_of(const Optimization* optimization, Recording* recording, const LossSeeds* seeds,
                                      double discount, int threads, ModelGradient* gradient);
/* The chain rule from the gradient by such a model back to the variables, added to slope[variables]. Allocates
 * nothing that lasts. model must be of optimization_model, with as many numbers; that is not checked. Never fails.
 * Asserts that gradient has derivatives by joint frames and axes where variables rotate them. */
void optimization_chain(const Optimization* optimization, int scenario, const Model* model,
                        const ModelGradient* gradient, double* slope);
/* Do frames or axes of joints vary? Else the chain rule asks for no derivatives by them (ModelGradient.without_turns).
 * Asking allocates nothing, never fails. */
bool optimization_turns_joints(const Optimization* optimization);
/* The last trial, which was refused: its design in the scene of the scenario whose run failed. *scenario: its
 * number. Owned and valid as that of optimization_scene. Undefined when none was refused yet. */
const Scene* optimization_trial_scene(Optimization* optimization, int* scenario);
/* Is the shape of a link 0 ... links - 1 of the scenarios designed? Another number is undefined, not checked.
 * Allocates nothing. */
bool optimization_shapes_link(const Optimization* optimization, int link);
/* What import inserted to keep hulls together; one line each, "" if nothing. Owned by the optimization. Never NULL,
 * not to be freed. */
const char* optimization_note(const Optimization* optimization);

/* Adds to a file what a checkpoint must be of: settings, variables, losses and scenes of the task. The file stays
 * the caller's; its words must be new to it (asserted). */
void optimization_note_identity(const Optimization* optimization, NumberFile* checkpoint);
/* Is it of this task? false, with diagnostics: of another, or of one that was changed since. Allocates for the time
 * of the call; neither is changed. */
bool optimization_is_of(const Optimization* optimization, const NumberFile* checkpoint, Diagnostics* diagnostics);
#define CHECKPOINT_KIND "checkpoint"
/* Adds the whole state between two iterations to a file of this kind, copied. The caller owns the file:
 * number_file_free. Never fails. */
void optimization_save(const Optimization* optimization, NumberFile* checkpoint);
/* false, with diagnostics: a checkpoint of another task, or of other settings. What may differ: the number of
 * iterations, the other conditions to stop, and save_every. The checkpoint is only read. After false the
 * optimization may be half loaded: destroy it. Copies what it keeps. */
bool optimization_load(Optimization* optimization, const NumberFile* checkpoint, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- what the result is judged by (optimize/success.c)
 * A term of the task's `success` on the run that was found, the largest of all scenarios; NaN before it is judged, and
 * when the run fails. */
typedef struct {
  const char* name; /* the optimization's */
  double value, bound;
  bool met; /* value <= bound */
} SuccessTerm;
/* How many terms `success` has; 0: the task has none. Asking allocates nothing, never fails. */
int optimization_success_count(const Optimization* optimization);
/* One of them, 0 ... count - 1. The value is NaN until optimization_judge; the name is the optimization's. An index
 * beyond is undefined, not checked; copied out. */
SuccessTerm optimization_success(const Optimization* optimization, int index);
/* Are all met? true where there are no terms; false before they are judged. Asking allocates nothing, never fails. */
bool optimization_succeeded(const Optimization* optimization);
/* Run the best design once more, and judge it. All processes call it. STATUS_INTERRUPTED: it is not judged.
 * STATUS_OK without terms too, and where the best design's run fails: its values are NaN then. Allocates for the
 * time of the call. */
Status optimization_judge(Optimization* optimization);
/* Try the best design on the draws of the task's `validation` (optimize/validation.c). STATUS_INTERRUPTED: nothing is
 * known of any. STATUS_OK where none are asked for. Allocates what it keeps, which optimization_destroy frees. Runs
 * that fail count as not held, and are no failure here. */
Status optimization_validate(Optimization* optimization);
/* How many draws of every scenario were tried; 0 before, and where none are asked for. Asking allocates nothing,
 * never fails. */
int optimization_validation_tries(const Optimization* optimization);
/* How many of a scenario's met all terms of `success`: 0 ... optimization_validation_tries. scenario is not checked.
 * Asking allocates nothing, never fails. */
int optimization_validation_held(const Optimization* optimization, int scenario);

/* ---------------------------------------------------------------- how it ended (optimize/advice.c) */
/* Trials without a better design: bodies intersect at the start or a loop is open there; a step was not solved or has
 * no gradient; the loss rose. */
typedef struct {
  int invalid, solver, rose;
} RejectedTrials;
/* Counts them in all rows so far. Allocates nothing, never fails. */
RejectedTrials optimization_rejected(const Optimization* optimization);
/* How a search ended and what to try, as text. */
typedef struct {
  Text stopped;  /* one line without an end: why it stopped, losses, best iteration */
  Text findings; /* lines: rejections, terms that fell and rose, bounds that are active, what fails `success` first */
  Text advice;   /* lines, at most three: remedies, each with its exact --set options; none where nothing is missing */
} OptimizationReport;
/* Writes the report after optimization_judge. interrupted: a signal stopped it, so nothing is
 * advised. Runs nothing. *report is set; optimization_report_free frees it. Never fails. */
void optimization_report(const Optimization* optimization, bool interrupted, OptimizationReport* report);
/* Frees the texts, not the struct. */
void optimization_report_free(OptimizationReport* report);

/* ---------------------------------------------------------------- discrete choices (optimize/choices.c)
 * Combinations of a task's choices, one after the other; each is optimized by itself, and what it gave is told before
 * the next is asked for. */
typedef struct ChoiceSearch ChoiceSearch;
/* A bound of subject_to that is broken by no more than this part holds. */
#define CHOICE_EXCESS 1e-6
/* task is borrowed, and has choices. The caller owns it: choice_search_destroy. Never NULL. */
ChoiceSearch* choice_search_create(const Task* task);
/* Frees it and all that it owns; NULL is accepted. */
void choice_search_destroy(ChoiceSearch* search);
/* How many combinations are tried in all. Asking allocates nothing, never fails. */
int choice_search_tries(const ChoiceSearch* search);
/* Number of the value of each choice, from 0, to pick[choices]; false: all tries are done. pick is the caller's own
 * and stays as it was then. Allocates nothing. */
bool choice_search_next(ChoiceSearch* search, int* pick);
/* What the last one gave; violation: optimization_best_violation. Not called where it cannot be run. true: it is the
 * best so far. Returns false too for numbers that are not finite. Allocates nothing. */
bool choice_search_tell(ChoiceSearch* search, double loss, double violation);

/* ---------------------------------------------------------------- receding horizon (optimize/receding.c)
 * Windows of `horizon` steps, one after the other, each from the state that the one before has led to; of each the
 * first `apply` steps are executed. What is executed is a run of its own, in one piece to the bit. */
typedef struct Receding Receding;
/* What became of a window. */
typedef struct {
  int step; /* where it begins, counted from the beginning of the whole */
  int iterations;
  double initial_loss, loss;
  OptimizationStop stop;
  double seconds; /* of wall time; the only number that differs between equal runs */
} RecedingRow;

/* For a task with `receding`, which it changes: one window is what its scenario runs. STATUS_BAD_INPUT with
 * diagnostics; *out may be half-built then. task is borrowed and must outlive it, options are copied;
 * receding_destroy in any case. */
Status receding_create(Receding** out, Task* task, const OptimizationOptions* options, Diagnostics* diagnostics);
/* Frees it with its optimization, not the task, whose scene has its own start again; NULL is accepted. */
void receding_destroy(Receding* receding);
/* That of the present window; the receding's. Not to be destroyed; the same object in all windows. Never NULL once
 * receding_create has returned STATUS_OK. */
Optimization* receding_optimization(Receding* receding);
/* Steps to be executed in all, whatever the windows are. Asking allocates nothing, never fails. */
int receding_steps(const Receding* receding);
/* How many windows these are; the last may execute fewer steps than the others. At least 1. Asking allocates
 * nothing, never fails. */
int receding_window_count(const Receding* receding);
/* The present one, from 0; the count when all is executed. Asking allocates nothing, never fails. */
int receding_window(const Receding* receding);
/* A row for each window that has been executed (receding_window); owned by the receding. Undefined beyond; not to be
 * freed. */
const RecedingRow* receding_rows(const Receding* receding);
/* The terms of such a window's loss, an array of length optimization_term_count; owned by the receding. window: 0 ...
 * receding_window - 1. Another window is undefined, not checked. */
const double* receding_terms(const Receding* receding, int window);
/* Does one scene run as what was executed does? Not when what a window finds changes signals before it. Asking
 * allocates nothing, never fails. */
bool receding_is_one_run(const Receding* receding);
/* The present window's optimization begins where the one before has left off, under the first contact of a schedule;
 * optimization_start or _load is next. Allocates a fresh optimizer; never fails. */
void receding_begin(Receding* receding);
/* Called with the run after every step that is executed, and before the first one of all with report NULL. Any status
 * but STATUS_OK ends the steps. */
typedef Status (*RecedingRecord)(void* context, Sim* sim, const StepReport* report);
/* Execute the first steps of the window with what has been found, which under a schedule is of its last contact, and
 * go on to the next one. STATUS_SOLVER with a diagnostic: a step failed; STATUS_BAD_INPUT: it cannot begin; else the
 * status of record, which must not be NULL. After a failure the window stays the present one. Allocates for the time
 * of the call. */
Status receding_execute(Receding* receding, RecedingRecord record, void* context, Diagnostics* diagnostics);
/* Where the present window begins - the state, and the numbers of signals as they were found and go on - is given to a
 * scene of the caller's, which is as the task's file has it; nothing changes before the first window. The state goes
 * with that scene: the receding is then good for destroying only. Never fails. */
void receding_hand_over(Receding* receding, Scene* scene);
/* The scene of the whole with what has been found so far; the receding's until the next call. Not to be freed; its
 * start is the first one of all, its steps are receding_steps. Never NULL. */
const Scene* receding_scene(Receding* receding);
/* Judge what was executed, to its end, for optimization_success; before that there is nothing to judge. Values stay
 * NaN where the scene makes no model. Allocates for the time of the call. */
void receding_judge(Receding* receding);
/* All windows that are done and the state of the present one, added to the file, which the caller owns. inside: the
 * present window's optimization has begun. Never fails. */
void receding_save(const Receding* receding, bool inside, NumberFile* checkpoint);
/* Takes what receding_save wrote; receding_repeat comes next, and then, if *inside was set, optimization_load.
 * false, with diagnostics: it is of another task, or damaged. The checkpoint is copied from. */
bool receding_load(Receding* receding, const NumberFile* checkpoint, bool* inside, Diagnostics* diagnostics);
/* Executes the windows that were loaded again; record and statuses as for receding_execute. Allocates as that does;
 * after a failure the windows that are left are not executed. */
Status receding_repeat(Receding* receding, RecedingRecord record, void* context, Diagnostics* diagnostics);

/* The gradient of the summed loss by the task's variables, design and control apart, against central differences along
 * random directions. After optimization_start. report[0]: design, report[1]: control and start. options are only
 * read. Afterwards runs repeat their parts: the optimization is of no use for designing. Allocates for the time of
 * the call. A run that fails is told in the report: NaN, no status. */
void optimization_gradcheck(Optimization* optimization, const GradcheckOptions* options,
                            GradcheckBlockReport report[2]);

#endif
