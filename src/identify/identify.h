/* identify: from measured runs to the parameters of a scene, how sure they are, and what the data cannot tell
 * (docs/derivations/identify.md). An Identification borrows the Task, whose variables it fits; optimize/ knows what
 * they move. Results do not depend on the number of threads. */
#ifndef SDRS_IDENTIFY_H
#define SDRS_IDENTIFY_H

#include "run/run.h"

/* ---------------------------------------------------------------- measured runs (identify/data.c, data_check.c) */

/* What was measured of one link at the times of a run; NaN where a sample is missing. */
typedef struct {
  const TaskMeasured* source;
  int link;
  bool has_position, has_rotation, has_velocity, has_spin;
  int coordinate_count, rate_count;
  Vec3 *position, *velocity;   /* world [m, m/s]  (samples) */
  Quat* rotation;              /* link's axes to the world's  (samples) */
  Vec3* spin;                  /* angular velocity, link's axes [rad/s]  (samples) */
  double *coordinates, *rates; /* (samples x coordinate_count), (samples x rate_count) */
} MeasuredLink;

typedef struct {
  char* path;
  int count;
  double* time; /* since the first sample [s] */
  int* line;    /* of the file */
  MeasuredLink* links;
  int link_count;
  SceneSignal* inputs; /* by the time since the first sample (inputs of the data) */
  bool train;
} MeasuredRun;

typedef struct {
  MeasuredRun* runs;
  int count;
  SignalPlace* inputs; /* whose signals the runs' inputs stand for */
  int input_count;
} MeasuredData;

/* Read the files: those of the command line (files[file_count], paths or patterns, relative to the working directory),
 * else the task's. Every fault is told with file, line, rule and what it may come from. model: of the scene. STATUS_IO
 * where a file cannot be read, STATUS_BAD_INPUT for the others; *data is set in any case, for measured_free. It borrows
 * the task. The signals of its inputs are those of the model's scene. */
Status measured_read(MeasuredData* data, const Task* task, const char* const* files, int file_count, const Model* model,
                     Diagnostics* diagnostics);
/* Frees all runs and their arrays and zeroes it; accepts a zeroed or half-read one. NULL is not accepted. */
void measured_free(MeasuredData* data);
/* Coordinates (nq) and velocities[nv] of the model where the run is at a sample; what is not measured stays as it is.
 * sample: 0 ... count - 1. m, rad, quaternions; m/s, rad/s. The model is only read. Another sample is undefined, not
 * checked. Both arrays are the caller's own; nothing is allocated. */
void measured_state(const MeasuredRun* run, int sample, const Model* model, double* coordinates, double* velocities);

/* ---------------------------------------------------------------- the fit (identify/fit.c) */

typedef struct Identification Identification;

typedef struct {
  int threads;
  bool (*interrupted)(void);
  const char* const* files; /* instead of the task's */
  int file_count;
} IdentifyOptions;

typedef enum {
  IDENTIFY_RUNNING,
  IDENTIFY_DONE,       /* the sum of squares does not fall any more */
  IDENTIFY_ITERATIONS, /* all iterations are done */
  IDENTIFY_STUCK,      /* no step lowers the sum */
} IdentifyStop;
/* Constant, in words for a user. Never NULL, not to be freed; undefined for what is no IdentifyStop. */
const char* identify_stop_text(IdentifyStop stop);

/* Read the data, make the model, cut windows. STATUS_BAD_INPUT or STATUS_IO with diagnostics; *result is set in any
 * case, for identification_destroy. Options are copied; the task is borrowed. */
Status identification_create(Identification** result, Task* task, const IdentifyOptions* options,
                             Diagnostics* diagnostics);
/* Frees it, not its task; a half-built one and NULL are accepted. */
void identification_destroy(Identification* identification);
/* Sum of squares, normal equations and verdict at the values to begin with. STATUS_SOLVER: no run can be simulated.
 * STATUS_BAD_INPUT: a run begins inside the ground; STATUS_INTERRUPTED. Twice is an error of the caller. Allocates
 * what a step of the method needs. */
Status identification_start(Identification* identification, Diagnostics* diagnostics);
/* What the data cannot tell, in words, one line each; "" when it tells everything. Owned by the identification.
 * Never NULL, not to be freed. */
const char* identification_verdict(const Identification* identification);
/* The combinations of variables that it tells where it does not tell all of them apart (base parameters), one a line.
 * "" when there are none. Owned by the identification. Never NULL, not to be freed. */
const char* identification_told(const Identification* identification);
/* Does the data tell every parameter? After identification_start. Asking allocates nothing, never fails. */
bool identification_identifiable(const Identification* identification);
/* One step of the method. STATUS_INTERRUPTED: nothing has changed but the damping. A step that lowers nothing is no
 * failure: STATUS_OK, and identification_stop says so. */
