#include "scene_round_trip.h"
#include "scene_testing.h"

static const char LINKS[] =
    "links:\n"
    "  - {name: base, fixed: true}\n"
    "  - {name: \"arm{i}\", mass: 1, shape: {type: sphere, radius: 1}, repeat: {count: 3}}\n";

static void points_and_pulls(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text,
           "%stendons:\n"
           "  - {points: [{point: [1, 2, 3]}, {link: \"arm{i}\", point: [0, \"{i / 4}\", 0], repeat: {count: 3}}], "
           "tension: {type: keyframes, times: [0, 1], values: [[0], [4]]}}\n"
           "  - {points: [{link: arm1}, {link: world}], stiffness: 10, rest_length: 0.5}\n",
           LINKS);
  Scene scene = load(text.data);
  const SceneTendon* t = scene.tendons;
  assert_int_equal(scene.tendon_count, 2);
  assert_int_equal(t[0].count, 4);
  assert_int_equal(t[0].points[0].link, -1);
  compare_vec3(t[0].points[0].point, vec3(1, 2, 3), 0, "the world's point");
  assert_int_equal(t[0].points[3].link, 3);
  compare_vec3(t[0].points[3].point, vec3(0, 0.5, 0), 0, "the third item of the repeat");
  assert_int_equal(t[0].end, 3);
  assert_int_equal(t[0].tension.type, SIGNAL_KEYFRAMES);
  assert_int_equal(t[1].end, 2);
  assert_int_equal(t[1].tension.channels, 0);
  compare_near(t[1].stiffness, 10, 0, "stiffness");
  compare_near(t[1].rest_length, 0.5, 0, "rest length");

  const char* fault = round_trip_fault(&scene);
  if (fault) fail_msg("written and read again: %s", fault);
  scene_free(&scene);
  text_free(&text);
}

static void mistakes_are_told(void** state) {
  (void)state;
  static const struct {
    const char *item, *problem;
  } CASES[] = {
      {"{points: [{link: arm0}, {link: arm1}]}",
       "5:5: error: tendons[0]: nothing pulls: give 'tension', or 'stiffness' and 'rest_length'\n"},
      {"{points: [{link: arm0}], tension: 1}", "5:5: error: tendons[0]: a tendon needs two points or more, got 1\n"},
      {"{points: [{}, {point: [1, 0, 0]}], tension: 1}",
       "5:5: error: tendons[0]: a tendon must pass a link: all its points are the world's\n"},
      {"{points: [{link: arm0}, {link: arm1}], tension: 1, rest_length: 1}",
       "5:56: error: tendons[0]: a rest_length has no meaning without 'stiffness'\n"},
      {"{points: [{link: arm0}, {link: arm1}], stiffness: 1}",
       "5:5: error: tendons[0]: give 'rest_length' with 'stiffness': where it begins to pull\n"},
  };
  for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
    Text text = {0};
    text_add(&text, "%stendons:\n  - %s\n", LINKS, CASES[k].item);
    expect_problems(text.data, CASES[k].problem);
    text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(points_and_pulls), cmocka_unit_test(mistakes_are_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
