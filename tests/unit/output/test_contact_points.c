#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "output/output.h"
#include "support/runs.h"

/* Bodies apart from each other; the tests place them. */
static const char* const SCENE =
    "contact: {support: 1.0e-3}\n"
    "shapes:\n"
    "  h: {type: half_space}\n"
    "  unit: {type: box, size: [1, 1, 1]}\n"
    "  brick: {type: box, size: [1, 2, 3]}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: h}\n"
    "  - {name: one, mass: 1, shape: unit, position: [0, 0, 10]}\n"
    "  - {name: two, mass: 1, shape: unit, position: [0, 0, 20]}\n"
    "  - {name: brick, mass: 1, shape: brick, position: [0, 0, 30]}\n"
    "  - {name: pair, mass: 2, position: [0, 0, 40], shapes: [{shape: unit}, {shape: unit, position: [4, 0, 0]}]}\n";
enum { GROUND, ONE, TWO, BRICK, PAIR, LINKS };

static Pose turned(Vec3 axis, double angle, Vec3 place) {
  return (Pose){mat3_from_quat(quat_about(axis, angle)), place};
}

static void start(Pose poses[LINKS]) {
  for (int i = 0; i < LINKS; i++) poses[i] = (Pose){mat3_identity(), vec3(0, 0, 10.0 * i)};
}

/* The same points in any order. */
static void expect_points(const Run* run, const Pose* poses, int a, int b, double gap, const Vec3* wanted, int count) {
  Vec3 points[CONTACT_POINTS_MAX];
  assert_int_equal(contact_points(&run->model, poses, a, b, gap, points), count);
  for (int i = 0; i < count; i++) {
    double nearest = INFINITY;
    for (int k = 0; k < count; k++) nearest = fmin(nearest, vec3_norm(vec3_sub(wanted[i], points[k])));
    if (!(nearest < 1e-9))
      fail_msg("no point at (%g, %g, %g): the nearest is %g m away", wanted[i].x, wanted[i].y, wanted[i].z, nearest);
  }
}

/* In a tilted and shifted frame as well. */
static void a_box_on_the_ground_touches_with_four_corners(void** state) {
  (void)state;
  Run* run = run_model("%s", SCENE);
  Pose poses[LINKS];
  start(poses);
  const double gap = 2e-4;
  poses[GROUND] = turned(vec3_normalized(vec3(1, 2, 0)), 0.4, vec3(3, -1, 2));
  poses[BRICK] = pose_mul(poses[GROUND], turned(vec3(0, 0, 1), 0.5, vec3(0.3, 0.7, 1.5 + gap)));
  Vec3 wanted[4];
  for (int i = 0; i < 4; i++)
    wanted[i] = pose_apply(poses[BRICK], vec3(i & 1 ? 0.5 : -0.5, i & 2 ? 1 : -1, -1.5 - 0.5 * gap));
  expect_points(run, poses, GROUND, BRICK, gap, wanted, 4);
  run_free(run);
}

/* Faces shifted against each other overlap in a rectangle, faces turned by 45 degrees in an octagon. */
static void faces_touch_where_they_overlap(void** state) {
  (void)state;
  Run* run = run_model("%s", SCENE);
  Pose poses[LINKS];
  start(poses);
  poses[ONE].t = vec3(0, 0, 0);
  poses[TWO].t = vec3(0.6, 0.3, 1);
  const Vec3 rectangle[4] = {{0.1, -0.2, 0.5}, {0.5, -0.2, 0.5}, {0.5, 0.5, 0.5}, {0.1, 0.5, 0.5}};
  poses[TWO].t.z += 1e-4;
  Vec3 lifted[4];
  for (int i = 0; i < 4; i++) lifted[i] = vec3_add(rectangle[i], vec3(0, 0, 0.5e-4));
  expect_points(run, poses, ONE, TWO, 1e-4, lifted, 4);
  expect_points(run, poses, TWO, ONE, 1e-4, lifted, 4);
  poses[TWO] = turned(vec3(0, 0, 1), M_PI / 4, vec3(0, 0, 1 + 1e-4));
  Vec3 octagon[8];
  for (int i = 0; i < 8; i++) {
    double far = i & 1 ? 0.5 : -0.5, near = (i & 2 ? 1 : -1) * (sqrt(0.5) - 0.5);
    octagon[i] = vec3(i & 4 ? far : near, i & 4 ? near : far, 0.5 + 0.5e-4);
  }
  expect_points(run, poses, ONE, TWO, 1e-4, octagon, 8);
  run_free(run);
}

