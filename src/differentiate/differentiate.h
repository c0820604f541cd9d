/* differentiate: records runs, evaluates losses over them, and computes exact gradients by the adjoint method (SDRS Eq.
 * 86-88, docs/derivations/adjoint.md). Every x_create has an x_destroy that accepts a zeroed object. */
#ifndef SDRS_DIFFERENTIATE_H
#define SDRS_DIFFERENTIATE_H

#include "scene/task.h"
#include "simulate/simulate.h"

/* ---------------------------------------------------------------- kept rows of a run (differentiate/keep.c)
 * Selection of the rows that losses read, among the rows 0..steps of a run. Most losses read few links in one interval.
 */
typedef struct {
  int steps, link_count;
  int *first, *last; /* first[i]..last[i]: kept rows of link i; first[i] > last[i] if link i has none (links) */
  int* whole;        /* rows kept for all links, in ascending order (whole_count) */
  int whole_count;
  size_t *pose, *coordinate, *dof;                /* index of the link's first row in each array (links) */
  size_t whole_pose, whole_coordinate, whole_dof; /* index of the first row kept for all links, in each array */
  size_t poses, coordinates, dofs;                /* length of each array */
} RowSelection;

/* Returns an empty selection of the rows 0..steps. The caller frees it with row_selection_destroy. */
RowSelection row_selection_create(const Model* model, int steps);
/* Frees the arrays and zeroes the object. Accepts a zeroed object, but not NULL. */
void row_selection_destroy(RowSelection* keep);
/* Selects the rows first..last of a link. A second call for the same link selects the shortest interval that contains
 * both intervals. Asserts 0 <= first and last <= steps. link is not checked. */
void row_selection_add_link(RowSelection* keep, int link, int first, int last);
/* Selects a row for all links. Asserts that rows are added in ascending order. Allocates. */
void row_selection_add_all_links(RowSelection* keep, int row);
/* Computes where each selected row is stored. Call after all rows were added. The caller then allocates arrays of
 * `poses`, `coordinates` and `dofs` entries. */
void row_selection_compute_offsets(RowSelection* keep, const Model* model);

/* RepeatIndices of one link in the arrays of one row: pose (also of its force), first coordinate, first rate. */
typedef struct {
  bool kept;
  size_t pose, coordinate, dof;
} RowIndex;
/* Returns the indices of a link in a row. If the row is not selected, kept is false and the indices are 0. Undefined
 * for a row or link out of range. */
RowIndex row_selection_index(const RowSelection* keep, const Model* model, int row, int link);
/* Returns the indices of a link in a row of a whole recording (keep NULL) or of a thin one. A whole recording stores
 * all rows consecutively. */
static inline RowIndex row_index(const RowSelection* keep, const Model* model, int row, int link) {
  if (keep) return row_selection_index(keep, model, row, link);
  size_t at = (size_t)row;
  return (RowIndex){true, at * (size_t)model->link_count + (size_t)link,
                    at * (size_t)model->coordinate_count + (size_t)model->links[link].coordinate_first,
                    at * (size_t)model->dof_count + (size_t)model->links[link].dof_first};
}

typedef struct LossSeeds LossSeeds;

/* ---------------------------------------------------------------- a recorded run (differentiate/recording.c) */

/* A state of a run: the end of a step (a row) or of a substep inside one. */
typedef struct {
  StepClock clock; /* clock of the substep that ended in the state */
  int step;        /* number of the state's step, from 1; 0 for the initial state */
  bool row;        /* true if the state is the end of a step */
  int between;     /* index among the states inside steps, or -1 for a row */
  int contact_first_row, contact_count;
  SimSolve*
      solves; /* all but the last solve of the substep that ended in the state (solve_count); NULL if there is none */
  int solve_count;
} RecordedState;

/* Recording of the rows 0..steps of a run. A whole recording stores all rows and the states inside steps. A thin
 * recording stores the rows selected by `keep` and divides the run into intervals ("parts"). Whole rows of a part stay
 * in memory while memory permits; the adjoint recomputes the other parts. Borrows model and keep. */
