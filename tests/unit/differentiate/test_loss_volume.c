/* Tests hull volumes. */
#include "loss_testing.h"

static void hull_by_hull(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  TaskLoss loss = loss_of(LOSS_VOLUME, NULL);
  Loss* made = loss_make(run, &loss);
  Model* m = &run->run->model;
  double term;
  compare_near(loss_evaluate(made, &run->recording, &term, NULL), 0, 1e-28, "the initial design");
  for (int i = 0; i < 8; i++) {
    m->hulls[0].solid.vertices[i].x *= 1.5; /* volume 1.5 */
    m->hulls[1].solid.vertices[i].y *= 0.8; /* 0.8: what one gains the other cannot lose */
  }
  compare_near(loss_evaluate(made, &run->recording, &term, NULL), 0.25 + 0.04, 1e-14, "stretched and pressed");
  loss_destroy(made);
  loss_run_free(run);
}

/* A translation leaves the volume unchanged. Scaling about the origin, X -> (1 + s) X, changes it by 3 V s. The code
 * uses the first vertex as the origin, which must make no difference. */
static void shift_and_stretch(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  TaskLoss loss = loss_of(LOSS_VOLUME, "a");
  Loss* made = loss_make(run, &loss);
  Model* m = &run->run->model;
  const ConvexHull* solid = &m->hulls[0].solid;
  for (int i = 0; i < 8; i++) solid->vertices[i].z *= 1.25;
  LossSeeds seeds = loss_seeds_create(m, 4);
  double term, along = 0;
  loss_evaluate(made, &run->recording, &term, &seeds);
  Vec3 sum = vec3(0, 0, 0);
  for (int i = 0; i < 8; i++) {
    sum = vec3_add(sum, seeds.vertices[i]);
    along += vec3_dot(seeds.vertices[i], solid->vertices[i]);
  }
  compare_vec3(sum, vec3(0, 0, 0), 1e-13, "shift");
  compare_near(along, 2 * 0.25 * 3 * 1.25, 1e-13, "stretch");
  loss_destroy(made);
  loss_seeds_destroy(&seeds);
  loss_run_free(run);
}

/* A vertex pulled inside is on no triangle of the new hull. */
static void a_vertex_inside_has_no_derivative(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4,
                                 "simulation: {steps: 4, integrator: first_order}\n"
                                 "links: [{name: a, mass: 1, shape: {type: points, points: "
                                 "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0.5]]}}]\n");
  TaskLoss loss = loss_of(LOSS_VOLUME, "a");
  Loss* made = loss_make(run, &loss);
  Model* m = &run->run->model;
  ConvexHull *solid = &m->hulls[0].solid, left;
  assert_int_equal(solid->vertex_count, 5);
  solid->vertices[4] = vec3(0.1, 0.1, 0.1);
  assert_int_equal(hull_create(&left, solid->vertices, 5), HULL_OK);
  assert_int_equal(left.triangle_count, 4);
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++) solid->triangles[i][k] = left.triangles[i][k]; /* vertices 0 to 3 keep their numbers */
  solid->triangle_count = 4;
  LossSeeds seeds = loss_seeds_create(m, 4);
  double term;
  /* tetrahedra 1/6 and, with the apex at 0.5 / sqrt(3) over the slanted face of area sqrt(3) / 2, 1/12 more before */
  compare_near(loss_evaluate(made, &run->recording, &term, &seeds), pow(2.0 / 3 - 1, 2), 1e-14, "volume");
  compare_vec3(seeds.vertices[4], vec3(0, 0, 0), 0, "inside");
  assert_true(vec3_norm(seeds.vertices[1]) > 0.1);
  hull_free(&left);
  loss_destroy(made);
  loss_seeds_destroy(&seeds);
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hull_by_hull),
      cmocka_unit_test(shift_and_stretch),
      cmocka_unit_test(a_vertex_inside_has_no_derivative),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
