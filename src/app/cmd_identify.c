/* sdrs identify TASK: fits the parameters of a scene to measured runs. */
#include <string.h>

#include "app/command.h"
#include "identify/identify.h"

/* State of one fit. fit_run_free accepts a zeroed or partly built struct. */
typedef struct {
  const Options* options;
  Diagnostics diagnostics;
  Task task;
  Identification* identification;
  const char** files;
  char *folder, *checkpoint;
  FolderLock claim;
} FitRun;

static bool interrupted(void) { return interrupt_signal() != 0; }

/* Returns true in the process that writes files and messages. Under mpirun all other processes follow the same
 * branches. */
static bool is_writer(void) { return processes_rank() == 0; }
static Status reduce_status(Status status) { return (Status)processes_max((int)status); }

static const char** data_files(const Options* options, int* count) {
  *count = 0;
  while (option_item(options, "data", *count)) (*count)++;
  const char** files = MEMORY_NEW(const char*, *count + 1);
  for (int k = 0; k < *count; k++) files[k] = option_item(options, "data", k);
  return files;
}

static Status fit_run_create(FitRun* run, const Options* options) {
  *run = (FitRun){.options = options};
  Status status =
      task_load(&run->task, options->operands[0], options->overrides, options->override_count, &run->diagnostics);
  if (status == STATUS_BAD_INPUT && task_recognise_scene(options->operands[0]))
    report_wrong_file_kind(
        options->operands[0], "a scene",
        "run `sdrs simulate` for a scene, or give sdrs identify a task that names the scene, the data and "
        "the parameters",
        &run->diagnostics);
  if (status != STATUS_OK) return status;
  if (option_given(options, "iterations"))
    run->task.identify.iterations = run->task.optimizer.iterations = option_count(options, "iterations", 1);
  IdentifyOptions settings = {.threads = options->threads, .interrupted = interrupted};
  run->files = data_files(options, &settings.file_count);
  settings.files = run->files;
  status = identification_create(&run->identification, &run->task, &settings, &run->diagnostics);
  if (status != STATUS_OK) return status;
  run->folder = run_folder_path(options, run->task.name);
  run->checkpoint = file_join(run->folder, "checkpoint");
  if (!is_writer()) return file_make_folder_reported(run->folder, &run->diagnostics);
  return folder_lock(&run->claim, run->folder, &run->diagnostics);
}

static void fit_run_free(FitRun* run) {
  folder_unlock(&run->claim);
  identification_destroy(run->identification);
  task_free(&run->task);
  diagnostics_free(&run->diagnostics);
  memory_free(run->files);
  memory_free(run->folder);
  memory_free(run->checkpoint);
}

static void print_verdict(const FitRun* run) {
  const Identification* id = run->identification;
  if (!is_writer() || (run->options->quiet && identification_identifiable(id))) return;
  if (identification_identifiable(id))
    fprintf(stderr, "%s: the data determine all %d parameters\n", run->task.name, identification_parameter_count(id));
  else
    fprintf(stderr, "%s: %s\n", run->task.name, identification_undetermined_text(id));
  for (const char* at = identification_determined_text(id); *at && !run->options->quiet;) {
    int length = (int)strcspn(at, "\n");
    fprintf(stderr, "  determined only in combination: %.*s\n", length, at);
    at += length + (at[length] == '\n');
  }
}

static void print_parameters(const FitRun* run) {
  const Identification* id = run->identification;
  if (run->options->quiet) return;
  for (int k = 0; k < identification_parameter_count(id); k++) {
    IdentifiedParameter p = identification_parameter(id, k);
    fprintf(stderr, "  %-28s %-12.6g (was %.6g)", p.name, p.value, p.initial_value);
    if (p.is_fixed)
      fprintf(stderr, "  not determined by the data");
    else if (p.at_bound)
      fprintf(stderr, "  at its bound");
    else if (isnan(p.standard_error))
      fprintf(stderr, "  not determined by the data at this value: add data, or remove the parameter from the task");
    else
      fprintf(stderr, "  +- %.3g, 95 %%: %.6g ... %.6g", p.standard_error, p.low, p.high);
    fputc('\n', stderr);
  }
  for (int train = 1; train >= 0; train--) {
    RunErrors j = identification_errors(id, train);
    if (j.runs > 0)
      fprintf(stderr,
              "  %-10s %d runs: position %.4g m (unfitted %.4g), rotation %.4g rad (%.4g), joints %.4g (%.4g)\n",
              train ? "training" : "validation", j.runs, j.position, j.unfitted_position, j.rotation,
              j.unfitted_rotation, j.coordinate, j.unfitted_coordinate);
  }
}

