/* Numbers of a scene as flat vectors. Vertices and attachments are in link order. A point has three numbers. */
#include <string.h>

#include "differentiate/gradcheck.h"

/* ---------------------------------------------------------------- numbers of a scene */

/* Appends the numbers 0 ... count - 1 of a part of a link, and advances *next. */
static void list(ModelOverride** next, OverrideKind kind, int link, int part, int count) {
  for (int k = 0; k < count; k++) *(*next)++ = (ModelOverride){kind, link, part, k, 0};
}

static void list_vertices(const Scene* scene, ModelOverride** next) {
  for (int i = 0; i < scene->link_count; i++)
    for (int k = 0; k < scene->links[i].shape_count; k++) {
      const SceneShape* shape = &scene->shapes[scene->links[i].shapes[k].shape];
      if (shape->type == SHAPE_POINTS) list(next, OVERRIDE_VERTEX, i, k, 3 * shape->point_count);
    }
}

static void list_signal(const Scene* scene, int link, unsigned kind, int item, ModelOverride** next) {
  int number = 0;
  SignalPlace place = model_scene_signal(scene, link, number);
  while (place.kind != kind || place.item != item) place = model_scene_signal(scene, link, ++number);
  list(next, OVERRIDE_CONTROL, link, number, signal_value_count(place.signal) + 3 * signal_sine_count(place.signal));
}

static void list_signals(const Scene* scene, ModelOverride** next) {
  for (int c = 0; c < scene->controller_count; c++)
    list_signal(scene, scene->controllers[c].link, CONTROL_DRIVES, c, next);
  for (int k = 0; k < scene->load_count; k++) {
    list_signal(scene, scene->loads[k].link, CONTROL_FORCES, k, next);
    list_signal(scene, scene->loads[k].link, CONTROL_TORQUES, k, next);
  }
  for (int k = 0; k < scene->tendon_count; k++) list_signal(scene, scene->tendons[k].end, CONTROL_TENSIONS, k, next);
}

/* values of materials: at 0 they have no two-sided derivative */

typedef void (*MaterialVisit)(const ModelOverride* number, int row, void* context);

static void visit_material(const SceneMaterial* material, int link, int item, int row, MaterialVisit visit,
                           void* context) {
  for (int k = 0; k < MATERIAL_COUNT; k++) {
    ModelOverride number = {OVERRIDE_MATERIAL, link, item, k, material->value[k]};
    if (material->given[k] && material->value[k] > 0) visit(&number, row, context);
  }
}

static void visit_materials(const Scene* scene, const Model* model, MaterialVisit visit, void* context) {
  if (model->contact_model == CONTACT_NONE || model->hull_count == 0) return;
  const SceneContact* c = &scene->contact;
  bool sticks = c->static_friction > 0;
  const SceneMaterial own = {.given = {[MATERIAL_RESTITUTION] = !c->elastic,
                                       [MATERIAL_ROLLING] = true,
                                       [MATERIAL_SPINNING] = true,
                                       [MATERIAL_STATIC_FRICTION] = sticks,
                                       [MATERIAL_STRIBECK_SPEED] = sticks},
                             .value = {[MATERIAL_RESTITUTION] = c->restitution,
                                       [MATERIAL_ROLLING] = c->rolling,
                                       [MATERIAL_SPINNING] = c->spinning,
                                       [MATERIAL_STATIC_FRICTION] = c->static_friction,
                                       [MATERIAL_STRIBECK_SPEED] = c->stribeck_speed}};
  visit_material(&own, -1, -1, 0, visit, context);
  for (int i = 0; i < scene->link_count; i++)
    visit_material(&scene->links[i].material, i, -1, model_material_row(model, i, -1), visit, context);
  for (int k = 0; k < scene->contact.pair_count; k++) {
    const ScenePair* pair = &scene->contact.pairs[k];
    int row = model_material_row(model, -1, k);
    visit_material(&pair->material, -1, k, row, visit, context);
    for (int i = 0; i < CONTACT_LAW_PARAMETERS_MAX; i++) {
      ModelOverride number = {OVERRIDE_MATERIAL, -1, k, MATERIAL_LAW_PARAMETER + i, pair->own[i]};
      if (pair->law_parameter_given[i] && pair->own[i] > 0) visit(&number, row, context);
    }
  }
}

static void count_material(const ModelOverride* number, int row, void* context) {
  (void)number, (void)row;
  ++*(int*)context;
}

static void list_material(const ModelOverride* number, int row, void* context) {
  (void)row;
  ModelOverride** next = context;
  *(*next)++ = *number;
}

