/* Functions that several commands share: messages, loading of scenes and runs, interrupts, progress. Private to app/.
 */
#ifndef SDRS_APP_COMMAND_H
#define SDRS_APP_COMMAND_H

#include <signal.h>
#include "app/app.h"
#include "model/model.h"
#include "page/page.h"

/* Returns true if output to `stream` should have ANSI colours: `stream` is a terminal, NO_COLOR is not set, and TERM is
 * not "dumb". */
bool stream_has_color(FILE* stream);
/* Prints the diagnostics on standard error, sorted by file and line. With -q prints errors only. */
void print_diagnostics(const Options* options, Diagnostics* diagnostics);
/* Appends the diagnostics to the open JSON object, as an array with the given key. Each element is {"severity":
 * "error", "file": ..., "line": ..., "column": ..., "message": ...}. */
void json_diagnostics(Json* json, const char* key, const Diagnostics* diagnostics);
/* Warns on standard error of steps whose relative residual stayed above `tolerance` because of rounding errors. Prints
 * time, link and remedy. name: name of the run. Prints nothing with -q. */
void warn_unconverged(const Options* options, const char* name, const Model* model, const UnconvergedSteps* unconverged,
                      double tolerance);
/* Warns on standard error of steps whose friction force did not converge within contact.friction_iterations solves.
 * Prints time, links and remedy. name: name of the run. Prints nothing with -q. */
void warn_friction_open(const Options* options, const char* name, const Model* model,
                        const UnconvergedSteps* unconverged);
/* Warns on standard error of impacts whose friction acted one step late and changed speeds noticeably. Prints the
 * change of speed, time, links and remedy. name: name of the run. Prints nothing with -q. */
void warn_late_friction(const Options* options, const char* name, const Model* model,
                        const UnconvergedSteps* unconverged);
/* Warns if --set simulation.tolerance was given but has no effect. rule: the reason, part of the message. Prints
 * nothing with -q. */
