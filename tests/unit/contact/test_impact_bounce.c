/* Tests impacts with restitution (docs/derivations/impact.md, I7-I9): the law, its derivatives and its stages. Runs
 * check rebound at any dt, mass and integrator, rest, energy and friction. */
#include "contact/impact.h"
#include "contact/system.h"

#include <string.h>

#include "simulate/sim.h"
#include "support/runs.h"

/* ---------------------------------------------------------------- the law of a part */

/* U with z of one vertex, eight of them. */
static double potential_at(double support, double z) { return 8 * barrier_eval(z).value / support; }

static Pressure pressure_at(double support, double z) {
  return (Pressure){potential_at(support, z), -4 * barrier_eval(z).first / (support * support)};
}

/* Two bodies of 1 kg each, s = 0.5, kappa = 1, eight vertices that all have the clearance z: 1 m per unit of z. From
 * z = 0.98 to 0.97 in 1 s, far above the rest speed. The first substep of compression keeps 3/4 of the speed, so the
 * spring holds z at 0.9625. */
static void impact_I7_worked_example(void** state) {
  (void)state;
  const ImpactParameters p = {0.5, 1e-4, 1, 0.5, 1};
  ImpactPast past = {.stage = IMPACT_COMPRESSION_1,
                     .now = pressure_at(0.5, 0.97),
                     .old = pressure_at(0.5, 0.98),
                     .dt_before = 1,
                     .inertia = 0.5};
  compare_relative(impact_speed(&p, &past), 0.01, 1e-8, "speed of approach");
  compare_relative(impact_restitution(&p, 0.01).value, 0.5, 1e-15, "e of a fast impact");
  /* 0.5 kg goes from 0.96, where it would be, to 0.9625 in h^2 / 2 (1 + 1): the spring has k = 0.5 / 3e-4 and the
   * deflection z* - z = 7.5e-7 */
  double force = 0.5 * 0.0025, w = impact_evaluate_compression(&p, potential_at(0.5, 0.9625), &past).first;
  double slope = 0.5 / (8 * barrier_eval(0.9625).first); /* dz/dU */
  compare_relative(w, -force * slope, 1e-2, "W'");
}

/* Numbers that the factor rests on: U; now, old (U, p each); support, stiffness, dt; inertia, dt_before. */
enum { NUMBERS = 10 };

static Impact law_at(const double* x, ImpactStage stage) {
  ImpactParameters p = {x[5], 3e-3, x[7], 0.7, x[6]};
  ImpactPast past = {.stage = stage, .now = {x[1], x[2]}, .old = {x[3], x[4]}, .dt_before = x[9], .inertia = x[8]};
  return impact_evaluate_compression(&p, x[0], &past);
}

static double least_error(const double* x, ImpactStage stage, int k, double slope, bool factor) {
  double least = INFINITY;
  for (int n = 0; n < 12; n++) {
    double from[NUMBERS], to[NUMBERS], step = fabs(x[k]) * 1e-3 * pow(3, -n);
    memcpy(from, x, sizeof from);
    memcpy(to, x, sizeof to);
    from[k] -= step;
    to[k] += step;
    Impact a = law_at(to, stage), b = law_at(from, stage), here = law_at(x, stage);
    double change = factor ? a.first - b.first : a.value - b.value, scale = factor ? here.first : here.value;
    least = fmin(least, fabs(change / (2 * step) - slope) * fabs(x[k]) / fmax(scale, fabs(slope * x[k])));
  }
  return least;
}

/* All substeps of compression; one or several vertices near the plane; unequal substeps. */
static void impact_I7_I12_slopes(void** state) {
  (void)state;
  const double s = 2e-3, lengths[] = {3e-5, 1.2e-5}, more[] = {1, 1.7};
  for (int k = 0; k < 12; k++) {
    Pressure old = pressure_at(s, 0.995), now = pressure_at(s, 0.97);
    const ImpactStage stage = (ImpactStage)(IMPACT_COMPRESSION_1 + k / 4);
    const double x[NUMBERS] = {potential_at(s, 0.92),
                               now.potential,
                               more[k & 1] * now.force,
                               old.potential,
                               1.1 * old.force,
                               s,
                               3e-11,
                               lengths[k >> 1 & 1],
                               0.2,
                               3e-5};
    Impact w = law_at(x, stage);
    const double slope[NUMBERS] = {w.second,       w.by_now.potential, w.by_now.force, w.by_old.potential,
                                   w.by_old.force, w.by_support,       w.by_stiffness, w.by_dt,
                                   w.by_inertia,   w.by_dt_before};
    assert_true(w.first > 0);
    for (int n = 0; n < NUMBERS; n++)
      compare_at_most(least_error(x, stage, n, slope[n], true), 2e-6, "W', case %d, by %d", k, n);
    compare_at_most(least_error(x, stage, 0, w.first, false), 1e-6, "W, case %d", k);
  }
}

