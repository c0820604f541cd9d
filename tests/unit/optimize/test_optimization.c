/* Tests the optimization loop on small tasks: progress, rows, checkpoints, threads, rejected steps, terminations. */
#include "optimize/optimization.h"

#include "unit/scene/task_testing.h"

typedef struct {
  Task task;
  Optimization* o;
} Search;

static Search* search_open(const char* text, int threads, bool (*interrupted)(void)) {
  Search* s = MEMORY_NEW(Search, 1);
  s->task = load_task(text);
  OptimizationOptions options = {threads, interrupted};
  Diagnostics diagnostics = {0};
  Status status = optimization_create(&s->o, &s->task, &options, &diagnostics);
  char* found = told(&diagnostics);
  if (status != STATUS_OK) fail_msg("for the text\n%s\ntold\n%s", text, found);
  memory_free(found);
  diagnostics_free(&diagnostics);
  return s;
}

static Search* search_start(const char* text, int threads) {
  Search* s = search_open(text, threads, NULL);
  Diagnostics diagnostics = {0};
  Status status = optimization_start(s->o, &diagnostics);
  char* found = told(&diagnostics);
  if (status != STATUS_OK) fail_msg("for the text\n%s\ntold\n%s", text, found);
  memory_free(found);
  diagnostics_free(&diagnostics);
  return s;
}

/* Until it ends, or after so many iterations. */
static void search_advance(Search* s, int iterations) {
  while (iterations-- > 0 && optimization_stop(s->o) == STOP_NOT_YET)
    assert_int_equal(optimization_advance(s->o), STATUS_OK);
}

static Search* search_run(const char* text, int threads) {
  Search* s = search_start(text, threads);
  search_advance(s, 1000000);
  return s;
}

static void search_free(Search* s) {
  optimization_destroy(s->o);
  task_free(&s->task);
  memory_free(s);
}

/* Equal to the bit in all but the time it took. */
static void expect_same(const Search* a, const Search* b, const char* what) {
  const Optimization *one = a->o, *two = b->o;
  assert_int_equal(one->iteration, two->iteration);
  assert_int_equal(one->stop, two->stop);
  assert_int_equal(one->best_iteration, two->best_iteration);
  assert_int_equal(one->since_best, two->since_best);
  size_t n = sizeof(double) * (size_t)one->design.variable_count;
  compare_bytes(one->x, two->x, n, "%s: x", what);
  compare_bytes(one->gradient, two->gradient, n, "%s: gradient", what);
  compare_bytes(one->best_x, two->best_x, n, "%s: best x", what);
  for (int k = 0; k <= one->iteration; k++) {
    OptimizationRow rows[2] = {one->rows[k], two->rows[k]};
    rows[0].seconds = rows[1].seconds = 0;
    assert_int_equal(rows[0].outcome, rows[1].outcome);
    compare_bytes(&rows[0], &rows[1], offsetof(OptimizationRow, outcome), "%s: row %d", what, k);
    compare_bytes(optimization_terms(one, k), optimization_terms(two, k), sizeof(double) * (size_t)one->term_count,
                  "%s: terms %d", what, k);
  }
  int states = optimizer_state_size(one->optimizer);
  double* state = MEMORY_NEW(double, 2 * states);
  optimizer_state_save(one->optimizer, state);
  optimizer_state_save(two->optimizer, state + states);
  compare_bytes(state, state + states, sizeof(double) * (size_t)states, "%s: the optimizer's state", what);
  memory_free(state);
}

/* ---------------------------------------------------------------- tasks */

#define BALL "{name: ball, mass: 1, mass_model: vertices, shape: {type: sphere, radius: 0.1}"
/* A ball flies 20 steps of 0.05 s; where it is after a second is its velocity. */
#define FLIGHT                                                                                 \
  "scene: {simulation: {dt: 0.05, gravity: [0, 0, 0], integrator: first_order}, links: [" BALL \
  "}]}\nsteps: 20\n"                                                                           \
  "initial: [{link: ball, velocities: true, dof: [0, 1, 2]}]\n"
#define MARK "loss: [{type: point, link: ball, target: [0.5, -0.2, 0.1]}]\n"

/* A brick slides over the ground against another one; shape and speed change. The rest speed is one that differences
 * resolve. */
#define SLIDE_SCENE                                                                                                   \
  "{simulation: {dt: 0.01, integrator: first_order}, contact: {friction: 0.3, friction_iterations: 0, rest_speed: "   \
  "0.2, barrier_distance: "                                                                                           \
  "2.0e-3, "                                                                                                          \
  "stiffness: 1.2e-9, smoothing: "                                                                                    \
  "1.0e-6},\n"                                                                                                        \
  "  links: [{name: ground, fixed: true, shape: {type: half_space}}, {name: brick, mass: 1, mass_model: vertices, "   \
  "position: [0, 0, "                                                                                                 \
  "0.10090931], shape: {type: box, size: [0.2, 0.2, 0.2]}}, {name: stop, mass: 0.5, mass_model: vertices, position: " \
  "[0.25, 0.03, "                                                                                                     \
  "0.10090931], shape: {type: box, size: [0.2, 0.2, 0.2]}}], initial: [{link: brick, velocities: [%s, 0, 0, 0, 0, "   \
  "0]}]}"
