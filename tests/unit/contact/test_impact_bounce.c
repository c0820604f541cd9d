/* Impacts that give back (docs/derivations/impact.md, I7-I13): the law's integral and slopes on both sides of its
 * branches, the damping number against the motion that it is made for, and runs: rebounds at any dt, mass and
 * integrator, in space and on the ground, what rests, energy and friction. */
#include "contact/impact.h"
#include "contact/system.h"

#include <string.h>

#include "contact/rest.h"
#include "simulate/sim.h"
#include "support/runs.h"

/* ---------------------------------------------------------------- the law of a part */

/* U with z of one vertex, eight of them. */
static double potential_at(double support, double z) { return 8 * barrier_eval(z).value / support; }

static Pressure pressure_at(double support, double z) {
  return (Pressure){potential_at(support, z), -4 * barrier_eval(z).first / (support * support)};
}

/* s = 0.5, both states at z = 1/2, no damping: the quotient's range is [1/2, 1/4], where Q goes from 2 to 324. */
static void impact_I7_worked_example(void** state) {
  (void)state;
  Pressure half = pressure_at(0.5, 0.5);
  ImpactPast past = {true, false, half, half, 1e-3, 0, 0};
  Impact w = impact_bounce(&(ImpactParameters){0.5, 1e-3, 1e-3, 0.5}, potential_at(0.5, 0.25), &past);
  compare_relative(impact_way(&(ImpactParameters){0.5, 1e-3, 1e-3, 0.5}, &half), 1, 1e-14, "2 s: two clearances a gap");
  double quotient = (324 - 2) / 0.25, slope = -barrier_eval(0.25).first;
  compare_relative(w.first, quotient / slope, 2e-3, "W'"); /* four points for a quotient over half of the gap */
}

/* The value, found at eight places at a time, is the integral of the factor, found at one: by Simpson's rule in z. */
static void impact_I7_value_is_the_integral_of_the_factor(void** state) {
  (void)state;
  static const double damping[] = {0, 0.4, 30}, clearance[] = {0.9, 0.5, 0.1};
  const ImpactParameters p = {0.5, 1e-3, 1e-3, 0.5};
  enum { PIECES = 20000 };
  for (int n = 0; n < 9; n++) {
    double z = clearance[n / 3], sum = 0, width = (1 - z) / PIECES;
    ImpactPast past = {true, false, pressure_at(0.5, 0.55), pressure_at(0.5, 0.6), 1e-3, 0, damping[n % 3]};
    for (int k = 0; k < PIECES; k++) { /* at z = 1 the slope is zero */
      double at = z + k * width, weight = k == 0 ? 1 : k % 2 ? 4 : 2;
      sum -= weight * impact_bounce(&p, potential_at(0.5, at), &past).first * 8 / 0.5 * barrier_eval(at).first;
    }
    Impact found = impact_bounce(&p, potential_at(0.5, z), &past);
    compare_relative(found.value, sum * width / 3, 2e-6, "z = %g, damping %g", z, damping[n % 3]);
  }
}

/* Bodies that approach along the direction of the force (r = 1 m, z from 0.30 by 0.27 to 0.25): the force does the work
 * that the barrier takes. With a way along it that is by a part x shorter it takes x times that work less. */
