/* sdrs gradcheck TASK|SCENE: compares the adjoint gradient with central differences, for each block of parameters. */
#include <assert.h>
#include <string.h>

#include "app/command.h"
#include "app/design_run.h"
#include "optimize/optimize.h"

/* Default relative tolerance of the step solver. Rounding errors may prevent a step from reaching it. */
#define TIGHT_TOLERANCE 1e-12
#define DEFAULT_BOUND 1e-6
/* Largest relative error of the gradient that may remain undetected in a block that passes, if the noise of a run hides
 * smaller errors. */
#define NOISY_BOUND 1e-4

static const OptionRow OPTIONS[] = {
    {"wrt", 0, OPTION_TEXT, "LIST",
     "blocks: state,control,vertices,attachments,mass,contact,material,gains,shapes,closures,tendons,bushings,input "
     "(all)"},
    {"directions", 0, OPTION_COUNT, "N", "random directions per block (3; at most 16)"},
    {"steps", 'n', OPTION_COUNT, "N", "check the first N steps only (with receding: length of a window in steps)"},
    {"window", 0, OPTION_INDEX, "K", "window to check of a task with receding, from 0 (0)"},
    {"average", 0, OPTION_COUNT, "N",
     "average differences over N more step lengths if noise exceeds the bound (16; 1: none)"},
    {"fixed-substeps", 0, OPTION_FLAG, NULL,
     "diagnostic: perturbed runs repeat the substeps of the unperturbed run (a different function than the run)"},
    {"bound", 0, OPTION_NUMBER, "X", "largest relative error that passes (1e-6)"},
    {"tolerance", 0, OPTION_NUMBER, "X", "relative tolerance of the step solver (1e-12)"},
    {"seed", 0, OPTION_COUNT, "N", "seed of the directions (1)"},
    MEMORY_OPTION,
};

/* Sets *blocks to one bit per block named by --wrt, such as "state,mass", or to all bits without --wrt. Returns false,
 * after printing an error, if a block is unknown or the list is empty. */
static bool read_blocks(const Options* options, unsigned* blocks) {
  const char* text = option_text(options, "wrt");
  *blocks = (1u << GRADCHECK_BLOCKS) - 1;
  if (!text) return true;
  *blocks = 0;
  for (const char* word = text; *word;) {
    size_t length = strcspn(word, ",");
    bool known = false;
    for (int b = 0; b < GRADCHECK_BLOCKS; b++) {
      const char* name = gradcheck_block_name((GradcheckBlock)b);
      if (strlen(name) != length || strncmp(name, word, length) != 0) continue;
      *blocks |= 1u << b;
      known = true;
    }
    if (!known) {
      char names[160] = "";
      for (int b = 0; b < GRADCHECK_BLOCKS; b++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", b ? ", " : "", gradcheck_block_name((GradcheckBlock)b));
      }
      usage_error(options, "--wrt: unknown block '%.*s': use one of %s", (int)length, word, names);
      return false;
    }
    word += length + (word[length] == ',');
  }
  if (*blocks == 0) usage_error(options, "--wrt is empty: name a block of variables, or remove --wrt");
  return *blocks != 0;
}

static bool check_usage(const Options* options, const GradcheckOptions* check, bool task) {
  if (check->directions < 1 || check->directions > GRADCHECK_DIRECTIONS) {
    usage_error(options, "--directions must be 1 to %d, got %d", GRADCHECK_DIRECTIONS, check->directions);
    return false;
  }
  if (!task && option_given(options, "window")) {
    usage_error(options, "--window applies to tasks with 'receding' only: remove --window");
    return false;
  }
  return true;
}

/* Largest value of --average, the number of averaged step lengths, that the command suggests. */
enum { AVERAGED_MAX = 1024 };

static bool interrupted(void) { return interrupt_signal() != 0; }

static const char* verdict_text(GradcheckVerdict verdict) {
  return verdict == GRADCHECK_WRONG ? "FAILED" : verdict == GRADCHECK_RIGHT ? "passed" : "cannot be checked";
}

/* Returns the verdict on blocks[count] as text: "FAILED" if a block failed, "passed" if all passed. If only some blocks
 * could be checked, the text says so. */
static const char* blocks_text(const GradcheckBlockReport* blocks, int count) {
  assert(count > 0);
  GradcheckCoverage coverage = gradcheck_coverage(blocks, count);
  for (int b = 0; b < count; b++)
    if (blocks[b].directions > 0 && blocks[b].verdict == GRADCHECK_WRONG) return verdict_text(GRADCHECK_WRONG);
  if (coverage.checked == 0) return verdict_text(GRADCHECK_UNCHECKED);
  return coverage.checked == coverage.blocks ? verdict_text(GRADCHECK_RIGHT) : "passed where it can be checked";
}

