/* Tasks of motion planning, for the commands that take a task file. Private to app/. */
#ifndef SDRS_APP_PLAN_H
#define SDRS_APP_PLAN_H

#include "app/command.h"

/* If the file is a planning task, reads it and (run) plans and writes the run folder; sets *code to the exit code and
 * reports errors. Returns false, with *code unchanged, if the file is not a planning task. */
bool plan_run(const Options* options, const char* path, bool run, ExitCode* code);

#endif