typedef struct Recording {
  const Model* model;
  const RowSelection* keep;  /* NULL for a whole recording */
  struct RunSegments* parts; /* intervals of a thin recording with a gradient (differentiate/parts.c); otherwise NULL */
  int steps;
  bool is_segment;
  int first_row;       /* number in the run of the first stored row; 0 unless is_segment */
  int64_t first_state; /* number in the run of states[0]; 0 unless is_segment */
  int entry;           /* index of the state from which the first step starts; 0 unless is_segment */
  double* q;           /* joint coordinates                     ((steps + 1) * nq) */
  double* rate;        /* SimState.rate [m/s, rad/s]            ((steps + 1) * nv) */
  Pose* pose;          /* world pose of every link frame        ((steps + 1) * links) */
  Vec3* momentum;   /* SimState.momentum [kg m^2/s]; NULL unless the integrator is `momentum` ((steps + 1) * links) */
  Vec3* force;      /* total contact and friction force on every link, world [N]; row 0 is zero ((steps + 1) * links) */
  Vec3* forces_now; /* workspace for one row of a thin recording (links) */
  const ForcePair* pairs; /* pairs whose forces are kept in every row; borrowed (pair_count) */
  int pair_count;
  Vec3* pair_force;        /* world [N]; row 0 is zero  ((steps + 1) * pair_count) */
  ContactRecord* contacts; /* contacts of all states, consecutively */
  RecordedState* states;   /* in order of time, the initial state first (state_count) */
  int* row_state;          /* index of every row's state  (steps + 1) */
  double* substep_q;       /* (substep_state_count * nq) */
  Pose* substep_pose;      /* (substep_state_count * links) */
  Vec3* substep_momentum;  /* NULL unless the integrator is `momentum` (substep_state_count * links) */
  Vec3 *felt,
      *substep_felt; /* SimState.contact_force of rows and of states inside steps; NULL if no drive measures it */
  double *delayed, *substep_delayed; /* SimState.delayed of rows and of states inside steps */
  InitialFriction* guess; /* warm start of friction in the first step; NULL if not computed, or stored in a part */
  double (*reaction)[6];  /* sim_reactions, zero in row 0; NULL unless the scene requests it ((steps + 1) * links) */
  SimJoin* joined; /* sim_closures_joined of every row; NULL if no closure has `active` ((steps + 1) * closures) */
  double* closures_broken; /* time at which each closure broke [s], or INFINITY; NULL without closures (closures) */
  size_t solve_bytes;      /* size of RecordedState.solves [bytes] */
  int state_count, substep_state_count;
  int contact_capacity, step_capacity, state_capacity, substep_state_capacity, momentum_capacity, felt_capacity,
      delayed_capacity, substep_q_capacity;
} Recording;

/* Returns the poses of a row (links), borrowed from a whole recording or a part. Undefined for a row that the recording
 * does not store. */
static inline const Pose* recording_pose(const Recording* r, int step) {
  return r->pose + (size_t)(step - r->first_row) * (size_t)r->model->link_count;
}

/* Returns a link's pose at a row that the recording stores. Undefined for other rows. */
static inline Pose recording_link_pose(const Recording* r, int step, int link) {
  return r->pose[row_index(r->keep, r->model, step, link).pose];
}

/* Returns the poses of a state, borrowed (links). Undefined for a state of another recording. */
static inline const Pose* recording_state_pose(const Recording* r, const RecordedState* state) {
  size_t links = (size_t)r->model->link_count;
  return state->between < 0 ? r->pose + (size_t)(state->step - r->first_row) * links
                            : r->substep_pose + (size_t)state->between * links;
}
/* Returns the coordinates of a state, borrowed (nq). Undefined for a state of another recording. */
static inline const double* recording_state_q(const Recording* r, const RecordedState* state) {
  size_t nq = (size_t)r->model->coordinate_count;
  return state->between < 0 ? r->q + (size_t)(state->step - r->first_row) * nq
                            : r->substep_q + (size_t)state->between * nq;
}
/* Returns SimState.momentum of a state, borrowed (links); NULL unless the integrator is `momentum`. */
static inline const Vec3* recording_state_momentum(const Recording* r, const RecordedState* state) {
  size_t links = (size_t)r->model->link_count;
  if (!r->momentum) return NULL;
  return state->between < 0 ? r->momentum + (size_t)(state->step - r->first_row) * links
                            : r->substep_momentum + (size_t)state->between * links;
}
/* Returns SimState.contact_force of a state, borrowed (links). Returns NULL if no drive measures it. */
static inline const Vec3* recording_state_felt(const Recording* r, const RecordedState* state) {
  size_t links = (size_t)r->model->link_count;
  if (!r->felt) return NULL;
  return state->between < 0 ? r->felt + (size_t)(state->step - r->first_row) * links
                            : r->substep_felt + (size_t)state->between * links;
}
/* Returns SimState.delayed of a state, borrowed (2 Model.delayed_count). Returns NULL if no controller has a delay. */
static inline const double* recording_state_delayed(const Recording* r, const RecordedState* state) {
  size_t count = 2 * (size_t)r->model->delayed_count;
  if (!r->delayed) return NULL;
  return state->between < 0 ? r->delayed + (size_t)(state->step - r->first_row) * count
                            : r->substep_delayed + (size_t)state->between * count;
}
/* Returns the number of substeps (>= 1) of a step >= 1. Undefined for step 0. */
static inline int recording_substeps(const Recording* r, int step) {
  return r->row_state[step - r->first_row] - r->row_state[step - 1 - r->first_row];
}