/* Returns the value of --average with which the block can be checked despite noise (gradcheck.md, J14). It is the
 * number of further step lengths of the differences. Returns 0 if AVERAGED_MAX does not suffice. */
static int find_average(const GradcheckBlockReport* b) {
  int count = 2;
  while (count < b->lengths_needed && count < AVERAGED_MAX) count *= 2;
  return count < b->lengths_needed ? 0 : count;
}

/* Smallest share of the gradient's squared norm in the checked blocks. Below this share the result is reported as not
 * checked. */
#define CHECKED_SHARE_MIN 0.5

/* Prints the share of the gradient that was checked, and a remedy if it is below CHECKED_SHARE_MIN and no block failed.
 */
static void print_coverage(const char* name, const GradcheckBlockReport* blocks, int count) {
  assert(count > 0);
  GradcheckCoverage coverage = gradcheck_coverage(blocks, count);
  const GradcheckBlockReport* largest = NULL;
  bool failed = false;
  for (int b = 0; b < count; b++) {
    if (blocks[b].directions == 0) continue;
    failed = failed || blocks[b].verdict == GRADCHECK_WRONG;
    if (blocks[b].verdict == GRADCHECK_UNCHECKED && (!largest || blocks[b].norm > largest->norm)) largest = &blocks[b];
  }
  bool little = !failed && largest && coverage.share < CHECKED_SHARE_MIN;
  printf("%s: %s%d of %d blocks checked, with %.4g %% of the gradient's squared norm", name,
         little ? "NOT CHECKED: " : "", coverage.checked, coverage.blocks, 100 * coverage.share);
  bool hidden = little && largest->noise > 0 && find_average(largest) > 0;
  if (hidden)
    printf(": use fewer --steps, or --average %d", find_average(largest));
  else if (little)
    printf(": use fewer or more --steps");
  printf("\n");
}

static void print_remedy(const GradcheckBlockReport* b) {
  printf("  cannot be checked: the run's rounding, %.0e, hides it", b->noise);
  if (isinf(b->lengths_needed))
    printf("; no mean tells it\n");
  else if (find_average(b) == 0)
    printf("\n");
  else
    printf("; --average %d looks closer\n", find_average(b));
}

static void print_block(const char* name, const GradcheckBlockReport* b, double bound) {
  if (b->directions == 0 && b->verdict == GRADCHECK_UNCHECKED)
    printf("  %-12s %7d  cannot be checked: the run with these numbers fails\n", name, b->count);
  if (b->directions == 0) return;
  printf("  %-12s %7d  %12.4e  %11.2e  %11.2e", name, b->count, b->norm, b->error, b->resolution);
  if (isfinite(b->order))
    printf("  %5.2f", b->order);
  else
    printf("      -");
  bool unchecked = b->verdict == GRADCHECK_UNCHECKED, zero = b->resolution >= 1;
  if (b->verdict == GRADCHECK_RIGHT && b->resolution > bound) {
    printf("  passed to %.1e", b->resolution);
    if (b->scatter > 0)
      printf(": the gradient varies by %.1e (rounding) when numbers change by 1e-12\n", b->scatter);
    else
      printf(": the run's rounding, %.0e, hides less\n", b->noise);
    return;
  }
  if (unchecked && b->valid_step > 0) {
    printf("  KINK: the gradient holds over changes up to %.0e only: perturb the start\n", b->valid_step);
    return;
  }
  if (unchecked && b->scatter > 0) {
    printf("  cannot be checked: the gradient varies by %.1e when numbers change by 1e-12\n", b->scatter);
    return;
  }
  const char* confirmed =
      b->precise && b->verdict == GRADCHECK_RIGHT ? ", by runs with a hundredth of the step solver's tolerance" : "";
  const char* why = !unchecked         ? confirmed
                    : b->jump          ? ": the function jumps here"
                    : isnan(b->error)  ? ": no step has values on both sides"
                    : b->kink          ? ": the function bends here, and the gradient lies between its slopes"
                    : b->singular      ? ": a loop is in a singular configuration (the warning names the loop)"
                    : b->jump_step > 0 ? ": the function jumps beside here, and shorter steps do not resolve it"
                    : zero && b->is_noisy
                        ? ": differences of no step agree (an unstable run, or steps solved too loosely)"
                    : zero ? ": zero to rounding"
                           : NULL;
  if (why)
    printf("  %s%s\n", verdict_text(b->verdict), why);
  else
    print_remedy(b);
}

