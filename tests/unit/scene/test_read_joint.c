#include "scene_testing.h"

/* A scene of one link with this joint; scene_free is the caller's. */
static Scene load_joint(const char* joint) {
  Text text = {0};
  text_add(&text, "links:\n  - name: a\n    mass: 1\n    shape: {type: sphere, radius: 1}\n    joint: %s\n", joint);
  Scene scene = load(text.data);
  text_free(&text);
  return scene;
}

/* problem: the message's text behind "links[0].joint". */
static void expect_joint_problem(const char* joint, int column, const char* problem) {
  Text text = {0}, wanted = {0};
  text_add(&text, "links:\n  - name: a\n    mass: 1\n    shape: {type: sphere, radius: 1}\n    joint: %s\n", joint);
  text_add(&wanted, "5:%d: error: links[0].joint%s\n", column, problem);
  expect_problems(text.data, wanted.data);
  text_free(&text);
  text_free(&wanted);
}

static void axes_are_made_unit(void** state) {
  (void)state;
  Scene scene = load_joint("{type: universal, axes: [[0, 3, 4], [-2, 0, 0]]}");
  compare_vec3(scene.links[0].joint.axes[0], vec3(0, 0.6, 0.8), 1e-15, "first axis");
  compare_vec3(scene.links[0].joint.axes[1], vec3(-1, 0, 0), 0, "second axis");
  scene_free(&scene);
  scene = load_joint("{type: slide, axis: [0, 0, -1e-3], damping: 2}");
  compare_vec3(scene.links[0].joint.axes[0], vec3(0, 0, -1), 0, "slide axis");
  compare_near(scene.links[0].joint.damping[0], 2, 0, "damping");
  scene_free(&scene);
}

static void free_axes_are_bits(void** state) {
  (void)state;
  Scene scene = load_joint("{type: free, free_axes: [rz, x, y], damping: [1, 2, 3]}");
  const SceneJoint* joint = &scene.links[0].joint;
  assert_int_equal(joint->free_axes, FREE_X | FREE_Y | FREE_RZ);
  compare_arrays(joint->damping, (double[]){1, 2, 3}, 3, 0, "damping");
  scene_free(&scene);
  scene = load_joint("{type: free}");
  assert_int_equal(scene.links[0].joint.free_axes, FREE_ALL);
  scene_free(&scene);
}

static void a_root_is_free_or_fixed(void** state) {
  (void)state;
  Scene scene = load(
      "links:\n"
      "  - {name: a, mass: 1, shape: {type: sphere, radius: 1}, position: [1, 2, 3], rpy: [0, 0, 3.141592653589793]}\n"
      "  - {name: b, parent: a, fixed: true, position: [0, 0, 1], mass: 1, shape: {type: sphere, radius: 1}}\n"
      "  - {name: c, parent: null, fixed: true, joint: {type: fixed, position: [0, 1, 0]}}\n"
      "  - {name: d, parent: c, joint: {type: ball}, position: [7, 0, 0], mass: 1, shape: {type: sphere, radius: "
      "1}}\n");
  const SceneLink* links = scene.links;
  assert_int_equal(links[0].joint.type, JOINT_FREE);
  assert_int_equal(links[0].joint.free_axes, FREE_ALL);
  assert_int_equal(links[0].parent, -1);
  assert_false(links[0].fixed);
  compare_vec3(links[0].joint.position, vec3(1, 2, 3), 0, "position");
  compare_quat(links[0].joint.rotation, (Quat){0, 0, 0, 1}, 1e-15, "rotation");
  assert_int_equal(links[1].joint.type, JOINT_FIXED);
  assert_true(links[1].fixed);
  assert_int_equal(links[1].parent, 0);
  assert_int_equal(links[2].parent, -1);
  compare_vec3(links[2].joint.position, vec3(0, 1, 0), 0, "position in the joint");
  compare_vec3(links[3].joint.position, vec3(7, 0, 0), 0, "position in the link");
  assert_int_equal(links[3].joint.type, JOINT_BALL);
  scene_free(&scene);
}

