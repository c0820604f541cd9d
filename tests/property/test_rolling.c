/* Tests that freely rolling balls and capsules never gain energy. Under `momentum` they lose less than 1 % of it. */
#include "base/base.h"
#include "scene_run.h"
#include "support/long.h"

enum { BODIES = 40, BODIES_LONG = 500, WHEELS = 8, WHEELS_LONG = 70, POLYGONS = 40, POLYGONS_LONG = 500 };

/* Kinetic and potential energy of a random body after it has rolled for 0.5 s, over that before. */
static double kept(Random* random, bool momentum, Text* what) {
  double radius = random_uniform(random, 0.03, 0.3), speed = random_uniform(random, 0.3, 4);
  double dt = 5e-4 * math_pow(20, random_uniform(random, 0, 1)), length = random_uniform(random, 0, 3) * radius;
  bool capsule = random_uniform(random, 0, 1) < 0.5;
  double heading = random_uniform(random, -3, 3);
  text_add(what,
           "simulation: {dt: %.6g, duration: 1, integrator: %s}\n"
           "contact: {friction: 0.5}\n"
           "links:\n"
           "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
           "  - {name: body, density: 1000, position: [0, 0, %.9g], rpy: [1.57079632679489662, 0, %.9g], shape: ",
           dt, momentum ? "momentum" : "first_order", radius + 2e-3 * radius, heading);
  if (capsule)
    text_add(what, "{type: capsule, radius: %.9g, length: %.9g}}\n", radius, length);
  else
    text_add(what, "{type: sphere, radius: %.9g}}\n", radius);
  text_add(what, "initial: [{link: body, velocities: [%.9g, 0, 0, 0, 0, %.9g]}]\n", speed, -speed / radius);
  SceneRun run;
  run_parse(&run, what->data, NULL);
  run_until(&run, 0.1); /* it comes to its gap at rest */
  double before = run_energy(&run);
  run_until(&run, 0.6);
  double ratio = run_energy(&run) / before;
  run_close(&run);
  return ratio;
}

static void rolling_bodies_gain_no_energy(void** state) {
  (void)state;
  Random random = {2025};
  double least = 1, most = 0;
  for (int k = 0; k < (tests_are_long() ? BODIES_LONG : BODIES); k++) {
    Text what = {0};
    bool momentum = k % 2 == 0;
    double ratio = kept(&random, momentum, &what);
    if (momentum) least = fmin(least, ratio);
    most = fmax(most, ratio);
    if (!(ratio < 1.001 && (ratio > 0.99 || !momentum)))
      fail_msg("seed 2025, body %d has %.6g of its energy 0.5 s later:\n%s", k, ratio, what.data);
    text_free(&what);
  }
  print_message("energy kept: from %.6g (momentum) to %.6g\n", least, most);
}

/* Energy that a body gains after `from`, when it has come to its gap at rest, over its kinetic energy then. */
static double gain(Random* random, const char* shape, double radius, double speed, double dt, double from,
                   double duration, Text* what) {
  double heading = random_uniform(random, -3, 3), phase = random_uniform(random, -3, 3);
  text_add(what,
           "simulation: {dt: %.6g, duration: %.6g}\n"
           "contact: {friction: 0.5}\n"
           "links:\n"
           "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
           "  - {name: body, density: 1000, position: [0, 0, %.9g], rpy: [1.57079632679489662, 0, %.9g],\n"
           "     shapes: [{%s, rpy: [0, 0, %.9g]}]}\n",
           dt, duration, radius + 2e-3 * radius, heading, shape, phase);
  text_add(what, "initial: [{link: body, velocities: [%.9g, 0, 0, 0, 0, %.9g]}]\n", speed, -speed / radius);
  SceneRun run;
  run_parse(&run, what->data, NULL);
  run_until(&run, from);
  double before = run_energy(&run), moving = sim_measure(run.sim).kinetic;
  run_until(&run, duration);
  double change = (run_energy(&run) - before) / moving;
  run_close(&run);
  return change;
}

static void random_motion(Random* random, double* radius, double* speed, double* dt) {
  *radius = random_uniform(random, 0.03, 0.3);
  *speed = random_uniform(random, 0.3, 4);
  *dt = 5e-4 * math_pow(20, random_uniform(random, 0, 1));
}

