/* identify: estimates parameters of a scene from measured runs, with their uncertainty. It also reports the parameters
 * that the data cannot determine (docs/derivations/identify.md). An Identification borrows the Task, whose variables it
 * fits. Results do not depend on the number of threads. */
#ifndef SDRS_IDENTIFY_H
#define SDRS_IDENTIFY_H

#include "run/run.h"

/* ---------------------------------------------------------------- measured runs (identify/data.c, data_check.c) */

/* Measurements of one link at the times of a run. A missing sample is NaN. */
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
  double* time; /* time since the first sample [s] */
  int* line;    /* line of each sample in the file */
  MeasuredLink* links;
  int link_count;
  SceneSignal*
      inputs; /* signals measured with the run, as functions of the time since the first sample (inputs of the data) */
  bool train;
} MeasuredRun;

typedef struct {
  MeasuredRun* runs;
  int count;
  SignalPlace* inputs; /* signals of the scene that the inputs replace */
  int input_count;
} MeasuredData;

/* Reads the measured runs of a task. files[file_count]: paths or patterns of the command line, relative to the working
 * directory, which replace the files of the task. model: built from the scene, whose signals the inputs replace.
 * Reports each fault with file, line, rule and probable cause. Returns STATUS_IO for an unreadable file and
 * STATUS_BAD_INPUT for other faults. Always sets *data, which the caller frees with measured_free. Borrows the task. */
Status measured_read(MeasuredData* data, const Task* task, const char* const* files, int file_count, const Model* model,
                     Diagnostics* diagnostics);
/* Frees all runs and zeroes the data. Accepts zeroed or incomplete data, but not NULL. */
void measured_free(MeasuredData* data);
/* Sets coordinates (nq) and velocities[nv] to the measured state at a sample. Leaves entries without a measurement
 * unchanged. sample: 0 ... count - 1 (unchecked). Units: m, rad, quaternions; m/s, rad/s. Allocates nothing; the caller
 * owns both arrays. */
void measured_state(const MeasuredRun* run, int sample, const Model* model, double* coordinates, double* velocities);

/* ---------------------------------------------------------------- the fit (identify/fit.c) */

typedef struct Identification Identification;

typedef struct {
  int threads;
  bool (*interrupted)(void);
  const char* const* files; /* files that replace the files of the task */
  int file_count;
} IdentifyOptions;

typedef enum {
  IDENTIFY_RUNNING,
  IDENTIFY_DONE,       /* the sum of squares has converged */
  IDENTIFY_ITERATIONS, /* the limit of iterations is reached */
  IDENTIFY_STUCK,      /* no step lowers the sum of squares */
} IdentifyStop;
/* Returns the reason for the end of a fit in words. Static, never NULL. Undefined for an invalid IdentifyStop. */
const char* identify_stop_text(IdentifyStop stop);

/* Reads the data and builds the model and the windows. Returns STATUS_BAD_INPUT or STATUS_IO with diagnostics. Always
 * sets *result, which the caller frees with identification_destroy. Copies options and borrows the task. */
Status identification_create(Identification** result, Task* task, const IdentifyOptions* options,
                             Diagnostics* diagnostics);
/* Frees the identification, but not its task. Accepts NULL or an incomplete identification. */
void identification_destroy(Identification* identification);
/* Evaluates the sum of squares, the normal equations and the verdict at the initial values. Call once. Returns
 * STATUS_SOLVER if no run can be simulated, STATUS_BAD_INPUT if a run begins inside the ground, or STATUS_INTERRUPTED.
 * Allocates the memory of the method. */
Status identification_start(Identification* identification, Diagnostics* diagnostics);
/* Returns the parameters that the data cannot determine, in words, one line for each. Returns "" if the data determines
 * all. Owned by the identification, never NULL. */
const char* identification_undetermined_text(const Identification* identification);
/* Returns the base parameters in words, one per line. A base parameter is a combination of variables that the data
 * determines although it does not determine each variable. Returns "" if there is none. Owned by the identification,
 * never NULL. */
const char* identification_determined_text(const Identification* identification);
/* Returns true if the data determines every parameter. Call after identification_start. Allocates nothing, never fails.
 */
bool identification_identifiable(const Identification* identification);
/* Performs one iteration of the method. Returns STATUS_OK also if no step lowers the sum of squares (see
 * identification_stop). Returns STATUS_INTERRUPTED if interrupted; only the damping has then changed. */
