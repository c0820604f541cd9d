/* sdrs optimize TASK with `choices`: optimizes combinations of choices, each in its own folder. The results of the best
 * combination are copied to the run folder. */
#include <string.h>

#include "app/design_run.h"

typedef struct {
  DesignRun* whole; /* the run of the whole task, with its folder */
  ChoiceSearch* search;
  int* pick;        /* index of the selected value of each choice (choices) */
  int number, best; /* number: present candidate, from 1; best: best candidate so far, or 0 */
  bool alone; /* true with --candidate: other processes may run other candidates, so only the candidate's own folder is
                 written */
  Text table; /* content of choices.csv */
} Choosing;

static const char* chosen(const Choosing* c, int choice) {
  return c->whole->task.choices[choice].sets[c->pick[choice]];
}

/* ---------------------------------------------------------------- files */

static void begin_table(Choosing* c) {
  const Task* task = &c->whole->task;
  text_add(&c->table, "candidate");
  for (int k = 0; k < task->choice_count; k++) {
    const char* set = task->choices[k].sets[0];
    text_add(&c->table, ",%.*s", (int)strcspn(set, "="), set);
  }
  text_add(&c->table, ",exit_code,iterations,loss,violation,success,best_so_far\n");
}

/* Appends the row of the present candidate to choices.csv. best: true if the candidate is the best so far. */
static Status add_row(Choosing* c, const DesignRun* run, ExitCode code, bool best) {
  const Optimization* o = code == EXIT_DONE ? run->optimization : NULL;
  text_add(&c->table, "%d", c->number);
  for (int k = 0; k < c->whole->task.choice_count; k++) {
    const char* set = chosen(c, k);
    text_add(&c->table, ",");
    csv_add_field(&c->table, set + strcspn(set, "=") + 1);
  }
  text_add(&c->table, ",%d,%d,", (int)code, o ? optimization_iteration(o) : 0);
  text_add_double(&c->table, o ? optimization_best_loss(o) : (double)NAN);
  text_add(&c->table, ",");
  text_add_double(&c->table,
                  o && optimization_bounded_term_count(o) > 0 ? optimization_best_violation(o) : (double)NAN);
  const char* word = o && optimization_succeeded(o) ? "true" : "false";
  text_add(&c->table, ",%s,%s\n", o && optimization_success_count(o) > 0 ? word : "", best ? "true" : "false");
  if (!design_run_writes()) return STATUS_OK;
  char* path = file_join(c->whole->folder, "choices.csv");
  Status status = file_write_reported(path, &c->table, &c->whole->diagnostics);
  memory_free(path);
  return status;
}

/* ---------------------------------------------------------------- output */

static void say(const Choosing* c) {
  if (c->whole->options->quiet) return;
  fprintf(stderr, "%s: candidate %d of %d:", c->whole->task.name, c->number, choice_search_count(c->search));
  for (int k = 0; k < c->whole->task.choice_count; k++) fprintf(stderr, " %s", chosen(c, k));
  fprintf(stderr, "\n");
}

/* Prints the summary.json of the run folder, a copy of the best candidate's, on standard output. */
static ExitCode print_summary(DesignRun* whole) {
  char *path = file_join(whole->folder, "summary.json"), *text;
  size_t length;
  Status status = file_read_reported(path, &text, &length, &whole->diagnostics);
  if (status == STATUS_OK) {
    fputs(text, stdout);
    memory_free(text);
  }
  memory_free(path);
  return status_exit_code(status);
}

static ExitCode say_end(const Choosing* c, ExitCode code) {
  DesignRun* whole = c->whole;
  if (code == EXIT_INTERRUPTED && !whole->options->quiet) design_run_print_resume_command(whole);
  if (code != EXIT_DONE) return code;
  if (!whole->options->quiet)
    fprintf(stderr, "%s: the best of %d candidates is %s/%d\n", whole->task.name, c->number - 1, whole->folder,
            c->best);
  if (!design_run_writes()) return code;
  if (!whole->options->json) printf("%s\n", whole->folder);
  return whole->options->json ? print_summary(whole) : code;
}

