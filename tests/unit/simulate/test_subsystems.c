/* Tests steps solved by islands (S17). Results are the same for any number of threads and agree with the solution of
 * the whole scene. Momentum is conserved, an independent proof confirms the moves, and nothing is allocated after all
 * lists have grown. */
#include <string.h>

#include "simulate/sim.h"
#include "support/runs.h"

/* As many columns of two boxes, tilted, over the ground. */
enum { COLUMNS = 72, SIDE = 9 };

/* The text of it; freed by the caller. */
static Text columns_yaml(void) {
  Text yaml = {0};
  Random random = {7};
  text_add(&yaml,
           "simulation: {dt: 0.01, steps: 100, integrator: first_order}\n"
           "contact: {friction: 0.5}\n"
           "shapes:\n  box: {type: box, size: [0.2, 0.16, 0.12]}\n  cube: {type: box, size: [0.18, 0.18, 0.18]}\n"
           "links:\n  - {name: ground, fixed: true, shape: {type: half_space}}\n");
  for (int n = 0; n < 2 * COLUMNS; n++) {
    int layer = n / COLUMNS, column = n % SIDE, row = n % COLUMNS / SIDE;
    text_add(
        &yaml,
        "  - {name: b%d, mass: 1, mass_model: vertices, shape: %s, joint: {type: free, position: [%.3f, %.3f, %.3f]", n,
        random_bits(&random) % 2 ? "box" : "cube", 0.27 * column + random_uniform(&random, -0.01, 0.01),
        0.27 * row + random_uniform(&random, -0.01, 0.01), 0.13 + 0.24 * layer);
    text_add(&yaml, ", rotation_vector: [%.3f, %.3f, %.3f]}}\n", random_uniform(&random, -0.15, 0.15),
             random_uniform(&random, -0.15, 0.15), random_uniform(&random, -0.15, 0.15));
  }
  return yaml;
}

static Run* columns_run(int threads) {
  Text yaml = columns_yaml();
  Run* run = run_create(threads, 1e-8, "%s", yaml.data);
  text_free(&yaml);
  return run;
}

/* In the step taken last. */
static int trees_in_parts(const Run* run) {
  int count = 0;
  for (int k = 0; run->sim->subsystems.solved_in && k < run->model.tree_count; k++)
    count += run->sim->subsystems.solved_in[k] >= 0;
  return count;
}

static void solve_as_a_whole(Run* run) {
  subsystems_destroy(run->sim->subsystems.parts);
  run->sim->subsystems.parts = NULL;
}

static void parts_S17_do_not_depend_on_threads(void** state) {
  (void)state;
  static const int threads[] = {2, 3, 8};
  enum { STEPS = 30 };
  for (int k = 0; k < 3; k++) {
    Run *many = columns_run(threads[k]), *again = columns_run(1);
    size_t size = sizeof(double) * (size_t)again->model.coordinate_count;
    for (int n = 0; n < STEPS; n++) {
      StepReport a = run_steps(many, 1), b = run_steps(again, 1);
      assert_memory_equal(sim_state(many->sim)->q, sim_state(again->sim)->q, size);
      assert_int_equal(a.trials, b.trials);
      assert_int_equal(a.certified_intervals, b.certified_intervals);
      assert_int_equal(trees_in_parts(many), 2 * COLUMNS);
    }
    run_free(many);
    run_free(again);
  }
}

/* Until chance has its say: through the fall and the first impacts, where both are right to the tolerance. */
static void parts_S17_move_as_the_whole_does(void** state) {
  (void)state;
  Run *parts = columns_run(1), *whole = columns_run(1);
  solve_as_a_whole(whole);
  int fewer = 0, trials[2] = {0, 0};
  for (int n = 0; n < 25; n++) {
    StepReport a = run_steps(parts, 1), b = run_steps(whole, 1);
    double worst = 0;
    for (int i = 0; i < parts->model.coordinate_count; i++)
      worst = fmax(worst, fabs(sim_state(parts->sim)->q[i] - sim_state(whole->sim)->q[i]));
    compare_at_most(worst, 1e-6, "step %d: coordinates apart", n + 1);
    compare_relative(a.terms.contact, b.terms.contact, 1e-4, "step %d: energy of contact", n + 1);
    fewer += a.trials < b.trials;
    assert_true(a.trials <= b.trials + 2 + b.trials / 4); /* the sum is what counts */
    trials[0] += a.trials;
    trials[1] += b.trials;
    assert_int_equal(trees_in_parts(whole), 0);
  }
  print_message("%d of 25 steps with fewer trials, %d in all instead of %d\n", fewer, trials[0], trials[1]);
  assert_true(fewer > 5);
  assert_true(trials[0] < trials[1]);
  run_free(parts);
  run_free(whole);
}

