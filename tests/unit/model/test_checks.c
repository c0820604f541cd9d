#include "fixture.h"

static void load_boxes(Fixture* f, double height, double gap) {
  char yaml[1500];
  snprintf(yaml, sizeof yaml,
           "contact: {barrier_distance: 0.001, stiffness: 1e-8}\n"
           "shapes: {cube: {type: box, size: [0.2, 0.2, 0.2]}}\n"
           "links:\n"
           "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
           "  - {name: low, mass: 1, shapes: [{shape: cube}], position: [0, 0, %.17g]}\n"
           "  - {name: high, mass: 1, shapes: [{shape: cube}], position: [0.05, 0.02, %.17g]}\n",
           0.1 + height, 0.3 + height + gap);
  fixture_load(f, yaml);
}

static void bodies_at_rest_distance_are_fine(void** state) {
  (void)state;
  Fixture f;
  load_boxes(&f, 0.0008, 0.0008);
  check_clean(&f);
  fixture_free(&f);
}

static void intersections_name_both_links_the_depth_and_the_place(void** state) {
  (void)state;
  Fixture f;
  load_boxes(&f, -0.0125, -0.025);
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  assert_int_equal(f.diagnostics.error_count, 2);
  check_message(&f, SEVERITY_ERROR, 5, "links 'ground' and 'low' intersect at the start, depth 0.0125 m");
  check_message(&f, SEVERITY_ERROR, 6, "links 'low' and 'high' intersect at the start, depth 0.025 m");
  fixture_free(&f);
}

/* Bodies in contact, or separated by rounding only, are an error. A gap much smaller than the equilibrium gap is a
 * warning. */
static void touching_and_nearly_touching(void** state) {
  (void)state;
  Fixture f;
  load_boxes(&f, 0, 1e-17);
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  check_message(&f, SEVERITY_ERROR, 5, "links 'ground' and 'low' touch at the start");
  check_message(&f, SEVERITY_ERROR, 6, "links 'low' and 'high' touch at the start");
  fixture_free(&f);
  load_boxes(&f, 0.0001, 0.0008);
  assert_int_equal(f.status, STATUS_OK);
  assert_int_equal(f.diagnostics.count, 1);
  check_message(&f, SEVERITY_WARNING, 5, "links 'ground' and 'low' start only 0.0001 m apart");
  fixture_free(&f);
}

static void a_tilted_ground_is_measured_along_its_normal(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "links:\n"
               "  - {name: slope, fixed: true, rpy: [0, 0.5, 0], shape: {type: half_space}}\n"
               "  - {name: box, mass: 1, rpy: [0, 0.5, 0], position: [0.04794255386042030, 0, 0.08775825618903728], "
               "shape: {type: box, size: [0.2, 0.2, 0.2]}}\n");
  /* the box's centre is 0.1 (sin, 0, cos) = 0.1 along the normal: it touches; shifted inwards by 0.01 it is inside */
  check_message(&f, SEVERITY_ERROR, 3, "links 'slope' and 'box' touch at the start");
  fixture_free(&f);
}

/* Thirty columns of two cubes each, one inside the other: twenty messages and how many more. */
static void messages_stop_at_twenty(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "shapes: {cube: {type: box, size: [0.2, 0.2, 0.2]}}\n"
               "links:\n"
               "  - {name: \"a{i}\", mass: 1, shapes: [{shape: cube}], repeat: {count: 30, position: [1, 0, 0]}}\n"
               "  - {name: \"b{i}\", mass: 1, shapes: [{shape: cube}], position: [0, 0.15, 0], repeat: {count: 30, "
               "position: [1, 0, 0]}}\n");
  assert_int_equal(f.diagnostics.error_count, 21);
  check_message(&f, SEVERITY_ERROR, 4, "links 'a0' and 'b0' intersect at the start, depth 0.05 m");
  check_message(&f, SEVERITY_ERROR, 0,
                "10 more pairs of links intersect at the start (not listed): move the links of each pair apart");
  assert_null(find_message(&f, "'a20'"));
  fixture_free(&f);
}

static void pairs_that_may_not_touch_are_left_alone(void** state) {
  (void)state;
  Fixture f;
  const char* links =
      "shapes: {cube: {type: box, size: [0.2, 0.2, 0.2]}}\n"
      "links:\n"
      "  - {name: a, mass: 1, shapes: [{shape: cube}]}\n"
      "  - {name: b, mass: 1, shapes: [{shape: cube}], position: [0.1, 0, 0]}\n"
      "  - {name: c, parent: a, mass: 1, shapes: [{shape: cube}], joint: {type: hinge, axis: [1, 0, 0], position: [0, "
      "-0.15, 0]}}\n";
  char yaml[1000];
  snprintf(yaml, sizeof yaml, "contact: {exclude: [[a, b], [b, c]]}\n%s", links);
  fixture_load(&f, yaml);
  check_clean(&f);
  fixture_free(&f);
  snprintf(yaml, sizeof yaml, "contact: {model: none}\n%s", links);
  fixture_load(&f, yaml);
  check_clean(&f);
  fixture_free(&f);
  fixture_load(&f, links);
  assert_int_equal(f.diagnostics.error_count, 2);
  fixture_free(&f);
}

