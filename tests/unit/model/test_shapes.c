#include "fixture.h"
#include <unistd.h>

/* A cube with edge 2 in two groups of which one is a smaller cube beside it, a repeated vertex, one point inside. */
static const char* TWO_CUBES =
    "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 0 0 2\nv 2 0 2\nv 2 2 2\nv 0 2 2\nv 1 1 1\nv 2 2 2\n"
    "v 5 0 0\nv 6 0 0\nv 6 1 0\nv 5 1 0\nv 5 0 1\nv 6 0 1\nv 6 1 1\nv 5 1 1\n"
    "o big\nf 1 4 3 2\nf 5 6 10 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\nf 1 2 9\n"
    "o small\nf 11 14 13 12\nf 15 16 17 18\nf 11 12 16 15\nf 12 13 17 16\nf 13 14 18 17\nf 14 11 15 18\n";
static const char* FLAT_GROUP =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1 1 0\no solid\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\no sheet\nf 1 2 5 3\n";

static void write_mesh(char* path, const char* text) {
  static const char TEMPLATE[] = "/tmp/sdrs_mesh_XXXXXX.obj";
  memcpy(path, TEMPLATE, sizeof(TEMPLATE));
  int file = mkstemps(path, 4);
  assert_true(file >= 0);
  close(file);
  if (text) assert_int_equal(file_write(path, text, strlen(text)), STATUS_OK);
}

static void load_mesh(Fixture* f, const char* path, const char* options) {
  char yaml[800];
  snprintf(yaml, sizeof yaml,
           "shapes:\n"
           "  thing: {type: mesh, file: %s%s}\n"
           "links:\n"
           "  - {name: a, density: 1000, mass_model: uniform, shapes: [{shape: thing}]}\n"
           "  - {name: b, density: 1000, mass_model: uniform, shapes: [{shape: thing}], position: [50, 0, 0]}\n",
           path, options);
  fixture_load(f, yaml);
}

static void whole_mesh_is_one_hull(void** state) {
  (void)state;
  char path[32];
  Fixture f;
  write_mesh(path, TWO_CUBES);
  load_mesh(&f, path, "");
  check_clean(&f);
  assert_int_equal(f.model.hull_count, 2);
  /* cube corners (8) and the four far corners of the small cube; its near ones lie inside except where it sticks out */
  assert_true(strstr(f.model.dropped_note, "shape 'thing'") != NULL);
  assert_true(f.model.hulls[0].solid.vertex_count < 16);
  fixture_free(&f);
  unlink(path);
}

/* Volumes 8 and 1 at scale 0.1: 0.008 + 0.001 m^3. The mesh is read once for both links: one note. */
static void groups_are_hulls(void** state) {
  (void)state;
  char path[32];
  Fixture f;
  write_mesh(path, TWO_CUBES);
  load_mesh(&f, path, ", hulls: groups, scale: 0.1");
  check_clean(&f);
  assert_int_equal(f.model.hull_count, 4);
  for (int i = 0; i < 4; i++) assert_int_equal(f.model.hulls[i].solid.vertex_count, 8);
  check_near(f.model.links[1].mass, 9, 1e-12, "mass");
  check_vec3(f.model.hulls[1].center, vec3(0.55, 0.05, 0.05), 1e-15, "centre of the small cube");
  assert_string_equal(f.model.dropped_note,
                      "shape 'thing': 2 of 18 points lie inside its hull or repeat a vertex and were dropped\n");
  fixture_free(&f);
  unlink(path);
}

/* 162 points on a sphere of radius 1 thinned to 20: the note says by how much, and every vertex is one of the points.
 */
