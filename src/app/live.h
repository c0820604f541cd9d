/* Live view of `simulate` and `optimize` in a browser (--view). All functions do nothing without --view, and in
 * processes that do not write files. They never change results. Private to app/. */
#ifndef SDRS_APP_LIVE_H
#define SDRS_APP_LIVE_H

#include "app/command.h"
#include "view/view.h"

#define VIEW_OPTIONS                                                                                              \
  {"view", 0, OPTION_PORT, "PORT", "show the page while it runs, on 127.0.0.1 (at PORT, default: any free one)"}, \
      {"stay", 0, OPTION_FLAG, NULL, "with --view: show the end until Ctrl-C (default: on a terminal only)"}, {   \
    "no-stay", 0, OPTION_FLAG, NULL, "with --view: end with the run"                                              \
  }

typedef struct {
  const Options* options; /* options of a command with VIEW_OPTIONS */
  const char* name;       /* name of the run, for messages */
  const Model* model;     /* model of the run that is shown; borrowed from the caller */
  View* view;             /* server of the live view; NULL without --view */
  double* state_numbers;  /* numbers of one displayed state; owned */
  int stride;             /* smallest number of steps between displayed states */
  int next_step;          /* first step that may be displayed */
  double page_time;       /* time at which the page that shows the design was last written [s] */
  double page_duration;   /* time that writing this page took [s] */
} Live;

/* Starts the server of the live view and prints its address. name: name of the run, borrowed. Returns STATUS_IO, with a
 * diagnostic, if the server cannot start. The caller calls live_close in any case. */
Status live_open(Live* live, const Options* options, const char* name, Diagnostics* diagnostics);
/* Displays the first state of a run of `model` with `steps` steps. Allocates the buffer for one state. Returns
 * STATUS_IO or STATUS_BAD_INPUT, with a diagnostic, if the page cannot be made. */
Status live_start_run(Live* live, const Model* model, const SimState* first, int steps, Diagnostics* diagnostics);
/* Displays the state after `step` steps, unless too few steps have passed since the last displayed state. The final
 * state is always displayed. */
void live_show_state(Live* live, const SimState* state, int step, const SimMeasure* measure, const StepReport* report);
/* Returns true if the present design should be displayed. Requires a connected browser, DESIGN_PERIOD since the last
 * page, and at most the fraction DESIGN_SHARE of the time for making pages. Also returns true before the first page. */
bool live_is_design_due(Live* live);
/* Simulates a scene and displays its motion, with the progress of the optimization from the files in `folder`. Takes as
 * long as the simulation. Does not report errors; the page is then unchanged. */
void live_show_design(Live* live, const Scene* scene, const char* folder);
/* Returns true if the end of the run will be displayed: a browser is connected, or the server stays after the end. */
bool live_will_show_end(Live* live);
/* Displays the text `end_text` as the end of the command, and the page of the finished run in `folder`. Leaves the page
 * unchanged if folder is NULL or no browser is connected. Copies the text. If the server stays after the end, waits for
 * a signal. Does not report errors. */
void live_end(Live* live, const char* end_text, const char* folder);
/* Stops the server and frees all members. Accepts a zeroed struct. */
void live_close(Live* live);

#endif
