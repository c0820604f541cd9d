/* Tests the inelastic impact law (docs/derivations/impact.md). The integral is compared with a sum, derivatives with
 * finite differences on both sides of every branch. Runs check rebound, gaps, energy and momentum. */
#include "contact/impact.h"
#include "contact/system.h"

#include <string.h>

#include "simulate/sim.h"
#include "support/runs.h"

static void impact_I1_I2_worked_example(void** state) {
  (void)state;
  Impact w = impact_evaluate(&(ImpactParameters){0.5, 40, 0.01, 0, 1}, 16, 0);
  compare_relative(impact_compression(0.5, 16), 1, 1e-15, "y");
  compare_relative(w.first, 2, 1e-15, "W'");
  compare_relative(w.value, 80.0 / 3, 1e-14, "W");
  compare_relative(w.second, 1.0 / 32, 1e-15, "W''");
}

/* As impact.md has it (I3). */
static long double ramp_of(long double t) {
  if (t < 0) return 0;
  return t > 1 ? t : 6 * t * t * t - 8 * t * t * t * t + 3 * t * t * t * t * t;
}

static double width_of(const ImpactParameters* p, double before) {
  double part = p->rest_speed * p->dt / (2 * p->support), edge = fmin(1, pow(part / 5e-4, 2));
  return part * 2.5 * (1 + before) * sqrt(edge + before);
}

/* A sum over equal pieces of U by the midpoint. */
static double summed(const ImpactParameters* p, double potential, double before, int pieces) {
  long double sum = 0, width = width_of(p, before), piece = potential / pieces;
  for (int k = 0; k < pieces; k++)
    sum += ramp_of(1 + (sqrtl(p->support * (k + 0.5L) * piece / 8) - before) / width) * piece;
  return (double)sum;
}

/* y_t and y / y_t (or y where y_t = 0) on both sides of all branches. */
static const double BEFORE[] = {0, 1e-3, 0.3, 2, 40}, RATIO[] = {0.2, 0.9, 0.97, 0.999, 1, 1.001, 1.03, 1.2, 3};

static double potential_at(const ImpactParameters* p, double before, double ratio) {
  double y = before > 0 ? ratio * before : ratio;
  return 8 * y * y / p->support;
}

static void impact_I1_I3_is_the_integral(void** state) {
  (void)state;
  ImpactParameters p = {2e-3, 3e-3, 0.01, 0, 1};
  int partial = 0;
  for (size_t b = 0; b < 5; b++)
    for (size_t k = 0; k < 9; k++) {
      double potential = potential_at(&p, BEFORE[b], RATIO[k]), wanted = summed(&p, potential, BEFORE[b], 200000);
      Impact w = impact_evaluate(&p, potential, BEFORE[b]);
      compare_near(w.value, wanted, 1e-6 * potential * fmax(1, w.first), "W at y_t = %g, ratio %g", BEFORE[b],
                   RATIO[k]);
      partial += w.first > 0 && w.first < 1;
    }
  assert_true(partial >= 5);
}

/* W or W' as a function of (U, y_t, s, v_r). */
static double law_at(const double* x, double dt, bool factor) {
  Impact w = impact_evaluate(&(ImpactParameters){x[2], x[3], dt, 0, 1}, x[0], x[1]);
  return factor ? w.first : w.value;
}

/* The least error of central differences over steps that shrink, in units of `scale`. */
static double least_error(const double x[4], int k, double unit, double dt, bool factor, double slope, double scale) {
  double least = INFINITY;
  for (int n = 0; n < 12; n++) {
    double from[4], to[4], step = unit * 0.03 * pow(3, -n);
    memcpy(from, x, sizeof from);
    memcpy(to, x, sizeof to);
    from[k] -= step;
    to[k] += step;
    double difference = (law_at(to, dt, factor) - law_at(from, dt, factor)) / (to[k] - from[k]);
    least = fmin(least, fabs(difference - slope) * unit / scale);
  }
  return least;
}

