/* Tests bounded memory. A run whose segments are recomputed has the same rows, gradient and report as a completely
 * stored run, bit for bit, for any bound. The memory stays below the bound. */
#include <string.h>

#include "differentiate/recording.h"
#include "support/busy.h"
#include "support/long.h"
#include "support/runs.h"

enum { SEED = 411 };

/* Numbers of a gradient one after the other. */
typedef struct {
  double* values;
  size_t count;
} Flat;

static void append(Flat* flat, const void* from, size_t count) {
  if (count > 0) memcpy(flat->values + flat->count, from, sizeof(double) * count);
  flat->count += count;
}

static Flat flatten(const Model* m, const ModelGradient* g) {
  size_t vertices = (size_t)m->vertex_count, links = (size_t)m->link_count, dofs = (size_t)m->dof_count;
  Flat flat = {.count = 0};
  flat.values = MEMORY_NEW(double, 3 * vertices + 20 * links + 2 * dofs + (size_t)m->parameter_count + 64);
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

/* Some links in some windows, and whole rows beside them. */
static RowSelection some_rows(const Model* m, int steps) {
  RowSelection keep = row_selection_create(m, steps);
  Random random = {SEED};
  for (int i = 0; i < m->link_count; i++) {
    if (i % 3 == 2) continue; /* nothing but the whole rows */
    int first = (int)(random_bits(&random) % (uint64_t)steps), length = (int)(random_bits(&random) % 40);
    row_selection_add_link(&keep, i, first, first + length < steps ? first + length : steps);
  }
  row_selection_add_all_links(&keep, 0);
  row_selection_add_all_links(&keep, steps / 3);
  row_selection_add_all_links(&keep, steps);
  row_selection_compute_offsets(&keep, m);
  return keep;
}

/* Numbers of any size at kept rows, equal for seeds of either layout. */
static void fill_seeds(const Model* m, const RowSelection* keep, LossSeeds* seeds) {
  Random random = {SEED + 1};
  for (int row = 0; row <= keep->steps; row++)
    for (int i = 0; i < m->link_count; i++) {
      if (!row_selection_index(keep, m, row, i).kept) continue;
      RowIndex at = row_index(seeds->selection, m, row, i);
      for (int k = 0; k < 12; k++) seeds->pose[at.pose][k / 4][k % 4] = random_normal(&random);
      seeds->force[at.pose] = vec3(random_normal(&random), random_normal(&random), random_normal(&random));
      for (int k = 0; k < m->links[i].dof_count; k++) {
        seeds->q[at.dof + (size_t)k] = random_normal(&random);
        seeds->rate[at.dof + (size_t)k] = random_normal(&random);
      }
    }
  for (int i = 0; i < m->link_count; i++) seeds->center[i] = vec3(random_normal(&random), 0, 1);
}

typedef struct {
  Flat flat;
  AdjointReport report;
  RunSegmentsUse use;
} Result;

static Result result_of(const Model* m, Recording* r, const LossSeeds* seeds, double discount) {
  RunAdjoint* adjoint = run_adjoint_create(m, 1);
  ModelGradient gradient;
  model_gradient_create(&gradient, m);
  Result out = {.report = run_adjoint(adjoint, r, seeds, discount, &gradient)};
  assert_true(out.report.sound);
  out.flat = flatten(m, &gradient);
  if (r->segments) out.use = run_segments_use(r->segments);
  model_gradient_destroy(&gradient);
  run_adjoint_destroy(adjoint);
  return out;
}

static void run_it(Recording* r, const Model* m, const int* substeps, size_t memory) {
  RecordOptions options = {.threads = 1, .tolerance = 1e-9, .substeps = substeps, .memory = memory};
  RecordReport report;
  Diagnostics diagnostics = {0};
  assert_int_equal(recording_run(r, m, &options, &report, &diagnostics), STATUS_OK);
  diagnostics_free(&diagnostics);
}

static void expect_same_rows(const Model* m, const RowSelection* keep, const Recording* whole, const Recording* thin) {
  assert_int_equal(whole->steps, thin->steps);
  for (int row = 0; row <= whole->steps; row++) {
    if (row > 0) assert_int_equal(recording_substeps(whole, row), recording_substeps(thin, row));
    for (int i = 0; i < m->link_count; i++) {
      RowIndex a = row_index(NULL, m, row, i), b = row_index(keep, m, row, i);
      if (!b.kept) continue;
      const ModelLink* link = &m->links[i];
      compare_bytes(&whole->pose[a.pose], &thin->pose[b.pose], sizeof(Pose), "row %d: pose of %s", row, link->name);
      compare_bytes(&whole->force[a.pose], &thin->force[b.pose], sizeof(Vec3), "row %d: force on %s", row, link->name);
      compare_bytes(whole->q + a.coordinate, thin->q + b.coordinate, sizeof(double) * (size_t)link->coordinate_count,
                    "row %d: coordinates of %s", row, link->name);
      compare_bytes(whole->rate + a.dof, thin->rate + b.dof, sizeof(double) * (size_t)link->dof_count,
                    "row %d: rates of %s", row, link->name);
    }
  }
}

static void expect_same_result(const Result* a, const Result* b, const char* what, size_t memory) {
  compare_bytes(a->flat.values, b->flat.values, sizeof(double) * a->flat.count, "%s, %zu bytes: gradient", what,
                memory);
  assert_true(a->report.largest_step == b->report.largest_step && a->report.growth == b->report.growth);
  assert_int_equal(a->report.indefinite_steps, b->report.indefinite_steps);
}

/* Runs twice with each bound. In the second run the memory of the first has been freed. */
static void check_bounds(Run* run, int steps, const int* substeps, double discount, const char* what) {
  static const size_t bounds[] = {1, 30000, 100000, 500000, 1000000, (size_t)1 << 40};
  const Model* m = &run->model;
  RowSelection keep = some_rows(m, steps);
  Recording whole, thin;
  recording_create(&whole, m, steps);
  recording_create_selective(&thin, m, steps, &keep);
  LossSeeds seeds = loss_seeds_create(m, steps), some = loss_seeds_create_selective(m, &keep);
  fill_seeds(m, &keep, &seeds);
  fill_seeds(m, &keep, &some);
  run_it(&whole, m, substeps, 0);
  Result wanted = result_of(m, &whole, &seeds, discount);
  for (size_t k = 0; k < sizeof bounds / sizeof bounds[0]; k++) {
    run_it(&thin, m, substeps, bounds[k]);
    expect_same_rows(m, &keep, &whole, &thin);
    for (int pass = 0; pass < 2; pass++) {
      Result found = result_of(m, &thin, &some, discount);
      expect_same_result(&wanted, &found, what, bounds[k]);
      print_message("%s: bound %zu bytes, most %zu, %lld of %d steps again\n", what, bounds[k], found.use.peak,
                    (long long)found.use.recomputed_steps, steps);
      if (bounds[k] >= 1000000) assert_true(found.use.peak <= bounds[k]); /* below, the few states are more */
      if (bounds[k] >= (size_t)1 << 40 && pass == 0) assert_int_equal(found.use.recomputed_steps, 0);
      if (bounds[k] <= 100000) assert_true(found.use.recomputed_steps > 0);
      memory_free(found.flat.values);
    }
  }
  memory_free(wanted.flat.values);
  loss_seeds_destroy(&seeds);
  loss_seeds_destroy(&some);
  recording_destroy(&whole);
  recording_destroy(&thin);
  row_selection_destroy(&keep);
}

static void parts_A18_same_gradient_with_every_integrator(void** state) {
  (void)state;
  static const char* const integrator[] = {"first_order", "second_order", "momentum"};
  for (int k = 0; k < tests_count(2, 3); k++) { /* momentum: in mixed substeps, below */
    Run* run = run_model(BUSY_SCENE, 0.005, integrator[k], k == 1 ? 2 : 1, 300);
    int steps = tests_count(80, 160);
    run->model.simulation.steps = steps;
    check_bounds(run, steps, NULL, 1.0, integrator[k]);
    run_free(run);
  }
}

/* States inside of steps lie on both sides of a segment boundary. Also tests a discounted adjoint. */
static void same_gradient_in_mixed_substeps(void** state) {
  (void)state;
  static const char* const integrator[] = {"second_order", "momentum"};
  int substeps[100];
  for (int k = 0; k < 100; k++) substeps[k] = (const int[]){1, 2, 1, 3, 4, 1, 1, 2, 5}[k % 9];
  for (int k = tests_count(1, 0); k < 2; k++) {
    Run* run = run_model(BUSY_SCENE, 0.01, integrator[k], 1, 300);
    run->model.simulation.steps = 100;
    check_bounds(run, 100, substeps, k == 0 ? 1.0 : 0.97, integrator[k]);
    run_free(run);
  }
}

/* Runs with bounded memory and differentiates. Keeps the last row only. */
static Result thin_result(const Model* m, const int* substeps, int steps, size_t memory) {
  RowSelection keep = row_selection_create(m, steps);
  row_selection_add_all_links(&keep, steps);
  row_selection_compute_offsets(&keep, m);
  Recording thin;
  recording_create_selective(&thin, m, steps, &keep);
  LossSeeds seeds = loss_seeds_create_selective(m, &keep);
  fill_seeds(m, &keep, &seeds);
  run_it(&thin, m, substeps, memory);
  Result result = result_of(m, &thin, &seeds, 1.0);
  loss_seeds_destroy(&seeds);
  recording_destroy(&thin);
  row_selection_destroy(&keep);
  return result;
}

/* The fewest steps there are. */
static void same_gradient_of_short_runs(void** state) {
  (void)state;
  for (int steps = 1; steps <= 4; steps++) {
    Run* run = run_model(BUSY_SCENE, 0.01, "second_order", 1, 300);
    run->model.simulation.steps = steps;
    const Model* m = &run->model;
    RowSelection keep = row_selection_create(m, steps);
    for (int row = 0; row <= steps; row++) row_selection_add_all_links(&keep, row);
    row_selection_compute_offsets(&keep, m);
    Recording whole, thin;
    recording_create(&whole, m, steps);
    recording_create_selective(&thin, m, steps, &keep);
    LossSeeds seeds = loss_seeds_create(m, steps), some = loss_seeds_create_selective(m, &keep);
    fill_seeds(m, &keep, &seeds);
    fill_seeds(m, &keep, &some);
    run_it(&whole, m, NULL, 0);
    Result wanted = result_of(m, &whole, &seeds, 1.0);
    for (size_t memory = 1; memory < 10000000; memory *= 100) {
      run_it(&thin, m, NULL, memory);
      Result found = result_of(m, &thin, &some, 1.0);
      expect_same_result(&wanted, &found, "short", memory);
      memory_free(found.flat.values);
    }
    memory_free(wanted.flat.values);
    loss_seeds_destroy(&seeds);
    loss_seeds_destroy(&some);
    recording_destroy(&whole);
    recording_destroy(&thin);
    row_selection_destroy(&keep);
    run_free(run);
  }
}

/* Returns the allocator's peak over a run and its adjoint. */
static uint64_t peak_of(const Model* m, const RowSelection* keep, int steps, size_t memory) {
  Recording thin;
  uint64_t before = memory_bytes_in_use();
  memory_reset_peak();
  recording_create_selective(&thin, m, steps, keep);
  LossSeeds seeds = loss_seeds_create_selective(m, keep);
  fill_seeds(m, keep, &seeds);
  run_it(&thin, m, NULL, memory);
  Result result = result_of(m, &thin, &seeds, 1.0);
  memory_free(result.flat.values);
  loss_seeds_destroy(&seeds);
  recording_destroy(&thin);
  return memory_peak_bytes() - before;
}

/* The memory beyond a run, its adjoint and a few states stays below the bound. */
static void parts_A18_memory_keeps_to_the_bound(void** state) {
  (void)state;
  static const size_t bounds[] = {100000, 500000, 1600000};
  int steps = 800;
  Run* run = run_model(BUSY_SCENE, 0.005, "momentum", 1, 300);
  run->model.simulation.steps = steps;
  RowSelection keep = row_selection_create(&run->model, steps);
  row_selection_add_all_links(&keep, steps);
  row_selection_compute_offsets(&keep, &run->model);
  uint64_t least = peak_of(&run->model, &keep, steps, 1), whole = peak_of(&run->model, &keep, steps, (size_t)1 << 40);
  print_message("%d steps: %.0f kB at least, %.0f kB kept whole\n", steps, 1e-3 * (double)least, 1e-3 * (double)whole);
  for (size_t k = 0; k < sizeof bounds / sizeof bounds[0]; k++) {
    uint64_t peak = peak_of(&run->model, &keep, steps, bounds[k]);
    print_message("bound %zu kB: %.0f kB\n", bounds[k] / 1000, 1e-3 * (double)peak);
    assert_true(peak <= least + bounds[k]);
    assert_true(peak < whole);
  }
  row_selection_destroy(&keep);
  run_free(run);
}

/* With two substeps in every step, a run has the same states whatever number of substeps the scene has, except that the
 * dampers depend on that number. The same memory bound must therefore recompute the same number of
 * steps. It does so only if the memory of a step is estimated from all states of the step. */
static void recomputed_steps_depend_on_states_only(void** state) {
  (void)state;
  static const size_t bounds[] = {100000, 200000, 300000};
  enum { STEPS = 120 };
  int substeps[STEPS];
  for (int k = 0; k < STEPS; k++) substeps[k] = 2;
  Run* by_scene = run_model(BUSY_SCENE, 0.005, "momentum", 2, 300);
  Run* by_caller = run_model(BUSY_SCENE, 0.005, "momentum", 1, 300);
  Model* models[2] = {&by_scene->model, &by_caller->model};
  for (int k = 0; k < 2; k++) {
    models[k]->simulation.steps = STEPS;
    for (int c = 0; c < models[k]->controller_count; c++) {
      memset(models[k]->controllers[c].velocity_gain, 0, sizeof models[k]->controllers[c].velocity_gain);
      memset(models[k]->controllers[c].damping_gain, 0, sizeof models[k]->controllers[c].damping_gain);
    }
    for (int i = 0; i < models[k]->link_count; i++)
      memset(models[k]->links[i].damping, 0, sizeof models[k]->links[i].damping);
    model_place_spring_thetas(models[k]);
  }
  for (size_t k = 0; k < sizeof bounds / sizeof bounds[0]; k++) {
    Result a = thin_result(models[0], substeps, STEPS, bounds[k]);
    Result b = thin_result(models[1], substeps, STEPS, bounds[k]);
    print_message("bound %zu bytes: substeps of the scene: %lld steps again, of the caller: %lld\n", bounds[k],
                  (long long)a.use.recomputed_steps, (long long)b.use.recomputed_steps);
    expect_same_result(&a, &b, "substeps", bounds[k]);
    assert_true(a.use.recomputed_steps > 0);
    assert_int_equal(a.use.recomputed_steps, b.use.recomputed_steps);
    memory_free(a.flat.values);
    memory_free(b.flat.values);
  }
  run_free(by_scene);
  run_free(by_caller);
}

/* A run for values only stores neither states nor segments. */
static void values_need_no_parts(void** state) {
  (void)state;
  Run* run = run_model(BUSY_SCENE, 0.01, "momentum", 1, 300);
  run->model.simulation.steps = 20;
  RowSelection keep = some_rows(&run->model, 20);
  Recording whole, thin;
  recording_create(&whole, &run->model, 20);
  recording_create_selective(&thin, &run->model, 20, &keep);
  run_it(&whole, &run->model, NULL, 0);
  run_it(&thin, &run->model, NULL, 0);
  expect_same_rows(&run->model, &keep, &whole, &thin);
  assert_null(thin.segments);
  assert_int_equal(thin.substep_state_count, 0); /* of states only when they were */
  assert_null(thin.contacts);
  recording_destroy(&whole);
  recording_destroy(&thin);
  row_selection_destroy(&keep);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_A18_same_gradient_with_every_integrator),
      cmocka_unit_test(same_gradient_in_mixed_substeps),
      cmocka_unit_test(same_gradient_of_short_runs),
      cmocka_unit_test(parts_A18_memory_keeps_to_the_bound),
      cmocka_unit_test(recomputed_steps_depend_on_states_only),
      cmocka_unit_test(values_need_no_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
