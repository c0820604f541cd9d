/* Tests link points and their derivatives with respect to poses and vertices. */
#include "differentiate/loss.h"
#include "loss_testing.h"

static void shares_do_not_depend_on_the_number_of_states(void** state) {
  (void)state;
  const LossTerm term = {.weight = 6, .first = 3, .last = 5};
  compare_near(loss_state_weight(&term), 2, 0, "6 over states 3, 4, 5");
}

static void a_point_or_the_centre(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  *pose_at(run, 2, 0) = (Pose){mat3_from_quat(quat_about(vec3(0, 0, 1), M_PI / 2)), vec3(1, 2, 3)};
  LossTerm term = {.has_point = false, .point = vec3(5, 0, 0)};
  compare_vec3(loss_position(&term, &run->recording, 0, 2), vec3(1 - 0.2, 2 + 0.1, 3 + 0.3), 1e-15, "centre");
  term.has_point = true;
  compare_vec3(loss_position(&term, &run->recording, 0, 2), vec3(1, 7, 3), 1e-14, "point");
  loss_run_free(run);
}

/* Without seeds nothing is written and nothing read. */
static void no_seeds(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  LossTerm term = {.has_point = false};
  loss_seed_position(&term, &run->recording, 0, 1, vec3(1, 2, 3), NULL);
  loss_seed_pose(&run->recording, 0, 1, vec3(1, 2, 3), vec3(4, 5, 6), NULL);
  loss_run_free(run);
}

static void vertices_are_numbered_hull_by_hull(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, LOSS_SCENE, ", integrator: first_order");
  const Model* m = &run->run->model;
  int first = 0;
  for (int h = 0; h < m->hull_count; h++) {
    assert_int_equal(m->hulls[h].vertex_first, first);
    first += m->hulls[h].solid.vertex_count;
  }
  assert_int_equal(m->vertex_count, first);
  assert_true(first > 30);
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shares_do_not_depend_on_the_number_of_states),
      cmocka_unit_test(a_point_or_the_centre),
      cmocka_unit_test(no_seeds),
      cmocka_unit_test(vertices_are_numbered_hull_by_hull),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
