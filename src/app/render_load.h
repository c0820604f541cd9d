/* Inputs of `sdrs render`: a run, a scene, the designs of an optimization, or two runs or scenes side by side. Private
 * to app/. */
#ifndef SDRS_APP_RENDER_LOAD_H
#define SDRS_APP_RENDER_LOAD_H

#include "app/command.h"

/* The loaded inputs and the subjects to draw. Owns everything that the subjects borrow. shown_free accepts a zeroed or
 * partly loaded struct. */
typedef struct {
  Recorded recorded[RENDER_SUBJECTS_MAX]; /* the loaded inputs; an initial design comes before the best one */
  RunContacts contacts[RENDER_SUBJECTS_MAX];
  char* caption[RENDER_SUBJECTS_MAX];
  int count;                                   /* number of loaded inputs */
  RenderSubject subjects[RENDER_SUBJECTS_MAX]; /* the subjects to draw  (subject_count) */
  const char* names[RENDER_SUBJECTS_MAX]; /* names of the subjects when exported as models: "initial", "best", otherwise
                                             the scene's name */
  int subject_count;
} Shown;

/* Loads the subjects of a picture. show: with RENDER_FORCES reads contacts.csv, with RENDER_DISPLACEMENT also loads the
 * initial design. compare: also draws the initial design of an optimization. as_model: the same, if the folder has an
 * initial design. Reports errors or adds them to the diagnostics of the Recorded. Returns EXIT_DONE or the exit code of
 * the error. The caller calls shown_free in any case. */
ExitCode shown_load(Shown* shown, const Options* options, unsigned show, bool compare, bool as_model);
/* Frees the inputs, contacts and captions. Accepts a partly loaded struct. */
void shown_free(Shown* shown);

/* Writes the page `target` (.html) of the first operand and sets *moments to the number of states in it. For an
 * optimization the page shows RUN/best, the run of the best design, and beside it RUN/initial; runs that are missing
 * are simulated (app/render_page.c). Reports errors. Returns EXIT_DONE, or the exit code of the error with *moments
 * unset. */
ExitCode render_page(const Options* options, const char* target, int* moments);
/* Appends the page of a finished folder of `sdrs simulate` to `out`, which the caller owns. Returns false, without a
 * message, if the folder has no finished run. */
bool page_of_folder(const Options* options, const char* folder, Text* out);

#endif