/* The impulse of a compression of 0.2 kg from 0.5 m/s, at a force time of 2.5e-5 s. */
static void impact_I7a_worked_example(void** state) {
  (void)state;
  const double kappa = 3e-11, whole = 0.2 * 0.5 / (kappa * 2.5e-5);
  const ImpactParameters p = {2e-3, 3e-3, 3e-5, 0.7, kappa};
  const ImpactPast past = {
      .stage = IMPACT_RESTITUTION, .impulse = whole, .dt_before = 2e-5, .inertia = 0.2, .ratio = 1};
  compare_relative(impact_return(&p, &past).value, 0.7 * whole, 1e-14, "force");
  compare_relative(impact_friction_limit(&p, &past).value, 0.7 * whole, 1e-14, "limit of friction");
}

static ImpactReturn return_at(const double* x) {
  const ImpactParameters p = {2e-3, x[2], 3e-5, x[1], 3e-11};
  const ImpactPast past = {.stage = IMPACT_RESTITUTION, .impulse = x[0], .dt_before = x[4], .inertia = x[3]};
  return impact_return(&p, &past);
}

/* An impulse of 5 to 10 rest speeds, and of more. */
static void impact_I7a_I8_slopes(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    const double x[] = {1.3e14, 0.7, k == 0 ? 0.07 : 3e-3, 0.2, 2e-5};
    ImpactReturn f = return_at(x);
    const double slope[] = {f.by_impulse, f.by_restitution, f.by_rest_speed, f.by_inertia, f.by_dt_before};
    for (int n = 0; n < 5; n++) {
      double least = INFINITY;
      for (double step = 1e-3; step > 1e-7; step /= 3) {
        double from[5], to[5];
        memcpy(from, x, sizeof from);
        memcpy(to, x, sizeof to);
        from[n] *= 1 - step;
        to[n] *= 1 + step;
        double difference = (return_at(to).value - return_at(from).value) / (2 * step);
        least = fmin(least, fabs(difference - slope[n] * x[n]) / f.value);
      }
      compare_at_most(least, 1e-8, "force, case %d, by %d", k, n);
    }
  }
}

/* Without coupling, the three substeps of compression have the impulses N, 2 N and N. With the coupling c = y - 2 of a
 * contact that slides, the whole impulse is 4 N / (1 - c). */
static void impact_I9_friction_limit_of_a_contact_that_slides(void** state) {
  (void)state;
  const ImpactParameters p = {2e-3, 3e-3, 3e-5, 0.7, 1};
  for (double c = -1.5; c < 1.2; c += 0.17) {
    const ImpactPast past = {.stage = IMPACT_COMPRESSION_3, .impulse = 3 * (3 + c), .latest = 3 * (2 + c)};
    ImpactFrictionLimit limit = impact_friction_limit(&p, &past);
    if (c < 0.75) compare_relative(limit.value, 3 * (4 / (1 - c) - 1), 1e-13, "c = %g", c);
    const double h = 1e-6;
    ImpactPast a = past, b = past;
    a.latest += h, b.latest -= h;
    double slope = (impact_friction_limit(&p, &a).value - impact_friction_limit(&p, &b).value) / (2 * h);
    compare_relative(limit.by_latest, slope, 1e-7, "c = %g, by the latest impulse", c);
    a = b = past;
    a.impulse += h, b.impulse -= h;
    slope = (impact_friction_limit(&p, &a).value - impact_friction_limit(&p, &b).value) / (2 * h);
    compare_relative(limit.by_impulse, slope, 1e-7, "c = %g, by the impulse", c);
  }
}

