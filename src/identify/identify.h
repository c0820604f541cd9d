/* identify: estimates parameters of a scene from measured runs, with their uncertainty, and reports what the data
 * cannot determine (docs/derivations/identify.md). An Identification borrows the Task, whose variables it fits. Results
 * do not depend on the number of threads. */
#ifndef SDRS_IDENTIFY_H
#define SDRS_IDENTIFY_H

#include "run/run.h"

/* ---------------------------------------------------------------- measured runs (identify/data.c, data_check.c) */

/* Measurements of one link at the times of a run; NaN: missing sample. */
typedef struct {
  const TaskMeasured* source;
  int link;
  bool has_position, has_rotation, has_velocity, has_spin;
  int coordinate_count, rate_count;
  Vec3 *position, *velocity;   /* world [m, m/s]  (samples) */
  Quat* rotation;              /* from link axes to world axes (samples) */
  Vec3* spin;                  /* angular velocity, link axes [rad/s] (samples) */
  double *coordinates, *rates; /* (samples x coordinate_count), (samples x rate_count) */
} MeasuredLink;

typedef struct {
  char* path;
  int count;
  double* time; /* since the first sample [s] */
  int* line;    /* line in the file */
  MeasuredLink* links;
  int link_count;
  SceneSignal* inputs; /* functions of the time since the first sample (inputs of the data) */
  bool train;
} MeasuredRun;

typedef struct {
  MeasuredRun* runs;
  int count;
  SignalPlace* inputs; /* signals that the runs' inputs replace */
  int input_count;
} MeasuredData;

/* Reads files[file_count] of the command line (paths or patterns, relative to the working directory), or else the
 * task's files. Reports each fault with file, line, rule and probable cause. model: of the scene, whose signals the
 * inputs replace. Returns STATUS_IO for an unreadable file, otherwise STATUS_BAD_INPUT. *data is always set, for
 * measured_free. Borrows the task. */
Status measured_read(MeasuredData* data, const Task* task, const char* const* files, int file_count, const Model* model,
                     Diagnostics* diagnostics);
/* Frees all runs and zeroes the data. Accepts zeroed or incomplete data, but not NULL. */
void measured_free(MeasuredData* data);
/* Sets coordinates (nq) and velocities[nv] to the measured state at a sample (0 ... count - 1, unchecked); numbers that
 * are not measured are unchanged. m, rad, quaternions; m/s, rad/s. Allocates nothing; both arrays are the caller's own.
 */
void measured_state(const MeasuredRun* run, int sample, const Model* model, double* coordinates, double* velocities);

/* ---------------------------------------------------------------- the fit (identify/fit.c) */

typedef struct Identification Identification;

typedef struct {
  int threads;
  bool (*interrupted)(void);
  const char* const* files; /* replaces the task's files */
  int file_count;
} IdentifyOptions;

typedef enum {
  IDENTIFY_RUNNING,
  IDENTIFY_DONE,       /* the sum of squares has converged */
  IDENTIFY_ITERATIONS, /* all iterations are done */
  IDENTIFY_STUCK,      /* no step lowers the sum */
} IdentifyStop;
/* Returns the reason in words; static, never NULL. Undefined for an invalid IdentifyStop. */
const char* identify_stop_text(IdentifyStop stop);

/* Reads the data, builds the model and the windows. Returns STATUS_BAD_INPUT or STATUS_IO with diagnostics. *result is
 * always set, for identification_destroy. Copies options, borrows the task. */
Status identification_create(Identification** result, Task* task, const IdentifyOptions* options,
                             Diagnostics* diagnostics);
/* Frees the identification, not its task. Accepts NULL or an incomplete one. */
void identification_destroy(Identification* identification);
/* Computes sum of squares, normal equations and verdict at the initial values. Returns STATUS_SOLVER if no run can be
 * simulated, STATUS_BAD_INPUT if a run begins inside the ground, STATUS_INTERRUPTED. Must be called once. Allocates the
 * memory of the method. */
Status identification_start(Identification* identification, Diagnostics* diagnostics);
/* Returns what the data cannot determine, one line each; "" if it determines everything. Owned by the identification,
 * never NULL. */
const char* identification_verdict(const Identification* identification);
/* Returns the base parameters: combinations of variables that the data determines where it does not separate them, one
 * per line; "" if none. Owned by the identification, never NULL. */
const char* identification_determined(const Identification* identification);
/* Returns true if the data determines every parameter. Call after identification_start. Allocates nothing, never fails.
 */
