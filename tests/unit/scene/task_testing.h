/* Helpers of the task tests: reading texts and comparing reported problems. */
#ifndef SDRS_TESTS_UNIT_TASK_TESTING_H
#define SDRS_TESTS_UNIT_TASK_TESTING_H

#include "scene/task.h"
#include "scene_testing.h"

/* Two links, a joint, a controller; the first line of a text. */
#define TWO_LINKS                                                                                                 \
  "scene: {links: [{name: box, mass: 1, shape: {type: box, size: [1, 1, 1]}}, {name: arm, parent: box, mass: 1, " \
  "joint: {type: hinge, axis: [0, 1, 0]}, shape: {type: sphere, radius: 1}}]}\n"
#define MOVE_BOX "initial: [{link: box, velocities: true}]\n"
#define SHAPE_LOSS "loss: [{type: shape}]\n"

#define TASK_PATH "scenes/test.task.yaml" /* so that scenes are found beside it */

static inline Status parse_task_with(Task* task, Diagnostics* diagnostics, const char* text, const char* const* sets,
                                     int count) {
  SceneOverride overrides[8] = {{NULL}};
  for (int i = 0; i < count; i++) overrides[i].text = sets[i];
  return task_parse(task, TASK_PATH, text, strlen(text), false, overrides, count, diagnostics);
}

/* The text must be refused with exactly these problems, of the task itself or of scenes (their names left out). */
static inline void expect_task_problems(const char* text, const char* wanted) {
  Task task;
  Diagnostics diagnostics = {0};
  Status status = parse_task_with(&task, &diagnostics, text, NULL, 0);
  char* found = told(&diagnostics);
  if (strcmp(found, wanted) != 0) {
    print_error("told\n%s", found); /* a failure's own message is cut at a thousand characters */
    fail_msg("for the text\n%s\nwanted\n%s", text, wanted);
  }
  assert_int_equal(status, diagnostics.error_count > 0 ? STATUS_BAD_INPUT : STATUS_OK);
  memory_free(found);
  task_free(&task);
  diagnostics_free(&diagnostics);
}

/* The text must load without any word but WARNING_IN_TESTS. */
static inline Task load_task_set(const char* text, const char* const* sets, int count) {
  Task task;
  Diagnostics diagnostics = {0};
  Status status = parse_task_with(&task, &diagnostics, text, sets, count);
  char* found = told_without(&diagnostics, WARNING_IN_TESTS);
  if (status != STATUS_OK || *found) fail_msg("for the text\n%s\ntold\n%s", text, found);
  memory_free(found);
  diagnostics_free(&diagnostics);
  return task;
}

static inline Task load_task(const char* text) { return load_task_set(text, NULL, 0); }

#endif
