/* differentiate: recordings of runs, losses over them, and their exact gradient by the adjoint method (SDRS Eq. 86-88;
 * docs/derivations/adjoint.md). Every x_create has an x_destroy that accepts a zeroed object. */
#ifndef SDRS_DIFFERENTIATE_H
#define SDRS_DIFFERENTIATE_H

#include "scene/task.h"
#include "simulate/simulate.h"

/* ---------------------------------------------------------------- kept rows of a run (differentiate/keep.c)
 * Rows 0..steps of a run that losses read: usually few links, each in an interval of time. */
typedef struct {
  int steps, link_count;
  int *first, *last; /* kept rows of each link; none where first > last (links) */
  int* whole;        /* kept rows of all links, ascending (whole_count) */
  int whole_count;
  size_t *pose, *coordinate, *dof;                /* start of a link's rows in the arrays (links) */
  size_t whole_pose, whole_coordinate, whole_dof; /* start of the whole rows in the arrays */
  size_t poses, coordinates, dofs;                /* lengths of the arrays */
} RowKeep;

/* Returns an empty selection of rows for a run of the model with rows 0..steps. The caller frees it with
 * row_keep_destroy. Never fails. */
RowKeep row_keep_create(const Model* model, int steps);
/* Frees the arrays and zeroes the object. Accepts a zeroed object, but not NULL. */
void row_keep_destroy(RowKeep* keep);
/* Selects rows first..last of a link. If the link already has rows, the selection becomes the shortest interval that
 * contains both. Asserts 0 <= first and last <= steps. Allocates nothing; link is not checked. */
void row_keep_link(RowKeep* keep, int link, int first, int last);
/* Selects a row for all links. Asserts that rows are added in ascending order. Allocates. */
void row_keep_whole(RowKeep* keep, int row);
/* Computes where each selected row is stored. Call after all rows were added. The caller then allocates arrays of
 * `poses`, `coordinates` and `dofs` entries. Allocates nothing, never fails. */
void row_keep_lay_out(RowKeep* keep, const Model* model);

/* Indices of one link in the arrays of one row: its pose (and force), its first coordinate and its first rate. */
typedef struct {
  bool kept;
  size_t pose, coordinate, dof;
} RowPlace;
/* Returns the indices of a link in a row. If the row is not selected, kept is false and the indices are 0. Undefined
 * for a row or link out of range. */
RowPlace row_keep_place(const RowKeep* keep, const Model* model, int row, int link);
/* Returns the indices of a link in a row. If keep is NULL, all rows are stored, one after the other. Allocates
 * nothing. */
static inline RowPlace row_place(const RowKeep* keep, const Model* model, int row, int link) {
  if (keep) return row_keep_place(keep, model, row, link);
  size_t at = (size_t)row;
  return (RowPlace){true, at * (size_t)model->link_count + (size_t)link,
                    at * (size_t)model->coordinate_count + (size_t)model->links[link].coordinate_first,
                    at * (size_t)model->dof_count + (size_t)model->links[link].dof_first};
}

typedef struct LossSeeds LossSeeds;

/* ---------------------------------------------------------------- a recorded run (differentiate/recording.c) */

/* A state of a run: the end of a step (a row) or of a substep inside one. */
typedef struct {
  StepClock clock; /* clock of the substep that ended in this state */
  int step;        /* number of its step, from 1; 0: the initial state */
  bool row;        /* true: this state is the end of a step */
  int between;     /* index among the states inside steps; -1: the state is a row */
  int contact_first, contact_count;
  SimSolve* solves; /* solves of the substep that ended in this state, except the last (solve_count); NULL: none */
  int solve_count;
} RecordedState;

/* Rows 0..steps of a run. A whole recording stores all rows and the states inside steps. A thin recording stores the
 * rows selected by `keep`, and divides the run into parts that store whole rows while memory permits. The adjoint
 * recomputes the rows of the other parts. Borrows the model and keep. */
