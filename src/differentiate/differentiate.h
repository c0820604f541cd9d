/* differentiate: a run kept whole, losses over it, and the exact gradient by the adjoint method (SDRS Eq. 86-88;
 * docs/derivations/adjoint.md). Every x_create has an x_destroy that accepts a zeroed object. */
#ifndef SDRS_DIFFERENTIATE_H
#define SDRS_DIFFERENTIATE_H

#include "scene/task.h"
#include "simulate/simulate.h"

/* ---------------------------------------------------------------- which rows of a run are kept (differentiate/keep.c)
 * What losses look at is little: some links, in some window of time. Rows 0..steps. */
typedef struct {
  int steps, link_count;
  int *first, *last; /* rows that are kept of every link; none where first > last  (links) */
  int* whole;        /* rows that are kept of all links, ascending  (whole_count) */
  int whole_count;
  size_t *pose, *coordinate, *dof;                /* where a link's rows begin in arrays of them  (links) */
  size_t whole_pose, whole_coordinate, whole_dof; /* where the whole rows begin */
  size_t poses, coordinates, dofs;                /* how long such arrays are */
} RowKeep;

/* Nothing yet, for models with these links and joints. steps: of the run, so rows 0..steps. Freed with
 * row_keep_destroy. Never fails. */
RowKeep row_keep_create(const Model* model, int steps);
/* Frees its arrays and zeroes it; a zeroed one is accepted. NULL is not accepted. */
void row_keep_destroy(RowKeep* keep);
/* These rows of the link too, and all between them and those that it has. Asserts that 0 <= first and last <= steps.
 * Allocates nothing; link is not checked. */
void row_keep_link(RowKeep* keep, int link, int first, int last);
/* This row of all links; rows ascending. Asserts that no row is smaller than the one before. Allocates. */
void row_keep_whole(RowKeep* keep, int row);
/* Lay out the arrays: after all that is to be kept has been said. Allocates nothing: the caller allocates arrays
 * of length `poses`, `coordinates` and `dofs`, all kept rows together. Never fails. */
void row_keep_lay_out(RowKeep* keep, const Model* model);

/* Where the pose (and the force), the coordinates and the rates of a link stand in arrays of rows. */
typedef struct {
  bool kept;
  size_t pose, coordinate, dof;
} RowPlace;
/* Indices, not bytes; kept is false, and the rest 0, for a row that nobody asked for. Copied out. Row and link are
 * not checked beyond that: undefined outside of the run and the model. */
RowPlace row_keep_place(const RowKeep* keep, const Model* model, int row, int link);
/* keep NULL: rows are kept whole, one after the other. Allocates nothing. */
static inline RowPlace row_place(const RowKeep* keep, const Model* model, int row, int link) {
  if (keep) return row_keep_place(keep, model, row, link);
  size_t at = (size_t)row;
  return (RowPlace){true, at * (size_t)model->link_count + (size_t)link,
                    at * (size_t)model->coordinate_count + (size_t)model->links[link].coordinate_first,
                    at * (size_t)model->dof_count + (size_t)model->links[link].dof_first};
}

typedef struct LossSeeds LossSeeds;

/* ---------------------------------------------------------------- a recorded run (differentiate/recording.c) */

/* A state of a run, among all that the solver went through: the user's rows and what lies inside steps. */
typedef struct {
  StepClock clock; /* of the substep that led to it */
  int step;        /* of the run, 1.., that it ends or lies in; 0: the start */
  bool row;        /* it ends its step */
  int between;     /* index among the states that are not in the arrays of rows; -1: it is one of those */
  int contact_first, contact_count;
} RecordedState;

/* Rows 0..steps of a run. Either whole, with the states inside steps that were taken in substeps; or thin: of every row
 * what `keep` says, and whole rows in parts, some of which are found again when the adjoint comes to them. Borrows the
 * model and keep. */
