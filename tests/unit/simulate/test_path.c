/* Tests recorded moves (P6). They lead from state to state without intersection. If no moves are recorded, the straight
 * path is free. References are dense sampling and a proof from the states only. */
#include <string.h>

#include "simulate/simulate.h"
#include "support/paths.h"
#include "support/runs.h"

/* Boxes that tumble onto each other. */
static const char tumble[] =
    "simulation: {dt: 0.01, steps: 60, record_every: %d, integrator: first_order}\n"
    "contact: {friction: 0.4}\n"
    "shapes:\n"
    "  box: {type: box, size: [0.2, 0.15, 0.1]}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: a, density: 500, mass_model: vertices, shape: box, position: [0, 0, 0.15]}\n"
    "  - {name: b, density: 500, mass_model: vertices, shape: box, position: [0.05, 0.02, 0.4]}\n"
    "  - {name: c, density: 500, mass_model: vertices, shape: box, position: [-0.04, -0.03, 0.65]}\n"
    "initial:\n"
    "  - {link: a, velocities: [0, 0, -2, 6, -4, 8]}\n"
    "  - {link: b, velocities: [0, 0, -5, -8, 10, 2]}\n"
    "  - {link: c, velocities: [0.1, 0, -6, 12, 2, -6]}\n";

/* Two thin plates that cross fast, turning. */
static const char plates[] =
    "simulation: {dt: 0.01, steps: 12, gravity: [0, 0, 0], record_every: %d, max_iterations: 1000, integrator: "
    "first_order}\n"
    "contact: {friction: 0.2}\n"
    "shapes:\n"
    "  plate: {type: box, size: [0.01, 0.5, 0.5]}\n"
    "links:\n"
    "  - {name: left, density: 1000, mass_model: vertices, shape: plate, position: [-0.5, 0, 0]}\n"
    "  - {name: right, density: 1000, mass_model: vertices, shape: plate, position: [0.5, 0.1, 0.05]}\n"
    "initial:\n"
    "  - {link: left, velocities: [30, 0.3, 0, 2, -5, 4]}\n"
    "  - {link: right, velocities: [-30, 0, 0.2, -7, 3, 1]}\n";

static Run* start(const char* scene, int every, int threads) {
  Run* run = run_model(scene, every); /* NOLINT(clang-diagnostic-format-nonliteral) */
  const SimOptions options = {.threads = threads, .path = true};
  assert_int_equal(sim_create(&run->sim, &run->model, &options, &run->diagnostics), STATUS_OK);
  return run;
}

/* Largest difference of coordinates; of q and -q, as of the same rotation, the nearer. */
static double coordinate_difference(const Model* m, const double* a, const double* b) {
  double worst = 0;
  for (int i = 0; i < m->link_count; i++) {
    int first = m->links[i].coordinate_first, slides = m->links[i].joint.slide_count;
    if (m->links[i].dof_count == 0) continue;
    double cosine = 0;
    for (int k = 0; k < slides; k++) worst = fmax(worst, fabs(a[first + k] - b[first + k]));
    for (int k = slides; k < m->links[i].coordinate_count; k++) cosine += a[first + k] * b[first + k];
    worst = fmax(worst, sqrt(2 * fmax(0, 1 - fabs(cosine))));
  }
  return worst;
}

/* Samples the path of one move from path->q and advances to its end. */
static void walk(JointPath* path, const double* delta, const char* what, int step) {
  memcpy(path->delta, delta, sizeof(double) * (size_t)path->model->dof_count);
  if (!(joint_path_least_distance(path, 60) > 0)) fail_msg("%s: hulls meet on the way of step %d", what, step);
  model_increment(path->model, path->q, path->delta, 1.0, path->q);
}

