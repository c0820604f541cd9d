/* Helpers of the URDF tests. */
#ifndef SDRS_TESTS_UNIT_ROBOT_URDF_TESTING_H
#define SDRS_TESTS_UNIT_ROBOT_URDF_TESTING_H

#include "robot/robot.h"
#include "unit/scene/scene_testing.h"

#define INERTIAL(mass) \
  "<inertial><mass value='" #mass "'/><inertia ixx='1' iyy='2' izz='2.5' ixy='0' ixz='0' iyz='0'/></inertial>"
#define ENDS(parent, child) "<parent link='" parent "'/><child link='" child "'/>"

typedef struct {
  Scene scene;
  RobotReport report;
  Diagnostics diagnostics;
  Status status;
} UrdfCase;

static inline UrdfCase urdf_import(const char* text, const RobotOptions* options) {
  static const RobotOptions plain = {0};
  UrdfCase c = {0};
  c.status = robot_parse_urdf(&c.scene, "folder/test.urdf", text, strlen(text), options ? options : &plain, &c.report,
                              &c.diagnostics);
  return c;
}

static inline void urdf_case_free(UrdfCase* c) {
  scene_free(&c->scene);
  robot_report_free(&c->report);
  diagnostics_free(&c->diagnostics);
}

/* The file must give exactly these messages, and be refused when one is an error. */
static inline void expect_urdf(const char* text, const RobotOptions* options, const char* wanted) {
  UrdfCase c = urdf_import(text, options);
  char* found = told(&c.diagnostics);
  if (strcmp(found, wanted) != 0) {
    print_message("for\n%s\n", text);
    fail_msg("told\n%s\nwanted\n%s", found, wanted);
  }
  assert_int_equal(c.status, strstr(wanted, ": error: ") ? STATUS_BAD_INPUT : STATUS_OK);
  memory_free(found);
  urdf_case_free(&c);
}

/* The file must be read, whatever notes there are; free with urdf_case_free. */
static inline UrdfCase urdf_load(const char* text, const RobotOptions* options) {
  UrdfCase c = urdf_import(text, options);
  char* found = told(&c.diagnostics);
  if (c.status != STATUS_OK) fail_msg("for\n%s\ntold\n%s", text, found);
  memory_free(found);
  return c;
}

static inline const SceneLink* link_named(const UrdfCase* c, const char* name) {
  for (int i = 0; i < c->scene.link_count; i++)
    if (strcmp(c->scene.links[i].name, name) == 0) return &c->scene.links[i];
  fail_msg("no link '%s'", name);
  return NULL;
}

#endif
