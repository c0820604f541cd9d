/* Tests all losses of a task: columns, sums, refused settings, NaN values and memory. */
#include "loss_testing.h"

#include <string.h>

static Status create(Loss** loss, const LossRun* run, TaskLoss* losses, int count, int steps,
                     Diagnostics* diagnostics) {
  LossTask task;
  loss_task_set(&task, losses, count);
  task.scenario.steps = steps;
  return loss_create(loss, &task.task, 0, &run->run->model, diagnostics);
}

/* ---------------------------------------------------------------- names */

/* Given names are kept; the others avoid them and each other. */
static void columns_differ(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  TaskLoss losses[6];
  for (int i = 0; i < 6; i++) losses[i] = loss_of(i == 4 ? LOSS_SHAPE : LOSS_POINT, "a");
  losses[1].name = name_text("point_2");
  losses[5].name = name_text("shape");
  Loss* loss;
  Diagnostics diagnostics = {0};
  assert_int_equal(create(&loss, run, losses, 6, 0, &diagnostics), STATUS_OK);
  static const char* const wanted[] = {"point", "point_2", "point_3", "point_4", "shape_2", "shape"};
  assert_int_equal(loss_count(loss), 6);
  for (int i = 0; i < 6; i++) assert_string_equal(loss_name(loss, i), wanted[i]);
  loss_destroy(loss);
  loss_run_free(run);
}

static void a_name_given_twice_is_refused(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  TaskLoss losses[3];
  for (int i = 0; i < 3; i++) {
    losses[i] = loss_of(LOSS_POINT, "a");
    losses[i].place = (SourcePosition){"task.yaml", 10 + i, 3};
    losses[i].name = name_text(i == 1 ? "there" : "here");
  }
  Loss* loss;
  Diagnostics diagnostics = {0};
  assert_int_equal(create(&loss, run, losses, 3, 0, &diagnostics), STATUS_BAD_INPUT);
  assert_null(loss);
  assert_int_equal(diagnostics.count, 1);
  assert_int_equal(diagnostics.items[0].line, 12);
  assert_string_equal(diagnostics.items[0].text,
                      "the name 'here' is taken by the loss of line 10: rename one of the two losses");
  diagnostics_free(&diagnostics);
  loss_run_free(run);
}

/* ---------------------------------------------------------------- creation */

/* Every problem of every loss is reported in one call, and all memory is freed (checked by the sanitizers). */
static void all_problems_are_told(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  TaskLoss losses[] = {loss_of(LOSS_POINT, "c"), loss_of(LOSS_SHAPE, "a"), loss_of(LOSS_POINT, "a")};
  losses[2].from = 3;
  Loss* loss;
  Diagnostics diagnostics = {0};
  assert_int_equal(create(&loss, run, losses, 3, 0, &diagnostics), STATUS_BAD_INPUT);
  assert_null(loss);
  assert_int_equal(diagnostics.error_count, 2);
  loss_destroy(loss);
  diagnostics_free(&diagnostics);
  loss_run_free(run);
}

/* Problems that were there before are not this loss's. */
static void earlier_problems_do_not_count(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  Diagnostics diagnostics = {0};
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){0}, "something else");
  TaskLoss losses[] = {loss_of(LOSS_POINT, "a"), loss_of(LOSS_SHAPE, "a")};
  Loss* loss;
  assert_int_equal(create(&loss, run, losses, 2, 0, &diagnostics), STATUS_OK);
  loss_destroy(loss);
  assert_int_equal(create(&loss, run, NULL, 0, 0, &diagnostics), STATUS_OK);
  double none;
  compare_near(loss_evaluate(loss, &run->recording, &none, NULL), 0, 0, "no loss at all");
  loss_destroy(loss);
  diagnostics_free(&diagnostics);
  loss_run_free(run);
}

/* Nothing of task and model is needed any more; names and vertices have been copied. */
static void task_and_model_may_go(void** state) {
  (void)state;
  LossRun* first = loss_run_create(4, TWO_BRICKS);
  LossRun* second = loss_run_create(4, TWO_BRICKS);
  char link[] = "b", name[] = "mine";
  TaskLoss losses[] = {loss_of(LOSS_SHAPE, link), loss_of(LOSS_VOLUME, link)};
  losses[0].name = name;
  Loss* loss;
  Diagnostics diagnostics = {0};
  assert_int_equal(create(&loss, first, losses, 2, 0, &diagnostics), STATUS_OK);
  memset(losses, 0xff, sizeof losses);
  name[0] = link[0] = 'x';
  loss_run_free(first);
  assert_string_equal(loss_name(loss, 0), "mine");
  double terms[2];
  compare_near(loss_evaluate(loss, &second->recording, terms, NULL), 0, 1e-28, "the same shape");
  loss_destroy(loss);
  loss_run_free(second);
}

