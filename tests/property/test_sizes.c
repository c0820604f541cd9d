/* From a cube of 2 mm and 10 mg to one of 100 m and a million tons, with contact parameters derived: it drops and comes
 * to rest at the gap of the guide, and slides as far as Coulomb's law says. One pressed together far too much is let go
 * in a few iterations. */
#include "support/compare.h"
#include "support/runs.h"

#define GRAVITY 9.81
/* Gap at rest of a cube on a half-space in units of the derived support, size / 200 (docs/contact-parameters.md). */
#define GAP 0.4546569987

typedef struct {
  double size, mass; /* m, kg */
} Cube;

static const Cube cubes[] = {{2e-3, 1e-5}, {0.2, 1}, {100, 1e9}};
enum { CUBES = sizeof cubes / sizeof cubes[0] };

/* At `height` supports over the ground, with a horizontal speed. */
static Run* cube_run(Cube c, double dt, double height, double speed) {
  return run_create(1, 0,
                    "simulation: {dt: %.17g, steps: 1000, integrator: first_order}\n"
                    "contact: {friction: 0.3}\n"
                    "links:\n"
                    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                    "  - {name: cube, mass: %.17g, shape: {type: box, size: [%.17g, %.17g, %.17g]}, position: [0, 0, "
                    "%.17g]}\n"
                    "initial:\n  - {link: cube, velocities: [%.17g, 0, 0, 0, 0, 0]}\n",
                    dt, c.mass, c.size, c.size, c.size, c.size * (0.5 + height / 200), speed);
}

/* 0.2 ms for 2 mm, and with the root of the size. */
static double step_of(Cube c) { return 2e-4 * sqrt(c.size / 2e-3); }

/* The cube starts half its size above the ground. After a few fall times it is at rest at its equilibrium gap, and the
 * contact force is its weight. */
static void cubes_drop_and_rest(void** state) {
  (void)state;
  for (int k = 0; k < CUBES; k++) {
    Cube c = cubes[k];
    Run* run = cube_run(c, step_of(c), 100, 0);
    run_steps(run, 1000);
    double gap = sim_state(run->sim)->center[1].z - 0.5 * c.size, support = c.size / 200;
    compare_relative(run->model.contact.support, support, 1e-12, "cube of %g m: derived support", c.size);
    compare_relative(gap, GAP * support, 2e-3, "cube of %g m: gap at rest", c.size);
    int count;
    const SimContact* contacts = sim_contacts(run->sim, &count);
    assert_int_equal(count, 1);
    compare_relative(contacts[0].force.z, c.mass * GRAVITY, 1e-3, "cube of %g m: force of the ground", c.size);
    run_free(run);
  }
}

/* v^2 / (2 mu g), 15.3 mm for 0.3 m/s: within 1 %, of which the first-order step takes v dt / 2 = 0.2 %. */
static void cubes_slide_as_far_as_coulomb_says(void** state) {
  (void)state;
  for (int k = 0; k < CUBES; k++) {
    Cube c = cubes[k];
    double speed = 0.3 * sqrt(c.size / 2e-3), wanted = speed * speed / (2 * 0.3 * GRAVITY);
    Run* run = cube_run(c, step_of(c), GAP, speed);
    run_steps(run, 700);
    double way = sim_state(run->sim)->center[1].x;
    print_message("cube of %g m: %.5g m, Coulomb %.5g m\n", c.size, way, wanted);
    compare_relative(way, wanted, 0.01, "cube of %g m: way", c.size);
    compare_at_most(fabs(sim_state(run->sim)->pose[1].r.m[2][0]), 1e-3, "cube of %g m: tilt", c.size);
    run_free(run);
  }
}

/* At a hundredth of the support, where the ground pushes with some 1e10 weights: Newton's steps open such a pair by a
 * sixth each: log(45) / log(7/6) = 25 iterations to the gap at rest, and some log(1e10) / 6 / log(7/6) = 25 until the
 * force is that of inertia. Twice that leaves room for steps that a line search shortens. */
static void crushed_cubes_are_let_go(void** state) {
  (void)state;
  for (int k = 0; k < CUBES; k++) {
    Run* run = cube_run(cubes[k], step_of(cubes[k]), 0.01, 0);
    StepReport report = run_steps(run, 1);
    print_message("cube of %g m: %d iterations\n", cubes[k].size, report.iterations);
    compare_at_most(report.iterations, 100, "cube of %g m: iterations", cubes[k].size);
    assert_true(report.outcome == STEP_CONVERGED);
    run_free(run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cubes_drop_and_rest),
      cmocka_unit_test(cubes_slide_as_far_as_coulomb_says),
      cmocka_unit_test(crushed_cubes_are_let_go),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
