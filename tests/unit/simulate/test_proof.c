/* Tests proofs from recorded states (P5) against dense sampling of the path and closed forms of tunnelling and rolling.
 */
#include <string.h>

#include "simulate/simulate.h"
#include "support/paths.h"
#include "support/runs.h"

/* ---------------------------------------------------------------- a plate through a wall */

static const char wall_and_plate[] =
    "contact: {barrier_distance: 0.001}\n"
    "shapes:\n"
    "  thin: {type: box, size: [0.01, 1, 1]}\n"
    "links:\n"
    "  - {name: wall, fixed: true, shape: thin}\n"
    "  - {name: plate, mass: 1, shape: thin, position: [-0.55, 0, 0]}\n";

static ProofReport prove_two(const Model* model, const double* from, const double* to) {
  Proof* proof = proof_create(model, 1);
  ProofReport first = proof_next(proof, from);
  assert_int_equal(first.outcome, PROOF_DISJOINT);
  ProofReport second = proof_next(proof, to);
  proof_destroy(proof);
  return second;
}

/* Coordinates count from the pose that the scene gives. The wall reaches from -5 to 5 mm, the plate 5 mm to each side
 * of x: they are apart while |x| > 10 mm. */
static void a_plate_that_jumps_through_a_wall_is_found(void** state) {
  (void)state;
  Run* run = run_model("%s", wall_and_plate);
  double from[7] = {0, 0, 0, 1, 0, 0, 0}, to[7] = {1, 0, 0, 1, 0, 0, 0};
  ProofReport report = prove_two(&run->model, from, to);
  assert_int_equal(report.outcome, PROOF_INTERSECTING);
  assert_int_equal(report.link_a, 0);
  assert_int_equal(report.link_b, 1);
  compare_at_most(fabs(-0.55 + report.fraction), 0.010, "where they meet");
  run_free(run);
}

static void a_plate_that_stops_before_the_wall_is_proved(void** state) {
  (void)state;
  Run* run = run_model("%s", wall_and_plate);
  double from[7] = {0, 0, 0, 1, 0, 0, 0}, to[7] = {0.5399, 0, 0, 1, 0, 0, 0};
  ProofReport report = prove_two(&run->model, from, to);
  assert_int_equal(report.outcome, PROOF_DISJOINT);
  assert_false(report.detour);
  compare_near(report.gap, 1e-4, 1e-12, "gap");
  run_free(run);
}

static void a_state_in_which_bodies_meet_is_found_and_left_again(void** state) {
  (void)state;
  Run* run = run_model("%s", wall_and_plate);
  double apart[7] = {0, 0, 0, 1, 0, 0, 0}, inside[7] = {0.55, 0, 0, 1, 0, 0, 0};
  Proof* proof = proof_create(&run->model, 1);
  assert_int_equal(proof_next(proof, apart).outcome, PROOF_DISJOINT);
  ProofReport met = proof_next(proof, inside);
  assert_int_equal(met.outcome, PROOF_INTERSECTING);
  compare_near(met.fraction, 1, 0, "at the end of the way");
  assert_int_equal(proof_next(proof, apart).outcome, PROOF_DISJOINT);
  proof_destroy(proof);
  run_free(run);
}

/* ---------------------------------------------------------------- a rod that pivots */

/* A rod of 1 m turns by 2a about its lower end, g above the ground. Straight in its centre and angle, the end dips by
 * (1 - cos a) / 2 in the middle: at a = 0.1 by 2.5 mm, so for g = 1 mm the straight way meets the ground; pivoting does
 * not. */
static void P5_a_rod_that_pivots_is_proved_beside_the_straight_way(void** state) {
  (void)state;
  Run* run = run_model(
      "contact: {barrier_distance: 0.0005}\n"
      "shapes:\n"
      "  rod: {type: points, points: [[0, 0, -0.5], [0.001, 0, 0.5], [-0.001, 0.001, 0.5], [-0.001, -0.001, 0.5]]}\n"
      "  ground: {type: half_space, normal: [0, 0, 1]}\n"
      "links:\n"
      "  - {name: ground, fixed: true, shape: ground}\n"
      "  - {name: rod, mass: 1, shape: rod, position: [0, 0, 1]}\n");
  const double a = 0.1, gap = 1e-3, h = 0.5;
  double from[7] = {-h * sin(a), 0, gap + h * cos(a) - 1, cos(a / 2), 0, -sin(a / 2), 0};
  double to[7] = {h * sin(a), 0, gap + h * cos(a) - 1, cos(a / 2), 0, sin(a / 2), 0};
  assert_true(h * (1 - cos(a)) > gap);
  ProofReport report = prove_two(&run->model, from, to);
  assert_int_equal(report.outcome, PROOF_DISJOINT);
  assert_true(report.detour);
  from[2] += 2e-3; /* 3 mm up the straight way is free */
  to[2] += 2e-3;
  report = prove_two(&run->model, from, to);
  assert_int_equal(report.outcome, PROOF_DISJOINT);
  assert_false(report.detour);
  run_free(run);
}

