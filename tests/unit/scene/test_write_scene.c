#include <stdlib.h>
#include <unistd.h>
#include "scene/reader.h"
#include "scene/task.h"
#include "scene_difference.h"
#include "scene_testing.h"

static Scene read_back(const Text* yaml, const char* path) {
  Scene scene;
  Diagnostics diagnostics = {0};
  if (scene_parse(&scene, path, yaml->data, yaml->length, false, NULL, 0, &diagnostics) != STATUS_OK) {
    char* found = told(&diagnostics);
    fail_msg("the written text\n%s\nis refused:\n%s", yaml->data, found);
  }
  diagnostics_free(&diagnostics);
  return scene;
}

/* The same scene, and writing it again gives the same text. */
static void expect_round_trip(const Scene* scene) {
  Text first = {0}, second = {0};
  scene_write_yaml(scene, "folder", &first);
  Scene again = read_back(&first, "folder/again.yaml");
  const char* difference = scene_difference(scene, &again);
  if (difference) fail_msg("%s differs after writing\n%s", difference, first.data);
  scene_write_yaml(&again, "folder", &second);
  assert_string_equal(second.data, first.data);
  scene_free(&again);
  text_free(&first);
  text_free(&second);
}

static void expect_text_round_trip(const char* text) {
  Scene scene = load(text);
  expect_round_trip(&scene);
  scene_free(&scene);
}

/* ---------------------------------------------------------------- each part */

static void settings_come_back(void** state) {
  (void)state;
  expect_text_round_trip(
      "name: \"a: b\"\n"
      "simulation: {dt: 0.0033, duration: 1, gravity: [0.1, -0.0, -9.81], integrator: second_order, tolerance: 1e-7,\n"
      "  max_iterations: 7, certificate: false, record_every: 3, substeps: 4, output: [velocities, contact_points]}\n"
      "contact: {model: none, barrier_distance: 1e-3, stiffness: 3.3e-9, smoothing: 0.7e-6, friction: 0.1,\n"
      "  exclude: [[a, b c], [a, g]], pairs: [{a: b c, b: g, friction: 0.7}, {a: d, b: a, friction: 0, restitution: "
      "0.3}, {a: a, b: d, model: ipc, barrier_distance: 0.003, stiffness: 3.1e4, far: 1e-6}, {a: d, b: g, model: "
      "long_range, "
      "blend: 0.3, hierarchy: false}]}\n"
      "links:\n"
      "  - {name: a, mass: 1, shape: {type: sphere, radius: 0.1}, friction: 0.9, restitution: 0}\n"
      "  - {name: b c, mass: 1, shape: {type: sphere, radius: 0.1}, groups: [g, \"5\"], color: \"#123456\"}\n"
      "  - {name: d, density: 300, shape: {type: sphere, radius: 0.1}, color: [0, 0.3, 1], collide: false}\n");
  expect_text_round_trip("links: []\n");
}

static void shapes_come_back(void** state) {
  (void)state;
  expect_text_round_trip(
      "shapes:\n"
      "  \"odd: name\": {type: box, size: [0.1, 0.2, 0.3]}\n"
      "  shape0: {type: sphere, radius: 0.1, resolution: 3}\n"
      "  c: {type: cylinder, radius: 0.1, length: 0.7, segments: 5}\n"
      "  d: {type: capsule, radius: 0.1, length: 0.7}\n"
      "  e: {type: rounded_box, radius: 0.1, size: [0, 1, 2]}\n"
      "  e3: {type: rounded_points, radius: 0.1, points: [[0, 0.3333333333333333, 0], [0, 0, 1]]}\n"
      "  e4: {type: rounded_points, radius: 0.1, segments: 24, points: [[0, 0, 0]]}\n"
      "  e24: {type: rounded_box, radius: 0.1, size: [0, 1, 2], segments: 24}\n"
      "  f: {type: points, points: [[0, 0, 0], [0.1, 0, 0], [0, 0.3333333333333333, 0], [0, 0, 1]]}\n"
      "  g: {type: half_space, normal: [0, 0.3, 2], offset: -0.7}\n"
      "  h: {type: mesh, file: h.obj, scale: 0.01, decompose: {}}\n"
      "  i: {type: mesh, file: h.obj, decompose: {max_hulls: 3, max_vertices: 9, error: 0.07, resolution: 77, "
      "symmetry: "
      "y}}\n"
      "  j: {type: mesh, file: h.obj, decompose: {grid: [2, 3, 4], symmetry: none}}\n"
      "links:\n"
      "  - {name: ground, fixed: true, shape: g}\n"
      "  - name: all\n"
      "    mass: 1\n"
      "    shapes: [\"odd: name\", c, {shape: d, position: [1, 2, 3], rotation_vector: [0.1, 0.2, 0.3]}, e, f,\n"
      "      {type: box, size: [1, 1, 1], rpy: [1, 2, 3]}, {shape: shape0, rotation: [0.7071, 0, 0.7071, 0]}]\n");
}