static void check_limit(const SceneJoint* joint, int slot, double lower, double upper) {
  assert_int_equal(joint->limited[slot], isfinite(lower) || isfinite(upper));
  if (joint->lower[slot] != lower || joint->upper[slot] != upper)
    fail_msg("slot %d: [%g, %g], wanted [%g, %g]", slot, joint->lower[slot], joint->upper[slot], lower, upper);
}

static void limits_have_many_forms(void** state) {
  (void)state;
  const double inf = HUGE_VAL;
  static const char AXES[] = "type: universal, axes: [[1, 0, 0], [0, 1, 0]]";
  static const struct {
    const char *type, *limits;
    int slots;
    double bounds[4][2];
  } CASES[] = {
      {"type: hinge, axis: [0, 1, 0]", "[-1, 2]", 1, {{-1, 2}}},
      {"type: hinge, axis: [0, 1, 0]", "[null, 2]", 1, {{-HUGE_VAL, 2}}},
      {"type: hinge, axis: [0, 1, 0]", "[-1, ~]", 1, {{-1, HUGE_VAL}}},
      {"type: hinge, axis: [0, 1, 0]", "[[-1, 2]]", 1, {{-1, 2}}},
      {"type: hinge, axis: [0, 1, 0]", "null", 1, {{-HUGE_VAL, HUGE_VAL}}},
      {"type: hinge, axis: [0, 1, 0]", "[null, null]", 1, {{-HUGE_VAL, HUGE_VAL}}},
      {AXES, "[-1, 2]", 2, {{-1, 2}, {-1, 2}}},
      {AXES, "[null, [-1, 2]]", 2, {{-HUGE_VAL, HUGE_VAL}, {-1, 2}}},
      {"type: ball", "[null, 1.5]", 1, {{-HUGE_VAL, 1.5}}},
      {"type: ball", "[0, 1.5]", 1, {{-HUGE_VAL, 1.5}}},
      {"type: ball", "[[null, 1.5]]", 1, {{-HUGE_VAL, 1.5}}},
      {"type: ball", "[[null, 1.5], null, null]", 1, {{-HUGE_VAL, 1.5}}},
      {"type: free, free_axes: [x, y]", "[-1, 1]", 2, {{-1, 1}, {-1, 1}}},
      {"type: free, free_axes: [x, rx, ry]",
       "[null, [0, 1], null]",
       3,
       {{-HUGE_VAL, HUGE_VAL}, {0, 1}, {-HUGE_VAL, HUGE_VAL}}},
      {"type: free",
       "[null, [0, 1], null, [null, 2]]",
       4,
       {{-HUGE_VAL, HUGE_VAL}, {0, 1}, {-HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, 2}}},
      {"type: free",
       "[[0, 1], null, null, [0, 2], null, null]",
       4,
       {{0, 1}, {-HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, 2}}},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Text text = {0};
    text_add(&text, "{%s, limits: %s}", CASES[i].type, CASES[i].limits);
    Scene scene = load_joint(text.data);
    for (int slot = 0; slot < JOINT_MAX_DOF; slot++)
      if (slot < CASES[i].slots)
        check_limit(&scene.links[0].joint, slot, CASES[i].bounds[slot][0], CASES[i].bounds[slot][1]);
      else
        check_limit(&scene.links[0].joint, slot, -inf, inf);
    scene_free(&scene);
    text_free(&text);
  }
}

