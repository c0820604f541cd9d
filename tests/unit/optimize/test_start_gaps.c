/* Tests designs that intersect at the start: the limits from gaps, their derivatives, and searches that end at them. */
#include <math.h>
#include <string.h>

#include "optimize/optimize.h"
#include "support/compare.h"

typedef struct {
  Task task;
  Optimization* optimization;
} Sought;

static void create(Sought* s, const char* text) {
  Diagnostics diagnostics = {0};
  OptimizationOptions options = {.threads = 1};
  Status status = task_parse(&s->task, "inline.yaml", text, strlen(text), false, NULL, 0, &diagnostics);
  if (status == STATUS_OK) status = optimization_create(&s->optimization, &s->task, &options, &diagnostics);
  for (int k = 0; k < diagnostics.count && status != STATUS_OK; k++) print_error("%s\n", diagnostics.items[k].text);
  assert_int_equal(status, STATUS_OK);
  diagnostics_free(&diagnostics);
}

static void seek(Sought* s) {
  Diagnostics diagnostics = {0};
  assert_int_equal(optimization_start(s->optimization, &diagnostics), STATUS_OK);
  while (optimization_stop(s->optimization) == STOP_NOT_YET)
    assert_int_equal(optimization_advance(s->optimization), STATUS_OK);
  diagnostics_free(&diagnostics);
}

static void end(Sought* s) {
  optimization_destroy(s->optimization);
  task_free(&s->task);
}

static int invalid_rows(const Sought* s) { return optimization_rejected(s->optimization).invalid; }

/* A box of edge 0.2 m in front of a wall. The loss wants the box behind the wall. */
static const char WALL[] =
    "seed: 1\n"
    "scene:\n"
    "  simulation: {dt: 0.001, steps: 2, gravity: [0, 0, 0], integrator: first_order}\n"
    "  links:\n"
    "    - {name: wall, fixed: true, shape: {type: half_space, normal: [1, 0, 0]}}\n"
    "    - {name: box, mass: 1, position: [0.13, 0, 0], shape: {type: box, size: [0.2, 0.2, 0.2]}}\n"
    "initial: [{link: box, coordinates: true, dof: [0], within: 0.5}]\n"
    "loss: [{type: point, link: box, target: [-1, 0, 0], power: 2, from: 0, to: 0.002}]\n"
    "optimizer: {type: %s, iterations: %d, control_step: 0.02}\n";

static void searches_end_at_the_gap_O22(void** state) {
  (void)state;
  static const char* const methods[] = {"lbfgs", "adam", "gradient", "step_bounded", "cma_es"};
  for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
    Sought s;
    Text text = {0};
    text_add(&text, WALL, methods[m], m == 4 ? 150 : 30);
    create(&s, text.data);
    seek(&s);
    Model model = {0};
    Diagnostics diagnostics = {0};
    OptimizationVariable v = optimization_variable(s.optimization, 0);
    assert_int_equal(optimization_model(s.optimization, 0, &v.best, &model, &diagnostics), STATUS_OK);
    double gap = 0.13 + v.best - v.initial - 0.1; /* of the box's face over the wall */
    if (!(gap > 0 && gap < 1e-3)) fail_msg("%s: gap %g m", methods[m], gap);
    assert_int_equal(invalid_rows(&s), 0);
    assert_int_equal(optimization_start_pair_count(s.optimization), 1);
    assert_string_equal(optimization_start_pair(s.optimization, 0).text, "'wall' and 'box'");
    model_destroy(&model);
    diagnostics_free(&diagnostics);
    text_free(&text);
    end(&s);
  }
}

/* A box of 0.1 m that is to become flat, and may be 0.05 m thin. */
static const char THIN[] =
    "scene:\n"
    "  simulation: {dt: 0.001, steps: 2, gravity: [0, 0, 0], integrator: first_order}\n"
    "  links: [{name: box, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}}]\n"
    "design: {min_thickness: 0.05, vertices: [{link: box, axes: [z], within: 0.2}]}\n"
    "loss: [{type: extent, link: box, direction: [0, 0, 1]}]\n"
    "optimizer: {type: gradient, iterations: 12, design_step: 0.004}\n";

static void thin_hulls_take_trials_back(void** state) {
  (void)state;
  Sought s;
  create(&s, THIN);
  seek(&s);
  double extent = optimization_best_loss(s.optimization);
  if (!(extent >= 0.05 && extent < 0.052)) fail_msg("extent %.6g m", extent);
  assert_int_equal(invalid_rows(&s), 0);
  end(&s);
}