static void check_slopes(double before, double ratio, double dt) {
  ImpactParameters p = {2e-3, 3e-3, dt, 0, 1};
  const double x[4] = {potential_at(&p, before, ratio), before, p.support, p.rest_speed};
  Impact w = impact_evaluate(&p, x[0], before);
  double width = width_of(&p, before), y = impact_compression(p.support, x[0]);
  double part = fmin(0.5, width / fmax(y, before)); /* of U and s: what moves t by about one */
  const double unit[4] = {part * x[0], fmin(width, before), part * p.support, 0.5 * p.rest_speed};
  const double slope[4] = {w.second, w.by_before, w.by_support, w.by_rest_speed};
  for (int k = 0; k < 4; k++) {
    if (!(unit[k] > 0)) continue; /* y_t = 0 is an end */
    double error = least_error(x, k, unit[k], dt, true, slope[k], fmax(w.first, 1));
    compare_at_most(error, 1e-7, "W' at y_t = %g, ratio %g, dt = %g, by variable %d", before, ratio, dt, k);
  }
  double scale = part * x[0] * fmax(w.first, 1);
  compare_at_most(least_error(x, 0, unit[0], dt, false, w.first, scale), 1e-7, "W at y_t = %g, ratio %g, dt = %g",
                  before, ratio, dt);
}

static void impact_I1_I3_I6_slopes_on_both_sides_of_every_branch(void** state) {
  (void)state;
  const double dt[] = {0.1, 1e-2, 1e-3, 6.74e-4, 6.6e-4, 1e-4, 1e-5}; /* at 6.667e-4 steps begin to be fine (I2) */
  for (size_t n = 0; n < 7; n++)
    for (size_t b = 0; b < 5; b++)
      for (size_t k = 0; k < 9; k++) {
        check_slopes(BEFORE[b], RATIO[k], dt[n]);
        ImpactParameters p = {2e-3, 3e-3, dt[n], 0, 1};
        double window = BEFORE[b] > 0 ? width_of(&p, BEFORE[b]) / BEFORE[b] : 0; /* ... and where the ramp is */
        if (window > 0 && window < 0.9) check_slopes(BEFORE[b], 1 - window * (0.1 * (double)k + 0.05), dt[n]);
      }
}

static void impact_I4_is_above_its_tangent_at_rest(void** state) {
  (void)state;
  Random random = {301};
  for (int k = 0; k < 20000; k++) {
    ImpactParameters p = {exp(3 * random_normal(&random)), exp(3 * random_normal(&random)),
                          exp(3 * random_normal(&random)), 0, 1};
    double before = exp(2 * random_normal(&random)), y = before * exp(0.5 * random_normal(&random));
    double then = 8 * before * before / p.support, now = 8 * y * y / p.support;
    Impact rest = impact_evaluate(&p, then, before), w = impact_evaluate(&p, now, before);
    compare_relative(rest.first, 1, 1e-12 * fmax(1, before / width_of(&p, before)), "seed 301, %d: W' at rest", k);
    if (!(w.value - rest.value >= now - then - 1e-12 * (now + w.value)))
      fail_msg("seed 301, %d: W changes by %g, U by %g", k, w.value - rest.value, now - then);
    assert_true(w.first >= 0 && w.second >= 0);
  }
}

static void impact_bare_barrier_without_a_rest_speed(void** state) {
  (void)state;
  Impact w = impact_evaluate(&(ImpactParameters){1e-3, 0, 1e-2, 0, 1}, 7, 2);
  const double found[] = {w.value, w.first, w.second, w.by_before, w.by_support, w.by_rest_speed};
  const double wanted[] = {7, 1, 0, 0, 0, 0};
  compare_bytes(found, wanted, sizeof found, "without a rest speed");
}

/* ---------------------------------------------------------------- runs */

static const char DROP[] =
    "simulation: {dt: %g, steps: 10, integrator: %s}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: box, mass: %g, shape: {type: box, size: [%g, %g, %g]}, position: [0, 0, %g]}\n";

typedef struct {
  const char* integrator;
  double dt, mass, size;
} Drop;

static double height(const Run* run) { return sim_state(run->sim)->center[run_link(run, "box")].z; }

/* Checks a box that falls by its own size onto the ground. The rebound speed stays below 0.5 % of the impact speed, and
 * the box ends at the equilibrium gap. */
