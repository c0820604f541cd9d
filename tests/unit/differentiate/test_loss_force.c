/* Tests the contact-force loss against a target force. */
#include "loss_testing.h"

static void states_count_from_the_first_step(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  for (int k = 1; k <= 4; k++) run->recording.force[2 * k + 1] = vec3(k, 0, 10);
  TaskLoss loss = loss_of(LOSS_FORCE, "b");
  loss.target = vec3(0, 0, 10);
  compare_near(loss_value(run, &loss), (1 + 4 + 9 + 16) / 4.0, 1e-12, "the run without its first state");
  loss.from = 0.2;
  loss.to = 0.3;
  compare_near(loss_value(run, &loss), (4 + 9) / 2.0, 1e-12, "window");
  loss.link.text = name_text("a");
  compare_near(loss_value(run, &loss), 100, 1e-12, "the other link");
  loss_run_free(run);
}

/* A crate falls on the ground. The forces on crate and ground are equal and opposite. */
static void contact_is_felt_on_both_sides(void** state) {
  (void)state;
  LossRun* run = loss_run_create(6, LOSS_SCENE, ", integrator: first_order");
  TaskLoss loss = loss_of(LOSS_FORCE, "crate");
  double felt = loss_value(run, &loss);
  assert_true(felt > 1);
  loss.link.text = name_text("ground");
  compare_relative(loss_value(run, &loss), felt, 1e-14, "action and reaction");
  loss_run_free(run);
}

/* A brick touches two others. The loss counts the force from one of them only. */
static void of_one_other_link_alone(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  TaskLoss loss = loss_of(LOSS_FORCE, "b");
  loss.other.text = name_text("a");
  loss.target = vec3(0, 1, 0);
  loss.from = 0.2;
  loss.to = 0.3;
  Loss* made = loss_make(run, &loss);
  LossSeeds seeds = loss_seeds_create(&run->run->model, 4);
  loss_record_pair_forces(made, 4, &run->recording, &seeds);
  assert_int_equal(run->recording.pair_count, 1);
  for (int k = 1; k <= 4; k++) {
    run->recording.force[2 * k + 1] = vec3(100, 100, 100);
    run->recording.pair_force[k] = vec3(k, 0, 0);
  }
  compare_near(loss_evaluate(made, &run->recording, NULL, &seeds), (5 + 10) / 2.0, 1e-12, "window");
  for (int k = 0; k <= 4; k++) {
    bool inside = k == 2 || k == 3;
    compare_vec3(seeds.pair_force[k], inside ? vec3(k, -1, 0) : vec3(0, 0, 0), 1e-15, "derivative, state %d", k);
    compare_vec3(seeds.force[2 * k + 1], vec3(0, 0, 0), 0, "by the whole force, state %d", k);
  }
  loss_seeds_clear(&seeds);
  compare_vec3(seeds.pair_force[2], vec3(0, 0, 0), 0, "cleared");
  loss_seeds_destroy(&seeds);
  loss_destroy(made);
  loss_run_free(run);
}

static void not_of_itself(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, TWO_BRICKS);
  TaskLoss loss = loss_of(LOSS_FORCE, "b");
  loss.other.text = name_text("b");
  LossTask task;
  loss_task_set(&task, &loss, 1);
  Loss* made;
  Diagnostics diagnostics = {0};
  assert_int_equal(loss_create(&made, &task.task, 0, &run->run->model, &diagnostics), STATUS_BAD_INPUT);
  assert_string_equal(diagnostics.items[0].text, "'other' is the link itself: name another link");
  diagnostics_free(&diagnostics);
  loss_run_free(run);
}

static void without_contact_it_is_warned_of(void** state) {
  (void)state;
  static const char* const scenes[] = {
      "contact: {model: none}\nlinks: [{name: x, mass: 1, shape: {type: sphere, radius: 1}}]\n",
      "links: [{name: x, mass: 1, shape: {type: sphere, radius: 1}, collide: false}]\n"};
  for (int i = 0; i < 2; i++) {
    Run* run = run_model("%s", scenes[i]);
    TaskLoss loss = loss_of(LOSS_FORCE, "x");
    loss.place = (SourcePosition){"task.yaml", 7, 3};
    LossTask task;
    loss_task_set(&task, &loss, 1);
    Loss* made;
    Diagnostics diagnostics = {0};
    assert_int_equal(loss_create(&made, &task.task, 0, &run->model, &diagnostics), STATUS_OK);
    assert_int_equal(diagnostics.count, 1);
    assert_int_equal(diagnostics.items[0].severity, SEVERITY_WARNING);
    assert_int_equal(diagnostics.items[0].line, 7);
    assert_string_equal(
        diagnostics.items[0].text,
        "'x' takes part in no contact, so the force on it is always zero: check 'collide' and contact.model");
    loss_destroy(made);
    diagnostics_free(&diagnostics);
    run_free(run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(states_count_from_the_first_step), cmocka_unit_test(contact_is_felt_on_both_sides),
      cmocka_unit_test(of_one_other_link_alone),          cmocka_unit_test(not_of_itself),
      cmocka_unit_test(without_contact_it_is_warned_of),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