/* A Sim of the same scene that keeps its moves, and a proof that stands at its start. */
static Proof* prove_moves(Run* run, int threads) {
  sim_destroy(run->sim);
  const SimOptions options = {.threads = threads, .tolerance = 1e-8, .path = true};
  assert_int_equal(sim_create(&run->sim, &run->model, &options, &run->diagnostics), STATUS_OK);
  Proof* proof = proof_create(&run->model, 1);
  assert_int_equal(proof_next(proof, sim_state(run->sim)->q).outcome, PROOF_DISJOINT);
  return proof;
}

static void prove_step(Run* run, Proof* proof, int step) {
  SimPath path = sim_path(run->sim);
  const double* q = sim_state(run->sim)->q;
  ProofReport report =
      path.count > 0 ? proof_next_along(proof, path.delta, path.count, q) : proof_next_straight(proof, q);
  if (report.outcome != PROOF_DISJOINT) fail_msg("step %d, %d moves: not proved", step, path.count);
  compare_at_most(report.miss, 1e-12, "step %d: the last move ends elsewhere", step);
}

static void parts_S17_leave_moves_that_are_proved(void** state) {
  (void)state;
  Run* run = columns_run(1);
  Proof* proof = prove_moves(run, 2);
  for (int n = 0; n < 40; n++) {
    run_steps(run, 1);
    prove_step(run, proof, n + 1);
  }
  proof_destroy(proof);
  run_free(run);
}

/* Cubes without weight are 1 or 10 mm apart. A cube of 100 kg collides with the first at 10 m/s, which moves the first
 * farther than predicted. */
static Run* struck_run(int threads) {
  return run_create(threads, 1e-9,
                    "simulation: {dt: 0.01, steps: 100, gravity: [0, 0, 0], integrator: first_order}\n"
                    "contact: {friction: 0.3, barrier_distance: 1.0e-3}\n"
                    "shapes:\n  cube: {type: box, size: [0.1, 0.1, 0.1]}\n"
                    "links:\n"
                    "  - {name: ram, mass: 100, mass_model: vertices, shape: cube, joint: {type: free, position: "
                    "[-0.5, 0.011, 0.02]}}\n"
                    "  - {name: \"row{n}\", mass: 1, mass_model: vertices, shape: cube, position: [0, 0, 0], "
                    "repeat: {count: [3, 1, 1], position: [0.11, 0.013, 0.007]}}\n"
                    "  - {name: \"far{n}\", mass: 1, mass_model: vertices, shape: cube, position: [0, 5, 0], "
                    "repeat: {count: [12, 12, 1], position: [0.5, 0.5, 0]}}\n"
                    "initial:\n  - {link: ram, velocities: [10, 0, 0, 0.1, 0.2, 0.3]}\n");
}

static Vec3 momentum_of(const Run* run) {
  SimMeasure measure = sim_measure(run->sim);
  return measure.momentum;
}

static void parts_S17_leave_their_regions_for_the_whole(void** state) {
  (void)state;
  Run *parts = struck_run(2), *whole = struck_run(1);
  solve_as_a_whole(whole);
  Vec3 before = momentum_of(parts);
  int left = 0;
  for (int n = 0; n < 12; n++) {
    run_steps(parts, 1);
    run_steps(whole, 1);
    left += subsystems_left_region(parts->sim);
    Vec3 lost = vec3_sub(momentum_of(parts), before);
    compare_at_most(vec3_norm(lost), 1e-6 * vec3_norm(before), "step %d: momentum", n + 1);
    double worst = 0;
    for (int i = 0; i < parts->model.coordinate_count; i++)
      worst = fmax(worst, fabs(sim_state(parts->sim)->q[i] - sim_state(whole->sim)->q[i]));
    compare_at_most(worst, 1e-5, "step %d: coordinates apart", n + 1);
  }
  print_message("%d parts left their regions\n", left);
  assert_true(left > 0);
  run_free(parts);
  run_free(whole);
}

