#include "scene/task.h"

#include <assert.h>
#include <string.h>

#include "scene/task_parts.h"

/* ---------------------------------------------------------------- complete task */

static bool anything_moves(const Task* task) {
  return task->vertices_count + task->cage_count + task->attachment_count + task->control_count + task->start_count +
             task->parameter_count >
         0;
}

static void read_root(Reader* reader, Task* task, const Node* root) {
  TaskForm form;
  int before = reader->problem_count;
  if (!schema_read_partial(reader, root, "task", &form)) return;
  if (form.plan) {
    reader_error(reader, node_key_place(form.plan),
                 "a planning task (key 'plan') cannot be simulated: use sdrs optimize or sdrs validate");
    return;
  }
  task->name = read_title(reader, form.name, "task", task->path);
  task->seed = (uint64_t)form.seed;
  int of_scenes = reader->problem_count;
  read_scenarios(reader, task, root, &form);
  of_scenes = reader->problem_count - of_scenes;
  read_design(reader, task, form.design);
  read_controls(reader, task, form.control);
  read_starts(reader, task, form.initial);
  read_parameters(reader, task, form.parameters);
  const Node* data = node_find(root, "data");
  if (!node_has_key(root, "loss") && (!data || node_is_null(data)))
    reader_error(reader, root->place, "'loss' is missing: give a list of terms, or give 'data' for sdrs identify");
  read_losses(reader, task, form.loss, form.subject_to);
  read_success(reader, task, form.success);
  read_data(reader, task, form.data);
  read_identify(reader, task, form.identify);
  read_optimizer(reader, task, form.optimizer);
  read_gradient(reader, task, form.gradient);
  read_schedule(reader, task, form.schedule);
  read_from(reader, task, form.from);
  read_receding(reader, task, form.receding);
  read_draws(reader, task, form.draws);
  read_choices(reader, task, form.choices);
  read_validation(reader, task, form.validation);
  read_multistart(reader, task, root, &form);
  if (reader->problem_count == before && !anything_moves(task))
    reader_error(reader, root->place,
                 "the task has no variables: give 'control', 'initial', 'parameters', or 'design' with vertices, a "
                 "cage or attachments");
  if (of_scenes == 0) check_link_names(reader, task); /* a scene with errors may lack links */
}

/* Applies overrides to the document of the task. Overrides with the prefix `scene.` are skipped, because they are
 * applied to each scene. */
static bool apply_overrides(const Task* task, Document* document, Node* root, Diagnostics* diagnostics) {
  bool is_valid = true;
  for (int i = 0; i < task->source_count; i++) {
    LocatedOverride override = override_from_source_text(task->sources[i]);
    if (strncmp(override.text, TASK_SCENE_PREFIX, strlen(TASK_SCENE_PREFIX)) == 0) continue;
    is_valid = override_apply(&TASK_SCHEMA, document, root, &override, diagnostics) && is_valid;
  }
  return is_valid;
}

Status task_parse(Task* task, const char* path, const char* text, size_t length, bool json,
                  const SceneOverride* overrides, int override_count, Diagnostics* diagnostics) {
  assert(task && text);
  *task = (Task){.path = memory_copy_text(path),
                 .sources = override_source_texts(overrides, override_count),
                 .source_count = override_count};
  hash_sha256(text, length, task->sha256);
  int before = diagnostics->error_count;
  Document document = {0};
  Node* root = document_read(&document, task->path, text, length, json, diagnostics);
  if (root && apply_overrides(task, &document, root, diagnostics)) {
    Reader reader = {.table = &TASK_SCHEMA, .diagnostics = diagnostics, .document = &document};
    read_root(&reader, task, root);
    reader_free(&reader);
  }
  document_free(&document);
  return diagnostics->error_count > before || !root ? STATUS_BAD_INPUT : STATUS_OK;
}

Status task_load(Task* task, const char* path, const SceneOverride* overrides, int override_count,
                 Diagnostics* diagnostics) {
  assert(task && path);
  char* text;
  size_t length;
  *task = (Task){0};
  if (file_read_reported(path, &text, &length, diagnostics) != STATUS_OK) return STATUS_IO;
  Status status = task_parse(task, path, text, length, path_is_json(path), overrides, override_count, diagnostics);
  memory_free(text);
  return status;
}

/* Top-level keys that identify a file as a task or as a scene: "one|another". */
static const char TASK_KEYS[] = "loss|scenarios|scene", SCENE_KEYS[] = "links|shapes|include";

static bool text_has_one_of(const char* keys, const char* path, const char* text, size_t length, bool json) {
  Document document = {0};
  Diagnostics unheard = {0};
  const Node* root = document_read(&document, path, text, length, json, &unheard);
  bool found = false;
  for (int i = 0; i < words_count(keys); i++) found |= node_find(root, words_at(keys, i).text) != NULL;
  diagnostics_free(&unheard);
  document_free(&document);
  return found;
}

static bool file_has_one_of(const char* keys, const char* path) {
  char* text;
  size_t length;
  if (!file_is_regular(path) || file_read(path, &text, &length) != STATUS_OK) return false;
  bool found = text_has_one_of(keys, path, text, length, path_is_json(path));
  memory_free(text);
  return found;
}

bool task_recognise_text(const char* path, const char* text, size_t length, bool json) {
  return text_has_one_of(TASK_KEYS, path, text, length, json);
}

bool task_recognise(const char* path) { return file_has_one_of(TASK_KEYS, path); }

bool task_recognise_scene(const char* path) {
  return file_has_one_of(SCENE_KEYS, path) && !file_has_one_of(TASK_KEYS, path);
}

void task_schema_json(Text* out) { schema_write_json(&TASK_SCHEMA, out); }

void task_schema_markdown(Text* out) { schema_write_markdown(&TASK_SCHEMA, out); }

void task_schema_man(Text* out) { schema_write_man(&TASK_SCHEMA, "task", out); }

/* ---------------------------------------------------------------- freeing */

void task_free(Task* task) {
  for (int i = 0; i < task->scenario_count; i++) scenario_free(&task->scenarios[i]);
  for (int i = 0; i < task->control_count; i++) {
    task_name_free(&task->controls[i].link);
    memory_free(task->controls[i].where.in);
  }
  for (int i = 0; i < task->start_count; i++) {
    task_name_free(&task->starts[i].link);
    memory_free(task->starts[i].where.in);
  }
  for (int i = 0; i < task->source_count; i++) memory_free(task->sources[i]);
  task_name_free(&task->from);
  task_name_free(&task->before);
  design_free(task);
  parameters_free(task);
  draws_free(task);
  choices_free(task);
  data_free(task);
  memory_free(task->scenarios);
  memory_free(task->controls);
  memory_free(task->starts);
  losses_free(task->losses, task->loss_count);
  losses_free(task->success, task->success_count);
  memory_free(task->sources);
  memory_free(task->path);
  memory_free(task->name);
  *task = (Task){0};
}
