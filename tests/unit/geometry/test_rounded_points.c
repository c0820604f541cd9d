/* Tests convex hulls of points with a radius. Moments are compared with closed forms, sampling and differences. Also
 * tests the inscribed polyhedron. */
#include "geometry_testing.h"

static ConvexHull core_of(const Vec3* points, int count) {
  ConvexHull core;
  assert_int_equal(rounded_core_create(&core, points, count), HULL_OK);
  return core;
}

static void assert_second(const MassMoment* got, const double want[3], double mass, double tolerance) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      assert_close(got->s[i][j], i < 3 && j < 3 ? (i == j ? want[i] : 0) : i == j ? mass : 0, tolerance);
}

/* Ball: 4/3 pi r^3, integral of x^2 = 4/15 pi r^5. */
static void one_point_is_a_ball(void** state) {
  (void)state;
  const Vec3 points[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  const double r = 0.7, second = 4 * M_PI / 15 * pow(r, 5);
  for (int count = 1; count <= 3; count++) {
    ConvexHull core = core_of(points, count);
    assert_int_equal(core.vertex_count, 1);
    MassMoment slope, moment = rounded_core_moment(&core, r, &slope);
    assert_second(&moment, (const double[3]){second, second, second}, 4 * M_PI / 3 * pow(r, 3), 1e-15);
    double by = 5 * second / r;
    assert_second(&slope, (const double[3]){by, by, by}, 4 * M_PI * r * r, 2e-15);
    hull_free(&core);
  }
}

/* Capsule of straight length L along z: a cylinder and the halves of a ball. */
static void two_points_are_a_capsule(void** state) {
  (void)state;
  const double r = 0.3, h = 0.5, L = 2 * h, ball = 4 * M_PI / 3 * pow(r, 3), tube = M_PI * r * r * L;
  const Vec3 points[4] = {{0, 0, 0.1}, {0, 0, -h}, {0, 0, h}, {0, 0, -0.2}};
  ConvexHull core = core_of(points, 4);
  assert_int_equal(core.vertex_count, 2);
  MassMoment moment = rounded_core_moment(&core, r, NULL);
  double across = tube * r * r / 4 + ball * r * r / 5;
  double along = tube * L * L / 12 + ball * (h * h + 2 * h * 3 * r / 8 + r * r / 5);
  assert_second(&moment, (const double[3]){across, across, along}, tube + ball, 1e-15);
  hull_free(&core);
}

/* Integrates x_0^2 and 1 over a rounded box by slices. The slices are stadium shapes for |x_0| <= h_0. Simpson's rule
 * in an angle integrates the caps. */
static void box_by_slices(const double half[3], double r, double* volume, double* square) {
  double b = 2 * half[1], c = 2 * half[2];
  double whole = b * c + 2 * (b + c) * r + M_PI * r * r;
  *volume = 2 * half[0] * whole;
  *square = 2 * pow(half[0], 3) / 3 * whole;
  const int n = 2000;
  for (int k = 0; k <= n; k++) { /* x_0 = h_0 + r sin(angle) */
    double angle = 0.5 * M_PI * k / n, weight = (k == 0 || k == n ? 1 : k % 2 ? 4 : 2) * 0.5 * M_PI / n / 3;
    double s = r * cos(angle), x = half[0] + r * sin(angle);
    double slice = (b * c + 2 * (b + c) * s + M_PI * s * s) * r * cos(angle);
    *volume += 2 * weight * slice;
    *square += 2 * weight * slice * x * x;
  }
}

/* Eight corners, four (a plate) and their inner points. */
static void corners_are_a_rounded_box(void** state) {
  (void)state;
  const double half[2][3] = {{0.5, 0.4, 0.3}, {0.5, 0.4, 0}}, r = 0.2;
  for (int flat = 0; flat < 2; flat++) {
    Vec3 points[10] = {{0.1, 0.2, 0}, {0.5, 0.1, 0}}; /* the second lies on a face or a side */
    for (int k = 0; k < 8; k++)
      points[2 + k] = vec3(k & 1 ? half[flat][0] : -half[flat][0], k & 2 ? half[flat][1] : -half[flat][1],
                           k & 4 ? half[flat][2] : -half[flat][2]);
    ConvexHull core = core_of(points, 10);
    assert_int_equal(core.vertex_count, flat ? 4 : 8);
    MassMoment moment = rounded_core_moment(&core, r, NULL);
    double volume = 0, second[3];
    for (int axis = 0; axis < 3; axis++) {
      const double turned[3] = {half[flat][axis], half[flat][(axis + 1) % 3], half[flat][(axis + 2) % 3]};
      box_by_slices(turned, r, &volume, &second[axis]);
    }
    assert_second(&moment, second, volume, 1e-13);
    hull_free(&core);
  }
}

/* Integrals of 1, x^2 and x y over a triangle (counter-clockwise) with a radius s, by a polygon of many corners. */
static void rounded_triangle(const double q[3][2], double s, double out[3]) {
  enum { ARC = 1000 };
  static double p[3 * ARC + 1][2];
  int count = 0;
  for (int i = 0; i < 3; i++) {
    const double *before = q[(i + 2) % 3], *at = q[i], *after = q[(i + 1) % 3];
    double first = atan2(before[0] - at[0], at[1] - before[1]), last = atan2(at[0] - after[0], after[1] - at[1]);
    double turn = fmod(last - first + 4 * M_PI, 2 * M_PI);
    for (int k = 0; k < ARC; k++, count++) {
      p[count][0] = at[0] + s * cos(first + turn * k / (ARC - 1));
      p[count][1] = at[1] + s * sin(first + turn * k / (ARC - 1));
    }
  }
  p[count][0] = p[0][0];
  p[count][1] = p[0][1];
  out[0] = out[1] = out[2] = 0;
  for (int k = 0; k < count; k++) {
    const double *a = p[k], *b = p[k + 1], cross = a[0] * b[1] - b[0] * a[1];
    out[0] += cross / 2;
    out[1] += cross * (a[0] * a[0] + a[0] * b[0] + b[0] * b[0]) / 12;
    out[2] += cross * (a[0] * b[1] + 2 * a[0] * a[1] + 2 * b[0] * b[1] + b[0] * a[1]) / 24;
  }
}

/* Prisms over random triangles: slices of the caps have the radius r cos(angle) at the height h + r sin(angle). */
static void prisms_agree_with_slices(void** state) {
  (void)state;
  Random random = {23};
  for (int trial = 0; trial < 10; trial++) {
    double q[3][2], h = random_uniform(&random, 0.1, 0.5), r = random_uniform(&random, 0.1, 0.6);
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 2; k++) q[i][k] = random_uniform(&random, -0.5, 0.5);
    double cross = (q[1][0] - q[0][0]) * (q[2][1] - q[0][1]) - (q[1][1] - q[0][1]) * (q[2][0] - q[0][0]);
    if (cross < 0)
      for (int k = 0; k < 2; k++) {
        double other = q[1][k];
        q[1][k] = q[2][k];
        q[2][k] = other;
      }
    Vec3 points[6];
    for (int i = 0; i < 6; i++) points[i] = vec3(q[i % 3][0], q[i % 3][1], i < 3 ? h : -h);
    double want[3], slice[3];
    rounded_triangle((const double(*)[2])q, r, slice);
    for (int k = 0; k < 3; k++) want[k] = 2 * h * slice[k];
    enum { STEPS = 100 };
    for (int k = 0; k < STEPS; k++) { /* Simpson */
      double weight = (k == 0 ? 1 : k % 2 ? 4 : 2) * 0.5 * M_PI / STEPS / 3, angle = 0.5 * M_PI * k / STEPS;
      rounded_triangle((const double(*)[2])q, r * cos(angle), slice);
      for (int i = 0; i < 3; i++) want[i] += 2 * weight * slice[i] * r * cos(angle);
    }
    ConvexHull core = core_of(points, 6);
    MassMoment moment = rounded_core_moment(&core, r, NULL);
    double scale = moment.s[0][0] + moment.s[1][1];
    assert_close(moment.s[3][3], want[0], 3e-6 * want[0]);
    assert_close(moment.s[0][0], want[1], 3e-6 * scale);
    assert_close(moment.s[0][1], want[2], 3e-6 * scale);
    hull_free(&core);
  }
}