/* Result of recording a run. */
typedef struct {
  StepReport last; /* report of the failed step, or of the last step if none failed */
  bool failed;
  int failed_step;  /* the step (1..) that failed */
  double residual;  /* largest relative residual of all steps */
  int largest_step; /* step with the largest residual */
  int iterations;   /* number of solver iterations in all steps */
  int halved_steps; /* StepReport.halved */
  UnconvergedSteps unconverged;
} RecordReport;

/* Creates a recording with memory for rows 0..steps. It can be reused for further runs, also of other models of the
 * same size. Owns its arrays and borrows the model. The caller frees it with recording_destroy. */
void recording_create(Recording* recording, const Model* model, int steps);
/* Creates a thin recording. Borrows keep, which must be laid out (row_selection_compute_offsets) and outlive the
 * recording. The caller frees the recording with recording_destroy, which does not free keep. */
void recording_create_selective(Recording* recording, const Model* model, int steps, const RowSelection* keep);
/* Makes the recording store the contact forces of pairs[count] in rows 0..steps. Call once, before recording_run,
 * because a second call leaks the first array. Borrows pairs. Allocates nothing if count is 0. */
void recording_store_pair_forces(Recording* recording, const ForcePair* pairs, int count, int steps);
/* Frees the arrays of the recording. Does not free model, keep and pairs. Accepts a zeroed recording, but not NULL. */
void recording_destroy(Recording* recording);
/* Returns the size of the recording's arrays [bytes], without the parts of a thin recording. */
size_t recording_bytes(const Recording* recording);
/* Returns the value of RecordOptions.memory [bytes, at least 1] for a limit on the total memory. `bytes` limits the sum
 * of recording, seeds and parts. */
size_t recording_memory_left(const Recording* recording, const LossSeeds* seeds, double bytes);
/* Checks that a memory limit leaves memory for the parts of a thin recording. Returns STATUS_BAD_INPUT, with a message
 * at `place`, if recording and seeds need `bytes` or more. Otherwise returns STATUS_OK. Allocates only the message. */
Status recording_check_memory(const Recording* recording, const LossSeeds* seeds, double bytes, SourcePosition place,
                              Diagnostics* diagnostics);
/* Options of recording_run. */
typedef struct {
  int threads;
  double tolerance; /* relative tolerance of the solver; 0 selects the tolerance of the scene */
  bool (*interrupted)(void);
  const int* substeps; /* number of substeps tried first in each step (steps); NULL lets sim_step choose */
  size_t memory; /* memory limit [bytes] of the parts of a thin recording, without kept rows and seeds; a few states are
                    stored even above it. 0 stores no parts, so that there is no gradient */
  const Recording* like; /* run whose substeps are repeated, or NULL */
} RecordOptions;
/* Simulates the model from its initial state for the recording's number of steps. If a step fails, the run stops.
 * recording->steps is then the number of steps before the failure, and the report and the stored rows are valid.
 * Returns STATUS_OK, STATUS_SOLVER, STATUS_BAD_INPUT (bodies intersect in the initial state) or STATUS_INTERRUPTED.
 * Allocates while contacts and substeps grow. */
Status recording_run(Recording* recording, const Model* model, const RecordOptions* options, RecordReport* report,
                     Diagnostics* diagnostics);
/* Appends the present state of sim as row `row`, for a caller that performs the steps. Call for rows 0, 1, ... in
 * order. Sets recording->steps to `row`. A row beyond the steps of recording_create is an unchecked error. Allocates
 * while contacts and substeps grow. */
void recording_add_row(Recording* recording, Sim* sim, int row);

/* ---------------------------------------------------------------- derivatives of a loss (differentiate/loss_seeds.c)
 * Partial derivatives of the loss with respect to the recorded quantities: the input of the adjoint. Losses add to
 * them. Rows are indexed as in Recording. One memory block, beginning at pose, contains the arrays. */
