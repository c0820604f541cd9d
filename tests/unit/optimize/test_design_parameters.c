/* Tests physical parameters as variables: their list, the scene values that they move, and refused parameters. */
#include "design_testing.h"

#include <cmocka.h>
#include <math.h>

#include "support/compare.h"

#define LINKS                                                                                                       \
  "steps: 1\nscene:\n  contact: {friction: 0.4}\n  shapes: {brick: {type: box, size: [0.2, 0.4, 0.6]}}\n  links:\n" \
  "    - {name: box, mass: 2, mass_model: vertices, position: [0, 0, 3], shapes: [{shape: brick,"                   \
  " rotation: [0.70710678118654752, 0, 0, 0.70710678118654752], position: [1, 2, 3]}]}\n"                           \
  "    - {name: arm, mass: 1, mass_model: vertices, joint: {type: hinge, axis: [0, 1, 0], damping: 0.5}, shape: "   \
  "{type: sphere,"                                                                                                  \
  " radius: 0.3}}\n"                                                                                                \
  "loss: [{type: point, link: box, target: [0, 0, 0]}]\n"

static DesignCase* case_of(const char* items) {
  char text[2000];
  snprintf(text, sizeof text, LINKS "parameters: [%s]\n", items);
  return design_case(text);
}

/* The scene that values of the variables give. */
static Scene* scene_of(DesignCase* c, const double* x) {
  ModelOverride* overrides = design_overrides(&c->design, x);
  Scene* scene = model_scene_create(case_scene(c, 0), overrides, c->design.number_count);
  memory_free(overrides);
  return scene;
}

static void names_bounds_and_numbers(void** state) {
  (void)state;
  DesignCase* c = case_of(
      "{type: mass, links: [box, arm], low: 0.5}, {type: damping, link: arm, within: 2}, {type: gravity}, {type: "
      "friction, high: 1, prior: 0.1}");
  expect_variables(&c->design,
                   "box/mass\narm/mass\narm/damping/0\nscene/gravity/x\nscene/gravity/y\ncontact/friction\n");
  assert_true(variable_of(&c->design, "box/mass")->initial == 2);
  assert_true(variable_of(&c->design, "box/mass")->low == 0.5);
  assert_true(variable_of(&c->design, "arm/damping/0")->low == 0);
  assert_true(variable_of(&c->design, "arm/damping/0")->high == 2.5);
  assert_true(variable_of(&c->design, "contact/friction")->prior == 0.1);
  double x[6] = {3, 4, 0.25, 0.1, -0.2, 0.7};
  Scene* scene = scene_of(c, x);
  assert_true(scene->links[0].mass == 3 && scene->links[1].mass == 4);
  assert_true(scene->links[1].joint.damping[0] == 0.25);
  assert_true(scene->simulation.gravity.x == 0.1 && scene->simulation.gravity.y == -0.2);
  assert_true(scene->simulation.gravity.z == case_scene(c, 0)->simulation.gravity.z);
  compare_near(scene->contact.friction, 0.7, 1e-15, "friction");
  model_scene_destroy(scene, case_scene(c, 0));
  design_case_free(c);
}

/* Of the link that says it, and by its own share of the pair's. */
static void materials_of_links(void** state) {
  (void)state;
  DesignCase* c = design_case(
      "steps: 1\nscene:\n  links:\n"
      "    - {name: box, mass: 2, mass_model: vertices, friction: 0.3, rolling: 0.01, shape: {type: box, size: [0.2, "
      "0.4, 0.6]}}\n"
      "    - {name: ball, mass: 1, mass_model: vertices, restitution: 0.5, position: [1, 0, 0], shape: {type: sphere, "
      "radius: 0.3}}\n"
      "loss: [{type: point, link: box, target: [0, 0, 0]}]\n"
      "parameters: [{type: link_friction, link: box, high: 2}, {type: link_restitution, link: ball, high: 1}, {type: "
      "link_rolling, link: box}]\n");
  expect_variables(&c->design, "box/friction\nball/restitution\nbox/rolling\n");
  double x[3] = {0.7, 0.9, 0.02};
  Scene* scene = scene_of(c, x);
  compare_near(scene->links[0].material.value[MATERIAL_FRICTION], 0.7, 1e-15, "friction");
  compare_near(scene->links[1].material.value[MATERIAL_RESTITUTION], 0.9, 1e-15, "restitution");
  compare_near(scene->links[0].material.value[MATERIAL_ROLLING], 0.02, 1e-15, "rolling");
  model_scene_destroy(scene, case_scene(c, 0));
  design_case_free(c);
}

static void what_is_tied_is_one_variable(void** state) {
  (void)state;
  DesignCase* c = case_of("{type: mass, links: [box, arm], tie: true}");
  expect_variables(&c->design, "box/mass\n");
  double x[1] = {5};
  Scene* scene = scene_of(c, x);
  assert_true(scene->links[0].mass == 5 && scene->links[1].mass == 5);
  model_scene_destroy(scene, case_scene(c, 0));
  design_case_free(c);
}