static void check_run(const char* scene, const char* what, int steps, int least_moved) {
  Run* run = start(scene, 1, 1);
  const Model* m = &run->model;
  JointPath path = joint_path_create(m);
  Proof* proof = proof_create(m, 1);
  double* way = MEMORY_NEW(double, m->dof_count);
  int moved = 0, straight = 0;
  assert_int_equal(proof_next(proof, sim_state(run->sim)->q).outcome, PROOF_DISJOINT);
  for (int step = 1; step <= steps; step++) {
    StepReport taken = run_steps(run, 1);
    const double* q = sim_state(run->sim)->q;
    SimPath moves = sim_path(run->sim);
    ProofReport report;
    if (moves.count > 0) {
      report = proof_next_along(proof, moves.delta, moves.count, q);
      compare_at_most(report.miss, 1e-12, "%s: where the moves of step %d end", what, step);
      for (int k = 0; k < moves.count; k++) {
        walk(&path, moves.delta + (size_t)k * (size_t)m->dof_count, what, step);
        /* of the step, or of the part of it that was taken */
        double parts = (moves.time[k] - (step - 1) * 0.01) / (0.01 / taken.substeps);
        compare_near(parts, round(parts), 1e-9, "%s: time of a move in parts of step %d", what, step);
        assert_true(parts > 0.5 && parts < taken.substeps + 0.5);
        if (k == moves.count - 1) compare_near(moves.time[k], step * 0.01, 1e-15, "time of the last move");
      }
      moved++;
    } else {
      report = proof_next_straight(proof, q);
      proof_straight_increments(m, path.q, q, way);
      walk(&path, way, what, step);
      straight++;
    }
    if (report.outcome != PROOF_DISJOINT) fail_msg("%s: step %d is not proved (%d moves)", what, step, moves.count);
    compare_at_most(coordinate_difference(m, path.q, q), 1e-7, "%s: end of the way of step %d", what, step);
    memcpy(path.q, q, sizeof(double) * (size_t)m->coordinate_count);
  }
  print_message("%s: %d steps by moves, %d straight\n", what, moved, straight);
  assert_true(moved >= least_moved && straight > 0);
  memory_free(way);
  proof_destroy(proof);
  joint_path_free(&path);
  run_free(run);
}

static void P6_what_a_run_proved_is_proved_from_its_states_and_moves(void** state) {
  (void)state;
  check_run(tumble, "boxes", 60, 1);
  check_run(plates, "plates", 12, 1);
}

/* Rows several steps apart have the moves of all steps between them, or none if the straight path is free. */
static void P6_moves_of_thinned_rows_cover_all_steps(void** state) {
  (void)state;
  const int every = 7;
  Run* run = start(tumble, every, 1);
  const Model* m = &run->model;
  Proof* proof = proof_create(m, 1);
  int moved = 0;
  assert_int_equal(proof_next(proof, sim_state(run->sim)->q).outcome, PROOF_DISJOINT);
  for (int row = 1; row <= 8; row++) {
    run_steps(run, every);
    SimPath moves = sim_path(run->sim);
    const double* q = sim_state(run->sim)->q;
    ProofReport report =
        moves.count > 0 ? proof_next_along(proof, moves.delta, moves.count, q) : proof_next_straight(proof, q);
    assert_int_equal(report.outcome, PROOF_DISJOINT);
    compare_at_most(report.miss, 1e-12, "where the moves to row %d end", row);
    moved += moves.count > 0;
  }
  assert_true(moved > 0);
  proof_destroy(proof);
  run_free(run);
}

/* A step of three substeps has moves with the substeps' times, or none if the straight path of the whole step is free.
 */