Status identification_advance(Identification* identification);
/* Why it has ended; IDENTIFY_RUNNING: it has not. */
IdentifyStop identification_stop(const Identification* identification);
/* How many the task gives it. An upper bound of identification_iteration. Asking never fails, allocates nothing. */
int identification_iterations(const Identification* identification);
/* Returns the number of finished iterations of the method. Never fails, allocates nothing. */
int identification_iteration(const Identification* identification);
/* Half the sum of squares (Huber's) with priors at the present values, in the deviations of the task: without unit.
 * Asking never fails, allocates nothing. */
double identification_cost(const Identification* identification);
/* Computes uncertainties and judges the runs with and without the fit. STATUS_OK, or STATUS_INTERRUPTED: what it found
 * is then incomplete, and a fit resumed from the last checkpoint comes to it again. After it identification_parameter
 * has standard errors; runs are simulated twice, over the threads of the options. What it allocates is freed by
 * identification_destroy. */
Status identification_finish(Identification* identification, Diagnostics* diagnostics);

/* Whether the fit stands beside its minimum, so that the next step of the normal equations would move variables by more
 * than a tenth of their standard errors, which hold that step besides (Q4); which and how far, appended. After
 * identification_finish. Returns false with nothing appended. The text is the caller's own. */
bool identification_unfinished_text(const Identification* identification, Text* out);

/* Parameters that parts of the data tell otherwise, or a prior: the model cannot do what was measured. Intervals are
 * wide enough for both (Q12). The words of one are appended to a text. After identification_finish. 0: none. Asking
 * never fails, allocates nothing. */
int identification_doubt_count(const Identification* identification);
/* The words of one, 0 ... count - 1, appended. Another k is undefined, not checked. The text is the caller's own. */
void identification_doubt_text(const Identification* identification, int k, Text* out);

typedef struct {
  const char* name;
  double value, unfitted;
  double standard_error, low, high; /* NaN: the data does not tell it */
  bool at_bound, held;
} IdentifiedParameter;
/* How many parameters are fitted, held ones among them. Asking never fails, allocates nothing. */
int identification_parameter_count(const Identification* identification);
/* One of them, 0 ... count - 1, in its own unit; its name is owned by the identification. Another k is undefined,
 * not checked; copied out. */
IdentifiedParameter identification_parameter(const Identification* identification, int k);

/* Means over runs of the mean over the run, and of what their last samples have. */
typedef struct {
  int runs, failed;                      /* failed: could not be simulated to the end */
  double position, rotation;             /* m, rad */
  double coordinate;                     /* of joints, m or rad */
  double final_position, final_rotation; /* m, rad */
  double unfitted_position, unfitted_rotation, unfitted_coordinate;
  double unfitted_final_position, unfitted_final_rotation;
} Judgement;
/* Of the runs for training, or of those kept for validation; after identification_finish. NaN where there are no
 * such runs, no error. Copied out. */
Judgement identification_judgement(const Identification* identification, bool train);
/* Of a component of positions, rotations, coordinates (Q10) [m, rad, m or rad]: noise from sample to sample, and what
 * the model does otherwise than what was measured; NaN: none were measured. After identification_write. */
typedef struct {
  double noise[3], model[3];
} Misfit;
/* train: of the runs for training, else of those for validation. Copied out; undefined before identification_finish. */
Misfit identification_misfit(const Identification* identification, bool train);

/* ---------------------------------------------------------------- files (identify/report.c) */

/* identify.json (appended to text too), fitted.scene.yaml, residuals.csv, convergence.csv. STATUS_IO with a diagnostic.
 * errors.csv and overlay/ as well, into a folder that is there. json is the caller's, and appended to in any case.
 * Tables are allocated and freed here. */
Status identification_write(Identification* identification, const char* folder, const RunProgram* program, Text* json,
                            Diagnostics* diagnostics);
/* The state between two iterations. */
#define IDENTIFY_CHECKPOINT_KIND "identify" /* identify/fit_checkpoint.c */
/* Writes the state between two iterations to a file. STATUS_IO with a diagnostic. Copies nothing that lasts: the
 * file's numbers are freed here. */
Status identification_save(const Identification* identification, const char* path, Diagnostics* diagnostics);
/* Reads it back into an identification of the same task and data, after identification_start; the file is copied from.
 * STATUS_IO or STATUS_BAD_INPUT with a diagnostic. After a failure the identification may be half loaded: destroy
 * it. */
Status identification_load(Identification* identification, const char* path, Diagnostics* diagnostics);

#endif
