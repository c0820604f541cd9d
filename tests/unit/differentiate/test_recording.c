/* Tests that a recording equals the run bit for bit and row by row. Also tests the end of a recording at a failed step.
 */
#include "differentiate/differentiate.h"

#include <string.h>

#include "support/runs.h"

static const char FALLS[] =
    "simulation: {dt: 0.01, steps: 40%s, integrator: first_order}\n"
    "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-8, friction: 0.4, smoothing: 1.0e-4}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.11]}\n"
    "  - {name: arm, parent: box, mass: 0.2, joint: {type: ball, position: [0, 0, 0.2]}, shape: {type: box, size: "
    "[0.1, "
    "0.1, 0.1]}}\n"
    "initial: [{link: box, velocities: [0.5, 0, 0, 0, 0, 1]}]\n";

static void check_row(const Recording* r, Run* run, int row) {
  const Model* m = &run->model;
  const SimState* s = sim_state(run->sim);
  size_t at = (size_t)row, nq = (size_t)m->coordinate_count, nv = (size_t)m->dof_count, links = (size_t)m->link_count;
  compare_bytes(r->q + at * nq, s->q, sizeof(double) * nq, "row %d: coordinates", row);
  compare_bytes(r->rate + at * nv, s->rate, sizeof(double) * nv, "row %d: rates", row);
  compare_bytes(recording_pose(r, row), s->pose, sizeof(Pose) * links, "row %d: poses", row);
  Vec3* force = MEMORY_NEW(Vec3, links);
  if (row > 0) sim_link_forces(run->sim, force);
  compare_bytes(r->force + at * links, force, sizeof(Vec3) * links, "row %d: forces", row);
  memory_free(force);
  int count;
  const ContactRecord* records = sim_contact_records(run->sim, &count);
  const RecordedState* recorded = &r->states[r->row_state[row]];
  assert_int_equal(recorded->contact_count, count);
  compare_bytes(r->contacts + recorded->contact_first_row, records, sizeof(ContactRecord) * (size_t)count,
                "row %d: contacts", row);
}

static void check_recording(const Recording* r, const char* scene) {
  Run* run = run_create(1, 1e-9, "%s", scene);
  check_row(r, run, 0);
  for (int row = 1; row <= r->steps; row++) {
    run_steps(run, 1);
    check_row(r, run, row);
  }
  run_free(run);
}

static void recording_is_the_run_again_and_again(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, FALLS, "");
  Run* run = run_model("%s", text.data);
  Recording r;
  RecordOptions options = {.threads = 1, .tolerance = 1e-9};
  RecordReport report;
  recording_create(&r, &run->model, 40);
  for (int round = 0; round < 2; round++) {
    assert_int_equal(recording_run(&r, &run->model, &options, &report, &run->diagnostics), STATUS_OK);
    assert_int_equal(r.steps, 40);
    assert_false(report.failed);
    assert_true(report.residual > 0 && report.residual < 1e-8);
    assert_in_range(report.largest_step, 1, 40);
    assert_true(report.iterations >= 40);
    check_recording(&r, text.data);
  }
  text_free(&text);
  recording_destroy(&r);
  recording_destroy(&r); /* a zeroed one is accepted */
  run_free(run);
}

/* Fewer rows than the run has steps: its beginning. */
static void recording_stops_where_it_is_full(void** state) {
  (void)state;
  Run* run = run_model(FALLS, "");
  Recording r;
  RecordOptions options = {.threads = 1};
  RecordReport report;
  recording_create(&r, &run->model, 7);
  assert_int_equal(recording_run(&r, &run->model, &options, &report, &run->diagnostics), STATUS_OK);
  assert_int_equal(r.steps, 7);
  recording_destroy(&r);
  run_free(run);
}

static bool at_once(void) { return true; }

/* Inside its first step, which leaves nothing. */
static void recording_can_be_interrupted(void** state) {
  (void)state;
  Run* run = run_model(FALLS, "");
  Recording r;
  RecordOptions options = {.threads = 1, .interrupted = at_once};
  RecordReport report;
  recording_create(&r, &run->model, 40);
  assert_int_equal(recording_run(&r, &run->model, &options, &report, &run->diagnostics), STATUS_INTERRUPTED);
  assert_int_equal(r.steps, 0);
  recording_destroy(&r);
  run_free(run);
}

/* One iteration is not enough after the box touches the ground. */
static void recording_stops_at_a_step_that_fails(void** state) {
  (void)state;
  Run* run = run_model(FALLS, ", max_iterations: 1");
  Recording r;
  RecordOptions options = {.threads = 1, .tolerance = 1e-9};
  RecordReport report;
  recording_create(&r, &run->model, 40);
  assert_int_equal(recording_run(&r, &run->model, &options, &report, &run->diagnostics), STATUS_SOLVER);
  assert_true(report.failed);
  assert_int_equal(report.failed_step, r.steps + 1);
  assert_int_equal(report.last.outcome, STEP_NO_SOLUTION);
  recording_destroy(&r);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recording_is_the_run_again_and_again),
      cmocka_unit_test(recording_stops_where_it_is_full),
      cmocka_unit_test(recording_can_be_interrupted),
      cmocka_unit_test(recording_stops_at_a_step_that_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
