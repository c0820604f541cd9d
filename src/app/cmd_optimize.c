/* sdrs optimize TASK: optimizes shape and control by gradients and writes the run folder. */

#include <limits.h>
#include <string.h>

#include "app/design_run.h"
#include "app/plan.h"

static bool interrupted(void) { return interrupt_signal() != 0; }

bool design_run_writes(void) { return processes_rank() == 0; }
Status design_run_reduce_status(Status status) { return (Status)processes_max((int)status); }
static bool is_writer(void) { return design_run_writes(); }
static Status reduce_status(Status status) { return design_run_reduce_status(status); }

Excerpt design_run_format_duration(double seconds) {
  Excerpt out;
  if (seconds < 100)
    snprintf(out.text, sizeof out.text, "%.0f s", seconds);
  else if (seconds < 6000)
    snprintf(out.text, sizeof out.text, "%.0f min", seconds / 60);
  else
    snprintf(out.text, sizeof out.text, "%.1f h", seconds / 3600);
  return out;
}

void design_run_print_success(const DesignRun* run) {
  int count = optimization_success_count(run->optimization);
  if (count == 0 || run->options->quiet) return;
  fprintf(stderr, "%s: %s:", run->task.name, optimization_succeeded(run->optimization) ? "success" : "no success");
  for (int i = 0; i < count; i++) {
    SuccessTerm term = optimization_success(run->optimization, i);
    fprintf(stderr, "%s %s %.4g (%sat most %.4g)", i > 0 ? "," : "", term.name, term.value, term.met ? "" : "not ",
            term.bound);
  }
  fprintf(stderr, "\n");
}

static bool has_choices(const DesignRun* run) { return run->task.choice_count > 0 && !run->candidate; }

static ExitCode run_optimization(DesignRun* run, const Options* options, bool candidate);

/* Returns the options for the previous task, named by `from: {task: ...}`. They have the given folder and no overrides.
 * The caller frees the member `values` of the result. */
static Options previous_task_options(const DesignRun* run, const char* folder, const char** operand) {
  Options local_options = *run->options;
  local_options.operands = operand;
  local_options.folder = folder;
  local_options.override_count = 0;
  local_options.json = false;
  local_options.values = MEMORY_NEW(OptionValue, local_options.verb->option_count);
  for (int k = 0; k < local_options.verb->option_count; k++) {
    const char* name = local_options.verb->options[k].name;
    bool kept = strcmp(name, "resume") == 0 || strcmp(name, "memory") == 0;
    if (kept) local_options.values[k] = run->options->values[k];
    if (strcmp(name, "no-converge") == 0 || strcmp(name, "no-overview") == 0) local_options.values[k].given = true;
  }
  return local_options;
}

static Status previous_task_status(ExitCode code) {
  Status status = STATUS_OK;
  while (status_exit_code(status) != code && status < STATUS_NO_MEMORY) status++;
  return status;
}

/* Optimizes the previous task, named by `from: {task: ...}`, whose result is the start of this run. All processes must
 * call this function. */
static Status optimize_previous_task(DesignRun* run) {
  Status status = is_writer() ? file_make_folder_reported(run->folder, &run->diagnostics) : STATUS_OK;
  if (status == STATUS_OK) status = design_check_previous_tasks(&run->task, &run->diagnostics);
  status = reduce_status(status);
  if (status != STATUS_OK) return status;
  const char* operand = run->task.before.text;
  char* folder = file_join(run->folder, "from");
  Options local_options = previous_task_options(run, folder, &operand);
  DesignRun before;
  ExitCode code = run_optimization(&before, &local_options, true);
  design_run_free(&before);
  memory_free(local_options.values);
  run->task.from = (TaskName){.text = folder, .place = run->task.before.place};
  return previous_task_status(code);
}

