/* Tests a scene's numbers as flat vectors: reading returns the written values, sizes and scales are right, and the
 * gradient has the same order. */
#include "differentiate/gradcheck.h"

#include <string.h>

#include "support/blocks.h"
#include "support/runs.h"

static const char SCENE[] =
    "simulation: {dt: 0.01, steps: 50, integrator: first_order}\n"
    "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-8, friction: 0.4, smoothing: 1.0e-4}\n"
    "shapes: {brick: {type: box, size: [0.2, 0.1, 0.1]}}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: box, mass: 1.5, shape: brick, position: [0, 0, 0.11]}\n"
    "  - {name: arm, parent: box, density: 300, shapes: [brick, {shape: brick, position: [0, 0, 0.3]}], joint: {type: "
    "ball, position: [0, 0, 0.2]}}\n"
    "  - {name: lift, joint: {type: slide, axis: [0, 0, 1], position: [5, 0, 1]}}\n"
    "controllers:\n"
    "  - {link: arm, type: pd, position_gain: 3, target: {type: sines, offset: [0.1, 0.2, 0.3], terms: [[{amplitude: "
    "1, "
    "frequency: 2, phase: 3}], [{amplitude: 4, frequency: 5, phase: 6}], [{amplitude: 7, frequency: 8, phase: 9}]]}}\n"
    "  - {link: lift, type: prescribed, target: {type: keyframes, times: [0, 1], values: [[0.5], [0.6]]}}\n";

static Run* expanded(void) {
  Run* run = run_model("%s", SCENE);
  model_expand_shapes(&run->model, &run->scene);
  model_destroy(&run->model);
  assert_int_equal(model_create(&run->model, &run->scene, &run->diagnostics), STATUS_OK);
  return run;
}

static void blocks_have_the_models_sizes(void** state) {
  (void)state;
  Run* run = expanded();
  const int wanted[GRADCHECK_BLOCKS] = {2 * (6 + 3 + 1), 12 + 2, 3 * 24, 3 * 4, 2, 5, 0, 2 * 1 + 4 * (1 + 3)};
  /* of the drives: a delay each, four gains a degree of freedom */
  for (int b = 0; b < GRADCHECK_BLOCKS; b++) assert_int_equal(block_size(&run->model, (GradcheckBlock)b), wanted[b]);
  run_free(run);
}

static void blocks_read_what_was_written(void** state) {
  (void)state;
  Run* run = expanded();
  for (int b = 1; b < GRADCHECK_BLOCKS; b++) {
    GradcheckBlock block = (GradcheckBlock)b;
    int count = block_size(&run->model, block);
    double *old = MEMORY_NEW(double, count), *new = MEMORY_NEW(double, count), *found = MEMORY_NEW(double, count);
    block_read(&run->scene, &run->model, block, old);
    for (int k = 0; k < count; k++) new[k] = 100 * b + k;
    block_write(&run->scene, &run->model, block, new);
    block_read(&run->scene, &run->model, block, found);
    compare_bytes(found, new, sizeof(double) * (size_t)count, "%s", gradcheck_block_name(block));
    block_write(&run->scene, &run->model, block, old);
    block_read(&run->scene, &run->model, block, found);
    compare_bytes(found, old, sizeof(double) * (size_t)count, "%s, put back", gradcheck_block_name(block));
    memory_free(old);
    memory_free(new);
    memory_free(found);
  }
  run_free(run);
}

