/* Tests the adjoint of one step on hand-made input: lambda in closed form, and reports of indefinite or singular
 * Hessians and of invalid records. */
#include "simulate/simulate.h"

#include <string.h>

#include "support/runs.h"

/* Two bars on hinges about z, of which the first is turned by hand. Without gravity and at rest at angle 0 the
 * objective of the first bar is w I (1 - cos angle), w = 1 / dt^2: stationary at 0 and at pi, where its second
 * derivative is -w I, and without curvature at a quarter turn. */
static const char bars[] =
    "simulation: {dt: 0.1, steps: 1, gravity: [0, 0, 0], integrator: first_order}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: first, mass: 2, center: [0.3, 0, 0], inertia: [0.01, 0.02, 0.03, 0, 0, 0], joint: {type: hinge, axis: "
    "[0, 0, "
    "1]}}\n"
    "  - {name: second, mass: 1, center: [0.5, 0, 0], inertia: [0.03, 0.02, 0.05, 0, 0, 0], joint: {type: hinge, axis: "
    "[0, 0, "
    "1], position: [5, 0, 0]}}\n";
/* Moments of inertia about the axes: 0.03 + 2 0.09 and 0.05 + 0.25; 1 / dt^2 = 100. */
#define FIRST (100 * 0.21)
#define SECOND (100 * 0.30)

typedef struct {
  Run* run;
  StepAdjoint* adjoint;
  double q[2][2];   /* now, next */
  Pose pose[2][2];  /* the same */
  double bar[4][2]; /* by q: next, now, old, older */
  double pose_bar[4][2][3][4];
  ModelGradient gradient;
  StepAdjointReport report;
} Rig;

static StateBar bar_of(Rig* r, int k) { return (StateBar){r->pose_bar[k], r->bar[k]}; }

/* The bars at these angles after a step from rest, the derivative of the loss by the first 1, by the other 2. */
static void rig_turn(Rig* r, const char* scene, double first, double second) {
  memset(r, 0, sizeof *r);
  r->run = run_model("%s", scene);
  r->adjoint = step_adjoint_create(&r->run->model, 1);
  model_gradient_create(&r->gradient, &r->run->model);
  r->q[1][0] = first, r->q[1][1] = second;
  for (int k = 0; k < 2; k++) model_poses(&r->run->model, r->q[k], r->pose[k]);
  r->bar[0][0] = 1, r->bar[0][1] = 2;
  RecordedStep step = {.clock = {0.1, 0.1, 0, 0}, .q_next = r->q[1], .q_now = r->q[0], .q_old = r->q[0]};
  step.pose_next = r->pose[1], step.pose_now = step.pose_old = step.pose_older = r->pose[0];
  const double rate[2] = {0};
  step_adjoint_begin(r->adjoint);
  r->report =
      step_adjoint(r->adjoint, &step, bar_of(r, 0), rate, NULL, bar_of(r, 1), bar_of(r, 2), bar_of(r, 3), &r->gradient);
}

static void rig_run(Rig* r, double angle) { rig_turn(r, bars, angle, 0); }

static void rig_free(Rig* r) {
  step_adjoint_destroy(r->adjoint);
  model_gradient_destroy(&r->gradient);
  run_free(r->run);
}

/* lambda = -(1 / (w I1), 2 / (w I2)); what it hands to the poses at t is -w M S with M the bars' turning by lambda. */
static void step_adjoint_A1_lambda_in_closed_form(void** state) {
  (void)state;
  Rig r;
  rig_run(&r, 0);
  assert_true(r.report.sound);
  assert_false(r.report.indefinite || r.report.singular || r.report.contact_failed);
  compare_relative(r.report.largest_lambda, 2 / SECOND, 1e-12, "largest lambda");
  compare_near(r.report.residual, 0, 1e-12, "residual");
  const MassMoment* s = &r.run->model.links[1].moment;
  double lambda = -2 / SECOND;
  for (int j = 0; j < 4; j++) { /* M = lambda [z]x: rows (0, -l), (l, 0), 0 */
    compare_near(r.pose_bar[1][1][0][j], -100 * -lambda * s->s[1][j], 1e-12, "row x, column %d", j);
    compare_near(r.pose_bar[1][1][1][j], -100 * lambda * s->s[0][j], 1e-12, "row y, column %d", j);
    compare_near(r.pose_bar[1][1][2][j], 0, 0, "row z, column %d", j);
    compare_near(r.pose_bar[2][1][0][j], 0, 0, "the state before the first is not looked at");
  }
  rig_free(&r);
}

