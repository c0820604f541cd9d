/* Tests friction in a run's first step (docs/derivations/friction.md, F6). Coulomb's law holds with the normal impulse
 * of the same step, however deep the initial contact is. Both impulses follow from the momentum of all moving bodies.
 */
#include <string.h>

#include "simulate/sim.h"
#include "support/runs.h"

#define MU 0.3
#define G 9.81

/* ---------------------------------------------------------------- closed forms */

typedef struct {
  const char *law, *integrator; /* law: keys of `contact` */
  double dt, mass, lean;        /* lean: gravity along x over that along z */
  double part;                  /* the gap of the start in gaps at rest */
} Start;

/* A slab of 0.4 x 0.4 x 0.05 m slides over the ground, with another one on it where `upper` is heavier than nothing. */
static Run* slabs(const Start* s, double gap, double upper, int threads) {
  double z = 0.025 + gap, top = z + 0.05 + gap;
  char second[300] = "", moves[100] = "";
  if (upper > 0) {
    snprintf(second, sizeof second, "  - {name: top, mass: %g, shape: slab, position: [0, 0, %.17g]}\n", upper, top);
    snprintf(moves, sizeof moves, "  - {link: top, velocities: [1, 0, 0, 0, 0, 0]}\n");
  }
  return run_create(threads, 1e-9,
                    "simulation: {dt: %g, duration: %.17g, integrator: %s, gravity: [%.17g, 0, %.17g]}\n"
                    "contact: {%s, friction: %g, smoothing: 1e-8}\n"
                    "shapes: {slab: {type: box, size: [0.4, 0.4, 0.05]}}\n"
                    "links:\n"
                    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                    "  - {name: slab, mass: %g, shape: slab, position: [0, 0, %.17g]}\n%s"
                    "initial:\n"
                    "  - {link: slab, velocities: [1, 0, 0, 0, 0, 0]}\n%s",
                    s->dt, 4 * s->dt, s->integrator, s->lean * G, -G, s->law, MU, s->mass, z, second, moves);
}

static double rest_gap(const Start* s, double upper) {
  Run* run = slabs(s, 0.01, upper, 1);
  double gap = run->model.contact.gap_at_rest;
  run_free(run);
  return gap;
}

/* What the step adds to the way of the masses along x and z, in their weight's way. Positions of second order and of
 * momentum have half of it in the first step (step.md, S3); second order not where contact ends in it, which is of
 * first order then (S15). */
static Vec3 pushed(Run* run, const Start* s) {
  const Model* m = &run->model;
  Vec3 from = {0, 0, 0}, to = {0, 0, 0};
  double mass = 0;
  for (int i = 0; i < m->link_count; i++)
    if (m->links[i].tree >= 0) from = vec3_add_scaled(from, m->links[i].mass, sim_state(run->sim)->center[i]);
  (void)run_steps(run, 1);
  bool second = strcmp(s->integrator, "second_order") == 0 && run->sim->clock.kind != STEP_IMPACT_ACTS;
  double half = second || strcmp(s->integrator, "momentum") == 0 ? 0.5 : 1;
  for (int i = 0; i < m->link_count; i++)
    if (m->links[i].tree >= 0) to = vec3_add_scaled(to, m->links[i].mass, sim_state(run->sim)->center[i]);
  for (int i = 0; i < m->link_count; i++) mass += m->links[i].tree >= 0 ? m->links[i].mass : 0;
  Vec3 way = vec3_scale(vec3_sub(to, from), 1 / mass), weight = vec3(s->lean * G, 0, -G);
  way.x -= s->dt;
  way = vec3_add_scaled(way, -half * s->dt * s->dt, weight);
  return vec3_scale(way, 1 / (half * s->dt * s->dt * G));
}

static void check_coulomb(const Start* s, double upper, double tolerance) {
  Run* run = slabs(s, s->part * rest_gap(s, upper), upper, 1);
  Vec3 push = pushed(run, s);
  assert_non_null(sim_initial_friction(run->sim));
  compare_near(-push.x, MU * push.z, tolerance * MU * push.z,
               "%s, %s, dt %g, mass %g, lean %g, %g under %g: %g weights press", s->law, s->integrator, s->dt, s->mass,
               s->lean, s->part, upper, push.z);
  run_free(run);
}

static const char* const integrators[] = {"first_order", "momentum", "second_order"};

static void guess_F6_coulomb_in_the_first_step(void** state) {
  (void)state;
  const double parts[] = {0.1, 0.4, 0.7, 1, 1.3}, lengths[] = {1e-4, 1e-3, 1e-2}, masses[] = {1e-3, 1, 1e3};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 5; k++)
      for (int n = 0; n < 3; n++) {
        Start s = {"model: separating_plane", integrators[i], lengths[n], masses[(n + k) % 3], 0.2 * (k % 2), parts[k]};
        if (!(s.part > 1 && s.dt > 1e-3)) check_coulomb(&s, 0, 4e-3);
      }
}

static void guess_F6_a_load_on_top(void** state) {
  (void)state;
  const double parts[] = {0.2, 0.6, 1};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      Start s = {"model: separating_plane", integrators[i], 1e-3, 1, 0, parts[k]};
      check_coulomb(&s, 3, 1e-2);
    }
}

static void guess_F6_by_distances_of_features(void** state) {
  (void)state;
  const double parts[] = {0.3, 0.6, 1};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      Start s = {"model: ipc", integrators[i], 1e-3, 1, 0, parts[k]};
      check_coulomb(&s, 0, 1e-2);
    }
}

