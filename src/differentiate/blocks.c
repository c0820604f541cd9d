/* Parameters of a scene as vectors for the gradient check, one vector per kind of parameter (block): values, typical
 * changes (scales) and derivatives. Vertices and joint origins are in link order, three numbers a point. */
#include <string.h>

#include "differentiate/gradcheck.h"

/* Appends the parameters 0..count - 1 of one part of a link, and advances *next. */
static void append_parameters(ModelOverride** next, OverrideKind kind, int link, int part, int count) {
  for (int k = 0; k < count; k++) *(*next)++ = (ModelOverride){kind, link, part, k, 0};
}

static void append_vertices(const Scene* scene, ModelOverride** next) {
  for (int i = 0; i < scene->link_count; i++)
    for (int k = 0; k < scene->links[i].shape_count; k++) {
      const SceneShape* shape = &scene->shapes[scene->links[i].shapes[k].shape];
      if (shape->type == SHAPE_POINTS) append_parameters(next, OVERRIDE_VERTEX, i, k, 3 * shape->point_count);
    }
}

static void append_signal(const Scene* scene, int link, unsigned kind, int item, ModelOverride** next) {
  int parameter = 0;
  SignalPlace place = model_scene_signal(scene, link, parameter);
  while (place.kind != kind || place.item != item) place = model_scene_signal(scene, link, ++parameter);
  append_parameters(next, OVERRIDE_CONTROL, link, parameter,
                    signal_value_count(place.signal) + 3 * signal_sine_count(place.signal));
}

static void append_signals(const Scene* scene, ModelOverride** next) {
  for (int c = 0; c < scene->controller_count; c++)
    append_signal(scene, scene->controllers[c].link, CONTROL_DRIVES, c, next);
  for (int k = 0; k < scene->load_count; k++) {
    append_signal(scene, scene->loads[k].link, CONTROL_FORCES, k, next);
    append_signal(scene, scene->loads[k].link, CONTROL_TORQUES, k, next);
  }
  for (int k = 0; k < scene->tendon_count; k++) append_signal(scene, scene->tendons[k].end, CONTROL_TENSIONS, k, next);
}

/* Friction and restitution of materials. A value of 0 is excluded, because it has no two-sided derivative. */

typedef void (*MaterialCallback)(const ModelOverride* parameter, int row, void* context);

static void for_each_material_parameter(const SceneMaterial* material, int link, int item, int row,
                                        MaterialCallback callback, void* context) {
  for (int k = 0; k < MATERIAL_COUNT; k++) {
    ModelOverride parameter = {OVERRIDE_MATERIAL, link, item, k, material->value[k]};
    if (material->given[k] && material->value[k] > 0) callback(&parameter, row, context);
  }
}

static void for_each_material(const Scene* scene, const Model* model, MaterialCallback callback, void* context) {
  if (model->contact_model == CONTACT_NONE || model->hull_count == 0) return;
  const SceneContact* c = &scene->contact;
  bool sticks = c->static_friction > 0;
  const SceneMaterial defaults = {.given = {[MATERIAL_RESTITUTION] = !c->elastic,
                                            [MATERIAL_ROLLING] = true,
                                            [MATERIAL_SPINNING] = true,
                                            [MATERIAL_STATIC_FRICTION] = sticks,
                                            [MATERIAL_STRIBECK_SPEED] = sticks},
                                  .value = {[MATERIAL_RESTITUTION] = c->restitution,
                                            [MATERIAL_ROLLING] = c->rolling,
                                            [MATERIAL_SPINNING] = c->spinning,
                                            [MATERIAL_STATIC_FRICTION] = c->static_friction,
                                            [MATERIAL_STRIBECK_SPEED] = c->stribeck_speed}};
  for_each_material_parameter(&defaults, -1, -1, 0, callback, context);
  for (int i = 0; i < scene->link_count; i++)
    for_each_material_parameter(&scene->links[i].material, i, -1, model_material_row(model, i, -1), callback, context);
  for (int k = 0; k < scene->contact.pair_count; k++) {
    const ScenePair* pair = &scene->contact.pairs[k];
    int row = model_material_row(model, -1, k);
    for_each_material_parameter(&pair->material, -1, k, row, callback, context);
    for (int i = 0; i < CONTACT_LAW_PARAMETERS_MAX; i++) {
      ModelOverride parameter = {OVERRIDE_MATERIAL, -1, k, MATERIAL_LAW_PARAMETER + i, pair->law_parameters[i]};
      if (pair->law_parameter_given[i] && pair->law_parameters[i] > 0) callback(&parameter, row, context);
    }
  }
}