struct LossSeeds {
  const RowSelection* keep; /* layout of the arrays of rows; NULL if all rows are stored */
  double (*pose)[3][4];     /* dL/d(R | t) of every link frame, elementwise ((steps + 1) * links) */
  double* q;              /* w.r.t. joint coordinates (increments of joint_increment), poses fixed ((steps + 1) * nv) */
  double* rate;           /* ((steps + 1) * nv) */
  Vec3* force;            /* ((steps + 1) * links) */
  double (*reaction)[6];  /* with respect to sim_reactions; outside of the block. NULL if rows are thin or reactions not
                             requested ((steps + 1) * links) */
  Vec3* center;           /* with respect to the centre of mass, link frame, at fixed poses (links) */
  Vec3* vertices;         /* w.r.t. hull vertices, link frame, poses and centre fixed; all hulls in order (vertices) */
  double* control;        /* w.r.t. controller parameters, poses fixed; all controllers in order (controls) */
  double* gains;          /* w.r.t. controller gains (ModelGradient.gains), poses fixed (gains) */
  double* mass;           /* w.r.t. link masses, poses and centres fixed [1/kg] (links) */
  size_t length;          /* number of doubles in the block */
  const ForcePair* pairs; /* Recording.pairs, borrowed (pair_count) */
  int pair_count;
  Vec3* pair_force; /* w.r.t. pair forces ((steps + 1) * pair_count); not in the block */
  size_t pair_length, reaction_length;
  bool keep_moments; /* true if run_adjoint does not apply two chain rules, which the caller applies with
                        model_gradient_masses and model_gradient_shapes: from mass moments (ModelGradient.moment) to
                        masses, and from vertices of smooth shapes to their parameters */
};

/* Returns zeroed derivatives for whole recordings of `steps` steps of the model. Owns its arrays. The caller frees them
 * with loss_seeds_destroy. */
LossSeeds loss_seeds_create(const Model* model, int steps);
/* Returns zeroed derivatives for thin recordings with the rows of keep. Borrows keep, which must be laid out
 * (row_selection_compute_offsets). The caller frees them with loss_seeds_destroy. */
LossSeeds loss_seeds_create_selective(const Model* model, const RowSelection* keep);
/* Sets all derivatives to zero. */
void loss_seeds_clear(LossSeeds* seeds);
/* Frees the arrays and zeroes the object. Accepts a zeroed object, but not NULL. */
void loss_seeds_destroy(LossSeeds* seeds);

/* ---------------------------------------------------------------- observables (differentiate/observe.c)
 * An observable is a set of six numbers of every link, with derivatives. A run writes it, if requested by name, to a
 * file of the run folder or a block of the library (docs/derivations/observables.md). */
enum { OBSERVABLE_COLUMNS = 6 };
typedef enum { OBSERVABLE_REACTIONS, OBSERVABLE_IMU, OBSERVABLES } ObservableKind;
/* Input of an observable at a row. pose: one step before, at and one step after the row. Borrowed. */
typedef struct {
  const Model* model;
  double dt;                   /* s */
  const Pose* pose[3];         /* (links each) */
  const double (*reaction)[6]; /* sim_reactions (links) */
} Observation;
/* Derivatives of a scalar with respect to the members of Observation, poses elementwise. Borrowed. */
typedef struct {
  double (*pose[3])[3][4]; /* (links each) */
  double (*reaction)[6];   /* (links) */
} ObservationBars;
typedef struct {
  const char* word;                        /* word in simulation.output; the file is <word>.csv */
  const char* columns[OBSERVABLE_COLUMNS]; /* <link>/<column> */
  unsigned output;                         /* OUTPUT_... */
  int reach;                               /* 1 if the poses of the steps before and after are needed, otherwise 0 */
  /* Sets out[OBSERVABLE_COLUMNS] to the observable of a link. */
  void (*value)(const Observation* in, int link, double* out);
  /* Adds to `out` the derivatives of sum_k bar[k] value[k] with respect to `in`. bar[OBSERVABLE_COLUMNS]. value: the
   * result of the function `value`. */
  void (*seed)(const Observation* in, int link, const double* bar, const ObservationBars* out);
} Observable;
/* Returns the observable with the number `index` of ObservableKind. index is not checked. Static. */
const Observable* observable_at(int index);
/* Returns true if the observable is defined at a row of a whole recording. */
bool observable_is_defined(const Observable* observable, const Recording* recording, int row);
/* Returns the input of observables at a row, borrowed from a whole recording. Poses before the first and after the last
 * row are NULL. */
Observation observation_at(const Recording* recording, int row);
/* Returns the arrays that receive the derivatives at a row, borrowed from whole seeds. */
ObservationBars observation_bars(const Recording* recording, int row, LossSeeds* seeds);

/* ---------------------------------------------------------------- losses (differentiate/loss.c and loss_<kind>.c)
 * docs/losses.md defines them. */
typedef struct Loss Loss; /* the losses of a task in one scenario, with resolved names */

