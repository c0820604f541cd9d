/* Tests steps in equal substeps (docs/derivations/step.md, S13, S14). Weights for unequal steps are compared with
 * closed forms and by order, runs with runs of shorter steps. Also tests failed steps. */
#include <string.h>

#include "differentiate/differentiate.h"
#include "simulate/sim.h"
#include "support/runs.h"

/* ---------------------------------------------------------------- weights */

/* Lengths of three steps that may differ by any factor up to that of the finest substeps. */
static StepClock random_clock(Random* random) {
  double length[3];
  for (int k = 0; k < 3; k++) length[k] = 0.01 * pow(SUBSTEPS_MAX, random_uniform(random, -0.5, 0.5));
  return (StepClock){.dt = length[0], .dt_before = length[1], .dt_older = length[2]};
}

/* c0 + c1 t + c2 t^2 + c3 t^3 with its derivatives, times counted from the new state in steps. */
static double polynomial(const double c[4], double t) { return c[0] + t * (c[1] + t * (c[2] + t * c[3])); }

/* The second derivative at the new state that the weights see in x+, x, x-, x-- [1/s^2]. */
static double second_derivative(const StepWeights* w, const StepClock* clock, const double x[4]) {
  double y = w->y_now * x[1] + w->y_old * x[2] + w->y_older * x[3];
  return w->factor / (clock->dt * clock->dt) * (x[0] - y);
}

static void substep_S13_second_order_is_exact_for_cubics(void** state) {
  (void)state;
  Random random = {71};
  for (int n = 0; n < 500; n++) {
    StepClock clock = random_clock(&random);
    StepWeights w = step_weights(INTEGRATOR_SECOND_ORDER, &clock);
    double h = clock.dt, t[4] = {0, -h, -h - clock.dt_before, -h - clock.dt_before - clock.dt_older}, c[4], x[4];
    for (int k = 0; k < 4; k++) c[k] = random_uniform(&random, -1, 1) / pow(h, k);
    for (int k = 0; k < 4; k++) x[k] = polynomial(c, t[k]);
    double size = fabs(x[0]) + fabs(x[1] * w.y_now) + fabs(x[2] * w.y_old) + fabs(x[3] * w.y_older);
    compare_near(second_derivative(&w, &clock, x), 2 * c[2], 1e-14 * w.factor * size / (h * h), "case %d, seed 71", n);
    compare_near(w.y_now + w.y_old + w.y_older, 1, 1e-13 * fabs(w.y_now), "case %d, seed 71: rest stays", n);
    c[3] = 0;
    for (int k = 0; k < 3; k++) x[k] = polynomial(c, t[k]);
    double rate = w.rate_now * (x[0] - x[1]) - w.rate_old * (x[1] - x[2]);
    compare_near(rate, c[1], 1e-13 * (w.rate_now + w.rate_old) * (fabs(x[0]) + fabs(x[1]) + fabs(x[2])),
                 "case %d, seed 71: rate of a parabola", n);
  }
}

static void substep_S13_first_order_is_a_difference_of_velocities(void** state) {
  (void)state;
  Random random = {73};
  for (int n = 0; n < 500; n++) {
    StepClock clock = random_clock(&random);
    StepWeights w = step_weights(INTEGRATOR_FIRST_ORDER, &clock);
    double x[4] = {0};
    for (int k = 0; k < 3; k++) x[k] = random_uniform(&random, -1, 1);
    double wanted = ((x[0] - x[1]) / clock.dt - (x[1] - x[2]) / clock.dt_before) / clock.dt;
    compare_near(second_derivative(&w, &clock, x), wanted,
                 1e-13 * (1 + clock.dt / clock.dt_before) / (clock.dt * clock.dt), "case %d, seed 73", n);
  }
}

/* Steps of one length have the weights of the table in (S3), to the bit; the second step of the second order is exact
 * for a parabola whatever the two lengths. */
