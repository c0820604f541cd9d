/* Physical parameters as variables. A table entry per kind of parameter gives the scene values that it changes. */
#include <string.h>

#include "optimize/design_build.h"

/* Owner of a parameter: the scene, a link, a degree of freedom of its joint, and so on. OF_..._AXES: three values, one
 * per axis. OF_ITS_OWN: a function for this kind of parameter adds its variables. */
typedef enum { OF_SCENE, OF_LINK, OF_DOF, OF_SCENE_AXES, OF_LINK_AXES, OF_PAIR, OF_CLOSURE, OF_ITS_OWN } ParameterOwner;

typedef struct {
  const char* word; /* part of the variable's name */
  ParameterOwner of;
  OverrideKind kind;
  int index;          /* index of the parameter: a constant JOINT_..., or the index of a contact parameter */
  double lower_bound; /* lower bound relative to the initial value; -1: none */
} ParameterKind;

/* Lower bound of variables that must stay positive, relative to their initial value. */
#define POSITIVE_MIN 1e-3
#define ALL_LINKS (-1)

static const ParameterKind KINDS[PARAMETER_TYPE_COUNT] = {
    [PARAMETER_MASS] = {"mass", OF_LINK, OVERRIDE_MASS, 0, POSITIVE_MIN},
    [PARAMETER_CENTER] = {"center", OF_LINK_AXES, OVERRIDE_CENTER, 0, ALL_LINKS},
    [PARAMETER_INERTIA] = {"inertia", OF_ITS_OWN, OVERRIDE_INERTIA, 0, ALL_LINKS},
    [PARAMETER_SIZE] = {"size", OF_ITS_OWN, OVERRIDE_VERTEX, 0, POSITIVE_MIN},
    [PARAMETER_DAMPING] = {"damping", OF_DOF, OVERRIDE_JOINT, JOINT_DAMPING, 0},
    [PARAMETER_SPRING] = {"stiffness", OF_DOF, OVERRIDE_JOINT, JOINT_STIFFNESS, 0},
    [PARAMETER_DRY] = {"friction", OF_DOF, OVERRIDE_JOINT, JOINT_FRICTION, 0},
    [PARAMETER_ARMATURE] = {"armature", OF_DOF, OVERRIDE_JOINT, JOINT_ARMATURE, POSITIVE_MIN},
    [PARAMETER_STATIC] = {"static_friction", OF_DOF, OVERRIDE_JOINT, JOINT_STATIC_FRICTION, POSITIVE_MIN},
    [PARAMETER_LOWER] = {"lower_limit", OF_DOF, OVERRIDE_JOINT, JOINT_LOWER, ALL_LINKS},
    [PARAMETER_UPPER] = {"upper_limit", OF_DOF, OVERRIDE_JOINT, JOINT_UPPER, ALL_LINKS},
    [PARAMETER_LIMIT_RESTITUTION] = {"limit_restitution", OF_DOF, OVERRIDE_JOINT, JOINT_RESTITUTION, POSITIVE_MIN},
    [PARAMETER_AXIS] = {"axis", OF_ITS_OWN, OVERRIDE_AXIS, 0, ALL_LINKS},
    [PARAMETER_ROTATION] = {"rotation", OF_ITS_OWN, OVERRIDE_ROTATION, 0, ALL_LINKS},
    [PARAMETER_SHAPE_SIZE] = {"size", OF_ITS_OWN, OVERRIDE_SHAPE, 0, POSITIVE_MIN},
    [PARAMETER_SHAPE_FORM] = {"form", OF_ITS_OWN, OVERRIDE_SHAPE, 0, POSITIVE_MIN},
    [PARAMETER_LINK_FRICTION] = {"friction", OF_LINK, OVERRIDE_MATERIAL, MATERIAL_FRICTION, POSITIVE_MIN},
    [PARAMETER_LINK_RESTITUTION] = {"restitution", OF_LINK, OVERRIDE_MATERIAL, MATERIAL_RESTITUTION, POSITIVE_MIN},
    [PARAMETER_LINK_ROLLING] = {"rolling", OF_LINK, OVERRIDE_MATERIAL, MATERIAL_ROLLING, POSITIVE_MIN},
    [PARAMETER_LINK_SPINNING] = {"spinning", OF_LINK, OVERRIDE_MATERIAL, MATERIAL_SPINNING, POSITIVE_MIN},
    [PARAMETER_LINK_FRICTION_ALONG] = {"friction_along", OF_LINK, OVERRIDE_MATERIAL, MATERIAL_FRICTION_ALONG,
                                       POSITIVE_MIN},
    [PARAMETER_LINK_STATIC_FRICTION] = {"static_friction", OF_LINK, OVERRIDE_MATERIAL, MATERIAL_STATIC_FRICTION,
                                        POSITIVE_MIN},
    [PARAMETER_LINK_STRIBECK_SPEED] = {"stribeck_speed", OF_LINK, OVERRIDE_MATERIAL, MATERIAL_STRIBECK_SPEED,
                                       POSITIVE_MIN},
    [PARAMETER_PAIR_FRICTION] = {"friction", OF_PAIR, OVERRIDE_MATERIAL, MATERIAL_FRICTION, POSITIVE_MIN},
    [PARAMETER_PAIR_RESTITUTION] = {"restitution", OF_PAIR, OVERRIDE_MATERIAL, MATERIAL_RESTITUTION, POSITIVE_MIN},
    [PARAMETER_PAIR_ROLLING] = {"rolling", OF_PAIR, OVERRIDE_MATERIAL, MATERIAL_ROLLING, POSITIVE_MIN},
    [PARAMETER_PAIR_SPINNING] = {"spinning", OF_PAIR, OVERRIDE_MATERIAL, MATERIAL_SPINNING, POSITIVE_MIN},
    [PARAMETER_PAIR_FRICTION_ALONG] = {"friction_along", OF_PAIR, OVERRIDE_MATERIAL, MATERIAL_FRICTION_ALONG,
                                       POSITIVE_MIN},
    [PARAMETER_PAIR_STATIC_FRICTION] = {"static_friction", OF_PAIR, OVERRIDE_MATERIAL, MATERIAL_STATIC_FRICTION,
                                        POSITIVE_MIN},
    [PARAMETER_PAIR_STRIBECK_SPEED] = {"stribeck_speed", OF_PAIR, OVERRIDE_MATERIAL, MATERIAL_STRIBECK_SPEED,
                                       POSITIVE_MIN},
    [PARAMETER_CLOSURE_POINT] = {"point", OF_CLOSURE, OVERRIDE_CLOSURE, CLOSURE_NUMBER_POINT, ALL_LINKS},
    [PARAMETER_CLOSURE_AXIS] = {"axis", OF_CLOSURE, OVERRIDE_CLOSURE, CLOSURE_NUMBER_AXIS, ALL_LINKS},
    [PARAMETER_CLOSURE_LENGTH] = {"length", OF_CLOSURE, OVERRIDE_CLOSURE, CLOSURE_NUMBER_LENGTH, POSITIVE_MIN},
    [PARAMETER_RATIO] = {"ratio", OF_ITS_OWN, OVERRIDE_RATIO, 0, ALL_LINKS},
    [PARAMETER_OFFSET] = {"offset", OF_ITS_OWN, OVERRIDE_RATIO, 0, ALL_LINKS},
    [PARAMETER_TENDON_POINT] = {"tendon_point", OF_ITS_OWN, OVERRIDE_TENDON, TENDON_NUMBER_POINTS, ALL_LINKS},
    [PARAMETER_TENDON_STIFFNESS] = {"tendon_stiffness", OF_ITS_OWN, OVERRIDE_TENDON, TENDON_NUMBER_STIFFNESS,
                                    POSITIVE_MIN},
    [PARAMETER_TENDON_REST] = {"tendon_rest", OF_ITS_OWN, OVERRIDE_TENDON, TENDON_NUMBER_REST, POSITIVE_MIN},
    [PARAMETER_TENDON_FRICTION] = {"tendon_friction", OF_ITS_OWN, OVERRIDE_TENDON, TENDON_NUMBER_FRICTION,
                                   POSITIVE_MIN},
    [PARAMETER_TENDON_WRAP_RADIUS] = {"tendon_wrap_radius", OF_ITS_OWN, OVERRIDE_WRAP, WRAP_NUMBER_RADIUS,
                                      POSITIVE_MIN},
    [PARAMETER_TENDON_WRAP_POSITION] = {"tendon_wrap_position", OF_ITS_OWN, OVERRIDE_WRAP, WRAP_NUMBER_POSITION,
                                        ALL_LINKS},
    [PARAMETER_TENDON_WRAP_AXIS] = {"tendon_wrap_axis", OF_ITS_OWN, OVERRIDE_WRAP, WRAP_NUMBER_AXIS, ALL_LINKS},
    [PARAMETER_BUSHING_STIFFNESS] = {"bushing_stiffness", OF_ITS_OWN, OVERRIDE_BUSHING, BUSHING_STIFFNESS,
                                     POSITIVE_MIN},
    [PARAMETER_BUSHING_DAMPING] = {"bushing_damping", OF_ITS_OWN, OVERRIDE_BUSHING, BUSHING_DAMPING, 0},
    [PARAMETER_BUSHING_PRELOAD] = {"bushing_preload", OF_ITS_OWN, OVERRIDE_BUSHING, BUSHING_PRELOAD, ALL_LINKS},
    [PARAMETER_BUSHING_POSITION_A] = {"bushing_position_a", OF_ITS_OWN, OVERRIDE_BUSHING, BUSHING_POSITION_A,
                                      ALL_LINKS},
    [PARAMETER_BUSHING_POSITION_B] = {"bushing_position_b", OF_ITS_OWN, OVERRIDE_BUSHING, BUSHING_POSITION_B,
                                      ALL_LINKS},
    [PARAMETER_GRAVITY] = {"gravity", OF_SCENE_AXES, OVERRIDE_GRAVITY, 0, ALL_LINKS},
    [PARAMETER_FLUID_DENSITY] = {"fluid_density", OF_SCENE, OVERRIDE_FLUID, FLUID_DENSITY, POSITIVE_MIN},
    [PARAMETER_FLUID_VISCOSITY] = {"fluid_viscosity", OF_SCENE, OVERRIDE_FLUID, FLUID_VISCOSITY, POSITIVE_MIN},
    [PARAMETER_FLUID_VELOCITY] = {"fluid_velocity", OF_SCENE_AXES, OVERRIDE_FLUID, FLUID_VELOCITY, ALL_LINKS},
    [PARAMETER_FLUID_LEVEL] = {"fluid_level", OF_SCENE, OVERRIDE_FLUID, FLUID_LEVEL, ALL_LINKS},
    [PARAMETER_FRICTION] = {"friction", OF_SCENE, OVERRIDE_CONTACT, CONTACT_FRICTION, 0},
    [PARAMETER_SUPPORT] = {"support", OF_SCENE, OVERRIDE_CONTACT, CONTACT_SUPPORT, POSITIVE_MIN},
    [PARAMETER_STIFFNESS] = {"stiffness", OF_SCENE, OVERRIDE_CONTACT, CONTACT_STIFFNESS, POSITIVE_MIN},
    [PARAMETER_SMOOTHING] = {"smoothing", OF_SCENE, OVERRIDE_CONTACT, CONTACT_SMOOTHING, POSITIVE_MIN},
    [PARAMETER_REST_SPEED] = {"rest_speed", OF_SCENE, OVERRIDE_CONTACT, CONTACT_REST_SPEED, POSITIVE_MIN},
    [PARAMETER_RESTITUTION] = {"restitution", OF_SCENE, OVERRIDE_MATERIAL, MATERIAL_RESTITUTION, POSITIVE_MIN},
    [PARAMETER_ROLLING] = {"rolling", OF_SCENE, OVERRIDE_MATERIAL, MATERIAL_ROLLING, POSITIVE_MIN},
    [PARAMETER_SPINNING] = {"spinning", OF_SCENE, OVERRIDE_MATERIAL, MATERIAL_SPINNING, POSITIVE_MIN},
    [PARAMETER_STATIC_FRICTION] = {"static_friction", OF_SCENE, OVERRIDE_MATERIAL, MATERIAL_STATIC_FRICTION,
                                   POSITIVE_MIN},
    [PARAMETER_STRIBECK_SPEED] = {"stribeck_speed", OF_SCENE, OVERRIDE_MATERIAL, MATERIAL_STRIBECK_SPEED, POSITIVE_MIN},
};