/* Vertices, a joint's origin and an initial angle move two boxes on arms. One box rotates into the other. */
static const char ARMS[] =
    "scene:\n"
    "  simulation: {dt: 0.001, steps: 2, gravity: [0, 0, 0], integrator: first_order}\n"
    "  links:\n"
    "    - {name: ground, fixed: true, shape: {type: half_space}, position: [0, 0, -0.4]}\n"
    "    - {name: a, mass: 1, joint: {type: hinge, axis: [0, 1, 0]},\n"
    "       shapes: [{type: box, size: [0.1, 0.1, 0.5], position: [0, 0, -0.13]}]}\n"
    "    - {name: b, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [0.3, 0, 0]},\n"
    "       shapes: [{type: box, size: [0.1, 0.1, 0.5], position: [0, 0, -0.12]}]}\n"
    "  initial: [{link: a, coordinates: [0.1]}, {link: b, coordinates: [0.2]}]\n"
    "design: {attachments: [{link: b, within: 1}], vertices: [{link: a, within: 1}]}\n"
    "initial: [{links: [a, b], coordinates: true, within: 1}]\n"
    "loss: [{type: point, link: b, target: [0, 0, 0]}]\n";

/* The derivative by every variable as start_gaps.c takes it, at the design that stands. */
static void slope_of(const Sought* s, Model* model, const StartGap* gap, double* slope) {
  Recording recording = {0};
  RecordReport report;
  Diagnostics diagnostics = {0};
  const RecordOptions options = {.threads = 1};
  ModelGradient gradient;
  recording_create(&recording, model, 0);
  assert_int_equal(recording_run(&recording, model, &options, &report, &diagnostics), STATUS_OK);
  LossSeeds seeds = loss_seeds_create(model, 0);
  model_gradient_create(&gradient, model);
  start_gap_seed(&recording, gap, &seeds);
  assert_true(optimization_run_adjoint(s->optimization, &recording, &seeds, 1, 1, &gradient).sound);
  optimization_add_gradient(s->optimization, 0, model, &gradient, slope);
  model_gradient_destroy(&gradient);
  loss_seeds_destroy(&seeds);
  recording_destroy(&recording);
  diagnostics_free(&diagnostics);
}

static double gap_at(const Sought* s, const double* x, const StartGap* gap) {
  Model model = {0};
  Diagnostics diagnostics = {0};
  assert_int_equal(optimization_model(s->optimization, 0, x, &model, &diagnostics), STATUS_OK);
  Pose* pose = MEMORY_NEW(Pose, model.link_count);
  model_poses(&model, model.initial_coordinates, pose);
  double value = start_gap(&model, pose, gap);
  memory_free(pose);
  model_destroy(&model);
  diagnostics_free(&diagnostics);
  return value;
}

/* Central differences of two steps: the error falls with the square of the step. */
static void check_slope(const Sought* s, double* x, const StartGap* gap, const double* slope) {
  int count = optimization_variable_count(s->optimization);
  for (int k = 0; k < count; k++) {
    double kept = x[k], error[2];
    for (int i = 0; i < 2; i++) {
      double h = i == 0 ? 1e-3 : 1e-4, value[2];
      for (int side = 0; side < 2; side++) {
        x[k] = kept + (side == 0 ? h : -h);
        value[side] = gap_at(s, x, gap);
      }
      error[i] = fabs((value[0] - value[1]) / (2 * h) - slope[k]);
      x[k] = kept;
    }
    if (!(error[1] < 1e-8 || error[1] < 0.02 * error[0]))
      fail_msg("%s: slope %.12g, errors %g and %g", optimization_variable(s->optimization, k).name, slope[k], error[0],
               error[1]);
  }
}

static void gaps_have_derivatives_O22(void** state) {
  (void)state;
  Sought s;
  create(&s, ARMS);
  int count = optimization_variable_count(s.optimization), found = 0, angle = -1;
  double *x = MEMORY_NEW(double, count), *slope = MEMORY_NEW(double, count);
  for (int k = 0; k < count; k++) {
    OptimizationVariable v = optimization_variable(s.optimization, k);
    x[k] = v.initial;
    if (strcmp(v.name, "b/coordinate/0") == 0) angle = k;
  }
  assert_true(angle >= 0);
  Model standing = {0}, trial = {0};
  Diagnostics diagnostics = {0};
  StartGap gaps[64];
  assert_int_equal(optimization_model(s.optimization, 0, x, &standing, &diagnostics), STATUS_OK);
  x[angle] = 0.8; /* turned into the other arm */
  assert_int_equal(optimization_model(s.optimization, 0, x, &trial, &diagnostics), STATUS_BAD_INPUT);
  x[angle] = 0.2;
  found = find_start_gaps(&standing, &trial, 1, 2, 1e-4, gaps, 64);
  assert_true(found > 0);
  for (int g = 0; g < found; g++) {
    memset(slope, 0, sizeof(double) * (size_t)count);
    slope_of(&s, &standing, &gaps[g], slope);
    check_slope(&s, x, &gaps[g], slope);
  }
  memory_free(x);
  memory_free(slope);
  model_destroy(&standing);
  model_destroy(&trial);
  diagnostics_free(&diagnostics);
  end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(searches_end_at_the_gap_O22),
      cmocka_unit_test(thin_hulls_take_trials_back),
      cmocka_unit_test(gaps_have_derivatives_O22),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
