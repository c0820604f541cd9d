/* State of a run of `sdrs optimize`: an optimization of the whole time span (cmd_optimize.c) or a receding horizon
 * (optimize_receding.c). Private to app/. */
#ifndef SDRS_APP_DESIGN_RUN_H
#define SDRS_APP_DESIGN_RUN_H

#include "app/live.h"
#include "optimize/optimize.h"

/* The objects that an optimization needs before its first run. design_start_free accepts a zeroed struct. */
typedef struct {
  Optimization* optimization; /* owned by `receding` unless that is NULL */
  Receding* receding;
  int initialized_count; /* number of variables whose initial values come from the run of the key `from` */
} DesignStart;
/* Creates the optimization or the receding horizon of a task. With the key `from`, reads initial values of variables
 * from the run that it names. Borrows the task until design_start_free. Returns STATUS_BAD_INPUT or STATUS_IO, with
 * diagnostics, on failure. The caller calls design_start_free in any case. */
Status design_start(DesignStart* start, Task* task, const OptimizationOptions* options, Diagnostics* diagnostics);
/* Checks the chain of previous tasks, which `from: {task: ...}` names. Each must be readable and have neither
 * `receding` nor `choices`. Runs nothing. Returns STATUS_BAD_INPUT or STATUS_IO, with diagnostics, if a task fails the
 * check. */
Status design_check_previous_tasks(const Task* task, Diagnostics* diagnostics);
/* Frees the optimization, or the receding horizon together with its optimization. Does not free the task. */
void design_start_free(const DesignStart* start);

/* State of one run of `sdrs optimize`. design_run_free accepts a zeroed or partly built struct. */
typedef struct {
  const Options* options;
  Diagnostics diagnostics;
  Task task;
  Optimization* optimization; /* moved here from a DesignStart, with `receding` and `initialized_count` */
  Receding* receding;
  int initialized_count;
  HalfStep half_step; /* result with half the time step; owned */
  char* folder;
  FolderLock claim;
  Live live;
  bool
      candidate; /* true for a candidate of a task with choices: `choices` is ignored, and the caller reports the end */
} DesignRun;

/* Returns true in the only process that writes files and messages. Under mpirun there are several processes. */
bool design_run_writes(void);
/* Returns the largest status of all processes, so that all continue or all stop. All processes must call this function.
 */
Status design_run_reduce_status(Status status);
/* Smallest expected duration for which an estimate is printed [s]. */
#define LONG_TASK_SECONDS 30.0
/* Returns a duration as text, such as "40 s", "3 min" or "2.5 h". seconds >= 0. */
Excerpt design_run_format_duration(double seconds);
/* Prints on standard error whether the result meets the success criteria of the task, with their values. Does nothing
 * without criteria or with -q. */
void design_run_print_success(const DesignRun* run);
/* Simulates the best design with half the time step, and stores loss and success in run->half_step. Does nothing with
 * --no-converge, for a task without simulation, or after an interrupt. */
void design_run_simulate_half_step(DesignRun* run);
/* Warns on standard error if half the time step changes the loss or the success of the best design. Does nothing with
 * -q. */
void design_run_warn_half_step(const DesignRun* run);
/* Runs a receding horizon: optimizes and executes its windows in turn, and writes files and messages. Resumes from the
 * checkpoint with --resume. Adds diagnostics to run->diagnostics. All processes must call this function. Returns the
 * exit code. */
ExitCode design_run_receding(DesignRun* run);

/* Runs `sdrs optimize` for one candidate of a task's choices, without printing its folder. With --resume, starts from
 * the beginning if there is no checkpoint. Reports errors. Returns EXIT_BAD_INPUT or EXIT_SOLVER if the candidate
 * cannot run. options are borrowed; the caller frees *run with design_run_free in any case. */
ExitCode design_run_candidate(DesignRun* run, const Options* options);
/* Writes the result to `folder`: scenes, design.csv, convergence.csv and summary.json. Reports errors. Returns
 * EXIT_DONE, or an error code such as EXIT_IO. All processes must call this function. */
ExitCode design_run_write_results(DesignRun* run, const char* folder);
/* Prints on standard error the shell command that resumes an interrupted run. */
void design_run_print_resume_command(const DesignRun* run);
/* Runs `sdrs optimize --explain FOLDER`: prints from the folder's summary.json why an optimization stopped, and advice.
 * Returns EXIT_IO if the file cannot be read, and EXIT_BAD_INPUT if it is not the summary of an optimization. */
ExitCode design_print_explanation(const Options* options, const char* folder);
/* Frees all members of the struct except `options`. */
void design_run_free(DesignRun* run);
/* Optimizes the combinations of the task's choices that its search method selects. Adds diagnostics to
 * run->diagnostics. All processes must call this function. Returns the exit code. */
ExitCode design_run_choices(DesignRun* run);

#endif
