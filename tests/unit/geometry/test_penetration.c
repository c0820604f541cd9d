#include "geometry_testing.h"
#include "support/long.h"

/* Two boxes with parallel axes: the least overlap of the three axes, along that axis. */
static void parallel_boxes(void** state) {
  (void)state;
  Random random = {41};
  int met = 0;
  for (int trial = 0; trial < tests_count(100, 300); trial++) {
    double scale = pow(10, random_uniform(&random, -3, 2));
    Vec3 size_a, size_b, offset = random_vector(&random, 0.6 * scale);
    double *a = &size_a.x, *b = &size_b.x;
    for (int k = 0; k < 3; k++) {
      a[k] = scale * random_uniform(&random, 0.1, 1);
      b[k] = scale * random_uniform(&random, 0.1, 1);
    }
    double least = HUGE_VAL;
    Vec3 way = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
      double overlap = 0.5 * (a[k] + b[k]) - fabs((&offset.x)[k]);
      if (overlap >= least) continue;
      least = overlap;
      way = vec3(0, 0, 0);
      (&way.x)[k] = (&offset.x)[k] > 0 ? 1 : -1;
    }
    ConvexHull hull_a, hull_b;
    primitive_box(&hull_a, size_a);
    primitive_box(&hull_b, size_b);
    PointView view_a = point_view_create(hull_a.vertices, 8), view_b = point_view_create(hull_b.vertices, 8);
    Pose world = random_pose(&random, scale);
    Pose beside = pose_mul(world, (Pose){mat3_identity(), offset});
    Vec3 normal;
    double depth = hull_penetration(view_a, world, view_b, beside, &normal);
    assert_close(depth, fmax(least, 0), 1e-12 * scale);
    if (depth > 0) {
      assert_vec3_close(mat3_tmul_vec(world.r, normal), way, 1e-9);
      beside.t = vec3_add_scaled(beside.t, depth + 1e-9 * scale, normal); /* it parts them */
      assert_true(gjk_distance(view_a, world, view_b, beside, NULL).distance > 0);
      met++;
    } else {
      assert_vec3_close(normal, vec3(0, 0, 0), 0);
    }
    point_view_free(&view_a);
    point_view_free(&view_b);
    hull_free(&hull_a);
    hull_free(&hull_b);
  }
  print_message("seed 41: %d of 300 pairs met\n", met);
  assert_true(met > 50);
}

/* A cube standing on its corner, sunk into a plate; and two spheres, whose polyhedra are near the round closed form. */
static void a_sunken_corner_and_two_spheres(void** state) {
  (void)state;
  ConvexHull cube, plate, sphere;
  primitive_box(&cube, vec3(1, 1, 1));
  primitive_box(&plate, vec3(10, 10, 4));
  primitive_sphere(&sphere, 1, 3);
  PointView cube_view = point_view_create(cube.vertices, cube.vertex_count);
  PointView plate_view = point_view_create(plate.vertices, plate.vertex_count);
  PointView sphere_view = point_view_create(sphere.vertices, sphere.vertex_count);
  Vec3 axis = vec3_normalized(vec3(1, -1, 0)), normal;
  Pose upright = {mat3_from_quat(quat_about(axis, acos(1 / sqrt(3)))), vec3(0.3, 0.2, 2 + 0.5 * sqrt(3) - 0.07)};
  double depth = hull_penetration(plate_view, pose_identity(), cube_view, upright, &normal);
  assert_close(depth, 0.07, 1e-13);
  assert_vec3_close(normal, vec3(0, 0, 1), 1e-12);
  Pose apart = {mat3_identity(), {1.2, 0.5, -0.3}};
  depth = hull_penetration(sphere_view, pose_identity(), sphere_view, apart, &normal);
  assert_close(depth, 2 - vec3_norm(apart.t), 0.01);
  assert_true(vec3_dot(normal, vec3_normalized(apart.t)) > 0.99);
  /* Concentric spheres: out through the nearest face of the difference. */
  depth = hull_penetration(sphere_view, pose_identity(), sphere_view, pose_identity(), &normal);
  assert_close(depth, 2, 0.02);
  point_view_free(&cube_view);
  point_view_free(&plate_view);
  point_view_free(&sphere_view);
  hull_free(&cube);
  hull_free(&plate);
  hull_free(&sphere);
}

/* Checks the penetration of random hulls. The reported translation separates them, and no shorter one of many
 * directions does. */
static void no_direction_is_shorter(void** state) {
  (void)state;
  Random random = {42};
  for (int trial = 0; trial < tests_count(40, 100); trial++) {
    Vec3 points[2][20];
    for (int i = 0; i < 40; i++) points[i / 20][i % 20] = random_vector(&random, 1);
    PointView a = point_view_create(points[0], 20), b = point_view_create(points[1], 20);
    Pose pose_a = random_pose(&random, 0.3), pose_b = random_pose(&random, 0.3);
    Vec3 normal;
    double depth = hull_penetration(a, pose_a, b, pose_b, &normal);
    bool meet = gjk_distance(a, pose_a, b, pose_b, NULL).distance == 0;
    assert_int_equal(meet, depth > 0);
    for (int k = 0; meet && k < 500; k++) {
      Vec3 direction = k == 0 ? normal : random_direction(&random);
      double reach_a, reach_b;
      support_index(a, mat3_tmul_vec(pose_a.r, direction), &reach_a);
      support_index(b, mat3_tmul_vec(pose_b.r, vec3_scale(direction, -1)), &reach_b);
      double push = reach_a + reach_b + vec3_dot(direction, vec3_sub(pose_a.t, pose_b.t));
      if (k == 0) assert_close(push, depth, 1e-13);
      assert_true(push >= depth - 1e-13);
    }
    point_view_free(&a);
    point_view_free(&b);
  }
}

static void flat_sets_have_no_depth(void** state) {
  (void)state;
  const Vec3 square[] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
  PointView view = point_view_create(square, 4);
  Vec3 normal;
  Pose beside = {mat3_identity(), {0.5, 0.5, 0}};
  assert_true(hull_penetration(view, pose_identity(), view, beside, &normal) == 0);
  assert_vec3_close(normal, vec3(0, 0, 0), 0);
  point_view_free(&view);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parallel_boxes),
      cmocka_unit_test(a_sunken_corner_and_two_spheres),
      cmocka_unit_test(no_direction_is_shorter),
      cmocka_unit_test(flat_sets_have_no_depth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
