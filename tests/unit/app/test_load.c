#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "app/command.h"

static const char* const PATH = "tests/cli/shared/rest.yaml";

static void a_scene_becomes_a_model_with_the_steps_asked_for(void** state) {
  (void)state;
  Loaded loaded;
  Diagnostics diagnostics = {0};
  Options options = {0};
  assert_int_equal(loaded_create(&loaded, &options, PATH, 0, false, &diagnostics), STATUS_OK);
  assert_int_equal(loaded.model.simulation.steps, 20);
  assert_int_equal(loaded_vertex_count(&loaded), 8);
  Text text = {0};
  loaded_append_summary(&text, &loaded);
  assert_string_equal(text.data, "2 links, 6 degrees of freedom, 2 hulls, 8 vertices");
  text_free(&text);
  loaded_free(&loaded);
  assert_int_equal(loaded_create(&loaded, &options, PATH, 7, false, &diagnostics), STATUS_OK);
  assert_int_equal(loaded.model.simulation.steps, 7);
  loaded_free(&loaded);
  assert_int_equal(diagnostics.count, 0);
}

static void overrides_reach_the_model(void** state) {
  (void)state;
  Loaded loaded;
  Diagnostics diagnostics = {0};
  SceneOverride overrides[] = {{"links.box.mass=3"}, {"simulation.dt=0.5"}};
  Options options = {.overrides = overrides, .override_count = 2};
  assert_int_equal(loaded_create(&loaded, &options, PATH, 0, false, &diagnostics), STATUS_OK);
  assert_true(loaded.model.links[1].mass == 3.0);
  assert_true(loaded.model.simulation.dt == 0.5);
  loaded_free(&loaded);
  diagnostics_free(&diagnostics);
}

static void what_cannot_be_loaded_can_still_be_freed(void** state) {
  (void)state;
  Loaded loaded;
  Diagnostics diagnostics = {0};
  Options options = {0};
  assert_int_equal(loaded_create(&loaded, &options, "/nowhere.yaml", 0, false, &diagnostics), STATUS_IO);
  loaded_free(&loaded);
  assert_int_equal(loaded_create(&loaded, &options, "tests/cli/shared/bad.yaml", 0, false, &diagnostics),
                   STATUS_BAD_INPUT);
  loaded_free(&loaded);
  loaded_free(&loaded);
  diagnostics_free(&diagnostics);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_scene_becomes_a_model_with_the_steps_asked_for),
      cmocka_unit_test(overrides_reach_the_model),
      cmocka_unit_test(what_cannot_be_loaded_can_still_be_freed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