typedef struct Recording {
  const Model* model;
  const RowKeep* keep;    /* NULL: a whole recording */
  struct RunParts* parts; /* for a thin recording with a gradient, otherwise NULL (differentiate/parts.c) */
  int steps;
  bool is_part;
  int first_row;       /* number in the run of the first row in the arrays; 0 unless this is a part */
  int64_t first_state; /* number in the run of states[0]; 0 unless this is a part */
  int entry;           /* index of the state that the first step starts from; 0 unless this is a part */
  double* q;           /* joint coordinates                     ((steps + 1) * nq) */
  double* rate;        /* SimState.rate [m/s, rad/s]            ((steps + 1) * nv) */
  Pose* pose;          /* world pose of every link frame        ((steps + 1) * links) */
  Vec3* momentum;   /* SimState.momentum [kg m^2/s]; NULL unless the integrator is `momentum` ((steps + 1) * links) */
  Vec3* force;      /* total contact and friction force on every link, world [N]; row 0 is zero ((steps + 1) * links) */
  Vec3* forces_now; /* workspace for one row of a thin recording (links) */
  const ForcePair* pairs; /* pairs whose forces are kept in every row; borrowed (pair_count) */
  int pair_count;
  Vec3* pair_force;                  /* world [N]; row 0 is zero  ((steps + 1) * pair_count) */
  ContactRecord* contacts;           /* records of all states, consecutively */
  RecordedState* states;             /* in order of time, the initial state first (state_count) */
  int* row_state;                    /* index of every row's state  (steps + 1) */
  double* between_q;                 /* (between_count * nq) */
  Pose* between_pose;                /* (between_count * links) */
  Vec3* between_momentum;            /* NULL unless the integrator is `momentum` (between_count * links) */
  Vec3 *felt, *between_felt;         /* SimState.felt of rows and of states inside steps; NULL: no drive measures it */
  double *delayed, *between_delayed; /* SimState.delayed of rows and of states inside steps */
  SimGuess* guess;       /* warm start of friction in the first step; NULL: not computed, or stored in a part */
  double (*reaction)[6]; /* sim_reactions; row 0 is zero; NULL: not requested by the scene ((steps + 1) * links) */
  SimJoin* joined;       /* sim_closures_joined of every row; NULL: no closure has `active` ((steps + 1) * closures) */
  double*
      closures_broken; /* times at which closures broke, INFINITY if they did not [s]; NULL: no closures (closures) */
  size_t solve_bytes;  /* of RecordedState.solves */
  int state_count, between_count;
  int contact_capacity, step_capacity, state_capacity, between_capacity, momentum_capacity, felt_capacity,
      delayed_capacity, between_q_capacity;
} Recording;

/* Returns the poses of a row of a whole recording or a part (links), borrowed from the recording. Undefined for a row
 * that the recording does not store. */
static inline const Pose* recording_pose(const Recording* r, int step) {
  return r->pose + (size_t)(step - r->first_row) * (size_t)r->model->link_count;
}

/* Returns a link's pose at a row that the recording stores. Undefined for other rows. */
static inline Pose recording_link_pose(const Recording* r, int step, int link) {
  return r->pose[row_place(r->keep, r->model, step, link).pose];
}

/* Returns the poses of a state, borrowed (links). Undefined for a state of another recording. */
static inline const Pose* recording_state_pose(const Recording* r, const RecordedState* state) {
  size_t links = (size_t)r->model->link_count;
  return state->between < 0 ? r->pose + (size_t)(state->step - r->first_row) * links
                            : r->between_pose + (size_t)state->between * links;
}
/* Returns the coordinates of a state, borrowed (nq). Undefined for a state of another recording. */
static inline const double* recording_state_q(const Recording* r, const RecordedState* state) {
  size_t nq = (size_t)r->model->coordinate_count;
  return state->between < 0 ? r->q + (size_t)(state->step - r->first_row) * nq
                            : r->between_q + (size_t)state->between * nq;
}
/* Returns SimState.momentum of a state, borrowed (links); NULL unless the integrator is `momentum`. */
static inline const Vec3* recording_state_momentum(const Recording* r, const RecordedState* state) {
  size_t links = (size_t)r->model->link_count;
  if (!r->momentum) return NULL;
  return state->between < 0 ? r->momentum + (size_t)(state->step - r->first_row) * links
                            : r->between_momentum + (size_t)state->between * links;
}
/* Returns SimState.felt of a state, borrowed (links); NULL: no drive measures it. */
static inline const Vec3* recording_state_felt(const Recording* r, const RecordedState* state) {
  size_t links = (size_t)r->model->link_count;
  if (!r->felt) return NULL;
  return state->between < 0 ? r->felt + (size_t)(state->step - r->first_row) * links
                            : r->between_felt + (size_t)state->between * links;
}
/* Returns SimState.delayed of a state, borrowed (2 Model.delayed_count); NULL: no controller has a delay. */
static inline const double* recording_state_delayed(const Recording* r, const RecordedState* state) {
  size_t count = 2 * (size_t)r->model->delayed_count;
  if (!r->delayed) return NULL;
  return state->between < 0 ? r->delayed + (size_t)(state->step - r->first_row) * count
                            : r->between_delayed + (size_t)state->between * count;
}
/* Returns the number of substeps (>= 1) of a step >= 1. Undefined for step 0. Allocates nothing. */
static inline int recording_substeps(const Recording* r, int step) {
  return r->row_state[step - r->first_row] - r->row_state[step - 1 - r->first_row];
}

