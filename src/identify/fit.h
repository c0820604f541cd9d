/* Private to identify/: fit of scene parameters to measured runs by least squares. Segments of measured runs ("shots"),
 * sums over their residuals, and linear algebra. */
#ifndef SDRS_IDENTIFY_FIT_H
#define SDRS_IDENTIFY_FIT_H

#include "identify/data.h"

/* ---------------------------------------------------------------- shots: segments of multiple shooting
 * (identify/shot.c, shot_*.c) */

/* Time of a measured sample, relative to the rows of a simulation; a row is the state after a time step. */
typedef struct {
  int row;         /* last row at or before the sample */
  double fraction; /* time since that row, in steps, in [0, 1) */
} SampleTime;

/* Segment of a measured run (multiple shooting): the whole run or a window, simulated from its own initial state. */
typedef struct {
  const MeasuredRun* run;
  int run_index, first, count; /* samples first..first + count - 1 of the run */
  int steps;
  SampleTime* sample_times; /* (size: count) */
  bool usable;              /* true if the shot could be simulated at the start of the fit */
  double* local; /* fitted increments of the initial coordinates and velocities (2 nv); NULL if none are fitted */
} Shot;

/* Subsets of the measurements, in complementary pairs. If the model is right, both subsets of a pair give the same
 * parameters (identify.md, Q12). */
enum {
  SUBSET_BEFORE_CONTACT,
  SUBSET_AFTER_CONTACT,
  SUBSET_FIRST_HALF,
  SUBSET_SECOND_HALF,
  SUBSET_POSITIONS,
  SUBSET_ROTATIONS,
  SUBSETS
};

/* Sums of squares and normal equations of a shot (segment of a run). The local unknowns of a shot are increments of its
 * initial state. */
typedef struct {
  bool ran;    /* true if the shot could be simulated; otherwise the other members are unspecified */
  int runs;    /* number of simulations */
  double cost; /* half of the sum of squared residuals, with Huber's loss for large residuals, plus the priors of the
                  local unknowns */
  int residuals;
  double *a, *g; /* a: J'J (size: variables^2); g: J'r (size: variables); after elimination of the local unknowns. J:
                    derivatives of the residuals with respect to the variables. r: residuals */
  /* Blocks of the normal equations that belong to the local unknowns. b: coupling with the variables (variables x
   * locals). c: Cholesky factor (locals^2). h: right-hand side (locals). */
  double *b, *c, *h;
  /* normal equations of each subset of the measurements, set after the fit: matrices (SUBSETS x variables^2) and
   * vectors (SUBSETS x variables); NULL before */
  double *subset_a, *subset_g;
} ShotSums;

