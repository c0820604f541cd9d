/* run: the folder of a run - its CSV files and summary.json, written and read back - and reading and comparing CSV
 * files. A writer is one file and one row in the table of folder.c. Numbers are printed so that they read back to the
 * same double; files are written beside their name and renamed, so a killed run leaves no half file. */
#ifndef SDRS_RUN_H
#define SDRS_RUN_H

#include "optimize/optimize.h"

/* ---------------------------------------------------------------- run folder (run/folder.c) */

/* One state of a run, as the writers see it. Everything is borrowed. */
typedef struct {
  const SimState* state;
  const StepReport* report; /* of the step that led here; NULL for the initial state */
  SimMeasure measure;
  SimSchemeWork scheme;       /* since the run began */
  const SimContact* contacts; /* (contact_count) */
  int contact_count;
  SimPath path;                            /* moves that led here from the frame before */
  const Vec3 *velocity, *angular_velocity; /* sim_link_velocities; looked at when the scene asks for them  (links) */
  const double* joint_forces;              /* sim_joint_forces, likewise */
  const double (*reactions)[6];            /* sim_reactions, likewise */
  const Pose* before[2];      /* poses one and two steps before, likewise; NULL: there were none  (links) */
  const SimClosure* closures; /* sim_closure, then sim_coupling, likewise  (closures, couplings) */
} RunFrame;

/* The open CSV files of a run. Owns its streams, borrows the model. */
typedef struct RunFolder RunFolder;

/* Make the folder (with parents), claim it until it is closed or discarded (folder_claim), and open trajectory.csv,
 * joints.csv, contacts.csv, solver.csv, path.csv and those that simulation.output asks for with their header lines.
 * *result is the caller's, for run_folder_close or _discard; it borrows the model. STATUS_IO with a diagnostic that
 * names the file or folder and the reason; then *result is NULL and no file is left. What was open by then is freed. */
Status run_folder_open(RunFolder** result, const char* folder, const Model* model, Diagnostics* diagnostics);
/* Add the rows of one state, which is only read. The first failed write is reported at once, not at the end of the run:
 * STATUS_IO with a diagnostic. frame and what it points to is borrowed for the call. The folder stays open on
 * failure, for run_folder_discard. Allocates while a state's text grows beyond those before. */
Status run_folder_add(RunFolder* output, const RunFrame* frame, Diagnostics* diagnostics);
/* Keep the present state of the run, which the last row is of, for runs that begin in it: it is written at the end.
 * It is copied; never fails. */
void run_folder_keep_state(RunFolder* output, Sim* sim);
/* Flush and rename all files, or none when one could not be written: STATUS_IO with a diagnostic. Frees in any case.
 * Accepts NULL. */
Status run_folder_close(RunFolder* output, Diagnostics* diagnostics);
/* Throw the unfinished files away and free it; files of an earlier run stay. Accepts NULL. Never fails. */
void run_folder_discard(RunFolder* output);

/* ---------------------------------------------------------------- summary (run/summary.c) */

enum { RUN_LIBRARIES_MAX = 9 };

/* The program that ran. Every text is borrowed and constant. */
typedef struct {
  const char *version, *commit, *build_flags, *compiler;
  struct {
    const char *name, *version;
  } libraries[RUN_LIBRARIES_MAX + 1]; /* up to one without a name */
} RunProgram;

/* A file that the run read. */
typedef struct {
  char* path;
  char sha256[65]; /* "" when it could not be read again */
} RunInput;

/* The scene file, then every mesh and every CSV file of a signal once, in order of appearance (*count); the caller
 * frees with run_inputs_free. (count) rows; never NULL: the scene file is the first. A file that cannot be read has
 * no hash. */
RunInput* run_inputs(const Scene* scene, int* count);
/* Frees inputs[count] and their paths. Accepts NULL with count 0. */
void run_inputs_free(RunInput* inputs, int count);

/* Sums and extremes over the finished steps of a run. */
typedef struct {
  int steps;   /* of this run: since where it began */
  double time; /* s, reached */
  int64_t iterations, trials, certified_intervals, factor_retries;
  int iterations_max, active_pairs_max, candidate_pairs_max;
  int substeps_max;         /* of a step */
  int halved_steps;         /* taken in more substeps than the scene asks for */
  int rounding_floor_steps; /* steps that ended at the rounding floor, above the tolerance */
  double residual_max;      /* relative to the forces at work */
  double smallest_gap;      /* over the recorded states [m]; INFINITY when no pair was ever near */
  double smallest_gap_time; /* s */
  double scheme_work;       /* energy that the scheme gave (> 0) or took [J] */
} RunTotals;
/* Nothing yet; then a step that was solved, and a state that is recorded. Both are only read. By value; never fails,
 * allocates nothing. */
