/* Masses of the shapes of links that have no mass in the URDF file, but are merged with others that have one. */
#include <string.h>

#include "robot/urdf.h"

MassMoment urdf_shapes_moment(const UrdfBuild* build, int target, int first, int count, double density) {
  MassMoment moment = mass_moment_zero();
  Scene scene = {0};
  Model model = {0};
  Diagnostics unsaid = {0}; /* the model of the complete scene reports the same problems */
  if (urdf_take_defaults(&scene, build->scene->path) == STATUS_OK) {
    const SceneLink* source = &build->scene->links[target];
    SceneLink link = *source;
    link.parent = -1;
    link.fixed = true;
    link.joint.type = JOINT_FIXED;
    link.has_density = true;
    link.density = density;
    link.mass_model = MASS_UNIFORM;
    link.shapes = source->shapes + first;
    link.shape_count = count;
    scene.links = &link;
    scene.link_count = 1;
    scene.shapes = build->scene->shapes;
    scene.shape_count = build->scene->shape_count;
    model_create(&model, &scene, &unsaid);
    if (model.links && unsaid.error_count == 0) moment = model.links[0].moment;
    scene.links = NULL; /* borrowed */
    scene.link_count = 0;
    scene.shapes = NULL;
    scene.shape_count = 0;
  }
  model_destroy(&model);
  scene_free(&scene);
  diagnostics_free(&unsaid);
  return moment;
}
