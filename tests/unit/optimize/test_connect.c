/* Tests shared vertices: their positions, their hulls, and their largest distance outside. */
#include "optimize/design.h"

#include <string.h>

#include "support/bodies.h"
#include "support/runs.h"

/* ---------------------------------------------------------------- centre of an intersection */

static ConvexHull box_hull(Vec3 low, Vec3 high) {
  Vec3 corners[8];
  for (int k = 0; k < 8; k++) corners[k] = vec3(k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z);
  ConvexHull hull;
  assert_int_equal(hull_create(&hull, corners, 8), HULL_OK);
  return hull;
}

/* Signed distance to the nearest facet plane: positive inside. */
static double depth_in(const ConvexHull* hull, Vec3 p) {
  double least = HUGE_VAL;
  for (int t = 0; t < hull->triangle_count; t++) {
    const int* corner = hull->triangles[t];
    Vec3 a = hull->vertices[corner[0]];
    Vec3 n =
        vec3_normalized(vec3_cross(vec3_sub(hull->vertices[corner[1]], a), vec3_sub(hull->vertices[corner[2]], a)));
    least = fmin(least, vec3_dot(n, vec3_sub(a, p)));
  }
  return least;
}

/* Two boxes intersect in a cube, where only one ball is largest. The sizes go from a tenth of a millimetre to a hundred
 * metres. */
static void boxes_that_meet_in_a_cube_D5(void** state) {
  (void)state;
  for (double size = 1e-4; size < 1e3; size *= 10) {
    Vec3 shift = vec3(3 * size, -7 * size, size);
    ConvexHull a = box_hull(shift, vec3_add(shift, vec3(size, size, size)));
    ConvexHull b = box_hull(vec3_add(shift, vec3_scale(vec3(0.8, 0.8, 0.8), size)),
                            vec3_add(shift, vec3_scale(vec3(2, 3, 4), size)));
    Vec3 center;
    assert_true(intersection_center(&a, &b, false, &center));
    compare_vec3(center, vec3_add(shift, vec3_scale(vec3(0.9, 0.9, 0.9), size)), 1e-9 * size, "size %g", size);
    hull_free(&a);
    hull_free(&b);
  }
}

/* The intersection is a slab 0.2 thick. The centre lies on its midplane, at least half the thickness inside of all
 * edges. */
static void crossed_boxes(void** state) {
  (void)state;
  ConvexHull a = box_hull(vec3(-1, -0.3, -0.3), vec3(1, 0.3, 0.3));
  ConvexHull b = box_hull(vec3(-0.3, -1, 0.1), vec3(0.3, 1, 0.5));
  Vec3 center;
  assert_true(intersection_center(&a, &b, false, &center));
  compare_near(center.z, 0.2, 1e-12, "the middle of the slab");
  compare_near(fmin(depth_in(&a, center), depth_in(&b, center)), 0.1, 1e-12, "the radius");
  hull_free(&a);
  hull_free(&b);
}

/* One within the other: the largest ball of the inner one, a tetrahedron with a closed form. */
static void a_tetrahedron_in_a_box(void** state) {
  (void)state;
  const Vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  ConvexHull a, b = box_hull(vec3(-2, -2, -2), vec3(2, 2, 2));
  assert_int_equal(hull_create(&a, corners, 4), HULL_OK);
  double r = 1 / (3 + sqrt(3));
  for (int order = 0; order < 2; order++) {
    Vec3 center;
    assert_true(intersection_center(order ? &b : &a, order ? &a : &b, false, &center));
    compare_vec3(center, vec3(r, r, r), 1e-12, "the inscribed ball, order %d", order);
  }
  hull_free(&a);
  hull_free(&b);
}

static void what_does_not_overlap(void** state) {
  (void)state;
  /* apart; face on face; overlapping by less than a thousandth of the smaller one's size, by more */
  static const double gap[] = {0.5, 0, -1e-3, -0.01};
  for (int k = 0; k < 4; k++) {
    ConvexHull a = box_hull(vec3(0, 0, 0), vec3(1, 1, 1)), b = box_hull(vec3(1 + gap[k], 0, 0), vec3(9, 9, 9));
    Vec3 center;
    assert_int_equal(intersection_center(&a, &b, false, &center), k == 3);
    assert_int_equal(intersection_center(&b, &a, false, &center), k == 3);
    hull_free(&a);
    hull_free(&b);
  }
}

