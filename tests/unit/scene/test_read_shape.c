#include "scene_testing.h"

static void every_type_of_shape_is_read(void** state) {
  (void)state;
  Scene scene = load(
      "shapes:\n"
      "  a: {type: box, size: [0.1, 0.2, 0.3]}\n"
      "  b: {type: sphere, radius: 0.5, resolution: 3}\n"
      "  c: {type: cylinder, radius: 0.1, length: 0.4}\n"
      "  d: {type: capsule, radius: 0.1, length: 0.4, segments: 8}\n"
      "  e: {type: rounded_box, radius: 0.1, size: [0, 0, 0.5]}\n"
      "  f: {type: points, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]}\n"
      "  g: {type: mesh, file: parts/x.obj, scale: 0.001, hulls: groups, max_vertices: 64}\n"
      "  h: {type: mesh, file: /abs/x.obj}\n"
      "  i: {type: half_space, normal: [0, 1, 1], offset: -0.5}\n"
      "  j: {type: capsule, radius: 0.1, length: 0.4}\n"
      "links: []\n");
  const SceneShape* shapes = scene.shapes;
  assert_int_equal(scene.shape_count, 10);
  for (int i = 0; i < 10; i++) assert_int_equal(shapes[i].name[0], 'a' + i);
  static const ShapeType TYPES[] = {SHAPE_BOX,         SHAPE_SPHERE, SHAPE_CYLINDER, SHAPE_CAPSULE,
                                    SHAPE_ROUNDED_BOX, SHAPE_POINTS, SHAPE_MESH};
  for (int i = 0; i < 7; i++) assert_int_equal(shapes[i].type, TYPES[i]);
  compare_vec3(shapes[0].size, vec3(0.1, 0.2, 0.3), 0, "size");
  assert_int_equal(shapes[1].resolution, 3);
  compare_near(shapes[1].radius, 0.5, 0, "radius");
  assert_int_equal(shapes[2].segments, 16);
  assert_int_equal(shapes[3].segments, 8);
  assert_int_equal(shapes[9].segments, 12);
  compare_near(shapes[3].length, 0.4, 0, "length");
  assert_int_equal(shapes[5].point_count, 5);
  compare_vec3(shapes[5].points[4], vec3(1, 1, 1), 0, "point");
  assert_string_equal(shapes[6].file, "folder/parts/x.obj");
  assert_string_equal(shapes[7].file, "/abs/x.obj");
  compare_near(shapes[6].scale, 0.001, 0, "scale");
  assert_true(shapes[6].hull_per_group && !shapes[7].hull_per_group);
  assert_int_equal(shapes[6].max_vertices, 64);
  assert_int_equal(shapes[7].max_vertices, 0);
  compare_near(shapes[7].scale, 1, 0, "scale");
  compare_vec3(shapes[8].normal, vec3(0, 1, 1), 0, "normal");
  compare_near(shapes[8].offset, -0.5, 0, "offset");
  assert_int_equal(shapes[8].place.line, 10);
  assert_int_equal(shapes[8].place.column, 6);
  assert_string_equal(shapes[8].place.file, "folder/test.yaml");
  scene_free(&scene);
}