typedef struct Recording {
  const Model* model;
  const RowKeep* keep;    /* NULL: whole */
  struct RunParts* parts; /* of a thin recording with a gradient; NULL: none (differentiate/parts.c) */
  int steps;
  bool is_part;
  int first_row;       /* of the run: that the arrays begin with; 0 but for parts */
  int64_t first_state; /* number in the run of states[0]; 0 but for parts */
  int entry;           /* index of the state that the first step goes from; 0 but for parts */
  double* q;           /* joint coordinates                     ((steps + 1) * nq) */
  double* rate;        /* SimState.rate [m/s, rad/s]            ((steps + 1) * nv) */
  Pose* pose;          /* world pose of every link frame        ((steps + 1) * links) */
  Vec3* momentum;   /* SimState.momentum [kg m^2/s]; NULL unless the integrator is `momentum` ((steps + 1) * links) */
  Vec3* force;      /* total contact and friction force on every link, world [N]; row 0 is zero ((steps + 1) * links) */
  Vec3* forces_now; /* of one row, where rows are thin  (links) */
  const ForcePair* pairs; /* whose forces are kept of every row; borrowed  (pair_count) */
  int pair_count;
  Vec3* pair_force;                  /* world [N]; row 0 is zero  ((steps + 1) * pair_count) */
  ContactRecord* contacts;           /* of all states, one after the other */
  RecordedState* states;             /* in the order of time, the start first  (state_count) */
  int* row_state;                    /* index of every row's state  (steps + 1) */
  double* between_q;                 /* (between_count * nq) */
  Pose* between_pose;                /* (between_count * links) */
  Vec3* between_momentum;            /* NULL alike (between_count * links) */
  Vec3 *felt, *between_felt;         /* SimState.felt of rows and of states between; NULL: no drive measures it */
  double *delayed, *between_delayed; /* SimState.delayed alike */
  SimGuess* guess; /* what friction of the first step rests on; NULL: it was not looked for, or is kept in a part */
  double (*reaction)[6];   /* sim_reactions; row 0 is zero; NULL: the scene does not ask ((steps + 1) * links) */
  SimJoin* joined;         /* sim_closures_joined of every row; NULL: none has `active`  ((steps + 1) * closures) */
  double* closures_broken; /* when closures broke, INFINITY: not so far [s]; NULL: the model has none  (closures) */
  int state_count, between_count;
  int contact_capacity, step_capacity, state_capacity, between_capacity, momentum_capacity, felt_capacity,
      delayed_capacity, between_q_capacity;
} Recording;

/* Poses of a row (links), borrowed; of whole recordings and parts. A row that the recording does not hold is
 * undefined, not checked. Not to be freed. */
static inline const Pose* recording_pose(const Recording* r, int step) {
  return r->pose + (size_t)(step - r->first_row) * (size_t)r->model->link_count;
}

/* Of a row that is kept. Copied out; a row that is not kept is undefined, not checked. */
static inline Pose recording_link_pose(const Recording* r, int step, int link) {
  return r->pose[row_place(r->keep, r->model, step, link).pose];
}

/* Poses of any state of the run. (links), borrowed; the state must be one of this recording, or the result is
 * undefined. */
static inline const Pose* recording_state_pose(const Recording* r, const RecordedState* state) {
  size_t links = (size_t)r->model->link_count;
  return state->between < 0 ? r->pose + (size_t)(state->step - r->first_row) * links
                            : r->between_pose + (size_t)state->between * links;
}
/* Coordinates of any state[nq], borrowed. Not to be freed; the state must be one of this recording, or the result
 * is undefined. */
static inline const double* recording_state_q(const Recording* r, const RecordedState* state) {
  size_t nq = (size_t)r->model->coordinate_count;
  return state->between < 0 ? r->q + (size_t)(state->step - r->first_row) * nq
                            : r->between_q + (size_t)state->between * nq;
}
/* SimState.momentum (links); NULL unless the integrator is `momentum`. Borrowed, not to be freed. */
static inline const Vec3* recording_state_momentum(const Recording* r, const RecordedState* state) {
  size_t links = (size_t)r->model->link_count;
  if (!r->momentum) return NULL;
  return state->between < 0 ? r->momentum + (size_t)(state->step - r->first_row) * links
                            : r->between_momentum + (size_t)state->between * links;
}
/* SimState.felt (links); NULL: no drive measures it. Borrowed, not to be freed. */
static inline const Vec3* recording_state_felt(const Recording* r, const RecordedState* state) {
  size_t links = (size_t)r->model->link_count;
  if (!r->felt) return NULL;
  return state->between < 0 ? r->felt + (size_t)(state->step - r->first_row) * links
                            : r->between_felt + (size_t)state->between * links;
}
/* SimState.delayed (2 Model.delayed_count); NULL: nothing comes late. Borrowed, not to be freed. */
static inline const double* recording_state_delayed(const Recording* r, const RecordedState* state) {
  size_t count = 2 * (size_t)r->model->delayed_count;
  if (!r->delayed) return NULL;
  return state->between < 0 ? r->delayed + (size_t)(state->step - r->first_row) * count
                            : r->between_delayed + (size_t)state->between * count;
}
/* In how many substeps step 1.. was taken. At least 1; step 0 is undefined, it was not taken. Allocates nothing. */
static inline int recording_substeps(const Recording* r, int step) {
  return r->row_state[step - r->first_row] - r->row_state[step - 1 - r->first_row];
}

