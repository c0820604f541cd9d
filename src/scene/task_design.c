/* Reads the design of a task: vertices, cages, attachments, symmetries, constraints. */
#include <assert.h>
#include <string.h>

#include "scene/task_parts.h"

/* ---------------------------------------------------------------- bounds and axes */

static TaskBounds read_bounds(Reader* reader, const Node* item, const BoundsForm* form) {
  TaskBounds bounds = {.within = node_has_key(item, "within") ? form->within : HUGE_VAL,
                       .prior = node_has_key(item, "prior") ? form->prior : HUGE_VAL,
                       .step = node_has_key(item, "step") ? form->step : 0};
  bool ordered = true;
  for (int i = 0; i < 3; i++) {
    bounds.low[i] = form->low.node ? form->low.values[i] : -HUGE_VAL;
    bounds.high[i] = form->high.node ? form->high.values[i] : HUGE_VAL;
    ordered = ordered && check_order(reader, item, bounds.low[i], bounds.high[i]);
  }
  return bounds;
}

static void set_axes(bool axes[3], unsigned bits) {
  for (int i = 0; i < 3; i++) axes[i] = (bits >> i & 1u) != 0;
}

/* ---------------------------------------------------------------- vertices */

bool read_box(Reader* reader, const Node* node, Vec3* low, Vec3* high) {
  BoxForm form;
  if (!node) return false;
  bool read = false;
  size_t mark = reader_enter_key(reader, "box");
  int before = reader->problem_count;
  if (schema_read(reader, node, "box", &form) && reader->problem_count == before) {
    read = true;
    *low = form.low;
    *high = form.high;
    if (check_order(reader, node, form.low.x, form.high.x) && check_order(reader, node, form.low.y, form.high.y))
      check_order(reader, node, form.low.z, form.high.z);
  }
  reader_leave(reader, mark);
  return read;
}

/* Returns a copy of numbers (count), or NULL if count is 0. Each link of an item owns its list of hulls. The caller
 * frees the copy. */
static int* copy_numbers(Reader* reader, SourcePosition place, const int* numbers, int count) {
  assert(numbers || count == 0);
  if (count == 0 || !reader_count_values(reader, place, count)) return NULL;
  int* copy = MEMORY_NEW(int, count);
  memcpy(copy, numbers, sizeof(int) * (size_t)count);
  return copy;
}

/* Links and vertices that an item of `vertices` or `frozen` selects. */
typedef struct {
  TaskName* links;
  int* hulls;
  int link_count, hull_count;
  bool has_box;
  Vec3 low, high;
} VertexSelection;

static VertexSelection read_selection(Reader* reader, const Task* task, const Node* item,
                                      const LinkSelectionForm* which, const Node* hulls, const Node* box) {
  static const ValueRange HULL = {true, 0, 1000000, false, false};
  VertexSelection selection = {0};
  selection.links = read_item_links(reader, task, item, which, &selection.link_count);
  selection.hulls = reader_integers(reader, hulls, "hulls", &HULL, &selection.hull_count);
  selection.has_box = read_box(reader, box, &selection.low, &selection.high);
  return selection;
}

/* Frees a selection, but not the names of its links, which the items of the task own. */
static void selection_free(VertexSelection* selection) {
  memory_free(selection->links);
  memory_free(selection->hulls);
}

static void read_vertices(Reader* reader, Task* task, const Node* item, int* capacity) {
  VerticesForm form;
  if (!schema_read(reader, item, "vertices", &form)) return;
  TaskVertices pattern = {.place = item->place, .bounds = read_bounds(reader, item, &form.bounds)};
  VertexSelection selection = read_selection(reader, task, item, &form.which, form.hulls, form.box);
  pattern.hull_count = selection.hull_count;
  pattern.has_box = selection.has_box;
  pattern.box_low = selection.low;
  pattern.box_high = selection.high;
  set_axes(pattern.axes, form.axes);
  for (int i = 0; i < selection.link_count; i++) {
    pattern.link = selection.links[i];
    pattern.hulls = copy_numbers(reader, item->place, selection.hulls, selection.hull_count);
    task->vertices = memory_grow_array(task->vertices, sizeof(TaskVertices), task->vertices_count, capacity);
    task->vertices[task->vertices_count++] = pattern;
  }
  selection_free(&selection);
}

