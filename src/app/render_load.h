/* What `sdrs render` draws: a run, a scene, the designs of an optimization, or two of these side by side. Private to
 * app/. */
#ifndef SDRS_APP_RENDER_LOAD_H
#define SDRS_APP_RENDER_LOAD_H

#include "app/command.h"

/* Owns everything its subjects borrow. Zeroed or half-loaded is fine for shown_free. */
typedef struct {
  Recorded recorded[RENDER_SUBJECTS_MAX]; /* in time: what was before stands first */
  RunContacts contacts[RENDER_SUBJECTS_MAX];
  char* caption[RENDER_SUBJECTS_MAX];
  int count;                                   /* of them loaded */
  RenderSubject subjects[RENDER_SUBJECTS_MAX]; /* those to draw  (subject_count) */
  const char* names[RENDER_SUBJECTS_MAX];      /* of the subjects, for models: "initial", "best", else the scene's */
  int subject_count;
} Shown;

/* show: RENDER_FORCES reads contacts.csv, RENDER_DISPLACEMENT the design before. compare: an optimization's initial
 * design is drawn too; as_model: the same where it is there. Problems are in the recorded's diagnostics, or told. shown
 * owns what is read. EXIT_DONE, else the code to leave with; shown_free in any case. */
ExitCode shown_load(Shown* shown, const Options* options, unsigned show, bool compare, bool as_model);
/* Frees runs, contacts and captions; accepts a half-loaded one. */
void shown_free(Shown* shown);

/* The page `target` (.html) of the first operand; of an optimization it plays RUN/best, the run of the best design,
 * with RUN/initial beside it, which are simulated where they are not there (app/render_page.c). *moments = that it
 * holds. Problems are told. EXIT_DONE, else the code to leave with; *moments is set with EXIT_DONE alone. */
ExitCode render_page(const Options* options, const char* target, int* moments);
/* The page of a finished run's folder, appended to `out`; false, with nothing told, when there is none. folder is
 * that of sdrs simulate; `out` is the caller's. */
bool page_of_folder(const Options* options, const char* folder, Text* out);

#endif
