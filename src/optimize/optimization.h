/* Private to optimize/: what an optimization holds, and evaluating a design in all scenarios (optimize/evaluate.c).
 * Under several processes each holds all of this and has run its own scenarios only; what counts of a run - outcome,
 * value, terms, by_variables - is then shared, so that all take the same steps. */
#ifndef SDRS_OPTIMIZE_OPTIMIZATION_H
#define SDRS_OPTIMIZE_OPTIMIZATION_H

#include "optimize/design.h"
#include "optimize/optimize.h"

/* Hashes of a task's identity before those of its scenes. */
enum { IDENTITY_SCENES = 3 };

/* A scenario with the design that was tried last. */
typedef struct {
  const Scene* scene; /* borrowed from the task, whose design is the initial one */
  double weight;
  Model model;
  bool has_model, made; /* made: without an error */
  int number_count;     /* of overrides that it was made with */
  RowKeep keep;         /* of recording and seeds, when memory is bounded */
  Recording recording;
  Recording repeated; /* runs repeat the parts of its steps (optimization_repeat_parts); zero: they do not */
  Loss* loss;
  LossSeeds seeds;
  ModelGradient gradient;
  double* by_variables; /* gradient of weight times value  (variables) */
  double* terms;
  double value;
  Status status;
  RecordReport report;
  AdjointReport adjoint;
  TrialOutcome outcome;
  Text reason;
} ScenarioRun;

typedef struct Success Success;
typedef struct Validation Validation;

/* ---- what is drawn (optimize/draws.c; docs/derivations/update.md, O18): a function of the seed, of what it is for, of
 * a number (iteration / every, or number of the try) and of the scenario alone, so checkpoints need not hold it. */
typedef enum { DRAW_NONE, DRAW_TRAINING, DRAW_VALIDATION } DrawStream;
typedef struct {
  DrawStream stream;
  int number;
} DrawMoment;
typedef struct Draws Draws;
/* NULL where the task draws nothing. The scenes must be the initial ones. STATUS_BAD_INPUT with diagnostics. Freed
 * with draws_destroy, also after a failure; design and task must outlive it. */
Status draws_create(Draws** out, const Design* design, const Task* task, Diagnostics* diagnostics);
/* Frees it and all that it owns; NULL is accepted. */
void draws_destroy(Draws* draws);
/* How many overrides draws_apply may add: room for them is the caller's. 0 for NULL. */
int draws_room(const Draws* draws);
/* What is drawn comes to the design's overrides[count], or joins them; how many there are then. Nothing for NULL or
 * DRAW_NONE. The same numbers at every call; several threads may. */
int draws_apply(const Draws* draws, DrawMoment moment, int scenario, ModelOverride* overrides, int count);

/* ---------------------------------------------------------------- what is bounded (optimize/subjects.c;
 * docs/derivations/update.md, O11, O12). Terms g_i = value - bound, the last of the loss's. */
typedef struct Subjects Subjects;
/* NULL where nothing is bounded. The task is copied from, not kept; freed with subjects_destroy. */
Subjects* subjects_create(const Task* task);
/* Frees it and all that it owns; NULL is accepted. */
void subjects_destroy(Subjects* subjects);
/* A = loss + sum_i (rho_i / 2) (max(0, g_i + lambda_i / rho_i)^2 - (lambda_i / rho_i)^2), from all terms. terms
 * (losses, then subjects), only read. NaN goes through. */
double subjects_merit(const Subjects* subjects, double loss, const double* terms);
/* dA by every term: 1 for losses, max(0, lambda_i + rho_i g_i) for what is bounded  (terms). Owned by the subjects
 * until the next call. */
const double* subjects_factors(Subjects* subjects, const double* terms);
/* The largest g_i relative to the size of its bound; <= SUBJECTS_TOLERANCE: all are kept. NaN terms are not seen. */
double subjects_violation(const Subjects* subjects, const double* terms);
#define SUBJECTS_TOLERANCE 1e-6
/* At the start: penalties in proportion to the loss. Multipliers become zero. terms (losses, then subjects). */
void subjects_begin(Subjects* subjects, double loss, const double* terms);
/* Better multipliers at a design; solved: the optimizer has done with the present ones, so that penalties that were too
 * small may grow. false: they are as good as they get, and the bounds are kept. terms
 * (losses, then subjects). */
