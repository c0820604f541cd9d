/* Variables of joint positions, controllers and initial states. */
#include <string.h>

#include "optimize/design_build.h"

void design_add_attachment_variables(DesignBuild* b, const TaskAttachment* item) {
  int link = design_require_link(b, &item->link);
  for (int axis = 0; axis < 3 && link >= 0; axis++) {
    if (!item->axes[axis]) continue;
    VariableSpec spec = {item->place, item->bounds.within, item->bounds.low[axis], item->bounds.high[axis],
                         0,           item->bounds.prior,  item->bounds.step};
    double initial = design_component(b->scene->links[link].joint.position, axis);
    int variable = design_new_variable(b, &spec, initial, "%s/attachment/%c", item->link.text, "xyz"[axis]);
    design_add_number(b->design, OVERRIDE_ATTACHMENT, link, 0, axis, initial);
    design_add_term(b->design, variable, 1);
    for (int k = 0; k < b->design->shared.count; k++) { /* the parent's vertex at the joint moves with the joint */
      const SharedVertex* s = &b->design->shared.items[k];
      if (s->child != link || s->link == link) continue;
      design_add_number(b->design, OVERRIDE_VERTEX, s->link, s->hull[0], 3 * s->vertex[0] + axis, initial);
      design_add_term(b->design, variable, 1);
    }
  }
}

/* Lower bound of a variable force limit relative to its initial value. The derivative with respect to the inverse limit
 * is unbounded near 0. */
#define LIMIT_MIN 1e-3

/* Returns the variable that another link of the same item has added for this parameter, or NULL. */
static const DesignTie* find_tie(const DesignBuild* b, const TaskControl* item, const char* parameter, int index) {
  for (int k = 0; k < b->tie_count && item->tie > 0; k++)
    if (b->ties[k].item == item->tie && b->ties[k].scenario == b->design->current_scenario &&
        b->ties[k].index == index && strcmp(b->ties[k].parameter, parameter) == 0)
      return &b->ties[k];
  return NULL;
}

static void add_tie(DesignBuild* b, const TaskControl* item, const char* parameter, int index, int variable) {
  if (item->tie == 0) return;
  b->ties = memory_grow_array(b->ties, sizeof(DesignTie), b->tie_count, &b->tie_capacity);
  b->ties[b->tie_count++] = (DesignTie){item->tie, b->design->current_scenario, parameter, index, variable};
}

static unsigned selected_parameters(const TaskControl* item, const SceneSignal* signal) {
  if (item->has_parameters) return item->parameters;
  return signal->type == SIGNAL_SINES ? CONTROL_AMPLITUDE | CONTROL_PHASE | CONTROL_VALUES : CONTROL_VALUES;
}

/* Writes the part of a variable's name that identifies the signal, out[size]: link/values/3 for the first controller,
 * link/controller2_values/3 for the second, link/force_values/0 and link/torque2_values/0 for loads,
 * link/tension_values/0 for tendons. */
static void write_signal_name(const SignalPlace* s, char* out, size_t size) {
  const char* parameter = s->kind == CONTROL_DRIVES    ? "controller"
                          : s->kind == CONTROL_FORCES  ? "force"
                          : s->kind == CONTROL_TORQUES ? "torque"
                                                       : "tension";
  out[0] = 0;
  if (s->ordinal > 0)
    snprintf(out, size, "%s%d_", parameter, s->ordinal + 1);
  else if (s->kind != CONTROL_DRIVES)
    snprintf(out, size, "%s_", parameter);
}

static void add_signal_variables(DesignBuild* b, const TaskControl* item, int link, int number, const SignalPlace* of) {
  static const char* const part[4] = {"values", "amplitude", "frequency", "phase"};
  SceneSignal* s = of->signal;
  int values = signal_value_count(s), terms = signal_sine_count(s);
  unsigned wanted = selected_parameters(item, s);
  char which[32];
  write_signal_name(of, which, sizeof which);
  VariableSpec spec = {item->place, item->within, item->low, item->high, 1, item->prior, item->step};
  for (int k = 0; k < values + 3 * terms; k++) {
    int kind = k < values ? 0 : 1 + (k - values) / terms, index = k < values ? k : (k - values) % terms;
    int channel = k < values ? k % s->channels : index / s->terms;
    if (!(wanted & 1u << kind) || !item->dof[channel]) continue;
    double initial = *signal_parameter(s, k);
    const DesignTie* tie = find_tie(b, item, part[kind], index);
    int variable =
        tie ? tie->variable
            : design_new_variable(b, &spec, initial, "%s/%s%s/%d", item->link.text, which, part[kind], index);
    if (!tie) add_tie(b, item, part[kind], index, variable);
    design_add_number(b->design, OVERRIDE_CONTROL, link, number, k, b->design->variables[variable].initial);
    design_add_term(b->design, variable, 1);
  }
}

