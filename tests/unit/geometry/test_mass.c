#include "geometry_testing.h"

static void assert_moments_close(const MassMoment* got, const MassMoment* want, double relative) {
  double largest = 0;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) largest = fmax(largest, fabs(want->s[i][j]));
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) assert_close(got->s[i][j], want->s[i][j], relative * largest);
}

static ConvexHull random_hull(Random* random, int count) {
  ConvexHull hull;
  Vec3 points[64];
  for (int i = 0; i < count; i++) points[i] = vec3_add(random_vector(random, 1), vec3(0.3, -0.2, 0.5));
  assert_int_equal(hull_create(&hull, points, count), HULL_OK);
  return hull;
}

/* ---------------------------------------------------------------- closed forms */

static void a_box_has_its_textbook_inertia(void** state) {
  (void)state;
  Vec3 s = {0.4, 0.7, 1.1}, center = {3, -2, 5};
  ConvexHull hull;
  assert_int_equal(primitive_box(&hull, s), HULL_OK);
  for (int i = 0; i < 8; i++) hull.vertices[i] = vec3_add(hull.vertices[i], center);
  MassMoment moment = mass_moment_solid(&hull);
  double mass = s.x * s.y * s.z;
  assert_close(mass_moment_mass(&moment), mass, 1e-15);
  assert_vec3_close(mass_moment_center(&moment), center, 1e-14);
  Mat3 inertia = mass_moment_inertia_tensor(&moment);
  const double want[3] = {mass / 12 * (s.y * s.y + s.z * s.z), mass / 12 * (s.x * s.x + s.z * s.z),
                          mass / 12 * (s.x * s.x + s.y * s.y)};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) assert_close(inertia.m[i][j], i == j ? want[i] : 0, 1e-14);
  hull_free(&hull);
}

/* Tetrahedron 0, e1, e2, e3: integral x = 1/24, x^2 = 1/60, x y = 1/120. */
static void a_tetrahedron_has_the_integrals_of_its_monomials(void** state) {
  (void)state;
  const Vec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  ConvexHull hull;
  assert_int_equal(hull_create(&hull, corners, 4), HULL_OK);
  MassMoment moment = mass_moment_solid(&hull), want = {{{0}}};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) want.s[i][j] = i == j ? 1.0 / 60 : 1.0 / 120;
    want.s[i][3] = want.s[3][i] = 1.0 / 24;
  }
  want.s[3][3] = 1.0 / 6;
  assert_moments_close(&moment, &want, 1e-16);
  hull_free(&hull);
}

static void a_sphere_approaches_two_fifths(void** state) {
  (void)state;
  ConvexHull hull;
  assert_int_equal(primitive_sphere(&hull, 0.5, 4), HULL_OK);
  MassMoment moment = mass_moment_solid(&hull);
  double mass = mass_moment_mass(&moment);
  Mat3 inertia = mass_moment_inertia_tensor(&moment);
  for (int i = 0; i < 3; i++) assert_close(inertia.m[i][i] / (mass * 0.25), 0.4, 2e-3);
  hull_free(&hull);
}

/* ---------------------------------------------------------------- a second method */

/* Integral of a monomial's antiderivative in x over the surface (divergence theorem), each triangle by a quadrature
 * that is exact for cubics: corners, edge midpoints and centroid with weights 1/20, 2/15, 9/20. */
typedef double (*Field)(Vec3 p);
static double field_1(Vec3 p) { return p.x; }
static double field_x(Vec3 p) { return p.x * p.x / 2; }
static double field_y(Vec3 p) { return p.x * p.y; }
static double field_z(Vec3 p) { return p.x * p.z; }
static double field_xx(Vec3 p) { return p.x * p.x * p.x / 3; }
static double field_yy(Vec3 p) { return p.x * p.y * p.y; }
static double field_zz(Vec3 p) { return p.x * p.z * p.z; }
static double field_xy(Vec3 p) { return p.x * p.x * p.y / 2; }
static double field_xz(Vec3 p) { return p.x * p.x * p.z / 2; }
static double field_yz(Vec3 p) { return p.x * p.y * p.z; }

static double surface_integral(const ConvexHull* hull, Field field) {
  double sum = 0;
  for (int i = 0; i < hull->triangle_count; i++) {
    const int* t = hull->triangles[i];
    Vec3 p[3] = {hull->vertices[t[0]], hull->vertices[t[1]], hull->vertices[t[2]]};
    double normal_x = 0.5 * vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])).x;
    double mean = 9.0 / 20 * field(vec3_scale(vec3_add(p[0], vec3_add(p[1], p[2])), 1.0 / 3));
    for (int k = 0; k < 3; k++)
      mean += field(p[k]) / 20 + 2.0 / 15 * field(vec3_scale(vec3_add(p[k], p[(k + 1) % 3]), 0.5));
    sum += normal_x * mean;
  }
  return sum;
}

static void solids_agree_with_the_divergence_theorem(void** state) {
  (void)state;
  static const Field fields[4][4] = {{field_xx, field_xy, field_xz, field_x},
                                     {field_xy, field_yy, field_yz, field_y},
                                     {field_xz, field_yz, field_zz, field_z},
                                     {field_x, field_y, field_z, field_1}};
  Random random = {71};
  for (int trial = 0; trial < 200; trial++) {
    ConvexHull hull = random_hull(&random, 4 + trial % 60);
    MassMoment moment = mass_moment_solid(&hull), want;
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) want.s[i][j] = surface_integral(&hull, fields[i][j]);
    assert_moments_close(&moment, &want, 1e-13);
    hull_free(&hull);
  }
}

