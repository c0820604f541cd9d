/* Helpers of the scene tests: reading texts and comparing reported problems. */
#ifndef SDRS_TESTS_UNIT_SCENE_TESTING_H
#define SDRS_TESTS_UNIT_SCENE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <string.h>
#include "scene/scene.h"
#include "support/compare.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Returns all reported problems, one `line:column: severity: text` per line. */
static inline char* told_without(const Diagnostics* diagnostics, const char* omitted) {
  static const char* const NAMES[] = {"error", "warning", "note"};
  Text text = {0};
  text_add_bytes(&text, "", 0);
  for (int i = 0; i < diagnostics->count; i++) {
    const Diagnostic* one = &diagnostics->items[i];
    if (omitted && strstr(one->text, omitted)) continue;
    text_add(&text, "%d:%d: %s: %s\n", one->line, one->column, NAMES[one->severity], one->text);
  }
  return text.data;
}

static inline char* told(const Diagnostics* diagnostics) { return told_without(diagnostics, NULL); }

/* Many tests use velocity_gain under every integrator, of which the reader warns. */
#define WARNING_IN_TESTS "velocity_gain / dt"

/* Hands every file of YAML in a folder to `check`; there are at least so many. */
static inline void check_every_yaml(const char* folder, void (*check)(const char* path), int least) {
  DIR* entries = opendir(folder);
  assert_non_null(entries);
  int count = 0;
  for (const struct dirent* entry = readdir(entries); entry; entry = readdir(entries)) {
    const char* dot = strrchr(entry->d_name, '.');
    if (!dot || strcmp(dot, ".yaml") != 0) continue;
    Text path = {0};
    text_add(&path, "%s/%s", folder, entry->d_name);
    check(path.data);
    text_free(&path);
    count++;
  }
  closedir(entries);
  assert_in_range(count, least, 10000);
}

/* Returns the expected problem from the first line of an invalid file, "# expect: ". The caller frees it. */
static inline char* expected_problem(const char* path) {
  static const char PREFIX[] = "# expect: ";
  char* text;
  size_t length;
  assert_int_equal(file_read(path, &text, &length), STATUS_OK);
  if (strncmp(text, PREFIX, sizeof PREFIX - 1) != 0) fail_msg("%s does not begin with '%s'", path, PREFIX);
  Text line = {0};
  const char* start = text + sizeof PREFIX - 1;
  text_add_bytes(&line, start, strcspn(start, "\n"));
  memory_free(text);
  return line.data;
}

static inline Status parse_with(Scene* scene, Diagnostics* diagnostics, const char* text, const char* set) {
  SceneOverride override = {set};
  return scene_parse(scene, "folder/test.yaml", text, strlen(text), false, &override, set ? 1 : 0, diagnostics);
}

/* The text must be refused with exactly these problems. */
static inline void expect_problems(const char* text, const char* wanted) {
  Scene scene;
  Diagnostics diagnostics = {0};
  Status status = parse_with(&scene, &diagnostics, text, NULL);
  char* found = told(&diagnostics);
  if (strcmp(found, wanted) != 0) fail_msg("for the text\n%s\ntold\n%s\nwanted\n%s", text, found, wanted);
  assert_int_equal(status, STATUS_BAD_INPUT);
  memory_free(found);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

/* The text must load without any word. */
static inline Scene load(const char* text) {
  Scene scene;
  Diagnostics diagnostics = {0};
  Status status = parse_with(&scene, &diagnostics, text, NULL);
  char* found = told_without(&diagnostics, WARNING_IN_TESTS);
  if (status != STATUS_OK || *found) fail_msg("for the text\n%s\ntold\n%s", text, found);
  memory_free(found);
  diagnostics_free(&diagnostics);
  return scene;
}

static inline void compare_quat(Quat found, Quat wanted, double tolerance, const char* what) {
  compare_near(found.w, wanted.w, tolerance, "%s w", what);
  compare_vec3(vec3(found.x, found.y, found.z), vec3(wanted.x, wanted.y, wanted.z), tolerance, "%s", what);
}

#define BALL_LINK "  - {name: ball, mass: 1, shape: {type: sphere, radius: 0.1}}\n"
#define PI 3.14159265358979323846

#endif
