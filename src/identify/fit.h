/* Private to identify/: segments of measured runs ("shots"), sums of their residuals, and linear algebra of the fit. */
#ifndef SDRS_IDENTIFY_FIT_H
#define SDRS_IDENTIFY_FIT_H

#include "identify/data.h"

/* ---------------------------------------------------------------- shots: segments of multiple shooting
 * (identify/shot.c, shot_*.c) */

/* Position of a sample between the rows of a simulation. */
typedef struct {
  int row;     /* last row at or before the sample */
  double part; /* time since that row, as a fraction of a step, in [0, 1) */
} SampleTime;

/* Segment of a measured run (multiple shooting): the whole run or a window, simulated from its own initial state. */
typedef struct {
  const MeasuredRun* run;
  int run_index, first, count; /* samples first ... first + count - 1 of the run */
  int steps;
  SampleTime* places; /* (count) */
  bool usable;        /* true: the shot could be simulated at the start of the fit */
  double* local; /* fitted increments of the segment's initial coordinates and velocities (2 nv); NULL if not fitted */
} Shot;

/* Subsets of the measurements that must agree (Q12), in complementary pairs: before and after the first contact, first
 * and second half of the time, positions and rotations. */
enum {
  SUBSET_BEFORE_CONTACT,
  SUBSET_AFTER_CONTACT,
  SUBSET_FIRST_HALF,
  SUBSET_SECOND_HALF,
  SUBSET_POSITIONS,
  SUBSET_ROTATIONS,
  PARTS
};

/* Result of simulating a shot. The shot's local unknowns are the increments of its initial state. */
typedef struct {
  bool ran;
  int runs;    /* number of simulations */
  double cost; /* half of Huber's sum of squares, with priors of the local unknowns */
  int residuals;
  double *a, *g; /* J'J (variables^2) and J'r (variables), J: Jacobian, r: residuals, after elimination of the local
                    unknowns */
  double *b, *c,
      *h; /* blocks of the local unknowns: (variables x locals), Cholesky factor (locals^2), right-hand side (locals) */
  double *part_a,
      *part_g; /* a and g of each subset, after the fit (PARTS x variables^2), (PARTS x variables); otherwise NULL */
} ShotSums;

/* Errors of a judged run: ERROR_KINDS means (position, rotation, coordinate), then position and rotation error at the
 * end. */
enum { ERROR_KINDS = 3, ERROR_NUMBERS = 5 };
/* Number of time bins of the errors of a judged run. */
enum { ERROR_BINS = 200 };
typedef struct {
  Text text;                  /* rows of residuals.csv */
  int inside, seen;           /* number of residuals within 1.96 standard deviations, and of all residuals */
  double square[ERROR_KINDS]; /* sums of squares of all residuals */
  int squares[ERROR_KINDS];
  double* second[ERROR_KINDS]; /* magnitudes of the second differences of residuals (second_count); owned */
  int second_count[ERROR_KINDS], second_room[ERROR_KINDS];
  double sum[ERROR_KINDS][ERROR_BINS]; /* sum of the errors in each time bin */
  int count[ERROR_KINDS][ERROR_BINS];
  double bin; /* width of a time bin [s] */
} ErrorRows;

typedef enum {
  CONTRADICTION_CONTACT,
  CONTRADICTION_TIME,
  CONTRADICTION_ROTATIONS,
  CONTRADICTION_PRIOR
} ContradictionKind;
/* A parameter with contradicting estimates (Q12). */
typedef struct {
  int variable;
  ContradictionKind kind;
  double first, second; /* the two contradicting estimates */
  double apart;         /* difference of the estimates in standard deviations */
} Contradiction;

/* A row of convergence.csv. */
typedef struct {
  double cost, trial;    /* cost: present cost; trial: cost of the last line-search evaluation, NaN if there is none */
  double gradient, step; /* norms in units of the variables' scales */
  double simulated;      /* number of runs and windows simulated */
  TrialOutcome outcome;
} FitRow;

/* A method that minimizes the sum of squares. */
typedef struct {
  /* Returns true if the method supports the task. Otherwise reports the reason. */
  bool (*allows)(const Identification* id, Diagnostics* diagnostics);
  /* Starts the method at the initial values, whose sums are already computed. */
  void (*begin)(Identification* id);
  /* Performs one iteration, as identification_advance. Sets x, cost, iteration, stop and stop_text, and adds rows to
   * the convergence table. */
  Status (*advance)(Identification* id);
  /* Sets the local unknowns of the shots after the last step. NULL if they are already set. */
  void (*end)(Identification* id);
  /* Save and load the state between two iterations as named arrays. load returns false, with diagnostics, on a fault.
   */
  void (*save)(const Identification* id, NumberFile* file);
  bool (*load)(Identification* id, const NumberFile* file, Diagnostics* diagnostics);
} FitMethod;
/* Levenberg-Marquardt (identify/levenberg_marquardt.c), and the optimizers of optimize/ (identify/search.c). */
extern const FitMethod METHOD_RESIDUALS, METHOD_SEARCH;

