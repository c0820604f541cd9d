/* Tests that a run resumed from a snapshot is bit-identical to an uninterrupted one. Covers every integrator, friction,
 * impacts, substeps, halved steps, driven and prescribed joints, and any number of threads. */
#include <string.h>

#include "simulate/simulate.h"
#include "support/busy.h"
#include "support/runs.h"

enum { KEPT_AT = 45, STEPS = 90 };

/* ---------------------------------------------------------------- content of a state */

typedef struct {
  double time;
  double q[64], rate[64];
  Pose pose[16];
  Vec3 momentum[16], force[16];
  int record_count;
  ContactRecord records[128];
} RenderInputs;

static void look(Sim* sim, const Model* m, RenderInputs* out) {
  const SimState* state = sim_state(sim);
  memset(out, 0, sizeof(*out));
  out->time = state->time;
  memcpy(out->q, state->q, sizeof(double) * (size_t)m->coordinate_count);
  memcpy(out->rate, state->rate, sizeof(double) * (size_t)m->dof_count);
  memcpy(out->pose, state->pose, sizeof(Pose) * (size_t)m->link_count);
  memcpy(out->momentum, state->momentum, sizeof(Vec3) * (size_t)m->link_count);
  sim_link_forces(sim, out->force);
  const ContactRecord* records = sim_contact_records(sim, &out->record_count);
  assert_true(out->record_count <= 128);
  memcpy(out->records, records, sizeof(ContactRecord) * (size_t)out->record_count);
}

static void compare_records(const ContactRecord* a, const ContactRecord* b, const char* what, int step) {
  bool same = a->hull_a == b->hull_a && a->hull_b == b->hull_b && a->active == b->active &&
              a->has_friction == b->has_friction && memcmp(a->kept, b->kept, sizeof(a->kept)) == 0;
  if (!same) fail_msg("%s, step %d: hulls %d and %d touch otherwise", what, step, a->hull_a, a->hull_b);
}

static void compare_shown(const RenderInputs* a, const RenderInputs* b, const char* what, int step) {
  if (memcmp(&a->time, &b->time, sizeof(double)) != 0) fail_msg("%s, step %d: time", what, step);
  if (memcmp(a->q, b->q, sizeof(a->q)) != 0) fail_msg("%s, step %d: coordinates", what, step);
  if (memcmp(a->rate, b->rate, sizeof(a->rate)) != 0) fail_msg("%s, step %d: rates", what, step);
  if (memcmp(a->pose, b->pose, sizeof(a->pose)) != 0) fail_msg("%s, step %d: poses", what, step);
  if (memcmp(a->momentum, b->momentum, sizeof(a->momentum)) != 0) fail_msg("%s, step %d: momenta", what, step);
  if (memcmp(a->force, b->force, sizeof(a->force)) != 0) fail_msg("%s, step %d: forces", what, step);
  assert_int_equal(a->record_count, b->record_count);
  for (int k = 0; k < a->record_count; k++) compare_records(&a->records[k], &b->records[k], what, step);
}

static void compare_reports(const StepReport* a, const StepReport* b, const char* what, int step) {
  assert_int_equal(a->outcome, b->outcome);
  if (a->iterations != b->iterations || a->trials != b->trials || a->substeps != b->substeps ||
      a->candidate_pairs != b->candidate_pairs || a->certified_intervals != b->certified_intervals ||
      a->factor_retries != b->factor_retries)
    fail_msg(
        "%s, step %d: %d iterations, %d trials, %d substeps, %d candidates, %d intervals instead of %d, %d, %d, "
        "%d, %d",
        what, step, b->iterations, b->trials, b->substeps, b->candidate_pairs, b->certified_intervals, a->iterations,
        a->trials, a->substeps, a->candidate_pairs, a->certified_intervals);
  assert_memory_equal(&a->terms, &b->terms, sizeof(a->terms));
  assert_memory_equal(&a->residual, &b->residual, sizeof(double));
}

/* ---------------------------------------------------------------- runs */

/* Substeps that steps are tried in first, 0: as the run finds good. */
typedef int (*Substeps)(int step);

static int as_found(int step) { return (void)step, 0; }
static int mixed(int step) { return (const int[]){1, 2, 0, 3, 1, 0, 4}[step % 7]; }

static StepReport take(Sim* sim, Substeps substeps, int step) {
  return substeps(step) > 0 ? sim_step_with_substeps(sim, substeps(step)) : sim_step(sim);
}

typedef struct {
  StepReport report[STEPS + 1];
  RenderInputs shown[STEPS + 1];
} Course;

