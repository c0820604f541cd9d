/* Inputs of `sdrs render`: a run, a scene, the designs of an optimization, or two of these side by side. Private to
 * app/. */
#ifndef SDRS_APP_RENDER_LOAD_H
#define SDRS_APP_RENDER_LOAD_H

#include "app/command.h"

/* Owns everything that its subjects borrow. shown_free accepts it zeroed or partly loaded. */
typedef struct {
  Recorded recorded[RENDER_SUBJECTS_MAX]; /* in order of time */
  RunContacts contacts[RENDER_SUBJECTS_MAX];
  char* caption[RENDER_SUBJECTS_MAX];
  int count;                                   /* number of loaded ones */
  RenderSubject subjects[RENDER_SUBJECTS_MAX]; /* those to draw  (subject_count) */
  const char* names[RENDER_SUBJECTS_MAX]; /* names of the subjects when exported as models: "initial", "best", otherwise
                                             the scene's name */
  int subject_count;
} Shown;

/* Loads the subjects of a picture. show: RENDER_FORCES reads contacts.csv, RENDER_DISPLACEMENT the design before.
 * compare: the initial design of an optimization is drawn, too; as_model: the same if it exists. Errors are reported,
 * or in the recorded's diagnostics. Returns EXIT_DONE or the exit code; the caller calls shown_free in any case. */
ExitCode shown_load(Shown* shown, const Options* options, unsigned show, bool compare, bool as_model);
/* Frees runs, contacts and captions; accepts a partly loaded object. */
void shown_free(Shown* shown);

/* Writes the page `target` (.html) of the first operand and sets *moments to the number of states in it. For an
 * optimization it plays RUN/best, the run of the best design, with RUN/initial beside it; missing ones are simulated
 * (app/render_page.c). Reports errors. Returns EXIT_DONE, else the exit code with *moments unset. */
ExitCode render_page(const Options* options, const char* target, int* moments);
/* Appends the page of a finished folder of `sdrs simulate` to `out`. Returns false, without a message, if there is
 * none. The caller owns `out`. */
bool page_of_folder(const Options* options, const char* folder, Text* out);

#endif
