/* Reads the loss terms of a task and gives them names. */
#include <assert.h>
#include <string.h>

#include "scene/task_parts.h"

/* Columns of convergence.csv that are not loss terms. Names of terms must differ from these words. */
#define COLUMNS "iteration|loss|grad_design|grad_control|step_design|step_control|seconds"

/* ---------------------------------------------------------------- names */

/* Returns a copy of the `name` of a loss term, which becomes a column name of a CSV file. Reports characters that are
 * not allowed. Returns NULL if node is NULL. The caller frees the text with memory_free. */
static char* read_column_name(Reader* reader, const Node* node) {
  if (!node) return NULL;
  size_t mark = reader_enter_key(reader, "name");
  bool bad = strpbrk(node->text, ",\"") != NULL;
  for (const char* p = node->text; *p && !bad; p++) bad = (unsigned char)*p < 0x20;
  if (bad) reader_error(reader, node->place, "a name must not contain a comma, a quote or a new line");
  if (words_index(COLUMNS, node->text) >= 0)
    reader_error(reader, node->place,
                 "the name '%s' is already used by a column of convergence.csv: choose another name", node->text);
  if (strlen(node->text) > NAME_MAX_LENGTH)
    reader_error(reader, node->place, "a name must not be longer than %d bytes", NAME_MAX_LENGTH);
  reader_leave(reader, mark);
  return memory_copy_text(node->text);
}

/* A list of loss terms. Their names must differ. */
typedef struct {
  TaskLoss* items;
  int count;
  const char* key;
} TermList;

static void collect_given_names(Reader* reader, TermList terms, Names* names) {
  for (int i = 0; i < terms.count; i++) {
    const TaskLoss* loss = &terms.items[i];
    if (!loss->name || names_add(names, loss->name, i)) continue;
    size_t mark = reader_enter_key(reader, terms.key);
    reader_enter_index(reader, i);
    reader_error(reader, loss->place, "the name '%s' is already used by the term of line %d: choose another name",
                 text_excerpt(loss->name).text, terms.items[names_find(names, loss->name)].place.line);
    reader_leave(reader, mark);
  }
}

/* Gives each term without a name the word of its type, with a number if the word is taken: point, point_2, point_3. */
static void assign_default_names(TermList terms, const char* types, Names* names) {
  int used[LOSS_TYPE_COUNT] = {0};
  for (int i = 0; i < terms.count; i++) {
    TaskLoss* loss = &terms.items[i];
    while (!loss->name) {
      Text name = {0};
      text_add(&name, "%s", words_at(types, (int)loss->type).text);
      if (++used[loss->type] > 1) text_add(&name, "_%d", used[loss->type]);
      if (names_find(names, name.data) < 0) {
        loss->name = name.data;
        names_add(names, loss->name, i);
      } else {
        text_free(&name);
      }
    }
  }
}

static void assign_names(Reader* reader, TermList terms) {
  const SchemaRow* type = schema_row(reader->table, schema_object(reader->table, "loss"), "type", NULL);
  Names names = {0};
  collect_given_names(reader, terms, &names);
  assign_default_names(terms, type->of, &names);
  names_free(&names);
}

/* ---------------------------------------------------------------- a term */

static void read_directions(Reader* reader, const Node* item, TaskLoss* loss) {
  if (loss->type == LOSS_TRAVEL || loss->type == LOSS_OVERHANG || loss->type == LOSS_EXTENT ||
      loss->type == LOSS_REMOVAL)
    loss->direction = task_unit_direction(reader, item, "direction", loss->direction);
  if (loss->type != LOSS_ORIENTATION) return;
  loss->axis = task_unit_direction(reader, item, "axis", loss->axis);
  loss->target = task_unit_direction(reader, item, "target", loss->target);
}

static void read_window(Reader* reader, const Node* item, TaskLoss* loss) {
  if (!node_has_key(item, "from")) loss->from = -1;
  if (!node_has_key(item, "to")) loss->to = -1;
  if (loss->to < 0 || loss->from <= loss->to) return;
  size_t mark = reader_enter_key(reader, "to");
  reader_error(reader, node_find(item, "to")->place,
               "must not be before 'from', %.10g s: increase 'to', or reduce 'from'", loss->from);
  reader_leave(reader, mark);
}

static bool needs_link(TaskLossType type) {
  return type != LOSS_EFFORT && type != LOSS_SMOOTHNESS && type != LOSS_SHAPE && type != LOSS_VOLUME &&
         type != LOSS_ROUGHNESS;
}

static void read_motion(Reader* reader, const Node* node, TaskLoss* loss) {
  if (!node) return;
  const SchemaTable* table = reader->table;
  size_t mark = reader_enter_key(reader, "target_motion");
  reader->table = &SCENE_SCHEMA; /* the schema of scenes describes signals */
  read_signal(reader, node, 3, &loss->motion);
  reader->table = table;
  reader_leave(reader, mark);
}

