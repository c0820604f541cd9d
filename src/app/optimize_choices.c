/* sdrs optimize TASK with `choices`: optimizes combinations of choices, each in its own folder, and copies the best
 * result to the run folder. */
#include <assert.h>
#include <string.h>

#include "app/design_run.h"

typedef struct {
  DesignRun* run_of_task; /* run of the task with all choices, and its folder */
  ChoiceSearch* search;
  int* value_index; /* index of the selected value of each choice (size: choices) */
  int number;       /* present candidate, from 1 */
  int best;         /* best candidate so far, or 0 */
  bool only_one; /* true with --candidate: writes the candidate's own folder only, because other processes may run other
                    candidates */
  Text table;    /* content of choices.csv */
} Choosing;

static const char* selected_value(const Choosing* c, int choice) {
  assert(choice >= 0 && choice < c->run_of_task->task.choice_count);
  return c->run_of_task->task.choices[choice].sets[c->value_index[choice]];
}

static void begin_table(Choosing* c) {
  const Task* task = &c->run_of_task->task;
  text_add(&c->table, "candidate");
  for (int k = 0; k < task->choice_count; k++) {
    const char* set = task->choices[k].sets[0];
    text_add(&c->table, ",%.*s", (int)strcspn(set, "="), set);
  }
  text_add(&c->table, ",exit_code,iterations,loss,violation,success,best_so_far\n");
}

/* Appends the row of the present candidate to choices.csv. is_best: true if the candidate is the best so far. */
static Status add_row(Choosing* c, const DesignRun* run, ExitCode code, bool is_best) {
  const Optimization* o = code == EXIT_DONE ? run->optimization : NULL;
  text_add(&c->table, "%d", c->number);
  for (int k = 0; k < c->run_of_task->task.choice_count; k++) {
    const char* set = selected_value(c, k);
    text_add(&c->table, ",");
    csv_add_field(&c->table, set + strcspn(set, "=") + 1);
  }
  text_add(&c->table, ",%d,%d,", (int)code, o ? optimization_iteration(o) : 0);
  text_add_double(&c->table, o ? optimization_best_loss(o) : (double)NAN);
  text_add(&c->table, ",");
  text_add_double(&c->table,
                  o && optimization_bounded_term_count(o) > 0 ? optimization_best_violation(o) : (double)NAN);
  const char* word = o && optimization_succeeded(o) ? "true" : "false";
  text_add(&c->table, ",%s,%s\n", o && optimization_success_count(o) > 0 ? word : "", is_best ? "true" : "false");
  if (!design_run_writes()) return STATUS_OK;
  char* path = file_join(c->run_of_task->folder, "choices.csv");
  Status status = file_write_reported(path, &c->table, &c->run_of_task->diagnostics);
  memory_free(path);
  return status;
}

static void print_candidate(const Choosing* c) {
  if (c->run_of_task->options->quiet) return;
  fprintf(stderr, "%s: candidate %d of %d:", c->run_of_task->task.name, c->number, choice_search_count(c->search));
  for (int k = 0; k < c->run_of_task->task.choice_count; k++) fprintf(stderr, " %s", selected_value(c, k));
  fprintf(stderr, "\n");
}

/* Prints the summary.json of the run folder, a copy of that of the best candidate. */
static ExitCode print_summary(DesignRun* run_of_task) {
  char *path = file_join(run_of_task->folder, "summary.json"), *text;
  size_t length;
  Status status = file_read_reported(path, &text, &length, &run_of_task->diagnostics);
  if (status == STATUS_OK) {
    fputs(text, stdout);
    memory_free(text);
  }
  memory_free(path);
  return status_exit_code(status);
}

static ExitCode print_end(const Choosing* c, ExitCode code) {
  DesignRun* run_of_task = c->run_of_task;
  if (code == EXIT_INTERRUPTED && !run_of_task->options->quiet) design_run_print_resume_command(run_of_task);
  if (code != EXIT_DONE) return code;
  if (!run_of_task->options->quiet)
    fprintf(stderr, "%s: the best of %d candidates is %s/%d\n", run_of_task->task.name, c->number - 1,
            run_of_task->folder, c->best);
  if (!design_run_writes()) return code;
  if (!run_of_task->options->json) printf("%s\n", run_of_task->folder);
  return run_of_task->options->json ? print_summary(run_of_task) : code;
}