static void print_unfinished(const FitRun* run) {
  Text line = {0};
  if (identification_append_unconverged(run->identification, &line) && !run->options->quiet)
    fprintf(stderr,
            "  the fit has not converged: the next step would change %s (included in the intervals). Raise "
            "optimizer.iterations or identify.iterations, or use optimizer.type levenberg_marquardt\n",
            line.data);
  text_free(&line);
}

/* Prints the measurements that the model cannot reproduce. The confidence intervals were widened to include them. */
static void print_unexplained_measurements(const FitRun* run) {
  const Identification* id = run->identification;
  int count = identification_contradiction_count(id);
  if (run->options->quiet || count == 0) return;
  fprintf(
      stderr,
      "  the model cannot reproduce the following measurements (the confidence intervals were widened accordingly):\n");
  for (int k = 0; k < count; k++) {
    Text line = {0};
    identification_append_contradiction(id, k, &line);
    fprintf(stderr, "    %s\n", line.data);
    text_free(&line);
  }
  if (!run->task.identify.fit_initial)
    fprintf(stderr,
            "    runs start from the first measured state, and its noise can be the cause: try --set "
            "identify.fit_initial=true\n");
}

/* Prints the model error and the noise of every measured quantity, as in "position 0.0002 m beside 0.001". */
static void print_misfit(const FitRun* run) {
  static const char* const words[3] = {"position %.3g m beside %.3g", "rotation %.3g rad beside %.3g",
                                       "joints %.3g beside %.3g"};
  bool train = identification_errors(run->identification, false).runs == 0, first = true;
  Misfit m = identification_misfit(run->identification, train);
  if (run->options->quiet) return;
  for (int k = 0; k < 3; k++) {
    if (isnan(m.noise[k])) continue;
    fputs(first ? "  the model's own difference, beside noise: " : ", ", stderr);
    fprintf(stderr, words[k], m.model[k], m.noise[k]);
    first = false;
  }
  if (!first) fputc('\n', stderr);
}

static Status iterate(FitRun* run) {
  Progress progress;
  Identification* id = run->identification;
  progress_start(&progress, run->options->quiet ? NULL : stderr, run->task.name, identification_iterations(id),
                 timer_now());
  Status status = STATUS_OK;
  while (status == STATUS_OK && identification_stop(id) == IDENTIFY_RUNNING) {
    status = identification_advance(id);
    if (status != STATUS_OK) break;
    char numbers[100];
    snprintf(numbers, sizeof numbers, "iteration %d  half the sum of squares %.8g", identification_iteration(id),
             identification_cost(id));
    int done = identification_iteration(id) > 0 ? identification_iteration(id) : 1;
    progress_report(&progress, done, numbers, timer_now(), run->options->verbose);
    if (is_writer()) status = identification_save(id, run->checkpoint, &run->diagnostics);
    status = reduce_status(status);
  }
  progress_end(&progress);
  return status;
}

static Status finish(FitRun* run) {
  RunProgram program = version_program();
  Text json = {0};
  Status status = STATUS_OK;
  if (is_writer()) status = identification_write(run->identification, run->folder, &program, &json, &run->diagnostics);
  status = reduce_status(status);
  if (status == STATUS_OK && is_writer()) {
    print_parameters(run);
    print_misfit(run);
    print_unfinished(run);
    print_unexplained_measurements(run);
    if (run->options->json)
      fputs(json.data, stdout);
    else
      printf("%s\n", run->folder);
  }
  text_free(&json);
  return status;
}

