/* Derivatives of simulations: records runs, evaluates losses, and computes exact gradients by the adjoint method
 * (docs/derivations/adjoint.md). Every x_create has an x_destroy, which accepts a zeroed object. */
#ifndef SDRS_DIFFERENTIATE_H
#define SDRS_DIFFERENTIATE_H

#include "scene/task.h"
#include "simulate/simulate.h"

/* ---------------------------------------------------------------- selection of rows (differentiate/keep.c)
 * A run of `steps` steps has the rows 0..steps: the state at the start and at the end of each step. A row selection
 * lists the rows of each link that the losses read. Only these rows are stored if memory is limited. */
typedef struct {
  int steps, link_count;
  int *first, *last;  /* first and last selected row of each link (links). If first > last, no row is selected */
  int* all_link_rows; /* rows selected for all links, in ascending order (size: all_link_row_count) */
  int all_link_row_count;
  size_t *pose, *coordinate, *dof; /* for each link, index of its first stored pose, coordinate and velocity in the
                                      arrays of a recording (size: links) */
  /* index of the first entry that belongs to a row stored for all links, in the arrays of poses, coordinates and
   * velocities */
  size_t all_links_pose, all_links_coordinate, all_links_dof;
  size_t poses, coordinates, dofs; /* number of stored poses, joint coordinates and joint velocities */
} RowSelection;

/* Returns an empty selection for a run of `steps` steps. The caller frees it with row_selection_destroy. */
RowSelection row_selection_create(const Model* model, int steps);
/* Frees the arrays and zeroes the selection. Accepts a zeroed selection. */
void row_selection_destroy(RowSelection* selection);
/* Selects the rows first..last of one link, with 0 <= first and last <= steps. If rows of the link were selected
 * before, all rows between the two intervals are selected too. */
void row_selection_add_link(RowSelection* selection, int link, int first, int last);
/* Selects one row of all links. Rows must be added in ascending order. */
void row_selection_add_all_links(RowSelection* selection, int row);
/* Computes where each selected row lies in a recording's arrays of poses, joint coordinates and joint velocities, and
 * the lengths of these arrays. Call it once, after all rows were added. */
void row_selection_compute_offsets(RowSelection* selection, const Model* model);

/* Indices of one link at one row in the arrays of a recording: of its pose, of its first joint coordinate and of its
 * first joint velocity. `kept` is false if the row is not stored. */
typedef struct {
  bool kept;
  size_t pose, coordinate, dof;
} RowIndex;
/* Returns the position of a row of a link in arrays that store the selected rows only. Row and link must exist in the
 * run. */
RowIndex row_selection_index(const RowSelection* selection, const Model* model, int row, int link);
/* Returns the position of a row of a link in the arrays of a recording. With `selection` NULL all rows are stored
 * consecutively. */
static inline RowIndex row_index(const RowSelection* selection, const Model* model, int row, int link) {
  if (selection) return row_selection_index(selection, model, row, link);
  size_t at = (size_t)row;
  return (RowIndex){true, at * (size_t)model->link_count + (size_t)link,
                    at * (size_t)model->coordinate_count + (size_t)model->links[link].coordinate_first,
                    at * (size_t)model->dof_count + (size_t)model->links[link].dof_first};
}

typedef struct LossSeeds LossSeeds;

/* ---------------------------------------------------------------- recording of a run (differentiate/recording.c) */

/* Simulated state at the end of a step or of a substep. */
typedef struct {
  StepClock clock;   /* time and length of the substep that ended in this state */
  int step;          /* number of the step, from 1; 0 for the initial state */
  bool row;          /* true if the state is at the end of a step; false if it is at the end of an earlier substep */
  int substep_index; /* index among the states at ends of earlier substeps, or -1 at the end of a step */
  int contact_first_row, contact_count;
  SimSolve* solves; /* intermediate solutions of the substep, without the last solution, which is this state (size:
                       solve_count), or NULL */
  int solve_count;
} RecordedState;

/* Recording of a simulated run.
 * A full recording stores every row, and the states at the ends of substeps. A selective recording stores the rows of
 * `selection` and divides the run into segments. The segments store their rows while memory permits. The adjoint
 * recomputes the other rows. Borrows model and selection. */
