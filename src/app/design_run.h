/* State of a run of `sdrs optimize`. The run is either one optimization of the whole time span (cmd_optimize.c), or a
 * receding horizon (optimize_receding.c). Private to app/. */
#ifndef SDRS_APP_DESIGN_RUN_H
#define SDRS_APP_DESIGN_RUN_H

#include "app/live.h"
#include "optimize/optimize.h"

/* The objects that an optimization needs before its first run. design_start_free accepts a zeroed struct. */
typedef struct {
  Optimization* optimization; /* owned by `receding` if that pointer is not NULL */
  Receding* receding;
  int taken; /* number of variables whose initial values come from the run named by `from` */
} DesignStart;
/* Creates the optimization or the receding horizon of a task. If the task has `from`, reads initial values of variables
 * from the run named there. Borrows the task until design_start_free. Returns STATUS_BAD_INPUT or STATUS_IO, with
 * diagnostics, on failure. The caller calls design_start_free in any case. */
Status design_start(DesignStart* start, Task* task, const OptimizationOptions* options, Diagnostics* diagnostics);
/* Checks the tasks that run before this one, the chain of `from: {task: ...}`. Each task must be readable and must have
 * neither `receding` nor `choices`. Runs nothing. Returns STATUS_BAD_INPUT or STATUS_IO, with diagnostics, if a task
 * fails the check. */
Status design_check_previous_tasks(const Task* task, Diagnostics* diagnostics);
/* Frees the optimization, or the receding horizon together with its optimization. Does not free the task. */
void design_start_free(const DesignStart* start);

/* State of one run of `sdrs optimize`. design_run_free accepts a zeroed or partly built struct. */
typedef struct {
  const Options* options;
  Diagnostics diagnostics;
  Task task;
  Optimization* optimization; /* the members of a DesignStart, moved here */
  Receding* receding;
  int taken;
  HalfStep half_step; /* result with half the time step; owned */
  char* folder;
  FolderLock claim;
  Live live;
  bool candidate; /* true for a candidate of a task with choices. The candidate's run ignores `choices`, and its caller
                     reports the end. */
} DesignRun;

/* Returns true in the process that writes files and messages. Under mpirun there are several processes, and only one of
 * them writes. */
bool design_run_writes(void);
/* Returns the largest `status` of all processes, so that all processes continue or all stop. All processes must call
 * this function. */
Status design_run_reduce_status(Status status);
/* Smallest expected duration for which an estimate is printed [s]. */
#define LONG_TASK_SECONDS 30.0
/* Returns a duration as text, such as "40 s", "3 min" or "2.5 h". seconds >= 0. */
Excerpt design_run_format_duration(double seconds);
/* Prints on standard error whether the result fulfils the criteria `success` of the task, with their values. Does
 * nothing if the task has no `success`, or with -q. */
void design_run_print_success(const DesignRun* run);
/* Simulates the best design with half the time step and stores loss and success in run->half_step. Does nothing with
 * --no-converge, for a task without simulation steps, or after an interrupt. (app/optimize_half_step.c) */
void design_run_simulate_half_step(DesignRun* run);
/* Prints a warning on standard error if halving the time step changes the loss or the success of the best design. Does
 * nothing with -q. */
void design_run_warn_half_step(const DesignRun* run);
/* Runs a receding horizon: optimizes and executes all windows in turn, and writes files and messages. Begins with the
 * first window, or resumes from the checkpoint. Adds diagnostics to run->diagnostics. All processes must call this
 * function. Returns the exit code. */
ExitCode design_run_receding(DesignRun* run);

/* Runs `sdrs optimize` for one candidate of a task's choices, without printing its folder. options are borrowed. With
 * --resume the run starts from the beginning if there is no checkpoint. Reports errors. Returns the exit code, which is
 * EXIT_BAD_INPUT or EXIT_SOLVER if the candidate cannot run. The caller frees *run with design_run_free in any case. */
ExitCode design_run_candidate(DesignRun* run, const Options* options);
/* Writes the result of the run to `folder`: scenes, design.csv, convergence.csv and summary.json. Reports errors.
 * Returns EXIT_DONE or an error code such as EXIT_IO. All processes must call this function. */
ExitCode design_run_write_results(DesignRun* run, const char* folder);
/* Prints on standard error the shell command that resumes an interrupted run. */
void design_run_print_resume_command(const DesignRun* run);
/* Runs `sdrs optimize --explain FOLDER`, which prints why an optimization stopped and what to try next. Reads the text
 * from the folder's summary.json. Returns EXIT_IO if the file cannot be read, and EXIT_BAD_INPUT if it is not the
 * summary of an optimization. (app/optimize_explain.c) */
ExitCode design_print_explanation(const Options* options, const char* folder);
/* Frees all members of the struct except the options. */
void design_run_free(DesignRun* run);
/* Optimizes every combination of the task's choices that the search method selects. Adds diagnostics to
 * whole->diagnostics. All processes must call this function. Returns the exit code. */
ExitCode design_run_choices(DesignRun* whole);

#endif