Status identification_advance(Identification* identification);
/* Returns why the fit has ended, or IDENTIFY_RUNNING. */
IdentifyStop identification_stop(const Identification* identification);
/* Returns the task's limit of iterations. Never fails, allocates nothing. */
int identification_iterations(const Identification* identification);
/* Returns the number of finished iterations of the method. Never fails, allocates nothing. */
int identification_iteration(const Identification* identification);
/* Returns the cost at the present values, without unit: half of Huber's sum of squared residuals, in standard
 * deviations of the task, with priors. Never fails, allocates nothing. */
double identification_cost(const Identification* identification);
/* Computes uncertainties, and judges the runs with fitted and with initial values. Simulates all runs twice.
 * identification_parameter has standard errors afterwards. Returns STATUS_OK or STATUS_INTERRUPTED. After an
 * interruption the results are incomplete, and a fit resumed from the last checkpoint repeats the computation.
 * identification_destroy frees the allocations. */
Status identification_finish(Identification* identification, Diagnostics* diagnostics);

/* Returns true if the fit is not at its minimum. The fit is not at its minimum if the next step of the normal equations
 * would move a variable by more than a tenth of its standard error (Q4). Appends these variables and changes to `out`.
 * Call after identification_finish. The caller owns the text. */
bool identification_append_unconverged(const Identification* identification, Text* out);

/* Returns the number of contradictions between subsets of the data, or between data and a prior. A contradiction in a
 * parameter shows that the model cannot reproduce the measurements. The parameter's interval contains both estimates
 * (Q12). Call after identification_finish. Never fails, allocates nothing. */
int identification_contradiction_count(const Identification* identification);
/* Appends the description of contradiction k in 0 ... count - 1 (unchecked). The caller owns the text. */
void identification_append_contradiction(const Identification* identification, int k, Text* out);

typedef struct {
  const char* name;
  double value, unfitted;
  double standard_error, low, high; /* NaN if the data does not determine the parameter */
  bool at_bound, held;
} IdentifiedParameter;
/* Returns the number of parameters, including those fixed because undetermined. Never fails, allocates nothing. */
int identification_parameter_count(const Identification* identification);
/* Returns parameter k in 0 ... count - 1 (unchecked), in the parameter's unit. The identification owns the name. */
IdentifiedParameter identification_parameter(const Identification* identification, int k);

/* Mean errors over runs: of the mean error of each run, and of the error at its last sample. */
typedef struct {
  int runs, failed;                      /* failed: number of runs not simulated to the end */
  double position, rotation;             /* m, rad */
  double coordinate;                     /* joint coordinates [m or rad] */
  double final_position, final_rotation; /* m, rad */
  double unfitted_position, unfitted_rotation, unfitted_coordinate;
  double unfitted_final_position, unfitted_final_rotation;
} RunErrors;
/* Returns the errors of the training runs (train) or the validation runs. Returns NaN without such runs. Call after
 * identification_finish. */
RunErrors identification_errors(const Identification* identification, bool train);
/* Standard deviations of noise between samples, and of model errors, for a component of positions, rotations and
 * coordinates (Q10) [m, rad, m or rad]. NaN if not measured. Set by identification_write. */
typedef struct {
  double noise[3], model[3];
} Misfit;
/* Returns the misfit of the training or validation runs. Undefined before identification_finish. */
Misfit identification_misfit(const Identification* identification, bool train);

/* ---------------------------------------------------------------- files (identify/report.c) */

/* Writes the result files of a fit into an existing folder. The files are identify.json (also appended to json),
 * fitted.scene.yaml, residuals.csv, convergence.csv, errors.csv and overlay/. Returns STATUS_IO with a diagnostic. The
 * caller owns json. */
Status identification_write(Identification* identification, const char* folder, const RunProgram* program, Text* json,
                            Diagnostics* diagnostics);
/* Kind of a checkpoint file, which holds the state between two iterations. */
#define IDENTIFY_CHECKPOINT_KIND "identify" /* identify/fit_checkpoint.c */
/* Writes the state between two iterations to a file. Returns STATUS_IO with a diagnostic. Allocates temporary
 * memory. */
Status identification_save(const Identification* identification, const char* path, Diagnostics* diagnostics);
/* Reads the state from a file of the same task and data, after identification_start. Copies the file's data. Returns
 * STATUS_IO or STATUS_BAD_INPUT with a diagnostic. After an error the identification must be destroyed. */
Status identification_load(Identification* identification, const char* path, Diagnostics* diagnostics);

#endif