/* ---------------------------------------------------------------- random paths of a tree */

static const char tree[] =
    "contact: {barrier_distance: 0.001}\n"
    "shapes:\n"
    "  block: {type: box, size: [0.5, 0.1, 0.1]}\n"
    "links:\n"
    "  - {name: post, fixed: true, shapes: [{shape: block, position: [0.7, 0, 0.3]}]}\n"
    "  - {name: root, mass: 1, joint: {type: ball}, shapes: [{shape: block, position: [0.25, 0, 0]}]}\n"
    "  - {name: arm, parent: root, mass: 1, joint: {type: universal, axes: [[0, 0, 1], [0, 1, 0]], position: [0.55, 0, "
    "0]}, shapes: [{shape: block, position: [0.3, 0, 0]}]}\n"
    "  - {name: free, mass: 1, shape: block, position: [0.2, 0.5, 0.4]}\n";

/* Compares the proof of q -> q (+) delta with 400 samples of the path. */
static void proofs_agree_with_dense_sampling(void** state) {
  (void)state;
  Random random = {1207};
  Run* run = run_model("%s", tree);
  const Model* m = &run->model;
  JointPath path = joint_path_create(m);
  double* to = MEMORY_NEW(double, m->coordinate_count);
  int straight = 0, beside = 0, met = 0, ends = 0;
  for (int k = 0; k < 300; k++) {
    double size = pow(10, random_uniform(&random, -1.5, 0));
    memcpy(path.q, m->initial_coordinates, sizeof(double) * (size_t)m->coordinate_count);
    for (int i = 0; i < m->dof_count; i++) path.delta[i] = fmax(-1.4, fmin(1.4, size * random_normal(&random)));
    model_increment(m, path.q, path.delta, 1, to);
    double least = joint_path_least_distance(&path, 400);
    ProofReport report = prove_two(m, path.q, to);
    if (report.outcome == PROOF_DISJOINT && !report.detour) {
      straight++;
      if (!(least > 0)) fail_msg("seed 1207, way %d: proved, but the hulls meet on it", k);
    } else if (report.outcome == PROOF_DISJOINT) {
      beside++;
    } else if (report.fraction < 1) {
      met++;
      if (least > 1e-3) fail_msg("seed 1207, way %d: not proved, but %g m apart", k, least);
    } else {
      ends++;
      if (least > 0) fail_msg("seed 1207, way %d: said to end where hulls meet, %g m apart", k, least);
    }
  }
  print_message("seed 1207: %d straight, %d beside, %d meet on the way, %d at its end\n", straight, beside, met, ends);
  assert_true(straight > 50 && beside + met > 10 && ends > 5);
  memory_free(to);
  joint_path_free(&path);
  run_free(run);
}

/* ---------------------------------------------------------------- recorded moves (P6) */

/* The way through the wall again, but over it: 2 m up, across, down. */
static void P6_moves_are_gone_along_as_they_are(void** state) {
  (void)state;
  Run* run = run_model("%s", wall_and_plate);
  double from[7] = {0, 0, 0, 1, 0, 0, 0}, to[7] = {1, 0, 0, 1, 0, 0, 0};
  double moves[3][6] = {{0, 0, 2}, {1, 0, 0}, {0, 0, -2}};
  Proof* proof = proof_create(&run->model, 1);
  assert_int_equal(proof_next(proof, from).outcome, PROOF_DISJOINT);
  ProofReport over = proof_next_along(proof, moves[0], 3, to);
  assert_int_equal(over.outcome, PROOF_DISJOINT);
  compare_near(over.miss, 0, 1e-15, "where the moves end");
  /* back by less: reported; and through the wall: found in the second of three moves */
  double back[3][6] = {{0, 0, 2}, {-1, 0, 0}, {0, 0, -1.5}}, through[3][6] = {{0, 0.1, 0}, {1, 0, 0}, {0, -0.1, 0}};
  compare_near(proof_next_along(proof, back[0], 3, from).miss, 0.5, 1e-12, "what the moves miss");
  ProofReport met = proof_next_along(proof, through[0], 3, to);
  assert_int_equal(met.outcome, PROOF_INTERSECTING);
  compare_near(met.fraction, (1 + 0.55) / 3, 0.02, "where they meet");
  proof_destroy(proof);
  run_free(run);
}

