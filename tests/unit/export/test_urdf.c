#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "export/export.h"
#include "support/runs.h"

typedef struct {
  Run* run;
  Text urdf;
  Diagnostics notes;
  Status status;
} Export;

static Export export_text(const char* scene) {
  Export e = {.run = run_model("%s", scene)};
  e.status = export_urdf(&e.run->model, NULL, "x.urdf", "x_meshes/", &e.urdf, &e.notes);
  return e;
}

static void export_free(Export* e) {
  text_free(&e->urdf);
  diagnostics_free(&e->notes);
  run_free(e->run);
}

static void expect_in(const Export* e, const char* piece) {
  if (!strstr(e->urdf.data, piece)) fail_msg("no '%s' in\n%s", piece, e->urdf.data);
}

static void expect_not_in(const Export* e, const char* piece) {
  if (strstr(e->urdf.data, piece)) fail_msg("'%s' in\n%s", piece, e->urdf.data);
}

/* The first number of an attribute after `element`. */
static double number_of(const Export* e, const char* element, const char* key) {
  const char* place = strstr(e->urdf.data, element);
  assert_non_null(place);
  place = strstr(place, key);
  assert_non_null(place);
  return strtod(strchr(place, '"') + 1, NULL);
}

/* The inertia of a uniform box about its centre is m/12 (b^2 + c^2). */
static void a_link_has_its_mass_centre_inertia_and_shape(void** state) {
  (void)state;
  Export e = export_text(
      "links: [{name: a, mass: 6, mass_model: uniform, shapes: [{type: box, size: [1, 2, 3], position: [0, 0, "
      "5]}]}]\n");
  compare_near(number_of(&e, "<inertia ", "ixx="), 6.5, 1e-12, "ixx");
  compare_near(number_of(&e, "<inertia ", "iyy="), 5.0, 1e-12, "iyy");
  compare_near(number_of(&e, "<inertia ", "izz="), 2.5, 1e-12, "izz");
  expect_in(&e, "<mass value=\"6\"/>");
  expect_in(&e, "<joint name=\"a_free\" type=\"floating\">");
  expect_in(&e, "<parent link=\"world\"/>");
  expect_in(&e, "<collision>");
  expect_in(&e, "<box size=");
  expect_not_in(&e, "<mesh");
  export_free(&e);
}

static void couplings_are_mimics_and_limits_of_velocity_stay(void** state) {
  (void)state;
  Export e = export_text(
      "shapes: {b: {type: sphere, radius: 0.1}}\n"
      "links:\n"
      "  - {name: a, shape: b, mass: 1, joint: {type: hinge, axis: [0, 1, 0], velocity_limit: 3}}\n"
      "  - {name: c, shape: b, mass: 1, joint: {type: slide, axis: [0, 1, 0], position: [0, 3, 0]}}\n"
      "  - {name: d, shape: b, mass: 1, joint: {type: slide, axis: [0, 1, 0], position: [0, 6, 0]}}\n"
      "couplings:\n"
      "  - {link: c, of: a, ratio: -0.5}\n"
      "  - {link: d, terms: [{link: a, ratio: 1}, {link: c, ratio: 2}]}\n"
      "initial: [{link: c, coordinates: [0.25]}]\n");
  expect_in(&e, "<mimic joint=\"a_angle\" multiplier=\"-0.5\" offset=\"0.25\"/>");
  expect_in(&e, "1 coupling(s) of joints left out");
  compare_near(number_of(&e, "a_angle", "velocity="), 3, 0, "limit of velocity");
  export_free(&e);
}