static void print_sweeps(const char* name, const GradcheckBlockReport* b) {
  for (int n = 0; n < b->directions; n++) {
    const GradcheckDirection* d = &b->direction[n];
    fprintf(stderr, "%s, direction %d: g.d = %.15g, %s at h = %.2e\n", name, n, d->analytic, verdict_text(d->verdict),
            d->best_step);
    for (int k = 0; k < d->tried; k++)
      fprintf(stderr, "  h = %8.2e: finite difference %.15g, relative error %9.2e, after extrapolation %9.2e\n",
              d->step[k], d->difference[k], fabs(d->difference[k] - d->analytic) / d->scale,
              fabs(d->extrapolated[k] - d->analytic) / d->scale);
  }
}

static void json_block(Json* json, const char* name, const GradcheckBlockReport* block) {
  json_open(json, name, '{');
  json_integer(json, "numbers", block->count);
  json_number(json, "gradient_norm", block->norm);
  json_number(json, "relative_error", block->error);
  json_number(json, "resolution", block->resolution);
  json_number(json, "order", block->order);
  json_bool(json, "passed", block->verdict != GRADCHECK_WRONG);
  json_bool(json, "checked", block->verdict != GRADCHECK_UNCHECKED);
  json_bool(json, "kink", block->kink);
  json_bool(json, "jump", block->jump);
  json_bool(json, "precise", block->precise);
  json_number(json, "beside", block->jump_step);
  json_number(json, "narrow", block->valid_step);
  json_number(json, "noise", block->noise);
  json_close(json, '}');
}

static void json_coverage(Json* json, const GradcheckBlockReport* blocks, int count) {
  GradcheckCoverage coverage = gradcheck_coverage(blocks, count);
  json_integer(json, "blocks_checked", coverage.checked);
  json_integer(json, "blocks_total", coverage.blocks);
  json_number(json, "share_checked", coverage.share);
}

static void json_report(Json* json, const char* name, const GradcheckReport* r) {
  json_open(json, NULL, '{');
  json_text(json, "scenario", name);
  json_bool(json, "passed", r->passed);
  json_bool(json, "checked", r->checked);
  json_bool(json, "once_differentiable", r->kinks);
  json_bool(json, "sound", r->adjoint.sound);
  json_coverage(json, r->block, GRADCHECK_BLOCKS);
  json_number(json, "loss", r->value);
  json_number(json, "residual", r->run.residual);
  json_open(json, "blocks", '{');
  for (int b = 0; b < GRADCHECK_BLOCKS; b++) {
    const GradcheckBlockReport* block = &r->block[b];
    if (block->directions == 0) continue;
    json_block(json, gradcheck_block_name((GradcheckBlock)b), block);
  }
  json_close(json, '}');
  json_close(json, '}');
}

static void explain_unsound(const GradcheckReport* r) {
  const StepAdjointReport* s = &r->adjoint.step;
  printf("  no gradient: step %d ", r->loop_open ? r->run.failed_step : r->adjoint.unsound_step);
  if (r->loop_open)
    printf("does not close to this tolerance: a loop is in a singular configuration (the warning names the loop)\n");
  else if (r->passed)
    printf(
        "is not differentiable: bodies touch at a point where a surface has no curvature, such as the end of an axis "
        "of a "
        "superellipsoid. There the contact point moves with a root of the relative rotation, so its derivative is "
        "infinite\n");
  else if (s->contact_failed)
    printf("does not reproduce its contact\n");
  else if (s->singular)
    printf("has a singular Hessian, smallest eigenvalue %.3g\n", s->eigenvalue);
  else if (s->grazes)
    printf("ends at an impact that begins with a grazing contact\n");
  else
    printf("has a solution that is not finite\n");
}

static void print_report(const Options* options, const char* name, const GradcheckReport* r, double bound) {
  printf("%s: loss %.10g, steps solved to %.2g, %s\n", name, r->value, r->run.residual,
         r->adjoint.sound ? blocks_text(r->block, GRADCHECK_BLOCKS)
         : r->passed      ? "cannot be checked"
                          : "FAILED");
  if (!r->adjoint.sound) {
    explain_unsound(r);
    return;
  }
  printf("  block        numbers     |gradient|   rel. error   resolution  order  (bound %.0e)\n", bound);
  for (int b = 0; b < GRADCHECK_BLOCKS; b++) print_block(gradcheck_block_name((GradcheckBlock)b), &r->block[b], bound);
  if (r->kinks)
    printf(
        "  the contact law is once differentiable where the nearest features change: differences need not agree "
        "there\n");
  if (options->verbose)
    for (int b = 0; b < GRADCHECK_BLOCKS; b++) print_sweeps(gradcheck_block_name((GradcheckBlock)b), &r->block[b]);
  print_coverage(name, r->block, GRADCHECK_BLOCKS);
  if (r->adjoint.growth > GRADIENT_GROWTH_LARGE)
    printf(
        "%s: gradients grow by a factor of %.0e along the run and hold over very small changes only: use fewer "
        "--steps, stabilize the motion by feedback, or avoid landings of flat faces (docs/co-design.md, 'When "
        "gradients explode')\n",
        name, r->adjoint.growth);
}

