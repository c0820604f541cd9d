/* What has no length, mass or time of its own gives the same motion at every size: lengths times a, masses times b,
 * times times c, and everything else as its dimension demands. A box slides and tumbles on a half-space with a light
 * box on top and an arm with a drive and a damper. Runs agree to rounding; to the bit where the factors are powers of
 * four, whose roots are exact too. */
#include "support/compare.h"
#include "support/runs.h"

enum { STEPS = 40, LINKS = 4 };
/* Steps are solved to this part of the forces at work ... */
#define TOLERANCE 1e-11
/* ... and motions may differ by this part of the lengths: rounding and the tolerance, grown over the steps. */
#define ALLOWED 1e-9

typedef struct {
  double length, mass, time;
} Factors;

typedef enum { GIVEN, DERIVED } Parameters;

/* Contact parameters by their dimensions: m, J m, 1, (m/s)^2. */
static void add_contact(Text* text, Parameters parameters, double length, double energy, double speed) {
  if (parameters == DERIVED)
    text_add(text, "contact: {friction: 0.4}\n");
  else
    text_add(text, "contact: {barrier_distance: %.17g, stiffness: %.17g, friction: 0.4, smoothing: %.17g}\n",
             1e-3 * length, 3e-10 * energy * length, 1e-7 * speed * speed);
}

static void add_bodies(Text* text, double length, double mass) {
  text_add(text,
           "shapes:\n"
           "  box: {type: box, size: [%.17g, %.17g, %.17g]}\n"
           "  arm: {type: box, size: [%.17g, %.17g, %.17g]}\n"
           "links:\n"
           "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
           "  - {name: box, shape: box, mass: %.17g, position: [0, 0, %.17g]}\n"
           "  - {name: top, shape: box, mass: %.17g, position: [%.17g, 0, %.17g]}\n",
           0.2 * length, 0.3 * length, 0.1 * length, 0.4 * length, 0.05 * length, 0.05 * length, mass, 0.08 * length,
           0.01 * mass, 0.05 * length, 0.2 * length);
}

static void add_arm(Text* text, double length, double mass, double time) {
  double torque = mass * length * length / (time * time);
  text_add(text,
           "  - {name: arm, mass: %.17g, parent: box, shapes: [{shape: arm, position: [%.17g, 0, 0]}], joint: {type: "
           "hinge, axis: [0, 1, 0], position: [%.17g, 0, %.17g], damping: %.17g}}\n"
           "controllers:\n"
           "  - {link: arm, type: pd, position_gain: %.17g, velocity_gain: %.17g, target: {type: constant, value: "
           "0.3}}\n",
           0.5 * mass, 0.2 * length, 0.11 * length, 0.02 * length, 0.02 * torque * time, 5 * torque,
           0.01 * torque * time * time);
}

static Run* run_of(Factors f, Parameters parameters, const char* integrator) {
  Text text = {0};
  double speed = f.length / f.time, energy = f.mass * speed * speed;
  text_add(&text, "simulation: {dt: %.17g, steps: %d, integrator: %s, gravity: [0, 0, %.17g]}\n", 0.01 * f.time, STEPS,
           integrator, -9.81 * f.length / (f.time * f.time));
  add_contact(&text, parameters, f.length, energy, speed);
  add_bodies(&text, f.length, f.mass);
  add_arm(&text, f.length, f.mass, f.time);
  text_add(&text, "initial:\n  - {link: box, velocities: [%.17g, %.17g, 0, %.17g, %.17g, %.17g]}\n", 0.5 * speed,
           0.1 * speed, 1 / f.time, 2 / f.time, 0.5 / f.time);
  Run* run = run_create(1, TOLERANCE, "%s", text.data);
  text_free(&text);
  return run;
}

typedef struct {
  Pose pose[STEPS * LINKS]; /* of all links after every step, lengths as those of the first run */
  int touched, retries;     /* pairs in contact, and indefinite Hessians, over all steps */
} Motion;

