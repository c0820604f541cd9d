/* Tests the gradient check itself. It must pass right and fail wrong gradients, leave the scene unchanged, and
 * recognize flat faces. */
#include "differentiate/gradcheck.h"

#include <string.h>

#include "support/blocks.h"
#include "support/runs.h"

static const char SWINGS[] =
    "simulation: {dt: 0.01, steps: 20%s, integrator: first_order}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: rod, %s, shape: {type: box, size: [0.1, 0.1, 0.4]}, joint: {type: hinge, axis: [0, 1, 0], position: "
    "[0, 0, 1]}}\n"
    "initial: [{link: rod, coordinates: [1.2]}]\n";

static Run* expanded(const char* simulation, const char* mass) {
  Run* run = run_model(SWINGS, simulation, mass);
  model_expand_shapes(&run->model, &run->scene);
  model_destroy(&run->model);
  assert_int_equal(model_create(&run->model, &run->scene, &run->diagnostics), STATUS_OK);
  return run;
}

static GradcheckOptions options_with(double bound) {
  return (GradcheckOptions){.blocks = (1u << GRADCHECK_BLOCKS) - 1,
                            .directions = 2,
                            .tolerance = 1e-12,
                            .bound = bound,
                            .seed = 3,
                            .threads = 1};
}

static void gradcheck_passes_and_leaves_the_scene_alone(void** state) {
  (void)state;
  Run* run = expanded("", "mass: 1, mass_model: vertices");
  GradcheckOptions options = options_with(1e-8);
  GradcheckReport report;
  double before[24], after[24];
  block_read(&run->scene, &run->model, GRADCHECK_VERTICES, before);
  assert_int_equal(gradcheck_scene(&run->scene, &run->model, NULL, &options, &report, &run->diagnostics), STATUS_OK);
  assert_true(report.passed && report.adjoint.sound);
  for (int b = 0; b < GRADCHECK_BLOCKS; b++) {
    const GradcheckBlockReport* block = &report.block[b];
    assert_int_equal(block->directions, block->count > 0 ? 2 : 0); /* no signals, no contact */
    if (block->count == 0 || block->norm < 1e-6) continue;         /* a mass does not change how it swings */
    if (!(block->order > 1.8 && block->order < 2.2) && isfinite(block->order))
      fail_msg("%s: order %g", gradcheck_block_name((GradcheckBlock)b), block->order);
    compare_at_most(block->error, 1e-8, "%s: error", gradcheck_block_name((GradcheckBlock)b));
    compare_at_most(block->resolution, 1e-6, "%s: resolution", gradcheck_block_name((GradcheckBlock)b));
  }
  block_read(&run->scene, &run->model, GRADCHECK_VERTICES, after);
  compare_bytes(after, before, sizeof before, "the scene's vertices");
  run_free(run);
}

/* Two bars in one line between posts: a run that depends on the tolerance, or does not close to it. */
static void gradcheck_J15_says_nothing_of_a_singular_position(void** state) {
  (void)state;
  static const char TAUT[] =
      "simulation: {dt: 0.01, steps: 2, integrator: first_order}\n"
      "contact: {model: none}\n"
      "shapes: {bar: {type: box, size: [0.8, 0.1, 0.1]}}\n"
      "links:\n"
      "  - {name: left, mass: 1, mass_model: vertices, joint: {type: hinge, axis: [0, 1, 0], position: [-1, 0, 0]}, "
      "shapes: [{shape: bar, "
      "position: [0.5, 0, 0]}]}\n"
      "  - {name: right, parent: left, mass: 1, mass_model: vertices, joint: {type: hinge, axis: [0, 1, 0], position: "
      "[1, 0, 0]}, shapes: "
      "[{shape: bar, position: [0.5, 0, 0]}]}\n"
      "closures: [{type: hinge, a: right, b: world, point: [1, 0, 0], axis: [0, 1, 0]}]\n";
  for (int fine = 0; fine < 2; fine++) {
    Run* run = run_model(TAUT);
    GradcheckOptions options = options_with(1e-6);
    GradcheckReport report;
    options.blocks = 1u << GRADCHECK_MASS;
    options.tolerance = fine ? 1e-12 : 1e-8;
    assert_int_equal(gradcheck_scene(&run->scene, &run->model, NULL, &options, &report, &run->diagnostics), STATUS_OK);
    const GradcheckBlockReport* mass = &report.block[GRADCHECK_MASS];
    assert_true(report.passed && !report.checked);
    assert_int_equal(report.loop_open, fine);
    assert_int_equal(mass->singular, !fine);
    if (!fine) assert_int_equal(mass->verdict, GRADCHECK_UNCHECKED);
    run_free(run);
  }
}