/* Result of recording a run. */
typedef struct {
  StepReport last; /* report of the failed step, else of the last step */
  bool failed;
  int failed_step;  /* the step (1..) that failed */
  double residual;  /* largest relative residual of all steps */
  int largest_step; /* step with that residual */
  int iterations;   /* total number of iterations of all steps */
  int halved_steps; /* StepReport.halved */
  UnconvergedSteps unconverged;
} RecordReport;

/* Creates a recording with memory for rows 0..steps. It can record several runs, one after the other, also of other
 * models of the same size. Owns its arrays, not the model. The caller frees it with recording_destroy. Never fails. */
void recording_create(Recording* recording, const Model* model, int steps);
/* Creates a thin recording. Borrows keep, which must be laid out (row_keep_lay_out) and outlive the recording. The
 * caller frees the recording with recording_destroy, which does not free keep. Never fails. */
void recording_create_thin(Recording* recording, const Model* model, int steps, const RowKeep* keep);
/* Makes the recording store the contact force of each of pairs[count] in rows 0..steps. Call once, before
 * recording_run: a second call leaks the first array. Borrows pairs. Allocates nothing for count 0. */
void recording_keep_pairs(Recording* recording, const ForcePair* pairs, int count, int steps);
/* Frees the arrays of the recording. Does not free model, keep and pairs. Accepts a zeroed recording, but not NULL. */
void recording_destroy(Recording* recording);
/* Returns the size of the recording's arrays [bytes]; the parts of a thin recording are not counted. Allocates nothing,
 * never fails. */
size_t recording_bytes(const Recording* recording);
/* Returns the memory [bytes] left for the parts of a thin recording if recording, seeds and parts together may use
 * `bytes`: the value for RecordOptions.memory, at least 1. Allocates nothing, never fails. */
size_t recording_memory_left(const Recording* recording, const LossSeeds* seeds, double bytes);
/* Returns STATUS_BAD_INPUT, with a message at `place`, if a thin recording and its seeds need `bytes` or more, so that
 * no memory is left for the parts; otherwise STATUS_OK. Allocates only the message. */
Status recording_check_memory(const Recording* recording, const LossSeeds* seeds, double bytes, SourcePlace place,
                              Diagnostics* diagnostics);
/* Options of recording_run. */
typedef struct {
  int threads;
  double tolerance; /* relative tolerance of the solver; 0: the scene's */
  bool (*interrupted)(void);
  const int* substeps; /* first number of substeps tried for each step (steps); NULL: chosen as by sim_step */
  size_t memory; /* for a thin recording: bytes that the parts for its gradient may use besides the kept rows and their
                    seeds; a few states are kept even if this is less. 0: values only */
  const Recording* like; /* run whose substeps this run repeats; NULL: none */
} RecordOptions;
/* Simulates the model from its initial state, for at most the number of steps that the recording has memory for. If a
 * step fails, the run stops: recording->steps is then the number of steps before it, and report and these rows are
 * valid. Returns STATUS_OK, STATUS_SOLVER, STATUS_BAD_INPUT (bodies intersect in the initial state) or
 * STATUS_INTERRUPTED. Allocates while contacts and substeps grow. */
Status recording_run(Recording* recording, const Model* model, const RecordOptions* options, RecordReport* report,
                     Diagnostics* diagnostics);
/* Appends the present state of sim as row `row`, for a caller that performs the steps itself. Call for rows 0, 1, ...
 * in order; recording->steps becomes `row`. A row beyond the steps of recording_create is an unchecked error. Allocates
 * while contacts and substeps grow. */
