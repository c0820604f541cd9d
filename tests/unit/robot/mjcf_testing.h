/* Helpers of the MJCF tests. */
#ifndef SDRS_TESTS_UNIT_ROBOT_MJCF_TESTING_H
#define SDRS_TESTS_UNIT_ROBOT_MJCF_TESTING_H

#include "unit/robot/urdf_testing.h"

/* As if the text stood in a file of that path. */
static inline UrdfCase mjcf_import_at(const char* path, const char* text, const RobotOptions* options) {
  static const RobotOptions plain = {0};
  UrdfCase c = {0};
  c.status =
      robot_parse_mjcf(&c.scene, path, text, strlen(text), options ? options : &plain, &c.report, &c.diagnostics);
  return c;
}

static inline UrdfCase mjcf_import(const char* text, const RobotOptions* options) {
  return mjcf_import_at("folder/test.xml", text, options);
}

static inline UrdfCase mjcf_load_at(const char* path, const char* text, const RobotOptions* options) {
  UrdfCase c = mjcf_import_at(path, text, options);
  char* found = told(&c.diagnostics);
  if (c.status != STATUS_OK) fail_msg("for\n%s\ntold\n%s", text, found);
  memory_free(found);
  return c;
}

static inline UrdfCase mjcf_load(const char* text, const RobotOptions* options) {
  return mjcf_load_at("folder/test.xml", text, options);
}

/* In either order. */
static inline bool is_excluded(const UrdfCase* c, const char* a, const char* b) {
  for (int i = 0; i < c->scene.contact.exclude_count; i++) {
    char** pair = c->scene.contact.exclude[i];
    if ((strcmp(pair[0], a) == 0 && strcmp(pair[1], b) == 0) || (strcmp(pair[0], b) == 0 && strcmp(pair[1], a) == 0))
      return true;
  }
  return false;
}

static inline void expect_told(const char* text, const RobotOptions* options, const char* wanted) {
  UrdfCase c = mjcf_import(text, options);
  char* found = told(&c.diagnostics);
  if (!strstr(found, wanted)) fail_msg("for\n%s\ntold\n%s\nwanted\n%s", text, found, wanted);
  assert_int_equal(c.status, strstr(found, ": error: ") ? STATUS_BAD_INPUT : STATUS_OK);
  memory_free(found);
  urdf_case_free(&c);
}

#define WORLD(inside) "<mujoco><worldbody>" inside "</worldbody></mujoco>"

#endif