/* Variables of one item of the task that are being added. */
typedef struct {
  DesignBuild* b;
  const TaskParameter* item;
  const ParameterKind* kind;
  int tied; /* index of the variable that all values of the item share; -1 before the variable is added */
  int tied_length[ROUND_PARAMETERS_MAX]; /* index of the variable that all values of one length of round solids share;
                                            -1 before the variable is added */
  const char* former;                    /* name of the next variable in earlier versions; NULL: the same */
} ItemBuild;

static bool report_refusal(const ItemBuild* l, const TaskName* link, const char* why) {
  SourcePosition place = link ? link->place : l->item->place;
  diagnostics_add(l->b->diagnostics, SEVERITY_ERROR, place, "%s%s%s: %s", link ? "link '" : "the scene",
                  link ? link->text : "", link ? "'" : "", why);
  return false;
}

/* Returns the variable of the next value of the item: a new one, or the shared one if the item ties its values. */
static int get_variable(ItemBuild* l, double initial, const char* name) {
  const TaskParameter* item = l->item;
  if (item->tie && l->tied >= 0) return l->tied;
  VariableSpec spec = {item->place, item->within, item->low, item->high, 1, item->prior, item->step};
  if (l->kind->lower_bound >= 0) spec.low = fmax(spec.low, l->kind->lower_bound * initial);
  bool restitution = l->kind->kind == OVERRIDE_MATERIAL && l->kind->index == MATERIAL_RESTITUTION;
  if (restitution || l->item->type == PARAMETER_LIMIT_RESTITUTION) spec.high = fmin(spec.high, 1);
  l->tied = design_new_variable(l->b, &spec, initial, "%s", name);
  if (l->former) design_set_former_name(l->b, l->tied, l->former);
  if (l->kind->lower_bound >= 0) l->b->design->variables[l->tied].scale = fabs(initial);
  return l->tied;
}

