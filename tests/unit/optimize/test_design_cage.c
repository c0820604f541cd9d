/* Tests cages, whose trilinear control points move vertices, against affine maps, symmetry and the definition. */
#include "design_testing.h"

#define LOSS "loss: [{type: shape}]\n"
#define BOX "{type: box, size: [1, 2, 3]}"
#define ONE "scene: {links: [{name: a, mass: 1, shape: " BOX "}]}\n"
/* Two overlapping hulls of a link and its hinged arm, whose joint stands in the first. */
#define ARM                                                                                                         \
  "scene: {links: [{name: a, mass: 1, shapes: [{type: rounded_box, radius: 0.2, size: [1, 1, 1], segments: 16}, "   \
  "{type: rounded_box, radius: 0.3, size: [0.5, 1, 0.3], segments: 16, position: [0.6, 0.1, 0]}]}, {name: b, "      \
  "parent: a, mass: 1, joint: {type: hinge, axis: [0, 0, 1], position: [0.1, 0.2, 0.3]}, shape: {type: box, size: " \
  "[0.3, 0.3, 3], position: [0, 0, 4]}}]}\n"

static Vec3 map_point(Mat3 m, Vec3 shift, Vec3 p) { return vec3_add(mat3_mul_vec(m, p), shift); }

/* Control points moved by an affine map take all vertices with them, to rounding: weights are 1 together and reproduce
 * the place. */
static void affine_maps_D12(void** state) {
  (void)state;
  DesignCase* c = design_case(ARM "design: {connect: false, cage: [{link: a, cells: [3, 1, 4]}]}\n" LOSS);
  assert_int_equal(c->design.variable_count,
                   3 * (4 * 2 * 5 - 2)); /* two points have no vertex in the cells around them */
  Mat3 m = {{{1.1, 0.2, -0.1}, {0.05, 0.9, 0.3}, {-0.2, 0.1, 1.2}}};
  Vec3 shift = {0.3, -0.2, 0.1};
  double* x = MEMORY_NEW(double, c->design.variable_count);
  for (int k = 0; k < c->design.variable_count; k += 3) {
    Vec3 p = {c->design.variables[k].initial, c->design.variables[k + 1].initial, c->design.variables[k + 2].initial};
    vec3_store(map_point(m, shift, p), x + k);
  }
  Vec3* before[2];
  for (int h = 0; h < 2; h++) {
    const SceneShape* hull = case_hull(c, 0, "a", h);
    before[h] = MEMORY_NEW(Vec3, hull->point_count);
    memcpy(before[h], hull->points, sizeof(Vec3) * (size_t)hull->point_count);
  }
  design_apply(&c->design, x, case_scene(c, 0));
  for (int h = 0; h < 2; h++) {
    const SceneShape* hull = case_hull(c, 0, "a", h);
    for (int k = 0; k < hull->point_count; k++) {
      Vec3 wanted = map_point(m, shift, before[h][k]);
      compare_arrays(&hull->points[k].x, &wanted.x, 3, 1e-14, "affine");
    }
    memory_free(before[h]);
  }
  memory_free(x);
  design_case_free(c);
}

/* One cell around a box: its corners are the control points, the first axis running fastest; bounds are theirs. */
static void corners_are_control_points_D12(void** state) {
  (void)state;
  DesignCase* c = design_case(ONE "design: {cage: [{link: a, cells: [1, 1, 1], axes: [x, z], within: 0.25}]}\n" LOSS);
  assert_int_equal(c->design.variable_count, 2 * 8);
  assert_string_equal(c->design.variables[0].name, "a/cage/0/x");
  for (int k = 0; k < 8; k++) {
    char name[32];
    snprintf(name, sizeof name, "a/cage/%d/x", k);
    const DesignVariable* v = variable_of(&c->design, name);
    compare_near(v->initial, k & 1 ? 0.5 : -0.5, 0, "%s", name);
    compare_near(v->high - v->low, 0.5, 1e-15, "%s", name);
    snprintf(name, sizeof name, "a/cage/%d/z", k);
    compare_near(variable_of(&c->design, name)->initial, k & 4 ? 1.5 : -1.5, 0, "%s", name);
  }
  double* x = random_design(&c->design, 5, 0.2);
  design_apply(&c->design, x, case_scene(c, 0));
  const SceneShape* hull = case_hull(c, 0, "a", 0);
  for (int m = 0; m < 8; m++) {
    Vec3 p = hull->points[m];
    int point = (p.x > 0) | (p.y > 0) << 1 | (p.z > 0) << 2;
    compare_near(p.x, x[2 * point], 1e-15, "x of corner %d", point);
    compare_near(p.z, x[2 * point + 1], 1e-15, "z of corner %d", point);
    compare_near(fabs(p.y), 1, 0, "y stays");
  }
  memory_free(x);
  design_case_free(c);
}

