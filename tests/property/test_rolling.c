/* Tests that freely rolling balls and capsules never gain energy. Under `momentum` they lose less than 1 % of it. */
#include "base/base.h"
#include "scene_run.h"
#include "support/long.h"

enum { BODIES = 40, BODIES_LONG = 500, WHEELS = 8, WHEELS_LONG = 70, POLYGONS = 12, POLYGONS_LONG = 500 };
#define SIDES_A_STEP 0.2

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

/* Steps of 0.25 to 2 sides may drive a polygon (docs/derivations/spin.md, W10). A rolling polygon with shorter steps
 * loses energy at the impact of each corner. */
static void polygons_that_steps_resolve_gain_no_energy(void** state) {
  (void)state;
  Random random = {40};
  double most = -1;
  for (int k = 0; k < (tests_are_long() ? POLYGONS_LONG : POLYGONS); k++) {
    double radius, speed, dt;
    random_motion(&random, &radius, &speed, &dt);
    int sides = (int)(16 * math_pow(8, random_uniform(&random, 0, 1)));
    dt = fmin(dt, SIDES_A_STEP * 2 * M_PI / sides * radius / speed);
    char shape[200];
    snprintf(shape, sizeof shape, "type: cylinder, radius: %.9g, length: %.9g, segments: %d", radius,
             random_uniform(&random, 0.3, 1.5) * radius, sides);
    Text what = {0};
    double change = gain(&random, shape, radius, speed, dt, 0, tests_are_long() ? 1 : 0.3, &what);
    most = fmax(most, change);
    if (!(change <= 1e-3)) fail_msg("seed 40, polygon %d gains %.3g of its energy:\n%s", k, change, what.data);
    text_free(&what);
  }
  print_message("polygons gain at most %.3g of their energy\n", most);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rolling_bodies_gain_no_energy),
                                     cmocka_unit_test(wheels_keep_their_energy),
                                     cmocka_unit_test(polygons_that_steps_resolve_gain_no_energy)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
