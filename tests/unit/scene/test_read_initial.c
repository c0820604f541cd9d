#include "scene_testing.h"

#define BALL "mass: 1, shape: {type: sphere, radius: 1}"
static const char LINKS[] =
    "links:\n"
    "  - {name: base, fixed: true}\n"
    "  - {name: h, joint: {type: hinge, axis: [0, 1, 0]}, " BALL
    "}\n"
    "  - {name: b, joint: {type: ball}, " BALL
    "}\n"
    "  - {name: f, " BALL
    "}\n"
    "  - {name: p, joint: {type: free, free_axes: [x, y, rz]}, " BALL "}\n";

static SceneInitial read_one(const char* item) {
  Text text = {0};
  text_add(&text, "%sinitial: [%s]\n", LINKS, item);
  Scene scene = load(text.data);
  assert_int_equal(scene.initial_count, 1);
  SceneInitial initial = scene.initials[0];
  scene_free(&scene);
  text_free(&text);
  return initial;
}

static void rotations_are_vectors_or_quaternions(void** state) {
  (void)state;
  SceneInitial initial = read_one("{link: b, coordinates: [0, 1.5707963267948966, 0], velocities: [1, 2, 3]}");
  compare_arrays(initial.coordinates, (double[]){sqrt(0.5), 0, sqrt(0.5), 0}, 4, 1e-15, "rotation vector");
  compare_arrays(initial.velocities, (double[]){1, 2, 3}, 3, 0, "velocities");
  assert_true(initial.has_coordinates && initial.has_velocities);
  initial = read_one("{link: b, coordinates: [0.7071, 0, 0, 0.7071]}");
  compare_arrays(initial.coordinates, (double[]){sqrt(0.5), 0, 0, sqrt(0.5)}, 4, 1e-15, "quaternion");
  assert_false(initial.has_velocities);
  initial = read_one("{link: f, coordinates: [1, 2, 3, 0, 0, 0]}");
  compare_arrays(initial.coordinates, (double[]){1, 2, 3, 1, 0, 0, 0}, 7, 0, "free, zero rotation");
  initial = read_one("{link: f, coordinates: [1, 2, 3, 0, 0, 1, 0]}");
  compare_arrays(initial.coordinates, (double[]){1, 2, 3, 0, 0, 1, 0}, 7, 0, "free, quaternion");
  initial = read_one("{link: p, coordinates: [1, 2, 0.5]}");
  compare_arrays(initial.coordinates, (double[]){1, 2, 0.5, 0}, 4, 0, "planar");
  initial = read_one("{link: f, velocities: [1, 2, 3, 4, 5, 6]}");
  assert_false(initial.has_coordinates);
  compare_arrays(initial.coordinates, (double[]){0, 0, 0, 1, 0, 0, 0}, 7, 0, "the identity when nothing is said");
}

static void mistakes_are_told(void** state) {
  (void)state;
  static const struct {
    const char *item, *problem;
  } CASES[] = {
      {"{link: base, coordinates: [1]}",
       "7:37: error: initial[0].coordinates: the joint is fixed and has no coordinates: remove this key\n"},
      {"{link: h, coordinates: [1, 2]}",
       "7:34: error: initial[0].coordinates: expected 1 number, one per degree of freedom, got 2\n"},
      {"{link: h, coordinates: 1}", "7:34: error: initial[0].coordinates: expected a list of numbers, got 1\n"},
      {"{link: h, coordinates: []}", "7:34: error: initial[0].coordinates: expected 1 to 7 numbers, got 0\n"},
      {"{link: b, coordinates: [1, 1, 0, 0]}",
       "7:34: error: initial[0].coordinates: the quaternion must have length 1, got length 1.41421: divide its numbers "
       "by the length\n"},
      {"{link: b, velocities: [1, 1, 0, 0]}",
       "7:33: error: initial[0].velocities: expected 3 numbers, one per degree of freedom, got 4\n"},
      {"{link: b}, {link: b}",
       "7:22: error: initial[1]: the link 'b' already has an initial state from line 7: remove one of the two items\n"},
      {"{link: g}", "7:18: error: initial[0].link: no link is named 'g'\n"},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Text text = {0};
    text_add(&text, "%sinitial: [%s]\n", LINKS, CASES[i].item);
    expect_problems(text.data, CASES[i].problem);
    text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rotations_are_vectors_or_quaternions),
      cmocka_unit_test(mistakes_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