static void check_going_on(Sim* sim, const Model* m, const SimSnapshot* kept, const Course* course, Substeps substeps,
                           const char* what) {
  static RenderInputs now;
  sim_restore(sim, kept);
  look(sim, m, &now);
  compare_shown(&course->shown[KEPT_AT], &now, what, KEPT_AT);
  assert_int_equal(sim_state(sim)->step, KEPT_AT);
  for (int step = KEPT_AT + 1; step <= STEPS; step++) {
    StepReport report = take(sim, substeps, step);
    compare_reports(&course->report[step], &report, what, step);
    look(sim, m, &now);
    compare_shown(&course->shown[step], &now, what, step);
  }
}

/* In the run itself, and in one that has never moved. */
static void check_run(Run* run, Substeps substeps, const char* what) {
  Course* course = MEMORY_NEW(Course, 1);
  SimSnapshot* kept = NULL;
  int touching = 0, halved = 0, between = 0;
  for (int step = 1; step <= STEPS; step++) {
    course->report[step] = take(run->sim, substeps, step);
    assert_false(step_outcome_failed(course->report[step].outcome));
    halved += course->report[step].halved;
    between += course->report[step].substeps > 1;
    if (step == KEPT_AT) kept = sim_save(run->sim);
    look(run->sim, &run->model, &course->shown[step]);
    touching += course->shown[step].record_count;
  }
  print_message("%s: %d records, %d steps in parts, %d halved, %zu bytes kept\n", what, touching, between, halved,
                sim_snapshot_size(kept));
  assert_true(touching > STEPS);
  check_going_on(run->sim, &run->model, kept, course, substeps, what);
  for (int threads = 1; threads <= 3; threads += 2) {
    Sim* fresh;
    SimOptions options = {.threads = threads, .path = threads > 1};
    assert_int_equal(sim_create(&fresh, &run->model, &options, &run->diagnostics), STATUS_OK);
    check_going_on(fresh, &run->model, kept, course, substeps, what);
    sim_destroy(fresh);
  }
  sim_snapshot_destroy(kept);
  memory_free(course);
}

static void goes_on_with_every_integrator(void** state) {
  (void)state;
  static const char* const integrator[] = {"first_order", "second_order", "momentum"};
  for (int k = 0; k < 3; k++) {
    Run* run = run_create(1, 0, BUSY_SCENE, 0.005, integrator[k], 1, 300);
    check_run(run, as_found, integrator[k]);
    run_free(run);
  }
}

static void goes_on_in_substeps(void** state) {
  (void)state;
  static const char* const integrator[] = {"first_order", "second_order", "momentum"};
  for (int k = 0; k < 3; k++) {
    Run* run = run_create(1, 0, BUSY_SCENE, 0.01, integrator[k], k == 1 ? 3 : 1, 300);
    check_run(run, k == 1 ? as_found : mixed, integrator[k]);
    run_free(run);
  }
}

/* So few iterations are allowed that steps fail and are halved: what the steps before needed counts. */
static void goes_on_where_steps_are_halved(void** state) {
  (void)state;
  Run* run = run_create(1, 0, BUSY_SCENE, 0.01, "momentum", 1, 15);
  check_run(run, as_found, "few iterations");
  run_free(run);
}

/* Before any step, and without contact. */
static void goes_on_from_the_start_and_without_contact(void** state) {
  (void)state;
  Run* run = run_create(1, 0,
                        "simulation: {dt: 0.01, steps: 10, integrator: second_order}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: arm, mass: 1, joint: {type: ball, damping: 0.1}, shapes: [{type: box, size: [0.1, "
                        "0.1, 0.4], position: [0, 0, -0.2]}]}\n"
                        "initial: [{link: arm, velocities: [1, 2, 3]}]\n");
  SimSnapshot* kept = sim_save(run->sim);
  double end[4];
  for (int k = 0; k < 10; k++) sim_step(run->sim);
  memcpy(end, sim_state(run->sim)->q, sizeof(end));
  sim_restore(run->sim, kept);
  assert_int_equal(sim_state(run->sim)->step, 0);
  for (int k = 0; k < 10; k++) sim_step(run->sim);
  assert_memory_equal(end, sim_state(run->sim)->q, sizeof(end));
  sim_snapshot_destroy(kept);
  sim_snapshot_destroy(NULL);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(goes_on_with_every_integrator),
      cmocka_unit_test(goes_on_in_substeps),
      cmocka_unit_test(goes_on_where_steps_are_halved),
      cmocka_unit_test(goes_on_from_the_start_and_without_contact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