static Status design_run_create(DesignRun* run, const Options* options, bool candidate) {
  *run = (DesignRun){.options = options, .candidate = candidate};
  Status status =
      task_load(&run->task, options->operands[0], options->overrides, options->override_count, &run->diagnostics);
  if (status == STATUS_BAD_INPUT && task_recognise_scene(options->operands[0]))
    report_wrong_file_kind(
        options->operands[0], "a scene",
        "run `sdrs simulate` for a scene, or give sdrs optimize a task that names the scene and the loss",
        &run->diagnostics);
  if (status == STATUS_OK && run->task.loss_count == 0) {
    diagnostics_add(&run->diagnostics, SEVERITY_ERROR, (SourcePosition){run->task.path, 0, 0},
                    "'loss' is missing: add 'loss', or run `sdrs identify` for a task with 'data'");
    status = STATUS_BAD_INPUT;
  }
  if (status != STATUS_OK) return status;
  if (option_given(options, "iterations"))
    run->task.receding.iterations = run->task.optimizer.iterations = option_count(options, "iterations", 1);
  run->task.memory = option_number(options, "memory", run->task.memory);
  if (option_given(options, "memory")) run->task.memory_place = (SourcePosition){0};
  run->folder = run_folder_path(options, run->task.name);
  if (has_choices(run)) return is_writer() ? file_make_folder_reported(run->folder, &run->diagnostics) : STATUS_OK;
  if (run->task.before.text) status = optimize_previous_task(run);
  if (status != STATUS_OK) return status;
  OptimizationOptions settings = {options->threads, interrupted};
  DesignStart start;
  status = design_start(&start, &run->task, &settings, &run->diagnostics);
  run->optimization = start.optimization;
  run->receding = start.receding;
  run->initialized_count = start.initialized_count;
  if (status != STATUS_OK) return status;
  if (is_writer()) status = live_open(&run->live, options, run->task.name, &run->diagnostics);
  if (status != STATUS_OK) return status;
  if (!is_writer()) return STATUS_OK;
  if (run->receding)
    return file_make_folder_reported(
        run->folder, &run->diagnostics); /* run_folder_open claims the folder of a receding horizon later */
  return folder_lock(&run->claim, run->folder, &run->diagnostics);
}

void design_run_free(DesignRun* run) {
  folder_unlock(&run->claim);
  live_close(&run->live);
  design_start_free(&(DesignStart){run->optimization, run->receding, run->initialized_count});
  task_free(&run->task);
  diagnostics_free(&run->diagnostics);
  memory_free(run->half_step.success);
  memory_free(run->folder);
}

/* ---------------------------------------------------------------- files written during the run */

static Status save_progress(DesignRun* run) {
  Status status = design_write_convergence(run->folder, run->optimization, &run->diagnostics);
  if (status == STATUS_OK) status = design_write_checkpoint(run->folder, run->optimization, &run->diagnostics);
  return status;
}

/* Writes the present design, convergence.csv and a checkpoint, every save_every iterations. */
static Status save_iteration(DesignRun* run) {
  int iteration = optimization_iteration(run->optimization);
  if (iteration % run->task.optimizer.save_every != 0 || !is_writer()) return STATUS_OK;
  char name[32];
  snprintf(name, sizeof name, "%d", iteration);
  Status status = design_write_shapes(run->folder, name, run->optimization, false, &run->diagnostics);
  return status == STATUS_OK ? save_progress(run) : status;
}

/* Writes the scene of a failed line-search evaluation to a file that `sdrs simulate` can run. */
static Status save_failed(DesignRun* run) {
  if (design_failed_scene_number(run->optimization) == 0 || !is_writer()) return STATUS_OK;
  return design_write_failed(run->folder, &run->task, run->optimization, &run->diagnostics);
}

static Status save_best(DesignRun* run) {
  Status status = design_write_variables(run->folder, run->optimization, &run->diagnostics);
  return status == STATUS_OK ? design_write_scenes(run->folder, &run->task, run->optimization, true, &run->diagnostics)
                             : status;
}

static Status save_end(DesignRun* run) {
  if (!is_writer()) return STATUS_OK;
  Status status = save_progress(run);
  if (status == STATUS_OK)
    status = design_write_shapes(run->folder, "final", run->optimization, true, &run->diagnostics);
  return status == STATUS_OK ? save_best(run) : status;
}

/* ---------------------------------------------------------------- the live view */

static void show_design(DesignRun* run, bool best) {
  Diagnostics unsaid = {0};
  design_write_convergence(run->folder, run->optimization, &unsaid);
  diagnostics_free(&unsaid);
  live_show_design(&run->live, optimization_scene(run->optimization, 0, best), run->folder);
}

