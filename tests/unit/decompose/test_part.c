/* Tests planar cuts of solids with known volumes. */
#include "decompose/part.h"

#include "decompose/mesh_repair.h"
#include "unit/decompose/decompose_testing.h"

static Part part_of_mesh(const Mesh* mesh, double* unit_volume) {
  Part part;
  UnitFrame frame;
  MeshCondition condition;
  assert_true(mesh_repair(mesh, &part, &frame, &condition));
  *unit_volume = frame.scale * frame.scale * frame.scale;
  return part;
}

/* An oblique plane through the centre halves a cube. */
static void an_oblique_plane_halves_a_cube(void** state) {
  (void)state;
  Mesh mesh = mesh_of_text(CUBE);
  double unit;
  Part cube = part_of_mesh(&mesh, &unit);
  CutPlane plane = {vec3_normalized(vec3(0.3, -0.5, 0.9)), 0};
  Part low = part_cut(&cube, plane, 1e-12), high = part_cut(&cube, plane_flipped(plane), 1e-12);
  assert_close(part_volume(&cube) * unit, 1.0, 1e-12);
  assert_close(part_volume(&low) * unit, 0.5, 1e-12);
  assert_close(part_volume(&high) * unit, 0.5, 1e-12);
  part_free(&low), part_free(&high), part_free(&cube);
  mesh_free(&mesh);
}

/* Three cuts at right angles leave the eighth with the corner that no surface point marks. */
static void caps_are_cut_in_their_turn(void** state) {
  (void)state;
  Mesh mesh = mesh_of_text(CUBE);
  double unit;
  Part part = part_of_mesh(&mesh, &unit);
  for (int axis = 0; axis < 3; axis++) {
    Part cut = part_cut(&part, (CutPlane){vec3(axis == 0, axis == 1, axis == 2), 0}, 1e-12);
    part_free(&part);
    part = cut;
  }
  assert_close(part_volume(&part) * unit, 0.125, 1e-12);
  bool middle = false;
  for (int i = 0; i < part.point_count; i++) middle |= vec3_norm(part.points[i]) < 1e-12;
  assert_true(middle);
  part_free(&part);
  mesh_free(&mesh);
}

static void legs_of_a_channel_come_apart(void** state) {
  (void)state;
  static const double channel[][2] = {{0, 0}, {4, 0}, {4, 3}, {3, 3}, {3, 1}, {1, 1}, {1, 3}, {0, 3}};
  Mesh mesh = prism_mesh(channel, COUNT(channel));
  double unit;
  Part part = part_of_mesh(&mesh, &unit), *pieces;
  /* The plane y = 1 lies half a unit below the box's centre at y = 1.5. The box is 8 wide in unit size. */
  Part legs = part_cut(&part, (CutPlane){vec3(0, -1, 0), 0.5 / cbrt(unit)}, 1e-12);
  assert_int_equal(part_components(&legs, &pieces), 2);
  for (int k = 0; k < 2; k++) {
    assert_close(part_volume(&pieces[k]) * unit, 2.0, 1e-12);
    part_free(&pieces[k]);
  }
  memory_free(pieces);
  part_free(&legs), part_free(&part);
  mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_oblique_plane_halves_a_cube),
      cmocka_unit_test(caps_are_cut_in_their_turn),
      cmocka_unit_test(legs_of_a_channel_come_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