static void step_adjoint_reports_an_indefinite_hessian(void** state) {
  (void)state;
  Rig r;
  rig_run(&r, acos(-1.0));
  assert_true(r.report.sound && r.report.indefinite);
  assert_false(r.report.singular);
  compare_relative(r.report.eigenvalue, -FIRST, 1e-10, "eigenvalue nearest to zero");
  compare_relative(r.report.largest_lambda, 2 / SECOND, 1e-12, "largest lambda");
  const MassMoment* s = &r.run->model.links[0].moment; /* lambda = +1 / (w I1); the bar points backwards */
  compare_relative(r.pose_bar[1][0][1][0], 100 / FIRST * s->s[0][0], 1e-10, "bar of the first bar's pose");
  rig_free(&r);
}

/* Just past a quarter turn the Hessian is rounding of its terms, and negative. A body is judged by itself: the other's
 * entries say nothing of what is small here, so it counts as indefinite, with the eigenvalue that tells how near. */
static void step_adjoint_reports_a_hessian_near_zero(void** state) {
  (void)state;
  Rig r;
  rig_run(&r, 0.5 * acos(-1.0) + 2e-15); /* just below zero: what Cholesky takes is not looked at */
  assert_true(r.report.indefinite);
  compare_near(r.report.eigenvalue, 0, 1e-14 * SECOND, "eigenvalue nearest to zero");
  compare_relative(r.report.residual, FIRST, 1e-10, "residual: the torque of a quarter turn");
  rig_free(&r);
}

/* A second bar on the first one's end, balanced on its own hinge and turned back to where it was: with A and I the
 * moments of the first (the second's mass included) and of the second, the Hessian is w [[A cos + I, I], [I, I]], of
 * determinant w^2 A I cos: zero at a quarter turn, to rounding of I. */
static const char balanced[] =
    "simulation: {dt: 0.1, steps: 1, gravity: [0, 0, 0], integrator: first_order}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: first, mass: 2, center: [0.3, 0, 0], inertia: [0.01, 0.02, 0.03, 0, 0, 0], joint: {type: hinge, axis: "
    "[0, 0, 1]}}\n"
    "  - {name: second, parent: first, mass: 1, center: [0, 0, 0], inertia: [0.03, 0.02, 0.05, 0, 0, 0], joint: {type: "
    "hinge, axis: [0, 0, 1], position: [0.5, 0, 0]}}\n";

static void step_adjoint_reports_a_singular_hessian(void** state) {
  (void)state;
  Rig r;
  double quarter = 0.5 * acos(-1.0) + 2e-15;
  rig_turn(&r, balanced, quarter, -quarter);
  assert_false(r.report.sound);
  assert_true(r.report.singular && r.report.indefinite);
  compare_near(r.report.eigenvalue, 0, 1e-14 * SECOND, "eigenvalue nearest to zero");
  rig_free(&r);
}

/* A record says that hulls touch which are apart. */
static void step_adjoint_reports_contact_that_is_not_there(void** state) {
  (void)state;
  Run* run = run_model(
      "simulation: {integrator: first_order}\n"
      "links:\n"
      "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
      "  - {name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 1]}\n");
  const Model* m = &run->model;
  StepAdjoint* adjoint = step_adjoint_create(m, 1);
  ModelGradient gradient;
  model_gradient_create(&gradient, m);
  Pose pose[2];
  model_poses(m, m->initial_coordinates, pose);
  /* of the law's numbers the plane comes first: origin, normal, offset */
  ContactRecord record = {.hull_a = 1, .hull_b = 0, .active = true, .kept = {[5] = -0.99, [6] = 0.4}};
  RecordedStep step = {.clock = {0.1, 0.1, 0, 0}, .q_next = m->initial_coordinates, .q_now = m->initial_coordinates};
  step.q_old = m->initial_coordinates;
  step.pose_next = step.pose_now = step.pose_old = step.pose_older = pose;
  step.contacts_next = &record, step.contact_count_next = 1;
  double pose_bar[2][3][4] = {{{0}}}, q_bar[6] = {0}, rate[6] = {0};
  StateBar bar = {pose_bar, q_bar};
  step_adjoint_begin(adjoint);
  StepAdjointReport report = step_adjoint(adjoint, &step, bar, rate, NULL, bar, bar, bar, &gradient);
  assert_false(report.sound);
  assert_true(report.contact_failed);
  step_adjoint_destroy(adjoint);
  step_adjoint_destroy(NULL);
  model_gradient_destroy(&gradient);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(step_adjoint_A1_lambda_in_closed_form),
      cmocka_unit_test(step_adjoint_reports_an_indefinite_hessian),
      cmocka_unit_test(step_adjoint_reports_a_hessian_near_zero),
      cmocka_unit_test(step_adjoint_reports_a_singular_hessian),
      cmocka_unit_test(step_adjoint_reports_contact_that_is_not_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