void recording_add_row(Recording* recording, Sim* sim, int row);

/* ---------------------------------------------------------------- derivatives of a loss (differentiate/loss_seeds.c)
 * Input of the adjoint: derivatives of the loss with respect to the recorded quantities, each taken as independent of
 * the others. Losses add to them. Rows as in Recording. All arrays are one block that begins at pose. */
struct LossSeeds {
  const RowKeep* keep;    /* NULL: all rows; otherwise the layout of the arrays of rows */
  double (*pose)[3][4];   /* dL/d(R | t) of every link frame, elementwise ((steps + 1) * links) */
  double* q;              /* w.r.t. joint coordinates (increments of joint_increment), poses fixed ((steps + 1) * nv) */
  double* rate;           /* ((steps + 1) * nv) */
  Vec3* force;            /* ((steps + 1) * links) */
  double (*reaction)[6];  /* by sim_reactions; NULL: not requested, or rows are thin. Not in the block ((steps + 1) *
                             links) */
  Vec3* center;           /* with respect to the centre of mass, link frame, at fixed poses (links) */
  Vec3* vertices;         /* w.r.t. hull vertices, link frame, poses and centre fixed; all hulls in order (vertices) */
  double* control;        /* w.r.t. controller parameters, poses fixed; all controllers in order (controls) */
  double* gains;          /* w.r.t. controller gains (ModelGradient.gains), poses fixed (gains) */
  double* mass;           /* w.r.t. link masses, poses and centres fixed [1/kg] (links) */
  size_t length;          /* numbers in the block */
  const ForcePair* pairs; /* Recording.pairs, borrowed (pair_count) */
  int pair_count;
  Vec3* pair_force; /* w.r.t. pair forces ((steps + 1) * pair_count); not in the block */
  size_t pair_length, reaction_length;
  bool keep_moments; /* run_adjoint leaves the derivatives by mass moments in ModelGradient.moment, and those by
                        vertices of smooth shapes in vertices: the caller then calls model_gradient_masses and
                        model_gradient_shapes, or needs no derivative by shapes and masses */
};

/* Returns zeroed derivatives for whole recordings of `steps` steps of the model. Owns its arrays. The caller frees them
 * with loss_seeds_destroy. Never fails. */
LossSeeds loss_seeds_create(const Model* model, int steps);
/* Returns zeroed derivatives for thin recordings with the rows of keep. Borrows keep, which must be laid out
 * (row_keep_lay_out). The caller frees them with loss_seeds_destroy. Never fails. */
LossSeeds loss_seeds_create_thin(const Model* model, const RowKeep* keep);
/* Sets all derivatives to zero. Allocates nothing, never fails. */
void loss_seeds_clear(LossSeeds* seeds);
/* Frees the arrays and zeroes the object. Accepts a zeroed object, but not NULL. */
void loss_seeds_destroy(LossSeeds* seeds);

/* ---------------------------------------------------------------- observables (differentiate/observe.c)
 * An observable is six numbers of every link, with derivatives. A run outputs it on request by name: as a file of the
 * run folder or a block of the library (docs/derivations/observables.md). */
enum { OBSERVABLE_COLUMNS = 6 };
typedef enum { OBSERVABLE_REACTIONS, OBSERVABLE_IMU, OBSERVABLES } ObservableKind;
/* Input of an observable: poses one step before, at and one step after a row, and reactions at the row. Borrowed. */
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
  const char* word;                        /* word of simulation.output; the file is <word>.csv */
  const char* columns[OBSERVABLE_COLUMNS]; /* <link>/<column> */
  unsigned output;                         /* OUTPUT_... */
  int reach;                               /* 1: needs the poses of the steps before and after */
  /* Sets out[OBSERVABLE_COLUMNS]. Cannot fail, allocates nothing. */
  void (*value)(const Observation* in, int link, double* out);
  /* Adds to `out` the derivatives of sum_k bar[k] value[k] with respect to the input. bar[OBSERVABLE_COLUMNS]. */
  void (*seed)(const Observation* in, int link, const double* bar, const ObservationBars* out);
} Observable;
/* Returns the observable of an ObservableKind (index, not checked). Static. */
const Observable* observable_at(int index);
/* Returns true if the observable is defined at the row of a whole recording. */
bool observable_reaches(const Observable* observable, const Recording* recording, int row);
/* Returns the input of observables at a row of a whole recording, borrowed from it; missing poses are NULL. */
Observation observation_of(const Recording* recording, int row);
/* Returns the arrays for derivatives at that row, borrowed from seeds, which must be whole. */
ObservationBars observation_bars(const Recording* recording, int row, LossSeeds* seeds);