static void check_drop(const Drop* drop) {
  double fall = sqrt(2 * drop->size / 9.81), dt = drop->dt * fall, fastest = -INFINITY;
  Run* run =
      run_create(1, 0, DROP, dt, drop->integrator, drop->mass, drop->size, drop->size, drop->size, 1.5 * drop->size);
  for (double t = 0; t < 2 * fall; t += dt) {
    double before = height(run);
    run_steps(run, 1);
    fastest = fmax(fastest, (height(run) - before) / dt);
  }
  const ModelContact* c = &run->model.contact;
  compare_at_most(fastest / (9.81 * fall), 0.005, "%s, dt = %g, %g kg: rebound", drop->integrator, drop->dt,
                  drop->mass);
  double gap =
      contact_rest_under_force(CONTACT_SEPARATING_PLANE, c->support, 4, 1, drop->mass * 9.81 / c->stiffness).gap;
  compare_relative(height(run) - 0.5 * drop->size, gap, 1e-3, "%s, dt = %g, %g kg: gap at rest", drop->integrator,
                   drop->dt, drop->mass);
  run_free(run);
}

static void impact_I2_a_drop_does_not_rebound_at_any_dt(void** state) {
  (void)state;
  const char* const integrators[] = {"first_order", "momentum"};
  for (int k = 0; k < 2; k++) {
    for (double dt = 5e-2; dt > 1e-5; dt *= 0.1) check_drop(&(Drop){integrators[k], dt, 0.3, 0.2});
    check_drop(&(Drop){integrators[k], 1e-3, 1e-5, 2e-3});
    check_drop(&(Drop){integrators[k], 1e-3, 1e9, 100});
  }
}

/* Thrown at the ground without weight: nothing brings it back, so that it gains speed until it has left the range. */
static void impact_I2_without_weight_nothing_leaves_fast(void** state) {
  (void)state;
  for (double dt = 1e-3; dt > 5e-6; dt *= 0.1) {
    double speed = 3.132;
    Run* run =
        run_create(1, 0,
                   "simulation: {dt: %g, steps: 10, gravity: [0, 0, 0], integrator: first_order}\n"
                   "links:\n"
                   "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                   "  - {name: box, mass: 0.3, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.11]}\n"
                   "initial: [{link: box, velocities: [0, 0, %g, 0, 0, 0]}]\n",
                   dt, -speed);
    run_steps(run, (int)(0.15 / dt));
    compare_near(sim_state(run->sim)->rate[2] / speed, 0, 0.005, "dt = %g: rebound", dt);
    run_free(run);
  }
}

/* Without gravity: both go on with their common speed, whatever their masses. */
static void impact_two_bodies_keep_their_momentum_and_nothing_else(void** state) {
  (void)state;
  for (double dt = 1e-2; dt > 5e-6; dt *= 0.1) {
    Run* run =
        run_create(1, 0,
                   "simulation: {dt: %g, steps: 10, gravity: [0, 0, 0], integrator: first_order}\n"
                   "links:\n"
                   "  - {name: a, mass: 0.3, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [-0.2, 0, 0]}\n"
                   "  - {name: b, mass: 0.9, shape: {type: box, size: [0.2, 0.3, 0.3]}, position: [0.2, 0, 0]}\n"
                   "initial:\n"
                   "  - {link: a, velocities: [2, 0, 0, 0, 0, 0]}\n"
                   "  - {link: b, velocities: [-1, 0, 0, 0, 0, 0]}\n",
                   dt);
    const double* rate = sim_state(run->sim)->rate;
    run_steps(run, (int)(0.2 / dt));
    compare_near(rate[0], -0.25, 0.005 * 3, "dt = %g: a", dt);
    compare_near(rate[6], -0.25, 0.005 * 3, "dt = %g: b", dt);
    compare_near(0.3 * rate[0] + 0.9 * rate[6], -0.3, 1e-6, "dt = %g: momentum", dt);
    run_free(run);
  }
}

