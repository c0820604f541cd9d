#include "fixture.h"

static void check_inertia(const MassMoment* moment, const double wanted[6], double tolerance, const char* what) {
  Mat3 i = mass_moment_inertia_tensor(moment);
  const double found[6] = {i.m[0][0], i.m[1][1], i.m[2][2], i.m[0][1], i.m[0][2], i.m[1][2]};
  for (int k = 0; k < 6; k++) check_near(found[k], wanted[k], tolerance, what);
}

static const char* BOXES =
    "shapes: {brick: {type: box, size: [0.2, 0.4, 0.6]}}\n"
    "links:\n"
    "  - {name: corners, mass: 3, mass_model: vertices, shapes: [{shape: brick}]}\n"
    "  - {name: solid, mass: 3, mass_model: uniform, shapes: [{shape: brick}], position: [2, 0, 0]}\n"
    "  - {name: dense, density: 500, mass_model: uniform, shapes: [{shape: brick}], position: [4, 0, 0]}\n"
    "  - {name: dense_corners, density: 500, mass_model: vertices, shapes: [{shape: brick}], position: [6, 0, 0]}\n"
    "  - {name: given, mass: 2, center: [0.1, 0, 0], inertia: [0.3, 0.4, 0.5, 0.01, 0.02, 0.03], shapes: [{shape: "
    "brick}], position: [8, 0, 0]}\n"
    "  - {name: turned, mass: 3, mass_model: uniform, position: [10, 0, 0], shapes: [{shape: brick, position: [1, 2, "
    "3], "
    "rpy: [0, 0, 1.5707963267948966]}]}\n"
    "  - {name: plain, mass: 3, shape: brick, position: [12, 0, 0]}\n"
    "  - {name: plain_dense, density: 500, shape: brick, position: [14, 0, 0]}\n"
    "  - {name: wall, fixed: true, shapes: [{shape: brick, position: [0, 0, 1]}], position: [20, 0, 0]}\n"
    "  - {name: frame, fixed: true, position: [30, 0, 0]}\n";

/* Corner masses m/8 at (+-a/2, ...): Ixx = m (b^2 + c^2) / 4; solid: m (b^2 + c^2) / 12. */
static void boxes_match_closed_forms(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f, BOXES);
  check_clean(&f);
  const double corners[6] = {3 * 0.52 / 4, 3 * 0.40 / 4, 3 * 0.20 / 4, 0, 0, 0};
  const double solid[6] = {3 * 0.52 / 12, 3 * 0.40 / 12, 3 * 0.20 / 12, 0, 0, 0};
  const double turned[6] = {3 * 0.40 / 12, 3 * 0.52 / 12, 3 * 0.20 / 12, 0, 0, 0};
  const double dense[6] = {24 * 0.52 / 12, 24 * 0.40 / 12, 24 * 0.20 / 12, 0, 0, 0};
  const double dense_corners[6] = {24 * 0.52 / 4, 24 * 0.40 / 4, 24 * 0.20 / 4, 0, 0, 0};
  const double given[6] = {0.3, 0.4, 0.5, 0.01, 0.02, 0.03};
  const Model* m = &f.model;
  check_inertia(&link_named(m, "corners")->moment, corners, 1e-14, "corner masses");
  check_inertia(&link_named(m, "solid")->moment, solid, 1e-14, "solid box");
  check_inertia(&link_named(m, "dense")->moment, dense, 1e-13, "box of density 500");
  check_inertia(&link_named(m, "dense_corners")->moment, dense_corners, 1e-13, "corners of density 500");
  check_inertia(&link_named(m, "turned")->moment, turned, 1e-12, "box turned and moved in its link");
  check_inertia(&link_named(m, "given")->moment, given, 1e-14, "given inertia");
  check_inertia(&link_named(m, "plain")->moment, solid, 1e-14, "box of a mass alone");
  check_inertia(&link_named(m, "plain_dense")->moment, dense, 1e-13, "box of a density alone");
  assert_int_equal(link_named(m, "corners")->mass_model, MASS_VERTICES);
  assert_int_equal(link_named(m, "plain")->mass_model, MASS_UNIFORM);
  assert_int_equal(link_named(m, "given")->mass_model, MASS_GIVEN);
  check_near(link_named(m, "dense")->mass, 24, 1e-12, "0.2 x 0.4 x 0.6 x 500");
  check_near(link_named(m, "dense_corners")->mass, 24, 1e-12, "mass of the corners");
  check_near(link_named(m, "given")->mass, 2, 0, "given mass");
  check_vec3(link_named(m, "turned")->center, vec3(1, 2, 3), 1e-14, "centre of the moved box");
  check_vec3(link_named(m, "given")->center, vec3(0.1, 0, 0), 1e-15, "given centre");
  fixture_free(&f);
}