/* The scene to check. Its loss is the task's loss, or a random linear function without a task. */
typedef struct {
  Scene* scene;
  const Task* task; /* task whose loss is differentiated; NULL: a random linear function of the states is the loss */
  int scenario;
  const char* name;
} Subject;

/* Replaces the scene's shapes by the model's hulls and builds the model, so that hull vertices are the parameters. */
static Status build_hull_model(Model* model, Scene* scene, Diagnostics* diagnostics) {
  Diagnostics again = {0};
  Status status = model_create_lifted(model, scene, diagnostics);
  if (status != STATUS_OK) return status;
  model_expand_shapes(model, scene);
  model_destroy(model);
  status = model_create(model, scene, &again); /* the second build repeats the same messages */
  diagnostics_free(&again);
  return status;
}

/* Without --tolerance, residuals up to this value are not reported. The value is far below any bound of the check. */
#define RESIDUAL_REPORTED 1e-9

static double reported_tolerance(const Options* options, const GradcheckOptions* check) {
  return option_given(options, "tolerance") ? check->tolerance : fmax(check->tolerance, RESIDUAL_REPORTED);
}

/* Checks the blocks of parameters whose bits are set in `blocks`. */
static Status check_blocks(const GradcheckOptions* check, const Subject* subject, const Model* model, unsigned blocks,
                           GradcheckReport* report, Diagnostics* diagnostics) {
  GradcheckOptions some = *check;
  if (subject->task && !(some.memory > 0)) some.memory = subject->task->memory * GIBIBYTE;
  Loss* loss = NULL;
  Status status = STATUS_OK;
  some.blocks = blocks;
  if (subject->task) status = loss_create(&loss, subject->task, subject->scenario, model, diagnostics);
  if (status == STATUS_OK) status = gradcheck_scene(subject->scene, model, loss, &some, report, diagnostics);
  loss_destroy(loss);
  return status;
}

/* Checks the block of vertices on subject->scene with randomly shrunk hulls, and adds the result to `report`. Without
 * shrinking, volumes have kinks at flat faces. */
static Status check_shrunk_vertices(const Options* options, const GradcheckOptions* check, const Subject* subject,
                                    GradcheckReport* report, Diagnostics* diagnostics) {
  Model model = {0};
  GradcheckReport* vertex_report = MEMORY_NEW(GradcheckReport, 1);
  if (!options->quiet)
    fprintf(stderr,
            "%s: the block of vertices is checked on hulls shrunk at random by up to 3 %%, because the volume is not "
            "differentiable at flat faces with more than three corners\n",
            subject->name);
  Status status = model_create(&model, subject->scene, diagnostics);
  if (status == STATUS_OK)
    status = check_blocks(check, subject, &model, 1u << GRADCHECK_VERTICES, vertex_report, diagnostics);
  report->block[GRADCHECK_VERTICES] = vertex_report->block[GRADCHECK_VERTICES];
  report->passed = report->passed && vertex_report->passed;
  report->checked = report->checked && vertex_report->checked;
  model_destroy(&model);
  memory_free(vertex_report);
  return status;
}

static Status check_subject(const Options* options, const GradcheckOptions* check, const Subject* subject,
                            GradcheckReport* report, Diagnostics* diagnostics) {
  Model model = {0};
  subject->scene->threads = options->threads;
  Status status = build_hull_model(&model, subject->scene, diagnostics);
  unsigned vertices = check->blocks & 1u << GRADCHECK_VERTICES, rest = check->blocks & ~vertices;
  bool flat = status == STATUS_OK && vertices && gradcheck_has_flat_faces(&model);
  if (status == STATUS_OK)
    status = check_blocks(check, subject, &model, flat ? rest : check->blocks, report, diagnostics);
  if (status == STATUS_OK) {
    warn_unconverged(options, subject->name, &model, &report->run.unconverged, reported_tolerance(options, check));
    warn_friction_open(options, subject->name, &model, &report->run.unconverged);
  }
  if (flat && status == STATUS_OK && report->adjoint.sound) {
    gradcheck_make_generic(subject->scene, &model, check->seed);
    status = check_shrunk_vertices(options, check, subject, report, diagnostics);
  }
  model_destroy(&model);
  return status;
}

