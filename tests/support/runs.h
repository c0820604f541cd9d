/* A run of a scene that the test contains as text. Sim borrows Model, and Model borrows Scene. One pointer owns all
 * three. */
#ifndef SDRS_TESTS_SUPPORT_RUNS_H
#define SDRS_TESTS_SUPPORT_RUNS_H

#include "simulate/simulate.h"
#include "support/compare.h"

typedef struct {
  Scene scene;
  Model model;
  Diagnostics diagnostics;
  Sim* sim;
} Run;

/* Printf-style scene text (YAML) -> model -> sim; the test fails with the messages when that does not work.
 * tolerance 0 = the scene's. */
Run* run_create(int threads, double tolerance, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* The same with a change made to the scene between reading and building. */
typedef void (*SceneEdit)(Scene* scene, void* context);
Run* run_create_edited(int threads, double tolerance, SceneEdit edit, void* context, const char* format, ...)
    __attribute__((format(printf, 5, 6)));
/* Only scene and model. */
Run* run_model(const char* format, ...) __attribute__((format(printf, 1, 2)));
void run_free(Run* run);
/* Steps that must not fail; the last report. */
StepReport run_steps(Run* run, int steps);
/* Index of a link by name. */
int run_link(const Run* run, const char* name);

#endif