/* How a run ended that was to be recorded. */
typedef struct {
  StepReport last; /* of the step that failed, or of the last */
  bool failed;
  int failed_step;  /* the step (1..) that failed */
  double residual;  /* largest of all steps, relative */
  int largest_step; /* where */
  int iterations;   /* of all steps */
  int halved_steps; /* StepReport.halved */
  UnconvergedSteps unconverged;
} RecordReport;

/* Room for `steps` steps, rows 0..steps; a recording can be run again and again, with other models of the same size
 * too. Freed with recording_destroy. Owns its arrays, not the model. Never fails. */
void recording_create(Recording* recording, const Model* model, int steps);
/* A thin one. keep is borrowed. It must be laid out, and outlive the recording. Freed with recording_destroy, which
 * leaves keep alone. Never fails. */
void recording_create_thin(Recording* recording, const Model* model, int steps, const RowKeep* keep);
/* Keep the force between these links, too, of so many steps: once, before it is run. pairs[count] are borrowed; count
 * 0: nothing is allocated. A second call would leave the first array without an owner: an error of the caller. */
void recording_keep_pairs(Recording* recording, const ForcePair* pairs, int count, int steps);
/* Frees what it owns, not model, keep and pairs; a zeroed one is accepted. NULL is not accepted. */
void recording_destroy(Recording* recording);
/* Bytes that its arrays take; parts of a thin one are beside. Asking allocates nothing, never fails. */
size_t recording_bytes(const Recording* recording);
/* What is left for its parts (RecordOptions.memory, at least 1) of so many bytes for all of it and its seeds. 1 where
 * there is nothing left. Asking allocates nothing, never fails. */
size_t recording_memory_left(const Recording* recording, const LossSeeds* seeds, double bytes);
/* Whether a thin recording and its seeds leave something of so many bytes for the parts: STATUS_BAD_INPUT and a message
 * at `place` when not. Asking allocates nothing else. */
Status recording_check_memory(const Recording* recording, const LossSeeds* seeds, double bytes, SourcePlace place,
                              Diagnostics* diagnostics);
/* Run from the model's start. Stops at a step that fails: recording->steps are then those before. interrupted: asked
 * after every step (NULL: never). STATUS_OK, STATUS_SOLVER, STATUS_BAD_INPUT (the start intersects), or
 * STATUS_INTERRUPTED. */
typedef struct {
  int threads;
  double tolerance; /* relative; 0 = the scene's */
  bool (*interrupted)(void);
  const int* substeps; /* number in which each step is tried first (steps); NULL: as sim_step finds good */
  size_t memory;       /* of a thin recording: bytes that the parts for its gradient may take besides the kept rows and
                          their seeds; at least a few states are held however little that is. 0: values only */
  const Recording* like; /* a run whose steps' parts this one is to repeat; NULL: none */
} RecordOptions;
/* At most as many steps as there is room for. Allocates while contacts and substeps grow; of a run that fails the
 * report and the rows before it stand. */
Status recording_run(Recording* recording, const Model* model, const RecordOptions* options, RecordReport* report,
                     Diagnostics* diagnostics);
/* Row by row, of a run that another takes the steps of: the present state as row 0, 1, ... of an empty recording. Rows
 * must come in order. steps becomes row. Beyond the rows of recording_create is an error of the caller, not checked;
 * substeps grow their arrays, which allocates. */
void recording_add_row(Recording* recording, Sim* sim, int row);