static void wheels_keep_their_energy(void** state) {
  (void)state;
  Random random = {39};
  double least = 0, most = -1;
  for (int k = 0; k < (tests_are_long() ? WHEELS_LONG : WHEELS); k++) {
    double radius, speed, dt;
    random_motion(&random, &radius, &speed, &dt);
    char shape[200];
    double width = random_uniform(&random, 0.3, 1.5) * radius, rim = random_uniform(&random, 0.05, 0.45) * width;
    snprintf(shape, sizeof shape, "type: wheel, radius: %.9g, width: %.9g, rim: %.9g", radius, width,
             fmin(rim, 0.8 * radius));
    Text what = {0};
    double change = gain(&random, shape, radius, speed, dt, 0.1, 2, &what);
    least = fmin(least, change);
    most = fmax(most, change);
    if (!(change <= 1e-3 && change >= -1e-2))
      fail_msg("seed 39, wheel %d gains %.3g of its energy:\n%s", k, change, what.data);
    text_free(&what);
  }
  print_message("wheels gain %.3g to %.3g of their energy\n", least, most);
}

/* Returns the energy that a random polygon gains, over its kinetic energy at the start. A step rotates the polygon by
 * low to high sides; if high is 0, the time step is random. */
static double polygon_gain(Random* random, double low, double high, Text* what) {
  double radius, speed, dt;
  random_motion(random, &radius, &speed, &dt);
  int sides = (int)(16 * math_pow(8, random_uniform(random, 0, 1)));
  double angle = 2 * M_PI / sides;
  if (high > 0) dt = fmin(0.01, fmax(5e-4, random_uniform(random, low, high) * angle * radius / speed));
  char shape[200];
  snprintf(shape, sizeof shape, "type: cylinder, radius: %.9g, length: %.9g, segments: %d", radius,
           random_uniform(random, 0.3, 1.5) * radius, sides);
  return gain(random, shape, radius, speed, dt, 0, tests_are_long() ? 1 : 0.3, what);
}

static void expect_no_polygon_gains(uint64_t seed, double low, double high) {
  Random random = {seed};
  double most = -1;
  for (int k = 0; k < (tests_are_long() ? POLYGONS_LONG : POLYGONS); k++) {
    Text what = {0};
    double change = polygon_gain(&random, low, high, &what);
    most = fmax(most, change);
    if (!(change <= 1e-3))
      fail_msg("seed %d, polygon %d gains %.3g of its energy:\n%s", (int)seed, k, change, what.data);
    text_free(&what);
  }
  print_message("polygons gain at most %.3g of their energy\n", most);
}

static void polygons_gain_no_energy(void** state) {
  (void)state;
  expect_no_polygon_gains(40, 0, 0);
}

/* Steps skip corners (docs/derivations/spin.md, W20). */
static void polygons_W20_gain_no_energy_by_skipped_corners(void** state) {
  (void)state;
  expect_no_polygon_gains(41, 0.5, 1.3);
}

/* Dice and hexagonal prisms that are thrown with a random spin. */
static void tumbling_bodies_gain_no_energy(void** state) {
  (void)state;
  Random random = {42};
  double most = -1;
  for (int k = 0; k < (tests_are_long() ? POLYGONS_LONG : POLYGONS); k++) {
    double size = random_uniform(&random, 0.02, 0.2), dt = 5e-4 * math_pow(20, random_uniform(&random, 0, 1));
    double speed = random_uniform(&random, 0.3, 3), spin[3];
    for (int i = 0; i < 3; i++) spin[i] = random_uniform(&random, -1, 1) * speed / size;
    Text what = {0};
    text_add(&what,
             "simulation: {dt: %.6g, duration: 1}\n"
             "links:\n"
             "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
             "  - {name: body, density: 1000, position: [0, 0, %.9g], rpy: [%.6g, %.6g, 0], shape: {",
             dt, size, random_uniform(&random, -3, 3), random_uniform(&random, -3, 3));
    if (k % 2 == 0)
      text_add(&what, "type: box, size: [%.9g, %.9g, %.9g]}}\n", size, size, size);
    else
      text_add(&what, "type: cylinder, radius: %.9g, length: %.9g, segments: 6}}\n", 0.5 * size, size);
    text_add(&what, "initial: [{link: body, velocities: [%.6g, 0, 0, %.6g, %.6g, %.6g]}]\n", speed, spin[0], spin[1],
             spin[2]);
    SceneRun run;
    run_parse(&run, what.data, NULL);
    double start = sim_measure(run.sim).total, moving = sim_measure(run.sim).kinetic, worst = 0;
    while (sim_state(run.sim)->time < (tests_are_long() ? 1 : 0.4)) {
      run_step(&run);
      worst = fmax(worst, (sim_measure(run.sim).total - start) / moving);
    }
    run_close(&run);
    most = fmax(most, worst);
    if (!(worst <= 1e-3)) fail_msg("seed 42, body %d gains %.3g of its energy:\n%s", k, worst, what.data);
    text_free(&what);
  }
  print_message("tumbling bodies gain at most %.3g of their energy\n", most);
}