static void substep_S13_equal_steps_and_the_start(void** state) {
  (void)state;
  double dt = 0.003;
  StepClock even = {.dt = dt, .dt_before = dt, .dt_older = dt}, second = {.dt = dt, .dt_before = dt};
  StepWeights first_order = step_weights(INTEGRATOR_FIRST_ORDER, &even), table = {1, 2, -1, 0, 0, 1 / dt, 0};
  StepWeights houbolt = step_weights(INTEGRATOR_SECOND_ORDER, &even), five = {2, 2.5, -2, 0.5, 0, 1.5 / dt, 0.5 / dt};
  StepWeights start = step_weights(INTEGRATOR_SECOND_ORDER, &second), three = {2, 3, -2, 0, -1, 1.5 / dt, 0.5 / dt};
  assert_memory_equal(&first_order, &table, sizeof table);
  assert_memory_equal(&houbolt, &five, sizeof five);
  assert_memory_equal(&start, &three, sizeof three);
  for (double ratio = 1.0 / 64; ratio <= 64; ratio *= 2) {
    StepClock clock = {.dt = dt, .dt_before = ratio * dt};
    StepWeights w = step_weights(INTEGRATOR_SECOND_ORDER, &clock);
    double v = 0.7, a = -3, before = clock.dt_before, end = before + dt; /* x = v t + a t^2 / 2 from t = 0 */
    double x1 = before * (v + 0.5 * a * before), x2 = end * (v + 0.5 * a * end);
    double y = w.y_now * x1 + w.y_rate * dt * v;
    compare_near(w.factor / (dt * dt) * (x2 - y), a, 1e-13 * w.factor / (dt * dt) * (fabs(w.y_now * x1) + fabs(x2)),
                 "second step, lengths 1 : %g", ratio);
  }
}

/* Substeps of the n-th step: any lengths beside each other, the same ones every eight steps. */
static int pattern(int n) {
  static const int substeps[] = {1, 2, 1, 4, 4, 1, 8, 3};
  return substeps[n % 8];
}

/* A mass on a spring with damping, x'' = -w^2 (x - 0.5) - 2 z w x': largest error within 1 s. */
static double oscillator_error(const char* integrator, int steps) {
  double w = 5, z = 0.1, x0 = 0.2, v0 = -0.6, mass = 2, worst = 0;
  Run* run = run_create(1, 1e-11,
                        "simulation: {dt: %.17g, steps: %d, gravity: [0, 0, 0], integrator: %s}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: body, mass: %g, joint: {type: slide, axis: [1, 0, 0], damping: %.17g}, shape: "
                        "{type: box, size: [1, 1, 1]}}\n"
                        "controllers:\n"
                        "  - {link: body, type: pd, position_gain: %.17g, target: 0.5}\n"
                        "initial:\n"
                        "  - {link: body, coordinates: [%g], velocities: [%g]}\n",
                        1.0 / steps, steps, integrator, mass, 2 * z * w * mass, w * w * mass, x0, v0);
  double wd = w * sqrt(1 - z * z), a = x0 - 0.5, b = (v0 + z * w * a) / wd;
  for (int n = 1; n <= steps; n++) {
    assert_false(step_outcome_failed(sim_step_with_substeps(run->sim, pattern(n - 1)).outcome));
    double t = (double)n / steps, exact = 0.5 + exp(-z * w * t) * (a * cos(wd * t) + b * sin(wd * t));
    worst = fmax(worst, fabs(sim_state(run->sim)->q[0] - exact));
  }
  run_free(run);
  return worst;
}

static void substep_S13_keeps_the_orders(void** state) {
  (void)state;
  static const char* const integrator[] = {"first_order", "second_order"};
  for (int k = 0; k < 2; k++) {
    double coarse = oscillator_error(integrator[k], 400), fine = oscillator_error(integrator[k], 800),
           finest = oscillator_error(integrator[k], 1600);
    print_message("%s: errors %.2e %.2e %.2e, orders %.2f %.2f\n", integrator[k], coarse, fine, finest,
                  log2(coarse / fine), log2(fine / finest));
    compare_near(log2(fine / finest), k + 1, 0.12, "%s: order", integrator[k]);
  }
}

/* ---------------------------------------------------------------- runs in substeps */

