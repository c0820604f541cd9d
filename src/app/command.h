/* Functions shared by the commands, such as loading a scene, messages and progress. Private to app/. */
#ifndef SDRS_APP_COMMAND_H
#define SDRS_APP_COMMAND_H

#include <signal.h>
#include "app/app.h"
#include "model/model.h"
#include "page/page.h"

/* ---------------------------------------------------------------- messages (app/messages.c) */

/* Returns true if output to `stream` should have ANSI colours. This holds if `stream` is a terminal, NO_COLOR is not
 * set and TERM is not "dumb". */
bool stream_has_color(FILE* stream);
/* Prints the diagnostics on stderr, sorted by file and line. With -q prints only the errors. */
void print_diagnostics(const Options* options, Diagnostics* diagnostics);
/* Writes the diagnostics to the open JSON object as an array with the key `key`. Each element is {"severity": "error",
 * "file": ..., "line": ..., "column": ..., "message": ...}. */
void json_diagnostics(Json* json, const char* key, const Diagnostics* diagnostics);
/* Warns on stderr if steps ended with a relative residual above `tolerance` because of rounding errors. The warning has
 * time, link and remedy. name: name of the run. Prints nothing with -q. */
void warn_unconverged(const Options* options, const char* name, const Model* model, const UnconvergedSteps* unconverged,
                      double tolerance);
/* Warns on stderr if the friction force did not converge within contact.friction_iterations solves of a step. The
 * warning has time, links and remedy. name: name of the run. Prints nothing with -q. */
void warn_friction_open(const Options* options, const char* name, const Model* model,
                        const UnconvergedSteps* unconverged);
/* Warns on stderr if the friction of impacts acted one step late and changed speeds noticeably. The warning has the
 * change of speed, time, links and remedy. name: name of the run. Prints nothing with -q. */
void warn_late_friction(const Options* options, const char* name, const Model* model,
                        const UnconvergedSteps* unconverged);
/* Warns if --set simulation.tolerance is given but has no effect. rule: the reason, which the message contains. Prints
 * nothing with -q. */
