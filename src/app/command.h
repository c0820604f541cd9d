/* Functions shared by the commands: loading a scene, messages, versions, interrupts, progress. Private to app/. */
#ifndef SDRS_APP_COMMAND_H
#define SDRS_APP_COMMAND_H

#include <signal.h>
#include "app/app.h"
#include "model/model.h"
#include "page/page.h"

/* ---------------------------------------------------------------- messages (app/messages.c) */

/* Returns true if ANSI colours are used on this stream: a terminal, NO_COLOR not set, TERM not dumb. */
bool color_wanted(FILE* stream);
/* Prints problems to stderr, sorted by place; with -q, errors only and unsorted. */
void print_diagnostics(const Options* options, Diagnostics* diagnostics);
/* Writes an array of {"severity": "error", "file": ..., "line": ..., "column": ..., "message": ...} under `key` of the
 * open object. */
void json_diagnostics(Json* json, const char* key, const Diagnostics* diagnostics);
/* Warns on stderr of steps that ended at the rounding floor above a tolerance (relative), with time, link and remedy.
 * Does nothing with -q, or if the largest residual is within it. */
void warn_unconverged(const Options* options, const char* name, const Model* model, const UnconvergedSteps* unconverged,
                      double tolerance);
/* Warns on stderr of steps whose friction did not converge in a given number of solves, with time, links and remedy.
 * Does nothing with -q, or without such steps. */
void warn_friction_open(const Options* options, const char* name, const Model* model,
                        const UnconvergedSteps* unconverged);
/* Warns on stderr of impacts whose friction acted a step late, with the speed that it changes, time, links and remedy.
 * Does nothing with -q, or where that speed is small beside the scene's own. */
void warn_late_friction(const Options* options, const char* name, const Model* model,
                        const UnconvergedSteps* unconverged);
