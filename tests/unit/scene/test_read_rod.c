#include "scene_round_trip.h"
#include "scene_testing.h"

#define PI 3.14159265358979323846

static const char CORNER[] =
    "rods:\n"
    "  - {name: rope, points: [[0, 0, 0], [2, 0, 0], [2, 0, 1]], segments: 6, radius: 0.1, young: 8.0e5, shear: 3.0e5, "
    "density: 1000, damping: 0.25, friction: 0.5, from: {}, to: {link: ball, type: pinned}}\n"
    "links:\n"
    "  - {name: ball, mass: 1, position: [2, 0, 1.5], shape: {type: sphere, radius: 0.5}}\n"
    "  - {name: hook, mass: 1, parent: rope_5, fixed: true, shape: {type: sphere, radius: 0.1}}\n";

/* Six links of 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 m: four before the corner and two behind it. */
static void links_and_springs(void** state) {
  (void)state;
  Scene scene = load(CORNER);
  assert_int_equal(scene.link_count, 8);
  assert_string_equal(scene.links[5].name, "rope_5");
  assert_string_equal(scene.links[5].groups[0], "rope");
  assert_int_equal(scene.links[7].parent, 5);
  compare_near(scene.links[0].mass, 1000 * PI * 0.01 * 0.5, 1e-12, "mass of a segment");
  compare_near(scene.links[0].inertia[0], scene.links[0].mass * (0.03 + 0.25) / 12, 1e-14, "its inertia");
  compare_vec3(scene.links[4].joint.position, vec3(2, 0, 0.25), 1e-15, "middle of the fifth segment");
  compare_near(scene.shapes[scene.links[4].shapes[0].shape].length, 0.5, 1e-15, "its length");
  compare_near(scene.links[4].material.value[MATERIAL_FRICTION], 0.5, 0, "its friction");

  assert_int_equal(scene.bushing_count, 7);
  const double area = PI * 0.01, second = PI * 1e-4 / 4, share[2] = {0.5, 0.25};
  const SceneBushing *inner = &scene.bushings[0], *from = &scene.bushings[5], *to = &scene.bushings[6];
  for (int end = 0; end < 2; end++) {
    const SceneBushing* b = end ? from : inner;
    compare_near(b->stiffness[0][0], 0.9 * 3e5 * area / share[end], 1e-6, "shear");
    compare_near(b->stiffness[2][2], 8e5 * area / share[end], 1e-6, "stretching");
    compare_near(b->stiffness[4][4], 8e5 * second / share[end], 1e-9, "bending");
    compare_near(b->stiffness[5][5], 3e5 * 2 * second / share[end], 1e-9, "torsion");
    compare_near(b->damping[5][5], 0.25 * b->stiffness[5][5], 1e-12, "damping");
  }
  compare_near(to->stiffness[4][4], 0, 0, "a pinned end does not bend");
  assert_int_equal(from->link[1], -1);
  assert_int_equal(to->link[1], 6);
  compare_vec3(to->position[1], vec3(0, 0, -0.5), 1e-15, "the end seen from the ball");

  const char* fault = round_trip_fault(&scene);
  if (fault) fail_msg("written and read again: %s", fault);
  scene_free(&scene);
}

/* Frames of the bushings agree at the start: without stress along the points. With `rest: straight` those of the corner
 * are a right angle apart. */
static double corner_angle(const char* rest) {
  Text text = {0};
  text_add(&text,
           "rods: [{name: r, points: [[0, 0, 0], [0, 1, 0], [0, 1, -1]], segments: 2, radius: 0.1, young: 1, "
           "density: 1, rest: %s}]\n",
           rest);
  Scene scene = load(text.data);
  const SceneBushing* b = scene.bushings;
  Quat side[2];
  for (int k = 0; k < 2; k++) side[k] = quat_mul(scene.links[b->link[k]].joint.rotation, b->rotation[k]);
  double angle = vec3_norm(quat_log(quat_mul(quat_conjugate(side[0]), side[1])));
  scene_free(&scene);
  text_free(&text);
  return angle;
}

static void rest_shape(void** state) {
  (void)state;
  compare_near(corner_angle("points"), 0, 1e-15, "rest at the points");
  compare_near(corner_angle("straight"), PI / 2, 1e-14, "rest straight");
}

