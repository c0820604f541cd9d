/* Private to app/: state of `sdrs optimize`, for one window over the whole run (cmd_optimize.c), or a receding horizon
 * (optimize_receding.c). */
#ifndef SDRS_APP_DESIGN_RUN_H
#define SDRS_APP_DESIGN_RUN_H

#include "app/live.h"
#include "optimize/optimize.h"

/* Start of an optimization. design_start_free accepts it zeroed. */
typedef struct {
  Optimization* optimization; /* optimization of the receding horizon; NULL: none */
  Receding* receding;
  int taken; /* number of variables whose initial values are from another run */
} DesignStart;
/* Reads everything that `sdrs optimize` needs before its first run, the run of `from` included. Borrows the task until
 * design_start_free. Returns STATUS_BAD_INPUT or STATUS_IO with diagnostics; the caller calls design_start_free in any
 * case. */
Status design_start(DesignStart* start, Task* task, const OptimizationOptions* options, Diagnostics* diagnostics);
/* Checks that every task in the chain of `from: {task: ...}` can be read and is of a kind that may come before another.
 * Runs nothing. Returns STATUS_BAD_INPUT or STATUS_IO with diagnostics. */
Status design_check_before(const Task* task, Diagnostics* diagnostics);
/* Frees the optimization, or the receding horizon with its optimization; the task remains. */
void design_start_free(const DesignStart* start);

/* design_run_free accepts it zeroed or partly built. */
typedef struct {
  const Options* options;
  Diagnostics diagnostics;
  Task task;
  Optimization* optimization; /* moved here from a DesignStart, with the next two */
  Receding* receding;
  int taken;
  HalfStep half_step; /* owns its members */
  char* folder;
  FolderClaim claim;
  Live live;
  bool candidate; /* a candidate of a task with choices: it does not start candidates, and the parent reports the end */
} DesignRun;

/* Returns true for the process that writes files and messages, one of several under mpirun. */
bool design_run_writes(void);
/* Returns the largest Status of all processes, so that all continue or none. All processes call it. */
Status design_run_agreed(Status status);
/* Expected duration from which on an estimate is printed [s]. */
#define LONG_TASK_SECONDS 30.0
/* Returns a duration as text: "40 s", "3 min", "2.5 h". seconds >= 0. */
Excerpt design_run_duration(double seconds);
/* Prints on standard error whether the result is a success, with its values. Does nothing without `success` in the
 * task, or with -q. */
void design_run_say_success(const DesignRun* run);
/* Runs the best design with half the time step and sets run->half_step. Does nothing with --no-converge, for a task
 * without steps, or if interrupted. (app/optimize_half_step.c) */
void design_run_halve_step(DesignRun* run);
/* Prints on standard error if loss or success of the best design depend on the time step. Does nothing with -q. */
void design_run_tell_half_step(const DesignRun* run);
/* Runs all windows, from the first or from the checkpoint, with their files and messages. All processes call it;
 * problems are in run->diagnostics. */
ExitCode design_run_receding(DesignRun* run);

/* Runs `sdrs optimize` with these options (borrowed) for one candidate of a task's choices, without printing its
 * folder. With --resume it starts anew if there is no checkpoint. Returns EXIT_BAD_INPUT or EXIT_SOLVER, after
 * reporting it, if it cannot run. Sets *run in any case, for design_run_free. */
ExitCode design_run_candidate(DesignRun* run, const Options* options);
/* Writes the result to another folder, which it creates: scenes, design.csv, convergence.csv, summary.json. Reports
 * errors; returns EXIT_DONE or EXIT_IO. All processes must call it. */
ExitCode design_run_leave(DesignRun* run, const char* folder);
/* Prints the command that resumes it. */
void design_run_tell_resume(const DesignRun* run);
/* `sdrs optimize --explain FOLDER`: prints stopped, findings, success and advice of its summary.json on standard
 * output. EXIT_IO where the folder holds none, EXIT_BAD_INPUT where it is of no optimization. (app/optimize_explain.c)
 */
ExitCode design_explain(const Options* options, const char* folder);
/* Frees all members except the options. */
void design_run_free(DesignRun* run);
/* Runs every combination of the task's choices to be evaluated. All processes call it; its own problems are in
 * whole->diagnostics. */
ExitCode design_run_choices(DesignRun* whole);

#endif