static void read_frozen(Reader* reader, Task* task, const Node* item, int* capacity) {
  FrozenForm form;
  if (!schema_read(reader, item, "frozen", &form)) return;
  VertexSelection selection = read_selection(reader, task, item, &form.which, form.hulls, form.box);
  for (int i = 0; i < selection.link_count; i++) {
    int* hulls = copy_numbers(reader, item->place, selection.hulls, selection.hull_count);
    task->frozen = memory_grow_array(task->frozen, sizeof(TaskFrozen), task->frozen_count, capacity);
    task->frozen[task->frozen_count++] = (TaskFrozen){
        item->place, selection.links[i], hulls, selection.hull_count, selection.has_box, selection.low, selection.high};
  }
  selection_free(&selection);
}

/* ---------------------------------------------------------------- cages */

static void read_cells(Reader* reader, const Node* list, TaskCage* cage) {
  static const ValueRange CELLS = {true, 1, CAGE_CELLS_MAX, false, false};
  int count, before = reader->problem_count;
  int* cells = reader_integers(reader, list, "cells", &CELLS, &count);
  size_t mark = reader_enter_key(reader, "cells");
  if (list && count != 3 && reader->problem_count == before)
    reader_error(reader, list->place, "expected 3 numbers, along x, y and z, got %d", count);
  for (int k = 0; k < 3; k++) cage->cells[k] = count == 3 ? cells[k] : 1;
  reader_leave(reader, mark);
  memory_free(cells);
}

static void read_cage(Reader* reader, Task* task, const Node* item, int* capacity) {
  CageForm form;
  if (!schema_read(reader, item, "cage", &form)) return;
  TaskCage pattern = {.place = item->place, .bounds = read_bounds(reader, item, &form.bounds)};
  int link_count;
  TaskName* links = read_item_links(reader, task, item, &form.which, &link_count);
  read_cells(reader, form.cells, &pattern);
  pattern.has_box = read_box(reader, form.box, &pattern.box_low, &pattern.box_high);
  set_axes(pattern.axes, form.axes);
  for (int i = 0; i < link_count; i++) {
    pattern.link = links[i];
    task->cages = memory_grow_array(task->cages, sizeof(TaskCage), task->cage_count, capacity);
    task->cages[task->cage_count++] = pattern;
  }
  memory_free(links);
}

/* ---------------------------------------------------------------- attachments */

static void read_attachment(Reader* reader, Task* task, const Node* item, int* capacity) {
  AttachmentForm form;
  if (!schema_read(reader, item, "attachment", &form)) return;
  TaskAttachment pattern = {.place = item->place, .bounds = read_bounds(reader, item, &form.bounds)};
  set_axes(pattern.axes, form.axes);
  int link_count;
  TaskName* links = read_item_links(reader, task, item, &form.which, &link_count);
  for (int i = 0; i < link_count; i++) {
    pattern.link = links[i];
    task->attachments = memory_grow_array(task->attachments, sizeof(TaskAttachment), task->attachment_count, capacity);
    task->attachments[task->attachment_count++] = pattern;
  }
  memory_free(links);
}

/* ---------------------------------------------------------------- symmetries */

/* Checks the number of links of a symmetry, which depends on its type. */
static void check_link_count(Reader* reader, const Node* list, const TaskSymmetry* symmetry) {
  size_t mark = reader_enter_key(reader, "links");
  if (symmetry->type == SYMMETRY_COPY && symmetry->link_count == 1)
    reader_error(reader, list->place, "a symmetry of type copy needs two or more links, got one");
  if (symmetry->type == SYMMETRY_ROTATION && symmetry->link_count > 1)
    reader_error(reader, list->place, "a symmetry of type rotation needs exactly one link, got %d",
                 symmetry->link_count);
  reader_leave(reader, mark);
}

static void read_symmetry(Reader* reader, Task* task, const Node* item, int* capacity) {
  SymmetryForm form;
  int before = reader->problem_count;
  if (!schema_read(reader, item, "symmetry", &form)) return;
  TaskSymmetry symmetry = {.place = item->place, .type = (TaskSymmetryType)form.type, .count = form.count};
  if (reader->problem_count == before && symmetry.type == SYMMETRY_MIRROR)
    symmetry.normal = task_unit_direction(reader, item, "normal", form.normal);
  if (reader->problem_count == before && symmetry.type == SYMMETRY_ROTATION)
    symmetry.axis = task_unit_direction(reader, item, "axis", form.axis);
  symmetry.links = task_names(reader, form.links, "links", &symmetry.link_count);
  if (reader->problem_count == before) check_link_count(reader, form.links, &symmetry);
  task->symmetries = memory_grow_array(task->symmetries, sizeof(TaskSymmetry), task->symmetry_count, capacity);
  task->symmetries[task->symmetry_count++] = symmetry;
}