static void add_value(ItemBuild* l, int link, int part, int index, const char* name) {
  ModelOverride at = {l->kind->kind, link, part, index, 0};
  double initial = *model_scene_number(l->b->scene, &at);
  if (l->kind->lower_bound > 0 && !(initial > 0)) {
    diagnostics_add(l->b->diagnostics, SEVERITY_ERROR, l->item->place,
                    "%s is %.6g, but must start above 0 to be a variable: set a positive value in the scene", name,
                    initial);
    return;
  }
  int variable = get_variable(l, initial, name);
  design_add_number(l->b->design, l->kind->kind, link, part, index, l->b->design->variables[variable].initial);
  design_add_term(l->b->design, variable, 1);
}

static const char* format_name(char* out, size_t size, const char* owner, const char* word, const char* suffix) {
  snprintf(out, size, "%s/%s%s%s", owner, word, *suffix ? "/" : "", suffix);
  return out;
}

/* Returns true if degree of freedom k of the link's joint has a value of this kind. The restitution of a joint belongs
 * to its first degree of freedom. Ball joints have only damping, stiffness and angle limits. */
static bool joint_has_value(const ItemBuild* l, const ModelLink* joint_link, int k) {
  int index = l->kind->index;
  if (index >= JOINT_FRICTION && index < JOINT_LOWER && k >= joint_link->joint.scalar_count) return false;
  if (index == JOINT_LOWER) return joint_link->limited[k] && isfinite(joint_link->lower[k]);
  if (index == JOINT_UPPER) return joint_link->limited[k] && isfinite(joint_link->upper[k]);
  return index != JOINT_RESTITUTION || k == 0;
}

static bool add_joint_values(ItemBuild* l, const TaskName* name, int link) {
  const ModelLink* joint_link = &l->b->model->links[link];
  char text[NAME_MAX_LENGTH + 40], suffix[16];
  int listed = 0;
  for (int k = 0; k < joint_link->dof_count; k++) {
    if (!l->item->dof[k]) continue;
    if (!joint_has_value(l, joint_link, k)) continue;
    snprintf(suffix, sizeof suffix, "%d", k);
    add_value(l, link, l->kind->index, k, format_name(text, sizeof text, name->text, l->kind->word, suffix));
    listed++;
  }
  if (listed == 0 && joint_link->joint.quaternion)
    return report_refusal(
        l, name,
        "the rotations of ball and free joints have no variable of this type: choose another type, or "
        "replace the joint by hinges");
  return listed > 0 ||
         report_refusal(l, name,
                        "its joint has no such number in the selected degrees of freedom: correct 'dof', or set "
                        "the number in the scene");
}

static void add_axis_values(ItemBuild* l, const char* owner, int link) {
  char text[NAME_MAX_LENGTH + 40];
  for (int k = 0; k < 3; k++) {
    const char suffix[2] = {"xyz"[k], 0};
    if (l->item->axes[k]) {
      const char* name = format_name(text, sizeof text, owner, l->kind->word, suffix);
      add_value(l, link, 0, l->kind->index + k, name);
    }
  }
}

/* ---------------------------------------------------------------- inertia (design.md, D9) */

static bool add_inertia_scale(ItemBuild* l, const TaskName* name, int link) {
  char text[NAME_MAX_LENGTH + 40];
  ItemBuild scale = *l;
  ParameterKind kind = *l->kind;
  kind.lower_bound = POSITIVE_MIN;
  scale.kind = &kind;
  int variable = get_variable(&scale, 1, format_name(text, sizeof text, name->text, "inertia", "scale"));
  l->tied = scale.tied;
  for (int k = 0; k < 6; k++) {
    double base = l->b->scene->links[link].inertia[k];
    design_add_number(l->b->design, OVERRIDE_INERTIA, link, 0, k, base);
    design_add_term(l->b->design, variable, base);
  }
  return true;
}

static bool add_inertia(ItemBuild* l, const TaskName* name, int link) {
  static const char* const word[6] = {"log_x", "log_y", "log_z", "xy", "xz", "yz"};
  Design* d = l->b->design;
  bool full = l->item->form == INERTIA_FULL;
  char text[NAME_MAX_LENGTH + 40];
  double root[6];
  if (l->item->form == INERTIA_SCALE) return add_inertia_scale(l, name, link);
  if (l->item->tie)
    return report_refusal(l, name, "only inertias with form: scale can be tied: set form: scale, or remove 'tie'");
  if (!inertia_factor(l->b->scene->links[link].inertia, root))
    return report_refusal(
        l, name,
        "its inertia has a principal moment equal to the sum of the others (a flat body), so the moments "
        "cannot vary: use form: scale, or change the inertia in the scene");
  DesignInertia inertia = {.number_first = d->number_count, .variable_first = d->variable_count, .full = full};
  inertia.above[0] = root[3] / root[1];
  inertia.above[1] = root[4] / root[2];
  inertia.above[2] = root[5] / root[2];
  for (int k = 0; k < (full ? 6 : 3); k++)
    get_variable(l, k < 3 ? math_log(root[k]) : root[k],
                 format_name(text, sizeof text, name->text, "inertia", word[k]));
  for (int k = 0; k < 6; k++) design_add_number(d, OVERRIDE_INERTIA, link, 0, k, l->b->scene->links[link].inertia[k]);
  d->inertias = memory_grow_array(d->inertias, sizeof(DesignInertia), d->inertia_count, &d->inertia_capacity);
  d->inertias[d->inertia_count++] = inertia;
  return true;
}

