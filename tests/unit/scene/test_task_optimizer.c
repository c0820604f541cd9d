#include "task_testing.h"

#define REST MOVE_BOX SHAPE_LOSS

static void auto_is_the_default(void** state) {
  (void)state;
  static const char* const TEXTS[] = {TWO_LINKS REST, TWO_LINKS REST "optimizer:\n",
                                      TWO_LINKS REST "optimizer: {type: adam}\n"};
  for (int i = 0; i < COUNT(TEXTS); i++) {
    Task task = load_task(TEXTS[i]);
    const TaskOptimizer* optimizer = &task.optimizer;
    assert_int_equal(optimizer->type, i < 2 ? OPTIMIZER_AUTO : OPTIMIZER_ADAM);
    assert_int_equal(optimizer->iterations, 100);
    compare_near(optimizer->design_step, 0.01, 0, "design_step");
    compare_near(optimizer->control_step, 0.05, 0, "control_step");
    compare_near(optimizer->beta1, 0.9, 0, "beta1");
    compare_near(optimizer->beta2, 0.999, 0, "beta2");
    compare_near(optimizer->epsilon, 1e-8, 0, "epsilon");
    assert_int_equal(optimizer->schedule, SCHEDULE_CONSTANT);
    compare_near(optimizer->decay, 0.1, 0, "decay");
    assert_int_equal(optimizer->decay_every, 50);
    assert_true(isinf(optimizer->clip) && optimizer->clip > 0);
    compare_near(optimizer->discount, 1, 0, "discount");
    compare_near(optimizer->shrink, 0.5, 0, "shrink");
    compare_near(optimizer->grow, 1.2, 0, "grow");
    assert_true(isinf(optimizer->stop_loss) && optimizer->stop_loss < 0);
    assert_int_equal(optimizer->stall, 0);
    compare_near(optimizer->stall_decrease, 1e-4, 0, "stall_decrease");
    assert_int_equal(optimizer->save_every, 10);
    compare_near(optimizer->tolerance, 1e-10, 0, "tolerance");
    assert_true(optimizer->connect);
    task_free(&task);
  }
}

static void other_types_have_their_defaults(void** state) {
  (void)state;
  Task task = load_task(TWO_LINKS REST "optimizer: {type: step_bounded}\n");
  assert_int_equal(task.optimizer.type, OPTIMIZER_STEP_BOUNDED);
  assert_int_equal(task.optimizer.norm, NORM_INFINITY);
  task_free(&task);
  task = load_task(TWO_LINKS REST "optimizer: {type: lbfgs}\n");
  assert_int_equal(task.optimizer.type, OPTIMIZER_LBFGS);
  assert_int_equal(task.optimizer.memory, 10);
  task_free(&task);
  task = load_task(TWO_LINKS REST "optimizer: {type: gradient}\n");
  assert_int_equal(task.optimizer.type, OPTIMIZER_GRADIENT);
  task_free(&task);
}

