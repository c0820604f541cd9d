/* Tests runs that start from a state of another run. The file's text gives the same bits, gradients take the state as a
 * constant, and invalid states are refused. */
#include <string.h>

#include "differentiate/differentiate.h"
#include "support/busy.h"
#include "support/long.h"
#include "support/runs.h"

enum { KEPT_AT = 40, STEPS = 30 };

/* ---------------------------------------------------------------- from run to run */

/* Through the text of a file, as it would be read from a disk. */
static NumberFile* through_text(Sim* sim) {
  NumberFile file, *read = MEMORY_NEW(NumberFile, 1);
  Diagnostics diagnostics = {0};
  Text text = {0};
  sim_state_file(sim, &file);
  number_file_format(&file, &text);
  assert_int_equal(number_file_parse(read, STATE_KIND, "a state", text.data, text.length, &diagnostics), STATUS_OK);
  text_free(&text);
  number_file_free(&file);
  return read;
}

static void begin_in(Scene* scene, void* state) { scene_set_start(scene, state); }

/* The busy scene, `steps` steps on. */
static Run* busy_run(double dt, const char* integrator, int substeps, int steps) {
  Run* run = run_create(1, 0, BUSY_SCENE, dt, integrator, substeps, 300);
  run_steps(run, steps);
  return run;
}

static Run* continued(Run* before, double dt, const char* integrator, int substeps) {
  return run_create_edited(3, 0, begin_in, through_text(before->sim), BUSY_SCENE, dt, integrator, substeps, 300);
}

static void compare_states(const Run* a, const Run* b, const char* what, int step) {
  const SimState *x = sim_state(a->sim), *y = sim_state(b->sim);
  size_t nq = sizeof(double) * (size_t)a->model.coordinate_count, nv = sizeof(double) * (size_t)a->model.dof_count;
  if (memcmp(&x->time, &y->time, sizeof(double)) != 0) fail_msg("%s, step %d: time", what, step);
  if (memcmp(x->q, y->q, nq) != 0) fail_msg("%s, step %d: coordinates", what, step);
  if (memcmp(x->rate, y->rate, nv) != 0) fail_msg("%s, step %d: rates", what, step);
  if (memcmp(x->momentum, y->momentum, sizeof(Vec3) * (size_t)a->model.link_count) != 0)
    fail_msg("%s, step %d: momenta", what, step);
}

static void check_going_on(double dt, const char* integrator, int substeps, int kept_at) {
  Run *run = busy_run(dt, integrator, substeps, kept_at), *next = continued(run, dt, integrator, substeps);
  assert_int_equal(next->model.start_step, kept_at);
  compare_states(run, next, integrator, kept_at);
  for (int step = 1; step <= STEPS; step++) {
    run_steps(run, 1);
    run_steps(next, 1);
    compare_states(run, next, integrator, kept_at + step);
  }
  run_free(next);
  run_free(run);
}

static void goes_on_from_a_file(void** state) {
  (void)state;
  check_going_on(0.005, "first_order", 1, KEPT_AT);
  check_going_on(0.005, "second_order", 1, KEPT_AT);
  check_going_on(0.005, "momentum", 1, KEPT_AT);
  check_going_on(0.01, "second_order", 3, KEPT_AT);
}

/* What the initial velocities do in the first steps is in the state. */
static void goes_on_from_the_first_steps(void** state) {
  (void)state;
  for (int kept_at = 1; kept_at <= 2; kept_at++) {
    check_going_on(0.005, "first_order", 1, kept_at);
    check_going_on(0.005, "second_order", 1, kept_at);
    check_going_on(0.005, "momentum", 1, kept_at);
  }
}