/* ---------------------------------------------------------------- constraints */

/* Returns the coefficients of a constraint, one per variable. The default of each is 1. The caller frees the array. */
static double* read_coefficients(Reader* reader, const Node* list, int count) {
  assert(count >= 0);
  static const ValueRange ANY = {0};
  double* coefficients = MEMORY_NEW(double, count);
  size_t mark = reader_enter_key(reader, "coefficients");
  for (int i = 0; i < count; i++) coefficients[i] = 1;
  if (list && list->count != count)
    reader_error(reader, list->place, "expected %d number%s, one per variable, got %d", count, count == 1 ? "" : "s",
                 list->count);
  else if (list)
    reader_numbers(reader, list, &ANY, NULL, count, coefficients);
  reader_leave(reader, mark);
  return coefficients;
}

static void read_constraint(Reader* reader, Task* task, const Node* item, int* capacity) {
  ConstraintForm form;
  if (!schema_read_partial(reader, item, "constraint", &form) || !form.variables) return;
  TaskConstraint constraint = {.place = item->place, .relation = (TaskRelation)form.relation, .value = form.value};
  constraint.variables = task_names(reader, form.variables, "variables", &constraint.count);
  constraint.coefficients = read_coefficients(reader, form.coefficients, constraint.count);
  task->constraints = memory_grow_array(task->constraints, sizeof(TaskConstraint), task->constraint_count, capacity);
  task->constraints[task->constraint_count++] = constraint;
}

/* ---------------------------------------------------------------- the design */

static void read_connect(Reader* reader, const Node* node, TaskOptimizer* optimizer) {
  optimizer->connect = true;
  if (!node) return;
  size_t mark = reader_enter_key(reader, "connect");
  optimizer->connect_place = node->place;
  optimizer->connect_keep = strcmp(node->text, "keep") == 0;
  if (!optimizer->connect_keep && node_scalar_type(node) != SCALAR_BOOL)
    reader_report_wrong_kind(reader, node, "true, false or keep");
  else if (!optimizer->connect_keep)
    reader_bool(reader, node, &optimizer->connect);
  reader_leave(reader, mark);
}

void read_design(Reader* reader, Task* task, const Node* node) {
  DesignForm form;
  size_t mark = reader_enter_key(reader, "design");
  const Node* map = task_section_or_empty(reader, task, node);
  if (map && schema_read(reader, map, "design", &form)) {
    task->mass = (TaskMass)form.mass;
    task->min_thickness = form.min_thickness;
    read_connect(reader, form.connect, &task->optimizer);
    task_read_list(reader, task, form.vertices, "vertices", read_vertices);
    task_read_list(reader, task, form.cage, "cage", read_cage);
    task_read_list(reader, task, form.frozen, "frozen", read_frozen);
    task_read_list(reader, task, form.attachments, "attachments", read_attachment);
    task_read_list(reader, task, form.symmetry, "symmetry", read_symmetry);
    task_read_list(reader, task, form.constraints, "constraints", read_constraint);
  }
  reader_leave(reader, mark);
}

void design_free(Task* task) {
  for (int i = 0; i < task->vertices_count; i++) {
    task_name_free(&task->vertices[i].link);
    memory_free(task->vertices[i].hulls);
  }
  for (int i = 0; i < task->cage_count; i++) task_name_free(&task->cages[i].link);
  for (int i = 0; i < task->frozen_count; i++) {
    task_name_free(&task->frozen[i].link);
    memory_free(task->frozen[i].hulls);
  }
  for (int i = 0; i < task->attachment_count; i++) task_name_free(&task->attachments[i].link);
  for (int i = 0; i < task->symmetry_count; i++)
    task_names_free(task->symmetries[i].links, task->symmetries[i].link_count);
  for (int i = 0; i < task->constraint_count; i++) {
    task_names_free(task->constraints[i].variables, task->constraints[i].count);
    memory_free(task->constraints[i].coefficients);
  }
  memory_free(task->vertices);
  memory_free(task->cages);
  memory_free(task->frozen);
  memory_free(task->attachments);
  memory_free(task->symmetries);
  memory_free(task->constraints);
}