typedef struct Recording {
  const Model* model;
  const RowSelection* selection; /* selected rows; NULL for a full recording */
  struct RunSegments* segments;  /* segments of a selective recording with gradient, otherwise NULL */
  int steps;
  bool is_segment;
  int first_row;       /* number of the first stored row; 0 except in a segment */
  int64_t first_state; /* number in the run of states[0]; 0 except in a segment */
  int start_state;     /* index of the state at first_row; greater than 0 only in a segment, which also stores earlier
                          states */
  double* q;           /* joint coordinates; nq: number of coordinates of the model ((steps + 1) * nq) */
  double* rate;        /* joint velocities [m/s, rad/s]; nv: number of degrees of freedom ((steps + 1) * nv) */
  Pose* pose;          /* world pose of every link frame ((steps + 1) * links) */
  Vec3* momentum;   /* angular momentum [kg m^2/s], or NULL unless the integrator is `momentum` ((steps + 1) * links) */
  Vec3* force;      /* total contact and friction force on every link, world [N]; row 0 is zero ((steps + 1) * links) */
  Vec3* forces_now; /* workspace: contact and friction force on each link in the present state (size: links) */
  const ForcePair* pairs; /* pairs of links whose contact forces are stored, borrowed (size: pair_count) */
  int pair_count;
  Vec3* pair_force;          /* contact force of each pair, world [N]; row 0 is zero ((steps + 1) * pair_count) */
  ContactRecord* contacts;   /* contacts of all states, in the order of the states */
  RecordedState* states;     /* states in order of time, the initial state first (size: state_count) */
  int* row_state;            /* index in `states` of each row (steps + 1) */
  double* substep_q;         /* coordinates at ends of earlier substeps (substep_state_count * nq) */
  Pose* substep_pose;        /* poses at ends of earlier substeps (substep_state_count * links) */
  Vec3* substep_momentum;    /* angular momenta at ends of earlier substeps; NULL unless the integrator is `momentum`
                                (substep_state_count * links) */
  Vec3 *felt, *substep_felt; /* contact forces on links that drives measure, at the rows and at ends of earlier
                                substeps; NULL if no drive measures one (links per state) */
  double *delayed, *substep_delayed; /* past signals that delayed controllers remember, at the rows and at ends of
                                        earlier substeps, or NULL (2 Model.delayed_count per state) */
  InitialFriction* guess;            /* initial guess of the friction solver in the first step, or NULL */
  double (*reaction)[6];   /* force [N] and torque [N m] in the joint of each link, zero in row 0; NULL unless requested
                              ((steps + 1) *   links) */
  double* feedback;        /* feedback inputs of all drives in the step that ends at the row, for all rows; NULL without
                              feedback or in a segment ((steps + 1) * Model.feedback_count) */
  SimJoin* joined;         /* activation state of closures with `active`, or NULL ((steps + 1) * closures) */
  double* closures_broken; /* time at which each closure broke [s], or INFINITY (closures); NULL without closures */
  size_t solve_bytes;      /* memory of all RecordedState.solves [bytes] */
  int state_count, substep_state_count;
  int contact_capacity, step_capacity, state_capacity, substep_state_capacity, momentum_capacity, felt_capacity,
      delayed_capacity, substep_q_capacity;
} Recording;

/* Returns the world poses of all links at row `step`, borrowed from the recording (links). The row must be stored for
 * all links. */
static inline const Pose* recording_pose(const Recording* r, int step) {
  return r->pose + (size_t)(step - r->first_row) * (size_t)r->model->link_count;
}

/* Returns the pose of one link at a stored row. */
static inline Pose recording_link_pose(const Recording* r, int step, int link) {
  return r->pose[row_index(r->selection, r->model, step, link).pose];
}

/* Returns the world poses of all links in a state of this recording, borrowed from it (links). */
static inline const Pose* recording_state_pose(const Recording* r, const RecordedState* state) {
  size_t links = (size_t)r->model->link_count;
  return state->substep_index < 0 ? r->pose + (size_t)(state->step - r->first_row) * links
                                  : r->substep_pose + (size_t)state->substep_index * links;
}
/* Returns the joint coordinates of a state of this recording, borrowed from it (Model.coordinate_count). */
static inline const double* recording_state_q(const Recording* r, const RecordedState* state) {
  size_t nq = (size_t)r->model->coordinate_count;
  return state->substep_index < 0 ? r->q + (size_t)(state->step - r->first_row) * nq
                                  : r->substep_q + (size_t)state->substep_index * nq;
}
/* Returns the angular momentum of every link in a state, borrowed from the recording (links). Returns NULL unless the
 * scene's integrator is `momentum`. */
static inline const Vec3* recording_state_momentum(const Recording* r, const RecordedState* state) {
  size_t links = (size_t)r->model->link_count;
  if (!r->momentum) return NULL;
  return state->substep_index < 0 ? r->momentum + (size_t)(state->step - r->first_row) * links
                                  : r->substep_momentum + (size_t)state->substep_index * links;
}
/* Returns the contact forces on links that drives measure in a state, borrowed from the recording (links). Returns NULL
 * if no drive measures them. */
static inline const Vec3* recording_state_contact_forces(const Recording* r, const RecordedState* state) {
  size_t links = (size_t)r->model->link_count;
  if (!r->felt) return NULL;
  return state->substep_index < 0 ? r->felt + (size_t)(state->step - r->first_row) * links
                                  : r->substep_felt + (size_t)state->substep_index * links;
}
/* Returns the past signals that delayed controllers remember in a state, borrowed from the recording (2
 * Model.delayed_count). Returns NULL if no controller has a delay. */