/* U of a pair, its plane found again. */
static double barrier_potential(const ContactSystem* s, const ContactPair* p) {
  const HullInstance *a = &s->instance[s->current][p->hull_a], *b = &s->instance[s->current][p->hull_b];
  double room[3][64];
  assert_true(a->points.padded + b->points.padded <= 64);
  PlaneScratch scratch = {room[0], room[1], room[2], 64, 0};
  PlaneSolution found;
  const Plane start = p->state[s->current].plane;
  assert_int_equal(plane_solve(a, b, s->model->contact.support, start, &scratch, &found), PLANE_ACTIVE);
  return found.energy;
}

/* Returns the mechanical energy: kinetic energy of the last step, potential energy of gravity and of the barriers. */
static double mechanical_energy(const Sim* s) {
  const Model* m = s->model;
  double sum = 0;
  for (int i = 0; i < m->link_count; i++) {
    if (m->links[i].tree < 0) continue;
    sum += inertia_energy(&m->links[i], s->pose_now[i], s->pose_old[i], 1 / (s->clock.dt * s->clock.dt));
    sum -= m->links[i].mass * vec3_dot(m->simulation.gravity, s->state.center[i]);
  }
  for (int k = 0; k < s->contact->list_count; k++) {
    const ContactPair* pair = contact_pair(s->contact, k);
    if (pair->state[s->contact->current].outcome == PAIR_PRESSED)
      sum += m->contact.stiffness * barrier_potential(s->contact, pair);
  }
  return sum;
}

/* Of bodies that turn the objective is convex up to second order only (I4): a step at 1e-2 s may gain 1e-4. */
static void tumble(Random* random, double dt, int number) {
  double v[12];
  for (int k = 0; k < 12; k++) v[k] = (k % 6 < 3 ? 1.5 : 8) * random_normal(random);
  Run* run =
      run_create(1, 1e-10,
                 "simulation: {dt: %g, steps: 10, integrator: first_order}\n"
                 "contact: {friction: %g}\n"
                 "links:\n"
                 "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                 "  - {name: a, mass: 0.3, shape: {type: box, size: [0.2, 0.15, 0.1]}, position: [0, 0, 0.3]}\n"
                 "  - {name: b, mass: 0.5, shape: {type: sphere, radius: 0.1}, position: [0.1, 0, 0.6]}\n"
                 "initial:\n"
                 "  - {link: a, velocities: [%g, %g, %g, %g, %g, %g]}\n"
                 "  - {link: b, velocities: [%g, %g, %g, %g, %g, %g]}\n",
                 dt, number % 2 ? 0.6 : 0.0, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11]);
  run_steps(run, 1);
  double before = mechanical_energy(run->sim), start = before;
  for (int k = 1; k * dt < 0.8; k++) {
    run_steps(run, 1);
    double now = mechanical_energy(run->sim);
    compare_at_most(now, before + 0.02 * dt * fabs(start), "seed 302, run %d, dt = %g, step %d: energy", number, dt, k);
    before = now;
  }
  assert_true(before < 0.8 * start);
  run_free(run);
}

static void impact_I4_energy_never_grows_in_random_impacts(void** state) {
  (void)state;
  Random random = {302};
  for (int k = 0; k < 24; k++) tumble(&random, k % 3 == 0 ? 1e-2 : k % 3 == 1 ? 2e-3 : 5e-4, k);
}