/* ---------------------------------------------------------------- directions of joints (D11) */

/* Selects the axes about which a joint axis is tilted by default: those to which it is not parallel. */
static void default_tilt_axes(const TaskParameter* item, Vec3 axis, bool axes[3]) {
  int along = 0;
  for (int k = 0; k < 3; k++)
    if (fabs(design_component(axis, k)) > fabs(design_component(axis, along))) along = k;
  for (int k = 0; k < 3; k++) axes[k] = item->has_axes ? item->axes[k] : k != along;
}

static bool add_rotation(ItemBuild* l, const TaskName* name, int link) {
  Design* d = l->b->design;
  const SceneJoint* joint = &l->b->scene->links[link].joint;
  char text[NAME_MAX_LENGTH + 40];
  DesignRotation rotation = {.changes_axis = l->item->type == PARAMETER_AXIS, .number_first = d->number_count};
  rotation.axis = joint->axes[0];
  rotation.rotation = joint->rotation;
  if (l->item->tie) return report_refusal(l, name, "directions cannot be tied: remove 'tie'");
  if (joint_is_floating(&l->b->model->links[link].joint) && l->b->model->links[link].parent < 0)
    return report_refusal(
        l, name, "the link is free, so its orientation belongs to the initial state: use 'initial' with turns: true");
  if (rotation.changes_axis && !JOINT_TABLE[joint->type].axis)
    return report_refusal(l, name, "its joint has no axis: name a link whose joint has an axis, such as a hinge");
  bool axes[3] = {l->item->axes[0], l->item->axes[1], l->item->axes[2]};
  if (rotation.changes_axis) default_tilt_axes(l->item, rotation.axis, axes);
  for (int k = 0; k < 3; k++) {
    const char suffix[2] = {"xyz"[k], 0};
    rotation.variable[k] =
        axes[k] ? get_variable(l, 0, format_name(text, sizeof text, name->text, l->kind->word, suffix)) : -1;
  }
  const double q[4] = {rotation.rotation.w, rotation.rotation.x, rotation.rotation.y, rotation.rotation.z};
  for (int k = 0; k < (rotation.changes_axis ? 3 : 4); k++)
    design_add_number(d, l->kind->kind, link, 0, k, rotation.changes_axis ? design_component(rotation.axis, k) : q[k]);
  d->turns = memory_grow_array(d->turns, sizeof(DesignRotation), d->turn_count, &d->turn_capacity);
  d->turns[d->turn_count++] = rotation;
  return true;
}

/* Adds the variables of the last item of contact.pairs that applies to two links. */
static bool add_pair_value(ItemBuild* l) {
  const TaskName* name = l->item->pair;
  const SceneContact* c = &l->b->scene->contact;
  char text[2 * NAME_MAX_LENGTH + 40];
  int found = -1;
  for (int k = 0; k < c->pair_count; k++) {
    char* const* pair = c->pairs[k].name;
    bool same = strcmp(pair[0], name[0].text) == 0 && strcmp(pair[1], name[1].text) == 0;
    bool swapped = strcmp(pair[0], name[1].text) == 0 && strcmp(pair[1], name[0].text) == 0;
    if ((same || swapped) && c->pairs[k].material.given[l->kind->index]) found = k;
  }
  if (found < 0) {
    diagnostics_add(l->b->diagnostics, SEVERITY_ERROR, name[0].place,
                    "no item of contact.pairs gives the %s of '%s' and '%s': add one to the scene", l->kind->word,
                    name[0].text, name[1].text);
    return false;
  }
  snprintf(text, sizeof text, "%s+%s/%s", name[0].text, name[1].text, l->kind->word);
  add_value(l, -1, found, l->kind->index, text);
  return true;
}

/* Returns the reason why a number of a closure cannot be a design variable, or NULL if it can be one. The text is
 * static. A number that changes the initial gap of the closure cannot be a variable. */
static const char* find_closure_obstacle(const SceneClosure* c, int index) {
  bool far = c->type == CLOSURE_DISTANCE && c->length > 0;
  if (index == CLOSURE_NUMBER_LENGTH)
    return far && c->has_axis
               ? NULL
               : "its length follows from the positions of its ends: give the closure 'length' and 'axis' in the scene";
  if (index == CLOSURE_NUMBER_AXIS) return c->has_axis ? NULL : "'axis' is missing: set 'axis' in the scene";
  if (!c->has_point) return "'point' is missing: set 'point' in the scene";
  return far && !c->has_axis ? "'length' is given without 'axis', so the point cannot vary: set 'axis' in the scene"
                             : NULL;
}

static void add_closure_values(ItemBuild* l, int k, const char* owner) {
  const SceneClosure* c = &l->b->scene->closures[k];
  const char* why = find_closure_obstacle(c, l->kind->index);
  char text[2 * NAME_MAX_LENGTH + 60];
  bool axes[3] = {l->item->axes[0], l->item->axes[1], l->item->axes[2]};
  if (why) {
    diagnostics_add(l->b->diagnostics, SEVERITY_ERROR, l->item->place, "the closure %s: %s", owner, why);
    return;
  }
  if (l->kind->index == CLOSURE_NUMBER_LENGTH) {
    add_value(l, c->a, k, CLOSURE_NUMBER_LENGTH, format_name(text, sizeof text, owner, l->kind->word, ""));
    return;
  }
  if (l->kind->index == CLOSURE_NUMBER_AXIS) default_tilt_axes(l->item, c->axis, axes);
  for (int i = 0; i < 3; i++) {
    const char suffix[2] = {"xyz"[i], 0};
    if (axes[i])
      add_value(l, c->a, k, l->kind->index + i, format_name(text, sizeof text, owner, l->kind->word, suffix));
  }
}

