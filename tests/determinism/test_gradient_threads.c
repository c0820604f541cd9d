/* The gradient has the same bits for any number of threads and at every repeat: all of ModelGradient by memcmp, for a
 * scene with the dense solver and one with the sparse solver, seeds in everything that a loss can name. */
#include <string.h>

#include "differentiate/differentiate.h"
#include "support/compare.h"
#include "support/runs.h"

enum { THREADS = 5, STEPS = 15 };
static const int thread_counts[THREADS] = {1, 2, 3, 8, 1};

static const char PILE[] =
    "simulation: {dt: 0.01, steps: 200, integrator: first_order}\n"
    "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-8, friction: 0.4, smoothing: 1.0e-5}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: \"box{n}\", mass: 0.3, shape: {type: box, size: [0.2, 0.16, 0.12]}, position: [0, 0, 0.062], "
    "repeat: {count: [%d, %d, %d], position: [0.203, 0.163, 0.123]}}\n"
    "  - {name: arm, density: 300, mass_model: uniform, joint: {type: ball, position: [-0.3, 0, 0.6]}, shapes: [{type: "
    "sphere, radius: 0.1, position: [0, 0, -0.2]}]}\n"
    "controllers:\n"
    "  - {link: arm, type: pd, position_gain: 5, velocity_gain: 0.01, target: {type: sines, terms: [[{amplitude: 0.3, "
    "frequency: 1}], [{amplitude: 0.5, frequency: 2}], [{amplitude: 0.1, frequency: 1}]]}}\n"
    "initial:\n"
    "  - {link: box0, velocities: [0.4, 0.3, 0, 0, 0, 1]}\n";

typedef struct {
  double* numbers;
  size_t count;
} Flat;

static void append(Flat* flat, const void* numbers, size_t count) {
  if (count > 0) memcpy(flat->numbers + flat->count, numbers, sizeof(double) * count);
  flat->count += count;
}

static Flat flatten(const Model* m, const ModelGradient* g) {
  size_t links = (size_t)m->link_count, dofs = (size_t)m->dof_count, vertices = (size_t)m->vertex_count;
  Flat flat = {
      MEMORY_NEW(double, 3 * vertices + 20 * links + (size_t)m->parameter_count + 2 * dofs + CONTACT_PARAMETER_COUNT),
      0};
  append(&flat, g->vertices, 3 * vertices);
  append(&flat, g->attachments, 3 * links);
  append(&flat, g->mass, links);
  append(&flat, g->control, (size_t)m->parameter_count);
  append(&flat, g->contact, CONTACT_PARAMETER_COUNT);
  append(&flat, g->coordinates, dofs);
  append(&flat, g->velocities, dofs);
  append(&flat, g->moment, 16 * links);
  return flat;
}

/* Run, seeds and gradient with so many threads. */
static Flat gradient_of(const Model* m, int threads, int* most_pairs) {
  Recording r;
  RecordOptions options = {.threads = threads, .tolerance = 1e-9};
  RecordReport report;
  Diagnostics diagnostics = {0};
  recording_create(&r, m, STEPS);
  assert_int_equal(recording_run(&r, m, &options, &report, &diagnostics), STATUS_OK);
  for (int k = 0; k <= STEPS; k++) {
    int count = r.states[k].contact_count;
    if (count > *most_pairs) *most_pairs = count;
  }
  LossSeeds seeds = loss_seeds_create(m, STEPS);
  Random random = {211};
  double* seed = &seeds.pose[0][0][0]; /* all of them are one block */
  for (size_t k = 0; k < seeds.length; k++) seed[k] = random_normal(&random);
  RunAdjoint* adjoint = run_adjoint_create(m, threads);
  ModelGradient gradient;
  model_gradient_create(&gradient, m);
  assert_true(run_adjoint(adjoint, &r, &seeds, 1.0, &gradient).sound);
  Flat flat = flatten(m, &gradient);
  model_gradient_destroy(&gradient);
  run_adjoint_destroy(adjoint);
  loss_seeds_destroy(&seeds);
  recording_destroy(&r);
  diagnostics_free(&diagnostics);
  return flat;
}

static void check_same(Run* run, int least_pairs, const char* what) {
  Flat first = {NULL, 0};
  for (int k = 0; k < THREADS; k++) {
    int pairs = 0;
    Flat flat = gradient_of(&run->model, thread_counts[k], &pairs);
    if (pairs < least_pairs) fail_msg("%s: only %d pairs: nothing ran in parallel", what, pairs);
    if (k == 0) {
      first = flat;
      continue;
    }
    compare_bytes(flat.numbers, first.numbers, sizeof(double) * flat.count, "%s: %d threads against one", what,
                  thread_counts[k]);
    memory_free(flat.numbers);
  }
  memory_free(first.numbers);
  run_free(run);
}

static void threads_change_no_bit_of_a_gradient(void** state) {
  (void)state;
  check_same(run_model(PILE, 3, 2, 2), 18, "small pile");
}

static void threads_change_no_bit_of_a_gradient_with_the_sparse_solver(void** state) {
  (void)state;
  check_same(run_model(PILE, 6, 6, 1), 60, "large pile");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_change_no_bit_of_a_gradient),
      cmocka_unit_test(threads_change_no_bit_of_a_gradient_with_the_sparse_solver),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