static void every_key_is_read(void** state) {
  (void)state;
  Task task = load_task(TWO_LINKS REST
                        "design: {connect: false}\n"
                        "optimizer:\n"
                        "  {type: adam, iterations: 7, design_step: 0.5, control_step: 0.25, beta1: 0, beta2: 0.5,\n"
                        "   epsilon: 1e-3, schedule: step, decay: 0.3, decay_every: 4, clip: 2, discount: 0.99,\n"
                        "   shrink: 0.25, grow: 3, stop_loss: -1, stall: 5, stall_decrease: 0, save_every: 2,\n"
                        "   tolerance: 1e-6}\n");
  const TaskOptimizer* optimizer = &task.optimizer;
  assert_int_equal(optimizer->place.line, 6);
  assert_int_equal(optimizer->iterations, 7);
  compare_near(optimizer->design_step, 0.5, 0, "design_step");
  compare_near(optimizer->control_step, 0.25, 0, "control_step");
  compare_near(optimizer->beta1, 0, 0, "beta1");
  compare_near(optimizer->beta2, 0.5, 0, "beta2");
  compare_near(optimizer->epsilon, 1e-3, 0, "epsilon");
  assert_int_equal(optimizer->schedule, SCHEDULE_STEP);
  compare_near(optimizer->decay, 0.3, 0, "decay");
  assert_int_equal(optimizer->decay_every, 4);
  compare_near(optimizer->clip, 2, 0, "clip");
  compare_near(optimizer->discount, 0.99, 0, "discount");
  compare_near(optimizer->shrink, 0.25, 0, "shrink");
  compare_near(optimizer->grow, 3, 0, "grow");
  compare_near(optimizer->stop_loss, -1, 0, "stop_loss");
  assert_int_equal(optimizer->stall, 5);
  compare_near(optimizer->stall_decrease, 0, 0, "stall_decrease");
  assert_int_equal(optimizer->save_every, 2);
  compare_near(optimizer->tolerance, 1e-6, 0, "tolerance");
  assert_false(optimizer->connect); /* of the design, but kept here */
  task_free(&task);
  task = load_task(TWO_LINKS REST "optimizer: {type: step_bounded, norm: euclidean, schedule: cosine, decay: 0.01}\n");
  assert_int_equal(task.optimizer.norm, NORM_EUCLIDEAN);
  assert_int_equal(task.optimizer.schedule, SCHEDULE_COSINE);
  task_free(&task);
  task = load_task(TWO_LINKS REST "optimizer: {type: lbfgs, memory: 3}\n");
  assert_int_equal(task.optimizer.memory, 3);
  task_free(&task);
}

static void mistakes_are_told(void** state) {
  (void)state;
  expect_task_problems(
      TWO_LINKS REST
      "optimizer:\n"
      "  type: lbfgs\n"
      "  beta1: 0.5\n"
      "  iterations: 0\n"
      "  design_step: 0\n"
      "  discount: 1.1\n"
      "  shrink: 1\n"
      "  grow: 0.9\n"
      "  clip: .inf\n"
      "  stall_decrease: 1\n"
      "  learning_rate: 1\n",
      "6:3: error: optimizer: the type lbfgs has no key 'beta1': remove the key, or use type auto or adam\n"
      "7:15: error: optimizer.iterations: must be between 1 and 100000000, got 0\n"
      "8:16: error: optimizer.design_step: must be > 0 m, got 0\n"
      "9:13: error: optimizer.discount: must be > 0 and <= 1, got 1.1\n"
      "10:11: error: optimizer.shrink: must be > 0 and < 1, got 1\n"
      "11:9: error: optimizer.grow: must be >= 1, got 0.9\n"
      "12:9: error: optimizer.clip: must be a finite number, got .inf\n"
      "13:19: error: optimizer.stall_decrease: must be >= 0 and < 1, got 1\n"
      "14:3: error: unknown key 'learning_rate' in optimizer (did you mean 'design_step'?)\n");
  expect_task_problems(
      TWO_LINKS REST "optimizer: {type: adam, memory: 4}\n",
      "4:25: error: optimizer: the type adam has no key 'memory': remove the key, or use type auto or lbfgs\n");
}

static void idle_keys_get_a_warning(void** state) {
  (void)state;
  expect_task_problems(
      TWO_LINKS REST "optimizer: {decay: 0.5, decay_every: 3}\n",
      "4:13: warning: optimizer: 'decay' has no effect with schedule constant: remove the key\n"
      "4:25: warning: optimizer: 'decay_every' has no effect with schedule constant: remove the key\n");
  expect_task_problems(TWO_LINKS REST "optimizer: {schedule: cosine, decay: 0.5, decay_every: 3}\n",
                       "4:43: warning: optimizer: 'decay_every' has no effect with schedule cosine: remove the key\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(auto_is_the_default),     cmocka_unit_test(other_types_have_their_defaults),
      cmocka_unit_test(every_key_is_read),       cmocka_unit_test(mistakes_are_told),
      cmocka_unit_test(idle_keys_get_a_warning),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