/* Of a decomposed mesh every overlap counts that a decomposition does; hulls that only touch share no inside. */
static void hulls_of_a_decomposed_mesh(void** state) {
  (void)state;
  static const double gap[] = {0.5, 0, -1e-6, -1e-4, -1e-3};
  for (int k = 0; k < 5; k++) {
    ConvexHull a = box_hull(vec3(0, 0, 0), vec3(1, 1, 1)), b = box_hull(vec3(1 + gap[k], 0, 0), vec3(9, 9, 9));
    Vec3 center;
    assert_int_equal(intersection_center(&a, &b, true, &center), k >= 3);
    if (k >= 3) compare_near(center.x, 1 + gap[k] / 2, 1e-9, "the middle of the overlap");
    hull_free(&a);
    hull_free(&b);
  }
}

/* Random hulls: the point is inside both, and no random point is deeper. */
static void no_point_is_deeper_D5(void** state) {
  (void)state;
  Random random = {7};
  for (int trial = 0; trial < 20; trial++) {
    Vec3 points[2][20];
    ConvexHull hull[2];
    for (int side = 0; side < 2; side++) {
      for (int k = 0; k < 20; k++)
        points[side][k] = vec3_add(vec3(0.6 * side, 0, 0), vec3_scale(random_direction(&random), 1));
      assert_int_equal(hull_create(&hull[side], points[side], 20), HULL_OK);
    }
    Vec3 center;
    assert_true(intersection_center(&hull[0], &hull[1], false, &center));
    double depth = fmin(depth_in(&hull[0], center), depth_in(&hull[1], center));
    assert_true(depth > 0.1);
    for (int k = 0; k < 1000; k++) {
      Vec3 near = vec3_add(center, vec3_scale(random_direction(&random), random_uniform(&random, 0, 0.3)));
      compare_at_most(fmin(depth_in(&hull[0], near), depth_in(&hull[1], near)), depth + 1e-9, "trial %d", trial);
    }
    hull_free(&hull[0]);
    hull_free(&hull[1]);
  }
}

/* ---------------------------------------------------------------- insertion */

/* body: hulls 0 and 1 overlap, 2 is apart; arm: sits on hull 1's end; tail: its joint is 0.1 m off hull 2. */
static const char ROBOT[] =
    "links:\n"
    "  - name: body\n"
    "    mass: 1\n"
    "    shapes:\n"
    "      - {type: box, size: [1, 1, 1]}\n"
    "      - {type: box, size: [1, 0.4, 0.4], position: [0.8, 0, 0]}\n"
    "      - {type: box, size: [1, 1, 1], position: [-3, 0, 0]}\n"
    "  - {name: arm, parent: body, joint: {type: hinge, axis: [0, 1, 0], position: [1.3, 0, 0]}, mass: 1,\n"
    "     shapes: [{type: box, size: [0.2, 0.2, 1], position: [0, 0, -0.6]}]}\n"
    "  - {name: tail, parent: body, joint: {type: hinge, axis: [0, 1, 0], position: [-3.6, 0, 0]}, mass: 1,\n"
    "     shapes: [{type: box, size: [0.2, 0.2, 1]}]}\n";

enum { LINKS = 3, BODY = 0, ARM, TAIL };

typedef struct {
  Run* run;
  bool shapes[LINKS], joints[LINKS];
  int follows[LINKS];
  Mat3 map[LINKS];
  SharedVertices shared;
  int before[8]; /* points of each hull */
} Robot;

static Robot robot_create(const char* text) {
  Robot r = {.run = run_model("%s", text), .follows = {-1, -1, -1}};
  model_expand_shapes(&r.run->model, &r.run->scene);
  for (int h = 0; h < r.run->model.hull_count; h++) {
    const ModelHull* hull = &r.run->model.hulls[h];
    int shape = r.run->scene.links[hull->link].shapes[h - r.run->model.links[hull->link].hull_first].shape;
    r.before[h] = r.run->scene.shapes[shape].point_count;
  }
  return r;
}

static void robot_connect(Robot* r) {
  connect_hulls(&r->run->scene, &r->run->model, &(ConnectRequest){r->shapes, r->joints, r->follows, r->map, false},
                &r->shared);
}

static void robot_free(Robot* r) {
  shared_vertices_free(&r->shared);
  run_free(r->run);
}

