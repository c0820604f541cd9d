/* Functions shared by the commands: loading a scene, messages, versions, interrupts, progress. Private to app/. */
#ifndef SDRS_APP_COMMAND_H
#define SDRS_APP_COMMAND_H

#include <signal.h>
#include "app/app.h"
#include "model/model.h"
#include "page/page.h"

/* ---------------------------------------------------------------- messages (app/messages.c) */

/* Returns true if the stream should get ANSI colours: it is a terminal, NO_COLOR is not set and TERM is not "dumb". */
bool color_wanted(FILE* stream);
/* Prints the diagnostics on stderr, sorted by place. With -q prints only the errors. */
void print_diagnostics(const Options* options, Diagnostics* diagnostics);
/* Writes the diagnostics under `key` of the open JSON object, as an array of {"severity": "error", "file": ..., "line":
 * ..., "column": ..., "message": ...}. */
void json_diagnostics(Json* json, const char* key, const Diagnostics* diagnostics);
/* Warns on stderr of steps whose residual stayed above `tolerance` (relative) because of rounding errors, with time,
 * link and remedy. Does nothing with -q, or if the largest residual is within the tolerance. */
void warn_unconverged(const Options* options, const char* name, const Model* model, const UnconvergedSteps* unconverged,
                      double tolerance);
/* Warns on stderr of steps in which the normal force of friction did not converge in contact.friction_iterations
 * solves, with time, links and remedy. Does nothing with -q, or if there are no such steps. */
void warn_friction_open(const Options* options, const char* name, const Model* model,
                        const UnconvergedSteps* unconverged);
/* Warns on stderr of impacts whose friction acted one step late, with the resulting change of speed, time, links and
 * remedy. Does nothing with -q, or if this change is small relative to the speeds of the scene. */
void warn_late_friction(const Options* options, const char* name, const Model* model,
                        const UnconvergedSteps* unconverged);
/* Warns of each --set of simulation.tolerance that this option has no effect. rule: the reason, for the message. Does
 * nothing with -q. */