static void impact_I8_restitution_grows_from_five_rest_speeds_to_ten(void** state) {
  (void)state;
  const ImpactParameters p = {2e-3, 3e-3, 3e-5, 0.7, 1};
  assert_true(impact_restitution(&p, 5 * p.rest_speed).value == 0);
  compare_relative(impact_restitution(&p, 7.5 * p.rest_speed).value, 0.35, 1e-12, "half way");
  compare_relative(impact_restitution(&p, 10 * p.rest_speed).value, 0.7, 1e-12, "from ten on");
}

/* Stages of a pair: it enters the range, is compressed, rebounds, then rests until it leaves the range. A pair that was
 * in range before the step rests. The impulses of the stages are summed. */
static void impact_I9_stages(void** state) {
  (void)state;
  const ImpactParameters p = {2e-3, 3e-3, 3e-5, 0.7, 1};
  const Pressure entry = pressure_at(2e-3, 0.995), nearer = pressure_at(2e-3, 0.98), none = {0, 0};
  const ImpactActivity none_acts = {false, false};
  ImpactProgress c = {.approach = 1};
  c = impact_advance(&p, 1e-5, none_acts, 1, &entry, 1, 1, &c);
  assert_int_equal(c.past.stage, IMPACT_ENTERED);
  const ImpactStage stages[] = {IMPACT_COMPRESSION_1, IMPACT_COMPRESSION_2, IMPACT_COMPRESSION_3, IMPACT_RESTITUTION};
  for (int k = 0; k < 4; k++) {
    c = impact_advance(&p, 1e-5, none_acts, 1, &nearer, 10 * k, 1, &c);
    assert_int_equal(c.past.stage, stages[k]);
    compare_relative(c.past.latest, 10 * k * nearer.force, 1e-15, "latest impulse, stage %d", k);
    compare_relative(c.past.impulse, 5.0 * (k + 1) * k * nearer.force, 1e-15, "impulse, stage %d", k);
  }
  c = impact_advance(&p, 1e-5, none_acts, 1, &nearer, 0, 1, &c);
  assert_true(c.past.stage == IMPACT_NONE && c.rests && !impact_enters(&p, &nearer, &c));
  c = impact_advance(&p, 1e-5, none_acts, 1, &none, 0, 1, &c);
  assert_true(!c.rests && impact_enters(&p, &entry, &c));
}

/* A pair at rest in range that the impact of another pair sets in motion. It exerts no force while the impact of the
 * other pair lasts, and then begins its own impact. A slow pair stays at rest. */
static void impact_I10a_stages_in_a_chain(void** state) {
  (void)state;
  const ImpactParameters p = {2e-3, 3e-3, 3e-5, 0.7, 1};
  const Pressure at_rest = pressure_at(2e-3, 0.9), nearer = pressure_at(2e-3, 0.89), nearest = pressure_at(2e-3, 0.88),
                 deepest = pressure_at(2e-3, 0.87);
  const ImpactActivity none = {false, false}, other = {true, true}, ended = {true, false};
  ImpactProgress rests = {.past = {.now = at_rest}, .rests = true};
  ImpactProgress c = impact_advance(&p, 1e-5, none, 1, &nearer, 1, 1, &rests);
  assert_int_equal(c.past.stage, IMPACT_NONE);
  c = impact_advance(&p, 1e-1, other, 1, &nearer, 1, 1, &rests);
  assert_true(c.past.stage == IMPACT_NONE && c.rests);
  c = impact_advance(&p, 1e-5, other, 1, &nearer, 1, 1, &rests);
  assert_int_equal(c.past.stage, IMPACT_ENTERED);
  assert_true(impact_evaluate_pair(&p, nearest.potential, 0, &c.past).first == 0);
  c = impact_advance(&p, 1e-5, other, 1, &nearest, 1, 1, &c);
  assert_int_equal(c.past.stage, IMPACT_ENTERED);
  ImpactProgress next = impact_advance(&p, 1e-5, ended, 1, &deepest, 1, 1, &c);
  assert_int_equal(next.past.stage, IMPACT_COMPRESSION_1);
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

/* A box dropped from a height with e = 0.5 comes to rest after a flight time of sum 2 e^k v / g. At rest there are no
 * further impacts. */
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
    double gap = contact_rest_under_force(CONTACT_SEPARATING_PLANE, c->support, 4, 1, 0.3 * 9.81 / c->stiffness).gap;
    compare_relative(sim_state(run->sim)->center[run_link(run, "box")].z - 0.1, gap, 2e-3, "%s: gap at rest",
                     integrators[i]);
    compare_near(sim_state(run->sim)->rate[2], 0, 1e-4, "%s: speed", integrators[i]);
    run_free(run);
  }
}

