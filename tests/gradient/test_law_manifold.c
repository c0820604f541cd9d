/* Contact on manifolds in runs: gradients of all blocks against central differences, closed forms of rest and sliding,
 * momentum, and what the other laws refuse: hollow bodies. */
#include <string.h>

#include "gradient/rows.h"
#include "support/runs.h"

#define EGG EGG_OF("1")
#define BOX                                                                                                  \
  "{type: smooth_polytope, normals: [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], " \
  "offsets: [0.1, 0.1, 0.1, 0.1, 0.1, 0.1], sharpness: 200, resolution: 2}"

/* Edges count here: the width is a good part of the bodies. */
static void run_X8_X12_two_shapes_rub(void** state) {
  (void)state;
  check_gradients(
      "two shapes", 8,
      "simulation: {dt: 0.005, tolerance: 1e-10, integrator: first_order}\n"
      "contact: {model: manifold, stiffness: 1e5, friction: 0.4, exponent: 2, activity_width: 0.01}\n"
      "links:\n"
      "  - {name: egg, density: 1000, shape: " EGG
      ", rpy: [0.1, 0.2, 0.3]}\n"
      "  - {name: cone, mass: 4, position: [0.215, 0, 0.05], rpy: [0, 1, 0.2], shape: {type: truncated_cone, "
      "bottom_radius: 0.12, top_radius: 0.06, below: 0.1, above: 0.12, sharpness: 20, resolution: 1}}\n" EGG_FLIES,
      ALL_BLOCKS, 1e-6);
}

static void run_X12_on_a_moving_half_space(void** state) {
  (void)state;
  check_gradients("a half-space that moves", 8, EGG_ON_A_MOVING_HALF_SPACE("model: manifold", EGG), ALL_BLOCKS, 1e-6);
}

/* A union has no parameters; it is weighed anew in every trial, so the state alone is asked for. */
static void run_X12_a_union_lands_on_a_shape(void** state) {
  (void)state;
  check_gradients("a union", 6,
                  "simulation: {dt: 0.005, tolerance: 1e-10, integrator: first_order}\n"
                  "contact: {model: manifold, stiffness: 1e5, friction: 0.3, edges: 6, activity_width: 0.005}\n"
                  "shapes: {ball: {type: superellipsoid, size: [0.1, 0.1, 0.1], exponent: 1}}\n"
                  "links:\n"
                  "  - {name: egg, mass: 2, position: [0, 0, 0.1], shape: " EGG
                  "}\n"
                  "  - {name: nut, mass: 3, position: [0.02, 0.01, 0.335], shape: {type: union, smoothing: 0.005, "
                  "resolution: 1, of: [ball, {shape: ball, position: [0.12, 0, 0]}]}}\n" EGG_FLIES,
                  1 << GRADCHECK_STATE, 1e-6);
}

#define CUBE "{type: box, size: [0.2, 0.2, 0.2]}"
#define OF_POLYHEDRA (ALL_BLOCKS & ~(1U << GRADCHECK_SHAPES))

