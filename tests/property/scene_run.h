/* Helpers for tests of whole runs: a scene from a file or from text, with overrides, stepped forward. A SceneRun owns
 * all its pointers; run_close frees it. Every failure to load or to step fails the test. */
#ifndef SDRS_TESTS_PROPERTY_SCENE_RUN_H
#define SDRS_TESTS_PROPERTY_SCENE_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "simulate/simulate.h"

typedef struct {
  Scene scene;
  Model model;
  Sim* sim;
  Diagnostics diagnostics;
  StepReport report;   /* of the last step */
  double smallest_gap; /* over all steps so far [m] */
} SceneRun;

static inline void run_build(SceneRun* run, Status loaded, const char* what) {
  Status status = loaded;
  if (status == STATUS_OK) status = model_create(&run->model, &run->scene, &run->diagnostics);
  SimOptions options = {.threads = 1};
  if (status == STATUS_OK) status = sim_create(&run->sim, &run->model, &options, &run->diagnostics);
  for (int i = 0; status != STATUS_OK && i < run->diagnostics.count; i++)
    print_message("%d:%d: %s\n", run->diagnostics.items[i].line, run->diagnostics.items[i].column,
                  run->diagnostics.items[i].text);
  if (status != STATUS_OK) fail_msg("%s: cannot be run, status %d", what, (int)status);
  run->smallest_gap = INFINITY;
}

enum { RUN_OVERRIDES_MAX = 4 };

static inline int run_overrides(const char* const* texts, SceneOverride* list) {
  int count = 0;
  for (; texts && texts[count]; count++) list[count].text = texts[count];
  return count;
}

/* overrides: NULL, or up to RUN_OVERRIDES_MAX texts like "contact.friction=0.4", then NULL. */
static inline void run_open(SceneRun* run, const char* path, const char* const* overrides) {
  memset(run, 0, sizeof *run);
  SceneOverride list[RUN_OVERRIDES_MAX] = {{NULL}};
  int count = run_overrides(overrides, list);
  run_build(run, scene_load(&run->scene, path, list, count, &run->diagnostics), path);
}

static inline void run_parse(SceneRun* run, const char* yaml, const char* const* overrides) {
  memset(run, 0, sizeof *run);
  SceneOverride list[RUN_OVERRIDES_MAX] = {{NULL}};
  int count = run_overrides(overrides, list);
  Status status =
      scene_parse(&run->scene, "tests/property/inline.yaml", yaml, strlen(yaml), false, list, count, &run->diagnostics);
  run_build(run, status, "scene of the test");
}

static inline void run_close(SceneRun* run) {
  sim_destroy(run->sim);
  model_destroy(&run->model);
  scene_free(&run->scene);
  diagnostics_free(&run->diagnostics);
}

/* One step, which must succeed and leave every pair apart, if the law is a barrier. */
static inline void run_step(SceneRun* run) {
  run->report = sim_step(run->sim);
  const SimState* state = sim_state(run->sim);
  if (step_outcome_failed(run->report.outcome))
    fail_msg("%s: the step after t = %g s failed: %s, residual %.3g", run->scene.name, state->time,
             step_outcome_text(run->report.outcome), run->report.residual);
  run->smallest_gap = fmin(run->smallest_gap, sim_measure(run->sim).smallest_gap);
  if (!(run->smallest_gap > 0) && !contact_allows_overlap(run->model.contact_model))
    fail_msg("%s: bodies meet at t = %g s", run->scene.name, state->time);
}

static inline void run_until(SceneRun* run, double time) {
  while (sim_state(run->sim)->time < time - 0.5 * run->model.simulation.dt) run_step(run);
}

/* ---------------------------------------------------------------- measured values */

static inline int run_link(const SceneRun* run, const char* name) {
  for (int i = 0; i < run->model.link_count; i++)
    if (strcmp(run->model.links[i].name, name) == 0) return i;
  fail_msg("no link '%s'", name);
  return -1;
}

static inline Pose run_pose(const SceneRun* run, const char* name) {
  return sim_state(run->sim)->pose[run_link(run, name)];
}

static inline Vec3 run_position(const SceneRun* run, const char* name) { return run_pose(run, name).t; }

static inline double run_coordinate(const SceneRun* run, const char* name, int index) {
  return sim_state(run->sim)->q[run->model.links[run_link(run, name)].coordinate_first + index];
}

/* Force on the second of two touching links [N]; zero when they do not touch. */
static inline Vec3 run_force(const SceneRun* run, const char* a, const char* b) {
  int count, first = run_link(run, a), second = run_link(run, b);
  const SimContact* contacts = sim_contacts(run->sim, &count);
  for (int k = 0; k < count; k++) {
    if (contacts[k].a == first && contacts[k].b == second) return contacts[k].force;
    if (contacts[k].a == second && contacts[k].b == first) return vec3_scale(contacts[k].force, -1);
  }
  return vec3(0, 0, 0);
}

static inline double run_energy(const SceneRun* run) {
  SimMeasure measure = sim_measure(run->sim);
  return measure.kinetic + measure.potential;
}

static inline void expect_near(double found, double wanted, double tolerance, const char* what) {
  if (fabs(found - wanted) <= tolerance) return;
  fail_msg("%s: found %.12g, wanted %.12g within %.3g", what, found, wanted, tolerance);
}

static inline void expect_between(double found, double low, double high, const char* what) {
  if (found >= low && found <= high) return;
  fail_msg("%s: found %.12g, wanted %.12g .. %.12g", what, found, low, high);
}

#endif
