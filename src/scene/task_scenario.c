/* Reads the scenarios of a task, each with its scene. The scene is a file, or is written in the task. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/outside.h"
#include "scene/task_parts.h"

typedef struct {
  LocatedOverride* items;
  int count;
} OverrideList;

/* Data for reading all scenarios. */
typedef struct {
  Reader* reader;
  Task* task;
  int steps;
  OverrideList set; /* overrides of the task's key `set`, which apply to the scene of every scenario */
} ScenarioReader;

/* ---------------------------------------------------------------- changes to a scene */

/* Reads a list of overrides, with memory for `room` more items. The caller frees the items. */
static OverrideList read_set(Reader* reader, const Node* list, int room) {
  assert(room >= 0);
  OverrideList set = {MEMORY_NEW(LocatedOverride, room + (list ? list->count : 0)), 0};
  size_t mark = reader_enter_key(reader, "set");
  int index = 0;
  for (const Node* item = list ? list->first : NULL; item; item = item->next, index++) {
    size_t below = reader_enter_index(reader, index);
    if (reader_is_text(reader, item)) set.items[set.count++] = (LocatedOverride){item->text, item->place};
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
  return set;
}

/* Appends the overrides of the command line that begin with `scene.`, without this prefix. */
static void append_command_line_overrides(const Task* task, OverrideList* overrides) {
  for (int i = 0; i < task->source_count; i++) {
    LocatedOverride override = override_from_source_text(task->sources[i]);
    if (strncmp(override.text, TASK_SCENE_PREFIX, strlen(TASK_SCENE_PREFIX)) != 0) continue;
    override.text += strlen(TASK_SCENE_PREFIX);
    overrides->items[overrides->count++] = override;
  }
}

/* Returns the overrides of a scenario in the order task, scenario, command line. Later overrides take precedence.
 * scenario_set: list `set` of the scenario, or NULL. The caller frees the items. */
static OverrideList collect_overrides(const ScenarioReader* scenarios, const Node* scenario_set) {
  const OverrideList* common = &scenarios->set;
  OverrideList overrides = read_set(scenarios->reader, scenario_set, common->count + scenarios->task->source_count);
  memmove(overrides.items + common->count, overrides.items, sizeof(LocatedOverride) * (size_t)overrides.count);
  if (common->count > 0) memcpy(overrides.items, common->items, sizeof(LocatedOverride) * (size_t)common->count);
  overrides.count += common->count;
  append_command_line_overrides(scenarios->task, &overrides);
  return overrides;
}

/* ---------------------------------------------------------------- the scene */

static void read_scene_file(Reader* reader, const Task* task, const Node* node, const OverrideList* overrides,
                            Scene* scene) {
  if (!reader_is_text(reader, node)) return;
  char *path = file_resolve(task->path, node->text), *text = NULL;
  size_t length;
  if (!file_is_quotable(path)) {
    reader_error(reader, node->place, "%s: %s", path, FILE_NOT_QUOTABLE);
  } else if (file_read(path, &text, &length) != STATUS_OK) {
    reader_error(reader, node->place, "cannot read the scene %s: %s", path, file_error_text(errno));
  } else {
    Diagnostics problems = {0};
    scene_read_text(scene, path, text, length, path_is_json(path), overrides->items, overrides->count, &problems);
    reader->problem_count += problems.error_count;
    diagnostics_merge(reader->diagnostics, &problems); /* scenarios often share a scene, whose messages are equal */
    diagnostics_free(&problems);
  }
  memory_free(text);
  memory_free(path);
}

static void read_scene(const ScenarioReader* scenarios, const Node* node, const Node* set, Scene* scene) {
  if (!node) return;
  Reader* reader = scenarios->reader;
  OverrideList overrides = collect_overrides(scenarios, set);
  size_t mark = reader_enter_key(reader, "scene");
  if (node->kind == NODE_MAP) {
    scene->path = memory_copy_text(scenarios->task->path);
    memcpy(scene->sha256, scenarios->task->sha256, sizeof scene->sha256);
    /* the reader owns the document, so its nodes may change */
    scene_read_embedded(scene, reader, (Node*)node, overrides.items, overrides.count);
  } else {
    read_scene_file(reader, scenarios->task, node, &overrides, scene);
  }
  reader_leave(reader, mark);
  memory_free(overrides.items);
}

/* ---------------------------------------------------------------- scenarios */

static void read_scenario_name(Reader* reader, Names* names, const Node* node, int index, TaskScenario* scenario) {
  Text number = {0};
  text_add(&number, "%d", index);
  scenario->name = read_title(reader, node, "scenario", number.data);
  if (!names_add(names, scenario->name, index)) {
    size_t mark = reader_enter_key(reader, "name");
    reader_error(reader, node ? node->place : scenario->place,
                 "the name '%s' is already used by another scenario: choose another name",
                 text_excerpt(scenario->name).text);
    reader_leave(reader, mark);
  }
  text_free(&number);
}

static int steps_or_kinematic(int given) { return given > 0 ? given : TASK_KINEMATIC; }

static void read_scenario(const ScenarioReader* scenarios, Names* names, const Node* item, int index) {
  ScenarioForm form;
  TaskScenario* scenario = &scenarios->task->scenarios[scenarios->task->scenario_count++];
  *scenario = (TaskScenario){.place = item->place, .weight = 1};
  bool read = schema_read_partial(scenarios->reader, item, "scenario", &form);
  read_scenario_name(scenarios->reader, names, read ? form.name : NULL, index, scenario);
  if (!read) return;
  scenario->weight = form.weight;
  scenario->steps = node_has_key(item, "steps") ? steps_or_kinematic(form.steps) : scenarios->steps;
  read_scene(scenarios, form.scene, form.set, &scenario->scene);
}

static void read_list(const ScenarioReader* scenarios, const Node* list) {
  Reader* reader = scenarios->reader;
  Names names = {0};
  size_t mark = reader_enter_key(reader, "scenarios");
  int index = 0;
  if (list->count == 0) reader_error(reader, list->place, "must not be empty");
  if (list->count > SCENARIO_MAX) {
    reader_error(reader, list->place, "the task has more than %d scenarios: remove scenarios", SCENARIO_MAX);
  } else {
    scenarios->task->scenarios = MEMORY_NEW(TaskScenario, list->count);
    for (const Node* item = list->first; item && !reader->exhausted; item = item->next, index++) {
      size_t below = reader_enter_index(reader, index);
      read_scenario(scenarios, &names, item, index);
      reader_leave(reader, below);
    }
  }
  reader_leave(reader, mark);
  names_free(&names);
}

static void read_single(const ScenarioReader* scenarios, const Node* node) {
  TaskScenario* scenario = scenarios->task->scenarios = MEMORY_NEW(TaskScenario, 1);
  scenarios->task->scenario_count = 1;
  *scenario = (TaskScenario){.place = node->place, .name = memory_copy_text("0"), .weight = 1};
  scenario->steps = scenarios->steps;
  read_scene(scenarios, node, NULL, &scenario->scene);
}

void read_scenarios(Reader* reader, Task* task, const Node* root, const TaskForm* form) {
  ScenarioReader scenarios = {reader, task, node_has_key(root, "steps") ? steps_or_kinematic(form->steps) : 0,
                              read_set(reader, form->set, 0)};
  if (form->scenarios)
    read_list(&scenarios, form->scenarios);
  else if (form->scene)
    read_single(&scenarios, form->scene);
  else if (!node_has_key(root, "scene") && !node_has_key(root, "scenarios"))
    reader_error(reader, root->place,
                 "'scene' is missing: give the path of a scene, or give 'scenarios', a list of scenes");
  memory_free(scenarios.set.items);
}

void scenario_free(TaskScenario* scenario) {
  assert(scenario);
  memory_free(scenario->name);
  scene_free(&scenario->scene);
}
