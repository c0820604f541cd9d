#include "fixture.h"
#include "model/contact_scales.h"

static const char* SCENE =
    "simulation: {gravity: [0, 3, -4], dt: 0.01, integrator: first_order}\n"
    "shapes: {cube: {type: box, size: [0.2, 0.2, 0.2]}}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space, offset: -90}}\n"
    "  - {name: wall, fixed: true, mass: 1000, shapes: [{shape: cube}], position: [0, 30, 40]}\n"
    "  - {name: light, mass: 1, shapes: [{shape: cube}], position: [1, 0, 0]}\n"
    "  - {name: middle, mass: 2, shapes: [{shape: cube}], position: [2, 0, 0]}\n"
    "  - {name: tail, parent: middle, mass: 1, shapes: [{shape: cube}], joint: {type: hinge, axis: [1, 0, 0], "
    "position: "
    "[1, 0, 0]}}\n"
    "  - {name: heavy, mass: 50, shapes: [{shape: cube}], position: [5, 0, 0]}\n"
    "  - {name: ghost, mass: 0.001, collide: false, shapes: [{shape: cube}], position: [6, 0, 0]}\n"
    "  - {name: pusher, mass: 700, shapes: [{shape: cube}], joint: {type: slide, axis: [1, 0, 0], position: [7, 0, "
    "0]}}\n"
    "controllers: [{link: pusher, type: prescribed, target: 0}]\n";

/* Weights of trees that move by forces and collide: 1, 2 + 1, 50 kg times 5 m/s^2. */
static void weights_of_moving_colliding_trees(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f, SCENE);
  check_clean(&f);
  ContactScales scales = contact_scales(&f.model, 0.2);
  assert_int_equal(scales.tree_count, 3);
  check_near(scales.acceleration, 5, 1e-15, "acceleration");
  check_near(scales.lightest, 5, 1e-14, "lightest");
  check_near(scales.median, 15, 1e-14, "median");
  check_near(scales.heaviest, 250, 1e-12, "heaviest");
  check_near(scales.total, 270, 1e-12, "total");
  check_near(scales.extent, 50 + sqrt(0.03), 1e-12, "extent: the wall, not the unbounded ground");
  fixture_free(&f);
}

static void without_gravity_bodies_cross_their_size_in_ten_steps(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "simulation: {gravity: [0, 0, 0], dt: 0.02, integrator: first_order}\n"
               "links: [{name: a, mass: 3, shape: {type: box, size: [0.2, 0.2, 0.2]}}]\n");
  check_clean(&f);
  ContactScales scales = contact_scales(&f.model, 0.2);
  check_near(scales.acceleration, 5, 1e-13, "0.2 m / (0.2 s)^2");
  check_near(scales.total, 15, 1e-12, "force");
  fixture_free(&f);
}

static void nothing_moves(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f, "links: [{name: ground, fixed: true, shape: {type: half_space}}]\n");
  check_clean(&f);
  ContactScales scales = contact_scales(&f.model, 1);
  assert_int_equal(scales.tree_count, 0);
  check_near(scales.total, 0, 0, "total");
  assert_true(f.model.contact.support > 0 && f.model.contact.stiffness > 0 && f.model.contact.smoothing > 0);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_of_moving_colliding_trees),
      cmocka_unit_test(without_gravity_bodies_cross_their_size_in_ten_steps),
      cmocka_unit_test(nothing_moves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
