/* Gradients through impacts against what mechanics says of them (docs/derivations/impact.md): velocities after by
 * velocities before, and where a body is afterwards by where it was before, which no time step decides. */
#include "differentiate/differentiate.h"

#include <string.h>

#include "support/runs.h"

typedef struct {
  Run* run;
  Recording recording;
  LossSeeds seeds;
  ModelGradient gradient;
  RunAdjoint* adjoint;
  int steps;
} Rig;

static Rig* rig_create(Run* run, int steps) {
  Rig* r = MEMORY_NEW(Rig, 1);
  r->run = run;
  r->steps = steps;
  RecordOptions options = {.threads = 1, .tolerance = 1e-10};
  RecordReport report;
  recording_create(&r->recording, &run->model, steps);
  assert_int_equal(recording_run(&r->recording, &run->model, &options, &report, &run->diagnostics), STATUS_OK);
  r->seeds = loss_seeds_create(&run->model, steps);
  model_gradient_create(&r->gradient, &run->model);
  r->adjoint = run_adjoint_create(&run->model, 1);
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

/* Derivatives of one number of the last row. */
static void derive(Rig* r, int dof, bool rate) {
  loss_seeds_clear(&r->seeds);
  int at = r->steps * r->run->model.dof_count + dof;
  (rate ? r->seeds.rate : r->seeds.q)[at] = 1;
  assert_true(run_adjoint(r->adjoint, &r->recording, &r->seeds, 1, &r->gradient).sound);
}

#define WEIGHTLESS "simulation: {dt: %g, steps: 50, gravity: [0, 0, 0], integrator: %s}\n"

static const char* const INTEGRATORS[] = {"first_order", "momentum", "second_order"};

/* Two equal bodies head-on: d(out)/d(in) is (1 - e)/2 and (1 + e)/2. */
static void check_head_on(const char* integrator, double dt, double e) {
  Rig* r = rig_create(
      run_model("simulation: {dt: %g, steps: %d, gravity: [0, 0, 0], integrator: %s}\n"
                "contact: {restitution: %g, rest_speed: 0.003}\n"
                "links:\n"
                "  - {name: a, mass: 0.3, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [-0.15, 0, 0]}\n"
                "  - {name: b, mass: 0.3, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0.15, 0, 0]}\n"
                "initial:\n"
                "  - {link: a, velocities: [2, 0, 0, 0, 0, 0]}\n"
                "  - {link: b, velocities: [-1, 0, 0, 0, 0, 0]}\n",
                dt, (int)(0.06 / dt), integrator, e),
      (int)(0.06 / dt));
  for (int body = 0; body < 2; body++) {
    derive(r, 6 * body, true);
    for (int other = 0; other < 2; other++)
      compare_near(r->gradient.velocities[6 * other], other == body ? (1 - e) / 2 : (1 + e) / 2, 0.004,
                   "%s, dt = %g, e = %g: speed of %d by that of %d", integrator, dt, e, body, other);
    for (int other = 0; other < 2; other++)
      compare_near(r->gradient.coordinates[6 * other], 0, 0.1,
                   "%s, dt = %g, e = %g: speed of %d by the place of %d [1/s]", integrator, dt, e, body, other);
  }
  rig_free(r);
}

static void impact_velocities_after_by_velocities_before(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++)
    for (double dt = 1e-2; dt > 5e-5; dt *= 0.1) {
      check_head_on(INTEGRATORS[k], dt, 0.5);
      check_head_on(INTEGRATORS[k], dt, 0.9);
    }
}

/* Thrown at the ground from h at speed v, without weight: z(T) = e (v T - h) + what is left between them. Moved up by
 * dh it is lower by e dh afterwards; a step that turns a velocity round would leave it higher by dh. */
