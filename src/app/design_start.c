#include <assert.h>
#include "app/design_run.h"

/* Sets the initial values of the variables from `table`, the design.csv of another run. path: the file, for messages.
 * Returns STATUS_BAD_INPUT, with a diagnostic, if the table is invalid or has no variable of this task. */
static Status set_initial_values(DesignStart* start, const Task* task, const CsvTable* table, const char* path,
                                 Diagnostics* diagnostics) {
  assert(table && path);
  int name = csv_find_column(table, "variable"), best = csv_find_column(table, "best"), count = table->row_count;
  Status status = STATUS_OK;
  if (name < 0 || best < 0) {
    diagnostics_add(
        diagnostics, SEVERITY_ERROR, (SourcePosition){path, 1, 0},
        "columns 'variable' and 'best' are missing: 'from' needs the design.csv of a run of `sdrs optimize`");
    return STATUS_BAD_INPUT;
  }
  const char** names = MEMORY_NEW(const char*, count + 1);
  double* values = MEMORY_NEW(double, count + 1);
  for (int k = 0; k < count && status == STATUS_OK; k++) {
    names[k] = csv_cell(table, k, name);
    if (!csv_read_number(table, path, k, best, &values[k], diagnostics)) status = STATUS_BAD_INPUT;
  }
  int found = status == STATUS_OK ? optimization_set_initial(start->optimization, names, values, count) : 0;
  if (status == STATUS_OK && found == 0) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, task->from.place,
                    "from: the run and the task have no variable in common (the first variable of the run is '%s'): "
                    "name another run, or remove 'from'",
                    count > 0 ? names[0] : "");
    status = STATUS_BAD_INPUT;
  }
  start->initialized_count = found;
  memory_free(names);
  memory_free(values);
  return status;
}

static Status read_initial_values(DesignStart* start, const Task* task, Diagnostics* diagnostics) {
  if (!task->from.text) return STATUS_OK;
  char* path = file_join(task->from.text, "design.csv");
  CsvTable table;
  Status status = csv_read(&table, path, diagnostics);
  if (status != STATUS_OK)
    diagnostics_add(
        diagnostics, SEVERITY_NOTE, task->from.place,
        "from: the task starts from the variables of the run '%s', which must be a folder of an earlier sdrs optimize",
        task->from.text);
  if (status == STATUS_OK) status = set_initial_values(start, task, &table, path, diagnostics);
  csv_free(&table);
  memory_free(path);
  return status;
}

/* Largest number of tasks in a chain of `from: {task: ...}`. A longer chain is probably a cycle. */
enum { CHAIN_MAX = 16 };

static Status check_one(const Task* task, SourcePosition named, Diagnostics* diagnostics) {
  if (task->choice_count == 0 && !task->receding.given) return STATUS_OK;
  diagnostics_add(diagnostics, SEVERITY_ERROR, named,
                  "from: the result of the earlier task is not a single design, because the earlier task has '%s': "
                  "name another task",
                  task->receding.given ? "receding" : "choices");
  return STATUS_BAD_INPUT;
}

static Status check_chain(const Task* task, int depth, Diagnostics* diagnostics) {
  assert(depth >= 0);
  if (!task->before.text) return STATUS_OK;
  if (depth == CHAIN_MAX) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, task->before.place,
                    "from: the chain of earlier tasks has more than %d tasks: check 'from' of the tasks for a cycle",
                    CHAIN_MAX);
    return STATUS_BAD_INPUT;
  }
  Task before;
  Status status = task_load(&before, task->before.text, NULL, 0, diagnostics);
  if (status != STATUS_OK)
    diagnostics_add(diagnostics, SEVERITY_NOTE, task->before.place, "from: the error is in the earlier task '%s'",
                    task->before.text);
  if (status == STATUS_OK) status = check_one(&before, task->before.place, diagnostics);
  if (status == STATUS_OK) status = check_chain(&before, depth + 1, diagnostics);
  task_free(&before);
  return status;
}

Status design_check_previous_tasks(const Task* task, Diagnostics* diagnostics) {
  return check_chain(task, 0, diagnostics);
}

Status design_start(DesignStart* start, Task* task, const OptimizationOptions* options, Diagnostics* diagnostics) {
  assert(start && task);
  *start = (DesignStart){0};
  Status status;
  if (task->receding.given) {
    status = receding_create(&start->receding, task, options, diagnostics);
    start->optimization = receding_optimization(start->receding);
  } else {
    status = optimization_create(&start->optimization, task, options, diagnostics);
  }
  return status == STATUS_OK ? read_initial_values(start, task, diagnostics) : status;
}

void design_start_free(const DesignStart* start) {
  if (start->receding)
    receding_destroy(start->receding);
  else
    optimization_destroy(start->optimization);
}
