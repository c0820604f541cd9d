/* Builds links, joints and trees, and numbers the degrees of freedom. */
#include <string.h>
#include "model/build.h"

static ModelLink link_from_scene(const SceneLink* source) {
  const SceneJoint* joint = &source->joint;
  ModelLink link = {.name = source->name,
                    .parent = source->parent,
                    .tree = -1,
                    .origin = {mat3_from_quat(joint->rotation), joint->position},
                    .joint = scene_joint(joint),
                    .prescribed = -1,
                    .collide = source->collide,
                    .gravity_compensation = source->gravity_compensation,
                    .limit_law = joint->limit_law,
                    .limit_stiffness = joint->limit_stiffness,
                    .limit_margin = joint->limit_margin,
                    .limit_restitution = joint->limit_restitution};
  link.dof_count = link.joint.dof_count;
  link.coordinate_count = link.joint.coordinate_count;
  for (int k = 0; k < link.dof_count; k++) {
    link.limited[k] = joint->limited[k];
    link.lower[k] = joint->lower[k];
    link.upper[k] = joint->upper[k];
    link.damping[k] = joint->damping[k];
    link.stiffness[k] = joint->stiffness[k];
    link.friction[k] = joint->friction[k];
    link.armature[k] = joint->armature[k];
    link.static_friction[k] = joint->static_friction[k];
    link.passive = link.passive || joint->stiffness[k] > 0 || joint->friction[k] > 0 || joint->armature[k] > 0 ||
                   joint->static_friction[k] > 0;
  }
  joint_coordinates_from_target(&link.joint, joint->rest, link.rest);
  link.friction_speed = joint->friction_speed;
  link.stribeck_speed = joint->stribeck_speed;
  return link;
}

/* Sets ModelLink.tree and ModelLink.rigid_group. A link without degrees of freedom belongs to its parent's tree. A link
 * with degrees of freedom belongs to its parent's tree, or starts a new tree if its parent is the world or a fixed
 * link. Two arms on one stand are therefore independent trees. Rigid group 0 is the world. */
static void assign_trees(Model* model) {
  int groups = 1;
  for (int i = 0; i < model->link_count; i++) {
    ModelLink* link = &model->links[i];
    const ModelLink* parent = link->parent < 0 ? NULL : &model->links[link->parent];
    link->tree = parent ? parent->tree : -1;
    link->rigid_group = parent ? parent->rigid_group : 0;
    if (link->dof_count == 0) continue;
    if (link->tree < 0) link->tree = model->tree_count++;
    link->rigid_group = groups++;
  }
  model->link_tree = MEMORY_NEW(int, model->link_count);
  for (int i = 0; i < model->link_count; i++) model->link_tree[i] = model->links[i].tree;
}

/* Numbers degrees of freedom and coordinates tree by tree. The Hessian of each tree is then one dense block. */
static void number_coordinates(Model* model) {
  int* coordinate_next = MEMORY_NEW(int, model->tree_count);
  model->trees = MEMORY_NEW(ModelTree, model->tree_count);
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    if (link->tree < 0) continue;
    model->trees[link->tree].dof_count += link->dof_count;
    coordinate_next[link->tree] += link->coordinate_count;
  }
  for (int t = 0; t < model->tree_count; t++) {
    int coordinates = coordinate_next[t];
    model->trees[t].dof_first = model->dof_count;
    coordinate_next[t] = model->coordinate_count;
    model->dof_count += model->trees[t].dof_count;
    model->coordinate_count += coordinates;
  }
  model->dof_link = MEMORY_NEW(int, model->dof_count);
  int* dof_next = MEMORY_NEW(int, model->tree_count);
  for (int i = 0; i < model->link_count; i++) {
    ModelLink* link = &model->links[i];
    if (link->tree < 0) continue;
    link->dof_first = model->trees[link->tree].dof_first + dof_next[link->tree];
    link->coordinate_first = coordinate_next[link->tree];
    dof_next[link->tree] += link->dof_count;
    coordinate_next[link->tree] += link->coordinate_count;
    for (int k = 0; k < link->dof_count; k++) model->dof_link[link->dof_first + k] = i;
  }
  memory_free(dof_next);
  memory_free(coordinate_next);
}

double model_spring_energy(const Model* model, const double* q) {
  double sum = 0;
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    double displacement[JOINT_MAX_DOF];
    if (!link->passive) continue;
    joint_difference(&link->joint, link->rest, q + link->coordinate_first, displacement);
    for (int k = 0; k < link->dof_count; k++) sum += 0.5 * link->stiffness[k] * displacement[k] * displacement[k];
  }
  return sum;
}

void build_tree(Builder* builder) {
  Model* model = builder->model;
  const Scene* scene = builder->scene;
  model->link_count = scene->link_count;
  model->links = MEMORY_NEW(ModelLink, scene->link_count);
  for (int i = 0; i < scene->link_count; i++) model->links[i] = link_from_scene(&scene->links[i]);
  assign_trees(model);
  number_coordinates(model);
  for (int i = 0; i < model->link_count; i++)
    for (int k = 0; k < JOINT_MAX_DOF; k++) model->armature = model->armature || model->links[i].armature[k] > 0;
}