static void show_iteration(DesignRun* run) {
  if (live_is_design_due(&run->live)) show_design(run, false);
}

static void show_end(DesignRun* run, Status status) {
  if (status != STATUS_IO && live_will_show_end(&run->live)) show_design(run, true);
  live_end(&run->live,
           status == STATUS_INTERRUPTED ? interrupt_name(interrupt_signal())
                                        : optimization_stop_text(optimization_stop(run->optimization)),
           NULL);
}

/* ---------------------------------------------------------------- messages during the run */

/* Returns the largest possible number of iterations, summed over all starts of a multistart. */
static int largest_iteration_count(const DesignRun* run) {
  double most = (double)run->task.optimizer.iterations * run->task.multistart + (run->task.multistart - 1);
  return most < INT_MAX ? (int)most : INT_MAX;
}

static void show_progress(DesignRun* run, Progress* progress) {
  const Optimization* o = run->optimization;
  int iteration = optimization_iteration(o);
  const OptimizationRow* row = &optimization_rows(o)[iteration];
  char numbers[200];
  snprintf(numbers, sizeof numbers, "iteration %d/%d  loss %.6g (best %.6g)  moved: design %.2g, control %.2g  %s",
           iteration, largest_iteration_count(run), row->loss, optimization_best_loss(o), row->step_design,
           row->step_control, trial_outcome_text(row->outcome));
  progress_report(progress, iteration, numbers, timer_now(), false);
  bool failed = row->outcome > TRIAL_ROSE;
  if (failed && !run->options->quiet) {
    int number = design_failed_scene_number(o);
    char* kept = number > 0 ? design_failed_scene_path(run->folder, number) : NULL;
    progress_end(progress);
    fprintf(stderr, "%s: iteration %d: %s%s%s%s%s; a shorter step follows\n", run->task.name, iteration,
            trial_outcome_text(row->outcome), *optimization_reason(o) ? ": " : "", optimization_reason(o),
            kept ? "; its scene is kept: " : "", kept ? kept : "");
    memory_free(kept);
  }
}

/* Prints each line of `lines` after the task's name and `prefix`. lines may be NULL. */
static void print_lines(FILE* out, const char* name, const char* prefix, const char* lines) {
  while (lines && *lines) {
    int length = (int)strcspn(lines, "\n");
    fprintf(out, "%s: %s%.*s\n", name, prefix, length, lines);
    lines += length + (lines[length] == '\n');
  }
}

static int step_count(const TaskScenario* scenario) {
  return task_step_count(scenario->steps, scenario->scene.simulation.steps);
}

/* Appends the number of steps and the duration of the longest scenario, as in " of 120 steps to t = 1.2 s". */
static void add_horizon(Text* out, const Task* task) {
  const TaskScenario* longest = NULL;
  double most = 0;
  for (int k = 0; k < task->scenario_count; k++) {
    double time = step_count(&task->scenarios[k]) * task->scenarios[k].scene.simulation.dt;
    if (!(time > most)) continue;
    most = time;
    longest = &task->scenarios[k];
  }
  if (!longest) return;
  text_add(out, " of %s%d steps to t = %.6g s", task->scenario_count > 1 ? "up to " : "", step_count(longest), most);
}

static void print_start(const DesignRun* run) {
  const Optimization* o = run->optimization;
  int controls = 0, count = optimization_variable_count(o);
  for (int k = 0; k < count; k++) controls += optimization_variable(o, k).is_control;
  if (run->options->quiet) return;
  Text horizon = {0};
  add_horizon(&horizon, &run->task);
  fprintf(stderr, "%s: %d design and %d control variables, %d scenario%s%s, seed %llu\n", run->task.name,
          count - controls, controls, run->task.scenario_count, run->task.scenario_count == 1 ? "" : "s",
          horizon.data ? horizon.data : "", (unsigned long long)run->task.seed);
  text_free(&horizon);
  if (run->task.from.text)
    fprintf(stderr, "%s: %d of %d variables start from the result of %s\n", run->task.name, run->initialized_count,
            count, run->task.from.text);
  if (*optimization_note(o) && run->options->verbose) fputs(optimization_note(o), stderr);
}

