/* Helpers for designs of tasks that tests contain as text. */
#ifndef SDRS_TESTS_DESIGN_TESTING_H
#define SDRS_TESTS_DESIGN_TESTING_H

#include "optimize/design.h"
#include "unit/scene/task_testing.h"

/* Task and Design live behind one pointer: the design borrows the task's scenes. */
typedef struct {
  Task task;
  Design design;
} DesignCase;

static inline DesignCase* design_case(const char* text) {
  DesignCase* c = MEMORY_NEW(DesignCase, 1);
  c->task = load_task(text);
  Diagnostics diagnostics = {0};
  Status status = design_create(&c->design, &c->task, &diagnostics);
  char* found = told(&diagnostics);
  bool quiet = diagnostics.count == 0 || strstr(found, "note: link 'a' has a density, but its mass stays");
  if (status != STATUS_OK || !quiet) fail_msg("for the text\n%s\ntold\n%s", text, found);
  memory_free(found);
  diagnostics_free(&diagnostics);
  return c;
}

static inline void design_case_free(DesignCase* c) {
  design_destroy(&c->design);
  task_free(&c->task);
  memory_free(c);
}

/* A good task whose design must be refused with exactly these problems. */
static inline void expect_design_problems(const char* text, const char* wanted) {
  Task task = load_task(text);
  Design design;
  Diagnostics diagnostics = {0};
  Status status = design_create(&design, &task, &diagnostics);
  char* found = told(&diagnostics);
  if (strcmp(found, wanted) != 0) {
    print_error("told\n%s", found);
    fail_msg("for the text\n%s\nwanted\n%s", text, wanted);
  }
  assert_int_equal(status, STATUS_BAD_INPUT);
  memory_free(found);
  diagnostics_free(&diagnostics);
  design_destroy(&design);
  task_free(&task);
}

static inline Scene* case_scene(DesignCase* c, int scenario) { return &c->task.scenarios[scenario].scene; }

/* A link's hull as points. */
static inline SceneShape* case_hull(DesignCase* c, int scenario, const char* link, int hull) {
  Scene* scene = case_scene(c, scenario);
  for (int i = 0; i < scene->link_count; i++)
    if (strcmp(scene->links[i].name, link) == 0) return &scene->shapes[scene->links[i].shapes[hull].shape];
  fail_msg("no link %s", link);
  return NULL;
}

static inline int variable_index(const Design* d, const char* name) {
  for (int k = 0; k < d->variable_count; k++)
    if (strcmp(d->variables[k].name, name) == 0) return k;
  return -1;
}

static inline const DesignVariable* variable_of(const Design* d, const char* name) {
  int k = variable_index(d, name);
  if (k < 0) {
    for (int j = 0; j < d->variable_count; j++) print_message("%s\n", d->variables[j].name);
    fail_msg("no variable %s", name);
  }
  return &d->variables[k];
}

/* Names of all variables, one a line. */
static inline void expect_variables(const Design* d, const char* wanted) {
  Text text = {0};
  text_add_bytes(&text, "", 0);
  for (int k = 0; k < d->variable_count; k++) text_add(&text, "%s\n", d->variables[k].name);
  assert_string_equal(text.data, wanted);
  text_free(&text);
}

/* Initial values plus numbers in [-size, size]; the caller frees. */
static inline double* random_design(const Design* d, uint64_t seed, double size) {
  Random random = {seed};
  double* x = MEMORY_NEW(double, d->variable_count);
  for (int k = 0; k < d->variable_count; k++) x[k] = d->variables[k].initial + random_uniform(&random, -size, size);
  return x;
}

/* Put the numbers for x into a scene. */
static inline void design_apply(const Design* d, const double* x, Scene* scene) {
  ModelOverride* overrides = design_overrides(d, x);
  for (int k = 0; k < d->number_count; k++) *model_scene_number(scene, &overrides[k]) = overrides[k].value;
  memory_free(overrides);
}

static inline void apply_random(DesignCase* c, uint64_t seed, double size) {
  double* x = random_design(&c->design, seed, size);
  for (int s = 0; s < c->task.scenario_count; s++) design_apply(&c->design, x, case_scene(c, s));
  memory_free(x);
}

#endif