/* A motor, a prescribed joint, a load and a tendon with signals. Inputs of the two controllers have the right gradient
 * from the first step to the last (J19). */
static void gradcheck_J19_inputs_of_all_steps(void** state) {
  (void)state;
  static const char DRIVEN[] =
      "simulation: {dt: 0.01, steps: 15}\n"
      "links:\n"
      "  - {name: table, mass: 1, shape: {type: box, size: [1, 1, 0.1]}, joint: {type: slide, axis: [1, 0, 0]}}\n"
      "  - {name: box, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [0, 0, 0.105]}\n"
      "  - {name: arm, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.4]}, joint: {type: hinge, axis: [0, 1, 0], "
      "position: [0, 2, 1]}}\n"
      "controllers:\n"
      "  - {link: table, type: prescribed, target: {type: sines, terms: [{amplitude: 0.02, frequency: 2}]}}\n"
      "  - {link: arm, type: torque, target: 0.3}\n"
      "loads: [{link: box, force: [0.1, 0.2, 0]}]\n"
      "tendons: [{stiffness: 20, rest_length: 0.5, tension: 0.5, points: [{link: world, point: [0.3, 2, 1]}, {link: "
      "arm, point: [0, 0, -0.3]}]}]\n";
  Run* run = run_model(DRIVEN);
  GradcheckOptions options = options_with(1e-6);
  GradcheckReport report;
  options.blocks = 1u << GRADCHECK_INPUT;
  options.accepted_resolution = 1e-5;
  assert_int_equal(gradcheck_scene(&run->scene, &run->model, NULL, &options, &report, &run->diagnostics), STATUS_OK);
  const GradcheckBlockReport* input = &report.block[GRADCHECK_INPUT];
  assert_int_equal(input->count, 2 * 15);
  assert_int_equal(input->verdict, GRADCHECK_RIGHT);
  assert_true(input->norm > 1e-3);
  run_free(run);
}

/* An error below the resolution of the differences gives neither "pass" nor "fail". */
static void gradcheck_says_what_it_cannot_check(void** state) {
  (void)state;
  Run* run = expanded("", "mass: 1, mass_model: vertices");
  GradcheckOptions options = options_with(1e-30);
  GradcheckReport report;
  assert_int_equal(gradcheck_scene(&run->scene, &run->model, NULL, &options, &report, &run->diagnostics), STATUS_OK);
  assert_true(report.passed);
  assert_false(report.checked);
  assert_int_equal(report.block[GRADCHECK_STATE].verdict, GRADCHECK_UNCHECKED);
  assert_true(report.block[GRADCHECK_STATE].resolution > 1e-30);
  run_free(run);
}

/* One free body in flight falls alike whatever it weighs: the gradient by mass is rounding, as are the differences; all
 * other blocks are checked. */
static void gradcheck_of_one_free_body_by_mass(void** state) {
  (void)state;
  static const char FLIGHT[] =
      "simulation: {dt: 0.01, steps: 20, integrator: %s}\n"
      "contact: {model: none}\n"
      "links: [{name: box, mass: %s, mass_model: vertices, shape: {type: box, size: [0.1, 0.2, 0.3]}}]\n"
      "initial: [{link: box, velocities: [1, 2, 3, 4, 5, 6]}]\n";
  static const char* const integrators[] = {"first_order", "second_order"};
  static const char* const masses[] = {"1.0e-5", "1.0", "1.0e+7"};
  for (int k = 0; k < 6; k++) {
    Run* run = run_model(FLIGHT, integrators[k / 3], masses[k % 3]);
    model_expand_shapes(&run->model, &run->scene);
    model_destroy(&run->model);
    assert_int_equal(model_create(&run->model, &run->scene, &run->diagnostics), STATUS_OK);
    GradcheckOptions options = options_with(1e-6);
    GradcheckReport report;
    assert_int_equal(gradcheck_scene(&run->scene, &run->model, NULL, &options, &report, &run->diagnostics), STATUS_OK);
    if (report.block[GRADCHECK_MASS].verdict != GRADCHECK_UNCHECKED || !report.passed)
      fail_msg("%s kg: mass: error %g, resolution %g", masses[k % 3], report.block[GRADCHECK_MASS].error,
               report.block[GRADCHECK_MASS].resolution);
    assert_int_equal(report.block[GRADCHECK_STATE].verdict, GRADCHECK_RIGHT);
    run_free(run);
  }
}