/* Returns false if the checked blocks have no parameters, because such a check always passes. */
static bool has_parameters(const GradcheckReport* report) {
  int directions = 0;
  for (int b = 0; b < GRADCHECK_BLOCKS; b++) directions += report->block[b].directions;
  return directions > 0 || !report->adjoint.sound;
}

static void report_interrupt(const Options* options, const char* name, Json* json) {
  if (options->json) {
    json_open(json, NULL, '{');
    json_text(json, "scenario", name);
    json_bool(json, "interrupted", true);
    json_close(json, '}');
  } else {
    printf("%s: interrupted\n", name);
  }
  if (!options->quiet)
    fprintf(stderr, "%s: stopped by %s before the check was done\n", name, interrupt_name(interrupt_signal()));
}

/* Displays the progress; the callback GradcheckOptions.progress. context is a Progress. */
static void show_progress(void* context, const char* block, int runs, int expected) {
  Progress* progress = context;
  char numbers[96];
  progress->steps = expected;
  snprintf(numbers, sizeof numbers, "%s, run %d of about %d", block, runs, expected);
  progress_report(progress, runs, numbers, timer_now(), false);
}

static ExitCode check_one(const Options* options, const GradcheckOptions* check_options, const Subject* subject,
                          Json* json) {
  Diagnostics diagnostics = {0};
  Progress progress;
  GradcheckOptions watched = *check_options, *check = &watched;
  GradcheckReport* report = MEMORY_NEW(GradcheckReport, 1);
  watched.progress = show_progress;
  watched.progress_context = &progress;
  progress_start(&progress, options->quiet ? NULL : stderr, subject->name, 1, timer_now());
  Status status = check_subject(options, check, subject, report, &diagnostics);
  progress_end(&progress);
  print_diagnostics(options, &diagnostics);
  if (status == STATUS_SOLVER)
    command_error(options, "%s: the solver failed at step %d: %s, residual %.3g; reduce simulation.dt", subject->name,
                  report->run.failed_step, step_outcome_text(report->run.last.outcome), report->run.last.residual);
  if (status == STATUS_INTERRUPTED) report_interrupt(options, subject->name, json);
  if (status == STATUS_OK && !has_parameters(report)) {
    command_error(options, "%s has no parameters in the blocks of --wrt: remove --wrt to check all blocks",
                  subject->name);
    status = STATUS_BAD_INPUT;
  }
  if (status == STATUS_OK && options->json) json_report(json, subject->name, report);
  if (status == STATUS_OK && !options->json) print_report(options, subject->name, report, check->bound);
  ExitCode code = status != STATUS_OK ? status_exit_code(status) : report->passed ? EXIT_DONE : EXIT_CHECK_FAILED;
  memory_free(report);
  diagnostics_free(&diagnostics);
  return code;
}

static ExitCode check_scene(const Options* options, const GradcheckOptions* check, Json* json) {
  Scene scene = {0};
  Diagnostics diagnostics = {0};
  const char* path = options->operands[0];
  Status status = scene_load(&scene, path, options->overrides, options->override_count, &diagnostics);
  print_diagnostics(options, &diagnostics);
  ExitCode code = status_exit_code(status);
  Subject subject = {&scene, NULL, 0, scene.name};
  if (status == STATUS_OK) code = check_one(options, check, &subject, json);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
  return code;
}

static void print_variables(const Options* options, const char* name, const GradcheckBlockReport report[2],
                            double bound) {
  printf("%s, the task's own variables: %s\n", name, blocks_text(report, 2));
  print_block("design", &report[0], bound);
  print_block("control", &report[1], bound);
  if (options->verbose) {
    print_sweeps("design", &report[0]);
    print_sweeps("control", &report[1]);
  }
  print_coverage(name, report, 2);
}

static void json_variables(Json* json, const char* name, const GradcheckBlockReport report[2]) {
  GradcheckVerdict worst = report[0].verdict > report[1].verdict ? report[0].verdict : report[1].verdict;
  json_open(json, NULL, '{');
  json_text(json, "task", name);
  json_bool(json, "passed", worst != GRADCHECK_WRONG);
  json_bool(json, "checked", report[0].verdict == GRADCHECK_RIGHT && report[1].verdict == GRADCHECK_RIGHT);
  json_coverage(json, report, 2);
  json_open(json, "blocks", '{');
  if (report[0].directions > 0) json_block(json, "design", &report[0]);
  if (report[1].directions > 0) json_block(json, "control", &report[1]);
  json_close(json, '}');
  json_close(json, '}');
}

