/* Tests the map from a task to variables and to the scene values that they move: lists, followers, bounds, constraints,
 * derivatives. */
#include "design_testing.h"

#include <stdlib.h>
#include <unistd.h>

#define LOSS "loss: [{type: shape}]\n"
#define BOX "{type: box, size: [1, 2, 3]}"
/* Two bodies far apart, then their hinged arms. */
#define PAIR \
  "scene: {links: [{name: a, mass: 1, shape: " BOX "}, {name: b, mass: 1, position: [9, 0, 0], shape: " BOX "}]}\n"

/* ---------------------------------------------------------------- vertices */

static void every_coordinate_has_a_variable(void** state) {
  (void)state;
  DesignCase* c = design_case(PAIR "design: {vertices: [{link: b}], connect: false}\n" LOSS);
  assert_int_equal(c->design.variable_count, 24);
  const SceneShape* hull = case_hull(c, 0, "b", 0);
  for (int m = 0; m < 8; m++)
    for (int axis = 0; axis < 3; axis++) {
      char name[32];
      snprintf(name, sizeof name, "b/0/%d/%c", m, "xyz"[axis]);
      const DesignVariable* v = variable_of(&c->design, name);
      const double* at = (const double*)&hull->points[m] + axis;
      compare_near(v->initial, *at, 0, "%s", name);
      assert_true(isinf(v->low) && v->low < 0 && isinf(v->high) && v->high > 0);
      assert_int_equal(v->block, 0);
    }
  double* x = random_design(&c->design, 3, 0.1);
  design_apply(&c->design, x, case_scene(c, 0));
  compare_bytes(hull->points, x, 24 * sizeof(double), "vertex by vertex, axis by axis");
  memory_free(x);
  design_case_free(c);
}

/* within, low and high together: the narrower holds. */
static void bounds_D6(void** state) {
  (void)state;
  DesignCase* c = design_case(
      PAIR
      "design: {vertices: [{link: a, within: 0.1, low: [-0.55, -9, -9], high: [9, 1.02, 9]}], connect: false}\n" LOSS);
  for (int k = 0; k < c->design.variable_count; k++) {
    const DesignVariable* v = &c->design.variables[k];
    char axis = v->name[strlen(v->name) - 1];
    compare_near(v->low, axis == 'x' && v->initial < 0 ? -0.55 : v->initial - 0.1, 1e-15, "low of %s", v->name);
    compare_near(v->high, axis == 'y' && v->initial > 0 ? 1.02 : v->initial + 0.1, 1e-15, "high of %s", v->name);
    compare_near(c->design.set.low[k], v->low, 0, "the set's low");
    compare_near(c->design.set.high[k], v->high, 0, "the set's high");
  }
  design_case_free(c);
}

static void a_box_and_axes_select(void** state) {
  (void)state;
  DesignCase* c = design_case(PAIR
                              "design: {vertices: [{link: a, axes: [y], box: {low: [0, -9, 0], high: [9, 9, 9]}}], "
                              "connect: false}\n" LOSS);
  const SceneShape* hull = case_hull(c, 0, "a", 0);
  int expected = 0;
  for (int m = 0; m < 8; m++) {
    char name[32];
    snprintf(name, sizeof name, "a/0/%d/y", m);
    bool inside = hull->points[m].x > 0 && hull->points[m].z > 0;
    assert_int_equal(variable_index(&c->design, name) >= 0, inside);
    expected += inside;
  }
  assert_int_equal(expected, 2);
  assert_int_equal(c->design.variable_count, expected);
  design_case_free(c);
}

/* Hull by hull, and two items for different axes of the same vertices. */
static void hulls_and_items(void** state) {
  (void)state;
  DesignCase* c = design_case(
      "scene: {links: [{name: a, mass: 1, shapes: [" BOX
      ", {type: box, size: [1, 1, 1], position: [5, 0, 0]}]}]}\n"
      "design: {connect: false, vertices: [{link: a, hulls: [1], axes: [x], within: 1}, {link: a, hulls: [1, 0], axes: "
      "[x, z], within: 2}]}\n" LOSS);
  assert_int_equal(c->design.variable_count, 32);
  compare_near(variable_of(&c->design, "a/1/3/x")->high - variable_of(&c->design, "a/1/3/x")->initial, 1, 1e-15,
               "the first item's bound");
  compare_near(variable_of(&c->design, "a/1/3/z")->high - variable_of(&c->design, "a/1/3/z")->initial, 2, 1e-15,
               "the second item's");
  design_case_free(c);
}

/* Spheres, capsules and rounded boxes become points, in the link's frame and with the shape's pose. */
static void solids_become_points(void** state) {
  (void)state;
  DesignCase* c = design_case(
      "scene: {links: [{name: a, mass: 1, shape: {type: sphere, radius: 0.5, resolution: 1}, position: [3, 0, 0]},\n"
      "  {name: b, mass: 1, shapes: [{type: capsule, radius: 0.1, length: 1, segments: 12, position: [0, 0, 2], "
      "rotation_vector: [1.5707963267948966, 0, 0]}]}]}\n"
      "design: {vertices: [{links: [a, b]}], connect: false}\n" LOSS);
  for (int m = 0; m < case_hull(c, 0, "a", 0)->point_count; m++)
    compare_near(vec3_norm(case_hull(c, 0, "a", 0)->points[m]), 0.5, 1e-12, "on the sphere");
  const SceneShape* b = case_hull(c, 0, "b", 0);
  double reach = 0;
  for (int m = 0; m < b->point_count; m++) {
    reach = fmax(reach, fabs(b->points[m].y));
    compare_at_most(fabs(b->points[m].z - 2), 0.1 + 1e-12, "around the axis");
  }
  compare_near(reach, 0.6, 1e-12, "along y");
  design_case_free(c);
}

/* ---------------------------------------------------------------- followers */

/* Every vertex of the image is exactly (up to rounding of one product) the image of one of the leader. */
static void expect_image(DesignCase* c, const char* leader, const char* follower, int hull, Mat3 map) {
  const SceneShape *from = case_hull(c, 0, leader, hull), *to = case_hull(c, 0, follower, hull);
  assert_int_equal(from->point_count, to->point_count);
  for (int m = 0; m < from->point_count; m++) {
    double nearest = HUGE_VAL;
    for (int k = 0; k < to->point_count; k++)
      nearest = fmin(nearest, vec3_norm(vec3_sub(to->points[k], mat3_mul_vec(map, from->points[m]))));
    compare_near(nearest, 0, 1e-15, "%s vertex %d of hull %d in %s", leader, m, hull, follower);
  }
}

static void copies(void** state) {
  (void)state;
  DesignCase* c =
      design_case(PAIR "design: {vertices: [{links: [a, b]}], symmetry: [{type: copy, links: [a, b]}]}\n" LOSS);
  assert_int_equal(c->design.variable_count, 24);
  apply_random(c, 1, 0.1);
  const SceneShape *a = case_hull(c, 0, "a", 0), *b = case_hull(c, 0, "b", 0);
  compare_bytes(b->points, a->points, 8 * sizeof(Vec3), "the same vertices");
  design_case_free(c);
}