static inline const double* recording_state_delayed(const Recording* r, const RecordedState* state) {
  size_t count = 2 * (size_t)r->model->delayed_count;
  if (!r->delayed) return NULL;
  return state->substep_index < 0 ? r->delayed + (size_t)(state->step - r->first_row) * count
                                  : r->substep_delayed + (size_t)state->substep_index * count;
}
/* Returns into how many substeps the simulation divided a step; steps count from 1. */
static inline int recording_substeps(const Recording* r, int step) {
  return r->row_state[step - r->first_row] - r->row_state[step - 1 - r->first_row];
}

typedef struct {
  StepReport last; /* report of the failed step, otherwise of the last step */
  bool failed;
  int failed_step;  /* number of the failed step, from 1 */
  double residual;  /* largest relative residual of the time-step solver */
  int largest_step; /* step with the largest residual */
  int iterations;   /* solver iterations of all steps */
  int halved_steps; /* number of steps whose length was halved */
  UnconvergedSteps unconverged;
} RecordReport;

/* Allocates a full recording for runs of at most `steps` steps. It can be reused for models of equal size. Borrows the
 * model. The caller frees it with recording_destroy. */
void recording_create(Recording* recording, const Model* model, int steps);
/* Allocates a selective recording. Borrows the selection, which must outlive the recording and have offsets
 * (row_selection_compute_offsets). The caller frees the recording with recording_destroy. */
void recording_create_selective(Recording* recording, const Model* model, int steps, const RowSelection* selection);
/* Adds the contact forces of the given pairs of links to every row of the recording (count). Call it at most once,
 * before recording_run. Borrows `pairs`. */
void recording_store_pair_forces(Recording* recording, const ForcePair* pairs, int count, int steps);
/* Frees the arrays of a recording, but not its model, selection and pairs. Accepts a zeroed recording. */
void recording_destroy(Recording* recording);
/* Returns the memory of the recording's arrays [bytes], without segments. */
size_t recording_bytes(const Recording* recording);
/* Returns the memory that remains for the segments of the run [bytes, at least 1]. Together with the recording and the
 * loss derivatives `seeds` they may use `bytes`. */
size_t recording_memory_left(const Recording* recording, const LossSeeds* seeds, double bytes);
/* Checks that a memory limit is large enough. Returns STATUS_BAD_INPUT with a message at `place` if the recording and
 * the loss derivatives `seeds` alone need `bytes` or more. Otherwise returns STATUS_OK. */
Status recording_check_memory(const Recording* recording, const LossSeeds* seeds, double bytes, SourcePosition place,
                              Diagnostics* diagnostics);
typedef struct {
  int threads;
  double tolerance; /* relative tolerance of the time-step solver; 0: tolerance of the scene */
  bool (*interrupted)(void);
  const int* substeps; /* number of substeps with which each step begins (steps); NULL: chosen by sim_step */
  size_t memory; /* memory limit of the segments [bytes]; 0: no segments and no gradient. A few states are stored even
                    above the limit */
  const Recording* substep_reference; /* run whose substep lengths are repeated, or NULL */
} RecordOptions;
/* Simulates the model from its initial state and records the run. After a failed step, recording->steps is the number
 * of steps before it. The report and the rows stored before the failure are then still valid. Returns STATUS_OK,
 * STATUS_SOLVER, STATUS_BAD_INPUT (bodies intersect initially) or STATUS_INTERRUPTED. Allocates memory. */
Status recording_run(Recording* recording, const Model* model, const RecordOptions* options, RecordReport* report,
                     Diagnostics* diagnostics);
/* Appends the current state of a simulation to a recording, for callers that advance the simulation themselves. Rows
 * are added in ascending order, at most as many as recording_create allocated. Sets recording->steps to `row`.
 * Allocates memory. */
void recording_add_row(Recording* recording, Sim* sim, int row);

/* ---------------------------------------------------------------- derivatives of a loss (differentiate/loss_seeds.c)
 * Partial derivatives of the loss L with respect to all recorded quantities. Each loss adds its derivatives, and the
 * adjoint method starts from their sum. Arrays with an entry per row have the layout of the recording. One memory block
 * that begins at `pose` contains the arrays. */