/* The box is rotated by 90 degrees about z, so its x edge lies along the link's y. */
static void edges_of_a_box_D10(void** state) {
  (void)state;
  DesignCase* c = case_of("{type: size, link: box, axes: [x, z]}");
  expect_variables(&c->design, "box/size/x\nbox/size/z\n");
  double x[2] = {0.3, 0.5};
  Scene* scene = scene_of(c, x);
  const SceneShape* shape = &scene->shapes[scene->links[0].shapes[0].shape];
  assert_int_equal(shape->point_count, 8);
  for (int k = 0; k < 8; k++) {
    compare_near(fabs(shape->points[k].x - 1), 0.2, 1e-14, "the y edge stays");
    compare_near(fabs(shape->points[k].y - 2), 0.15, 1e-14, "the x edge");
    compare_near(fabs(shape->points[k].z - 3), 0.25, 1e-14, "the z edge");
  }
  model_scene_destroy(scene, case_scene(c, 0));
  design_case_free(c);
}

/* The face on the negative x side of the box stays at y = 1.9, and the point three quarters up its z edge at 3.15. */
static void edges_of_a_box_with_an_anchor_D10(void** state) {
  (void)state;
  DesignCase* c = case_of("{type: size, link: box, axes: [x, z], anchor: [-1, 0, 0.5]}");
  double x[2] = {0.3, 0.5}, low = 9, high = -9, bottom = 9, top = -9;
  Scene* scene = scene_of(c, x);
  const SceneShape* shape = &scene->shapes[scene->links[0].shapes[0].shape];
  for (int k = 0; k < 8; k++) {
    Vec3 p = shape->points[k];
    compare_near(fabs(p.x - 1), 0.2, 1e-14, "the y edge stays");
    low = fmin(low, p.y), high = fmax(high, p.y), bottom = fmin(bottom, p.z), top = fmax(top, p.z);
  }
  compare_near(low, 1.9, 1e-14, "the face that stays");
  compare_near(high, 2.2, 1e-14, "the opposite face");
  compare_near(bottom, 3.15 - 0.75 * 0.5, 1e-14, "three quarters of the edge are below the anchor");
  compare_near(top, 3.15 + 0.25 * 0.5, 1e-14, "a quarter of it is above");
  model_scene_destroy(scene, case_scene(c, 0));
  design_case_free(c);
}

/* Edges of one box in two entries of the task, which both move every corner. */
static void edges_of_a_box_in_two_entries_D10(void** state) {
  (void)state;
  DesignCase* c = case_of("{type: size, link: box, axes: [z]}, {type: size, link: box, axes: [x]}");
  expect_variables(&c->design, "box/size/z\nbox/size/x\n");
  double x[2] = {0.5, 0.3};
  Scene* scene = scene_of(c, x);
  const SceneShape* shape = &scene->shapes[scene->links[0].shapes[0].shape];
  for (int k = 0; k < 8; k++) {
    compare_near(fabs(shape->points[k].x - 1), 0.2, 1e-14, "the y edge stays");
    compare_near(fabs(shape->points[k].y - 2), 0.15, 1e-14, "the x edge of the second entry");
    compare_near(fabs(shape->points[k].z - 3), 0.25, 1e-14, "the z edge of the first entry");
  }
  model_scene_destroy(scene, case_scene(c, 0));
  design_case_free(c);
}

/* The radius of two wheels is one variable; their widths and rims stay. */
static void chosen_lengths_of_round_solids(void** state) {
  (void)state;
  DesignCase* c = design_case(
      "steps: 1\nscene:\n  links:\n"
      "    - {name: left, mass: 1, shape: {type: wheel, radius: 0.3, width: 0.2, rim: 0.05}}\n"
      "    - {name: right, mass: 1, position: [0, 2, 0], shape: {type: cylinder, radius: 0.3, length: 0.4}}\n"
      "loss: [{type: point, link: left, target: [0, 0, 0]}]\n"
      "parameters: [{type: size, links: [left, right], lengths: [radius], tie: true}, {type: shape_size, link: right, "
      "lengths: [length]}]\n");
  assert_int_equal(c->design.variable_count, 2);
  double x[2] = {0.25, 0.5};
  Scene* scene = scene_of(c, x);
  const SceneShape* left = &scene->shapes[scene->links[0].shapes[0].shape];
  const SceneShape* right = &scene->shapes[scene->links[1].shapes[0].shape];
  assert_true(left->radius == 0.25 && left->width == 0.2 && left->rim == 0.05);
  assert_true(right->radius == 0.25 && right->length == 0.5);
  model_scene_destroy(scene, case_scene(c, 0));
  design_case_free(c);
}

