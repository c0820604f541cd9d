/* Balls and capsules that roll freely never gain energy; under momentum they lose less than 1 % of it. */
#include "base/base.h"
#include "scene_run.h"
#include "support/long.h"

enum { BODIES = 40, BODIES_LONG = 500 };

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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rolling_bodies_gain_no_energy)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
