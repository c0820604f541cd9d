/* sdrs converge SCENE|TASK: repeats a run with the time steps dt, dt/2, dt/4, and prints changes and orders of
 * convergence. */
#include <assert.h>
#include <stdlib.h>

#include "app/command.h"
#include "optimize/optimize.h"

enum { REFINEMENTS_MAX = 6, MOMENTS = 100, LINES = 10 };
/* Changes up to CHANGE_FLOOR max(1, |value|) are rounding or solver errors, from which no order of convergence is
 * computed. */
#define CHANGE_FLOOR 1e-12

/* A compared quantity in the runs of all refinements of the time step. */
typedef struct {
  char* name;                        /* name of the compared quantity, owned */
  double value[REFINEMENTS_MAX + 1]; /* value in each run (refinements + 1); NaN if only changes are known */
  double change[REFINEMENTS_MAX];    /* change from each run to the next, >= 0 (size: refinements) */
  const char* unit;
} Quantity;

typedef struct {
  const Options* options;
  const char* name;
  const Scene* scene;
  const Task* task; /* task with the compared losses; NULL for a scene without a task */
  int scenario;
  int refinements; /* number of runs after the first */
  RefinedRun run[REFINEMENTS_MAX + 1];
  Quantity* quantities;
  int count, capacity;
} Convergence;

static bool interrupted(void) { return interrupt_signal() != 0; }

static void convergence_free(Convergence* c) {
  for (int r = 0; r <= c->refinements; r++) refined_run_free(&c->run[r]);
  for (int i = 0; i < c->count; i++) memory_free(c->quantities[i].name);
  memory_free(c->quantities);
}

/* ---------------------------------------------------------------- compared quantities */

static Quantity* add_quantity(Convergence* c, const char* name, const char* what, const char* unit) {
  c->quantities = memory_grow_array(c->quantities, sizeof(Quantity), c->count, &c->capacity);
  Quantity* quantity = &c->quantities[c->count++];
  Text text = {0};
  text_add(&text, "%s%s%s", name, *what ? " " : "", what);
  *quantity = (Quantity){.name = text.data, .unit = unit};
  for (int r = 0; r <= REFINEMENTS_MAX; r++) quantity->value[r] = NAN;
  return quantity;
}

static void add_losses(Convergence* c) {
  int terms = c->task ? loss_count(c->run[0].loss) : 0;
  for (int t = -1; t < terms && c->task; t++) {
    Quantity* q = t < 0 ? add_quantity(c, "loss", "", "") : add_quantity(c, "term", loss_name(c->run[0].loss, t), "");
    for (int r = 0; r <= c->refinements; r++) q->value[r] = t < 0 ? c->run[r].value : c->run[r].terms[t];
    for (int r = 0; r < c->refinements; r++) q->change[r] = fabs(q->value[r + 1] - q->value[r]);
  }
}

static Pose pose_at(const RefinedRun* run, int moment, int link) {
  assert(moment >= 0 && link >= 0);
  return recording_link_pose(&run->recording, refined_sample_row(run, moment), link);
}

/* Returns the rotation vector of `rotation` whose angle is nearest to that of `before`, the vector one moment earlier.
 * The angle then counts full turns. */
static Vec3 continuous_log(Mat3 rotation, Vec3 before) {
  Vec3 v = quat_log(quat_from_mat3(rotation));
  double angle = vec3_norm(v), rotation_change = 2 * M_PI;
  bool has_axis = angle > 1e-9 || vec3_norm(before) == 0;
  Vec3 axis = has_axis ? vec3_scale(v, angle > 0 ? 1 / angle : 0) : vec3_scale(before, 1 / vec3_norm(before));
  if (!has_axis) angle = 0;
  return vec3_scale(axis, angle + rotation_change * round((vec3_dot(before, axis) - angle) / rotation_change));
}

/* Compares the motion of a link in runs r and r + 1, over the compared moments from `first` on. Sets *distance to the
 * largest distance between the link's centres of mass in both runs [m]. Sets *angle to the largest angle between its
 * orientations in both runs [rad]. */
