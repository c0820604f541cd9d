/* Tests Newton's method of a step (S8, S9): few iterations from a warm start, the reported residual, indefinite
 * Hessians, and prescribed joints. */
#include "simulate/sim.h"

#include <string.h>

#include "support/runs.h"

static const char tower[] =
    "simulation: {dt: 0.01, steps: 100, integrator: first_order}\n"
    "contact: {barrier_distance: 1.0e-3, stiffness: 1.0e-9, friction: 0.5, smoothing: 1.0e-6}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: \"plank{i}\", shape: {type: box, size: [0.4, 0.2, 0.05]}, mass: 0.3, position: [0, 0, 0.0255], repeat: "
    "{count: 5, position: [0.003, 0, 0.0508]}}\n";

/* At rest a step is solved in a few iterations, however tight the tolerance: convergence is quadratic. */
static void newton_S8_converges_fast_at_rest(void** state) {
  (void)state;
  static const double tolerances[] = {1e-4, 1e-8};
  for (int k = 0; k < 2; k++) {
    Run* run = run_create(1, tolerances[k], tower);
    run_steps(run, 60);
    int sum = 0;
    for (int n = 0; n < 40; n++) {
      StepReport r = run_steps(run, 1);
      sum += r.iterations;
      compare_at_most(r.outcome == STEP_CONVERGED ? r.residual : 0, tolerances[k], "step %d: residual", n);
    }
    print_message("tolerance %g: %.2f iterations a step\n", tolerances[k], sum / 40.0);
    compare_at_most(sum, 40 * (2.0 + 2 * k), "tolerance %g: iterations in 40 steps", tolerances[k]);
    run_free(run);
  }
}

/* The residual of the report is the gradient at the state that was reached, assembled again, against the forces at
 * work: the largest of all degrees of freedom, and the one it names (S8). */
static void newton_S8_reports_the_residual_it_reached(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-7,
                        "simulation: {dt: 0.01, steps: 100, integrator: first_order}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: a, mass: 1, joint: {type: hinge, axis: [0, 1, 0]}, shapes: [{type: box, size: "
                        "[0.1, 0.1, 0.5], position: [0, 0, -0.25]}]}\n"
                        "  - {name: b, parent: a, mass: 1, joint: {type: ball, position: [0, 0, -0.5]}, shapes: "
                        "[{type: box, size: [0.1, 0.1, 0.5], position: [0, 0, -0.25]}]}\n"
                        "initial:\n"
                        "  - {link: a, coordinates: [1]}\n"
                        "  - {link: b, velocities: [1, 2, 3]}\n");
  for (int n = 0; n < 50; n++) {
    Sim* s = run->sim;
    step_prepare(s);
    StepReport r = step_solve(s);
    assert_false(step_outcome_failed(r.outcome));
    Configuration* c = &s->configuration[s->current];
    const Model* m = &run->model;
    double gradient[4], worst = 0;
    model_screws(m, c->q, c->pose, s->assembly.screws);
    for (int i = 0; i < m->link_count; i++) {
      s->assembly.reference[i] = pose_apply(c->pose[i], m->links[i].center);
      inertia_terms(&m->links[i], c->pose[i], s->target[i], step_inertia_weight(s), &s->assembly.terms[i]);
    }
    Assembly a = {.model = m,
                  .scope = &s->scope,
                  .tree_first = s->trees.first,
                  .tree_links = s->trees.links,
                  .sides = &s->assembly.sides,
                  .screws = s->assembly.screws,
                  .reference = s->assembly.reference,
                  .links = s->assembly.terms,
                  .joints = c->joints};
    assembly_list_tree_terms(&a, &s->assembly.sides);
    assemble_gradient(&a, gradient);
    for (int k = 0; k < 4; k++) worst = fmax(worst, fabs(gradient[k]) / s->force_scales.dof[k]);
    compare_near(r.residual, worst, 1e-12, "step %d: residual", n);
    compare_at_most(worst, 1e-7, "step %d: imbalance over the forces at work", n);
    compare_near(r.residual_force, fabs(gradient[r.residual_dof]), 1e-12, "step %d: where it is", n);
    sim_step(s); /* the same step, for good */
  }
  run_free(run);
}