struct LossSeeds {
  const RowSelection* selection; /* selection of the rows, or NULL if all rows are stored */
  double (*pose)[3][4]; /* derivatives of L with respect to the 3 x 4 matrix (R | t), the rotation matrix R and position
                           t of every link frame ((steps + 1) * links) */
  double* q;    /* derivatives of L with respect to increments of the joint coordinates (joint_increment) at fixed link
                   poses ((steps + 1) * degrees of freedom) */
  double* rate; /* derivatives of L with respect to the joint velocities ((steps + 1) * degrees of freedom) */
  Vec3* force;  /* dL/d(contact force on each link) ((steps + 1) * links) */
  double (*reaction)[6]; /* dL/d(joint reactions), allocated separately; NULL unless reactions are recorded ((steps + 1)
                          * links) */
  double* feedback;      /* derivatives of L with respect to Recording.feedback, for all rows; NULL without feedback
                            ((steps + 1) * Model.feedback_count) */
  Vec3* center;          /* dL/d(centre of mass) at fixed poses, link frame (size: links) */
  Vec3* vertices; /* dL/d(hull vertices) at fixed poses and centres of mass, link frame; in the order of the model's
                     hulls (size: vertices) */
  /* dL/d(parameters of controller signals) at fixed poses, in the order of the controllers (size: controls) */
  double* control;
  double* gains;          /* dL/d(controller gains) at fixed poses (size: gains) */
  double* shapes;         /* dL/d(parameters of smooth shapes and round solids) at fixed poses, beside `vertices` (size:
                             shape parameters) */
  double* mass;           /* dL/d(link masses) at fixed poses and centres of mass [1/kg] (size: links) */
  size_t length;          /* number of doubles in the memory block that begins at `pose` */
  const ForcePair* pairs; /* pairs of Recording.pairs, borrowed (size: pair_count) */
  int pair_count;
  Vec3* pair_force; /* dL/d(contact force of each pair of links), allocated separately ((steps + 1) * pair_count) */
  size_t pair_length, reaction_length;
  bool keep_moments; /* true if run_adjoint leaves out the chain rule from mass moments to masses and from vertices to
                        shape parameters. The caller then calls model_gradient_masses and model_gradient_shapes */
};

/* Allocates the derivatives of a loss for full recordings of `steps` steps and sets them to zero. The caller frees them
 * with loss_seeds_destroy. */
LossSeeds loss_seeds_create(const Model* model, int steps);
/* Allocates the derivatives of a loss for recordings of selected rows and sets them to zero. Borrows the selection,
 * which must have offsets (row_selection_compute_offsets). The caller frees them with loss_seeds_destroy. */
LossSeeds loss_seeds_create_selective(const Model* model, const RowSelection* selection);
void loss_seeds_clear(LossSeeds* seeds);
/* Frees the arrays and zeroes the object. Accepts a zeroed object. */
void loss_seeds_destroy(LossSeeds* seeds);

/* ---------------------------------------------------------------- observables (differentiate/observe.c)
 * An observable is a measurement of six numbers on every link, with derivatives (docs/derivations/observables.md). */
enum { OBSERVABLE_COLUMNS = 6 };
typedef enum { OBSERVABLE_REACTIONS, OBSERVABLE_IMU, OBSERVABLE_RANGE, OBSERVABLES } ObservableKind;
/* Quantities from which observables are computed, borrowed. pose: link poses one step before, at and one step after the
 * row. */
typedef struct {
  const Model* model;
  double dt;                   /* length of each time step [s] */
  const Pose* pose[3];         /* link poses one step before, at, and one step after the row (links each) */
  const double (*reaction)[6]; /* joint reaction forces (size: links) */
} Observation;
/* Derivatives of a scalar with respect to the poses and reactions of an Observation, and with respect to shapes. A pose
 * has one derivative for each entry of its rotation matrix and position. Borrows the arrays. */
typedef struct {
  double (*pose[3])[3][4]; /* derivatives with respect to the poses (links each) */
  double (*reaction)[6];   /* derivatives with respect to the joint reactions (size: links) */
  LossSeeds* seeds;        /* receives the derivatives with respect to vertices and shape parameters */
} ObservationBars;
typedef struct {
  const char* word;                        /* name in simulation.output; the file is <word>.csv */
  const char* columns[OBSERVABLE_COLUMNS]; /* column names of the file */
  unsigned output; /* flag OUTPUT_... of the scene's key simulation.output that requests the file */
  int first;       /* first row with a measurement: 1 if a step before the row is needed, otherwise 0 */
  int reach;       /* 1 if the pose of the step after the row is needed, otherwise 0 */
  /* Computes the measurement on one link: out[OBSERVABLE_COLUMNS]. */
  void (*value)(const Observation* in, int link, double* out);
  /* Adds to `out` the derivatives of the weighted sum of the six measured numbers. bar[OBSERVABLE_COLUMNS]: weight of
   * each number. */
  void (*seed)(const Observation* in, int link, const double* bar, const ObservationBars* out);
} Observable;
/* Returns the functions of an observable, a static object. index: an ObservableKind. */
const Observable* observable_at(int index);
/* Returns true if the row has the neighbouring rows that the observable needs. For full recordings. */
bool observable_is_defined(const Observable* observable, const Recording* recording, int row);
/* Returns the poses and reactions from which the measurements at a row are computed, borrowed from a full recording.
 * Poses before the first and after the last row are NULL. */
Observation observation_at(const Recording* recording, int row);
/* Returns pointers to the entries of `seeds` that hold the derivatives of the loss with respect to
 * observation_at(recording, row). For full recordings. Borrowed from the seeds. */
ObservationBars observation_bars(const Recording* recording, int row, LossSeeds* seeds);

