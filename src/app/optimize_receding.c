/* sdrs optimize TASK with `receding` (receding horizon): optimizes the windows in turn and writes the executed run. */
#include <errno.h>
#include <string.h>

#include "app/design_run.h"

typedef struct {
  DesignRun* run;
  Model model; /* model of the executed run in its initial state; used for the headers of files */
  RunFolder* output;
  RunTotals totals;
  bool recorded;      /* true if the rows of the present state were written */
  bool within_window; /* true if the present window resumes from a checkpoint */
  bool
      has_result; /* true if the initial control of the present window was simulated, so that the window has a result */
  bool estimated;
  ExitCode code;
  double start;
} WindowsRun;

/* ---------------------------------------------------------------- the run that is executed */

static Status write_rows(WindowsRun* c, Sim* sim, const StepReport* report) {
  RunFrame frame = {
      .state = sim_state(sim), .report = report, .measure = sim_measure(sim), .scheme = sim_scheme_work(sim)};
  frame.contacts = sim_contacts(sim, &frame.contact_count);
  frame.path = sim_path(sim);
  frame.reactions = sim_reactions(sim);
  run_totals_update_gap(&c->totals, &frame.measure, frame.state);
  c->recorded = true;
  if (report) live_show_state(&c->run->live, frame.state, c->totals.steps, &frame.measure, report);
  return run_folder_add(c->output, &frame, &c->run->diagnostics);
}

static bool is_state_requested(const Scene* scene, int step) {
  for (int k = 0; k < scene->keep_state_count; k++)
    if (fabs(scene->keep_states[k] - step * scene->simulation.dt) < 1e-3 * scene->simulation.dt) return true;
  return false;
}

/* Writes the present state of the executed run to the files that `sdrs simulate` writes. Called for the initial state
 * (report NULL) and after each step. context is a WindowsRun. */
static Status record(void* context, Sim* sim, const StepReport* report) {
  WindowsRun* c = context;
  const SimState* state = sim_state(sim);
  const Scene* scene = c->model.scene;
  int steps = receding_steps(c->run->receding);
  if (report) run_totals_add_step(&c->totals, report, state);
  bool last = c->totals.steps == steps;
  c->recorded = false;
  if (!design_run_writes()) return STATUS_OK;
  Status status = report ? STATUS_OK : live_start_run(&c->run->live, &c->model, state, steps, &c->run->diagnostics);
  if (status != STATUS_OK) return status;
  if (!report || last || state->step % scene->simulation.record_every == 0) status = write_rows(c, sim, report);
  bool starts = !report && c->model.start;
  if (report ? last || is_state_requested(scene, state->step) : starts) run_folder_store_state(c->output, sim);
  return status;
}

/* ---------------------------------------------------------------- files */

static Status write_log(const WindowsRun* c) {
  const Receding* r = c->run->receding;
  const Optimization* o = c->run->optimization;
  int terms = optimization_term_count(o);
  Text text = {0};
  text_add(&text, "window,step,time,iterations,initial_loss,loss");
  for (int t = 0; t < terms; t++) {
    text_add(&text, ",");
    csv_add_field(&text, optimization_term_name(o, t));
  }
  text_add(&text, ",stop,seconds\n");
  for (int k = 0; k < receding_window(r); k++) {
    const RecedingRow* row = &receding_rows(r)[k];
    text_add(&text, "%d,%d,", k, row->step);
    text_add_double(&text, model_row_time(&c->model, row->step));
    text_add(&text, ",%d", row->iterations);
    const double losses[2] = {row->initial_loss, row->loss};
    for (int n = 0; n < 2 + terms; n++) {
      text_add(&text, ",");
      text_add_double(&text, n < 2 ? losses[n] : receding_terms(r, k)[n - 2]);
    }
    text_add(&text, ",%s,", optimization_stop_text(row->stop));
    text_add_double(&text, row->seconds);
    text_add(&text, "\n");
  }
  char* path = file_join(c->run->folder, "windows.csv");
  Status status = file_write_reported(path, &text, &c->run->diagnostics);
  memory_free(path);
  text_free(&text);
  return status;
}

/* Writes convergence.csv of the present window to the folder windows/<number>. */
static Status write_window(const WindowsRun* c) {
  Text path = {0};
  text_add(&path, "%s/windows/%d", c->run->folder, receding_window(c->run->receding));
  Status status = file_make_folder_reported(path.data, &c->run->diagnostics);
  if (status == STATUS_OK) status = design_write_convergence(path.data, c->run->optimization, &c->run->diagnostics);
  text_free(&path);
  return status;
}