/* Without mass the reference point is the centre of the hulls. The reach is the distance of the farthest corner. */
static void massless_links_have_a_center_and_a_reach(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f, BOXES);
  const ModelLink* wall = link_named(&f.model, "wall");
  check_near(wall->mass, 0, 0, "mass of the wall");
  check_near(wall->moment.s[3][3], 0, 0, "moment of the wall");
  check_vec3(wall->center, vec3(0, 0, 1), 1e-15, "centre of the wall");
  check_near(wall->reach, sqrt(0.01 + 0.04 + 1.69), 1e-15, "reach of the wall");
  check_vec3(link_named(&f.model, "frame")->center, vec3(0, 0, 0), 0, "centre of an empty link");
  check_near(link_named(&f.model, "frame")->reach, 0, 0, "reach of an empty link");
  check_near(link_named(&f.model, "corners")->reach, sqrt(0.01 + 0.04 + 0.09), 1e-15, "reach of the box");
  fixture_free(&f);
}

/* A dumbbell of two cubes with edge a at x = +-d: vertices weigh the same in both models' symmetric halves. */
static void several_hulls_add_up(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "shapes: {small: {type: box, size: [0.1, 0.1, 0.1]}, big: {type: box, size: [0.2, 0.2, 0.2]}}\n"
               "links:\n"
               "  - name: solid\n"
               "    density: 1000\n"
               "    mass_model: uniform\n"
               "    shapes: [{shape: small, position: [0.5, 0, 0]}, {shape: big, position: [-0.5, 0, 0]}]\n"
               "  - name: points\n"
               "    mass: 1.6\n"
               "    mass_model: vertices\n"
               "    shapes: [{shape: small, position: [0.5, 0, 0]}, {shape: big, position: [-0.5, 0, 0]}]\n"
               "    position: [3, 0, 0]\n");
  check_clean(&f);
  const ModelLink* solid = link_named(&f.model, "solid");
  check_near(solid->mass, 9, 1e-13, "1 kg and 8 kg");
  check_vec3(solid->center, vec3((0.5 - 4.0) / 9, 0, 0), 1e-15, "centre of the solid");
  double own = 1 * 0.02 / 12 + 8 * 0.08 / 12, apart = 1.0 * 8.0 / 9.0 * 1.0;
  check_inertia(&solid->moment, (const double[6]){own, own + apart, own + apart, 0, 0, 0}, 1e-14,
                "inertia of the solid");
  const ModelLink* points = link_named(&f.model, "points");
  check_vec3(points->center, vec3(0, 0, 0), 1e-15, "sixteen equal masses");
  own = 0.8 * 0.02 / 4 + 0.8 * 0.08 / 4;
  check_inertia(&points->moment, (const double[6]){own, own + 1.6 * 0.25, own + 1.6 * 0.25, 0, 0, 0}, 1e-14,
                "inertia of the points");
  fixture_free(&f);
}

/* The brick again, as a set of triangles: its enclosed volume weighs as the solid does. A set with an edge open
 * encloses nothing. */
static const char* TRIANGLES =
    "shapes:\n"
    "  brick: {type: points, pieces: triangles, points: ["
    "[-0.1, -0.2, 0.3], [-0.1, 0.2, 0.3], [-0.1, 0.2, -0.3], [-0.1, -0.2, 0.3], [-0.1, 0.2, -0.3], [-0.1, "
    "-0.2, -0.3], [0.1, -0.2, -0.3], [0.1, 0.2, -0.3], [0.1, 0.2, 0.3], [0.1, -0.2, -0.3], [0.1, 0.2, "
    "0.3], [0.1, -0.2, 0.3], [0.1, -0.2, -0.3], [0.1, -0.2, 0.3], [-0.1, -0.2, 0.3], [0.1, -0.2, -0.3], "
    "[-0.1, -0.2, 0.3], [-0.1, -0.2, -0.3], [-0.1, 0.2, -0.3], [-0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [-0.1, "
    "0.2, -0.3], [0.1, 0.2, 0.3], [0.1, 0.2, -0.3], [-0.1, 0.2, -0.3], [0.1, 0.2, -0.3], [0.1, -0.2, "
    "-0.3], [-0.1, 0.2, -0.3], [0.1, -0.2, -0.3], [-0.1, -0.2, -0.3], [-0.1, -0.2, 0.3], [0.1, -0.2, "
    "0.3], [0.1, 0.2, 0.3], [-0.1, -0.2, 0.3], [0.1, 0.2, 0.3], [-0.1, 0.2, 0.3] "
    "]}\n"
    "  sheet: {type: points, pieces: triangles, points: [[0, 0, 0], [0.2, 0, 0], [0, 0.4, 0]]}\n"
    "links:\n"
    "  - {name: solid, mass: 3, shape: brick}\n"
    "  - {name: dense, density: 500, mass_model: uniform, position: [4, 0, 0], shapes: [{shape: brick, position: [1, "
    "2, "
    "3], rpy: [0, 0, 1.5707963267948966]}]}\n"
    "  - {name: sail, mass: 2, shape: sheet, position: [8, 0, 0]}\n";

