/* Tasks of planning, for the verbs that take tasks. Private to app/. */
#ifndef SDRS_APP_PLAN_H
#define SDRS_APP_PLAN_H

#include "app/command.h"

/* Is the file a task of planning? Then all that there is to do with it: read, and (run) planned and written to the run
 * folder. *code is the exit code. false: it is not, and *code stays. Problems are told. */
bool plan_run(const Options* options, const char* path, bool run, ExitCode* code);

#endif
