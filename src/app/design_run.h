/* State of `sdrs optimize`, either for one window over the whole run (cmd_optimize.c), or for a receding horizon
 * (optimize_receding.c). Private to app/. */
#ifndef SDRS_APP_DESIGN_RUN_H
#define SDRS_APP_DESIGN_RUN_H

#include "app/live.h"
#include "optimize/optimize.h"

/* The objects of an optimization before its first run. design_start_free accepts a zeroed struct. */
typedef struct {
  Optimization* optimization; /* the optimization, which `receding` owns if it is not NULL */
  Receding* receding;
  int taken; /* number of variables whose initial values come from another run */
} DesignStart;
/* Creates the optimization or the receding horizon of a task, and reads the initial values from the run of `from`.
 * Borrows the task until design_start_free. Returns STATUS_BAD_INPUT or STATUS_IO with diagnostics if this fails. The
 * caller calls design_start_free in any case. */
Status design_start(DesignStart* start, Task* task, const OptimizationOptions* options, Diagnostics* diagnostics);
/* Checks that every task in the chain of `from: {task: ...}` can be read, and has neither `receding` nor `choices`.
 * Runs nothing. Returns STATUS_BAD_INPUT or STATUS_IO with diagnostics if a task fails the check. */
Status design_check_before(const Task* task, Diagnostics* diagnostics);
/* Frees the optimization, or the receding horizon together with its optimization. Does not free the task. */
void design_start_free(const DesignStart* start);

/* State of one run of `sdrs optimize`. design_run_free accepts a zeroed or partly built struct. */
typedef struct {
  const Options* options;
  Diagnostics diagnostics;
  Task task;
  Optimization* optimization; /* optimization, receding and taken are moved here from a DesignStart */
  Receding* receding;
  int taken;
  HalfStep half_step; /* result with half the time step; its members are owned */
  char* folder;
  FolderClaim claim;
  Live live;
  bool candidate; /* true for a candidate of a task with choices: it evaluates no choices itself, and its parent reports
                     the end */
} DesignRun;

/* Returns true in the process that writes files and messages; under mpirun this is one of several processes. */
bool design_run_writes(void);
/* Returns the largest Status of all processes, so that either all processes continue or none. All processes must call
 * it. */
Status design_run_agreed(Status status);
/* Smallest expected duration for which an estimate is printed [s]. */
#define LONG_TASK_SECONDS 30.0
/* Returns a duration as text: "40 s", "3 min", "2.5 h". seconds >= 0. */
Excerpt design_run_duration(double seconds);
/* Prints on standard error whether the result fulfils `success` of the task, with the values. Does nothing if the task
 * has no `success`, or with -q. */
void design_run_say_success(const DesignRun* run);
/* Simulates the best design with half the time step and sets run->half_step. Does nothing with --no-converge, for a
 * task without simulation steps, or after an interrupt. (app/optimize_half_step.c) */
void design_run_halve_step(DesignRun* run);
/* Prints on standard error if the loss or the success of the best design depends on the time step. Does nothing with
 * -q. */
void design_run_tell_half_step(const DesignRun* run);
/* Optimizes and executes all windows, from the first one or from the checkpoint, and writes their files and messages.
 * Adds diagnostics to run->diagnostics. All processes must call it. Returns the exit code. */
ExitCode design_run_receding(DesignRun* run);

/* Runs `sdrs optimize` with these options (borrowed) for one candidate of a task's choices, without printing its
 * folder. With --resume it starts from the beginning if there is no checkpoint. Reports errors and returns
 * EXIT_BAD_INPUT or EXIT_SOLVER if the candidate cannot run. Sets *run in any case; the caller frees it with
 * design_run_free. */
ExitCode design_run_candidate(DesignRun* run, const Options* options);
/* Creates `folder` and writes the result to it: scenes, design.csv, convergence.csv and summary.json. Reports errors.
 * Returns EXIT_DONE or EXIT_IO. All processes must call it. */
ExitCode design_run_leave(DesignRun* run, const char* folder);
/* Prints the command that resumes the run. */
void design_run_tell_resume(const DesignRun* run);
/* Runs `sdrs optimize --explain FOLDER`: prints stopped, findings, success and advice of the folder's summary.json on
 * standard output. Returns EXIT_IO if the folder has no summary.json, EXIT_BAD_INPUT if the summary is not one of an
 * optimization. (app/optimize_explain.c) */
ExitCode design_explain(const Options* options, const char* folder);
/* Frees all members of the struct except the options. */
void design_run_free(DesignRun* run);
/* Runs the combinations of the task's choices that are to be evaluated. Adds diagnostics to whole->diagnostics. All
 * processes must call it. Returns the exit code. */
ExitCode design_run_choices(DesignRun* whole);

#endif