/* The control point at the midpoint of an edge of two cells moves a point by its weight: 0.1 along x, 0.75 along z. */
static void weights_D12(void** state) {
  (void)state;
  DesignCase* c = design_case(
      "scene: {links: [{name: a, mass: 1, shape: {type: points, points: [[-1, 0, 0], [1, 0, 0], [0, 0, 2], [0.9, 0, "
      "0.5], [0, 1, 1]]}}]}\ndesign: {cage: [{link: a, cells: [2, 1, 1], axes: [y]}]}\n" LOSS);
  double* x = MEMORY_NEW(double, c->design.variable_count);
  for (int k = 0; k < c->design.variable_count; k++) x[k] = c->design.variables[k].initial;
  x[variable_index(&c->design, "a/cage/1/y")] += 0.2; /* at (0, 0, 0) */
  design_apply(&c->design, x, case_scene(c, 0));
  const SceneShape* hull = case_hull(c, 0, "a", 0);
  assert_int_equal(hull->point_count, 5);
  for (int k = 0; k < 5; k++) {
    Vec3 p = hull->points[k];
    double wanted = p.x == 0.9 ? 0.2 * 0.1 * 0.75 : p.z == 1 ? 1 : 0;
    compare_near(p.y, wanted, 1e-15, "vertex at %g %g", p.x, p.z);
  }
  memory_free(x);
  design_case_free(c);
}

/* Vertices outside of the box do not move, nor does the box's side next to them. The surface therefore stays connected.
 */
static void a_box_within_the_link_D12(void** state) {
  (void)state;
  DesignCase* c = design_case(ONE
                              "design: {cage: [{link: a, cells: [1, 1, 2], box: {low: [-0.5, -1, -2.5], high: [0.5, 1, "
                              "0]}}]}\n" LOSS);
  for (int k = 0; k < 12; k++) {
    char name[32];
    snprintf(name, sizeof name, "a/cage/%d/x", k);
    /* the third layer stands at z = 0, with vertices beyond */
    assert_int_equal(variable_index(&c->design, name) >= 0, k < 8);
  }
  apply_random(c, 9, 0.1);
  const SceneShape* hull = case_hull(c, 0, "a", 0);
  for (int m = 0; m < 8; m++) {
    bool moved = hull->points[m].x != 0.5 && hull->points[m].x != -0.5;
    assert_int_equal(moved, hull->points[m].z < 0);
  }
  design_case_free(c);
}

