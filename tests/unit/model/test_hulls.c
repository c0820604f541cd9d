#include "fixture.h"
#include "support/bodies.h"

static const char* SCENE =
    "shapes:\n"
    "  brick: {type: box, size: [0.2, 0.4, 0.6]}\n"
    "  round: {type: sphere, radius: 0.5, resolution: 0}\n"
    "links:\n"
    "  - {name: ground, fixed: true, rpy: [0.4, 0, 0], shapes: [{type: half_space, normal: [0, 3, 4], offset: -2, "
    "position: [1, 2, 3], rotation_vector: [0, 0, 1.5707963267948966]}]}\n"
    "  - name: pair\n"
    "    mass: 1\n"
    "    position: [0, 0, 9]\n"
    "    shapes: [{shape: brick, position: [1, 0, 0], rotation_vector: [0, 1.5707963267948966, 0]}, {shape: round}]\n"
    "  - {name: empty, fixed: true}\n"
    "  - {name: lone, mass: 1, shapes: [{shape: round}], position: [9, 0, 9]}\n";

static Fixture fixture;

static int setup(void** state) {
  (void)state;
  fixture_load(&fixture, SCENE);
  check_clean(&fixture);
  return 0;
}

static int teardown(void** state) {
  (void)state;
  fixture_free(&fixture);
  return 0;
}

static void hulls_are_grouped_by_link(void** state) {
  (void)state;
  const Model* m = &fixture.model;
  const int firsts[] = {0, 1, 3, 3}, counts[] = {1, 2, 0, 1};
  assert_int_equal(m->hull_count, 4);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(m->links[i].hull_first, firsts[i]);
    assert_int_equal(m->links[i].hull_count, counts[i]);
    for (int k = 0; k < counts[i]; k++) assert_int_equal(m->hulls[firsts[i] + k].link, i);
  }
}

/* Hot arrays: aligned, padded with the last vertex, the same numbers as the solid. */
static void arrays_are_aligned_and_padded(void** state) {
  (void)state;
  for (int h = 1; h < 4; h++) {
    const ModelHull* hull = &fixture.model.hulls[h];
    PointView p = hull->points;
    assert_int_equal(p.count, hull->solid.vertex_count);
    assert_int_equal(p.padded, (p.count + 7) / 8 * 8);
    const double* arrays[3] = {p.x, p.y, p.z};
    for (int c = 0; c < 3; c++) assert_int_equal((uintptr_t)arrays[c] % 64, 0);
    for (int i = 0; i < p.padded; i++) {
      Vec3 v = hull->solid.vertices[i < p.count ? i : p.count - 1];
      assert_true(p.x[i] == v.x && p.y[i] == v.y && p.z[i] == v.z);
    }
  }
}

static void shapes_are_placed_in_the_link_frame(void** state) {
  (void)state;
  const ModelHull* brick = &fixture.model.hulls[1];
  check_vec3(brick->center, vec3(1, 0, 0), 1e-15, "centre of the turned brick");
  check_vec3(brick->half_extent, vec3(0.3, 0.2, 0.1), 1e-15, "half extent of the turned brick");
  check_near(brick->radius, sqrt(0.14), 1e-15, "radius of the brick");
  const ModelHull* ball = &fixture.model.hulls[2];
  check_vec3(ball->center, vec3(0, 0, 0), 1e-15, "centre of the ball");
  check_near(ball->radius, 0.5, 1e-15, "radius of the ball");
  for (int i = 0; i < ball->solid.vertex_count; i++)
    check_near(vec3_norm(ball->solid.vertices[i]), 0.5, 1e-15, "vertex of the ball");
}

/* A point on the shape's plane lies on the hull's plane after placement. The normal (0, .6, .8) rotated by 90 degrees
 * about z is (-.6, 0, .8). */
static void half_space_is_placed(void** state) {
  (void)state;
  const ModelHull* ground = &fixture.model.hulls[0];
  assert_true(ground->kind == &SOLID_HALF_SPACE && !ground->kind->bounded);
  assert_int_equal(ground->points.count, 0);
  check_vec3(ground->normal, vec3(-0.6, 0, 0.8), 1e-15, "normal");
  Vec3 on_plane = vec3_add(vec3(1, 2, 3), vec3_scale(vec3(-0.6, 0, 0.8), -2));
  check_near(vec3_dot(ground->normal, on_plane), ground->offset, 1e-15, "offset");
}

/* Against all vertices; a half-space ends along its normal only. */
static void kinds_tell_how_far_they_reach(void** state) {
  (void)state;
  Random random = {77};
  for (int i = 0; i < fixture.model.hull_count; i++) {
    const ModelHull* hull = &fixture.model.hulls[i];
    Vec3 direction = vec3_scale(random_direction(&random), 3);
    int vertex = -2;
    double found = hull->kind->support(hull, direction, &vertex), wanted = hull->kind->bounded ? -HUGE_VAL : HUGE_VAL;
    for (int k = 0; k < hull->solid.vertex_count; k++)
      wanted = fmax(wanted, vec3_dot(direction, hull->solid.vertices[k]));
    if (hull->kind->bounded) {
      check_near(found, wanted, 1e-14 * (1 + fabs(wanted)), "seed 77: support");
      check_near(vec3_dot(direction, hull->solid.vertices[vertex]), wanted, 1e-14 * (1 + fabs(wanted)), "its vertex");
      continue;
    }
    assert_true(found == wanted && vertex == -1);
    check_near(hull->kind->support(hull, vec3_scale(hull->normal, 2), &vertex), 2 * hull->offset, 1e-15, "its plane");
    MassMoment nothing = hull->kind->moment(hull);
    assert_true(hull->kind->thickness(hull) == HUGE_VAL && mass_moment_mass(&nothing) == 0);
  }
}

