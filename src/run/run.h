/* run: writes and reads the folder of a run (CSV files and summary.json), and compares CSV files. Each writer writes
 * one CSV file and is one row of the table in folder.c. Numbers are printed so that they read back to the same double.
 * Files are written under a temporary name and renamed, so an interrupted run leaves no partial file. */
#ifndef SDRS_RUN_H
#define SDRS_RUN_H

#include "optimize/optimize.h"

/* ---------------------------------------------------------------- run folder (run/folder.c) */

/* State of a run that the writers record. All pointers are borrowed. */
typedef struct {
  const SimState* state;
  const StepReport* report; /* report of the last step; NULL for the initial state */
  SimMeasure measure;
  SimSchemeWork scheme;       /* sums since the start of the run */
  const SimContact* contacts; /* (contact_count) */
  int contact_count;
  SimPath path;                            /* solver moves since the previous frame */
  const Vec3 *velocity, *angular_velocity; /* sim_link_velocities (links); used if the scene requests its output */
  const double* joint_forces;              /* sim_joint_forces, likewise */
  const double (*reactions)[6];            /* sim_reactions, likewise */
  const Pose* before[2];                   /* poses one and two steps before (links), likewise; NULL: none */
  const SimClosure* closures;              /* sim_closure (closures), then sim_coupling (couplings), likewise */
} RunFrame;

/* The open CSV files of a run. Owns its streams, borrows the model. */
typedef struct RunFolder RunFolder;

/* Creates the folder and its parents, claims it until close or discard (folder_claim), and opens trajectory.csv,
 * joints.csv, contacts.csv, solver.csv, path.csv and the files requested by simulation.output. Writes their header
 * lines. The caller passes *result, which borrows the model, to run_folder_close or _discard. Returns STATUS_IO with a
 * diagnostic that names the file or folder and the reason; *result is then NULL, everything is freed and no file is
 * left. */
Status run_folder_open(RunFolder** result, const char* folder, const Model* model, Diagnostics* diagnostics);
/* Writes the rows of one state to the files. Borrows frame and its data during the call. Returns STATUS_IO with a
 * diagnostic at the first failed write; the folder then stays open until run_folder_discard. May allocate text. */
Status run_folder_add(RunFolder* output, const RunFrame* frame, Diagnostics* diagnostics);
/* Keeps a copy of the current state of sim, whose row must be the last one written. run_folder_close writes the copy as
 * a start state for other runs. Never fails. */
void run_folder_keep_state(RunFolder* output, Sim* sim);
/* Flushes and renames all files. Returns STATUS_IO with a diagnostic, and renames none, if a write failed. Frees the
 * folder in any case. Accepts NULL. */
Status run_folder_close(RunFolder* output, Diagnostics* diagnostics);
/* Deletes the unfinished files and frees the folder. Files of an earlier run stay. Accepts NULL. Never fails. */
void run_folder_discard(RunFolder* output);

/* ---------------------------------------------------------------- summary (run/summary.c) */

enum { RUN_LIBRARIES_MAX = 9 };

/* Program that computed the run. All texts are borrowed and constant. */
typedef struct {
  const char *version, *commit, *build_flags, *compiler;
  struct {
    const char *name, *version;
  } libraries[RUN_LIBRARIES_MAX + 1]; /* ended by an entry without a name */
} RunProgram;

/* An input file of the run. */
typedef struct {
  char* path;
  char sha256[65]; /* "" if the file could not be read */
} RunInput;

/* Returns the input files of a scene and sets *count: the scene file, then every mesh and every CSV file of a signal,
 * each once, in order of appearance. Never NULL. The hash of a file that cannot be read is "". The caller frees the
 * array with run_inputs_free. */
RunInput* run_inputs(const Scene* scene, int* count);
/* Frees inputs[count] and their paths. Accepts NULL with count 0. */
void run_inputs_free(RunInput* inputs, int count);

/* Sums and extremes over the finished steps of a run. */
typedef struct {
  int steps;   /* steps since the start of this run */
  double time; /* time of the last step [s] */
  int64_t iterations, trials, certified_intervals, factor_retries;
  int iterations_max, active_pairs_max, candidate_pairs_max;
  int substeps_max;         /* largest number in one step */
  int halved_steps;         /* steps with more substeps than the scene requests */
  int rounding_floor_steps; /* steps that ended at the rounding floor, above the tolerance */
  double residual_max;      /* largest residual, relative to the acting forces */
  double smallest_gap;      /* smallest gap of all recorded states [m]; INFINITY if no pair was ever near */
  double smallest_gap_time; /* s */
  double scheme_work;       /* energy that the scheme added (> 0) or removed [J] */
} RunTotals;
/* Returns totals before the first step, by value. Never fails. Allocates nothing. */
RunTotals run_totals_start(void);
/* Adds the counts of one solved step to the totals and sets totals->time to its time [s]. Never fails. Allocates
 * nothing. */