/* Drives that measure late look back beyond the state that they go on from; one for longer than it has run. */
static const char LATE[] =
    "simulation: {dt: 0.01, steps: 1000, integrator: %s, substeps: %d, gravity: [0, 0, -9.8]}\n"
    "contact: {barrier_distance: 4.0e-3, friction: 0.4}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: cart, joint: {type: slide, axis: [1, 0, 0], position: [0, 0, 0.4]}, mass: 1, shape: {type: box, size: "
    "[0.4, 0.2, 0.1]}}\n"
    "  - {name: box, mass: 0.3, position: [0.3, 0, 0.0505], shape: {type: box, size: [0.1, 0.1, 0.1]}}\n"
    "controllers:\n"
    "  - {link: cart, type: torque, target: 0.2, delay: 0.0735, feedback: {measures: [cart/position, cart/vx, box/px, "
    "box/fz], matrix: [-20, -2, 3, 0.1]}}\n"
    "  - {link: cart, type: pd, position_gain: 5, target: 0, delay: 9, feedback: {measures: [box/vx], matrix: [0.1]}}\n"
    "initial:\n  - {link: box, velocities: [0.4, 0.1, 0, 0, 0, 0]}\n";

/* The same bits through the text of a state kept in the first steps and later. text: as run_create's. */
static void check_scene_going_on(const char* text) {
  static const char* const integrators[] = {"first_order", "second_order", "momentum"};
  for (int k = 0; k < 3; k++)
    for (int kept_at = 1; kept_at <= 61; kept_at += kept_at < 5 ? 1 : 28) {
      if (!tests_pair(kept_at, k, 3)) continue;
      Run* run = run_create(1, 0, text, integrators[k], 1 + k % 2);
      run_steps(run, kept_at);
      Run* next = run_create_edited(1, 0, begin_in, through_text(run->sim), text, integrators[k], 1 + k % 2);
      for (int step = 0; step < 40; step++) {
        compare_states(run, next, integrators[k], kept_at + step);
        run_steps(run, 1);
        run_steps(next, 1);
      }
      run_free(next);
      run_free(run);
    }
}

static void goes_on_with_late_feedback_E6(void** state) {
  (void)state;
  check_scene_going_on(LATE);
}

/* Loops are foretold by the steps before: what a state says of them lasts. */
static const char LOOP[] =
    "simulation: {dt: 0.01, steps: 1000, integrator: %s, substeps: %d, gravity: [0, 0, -9.8]}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: crank, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, shape: {type: box, size: [0.4, 0.05, 0.05]}}\n"
    "  - {name: rod, parent: crank, joint: {type: hinge, axis: [0, 1, 0], position: [0.2, 0, 0]}, mass: 0.5, shape: "
    "{type: "
    "box, size: [0.6, 0.04, 0.04]}}\n"
    "closures:\n"
    "  - {type: distance, a: rod, point: [0.5, 0, 0], axis: [1, 0, 1], length: 0.4}\n";

static void goes_on_with_a_loop_Z10(void** state) {
  (void)state;
  check_scene_going_on(LOOP);
}

/* What the aim of a machine has of its closures' forces is not in a state: it is found again. */
static const char MACHINE[] =
    "simulation: {dt: 0.005, steps: 1000, integrator: %s, substeps: %d}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: crank, mass: 0.4, joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, 1]}, shape: {type: box, size: "
    "[0.1, 0.04, 0.2]}}\n"
    "  - {name: rod, parent: crank, mass: 0.3, joint: {type: ball, position: [0, 0, 0.1]}, shape: {type: box, size: "
    "[0.3, "
    "0.03, 0.04]}}\n"
    "  - {name: rocker, mass: 0.5, joint: {type: hinge, axis: [0.1, 1, 0], position: [0.2, 0, 1]}, shape: {type: box, "
    "size: [0.1, 0.04, 0.4]}}\n"
    "  - {name: wheel, mass: 0.6, joint: {type: hinge, axis: [0, 0, 1], position: [0.5, 0, 1]}, shape: {type: box, "
    "size: "
    "[0.1, 0.2, 0.04]}}\n"
    "closures: [{type: ball, a: rod, b: rocker, point: [0.15, 0, 1.2]}]\n"
    "couplings: [{link: wheel, of: rocker, ratio: 2.5}]\n"
    "controllers: [{link: crank, type: prescribed, target: {type: sines, terms: [{amplitude: 0.3, frequency: "
    "1.3}]}}]\n";

