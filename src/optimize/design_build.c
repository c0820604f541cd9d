/* Creation of a design: prepares the scenes, then adds the variables, the scene values that depend on them, and the
 * feasible set. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/outside.h"
#include "optimize/design_build.h"

int design_find_link(const Scene* scene, const char* name) {
  for (int i = 0; i < scene->link_count; i++)
    if (strcmp(scene->links[i].name, name) == 0) return i;
  return -1;
}

/* The reader has checked the names of a task file. */
int design_require_link(DesignBuild* b, const TaskName* name) {
  int link = design_find_link(b->scene, name->text);
  if (link < 0) diagnostics_add(b->diagnostics, SEVERITY_ERROR, name->place, "no link '%s' in the scene", name->text);
  return link;
}

/* Appends `@scenario` to the name of a variable that belongs to one scenario only. */
static void append_scenario(const DesignBuild* b, Text* name) {
  if (b->design->current_scenario != ALL_SCENARIOS)
    text_add(name, "@%s", b->task->scenarios[b->design->current_scenario].name);
}

void design_set_former_name(DesignBuild* b, int variable, const char* former) {
  Text name = {0};
  text_add(&name, "%s", former);
  append_scenario(b, &name);
  b->design->variables[variable].former = name.data;
}

int design_new_variable(DesignBuild* build, const VariableSpec* wish, double initial, const char* format, ...) {
  Text name = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&name, format, arguments);
  va_end(arguments);
  append_scenario(build, &name);
  DesignVariable v = {
      .name = name.data, .initial = initial, .block = wish->block, .place = wish->place, .step = wish->step};
  if (wish->prior > 0 && isfinite(wish->prior)) v.prior = wish->prior;
  v.low = fmax(wish->low, initial - wish->max_change);
  v.high = fmin(wish->high, initial + wish->max_change);
  bool is_reported = wish->place.line == build->last_message.line && wish->place.column == build->last_message.column &&
                     build->last_message.line > 0;
  if (!(initial >= v.low && initial <= v.high) && !is_reported) {
    diagnostics_add(build->diagnostics, SEVERITY_ERROR, wish->place,
                    "%s starts at %.6g, outside its bounds [%.6g, %.6g]: widen the bounds or change the initial value",
                    v.name, initial, v.low, v.high);
    build->last_message = wish->place;
  }
  return design_add_variable(build->design, &v);
}

static void read_shape_items(DesignBuild* b) {
  for (int k = 0; k < b->task->vertices_count; k++) {
    int link = design_require_link(b, &b->task->vertices[k].link);
    if (link >= 0) b->shapes[link] = true;
  }
  for (int k = 0; k < b->task->cage_count; k++) {
    int link = design_require_link(b, &b->task->cages[k].link);
    if (link >= 0) b->shapes[link] = true;
  }
  for (int k = 0; k < b->task->attachment_count; k++) {
    int link = design_require_link(b, &b->task->attachments[k].link);
    if (link >= 0) b->joints[link] = true;
  }
  for (int i = 0; i < b->scene->link_count; i++)
    if (b->leader[i] >= 0) b->shapes[i] = b->shapes[b->leader[i]];
}

/* Returns the index of the variable with this name, or -1. Accepts names of earlier versions with a warning. */
static int find_variable(const DesignBuild* b, const TaskName* name) {
  const Design* d = b->design;
  for (int k = 0; k < d->variable_count; k++)
    if (strcmp(d->variables[k].name, name->text) == 0) return k;
  for (int k = 0; k < d->variable_count; k++) {
    if (!d->variables[k].former || strcmp(d->variables[k].former, name->text) != 0) continue;
    diagnostics_add(b->diagnostics, SEVERITY_WARNING, name->place,
                    "variable '%s' is now called '%s': use the new name, the old one will be removed", name->text,
                    d->variables[k].name);
    return k;
  }
  return -1;
}

