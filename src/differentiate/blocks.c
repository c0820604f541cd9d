/* A scene's numbers as flat vectors. Vertices and attachments in link order; a point is three numbers. */
#include <string.h>

#include "differentiate/gradcheck.h"

/* ---------------------------------------------------------------- one visitor for reading and writing */

typedef struct {
  double* values;
  int next;
  bool write;
} Cursor;

static void visit(Cursor* c, double* number) {
  if (c->write)
    *number = c->values[c->next++];
  else
    c->values[c->next++] = *number;
}

static void visit_point(Cursor* c, Vec3* point) {
  visit(c, &point->x);
  visit(c, &point->y);
  visit(c, &point->z);
}

static void visit_vertices(Cursor* c, Scene* scene) {
  for (int i = 0; i < scene->link_count; i++)
    for (int k = 0; k < scene->links[i].shape_count; k++) {
      SceneShape* shape = &scene->shapes[scene->links[i].shapes[k].shape];
      if (shape->type != SHAPE_POINTS) continue;
      for (int m = 0; m < shape->point_count; m++) visit_point(c, &shape->points[m]);
    }
}

static void visit_signal(Cursor* c, SceneSignal* s) {
  int count = signal_values(s) + 3 * signal_terms(s);
  for (int k = 0; k < count; k++) visit(c, signal_parameter(s, k));
}

static void visit_block(Cursor* c, Scene* scene, const Model* model, GradcheckBlock block) {
  switch (block) {
    case GRADCHECK_VERTICES:
      visit_vertices(c, scene);
      break;
    case GRADCHECK_ATTACHMENTS:
      for (int i = 0; i < scene->link_count; i++) visit_point(c, &scene->links[i].joint.position);
      break;
    case GRADCHECK_CONTROL:
      for (int i = 0; i < scene->controller_count; i++) visit_signal(c, &scene->controllers[i].target);
      for (int i = 0; i < scene->load_count; i++) {
        visit_signal(c, &scene->loads[i].force);
        visit_signal(c, &scene->loads[i].torque);
      }
      break;
    case GRADCHECK_MASS:
      for (int i = 0; i < scene->link_count; i++)
        if (model->links[i].mass > 0)
          visit(c, scene->links[i].has_mass ? &scene->links[i].mass : &scene->links[i].density);
      break;
    case GRADCHECK_CONTACT:
      visit(c, &scene->contact.support);
      visit(c, &scene->contact.stiffness);
      visit(c, &scene->contact.friction);
      visit(c, &scene->contact.smoothing);
      visit(c, &scene->contact.rest_speed);
      for (int k = 0; k < contact_own_count(model->contact_model); k++) visit(c, &scene->contact.own[k]);
      break;
    case GRADCHECK_STATE:
    case GRADCHECK_BLOCKS:
      break;
  }
}

void block_read(const Scene* scene, const Model* model, GradcheckBlock block, double* values) {
  union { /* reading leaves the scene as it is */
    const Scene* read;
    Scene* own;
  } access = {.read = scene};
  Cursor c = {values, 0, false};
  if (block == GRADCHECK_STATE) memset(values, 0, sizeof(double) * (size_t)block_size(model, block));
  visit_block(&c, access.own, model, block);
}

void block_write(Scene* scene, const Model* model, GradcheckBlock block, const double* values) {
  union {
    const double* read;
    double* own;
  } access = {.read = values};
  Cursor c = {access.own, 0, true};
  visit_block(&c, scene, model, block);
}

/* ---------------------------------------------------------------- sizes, scales, gradients */

static bool has_contact(const Model* model) { return model->contact_model != CONTACT_NONE && model->hull_count > 0; }