#define SLIDE_REST                                                                                    \
  "steps: 12\n"                                                                                       \
  "design: {mass: density, vertices: [{link: brick, within: 0.02}]}\n"                                \
  "initial: [{link: brick, velocities: true, dof: [1]}]\n"                                            \
  "loss: [{type: point, link: stop, target: [0.5, 0, 0.1], weight: 2}, {type: shape, weight: 0.1}]\n" \
  "optimizer: {type: %s, iterations: %d, design_step: 0.0008, control_step: 0.05}\n"

static char* slide(const char* method, int iterations, bool three) {
  Text text = {0};
  if (three) {
    static const char* const SPEED[] = {"1", "1.2", "0.8"};
    text_add(&text, "scenarios:\n");
    for (int k = 0; k < 3; k++) text_add(&text, "- {weight: %d, scene: " SLIDE_SCENE "}\n", k + 1, SPEED[k]);
  } else {
    text_add(&text, "scene: " SLIDE_SCENE "\n", "1");
  }
  text_add(&text, SLIDE_REST, method, iterations);
  return text.data;
}

static const char* const METHODS[] = {"adam", "gradient", "step_bounded", "lbfgs"};

/* ---------------------------------------------------------------- progress */

/* After a second the ball's position equals its velocity, which gives the best design. */
static void a_flight_ends_on_the_mark(void** state) {
  (void)state;
  Search* s =
      search_run(FLIGHT MARK "optimizer: {type: lbfgs, iterations: 30, control_step: 1, stop_loss: 1.0e-16}\n", 1);
  assert_int_equal(optimization_stop(s->o), STOP_LOSS);
  static const double WANTED[] = {0.5, -0.2, 0.1};
  for (int k = 0; k < 3; k++) {
    OptimizationVariable v = optimization_variable(s->o, k);
    compare_near(v.best, WANTED[k], 1e-8, "%s", v.name);
    assert_true(v.is_control && v.initial == 0);
  }
  /* the gradient at the start is 2 (x - target), for dx / dv = 1 s */
  compare_relative(optimization_rows(s->o)[0].grad_control, 2 * sqrt(0.25 + 0.04 + 0.01), 1e-10, "gradient");
  compare_near(optimization_rows(s->o)[0].loss, 0.3, 1e-12, "loss");
  search_free(s);
}

static void every_method_makes_progress(void** state) {
  (void)state;
  for (int m = 0; m < COUNT(METHODS); m++) {
    char* text = slide(METHODS[m], 8, false);
    Search* s = search_run(text, 1);
    assert_int_equal(optimization_iteration(s->o), 8);
    assert_int_equal(optimization_stop(s->o), STOP_ITERATIONS);
    compare_at_most(optimization_best_loss(s->o), 0.97 * optimization_rows(s->o)[0].loss, "%s", METHODS[m]);
    for (int k = 1; m > 0 && k <= 8; k++)
      compare_at_most(optimization_rows(s->o)[k].loss, optimization_rows(s->o)[k - 1].loss, "%s descends", METHODS[m]);
    search_free(s);
    memory_free(text);
  }
}

/* ---------------------------------------------------------------- rows */

static void rows_and_terms(void** state) {
  (void)state;
  char* text = slide("step_bounded", 5, true);
  Search* s = search_run(text, 1);
  const Optimization* o = s->o;
  assert_int_equal(optimization_term_count(o), 2);
  assert_string_equal(optimization_term_name(o, 0), "point");
  assert_string_equal(optimization_term_name(o, 1), "shape");
  assert_int_equal(optimization_rows(o)[0].outcome, TRIAL_START);
  double least = HUGE_VAL;
  for (int k = 0; k <= 5; k++) {
    const OptimizationRow* r = &optimization_rows(o)[k];
    const double* terms = optimization_terms(o, k);
    compare_relative(terms[0] + terms[1], r->loss, 1e-14, "terms of row %d", k);
    if (k > 0 && r->outcome == TRIAL_ACCEPTED) compare_bytes(&r->loss, &r->trial_loss, sizeof(double), "row %d", k);
    if (k > 0 && r->outcome != TRIAL_ACCEPTED)
      compare_bytes(&r->loss, &optimization_rows(o)[k - 1].loss, sizeof(double), "a refused trial changes nothing");
    if (k > 0) assert_true(r->step_design > 0 && r->step_design <= 0.002 * 1.2 * 1.2 * 1.2 * 1.2);
    assert_true(r->grad_design > 0 && r->grad_control > 0);
    least = fmin(least, r->loss);
  }
  compare_near(optimization_best_loss(o), least, 0, "best");
  compare_near(optimization_rows(o)[optimization_best_iteration(o)].loss, least, 0, "its iteration");
  search_free(s);
  memory_free(text);
}