/* ---------------------------------------------------------------- random hulls */

/* Sets of every rank, not centred. */
static int random_set(Random* random, int rank, Vec3* points) {
  int count = rank == 0 ? 1 : rank == 1 ? 3 : rank == 2 ? 9 : 14;
  Pose pose = random_pose(random, 0.4);
  for (int i = 0; i < count; i++) {
    Vec3 p = random_vector(random, 0.5);
    points[i] = pose_apply(pose, vec3(rank > 0 ? p.x : 0, rank > 1 ? p.y : 0, rank > 2 ? p.z : 0));
  }
  return count;
}

/* Independent of edges and angles: a position is in the solid if its distance to the hull is at most the radius. */
static void moments_agree_with_sampling(void** state) {
  (void)state;
  Random random = {11};
  for (int rank = 0; rank < 4; rank++) {
    Vec3 points[14], low, high;
    int count = random_set(&random, rank, points), inside = 0;
    const int samples = 60000;
    const double r = 0.25;
    ConvexHull core = core_of(points, count);
    MassMoment moment = rounded_core_moment(&core, r, NULL), sum = mass_moment_zero();
    RoundBody body = {.points = point_view_create(points, count)};
    const Vec3 zero[1] = {{0, 0, 0}};
    RoundBody probe = {.points = point_view_create(zero, 1)};
    low = high = points[0];
    for (int i = 1; i < count; i++) {
      low = vec3_min(low, points[i]);
      high = vec3_max(high, points[i]);
    }
    low = vec3_sub(low, vec3(r, r, r));
    high = vec3_add(high, vec3(r, r, r));
    Vec3 size = vec3_sub(high, low);
    double cell = size.x * size.y * size.z / samples;
    for (int k = 0; k < samples; k++) {
      double x = random_uniform(&random, low.x, high.x), y = random_uniform(&random, low.y, high.y);
      double at[4] = {x, y, random_uniform(&random, low.z, high.z), 1};
      Pose pose = {mat3_identity(), vec3(at[0], at[1], at[2])};
      if (round_distance(&body, pose_identity(), &probe, pose, NULL).distance > r) continue;
      inside++;
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sum.s[i][j] += cell * at[i] * at[j];
    }
    double share = (double)inside / samples, deviation = sqrt((1 - share) / share / samples);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) assert_close(sum.s[i][j], moment.s[i][j], 5 * deviation * moment.s[3][3]);
    point_view_free(&body.points);
    point_view_free(&probe.points);
    hull_free(&core);
  }
}