static void compare_link(const Convergence* c, int r, int link, int first, double* distance, double* angle) {
  assert(r >= 0 && r < c->refinements);
  const RefinedRun *a = &c->run[r], *b = &c->run[r + 1];
  Vec3 center = a->model.links[link].center, apart = vec3(0, 0, 0);
  *distance = *angle = 0;
  for (int k = 0; k < a->samples; k++) {
    Pose before = pose_at(a, k, link), after = pose_at(b, k, link);
    apart = continuous_log(mat3_mul(mat3_transpose(before.r), after.r), apart);
    if (k < first) continue;
    *distance = fmax(*distance, vec3_norm(vec3_sub(pose_apply(after, center), pose_apply(before, center))));
    *angle = fmax(*angle, vec3_norm(apart));
  }
}

static double coordinate_at(const RefinedRun* run, int moment, int link, int coordinate) {
  RowIndex place = row_index(run->recording.selection, &run->model, refined_sample_row(run, moment), link);
  return run->recording.q[place.coordinate + (size_t)coordinate];
}

/* Adds the changes of the joint angles, which count full turns. */
static void add_joint_angles(Convergence* c) {
  const Model* model = &c->run[0].model;
  for (int link = 0; link < model->link_count; link++) {
    const Joint* joint = &model->links[link].joint;
    for (int k = joint->slide_count; k < joint->scalar_count; k++)
      for (int end = 0; end < 2; end++) {
        Text name = {0};
        text_add(&name, "%s/%s", model->links[link].name,
                 scene_joint_coordinate_name(&model->scene->links[link].joint, k));
        Quantity* q = add_quantity(c, name.data, end ? "at the end" : "", "rad");
        for (int r = 0; r < c->refinements; r++) {
          q->change[r] = 0;
          for (int m = end ? c->run[0].samples - 1 : 0; m < c->run[0].samples; m++)
            q->change[r] = fmax(
                q->change[r], fabs(coordinate_at(&c->run[r + 1], m, link, k) - coordinate_at(&c->run[r], m, link, k)));
        }
        text_free(&name);
      }
  }
}

static void add_links(Convergence* c) {
  const Model* model = &c->run[0].model;
  for (int link = 0; link < model->link_count; link++) {
    if (model->links[link].tree < 0) continue;
    for (int end = 0; end < 2; end++) {
      add_quantity(c, model->links[link].name, end ? "position at the end" : "position", "m");
      Quantity* rotation_change =
          add_quantity(c, model->links[link].name, end ? "rotation at the end" : "rotation", "rad");
      /* add_quantity may have reallocated the array, so earlier pointers are invalid */
      Quantity* displacement = rotation_change - 1;
      for (int r = 0; r < c->refinements; r++)
        compare_link(c, r, link, end ? c->run[0].samples - 1 : 0, &displacement->change[r],
                     &rotation_change->change[r]);
    }
  }
}

/* ---------------------------------------------------------------- orders */

/* Returns the order of convergence in dt from the last two changes, or NaN if the changes are too small or there is
 * only one. */
static double convergence_order(const Convergence* c, const Quantity* q) {
  assert(c->refinements >= 1);
  if (c->refinements < 2) return NAN;
  double before = q->change[c->refinements - 2], last = q->change[c->refinements - 1], size = 1;
  for (int r = 0; r <= c->refinements; r++) size = isfinite(q->value[r]) ? fmax(size, fabs(q->value[r])) : size;
  if (!(before > CHANGE_FLOOR * size) || !(last > CHANGE_FLOOR * size)) return NAN;
  return math_log(before / last) / math_log(2);
}

/* Returns the value extrapolated to dt = 0, or NaN if the order of convergence is not above 0.5. */
static double extrapolated_value(const Convergence* c, const Quantity* q) {
  double order = convergence_order(c, q), last = q->value[c->refinements];
  if (!(order > 0.5)) return NAN;
  return last + (last - q->value[c->refinements - 1]) / (math_pow(2, order) - 1);
}

/* ---------------------------------------------------------------- output */

static int compare_last_change(const void* left, const void* right) {
  const Quantity *a = *(const Quantity*const*)left, *b = *(const Quantity*const*)right;
  double x = a->change[0], y = b->change[0];
  return x < y ? 1 : x > y ? -1 : (a > b) - (a < b);
}

