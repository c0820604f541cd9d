/* Rounds that hold most trees (S18): which are held, that steps end where rounds of all trees end, and the same bits
 * for any number of threads. */
#include <string.h>

#include "simulate/sim.h"
#include "support/runs.h"

/* A wall of bricks, each on two below, and one brick that falls onto it. */
enum { ROWS = 12, BRICKS = 11, WALL = ROWS * BRICKS, STEPS = 12 };
#define LENGTH 0.2
#define HEIGHT 0.1
#define SPACING 0.21
#define PITCH 0.1006

static Run* struck_wall(int threads, double along, double down) {
  Text yaml = {0};
  text_add(&yaml,
           "simulation: {dt: 0.005, steps: 100, integrator: first_order}\n"
           "contact: {friction: 0.5}\n"
           "shapes:\n  brick: {type: box, size: [%g, 0.1, %g]}\n"
           "links:\n  - {name: ground, fixed: true, shape: {type: half_space}}\n",
           LENGTH, HEIGHT);
  for (int n = 0; n < WALL; n++) {
    int row = n / BRICKS, column = n % BRICKS, shifted = row % 2;
    text_add(&yaml, "  - {name: b%d, mass: 1, shape: brick, position: [%.4f, 0, %.4f]}\n", n,
             SPACING * (column + 0.5 * shifted), 0.0505 + PITCH * row);
  }
  text_add(&yaml, "  - {name: falls, mass: 1, shape: brick, joint: {type: free, position: [1, 0.02, %.4f], ",
           0.0505 + PITCH * ROWS + 0.01);
  text_add(&yaml,
           "rotation_vector: [0.05, 0.08, 0.3]}}\ninitial:\n  - {link: falls, velocities: [%g, 0, %g, 0, 0, 0]}\n",
           along, -down);
  Run* run = run_create(threads, 1e-8, "%s", yaml.data);
  text_free(&yaml);
  parts_destroy(run->sim->parts);
  run->sim->parts = NULL;
  return run;
}

static Run* wall_run(int threads) { return struck_wall(threads, 0.3, 1); }

/* Every degree of freedom out of balance by so many times what it may be, those of `far` by a hundredth of the forces
 * at work. */
static void unbalance(Sim* s, const bool* far) {
  for (int k = 0; k < s->model->tree_count; k++)
    for (int d = s->model->trees[k].dof_first; d < s->model->trees[k].dof_first + s->model->trees[k].dof_count; d++)
      s->gradient[d] = (far[k] ? 1e-2 / s->tolerance : 10) * balance_allowed(s, d);
}

static void hold_S18_frees_what_is_far_from_balance_and_what_it_touches(void** state) {
  (void)state;
  static bool far[WALL + 1];
  Run* run = wall_run(1);
  Sim* s = run->sim;
  run_steps(run, 3);
  const int one = 5 * BRICKS + 5;
  memset(far, 0, sizeof far);
  far[one] = true;
  unbalance(s, far);
  s->hold_rounds = 0;
  hold_choose(s);
  assert_true(s->holds);
  int expected = 0;
  for (int k = 0; k < WALL; k++) { /* link 0 is the ground; bricks side by side are 1 cm apart */
    double dx = fabs(s->pose_now[k + 1].t.x - s->pose_now[one + 1].t.x);
    double dz = fabs(s->pose_now[k + 1].t.z - s->pose_now[one + 1].t.z);
    bool near = k == one || (dx < LENGTH && dz > 0.5 * HEIGHT && dz < 1.5 * HEIGHT);
    assert_int_equal(s->held[k], !near);
    expected += near;
  }
  assert_int_equal(expected, 5);

  for (int n = 1; n < 20; n++) hold_choose(s);
  assert_true(s->holds);
  hold_choose(s); /* after twenty rounds in a row all move */
  assert_false(s->holds);
  hold_choose(s);
  assert_true(s->holds);
  s->hold_rounds = -1; /* one found nothing to gain */
  hold_choose(s);
  assert_false(s->holds);

  s->hold_rounds = 0;
  for (int k = 0; k < WALL / 3; k++) far[k] = true; /* more than a quarter */
  unbalance(s, far);
  hold_choose(s);
  assert_false(s->holds);
  memset(far, 0, sizeof far); /* none */
  unbalance(s, far);
  hold_choose(s);
  assert_false(s->holds);
  run_free(run);
}

static void hold_S18_steps_end_where_rounds_of_all_trees_do(void** state) {
  (void)state;
  Run *holds = wall_run(1), *plain = wall_run(1);
  bool* held = plain->sim->held;
  plain->sim->held = NULL; /* nothing is ever held */
  int differ = 0;
  for (int n = 0; n < STEPS; n++) {
    StepReport a = run_steps(holds, 1), b = run_steps(plain, 1);
    double worst = 0;
    for (int i = 0; i < holds->model.coordinate_count; i++)
      worst = fmax(worst, fabs(sim_state(holds->sim)->q[i] - sim_state(plain->sim)->q[i]));
    compare_at_most(worst, 1e-7, "step %d: coordinates apart", n + 1);
    compare_at_most(a.residual, 1e-8, "step %d: residual", n + 1);
    differ += a.trials != b.trials || a.iterations != b.iterations;
  }
  assert_true(differ > 0); /* else nothing was held */
  plain->sim->held = held;
  run_free(holds);
  run_free(plain);
}