/* ---------------------------------------------------------------- losses (differentiate/loss.c and loss_<kind>.c) */
typedef struct Loss Loss; /* the losses of a task in one scenario (docs/losses.md) */

/* Creates the losses of a task for one scenario. Looks up link names, checks time windows against the horizon, and
 * draws random targets from task->seed. Shape losses refer to the initial design of the model. Returns STATUS_BAD_INPUT
 * with diagnostics and sets *out to NULL on errors. The caller frees the loss with loss_destroy. */
Status loss_create(Loss** out, const Task* task, int scenario, const Model* model, Diagnostics* diagnostics);
/* Frees the loss. Accepts NULL. */
void loss_destroy(Loss* loss);
/* Returns the number of losses of the task, including losses without effect in this scenario. The arrays `terms` and
 * `factors` below have this length. */
int loss_count(const Loss* loss);
/* Adds all rows that loss_evaluate reads to the selection. The selection must have been created for the model and the
 * horizon of the loss. */
void loss_select_rows(const Loss* loss, const Model* model, RowSelection* selection);
/* Makes a recording store the contact forces that the loss reads. Allocates their derivatives in `seeds` unless NULL.
 * Both borrow the list of pairs from the loss. */
void loss_record_pair_forces(const Loss* loss, int steps, Recording* recording, LossSeeds* seeds);
/* Returns the unique name of a loss with 0 <= index < loss_count. Owned by the loss. */
const char* loss_name(const Loss* loss, int index);
/* Returns true if the loss applies to this scenario. Otherwise its value is 0. */
bool loss_is_active(const Loss* loss, int index);
/* Returns the weighted sum of all losses of the scenario. Sets terms[loss_count] to the summands unless NULL, and adds
 * the derivatives of the sum to seeds unless NULL. The model of the recording must have the links, hulls, vertices and
 * controllers of the model of loss_create. Returns NaN and changes no seeds if the recording is shorter than the
 * horizon. */
double loss_evaluate(const Loss* loss, const Recording* recording, double* terms, LossSeeds* seeds);
/* Returns the weighted sum of the losses that are not bounded (TaskLoss.bounded). Sets terms[loss_count] to all
 * summands unless NULL. Adds to seeds, unless NULL, the derivatives of sum_i factors[i] terms[i]. With factors NULL the
 * factor is 0 for bounded losses and 1 for the others. Returns NaN and changes no seeds if the recording is shorter
 * than the horizon. */
double loss_evaluate_with(const Loss* loss, const Recording* recording, double* terms, const double* factors,
                          LossSeeds* seeds);

/* ---------------------------------------------------------------- fabrication measures (differentiate/fabrication.c)
 */

/* Measures of a link that decide whether it can be printed: the losses of the same names with margin 0
 * (docs/losses.md). */
typedef struct {
  double neck, wall; /* neck: width of the narrowest connection between hulls of the link, NAN for a single hull; wall:
                        width of the thinnest hull [m] */
  double overhang;   /* surface area that faces down too steeply to be printed without support [m^2] */
  double extent[3];  /* size along the axes x, y, z of the link [m] */
  double clearance, clearance_lower_bound; /* smallest distance from the parent link over the joint's range and its
                                              proved lower bound [m]; NAN without a range */
  /* coordinates of the link's joint at which `clearance` occurs; the first `coordinates` entries are set */
  double at[3];
  int coordinates;
} FabricationReport;
/* Computes the fabrication measures of a link with bounded hulls. build: unit vector of the build direction, link
 * frame. angle: largest overhang from the vertical that needs no support [rad]. Allocates temporary memory. */
FabricationReport fabrication_measure(const Model* model, int link, Vec3 build, double angle);

/* ---------------------------------------------------------------- refined runs (differentiate/refined.c) */

/* Scene that a refined run simulates with shorter time steps, and the task that defines its losses in one scenario.
 * task is NULL without losses. Borrows scene and task. */
typedef struct {
  const Scene* scene;
  const Task* task;
  int scenario;
  int samples; /* largest number of times at which runs of different refinement are compared */
} RefinedRunInput;

/* Run with a shorter time step, to measure the error of the time integration. Owns its members, except those shared
 * with the given scene, which must outlive the run. */
typedef struct {
  Scene scene; /* copy of the given scene with shorter steps; owns only its controllers */
  Model model;
  bool has_model;
  Loss* loss;
  RowSelection selection;
  Recording recording; /* selective recording of the rows of the loss and of the compared rows */
  int samples;
  double value;  /* value of the loss; NaN without a loss */
  double* terms; /* values of the loss terms (size: loss_count) */
  RecordReport report;
} RefinedRun;

/* Simulates a scene with `refinement` times as many steps, each shorter by this factor. Contact parameters keep the
 * values of the given scene, and so does each controller's ratio of damping gain to time step. Model warnings are
 * reported only if the factor is
 * 1. Returns the status of recording_run. run->value is NaN unless the run succeeds and reaches the horizon. The caller
 * frees the run with refined_run_free, also after errors. */