static void print_quantity(const Convergence* c, const Quantity* q) {
  printf("  %-28s", q->name);
  for (int r = 0; r < c->refinements; r++) printf("  %11.4g", q->change[r]);
  double order = convergence_order(c, q), limit = extrapolated_value(c, q);
  if (isfinite(order))
    printf("  %5.2f", order);
  else
    printf("      -");
  printf("  %-4s", q->unit);
  if (isfinite(q->value[0])) printf("  %.8g", q->value[0]);
  if (isfinite(limit)) printf(" -> %.8g", limit);
  printf("\n");
}

/* Prints the table of changes: losses first, then the links and joints with the largest changes. */
static void print_report(const Convergence* c) {
  const Quantity** sorted = (const Quantity**)memory_alloc(sizeof(void*) * (size_t)(c->count + 1));
  int losses = 0, places = 0;
  printf("%s: dt %g s, %d steps\n  %-28s", c->name, c->scene->simulation.dt, c->scene->simulation.steps, "change");
  for (int r = 0; r < c->refinements; r++) {
    char text[32];
    snprintf(text, sizeof text, "dt/%d", 2 << r);
    printf("  %11s", text);
  }
  printf("  order\n");
  for (int i = 0; i < c->count; i++) {
    if (isnan(c->quantities[i].value[0]))
      sorted[places++] = &c->quantities[i];
    else
      losses++;
  }
  for (int i = 0; i < losses; i++) print_quantity(c, &c->quantities[i]);
  if (!c->options->verbose) qsort(sorted, (size_t)places, sizeof(void*), compare_last_change);
  int shown = c->options->verbose || places < LINES ? places : LINES;
  for (int i = 0; i < shown; i++) print_quantity(c, sorted[i]);
  if (shown < places) printf("  ... %d more that change less (-v shows all)\n", places - shown);
  memory_free(sorted);
}

static void json_quantity(Json* json, const Convergence* c, const Quantity* q) {
  json_open(json, NULL, '{');
  json_text(json, "name", q->name);
  json_text(json, "unit", q->unit);
  if (isfinite(q->value[0])) json_vector(json, "values", q->value, c->refinements + 1);
  json_vector(json, "changes", q->change, c->refinements);
  json_number(json, "order", convergence_order(c, q));
  if (isfinite(q->value[0])) json_number(json, "limit", extrapolated_value(c, q));
  json_close(json, '}');
}

static void json_report(Json* json, const Convergence* c) {
  json_open(json, NULL, '{');
  json_text(json, "name", c->name);
  json_number(json, "dt", c->scene->simulation.dt);
  json_integer(json, "steps", c->scene->simulation.steps);
  json_integer(json, "refinements", c->refinements);
  json_open(json, "quantities", '[');
  for (int i = 0; i < c->count; i++) json_quantity(json, c, &c->quantities[i]);
  json_close(json, ']');
  json_close(json, '}');
}

/* ---------------------------------------------------------------- the runs */

static Status run_all(Convergence* c, Diagnostics* diagnostics) {
  RefinedRunInput subject = {c->scene, c->task, c->scenario, MOMENTS};
  RecordOptions options = {.threads = c->options->threads, .interrupted = interrupted};
  if (c->task) options.tolerance = c->task->optimizer.tolerance;
  for (int r = 0; r <= c->refinements; r++) {
    Status status = refined_run(&c->run[r], &subject, 1 << r, &options, diagnostics);
    const RecordReport* report = &c->run[r].report;
    if (status == STATUS_SOLVER)
      command_error(c->options, "%s with dt/%d: the solver failed at step %d: %s, residual %.3g; reduce simulation.dt",
                    c->name, 1 << r, report->failed_step, step_outcome_text(report->last.outcome),
                    report->last.residual);
    if (status != STATUS_OK) return status;
  }
  return STATUS_OK;
}

/* Lifts bodies that touch other bodies at the start, so that all refinements begin in the same state. `sdrs simulate`
 * lifts the same bodies. */
static Status lift_scene(Scene* scene, Diagnostics* diagnostics) {
  Model model = {0};
  Status status = model_create_lifted(&model, scene, diagnostics);
  model_destroy(&model);
  return status;
}

