/* Tests the gradient of a long run of scenes/pile.yaml with bounded memory. It is bit-identical to that of a completely
 * stored run and stays below the bound. SDRS_STEPS: number of steps instead of 5000. SDRS_MEMORY: bound in bytes
 * instead of 48 MiB. */
#include <stdlib.h>
#include <string.h>

#include "differentiate/recording.h"
#include "support/compare.h"

typedef struct {
  Scene scene;
  Model model;
  RowSelection selection;
} Pile;

static double number_of(const char* name, double fallback) {
  const char* text = getenv(name);
  return text ? strtod(text, NULL) : fallback;
}

static void open_pile(Pile* pile, int steps) {
  Diagnostics diagnostics = {0};
  char option[40];
  snprintf(option, sizeof option, "simulation.steps=%d", steps);
  SceneOverride overrides[] = {{option}};
  assert_int_equal(scene_load(&pile->scene, "scenes/pile.yaml", overrides, 1, &diagnostics), STATUS_OK);
  assert_int_equal(model_create(&pile->model, &pile->scene, &diagnostics), STATUS_OK);
  diagnostics_free(&diagnostics);
  pile->selection = row_selection_create(&pile->model, steps); /* what a loss of one body over the whole run looks at */
  row_selection_add_link(&pile->selection, 50, 0, steps);
  row_selection_compute_offsets(&pile->selection, &pile->model);
}

static void close_pile(Pile* pile) {
  row_selection_destroy(&pile->selection);
  model_destroy(&pile->model);
  scene_free(&pile->scene);
}

/* Velocities at the start by a random function of where the body is at every row. */
static double* gradient_of(Pile* pile, int steps, size_t memory, bool whole) {
  const Model* m = &pile->model;
  Recording r;
  RecordReport report;
  Diagnostics diagnostics = {0};
  RecordOptions options = {.threads = 1, .memory = memory};
  Random random = {5};
  ModelGradient gradient;
  uint64_t before = memory_bytes_in_use();
  double start = timer_now();
  memory_reset_peak();
  if (whole)
    recording_create(&r, m, steps);
  else
    recording_create_selective(&r, m, steps, &pile->selection);
  LossSeeds seeds = whole ? loss_seeds_create(m, steps) : loss_seeds_create_selective(m, &pile->selection);
  for (int row = 0; row <= steps; row++)
    for (int k = 0; k < 12; k++)
      seeds.pose[row_index(seeds.selection, m, row, 50).pose][k / 4][k % 4] = random_normal(&random) / steps;
  assert_int_equal(recording_run(&r, m, &options, &report, &diagnostics), STATUS_OK);
  double middle = timer_now();
  RunAdjoint* adjoint = run_adjoint_create(m, 1);
  model_gradient_create(&gradient, m);
  AdjointReport back = run_adjoint(adjoint, &r, &seeds, 1.0, &gradient);
  assert_true(back.sound);
  RunSegmentsUse use = whole ? (RunSegmentsUse){0} : run_segments_use(r.segments);
  print_message(
      "%d steps, %s: peak %.1f MiB, segments %.1f MiB, %lld steps recomputed, largest lambda %.2g; %.1f s + %.1f s\n",
      steps, whole ? "kept whole" : "bounded", (double)(memory_peak_bytes() - before) / 1048576,
      (double)use.peak / 1048576, (long long)use.recomputed_steps, back.step.largest_lambda, middle - start,
      timer_now() - middle);
  double* velocities = MEMORY_NEW(double, m->dof_count);
  memcpy(velocities, gradient.velocities, sizeof(double) * (size_t)m->dof_count);
  model_gradient_destroy(&gradient);
  run_adjoint_destroy(adjoint);
  loss_seeds_destroy(&seeds);
  recording_destroy(&r);
  diagnostics_free(&diagnostics);
  return velocities;
}

static void pile_within_bounded_memory(void** state) {
  (void)state;
  int steps = (int)number_of("SDRS_STEPS", 5000);
  size_t memory = (size_t)number_of("SDRS_MEMORY", 48 * 1048576.0);
  Pile pile;
  open_pile(&pile, steps);
  double* bounded = gradient_of(&pile, steps, memory, false);
  assert_true((double)memory_peak_bytes() <
              (double)memory + 64 * 1048576.0); /* with the simulator and the adjoint themselves */
  if (steps <= 20000) {
    double* whole = gradient_of(&pile, steps, 0, true);
    compare_bytes(whole, bounded, sizeof(double) * (size_t)pile.model.dof_count, "gradient by the velocities");
    memory_free(whole);
  }
  memory_free(bounded);
  close_pile(&pile);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pile_within_bounded_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