static Motion motion_of(Factors f, Parameters parameters, const char* integrator) {
  Run* run = run_of(f, parameters, integrator);
  assert_int_equal(run->model.link_count, LINKS);
  Motion motion = {.touched = 0};
  for (int n = 0; n < STEPS; n++) {
    StepReport report = run_steps(run, 1);
    motion.touched += report.active_pairs;
    motion.retries += report.factor_retries;
    for (int i = 0; i < LINKS; i++) {
      Pose pose = sim_state(run->sim)->pose[i];
      pose.t = vec3_scale(pose.t, 1 / f.length);
      motion.pose[n * LINKS + i] = pose;
    }
  }
  run_free(run);
  return motion;
}

/* Largest difference of positions, in lengths of the first run, and of entries of rotations. */
static double difference_of(const Pose* a, const Pose* b) {
  double largest = 0;
  for (int k = 0; k < STEPS * LINKS; k++) {
    Mat3 turned = mat3_sub(a[k].r, b[k].r);
    largest = fmax(largest, vec3_norm(vec3_sub(a[k].t, b[k].t)));
    for (int i = 0; i < 9; i++) largest = fmax(largest, fabs((&turned.m[0][0])[i]));
  }
  return largest;
}

/* bits: the same to the bit, but where an indefinite Hessian was mended and lengths differ: the nearest semidefinite
 * one of metres and radians together is another one in other units of length, the way to the solution too. */
static void check_factors(const Factors* factors, int count, Parameters parameters, bool bits) {
  static const char* const integrators[] = {"first_order", "second_order", "momentum"};
  for (int order = 0; order < 3; order++) {
    Motion wanted = motion_of((Factors){1, 1, 1}, parameters, integrators[order]);
    assert_true(wanted.touched > STEPS / 2); /* there was contact to speak of */
    for (int k = 0; k < count; k++) {
      Factors f = factors[k];
      Motion found = motion_of(f, parameters, integrators[order]);
      double difference = difference_of(found.pose, wanted.pose);
      bool mended = wanted.retries > 0 && f.length != 1;
      char what[160];
      snprintf(what, sizeof what, "%s, %s parameters, lengths x %g, masses x %g, times x %g", integrators[order],
               parameters == GIVEN ? "given" : "derived", f.length, f.mass, f.time);
      print_message("%s: %.2g, %d mended\n", what, difference, found.retries);
      compare_at_most(difference, bits && !mended ? 0 : ALLOWED, "%s", what);
    }
  }
}

static const Factors any[] = {{1e-3, 1, 1},   {0.1, 1, 1},        {10, 1, 1},      {1e3, 1, 1},     {1, 1e-6, 1},
                              {1, 1e6, 1},    {1, 1, 1e-3},       {1, 1, 1e3},     {1e-3, 1e-6, 1}, {1e3, 1e6, 1},
                              {1e3, 1e-6, 1}, {1e-3, 1e-6, 1e-3}, {1e3, 1e6, 1e3}, {0.03, 700, 0.2}};
/* Powers of four. */
static const Factors powers[] = {
    {0x1p-10, 1, 1}, {0x1p10, 1, 1}, {1, 0x1p-20, 1},          {1, 0x1p20, 1},
    {1, 1, 0x1p-10}, {1, 1, 0x1p10}, {0x1p10, 0x1p-20, 0x1p4}, {0x1p-10, 0x1p-20, 0x1p-10}};

enum { ANY = sizeof any / sizeof any[0], POWERS = sizeof powers / sizeof powers[0] };

static void similar_with_given_parameters(void** state) {
  (void)state;
  check_factors(any, ANY, GIVEN, false);
}

static void similar_with_derived_parameters(void** state) {
  (void)state;
  check_factors(any, ANY, DERIVED, false);
}

static void the_same_bits_at_powers_of_four(void** state) {
  (void)state;
  check_factors(powers, POWERS, GIVEN, true);
  check_factors(powers, POWERS, DERIVED, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(similar_with_given_parameters),
      cmocka_unit_test(similar_with_derived_parameters),
      cmocka_unit_test(the_same_bits_at_powers_of_four),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