/* Errors of a run: ERROR_KINDS means (position, rotation, coordinate), then position and rotation error at the end. */
enum { ERROR_KINDS = 3, ERROR_NUMBERS = 5 };
/* Number of time bins of the errors of a run. */
enum { ERROR_BINS = 200 };
typedef struct {
  Text text;                  /* rows of residuals.csv */
  int inside, residual_count; /* inside: number of residuals within 1.96 standard deviations; residual_count: number of
                                 all residuals */
  double square[ERROR_KINDS]; /* sums of the squared residuals of positions, rotations and coordinates; `squares`: their
                                 numbers */
  int squares[ERROR_KINDS];
  double* second[ERROR_KINDS]; /* magnitudes of the second differences of residuals (size: second_count); owned */
  int second_count[ERROR_KINDS], second_capacity[ERROR_KINDS];
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
/* Contradiction about one parameter: two subsets of the data, or the data and the parameter's prior, give different
 * estimates (Q12). */
typedef struct {
  int variable;
  ContradictionKind kind;
  double first, second; /* the two estimates */
  double difference;    /* their difference in standard deviations */
} Contradiction;

/* Row of convergence.csv. */
typedef struct {
  double cost, trial; /* cost: current cost; trial: cost at the last trial values, NaN without a trial */
  /* norms of the gradient and of the step, with each component relative to the scale of its variable */
  double gradient, step;
  double simulated; /* number of simulated runs; a window of a run counts as its fraction of the run */
  TrialOutcome outcome;
} FitRow;

/* Method that minimizes the sum of squared residuals. */
typedef struct {
  /* Returns true if the method supports the task. Otherwise adds an error. */
  bool (*allows)(const Identification* id, Diagnostics* diagnostics);
  /* Starts the method at the initial values of the variables, where id->sums is already computed. */
  void (*begin)(Identification* id);
  /* Performs one iteration: sets x, cost, iteration, stop and stop_text, and adds rows to the convergence table.
   * Returns STATUS_INTERRUPTED if interrupted, otherwise STATUS_OK. */
  Status (*advance)(Identification* id);
  /* Computes the local unknowns of the shots after the last iteration. NULL: already known. */
  void (*end)(Identification* id);
  /* Saves and loads the state between two iterations as named arrays. load returns false with diagnostics on errors. */
  void (*save)(const Identification* id, NumberFile* file);
  bool (*load)(Identification* id, const NumberFile* file, Diagnostics* diagnostics);
} FitMethod;
extern const FitMethod METHOD_RESIDUALS, METHOD_SEARCH;

struct Identification {
  Task* task;
  const FitMethod* method;
  IdentifyOptions options;
  Optimization* optimization;
  MeasuredData data;
  Model model; /* model of the scene with the initial values of the variables */
  bool has_model;
  int variables, locals; /* locals: local unknowns of a shot, 0 if initial states are not fitted */
  double *initial, *low, *high, *scale, *prior; /* (size: variables) */
  double *x, *trial;                            /* (size: variables) */
  bool* fixed; /* true for a variable that is fixed because the data do not determine it (size: variables) */
  Shot* shots;
  int shot_count, usable_shots;
  ShotSums* sums;
  ShotSums* trial_sums; /* sums of all shots at the last evaluated variables; NULL for a least-squares method */
  bool has_started;     /* true if the optimizer has written its first row */
  FitRow* rows;         /* (size: row_count) */
  int row_count, row_capacity;
  double *a, *g, *raw_a; /* normal equations of all shots, with priors (variables^2), (size: variables) */
  double cost, damping;
  int iteration, small_decreases; /* small_decreases: number of consecutive iterations with a small relative decrease of
                                     the sum of squares */
  bool has_no_step;               /* true if no step of the last iteration lowered the sum of squares */
  int rank, processes;            /* MPI rank and number of processes */
  int64_t simulated;              /* number of simulated runs and windows */
  IdentifyStop stop;
  const char* stop_text;
  /* before the fit: singular values of the Jacobian of the residuals, and standard deviations that follow from it, in
   * the scales of the variables (size: variables) */
  double *singular_values, *deviation;
  double* directions; /* right singular vectors of this Jacobian, one per row (size: variables^2) */
  Text verdict;
  int undetermined;
  double* base_parameters; /* coefficients of combinations of variables that the data determine, one combination per
                              row; fixed variables included (variables^2) */
  Text determined;         /* combinations of variables that the data determine, in words, one per line */
  double noise;       /* standard deviation of the residuals, divided by the measurement noise that the task gives */
  double* covariance; /* covariance of the fitted variables (size: variables^2) */
  double* error;      /* standard errors of the fitted variables (size: variables) */
  double quantile;
  double* contradiction_width; /* for each variable, half of the difference between two estimates that noise does not
                                  explain, or 0 (size: variables) */
  /* significant change of each variable by the next Newton step; 0 at the minimum (size: variables) */
  double* next_change;
  Contradiction* contradictions; /* owned */
  int contradiction_count, contradiction_capacity;
  double* run_errors;    /* errors of each run with fitted, then with initial values (runs x 2 ERROR_NUMBERS) */
  Misfit misfit[2];      /* noise and model errors: validation runs, training runs */
  double inside[2];      /* fraction of residuals in their predicted 95 % interval: validation, training */
  bool* run_is_complete; /* for each run: true if it was simulated to its end with fitted values, and with initial
                            values (size: 2 runs) */
};

/* Divides the training runs into shots: id->shots (shot_count). shots_free frees them. */
void shots_create(Identification* id);
/* Writes the validation run with the median error and its measurement as one run folder, `folder`/overlay
 * (identify/overlay.c). Returns STATUS_OK, also without runs, or STATUS_IO with a diagnostic. */
Status overlay_write(Identification* id, const char* folder, Diagnostics* diagnostics);
/* Simulates a measured run and returns the poses of all links in all rows (rows x links). x: values of the variables.
 * *begin: time of the first simulated row, since the start of the measured run [s]. Returns NULL if the run cannot be
 * simulated. The caller frees the poses with memory_free. */
Pose* shot_poses(const Identification* id, const double* x, const MeasuredRun* run, int* rows, double* begin);
/* Frees the shots (segments of measured runs), id->shots. */
void shots_free(Identification* id);
/* Simulates a shot (segment of a run) and computes its cost, and its normal equations if `derivatives` is true. x:
 * variables (variables). local: increments of the shot's initial state. If the shot cannot be simulated, sets out->ran
 * to false; the other members are then unspecified. Thread-safe with separate `out`. */
void shot_evaluate(const Identification* id, const double* x, const Shot* shot, const double* local, bool derivatives,
                   ShotSums* out);
/* Returns the smallest height of a movable body above a half-space at the start of a shot [m], and the half-space's
 * link *ground. Returns INFINITY without a movable body or half-space. */
double shot_height(const Identification* id, const Shot* shot, int* ground);
void shot_clear(const Identification* id, ShotSums* out);
/* Computes the cost of a shot and its gradient by the adjoint method (Q13). Sets out->ran, cost, residuals and g. The
 * shot's initial state must not be fitted (asserted). x[variables]. */
void shot_gradient(const Identification* id, const double* x, const Shot* shot, ShotSums* out);
/* Minimizes the cost of a shot over the increments of its initial state, for fixed x[variables] (Q13;
 * identify/settle.c). Sets `local` to the minimum, and `out` to the sums there with derivatives. */
void shot_minimize(const Identification* id, const double* x, const Shot* shot, double* local, ShotSums* out);
/* Returns Huber's loss of the residual r: r^2 / 2 below the threshold, linear above. Sets *weight to the derivative of
 * the loss divided by r. */
double robust_loss(double r, double threshold, double* weight);
/* Residuals of a shot, sample by sample; NaN without a measurement. */
typedef struct {
  int samples, count, columns; /* count: residuals per sample; columns: variables plus local unknowns */
  double huber;
  const double *r, *j; /* residuals (size: samples x count), and their derivatives with respect to variables and local
                          unknowns (samples x count x columns) */
  const bool* turns;   /* true for a residual that is a component of a rotation (size: count) */
  int first_after_contact; /* first sample after a contact, or `samples` */
} ShotResiduals;
/* Sums the residuals of a shot: the cost, and with derivatives all arrays of out (numbers per variable)
 * (identify/sums.c). Returns false if a sum is not finite or the data do not determine the local unknowns. */
bool shot_sum(const Identification* id, const ShotResiduals* s, const double* local, bool derivatives, ShotSums* out);
/* Returns the standard deviation of increment k of the initial state, from the noise of the data. Increments (2 nv):
 * coordinates [m or rad], then velocities [m/s or rad/s]. */
double local_deviation(const Identification* id, int k);
/* Simulates a run from its first sample and computes its errors. x[variables]. Sets out[0..2] to the mean errors of
 * positions, rotations and joint coordinates [m, rad, m or rad]. Sets out[3..4] to the position and rotation error of
 * the last sample. Errors without measurement are NaN. Unless rows is NULL, adds a row with residuals and their
 * predicted uncertainty (Q8) for each sample and link. Returns false, with all errors NaN, if the run stops early. */
bool shot_compute_errors(const Identification* id, const double* x, const MeasuredRun* run, double out[ERROR_NUMBERS],
                         ErrorRows* rows);

/* Computes the damped Gauss-Newton step dx[variables] of the variables within their bounds (Q3). The step is 0 for
 * fixed variables and at active bounds. Returns false if the damped matrix of the normal equations is not positive
 * definite. */
bool bounded_step(const Identification* id, double damping, double* dx);

/* Allocates zeroed sums of all shots (shot_count). The caller frees them with sums_free. */
ShotSums* sums_create(const Identification* id);
/* Frees the sums of all shots. Accepts NULL. */
void sums_free(const Identification* id, ShotSums* sums);
/* Quantities that fit_evaluate_shots computes for each shot: cost; normal equations; gradient by the adjoint method;
 * normal equations at the minimum over increments of the initial state. */
typedef enum { SWEEP_COST, SWEEP_NORMAL, SWEEP_GRADIENT, SWEEP_MINIMIZED } SweepWork;
/* Returns the cost of all shots for the variables x, with their priors, computed by all threads and processes.
 * out[shot_count]: sums of the shots, without arrays for SWEEP_COST. locals (shots x locals): increments of the shots'
 * initial states, an output for SWEEP_MINIMIZED. A shot that fails gets its cost in id->sums and a zero gradient.
 * Returns INFINITY if too many shots fail. */
double fit_evaluate_shots(Identification* id, SweepWork work, const double* x, double* locals, ShotSums* out);
/* Returns the fitted increments of the initial states of all shots, one shot after the other (shots x locals). Owned by
 * the caller. */
double* fit_locals(const Identification* id);
/* Sums the normal equations of all shots, id->sums, to the matrix id->a and the gradient id->g, always in the same
 * order. */
void fit_sum_shots(Identification* id);
/* Returns true if any MPI process was interrupted. */
bool fit_interrupted(const Identification* id);
/* Appends a row to the convergence table, with the number of simulations so far. */
void fit_append_row(Identification* id, const FitRow* row);
/* Simulates all shots with derivatives for the variables id->x. Sets id->sums, id->a, id->g and id->cost
 * (identify/fit.c). */
void fit_update(Identification* id);
/* Computes id->misfit, the noise and model errors, from the errors of all runs. rows: one entry per run
 * (identify/misfit.c). */
void compute_misfit(Identification* id, const ErrorRows* rows);
/* Adds one component of a run's residuals to the noise estimate. r[k stride]: residual of sample k in multiples of
 * `unit` [m, rad, m or rad]. Skips NaN. The caller frees out->second. */
void add_misfit_samples(ErrorRows* out, int part, double unit, const double* r, int samples, int stride);
/* Finds the variables that the data do not determine, before the fit: id->singular_values, deviation, directions,
 * verdict and undetermined (identify/verdict.c). */
void check_identifiability(Identification* id);
/* After the fit, computes id->error, the standard errors (variables), and id->covariance (variables^2). Also computes
 * id->noise and id->quantile (identify/uncertainty.c). */
void compute_parameter_uncertainty(Identification* id);
/* Smallest number of runs for which standard errors use the variance between runs and Student's t distribution. */
enum { RUNS_FOR_VARIANCE = 5 };
/* Returns the quantile of Student's t distribution with `freedom` > 0 degrees of freedom. The quantile has the same
 * probability as the quantile z of the normal distribution. The error is of order 1 / freedom^4. */
double student_quantile(double z, int freedom);
/* Residuals below this fraction of the measurement noise that the task gives are rounding errors and do not test the
 * model. */
#define NOISE_OF_ROUNDING 1e-6
/* Finds contradictions between subsets of the data, or with priors (identify/doubts.c): id->contradictions
 * (contradiction_count) and id->contradiction_width (variables). */
void find_contradictions(Identification* id);

#endif