static const char* suggest_variable(const Design* d, const char* name) {
  const char** names = MEMORY_NEW(const char*, d->variable_count);
  for (int k = 0; k < d->variable_count; k++) names[k] = d->variables[k].name;
  const char* nearest = text_nearest(name, names, d->variable_count);
  memory_free(names);
  return nearest;
}

/* Adds the linear constraints of the task to the feasible set (design.md, D6). */
static void build_constraints(DesignBuild* b) {
  Design* d = b->design;
  FeasibleSet* set = &d->set;
  int entries = 0, rows = b->task->constraint_count;
  for (int k = 0; k < rows; k++) entries += b->task->constraints[k].count;
  set->row_first = MEMORY_NEW(int, rows + 1);
  set->column = MEMORY_NEW(int, entries + 1);
  set->coefficient = MEMORY_NEW(double, entries + 1);
  set->row_low = MEMORY_NEW(double, rows + 1);
  set->row_high = MEMORY_NEW(double, rows + 1);
  for (int k = 0, next = 0; k < rows; k++) {
    const TaskConstraint* c = &b->task->constraints[k];
    for (int j = 0; j < c->count; j++) {
      int variable = find_variable(b, &c->variables[j]);
      const char* near = variable < 0 ? suggest_variable(d, c->variables[j].text) : NULL;
      if (variable < 0)
        diagnostics_add(b->diagnostics, SEVERITY_ERROR, c->variables[j].place, "no variable '%s'%s",
                        c->variables[j].text, text_suggestion(near).text);
      set->column[next] = variable < 0 ? 0 : variable;
      set->coefficient[next++] = c->coefficients[j];
    }
    set->row_first[k + 1] = next;
    set->row_low[k] = c->relation == RELATION_AT_MOST ? -HUGE_VAL : c->value;
    set->row_high[k] = c->relation == RELATION_AT_LEAST ? HUGE_VAL : c->value;
  }
  set->row_count = rows;
}

static void build_feasible_set(DesignBuild* b) {
  Design* d = b->design;
  d->block = MEMORY_NEW(int, d->variable_count);
  d->low_high = MEMORY_NEW(double, 2 * (size_t)d->variable_count);
  d->set = (FeasibleSet){
      .count = d->variable_count, .block = d->block, .low = d->low_high, .high = d->low_high + d->variable_count};
  for (int k = 0; k < d->variable_count; k++) {
    d->block[k] = d->variables[k].block;
    d->set.low[k] = d->variables[k].low;
    d->set.high[k] = d->variables[k].high;
  }
  build_constraints(b);
}

/* Adds zero initial coordinates of a link unless the scene gives them. */
static void add_initial_state(Scene* scene, int link) {
  SceneInitial* initial = model_scene_initial(scene, link);
  if (!initial) {
    size_t old = sizeof(SceneInitial) * (size_t)scene->initial_count;
    scene->initials = memory_resize(scene->initials, old, old + sizeof(SceneInitial));
    initial = &scene->initials[scene->initial_count++];
    *initial = (SceneInitial){.place = scene->links[link].place, .link = link};
  }
  Joint joint = scene_joint(&scene->links[link].joint);
  if (!initial->has_coordinates) joint_zero(&joint, initial->coordinates);
  initial->has_coordinates = initial->has_velocities = true;
}

/* Adds zero initial coordinates of links whose initial state is a variable or depends on a variable offset of a
 * coupling. */
static void add_initial_states(const Task* task, const Model* model, Scene* scene) {
  bool offsets = false;
  for (int k = 0; k < task->start_count; k++) {
    int link = design_find_link(scene, task->starts[k].link.text);
    if (link >= 0 && model->links[link].prescribed < 0) add_initial_state(scene, link);
  }
  for (int k = 0; k < task->parameter_count; k++) offsets = offsets || task->parameters[k].type == PARAMETER_OFFSET;
  for (int k = 0; offsets && k < scene->coupling_count; k++) {
    int link = scene->couplings[k].terms[0].link;
    if (model->links[link].prescribed < 0) add_initial_state(scene, link);
  }
}

