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
/* The best scenes, design.csv and summary.json of an earlier run. */
void remove_results(const char* folder, const Task* task);
Status write_checkpoint(const char* folder, const Optimization* optimization, Diagnostics* diagnostics);
Status write_optimize_summary(const char* folder, const Options* options, const Task* task,
                              const Optimization* optimization, ExitCode code, bool print, Diagnostics* diagnostics);
char* checkpoint_path(const char* folder); /* owned by the caller */

#endif