bool subjects_update(Subjects* subjects, const double* terms, bool solved);
/* The same on the way, after every so many iterations (optimizer_patience): where a violation does not fall by itself.
 * From a design that stands, its terms and NULL; of a method that wanders from the mean of all terms over these
 * iterations and the largest difference between two of them. mean, spread (losses, then subjects). false: nothing has
 * changed. (O20) */
bool subjects_follow(Subjects* subjects, const double* mean, const double* spread);
/* Is it time, so many iterations after the last change, with the gradient's norm then and now? *solved: because the
 * optimizer has come near to where it goes. since in iterations; *solved is set in any case. */
bool subjects_due(int since, double norm_then, double norm, bool* solved);
/* How many there are; 0 for NULL. */
int subjects_count(const Subjects* subjects);
/* All that lasts, (*count) doubles, multipliers (subjects) first; owned by the subjects, to be written to for a
 * checkpoint. */
double* subjects_state(Subjects* subjects, int* count);

/* The contact of a scene before a schedule has changed it, and after the switch to another law, once there was one:
 * its numbers are derived once, from the scene's own start. Both share what they point to with the scene. */
typedef struct {
  SceneContact given, switched;
  bool has_switched;
} ScheduledContact;

/* Why `auto` changes its method. */
typedef enum {
  CHANGE_SHORT_OF_PREDICTION, /* trials gain less than the gradient predicts, or rise */
  CHANGE_SHORT_STEP,          /* no step is short enough to be better */
  CHANGE_NO_PROGRESS,         /* the best design has hardly improved */
  CHANGE_NO_SLOPE             /* the gradient is zero */
} MethodReason;
typedef struct {
  int iteration; /* after it */
  TaskOptimizerType from, to;
  MethodReason reason;
  int count; /* of trials that fell short, or of iterations without progress */
} MethodChange;
/* Changes that are remembered, of all starts. */
enum { METHOD_CHANGES_MOST = 32 };
/* What `auto` watches (optimize/automatic.c; docs/derivations/update.md, O23). */
typedef struct {
  TaskOptimizerType method;
  double factor; /* of the steps in the settings */
  int tried;     /* trials of the method */
  unsigned weak; /* one bit for each of the last trials: it fell short */
  double mark;   /* worth of the best design when it last made progress */
  int mark_iteration, restarts;
  bool return_to_best; /* before the next trial */
  MethodChange changes[METHOD_CHANGES_MOST];
  int change_count;
} Automatic;

/* Links of a scenario that a trial would have let intersect at the start. */
typedef struct {
  int scenario, a, b;
} StartPair;

struct Optimization {
  Task* task;
  OptimizationOptions options;
  Design design;
  OptimizationFunction function; /* in place of the losses of runs; evaluate NULL: none */
  double* unit;                  /* of the variables; NULL: 1  (variables) */
  double* function_gradient;     /* of what was evaluated last  (variables) */
  Optimizer* optimizer;
  Automatic automatic;
  ScenarioRun* runs;
  int run_count, term_count;
  int capacity;                                           /* of rows */
  double *x, *gradient, *trial, *trial_gradient, *best_x; /* (variables) */
  double *terms, *trial_terms;                            /* of the design that stands, of the trial  (terms) */
  Subjects* subjects;                                     /* NULL: nothing is bounded */
  Success* success;                                       /* NULL: nothing is judged */
  Validation* validation;                                 /* NULL: not yet, or not asked for */
  Draws* draws;                                           /* NULL: nothing is drawn */
  ScheduledContact* contacts;                             /* of a schedule  (scenarios) */
  DrawMoment moment;                                      /* of what is evaluated */
  double plain, best_violation;                           /* loss of the design that stands, without its bounds */
  double* spare_state;                                    /* of the optimizer, before a proposal */
  double loss, best_loss, best_worth;
  int iteration, best_iteration, since_best;
  OptimizationStop stop;
  OptimizationRow* rows;              /* (capacity) */
  double* row_terms;                  /* (capacity * terms) */
  double* row_multipliers;            /* (capacity * subjects) */
  const double* factors;              /* of the terms' derivatives in evaluate_gradient; NULL: 1 */
  int since_update;                   /* iterations since the multipliers changed */
  int since_look;                     /* and since the violations were looked at */
  double norm_updated;                /* of the gradient then */
  bool stuck;                         /* the optimizer has no step left with these multipliers */
  int start, best_start;              /* of several, from 0: the present one, and whose the best design is */
  int first_iteration;                /* of the present start */
  double start_best, start_violation; /* of the present start */
  bool between_starts;                /* the next one has not begun yet */
  char* reason;
  int failed_scenario;  /* whose run the last refused trial failed in */
  char (*identity)[65]; /* of the task, for checkpoints: settings, variables, losses, each scene  (identity_count) */
  int identity_count;
  StartPair* start_pairs;
  int start_pair_count, start_pair_capacity;
  int moved_trials; /* trials that could not start and were moved until they could */
  Text note;
  Scene* shown;          /* of optimization_scene; NULL before */
  const Scene* shown_of; /* the scenario's scene it shares its parts with */
  AdjointReport adjoint;
  double started, seconds_before; /* wall time */
  double forward_seconds, adjoint_seconds;
};

