/* Copies of a scene in which overrides replace values. A copy owns its changed parts and shares all others with the
 * given scene. */
#include <assert.h>
#include <string.h>

#include "model/model.h"

SignalPlace model_scene_signal(const Scene* scene, int link, int number) {
  assert(scene && number >= 0);
  int drives = 0, loads = 0;
  for (int c = 0; c < scene->controller_count; c++) {
    if (scene->controllers[c].link != link) continue;
    if (number-- == 0) return (SignalPlace){&scene->controllers[c].target, CONTROL_DRIVES, drives, c};
    drives++;
  }
  for (int k = 0; k < scene->load_count; k++) {
    if (scene->loads[k].link != link) continue;
    if (number-- == 0) return (SignalPlace){&scene->loads[k].force, CONTROL_FORCES, loads, k};
    if (number-- == 0) return (SignalPlace){&scene->loads[k].torque, CONTROL_TORQUES, loads, k};
    loads++;
  }
  for (int k = 0, tendons = 0; k < scene->tendon_count; k++) {
    if (scene->tendons[k].end != link) continue;
    if (number-- == 0) return (SignalPlace){&scene->tendons[k].tension, CONTROL_TENSIONS, tendons, k};
    tendons++;
  }
  return (SignalPlace){NULL, CONTROL_DRIVES, 0, 0};
}

int model_signal_first(const Model* model, SignalPlace place) {
  assert(place.signal && place.item >= 0);
  if (place.kind == CONTROL_DRIVES) return model->controllers[place.item].parameter_first;
  if (place.kind == CONTROL_TENSIONS) return model->tendons[place.item].tension_first;
  return place.kind == CONTROL_FORCES ? model->loads[place.item].force_first : model->loads[place.item].torque_first;
}

SceneInitial* model_scene_initial(const Scene* scene, int link) {
  assert(link >= 0 && link < scene->link_count);
  for (int k = 0; k < scene->initial_count; k++)
    if (scene->initials[k].link == link) return &scene->initials[k];
  return NULL;
}

int model_scene_controller(const Scene* scene, int link, int ordinal) {
  assert(link >= 0 && link < scene->link_count && ordinal >= 0);
  for (int c = 0; c < scene->controller_count; c++)
    if (scene->controllers[c].link == link && ordinal-- == 0) return c;
  return -1;
}

static double* component(Vec3* v, int axis) { return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z; }

static double* contact_number(const Scene* scene, int index) {
  union { /* removes const: the caller owns the scene and may change it */
    const SceneContact* read;
    SceneContact* writable;
  } c = {.read = &scene->contact};
  double* const place[CONTACT_OWN] = {[CONTACT_SUPPORT] = &c.writable->support,
                                      [CONTACT_STIFFNESS] = &c.writable->stiffness,
                                      [CONTACT_FRICTION] = &c.writable->friction,
                                      [CONTACT_SMOOTHING] = &c.writable->smoothing,
                                      [CONTACT_REST_SPEED] = &c.writable->rest_speed};
  return index < CONTACT_OWN ? place[index] : &c.writable->law_parameters[index - CONTACT_OWN];
}

static double* tendon_number(SceneTendon* tendon, int index) {
  if (index == TENDON_NUMBER_STIFFNESS) return &tendon->stiffness;
  if (index == TENDON_NUMBER_REST) return &tendon->rest_length;
  if (index == TENDON_NUMBER_FRICTION) return &tendon->friction;
  index -= TENDON_NUMBER_POINTS;
  return component(&tendon->points[index / 3].point, index % 3);
}

static double* wrap_number(SceneTendonWrap* wrap, int index) {
  if (index == WRAP_NUMBER_RADIUS) return &wrap->radius;
  Vec3* vector = index < WRAP_NUMBER_AXIS ? &wrap->position : &wrap->axis;
  return component(vector, (index - WRAP_NUMBER_POSITION) % 3);
}

static double* bushing_number(SceneBushing* bushing, int index) {
  if (index < BUSHING_DAMPING) return &bushing->stiffness[index][index];
  if (index < BUSHING_PRELOAD) return &bushing->damping[index - BUSHING_DAMPING][index - BUSHING_DAMPING];
  if (index < BUSHING_POSITION_A) return &bushing->preload[index - BUSHING_PRELOAD];
  index -= BUSHING_POSITION_A;
  return component(&bushing->position[index / 3], index % 3);
}