/* ---------------------------------------------------------------- values */

/* Terms with their weights, and seeds that add up: of two losses those of the sum. */
static void terms_add_up(void** state) {
  (void)state;
  LossRun* run = loss_run_create(6, LOSS_SCENE, ", integrator: first_order");
  TaskLoss losses[] = {loss_of(LOSS_POINT, "hand"), loss_of(LOSS_VELOCITY, "hand"), loss_of(LOSS_EFFORT, NULL)};
  for (int i = 0; i < 3; i++) losses[i].weight = 0.5 + i;
  LossSeeds apart = loss_seeds_create(&run->run->model, 6), together = loss_seeds_create(&run->run->model, 6);
  double sum = 0, terms[3];
  for (int i = 0; i < 3; i++) {
    double term;
    Loss* one = loss_make(run, &losses[i]);
    loss_evaluate(one, &run->recording, &term, &apart);
    sum += term;
    TaskLoss plain = losses[i];
    plain.weight = 1;
    compare_relative(term, losses[i].weight * loss_value(run, &plain), 1e-14, "weight of term %d", i);
    loss_destroy(one);
  }
  Loss* all;
  Diagnostics diagnostics = {0};
  assert_int_equal(create(&all, run, losses, 3, 6, &diagnostics), STATUS_OK);
  compare_relative(loss_evaluate(all, &run->recording, terms, &together), sum, 1e-14, "sum");
  compare_bytes(together.pose, apart.pose, sizeof(double) * apart.length, "seeds");
  loss_destroy(all);
  loss_seeds_destroy(&apart);
  loss_seeds_destroy(&together);
  loss_run_free(run);
}

/* A run that failed before the horizon has no loss. A longer run is evaluated up to the horizon. */
static void runs_of_another_length(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  move_evenly(run, 0, vec3(0, 0, 0), vec3(1, 0, 0));
  TaskLoss losses[] = {loss_of(LOSS_POINT, "a"), loss_of(LOSS_SHAPE, "a")};
  losses[0].has_point = true;
  Loss* loss;
  Diagnostics diagnostics = {0};
  assert_int_equal(create(&loss, run, losses, 2, 3, &diagnostics), STATUS_OK);
  LossSeeds seeds = loss_seeds_create(&run->run->model, 4);
  double terms[2];
  compare_near(loss_evaluate(loss, &run->recording, terms, NULL), 9, 1e-12, "state 3 of 4");
  run->recording.steps = 2;
  assert_true(isnan(loss_evaluate(loss, &run->recording, terms, &seeds)));
  assert_true(isnan(terms[0]) && isnan(terms[1]));
  for (size_t i = 0; i < seeds.length; i++) compare_near((&seeds.pose[0][0][0])[i], 0, 0, "seed %zu", i);
  run->recording.steps = 4;
  loss_seeds_destroy(&seeds);
  loss_destroy(loss);
  /* the scene's own length when the scenario has none */
  assert_int_equal(create(&loss, run, losses, 1, 0, &diagnostics), STATUS_OK);
  compare_near(loss_evaluate(loss, &run->recording, terms, NULL), 16, 1e-12, "state 4");
  loss_destroy(loss);
  loss_run_free(run);
}

static TaskLoss of_every_kind(int kind) {
  TaskLoss loss = loss_of((TaskLossType)kind, kind == LOSS_NECK ? "cart" : kind == LOSS_CLEARANCE ? "piston" : "drone");
  if (kind != LOSS_FORCE) loss.other.text = name_text(kind == LOSS_GAP ? "crate" : "arm");
  loss.smoothing = loss.length = 0.1;
  loss.rotation = quat_identity();
  loss.direction = loss.axis = vec3(1, 0, 0);
  loss.target = vec3(0.1, 0.2, 0.3);
  loss.margin = kind == LOSS_GAP ? 100 : 1e-3;
  loss.box_low = vec3(3, 3, 3), loss.box_high = vec3(4, 4, 4);
  return loss;
}

