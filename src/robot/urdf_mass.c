/* Masses of links that are merged into one, and masses of the shapes of links that have no mass in the URDF file. */
#include <assert.h>
#include <string.h>

#include "robot/urdf.h"

MassMoment urdf_shapes_moment(const UrdfBuild* build, int target, int first, int count, double density) {
  assert(first >= 0 && count >= 0 && density > 0);
  MassMoment moment = mass_moment_zero();
  Scene scene = {0};
  Model model = {0};
  Diagnostics ignored_diagnostics = {0}; /* the model of the complete scene reports the same problems */
  if (urdf_load_defaults(&scene, build->scene->path) == STATUS_OK) {
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
    model_create(&model, &scene, &ignored_diagnostics);
    if (model.links && ignored_diagnostics.error_count == 0) moment = model.links[0].moment;
    scene.links = NULL; /* the only link is a local variable, which must not be freed with the scene */
    scene.link_count = 0;
    scene.shapes = NULL;
    scene.shape_count = 0;
  }
  model_destroy(&model);
  scene_free(&scene);
  diagnostics_free(&ignored_diagnostics);
  return moment;
}

bool urdf_is_identity(const UrdfPose* pose) {
  const Vec3* p = &pose->position;
  const Quat* q = &pose->rotation;
  return p->x == 0 && p->y == 0 && p->z == 0 && q->x == 0 && q->y == 0 && q->z == 0;
}

/* Returns the difference between the inertias about a point and about the centre of mass, mass (|d|^2 E - d d^T) [kg
 * m^2]. d: vector between both points; E: identity matrix. */
static Mat3 parallel_axis_inertia(double mass, Vec3 d) {
  Mat3 square = mat3_scale(mat3_identity(), vec3_dot(d, d));
  return mat3_scale(mat3_sub(square, mat3_outer(d, d)), mass);
}

UrdfBody urdf_transformed_body(const UrdfLink* link, UrdfPose pose) {
  assert(link->mass >= 0);
  UrdfBody body = {link->mass, link->center, link->inertia, link};
  if (urdf_is_identity(&pose)) return body;
  Mat3 turn = mat3_from_quat(pose.rotation);
  body.center = vec3_add(mat3_mul_vec(turn, link->center), pose.position);
  body.inertia = mat3_mul(turn, mat3_mul(link->inertia, mat3_transpose(turn)));
  return body;
}

void urdf_add_mass(UrdfBuild* build, const UrdfLink* link, int target, UrdfPose pose) {
  UrdfBody *sum = &build->body[target], more = urdf_transformed_body(link, pose);
  if (!(link->mass > 0)) return;
  if (sum->mass == 0) {
    *sum = more;
    return;
  }
  double mass = sum->mass + more.mass;
  Vec3 center = vec3_add_scaled(vec3_scale(sum->center, sum->mass / mass), more.mass / mass, more.center);
  Mat3 first = mat3_add(sum->inertia, parallel_axis_inertia(sum->mass, vec3_sub(sum->center, center)));
  Mat3 second = mat3_add(more.inertia, parallel_axis_inertia(more.mass, vec3_sub(more.center, center)));
  *sum = (UrdfBody){mass, center, mat3_add(first, second), sum->from};
}

/* Computes the mass of a robot link without mass from its shapes, and adds it to the scene link, in which another robot
 * link has a mass. Warns if the density is not given. */
static void add_shape_mass(UrdfBuild* build, int from) {
  const UrdfLink* link = &build->robot->links[from];
  int target = build->carrier[from], first = build->shape_first[from], count = build->shape_number[from];
  double given = build->options->density, density = given > 0 ? given : DEFAULT_DENSITY;
  MassMoment moment = urdf_shapes_moment(build, target, first, count, density);
  double mass = mass_moment_mass(&moment);
  if (!(mass > 0)) return;
  UrdfLink part = {.inertial_place = link->place, .mass = mass, .center = mass_moment_center(&moment)};
  part.inertia = mass_moment_inertia_tensor(&moment);
  const UrdfLink* source = build->body[target].from;
  urdf_add_mass(build, &part, target, (UrdfPose){{0, 0, 0}, {1, 0, 0, 0}});
  build->body[target].from = source;
  if (!(given > 0))
    robot_warn(build->report, build->diagnostics, link->place,
               "link '%s' moves and has no mass: its shapes get 1000 kg/m^3, as in MuJoCo, %.3g kg; set another "
               "density by --density",
               text_excerpt(link->name).text, mass);
}

void urdf_add_shape_masses(UrdfBuild* build) {
  const UrdfRobot* robot = build->robot;
  const UrdfLink* first = NULL;
  Text names = {0};
  for (int n = 0; n < robot->link_count; n++) {
    int from = robot->order[n], target = build->carrier[from];
    const UrdfLink* link = &robot->links[from];
    if (target < 0 || !build->moves[target] || link->mass > 0 || build->shape_number[from] == 0) continue;
    const SceneLink* to = &build->scene->links[target];
    if (!(build->body[target].mass > 0)) continue;
    bool head = to->place.line == link->place.line && to->place.column == link->place.column;
    if (head || build->options->density > 0) {
      add_shape_mass(build, from);
      continue;
    }
    text_add(&names, "%s'%s' of '%s'", first ? ", " : "", text_excerpt(link->name).text, text_excerpt(to->name).text);
    if (!first) first = link;
  }
  if (first)
    robot_remark(build->report, build->diagnostics, first->place,
                 "links on fixed joints that have shapes but no mass are taken as massless; to give the shapes a mass, "
                 "set --density: %s",
                 names.data);
  text_free(&names);
}