void run_totals_step(RunTotals* totals, const StepReport* report, const SimState* state);
/* Updates the smallest gap [m] of the totals and its time [s] with the gap of one state. A gap of NaN changes nothing.
 * Never fails. Allocates nothing. */
void run_totals_measure(RunTotals* totals, const SimMeasure* measure, const SimState* state);

struct Json; /* below */
typedef struct {
  const RunProgram* program;
  const Model* model;
  const RunInput* inputs;
  int input_count;
  const SceneOverride* overrides;
  int override_count;
  int threads;
  RunTotals totals;
  ExitCode exit_code;
  const char* stop;          /* reason for the end of the run, as text */
  const StepReport* failure; /* report of the failed step; NULL: none */
  SimTimes step_times;       /* s */
  double scene_seconds, model_seconds, setup_seconds, output_seconds, total_seconds;
  void (*more)(void* context, struct Json* json); /* adds further sections; NULL: none */
  void* more_context;
} RunSummary;

/* Appends the text of summary.json. Numbers that are not finite become null. All data of summary are borrowed during
 * the call. Never fails. The caller owns text. */
void run_summary_json(Text* text, const RunSummary* summary);
/* Returns the name of the link that owns a degree of freedom, for messages; "?" if none. Borrowed from the model; never
 * NULL. */
const char* run_link_of_dof(const Model* model, int dof);

/*  */

/* Writes all of convergence.csv: a row per iteration with loss, terms and multipliers. Returns STATUS_IO with a
 * diagnostic; an existing file is then unchanged. Frees its allocations before it returns. */
Status design_write_convergence(const char* folder, const Optimization* optimization, Diagnostics* diagnostics);
/* Writes all of design.csv: a row per variable, in the unit of the variable. Returns STATUS_IO with a diagnostic; an
 * existing file is then unchanged. */
Status design_write_variables(const char* folder, const Optimization* optimization, Diagnostics* diagnostics);
/* Writes design/<name>/<link>.obj [m] of each link with a designed shape, in the link's frame, for the best or the
 * current design. Creates no folder if no link has a designed shape. Returns STATUS_IO with a diagnostic if a file
 * cannot be written, or the status of model_create, with its diagnostics, if no model can be created. Frees its
 * allocations before it returns. */
Status design_write_shapes(const char* folder, const char* name, Optimization* optimization, bool best,
                           Diagnostics* diagnostics);
/* Writes the scene of the design as best.scene.yaml, or as initial.scene.yaml at iteration 0, and the scene of each
 * further scenario as best.<name>.scene.yaml. Returns STATUS_IO with a diagnostic at the first file that cannot be
 * written; files written before are kept. Frees its allocations before it returns. */
Status design_write_scenes(const char* folder, const Task* task, Optimization* optimization, bool best,
                           Diagnostics* diagnostics);
/* Largest number of files failed.<number>.scene.yaml. Such a file contains the scene of a trial with an unsolved step
 * or without a gradient. */
enum { FAILED_SCENES = 10 };
/* Returns the number, from 1, of the file failed.<number>.scene.yaml for the trial of this iteration, or 0 if the trial
 * has no such file. Allocates nothing. Never fails. */
int design_failed_number(const Optimization* optimization);
/* Returns the path <folder>/failed.<number>.scene.yaml; the caller frees it with memory_free. */
char* design_failed_path(const char* folder, int number);
/* Writes failed.<number>.scene.yaml for the current trial, for which design_failed_number must not be 0. Returns
 * STATUS_IO with a diagnostic if this fails. Frees its allocations before it returns. */
Status design_write_failed(const char* folder, const Task* task, Optimization* optimization, Diagnostics* diagnostics);
/* Deletes the failed and best scenes, design.csv and summary.json of an earlier run. Ignores files that do not exist or
 * cannot be deleted. Frees its allocations before it returns. */
void design_remove_results(const char* folder, const Task* task);
/* Writes <folder>/checkpoint, the complete state of the optimization. Returns STATUS_IO with a diagnostic; an existing
 * checkpoint is then unchanged. Frees its allocations before it returns. */
Status design_write_checkpoint(const char* folder, const Optimization* optimization, Diagnostics* diagnostics);
/* Results of the best design, simulated with half the time step. */
typedef struct {
  bool given;      /* false: it was not run */
  double loss;     /* NaN: a run failed */
  bool differs;    /* from the loss with the whole step, by more than a tenth */
  double* success; /* values of the criteria (success_count), NaN: a run failed; NULL: no criteria, or random draws */
} HalfStep;
/* Invocation and exit code of `sdrs optimize`. All pointers are borrowed. */
typedef struct {
  const RunProgram* program;
  const SceneOverride* overrides;
  int override_count, threads;
  ExitCode exit_code;
  HalfStep half_step;
} DesignSummary;
/* Writes summary.json and appends its content to `text`. Returns STATUS_IO with a diagnostic if the file cannot be
 * written; the content is appended in this case too. The caller frees `text`. */