/* ---------------------------------------------------------------- losses (differentiate/loss.c and loss_<kind>.c)
 * docs/losses.md defines them. */
typedef struct Loss Loss; /* the losses of a task in one scenario, with resolved names */

/* Creates the losses of a task for one scenario (index): looks up links, checks windows against the horizon, and draws
 * random targets from task->seed and the scenario. model: built from the initial design; its vertices, volumes and
 * edges are the reference of shape losses. Keeps neither task nor model. Returns STATUS_BAD_INPUT with diagnostics, and
 * *out = NULL, on any problem. The caller frees the loss with loss_destroy. */
Status loss_create(Loss** out, const Task* task, int scenario, const Model* model, Diagnostics* diagnostics);
/* Frees the loss and everything it owns. Accepts NULL. */
void loss_destroy(Loss* loss);
/* Returns the number of losses of the task, including those without effect in this scenario. Length of `terms` and
 * `factors` below. */
int loss_count(const Loss* loss);
/* Selects in `keep` all rows that loss_evaluate reads. Asserts equal numbers of steps; the model must be the same.
 * Allocates nothing. */
void loss_keep(const Loss* loss, const Model* model, RowKeep* keep);
/* Makes recording and seeds store the pair forces that the loss reads, and their derivatives. seeds may be NULL. Call
 * after both were created for `steps` steps. Both borrow the loss's list of pairs. Allocates. */
void loss_keep_pairs(const Loss* loss, int steps, Recording* recording, LossSeeds* seeds);
/* owned by the loss; an index from loss_count on is undefined */
const char* loss_name(const Loss* loss, int index); /* Returns the unique name of a loss: its column of convergence.csv.
                                                       Owned by the loss. Undefined for an index from loss_count on. */
/* Returns true if the loss applies to this scenario; otherwise its value is 0. */
bool loss_counts(const Loss* loss, int index);
/* Returns the weighted sum of the losses (without the scenario's weight) and sets terms[loss_count] unless NULL. Adds
 * derivatives of the sum to seeds unless NULL. The recording's model must have the links, hulls, vertices and
 * controllers of loss_create. Returns NaN, seeds unchanged, for a recording shorter than the horizon. Allocates
 * nothing. */
double loss_evaluate(const Loss* loss, const Recording* recording, double* terms, LossSeeds* seeds);
/* Does the same as loss_evaluate, for tasks with bounded losses (TaskLoss.bounded), which are not part of the returned
 * sum. Adds to seeds the derivatives of sum_i factors[i] terms[i]. factors[loss_count]; if NULL, the factors are 1, and
 * 0 for bounded losses. Allocates nothing. */
double loss_evaluate_with(const Loss* loss, const Recording* recording, double* terms, const double* factors,
                          LossSeeds* seeds);

/* ---------------------------------------------------------------- fabrication measures (differentiate/fabrication.c)
 */

/* Fabrication measures of a link: the values of the losses of the same names (docs/losses.md) with margin 0. */
typedef struct {
  double neck, wall; /* m; neck is NAN for a single hull */
  double overhang;   /* m^2 */
  double extent[3];  /* along x, y, z of its frame [m] */
  double clearance,
      clearance_at_least; /* from its parent, and its proved lower bound [m]; NAN: the joint has no range to sweep */
  double at[3];           /* joint coordinates of the least clearance (coordinates) */
  int coordinates;
} FabricationReport;
/* Returns the fabrication measures of a link with bounded hulls. build: build direction, unit vector, link frame.
 * angle: largest overhang from the vertical that needs no support [rad]. Allocates and frees; cannot fail. */
FabricationReport fabrication_measure(const Model* model, int link, Vec3 build, double angle);

/* ---------------------------------------------------------------- shorter time steps (differentiate/refined.c) */

/* Input of a refined run: a scene, and the losses of a task in one scenario (task NULL: no losses). Borrowed. */
typedef struct {
  const Scene* scene;
  const Task* task;
  int scenario;
  int moments; /* largest number of compared rows */
} RefinedSubject;