/* ---------------------------------------------------------------- the loop */

/* Optimizes the present candidate in the folder <number> of the run folder. The candidate's choices are overrides that
 * are applied after all others. Returns its exit code. */
static ExitCode try_candidate(Choosing* c, DesignRun* run) {
  const Options* given = c->whole->options;
  int choices = c->whole->task.choice_count, count = given->override_count;
  Text folder = {0};
  text_add(&folder, "%s/%d", c->whole->folder, c->number);
  Options own = *given;
  own.folder = folder.data;
  own.json = false;
  own.overrides = MEMORY_NEW(SceneOverride, count + choices);
  for (int k = 0; k < count; k++) own.overrides[k] = given->overrides[k];
  for (int k = 0; k < choices; k++) own.overrides[count + k] = (SceneOverride){chosen(c, k)};
  own.override_count = count + choices;
  ExitCode code = design_run_candidate(run, &own);
  bool ran = code == EXIT_DONE;
  const Optimization* o = run->optimization;
  bool best = ran && choice_search_report(c->search, optimization_best_loss(o), optimization_best_violation(o),
                                          optimization_succeeded(o));
  if (best && !c->alone) {
    c->best = c->number;
    code = design_run_write_results(run, c->whole->folder);
  }
  if (code != EXIT_INTERRUPTED && !c->alone && add_row(c, run, code, best) != STATUS_OK) code = EXIT_IO;
  design_run_free(run);
  memory_free(own.overrides);
  text_free(&folder);
  return code;
}

static bool ends_all(ExitCode code) { return code == EXIT_INTERRUPTED || code == EXIT_IO; }

/* Optimizes all candidates that the search selects. Skips candidates that cannot run. Returns EXIT_DONE if one
 * candidate ran, otherwise the exit code of the first candidate. An interrupt or a write error ends the search. */
static ExitCode try_all(Choosing* c) {
  ExitCode failed = EXIT_DONE;
  for (; choice_search_next(c->search, c->pick); c->number++) {
    DesignRun run;
    say(c);
    ExitCode code = try_candidate(c, &run);
    if (ends_all(code)) return code;
    if (code != EXIT_DONE && failed == EXIT_DONE) failed = code;
  }
  return c->best > 0 ? EXIT_DONE : failed;
}

static ExitCode try_one(Choosing* c, int wanted) {
  const Task* task = &c->whole->task;
  if (task->choice_method == CHOICE_CLIMB)
    return usage_error(
        c->whole->options,
        "--candidate: method 'climb' depends on the results of earlier candidates: leave out --candidate");
  if (wanted > choice_search_count(c->search))
    return usage_error(c->whole->options, "--candidate %d: the task has only %d candidates: give a number from 1 to %d",
                       wanted, choice_search_count(c->search), choice_search_count(c->search));
  c->alone = true;
  while (choice_search_next(c->search, c->pick) && c->number < wanted) c->number++;
  say(c);
  DesignRun run;
  Text folder = {0};
  text_add(&folder, "%s/%d", c->whole->folder, wanted);
  ExitCode code = try_candidate(c, &run);
  if (code == EXIT_DONE && design_run_writes()) printf("%s\n", folder.data);
  text_free(&folder);
  return code;
}

ExitCode design_run_choices(DesignRun* whole) {
  Choosing c = {.whole = whole, .number = 1};
  c.search = choice_search_create(&whole->task);
  c.pick = MEMORY_NEW(int, whole->task.choice_count);
  begin_table(&c);
  ExitCode code = option_given(whole->options, "candidate") ? try_one(&c, option_count(whole->options, "candidate", 1))
                                                            : say_end(&c, try_all(&c));
  choice_search_destroy(c.search);
  memory_free(c.pick);
  text_free(&c.table);
  return code;
}
