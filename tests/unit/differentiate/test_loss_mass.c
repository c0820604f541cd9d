/* Tests the mass loss for links with given mass and with density. */
#include "loss_testing.h"

static const char SCENE[] =
    "simulation: {dt: 0.01, steps: 1, integrator: first_order}\n"
    "contact: {model: none}\n"
    "shapes: {brick: {type: box, size: [0.2, 0.3, 0.5]}}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: brick}\n"
    "  - {name: given, mass: 1.5, position: [2, 0, 0], shape: brick}\n"
    "  - {name: dense, density: 200, position: [4, 0, 0], shape: brick}\n";

static void values(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, SCENE);
  TaskLoss loss = loss_of(LOSS_MASS, "given");
  loss.weight = 2;
  compare_near(loss_value(run, &loss), 3, 1e-15, "given");
  loss.link.text = name_text("dense");
  compare_near(loss_value(run, &loss), 2 * 200 * 0.03, 1e-14, "density times volume");
  loss_run_free(run);
}

/* By a density: a stretch about the origin, X -> (1 + s) X, is 3 m s. By a mass that is given: nothing. */
static void by_vertices(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, SCENE);
  Model* m = &run->run->model;
  for (int k = 0; k < 2; k++) {
    TaskLoss loss = loss_of(LOSS_MASS, k == 0 ? "given" : "dense");
    loss.weight = 2;
    Loss* made = loss_make(run, &loss);
    LossSeeds seeds = loss_seeds_create(m, 1);
    ModelGradient gradient;
    model_gradient_create(&gradient, m);
    double term, along = 0;
    loss_evaluate(made, &run->recording, &term, &seeds);
    int link = run_link(run->run, k == 0 ? "given" : "dense");
    for (int i = 0; i < m->link_count; i++) gradient.moment[i].s[3][3] = seeds.mass[i];
    model_gradient_masses(m, &gradient);
    for (int h = 0, first = 0; h < m->hull_count; first += m->hulls[h++].solid.vertex_count)
      for (int i = 0; i < m->hulls[h].solid.vertex_count; i++)
        along += vec3_dot(gradient.vertices[first + i], m->hulls[h].solid.vertices[i]);
    compare_near(along, k == 0 ? 0 : 2 * 3 * 200 * 0.03, 1e-12, k == 0 ? "given" : "dense");
    compare_near(gradient.mass[link], 2, 1e-12, "by the mass itself");
    model_gradient_destroy(&gradient);
    loss_seeds_destroy(&seeds);
    loss_destroy(made);
  }
  loss_run_free(run);
}

/* A thing that stands still has none. */
static void without(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, SCENE);
  TaskLoss loss = loss_of(LOSS_MASS, "ground");
  LossTask task;
  loss_task_set(&task, &loss, 1);
  Loss* made;
  Diagnostics diagnostics = {0};
  assert_int_equal(loss_create(&made, &task.task, 0, &run->run->model, &diagnostics), STATUS_BAD_INPUT);
  assert_string_equal(diagnostics.items[0].text, "'ground' has no mass: give the link a mass, or name another link");
  loss_destroy(made);
  diagnostics_free(&diagnostics);
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values),
      cmocka_unit_test(by_vertices),
      cmocka_unit_test(without),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