/* Numbers of shapes are called by their keys in the scene; a name of earlier versions is known, with a warning. */
static void names_of_shape_numbers(void** state) {
  (void)state;
  DesignCase* c = design_case(
      "steps: 1\nscene:\n  links:\n"
      "    - {name: a, mass: 1, shapes: [{type: wheel, radius: 0.3, width: 0.2, rim: 0.05}, {type: sphere, radius: "
      "0.1}, "
      "{type: rounded_box, radius: 0.01, size: [0.1, 0, 0.2]}, {type: cone, bottom_radius: 0.2, top_radius: 0.1, "
      "length: 0.3}]}\n"
      "loss: [{type: point, link: a, target: [0, 0, 0]}]\n"
      "parameters: [{type: shape_size, link: a}]\n");
  expect_variables(&c->design,
                   "a/shape/0/radius\na/shape/0/width\na/shape/0/rim\na/shape/1/radius\na/shape/2/radius\n"
                   "a/shape/2/size/x\na/shape/2/size/z\na/shape/3/bottom_radius\na/shape/3/top_radius\n"
                   "a/shape/3/length\n");
  assert_string_equal(c->design.variables[6].former, "a/size/2.3");
  design_case_free(c);
  c = design_case(
      "steps: 1\nscene:\n  links:\n"
      "    - {name: a, mass: 1, shapes: [{type: superellipsoid, size: [0.3, 0.2, 0.1], exponent: 2}, {type: "
      "superquadric, size: [0.3, 0.2, 0.1], exponents: [0.5, 0.6]}, {type: truncated_cone, bottom_radius: 0.2, "
      "top_radius: 0.1, below: 0.3, above: 0.4, sharpness: 20}, {type: superelliptic_cylinder, radius: 0.2, "
      "half_length: 0.1, exponent: 2}, {type: smooth_polytope, sharpness: 20, normals: [[1, 0, 0], [-1, 0, 0], "
      "[0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], offsets: [1, 1, 1, 1, 1, 2]}]}\n"
      "loss: [{type: point, link: a, target: [0, 0, 0]}]\n"
      "parameters: [{type: shape_form, link: a}, {type: shape_size, link: a}]\n");
  expect_variables(&c->design,
                   "a/shape/0/exponent\na/shape/1/exponents/0\na/shape/1/exponents/1\na/shape/2/sharpness\n"
                   "a/shape/3/exponent\na/shape/4/sharpness\na/shape/0/size/x\na/shape/0/size/y\na/shape/0/size/z\n"
                   "a/shape/1/size/x\na/shape/1/size/y\na/shape/1/size/z\na/shape/2/bottom_radius\n"
                   "a/shape/2/top_radius\na/shape/2/below\na/shape/2/above\na/shape/3/radius\n"
                   "a/shape/3/half_length\na/shape/4/offsets/0\na/shape/4/offsets/1\na/shape/4/offsets/2\n"
                   "a/shape/4/offsets/3\na/shape/4/offsets/4\na/shape/4/offsets/5\n");
  assert_true(c->design.variables[23].initial == 2 && c->design.variables[14].initial == 0.3);
  design_case_free(c);
}

/* ---------------------------------------------------------------- inertia (D9) */

/* The values at the start are the inertia itself. */
static void inertia_begins_where_it_is(void** state) {
  (void)state;
  static const char* const forms[3] = {"scale", "diagonal", "full"};
  for (int f = 0; f < 3; f++) {
    char item[80];
    snprintf(item, sizeof item, "{type: inertia, link: box, form: %s}", forms[f]);
    DesignCase* c = case_of(item);
    assert_int_equal(c->design.variable_count, f == 0 ? 1 : 3 * f);
    double x[6];
    for (int k = 0; k < c->design.variable_count; k++) x[k] = c->design.variables[k].initial;
    Scene* scene = scene_of(c, x);
    /* a box by the masses of its eight corners: m (b^2 + c^2) / 4, its first two edges exchanged by the turn */
    const double wanted[6] = {2 * (0.04 + 0.36) / 4, 2 * (0.16 + 0.36) / 4, 2 * (0.04 + 0.16) / 4, 0, 0, 0};
    for (int k = 0; k < 6; k++) compare_near(scene->links[0].inertia[k], wanted[k], 1e-13, "%s, entry %d", forms[f], k);
    compare_near(scene->links[0].center.x, 1, 1e-14, "centre");
    model_scene_destroy(scene, case_scene(c, 0));
    design_case_free(c);
  }
}

/* Whatever the variables are: the principal moments are positive, and none larger than the sum of the others. */
static void every_value_is_a_body_D9(void** state) {
  (void)state;
  uint64_t seed = 20261122;
  Random random = {seed};
  for (int trial = 0; trial < 1000; trial++) {
    double x[6], inertia[6];
    DesignInertia own = {.full = trial % 2 == 0};
    for (int k = 0; k < 6; k++) x[k] = random_uniform(&random, -1.5, 1.5);
    for (int k = 0; k < 3; k++) own.above[k] = random_uniform(&random, -1, 1);
    design_inertia_values(&own, x, inertia);
    if (!inertia_is_positive_definite(inertia) || !inertia_is_physical(inertia))
      fail_msg("seed %llu, trial %d", (unsigned long long)seed, trial);
  }
}