static bool is_closure_end(const Scene* scene, int link, const TaskName* name) {
  const char* text = name->text ? name->text : "world";
  return strcmp(link < 0 ? "world" : scene->links[link].name, text) == 0;
}

/* Adds the variables of all closures between two links. With several closures the names contain their number. */
static void add_all_closure_values(ItemBuild* l) {
  const Scene* scene = l->b->scene;
  const TaskName* name = l->item->pair;
  char owner[2 * NAME_MAX_LENGTH + 20];
  int found = 0, several = 0;
  for (int round = 0; round < 2; round++)
    for (int k = 0; k < scene->closure_count; k++) {
      if (!is_closure_end(scene, scene->closures[k].a, &name[0]) ||
          !is_closure_end(scene, scene->closures[k].b, &name[1]))
        continue;
      if (round == 0) {
        several++;
        continue;
      }
      int used = snprintf(owner, sizeof owner, "%s-%s", name[0].text, name[1].text ? name[1].text : "world");
      if (several > 1) snprintf(owner + used, sizeof owner - (size_t)used, "#%d", found);
      add_closure_values(l, k, owner);
      found++;
    }
  if (found == 0)
    diagnostics_add(l->b->diagnostics, SEVERITY_ERROR, name[0].place,
                    "no closure has '%s' as a and '%s' as b: correct the names of the links", name[0].text,
                    name[1].text ? name[1].text : "world");
}

static bool add_coupling_ratios(ItemBuild* l, const TaskName* name, int link) {
  const Scene* scene = l->b->scene;
  char text[NAME_MAX_LENGTH + 40], suffix[24];
  int listed = 0;
  for (int k = 0; k < scene->coupling_count; k++) {
    const SceneCoupling* c = &scene->couplings[k];
    if (c->terms[0].link != link) continue;
    if (c->has_offset)
      return report_refusal(
          l, name,
          "its coupling has an 'offset', so its ratios cannot be variables: remove 'offset', which then "
          "follows from the initial coordinates, or use a parameter of type offset");
    for (int i = 1; i < c->count; i++, listed++) {
      snprintf(suffix, sizeof suffix, "%d", listed);
      add_value(l, link, k, i, format_name(text, sizeof text, name->text, l->kind->word, suffix));
    }
  }
  return listed > 0 ||
         report_refusal(
             l, name,
             "its joint follows no other joint by a coupling: add a coupling to the scene, or name another link");
}

/* Adds variables of coupling offsets that the scene gives. Other offsets follow from the initial state. */
static bool add_coupling_offsets(ItemBuild* l, const TaskName* name, int link) {
  const Scene* scene = l->b->scene;
  char text[NAME_MAX_LENGTH + 40], suffix[24];
  int listed = 0;
  if (l->b->model->links[link].prescribed >= 0)
    return report_refusal(l, name,
                          "its motion is prescribed, so the offset of its coupling cannot vary: name another link");
  for (int k = 0; k < scene->coupling_count; k++) {
    if (scene->couplings[k].terms[0].link != link || !scene->couplings[k].has_offset) continue;
    snprintf(suffix, sizeof suffix, "%d", listed++);
    add_value(l, link, k, 0, format_name(text, sizeof text, name->text, l->kind->word, suffix));
  }
  return listed > 0 ||
         report_refusal(l, name,
                        "no coupling of its joint has an 'offset': set 'offset' in the scene, or name another link");
}

/* Adds `by` times the offset variables of coupling k, and of the couplings on which it depends, to the last scene value
 * of the design. depth: number of couplings between the first one and k, at which the recursion ends for couplings in a
 * cycle. */
static void add_offset_terms(Design* d, const Scene* scene, int k, double by, int depth) {
  const SceneCoupling* c = &scene->couplings[k];
  for (int n = 0; n < d->number_count; n++) {
    const DesignNumber* number = &d->numbers[n];
    bool is_offset = number->kind == OVERRIDE_RATIO && number->part == k && number->index == 0;
    if (is_offset && number->term_count > 0) design_add_term(d, d->terms[number->term_first].variable, by);
  }
  for (int i = 1; i < c->count && depth < scene->coupling_count; i++)
    for (int other = 0; other < scene->coupling_count; other++) {
      const SceneCouplingTerm* leader = &scene->couplings[other].terms[0];
      if (scene->couplings[other].has_offset && leader->link == c->terms[i].link &&
          leader->coordinate == c->terms[i].coordinate)
        add_offset_terms(d, scene, other, c->terms[i].ratio * by, depth + 1);
    }
}

void design_add_coupling_offsets(DesignBuild* b) {
  const Scene* scene = b->scene;
  Design* d = b->design;
  bool any = false;
  for (int k = 0; k < b->task->parameter_count; k++) any = any || b->task->parameters[k].type == PARAMETER_OFFSET;
  for (int k = 0; any && k < scene->coupling_count; k++) {
    const SceneCouplingTerm* first = &scene->couplings[k].terms[0];
    if (!scene->couplings[k].has_offset || b->model->links[first->link].prescribed >= 0) continue;
    double start = model_scene_initial(scene, first->link)->coordinates[first->coordinate];
    design_add_number(d, OVERRIDE_COORDINATE, first->link, 0, first->coordinate, start);
    add_offset_terms(d, scene, k, 1, 0);
  }
}

/* Adds variables of the tendons that end on a link. Names: link/tendon_point/2/x for the third point,
 * link/tendon_point/1/2/x for the second tendon. A tendon without stiffness has no rest length. */
static bool add_tendon_values(ItemBuild* l, const TaskName* name, int link) {
  const Scene* scene = l->b->scene;
  char text[NAME_MAX_LENGTH + 60], index[16] = "", suffix[40];
  const bool friction = l->kind->index == TENDON_NUMBER_FRICTION;
  int listed = 0, ordinal = 0;
  for (int k = 0; k < scene->tendon_count; k++) {
    const SceneTendon* tendon = &scene->tendons[k];
    if (tendon->end != link) continue;
    if (ordinal > 0) snprintf(index, sizeof index, "%d", ordinal);
    ordinal++;
    if (l->kind->index != TENDON_NUMBER_POINTS) {
      if (!tendon_parameter_has_effect(tendon, l->kind->index)) continue;
      add_value(l, link, k, l->kind->index, format_name(text, sizeof text, name->text, l->kind->word, index));
      listed++;
      continue;
    }
    for (int i = 0; i < 3 * tendon->count; i++) {
      if (!l->item->axes[i % 3]) continue;
      snprintf(suffix, sizeof suffix, "%s%s%d/%c", index, *index ? "/" : "", i / 3, "xyz"[i % 3]);
      add_value(l, link, k, l->kind->index + i, format_name(text, sizeof text, name->text, l->kind->word, suffix));
      listed++;
    }
  }
  const char* none = friction ? "its tendons have no friction: set the friction of a tendon in the scene"
                              : "its tendons have no stiffness: set the stiffness of a tendon in the scene";
  return listed > 0 ||
         report_refusal(l, name, ordinal > 0 ? none : "no tendon ends on the link: name a link on which a tendon ends");
}