Status refined_run(RefinedRun* run, const RefinedRunInput* input, int refinement, const RecordOptions* options,
                   Diagnostics* diagnostics);
/* Frees the run and zeroes it. Accepts a zeroed or incomplete run. */
void refined_run_free(RefinedRun* run);
/* Returns the row of one of the compared times, with 0 <= sample < run->samples. The same sample denotes the same time
 * in every refinement; the last sample is the end of the run. */
int refined_sample_row(const RefinedRun* run, int sample);

/* ---------------------------------------------------------------- adjoint of a run (differentiate/adjoint.c) */
typedef struct RunAdjoint RunAdjoint;

typedef struct {
  bool sound;             /* false: the adjoint failed and there is no gradient */
  int unsound_step;       /* step at which the adjoint failed */
  StepAdjointReport step; /* report of the failed step, otherwise of largest_step */
  int largest_step;       /* step with the largest norm of its adjoint variable lambda, the derivative of the loss with
                             respect to the residual of the step */
  int indefinite_steps;   /* number of steps at whose solution the Hessian of the minimized function is indefinite */
  double growth;          /* largest |lambda| of the run divided by |lambda| of the last step with nonzero lambda */
  double rounding; /* estimated rounding error of the gradient's norm, with each component multiplied by the typical
                      change of its parameter */
} AdjointReport;

/* If AdjointReport.growth is larger, the gradient predicts the loss over very small changes of the variables only. */
#define GRADIENT_GROWTH_LARGE 1e5

/* Creates an adjoint solver that uses max(threads, 1) threads. Borrows the model. The caller frees the solver with
 * run_adjoint_destroy. */
RunAdjoint* run_adjoint_create(const Model* model, int threads);
/* Frees the solver. Accepts NULL. */
void run_adjoint_destroy(RunAdjoint* adjoint);
/* Computes the derivatives of a loss with respect to all parameters of the model by the adjoint method. seeds: partial
 * derivatives of the loss with respect to the recorded quantities. discount: factor per step on derivatives that are
 * propagated backwards in time, its square on those over two steps; 1 gives the exact gradient.
 * Sets `gradient`. If report.sound is false, the result is not a gradient, and the steps before unsound_step were not
 * evaluated. A selective recording must have segments and gives the same bits as a full recording. Its missing rows are
 * recomputed, which changes the stored segments. */
AdjointReport run_adjoint(RunAdjoint* adjoint, Recording* recording, const LossSeeds* seeds, double discount,
                          ModelGradient* gradient);

/* ---------------------------------------------------------------- initial gaps (differentiate/start_gap.c)
 * Gap of two vertices along a fixed direction in the initial state: g = n . (x_b - x_a) [m]. x_a, x_b: vertices of
 * hulls a and b. n: unit vector from a to b. Two hulls do not intersect while all their gaps along one n are positive.
 */
typedef struct {
  int hull[2], vertex[2]; /* index of hull a and of hull b in the model, and one vertex index in each. vertex[0] is -1
                             for the surface of a half-space */
  Vec3 normal;            /* unit vector n from hull a to hull b along which the gap is measured, world frame */
  double least;           /* lower bound of the gap [m] */
} StartGap;
/* Finds vertex pairs of two links whose initial gap in a proposed design is too small. A gap is too small below `least`
 * [m] or below the distance of the two hulls in the current design, if that is smaller. The normals come from the
 * current design. `trial` may be a model that was refused for intersections. Sets the first entries of out[capacity]
 * and returns their number. Allocates temporary memory. */
int find_start_gaps(const Model* current, const Model* trial, int link_a, int link_b, double least, StartGap* out,
                    int capacity);
/* Returns the distance of the gap's two vertices along its normal [m], for the given world poses of all links (links).
 */
double start_gap(const Model* model, const Pose* pose, const StartGap* gap);
/* Adds the derivatives of the initial gap with respect to link poses, joint coordinates and hull vertices to `seeds`.
 */
void start_gap_seed(const Recording* recording, const StartGap* gap, LossSeeds* seeds);

/* ---------------------------------------------------------------- forward sensitivities (differentiate/forward.c)
 * Callback at each row of a run. step_forward_state(forward, 0) then returns the derivatives of the joint coordinates
 * at this row with respect to the model's parameters. */
typedef void (*ForwardVisit)(void* context, StepForward* forward, int row);
/* Propagates the derivatives of the states with respect to the parameters forward in time, through a full recording.
 * Calls `callback` at each row. Returns false if a step has no derivative. *step is then the number of that step, and
 * the callback is not called for later rows. Allocates memory. */
bool recording_forward(StepForward* forward, const Recording* recording, ForwardVisit callback, void* context,
                       int* step);

/* ---------------------------------------------------------------- gradient check (differentiate/gradcheck.c) */