/* Stores the masses of the model in the scene, so that they do not change with the shapes. Not for `design.mass:
 * density`. */
static void store_masses(const Task* task, const Model* model, Scene* scene) {
  if (task->mass == TASK_MASS_DENSITY) return;
  for (int i = 0; i < scene->link_count; i++) {
    if (!(model->links[i].mass > 0)) continue;
    scene->links[i].has_mass = true;
    scene->links[i].has_density = false;
    scene->links[i].mass = model->links[i].mass;
  }
}

/* Finds the task item that first changes the shape of each link: reshaped[link], zeroed by the caller (links). The file
 * is NULL for unchanged links. */
static void find_reshaped_links(const Task* task, const Scene* scene, SourcePosition* reshaped) {
  for (int k = 0; k < task->vertices_count; k++) {
    int link = design_find_link(scene, task->vertices[k].link.text);
    if (link >= 0 && !reshaped[link].file) reshaped[link] = task->vertices[k].place;
  }
  for (int k = 0; k < task->cage_count; k++) {
    int link = design_find_link(scene, task->cages[k].link.text);
    if (link >= 0 && !reshaped[link].file) reshaped[link] = task->cages[k].place;
  }
  for (int k = 0; k < task->parameter_count; k++) {
    const TaskParameter* item = &task->parameters[k];
    if (item->type != PARAMETER_SIZE && item->type != PARAMETER_SHAPE_SIZE) continue;
    for (int i = 0; i < item->link_count; i++) {
      int link = design_find_link(scene, item->links[i].text);
      if (link >= 0 && !reshaped[link].file) reshaped[link] = item->place;
    }
  }
}

/* States whether the mass of a link follows its changing shape, and the reason if it does not. */
typedef enum { MASS_FOLLOWS, MASS_OF_ALL_LINKS_GIVEN, MASS_OF_LINK_GIVEN, MASS_FIXED_BY_TASK } MassState;

static MassState find_mass_state(const SceneLink* link, bool by_density) {
  if (link->mass_model == MASS_GIVEN) return MASS_OF_ALL_LINKS_GIVEN;
  if (link->has_density) return by_density ? MASS_FOLLOWS : MASS_FIXED_BY_TASK;
  return by_density && link->has_mass ? MASS_OF_LINK_GIVEN : MASS_FOLLOWS;
}

/* Largest number of links that one message names. */
enum { LINKS_NAMED_MAX = 8 };

/* Adds one message that names all links whose mass has the state `state`. The message has the source position of the
 * first of them. */
static void report_links(const DesignBuild* b, const Model* model, const SourcePosition* reshaped, MassState state) {
  const Scene* scene = model->scene;
  bool by_density = b->task->mass == TASK_MASS_DENSITY;
  Text names = {0};
  int first = -1, count = 0;
  for (int i = 0; i < scene->link_count; i++) {
    const ModelLink* link = &model->links[i];
    bool weighs = reshaped[i].file && link->tree >= 0 && link->prescribed < 0 && link->mass > 0;
    if (!weighs || find_mass_state(&scene->links[i], by_density) != state) continue;
    if (first < 0) first = i;
    if (count++ < LINKS_NAMED_MAX) text_add(&names, "%s'%s'", count > 1 ? ", " : "", link->name);
  }
  if (count > LINKS_NAMED_MAX) text_add(&names, " and %d more", count - LINKS_NAMED_MAX);
  const char* s = count > 1 ? "s" : "";
  if (count > 0 && state == MASS_OF_ALL_LINKS_GIVEN)
    diagnostics_add(b->diagnostics, SEVERITY_WARNING, reshaped[first],
                    "mass, center and inertia of link%s %s are given and do not follow the shape%s: give 'density' in "
                    "their place, or import the robot with --mass-model uniform or vertices",
                    s, names.data, by_density ? "; 'mass: density' has no effect" : "");
  if (count > 0 && state == MASS_OF_LINK_GIVEN)
    diagnostics_add(b->diagnostics, SEVERITY_WARNING, reshaped[first],
                    "the mass of link%s %s is given: 'mass: density' has no effect; give 'density' in place of "
                    "'mass' to let the mass follow the shape",
                    s, names.data);
  if (count > 0 && state == MASS_FIXED_BY_TASK)
    diagnostics_add(b->diagnostics, SEVERITY_NOTE, reshaped[first],
                    "link '%s' has a density, but its mass stays %.6g kg while its shape changes; to keep the density "
                    "instead, write 'design: {mass: density}'",
                    scene->links[first].name, model->links[first].mass);
  text_free(&names);
}

