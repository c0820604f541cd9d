/* Imports the armature A of free joints. MuJoCo adds A to the diagonal of the mass matrix in all six degrees of
 * freedom. This is equivalent to a point mass A at the body's origin and a rotational inertia A about all axes. The
 * point mass has no weight in MuJoCo, so a load removes its weight. */
#include "robot/mjcf.h"

static bool has_armature(const UrdfJoint* joint) { return joint->type == URDF_FLOATING && joint->armature > 0; }

/* Adds a point mass A = armature at the link's origin and a rotational inertia A about all axes. The link has the mass
 * m, the centre of mass c and the inertia I. With u = m A / (m + A) and the 3 x 3 identity E, the new inertia is I + A
 * E + u (c.c E - c c^T). It is about the new centre of mass m c / (m + A). */
static void add_to_link(UrdfLink* link, double armature) {
  double mass = link->mass + armature, reduced = link->mass * armature / mass;
  Vec3 c = link->center;
  const double offset[3] = {c.x, c.y, c.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      link->inertia.m[i][j] += (i == j ? armature + reduced * vec3_dot(c, c) : 0) - reduced * offset[i] * offset[j];
  link->center = vec3_scale(c, link->mass / mass);
  link->mass = mass;
}

void mjcf_add_armatures(MjcfModel* model) {
  for (int k = 0; k < model->robot.joint_count; k++) {
    UrdfJoint* joint = &model->robot.joints[k];
    if (!has_armature(joint)) continue;
    if (!model->options->from_shapes) {
      add_to_link(&model->robot.links[joint->child], joint->armature);
      continue;
    }
    mjcf_report_lost_force(model, "armature of free joints (with --mass-model)");
    joint->armature = 0;
  }
}

void mjcf_cancel_armature_weights(MjcfModel* model, const int* carrier, Scene* scene) {
  Vec3 gravity = scene->simulation.gravity;
  for (int k = 0; k < model->robot.joint_count; k++) {
    const UrdfJoint* joint = &model->robot.joints[k];
    const UrdfLink* link = &model->robot.links[joint->child];
    if (!has_armature(joint) || carrier[joint->child] < 0) continue;
    robot_remark(model->report, model->diagnostics, joint->place,
                 "the armature of free joint '%s' is replaced by %.6g kg at the origin of the body and %.6g kg m^2 "
                 "about all axes; a load cancels the weight of the added mass",
                 text_excerpt(joint->name).text, joint->armature, joint->armature);
    double weight = joint->armature * (1 - link->gravity_compensation);
    if (!(weight * vec3_norm(gravity) > 0)) continue;
    SceneLoad load = {.place = joint->place,
                      .link = carrier[joint->child],
                      .has_point = true,
                      .point = model->placed[joint->child].position};
    load.force = mjcf_constant_vector(vec3_sub(vec3(0, 0, 0), vec3_scale(gravity, weight)));
    mjcf_add_load(scene, &load);
  }
}