typedef enum {
  GRADCHECK_STATE,       /* initial coordinates, changed by increments, and initial velocities */
  GRADCHECK_CONTROL,     /* parameters of controller signals */
  GRADCHECK_VERTICES,    /* hull vertices */
  GRADCHECK_ATTACHMENTS, /* joint origins */
  GRADCHECK_MASS,        /* masses, or densities where given */
  GRADCHECK_CONTACT,     /* support, stiffness, friction, smoothing, rest speed */
  GRADCHECK_MATERIAL,    /* friction and restitution above 0, of links and of contact pairs */
  GRADCHECK_GAINS,       /* gains, limits, delays and feedback of controllers */
  GRADCHECK_SHAPES,      /* parameters of convex smooth shapes */
  GRADCHECK_CLOSURES,    /* points and lengths of closures, ratios of couplings */
  GRADCHECK_TENDONS,     /* points, stiffness, rest length of tendons */
  GRADCHECK_BUSHINGS,    /* stiffness, damping, preload, positions of bushings */
  GRADCHECK_INPUT,       /* inputs of controllers in each time step, as in the library */
  GRADCHECK_BLOCKS
} GradcheckBlock;
/* Returns the printed name of a block of parameters. Static. */
const char* gradcheck_block_name(GradcheckBlock block);

enum { GRADCHECK_DIRECTIONS = 16, GRADCHECK_SWEEP = 21 };
/* Typical number of perturbed runs per direction, for the progress display. */
enum { GRADCHECK_RUNS = 26 };

typedef struct {
  unsigned blocks;            /* blocks to check, as a set of bits 1 << GradcheckBlock */
  int directions;             /* number of random directions per block, <= GRADCHECK_DIRECTIONS */
  int steps;                  /* number of steps of the run; 0: all */
  double tolerance;           /* relative tolerance of the time-step solver */
  double bound;               /* largest relative error that passes */
  double accepted_resolution; /* if noise makes the differences too inaccurate for `bound`: largest relative uncertainty
                                 of the differences that still passes (J14); 0: none */
  uint64_t seed;
  int threads;
  bool (*interrupted)(void);
  const int* substeps; /* number of substeps with which each step of the base run begins (steps), or NULL */
  bool fixed_substeps; /* true: perturbed runs repeat the substep lengths of the base run */
  double memory;       /* memory limit of the base run [bytes]; 0: unlimited */
  int fit_lengths;     /* number of additional step lengths whose differences are fitted if noise dominates (J14); 1: no
                          fit; 0: 16 */
  /* Called after each perturbed run with the numbers of finished and expected runs. May be NULL. */
  void (*progress)(void* context, const char* block, int runs, int expected);
  void* progress_context;
} GradcheckOptions;

/* Factor on the solver tolerance of the runs that confirm a disagreement of gradient and differences (J18). */
#define GRADCHECK_PRECISE_FACTOR 1e-2

/* Verdict on a gradient, ordered from best to worst: the largest of several verdicts is their worst. */
typedef enum {
  GRADCHECK_RIGHT,     /* relative error within the bound, and the differences are accurate enough to show it */
  GRADCHECK_UNCHECKED, /* the differences are too inaccurate to show an error as small as the bound, but do not
                          contradict the gradient */
  GRADCHECK_WRONG
} GradcheckVerdict;

/* Result of the check along one direction d in the space of the parameters x. The check compares the directional
 * derivative g . d of the loss L (g: its adjoint gradient) with central differences (L(x + h d) - L(x - h d)) / 2h. The
 * step sizes h decrease, and the differences are also extrapolated (Richardson). The extrapolation of smallest
 * uncertainty gives the error (docs/derivations/gradcheck.md). */
typedef struct {
  double analytic, scale; /* analytic: directional derivative g . d from the adjoint gradient. scale: divisor of
                             relative errors, the larger of |g . d| and the most accurate difference */
  double step[GRADCHECK_SWEEP], difference[GRADCHECK_SWEEP],
      sum[GRADCHECK_SWEEP]; /* for each tried step size h: h, the central difference, and the sum L(x + h d) + L(x - h
                               d) of both losses */
  double extrapolated[GRADCHECK_SWEEP]; /* Richardson extrapolation from this step size and the one before; NaN for the
                                           first */
  int tried;
  double error, best_step; /* relative error, and the step size that determines it; NaN if all runs failed */
  double resolution;       /* relative uncertainty of the most accurate difference */
  /* observed order of convergence of the differences in the step size; NaN if errors are below rounding */
  double order;
  GradcheckVerdict verdict;
  bool kink; /* not checkable: kink at x, with g . d between the one-sided slopes (J8) or among nearby slopes (J10) */
  bool jump; /* not checkable: the value at x differs from the limit of nearby values (J9) */
  bool is_noisy;         /* the last differences vary by much more than rounding (J11) */
  double noise;          /* estimated noise of one value of the loss (J3) */
  double lengths_needed; /* number of step lengths after which the fit would be accurate enough for the bound (J14), or
                            INFINITY */
  double jump_step;      /* shortest step that crosses a jump of the loss near x (J12), relative to the scales of the
                            parameters; 0: no jump */
  double valid_step;     /* longest step over which differences agree with the gradient while longer steps disagree
                            (J16), relative to the scales of the parameters; 0: none */
  double scatter;        /* relative variation of g . d when x changes by 1e-12 of the scales (J17); 0: not measured */
  bool precise; /* the differences are those of runs with the solver tolerance times GRADCHECK_PRECISE_FACTOR (J18) */
} GradcheckDirection;