/* Adds messages about links whose mass does not follow their changing shape, one per reason. Only links that forces can
 * move count. */
static void report_masses(const DesignBuild* b, const Model* model, const Scene* scene) {
  SourcePosition* reshaped = MEMORY_NEW(SourcePosition, scene->link_count + 1);
  find_reshaped_links(b->task, scene, reshaped);
  for (int state = MASS_OF_ALL_LINKS_GIVEN; state <= MASS_FIXED_BY_TASK; state++)
    report_links(b, model, reshaped, (MassState)state);
  memory_free(reshaped);
}

/* Replaces the round solids of a link with variable vertices by inscribed polyhedra. */
static void replace_round_solids(const DesignBuild* b, Scene* scene, bool first, const char* name,
                                 SourcePosition place) {
  int link = design_find_link(scene, name);
  for (int k = 0; link >= 0 && k < scene->links[link].shape_count; k++) {
    SceneShape* shape = &scene->shapes[scene->links[link].shapes[k].shape];
    if (!shape_is_exact(shape)) continue;
    shape->exact = false;
    if (!first) continue;
    if (shape->type == SHAPE_ROUNDED_POINTS) {
      diagnostics_add(b->diagnostics, SEVERITY_ERROR, place,
                      "link '%s': the points of shape '%s' (rounded_points) cannot be design variables: design its "
                      "radius by 'parameters' of type size, or give the shape 'segments' to design the vertices of "
                      "that polyhedron",
                      name, shape->name);
      continue;
    }
    diagnostics_add(b->diagnostics, SEVERITY_NOTE, place,
                    "link '%s': its vertices are design variables, so its round shape is replaced by a polyhedron; "
                    "'segments' of the shape ('resolution' of a sphere) sets the number of its facets; to keep the "
                    "shape round, design its lengths by 'parameters' of type size",
                    name);
  }
}

static void replace_all_round_solids(const DesignBuild* b, Scene* scene, bool first) {
  const Task* task = b->task;
  for (int k = 0; k < task->vertices_count; k++)
    replace_round_solids(b, scene, first, task->vertices[k].link.text, task->vertices[k].place);
  for (int k = 0; k < task->cage_count; k++)
    replace_round_solids(b, scene, first, task->cages[k].link.text, task->cages[k].place);
}

static Status prepare_scene(DesignBuild* b, TaskScenario* scenario, bool first, SharedVertices* shared) {
  Model model = {0};
  Scene* scene = &scenario->scene;
  if (scenario->steps > 0) scene->simulation.steps = scenario->steps;
  scene->simulation.tolerance = b->task->optimizer.tolerance;
  replace_all_round_solids(b, scene, first);
  Status status = model_create_lifted(&model, scene, b->diagnostics);
  if (status == STATUS_OK) {
    b->scene = scene;
    if (first) design_store_boxes(b, &model);
    model_expand_shapes(&model, scene);
    if (first) report_masses(b, &model, scene);
    store_masses(b->task, &model, scene);
    design_store_masses(b->task, &model, scene);
    b->model = &model;
    if (first) {
      design_read_followers(b);
      read_shape_items(b);
    }
    add_initial_states(b->task, &model, scene);
    ConnectRequest request = {b->shapes, b->joints, b->leader, b->map, b->task->optimizer.connect_keep};
    if (request.keep_ties && first)
      connect_check_ties(scene, &request, b->task->optimizer.connect_place, b->diagnostics);
    if (b->task->optimizer.connect) connect_hulls(scene, &model, &request, shared);
    if (b->task->optimizer.connect && !request.keep_ties && first)
      connect_warn_unconnected(scene, &model, &request, shared, b->diagnostics);
    connect_store_ties(scene, shared);
  }
  b->model = NULL;
  model_destroy(&model);
  return status;
}