/* A driven arm over a box that lands, slides and is pushed by a prescribed paddle. */
static const char busy[] =
    "simulation: {dt: %.17g, steps: 400, integrator: %s, substeps: %d}\n"
    "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-7, friction: 0.4, smoothing: 1.0e-4}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: box, mass: 0.6, shape: {type: box, size: [0.2, 0.16, 0.1]}, position: [0, 0, 0.07]}\n"
    "  - {name: paddle, joint: {type: hinge, axis: [0, 0, 1], position: [-0.25, -0.25, 0.07]}, shapes: [{type: box, "
    "size: [0.2, 0.16, 0.1], position: [0.25, 0.08, 0]}]}\n"
    "  - {name: arm, mass: 0.4, joint: {type: ball, position: [2, 0, 1], damping: 0.02}, shapes: [{type: box, size: "
    "[0.1, 0.1, 0.4], position: [0, 0, -0.2]}]}\n"
    "controllers:\n"
    "  - {link: paddle, type: prescribed, target: {type: sines, terms: [{amplitude: 0.4, frequency: 1}]}}\n"
    "  - {link: arm, type: pd, position_gain: 3, velocity_gain: %.17g, target: {type: sines, offset: [0.3, 0, 0.1], "
    "terms: [[{amplitude: 1, frequency: 1}], [{amplitude: 0.5, frequency: 2}], []]}}\n"
    "initial: [{link: box, velocities: [0.8, 0.2, -0.5, 1, 0, 2]}]\n";

static Run* busy_run(double dt, const char* integrator, int substeps, int threads) {
  return run_create(threads, 1e-8, busy, dt, integrator, substeps, 0.01);
}

static Run* busy_model(double dt, const char* integrator, int substeps) {
  return run_model(busy, dt, integrator, substeps, 0.01);
}

static void expect_same_state(const Run* a, const Run* b, const char* what, int step) {
  const Model* m = &a->model;
  const SimState *x = sim_state(a->sim), *y = sim_state(b->sim);
  compare_bytes(x->q, y->q, sizeof(double) * (size_t)m->coordinate_count, "%s, step %d: coordinates", what, step);
  compare_bytes(x->rate, y->rate, sizeof(double) * (size_t)m->dof_count, "%s, step %d: rates", what, step);
  compare_bytes(x->pose, y->pose, sizeof(Pose) * (size_t)m->link_count, "%s, step %d: poses", what, step);
}

/* Number of calls of the interrupt callback, and the call that returns true. One thread calls it. */
static int questions, answered_yes;
static bool asks_to_stop(void) { return ++questions == answered_yes; }

/* Built anew, because the sim of a Run is never interrupted. */
static Sim* interruptible(const Run* run) {
  SimOptions options = {.threads = 1, .tolerance = 1e-8, .interrupted = asks_to_stop};
  Diagnostics diagnostics = {0};
  Sim* sim;
  assert_int_equal(sim_create(&sim, &run->model, &options, &diagnostics), STATUS_OK);
  diagnostics_free(&diagnostics);
  return sim;
}

static void expect_like(const Model* m, Sim* one, Sim* other, const char* what, int step) {
  const SimState *x = sim_state(one), *y = sim_state(other);
  SimMeasure a = sim_measure(one), b = sim_measure(other);
  assert_int_equal(x->step, y->step);
  compare_bytes(x->q, y->q, sizeof(double) * (size_t)m->coordinate_count, "%s, step %d: coordinates", what, step);
  compare_bytes(x->rate, y->rate, sizeof(double) * (size_t)m->dof_count, "%s, step %d: rates", what, step);
  compare_bytes(x->pose, y->pose, sizeof(Pose) * (size_t)m->link_count, "%s, step %d: poses", what, step);
  compare_bytes(&a.total, &b.total, sizeof a.total, "%s, step %d: energy", what, step);
}

/* A step that is given up in any of its rounds, of any of its parts, leaves the state before it: what would be recorded
 * there is what was, and from there the run goes on as if nobody had asked. */
static void substep_an_interrupted_step_leaves_no_trace(void** state) {
  (void)state;
  static const char* const integrator[] = {"first_order", "second_order", "momentum"};
  int given_up = 0;
  for (int i = 0; i < 3; i++) {
    Run* run = run_create(1, 1e-8, busy, 0.01, integrator[i], 2, 0.01);
    Sim* plain = interruptible(run);
    for (int n = 1; n <= 20; n++) {
      questions = answered_yes = 0;
      assert_false(step_outcome_failed(sim_step(plain).outcome));
      int rounds = questions;
      assert_true(rounds > 1);
      run_steps(run, 1); /* which does not ask */
      expect_like(&run->model, run->sim, plain, integrator[i], n);
      if (n != 7 && n != 13 && n != 20) continue;
      Sim* asked = interruptible(run);
      for (int k = 1; k < n; k++) (void)sim_step(asked);
      Sim* before = interruptible(run);
      for (int k = 1; k < n; k++) (void)sim_step(before);
      SimSnapshot* kept = sim_snapshot_create();
      for (int k = 1; k <= rounds; k++) {
        sim_save_over(asked, kept);
        questions = 0;
        answered_yes = k;
        StepReport report = sim_step(asked);
        assert_int_equal(report.outcome, STEP_INTERRUPTED);
        assert_int_equal(questions, k); /* nothing is tried after it */
        expect_like(&run->model, asked, before, "given up", n);
        sim_restore_after_failure(asked, kept);
        expect_like(&run->model, asked, before, "returned", n);
        given_up++;
      }
      answered_yes = 0;
      assert_false(step_outcome_failed(sim_step(asked).outcome));
      expect_like(&run->model, asked, plain, "gone on", n);
      sim_snapshot_destroy(kept);
      sim_destroy(asked);
      sim_destroy(before);
    }
    sim_destroy(plain);
    run_free(run);
  }
  assert_true(given_up > 50);
}