/* Short cylinders that swing on their edges without friction and do not topple, a conservative motion. A cylinder that
 * is nearly flat in between loses some energy (docs/derivations/spin.md, W21). */
static void leaning_cylinders_W21_keep_their_energy(void** state) {
  (void)state;
  Random random = {43};
  double least = 0, most = -1;
  for (int k = 0; k < (tests_are_long() ? WHEELS_LONG : WHEELS); k++) {
    double radius = random_uniform(&random, 0.05, 0.3), length = random_uniform(&random, 0.1, 0.5) * radius;
    double tilt = random_uniform(&random, 0.5, 0.9), dt = 4e-4 * math_pow(4, random_uniform(&random, 0, 1));
    double height = radius * sin(tilt) + 0.5 * length * cos(tilt) + 6e-3 * radius;
    Text what = {0};
    text_add(&what,
             "simulation: {dt: %.6g, duration: 1}\n"
             "contact: {friction: 0}\n"
             "links:\n"
             "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
             "  - {name: body, density: 1000, position: [0, 0, %.9g], rpy: [%.9g, 0, 0],\n"
             "     shape: {type: cylinder, radius: %.9g, length: %.9g}}\n",
             dt, height, tilt, radius, length);
    text_add(&what, "initial: [{link: body, velocities: [0.3, 0, 0, 0, %.6g, %.6g]}]\n", random_uniform(&random, 1, 4),
             random_uniform(&random, -8, 8));
    SceneRun run;
    run_parse(&run, what.data, NULL);
    run_until(&run, 0.05); /* it comes to its gap at rest */
    double before = run_energy(&run);
    run_until(&run, 0.6);
    double change = run_energy(&run) / before - 1;
    run_close(&run);
    least = fmin(least, change);
    most = fmax(most, change);
    if (!(change <= 1e-3 && change >= -5e-2))
      fail_msg("seed 43, cylinder %d gains %.3g of its energy:\n%s", k, change, what.data);
    text_free(&what);
  }
  print_message("leaning cylinders gain %.3g to %.3g of their energy\n", least, most);
}

/* Balls with an eccentric mass that rock, with friction and without (docs/derivations/spin.md, W21). */
static void eccentric_balls_W21_keep_their_energy(void** state) {
  (void)state;
  Random random = {44};
  double least = 0, most = 0;
  for (int k = 0; k < (tests_are_long() ? WHEELS_LONG : WHEELS); k++) {
    double radius = random_uniform(&random, 0.02, 0.2), offset = random_uniform(&random, 0.1, 0.6) * radius;
    double dt = 5e-4 * math_pow(20, random_uniform(&random, 0, 1)), moment = 0.4 * radius * radius;
    double pivot = moment + (radius - offset) * (radius - offset); /* about the contact point, for 1 kg */
    Text what = {0};
    text_add(&what,
             "simulation: {dt: %.6g, duration: 3}\n"
             "contact: {friction: %d}\n"
             "links:\n"
             "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
             "  - {name: body, mass: 1, center: [0, 0, %.9g], inertia: [%.9g, %.9g, %.9g, 0, 0, 0],\n"
             "     position: [0, 0, %.9g], shape: {type: sphere, radius: %.9g}}\n",
             dt, k % 2, -offset, 0.8 * moment, 0.8 * moment, 0.7 * moment, 1.002 * radius, radius);
    text_add(&what, "initial: [{link: body, velocities: [0, 0, 0, 0.3, %.6g, %.6g]}]\n",
             random_uniform(&random, 0.4, 0.9) * sqrt(9.81 * offset / pivot), random_uniform(&random, -5, 5));
    SceneRun run;
    run_parse(&run, what.data, NULL);
    run_until(&run, 0.5); /* it comes to its gap at rest */
    double before = sim_measure(run.sim).total, kinetic = 0;
    while (sim_state(run.sim)->time < 2.5) {
      run_step(&run);
      kinetic = fmax(kinetic, sim_measure(run.sim).kinetic);
    }
    double change = (sim_measure(run.sim).total - before) / kinetic;
    run_close(&run);
    least = fmin(least, change);
    most = fmax(most, change);
    if (!(fabs(change) <= 1e-2))
      fail_msg("seed 44, ball %d gains %.3g of its kinetic energy:\n%s", k, change, what.data);
    text_free(&what);
  }
  print_message("eccentric balls gain %.3g to %.3g of their kinetic energy\n", least, most);
}