static void joints_come_back(void** state) {
  (void)state;
  expect_text_round_trip(
      "shapes: {s: {type: sphere, radius: 0.1}}\n"
      "links:\n"
      "  - {name: a, fixed: true, position: [1, 2, 3], rpy: [0.3, 0.2, 0.1]}\n"
      "  - {name: b, parent: a, shape: s, mass: 1, joint: {type: hinge, axis: [1, 2, 3], limits: [-1, 0.5],\n"
      "      damping: 0.3, rotation_vector: [1, 2, 3]}}\n"
      "  - {name: c, parent: b, shape: s, mass: 1, joint: {type: slide, axis: [0, -7, 0], limits: [null, 0.5],\n"
      "      limit_law: penalty, limit_margin: 0.3}}\n"
      "  - {name: d, parent: c, shape: s, mass: 1, joint: {type: universal, axes: [[1, 1, 0], [0, 3, 1]],\n"
      "      limits: [null, [-0.1, 0.1]], limit_stiffness: 7, damping: [0, 2]}}\n"
      "  - {name: e, parent: d, shape: s, mass: 1, joint: {type: ball, limits: [null, 3], swing: 1.5, twist: [-2, "
      "null], "
      "twist_axis: [0, 3, 4], limit_margin: 0.01}}\n"
      "  - {name: f, shape: s, mass: 1, joint: {type: free, limits: [[-1, 1], null, [0, null], [null, 2]]}}\n"
      "  - {name: g, shape: s, mass: 1, joint: {type: free, free_axes: [x, rz, ry], limit_law: penalty}}\n"
      "  - {name: h, parent: g, fixed: true, mass: 2, center: [1, 2, 3], inertia: [1, 2, 2.5, 0.1, 0, -0.1]}\n"
      "  - {name: \"i{i}\", shape: s, mass: 1, mass_model: uniform, joint: {type: hinge, axis: [0, 0, 1],\n"
      "      position: [1, 0, 0]}, repeat: {count: 7, rotation_vector: [0.1, 0.2, 0.3], around: [0, 0, 1]}}\n");
}