static void thinning_is_noted_with_its_error(void** state) {
  (void)state;
  ConvexHull ball;
  char path[32];
  Fixture f;
  Text text = {0};
  primitive_sphere(&ball, 1, 2);
  for (int i = 0; i < ball.vertex_count; i++)
    text_add(&text, "v %.17g %.17g %.17g\n", ball.vertices[i].x, ball.vertices[i].y, ball.vertices[i].z);
  for (int i = 0; i < ball.triangle_count; i++)
    text_add(&text, "f %d %d %d\n", ball.triangles[i][0] + 1, ball.triangles[i][1] + 1, ball.triangles[i][2] + 1);
  write_mesh(path, text.data);
  load_mesh(&f, path, ", max_vertices: 20");
  check_clean(&f);
  assert_int_equal(f.model.hulls[0].points.count, 20);
  double error = 0;
  assert_int_equal(
      sscanf(f.model.dropped_note, "shape 'thing': hull reduced from 162 to 20 vertices, error %lf m", &error), 1);
  double farthest = 0;
  for (int i = 0; i < ball.vertex_count; i++) {
    _Alignas(64) double x[8], y[8], z[8];
    for (int k = 0; k < 8; k++) {
      x[k] = ball.vertices[i].x;
      y[k] = ball.vertices[i].y;
      z[k] = ball.vertices[i].z;
    }
    PointView point = {x, y, z, 1, 8};
    GjkResult gjk = gjk_distance(point, pose_identity(), f.model.hulls[0].points, pose_identity(), NULL);
    farthest = fmax(farthest, gjk.distance);
  }
  check_near(error, farthest, 0.006 * farthest, "error in the note (three digits)");
  fixture_free(&f);
  hull_free(&ball);
  text_free(&text);
  unlink(path);
}

/* ---------------------------------------------------------------- decomposed */

/* An L-shaped prism from z = 0 to 1 with two arms, 3 long and 1 wide, has the volume 5. A second one is rotated by 180
 * degrees. */
static const char* ANGLE =
    "v 0 0 0\nv 3 0 0\nv 3 1 0\nv 1 1 0\nv 1 3 0\nv 0 3 0\nv 0 0 1\nv 3 0 1\nv 3 1 1\nv 1 1 1\nv 1 3 1\nv 0 3 1\n"
    "f 6 5 4 3 2 1\nf 7 8 9 10 11 12\nf 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12\n";
static const char* TURNED_ANGLE =
    "v 0 0 0\nv -3 0 0\nv -3 -1 0\nv -1 -1 0\nv -1 -3 0\nv 0 -3 0\n"
    "v 0 0 1\nv -3 0 1\nv -3 -1 1\nv -1 -1 1\nv -1 -3 1\nv 0 -3 1\n"
    "f 6 5 4 3 2 1\nf 7 8 9 10 11 12\nf 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12\n";

static bool has_vertex(const ModelHull* hull, Vec3 p, double tolerance) {
  for (int i = 0; i < hull->solid.vertex_count; i++)
    if (vec3_norm(vec3_sub(hull->solid.vertices[i], p)) <= tolerance) return true;
  return false;
}

static bool some_hull_has(const Model* model, int hull_count, Vec3 p) {
  for (int h = 0; h < hull_count; h++)
    if (has_vertex(&model->hulls[h], p, 1e-12)) return true;
  return false;
}

/* The mesh becomes at least two convex hulls, which contain all corners of the L and no point beyond its inner corner.
 * Both links share the decomposition, scaled by the shape's scale. */
static void a_decomposed_mesh_is_its_hulls(void** state) {
  (void)state;
  static const double CORNERS[][2] = {{0, 0}, {0.3, 0}, {0.3, 0.1}, {0.1, 0.3}, {0, 0.3}};
  char path[32];
  Fixture f;
  setenv("SDRS_CACHE", "off", 1);
  write_mesh(path, ANGLE);
  load_mesh(&f, path, ", scale: 0.1, decompose: {}");
  check_clean(&f);
  assert_int_equal(f.model.hull_count, 4);
  for (int k = 0; k < 10; k++) {
    Vec3 corner = vec3(CORNERS[k / 2][0], CORNERS[k / 2][1], k % 2 * 0.1);
    if (!some_hull_has(&f.model, 2, corner)) fail_msg("no hull has the corner %g %g %g", corner.x, corner.y, corner.z);
  }
  for (int h = 0; h < 2; h++)
    for (int i = 0; i < f.model.hulls[h].solid.vertex_count; i++) {
      Vec3 p = f.model.hulls[h].solid.vertices[i];
      assert_true(p.x < 0.1 + 1e-9 || p.y < 0.1 + 1e-9);
    }
  double volume = f.model.links[0].mass / 1000;
  Text note = {0};
  text_add(&note, "shape 'thing': 2 hulls in 1 connected component, total volume %.4g times that of the mesh\n",
           volume / 5e-3);
  assert_string_equal(f.model.dropped_note, note.data);
  assert_true(volume > 5e-3 && volume < 6.001e-3);
  check_near(f.model.links[1].mass, f.model.links[0].mass, 1e-12, "mass of the other link");
  text_free(&note);
  fixture_free(&f);
  unlink(path);
}