/* Six-point differences: steps 0.01 to 0.001 of the radius; the error falls with the sixth power down to rounding. */
static void slopes_agree_with_differences(void** state) {
  (void)state;
  Random random = {3};
  for (int trial = 0; trial < 40; trial++) {
    Vec3 points[14];
    ConvexHull core = core_of(points, random_set(&random, trial % 4, points));
    const double r = 0.2;
    MassMoment slope, moment = rounded_core_moment(&core, r, &slope);
    for (int half = 0; half < 4; half++) {
      double h = 0.02 * r / (1 << half);
      MassMoment at[6];
      for (int k = 0; k < 6; k++) at[k] = rounded_core_moment(&core, r + (k < 3 ? k - 3 : k - 2) * h, NULL);
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
          double d = (45 * (at[3].s[i][j] - at[2].s[i][j]) - 9 * (at[4].s[i][j] - at[1].s[i][j]) +
                      (at[5].s[i][j] - at[0].s[i][j])) /
                     (60 * h);
          assert_close(slope.s[i][j], d, 1e-11 * fmax(1, slope.s[3][3]) * (1 << half)); /* of degree 5: exact */
        }
    }
    assert_true(moment.s[3][3] > 0);
    hull_free(&core);
  }
}

/* A copy elsewhere has the same moment, moved. */
static void moments_move_with_the_points(void** state) {
  (void)state;
  Random random = {5};
  for (int trial = 0; trial < 40; trial++) {
    Vec3 points[14];
    int count = random_set(&random, trial % 4, points);
    Pose pose = random_pose(&random, 2);
    ConvexHull core = core_of(points, count);
    MassMoment here = rounded_core_moment(&core, 0.1, NULL), moved = mass_moment_transform(&here, pose);
    hull_free(&core);
    for (int i = 0; i < count; i++) points[i] = pose_apply(pose, points[i]);
    core = core_of(points, count);
    MassMoment there = rounded_core_moment(&core, 0.1, NULL);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) assert_close(there.s[i][j], moved.s[i][j], 1e-13 * 10 * moved.s[3][3] + 1e-15);
    hull_free(&core);
  }
}