static ExitCode report_variables(const Options* options, const char* name, const GradcheckBlockReport report[2],
                                 Json* json) {
  if (options->json)
    json_variables(json, name, report);
  else
    print_variables(options, name, report, option_number(options, "bound", DEFAULT_BOUND));
  bool wrong = report[0].verdict == GRADCHECK_WRONG || report[1].verdict == GRADCHECK_WRONG;
  return wrong ? EXIT_CHECK_FAILED : EXIT_DONE;
}

/* Limits runs and windows of the task to `steps` steps, or leaves them unchanged if `steps` is 0. A loss with a later
 * window causes an error when it is created. */
static void shorten_task(Task* task, int steps) {
  assert(steps >= 0);
  if (steps == 0) return;
  for (int k = 0; k < task->scenario_count; k++) {
    TaskScenario* scenario = &task->scenarios[k];
    int whole = task_step_count(scenario->steps, scenario->scene.simulation.steps);
    if (scenario->steps != TASK_KINEMATIC && steps < whole && !task->receding.given) scenario->steps = steps;
  }
  TaskReceding* r = &task->receding;
  if (steps < r->horizon) r->horizon = steps;
  if (steps < r->apply) r->apply = steps;
}

/* Loads the task and turns the terms of `subject_to` into losses, because optimizers use their derivatives, too. */
static Status load_task(Task* task, const Options* options, Diagnostics* diagnostics) {
  Status status = task_load(task, options->operands[0], options->overrides, options->override_count, diagnostics);
  for (int i = 0; i < task->loss_count; i++) task->losses[i].bounded = false;
  task->subject_count = 0;
  if (status == STATUS_OK) shorten_task(task, option_count(options, "steps", 0));
  return status;
}

/* Checks the gradient of the loss with respect to the task's own variables at the initial design, including symmetries,
 * shared vertices and scenarios. */
static Status check_optimization(Optimization* o, Task* task, const GradcheckOptions* check,
                                 GradcheckBlockReport report[2], Diagnostics* diagnostics) {
  task->optimizer.discount = 1;
  task->bundle = 0; /* checks the gradient itself, not a mean over several designs */
  Status status = optimization_start(o, diagnostics);
  if (status == STATUS_OK) optimization_gradcheck(o, check, report);
  return status == STATUS_OK && interrupted() ? STATUS_INTERRUPTED : status;
}

static ExitCode finish_variables(const Options* options, Status status, const char* name,
                                 const GradcheckBlockReport report[2], Json* json) {
  if (status == STATUS_INTERRUPTED) report_interrupt(options, name, json);
  return status == STATUS_OK ? report_variables(options, name, report, json) : status_exit_code(status);
}

static ExitCode check_variables(const Options* options, const GradcheckOptions* check, Json* json) {
  Task task = {0};
  Diagnostics diagnostics = {0};
  DesignStart start = {0};
  OptimizationOptions settings = {check->threads, check->interrupted};
  GradcheckBlockReport* report = MEMORY_NEW(GradcheckBlockReport, 2);
  Status status = load_task(&task, options, &diagnostics);
  diagnostics_free(&diagnostics); /* check_task has already reported these messages */
  task.optimizer.tolerance = check->tolerance;
  if (check->memory > 0) task.memory = check->memory / GIBIBYTE;
  if (status == STATUS_OK) status = design_start(&start, &task, &settings, &diagnostics);
  if (status == STATUS_OK && start.receding) receding_begin(start.receding);
  if (status == STATUS_OK) status = check_optimization(start.optimization, &task, check, report, &diagnostics);
  ExitCode code = finish_variables(options, status, task.name, report, json);
  print_diagnostics(options, &diagnostics);
  memory_free(report);
  design_start_free(&start);
  task_free(&task);
  diagnostics_free(&diagnostics);
  return code;
}

/* ---------------------------------------------------------------- a window of a receding horizon */

static Status record_nothing(void* context, Sim* sim, const StepReport* report) {
  (void)context, (void)sim, (void)report;
  return interrupted() ? STATUS_INTERRUPTED : STATUS_OK;
}

/* Optimizes and executes the windows before `window`, as the command `sdrs optimize` does. */
static Status execute_before(Receding* receding, int window, Diagnostics* diagnostics) {
  Optimization* o = receding_optimization(receding);
  Status status = STATUS_OK;
  while (status == STATUS_OK && receding_window(receding) < window) {
    receding_begin(receding);
    status = optimization_start(o, diagnostics);
    while (status == STATUS_OK && optimization_stop(o) == STOP_NOT_YET) status = optimization_advance(o);
    if (status == STATUS_OK) status = receding_execute(receding, record_nothing, NULL, diagnostics);
  }
  return status;
}