/* Triangles that nobody looks at are left out; points, masses and boxes are the same. A law that looks at them has
 * them. */
static void undrawn_shapes_have_the_same_points(void** state) {
  (void)state;
  for (int law = 0; law < 2; law++) {
    char yaml[400];
    snprintf(yaml, sizeof yaml,
             "shapes: {egg: {type: superellipsoid, size: [0.1, 0.2, 0.3], exponent: 4}}\n"
             "links: [{name: egg, shape: egg, density: 100}]\ncontact: {model: %s, stiffness: 1000}\n",
             law ? "manifold" : "penalty");
    Fixture f;
    fixture_load(&f, yaml);
    Model bare;
    f.scene.skip_render_surfaces = true;
    assert_int_equal(model_create(&bare, &f.scene, &f.diagnostics), STATUS_OK);
    const ModelHull *drawn = &f.model.hulls[0], *hull = &bare.hulls[0];
    assert_int_equal(hull->solid.triangle_count, law ? drawn->solid.triangle_count : 0);
    assert_int_equal(hull->solid.vertex_count, drawn->solid.vertex_count);
    assert_memory_equal(hull->solid.vertices, drawn->solid.vertices, sizeof(Vec3) * (size_t)hull->solid.vertex_count);
    assert_memory_equal(&bare.links[0].moment, &f.model.links[0].moment, sizeof bare.links[0].moment);
    assert_memory_equal(&hull->half_extent, &drawn->half_extent, sizeof hull->half_extent);
    model_destroy(&bare);
    fixture_free(&f);
  }
}

/* Equal primitives share the work of the first: their hulls have the numbers of the shape in a scene of its own, and a
 * shape that differs in one length has its own. */
static void equal_primitives_have_equal_hulls(void** state) {
  (void)state;
  static const char* const shapes[] = {"{type: box, size: [0.1, 0.2, 0.3]}",
                                       "{type: box, size: [0.1, 0.2, 0.3]}",
                                       "{type: box, size: [0.1, 0.2, 0.31]}",
                                       "{type: sphere, radius: 0.1, resolution: 2}",
                                       "{type: sphere, radius: 0.1}",
                                       "{type: sphere, radius: 0.1, resolution: 2}",
                                       "{type: sphere, radius: 0.11, resolution: 2}",
                                       "{type: cylinder, radius: 0.1, length: 0.2, segments: 12}",
                                       "{type: cylinder, radius: 0.1, length: 0.2, segments: 12}",
                                       "{type: cylinder, radius: 0.1, length: 0.2, segments: 14}",
                                       "{type: capsule, radius: 0.1, length: 0.2}",
                                       "{type: capsule, radius: 0.1, length: 0.2}",
                                       "{type: rounded_box, size: [0.1, 0.2, 0.3], radius: 0.01}",
                                       "{type: rounded_box, size: [0.1, 0.2, 0.3], radius: 0.02}"};
  enum { COUNT = sizeof shapes / sizeof *shapes };
  Text all = {0};
  text_add(&all, "links:\n");
  for (int i = 0; i < COUNT; i++)
    text_add(&all, "  - {name: l%d, mass: 1, position: [%d, 0, 0], shape: %s}\n", i, i, shapes[i]);
  Fixture together;
  fixture_load(&together, all.data);
  check_clean(&together);
  assert_int_equal(together.model.hull_count, COUNT);
  for (int i = 0; i < COUNT; i++) {
    Text one = {0};
    text_add(&one, "links: [{name: l, mass: 1, shape: %s}]\n", shapes[i]);
    Fixture alone;
    fixture_load(&alone, one.data);
    const ModelHull *a = &alone.model.hulls[0], *b = &together.model.hulls[i];
    assert_int_equal(a->solid.vertex_count, b->solid.vertex_count);
    assert_int_equal(a->solid.triangle_count, b->solid.triangle_count);
    assert_memory_equal(a->solid.vertices, b->solid.vertices, sizeof(Vec3) * (size_t)a->solid.vertex_count);
    assert_memory_equal(a->solid.triangles, b->solid.triangles, sizeof(int[3]) * (size_t)a->solid.triangle_count);
    fixture_free(&alone);
    text_free(&one);
  }
  fixture_free(&together);
  text_free(&all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_primitives_have_equal_hulls),
      cmocka_unit_test(hulls_are_grouped_by_link),
      cmocka_unit_test(arrays_are_aligned_and_padded),
      cmocka_unit_test(shapes_are_placed_in_the_link_frame),
      cmocka_unit_test(half_space_is_placed),
      cmocka_unit_test(kinds_tell_how_far_they_reach),
      cmocka_unit_test(undrawn_shapes_have_the_same_points),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
