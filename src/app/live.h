/* Live view of `simulate` and `optimize` (--view). All functions do nothing without the option --view, and in processes
 * that do not write files. None of them changes a result. Private to app/. */
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
  View* view;             /* NULL without --view */
  double* numbers;        /* buffer for the numbers of one displayed state; owned */
  int stride, next;       /* smallest number of steps between displayed states; first step that is displayed next */
  double shown, cost;     /* time of the last page of a design, and duration of making this page [s] */
} Live;

/* Starts the server of the live view and prints its address. name: name of the run, borrowed. Does nothing without
 * --view. Returns STATUS_IO with a diagnostic if the server cannot start. The caller calls live_close in any case. */
Status live_open(Live* live, const Options* options, const char* name, Diagnostics* diagnostics);
/* Displays the first state of a run of `model`; `steps` steps follow. Allocates the buffer for one state. Returns
 * STATUS_IO or STATUS_BAD_INPUT, with a diagnostic, if the page could not be made. */
Status live_begin(Live* live, const Model* model, const SimState* first, int steps, Diagnostics* diagnostics);
/* Adds the state after `step` steps of that run to the page, if the step is the last one or if enough steps have passed
 * since the last displayed state. */
void live_add(Live* live, const SimState* state, int step, const SimMeasure* measure, const StepReport* report);
/* Returns true if live_show_design should be called: a browser is connected, and enough time has passed that pages take
 * only a fraction of the time, at least DESIGN_PERIOD [s]. Also returns true before the first page. */
bool live_wants_design(Live* live);
/* Simulates the design and displays it together with the progress of the optimization, which is read from `folder`.
 * Takes as long as the run. Errors are not reported; the page is then unchanged. */
void live_show_design(Live* live, const Scene* scene, const char* folder);
/* Returns true if a browser will display the end of the run. */
bool live_wants_end(Live* live);
/* Displays the end of the command: the text `how` (copied) and, if a browser needs it, the page of the finished
 * `folder` (NULL: the page is unchanged). With --stay waits for a signal afterwards. Errors while making the page are
 * not reported. */
void live_end(Live* live, const char* how, const char* folder);
/* Stops the server if it runs, and frees all members. Accepts a zeroed struct. */
void live_close(Live* live);

#endif