/* Creates the losses of a task for one scenario (index). Looks up links, checks windows against the horizon, and draws
 * random targets from task->seed and the scenario. Shape losses use vertices, volumes and edges of the model's initial
 * design as reference. Borrows nothing. Returns STATUS_BAD_INPUT with diagnostics and sets *out to NULL on any problem.
 * The caller frees the loss with loss_destroy. */
Status loss_create(Loss** out, const Task* task, int scenario, const Model* model, Diagnostics* diagnostics);
/* Frees the loss and everything it owns. Accepts NULL. */
void loss_destroy(Loss* loss);
/* Returns the number of losses of the task, including losses without effect in this scenario. The arrays `terms` and
 * `factors` below have this length. */
int loss_count(const Loss* loss);
/* Selects in `keep` all rows that loss_evaluate reads. The model must be the model for which `keep` was created.
 * Asserts equal numbers of steps. */
void loss_select_rows(const Loss* loss, const Model* model, RowSelection* keep);
/* Makes the recording store the pair forces that the loss reads, and seeds their derivatives. seeds may be NULL. Call
 * after both were created for `steps` steps. Both borrow the list of pairs from the loss. Allocates. */
void loss_record_pair_forces(const Loss* loss, int steps, Recording* recording, LossSeeds* seeds);
/* Returns the unique name of a loss, used as a column of convergence.csv. Owned by the loss. Undefined for an index
 * from loss_count on. */
const char* loss_name(const Loss* loss, int index);
/* Returns true if the loss applies to this scenario. Otherwise its value is 0. */
bool loss_is_active(const Loss* loss, int index);
/* Returns the weighted sum of the losses, without the scenario's weight. Sets terms[loss_count] unless NULL, and adds
 * the derivatives of the sum to seeds unless NULL. The recording's model must have the links, hulls, vertices and
 * controllers of the model of loss_create. Returns NaN, and changes no seeds, for a recording shorter than the
 * horizon. */
double loss_evaluate(const Loss* loss, const Recording* recording, double* terms, LossSeeds* seeds);
/* Evaluates the losses as loss_evaluate does, for tasks with bounded losses (TaskLoss.bounded). The returned sum
 * excludes bounded losses. Adds to seeds the derivatives of sum_i factors[i] terms[i]. factors[loss_count]; NULL means
 * 0 for bounded losses and 1 for the others. */
double loss_evaluate_with(const Loss* loss, const Recording* recording, double* terms, const double* factors,
                          LossSeeds* seeds);

/* ---------------------------------------------------------------- fabrication measures (differentiate/fabrication.c)
 */

/* Fabrication measures of a link: the losses of the same names (docs/losses.md) with margin 0. */
typedef struct {
  double neck, wall;                       /* m; neck is NAN for a single hull */
  double overhang;                         /* m^2 */
  double extent[3];                        /* extent along the link's axes x, y, z [m] */
  double clearance, clearance_lower_bound; /* clearance from the parent link and its proved lower bound [m]; NAN if the
                                           joint has no range to sweep */
  double at[3];                            /* joint coordinates at the smallest clearance (coordinates) */
  int coordinates;
} FabricationReport;
/* Returns the fabrication measures of a link with bounded hulls. build: build direction, unit vector in the link frame.
 * angle: largest overhang angle from the vertical that needs no support [rad]. Allocates temporary memory, cannot
 * fail. */
FabricationReport fabrication_measure(const Model* model, int link, Vec3 build, double angle);

/* ---------------------------------------------------------------- shorter time steps (differentiate/refined.c) */

/* Input of a refined run: a scene, and the losses of a task in one scenario. task is NULL without losses. Borrowed. */
typedef struct {
  const Scene* scene;
  const Task* task;
  int scenario;
  int moments; /* number of compared rows, at most */
} RefinedRunInput;

/* A run with a shorter time step. Owns its members, except those shared with the given scene, which must outlive the
 * run. refined_run_free accepts a zeroed or incomplete run. */
typedef struct {
  Scene scene; /* copy of the given scene with other dt, steps, contact parameters and velocity gains; owns only its
                  controllers */
  Model model;
  bool has_model;
  Loss* loss;
  RowSelection keep;
  Recording recording; /* thin recording of the rows read by the loss and of the compared rows */
  int moments;
  double value;  /* value of the loss; NaN without a loss */
  double* terms; /* (loss_count) */
  RecordReport report;
} RefinedRun;

/* Runs the scene with `parts` times as many steps of length dt / parts. Contact parameters and the damping gain / dt
 * keep the values of the given scene. Model warnings are reported only if parts is 1. Returns the status of
 * recording_run. Always sets *run, which the caller frees with refined_run_free. run->value is NaN unless the status is
 * STATUS_OK and the run is as long as the horizon. */