/* Every step in k: the run with dt / k, at every k-th state and, through sim_substates, at the others. */
static void substep_S14_every_step_is_a_run_with_shorter_steps(void** state) {
  (void)state;
  static const char* const integrator[] = {"first_order", "second_order", "momentum"};
  static const int counts[] = {2, 8};
  for (int i = 0; i < 3; i++)
    for (int c = 0; c < 2; c++) {
      int k = counts[c], count, touching = 0;
      Run *whole = busy_run(0.01, integrator[i], k, 1), *fine = busy_run(0.01 / k, integrator[i], 1, 1);
      const Model* m = &whole->model;
      for (int n = 1; n <= 25; n++) {
        StepReport report = run_steps(whole, 1);
        touching += report.active_pairs > 0;
        assert_int_equal(report.substeps, k);
        assert_false(report.halved);
        const SimSubstate* inside = sim_substates(whole->sim, &count);
        assert_int_equal(count, k - 1);
        for (int j = 0; j < k; j++) {
          run_steps(fine, 1);
          const SimState* there = sim_state(fine->sim);
          if (j == k - 1) break;
          int pairs;
          const ContactRecord* records = sim_contact_records(fine->sim, &pairs);
          compare_bytes(inside[j].q, there->q, sizeof(double) * (size_t)m->coordinate_count, "state %d.%d", n, j);
          compare_bytes(inside[j].pose, there->pose, sizeof(Pose) * (size_t)m->link_count, "state %d.%d", n, j);
          assert_true(inside[j].clock.time == there->time && inside[j].clock.dt == 0.01 / k);
          assert_int_equal(inside[j].contact_count, pairs);
          compare_bytes(inside[j].contacts, records, sizeof(ContactRecord) * (size_t)pairs, "contacts %d.%d", n, j);
        }
        expect_same_state(whole, fine, integrator[i], n);
        assert_true(sim_state(whole->sim)->time == sim_state(fine->sim)->time);
        assert_int_equal(sim_state(whole->sim)->step, n);
      }
      assert_true(touching > 10);
      run_free(whole);
      run_free(fine);
    }
}

/* Gradient of a random linear function of poses, coordinates, rates and forces at every `every`-th state. */
static void gradient_at_rows(const Model* m, int threads, int steps, int every, ModelGradient* gradient) {
  Recording r;
  RecordOptions options = {.threads = threads, .tolerance = 1e-8};
  RecordReport report;
  Diagnostics diagnostics = {0};
  recording_create(&r, m, steps);
  assert_int_equal(recording_run(&r, m, &options, &report, &diagnostics), STATUS_OK);
  LossSeeds seeds = loss_seeds_create(m, steps);
  Random random = {79};
  size_t links = (size_t)m->link_count, dofs = (size_t)m->dof_count;
  for (size_t row = (size_t)every; row <= (size_t)steps; row += (size_t)every) {
    for (size_t k = row * links; k < (row + 1) * links; k++) {
      for (int e = 0; e < 12; e++) seeds.pose[k][e / 4][e % 4] = random_normal(&random);
      seeds.force[k].x = random_normal(&random);
    }
    for (size_t k = row * dofs; k < (row + 1) * dofs; k++) {
      seeds.q[k] = random_normal(&random);
      seeds.rate[k] = random_normal(&random);
    }
  }
  RunAdjoint* adjoint = run_adjoint_create(m, threads);
  model_gradient_create(gradient, m);
  assert_true(run_adjoint(adjoint, &r, &seeds, 1.0, gradient).sound);
  run_adjoint_destroy(adjoint);
  loss_seeds_destroy(&seeds);
  recording_destroy(&r);
  diagnostics_free(&diagnostics);
}