static void impact_I13_a_part_whose_force_gives_energy_is_shortened(void** state) {
  (void)state;
  const ImpactParameters p = {0.5, 1e-3, 1e-3, 1};
  const double z[] = {0.3, 0.27, 0.25}, dt = 1e-3, energy_share = 2e6, speed = 1;
  ImpactCourse course = {.pace = dt};
  course.past = (ImpactPast){true, false, pressure_at(0.5, z[1]), pressure_at(0.5, z[0]), dt, speed, 0};
  Pressure next = pressure_at(0.5, z[2]);
  double first = impact_bounce(&p, next.potential, &course.past).first;
  double straight[] = {next.force * (z[0] - z[1]), next.force * (z[1] - z[2])};
  assert_true(isinf(impact_steady(&p, &next, first, straight, energy_share, &course)));
  double work = 0.5 * (next.potential - course.past.old.potential), energy = 0.5 * energy_share * speed * speed;
  for (int k = 0; k < 3; k++) {
    double part[] = {-0.3, -0.1, 0.7}, x = part[k], gain = -x * work / energy,
           over = x < 0 ? gain / 1.5e-4 : -gain / 1e-3;
    double change[] = {(1 + x) * straight[0], (1 + x) * straight[1]};
    double found = impact_steady(&p, &next, first, change, energy_share, &course);
    print_message("x = %g: %.4g of the energy of approach, part of its length %.4g\n", x, gain, found / dt);
    compare_relative(found, dt * fmax(sqrt(0.5 / over), 0.1), 0.02, "x = %g", x);
    course.past.speed = 0; /* not known yet: its energy is not either */
    assert_true(isinf(impact_steady(&p, &next, first, change, energy_share, &course)));
    course.past.speed = speed;
    course.pace = 200 * dt; /* shortened enough */
    assert_true(isinf(impact_steady(&p, &next, first, change, energy_share, &course)));
    course.pace = dt;
  }
}

/* All that the factor rests on: U; now, old (U, p each); damping; support. */
enum { NUMBERS = 7 };

static Impact law_at(const double* x, const ImpactParameters* fixed, const ImpactPast* like) {
  ImpactPast past = *like;
  ImpactParameters p = *fixed;
  past.now = (Pressure){x[1], x[2]};
  past.old = (Pressure){x[3], x[4]};
  past.damping = x[5];
  p.support = x[6];
  return impact_bounce(&p, x[0], &past);
}

static double least_error(const double* x, int k, const ImpactParameters* p, const ImpactPast* past, double slope,
                          bool factor) {
  double least = INFINITY;
  for (int n = 0; n < 12; n++) {
    double from[NUMBERS], to[NUMBERS], step = fabs(x[k]) * 0.01 * pow(3, -n);
    memcpy(from, x, sizeof from);
    memcpy(to, x, sizeof to);
    from[k] -= step;
    to[k] += step;
    Impact a = law_at(to, p, past), b = law_at(from, p, past), here = law_at(x, p, past);
    double change = factor ? a.first - b.first : a.value - b.value, scale = factor ? here.first : here.value;
    least = fmin(least, fabs(change / (2 * step) - slope) * fabs(x[k]) / scale);
  }
  return least;
}

/* Clearances in units of s of the three states, and how fast they part: nearing, turning, parting slowly and faster
 * than it may, far in and at the edge. */
static const double STATES[][3] = {{0.9, 0.85, 0.8},    {0.3, 0.25, 0.21},  {0.06, 0.055, 0.051}, {0.2, 0.18, 0.2},
                                   {0.2, 0.19, 0.2002}, {0.3, 0.33, 0.365}, {0.93, 0.96, 0.99},   {0.5, 0.53, 0.9}};

static void impact_I7_I8_I12_slopes_on_both_sides_of_every_branch(void** state) {
  (void)state;
  const double s = 2e-3, damping[] = {0.02, 1, 30};
  for (size_t k = 0; k < sizeof STATES / sizeof *STATES; k++)
    for (int d = 0; d < 3; d++) {
      ImpactParameters p = {s, 3e-3, 3e-5, 0.5};
      Pressure old = pressure_at(s, STATES[k][0]), now = pressure_at(s, STATES[k][1]);
      ImpactPast past = {true, false, now, old, 2.5e-5, 2, damping[d]};
      const double x[NUMBERS] = {
          potential_at(s, STATES[k][2]), now.potential, 1.3 * now.force, old.potential, 1.2 * old.force, damping[d], s};
      Impact w = law_at(x, &p, &past);
      const double slope[NUMBERS] = {w.second,       w.by_now.potential, w.by_now.force, w.by_old.potential,
                                     w.by_old.force, w.by_damping,       w.by_support};
      for (int n = 0; n < NUMBERS && w.first > 0; n++)
        compare_at_most(least_error(x, n, &p, &past, slope[n], true), 2e-7, "W', states %zu, damping %g, by %d", k,
                        damping[d], n);
      if (w.first > 0)
        compare_at_most(least_error(x, 0, &p, &past, w.first, false), 1e-6, "W, states %zu, damping %g", k, damping[d]);
    }
}

