/* Tests the convergence criterion of a step (S8). The imbalance of each body is relative to the forces on this body. A
 * light body is therefore solved as well as the heavy body below it, at any size. */
#include <float.h>

#include "simulate/sim.h"

#include "support/runs.h"

#define TOLERANCE 1e-5

/* 10 mg on 1 kg on the ground, all at rest with gaps near their own. */
static const char light_on_heavy[] =
    "simulation: {dt: 0.01, steps: 100, integrator: first_order}\n"
    "contact: {friction: 0.4}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: heavy, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.10045]}\n"
    "  - {name: light, mass: 1.0e-5, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [0, 0, 0.2515]}\n";

/* The forces on the light body are its weight and its contact force, not those of the heavy body. Its imbalance is
 * small against them, and it stays at rest. */
static void balance_S8_a_light_body_is_measured_by_its_own_forces(void** state) {
  (void)state;
  Run* run = run_create(1, TOLERANCE, light_on_heavy);
  run_steps(run, 100);
  const Sim* s = run->sim;
  int light = run->model.links[run_link(run, "light")].dof_first, heavy = run->model.links[1].dof_first;
  double weight = 1e-5 * 9.81;
  for (int k = 0; k < 3; k++) {
    compare_at_most(weight, s->force_scales.dof[light + k], "translation %d: weight against the forces at work", k);
    compare_at_most(s->force_scales.dof[light + k], 4 * weight, "translation %d: forces at work on 10 mg", k);
    compare_at_most(9.81, s->force_scales.dof[heavy + k], "translation %d: forces at work on 1 kg", k);
    compare_at_most(fabs(s->newton.gradient[light + k]), TOLERANCE * s->force_scales.dof[light + k],
                    "translation %d: imbalance", k);
  }
  for (int k = 3; k < 6; k++) { /* torques: forces times about the body's size, 0.1 m */
    compare_at_most(0.02 * weight, s->force_scales.dof[light + k], "rotation %d: torque at work, low", k);
    compare_at_most(s->force_scales.dof[light + k], weight, "rotation %d: torque at work, high", k);
  }
  double before = sim_state(run->sim)->center[2].z;
  run_steps(run, 50);
  int count;
  const SimContact* contacts = sim_contacts(run->sim, &count);
  assert_int_equal(count, 2);
  compare_relative(contacts[1].force.z, weight, 10 * TOLERANCE, "force that carries 10 mg");
  compare_near(sim_state(run->sim)->center[2].z, before, 1e-4 * 9.81 * 0.5 * 0.5 / 2, "height after half a second");
  run_free(run);
}

static const char drifting[] =
    "simulation: {dt: 0.01, steps: 100, gravity: [0, 0, 0], integrator: %s}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: still, mass: 2, shape: {type: box, size: [0.1, 0.1, 0.1]}}\n"
    "  - {name: drifts, mass: 3, shape: {type: box, size: [0.1, 0.2, 0.3]}, position: [1, 0, 0]}\n"
    "initial:\n"
    "  - {link: drifts, velocities: [1, -2, 0.5, 0, 0, 0]}\n";

/* No force acts on a drifting body, so the reference is a fraction of its momentum, 1e-3 m v / dt. A body at rest has
 * only rounding errors and no imbalance, so it takes no iteration. */
