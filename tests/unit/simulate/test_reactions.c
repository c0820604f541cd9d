/* Reactions of joints against statics and motion in closed form (docs/derivations/observables.md, O1). */
#include <string.h>

#include "support/runs.h"

static const double G = 9.81;

static void expect(const Run* run, const char* link, const double right[6], double within) {
  const double* got = sim_reactions(run->sim)[run_link(run, link)];
  for (int k = 0; k < 6; k++) compare_near(got[k], right[k], within, "%s, component %d", link, k);
}

/* Links of 1, 2 and 3 kg below one another, the second welded to the first: each joint bears what hangs on it. */
static void a_chain_hangs(void** state) {
  (void)state;
  static const char* const integrators[] = {"momentum", "first_order", "second_order"};
  for (int k = 0; k < 3; k++) {
    Run* run = run_create(1, 0,
                          "simulation: {dt: 0.01, steps: 20, output: [reactions], integrator: %s}\n"
                          "links:\n"
                          "  - {name: a, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, center: [0, 0, -0.2], "
                          "inertia: [0.01, 0.01, 0.01, 0, 0, 0]}\n"
                          "  - {name: b, parent: a, fixed: true, position: [0.3, 0, -0.4], mass: 2, center: [0, 0, "
                          "0], inertia: [0.01, 0.01, 0.01, 0, 0, 0]}\n"
                          "  - {name: c, parent: a, joint: {type: ball, position: [-0.2, 0, -0.4]}, mass: 3, "
                          "center: [0, 0, -0.2], inertia: [0.01, 0.01, 0.01, 0, 0, 0]}\n",
                          integrators[k]);
    run_steps(run, 20);
    expect(run, "a", (const double[]){0, 0, 6 * G, 0, 0, 0}, 1e-6);
    expect(run, "b", (const double[]){0, 0, 2 * G, 0, 0, 0}, 1e-6);
    expect(run, "c", (const double[]){0, 0, 3 * G, 0, 0, 0}, 1e-6);
    run_free(run);
  }
}

/* An arm welded to a base that is welded to the world, and a load at its end: force and moment of a cantilever. */
static void a_cantilever_is_clamped(void** state) {
  (void)state;
  Run* run = run_create(1, 0,
                        "simulation: {dt: 0.01, steps: 2, output: [reactions]}\n"
                        "links:\n"
                        "  - {name: base, fixed: true, position: [0, 0, 1], mass: 5, center: [0, 0.1, 0], inertia: [1, "
                        "1, 1, 0, 0, 0]}\n"
                        "  - {name: arm, parent: base, fixed: true, position: [0.5, 0, 0], mass: 2, center: [0.3, 0, "
                        "0], inertia: [1, 1, 1, 0, 0, 0]}\n"
                        "  - {name: bob, parent: arm, joint: {type: ball, position: [0.6, 0, 0]}, mass: 1, center: "
                        "[0, 0, -0.2], inertia: [0.01, 0.01, 0.01, 0, 0, 0]}\n"
                        "loads: [{link: arm, force: [0, 4, 0], point: [0.6, 0, 0]}]\n");
  run_steps(run, 2);
  expect(run, "bob", (const double[]){0, 0, G, 0, 0, 0}, 1e-6);
  expect(run, "arm", (const double[]){0, -4, 3 * G, 0, -(2 * 0.3 + 0.6) * G, -4 * 0.6}, 1e-6);
  expect(run, "base", (const double[]){0, -4, 8 * G, 5 * 0.1 * G, -(2 * 0.8 + 1.1) * G, -4 * 1.1}, 1e-6);
  run_free(run);
}

/* A cart of 2 kg leans against a wall with 10 N, 0.15 m below its centre: the wall bears it, the rail the rest. */
static void a_cart_leans_against_a_wall(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-10,
                        "simulation: {dt: 0.01, steps: 400, output: [reactions]}\n"
                        "contact: {friction: 0}\n"
                        "links:\n"
                        "  - {name: wall, fixed: true, mass: 5, shapes: [{type: sphere, radius: 0.1, position: [0.5, "
                        "0, -0.15]}]}\n"
                        "  - {name: cart, joint: {type: slide, axis: [1, 0, 0], damping: 20}, mass: 2, shapes: [{type: "
                        "box, size: [0.4, 0.6, 0.6]}]}\n"
                        "loads: [{link: cart, force: [10, 0, 0]}]\n");
  run_steps(run, 400);
  /* The wall pushes the cart by -10 N at z = -0.15: a torque of +1.5 N m about y, which the rail takes. The plane
   * between them leans a little, so forces and torques on both together are the statement to 1e-6. */
  const double* cart = sim_reactions(run->sim)[run_link(run, "cart")];
  const double* wall = sim_reactions(run->sim)[run_link(run, "wall")];
  double x = sim_state(run->sim)->q[0];
  compare_near(cart[0], 0, 1e-6, "nothing drives the cart");
  compare_near(wall[0], -10, 1e-6, "the wall holds");
  compare_near(cart[4], -10 * 0.15, 2e-3, "the lever of the wall");
  compare_near(cart[2] + wall[2], 7 * G, 1e-6, "weights");
  compare_near(cart[4] - x * cart[2] + wall[4] + x * 2 * G + 0.5 * 5 * G, 0, 1e-6, "torques about the origin");
  run_free(run);
}