/* Scenarios are summed with their weights. The sum equals that of individual scenarios. */
static void scenarios_add_up(void** state) {
  (void)state;
  char* text = slide("adam", 1, true);
  Search* s = search_start(text, 1);
  double sum = 0;
  static const char* const SPEED[] = {"1", "1.2", "0.8"};
  for (int k = 0; k < 3; k++) {
    Text one = {0};
    text_add(&one, "scene: " SLIDE_SCENE "\n" SLIDE_REST, SPEED[k], "adam", 1);
    Search* alone = search_start(one.data, 1);
    sum += (k + 1) * optimization_rows(alone->o)[0].loss;
    search_free(alone);
    text_free(&one);
  }
  compare_relative(optimization_rows(s->o)[0].loss, sum, 1e-14, "weighted sum");
  search_free(s);
  memory_free(text);
}

/* A ball hits a second ball off its centre. The optimizer slows the ball down until it hits nothing. The last gradient
 * therefore grows less than the first. */
static void the_largest_growth_is_reported(void** state) {
  (void)state;
  Search* s = search_start(
      "scene: {simulation: {dt: 0.05, gravity: [0, 0, 0]}, links: [" BALL
      "}, {name: other, mass: 1, position: [0.3, "
      "0.05, 0], shape: {type: sphere, radius: 0.1}}], initial: [{link: ball, velocities: [1, 0, 0, 0, 0, 0]}]}\n"
      "steps: 20\ninitial: [{link: ball, velocities: true, dof: [0, 1, 2]}]\n"
      "loss: [{type: point, link: ball, target: [0, 0, 0]}]\n"
      "optimizer: {type: gradient, iterations: 40, control_step: 0.2}\n",
      1);
  double first = s->o->runs[0].adjoint.growth, largest = 0, last;
  do {
    last = s->o->runs[0].adjoint.growth;
    largest = fmax(largest, last);
    search_advance(s, 1);
  } while (optimization_stop(s->o) == STOP_NOT_YET);
  compare_near(optimization_adjoint(s->o).growth, largest, 0, "largest growth");
  compare_at_most(last, 0.9 * first, "last growth");
  search_free(s);
}

/* ---------------------------------------------------------------- checkpoints */

/* Through the text of the file, into a new object. */
static Search* search_reopen(const Search* from, const char* text) {
  NumberFile written = {0}, read = {0};
  Text file = {0};
  Diagnostics diagnostics = {0};
  optimization_save(from->o, &written);
  number_file_format(&written, &file);
  assert_int_equal(number_file_parse(&read, CHECKPOINT_KIND, "checkpoint", file.data, file.length, &diagnostics),
                   STATUS_OK);
  Search* s = search_open(text, 1, NULL);
  assert_true(optimization_load(s->o, &read, &diagnostics));
  assert_int_equal(diagnostics.count, 0);
  text_free(&file);
  number_file_free(&written);
  number_file_free(&read);
  return s;
}

static void a_loaded_run_goes_on_as_it_would_have(void** state) {
  (void)state;
  for (int m = 0; m < COUNT(METHODS); m++) {
    char* text = slide(METHODS[m], 6, m == 0);
    Search* whole = search_run(text, 1);
    for (int stop = 0; stop <= 6; stop += 2) {
      Search* first = search_start(text, 1);
      search_advance(first, stop);
      Search* second = search_reopen(first, text);
      expect_same(first, second, "as loaded");
      search_free(first);
      search_advance(second, 100);
      expect_same(whole, second, METHODS[m]);
      compare_near(second->o->adjoint.growth, whole->o->adjoint.growth, 0, "report of the adjoint");
      search_free(second);
    }
    search_free(whole);
    memory_free(text);
  }
}

/* An end that was the task's number of iterations is none for a longer one; other ends are judged anew. */
static void a_longer_task_goes_on(void** state) {
  (void)state;
  char *shorter = slide("lbfgs", 2, false), *longer = slide("lbfgs", 5, false);
  Search *whole = search_run(longer, 1), *first = search_run(shorter, 1);
  assert_int_equal(optimization_stop(first->o), STOP_ITERATIONS);
  Search* second = search_reopen(first, longer);
  assert_int_equal(optimization_stop(second->o), STOP_NOT_YET);
  search_advance(second, 100);
  expect_same(whole, second, "longer");
  search_free(first);
  search_free(second);
  search_free(whole);
  memory_free(shorter);
  memory_free(longer);
  first = search_run(FLIGHT MARK "optimizer: {type: lbfgs, iterations: 30, control_step: 1, stop_loss: 0.1}\n", 1);
  assert_int_equal(optimization_stop(first->o), STOP_LOSS);
  second = search_reopen(first, FLIGHT MARK "optimizer: {type: lbfgs, iterations: 30, control_step: 1}\n");
  assert_int_equal(optimization_stop(second->o), STOP_NOT_YET);
  search_free(first);
  search_free(second);
}