RunTotals run_totals_start(void);
/* Adds the counts of one solved step and takes its time [s]. Never fails. Allocates nothing. */
void run_totals_step(RunTotals* totals, const StepReport* report, const SimState* state);
/* Takes the smallest gap [m] and its time [s] when it is smaller than those before; NaN never is. Nothing is
 * allocated, nothing fails. */
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
  const char* stop;          /* why the run ended, in words */
  const StepReport* failure; /* the step that failed, or NULL */
  SimTimes step_times;       /* s */
  double scene_seconds, model_seconds, setup_seconds, output_seconds, total_seconds;
  void (*more)(void* context, struct Json* json); /* sections of who made the run; NULL: none */
  void* more_context;
} RunSummary;

/* Append the text of summary.json. Numbers that are not finite become null. Everything in summary is borrowed for
 * the call; never fails. text grows as it needs and stays the caller's. */
void run_summary_json(Text* text, const RunSummary* summary);
/* Name of the link that owns a degree of freedom, for messages, borrowed from the model; "?" when there is none.
 * Never NULL, not to be freed. */
const char* run_link_of_dof(const Model* model, int dof);

/* ---------------------------------------------------------------- folder of a design (run/design.c)
 * What `sdrs optimize` leaves. All return STATUS_IO with a diagnostic when a file cannot be written. */

/* convergence.csv, whole: a row per iteration with loss, terms, multipliers. STATUS_IO with a diagnostic. The text
 * is allocated and freed here. A file of this name keeps what it held on failure. */
Status design_write_convergence(const char* folder, const Optimization* optimization, Diagnostics* diagnostics);
/* design.csv, whole: a row per variable, in its own unit. STATUS_IO with a diagnostic. A file of this name keeps
 * what it held on failure. */
Status design_write_variables(const char* folder, const Optimization* optimization, Diagnostics* diagnostics);
/* design/<name>/<link>.obj of every link whose shape is designed, of the best or the present design; without one no
 * folder is made. STATUS_IO with a diagnostic; the status of model_create, whose messages were reported before. Metres,
 * each link in its own frame. The model that it needs is made and freed here. */
Status design_write_shapes(const char* folder, const char* name, Optimization* optimization, bool best,
                           Diagnostics* diagnostics);
/* best.scene.yaml, or initial.scene.yaml at iteration 0; of further scenarios best.<name>.scene.yaml. STATUS_IO with a
 * diagnostic. One file per scenario; the first that cannot be written ends it. Allocates for the time of the call;
 * files before the one that failed are there. */
Status design_write_scenes(const char* folder, const Task* task, Optimization* optimization, bool best,
                           Diagnostics* diagnostics);
/* failed.<number>.scene.yaml: the first trials of a run whose steps were not solved, or have no gradient. The number of
 * the trial of this iteration; 0 when it is none of them. */
enum { FAILED_SCENES = 10 };
/* failed.<number>.scene.yaml: the first trials of a run whose steps were not solved, or have no gradient. The
 * number, from 1, of the trial of this iteration; 0 when it is none of them. Asking allocates nothing, never fails. */
int design_failed_number(const Optimization* optimization);
/* <folder>/failed.<number>.scene.yaml; freed by the caller with memory_free. */
char* design_failed_path(const char* folder, int number);
/* Writes that scene for the present trial, whose number must not be 0. STATUS_IO with a diagnostic. Allocates for
 * the time of the call. */
Status design_write_failed(const char* folder, const Task* task, Optimization* optimization, Diagnostics* diagnostics);
/* The failed and the best scenes, design.csv and summary.json of an earlier run. Files that are not there, or cannot
 * be removed, are passed over in silence. Allocates for the time of the call. */
void design_remove_results(const char* folder, const Task* task);
/* <folder>/checkpoint: the whole state of the optimization. STATUS_IO with a diagnostic. The text is allocated and
 * freed here. A checkpoint that is there keeps what it held on failure. */
Status design_write_checkpoint(const char* folder, const Optimization* optimization, Diagnostics* diagnostics);
/* How `sdrs optimize` was called and ended. Everything is borrowed. */
typedef struct {
  const RunProgram* program;
  const SceneOverride* overrides;
  int override_count, threads;
  ExitCode exit_code;
} DesignSummary;
/* summary.json, which is appended to `text` too, whether it could be written or not: STATUS_IO with a diagnostic.
 * `text` is the caller's to free. */