/* A long step of a fast, driven chain has indefinite Hessians but must converge. */
static void newton_S9_overcomes_indefinite_hessians(void** state) {
  (void)state;
  Run* run =
      run_create(1, 1e-8,
                 "simulation: {dt: 0.1, steps: 100, integrator: first_order}\n"
                 "contact: {model: none}\n"
                 "links:\n"
                 "  - {name: \"a{i}\", parent: \"a{i-1}\", mass: 1, joint: {type: ball, position: [0, 0, -0.5]}, "
                 "shapes: [{type: box, size: [0.1, 0.15, 0.5], position: [0, 0, -0.25]}], repeat: {count: 4, first: "
                 "{parent: null, joint: {type: ball}}}}\n"
                 "initial:\n"
                 "  - {link: a0, coordinates: [2, 0, 1], velocities: [8, -5, 3]}\n"
                 "  - {link: a1, velocities: [-9, 6, 12]}\n"
                 "  - {link: a3, velocities: [20, 0, -15]}\n");
  int retries = 0;
  for (int n = 0; n < 60; n++) {
    StepReport r = run_steps(run, 1);
    retries += r.factor_retries;
  }
  print_message("%d factorisations were not positive definite\n", retries);
  assert_true(retries > 0);
  run_free(run);
}

/* A prescribed joint pushes a free body ahead of it through contact; it arrives where its signal says at every step. */
static void newton_S8_prescribed_joints_push(void** state) {
  (void)state;
  Run* run =
      run_create(1, 1e-6,
                 "simulation: {dt: 0.01, steps: 200, integrator: first_order}\n"
                 "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-7, friction: 0.2, smoothing: 1.0e-6}\n"
                 "links:\n"
                 "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                 "  - {name: ram, joint: {type: slide, axis: [1, 0, 0], position: [0, 0, 0.2]}, shape: {type: box, "
                 "size: [0.1, 0.3, 0.2]}}\n"
                 "  - {name: box, mass: 2, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0.2, 0, 0.1015]}\n"
                 "controllers:\n"
                 "  - {link: ram, type: prescribed, target: {type: keyframes, times: [0, 1], values: [0, 0.5]}}\n");
  for (int n = 1; n <= 100; n++) {
    StepReport r = run_steps(run, 1);
    compare_near(sim_state(run->sim)->q[0], 0.005 * n, 1e-12, "step %d: ram", n);
    compare_at_most(r.residual, 1e-6, "step %d: residual", n);
  }
  double gap = sim_state(run->sim)->center[2].x - sim_state(run->sim)->center[1].x - 0.15;
  if (!(gap > 0 && gap < 4e-3)) fail_msg("gap between the ram and the box it pushes: %g m", gap);
  run_free(run);
}

static void newton_of_a_scene_without_degrees_of_freedom(void** state) {
  (void)state;
  Run* run = run_create(1, 0, "links:\n  - {name: a, fixed: true, shape: {type: box, size: [1, 1, 1]}}\n");
  StepReport r = run_steps(run, 3);
  assert_int_equal(r.outcome, STEP_CONVERGED);
  assert_int_equal(sim_state(run->sim)->step, 3);
  run_free(run);
}

/* A number that is none anywhere in the gradient is a failure, also where other entries are fine. */
static void newton_takes_no_gradient_that_is_not_finite(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-6,
                        "simulation: {gravity: [0, 0, 0], integrator: first_order}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: a, mass: 1, shape: {type: box, size: [1, 1, 1]}}\n"
                        "  - {name: b, mass: 1, shape: {type: box, size: [1, 1, 1]}, position: [5, 0, 0]}\n");
  run_steps(run, 1);
  run->sim->pose_old[0].t.x = NAN; /* the history of the first body is spoilt; the second is at rest */
  StepReport r = sim_step(run->sim);
  if (!step_outcome_failed(r.outcome))
    fail_msg("a step with a NaN in the gradient: %s, residual %g", step_outcome_text(r.outcome), r.residual);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(newton_S8_converges_fast_at_rest),
      cmocka_unit_test(newton_S8_reports_the_residual_it_reached),
      cmocka_unit_test(newton_S9_overcomes_indefinite_hessians),
      cmocka_unit_test(newton_S8_prescribed_joints_push),
      cmocka_unit_test(newton_of_a_scene_without_degrees_of_freedom),
      cmocka_unit_test(newton_takes_no_gradient_that_is_not_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