static void count_material(const ModelOverride* parameter, int row, void* context) {
  (void)parameter, (void)row;
  ++*(int*)context;
}

static void append_material(const ModelOverride* parameter, int row, void* context) {
  (void)row;
  ModelOverride** next = context;
  *(*next)++ = *parameter;
}

typedef struct {
  const ModelGradient* gradient;
  double* out;
} MaterialDerivatives;

static void store_material_derivative(const ModelOverride* parameter, int row, void* context) {
  MaterialDerivatives* to = context;
  *to->out++ = to->gradient->material[row][parameter->index];
}

/* Returns true if a controller drives a joint that is not prescribed. Other controllers have no effect. */
static bool has_effective_controller(const Model* model) {
  for (int c = 0; c < model->controller_count; c++)
    if (model->controllers[c].type != CONTROLLER_PRESCRIBED) return true;
  return false;
}

static void append_gains(const Scene* scene, ModelOverride** next) {
  for (int c = 0; c < scene->controller_count; c++) {
    int link = scene->controllers[c].link, ordinal = 0;
    while (model_scene_controller(scene, link, ordinal) != c) ordinal++;
    append_parameters(next, OVERRIDE_GAIN, link, ordinal, controller_gain_count(&scene->controllers[c]));
  }
}

/* Appends the closure parameters that can change while the closures stay closed in the initial state. Axes are
 * excluded, because a tilted axis locks a planar linkage. */
static void append_closures(const Scene* scene, ModelOverride** next) {
  for (int k = 0; k < scene->closure_count; k++) {
    const SceneClosure* c = &scene->closures[k];
    bool far = c->type == CLOSURE_DISTANCE && c->length > 0;
    if (c->has_point && (!far || c->has_axis)) append_parameters(next, OVERRIDE_CLOSURE, -1, k, 3);
    if (far && c->has_axis) *(*next)++ = (ModelOverride){OVERRIDE_CLOSURE, -1, k, CLOSURE_NUMBER_LENGTH, 0};
  }
  for (int k = 0; k < scene->coupling_count; k++)
    for (int i = 1; i < scene->couplings[k].count && !scene->couplings[k].has_offset; i++)
      *(*next)++ = (ModelOverride){OVERRIDE_RATIO, -1, k, i, 0};
}

static int count_closures(const Scene* scene) {
  int count = 0;
  for (int k = 0; k < scene->closure_count; k++) count += CLOSURE_NUMBERS;
  for (int k = 0; k < scene->coupling_count; k++) count += COUPLING_TERMS;
  ModelOverride *parameters = MEMORY_NEW(ModelOverride, count), *end = parameters;
  append_closures(scene, &end);
  count = (int)(end - parameters);
  memory_free(parameters);
  return count;
}

static double closure_scale(const Model* model, const ModelOverride* parameter) {
  if (parameter->kind == OVERRIDE_RATIO) return parameter->value != 0 ? fabs(parameter->value) : 1;
  return parameter->index == CLOSURE_NUMBER_LENGTH ? parameter->value : model->closures[parameter->part].size;
}

static double closure_derivative(const ModelGradient* g, const ModelOverride* parameter) {
  return parameter->kind == OVERRIDE_RATIO ? g->ratios[parameter->part][parameter->index]
                                           : g->closures[parameter->part][parameter->index];
}

static double tendon_derivative(const Model* model, const ModelGradient* g, const ModelOverride* parameter) {
  return parameter->kind == OVERRIDE_WRAP ? model_gradient_wrap(model, g, parameter->part, parameter->index)
                                          : model_gradient_tendon(model, g, parameter->part, parameter->index);
}

