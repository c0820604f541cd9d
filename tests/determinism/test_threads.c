/* One program gives the same bits for any number of threads and at every repeat: every state of every step, by memcmp.
 * Piles whose islands are solved by themselves, with the dense solver, and one whose only island is large enough for
 * the sparse one; chains, both integrators. */
#include <string.h>

#include "simulate/sim.h"
#include "support/runs.h"

enum { THREADS = 5 };
static const int thread_counts[THREADS] = {1, 2, 3, 8, 1};

static const char pile[] =
    "simulation: {dt: 0.01, steps: 200, integrator: %s}\n"
    "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-8, friction: 0.4, smoothing: 1.0e-5}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: \"box{n}\", mass: 0.3, shape: {type: box, size: [0.2, 0.16, 0.12]}, position: [0, 0, 0.075], "
    "rotation_vector: [0.02, 0.03, 0.3], "
    "repeat: {count: [%d, %d, %d], position: [%g, %g, 0.15]}}\n"
    "  - {name: \"ball{n}\", mass: 0.2, shape: {type: sphere, radius: 0.07}, position: [0.05, 0.03, %g], repeat: "
    "{count: [%d, %d, 1], position: [0.24, 0.22, 0.1]}}\n"
    "initial:\n"
    "  - {link: ball0, velocities: [0.4, -0.3, -2, 3, 1, -2]}\n";

static const char chains[] =
    "simulation: {dt: 0.01, steps: 200, gravity: [0, 0, -3], integrator: first_order}\n"
    "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-8, friction: 0.3, smoothing: 1.0e-5}\n"
    "shapes:\n"
    "  bone: {type: rounded_box, radius: 0.04, size: [0.1, 0, 0]}\n"
    "links:\n"
    "  - {name: \"a{i}\", parent: \"a{i-1}\", mass: 0.2, joint: {type: ball, position: [0.2, 0, 0], damping: 0.001}, "
    "shapes: [{shape: bone, position: [0.1, 0, 0]}], repeat: {count: 34, first: {parent: null, joint: {type: ball}}}}\n"
    "  - {name: \"b{i}\", parent: \"b{i-1}\", mass: 0.2, joint: {type: universal, axes: [[0, 1, 0], [0, 0, 1]], "
    "position: [0.2, 0, 0], damping: 0.001}, "
    "shapes: [{shape: bone, position: [0.1, 0, 0]}], repeat: {count: 34, first: {parent: null, joint: {type: "
    "universal, "
    "axes: [[0, 1, 0], [0, 0, 1]], position: [0, 0.12, 0.05]}}}}\n"
    "controllers:\n"
    "  - {link: b0, type: pd, position_gain: 20, target: {type: sines, terms: [[{amplitude: 0.3, frequency: 1}], "
    "[{amplitude: -0.8, frequency: 1}]]}}\n";

/* Everything a run shows, appended step by step. */
typedef struct {
  double* data;
  size_t count, capacity;
} Record;

static void record_add(Record* r, const void* data, size_t bytes) {
  size_t n = (bytes + sizeof(double) - 1) / sizeof(double);
  if (n == 0) return;
  if (r->count + n > r->capacity) {
    size_t capacity = 2 * (r->count + n);
    r->data = memory_resize(r->data, r->capacity * sizeof(double), capacity * sizeof(double));
    r->capacity = capacity;
  }
  memset(r->data + r->count, 0, n * sizeof(double));
  memcpy(r->data + r->count, data, bytes);
  r->count += n;
}

static void record_state(Record* r, Run* run, const StepReport* report) {
  const SimState* s = sim_state(run->sim);
  const Model* m = &run->model;
  record_add(r, s->q, sizeof(double) * (size_t)m->coordinate_count);
  record_add(r, s->rate, sizeof(double) * (size_t)m->dof_count);
  record_add(r, s->pose, sizeof(Pose) * (size_t)m->link_count);
  record_add(r, s->center, sizeof(Vec3) * (size_t)m->link_count);
  const double numbers[] = {report->outcome,         report->iterations,         report->trials,
                            report->residual,        report->residual_dof,       report->terms.contact,
                            report->terms.friction,  report->terms.inertia,      report->active_pairs,
                            report->candidate_pairs, report->certified_intervals};
  record_add(r, numbers, sizeof numbers);
  int count;
  const SimContact* contacts = sim_contacts(run->sim, &count);
  for (int k = 0; k < count; k++) {
    const double contact[] = {contacts[k].a,       contacts[k].b,       contacts[k].gap,
                              contacts[k].force.x, contacts[k].force.y, contacts[k].force.z};
    record_add(r, contact, sizeof contact);
  }
  SimMeasure measure = sim_measure(run->sim);
  const double measured[] = {measure.kinetic, measure.potential, measure.smallest_gap};
  record_add(r, measured, sizeof measured);
}

static Record record_run(Run* run, int steps, int* most_pairs, int* most_active) {
  Record r = {NULL, 0, 0};
  for (int k = 0; k < steps; k++) {
    StepReport report = run_steps(run, 1);
    if (report.candidate_pairs > *most_pairs) *most_pairs = report.candidate_pairs;
    if (report.active_pairs > *most_active) *most_active = report.active_pairs;
    record_state(&r, run, &report);
  }
  return r;
}

static void check_same(Run* (*create)(int threads), int steps, bool sparse, const char* what) {
  Record first = {NULL, 0, 0};
  for (int k = 0; k < THREADS; k++) {
    Run* run = create(thread_counts[k]);
    int pairs = 0, active = 0;
    Record r = record_run(run, steps, &pairs, &active);
    if (pairs < 24 || active < 2)
      fail_msg("%s: only %d pairs, %d of them touching: nothing ran in parallel", what, pairs, active);
    if (block_solver_is_sparse(run->sim->solver) != sparse)
      fail_msg("%s: the solver is %s", what, sparse ? "dense" : "sparse");
    if (k == 0)
      first = r;
    else {
      assert_int_equal(r.count, first.count);
      compare_bytes(r.data, first.data, r.count * sizeof(double), "%s: %d threads against one", what, thread_counts[k]);
      memory_free(r.data);
    }
    run_free(run);
  }
  memory_free(first.data);
}

static Run* create_small(int threads) {
  return run_create(threads, 0, pile, "first_order", 2, 2, 3, 0.245, 0.225, 0.62, 2, 1);
}
static Run* create_large(int threads) {
  return run_create(threads, 0, pile, "first_order", 7, 6, 2, 0.2102, 0.1683, 0.6, 2, 2);
}
static Run* create_second_order(int threads) {
  return run_create(threads, 0, pile, "second_order", 2, 2, 3, 0.245, 0.225, 0.62, 2, 1);
}
static Run* create_chains(int threads) { return run_create(threads, 0, "%s", chains); }

static void threads_change_no_bit_of_a_small_pile(void** state) {
  (void)state;
  check_same(create_small, 40, false, "small pile");
}

static void threads_change_no_bit_of_a_large_pile(void** state) {
  (void)state;
  check_same(create_large, 10, true, "large pile");
}

static void threads_change_no_bit_at_second_order(void** state) {
  (void)state;
  check_same(create_second_order, 25, false, "small pile, second order");
}

static void threads_change_no_bit_of_chains(void** state) {
  (void)state;
  check_same(create_chains, 40, false, "chains");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_change_no_bit_of_a_small_pile),
      cmocka_unit_test(threads_change_no_bit_of_a_large_pile),
      cmocka_unit_test(threads_change_no_bit_at_second_order),
      cmocka_unit_test(threads_change_no_bit_of_chains),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
