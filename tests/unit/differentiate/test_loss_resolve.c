/* Tests which losses of a task are refused, and at which line. Also tests windows and random targets. */
#include "differentiate/loss.h"
#include "loss_testing.h"

#include <stdio.h>
#include <string.h>

/* 10 steps of 0.1 s. */
#define SCENE                                                                                                  \
  "simulation: {dt: 0.1, steps: 10, integrator: first_order}\n"                                                \
  "shapes: {ball: {type: sphere, radius: 0.1}, plane: {type: half_space}}\n"                                   \
  "links:\n"                                                                                                   \
  "  - {name: ground, fixed: true, shape: plane}\n"                                                            \
  "  - {name: wall, fixed: true, shape: plane, rotation: [0.6, 0, 0.8, 0]}\n"                                  \
  "  - {name: upper arm, joint: {type: hinge, axis: [0, 1, 0], position: [9, 0, 9]}, mass: 1, shape: ball}\n"  \
  "  - {name: lower arm, joint: {type: hinge, axis: [0, 1, 0], position: [19, 0, 9]}, mass: 1, shape: ball}\n" \
  "  - {name: marker, fixed: true}\n"                                                                          \
  "  - {name: slider, joint: {type: slide, axis: [0, 1, 0], position: [29, 0, 9]}, shape: ball}\n"             \
  "controllers:\n"                                                                                             \
  "  - {link: upper arm, type: pd, position_gain: 1, target: 0}\n"                                             \
  "  - {link: slider, type: prescribed, target: 0}\n"                                                          \
  "  - {link: slider, type: pd, position_gain: 1, target: 1}\n"

typedef struct {
  Run* run;
  Diagnostics diagnostics;
  LossTerm term;
} Resolved;

static Resolved resolve(TaskLoss source, int steps, uint64_t seed, int scenario, int index) {
  Resolved r = {.run = run_model("%s", SCENE)};
  Task task = {.seed = seed};
  source.place = (SourcePosition){"task.yaml", 5, 3};
  source.link.place = (SourcePosition){"task.yaml", 6, 9};
  source.other.place = (SourcePosition){"task.yaml", 7, 9};
  const LossContext origin = {&task, &source, scenario, index, &r.run->model, steps, &r.diagnostics};
  loss_resolve(&r.term, &origin);
  return r;
}

static void release(Resolved* r) {
  loss_hulls_free(&r->term);
  diagnostics_free(&r->diagnostics);
  run_free(r->run);
}

/* wanted: "line: text", one line each. */
static void expect(TaskLoss source, const char* wanted) {
  Resolved r = resolve(source, 10, 0, 0, 0);
  Text found = {0};
  text_add(&found, "%s", "");
  for (int i = 0; i < r.diagnostics.count; i++)
    text_add(&found, "%d: %s\n", r.diagnostics.items[i].line, r.diagnostics.items[i].text);
  assert_string_equal(found.data, wanted);
  text_free(&found);
  release(&r);
}

static TaskLoss pair_of(TaskLossType type, const char* link, const char* other) {
  TaskLoss loss = loss_of(type, link);
  loss.other.text = name_text(other);
  loss.margin = 1;
  return loss;
}

static void links_are_looked_up(void** state) {
  (void)state;
  expect(loss_of(LOSS_POINT, "upper arm"), "");
  expect(loss_of(LOSS_POINT, "uper arm"), "6: no link is named 'uper arm' (did you mean 'upper arm'?)\n");
  expect(loss_of(LOSS_POINT, "zeppelin"), "6: no link is named 'zeppelin'\n");
  expect(loss_of(LOSS_POINT, NULL), "5: needs 'link'\n");
  expect(loss_of(LOSS_RELATIVE, "marker"), "5: needs 'other'\n");
  expect(pair_of(LOSS_RELATIVE, "groun", "marcer"),
         "6: no link is named 'groun' (did you mean 'ground'?)\n"
         "7: no link is named 'marcer' (did you mean 'marker'?)\n");
  expect(loss_of(LOSS_SHAPE, "lover arm"), "6: no link is named 'lover arm' (did you mean 'lower arm'?)\n");
}