/* Far in, and slowed so hard that the ramp is narrower than the last digit of the clearance: the work is still found.
 */
static void impact_I8_a_ramp_steeper_than_rounding_ends(void** state) {
  (void)state;
  const double s = 1e-3;
  ImpactParameters p = {s, 3e-3, 3e-5, 0.5};
  for (double damping = 1; damping < 1e40; damping *= 1e3)
    for (double z = 0.5; z > 1e-9; z *= 0.03) {
      ImpactPast past = {true, true, pressure_at(s, 1.01 * z), pressure_at(s, 1.02 * z), 1e-5, 0, damping};
      Impact w = impact_bounce(&p, potential_at(s, z), &past);
      assert_true(isfinite(w.value) && isfinite(w.first) && w.first >= 0);
    }
}

static void impact_I10_slopes_of_speed_and_damping(void** state) {
  (void)state;
  ImpactParameters p = {2e-3, 3e-3, 3e-5, 0.7};
  ImpactPast past = {true, true, pressure_at(2e-3, 0.9), pressure_at(2e-3, 0.94), 2.5e-5, 0, 0};
  ImpactSpeed v = impact_speed(&p, &past);
  compare_relative(v.value, 2 * 2e-3 * 0.04 / 2.5e-5, 1e-12, "two clearances a gap");
  double* const number[] = {&past.now.potential, &past.now.force, &past.old.potential, &past.old.force, &p.support};
  const double slope[] = {v.by_now.potential, v.by_now.force, v.by_old.potential, v.by_old.force, v.by_support};
  for (int k = 0; k < 5; k++) {
    double at = *number[k], step = 1e-5 * at, value[2];
    for (int side = 0; side < 2; side++) {
      *number[k] = side ? at + step : at - step;
      value[side] = impact_speed(&p, &past).value;
    }
    *number[k] = at;
    compare_near((value[1] - value[0]) / (2 * step), slope[k], 1e-7 * v.value / at, "speed by %d", k);
  }
  for (double speed = 5.2 * p.rest_speed; speed < 20 * p.rest_speed; speed *= 1.07) { /* both sides of 10 */
    ImpactParameters more = p, less = p;
    double step = 1e-6 * speed, v_step = 1e-6 * p.rest_speed;
    ImpactDamping a = impact_damping(&p, speed);
    more.rest_speed += v_step;
    less.rest_speed -= v_step;
    double by_speed = (impact_damping(&p, speed + step).value - impact_damping(&p, speed - step).value) / (2 * step);
    double by_rest = (impact_damping(&more, speed).value - impact_damping(&less, speed).value) / (2 * v_step);
    compare_near(a.by_speed, by_speed, 1e-6 * a.value / step * 1e-6 * speed + 1e-6 * fabs(by_speed),
                 "damping by speed");
    more = less = p;
    more.restitution += 1e-6;
    less.restitution -= 1e-6;
    double by_restitution = (impact_damping(&more, speed).value - impact_damping(&less, speed).value) / 2e-6;
    compare_near(a.by_restitution, by_restitution, 1e-6 * a.value + 1e-6 * fabs(by_restitution), "by restitution");
    compare_near(a.by_rest_speed, by_rest, 1e-6 * a.value / p.rest_speed + 1e-6 * fabs(by_rest), "by rest speed");
  }
}

/* A mass against a spring of force x^3 that is multiplied by the ramp of 1 + c w, in units of the speed of approach, in
 * small steps of fourth order: speed at which it is let go. */
static double let_go(double c) {
  double x = 0, w = 1, h = 1e-4;
  for (;;) {
    double k[4][2];
    for (int n = 0; n < 4; n++) {
      double part = n == 0 ? 0 : n == 3 ? h : 0.5 * h;
      double at = x + (n ? part * k[n - 1][0] : 0), speed = w + (n ? part * k[n - 1][1] : 0), t = 1 + c * speed;
      double ramp = (t + sqrt(t * t + 0.04)) / (1 + sqrt(1.04));
      k[n][0] = speed;
      k[n][1] = -fmax(at, 0) * fmax(at, 0) * fmax(at, 0) * ramp;
    }
    double next = x + h / 6 * (k[0][0] + 2 * k[1][0] + 2 * k[2][0] + k[3][0]);
    if (next < 0) return -w;
    x = next;
    w += h / 6 * (k[0][1] + 2 * k[1][1] + 2 * k[2][1] + k[3][1]);
  }
}