static void expect_refused(const Search* from, const char* text, const char* wanted) {
  NumberFile c = {0};
  Diagnostics diagnostics = {0};
  optimization_save(from->o, &c);
  Search* s = search_open(text, 1, NULL);
  assert_false(optimization_load(s->o, &c, &diagnostics));
  assert_int_equal(diagnostics.error_count, 1);
  assert_string_equal(diagnostics.items[0].text, wanted);
  number_file_free(&c);
  diagnostics_free(&diagnostics);
  search_free(s);
}

#define CHANGED \
  " changed since the checkpoint was written: undo the change, start without --resume, or give another folder"
#define LOSSES "the losses have" CHANGED
#define SETTINGS "the optimizer's settings, the seed or the rules of the design have" CHANGED

static void checkpoints_of_other_tasks_are_refused(void** state) {
  (void)state;
#define ADAM "optimizer: {type: adam, iterations: 3}\n"
  Search* s = search_run(FLIGHT MARK ADAM, 1);
  expect_refused(s, FLIGHT "loss: [{type: point, link: ball, target: [0.5, -0.2, 0.2]}]\n" ADAM, LOSSES);
  expect_refused(s, FLIGHT "loss: [{type: point, link: ball, target: [0.5, -0.2, 0.1], power: 1}]\n" ADAM, LOSSES);
  expect_refused(s, FLIGHT "loss: [{type: point, link: ball, target: [0.5, -0.2, 0.1], from: 0}]\n" ADAM, LOSSES);
  expect_refused(s, FLIGHT "loss: [{type: point, name: p, link: ball, target: [0.5, -0.2, 0.1]}]\n" ADAM, LOSSES);
  expect_refused(s, FLIGHT MARK "optimizer: {type: lbfgs, iterations: 3}\n", SETTINGS);
  expect_refused(s, FLIGHT MARK "optimizer: {type: adam, iterations: 3, control_step: 0.06}\n", SETTINGS);
  expect_refused(s, FLIGHT MARK ADAM "seed: 2\n", SETTINGS);
  expect_refused(s, FLIGHT MARK ADAM "set: [simulation.dt=0.04]\n",
                 "the scene scenes/test.task.yaml, a mesh that it reads or an override of it has" CHANGED);
  expect_refused(
      s, FLIGHT MARK ADAM "design: {constraints: [{variables: [ball/velocity/0], relation: at_most, value: 3}]}\n",
      "the variables, their bounds or the constraints have" CHANGED);
  expect_refused(s, FLIGHT MARK "optimizer: {type: adam, iterations: 2}\n",
                 "the checkpoint is at iteration 3, but the task ends at 2: increase optimizer.iterations");
  search_free(s);
}

/* ---------------------------------------------------------------- threads */

static void threads_change_nothing(void** state) {
  (void)state;
  for (int three = 0; three < 2; three++) {
    char* text = slide("step_bounded", 5, three);
    Search* one = search_run(text, 1);
    for (int threads = 2; threads <= 8; threads += threads == 3 ? 5 : 1) {
      Search* many = search_run(text, threads);
      expect_same(one, many, three ? "three scenarios" : "one scenario");
      search_free(many);
    }
    search_free(one);
    memory_free(text);
  }
}

/* ---------------------------------------------------------------- memory */

/* So little that next to nothing of the runs fits, some of it, and all of it. */
static void memory_changes_nothing(void** state) {
  (void)state;
  static const char* const bounds[] = {"2e-5", "1e-4", "1"};
  for (int three = 0; three < 2; three++) {
    char* text = slide("step_bounded", 5, three);
    Search* whole = search_run(text, 2);
    for (int k = 0; k < 3; k++) {
      Text bounded = {0};
      text_add(&bounded, "%sgradient: {memory: %s}\n", text, bounds[k]);
      Search* s = search_run(bounded.data, 2);
      assert_true(s->o->runs[0].recording.selection != NULL);
      expect_same(whole, s, bounds[k]);
      search_free(s);
      text_free(&bounded);
    }
    search_free(whole);
    memory_free(text);
  }
}

/* ---------------------------------------------------------------- refused trials */

