/* Reads discrete choices. A choice has a key, as for --set, and the values to evaluate. */
#include <assert.h>
#include <limits.h>

#include "scene/task_parts.h"

/* Largest number of combinations of all choices. */
#define COMBINATIONS_MAX 100000

static bool is_simple_key(const char* key) {
  for (const char* c = key; *c; c++)
    if (!(*c == '_' || (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z'))) return false;
  return *key;
}

/* Appends a node as YAML on one line. */
static void append_flow_yaml(Text* out, const Node* node) {
  if (node->kind == NODE_SCALAR) {
    if (node->quoted)
      text_add_json_string(out, node->text);
    else
      text_add(out, "%s", node->text);
    return;
  }
  bool map = node->kind == NODE_MAP;
  text_add(out, map ? "{" : "[");
  for (const Node* child = node->first; child; child = child->next) {
    if (child != node->first) text_add(out, ", ");
    if (map) {
      if (is_simple_key(child->key))
        text_add(out, "%s", child->key);
      else
        text_add_json_string(out, child->key);
      text_add(out, ": ");
    }
    append_flow_yaml(out, child);
  }
  text_add(out, map ? "}" : "]");
}

static void read_values(Reader* reader, const Node* list, const char* key, TaskChoice* choice) {
  if (list->count < 1) reader_error(reader, list->place, "'values' must not be empty");
  choice->sets = MEMORY_NEW(char*, list->count + 1);
  for (const Node* item = list->first; item; item = item->next) {
    Text set = {0};
    text_add(&set, "%s=", key);
    append_flow_yaml(&set, item);
    choice->sets[choice->count++] = set.data;
  }
}

static void read_choice(Reader* reader, Task* task, const Node* item, int* capacity) {
  ChoiceForm form;
  if (!schema_read(reader, item, "choice", &form)) return;
  if (!form.key || !form.values || !reader_is_text(reader, form.key)) return;
  TaskChoice choice = {0};
  read_values(reader, form.values, form.key->text, &choice);
  task->choices = memory_grow_array(task->choices, sizeof choice, task->choice_count, capacity);
  task->choices[task->choice_count++] = choice;
}

int64_t task_combinations(const Task* task) {
  assert(task->choice_count >= 0);
  int64_t product = 1;
  for (int k = 0; k < task->choice_count && product <= COMBINATIONS_MAX; k++) product *= task->choices[k].count;
  return product;
}

void read_choices(Reader* reader, Task* task, const Node* node) {
  ChoicesForm form;
  size_t mark = reader_enter_key(reader, "choices");
  if (node && schema_read(reader, node, "choices", &form)) {
    task->choice_method = (TaskChoiceMethod)form.method;
    task->choice_tries = form.tries;
    task_read_list(reader, task, form.of, "of", read_choice);
    if (task_combinations(task) > COMBINATIONS_MAX)
      reader_error(reader, node->place,
                   "the choices have %d combinations, more than the limit of %d: give fewer values",
                   (int)(task_combinations(task) < INT_MAX ? task_combinations(task) : INT_MAX), COMBINATIONS_MAX);
    if (task->receding.given)
      reader_error(reader, node->place, "'choices' and 'receding' exclude each other: remove one of them");
  }
  reader_leave(reader, mark);
}

void choices_free(Task* task) {
  for (int k = 0; k < task->choice_count; k++) {
    for (int i = 0; i < task->choices[k].count; i++) memory_free(task->choices[k].sets[i]);
    memory_free(task->choices[k].sets);
  }
  memory_free(task->choices);
}