/* ---------------------------------------------------------------- what a loss hands to the adjoint
 * (differentiate/loss_seeds.c)
 * Derivatives of the loss with respect to the recorded quantities, each taken as independent of the others; losses add
 * to them. Rows as in Recording. All arrays are one block that begins at pose. */
struct LossSeeds {
  const RowKeep* keep;  /* NULL: rows are whole; else the arrays of rows are laid out by it */
  double (*pose)[3][4]; /* dL/d(R | t) of every link's frame, entry by entry  ((steps + 1) * links) */
  double* q;            /* of joint coordinates, in increments of joint_increment, at fixed poses  ((steps + 1) * nv) */
  double* rate;         /* ((steps + 1) * nv) */
  Vec3* force;          /* ((steps + 1) * links) */
  double (*reaction)[6]; /* of sim_reactions; NULL: the scene does not ask, or rows are thin. Apart from the block
                             ((steps + 1) * links) */
  Vec3* center;          /* of the link's centre of mass in its own frame, at fixed poses  (links) */
  Vec3* vertices;  /* of hull vertices in the link frame, at fixed poses and centre; all hulls in order (vertices) */
  double* control; /* of controller parameters, at fixed poses; all controllers in order (controls) */
  double* gains;   /* of controllers' gains (ModelGradient.gains), at fixed poses (gains) */
  double* mass;    /* of the links' masses, at fixed poses and centres  [1/kg]  (links) */
  size_t length;   /* numbers in the block */
  const ForcePair* pairs; /* of Recording.pairs, borrowed  (pair_count) */
  int pair_count;
  Vec3* pair_force; /* ((steps + 1) * pair_count); apart from the block */
  size_t pair_length, reaction_length;
};

/* Zeros, for recordings of `steps` steps of models with these links, joints, hulls and controllers. Freed with
 * loss_seeds_destroy. Owns its arrays. Never fails. */
LossSeeds loss_seeds_create(const Model* model, int steps);
/* The same for the rows of keep, which is borrowed. It must be laid out. Freed with loss_seeds_destroy, which leaves
 * keep alone. Never fails. */
LossSeeds loss_seeds_create_thin(const Model* model, const RowKeep* keep);
/* Zeroes again what is there; allocates nothing. Never fails. */
void loss_seeds_clear(LossSeeds* seeds);
/* Frees and zeroes; a zeroed one is accepted. NULL is not accepted. */
void loss_seeds_destroy(LossSeeds* seeds);

/* ---------------------------------------------------------------- observables (differentiate/observe.c)
 * Six numbers of every link that a run is asked for by name: a file of the run folder, a block of the library, with
 * derivatives (docs/derivations/observables.md). */
enum { OBSERVABLE_COLUMNS = 6 };
typedef enum { OBSERVABLE_REACTIONS, OBSERVABLE_IMU, OBSERVABLES } ObservableKind;
/* What they are made of: poses a step before, at and a step after the moment, and reactions at it. Borrowed. */
typedef struct {
  const Model* model;
  double dt;                   /* s */
  const Pose* pose[3];         /* (links each) */
  const double (*reaction)[6]; /* sim_reactions (links) */
} Observation;
/* Derivatives by these: poses entry by entry. Borrowed. */
typedef struct {
  double (*pose[3])[3][4]; /* (links each) */
  double (*reaction)[6];   /* (links) */
} ObservationBars;
typedef struct {
  const char* word;                        /* of simulation.output; its file is <word>.csv */
  const char* columns[OBSERVABLE_COLUMNS]; /* <link>/<column> */
  unsigned output;                         /* OUTPUT_... */
  int reach;                               /* 1: it needs the poses before and after */
  /* out[OBSERVABLE_COLUMNS], set. Nothing is allocated; cannot fail. */
  void (*value)(const Observation* in, int link, double* out);
  /* Adds the derivatives of bar . value to out; bar[OBSERVABLE_COLUMNS]. */
  void (*seed)(const Observation* in, int link, const double* bar, const ObservationBars* out);
} Observable;
/* index: of ObservableKind, not checked. Constant, not to be freed. */
const Observable* observable_at(int index);
/* Does the row of a whole recording have a value? */
bool observable_reaches(const Observable* observable, const Recording* recording, int row);
/* At a row of a whole recording; poses that it does not have are NULL. Borrowed from the recording, by value. */
Observation observation_of(const Recording* recording, int row);
/* Where derivatives of that row go. Borrowed from seeds, which are whole; by value. */
ObservationBars observation_bars(const Recording* recording, int row, LossSeeds* seeds);