Status refined_run(RefinedRun* run, const RefinedRunInput* subject, int parts, const RecordOptions* options,
                   Diagnostics* diagnostics);
/* Frees the run and zeroes it. Accepts a zeroed run, but not NULL. */
void refined_run_free(RefinedRun* run);
/* Returns the row of a compared time, moment 0..moments - 1. Equal moments are equal times in every refinement, and the
 * last moment is the end of the run. Undefined for a moment out of range. */
int refined_sample_row(const RefinedRun* run, int moment);

/* ---------------------------------------------------------------- the adjoint of a run (differentiate/adjoint.c) */
typedef struct RunAdjoint RunAdjoint;

typedef struct {
  bool sound;             /* false if the adjoint failed and the result is not a gradient */
  int unsound_step;       /* step at which the adjoint failed */
  StepAdjointReport step; /* report of unsound_step; if sound, of largest_step */
  int largest_step;       /* step with the largest |lambda|, lambda: the adjoint variable */
  int indefinite_steps;   /* steps with an indefinite Hessian */
  double growth;          /* largest |lambda| of the run, divided by |lambda| of the last step with a nonzero lambda */
  double rounding; /* estimated error of the gradient due to rounding of positions, over all steps, in the numbers'
                      scales */
} AdjointReport;

/* If AdjointReport.growth is larger, the gradient predicts the loss over very small changes of the variables only. */
#define GRADIENT_GROWTH_LARGE 1e5

/* Creates an adjoint solver. Borrows the model. A value of threads below 1 counts as 1. The caller frees the solver
 * with run_adjoint_destroy. Never NULL. */
RunAdjoint* run_adjoint_create(const Model* model, int threads);
/* Frees the solver. Accepts NULL. */
void run_adjoint_destroy(RunAdjoint* adjoint);
/* Sets `gradient` to the derivatives of a loss with respect to all numbers of the model. seeds: partial derivatives of
 * the loss. discount: factor per step on derivatives propagated back in time. 1 gives the exact gradient, and a smaller
 * factor a damped vector that is not a gradient. If the report is not sound, the result is no gradient, and steps
 * before unsound_step were not evaluated.
 * A thin recording must have parts (asserted) and gives the same bits as a whole one. Missing parts are recomputed,
 * which changes only the stored parts of the recording. Memory grows at most with the number of pairs of a step. */
AdjointReport run_adjoint(RunAdjoint* adjoint, Recording* recording, const LossSeeds* seeds, double discount,
                          ModelGradient* gradient);

/* ---------------------------------------------------------------- gaps at the start (differentiate/start_gap.c)
 * Gap of two vertices along a fixed direction in the initial state: g = n . (x_b - x_a) [m]. x_a, x_b: vertices of
 * hulls a and b. n: unit vector from a to b. The hulls do not intersect while all their gaps along one n are positive.
 */
typedef struct {
  int hull[2], vertex[2]; /* vertex[0] is -1 for the surface of a half-space */
  Vec3 normal;            /* n, world */
  double least;           /* lower bound of the gap [m] */
} StartGap;
/* Finds the gaps of two links in `trial` that are smaller than min(least, distance of the two hulls in `standing`). The
 * normals are computed in `standing`. trial may be a model that was refused for intersections. Both models have the
 * same hulls. Sets the first entries of out[most], and returns their number. Allocates temporary memory. */
int find_start_gaps(const Model* standing, const Model* trial, int link_a, int link_b, double least, StartGap* out,
                    int most);
/* Returns the gap [m] at the initial poses pose[links]. */
double start_gap(const Model* model, const Pose* pose, const StartGap* gap);
/* Adds to seeds the derivatives of the gap with respect to the initial state and the hull vertices. */
void start_gap_seed(const Recording* recording, const StartGap* gap, LossSeeds* seeds);

/* ---------------------------------------------------------------- forward sensitivities (differentiate/forward.c)
 * Function called at each row of a recording, from the first to the last. During the call, step_forward_state(forward,
 * 0) returns the sensitivity of the coordinates of the row. */
typedef void (*ForwardVisit)(void* context, StepForward* forward, int row);
/* Propagates sensitivities through a recording and calls `visit` at each row. The recording must be whole and without
 * parts (asserted). Returns false if a step has no derivative. *step is then the number of the step, and later rows are
 * not visited. Allocates as step_forward_advance does. */
bool recording_forward(StepForward* forward, const Recording* recording, ForwardVisit visit, void* context, int* step);

/* ---------------------------------------------------------------- gradient check (differentiate/gradcheck.c) */