/* Returns true if the wrapping surface has the parameter. A sphere has no axis. */
static bool wrap_has_parameter(const SceneTendonWrap* wrap, int index) {
  return index < WRAP_NUMBER_AXIS || wrap->type == WRAP_CYLINDER;
}

static void append_tendons(const Scene* scene, ModelOverride** next) {
  for (int k = 0; k < scene->tendon_count; k++) {
    for (int i = 0; i < TENDON_NUMBER_POINTS + 3 * scene->tendons[k].count; i++)
      if (tendon_parameter_has_effect(&scene->tendons[k], i))
        *(*next)++ = (ModelOverride){OVERRIDE_TENDON, -1, k, i, 0};
    for (int i = 0; i < WRAP_NUMBERS * scene->tendons[k].wrap_count; i++)
      if (wrap_has_parameter(&scene->tendons[k].wraps[i / WRAP_NUMBERS], i % WRAP_NUMBERS))
        *(*next)++ = (ModelOverride){OVERRIDE_WRAP, -1, k, i, 0};
  }
}

static int count_tendons(const Scene* scene) {
  int count = 0;
  for (int k = 0; k < scene->tendon_count; k++) {
    for (int i = 0; i < TENDON_NUMBER_POINTS + 3 * scene->tendons[k].count; i++)
      count += tendon_parameter_has_effect(&scene->tendons[k], i);
    for (int i = 0; i < WRAP_NUMBERS * scene->tendons[k].wrap_count; i++)
      count += wrap_has_parameter(&scene->tendons[k].wraps[i / WRAP_NUMBERS], i % WRAP_NUMBERS);
  }
  return count;
}

/* Returns the scale of a tendon parameter. Points: reach of the link. Wrapping lengths: radius of the surface. Axes of
 * wrapping surfaces: 0.1. Others: a tenth of the value. */
static double tendon_scale(const Model* model, const ModelOverride* parameter) {
  if (parameter->kind == OVERRIDE_WRAP) {
    int index = parameter->index % WRAP_NUMBERS;
    return index < WRAP_NUMBER_AXIS
               ? model->scene->tendons[parameter->part].wraps[parameter->index / WRAP_NUMBERS].radius
               : 0.1;
  }
  if (parameter->index < TENDON_NUMBER_POINTS) return 0.1 * fmax(fabs(parameter->value), 1e-3);
  int link = model->scene->tendons[parameter->part].points[(parameter->index - TENDON_NUMBER_POINTS) / 3].link;
  return link < 0 ? 0.1 : fmax(model->links[link].reach, 1e-3);
}

/* Returns true if a bushing parameter affects the force. Stiffness and damping do so above 0, preloads and positions
 * always. */
static bool bushing_parameter_is_active(const SceneBushing* bushing, int index) {
  int k = index % 6;
  return index >= BUSHING_PRELOAD || (index < BUSHING_DAMPING ? bushing->stiffness : bushing->damping)[k][k] > 0;
}

static void append_bushings(const Scene* scene, ModelOverride** next) {
  for (int k = 0; k < scene->bushing_count; k++)
    for (int i = 0; i < BUSHING_NUMBERS; i++)
      if (bushing_parameter_is_active(&scene->bushings[k], i))
        *(*next)++ = (ModelOverride){OVERRIDE_BUSHING, -1, k, i, 0};
}

static int count_bushings(const Scene* scene) {
  int count = 0;
  for (int k = 0; k < scene->bushing_count; k++)
    for (int i = 0; i < BUSHING_NUMBERS; i++) count += bushing_parameter_is_active(&scene->bushings[k], i);
  return count;
}

/* Returns the scale of a bushing parameter. Stiffness, damping: a tenth of the value. Preload: weight of link a, times
 * the link's reach for torques. Position: a tenth of the link's reach. */