/* The objective at the accepted state, which every round begins by asking for. */
static struct {
  const Sim* sim;
  double objective;
  int rounds, rounds_held, risen;
} watched;

static bool watch_round(void) {
  const Sim* s = watched.sim;
  double objective = 0, contact, friction;
  for (int i = 0; i < s->model->link_count; i++) objective += s->configuration[s->current].inertia[i];
  contact_energy(s->contact, &contact, &friction);
  objective += contact + friction;
  watched.risen += watched.rounds > 0 && objective > watched.objective + 1e-12 * fabs(watched.objective);
  watched.rounds_held += s->holds;
  watched.rounds++;
  watched.objective = objective;
  return false;
}

/* Also where a brick strikes so hard that full steps overshoot: what pairs of moving bricks with held ones gain counts,
 * whichever of the two is named first. */
static void hold_S18_every_round_lowers_the_objective(void** state) {
  (void)state;
  Run* run = struck_wall(1, 2, 8);
  watched.sim = run->sim;
  run_steps(run, 1); /* which solves two problems (friction.md, F6) */
  run->sim->options.interrupted = watch_round;
  for (int n = 0; n < 20; n++) {
    watched.rounds = 0;
    StepReport r = run_steps(run, 1);
    assert_int_equal(r.substeps, 1);
  }
  assert_true(watched.rounds_held > 0);
  assert_int_equal(watched.risen, 0);
  run_free(run);
}

static int held_count(const Sim* s) {
  int count = 0;
  for (int k = 0; k < s->model->tree_count; k++) count += s->held[k];
  return count;
}

/* Of rounds in a row; a round of all trees forgets them. */
static void hold_S18_what_was_far_stays_free(void** state) {
  (void)state;
  static bool far[WALL + 1];
  Run* run = wall_run(1);
  Sim* s = run->sim;
  run_steps(run, 3);
  const int one = 2 * BRICKS + 5, other = 8 * BRICKS + 5, trees = WALL + 1;
  s->hold_rounds = 0;
  memset(far, 0, sizeof far);
  far[one] = true;
  unbalance(s, far);
  hold_choose(s);
  assert_int_equal(held_count(s), trees - 5);
  memset(far, 0, sizeof far);
  far[other] = true;
  unbalance(s, far);
  hold_choose(s);
  assert_true(!s->held[one] && !s->held[other]);
  assert_int_equal(held_count(s), trees - 10); /* no more: what was drawn along is not far */
  s->hold_rounds = 0;
  hold_choose(s);
  assert_true(s->held[one] && !s->held[other]);
  assert_int_equal(held_count(s), trees - 5);
  run_free(run);
}

/* A large island that went less than 0.3 of its way in a round of all trees: the next round is of all, too. */
static void hold_S18_none_after_a_round_that_was_cut(void** state) {
  (void)state;
  static const struct {
    int trees;
    double alpha;
    bool held_before, holds;
  } cases[] = {{100, 0.125, false, false},
               {100, 0.5, false, true},
               {100, 0, false, true},
               {15, 0.125, false, true},
               {100, 0.125, true, true}};
  static bool far[WALL + 1];
  Run* run = wall_run(1);
  Sim* s = run->sim;
  run_steps(run, 3);
  far[5 * BRICKS + 5] = true;
  unbalance(s, far);
  for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
    s->island_count = 1;
    s->islands[0] = (Island){.trees = cases[n].trees, .alpha = cases[n].alpha};
    s->holds = cases[n].held_before;
    s->hold_rounds = cases[n].held_before;
    hold_choose(s);
    assert_int_equal(s->holds, cases[n].holds);
  }
  run_free(run);
}

static void hold_S18_does_not_depend_on_threads(void** state) {
  (void)state;
  for (int threads = 2; threads <= 3; threads++) {
    Run *many = wall_run(threads), *one = wall_run(1);
    for (int n = 0; n < STEPS; n++) {
      StepReport a = run_steps(many, 1), b = run_steps(one, 1);
      assert_memory_equal(sim_state(many->sim)->q, sim_state(one->sim)->q,
                          sizeof(double) * (size_t)one->model.coordinate_count);
      assert_int_equal(a.trials, b.trials);
      assert_int_equal(a.iterations, b.iterations);
    }
    run_free(many);
    run_free(one);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hold_S18_frees_what_is_far_from_balance_and_what_it_touches),
      cmocka_unit_test(hold_S18_steps_end_where_rounds_of_all_trees_do),
      cmocka_unit_test(hold_S18_every_round_lowers_the_objective),
      cmocka_unit_test(hold_S18_what_was_far_stays_free),
      cmocka_unit_test(hold_S18_none_after_a_round_that_was_cut),
      cmocka_unit_test(hold_S18_does_not_depend_on_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