static void limits_have_a_law(void** state) {
  (void)state;
  Scene scene = load_joint("{type: hinge, axis: [0, 1, 0], limits: [-1, 1]}");
  assert_int_equal(scene.links[0].joint.limit_law, LIMIT_BARRIER);
  compare_near(scene.links[0].joint.limit_stiffness, 1, 0, "stiffness of a barrier");
  compare_near(scene.links[0].joint.limit_margin, 0.02, 0, "margin");
  scene_free(&scene);
  scene = load_joint("{type: hinge, axis: [0, 1, 0], limits: [0, 0.1], limit_law: penalty}");
  assert_int_equal(scene.links[0].joint.limit_law, LIMIT_PENALTY);
  compare_near(scene.links[0].joint.limit_stiffness, 1000, 0, "stiffness of a penalty");
  compare_near(scene.links[0].joint.limit_margin, 0.001, 0, "margin of a narrow range");
  scene_free(&scene);
  scene = load_joint("{type: hinge, axis: [0, 1, 0], limits: [0, 1], limit_stiffness: 3, limit_margin: 0.4}");
  compare_near(scene.links[0].joint.limit_stiffness, 3, 0, "given stiffness");
  compare_near(scene.links[0].joint.limit_margin, 0.4, 0, "given margin");
  scene_free(&scene);
}

static void mistakes_are_told(void** state) {
  (void)state;
  expect_joint_problem("{type: hing}", 19,
                       ".type: must be fixed, hinge, slide, universal, screw, planar, ball or free, got 'hing' (did "
                       "you mean 'hinge'?)");
  expect_joint_problem("{}", 12,
                       ": 'type' is missing: give fixed, hinge, slide, universal, screw, planar, ball or free");
  expect_joint_problem("hinge", 12, ": expected a map, got 'hinge': write {type: hinge, ...}");
  expect_joint_problem("{type: hinge}", 12, ": 'axis' is missing: give a list of 3 numbers");
  expect_joint_problem("{type: hinge, axis: [1, 0]}", 32, ".axis: expected a list of 3 numbers, got 2");
  expect_joint_problem("{type: ball, axis: [1, 0, 0]}", 25,
                       ": the type ball has no key 'axis': remove the key, or use type hinge, slide, screw or planar");
  expect_joint_problem("{type: universal, axes: [[1, 0, 0]]}", 36, ".axes: expected two axes, got 1");
  expect_joint_problem("{type: universal, axes: [[1, 0, 0], [0, 0, 0]]}", 48,
                       ".axes[1]: the axis must not be the zero vector: give a direction such as [0, 0, 1]");
  expect_joint_problem("{type: universal, axes: [[1, 0, 0], 5]}", 48, ".axes[1]: expected a list of 3 numbers, got 5");
  expect_joint_problem("{type: free, free_axes: [x, x]}", 40, ".free_axes: 'x' occurs twice: remove one of the two");
  expect_joint_problem("{type: free, free_axes: [w]}", 37, ".free_axes: must be x, y, z, rx, ry or rz, got 'w'");
  expect_joint_problem("{type: free, free_axes: [1]}", 37, ".free_axes: expected a text, got 1: put it in quotes");
  expect_joint_problem("{type: ball, damping: [1, 2]}", 34,
                       ".damping: expected 3 numbers, one per degree of freedom, got 2");
  expect_joint_problem("{type: ball, damping: -1}", 34, ".damping: must be >= 0 N s/m or N m s/rad, got -1");
  expect_joint_problem("{type: ball, swing: 3.2}", 32, ".swing: must be below pi rad, got 3.2 (angles are in radians)");
  expect_joint_problem("{type: ball, swing: 1, twist: [-1, 4]}", 42,
                       ".twist: a limit of twist must lie between -pi and pi, got 4");
  expect_joint_problem("{type: ball, twist: [-1, 1]}", 32,
                       ".twist: needs 'swing', because twist is undefined at a swing of pi: give 'swing' below pi");
  expect_joint_problem(
      "{type: ball, limits: [-1, 1]}", 33,
      ".limits: a ball joint has only an upper limit, on its total rotation angle: write [null, high]");
  expect_joint_problem("{type: ball, limits: [null, 4]}", 33,
                       ".limits: the limit of a ball joint's total rotation angle must lie between 0 and pi, got 4");
  expect_joint_problem("{type: ball, limits: [[null, 1], [null, 1], null]}", 45,
                       ".limits[1]: must be null: a ball joint has one limit only, on its total angle of rotation");
  expect_joint_problem("{type: free, limits: [-1, 1]}", 33,
                       ".limits: the joint has translations and rotations: give a list of pairs, one pair or null per "
                       "degree of freedom");
  expect_joint_problem(
      "{type: free, limits: [null, [1, 1]]}", 33,
      ".limits: expected 4 pairs, one per degree of freedom (the rotation angle of a ball joint counts as one), got 2");
  expect_joint_problem("{type: slide, axis: [1, 0, 0], limits: [1]}", 51,
                       ".limits: expected a pair [low, high], got 1 values");
  expect_joint_problem("{type: slide, axis: [1, 0, 0], limits: [1, x]}", 55, ".limits: expected a number, got 'x'");
  expect_joint_problem("{type: slide, axis: [1, 0, 0], limits: [[1, 1]]}", 52,
                       ".limits[0]: the lower limit must be below the upper limit, got [1, 1]");
  expect_joint_problem("{type: slide, axis: [1, 0, 0], limits: {}}", 51,
                       ".limits: expected a pair [low, high], or a list of pairs, got a map");
}