static double bushing_scale(const Model* model, const ModelOverride* parameter) {
  const SceneBushing* bushing = &model->scene->bushings[parameter->part];
  const ModelLink* a = &model->links[bushing->link[0]];
  int link = bushing->link[parameter->index >= BUSHING_POSITION_B];
  if (parameter->index >= BUSHING_POSITION_A) return link < 0 ? 0.1 : fmax(0.1 * model->links[link].reach, 1e-3);
  if (parameter->index < BUSHING_PRELOAD) return 0.1 * parameter->value;
  return fmax(a->mass, 1e-3) * (parameter->index < BUSHING_PRELOAD + 3 ? 1 : fmax(a->reach, 1e-3));
}

/* Appends the parameters of smooth shapes. In an expanded scene, hull k of a link belongs to shape use k of the link.
 */
static void append_shapes(const Model* model, ModelOverride** next) {
  for (int i = 0; i < model->link_count; i++)
    for (int k = 0; k < model->links[i].hull_count; k++) {
      const ModelHull* hull = &model->hulls[model->links[i].hull_first + k];
      if (hull_parameter_count(hull) > 0) append_parameters(next, OVERRIDE_SHAPE, i, k, hull_parameter_count(hull));
    }
}

/* Returns the number of vertices that are parameters of the scene. Vertices of smooth shapes depend on shape parameters
 * instead. */
static int independent_vertex_count(const Model* model) {
  int count = model->vertex_count;
  for (int h = 0; h < model->hull_count; h++)
    if (model->hulls[h].smooth) count -= model->hulls[h].points.count;
  return count;
}

ModelOverride* block_parameters(const Scene* scene, const Model* model, GradcheckBlock block) {
  ModelOverride *parameters = MEMORY_NEW(ModelOverride, block_size(model, block) + 1), *end = parameters;
  if (block == GRADCHECK_VERTICES) append_vertices(scene, &end);
  if (block == GRADCHECK_SHAPES) append_shapes(model, &end);
  if (block == GRADCHECK_CLOSURES) append_closures(scene, &end);
  if (block == GRADCHECK_TENDONS) append_tendons(scene, &end);
  if (block == GRADCHECK_BUSHINGS) append_bushings(scene, &end);
  if (block == GRADCHECK_CONTROL) append_signals(scene, &end);
  if (block == GRADCHECK_GAINS && has_effective_controller(model)) append_gains(scene, &end);
  if (block == GRADCHECK_CONTACT) append_parameters(&end, OVERRIDE_CONTACT, 0, 0, block_size(model, block));
  if (block == GRADCHECK_MATERIAL) for_each_material(scene, model, append_material, &end);
  for (int i = 0; i < scene->link_count; i++) {
    if (block == GRADCHECK_ATTACHMENTS && !model->start) append_parameters(&end, OVERRIDE_ATTACHMENT, i, 0, 3);
    if (block == GRADCHECK_MASS) append_parameters(&end, OVERRIDE_MASS, i, 0, model->links[i].mass > 0);
  }
  for (ModelOverride* n = parameters; n < end; n++) n->value = *model_scene_number(scene, n);
  return parameters;
}

static bool has_contact(const Model* model) { return model->contact_model != CONTACT_NONE && model->hull_count > 0; }

int block_size(const Model* model, GradcheckBlock block) {
  int weighed = 0, materials = 0;
  for (int i = 0; i < model->link_count; i++) weighed += model->links[i].mass > 0;
  switch (block) {
    case GRADCHECK_STATE: /* a restored initial state is constant, including its joint origins */
      return model->start ? 0 : 2 * model->dof_count;
    case GRADCHECK_CONTROL:
      return model->parameter_count;
    case GRADCHECK_VERTICES:
      return 3 * independent_vertex_count(model);
    case GRADCHECK_SHAPES:
      return model->shape_parameter_count;
    case GRADCHECK_ATTACHMENTS:
      return model->start ? 0 : 3 * model->link_count;
    case GRADCHECK_MASS:
      return weighed;
    case GRADCHECK_CONTACT:
      return has_contact(model) ? CONTACT_OWN + contact_own_count(model->contact_model) : 0;
    case GRADCHECK_MATERIAL:
      for_each_material(model->scene, model, count_material, &materials);
      return materials;
    case GRADCHECK_GAINS:
      return has_effective_controller(model) ? model->gain_count : 0;
    case GRADCHECK_CLOSURES:
      return count_closures(model->scene);
    case GRADCHECK_TENDONS:
      return count_tendons(model->scene);
    case GRADCHECK_BUSHINGS:
      return count_bushings(model->scene);
    case GRADCHECK_INPUT:
    case GRADCHECK_BLOCKS:
      break;
  }
  return 0;
}