static void expect_same_numbers(const double* a, const double* b, int count, const char* what) {
  double largest = 0;
  for (int k = 0; k < count; k++) {
    if (a[k] != b[k]) fail_msg("%s %d: %.17g and %.17g", what, k, a[k], b[k]);
    largest = fmax(largest, fabs(a[k]));
  }
  if (!(largest > 0)) fail_msg("%s: all zero", what);
}

/* All of it, on one thread and on two: the adjoint of every step in k is that of the run with dt / k. */
static void substep_S14_gradient_is_that_of_shorter_steps(void** state) {
  (void)state;
  static const char* const integrator[] = {"first_order", "second_order", "momentum"};
  for (int i = 0; i < 3; i++)
    for (int threads = 1; threads <= 2; threads++) {
      Run *whole = busy_model(0.01, integrator[i], 4), *fine = busy_model(0.0025, integrator[i], 1);
      const Model* m = &whole->model;
      ModelGradient a, b;
      gradient_at_rows(m, threads, 25, 1, &a);
      gradient_at_rows(&fine->model, 1, 100, 4, &b);
      expect_same_numbers(&a.vertices[0].x, &b.vertices[0].x, 3 * m->vertex_count, "vertices");
      expect_same_numbers(&a.attachments[0].x, &b.attachments[0].x, 3 * m->link_count, "attachments");
      expect_same_numbers(a.mass, b.mass, m->link_count, "masses");
      expect_same_numbers(a.control, b.control, m->parameter_count, "control");
      expect_same_numbers(a.coordinates, b.coordinates, m->dof_count, "initial coordinates");
      expect_same_numbers(a.velocities, b.velocities, m->dof_count, "initial velocities");
      expect_same_numbers(a.contact, b.contact, CONTACT_PARAMETER_COUNT, "contact");
      model_gradient_destroy(&a);
      model_gradient_destroy(&b);
      run_free(whole);
      run_free(fine);
    }
}

/* Parameters that are derived from dt are derived from the substep's. */
static void substep_S14_contact_is_derived_from_the_substep(void** state) {
  (void)state;
  static const char scene[] =
      "simulation: {dt: %g, substeps: %d, integrator: first_order}\n"
      "links:\n"
      "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
      "  - {name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.2]}\n";
  Run *whole = run_model(scene, 0.02, 4), *fine = run_model(scene, 0.005, 1);
  compare_bytes(&whole->model.contact, &fine->model.contact, sizeof whole->model.contact, "contact");
  run_free(whole);
  run_free(fine);
}

/* The damper of a drive is what its gain is over dt, in halves too. */
static void substep_S14_dampers_do_not_change_in_halves(void** state) {
  (void)state;
  static const char scene[] =
      "simulation: {dt: 0.01, steps: 100, gravity: [0, 0, 0], integrator: first_order}\n"
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: body, mass: 1, joint: {type: slide, axis: [1, 0, 0]}, shape: {type: box, size: [1, 1, 1]}}\n"
      "controllers: [{link: body, type: pd, position_gain: 0, velocity_gain: 0.02, target: 0}]\n"
      "initial: [{link: body, velocities: [1]}]\n";
  for (int k = 1; k <= 8; k *= 2) { /* v' = -c v, c = 0.02 / 0.01: backward Euler in k substeps */
    Run* run = run_create(1, 1e-12, scene);
    double v = 1;
    for (int n = 0; n < 20; n++) {
      sim_step_with_substeps(run->sim, k);
      v /= pow(1 + 2 * 0.01 / k, k);
      compare_near(sim_state(run->sim)->rate[0], v, 1e-10, "%d substeps, step %d", k, n);
    }
    run_free(run);
  }
}

/* ---------------------------------------------------------------- steps that fail */

/* A brick thrown at the ground edge first. */
static const char thrown[] =
    "simulation: {dt: 0.02, steps: 30, max_iterations: %d, integrator: %s}\n"
    "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-7, friction: 0.4, smoothing: 1.0e-4, friction_iterations: 0}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: box, mass: 0.6, shape: {type: box, size: [0.2, 0.16, 0.1]}, position: [0, 0, 0.3], rotation_vector: "
    "[0.3, 0.25, 0.1]}\n"
    "initial: [{link: box, velocities: [1, 0, -5, 8, -3, 1]}]\n";