/* Numbers whose place in the scene is known. */
static void blocks_are_in_the_models_order(void** state) {
  (void)state;
  Run* run = expanded();
  double x[80] = {0};
  block_read(&run->scene, &run->model, GRADCHECK_MASS, x);
  compare_near(x[0], 1.5, 0, "mass");
  compare_near(x[1], 300, 0, "density");
  block_read(&run->scene, &run->model, GRADCHECK_CONTACT, x);
  compare_near(x[CONTACT_SUPPORT], 2e-3, 0, "support");
  compare_near(x[CONTACT_STIFFNESS], 1e-8, 0, "stiffness");
  compare_near(x[CONTACT_FRICTION], 0.4, 0, "friction");
  compare_near(x[CONTACT_SMOOTHING], 1e-4, 0, "smoothing");
  block_read(&run->scene, &run->model, GRADCHECK_ATTACHMENTS, x);
  compare_near(x[3 * 1 + 2], 0.11, 0, "the box stands");
  compare_near(x[3 * 3], 5, 0, "the lift's joint");
  block_read(&run->scene, &run->model, GRADCHECK_CONTROL, x);
  const double control[14] = {0.1, 0.2, 0.3, 1, 4, 7, 2, 5, 8, 3, 6, 9, 0.5, 0.6};
  compare_bytes(x, control, sizeof control, "offsets, amplitudes, frequencies, phases; keyframes");
  block_read(&run->scene, &run->model, GRADCHECK_VERTICES, x);
  for (int k = 0; k < 24; k++) {
    const Vec3 v = run->model.hulls[1 + k / 8].solid.vertices[k % 8];
    const double wanted[3] = {v.x, v.y, v.z};
    compare_bytes(x + 3 * k, wanted, sizeof wanted, "vertex %d", k);
  }
  run_free(run);
}

/* Masses of density links by their density: dm/d density = m / density. The rest is copied. */
static void blocks_gradient_is_in_the_same_order(void** state) {
  (void)state;
  Run* run = expanded();
  const Model* m = &run->model;
  ModelGradient g;
  model_gradient_create(&g, m);
  for (int i = 0; i < m->link_count; i++) g.mass[i] = 10 + i;
  for (int k = 0; k < m->dof_count; k++) g.coordinates[k] = k, g.velocities[k] = -k;
  for (int k = 0; k < CONTACT_OWN; k++) g.contact[k] = 3 + k;
  g.attachments[2] = vec3(7, 8, 9);
  double x[80];
  block_gradient(m, GRADCHECK_MASS, &g, x);
  compare_near(x[0], 11, 0, "by the mass");
  compare_relative(x[1], 12 * (m->links[2].mass / 300), 1e-14, "by the density");
  compare_relative(m->links[2].mass, 300 * 2 * 0.002, 1e-12, "two bricks");
  block_gradient(m, GRADCHECK_STATE, &g, x);
  for (int k = 0; k < m->dof_count; k++) {
    compare_near(x[k], k, 0, "coordinate");
    compare_near(x[m->dof_count + k], -k, 0, "velocity");
  }
  block_gradient(m, GRADCHECK_CONTACT, &g, x);
  compare_bytes(x, g.contact, sizeof(double[CONTACT_OWN]), "contact");
  block_gradient(m, GRADCHECK_ATTACHMENTS, &g, x);
  compare_near(x[3 * 2 + 1], 8, 0, "attachment");
  model_gradient_destroy(&g);
  run_free(run);
}

/* Nothing moves along a number of scale zero: prescribed coordinates, gains that do nothing; all else has a scale. */
static void blocks_scale_leaves_out_what_is_prescribed(void** state) {
  (void)state;
  Run* run = expanded();
  const Model* m = &run->model;
  double scale[80];
  int lift = m->links[run_link(run, "lift")].dof_first;
  block_scale(m, GRADCHECK_STATE, scale);
  for (int k = 0; k < 2 * m->dof_count; k++) compare_near(scale[k], k % m->dof_count == lift ? 0 : 1, 0, "state %d", k);
  for (int b = 1; b < GRADCHECK_BLOCKS; b++) {
    if (b == GRADCHECK_GAINS) continue;
    block_scale(m, (GradcheckBlock)b, scale);
    for (int k = 0; k < block_size(m, (GradcheckBlock)b); k++)
      if (!(scale[k] > 0)) fail_msg("%s, number %d: scale %g", gradcheck_block_name((GradcheckBlock)b), k, scale[k]);
  }
  block_scale(m, GRADCHECK_CONTROL, scale);
  compare_relative(scale[6], 0.1 / 0.5, 1e-14, "a frequency by the run's 0.5 s");
  run_free(run);
}