/* A bar that turns by 5 rad strikes a post at 90 degrees; the two states alone tell of -1.28 rad, which is free. */
static void P6_turns_beyond_half_a_turn_are_those_that_were_recorded(void** state) {
  (void)state;
  Run* run = run_model(
      "contact: {barrier_distance: 0.001}\n"
      "links:\n"
      "  - {name: post, fixed: true, shapes: [{type: box, size: [0.1, 0.1, 0.1], position: [0, 0, 0.4]}]}\n"
      "  - {name: bar, mass: 1, joint: {type: ball}, shapes: [{type: box, size: [0.1, 1, 0.1], position: [0, 0.5, "
      "0]}]}\n");
  double from[4] = {1, 0, 0, 0}, to[4] = {cos(2.5), sin(2.5), 0, 0}, turn[3] = {5, 0, 0};
  ProofReport shorter = prove_two(&run->model, from, to);
  assert_int_equal(shorter.outcome, PROOF_DISJOINT);
  Proof* proof = proof_create(&run->model, 1);
  assert_int_equal(proof_next(proof, from).outcome, PROOF_DISJOINT);
  ProofReport report = proof_next_along(proof, turn, 1, to);
  assert_int_equal(report.outcome, PROOF_INTERSECTING);
  compare_near(report.miss, 0, 1e-12, "where the turn ends");
  /* the bar spans about 0.1 rad to each side, the post 0.15 */
  compare_near(5 * report.fraction, acos(-1) / 2, 0.3, "angle at which they meet");
  proof_destroy(proof);
  run_free(run);
}

/* What a proof knows of a state is what the run listed: pairs, gaps, and forces but for friction. */
static void P7_pairs_of_a_state_are_those_that_the_run_lists(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-6,
                        "simulation: {dt: 0.01, steps: 100, integrator: first_order}\n"
                        "contact: {friction: 0.3, friction_iterations: 0}\n"
                        "shapes:\n"
                        "  box: {type: box, size: [0.2, 0.15, 0.1]}\n"
                        "links:\n"
                        "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                        "  - {name: a, density: 500, shape: box, position: [0, 0, 0.1]}\n"
                        "  - {name: b, density: 500, shape: box, position: [0.05, 0.02, 0.3]}\n"
                        "initial:\n"
                        "  - {link: a, velocities: [1, 0, 0, 0, 2, 0]}\n");
  Proof* proof = proof_create(&run->model, 1);
  int listed = 0;
  double load[3][3] = {{0}};
  for (int step = 0; step < 60; step++) {
    run_steps(run, 1);
    (void)proof_next(proof, sim_state(run->sim)->q);
    int count, near;
    const SimContact* contacts = sim_contacts(run->sim, &count);
    const ProofPair* pairs = proof_pairs(proof, &near);
    for (int k = 0; k < near; k++) {
      int c = 0;
      while (c < count && (contacts[c].a != pairs[k].a || contacts[c].b != pairs[k].b)) c++;
      if (!pairs[k].active) continue;
      assert_true(c < count); /* who touches is listed */
      const SimContact* found = &contacts[c];
      compare_near(found->gap, pairs[k].gap, 1e-12, "gap");
      double before = load[pairs[k].a][pairs[k].b];
      compare_at_most(vec3_norm(vec3_sub(found->force, pairs[k].force)), 0.3 * before + 1e-6 * pairs[k].load,
                      "friction, rests on %g N of the step before", before);
      listed++;
    }
    memset(load, 0, sizeof load);
    for (int k = 0; k < near; k++) load[pairs[k].a][pairs[k].b] = pairs[k].load;
  }
  assert_true(listed > 20);
  proof_destroy(proof);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plate_that_jumps_through_a_wall_is_found),
      cmocka_unit_test(a_plate_that_stops_before_the_wall_is_proved),
      cmocka_unit_test(a_state_in_which_bodies_meet_is_found_and_left_again),
      cmocka_unit_test(P5_a_rod_that_pivots_is_proved_beside_the_straight_way),
      cmocka_unit_test(proofs_agree_with_dense_sampling),
      cmocka_unit_test(P6_moves_are_gone_along_as_they_are),
      cmocka_unit_test(P6_turns_beyond_half_a_turn_are_those_that_were_recorded),
      cmocka_unit_test(P7_pairs_of_a_state_are_those_that_the_run_lists),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