static void kinds_look_at_their_links(void** state) {
  (void)state;
  expect(loss_of(LOSS_EFFORT, NULL), "");
  expect(loss_of(LOSS_EFFORT, "lower arm"),
         "6: no drive moves the joint of 'lower arm': add a controller of type pd, velocity or torque, or name another "
         "link\n");
  expect(loss_of(LOSS_EFFORT, "slider"),
         "6: no drive moves the joint of 'slider': add a controller of type pd, velocity or torque, or name another "
         "link\n");
  expect(loss_of(LOSS_SMOOTHNESS, "slider"), "");
  expect(loss_of(LOSS_SMOOTHNESS, "lower arm"),
         "6: no controller drives the joint of 'lower arm': add a controller, or name another link\n");
  expect(loss_of(LOSS_SHAPE, NULL), "");
  expect(loss_of(LOSS_VOLUME, "ground"),
         "6: 'ground' has no shape with vertices: give the link a box, points or a mesh, or name another link\n");
  expect(loss_of(LOSS_ROUGHNESS, "marker"),
         "6: 'marker' has no shape with vertices: give the link a box, points or a mesh, or name another link\n");
  expect(pair_of(LOSS_GAP, "ground", "lower arm"), "");
  expect(pair_of(LOSS_GAP, "lower arm", "lower arm"), "7: 'link' and 'other' are both 'lower arm': name two links\n");
  expect(pair_of(LOSS_GAP, "marker", "lower arm"),
         "6: 'marker' has no shape, so it has no gap: give it a shape, or name another link\n");
  expect(pair_of(LOSS_GAP, "lower arm", "marker"),
         "7: 'marker' has no shape, so it has no gap: give it a shape, or name another link\n");
  expect(pair_of(LOSS_GAP, "ground", "wall"), "5: two half-spaces have no gap: name a link with a bounded shape\n");
}

static void directions_are_unit(void** state) {
  (void)state;
  TaskLoss loss = loss_of(LOSS_ORIENTATION, "marker");
  expect(loss,
         "5: 'axis' is zero and has no direction: give another vector\n5: 'target' is zero and has no direction: give "
         "another vector\n");
  loss.axis = vec3(0, 3, 4);
  loss.target = vec3(HUGE_VAL, 0, 0);
  expect(loss, "5: 'target' is zero and has no direction: give another vector\n");
  loss.target = vec3(0, 0, 1e-200);
  expect(loss, "5: 'target' is zero and has no direction: give another vector\n");
  loss.target = vec3(0, 0, -1e-100);
  Resolved r = resolve(loss, 10, 0, 0, 0);
  compare_vec3(r.term.axis, vec3(0, 0.6, 0.8), 1e-15, "axis");
  compare_vec3(r.term.target, vec3(0, 0, -1), 1e-15, "target");
  release(&r);
  expect(loss_of(LOSS_TRAVEL, "marker"), "5: 'direction' is zero and has no direction: give another vector\n");
}

/* ---------------------------------------------------------------- windows */

static TaskLoss within(TaskLossType type, double from, double to) {
  TaskLoss loss = loss_of(type, "upper arm");
  loss.other.text = name_text("lower arm");
  loss.direction = loss.axis = loss.target = vec3(1, 0, 0);
  loss.from = from;
  loss.to = to;
  return loss;
}

static void expect_window(TaskLoss source, int steps, int first, int last, int reference) {
  Resolved r = resolve(source, steps, 0, 0, 0);
  if (r.diagnostics.count > 0) fail_msg("refused: %s", r.diagnostics.items[0].text);
  if (source.type != LOSS_RELATIVE) reference = r.term.reference; /* no other looks at it */
  if (r.term.first != first || r.term.last != last || r.term.reference != reference)
    fail_msg("kind %d, from %g to %g: states %d to %d against %d, wanted %d to %d against %d", (int)source.type,
             source.from, source.to, r.term.first, r.term.last, r.term.reference, first, last, reference);
  release(&r);
}

