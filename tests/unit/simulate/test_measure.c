/* What the output asks of a state: energies in closed form, gaps, and one row for every touching pair of links. */
#include "simulate/simulate.h"

#include "support/runs.h"

static void measure_energies_of_a_free_body(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-9,
                        "simulation: {dt: 0.001, steps: 10, gravity: [0, 0, -9.81], integrator: first_order}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: body, mass: 2, shape: {type: box, size: [0.3, 0.2, 0.1]}, position: [0, 0, 5]}\n"
                        "initial:\n"
                        "  - {link: body, velocities: [1, -2, 0.5, 3, 1, -2]}\n");
  SimMeasure m = sim_measure(run->sim);
  /* eight points of 0.25 kg at the corners: I = m (b^2 + c^2) / 4 */
  double inertia[3] = {2 * (0.04 + 0.01) / 4, 2 * (0.09 + 0.01) / 4, 2 * (0.09 + 0.04) / 4};
  double wanted = 0.5 * 2 * (1 + 4 + 0.25) + 0.5 * (9 * inertia[0] + 1 * inertia[1] + 4 * inertia[2]);
  compare_near(m.kinetic, wanted, 1e-12, "kinetic energy at the start");
  compare_near(m.potential, 2 * 9.81 * 5, 1e-12, "potential energy at the start");
  assert_true(isinf(m.smallest_gap));
  int count;
  sim_contacts(run->sim, &count);
  assert_int_equal(count, 0);
  run_steps(run, 1);
  m = sim_measure(run->sim);
  double z = sim_state(run->sim)->center[0].z, fall = (z - 5) / 0.001;
  compare_near(m.potential, 2 * 9.81 * z, 1e-12, "potential energy after a step");
  compare_near(m.kinetic, wanted + (fall * fall - 0.25), 5e-3, "kinetic energy after a step");
  run_free(run);
}

/* A table on two feet: two hulls on the ground, one row; a cup on the table: another, a < b, force on b. */
static void measure_contacts_are_merged_by_link_and_sorted(void** state) {
  (void)state;
  Run* run =
      run_create(1, 1e-8,
                 "simulation: {dt: 0.01, steps: 300}\n"
                 "contact: {support: 1.0e-3, stiffness: 1.0e-8, friction: 0.5, smoothing: 1.0e-6}\n"
                 "links:\n"
                 "  - {name: cup, mass: 0.5, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [0, 0, 0.3524]}\n"
                 "  - {name: table, mass: 3, position: [0, 0, 0.1508], shapes: [{type: box, size: [0.1, 0.3, "
                 "0.3], position: [-0.2, 0, 0]}, {type: box, size: [0.1, 0.3, 0.3], position: [0.2, 0, 0]}, "
                 "{type: box, size: [0.5, 0.3, 0.05], position: [0, 0, 0.125]}]}\n"
                 "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                 "  - {name: ball, mass: 1, shape: {type: sphere, radius: 0.1}, position: [5, 0, 3]}\n");
  run_steps(run, 60);
  int count;
  const SimContact* c = sim_contacts(run->sim, &count);
  assert_int_equal(count, 2);
  assert_int_equal(c[0].a, 0);
  assert_int_equal(c[0].b, 1);
  assert_int_equal(c[1].a, 1);
  assert_int_equal(c[1].b, 2);
  compare_relative(c[0].force.z, -0.5 * 9.81, 1e-2, "force of the cup on the table");
  compare_relative(c[1].force.z, -3.5 * 9.81, 1e-2, "force of the table on the ground");
  const SimState* s = sim_state(run->sim);
  compare_near(c[0].gap, s->pose[0].t.z - 0.05 - (s->pose[1].t.z + 0.15), 2e-5, "gap of cup and table");
  compare_near(c[1].gap, s->pose[1].t.z - 0.15, 2e-5, "gap of table and ground");
  SimMeasure m = sim_measure(run->sim);
  compare_near(m.smallest_gap, fmin(c[0].gap, c[1].gap), 1e-12, "smallest gap");
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(measure_energies_of_a_free_body),
      cmocka_unit_test(measure_contacts_are_merged_by_link_and_sorted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
