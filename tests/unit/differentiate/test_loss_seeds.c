/* Tests the seeds of the adjoint, which are one memory block for all derivatives. */
#include "loss_testing.h"

#include <string.h>

static void parts_follow_each_other_and_fill_the_block(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, LOSS_SCENE, ", integrator: first_order");
  const Model* m = &run->run->model;
  int steps = 5, vertices = 0, controls = 0;
  for (int h = 0; h < m->hull_count; h++) vertices += m->hulls[h].points.count;
  for (int c = 0; c < m->controller_count; c++) controls += signal_parameter_count(&m->controllers[c].target);
  LossSeeds s = loss_seeds_create(m, steps);
  double* at = &s.pose[0][0][0];
  assert_ptr_equal(s.q, at += 12 * 6 * m->link_count);
  assert_ptr_equal(s.rate, at += 6 * m->dof_count);
  assert_ptr_equal(s.force, at += 6 * m->dof_count);
  assert_ptr_equal(s.center, at += 3 * 6 * m->link_count);
  assert_ptr_equal(s.vertices, at += 3 * m->link_count);
  assert_ptr_equal(s.control, at += 3 * vertices);
  assert_ptr_equal(s.gains, at += controls);
  assert_ptr_equal(s.shapes, at += m->gain_count);
  assert_ptr_equal(s.mass, at += m->shape_parameter_count);
  assert_int_equal(s.length, at + m->link_count - &s.pose[0][0][0]);
  loss_seeds_destroy(&s);
  loss_run_free(run);
}

static void zero_at_first_and_when_cleared(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, LOSS_SCENE, ", integrator: first_order");
  LossSeeds s = loss_seeds_create(&run->run->model, 5);
  for (int round = 0; round < 2; round++) {
    double* at = &s.pose[0][0][0];
    for (size_t i = 0; i < s.length; i++) {
      if (at[i] != 0) fail_msg("round %d: number %zu is %g", round, i, at[i]);
      at[i] = NAN;
    }
    loss_seeds_clear(&s);
  }
  loss_seeds_destroy(&s);
  loss_run_free(run);
}

static void zeroed_objects_are_accepted(void** state) {
  (void)state;
  LossSeeds s = {0};
  loss_seeds_clear(&s);
  loss_seeds_destroy(&s);
  LossRun* run = loss_run_create(1, TWO_BRICKS);
  s = loss_seeds_create(&run->run->model, 0);
  loss_seeds_destroy(&s);
  assert_null(s.pose);
  loss_seeds_destroy(&s);
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_follow_each_other_and_fill_the_block),
      cmocka_unit_test(zero_at_first_and_when_cleared),
      cmocka_unit_test(zeroed_objects_are_accepted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