/* The most iterations that a step of it takes as a whole, less one: a run with these fails where that step is. */
static int too_few_iterations(const char* integrator, double tolerance) {
  Run* run = run_create(1, tolerance, thrown, 1000, integrator);
  int most = 0;
  for (int n = 0; n < 30; n++) {
    StepReport report = run_steps(run, 1);
    assert_false(report.halved); /* parts of a spinning body (spin.md, W10) are none */
    if (report.substeps == 1 && report.iterations > most) most = report.iterations;
  }
  run_free(run);
  return most - 1;
}

static void substep_S14_halves_save_a_run(void** state) {
  (void)state;
  int few = too_few_iterations("first_order", 1e-9), halved = 0, after = 0;
  Run *run = run_create(1, 1e-9, thrown, few, "first_order"), *two = run_create(2, 1e-9, thrown, few, "first_order");
  for (int n = 1; n <= 30; n++) {
    StepReport report = run_steps(run, 1), other = run_steps(two, 1);
    assert_int_equal(report.substeps, other.substeps);
    assert_int_equal(report.halved, report.substeps > 1);
    expect_same_state(run, two, "two threads", n);
    compare_near(sim_state(run->sim)->time, 0.02 * n, 1e-15, "time of step %d", n);
    halved += report.halved;
    after = report.halved ? 0 : after + 1;
  }
  print_message("%d iterations are not enough: %d of 30 steps in halves\n", few, halved);
  assert_true(halved > 0);
  assert_true(after > 0); /* and then whole ones again */
  run_free(run);
  run_free(two);
}

/* Random linear loss over poses and rates, against differences: what halves save is differentiated like any other. */
static void substep_S14_gradient_of_a_run_that_halves_save(void** state) {
  (void)state;
  static const char* const integrator[] = {"first_order", "second_order", "momentum"};
  for (int i = 0; i < 3; i++) {
    Run* run = run_model(thrown, too_few_iterations(integrator[i], 1e-12), integrator[i]);
    model_expand_shapes(&run->model, &run->scene);
    model_destroy(&run->model);
    assert_int_equal(model_create(&run->model, &run->scene, &run->diagnostics), STATUS_OK);
    GradcheckOptions options = {.blocks = 1 << GRADCHECK_STATE | 1 << GRADCHECK_CONTACT | 1 << GRADCHECK_MASS,
                                .directions = 2,
                                .tolerance = 1e-12,
                                .bound = 1e-6,
                                .seed = 3,
                                .threads = 1,
                                .steps = 12};
    GradcheckReport* report = MEMORY_NEW(GradcheckReport, 1);
    assert_int_equal(gradcheck_scene(&run->scene, &run->model, NULL, &options, report, &run->diagnostics), STATUS_OK);
    assert_true(report->run.halved_steps > 0);
    assert_true(report->adjoint.sound);
    for (int b = 0; b < GRADCHECK_BLOCKS; b++)
      if (options.blocks & 1u << b)
        compare_at_most(report->block[b].error, fmax(1e-6, 0.3 * report->block[b].resolution), "%s: gradient by the %s",
                        integrator[i], gradcheck_block_name((GradcheckBlock)b));
    memory_free(report);
    run_free(run);
  }
}

/* Steps of both runs until one fails; how many were done. */
static int until_failure(Run* run, Run* still, StepReport* report) {
  for (int n = 0; n < 30; n++) {
    *report = sim_step(run->sim);
    if (step_outcome_failed(report->outcome)) return n;
    run_steps(still, 1);
  }
  return 30;
}

/* After a step that the finest try could not save all is as before, and the next try comes to the same. */
static void substep_S14_gives_back_the_state_before(void** state) {
  (void)state;
  int reached = 0, count;
  Run *run = NULL, *still = NULL;
  StepReport report;
  for (int few = 1; reached == 0; few++) { /* enough for the flight, not for the impact */
    if (run) run_free(run);
    if (still) run_free(still);
    run = run_create(1, 1e-9, thrown, few, "second_order");
    still = run_create(1, 1e-9, thrown, few, "second_order");
    reached = until_failure(run, still, &report);
  }
  print_message("%d steps, then %s in %d substeps\n", reached, step_outcome_text(report.outcome), report.substeps);
  assert_true(reached < 30);
  assert_int_equal(report.outcome, STEP_NO_SOLUTION);
  assert_int_equal(report.substeps, SUBSTEPS_FINEST);
  expect_same_state(run, still, "after the failure", reached);
  StepClock a = sim_clock(run->sim), b = sim_clock(still->sim);
  compare_bytes(&a, &b, sizeof a, "clock");
  assert_int_equal(sim_state(run->sim)->step, reached);
  sim_substates(run->sim, &count);
  assert_int_equal(count, 0);
  compare_near(sim_measure(run->sim).kinetic, sim_measure(still->sim).kinetic, 0, "kinetic energy");
  assert_int_equal(sim_step(run->sim).outcome, report.outcome);
  expect_same_state(run, still, "after another one", reached);
  run_free(run);
  run_free(still);
}

