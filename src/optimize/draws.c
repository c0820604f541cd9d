/* Random values in the scenes, such as targets and initial poses that a design must handle. They differ between
 * iterations and validation. */
#include <assert.h>
#include <string.h>

#include "optimize/design_build.h"
#include "optimize/optimization.h"

/* Scene value to which a drawn value is added, in every scenario. */
typedef struct {
  OverrideKind kind;
  int link, part, index;
  int value;
  int* design_index; /* index in Design.numbers, or -1 (size: scenarios) */
  double* base;      /* value before the drawn value is added (size: scenarios) */
} DrawnNumber;

/* Random rotation after the initial rotation of each scenario. */
typedef struct {
  int link, first; /* first: index of the quaternion in the joint's coordinates */
  int value[3];    /* index of the drawn angle about each axis of the joint frame [rad]; -1: none */
  Quat* base;      /* initial rotation before the drawn rotation (size: scenarios) */
} DrawnRotation;

typedef struct {
  double low, high;
} DrawnValue;

struct Draws {
  uint64_t seed;
  DrawnNumber* numbers;
  int number_count, number_capacity;
  DrawnRotation* rotations;
  int rotation_count, rotation_capacity;
  DrawnValue* values;
  int value_count, value_capacity;
};

typedef struct {
  Draws* draws;
  const Design* design;
  const Task* task;
  Diagnostics* diagnostics;
} DrawsBuild;

static void report_problem(const DrawsBuild* b, const TaskDraw* item, const char* scenario, const char* what) {
  diagnostics_add(b->diagnostics, SEVERITY_ERROR, item->place, "scenario '%s': link '%s' %s", scenario, item->link.text,
                  what);
}

static int find_design_value(const Design* d, const DrawnNumber* n, int scenario) {
  for (int k = 0; k < d->number_count; k++) {
    const DesignNumber* number = &d->numbers[k];
    if (number->scenario != ALL_SCENARIOS && number->scenario != scenario) continue;
    if (number->kind == n->kind && number->link == n->link && number->part == n->part && number->index == n->index)
      return k;
  }
  return -1;
}

/* Adds a scene value that the last drawn value changes in every scenario. */
static void add_drawn_number(DrawsBuild* b, OverrideKind kind, int link, int index) {
  Draws* d = b->draws;
  DrawnNumber n = {.kind = kind, .link = link, .index = index, .value = d->value_count - 1};
  n.design_index = MEMORY_NEW(int, b->task->scenario_count);
  n.base = MEMORY_NEW(double, b->task->scenario_count);
  for (int s = 0; s < b->task->scenario_count; s++) {
    ModelOverride at = {kind, link, 0, index, 0};
    n.design_index[s] = find_design_value(b->design, &n, s);
    n.base[s] = *model_scene_number(&b->task->scenarios[s].scene, &at);
  }
  d->numbers = memory_grow_array(d->numbers, sizeof n, d->number_count, &d->number_capacity);
  d->numbers[d->number_count++] = n;
}

static void append_value(DrawsBuild* b, const TaskDraw* item) {
  Draws* d = b->draws;
  d->values = memory_grow_array(d->values, sizeof(DrawnValue), d->value_count, &d->value_capacity);
  d->values[d->value_count++] = (DrawnValue){item->low, item->high};
}

/* ---------------------------------------------------------------- controller targets */

/* Returns why a target signal cannot be drawn (static), or NULL. s: signal of one scenario, or NULL without a signal.
 */
static const char* find_target_problem(const TaskDraw* item, const SceneSignal* s) {
  if (!s || s->channels == 0 || signal_sine_count(s) > 0)
    return "has no controller with a target of knots: give the controller such a target, or name another link";
  for (int k = 0; k < item->knot_count; k++)
    if ((item->knots[k] + 1) * s->channels > signal_value_count(s))
      return "has fewer knots than 'knots' names: correct 'knots'";
  return NULL;
}

static bool check_targets(const DrawsBuild* b, const TaskDraw* item, int link) {
  for (int s = 0; s < b->task->scenario_count; s++) {
    const TaskScenario* scenario = &b->task->scenarios[s];
    const char* fault = find_target_problem(item, model_scene_signal(&scenario->scene, link, 0).signal);
    if (!fault) continue;
    report_problem(b, item, scenario->name, fault);
    return false;
  }
  return true;
}