static double* joint_number(SceneJoint* joint, int part) {
  double* const place[JOINT_OWN_COUNT] = {[JOINT_DAMPING] = joint->damping,
                                          [JOINT_STIFFNESS] = joint->stiffness,
                                          [JOINT_FRICTION] = joint->friction,
                                          [JOINT_ARMATURE] = joint->armature,
                                          [JOINT_STATIC_FRICTION] = joint->static_friction,
                                          [JOINT_LOWER] = joint->lower,
                                          [JOINT_UPPER] = joint->upper,
                                          [JOINT_RESTITUTION] = &joint->limit_restitution};
  return place[part];
}

static double* material_number(const Scene* scene, const ModelOverride* o) {
  union { /* removes const: the caller owns the scene and may change it */
    const SceneContact* read;
    SceneContact* writable;
  } c = {.read = &scene->contact};
  if (o->link >= 0) return &scene->links[o->link].material.value[o->index];
  if (o->part >= 0 && o->index >= MATERIAL_LAW_PARAMETER)
    return &scene->contact.pairs[o->part].law_parameters[o->index - MATERIAL_LAW_PARAMETER];
  if (o->part >= 0) return &scene->contact.pairs[o->part].material.value[o->index];
  double* const place[MATERIAL_COUNT] = {[MATERIAL_FRICTION] = &c.writable->friction,
                                         [MATERIAL_RESTITUTION] = &c.writable->restitution,
                                         [MATERIAL_ROLLING] = &c.writable->rolling,
                                         [MATERIAL_SPINNING] = &c.writable->spinning,
                                         [MATERIAL_STATIC_FRICTION] = &c.writable->static_friction,
                                         [MATERIAL_STRIBECK_SPEED] = &c.writable->stribeck_speed};
  return place[o->index];
}

static double* fluid_number(const Scene* scene, int index) {
  union { /* removes const: the caller owns the scene and may change it */
    const SceneFluid* read;
    SceneFluid* writable;
  } f = {.read = &scene->fluid};
  if (index == FLUID_DENSITY) return &f.writable->density;
  if (index == FLUID_VISCOSITY) return &f.writable->viscosity;
  return index == FLUID_LEVEL ? &f.writable->level : component(&f.writable->velocity, index - FLUID_VELOCITY);
}

double* model_scene_number(const Scene* scene, const ModelOverride* o) {
  switch (o->kind) {
    case OVERRIDE_VERTEX: {
      const SceneShape* shape = &scene->shapes[scene->links[o->link].shapes[o->part].shape];
      return component(&shape->points[o->index / 3], o->index % 3);
    }
    case OVERRIDE_ATTACHMENT:
      return component(&scene->links[o->link].joint.position, o->index);
    case OVERRIDE_CONTROL:
      return signal_parameter(model_scene_signal(scene, o->link, o->part).signal, o->index);
    case OVERRIDE_COORDINATE:
      return &model_scene_initial(scene, o->link)->coordinates[o->index];
    case OVERRIDE_VELOCITY:
      return &model_scene_initial(scene, o->link)->velocities[o->index];
    case OVERRIDE_MASS:
      return scene->links[o->link].has_mass ? &scene->links[o->link].mass : &scene->links[o->link].density;
    case OVERRIDE_CONTACT:
      return contact_number(scene, o->index);
    case OVERRIDE_JOINT:
      return joint_number(&scene->links[o->link].joint, o->part) + o->index;
    case OVERRIDE_GRAVITY: {
      union { /* removes const: the caller owns the scene and may change it */
        const Vec3* read;
        Vec3* writable;
      } g = {.read = &scene->simulation.gravity};
      return component(g.writable, o->index);
    }
    case OVERRIDE_FLUID:
      return fluid_number(scene, o->index);
    case OVERRIDE_CENTER:
      return component(&scene->links[o->link].center, o->index);
    case OVERRIDE_INERTIA:
      return &scene->links[o->link].inertia[o->index];
    case OVERRIDE_SHAPE: {
      SceneShape* shape = &scene->shapes[scene->links[o->link].shapes[o->part].shape];
      double* lengths[ROUND_PARAMETERS_MAX];
      if (shape_is_exact(shape)) return scene_shape_round_lengths(shape, lengths) > o->index ? lengths[o->index] : NULL;
      return shape_definition_parameter(&shape->smooth, o->index);
    }
    case OVERRIDE_MATERIAL:
      return material_number(scene, o);
    case OVERRIDE_AXIS:
      return component(&scene->links[o->link].joint.axes[0], o->index);
    case OVERRIDE_ROTATION: {
      Quat* q = &scene->links[o->link].joint.rotation;
      double* const place[4] = {&q->w, &q->x, &q->y, &q->z};
      return place[o->index];
    }
    case OVERRIDE_CLOSURE: {
      SceneClosure* c = &scene->closures[o->part];
      if (o->index == CLOSURE_NUMBER_LENGTH) return &c->length;
      return component(o->index < CLOSURE_NUMBER_AXIS ? &c->point : &c->axis, o->index % 3);
    }
    case OVERRIDE_TENDON:
      return tendon_number(&scene->tendons[o->part], o->index);
    case OVERRIDE_WRAP:
      return wrap_number(&scene->tendons[o->part].wraps[o->index / WRAP_NUMBERS], o->index % WRAP_NUMBERS);
    case OVERRIDE_BUSHING:
      return bushing_number(&scene->bushings[o->part], o->index);
    case OVERRIDE_RATIO:
      return o->index == 0 ? &scene->couplings[o->part].offset : &scene->couplings[o->part].terms[o->index].ratio;
    case OVERRIDE_GAIN:
      return controller_gain_value(&scene->controllers[model_scene_controller(scene, o->link, o->part)], o->index);
  }
  return NULL;
}