typedef struct {
  int count;                       /* number of parameters of the block */
  double norm;                     /* norm of the gradient, each component multiplied by the scale of its parameter */
  double error, resolution, order; /* worst of all directions */
  GradcheckVerdict verdict;        /* worst of all directions */
  bool kink, jump, is_noisy, precise; /* true if the member of the same name is true for any direction */
  bool singular;                      /* not checkable: a loop is in a singular configuration (J15) */
  double jump_step;                   /* largest jump_step of the unchecked directions without a jump at x */
  /* largest value of the member of the same name among directions whose differences are too inaccurate for the bound */
  double noise, lengths_needed, scatter;
  double valid_step; /* largest valid_step of the unchecked directions */
  int directions;
  GradcheckDirection direction[GRADCHECK_DIRECTIONS];
} GradcheckBlockReport;

typedef struct {
  bool passed;    /* true if no block of parameters has a wrong gradient and no gradient is missing */
  bool loop_open; /* no result, because a loop in a singular configuration does not close within tolerance (J15) */
  bool checked;   /* true if the differences confirmed the gradient in every block */
  bool kinks;   /* true if the contact law has a discontinuous second derivative. Differences that disagree then give no
                 * verdict
                 */
  double value; /* value of the loss */
  RecordReport run;
  AdjointReport adjoint;
  GradcheckBlockReport block[GRADCHECK_BLOCKS];
} GradcheckReport;

/* Coverage of a gradient check. blocks: number of parameter blocks that were tested along directions. checked: number
 * of these blocks with a verdict other than GRADCHECK_UNCHECKED. share: fraction of the squared gradient norm in
 * checked blocks, each component times the scale of its parameter. share is 1 if all gradients are zero. */
typedef struct {
  int blocks, checked;
  double share;
} GradcheckCoverage;
GradcheckCoverage gradcheck_coverage(const GradcheckBlockReport* blocks, int count);
/* Changes the verdict GRADCHECK_WRONG of a block to GRADCHECK_UNCHECKED if a loop is in a singular configuration,
 * because differences and gradient may then disagree (J15). */
void gradcheck_mark_singular(bool singular, GradcheckBlockReport* block);
/* Returns true if a link's mass depends on a hull with a face of more than three corners. The volume of such a hull has
 * a kink, because a displaced corner changes the triangulation of the face. Allocates temporary memory. */
bool gradcheck_has_flat_faces(const Model* model);
/* Moves hull points of the scene inward by random fractions until no face has more than three corners. seed: seed of
 * the random numbers. */
void gradcheck_make_generic(Scene* scene, const Model* model, uint64_t seed);
/* Compares the adjoint gradient of a scene's loss with central differences, block by block. scene: expanded by
 * model_expand_shapes. model: built from `scene`. If `loss` is NULL, the gradient of a random linear function of link
 * poses and joint velocities is checked. Returns STATUS_INTERRUPTED without a verdict, otherwise the status of
 * recording_run. Allocates temporary memory. */
Status gradcheck_scene(const Scene* scene, const Model* model, const Loss* loss, const GradcheckOptions* options,
                       GradcheckReport* report, Diagnostics* diagnostics);

/* Returns a function value, or NaN where the function is undefined. */
typedef double (*GradcheckValue)(void* context, const double* values);
/* Computes the gradient of a function at values[count] into gradient[count]. Returns false if the function has no
 * gradient there. */
typedef bool (*GradcheckGradient)(void* context, const double* values, double* gradient);

/* Rounding errors of function and gradient. Smaller differences do not count as errors. */
typedef struct {
  double value;    /* rounding error of one function value */
  double gradient; /* rounding error of the gradient's norm, with each component multiplied by the scale of its
                      parameter */
  GradcheckGradient gradient_at; /* gradient at nearby points, to measure its rounding error (J17), or NULL */
  GradcheckValue precise_value;  /* the function with time steps solved to the tolerance times
                                    GRADCHECK_PRECISE_FACTOR (J18), or NULL */
} GradcheckFloor;

/* Compares a gradient with central differences of a function at base[count]. gradient[count]: the gradient at `base`.
 * scale[count]: typical large change of each parameter; 0 if the parameter is not varied. Fills the report; after an
 * interruption it has fewer directions. Allocates temporary memory. */
void gradcheck_vector(int count, const double* gradient, const double* scale, const double* base, GradcheckFloor floor,
                      GradcheckValue value, void* context, const GradcheckOptions* options, uint64_t seed,
                      GradcheckBlockReport* report);

#endif
