#include "scene/parts.h"

static SceneController* append_controller(Reader* reader) {
  Scene* scene = reader->scene;
  scene->controllers = memory_grow_array(scene->controllers, sizeof(SceneController), scene->controller_count,
                                         &reader->controller_capacity);
  return &scene->controllers[scene->controller_count++];
}

/* Warns if a single nonzero target applies to translations [m] and rotations [rad] together. */
static void warn_if_target_mixes_units(Reader* reader, const Node* signal, const SceneController* controller,
                                       const Joint* joint, int dof) {
  bool single = signal->kind != NODE_MAP && signal->kind != NODE_LIST;
  if (!single || joint->slide_count == 0 || joint->slide_count == dof || controller->target.values[0] == 0) return;
  reader_warning(reader, signal->place,
                 "the single number %.6g applies to all %d degrees of freedom of '%s', both translations and "
                 "rotations: give a list with one number per degree of freedom",
                 controller->target.values[0], dof, text_excerpt(reader->scene->links[controller->link].name).text);
}

/* Reads the gains and the target of a controller. Both have one number per degree of freedom of the joint. */
static void read_drive(Reader* reader, const ControllerForm* form, int dof, SceneController* controller) {
  expand_per_dof(reader, &form->position_gain, "position_gain", dof, controller->position_gain);
  expand_per_dof(reader, &form->velocity_gain, "velocity_gain", dof, controller->velocity_gain);
  expand_per_dof(reader, &form->damping_gain, "damping_gain", dof, controller->damping_gain);
  expand_per_dof(reader, &form->max_force, "max_force", dof, controller->max_force);
  const Node* signal = form->target ? form->target : form->velocity;
  if (!signal) {
    if (controller->type == CONTROLLER_PRESCRIBED)
      reader_error(reader, controller->place, "'target' is missing: give a signal [m or rad], or give 'velocity'");
    return;
  }
  size_t mark = reader_enter_key(reader, form->target ? "target" : "velocity");
  Joint joint = scene_joint(&reader->scene->links[controller->link].joint);
  bool angles = controller->type == CONTROLLER_PD || controller->type == CONTROLLER_PRESCRIBED;
  reader->rotations = joint.quaternion && angles && form->target;
  read_signal(reader, signal, dof, &controller->target);
  reader->rotations = false;
  warn_if_target_mixes_units(reader, signal, controller, &joint, dof);
  controller->target.integrated = !form->target;
  if (!form->target && controller->target.type == SIGNAL_SPLINE)
    reader_error(reader, signal->place,
                 "'velocity' must not be a spline or cubic, because velocities are integrated as piecewise linear: use "
                 "keyframes or linear interpolation");
  reader_leave(reader, mark);
}

static void check_limit_width(Reader* reader, const Node* item) {
  const Node* width = node_find(item, "limit_width");
  if (width && !node_find(item, "max_force"))
    reader_error(reader, node_key_place(width), "'limit_width' needs 'max_force': give both or neither");
}

/* Warns if the force limit of a ball joint is exact only for equal gains. A force limit applies to the magnitude of the
 * torque of three rotations. */
static void check_rotations(Reader* reader, const Node* item, const SceneController* c) {
  Joint joint = scene_joint(&reader->scene->links[c->link].joint);
  const double* const gains[] = {c->max_force, c->position_gain, c->velocity_gain, c->damping_gain};
  const Node* limit = node_find(item, "max_force");
  bool same = true;
  for (int k = 0; k < 4; k++) same = same && is_equal_for_rotations(&joint, gains[k]);
  if (limit && !same)
    reader_warning(reader, node_key_place(limit),
                   "'max_force' limits the magnitude of the torque of three rotations, so the mean of the three "
                   "numbers is used, which is exact only for equal gains: give equal limits and gains");
}

static int read_driven_link(Reader* reader, const ControllerForm* form) {
  if (!form->link) return -1;
  size_t mark = reader_enter_key(reader, "link");
  int link = read_link_name(reader, form->link);
  if (link >= 0 && !reader->joint_broken[link] && scene_joint_dof(&reader->scene->links[link].joint) == 0) {
    reader_error(reader, form->link->place,
                 "the joint of '%s' is fixed and cannot be driven: remove the controller, or change the joint",
                 text_excerpt(reader->scene->links[link].name).text);
    link = -1;
  }
  reader_leave(reader, mark);
  return link;
}

static void read_controller(Reader* reader, const Node* item, const Repeat* repeat) {
  (void)repeat;
  ControllerForm form;
  if (!schema_read(reader, item, "controller", &form)) return;
  int link = read_driven_link(reader, &form);
  if (link < 0 || reader->joint_broken[link]) return;
  if (reader->scene->controller_count >= CONTROLLER_MAX) {
    reader_error(reader, item->place, "the scene has more than %d controllers: remove controllers", CONTROLLER_MAX);
    reader_stop(reader);
    return;
  }
  SceneController* controller = append_controller(reader);
  *controller = form.controller;
  controller->place = item->place;
  controller->link = link;
  read_drive(reader, &form, scene_joint_dof(&reader->scene->links[link].joint), controller);
  check_rotations(reader, item, controller);
  check_limit_width(reader, item);
  if (form.feedback) read_feedback(reader, form.feedback, controller);
}

void read_controllers(Reader* reader, const Node* list) {
  if (!list) return;
  size_t mark = reader_enter_key(reader, "controllers");
  int index = 0;
  for (const Node* entry = list->first; entry && !reader->exhausted; entry = entry->next, index++) {
    size_t below = reader_enter_index(reader, index);
    repeat_expand(reader, entry, "controller", "repeat_controller", read_controller);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}