/* Writes the checkpoint. within_window: true if the present window has started. */
static Status write_checkpoint(const WindowsRun* c, bool within_window) {
  NumberFile checkpoint = {0};
  receding_save(c->run->receding, within_window, &checkpoint);
  char* path = design_checkpoint_path(c->run->folder);
  Status status = number_file_write(&checkpoint, path);
  if (status != STATUS_OK)
    diagnostics_add(&c->run->diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "cannot write: %s",
                    strerror(errno));
  memory_free(path);
  number_file_free(&checkpoint);
  return status;
}

static Status save_within_window(const WindowsRun* c) {
  int iteration = optimization_iteration(c->run->optimization);
  if (!design_run_writes() || iteration % c->run->task.optimizer.save_every != 0) return STATUS_OK;
  Status status = write_window(c);
  return status == STATUS_OK ? write_checkpoint(c, true) : status;
}

/* Writes the scene of the executed run: best.scene.yaml if `best`, otherwise initial.scene.yaml. */
static Status write_scene(const WindowsRun* c, bool best) {
  Text text = {0};
  char* path = file_join(c->run->folder, best ? "best.scene.yaml" : "initial.scene.yaml");
  text_add(&text, "# The %s control of task %s, %d windows of %d.\n", best ? "executed" : "initial", c->run->task.name,
           receding_window(c->run->receding), receding_window_count(c->run->receding));
  scene_write_yaml(receding_scene(c->run->receding), c->run->folder, &text);
  Status status = file_write_reported(path, &text, &c->run->diagnostics);
  memory_free(path);
  text_free(&text);
  return status;
}

static void add_receding(void* context, Json* json) {
  const WindowsRun* c = context;
  const Task* task = &c->run->task;
  const Receding* r = c->run->receding;
  int windows = receding_window(r), iterations = 0;
  for (int k = 0; k < windows; k++) iterations += receding_rows(r)[k].iterations;
  json_open(json, "task", '{');
  json_text(json, "name", task->name);
  json_text(json, "file", task->path);
  json_text(json, "sha256", task->sha256);
  json_integer(json, "seed", (int64_t)task->seed);
  json_integer(json, "variables", optimization_variable_count(c->run->optimization));
  json_close(json, '}');
  json_open(json, "receding", '{');
  json_integer(json, "horizon", task->receding.horizon);
  json_integer(json, "apply", task->receding.apply);
  json_text(json, "warm_start", task->receding.warm_start == WARM_SHIFT ? "shift" : "keep");
  json_integer(json, "windows", windows);
  json_integer(json, "iterations", iterations);
  json_bool(json, "one_run", receding_is_reproducible(r));
  json_number(json, "last_loss", windows > 0 ? receding_rows(r)[windows - 1].loss : (double)NAN);
  json_close(json, '}');
  design_add_success(json, c->run->optimization, c->code);
}

/* Writes summary.json. As in every run, its first input is the scene. */
static Status write_summary(WindowsRun* c, ExitCode code, const char* stop) {
  DesignRun* run = c->run;
  RunProgram program = version_program();
  Scene scene;
  Diagnostics quiet = {0};
  char* path = file_join(run->folder, "best.scene.yaml");
  Status status = scene_load(&scene, path, NULL, 0, &quiet);
  int inputs = 0;
  RunInput* input = status == STATUS_OK ? run_inputs(&scene, &inputs) : NULL;
  RunSummary summary = {.program = &program,
                        .model = &c->model,
                        .inputs = input,
                        .input_count = inputs,
                        .threads = run->options->threads,
                        .totals = c->totals,
                        .exit_code = code,
                        .stop = stop,
                        .total_seconds = timer_now() - c->start,
                        .more = add_receding,
                        .more_context = c};
  Text text = {0};
  run_summary_json(&text, &summary);
  char* file = file_join(run->folder, "summary.json");
  status = file_write_reported(file, &text, &run->diagnostics);
  if (status == STATUS_OK && run->options->json) fputs(text.data, stdout);
  text_free(&text);
  memory_free(file);
  memory_free(path);
  run_inputs_free(input, inputs);
  scene_free(&scene);
  diagnostics_free(&quiet);
  return status;
}

/* ---------------------------------------------------------------- output */

