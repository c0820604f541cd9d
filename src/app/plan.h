/* Motion planning tasks, for the commands that take a task file. Private to app/. */
#ifndef SDRS_APP_PLAN_H
#define SDRS_APP_PLAN_H

#include "app/command.h"

/* Reads the file `path` if it is a motion planning task. If `run` is true, also plans the path and writes the run
 * folder. Sets *code to the exit code and reports errors. Returns false, with *code unchanged, if the file is not a
 * planning task. */
bool plan_run(const Options* options, const char* path, bool run, ExitCode* code);

#endif
