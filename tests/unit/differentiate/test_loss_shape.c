/* Tests the squared distance from the initial shape. */
#include "loss_testing.h"

static void mean_over_the_vertices(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  TaskLoss loss = loss_of(LOSS_SHAPE, "b");
  loss.weight = 2;
  Loss *b = loss_make(run, &loss), *all;
  loss.link.text = NULL;
  all = loss_make(run, &loss);
  double term;
  compare_near(loss_evaluate(b, &run->recording, &term, NULL), 0, 0, "the initial shape");
  ConvexHull* solid = &run->run->model.hulls[1].solid;
  solid->vertices[3] = vec3_add(solid->vertices[3], vec3(0.3, 0, 0.4));
  compare_near(loss_evaluate(b, &run->recording, &term, NULL), 2 * 0.25 / 8, 1e-15, "one of 8 vertices by 0.5");
  compare_near(loss_evaluate(all, &run->recording, &term, NULL), 2 * 0.25 / 16, 1e-15, "one of 16");
  loss_destroy(b);
  loss_destroy(all);
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mean_over_the_vertices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
