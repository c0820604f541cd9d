/* Tests depths by the expanding polytope against a version that rebuilds the hull in each iteration, and against boxes.
 */
#include "query/expanding.h"
#include "support/bodies.h"
#include "support/compare.h"

typedef struct {
  ConvexHull hull;
  PointView view;
} Solid;

static Solid solid_round(Random* random, int count) {
  Solid s;
  Vec3 corner[256];
  for (int i = 0; i < count; i++) corner[i] = random_direction(random);
  assert_int_equal(hull_create(&s.hull, corner, count), HULL_OK);
  s.view = point_view_create(s.hull.vertices, s.hull.vertex_count);
  return s;
}

static Solid solid_box(Vec3 size) {
  Solid s;
  assert_int_equal(primitive_box(&s.hull, size), HULL_OK);
  s.view = point_view_create(s.hull.vertices, s.hull.vertex_count);
  return s;
}

static void solid_free(Solid* s) {
  hull_free(&s->hull);
  point_view_free(&s->view);
}

static double depth_of(const Solid* a, Pose pose_a, const Solid* b, Pose pose_b, Vec3* normal) {
  GjkCache simplex = {.count = 0};
  if (gjk_distance(a->view, pose_a, b->view, pose_b, &simplex).distance > 0) return -2;
  return hull_depth(a->view, pose_a, b->view, pose_b, &simplex, normal);
}

static void depth_is_that_of_the_plain_twin(void** state) {
  (void)state;
  Random random = {71};
  int answered = 0, met = 0;
  for (int k = 0; k < 300; k++) {
    Solid a = k % 3 ? solid_round(&random, 8 + k % 200) : solid_box(vec3(1, 2, 0.5));
    Solid b = k % 2 ? solid_round(&random, 24) : solid_box(vec3(1, 1, 1));
    Pose pose_a = random_pose(&random, 1), pose_b = random_pose(&random, 1);
    pose_b.t = vec3_add_scaled(pose_a.t, random_uniform(&random, 0, 1.8), random_direction(&random));
    Vec3 normal, plain;
    double depth = depth_of(&a, pose_a, &b, pose_b, &normal);
    double wanted = hull_penetration(a.view, pose_a, b.view, pose_b, &plain);
    if (depth == -2) {
      compare_near(wanted, 0, 1e-12, "seed 71, %d: apart", k);
    } else {
      met++;
      if (depth >= 0) {
        answered++;
        compare_near(depth, wanted, 1e-11, "seed 71, %d: depth", k);
        /* the translation separates the bodies: moved by slightly more, they are disjoint */
        pose_b.t = vec3_add_scaled(pose_b.t, depth + 1e-9, normal);
        assert_true(gjk_distance(a.view, pose_a, b.view, pose_b, NULL).distance > 0);
      }
    }
    solid_free(&a);
    solid_free(&b);
  }
  print_message("seed 71: %d of %d answered\n", answered, met);
  assert_true(met > 150 && answered >= 0.95 * met);
}

/* Even with faces in one plane: unit boxes side by side, 0.1 into each other along x. */
static void boxes_in_each_other(void** state) {
  (void)state;
  Solid a = solid_box(vec3(1, 1, 1));
  Pose beside = pose_identity();
  beside.t = vec3(0.9, 0.03, 0.02);
  Vec3 normal = {0, 0, 0};
  compare_near(depth_of(&a, pose_identity(), &a, beside, &normal), 0.1, 1e-14, "depth");
  compare_vec3(normal, vec3(1, 0, 0), 1e-14, "normal");
  solid_free(&a);
}

/* A simplex of fewer than four corners says nothing. */
static void unknown_without_a_simplex(void** state) {
  (void)state;
  Solid a = solid_box(vec3(1, 1, 1));
  GjkCache none = {.count = 0};
  Vec3 normal;
  assert_true(hull_depth(a.view, pose_identity(), a.view, pose_identity(), &none, &normal) == -1);
  solid_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(depth_is_that_of_the_plain_twin),
      cmocka_unit_test(boxes_in_each_other),
      cmocka_unit_test(unknown_without_a_simplex),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