/* A run with a shorter time step. Owns its members, except those it shares with the given scene, which must outlive the
 * run. refined_run_free accepts a zeroed or incomplete run. */
typedef struct {
  Scene scene; /* copy of the given scene with other dt, steps, contact parameters and velocity gains; owns its
                  controllers only */
  Model model;
  bool has_model;
  Loss* loss;
  RowKeep keep;
  Recording recording; /* thin: rows of the loss and of the moments */
  int moments;
  double value;  /* value of the loss; NaN without a loss */
  double* terms; /* (loss_count) */
  RecordReport report;
} RefinedRun;

/* Runs the scene with dt / parts and parts times as many steps. Contact parameters and the damping gain / dt stay those
 * of the coarse scene. Model warnings are reported for parts 1 only. Status as of recording_run. *run is always set and
 * must be freed with refined_run_free; its value is NaN unless the status is STATUS_OK and the run is long enough. */
Status refined_run(RefinedRun* run, const RefinedSubject* subject, int parts, const RecordOptions* options,
                   Diagnostics* diagnostics);
/* Frees the run and zeroes it. Accepts a zeroed run, but not NULL. */
void refined_run_free(RefinedRun* run);
/* Returns the row of a moment (0..moments - 1): the same time in every refinement; the last moment is the end.
 * Undefined for a moment out of range. Allocates nothing. */
int refined_row(const RefinedRun* run, int moment);

/* ---------------------------------------------------------------- the adjoint of a run (differentiate/adjoint.c) */
typedef struct RunAdjoint RunAdjoint;

typedef struct {
  bool sound;             /* false: the numbers are not a gradient */
  int unsound_step;       /* step at which the adjoint failed */
  StepAdjointReport step; /* report of the unsound step, else of the step with the largest lambda */
  int largest_step;       /* step with the largest lambda */
  int indefinite_steps;   /* steps with an indefinite Hessian */
  double growth;          /* largest |lambda| of the run over that of its last loaded step */
  double rounding; /* estimated error of the gradient by rounding of positions, over all steps, in the scales of the
                      numbers */
} AdjointReport;

/* Creates an adjoint solver. Borrows the model. threads below 1 count as 1. The caller frees the solver with
 * run_adjoint_destroy. Never NULL. */
RunAdjoint* run_adjoint_create(const Model* model, int threads);
/* Frees the solver. Accepts NULL. */
void run_adjoint_destroy(RunAdjoint* adjoint);
/* Sets `gradient` to the derivatives of a loss over the run with respect to all numbers of the model. Its previous
 * contents are cleared. seeds: derivatives of the loss with respect to the recorded quantities. discount: factor per
 * step on derivatives passed back in time; 1 gives the exact gradient, a smaller factor a damped vector that is not a
 * gradient. A thin recording gives the same bits as a whole one: missing parts are recomputed, and only the stored
 * parts of the recording change. Asserts that a thin recording has parts. If the report is not sound, the result is no
 * gradient, and steps before unsound_step were not evaluated. Memory grows at most with the number of pairs of a
 * step. */
AdjointReport run_adjoint(RunAdjoint* adjoint, Recording* recording, const LossSeeds* seeds, double discount,
                          ModelGradient* gradient);

/* ---------------------------------------------------------------- gaps at the start (differentiate/start_gap.c)
 * g = n . (x_b - x_a) [m]: x_a, x_b a vertex of two hulls at the start, n a fixed unit vector from a to b. While all
 * such gaps of two hulls are above 0 along one n, the hulls do not intersect. */
typedef struct {
  int hull[2], vertex[2]; /* vertex[0] = -1: the surface of a half-space */
  Vec3 normal;            /* n, world */
  double least;           /* smallest admissible gap [m] */
} StartGap;
/* Finds the gaps of two links that are smaller in `trial` than min(least, distance of the two hulls in `standing`).
 * Normals are those of `standing`. trial may be a model that was refused for intersections; both models have the same
 * hulls. Sets out[0], out[1], ..., at most `most` gaps, and returns their number. Allocates temporarily. */
int start_gaps_find(const Model* standing, const Model* trial, int link_a, int link_b, double least, StartGap* out,
                    int most);