static void impact_I9_damping_number_leaves_what_was_asked_for(void** state) {
  (void)state;
  for (double e = 0.1; e < 0.999; e += 0.1) {
    double slope, ignored, c = impact_damping_number(e, &slope), step = 1e-6;
    compare_near(let_go(c), e, 2e-4, "e = %g", e);
    double difference =
        (impact_damping_number(e + step, &ignored) - impact_damping_number(e - step, &ignored)) / (2 * step);
    compare_relative(slope, difference, 1e-6, "dc/de at e = %g", e);
  }
  double slope;
  assert_true(impact_damping_number(1, &slope) == 0 && slope == 0);
}

/* ---------------------------------------------------------------- runs */

/* A box without weight flies at the ground. */
static const char THROWN[] =
    "simulation: {dt: %g, steps: 10, gravity: [0, 0, 0], integrator: %s}\n"
    "contact: {restitution: %g, rest_speed: %g}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: box, mass: %g, shape: {type: box, size: [%g, %g, %g]}, position: [0, 0, %g]}\n"
    "initial: [{link: box, velocities: [0, 0, %g, 0, 0, 0]}]\n";

static void check_rebound(const char* integrator, double dt, double e, double mass, double size) {
  double speed = sqrt(20 * size); /* of a fall through its own size */
  double last = 0.1 * size / speed, rest = 0.002 * sqrt(9.81 * size);
  int steps = (int)ceil(fmax(last / dt, 6));
  Run* run = run_create(1, 0, THROWN, dt, integrator, e, rest, mass, size, size, size,
                        0.5 * size + 0.43 * steps * dt * speed, -speed);
  run_steps(run, steps);
  const double* rate = sim_state(run->sim)->rate;
  compare_near(rate[2] / speed, e, 0.003, "%s, dt = %g, e = %g, %g kg", integrator, dt, e, mass);
  for (int k = 3; k < 6; k++) compare_near(rate[k] * size / speed, 0, 1e-6, "%s, dt = %g: turns", integrator, dt);
  run_free(run);
}

static void impact_I8_rebound_at_any_dt_mass_and_integrator(void** state) {
  (void)state;
  const char* const integrators[] = {"first_order", "momentum", "second_order"};
  const double e[] = {0.2, 0.5, 0.9, 1};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 4; k++) {
      for (double dt = 1e-2; dt > 5e-6; dt *= 0.1) check_rebound(integrators[i], dt, e[k], 0.3, 0.2);
      check_rebound(integrators[i], 1e-2, e[k], 1e-5, 2e-3);
      check_rebound(integrators[i], 1e-4, e[k], 1e-5, 2e-3);
      check_rebound(integrators[i], 1e-2, e[k], 1e9, 100);
      check_rebound(integrators[i], 1e-3, e[k], 1e9, 100);
    }
}

/* v_a' = v - e m_b / M w, w the speed of approach. */
static void impact_I8_two_bodies_in_space(void** state) {
  (void)state;
  const char* const integrators[] = {"first_order", "momentum", "second_order"};
  for (int i = 0; i < 3; i++)
    for (double dt = 1e-2; dt > 5e-5; dt *= 0.1) {
      Run* run =
          run_create(1, 0,
                     "simulation: {dt: %g, steps: 10, gravity: [0, 0, 0], integrator: %s}\n"
                     "contact: {restitution: 0.6, rest_speed: 0.003}\n"
                     "links:\n"
                     "  - {name: a, mass: 0.3, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [-0.2, 0, 0]}\n"
                     "  - {name: b, mass: 0.9, shape: {type: box, size: [0.2, 0.3, 0.3]}, position: [0.2, 0, 0]}\n"
                     "initial:\n"
                     "  - {link: a, velocities: [2, 0, 0, 0, 0, 0]}\n"
                     "  - {link: b, velocities: [-1, 0, 0, 0, 0, 0]}\n",
                     dt, integrators[i]);
      const double* rate = sim_state(run->sim)->rate;
      run_steps(run, (int)(0.2 / dt));
      compare_near(rate[0], -0.25 - 0.6 * 0.75 * 3, 0.003 * 3, "%s, dt = %g: a", integrators[i], dt);
      compare_near(rate[6], -0.25 + 0.6 * 0.25 * 3, 0.003 * 3, "%s, dt = %g: b", integrators[i], dt);
      compare_near(0.3 * rate[0] + 0.9 * rate[6], -0.3, 1e-6, "%s, dt = %g: momentum", integrators[i], dt);
      run_free(run);
    }
}