/* Tangential impulse mu times the normal one, in the same few steps (I5). */
static void impact_I5_friction_has_the_whole_impulse(void** state) {
  (void)state;
  for (double dt = 5e-3; dt > 1e-4; dt *= 0.1) {
    Run* run =
        run_create(1, 0,
                   "simulation: {dt: %g, steps: 10, integrator: first_order}\n"
                   "contact: {friction: 0.2}\n"
                   "links:\n"
                   "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                   "  - {name: box, mass: 0.3, shape: {type: box, size: [0.6, 0.6, 0.06]}, position: [0, 0, 0.04], "
                   "joint: {type: free, free_axes: [x, y, z]}}\n"
                   "initial: [{link: box, velocities: [3, 0, -4]}]\n",
                   dt);
    double time = 0.02;
    run_steps(run, (int)(time / dt + 0.5));
    double wanted = 3 - 0.2 * (4 + 9.81 * time);
    compare_near(sim_state(run->sim)->rate[0], wanted, 0.012 * wanted, "dt = %g: speed left", dt);
    run_free(run);
  }
}

/* The normal load of friction includes the impulse beyond the barrier's own force. The derivatives are compared with
 * finite differences on both sides of W' = 1, for longer and shorter substeps (I5). */
static void impact_I5_load_of_parts_of_unequal_length(void** state) {
  (void)state;
  static const double FIRST[] = {0, 0.3, 0.999, 1, 1.001, 1.3, 3, 40, 1e5}, SHARE[] = {1e-3, 0.5, 1, 2, 300};
  for (size_t k = 0; k < sizeof FIRST / sizeof *FIRST; k++)
    for (size_t n = 0; n < sizeof SHARE / sizeof *SHARE; n++) {
      Impact at = {.first = FIRST[k], .second = 1, .by_before = -2, .by_support = 3, .by_rest_speed = 5};
      Impact load = impact_friction_factor(&at, SHARE[n]);
      double x = fmax(0, at.first - 1), slope = INFINITY, least = INFINITY;
      compare_relative(load.first, at.first + (SHARE[n] - 1) * (x - x / (1 + x * x)), 1e-12, "W' = %g, ratio %g",
                       at.first, SHARE[n]);
      assert_true(load.first > 0 || at.first == 0);
      for (double step = 1e-2; step > 1e-7; step *= 0.3) {
        Impact from = {.first = at.first - step}, to = {.first = at.first + step};
        slope =
            (impact_friction_factor(&to, SHARE[n]).first - impact_friction_factor(&from, SHARE[n]).first) / (2 * step);
        least = fmin(least, fabs(slope - load.second));
      }
      compare_at_most(least, 1e-7 * fmax(1, SHARE[n]) * fmax(1, 1e-2 * at.first), "slope at W' = %g, ratio %g",
                      at.first, SHARE[n]);
      const double found[] = {load.by_before, load.by_support, load.by_rest_speed},
                   wanted[] = {-2 * load.second, 3 * load.second, 5 * load.second};
      for (int i = 0; i < 3; i++) compare_relative(found[i], wanted[i], 1e-15, "derivative %d", i);
      if (SHARE[n] == 1 || at.first <= 1) compare_bytes(&load, &at, sizeof load, "nothing changes");
    }
}

/* A box without restitution lands beside a box whose impact needs substeps of a hundredth of a step or less. It lands
 * before, during and after these substeps, and in the last one. Friction must equal mu times the normal impulse in each
 * case. */
static void impact_I5_friction_has_the_whole_impulse_beside_an_impact(void** state) {
  (void)state;
  static const char* const INTEGRATOR[] = {"first_order", "momentum", "second_order"};
  for (int i = 0; i < 3; i++)
    for (int k = -4; k < 20; k++) {
      Run* run =
          run_create(1, 0,
                     "simulation: {dt: 0.002, steps: 10, gravity: [0, 0, 0], integrator: %s}\n"
                     "contact: {friction: 0.2, rest_speed: 0.002, pairs: [{a: rubber, b: ground, restitution: 0.9}]}\n"
                     "links:\n"
                     "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                     "  - {name: box, mass: 0.3, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, %g], "
                     "joint: {type: free, free_axes: [x, y, z]}}\n"
                     "  - {name: rubber, mass: 0.3, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 1, 0.11], "
                     "joint: {type: free, free_axes: [x, y, z]}}\n"
                     "initial: [{link: box, velocities: [3, 0, -2]}, {link: rubber, velocities: [0, 0, -2]}]\n",
                     INTEGRATOR[i], 0.11 + 2e-4 * k);
      run_steps(run, 15);
      const double* rate = sim_state(run->sim)->rate;
      double impulse = 0.2 * (2 + rate[2]);
      compare_near(3 - rate[0], impulse, 0.05 * impulse, "%s, %d: speed taken", INTEGRATOR[i], k);
      run_free(run);
    }
}

/* A ball lands with a fast spin, so the step after first contact takes 4 to 16 substeps (spin.md, W10). The ball slides
 * throughout. Its velocity grows by mu times the normal impulse, and its spin falls by 5/2 mu / r times it. */
static void impact_I5_friction_has_the_whole_impulse_of_what_spins(void** state) {
  (void)state;
  for (int k = 0; k < 8; k++) {
    double dt = k % 2 ? 5e-3 : 2e-3;
    Run* run =
        run_create(1, 0,
                   "simulation: {dt: %g, steps: 12, gravity: [0, 0, 0], integrator: momentum}\n"
                   "contact: {friction: 0.3}\n"
                   "links:\n"
                   "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                   "  - {name: ball, mass: 1, mass_model: given, inertia: [0.001, 0.001, 0.001, 0, 0, 0], position: "
                   "[0, 0, %g], shape: {type: sphere, radius: 0.05, resolution: 4}}\n"
                   "initial: [{link: ball, velocities: [1.4, 0, -1.4, 0, 300, 0]}]\n",
                   dt, 0.05 + (2 + 0.125 * k) * 1.4 * dt);
    run_steps(run, 12);
    const double* rate = sim_state(run->sim)->rate;
    double impulse = 0.3 * (1.4 + rate[2]);
    compare_near(rate[0] - 1.4, impulse, 0.06 * impulse, "dt = %g, %d: speed", dt, k);
    compare_near(300 - sim_state(run->sim)->momentum[1].y / 0.001, 0.05 * impulse / 0.001,
                 0.07 * 0.05 * impulse / 0.001, "dt = %g, %d: spin", dt, k);
    run_free(run);
  }
}

/* With restitution a pair that enters the contact range has no force before z = 0.995. While the pair's speed is
 * measured, it has none before z = 0.5. W' and W'' are those of (I1) with y_t = y(0.995). The potential of 8 vertices
 * is 8 Q(z) / s. */
static void impact_I2a_no_force_before_an_impact(void** state) {
  (void)state;
  const ImpactParameters p = {2e-3, 3e-3, 1e-5, 0.6, 1}, law = {2e-3, 3e-3, 1e-5, 0, 1};
  double entry = impact_compression(p.support, impact_potential(p.support, 0.995));
  ImpactPast measures = {.stage = IMPACT_ENTERED};
  for (double z = 0.9999; z > 0.9951; z -= 0.0002) {
    Impact w = impact_evaluate(&p, impact_potential(p.support, z), 0);
    assert_true(w.value == 0 && w.first == 0 && w.second == 0);
  }
  for (double z = 0.99; z > 0.51; z -= 0.03) {
    double potential = impact_potential(p.support, z);
    Impact w = impact_evaluate(&p, potential, 0), like = impact_evaluate(&law, potential, entry);
    assert_true(w.first == like.first && w.second == like.second && w.by_before == 0);
    assert_true(impact_evaluate_pair(&p, potential, 0, &measures).first == 0);
  }
  assert_true(impact_evaluate_pair(&p, impact_potential(p.support, 0.49), 0, &measures).first > 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impact_I1_I2_worked_example),
      cmocka_unit_test(impact_I1_I3_is_the_integral),
      cmocka_unit_test(impact_I2a_no_force_before_an_impact),
      cmocka_unit_test(impact_I1_I3_I6_slopes_on_both_sides_of_every_branch),
      cmocka_unit_test(impact_I4_is_above_its_tangent_at_rest),
      cmocka_unit_test(impact_bare_barrier_without_a_rest_speed),
      cmocka_unit_test(impact_I2_a_drop_does_not_rebound_at_any_dt),
      cmocka_unit_test(impact_I2_without_weight_nothing_leaves_fast),
      cmocka_unit_test(impact_two_bodies_keep_their_momentum_and_nothing_else),
      cmocka_unit_test(impact_I4_energy_never_grows_in_random_impacts),
      cmocka_unit_test(impact_I5_friction_has_the_whole_impulse),
      cmocka_unit_test(impact_I5_load_of_parts_of_unequal_length),
      cmocka_unit_test(impact_I5_friction_has_the_whole_impulse_beside_an_impact),
      cmocka_unit_test(impact_I5_friction_has_the_whole_impulse_of_what_spins),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
