/* Reads the random draws of an optimization, and the number of draws with which the result is validated. */
#include <string.h>

#include "scene/task_parts.h"

static void read_draw(Reader* reader, Task* task, const Node* item, int* capacity) {
  static const ValueRange KNOT = {true, 0, 1000000, false, false};
  DrawForm form;
  int before = reader->problem_count;
  if (!schema_read(reader, item, "draw", &form)) return;
  TaskDraw draw = {.place = item->place, .of = (TaskDrawOf)form.of, .low = form.low, .high = form.high};
  if (reader->problem_count == before) check_order(reader, item, form.low, form.high);
  read_dof(reader, form.dof, draw.dof);
  draw.turns = draw.of == DRAW_START && form.dof;
  draw.knots = reader_integers(reader, form.knots, "knots", &KNOT, &draw.knot_count);
  draw.link = task_name(reader, form.link, "link");
  if (draw.of == DRAW_START && form.knots)
    reader_error(reader, form.knots->place,
                 "'knots' is valid only for draws of a target, not of a start: remove 'knots'");
  task->draws = memory_grow_array(task->draws, sizeof(TaskDraw), task->draw_count, capacity);
  task->draws[task->draw_count++] = draw;
}

void read_draws(Reader* reader, Task* task, const Node* node) {
  DrawsForm form;
  size_t mark = reader_enter_key(reader, "draws");
  if (node && schema_read(reader, node, "draws", &form)) {
    task->draw_every = form.every;
    task_read_list(reader, task, form.numbers, "numbers", read_draw);
    if (task->receding.given)
      reader_error(reader, node->place, "'draws' and 'receding' exclude each other: remove one of them");
  }
  reader_leave(reader, mark);
}

void read_validation(Reader* reader, Task* task, const Node* node) {
  ValidationForm form;
  size_t mark = reader_enter_key(reader, "validation");
  if (node && schema_read(reader, node, "validation", &form)) {
    task->validation_tries = form.tries;
    if (task->draw_count == 0)
      reader_error(reader, node->place, "needs 'draws', because the task has no random numbers to test: add 'draws'");
    if (task->success_count == 0)
      reader_error(reader, node->place, "needs 'success': give the criteria by which draws are judged");
  }
  reader_leave(reader, mark);
}

void draws_free(Task* task) {
  for (int k = 0; k < task->draw_count; k++) {
    task_name_free(&task->draws[k].link);
    memory_free(task->draws[k].knots);
  }
  memory_free(task->draws);
}