static bool interrupted_at_once(void) { return true; }

/* (J5) No load rotates the wheel, so the inertial forces at its vertices are zero except for rounding errors of its
 * position. They are below 1e-12 of the other blocks and must not cause the verdict "wrong". */
static void gradcheck_J5_knows_the_rounding_of_what_does_not_move(void** state) {
  (void)state;
  Run* run = run_model(
      "simulation: {dt: 0.002, steps: 30, integrator: second_order}\n"
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: wheel, mass: 1, mass_model: vertices, joint: {type: hinge, axis: [0, 0, 1], position: [0.6, 0, 0]}, "
      "shape: {type: box, "
      "size: "
      "[0.05, 0.05, 2]}}\n"
      "  - {name: cab, mass: 5, mass_model: vertices, joint: {type: slide, axis: [0, 0, 1]}, shape: {type: box, size: "
      "[0.4, 0.3, 0.1]}}\n");
  GradcheckOptions options = options_with(1e-6);
  GradcheckReport report;
  assert_int_equal(gradcheck_scene(&run->scene, &run->model, NULL, &options, &report, &run->diagnostics), STATUS_OK);
  const GradcheckBlockReport* vertices = &report.block[GRADCHECK_VERTICES];
  assert_true(vertices->norm < 1e-9 * report.block[GRADCHECK_STATE].norm);
  assert_int_equal(vertices->verdict, GRADCHECK_UNCHECKED);
  compare_at_most(vertices->norm, report.adjoint.rounding, "the gradient that is none");
  assert_int_equal(report.block[GRADCHECK_STATE].verdict, GRADCHECK_RIGHT);
  run_free(run);
}

static void gradcheck_says_that_it_was_interrupted(void** state) {
  (void)state;
  Run* run = expanded("", "mass: 1, mass_model: vertices");
  GradcheckOptions options = options_with(1e-6);
  GradcheckReport report;
  options.interrupted = interrupted_at_once;
  assert_int_equal(gradcheck_scene(&run->scene, &run->model, NULL, &options, &report, &run->diagnostics),
                   STATUS_INTERRUPTED);
  run_free(run);
}

/* Differences of runs with another damping than the one the gradient was taken at: off by some percent. */
static void gradcheck_sees_a_gradient_that_is_wrong(void** state) {
  (void)state;
  Run* run = expanded("", "mass: 1, mass_model: vertices");
  run->model.links[0].damping[0] = 0.05; /* the models of the differences are built from the scene, which has none */
  GradcheckOptions options = options_with(1e-4);
  GradcheckReport report;
  assert_int_equal(gradcheck_scene(&run->scene, &run->model, NULL, &options, &report, &run->diagnostics), STATUS_OK);
  assert_false(report.passed);
  assert_true(report.block[GRADCHECK_STATE].error > 1e-3);
  assert_int_equal(report.block[GRADCHECK_STATE].verdict, GRADCHECK_WRONG);
  assert_true(report.block[GRADCHECK_STATE].resolution < 1e-6);
  run_free(run);
}

static void gradcheck_reports_a_step_that_is_not_solved(void** state) {
  (void)state;
  Run* run = expanded(", max_iterations: 1", "mass: 1, mass_model: vertices");
  run->model.initial_velocities[0] = 30;
  GradcheckOptions options = options_with(1e-6);
  GradcheckReport report;
  assert_int_equal(gradcheck_scene(&run->scene, &run->model, NULL, &options, &report, &run->diagnostics),
                   STATUS_SOLVER);
  assert_false(report.passed);
  assert_true(report.run.failed_step >= 1);
  run_free(run);
}