/* The first trial is refused for this reason, later ones are accepted. */
static void expect_trial(const char* text, TrialOutcome outcome, const char* reason) {
  Search* s = search_start(text, 1);
  double before = s->o->x[0];
  search_advance(s, 1);
  assert_int_equal(optimization_rows(s->o)[1].outcome, outcome);
  assert_true(isnan(optimization_rows(s->o)[1].trial_loss));
  if (!strstr(optimization_reason(s->o), reason)) fail_msg("'%s' is not in '%s'", reason, optimization_reason(s->o));
  compare_near(s->o->x[0], before, 0, "nothing moved");
  assert_int_equal(optimization_stop(s->o), STOP_NOT_YET);
  search_advance(s, 8);
  int accepted = 0;
  for (int k = 2; k <= optimization_iteration(s->o); k++)
    accepted += optimization_rows(s->o)[k].outcome == TRIAL_ACCEPTED;
  assert_true(accepted > 0);
  assert_true(optimization_best_loss(s->o) < optimization_rows(s->o)[0].loss);
  search_free(s);
}

/* The first trial cannot start, and is moved until it can: no iteration is lost. */
static void expect_moved(const char* text) {
  Search* s = search_start(text, 1);
  search_advance(s, 1);
  assert_int_equal(optimization_rows(s->o)[1].outcome, TRIAL_ACCEPTED);
  assert_int_equal(s->o->corrected_trials, 1);
  search_advance(s, 8);
  assert_int_equal(optimization_rejected(s->o).invalid, 0);
  assert_true(optimization_best_loss(s->o) < optimization_rows(s->o)[0].loss);
  search_free(s);
}

/* The top of a cube of 1 m is to come down: its centre is wanted 1 m lower. */
#define CUBE                                                                                                 \
  "scene: {simulation: {dt: 0.05, gravity: [0, 0, 0], integrator: first_order}, links: [{name: a, mass: 1, " \
  "mass_model: vertices, shape: "                                                                            \
  "{type: box, size: [1, 1, "                                                                                \
  "1]}}]}\nsteps: 2\nloss: [{type: point, link: a, target: [0, 0, -1]}]\n"
#define TOP "vertices: [{link: a, axes: [z], box: {low: [-1, -1, 0], high: [1, 1, 1]}}]"

static void hulls_that_cannot_be(void** state) {
  (void)state;
  expect_moved(CUBE "design: {min_thickness: 0.5, " TOP
                    "}\noptimizer: {type: step_bounded, iterations: 20, design_step: 0.6}\n");
  expect_moved(CUBE "design: {" TOP "}\noptimizer: {type: step_bounded, iterations: 20, design_step: 1}\n");
}

/* min_thickness is a matter of the hulls that change. */
static void other_hulls_may_be_thin(void** state) {
  (void)state;
  Search* s = search_run(
      "scene: {simulation: {gravity: [0, 0, 0], integrator: first_order}, links: [{name: a, mass: 1, mass_model: "
      "vertices, shapes: [{type: box, "
      "size: [1, 1, 1]}, "
      "{type: box, size: [1, 1, 0.01], position: [0, 0, 3]}]}]}\nsteps: 2\n"
      "design: {min_thickness: 0.5, vertices: [{link: a, hulls: [0]}]}\n"
      "loss: [{type: point, link: a, target: [0, 0, -1]}]\noptimizer: {iterations: 1}\n",
      1);
  assert_int_equal(optimization_rows(s->o)[1].outcome, TRIAL_ACCEPTED);
  search_free(s);
}

/* Scenarios may have other surroundings, with more hulls before those that change. */
static void other_surroundings(void** state) {
  (void)state;
#define AMONG(walls)                                                                                                \
  "{simulation: {gravity: [0, 0, 0], integrator: first_order}, links: [{name: wall, fixed: true, position: [9, 0, " \
  "0], shapes: [" walls "]}, {name: a, mass: 1, mass_model: vertices, shape: {type: box, size: [1, 1, 1]}}]}"
#define THIN "{type: box, size: [1, 1, 0.01]}"
  static const char TEXT[] = "scenarios: [{scene: " AMONG(THIN) "}, {scene: " AMONG(THIN ", " THIN ", " THIN) "}]\nsteps: 2\n"
      "design: {min_thickness: 0.5, " TOP "}\nloss: [{type: point, link: a, target: [0, 0, -1]}]\n"
      "optimizer: {type: step_bounded, iterations: 2, design_step: 0.6}\n";
  Search* s = search_run(TEXT, 1);
  assert_int_equal(optimization_rows(s->o)[1].outcome, TRIAL_ACCEPTED);
  assert_true(s->o->corrected_trials > 0);
  assert_int_equal(optimization_rejected(s->o).invalid, 0);
  search_free(s);
}

/* The ball is wanted inside the ground. */
static void bodies_that_meet_at_the_start(void** state) {
  (void)state;
  expect_moved(
      "scene: {simulation: {gravity: [0, 0, 0], integrator: first_order}, links: [{name: ground, fixed: true, shape: "
      "{type: half_space}}, "
      "{name: ball, mass: 1, mass_model: vertices, shape: {type: sphere, radius: 0.1}}], initial: [{link: ball, "
      "coordinates: [0, 0, 1, "
      "1, 0, 0, 0]}]}\nsteps: 2\ninitial: [{link: ball, coordinates: true}]\n"
      "loss: [{type: point, link: ball, target: [0, 0, -1]}]\n"
      "optimizer: {type: step_bounded, iterations: 20, control_step: 0.95}\n");
}

