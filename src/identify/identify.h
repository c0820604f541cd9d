/* Estimation of scene parameters from measured runs, with their uncertainty (docs/derivations/identify.md). An
 * Identification borrows the Task, whose variables it fits. Results do not depend on the number of threads. */
#ifndef SDRS_IDENTIFY_H
#define SDRS_IDENTIFY_H

#include "run/run.h"

/* ---------------------------------------------------------------- measured runs (identify/data.c) */

/* Measurements of one link at the times of a run; NaN for a missing sample. */
typedef struct {
  const TaskMeasured* source;
  int link;
  bool has_position, has_rotation, has_velocity, has_spin;
  int coordinate_count, rate_count;
  Vec3 *position, *velocity; /* world [m, m/s] (size: samples) */
  Quat* rotation;            /* from link axes to world axes (size: samples) */
  Vec3* spin;                /* angular velocity, link axes [rad/s] (size: samples) */
  /* joint coordinates (samples x coordinate_count) and joint velocities (samples x rate_count) */
  double *coordinates, *rates;
  bool has_wrapped_angle[JOINT_MAX_COORDINATE]; /* true for an angle that may be measured modulo one revolution, false
                                                   for slides and for angles that exceed one revolution */
} MeasuredLink;

typedef struct {
  char* path;
  int count;
  double* time; /* time since the first sample [s] */
  int* line;    /* line of each sample in the file */
  MeasuredLink* links;
  int link_count;
  SceneSignal* inputs; /* measured signals that drive the simulation of this run (MeasuredData.input_count) */
  bool train;
} MeasuredRun;

typedef struct {
  MeasuredRun* runs;
  int count;
  SignalPlace* inputs; /* signals of the scene that MeasuredRun.inputs replace (size: input_count) */
  int input_count;
} MeasuredData;

/* Reads the measured runs of a task. files[file_count]: paths or patterns that replace the files of the task, relative
 * to the working directory. model: model of the scene, whose signals the inputs replace. Reports each fault with file,
 * line, rule and probable cause. Returns STATUS_IO for an unreadable file and STATUS_BAD_INPUT for other faults.
 * Borrows the task. The caller frees *data with measured_free, also after errors. */
Status measured_read(MeasuredData* data, const Task* task, const char* const* files, int file_count, const Model* model,
                     Diagnostics* diagnostics);
/* Frees all runs and zeroes the data. Accepts zeroed or incomplete data. */
void measured_free(MeasuredData* data);
/* Copies the measured state at a sample into coordinates (nq) and velocities[nv] [m, rad, quaternions; m/s, rad/s].
 * Entries without a measurement are unchanged. 0 <= sample < MeasuredRun.count. */
void measured_state(const MeasuredRun* run, int sample, const Model* model, double* coordinates, double* velocities);

typedef struct Identification Identification;

typedef struct {
  int threads;
  bool (*interrupted)(void);
  const char* const* files; /* paths of measured runs that replace the files of the task (size: file_count) */
  int file_count;
} IdentifyOptions;

typedef enum {
  IDENTIFY_RUNNING,
  IDENTIFY_DONE,       /* the sum of squares has converged */
  IDENTIFY_ITERATIONS, /* limit of iterations */
  IDENTIFY_STUCK,      /* no step lowers the sum of squares */
} IdentifyStop;
/* Returns a static text with the reason for the end of a fit. */
const char* identify_stop_text(IdentifyStop stop);

/* Reads the measured data, builds the model and divides the runs into segments (shots). Copies the options, borrows the
 * task. Returns STATUS_BAD_INPUT or STATUS_IO with diagnostics. The caller frees *result with identification_destroy,
 * also after errors. */
Status identification_create(Identification** result, Task* task, const IdentifyOptions* options,
                             Diagnostics* diagnostics);
/* Frees the identification, not its task. Accepts NULL and an incomplete identification. */
void identification_destroy(Identification* identification);
/* Evaluates the sum of squares and the identifiability at the initial values. Call it once. Returns STATUS_SOLVER if no
 * run can be simulated, STATUS_BAD_INPUT if a run begins inside the ground, or STATUS_INTERRUPTED. Allocates memory. */
Status identification_start(Identification* identification, Diagnostics* diagnostics);
/* Returns a text with the parameters that the data cannot determine, one per line, or "". Owned by the identification.
 */
const char* identification_undetermined_text(const Identification* identification);
/* Returns a text with the base parameters, one per line, or "". A base parameter is a combination of variables that the
 * data determine, although the data do not determine its single variables. Owned by the identification. */
