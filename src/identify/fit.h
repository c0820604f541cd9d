/* Private to identify/: shots, what one comes to, and the linear algebra of the fit. */
#ifndef SDRS_IDENTIFY_FIT_H
#define SDRS_IDENTIFY_FIT_H

#include "identify/data.h"

/* ---------------------------------------------------------------- shots (identify/shot.c, shot_*.c) */

/* Where a sample lies in the rows of a simulation. */
typedef struct {
  int row;     /* the row at or before it */
  double part; /* of the step after that, in [0, 1) */
} SamplePlace;

/* A run, or a window of one, that is simulated from its own state. */
typedef struct {
  const MeasuredRun* run;
  int run_index, first, count; /* samples */
  int steps;
  SamplePlace* places; /* (count) */
  bool usable;         /* it could be simulated when the fit began */
  double* local;       /* increments of its initial coordinates, then velocities, that are fitted (2 nv); NULL */
} Shot;

/* Parts of what was measured that are to say the same (Q12): two and two make the whole. */
enum { PART_FREE, PART_TOUCHED, PART_EARLY, PART_LATE, PART_PLACES, PART_TURNS, PARTS };

/* What a shot comes to at some values. */
typedef struct {
  bool ran;
  int runs;    /* simulations that it took */
  double cost; /* half the sum of squares (Huber's), its own priors among it */
  int residuals;
  double *a, *g;           /* J'J (variables^2), J'r (variables) of the variables, the shot's own unknowns eliminated */
  double *b, *c, *h;       /* (variables x locals), Cholesky factor (locals^2), (locals) */
  double *part_a, *part_g; /* the same of each part, after the fit (PARTS x variables^2), (PARTS x variables); NULL */
} ShotSums;

/* What a judged run comes to: means over it of position, rotation, coordinate, then position and rotation at its end.
 */
enum { JUDGED_PARTS = 3, JUDGED_NUMBERS = 5 };
/* What is written of it. */
enum { JUDGED_BINS = 200 };
typedef struct {
  Text text;                   /* rows of residuals.csv */
  int inside, seen;            /* residuals within 1.96 deviations, and all */
  double square[JUDGED_PARTS]; /* of all residuals */
  int squares[JUDGED_PARTS];
  double* second[JUDGED_PARTS]; /* sizes of second differences of three samples (second_count; owned) */
  int second_count[JUDGED_PARTS], second_room[JUDGED_PARTS];
  double sum[JUDGED_PARTS][JUDGED_BINS]; /* distances by time */
  int count[JUDGED_PARTS][JUDGED_BINS];
  double bin; /* width of a bin of time [s] */
} JudgedRows;

typedef enum { DOUBT_TOUCH, DOUBT_TIME, DOUBT_TURNS, DOUBT_PRIOR } DoubtKind;
/* A parameter that two sources tell otherwise (Q12). */
typedef struct {
  int variable;
  DoubtKind kind;
  double first, second; /* what the two say */
  double apart;         /* in standard deviations */
} Doubt;

/* A row of convergence.csv. */
typedef struct {
  double cost, trial;    /* of the values that stand, of the last that were tried; NaN: none were */
  double gradient, step; /* norms, of variables in units of their large changes */
  double simulated;      /* number of runs and windows simulated so far */
  TrialOutcome outcome;
} FitRow;

/* How the sum is made small: a row of a table. */
typedef struct {
  /* Is the task one for it? With diagnostics if not. */
  bool (*allows)(const Identification* id, Diagnostics* diagnostics);
  /* At the values to begin with, whose sums are there. */
  void (*begin)(Identification* id);
  /* As identification_advance; sets x, cost, iteration, stop, stop_text and notes rows. */
  Status (*advance)(Identification* id);
  /* After the last step: sets the shots' own unknowns; NULL: they are. */
  void (*end)(Identification* id);
  /* Its state between two iterations, in arrays of names of its own. false: with diagnostics. */
  void (*save)(const Identification* id, NumberFile* file);
  bool (*load)(Identification* id, const NumberFile* file, Diagnostics* diagnostics);
} FitMethod;
/* Steps of the normal equations (identify/levenberg_marquardt.c); those of optimize/ (identify/search.c). */
extern const FitMethod METHOD_RESIDUALS, METHOD_SEARCH;

