/* A ball on a plane against what mechanics says of it, and the gradients of runs against the derivatives of that
 * (docs/contact-parameters.md, "Balls that roll"). Gravity is tilted, the ground level:
 *   rolls when mu > 2/7 tan a:  v' = 5/7 g sin a;      else slides:  v' = g (sin a - mu cos a),  r w' = 5/2 mu g cos a
 *   thrown on level ground it slides until it rolls:   v = (5 v0 + 2 r w0) / 7, whatever the friction
 * Each also with dt = 1e-2 s. */
#include "differentiate/differentiate.h"

#include "support/runs.h"

#define GRAVITY 9.81
#define RADIUS 0.1
#define PI 3.14159265358979323846

typedef struct {
  Run* run;
  Recording recording;
  LossSeeds seeds;
  ModelGradient gradient;
  RunAdjoint* adjoint;
  int steps;
} Rig;

/* One run of a ball of 1 kg, from its height at rest, with speeds along x and about y. */
static Rig* rig_create(double dt, double span, double slope, double friction, double speed, double spin) {
  Rig* r = MEMORY_NEW(Rig, 1);
  r->steps = (int)(span / dt + 0.5);
  r->run = run_model(
      "simulation: {dt: %g, steps: %d, gravity: [%.17g, 0, %.17g], integrator: momentum}\n"
      "contact: {friction: %.17g}\n"
      "links:\n"
      "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
      "  - {name: ball, mass: 1, mass_model: given, inertia: [0.004, 0.004, 0.004, 0, 0, 0], position: [0, 0, "
      "0.10044],\n"
      "     shape: {type: sphere, radius: 0.1}}\n"
      "initial: [{link: ball, velocities: [%g, 0, 0, 0, %g, 0]}]\n",
      dt, r->steps, GRAVITY * sin(slope), -GRAVITY * cos(slope), friction, speed, spin);
  RecordOptions options = {.threads = 1, .tolerance = 1e-10};
  RecordReport report;
  recording_create(&r->recording, &r->run->model, r->steps);
  assert_int_equal(recording_run(&r->recording, &r->run->model, &options, &report, &r->run->diagnostics), STATUS_OK);
  r->seeds = loss_seeds_create(&r->run->model, r->steps);
  model_gradient_create(&r->gradient, &r->run->model);
  r->adjoint = run_adjoint_create(&r->run->model, 1);
  return r;
}

static void rig_free(Rig* r) {
  run_adjoint_destroy(r->adjoint);
  model_gradient_destroy(&r->gradient);
  loss_seeds_destroy(&r->seeds);
  recording_destroy(&r->recording);
  run_free(r->run);
  memory_free(r);
}

/* Rate 0..5 of the ball in the last row: 0 along x, 4 about y. */
static double rate(const Rig* r, int dof) { return r->recording.rate[r->steps * r->run->model.dof_count + dof]; }

/* Its derivatives. */
static void derive(Rig* r, int dof) {
  loss_seeds_clear(&r->seeds);
  r->seeds.rate[r->steps * r->run->model.dof_count + dof] = 1;
  assert_true(run_adjoint(r->adjoint, &r->recording, &r->seeds, 1, &r->gradient).sound);
}

static const double SLOPE = PI / 6, STEPS[] = {1e-2, 3e-3, 1e-3};

/* Returns the error due to friction by the last step's normal force: some steps of the run. */
static double lag(double dt, double span) { return 3 * dt / span; }

/* Velocities are those at the midpoint of a step, except the exact initial one. The last velocity is half a step before
 * the end. */
static double reached(double dt, double span) { return span - 0.5 * dt; }

/* Returns the effect of chords for a rotation of w dt per step: the lever arm of friction is r cos(w dt). */
static double chord(const Rig* r, double dt) {
  double turn = rate(r, 4) * dt;
  return 0.3 * turn * turn;
}

