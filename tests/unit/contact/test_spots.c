/* Tests the contact points of hulls against statics. The contact force on a body at rest balances its weight and acts
 * below its centre of mass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "contact/contact.h"
#include "support/runs.h"

static void assert_near(double value, double expected, double tolerance, const char* what) {
  if (fabs(value - expected) <= tolerance) return;
  fail_msg("%s: %.12g, expected %.12g +- %g", what, value, expected, tolerance);
}

/* Two blocks form one body. The heavier block at x = 0.3 moves the centre of mass off both centres. The contact forces
 * of the hulls sum to the weight and act at the centre of mass. */
static void pressure_balances_the_weight(void** state) {
  (void)state;
  Run* run = run_create(
      1, 1e-9,
      "simulation: {dt: 0.01, steps: 400, integrator: first_order}\n"
      "shapes: {g: {type: half_space}, small: {type: box, size: [0.2, 0.2, 0.1]}, large: {type: "
      "box, size: [0.2, 0.2, 0.3]}}\n"
      "links: [{name: ground, fixed: true, shape: g}, {name: body, density: 500, mass_model: uniform, position: [0, 0, "
      "0.02], shapes: [{shape: small, position: [0, 0, 0.05]}, {shape: large, position: [0.3, 0, "
      "0.15]}]}]\n");
  run_steps(run, 400);
  const Pose* poses = sim_state(run->sim)->pose;
  ContactSpot* spots;
  int count = contact_find_close_pairs(&run->model, poses, 0.01, &spots);
  assert_int_equal(count, 2);
  double sum = 0, weight = run->model.links[1].mass * 9.81;
  Vec3 moment = vec3(0, 0, 0);
  for (int k = 0; k < count; k++) {
    assert_true(spots[k].touching);
    assert_near(spots[k].normal.z, -1, 1e-12, "from the body down");
    sum += spots[k].pressure;
    moment = vec3_add_scaled(moment, spots[k].pressure, spots[k].point);
  }
  Vec3 center = sim_state(run->sim)->center[1];
  assert_near(sum, weight, 1e-4 * weight, "pressure [N]");
  assert_near(moment.x / sum, center.x, 1e-4, "its place, x [m]");
  assert_near(moment.y / sum, center.y, 1e-4, "its place, y [m]");
  assert_near(center.x, 0.225, 1e-3, "3/4 of the mass stands at x = 0.3");
  for (int order = 0; order < 2; order++) {
    Vec3 point;
    assert_true(contact_spots_center(&run->model, spots, count, order, 1 - order, &point));
    assert_near(point.x, center.x, 1e-4, "centre of pressure of both hulls, x [m]");
    assert_near(point.y, center.y, 1e-4, "centre of pressure of both hulls, y [m]");
  }
  memory_free(spots);
  run_free(run);
}

/* Boxes of 0.2 m whose faces are 0.05 m apart along x, 0.03 m above the ground. */
static void what_does_not_touch_has_a_gap(void** state) {
  (void)state;
  Run* run = run_model(
      "contact: {barrier_distance: 0.001}\n"
      "shapes: {g: {type: half_space}, b: {type: box, size: [0.2, 0.2, 0.2]}}\n"
      "links: [{name: ground, fixed: true, shape: g}, {name: one, mass: 1, shape: b, position: [0, 0, 0.13]}, {name: "
      "two, mass: 1, shape: b, position: [0.25, 0, 0.13]}]\n");
  Pose poses[3];
  model_poses(&run->model, run->model.initial_coordinates, poses);
  ContactSpot* spots;
  assert_int_equal(contact_find_close_pairs(&run->model, poses, 0.02, &spots), 0);
  memory_free(spots);
  int count = contact_find_close_pairs(&run->model, poses, 0.06, &spots);
  assert_int_equal(count, 3);
  for (int k = 0; k < count; k++) {
    const ContactSpot* spot = &spots[k];
    bool ground = !run->model.hulls[spot->hull_b].kind->bounded;
    assert_false(spot->touching);
    assert_near(spot->pressure, 0, 0, "pressure");
    assert_near(spot->gap, ground ? 0.03 : 0.05, 1e-12, "gap [m]");
    assert_near(ground ? spot->normal.z : spot->normal.x, ground ? -1 : 1, 1e-12, "normal");
    assert_near(ground ? spot->point.z : spot->point.x, ground ? 0.015 : 0.125, 1e-12, "middle [m]");
  }
  Vec3 point;
  assert_true(contact_spots_center(&run->model, spots, count, 1, 2, &point));
  assert_near(point.x, 0.125, 1e-12, "middle of a pair that does not touch [m]");
  assert_false(contact_spots_center(&run->model, spots, count, 0, 0, &point));
  assert_false(contact_spots_center(&run->model, spots, 0, 1, 2, &point));
  memory_free(spots);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pressure_balances_the_weight),
                                     cmocka_unit_test(what_does_not_touch_has_a_gap)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