static double largest_signal_value(const SceneSignal* s) {
  double largest = 0;
  for (int k = 0; k < s->rows * s->channels; k++) largest = fmax(largest, fabs(s->values[k]));
  for (int k = 0; k < s->channels * s->terms; k++) largest = fmax(largest, fabs(s->amplitude[k]));
  return largest;
}

static double run_duration(const Model* model) { return model->simulation.dt * model->simulation.steps; }

/* Returns the force [N] that moves a free link by its own size within the run. */
static double reference_force(const Model* model, int link) {
  double duration = run_duration(model);
  return link < 0 ? 0 : model->links[link].mass * model->links[link].reach / (duration * duration);
}

/* Sets the scales of a signal's parameters and returns the position after the last scale. Values: a tenth of `unit`.
 * Phases: 0.1 rad. Frequencies: the change that shifts the phase by 0.1 within the run. */
static double* signal_scale(const Model* model, const Signal* signal, double unit, double* scale) {
  const SceneSignal* s = signal->source;
  int count = signal_parameter_count(signal), terms = s->channels * s->terms;
  for (int k = 0; k < count; k++) {
    bool of_sine = s->type == SIGNAL_SINES && k >= s->channels + terms, frequency = k < s->channels + 2 * terms;
    *scale++ = 0.1 * (!of_sine ? unit : frequency ? 1 / run_duration(model) : 1);
  }
  return scale;
}

/* Sets the scales of a signal relative to its largest value, but at least `least`. Returns the position after the last
 * scale. */
static double* value_scale(const Model* model, const Signal* signal, double least, double* scale) {
  double unit = fmax(largest_signal_value(signal->source), least);
  return signal_scale(model, signal, unit > 0 ? unit : 1, scale);
}

static bool has_position_target(const ModelController* c) {
  return c->type == CONTROLLER_PD || c->type == CONTROLLER_PRESCRIBED;
}

/* Sets the scales of a controller's target signal. Returns the position after the last scale. */
static double* drive_scale(const Model* model, const ModelController* c, double* scale) {
  return has_position_target(c) ? signal_scale(model, &c->target, 1, scale) : value_scale(model, &c->target, 0, scale);
}

void input_scale(const Model* model, int steps, double* scale) {
  for (int row = 0; row < steps; row++)
    for (int c = 0; c < model->controller_count; c++) {
      const ModelController* controller = &model->controllers[c];
      double largest = largest_signal_value(controller->target.source);
      double unit = has_position_target(controller) || largest == 0 ? 1 : largest;
      for (int k = 0; k < controller->target.source->channels; k++) *scale++ = 0.1 * unit;
    }
}

static void control_scale(const Model* model, double* scale) {
  for (int c = 0; c < model->controller_count; c++) scale = drive_scale(model, &model->controllers[c], scale);
  for (int k = 0; k < model->load_count; k++) {
    const ModelLoad* load = &model->loads[k];
    double least = load->field ? 0 : reference_force(model, load->link);
    scale = value_scale(model, &load->force, least, scale);
    scale = value_scale(model, &load->torque, least * model->links[load->link].reach, scale);
  }
  for (int k = 0; k < model->tendon_count; k++)
    scale = value_scale(model, &model->tendons[k].tension, reference_force(model, model->scene->tendons[k].end), scale);
}

/* Sets the scales of the initial state of prescribed joints to 0, because signals determine their state. */
static void state_scale(const Model* model, double* scale) {
  for (int k = 0; k < model->dof_count; k++)
    if (model->links[model->dof_link[k]].prescribed >= 0) scale[k] = scale[model->dof_count + k] = 0;
}