static void slopes_of_inertia_D9(void** state) {
  (void)state;
  Random random = {7};
  for (int trial = 0; trial < 50; trial++) {
    double x[6], inertia[6], by_inertia[6], slope[6] = {0};
    DesignInertia own = {.full = trial % 2 == 0};
    for (int k = 0; k < 6; k++) x[k] = random_uniform(&random, -1, 1);
    for (int k = 0; k < 6; k++) by_inertia[k] = random_normal(&random);
    for (int k = 0; k < 3; k++) own.above[k] = random_uniform(&random, -1, 1);
    design_inertia_values(&own, x, inertia);
    design_inertia_gradient(&own, inertia, by_inertia, slope);
    for (int k = 0; k < (own.full ? 6 : 3); k++) {
      double h = 1e-5, difference = 0, keep = x[k];
      for (int side = -1; side <= 1; side += 2) {
        double moved[6];
        x[k] = keep + side * h;
        design_inertia_values(&own, x, moved);
        for (int i = 0; i < 6; i++) difference += side * by_inertia[i] * moved[i] / (2 * h);
      }
      x[k] = keep;
      compare_near(slope[k], difference, 1e-7 * (1 + fabs(difference)), "seed 7, trial %d, variable %d", trial, k);
    }
  }
}

/* ---------------------------------------------------------------- directions (D11) */

/* Numbers for x as a rotation that takes z to the axis, or as itself. */
static Mat3 turned(const DesignRotation* own, const double* x) {
  double numbers[4];
  design_rotation_values(own, x, numbers);
  return mat3_from_quat(quat_at(numbers));
}

/* dL = by . (turn in the frame's new axes), found from the rotations on both sides. */
static void slopes_of_rotations_D11(void** state) {
  (void)state;
  Random random = {11};
  for (int trial = 0; trial < 50; trial++) {
    double x[3], numbers[4], slope[3] = {0}, size = trial % 3 == 0 ? 1e-3 : 1.5;
    Vec3 by = {random_normal(&random), random_normal(&random), random_normal(&random)};
    DesignRotation own = {.variable = {0, 1, 2}};
    own.rotation = quat_exp(vec3(random_normal(&random), random_normal(&random), random_normal(&random)));
    for (int k = 0; k < 3; k++) x[k] = random_uniform(&random, -size, size);
    design_rotation_values(&own, x, numbers);
    design_rotation_gradient(&own, numbers, by, slope);
    Mat3 at = turned(&own, x);
    for (int k = 0; k < 3; k++) {
      double h = 1e-5, keep = x[k];
      x[k] = keep + h;
      Mat3 after = turned(&own, x);
      x[k] = keep - h;
      Mat3 change = mat3_scale(mat3_sub(after, turned(&own, x)), 0.5 / h);
      x[k] = keep;
      Mat3 spin = mat3_mul(mat3_transpose(at), change); /* [d]x */
      Vec3 d = vec3(spin.m[2][1], spin.m[0][2], spin.m[1][0]);
      compare_near(slope[k], vec3_dot(by, d), 1e-8 * (1 + vec3_norm(by)), "seed 11, trial %d, variable %d", trial, k);
    }
  }
}

/* L = c . a of the axis: a turn d changes it by c . (d x a). The axis tilts by the angle whose tangent the variable is.
 */
static void slopes_of_axes_D11(void** state) {
  (void)state;
  Random random = {12};
  for (int trial = 0; trial < 50; trial++) {
    double x[3], a[4], slope[3] = {0};
    Vec3 c = {random_normal(&random), random_normal(&random), random_normal(&random)};
    Vec3 along = {random_normal(&random), random_normal(&random), random_normal(&random)};
    DesignRotation own = {.changes_axis = true, .variable = {0, 1, 2}, .axis = vec3_scale(along, 1 / vec3_norm(along))};
    for (int k = 0; k < 3; k++) x[k] = random_uniform(&random, -0.8, 0.8);
    design_rotation_values(&own, x, a);
    compare_near(vec3_norm(vec3_at(a)), 1, 1e-15, "length");
    Vec3 across = vec3_cross(vec3_at(x), own.axis);
    compare_near(vec3_dot(vec3_at(a), own.axis), 1 / sqrt(1 + vec3_dot(across, across)), 1e-14, "trial %d", trial);
    design_rotation_gradient(&own, a, vec3_cross(vec3_at(a), c), slope);
    for (int k = 0; k < 3; k++) {
      double h = 1e-5, keep = x[k], moved[2][4];
      for (int side = 0; side < 2; side++) {
        x[k] = keep + (side ? h : -h);
        design_rotation_values(&own, x, moved[side]);
      }
      x[k] = keep;
      double quotient = vec3_dot(c, vec3_sub(vec3_at(moved[1]), vec3_at(moved[0]))) / (2 * h);
      compare_near(slope[k], quotient, 1e-8 * (1 + vec3_norm(c)), "seed 12, trial %d, variable %d", trial, k);
    }
  }
}