static void controllers_and_starts_come_back(void** state) {
  (void)state;
  expect_text_round_trip(
      "links:\n"
      "  - {name: \"u{i}\", shape: {type: sphere, radius: 0.1}, mass: 1, joint: {type: universal,\n"
      "      axes: [[1, 0, 0], [0, 1, 0]]}, repeat: {count: 6}}\n"
      "  - {name: h, shape: {type: sphere, radius: 0.1}, mass: 1, joint: {type: hinge, axis: [1, 0, 0]}}\n"
      "  - {name: b, shape: {type: sphere, radius: 0.1}, mass: 1, joint: {type: ball}}\n"
      "  - {name: f, shape: {type: sphere, radius: 0.1}, mass: 1}\n"
      "  - {name: f2, shape: {type: sphere, radius: 0.1}, mass: 1}\n"
      "controllers:\n"
      "  - {link: u0, type: pd, position_gain: 10, target: [0.1, 0.2]}\n"
      "  - {link: u1, type: pd, position_gain: [10, 0], velocity_gain: 3, target: {type: keyframes, times: [0, 1.5],\n"
      "      values: [[0, 0], [0.5, 0.1]]}}\n"
      "  - {link: u2, type: pd, position_gain: 1, target: {type: spline, duration: 0.7, values: [[0, 0], [1, 2], [3, "
      "4],\n"
      "      [5, 6]]}}\n"
      "  - {link: u3, type: pd, position_gain: 1, target: {type: sines, offset: [1, 2], ramp: 0.3, terms: "
      "[[{amplitude: 1,\n"
      "      frequency: 2, phase: 3}, {amplitude: 1, frequency: 0}], []]}}\n"
      "  - {link: u4, type: prescribed, target: {type: sequence, interval: 0.3, values: [[1, 2], [3, 4]]}}\n"
      "  - {link: u5, type: pd, position_gain: 1, target: {type: sines, terms: [[], []]}}\n"
      "  - {link: f, type: prescribed, velocity: [1, 2, 3, 4, 5, 6]}\n"
      "  - {link: h, type: velocity, damping_gain: 1, target: 0, delay: 0.1}\n"
      "  - {link: u0, type: torque, target: 0, feedback: {measures: [u0/angle1, h/angle/rate, f2/zx], matrix: [[1, 2, "
      "3], [4, 5, 1.0e-17]]}}\n"
      "  - {link: u0, type: torque, target: 0, feedback: {type: mlp, measures: [h/angle, f2/zx], layers: [3, 2], "
      "scale: "
      "0.1, seed: 3}}\n"
      "  - {link: h, type: pd, position_gain: 1, target: {type: keyframes, times: [1], values: [2]}}\n"
      "  - {link: b, type: pd, position_gain: 1, target: 0.25}\n"
      "initial:\n"
      "  - {link: h, coordinates: [0.1], velocities: [-0.0]}\n"
      "  - {link: b, velocities: [1, 2, 3]}\n"
      "  - {link: f, coordinates: [1, 2, 3, 0.1, 0.2, 0.3]}\n"
      "  - {link: f2, coordinates: [1, 2, 3, 0.5, 0.5, 0.5, 0.5001]}\n"
      "  - {link: u0}\n");
}

/* JSON allows names of shapes that are not valid YAML keys. */
static void strange_names_of_shapes_are_replaced(void** state) {
  (void)state;
  static const char JSON[] =
      "{\"shapes\": {\"<<\": {\"type\": \"sphere\", \"radius\": 1}, \"shape0\": {\"type\": \"sphere\", \"radius\": "
      "2},\n"
      "\"\\u2028\": {\"type\": \"sphere\", \"radius\": 3}},\n"
      "\"links\": [{\"name\": \"a\", \"mass\": 1, \"shapes\": [\"<<\", \"shape0\", \"\\u2028\", {\"type\": "
      "\"sphere\", \"radius\": 4}]}]}";
  Scene scene;
  Diagnostics diagnostics = {0};
  assert_int_equal(scene_parse(&scene, "t.json", JSON, sizeof JSON - 1, true, NULL, 0, &diagnostics), STATUS_OK);
  expect_round_trip(&scene);
  scene_free(&scene);
}

/* ---------------------------------------------------------------- unit vectors */

/* A vector normalised once is not touched again: any number of times through writing and reading. */
static void unit_vectors_keep_their_bits(void** state) {
  (void)state;
  Random random = {5};
  for (int trial = 0; trial < 300; trial++) {
    Text text = {0};
    double v[8];
    for (int i = 0; i < 8; i++) v[i] = random_normal(&random) * pow(10, random_uniform(&random, -3, 3));
    Quat q = quat_exp(vec3(v[0], v[1], v[2]));
    text_add(&text, "links: [{name: a, fixed: true, joint: {type: fixed, rotation: [%.4f, %.4f, %.4f, %.4f]}}, ", q.w,
             q.x, q.y, q.z);
    text_add(&text, "{name: b, mass: 1, shape: {type: sphere, radius: 1, rpy: [%.17g, %.17g, %.17g]}, ", v[3], v[4],
             v[5]);
    text_add(&text, "joint: {type: universal, axes: [[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g]]}}]\n", v[0], v[1],
             v[2], v[5], v[6], v[7]);
    Scene scene = load(text.data);
    expect_round_trip(&scene);
    scene_free(&scene);
    text_free(&text);
  }
}

