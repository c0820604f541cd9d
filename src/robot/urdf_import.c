/* Converts a URDF file to a scene: reads XML elements, then links and joints, builds the tree, and then the scene. */
#include <string.h>

#include "robot/urdf.h"

Status urdf_load_defaults(Scene* scene, const char* path) {
  static const char EMPTY[] = "links: []\n";
  Diagnostics none = {0};
  Status status = scene_parse(scene, path, EMPTY, strlen(EMPTY), false, NULL, 0, &none);
  diagnostics_free(&none);
  return status;
}

void urdf_set_scene_name(Scene* scene, const char* name) {
  if (!*name || strlen(name) > NAME_MAX_LENGTH || name_find_invalid_character(name) || name_has_invalid_ends(name))
    return;
  memory_free(scene->name);
  scene->name = memory_copy_text(name);
}

static bool import_tree(Scene* scene, const XmlElement* root, const RobotOptions* options, RobotReport* report,
                        Diagnostics* diagnostics) {
  UrdfRobot robot;
  bool good = urdf_read(&robot, root, options->visual, diagnostics);
  /* the tree is also checked if numbers are invalid, so that all errors are reported */
  good = robot.link_count > 0 && robot.link_count <= LINK_MAX && urdf_connect(&robot, options->lenient, diagnostics) &&
         good;
  if (good) {
    urdf_set_scene_name(scene, robot.name);
    if (robot.remarks.length > 0) text_add(&report->remarks, "%s", robot.remarks.data);
    good = urdf_scene(&robot, options, scene, report, NULL, NULL, diagnostics);
  } else {
    urdf_check_mesh_files(&robot, options, scene, diagnostics);
  }
  urdf_free(&robot);
  return good;
}

Status robot_parse_urdf(Scene* scene, const char* path, const char* text, size_t length, const RobotOptions* options,
                        RobotReport* report, Diagnostics* diagnostics) {
  XmlDocument document = {0};
  *report = (RobotReport){0};
  Status status = urdf_load_defaults(scene, path);
  if (status != STATUS_OK) return status;
  bool good = xml_read(&document, scene->path, text, length, diagnostics) &&
              import_tree(scene, document.root, options, report, diagnostics);
  xml_free(&document);
  return good ? STATUS_OK : STATUS_BAD_INPUT;
}

void robot_report_free(RobotReport* report) {
  for (int i = 0; i < report->joint_count; i++) memory_free(report->joints[i].name);
  for (int i = 0; i < report->file_count; i++) memory_free(report->files[i]);
  memory_free(report->files);
  memory_free(report->joints);
  text_free(&report->remarks);
  *report = (RobotReport){0};
}