static void goes_on_with_a_machine_W17(void** state) {
  (void)state;
  check_scene_going_on(MACHINE);
}

/* ---------------------------------------------------------------- gradients */

/* Not those by what is a constant. memory: bytes that the run may take; 0: all is kept. */
static void judge_gradients(Run* next, const char* integrator, double memory) {
  GradcheckOptions options = {.blocks = ~0u,
                              .directions = 1,
                              .steps = 12,
                              .tolerance = 1e-11,
                              .bound = 1e-5,
                              .seed = 3,
                              .threads = 1,
                              .memory = memory};
  GradcheckReport* report = MEMORY_NEW(GradcheckReport, 1);
  model_expand_shapes(&next->model, &next->scene);
  gradcheck_make_generic(&next->scene, &next->model, 1);
  model_destroy(&next->model);
  assert_int_equal(model_create(&next->model, &next->scene, &next->diagnostics), STATUS_OK);
  assert_int_equal(gradcheck_scene(&next->scene, &next->model, NULL, &options, report, &next->diagnostics), STATUS_OK);
  assert_true(report->adjoint.sound);
  for (int b = 0; b < GRADCHECK_BLOCKS; b++) {
    const GradcheckBlockReport* block = &report->block[b];
    bool constant = b == GRADCHECK_STATE || b == GRADCHECK_ATTACHMENTS || b == GRADCHECK_MATERIAL ||
                    b == GRADCHECK_CLOSURES || b == GRADCHECK_TENDONS || b == GRADCHECK_BUSHINGS ||
                    b == GRADCHECK_SHAPES || b == GRADCHECK_INPUT; /* the last six: none */
    print_message("%s %s: %d numbers, |g| = %.3g, error %.2e, resolution %.1e\n", integrator,
                  gradcheck_block_name((GradcheckBlock)b), block->count, block->norm, block->error, block->resolution);
    assert_true(constant ? block->count == 0 : block->norm > 1e-6);
    assert_true(constant || (block->verdict != GRADCHECK_WRONG && block->error <= options.bound));
  }
  memory_free(report);
}

static void check_gradients(const char* integrator, int substeps, double memory) {
  Run *run = busy_run(0.005, integrator, substeps, KEPT_AT), *next = continued(run, 0.005, integrator, substeps);
  judge_gradients(next, integrator, memory);
  run_free(next);
  run_free(run);
}

static void run_A1_gradients_with_the_state_as_a_constant(void** state) {
  (void)state;
  check_gradients("first_order", 1, 0);
  check_gradients("second_order", 2, 0);
  check_gradients("momentum", 1, 0);
}

/* So little memory that parts of the run are gone through again. */
static void begin_under_long_range(Scene* scene, void* state) {
  scene_set_start(scene, state);
  scene->contact.model = CONTACT_LONG_RANGE;
  scene->contact.support = scene->contact.stiffness = 0;
}

/* A state at hand, not a file's, may be of another law: poses and velocities are those of the state, contact begins. */
static void goes_on_under_another_law(void** state) {
  (void)state;
  for (int substeps = tests_count(3, 1); substeps <= 3; substeps += 2) {
    Run* run = busy_run(0.005, "first_order", substeps, KEPT_AT);
    NumberFile* at_hand = MEMORY_NEW(NumberFile, 1);
    sim_state_file(run->sim, at_hand);
    Run* next =
        run_create_edited(3, 0, begin_under_long_range, at_hand, BUSY_SCENE, 0.005, "first_order", substeps, 300);
    compare_states(run, next, "another law", KEPT_AT);
    run_steps(next, STEPS);
    judge_gradients(next, "long_range", 0);
    run_free(next);
    run_free(run);
  }
}