/* Shear modulus for a Poisson's ratio of 0.3, sixteen segments, downwards. */
static void defaults(void** state) {
  (void)state;
  Scene scene = load("rods: [{name: r, points: [[0, 0, 0], [0, 0, -1]], radius: 0.01, young: 1.3e6, density: 1}]\n");
  assert_int_equal(scene.link_count, 16);
  assert_int_equal(scene.bushing_count, 15);
  compare_near(scene.bushings[0].stiffness[5][5], 0.5e6 * PI * 1e-8 / 2 * 16, 1e-9, "torsion");
  Vec3 along = mat3_mul_vec(mat3_from_quat(scene.links[3].joint.rotation), vec3(0, 0, 1));
  compare_vec3(along, vec3(0, 0, -1), 1e-15, "z along the rod");
  /* 1/16 m segments of radius 10 mm: only neighbours are left out of contact */
  assert_int_equal(scene.contact.exclude_count, 15);
  scene_free(&scene);
}

/* The end follows the link to where `initial` puts it. */
static void end_on_a_moved_link(void** state) {
  (void)state;
  Scene scene = load(
      "rods: [{name: r, points: [[3, 0, 0], [3, 0, 1]], segments: 1, radius: 0.01, young: 1, density: 1, from: {link: "
      "cart}}]\n"
      "links: [{name: cart, mass: 1, joint: {type: slide, axis: [1, 0, 0], position: [0, 0, -1]}, shape: {type: "
      "sphere, radius: 0.1}}]\n"
      "initial: [{link: cart, coordinates: [2]}]\n");
  compare_vec3(scene.bushings[0].position[1], vec3(1, 0, 1), 1e-15, "the end seen from the cart");
  scene_free(&scene);
}

static void expect_errors(const char* text, const char* wanted) {
  Scene scene;
  Diagnostics diagnostics = {0};
  assert_int_equal(parse_with(&scene, &diagnostics, text, NULL), STATUS_BAD_INPUT);
  char* found = told(&diagnostics);
  assert_string_equal(found, wanted);
  memory_free(found);
  diagnostics_free(&diagnostics);
  scene_free(&scene);
}

static void mistakes(void** state) {
  (void)state;
  expect_errors("rods: [{name: r, points: [[0, 0, 0]], radius: 1, young: 1, density: 1}]\n",
                "1:26: error: rods[0].points: a rod needs at least 2 points, got 1\n");
  expect_errors("rods: [{name: r, points: [[0, 0, 0], [0, 0, 0]], radius: 1, young: 1, density: 1}]\n",
                "1:38: error: rods[0].points[1]: the point equals the previous point: remove one of the two\n");
  expect_errors("rods: [{name: r, points: [[0, 0, 0], [0, 0, 1], [0, 0, 0]], radius: 1, young: 1, density: 1}]\n",
                "1:26: error: rods[0]: the rod reverses its direction at (0, 0, 1): add points so that the rod bends "
                "by less than half a turn\n");
  expect_errors("rods: [{name: r, points: [[0, 0, 0], [0, 0, 1]], radius: 1, young: 1, density: 1, from: {link: a}}]\n",
                "1:96: error: rods[0].from.link: no link is named 'a'\n");
  expect_errors(
      "rods: [{name: r, points: [[0, 0, 0], [0, 0, 1]], radius: 1, young: 1, density: 1, from: {link: r_0}}]\n",
      "1:89: error: rods[0].from: a rod cannot end on its own segment: name another link, or world\n");
  expect_errors(
      "rods: [{name: r, points: [[0, 0, 0], [0, 0, 1]], radius: 1, young: 1, density: 1, from: {link: c}}]\n"
      "links: [{name: c, mass: 1, joint: {type: slide, axis: [1, 0, 0]}, shape: {type: sphere, radius: 1}}]\n"
      "controllers: [{type: prescribed, link: c, target: 1}]\n",
      "1:89: error: rods[0].from: a signal sets the start position of 'c': give the same coordinates in `initial`, so "
      "that the rod is attached there\n");
  /* the signal has no values, which is reported where it stands */
  expect_errors(
      "rods: [{name: r, points: [[0, 0, 0], [0, 0, 1]], radius: 1, young: 1, density: 1, from: {link: c}}]\n"
      "links: [{name: c, mass: 1, joint: {type: slide, axis: [1, 0, 0]}, shape: {type: sphere, radius: 1}}]\n"
      "controllers: [{type: prescribed, link: c, target: {type: keyframes, times: [0, 1]}}]\n",
      "3:51: error: controllers[0].target: 'values' is missing: give a list of numbers, or of lists of numbers [m, "
      "rad, N ...]\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(links_and_springs),   cmocka_unit_test(rest_shape), cmocka_unit_test(defaults),
      cmocka_unit_test(end_on_a_moved_link), cmocka_unit_test(mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