/* One Newton iteration is enough in the air, not on the ground. */
static void steps_that_are_not_solved(void** state) {
  (void)state;
  expect_trial(
      "scene: {simulation: {dt: 0.05, gravity: [0, 0, 0], max_iterations: 2, integrator: first_order}, contact: "
      "{barrier_distance: 0.01, stiffness: "
      "1.0e-6, friction: 0.5}, links: [{name: ground, fixed: true, shape: {type: half_space}}, "
      "{name: ball, mass: 1, mass_model: vertices, shape: {type: sphere, radius: 0.1}}], initial: [{link: ball, "
      "coordinates: [0, 0, 1, "
      "1, 0, 0, 0]}]}\nsteps: 10\ninitial: [{link: ball, velocities: true, dof: [2]}]\n"
      "loss: [{type: point, link: ball, target: [0, 0, -1]}]\n"
      "optimizer: {type: step_bounded, iterations: 20, control_step: 10}\n",
      TRIAL_SOLVER, "step ");
}

/* A start that does not run is an error, with the same words. */
static void a_start_that_does_not_run(void** state) {
  (void)state;
  Search* s = search_open(CUBE "design: {min_thickness: 2, " TOP "}\n", 1, NULL);
  Diagnostics diagnostics = {0};
  assert_int_equal(optimization_start(s->o, &diagnostics), STATUS_BAD_INPUT);
  assert_string_equal(diagnostics.items[0].text,
                      "the initial design cannot be used: invalid: a hull of link 'a' is 1 m thin, less than 2 m");
  diagnostics_free(&diagnostics);
  search_free(s);
}

static void no_design_obeys(void** state) {
  (void)state;
  Task task =
      load_task(FLIGHT MARK
                "design: {constraints: [{variables: [ball/velocity/0], relation: at_most, value: 3}, {variables: "
                "[ball/velocity/0], relation: at_least, value: 4}]}\n");
  Optimization* o;
  Diagnostics diagnostics = {0};
  OptimizationOptions options = {1, NULL};
  assert_int_equal(optimization_create(&o, &task, &options, &diagnostics), STATUS_BAD_INPUT);
  assert_string_equal(
      diagnostics.items[0].text,
      "no design satisfies all bounds and constraints together: widen the bounds or correct the constraints");
  optimization_destroy(o);
  diagnostics_free(&diagnostics);
  task_free(&task);
}

/* Bounds and linear constraints hold in every design of the search. */
static void rows_hold(void** state) {
  (void)state;
  Search* s = search_start(FLIGHT MARK
                           "design: {constraints: [{variables: [ball/velocity/0, ball/velocity/1], relation: equal, "
                           "value: 0.1}]}\noptimizer: {type: step_bounded, iterations: 10, control_step: 0.1}\n",
                           1);
  compare_near(s->o->x[0] + s->o->x[1], 0.1, 1e-12, "the start is moved there");
  for (int k = 0; k < 10; k++) {
    search_advance(s, 1);
    compare_near(s->o->x[0] + s->o->x[1], 0.1, 1e-12, "iteration %d", k);
  }
  /* nearest point of the line to the mark (0.5, -0.2): v = mark + (0.1 - 0.3) / 2 */
  compare_near(s->o->best_x[0], 0.4, 0.06, "along the row");
  search_free(s);
}

/* ---------------------------------------------------------------- interruption */

static int calls_left;
static bool out_of_calls(void) { return calls_left-- <= 0; }

static void an_interrupted_iteration_has_not_been(void** state) {
  (void)state;
  char* text = slide("adam", 4, false);
  Search* whole = search_run(text, 1);
  calls_left = 1000000;
  Search* s = search_open(text, 1, out_of_calls);
  Diagnostics diagnostics = {0};
  assert_int_equal(optimization_start(s->o, &diagnostics), STATUS_OK);
  while (optimization_stop(s->o) == STOP_NOT_YET) {
    NumberFile before = {0}, after = {0};
    Text texts[2] = {0};
    optimization_save(s->o, &before);
    calls_left = 5;
    assert_int_equal(optimization_advance(s->o), STATUS_INTERRUPTED);
    optimization_save(s->o, &after);
    number_file_format(&before, &texts[0]);
    number_file_format(&after, &texts[1]);
    assert_string_equal(texts[0].data, texts[1].data);
    calls_left = 1000000;
    assert_int_equal(optimization_advance(s->o), STATUS_OK);
    for (int k = 0; k < 2; k++) text_free(&texts[k]);
    number_file_free(&before);
    number_file_free(&after);
  }
  expect_same(whole, s, "interrupted in every iteration");
  search_free(s);
  search_free(whole);
  memory_free(text);
}