static ExitCode converge_one(const Options* options, const char* name, Scene* scene, const Task* task, int scenario,
                             Json* json) {
  Convergence c = {.options = options, .name = name, .scene = scene, .task = task, .scenario = scenario};
  Diagnostics diagnostics = {0}, runs = {0};
  c.refinements = option_count(options, "refinements", 2);
  Status status = lift_scene(scene, &diagnostics);
  if (status == STATUS_OK) status = run_all(&c, &runs);
  diagnostics_merge(&diagnostics, &runs); /* the runs repeat the messages about the scene, which are added once */
  diagnostics_free(&runs);
  print_diagnostics(options, &diagnostics);
  if (status == STATUS_INTERRUPTED) fprintf(stderr, "%s: stopped by %s\n", name, interrupt_name(interrupt_signal()));
  if (status == STATUS_OK) {
    add_losses(&c);
    add_links(&c);
    add_joint_angles(&c);
    if (options->json)
      json_report(json, &c);
    else
      print_report(&c);
  }
  convergence_free(&c);
  diagnostics_free(&diagnostics);
  return status_exit_code(status);
}

static ExitCode converge_scene(const Options* options, Json* json) {
  Scene scene = {0};
  Diagnostics diagnostics = {0};
  Status status = scene_load(&scene, options->operands[0], options->overrides, options->override_count, &diagnostics);
  print_diagnostics(options, &diagnostics);
  scene.threads = options->threads;
  ExitCode code = status_exit_code(status);
  if (status == STATUS_OK) code = converge_one(options, scene.name, &scene, NULL, 0, json);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
  return code;
}

static ExitCode converge_task(const Options* options, Json* json) {
  Task task = {0};
  Diagnostics diagnostics = {0};
  Status status = task_load(&task, options->operands[0], options->overrides, options->override_count, &diagnostics);
  print_diagnostics(options, &diagnostics);
  ExitCode code = status_exit_code(status);
  for (int k = 0; status == STATUS_OK && k < task.scenario_count && code == EXIT_DONE; k++) {
    TaskScenario* scenario = &task.scenarios[k];
    Text name = {0};
    if (scenario->steps > 0) scenario->scene.simulation.steps = scenario->steps;
    scenario->scene.threads = options->threads;
    text_add(&name, "%s", task.name);
    if (task.scenario_count > 1) text_add(&name, ", scenario %s", scenario->name);
    code = converge_one(options, name.data, &scenario->scene, &task, k, json);
    text_free(&name);
  }
  task_free(&task);
  diagnostics_free(&diagnostics);
  return code;
}

static ExitCode converge(const Options* options) {
  int refinements = option_count(options, "refinements", 2);
  if (refinements > REFINEMENTS_MAX)
    return usage_error(options, "--refinements must be at most %d, got %d", REFINEMENTS_MAX, refinements);
  interrupt_install();
  Text text = {0};
  Json json = {.out = &text};
  if (options->json) json_open(&json, NULL, '[');
  ExitCode code = task_recognise(options->operands[0]) ? converge_task(options, &json) : converge_scene(options, &json);
  if (options->json) {
    json_close(&json, ']');
    fputs(text.data, stdout);
  }
  text_free(&text);
  return interrupt_signal() ? EXIT_INTERRUPTED : code;
}

static const OptionRow OPTIONS[] = {
    {"refinements", 0, OPTION_COUNT, "N", "halve the time step N times (2; at most 6)"},
};

const Verb VERB_CONVERGE = {
    .name = "converge",
    .operands = "SCENE|TASK",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "the same run with dt, dt/2, dt/4: what changes, by how much",
    .examples =
        "  sdrs converge scenes/slide.yaml\n"
        "  sdrs converge scenes/tasks/throw.yaml --refinements 3\n"
        "  sdrs converge out/throw/best.scene.yaml -v          every link\n",
    .details =
        "Prints how far the centre of mass, the orientation and the joint angles of each link change when the\n"
        "time step is halved, and halved again. Angles count full turns. The changes are given over 100 times\n"
        "of the run, and at its end. For a task the changes of its loss and terms come first.\n"
        "The order is the power of dt with which the changes fall. For smooth motion it is 1 for first_order,\n"
        "2 for second_order and momentum. If the order is near 0 or below, the time step determines the\n"
        "result. Values that have an order are extrapolated to dt = 0.\n"
        "Contact keeps the parameters that follow from the dt of the file. velocity_gain / dt, the damping of\n"
        "a controller, is also kept.\n"
        "Exit codes: 0 done, 3 bad input, 4 a step is not solved, 130 interrupted.\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .reads_scene = true,
    .run = converge,
};
