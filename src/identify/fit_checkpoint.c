/* Checkpoints of a fit between two iterations, with the identity of task and data. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "identify/fit.h"

enum { ROW_NUMBERS = 6 };

/* Returns the settings in the task's sections `identify` and `data` that determine the sum of squares. The
 * optimization's checkpoint contains all other settings. The caller frees the array. */
static double* get_settings(const Identification* id, int* count) {
  const TaskIdentify* t = &id->task->identify;
  const double numbers[] = {t->window,   t->stride,           t->position,    t->rotation, t->coordinate,
                            t->velocity, t->angular_velocity, t->rate,        t->huber,    t->fit_initial,
                            t->train,    t->initial_velocity, t->initial_rate};
  int fixed = (int)(sizeof(numbers) / sizeof(numbers[0])), runs = id->data.count;
  double* all = MEMORY_NEW(double, fixed + 2 * runs + 1);
  memcpy(all, numbers, sizeof(numbers));
  for (int k = 0; k < runs; k++) {
    all[fixed + 2 * k] = id->data.runs[k].count;
    all[fixed + 2 * k + 1] = id->data.runs[k].time[id->data.runs[k].count - 1];
  }
  *count = fixed + 2 * runs;
  return all;
}

static bool settings_agree(const Identification* id, const NumberFile* file, Diagnostics* diagnostics) {
  int count;
  double *current = get_settings(id, &count), *saved = MEMORY_NEW(double, count);
  bool same = number_file_doubles_count(file, "fit_settings") == count &&
              number_file_get_doubles(file, "fit_settings", saved, count, diagnostics) &&
              memcmp(current, saved, sizeof(double) * (size_t)count) == 0;
  if (!same)
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){file->path, 0, 0},
                    "cannot resume: the checkpoint was written with other data, or with other settings of 'identify': "
                    "restore the data and settings, start without --resume, or give another folder with -o");
  memory_free(current);
  memory_free(saved);
  return same;
}

static void save_rows(const Identification* id, NumberFile* file) {
  double* numbers = MEMORY_NEW(double, ROW_NUMBERS * id->row_count + 1);
  for (int k = 0; k < id->row_count; k++) {
    const FitRow* r = &id->rows[k];
    const double row[ROW_NUMBERS] = {r->cost, r->trial, r->gradient, r->step, r->simulated, (double)r->outcome};
    memcpy(numbers + ROW_NUMBERS * k, row, sizeof(row));
  }
  number_file_add_doubles(file, "fit_rows", numbers, ROW_NUMBERS * id->row_count);
  memory_free(numbers);
}

static bool load_rows(Identification* id, const NumberFile* file, Diagnostics* diagnostics) {
  int count = number_file_doubles_count(file, "fit_rows");
  double* numbers = MEMORY_NEW(double, count > 0 ? count : 1);
  bool sound = count > 0 && number_file_get_doubles(file, "fit_rows", numbers, count, diagnostics);
  id->row_count = 0;
  for (int k = 0; k < count / ROW_NUMBERS && sound; k++) {
    const double* r = numbers + ROW_NUMBERS * k;
    fit_append_row(
        id, &(FitRow){.cost = r[0], .trial = r[1], .gradient = r[2], .step = r[3], .outcome = (TrialOutcome)r[5]});
    id->rows[k].simulated = r[4];
  }
  memory_free(numbers);
  return sound;
}

Status identification_save(const Identification* id, const char* path, Diagnostics* diagnostics) {
  assert(path && diagnostics);
  NumberFile file = {0};
  int count;
  double* settings = get_settings(id, &count);
  id->method->save(id, &file);
  file.kind = IDENTIFY_CHECKPOINT_KIND;
  number_file_add_doubles(&file, "fit_settings", settings, count);
  number_file_add_integers(&file, "fit_simulated", &id->simulated, 1);
  save_rows(id, &file);
  memory_free(settings);
  errno = 0;
  Status status = number_file_write(&file, path);
  int error = errno;
  number_file_free(&file);
  if (status != STATUS_OK)
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "cannot write the checkpoint: %s",
                    file_error_text(error));
  return status;
}

Status identification_load(Identification* id, const char* path, Diagnostics* diagnostics) {
  assert(path && diagnostics);
  NumberFile file = {0};
  int64_t simulated = 0;
  Status status = number_file_read(&file, IDENTIFY_CHECKPOINT_KIND, path, diagnostics);
  bool sound = status == STATUS_OK && settings_agree(id, &file, diagnostics) &&
               optimization_matches(id->optimization, &file, diagnostics) && load_rows(id, &file, diagnostics) &&
               id->method->load(id, &file, diagnostics) &&
               number_file_get_integers(&file, "fit_simulated", &simulated, 1, diagnostics);
  if (sound) id->simulated = simulated;
  number_file_free(&file);
  return status != STATUS_OK ? status : sound ? STATUS_OK : STATUS_BAD_INPUT;
}