static void an_interrupted_start(void** state) {
  (void)state;
  calls_left = 3;
  Search* s = search_open(FLIGHT MARK, 1, out_of_calls);
  Diagnostics diagnostics = {0};
  assert_int_equal(optimization_start(s->o, &diagnostics), STATUS_INTERRUPTED);
  assert_int_equal(diagnostics.count, 0);
  search_free(s);
}

/* ---------------------------------------------------------------- ends */

static void expect_stop(const char* text, OptimizationStop stop, int iteration) {
  Search* s = search_run(text, 1);
  assert_string_equal(optimization_stop_text(optimization_stop(s->o)), optimization_stop_text(stop));
  if (iteration >= 0) assert_int_equal(optimization_iteration(s->o), iteration);
  search_free(s);
}

/* Every trial makes the cube a little thinner than it may be. */
#define NO_WAY CUBE "design: {min_thickness: 0.9999999999999, " TOP "}\n"

/* The shape is as it should be. */
#define FLAT                                                                                                 \
  "scene: {links: [{name: a, mass: 1, mass_model: vertices, shape: {type: box, size: [1, 1, 1]}}]}\nsteps: " \
  "1\ndesign: {" TOP                                                                                         \
  "}"                                                                                                        \
  "\n" SHAPE_LOSS

static void why_it_ends(void** state) {
  (void)state;
  expect_stop(FLIGHT MARK "optimizer: {type: adam, iterations: 4}\n", STOP_ITERATIONS, 4);
  expect_stop(FLIGHT MARK "optimizer: {type: lbfgs, control_step: 1, stop_loss: 0.01}\n", STOP_LOSS, -1);
  expect_stop(FLIGHT MARK "optimizer: {type: lbfgs, stop_loss: 1}\n", STOP_LOSS, 0);
  expect_stop(NO_WAY "optimizer: {type: step_bounded, iterations: 1000}\n", STOP_SHORT_STEP, -1);
  expect_stop(NO_WAY "optimizer: {type: step_bounded, iterations: 1000, stall: 7}\n", STOP_STALL, 7);
  expect_stop(FLAT "optimizer: {type: gradient}\n", STOP_FLAT, 0);
}

/* ---------------------------------------------------------------- derivatives, and results */

static void the_gradient_is_right(void** state) {
  (void)state;
  for (int three = 0; three < 2; three++) {
    char* text = slide("adam", 1, three);
    Search* s = search_start(text, 1);
    GradcheckOptions options = {.directions = 3, .seed = 4, .threads = 1};
    GradcheckBlockReport report[2];
    optimization_gradcheck(s->o, &options, report);
    assert_int_equal(report[0].count, 24);
    assert_int_equal(report[1].count, 1);
    for (int block = 0; block < 2; block++) {
      assert_true(report[block].norm > 0);
      compare_at_most(report[block].error, 1e-5, "block %d", block);
    }
    search_free(s);
    memory_free(text);
  }
}

/* A block without variables has nothing to check. */
static void a_block_may_be_empty(void** state) {
  (void)state;
  Search* s = search_start(FLIGHT MARK, 1);
  GradcheckOptions options = {.directions = 2, .seed = 1, .threads = 1};
  GradcheckBlockReport report[2];
  optimization_gradcheck(s->o, &options, report);
  assert_int_equal(report[0].count, 0);
  assert_int_equal(report[0].directions, 0);
  compare_at_most(report[1].error, 1e-7, "a quadratic loss");
  search_free(s);
}

/* The best scene, written and simulated again independently, has the same loss bit for bit. */
static void the_best_scene_gives_the_best_loss(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text,
           "scene: " SLIDE_SCENE
           "\nsteps: 12\ndesign: {vertices: [{link: brick, within: 0.02}]}\n"
           "initial: [{link: brick, velocities: true}]\n"
           "loss: [{type: point, link: stop, target: [0.5, 0, 0.1]}]\n"
           "optimizer: {type: step_bounded, iterations: 4, design_step: 0.002, control_step: 0.1}\n",
           "1");
  Search* s = search_run(text.data, 1);
  assert_true(optimization_best_iteration(s->o) > 0);
  Text yaml = {0};
  scene_write_yaml(optimization_scene(s->o, 0, true), ".", &yaml);
  Scene scene;
  Model model;
  Recording recording;
  RecordReport report;
  Loss* loss;
  Diagnostics diagnostics = {0};
  assert_int_equal(scene_parse(&scene, "best.yaml", yaml.data, yaml.length, false, NULL, 0, &diagnostics), STATUS_OK);
  assert_int_equal(model_create(&model, &scene, &diagnostics), STATUS_OK);
  assert_int_equal(loss_create(&loss, &s->task, 0, &model, &diagnostics), STATUS_OK);
  recording_create(&recording, &model, 12);
  RecordOptions options = {.threads = 2};
  assert_int_equal(recording_run(&recording, &model, &options, &report, &diagnostics), STATUS_OK);
  double value = loss_evaluate(loss, &recording, NULL, NULL), best = optimization_best_loss(s->o);
  compare_bytes(&value, &best, sizeof value, "the loss");
  recording_destroy(&recording);
  loss_destroy(loss);
  model_destroy(&model);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
  text_free(&yaml);
  text_free(&text);
  search_free(s);
}

