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

static void wraps(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text,
           "%stendons:\n"
           "  - {points: [{}, {link: arm1}, {point: [0, 0, 5]}], tension: 1, wrap: [{type: sphere, radius: 0.5, link: "
           "arm2, position: [1, 2, 3], after: 1}, {type: cylinder, radius: 2, axis: [0, 0, 3], side: [0, 1, 0], after: "
           "0}]}\n"
           "  - {points: [{}, {point: [0, 0, 5]}], tension: 1, wrap: [{type: cylinder, radius: 2, link: arm1}]}\n",
           LINKS);
  Scene scene = load(text.data);
  const SceneTendon* t = scene.tendons;
  assert_int_equal(t[0].wrap_count, 2);
  assert_ptr_equal(scene_tendon_wrap(&t[0], 0), &t[0].wraps[1]);
  assert_ptr_equal(scene_tendon_wrap(&t[0], 1), &t[0].wraps[0]);
  assert_int_equal(t[0].wraps[0].type, WRAP_SPHERE);
  assert_int_equal(t[0].wraps[0].link, 3);
  assert_false(t[0].wraps[0].has_side);
  compare_vec3(t[0].wraps[0].position, vec3(1, 2, 3), 0, "position");
  assert_int_equal(t[0].wraps[1].link, -1);
  assert_true(t[0].wraps[1].has_side);
  compare_vec3(t[0].wraps[1].axis, vec3(0, 0, 1), 0, "axis");
  assert_int_equal(t[1].end, 2);
  compare_vec3(t[1].wraps[0].axis, vec3(0, 0, 1), 0, "axis where none is given");
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
       "5:5: error: tendons[0]: the tendon exerts no force: give 'tension', 'range', 'friction', or 'stiffness' with "
       "'rest_length'\n"},
      {"{points: [{link: arm0}, {}], tension: 1, friction_speed: 1}",
       "5:46: error: tendons[0]: 'friction_speed' needs 'friction': give both or neither\n"},
      {"{tension: 1}", "5:5: error: tendons[0]: a tendon needs two points or more, got 0\n"},
      {"{points: [{link: arm0}, {}], range: [0, 1]}",
       "5:34: error: tendons[0].range: 'range' needs 'range_stiffness': give the force per metre beyond the range "
       "[N/m]\n"},
      {"{points: [{link: arm0}, {}], tension: 1, range_damping: 1}",
       "5:46: error: tendons[0]: 'range_damping' needs 'range': give both or neither\n"},
      {"{points: [{link: arm0}, {}], range: [2, 1], range_stiffness: 1}",
       "5:41: error: tendons[0].range: the lower limit must be below the upper limit, got [2, 1]\n"},
      {"{joints: [{link: base}], tension: 1}",
       "5:15: error: tendons[0].joints[0]: the joint of 'base' has no single coordinate (fixed or ball joint): name a "
       "link with a hinge, slide or similar joint\n"},
      {"{points: [{link: arm0}], tension: 1}", "5:5: error: tendons[0]: a tendon needs two points or more, got 1\n"},
      {"{points: [{}, {point: [1, 0, 0]}], tension: 1}",
       "5:5: error: tendons[0]: all points and wraps of the tendon are fixed to the world: attach at least one to a "
       "link\n"},
      {"{points: [{link: arm0}, {link: arm1}], tension: 1, rest_length: 1}",
       "5:56: error: tendons[0]: 'rest_length' needs 'stiffness': give both or neither\n"},
      {"{points: [{link: arm0}, {link: arm1}], stiffness: 1}",
       "5:5: error: tendons[0]: 'stiffness' needs 'rest_length': give the length [m] below which the tendon is "
       "slack\n"},
      {"{points: [{link: arm0}, {link: arm1}], tension: 1, wrap: [{type: sphere, radius: 1, after: 1}]}",
       "5:63: error: tendons[0].wrap[0]: a wrap needs a point before and after it: 'after' is 1, and the tendon has 2 "
       "points; it "
       "must be at most 0\n"},
      {"{points: [{link: arm0}, {link: arm1}], tension: 1, wrap: [{type: sphere, radius: 1}, {type: sphere, radius: 1, "
       "after: 0}]}",
       "5:90: error: tendons[0].wrap[1]: another wrap already follows point 0: add a point between the two wraps, or "
       "set 'after'\n"},
      {"{points: [{link: arm0}, {link: arm1}], tension: 1, wrap: [{type: cylinder, radius: 1, axis: [0, 0, 0]}]}",
       "5:91: error: tendons[0].wrap[0]: the axis of a cylinder must not be the zero vector: give a direction such as "
       "[0, 0, 1]\n"},
  };
  for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
    Text text = {0};
    text_add(&text, "%stendons:\n  - %s\n", LINKS, CASES[k].item);
    expect_problems(text.data, CASES[k].problem);
    text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(points_and_pulls), cmocka_unit_test(wraps),
                                     cmocka_unit_test(mistakes_are_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