static void add_targets(DrawsBuild* b, const TaskDraw* item, int link) {
  if (!check_targets(b, item, link)) return;
  const SceneSignal* s = model_scene_signal(&b->task->scenarios[0].scene, link, 0).signal;
  int rows = signal_value_count(s) / s->channels, count = item->knot_count > 0 ? item->knot_count : rows;
  for (int c = 0; c < s->channels && c < JOINT_MAX_DOF; c++) {
    if (!item->dof[c]) continue;
    append_value(b, item);
    for (int k = 0; k < count; k++) {
      int row = item->knot_count > 0 ? item->knots[k] : k;
      add_drawn_number(b, OVERRIDE_CONTROL, link, row * s->channels + c);
    }
  }
}

static void add_drawn_rotation(DrawsBuild* b, const TaskDraw* item, int link, const Joint* joint) {
  Draws* d = b->draws;
  DrawnRotation rotation = {.link = link, .first = joint->scalar_count};
  bool any = false;
  for (int k = 0; k < 3; k++) {
    bool drawn = item->dof[joint->scalar_count + k];
    rotation.value[k] = drawn ? d->value_count : -1;
    if (drawn) append_value(b, item);
    any = any || drawn;
  }
  if (!any) return;
  for (int k = 0; k < b->design->turn_count; k++) {
    const DesignRotation* initial = &b->design->turns[k];
    if (initial->changes_initial_rotation && b->design->numbers[initial->number_first].link == link) {
      report_problem(
          b, item, b->task->scenarios[0].name,
          "has its initial rotations as design variables: remove 'turns' from 'initial', or remove the draw");
      return;
    }
  }
  rotation.base = MEMORY_NEW(Quat, b->task->scenario_count);
  for (int s = 0; s < b->task->scenario_count; s++)
    rotation.base[s] = quat_at(model_scene_initial(&b->task->scenarios[s].scene, link)->coordinates + rotation.first);
  d->rotations = memory_grow_array(d->rotations, sizeof rotation, d->rotation_count, &d->rotation_capacity);
  d->rotations[d->rotation_count++] = rotation;
}

/* Returns why the initial coordinates of a link cannot be drawn (static), or NULL. initial: initial state in the scene,
 * or NULL. */
static const char* find_start_problem(const TaskDraw* item, const Joint* joint, const SceneInitial* initial) {
  if (joint->scalar_count == 0 && !item->turns)
    return "has no coordinates that can be drawn: its joint is fixed, or `dof` names none of its rotations";
  if (initial) return NULL;
  return "starts at the scene's default; give the numbers that draws are added to: in the scene, "
         "`initial: [{link: ..., coordinates: [0, ...]}]`, one for each degree of freedom";
}

static void add_initial_coordinates(DrawsBuild* b, const TaskDraw* item, int link) {
  const Scene* scene = &b->task->scenarios[0].scene;
  Joint joint = scene_joint(&scene->links[link].joint);
  for (int s = 0; s < b->task->scenario_count; s++) {
    const TaskScenario* scenario = &b->task->scenarios[s];
    const char* fault = find_start_problem(item, &joint, model_scene_initial(&scenario->scene, link));
    if (!fault) continue;
    report_problem(b, item, scenario->name, fault);
    return;
  }
  for (int k = 0; k < joint.scalar_count; k++) {
    if (!item->dof[k]) continue;
    append_value(b, item);
    add_drawn_number(b, OVERRIDE_COORDINATE, link, k);
  }
  if (item->turns && joint.coordinate_count > joint.dof_count) add_drawn_rotation(b, item, link, &joint);
}

Status draws_create(Draws** out, const Design* design, const Task* task, Diagnostics* diagnostics) {
  assert(out && design && task && diagnostics);
  *out = NULL;
  if (task->draw_count == 0) return STATUS_OK;
  int before = diagnostics->error_count;
  DrawsBuild b = {* out = MEMORY_NEW(Draws, 1), design, task, diagnostics};
  b.draws->seed = task->seed;
  for (int k = 0; k < task->draw_count; k++) {
    const TaskDraw* item = &task->draws[k];
    int link = design_find_link(&task->scenarios[0].scene, item->link.text), values = b.draws->value_count;
    int told = diagnostics->error_count;
    (item->of == DRAW_START ? add_initial_coordinates : add_targets)(&b, item, link);
    if (diagnostics->error_count == told && b.draws->value_count == values)
      report_problem(&b, item, task->scenarios[0].name,
                     "has none of the degrees of freedom in 'dof'; leave 'dof' out to draw all");
  }
  return diagnostics->error_count == before ? STATUS_OK : STATUS_BAD_INPUT;
}