/* Contact uses the exact ball or capsule, unless a number of vertices is given. The scene writer does the same. */
static void round_solids_are_exact_without_a_resolution(void** state) {
  (void)state;
  Scene scene = load(
      "shapes:\n"
      "  ball: {type: sphere, radius: 1}\n"
      "  stone: {type: sphere, radius: 1, resolution: 2}\n"
      "  pill: {type: capsule, radius: 1, length: 2}\n"
      "  bolt: {type: capsule, radius: 1, length: 2, segments: 6}\n"
      "  drum: {type: cylinder, radius: 1, length: 2}\n"
      "  prism: {type: cylinder, radius: 1, length: 2, segments: 16}\n"
      "  tyre: {type: wheel, radius: 1, width: 0.5, rim: 0.2}\n"
      "  coin: {type: disc, radius: 1, rim: 0.1}\n"
      "  tip: {type: cone, length: 2, bottom_radius: 1, top_radius: 0}\n"
      "links: []\n");
  static const bool EXACT[] = {true, false, true, false, true, false, true, true, true};
  for (int k = 0; k < 9; k++) assert_int_equal(shape_is_exact(&scene.shapes[k]), EXACT[k]);
  Text text = {0};
  scene_write_yaml(&scene, "folder", &text);
  assert_non_null(strstr(text.data, "ball: {type: sphere, radius: 1}"));
  assert_non_null(strstr(text.data, "pill: {type: capsule, radius: 1, length: 2}"));
  assert_non_null(strstr(text.data, "bolt: {type: capsule, radius: 1, length: 2, segments: 6}"));
  assert_non_null(strstr(text.data, "drum: {type: cylinder, radius: 1, length: 2}"));
  assert_non_null(strstr(text.data, "prism: {type: cylinder, radius: 1, length: 2, segments: 16}"));
  assert_non_null(strstr(text.data, "tyre: {type: wheel, radius: 1, width: 0.5, rim: 0.2}"));
  assert_non_null(strstr(text.data, "coin: {type: disc, radius: 1, rim: 0.1}"));
  assert_non_null(strstr(text.data, "tip: {type: cone, length: 2, bottom_radius: 1, top_radius: 0}"));
  text_free(&text);
  scene_free(&scene);
}

static void wheels_that_are_none_are_refused(void** state) {
  (void)state;
  expect_problems(
      "shapes:\n"
      "  a: {type: wheel, radius: 0.1, width: 0.05, rim: 0.1}\n"
      "  b: {type: disc, radius: 0.1, rim: 0.2}\n"
      "links: []\n",
      "2:6: error: shapes.a: 'rim' 0.1 m must be below the radius 0.1 m: reduce 'rim', or use type: sphere\n"
      "2:6: error: shapes.a: 'width' 0.05 m must be above twice the rim 0.1 m: increase 'width', or use type: disc\n"
      "3:6: error: shapes.b: 'rim' 0.2 m must be below the radius 0.1 m: reduce 'rim', or use type: sphere\n");
}

/* One point is enough, and a radius is needed. */
static void rounded_points_are_read(void** state) {
  (void)state;
  Scene scene = load(
      "shapes:\n"
      "  foot: {type: rounded_points, radius: 0.02, points: [[0, 0, 0], [1, 0, 2]]}\n"
      "  ball: {type: rounded_points, radius: 0.03, points: [[0, 0, 1]], segments: 24}\n"
      "links: []\n");
  const SceneShape* shapes = scene.shapes;
  for (int k = 0; k < 2; k++) assert_int_equal(shapes[k].type, SHAPE_ROUNDED_POINTS);
  assert_true(shape_is_exact(&shapes[0]) && !shape_is_exact(&shapes[1]));
  assert_int_equal(shapes[0].point_count, 2);
  assert_int_equal(shapes[0].segments, 16);
  assert_int_equal(shapes[1].segments, 24);
  compare_vec3(shapes[0].points[1], vec3(1, 0, 2), 0, "point");
  compare_near(shapes[0].radius, 0.02, 0, "radius");
  scene_free(&scene);
  expect_problems(
      "shapes:\n"
      "  a: {type: rounded_points, radius: 0, points: [[0, 0, 0]]}\n"
      "  b: {type: rounded_points, radius: 1, points: []}\n"
      "  c: {type: rounded_points, radius: 1, points: [[0, 0, .inf]]}\n"
      "  d: {type: rounded_points, points: [[0, 0, 0]]}\n"
      "  e: {type: rounded_points, radius: 1}\n"
      "  f: {type: rounded_points, radius: 1, points: [[0, 0, 0]], pieces: triangles}\n"
      "links: []\n",
      "2:37: error: shapes.a.radius: must be > 0 m, got 0\n3:48: error: shapes.b.points: a rounded solid needs at "
      "least one point, got 0\n4:56: error: shapes.c.points[0][2]: must be a finite number, got .inf\n5:6: error: "
      "shapes.d: 'radius' is missing: give a number [m]\n6:6: error: shapes.e: 'points' is missing: give a list of "
      "points [m]\n7:61: error: shapes.f: the type rounded_points has no key 'pieces': remove the key, or use type "
      "mesh or points\n");
}