static void check_place(const char* integrator, double dt, double e) {
  double speed = 3, span = 0.1, height = 0.43 * span * speed;
  Rig* r = rig_create(
      run_model("simulation: {dt: %g, steps: %d, gravity: [0, 0, 0], integrator: %s}\n"
                "contact: {restitution: %g, rest_speed: 0.003}\n"
                "links:\n"
                "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                "  - {name: box, mass: 0.3, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, %g]}\n"
                "initial: [{link: box, velocities: [0, 0, -%g, 0, 0, 0]}]\n",
                dt, (int)(span / dt + 0.5), integrator, e, 0.1 + height, speed),
      (int)(span / dt + 0.5));
  derive(r, 2, false);
  compare_near(r->gradient.coordinates[2], -e, 0.01, "%s, dt = %g, e = %g: place by place", integrator, dt, e);
  compare_near(r->gradient.velocities[2], -e * span, 0.01 * span, "%s, dt = %g, e = %g: place by speed", integrator, dt,
               e);
  const double* q = r->recording.q + (size_t)r->steps * (size_t)r->run->model.coordinate_count;
  double range = 2 * r->run->model.contact.support; /* where an impact takes place */
  compare_near(q[2] + height - (1 + e) * range, e * (speed * span - height), 0.1 * range, "%s, dt = %g, e = %g: place",
               integrator, dt, e);
  rig_free(r);
}

static void impact_place_after_by_place_before(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++)
    for (double dt = 1e-2; dt > 5e-5; dt *= 0.1) {
      check_place(INTEGRATORS[k], dt, 0.5);
      check_place(INTEGRATORS[k], dt, 1);
    }
}

/* A box on the ground at speed v leaves with e v, so d(out)/de = v; e is the ball's own, the ground's, sqrt(a b) of
 * both, or the pair's, and each has its share. */
static void impact_speed_after_by_restitution(void** state) {
  (void)state;
  static const struct {
    const char *contact, *ground, *box;
    double share[4]; /* of contact, ground, box, pair */
    double e;
  } rows[] = {
      {"restitution: 0.6, ", "", "", {1, 0, 0, 0}, 0.6},
      {"restitution: 0.9, ", "", "restitution: 0.5, ", {0, 0, 1, 0}, 0.5},
      {"", "restitution: 0.8, ", "", {0, 1, 0, 0}, 0.8},
      {"", "restitution: 0.9, ", "restitution: 0.4, ", {0, 1.0 / 3, 0.75, 0}, 0.6}, /* sqrt(b/a) / 2, sqrt(a/b) / 2 */
      {"pairs: [{a: box, b: ground, restitution: 0.7}], ", "restitution: 0.1, ", "", {0, 0, 0, 1}, 0.7},
  };
  double speed = 2;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    Rig* r = rig_create(
        run_model("simulation: {dt: 0.005, steps: 12, gravity: [0, 0, 0], integrator: first_order}\n"
                  "contact: {%srest_speed: 0.003}\n"
                  "links:\n"
                  "  - {name: ground, %sfixed: true, shape: {type: half_space}}\n"
                  "  - {name: box, %smass: 0.3, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.13]}\n"
                  "initial: [{link: box, velocities: [0, 0, -2, 0, 0, 0]}]\n",
                  rows[k].contact, rows[k].ground, rows[k].box),
        12);
    derive(r, 2, true);
    int dofs = r->run->model.dof_count, items = r->run->model.scene->contact.pair_count;
    compare_near(r->recording.rate[12 * dofs + 2], rows[k].e * speed, 0.005 * speed, "row %zu: speed", k);
    for (int n = 0; n < 3 + items; n++)
      compare_near(r->gradient.material[n][MATERIAL_RESTITUTION], rows[k].share[n] * speed, 0.01 * speed,
                   "row %zu: speed by the restitution of row %d", k, n);
    rig_free(r);
  }
}

