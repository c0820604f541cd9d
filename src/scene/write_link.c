/* Writes the links of a scene and their joints as YAML. */
#include <assert.h>

#include "scene/write_scene.h"

/* ---------------------------------------------------------------- joints */

static void write_axes(Text* out, const SceneJoint* joint) {
  static const char* const FREE[] = {"x", "y", "z", "rx", "ry", "rz"};
  const JointTypeRow* row = &JOINT_TABLE[joint->type];
  if (row->axis) write_key_vector(out, "axis", joint->axes[0]);
  if (row->axes) {
    text_add(out, ", axes: [");
    for (int i = 0; i < 2; i++) {
      write_numbers(out, (const double[3]){joint->axes[i].x, joint->axes[i].y, joint->axes[i].z}, 3);
      text_add(out, i == 0 ? ", " : "]");
    }
  }
  for (const JointParameterRow* number = JOINT_PARAMETERS; number->key; number++)
    if (words_index(number->types, row->word) >= 0) write_key_number(out, number->key, joint->parameters[number->slot]);
  if (!row->free_axes || joint->free_axes == FREE_ALL) return;
  const char* separator = ", free_axes: [";
  for (unsigned i = 0; i < 6; i++)
    if (joint->free_axes >> i & 1u) {
      text_add(out, "%s%s", separator, FREE[i]);
      separator = ", ";
    }
  text_add(out, "]");
}

static void write_limit(Text* out, double value) {
  if (isfinite(value))
    write_number(out, value);
  else
    text_add(out, "null");
}

/* Writes the limits of a joint: a pair or null for each scalar coordinate, and for the total angle of a quaternion. */
static void write_limits(Text* out, const SceneJoint* joint) {
  Joint made = scene_joint(joint);
  int count = made.scalar_count + made.quaternion;
  bool any = false;
  for (int i = 0; i < count; i++) any = any || joint->limited[i];
  if (!any) return;
  text_add(out, ", limits: [");
  for (int i = 0; i < count; i++) {
    text_add(out, i > 0 ? ", " : "");
    if (!joint->limited[i]) {
      text_add(out, "null");
      continue;
    }
    text_add(out, "[");
    write_limit(out, joint->lower[i]);
    text_add(out, ", ");
    write_limit(out, joint->upper[i]);
    text_add(out, "]");
  }
  text_add(out, "]");
}

static void write_swing_twist(Text* out, const SceneJoint* joint) {
  if (joint->type != JOINT_BALL || !(joint->limited[1] || joint->limited[2])) return;
  write_key_vector(out, "twist_axis", joint->axes[0]);
  if (joint->limited[1]) write_key_number(out, "swing", joint->upper[1]);
  if (!joint->limited[2]) return;
  text_add(out, ", twist: [");
  write_limit(out, joint->lower[2]);
  text_add(out, ", ");
  write_limit(out, joint->upper[2]);
  text_add(out, "]");
}

/* Writes the values of the joint's limit law that differ from the defaults. */
static void write_limit_law(Text* out, const SceneJoint* joint) {
  SceneJoint defaults = *joint;
  joint_default_limits(&defaults);
  if (joint->limit_law != defaults.limit_law) text_add(out, ", limit_law: penalty");
  if (!is_bitwise_equal(&joint->limit_stiffness, &defaults.limit_stiffness, sizeof(double)))
    write_key_number(out, "limit_stiffness", joint->limit_stiffness);
  if (!is_bitwise_equal(&joint->limit_margin, &defaults.limit_margin, sizeof(double)))
    write_key_number(out, "limit_margin", joint->limit_margin);
  if (joint->limit_restitution != 0) write_key_number(out, "limit_restitution", joint->limit_restitution);
}

static void write_joint(Text* out, const SceneJoint* joint) {
  text_add(out, "    joint: {type: %s", JOINT_TABLE[joint->type].word);
  if (joint->name) {
    text_add(out, ", name: ");
    write_text(out, joint->name);
  }
  write_pose(out, joint->position, joint->rotation);
  int dof = scene_joint_dof(joint);
  if (dof > 0) {
    write_axes(out, joint);
    write_limits(out, joint);
    write_swing_twist(out, joint);
    write_limit_law(out, joint);
    if (!all_zero(joint->damping, dof)) write_key_numbers(out, "damping", joint->damping, dof);
    if (!all_zero(joint->stiffness, dof)) {
      write_key_numbers(out, "stiffness", joint->stiffness, dof);
      write_key_numbers(out, "rest", joint->rest, dof);
    }
    bool sticks = !all_zero(joint->static_friction, dof);
    if (!all_zero(joint->friction, dof)) write_key_numbers(out, "friction", joint->friction, dof);
    if (sticks || !all_zero(joint->friction, dof)) write_key_number(out, "friction_speed", joint->friction_speed);
    if (sticks) {
      write_key_numbers(out, "static_friction", joint->static_friction, dof);
      write_key_number(out, "stribeck_speed", joint->stribeck_speed);
    }
    if (!all_zero(joint->armature, dof)) write_key_numbers(out, "armature", joint->armature, dof);
    if (!all_zero(joint->velocity_limit, dof)) write_key_numbers(out, "velocity_limit", joint->velocity_limit, dof);
  }
  text_add(out, "}\n");
}