/* Optimizes the present candidate in the subfolder <number>. The candidate's choices are overrides that apply after all
 * others. Returns its exit code. */
static ExitCode try_candidate(Choosing* c, DesignRun* run) {
  const Options* task_options = c->run_of_task->options;
  int choices = c->run_of_task->task.choice_count, count = task_options->override_count;
  Text folder = {0};
  text_add(&folder, "%s/%d", c->run_of_task->folder, c->number);
  Options candidate_options = *task_options;
  candidate_options.folder = folder.data;
  candidate_options.json = false;
  candidate_options.overrides = MEMORY_NEW(SceneOverride, count + choices);
  for (int k = 0; k < count; k++) candidate_options.overrides[k] = task_options->overrides[k];
  for (int k = 0; k < choices; k++) candidate_options.overrides[count + k] = (SceneOverride){selected_value(c, k)};
  candidate_options.override_count = count + choices;
  ExitCode code = design_run_candidate(run, &candidate_options);
  bool ran = code == EXIT_DONE;
  const Optimization* o = run->optimization;
  bool best = ran && choice_search_report(c->search, optimization_best_loss(o), optimization_best_violation(o),
                                          optimization_succeeded(o));
  if (best && !c->only_one) {
    c->best = c->number;
    code = design_run_write_results(run, c->run_of_task->folder);
  }
  if (code != EXIT_INTERRUPTED && !c->only_one && add_row(c, run, code, best) != STATUS_OK) code = EXIT_IO;
  design_run_free(run);
  memory_free(candidate_options.overrides);
  text_free(&folder);
  return code;
}

static bool ends_search(ExitCode code) { return code == EXIT_INTERRUPTED || code == EXIT_IO; }

/* Optimizes all candidates that the search selects, and skips those that cannot run. Returns EXIT_DONE if one candidate
 * ran, otherwise the exit code of the first. An interrupt or a write error ends the search. */
static ExitCode try_all(Choosing* c) {
  ExitCode failed = EXIT_DONE;
  for (; choice_search_next(c->search, c->value_index); c->number++) {
    DesignRun run;
    print_candidate(c);
    ExitCode code = try_candidate(c, &run);
    if (ends_search(code)) return code;
    if (code != EXIT_DONE && failed == EXIT_DONE) failed = code;
  }
  return c->best > 0 ? EXIT_DONE : failed;
}

static ExitCode try_one(Choosing* c, int wanted) {
  const Task* task = &c->run_of_task->task;
  if (task->choice_method == CHOICE_CLIMB)
    return usage_error(
        c->run_of_task->options,
        "--candidate: method 'climb' depends on the results of earlier candidates: leave out --candidate");
  if (wanted > choice_search_count(c->search))
    return usage_error(c->run_of_task->options,
                       "--candidate %d: the task has only %d candidates: give a number from 1 to %d", wanted,
                       choice_search_count(c->search), choice_search_count(c->search));
  c->only_one = true;
  while (choice_search_next(c->search, c->value_index) && c->number < wanted) c->number++;
  print_candidate(c);
  DesignRun run;
  Text folder = {0};
  text_add(&folder, "%s/%d", c->run_of_task->folder, wanted);
  ExitCode code = try_candidate(c, &run);
  if (code == EXIT_DONE && design_run_writes()) printf("%s\n", folder.data);
  text_free(&folder);
  return code;
}

ExitCode design_run_choices(DesignRun* run_of_task) {
  Choosing c = {.run_of_task = run_of_task, .number = 1};
  c.search = choice_search_create(&run_of_task->task);
  c.value_index = MEMORY_NEW(int, run_of_task->task.choice_count);
  begin_table(&c);
  ExitCode code = option_given(run_of_task->options, "candidate")
                      ? try_one(&c, option_count(run_of_task->options, "candidate", 1))
                      : print_end(&c, try_all(&c));
  choice_search_destroy(c.search);
  memory_free(c.value_index);
  text_free(&c.table);
  return code;
}