/* A link that is its own mirror image stays one; a follower is the leader's image wherever its vertices are listed. */
static void symmetry_D12(void** state) {
  (void)state;
  DesignCase* c = design_case("scene: {links: [{name: a, mass: 1, shape: " BOX
                              "}, {name: b, mass: 1, position: [9, 0, 0], shape: " BOX
                              "}]}\ndesign: {cage: [{links: [a, b], cells: [2, 1, 3]}], symmetry: [{type: mirror, "
                              "links: [a], normal: [1, 0, 0]}, "
                              "{type: mirror, links: [a, b], normal: [0, 0, 1]}]}\n" LOSS);
  apply_random(c, 11, 0.1);
  const SceneShape *a = case_hull(c, 0, "a", 0), *b = case_hull(c, 0, "b", 0);
  double largest = 0;
  for (int m = 0; m < 8; m++) {
    double own = HUGE_VAL, other = HUGE_VAL;
    for (int k = 0; k < 8; k++) {
      Vec3 p = a->points[m];
      own = fmin(own, vec3_norm(vec3_sub(a->points[k], vec3(-p.x, p.y, p.z))));
      other = fmin(other, vec3_norm(vec3_sub(b->points[k], vec3(p.x, p.y, -p.z))));
    }
    compare_near(own, 0, 1e-14, "its own image");
    compare_near(other, 0, 1e-14, "the follower's");
    largest = fmax(largest, fabs(fabs(a->points[m].x) - 0.5));
  }
  assert_true(largest > 1e-3);
  design_case_free(c);
}

/* The vertex at a joint stays with the joint; those that two hulls share stay one. */
static void ties_and_joints_D12(void** state) {
  (void)state;
  DesignCase* c = design_case(ARM "design: {cage: [{link: a, cells: [2, 2, 2]}]}\n" LOSS);
  apply_random(c, 13, 0.1);
  assert_true(c->design.shared.count >= 2);
  for (int k = 0; k < c->design.shared.count; k++) {
    const SharedVertex* s = &c->design.shared.items[k];
    Vec3 p = case_hull(c, 0, s->link == 0 ? "a" : "b", s->hull[0])->points[s->vertex[0]];
    if (s->child >= 0) {
      compare_bytes(&p, &s->position, sizeof p, "at the joint");
      continue;
    }
    Vec3 q = case_hull(c, 0, "a", s->hull[1])->points[s->vertex[1]];
    compare_bytes(&p, &q, sizeof p, "shared");
    assert_true(vec3_norm(vec3_sub(p, s->position)) > 1e-4);
  }
  design_case_free(c);
}

/* The sum of derivative times change equals the change of a linear function of the vertices. */
static void gradient_D12(void** state) {
  (void)state;
  DesignCase* c = design_case(ARM "design: {cage: [{link: a, cells: [2, 3, 1], axes: [y, z]}]}\n" LOSS);
  const Design* d = &c->design;
  double *x = random_design(d, 1, 0.05), *y = random_design(d, 2, 0.05);
  double* gradient = MEMORY_NEW(double, d->variable_count);
  Model at, there;
  Diagnostics diagnostics = {0};
  design_apply(d, x, case_scene(c, 0));
  assert_int_equal(model_create(&at, case_scene(c, 0), &diagnostics), STATUS_OK);
  ModelGradient g;
  model_gradient_create(&g, &at);
  Random random = {3};
  for (int k = 0; k < 3 * at.vertex_count; k++) ((double*)g.vertices)[k] = random_uniform(&random, -1, 1);
  design_gradient(d, 0, &at, &g, 1, gradient);
  design_apply(d, y, case_scene(c, 0));
  assert_int_equal(model_create(&there, case_scene(c, 0), &diagnostics), STATUS_OK);
  double expected = 0, change = 0;
  for (int k = 0; k < d->variable_count; k++) expected += gradient[k] * (y[k] - x[k]);
  for (int h = 0; h < at.hull_count; h++)
    for (int k = 0; k < at.hulls[h].solid.vertex_count; k++)
      change += vec3_dot(g.vertices[at.hulls[h].vertex_first + k],
                         vec3_sub(there.hulls[h].solid.vertices[k], at.hulls[h].solid.vertices[k]));
  compare_near(change, expected, 1e-12, "change");
  assert_true(fabs(expected) > 1e-3);
  model_gradient_destroy(&g);
  model_destroy(&at);
  model_destroy(&there);
  diagnostics_free(&diagnostics);
  memory_free(gradient);
  memory_free(x);
  memory_free(y);
  design_case_free(c);
}

