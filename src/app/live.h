/* Private to app/: the live view of `simulate` and `optimize` (--view). All functions do nothing without the option,
 * and for processes that do not write. None changes a result. */
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
  const Options* options; /* options of a verb with VIEW_OPTIONS */
  const char* name;       /* name of the run, for messages */
  const Model* model;     /* model of the run that is shown; borrowed from the caller */
  View* view;             /* NULL without --view */
  double* numbers;        /* numbers of one state; owned */
  int stride, next;       /* least number of steps between shown moments; least step of the next one */
  double shown, cost;     /* time of the last page of a design, and how long it took [s] */
} Live;

/* Starts the server and prints its address. Returns STATUS_IO with a diagnostic; the caller calls live_close in any
 * case. name is borrowed. Does nothing without --view. */
Status live_open(Live* live, const Options* options, const char* name, Diagnostics* diagnostics);
/* Shows the first state of a run of this model, until another run begins; `steps` follow. Returns STATUS_IO, or
 * STATUS_BAD_INPUT with a diagnostic, if the page could not be made. Allocates the numbers of one moment. */
Status live_begin(Live* live, const Model* model, const SimState* first, int steps, Diagnostics* diagnostics);
/* Adds the state after `step` steps of that run. Does so at intervals and at the last step only. */
void live_add(Live* live, const SimState* state, int step, const SimMeasure* measure, const StepReport* report);
/* Returns true if a browser is connected and enough time has passed for the cost of a page of the present design. Never
 * twice within DESIGN_PERIOD [s]. */
bool live_wants_design(Live* live);
/* Simulates the design again and shows it with the optimization so far, read from its folder. Errors are not reported;
 * the page then stays as it was. Takes as long as the run. */
void live_show_design(Live* live, const Scene* scene, const char* folder);
/* Returns true if a page will receive the end. */
bool live_wants_end(Live* live);
/* Shows the end of the command: the text `how` (copied) and, if a browser requests it, the page of the finished folder
 * (NULL: the page stays as it was). With --stay it then waits for a signal. Errors of the page are not reported. */
void live_end(Live* live, const char* how, const char* folder);
/* Stops the server, if there is one, and frees all members; accepts a zeroed object. */
void live_close(Live* live);

#endif