static void print_end(const DesignRun* run) {
  const Optimization* o = run->optimization;
  const OptimizationRow* rows = optimization_rows(o);
  double forward, adjoint;
  optimization_times(o, &forward, &adjoint);
  if (run->options->quiet) return;
  fprintf(stderr,
          "%s: %s after %d iterations: loss %.8g -> %.8g (iteration %d); %.3g s, forward %.3g s, adjoint %.3g s\n",
          run->task.name, optimization_stop_text(optimization_stop(o)), optimization_iteration(o), rows[0].loss,
          optimization_best_loss(o), optimization_best_iteration(o), rows[optimization_iteration(o)].seconds, forward,
          adjoint);
  const Model* model;
  UnconvergedSteps unconverged = optimization_unconverged(o, &model);
  warn_unconverged(run->options, run->task.name, model, &unconverged, run->task.optimizer.tolerance);
  unconverged = optimization_unconverged_friction(o, &model);
  warn_friction_open(run->options, run->task.name, model, &unconverged);
}

/* Prints findings and advice if the result is not satisfactory. */
static void print_report(const DesignRun* run) {
  OptimizationReport report;
  if (run->options->quiet) return;
  optimization_report(run->optimization, false, &report);
  if (report.advice.length > 0) {
    print_lines(stderr, run->task.name, "", report.findings.data);
    print_lines(stderr, run->task.name, "try: ", report.advice.data);
  }
  optimization_report_free(&report);
}

/* Prints an estimate of the duration, extrapolated from the first simulation and gradient. Prints nothing below
 * LONG_TASK_SECONDS. */
static void print_estimate(const DesignRun* run) {
  const Optimization* o = run->optimization;
  int left = largest_iteration_count(run) - optimization_iteration(o);
  double seconds = optimization_rows(o)[0].seconds * left;
  if (run->options->quiet || optimization_iteration(o) > 0 || seconds < LONG_TASK_SECONDS) return;
  fprintf(stderr, "%s: about %s for all %d iterations\n", run->task.name, design_run_format_duration(seconds).text,
          largest_iteration_count(run));
}

/* ---------------------------------------------------------------- the loop */

static Status resume(DesignRun* run) {
  char* path = design_checkpoint_path(run->folder);
  NumberFile checkpoint = {0};
  Status status = number_file_read(&checkpoint, CHECKPOINT_KIND, path, &run->diagnostics);
  if (status == STATUS_OK && !optimization_load(run->optimization, &checkpoint, &run->diagnostics))
    status = STATUS_BAD_INPUT;
  if (status == STATUS_OK && !run->options->quiet)
    fprintf(stderr, "%s: resumes after iteration %d\n", run->task.name, optimization_iteration(run->optimization));
  number_file_free(&checkpoint);
  memory_free(path);
  return status;
}

/* Returns true if the run resumes from a checkpoint. With --resume, a missing checkpoint is an error later. Exceptions
 * are the run of a candidate and the run of a task with `before`. If they have no checkpoint, they start from the
 * beginning, because the interruption may have come before their start. */
static bool resumes_from_checkpoint(const DesignRun* run) {
  if (!option_given(run->options, "resume")) return false;
  char* path = design_checkpoint_path(run->folder);
  int exists = (!run->candidate && !run->task.before.text) || file_is_regular(path);
  memory_free(path);
  processes_broadcast(&exists, sizeof exists, 0);
  return exists;
}

static Status begin(DesignRun* run) {
  if (resumes_from_checkpoint(run)) return reduce_status(resume(run));
  Status status = optimization_start(run->optimization, &run->diagnostics);
  if (status == STATUS_INTERRUPTED && !run->options->quiet)
    fprintf(stderr, "%s: stopped by %s before the initial design was done; nothing is written\n", run->task.name,
            interrupt_name(interrupt_signal()));
  if (status != STATUS_OK) return status;
  if (is_writer()) design_remove_results(run->folder, &run->task);
  status = is_writer() ? design_write_scenes(run->folder, &run->task, run->optimization, false, &run->diagnostics)
                       : STATUS_OK;
  return reduce_status(status == STATUS_OK ? save_iteration(run) : status);
}