/* The scene has the hulls of `sdrs decompose` times the scale, as the same doubles. */
static void the_hulls_are_those_of_the_command(void** state) {
  (void)state;
  char path[32];
  Fixture f;
  Mesh mesh;
  Decomposition d;
  Diagnostics diagnostics = {0};
  setenv("SDRS_CACHE", "off", 1);
  write_mesh(path, ANGLE);
  load_mesh(&f, path, ", scale: 0.3, decompose: {grid: [3, 3, 2], symmetry: none}");
  assert_int_equal(mesh_read(&mesh, path, 1.0, &diagnostics), STATUS_OK);
  assert_int_equal(mesh_decompose(&d, &mesh, &(DecomposeOptions){.grid = {3, 3, 2}}), HULL_OK);
  assert_int_equal(d.hull_count, 10);
  assert_int_equal(f.model.hull_count, 2 * d.hull_count);
  for (int h = 0; h < d.hull_count; h++)
    for (int i = 0; i < d.hulls[h].vertex_count; i++)
      assert_true(has_vertex(&f.model.hulls[h], vec3_scale(d.hulls[h].vertices[i], 0.3), 0));
  decomposition_free(&d);
  mesh_free(&mesh);
  fixture_free(&f);
  unlink(path);
}

static void a_mesh_that_cannot_be_decomposed_is_named(void** state) {
  (void)state;
  char path[32];
  Fixture f;
  setenv("SDRS_CACHE", "off", 1);
  write_mesh(path, "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
  load_mesh(&f, path, ", decompose: {}");
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  check_message(&f, SEVERITY_ERROR, 2, "shape 'thing': is flat");
  fixture_free(&f);
  unlink(path);
}

/* A mirror plane that the mesh does not have: one half stands for the other, and part of the mesh is not covered. */
static void a_promise_that_is_broken_is_a_warning(void** state) {
  (void)state;
  char path[32];
  Fixture f;
  setenv("SDRS_CACHE", "off", 1);
  write_mesh(path, TURNED_ANGLE);
  load_mesh(&f, path, ", decompose: {symmetry: x}");
  assert_int_equal(f.status, STATUS_OK);
  if (f.diagnostics.count > 0) check_message(&f, SEVERITY_WARNING, 2, "shape 'thing': the hulls do not cover a point");
  assert_true(f.diagnostics.count > 0);
  fixture_free(&f);
  unlink(path);
}

static void a_flat_group_is_an_error_that_names_it(void** state) {
  (void)state;
  char path[32];
  Fixture f;
  write_mesh(path, FLAT_GROUP);
  load_mesh(&f, path, ", hulls: groups");
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  check_message(&f, SEVERITY_ERROR, 2, "shape 'thing', group 'sheet': ");
  fixture_free(&f);
  unlink(path);
}

static void a_mesh_that_cannot_be_used_is_named_with_its_shape(void** state) {
  (void)state;
  char path[32];
  Fixture f;
  write_mesh(path, "v 0 0 0\nv 1 0 0\nf 1 2 9\n");
  load_mesh(&f, path, "");
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  assert_true(f.diagnostics.error_count > 0);
  check_message(&f, SEVERITY_NOTE, 2, "shape 'thing' cannot use the mesh /tmp/sdrs_mesh_");
  fixture_free(&f);
  unlink(path);
  load_mesh(&f, "/tmp/sdrs_no_such_mesh.obj", "");
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  check_message(&f, SEVERITY_ERROR, 2, "shape 'thing' cannot use the mesh");
  fixture_free(&f);
}

static void flat_point_lists_are_errors(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "shapes:\n"
               "  sheet: {type: points, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}\n"
               "  fine: {type: points, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, 0.1, 0.1]]}\n"
               "links:\n"
               "  - {name: a, mass: 1, shapes: [{shape: fine}]}\n");
  check_message(&f, SEVERITY_ERROR, 2, "shape 'sheet': is flat");
  assert_string_equal(f.model.dropped_note,
                      "shape 'fine': 1 of 5 points lie inside its hull or repeat a vertex and were dropped\n");
  fixture_free(&f);
}