static void directions_and_pairs_are_named(void** state) {
  (void)state;
  DesignCase* c = design_case(
      "steps: 1\nscene:\n  contact: {restitution: 0.2, pairs: [{a: box, b: arm, friction: 0.3}, {a: arm, b: box, "
      "friction:"
      " 0.5}]}\n  links:\n"
      "    - {name: box, mass: 2, mass_model: vertices, shape: {type: box, size: [0.2, 0.4, 0.6]}}\n"
      "    - {name: arm, mass: 1, mass_model: vertices, joint: {type: hinge, axis: [0, 1, 0], position: [2, 0, 0]}, "
      "shape: {type: sphere, "
      "radius: 0.3}}\n"
      "loss: [{type: point, link: box, target: [0, 0, 0]}]\n"
      "parameters: [{type: axis, link: arm}, {type: rotation, link: arm, axes: [z], prior: 0.1}, {type: pair_friction, "
      "a: "
      "arm, b: box, within: 0.2}, {type: restitution}]\n");
  expect_variables(&c->design, "arm/axis/x\narm/axis/z\narm/rotation/z\narm+box/friction\ncontact/restitution\n");
  assert_true(variable_of(&c->design, "arm+box/friction")->initial == 0.5); /* the last item counts */
  assert_true(variable_of(&c->design, "contact/restitution")->high == 1);
  assert_true(variable_of(&c->design, "arm/rotation/z")->prior == 0.1);
  double x[5] = {0, 0, 0.3, 0.6, 0.7};
  Scene* scene = scene_of(c, x);
  compare_near(scene->links[1].joint.rotation.z, sin(0.15), 1e-15, "rotation");
  compare_near(scene->contact.pairs[1].material.value[MATERIAL_FRICTION], 0.6, 1e-15, "friction");
  compare_near(scene->contact.pairs[0].material.value[MATERIAL_FRICTION], 0.3, 0, "that of the other item");
  compare_near(scene->contact.restitution, 0.7, 1e-15, "restitution");
  model_scene_destroy(scene, case_scene(c, 0));
  design_case_free(c);
}

#define LOOPS                                                                                                      \
  "steps: 1\nscene:\n  contact: {model: none}\n  shapes: {box: {type: box, size: [0.2, 0.4, 0.6]}}\n  links:\n"    \
  "    - {name: bob, mass: 2, mass_model: vertices, shape: box, position: [0, 0, 1]}\n"                            \
  "    - {name: arm, mass: 1, mass_model: vertices, joint: {type: hinge, axis: [0, 1, 0], position: [2, 0, 0]}, "  \
  "shape: box}\n"                                                                                                  \
  "    - {name: gear, mass: 1, mass_model: vertices, joint: {type: hinge, axis: [0, 1, 0], position: [4, 0, 0]}, " \
  "shape: box}\n"                                                                                                  \
  "    - {name: rack, mass: 1, mass_model: vertices, joint: {type: slide, axis: [1, 0, 0], position: [6, 0, 0]}, " \
  "shape: box}\n"                                                                                                  \
  "  closures:\n"                                                                                                  \
  "    - {type: distance, a: bob, point: [0, 0, 1], axis: [1, 0, 2], length: 3}\n"                                 \
  "    - {type: distance, a: bob, point: [0.1, 0, 1], axis: [0, 0, 1], length: 4}\n"                               \
  "    - {type: weld, a: gear, b: bob}\n"                                                                          \
  "  couplings: [{link: rack, terms: [{link: arm, ratio: 0.3}, {link: gear, ratio: 0.4}]},\n"                      \
  "    {link: gear, of: arm, ratio: 2, offset: 0}]\n"                                                              \
  "loss: [{type: point, link: bob, target: [0, 0, 0]}]\n"

static void loops_are_named(void** state) {
  (void)state;
  DesignCase* c =
      design_case(LOOPS
                  "parameters: [{type: closure_length, a: bob, low: 1}, {type: closure_axis, a: bob, b: world}, "
                  "{type: ratio, link: rack}]\n");
  expect_variables(&c->design,
                   "bob-world#0/length\nbob-world#1/length\nbob-world#0/axis/x\nbob-world#0/axis/y\n"
                   "bob-world#1/axis/x\nbob-world#1/axis/y\nrack/ratio/0\nrack/ratio/1\n");
  double x[8] = {2, 5, 1, 0.5, 0.25, 0.125, 0.6, 0.7};
  Scene* scene = scene_of(c, x);
  compare_near(scene->closures[1].length, 5, 0, "length");
  compare_near(scene->closures[1].axis.y, 0.125, 0, "axis");
  compare_near(scene->couplings[0].terms[2].ratio, 0.7, 0, "ratio");
  compare_near(case_scene(c, 0)->couplings[0].terms[2].ratio, 0.4, 0, "ratio of the scene as it was");
  model_scene_destroy(scene, case_scene(c, 0));
  design_case_free(c);
  expect_design_problems(LOOPS
                         "parameters: [{type: closure_point, a: gear, b: bob}, {type: closure_axis, a: gear, b: "
                         "bob}, {type: closure_length, a: arm}, {type: ratio, link: gear}]\n",
                         "17:14: error: the closure gear-bob: 'point' is missing: set 'point' in the scene\n"
                         "17:54: error: the closure gear-bob: 'axis' is missing: set 'axis' in the scene\n"
                         "17:119: error: no closure has 'arm' as a and 'world' as b: correct the names of the links\n"
                         "17:145: error: link 'gear': its coupling has an 'offset', so its ratios cannot be variables: "
                         "remove 'offset', which then follows from the initial coordinates, or use a parameter of type "
                         "offset\n");
}