/* Check of a later window of a receding horizon: its number, and the reports on its design and control variables. */
typedef struct {
  int window;
  GradcheckBlockReport variables[2];
} WindowCheck;

static Status check_window(const Options* options, const GradcheckOptions* check, WindowCheck* out, Scene* scene,
                           Diagnostics* diagnostics) {
  Task task = {0};
  Diagnostics ignored_diagnostics = {0};
  DesignStart start = {0};
  OptimizationOptions settings = {check->threads, check->interrupted};
  Status status = load_task(&task, options, &ignored_diagnostics);
  diagnostics_free(&ignored_diagnostics); /* check_task has already reported these messages */
  if (check->memory > 0) task.memory = check->memory / GIBIBYTE;
  if (status == STATUS_OK) status = design_start(&start, &task, &settings, diagnostics);
  if (status == STATUS_OK) status = execute_before(start.receding, out->window, diagnostics);
  if (status == STATUS_OK && !options->quiet)
    fprintf(stderr, "%s: window %d begins at step %d\n", task.name, out->window, out->window * task.receding.apply);
  if (status == STATUS_OK) {
    receding_begin(start.receding);
    task.scenarios[0].scene.simulation.tolerance = check->tolerance;
    if (!option_given(options, "wrt"))
      status = check_optimization(start.optimization, &task, check, out->variables, diagnostics);
    if (status == STATUS_OK) receding_move_start(start.receding, scene);
  }
  design_start_free(&start);
  task_free(&task);
  return status;
}

/* Returns false, after printing an error, if --window does not fit the task: no `receding`, or no window with the
 * number `window`. */
static bool check_window_option(const Options* options, const Task* task, int window) {
  const TaskScenario* scenario = &task->scenarios[0];
  if (!task->receding.given) {
    if (!option_given(options, "window")) return true;
    usage_error(options, "--window applies to tasks with 'receding' only: remove --window");
    return false;
  }
  int steps = task_step_count(scenario->steps, scenario->scene.simulation.steps), apply = task->receding.apply;
  int count = (steps + apply - 1) / apply;
  if (window < count) return true;
  usage_error(options, "--window must be less than the number of windows, %d, got %d", count, window);
  return false;
}

/* ---------------------------------------------------------------- tasks */

static ExitCode check_scenarios(const Options* options, const GradcheckOptions* check, Task* task, Json* json) {
  ExitCode code = EXIT_DONE;
  if (interrupted()) report_interrupt(options, task->name, json);
  for (int k = 0; k < task->scenario_count && !interrupted(); k++) {
    TaskScenario* scenario = &task->scenarios[k];
    if (scenario->steps == TASK_KINEMATIC) continue; /* there is no simulation, so only the variables are checked */
    if (scenario->steps > 0) scenario->scene.simulation.steps = scenario->steps;
    Text name = {0};
    text_add(&name, "%s", task->name);
    if (task->scenario_count > 1) text_add(&name, ", scenario %s", scenario->name);
    Subject subject = {&scenario->scene, task, k, name.data};
    ExitCode one = check_one(options, check, &subject, json);
    text_free(&name);
    if (one > code) code = one;
  }
  return code;
}

static ExitCode check_task(const Options* options, const GradcheckOptions* check, Json* json) {
  Task task = {0};
  Diagnostics diagnostics = {0};
  WindowCheck* window = MEMORY_NEW(WindowCheck, 1);
  window->window = option_count(options, "window", 0);
  Status status = load_task(&task, options, &diagnostics);
  print_diagnostics(options, &diagnostics);
  ExitCode code = status_exit_code(status);
  bool variables = !option_given(options, "wrt");
  if (status == STATUS_OK && !check_window_option(options, &task, window->window))
    status = STATUS_BAD_INPUT, code = EXIT_USAGE;
  diagnostics_free(&diagnostics);
  if (status == STATUS_OK && window->window > 0) {
    status = check_window(options, check, window, &task.scenarios[0].scene, &diagnostics);
    print_diagnostics(options, &diagnostics);
    code = status_exit_code(status);
    if (status == STATUS_INTERRUPTED) report_interrupt(options, task.name, json);
  }
  if (task.receding.given) task.scenarios[0].steps = task.receding.horizon;
  if (status == STATUS_OK) code = check_scenarios(options, check, &task, json);
  if (status == STATUS_OK && variables && code != EXIT_BAD_INPUT &&
      !interrupted()) { /* after EXIT_BAD_INPUT the error is already reported */
    ExitCode one = window->window > 0 ? report_variables(options, task.name, window->variables, json)
                                      : check_variables(options, check, json);
    if (one > code) code = one;
  }
  task_free(&task);
  memory_free(window);
  diagnostics_free(&diagnostics);
  return code;
}