/* Put into the scene and taken back: looking at the best design does not disturb the search. */
static void looking_does_not_disturb(void** state) {
  (void)state;
  char* text = slide("step_bounded", 4, false);
  Search *one = search_run(text, 1), *two = search_start(text, 1);
  while (optimization_stop(two->o) == STOP_NOT_YET) {
    optimization_scene(two->o, 0, true);
    search_advance(two, 1);
    optimization_scene(two->o, 0, false);
  }
  expect_same(one, two, "looked at");
  search_free(one);
  search_free(two);
  memory_free(text);
}

static void the_note_says_what_was_put_in(void** state) {
  (void)state;
  Search* s = search_open(
      "scene: {links: [{name: a, mass: 1, mass_model: vertices, shapes: [{type: box, size: [1, 1, 1]}, {type: box, "
      "size: [0.4, 0.4, 0.4], "
      "position: [0.6, 0, 0]}]}, {name: b, parent: a, mass: 1, mass_model: vertices, joint: {type: hinge, axis: [0, 0, "
      "1], position: [0, 0, "
      "0.75]}, shape: {type: box, size: [0.2, 0.2, 0.2]}}]}\nsteps: 1\ndesign: {vertices: [{link: a}]}\n" SHAPE_LOSS,
      1, NULL);
  assert_string_equal(optimization_note(s->o),
                      "link 'a': hulls 0 and 1 share a vertex at (0.45, -0.15, -0.15)\n"
                      "link 'a': hull 0 has a vertex at the joint of 'b', which adds a corner\n");
  search_free(s);
}

/* Nine good samples precede a failure, then good samples follow. The failure counts with its own loss, not with the
 * mean 2.1. Later designs count with the mean while the mean includes the failure. */
static void good_draws_before_it_do_not_excuse_a_failure_O18(void** state) {
  (void)state;
  enum { COUNT = 21, FAILS_AT = 10 };
  OptimizationRow rows[COUNT] = {{.outcome = TRIAL_START, .loss = 1}};
  Task task = {.draw_every = 1};
  char drawn;
  Optimization o = {.task = &task, .draws = (Draws*)&drawn, .rows = rows};
  for (int k = 1; k < COUNT; k++)
    rows[k] = (OptimizationRow){.outcome = TRIAL_ACCEPTED, .loss = k == FAILS_AT ? 12 : 1};
  for (int k = 1; k < COUNT; k++) {
    o.iteration = k;
    double expected = k < FAILS_AT || k > FAILS_AT + 9 ? 1 : k == FAILS_AT ? 12 : 2.1;
    double worth = optimization_compared_loss(&o, k, rows[k].loss);
    if (fabs(worth - expected) > 1e-12) fail_msg("iteration %d is worth %g", k, worth);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_draws_before_it_do_not_excuse_a_failure_O18),
      cmocka_unit_test(a_flight_ends_on_the_mark),
      cmocka_unit_test(every_method_makes_progress),
      cmocka_unit_test(rows_and_terms),
      cmocka_unit_test(scenarios_add_up),
      cmocka_unit_test(the_largest_growth_is_reported),
      cmocka_unit_test(a_loaded_run_goes_on_as_it_would_have),
      cmocka_unit_test(a_longer_task_goes_on),
      cmocka_unit_test(checkpoints_of_other_tasks_are_refused),
      cmocka_unit_test(threads_change_nothing),
      cmocka_unit_test(memory_changes_nothing),
      cmocka_unit_test(hulls_that_cannot_be),
      cmocka_unit_test(other_hulls_may_be_thin),
      cmocka_unit_test(other_surroundings),
      cmocka_unit_test(bodies_that_meet_at_the_start),
      cmocka_unit_test(steps_that_are_not_solved),
      cmocka_unit_test(a_start_that_does_not_run),
      cmocka_unit_test(no_design_obeys),
      cmocka_unit_test(rows_hold),
      cmocka_unit_test(an_interrupted_iteration_has_not_been),
      cmocka_unit_test(an_interrupted_start),
      cmocka_unit_test(why_it_ends),
      cmocka_unit_test(the_gradient_is_right),
      cmocka_unit_test(a_block_may_be_empty),
      cmocka_unit_test(the_best_scene_gives_the_best_loss),
      cmocka_unit_test(looking_does_not_disturb),
      cmocka_unit_test(the_note_says_what_was_put_in),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
