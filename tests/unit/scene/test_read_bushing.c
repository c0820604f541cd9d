#include "scene_round_trip.h"
#include "scene_testing.h"

static const char LINKS[] =
    "links:\n"
    "  - {name: base, fixed: true}\n"
    "  - {name: body, mass: 1, shape: {type: sphere, radius: 1}}\n";

static void frames_and_matrices(void** state) {
  (void)state;
  Text text = {0};
  text_add(
      &text,
      "%sbushings:\n"
      "  - {a: body, b: base, frame_a: {position: [1, 2, 3]}, frame_b: {rotation: [0, 0, 0, 1]}, stiffness: [1, 2, "
      "3, 4, 5, 6], damping: [6, 5, 4, 3, 2, 1], preload: [1, 0, 0, 0, 0, 2]}\n"
      "  - {a: body, frame_b: {}, stiffness: [[1, 0.5, 0, 0, 0, 0], [0.5, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, "
      "0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]}\n",
      LINKS);
  Scene scene = load(text.data);
  const SceneBushing* b = scene.bushings;
  assert_int_equal(scene.bushing_count, 2);
  assert_int_equal(b[0].link[0], 1);
  assert_int_equal(b[0].link[1], 0);
  compare_vec3(b[0].position[0], vec3(1, 2, 3), 0, "position on a");
  compare_near(b[0].rotation[1].z, 1, 0, "rotation on b");
  compare_near(b[0].stiffness[4][4], 5, 0, "stiffness");
  compare_near(b[0].stiffness[4][3], 0, 0, "beside the diagonal");
  compare_near(b[0].damping[0][0], 6, 0, "damping");
  compare_near(b[0].preload[5], 2, 0, "preload");
  assert_int_equal(b[1].link[1], -1);
  compare_near(b[1].stiffness[0][1], 0.5, 0, "full matrix");

  const char* fault = round_trip_fault(&scene);
  if (fault) fail_msg("written and read again: %s", fault);
  scene_free(&scene);
  text_free(&text);
}

static void idle_ones_are_told(void** state) {
  (void)state;
  Scene scene;
  Diagnostics diagnostics = {0};
  Text text = {0};
  text_add(&text, "%sbushings:\n  - {a: base, frame_b: {}, stiffness: [1, 1, 1, 1, 1, 1]}\n", LINKS);
  assert_int_equal(parse_with(&scene, &diagnostics, text.data, NULL), STATUS_OK);
  char* found = told(&diagnostics);
  assert_string_equal(found,
                      "5:5: warning: the bushing has no effect, because forces cannot move any of its links: remove "
                      "the bushing, or free a link\n");
  memory_free(found);
  diagnostics_free(&diagnostics);
  scene_free(&scene);
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_and_matrices),
      cmocka_unit_test(idle_ones_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
