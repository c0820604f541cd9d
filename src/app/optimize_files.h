/* Private to app/: the run folder of sdrs optimize. */
#ifndef SDRS_APP_OPTIMIZE_FILES_H
#define SDRS_APP_OPTIMIZE_FILES_H

#include "app/command.h"
#include "optimize/optimize.h"

/* convergence.csv and design.csv, whole. */
Status write_convergence(const char* folder, const Optimization* optimization, Diagnostics* diagnostics);
Status write_variables(const char* folder, const Optimization* optimization, Diagnostics* diagnostics);
/* design/<name>/<link>.obj of every link whose shape is designed. */
Status write_design(const char* folder, const char* name, Optimization* optimization, bool best,
                    Diagnostics* diagnostics);
/* best.scene.yaml, or initial.scene.yaml at iteration 0; of further scenarios best.<name>.scene.yaml. */
Status write_scenes(const char* folder, const Task* task, Optimization* optimization, bool best,
                    Diagnostics* diagnostics);
/* failed.<number>.scene.yaml: the first trials of a run whose steps were not solved, or have no gradient. The number of
 * the trial of this iteration; 0 when it is none of them. */
enum { FAILED_SCENES = 10 };
int failed_scene_number(const Optimization* optimization);
char* failed_scene_path(const char* folder, int number); /* owned by the caller */
Status write_failed_scene(const char* folder, const Task* task, Optimization* optimization, Diagnostics* diagnostics);
/* The failed and the best scenes, design.csv and summary.json of an earlier run. */
void remove_results(const char* folder, const Task* task);
Status write_checkpoint(const char* folder, const Optimization* optimization, Diagnostics* diagnostics);
Status write_optimize_summary(const char* folder, const Options* options, const Task* task,
                              const Optimization* optimization, ExitCode code, bool print, Diagnostics* diagnostics);
char* checkpoint_path(const char* folder); /* owned by the caller */

#endif
