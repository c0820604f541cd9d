/* run: writes and reads the folder of a run (CSV files and summary.json), and compares CSV files. Each CSV file has a
 * writer, which is a row of the table in folder.c. Numbers are printed such that they read back to the same double.
 * Files are written under a temporary name and renamed, so that an interrupted run leaves no partial file. */
#ifndef SDRS_RUN_H
#define SDRS_RUN_H

#include "optimize/optimize.h"

/* ---------------------------------------------------------------- run folder (run/folder.c) */

/* State of a run that the writers record. All pointers are borrowed. Members marked "if requested" are set only if
 * simulation.output of the scene requests them. */
typedef struct {
  const SimState* state;
  const StepReport* report; /* report of the last step; NULL in the initial state */
  SimMeasure measure;
  SimSchemeWork scheme;       /* energy that the time-stepping scheme added or removed since the start of the run */
  const SimContact* contacts; /* (size: contact_count) */
  int contact_count;
  SimPath path;                            /* joint increments of the solver since the previous recorded state */
  const Vec3 *velocity, *angular_velocity; /* result of sim_link_velocities (links); if requested */
  const double* joint_forces;              /* result of sim_joint_forces; if requested */
  const double (*reactions)[6];            /* result of sim_reactions; if requested */
  const Pose* before[2]; /* poses of all links one step before and two steps before (links); NULL if there is no such
                            step; if requested */
  const SimClosure* closures; /* results of sim_closure (closures), then of sim_coupling (couplings); if requested */
} RunFrame;

/* The open CSV files of a run. Owns its streams, borrows the model. */
typedef struct RunFolder RunFolder;

/* Creates the folder of a run with its parents, locks it (folder_lock) and opens its CSV files. The files are
 * trajectory.csv, joints.csv, contacts.csv, solver.csv, path.csv and those that simulation.output requests. Writes
 * their header lines. The caller ends *result, which borrows the model, with run_folder_close or run_folder_discard. On
 * failure returns STATUS_IO with an error that names the file or folder. *result is then NULL, and no file is left. */
Status run_folder_open(RunFolder** result, const char* folder, const Model* model, Diagnostics* diagnostics);
/* Writes the rows of one state to the files. Borrows frame and its data during the call. At the first failed write
 * returns STATUS_IO with a diagnostic; the caller must then call run_folder_discard. May allocate text. */
Status run_folder_add(RunFolder* output, const RunFrame* frame, Diagnostics* diagnostics);
/* Stores a copy of the current state of `sim`, from which another run can start. The state must be that of the last
 * written row. run_folder_close writes the copy to the folder. Never fails. */
void run_folder_store_state(RunFolder* output, Sim* sim);
/* Completes the run folder: flushes and renames all files. If a write failed, returns STATUS_IO with a diagnostic and
 * renames no file. Frees `output` in any case. Accepts NULL. */
Status run_folder_close(RunFolder* output, Diagnostics* diagnostics);
/* Deletes the unfinished files and frees `output`. Files of an earlier run stay. Accepts NULL. Never fails. */
void run_folder_discard(RunFolder* output);

/* ---------------------------------------------------------------- summary (run/summary.c) */

enum { RUN_LIBRARIES_MAX = 9 };

/* Program that computed the run. All texts are borrowed and constant. */
typedef struct {
  const char *version, *commit, *build_flags, *compiler;
  struct {
    const char *name, *version;
  } libraries[RUN_LIBRARIES_MAX + 1]; /* the last entry has no name */
} RunProgram;

/* An input file of the run. */
typedef struct {
  char* path;
  char sha256[65]; /* hash of the file; "" if the file could not be read */
} RunInput;

/* Returns the input files of a scene and sets *count to their number.
 * The files are the scene file, then every mesh and every CSV file of a signal, each once, in order of appearance. The
 * hash of a file that cannot be read is "". Never returns NULL. The caller frees the array with run_inputs_free. */
RunInput* run_inputs(const Scene* scene, int* count);
/* Frees inputs (count) and their paths. Accepts NULL with count 0. */
void run_inputs_free(RunInput* inputs, int count);