static ExitCode gradcheck(const Options* options) {
  GradcheckOptions check = {.directions = option_count(options, "directions", 3),
                            .steps = option_count(options, "steps", 0),
                            .tolerance = option_number(options, "tolerance", TIGHT_TOLERANCE),
                            .bound = option_number(options, "bound", DEFAULT_BOUND),
                            .accepted_resolution = option_given(options, "bound") ? 0 : NOISY_BOUND,
                            .seed = (uint64_t)option_count(options, "seed", 1),
                            .fit_lengths = option_count(options, "average", 0),
                            .fixed_substeps = option_given(options, "fixed-substeps"),
                            .threads = options->threads,
                            .interrupted = interrupted,
                            .memory = option_number(options, "memory", 0) * GIBIBYTE};
  bool task = task_recognise(options->operands[0]);
  if (!read_blocks(options, &check.blocks) || !check_usage(options, &check, task)) return EXIT_USAGE;
  warn_overridden_tolerance(options,
                            "gradcheck uses --tolerance (default 1e-12) for the steps; set --tolerance instead");
  interrupt_install();
  Text text = {0};
  Json json = {.out = &text};
  if (options->json) json_open(&json, NULL, '[');
  ExitCode code = task ? check_task(options, &check, &json) : check_scene(options, &check, &json);
  if (options->json) {
    json_close(&json, ']');
    fputs(text.data, stdout);
  }
  text_free(&text);
  return interrupt_signal() ? EXIT_INTERRUPTED : code;
}

const Verb VERB_GRADCHECK = {
    .name = "gradcheck",
    .operands = "TASK|SCENE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "check the gradient of a run against central differences, block by block",
    .examples =
        "  sdrs gradcheck scenes/spider.yaml --steps 60\n"
        "  sdrs gradcheck scenes/tasks/throw.yaml --wrt state,vertices --directions 5\n"
        "  sdrs gradcheck scenes/slide.yaml --steps 20 -v      every step size of every direction\n",
    .details =
        "Computes the gradient of the loss of a run by the adjoint method. Compares the gradient with central\n"
        "differences of whole runs along random directions.\n"
        "The step sizes are 1e-2 to 1e-9 of the scale of each number (1e-12 if the run is too sensitive for\n"
        "these steps), extrapolated from two neighbours. The comparison uses the step with the least\n"
        "uncertainty, estimated from its neighbours and the noise of the sweep.\n"
        "Prints for each block the relative error and the resolution (uncertainty of the difference), both of\n"
        "the worst direction. Also prints the order: the power of the step size with which the error falls, 2\n"
        "for a smooth function.\n"
        "A block whose resolution is above the bound cannot be checked. A block fails only if its error is\n"
        "above both, also with a hundredth of --tolerance. If rounding exceeds the bound, differences over 16\n"
        "(--average N) more step lengths are fitted. A resolution of 1e-4 then passes unless --bound is given.\n"
        "A scene has no loss, so a random linear function of its poses and rates is used. A direction needs\n"
        "about 26 runs, at most 32 more if rounding exceeds the bound, and as many again before it fails.\n"
        "--steps shortens these runs.\n"
        "Numbers per block: initial coordinates and velocities (state), parameters of signals (control), hull\n"
        "vertices, joint origins (attachments), masses or densities (mass); support, stiffness, friction,\n"
        "smoothing, rest_speed (contact); restitution and the values above 0 of links and contact.pairs for\n"
        "friction and restitution (material); gains, limits, delays, feedback of drives (gains); sizes,\n"
        "exponents inside their range, sharpness, faces of smooth shapes (shapes); points and lengths of\n"
        "closures, ratios of couplings (closures); numbers of tendons (tendons) and of bushings (bushings);\n"
        "inputs of controllers in each step, as in the library (input). For the inputs the signals are replaced\n"
        "by their means over the steps.\n"
        "A task is checked for each scenario with the sum of its losses and the terms of subject_to. Then its\n"
        "design and control variables are checked, at the initial values of `from` if given. With `receding`,\n"
        "the first window of `horizon` steps is checked. With --window, the earlier windows are optimized and\n"
        "executed first.\n"
        "Exit codes: 0 no block fails, 1 a block fails, 3 bad input, 4 a step is not solved, 130 interrupted.\n",
    .options = OPTIONS,
    .option_count = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .reads_scene = true,
    .run = gradcheck,
};
