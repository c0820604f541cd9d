/* Tests surface meshes for rendering: repaired, oriented outwards and at the mesh's position. */
#include "decompose/decompose.h"
#include "unit/decompose/decompose_testing.h"

/* In the mesh's own place and unit, whatever its faces looked like: by the divergence theorem, volume 7^3 and outward.
 */
static void the_surface_alone_is_outward(void** state) {
  (void)state;
  Text text = {0};
  for (int k = 0; k < 8; k++) text_add(&text, "v %d %d %d\n", 100 + 7 * (k & 1), -50 + 7 * (k >> 1 & 1), 7 * (k >> 2));
  text_add(&text, "f 1 3 4 2\nf 8 7 5 6\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"); /* one of six is turned */
  Mesh mesh = mesh_of_text(text.data);
  ConvexHull surface;
  assert_true(mesh_surface(&surface, NULL, &mesh));
  assert_int_equal(surface.vertex_count, 8);
  assert_int_equal(surface.triangle_count, 12);
  assert_close(mass_moment_solid(&surface).s[3][3], 343, 1e-9);
  hull_free(&surface);
  mesh_free(&mesh);
  mesh = mesh_of_text("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
  assert_false(mesh_surface(&surface, NULL, &mesh));
  mesh_free(&mesh);
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_surface_alone_is_outward)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
