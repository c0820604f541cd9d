/* Private to identify/: shots, their sums, and the linear algebra of the fit. */
#ifndef SDRS_IDENTIFY_FIT_H
#define SDRS_IDENTIFY_FIT_H

#include "identify/data.h"

/* ---------------------------------------------------------------- shots (identify/shot.c, shot_*.c) */

/* Position of a sample among the rows of a simulation. */
typedef struct {
  int row;     /* last row at or before it */
  double part; /* fraction of the next step, in [0, 1) */
} SamplePlace;

/* A run, or a window of one, simulated from its own initial state. */
typedef struct {
  const MeasuredRun* run;
  int run_index, first, count; /* range of samples */
  int steps;
  SamplePlace* places; /* (count) */
  bool usable;         /* true: the shot could be simulated at the start of the fit */
  double* local;       /* fitted increments of its initial coordinates, then velocities (2 nv); NULL: not fitted */
} Shot;

/* Parts of the measurements that must agree (Q12), in complementary pairs. */
enum { PART_FREE, PART_TOUCHED, PART_EARLY, PART_LATE, PART_PLACES, PART_TURNS, PARTS };

/* Result of a shot. */
typedef struct {
  bool ran;
  int runs;    /* number of simulations */
  double cost; /* half the sum of squares (Huber's), with priors of its own unknowns */
  int residuals;
  double *a, *g;           /* J'J (variables^2) and J'r (variables), with the shot's own unknowns eliminated */
  double *b, *c, *h;       /* (variables x locals), Cholesky factor (locals^2), (locals) */
  double *part_a, *part_g; /* the same for each part, after the fit (PARTS x variables^2), (PARTS x variables); NULL */
} ShotSums;

/* Numbers of a judged run: means over it of position, rotation and coordinate errors, then position and rotation error
 * at its end. */
enum { JUDGED_PARTS = 3, JUDGED_NUMBERS = 5 };
/* Output data of a judged run. */
enum { JUDGED_BINS = 200 };
typedef struct {
  Text text;                   /* rows of residuals.csv */
  int inside, seen;            /* residuals within 1.96 deviations, and their number */
  double square[JUDGED_PARTS]; /* sums of squares of all residuals */
  int squares[JUDGED_PARTS];
  double* second[JUDGED_PARTS]; /* magnitudes of second differences (second_count; owned) */
  int second_count[JUDGED_PARTS], second_room[JUDGED_PARTS];
  double sum[JUDGED_PARTS][JUDGED_BINS]; /* errors by time */
  int count[JUDGED_PARTS][JUDGED_BINS];
  double bin; /* width of a time bin [s] */
} JudgedRows;

typedef enum { DOUBT_TOUCH, DOUBT_TIME, DOUBT_TURNS, DOUBT_PRIOR } DoubtKind;
/* A parameter with contradicting estimates (Q12). */
typedef struct {
  int variable;
  DoubtKind kind;
  double first, second; /* the two estimates */
  double apart;         /* in standard deviations */
} Doubt;

/* A row of convergence.csv. */
typedef struct {
  double cost, trial;    /* of the present values; of the last trial, NaN: none */
  double gradient, step; /* norms, variables in units of their large changes */
  double simulated;      /* number of runs and windows simulated */
  TrialOutcome outcome;
} FitRow;

/* A method of minimizing the sum: a row of a table. */
typedef struct {
  /* Returns true if the method supports the task; otherwise reports why. */
  bool (*allows)(const Identification* id, Diagnostics* diagnostics);
  /* Starts at the initial values, whose sums are computed. */
  void (*begin)(Identification* id);
  /* As identification_advance; sets x, cost, iteration, stop and stop_text, and adds rows. */
  Status (*advance)(Identification* id);
  /* After the last step: sets the shots' own unknowns; NULL: they are set. */
  void (*end)(Identification* id);
  /* Save and load the state between two iterations, in arrays with own names. Loading returns false with diagnostics.
   */
  void (*save)(const Identification* id, NumberFile* file);
  bool (*load)(Identification* id, const NumberFile* file, Diagnostics* diagnostics);
} FitMethod;
/* Least squares (identify/levenberg_marquardt.c), and the methods of optimize/ (identify/search.c). */
extern const FitMethod METHOD_RESIDUALS, METHOD_SEARCH;