static void joints_keep_axis_limits_and_damping(void** state) {
  (void)state;
  Export e = export_text(
      "shapes: {b: {type: sphere, radius: 0.1}}\n"
      "links:\n"
      "  - {name: base, fixed: true, shape: b}\n"
      "  - {name: h, parent: base, mass: 1, shape: b, joint: {type: hinge, axis: [0, 0, 2], position: [1, 2, 3], rpy: "
      "[0, 0, 0.5], limits: [-1, null], damping: 0.25}}\n"
      "  - {name: f, parent: base, mass: 1, shape: b, collide: false, joint: {type: hinge, axis: [0, 0, 1], position: "
      "[9, 0, 0]}}\n"
      "  - {name: s, parent: f, mass: 1, shape: b, joint: {type: slide, axis: [1, 0, 0], position: [0, 5, 0]}}\n");
  assert_int_equal(e.status, STATUS_OK);
  expect_not_in(&e, "world"); /* the base is the root */
  expect_in(&e, "<joint name=\"h_angle\" type=\"revolute\">\n    <origin xyz=\"1 2 3\" rpy=\"0 0 0.5\"/>");
  expect_in(&e, "<axis xyz=\"0 0 1\"/>\n    <limit lower=\"-1\" upper=\"10000000000\"");
  expect_in(&e, "<dynamics damping=\"0.25\" friction=\"0\"/>");
  expect_in(&e, "<joint name=\"f_angle\" type=\"continuous\">");
  expect_in(&e, "<joint name=\"s_position\" type=\"prismatic\">");
  expect_in(&e, "<geometry><sphere radius=\"0.1\"/></geometry>");
  const char* link = strstr(e.urdf.data, "<link name=\"f\">");
  assert_non_null(link);
  assert_true(strstr(link, "<collision>") > strstr(link, "</link>")); /* f touches nothing */
  export_free(&e);
}

/* Two hinges of one joint: a link between them that no other is named like. */
static void several_degrees_of_freedom_become_a_chain(void** state) {
  (void)state;
  Export e = export_text(
      "shapes: {b: {type: sphere, radius: 0.1}}\n"
      "links:\n"
      "  - {name: a, mass: 1, shape: b, joint: {type: universal, axes: [[1, 0, 0], [0, 1, 0]]}}\n"
      "  - {name: a_angle1, mass: 1, shape: b, position: [1, 0, 0]}\n"
      "  - {name: world, fixed: true}\n");
  expect_in(&e, "<link name=\"a_angle1_\"/>");
  expect_in(&e, "<parent link=\"world_\"/>\n    <child link=\"a_angle1_\"/>\n    <axis xyz=\"1 0 0\"/>");
  expect_in(&e, "<parent link=\"a_angle1_\"/>\n    <child link=\"a\"/>\n    <axis xyz=\"0 1 0\"/>");
  export_free(&e);
}

static void balls_are_refused_by_name(void** state) {
  (void)state;
  Export e = export_text(
      "shapes: {b: {type: sphere, radius: 0.1}}\n"
      "links:\n"
      "  - {name: a, mass: 1, shape: b, joint: {type: ball}}\n"
      "  - {name: c, mass: 1, shape: b, joint: {type: free, free_axes: [x, rx, ry, rz]}, position: [1, 0, 0]}\n");
  assert_int_equal(e.status, STATUS_BAD_INPUT);
  assert_int_equal(e.notes.error_count, 2);
  assert_non_null(strstr(e.notes.items[0].text, "link 'a': URDF has no ball joint"));
  assert_int_equal(e.urdf.length, 0);
  export_free(&e);
}