/* A wheel follows one of two joints that follow each other. The wheel's offset changes only the wheel's initial angle.
 */
static void an_offset_behind_a_cycle_of_couplings(void** state) {
  (void)state;
  DesignCase* c = design_case(
      "steps: 1\nscene:\n  contact: {model: none}\n  shapes: {box: {type: box, size: [0.2, 0.4, 0.6]}}\n  links:\n"
      "    - {name: arm, mass: 1, shape: box, joint: {type: hinge, axis: [0, 1, 0], position: [2, 0, 0]}}\n"
      "    - {name: gear, mass: 1, shape: box, joint: {type: hinge, axis: [0, 1, 0], position: [4, 0, 0]}}\n"
      "    - {name: wheel, mass: 1, shape: box, joint: {type: hinge, axis: [0, 1, 0], position: [6, 0, 0]}}\n"
      "  couplings: [{link: gear, of: arm, ratio: 2, offset: 0}, {link: arm, of: gear, ratio: 0.5, offset: 0},\n"
      "    {link: wheel, of: gear, ratio: 3, offset: 0}]\n"
      "loss: [{type: point, link: wheel, target: [0, 0, 0]}]\nparameters: [{type: offset, link: wheel}]\n");
  expect_variables(&c->design, "wheel/offset/0\n");
  double x[1] = {0.25};
  Scene* scene = scene_of(c, x);
  const double wanted[3] = {0, 0, 0.25}; /* wheel = 3 gear + offset, gear = arm = 0 */
  for (int link = 0; link < 3; link++)
    compare_near(model_scene_initial(scene, link)->coordinates[0], wanted[link], 0, "start of link %d", link);
  compare_near(scene->couplings[2].offset, 0.25, 0, "offset");
  model_scene_destroy(scene, case_scene(c, 0));
  design_case_free(c);
}

/* One variable for the gains of both; each gain has its own. */
#define CORDS                                                                                                       \
  "steps: 1\nscene:\n  contact: {model: none}\n  links:\n"                                                          \
  "    - {name: box, mass: 2, mass_model: vertices, shape: {type: box, size: [0.2, 0.4, 0.6]}}\n"                   \
  "    - {name: arm, mass: 1, mass_model: vertices, position: [2, 0, 0], shape: {type: sphere, radius: 0.3}}\n"     \
  "  tendons:\n"                                                                                                    \
  "    - {points: [{point: [1, 0, 0]}, {link: box}], tension: 3}\n"                                                 \
  "    - {points: [{link: box, point: [0.1, 0, 0]}, {link: arm}, {point: [5, 6, 7]}], stiffness: 10, rest_length: " \
  "2}\n"                                                                                                            \
  "loss: [{type: point, link: box, target: [0, 0, 0]}]\n"

/* Of the tendons that end on a link: the second one ends in the world, behind the arm. */
static void tendons_are_named(void** state) {
  (void)state;
  DesignCase* c = design_case(
      CORDS
      "control: [{link: box, of: [tensions]}]\n"
      "parameters: [{type: tendon_point, link: arm, axes: [y]}, {type: tendon_stiffness, link: arm}, {type: "
      "tendon_rest_length, link: arm}]\n");
  expect_variables(&c->design,
                   "box/tension_values/0\narm/tendon_point/0/y\narm/tendon_point/1/y\n"
                   "arm/tendon_point/2/y\narm/tendon_stiffness\narm/tendon_rest\n");
  assert_true(variable_of(&c->design, "arm/tendon_point/2/y")->initial == 6);
  double x[6] = {4, 0.1, 0.2, 0.3, 20, 1};
  Scene* scene = scene_of(c, x);
  const SceneTendon *first = &scene->tendons[0], *second = &scene->tendons[1];
  compare_near(first->tension.values[0], 4, 0, "tension");
  for (int i = 0; i < 3; i++) compare_near(second->points[i].point.y, 0.1 * (i + 1), 1e-15, "point %d", i);
  compare_near(second->points[0].point.x, 0.1, 0, "what stays");
  compare_near(second->stiffness, 20, 1e-14, "stiffness");
  compare_near(second->rest_length, 1, 1e-15, "rest length");
  model_scene_destroy(scene, case_scene(c, 0));
  design_case_free(c);
  expect_design_problems(
      CORDS
      "control: [{link: arm, of: [tensions]}]\n"
      "parameters: [{type: tendon_rest_length, link: box}]\n",
      "11:18: error: no load or tendon of the selected kind acts on link 'arm': add one to the "
      "scene, or name another link\n"
      "12:47: error: link 'box': its tendons have no stiffness: set the stiffness of a tendon in the scene\n");
}