static void* copy_memory(const void* from, size_t size) {
  void* to = memory_alloc(size);
  if (size > 0) memcpy(to, from, size);
  return to;
}

static void copy_points(SceneShape* shape, const SceneShape* given) {
  if (shape->points == given->points)
    shape->points = copy_memory(given->points, sizeof(Vec3) * (size_t)given->point_count);
}

static void copy_faces(SceneShape* shape, const SceneShape* given) {
  if (!given->faces || shape->faces != given->faces) return;
  shape->faces = copy_memory(given->faces, sizeof *given->faces * (size_t)given->smooth.face_count);
  shape->smooth.faces = (const double(*)[4])shape->faces;
}

static void copy_signal(SceneSignal* signal, const SceneSignal* given) {
  assert(signal && given);
  if (signal->values != given->values) return;
  size_t terms = sizeof(double) * (size_t)signal_sine_count(given);
  signal->values = copy_memory(given->values, sizeof(double) * (size_t)signal_value_count(given));
  signal->amplitude = copy_memory(given->amplitude, terms);
  signal->frequency = copy_memory(given->frequency, terms);
  signal->phase = copy_memory(given->phase, terms);
}

static void free_signal(SceneSignal* signal, const SceneSignal* given) {
  if (signal->values == given->values) return;
  memory_free(signal->values);
  memory_free(signal->amplitude);
  memory_free(signal->frequency);
  memory_free(signal->phase);
}

/* Copies the feedback gains of a controller, which are stored in a separate array. */
static void copy_feedback(SceneController* controller, const SceneController* given) {
  if (controller->feedback != given->feedback || !given->feedback) return;
  controller->feedback = copy_memory(given->feedback, sizeof(double) * (size_t)controller_feedback_count(given));
}

/* Removes the initial state of a prescribed joint, which may differ from the new signal. */
static void remove_initial_state(Scene* scene, int link) {
  SceneInitial* initial = model_scene_initial(scene, link);
  if (initial) initial->has_coordinates = initial->has_velocities = false;
}