typedef enum {
  GRADCHECK_STATE,       /* initial coordinates (as increments) and velocities */
  GRADCHECK_CONTROL,     /* parameters of signals */
  GRADCHECK_VERTICES,    /* hull vertices */
  GRADCHECK_ATTACHMENTS, /* joint origins */
  GRADCHECK_MASS,        /* masses, or densities where given */
  GRADCHECK_CONTACT,     /* support, stiffness, friction, smoothing, rest speed */
  GRADCHECK_MATERIAL,    /* restitution; friction and restitution of links, then of contact.pairs; only those above 0 */
  GRADCHECK_GAINS,       /* controllers: gains, limits, delays, feedback */
  GRADCHECK_SHAPES,      /* parameters of convex smooth shapes */
  GRADCHECK_CLOSURES,    /* points and lengths of closures, ratios of couplings */
  GRADCHECK_TENDONS,     /* points, stiffness, rest length of tendons */
  GRADCHECK_BUSHINGS,    /* stiffness, damping, preload, positions of bushings */
  GRADCHECK_BLOCKS
} GradcheckBlock;
/* Returns the name of a block that `sdrs gradcheck` prints. Static, never NULL. Undefined for an invalid block. */
const char* gradcheck_block_name(GradcheckBlock block);

enum { GRADCHECK_DIRECTIONS = 16, GRADCHECK_SWEEP = 21 };
/* Typical number of perturbed runs per direction, for the progress display. A direction takes 18 to 30 runs, up to 32
 * more if noise hides the bound, and up to 142 more if the gradient appears wrong. */
enum { GRADCHECK_RUNS = 26 };

typedef struct {
  unsigned blocks;  /* 1 << GradcheckBlock */
  int directions;   /* random directions per block, <= GRADCHECK_DIRECTIONS */
  int steps;        /* number of steps of the run; 0 takes all */
  double tolerance; /* relative tolerance of the solver in each step */
  double bound;     /* largest relative error that passes */
  double enough;    /* resolution that passes where noise hides the bound (J14); 0 allows `bound` only */
  uint64_t seed;
  int threads;
  bool (*interrupted)(void);
  const int* substeps; /* RecordOptions.substeps of the base run */
  bool fixed_substeps; /* true if perturbed runs repeat the substeps of the base run; otherwise they choose their own
                          substeps */
  double memory;       /* memory limit of the base run [bytes]; 0 keeps the whole run in memory */
  int average;         /* number of step lengths of the fit where noise dominates (J14); 1: no fit; 0: 16 */
  /* Called after each perturbed run with the finished and the expected number of runs. NULL is allowed. */
  void (*progress)(void* context, const char* block, int runs, int expected);
  void* progress_context;
} GradcheckOptions;

/* Verdict on a gradient, ordered from best to worst, so that the worst of several verdicts is the largest. */
typedef enum {
  GRADCHECK_RIGHT,     /* within the bound, and the differences are accurate enough to show an error */
  GRADCHECK_UNCHECKED, /* the differences do not resolve the bound and do not contradict the gradient */
  GRADCHECK_WRONG
} GradcheckVerdict;

/* Result of one direction d. The sweep takes central differences (L(x + h d) - L(x - h d)) / 2h for decreasing h, and
 * Richardson extrapolations of neighbours. The extrapolation with the smallest uncertainty decides. Its distance from g
 * . d is the error (docs/derivations/gradcheck.md). */
typedef struct {
  double analytic, scale; /* analytic: g . d, g: the gradient. scale: reference of relative errors, the larger of |g .
                             d| and the deciding difference */
  double step[GRADCHECK_SWEEP], difference[GRADCHECK_SWEEP], sum[GRADCHECK_SWEEP]; /* L(x + h d) + L(x - h d) */
  double extrapolated[GRADCHECK_SWEEP]; /* extrapolation from the step size and the one before; NaN for the first */
  int tried;
  double error, best_step; /* relative error and deciding step size; NaN if all steps failed */
  double resolution;       /* relative uncertainty of the deciding difference; a smaller bound cannot be checked */
  double order;            /* observed order of convergence in h; NaN if no error exceeds rounding */
  GradcheckVerdict verdict;
  bool kink;     /* not checkable, because the function has a kink at x: g . d lies between its two slopes (J8) or among
                    nearby slopes (J10) */
  bool jump;     /* not checkable, because the value at x differs from the limit of the values nearby (J9) */
  bool rough;    /* the last differences vary by much more than rounding explains (J11) */
  double noise;  /* noise of one function value (J3) */
  double needed; /* number of step lengths whose fit would resolve the bound (J14); INFINITY if no number would */
  double beside; /* shortest step, in scales, that crosses a jump near x, or 0 without a jump; longer steps are not used
                    (J12) */
  double narrow; /* longest step, in scales, over which differences agree with the gradient while longer steps disagree
                    (J16); 0 without such a limit */
  double scatter; /* relative variation of g . d under changes of x by 1e-12 of the scales (J17); 0 if not measured */
} GradcheckDirection;