#define MOUNTS                                                                                                    \
  "steps: 1\nscene:\n  contact: {model: none}\n  links:\n"                                                        \
  "    - {name: box, mass: 2, mass_model: vertices, shape: {type: box, size: [0.2, 0.4, 0.6]}}\n"                 \
  "    - {name: arm, mass: 1, mass_model: vertices, position: [2, 0, 0], shape: {type: sphere, radius: 0.3}}\n"   \
  "  bushings:\n"                                                                                                 \
  "    - {a: box, frame_b: {}, stiffness: [1, 0, 3, 0, 0, 0]}\n"                                                  \
  "    - {a: box, b: arm, frame_b: {position: [-2, 0, 0]}, stiffness: [1, 2, 3, 4, 5, 6], damping: [0, 0, 0, 0, " \
  "0, 7]}\n"                                                                                                      \
  "loss: [{type: point, link: box, target: [0, 0, 0]}]\n"

/* Of the bushings whose a is the link, without directions that have no stiffness. */
static void bushings_are_named(void** state) {
  (void)state;
  DesignCase* c = design_case(
      MOUNTS
      "parameters: [{type: bushing_stiffness, link: box, dof: [0, 1, 2]}, {type: bushing_damping, link: box}, {type: "
      "bushing_preload, link: box, dof: [5], tie: true}, {type: bushing_position_b, link: box, axes: [x]}]\n");
  expect_variables(&c->design,
                   "box/bushing_stiffness/0\nbox/bushing_stiffness/2\nbox/bushing_stiffness/1/0\n"
                   "box/bushing_stiffness/1/1\nbox/bushing_stiffness/1/2\nbox/bushing_damping/1/5\n"
                   "box/bushing_preload/5\nbox/bushing_position_b/x\nbox/bushing_position_b/1/x\n");
  assert_true(variable_of(&c->design, "box/bushing_position_b/1/x")->initial == -2);
  double x[9] = {10, 30, 11, 12, 13, 70, 0.5, 0.1, -2.5};
  Scene* scene = scene_of(c, x);
  const SceneBushing *first = &scene->bushings[0], *second = &scene->bushings[1];
  compare_near(first->stiffness[2][2], 30, 1e-14, "stiffness");
  compare_near(first->stiffness[1][1], 0, 0, "what stays");
  compare_near(second->damping[5][5], 70, 1e-13, "damping");
  compare_near(first->preload[5], 0.5, 0, "preload");
  compare_near(second->preload[5], 0.5, 0, "the tied preload");
  compare_near(second->position[1].x, -2.5, 0, "position on b");
  model_scene_destroy(scene, case_scene(c, 0));
  design_case_free(c);
  expect_design_problems(MOUNTS "parameters: [{type: bushing_stiffness, link: arm}]\n",
                         "11:46: error: link 'arm': no bushing has the link as 'a': name the link 'a' of a bushing\n");
}

/* One factor for springs of different units; the last link of a rod has no bushing of its own. */
static void tied_springs_of_a_rod_have_a_factor(void** state) {
  (void)state;
  DesignCase* c = design_case(
      "steps: 1\nscene:\n"
      "  rods: [{name: r, points: [[0, 0, 0], [0, 0, 1]], segments: 3, radius: 0.01, young: 1.0e7, density: 1000, "
      "from: "
      "{}}]\n"
      "loss: [{type: point, link: r_2, target: [0, 0, 0]}]\n"
      "parameters: [{type: bushing_stiffness, links: [r_*], dof: [2, 3, 4], tie: true}]\n");
  expect_variables(&c->design, "r_0/bushing_stiffness/scale\n");
  assert_true(c->design.variables[0].initial == 1);
  const SceneBushing* before = case_scene(c, 0)->bushings;
  Scene* scene = scene_of(c, (double[]){1.5});
  for (int k = 0; k < 3; k++) {
    compare_near(scene->bushings[k].stiffness[2][2] / before[k].stiffness[2][2], 1.5, 1e-14, "stretching of %d", k);
    compare_near(scene->bushings[k].stiffness[4][4] / before[k].stiffness[4][4], 1.5, 1e-14, "bending of %d", k);
    compare_near(scene->bushings[k].stiffness[5][5] / before[k].stiffness[5][5], 1, 0, "torsion of %d", k);
  }
  model_scene_destroy(scene, case_scene(c, 0));
  design_case_free(c);
}

static void gains_of_links_are_tied(void** state) {
  (void)state;
  DesignCase* c = design_case(
      "steps: 1\nscene:\n  simulation: {integrator: first_order}\n  links:\n"
      "    - {name: one, mass: 1, mass_model: vertices, joint: {type: hinge, axis: [0, 1, 0]}, shape: {type: sphere, "
      "radius: 0.3}}\n"
      "    - {name: two, mass: 1, mass_model: vertices, joint: {type: hinge, axis: [0, 1, 0], position: [2, 0, 0]}, "
      "shape: {type: sphere, "
      "radius: "
      "0.3}}\n"
      "  controllers:\n"
      "    - {link: one, type: pd, position_gain: 3, velocity_gain: 1, target: {type: constant, value: [0]}}\n"
      "    - {link: two, type: pd, position_gain: 5, velocity_gain: 2, target: {type: constant, value: [0]}}\n"
      "loss: [{type: point, link: one, target: [0, 0, 0]}]\n"
      "control: [{links: [one, two], parameters: [position_gain, velocity_gain], tie: true, prior: 2}]\n");
  expect_variables(&c->design, "one/position_gain/0\none/velocity_gain/0\n");
  assert_true(variable_of(&c->design, "one/velocity_gain/0")->prior == 2);
  double x[2] = {7, 0.5};
  Scene* scene = scene_of(c, x);
  for (int k = 0; k < 2; k++)
    assert_true(scene->controllers[k].position_gain[0] == 7 && scene->controllers[k].velocity_gain[0] == 0.5);
  model_scene_destroy(scene, case_scene(c, 0));
  design_case_free(c);
}

