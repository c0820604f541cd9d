#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "export/format.h"
#include "support/compare.h"

static ConvexHull turned_box(Vec3 size, Pose pose) {
  ConvexHull box;
  assert_int_equal(primitive_box(&box, size), HULL_OK);
  for (int i = 0; i < box.vertex_count; i++) box.vertices[i] = pose_apply(pose, box.vertices[i]);
  return box;
}

/* The box found holds exactly the corners that went in. */
static void a_turned_box_is_found(void** state) {
  (void)state;
  Random random = {7};
  for (int trial = 0; trial < 50; trial++) {
    Vec3 size =
        vec3(random_uniform(&random, 0.01, 2), random_uniform(&random, 0.01, 2), random_uniform(&random, 0.01, 2));
    if (trial % 3 == 0) size.y = size.x; /* equal edges: the choice among them must not matter */
    if (trial % 6 == 0) size.z = size.x;
    Quat q = quat_exp(vec3(random_normal(&random), random_normal(&random), random_normal(&random)));
    Pose put = {mat3_from_quat(q), vec3(random_normal(&random), 1, -2)}, found;
    Vec3 half;
    ConvexHull box = turned_box(size, put);
    assert_true(hull_is_box(&box, &found, &half));
    compare_near(mat3_det(found.r), 1, 1e-12, "mat3_det(found.r)");
    for (int i = 0; i < 8; i++) {
      Vec3 local = pose_apply_inverse(found, box.vertices[i]);
      compare_near(fabs(local.x), half.x, 1e-12, "fabs(local.x)");
      compare_near(fabs(local.y), half.y, 1e-12, "fabs(local.y)");
      compare_near(fabs(local.z), half.z, 1e-12, "fabs(local.z)");
    }
    hull_free(&box);
  }
}

static void other_solids_of_eight_corners_are_no_boxes(void** state) {
  (void)state;
  Pose found;
  Vec3 half;
  ConvexHull sheared = turned_box(vec3(1, 2, 3), pose_identity());
  for (int i = 0; i < 8; i++) sheared.vertices[i].x += 0.1 * sheared.vertices[i].z;
  assert_false(hull_is_box(&sheared, &found, &half));
  hull_free(&sheared);
  ConvexHull drawn = turned_box(vec3(1, 2, 3), pose_identity());
  drawn.vertices[5].y += 1e-6;
  assert_false(hull_is_box(&drawn, &found, &half));
  hull_free(&drawn);
  ConvexHull ball;
  assert_int_equal(primitive_sphere(&ball, 1, 0), HULL_OK);
  assert_false(hull_is_box(&ball, &found, &half));
  hull_free(&ball);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_turned_box_is_found),
      cmocka_unit_test(other_solids_of_eight_corners_are_no_boxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