/* Returns a loss term with the values of its form, and checks them. form_is_valid: false if the form had errors;
 * directions, window and box are then not read. */
static TaskLoss create_loss(Reader* reader, const Task* task, const Node* item, const LossForm* form,
                            bool form_is_valid) {
  TaskLoss loss = form->loss;
  loss.place = item->place;
  loss.type = (TaskLossType)form->type;
  loss.over = (LossOver)form->over;
  loss.has_point = node_has_key(item, "point");
  loss.has_target = node_has_key(item, "target");
  int before = reader->problem_count;
  if (form_is_valid) read_directions(reader, item, &loss);
  if (form_is_valid && reader->problem_count == before) read_window(reader, item, &loss);
  if (form_is_valid) read_box(reader, form->box, &loss.box_low, &loss.box_high);
  loss.name = read_column_name(reader, form->name);
  loss.link = task_name(reader, form->link, "link");
  loss.links = task_names(reader, form->links, "links", &loss.links_count);
  read_motion(reader, form->motion, &loss);
  if (needs_link(loss.type) && node_has_key(item, "type") && !node_has_key(item, "link") &&
      !node_has_key(item, "links"))
    reader_error(reader, item->place, "'link' is missing: give the name of a link, or give 'links', a list of names");
  loss.other = task_name(reader, form->other, "other");
  loss.where = read_scenario_set(reader, task, form->scenarios);
  if (loss.link.text && loss.other.text && strcmp(loss.link.text, loss.other.text) == 0)
    reader_error(reader, loss.other.place, "'link' and 'other' are the same link: name two different links");
  return loss;
}

static void read_loss(Reader* reader, Task* task, const Node* item, int* capacity) {
  LossForm form;
  int before = reader->problem_count;
  if (!schema_read_partial(reader, item, "loss", &form)) return;
  TaskLoss loss = create_loss(reader, task, item, &form, reader->problem_count == before);
  task->losses = memory_grow_array(task->losses, sizeof(TaskLoss), task->loss_count, capacity);
  task->losses[task->loss_count++] = loss;
}

/* Reads a list of bounded terms and appends them to *losses (*count). Returns the number of appended terms. object:
 * schema object of the terms. */
static int read_bounded(Reader* reader, const Task* task, const Node* list, const char* key, const char* object,
                        TaskLoss** losses, int* count) {
  if (!list) return 0;
  size_t old = sizeof(TaskLoss) * (size_t)*count, mark = reader_enter_key(reader, key);
  int most = list->count < TASK_ITEM_MAX ? list->count : TASK_ITEM_MAX, index = 0, before_all = *count;
  *losses = memory_resize(*losses, old, old + sizeof(TaskLoss) * (size_t)most);
  for (const Node* item = list->first; item && index < most && !reader->exhausted; item = item->next) {
    SubjectForm form;
    size_t below = reader_enter_index(reader, index++);
    int before = reader->problem_count;
    if (schema_read_partial(reader, item, object, &form)) {
      TaskLoss* loss = &(*losses)[(*count)++];
      *loss = create_loss(reader, task, item, &form.loss, reader->problem_count == before);
      loss->bounded = true;
      loss->bound = form.max;
    }
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
  return *count - before_all;
}

void read_losses(Reader* reader, Task* task, const Node* list, const Node* subjects) {
  if (!list) return;
  size_t mark = reader_enter_key(reader, "loss");
  if (list->count == 0) reader_error(reader, list->place, "must not be empty");
  reader_leave(reader, mark);
  task_read_list(reader, task, list, "loss", read_loss);
  task->subject_count = read_bounded(reader, task, subjects, "subject_to", "subject", &task->losses, &task->loss_count);
  assign_names(reader, (TermList){task->losses, task->loss_count, "loss"});
}

void read_success(Reader* reader, Task* task, const Node* list) {
  if (list && list->count == 0) {
    size_t mark = reader_enter_key(reader, "success");
    reader_error(reader, list->place, "must not be empty");
    reader_leave(reader, mark);
  }
  read_bounded(reader, task, list, "success", "success", &task->success, &task->success_count);
  assign_names(reader, (TermList){task->success, task->success_count, "success"});
}

void losses_free(TaskLoss* losses, int count) {
  assert(losses || count == 0);
  for (int i = 0; i < count; i++) {
    memory_free(losses[i].name);
    task_name_free(&losses[i].link);
    task_name_free(&losses[i].other);
    task_names_free(losses[i].links, losses[i].links_count);
    signal_free_arrays(&losses[i].motion);
    memory_free(losses[i].where.in);
  }
  memory_free(losses);
}