/* Adds variables of the wrapping surfaces of tendons that end on a link. Names: link/tendon_wrap_radius/0 and
 * link/tendon_wrap_position/0/x for the first, link/tendon_wrap_radius/1/0 for the second tendon. */
static bool add_wrap_values(ItemBuild* l, const TaskName* name, int link) {
  const Scene* scene = l->b->scene;
  char text[NAME_MAX_LENGTH + 60], index[16] = "", suffix[40];
  int listed = 0, ordinal = 0, first = l->kind->index;
  for (int k = 0; k < scene->tendon_count; k++) {
    const SceneTendon* tendon = &scene->tendons[k];
    if (tendon->end != link) continue;
    if (ordinal > 0) snprintf(index, sizeof index, "%d/", ordinal);
    ordinal++;
    for (int w = 0; w < tendon->wrap_count; w++) {
      if (first == WRAP_NUMBER_AXIS && tendon->wraps[w].type == WRAP_SPHERE) continue;
      for (int i = 0; i < (first == WRAP_NUMBER_RADIUS ? 1 : 3); i++) {
        if (first != WRAP_NUMBER_RADIUS && !l->item->axes[i]) continue;
        snprintf(suffix, sizeof suffix, first == WRAP_NUMBER_RADIUS ? "%s%d" : "%s%d/%c", index, w, "xyz"[i]);
        add_value(l, link, k, WRAP_NUMBERS * w + first + i,
                  format_name(text, sizeof text, name->text, l->kind->word, suffix));
        listed++;
      }
    }
  }
  return listed > 0 ||
         report_refusal(
             l, name,
             ordinal > 0 ? "its tendons have no wrap with such a number: add a wrap to the tendon, or name another link"
                         : "no tendon ends on the link: name a link on which a tendon ends");
}

/* Adds a tied stiffness or damping as a factor on the values of the scene, initially 1, because bending and stretching
 * have different units. */
static void add_bushing_factor(ItemBuild* l, int bushing, int index, double value, const char* name) {
  ItemBuild factor = *l;
  ParameterKind kind = *l->kind;
  kind.lower_bound = POSITIVE_MIN;
  factor.kind = &kind;
  int variable = get_variable(&factor, 1, name);
  l->tied = factor.tied;
  design_add_number(l->b->design, OVERRIDE_BUSHING, l->b->scene->bushings[bushing].link[0], bushing, index, value);
  design_add_term(l->b->design, variable, value);
}

/* Adds variables of the bushings whose link a is the link. Names: link/bushing_stiffness/0 to 5,
 * link/bushing_position_a/x, link/bushing_stiffness/1/0 for the second bushing, link/bushing_stiffness/scale for tied
 * values. With tied values, links without bushings are skipped after the first link. */
static bool add_bushing_values(ItemBuild* l, const TaskName* name, int link) {
  const Scene* scene = l->b->scene;
  char text[NAME_MAX_LENGTH + 60], index[16] = "", suffix[40];
  int listed = 0, ordinal = 0, first = l->kind->index;
  bool position = first >= BUSHING_POSITION_A;
  for (int k = 0; k < scene->bushing_count; k++) {
    const SceneBushing* bushing = &scene->bushings[k];
    if (bushing->link[0] != link) continue;
    if (ordinal > 0) snprintf(index, sizeof index, "%d/", ordinal);
    ordinal++;
    for (int i = 0; i < (position ? 3 : 6); i++) {
      const double value = first == BUSHING_STIFFNESS ? bushing->stiffness[i][i] : bushing->damping[i][i];
      if (position ? !l->item->axes[i] : !l->item->dof[i]) continue;
      if (first < BUSHING_PRELOAD && !(value > 0)) continue;
      listed++;
      if (first < BUSHING_PRELOAD && l->item->tie) {
        add_bushing_factor(l, k, first + i, value, format_name(text, sizeof text, name->text, l->kind->word, "scale"));
        continue;
      }
      snprintf(suffix, sizeof suffix, position ? "%s%c" : "%s%d", index, position ? "xyz"[i] : i);
      add_value(l, link, k, first + i, format_name(text, sizeof text, name->text, l->kind->word, suffix));
    }
  }
  return listed > 0 || (l->item->tie && l->tied >= 0) ||
         report_refusal(l, name,
                        ordinal > 0
                            ? "none of its bushings has a value above 0 in the selected degrees of freedom: set a "
                              "value in the scene, or correct 'dof'"
                            : "no bushing has the link as 'a': name the link 'a' of a bushing");
}

/* Returns true if a parameter of a smooth shape is a length. Face directions and exponents are not. */
static bool is_shape_length(const ShapeDefinition* form, int k) {
  if (form->kind == SMOOTH_POLYTOPE) return k > 0 && k % 4 == 0;
  return form->kind == SMOOTH_SUPERQUADRIC ? k >= 2 : k >= 1;
}

static bool is_form_parameter(const ShapeDefinition* form, int k) {
  return form->kind == SMOOTH_SUPERQUADRIC ? k < 2 : k == 0;
}

/* Returns a copy of the item with bounds that shape_create accepts. */
static TaskParameter limit_to_shape(const TaskParameter* item, const ShapeDefinition* form) {
  TaskParameter limited = *item;
  bool flat = form->kind == SMOOTH_SUPERELLIPSOID || form->kind == SMOOTH_CYLINDER;
  if (item->type != PARAMETER_SHAPE_FORM || form->kind == SMOOTH_CONE || form->kind == SMOOTH_POLYTOPE) return limited;
  limited.low = fmax(limited.low, flat ? 1 : 1.0 / 32);
  limited.high = fmin(limited.high, flat ? 64 : 1);
  return limited;
}