/* A box lies on a table on a driven slide: the slide bears both and the moment of the box, as far as the tolerance of a
 * step balances forces (relative to the weights, O1). */
static void a_table_bears_a_box(void** state) {
  (void)state;
  static const double tolerances[] = {1e-5, 1e-8};
  for (int k = 0; k < 2; k++) {
    Run* run =
        run_create(1, tolerances[k],
                   "simulation: {dt: 0.01, steps: 600, output: [reactions]}\n"
                   "links:\n"
                   "  - {name: table, mass: 4, joint: {type: slide, axis: [0, 0, 1]}, shapes: [{type: box, size: "
                   "[1, 1, 0.05]}]}\n"
                   "  - {name: box, mass: 1, position: [0.2, 0.1, 0.0755], shape: {type: box, size: [0.1, 0.1, "
                   "0.1]}}\n"
                   "controllers: [{link: table, type: pd, position_gain: 4000, damping_gain: 200, target: 0.01}]\n");
    run_steps(run, 600);
    double within = 5 * G * tolerances[k] + 1e-9;
    Vec3 box = sim_state(run->sim)->pose[run_link(run, "box")].t; /* it moves by 1e-7 m as it lands */
    expect(run, "table", (const double[]){0, 0, 5 * G, box.y * G, -box.x * G, 0}, within);
    run_free(run);
  }
}

/* A beam of 4 kg and 1 m on a hinge and, at its end, on a slider that a closure joins: 10 N more at a quarter. */
static void a_beam_lies_on_two_supports(void** state) {
  (void)state;
  static const char* const integrators[] = {"momentum", "first_order"};
  for (int k = 0; k < 2; k++) {
    Run* run = run_create(1, 1e-10,
                          "simulation: {dt: 0.01, steps: 20, output: [reactions], integrator: %s}\n"
                          "links:\n"
                          "  - {name: beam, joint: {type: hinge, axis: [0, 1, 0]}, mass: 4, center: [0.5, 0, 0], "
                          "inertia: [0.01, 0.3, 0.3, 0, 0, 0]}\n"
                          "  - {name: prop, joint: {type: slide, axis: [1, 0, 0], position: [1, 0, 0]}, mass: 0.1, "
                          "center: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"
                          "closures: [{type: ball, a: beam, b: prop, point: [1, 0, 0]}]\n"
                          "loads: [{link: beam, force: [0, 0, -10], point: [0.25, 0, 0]}]\n",
                          integrators[k]);
    run_steps(run, 20);
    expect(run, "beam", (const double[]){0, 0, 2 * G + 7.5, 0, 0, 0}, 1e-6);
    expect(run, "prop", (const double[]){0, 0, 2.1 * G + 2.5, 0, 0, 0}, 1e-6);
    run_free(run);
  }
}

/* A pendulum in a swing: m (l w^2 + g cos q) along the rod and, across, what its turning leaves of the weight. Largest
 * error over the swing. */
static double pendulum_error(const char* integrator, double dt) {
  int steps = (int)(0.8 / dt + 0.5);
  Run* run = run_create(1, 1e-12,
                        "simulation: {dt: %.17g, steps: %d, output: [reactions], integrator: %s}\n"
                        "links:\n"
                        "  - {name: rod, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, center: [0, 0, -0.5], "
                        "inertia: [0.1, 0.1, 0.01, 0, 0, 0]}\n"
                        "initial: [{link: rod, coordinates: [1.2]}]\n",
                        dt, steps, integrator);
  double worst = 0;
  for (int k = 0; k < steps; k++) {
    double q = sim_state(run->sim)->q[0], w2 = 2 * 0.5 * G * (cos(q) - cos(1.2)) / 0.35; /* by its energy */
    run_steps(run, 1); /* forces are those between this state and the next */
    const double* got = sim_reactions(run->sim)[0];
    double along = w2 * 0.5 + G * cos(q), across = G * sin(q) * (1 - 0.25 / 0.35);
    double fx = along * sin(q) - across * cos(q), fz = along * cos(q) + across * sin(q);
    compare_near(got[4], 0, 1e-8, "a free hinge bears no torque about its axis");
    worst = fmax(worst, hypot(got[0] - fx, got[2] - fz));
  }
  run_free(run);
  return worst;
}

static void a_pendulum_swings(void** state) {
  (void)state;
  double coarse = pendulum_error("momentum", 0.01), fine = pendulum_error("momentum", 0.005);
  assert_true(coarse < 2e-2);
  compare_near(coarse / fine, 4, 0.6, "order of the reaction: %g, then %g N", coarse, fine);
  coarse = pendulum_error("first_order", 0.002), fine = pendulum_error("first_order", 0.001);
  compare_near(coarse / fine, 2, 0.3, "order of the reaction: %g, then %g N", coarse, fine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_chain_hangs),
      cmocka_unit_test(a_cantilever_is_clamped),
      cmocka_unit_test(a_cart_leans_against_a_wall),
      cmocka_unit_test(a_table_bears_a_box),
      cmocka_unit_test(a_beam_lies_on_two_supports),
      cmocka_unit_test(a_pendulum_swings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