/* ---------------------------------------------------------------- losses (differentiate/loss.c and loss_<kind>.c)
 * docs/losses.md defines them. */
typedef struct Loss Loss; /* all losses of a task in one scenario, names resolved */

/* Looks up links, checks windows against the horizon, draws random targets (scenario: index, task->seed). model: of the
 * initial design; its vertices, volumes and edges are the reference of shape losses. Neither task nor model is kept.
 * Every problem goes to diagnostics; STATUS_BAD_INPUT and *out = NULL when there was one. Freed with loss_destroy. */
Status loss_create(Loss** out, const Task* task, int scenario, const Model* model, Diagnostics* diagnostics);
/* Frees it and all that it owns; NULL is accepted. */
void loss_destroy(Loss* loss);
/* How many terms: the losses of the task, those that do not count here too. The length of `terms` and `factors`
 * below; asking never fails. */
int loss_count(const Loss* loss);
/* All rows that loss_evaluate looks at; nothing is laid out yet. keep must be of the same model and of as many
 * steps, or its assertion fails. Allocates nothing. */
void loss_keep(const Loss* loss, const Model* model, RowKeep* keep);
/* After a recording or seeds (NULL: none) of so many steps were created: the forces between links that it looks at.
 * Borrows the loss's list of pairs for as long as they live; allocates. */
void loss_keep_pairs(const Loss* loss, int steps, Recording* recording, LossSeeds* seeds);
/* owned by the loss; an index from loss_count on is undefined */
const char* loss_name(const Loss* loss, int index); /* unlike all others: a column of convergence.csv. an index from
                                                     * loss_count on is undefined */
bool loss_counts(const Loss* loss, int index);      /* in this scenario? Else its value is 0 */
/* Each term times its own weight (not the scenario's) to terms[loss_count], or NULL; returns their sum. seeds NULL:
 * values only; else derivatives of the sum are added. Links, hulls, vertices and controllers of the recording's model
 * are those that the loss was made for. A recording shorter than the horizon has no loss: NaN, seeds untouched. No
 * allocation. */
double loss_evaluate(const Loss* loss, const Recording* recording, double* terms, LossSeeds* seeds);
/* The same for losses of which some are bounds (TaskLoss.bounded), which are not in the sum; the derivatives are those
 * of the terms times factors[loss_count] (NULL: 1, and 0 of what is bounded). factors and terms are lent. NaN as
 * above. No allocation. */
double loss_evaluate_with(const Loss* loss, const Recording* recording, double* terms, const double* factors,
                          LossSeeds* seeds);

/* ---------------------------------------------------------------- what can be made (differentiate/fabrication.c) */

/* A link as the losses of the same names measure it (docs/losses.md), with margin 0. */
typedef struct {
  double neck, wall;                    /* m; NAN: one hull has no neck */
  double overhang;                      /* m^2 */
  double extent[3];                     /* along x, y, z of its frame [m] */
  double clearance, clearance_at_least; /* from its parent, and what is proved [m]; NAN: its joint has no such range */
  double at[3];                         /* coordinates of the joint where it is least  (coordinates) */
  int coordinates;
} FabricationReport;
/* build: unit, link frame; angle from the upright that needs no support [rad]. The link has bounded hulls. Allocates
 * and frees; it does not fail. */
FabricationReport fabrication_measure(const Model* model, int link, Vec3 build, double angle);

/* ---------------------------------------------------------------- shorter time steps (differentiate/refined.c) */

/* What is run again: a scene, with the losses of a task in one of its scenarios or without (task NULL). Borrowed. */
typedef struct {
  const Scene* scene;
  const Task* task;
  int scenario;
  int moments; /* that are compared, at most */
} RefinedSubject;

/* A run with a part of the scene's time step. Owns what it points to but for what it shares with the scene, which must
 * outlive it; refined_run_free accepts a zeroed or half-made one. */
typedef struct {
  Scene
      scene; /* the given one but for dt, steps, contact parameters and velocity gains; only its controllers are own */
  Model model;
  bool has_model;
  Loss* loss;
  RowKeep keep;
  Recording recording; /* thin: what the loss looks at, and the moments */
  int moments;
  double value;  /* of the loss; NaN without one */
  double* terms; /* (loss_count) */
  RecordReport report;
} RefinedRun;