/* Writes the key of a shape parameter in the scene file, for example "radius", "size/x" or "offsets/2". */
static void write_shape_key(const SceneShape* shape, int k, char* out, size_t size) {
  static const char* const round[] = {"radius", "width", "rim", "length", "bottom_radius", "top_radius"};
  static const char* const tube[] = {"radius", "half_length"};
  static const char* const cone[] = {"bottom_radius", "top_radius", "below", "above"};
  const ShapeDefinition* form = &shape->smooth;
  if (shape_is_exact(shape)) {
    unsigned bit = task_length_bit(shape, k);
    for (int i = 0; i < 6; i++)
      if (bit == 1u << i) snprintf(out, size, "%s", round[i]);
    if (bit > 1u << 5) snprintf(out, size, "size/%c", "xyz"[k - 1]); /* a rounded box: radius, size */
    return;
  }
  bool quadric = form->kind == SMOOTH_SUPERQUADRIC, sharp = form->kind == SMOOTH_CONE || form->kind == SMOOTH_POLYTOPE;
  if (quadric && k < 2)
    snprintf(out, size, "exponents/%d", k);
  else if (!quadric && k == 0)
    snprintf(out, size, sharp ? "sharpness" : "exponent");
  else if (form->kind == SMOOTH_POLYTOPE)
    snprintf(out, size, "offsets/%d", (k - 1) / 4);
  else if (form->kind == SMOOTH_CONE || form->kind == SMOOTH_CYLINDER)
    snprintf(out, size, "%s", form->kind == SMOOTH_CONE ? cone[k - 1] : tube[k - 1]);
  else
    snprintf(out, size, "size/%c", "xyz"[quadric ? k - 2 : k - 1]);
}

/* Returns true if a length of a round shape is 0 and therefore fixed: the shape has no corners along it that could
 * separate. */
static bool is_zero_length(const SceneShape* shape, int k) {
  double* lengths[ROUND_PARAMETERS_MAX];
  SceneShape copy = *shape;
  return scene_shape_round_lengths(&copy, lengths) > k && !(*lengths[k] > 0);
}

static bool add_shape_values(ItemBuild* l, const TaskName* name, int link) {
  const SceneLink* source = &l->b->scene->links[link];
  char text[NAME_MAX_LENGTH + 60], former[NAME_MAX_LENGTH + 60], suffix[48], key[32];
  int listed = 0;
  for (int u = 0; u < source->shape_count; u++) {
    const SceneShape* shape = &l->b->scene->shapes[source->shapes[u].shape];
    bool exact = shape_is_exact(shape);
    int count = exact && !model_uses_round_solid(l->b->scene, shape) ? 0 : scene_shape_parameter_count(shape);
    TaskParameter limited = exact ? *l->item : limit_to_shape(l->item, &shape->smooth);
    ItemBuild within = *l;
    within.item = &limited;
    for (int k = 0; k < count; k++) {
      int* tied = exact ? &l->tied_length[k] : &l->tied;
      bool size = l->item->type != PARAMETER_SHAPE_FORM;
      bool chosen = l->item->lengths == 0 || (l->item->lengths & task_length_bit(shape, k)) != 0;
      bool wanted = exact  ? size && chosen && !is_zero_length(shape, k)
                    : size ? l->item->lengths == 0 && is_shape_length(&shape->smooth, k)
                           : is_form_parameter(&shape->smooth, k);
      if (!wanted) continue;
      write_shape_key(shape, k, key, sizeof key);
      snprintf(suffix, sizeof suffix, "%d.%d", u, k);
      within.former = format_name(former, sizeof former, name->text, l->kind->word, suffix);
      snprintf(suffix, sizeof suffix, "%d/%s", u, key);
      within.tied = *tied;
      add_value(&within, link, u, k, format_name(text, sizeof text, name->text, "shape", suffix));
      *tied = within.tied;
      listed++;
    }
  }
  bool form = l->item->type == PARAMETER_SHAPE_FORM, size = l->item->type == PARAMETER_SIZE;
  return listed > 0 ||
         report_refusal(
             l, name,
             l->item->lengths != 0
                 ? "none of its round solids has one of the given 'lengths': correct or remove 'lengths'"
             : form ? "the parameter needs a smooth convex shape, and the link has none: give the link one, such as "
                      "a superellipsoid"
             : size ? "the link has no box and no exact round solid: remove 'resolution' and 'segments' from its "
                      "shape, and set contact.model: separating_plane"
                    : "the link has no smooth convex shape and no exact round solid: remove 'resolution' and "
                      "'segments' from its shape, and set contact.model: separating_plane");
}

/* Adds variables of the lengths of a link's shapes other than boxes. */
static bool add_round_lengths(ItemBuild* l, const TaskName* name, int link) {
  ItemBuild lengths = *l;
  lengths.kind = &KINDS[PARAMETER_SHAPE_SIZE];
  bool listed = add_shape_values(&lengths, name, link);
  memcpy(l->tied_length, lengths.tied_length, sizeof(l->tied_length));
  l->tied = lengths.tied;
  return listed;
}

void design_store_boxes(DesignBuild* b, const Model* model) {
  b->boxes = MEMORY_NEW(DesignBox, model->link_count);
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    b->boxes[i].hull = -1;
    for (int k = 0; k < link->hull_count && b->boxes[i].hull < 0; k++) {
      int shape = model->hulls[link->hull_first + k].shape;
      if (b->scene->shapes[shape].type != SHAPE_BOX) continue;
      for (int u = 0; u < b->scene->links[i].shape_count; u++) {
        const SceneShapeUse* use = &b->scene->links[i].shapes[u];
        if (use->shape == shape)
          b->boxes[i] = (DesignBox){k, {mat3_from_quat(use->rotation), use->position}, b->scene->shapes[shape].size};
      }
    }
  }
}

