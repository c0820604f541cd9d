/* Tests the line search (S10). The objective never rises over a step, and an impact does not slow down other bodies. A
 * thin wall stops a fast thin body, except with the certificate off. */
#include "simulate/sim.h"

#include "support/runs.h"

/* Every step lowers the objective from where it starts: E(q^t) of the step's own terms. */
static void line_search_S10_lowers_the_objective(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-7,
                        "simulation: {dt: 0.01, steps: 100, integrator: first_order}\n"
                        "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-7, friction: 0.4, smoothing: 1.0e-5}\n"
                        "links:\n"
                        "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                        "  - {name: a, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.15], "
                        "rotation_vector: [0.3, 0.2, 0]}\n"
                        "  - {name: b, mass: 1, shape: {type: sphere, radius: 0.1}, position: [0.05, 0.03, 0.45]}\n"
                        "initial:\n"
                        "  - {link: a, velocities: [1, 0, -2, 3, 0, 1]}\n");
  Sim* s = run->sim;
  int struck = 0;
  for (int n = 0; n < 100; n++) {
    step_prepare(s);
    assert_true(contact_lag(s->contact));
    Configuration* c = &s->configuration[s->current];
    assert_true(configuration_evaluate(s, c));
    double before = 0, after = 0, contact, friction;
    for (int i = 0; i < run->model.link_count; i++) before += c->inertia[i];
    contact_energy(s->contact, &contact, &friction);
    before += contact + friction;
    StepReport r = run_steps(run, 1);
    after = r.terms.inertia + r.terms.controller + r.terms.limit + r.terms.damping + r.terms.contact + r.terms.friction;
    compare_at_most(after, before * (1 + 1e-12), "step %d: objective after the step against before", n);
    struck += r.active_pairs;
  }
  assert_true(struck > 50);
  run_free(run);
}

/* A far body that crashes into something costs the others no accuracy and no iterations of theirs: their steps are the
 * same bits with and without it. */
static void line_search_S10_islands_are_independent(void** state) {
  (void)state;
  static const char scene[] =
      "simulation: {dt: 0.01, steps: 100, integrator: first_order}\n"
      "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-7, friction: 0.4, smoothing: 1.0e-5}\n"
      "links:\n"
      "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
      "  - {name: a, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.1015]}\n"
      "%s"
      "initial:\n"
      "  - {link: a, velocities: [1, 0, 0, 0, 0, 1]}\n"
      "%s";
  Run* alone = run_create(1, 1e-9, scene, "", "");
  Run* beside = run_create(1, 1e-9, scene,
                           "  - {name: far, mass: 5, shape: {type: box, size: [0.2, 0.3, 0.25]}, position: [30, 0, "
                           "0.4], rotation_vector: [0.5, 0.3, 0]}\n",
                           "  - {link: far, velocities: [0, 0, -12, 3, 5, 0]}\n");
  int shortened = 0;
  for (int n = 0; n < 100; n++) {
    run_steps(alone, 1);
    StepReport r = run_steps(beside, 1);
    shortened += r.trials > r.iterations;
    const double *q = sim_state(alone->sim)->q, *p = sim_state(beside->sim)->q;
    for (int k = 0; k < 7; k++) compare_near(p[k], q[k], 1e-10, "step %d: coordinate %d of the body that slides", n, k);
  }
  if (shortened == 0) fail_msg("the far body's crash never shortened a step: the test shows nothing");
  alone->model.link_count += 0;
  run_free(alone);
  run_free(beside);
}

/* A body moves at 30 m/s, 30 cm per step of 0.01 s, towards a wall of 2 mm. */
static double thin_wall(const char* certificate, double* smallest) {
  Run* run =
      run_create(1, 1e-6,
                 "simulation: {dt: 0.01, steps: 20, gravity: [0, 0, 0], certificate: %s, integrator: first_order}\n"
                 "contact: {barrier_distance: 5.0e-4, stiffness: 1.0e-9, friction: 0.3, smoothing: 1.0e-5}\n"
                 "links:\n"
                 "  - {name: wall, fixed: true, shape: {type: box, size: [0.002, 2, 2]}}\n"
                 "  - {name: dart, mass: 0.1, shape: {type: box, size: [0.002, 0.1, 0.1]}, position: [-0.41, 0, 0]}\n"
                 "initial:\n"
                 "  - {link: dart, velocities: [30, 0, 0, 0, 0, 0]}\n",
                 certificate);
  *smallest = HUGE_VAL;
  for (int n = 0; n < 20; n++) {
    run_steps(run, 1);
    *smallest = fmin(*smallest, sim_measure(run->sim).smallest_gap);
  }
  double x = sim_state(run->sim)->center[1].x;
  run_free(run);
  return x;
}

/* A plank lies 0.7 m from the hinge of the ground: the hinge carries its weight's torque m g x. Newton's method knows
 * how the ground turns: each step is solved in a few iterations. */
static void line_search_S8_half_space_that_turns(void** state) {
  (void)state;
  static const char scene[] =
      "simulation: {dt: 0.005, steps: 60, integrator: first_order}\n"
      "contact: {friction: 0.5}\n"
      "links:\n"
      "  - {name: ground, joint: {type: hinge, axis: [0, 1, 0]}, shape: {type: half_space}}\n"
      "  - {name: plank, mass: 2, position: [0.7, 0, 0.0503], shape: {type: box, size: [0.5, 0.4, 0.1]}}\n"
      "controllers:\n"
      "  - {link: ground, type: prescribed, target: {type: sines, terms: [{amplitude: %s, frequency: 0.5}]}}\n";
  Run* still = run_create(1, 1e-8, scene, "0");
  run_steps(still, 60);
  compare_near(still->sim->newton.gradient[0], -2 * 9.81 * 0.7, 1e-3 * 2 * 9.81 * 0.7,
               "torque of a weight on the hinge");
  run_free(still);
  Run* turns = run_create(1, 1e-5, scene, "0.01");
  run_steps(turns, 5); /* it comes to rest on the ground */
  for (int n = 5; n < 60; n++) compare_at_most(run_steps(turns, 1).iterations, 4, "step %d: iterations", n);
  run_free(turns);
}

static void line_search_S10_nothing_passes_a_thin_wall(void** state) {
  (void)state;
  double gap, with = thin_wall("true", &gap), without;
  if (!(with < 0)) fail_msg("the dart is at x = %g, behind the wall", with);
  assert_true(gap > 0);
  without = thin_wall("false", &gap);
  if (!(without > 0))
    fail_msg("the dart is stopped at x = %g without the certificate too: the test shows nothing", without);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(line_search_S10_lowers_the_objective),
      cmocka_unit_test(line_search_S10_islands_are_independent),
      cmocka_unit_test(line_search_S8_half_space_that_turns),
      cmocka_unit_test(line_search_S10_nothing_passes_a_thin_wall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