static ExitCode fit(FitRun* run) {
  Status status = identification_start(run->identification, &run->diagnostics);
  if (status != STATUS_OK) return status_exit_code(status);
  print_verdict(run);
  bool reported = identification_identifiable(run->identification);
  if (!reported && !run->task.identify.keep_undetermined) {
    if (is_writer())
      fprintf(stderr,
              "%s: the measurements do not determine all parameters, so nothing was fitted: fix or tie parameters, "
              "give parameters a prior, measure more, or set identify.keep_undetermined: true\n",
              run->task.name);
    return EXIT_CHECK_FAILED;
  }
  if (option_given(run->options, "resume")) {
    status = reduce_status(identification_load(run->identification, run->checkpoint, &run->diagnostics));
    if (status != STATUS_OK) return status_exit_code(status);
  }
  status = iterate(run);
  if (status == STATUS_OK) status = reduce_status(identification_finish(run->identification, &run->diagnostics));
  if (status == STATUS_OK) status = finish(run);
  if (status == STATUS_INTERRUPTED && !run->options->quiet)
    fprintf(stderr, "%s: stopped by %s after iteration %d; continue with --resume\n", run->task.name,
            interrupt_name(interrupt_signal()), identification_iteration(run->identification));
  return status_exit_code(status);
}

/* Prints the diagnostics of the writing process. Another process prints its diagnostics only if the writer has no
 * errors. */
static void print_problems(FitRun* run) {
  int writer_errors = run->diagnostics.error_count;
  processes_broadcast(&writer_errors, sizeof(writer_errors), 0);
  if (is_writer() || writer_errors == 0) print_diagnostics(run->options, &run->diagnostics);
}

static ExitCode fit_task(const Options* options) {
  FitRun run;
  Status status = reduce_status(fit_run_create(&run, options));
  print_problems(&run);
  diagnostics_free(&run.diagnostics);
  ExitCode code = status_exit_code(status);
  if (status == STATUS_OK) {
    interrupt_install();
    code = fit(&run);
    print_problems(&run);
  }
  fit_run_free(&run);
  return code;
}

static ExitCode identify(const Options* options) {
  processes_init();
  Options process_options = *options;
  if (!is_writer()) process_options.quiet = true;
  ExitCode code = fit_task(&process_options);
  processes_finish();
  return code;
}

static const OptionRow OPTIONS[] = {
    {"data", 0, OPTION_TEXT_LIST, "GLOB", "measured runs instead of the task's: a CSV file or a pattern; repeatable"},
    {"iterations", 0, OPTION_COUNT, "N", "stop after N iterations instead of the task's number"},
    {"resume", 0, OPTION_FLAG, NULL, "continue from the checkpoint in the run folder"},
};

const Verb VERB_IDENTIFY = {
    .name = "identify",
    .operands = "TASK",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "fit masses, friction, shape to measured motion",
    .examples =
        "  sdrs identify scenes/identify/pendulum.yaml                      writes out/pendulum/\n"
        "  sdrs identify scenes/identify/cube.yaml --data 'tosses/cube/*.csv'\n"
        "  sdrs simulate out/pendulum/fitted.scene.yaml                     the scene that was found\n",
    .details =
        "The keys design, initial and parameters of the task define the variables, data the measurements, and\n"
        "identify the options of the fit (docs/identify.md).\n"
        "Before the fit, the parameters that the data do not determine are reported. If there are any,\n"
        "nothing is fitted and the exit code is 1. With identify.keep_undetermined the other parameters are\n"
        "fitted.\n"
        "Writes identify.json (values, standard errors, 95 % intervals, correlations, errors of training and\n"
        "validation runs compared with the unfitted scene), fitted.scene.yaml, residuals.csv (fitted minus\n"
        "measured) and a checkpoint after every iteration. The folder is printed on standard output, with\n"
        "--json identify.json.\n"
        "Exit codes: 0 done, 1 the data do not determine all parameters, 2 wrong usage, 3 bad input, 4 the\n"
        "runs cannot be simulated, 5 cannot read or write, 130 interrupted.\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .reads_scene = true,
    .writes_folder = true,
    .run = identify,
};
