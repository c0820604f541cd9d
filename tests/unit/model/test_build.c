#include "fixture.h"

static void destroy_accepts_a_zeroed_model(void** state) {
  (void)state;
  Model model = {0};
  model_destroy(&model);
}

/* Problems of several stages are reported in one run, and partial results are freed. */
static void problems_of_all_stages_come_together(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "shapes:\n"
               "  sheet: {type: points, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}\n"
               "  gone: {type: mesh, file: no_such_file.obj}\n"
               "links:\n"
               "  - name: arm\n"
               "    mass: 1\n"
               "    shapes: [{shape: sheet}]\n"
               "    joint: {type: hinge, axis: [1, 0, 0], limits: [1, 2]}\n"
               "  - {name: box, mass: 1, shapes: [{shape: gone}]}\n");
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  check_message(&f, SEVERITY_ERROR, 2, "shape 'sheet': is flat");
  check_message(&f, SEVERITY_ERROR, 8, "initial coordinate 'angle' of link 'arm'");
  check_message(&f, SEVERITY_ERROR, 3, "shape 'gone' cannot use the mesh");
  fixture_free(&f);
}

static void the_scene_is_copied_where_it_matters(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "simulation: {dt: 0.002, steps: 7, gravity: [0, 1, 0], integrator: first_order}\n"
               "contact: {friction: 0.25}\n"
               "links:\n"
               "  - {name: a, mass: 1, shape: {type: box, size: [1, 1, 1]}}\n");
  check_clean(&f);
  assert_ptr_equal(f.model.scene, &f.scene);
  check_near(f.model.simulation.dt, 0.002, 0, "dt");
  assert_int_equal(f.model.simulation.steps, 7);
  check_near(f.model.contact.friction, 0.25, 0, "friction");
  assert_int_equal(f.model.contact_model, CONTACT_SEPARATING_PLANE);
  assert_string_equal(f.model.dropped_note, "");
  fixture_free(&f);
}

/* A tolerance that looks like a value in newtons is reported with its line. Smaller tolerances give no warning. */
static void warns_of_coarse_tolerances(void** state) {
  (void)state;
  Fixture f;
  const char body[] = "links: [{name: a, mass: 1, shape: {type: box, size: [1, 1, 1]}}]\n";
  static const struct {
    const char* value;
    bool warned;
  } rows[] = {{"1e-5", false}, {"9.9e-5", false}, {"1e-4", true}, {"0.01", true}};
  for (int i = 0; i < 4; i++) {
    char text[200];
    snprintf(text, sizeof text, "%ssimulation:\n  tolerance: %s\n", body, rows[i].value);
    fixture_load(&f, text);
    if (rows[i].warned) {
      check_message(&f, SEVERITY_WARNING, 3, "is too large (a fraction of the acting forces)");
      assert_int_equal(f.diagnostics.items[0].column, (int)strlen("  tolerance: ") + 1);
      assert_int_equal(f.status, STATUS_OK);
    } else
      check_clean(&f);
    fixture_free(&f);
  }
}

/* 1000 links of 96 vertices each. The time is printed, not judged. */
static void a_thousand_links_load(void** state) {
  (void)state;
  Fixture f;
  double start = timer_now();
  fixture_load(
      &f,
      "shapes: {soft: {type: rounded_box, radius: 0.1, size: [0.1, 0.1, 0.1]}}\n"
      "links:\n"
      "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
      "  - {name: \"b{n}\", mass: 1, shapes: [{shape: soft}], position: [0, 0, 0.16], repeat: {count: [10, 10, "
      "10], position: [0.301, 0.301, 0.301]}}\n");
  check_clean(&f);
  assert_int_equal(f.model.link_count, 1001);
  assert_int_equal(f.model.dof_count, 6000);
  print_message("1000 links of 96 vertices: %.3f s\n", timer_now() - start);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(destroy_accepts_a_zeroed_model),
      cmocka_unit_test(problems_of_all_stages_come_together),
      cmocka_unit_test(the_scene_is_copied_where_it_matters),
      cmocka_unit_test(warns_of_coarse_tolerances),
      cmocka_unit_test(a_thousand_links_load),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