/* ---------------------------------------------------------------- links */

const char* mass_model_name(MassModel model) {
  assert((unsigned)model < MASS_MODELS);
  static const char* const WORDS[MASS_MODELS] = {"vertices", "uniform", "given"};
  return WORDS[model];
}

static void write_mass(Text* out, const SceneLink* link) {
  if (link->has_mass || link->has_density) {
    text_add(out, link->has_mass ? "    mass: " : "    density: ");
    write_number(out, link->has_mass ? link->mass : link->density);
    text_add(out, "\n");
  }
  if (link->mass_model != MASS_BY_SHAPE) text_add(out, "    mass_model: %s\n", mass_model_name(link->mass_model));
  if (link->mass_model != MASS_GIVEN) return;
  text_add(out, "    center: ");
  write_numbers(out, (const double[3]){link->center.x, link->center.y, link->center.z}, 3);
  text_add(out, "\n    inertia: ");
  write_numbers(out, link->inertia, 6);
  text_add(out, "\n");
}

static void write_groups(Text* out, const SceneLink* link) {
  for (int i = 0; i < link->group_count; i++) {
    text_add(out, i == 0 ? "    groups: [" : ", ");
    write_text(out, link->groups[i]);
  }
  if (link->group_count > 0) text_add(out, "]\n");
}

static void write_shape_uses(const SceneWriter* writer, const SceneLink* link) {
  Text* out = writer->out;
  if (link->shape_count > 0) text_add(out, "    shapes:\n");
  for (int i = 0; i < link->shape_count; i++) {
    const SceneShapeUse* use = &link->shapes[i];
    text_add(out, "      - {shape: ");
    write_text(out, writer->shape_names[use->shape]);
    write_pose(out, use->position, use->rotation);
    text_add(out, "}\n");
  }
}

static void write_ties(Text* out, const SceneLink* link) {
  for (int k = 0; k < link->tie_count; k++) {
    const int* tie = link->ties[k];
    text_add(out, "%s[%d, %d, %d, %d]",
             k == 0       ? "    ties: ["
             : k % 8 == 0 ? ",\n      "
                          : ", ",
             tie[0], tie[1], tie[2], tie[3]);
  }
  if (link->ties) text_add(out, link->tie_count > 0 ? "]\n" : "    ties: []\n");
}

static void write_link(const SceneWriter* writer, const SceneLink* link) {
  Text* out = writer->out;
  text_add(out, "  - name: ");
  write_text(out, link->name);
  text_add(out, "\n");
  if (link->parent >= 0) {
    text_add(out, "    parent: ");
    write_text(out, writer->scene->links[link->parent].name);
    text_add(out, "\n");
  }
  write_joint(out, &link->joint);
  write_shape_uses(writer, link);
  write_mass(out, link);
  write_groups(out, link);
  if (!link->collide) text_add(out, "    collide: false\n");
  write_ties(out, link);
  write_material(out, &link->material, "    ", "\n");
  const double inherited = link->parent < 0 ? 0 : writer->scene->links[link->parent].gravity_compensation;
  if (!is_bitwise_equal(&link->gravity_compensation, &inherited, sizeof(double))) {
    text_add(out, "    gravity_compensation: ");
    write_number(out, link->gravity_compensation);
    text_add(out, "\n");
  }
  if (link->color[0] < 0) return;
  text_add(out, "    color: ");
  write_numbers(out, link->color, 3);
  text_add(out, "\n");
}

void write_links(const SceneWriter* writer) {
  const Scene* scene = writer->scene;
  text_add(writer->out, scene->link_count > 0 ? "links:\n" : "links: []\n");
  for (int i = 0; i < scene->link_count; i++) write_link(writer, &scene->links[i]);
}