Status design_write_summary(const char* folder, const DesignSummary* summary, const Task* task,
                            const Optimization* optimization, Text* text, Diagnostics* diagnostics);
/* Adds the keys `success` and `success_terms` to an open object of json, which the caller owns. `success` is null if
 * there are no success terms, or if the run was interrupted. Never fails. */
void design_add_success(struct Json* json, const Optimization* optimization, ExitCode exit_code);
/* Returns the path <folder>/checkpoint, never NULL; the caller frees it with memory_free. The file is not accessed. */
char* design_checkpoint_path(const char* folder);

/* ---------------------------------------------------------------- meshes (run/write_obj.c) */

/* Writes the hulls of a link as OBJ [m], in the link's frame, one `o` group each. Omits unbounded hulls. Returns
 * STATUS_IO with a diagnostic. Frees its allocations before it returns. */
Status run_link_obj(const char* path, const Model* model, int link, Diagnostics* diagnostics);
/* Appends one hull (index into model->hulls) as OBJ to `out`, which the caller owns. The hull must exist and be
 * bounded; this is not checked. Never fails. */
void run_hull_obj(Text* out, const Model* model, int hull);

/* ---------------------------------------------------------------- JSON text (run/json.c)
 * Indented by two spaces; key is NULL inside an array. Numbers that are not finite become null. */
typedef struct Json {
  Text* out;
  int depth;
  bool comma; /* true if the current object or array has an element already */
} Json;
/* Opens an object '{' or an array '['. Appends to json->out, which the caller owns. Copies the key. Never fails. */
void json_open(Json* json, const char* key, char bracket);
/* Closes with '}' or ']', which must match the open bracket; this is not checked. Ends the line at the outermost level.
 */
void json_close(Json* json, char bracket);
/* Adds a quoted and escaped text; a value NULL becomes null. key: NULL in an array. Copies both texts. */
void json_text(Json* json, const char* key, const char* value);
/* Adds the shortest text that reads back to the same double; null if not finite. key as for json_text. */
void json_number(Json* json, const char* key, double value);
/* Adds an integer with all digits. key as for json_text. */
void json_integer(Json* json, const char* key, int64_t value);
/* Adds true or false. key as for json_text. */
void json_bool(Json* json, const char* key, bool value);
/* Adds values[count] on one line: [1, 2, 3]. Numbers that are not finite become null. */
void json_vector(Json* json, const char* key, const double* values, int count);
/* Appends a number without key or indentation; null if not finite. The caller owns out. */
void json_add_number(Text* out, double value);

/* ---------------------------------------------------------------- CSV files compared (run/compare.c; read by
 * base/csv.c) */

/* Cell with the largest difference; column -1: none. */
typedef struct {
  double value;
  int column, row; /* indices into table a */
} CompareWorst;

/* Difference of two tables. Numbers a, b agree if |a - b| <= abs + rel max(|a|, |b|). NaN agrees only with NaN, and an
 * infinity only with itself; otherwise the difference is infinite. Other cells must have the same text. */
typedef struct {
  double abs, rel;
  int64_t values, different, outside; /* number of cells compared, unequal, and beyond the tolerance */
  CompareWorst worst_absolute, worst_relative;
  CompareWorst worst; /* largest |a - b| / (abs + rel max(|a|, |b|)) */
} Comparison;

/* Compares the columns whose names match a comma-separated list of shell patterns (NULL = all). abs has the unit of the
 * column; rel is a fraction. Returns STATUS_BAD_INPUT with diagnostics if the tables have different columns or row
 * counts. name_a and name_b are for messages. Sets *comparison, which owns nothing, in any case. */