static void messages(void** state) {
  (void)state;
  static const struct {
    const char *text, *wanted;
  } CASES[] = {
      {ONE "design: {vertices: [{link: a}], cage: [{link: a, cells: [1, 1, 1]}]}\n" LOSS,
       "2:40: error: link 'a' has both free vertices and a cage: choose one of them\n"},
      {ONE "design: {cage: [{link: a, cells: [1, 1, 1]}, {link: a, cells: [1, 1, 1], axes: [y]}]}\n" LOSS,
       "2:46: error: variable 'a/cage/0/y' is listed twice: remove one of the entries\n"},
      {ONE "design: {cage: [{link: a, cells: [1, 1, 1], box: {low: [0, 0, 0], high: [0.1, 0.1, 0.1]}}]}\n" LOSS,
       "2:17: error: the cage of link 'a' contains no vertex that can move: enlarge its box or unfreeze vertices\n"},
      {ONE "design: {cage: [{link: a, cells: [1, 1, 1], box: {low: [0, 0, 0], high: [1, 1, 0]}}]}\n" LOSS,
       "2:17: error: the cage of link 'a' has no extent along z: set or enlarge its box\n"},
  };
  for (int k = 0; k < COUNT(CASES); k++) expect_design_problems(CASES[k].text, CASES[k].wanted);
}

/* A cage moves vertices, which exact solids have as polyhedra only. */
static void round_solids_get_vertices(void** state) {
  (void)state;
  static const char* const SHAPES[] = {"{type: rounded_box, radius: 0.2, size: [1, 0, 0]}",
                                       "{type: cylinder, radius: 0.2, length: 1}"};
  for (int k = 0; k < 2; k++) {
    Text text = {0};
    text_add(&text,
             "scene: {links: [{name: a, mass: 1, shape: %s}]}\ndesign: {cage: [{link: a, cells: [1, 1, 1]}]}\n" LOSS,
             SHAPES[k]);
    Task task = load_task(text.data);
    Design design;
    Diagnostics diagnostics = {0};
    assert_int_equal(design_create(&design, &task, &diagnostics), STATUS_OK);
    char* found = told(&diagnostics);
    assert_non_null(strstr(found, "its vertices are design variables, so its round shape is replaced by a polyhedron"));
    assert_int_equal(design.variable_count, 24);
    memory_free(found);
    diagnostics_free(&diagnostics);
    design_destroy(&design);
    task_free(&task);
    text_free(&text);
  }
}

/* Rounded points have no polyhedron by default: which vertices would move is not obvious. */
static void rounded_points_are_refused(void** state) {
  (void)state;
  static const char* const WISHES[] = {"cage: [{link: a, cells: [1, 1, 1]}]", "vertices: [{link: a, within: 0.1}]"};
  for (int k = 0; k < 4; k++) {
    Text text = {0};
    text_add(&text,
             "scene: {links: [{name: a, mass: 1, shape: {type: rounded_points, radius: 0.2, points: [[0, 0, 0], [1, 0, "
             "0]]%s}}]}\ndesign: {%s}\n" LOSS,
             k / 2 ? ", segments: 8" : "", WISHES[k % 2]);
    Task task = load_task(text.data);
    Design design;
    Diagnostics diagnostics = {0};
    Status status = design_create(&design, &task, &diagnostics);
    char* found = told(&diagnostics);
    assert_int_equal(status, k / 2 ? STATUS_OK : STATUS_BAD_INPUT);
    assert_int_equal(strstr(found, "(rounded_points) cannot be design variables: design its radius") != NULL, k < 2);
    memory_free(found);
    diagnostics_free(&diagnostics);
    design_destroy(&design);
    task_free(&task);
    text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_solids_get_vertices),
      cmocka_unit_test(rounded_points_are_refused),
      cmocka_unit_test(affine_maps_D12),
      cmocka_unit_test(corners_are_control_points_D12),
      cmocka_unit_test(weights_D12),
      cmocka_unit_test(a_box_within_the_link_D12),
      cmocka_unit_test(symmetry_D12),
      cmocka_unit_test(ties_and_joints_D12),
      cmocka_unit_test(gradient_D12),
      cmocka_unit_test(messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