/* b is a's mirror image, with corners in another order, and two overlapping hulls that share a vertex. */
static const char MIRRORED[] =
    "scene:\n"
    "  shapes:\n"
    "    wedge: {type: points, points: [[0, 0.1, 0], [1, 0.2, 0], [0, 1.1, 0], [0, 0.1, 1]]}\n"
    "    egdew: {type: points, points: [[0, -0.1, 1], [0, -0.1, 0], [0, -1.1, 0], [1, -0.2, 0]]}\n"
    "  links:\n"
    "    - {name: a, mass: 1, shapes: [{shape: wedge}, {type: box, size: [0.4, 0.4, 0.4], position: [0.1, 0.2, "
    "0.1]}]}\n"
    "    - {name: b, mass: 1, position: [9, 0, 0], shapes: [{shape: egdew}, {type: box, size: [0.4, 0.4, 0.4], "
    "position: "
    "[0.1, -0.2, 0.1]}]}\n"
    "design:\n"
    "  vertices: [{link: a}]\n"
    "  symmetry: [{type: mirror, links: [a, b], normal: [0, 2, 0]}]\n" LOSS;

static void mirror_images_D3(void** state) {
  (void)state;
  DesignCase* c = design_case(MIRRORED);
  assert_int_equal(c->design.variable_count, 3 * (4 + 8 + 1));
  apply_random(c, 2, 0.05);
  for (int hull = 0; hull < 2; hull++) expect_image(c, "a", "b", hull, (Mat3){{{1, 0, 0}, {0, -1, 0}, {0, 0, 1}}});
  assert_true(c->design.link_changes[0] && c->design.link_changes[1] && design_changes_hull(&c->design, 1, 1));
  design_case_free(c);
}

/* ---------------------------------------------------------------- symmetric in itself */

/* All vertices of a link's hulls together are their own image under the map. */
static void expect_symmetric(DesignCase* c, const char* link, int hulls, Mat3 map) {
  for (int h = 0; h < hulls; h++)
    for (int m = 0; m < case_hull(c, 0, link, h)->point_count; m++) {
      Vec3 image = mat3_mul_vec(map, case_hull(c, 0, link, h)->points[m]);
      double nearest = HUGE_VAL;
      for (int g = 0; g < hulls; g++)
        for (int k = 0; k < case_hull(c, 0, link, g)->point_count; k++)
          nearest = fmin(nearest, vec3_norm(vec3_sub(case_hull(c, 0, link, g)->points[k], image)));
      compare_near(nearest, 0, 1e-14, "the image of vertex %d of hull %d", m, h);
    }
}