/* ---- what the result is judged by (optimize/success.c) */
/* Resolves the terms in every scenario; runs: those of the optimization, whose models are the initial ones. NULL
 * without terms. STATUS_BAD_INPUT with diagnostics. Freed with success_destroy, also after a failure. */
Status success_create(Success** out, const Optimization* o, Diagnostics* diagnostics);
/* Frees it and all that it owns; NULL is accepted. */
void success_destroy(Success* success);
/* The terms in scenario 0, whose rows a recording is to keep. Owned by the success. */
const Loss* success_loss(const Success* success);
/* Does the best design meet the terms in a scenario, with what is drawn then? Not where its run fails. Several threads
 * may. *met is set in any case; the status is that of the run. */
Status success_try(Optimization* o, int scenario, DrawMoment moment, bool* met);
/* Frees it and all that it owns; NULL is accepted (optimize/validation.c). */
void validation_destroy(Validation* validation);

/* Are there other draws in other iterations? */
bool draws_vary(const Optimization* o);
/* Notes those of an iteration as o->moment; nothing where nothing is drawn. */
void draws_set(Optimization* o, int iteration);
/* Before iteration + 1: its draws, and with a method that descends, the design that stands under them.
 * STATUS_INTERRUPTED: nothing has changed. */
Status draws_advance(Optimization* o);
/* The numbers of a scenario for x[variables], with what is drawn: *count of them, which the caller frees with
 * memory_free. */
ModelOverride* optimization_overrides(const Optimization* o, const double* x, int scenario, DrawMoment moment,
                                      int* count);

/* What a run in a scenario came to (NULL: it failed) joins the others; scenario 0 first. values[terms] are only
 * read; the largest stays, NaN for good. */
void success_add(Success* success, int scenario, const double* values);

/* Build the models of a design and run them: the weighted loss and its terms. TRIAL_ACCEPTED: it ran. interrupted: set
 * when a run was cut short. x[variables]; terms[term_count], weighted and summed. Any other outcome: *loss is of
 * no use, o->reason says why. */
TrialOutcome evaluate_design(Optimization* o, const double* x, double* loss, double* terms, bool* interrupted);
/* Builds the model of a scenario with x[variables]; can it start? Nothing is simulated. false: the reason is that of
 * the scenario's run. */
bool evaluate_start(Optimization* o, const double* x, int scenario);
/* Moves a trial that the last evaluate_design refused as TRIAL_INVALID to one that can start, between it and the design
 * that stands (optimize/start_gaps.c). false: none was found; o->trial is of no use then. Allocates for the time of the
 * call. */
bool start_gaps_correct(Optimization* o);
/* What is made small of a loss and its terms, with the present multipliers (optimize/optimization.c). terms
 * (term_count). */
double optimization_merit(Optimization* o, double loss, const double* terms);
/* Gradient at the design that evaluate_design has just run, summed over scenarios (variables). Any outcome but
 * TRIAL_ACCEPTED: it is of no use. */
TrialOutcome evaluate_gradient(Optimization* o, double* gradient);
/* Frees what a run holds; the Scene is the task's. */
void scenario_run_free(ScenarioRun* run);
/* From here on every run takes its steps in the parts of the last ones, once: for differences, since the parts are data
 * to the adjoint. Takes new recordings; the old ones are kept until scenario_run_free. */