/* ---------------------------------------------------------------- tessellation */

/* Its vertices lie on the solid's surface, and its moments approach the solid's with the square of the arc. */
static void polyhedra_are_inscribed_and_converge(void** state) {
  (void)state;
  Random random = {9};
  for (int trial = 0; trial < 12; trial++) {
    Vec3 points[14];
    int count = random_set(&random, trial % 4, points);
    ConvexHull core = core_of(points, count);
    const double r = 0.15;
    MassMoment exact = rounded_core_moment(&core, r, NULL);
    const Vec3 zero[1] = {{0, 0, 0}};
    RoundBody body = {.points = point_view_create(points, count)}, probe = {.points = point_view_create(zero, 1)};
    for (int segments = 12; segments <= 48; segments *= 2) {
      ConvexHull hull;
      assert_int_equal(rounded_core_tessellate(&hull, &core, r, segments), HULL_OK);
      MassMoment inner = mass_moment_solid(&hull);
      double missing = 1 - inner.s[3][3] / exact.s[3][3];
      assert_true(missing > 0 && missing < 20.0 / (segments * segments));
      double scale = exact.s[0][0] + exact.s[1][1] + exact.s[2][2] + exact.s[3][3];
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) assert_close(inner.s[i][j], exact.s[i][j], 20.0 / (segments * segments) * scale);
      for (int i = 0; i < hull.vertex_count; i++) {
        Pose pose = {mat3_identity(), hull.vertices[i]};
        assert_close(round_distance(&body, pose_identity(), &probe, pose, NULL).distance, r, 1e-12);
      }
      hull_free(&hull);
    }
    point_view_free(&body.points);
    point_view_free(&probe.points);
    hull_free(&core);
  }
}

/* Points on a line but for rounding errors, of which hull_create may make a hull, and those in a plane. */
static void rounding_errors_add_no_rank(void** state) {
  (void)state;
  Random random = {17};
  for (int trial = 0; trial < 200; trial++) {
    Vec3 points[12];
    Pose pose = random_pose(&random, 0.3);
    double size = pow(10, -16 + trial % 5);
    bool line = trial % 2 == 0;
    for (int i = 0; i < 12; i++)
      points[i] = vec3_add(pose_apply(pose, line ? vec3(0.1 * i, 0, 0) : vec3(0.1 * (i % 4), 0.1 * (int)(i / 4), 0)),
                           random_vector(&random, size));
    ConvexHull core = core_of(points, 12);
    const double r = 0.05, a = line ? 0 : 0.3, b = line ? 1.1 : 0.2, ball = 4 * M_PI / 3 * pow(r, 3);
    MassMoment moment = rounded_core_moment(&core, r, NULL);
    double plate = 2 * r * a * b + M_PI * r * r * (a + b) + ball; /* Steiner; a = 0: a capsule */
    assert_close(moment.s[3][3], plate, 1e-11 * plate);
    hull_free(&core);
  }
}

static void impossible_input_fails(void** state) {
  (void)state;
  const Vec3 wild[2] = {{0, 0, 0}, {NAN, 0, 0}}, point[1] = {{1, 2, 3}};
  ConvexHull core, hull;
  assert_int_equal(rounded_core_create(&core, wild, 2), HULL_FAILED);
  core = core_of(point, 1);
  assert_int_equal(rounded_core_tessellate(&hull, &core, 0.1, 7), HULL_FAILED);
  assert_int_equal(rounded_core_tessellate(&hull, &core, 0.1, 4097), HULL_FAILED);
  hull_free(&core);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_point_is_a_ball),          cmocka_unit_test(two_points_are_a_capsule),
      cmocka_unit_test(corners_are_a_rounded_box),    cmocka_unit_test(prisms_agree_with_slices),
      cmocka_unit_test(moments_agree_with_sampling),  cmocka_unit_test(slopes_agree_with_differences),
      cmocka_unit_test(moments_move_with_the_points), cmocka_unit_test(polyhedra_are_inscribed_and_converge),
      cmocka_unit_test(rounding_errors_add_no_rank),  cmocka_unit_test(impossible_input_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
