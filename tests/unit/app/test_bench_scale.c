#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "app/bench.h"

/* The pile is a scene like any other: it reads without a remark and its bodies do not touch at the start. */
static void piles_of_every_size_are_good_scenes(void** state) {
  (void)state;
  static const int sizes[] = {1, 4, 10, 37, 200};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    Text yaml = {0};
    Scene scene = {0};
    Model model = {0};
    Diagnostics diagnostics = {0};
    bench_pile_yaml(&yaml, sizes[i]);
    Status status = scene_parse(&scene, "pile", yaml.data, yaml.length, false, NULL, 0, &diagnostics);
    diagnostics_print(&diagnostics, stderr, false);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(scene.link_count, sizes[i] + 1);
    assert_int_equal(model_create(&model, &scene, &diagnostics), STATUS_OK);
    diagnostics_print(&diagnostics, stderr, false);
    assert_int_equal(diagnostics.count, 0);
    assert_int_equal(model.dof_count, 6 * sizes[i]);
    model_destroy(&model);
    scene_free(&scene);
    text_free(&yaml);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(piles_of_every_size_are_good_scenes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