struct Identification {
  Task* task;
  const FitMethod* method;
  IdentifyOptions options;
  Optimization* optimization;
  MeasuredData data;
  Model model; /* model of the unchanged scene */
  bool has_model;
  int variables, locals; /* locals: number of local unknowns of a shot; 0 if initial states are not fitted */
  double *initial, *low, *high, *scale, *prior; /* (variables) */
  double *x, *trial;                            /* (variables) */
  bool* held;                                   /* true: fixed, because the data do not determine it (variables) */
  Shot* shots;
  int shot_count, usable_shots;
  ShotSums* sums;
  ShotSums* tried; /* sums at the optimizer's trial point, or NULL */
  bool begun;      /* true if the optimizer has written its first row */
  FitRow* rows;    /* (row_count) */
  int row_count, row_room;
  double *a, *g, *raw_a; /* normal equations over all shots, with priors (variables^2), (variables) */
  double cost, damping;
  int iteration, calm; /* calm: number of consecutive iterations with a small relative decrease */
  bool stuck;          /* no step of the last iteration lowered the sum */
  int rank, processes; /* MPI rank and number of MPI processes */
  int64_t simulated;   /* number of simulated runs and windows, with and without derivatives */
  IdentifyStop stop;
  const char* stop_text;
  double *singular, *deviation; /* singular values and deviations of the scaled Jacobian before the fit (variables) */
  double* directions;           /* right singular vectors by rows (variables^2) */
  Text verdict;
  int undetermined;
  double*
      base; /* base parameters: coefficient of variable k in combination j, including fixed variables (variables^2) */
  Text determined;    /* the combinations that the data determines, in words, one per line */
  double noise;       /* standard deviation of a residual, relative to the task's standard deviations */
  double* covariance; /* (variables^2) */
  double* error;      /* standard errors (variables) */
  double quantile;
  double* spread; /* half of the contradiction between two estimates, or 0 (variables) */
  double* ahead;  /* significant change of each variable by the next step of the normal equations; 0 at the minimum
                     (variables) */
  Contradiction* doubts; /* owned */
  int doubt_count, doubt_room;
  double* judged;     /* errors of each run with fitted, then with initial values (runs x 2 ERROR_NUMBERS) */
  Misfit misfit[2];   /* validation, training */
  double inside[2];   /* fraction of residuals inside their predicted 95 % interval: validation, training */
  bool* judged_whole; /* true if the run was simulated to the end, with fitted, then with initial values (2 runs) */
};

/* Sets id->shots (shot_count) to windows of the training runs. shots_free frees them. */
void shots_create(Identification* id);
/* Writes one validation run beside its measurement, as a run folder overlay/ in `folder`. Selects the run of median
 * error. Returns STATUS_OK, also without runs, or STATUS_IO with a diagnostic (identify/overlay.c). */
Status overlay_write(Identification* id, const char* folder, Diagnostics* diagnostics);
/* Returns the poses of all links in all rows of a simulated run (rows x links). Sets *begin to the time of the first
 * row in the measured run [s]. Returns NULL, and does not set *begin, if the run cannot be simulated. The caller frees
 * the poses with memory_free. */
Pose* shot_poses(const Identification* id, const double* x, const MeasuredRun* run, int* rows, double* begin);
/* Frees id->shots and their data. */
void shots_free(Identification* id);
/* Simulates a shot and sums its residuals. x (variables); local: the local unknowns of the shot. If derivatives is
 * true, sets all sums, otherwise only the cost. Sets out->ran to false if the shot could not be simulated; the other
 * members are then undefined. Thread-safe with separate `out`. */
void shot_evaluate(const Identification* id, const double* x, const Shot* shot, const double* local, bool derivatives,
                   ShotSums* out);
/* Returns the smallest height of a movable body above a half-space at the start of a shot [m]. Sets *ground to the link
 * of the half-space. Returns INFINITY if there is no such pair. */
double shot_height(const Identification* id, const Shot* shot, int* ground);
/* Zeroes the arrays of out: (variables^2), (variables), (variables x locals), (locals^2), (locals). */
void shot_clear(const Identification* id, ShotSums* out);
/* Computes cost and gradient of a shot by the adjoint of its run (Q13). Sets out->ran, cost, residuals and g.
 * x[variables]. The shot must have no local unknowns. */
void shot_gradient(const Identification* id, const double* x, const Shot* shot, ShotSums* out);
/* Minimizes the cost of a shot over its local unknowns for x[variables] (Q13; identify/settle.c). Sets `local` to the
 * minimum and `out` to the sums there, with derivatives. */
void shot_minimize(const Identification* id, const double* x, const Shot* shot, double* local, ShotSums* out);
/* Returns Huber's loss of the residual r. Sets *weight to the factor that converts derivatives of r^2 / 2 into
 * derivatives of the loss. */