/* A pair that enters the range within a step gets friction in the next step, at most a hundred times the initial force.
 */
static void guess_F6_falls_into_the_range(void** state) {
  (void)state;
  Start s = {"model: separating_plane", "first_order", 1e-2, 1, 0, 3.6};
  Run* run = slabs(&s, s.part * rest_gap(&s, 0), 0, 1);
  Vec3 push = pushed(run, &s);
  const InitialFriction* guess = sim_initial_friction(run->sim);
  double start = vec3_norm(guess->start.force[0]) / G;
  assert_true(push.z > 300 * start);
  assert_true(-push.x <= 100.1 * MU * start && -push.x >= 90 * MU * start);
  run_free(run);
}

/* A ball penetrates the ground, deep or less deep, with one contact point. */
static void check_ball(const char* law, const char* integrator, double depth) {
  Start s = {law, integrator, 1e-3, 1, 0, depth};
  Run* run = run_create(1, 1e-9,
                        "simulation: {dt: 1e-3, duration: 4e-3, integrator: %s}\n"
                        "contact: {%s, friction: %g, smoothing: 1e-8}\n"
                        "links:\n"
                        "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                        "  - {name: ball, mass: 1, shape: {type: superellipsoid, size: [0.1, 0.1, 0.1], exponent: 2}, "
                        "position: [0, 0, %.17g]}\n"
                        "initial: [{link: ball, velocities: [1, 0, 0, 0, 0, 0]}]\n",
                        integrator, law, MU, 0.1 - depth);
  Vec3 push = pushed(run, &s);
  assert_non_null(sim_initial_friction(run->sim));
  compare_near(-push.x, MU * push.z, 5e-3 * MU * push.z, "%s, %s, %g m deep: %g weights press", law, integrator, depth,
               push.z);
  run_free(run);
}

static void guess_F6_balls_that_overlap(void** state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    check_ball("model: penalty, stiffness: 1e6", integrators[i], 2e-4);
    check_ball("model: penalty, stiffness: 1e6", integrators[i], 4e-3);
    check_ball("model: manifold, stiffness: 1e5", integrators[i], 4e-3);
  }
}

/* ---------------------------------------------------------------- who has none, and states that are kept */

static void guess_only_where_something_rubs(void** state) {
  (void)state;
  Start s = {"model: separating_plane", "momentum", 1e-3, 1, 0, 1};
  Run* high = slabs(&s, 0.05, 0, 1);
  (void)run_steps(high, 1);
  assert_null(sim_initial_friction(high->sim));
  run_free(high);
  Run* low = slabs(&s, rest_gap(&s, 0), 0, 1);
  assert_null(sim_initial_friction(low->sim));
  (void)run_steps(low, 1);
  assert_non_null(sim_initial_friction(low->sim));
  (void)run_steps(low, 1);
  assert_null(sim_initial_friction(low->sim));
  run_free(low);
  Run* smooth = run_create(1, 0,
                           "contact: {friction: 0}\n"
                           "links:\n"
                           "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                           "  - {name: box, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [0, 0, "
                           "0.0502]}\n");
  (void)run_steps(smooth, 1);
  assert_null(sim_initial_friction(smooth->sim));
  run_free(smooth);
}

static void check_same(const Run* a, const Run* b) {
  size_t links = (size_t)a->model.link_count;
  assert_memory_equal(sim_state(a->sim)->pose, sim_state(b->sim)->pose, sizeof(Pose) * links);
}

/* From the start again, and on two threads: the same bits. */
static void guess_again_has_the_same_bits(void** state) {
  (void)state;
  Start s = {"model: separating_plane", "momentum", 1e-3, 1, 0, 0.4};
  double gap = s.part * rest_gap(&s, 3);
  Run *run = slabs(&s, gap, 3, 1), *other = slabs(&s, gap, 3, 2);
  SimSnapshot* snapshot = sim_save(run->sim);
  (void)run_steps(run, 2);
  (void)run_steps(other, 2);
  check_same(run, other);
  sim_restore(run->sim, snapshot);
  assert_null(sim_initial_friction(run->sim));
  (void)run_steps(run, 2);
  check_same(run, other);
  sim_snapshot_destroy(snapshot);
  run_free(run);
  run_free(other);
}

static void guess_copies_stand_alone(void** state) {
  (void)state;
  Start s = {"model: separating_plane", "momentum", 1e-3, 1, 0, 0.4};
  Run* run = slabs(&s, s.part * rest_gap(&s, 3), 3, 1);
  (void)run_steps(run, 1);
  const InitialFriction* guess = sim_initial_friction(run->sim);
  InitialFriction* copy = sim_initial_friction_copy(guess, &run->model);
  double x = guess->q[0];
  int count = guess->end.count;
  Vec3 force = guess->end.force[count - 1];
  run_free(run);
  assert_true(copy->q[0] == x);
  assert_int_equal(copy->end.count, count);
  assert_memory_equal(&copy->end.force[count - 1], &force, sizeof force);
  memory_free(copy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(guess_F6_coulomb_in_the_first_step), cmocka_unit_test(guess_F6_a_load_on_top),
      cmocka_unit_test(guess_F6_by_distances_of_features),  cmocka_unit_test(guess_F6_falls_into_the_range),
      cmocka_unit_test(guess_F6_balls_that_overlap),        cmocka_unit_test(guess_only_where_something_rubs),
      cmocka_unit_test(guess_again_has_the_same_bits),      cmocka_unit_test(guess_copies_stand_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