static void balance_S8_without_forces_momentum_is_the_measure(void** state) {
  (void)state;
  static const char* const integrators[] = {"first_order", "second_order", "momentum"};
  for (int order = 0; order < 3; order++) {
    Run* run = run_create(1, TOLERANCE, drifting, integrators[order]);
    const Sim* s = run->sim;
    Vec3 start = sim_state(s)->center[0];
    run_steps(run, 100);
    int still = run->model.links[0].dof_first, drifts = run->model.links[1].dof_first;
    double speed = sqrt(1 + 4 + 0.25), weight = step_inertia_weight(s) * 0.01 * 0.01;
    compare_at_most(s->force_scales.dof[still], 1600 * DBL_EPSILON * weight * 2 * 0.1 / (0.01 * 0.01),
                    "%s: forces at work on a body at rest", integrators[order]);
    compare_relative(s->force_scales.dof[drifts], 1e-3 * weight * 3 * speed / 0.01, 1e-3,
                     "%s: forces at work on one that drifts", integrators[order]);
    Vec3 way = vec3_sub(sim_state(s)->center[1], vec3(1, 0, 0));
    compare_vec3(way, vec3(1, -2, 0.5), 1e-3 * TOLERANCE * 100 * speed, "%s: way in a second", integrators[order]);
    compare_vec3(sim_state(s)->center[0], start, 0, "%s: the body at rest", integrators[order]);
    run_free(run);
  }
}

/* Second order's target of a body at rest differs from where it is by roundings; they are all the force there is. A
 * rounded pose far from the origin. */
static void balance_S8_roundings_of_a_body_at_rest_are_solved(void** state) {
  (void)state;
  static const char* const integrators[] = {"first_order", "second_order", "momentum"};
  for (int order = 0; order < 3; order++) {
    Run* run = run_create(1, TOLERANCE,
                          "simulation: {dt: 0.2, steps: 100, gravity: [0, 0, 0], integrator: %s}\n"
                          "links:\n"
                          "  - {name: still, mass: 5.7, shape: {type: sphere, radius: 0.0337, resolution: 0}, "
                          "position: [0.402, 7, -30.1],\n"
                          "     rotation_vector: [0.7, -1.3, 0.2]}\n",
                          integrators[order]);
    Vec3 start = sim_state(run->sim)->center[0];
    run_steps(run, 100);
    compare_vec3(sim_state(run->sim)->center[0], start, 1e-11, "%s: a body at rest", integrators[order]);
    run_free(run);
  }
}

/* The allowed imbalance is the relative part plus the absolute part, times the link's size for torques. At this
 * imbalance the residual equals the tolerance. */
static void balance_S8_allows_force_tolerance_in_any_case(void** state) {
  (void)state;
  Run* run = run_create(1, TOLERANCE,
                        "simulation: {dt: 0.01, steps: 100, force_tolerance: 0.02, integrator: first_order}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: a, mass: 2, shape: {type: box, size: [0.3, 0.2, 0.1]}}\n"
                        "initial:\n"
                        "  - {link: a, velocities: [1, 0, 0, 5, 3, 1]}\n");
  run_steps(run, 3);
  Sim* s = run->sim;
  double half_diagonal = 0.5 * sqrt(0.09 + 0.04 + 0.01);
  for (int k = 0; k < 6; k++) {
    double absolute = 0.02 * (k < 3 ? 1 : half_diagonal), wanted = TOLERANCE * s->force_scales.dof[k] + absolute;
    compare_relative(balance_tolerance(s, k), wanted, 1e-12, "degree of freedom %d: allowed", k);
    s->newton.gradient[k] = 0.999 * wanted;
    assert_true(balance_is_reached(s, k));
    s->newton.gradient[k] = -1.001 * wanted;
    assert_false(balance_is_reached(s, k));
    s->newton.gradient[k] = 0;
  }
  int worst;
  s->newton.gradient[4] = 3 * balance_tolerance(s, 4);
  s->newton.gradient[1] = 2 * balance_tolerance(s, 1);
  compare_relative(balance_residual(s, &worst), 3 * TOLERANCE, 1e-12, "residual");
  assert_int_equal(worst, 4);
  s->newton.gradient[2] = NAN;
  assert_true(isnan(balance_residual(s, &worst)));
  assert_int_equal(worst, 2);
  run_free(run);
}

static const char far_away[] =
    "simulation: {dt: 1.0e-4, steps: 1000, integrator: second_order}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: falls, mass: 1.5, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [%s]}\n";

