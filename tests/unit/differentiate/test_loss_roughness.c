/* Tests the roughness loss: differences of neighbouring vertices' displacements. */
#include "loss_testing.h"

/* A box has 12 edges and 6 face diagonals, in sum 18. A single displaced vertex differs by 0.5 from its 3 to 6
 * neighbours. Averaged over the vertices it has 2 * 18 / 8 neighbours. */
static void mean_over_the_edges(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  TaskLoss loss = loss_of(LOSS_ROUGHNESS, "b");
  Loss* made = loss_make(run, &loss);
  Vec3* vertices = run->run->model.hulls[1].solid.vertices;
  double term, sum = 0;
  for (int i = 0; i < 8; i++) {
    Vec3 before = vertices[i];
    vertices[i] = vec3_add(before, vec3(0.3, 0, 0.4));
    double neighbours = loss_evaluate(made, &run->recording, &term, NULL) * 18 / 0.25;
    compare_near(neighbours, round(neighbours), 1e-12, "neighbours of vertex %d", i);
    assert_true(neighbours > 2.5 && neighbours < 6.5);
    sum += neighbours;
    vertices[i] = before;
  }
  compare_near(sum, 2 * 18, 1e-11, "every edge has two ends");
  loss_destroy(made);
  loss_run_free(run);
}

/* The edges of all hulls are one set: 18 of each brick. */
static void mean_over_all_hulls(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  TaskLoss loss = loss_of(LOSS_ROUGHNESS, "b");
  Loss* b = loss_make(run, &loss);
  loss.link.text = NULL;
  Loss* all = loss_make(run, &loss);
  run->run->model.hulls[1].solid.vertices[0].x += 0.1;
  double term, alone = loss_evaluate(b, &run->recording, &term, NULL);
  assert_true(alone > 0);
  compare_relative(loss_evaluate(all, &run->recording, &term, NULL), alone / 2, 1e-14, "one of two hulls moved");
  loss_destroy(b);
  loss_destroy(all);
  loss_run_free(run);
}

/* A shift costs nothing, a stretch the same for every pair: x -> 1.1 x moves neighbours apart by 0.1 (x_i - x_j). */
static void a_shift_is_smooth(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  TaskLoss loss = loss_of(LOSS_ROUGHNESS, "b");
  Loss* made = loss_make(run, &loss);
  Vec3* vertices = run->run->model.hulls[1].solid.vertices;
  double term;
  for (int i = 0; i < 8; i++) vertices[i] = vec3_add(vertices[i], vec3(1, 2, 3));
  compare_near(loss_evaluate(made, &run->recording, &term, NULL), 0, 1e-28, "shifted");
  for (int i = 0; i < 8; i++) vertices[i].x *= 1.1;
  /* 4 edges along x and the 4 diagonals of the faces that hold x differ by 0.1 * 0.2 */
  compare_near(loss_evaluate(made, &run->recording, &term, NULL), 8 * 0.0004 / 18, 1e-15, "stretched along x");
  loss_destroy(made);
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mean_over_the_edges),
      cmocka_unit_test(mean_over_all_hulls),
      cmocka_unit_test(a_shift_is_smooth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