void warn_overridden_tolerance(const Options* options, const char* rule);
/* Prints `sdrs VERB: error: TEXT` on standard error. */
void command_error(const Options* options, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* Prints `sdrs VERB: error: TEXT` and a reference to --help on standard error. Returns EXIT_USAGE. */
ExitCode usage_error(const Options* options, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the versions of the program and of the libraries loaded at run time. The texts are static; that of LAPACK is
 * static per thread. */
RunProgram version_program(void);
/* Prints the versions of the program and of its libraries, one per line. */
void version_print(FILE* stream);

/* A scene, its model and the time of loading each [s]. loaded_free accepts a zeroed or partly loaded struct. */
typedef struct {
  Scene scene;
  Model model;
  double scene_seconds, model_seconds;
} Loaded;

/* Replaces all diagnostics by one error: the file is of another kind than the command needs. actual_kind: kind of the
 * file, such as "a scene". remedy: the command or input that fits. Copies the texts. */
void report_wrong_file_kind(const char* path, const char* actual_kind, const char* remedy, Diagnostics* diagnostics);
/* Loads a scene, applies the overrides of `options` and builds the model. steps: number of steps to simulate, or 0 for
 * the number of the file. with_surfaces: true to triangulate the surfaces of smooth shapes. Returns STATUS_IO or
 * STATUS_BAD_INPUT, with diagnostics, if loading fails. *loaded owns scene and model; the caller calls loaded_free in
 * any case. */
Status loaded_create(Loaded* loaded, const Options* options, const char* path, int steps, bool with_surfaces,
                     Diagnostics* diagnostics);
/* Frees the model and the scene, and zeroes the struct. */
void loaded_free(Loaded* loaded);
/* Returns the path of the run folder: the folder of -o, otherwise out/<name> with _ in place of / in the name. Does not
 * create the folder. The caller frees the text with memory_free. */
char* run_folder_path(const Options* options, const char* name);
/* Returns the number of vertices of all hulls of the model. */
long loaded_vertex_count(const Loaded* loaded);
/* Appends a summary of the model, such as `3 links, 12 degrees of freedom, 4 hulls, 96 vertices`. */
void loaded_append_summary(Text* out, const Loaded* loaded);

/* A loaded run folder with its scene, or a loaded scene. A scene counts as a run of one row, its initial state. The
 * caller zeroes the struct and sets `options` before recorded_load. recorded_free accepts a partly loaded struct. */
typedef struct {
  const Options* options;
  Diagnostics diagnostics;
  char* scene_path;         /* path of the scene as stored in the summary */
  const char* scene_sha256; /* SHA-256 of the scene, borrowed from the summary; NULL if the summary has none */
  SceneOverride* overrides; /* overrides of the run, then those of the command line (size: override_count) */
  char* start_override;     /* override `start` of the run, with the path of the start state in its folder; owned */
  int override_count;
  struct cJSON* summary; /* parsed summary.json, which owns the texts of the run's overrides; NULL for a scene */
  Scene scene;
  Model model;
  RunPoses run;
  bool without_poses;    /* set by the caller: do not read the poses of a run folder */
  bool from_mesh;        /* true if the operand is a mesh, whose density is that of water */
  int run_message_count; /* number of diagnostics about the run; those about its scene follow them */
} Recorded;

/* Loads a run folder, a scene or a mesh. Adds errors and warnings to recorded->diagnostics. Returns STATUS_IO if `path`
 * cannot be read and STATUS_BAD_INPUT if its content is invalid. *recorded owns the data; the caller calls
 * recorded_free in any case. */
Status recorded_load(Recorded* recorded, const char* path);
/* Removes warnings and notes about the scene, which were printed when the scene was simulated. Keeps errors and the
 * diagnostics about the run. */
void recorded_remove_scene_warnings(Recorded* recorded);
/* Returns true if the scene and all files that it names have the content that they had when the scene was simulated.
 * Compares SHA-256 sums. Adds an error for each changed file. */
bool recorded_inputs_are_unchanged(Recorded* recorded);
/* Frees all members of *recorded. Accepts a partly loaded struct. */
void recorded_free(Recorded* recorded);
/* Returns true if `folder` is the result of `sdrs optimize`: it contains best.scene.yaml and no trajectory.csv. */
bool is_design_folder(const char* folder);
/* Returns true if `path` is an existing folder. Returns false also if the path cannot be examined. */
bool path_is_folder(const char* path);

/* Simulates the scene file at `scene` into `folder`, with the threads of `options`, and writes nothing to standard
 * output. Reports errors and returns the exit code. */
ExitCode simulate_to_folder(const Options* options, const char* scene, const char* folder);
/* Returns true if the file at `path` has the hash `sha256` (64 hexadecimal digits). Without a hash (NULL or ""),
 * returns true if the file can be read. */
bool file_has_sha256(const char* path, const char* sha256);

/* Returns the index of the build direction given by --build: 0..5 for x, y, z, -x, -y, -z. Returns 2 if the option is
 * absent and -1 if its text is invalid. */
int read_build_axis(const Options* options);
/* Returns true if the link has a bounded hull, so that it can be manufactured. */
bool link_has_solid(const Model* model, int link);
/* Reports how well each link with a bounded hull can be manufactured, at the poses poses[links]. Prints one line per
 * link; with options->json, appends one object per link to the open list instead. only: index of the only link to
 * report, or -1 for all. */
void fabrication_report(const Options* options, const Model* model, const Pose* poses, int only, Json* json);

/* Writes overview.png to a finished run folder, if --overview is given or standard error is a terminal. Does nothing
 * with --no-overview, or with -q and no --overview. Prints one line if writing fails. The command must have both
 * options. */
void write_overview_picture(const Options* options, const char* folder);
#define OVERVIEW_OPTIONS                                                                                  \
  {"overview", 0, OPTION_FLAG, NULL, "leave overview.png in the folder (default: on a terminal only)"}, { \
    "no-overview", 0, OPTION_FLAG, NULL, "leave no overview.png"                                          \
  }

/* Option of commands that compute gradients; overrides gradient.memory of the task. */
#define MEMORY_OPTION \
  { "memory", 0, OPTION_NUMBER, "GIB", "most that runs may take for their gradients in GiB (all is kept)" }

/* Installs handlers for SIGINT, SIGTERM, SIGUSR1 and SIGHUP (unless SIGHUP is ignored). The first signal requests an
 * orderly end. A second one ends the program at once with exit code 130. */
void interrupt_install(void);
/* Returns the number of the signal received, or 0 if no signal was received. */
int interrupt_signal(void);
/* Returns the name of a signal, such as "SIGINT", or "a signal" if the number is unknown. The text is static. */
const char* interrupt_name(int signal_number);

/* State of a progress display: on a terminal a bar that is redrawn, otherwise a line every 10 s. */
typedef struct {
  FILE* stream; /* NULL for no display */
  bool bar, color;
  const char* name;
  int steps;
  double start, last_display; /* times of the start and of the last display [s] */
  bool bar_is_drawn;
} Progress;

/* Starts the display of a run of `steps` steps. stream: output, or NULL for no display. now: present value of timer_now
 * [s]. name and stream are borrowed. */
void progress_start(Progress* progress, FILE* stream, const char* name, int steps, double now);
/* Displays the progress after `step` >= 1 steps, if enough time has passed since the last display. time: simulated time
 * [s]. now: present value of timer_now [s]. */
void progress_update(Progress* progress, int step, double time, double iterations_per_step, double now);
/* Erases the bar if one is displayed. */
void progress_end(Progress* progress);
/* Displays the progress after `step` >= 1 steps with the text `numbers`, as in `bar 12 % numbers  3 s left`. Skips the
 * display if little time has passed since the last one, unless `force`. now: present value of timer_now [s]. */
void progress_report(Progress* progress, int step, const char* numbers, double now, bool force);

#endif