static void windows_by_default(void** state) {
  (void)state;
  static const TaskLossType end[] = {LOSS_POINT, LOSS_REACH, LOSS_ORIENTATION};
  for (int i = 0; i < 3; i++) expect_window(within(end[i], -1, -1), 10, 10, 10, 0);
  expect_window(within(LOSS_RELATIVE, -1, -1), 10, 10, 10, 0);
  static const TaskLossType run[] = {LOSS_TRAVEL, LOSS_SMOOTHNESS, LOSS_GAP};
  for (int i = 0; i < 3; i++) expect_window(within(run[i], -1, -1), 10, 0, 10, 0);
  static const TaskLossType steps[] = {LOSS_VELOCITY, LOSS_EFFORT, LOSS_FORCE};
  for (int i = 0; i < 3; i++) expect_window(within(steps[i], -1, -1), 10, 1, 10, 0);
  expect_window(within(LOSS_POINT, -1, -1), 7, 7, 7, 0); /* the horizon, not the scene's own length */
}

/* With one end given, the other is the run's. Times that are states but for rounding: 0.1 + 0.2 > 0.3, 0.1 * 3 > 0.3.
 */
static void windows_as_given(void** state) {
  (void)state;
  expect_window(within(LOSS_POINT, 0.5, -1), 10, 5, 10, 0);
  expect_window(within(LOSS_POINT, -1, 0.5), 10, 0, 5, 0);
  expect_window(within(LOSS_POINT, 0.1 + 0.2, 0.3), 10, 3, 3, 0);
  expect_window(within(LOSS_POINT, 0.1 * 3, 0.7), 10, 3, 7, 0);
  expect_window(within(LOSS_POINT, 0.301, 0.699), 10, 4, 6, 0);
  expect_window(within(LOSS_POINT, 0, 1.0000000001), 10, 0, 10, 0);
  expect_window(within(LOSS_VELOCITY, 0, 0.2), 10, 1, 2, 0);
  expect_window(within(LOSS_RELATIVE, 0.2, 0.6), 10, 3, 6, 2);
  expect_window(within(LOSS_RELATIVE, 0.9, -1), 10, 10, 10, 9);
  expect_window(within(LOSS_TRAVEL, 0.2, 0.3), 10, 2, 3, 0);
}

static void windows_that_are_refused(void** state) {
  (void)state;
  expect(within(LOSS_POINT, 1.2, -1), "5: 'from' (1.2 s) lies outside of the run: give a time from 0 to 1 s\n");
  expect(within(LOSS_POINT, 1.2, 1.3),
         "5: 'from' (1.2 s) lies outside of the run: give a time from 0 to 1 s\n"
         "5: 'to' (1.3 s) lies outside of the run: give a time from 0 to 1 s\n");
  expect(within(LOSS_POINT, -0.5, -1), "5: 'from' (-0.5 s) lies outside of the run: give a time from 0 to 1 s\n");
  expect(within(LOSS_POINT, NAN, -1), "5: 'from' (nan s) lies outside of the run: give a time from 0 to 1 s\n");
  expect(within(LOSS_POINT, 1e300, -1), "5: 'from' (1e+300 s) lies outside of the run: give a time from 0 to 1 s\n");
  expect(within(LOSS_POINT, 0.6, 0.4),
         "5: the window begins at 0.6 s, after its end at 0.4 s: 'from' must not exceed 'to'\n");
  expect(within(LOSS_POINT, 0.62, 0.68),
         "5: the window has 0 recorded states, but needs 1: lengthen the window; there is one state every 0.1 s\n");
  expect(within(LOSS_TRAVEL, 0.6, 0.6),
         "5: the window has 1 recorded states, but needs 2: lengthen the window; there is one state every 0.1 s\n");
  expect(within(LOSS_RELATIVE, 1, -1),
         "5: the window has 1 recorded states, but needs 2: lengthen the window; there is one state every 0.1 s\n");
  expect(within(LOSS_VELOCITY, 0, 0),
         "5: the window has 0 recorded states, but needs 1: lengthen the window; there is one state every 0.1 s, "
         "beginning after the first step\n");
  TaskLoss loss = within(LOSS_POINT, 2, -1);
  loss.link.text = name_text("marke");
  expect(loss,
         "6: no link is named 'marke' (did you mean 'marker'?)\n"
         "5: 'from' (2 s) lies outside of the run: give a time from 0 to 1 s\n");
}