Status csv_compare(Comparison* comparison, const CsvTable* a, const char* name_a, const CsvTable* b, const char* name_b,
                   const char* columns, double abs, double rel, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- recorded runs (run/read_*.c) */

/* Poses of the link frames of a recorded run. Owns its arrays. */
typedef struct {
  int row_count, link_count;
  double* time; /* s        (rows) */
  Pose* pose;   /* world    (rows x links) */
} RunPoses;

/* Reads `trajectory.csv` of a run of this model, with columns by name. Sets time (rows) and pose (rows x links) in the
 * world, with unit quaternions. Returns STATUS_BAD_INPUT with file and line if the file does not fit the model, has no
 * row, or has a number that is not finite; STATUS_IO if it cannot be read. *run owns its arrays. The caller frees it
 * with run_poses_free in any case. */
Status run_poses_read(RunPoses* run, const char* path, const Model* model, Diagnostics* diagnostics);
/* Frees its arrays and zeroes it; accepts a zeroed one. NULL is not accepted. */
void run_poses_free(RunPoses* run);

typedef struct RunPoseRows RunPoseRows;
/* Opens `trajectory.csv` for reading row by row. Returns STATUS_IO or STATUS_BAD_INPUT as run_poses_read; *result is
 * then NULL. The caller closes *result with run_pose_rows_close. */
Status run_pose_rows_open(RunPoseRows** result, const char* path, const Model* model, Diagnostics* diagnostics);
/* Closes the file and frees poses. Accepts NULL. */
void run_pose_rows_close(RunPoseRows* poses);
/* Returns the opened file, borrowed from poses. Its first column is the time [s]. */
CsvRows* run_pose_rows_table(const RunPoseRows* poses);
/* Returns the pose of a link in a row of the opened file: position in the world [m] and a unit quaternion. By value. */
Pose run_pose_rows_at(const RunPoseRows* poses, int row, int link);

/* Opens `joints.csv` of a run of this model, whose first column is the time [s]. Errors as for run_poses_read; *rows is
 * then NULL. The caller closes it. */
Status run_coordinates_open(CsvRows** rows, const char* path, const Model* model, Diagnostics* diagnostics);
/* Sets q (nq) to the coordinates of a row, as they are written in the file [m, rad, quaternions]. */
void run_coordinates_at(CsvRows* rows, int row, const Model* model, double* q);

/* Opens `path.csv`, the recorded moves of the solver, as run_coordinates_open does. If the file does not exist, sets
 * *rows to NULL and returns STATUS_OK. The time [s] of a row is the time of the state that the move reaches or
 * approaches. */
Status run_path_open(CsvRows** rows, const char* path, const Model* model, Diagnostics* diagnostics);
/* Sets delta (nv) to the joint increments of a move [m, rad]. */
void run_path_at(CsvRows* rows, int row, const Model* model, double* delta);

/* A row of contacts.csv: the contact force of a pair of links. */
typedef struct {
  double time; /* s */
  int a, b;    /* links */
  double gap;  /* m */
  Vec3 force;  /* force on b, in the world [N] */
  Vec3 moment; /* moment on b about the centre of pressure, in the world [N m]; NAN if the run did not record it */
  /* Account of friction (FrictionAccount) [N]; NAN if the run did not record it. */
  double friction_load, friction_owed, friction_lost;
} RunContact;

/* Contacts of a recorded run, by rising time. Owns its rows. */
typedef struct {
  int count;
  RunContact* rows;
} RunContacts;

/* Reads `contacts.csv` of a run of this model. Returns STATUS_IO, or STATUS_BAD_INPUT with file and line, as
 * run_poses_read. *contacts owns its rows (count). The caller frees it in any case. */
Status run_contacts_read(RunContacts* contacts, const char* path, const Model* model, Diagnostics* diagnostics);
/* Frees its rows and zeroes it; accepts a zeroed one. NULL is not accepted. */
void run_contacts_free(RunContacts* contacts);
typedef struct RunContactRows RunContactRows;
/* Opens `contacts.csv` for reading row by row. Returns STATUS_IO or STATUS_BAD_INPUT as run_contacts_read; *result is
 * then NULL. path is borrowed. The caller closes *result with run_contact_rows_close. */
Status run_contact_rows_open(RunContactRows** result, const char* path, const Model* model, Diagnostics* diagnostics);
/* Closes the file and frees contacts. Accepts NULL. */
void run_contact_rows_close(RunContactRows* contacts);
/* Returns the opened file, borrowed from contacts. */
CsvRows* run_contact_rows_table(const RunContactRows* contacts);
/* Sets *contact to a row of the file. Returns false, with *contact undefined, if the file changed since it was opened.
 * */
bool run_contact_rows_at(RunContactRows* contacts, int row, RunContact* contact);

/* Returns the row whose time is nearest to `time` [s]; the earlier one if two are equally near, and the last row if
 * time is NAN. The run must have at least one row. Allocates nothing. */
int run_row_at(const RunPoses* run, double time);
/* Returns the poses (links) of a row 0 ... row_count - 1, borrowed from *run until run_poses_free. The row is not
 * checked. */
const Pose* run_row_poses(const RunPoses* run, int row);
/* Returns the unit of a column of a run's file, for example "J" for column "kinetic" of "solver.csv". The text is
 * constant: "" if the column has no unit, NULL if the column is unknown. Allocates nothing. */
const char* run_unit(const char* file, const char* column);

#endif