struct Identification {
  Task* task;
  const FitMethod* method;
  IdentifyOptions options;
  Optimization* optimization;
  MeasuredData data;
  Model model; /* of the scene as it is */
  bool has_model;
  int variables, locals;                        /* locals: of a shot; 0 when its initial state is not fitted */
  double *initial, *low, *high, *scale, *prior; /* (variables) */
  double *x, *trial;                            /* (variables) */
  bool* held;                                   /* left where it was: the data does not tell it (variables) */
  Shot* shots;
  int shot_count, usable_shots;
  ShotSums* sums;
  ShotSums* tried; /* of what a search tries; NULL: there is none */
  bool begun;      /* the search stands at a row */
  FitRow* rows;    /* (row_count) */
  int row_count, row_room;
  double *a, *g, *raw_a; /* of all shots, with priors (variables^2), (variables) */
  double cost, damping;
  int iteration, calm; /* calm: iterations in a row that lowered the sum by next to nothing */
  bool stuck;          /* no step of the last iteration lowered it */
  int rank, processes; /* of mpirun's */
  int64_t simulated;   /* runs and windows, with and without derivatives */
  IdentifyStop stop;
  const char* stop_text;
  double *singular, *deviation; /* of the scaled Jacobian before the fit (variables) */
  double* directions;           /* right singular vectors, one a row (variables^2) */
  Text verdict;
  int undetermined;
  double* base; /* what held variables take part in: of combination j, the coefficient of variable k (variables^2) */
  Text told;    /* the combinations that the data does tell, one a line */
  double noise; /* of a residual, in the standard deviations of the task */
  double* covariance; /* (variables^2) */
  double* error;      /* standard errors (variables) */
  double quantile;
  double*
      spread; /* half of what parts of the data, or it and a prior, are apart by; 0: nothing is doubted (variables) */
  double* ahead; /* what the next step of the normal equations changes, where it counts; 0: the fit stands at its
                    minimum (variables) */
  Doubt* doubts; /* owned */
  int doubt_count, doubt_room;
  double* judged;     /* of each run, fitted then unfitted (runs x 2 JUDGED_NUMBERS) */
  Misfit misfit[2];   /* validation, training */
  double inside[2];   /* part of the residuals within 95 % of what is predicted: validation, training */
  bool* judged_whole; /* it could be simulated to the end, fitted then unfitted (2 runs) */
};

/* Windows of the runs for training, in id->shots (shot_count); freed by shots_free. */
void shots_create(Identification* id);
/* A run of validation that was followed as well as most, beside what was measured, as a run folder of its own: overlay/
 * in `folder` (identify/overlay.c). STATUS_IO with a diagnostic; STATUS_OK without runs too. */
Status overlay_write(Identification* id, const char* folder, Diagnostics* diagnostics);
/* Poses of all links in the rows of a whole run from its first state, (rows x links) of the caller; NULL: it cannot be
 * simulated. *begin: time of the first row in the run [s]; both are set only with poses. Freed with memory_free. */
Pose* shot_poses(const Identification* id, const double* x, const MeasuredRun* run, int* rows, double* begin);
/* Frees id->shots and what they hold. */
void shots_free(Identification* id);
/* Simulate a shot with these values (variables, its own locals). derivatives: sums are set whole, else cost only.
 * out->ran false: it could not be simulated, and the rest is of no use. Several threads may, each with its own out. */
void shot_evaluate(const Identification* id, const double* x, const Shot* shot, const double* local, bool derivatives,
                   ShotSums* out);
/* Least height of what can move above a half-space where the shot begins [m]; *ground: the half-space's link.
 * INFINITY: there is none, or nothing that can move. */
double shot_height(const Identification* id, const Shot* shot, int* ground);
/* Sets the arrays of out to zero: (variables^2), (variables), (variables x locals), (locals^2), (locals). */
void shot_clear(const Identification* id, ShotSums* out);
/* Cost and gradient alone, by the adjoint of the run (Q13): sets out->ran, cost, residuals and g. Of shots without
 * unknowns of their own. x[variables]. */
void shot_gradient(const Identification* id, const double* x, const Shot* shot, ShotSums* out);
/* The same sums as with derivatives, where the shot's own unknowns, which are set, make its cost least for x (Q13);
 * identify/settle.c. x[variables], local (the shot's own unknowns). */
void shot_settle(const Identification* id, const double* x, const Shot* shot, double* local, ShotSums* out);
/* Huber's loss of a residual, and the weight of its square's derivatives, which is set. */
double robust_loss(double r, double threshold, double* weight);
/* Residuals of a shot, those of a sample beside each other; NaN where nothing was measured. */
typedef struct {
  int samples, count, columns; /* count: of a sample; columns: variables and locals */
  double huber;
  const double *r, *j; /* (samples x count), (samples x count x columns) */
  const bool* turns;   /* does it say how something is turned, not where it is? (count) */
  int touched;         /* the first sample after bodies have met; samples: they never do */
} ShotResiduals;
/* Sums the residuals of a shot (identify/sums.c). False: a sum is not finite, or the shot's own unknowns are not
 * determined. With derivatives out's arrays (numbers per variable) are set, else the cost only. */