/* Fans of four blocks that turn by 0.8 rad and more a step in the same box, and a chip in the way between two blocks.
 */
enum { FANS = 66 };

static Run* fans_run(int threads) {
  Text yaml = {0};
  text_add(&yaml,
           "simulation: {dt: 0.01, steps: 10, gravity: [0, 0, 0], integrator: first_order}\n"
           "contact: {friction: 0.3}\n"
           "shapes:\n  block: {type: box, size: [0.2, 0.2, 0.2]}\n  chip: {type: box, size: [0.1, 0.1, 0.1]}\n"
           "links:\n");
  for (int k = 0; k < FANS; k++) {
    int row = k / 12;
    double x = 8 * (k % 12), y = 8 * row;
    text_add(&yaml,
             "  - {name: fan%d, mass: 4, mass_model: vertices, position: [%g, %g, 0], shapes: [{shape: block, "
             "position: [1, 0, 0]}, {shape: "
             "block, position: [0, 1, 0]}, {shape: block, position: [-1, 0, 0]}, {shape: block, position: [0, -1, "
             "0]}]}\n",
             k, x, y);
    text_add(&yaml, "  - {name: chip%d, mass: 0.1, mass_model: vertices, position: [%g, %g, %g], shape: chip}\n", k,
             x + 0.7, y + 0.7, 0.01 * (k % 5));
  }
  text_add(&yaml, "initial:\n");
  for (int k = 0; k < FANS; k++)
    text_add(&yaml, "  - {link: fan%d, velocities: [0, 0, 0, 0, 0, %g]}\n", k, 80 + 4.0 * (k % 7));
  Run* run = run_create(threads, 1e-9, "%s", yaml.data);
  text_free(&yaml);
  return run;
}

/* Of a free body; a quaternion and its negative are the same turn. */
static double free_apart(const double* a, const double* b) {
  double way = 0, turn = 0, back = 0;
  for (int i = 0; i < 3; i++) way = fmax(way, fabs(a[i] - b[i]));
  for (int i = 3; i < 7; i++) {
    turn = fmax(turn, fabs(a[i] - b[i]));
    back = fmax(back, fabs(a[i] + b[i]));
  }
  return fmax(way, fmin(turn, back));
}

/* What takes the place of another hull of the same link is in nobody's box but its own. */
static void parts_S17_know_where_every_hull_goes(void** state) {
  (void)state;
  Run *parts = fans_run(2), *whole = fans_run(1);
  solve_as_a_whole(whole);
  Proof* proof = prove_moves(parts, 2);
  const double *q = sim_state(parts->sim)->q, *other = sim_state(whole->sim)->q;
  for (int n = 0; n < 2; n++) {
    run_steps(parts, 1);
    run_steps(whole, 1);
    prove_step(parts, proof, n + 1);
    double worst = 0;
    for (int k = 0; k < 2 * FANS; k++) worst = fmax(worst, free_apart(q + 7 * k, other + 7 * k));
    compare_at_most(worst, 1e-5, "step %d: coordinates apart", n + 1);
    assert_true(trees_in_parts(parts) > FANS);
  }
  assert_true(fabs(q[7]) > 0.05); /* the first chip has been struck */
  proof_destroy(proof);
  run_free(parts);
  run_free(whole);
}

/* Boxes that spin in space: nothing works on them but the roundings of their own inertia. */
static Run* spinning_run(void) {
  return run_create(1, 1e-14,
                    "simulation: {dt: 0.005, steps: 100, gravity: [0, 0, 0], integrator: second_order}\n"
                    "shapes:\n  box: {type: box, size: [0.2, 0.16, 0.12]}\n"
                    "links:\n"
                    "  - {name: \"b{n}\", mass: 1, mass_model: vertices, shape: box, position: [0, 0, 0], "
                    "repeat: {count: [12, 12, 1], position: [2, 2, 0]}}\n"
                    "initial:\n"
                    "  - {link: b0, velocities: [0.1, 0, 0, 10, 60, 20]}\n"
                    "  - {link: b77, velocities: [0.1, 3, 0, 30, -60, 40]}\n");
}

/* Parts that end at the rounding floor are not solved again by the iterations of the whole scene. Each part takes two
 * iterations at most until it finds its floor. */