/* No motion of whatever length takes a prescribed piston through a fixed wall. */
static void substep_S14_what_is_blocked_stays_blocked(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-7,
                        "simulation: {dt: 0.01, steps: 100, integrator: first_order}\n"
                        "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-7, friction: 0.4, smoothing: 1.0e-4}\n"
                        "links:\n"
                        "  - {name: wall, fixed: true, position: [0.5, 0, 0], shape: {type: box, size: [0.1, 1, 1]}}\n"
                        "  - {name: piston, joint: {type: slide, axis: [1, 0, 0]}, shape: {type: box, size: [0.2, 0.2, "
                        "0.2]}}\n"
                        "controllers:\n"
                        "  - {link: piston, type: prescribed, target: {type: keyframes, times: [0, 1], values: [[0], "
                        "[1]]}}\n");
  StepReport report = {.outcome = STEP_CONVERGED};
  for (int n = 0; n < 100 && !step_outcome_failed(report.outcome); n++) report = sim_step(run->sim);
  assert_int_equal(report.outcome, STEP_BLOCKED);
  assert_int_equal(report.substeps, SUBSTEPS_FINEST);
  assert_true(sim_state(run->sim)->q[0] > 0.3 && sim_state(run->sim)->q[0] < 0.35);
  run_free(run);
}

/* Nothing is allocated inside a step once the neighbourhood and the room for the states inside are known. */
/* ---------------------------------------------------------------- second order after a contact */

static Run* slope_run(int n) {
  static const char* const scenes[] = {
      "0.01, [0.1, 0, 1], [0.6, 0.1, 0.1], 1.63, [2.2, 0, -0.8, -2.4, 2.7, -1.5], 1",
      "0.02, [1, 0, 1], [0.2, 0.2, 0.2], 1.52, [3.4, 0, -0.7, -4.0, -3.3, -0.5], 1",
      "0.01, [0.4, 0, 1], [0.6, 0.1, 0.1], 1.11, [-2.0, 0, -1.6, 3.4, -0.9, 1.8], 0.5",
      "0.02, [1, 0, 1], [0.6, 0.1, 0.1], 1.19, [2.4, 0, -0.4, -2.9, -0.8, -5.5], 1",
  };
  double dt, friction, height, normal[3], size[3], v[6];
  int read = sscanf(scenes[n], "%lf, [%lf, %lf, %lf], [%lf, %lf, %lf], %lf, [%lf, %lf, %lf, %lf, %lf, %lf], %lf", &dt,
                    &normal[0], &normal[1], &normal[2], &size[0], &size[1], &size[2], &height, &v[0], &v[1], &v[2],
                    &v[3], &v[4], &v[5], &friction);
  assert_int_equal(read, 15);
  return run_create(1, 1e-10,
                    "simulation: {dt: %g, integrator: second_order}\n"
                    "contact: {friction: %g}\n"
                    "shapes: {box: {type: box, size: [%g, %g, %g]}}\n"
                    "links:\n"
                    "  - {name: slope, fixed: true, shape: {type: half_space, normal: [%g, %g, %g]}}\n"
                    "  - {name: box, mass: 1, shape: box, position: [0, 0, %g]}\n"
                    "initial: [{link: box, velocities: [%g, %g, %g, %g, %g, %g]}]\n",
                    dt, friction, size[0], size[1], size[2], normal[0], normal[1], normal[2], height, v[0], v[1], v[2],
                    v[3], v[4], v[5]);
}

/* A box collides with a slope, one corner after the other. Two steps after the last force it is in free fall, x+ - 2 x
 * + x- = g dt^2. The delay is due to friction, which uses the previous state. */