/* ---------------------------------------------------------------- random targets */

static Vec3 drawn(Vec3 spread, uint64_t seed, int scenario, int index) {
  TaskLoss loss = loss_of(LOSS_POINT, "marker");
  loss.target = vec3(10, 20, 30);
  loss.spread = spread;
  Resolved r = resolve(loss, 10, seed, scenario, index);
  Vec3 target = r.term.target;
  release(&r);
  return target;
}

static void targets_without_spread_stay(void** state) {
  (void)state;
  compare_vec3(drawn(vec3(0, 0, 0), 7, 2, 3), vec3(10, 20, 30), 0, "target");
}

/* Same seed, scenario and loss: the same. Any of them another: another. One axis' spread does not touch the others. */
static void targets_follow_from_seed_scenario_and_loss(void** state) {
  (void)state;
  Vec3 spread = vec3(1, 2, 3), first = drawn(spread, 7, 2, 3);
  compare_vec3(drawn(spread, 7, 2, 3), first, 0, "again");
  assert_true(vec3_norm(vec3_sub(drawn(spread, 8, 2, 3), first)) > 1e-3);
  assert_true(vec3_norm(vec3_sub(drawn(spread, 7, 3, 3), first)) > 1e-3);
  assert_true(vec3_norm(vec3_sub(drawn(spread, 7, 2, 4), first)) > 1e-3);
  assert_true(vec3_norm(vec3_sub(drawn(spread, 7, 3, 2), first)) > 1e-3);
  compare_vec3(drawn(vec3(1, 0, 3), 7, 2, 3), vec3(first.x, 20, first.z), 0, "no spread along y");
}

/* Uniform in the box: mean 0 and variance 1/3 of the half-width, within 5 standard errors of 2000 draws. */
static void targets_fill_the_box(void** state) {
  (void)state;
  const int count = 2000;
  Run* run = run_model("%s", SCENE);
  Task task = {.seed = 94};
  TaskLoss source = loss_of(LOSS_POINT, "marker");
  source.spread = vec3(1, 1, 1);
  Vec3 mean = {0, 0, 0}, square = {0, 0, 0};
  Diagnostics diagnostics = {0};
  for (int k = 0; k < count; k++) {
    const LossContext origin = {&task, &source, k % 50, k / 50, &run->model, 10, &diagnostics};
    LossTerm term;
    loss_resolve(&term, &origin);
    Vec3 t = term.target;
    assert_true(fabs(t.x) <= 1 && fabs(t.y) <= 1 && fabs(t.z) <= 1);
    mean = vec3_add_scaled(mean, 1.0 / count, t);
    square = vec3_add_scaled(square, 1.0 / count, vec3(t.x * t.x, t.y * t.y, t.z * t.z));
  }
  double error = sqrt(1.0 / 3 / count), square_error = sqrt((1.0 / 5 - 1.0 / 9) / count);
  compare_vec3(mean, vec3(0, 0, 0), 5 * error, "mean, seed 94");
  compare_vec3(square, vec3(1.0 / 3, 1.0 / 3, 1.0 / 3), 5 * square_error, "variance, seed 94");
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(links_are_looked_up),
      cmocka_unit_test(kinds_look_at_their_links),
      cmocka_unit_test(directions_are_unit),
      cmocka_unit_test(windows_by_default),
      cmocka_unit_test(windows_as_given),
      cmocka_unit_test(windows_that_are_refused),
      cmocka_unit_test(targets_without_spread_stay),
      cmocka_unit_test(targets_follow_from_seed_scenario_and_loss),
      cmocka_unit_test(targets_fill_the_box),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