/* A grain of 1e-8 kg, 1e-4 m large, for 0.1 s: 1e-10 N take it so far. */
static void blocks_scale_loads_by_what_they_are_and_do(void** state) {
  (void)state;
  Run* run = run_model(
      "simulation: {dt: 0.01, steps: 10, integrator: first_order}\n"
      "links: [{name: grain, mass: 1.0e-8, shape: {type: points, points: [[1.0e-4, 0, 0], [0, 1.0e-5, 0], [0, 0, "
      "1.0e-5], [-1.0e-5, 0, 0]]}}]\n"
      "loads: [{link: grain, force: [0, 3.0e-9, 0], torque: [0, 0, 0]}]\n");
  double scale[6];
  assert_int_equal(block_size(&run->model, GRADCHECK_CONTROL), 6);
  block_scale(&run->model, GRADCHECK_CONTROL, scale);
  for (int k = 0; k < 3; k++) compare_relative(scale[k], 3e-10, 1e-12, "a tenth of the force's largest number");
  for (int k = 3; k < 6; k++) compare_relative(scale[k], 1e-15, 1e-12, "a tenth of 1e-10 N times 1e-4 m");
  run_free(run);
}

/* A gain of 0 has the scale of a significant gain: 1 kg on a spring of 400 N/m for 0.5 s, critically damped by 40 N
 * s/m. */
static void blocks_scale_gains_that_are_zero_by_the_others(void** state) {
  (void)state;
  Run* run = run_model(
      "simulation: {dt: 0.01, steps: 50, integrator: first_order}\n"
      "links: [{name: cart, mass: 1, shape: {type: box, size: [1, 1, 1]}, joint: {type: slide, axis: [1, 0, 0]}}]\n"
      "controllers: [{link: cart, type: pd, position_gain: 400, target: 0}]\n");
  double scale[8];
  assert_int_equal(block_size(&run->model, GRADCHECK_GAINS), 5);
  block_scale(&run->model, GRADCHECK_GAINS, scale);
  compare_near(scale[0], 0, 0, "a delay that there is not");
  compare_relative(scale[1], 40, 1e-14, "a tenth of the stiffness");
  compare_relative(scale[2], 0.1 * 20 * 0.01, 1e-14, "velocity gain: a tenth of the damping's, times dt");
  compare_relative(scale[3], 0.1 * 20, 1e-14, "damping: a tenth of the root of stiffness and mass");
  compare_near(scale[4], 0, 0, "a limit that there is not");
  run_free(run);
}

static void blocks_move_the_state_by_increments(void** state) {
  (void)state;
  Run* run = expanded();
  Model* m = &run->model;
  double d[20], old[10], found[JOINT_MAX_DOF], *before = MEMORY_NEW(double, m->coordinate_count);
  memcpy(before, m->initial_coordinates, sizeof(double) * (size_t)m->coordinate_count);
  memcpy(old, m->initial_velocities, sizeof old);
  for (int k = 0; k < 20; k++) d[k] = 1e-4 * (k + 1);
  perturb_state(m, d);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    joint_difference(&link->joint, before + link->coordinate_first, m->initial_coordinates + link->coordinate_first,
                     found);
    for (int k = 0; k < link->dof_count; k++) /* equal to second order */
      compare_near(found[k], d[link->dof_first + k], 1e-6, "link %d, coordinate %d", i, k);
  }
  for (int k = 0; k < 10; k++) compare_near(m->initial_velocities[k] - old[k], d[10 + k], 1e-15, "velocity %d", k);
  memory_free(before);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_have_the_models_sizes),
      cmocka_unit_test(blocks_read_what_was_written),
      cmocka_unit_test(blocks_are_in_the_models_order),
      cmocka_unit_test(blocks_gradient_is_in_the_same_order),
      cmocka_unit_test(blocks_scale_leaves_out_what_is_prescribed),
      cmocka_unit_test(blocks_scale_loads_by_what_they_are_and_do),
      cmocka_unit_test(blocks_scale_gains_that_are_zero_by_the_others),
      cmocka_unit_test(blocks_move_the_state_by_increments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