/* ---------------------------------------------------------------- laws */

static void moving_the_body_moves_its_moment(void** state) {
  (void)state;
  Random random = {72};
  for (int trial = 0; trial < 200; trial++) {
    ConvexHull hull = random_hull(&random, 30);
    Pose pose = random_pose(&random, 3);
    MassMoment moment = mass_moment_solid(&hull), points = mass_moment_points(hull.vertices, hull.vertex_count);
    MassMoment moved = mass_moment_transform(&moment, pose), moved_points = mass_moment_transform(&points, pose);
    for (int i = 0; i < hull.vertex_count; i++) hull.vertices[i] = pose_apply(pose, hull.vertices[i]);
    MassMoment want = mass_moment_solid(&hull), want_points = mass_moment_points(hull.vertices, hull.vertex_count);
    assert_moments_close(&moved, &want, 1e-13);
    assert_moments_close(&moved_points, &want_points, 1e-13);
    assert_close(mass_moment_mass(&moved_points), 1, 1e-15);
    assert_vec3_close(mass_moment_center(&moved), pose_apply(pose, mass_moment_center(&moment)), 1e-12);
    Mat3 inertia = mass_moment_inertia_tensor(&moment);
    inertia = mat3_mul(mat3_mul(pose.r, inertia), mat3_transpose(pose.r));
    Mat3 turned = mass_moment_inertia_tensor(&moved);
    for (int i = 0; i < 9; i++) assert_close((&turned.m[0][0])[i], (&inertia.m[0][0])[i], 1e-11);
    hull_free(&hull);
  }
}

static void inertia_and_moment_convert_both_ways(void** state) {
  (void)state;
  Random random = {73};
  for (int trial = 0; trial < 200; trial++) {
    /* A physical inertia: that of some points. */
    double mass = 0, tensor[6] = {0};
    Vec3 points[10], first = {0, 0, 0};
    double weight[10];
    for (int i = 0; i < 10; i++) {
      points[i] = random_vector(&random, 1);
      weight[i] = random_uniform(&random, 0.1, 1);
      mass += weight[i];
      first = vec3_add_scaled(first, weight[i], points[i]);
    }
    Vec3 center = vec3_scale(first, 1 / mass);
    MassMoment want = mass_moment_zero();
    for (int i = 0; i < 10; i++) {
      Vec3 r = vec3_sub(points[i], center);
      double m = weight[i];
      tensor[0] += m * (r.y * r.y + r.z * r.z);
      tensor[1] += m * (r.x * r.x + r.z * r.z);
      tensor[2] += m * (r.x * r.x + r.y * r.y);
      tensor[3] -= m * r.x * r.y;
      tensor[4] -= m * r.x * r.z;
      tensor[5] -= m * r.y * r.z;
      MassMoment point = mass_moment_points(&points[i], 1);
      mass_moment_add(&want, &point, m);
    }
    MassMoment moment = mass_moment_inertia(mass, center, tensor);
    assert_moments_close(&moment, &want, 1e-15);
    Mat3 back = mass_moment_inertia_tensor(&moment);
    const double got[6] = {back.m[0][0], back.m[1][1], back.m[2][2], back.m[0][1], back.m[0][2], back.m[1][2]};
    for (int i = 0; i < 6; i++) assert_close(got[i], tensor[i], 1e-14);
  }
}

/* Far from the origin: the moment about the hull itself keeps its digits. */
static void a_far_hull_keeps_its_volume(void** state) {
  (void)state;
  ConvexHull hull;
  assert_int_equal(primitive_box(&hull, vec3(1, 1, 1)), HULL_OK);
  for (int i = 0; i < 8; i++) hull.vertices[i] = vec3_add(hull.vertices[i], vec3(1e6, -2e6, 3e6));
  MassMoment moment = mass_moment_solid(&hull);
  assert_close(mass_moment_mass(&moment), 1, 1e-15);
  assert_vec3_close(mass_moment_center(&moment), vec3(1e6, -2e6, 3e6), 1e-9);
  hull_free(&hull);
}

static void nothing_has_no_mass(void** state) {
  (void)state;
  ConvexHull none = {0};
  MassMoment moment = mass_moment_solid(&none), points = mass_moment_points(NULL, 0), zero = mass_moment_zero();
  assert_memory_equal(&moment, &zero, sizeof zero);
  assert_memory_equal(&points, &zero, sizeof zero);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_box_has_its_textbook_inertia),
      cmocka_unit_test(a_tetrahedron_has_the_integrals_of_its_monomials),
      cmocka_unit_test(a_sphere_approaches_two_fifths),
      cmocka_unit_test(solids_agree_with_the_divergence_theorem),
      cmocka_unit_test(moving_the_body_moves_its_moment),
      cmocka_unit_test(inertia_and_moment_convert_both_ways),
      cmocka_unit_test(a_far_hull_keeps_its_volume),
      cmocka_unit_test(nothing_has_no_mass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