static void print_plan(const WindowsRun* c) {
  const DesignRun* run = c->run;
  const TaskReceding* t = &run->task.receding;
  if (run->options->quiet) return;
  fprintf(stderr, "%s: %d control variables; %d steps in %d windows of %d, of which %d are executed; seed %llu\n",
          run->task.name, optimization_variable_count(run->optimization), receding_steps(run->receding),
          receding_window_count(run->receding), t->horizon, t->apply, (unsigned long long)run->task.seed);
  if (!receding_is_reproducible(run->receding))
    fprintf(stderr,
            "%s: the variables of a window also change its signals at earlier times (constants, sines, splines), so a "
            "simulation of best.scene.yaml differs from the executed motion: take the executed motion from "
            "trajectory.csv\n",
            run->task.name);
}

/* Prints an estimate of the duration, once, after the first iteration. */
static void print_estimate(WindowsRun* c) {
  const DesignRun* run = c->run;
  const Optimization* o = run->optimization;
  int iteration = optimization_iteration(o);
  if (c->estimated || iteration < 1 || run->options->quiet) return;
  c->estimated = true;
  int windows = receding_window_count(run->receding) - receding_window(run->receding);
  double seconds =
      optimization_rows(o)[iteration].seconds / (iteration + 1) * windows * (run->task.optimizer.iterations + 1);
  if (seconds < LONG_TASK_SECONDS) return;
  fprintf(stderr, "%s: about %s when every window takes all its %d iterations\n", run->task.name,
          design_run_format_duration(seconds).text, run->task.optimizer.iterations);
}

static void show_window(const WindowsRun* c, Progress* progress) {
  const Receding* r = c->run->receding;
  int window = receding_window(r);
  const RecedingRow* row = &receding_rows(r)[window - 1];
  char numbers[200];
  snprintf(numbers, sizeof numbers, "window %d/%d  t = %.4g s  loss %.6g -> %.6g in %d iterations (%s)", window,
           receding_window_count(r), c->totals.time, row->initial_loss, row->loss, row->iterations,
           optimization_stop_text(row->stop));
  progress_report(progress, window, numbers, timer_now(), false);
}

/* ---------------------------------------------------------------- the loop */

static bool interrupted(void) { return interrupt_signal() != 0; }

static Status iterate(WindowsRun* c) {
  DesignRun* run = c->run;
  Status status = STATUS_OK;
  while (status == STATUS_OK && optimization_stop(run->optimization) == STOP_NOT_YET) {
    status = design_run_reduce_status(interrupted() ? STATUS_INTERRUPTED : STATUS_OK);
    if (status == STATUS_OK) status = optimization_advance(run->optimization);
    if (status != STATUS_OK || optimization_stop(run->optimization) == STOP_FLAT) break;
    print_estimate(c);
    status = design_run_reduce_status(save_within_window(c));
  }
  return status;
}

static Status load_within_window(WindowsRun* c) {
  char* path = design_checkpoint_path(c->run->folder);
  NumberFile checkpoint = {0};
  Status status = number_file_read(&checkpoint, CHECKPOINT_KIND, path, &c->run->diagnostics);
  if (status == STATUS_OK && !optimization_load(c->run->optimization, &checkpoint, &c->run->diagnostics))
    status = STATUS_BAD_INPUT;
  number_file_free(&checkpoint);
  memory_free(path);
  return status;
}

static Status run_window(WindowsRun* c) {
  DesignRun* run = c->run;
  bool within_window = c->within_window;
  c->within_window = false;
  receding_begin(run->receding);
  Status status = within_window ? load_within_window(c) : optimization_start(run->optimization, &run->diagnostics);
  c->has_result = status == STATUS_OK;
  if (status == STATUS_OK) status = iterate(c);
  if (status == STATUS_OK && design_run_writes()) status = write_window(c);
  status = design_run_reduce_status(status);
  c->has_result = c->has_result && status != STATUS_OK;
  if (status == STATUS_OK) status = receding_execute(run->receding, record, c, &run->diagnostics);
  if (status == STATUS_OK && design_run_writes()) status = write_log(c);
  if (status == STATUS_OK && design_run_writes()) status = write_checkpoint(c, false);
  return design_run_reduce_status(status);
}

static Status run_windows(WindowsRun* c) {
  Progress progress;
  const DesignRun* run = c->run;
  progress_start(&progress, run->options->quiet ? NULL : stderr, run->task.name, receding_window_count(run->receding),
                 timer_now());
  Status status = STATUS_OK;
  while (status == STATUS_OK && receding_window(run->receding) < receding_window_count(run->receding)) {
    status = run_window(c);
    if (status == STATUS_OK) show_window(c, &progress);
  }
  progress_end(&progress);
  return status;
}

/* Starts the run, or resumes it from the checkpoint with --resume. A new run removes earlier results from the
 * folder. */