/* Flat faces of four corners bend when a single corner moves. With mass_model: vertices the check keeps faces flat. */
static void run_Y13_a_box_slides(void** state) {
  (void)state;
  check_gradients("a box that slides", 8,
                  "simulation: {dt: 0.005, tolerance: 1e-10}\n"
                  "contact: {model: manifold, stiffness: 1e5, friction: 0.3}\n"
                  "links:\n"
                  "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                  "  - {name: box, mass: 2, mass_model: vertices, position: [0, 0, 0.099], shape: " CUBE
                  "}\n"
                  "initial: [{link: box, velocities: [1, 0.3, -0.1, 0.2, 0.1, 0.5]}]\n",
                  OF_POLYHEDRA, 1e-6);
}

static void run_Y13_a_box_on_a_box(void** state) {
  (void)state;
  check_gradients("a box on a box", 8,
                  "simulation: {dt: 0.005, tolerance: 1e-10, integrator: first_order}\n"
                  "contact: {model: manifold, stiffness: 1e5, friction: 0.3, activity_width: 0.004}\n"
                  "links:\n"
                  "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                  "  - {name: low, mass: 2, mass_model: vertices, position: [0, 0, 0.0995], shape: " CUBE
                  "}\n"
                  "  - {name: high, mass: 1, mass_model: vertices, position: [0.05, 0.03, 0.2983], rpy: [0.005, 0.01, "
                  "0.5], shape: " CUBE
                  "}\n"
                  "initial: [{link: high, velocities: [0.5, 0.2, -0.1, 0.2, 0.1, 0.5]}]\n",
                  OF_POLYHEDRA, 1e-6);
}

/* An edge crosses an edge, away from all corners. */
static void run_Y13_X20_a_bar_across_a_bar(void** state) {
  (void)state;
  check_gradients("a bar across a bar", 8,
                  "simulation: {dt: 0.005, tolerance: 1e-10, integrator: first_order}\n"
                  "contact: {model: manifold, stiffness: 1e5, friction: 0.3, activity_width: 0.004}\n"
                  "links:\n"
                  "  - {name: low, fixed: true, rpy: [0.78, 0, 0], shape: {type: box, size: [0.5, 0.1, 0.1]}}\n"
                  "  - {name: high, mass: 1, position: [0.02, 0.01, 0.139], rpy: [0.02, 0.8, 0], shape: {type: box, "
                  "size: [0.1, 0.5, 0.1]}}\n"
                  "initial: [{link: high, velocities: [0.2, 0.2, -0.3, 0.2, 0.1, 0.5]}]\n",
                  OF_POLYHEDRA, 1e-6);
}

static void run_Y13_a_tetrahedron_tips(void** state) {
  (void)state;
  check_gradients("a tetrahedron that tips", 12,
                  "simulation: {dt: 0.005, tolerance: 1e-10}\n"
                  "contact: {model: manifold, stiffness: 1e5, friction: 0.5}\n"
                  "links:\n"
                  "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                  "  - {name: body, density: 1000, position: [0, 0, -0.001], shape: {type: points, points: [[0, 0, 0], "
                  "[0.2, 0, 0], [0, 0.2, 0], [0.3, 0.3, 0.25]]}}\n"
                  "initial: [{link: body, velocities: [0, 0, 0, 0.5, -0.4, 0]}]\n",
                  OF_POLYHEDRA, 1e-6);
}

static void run_Y13_a_smooth_shape_on_a_box(void** state) {
  (void)state;
  check_gradients("an egg on a box", 8,
                  "simulation: {dt: 0.005, tolerance: 1e-10, integrator: first_order}\n"
                  "contact: {model: manifold, stiffness: 1e5, friction: 0.4, edges: 6}\n"
                  "links:\n"
                  "  - {name: low, mass: 5, shape: " CUBE
                  "}\n"
                  "  - {name: egg, density: 1000, position: [0.02, 0, 0.247], rpy: [0.1, 0.1, 0.3], shape: " EGG
                  "}\n" EGG_FLIES,
                  ALL_BLOCKS, 1e-6);
}

/* A cube of 2 kg at rest: four corners, 4 kappa delta^p = m g. */
static void run_X10_X18_a_cube_at_rest_in_closed_form(void** state) {
  (void)state;
  Run* run = run_create(1, 0,
                        "simulation: {dt: 0.005, steps: 400, tolerance: 1e-10, integrator: first_order}\n"
                        "contact: {model: manifold, stiffness: 1e5, friction: 0.3}\n"
                        "links:\n"
                        "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                        "  - {name: box, mass: 2, position: [0, 0, 0.1], shape: " CUBE "}\n");
  run_steps(run, 400);
  compare_relative(0.1 - sim_state(run->sim)->pose[1].t.z, pow(2 * 9.81 / 4e5, 1 / 1.5), 1e-3, "depth at rest");
  run_free(run);
}

/* A cube lies off the middle of a larger box: its four corners carry it, in the depth of the closed form, and it does
 * not move aside. Edges side by side have no contact (X6b). */
static void run_X6b_a_cube_on_a_table_stays(void** state) {
  (void)state;
  Run* run = run_create(1, 0,
                        "simulation: {dt: 0.005, steps: 200, tolerance: 1e-10, integrator: first_order}\n"
                        "contact: {model: manifold, stiffness: 1e5, friction: 0}\n"
                        "links:\n"
                        "  - {name: table, fixed: true, shape: {type: box, size: [0.5, 0.4, 0.1]}}\n"
                        "  - {name: box, mass: 2, position: [0.05, 0.02, 0.15], shape: " CUBE "}\n");
  run_steps(run, 200);
  Vec3 at = sim_state(run->sim)->pose[1].t;
  compare_relative(0.15 - at.z, pow(2 * 9.81 / 4e5, 1 / 1.5), 2e-3, "depth at rest");
  compare_near(at.x, 0.05, 1e-6, "x");
  compare_near(at.y, 0.02, 1e-6, "y");
  run_free(run);
}

/* With mu = 2 a box of width w and height h on a slope tips where tan(angle) > w / h = 1/2, and does not slide. */
static void run_X9_a_box_tips_at_the_right_angle(void** state) {
  (void)state;
  for (int side = 0; side < 2; side++) {
    double tangent = side == 0 ? 0.5 * 0.97 : 0.5 * 1.03, angle = atan(tangent);
    Run* run =
        run_create(1, 0,
                   "simulation: {dt: 0.005, steps: 300, gravity: [%.15g, 0, %.15g], integrator: first_order}\n"
                   "contact: {model: manifold, stiffness: 1e7, friction: 2}\n"
                   "links:\n"
                   "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                   "  - {name: box, mass: 2, position: [0, 0, 0.2], shape: {type: box, size: [0.2, 0.2, 0.4]}}\n",
                   9.81 * sin(angle), -9.81 * cos(angle));
    run_steps(run, 300);
    Mat3 turn = sim_state(run->sim)->pose[1].r;
    assert_true(side == 0 ? turn.m[2][2] > 0.9999 : turn.m[2][2] < 0.9);
    run_free(run);
  }
}

/* Boxes that fall on a box and on the ground in random attitudes: kinetic and potential energy never exceed those of
 * the start by more than 0.1 %, and the boxes come to rest on something. Friction and damped impacts take the rest. */
static void run_X19_falling_boxes_gain_no_energy(void** state) {
  (void)state;
  Random random = {71};
  for (int round = 0; round < tests_count(4, 40); round++) {
    double turn[3];
    for (int k = 0; k < 3; k++) turn[k] = random_uniform(&random, -3, 3);
    Run* run = run_create(1, 0,
                          "simulation: {dt: 0.002, steps: 500}\n"
                          "contact: {model: manifold, friction: 0.4}\n"
                          "links:\n"
                          "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                          "  - {name: table, fixed: true, position: [0, 0, 0.1], shape: {type: box, size: [0.3, 0.3, "
                          "0.2]}}\n"
                          "  - {name: box, mass: 1, position: [%.9g, 0, 0.5], rpy: [%.9g, %.9g, %.9g], shape: {type: "
                          "box, size: [0.2, 0.15, 0.1]}}\n",
                          random_uniform(&random, -0.2, 0.2), turn[0], turn[1], turn[2]);
    double start = sim_measure(run->sim).total;
    for (int step = 0; step < 500; step++) {
      run_steps(run, 1);
      SimMeasure now = sim_measure(run->sim);
      if (!(now.total <= 1.001 * start))
        fail_msg("round %d, step %d: energy %.9g of %.9g", round, step, now.total, start);
    }
    assert_true(sim_state(run->sim)->pose[2].t.z > 0.045);
    run_free(run);
  }
}

/* A box of 2 kg at rest: every point of its lower face is as deep, n kappa delta^p = m g. The points are counted. */
static void run_X10_a_box_at_rest_in_closed_form(void** state) {
  (void)state;
  Run* run = run_create(1, 0,
                        "simulation: {dt: 0.005, steps: 400, tolerance: 1e-10, integrator: first_order}\n"
                        "contact: {model: manifold, stiffness: 1e5, friction: 0.3}\n"
                        "links:\n"
                        "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                        "  - {name: box, mass: 2, position: [0, 0, 0.1], shape: " BOX "}\n");
  const ModelHull* box = &run->model.hulls[1];
  double low = 0, high = 0.01, weight = 2 * 9.81;
  run_steps(run, 400);
  for (int round = 0; round < 60; round++) { /* sum over points of kappa max(0, -z - h)^p = m g, h the box's height */
    double force = 0, middle = 0.5 * (low + high);
    for (int i = 0; i < box->points.count; i++) {
      double deep = middle - 0.1 - box->points.z[i];
      if (deep > 0) force += 1e5 * pow(deep, 1.5);
    }
    if (force > weight)
      high = middle;
    else
      low = middle;
  }
  compare_relative(0.1 - sim_state(run->sim)->pose[1].t.z, low, 2e-3, "depth at rest");
  assert_true(low > 1e-5);
  run_free(run);
}

/* BOX slides by v^2 / (2 mu g) and stays; steps of length dt, at the end of which the speed holds, take v dt / 2 less.
 */
static void slide(const char* shape, double height) {
  Run* run = run_create(1, 0,
                        "simulation: {dt: 0.0005, steps: 1200, integrator: first_order}\n"
                        "contact: {model: manifold, stiffness: 1e6, friction: 0.3, smoothing: 1e-8}\n"
                        "links:\n"
                        "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                        "  - {name: box, mass: 2, position: [0, 0, %.9g], shape: %s}\n"
                        "initial: [{link: box, velocities: [1, 0, 0, 0, 0, 0]}]\n",
                        height, shape);
  run_steps(run, 1200);
  compare_relative(sim_state(run->sim)->pose[1].t.x, 1 / (2 * 0.3 * 9.81) - 0.5 * 0.0005, 2e-3, "way");
  run_free(run);
}

static void run_X11_a_box_slides_in_closed_form(void** state) {
  (void)state;
  slide(BOX, 0.09991);
  slide(CUBE, 0.1 - pow(2 * 9.81 / 4e6, 1 / 1.5));
}

/* Nothing outside: linear momentum stays what it is, whatever the contacts are. */
static void run_X9_momentum_of_two_that_meet(void** state) {
  (void)state;
  Run* run =
      run_create(1, 0,
                 "simulation: {dt: 0.005, steps: 60, gravity: [0, 0, 0], tolerance: 1e-12, integrator: first_order}\n"
                 "contact: {model: manifold, stiffness: 1e5, friction: 0.4}\n"
                 "links:\n"
                 "  - {name: a, mass: 2, shape: " EGG
                 "}\n"
                 "  - {name: b, mass: 3, position: [0.24, 0.05, 0.02], rpy: [0.3, 0.2, 0.1], shape: " EGG
                 "}\n"
                 "initial: [{link: a, velocities: [1, 0, 0, 2, 1, 0]}]\n");
  run_steps(run, 60);
  const Vec3* center = sim_state(run->sim)->center;
  const double mass[2] = {2, 3};
  Vec3 before[2] = {center[0], center[1]}, momentum = {0, 0, 0};
  run_steps(run, 1);
  for (int k = 0; k < 2; k++) momentum = vec3_add_scaled(momentum, mass[k] / 0.005, vec3_sub(center[k], before[k]));
  assert_true(vec3_norm(vec3_sub(center[1], vec3(0.24, 0.05, 0.02))) > 0.01); /* they have met */
  compare_vec3(momentum, vec3(2, 0, 0), 1e-9, "momentum");
  run_free(run);
}

/* A ball in a hollow that its hull would not let it into. */
static void run_X9_a_ball_lies_in_a_hollow(void** state) {
  (void)state;
  Run* run = run_create(1, 0,
                        "simulation: {dt: 0.005, steps: 100, integrator: first_order}\n"
                        "contact: {model: manifold, stiffness: 1e5, friction: 0.3, edges: 0}\n"
                        "shapes: {ball: {type: superellipsoid, size: [0.2, 0.2, 0.2], exponent: 1}}\n"
                        "links:\n"
                        "  - {name: dish, fixed: true, shape: {type: subtraction, smoothing: 0.002, resolution: 1, of: "
                        "[{type: superellipsoid, size: [0.2, 0.2, 0.1], exponent: 4}, {shape: ball, position: [0, 0, "
                        "0.2]}]}}\n"
                        "  - {name: ball, mass: 0.5, position: [0, 0, 0.085], shape: {type: superellipsoid, size: "
                        "[0.08, 0.08, 0.08], exponent: 1, resolution: 2}}\n");
  run_steps(run, 100);
  compare_near(sim_state(run->sim)->pose[1].t.z, 0.08, 2e-3, "height of a ball in a hollow that goes down to 0");
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(run_X8_X12_two_shapes_rub),
      cmocka_unit_test(run_X12_on_a_moving_half_space),
      cmocka_unit_test(run_X12_a_union_lands_on_a_shape),
      cmocka_unit_test(run_X10_a_box_at_rest_in_closed_form),
      cmocka_unit_test(run_X11_a_box_slides_in_closed_form),
      cmocka_unit_test(run_X9_momentum_of_two_that_meet),
      cmocka_unit_test(run_X9_a_ball_lies_in_a_hollow),
      cmocka_unit_test(run_Y13_a_box_slides),
      cmocka_unit_test(run_Y13_a_box_on_a_box),
      cmocka_unit_test(run_Y13_X20_a_bar_across_a_bar),
      cmocka_unit_test(run_Y13_a_tetrahedron_tips),
      cmocka_unit_test(run_Y13_a_smooth_shape_on_a_box),
      cmocka_unit_test(run_X10_X18_a_cube_at_rest_in_closed_form),
      cmocka_unit_test(run_X6b_a_cube_on_a_table_stays),
      cmocka_unit_test(run_X9_a_box_tips_at_the_right_angle),
      cmocka_unit_test(run_X19_falling_boxes_gain_no_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
