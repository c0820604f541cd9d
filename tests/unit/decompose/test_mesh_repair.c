/* Tests mesh repair on cubes with every defect of mesh files. After repair each has volume 1, or the volume that a hole
 * leaves. */
#include "decompose/mesh_repair.h"

#include "unit/decompose/decompose_testing.h"

static const char CORNERS[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n";

static MeshCondition check_cube(const char* faces) {
  Text text = {0};
  text_add(&text, "%s%s", CORNERS, faces);
  Mesh mesh = mesh_of_text(text.data);
  Part part;
  UnitFrame frame;
  MeshCondition condition;
  assert_true(mesh_repair(&mesh, &part, &frame, &condition));
  assert_close(part_volume(&part) * pow(frame.scale, 3), 1.0, 1e-12);
  assert_close(winding_number(&part, vec3(0.01, 0.02, 0.03)), 1.0, 1e-12);
  assert_close(winding_number(&part, vec3(2, 0.02, 0.03)), 0.0, 1e-12);
  part_free(&part);
  mesh_free(&mesh);
  text_free(&text);
  return condition;
}

static void a_good_cube_has_no_fault(void** state) {
  (void)state;
  MeshCondition c = check_cube("f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
  assert_int_equal(c.border_edges + c.branching_edges + c.turned_triangles + c.closed_borders + c.joined_points, 0);
  assert_int_equal(c.components, 1);
}

static void an_inverted_cube_is_turned(void** state) {
  (void)state;
  assert_true(check_cube("f 1 2 3 4\nf 8 7 6 5\nf 5 6 2 1\nf 6 7 3 2\nf 7 8 4 3\nf 8 5 1 4\n").inside_out);
}

static void mixed_faces_are_turned_alike(void** state) {
  (void)state;
  MeshCondition c = check_cube("f 1 2 3 4\nf 5 6 7 8\nf 1 2 6 5\nf 6 7 3 2\nf 3 4 8 7\nf 4 1 5 8\n");
  assert_int_equal(c.turned_triangles, 4);
}

static void a_missing_face_is_closed(void** state) {
  (void)state;
  MeshCondition c = check_cube("f 4 3 2 1\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
  assert_int_equal(c.border_edges, 4);
  assert_int_equal(c.closed_borders, 1);
}

static void doubled_faces_count_once(void** state) {
  (void)state;
  MeshCondition c =
      check_cube("f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\nf 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\n");
  assert_int_equal(c.repeated_triangles, 6);
}

/* Drawn from both sides its triangles enclose nothing, by their directions; whichever side comes first. */
static void a_cube_drawn_from_both_sides_is_a_solid(void** state) {
  (void)state;
  const char* front =
      "f 4 3 2\nf 4 2 1\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\nf 4 5 8\n";
  const char* back =
      "f 2 3 4\nf 1 2 4\nf 7 6 5\nf 8 7 5\nf 6 2 1\nf 5 6 1\nf 7 3 2\nf 6 7 2\nf 8 4 3\nf 7 8 3\nf 5 1 4\nf 8 5 4\n";
  for (int order = 0; order < 2; order++) {
    Text text = {0};
    text_add(&text, "%s%s", order == 0 ? front : back, order == 0 ? back : front);
    assert_int_equal(check_cube(text.data).repeated_triangles, 12);
    text_free(&text);
  }
}

/* Points of their own for one face, off by 1e-9. */
static void cracks_are_joined(void** state) {
  (void)state;
  MeshCondition c = check_cube(
      "v 0 0 1.000000001\nv 1 0 1.000000001\nv 1 1 1.000000001\nv 0 1 1.000000001\n"
      "f 4 3 2 1\nf 9 10 11 12\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
  assert_int_equal(c.joined_points, 4);
  assert_int_equal(c.border_edges, 0);
}

/* Each triangle of a cube of 7 x 7 squares per side has separate corners, displaced by up to `amplitude`. Repair joins
 * points over this distance, but never over an edge length. Random with seed 3. */
static void a_soup_hangs_together(void** state) {
  (void)state;
  const double amplitudes[] = {1e-9, 1e-6, 1e-5, 1e-4};
  for (int a = 0; a < COUNT(amplitudes); a++) {
    Random random = {3};
    Text text = {0};
    int points = 0;
    for (int side = 0; side < 6; side++)
      for (int square = 0; square < 49; square++)
        for (int half = 0; half < 2; half++) {
          for (int k = 0; k < 3; k++) {
            int corner = half == 0 ? k : (k + 2) % 4; /* 0 1 2 and 2 3 0 */
            int column = square % 7 + (corner == 1 || corner == 2), line = square / 7 + corner / 2;
            double u = column / 7.0, v = line / 7.0;
            double x[3];
            x[side / 2] = side % 2;
            x[(side / 2 + 1) % 3] = side % 2 ? u : v;
            x[(side / 2 + 2) % 3] = side % 2 ? v : u;
            for (int i = 0; i < 3; i++) x[i] += random_uniform(&random, -amplitudes[a], amplitudes[a]) / sqrt(3);
            text_add(&text, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
          }
          text_add(&text, "f %d %d %d\n", points + 1, points + 2, points + 3);
          points += 3;
        }
    Mesh mesh = mesh_of_text(text.data);
    Part part;
    UnitFrame frame;
    MeshCondition c;
    assert_true(mesh_repair(&mesh, &part, &frame, &c));
    assert_int_equal(c.border_edges + c.branching_edges + c.turned_triangles, 0);
    assert_int_equal(part.triangle_count, 6 * 49 * 2);
    assert_true(c.joining <= fmax(50 * amplitudes[a], 3e-7));
    assert_close(part_volume(&part) * pow(frame.scale, 3), 1.0, 6 * amplitudes[a]);
    part_free(&part);
    mesh_free(&mesh);
    text_free(&text);
  }
}

/* A small inverted cube inside is a cavity, so the volume is 1 - 0.2^3. */
static void a_cavity_stays_inverted(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, "%s", CUBE);
  for (int k = 0; k < 8; k++)
    text_add(&text, "v %g %g %g\n", k % 4 == 1 || k % 4 == 2 ? 0.6 : 0.4, k % 4 >= 2 ? 0.6 : 0.4, k >= 4 ? 0.6 : 0.4);
  text_add(&text, "f 9 10 11 12\nf 16 15 14 13\nf 13 14 10 9\nf 14 15 11 10\nf 15 16 12 11\nf 16 13 9 12\n");
  Mesh mesh = mesh_of_text(text.data);
  Part part;
  UnitFrame frame;
  MeshCondition condition;
  assert_true(mesh_repair(&mesh, &part, &frame, &condition));
  assert_int_equal(condition.cavities, 1);
  assert_close(part_volume(&part) * pow(frame.scale, 3), 1.0 - 0.008, 1e-12);
  part_free(&part);
  mesh_free(&mesh);
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_good_cube_has_no_fault),
      cmocka_unit_test(an_inverted_cube_is_turned),
      cmocka_unit_test(mixed_faces_are_turned_alike),
      cmocka_unit_test(a_missing_face_is_closed),
      cmocka_unit_test(doubled_faces_count_once),
      cmocka_unit_test(a_cube_drawn_from_both_sides_is_a_solid),
      cmocka_unit_test(cracks_are_joined),
      cmocka_unit_test(a_soup_hangs_together),
      cmocka_unit_test(a_cavity_stays_inverted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