void optimization_repeat_parts(Optimization* o);
/* Run the design x and take it for the one that stands, with its loss, terms and gradient (optimize/optimization.c).
 * *interrupted is set in any case. */
TrialOutcome optimization_stand(Optimization* o, bool* interrupted);
/* The same with multipliers as they are: after the method has changed. */
TrialOutcome optimization_stand_again(Optimization* o, bool* interrupted);
/* What designs are compared by: the loss of one of this iteration, or a mean where draws vary. */
double optimization_worth(const Optimization* o, int iteration, double loss);
/* What stands is the first of a search: its row, and is it the best so far? Writes the row at o->iteration. */
void optimization_note_start(Optimization* o);

/* ---- several starts (optimize/multistart.c; docs/derivations/update.md, O17). Is a search over, and another to come?
 */
bool multistart_goes_on(const Optimization* o);
/* Begin the next one that has a design that runs; without one, it ends as the last one has. STATUS_INTERRUPTED: it is
 * to be called again. */
Status multistart_next(Optimization* o);
/* Begin anew at x[variables], with a fresh optimizer; those that are held stay as they are (variables, NULL: none).
 * optimization_start is next (optimize/optimization_create.c). x and held are only read; rows are counted from 0 again.
 */
void optimization_restart(Optimization* o, const double* x, const bool* held);
/* Why it ends here, if it does; can_step: the optimizer can go on (optimize/optimization.c). Sets o->stop,
 * STOP_NOT_YET while it goes on. */
void optimization_judge_end(Optimization* o, bool can_step);
/* Sets identity; the scenes must be the initial ones (optimize/optimization_checkpoint.c). Allocates o->identity
 * (identity_count), which optimization_destroy frees. */
void optimization_identify(Optimization* o);

/* More variables than a search by samples learns in a few hundred trials. */
enum { SAMPLED_MOST = 40 };
/* ---- the method of `optimizer: auto` (optimize/automatic.c); that of the task where it names one */
/* The first method of a search, with nothing seen. */
void automatic_begin(Optimization* o);
/* The task's settings with the present method and its steps. By value. */
TaskOptimizer automatic_settings(const Optimization* o);
/* Replaces the optimizer by one as at the start, of the present settings, and the room for its state. */
void automatic_renew(Optimization* o);
/* After a trial: what it gained and what the gradient predicted (both > 0 for less loss); can_step: the optimizer can
 * go on. Changes the method where it is time. Returns whether the search can go on. */
bool automatic_watch(Optimization* o, TrialOutcome outcome, double gained, double predicted, bool can_step);
/* The gradient is zero before any trial: changes to samples. false: the method stays. */
bool automatic_leave_flat(Optimization* o);
/* Stands at the best design again where a change asks for it. STATUS_INTERRUPTED: it is to be called again. */
Status automatic_return(Optimization* o);

/* ---- contact that changes over the iterations (optimize/continuation.c), in the scenes of all scenarios. What is in
 * force is a function of the number of the iteration alone, so checkpoints need not hold it. */
/* The contact of iteration 0. STATUS_BAD_INPUT with diagnostics: a law without the key, or an end that is never
 * reached. Allocates o->contacts (scenarios), which optimization_destroy frees, also after a failure. */
Status continuation_start(Optimization* o, Diagnostics* diagnostics);
/* The contact of an iteration; was there another in force? Rewrites the contact of all scenes of the task. */
bool continuation_set(Optimization* o, int iteration);
/* The contact of iteration 0 again, as every window of a receding horizon begins. */
void continuation_restart(Optimization* o);
/* The last contact of all, which windows are executed with. */
void continuation_finish(Optimization* o);
/* Is the contact of this iteration not yet the last one? */
bool continuation_goes_on(const Optimization* o, int iteration);
/* Before iteration + 1: its contact, and the design that stands under it. STATUS_INTERRUPTED: nothing has changed.
 * STATUS_OK else; where the design does not run under it, its loss is infinite and any that runs is better. */
Status continuation_advance(Optimization* o);
/* An optimizer as at the start: what it remembers is of another loss. Allocates it anew; the feasible set stays. */
void continuation_forget(Optimization* o);

/* Room for so many rows: grows the arrays of rows, terms and multipliers, and pointers into them hold no longer. */
void optimization_room(Optimization* o, int rows);

#endif
