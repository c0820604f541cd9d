/* Tests distances of convex hulls of points and circles against closed forms, lower and upper bounds. */
#include "geometry_testing.h"

static const Vec3 CORNERS[8] = {{-0.5, -0.4, -0.3}, {0.5, -0.4, -0.3}, {-0.5, 0.4, -0.3}, {0.5, 0.4, -0.3},
                                {-0.5, -0.4, 0.3},  {0.5, -0.4, 0.3},  {-0.5, 0.4, 0.3},  {0.5, 0.4, 0.3}};
static const Circle DRUM[2] = {{{0, 0, 0.1}, {0, 0, 1}, 0.4}, {{0, 0, -0.1}, {0, 0, 1}, 0.4}};

static RoundBody drum(double rounding) { return (RoundBody){.rings = DRUM, .ring_count = 2, .rounding = rounding}; }

static void check(const RoundBody* a, Pose pose_a, const RoundBody* b, Pose pose_b, double distance) {
  Random random = {7};
  for (int trial = 0; trial < 20; trial++) {
    Pose world = trial == 0 ? pose_identity() : random_pose(&random, 1);
    GjkCache cache = {0};
    for (int warm = 0; warm < 2; warm++) {
      GjkResult found = round_distance(a, pose_mul(world, pose_a), b, pose_mul(world, pose_b), &cache);
      assert_close(found.distance, distance, 2e-9 * distance + 1e-12);
    }
  }
}

/* Drum over a corner, beside a line of its rim, on a face, on an edge, and two drums side by side. */
static void closed_forms(void** state) {
  (void)state;
  const Vec3 origin[] = {{0, 0, 0}};
  RoundBody point = {.points = point_view_create(origin, 1), .rounding = 0.01};
  RoundBody box = {.points = point_view_create(CORNERS, 8)};
  RoundBody wheel = drum(0), tyre = drum(0.05);
  check(&wheel, pose_identity(), &point, (Pose){mat3_identity(), vec3(0.3, 0.4, 0.35)}, sqrt(0.01 + 0.0625) - 0.01);
  check(&tyre, pose_identity(), &point, (Pose){mat3_identity(), vec3(0.6, 0.8, 0.05)}, 0.6 - 0.05 - 0.01);
  check(&wheel, (Pose){mat3_identity(), vec3(0.2, 0.1, 0.401)}, &box, pose_identity(), 1e-3);
  Pose rolls = {mat3_from_quat(quat_about(vec3(1, 0, 0), M_PI / 2)), vec3(0.07, 0.05, 0.701)};
  check(&wheel, rolls, &box, pose_identity(), 1e-3);
  Pose tilted = {mat3_from_quat(quat_about(vec3(0, 0, 1), 0.3)), vec3(-0.7, 0.6, 0)};
  check(&wheel, tilted, &tyre, (Pose){mat3_identity(), vec3(0.5, -0.3, 0.05)}, sqrt(1.44 + 0.81) - 0.8 - 0.05);
  point_view_free(&point.points);
  point_view_free(&box.points);
}

/* Edges and corners before a rim, where no inscribed polygon is exact. The distance is proven from below by the support
 * planes and from above by the witnesses; both take few iterations. */
static void bounds_agree(void** state) {
  (void)state;
  Random random = {5};
  RoundBody box = {.points = point_view_create(CORNERS, 8)}, wheel = drum(0);
  const Circle cone[2] = {{{0, 0, 0.2}, {0, 0, 1}, 0.3}, {{0, 0, -0.2}, {0, 0, 1}, 0.5}};
  RoundBody bucket = {.rings = cone, .ring_count = 2};
  for (int i = 0; i < 400; i++) {
    const RoundBody* other = i % 2 ? &box : &bucket;
    Pose a = random_pose(&random, 0), b = random_pose(&random, 3);
    GjkCache cache = {0};
    for (int step = 0; step < 8; step++) {
      GjkResult found = round_distance(&wheel, a, other, b, &cache);
      if (!(found.distance > 0)) break;
      Vec3 between = vec3_sub(found.witness_b, found.witness_a), n = found.normal;
      double above = vec3_norm(between), below = vec3_dot(n, vec3_sub(b.t, a.t)) -
                                                 round_support(&wheel, mat3_tmul_vec(a.r, n), NULL) -
                                                 round_support(other, mat3_tmul_vec(b.r, vec3_scale(n, -1)), NULL);
      assert_true(found.distance <= above + 1e-14);
      assert_true(above - found.distance <= 2e-9 * found.distance + 1e-12);
      assert_true(below >= found.distance - 2e-9 * found.distance - 1e-12);
      assert_true(found.iterations <= 150);
      b.t = vec3_add_scaled(b.t, -(found.distance - 1e-3), n);
    }
  }
  point_view_free(&box.points);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(closed_forms), cmocka_unit_test(bounds_agree)};
  return cmocka_run_group_tests_name("geometry: round bodies", tests, NULL, NULL);
}