/* Sums and extremes over the finished steps of a run. */
typedef struct {
  int steps;   /* steps since the start of this run */
  double time; /* time of the last step [s] */
  int64_t iterations, trials, certified_intervals, factor_retries;
  int iterations_max, active_pairs_max, candidate_pairs_max;
  int substeps_max;         /* largest number of substeps in one step */
  int halved_steps;         /* steps with more substeps than the scene requests */
  int rounding_floor_steps; /* steps that the solver ended above its tolerance because rounding errors allowed no
                               further decrease */
  double residual_max;      /* largest residual, relative to the acting forces */
  double smallest_gap;      /* smallest gap of all recorded states [m]; INFINITY if no pair of bodies was ever near */
  double smallest_gap_time; /* time of the smallest gap [s] */
  double scheme_work;       /* energy that the time stepping scheme added (> 0) or removed (< 0) [J] */
} RunTotals;
/* Returns the totals of a run without steps. Never fails. Allocates nothing. */
RunTotals run_totals_start(void);
/* Adds the counts of one solved step to the totals, and sets totals->time to the time of the step [s]. Never fails.
 * Allocates nothing. */
void run_totals_add_step(RunTotals* totals, const StepReport* report, const SimState* state);
/* Updates the smallest gap [m] of the totals, and its time [s], with the gap of one state. A gap of NaN changes
 * nothing. Never fails. Allocates nothing. */
void run_totals_update_gap(RunTotals* totals, const SimMeasure* measure, const SimState* state);

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
  const char* stop;          /* reason why the run ended, as text */
  const StepReport* failure; /* report of the failed step; NULL if no step failed */
  SimTimes step_times;       /* computing times of the steps [s] */
  double scene_seconds, model_seconds, setup_seconds, output_seconds, total_seconds;
  void (*more)(void* context, struct Json* json); /* adds further sections to the summary; NULL if there are none */
  void* more_context;
} RunSummary;

/* Appends the text of summary.json. Numbers that are not finite become null. All data of summary are borrowed during
 * the call. Never fails. The caller owns text. */
void run_summary_json(Text* text, const RunSummary* summary);
/* Returns the name of the link whose joint has a degree of freedom, or "?" if there is none. dof: index among all
 * degrees of freedom of the model. Borrowed from the model; never NULL. */
const char* run_dof_link_name(const Model* model, int dof);

/* ---------------------------------------------------------------- folder of `sdrs optimize` (run/design.c) */

/* Writes convergence.csv with one row per iteration: loss, terms and multipliers. On failure returns STATUS_IO with a
 * diagnostic and leaves an existing file unchanged. Frees its allocations before it returns. */
Status design_write_convergence(const char* folder, const Optimization* optimization, Diagnostics* diagnostics);
/* Writes design.csv with one row per variable, in the unit of the variable. On failure returns STATUS_IO with a
 * diagnostic and leaves an existing file unchanged. */
Status design_write_variables(const char* folder, const Optimization* optimization, Diagnostics* diagnostics);
/* Writes the shapes of the best or the current design, one file design/<name>/<link>.obj [m] for each link with a
 * designed shape. Shapes are in the link's frame. Creates no folder if no link has a designed shape. Returns STATUS_IO
 * with a diagnostic if a file cannot be written. Returns the status of model_create, with its diagnostics, if no model
 * can be created. Frees its allocations before it returns. */
Status design_write_shapes(const char* folder, const char* name, Optimization* optimization, bool best,
                           Diagnostics* diagnostics);
/* Writes the scene of the design as best.scene.yaml, or as initial.scene.yaml if `best` is false. Writes the scene of
 * each further scenario with the name of the scenario, for example as best.<name>.scene.yaml. At the first file that
 * cannot be written, returns STATUS_IO with a diagnostic and keeps the files written before. Frees its allocations
 * before it returns. */
Status design_write_scenes(const char* folder, const Task* task, Optimization* optimization, bool best,
                           Diagnostics* diagnostics);
