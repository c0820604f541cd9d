/* The fuzzers of robot files: any bytes give a scene that can be written and read again, or an error with a place.
 * Meshes are not looked for: their paths stay as they are, except where a scale has to be worked in. */
#ifndef SDRS_TESTS_ROBOT_FUZZING_H
#define SDRS_TESTS_ROBOT_FUZZING_H

#include "fuzz/fuzzing.h"
#include "robot/robot.h"

typedef Status (*RobotParse)(Scene* scene, const char* path, const char* text, size_t length,
                             const RobotOptions* options, RobotReport* report, Diagnostics* diagnostics);

static inline void check_robot_scene(const Scene* scene, const RobotReport* report) {
  for (int i = 0; i < scene->link_count; i++) {
    const SceneLink* link = &scene->links[i];
    require(link->name && *link->name && link->parent < i);
    for (int k = 0; k < link->shape_count; k++)
      require(link->shapes[k].shape >= 0 && link->shapes[k].shape < scene->shape_count);
  }
  for (int k = 0; k < report->joint_count; k++) {
    const RobotJointPlace* place = &report->joints[k];
    require(place->link >= 0 && place->link < scene->link_count);
    require(place->dof >= 0 && place->dof < scene_joint_dof(&scene->links[place->link].joint));
  }
}

/* What simulate would read is what was written. Numbers may leave the range of the format: 1e300 m is a shape here. */
static inline void check_robot_written(const Scene* scene) {
  Text text = {0};
  Scene again;
  Diagnostics diagnostics = {0};
  scene_write_yaml(scene, ".", &text);
  Status status = scene_parse(&again, "fuzz.yaml", text.data, text.length, false, NULL, 0, &diagnostics);
  require(status == STATUS_OK ? again.link_count == scene->link_count : diagnostics.error_count > 0);
  scene_free(&again);
  text_free(&text);
  diagnostics_free(&diagnostics);
}

static inline void import_robot(RobotParse parse, const char* path, const char* text, size_t size,
                                const RobotOptions* options) {
  Scene scene;
  RobotReport report;
  Diagnostics diagnostics = {0};
  Status status = parse(&scene, path, text, size, options, &report, &diagnostics);
  if (status == STATUS_OK) {
    require(diagnostics.error_count == 0);
    check_robot_scene(&scene, &report);
    check_robot_written(&scene);
  } else {
    require(status == STATUS_BAD_INPUT && diagnostics.error_count > 0);
  }
  robot_report_free(&report);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

static inline void fuzz_robot(RobotParse parse, const char* path, const uint8_t* data, size_t size) {
  static const RobotPackage packages[] = {{"robot", "/nowhere"}};
  static const RobotStart starts[] = {{"j", 0.1}};
  const RobotOptions plain = {.packages = packages, .package_count = 1};
  const RobotOptions other = {.packages = packages,
                              .package_count = 1,
                              .starts = starts,
                              .start_count = 1,
                              .free_base = true,
                              .ground = true,
                              .keep_fixed = true,
                              .visual = true,
                              .skip_unsupported = true,
                              .no_self_collision = true,
                              .density = 1000};
  char* text = fuzz_text(data, size);
  import_robot(parse, path, text, size, &plain);
  import_robot(parse, path, text, size, &other);
  memory_free(text);
}

#endif