/* Returns a reference value for a controller gain that is 0. M: diagonal entry of the mass matrix. T: duration of the
 * run. Damping: M/T, or sqrt(M stiffness). Stiffness: M/T^2, or damping/T. Feedback: its largest number, or 1. */
static double reference_gain(const Model* model, const ModelController* c, Gain gain) {
  const ModelLink* link = &model->links[c->link];
  double largest = 0, duration = run_duration(model);
  int k = gain.index, entries = controller_feedback_count(c->source);
  if (gain.kind == GAIN_FEEDBACK) {
    for (int i = 0; i < entries; i++) largest = fmax(largest, fabs(c->source->feedback[i]));
    return largest > 0 ? largest : 1;
  }
  double inertia = link->mass * (k < link->joint.slide_count ? 1 : link->reach * link->reach);
  double damping = fmax(inertia / duration, sqrt(inertia * c->position_gain[k]));
  double unit = gain.kind == GAIN_POSITION   ? fmax(inertia / duration, c->damping_gain[k]) / duration
                : gain.kind == GAIN_VELOCITY ? damping * model->simulation.dt
                                             : damping;
  return unit > 0 ? unit : 1;
}

/* Sets the scales of gains: a tenth of the value or reference_gain, and 0 for gains without effect. */
static void gain_scale(const Model* model, double* scale) {
  ModelOverride* gains = block_parameters(model->scene, model, GRADCHECK_GAINS);
  for (int c = 0; c < model->controller_count; c++) {
    const ModelController* controller = &model->controllers[c];
    for (int k = 0; k < controller_gain_count(controller->source); k++) {
      double value = fabs(gains[controller->gain_first + k].value);
      bool lives = controller_gain_has_effect(controller->source, k) && model->links[controller->link].prescribed < 0;
      double unit = value > 0 ? value : reference_gain(model, controller, controller_gain_at(controller->source, k));
      scale[controller->gain_first + k] = lives ? 0.1 * unit : 0;
    }
  }
  memory_free(gains);
}

/* Sets the scales of shape parameters to their values, for smooth shapes at least 0.1. An exponent at the end of its
 * range has scale 0, because it cannot change both ways. */
static void shape_scale(const Model* model, const ModelOverride* parameters, double* scale) {
  for (int k = 0; k < model->shape_parameter_count; k++) {
    const ModelOverride* n = &parameters[k];
    const ModelHull* hull = &model->hulls[model->links[n->link].hull_first + n->part];
    scale[k] = hull_is_round(hull) ? n->value : fmax(fabs(n->value), 0.1);
    if (hull_is_round(hull)) continue;
    if (!shape_parameter_can_change(&hull->smooth->field.shape, n->index, GRADCHECK_LARGEST_STEP * scale[k]))
      scale[k] = 0;
  }
}

void block_scale(const Model* model, GradcheckBlock block, double* scale) {
  const ModelContact* contact = &model->contact;
  double contact_values[CONTACT_PARAMETER_COUNT] = {contact->support, contact->stiffness, contact->friction,
                                                    contact->smoothing, contact->rest_speed};
  if (block_size(model, block) == 0) return;
  for (int k = 0; k < block_size(model, block); k++) scale[k] = 1;
  if (block == GRADCHECK_STATE) state_scale(model, scale);
  if (block == GRADCHECK_CONTROL) control_scale(model, scale);
  if (block == GRADCHECK_GAINS && has_effective_controller(model)) gain_scale(model, scale);
  memcpy(contact_values + CONTACT_OWN, contact->law_parameters, sizeof(contact->law_parameters));
  if (block == GRADCHECK_CONTACT) memcpy(scale, contact_values, sizeof(double) * (size_t)block_size(model, block));
  if (block == GRADCHECK_ATTACHMENTS)
    for (int k = 0; k < 3 * model->link_count; k++) scale[k] = fmax(model->links[k / 3].reach, 1e-3);
  if (block == GRADCHECK_VERTICES)
    for (int h = 0; h < model->hull_count; h++)
      for (int k = 0; k < 3 * model->hulls[h].points.count && !model->hulls[h].smooth; k++)
        *scale++ = model->hulls[h].radius;
  bool closures = block == GRADCHECK_CLOSURES, tendons = block == GRADCHECK_TENDONS;
  bool bushings = block == GRADCHECK_BUSHINGS;
  if (block != GRADCHECK_MASS && block != GRADCHECK_MATERIAL && block != GRADCHECK_SHAPES && !closures && !tendons &&
      !bushings)
    return;
  ModelOverride* parameters = block_parameters(model->scene, model, block);
  for (int k = 0; k < block_size(model, block); k++)
    scale[k] = closures   ? closure_scale(model, &parameters[k])
               : tendons  ? tendon_scale(model, &parameters[k])
               : bushings ? bushing_scale(model, &parameters[k])
                          : parameters[k].value;
  if (block == GRADCHECK_SHAPES) shape_scale(model, parameters, scale);
  memory_free(parameters);
}