/* Largest number of files failed.<number>.scene.yaml. Such a file contains the scene of a trial design that has an
 * unsolved step or no gradient. */
enum { FAILED_SCENES = 10 };
/* Returns the number, from 1, of the file failed.<number>.scene.yaml that the trial of the current iteration gets.
 * Returns 0 if the trial gets no such file. Allocates nothing. Never fails. */
int design_failed_scene_number(const Optimization* optimization);
/* Returns the path <folder>/failed.<number>.scene.yaml. The caller frees the path with memory_free. */
char* design_failed_scene_path(const char* folder, int number);
/* Writes failed.<number>.scene.yaml for the current trial. The result of design_failed_scene_number must not be 0.
 * Returns STATUS_IO with a diagnostic on failure. Frees its allocations before it returns. */
Status design_write_failed(const char* folder, const Task* task, Optimization* optimization, Diagnostics* diagnostics);
/* Deletes the results of an earlier run: failed and best scenes, design.csv and summary.json. Ignores files that do not
 * exist or cannot be deleted. Frees its allocations before it returns. */
void design_remove_results(const char* folder, const Task* task);
/* Writes the complete state of the optimization to <folder>/checkpoint. On failure returns STATUS_IO with a diagnostic
 * and leaves an existing checkpoint unchanged. Frees its allocations before it returns. */
Status design_write_checkpoint(const char* folder, const Optimization* optimization, Diagnostics* diagnostics);
/* Results of the best design, simulated with half the time step. */
typedef struct {
  bool given;      /* false if there was no simulation with half the time step */
  double loss;     /* NaN if a simulation failed */
  bool differs;    /* true if `loss` differs from the loss at the full time step by more than a tenth */
  double* success; /* values of the success criteria (success_count), NaN if a simulation failed; NULL without criteria
                      or with random draws */
} HalfStep;
/* Data of summary.json that the optimization does not contain. All pointers are borrowed. */
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
/* Adds the keys `success` and `success_terms` to an open object of json. `success` is null if there are no success
 * terms or if the run was interrupted. The caller owns json. Never fails. */
void design_add_success(struct Json* json, const Optimization* optimization, ExitCode exit_code);
/* Returns the path <folder>/checkpoint, never NULL. The caller frees the path with memory_free. The file is not
 * accessed. */
char* design_checkpoint_path(const char* folder);

/* ---------------------------------------------------------------- meshes (run/write_obj.c) */

/* Writes the hulls of a link as OBJ [m] in the link's frame. Each hull is a group `o`. Unbounded hulls are omitted.
 * Returns STATUS_IO with a diagnostic on failure. Frees its allocations before it returns. */
Status run_link_obj(const char* path, const Model* model, int link, Diagnostics* diagnostics);
/* Appends one hull in the OBJ format to `out`, which the caller owns. hull: index into model->hulls of a bounded hull.
 * Never fails. */
void run_hull_obj(Text* out, const Model* model, int hull);

/* Writes JSON text indented by two spaces. In all functions key is the member's name, or NULL in an array. Numbers that
 * are not finite become null. */
typedef struct Json {
  Text* out;
  int depth;
  bool comma; /* true if the current object or array already has an element, so that a comma precedes the next one */
} Json;
/* Opens an object '{' or an array '['. Appends to json->out, which the caller owns. Copies the key. Never fails. */
void json_open(Json* json, const char* key, char bracket);
/* Closes the innermost open object with '}' or array with ']'. The bracket must match the open bracket. Ends the line
 * at the outermost level. */
void json_close(Json* json, char bracket);
/* Adds a quoted and escaped text, or null if `value` is NULL. key: NULL in an array. Copies both texts. */
void json_text(Json* json, const char* key, const char* value);
/* Adds a number as the shortest text that reads back to the same double, or null if it is not finite. key: member's
 * name, or NULL in an array. */
