/* libFuzzer target: any bytes give a scene that can be written and read again, or an error with a place. Meshes are not
 * looked for: their paths stay as they are, except where a scale has to be worked in. */
#include <stdlib.h>
#include <string.h>
#include "robot/robot.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

static void check_scene(const Scene* scene, const RobotReport* report) {
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
static void check_written(const Scene* scene) {
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

static void import_once(const char* text, size_t size, const RobotOptions* options) {
  Scene scene;
  RobotReport report;
  Diagnostics diagnostics = {0};
  Status status = robot_parse_mjcf(&scene, "fuzz.xml", text, size, options, &report, &diagnostics);
  if (status == STATUS_OK) {
    require(diagnostics.error_count == 0);
    check_scene(&scene, &report);
    check_written(&scene);
  } else {
    require(status == STATUS_BAD_INPUT && diagnostics.error_count > 0);
  }
  robot_report_free(&report);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
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
  char* text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = '\0';
  import_once(text, size, &plain);
  import_once(text, size, &other);
  free(text);
  return 0;
}
