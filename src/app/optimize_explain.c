/* sdrs optimize --explain FOLDER: prints from summary.json why an optimization stopped, and advice. */
#include <cjson/cJSON.h>
#include <errno.h>

#include "app/design_run.h"

static void print_lines(const cJSON* summary, const char* key, const char* prefix) {
  const cJSON* line;
  cJSON_ArrayForEach(line, cJSON_GetObjectItem(summary, key)) {
    const char* text = cJSON_GetStringValue(line);
    if (text) printf("%s%s\n", prefix, text);
  }
}

static void print_success(const cJSON* summary) {
  const cJSON *success = cJSON_GetObjectItem(summary, "success"), *term;
  if (cJSON_IsBool(success)) printf("%s\n", cJSON_IsTrue(success) ? "success: all terms are met" : "no success");
  cJSON_ArrayForEach(term, cJSON_GetObjectItem(summary, "success_terms")) {
    const char* name = cJSON_GetStringValue(cJSON_GetObjectItem(term, "name"));
    const cJSON *value = cJSON_GetObjectItem(term, "value"), *most = cJSON_GetObjectItem(term, "max");
    if (name && cJSON_IsNumber(value) && cJSON_IsNumber(most))
      printf("  %s %.6g (%sat most %.6g)\n", name, value->valuedouble,
             cJSON_IsTrue(cJSON_GetObjectItem(term, "met")) ? "" : "not ", most->valuedouble);
  }
}

/* Prints how loss and success change with half the time step, if they change. */
static void print_half_step(const cJSON* summary) {
  const cJSON *half = cJSON_GetObjectItem(summary, "half_step"), *loss = cJSON_GetObjectItem(half, "loss");
  const cJSON *best = cJSON_GetObjectItem(summary, "best_loss"), *met = cJSON_GetObjectItem(half, "success");
  bool differs = cJSON_IsTrue(cJSON_GetObjectItem(half, "differs"));
  bool lost = cJSON_IsFalse(met) && cJSON_IsTrue(cJSON_GetObjectItem(summary, "success"));
  if (!differs && !lost) return;
  if (cJSON_IsNumber(loss) && cJSON_IsNumber(best))
    printf("with half the time step the loss is %.6g instead of %.6g%s\n", loss->valuedouble, best->valuedouble,
           lost ? ", and success fails" : "");
  else
    printf("with half the time step the design cannot be simulated\n");
}

static bool print_summary(const cJSON* summary) {
  const char* task = cJSON_GetStringValue(cJSON_GetObjectItem(summary, "task"));
  const char* stopped = cJSON_GetStringValue(cJSON_GetObjectItem(summary, "stopped"));
  if (!task || !stopped) return false;
  printf("%s: %s\n", task, stopped);
  print_lines(summary, "findings", "");
  print_success(summary);
  print_half_step(summary);
  print_lines(summary, "advice", "try: ");
  return true;
}

ExitCode design_print_explanation(const Options* options, const char* folder) {
  char *path = file_join(folder, "summary.json"), *data = NULL;
  size_t length;
  Diagnostics diagnostics = {0};
  Status status = file_read(path, &data, &length);
  if (status != STATUS_OK) {
    diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0},
                    "cannot read: %s (--explain needs the folder of a run of `sdrs optimize` that has ended)",
                    file_error_text(errno));
  } else {
    cJSON* summary = cJSON_ParseWithLength(data, length);
    if (!print_summary(summary)) {
      diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0},
                      "'stopped' is missing: give the folder of a run of `sdrs optimize` by the same version of sdrs");
      status = STATUS_BAD_INPUT;
    }
    cJSON_Delete(summary);
  }
  print_diagnostics(options, &diagnostics);
  diagnostics_free(&diagnostics);
  memory_free(data);
  memory_free(path);
  return status_exit_code(status);
}