static const Mat3 MIRROR_X = {{{-1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, MIRROR_Y = {{{1, 0, 0}, {0, -1, 0}, {0, 0, 1}}};

/* An octahedron: four vertices on the plane, which stay on it, and a pair. */
#define OCTAHEDRON "{type: points, points: [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]}"

static void a_mirror_D3_D4(void** state) {
  (void)state;
  DesignCase* c =
      design_case("scene: {links: [{name: a, mass: 1, shape: " OCTAHEDRON
                  "}]}\n"
                  "design: {vertices: [{link: a}], symmetry: [{type: mirror, links: [a], normal: [3, 0, 0]}]}\n" LOSS);
  assert_int_equal(c->design.variable_count, 4 * 2 + 3);
  assert_int_equal(variable_index(&c->design, "a/0/2/x"), -1);
  apply_random(c, 3, 0.2);
  expect_symmetric(c, "a", 1, MIRROR_X);
  for (int m = 2; m < 6; m++) compare_near(case_hull(c, 0, "a", 0)->points[m].x, 0, 0, "on the plane");
  design_case_free(c);
}

/* Two mirrors make four quarters of a box: one corner of each half above and below is free. */
static void two_mirrors_D3(void** state) {
  (void)state;
  DesignCase* c =
      design_case("scene: {links: [{name: a, mass: 1, shape: " BOX
                  "}]}\n"
                  "design: {vertices: [{link: a}], symmetry: [{type: mirror, links: [a], normal: [1, 0, 0]}, "
                  "{type: mirror, links: [a], normal: [0, 1, 0]}]}\n" LOSS);
  assert_int_equal(c->design.variable_count, 2 * 3);
  Vec3 before[8];
  memcpy(before, case_hull(c, 0, "a", 0)->points, sizeof before);
  apply_random(c, 4, 0.2);
  expect_symmetric(c, "a", 1, MIRROR_X);
  expect_symmetric(c, "a", 1, MIRROR_Y);
  for (int m = 0; m < 8; m++)
    assert_true(vec3_norm(vec3_sub(case_hull(c, 0, "a", 0)->points[m], before[m])) > 1e-3); /* none stays behind */
  design_case_free(c);
}

static Mat3 turn_z(double angle) { return mat3_from_quat(quat_about(vec3(0, 0, 1), angle)); }

/* A square pyramid: its tip stays on the axis, its base has one free corner. */
static void a_rotation_D3_D4(void** state) {
  (void)state;
  DesignCase* c = design_case(
      "scene: {links: [{name: a, mass: 1, shape: {type: points, points: [[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], "
      "[0, 0, 1]]}}]}\n"
      "design: {vertices: [{link: a}], symmetry: [{type: rotation, links: [a], axis: [0, 0, 2], count: 4}]}\n" LOSS);
  expect_variables(&c->design, "a/0/0/x\na/0/0/y\na/0/0/z\na/0/4/z\n");
  apply_random(c, 5, 0.2);
  expect_symmetric(c, "a", 1, turn_z(PI / 2));
  compare_near(case_hull(c, 0, "a", 0)->points[4].x, 0, 0, "on the axis");
  design_case_free(c);
}

/* A prism of 90 corners has more symmetry rotations than a small table could hold. */
static void many_turns(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, "scene: {links: [{name: a, mass: 1, shape: {type: points, points: [");
  for (int k = 0; k < 180; k++)
    text_add(&text, "%s[%.17g, %.17g, %d]", k ? ", " : "", cos(k % 90 * PI / 45), sin(k % 90 * PI / 45), k / 90);
  text_add(&text,
           "]}}]}\ndesign: {vertices: [{link: a}], symmetry: [{type: rotation, links: [a], axis: [0, 0, 1], "
           "count: 90}]}\n" LOSS);
  DesignCase* c = design_case(text.data);
  assert_int_equal(c->design.variable_count, 6);
  apply_random(c, 6, 0.01);
  expect_symmetric(c, "a", 1, turn_z(PI / 45));
  design_case_free(c);
  text_free(&text);
}

/* A trunk with two arms that mirror each other: the vertices they share with the trunk do as well. */
static void shared_vertices_are_symmetric(void** state) {
  (void)state;
  DesignCase* c = design_case(
      "scene: {links: [{name: a, mass: 1, shapes: [{type: box, size: [1, 1, 1]}, {type: box, size: [0.4, 0.4, 0.4], "
      "position: [0.6, 0, 0]}, {type: box, size: [0.4, 0.4, 0.4], position: [-0.6, 0, 0]}]}]}\n"
      "design: {vertices: [{link: a}], symmetry: [{type: mirror, links: [a], normal: [1, 0, 0]}]}\n" LOSS);
  assert_int_equal(c->design.shared.count, 2);
  apply_random(c, 7, 0.05);
  expect_symmetric(c, "a", 1, MIRROR_X);
  for (int k = 0; k < 2; k++) {
    const SharedVertex* s = &c->design.shared.items[k];
    compare_bytes(&case_hull(c, 0, "a", s->hull[1])->points[s->vertex[1]],
                  &case_hull(c, 0, "a", s->hull[0])->points[s->vertex[0]], sizeof(Vec3), "one vertex in two hulls");
  }
  design_case_free(c);
}

/* ---------------------------------------------------------------- shared vertices */

#define TWO_HULLS \
  "scene: {links: [{name: a, mass: 1, shapes: [" BOX ", {type: box, size: [1, 1, 1], position: [0.9, 0, 0]}]}]}\n"

static void shared_vertices_are_one(void** state) {
  (void)state;
  DesignCase* c = design_case(TWO_HULLS "design: {vertices: [{link: a}]}\n" LOSS);
  assert_int_equal(c->design.shared.count, 1);
  assert_int_equal(c->design.variable_count, 3 * (8 + 8 + 1));
  const SharedVertex* s = &c->design.shared.items[0];
  apply_random(c, 8, 0.1);
  Vec3 one = case_hull(c, 0, "a", 0)->points[s->vertex[0]], two = case_hull(c, 0, "a", 1)->points[s->vertex[1]];
  compare_bytes(&one, &two, sizeof one, "equal in both");
  assert_true(vec3_norm(vec3_sub(one, s->position)) > 1e-3);
  design_case_free(c);
}

/* A vertex that a resting hull shares rests too: that hull is not to change. */
static void a_resting_hull_rests(void** state) {
  (void)state;
  for (int hull = 0; hull < 2; hull++) {
    char text[1000];
    snprintf(text, sizeof text, TWO_HULLS "design: {vertices: [{link: a, hulls: [%d]}]}\n" LOSS, hull);
    DesignCase* c = design_case(text);
    assert_int_equal(c->design.variable_count, 24);
    assert_true(design_changes_hull(&c->design, 0, hull) && !design_changes_hull(&c->design, 0, 1 - hull));
    design_case_free(c);
  }
}

/* ---------------------------------------------------------------- decomposed meshes */

/* An angle of ten blocks: 3 x 3 x 2 cells without the four beyond the inner corner, 3 layers of 12 corners. */
static DesignCase* blocks_case(const char* selection) {
  char text[2000], folder[500];
  assert_non_null(getcwd(folder, sizeof folder));
  setenv("SDRS_CACHE", "off", 1);
  snprintf(text, sizeof text,
           "scene: {links: [{name: a, mass: 1, shape: {type: mesh, file: %s/tests/cli/decompose/angle.obj, decompose: "
           "{grid: [3, 3, 2]}}}]}\ndesign: {vertices: [{link: a%s}]}\n" LOSS,
           folder, selection);
  return design_case(text);
}

static void blocks_stay_together(void** state) {
  (void)state;
  DesignCase* c = blocks_case("");
  assert_int_equal(c->design.shared.count, 80 - 36);
  assert_int_equal(c->design.variable_count, 3 * 36);
  assert_int_equal(c->design.number_count, 3 * 80);
  Vec3 before[10][8];
  for (int h = 0; h < 10; h++) memcpy(before[h], case_hull(c, 0, "a", h)->points, sizeof before[h]);
  apply_random(c, 11, 0.1);
  for (int h = 0; h < 80; h++)
    for (int g = 0; g < h; g++) {
      bool together = memcmp(&before[h / 8][h % 8], &before[g / 8][g % 8], sizeof(Vec3)) == 0;
      const Vec3 *one = &case_hull(c, 0, "a", h / 8)->points[h % 8], *two = &case_hull(c, 0, "a", g / 8)->points[g % 8];
      assert_int_equal(together, memcmp(one, two, sizeof(Vec3)) == 0);
    }
  design_case_free(c);
}

/* The block owns one of its vertices, at the outer corner. Neighbouring blocks, which are fixed, hold the other
 * vertices. */
static void a_block_moves_what_is_its_own(void** state) {
  (void)state;
  DesignCase* c = blocks_case(", hulls: [0]");
  assert_int_equal(c->design.variable_count, 3);
  assert_int_equal(c->design.number_count, 3);
  design_case_free(c);
  c = blocks_case(", hulls: [0, 1]"); /* two layers: the outer edge and the corners that only these two have */
  assert_int_equal(c->design.variable_count, 3 * 3);
  assert_int_equal(c->design.number_count, 3 * 4);
  design_case_free(c);
}

/* ---------------------------------------------------------------- attachments */

#define ARM                                                            \
  "scene: {links: [{name: a, mass: 1, shape: " BOX                     \
  "}, {name: arm, parent: a, mass: 1, joint: {type: hinge, axis: [0, " \
  "1, 0], position: [0.3, 0, -1.4]}, shape: {type: box, size: [0.2, 0.2, 1], position: [0, 0, -0.5]}}]}\n"

static void an_attachment_moves_its_vertex(void** state) {
  (void)state;
  DesignCase* c =
      design_case(ARM "design: {attachments: [{link: arm, axes: [x, z], within: 0.1, low: [0.25, 0, -2]}]}\n" LOSS);
  expect_variables(&c->design, "arm/attachment/x\narm/attachment/z\n");
  const DesignVariable* x = variable_of(&c->design, "arm/attachment/x");
  assert_true(x->low == 0.25 && x->block == 0);
  compare_near(x->high, 0.4, 1e-15, "high");
  const double value[2] = {0.31, -1.45};
  design_apply(&c->design, value, case_scene(c, 0));
  Vec3 joint = case_scene(c, 0)->links[1].joint.position;
  compare_vec3(joint, vec3(0.31, 0, -1.45), 0, "the joint's origin");
  const SceneShape* hull = case_hull(c, 0, "a", 0);
  assert_int_equal(hull->point_count, 9);
  compare_vec3(hull->points[8], joint, 0, "its vertex in the parent");
  design_case_free(c);
}

/* The vertex at a joint is no variable of its own, and without connect there is none. */
static void attachments_and_vertices(void** state) {
  (void)state;
  DesignCase* c =
      design_case(ARM "design: {vertices: [{links: [a, arm]}], attachments: [{link: arm, axes: [x]}]}\n" LOSS);
  assert_int_equal(c->design.shared.count, 2);
  assert_int_equal(c->design.variable_count, 24 + 24 + 1);
  apply_random(c, 9, 0.05);
  compare_near(case_hull(c, 0, "a", 0)->points[8].x, case_scene(c, 0)->links[1].joint.position.x, 0, "parent");
  compare_vec3(case_hull(c, 0, "arm", 0)->points[8], vec3(0, 0, 0), 0, "child");
  design_case_free(c);
  c = design_case(ARM "design: {connect: false, attachments: [{link: arm}]}\n" LOSS);
  assert_int_equal(c->design.shared.count, 0);
  assert_int_equal(c->design.number_count, 3);
  design_case_free(c);
}

/* ---------------------------------------------------------------- control */

#define DRIVEN(signal)                                                 \
  "scene:\n  links: [{name: a, mass: 1, shape: " BOX                   \
  ", joint: {type: hinge, axis: [0, 1, 0]}}]\n  controllers: [{link: " \
  "a, type: pd, position_gain: 1, damping_gain: 1, target: " signal "}]\n"

/* A controller and two loads. */
#define PUSHED DRIVEN("0.5") "  loads: [{link: a, force: [1, 2, 3]}, {link: a, torque: [4, 5, 6]}]\n"

/* Two degrees of freedom, two controllers. */
#define SWIVEL                                                                                                        \
  "scene:\n  links: [{name: a, mass: 1, shape: " BOX                                                                  \
  ", joint: {type: universal, axes: [[1, 0, 0], [0, 1, 0]]}}]\n  controllers:\n    - {link: a, type: pd, "            \
  "position_gain: 1, damping_gain: 1, target: {type: sines, terms: [[{amplitude: 1, frequency: 2}], [{amplitude: 3, " \
  "frequency: 4}, {amplitude: 5, frequency: 6}]]}, feedback: {measures: [a/angle1, a/angle2]}}\n"                     \
  "    - {link: a, type: torque, damping_gain: 1, target: {type: sequence, interval: 1, values: [[0, 1], [2, 3]]}}\n"

static void control_parameters(void** state) {
  (void)state;
  static const struct {
    const char *text, *wanted;
  } CASES[] = {
      {DRIVEN("0.5") "control: [{link: a}]\n" LOSS, "a/values/0\n"},
      {DRIVEN("{type: constant, value: [0.5]}") "control: [{link: a}]\n" LOSS, "a/values/0\n"},
      {DRIVEN("{type: keyframes, times: [0, 1], values: [[0], [1]]}") "control: [{link: a}]\n" LOSS,
       "a/values/0\na/values/1\n"},
      {DRIVEN("{type: spline, duration: 1, values: [[0], [1], [2]]}") "control: [{link: a}]\n" LOSS,
       "a/values/0\na/values/1\na/values/2\n"},
      {DRIVEN("{type: sequence, interval: 1, values: [[0], [1]]}") "control: [{link: a}]\n" LOSS,
       "a/values/0\na/values/1\n"},
      {DRIVEN("{type: sines, offset: 1, terms: [{amplitude: 2, frequency: 3, phase: 4}, {amplitude: 5, frequency: "
              "6}]}") "control: [{link: a}]\n" LOSS,
       "a/values/0\na/amplitude/0\na/amplitude/1\na/phase/0\na/phase/1\n"},
      {DRIVEN("{type: sines, terms: [{amplitude: 2, frequency: 3}]}") "control: [{link: a, parameters: [frequency, "
                                                                      "amplitude]}]\n" LOSS,
       "a/amplitude/0\na/frequency/0\n"},
      {PUSHED "control: [{link: a}]\n" LOSS,
       "a/values/0\na/force_values/0\na/force_values/1\na/force_values/2\na/torque2_values/0\na/torque2_values/1\n"
       "a/torque2_values/2\n"},
      {PUSHED "control: [{link: a, of: [torques]}]\n" LOSS,
       "a/torque2_values/0\na/torque2_values/1\na/torque2_values/2\n"},
      {PUSHED "control: [{link: a, of: [forces], dof: [2]}, {link: a, of: [torques], dof: [0, 1]}]\n" LOSS,
       "a/force_values/2\na/torque2_values/0\na/torque2_values/1\n"},
      {SWIVEL "control: [{link: a, dof: [1]}]\n" LOSS,
       "a/values/1\na/amplitude/2\na/amplitude/3\na/phase/2\na/phase/3\na/controller2_values/1\n"
       "a/controller2_values/3\n"},
      {SWIVEL "control: [{link: a, dof: [0], parameters: [damping_gain, feedback]}]\n" LOSS,
       "a/damping_gain/0\na/feedback/0\na/feedback/1\na/controller2_damping_gain/0\n"},
  };
  for (int k = 0; k < COUNT(CASES); k++) {
    DesignCase* c = design_case(CASES[k].text);
    expect_variables(&c->design, CASES[k].wanted);
    for (int v = 0; v < c->design.variable_count; v++) assert_int_equal(c->design.set.block[v], 1);
    design_case_free(c);
  }
}

/* Each parameter gets to its place in the signal. */
static void sines_keep_their_places(void** state) {
  (void)state;
  DesignCase* c = design_case(
      DRIVEN("{type: sines, offset: 1, terms: [{amplitude: 2, frequency: 3, phase: 4}, {amplitude: 5, frequency: 6}]}")
      "control: [{link: a, parameters: [values, amplitude, frequency, phase], within: 20, low: -9, high: 15}]\n" LOSS);
  compare_near(variable_of(&c->design, "a/frequency/1")->low, -9, 0, "low");
  compare_near(variable_of(&c->design, "a/frequency/1")->high, 15, 0, "high");
  compare_near(variable_of(&c->design, "a/phase/0")->initial, 4, 0, "phase");
  const double x[7] = {10, 11, 12, 13, 14, 15, 16};
  design_apply(&c->design, x, case_scene(c, 0));
  const SceneSignal* s = &case_scene(c, 0)->controllers[0].target;
  const double found[7] = {s->values[0],    s->amplitude[0], s->amplitude[1], s->frequency[0],
                           s->frequency[1], s->phase[0],     s->phase[1]};
  compare_arrays(found, x, 7, 0, "offset, amplitudes, frequencies, phases");
  design_case_free(c);
}

/* Several controllers on a joint have names apart. */
static void two_controllers(void** state) {
  (void)state;
  DesignCase* c = design_case("scene:\n  links: [{name: a, mass: 1, shape: " BOX
                              ", joint: {type: hinge, axis: [0, 1, 0]}}]\n"
                              "  controllers: [{link: a, type: pd, position_gain: 1, target: 0.5}, {link: a, type: pd, "
                              "position_gain: 2, target: "
                              "{type: spline, duration: 1, values: [[0], [1], [2]]}}]\n"
                              "control: [{link: a}]\n" LOSS);
  expect_variables(&c->design, "a/values/0\na/controller2_values/0\na/controller2_values/1\na/controller2_values/2\n");
  const double x[4] = {7, 8, 9, 10};
  design_apply(&c->design, x, case_scene(c, 0));
  compare_near(case_scene(c, 0)->controllers[0].target.values[0], 7, 0, "first");
  compare_arrays(case_scene(c, 0)->controllers[1].target.values, x + 1, 3, 0, "second");
  design_case_free(c);
}

/* ---------------------------------------------------------------- start */

#define FREE_BOX                                                                                    \
  "scene: {simulation: {steps: 1, integrator: first_order}, links: [{name: a, mass: 1, shape: " BOX \
  "}], "                                                                                            \
  "initial: [{link: a, velocities: [1, 2, 3, 4, 5, 6]}]}\n"

static void free_joints(void** state) {
  (void)state;
  DesignCase* c = design_case(FREE_BOX "initial: [{link: a, coordinates: true, velocities: true, within: 1}]\n" LOSS);
  expect_variables(&c->design,
                   "a/coordinate/0\na/coordinate/1\na/coordinate/2\na/velocity/0\na/velocity/1\na/velocity/2\n"
                   "a/velocity/3\na/velocity/4\na/velocity/5\n");
  compare_near(variable_of(&c->design, "a/velocity/4")->initial, 5, 0, "as the scene says");
  compare_near(variable_of(&c->design, "a/velocity/4")->high, 6, 0, "within");
  apply_random(c, 10, 0.5);
  compare_near(case_scene(c, 0)->initials[0].coordinates[3], 1, 0, "the quaternion is still there");
  design_case_free(c);
}

/* Nothing about the joint in the scene: zeros are written, and move. */
static void a_start_that_is_not_written(void** state) {
  (void)state;
  DesignCase* c =
      design_case(ARM "initial: [{link: a, velocities: true, dof: [1, 3]}, {link: arm, coordinates: true}]\n" LOSS);
  expect_variables(&c->design, "a/velocity/1\na/velocity/3\narm/coordinate/0\n");
  const double x[3] = {0.1, 0.2, 0.3};
  design_apply(&c->design, x, case_scene(c, 0));
  Model model;
  Diagnostics diagnostics = {0};
  assert_int_equal(model_create(&model, case_scene(c, 0), &diagnostics), STATUS_OK);
  const double v[7] = {0, 0.1, 0, 0.2, 0, 0, 0};
  compare_arrays(model.initial_velocities, v, 7, 0, "velocities");
  compare_near(model.initial_coordinates[7], 0.3, 0, "the hinge");
  model_destroy(&model);
  diagnostics_free(&diagnostics);
  design_case_free(c);
}

/* ---------------------------------------------------------------- masses and settings */

static double mass_of(DesignCase* c) {
  Model model;
  Diagnostics diagnostics = {0};
  assert_int_equal(model_create(&model, case_scene(c, 0), &diagnostics), STATUS_OK);
  double mass = model.links[0].mass;
  model_destroy(&model);
  diagnostics_free(&diagnostics);
  return mass;
}

/* A box of 1 x 2 x 3 m, 10 kg/m^3, is made 10 % longer along x. */
static void masses(void** state) {
  (void)state;
  static const char* const MODE[] = {"fixed", "density"};
  for (int k = 0; k < 2; k++) {
    char text[1000];
    snprintf(text, sizeof text,
             "scene: {links: [{name: a, density: 10, shape: " BOX
             "}]}\ndesign: {mass: %s, connect: false, vertices: [{link: a, axes: [x]}]}\n" LOSS,
             MODE[k]);
    DesignCase* c = design_case(text);
    compare_relative(mass_of(c), 60, 1e-14, "before");
    double x[8];
    for (int m = 0; m < 8; m++) x[m] = 1.1 * c->design.variables[m].initial;
    design_apply(&c->design, x, case_scene(c, 0));
    compare_relative(mass_of(c), k ? 66 : 60, 1e-14, "%s", MODE[k]);
    design_case_free(c);
  }
}

/* Steps, tolerance, and contact parameters that no longer follow from the shapes. */
static void the_scene_is_made_ready(void** state) {
  (void)state;
  DesignCase* c = design_case(PAIR "steps: 17\noptimizer: {tolerance: 1.0e-7}\ndesign: {vertices: [{link: a}]}\n" LOSS);
  const Scene* scene = case_scene(c, 0);
  assert_int_equal(scene->simulation.steps, 17);
  compare_near(scene->simulation.tolerance, 1e-7, 0, "tolerance");
  Model before, after;
  Diagnostics diagnostics = {0};
  assert_int_equal(model_create(&before, scene, &diagnostics), STATUS_OK);
  apply_random(c, 11, 0.3);
  assert_int_equal(model_create(&after, scene, &diagnostics), STATUS_OK);
  assert_false(after.contact.support_derived || after.contact.stiffness_derived || after.contact.smoothing_derived);
  compare_near(after.contact.support, before.contact.support, 0, "support");
  compare_near(after.contact.stiffness, before.contact.stiffness, 0, "stiffness");
  model_destroy(&before);
  model_destroy(&after);
  diagnostics_free(&diagnostics);
  design_case_free(c);
}

/* ---------------------------------------------------------------- derivatives */

/* Everything at once: followers, self-symmetry, shared vertices, attachments, three kinds of start, sines. */
static const char RICH[] =
    "scene:\n"
    "  simulation: {gravity: [0, 0, 0], integrator: first_order}\n"
    "  links:\n"
    "    - {name: trunk, mass: 1, shapes: [{type: box, size: [1, 2, 3]}, {type: box, size: [0.6, 0.4, 0.4], position: "
    "[0.6, 0, 0]}]}\n"
    "    - {name: left, parent: trunk, mass: 1, joint: {type: universal, axes: [[1, 0, 0], [0, 1, 0]], position: [0, "
    "1, "
    "-1.6]}, shape: {type: box, size: [0.2, 0.3, 1], position: [0, 0, -0.5]}}\n"
    "    - {name: right, parent: trunk, mass: 1, joint: {type: ball, position: [0, -1, -1.6]}, shape: {type: box, "
    "size: "
    "[0.2, 0.3, 1], position: [0, 0, -0.5]}}\n"
    "  controllers: [{link: left, type: pd, position_gain: 1, target: {type: sines, terms: [[{amplitude: 1, frequency: "
    "2}], [{amplitude: 3, frequency: 4}]]}}]\n"
    "  initial:\n"
    "    - {link: trunk, coordinates: [0, 0, 0, 0.8, 0, 0.6, 0], velocities: [0, 0, 0, 1, 2, 3]}\n"
    "    - {link: right, coordinates: [0.6, 0.8, 0, 0]}\n"
    "design:\n"
    "  vertices: [{link: trunk}, {link: left, axes: [x, z]}]\n"
    "  attachments: [{links: [left, right]}]\n"
    "  symmetry:\n"
    "    - {type: mirror, links: [trunk], normal: [0, 1, 0]}\n"
    "    - {type: mirror, links: [left, right], normal: [1, 0, 0]}\n"
    "control: [{link: left, parameters: [values, amplitude, frequency, phase]}]\n"
    "initial: [{link: trunk, coordinates: true, velocities: true}, {link: left, coordinates: true}, {link: right, "
    "velocities: true}]\n" LOSS;

static double random_number(Random* random) { return random_uniform(random, -1, 1); }

static void fill_gradient(ModelGradient* g, const Model* m, Random* random) {
  double* vertices = (double*)g->vertices;
  double* attachments = (double*)g->attachments;
  for (int k = 0; k < 3 * m->vertex_count; k++) vertices[k] = random_number(random);
  for (int k = 0; k < 3 * m->link_count; k++) attachments[k] = random_number(random);
  for (int k = 0; k < m->parameter_count; k++) g->control[k] = random_number(random);
  for (int k = 0; k < m->dof_count; k++) {
    g->coordinates[k] = random_number(random);
    g->velocities[k] = random_number(random);
  }
}

/* Parameters of loads come after those of the controllers, and are written to the scene's loads. */
static void the_gradient_of_loads(void** state) {
  (void)state;
  DesignCase* c = design_case(PUSHED "control: [{link: a}]\n" LOSS);
  const Design* d = &c->design;
  Model model;
  Diagnostics diagnostics = {0};
  assert_int_equal(model_create(&model, case_scene(c, 0), &diagnostics), STATUS_OK);
  assert_int_equal(model.parameter_count, 7);
  ModelGradient g;
  model_gradient_create(&g, &model);
  double gradient[7] = {0}, x[7];
  for (int k = 0; k < 7; k++) g.control[k] = k + 1, x[k] = 10 * (k + 1);
  design_gradient(d, 0, &model, &g, 1, gradient);
  for (int k = 0; k < 7; k++) compare_near(gradient[k], k + 1, 0, "%s", d->variables[k].name);
  ModelOverride* overrides = design_overrides(d, x);
  Scene* moved = model_scene_create(case_scene(c, 0), overrides, d->number_count);
  const SceneLoad* loads = moved->loads;
  compare_arrays(loads[0].force.values, (double[]){20, 30, 40}, 3, 0, "force");
  compare_arrays(loads[1].torque.values, (double[]){50, 60, 70}, 3, 0, "torque");
  compare_arrays(case_scene(c, 0)->loads[0].force.values, (double[]){1, 2, 3}, 3, 0, "the task's scene stays");
  model_scene_destroy(moved, case_scene(c, 0));
  memory_free(overrides);
  model_gradient_destroy(&g);
  model_destroy(&model);
  diagnostics_free(&diagnostics);
  design_case_free(c);
}

/* The linear function of a model's own numbers whose derivative is g, less its value at `base`. */
static double linear_value(const ModelGradient* g, const Model* m, const Model* base) {
  double sum = 0;
  for (int h = 0; h < m->hull_count; h++)
    for (int k = 0; k < m->hulls[h].solid.vertex_count; k++)
      sum += vec3_dot(g->vertices[m->hulls[h].vertex_first + k],
                      vec3_sub(m->hulls[h].solid.vertices[k], base->hulls[h].solid.vertices[k]));
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* l = &m->links[i];
    double d[JOINT_MAX_DOF];
    sum += vec3_dot(g->attachments[i], vec3_sub(l->origin.t, base->links[i].origin.t));
    joint_difference(&l->joint, base->initial_coordinates + l->coordinate_first,
                     m->initial_coordinates + l->coordinate_first, d);
    for (int k = 0; k < l->dof_count; k++)
      sum += g->coordinates[l->dof_first + k] * d[k] +
             g->velocities[l->dof_first + k] *
                 (m->initial_velocities[l->dof_first + k] - base->initial_velocities[l->dof_first + k]);
  }
  return sum;
}

/* g . (y - x) by design_gradient equals the change of the model's numbers, up to rounding, because both are linear. A
 * model does not expose the parameters of signals; sines_keep_their_places and the tests below check them. */
static void gradient_D2_is_that_of_numbers_D1(void** state) {
  (void)state;
  DesignCase* c = design_case(RICH);
  const Design* d = &c->design;
  Random random = {12};
  for (int trial = 0; trial < 5; trial++) {
    double *x = random_design(d, 20 + (uint64_t)trial, 0.05), *y = random_design(d, 40 + (uint64_t)trial, 0.05);
    double* gradient = MEMORY_NEW(double, d->variable_count);
    Model at, there;
    Diagnostics diagnostics = {0};
    design_apply(d, x, case_scene(c, 0));
    assert_int_equal(model_create(&at, case_scene(c, 0), &diagnostics), STATUS_OK);
    ModelGradient g;
    model_gradient_create(&g, &at);
    fill_gradient(&g, &at, &random);
    for (int k = 0; k < at.parameter_count; k++) g.control[k] = 0;
    design_gradient(d, 0, &at, &g, 2.5, gradient);
    design_apply(d, y, case_scene(c, 0));
    assert_int_equal(model_create(&there, case_scene(c, 0), &diagnostics), STATUS_OK);
    double expected = 0;
    for (int k = 0; k < d->variable_count; k++) expected += gradient[k] * (y[k] - x[k]);
    compare_near(2.5 * linear_value(&g, &there, &at), expected, 1e-12, "trial %d", trial);
    assert_true(fabs(expected) > 1e-3);
    model_gradient_destroy(&g);
    model_destroy(&at);
    model_destroy(&there);
    diagnostics_free(&diagnostics);
    memory_free(gradient);
    memory_free(x);
    memory_free(y);
  }
  design_case_free(c);
}

/* Derivatives by parameters are those of the controller, in the order of the variables, and are added to the array. */
static void the_gradient_of_parameters(void** state) {
  (void)state;
  DesignCase* c = design_case(RICH);
  const Design* d = &c->design;
  double* gradient = MEMORY_NEW(double, d->variable_count);
  for (int k = 0; k < d->variable_count; k++) gradient[k] = 100;
  Model model;
  Diagnostics diagnostics = {0};
  assert_int_equal(model_create(&model, case_scene(c, 0), &diagnostics), STATUS_OK);
  assert_int_equal(model.parameter_count, 8); /* two channels, one term each: offset, amplitude, frequency, phase */
  ModelGradient g;
  model_gradient_create(&g, &model);
  for (int k = 0; k < 8; k++) g.control[k] = k + 1;
  design_gradient(d, 0, &model, &g, -2, gradient);
  static const char* const NAMES[] = {"values/0",    "values/1",    "amplitude/0", "amplitude/1",
                                      "frequency/0", "frequency/1", "phase/0",     "phase/1"};
  for (int k = 0; k < 8; k++) {
    char name[32];
    snprintf(name, sizeof name, "left/%s", NAMES[k]);
    compare_near(gradient[variable_index(d, name)], 100 - 2 * (k + 1), 0, "%s", name);
  }
  compare_near(gradient[0], 100, 0, "the rest is left alone");
  model_gradient_destroy(&g);
  model_destroy(&model);
  diagnostics_free(&diagnostics);
  memory_free(gradient);
  design_case_free(c);
}

/* ---------------------------------------------------------------- scenarios */

#define SCENE_OF(extra) \
  "{links: [{name: a, mass: 1, shape: " BOX "}], initial: [{link: a, velocities: [1, 0, 0, 0, 0, 0]}]" extra "}"

static void scenarios_share_a_design(void** state) {
  (void)state;
  DesignCase* c = design_case(
      "scenarios: [{scene: " SCENE_OF("") "}, {steps: 5, scene: " SCENE_OF(", simulation: {gravity: [0, 0, -1], integrator: first_order}") "}]\n"
      "design: {vertices: [{link: a}]}\ninitial: [{link: a, velocities: true}]\n" LOSS);
  assert_int_equal(c->task.scenario_count, 2);
  apply_random(c, 13, 0.1);
  compare_bytes(case_hull(c, 1, "a", 0)->points, case_hull(c, 0, "a", 0)->points, 8 * sizeof(Vec3), "one shape");
  compare_arrays(case_scene(c, 1)->initials[0].velocities, case_scene(c, 0)->initials[0].velocities, 6, 0, "one start");
  assert_int_equal(case_scene(c, 1)->simulation.steps, 5);
  design_case_free(c);
}

#define OTHER(second, rest) "scenarios: [{scene: " SCENE_OF("") "},\n  {scene: " second "}]\n" rest LOSS
#define SAME_DESIGN                                                                                                \
  "2:3: error: scenario '1': hulls, joint, controllers or loads of link 'a' differ from the first scenario: make " \
  "them "                                                                                                          \
  "equal, because scenarios share one design\n"

static void scenarios_that_differ(void** state) {
  (void)state;
  static const struct {
    const char *text, *wanted;
  } CASES[] = {
      {OTHER("{links: [{name: a, mass: 1, shape: " BOX "}, {name: b, mass: 1, position: [9, 0, 0], shape: " BOX "}]}",
             "design: {vertices: [{link: a}]}\n"),
       "2:3: error: scenario '1' has 2 links, the first scenario has 1: give all scenarios the same links, because "
       "scenarios share one design\n"},
      {OTHER("{links: [{name: a, mass: 1, shape: {type: sphere, radius: 1}}]}", "design: {vertices: [{link: a}]}\n"),
       SAME_DESIGN},
      {OTHER("{links: [{name: a, mass: 1, joint: {type: slide, axis: [1, 0, 0]}, shape: " BOX "}]}",
             "initial: [{link: a, velocities: true}]\n"),
       SAME_DESIGN},
      {OTHER("{links: [{name: a, mass: 1, joint: {type: slide, axis: [1, 0, 0]}, shape: " BOX
             "}], controllers: [{link: a, type: prescribed, target: 0}]}",
             "initial: [{link: a, velocities: true}]\n"),
       SAME_DESIGN},
  };
  for (int k = 0; k < COUNT(CASES); k++) expect_design_problems(CASES[k].text, CASES[k].wanted);
}

static void scenarios_with_other_controllers(void** state) {
  (void)state;
#define HINGED(controllers) \
  "{links: [{name: a, mass: 1, joint: {type: hinge, axis: [0, 1, 0]}, shape: " BOX "}], controllers: [" controllers "]}"
  static const char* const SECOND[] = {
      "", "{link: a, type: pd, position_gain: 1, target: 0}",
      "{link: a, type: pd, position_gain: 1, target: {type: spline, duration: 1, values: [[0], [1]]}}"};
  for (int k = 0; k < 3; k++) {
    char text[1000];
    snprintf(text, sizeof text,
             "scenarios: [{scene: " HINGED("{link: a, type: pd, position_gain: 1, target: {type: spline, duration: 1, "
                                           "values: [[0], [1], [2]]}}") "},\n  {scene: " HINGED("%s") "}]\n"
             "control: [{link: a}]\n" LOSS,
             SECOND[k]);
    expect_design_problems(text, SAME_DESIGN);
  }
}

/* ---------------------------------------------------------------- rows */

static void constraints_are_rows_D6(void** state) {
  (void)state;
  DesignCase* c =
      design_case(ARM
                  "design:\n"
                  "  attachments: [{link: arm}]\n"
                  "  constraints:\n"
                  "    - {variables: [arm/attachment/z, arm/attachment/x], coefficients: [2, -3], relation: "
                  "at_most, value: 4}\n"
                  "    - {variables: [arm/attachment/y], relation: at_least, value: -1}\n"
                  "    - {variables: [arm/attachment/x, a/velocity/0], relation: equal, value: 7}\n"
                  "initial: [{link: a, velocities: true, dof: [0]}]\n" LOSS);
  const FeasibleSet* set = &c->design.set;
  assert_int_equal(set->count, 4);
  assert_int_equal(set->row_count, 3);
  const int first[4] = {0, 2, 3, 5}, column[5] = {2, 0, 1, 0, 3};
  const double coefficient[5] = {2, -3, 1, 1, 1}, low[3] = {-HUGE_VAL, -1, 7}, high[3] = {4, HUGE_VAL, 7};
  compare_bytes(set->row_first, first, sizeof first, "rows");
  compare_bytes(set->column, column, sizeof column, "columns");
  compare_bytes(set->coefficient, coefficient, sizeof coefficient, "coefficients");
  compare_bytes(set->row_low, low, sizeof low, "low");
  compare_bytes(set->row_high, high, sizeof high, "high");
  design_case_free(c);
}

/* Names with two components: masses and friction in one constraint. */
static void constraints_of_parameters_D6(void** state) {
  (void)state;
  DesignCase* c = design_case(PAIR
                              "parameters: [{type: mass, links: [a, b], low: 0.1}, {type: friction, low: 0.05}]\n"
                              "design:\n  constraints: [{variables: [b/mass, contact/friction], coefficients: [2, -3], "
                              "relation: equal, value: 0.5}]\n" LOSS);
  const FeasibleSet* set = &c->design.set;
  assert_int_equal(set->row_count, 1);
  assert_int_equal(set->row_first[1], 2);
  assert_int_equal(set->column[0], variable_index(&c->design, "b/mass"));
  assert_int_equal(set->column[1], variable_index(&c->design, "contact/friction"));
  compare_near(set->coefficient[1], -3, 0, "coefficient");
  design_case_free(c);
}

/* ---------------------------------------------------------------- refused designs */

static void messages(void** state) {
  (void)state;
  static const struct {
    const char *text, *wanted;
  } CASES[] = {
      {ARM "design:\n  attachments: [{link: arm}]\n  constraints: [{variables: [arm/attachment/w], relation: "
           "equal}]\n" LOSS,
       "4:30: error: no variable 'arm/attachment/w' (did you mean 'arm/attachment/x'?)\n"},
      {ARM "design:\n  attachments: [{link: arm}]\n  constraints: [{variables: [arm/mass], relation: equal}]\n" LOSS,
       "4:30: error: no variable 'arm/mass'\n"},
      {PAIR "design: {vertices: [{link: a, low: 0}]}\n" LOSS,
       "2:21: error: a/0/0/x starts at -0.5, outside its bounds [0, inf]: widen the bounds or change the initial "
       "value\n"},
      {PAIR "design: {vertices: [{link: a, hulls: [1]}]}\n" LOSS,
       "2:21: error: link 'a' has no free vertex in the given 'hulls' and 'box': enlarge the box, or choose other "
       "hulls\n"},
      {PAIR "design: {vertices: [{link: a, box: {low: [0, 0, 0], high: [0.1, 0.1, 0.1]}}, {link: b}]}\n" LOSS,
       "2:21: error: link 'a' has no free vertex in the given 'hulls' and 'box': enlarge the box, or choose other "
       "hulls\n"},
      {"scene: {links: [{name: g, fixed: true, shape: {type: half_space}}, {name: a, mass: 1, position: [0, 0, 9], "
       "shape: " BOX "}]}\ndesign: {vertices: [{links: [g, a]}]}\n" LOSS,
       "2:21: error: link 'g' has no free vertex in the given 'hulls' and 'box': enlarge the box, or choose other "
       "hulls\n"},
      /* twice */
      {ARM "design: {attachments: [{link: arm, axes: [x]}, {link: arm, axes: [x, z]}]}\n" LOSS,
       "2:48: error: variable 'arm/attachment/x' is listed twice: remove one of the entries\n"},
      {DRIVEN("0") "control: [{link: a}, {link: a}]\n" LOSS,
       "4:22: error: variable 'a/values/0' is listed twice: remove one of the entries\n"},
      /* followers */
      {PAIR "design: {vertices: [{link: b}], symmetry: [{type: copy, links: [a, b]}]}\n" LOSS,
       "2:28: error: link 'b' follows 'a', whose vertices are not variables: name the second link in 'vertices' "
       "instead\n"},
      {PAIR
       "design: {vertices: [{link: a}], symmetry: [{type: copy, links: [a, b]}, {type: copy, links: [b, a]}]}\n" LOSS,
       "2:97: error: link 'a' cannot follow 'b': one of the two already follows a link or is followed by one; remove "
       "one of these symmetries\n"},
      {PAIR
       "design: {vertices: [{link: a}], symmetry: [{type: copy, links: [a, b]}, {type: mirror, links: [b], normal: "
       "[1, 0, 0]}]}\n" LOSS,
       "2:96: error: link 'b' follows link 'a' by another symmetry: move the symmetry to link 'a'\n"},
      {"scene: {links: [{name: a, mass: 1, shapes: [" BOX
       ", {type: box, size: [1, 1, 1], position: [0.8, 0, 0]}]}, {name: "
       "b, mass: 1, position: [9, 0, 0], shape: " BOX "}]}\ndesign: {vertices: [{link: a}], symmetry: [{type: copy, "
       "links: [a, b]}]}\n" LOSS,
       "2:68: error: link 'b' has 1 shapes, but 'a', which it follows, has 2: give both the same shapes\n"},
      {"scene: {links: [{name: a, mass: 1, shape: " BOX "}, {name: b, mass: 1, position: [9, 0, 0], shape: {type: box, "
       "size: [1, 1, 1]}}]}\ndesign: {vertices: [{link: a}], symmetry: [{type: copy, links: [a, b]}]}\n" LOSS,
       "1:74: error: link 'b' cannot follow 'a', because no vertex lies at the image of vertex 0 of hull 0: give both "
       "links the same shape\n"},
      /* symmetric in itself */
      {"scene: {links: [{name: a, mass: 1, shape: {type: box, size: [1, 1, 1], position: [0.2, 0, 0]}}]}\ndesign: "
       "{vertices: [{link: a}], symmetry: [{type: mirror, links: [a], normal: [1, 0, 0]}]}\n" LOSS,
       "2:21: error: link 'a': vertex 0 of hull 0 has no image under the link's symmetry: make the shape symmetric, or "
       "remove the symmetry\n"},
      {"scene: {links: [{name: a, mass: 1, shape: " BOX
       "}]}\ndesign: {vertices: [{link: a, box: {low: [0, -9, -9], high: "
       "[9, 9, 9]}}], symmetry: [{type: mirror, links: [a], normal: [1, 0, 0]}]}\n" LOSS,
       "2:21: error: link 'a': vertex 4 of hull 0 is a variable, but its image under the link's symmetry is not: "
       "select both vertices\n"},
      {"scene: {links: [{name: a, mass: 1, shape: {type: box, size: [1, 1, 1]}}]}\ndesign: {vertices: [{link: a}], "
       "symmetry: [{type: mirror, links: [a], normal: [1, -1, 0]}]}\n" LOSS,
       "2:21: error: link 'a': vertex 0 of hull 0 lies on a plane or axis of symmetry that is not along the axes of "
       "the frame: turn the frame\n"},
      {"scene: {links: [{name: a, mass: 1, shape: " BOX
       "}]}\ndesign: {vertices: [{link: a}], symmetry: [{type: mirror, "
       "links: [a], normal: [1, 0, 0]}, {type: mirror, links: [a], normal: [1, 0.123, 0]}]}\n" LOSS,
       "2:91: error: the symmetries of link 'a' generate infinitely many maps: choose mirrors and rotations that "
       "generate a finite group\n"},
      /* control and start */
      {ARM "control: [{link: arm}]\n" LOSS,
       "2:18: error: no controller drives the joint of link 'arm': add one to 'controllers' of the scene, or name "
       "another link\n"},
      {DRIVEN("0") "control: [{link: a, parameters: [phase]}]\n" LOSS,
       "4:18: error: the controllers of link 'a' have none of the listed parameters: correct the list, or set the "
       "parameters in the scene\n"},
      {PUSHED "control: [{link: a, of: [drives], dof: [0, 2]}]\n" LOSS,
       "5:18: error: the control of link 'a' has no degree of freedom 2: correct 'dof' (available: 1, numbered from "
       "0)\n"},
      {ARM "initial: [{link: arm, velocities: true, dof: [1]}]\n" LOSS,
       "2:18: error: the joint of link 'arm' has fewer degrees of freedom than 'dof' names, so its initial state "
       "cannot be a variable: "
       "correct 'dof', or name another link\n"},
      {"scene: {links: [{name: a, fixed: true, shape: " BOX "}, {name: b, mass: 1, position: [9, 0, 0], shape: " BOX
       "}]}\ninitial: [{link: a, velocities: true}]\n" LOSS,
       "2:18: error: the joint of link 'a' cannot move, so its initial state cannot be a variable: correct 'dof', or "
       "name another link\n"},
      {"scene:\n  links: [{name: a, mass: 1, joint: {type: slide, axis: [1, 0, 0]}, shape: " BOX
       "}]\n  controllers: [{link: a, type: prescribed, target: 0}]\ninitial: [{link: a, velocities: true}]\n" LOSS,
       "4:18: error: the joint of link 'a' is prescribed, so its initial state cannot be a variable: correct 'dof', or "
       "name another link\n"},
      {FREE_BOX "initial: [{link: a, velocities: true, dof: [0], low: 2}]\n" LOSS,
       "2:11: error: a/velocity/0 starts at 1, outside its bounds [2, inf]: widen the bounds or change the initial "
       "value\n"},
      {FREE_BOX "initial: [{link: a, coordinates: true, dof: [4]}]\n" LOSS,
       "2:18: error: link 'a': the numbers of the joint's quaternion cannot be variables: give 'turns: true' to vary "
       "rotation angles instead\n"},
  };
  for (int k = 0; k < COUNT(CASES); k++) expect_design_problems(CASES[k].text, CASES[k].wanted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_coordinate_has_a_variable),
      cmocka_unit_test(bounds_D6),
      cmocka_unit_test(a_box_and_axes_select),
      cmocka_unit_test(hulls_and_items),
      cmocka_unit_test(solids_become_points),
      cmocka_unit_test(copies),
      cmocka_unit_test(mirror_images_D3),
      cmocka_unit_test(a_mirror_D3_D4),
      cmocka_unit_test(two_mirrors_D3),
      cmocka_unit_test(a_rotation_D3_D4),
      cmocka_unit_test(many_turns),
      cmocka_unit_test(shared_vertices_are_symmetric),
      cmocka_unit_test(shared_vertices_are_one),
      cmocka_unit_test(blocks_stay_together),
      cmocka_unit_test(a_block_moves_what_is_its_own),
      cmocka_unit_test(a_resting_hull_rests),
      cmocka_unit_test(an_attachment_moves_its_vertex),
      cmocka_unit_test(attachments_and_vertices),
      cmocka_unit_test(control_parameters),
      cmocka_unit_test(sines_keep_their_places),
      cmocka_unit_test(two_controllers),
      cmocka_unit_test(free_joints),
      cmocka_unit_test(a_start_that_is_not_written),
      cmocka_unit_test(masses),
      cmocka_unit_test(the_scene_is_made_ready),
      cmocka_unit_test(gradient_D2_is_that_of_numbers_D1),
      cmocka_unit_test(the_gradient_of_parameters),
      cmocka_unit_test(the_gradient_of_loads),
      cmocka_unit_test(scenarios_share_a_design),
      cmocka_unit_test(scenarios_that_differ),
      cmocka_unit_test(scenarios_with_other_controllers),
      cmocka_unit_test(constraints_are_rows_D6),
      cmocka_unit_test(constraints_of_parameters_D6),
      cmocka_unit_test(messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