static void P6_moves_of_a_step_in_parts_have_their_times(void** state) {
  (void)state;
  Run* run = start(plates, 1, 1);
  run->model.simulation.substeps = 3;
  const Model* m = &run->model;
  Proof* proof = proof_create(m, 1);
  int moved = 0;
  assert_int_equal(proof_next(proof, sim_state(run->sim)->q).outcome, PROOF_DISJOINT);
  for (int step = 1; step <= 12; step++) {
    StepReport report = sim_step(run->sim);
    assert_false(step_outcome_failed(report.outcome));
    SimPath moves = sim_path(run->sim);
    const double* q = sim_state(run->sim)->q;
    ProofReport proved =
        moves.count > 0 ? proof_next_along(proof, moves.delta, moves.count, q) : proof_next_straight(proof, q);
    assert_int_equal(proved.outcome, PROOF_DISJOINT);
    compare_at_most(proved.miss, 1e-12, "where the moves of step %d end", step);
    double before = (step - 1) * 0.01;
    for (int k = 0; k < moves.count; before = moves.time[k++]) {
      double parts = (moves.time[k] - (step - 1) * 0.01) / (0.01 / report.substeps);
      assert_true(moves.time[k] >= before);
      compare_near(parts, round(parts), 1e-9, "time of a move in parts of step %d", step);
    }
    moved += moves.count > 0;
  }
  print_message("plates: %d steps by moves\n", moved);
  assert_true(moved > 0);
  proof_destroy(proof);
  run_free(run);
}

static void moves_are_the_same_for_any_number_of_threads(void** state) {
  (void)state;
  Run *one = start(tumble, 1, 1), *three = start(tumble, 1, 3);
  for (int step = 0; step < 60; step++) {
    run_steps(one, 1);
    run_steps(three, 1);
    SimPath a = sim_path(one->sim), b = sim_path(three->sim);
    assert_int_equal(a.count, b.count);
    if (a.count > 0)
      compare_bytes(a.delta, b.delta, sizeof(double) * (size_t)a.count * (size_t)one->model.dof_count, "moves");
  }
  run_free(one);
  run_free(three);
}

/* The states of a run do not depend on whether its moves are kept. */
static void keeping_moves_changes_nothing(void** state) {
  (void)state;
  Run *kept = start(tumble, 1, 1), *bare = run_create(1, 0, tumble, 1); /* NOLINT(clang-diagnostic-format-nonliteral) */
  for (int step = 0; step < 60; step++) {
    run_steps(kept, 1);
    run_steps(bare, 1);
    (void)sim_path(kept->sim);
    compare_bytes(sim_state(kept->sim)->q, sim_state(bare->sim)->q,
                  sizeof(double) * (size_t)kept->model.coordinate_count, "state");
  }
  assert_int_equal(sim_path(bare->sim).count, 0);
  run_free(kept);
  run_free(bare);
}

static void moves_of_a_failed_step_are_forgotten(void** state) {
  (void)state;
  Run* run = start(tumble, 1, 1);
  run->model.simulation.max_iterations = 1;
  StepReport report = {0};
  for (int step = 0; step < 60 && !step_outcome_failed(report.outcome); step++) {
    (void)sim_path(run->sim);
    report = sim_step(run->sim);
  }
  assert_true(step_outcome_failed(report.outcome) && report.iterations > 0);
  assert_int_equal(sim_path(run->sim).count, 0);
  run_free(run);
}

static void keeping_moves_does_not_allocate_after_warm_up(void** state) {
  (void)state;
  Run* run = start(tumble, 1, 1);
  int with = 0;
  for (int step = 0; step < 120; step++) {
    uint64_t before = memory_allocation_count();
    run_steps(run, 1);
    (void)sim_path(run->sim);
    with += step >= 60 && memory_allocation_count() != before;
  }
  assert_int_equal(with, 0);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(P6_what_a_run_proved_is_proved_from_its_states_and_moves),
      cmocka_unit_test(P6_moves_of_thinned_rows_cover_all_steps),
      cmocka_unit_test(P6_moves_of_a_step_in_parts_have_their_times),
      cmocka_unit_test(moves_are_the_same_for_any_number_of_threads),
      cmocka_unit_test(keeping_moves_changes_nothing),
      cmocka_unit_test(moves_of_a_failed_step_are_forgotten),
      cmocka_unit_test(keeping_moves_does_not_allocate_after_warm_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