/* dt / parts, parts times as many steps. The coarse scene decides what contact's parameters are and what a velocity
 * gain damps (gain / dt). Warnings of the model are told with parts 1. Status as of recording_run. *run is set in any
 * case and is to be freed; its value stays NaN when the status is not STATUS_OK, or the run is too short. The run
 * owns scene, model and recording: refined_run_free. */
Status refined_run(RefinedRun* run, const RefinedSubject* subject, int parts, const RecordOptions* options,
                   Diagnostics* diagnostics);
/* Frees what it owns, and zeroes it. A zeroed one is accepted, NULL is not. */
void refined_run_free(RefinedRun* run);
/* The row of a moment (0..moments - 1); the same time in every refinement, the end of the run the last. Asks that the
 * run was made with moments. A moment beyond, or a run without moments, is undefined, not checked. Allocates
 * nothing. */
int refined_row(const RefinedRun* run, int moment);

/* ---------------------------------------------------------------- the adjoint of a run (differentiate/adjoint.c) */
typedef struct RunAdjoint RunAdjoint;

typedef struct {
  bool sound;             /* false: what was computed is no gradient */
  int unsound_step;       /* where */
  StepAdjointReport step; /* of the unsound step, or of the one with the largest lambda */
  int largest_step;       /* with the largest lambda */
  int indefinite_steps;   /* with a Hessian that is not positive definite */
  double growth;          /* largest |lambda| of the run over that of its last loaded step */
  double rounding;        /* of positions, as the gradient has it, in its numbers' scales; of all steps */
} AdjointReport;

/* Borrows the model. Freed with run_adjoint_destroy. Never NULL; threads below 1 count as 1. */
RunAdjoint* run_adjoint_create(const Model* model, int threads);
/* Frees it and all that it owns; NULL is accepted. */
void run_adjoint_destroy(RunAdjoint* adjoint);
/* Gradient of a loss over the run by all that the model holds. discount: factor per step on what is handed back in
 * time; 1 gives the gradient, less a tamer vector that is none. A thin recording gives the same bits as a whole one:
 * parts of the run that it does not hold are run again, and leave it as it was but for the parts that it holds.
 * gradient is cleared first, then set. Asserts that a thin recording has parts. Where the report is not sound it is no
 * gradient, and steps before unsound_step were not looked at. Memory grows with the pairs of a step at most. */
AdjointReport run_adjoint(RunAdjoint* adjoint, Recording* recording, const LossSeeds* seeds, double discount,
                          ModelGradient* gradient);

/* ---------------------------------------------------------------- gaps at the start (differentiate/start_gap.c)
 * g = n . (x_b - x_a) [m]: x_a, x_b a vertex of two hulls at the start, n a fixed unit vector from a to b. While all
 * such gaps of two hulls are above 0 along one n, the hulls do not intersect. */
typedef struct {
  int hull[2], vertex[2]; /* vertex[0] = -1: the surface of a half-space */
  Vec3 normal;            /* n, world */
  double least;           /* to be kept [m] */
} StartGap;
/* Gaps of two links that a trial makes smaller than is kept: min(least, the distance in the model that stands), along
 * the normals of that model. trial may be a model that model_create refused for bodies that intersect; both models have
 * the same hulls. out[most] is set from 0 on; returns how many. Allocates for the time of the call. */
int start_gaps_find(const Model* standing, const Model* trial, int link_a, int link_b, double least, StartGap* out,
                    int most);
/* Returns g at the poses of a start, pose[links] [m]. */
double start_gap(const Model* model, const Pose* pose, const StartGap* gap);
/* Adds the derivatives of g by the first state to seeds. */
void start_gap_seed(const Recording* recording, const StartGap* gap, LossSeeds* seeds);

/* ---------------------------------------------------------------- a run forwards (differentiate/forward.c)
 * Through a recording that is kept whole, from its first row to its last; visit is called at each row, where
 * step_forward_state(forward, 0) is the sensitivity of its coordinates. false: a step (*step) has no derivative. */
typedef void (*ForwardVisit)(void* context, StepForward* forward, int row);
/* Asserts that the recording is whole and has no parts. Returns false at the step that has no derivative, whose
 * number is *step; nothing is visited from there on. Allocates as step_forward_advance does. */