void warn_overridden_tolerance(const Options* options, const char* rule);
/* Prints `sdrs VERB: error: text` on stderr. */
void command_error(const Options* options, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* Prints an error as command_error does, followed by a reference to --help. Returns EXIT_USAGE. */
ExitCode usage_error(const Options* options, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* ---------------------------------------------------------------- versions (app/version.c) */

/* Returns the versions of the program and of the libraries loaded at run time. The texts are static; the text for
 * LAPACK is static per thread. */
RunProgram version_program(void);
/* Prints the versions of the program and of its libraries to `stream`, one per line. */
void version_print(FILE* stream);

/* ---------------------------------------------------------------- scene and model (app/load.c) */

/* A scene, its model and the time that loading took [s]. loaded_free accepts a zeroed or partly loaded struct. */
typedef struct {
  Scene scene;
  Model model;
  double scene_seconds, model_seconds;
} Loaded;

/* Replaces all diagnostics by one error about a file of the wrong kind. path: the file. what: its kind, such as "a
 * scene". instead: the command or input that fits this kind. Copies the texts. */
void report_wrong_file_kind(const char* path, const char* what, const char* instead, Diagnostics* diagnostics);
/* Reads a scene file, applies the overrides of `options` and builds the model. steps: number of steps to simulate; 0
 * keeps the number of the file. drawn: true if triangulated surfaces of smooth shapes are needed. Returns STATUS_IO or
 * STATUS_BAD_INPUT, with diagnostics, if loading fails. *loaded owns the scene and the model; the caller calls
 * loaded_free in any case. */
Status loaded_create(Loaded* loaded, const Options* options, const char* path, int steps, bool drawn,
                     Diagnostics* diagnostics);
/* Frees the model and the scene, and zeroes the struct. */
void loaded_free(Loaded* loaded);
/* Returns the path of the run folder: the folder given with -o, otherwise out/<name> with each / in the name replaced
 * by _. Does not create the folder. The caller frees the text with memory_free. */
char* run_folder_path(const Options* options, const char* name);
/* Returns the number of vertices of all hulls of the model. */
long loaded_vertex_count(const Loaded* loaded);
/* Appends a summary of the model, such as `3 links, 12 degrees of freedom, 4 hulls, 96 vertices`. */
void loaded_append_summary(Text* out, const Loaded* loaded);

/* ---------------------------------------------------------------- runs (app/recorded.c) */

/* A loaded run folder with its scene, or a loaded scene, which is treated as a run of one row, its initial state. The
 * caller sets `options` and zeroes the other members before recorded_load. recorded_free accepts a partly loaded
 * struct. */
typedef struct {
  const Options* options;
  Diagnostics diagnostics;
  char* scene_path;         /* path of the scene as stored in the summary */
  const char* scene_sha256; /* SHA-256 of the scene, borrowed from the summary; NULL if the summary has none */
  SceneOverride* overrides; /* overrides of the run, followed by the overrides of the command line */
  char* start_override;     /* text of the override that comes from the run folder, owned */
  int override_count;
  struct cJSON* summary; /* parsed summary.json, which owns the texts of the run's overrides; NULL for a scene */
  Scene scene;
  Model model;
  RunPoses run;
  bool without_poses; /* if true when loading starts, the poses of a run folder are not read, and `run` stays empty */
  bool from_mesh;     /* true if the operand is a mesh; its density is then the density of water */
  int run_message_count; /* number of diagnostics about the run itself; the diagnostics about its scene come after them
                          */
} Recorded;

/* Loads a run folder, a scene or a mesh. Adds errors and warnings to recorded->diagnostics. Returns STATUS_IO if `path`
 * does not exist or cannot be read, STATUS_BAD_INPUT if the content is invalid. *recorded owns the data; the caller
 * calls recorded_free in any case. */
Status recorded_load(Recorded* recorded, const char* path);
/* Removes warnings and notes about the scene, because they were printed when the scene was simulated. Keeps errors and
 * the diagnostics about the run itself. */
void recorded_remove_scene_warnings(Recorded* recorded);
/* Returns true if the scene file and all files that it names are unchanged since the run. Compares the SHA-256 of their
 * content, which is read again. Adds an error for each file that differs. */
bool recorded_inputs_are_unchanged(Recorded* recorded);
/* Frees all members of *recorded. Accepts a partly loaded struct. */
void recorded_free(Recorded* recorded);
/* Returns true if `folder` is the result of `sdrs optimize`. Such a folder contains best.scene.yaml and no
 * trajectory.csv. */
bool is_design_folder(const char* folder);
/* Returns true if `path` is an existing folder. Returns false also if the path cannot be examined. */
bool path_is_folder(const char* path);

/* Simulates the scene file `scene` into `folder`, with the threads of `options` and without writing to standard output
 * (app/cmd_simulate.c). Reports errors and returns the exit code. */
ExitCode simulate_to_folder(const Options* options, const char* scene, const char* folder);
/* Returns true if the file at `path` has the hash sha256 (64 hexadecimal digits). If sha256 is NULL or "", returns true
 * if the file can be read. Returns false if the file cannot be read. */
bool file_has_sha256(const char* path, const char* sha256);

/* ---------------------------------------------------------------- fabrication (app/fabrication.c) */

/* Returns the index of the build direction given by --build: 0..5 for x, y, z, -x, -y, -z. Returns 2 if the option is
 * absent and -1 if its text is invalid. */
int read_build_axis(const Options* options);
/* Returns true if the link has a bounded hull, so that it can be manufactured. */
bool link_has_solid(const Model* model, int link);
/* Reports how well each link with a bounded hull can be manufactured. Prints one line per link on standard output; with
 * options->json, appends one object per link to the open list of `json` instead. only: index of the only link to
 * report, or -1 for all links. poses: pose of every link. */
void fabrication_report(const Options* options, const Model* model, const Pose* poses, int only, Json* json);

/* ---------------------------------------------------------------- plots (app/cmd_plot.c) */

/* Writes overview.png to a finished run folder, if the options ask for it. --overview and --no-overview decide; without
 * them the picture is written only if standard error is a terminal and -q is absent. Prints one line if writing fails.
 * The command must have both options. */
void write_overview_picture(const Options* options, const char* folder);
#define OVERVIEW_OPTIONS                                                                                  \
  {"overview", 0, OPTION_FLAG, NULL, "leave overview.png in the folder (default: on a terminal only)"}, { \
    "no-overview", 0, OPTION_FLAG, NULL, "leave no overview.png"                                          \
  }

/* Option of commands that compute gradients. The option overrides gradient.memory of the task. */
#define MEMORY_OPTION \
  { "memory", 0, OPTION_NUMBER, "GIB", "most that runs may take for their gradients in GiB (all is kept)" }

/* ---------------------------------------------------------------- interrupts (app/interrupt.c) */

/* Installs handlers for SIGINT, SIGTERM, SIGUSR1 and SIGHUP (unless SIGHUP is ignored, as under nohup). The first
 * signal requests an orderly end; a second one ends the program at once with exit code 130. Cannot fail. */
void interrupt_install(void);
/* Returns the number of the signal received, or 0 if no signal was received. */
int interrupt_signal(void);
/* Returns the name of a signal, such as "SIGINT", or "a signal" if the number is unknown. The text is static. */
const char* interrupt_name(int signal_number);

/* ---------------------------------------------------------------- progress (app/progress.c) */

/* State of a progress display. On a terminal the display is a bar that is redrawn, otherwise a plain line every 10
 * s. */
typedef struct {
  FILE* stream; /* NULL if nothing is displayed */
  bool bar, color;
  const char* name;
  int steps;
  double start, shown; /* times of the start and of the last display [s] */
  bool drawn;
} Progress;

/* Starts the display of the progress of `steps` steps on `stream`; nothing is displayed if `stream` is NULL. now:
 * present value of timer_now [s]. name and stream are borrowed. */
void progress_start(Progress* progress, FILE* stream, const char* name, int steps, double now);
/* Displays the progress after `step` steps, if enough time has passed since the last display. step >= 1. time:
 * simulated time [s]. now: present value of timer_now [s]. */
void progress_update(Progress* progress, int step, double time, double iterations_per_step, double now);
/* Erases the bar if one is displayed. */
void progress_end(Progress* progress);
/* Displays the progress after `step` steps with the text `numbers`, as in `bar 12 % numbers  3 s left`. Does so only
 * if enough time has passed since the last display, or if `force` is true. step >= 1. now: present value of
 * timer_now [s]. */
void progress_report(Progress* progress, int step, const char* numbers, double now, bool force);

#endif