Status design_write_summary(const char* folder, const DesignSummary* summary, const Task* task,
                            const Optimization* optimization, Text* text, Diagnostics* diagnostics);
/* `success` and `success_terms` of a summary.json; success is null without terms and when it was stopped before the
 * end. Appends to json, which stands in an open object. Never fails. json stays the caller's own. */
void design_add_success(struct Json* json, const Optimization* optimization, ExitCode exit_code);
/* <folder>/checkpoint; freed by the caller with memory_free. Never NULL; nothing is looked up. */
char* design_checkpoint_path(const char* folder);

/* ---------------------------------------------------------------- meshes (run/write_obj.c) */

/* The hulls of a link in its frame, one `o` group each, in metres; those without an end are left out. STATUS_IO with
 * a diagnostic. The text is allocated and freed here. */
Status run_link_obj(const char* path, const Model* model, int link, Diagnostics* diagnostics);
/* The same of one bounded hull (index into model->hulls), appended to a text of the caller. Undefined for a hull
 * without an end, or an index that is none; never fails else. Grows `out`. */
void run_hull_obj(Text* out, const Model* model, int hull);

/* ---------------------------------------------------------------- JSON text (run/json.c)
 * Indented by two spaces; key is NULL inside an array. Numbers that are not finite become null. */
typedef struct Json {
  Text* out;
  int depth;
  bool comma; /* something stands before on this level */
} Json;
/* '{' or '['. Everything is appended to json->out, which is the caller's; keys and texts are copied; nothing fails. */
void json_open(Json* json, const char* key, char bracket);
/* '}' or ']', the one that was opened; at the outermost level with an end of line. Another bracket than was opened
 * is not checked: an error of the caller. Allocates in json->out. */
void json_close(Json* json, char bracket);
/* Quoted and escaped; NULL becomes null. key NULL: an element of an array. Copied. */
void json_text(Json* json, const char* key, const char* value);
/* The shortest text that reads back to the same double; null when not finite. key as of json_text. Allocates in
 * json->out. */
void json_number(Json* json, const char* key, double value);
/* A whole number, written in full. key as of json_text: NULL in an array; copied. */
void json_integer(Json* json, const char* key, int64_t value);
/* true or false. key as of json_text: NULL in an array; copied. */
void json_bool(Json* json, const char* key, bool value);
/* values[count], on one line: [1, 2, 3]. Numbers that are not finite become null. Copied. */
void json_vector(Json* json, const char* key, const double* values, int count);
/* A bare number, null when not finite: for text that is not indented. Allocates in out, which is the caller's own. */
void json_add_number(Text* out, double value);

/* ---------------------------------------------------------------- CSV files compared (run/compare.c; read by
 * base/csv.c) */

/* The cell where something is worst; column -1 = nowhere. */
typedef struct {
  double value;
  int column, row; /* indices into table a */
} CompareWorst;

/* Difference of two tables. Numbers a, b agree within |a - b| <= abs + rel max(|a|, |b|); NaN agrees with NaN only and
 * infinities with themselves, any other difference to them is infinite; cells that are not both numbers must be the
 * same text. */
typedef struct {
  double abs, rel;
  int64_t values, different, outside; /* compared; not equal; beyond the tolerance */
  CompareWorst worst_absolute, worst_relative;
  CompareWorst worst; /* largest |a - b| / (abs + rel max(|a|, |b|)): what to look at first */
} Comparison;

/* Compare the columns that match the comma-separated list of shell patterns (NULL = all), matched by name.
 * STATUS_BAD_INPUT with diagnostics when the tables do not have the same columns or rows. abs in the unit of the
 * column, rel a fraction. Tables are only read; the names stand in messages alone. *comparison is set in any case
 * and owns nothing. */