void block_gradient(const Model* model, GradcheckBlock block, const ModelGradient* g, double* out) {
  size_t dofs = (size_t)model->dof_count;
  int next = 0;
  if (block_size(model, block) == 0) return;
  switch (block) {
    case GRADCHECK_STATE:
      memcpy(out, g->coordinates, sizeof(double) * dofs);
      memcpy(out + dofs, g->velocities, sizeof(double) * dofs);
      break;
    case GRADCHECK_CONTROL:
      memcpy(out, g->control, sizeof(double) * (size_t)model->parameter_count);
      break;
    case GRADCHECK_VERTICES:
      for (int h = 0; h < model->hull_count; h++) {
        const ModelHull* hull = &model->hulls[h];
        if (hull->smooth || hull->points.count == 0) continue;
        memcpy(out + next, g->vertices + hull->vertex_first, sizeof(Vec3) * (size_t)hull->points.count);
        next += 3 * hull->points.count;
      }
      break;
    case GRADCHECK_SHAPES:
      memcpy(out, g->shapes, sizeof(double) * (size_t)model->shape_parameter_count);
      break;
    case GRADCHECK_ATTACHMENTS:
      memcpy(out, g->attachments, sizeof(Vec3) * (size_t)model->link_count);
      break;
    case GRADCHECK_MASS:
      for (int i = 0; i < model->link_count; i++) {
        const SceneLink* source = &model->scene->links[i];
        if (!(model->links[i].mass > 0)) continue;
        out[next++] = source->has_mass ? g->mass[i] : g->mass[i] * model->links[i].mass / source->density;
      }
      break;
    case GRADCHECK_CONTACT:
      memcpy(out, g->contact, sizeof(double) * (size_t)block_size(model, block));
      break;
    case GRADCHECK_MATERIAL: {
      MaterialDerivatives gather = {g, out};
      for_each_material(model->scene, model, store_material_derivative, &gather);
      break;
    }
    case GRADCHECK_GAINS:
      memcpy(out, g->gains, sizeof(double) * (size_t)block_size(model, block));
      break;
    case GRADCHECK_CLOSURES:
    case GRADCHECK_TENDONS:
    case GRADCHECK_BUSHINGS: {
      ModelOverride* parameters = block_parameters(model->scene, model, block);
      for (int k = 0; k < block_size(model, block); k++)
        out[k] = block == GRADCHECK_CLOSURES   ? closure_derivative(g, &parameters[k])
                 : block == GRADCHECK_BUSHINGS ? g->bushings[parameters[k].part][parameters[k].index]
                                               : tendon_derivative(model, g, &parameters[k]);
      memory_free(parameters);
      break;
    }
    case GRADCHECK_INPUT:
    case GRADCHECK_BLOCKS:
      break;
  }
}

void perturb_state(Model* model, const double* values) {
  model_increment(model, model->initial_coordinates, values, 1, model->initial_coordinates);
  for (int k = 0; k < model->dof_count; k++) model->initial_velocities[k] += values[model->dof_count + k];
  model_place_closures(model);
  if (!model->start) model_place_spring_thetas(model);
}
