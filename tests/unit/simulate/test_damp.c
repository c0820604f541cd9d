/* Levenberg-Marquardt damping (S21): the factors, what they do to Newton's model, that damped steps end where others
 * do, and the same bits for any number of threads. */
#include <string.h>

#include "simulate/sim.h"
#include "support/runs.h"

/* Blocks in layers, one just above the other, turned a little, that a faster layer from above drives together. */
enum { ACROSS = 6, LAYERS = 4, BLOCKS = ACROSS * ACROSS * LAYERS, STEPS = 8 };
#define EDGE 0.1
#define PITCH 0.106
#define SPEED 2.0 /* m/s */

static Run* blocks_run(int threads) {
  Text yaml = {0};
  text_add(&yaml,
           "simulation: {dt: 0.01, steps: 100, integrator: first_order}\n"
           "contact: {friction: 0.5}\n"
           "shapes:\n  block: {type: box, size: [%g, %g, %g]}\n"
           "links:\n  - {name: ground, fixed: true, shape: {type: half_space}}\n",
           EDGE, EDGE, EDGE);
  for (int n = 0; n < BLOCKS; n++) {
    int x = n % ACROSS, y = n / ACROSS % ACROSS, z = n / (ACROSS * ACROSS);
    double shift = 0.04 * (z % 2); /* upon two, or four */
    text_add(&yaml, "  - {name: b%d, mass: 1, shape: block, joint: {type: free, position: [%.4f, %.4f, %.4f], ", n,
             PITCH * x + shift, PITCH * y + shift, 0.056 + PITCH * z);
    text_add(&yaml, "rotation_vector: [%.4f, %.4f, %.4f]}}\n", 0.02 * ((n * 7) % 5 - 2), 0.02 * ((n * 3) % 5 - 2),
             0.02 * ((n * 11) % 3 - 1));
  }
  text_add(&yaml, "initial:\n");
  for (int n = 0; n < BLOCKS; n++) {
    int layer = n / (ACROSS * ACROSS);
    text_add(&yaml, "  - {link: b%d, velocities: [%.2f, 0, %.2f, 0, 0, 0]}\n", n, 0.2 * (n % 3 - 1), -SPEED * layer);
  }
  Run* run = run_create(threads, 1e-8, "%s", yaml.data);
  text_free(&yaml);
  return run;
}

static void damp_S21_factors_follow_the_lengths(void** state) {
  (void)state;
  static const struct {
    double alpha;
    int trees;
    double before, after;
  } cases[] = {
      {1.0 / 64, 100, 1, 8},    /* times 1/8 over the length */
      {1.0 / 64, 100, 8, 64},   /* of the same */
      {1.0 / 64, 100, 64, 128}, /* no more than that */
      {1.0 / 8, 100, 16, 16},   /* as it is meant to be */
      {1, 100, 16, 2},          /* full steps: an eighth */
      {1, 100, 4, 1},           /* no less than once */
      {0, 100, 16, 16},         /* it stays where it is */
      {1.0 / 64, 15, 16, 1},    /* too few */
  };
  Run* run = blocks_run(1);
  Sim* s = run->sim;
  assert_non_null(s->damping);
  for (int k = 0; k < BLOCKS; k++) s->island[k] = k == 0 ? 1 : 0;
  s->islands[1] = (Island){.alpha = 1, .trees = 1};
  for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
    s->islands[0] = (Island){.alpha = cases[n].alpha, .trees = cases[n].trees};
    for (int k = 0; k < BLOCKS; k++) {
      s->damping[k] = k == 0 ? 1 : cases[n].before;
      s->stale[k] = false;
    }
    damp_adapt(s);
    assert_true(s->damping[0] == 1 && !s->stale[0]);
    for (int k = 1; k < BLOCKS; k++) {
      assert_true(s->damping[k] == cases[n].after);
      assert_int_equal(s->stale[k], cases[n].after != cases[n].before);
    }
    assert_int_equal(s->damped, cases[n].before > 1);
  }
  run_free(run);
}

/* The force is that of the objective; a free body's Hessian is its inertia, so that it goes a factor less far. */
static void damp_S21_scales_inertia_in_the_hessian_alone(void** state) {
  (void)state;
  Run* run = blocks_run(1);
  Sim* s = run->sim;
  step_prepare(s);
  const int link = 5;
  step_link_terms(s, link);
  LinkTerms plain = s->link_terms[link];
  s->damping[s->model->link_tree[link]] = 16;
  step_link_terms(s, link);
  const LinkTerms* damped = &s->link_terms[link];
  assert_memory_equal(&plain.force, &damped->force, sizeof(plain.force));
  assert_memory_equal(&plain.moment, &damped->moment, sizeof(plain.moment));
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) assert_true(damped->hessian[i][j] == 16 * plain.hessian[i][j]);
  compare_near(damped->hessian[3][3], 16 * 1.0 / (0.01 * 0.01), 1e-9, "16 m / dt^2");
  run_free(run);
}

static void damp_S21_steps_end_where_others_do(void** state) {
  (void)state;
  Run *damps = blocks_run(1), *plain = blocks_run(1);
  double* damping = plain->sim->damping;
  plain->sim->damping = NULL; /* nothing is ever damped */
  int differ = 0;
  for (int n = 0; n < STEPS; n++) {
    StepReport a = run_steps(damps, 1), b = run_steps(plain, 1);
    double worst = 0;
    for (int i = 0; i < damps->model.coordinate_count; i++)
      worst = fmax(worst, fabs(sim_state(damps->sim)->q[i] - sim_state(plain->sim)->q[i]));
    compare_at_most(worst, 1e-6, "step %d: coordinates apart", n + 1);
    compare_at_most(a.residual, 1e-8, "step %d: residual", n + 1);
    differ += a.trials != b.trials || a.iterations != b.iterations;
    for (int k = 0; k < BLOCKS; k++) assert_true(damps->sim->damping[k] == 1); /* between steps none is */
  }
  assert_true(differ > 0); /* else nothing was damped */
  plain->sim->damping = damping;
  run_free(damps);
  run_free(plain);
}

static void damp_S21_does_not_depend_on_threads(void** state) {
  (void)state;
  for (int threads = 2; threads <= 3; threads++) {
    Run *many = blocks_run(threads), *one = blocks_run(1);
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
      cmocka_unit_test(damp_S21_factors_follow_the_lengths),
      cmocka_unit_test(damp_S21_scales_inertia_in_the_hessian_alone),
      cmocka_unit_test(damp_S21_steps_end_where_others_do),
      cmocka_unit_test(damp_S21_does_not_depend_on_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
