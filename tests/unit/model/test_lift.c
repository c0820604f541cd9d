/* Tests that bodies in contact at the start are lifted by the equilibrium gap (model/lift.c). */
#include "fixture.h"

#define BOX(name, x, z) \
  "  - {name: " name ", mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [" x ", 0, " z "]}\n"
#define GROUND "links:\n  - {name: ground, fixed: true, shape: {type: half_space}}\n"

static void load(Fixture* f, const char* yaml) {
  fixture_load(f, yaml);
  model_destroy(&f->model);
  diagnostics_free(&f->diagnostics);
  f->status = model_create_lifted(&f->model, &f->scene, &f->diagnostics);
}

static double height(const Fixture* f, int link) { return f->scene.links[link].joint.position.z; }

/* Box k of a tower stands on k + 1 gaps. */
static void a_tower_is_lifted_layer_by_layer(void** state) {
  (void)state;
  Fixture f;
  load(&f, GROUND BOX("a", "0", "0.1") BOX("b", "0", "0.3") BOX("c", "0", "0.5"));
  assert_int_equal(f.status, STATUS_OK);
  double gap = f.model.contact.gap_at_rest;
  for (int k = 0; k < 3; k++) check_near(height(&f, k + 1), 0.1 + 0.2 * k + (k + 1) * gap, 1e-12, "height");
  check_message(&f, SEVERITY_NOTE, 0, "links that touched others at the start were raised");
  fixture_free(&f);
}

/* The scene stores the lifted positions. A second model of the scene is equal and gives no note. */
static void a_lifted_scene_stays_as_it_is(void** state) {
  (void)state;
  Fixture f;
  load(&f, GROUND BOX("a", "0", "0.1"));
  double before = height(&f, 1);
  model_destroy(&f.model);
  diagnostics_free(&f.diagnostics);
  f.status = model_create_lifted(&f.model, &f.scene, &f.diagnostics);
  assert_int_equal(f.status, STATUS_OK);
  assert_int_equal(f.diagnostics.count, 0);
  assert_true(height(&f, 1) == before);
  fixture_free(&f);
}

/* Side by side nothing helps; a millimetre inside is a mistake. Either is refused as it was written. */
static void others_are_refused_and_left_alone(void** state) {
  (void)state;
  Fixture f;
  load(&f, GROUND BOX("a", "0", "0.1") BOX("b", "0.2", "0.1"));
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  check_message(&f, SEVERITY_ERROR, 4, "links 'a' and 'b' touch at the start (depth 0 m)");
  assert_true(height(&f, 1) == 0.1 && height(&f, 2) == 0.1);
  fixture_free(&f);
  load(&f, GROUND BOX("a", "0", "0.099"));
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  check_message(&f, SEVERITY_ERROR, 3, "links 'ground' and 'a' intersect at the start, depth 0.001 m");
  fixture_free(&f);
}

/* Without gravity there is no up. */
static void no_gravity_no_lift(void** state) {
  (void)state;
  Fixture f;
  load(&f, "simulation: {gravity: [0, 0, 0]}\n" GROUND BOX("a", "0", "0.1"));
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  assert_true(height(&f, 1) == 0.1);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tower_is_lifted_layer_by_layer),
      cmocka_unit_test(a_lifted_scene_stays_as_it_is),
      cmocka_unit_test(others_are_refused_and_left_alone),
      cmocka_unit_test(no_gravity_no_lift),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
