/* Tests GJK against closed forms. tests/property/test_gjk.c compares random pairs with independent methods. */
#include "geometry_testing.h"

static PointView box_view(Vec3 size) {
  ConvexHull hull;
  assert_int_equal(primitive_box(&hull, size), HULL_OK);
  PointView view = point_view_create(hull.vertices, hull.vertex_count);
  hull_free(&hull);
  return view;
}

static Pose at(double x, double y, double z) { return (Pose){mat3_identity(), vec3(x, y, z)}; }

static Pose turned(Vec3 axis, double angle, Vec3 t) {
  return (Pose){mat3_from_quat(quat_about(vec3_normalized(axis), angle)), t};
}

/* The same pair seen from a random frame: nothing may change but the frame. */
static void check_pair(PointView a, Pose pose_a, PointView b, Pose pose_b, double distance, Vec3 normal,
                       double tolerance) {
  Random random = {21};
  for (int trial = 0; trial < 20; trial++) {
    Pose world = trial == 0 ? pose_identity() : random_pose(&random, 1);
    GjkResult result = gjk_distance(a, pose_mul(world, pose_a), b, pose_mul(world, pose_b), NULL);
    assert_close(result.distance, distance, tolerance);
    assert_vec3_close(mat3_tmul_vec(world.r, result.normal), normal, tolerance / (distance > 0 ? distance : 1) + 1e-14);
    Vec3 between = vec3_sub(result.witness_b, result.witness_a);
    assert_vec3_close(between, vec3_scale(result.normal, result.distance), tolerance + 1e-14);
  }
}

static void points_and_segments(void** state) {
  (void)state;
  const Vec3 ends[] = {{-1, 0, 0}, {1, 0, 0}}, origin[] = {{0, 0, 0}};
  PointView point = point_view_create(origin, 1), segment = point_view_create(ends, 2);
  check_pair(point, at(0, 0, 0), point, at(3, 4, 12), 13, vec3(3.0 / 13, 4.0 / 13, 12.0 / 13), 1e-13);
  check_pair(point, at(2, 0, 0), segment, at(0, 0, 0), 1, vec3(-1, 0, 0), 1e-14);
  check_pair(point, at(0.3, 0, 2), segment, at(0, 0, 0), 2, vec3(0, 0, -1), 1e-14);
  /* Crossed segments, 0.25 apart; and crossing ones. */
  Pose across = turned(vec3(0, 0, 1), 1.1, vec3(0.2, 0.1, 0.25));
  check_pair(segment, at(0, 0, 0), segment, across, 0.25, vec3(0, 0, 1), 1e-14);
  across.t.z = 0;
  check_pair(segment, at(0, 0, 0), segment, across, 0, vec3(0, 0, 0), 0);
  point_view_free(&point);
  point_view_free(&segment);
}

static void faces_edges_and_corners_of_boxes(void** state) {
  (void)state;
  PointView a = box_view(vec3(2, 1, 1)), b = box_view(vec3(1, 1, 3));
  /* Parallel faces; parallel edges; corner to corner. */
  check_pair(a, at(0, 0, 0), b, at(1.75, 0.2, 0.3), 0.25, vec3(1, 0, 0), 1e-14);
  check_pair(a, at(0, 0, 0), b, at(1.5 + 0.3, 1 + 0.4, 0.1), 0.5, vec3(0.6, 0.8, 0), 1e-14);
  check_pair(a, at(0, 0, 0), b, at(1.5 + 2, 1 + 3, 2 + 6), 7, vec3(2.0 / 7, 3.0 / 7, 6.0 / 7), 1e-13);
  /* Standing on an edge, on a corner: half of the diagonal below the centre. */
  double edge = sqrt(0.5), corner = 0.5 * sqrt(3);
  PointView cube = box_view(vec3(1, 1, 1)), plate = box_view(vec3(4, 4, 1));
  check_pair(plate, at(0, 0, 0), cube, turned(vec3(1, 0, 0), atan(1), vec3(0.1, 0.2, 0.5 + edge + 0.01)), 0.01,
             vec3(0, 0, 1), 1e-14);
  Pose upright = turned(vec3(1, -1, 0), acos(1 / sqrt(3)), vec3(0.3, 0.2, 0.5 + corner + 0.01));
  check_pair(plate, at(0, 0, 0), cube, upright, 0.01, vec3(0, 0, 1), 1e-13);
  /* Crossed edges: two cubes stand on an edge, one of them rotated by 90 degrees about the vertical. */
  Pose lower = turned(vec3(1, 0, 0), atan(1), vec3(0, 0, 0));
  Pose upper = pose_mul(turned(vec3(0, 0, 1), 0.9, vec3(0, 0, 2 * edge + 1e-3)), lower);
  check_pair(cube, lower, cube, upper, 1e-3, vec3(0, 0, 1), 1e-14);
  point_view_free(&a);
  point_view_free(&b);
  point_view_free(&cube);
  point_view_free(&plate);
}