/* Returns kinetic energy plus potential energy of gravity, both at the midpoint of the last substep. The potential
 * energy at the substep's end would bias the sum by half a substep of gravity's power. Returns NaN if barriers also
 * store energy. */
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

/* Rods and boxes hit the ground with spin and friction (I9a). Returns true if an impact took energy. */
static bool hit(Random* random, int number) {
  const double mu = random_uniform(random, 0, 2), e = random_uniform(random, 0, 1), dt = number % 2 ? 5e-3 : 1e-3;
  double v[6], roll = random_uniform(random, -1.5, 1.5), pitch = random_uniform(random, -1.5, 1.5);
  for (int k = 0; k < 6; k++) v[k] = (k < 3 ? 2 : 8) * random_normal(random);
  const char* shape = number % 3 == 0   ? "type: capsule, radius: 0.02, length: 0.3"
                      : number % 3 == 1 ? "type: box, size: [0.2, 0.15, 0.1]"
                                        : "type: box, size: [0.03, 0.03, 0.4]";
  Run* run =
      run_create(1, 1e-10,
                 "simulation: {dt: %g, steps: 10, integrator: %s, gravity: [0, 0, 0]}\n"
                 "contact: {friction: %g, restitution: %g}\n"
                 "links:\n"
                 "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                 "  - {name: a, mass: 0.3, mass_model: uniform, shape: {%s}, position: [0, 0, 0.25]}\n"
                 "initial: [{link: a, coordinates: [0, 0, 0.25, %g, %g, 0], velocities: [%g, %g, %g, %g, %g, %g]}]\n",
                 dt, number % 4 < 2 ? "momentum" : "first_order", mu, e, shape, roll, pitch, v[0], v[1],
                 -1 - fabs(v[2]), v[3], v[4], v[5]);
  run_steps(run, 1);
  double before = mechanical_energy(run->sim), start = before;
  for (int k = 1; k * dt < 0.3; k++) {
    run_steps(run, 1);
    double now = mechanical_energy(run->sim);
    if (isnan(now)) continue;
    compare_at_most(now, before + 1e-5 * start, "seed 304, run %d, dt = %g, friction %g, e = %g, step %d: energy",
                    number, dt, mu, e, k);
    before = fmin(now, before);
  }
  run_free(run);
  return before < 0.999 * start;
}

static void impact_I9a_energy_never_grows_with_friction(void** state) {
  (void)state;
  Random random = {304};
  int losses = 0;
  for (int k = 0; k < 500; k++) losses += hit(&random, k);
  assert_in_range(losses, 450, 500);
}

/* Tangential impulse mu times the normal one, (1 + e) m v (I5). */
static void impact_I5_friction_has_the_whole_impulse_of_a_bounce(void** state) {
  (void)state;
  for (double dt = 5e-3; dt > 1e-4; dt *= 0.1) {
    Run* run =
        run_create(1, 0,
                   "simulation: {dt: %g, steps: 10, gravity: [0, 0, 0], integrator: first_order}\n"
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
      cmocka_unit_test(impact_I7_I12_slopes),
      cmocka_unit_test(impact_I7a_worked_example),
      cmocka_unit_test(impact_I7a_I8_slopes),
      cmocka_unit_test(impact_I9_friction_limit_of_a_contact_that_slides),
      cmocka_unit_test(impact_I8_restitution_grows_from_five_rest_speeds_to_ten),
      cmocka_unit_test(impact_I9_stages),
      cmocka_unit_test(impact_I10a_stages_in_a_chain),
      cmocka_unit_test(impact_I8_rebound_at_any_dt_mass_and_integrator),
      cmocka_unit_test(impact_I8_two_bodies_in_space),
      cmocka_unit_test(impact_I11_bounces_end_and_rest_is_quiet),
      cmocka_unit_test(impact_I8_energy_never_grows_in_random_impacts),
      cmocka_unit_test(impact_I9a_energy_never_grows_with_friction),
      cmocka_unit_test(impact_I5_friction_has_the_whole_impulse_of_a_bounce),
      cmocka_unit_test(impact_S15_second_order_ends_an_approach),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