static void ball_rolls_down(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    double dt = STEPS[k], span = 0.3, wanted = 5.0 / 7 * GRAVITY * sin(SLOPE) * reached(dt, span);
    Rig* r = rig_create(dt, span, SLOPE, 0.3, 0, 0);
    double tolerance = 0.002 + chord(r, dt);
    compare_at_most(tolerance, 0.01, "dt = %g: what is asked for", dt);
    compare_relative(rate(r, 0), wanted, tolerance, "dt = %g: speed", dt);
    compare_relative(rate(r, 4) * RADIUS, wanted, tolerance, "dt = %g: turning", dt);
    derive(r, 0);
    compare_near(r->gradient.contact[CONTACT_FRICTION], 0, 0.01, "dt = %g: speed by friction", dt);
    compare_near(r->gradient.velocities[0], 5.0 / 7, 0.01, "dt = %g: speed by the speed at the start", dt);
    compare_near(r->gradient.velocities[4], 2.0 / 7 * RADIUS, 0.01 * RADIUS, "dt = %g: speed by turning", dt);
    rig_free(r);
  }
}

static void ball_slides_down_and_spins_up(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    double dt = STEPS[k], span = 0.3, friction = 0.15, time = reached(dt, span);
    double press = GRAVITY * cos(SLOPE) * time;
    double thrown = 0.5; /* at rest the direction of friction has a kink */
    Rig* r = rig_create(dt, span, SLOPE, friction, thrown, 0);
    double tolerance = 0.002 + chord(r, dt);
    compare_relative(rate(r, 0), thrown + GRAVITY * sin(SLOPE) * time - friction * press, tolerance, "dt = %g: speed",
                     dt);
    compare_relative(rate(r, 4) * RADIUS, 2.5 * friction * press, tolerance, "dt = %g: turning", dt);
    derive(r, 0);
    compare_relative(r->gradient.contact[CONTACT_FRICTION], -press, lag(dt, span), "dt = %g: speed by friction", dt);
    compare_near(r->gradient.velocities[0], 1, 0.01, "dt = %g: speed by the speed at the start", dt);
    derive(r, 4);
    compare_relative(r->gradient.contact[CONTACT_FRICTION], 2.5 * press / RADIUS, lag(dt, span),
                     "dt = %g: turning by friction", dt);
    rig_free(r);
  }
}

/* One per cent of friction below the threshold the slip v - r w grows by one per cent of g sin a, above it stays. */
static void ball_rolls_from_the_threshold_on(void** state) {
  (void)state;
  double threshold = 2.0 / 7 * tan(SLOPE), span = 0.5, grown = 0.01 * GRAVITY * sin(SLOPE) * span;
  for (int k = 1; k < 3; k++)
    for (int side = -1; side <= 1; side += 2) {
      Rig* r = rig_create(STEPS[k], span, SLOPE, (1 + 0.01 * side) * threshold, 0, 0);
      double slip = rate(r, 0) - RADIUS * rate(r, 4);
      compare_near(slip / grown, side < 0 ? 1 : 0, 0.3, "dt = %g, friction %+d %%: slip", STEPS[k], side);
      rig_free(r);
    }
}

static void thrown_ball_comes_to_roll(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++)
    for (double spin = -3; spin <= 6; spin += 9) {
      double dt = STEPS[k], span = 0.3, speed = 1, wanted = (5 * speed + 2 * RADIUS * spin) / 7;
      Rig* r = rig_create(dt, span, 0, 0.5, speed, spin);
      compare_relative(rate(r, 0), wanted, 0.005, "dt = %g, spin %g: speed", dt, spin);
      compare_relative(rate(r, 4) * RADIUS, wanted, 0.01, "dt = %g, spin %g: turning", dt, spin);
      derive(r, 0);
      compare_near(r->gradient.velocities[0], 5.0 / 7, lag(dt, span), "dt = %g, spin %g: by the speed", dt, spin);
      compare_near(r->gradient.velocities[4], 2.0 / 7 * RADIUS, lag(dt, span) * RADIUS, "dt = %g, spin %g: by the spin",
                   dt, spin);
      compare_near(r->gradient.contact[CONTACT_FRICTION], 0, 0.02, "dt = %g, spin %g: by friction", dt, spin);
      rig_free(r);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ball_rolls_down),
      cmocka_unit_test(ball_slides_down_and_spins_up),
      cmocka_unit_test(ball_rolls_from_the_threshold_on),
      cmocka_unit_test(thrown_ball_comes_to_roll),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