bool identification_identifiable(const Identification* identification);
/* Performs one step of the method. Returns STATUS_OK also if no step lowers the sum (see identification_stop).
 * STATUS_INTERRUPTED: only the damping has changed. */
Status identification_advance(Identification* identification);
/* Returns why the fit has ended, or IDENTIFY_RUNNING. */
IdentifyStop identification_stop(const Identification* identification);
/* Returns the task's limit of iterations. Never fails, allocates nothing. */
int identification_iterations(const Identification* identification);
/* Returns the number of finished iterations of the method. Never fails, allocates nothing. */
int identification_iteration(const Identification* identification);
/* Returns half the sum of squares (Huber's) with priors at the present values, relative to the task's deviations (no
 * unit). Never fails, allocates nothing. */
double identification_cost(const Identification* identification);
/* Computes uncertainties and judges the runs with and without the fit, which simulates all runs twice.
 * identification_parameter has standard errors afterwards. Returns STATUS_OK or STATUS_INTERRUPTED; then the results
 * are incomplete, and a fit resumed from the last checkpoint repeats this. identification_destroy frees its
 * allocations. */
Status identification_finish(Identification* identification, Diagnostics* diagnostics);

/* Returns true, and appends which variables and how far, if the fit is not at its minimum: the next step of the normal
 * equations would move a variable by more than a tenth of its standard error (Q4). Call after identification_finish.
 * The text is the caller's own. */
bool identification_unfinished_text(const Identification* identification, Text* out);

/* Returns the number of parameters with contradicting estimates by parts of the data or a prior: the model cannot
 * reproduce the measurements. Their intervals contain both estimates (Q12). Call after identification_finish. Never
 * fails, allocates nothing. */
int identification_doubt_count(const Identification* identification);
/* Appends the description of one, k in 0 ... count - 1 (unchecked). The text is the caller's own. */
void identification_doubt_text(const Identification* identification, int k, Text* out);

typedef struct {
  const char* name;
  double value, unfitted;
  double standard_error, low, high; /* NaN: not determined by the data */
  bool at_bound, held;
} IdentifiedParameter;
/* Returns the number of parameters, held ones included. Never fails, allocates nothing. */
int identification_parameter_count(const Identification* identification);
/* Returns parameter k in 0 ... count - 1 (unchecked), in its own unit. The identification owns its name. */
IdentifiedParameter identification_parameter(const Identification* identification, int k);

/* Means over runs of mean errors, and of errors at the last samples. */
typedef struct {
  int runs, failed;                      /* failed: not simulated to the end */
  double position, rotation;             /* m, rad */
  double coordinate;                     /* joint coordinates [m or rad] */
  double final_position, final_rotation; /* m, rad */
  double unfitted_position, unfitted_rotation, unfitted_coordinate;
  double unfitted_final_position, unfitted_final_rotation;
} Judgement;
/* Returns the errors of the training or the validation runs, NaN without such runs. Call after identification_finish.
 */
Judgement identification_judgement(const Identification* identification, bool train);
/* Noise from sample to sample, and model error, of a component of positions, rotations and coordinates (Q10) [m, rad, m
 * or rad]; NaN: not measured. Set by identification_write. */
typedef struct {
  double noise[3], model[3];
} Misfit;
/* Returns the misfit of the training or validation runs. Undefined before identification_finish. */
Misfit identification_misfit(const Identification* identification, bool train);

/* ---------------------------------------------------------------- files (identify/report.c) */

/* Writes identify.json (also appended to json), fitted.scene.yaml, residuals.csv, convergence.csv, errors.csv and
 * overlay/ into an existing folder. Returns STATUS_IO with a diagnostic. json is the caller's. */
Status identification_write(Identification* identification, const char* folder, const RunProgram* program, Text* json,
                            Diagnostics* diagnostics);
/* The state between two iterations. */
#define IDENTIFY_CHECKPOINT_KIND "identify" /* identify/fit_checkpoint.c */
/* Writes the state between two iterations to a file. Returns STATUS_IO with a diagnostic. Allocates temporarily; frees
 * it here. */
Status identification_save(const Identification* identification, const char* path, Diagnostics* diagnostics);
/* Reads the state into an identification of the same task and data, after identification_start; the file's data is
 * copied. Returns STATUS_IO or STATUS_BAD_INPUT with a diagnostic; then the identification must be destroyed. */
Status identification_load(Identification* identification, const char* path, Diagnostics* diagnostics);

#endif
