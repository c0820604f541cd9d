/* Links and joints from the scene, trees, and the numbering of degrees of freedom. */
#include <string.h>
#include "model/build.h"

static const Vec3 UNIT[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static void add_slide(ModelLink* link, Vec3 axis) { link->slide_axis[link->slide_count++] = axis; }

/* A free joint has a quaternion for three rotations, else one or two hinges in the order x, y, z. */
static void free_axes(ModelLink* link, unsigned axes) {
  Vec3 turning[3];
  int turning_count = 0;
  for (int k = 0; k < 3; k++) {
    if (axes & (unsigned)FREE_X << k) add_slide(link, UNIT[k]);
    if (axes & (unsigned)FREE_RX << k) turning[turning_count++] = UNIT[k];
  }
  static const RotationKind KIND[4] = {ROTATION_NONE, ROTATION_HINGE, ROTATION_UNIVERSAL, ROTATION_BALL};
  link->rotation = KIND[turning_count];
  if (turning_count == 3) return;
  for (int k = 0; k < turning_count; k++) link->hinge_axis[k] = turning[k];
}

static void joint_axes(ModelLink* link, const SceneJoint* joint) {
  switch (joint->type) {
    case JOINT_FIXED:
      break;
    case JOINT_SLIDE:
      add_slide(link, joint->axes[0]);
      break;
    case JOINT_BALL:
      link->rotation = ROTATION_BALL;
      break;
    case JOINT_FREE:
      free_axes(link, joint->free_axes);
      break;
    case JOINT_UNIVERSAL:
      link->hinge_axis[1] = joint->axes[1]; /* fall through */
    case JOINT_HINGE:
      link->rotation = joint->type == JOINT_HINGE ? ROTATION_HINGE : ROTATION_UNIVERSAL;
      link->hinge_axis[0] = joint->axes[0];
      break;
  }
}

static ModelLink link_from_scene(const SceneLink* source) {
  const SceneJoint* joint = &source->joint;
  ModelLink link = {.name = source->name,
                    .parent = source->parent,
                    .tree = -1,
                    .origin = {mat3_from_quat(joint->rotation), joint->position},
                    .prescribed = -1,
                    .collide = source->collide,
                    .limit_law = joint->limit_law,
                    .limit_stiffness = joint->limit_stiffness,
                    .limit_margin = joint->limit_margin};
  if (source->fixed) return link;
  joint_axes(&link, joint);
  link.dof_count = link.slide_count + (int)link.rotation;
  link.coordinate_count = link.dof_count + (link.rotation == ROTATION_BALL ? 1 : 0);
  for (int k = 0; k < link.dof_count; k++) {
    link.limited[k] = joint->limited[k];
    link.lower[k] = joint->lower[k];
    link.upper[k] = joint->upper[k];
    link.damping[k] = joint->damping[k];
  }
  return link;
}

/* A link without joint moves with its parent. One with a joint continues its parent's tree, or begins a new one on the
 * world and on links that cannot move: two arms on one fixed stand do not feel each other through it.
 * Rigid group 0 is the world. */
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
}

/* Tree by tree, so that the Hessian of each is one dense block. */
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

void build_tree(Builder* builder) {
  Model* model = builder->model;
  const Scene* scene = builder->scene;
  model->link_count = scene->link_count;
  model->links = MEMORY_NEW(ModelLink, scene->link_count);
  for (int i = 0; i < scene->link_count; i++) model->links[i] = link_from_scene(&scene->links[i]);
  assign_trees(model);
  number_coordinates(model);
}