const char* identification_determined_text(const Identification* identification);
/* Returns true if the data determine every parameter. Call it after identification_start. */
bool identification_identifiable(const Identification* identification);
/* Performs one iteration. Returns STATUS_OK, also if no step lowers the sum of squares. Returns STATUS_INTERRUPTED if
 * interrupted; only the damping has then changed. */
Status identification_advance(Identification* identification);
/* Returns the reason why the fit has ended, or IDENTIFY_RUNNING. */
IdentifyStop identification_stop(const Identification* identification);
/* Returns the task's limit of iterations. */
int identification_iterations(const Identification* identification);
/* Returns the number of finished iterations. */
int identification_iteration(const Identification* identification);
/* Returns the cost at the current values: half of the sum of squared residuals, each divided by its standard deviation
 * in the task. Large residuals count by Huber's loss. Includes the priors of the variables. */
double identification_cost(const Identification* identification);
/* Computes uncertainties and the errors of all runs with fitted and initial values. Returns STATUS_OK or
 * STATUS_INTERRUPTED; the results are then incomplete, and a resumed fit repeats the computation. */
Status identification_finish(Identification* identification, Diagnostics* diagnostics);

/* Returns true if the fit is not at its minimum: the next Newton step would change a variable by more than a tenth of
 * its standard error (Q4). Appends these variables and changes to `out`, owned by the caller. Call it after
 * identification_finish. */
bool identification_append_unconverged(const Identification* identification, Text* out);

/* Returns the number of contradictions between subsets of the data, or between data and a prior. A contradiction shows
 * that the model cannot reproduce the measurements. The confidence interval of the parameter contains both estimates
 * (Q12). Call it after identification_finish. */
int identification_contradiction_count(const Identification* identification);
/* Appends the description of contradiction k, with 0 <= k < identification_contradiction_count, to a text owned by the
 * caller. */
void identification_append_contradiction(const Identification* identification, int k, Text* out);

typedef struct {
  const char* name;
  double value, initial_value;
  double standard_error, low, high; /* NaN if the data do not determine the parameter */
  bool at_bound, is_fixed;
} IdentifiedParameter;
/* Returns the number of parameters, including parameters that the data do not determine. */
int identification_parameter_count(const Identification* identification);
/* Returns parameter k in its unit, with 0 <= k < identification_parameter_count. The identification owns the name. */
IdentifiedParameter identification_parameter(const Identification* identification, int k);

/* Differences of simulated and measured motion, averaged over several runs: the mean over each run, and the difference
 * at its last sample (final_). unfitted_: the same with the initial values of the parameters. */
typedef struct {
  int runs, failed;                      /* failed: number of runs not simulated to the end */
  double position, rotation;             /* mean errors over a run [m, rad] */
  double coordinate;                     /* mean error of the joint coordinates [m or rad] */
  double final_position, final_rotation; /* errors at the last sample [m, rad] */
  double unfitted_position, unfitted_rotation, unfitted_coordinate;
  double unfitted_final_position, unfitted_final_rotation;
} RunErrors;
/* Returns the errors of the training runs (train) or of the validation runs, or NaN without such runs. Call it after
 * identification_finish. */
RunErrors identification_errors(const Identification* identification, bool train);
/* Standard deviations of measurement noise and of model errors, each for one component of positions, rotations and
 * joint coordinates [m, rad, m or rad] (Q10). Noise varies from sample to sample. NaN without measurement. */
typedef struct {
  double noise[3], model[3];
} Misfit;
/* Returns the noise and model errors of the training runs (train) or of the validation runs. Call it after
 * identification_finish. */
Misfit identification_misfit(const Identification* identification, bool train);

/* Writes the result files into an existing folder: identify.json (also appended to json, owned by the caller),
 * fitted.scene.yaml, residuals.csv, convergence.csv, errors.csv and overlay/. Returns STATUS_IO with a diagnostic. */
Status identification_write(Identification* identification, const char* folder, const RunProgram* program, Text* json,
                            Diagnostics* diagnostics);
/* Kind of a checkpoint file. */
#define IDENTIFY_CHECKPOINT_KIND "identify" /* identify/fit_checkpoint.c */
/* Writes the state of the fit between two iterations to a checkpoint file. Returns STATUS_IO with a diagnostic. */
Status identification_save(const Identification* identification, const char* path, Diagnostics* diagnostics);
/* Restores the state of the fit from a checkpoint file of the same task and data, after identification_start. Returns
 * STATUS_IO or STATUS_BAD_INPUT with a diagnostic; the identification must then be destroyed. */
Status identification_load(Identification* identification, const char* path, Diagnostics* diagnostics);

#endif