/* Returns the bounds of a variable gain: >= 0, and > 0 for a force limit, because 0 means no limit. */
static VariableSpec gain_spec(const TaskControl* item, GainKind kind, double initial) {
  VariableSpec spec = {item->place, item->within, item->low, item->high, 1, item->prior, item->step};
  if (kind == GAIN_FEEDBACK) return spec;
  spec.low = fmax(spec.low, kind == GAIN_MAX_FORCE ? LIMIT_MIN * initial : 0);
  return spec;
}

/* Returns true if the item selects the gain. Selected degrees of freedom are rows of a feedback matrix. Delays and
 * networks are always selected. */
static bool is_selected(const TaskControl* item, const SceneController* controller, Gain gain) {
  if (gain.kind == GAIN_DELAY) return true;
  if (gain.kind != GAIN_FEEDBACK) return item->dof[gain.index];
  return controller->feedback_type == FEEDBACK_MLP || item->dof[gain.index / controller->measure_count];
}

/* Adds variables of the selected gains of a link's controllers. Names: link/position_gain/0 and link/feedback/3 (row by
 * row), or link/controller2_feedback/3 for the second controller. */
static void add_gain_variables(DesignBuild* b, const TaskControl* item, int link) {
  static const char* const NAMES[GAIN_KINDS] = {"delay",        "position_gain", "velocity_gain",
                                                "damping_gain", "max_force",     "feedback"};
  int c, ordinal = 0;
  for (; (c = model_scene_controller(b->scene, link, ordinal)) >= 0; ordinal++) {
    SceneController* controller = &b->scene->controllers[c];
    SignalPlace place = {NULL, CONTROL_DRIVES, ordinal, c};
    char which[32];
    write_signal_name(&place, which, sizeof which);
    for (int k = 0; k < controller_gain_count(controller); k++) {
      Gain gain = controller_gain_at(controller, k);
      if (!(item->parameters & control_gain_bit(gain.kind)) || !controller_gain_has_effect(controller, k)) continue;
      if (!is_selected(item, controller, gain)) continue;
      double initial = *controller_gain_value(controller, k);
      VariableSpec spec = gain_spec(item, gain.kind, initial);
      const DesignTie* tie = find_tie(b, item, NAMES[gain.kind], gain.index);
      int variable = tie ? tie->variable
                         : design_new_variable(b, &spec, initial, "%s/%s%s/%d", item->link.text, which,
                                               NAMES[gain.kind], gain.index);
      if (!tie) add_tie(b, item, NAMES[gain.kind], gain.index, variable);
      design_add_number(b->design, OVERRIDE_GAIN, link, ordinal, k, b->design->variables[variable].initial);
      design_add_term(b->design, variable, 1);
    }
  }
}

/* Returns the first selected degree of freedom that the signal does not have, or -1. */
static int find_missing_dof(const TaskControl* item, const SceneSignal* signal) {
  for (int dof = signal->channels; item->has_dof && dof < JOINT_MAX_DOF; dof++)
    if (item->dof[dof]) return dof;
  return -1;
}

void design_add_control_variables(DesignBuild* b, const TaskControl* item) {
  int link = design_require_link(b, &item->link), found = 0, before = b->design->variable_count;
  if (link < 0) return;
  SignalPlace s;
  for (int number = 0; (s = model_scene_signal(b->scene, link, number)).signal; number++) {
    if (s.signal->channels == 0 || !(item->of & s.kind)) continue;
    int missing = find_missing_dof(item, s.signal);
    if (missing >= 0)
      diagnostics_add(
          b->diagnostics, SEVERITY_ERROR, item->link.place,
          "the control of link '%s' has no degree of freedom %d: correct 'dof' (available: %d, numbered from 0)",
          item->link.text, missing, s.signal->channels);
    add_signal_variables(b, item, link, number, &s);
    found++;
  }
  if (item->has_parameters && (item->of & CONTROL_DRIVES)) add_gain_variables(b, item, link);
  if (found == 0)
    diagnostics_add(
        b->diagnostics, SEVERITY_ERROR, item->link.place,
        item->of & CONTROL_DRIVES
            ? "no controller drives the joint of link '%s': add one to 'controllers' of the scene, or name another link"
            : "no load or tendon of the selected kind acts on link '%s': add one to the scene, or name another link",
        item->link.text);
  else if (b->design->variable_count == before && item->tie == 0)
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, item->link.place,
                    "the controllers of link '%s' have none of the listed parameters: correct the list, or set the "
                    "parameters in the scene",
                    item->link.text);
}