double robust_loss(double r, double threshold, double* weight);
/* Residuals of a shot, sample by sample. A residual without a measurement is NaN. */
typedef struct {
  int samples, count, columns; /* count: residuals per sample; columns: variables and locals */
  double huber;
  const double *r, *j; /* (samples x count), (samples x count x columns) */
  const bool* turns;   /* true for a component of a rotation (count) */
  int touched;         /* first sample after a contact, or `samples` without contact */
} ShotResiduals;
/* Sums the residuals of a shot (identify/sums.c). With derivatives, sets all arrays of out (numbers per variable),
 * otherwise only the cost. Returns false if a sum is not finite, or if the data does not determine the shot's local
 * unknowns. */
bool shot_sum(const Identification* id, const ShotResiduals* s, const double* local, bool derivatives, ShotSums* out);
/* Returns the standard deviation of increment k of the initial state, from the noise of the data. Increments (2 nv):
 * coordinates [m or rad], then velocities [m/s or rad/s]. */
double local_deviation(const Identification* id, int k);
/* Simulates a whole run from its first sample and computes its errors. x[variables]. Sets out to the mean distances
 * from the measurements [m, rad, m or rad] and to the distances of the last sample [m, rad]; NaN if not measured. If
 * rows is not NULL, adds a row for each sample and link, with the predicted uncertainty (Q8). Returns false, with NaN,
 * if the run stops early. */
bool shot_compute_errors(const Identification* id, const double* x, const MeasuredRun* run, double out[ERROR_NUMBERS],
                         ErrorRows* rows);

/* ---------------------------------------------------------------- a step (identify/solve.c) */

/* Computes the damped step dx[variables] (Q3) within the bounds. The step of a fixed variable, or of one at an active
 * bound, is 0. Returns false if the damped matrix is not positive definite. */
bool bounded_step(const Identification* id, double damping, double* dx);

/* Returns zero sums for all shots (shot_count). The caller frees them with sums_free. */
ShotSums* sums_create(const Identification* id);
/* Frees the sums. Accepts NULL. */
void sums_free(const Identification* id, ShotSums* sums);
/* Work of fit_evaluate_shots for each shot: cost; normal equations; gradient by the adjoint; sums at the minimum over
 * local unknowns. */
typedef enum { SWEEP_COST, SWEEP_NORMAL, SWEEP_GRADIENT, SWEEP_MINIMIZED } SweepWork;
/* Returns the cost of all shots at x, with priors. Uses all threads and processes. out[shot_count]: sums of the shots,
 * without arrays for SWEEP_COST. locals (shots x locals): local unknowns, set for SWEEP_MINIMIZED. A shot that fails
 * keeps its cost of id->sums and has no gradient. Returns INFINITY if too many shots fail that could be simulated at
 * the start. Adds to id->simulated. */
double fit_evaluate_shots(Identification* id, SweepWork work, const double* x, double* locals, ShotSums* out);
/* Returns the local unknowns of all shots, consecutively (shots x locals). Owned by the caller. */
double* fit_locals(const Identification* id);
/* Sets the normal equations id->a and id->g to the sums over all shots of id->sums, in order. */
void fit_sum_shots(Identification* id);
/* Returns true if any process was interrupted. */
bool fit_interrupted(const Identification* id);
/* Appends a row to the convergence table, with the number of simulations so far. */
void fit_append_row(Identification* id, const FitRow* row);
/* Simulates all shots at x with derivatives. Sets id->sums, id->a, id->g and id->cost (identify/fit.c). */
void fit_update(Identification* id);
/* Sets id->misfit from the judged runs. rows: one per run (identify/misfit.c). */
void compute_misfit(Identification* id, const ErrorRows* rows);
/* Adds one component of a run's residuals, to estimate its noise. r[k stride]: the residual of sample k in multiples of
 * `unit` [m, rad, m or rad]. Skips NaN (not measured). The caller frees out->second. */
void add_misfit_samples(ErrorRows* out, int part, double unit, const double* r, int samples, int stride);
/* Computes the singular values of the scaled Jacobian and the verdict before the fit. Sets id->singular, deviation,
 * directions, verdict and undetermined (identify/verdict.c). */
void check_identifiability(Identification* id);
/* Computes standard errors (variables), covariance (variables^2), noise and quantile after the fit
 * (identify/uncertainty.c). */
void compute_parameter_uncertainty(Identification* id);
/* With at least this number of runs, standard errors use the variance between runs and Student's t distribution. */
enum { RUNS_FOR_VARIANCE = 5 };
/* Returns the quantile of Student's t for `freedom` > 0 degrees of freedom and the normal quantile z. The error is of
 * order 1 / freedom^4. */
double student_quantile(double z, int freedom);
/* Residuals below this fraction of the task's noise are rounding errors and do not test the model. */
#define NOISE_OF_ROUNDING 1e-6
/* Finds contradictions between subsets of the data, or with priors (identify/doubts.c). Sets id->doubts (doubt_count)
 * and id->spread (variables) from the subsets of id->sums. */
void find_contradictions(Identification* id);

#endif