/* Prints new changes of the optimization method. *reported: number of printed changes. */
static void report_methods(const DesignRun* run, Progress* progress, int* reported) {
  int count = optimization_method_change_count(run->optimization);
  for (; *reported < count; ++*reported) {
    if (run->options->quiet) continue;
    Text line = {0};
    optimization_add_method_change(run->optimization, *reported, &line);
    progress_end(progress);
    fprintf(stderr, "%s: %s\n", run->task.name, line.data);
    text_free(&line);
  }
}

/* Prints new pairs of links whose gap at the start limits the design. *reported: number of printed pairs. */
static void report_start_pairs(const DesignRun* run, Progress* progress, int* reported) {
  int count = optimization_start_pair_count(run->optimization);
  for (; *reported < count; ++*reported) {
    if (run->options->quiet) continue;
    progress_end(progress);
    fprintf(stderr,
            "%s: iteration %d: links %s would intersect at the start; from now on the gap between these links limits "
            "the design\n",
            run->task.name, optimization_iteration(run->optimization),
            optimization_start_pair(run->optimization, *reported).text);
  }
}

/* Prints how many starts of a multistart could not be evaluated at their initial values, if the number grew. *reported:
 * number printed last. */
static void report_unstarted(const DesignRun* run, Progress* progress, int* reported) {
  const char* reason;
  int count = optimization_failed_starts(run->optimization, &reason);
  if (count > *reported && !run->options->quiet) {
    progress_end(progress);
    fprintf(
        stderr,
        "%s: the initial design of %d of %d starts could not be simulated%s%s; narrow the bounds of the variables\n",
        run->task.name, count, run->task.multistart, *reason ? ": " : "", reason);
  }
  *reported = count;
}

static Status iterate(DesignRun* run) {
  Progress progress;
  int reported = optimization_start_pair_count(run->optimization);
  int changes = optimization_method_change_count(run->optimization);
  const char* reason;
  int unstarted = optimization_failed_starts(run->optimization, &reason);
  progress_start(&progress, run->options->quiet ? NULL : stderr, run->task.name, largest_iteration_count(run),
                 timer_now());
  Status status = STATUS_OK;
  while (status == STATUS_OK && optimization_stop(run->optimization) == STOP_NOT_YET) {
    /* a signal reaches the processes at different times; all processes stop if one has received it */
    status = reduce_status(interrupted() ? STATUS_INTERRUPTED : STATUS_OK);
    if (status == STATUS_OK) status = optimization_advance(run->optimization);
    if (status != STATUS_OK || optimization_stop(run->optimization) == STOP_FLAT) break;
    show_progress(run, &progress);
    report_methods(run, &progress, &changes);
    report_start_pairs(run, &progress, &reported);
    report_unstarted(run, &progress, &unstarted);
    status = save_failed(run);
    status = reduce_status(status == STATUS_OK ? save_iteration(run) : status);
    show_iteration(run);
  }
  report_unstarted(run, &progress, &unstarted);
  progress_end(&progress);
  return status;
}

static Status write_summary(DesignRun* run, ExitCode code) {
  const Options* options = run->options;
  RunProgram program = version_program();
  DesignSummary summary = {&program, options->overrides, options->override_count, options->threads,
                           code,     run->half_step};
  Text text = {0};
  Status status = design_write_summary(run->folder, &summary, &run->task, run->optimization, &text, &run->diagnostics);
  if (status == STATUS_OK && options->json) fputs(text.data, stdout);
  text_free(&text);
  return status;
}

static void print_validation(const DesignRun* run) {
  int tries = optimization_validation_tries(run->optimization);
  if (tries == 0 || run->options->quiet) return;
  fprintf(stderr, "%s: validation, draws that fulfil 'success':", run->task.name);
  for (int k = 0; k < run->task.scenario_count; k++)
    fprintf(stderr, "%s %d of %d in scenario '%s'", k > 0 ? "," : "",
            optimization_validation_passed(run->optimization, k), tries, run->task.scenarios[k].name);
  fprintf(stderr, "\n");
}