bool shot_sum(const Identification* id, const ShotResiduals* s, const double* local, bool derivatives, ShotSums* out);
/* Standard deviation of the k-th increment of the initial state, coordinates [m or rad], then velocities [m/s or
 * rad/s] (2 nv): the data's own noise, by what the joint measures. */
double local_deviation(const Identification* id, int k);
/* A whole run from its first state: means over its samples of the distances to what was measured [m, rad, m or rad],
 * and those in its last sample, NaN where nothing was measured then [m, rad]; false: it ends before. rows: where not
 * NULL, a row for each sample and link is appended, with what it is uncertain by (Q8). x[variables]; out: NaN
 * where it ends before. */
bool shot_judge(const Identification* id, const double* x, const MeasuredRun* run, double out[JUDGED_NUMBERS],
                JudgedRows* rows);

/* ---------------------------------------------------------------- small dense matrices (identify/solve.c) */

/* In place, lower triangle of a (n x n), row-major; false: not positive definite, and a is of no use. */
bool dense_cholesky(int n, double* a);
/* Solves L L^T x = b in place, with the lower triangle of dense_cholesky (n x n); x (n) is b before. No allocation. */
void dense_solve(int n, const double* l, double* x);
/* Eigenvalues (descending) and eigenvectors, one a row, of a symmetric matrix, by Jacobi's rotations; a is destroyed.
 * a and vectors (n x n), row-major; values (n). */
void dense_eigen(int n, double* a, double* values, double* vectors);
/* The step dx[variables] of (Q3) within bounds, 0 for what is held or stays at a bound; false: the matrix is not
 * positive definite for any damping. */
bool bounded_step(const Identification* id, double damping, double* dx);

/* Empty sums for all shots (shot_count), as id->sums. Allocates; freed with sums_free. */
ShotSums* sums_create(const Identification* id);
/* Frees them; NULL is accepted. */
void sums_free(const Identification* id, ShotSums* sums);
/* What of every shot: the cost; normal equations; the gradient by the adjoint; sums with its own unknowns settled. */
typedef enum { SWEEP_COST, SWEEP_NORMAL, SWEEP_GRADIENT, SWEEP_SETTLED } SweepWork;
/* Half the sum of squares at x with priors, over threads and processes; INFINITY where many shots cannot be simulated
 * that could when the fit began. Of a shot that cannot, it is what it was in id->sums, and it pulls at nothing.
 * locals (shots x locals): of every shot, set where they are settled; out[shot_count]: for SWEEP_COST without
 * arrays. Adds to id->simulated. */
double fit_sweep(Identification* id, SweepWork work, const double* x, double* locals, ShotSums* out);
/* The shots' own unknowns, one after the other (shots x locals). Owned by the caller. */
double* fit_locals(const Identification* id);
/* Normal equations of all shots, from id->sums in their order: sets id->a and id->g. */
void fit_gather(Identification* id);
/* Was any process told to stop? */
bool fit_interrupted(const Identification* id);
/* One more, with the simulations so far. */
void fit_note_row(Identification* id, const FitRow* row);
/* Simulates all shots at x with derivatives; sets id->sums, id->a, id->g and id->cost (identify/fit.c). */
void fit_renew(Identification* id);
/* Fills id->misfit from the judged runs (identify/misfit.c). rows: one per run; only read. */
void find_misfit(Identification* id, const JudgedRows* rows);
/* A run's part of it, from one component of its residuals: r[k stride] of samples k, in units [m, rad, m or rad].
 * NaN: not measured, and passed over. The caller frees out->second. */
void judge_misfit(JudgedRows* out, int part, double unit, const double* r, int samples, int stride);
/* Singular values, verdict and what is undetermined, before the fit (identify/verdict.c). Sets id->singular,
 * deviation, directions, verdict, undetermined. */
void find_verdict(Identification* id);
/* Standard errors (variables), covariance (variables^2), noise and quantile, after the fit (identify/uncertainty.c). */
void find_uncertainty(Identification* id);
/* Student's t where the normal distribution has z. From this many runs on they tell of their own differences. */
enum { RUNS_TELL = 5 };
/* The quantile of Student's t with so many degrees of freedom (> 0) that the normal distribution has at z, to the
 * order 1 / freedom^3. */
double student_quantile(double z, int freedom);
/* Residuals below this part of the task's noise are those of rounding: they say nothing of the model. */
#define NOISE_OF_ROUNDING 1e-6
/* Where parts of the data, or the data and what was known beforehand, contradict each other (identify/doubts.c).
 * Sets id->doubts (doubt_count) and id->spread (variables); takes id->sums' parts. */
void find_doubts(Identification* id);

#endif