typedef struct {
  int count;                       /* numbers in the block */
  double norm;                     /* norm of the gradient in the numbers' scales */
  double error, resolution, order; /* worst over the directions */
  GradcheckVerdict verdict;        /* worst over the directions */
  bool kink, jump, rough;          /* in any direction */
  bool singular;                   /* not checkable, because a loop is in a singular configuration (J15) */
  double beside;                   /* largest over unchecked directions without a jump at the point */
  double noise, needed, scatter;   /* largest over directions whose resolution is above the bound */
  double narrow;                   /* largest over unchecked directions */
  int directions;
  GradcheckDirection direction[GRADCHECK_DIRECTIONS];
} GradcheckBlockReport;

typedef struct {
  bool passed;  /* no block is wrong, and no gradient is missing */
  bool open;    /* there is no result, because a loop in a singular configuration does not close to the tolerance (J15);
                   see run */
  bool checked; /* every block was confirmed by the differences */
  bool kinks;   /* the contact law is only once differentiable, so that disagreeing differences give no verdict */
  double value; /* value of the loss */
  RecordReport run;
  AdjointReport adjoint;
  GradcheckBlockReport block[GRADCHECK_BLOCKS];
} GradcheckReport;

/* Coverage of a gradient check. Sets blocks and checked to the number of blocks and of checked blocks, and share to the
 * checked fraction of the squared gradient norm, in the numbers' scales. A block is checked if its verdict is not
 * GRADCHECK_UNCHECKED. share is 1 if all gradients are zero. Blocks without directions are not counted. */
typedef struct {
  int blocks, checked;
  double share;
} GradcheckCoverage;
GradcheckCoverage gradcheck_coverage(const GradcheckBlockReport* blocks, int count);
/* (J15) Changes the verdict GRADCHECK_WRONG to GRADCHECK_UNCHECKED if a loop is singular. In a singular configuration,
 * differences and gradient may disagree. singular: true if a loop is in such a configuration. block: as set by
 * gradcheck_vector. */
void gradcheck_mark_singular(bool singular, GradcheckBlockReport* block);
/* Returns true if a link's mass depends on a hull with a face of more than three corners. The volume of such a hull has
 * a kink, because a displaced corner changes the triangulation of the face. Allocates temporary memory, never fails. */
bool gradcheck_has_flat_faces(const Model* model);
/* Moves hull points inward by random fractions, so that no face has more than three corners. scene owns the points.
 * seed: seed of the random numbers. */
void gradcheck_make_generic(Scene* scene, const Model* model, uint64_t seed);
/* Compares the gradient of a scene's loss with central differences. scene: expanded by model_expand_shapes. model:
 * built from `scene`. If loss is NULL, a random linear function of poses and rates is checked. Returns
 * STATUS_INTERRUPTED without a verdict, otherwise the status of recording_run. Allocates temporary memory. */
Status gradcheck_scene(const Scene* scene, const Model* model, const Loss* loss, const GradcheckOptions* options,
                       GradcheckReport* report, Diagnostics* diagnostics);

/* Computes the gradient at values[count] into gradient[count]. context: the context of the function value. Returns
 * false if the function has no gradient at `values`. */
typedef bool (*GradcheckGradient)(void* context, const double* values, double* gradient);

/* Size of rounding errors. Smaller differences are not counted as errors. */
typedef struct {
  double value;                  /* rounding of one function value */
  double gradient;               /* rounding of the gradient's norm, in the numbers' scales */
  GradcheckGradient gradient_at; /* used to measure the rounding of a gradient that seems wrong (J17); may be NULL */
} GradcheckFloor;

/* Returns the function value of a vector, or NaN if undefined. If interrupted, gradcheck_vector stops with fewer
 * directions. */
typedef double (*GradcheckValue)(void* context, const double* values);
/* Compares gradient[count] with central differences of a function at base[count]. scale[count]: a large change of each
 * number; 0 if the number is not varied. If count is 0, the report is empty. NaN values of the function appear only in
 * the report. Allocates temporary memory. */
void gradcheck_vector(int count, const double* gradient, const double* scale, const double* base, GradcheckFloor floor,
                      GradcheckValue value, void* context, const GradcheckOptions* options, uint64_t seed,
                      GradcheckBlockReport* report);

#endif