static void substep_S15_no_force_acts_after_it_has_gone(void** state) {
  (void)state;
  for (int n = 0; n < 4; n++) {
    Run* run = slope_run(n);
    double dt = run->model.simulation.dt, g = run->model.simulation.gravity.z;
    Vec3 old = sim_state(run->sim)->center[1], now = old;
    int flying = 0, landings = 0;
    for (int step = 1; step <= 80; step++) {
      int count;
      run_steps(run, 1);
      (void)sim_contacts(run->sim, &count);
      Vec3 new = sim_state(run->sim)->center[1];
      Vec3 fall = vec3_sub(vec3_sub(new, now), vec3_sub(now, old));
      landings += count > 0 && flying > 2;
      flying = count > 0 ? 0 : flying + 1;
      if (flying > 1 && step > 2)
        compare_at_most(vec3_norm(vec3_sub(fall, vec3(0, 0, g * dt * dt))), 1e-7 * fabs(g) * dt * dt,
                        "scene %d, step %d: force on what nothing touches", n, step);
      old = now, now = new;
    }
    assert_true(landings > 0 && flying < 80);
    run_free(run);
  }
}

/* A spinning ball has its steps taken in 8, 4 and 2 parts (spin.md, W10), of unequal length where their number changes.
 * The rates of a body that falls beside it belong to the middle of the last substep. At that time t the body falls at
 * g t, to rounding, for any sequence of substeps (step.md, S15). */
static void substep_S13_weight_acts_for_all_parts_of_a_step(void** state) {
  (void)state;
  double dt = 5e-3;
  Run* run =
      run_create(1, 0,
                 "simulation: {dt: %g, steps: 70, integrator: momentum}\n"
                 "contact: {friction: 0.6}\n"
                 "links:\n"
                 "  - {name: floor, fixed: true, shape: {type: half_space}}\n"
                 "  - {name: ball, mass: 1, mass_model: given, inertia: [0.001, 0.001, 0.001, 0, 0, 0], position: "
                 "[0, 0, 0.05024], shape: {type: sphere, radius: 0.05, resolution: 3}}\n"
                 "  - {name: box, mass: 2, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [0, 3, 30]}\n"
                 "initial: [{link: ball, velocities: [0, 0, 0, 0, 150, 0]}]\n",
                 dt);
  int numbers = 0;
  for (int step = 1, parts = 0; step <= 70; step++) {
    StepReport report = run_steps(run, 1);
    numbers += report.substeps != parts;
    parts = report.substeps;
    double time = (step - 0.5 / parts) * dt;
    compare_near(sim_state(run->sim)->rate[8], -9.81 * time, 1e-9, "step %d, %d parts: speed", step, parts);
  }
  if (numbers < 3) fail_msg("only %d numbers of parts", numbers);
  run_free(run);
}

static void substep_S14_allocates_nothing(void** state) {
  (void)state;
  Run* run = busy_run(0.01, "first_order", 4, 1);
  run_steps(run, 100);
  uint64_t before = memory_allocation_count();
  run_steps(run, 20);
  assert_int_equal(memory_allocation_count() - before, 0);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(substep_S13_second_order_is_exact_for_cubics),
      cmocka_unit_test(substep_S13_first_order_is_a_difference_of_velocities),
      cmocka_unit_test(substep_S13_equal_steps_and_the_start),
      cmocka_unit_test(substep_S13_keeps_the_orders),
      cmocka_unit_test(substep_S13_weight_acts_for_all_parts_of_a_step),
      cmocka_unit_test(substep_an_interrupted_step_leaves_no_trace),
      cmocka_unit_test(substep_S14_every_step_is_a_run_with_shorter_steps),
      cmocka_unit_test(substep_S14_gradient_is_that_of_shorter_steps),
      cmocka_unit_test(substep_S14_contact_is_derived_from_the_substep),
      cmocka_unit_test(substep_S14_dampers_do_not_change_in_halves),
      cmocka_unit_test(substep_S14_halves_save_a_run),
      cmocka_unit_test(substep_S14_gradient_of_a_run_that_halves_save),
      cmocka_unit_test(substep_S14_gives_back_the_state_before),
      cmocka_unit_test(substep_S15_no_force_acts_after_it_has_gone),
      cmocka_unit_test(substep_S14_allocates_nothing),
      cmocka_unit_test(substep_S14_what_is_blocked_stays_blocked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
