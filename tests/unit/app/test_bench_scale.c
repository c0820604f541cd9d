#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "app/bench.h"

static Status start_run(const Model* model) {
  Sim* sim = NULL;
  Diagnostics diagnostics = {0};
  SimOptions options = {.threads = 1};
  Status status = sim_create(&sim, model, &options, &diagnostics); /* refuses bodies that meet */
  diagnostics_print(&diagnostics, stderr, false);
  diagnostics_free(&diagnostics);
  sim_destroy(sim);
  return status;
}

/* A scene like any other: it reads without a remark and its bodies do not touch at the start. */
static void check_scenes(void (*write)(Text* yaml, int bodies)) {
  static const int sizes[] = {1, 4, 10, 37, 200};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    Text yaml = {0};
    Scene scene = {0};
    Model model = {0};
    Diagnostics diagnostics = {0};
    write(&yaml, sizes[i]);
    Status status = scene_parse(&scene, "bench", yaml.data, yaml.length, false, NULL, 0, &diagnostics);
    diagnostics_print(&diagnostics, stderr, false);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(scene.link_count, sizes[i] + 1);
    assert_int_equal(model_create(&model, &scene, &diagnostics), STATUS_OK);
    diagnostics_print(&diagnostics, stderr, false);
    assert_int_equal(diagnostics.count, 0);
    assert_int_equal(model.dof_count, 6 * sizes[i]);
    assert_int_equal(start_run(&model), STATUS_OK);
    model_destroy(&model);
    scene_free(&scene);
    text_free(&yaml);
  }
}

static void piles_of_every_size_are_good_scenes(void** state) {
  (void)state;
  check_scenes(bench_pile_yaml);
}

static void heaps_of_every_size_are_good_scenes(void** state) {
  (void)state;
  check_scenes(bench_heap_yaml);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(piles_of_every_size_are_good_scenes),
                                     cmocka_unit_test(heaps_of_every_size_are_good_scenes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
