#include "optimize/design.h"

#include <assert.h>

int design_add_variable(Design* d, const DesignVariable* variable) {
  d->variables = memory_grow_array(d->variables, sizeof(DesignVariable), d->variable_count, &d->variable_capacity);
  d->variables[d->variable_count] = *variable;
  return d->variable_count++;
}

void design_add_number(Design* d, OverrideKind kind, int link, int part, int index, double base) {
  assert(link >= -1 && index >= 0 && isfinite(base));
  d->numbers = memory_grow_array(d->numbers, sizeof(DesignNumber), d->number_count, &d->number_capacity);
  d->numbers[d->number_count++] = (DesignNumber){kind, link, part, index, d->current_scenario, base, d->term_count, 0};
}

void design_add_term(Design* d, int variable, double coefficient) {
  assert(d->number_count > 0 && variable < d->variable_count);
  if (coefficient == 0) return;
  d->terms = memory_grow_array(d->terms, sizeof(DesignTerm), d->term_count, &d->term_capacity);
  d->terms[d->term_count++] = (DesignTerm){variable, coefficient};
  d->numbers[d->number_count - 1].term_count++;
}

void design_extend_number(Design* d, OverrideKind kind, int link, int part, int index, double base) {
  int earlier = d->number_count - 1;
  while (earlier >= 0) {
    const DesignNumber* n = &d->numbers[earlier];
    if (n->kind == kind && n->link == link && n->part == part && n->index == index &&
        n->scenario == d->current_scenario)
      break;
    earlier--;
  }
  design_add_number(d, kind, link, part, index, base);
  if (earlier < 0) return;
  DesignNumber* n = &d->numbers[earlier];
  for (int t = n->term_first; t < n->term_first + n->term_count; t++) {
    DesignTerm term = d->terms[t];
    design_add_term(d, term.variable, term.coefficient);
  }
  n->term_count = 0;
}

SceneShape* design_hull(const Scene* scene, int link, int hull) {
  assert(link >= 0 && link < scene->link_count && hull >= 0);
  return &scene->shapes[scene->links[link].shapes[hull].shape];
}

bool design_changes_hull(const Design* d, int link, int hull) {
  assert(link >= 0);
  int at = d->hull_first[link] + hull;
  return at < d->hull_first[link + 1] && d->hull_changes[at];
}

/* Evaluates, for each scene value that depends on variables, its initial value plus the sum of its terms (design.md,
 * D1). */
ModelOverride* design_overrides(const Design* d, const double* x) {
  ModelOverride* overrides = MEMORY_NEW(ModelOverride, d->number_count);
  for (int k = 0; k < d->number_count; k++) {
    const DesignNumber* n = &d->numbers[k];
    double value = n->base;
    for (int t = n->term_first; t < n->term_first + n->term_count; t++)
      value += d->terms[t].coefficient * (x[d->terms[t].variable] - d->variables[d->terms[t].variable].initial);
    overrides[k] = (ModelOverride){n->kind, n->link, n->part, n->index, value};
  }
  for (int k = 0; k < d->inertia_count; k++) {
    double inertia[6];
    design_inertia_values(&d->inertias[k], x, inertia);
    for (int i = 0; i < 6; i++) overrides[d->inertias[k].number_first + i].value = inertia[i];
  }
  for (int k = 0; k < d->turn_count; k++) {
    double numbers[4];
    design_rotation_values(&d->turns[k], x, numbers);
    for (int i = 0; i < (d->turns[k].changes_axis ? 3 : 4); i++)
      overrides[d->turns[k].number_first + i].value = numbers[i];
  }
  return overrides;
}

static bool belongs_to(const DesignNumber* n, int scenario) {
  return n->scenario == ALL_SCENARIOS || n->scenario == scenario;
}

int design_overrides_in(const Design* d, int scenario, ModelOverride* overrides, int count) {
  assert(scenario >= 0 && count >= 0 && (overrides || count == 0));
  int kept = 0;
  for (int k = 0; k < count; k++)
    if (k >= d->number_count || belongs_to(&d->numbers[k], scenario)) overrides[kept++] = overrides[k];
  return kept;
}