/* A ridge along x under a ridge along y; a corner on a face; an edge on a face, of which a part lies over it. */
static void edges_and_corners_touch_in_points_and_lines(void** state) {
  (void)state;
  Run* run = run_model("%s", SCENE);
  Pose poses[LINKS];
  start(poses);
  const double ridge = sqrt(0.5), corner = sqrt(0.75), gap = 1e-5;
  poses[ONE] = turned(vec3(1, 0, 0), M_PI / 4, vec3(0, 0.2, 0));
  poses[TWO] = turned(vec3(0, 1, 0), M_PI / 4, vec3(0.1, 0, 2 * ridge + gap));
  expect_points(run, poses, ONE, TWO, gap, (const Vec3[]){{0.1, 0.2, ridge + 0.5 * gap}}, 1);
  Vec3 axis = vec3_normalized(vec3(1, -1, 0));
  poses[ONE] = turned(axis, acos(1 / sqrt(3.0)), vec3(0.3, 0.4, corner + gap));
  expect_points(run, poses, GROUND, ONE, gap, (const Vec3[]){{0.3, 0.4, 0.5 * gap}}, 1);
  poses[ONE] = (Pose){mat3_identity(), vec3(0, 0, 0)};
  poses[TWO] = turned(vec3(0, 1, 0), M_PI / 4, vec3(0, 0.3, 0.5 + ridge + gap));
  Vec3 points[CONTACT_POINTS_MAX];
  int count = contact_points(&run->model, poses, ONE, TWO, gap, points);
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < count; i++) {
    compare_near(points[i].x, 0, 1e-9, "x of point %d", i);
    compare_near(points[i].z, 0.5 + 0.5 * gap, 1e-9, "z of point %d", i);
    low = fmin(low, points[i].y);
    high = fmax(high, points[i].y);
  }
  compare_near(low, -0.2, 1e-9, "begin of the line");
  compare_near(high, 0.5, 1e-9, "end of the line");
  run_free(run);
}

/* A table with two feet: both or one, and none when it is farther than gap and support. */
static void every_hull_that_is_near_counts(void** state) {
  (void)state;
  Run* run = run_model("%s", SCENE);
  Pose poses[LINKS];
  start(poses);
  poses[PAIR] = (Pose){mat3_identity(), vec3(0, 0, 0.5)};
  Vec3 points[CONTACT_POINTS_MAX];
  assert_int_equal(contact_points(&run->model, poses, GROUND, PAIR, 0, points), 8);
  poses[PAIR] = turned(vec3(0, 1, 0), 0.01, vec3(0, 0, 0.5 * cos(0.01) + 0.5 * sin(0.01) + 4 * sin(0.01)));
  assert_int_equal(contact_points(&run->model, poses, GROUND, PAIR, 0, points), 2);
  for (int i = 0; i < 2; i++) assert_true(points[i].x > 3);
  poses[PAIR].t.z += 0.01;
  assert_int_equal(contact_points(&run->model, poses, GROUND, PAIR, 0, points), 0);
  assert_int_equal(contact_points(&run->model, poses, ONE, TWO, 0, points), 0);
  run_free(run);
}

/* Rounding may let hulls meet: one point inside both. */
static void hulls_that_meet_have_a_point(void** state) {
  (void)state;
  Run* run = run_model("%s", SCENE);
  Pose poses[LINKS];
  start(poses);
  poses[ONE].t = vec3(0, 0, 0);
  poses[TWO].t = vec3(0.2, 0.3, 0.4);
  Vec3 points[CONTACT_POINTS_MAX];
  assert_int_equal(contact_points(&run->model, poses, ONE, TWO, 0, points), 1);
  for (int b = ONE; b <= TWO; b++) {
    Vec3 local = pose_apply_inverse(poses[b], points[0]);
    assert_true(fabs(local.x) <= 0.5 && fabs(local.y) <= 0.5 && fabs(local.z) <= 0.5);
  }
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_box_on_the_ground_touches_with_four_corners),
      cmocka_unit_test(faces_touch_where_they_overlap),
      cmocka_unit_test(edges_and_corners_touch_in_points_and_lines),
      cmocka_unit_test(every_hull_that_is_near_counts),
      cmocka_unit_test(hulls_that_meet_have_a_point),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