/* Returns the gap [m] at the initial poses pose[links]. */
double start_gap(const Model* model, const Pose* pose, const StartGap* gap);
/* Adds to seeds the derivatives of the gap with respect to the first state and the hull vertices. */
void start_gap_seed(const Recording* recording, const StartGap* gap, LossSeeds* seeds);

/* ---------------------------------------------------------------- forward sensitivities (differentiate/forward.c)
 * A function called at each row of a recording, from the first to the last. During the call,
 * step_forward_state(forward, 0) is the sensitivity of the coordinates of this row. */
typedef void (*ForwardVisit)(void* context, StepForward* forward, int row);
/* Propagates sensitivities through a whole recording without parts (asserted) and calls `visit` at each row. Returns
 * false if a step has no derivative; *step is then that step, and later rows are not visited. Allocates as
 * step_forward_advance does. */
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
/* Returns the name that `sdrs gradcheck` prints; static, never NULL. Undefined for an invalid block. */
const char* gradcheck_block_name(GradcheckBlock block);

enum { GRADCHECK_DIRECTIONS = 16, GRADCHECK_SWEEP = 21 };
/* Typical number of perturbed runs per direction: 18 to 30. Up to 32 more where noise hides the bound, and up to 142
 * more when the direction is found wrong. */
enum { GRADCHECK_RUNS = 26 };

typedef struct {
  unsigned blocks;  /* 1 << GradcheckBlock */
  int directions;   /* random directions per block, <= GRADCHECK_DIRECTIONS */
  int steps;        /* steps of the run; 0 = all */
  double tolerance; /* relative tolerance of the solver in each step */
  double bound;     /* relative error that passes */
  double enough;    /* resolution that passes where noise hides the bound (J14); 0: the bound only */
  uint64_t seed;
  int threads;
  bool (*interrupted)(void);
  const int* substeps; /* RecordOptions.substeps of the base run */
  bool fixed_substeps; /* perturbed runs repeat the substeps of the base run; false: they choose their own */
  double memory;       /* memory limit of the base run [bytes]; 0: it is kept whole */
  int average;         /* number of step lengths of the fit where noise dominates (J14); 1: no fit; 0: 16 */
  /* Called after each perturbed run with the number done and expected in total; NULL: not called. */
  void (*progress)(void* context, const char* block, int runs, int expected);
  void* progress_context;
} GradcheckOptions;

/* Verdict on a gradient. Ordered: the worst of several is the largest. */
typedef enum {
  GRADCHECK_RIGHT,     /* within the bound, and the differences are accurate enough to show an error */
  GRADCHECK_UNCHECKED, /* the differences do not resolve the bound and do not contradict the gradient */
  GRADCHECK_WRONG
} GradcheckVerdict;

/* One direction: central differences (L(x + h d) - L(x - h d)) / 2h for decreasing h, and Richardson extrapolations of
 * neighbours. The extrapolation with the smallest uncertainty decides; its distance from g . d is the error
 * (docs/derivations/gradcheck.md). */
typedef struct {
  double analytic, scale; /* g . d, g: the gradient; reference of relative errors: the larger of |g . d| and the
                             deciding difference */
  double step[GRADCHECK_SWEEP], difference[GRADCHECK_SWEEP], sum[GRADCHECK_SWEEP]; /* L(x + h d) + L(x - h d) */
  double extrapolated[GRADCHECK_SWEEP]; /* extrapolated from this and the previous step size; NaN for the first */
  int tried;
  double error, best_step; /* relative error, and the deciding step; NaN when no step decides (failed runs) */
  double resolution;       /* relative uncertainty of the deciding difference; a bound below it cannot be checked */
  double order;            /* order of convergence in h; NaN when errors never exceed rounding */
  GradcheckVerdict verdict;
  bool kink;     /* not checkable: the function has a kink here; g . d lies between its two slopes (J8) or among
                    those nearby (J10) */
  bool jump;     /* unchecked: the value at the point differs from the limit of its neighbours (J9) */
  bool rough;    /* the last differences vary by much more than rounding explains (J11) */
  double noise;  /* noise of one function value (J3) */
  double needed; /* number of step lengths whose fit would resolve the bound (J14); INFINITY: none */
  double beside; /* length of the shortest step that crosses a jump near the point, in scales: longer steps are not used
                    (J12); 0: no such jump */
  double narrow; /* longest step over which differences agree with the gradient if no longer step does (J16), in
                    scales; 0: they do not, or longer steps agree too */
  double scatter; /* relative variation of g . d under changes of 1e-12 of the scales (J17); 0: not measured */
} GradcheckDirection;