static void primitives_have_their_vertices(void** state) {
  (void)state;
  Fixture f;
  fixture_load(
      &f,
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: box, mass: 1, shape: {type: box, size: [1, 1, 1]}}\n"
      "  - {name: ball, mass: 1, shape: {type: sphere, radius: 1, resolution: 1}}\n"
      "  - {name: can, mass: 1, shape: {type: cylinder, radius: 1, length: 2, segments: 9}}\n"
      "  - {name: pill, mass: 1, shape: {type: capsule, radius: 1, length: 2, segments: 12}}\n"
      "  - {name: soft, mass: 1, shape: {type: rounded_box, radius: 0.24, size: [0, 0, 0.5], segments: 16}}\n");
  check_clean(&f);
  const int counts[] = {8, 42, 18, 74, 96}; /* pill: two caps of three rings of 12 and a pole */
  for (int i = 0; i < 5; i++) assert_int_equal(f.model.hulls[i].points.count, counts[i]);
  fixture_free(&f);
}

/* The depth of a chord of 16 segments; separating_plane takes the solid, and segments ask for the polyhedron. */
static void round_solids_of_other_laws_are_noted(void** state) {
  (void)state;
  static const struct {
    const char *law, *more;
    bool noted;
  } CASES[] = {{"long_range", "", true}, {"separating_plane", "", false}, {"ipc", ", segments: 16", false}};
  for (int k = 0; k < 3; k++) {
    char yaml[300];
    snprintf(yaml, sizeof yaml,
             "contact: {model: %s}\nshapes: {drum: {type: cylinder, radius: 0.1, length: 0.1%s}}\n"
             "links: [{name: drum, mass: 1, shape: drum}]\n",
             CASES[k].law, CASES[k].more);
    Fixture f;
    fixture_load(&f, yaml);
    check_clean(&f);
    char note[200] = "";
    if (CASES[k].noted)
      snprintf(note, sizeof note,
               "shape 'drum': represented by a polyhedron with faces up to %.3g m inside the round solid, because only "
               "the law "
               "separating_plane supports the exact solid; 'segments' sets the number of faces\n",
               0.1 * (1 - cos(3.14159265358979 / 16)));
    assert_string_equal(f.model.dropped_note, note);
    fixture_free(&f);
  }
  static const char* const WARNED[] = {"contact: {model: ipc}", "contact: {model: manifold}",
                                       "contact: {pairs: [{a: drum, b: other, model: ipc}]}"};
  for (int k = 0; k < 3; k++) {
    char yaml[300];
    snprintf(yaml, sizeof yaml,
             "%s\nshapes: {drum: {type: cylinder, radius: 0.1, length: 0.1}}\n"
             "links:\n  - {name: drum, mass: 1, shape: drum}\n"
             "  - {name: other, mass: 1, position: [1, 0, 0], shape: {type: box, size: [0.1, 0.1, 0.1]}}\n",
             WARNED[k]);
    Fixture f;
    fixture_load(&f, yaml);
    assert_int_equal(f.status, STATUS_OK);
    assert_int_equal(f.diagnostics.warning_count, 1);
    check_message(&f, SEVERITY_WARNING, 2, "with faces up to 0.00192 m inside");
    fixture_free(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_mesh_is_one_hull),
      cmocka_unit_test(groups_are_hulls),
      cmocka_unit_test(thinning_is_noted_with_its_error),
      cmocka_unit_test(round_solids_of_other_laws_are_noted),
      cmocka_unit_test(a_decomposed_mesh_is_its_hulls),
      cmocka_unit_test(the_hulls_are_those_of_the_command),
      cmocka_unit_test(a_mesh_that_cannot_be_decomposed_is_named),
      cmocka_unit_test(a_promise_that_is_broken_is_a_warning),
      cmocka_unit_test(a_flat_group_is_an_error_that_names_it),
      cmocka_unit_test(a_mesh_that_cannot_be_used_is_named_with_its_shape),
      cmocka_unit_test(flat_point_lists_are_errors),
      cmocka_unit_test(primitives_have_their_vertices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
