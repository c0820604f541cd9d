/* Reads names of links in a task. A name is stored with its position, and looked up in the scenes when all sections are
 * read. */
#include <assert.h>
#include <fnmatch.h>
#include <string.h>

#include "base/outside.h"
#include "scene/task_parts.h"

/* ---------------------------------------------------------------- reading */

static TaskName copy_name(Reader* reader, const Node* node) {
  TaskName name = {.place = node->place};
  if (!reader_is_text(reader, node)) return name;
  if (strlen(node->text) > NAME_MAX_LENGTH)
    reader_error(reader, node->place, "a name must not be longer than %d bytes", NAME_MAX_LENGTH);
  else
    name.text = memory_copy_text(node->text);
  return name;
}

TaskName task_name(Reader* reader, const Node* node, const char* key) {
  if (!node) return (TaskName){0};
  size_t mark = reader_enter_key(reader, key);
  TaskName name = copy_name(reader, node);
  reader_leave(reader, mark);
  return name;
}

void task_name_free(TaskName* name) {
  memory_free(name->text);
  *name = (TaskName){0};
}

TaskName* task_names(Reader* reader, const Node* list, const char* key, int* count) {
  *count = 0;
  if (!list || !reader_count_values(reader, list->place, 8 * (int64_t)list->count)) return NULL;
  TaskName* names = MEMORY_NEW(TaskName, list->count);
  Names seen = {0};
  size_t mark = reader_enter_key(reader, key);
  if (list->count == 0) reader_error(reader, list->place, "must not be empty");
  for (const Node* item = list->first; item; item = item->next) {
    size_t below = reader_enter_index(reader, *count);
    TaskName name = copy_name(reader, item);
    if (name.text && !names_add(&seen, name.text, *count))
      reader_error(reader, item->place, "'%s' occurs twice: remove one of the two", text_excerpt(name.text).text);
    names[(*count)++] = name;
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
  names_free(&seen);
  return names;
}

void task_names_free(TaskName* names, int count) {
  assert(names || count == 0);
  for (int i = 0; names && i < count; i++) memory_free(names[i].text);
  memory_free(names);
}

static bool has_name(const TaskName* names, int count, const char* text) {
  for (int i = 0; i < count; i++)
    if (names[i].text && strcmp(names[i].text, text) == 0) return true;
  return false;
}

/* Replaces each pattern such as `arm*` by the names of all matching links of the first scenario's scene, in their
 * order, without repetition. A pattern without a new match stays, so that it is reported. Takes ownership of `names`.
 * *count: length of the array. */
static TaskName* expand_patterns(const Task* task, TaskName* names, int* count) {
  const Scene* scene = task->scenario_count > 0 ? &task->scenarios[0].scene : NULL;
  TaskName* out = NULL;
  int length = 0, capacity = 0;
  for (int i = 0; i < *count; i++) {
    int before = length;
    bool pattern = scene && names[i].text && strchr(names[i].text, '*');
    for (int k = 0; pattern && k < scene->link_count; k++) {
      const char* name = scene->links[k].name;
      if (fnmatch(names[i].text, name, 0) != 0 || has_name(names, *count, name) || has_name(out, length, name))
        continue;
      out = memory_grow_array(out, sizeof(TaskName), length, &capacity);
      out[length++] = (TaskName){memory_copy_text(name), names[i].place};
    }
    if (length > before) {
      memory_free(names[i].text);
      names[i].text = NULL;
    } else {
      out = memory_grow_array(out, sizeof(TaskName), length, &capacity);
      out[length++] = names[i];
    }
  }
  memory_free(names);
  *count = length;
  return out;
}

TaskName* read_item_links(Reader* reader, const Task* task, const Node* item, const LinkSelectionForm* form,
                          int* count) {
  if (form->links) return expand_patterns(task, task_names(reader, form->links, "links", count), count);
  *count = form->link ? 1 : 0;
  if (!node_has_key(item, "link") && !node_has_key(item, "links"))
    reader_error(reader, item->place, "'link' is missing: give the name of a link, or give 'links', a list of names");
  if (!form->link) return NULL;
  TaskName* names = MEMORY_NEW(TaskName, 1);
  names[0] = task_name(reader, form->link, "link");
  return names;
}

/* ---------------------------------------------------------------- scenarios */

static void report_unknown_scenario(Reader* reader, const Task* task, const TaskName* name) {
  const char** known = MEMORY_NEW(const char*, task->scenario_count);
  for (int s = 0; s < task->scenario_count; s++) known[s] = task->scenarios[s].name;
  const char* nearest = text_nearest(name->text, known, task->scenario_count);
  reader_error(reader, name->place, "no scenario is named '%s'%s", text_excerpt(name->text).text,
               text_suggestion(nearest).text);
  memory_free(known);
}

TaskScenarioSet read_scenario_set(Reader* reader, const Task* task, const Node* list) {
  TaskScenarioSet where = {NULL, task->scenario_count};
  int count;
  TaskName* names = task_names(reader, list, "scenarios", &count);
  if (count > 0) where.in = MEMORY_NEW(bool, task->scenario_count);
  for (int k = 0; names && k < count; k++) {
    if (!names[k].text) continue; /* an error in this name was already reported */
    bool found = false, all = strcmp(names[k].text, "*") == 0;
    for (int s = 0; s < task->scenario_count; s++) {
      if (!all && strcmp(task->scenarios[s].name, names[k].text) != 0) continue;
      where.in[s] = found = true;
    }
    if (!found) report_unknown_scenario(reader, task, &names[k]);
  }
  task_names_free(names, count);
  return where;
}

/* ---------------------------------------------------------------- lookup */

/* Names of the links in the scenes of all scenarios. */
typedef struct {
  Reader* reader;
  const Task* task;
  Names* links; /* for each scenario, a table of the names of its scene's links */
} LinkLookup;

static void check_link_exists(const LinkLookup* lookup, const char* text, SourcePosition place) {
  assert(text);
  if (lookup->reader->reported_count >= READER_ERRORS_MAX) return; /* the search for a similar name takes time */
  for (int i = 0; i < lookup->task->scenario_count; i++) {
    const Names* links = &lookup->links[i];
    if (names_find(links, text) >= 0) continue;
    const char* nearest = names_nearest(links, text);
    reader_error(lookup->reader, place, "no link of the scene %s is named '%s'%s",
                 lookup->task->scenarios[i].scene.path, text_excerpt(text).text, text_suggestion(nearest).text);
    return;
  }
}

static void check_name(const LinkLookup* lookup, const TaskName* name) {
  if (name->text) check_link_exists(lookup, name->text, name->place);
}

/* Checks the link in the name of a variable such as "link/attachment/x". Names of links contain no slash. Names with
 * one slash, such as "link/mass" or "contact/friction", are compared with the list of variables later. */
static void check_variable_name(const LinkLookup* lookup, const TaskName* variable) {
  if (!variable->text) return; /* an error in this name was already reported */
  const char* slash = strchr(variable->text, '/');
  if (slash && !strchr(slash + 1, '/')) return;
  if (!slash) {
    reader_error(lookup->reader, variable->place,
                 "must be a variable like link/attachment/x or link/values/0, got '%s'",
                 text_excerpt(variable->text).text);
    return;
  }
  Text link = {0};
  text_add_bytes(&link, variable->text, (size_t)(slash - variable->text));
  check_link_exists(lookup, link.data, variable->place);
  text_free(&link);
}

static void check_loss_names(const LinkLookup* lookup, const TaskLoss* losses, int count) {
  for (int i = 0; i < count; i++) {
    check_name(lookup, &losses[i].link);
    check_name(lookup, &losses[i].other);
  }
}

static void check_all_names(const LinkLookup* lookup) {
  const Task* task = lookup->task;
  for (int i = 0; i < task->vertices_count; i++) check_name(lookup, &task->vertices[i].link);
  for (int i = 0; i < task->cage_count; i++) check_name(lookup, &task->cages[i].link);
  for (int i = 0; i < task->frozen_count; i++) check_name(lookup, &task->frozen[i].link);
  for (int i = 0; i < task->attachment_count; i++) check_name(lookup, &task->attachments[i].link);
  for (int i = 0; i < task->symmetry_count; i++)
    for (int k = 0; k < task->symmetries[i].link_count; k++) check_name(lookup, &task->symmetries[i].links[k]);
  for (int i = 0; i < task->constraint_count; i++)
    for (int k = 0; k < task->constraints[i].count; k++)
      check_variable_name(lookup, &task->constraints[i].variables[k]);
  for (int i = 0; i < task->control_count; i++) check_name(lookup, &task->controls[i].link);
  for (int i = 0; i < task->start_count; i++) check_name(lookup, &task->starts[i].link);
  for (int i = 0; i < task->parameter_count; i++)
    for (int k = 0; k < task->parameters[i].link_count; k++) check_name(lookup, &task->parameters[i].links[k]);
  for (int i = 0; i < task->draw_count; i++) check_name(lookup, &task->draws[i].link);
  for (int i = 0; i < task->data.measured_count; i++) check_name(lookup, &task->data.measured[i].link);
  for (int i = 0; i < task->data.input_count; i++) check_name(lookup, &task->data.inputs[i].link);
  check_loss_names(lookup, task->losses, task->loss_count);
  check_loss_names(lookup, task->success, task->success_count);
}

void check_link_names(Reader* reader, const Task* task) {
  LinkLookup lookup = {reader, task, MEMORY_NEW(Names, task->scenario_count)};
  for (int i = 0; i < task->scenario_count; i++) {
    const Scene* scene = &task->scenarios[i].scene;
    for (int k = 0; k < scene->link_count; k++) names_add(&lookup.links[i], scene->links[k].name, k);
  }
  check_all_names(&lookup);
  for (int i = 0; i < task->scenario_count; i++) names_free(&lookup.links[i]);
  memory_free(lookup.links);
}