/* The printed command includes the options that changed the task. */
void design_run_print_resume_command(const DesignRun* run) {
  const Options* options = run->options;
  Text line = {0};
  text_add(&line, "sdrs optimize ");
  text_add_shell(&line, options->operands[0]);
  text_add(&line, " -o ");
  text_add_shell(&line, run->folder);
  for (int i = 0; i < options->override_count; i++) {
    text_add(&line, " --set ");
    text_add_shell(&line, options->overrides[i].text);
  }
  if (option_given(options, "memory")) text_add(&line, " --memory %s", option_text(options, "memory"));
  if (option_given(options, "iterations")) text_add(&line, " --iterations %s", option_text(options, "iterations"));
  fprintf(stderr, "%s: stopped by %s", run->task.name, interrupt_name(interrupt_signal()));
  if (run->optimization) fprintf(stderr, " after iteration %d", optimization_iteration(run->optimization));
  fprintf(stderr, "; continue with %s --resume\n", line.data);
  text_free(&line);
}

static ExitCode finish(DesignRun* run, Status status) {
  Status written = status == STATUS_IO ? status : reduce_status(save_end(run)); /* a write error was already reported */
  if (written == STATUS_OK && status == STATUS_OK) status = optimization_evaluate_success(run->optimization);
  if (written == STATUS_OK && status == STATUS_OK) status = optimization_validate(run->optimization);
  ExitCode code = status_exit_code(written == STATUS_OK ? status : written);
  if (!is_writer()) return code;
  if (written == STATUS_OK && status == STATUS_OK) design_run_simulate_half_step(run);
  if (written == STATUS_OK && write_summary(run, code) != STATUS_OK) code = EXIT_IO;
  if (status == STATUS_INTERRUPTED && !run->options->quiet && !run->candidate) design_run_print_resume_command(run);
  if (status == STATUS_OK) print_end(run);
  if (status == STATUS_OK) design_run_warn_half_step(run);
  if (status == STATUS_OK) design_run_print_success(run);
  if (status == STATUS_OK) print_report(run);
  if (status == STATUS_OK) print_validation(run);
  if (code != EXIT_IO) write_overview_picture(run->options, run->folder);
  if (!run->options->json && code != EXIT_IO && !run->candidate) printf("%s\n", run->folder);
  return code;
}

static ExitCode iterate_and_finish(DesignRun* run) {
  show_iteration(run);
  Status status = iterate(run);
  ExitCode code = finish(run, status);
  show_end(run, status);
  return code;
}

/* Prints the diagnostics of the writing process. Another process prints its diagnostics only if the writer has no
 * errors. */
static void print_problems(const DesignRun* run, Diagnostics* diagnostics) {
  int writer_errors = diagnostics->error_count;
  processes_broadcast(&writer_errors, sizeof(writer_errors), 0);
  if (is_writer() || writer_errors == 0) print_diagnostics(run->options, diagnostics);
}

/* Runs one optimization from the initial design to the written results. Returns the exit code. */
static ExitCode optimize_design(DesignRun* run) {
  print_start(run);
  Status status = begin(run);
  if (status != STATUS_OK) return status_exit_code(status);
  print_estimate(run);
  return iterate_and_finish(run);
}

static ExitCode run_optimization(DesignRun* run, const Options* options, bool candidate) {
  Status status = reduce_status(design_run_create(run, options, candidate));
  print_problems(run, &run->diagnostics);
  diagnostics_free(&run->diagnostics);
  if (status == STATUS_INTERRUPTED && !options->quiet && !candidate) design_run_print_resume_command(run);
  if (status != STATUS_OK) return status_exit_code(status);
  if (option_given(options, "candidate") && run->task.choice_count == 0)
    return usage_error(options, "--candidate applies to tasks with 'choices' only: remove --candidate");
  warn_overridden_tolerance(options, "a task uses optimizer.tolerance; set optimizer.tolerance instead");
  interrupt_install();
  ExitCode code = has_choices(run) ? design_run_choices(run)
                  : run->receding  ? design_run_receding(run)
                                   : optimize_design(run);
  print_problems(run, &run->diagnostics);
  return code;
}

ExitCode design_run_candidate(DesignRun* run, const Options* options) { return run_optimization(run, options, true); }

static Status write_candidate_results(DesignRun* run) {
  design_remove_results(run->folder, &run->task);
  Status status = design_write_convergence(run->folder, run->optimization, &run->diagnostics);
  if (status == STATUS_OK) status = save_best(run);
  return status == STATUS_OK ? write_summary(run, EXIT_DONE) : status;
}

