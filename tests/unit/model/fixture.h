/* Helpers of the model tests: scenes from YAML text, and checks of messages. */
#ifndef SDRS_TEST_MODEL_FIXTURE_H
#define SDRS_TEST_MODEL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "model/model.h"

typedef struct {
  Scene scene;
  Model model;
  Diagnostics diagnostics;
  Status status; /* of model_create */
} Fixture;

static inline void print_diagnostics(const Diagnostics* diagnostics) {
  for (int i = 0; i < diagnostics->count; i++) {
    const Diagnostic* item = &diagnostics->items[i];
    print_message("%s:%d:%d: %s\n", item->file ? item->file : "", item->line, item->column, item->text);
  }
}

/* Loads a scene, which must have no error, and calls model_create. The test checks the messages of model_create. */
static inline void fixture_load(Fixture* fixture, const char* yaml) {
  memset(fixture, 0, sizeof *fixture);
  Status status = scene_parse(&fixture->scene, "tests/unit/model/inline.yaml", yaml, strlen(yaml), false, NULL, 0,
                              &fixture->diagnostics);
  if (status != STATUS_OK) {
    print_diagnostics(&fixture->diagnostics);
    fail_msg("the test's scene cannot be read");
  }
  fixture->status = model_create(&fixture->model, &fixture->scene, &fixture->diagnostics);
}

static inline void fixture_free(Fixture* fixture) {
  model_destroy(&fixture->model);
  scene_free(&fixture->scene);
  diagnostics_free(&fixture->diagnostics);
}

static inline void check_clean(const Fixture* fixture) {
  int unexpected = 0; /* messages but those of velocity_gain and of the mass of hulls, which tests use */
  for (int i = 0; i < fixture->diagnostics.count; i++)
    unexpected += !strstr(fixture->diagnostics.items[i].text, "velocity_gain / dt") &&
                  !strstr(fixture->diagnostics.items[i].text, "has the mass of the hulls");
  if (fixture->status == STATUS_OK && unexpected == 0) return;
  print_diagnostics(&fixture->diagnostics);
  fail_msg("the model should be built without a message, status %d", (int)fixture->status);
}

/* The diagnostic that contains the text, or NULL. */
static inline const Diagnostic* find_message(const Fixture* fixture, const char* text) {
  for (int i = 0; i < fixture->diagnostics.count; i++)
    if (strstr(fixture->diagnostics.items[i].text, text)) return &fixture->diagnostics.items[i];
  return NULL;
}

/* There must be a message of this severity at this line with this text. */
static inline void check_message(const Fixture* fixture, Severity severity, int line, const char* text) {
  const Diagnostic* found = find_message(fixture, text);
  if (found && found->severity == severity && (line == 0 || found->line == line)) return;
  print_diagnostics(&fixture->diagnostics);
  fail_msg("wanted severity %d at line %d: '%s'%s", (int)severity, line, text, found ? " (found elsewhere)" : "");
}

static inline void check_near(double found, double wanted, double tolerance, const char* what) {
  if (fabs(found - wanted) <= tolerance) return;
  fail_msg("%s: found %.17g, wanted %.17g (difference %.3g, allowed %.3g)", what, found, wanted, found - wanted,
           tolerance);
}

static inline void check_vec3(Vec3 found, Vec3 wanted, double tolerance, const char* what) {
  if (vec3_norm(vec3_sub(found, wanted)) <= tolerance) return;
  fail_msg("%s: found (%.17g, %.17g, %.17g), wanted (%.17g, %.17g, %.17g)", what, found.x, found.y, found.z, wanted.x,
           wanted.y, wanted.z);
}

static inline const ModelLink* link_named(const Model* model, const char* name) {
  for (int i = 0; i < model->link_count; i++)
    if (strcmp(model->links[i].name, name) == 0) return &model->links[i];
  fail_msg("no link '%s'", name);
  return NULL;
}

#endif