/* Only where a volume weighs, and only until the corners have left the faces' planes. */
static void gradcheck_makes_flat_faces_generic(void** state) {
  (void)state;
  static const struct {
    const char* mass;
    bool flat;
  } rows[] = {{"mass: 1, mass_model: vertices", false},
              {"density: 300, mass_model: vertices", true},
              {"mass: 1, mass_model: uniform", true},
              {"mass: 1", true},
              {"mass: 1, inertia: [1, 1, 1, 0, 0, 0]", false}};
  for (int k = 0; k < 4; k++) {
    Run* run = expanded("", rows[k].mass);
    double before[24] = {0}, after[24] = {0};
    block_read(&run->scene, &run->model, GRADCHECK_VERTICES, before);
    if (gradcheck_has_flat_faces(&run->model) != rows[k].flat) fail_msg("%s: wanted %d", rows[k].mass, rows[k].flat);
    gradcheck_make_generic(&run->scene, &run->model, 1);
    block_read(&run->scene, &run->model, GRADCHECK_VERTICES, after);
    assert_int_equal(memcmp(before, after, sizeof before) != 0, rows[k].flat);
    for (int i = 0; i < 24; i++) compare_near(after[i], before[i], 0.031 * 0.2, "%s: vertex moved", rows[k].mass);
    model_destroy(&run->model);
    assert_int_equal(model_create(&run->model, &run->scene, &run->diagnostics), STATUS_OK);
    assert_false(gradcheck_has_flat_faces(&run->model));
    run_free(run);
  }
}

/* The probe: zero at its own run, and its seeds are its derivative, as it is linear in the poses and rates. */
static void probe_is_linear_in_poses_and_rates(void** state) {
  (void)state;
  Run* run = expanded("", "mass: 1, mass_model: vertices");
  Recording base, other;
  RecordOptions options = {.threads = 1, .tolerance = 1e-10};
  RecordReport report;
  recording_create(&base, &run->model, 20);
  recording_create(&other, &run->model, 20);
  assert_int_equal(recording_run(&base, &run->model, &options, &report, &run->diagnostics), STATUS_OK);
  run->model.initial_velocities[0] = 0.7;
  assert_int_equal(recording_run(&other, &run->model, &options, &report, &run->diagnostics), STATUS_OK);
  Probe* probe = probe_create(&base, 5);
  LossSeeds seeds = loss_seeds_create(&run->model, 20);
  compare_near(probe_evaluate(probe, &base, &seeds), 0, 0, "at its own run");
  double sum = 0;
  for (int row = 0; row <= 20; row++) {
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) sum += seeds.pose[row][i][j] * (other.pose[row].r.m[i][j] - base.pose[row].r.m[i][j]);
    Vec3 d = vec3_sub(other.pose[row].t, base.pose[row].t);
    sum += seeds.pose[row][0][3] * d.x + seeds.pose[row][1][3] * d.y + seeds.pose[row][2][3] * d.z;
    sum += seeds.rate[row] * (other.rate[row] - base.rate[row]);
  }
  compare_relative(probe_evaluate(probe, &other, NULL), sum, 1e-13, "at another run");
  assert_true(fabs(sum) > 1e-3);
  loss_seeds_destroy(&seeds);
  probe_destroy(probe);
  recording_destroy(&base);
  recording_destroy(&other);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradcheck_passes_and_leaves_the_scene_alone),
      cmocka_unit_test(gradcheck_says_what_it_cannot_check),
      cmocka_unit_test(gradcheck_J15_says_nothing_of_a_singular_position),
      cmocka_unit_test(gradcheck_of_one_free_body_by_mass),
      cmocka_unit_test(gradcheck_J5_knows_the_rounding_of_what_does_not_move),
      cmocka_unit_test(gradcheck_J19_inputs_of_all_steps),
      cmocka_unit_test(gradcheck_says_that_it_was_interrupted),
      cmocka_unit_test(gradcheck_sees_a_gradient_that_is_wrong),
      cmocka_unit_test(gradcheck_reports_a_step_that_is_not_solved),
      cmocka_unit_test(gradcheck_makes_flat_faces_generic),
      cmocka_unit_test(probe_is_linear_in_poses_and_rates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