static const SceneShape* shape_of(const Robot* r, int link, int hull) {
  return &r->run->scene.shapes[r->run->scene.links[link].shapes[hull].shape];
}

/* The one entry of this kind. */
static SharedVertex shared_of(const Robot* r, int link, int child) {
  SharedVertex result = {0};
  int count = 0;
  for (int k = 0; k < r->shared.count; k++)
    if (r->shared.items[k].link == link && r->shared.items[k].child == child) {
      result = r->shared.items[k];
      count++;
    }
  assert_int_equal(count, 1);
  return result;
}

static void nothing_is_asked(void** state) {
  (void)state;
  Robot r = robot_create(ROBOT);
  robot_connect(&r);
  assert_int_equal(r.shared.count, 0);
  robot_free(&r);
}

/* Overlap of 0 and 1: x in [0.3, 0.5], the ball of radius 0.1 has its centre at x = 0.4. */
static void hulls_of_a_link(void** state) {
  (void)state;
  Robot r = robot_create(ROBOT);
  r.shapes[BODY] = true;
  robot_connect(&r);
  SharedVertex s = shared_of(&r, BODY, -1);
  assert_true(s.hull[0] == 0 && s.hull[1] == 1);
  compare_near(s.position.x, 0.4, 1e-12, "x");
  compare_near(s.outside, 0, 0, "outside");
  for (int side = 0; side < 2; side++) {
    compare_at_most(0.1 - 1e-9, depth_in(&r.run->model.hulls[s.hull[side]].solid, s.position), "depth");
    assert_true(s.vertex[side] >= r.before[s.hull[side]]);
    Vec3 point = shape_of(&r, BODY, s.hull[side])->points[s.vertex[side]];
    compare_bytes(&point, &s.position, sizeof(Vec3), "the vertex in hull %d", s.hull[side]);
  }
  robot_free(&r);
}

/* Four bricks share an edge, and pairs of bricks share the other corners. Two more bricks touch up to a rounding error
 * and share four corners. Points of the same hull are not shared. */
static const char BRICKS[] =
    "shapes: {brick: {type: box, size: [1, 1, 1]}}\n"
    "links:\n"
    "  - {name: body, mass: 1, shapes: [{shape: brick, position: [0.5, 0.5, 0.5]}, {shape: brick, position: [-0.5, "
    "0.5, "
    "0.5]}, {shape: brick, position: [0.5, -0.5, 0.5]}, {shape: brick, position: [-0.5, -0.5, 0.5]}, {shape: brick, "
    "position: [3.5, 0.5, 0.5]}, {shape: brick, position: [4.5, 0.5, 0.5000000000000002]}]}\n"
    "  - {name: b, mass: 1, position: [9, 0, 0], shape: brick}\n"
    "  - {name: c, mass: 1, position: [0, 9, 0], shape: brick}\n";

static void corners_in_common(void** state) {
  (void)state;
  Robot r = robot_create(BRICKS);
  r.shapes[BODY] = true;
  robot_connect(&r);
  int count[6] = {0}, of_edge = 0;
  for (int k = 0; k < r.shared.count; k++) {
    const SharedVertex* s = &r.shared.items[k];
    assert_true(s->corner && s->link == BODY && s->hull[0] < s->hull[1] && (s->hull[1] < 4 || s->hull[0] == 4));
    for (int side = 0; side < 2; side++)
      compare_vec3(shape_of(&r, BODY, s->hull[side])->points[s->vertex[side]], s->position, 0, "the corner itself");
    bool edge = s->position.x == 0 && s->position.y == 0;
    if (edge) assert_int_equal(s->hull[0], 0);
    if (edge && s->position.z == 0) assert_int_equal(s->hull[1], ++of_edge); /* one after the other */
    count[s->hull[1]]++;
  }
  /* The edge: 2 corners in each of three more hulls. Between neighbours 2 more: 0-1, 0-2, 1-3, 2-3. */
  assert_true(count[1] == 4 && count[2] == 4 && count[3] == 6 && count[5] == 4);
  for (int h = 0; h < 6; h++) assert_int_equal(shape_of(&r, BODY, h)->point_count, 8); /* nothing was added */
  robot_free(&r);
}