struct Identification {
  Task* task;
  const FitMethod* method;
  IdentifyOptions options;
  Optimization* optimization;
  MeasuredData data;
  Model model; /* model of the unchanged scene */
  bool has_model;
  int variables, locals;                        /* locals: unknowns of a shot, 0 when its initial state is not fitted */
  double *initial, *low, *high, *scale, *prior; /* (variables) */
  double *x, *trial;                            /* (variables) */
  bool* held;                                   /* true: fixed, because the data do not determine it (variables) */
  Shot* shots;
  int shot_count, usable_shots;
  ShotSums* sums;
  ShotSums* tried; /* sums of a search's trial; NULL: none */
  bool begun;      /* the search has a row */
  FitRow* rows;    /* (row_count) */
  int row_count, row_room;
  double *a, *g, *raw_a; /* over all shots, with priors (variables^2), (variables) */
  double cost, damping;
  int iteration, calm; /* calm: consecutive iterations that hardly lowered the sum */
  bool stuck;          /* no step of the last iteration lowered the sum */
  int rank, processes; /* MPI rank and number of processes */
  int64_t simulated;   /* runs and windows, with and without derivatives */
  IdentifyStop stop;
  const char* stop_text;
  double *singular, *deviation; /* singular values and deviations of the scaled Jacobian before the fit (variables) */
  double* directions;           /* right singular vectors by rows (variables^2) */
  Text verdict;
  int undetermined;
  double* base;    /* base parameters with held variables: coefficient of variable k in combination j (variables^2) */
  Text determined; /* the combinations that the data determines, one per line */
  double noise;    /* noise of a residual, relative to the task's standard deviations */
  double* covariance; /* (variables^2) */
  double* error;      /* standard errors (variables) */
  double quantile;
  double* spread; /* half the contradiction between estimates; 0: none (variables) */
  double* ahead;  /* change by the next step of the normal equations, if significant; 0: the fit is at its minimum
                     (variables) */
  Doubt* doubts;  /* owned */
  int doubt_count, doubt_room;
  double* judged;     /* of each run, fitted, then unfitted (runs x 2 JUDGED_NUMBERS) */
  Misfit misfit[2];   /* validation, training */
  double inside[2];   /* fraction of residuals within the predicted 95 %: validation, training */
  bool* judged_whole; /* simulated to the end, fitted, then unfitted (2 runs) */
};

/* Creates windows of the training runs in id->shots (shot_count); freed by shots_free. */
void shots_create(Identification* id);
/* Writes a validation run of median error beside its measurement as a run folder overlay/ in `folder`
 * (identify/overlay.c). Returns STATUS_IO with a diagnostic; STATUS_OK also without runs. */
Status overlay_write(Identification* id, const char* folder, Diagnostics* diagnostics);
/* Returns the poses of all links in the rows of a whole run from its first state (rows x links), freed by the caller
 * with memory_free; NULL if it cannot be simulated. Sets *begin to the time of the first row in the run [s] only with
 * poses. */
Pose* shot_poses(const Identification* id, const double* x, const MeasuredRun* run, int* rows, double* begin);
/* Frees id->shots and their data. */
void shots_free(Identification* id);
/* Simulates a shot at x (variables, and its own unknowns). derivatives: sets all sums, otherwise the cost only. If
 * out->ran is false it could not be simulated, and the rest is undefined. Thread-safe with separate out. */
void shot_evaluate(const Identification* id, const double* x, const Shot* shot, const double* local, bool derivatives,
                   ShotSums* out);
/* Returns the least height of a movable body above a half-space at the start of the shot [m], and sets *ground to the
 * half-space's link. INFINITY if there is none. */
double shot_height(const Identification* id, const Shot* shot, int* ground);
/* Zeroes the arrays of out: (variables^2), (variables), (variables x locals), (locals^2), (locals). */
void shot_clear(const Identification* id, ShotSums* out);
/* Computes cost and gradient by the adjoint of the run (Q13): sets out->ran, cost, residuals and g. For shots without
 * own unknowns. x[variables]. */
void shot_gradient(const Identification* id, const double* x, const Shot* shot, ShotSums* out);
/* Sets local (the shot's own unknowns) to the minimum of its cost for x[variables], and computes the sums there with
 * derivatives (Q13; identify/settle.c). */