/* Adds variables of the size of a box, in which its corners are linear (D10). */
static bool add_box_size(ItemBuild* l, const TaskName* name, int link) {
  const DesignBox* box = &l->b->boxes[link];
  char text[NAME_MAX_LENGTH + 40];
  int variable[3];
  if (box->hull < 0 && l->item->has_axes)
    return report_refusal(
        l, name, "'axes' selects edges of a box, but the link has no box: for round shapes give lengths: [radius]");
  if (box->hull < 0 && l->item->has_anchor)
    return report_refusal(l, name, "'anchor' belongs to a box, but the link has no box: remove 'anchor'");
  if (box->hull < 0) return add_round_lengths(l, name, link);
  if (l->item->lengths != 0)
    return report_refusal(l, name,
                          "its shape is a box, which has no 'lengths': select its edges by 'axes', such as [x, z]");
  for (int axis = 0; axis < 3; axis++) {
    const char suffix[2] = {"xyz"[axis], 0};
    variable[axis] = -1;
    if (!l->item->axes[axis]) continue;
    double initial = design_component(box->size, axis);
    variable[axis] = get_variable(l, initial, format_name(text, sizeof text, name->text, "size", suffix));
    if (initial != l->b->design->variables[variable[axis]].initial)
      return report_refusal(
          l, name, "tied edges must have equal initial lengths: set equal edges in the scene, or remove 'tie'");
  }
  const SceneShape* shape = design_hull(l->b->scene, link, box->hull);
  for (int k = 0; k < shape->point_count; k++) {
    Vec3 local = mat3_tmul_vec(box->pose.r, vec3_sub(shape->points[k], box->pose.t));
    for (int axis = 0; axis < 3; axis++) {
      design_extend_number(l->b->design, OVERRIDE_VERTEX, link, box->hull, 3 * k + axis,
                           design_component(shape->points[k], axis));
      for (int edge = 0; edge < 3; edge++) {
        double side = design_component(local, edge) > 0 ? 1 : -1;
        double share = 0.5 * (side - design_component(l->item->anchor, edge));
        if (variable[edge] >= 0) design_add_term(l->b->design, variable[edge], share * box->pose.r.m[axis][edge]);
      }
    }
  }
  return true;
}

static bool add_link_values(ItemBuild* l, const TaskName* name) {
  int link = design_require_link(l->b, name);
  if (link < 0) return false;
  bool weighed = l->item->type <= PARAMETER_INERTIA;
  if (weighed && !(l->b->model->links[link].mass > 0))
    return report_refusal(l, name, "the link has no mass: set 'mass' or 'density' in the scene");
  if (l->item->type == PARAMETER_INERTIA) return add_inertia(l, name, link);
  if (l->item->type == PARAMETER_SIZE) return add_box_size(l, name, link);
  if (l->item->type == PARAMETER_RATIO) return add_coupling_ratios(l, name, link);
  if (l->item->type == PARAMETER_OFFSET) return add_coupling_offsets(l, name, link);
  if (l->kind->kind == OVERRIDE_TENDON) return add_tendon_values(l, name, link);
  if (l->kind->kind == OVERRIDE_BUSHING) return add_bushing_values(l, name, link);
  if (l->kind->kind == OVERRIDE_WRAP) return add_wrap_values(l, name, link);
  if (l->kind->kind == OVERRIDE_SHAPE) return add_shape_values(l, name, link);
  if (l->item->type == PARAMETER_AXIS || l->item->type == PARAMETER_ROTATION) return add_rotation(l, name, link);
  if (l->kind->kind == OVERRIDE_MATERIAL && !l->b->scene->links[link].material.given[l->kind->index])
    return report_refusal(l, name, "the scene gives no such value for the link: set the value in the scene");
  char text[NAME_MAX_LENGTH + 40];
  if (l->kind->of == OF_DOF) return add_joint_values(l, name, link);
  if (l->kind->of == OF_LINK_AXES)
    add_axis_values(l, name->text, link);
  else
    add_value(l, link, 0, l->kind->index, format_name(text, sizeof text, name->text, l->kind->word, ""));
  return true;
}

void design_add_parameter_variables(DesignBuild* b, const TaskParameter* item) {
  ItemBuild l = {b, item, &KINDS[item->type], -1, {-1, -1, -1}, NULL};
  char text[80];
  for (int k = 0; k < item->link_count; k++) add_link_values(&l, &item->links[k]);
  if (item->link_count > 0) return;
  bool contact = l.kind->kind == OVERRIDE_CONTACT || l.kind->kind == OVERRIDE_MATERIAL;
  if (contact && b->scene->contact.model == CONTACT_NONE)
    report_refusal(&l, NULL, "contact.model is none: choose a contact law, or remove the parameter");
  else if (l.kind->kind == OVERRIDE_FLUID && !b->scene->fluid.given)
    report_refusal(&l, NULL, "'fluid' is missing: add 'fluid' to the scene, or remove the parameter");
  else if (l.kind->kind == OVERRIDE_FLUID && l.kind->index == FLUID_LEVEL && !b->scene->fluid.has_level)
    report_refusal(&l, NULL, "'fluid' has no 'level': add 'level' to the scene, or remove the parameter");
  else if (l.kind->of == OF_PAIR)
    add_pair_value(&l);
  else if (l.kind->of == OF_CLOSURE)
    add_all_closure_values(&l);
  else if (l.kind->of == OF_SCENE_AXES)
    add_axis_values(&l, "scene", 0);
  else if (l.kind->kind == OVERRIDE_MATERIAL)
    add_value(&l, -1, -1, l.kind->index, format_name(text, sizeof text, "contact", l.kind->word, ""));
  else
    add_value(&l, 0, 0, l.kind->index,
              format_name(text, sizeof text, l.kind->kind == OVERRIDE_FLUID ? "scene" : "contact", l.kind->word, ""));
}

void design_store_masses(const Task* task, const Model* model, Scene* scene) {
  for (int k = 0; k < task->parameter_count; k++) {
    const TaskParameter* item = &task->parameters[k];
    if (item->type != PARAMETER_CENTER && item->type != PARAMETER_INERTIA) continue;
    for (int n = 0; n < item->link_count; n++) {
      int i = design_find_link(scene, item->links[n].text);
      if (i < 0 || !(model->links[i].mass > 0) || scene->links[i].mass_model == MASS_GIVEN) continue;
      SceneLink* link = &scene->links[i];
      Mat3 inertia = mass_moment_inertia_tensor(&model->links[i].moment);
      const double six[6] = {inertia.m[0][0], inertia.m[1][1], inertia.m[2][2],
                             inertia.m[0][1], inertia.m[0][2], inertia.m[1][2]};
      link->mass_model = MASS_GIVEN;
      link->has_mass = true;
      link->has_density = false;
      link->mass = model->links[i].mass;
      link->center = model->links[i].center;
      memcpy(link->inertia, six, sizeof(six));
    }
  }
}