static void options_of_a_decomposition_are_read(void** state) {
  (void)state;
  Scene scene = load(
      "shapes:\n"
      "  a: {type: mesh, file: x.obj, decompose: {}}\n"
      "  b: {type: mesh, file: x.obj, decompose: {max_hulls: 5, max_vertices: 12, error: 0.25, resolution: 300, "
      "symmetry: xz}}\n"
      "  c: {type: mesh, file: x.obj, decompose: {grid: [2, 3, 4], symmetry: none}}\n"
      "  d: {type: mesh, file: x.obj}\n"
      "links: []\n");
  const DecomposeOptions *a = &scene.shapes[0].decomposition, *b = &scene.shapes[1].decomposition;
  const DecomposeOptions* c = &scene.shapes[2].decomposition;
  assert_true(scene.shapes[0].decompose && scene.shapes[2].decompose && !scene.shapes[3].decompose);
  assert_true(a->max_hulls == 16 && a->max_vertices == 64 && a->resolution == 1200 && a->grid[0] == 0);
  compare_near(a->error, 1e-3, 0, "error");
  assert_true(a->symmetry_auto && !a->symmetry[0]);
  assert_true(b->max_hulls == 5 && b->max_vertices == 12 && b->resolution == 300);
  compare_near(b->error, 0.25, 0, "error");
  assert_true(!b->symmetry_auto && b->symmetry[0] && !b->symmetry[1] && b->symmetry[2]);
  assert_true(c->grid[0] == 2 && c->grid[1] == 3 && c->grid[2] == 4);
  assert_true(!c->symmetry_auto && !c->symmetry[0] && !c->symmetry[1] && !c->symmetry[2]);
  scene_free(&scene);
}

static Mat3 turn(int axis, double angle) {
  Mat3 r = mat3_identity();
  int a = (axis + 1) % 3, b = (axis + 2) % 3;
  r.m[a][a] = r.m[b][b] = cos(angle);
  r.m[a][b] = -sin(angle);
  r.m[b][a] = sin(angle);
  return r;
}

static void uses_have_a_shape_and_a_pose(void** state) {
  (void)state;
  Scene scene = load(
      "shapes:\n"
      "  ball: {type: sphere, radius: 0.1}\n"
      "links:\n"
      "  - name: a\n"
      "    mass: 1\n"
      "    shapes:\n"
      "      - ball\n"
      "      - {shape: ball, position: [1, 2, 3], rotation: [0, 1, 0, 0]}\n"
      "      - {type: box, size: [1, 1, 1], rotation_vector: [0, 0, 1.5707963267948966]}\n"
      "      - {shape: ball, rpy: [0.1, -0.2, 0.3]}\n"
      "  - {name: b, mass: 1, shape: {shape: ball, position: [1, 0, 0]}}\n");
  const SceneShapeUse* uses = scene.links[0].shapes;
  assert_int_equal(scene.links[0].shape_count, 4);
  assert_int_equal(scene.shape_count, 2);
  assert_int_equal(uses[0].shape, 0);
  assert_int_equal(uses[2].shape, 1);
  assert_string_equal(scene.shapes[1].name, "");
  compare_quat(uses[0].rotation, quat_identity(), 0, "no rotation");
  compare_vec3(uses[1].position, vec3(1, 2, 3), 0, "position");
  compare_quat(uses[1].rotation, (Quat){0, 1, 0, 0}, 0, "quaternion");
  compare_quat(uses[2].rotation, (Quat){sqrt(0.5), 0, 0, sqrt(0.5)}, 1e-15, "rotation vector");
  /* URDF: R = Rz(yaw) Ry(pitch) Rx(roll) */
  Mat3 wanted = mat3_mul(turn(2, 0.3), mat3_mul(turn(1, -0.2), turn(0, 0.1))), found = mat3_from_quat(uses[3].rotation);
  compare_arrays(&found.m[0][0], &wanted.m[0][0], 9, 1e-15, "rpy");
  assert_int_equal(scene.links[1].shape_count, 1);
  compare_vec3(scene.links[1].shapes[0].position, vec3(1, 0, 0), 0, "position of a single shape");
  scene_free(&scene);
}