static void triangles_weigh_what_they_enclose(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f, TRIANGLES);
  check_clean(&f);
  const double solid[6] = {3 * 0.52 / 12, 3 * 0.40 / 12, 3 * 0.20 / 12, 0, 0, 0};
  const double dense[6] = {24 * 0.40 / 12, 24 * 0.52 / 12, 24 * 0.20 / 12, 0, 0, 0};
  assert_int_equal(link_named(&f.model, "solid")->hull_count, 12);
  check_inertia(&link_named(&f.model, "solid")->moment, solid, 1e-14, "solid box");
  check_inertia(&link_named(&f.model, "dense")->moment, dense, 1e-11, "box turned and moved in its link");
  check_near(link_named(&f.model, "dense")->mass, 24, 1e-12, "mass");
  check_vec3(link_named(&f.model, "dense")->center, vec3(1, 2, 3), 1e-13, "centre");
  assert_int_equal(link_named(&f.model, "solid")->mass_model, MASS_UNIFORM);
  assert_int_equal(link_named(&f.model, "sail")->mass_model, MASS_VERTICES); /* of its own accord: it has no volume */
  check_vec3(link_named(&f.model, "sail")->center, vec3(0.2 / 3, 0.4 / 3, 0), 1e-14, "centre of the sheet's corners");
  fixture_free(&f);
}

static void an_open_sheet_has_no_volume(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "links:\n"
               "  - {name: sail, density: 2, shape: {type: points, pieces: triangles, points: [[0, 0, 0], [0.2, 0, 0], "
               "[0, 0.4, 0]]}}\n");
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  check_message(&f, SEVERITY_ERROR, 2, "the triangles of link 'sail' form no closed surface");
  fixture_free(&f);
}

/* A tetrahedron of 0.2 x 0.4 x 0.6 / 6 = 0.008 m^3 with inward triangles. */
static void inward_triangles_are_told_with_their_remedy(void** state) {
  (void)state;
#define INWARD                                                                                                      \
  "shape: {type: points, pieces: triangles, points: [[0, 0, 0], [0.2, 0, 0], [0, 0.4, 0], [0, 0, 0], [0, 0, 0.6], " \
  "[0.2, 0, 0], [0, 0, 0], [0, 0.4, 0], [0, 0, 0.6], [0.2, 0, 0], [0, 0, 0.6], [0, 0.4, 0]]}"
  static const char* const LINKS[] = {"{name: a, density: 1000, " INWARD "}",
                                      "{name: a, mass: 1, mass_model: uniform, " INWARD "}",
                                      "{name: a, mass: 1, " INWARD "}"};
  for (int k = 0; k < 3; k++) {
    Fixture f;
    Text text = {0};
    text_add(&text, "links:\n  - %s\n", LINKS[k]);
    fixture_load(&f, text.data);
    assert_int_equal(f.status, STATUS_BAD_INPUT);
    check_message(&f, SEVERITY_ERROR, 2, "the triangles of link 'a' face inward (its points)");
    check_message(
        &f, SEVERITY_ERROR, 2,
        "the enclosed volume is -0.008 m^3: list the corners of each triangle counterclockwise, seen from outside");
    text_free(&text);
    fixture_free(&f);
  }
  Fixture f; /* vertices weigh the same whichever way the triangles face */
  fixture_load(&f, "links:\n  - {name: a, mass: 1, mass_model: vertices, " INWARD "}\n");
  check_clean(&f);
  fixture_free(&f);
}

static void a_mass_beyond_doubles_is_an_error(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "links:\n"
               "  - {name: fine, mass: 1, shape: {type: box, size: [1, 1, 1]}}\n"
               "  - {name: huge, density: 1e300, shape: {type: box, size: [1e4, 1e4, 1e4]}, position: [1e5, 0, 0]}\n");
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  check_message(&f, SEVERITY_ERROR, 3, "mass of link 'huge' must be > 0 kg, got inf");
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inward_triangles_are_told_with_their_remedy),
      cmocka_unit_test(boxes_match_closed_forms),
      cmocka_unit_test(massless_links_have_a_center_and_a_reach),
      cmocka_unit_test(several_hulls_add_up),
      cmocka_unit_test(a_mass_beyond_doubles_is_an_error),
      cmocka_unit_test(triangles_weigh_what_they_enclose),
      cmocka_unit_test(an_open_sheet_has_no_volume),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