/* ---------------------------------------------------------------- refused */

static void refuse(const char* items, const char* wanted) {
  char text[2000];
  snprintf(text, sizeof text, LINKS "parameters: [%s]\n", items);
  expect_design_problems(text, wanted);
}

static void what_cannot_change(void** state) {
  (void)state;
  refuse("{type: shape_form, link: arm}",
         "9:39: error: link 'arm': the parameter needs a smooth convex shape, and the link has none: give the link "
         "one, such as a superellipsoid\n");
  refuse(
      "{type: armature, link: arm}",
      "9:14: error: arm/armature/0 is 0, but must start above 0 to be a variable: set a positive value in the scene\n");
  refuse("{type: damping, link: arm, dof: [3]}",
         "9:36: error: link 'arm': its joint has no such number in the selected degrees of freedom: correct 'dof', or "
         "set the number in the scene\n");
  refuse("{type: joint_friction, link: box, dof: [4]}",
         "9:43: error: link 'box': the rotations of ball and free joints have no variable of this type: choose another "
         "type, or replace the joint by hinges\n");
  refuse("{type: link_friction, link: box}",
         "9:42: error: link 'box': the scene gives no such value for the link: set the value in the scene\n");
  refuse("{type: friction, low: 0.5}",
         "9:14: error: contact/friction starts at 0.4, outside its bounds [0.5, inf]: widen the bounds or change the "
         "initial value\n");
  refuse("{type: size, link: box, tie: true}",
         "9:33: error: link 'box': tied edges must have equal initial lengths: set equal edges in the scene, or remove "
         "'tie'\n");
  refuse("{type: size, link: arm, axes: [x]}",
         "9:33: error: link 'arm': 'axes' selects edges of a box, but the link has no box: for round shapes give "
         "lengths: [radius]\n");
  refuse("{type: size, link: arm, anchor: [0, 0, 1]}",
         "9:33: error: link 'arm': 'anchor' belongs to a box, but the link has no box: remove 'anchor'\n");
  refuse("{type: size, link: box, lengths: [radius]}",
         "9:33: error: link 'box': its shape is a box, which has no 'lengths': select its edges by 'axes', such as [x, "
         "z]\n");
  refuse("{type: size, link: arm, lengths: [width]}",
         "9:33: error: link 'arm': none of its round solids has one of the given 'lengths': correct or remove "
         "'lengths'\n");
  refuse("{type: rotation, link: box}",
         "9:37: error: link 'box': the link is free, so its orientation belongs to the initial state: use 'initial' "
         "with turns: true\n");
  refuse("{type: axis, link: arm, tie: true}", "9:33: error: link 'arm': directions cannot be tied: remove 'tie'\n");
  refuse("{type: pair_friction, a: box, b: arm}",
         "9:39: error: no item of contact.pairs gives the friction of 'box' and 'arm': add one to the scene\n");
  refuse("{type: friction}, {type: friction}",
         "9:32: error: variable 'contact/friction' is listed twice: remove one of the entries\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(materials_of_links),
      cmocka_unit_test(names_bounds_and_numbers),
      cmocka_unit_test(what_is_tied_is_one_variable),
      cmocka_unit_test(edges_of_a_box_D10),
      cmocka_unit_test(edges_of_a_box_with_an_anchor_D10),
      cmocka_unit_test(edges_of_a_box_in_two_entries_D10),
      cmocka_unit_test(chosen_lengths_of_round_solids),
      cmocka_unit_test(names_of_shape_numbers),
      cmocka_unit_test(inertia_begins_where_it_is),
      cmocka_unit_test(every_value_is_a_body_D9),
      cmocka_unit_test(slopes_of_inertia_D9),
      cmocka_unit_test(what_cannot_change),
      cmocka_unit_test(slopes_of_rotations_D11),
      cmocka_unit_test(slopes_of_axes_D11),
      cmocka_unit_test(directions_and_pairs_are_named),
      cmocka_unit_test(loops_are_named),
      cmocka_unit_test(an_offset_behind_a_cycle_of_couplings),
      cmocka_unit_test(tendons_are_named),
      cmocka_unit_test(bushings_are_named),
      cmocka_unit_test(tied_springs_of_a_rod_have_a_factor),
      cmocka_unit_test(gains_of_links_are_tied),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