/* A box dropped from a height with e = 0.5 comes to rest, after sum 2 e^k v / g of flight, where it rests without an
 * impact; what is heard of an impact is over then. */
static void impact_I11_bounces_end_and_rest_is_quiet(void** state) {
  (void)state;
  const char* const integrators[] = {"first_order", "momentum", "second_order"};
  for (int i = 0; i < 3; i++) {
    Run* run =
        run_create(1, 0,
                   "simulation: {dt: 5e-3, steps: 10, integrator: %s}\n"
                   "contact: {restitution: 0.5}\n"
                   "links:\n"
                   "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                   "  - {name: box, mass: 0.3, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.3]}\n",
                   integrators[i]);
    double fall = sqrt(2 * 0.2 / 9.81), end = fall * (1 + 2 * 0.5 / (1 - 0.5));
    int impacts = 0, quiet = 0;
    for (int k = 0; k * 5e-3 < end + 0.3; k++) {
      StepReport report = run_steps(run, 1);
      impacts += report.substeps > 1;
      quiet = report.substeps > 1 ? 0 : quiet + 1;
    }
    assert_in_range(impacts, 4, 40);
    assert_true(quiet > 30);
    const ModelContact* c = &run->model.contact;
    double gap = rest_under_force(c->support, 4, 1, 0.3 * 9.81 / c->stiffness).gap;
    compare_relative(sim_state(run->sim)->center[run_link(run, "box")].z - 0.1, gap, 2e-3, "%s: gap at rest",
                     integrators[i]);
    compare_near(sim_state(run->sim)->rate[2], 0, 1e-4, "%s: speed", integrators[i]);
    run_free(run);
  }
}

/* Kinetic energy of the last part's motion, which belongs to its middle, and the weights' there (with the weights' at
 * its end the sum of a fall is too small by half a part of gravity's power, that of a rise too large, and an elastic
 * bounce seems to gain both); NaN where barriers hold energy as well. */
static double mechanical_energy(Sim* s) {
  SimMeasure measure = sim_measure(s);
  double middle = measure.potential + 0.5 * s->reached.dt * vec3_dot(s->model->simulation.gravity, measure.momentum);
  return contact_active_count(s->contact) > 0 ? (double)NAN : measure.kinetic + middle;
}

static void tumble(Random* random, const char* integrator, double dt, double e, int number) {
  double v[12];
  for (int k = 0; k < 12; k++) v[k] = (k % 6 < 3 ? 1.5 : 8) * random_normal(random);
  Run* run = run_create(1, 1e-8,
                        "simulation: {dt: %g, steps: 10, integrator: %s}\n"
                        "contact: {friction: %g, restitution: %g}\n"
                        "links:\n"
                        "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                        "  - {name: a, mass: 0.3, shape: {type: box, size: [0.2, 0.15, 0.1]}, position: [0, 0, 0.3]}\n"
                        "  - {name: b, mass: 0.5, shape: {type: sphere, radius: 0.1}, position: [0.1, 0, 0.6]}\n"
                        "initial:\n"
                        "  - {link: a, velocities: [%g, %g, %g, %g, %g, %g]}\n"
                        "  - {link: b, velocities: [%g, %g, %g, %g, %g, %g]}\n",
                        dt, integrator, number % 2 ? 0.6 : 0.0, e, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8],
                        v[9], v[10], v[11]);
  run_steps(run, 1);
  double before = mechanical_energy(run->sim), start = before;
  int judged = 0;
  for (int k = 1; k * dt < 0.6; k++) {
    run_steps(run, 1);
    double now = mechanical_energy(run->sim);
    if (isnan(now)) continue;
    judged++;
    compare_at_most(now, before + 1e-5 * fabs(start), "seed 303, run %d, %s, dt = %g, e = %g, step %d: energy", number,
                    integrator, dt, e, k);
    before = fmin(now, before);
  }
  assert_true(judged > 10);
  run_free(run);
}