static void report_difference(DesignBuild* b, const TaskScenario* scenario, const char* link) {
  diagnostics_add(b->diagnostics, SEVERITY_ERROR, scenario->place,
                  "scenario '%s': hulls, joint, controllers or loads of link '%s' differ from the first scenario: make "
                  "them equal, because scenarios share one design",
                  scenario->name, link);
}

static bool links_agree(DesignBuild* b, const TaskScenario* scenario) {
  const Scene *first = &b->task->scenarios[0].scene, *scene = &scenario->scene;
  if (scene->link_count != first->link_count) {
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, scenario->place,
                    "scenario '%s' has %d links, the first scenario has %d: give all scenarios the same links, because "
                    "scenarios share one design",
                    scenario->name, scene->link_count, first->link_count);
    return false;
  }
  for (int i = 0; i < first->link_count; i++) {
    if (strcmp(scene->links[i].name, first->links[i].name) == 0) continue;
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, scenario->place,
                    "scenario '%s': link %d is '%s', but '%s' in the first scenario: give all scenarios the same links "
                    "in the same order",
                    scenario->name, i, scene->links[i].name, first->links[i].name);
    return false;
  }
  return true;
}

static bool signals_agree(SignalPlace x, SignalPlace y) {
  const SceneSignal *a = x.signal, *b = y.signal;
  return b && x.kind == y.kind && a->type == b->type && a->rows == b->rows && a->channels == b->channels &&
         a->terms == b->terms;
}

static bool gains_agree(const Scene* first, const Scene* other, const DesignNumber* n) {
  int a = model_scene_controller(first, n->link, n->part), b = model_scene_controller(other, n->link, n->part);
  return b >= 0 && controller_gain_has_effect(&other->controllers[b], n->index) &&
         controller_gain_count(&first->controllers[a]) == controller_gain_count(&other->controllers[b]);
}

/* Returns true if both scenes have the same kind of smooth shape with equally many parameters. */
static bool shapes_agree(const Scene* first, const Scene* other, const DesignNumber* n) {
  if (n->part >= other->links[n->link].shape_count) return false;
  const SceneShape* a = &first->shapes[first->links[n->link].shapes[n->part].shape];
  const SceneShape* b = &other->shapes[other->links[n->link].shapes[n->part].shape];
  return a->type == b->type && scene_shape_parameter_count(a) == scene_shape_parameter_count(b);
}

static bool closures_agree(const Scene* first, const Scene* other, const DesignNumber* n) {
  if (n->part >= other->closure_count) return false;
  const SceneClosure *a = &first->closures[n->part], *b = &other->closures[n->part];
  return a->type == b->type && a->a == b->a && a->b == b->b && a->has_point == b->has_point &&
         a->has_axis == b->has_axis && a->link_axes == b->link_axes;
}

static bool couplings_agree(const Scene* first, const Scene* other, const DesignNumber* n) {
  if (n->part >= other->coupling_count) return false;
  const SceneCoupling *a = &first->couplings[n->part], *b = &other->couplings[n->part];
  return a->count == b->count && b->has_offset == (n->index == 0) && a->terms[0].link == b->terms[0].link &&
         a->terms[n->index].link == b->terms[n->index].link;
}