void warn_overridden_tolerance(const Options* options, const char* rule);
/* Prints `sdrs VERB: error: text` on stderr. */
void command_error(const Options* options, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* Prints an error as command_error does, followed by a reference to --help. Returns EXIT_USAGE. */
ExitCode usage_error(const Options* options, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* ---------------------------------------------------------------- versions (app/version.c) */

/* Returns the versions of the program and of its libraries; the latter are those loaded at run time. All texts are
 * static; that of LAPACK is static in each thread. */
RunProgram version_program(void);
/* Prints the versions of program and libraries, one per line. */
void version_print(FILE* stream);

/* ---------------------------------------------------------------- scene and model (app/load.c) */

/* A scene and its model. loaded_free accepts it zeroed or partly loaded. */
typedef struct {
  Scene scene;
  Model model;
  double scene_seconds, model_seconds;
} Loaded;

/* Replaces all diagnostics by one error: the file `path` is of the kind `what`, and `instead` names the command or the
 * input for it. Copies the texts. */
void say_other_kind(const char* path, const char* what, const char* instead, Diagnostics* diagnostics);
/* Reads a scene, applies overrides, sets the number of steps (steps 0: the number in the file) and builds the model.
 * drawn: true if triangulated surfaces of smooth shapes are needed. Returns STATUS_IO or STATUS_BAD_INPUT, with
 * diagnostics, if this fails. *loaded owns the scene and the model; the caller calls loaded_free in any case. */
Status loaded_create(Loaded* loaded, const Options* options, const char* path, int steps, bool drawn,
                     Diagnostics* diagnostics);
/* Frees the model and the scene, and zeroes the struct. */
void loaded_free(Loaded* loaded);
/* Returns the folder given with -o, otherwise out/<name>, where each / of the name is replaced by _. Does not create
 * the folder. The caller frees the text with memory_free. */
char* run_folder_path(const Options* options, const char* name);
/* Returns the number of vertices of all hulls of the model. */
long loaded_vertices(const Loaded* loaded);
/* Appends a summary of the model, such as `3 links, 12 degrees of freedom, 4 hulls, 96 vertices`. */
void loaded_describe(Text* out, const Loaded* loaded);

/* ---------------------------------------------------------------- runs (app/recorded.c) */

/* A run folder with its scene, or a single scene, whose only row is its initial state. The caller sets `options` and
 * zeroes the rest before recorded_load. recorded_free accepts a partly loaded struct. */
typedef struct {
  const Options* options;
  Diagnostics diagnostics;
  char* scene_path;         /* path of the scene as stored in the summary */
  const char* scene_sha256; /* SHA-256 of the scene, borrowed from the summary; NULL = not stored */
  SceneOverride* overrides; /* overrides of the run, followed by those of the command line */
  char* own_override;       /* text of an override that comes from the run folder, owned */
  int override_count;
  struct cJSON* summary; /* parsed summary.json, which owns the texts of the run's overrides; NULL for a scene */
  Scene scene;
  Model model;
  RunPoses run;
  bool without_poses; /* set before loading. true: the poses of a run folder are not read, and `run` stays empty */
  bool from_mesh;     /* true for a mesh, loaded with the density of water */
  int own_messages;   /* number of diagnostics about the run itself; those about its scene follow */
} Recorded;

/* Loads a run folder, a scene or a mesh. Adds errors and warnings to recorded->diagnostics. Returns STATUS_IO if `path`
 * does not exist or cannot be read, STATUS_BAD_INPUT if the content is invalid. *recorded owns the data; the caller
 * calls recorded_free in any case. */
Status recorded_load(Recorded* recorded, const char* path);
/* Removes warnings and notes about the scene, which were printed when the scene was simulated. Keeps errors, and
 * diagnostics about the run itself. */
void recorded_drop_scene_warnings(Recorded* recorded);
/* Returns true if the scene file and all files that it names have the same bytes as when the run was made. Adds an
 * error for each file that differs. Reads all these files again. */
bool recorded_unchanged(Recorded* recorded);
/* Frees all members of the struct. Accepts a partly loaded struct. */
void recorded_free(Recorded* recorded);
/* Returns true if `folder` is a folder of `sdrs optimize`: it contains best.scene.yaml and no trajectory.csv. */
bool folder_of_design(const char* folder);
/* Returns true if `path` is an existing folder. Returns false also if this cannot be determined. */
bool path_is_folder(const char* path);

/* Simulates the scene file `scene` into `folder`, with the threads of `options` and without writing to standard output
 * (app/cmd_simulate.c). Reports errors and returns the exit code. */
ExitCode simulate_into(const Options* options, const char* scene, const char* folder);
/* Returns true if the file has this SHA-256 (64 hexadecimal digits). If sha256 is NULL or "", returns true if the file
 * can be read. Returns false if the file cannot be read. */
bool file_has_sha256(const char* path, const char* sha256);

/* ---------------------------------------------------------------- fabrication (app/fabrication.c) */

/* Returns the axis given by the option --build: 0..5 for x y z -x -y -z, 2 if the option is absent, -1 for any other
 * text. */
int fabrication_build_axis(const Options* options);
/* Returns true if the link has a bounded hull. */
bool link_has_solid(const Model* model, int link);
/* Prints a line on standard output for every link with a bounded hull, or with options->json appends an object to the
 * open list of `json`. only: index of the only link to report; -1: all links. poses: one for each link. */
void fabrication_report(const Options* options, const Model* model, const Pose* poses, int only, Json* json);

/* ---------------------------------------------------------------- plots (app/cmd_plot.c) */

/* Writes overview.png to a finished run folder. Does nothing with --no-overview. Without --overview does nothing if
 * standard error is not a terminal, or with -q. If writing fails, prints one line. The command must have both
 * options. */
void leave_overview(const Options* options, const char* folder);
#define OVERVIEW_OPTIONS                                                                                  \
  {"overview", 0, OPTION_FLAG, NULL, "leave overview.png in the folder (default: on a terminal only)"}, { \
    "no-overview", 0, OPTION_FLAG, NULL, "leave no overview.png"                                          \
  }

/* Option of commands that compute gradients. It overrides gradient.memory of the task. */
#define MEMORY_OPTION \
  { "memory", 0, OPTION_NUMBER, "GIB", "most that runs may take for their gradients in GiB (all is kept)" }

/* ---------------------------------------------------------------- interrupts (app/interrupt.c) */

/* Installs handlers for SIGINT, SIGTERM and SIGUSR1. The first signal requests an orderly end; a second one ends the
 * program at once with exit code 130. Cannot fail. */
void interrupt_install(void);
/* Returns the number of the signal received, or 0. */
int interrupt_signal(void);
/* Returns the name of a signal: "SIGINT", ..., or "a signal". Static text. */
const char* interrupt_name(int signal_number);

/* ---------------------------------------------------------------- progress (app/progress.c) */

/* State of a progress display: a bar that is redrawn if the stream is a terminal, otherwise a plain line every 10 s. */
typedef struct {
  FILE* stream; /* NULL = silent */
  bool bar, color;
  const char* name;
  int steps;
  double start, shown; /* s */
  bool drawn;
} Progress;

/* Starts the display for `steps` steps. now: time of timer_now [s]. name and stream are borrowed. stream NULL: nothing
 * is displayed. */
void progress_start(Progress* progress, FILE* stream, const char* name, int steps, double now);
/* Displays the progress after `step` >= 1 steps at the simulated time `time` [s], if a period has passed since the last
 * display. now: time of timer_now [s]. */
void progress_update(Progress* progress, int step, double time, double iterations_per_step, double now);
/* Erases the bar if one is displayed. */
void progress_end(Progress* progress);
/* Displays the progress as progress_update does, with the caller's text `numbers`: `bar 12 % numbers  3 s left`. force:
 * true to display it also within the period. now: time of timer_now [s]. step >= 1. */
void progress_report(Progress* progress, int step, const char* numbers, double now, bool force);

#endif