/* Boxes on top of each other, at decimal positions: their corners differ by rounding (0.018 - 0.006 is not 0.012). */
static void corners_that_differ_by_rounding(void** state) {
  (void)state;
  Robot r = robot_create(
      "links:\n"
      "  - name: body\n"
      "    mass: 1\n"
      "    shapes:\n"
      "      - {type: box, size: [0.009, 0.004, 0.012], position: [-0.0045, -0.002, -0.018]}\n"
      "      - {type: box, size: [0.009, 0.004, 0.012], position: [-0.0045, -0.002, -0.006]}\n"
      "  - {name: arm, mass: 1, position: [3, 0, 0], shape: {type: box, size: [1, 1, 1]}}\n"
      "  - {name: tail, mass: 1, position: [6, 0, 0], shape: {type: box, size: [1, 1, 1]}}\n");
  r.shapes[BODY] = true;
  robot_connect(&r);
  assert_int_equal(r.shared.count, 4);
  for (int k = 0; k < 4; k++) {
    const SharedVertex* v = &r.shared.items[k];
    assert_true(v->corner);
    for (int side = 0; side < 2; side++)
      compare_vec3(shape_of(&r, BODY, v->hull[side])->points[v->vertex[side]], v->position, 0, "the corner itself");
    compare_near(v->position.z, -0.012, 1e-15, "the common face");
  }
  robot_free(&r);
}

/* Joints on a link whose shape moves, in the hull next to them; its own joint has no parent. */
static void joints_on_a_link(void** state) {
  (void)state;
  Robot r = robot_create(ROBOT);
  r.shapes[BODY] = true;
  robot_connect(&r);
  assert_int_equal(r.shared.count, 3);
  SharedVertex arm = shared_of(&r, BODY, ARM), tail = shared_of(&r, BODY, TAIL);
  assert_true(arm.hull[0] == 1 && arm.hull[1] == -1 && tail.hull[0] == 2);
  compare_vec3(arm.position, vec3(1.3, 0, 0), 0, "arm");
  compare_near(arm.outside, 0, 1e-12, "on the face");
  compare_near(tail.outside, 0.1, 1e-12, "off the face");
  robot_free(&r);
}

/* A link's own joint is at the origin of its frame. Moving only the joint changes its parent. */
static void own_joints(void** state) {
  (void)state;
  Robot r = robot_create(ROBOT);
  r.shapes[ARM] = r.joints[TAIL] = true;
  robot_connect(&r);
  assert_int_equal(r.shared.count, 2);
  SharedVertex own = shared_of(&r, ARM, ARM), other = shared_of(&r, BODY, TAIL);
  compare_vec3(own.position, vec3(0, 0, 0), 0, "the frame's origin");
  compare_near(own.outside, 0.1, 1e-12, "the box begins 0.1 m below");
  compare_vec3(other.position, vec3(-3.6, 0, 0), 0, "in the parent's frame");
  robot_free(&r);
}

/* The expanded scene is a scene: a vertex inside is kept and changes nothing, one outside is a corner. */
static void the_scene_still_makes_a_model(void** state) {
  (void)state;
  Robot r = robot_create(ROBOT);
  r.shapes[BODY] = true;
  robot_connect(&r);
  Model model;
  Diagnostics diagnostics = {0};
  assert_int_equal(model_create(&model, &r.run->scene, &diagnostics), STATUS_OK);
  SharedVertex s = shared_of(&r, BODY, -1);
  for (int h = 0; h < 3; h++) assert_int_equal(model.hulls[h].solid.vertex_count, shape_of(&r, BODY, h)->point_count);
  compare_vec3(model.hulls[1].solid.vertices[s.vertex[1]], s.position, 0, "its number");
  compare_vec3(model.hulls[0].half_extent, vec3(0.5, 0.5, 0.5), 1e-15, "the same box");
  compare_near(model.hulls[2].half_extent.x, 0.55, 1e-15, "a corner at the tail");
  model_destroy(&model);
  diagnostics_free(&diagnostics);
  robot_free(&r);
}

/* Followers get images of their leader's shared vertices, not a linear program's own. */
static const char TWINS[] =
    "links:\n"
    "  - {name: a, mass: 1, shapes: [{type: box, size: [1, 0.4, 0.4]}, {type: box, size: [1, 0.4, 0.4], "
    "position: [0.7, 0.1, 0.2]}]}\n"
    "  - {name: b, mass: 1, position: [9, 0, 0], shapes: [{type: box, size: [1, 0.4, 0.4]}, {type: box, size: [1, 0.4, "
    "0.4], position: [0.7, -0.1, 0.2]}]}\n"
    "  - {name: c, mass: 1, position: [0, 9, 0], shape: {type: box, size: [1, 1, 1]}}\n";