/* Problems that follow from a faulty joint are not reported in addition. */
static void a_broken_joint_brings_no_other_problem(void** state) {
  (void)state;
  expect_problems(
      "links: [{name: a, joint: {type: hing}, shape: {type: half_space}}]\n"
      "controllers: [{link: a, type: pd, position_gain: [1, 2], target: [1, 2, 3]}]\n"
      "initial: [{link: a, coordinates: [1, 2]}]\n",
      "1:33: error: links[0].joint.type: must be fixed, hinge, slide, universal, screw, planar, ball or free, got "
      "'hing' "
      "(did you mean 'hinge'?)\n");
}

static void springs_friction_and_armature(void** state) {
  (void)state;
  Scene scene = load(
      "links:\n"
      "  - {name: a, mass: 1, shape: {type: sphere, radius: 1}, joint: {type: universal, axes: [[1, 0, 0], [0, 1, 0]], "
      "stiffness: [1, 2], rest: 0.5, friction: 3, armature: [4, 5]}}\n"
      "  - {name: b, mass: 1, shape: {type: sphere, radius: 1}, joint: {type: ball, stiffness: 6, rest: [1, 2, 3]}}\n"
      "  - {name: c, mass: 1, shape: {type: sphere, radius: 1}, joint: {type: hinge, axis: [1, 0, 0], friction: 1, "
      "friction_speed: 0.01, static_friction: 2, stribeck_speed: 0.05}}\n");
  const SceneJoint* a = &scene.links[0].joint;
  compare_arrays(a->stiffness, (double[]){1, 2}, 2, 0, "springs");
  compare_arrays(a->rest, (double[]){0.5, 0.5}, 2, 0, "one rest for two");
  compare_arrays(a->friction, (double[]){3, 3}, 2, 0, "friction");
  compare_near(a->friction_speed, 1e-4, 0, "default width");
  compare_arrays(a->armature, (double[]){4, 5}, 2, 0, "armatures");
  compare_arrays(scene.links[1].joint.rest, (double[]){1, 2, 3}, 3, 0, "rotation vector");
  compare_near(scene.links[2].joint.friction_speed, 0.01, 0, "width");
  compare_near(scene.links[2].joint.static_friction[0], 2, 0, "static friction");
  compare_near(scene.links[2].joint.stribeck_speed, 0.05, 0, "Stribeck speed");
  Text text = {0};
  scene_write_yaml(&scene, ".", &text);
  Scene again = load(text.data);
  for (int k = 0; k < 3; k++) {
    const SceneJoint *x = &scene.links[k].joint, *y = &again.links[k].joint;
    compare_bytes(y->stiffness, x->stiffness, sizeof x->stiffness, "springs, %d", k);
    compare_bytes(y->rest, x->rest, sizeof x->rest, "rest, %d", k);
    compare_bytes(y->friction, x->friction, sizeof x->friction, "friction, %d", k);
    compare_bytes(y->static_friction, x->static_friction, sizeof x->static_friction, "static friction, %d", k);
    compare_bytes(y->armature, x->armature, sizeof x->armature, "armature, %d", k);
    compare_near(y->friction_speed, x->friction_speed, 0, "width, %d", k);
  }
  scene_free(&again);
  text_free(&text);
  scene_free(&scene);
}