void draws_destroy(Draws* d) {
  if (!d) return;
  for (int k = 0; k < d->number_count; k++) {
    memory_free(d->numbers[k].base);
    memory_free(d->numbers[k].design_index);
  }
  for (int k = 0; k < d->rotation_count; k++) memory_free(d->rotations[k].base);
  memory_free(d->rotations);
  memory_free(d->numbers);
  memory_free(d->values);
  memory_free(d);
}

int draws_override_capacity(const Draws* d) { return d ? d->number_count + 4 * d->rotation_count : 0; }

/* Draws the values of a scenario (update.md, O18): values[value_count]. */
static void draw_values(const Draws* d, DrawIndex draw, int scenario, double* values) {
  Random random = {d->seed};
  random.state = random_bits(&random) + (uint64_t)draw.stream;
  random.state = random_bits(&random) + (uint64_t)draw.number;
  random.state = random_bits(&random) + (uint64_t)scenario;
  for (int k = 0; k < d->value_count; k++) values[k] = random_uniform(&random, d->values[k].low, d->values[k].high);
}

static int apply_rotation(const DrawnRotation* rotation, const double* values, int scenario, ModelOverride* overrides,
                          int count) {
  double v[3], numbers[4];
  for (int k = 0; k < 3; k++) v[k] = rotation->value[k] < 0 ? 0 : values[rotation->value[k]];
  quat_store(quat_mul(quat_exp(vec3_at(v)), rotation->base[scenario]), numbers);
  for (int k = 0; k < 4; k++)
    overrides[count++] = (ModelOverride){OVERRIDE_COORDINATE, rotation->link, 0, rotation->first + k, numbers[k]};
  return count;
}

int draws_apply(const Draws* d, DrawIndex draw, int scenario, ModelOverride* overrides, int count) {
  assert(scenario >= 0 && count >= 0);
  if (!d || draw.stream == DRAW_NONE) return count;
  double* values = MEMORY_NEW(double, d->value_count);
  draw_values(d, draw, scenario, values);
  for (int k = 0; k < d->number_count; k++) {
    const DrawnNumber* n = &d->numbers[k];
    double value = values[n->value];
    if (n->design_index[scenario] >= 0)
      overrides[n->design_index[scenario]].value += value;
    else
      overrides[count++] = (ModelOverride){n->kind, n->link, n->part, n->index, n->base[scenario] + value};
  }
  for (int k = 0; k < d->rotation_count; k++)
    count = apply_rotation(&d->rotations[k], values, scenario, overrides, count);
  memory_free(values);
  return count;
}

bool draws_change(const Optimization* o) { return o->draws && o->task->draw_every > 0; }

void draws_select(Optimization* o, int iteration) {
  assert(iteration >= 0);
  if (o->draws) o->draw = (DrawIndex){DRAW_TRAINING, draws_change(o) ? iteration / o->task->draw_every : 0};
}

Status draws_advance(Optimization* o) {
  int before = o->draw.number;
  if (!draws_change(o)) return STATUS_OK;
  draws_select(o, o->iteration + 1);
  if (o->draw.number == before || !optimizer_descends(o->optimizer)) return STATUS_OK;
  bool interrupted;
  double loss;
  TrialOutcome outcome = evaluate_design(o, o->x, &loss, o->trial_terms, &interrupted);
  if (!interrupted && outcome == TRIAL_ACCEPTED && !optimizer_is_gradient_free(o->optimizer))
    outcome = evaluate_gradient(o, o->trial_gradient);
  if (interrupted) {
    draws_select(o, o->iteration);
    return STATUS_INTERRUPTED; /* the next call repeats the evaluation */
  }
  if (outcome != TRIAL_ACCEPTED) {
    o->loss = o->unconstrained_loss = HUGE_VAL; /* any valid design is better */
    return STATUS_OK;
  }
  o->unconstrained_loss = loss;
  o->loss = optimization_merit(o, loss, o->trial_terms);
  if (!optimizer_is_gradient_free(o->optimizer))
    memcpy(o->gradient, o->trial_gradient, sizeof(double) * (size_t)o->design.variable_count);
  memcpy(o->terms, o->trial_terms, sizeof(double) * (size_t)o->term_count);
  return STATUS_OK;
}