/* Returns true if both tendons pass the same links and wrapping surfaces. */
static bool tendons_agree(const Scene* first, const Scene* other, const DesignNumber* n) {
  if (n->part >= other->tendon_count) return false;
  const SceneTendon *a = &first->tendons[n->part], *b = &other->tendons[n->part];
  bool same = a->count == b->count && (a->stiffness > 0) == (b->stiffness > 0) && a->wrap_count == b->wrap_count;
  for (int i = 0; same && i < a->count; i++) same = a->points[i].link == b->points[i].link;
  for (int i = 0; same && i < a->wrap_count; i++)
    same = a->wraps[i].link == b->wraps[i].link && a->wraps[i].after == b->wraps[i].after;
  return same;
}

/* Returns true if both bushings connect the same links. */
static bool bushings_agree(const Scene* first, const Scene* other, const DesignNumber* n) {
  if (n->part >= other->bushing_count) return false;
  const int *a = first->bushings[n->part].link, *b = other->bushings[n->part].link;
  return a[0] == b[0] && a[1] == b[1];
}

/* Returns true if a scene value of the first scenario also exists in another scenario. */
static bool value_exists_in(const DesignNumber* n, const Scene* first, const Scene* other) {
  if (n->kind == OVERRIDE_ATTACHMENT || n->kind == OVERRIDE_GRAVITY || n->kind == OVERRIDE_CONTACT) return true;
  if (n->kind == OVERRIDE_ROTATION) return true;
  if (n->kind == OVERRIDE_FLUID)
    return other->fluid.given && (n->index != FLUID_LEVEL || other->fluid.has_level == first->fluid.has_level);
  if (n->kind == OVERRIDE_SHAPE) return shapes_agree(first, other, n);
  if (n->kind == OVERRIDE_CLOSURE) return closures_agree(first, other, n);
  if (n->kind == OVERRIDE_RATIO) return couplings_agree(first, other, n);
  if (n->kind == OVERRIDE_BUSHING) return bushings_agree(first, other, n);
  if (n->kind == OVERRIDE_TENDON || n->kind == OVERRIDE_WRAP) return tendons_agree(first, other, n);
  if (n->kind == OVERRIDE_MATERIAL && n->link >= 0) return other->links[n->link].material.given[n->index];
  if (n->kind == OVERRIDE_MATERIAL && n->part >= 0)
    return n->part < other->contact.pair_count && other->contact.pairs[n->part].material.given[n->index];
  if (n->kind == OVERRIDE_MATERIAL) return true;
  if (n->kind == OVERRIDE_AXIS) return first->links[n->link].joint.type == other->links[n->link].joint.type;
  if (n->kind == OVERRIDE_MASS) return first->links[n->link].has_mass == other->links[n->link].has_mass;
  if (n->kind == OVERRIDE_CENTER || n->kind == OVERRIDE_INERTIA) return other->links[n->link].mass_model == MASS_GIVEN;
  if (n->kind == OVERRIDE_JOINT)
    return scene_joint_dof(&first->links[n->link].joint) == scene_joint_dof(&other->links[n->link].joint);
  if (n->kind == OVERRIDE_CONTROL)
    return signals_agree(model_scene_signal(first, n->link, n->part), model_scene_signal(other, n->link, n->part));
  if (n->kind == OVERRIDE_GAIN) return gains_agree(first, other, n);
  if (n->kind == OVERRIDE_VERTEX) {
    if (n->part >= other->links[n->link].shape_count) return false;
    const SceneShape *a = design_hull(first, n->link, n->part), *b = design_hull(other, n->link, n->part);
    return b->type == SHAPE_POINTS && a->point_count == b->point_count;
  }
  Joint a = scene_joint(&first->links[n->link].joint), b = scene_joint(&other->links[n->link].joint);
  return model_scene_initial(other, n->link) && a.slide_count == b.slide_count && a.dof_count == b.dof_count &&
         a.coordinate_count == b.coordinate_count;
}

static void check_scenarios(DesignBuild* b) {
  for (int s = 1; s < b->task->scenario_count; s++)
    for (int k = 0; k < b->design->number_count; k++) {
      const DesignNumber* n = &b->design->numbers[k];
      if (n->scenario != ALL_SCENARIOS || value_exists_in(n, b->scene, &b->task->scenarios[s].scene)) continue;
      report_difference(b, &b->task->scenarios[s], n->link >= 0 ? b->scene->links[n->link].name : "contact.pairs");
      break;
    }
}