double design_component(Vec3 v, int axis) {
  assert(axis >= 0 && axis < 3);
  return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static double parameter_derivative(const DesignNumber* n, const Model* m, const ModelGradient* g) {
  switch (n->kind) {
    case OVERRIDE_VERTEX: {
      const ModelHull* hull = &m->hulls[m->links[n->link].hull_first + n->part];
      return design_component(g->vertices[hull->vertex_first + n->index / 3], n->index % 3);
    }
    case OVERRIDE_ATTACHMENT:
      return design_component(g->attachments[n->link], n->index);
    case OVERRIDE_CONTROL:
      return g->control[model_signal_first(m, model_scene_signal(m->scene, n->link, n->part)) + n->index];
    case OVERRIDE_GAIN:
      return g->gains[m->controllers[model_scene_controller(m->scene, n->link, n->part)].gain_first + n->index];
    case OVERRIDE_SHAPE: {
      const ModelHull* hull = &m->hulls[m->links[n->link].hull_first + n->part];
      return g->shapes[hull->smooth->parameter_first + n->index];
    }
    case OVERRIDE_COORDINATE:
      return g->coordinates[m->links[n->link].dof_first + n->index];
    case OVERRIDE_VELOCITY:
      return g->velocities[m->links[n->link].dof_first + n->index];
    case OVERRIDE_MASS: {
      const SceneLink* source = &m->scene->links[n->link];
      return source->has_mass ? g->mass[n->link] : g->mass[n->link] * m->links[n->link].mass / source->density;
    }
    case OVERRIDE_MATERIAL:
      return g->material[model_material_row(m, n->link, n->part)][n->index];
    case OVERRIDE_CONTACT:
      return g->contact[n->index];
    case OVERRIDE_JOINT:
      return g->joint[m->links[n->link].dof_first + n->index][n->part];
    case OVERRIDE_GRAVITY:
      return design_component(g->gravity, n->index);
    case OVERRIDE_FLUID:
      return g->fluid[n->index];
    case OVERRIDE_CENTER:
      return design_component(g->center[n->link], n->index);
    case OVERRIDE_INERTIA:
      return g->inertia[n->link][n->index];
    case OVERRIDE_CLOSURE:
      return g->closures[n->part][n->index];
    case OVERRIDE_TENDON:
      return model_gradient_tendon(m, g, n->part, n->index);
    case OVERRIDE_WRAP:
      return model_gradient_wrap(m, g, n->part, n->index);
    case OVERRIDE_BUSHING:
      return g->bushings[n->part][n->index];
    case OVERRIDE_RATIO:
      return g->ratios[n->part][n->index];
    case OVERRIDE_AXIS: /* design_rotation_gradient computes all values of a joint together */
    case OVERRIDE_ROTATION:
      return 0;
  }
  return 0;
}

/* Returns the derivative of the loss with respect to an initial rotation about the link's axes, at constant angular
 * velocity in the link frame. */
static Vec3 initial_rotation_derivative(const Model* m, const ModelGradient* g, int link) {
  return vec3_at(g->coordinates + m->links[link].dof_first + m->links[link].joint.scalar_count);
}

/* Adds factor times the derivatives of the loss with respect to the rotation variables of a joint. first: first scene
 * value that the rotation changes. */
static void add_rotation_derivatives(const DesignRotation* rotation, const DesignNumber* first, const Model* m,
                                     const ModelGradient* g, double factor, double* out) {
  const SceneJoint* joint = &m->scene->links[first->link].joint;
  double numbers[4];
  assert(rotation->changes_initial_rotation || !g->without_turns);
  Vec3 by_turn = rotation->changes_axis ? g->axes[first->link] : g->turns[first->link];
  if (rotation->changes_axis)
    vec3_store(joint->axes[0], numbers);
  else
    quat_store(joint->rotation, numbers);
  if (rotation->changes_initial_rotation) {
    quat_store(quat_at(model_scene_initial(m->scene, first->link)->coordinates + first->index), numbers);
    by_turn = initial_rotation_derivative(m, g, first->link);
  }
  design_rotation_gradient(rotation, numbers, vec3_scale(by_turn, factor), out);
}

/* Applies the chain rule: from derivatives of the loss with respect to scene values to those with respect to variables
 * (D2). */
void design_gradient(const Design* d, int scenario, const Model* model, const ModelGradient* gradient, double factor,
                     double* out) {
  assert(model && gradient && scenario >= 0);
  for (int k = 0; k < d->number_count; k++) {
    const DesignNumber* n = &d->numbers[k];
    if (!belongs_to(n, scenario) || n->term_count == 0) continue;
    double slope = factor * parameter_derivative(n, model, gradient);
    for (int t = n->term_first; t < n->term_first + n->term_count; t++)
      out[d->terms[t].variable] += d->terms[t].coefficient * slope;
  }
  for (int k = 0; k < d->inertia_count; k++) { /* the derivative refers to the inertia of the model */
    const DesignInertia* rotation = &d->inertias[k];
    int link = d->numbers[rotation->number_first].link;
    double by_inertia[6];
    for (int i = 0; i < 6; i++) by_inertia[i] = factor * gradient->inertia[link][i];
    design_inertia_gradient(rotation, model->scene->links[link].inertia, by_inertia, out);
  }
  for (int k = 0; k < d->turn_count; k++) {
    const DesignNumber* first = &d->numbers[d->turns[k].number_first];
    if (belongs_to(first, scenario)) add_rotation_derivatives(&d->turns[k], first, model, gradient, factor, out);
  }
}

void design_destroy(Design* d) {
  for (int k = 0; k < d->variable_count; k++) {
    memory_free(d->variables[k].name);
    memory_free(d->variables[k].former);
  }
  memory_free(d->variables);
  memory_free(d->numbers);
  memory_free(d->terms);
  memory_free(d->inertias);
  memory_free(d->turns);
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