int block_size(const Model* model, GradcheckBlock block) {
  int weighed = 0;
  for (int i = 0; i < model->link_count; i++) weighed += model->links[i].mass > 0;
  switch (block) {
    case GRADCHECK_STATE:
      return 2 * model->dof_count;
    case GRADCHECK_CONTROL:
      return model->parameter_count;
    case GRADCHECK_VERTICES:
      return 3 * model->vertex_count;
    case GRADCHECK_ATTACHMENTS:
      return 3 * model->link_count;
    case GRADCHECK_MASS:
      return weighed;
    case GRADCHECK_CONTACT:
      return has_contact(model) ? CONTACT_OWN + contact_own_count(model->contact_model) : 0;
    case GRADCHECK_BLOCKS:
      break;
  }
  return 0;
}

/* Returns where the next signal's scales go. */
static double* signal_scale(const Model* model, const Signal* signal, double* scale) {
  double duration = model->simulation.dt * model->simulation.steps;
  const SceneSignal* s = signal->source;
  int count = signal_parameter_count(signal), terms = s->channels * s->terms;
  for (int k = 0; k < count; k++) {
    bool frequency = s->type == SIGNAL_SINES && k >= s->channels + terms && k < s->channels + 2 * terms;
    *scale++ = frequency ? 0.1 / duration : 0.1;
  }
  return scale;
}

static void control_scale(const Model* model, double* scale) {
  for (int c = 0; c < model->controller_count; c++) scale = signal_scale(model, &model->controllers[c].target, scale);
  for (int k = 0; k < model->load_count; k++) {
    scale = signal_scale(model, &model->loads[k].force, scale);
    scale = signal_scale(model, &model->loads[k].torque, scale);
  }
}

/* Prescribed joints start where their signals are: their state is no variable. */
static void state_scale(const Model* model, double* scale) {
  for (int k = 0; k < model->dof_count; k++)
    if (model->links[model->dof_link[k]].prescribed >= 0) scale[k] = scale[model->dof_count + k] = 0;
}

void block_scale(const Model* model, GradcheckBlock block, double* scale) {
  const ModelContact* contact = &model->contact;
  double parameters[CONTACT_PARAMETER_COUNT] = {contact->support, contact->stiffness, contact->friction,
                                                contact->smoothing, contact->rest_speed};
  for (int k = 0; k < block_size(model, block); k++) scale[k] = 1;
  if (block == GRADCHECK_STATE) state_scale(model, scale);
  if (block == GRADCHECK_CONTROL) control_scale(model, scale);
  memcpy(parameters + CONTACT_OWN, contact->own, sizeof(contact->own));
  if (block == GRADCHECK_CONTACT) memcpy(scale, parameters, sizeof(double) * (size_t)block_size(model, block));
  if (block == GRADCHECK_ATTACHMENTS)
    for (int k = 0; k < 3 * model->link_count; k++) scale[k] = fmax(model->links[k / 3].reach, 1e-3);
  if (block == GRADCHECK_VERTICES)
    for (int h = 0; h < model->hull_count; h++)
      for (int k = 0; k < 3 * model->hulls[h].points.count; k++)
        scale[3 * model->hulls[h].vertex_first + k] = model->hulls[h].radius;
  if (block == GRADCHECK_MASS) block_read(model->scene, model, block, scale);
}

void block_gradient(const Model* model, GradcheckBlock block, const ModelGradient* g, double* out) {
  size_t dofs = (size_t)model->dof_count;
  int next = 0;
  switch (block) {
    case GRADCHECK_STATE:
      memcpy(out, g->coordinates, sizeof(double) * dofs);
      memcpy(out + dofs, g->velocities, sizeof(double) * dofs);
      break;
    case GRADCHECK_CONTROL:
      memcpy(out, g->control, sizeof(double) * (size_t)model->parameter_count);
      break;
    case GRADCHECK_VERTICES:
      memcpy(out, g->vertices, sizeof(Vec3) * (size_t)model->vertex_count);
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
    case GRADCHECK_BLOCKS:
      break;
  }
}

void state_move(Model* model, const double* values) {
  model_increment(model, model->initial_coordinates, values, 1, model->initial_coordinates);
  for (int k = 0; k < model->dof_count; k++) model->initial_velocities[k] += values[model->dof_count + k];
}
