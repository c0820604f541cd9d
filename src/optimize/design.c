#include "optimize/design_build.h"

#include <assert.h>

/* ---------------------------------------------------------------- growing arrays */

int design_add_variable(Design* d, const DesignVariable* variable) {
  d->variables = memory_grown(d->variables, sizeof(DesignVariable), d->variable_count, &d->variable_capacity);
  d->variables[d->variable_count] = *variable;
  return d->variable_count++;
}

void design_add_number(Design* d, TargetKind kind, int link, int hull, int index, double base) {
  d->numbers = memory_grown(d->numbers, sizeof(DesignNumber), d->number_count, &d->number_capacity);
  d->numbers[d->number_count++] = (DesignNumber){kind, link, hull, index, base, d->term_count, 0};
}

void design_add_term(Design* d, int variable, double coefficient) {
  if (coefficient == 0) return;
  d->terms = memory_grown(d->terms, sizeof(DesignTerm), d->term_count, &d->term_capacity);
  d->terms[d->term_count++] = (DesignTerm){variable, coefficient};
  d->numbers[d->number_count - 1].term_count++;
}

/* ---------------------------------------------------------------- numbers of a scene */

SceneShape* design_hull(const Scene* scene, int link, int hull) {
  return &scene->shapes[scene->links[link].shapes[hull].shape];
}

static double* coordinate_of(Vec3* point, int axis) {
  return axis == 0 ? &point->x : axis == 1 ? &point->y : &point->z;
}

/* Controllers first, then force and torque of every load, whether there are any or not. */
DesignSignal design_signal(const Scene* scene, int link, int number) {
  int drives = 0, loads = 0;
  for (int c = 0; c < scene->controller_count; c++) {
    if (scene->controllers[c].link != link) continue;
    if (number-- == 0) return (DesignSignal){&scene->controllers[c].target, CONTROL_DRIVES, drives, c};
    drives++;
  }
  for (int k = 0; k < scene->load_count; k++) {
    if (scene->loads[k].link != link) continue;
    if (number-- == 0) return (DesignSignal){&scene->loads[k].force, CONTROL_FORCES, loads, k};
    if (number-- == 0) return (DesignSignal){&scene->loads[k].torque, CONTROL_TORQUES, loads, k};
    loads++;
  }
  return (DesignSignal){NULL, CONTROL_DRIVES, 0, 0};
}

/* Number of the signal's first parameter in ModelGradient.control. */
static int first_parameter(const Model* m, DesignSignal s) {
  if (s.kind == CONTROL_DRIVES) return m->controllers[s.item].parameter_first;
  return s.kind == CONTROL_FORCES ? m->loads[s.item].force_first : m->loads[s.item].torque_first;
}

int design_signal_values(const SceneSignal* s) {
  return s->type == SIGNAL_SINES || s->type == SIGNAL_CONSTANT ? s->channels : s->rows * s->channels;
}

int design_signal_terms(const SceneSignal* s) { return s->type == SIGNAL_SINES ? s->channels * s->terms : 0; }

double* design_signal_parameter(SceneSignal* s, int index) {
  int values = design_signal_values(s), terms = design_signal_terms(s);
  if (index < values) return &s->values[index];
  index -= values;
  assert(terms > 0);
  double* part[3] = {s->amplitude, s->frequency, s->phase};
  return &part[index / terms][index % terms];
}

SceneInitial* design_start(const Scene* scene, int link) {
  for (int k = 0; k < scene->initial_count; k++)
    if (scene->initials[k].link == link) return &scene->initials[k];
  return NULL;
}

static double* number_at(const DesignNumber* n, Scene* scene) {
  switch (n->kind) {
    case TARGET_VERTEX:
      return coordinate_of(&design_hull(scene, n->link, n->hull)->points[n->index / 3], n->index % 3);
    case TARGET_ATTACHMENT:
      return coordinate_of(&scene->links[n->link].joint.position, n->index);
    case TARGET_CONTROL:
      return design_signal_parameter(design_signal(scene, n->link, n->hull).signal, n->index);
    case TARGET_COORDINATE:
      return &design_start(scene, n->link)->coordinates[n->index];
    case TARGET_VELOCITY:
      return &design_start(scene, n->link)->velocities[n->index];
  }
  return NULL;
}

bool design_changes_hull(const Design* d, int link, int hull) {
  int at = d->hull_first[link] + hull;
  return at < d->hull_first[link + 1] && d->hull_changes[at];
}

/* (D1) */
void design_apply(const Design* d, const double* x, Scene* scene) {
  for (int k = 0; k < d->number_count; k++) {
    const DesignNumber* n = &d->numbers[k];
    double value = n->base;
    for (int t = n->term_first; t < n->term_first + n->term_count; t++)
      value += d->terms[t].coefficient * (x[d->terms[t].variable] - d->variables[d->terms[t].variable].initial);
    *number_at(n, scene) = value;
  }
}

/* ---------------------------------------------------------------- derivatives */

double design_component(Vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/* By the scene's initial velocity: of three rotations it is given in the joint's axes, the model has link axes. */
static double velocity_slope(const Model* m, const ModelGradient* g, int link, int dof) {
  const ModelLink* l = &m->links[link];
  const double* v = g->velocities + l->dof_first;
  int rotation = dof - l->joint.plain_count;
  if (rotation < 0) return v[dof];
  Mat3 r = joint_motion(&l->joint, m->initial_coordinates + l->coordinate_first).r;
  return design_component(mat3_mul_vec(r, vec3_at(v + l->joint.plain_count)), rotation);
}

static double slope_at(const DesignNumber* n, const Model* m, const ModelGradient* g) {
  switch (n->kind) {
    case TARGET_VERTEX: {
      const ModelHull* hull = &m->hulls[m->links[n->link].hull_first + n->hull];
      return design_component(g->vertices[hull->vertex_first + n->index / 3], n->index % 3);
    }
    case TARGET_ATTACHMENT:
      return design_component(g->attachments[n->link], n->index);
    case TARGET_CONTROL:
      return g->control[first_parameter(m, design_signal(m->scene, n->link, n->hull)) + n->index];
    case TARGET_COORDINATE:
      return g->coordinates[m->links[n->link].dof_first + n->index];
    case TARGET_VELOCITY:
      return velocity_slope(m, g, n->link, n->index);
  }
  return 0;
}

/* (D2) */
void design_gradient(const Design* d, const Model* model, const ModelGradient* gradient, double factor, double* out) {
  for (int k = 0; k < d->number_count; k++) {
    const DesignNumber* n = &d->numbers[k];
    double slope = factor * slope_at(n, model, gradient);
    for (int t = n->term_first; t < n->term_first + n->term_count; t++)
      out[d->terms[t].variable] += d->terms[t].coefficient * slope;
  }
}

void design_destroy(Design* d) {
  for (int k = 0; k < d->variable_count; k++) memory_free(d->variables[k].name);
  memory_free(d->variables);
  memory_free(d->numbers);
  memory_free(d->terms);
  memory_free(d->link_changes);
  memory_free(d->hull_changes);
  memory_free(d->hull_first);
  memory_free(d->block);
  memory_free(d->low_high);
  memory_free(d->set.row_first);
  memory_free(d->set.column);
  memory_free(d->set.coefficient);
  memory_free(d->set.row_low);
  memory_free(d->set.row_high);
  shared_vertices_free(&d->shared);
  *d = (Design){0};
}