static void lengths_that_were_typed_are_normalised(void** state) {
  (void)state;
  assert_true(is_unit_length(1 + 1e-15) && is_unit_length(1 - 1e-15));
  assert_false(is_unit_length(1 + 1e-12) || is_unit_length(1 - 1e-12) || is_unit_length((double)NAN));
  Scene scene = load(
      "links: [{name: a, fixed: true, rotation: [0.70710678, 0, 0.70710678, 0]}, {name: b, mass: 1, shape: {type: "
      "sphere, radius: 1}, joint: {type: hinge, axis: [0.57735027, 0.57735027, 0.57735027]}}]\n");
  Quat q = scene.links[0].joint.rotation;
  compare_near(sqrt(q.w * q.w + q.y * q.y), 1, 3e-16, "length of the quaternion");
  compare_near(vec3_norm(scene.links[1].joint.axes[0]), 1, 3e-16, "length of the axis");
  scene_free(&scene);
}

/* ---------------------------------------------------------------- meshes, contact */

static void paths_of_meshes_are_seen_from_the_folder(void** state) {
  (void)state;
  static const char MESH[] = "shapes: {m: {type: mesh, file: sub/m.obj, hulls: groups, max_vertices: 9}}\nlinks: []\n";
  char base[] = "/tmp/sdrs-write-XXXXXX", *start = getcwd(NULL, 0);
  assert_non_null(mkdtemp(base));
  assert_int_equal(chdir(base), 0);
  assert_int_equal(file_make_folder("scenes/sub"), STATUS_OK);
  assert_int_equal(file_make_folder("out/run"), STATUS_OK);
  assert_int_equal(file_write("scenes/sub/m.obj", "#", 1), STATUS_OK);
  Scene scene;
  Diagnostics diagnostics = {0};
  assert_int_equal(scene_parse(&scene, "scenes/t.yaml", MESH, sizeof MESH - 1, false, NULL, 0, &diagnostics),
                   STATUS_OK);
  Text yaml = {0};
  scene_write_yaml(&scene, "out/run", &yaml);
  assert_non_null(strstr(yaml.data, "file: \"../../scenes/sub/m.obj\""));
  Scene again = read_back(&yaml, "out/run/best.scene.yaml");
  assert_true(file_exists(again.shapes[0].file));
  assert_null(scene_difference(&scene, &again));
  text_free(&yaml);
  memory_free(scene.shapes[0].file);
  scene.shapes[0].file = memory_copy_text("/elsewhere/m.obj");
  scene_write_yaml(&scene, "out/run", &yaml);
  assert_non_null(strstr(yaml.data, "file: \"/elsewhere/m.obj\""));
  assert_int_equal(unlink("scenes/sub/m.obj") + rmdir("scenes/sub") + rmdir("scenes") + rmdir("out/run") + rmdir("out"),
                   0);
  assert_int_equal(chdir(start) + rmdir(base), 0);
  free(start);
  text_free(&yaml);
  scene_free(&scene);
  scene_free(&again);
}

static void derived_contact_can_be_given(void** state) {
  (void)state;
  Scene scene = load("links:\n" BALL_LINK);
  scene_set_contact_parameters(&scene, 0.001, 1.0 / 3e8, 1e-7);
  Text yaml = {0};
  scene_write_yaml(&scene, "folder", &yaml);
  Scene again = read_back(&yaml, "t.yaml");
  compare_near(again.contact.support, 0.001, 0, "support");
  compare_near(again.contact.stiffness, 1.0 / 3e8, 0, "stiffness");
  compare_near(again.contact.smoothing, 1e-7, 0, "smoothing");
  text_free(&yaml);
  scene_free(&scene);
  scene_free(&again);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(settings_come_back),
      cmocka_unit_test(shapes_come_back),
      cmocka_unit_test(joints_come_back),
      cmocka_unit_test(controllers_and_starts_come_back),
      cmocka_unit_test(strange_names_of_shapes_are_replaced),
      cmocka_unit_test(unit_vectors_keep_their_bits),
      cmocka_unit_test(lengths_that_were_typed_are_normalised),
      cmocka_unit_test(paths_of_meshes_are_seen_from_the_folder),
      cmocka_unit_test(derived_contact_can_be_given),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