Status csv_compare(Comparison* comparison, const CsvTable* a, const char* name_a, const CsvTable* b, const char* name_b,
                   const char* columns, double abs, double rel, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- recorded runs (run/read_*.c) */

/* Poses of the link frames of a recorded run. Owns its arrays. */
typedef struct {
  int row_count, link_count;
  double* time; /* s        (rows) */
  Pose* pose;   /* world    (rows x links) */
} RunPoses;

/* Read `trajectory.csv` of a run of this model; columns are found by their names. A file that does not fit the model,
 * or has no row, or a number that is not finite: STATUS_BAD_INPUT with file and line; one that cannot be read:
 * STATUS_IO. The caller frees with run_poses_free in any case, which accepts a zeroed struct; so do the others below.
 * *run owns its arrays: time (rows), pose (rows x links) in the world, quaternions brought to unit length. Allocates
 * what it owns in any case of failure, too. */
Status run_poses_read(RunPoses* run, const char* path, const Model* model, Diagnostics* diagnostics);
/* Frees its arrays and zeroes it; accepts a zeroed one. NULL is not accepted. */
void run_poses_free(RunPoses* run);

typedef struct RunPoseRows RunPoseRows;
/* `trajectory.csv` row by row. STATUS_IO and STATUS_BAD_INPUT as of run_poses_read; *result is NULL then, else to be
 * closed. */
Status run_pose_rows_open(RunPoseRows** result, const char* path, const Model* model, Diagnostics* diagnostics);
/* Closes and frees; accepts NULL. */
void run_pose_rows_close(RunPoseRows* poses);
/* The file, borrowed. Its first column is the time [s]. */
CsvRows* run_pose_rows_table(const RunPoseRows* poses);
/* Pose of a link in a row, in the world [m]; the quaternion is normalised. By value. */
Pose run_pose_rows_at(const RunPoseRows* poses, int row, int link);

/* Open `joints.csv` of a run of this model, whose first column is the time [s], with the errors of run_poses_read;
 * *rows is NULL then, else to be closed. */
Status run_coordinates_open(CsvRows** rows, const char* path, const Model* model, Diagnostics* diagnostics);
/* Sets q (nq) to the coordinates of a row as written: m, rad, quaternions. */
void run_coordinates_at(CsvRows* rows, int row, const Model* model, double* q);

/* The same of `path.csv`, the recorded moves; *rows is NULL, and nothing is wrong, where there is no such file. The
 * time is that of the state that a move leads to or towards [s]. */
Status run_path_open(CsvRows** rows, const char* path, const Model* model, Diagnostics* diagnostics);
/* Increments of a move [m, rad]. delta (nv) is set. */
void run_path_at(CsvRows* rows, int row, const Model* model, double* delta);

/* A row of contacts.csv: what a touching pair of links exerts. */
typedef struct {
  double time; /* s */
  int a, b;    /* links */
  double gap;  /* m */
  Vec3 force;  /* on b, world [N] */
  Vec3 moment; /* on b about the centre of pressure, world [N m]; NAN where the run was not asked for it */
} RunContact;

/* Contacts of a recorded run, by rising time. Owns its rows. */
typedef struct {
  int count;
  RunContact* rows;
} RunContacts;

/* Read `contacts.csv` of a run of this model. STATUS_IO, STATUS_BAD_INPUT with file and line as for run_poses_read;
 * freed in any case. *contacts owns its rows (count). */
Status run_contacts_read(RunContacts* contacts, const char* path, const Model* model, Diagnostics* diagnostics);
/* Frees its rows and zeroes it; accepts a zeroed one. NULL is not accepted. */
void run_contacts_free(RunContacts* contacts);
typedef struct RunContactRows RunContactRows;
/* The same file row by row. STATUS_IO and STATUS_BAD_INPUT as of run_contacts_read; *result is NULL then, else to be
 * closed. path is borrowed. */
Status run_contact_rows_open(RunContactRows** result, const char* path, const Model* model, Diagnostics* diagnostics);
/* Closes and frees; accepts NULL. */
void run_contact_rows_close(RunContactRows* contacts);
/* The file, borrowed. */
CsvRows* run_contact_rows_table(const RunContactRows* contacts);
/* One of its rows. false where the file has been changed since it was opened; *contact is undefined then. */
bool run_contact_rows_at(RunContactRows* contacts, int row, RunContact* contact);

/* The recorded row nearest to a time [s], the earlier of two that are as near; NAN = the last. A run that was read
 * has a row at least; without one the answer is undefined. Allocates nothing. */
int run_row_at(const RunPoses* run, double time);
/* The poses of a row 0 ... row_count - 1 (links), borrowed from the run until run_poses_free. Another row is
 * undefined, not checked. */
const Pose* run_row_poses(const RunPoses* run, int row);
/* Unit of a column of a run's file ("solver.csv", "kinetic" -> "J"), constant; "" = none, NULL = not known. Not to
 * be freed; allocates nothing. */
const char* run_unit(const char* file, const char* column);

#endif