static Status start_or_resume(WindowsRun* c) {
  DesignRun* run = c->run;
  if (!option_given(run->options, "resume")) {
    if (!design_run_writes()) return STATUS_OK;
    design_remove_results(run->folder, &run->task);
    return write_scene(c, false);
  }
  char* path = design_checkpoint_path(run->folder);
  NumberFile checkpoint = {0};
  Status status = number_file_read(&checkpoint, CHECKPOINT_KIND, path, &run->diagnostics);
  if (status == STATUS_OK && !receding_load(run->receding, &checkpoint, &c->within_window, &run->diagnostics))
    status = STATUS_BAD_INPUT;
  if (status == STATUS_OK) status = receding_replay(run->receding, record, c, &run->diagnostics);
  if (status == STATUS_OK && !run->options->quiet)
    fprintf(stderr, "%s: continues with window %d\n", run->task.name, receding_window(run->receding));
  number_file_free(&checkpoint);
  memory_free(path);
  return design_run_reduce_status(status);
}

/* ---------------------------------------------------------------- the end */

static const char* stop_text(Status status) {
  if (status == STATUS_OK) return "all steps done";
  if (status == STATUS_INTERRUPTED) return interrupt_name(interrupt_signal());
  return status == STATUS_SOLVER ? "the solver failed" : "cannot go on";
}

static Status close_folder(WindowsRun* c, bool within_window) {
  Status status = run_folder_close(c->output, &c->run->diagnostics);
  c->output = NULL;
  if (status == STATUS_OK) status = write_log(c);
  if (status == STATUS_OK) status = write_checkpoint(c, within_window);
  if (status == STATUS_OK) status = write_scene(c, true);
  if (status == STATUS_OK) status = design_write_variables(c->run->folder, c->run->optimization, &c->run->diagnostics);
  return status;
}

static void print_end(const WindowsRun* c, Status status) {
  const DesignRun* run = c->run;
  const Receding* r = run->receding;
  int windows = receding_window(r);
  if (run->options->quiet) return;
  if (status == STATUS_INTERRUPTED)
    fprintf(stderr, "%s: stopped by %s in window %d; continue with sdrs optimize %s -o %s --resume\n", run->task.name,
            interrupt_name(interrupt_signal()), windows, run->options->operands[0], run->folder);
  if (status == STATUS_OK)
    fprintf(stderr,
            "%s: %d windows, %d steps to t = %.6g s: loss of the first %.8g -> %.8g, of the last %.8g; %.3g s\n",
            run->task.name, windows, c->totals.steps, c->totals.time, receding_rows(r)[0].initial_loss,
            receding_rows(r)[0].loss, receding_rows(r)[windows - 1].loss, timer_now() - c->start);
  if (status == STATUS_OK) design_run_print_success(run);
}

static ExitCode finish(WindowsRun* c, Status status) {
  DesignRun* run = c->run;
  ExitCode code = status_exit_code(status);
  if (!design_run_writes() || status == STATUS_IO) return code;
  bool within_window = status == STATUS_INTERRUPTED && c->has_result;
  c->code = code;
  receding_evaluate_success(run->receding);
  if (close_folder(c, within_window) != STATUS_OK || write_summary(c, code, stop_text(status)) != STATUS_OK)
    code = EXIT_IO;
  print_end(c, status);
  if (code != EXIT_IO) write_overview_picture(run->options, run->folder);
  if (!run->options->json && code != EXIT_IO) printf("%s\n", run->folder);
  live_end(&run->live, stop_text(status), code == EXIT_IO ? NULL : run->folder);
  return code;
}

ExitCode design_run_receding(DesignRun* run) {
  WindowsRun windows_run = {.run = run, .totals = run_totals_start(), .start = timer_now()}, *c = &windows_run;
  Status status = receding_executed_model(run->receding, &c->model, &run->diagnostics);
  if (status == STATUS_OK) {
    c->model.simulation.steps = receding_steps(run->receding);
    if (design_run_writes()) status = run_folder_open(&c->output, run->folder, &c->model, &run->diagnostics);
  }
  status = design_run_reduce_status(status);
  if (status == STATUS_OK) {
    print_plan(c);
    status = start_or_resume(c);
  }
  if (status == STATUS_OK) status = run_windows(c);
  bool began = c->totals.steps > 0 || status == STATUS_OK || status == STATUS_INTERRUPTED;
  ExitCode code = began ? finish(c, status) : status_exit_code(status);
  run_folder_discard(c->output);
  model_destroy(&c->model);
  return code;
}