void json_number(Json* json, const char* key, double value);
/* Adds an integer with all digits. key: member's name, or NULL in an array. */
void json_integer(Json* json, const char* key, int64_t value);
/* Adds true or false. key: member's name, or NULL in an array. */
void json_bool(Json* json, const char* key, bool value);
/* Adds values (count) as an array on one line: [1, 2, 3]. Numbers that are not finite become null. */
void json_vector(Json* json, const char* key, const double* values, int count);
/* Appends a number without key and indentation, or null if the number is not finite. The caller owns out. */
void json_add_number(Text* out, double value);

/* ---------------------------------------------------------------- comparison of CSV files (run/compare.c). base/csv.c
 * reads the files. */

/* Position of the largest difference between the cells of two tables a and b. column is -1 if all compared cells are
 * equal. */
typedef struct {
  double value;
  int column, row; /* column and row of the cell in table a */
} CompareWorst;

/* Difference of two tables.
 * Numbers a and b of the same cell agree if |a - b| <= abs + rel max(|a|, |b|). NaN agrees only with NaN. An infinity
 * agrees only with itself, otherwise the difference is infinite. Cells that are not numbers agree if they have the same
 * text. */
typedef struct {
  double abs, rel;
  int64_t values, different,
      outside; /* numbers of cells: compared, unequal, and with a difference beyond the tolerance */
  CompareWorst worst_absolute, worst_relative;
  CompareWorst worst; /* cell with the largest |a - b| / (abs + rel max(|a|, |b|)) */
} Comparison;

/* Compares the columns of two tables.
 * columns: comma-separated shell patterns of column names, or NULL for all columns. abs: absolute tolerance in the unit
 * of the column. rel: relative tolerance. name_a and name_b: names in messages. Returns STATUS_BAD_INPUT with
 * diagnostics if the tables have different columns or row counts. Sets *comparison, which owns nothing, in any case. */