typedef struct {
  const char* name;
  SourcePosition place;
} NamedPlace;

static int compare_names(const void* a, const void* b) {
  return strcmp(((const NamedPlace*)a)->name, ((const NamedPlace*)b)->name);
}

/* Adds an error for each variable that is added both for one scenario and for all scenarios. sorted: all variables by
 * name. */
static void check_scenario_variables(DesignBuild* b, const NamedPlace* sorted) {
  const Design* d = b->design;
  for (int k = 0; k < d->variable_count; k++) {
    const DesignVariable* v = &d->variables[k];
    const char* at = strchr(v->name, '@');
    if (!at) continue;
    Text everywhere = {0};
    text_add_bytes(&everywhere, v->name, (size_t)(at - v->name));
    NamedPlace wanted = {everywhere.data, v->place};
    if (bsearch(&wanted, sorted, (size_t)d->variable_count, sizeof(NamedPlace), compare_names))
      diagnostics_add(b->diagnostics, SEVERITY_ERROR, v->place,
                      "variable '%s' is listed twice, once for a scenario and once for all: remove one of them",
                      v->name);
    text_free(&everywhere);
  }
}

/* Adds an error for a variable that is added twice, and for a task without variables. */
static void check_variables(DesignBuild* b) {
  Design* d = b->design;
  NamedPlace* sorted = MEMORY_NEW(NamedPlace, d->variable_count);
  for (int k = 0; k < d->variable_count; k++) sorted[k] = (NamedPlace){d->variables[k].name, d->variables[k].place};
  qsort(sorted, (size_t)d->variable_count, sizeof(NamedPlace), compare_names);
  for (int k = 1; k < d->variable_count; k++) {
    if (compare_names(&sorted[k - 1], &sorted[k]) != 0) continue;
    /* report the later entry of the file */
    const NamedPlace *one = &sorted[k - 1], *two = &sorted[k];
    bool later = one->place.line > two->place.line ||
                 (one->place.line == two->place.line && one->place.column > two->place.column);
    SourcePosition place = later ? one->place : two->place;
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, place, "variable '%s' is listed twice: remove one of the entries",
                    two->name);
    break;
  }
  check_scenario_variables(b, sorted);
  memory_free(sorted);
  if (d->variable_count == 0 && b->diagnostics->error_count == b->errors_before)
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, (SourcePosition){b->task->path, 0, 0},
                    "the task has no design variables: give 'design', 'control', 'initial' or 'parameters'");
}

/* Links the shared vertices of each link into a list, to avoid searches. */
static void index_shared_vertices(DesignBuild* b) {
  const SharedVertices* shared = &b->design->shared;
  b->shared_first = MEMORY_NEW(int, b->scene->link_count);
  b->shared_next = MEMORY_NEW(int, shared->count);
  for (int i = 0; i < b->scene->link_count; i++) b->shared_first[i] = -1;
  for (int k = shared->count - 1; k >= 0; k--) {
    b->shared_next[k] = b->shared_first[shared->items[k].link];
    b->shared_first[shared->items[k].link] = k;
  }
}

static void find_changed_hulls(DesignBuild* b) {
  Design* d = b->design;
  d->link_changes = MEMORY_NEW(bool, b->model->link_count);
  d->hull_changes = MEMORY_NEW(bool, b->model->hull_count);
  d->hull_first = MEMORY_NEW(int, b->model->link_count + 1);
  for (int i = 0; i < b->model->link_count; i++)
    d->hull_first[i + 1] = d->hull_first[i] + b->model->links[i].hull_count;
  for (int k = 0; k < d->number_count; k++) {
    const DesignNumber* n = &d->numbers[k];
    if (n->kind != OVERRIDE_VERTEX) continue;
    d->link_changes[n->link] = true;
    d->hull_changes[d->hull_first[n->link] + n->part] = true;
  }
}