/* Several hulls a link: one message with the deepest of their meetings. */
static void hulls_of_one_pair_of_links_share_a_message(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "shapes: {cube: {type: box, size: [0.2, 0.2, 0.2]}}\n"
               "links:\n"
               "  - {name: rake, mass: 1, shapes: [{shape: cube}, {shape: cube, position: [1, 0, 0.03]}, {shape: cube, "
               "position: [2, 0, 0.06]}]}\n"
               "  - {name: bar, mass: 1, shape: {type: box, size: [5, 0.1, 0.2]}, position: [1, 0, 0.19]}\n");
  assert_int_equal(f.diagnostics.error_count, 1);
  check_message(&f, SEVERITY_ERROR, 4, "links 'rake' (hull 2) and 'bar' intersect at the start, depth 0.07 m");
  fixture_free(&f);
}

/* The sweep against all pairs: random boxes along each axis, same number of intersecting pairs. */
static void sweep_finds_what_all_pairs_find(void** state) {
  (void)state;
  Random random = {77};
  for (int axis = 0; axis < 3; axis++) {
    Text yaml = {0};
    enum { COUNT = 18 };
    Vec3 at[COUNT];
    text_add(&yaml, "shapes: {ball: {type: sphere, radius: 0.2, resolution: 0}}\nlinks:\n");
    for (int i = 0; i < COUNT; i++) {
      double p[3];
      for (int k = 0; k < 3; k++) p[k] = random_uniform(&random, 0, k == axis ? 3.0 : 0.5);
      at[i] = vec3(p[0], p[1], p[2]);
      text_add(&yaml, "  - {name: b%d, mass: 1, shapes: [{shape: ball}], position: [%.17g, %.17g, %.17g]}\n", i, p[0],
               p[1], p[2]);
    }
    Fixture f;
    fixture_load(&f, yaml.data);
    int meeting = 0;
    for (int i = 0; i < COUNT; i++)
      for (int k = 0; k < i; k++) {
        Pose a = {mat3_identity(), at[i]}, b = {mat3_identity(), at[k]};
        const PointView points = f.model.hulls[0].points;
        meeting += gjk_distance(points, a, points, b, NULL).distance <= 1e-3 * f.model.contact.support;
      }
    int reported = f.diagnostics.error_count;
    if (reported > 20) sscanf(f.diagnostics.items[20].text, "%d more", &reported), reported += 20;
    if (reported != meeting) fail_msg("axis %d, seed 77: %d reported, %d by all pairs", axis, reported, meeting);
    assert_true(meeting > 0);
    fixture_free(&f);
    text_free(&yaml);
  }
}

/* Touching and intersecting pairs, on a model that was refused for them; a narrow gap is none of them. */
static void touching_pairs_are_listed(void** state) {
  (void)state;
  Fixture f;
  ModelTouch* pairs;
  load_boxes(&f, 0, -0.025);
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  assert_int_equal(model_touching(&f.model, &pairs), 2);
  assert_int_equal(pairs[0].a, 0);
  assert_int_equal(pairs[0].b, 1);
  assert_int_equal(pairs[1].a, 1);
  assert_int_equal(pairs[1].b, 2);
  memory_free(pairs);
  fixture_free(&f);
  load_boxes(&f, 0.0001, 0.0008);
  assert_int_equal(model_touching(&f.model, &pairs), 0);
  memory_free(pairs);
  fixture_free(&f);
}

/* An end of a tendon lies inside its wrapping body, so the tendon's path is undefined. */
static void ends_within_a_wrap_are_told(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "contact: {model: none}\n"
               "links:\n"
               "  - {name: box, mass: 1, position: [0, 0, 1], shape: {type: box, size: [0.2, 0.2, 0.2]}}\n"
               "tendons:\n"
               "  - points: [{link: box, point: [0.06, 0, 0.08]}, {point: [0, 0, -0.5]}]\n"
               "    tension: 1\n"
               "    wrap: [{type: cylinder, link: box, radius: 0.11, axis: [0, 1, 0]}]\n");
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  assert_int_equal(f.diagnostics.error_count, 1);
  check_message(&f, SEVERITY_ERROR, 7, "point 0 of the tendon is 0.1 m from the axis at the start, within the radius");
  fixture_free(&f);
}