static void meeting_hulls_have_distance_exactly_zero(void** state) {
  (void)state;
  PointView cube = box_view(vec3(1, 1, 1));
  const Pose poses[] = {at(0, 0, 0),         at(0.5, 0.5, 0.5), at(0.999999, 0, 0),
                        at(1, 0, 0),         at(1, 1, 1),       at(0.2, 0.3, 1.0),
                        at(1 - 1e-12, 1, 1), at(0, 0, 0.999),   turned(vec3(1, 2, 3), 1, vec3(0.4, 0.3, 0.2))};
  for (int i = 0; i < COUNT(poses); i++) {
    GjkCache cache = {0};
    for (int repeat = 0; repeat < 3; repeat++) {
      GjkResult result = gjk_distance(cube, at(0, 0, 0), cube, poses[i], &cache);
      assert_true(result.distance == 0);
      assert_true(result.normal.x == 0 && result.normal.y == 0 && result.normal.z == 0);
      assert_vec3_close(result.witness_a, result.witness_b, 1e-14);
      for (int k = 0; k < 3; k++) { /* the common point is in both cubes */
        Vec3 local_b = pose_apply_inverse(poses[i], result.witness_b);
        assert_true(fabs((&result.witness_a.x)[k]) <= 0.5 + 1e-14);
        assert_true(fabs((&local_b.x)[k]) <= 0.5 + 1e-14);
      }
    }
  }
  point_view_free(&cube);
}

/* A 100 x 100 x 1 m ground and a 0.1 m box over it: the distance is that of the box's lowest corner. */
static void a_small_box_over_a_large_ground(void** state) {
  (void)state;
  PointView ground = box_view(vec3(100, 100, 1)), box = box_view(vec3(0.1, 0.1, 0.1));
  Random random = {22};
  double worst = 0, worst_normal = 0;
  for (int trial = 0; trial < 3000; trial++) {
    static const double gaps[] = {1e-4, 1e-6, 1e-8, 1};
    double gap = gaps[trial % 4];
    Pose world = random_pose(&random, 1), local = random_pose(&random, 40);
    if (trial % 3 == 0) local.r = mat3_from_quat(quat_about(vec3(0, 0, 1), random_uniform(&random, 0, 6)));
    double lowest = HUGE_VAL;
    for (int i = 0; i < 8; i++) lowest = fmin(lowest, mat3_mul_vec(local.r, vec3(box.x[i], box.y[i], box.z[i])).z);
    local.t.z = 0.5 + gap - lowest;
    GjkCache cache = {0};
    for (int warm = 0; warm < 2; warm++) {
      GjkResult result = gjk_distance(ground, world, box, pose_mul(world, local), &cache);
      worst = fmax(worst, fabs(result.distance - gap));
      Vec3 normal = mat3_tmul_vec(world.r, result.normal);
      worst_normal = fmax(worst_normal, vec3_norm(vec3_sub(normal, vec3(0, 0, 1))) * gap);
    }
  }
  print_message("seed 22: distance off by at most %g m, normal by %g m / gap\n", worst, worst_normal);
  assert_true(worst < 1e-13);
  assert_true(worst_normal < 1e-13);
  point_view_free(&ground);
  point_view_free(&box);
}