static void followers_have_images(void** state) {
  (void)state;
  Robot r = robot_create(TWINS);
  r.shapes[0] = r.shapes[1] = true;
  r.follows[1] = 0;
  r.map[1] = (Mat3){{{1, 0, 0}, {0, -1, 0}, {0, 0, 1}}};
  robot_connect(&r);
  assert_int_equal(r.shared.count, 2);
  SharedVertex a = shared_of(&r, 0, -1), b = shared_of(&r, 1, -1);
  compare_vec3(b.position, vec3(a.position.x, -a.position.y, a.position.z), 0, "the image");
  for (int side = 0; side < 2; side++) {
    assert_int_equal(b.hull[side], a.hull[side]);
    compare_vec3(shape_of(&r, 1, side)->points[b.vertex[side]], b.position, 0, "in hull %d", side);
    assert_true(depth_in(&r.run->model.hulls[2 + side].solid, b.position) > 0.05);
  }
  robot_free(&r);
}

/* Boxes of 1 m, 0.4 m wide; the second begins `overlap` [m] before the end of the first, the third far away. */
static int loose_warnings(double overlap) {
  char text[400];
  snprintf(text, sizeof text,
           "links:\n  - {name: a, mass: 1, shapes: [{type: box, size: [1, 0.4, 0.4]}, {type: box, size: [1, 0.3, 0.3], "
           "position: [%.9g, 0, 0]}, {type: box, size: [1, 0.4, 0.4], position: [5, 0, 0]}]}\n",
           1 - overlap);
  Robot r = robot_create(text);
  r.shapes[0] = true;
  robot_connect(&r);
  Diagnostics diagnostics = {0};
  connect_warn_unconnected(&r.run->scene, &r.run->model, &(ConnectRequest){r.shapes, r.joints, r.follows, r.map, false},
                           &r.shared, &diagnostics);
  int count = diagnostics.count;
  if (count > 0) assert_non_null(strstr(diagnostics.items[0].text, "link 'a': shapes 0 and 1 touch"));
  diagnostics_free(&diagnostics);
  robot_free(&r);
  return count;
}

/* Hulls that touch in a face are warned of; overlapping and separate ones are not. */
static void touching_hulls_are_warned_of(void** state) {
  (void)state;
  assert_int_equal(loose_warnings(0), 1);
  assert_int_equal(loose_warnings(0.01), 0);
  assert_int_equal(loose_warnings(-0.01), 0);
}

/* A half-space has no vertices to share, a link without hulls none to give. */
static void without_bounded_hulls(void** state) {
  (void)state;
  Robot r = robot_create(
      "links:\n"
      "  - {name: ground, fixed: true, shapes: [{type: half_space}]}\n"
      "  - {name: knot, parent: ground, joint: {type: slide, axis: [1, 0, 0]}, mass: 1, inertia: [1, 1, 1, 0, 0, 0]}\n"
      "  - {name: box, parent: knot, joint: {type: hinge, axis: [0, 0, 1], position: [0, 0, 2]}, mass: 1,\n"
      "     shape: {type: box, size: [1, 1, 1]}}\n");
  for (int i = 0; i < LINKS; i++) r.shapes[i] = r.joints[i] = true;
  robot_connect(&r);
  assert_int_equal(r.shared.count, 1);
  shared_of(&r, 2, 2);
  robot_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_that_meet_in_a_cube_D5),
      cmocka_unit_test(crossed_boxes),
      cmocka_unit_test(a_tetrahedron_in_a_box),
      cmocka_unit_test(what_does_not_overlap),
      cmocka_unit_test(hulls_of_a_decomposed_mesh),
      cmocka_unit_test(no_point_is_deeper_D5),
      cmocka_unit_test(corners_in_common),
      cmocka_unit_test(corners_that_differ_by_rounding),
      cmocka_unit_test(nothing_is_asked),
      cmocka_unit_test(hulls_of_a_link),
      cmocka_unit_test(joints_on_a_link),
      cmocka_unit_test(own_joints),
      cmocka_unit_test(the_scene_still_makes_a_model),
      cmocka_unit_test(followers_have_images),
      cmocka_unit_test(touching_hulls_are_warned_of),
      cmocka_unit_test(without_bounded_hulls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