static void mistakes_of_springs_are_told(void** state) {
  (void)state;
  expect_problems(
      "links:\n"
      "  - {name: a, mass: 1, shape: {type: sphere, radius: 1}, joint: {type: slide, axis: [1, 0, 0], rest: 1}}\n"
      "  - {name: b, mass: 1, shape: {type: sphere, radius: 1}, joint: {type: ball, friction: [1, 2, 1], armature: "
      "2}}\n"
      "  - {name: c, mass: 1, shape: {type: sphere, radius: 1}, joint: {type: slide, axis: [1, 0, 0], stiffness: "
      "-1}}\n",
      "2:96: error: links[0].joint: 'rest' (the rest position of a spring) needs 'stiffness': give both or "
      "neither\n3:78: warning: links[1].joint: a joint with three rotations has a single friction, so the mean of the "
      "numbers is used: give equal numbers\n3:99: error: links[1].joint: a joint with three rotations cannot have "
      "'armature': remove the key\n4:107: error: links[2].joint.stiffness: must be >= 0 N/m or N m/rad, got -1\n");
}

static void mistakes_of_static_friction_are_reported(void** state) {
  (void)state;
  expect_problems(
      "links:\n"
      "  - {name: a, mass: 1, shape: {type: sphere, radius: 1}, joint: {type: hinge, axis: [1, 0, 0], friction: 2,\n"
      "     static_friction: 1}}\n"
      "  - {name: b, mass: 1, shape: {type: sphere, radius: 1}, joint: {type: hinge, axis: [1, 0, 0],\n"
      "     stribeck_speed: 1}}\n"
      "  - {name: c, mass: 1, shape: {type: sphere, radius: 1}, joint: {type: ball,\n"
      "     static_friction: 1}}\n"
      "  - {name: d, mass: 1, shape: {type: sphere, radius: 1}, joint: {type: hinge, axis: [1, 0, 0], static_friction: "
      "1,\n"
      "     stribeck_speed: 1.0e-5}}\n",
      "3:6: error: links[0].joint: 'static_friction' 1 is below 'friction' 2: raise 'static_friction', or set 0 to use "
      "'friction' at every rate\n5:6: error: links[1].joint: 'stribeck_speed' needs 'static_friction': give both or "
      "neither\n7:6: error: links[2].joint: a joint with three rotations cannot have 'static_friction': give only "
      "'friction'\n9:6: error: links[3].joint: 'stribeck_speed' 1e-05 is below 'friction_speed' 0.0001, the rate over "
      "which friction is smoothed: raise 'stribeck_speed', or lower 'friction_speed'\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(springs_friction_and_armature),
      cmocka_unit_test(mistakes_of_springs_are_told),
      cmocka_unit_test(mistakes_of_static_friction_are_reported),
      cmocka_unit_test(axes_are_made_unit),
      cmocka_unit_test(free_axes_are_bits),
      cmocka_unit_test(a_root_is_free_or_fixed),
      cmocka_unit_test(limits_have_many_forms),
      cmocka_unit_test(limits_have_a_law),
      cmocka_unit_test(mistakes_are_told),
      cmocka_unit_test(a_broken_joint_brings_no_other_problem),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