/* Where a body is counts for nothing, in the first step either, before which it has gone nowhere: falling for 0.1 s
 * from rest it is -g t^2 / 2 lower, by second order exactly. */
static void balance_S8_the_first_step_is_as_good_as_all_others(void** state) {
  (void)state;
  static const char* const places[] = {"0, 0, 0", "3, 4, 5", "300, 0, 0"};
  static const double heights[] = {0, 5, 0};
  for (int k = 0; k < 3; k++) {
    Run* run = run_create(1, TOLERANCE, far_away, places[k]);
    run_steps(run, 1);
    const Sim* s = run->sim;
    double weight = 1.5 * 9.81;
    /* it falls: inertia and weight, and what positions of 300 m are rounded by */
    compare_at_most(s->force_scales.dof[2], 3 * weight, "at %s: forces at work in the first step", places[k]);
    run_steps(run, 999);
    compare_near(sim_state(run->sim)->center[0].z - heights[k], -0.5 * 9.81 * 0.01, 1e-8, "at %s: fallen", places[k]);
    run_free(run);
  }
}

/* Three bodies of 0.05 mm, 1.4 mm apart and within the contact range, 1700 km from the origin, where doubles
 * lie 1.2e-10 m apart: that times the stiffness of contact is force enough that no step can be solved, in any number of
 * parts. */
static void balance_S16_roundings_of_contact_far_away_are_told(void** state) {
  (void)state;
  Run* run = run_create(
      1, 0,
      "simulation: {dt: 0.0206, gravity: [0, 0, -0.00488], integrator: momentum}\n"
      "contact: {friction: 2}\n"
      "links:\n"
      "  - {name: box, mass: 15.5, shape: {type: box, size: [1.96e-05, 2.67e-05, 5.33e-05]},\n"
      "     position: [1.0e6, 1.0e6, 1000000.00368], rotation: [0.75, 0.55, -0.0173, -0.367]}\n"
      "  - {name: ball, mass: 693, shape: {type: sphere, radius: 5.75e-05, resolution: 1}, mass_model: vertices,\n"
      "     position: [1000000.00144, 1.0e6, 1000000.00368], rotation: [0.659, 0.746, 0.0133, 0.0952]}\n"
      "  - {name: stone, mass: 511, mass_model: vertices, rotation: [-0.901, -0.065, 0.166, 0.395],\n"
      "     position: [999999.99856, 1000000.00144, 1000000.00368],\n"
      "     shape: {type: points, points: [[-5.83e-05, 4.87e-05, 1.1e-05], [-2.37e-05, 4.2e-06, 7.29e-05],\n"
      "       [-6.13e-05, -4.02e-05, 2.26e-05], [1.86e-05, 6.78e-05, -3.09e-05], [7.68e-05, 0, 0], [0, 7.68e-05, 0],\n"
      "       [0, 0, 7.68e-05], [-3.84e-05, -3.84e-05, -3.84e-05]]}}\n"
      "initial: [{link: stone, velocities: [0.00387, 0.00326, -0.00199, -0.184, 0.232, -0.217]}]\n");
  for (int step = 1; step <= 20; step++) {
    StepReport report = run_steps(run, 1);
    bool told = report.outcome == STEP_ROUNDING_FLOOR || report.residual <= run->model.simulation.tolerance;
    if (!told) fail_msg("step %d: outcome %d, residual %g", step, (int)report.outcome, report.residual);
  }
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(balance_S8_a_light_body_is_measured_by_its_own_forces),
      cmocka_unit_test(balance_S8_without_forces_momentum_is_the_measure),
      cmocka_unit_test(balance_S8_the_first_step_is_as_good_as_all_others),
      cmocka_unit_test(balance_S8_roundings_of_a_body_at_rest_are_solved),
      cmocka_unit_test(balance_S8_allows_force_tolerance_in_any_case),
      cmocka_unit_test(balance_S16_roundings_of_contact_far_away_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