void shot_settle(const Identification* id, const double* x, const Shot* shot, double* local, ShotSums* out);
/* Returns Huber's loss of a residual, and sets the weight of the squared residual's derivatives. */
double robust_loss(double r, double threshold, double* weight);
/* Residuals of a shot, sample by sample; NaN where nothing was measured. */
typedef struct {
  int samples, count, columns; /* count: residuals of a sample; columns: variables and locals */
  double huber;
  const double *r, *j; /* (samples x count), (samples x count x columns) */
  const bool* turns;   /* true for rotations, false for positions (count) */
  int touched;         /* first sample after contact; `samples` if there is none */
} ShotResiduals;
/* Sums the residuals of a shot (identify/sums.c). Returns false if a sum is not finite, or the shot's own unknowns are
 * undetermined. With derivatives it sets all arrays of out (numbers per variable), otherwise the cost only. */
bool shot_sum(const Identification* id, const ShotResiduals* s, const double* local, bool derivatives, ShotSums* out);
/* Returns the standard deviation of the k-th increment of the initial state, coordinates [m or rad], then velocities
 * [m/s or rad/s] (2 nv), from the noise of the data. */
double local_deviation(const Identification* id, int k);
/* Simulates a whole run from its first state. Sets out to mean distances from the measurements [m, rad, m or rad], and
 * to those of its last sample [m, rad], NaN if not measured. Returns false, with NaN, if the run stops early. rows:
 * unless NULL, receives a row for each sample and link with its predicted uncertainty (Q8). x[variables]. */
bool shot_judge(const Identification* id, const double* x, const MeasuredRun* run, double out[JUDGED_NUMBERS],
                JudgedRows* rows);

/* ---------------------------------------------------------------- a step (identify/solve.c) */

/* Computes the step dx[variables] of (Q3) within bounds, 0 for variables held or at a bound. Returns false if the
 * matrix is not positive definite for any damping. */
bool bounded_step(const Identification* id, double damping, double* dx);

/* Returns empty sums for all shots (shot_count), as id->sums. Allocates; freed with sums_free. */
ShotSums* sums_create(const Identification* id);
/* Frees the sums. Accepts NULL. */
void sums_free(const Identification* id, ShotSums* sums);
/* Work of a sweep: costs; normal equations; gradients by the adjoint; sums at the minimum over own unknowns. */
typedef enum { SWEEP_COST, SWEEP_NORMAL, SWEEP_GRADIENT, SWEEP_SETTLED } SweepWork;
/* Returns half the sum of squares at x with priors, computed on threads and processes; INFINITY if too many shots fail
 * that could be simulated at the start. A failed shot keeps its cost of id->sums and has no gradient. locals (shots x
 * locals): unknowns of each shot, set for SWEEP_SETTLED. out[shot_count]: without arrays for SWEEP_COST. Adds to
 * id->simulated. */
double fit_sweep(Identification* id, SweepWork work, const double* x, double* locals, ShotSums* out);
/* Returns the shots' own unknowns, consecutively (shots x locals). Owned by the caller. */
double* fit_locals(const Identification* id);
/* Sets id->a and id->g, the normal equations of all shots, from id->sums in order. */
void fit_gather(Identification* id);
/* Returns true if any process was interrupted. */
bool fit_interrupted(const Identification* id);
/* Appends a row, with the number of simulations so far. */
void fit_note_row(Identification* id, const FitRow* row);
/* Simulates all shots at x with derivatives; sets id->sums, id->a, id->g and id->cost (identify/fit.c). */
void fit_renew(Identification* id);
/* Sets id->misfit from the judged runs (identify/misfit.c). rows: one per run. */
void find_misfit(Identification* id, const JudgedRows* rows);
/* Adds one component of a run's residuals, r[k stride] for samples k, in units [m, rad, m or rad]. NaN, not measured,
 * is skipped. The caller frees out->second. */
void judge_misfit(JudgedRows* out, int part, double unit, const double* r, int samples, int stride);
/* Computes singular values and the verdict before the fit (identify/verdict.c). Sets id->singular, deviation,
 * directions, verdict, undetermined. */
void find_verdict(Identification* id);
/* Computes standard errors (variables), covariance (variables^2), noise and quantile after the fit
 * (identify/uncertainty.c). */
void find_uncertainty(Identification* id);
/* From this number of runs on, the variance between runs is used, with Student's t in place of the normal distribution.
 */
enum { RUNS_TELL = 5 };
/* Returns the quantile of Student's t for the normal quantile z, to order 1 / freedom^3. freedom > 0. */
double student_quantile(double z, int freedom);
/* Residuals below this fraction of the task's noise are rounding and do not test the model. */
#define NOISE_OF_ROUNDING 1e-6
/* Finds contradictions between parts of the data, or with priors (identify/doubts.c). Sets id->doubts (doubt_count) and
 * id->spread (variables) from the parts of id->sums. */
void find_doubts(Identification* id);

#endif