/* Warns of each --set of simulation.tolerance, which `rule` replaces. Does nothing with -q. */
void warn_overridden_tolerance(const Options* options, const char* rule);
/* Prints `sdrs VERB: error: text` on stderr. */
void command_error(const Options* options, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* As command_error for wrong usage, with where to read more; returns EXIT_USAGE. */
ExitCode usage_error(const Options* options, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* ---------------------------------------------------------------- versions (app/version.c) */

/* Returns versions, those of libraries as loaded. All texts are static, that of LAPACK for each thread. */
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

/* Replaces the problems of a file of another kind by one message: its kind, and the command for it. Frees those before;
 * copies the texts. */
void say_other_kind(const char* path, const char* what, const char* instead, Diagnostics* diagnostics);
/* Reads a scene, applies overrides, sets the number of steps (0 = the file's) and builds the model. drawn: triangles of
 * smooth shapes are needed. Returns STATUS_IO or STATUS_BAD_INPUT, with diagnostics. loaded owns the result; the caller
 * calls loaded_free in any case. */
Status loaded_create(Loaded* loaded, const Options* options, const char* path, int steps, bool drawn,
                     Diagnostics* diagnostics);
/* Frees model and scene and zeroes it. */
void loaded_free(Loaded* loaded);
/* Returns the folder of -o, else out/<name> with every / of the name replaced by _. Does not create it. The caller
 * frees the text with memory_free. */
char* run_folder_path(const Options* options, const char* name);
/* Returns the number of vertices of all hulls. */
long loaded_vertices(const Loaded* loaded);
/* Appends `3 links, 12 degrees of freedom, 4 hulls, 96 vertices`. */
void loaded_describe(Text* out, const Loaded* loaded);

/* ---------------------------------------------------------------- runs (app/recorded.c) */

/* A run folder with its scene, or a scene on its own, whose only row is its initial state. Set `options` and zero the
 * rest; recorded_free accepts it partly loaded. */
typedef struct {
  const Options* options;
  Diagnostics diagnostics;
  char* scene_path;         /* as the summary records it */
  const char* scene_sha256; /* borrowed from the summary; NULL = not recorded */
  SceneOverride* overrides; /* the run's, then the command line's */
  char* own_override;       /* one of them, of the folder */
  int override_count;
  struct cJSON* summary; /* owns the texts of the run's overrides; NULL for a scene */
  Scene scene;
  Model model;
  RunPoses run;
  bool without_poses; /* set before loading; `run` is read only for a run folder, not for a scene */
  bool from_mesh;     /* true for a mesh, loaded with the density of water */
  int own_messages;   /* diagnostics about the run itself; those of its scene follow */
} Recorded;

/* Loads a run folder, a scene or a mesh, with problems in recorded->diagnostics. Returns STATUS_IO if it does not exist
 * or cannot be read, or STATUS_BAD_INPUT. recorded owns the data; the caller calls recorded_free in any case. */
Status recorded_load(Recorded* recorded, const char* path);
/* Discards warnings about the scene, which were printed when it was simulated. Keeps errors and warnings about the run
 * itself. */
void recorded_drop_scene_warnings(Recorded* recorded);
/* Returns true if the scene and its meshes are those of the run to the byte; otherwise adds an error for each that
 * differs. Reads all these files again. */
bool recorded_unchanged(Recorded* recorded);
/* Frees all members; accepts a partly loaded one. */
void recorded_free(Recorded* recorded);
/* Returns true for a folder of `sdrs optimize`: it has a best scene and no trajectory. */
bool folder_of_design(const char* folder);
/* Returns true if there is a folder of this name; false also if this cannot be determined. */
bool path_is_folder(const char* path);

/* Runs a scene into a folder with the threads of `options`, without standard output (app/cmd_simulate.c). Reports
 * errors; returns the exit code. */
ExitCode simulate_into(const Options* options, const char* scene, const char* folder);
/* Returns true if the file has this SHA-256 (64 hexadecimal digits), or if none is given (NULL or ""). False if it
 * cannot be read. */
bool file_has_sha256(const char* path, const char* sha256);

/* ---------------------------------------------------------------- fabrication (app/fabrication.c) */

/* Returns the axis of the option --build: 0..5 for x y z -x -y -z, z by default; -1 for any other value. */
int fabrication_build_axis(const Options* options);
/* Returns true if a hull of the link is bounded. */
bool link_has_solid(const Model* model, int link);
/* Prints a line on standard output for every link with a solid (only >= 0: for that link), or an object in the list
 * json. poses of the links (links). json is used with options->json only. */
void fabrication_report(const Options* options, const Model* model, const Pose* poses, int only, Json* json);

/* ---------------------------------------------------------------- plots (app/cmd_plot.c) */

/* Writes overview.png to a finished run folder if standard error is a terminal and -q is not given, or with --overview;
 * never with --no-overview. A failure prints one line. The verb must have both options. */
void leave_overview(const Options* options, const char* folder);
#define OVERVIEW_OPTIONS                                                                                  \
  {"overview", 0, OPTION_FLAG, NULL, "leave overview.png in the folder (default: on a terminal only)"}, { \
    "no-overview", 0, OPTION_FLAG, NULL, "leave no overview.png"                                          \
  }

/* Option of verbs that compute gradients; overrides the task's gradient.memory. */
#define MEMORY_OPTION \
  { "memory", 0, OPTION_NUMBER, "GIB", "most that runs may take for their gradients in GiB (all is kept)" }

/* ---------------------------------------------------------------- interrupts (app/interrupt.c) */

/* Makes SIGINT, SIGTERM and SIGUSR1 request an orderly end; a second one exits at once with 130. Cannot fail. */
void interrupt_install(void);
/* Returns the signal received, or 0. */
int interrupt_signal(void);
/* Returns the name of a signal: "SIGINT", ..., or "a signal". Static text. */
const char* interrupt_name(int signal_number);

/* ---------------------------------------------------------------- progress (app/progress.c) */

/* Progress display: a bar that is redrawn on a terminal, otherwise a plain line every 10 s. */
typedef struct {
  FILE* stream; /* NULL = silent */
  bool bar, color;
  const char* name;
  int steps;
  double start, shown; /* s */
  bool drawn;
} Progress;

/* Starts progress over `steps` steps; now [s] of timer_now; name and stream are borrowed. stream NULL: shows nothing.
 */
void progress_start(Progress* progress, FILE* stream, const char* name, int steps, double now);
/* Shows the progress after `step` >= 1 steps, at a simulated time [s], at most once per period. */
void progress_update(Progress* progress, int step, double time, double iterations_per_step, double now);
/* Clears the bar, if the stream has one. */
void progress_end(Progress* progress);
/* As progress_update with the caller's text: `bar 12 % numbers  3 s left`. force: also within the period. now [s] of
 * timer_now; step >= 1. */
void progress_report(Progress* progress, int step, const char* numbers, double now, bool force);

#endif