typedef struct {
  int count;                       /* numbers in the block */
  double norm;                     /* norm of the gradient in the numbers' scales */
  double error, resolution, order; /* worst over the directions */
  GradcheckVerdict verdict;        /* worst over the directions */
  bool kink, jump, rough;          /* in any direction */
  bool singular;                   /* a loop is in a singular configuration (J15): not checkable */
  double beside;                   /* largest over unchecked directions without a jump at the point */
  double noise, needed, scatter;   /* largest over directions whose resolution is above the bound */
  double narrow;                   /* largest over unchecked directions */
  int directions;
  GradcheckDirection direction[GRADCHECK_DIRECTIONS];
} GradcheckBlockReport;

typedef struct {
  bool passed;  /* no block is wrong, and no gradient is missing */
  bool open;    /* no result: a loop in a singular configuration does not close to the tolerance (J15); see run */
  bool checked; /* every block was confirmed by the differences */
  bool kinks;   /* the contact law is only once differentiable: disagreeing differences give no verdict */
  double value; /* of the loss */
  RecordReport run;
  AdjointReport adjoint;
  GradcheckBlockReport block[GRADCHECK_BLOCKS];
} GradcheckReport;

/* Coverage of a gradient check: the number of blocks, the number of checked blocks, and the checked fraction of the
 * squared gradient norm (in the numbers' scales). Checked means a verdict other than GRADCHECK_UNCHECKED. share is 1 if
 * all gradients are zero. Blocks without directions are not counted. */
typedef struct {
  int blocks, checked;
  double share;
} GradcheckCoverage;
GradcheckCoverage gradcheck_coverage(const GradcheckBlockReport* blocks, int count);
/* (J15) Changes a verdict GRADCHECK_WRONG to GRADCHECK_UNCHECKED if `singular`, that is, if a loop is in a singular
 * configuration: there, differences and gradient may disagree. block: as set by gradcheck_vector. Cannot fail,
 * allocates nothing. */
void gradcheck_excuse_singular(bool singular, GradcheckBlockReport* block);
/* Returns true if a link's mass depends on a hull with a face of more than three corners. The hull's volume then has a
 * kink at the present vertices, because a displaced corner changes the triangulation of the face. Allocates
 * temporarily; never fails. */
bool gradcheck_has_flat_faces(const Model* model);
/* Moves points of `scene`, which must own them, inward by random fractions drawn from `seed`, so that no face has more
 * than three corners. Never fails. */
void gradcheck_make_generic(Scene* scene, const Model* model, uint64_t seed);
/* Compares the gradient of a scene's loss with central differences. scene: expanded (model_expand_shapes). model: built
 * from `scene`. loss NULL: a random linear function of poses and rates is checked instead. Returns STATUS_INTERRUPTED
 * without a verdict, otherwise the status of recording_run. Allocates and frees. */
Status gradcheck_scene(const Scene* scene, const Model* model, const Loss* loss, const GradcheckOptions* options,
                       GradcheckReport* report, Diagnostics* diagnostics);

/* Sets gradient[count] to the gradient at values[count]. context: that of the function value. Returns false if there is
 * none. */
typedef bool (*GradcheckGradient)(void* context, const double* values, double* gradient);

/* Size of rounding errors: smaller differences are not counted as errors. */
typedef struct {
  double value;                  /* rounding of one function value */
  double gradient;               /* rounding of the gradient's norm, in the numbers' scales */
  GradcheckGradient gradient_at; /* measures the rounding of wrong directions (J17); NULL: not measured */
} GradcheckFloor;

/* Function value of a vector; NaN where undefined. When interrupted, gradcheck_vector stops early with fewer
 * directions. */
typedef double (*GradcheckValue)(void* context, const double* values);
/* Compares gradient[count] with central differences of a function at base[count]. scale[count]: a large change of each
 * number; 0: the number is not varied. count 0 gives an empty report. Function values that are NaN appear only in the
 * report. Allocates temporarily. */
void gradcheck_vector(int count, const double* gradient, const double* scale, const double* base, GradcheckFloor floor,
                      GradcheckValue value, void* context, const GradcheckOptions* options, uint64_t seed,
                      GradcheckBlockReport* report);

#endif