/* Bodies that move freely in a plane: wheels with an eccentric mass that rock, and rods that fall without friction and
 * do not reach the ground with their sides (docs/derivations/spin.md, W53). */
static void bodies_in_a_plane_W53_keep_their_energy(void** state) {
  (void)state;
  Random random = {45};
  double least = 0, most = 0;
  for (int k = 0; k < (tests_are_long() ? WHEELS_LONG : WHEELS); k++) {
    double radius = random_uniform(&random, 0.02, 0.2), offset = random_uniform(&random, 0.1, 0.6) * radius;
    double dt = 5e-4 * math_pow(20, random_uniform(&random, 0, 1)), moment = 0.4 * radius * radius;
    double angle = random_uniform(&random, 0.2, 0.9), length = random_uniform(&random, 4, 12) * radius;
    bool wheel = k % 2 == 0;
    Text what = {0};
    text_add(&what,
             "simulation: {dt: %.6g, duration: 3}\n"
             "contact: {friction: %d}\n"
             "links:\n"
             "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
             "  - {name: body, mass: 1, center: [0, 0, %.9g], inertia: [%.9g, %.9g, %.9g, 0, 0, 0],\n"
             "     joint: {type: free, free_axes: [x, z, ry], position: [0, 0, %.9g]}, shapes: [{",
             dt, wheel, wheel ? -offset : 0, moment, wheel ? moment : length * length / 12, moment,
             1.002 * radius + (wheel ? 0 : 0.5 * length * cos(angle)));
    if (wheel)
      text_add(&what, "type: cylinder, radius: %.9g, length: %.9g, rpy: [1.5707963267948966, 0, 0]}]}\n", radius,
               radius);
    else
      text_add(&what, "type: capsule, radius: %.9g, length: %.9g}]}\n", radius, length);
    text_add(&what, "initial: [{link: body, coordinates: [0, 0, %.9g]}]\n", angle);
    SceneRun run;
    run_parse(&run, what.data, NULL);
    double fall = sqrt(length / 9.81), begin = wheel ? 0.3 : 0.1 * fall; /* it has come to its gap at rest */
    run_until(&run, begin);
    double before = sim_measure(run.sim).total, kinetic = 0;
    while (sim_state(run.sim)->time < (wheel ? 2.5 : 0.4 * fall)) {
      run_step(&run);
      kinetic = fmax(kinetic, sim_measure(run.sim).kinetic);
    }
    double change = (sim_measure(run.sim).total - before) / kinetic;
    run_close(&run);
    least = fmin(least, change);
    most = fmax(most, change);
    if (!(fabs(change) <= 1e-2))
      fail_msg("seed 45, body %d gains %.3g of its kinetic energy:\n%s", k, change, what.data);
    text_free(&what);
  }
  print_message("bodies in a plane gain %.3g to %.3g of their kinetic energy\n", least, most);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rolling_bodies_gain_no_energy),
                                     cmocka_unit_test(wheels_keep_their_energy),
                                     cmocka_unit_test(leaning_cylinders_W21_keep_their_energy),
                                     cmocka_unit_test(eccentric_balls_W21_keep_their_energy),
                                     cmocka_unit_test(bodies_in_a_plane_W53_keep_their_energy),
                                     cmocka_unit_test(polygons_gain_no_energy),
                                     cmocka_unit_test(polygons_W20_gain_no_energy_by_skipped_corners),
                                     cmocka_unit_test(tumbling_bodies_gain_no_energy)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