bool recording_forward(StepForward* forward, const Recording* recording, ForwardVisit visit, void* context, int* step);

/* ---------------------------------------------------------------- gradient check (differentiate/gradcheck.c) */

typedef enum {
  GRADCHECK_STATE,       /* initial coordinates (increments) and velocities */
  GRADCHECK_CONTROL,     /* parameters of signals */
  GRADCHECK_VERTICES,    /* hull vertices */
  GRADCHECK_ATTACHMENTS, /* joint origins */
  GRADCHECK_MASS,        /* masses, densities where those are given */
  GRADCHECK_CONTACT,     /* support, stiffness, friction, smoothing, rest speed */
  GRADCHECK_MATERIAL,    /* restitution; friction and restitution of links, then of contact.pairs; those above 0 */
  GRADCHECK_GAINS,       /* of controllers: gains, limits, delays, feedback */
  GRADCHECK_SHAPES,      /* parameters of convex smooth shapes */
  GRADCHECK_CLOSURES,    /* points and lengths of closures, ratios of couplings */
  GRADCHECK_TENDONS,     /* points, stiffness, rest length of tendons */
  GRADCHECK_BUSHINGS,    /* stiffness, damping, preload, positions of bushings */
  GRADCHECK_BLOCKS
} GradcheckBlock;
/* Static; as `sdrs gradcheck` prints it. Never NULL, not to be freed; undefined for what is no block. */
const char* gradcheck_block_name(GradcheckBlock block);

enum { GRADCHECK_DIRECTIONS = 16, GRADCHECK_SWEEP = 21 };
/* Moved runs that a direction takes as a rule: 18 to 30, and up to 126 more where it is found wrong. */
enum { GRADCHECK_RUNS = 26 };

typedef struct {
  unsigned blocks;  /* 1 << GradcheckBlock */
  int directions;   /* random ones per block, <= GRADCHECK_DIRECTIONS */
  int steps;        /* of the run; 0 = all */
  double tolerance; /* of the steps, relative */
  double bound;     /* relative error that passes */
  uint64_t seed;
  int threads;
  bool (*interrupted)(void);
  const int* substeps; /* of the unmoved run: RecordOptions.substeps */
  bool fixed_substeps; /* moved runs repeat the substeps of the unmoved one; false: they choose their own, as runs do */
  double memory;       /* bytes that the unmoved run may take; 0: it is kept whole */
  int average; /* step lengths that each difference is the mean of, where noise hides what it is to tell; 0: 1 */
  /* After each moved run: so many are done of about so many, of all blocks asked for. NULL: nobody wants to know. */
  void (*progress)(void* context, const char* block, int runs, int expected);
  void* progress_context;
} GradcheckOptions;

/* What the differences allow to say of a gradient. In order: the worst of several is the largest. */
typedef enum {
  GRADCHECK_RIGHT,     /* within the bound, and the differences would have shown it otherwise */
  GRADCHECK_UNCHECKED, /* the differences do not resolve the bound, and do not contradict the gradient */
  GRADCHECK_WRONG
} GradcheckVerdict;

/* One direction: (L(x + h d) - L(x - h d)) / 2h for falling h, and two neighbours extrapolated to h = 0 (Richardson).
 * The extrapolated difference that is least in doubt by its neighbours and the noise of the sweep decides: its distance
 * from g . d is the error (docs/derivations/gradcheck.md). */
typedef struct {
  double analytic, scale; /* g . d; what errors are relative to: that or the difference that decides, if larger */
  double step[GRADCHECK_SWEEP], difference[GRADCHECK_SWEEP], sum[GRADCHECK_SWEEP]; /* L(x + h d) + L(x - h d) */
  double extrapolated[GRADCHECK_SWEEP]; /* from this step and the one before; NaN for the first */
  int tried;
  double error, best_step; /* relative, and the step that decides; NaN when no step does (runs that fail) */
  double resolution; /* relative: how far the difference that decides may be off; errors below it say nothing, and a
                        bound below it cannot be checked */
  double order;      /* power of h with which errors fall; NaN when they never rise above rounding */
  GradcheckVerdict verdict;
  bool kink;     /* unchecked because the function bends at the point itself; g . d lies between its two slopes (J8), or
                    among those beside it (J10) */
  bool jump;     /* unchecked because the value at the point is not the limit of those beside it (J9) */
  bool rough;    /* what the last differences vary by is far more than rounding explains (J11) */
  double noise;  /* of one value of the function (J3) */
  double needed; /* of what noise hides: step lengths whose means would tell the bound (J14); INFINITY: none would */
  double beside; /* the shortest step that reaches across a jump beside the point, in scales; longer ones say nothing
                    of it (J12); 0: none does */
} GradcheckDirection;

