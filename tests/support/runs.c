#include "support/runs.h"

#include <stdio.h>
#include <string.h>

static void give_up(Run* run, const char* what) {
  for (int i = 0; i < run->diagnostics.count && i < 5; i++)
    print_message("%d:%d: %s\n", run->diagnostics.items[i].line, run->diagnostics.items[i].column,
                  run->diagnostics.items[i].text);
  fail_msg("%s", what);
}

static Run* read_model(SceneEdit edit, void* context, const char* format, va_list arguments) {
  Run* run = MEMORY_NEW(Run, 1);
  Text text = {0};
  text_add_va_list(&text, format, arguments);
  Status status = scene_parse(&run->scene, "inline.yaml", text.data, text.length, false, NULL, 0, &run->diagnostics);
  text_free(&text);
  if (status != STATUS_OK) give_up(run, "the test's scene cannot be read");
  if (edit) edit(&run->scene, context);
  if (model_create(&run->model, &run->scene, &run->diagnostics) != STATUS_OK)
    give_up(run, "the test's model cannot be built");
  return run;
}

Run* run_model(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Run* run = read_model(NULL, NULL, format, arguments);
  va_end(arguments);
  return run;
}

static void start(Run* run, int threads, double tolerance) {
  const SimOptions options = {.threads = threads, .tolerance = tolerance};
  if (sim_create(&run->sim, &run->model, &options, &run->diagnostics) != STATUS_OK)
    give_up(run, "the test's run cannot be started");
}

Run* run_create(int threads, double tolerance, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Run* run = read_model(NULL, NULL, format, arguments);
  va_end(arguments);
  start(run, threads, tolerance);
  return run;
}

Run* run_create_edited(int threads, double tolerance, SceneEdit edit, void* context, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Run* run = read_model(edit, context, format, arguments);
  va_end(arguments);
  start(run, threads, tolerance);
  return run;
}

void run_free(Run* run) {
  sim_destroy(run->sim);
  model_destroy(&run->model);
  scene_free(&run->scene);
  diagnostics_free(&run->diagnostics);
  memory_free(run);
}

StepReport run_steps(Run* run, int steps) {
  StepReport report = {.outcome = STEP_CONVERGED};
  for (int k = 0; k < steps; k++) {
    report = sim_step(run->sim);
    if (step_outcome_failed(report.outcome))
      fail_msg("step %d failed: %s, residual %g at degree of freedom %d, %d iterations", sim_state(run->sim)->step + 1,
               step_outcome_text(report.outcome), report.residual, report.residual_dof, report.iterations);
  }
  return report;
}

int run_link(const Run* run, const char* name) {
  for (int i = 0; i < run->model.link_count; i++)
    if (strcmp(run->model.links[i].name, name) == 0) return i;
  fail_msg("no link '%s'", name);
  return -1;
}