/* ---------------------------------------------------------------- cache */

static void a_warm_start_at_rest_takes_one_look(void** state) {
  (void)state;
  PointView cube = box_view(vec3(1, 1, 1));
  Pose beside = turned(vec3(1, 2, 3), 0.7, vec3(1.7, 0.3, 0.2));
  GjkCache cache = {0};
  GjkResult cold = gjk_distance(cube, at(0, 0, 0), cube, beside, &cache);
  assert_true(cold.iterations > 1);
  assert_in_range(cache.count, 1, 3);
  assert_vec3_close(vec3_normalized(cache.direction), vec3_scale(cold.normal, -1), 1e-15);
  GjkResult warm = gjk_distance(cube, at(0, 0, 0), cube, beside, &cache);
  assert_int_equal(warm.iterations, 1);
  assert_close(warm.distance, cold.distance, 1e-15);
  /* Only a direction: also a start. */
  GjkCache direction = {.direction = cache.direction};
  GjkResult guided = gjk_distance(cube, at(0, 0, 0), cube, beside, &direction);
  assert_close(guided.distance, cold.distance, 1e-15);
  point_view_free(&cube);
}

static void a_foreign_cache_does_no_harm(void** state) {
  (void)state;
  PointView cube = box_view(vec3(1, 1, 1));
  const GjkCache caches[] = {
      {.count = 5},
      {.count = -1},
      {.count = 2, .a = {0, 99}, .b = {0, 1}},
      {.count = 2, .a = {0, 1}, .b = {-1, 1}},
      {.count = 4, .a = {1, 1, 1, 1}, .b = {2, 2, 2, 2}},
      {.count = 4, .a = {0, 1, 2, 3}, .b = {0, 1, 2, 3}},
      {.count = 3, .a = {7, 7, 6}, .b = {0, 0, 0}},
      {.count = 0, .direction = {(double)NAN, 0, 0}},
  };
  for (int i = 0; i < COUNT(caches); i++) {
    GjkCache cache = caches[i];
    GjkResult result = gjk_distance(cube, at(0, 0, 0), cube, at(1.25, 0.1, 0.2), &cache);
    assert_close(result.distance, 0.25, 1e-15);
  }
  point_view_free(&cube);
}

static void poses_that_are_not_numbers_count_as_meeting(void** state) {
  (void)state;
  PointView cube = box_view(vec3(1, 1, 1));
  GjkResult result = gjk_distance(cube, at((double)NAN, 0, 0), cube, at(2, 0, 0), NULL);
  assert_true(result.distance == 0);
  point_view_free(&cube);
}

static void a_search_allocates_nothing(void** state) {
  (void)state;
  PointView cube = box_view(vec3(1, 1, 1));
  uint64_t before = memory_allocation_count();
  GjkCache cache = {0};
  for (int i = 0; i < 100; i++) gjk_distance(cube, at(0, 0, 0), cube, at(0.02 * i, 0.1, 0), &cache);
  assert_true(memory_allocation_count() == before);
  point_view_free(&cube);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_and_segments),
      cmocka_unit_test(faces_edges_and_corners_of_boxes),
      cmocka_unit_test(meeting_hulls_have_distance_exactly_zero),
      cmocka_unit_test(a_small_box_over_a_large_ground),
      cmocka_unit_test(a_warm_start_at_rest_takes_one_look),
      cmocka_unit_test(a_foreign_cache_does_no_harm),
      cmocka_unit_test(poses_that_are_not_numbers_count_as_meeting),
      cmocka_unit_test(a_search_allocates_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