static void copy_overridden(Scene* scene, const Scene* given, const ModelOverride* o) {
  if (o->kind == OVERRIDE_GAIN) {
    int c = model_scene_controller(given, o->link, o->part);
    copy_feedback(&scene->controllers[c], &given->controllers[c]);
  }
  if (o->kind == OVERRIDE_RATIO && scene->couplings[o->part].terms == given->couplings[o->part].terms)
    scene->couplings[o->part].terms = copy_memory(given->couplings[o->part].terms,
                                                  sizeof(SceneCouplingTerm) * (size_t)given->couplings[o->part].count);
  if (o->kind == OVERRIDE_TENDON && scene->tendons[o->part].points == given->tendons[o->part].points)
    scene->tendons[o->part].points =
        copy_memory(given->tendons[o->part].points, sizeof(SceneTendonPoint) * (size_t)given->tendons[o->part].count);
  if (o->kind == OVERRIDE_WRAP && scene->tendons[o->part].wraps == given->tendons[o->part].wraps)
    scene->tendons[o->part].wraps = copy_memory(given->tendons[o->part].wraps,
                                                sizeof(SceneTendonWrap) * (size_t)given->tendons[o->part].wrap_count);
  if (o->kind == OVERRIDE_VERTEX) {
    int shape = given->links[o->link].shapes[o->part].shape;
    copy_points(&scene->shapes[shape], &given->shapes[shape]);
  }
  if (o->kind == OVERRIDE_SHAPE) {
    int shape = given->links[o->link].shapes[o->part].shape;
    copy_faces(&scene->shapes[shape], &given->shapes[shape]);
  }
  if (o->kind != OVERRIDE_CONTROL) return;
  SignalPlace place = model_scene_signal(scene, o->link, o->part);
  copy_signal(place.signal, model_scene_signal(given, o->link, o->part).signal);
  if (place.kind == CONTROL_DRIVES && scene->controllers[place.item].type == CONTROLLER_PRESCRIBED)
    remove_initial_state(scene, o->link);
}

Scene* model_scene_create(const Scene* given, const ModelOverride* overrides, int count) {
  assert(overrides || count == 0);
  Scene* scene = copy_memory(given, sizeof *given);
  scene->shapes = copy_memory(given->shapes, sizeof *given->shapes * (size_t)given->shape_count);
  scene->links = copy_memory(given->links, sizeof *given->links * (size_t)given->link_count);
  scene->controllers = copy_memory(given->controllers, sizeof *given->controllers * (size_t)given->controller_count);
  scene->loads = copy_memory(given->loads, sizeof *given->loads * (size_t)given->load_count);
  scene->tendons = copy_memory(given->tendons, sizeof *given->tendons * (size_t)given->tendon_count);
  scene->bushings = copy_memory(given->bushings, sizeof *given->bushings * (size_t)given->bushing_count);
  scene->initials = copy_memory(given->initials, sizeof *given->initials * (size_t)given->initial_count);
  scene->contact.pairs = copy_memory(given->contact.pairs, sizeof(ScenePair) * (size_t)given->contact.pair_count);
  scene->closures = copy_memory(given->closures, sizeof *given->closures * (size_t)given->closure_count);
  scene->couplings = copy_memory(given->couplings, sizeof *given->couplings * (size_t)given->coupling_count);
  for (int k = 0; k < count; k++) {
    copy_overridden(scene, given, &overrides[k]);
    *model_scene_number(scene, &overrides[k]) = overrides[k].value;
  }
  return scene;
}

void model_scene_destroy(Scene* scene, const Scene* given) {
  if (!scene) return;
  for (int i = 0; i < scene->shape_count; i++) {
    if (scene->shapes[i].points != given->shapes[i].points) memory_free(scene->shapes[i].points);
    if (scene->shapes[i].faces != given->shapes[i].faces) memory_free(scene->shapes[i].faces);
  }
  for (int i = 0; i < scene->controller_count; i++) {
    free_signal(&scene->controllers[i].target, &given->controllers[i].target);
    if (scene->controllers[i].feedback != given->controllers[i].feedback) memory_free(scene->controllers[i].feedback);
  }
  for (int i = 0; i < scene->load_count; i++) {
    free_signal(&scene->loads[i].force, &given->loads[i].force);
    free_signal(&scene->loads[i].torque, &given->loads[i].torque);
  }
  for (int k = 0; k < scene->tendon_count; k++) {
    free_signal(&scene->tendons[k].tension, &given->tendons[k].tension);
    if (scene->tendons[k].points != given->tendons[k].points) memory_free(scene->tendons[k].points);
    if (scene->tendons[k].wraps != given->tendons[k].wraps) memory_free(scene->tendons[k].wraps);
  }
  memory_free(scene->shapes);
  memory_free(scene->links);
  memory_free(scene->controllers);
  memory_free(scene->loads);
  memory_free(scene->tendons);
  memory_free(scene->bushings);
  memory_free(scene->initials);
  memory_free(scene->contact.pairs);
  for (int i = 0; i < scene->coupling_count; i++)
    if (scene->couplings[i].terms != given->couplings[i].terms) memory_free(scene->couplings[i].terms);
  memory_free(scene->closures);
  memory_free(scene->couplings);
  memory_free(scene);
}
