/* Tests round solids fitted to hulls: deviations against closed forms. */
#include "geometry/geometry.h"
#include "robot/robot.h"
#include "support/compare.h"

#include <cmocka.h>

enum { SIDES = 64, RINGS = 3 };

/* A cone has the radii 1 m at z = 0 and 0.5 m at z = 1. A ring lies 8 mm outside of its side, 2 mm below the top, so it
 * is nearer to the top's plane than to the side. The deviation is nevertheless that from the side, 8 mm cos(slope) with
 * tan(slope) = 1/2. The side's facets deviate by 1 - cos(pi / 64) = 1.2 mm. */
static void a_ring_outside_of_a_cone_deviates_by_its_distance_from_the_side(void** state) {
  (void)state;
  const double z[RINGS] = {0, 0.998, 1}, radius[RINGS] = {1, 0.501 + 0.008, 0.5};
  Vec3 points[RINGS * SIDES];
  for (int r = 0; r < RINGS; r++)
    for (int k = 0; k < SIDES; k++) {
      double angle = 2 * M_PI * k / SIDES;
      points[r * SIDES + k] = vec3(radius[r] * cos(angle), radius[r] * sin(angle), z[r]);
    }
  ConvexHull hull;
  assert_int_equal(hull_create(&hull, points, RINGS * SIDES), HULL_OK);
  RobotRound fit;
  assert_true(robot_round_fit(&hull, &fit));
  assert_int_equal(fit.type, SHAPE_CONE);
  compare_near(fit.bottom_radius, 1, 1e-12, "radius at the bottom");
  compare_near(fit.top_radius, 0.5, 1e-12, "radius at the top");
  compare_near(fit.deviation, 0.008 * 2 / sqrt(5), 1e-9, "deviation");
  hull_free(&hull);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_ring_outside_of_a_cone_deviates_by_its_distance_from_the_side)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