static void a_rotation_is_nearly_a_unit_quaternion(void** state) {
  (void)state;
  Scene scene = load("links: [{name: a, fixed: true, rotation: [0.7071, 0, 0.7071, 0]}]\n");
  Quat q = scene.links[0].joint.rotation;
  compare_near(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-15, "squared length");
  compare_quat(q, (Quat){sqrt(0.5), 0, sqrt(0.5), 0}, 1e-15, "rotation");
  scene_free(&scene);
  expect_problems("links: [{name: a, fixed: true, rotation: [1.0011, 0, 0, 0]}]\n",
                  "1:42: error: links[0].rotation: a rotation must be a quaternion of length 1, got length 1.0011: "
                  "divide its numbers by the length\n");
  expect_problems("links: [{name: a, fixed: true, rotation: [90, 0, 0]}]\n",
                  "1:42: error: links[0].rotation: expected a unit quaternion w, x, y, z, got 3 numbers: for 3 numbers "
                  "use rotation_vector or rpy, both in rad\n");
}

static void wrong_uses_are_told(void** state) {
  (void)state;
  expect_problems(
      "links: [{name: a, fixed: true, shapes: [{position: [0, 0, 0]}, [], 5, nix, {type: box, size: 3, "
      "shape: x}]}]\n",
      "1:41: error: links[0].shapes[0]: 'type' is missing: give box, sphere, cylinder, capsule, wheel, disc, cone, "
      "rounded_box, rounded_points, points, mesh, height_field, half_space, superellipsoid, superelliptic_cylinder, "
      "truncated_cone, smooth_polytope, superquadric, oriented_points, union or subtraction\n1:64: error: "
      "links[0].shapes[1]: expected a map, got a list\n1:68: error: links[0].shapes[2]: expected a text, got 5: put it "
      "in quotes\n1:71: error: links[0].shapes[3]: no shape is named 'nix'\n1:94: error: links[0].shapes[4].size: "
      "expected a list of 3 numbers, got 3\n1:77: error: links[0].shapes[4]: give 'shape' or 'type', not both\n1:104: "
      "error: links[0].shapes[4].shape: no shape is named 'x'\n");
  expect_problems("links: [{name: a, fixed: true, shapes: [{shape: {type: sphere, radius: 1}}]}]\n",
                  "1:49: error: links[0].shapes[0].shape: expected a text, got a map: Name of a shape. Alternatively, "
                  "the item has the keys of the shape. In a repeat the name may contain {expressions}.\n");
  expect_problems(
      "shapes: {ball: {type: sphere, radius: 1}}\n"
      "links: [{name: a, fixed: true, shapes: [{shape: ball, position: [1, 0, 0], radius: 2}]}]\n",
      "2:76: error: links[0].shapes[0]: 'radius' belongs to the named shape: change the named shape, or give 'type' "
      "and its keys instead of 'shape'\n");
  expect_problems("links: [{name: a, fixed: true, shape: [1]}]\n",
                  "1:39: error: links[0].shape: expected the name of a shape, or a shape, got a list\n");
}

static void a_repeated_inline_shape_is_one_shape(void** state) {
  (void)state;
  Scene scene = load("links: [{name: 'a{i}', mass: 1, shapes: [{type: sphere, radius: 1}], repeat: {count: 50}}]\n");
  assert_int_equal(scene.link_count, 50);
  assert_int_equal(scene.shape_count, 1);
  scene_free(&scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_of_shape_is_read),
      cmocka_unit_test(round_solids_are_exact_without_a_resolution),
      cmocka_unit_test(wheels_that_are_none_are_refused),
      cmocka_unit_test(rounded_points_are_read),
      cmocka_unit_test(options_of_a_decomposition_are_read),
      cmocka_unit_test(uses_have_a_shape_and_a_pose),
      cmocka_unit_test(a_rotation_is_nearly_a_unit_quaternion),
      cmocka_unit_test(wrong_uses_are_told),
      cmocka_unit_test(a_repeated_inline_shape_is_one_shape),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
