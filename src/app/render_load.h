/* Inputs of `sdrs render`: a run, a scene, the designs of an optimization, or two runs or scenes to draw side by side.
 * Private to app/. */
#ifndef SDRS_APP_RENDER_LOAD_H
#define SDRS_APP_RENDER_LOAD_H

#include "app/command.h"

/* Loaded inputs and the subjects to draw, which borrow from them. render_inputs_free accepts a zeroed or partly loaded
 * struct. */
typedef struct {
  Recorded recorded[RENDER_SUBJECTS_MAX]; /* (count); an initial design comes before the best design */
  RunContacts contacts[RENDER_SUBJECTS_MAX];
  char* caption[RENDER_SUBJECTS_MAX];
  int count;                                   /* number of loaded inputs, contacts and captions */
  RenderSubject subjects[RENDER_SUBJECTS_MAX]; /* subjects to draw (size: subject_count) */
  const char* names[RENDER_SUBJECTS_MAX]; /* names of the subjects in an exported model: "initial", "best" or the name
                                             of the scene (size: subject_count) */
  int subject_count;
} RenderInputs;

/* Loads the operands of the command and selects the subjects to draw. show: mark bits; RENDER_FORCES also reads
 * contacts.csv, RENDER_DISPLACEMENT also loads the initial design. compare: draw the initial beside the best design.
 * as_model: add the initial design if the folder has one. Reports errors, or adds them to the diagnostics of a
 * Recorded. Returns EXIT_DONE or the exit code of the error. The caller calls render_inputs_free in any case. */
ExitCode render_inputs_load(RenderInputs* inputs, const Options* options, unsigned show, bool compare, bool as_model);
/* Frees the inputs, contacts and captions. Accepts a partly loaded struct. */
void render_inputs_free(RenderInputs* inputs);

/* Writes an HTML page of the first operand to `target`, and sets *moments to the number of states in it. Of an
 * optimization, shows the runs of the best design, RUN/best, and of the initial design, RUN/initial. Simulates a
 * missing run first. Reports errors. Returns EXIT_DONE, or the exit code of the error with *moments unset. */
ExitCode render_page(const Options* options, const char* target, int* moments);
/* Appends the HTML page of a finished run folder of `sdrs simulate` to `out`, which the caller owns. Returns false,
 * without a message, if the folder has no finished run. */
bool append_page_of_run(const Options* options, const char* folder, Text* out);

#endif
