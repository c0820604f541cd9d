/* Functions that several readers of a task's sections use. */
#include <assert.h>
#include "scene/task_parts.h"

void task_read_list(Reader* reader, Task* task, const Node* list, const char* key, ReadItem read) {
  assert(key && read);
  if (!list) return;
  size_t mark = reader_enter_key(reader, key);
  int index = 0, capacity = 0;
  if (list->count > TASK_ITEM_MAX)
    reader_error(reader, list->place, "must have at most %d items: remove items", TASK_ITEM_MAX);
  for (const Node* item = list->first; item && index < TASK_ITEM_MAX && !reader->exhausted; item = item->next) {
    size_t below = reader_enter_index(reader, index++);
    read(reader, task, item, &capacity);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

const Node* task_section_or_empty(Reader* reader, const Task* task, const Node* node) {
  return node ? node : document_node(reader->document, NODE_MAP, (SourcePosition){task->path, 1, 1});
}

bool check_order(Reader* reader, const Node* map, double low, double high) {
  if (low <= high) return true;
  const Node* node = node_find(map, "high");
  size_t mark = reader_enter_key(reader, "high");
  reader_error(reader, node ? node->place : map->place, "must not be below 'low': %.10g is below %.10g", high, low);
  reader_leave(reader, mark);
  return false;
}

Vec3 task_unit_direction(Reader* reader, const Node* map, const char* key, Vec3 written) {
  Vec3 unit = unit_vector(written);
  if (vec3_norm(unit) > 0) return unit;
  const Node* node = node_find(map, key);
  size_t mark = reader_enter_key(reader, key);
  reader_error(reader, node ? node->place : map->place,
               "must not be the zero vector: give a direction such as [1, 0, 0]");
  reader_leave(reader, mark);
  return written;
}