typedef struct {
  const ModelGradient* gradient;
  double* out;
} MaterialGather;

static void gather_material(const ModelOverride* number, int row, void* context) {
  MaterialGather* to = context;
  *to->out++ = to->gradient->material[row][number->index];
}

/* Returns true if a controller drives a joint that is not prescribed. Gains of prescribed joints have no effect. */
static bool drives_anything(const Model* model) {
  for (int c = 0; c < model->controller_count; c++)
    if (model->controllers[c].type != CONTROLLER_PRESCRIBED) return true;
  return false;
}

static void list_gains(const Scene* scene, ModelOverride** next) {
  for (int c = 0; c < scene->controller_count; c++) {
    int link = scene->controllers[c].link, ordinal = 0;
    while (model_scene_controller(scene, link, ordinal) != c) ordinal++;
    list(next, OVERRIDE_GAIN, link, ordinal, controller_gain_count(&scene->controllers[c]));
  }
}

/* Lists the closure numbers that can change while the closures stay satisfied in the initial state. Excludes axes,
 * because a tilted axis locks a planar linkage. */
static void list_closures(const Scene* scene, ModelOverride** next) {
  for (int k = 0; k < scene->closure_count; k++) {
    const SceneClosure* c = &scene->closures[k];
    bool far = c->type == CLOSURE_DISTANCE && c->length > 0;
    if (c->has_point && (!far || c->has_axis)) list(next, OVERRIDE_CLOSURE, -1, k, 3);
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
  ModelOverride *numbers = MEMORY_NEW(ModelOverride, count), *end = numbers;
  list_closures(scene, &end);
  count = (int)(end - numbers);
  memory_free(numbers);
  return count;
}

static double closure_scale(const Model* model, const ModelOverride* number) {
  if (number->kind == OVERRIDE_RATIO) return number->value != 0 ? fabs(number->value) : 1;
  return number->index == CLOSURE_NUMBER_LENGTH ? number->value : model->closures[number->part].size;
}

static double closure_slope(const ModelGradient* g, const ModelOverride* number) {
  return number->kind == OVERRIDE_RATIO ? g->ratios[number->part][number->index]
                                        : g->closures[number->part][number->index];
}

static double tendon_slope(const Model* model, const ModelGradient* g, const ModelOverride* number) {
  return number->kind == OVERRIDE_WRAP ? model_gradient_wrap(model, g, number->part, number->index)
                                       : model_gradient_tendon(model, g, number->part, number->index);
}

/* Returns true if the wrap has a number with this index. A sphere has no axis. */
static bool number_of_wrap(const SceneTendonWrap* wrap, int index) {
  return index < WRAP_NUMBER_AXIS || wrap->type == WRAP_CYLINDER;
}

/* Lists the numbers of all tendons: stiffness, rest length, friction if given, all points and all wraps. */
static void list_tendons(const Scene* scene, ModelOverride** next) {
  for (int k = 0; k < scene->tendon_count; k++) {
    for (int i = 0; i < TENDON_NUMBER_POINTS + 3 * scene->tendons[k].count; i++)
      if (tendon_number_lives(&scene->tendons[k], i)) *(*next)++ = (ModelOverride){OVERRIDE_TENDON, -1, k, i, 0};
    for (int i = 0; i < WRAP_NUMBERS * scene->tendons[k].wrap_count; i++)
      if (number_of_wrap(&scene->tendons[k].wraps[i / WRAP_NUMBERS], i % WRAP_NUMBERS))
        *(*next)++ = (ModelOverride){OVERRIDE_WRAP, -1, k, i, 0};
  }
}

static int count_tendons(const Scene* scene) {
  int count = 0;
  for (int k = 0; k < scene->tendon_count; k++) {
    for (int i = 0; i < TENDON_NUMBER_POINTS + 3 * scene->tendons[k].count; i++)
      count += tendon_number_lives(&scene->tendons[k], i);
    for (int i = 0; i < WRAP_NUMBERS * scene->tendons[k].wrap_count; i++)
      count += number_of_wrap(&scene->tendons[k].wraps[i / WRAP_NUMBERS], i % WRAP_NUMBERS);
  }
  return count;
}

/* Returns the scale of a number of a tendon. Points: the reach of the link. Lengths of a wrap: its radius. Axis of a
 * wrap: 0.1. Others: a tenth of the value. */
static double tendon_scale(const Model* model, const ModelOverride* number) {
  if (number->kind == OVERRIDE_WRAP) {
    int index = number->index % WRAP_NUMBERS;
    return index < WRAP_NUMBER_AXIS ? model->scene->tendons[number->part].wraps[number->index / WRAP_NUMBERS].radius
                                    : 0.1;
  }
  if (number->index < TENDON_NUMBER_POINTS) return 0.1 * fmax(fabs(number->value), 1e-3);
  int link = model->scene->tendons[number->part].points[(number->index - TENDON_NUMBER_POINTS) / 3].link;
  return link < 0 ? 0.1 : fmax(model->links[link].reach, 1e-3);
}

/* Returns true if a number of a bushing affects the force. Stiffness and damping do so if above 0, preloads and
 * positions always. */
static bool bushing_number_lives(const SceneBushing* bushing, int index) {
  int k = index % 6;
  return index >= BUSHING_PRELOAD || (index < BUSHING_DAMPING ? bushing->stiffness : bushing->damping)[k][k] > 0;
}

static void list_bushings(const Scene* scene, ModelOverride** next) {
  for (int k = 0; k < scene->bushing_count; k++)
    for (int i = 0; i < BUSHING_NUMBERS; i++)
      if (bushing_number_lives(&scene->bushings[k], i)) *(*next)++ = (ModelOverride){OVERRIDE_BUSHING, -1, k, i, 0};
}

static int count_bushings(const Scene* scene) {
  int count = 0;
  for (int k = 0; k < scene->bushing_count; k++)
    for (int i = 0; i < BUSHING_NUMBERS; i++) count += bushing_number_lives(&scene->bushings[k], i);
  return count;
}

/* Returns the scale of a number of a bushing. Stiffness and damping: a tenth of the value. Preload: the weight of link
 * a, times its reach for a torque. Position: a tenth of the link's reach. */
static double bushing_scale(const Model* model, const ModelOverride* number) {
  const SceneBushing* bushing = &model->scene->bushings[number->part];
  const ModelLink* a = &model->links[bushing->link[0]];
  int link = bushing->link[number->index >= BUSHING_POSITION_B];
  if (number->index >= BUSHING_POSITION_A) return link < 0 ? 0.1 : fmax(0.1 * model->links[link].reach, 1e-3);
  if (number->index < BUSHING_PRELOAD) return 0.1 * number->value;
  return fmax(a->mass, 1e-3) * (number->index < BUSHING_PRELOAD + 3 ? 1 : fmax(a->reach, 1e-3));
}

/* Lists the parameters of smooth shapes. In an expanded scene, hull k of a link is its shape use k. */
static void list_shapes(const Model* model, ModelOverride** next) {
  for (int i = 0; i < model->link_count; i++)
    for (int k = 0; k < model->links[i].hull_count; k++) {
      const ModelHull* hull = &model->hulls[model->links[i].hull_first + k];
      if (hull_parameter_count(hull) > 0) list(next, OVERRIDE_SHAPE, i, k, hull_parameter_count(hull));
    }
}

/* Returns the number of vertices that are numbers of the scene. Excludes vertices of smooth shapes, because they depend
 * on the shapes' parameters. */
static int free_vertices(const Model* model) {
  int count = model->vertex_count;
  for (int h = 0; h < model->hull_count; h++)
    if (model->hulls[h].smooth) count -= model->hulls[h].points.count;
  return count;
}

ModelOverride* block_parameters(const Scene* scene, const Model* model, GradcheckBlock block) {
  ModelOverride *numbers = MEMORY_NEW(ModelOverride, block_size(model, block) + 1), *end = numbers;
  if (block == GRADCHECK_VERTICES) list_vertices(scene, &end);
  if (block == GRADCHECK_SHAPES) list_shapes(model, &end);
  if (block == GRADCHECK_CLOSURES) list_closures(scene, &end);
  if (block == GRADCHECK_TENDONS) list_tendons(scene, &end);
  if (block == GRADCHECK_BUSHINGS) list_bushings(scene, &end);
  if (block == GRADCHECK_CONTROL) list_signals(scene, &end);
  if (block == GRADCHECK_GAINS && drives_anything(model)) list_gains(scene, &end);
  if (block == GRADCHECK_CONTACT) list(&end, OVERRIDE_CONTACT, 0, 0, block_size(model, block));
  if (block == GRADCHECK_MATERIAL) visit_materials(scene, model, list_material, &end);
  for (int i = 0; i < scene->link_count; i++) {
    if (block == GRADCHECK_ATTACHMENTS && !model->start) list(&end, OVERRIDE_ATTACHMENT, i, 0, 3);
    if (block == GRADCHECK_MASS) list(&end, OVERRIDE_MASS, i, 0, model->links[i].mass > 0);
  }
  for (ModelOverride* n = numbers; n < end; n++) n->value = *model_scene_number(scene, n);
  return numbers;
}

/* ---------------------------------------------------------------- sizes, scales, gradients */

static bool has_contact(const Model* model) { return model->contact_model != CONTACT_NONE && model->hull_count > 0; }

int block_size(const Model* model, GradcheckBlock block) {
  int weighed = 0, materials = 0;
  for (int i = 0; i < model->link_count; i++) weighed += model->links[i].mass > 0;
  switch (block) {
    case GRADCHECK_STATE: /* a recorded initial state is constant, including its joint origins */
      return model->start ? 0 : 2 * model->dof_count;
    case GRADCHECK_CONTROL:
      return model->parameter_count;
    case GRADCHECK_VERTICES:
      return 3 * free_vertices(model);
    case GRADCHECK_SHAPES:
      return model->shape_parameter_count;
    case GRADCHECK_ATTACHMENTS:
      return model->start ? 0 : 3 * model->link_count;
    case GRADCHECK_MASS:
      return weighed;
    case GRADCHECK_CONTACT:
      return has_contact(model) ? CONTACT_OWN + contact_own_count(model->contact_model) : 0;
    case GRADCHECK_MATERIAL:
      visit_materials(model->scene, model, count_material, &materials);
      return materials;
    case GRADCHECK_GAINS:
      return drives_anything(model) ? model->gain_count : 0;
    case GRADCHECK_CLOSURES:
      return count_closures(model->scene);
    case GRADCHECK_TENDONS:
      return count_tendons(model->scene);
    case GRADCHECK_BUSHINGS:
      return count_bushings(model->scene);
    case GRADCHECK_BLOCKS:
      break;
  }
  return 0;
}

/* Returns the largest magnitude of the given values of a signal, in the signal's unit. */
static double largest_value(const SceneSignal* s) {
  double largest = 0;
  for (int k = 0; k < s->rows * s->channels; k++) largest = fmax(largest, fabs(s->values[k]));
  for (int k = 0; k < s->channels * s->terms; k++) largest = fmax(largest, fabs(s->amplitude[k]));
  return largest;
}

static double duration_of(const Model* model) { return model->simulation.dt * model->simulation.steps; }

/* Returns the force [N] that moves a free link by its own size within the run. */
static double force_unit(const Model* model, int link) {
  double duration = duration_of(model);
  return link < 0 ? 0 : model->links[link].mass * model->links[link].reach / (duration * duration);
}

/* Sets the scales of a signal's parameters. Values: a tenth of `unit`. Phase of a sine: 0.1 rad. Frequency: the change
 * that shifts the phase by 0.1 within the run. Returns the position after the last scale. */
static double* signal_scale(const Model* model, const Signal* signal, double unit, double* scale) {
  const SceneSignal* s = signal->source;
  int count = signal_parameter_count(signal), terms = s->channels * s->terms;
  for (int k = 0; k < count; k++) {
    bool of_sine = s->type == SIGNAL_SINES && k >= s->channels + terms, frequency = k < s->channels + 2 * terms;
    *scale++ = 0.1 * (!of_sine ? unit : frequency ? 1 / duration_of(model) : 1);
  }
  return scale;
}

/* Sets the scales of a signal with its largest value as unit, but at least `least`. Returns the position after the last
 * scale. */
static double* value_scale(const Model* model, const Signal* signal, double least, double* scale) {
  double unit = fmax(largest_value(signal->source), least);
  return signal_scale(model, signal, unit > 0 ? unit : 1, scale);
}

/* Sets the scales of a controller's target signal, a position, rate or force. Returns the position after the last
 * scale. */
static double* drive_scale(const Model* model, const ModelController* c, double* scale) {
  bool place = c->type == CONTROLLER_PD || c->type == CONTROLLER_PRESCRIBED;
  return place ? signal_scale(model, &c->target, 1, scale) : value_scale(model, &c->target, 0, scale);
}

static void control_scale(const Model* model, double* scale) {
  for (int c = 0; c < model->controller_count; c++) scale = drive_scale(model, &model->controllers[c], scale);
  for (int k = 0; k < model->load_count; k++) {
    const ModelLoad* load = &model->loads[k];
    double least = load->field ? 0 : force_unit(model, load->link);
    scale = value_scale(model, &load->force, least, scale);
    scale = value_scale(model, &load->torque, least * model->links[load->link].reach, scale);
  }
  for (int k = 0; k < model->tendon_count; k++)
    scale = value_scale(model, &model->tendons[k].tension, force_unit(model, model->scene->tendons[k].end), scale);
}

/* Sets the scales of the initial state of prescribed joints to 0, because their signals determine the state. Leaves
 * other scales unchanged. */
static void state_scale(const Model* model, double* scale) {
  for (int k = 0; k < model->dof_count; k++)
    if (model->links[model->dof_link[k]].prescribed >= 0) scale[k] = scale[model->dof_count + k] = 0;
}

/* Returns the scale of a gain with value 0: the value that matters within the run beside the other gains. M: inertia of
 * the link, T: duration of the run. Damping: M/T, or the root of M times the stiffness. Stiffness: M/T^2, or damping/T.
 * Feedback: its largest number, or 1. */
static double gain_unit(const Model* model, const ModelController* c, Gain gain) {
  const ModelLink* link = &model->links[c->link];
  double largest = 0, duration = duration_of(model);
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

/* Sets the scales of the gains: a tenth of the value, gain_unit if the value is 0, and 0 for gains without effect. */
static void gain_scale(const Model* model, double* scale) {
  ModelOverride* gains = block_parameters(model->scene, model, GRADCHECK_GAINS);
  for (int c = 0; c < model->controller_count; c++) {
    const ModelController* own = &model->controllers[c];
    for (int k = 0; k < controller_gain_count(own->source); k++) {
      double value = fabs(gains[own->gain_first + k].value);
      bool lives = controller_gain_has_effect(own->source, k) && model->links[own->link].prescribed < 0;
      double unit = value > 0 ? value : gain_unit(model, own, controller_gain_at(own->source, k));
      scale[own->gain_first + k] = lives ? 0.1 * unit : 0;
    }
  }
  memory_free(gains);
}

/* Sets the scale of each shape parameter to its value, for smooth shapes at least 0.1. The scale of an exponent at the
 * end of its range, as of a sphere, is 0. */
static void shape_scale(const Model* model, const ModelOverride* numbers, double* scale) {
  for (int k = 0; k < model->shape_parameter_count; k++) {
    const ModelOverride* n = &numbers[k];
    const ModelHull* hull = &model->hulls[model->links[n->link].hull_first + n->part];
    scale[k] = hull_is_round(hull) ? n->value : fmax(fabs(n->value), 0.1);
    if (hull_is_round(hull)) continue;
    if (!shape_parameter_moves(&hull->smooth->field.shape, n->index, GRADCHECK_LARGEST_STEP * scale[k])) scale[k] = 0;
  }
}

void block_scale(const Model* model, GradcheckBlock block, double* scale) {
  const ModelContact* contact = &model->contact;
  double parameters[CONTACT_PARAMETER_COUNT] = {contact->support, contact->stiffness, contact->friction,
                                                contact->smoothing, contact->rest_speed};
  if (block_size(model, block) == 0) return;
  for (int k = 0; k < block_size(model, block); k++) scale[k] = 1;
  if (block == GRADCHECK_STATE) state_scale(model, scale);
  if (block == GRADCHECK_CONTROL) control_scale(model, scale);
  if (block == GRADCHECK_GAINS && drives_anything(model)) gain_scale(model, scale);
  memcpy(parameters + CONTACT_OWN, contact->own, sizeof(contact->own));
  if (block == GRADCHECK_CONTACT) memcpy(scale, parameters, sizeof(double) * (size_t)block_size(model, block));
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
  ModelOverride* numbers = block_parameters(model->scene, model, block);
  for (int k = 0; k < block_size(model, block); k++)
    scale[k] = closures   ? closure_scale(model, &numbers[k])
               : tendons  ? tendon_scale(model, &numbers[k])
               : bushings ? bushing_scale(model, &numbers[k])
                          : numbers[k].value;
  if (block == GRADCHECK_SHAPES) shape_scale(model, numbers, scale);
  memory_free(numbers);
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
      MaterialGather gather = {g, out};
      visit_materials(model->scene, model, gather_material, &gather);
      break;
    }
    case GRADCHECK_GAINS:
      memcpy(out, g->gains, sizeof(double) * (size_t)block_size(model, block));
      break;
    case GRADCHECK_CLOSURES:
    case GRADCHECK_TENDONS:
    case GRADCHECK_BUSHINGS: {
      ModelOverride* numbers = block_parameters(model->scene, model, block);
      for (int k = 0; k < block_size(model, block); k++)
        out[k] = block == GRADCHECK_CLOSURES   ? closure_slope(g, &numbers[k])
                 : block == GRADCHECK_BUSHINGS ? g->bushings[numbers[k].part][numbers[k].index]
                                               : tendon_slope(model, g, &numbers[k]);
      memory_free(numbers);
      break;
    }
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