static void run_A18_gradients_in_parts(void** state) {
  (void)state;
  check_gradients("second_order", 1, 15e3);
}

/* Signals, and losses of them, go by the run's own time: effort of a drive over the steps 41 to 50 of a whole run and
 * over the ten steps of one that begins there. */
static void losses_count_from_the_start_and_signals_by_the_clock(void** state) {
  (void)state;
  static const char scene[] =
      "simulation: {dt: 0.01, steps: %d, integrator: first_order}\ncontact: {model: none}\nlinks:\n  - {name: arm, "
      "mass: 1, joint: {type: "
      "hinge, "
      "axis: [0, 1, 0]}, shapes: [{type: box, size: [0.1, 0.1, 0.4], position: [0, 0, -0.2]}]}\ncontrollers:\n  - "
      "{link: arm, type: pd, position_gain: 3, damping_gain: 0.1, target: {type: sines, terms: [{amplitude: 0.5, "
      "frequency: 2}]}}\n";
  Run *run = run_create(1, 0, scene, 50), *half = run_create(1, 0, scene, 40);
  run_steps(half, 40);
  Run* next = run_create_edited(1, 0, begin_in, through_text(half->sim), scene, 10);
  TaskLoss losses[2] = {{.type = LOSS_EFFORT, .weight = 1, .power = 1},
                        {.type = LOSS_SMOOTHNESS, .weight = 1, .power = 1}};
  TaskScenario scenario = {.weight = 1};
  Task task = {.losses = losses, .loss_count = 2, .scenarios = &scenario, .scenario_count = 1};
  double whole[2], rest[2];
  for (int k = 0; k < 2; k++) {
    Run* of = k == 0 ? run : next;
    losses[0].from = losses[1].from = k == 0 ? 0.41 : 0.01;
    losses[0].to = losses[1].to = k == 0 ? 0.5 : 0.1;
    Loss* loss;
    Recording recording;
    RecordReport report;
    RecordOptions options = {.threads = 1};
    assert_int_equal(loss_create(&loss, &task, 0, &of->model, &of->diagnostics), STATUS_OK);
    recording_create(&recording, &of->model, of->model.simulation.steps);
    assert_int_equal(recording_run(&recording, &of->model, &options, &report, &of->diagnostics), STATUS_OK);
    loss_evaluate(loss, &recording, k == 0 ? whole : rest, NULL);
    recording_destroy(&recording);
    loss_destroy(loss);
  }
  print_message("effort %.17g and %.17g, smoothness %.17g and %.17g\n", whole[0], rest[0], whole[1], rest[1]);
  assert_true(whole[0] > 0 && whole[1] > 0);
  assert_true(fabs(whole[0] - rest[0]) <= 1e-12 * whole[0] && fabs(whole[1] - rest[1]) <= 1e-12 * whole[1]);
  run_free(next);
  run_free(half);
  run_free(run);
}

/* ---------------------------------------------------------------- refused states */

/* The busy scene with other values of its four numbers, and what the message must tell. */
static void expect_refusal(NumberFile* state, double dt, const char* integrator, const char* edit,
                           const char* message) {
  Scene scene;
  Model model;
  Diagnostics diagnostics = {0};
  Text text = {0};
  text_add(&text, BUSY_SCENE, dt, integrator, 1, 300);
  SceneOverride override = {edit};
  assert_int_equal(
      scene_parse(&scene, "inline.yaml", text.data, text.length, false, &override, edit != NULL, &diagnostics),
      STATUS_OK);
  scene_set_start(&scene, state);
  Status status = model_create(&model, &scene, &diagnostics);
  if (status == STATUS_OK) {
    Sim* sim;
    SimOptions options = {.threads = 1};
    status = sim_create(&sim, &model, &options, &diagnostics);
    assert_true(status == STATUS_OK || !sim);
  }
  assert_int_equal(status, STATUS_BAD_INPUT);
  assert_true(diagnostics.error_count > 0);
  if (!strstr(diagnostics.items[diagnostics.count - 1].text, message))
    fail_msg("'%s' does not tell of '%s'", diagnostics.items[diagnostics.count - 1].text, message);
  diagnostics_free(&diagnostics);
  text_free(&text);
  model_destroy(&model);
  scene_free(&scene);
}