/* Returns why the initial state of a link cannot be a variable, as the end of a sentence (static), or NULL. */
static const char* find_start_obstacle(const TaskStart* item, const ModelLink* l) {
  bool all = true, beyond = false;
  for (int dof = 0; dof < JOINT_MAX_DOF; dof++) {
    all = all && item->dof[dof];
    beyond = beyond || (item->dof[dof] && dof >= l->dof_count);
  }
  if (l->dof_count == 0) return "cannot move";
  if (l->prescribed >= 0) return "is prescribed";
  if (beyond && !all) return "has fewer degrees of freedom than 'dof' names";
  return NULL;
}

static void add_start_variable(DesignBuild* b, const TaskStart* item, int link, int dof, bool velocity) {
  const SceneInitial* start = model_scene_initial(b->scene, link);
  VariableSpec spec = {item->place, item->within, item->low, item->high, 1, item->prior, item->step};
  double initial = velocity ? start->velocities[dof] : start->coordinates[dof];
  int variable =
      design_new_variable(b, &spec, initial, "%s/%s/%d", item->link.text, velocity ? "velocity" : "coordinate", dof);
  design_add_number(b->design, velocity ? OVERRIDE_VELOCITY : OVERRIDE_COORDINATE, link, 0, dof, initial);
  design_add_term(b->design, variable, 1);
}

/* Adds variables of an initial rotation: the rotation vector about the link's axes. */
static void add_start_rotation(DesignBuild* b, const TaskStart* item, int link, const Joint* joint) {
  Design* d = b->design;
  const double* q = model_scene_initial(b->scene, link)->coordinates + joint->scalar_count;
  DesignRotation rotation = {.changes_initial_rotation = true, .number_first = d->number_count};
  rotation.rotation = quat_normalized(quat_at(q));
  VariableSpec spec = {item->place, item->within, item->low, item->high, 1, item->prior, item->step};
  for (int k = 0; k < 3; k++)
    rotation.variable[k] = item->dof[joint->scalar_count + k]
                               ? design_new_variable(b, &spec, 0, "%s/turn/%c", item->link.text, "xyz"[k])
                               : -1;
  for (int k = 0; k < 4; k++) design_add_number(d, OVERRIDE_COORDINATE, link, 0, joint->scalar_count + k, q[k]);
  d->turns = memory_grow_array(d->turns, sizeof(DesignRotation), d->turn_count, &d->turn_capacity);
  d->turns[d->turn_count++] = rotation;
}

void design_add_initial_variables(DesignBuild* b, const TaskStart* item) {
  int link = design_require_link(b, &item->link);
  if (link < 0) return;
  const ModelLink* l = &b->model->links[link];
  const char* fixed = find_start_obstacle(item, l);
  int before = b->design->variable_count;
  if (fixed) {
    diagnostics_add(
        b->diagnostics, SEVERITY_ERROR, item->link.place,
        "the joint of link '%s' %s, so its initial state cannot be a variable: correct 'dof', or name another link",
        item->link.text, fixed);
    return;
  }
  for (int velocity = 0; velocity < 2; velocity++)
    for (int dof = 0; dof < l->dof_count; dof++) {
      bool turns = dof >= l->joint.scalar_count; /* the orientation of a ball joint or of a free link is not a scalar
                                                    coordinate; add_start_rotation adds its variables */
      if (!item->dof[dof] || !(velocity ? item->velocities : item->coordinates) || (!velocity && turns)) continue;
      add_start_variable(b, item, link, dof, velocity);
    }
  bool has_turns = l->joint.coordinate_count > l->joint.dof_count;
  if (item->turns && has_turns) add_start_rotation(b, item, link, &l->joint);
  if (item->turns && !has_turns)
    diagnostics_add(
        b->diagnostics, SEVERITY_ERROR, item->link.place,
        "'turns' applies to free and ball joints only, and the joint of link '%s' is neither: remove 'turns'",
        item->link.text);
  else if (b->design->variable_count == before)
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, item->link.place,
                    "link '%s': the numbers of the joint's quaternion cannot be variables: give 'turns: true' to vary "
                    "rotation angles instead",
                    item->link.text);
}