static void parts_S17_end_at_rounding_as_the_whole_does(void** state) {
  (void)state;
  Run *parts = spinning_run(), *whole = spinning_run();
  solve_as_a_whole(whole);
  int at_rounding = 0;
  for (int n = 0; n < 10; n++) {
    StepReport a = run_steps(parts, 1), b = run_steps(whole, 1);
    at_rounding += a.outcome == STEP_ROUNDING_FLOOR;
    if (n > 1 && a.iterations > b.iterations + 2)
      fail_msg("step %d: %d iterations, %d", n + 1, a.iterations, b.iterations);
    for (int k = 0; k < parts->model.link_count; k++) {
      double apart = free_apart(sim_state(parts->sim)->q + 7 * k, sim_state(whole->sim)->q + 7 * k);
      compare_at_most(apart, 1e-8, "step %d: link %d", n + 1, k);
    }
  }
  assert_true(at_rounding > 0);
  run_free(parts);
  run_free(whole);
}

static void parts_S17_allocate_nothing_after_a_while(void** state) {
  (void)state;
  Run* run = columns_run(1);
  run_steps(run, 120);
  int with = 0;
  for (int n = 0; n < 40; n++) {
    uint64_t before = memory_allocation_count();
    run_steps(run, 1);
    with += memory_allocation_count() != before;
    assert_int_equal(trees_in_parts(run), 2 * COLUMNS);
  }
  if (with > 0) fail_msg("%d of 40 steps allocated memory", with);
  run_free(run);
}

/* Tilted boxes 5 m from each other. The first lands at 2.2 m/s, bounces and slides; the others stay in the air. The
 * smoothing is ten times the derived one. */
static Run* landing_run(int count) {
  Text yaml = {0};
  text_add(&yaml,
           "simulation: {dt: 0.002, steps: 200, integrator: first_order}\n"
           "contact: {friction: 0.2, restitution: 0.5, smoothing: 2.0e-8}\n"
           "shapes:\n  box: {type: box, size: [0.2, 0.16, 0.12]}\n"
           "links:\n  - {name: ground, fixed: true, shape: {type: half_space}}\n");
  for (int k = 0; k < count; k++)
    text_add(&yaml, "  - {name: b%d, mass: 1, shape: box, position: [%d.013, %d, %d.31], rpy: [0.3, 0.2, 0.1]}\n", k,
             5 * (k / 6), 5 * (k % 6), k > 0 ? 2 : 0);
  text_add(&yaml, "initial:\n");
  for (int k = 0; k < count; k++) text_add(&yaml, "  - {link: b%d, velocities: [1, 0.3, 0, 0.2, 0.1, 0]}\n", k);
  Run* run = run_create(1, 1e-12, "%s", yaml.data);
  text_free(&yaml);
  return run;
}

/* Friction after an impact uses a force without rounding errors, in one island (2 bodies) and in several (36 bodies).
 * Without (I13) the distance is 2.6e-9 m. */
static void impact_I13_does_not_depend_on_other_bodies(void** state) {
  (void)state;
  static const int counts[] = {2, 36};
  for (int c = 0; c < 2; c++) {
    Run *many = landing_run(counts[c]), *alone = landing_run(1);
    double worst = 0;
    int in_parts = 0;
    for (int n = 0; n < 130; n++) {
      run_steps(many, 1);
      run_steps(alone, 1);
      in_parts += trees_in_parts(many) == counts[c];
      worst = fmax(worst, free_apart(sim_state(many->sim)->q, sim_state(alone->sim)->q));
    }
    print_message("%d bodies, %d steps in parts, %.2g m apart\n", counts[c], in_parts, worst);
    assert_int_equal(in_parts, 130);
    compare_at_most(worst, 1e-10, "a box that lands with others and one that lands by itself");
    run_free(many);
    run_free(alone);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_S17_do_not_depend_on_threads),
      cmocka_unit_test(parts_S17_move_as_the_whole_does),
      cmocka_unit_test(parts_S17_leave_moves_that_are_proved),
      cmocka_unit_test(parts_S17_leave_their_regions_for_the_whole),
      cmocka_unit_test(parts_S17_know_where_every_hull_goes),
      cmocka_unit_test(parts_S17_end_at_rounding_as_the_whole_does),
      cmocka_unit_test(parts_S17_allocate_nothing_after_a_while),
      cmocka_unit_test(impact_I13_does_not_depend_on_other_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