/* Selects the scenario of the variables that are added next. */
static void select_scenario(DesignBuild* b, int scenario) {
  b->design->current_scenario = scenario;
  b->scene = &b->task->scenarios[scenario == ALL_SCENARIOS ? 0 : scenario].scene;
}

/* Selects the next scenario that a task entry names, or all scenarios together if the entry names none. *next: 0 on the
 * first call. Returns false after the last one. */
static bool select_next_scenario(DesignBuild* b, const TaskScenarioSet* where, int* next) {
  while (where->in && *next < where->count && !where->in[*next]) ++*next;
  int end = where->in ? where->count : 1;
  select_scenario(b, where->in && *next < end ? *next : ALL_SCENARIOS);
  return (*next)++ < end;
}

static void add_control_variables(DesignBuild* b, const TaskControl* item) {
  for (int next = 0; select_next_scenario(b, &item->where, &next);) design_add_control_variables(b, item);
}

static void add_initial_variables(DesignBuild* b, const TaskStart* item) {
  for (int next = 0; select_next_scenario(b, &item->where, &next);) design_add_initial_variables(b, item);
}

static Status add_all_variables(DesignBuild* b) {
  Task* task = b->task;
  Model model = {0};
  b->scene = &b->task->scenarios[0].scene;
  Status status = model_create_lifted(&model, b->scene, b->diagnostics);
  b->model = &model;
  if (status == STATUS_OK) {
    index_shared_vertices(b);
    design_check_symmetries(b);
    design_check_frozen(b);
    design_add_vertex_variables(b);
    for (int k = 0; k < task->cage_count; k++) design_add_cage_variables(b, &task->cages[k]);
    for (int k = 0; k < task->attachment_count; k++) design_add_attachment_variables(b, &task->attachments[k]);
    for (int k = 0; k < task->control_count; k++) add_control_variables(b, &task->controls[k]);
    for (int k = 0; k < task->start_count; k++) add_initial_variables(b, &task->starts[k]);
    for (int k = 0; k < task->parameter_count; k++) design_add_parameter_variables(b, &task->parameters[k]);
    design_add_coupling_offsets(b);
    find_changed_hulls(b);
    check_variables(b);
    check_scenarios(b);
    build_feasible_set(b);
  }
  b->model = NULL;
  model_destroy(&model);
  return status;
}

Status design_create(Design* design, Task* task, Diagnostics* diagnostics) {
  assert(design && task && diagnostics);
  *design = (Design){0};
  int links = task->scenarios[0].scene.link_count;
  DesignBuild b = {
      .design = design, .task = task, .diagnostics = diagnostics, .errors_before = diagnostics->error_count};
  b.leader = MEMORY_NEW(int, links);
  b.map = MEMORY_NEW(Mat3, links);
  b.shapes = MEMORY_NEW(bool, links);
  b.joints = MEMORY_NEW(bool, links);
  design->current_scenario = ALL_SCENARIOS;
  Status status = STATUS_OK;
  for (int s = 1; s < task->scenario_count; s++)
    if (!links_agree(&b, &task->scenarios[s])) status = STATUS_BAD_INPUT;
  for (int s = 0; s < task->scenario_count && status == STATUS_OK; s++) {
    SharedVertices other = {0};
    status = prepare_scene(&b, &task->scenarios[s], s == 0, s == 0 ? &design->shared : &other);
    shared_vertices_free(&other);
  }
  if (status == STATUS_OK) status = add_all_variables(&b);
  memory_free(b.leader);
  memory_free(b.map);
  memory_free(b.shapes);
  memory_free(b.ties);
  memory_free(b.joints);
  memory_free(b.shared_first);
  memory_free(b.shared_next);
  memory_free(b.boxes);
  if (status == STATUS_OK && diagnostics->error_count > b.errors_before) status = STATUS_BAD_INPUT;
  return status;
}