Status csv_compare(Comparison* comparison, const CsvTable* a, const char* name_a, const CsvTable* b, const char* name_b,
                   const char* columns, double abs, double rel, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- recorded runs (run/read_*.c) */

/* Poses of all links in a recorded run. Owns its arrays. */
typedef struct {
  int row_count, link_count;
  double* time; /* time of each row [s] (size: rows) */
  Pose* pose;   /* poses of the link frames in the world  (rows x links) */
} RunPoses;

/* Reads `trajectory.csv` of a run of this model.
 * Sets time (rows) and pose (rows x links) in the world, with unit quaternions. Columns are found by name. Returns
 * STATUS_IO if the file cannot be read. Returns STATUS_BAD_INPUT with file and line if the file does not fit the model,
 * has no row, or has a number that is not finite. *run owns its arrays. The caller frees *run with run_poses_free in
 * any case. */
Status run_poses_read(RunPoses* run, const char* path, const Model* model, Diagnostics* diagnostics);
/* Frees the arrays of *run and zeroes *run. Accepts a zeroed struct, but not NULL. */
void run_poses_free(RunPoses* run);

typedef struct RunPoseRows RunPoseRows;
/* Opens `trajectory.csv` of a run of this model for reading row by row. The caller closes *result with
 * run_pose_rows_close. On failure sets *result to NULL. Returns STATUS_IO if the file cannot be read, STATUS_BAD_INPUT
 * with file and line if it does not fit the model. */
Status run_pose_rows_open(RunPoseRows** result, const char* path, const Model* model, Diagnostics* diagnostics);
/* Closes the file and frees poses. Accepts NULL. */
void run_pose_rows_close(RunPoseRows* poses);
/* Returns the opened file, borrowed from poses. Its first column is the time [s]. */
CsvRows* run_pose_rows_table(const RunPoseRows* poses);
/* Returns the pose of a link in a row of the opened file: the position in the world [m] and a unit quaternion. */
Pose run_pose_rows_read(const RunPoseRows* poses, int row, int link);

/* Opens `joints.csv` of a run of this model for reading row by row. The first column is the time [s]. The caller closes
 * *rows with csv_rows_close. On failure sets *rows to NULL. Returns STATUS_IO if the file cannot be read,
 * STATUS_BAD_INPUT with file and line if it does not fit the model. */
Status run_coordinates_open(CsvRows** rows, const char* path, const Model* model, Diagnostics* diagnostics);
/* Sets q (nq, the number of coordinates of the model) to the joint coordinates of a row, as written in the file [m,
 * rad, quaternions]. */
void run_coordinates_read_row(CsvRows* rows, int row, const Model* model, double* q);

/* Opens `path.csv` for reading row by row. It contains the joint increments by which the solver moved from state to
 * state. The time [s] of a row is the time of the state at which the increment ends. The caller closes *rows with
 * csv_rows_close. If the file does not exist, sets *rows to NULL and returns STATUS_OK. On failure sets *rows to NULL.
 * Returns STATUS_IO if the file cannot be read, STATUS_BAD_INPUT with file and line if it does not fit the model. */
Status run_path_open(CsvRows** rows, const char* path, const Model* model, Diagnostics* diagnostics);
/* Sets delta (nv, the degrees of freedom of the model) to the joint increments of one move of the solver [m, rad]. */
void run_path_read_row(CsvRows* rows, int row, const Model* model, double* delta);

/* A row of contacts.csv, which contains the contact force of a pair of links. */
typedef struct {
  double time; /* s */
  int a, b;    /* indices of the two links */
  double gap;  /* m */
  Vec3 force;  /* contact force on link b, world axes [N] */
  Vec3 moment; /* contact moment on link b about the centre of pressure, world axes [N m]; NAN if the run did not record
                  it */
  /* friction forces (FrictionAccount) [N]; NAN if the run did not record them */
  double friction_load, friction_owed, friction_lost;
} RunContact;

/* Contacts of a recorded run, ascending in time. Owns its rows. */
typedef struct {
  int count;
  RunContact* rows;
} RunContacts;

/* Reads `contacts.csv` of a run of this model. Returns STATUS_IO if the file cannot be read, STATUS_BAD_INPUT with file
 * and line if it does not fit the model. *contacts owns its rows (count). The caller frees *contacts with
 * run_contacts_free in any case. */
Status run_contacts_read(RunContacts* contacts, const char* path, const Model* model, Diagnostics* diagnostics);
/* Frees the rows of *contacts and zeroes *contacts. Accepts a zeroed struct, but not NULL. */
void run_contacts_free(RunContacts* contacts);
typedef struct RunContactRows RunContactRows;
/* Opens `contacts.csv` of a run of this model for reading row by row. path is borrowed. The caller closes *result with
 * run_contact_rows_close. On failure sets *result to NULL. Returns STATUS_IO if the file cannot be read,
 * STATUS_BAD_INPUT with file and line if it does not fit the model. */
Status run_contact_rows_open(RunContactRows** result, const char* path, const Model* model, Diagnostics* diagnostics);
/* Closes the file and frees contacts. Accepts NULL. */
void run_contact_rows_close(RunContactRows* contacts);
/* Returns the opened file, borrowed from contacts. */
CsvRows* run_contact_rows_table(const RunContactRows* contacts);
/* Sets *contact to a row of the file. Returns false, with *contact undefined, if the file has changed since it was
 * opened. */
bool run_contact_rows_read(RunContactRows* contacts, int row, RunContact* contact);

/* Returns the row of a run whose time is nearest to `time` [s]. Returns the earlier row if two rows are equally near,
 * and the last row if `time` is NAN. The run must have at least one row. Allocates nothing. */
int run_find_row(const RunPoses* run, double time);
/* Returns the poses (links) in a row of a recorded run, borrowed from *run until run_poses_free. row: 0 ... row_count -
 * 1 (asserted). */
const Pose* run_poses_at_row(const RunPoses* run, int row);
/* Returns the unit of a column of a run's file, for example "J" for the column "kinetic" of "solver.csv". Returns "" if
 * the column has no unit, and NULL if the column is unknown. The text is constant. Allocates nothing. */
const char* run_column_unit(const char* file, const char* column);

#endif