static void refuses_states_of_other_scenes(void** state) {
  (void)state;
  Run* run = busy_run(0.005, "first_order", 1, 3);
  expect_refusal(through_text(run->sim), 0.004, "first_order", NULL, "another simulation.dt or integrator");
  expect_refusal(through_text(run->sim), 0.005, "momentum", NULL, "another simulation.dt or integrator");
  expect_refusal(through_text(run->sim), 0.005, "first_order", "links.fly.position=[0, 0, 9]", "other links or joints");
  expect_refusal(through_text(run->sim), 0.005, "first_order", "shapes.brick={type: sphere, radius: 0.05}",
                 "other numbers of vertices in the hulls");
  expect_refusal(through_text(run->sim), 0.005, "first_order", "contact.exclude=[[low, high]]",
                 "other pairs in contact");
  expect_refusal(through_text(run->sim), 0.005, "first_order", "shapes.brick.size=[2, 2, 2]", "makes bodies intersect");
  run_free(run);
}

static NumberArray* array_of(NumberFile* file, const char* name) {
  for (int k = 0; k < file->count; k++)
    if (strcmp(file->arrays[k].name, name) == 0) return &file->arrays[k];
  fail_msg("the state has no %s", name);
  return NULL;
}

/* Under a right hash: too few numbers, too many, every number in turn replaced by one that no state has. */
static void refuses_damaged_states(void** state) {
  (void)state;
  Run* run = busy_run(0.005, "first_order", 1, 30);
  NumberFile* file = through_text(run->sim);
  array_of(file, "state")->count--;
  expect_refusal(file, 0.005, "first_order", NULL, "is incomplete, because another version of sdrs");
  file = through_text(run->sim);
  array_of(file, "step")->bits[0] = (uint64_t)-5;
  expect_refusal(file, 0.005, "first_order", NULL, "is damaged");
  int count = array_of(file = through_text(run->sim), "state")->count, refused = 0;
  const uint64_t bad = 0x7ff8dead00000001; /* no number, and no index of anything */
  scene_set_start(&run->scene, file);
  model_destroy(&run->model);
  assert_int_equal(model_create(&run->model, &run->scene, &run->diagnostics), STATUS_OK);
  uint64_t* words = array_of(file, "state")->bits;
  for (int k = 0; k < count; k++) {
    uint64_t good = words[k];
    words[k] = bad;
    Sim* sim;
    SimOptions options = {.threads = 1};
    if (sim_create(&sim, &run->model, &options, &run->diagnostics) == STATUS_OK)
      sim_destroy(sim);
    else
      refused++;
    words[k] = good;
  }
  print_message("%d of %d numbers that are none are found out at once\n", refused, count);
  assert_true(refused > count / 5);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(goes_on_with_late_feedback_E6),
      cmocka_unit_test(goes_on_with_a_loop_Z10),
      cmocka_unit_test(goes_on_with_a_machine_W17),
      cmocka_unit_test(goes_on_from_a_file),
      cmocka_unit_test(goes_on_from_the_first_steps),
      cmocka_unit_test(run_A1_gradients_with_the_state_as_a_constant),
      cmocka_unit_test(goes_on_under_another_law),
      cmocka_unit_test(run_A18_gradients_in_parts),
      cmocka_unit_test(losses_count_from_the_start_and_signals_by_the_clock),
      cmocka_unit_test(refuses_states_of_other_scenes),
      cmocka_unit_test(refuses_damaged_states),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