/* A box slides to rest after v^2 / (2 mu g): the distance by mu is -v^2 / (2 mu^2 g), and each link has its share. */
static void friction_distance_by_friction_of_links(void** state) {
  (void)state;
  Rig* r = rig_create(
      run_model("simulation: {dt: 0.002, steps: 250, integrator: first_order}\n"
                "links:\n"
                "  - {name: ground, friction: 0.9, fixed: true, shape: {type: half_space}}\n"
                "  - {name: box, friction: 0.4, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, "
                "0.10045465]}\n"
                "initial: [{link: box, velocities: [1, 0, 0, 0, 0, 0]}]\n"),
      250);
  derive(r, 0, false);
  double mu = 0.6, distance = 1 / (2 * mu * 9.81), by_mu = -distance / mu;
  compare_near(r->recording.q[250 * r->run->model.coordinate_count], distance - 0.001, 2e-4, "distance");
  compare_near(r->gradient.material[1][MATERIAL_FRICTION], by_mu * 0.5 * sqrt(0.4 / 0.9), 0.005, "by the ground's");
  compare_near(r->gradient.material[2][MATERIAL_FRICTION], by_mu * 0.5 * sqrt(0.9 / 0.4), 0.005, "by the box's");
  rig_free(r);
}

/* A ball that lands as it spins fast has its next step taken in parts, and slides throughout: its speed grows by mu
 * times the normal impulse, and so do the derivatives by mu and by the speed of landing (I5). */
static void friction_I5_speed_after_a_landing_by_friction(void** state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    double dt = 5e-3, mu = 0.3, fall = 1.4;
    Rig* r = rig_create(
        run_model("simulation: {dt: %g, steps: 10, gravity: [0, 0, 0], integrator: momentum}\n"
                  "contact: {friction: %g}\n"
                  "links:\n"
                  "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                  "  - {name: ball, mass: 1, mass_model: given, inertia: [0.001, 0.001, 0.001, 0, 0, 0], position: [0, "
                  "0, %g], shape: {type: sphere, radius: 0.05, resolution: 4}}\n"
                  "initial: [{link: ball, velocities: [1, 0, %g, 0, 300, 0]}]\n",
                  dt, mu, 0.05 + (2 + 0.25 * k) * fall * dt, -fall),
        10);
    derive(r, 0, true);
    const double* rate = r->recording.rate + (size_t)10 * (size_t)r->run->model.dof_count;
    double impulse = fall + rate[2];
    compare_near(rate[0] - 1, mu * impulse, 0.06 * mu * impulse, "%d: speed", k);
    compare_near(r->gradient.contact[CONTACT_FRICTION], impulse, 0.1 * impulse, "%d: by friction", k);
    compare_near(r->gradient.velocities[2], -mu, 0.15 * mu, "%d: by the speed of landing", k);
    rig_free(r);
  }
}

/* A ball that rolls slows down by c g / (r (1 + I / m r^2)), 5/7 c g / r for a solid one; one that spins upright by
 * c m g / I, and stops: and so do the derivatives by c, its own, sqrt(c c') with the ground's, or the pair's. */
static void rolling_T1_slows_down_as_it_must(void** state) {
  (void)state;
  static const struct {
    const char *contact, *ground, *ball;
    double coefficient, share[4]; /* of contact, ground, ball, pair */
  } rows[] = {
      {"%s: 0.004, ", "", "", 0.004, {1, 0, 0, 0}},
      {"", "%s: 0.008, ", "%s: 0.002, ", 0.004, {0, 0.25, 1, 0}},
      {"pairs: [{a: ball, b: ground, %s: 0.004}], ", "", "%s: 0.01, ", 0.004, {0, 0, 0, 1}},
  };
  double radius = 0.1, span = 0.3, g = 9.81;
  for (int spins = 0; spins < 2; spins++)
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
      Text text[3] = {{0}};
      const char* parts[] = {rows[k].contact, rows[k].ground, rows[k].ball};
      for (int n = 0; n < 3; n++)
        text_add(&text[n], *parts[n] ? parts[n] : "%s", *parts[n] ? material_value_key(MATERIAL_ROLLING + spins) : "");
      Rig* r = rig_create(
          run_model("simulation: {dt: 0.002, steps: 150, integrator: momentum}\n"
                    "contact: {%ssupport: 0.003, friction: %g}\n"
                    "links:\n"
                    "  - {name: ground, %sfixed: true, shape: {type: half_space}}\n"
                    "  - {name: ball, %smass: 1, mass_model: given, inertia: [0.004, 0.004, 0.004, 0, 0, 0], position: "
                    "[0, 0, 0.10122], shape: {type: sphere, radius: 0.1, resolution: 4}}\n"
                    "initial: [{link: ball, velocities: [%g, 0, 0, 0, %g, %g]}]\n",
                    text[0].data, spins ? 0.0 : 0.5, text[1].data, text[2].data, spins ? 0.0 : 1.0, spins ? 0.0 : 10.0,
                    spins ? 4.0 : 0.0),
          150);
      int dof = spins ? 5 : 0, which = MATERIAL_ROLLING + spins;
      derive(r, dof, true);
      double by = spins ? -g / 0.004 * span : -5.0 / 7 * g / radius * span;
      double start = spins ? 4 : 1, found = r->recording.rate[150 * r->run->model.dof_count + dof];
      compare_near(found, start + by * rows[k].coefficient, 0.03 * fabs(by) * rows[k].coefficient, "%d, row %zu: rate",
                   spins, k);
      for (int n = 0; n < 3 + r->run->model.scene->contact.pair_count; n++)
        compare_near(r->gradient.material[n][which], rows[k].share[n] * by, 0.04 * fabs(by),
                     "%d, row %zu: by the coefficient of row %d", spins, k, n);
      rig_free(r);
      for (int n = 0; n < 3; n++) text_free(&text[n]);
    }
}