/* The law `manifold` takes solids, whose thickness exceeds activity_width. */
static void manifold_refuses_triangles_and_thin_plates(void** state) {
  (void)state;
  Fixture f;
  fixture_load(
      &f,
      "contact: {model: manifold}\n"
      "links:\n"
      "  - {name: sheet, mass: 1, position: [0, 0, 1], shape: {type: points, pieces: triangles, points: [[0, 0, "
      "0], [1, 0, 0], [0, 1, 0]]}}\n");
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  check_message(&f, SEVERITY_ERROR, 3, "omit `pieces: triangles`");
  fixture_free(&f);
  static const char* const WIDTH[] = {"", ", activity_width: 0.00025"};
  for (int k = 0; k < 2; k++) {
    char yaml[300];
    snprintf(yaml, sizeof yaml,
             "contact: {model: manifold%s}\n"
             "links:\n"
             "  - {name: plate, mass: 1, position: [0, 0, 1], shape: {type: box, size: [1, 1, 0.0005]}}\n",
             WIDTH[k]);
    fixture_load(&f, yaml);
    if (k == 0)
      check_message(&f, SEVERITY_ERROR, 1,
                    "link 'plate' has a convex piece that is 0.0005 m thick, less than activity_width, 0.001 m: set "
                    "activity_width to at most 0.00025 m");
    if (k == 1) check_clean(&f);
    fixture_free(&f);
  }
}

/* Laws of smooth shapes refuse a box, and the message has a smooth shape of the same extent, which they accept. */
static void refused_shapes_have_a_smooth_equivalent(void** state) {
  (void)state;
  static const struct {
    const char *shape, *remedy;
    Vec3 half; /* of its extent [m] */
  } cases[] = {
      {"{type: box, size: [0.2, 0.4, 0.1]}",
       "{type: superellipsoid, size: [0.1, 0.2, 0.05], exponent: 8}",
       {0.1, 0.2, 0.05}},
      {"{type: sphere, radius: 0.07}",
       "{type: superellipsoid, size: [0.07, 0.07, 0.07], exponent: 1}",
       {0.07, 0.07, 0.07}},
      {"{type: cylinder, radius: 0.05, length: 0.3}",
       "{type: superquadric, size: [0.05, 0.05, 0.15], exponents: [0.125, 1]}",
       {0.05, 0.05, 0.15}},
  };
  static const char* const format =
      "contact: {model: %s}\n"
      "links:\n"
      "  - {name: body, mass: 1, position: [0, 0, 1], shape: %s}\n";
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    static const char* const laws[] = {"penalty", "manifold"};
    for (int law = 0; law < 2; law++) {
      Fixture f;
      char yaml[400];
      snprintf(yaml, sizeof yaml, format, "penalty", cases[k].shape);
      fixture_load(&f, yaml);
      assert_int_equal(f.status, STATUS_BAD_INPUT);
      check_message(&f, SEVERITY_ERROR, 3, cases[k].remedy);
      check_message(&f, SEVERITY_ERROR, 3, "or set contact.model: separating_plane, or set collide: false in the link");
      fixture_free(&f);
      snprintf(yaml, sizeof yaml, format, laws[law], cases[k].remedy);
      fixture_load(&f, yaml);
      check_clean(&f);
      Vec3 most = {0, 0, 0};
      const ModelHull* hull = &f.model.hulls[0];
      for (int i = 0; i < hull->points.count; i++)
        most = vec3(fmax(most.x, hull->points.x[i]), fmax(most.y, hull->points.y[i]), fmax(most.z, hull->points.z[i]));
      check_vec3(most, cases[k].half, 1e-9, cases[k].remedy);
      fixture_free(&f);
    }
  }
  Fixture f;
  fixture_load(&f,
               "contact: {model: penalty}\n"
               "links:\n"
               "  - {name: body, mass: 1, position: [0, 0, 1], shape: {type: capsule, radius: 0.1, length: 0.2}}\n");
  check_message(&f, SEVERITY_ERROR, 3, "use one of these shapes");
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_at_rest_distance_are_fine),
      cmocka_unit_test(refused_shapes_have_a_smooth_equivalent),
      cmocka_unit_test(manifold_refuses_triangles_and_thin_plates),
      cmocka_unit_test(intersections_name_both_links_the_depth_and_the_place),
      cmocka_unit_test(touching_and_nearly_touching),
      cmocka_unit_test(a_tilted_ground_is_measured_along_its_normal),
      cmocka_unit_test(messages_stop_at_twenty),
      cmocka_unit_test(pairs_that_may_not_touch_are_left_alone),
      cmocka_unit_test(hulls_of_one_pair_of_links_share_a_message),
      cmocka_unit_test(sweep_finds_what_all_pairs_find),
      cmocka_unit_test(touching_pairs_are_listed),
      cmocka_unit_test(ends_within_a_wrap_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