/* NaN is never taken for a small loss. */
static void nan_is_passed_on(void** state) {
  (void)state;
  LossRun* run = loss_run_create(6, LOSS_SCENE, ", integrator: first_order");
  Model* m = &run->run->model;
  for (int kind = 0; kind < LOSS_TYPE_COUNT; kind++) {
    TaskLoss losses[] = {of_every_kind(kind)};
    if (kind == LOSS_TOUCH || kind == LOSS_CLOSURE)
      continue; /* of smooth shapes: tests/gradient/test_smooth_shapes.c */
    for (int power = 1; power <= 2; power++) {
      losses[0].power = power;
      Loss* loss;
      Diagnostics diagnostics = {0};
      assert_int_equal(create(&loss, run, losses, 1, 6, &diagnostics), STATUS_OK);
      Recording r = run->recording;
      Recording bad = {.model = m,
                       .steps = 6,
                       .q = MEMORY_NEW(double, 7 * m->coordinate_count),
                       .rate = MEMORY_NEW(double, 7 * m->dof_count),
                       .pose = MEMORY_NEW(Pose, 7 * m->link_count),
                       .force = MEMORY_NEW(Vec3, 7 * m->link_count)};
      memset(bad.q, 0xff, sizeof(double) * 7 * (size_t)m->coordinate_count);
      memset(bad.rate, 0xff, sizeof(double) * 7 * (size_t)m->dof_count);
      memset(bad.pose, 0xff, sizeof(Pose) * 7 * (size_t)m->link_count);
      memset(bad.force, 0xff, sizeof(Vec3) * 7 * (size_t)m->link_count);
      LossSeeds seeds = loss_seeds_create(m, 6);
      double good_term, bad_term;
      assert_true(isfinite(loss_evaluate(loss, &r, &good_term, &seeds)));
      loss_evaluate(loss, &bad, &bad_term, &seeds);
      bool of_the_shape = (kind >= LOSS_SHAPE && kind <= LOSS_ROUGHNESS) ||
                          (kind >= LOSS_NECK && kind <= LOSS_KEEP_OUT) || kind == LOSS_MASS;
      bool of_the_run = kind != LOSS_SMOOTHNESS && !of_the_shape;
      if (isnan(bad_term) != of_the_run) fail_msg("%s: %g", loss_name(loss, 0), bad_term);
      loss_seeds_destroy(&seeds);
      loss_destroy(loss);
      memory_free(bad.q);
      memory_free(bad.rate);
      memory_free(bad.pose);
      memory_free(bad.force);
    }
  }
  loss_run_free(run);
}

static void evaluation_allocates_nothing_and_repeats(void** state) {
  (void)state;
  LossRun* run = loss_run_create(6, LOSS_SCENE, ", integrator: first_order");
  TaskLoss losses[LOSS_TYPE_COUNT];
  int count = 0;
  /* the gradients of volume and neck recompute the hull's flat faces, wall its edges, clearance its range's boxes;
   * touch and closure need smooth shapes */
  for (int kind = 0; kind < LOSS_TYPE_COUNT; kind++)
    if (kind != LOSS_VOLUME && kind != LOSS_CLEARANCE && kind != LOSS_REMOVAL && kind != LOSS_TOUCH &&
        kind != LOSS_CLOSURE && kind != LOSS_NECK && kind != LOSS_WALL)
      losses[count++] = of_every_kind(kind);
  Loss* loss;
  Diagnostics diagnostics = {0};
  assert_int_equal(create(&loss, run, losses, count, 6, &diagnostics), STATUS_OK);
  LossSeeds seeds = loss_seeds_create(&run->run->model, 6), again = loss_seeds_create(&run->run->model, 6);
  double terms[LOSS_TYPE_COUNT] = {0}, repeated[LOSS_TYPE_COUNT] = {0};
  uint64_t before = memory_allocation_count();
  loss_evaluate(loss, &run->recording, terms, &seeds);
  loss_evaluate(loss, &run->recording, repeated, &again);
  assert_int_equal(memory_allocation_count(), before);
  compare_bytes(repeated, terms, sizeof terms, "terms");
  compare_bytes(again.pose, seeds.pose, sizeof(double) * seeds.length, "seeds");
  loss_seeds_destroy(&seeds);
  loss_seeds_destroy(&again);
  loss_destroy(loss);
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_differ),
      cmocka_unit_test(a_name_given_twice_is_refused),
      cmocka_unit_test(all_problems_are_told),
      cmocka_unit_test(earlier_problems_do_not_count),
      cmocka_unit_test(task_and_model_may_go),
      cmocka_unit_test(terms_add_up),
      cmocka_unit_test(runs_of_another_length),
      cmocka_unit_test(nan_is_passed_on),
      cmocka_unit_test(evaluation_allocates_nothing_and_repeats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