/* A ball lands with spin at 2 m/s. In both phases of the impact the moments of rolling and spinning friction are c
 * times the normal force, so the spins fall by c (1 + e) m v / I. */
static void rolling_T1_acts_in_an_impact(void** state) {
  (void)state;
  const double v = 2, e = 0.6, inertia = 0.004, c = 0.003;
  for (int k = 0; k < 2; k++) {
    Rig* r = rig_create(
        run_model(WEIGHTLESS "contact: {restitution: %g, friction: 0, %s: %g}\n"
                             "links:\n"
                             "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                             "  - {name: ball, mass: 1, mass_model: given, inertia: [0.004, 0.004, 0.004, 0, 0, 0], "
                             "position: [0, 0, 0.15], shape: {type: sphere, radius: 0.1}}\n"
                             "initial: [{link: ball, velocities: [0, 0, %g, 0, %g, %g]}]\n",
                  0.002, "momentum", e, material_value_key(MATERIAL_ROLLING + k), c, -v, k == 0 ? 10.0 : 0.0,
                  k == 1 ? 10.0 : 0.0),
        50);
    const int dof = 4 + k;
    const double by_coefficient = -(1 + e) * v / inertia;
    compare_near(r->recording.rate[50 * r->run->model.dof_count + dof], 10 + c * by_coefficient, 2e-3, "spin %d", k);
    derive(r, dof, true);
    compare_near(r->gradient.velocities[2], c * (1 + e) / inertia, 2e-3, "spin %d by the speed", k);
    compare_near(r->gradient.material[0][MATERIAL_ROLLING + k], by_coefficient, 1e-3 * fabs(by_coefficient),
                 "spin %d by the coefficient", k);
    rig_free(r);
  }
}

/* It stops after I w / (c m g), and not before. */
static void rolling_T1_spinning_ball_stops(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-9,
                        "simulation: {dt: 0.001, steps: 700, integrator: momentum}\n"
                        "contact: {friction: 0, spinning: 0.003, barrier_distance: 0.003}\n"
                        "links:\n"
                        "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                        "  - {name: ball, mass: 1, mass_model: given, inertia: [0.004, 0.004, 0.004, 0, 0, 0], "
                        "position: [0, 0, 0.10122], shape: {type: sphere, radius: 0.1, resolution: 4}}\n"
                        "initial: [{link: ball, velocities: [0, 0, 0, 0, 0, 4]}]\n");
  double stops = 0.004 * 4 / (0.003 * 9.81);
  run_steps(run, (int)(0.97 * stops / 0.001));
  double before = sim_state(run->sim)->rate[5];
  run_steps(run, (int)(0.06 * stops / 0.001));
  double after = sim_state(run->sim)->rate[5];
  compare_near(before, 0.03 * 4, 0.05, "just before it stops");
  compare_near(after, 0, 0.02, "and after");
  run_free(run);
}

/* ---------------------------------------------------------------- more of rigid impacts, without weight */

/* The last row's rate of dof `of` by the initial rate of dof `by`, and by its coordinate; [rate] and [1/s]. */
static void expect_rate(Rig* r, int of, int by, double slope, double within, const char* what) {
  derive(r, of, true);
  compare_near(r->gradient.velocities[by], slope, within, "%s: rate %d by rate %d", what, of, by);
  compare_near(r->gradient.coordinates[by], 0, 0.1, "%s: rate %d by place %d", what, of, by);
}

/* A ball strikes a cushion with spin, m = 0.2, I = 2/5 m r^2. It slides through the impact, or sticks: the impulse
 * along the cushion is then -2/7 m of the slip v_y + r w_z. */
static void check_cushion(const char* integrator, double e, double friction, double spin) {
  const double dt = 0.002, r = 0.05, speed = 1.5, along = 0.6, slip = along + r * spin;
  bool slides = fabs(friction * (1 + e) * speed) < 2.0 / 7 * fabs(slip);
  Rig* rig = rig_create(
      run_model(WEIGHTLESS "contact: {restitution: %g, friction: %g, rest_speed: 0.003}\n"
                           "links:\n"
                           "  - {name: cushion, fixed: true, shape: {type: half_space, normal: [-1, 0, 0]}}\n"
                           "  - {name: ball, mass: 0.2, shape: {type: sphere, radius: %g}, position: [-0.12, 0, "
                           "0]}\n"
                           "initial: [{link: ball, velocities: [%g, %g, 0, 0, 0, %g]}]\n",
                dt, integrator, e, friction, r, speed, along, spin),
      50);
  double sign = slip > 0 ? 1 : -1, push = slides ? -sign * friction * (1 + e) : 0, part = slides ? 0 : -2.0 / 7;
  expect_rate(rig, 0, 0, -e, 0.01, "cushion");
  expect_rate(rig, 1, 0, push, 0.01, "cushion");
  expect_rate(rig, 1, 1, 1 + part, 0.01, "cushion");
  expect_rate(rig, 1, 5, r * part, 0.01 * r, "cushion");
  expect_rate(rig, 5, 0, 2.5 / r * push, 0.03 / r, "cushion");
  expect_rate(rig, 5, 1, 2.5 / r * part, 0.03 / r, "cushion");
  expect_rate(rig, 5, 5, 1 + 2.5 * part, 0.03, "cushion");
  rig_free(rig);
}

static void impact_cushion_with_spin(void** state) {
  (void)state; /* the other integrators lose spin */
  for (double e = 0.3; e < 1; e += 0.3) {
    check_cushion("momentum", e, 0.1, 60);
    check_cushion("momentum", e, 0.8, 20);
  }
}

/* A capsule lands on one end: J = (1 + e) v / (1/m + x^2/I) at the lever x. */
static void impact_rod_lands_on_its_end(void** state) {
  (void)state;
  const double m = 0.4, inertia = 0.02, length = 0.5, tilt = 0.6, v = 2, e = 0.5;
  const double lever = length / 2 * sin(tilt), share = (1 + e) / (1 + m * lever * lever / inertia);
  for (int k = 0; k < 3; k++) {
    Rig* r = rig_create(
        run_model(WEIGHTLESS "contact: {restitution: %g, friction: 0, rest_speed: 0.003}\n"
                             "links:\n"
                             "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                             "  - {name: rod, mass: %g, center: [0, 0, 0], inertia: [%g, %g, 0.001, 0, 0, 0], "
                             "position: [0, 0, %g], shape: {type: capsule, radius: 0.02, length: %g}}\n"
                             "initial: [{link: rod, coordinates: [0, 0, 0, 0, %g, 0], velocities: [0, 0, -%g, 0, "
                             "0, 0]}]\n",
                  0.001, INTEGRATORS[k], e, m, inertia, inertia, length / 2 * cos(tilt) + 0.03, length, tilt, v),
        50);
    derive(r, 2, true);
    compare_near(r->gradient.velocities[2], 1 - share, 0.01, "%s: rod's speed by its speed", INTEGRATORS[k]);
    derive(r, 4, true);
    double turn = r->gradient.velocities[2];
    compare_near(fabs(turn), share * m * lever / inertia, 0.02 * share * m * lever / inertia,
                 "%s: rod's spin by its speed", INTEGRATORS[k]);
    rig_free(r);
  }
}

/* Balls of masses 0.2, 0.3 and 0.25 in a row, the first strikes the others. Each impact of masses m and M passes
 * (1 + e) m / (m + M) of the speed on. gap: between the second and the third ball [m]; within: tolerance of the last
 * speed by the gap [1/s]. */
static void check_cradle(const char* integrator, double e, double gap, double within) {
  const double mass[] = {0.2, 0.3, 0.25};
  const double first = (1 + e) * mass[0] / (mass[0] + mass[1]),
               passed = first * (1 + e) * mass[1] / (mass[1] + mass[2]);
  Rig* r = rig_create(
      run_model(WEIGHTLESS "contact: {restitution: %g, rest_speed: 0.003, friction: 0}\n"
                           "links:\n"
                           "  - {name: a, mass: 0.2, shape: {type: sphere, radius: 0.05}, position: [-0.14, 0, 0]}\n"
                           "  - {name: b, mass: 0.3, shape: {type: sphere, radius: 0.05}}\n"
                           "  - {name: c, mass: 0.25, shape: {type: sphere, radius: 0.05}, position: [%g, 0, 0]}\n"
                           "initial: [{link: a, velocities: [1.5, 0, 0, 0, 0, 0]}]\n",
                0.002, integrator, e, 0.1 + gap),
      50);
  const double* rate = r->recording.rate + (size_t)r->steps * (size_t)r->run->model.dof_count;
  compare_near(rate[0], 1.5 * (1 - first * mass[1] / mass[0]), 2e-3, "%s, e = %g, gap %g: first speed", integrator, e,
               gap);
  compare_near(rate[12], 1.5 * passed, 2e-3, "%s, e = %g, gap %g: last speed", integrator, e, gap);
  derive(r, 12, true);
  compare_near(r->gradient.velocities[0], passed, 2e-3, "%s, e = %g, gap %g: last speed by first", integrator, e, gap);
  compare_near(r->gradient.coordinates[12], 0, within, "%s, e = %g, gap %g: last speed by last place", integrator, e,
               gap);
  derive(r, 12, false);
  compare_near(r->gradient.coordinates[0], passed, 2e-3, "%s, e = %g, gap %g: last place by first", integrator, e, gap);
  rig_free(r);
}

static void impact_cradle_of_three(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++)
    for (double e = 0.7; e < 1.1; e += 0.3) check_cradle(INTEGRATORS[k], e, 0.03, 1e-2);
}

/* The contact range of the balls is 1 mm. The second and the third ball are within it when the first impact begins
 * (0.9 mm), or enter it in the substeps of the first impact (1.001 mm). */
static void impact_I10a_chain_of_impacts(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++)
    for (double e = 0.7; e < 1.1; e += 0.3) {
      check_cradle(INTEGRATORS[k], e, 0.0009, 0.1);
      check_cradle(INTEGRATORS[k], e, 0.001001, 0.1);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impact_cushion_with_spin),
      cmocka_unit_test(impact_rod_lands_on_its_end),
      cmocka_unit_test(impact_cradle_of_three),
      cmocka_unit_test(impact_I10a_chain_of_impacts),
      cmocka_unit_test(impact_velocities_after_by_velocities_before),
      cmocka_unit_test(impact_place_after_by_place_before),
      cmocka_unit_test(impact_speed_after_by_restitution),
      cmocka_unit_test(friction_distance_by_friction_of_links),
      cmocka_unit_test(friction_I5_speed_after_a_landing_by_friction),
      cmocka_unit_test(rolling_T1_slows_down_as_it_must),
      cmocka_unit_test(rolling_T1_acts_in_an_impact),
      cmocka_unit_test(rolling_T1_spinning_ball_stops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