static void impact_I8_energy_never_grows_in_random_impacts(void** state) {
  (void)state;
  Random random = {303};
  const double e[] = {0.3, 0.6, 0.9, 1};
  for (int k = 0; k < 32; k++)
    tumble(&random, k % 2 ? "first_order" : "momentum", k % 3 == 0 ? 1e-2 : k % 3 == 1 ? 2e-3 : 5e-4, e[k % 4], k);
}

/* Tangential impulse mu times the normal one, (1 + e) m v (I5). */
static void impact_I5_friction_has_the_whole_impulse_of_a_bounce(void** state) {
  (void)state;
  for (double dt = 5e-3; dt > 1e-4; dt *= 0.1) {
    Run* run =
        run_create(1, 0,
                   "simulation: {dt: %g, steps: 10, gravity: [0, 0, 0]}\n"
                   "contact: {friction: 0.2, restitution: 0.5, rest_speed: 0.003}\n"
                   "links:\n"
                   "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                   "  - {name: box, mass: 0.3, shape: {type: box, size: [0.6, 0.6, 0.06]}, position: [0, 0, 0.06], "
                   "joint: {type: free, free_axes: [x, y, z]}}\n"
                   "initial: [{link: box, velocities: [3, 0, -4]}]\n",
                   dt);
    run_steps(run, (int)(0.02 / dt + 0.5));
    compare_near(sim_state(run->sim)->rate[2], 2, 0.003 * 4, "dt = %g: rebound", dt);
    compare_near(sim_state(run->sim)->rate[0], 3 - 0.2 * 6, 0.012 * 3, "dt = %g: speed left", dt);
    run_free(run);
  }
}

/* second_order looks back over the impact, and does not throw back (S15). */
static void impact_S15_second_order_ends_an_approach(void** state) {
  (void)state;
  for (double dt = 3e-2; dt > 1e-5; dt *= 0.3) {
    Run* run =
        run_create(1, 0,
                   "simulation: {dt: %g, steps: 10, integrator: second_order}\n"
                   "links:\n"
                   "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                   "  - {name: box, mass: 0.3, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.3]}\n",
                   dt);
    double fall = sqrt(2 * 0.2 / 9.81), fastest = -INFINITY;
    for (int k = 0; k * dt < 2 * fall; k++) {
      run_steps(run, 1);
      fastest = fmax(fastest, sim_state(run->sim)->rate[2]);
    }
    compare_at_most(fastest / (9.81 * fall), 0.005, "dt = %g", dt);
    run_free(run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impact_I7_worked_example),
      cmocka_unit_test(impact_I7_value_is_the_integral_of_the_factor),
      cmocka_unit_test(impact_I13_a_part_whose_force_gives_energy_is_shortened),
      cmocka_unit_test(impact_I7_I8_I12_slopes_on_both_sides_of_every_branch),
      cmocka_unit_test(impact_I8_a_ramp_steeper_than_rounding_ends),
      cmocka_unit_test(impact_I10_slopes_of_speed_and_damping),
      cmocka_unit_test(impact_I9_damping_number_leaves_what_was_asked_for),
      cmocka_unit_test(impact_I8_rebound_at_any_dt_mass_and_integrator),
      cmocka_unit_test(impact_I8_two_bodies_in_space),
      cmocka_unit_test(impact_I11_bounces_end_and_rest_is_quiet),
      cmocka_unit_test(impact_I8_energy_never_grows_in_random_impacts),
      cmocka_unit_test(impact_I5_friction_has_the_whole_impulse_of_a_bounce),
      cmocka_unit_test(impact_S15_second_order_ends_an_approach),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