/* Once as a note, once in the comment, which XML keeps from holding two dashes in a row. */
static void what_urdf_cannot_say_is_told(void** state) {
  (void)state;
  Export e = export_text(
      "name: a--b\n"
      "contact: {friction: 0.25, exclude: [[a, b]]}\n"
      "shapes: {b: {type: sphere, radius: 0.1}}\n"
      "links:\n"
      "  - {name: ground, fixed: true, shape: {type: half_space, offset: -5}}\n"
      "  - {name: a, mass: 1, shape: b, joint: {type: hinge, axis: [0, 1, 0], limits: [-1, 1]}}\n"
      "  - {name: b, mass: 1, shape: b, position: [1, 0, 0]}\n"
      "controllers: [{link: a, type: pd, position_gain: 1, velocity_gain: 0, target: 0}]\n"
      "initial: [{link: a, coordinates: [0.5]}]\n");
  static const char* const lines[] = {"link 'ground' is left out: it is a half-space",
                                      "link 'a': strength and margin of the limits are left out",
                                      "1 controller is left out", "friction of contacts is left out (coefficient 0.25)",
                                      "1 pair of links that must not touch is left out"};
  for (int i = 0; i < 5; i++) expect_in(&e, lines[i]);
  assert_int_equal(e.notes.count, 5);
  expect_in(&e, "The scene starts at: a_angle 0.5.");
  expect_in(&e, "<!-- The scene a- -b,");
  expect_not_in(&e, "name=\"ground\"");
  export_free(&e);
}

/* Spheres and cylinders keep their types and poses in the link. URDF has no capsule. */
static void round_shapes_stay_round(void** state) {
  (void)state;
  Export e = export_text(
      "shapes: {s: {type: sphere, radius: 0.1}, c: {type: cylinder, radius: 0.2, length: 0.5}, "
      "k: {type: capsule, radius: 0.1, length: 0.2}}\n"
      "links:\n"
      "  - {name: a, mass: 1, position: [0, 0, 5], shapes: [{shape: s, position: [0.5, 0, 0]}, "
      "{shape: c, position: [0, 1, 0], rotation: [0.7071067811865476, 0.7071067811865476, 0, 0]}, {shape: k}]}\n");
  assert_int_equal(e.status, STATUS_OK);
  expect_in(&e, "<origin xyz=\"0.5 0 0\" rpy=\"0 0 0\"/>\n      <geometry><sphere radius=\"0.1\"/></geometry>");
  const char* cylinder = strstr(e.urdf.data, "<cylinder radius=\"0.2\" length=\"0.5\"/>");
  const char* place = strstr(e.urdf.data, "<origin xyz=\"0 1 0\" rpy=\"1.570796326794");
  assert_non_null(cylinder);
  assert_non_null(place);
  assert_true(cylinder > place && cylinder - place < 120);
  expect_in(&e, "<mesh filename=\"x_meshes/a_2.obj\"/>");
  expect_not_in(&e, "a_0.obj");
  expect_not_in(&e, "a_1.obj");
  export_free(&e);
}

static void file_names_are_plain_and_different(void** state) {
  (void)state;
  Run* run = run_model(
      "shapes: {b: {type: capsule, radius: 0.1, length: 0.2}}\n"
      "links:\n"
      "  - {name: 'a b', mass: 1, shape: b}\n"
      "  - {name: a_b, mass: 1, shape: b, position: [1, 0, 0]}\n"
      "  - {name: box, mass: 1, shape: {type: box, size: [1, 1, 1]}, position: [5, 0, 0]}\n");
  Text name = {0};
  assert_true(export_urdf_mesh(&run->model, 0, &name));
  assert_string_equal(name.data, "a_b.0_0.obj");
  assert_true(export_urdf_mesh(&run->model, 1, &name));
  assert_string_equal(name.data, "a_b_0.obj");
  assert_false(export_urdf_mesh(&run->model, 2, &name));
  text_free(&name);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(couplings_are_mimics_and_limits_of_velocity_stay),
      cmocka_unit_test(a_link_has_its_mass_centre_inertia_and_shape),
      cmocka_unit_test(joints_keep_axis_limits_and_damping),
      cmocka_unit_test(several_degrees_of_freedom_become_a_chain),
      cmocka_unit_test(balls_are_refused_by_name),
      cmocka_unit_test(what_urdf_cannot_say_is_told),
      cmocka_unit_test(round_shapes_stay_round),
      cmocka_unit_test(file_names_are_plain_and_different),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