typedef struct {
  int count;                       /* numbers in the block */
  double norm;                     /* of the gradient, in the numbers' scales */
  double error, resolution, order; /* worst of the directions */
  GradcheckVerdict verdict;        /* the same */
  bool kink, jump, rough;          /* of any direction */
  bool singular;                   /* unchecked, and else wrong: a loop stands in a singular position (J15) */
  double beside;                   /* the largest of those that are unchecked and have no jump at the point */
  double noise, needed;            /* the largest of those that are unchecked */
  int directions;
  GradcheckDirection direction[GRADCHECK_DIRECTIONS];
} GradcheckBlockReport;

typedef struct {
  bool passed;  /* no block is wrong, nor a gradient missing that is there */
  bool open;    /* none is: a loop in a singular position does not close to the tolerance (J15); run says where */
  bool checked; /* and of each the differences say that it is right */
  bool kinks;   /* the contact law is once differentiable: where differences disagree nothing is said */
  double value; /* of the loss */
  RecordReport run;
  AdjointReport adjoint;
  GradcheckBlockReport block[GRADCHECK_BLOCKS];
} GradcheckReport;

/* Counts what was checked of these blocks[count]: a block is checked where its verdict is not GRADCHECK_UNCHECKED.
 * share: the part of the squared norm of their gradients, in the numbers' scales, that checked blocks hold; 1 where all
 * are zero. Blocks without directions are left out. */
typedef struct {
  int blocks, checked;
  double share;
} GradcheckCoverage;
GradcheckCoverage gradcheck_coverage(const GradcheckBlockReport* blocks, int count);
/* (J15) Where a loop stands in a singular position differences and gradient need not agree: what is wrong cannot be
 * checked. singular: one does. block: as gradcheck_vector left it, changed. Cannot fail, allocates nothing. */
void gradcheck_excuse_singular(bool singular, GradcheckBlockReport* block);
/* The volume of a hull has a kink where a face has more than three corners: moved outward, different triangles span it.
 * Is there such a hull that a link's mass comes from? Shrinks them a little, each vertex by a random share (scene:
 * expanded, model: built from it). Allocates for the time of the call, changes nothing; never fails. */
bool gradcheck_has_flat_faces(const Model* model);
/* Moves points of `scene`, by shares drawn from `seed` alone. Points must be the scene's own: those shared with
 * another would move there, too. Never fails. */
void gradcheck_make_generic(Scene* scene, const Model* model, uint64_t seed);
/* scene: expanded (model_expand_shapes), model: built from it; moved runs have models of other numbers. loss NULL: a
 * random linear function of the poses and rates of the run. STATUS_INTERRUPTED: nothing is said. Status otherwise as of
 * recording_run. Allocates and frees. */
Status gradcheck_scene(const Scene* scene, const Model* model, const Loss* loss, const GradcheckOptions* options,
                       GradcheckReport* report, Diagnostics* diagnostics);

/* Below what rounding alone makes. */
typedef struct {
  double value;    /* of the function: the rounding of one value */
  double gradient; /* of the gradient's norm in the numbers' scales */
} GradcheckFloor;

/* The same for any scalar of a vector: value(context, values), NaN where there is none. Stops early, with fewer
 * directions, when interrupted. */
typedef double (*GradcheckValue)(void* context, const double* values);
/* gradient[count], scale[count], base[count]; scale: the change of each number that counts as large, 0: it is not
 * moved. count 0: an empty report. Allocates for the time of the call. A value that fails (NaN) is told in the report,
 * nowhere else. */
void gradcheck_vector(int count, const double* gradient, const double* scale, const double* base, GradcheckFloor floor,
                      GradcheckValue value, void* context, const GradcheckOptions* options, uint64_t seed,
                      GradcheckBlockReport* report);

#endif