ExitCode design_run_write_results(DesignRun* run, const char* folder) {
  char *local_options = run->folder, *other = memory_copy_text(folder);
  run->folder = other;
  Status status = reduce_status(is_writer() ? write_candidate_results(run) : STATUS_OK);
  run->folder = local_options;
  memory_free(other);
  print_problems(run, &run->diagnostics);
  return status_exit_code(status);
}

static ExitCode optimize(const Options* options) {
  processes_init();
  Options local_options = *options;
  if (!is_writer()) local_options.quiet = true;
  ExitCode code = EXIT_DONE;
  if (option_given(options, "explain")) {
    code = is_writer() ? design_print_explanation(options, options->operands[0]) : EXIT_DONE;
  } else if (!plan_run(&local_options, local_options.operands[0], true, &code)) {
    DesignRun run;
    code = run_optimization(&run, &local_options, false);
    design_run_free(&run);
  }
  processes_finish();
  return code;
}

static const OptionRow OPTIONS[] = {
    {"resume", 0, OPTION_FLAG, NULL, "continue from the checkpoint in the run folder"},
    {"iterations", 0, OPTION_COUNT, "N", "stop after N iterations instead of the task's number"},
    {"explain", 0, OPTION_FLAG, NULL,
     "TASK is a run folder: print why the run stopped and what to try, without running"},
    {"candidate", 0, OPTION_COUNT, "N", "optimize only the candidate N of a task with choices, from 1"},
    {"no-converge", 0, OPTION_FLAG, NULL, "do not simulate the best design again with half the time step"},
    MEMORY_OPTION,
    OVERVIEW_OPTIONS,
    VIEW_OPTIONS,
};

const Verb VERB_OPTIMIZE = {
    .name = "optimize",
    .operands = "TASK",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "design shape and control by gradients, write the run folder",
    .examples =
        "  sdrs optimize scenes/tasks/throw.yaml               writes out/throw/\n"
        "  sdrs optimize scenes/tasks/reach.yaml -o /tmp/reach --set optimizer.iterations=200\n"
        "  sdrs optimize scenes/tasks/reach.yaml -o /tmp/reach --resume\n"
        "  sdrs optimize --explain out/reach                   how it ended, what to try\n"
        "  sdrs simulate out/throw/best.scene.yaml             the design that was found\n",
    .details =
        "The run folder receives initial.scene.yaml and convergence.csv (a row per iteration). A checkpoint\n"
        "and design/<iteration>/<link>.obj are written every optimizer.save_every iterations. The first ten\n"
        "trials that could not be simulated are written to failed.<n>.scene.yaml.\n"
        "At the end design/final/, design.csv (all variables), best.scene.yaml and summary.json are written.\n"
        "summary.json contains the reason of the stop, rejected trials, advice, and whether the task's\n"
        "`success` is met. The folder is printed on standard output, with --json summary.json.\n"
        "With `receding` in the task: the folder has the executed run as written by `sdrs simulate`,\n"
        "windows.csv (a row per window), windows/<n>/convergence.csv, best.scene.yaml with the executed\n"
        "control, design.csv and summary.json.\n"
        "With `from: {task: ...}` in the task: the other task is run first. Its files are in the folder from.\n"
        "With `choices` in the task: every candidate has its own folder 1, 2, ... with these files.\n"
        "choices.csv has a row per candidate. The run folder has the files of the best candidate. Independent\n"
        "candidates can run in parallel: seq 8 | parallel sdrs optimize TASK -o DIR --candidate {}, then sdrs\n"
        "optimize TASK -o DIR --resume.\n"
        "SIGINT, SIGTERM, SIGHUP and SIGUSR1 stop the run with exit code 130. The checkpoint and all files\n"
        "are written. With --resume the run continues and ends with a bit-identical result.\n"
        "At the end the best design is simulated again with half the time step. A line warns if its loss\n"
        "differs by more than 10 %. Overrides of the scenes begin with scene: --set\n"
        "scene.contact.friction=0.2\n"
        "Exit codes: 0 done, 2 wrong usage, 3 bad input, 4 the initial design cannot be simulated, 5 cannot\n"
        "read or write, 130 interrupted.\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .reads_scene = true,
    .writes_folder = true,
    .run = optimize,
};
