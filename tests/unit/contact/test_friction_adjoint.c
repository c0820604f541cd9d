/* Tests derivatives of the friction force along a field (A7, A8, A13) against central differences. The variables are
 * vertices at both ends of a step, parameters and the pose of a half-space. The differences recompute plane at t,
 * weights, lag and slip. */
#include <stdio.h>
#include <string.h>

#include "support/pair_steps.h"
#include "support/sweep.h"

static bool friction_at(void* context, const double* x, double* y) {
  double phi[2];
  if (!pair_step_phi(context, x, phi)) return false;
  *y = phi[1];
  return true;
}

static void check_step(PairStep* s, double tolerance, const char* what) {
  int n = pair_step_inputs(s);
  double *row = MEMORY_NEW(double, n), *other = MEMORY_NEW(double, n), *unit = MEMORY_NEW(double, n);
  double phi[2], forward[2];
  assert_true(pair_step_phi(s, NULL, forward));
  pair_step_adjoint(s, phi, other, row);
  compare_relative(phi[1], forward[1], 1e-7, "%s: value", what);
  pair_step_units(s, unit);
  Sweep sweep = {friction_at, s, n, 1, NULL, unit, NULL, 0.2, 6, 4}; /* to where the slip's tolerance shows */
  sweep_expect(&sweep, row, 0, tolerance, "%s", what);
  memory_free(row);
  memory_free(other);
  memory_free(unit);
}

/* Sticking, where the slip is far below sqrt(eps); near it, with spin; sliding, far above; spinning; two bodies. */
static const PairMotion motions[] = {
    {.speed = 0.05, .spin = 0.02},
    {.speed = 0.8, .spin = 0.7, .approach = 0.1},
    {.speed = 20, .approach = -0.1},
    {.speed = 0.3, .spin = 15},
    {.speed = 3, .spin = 1, .approach = 0.1, .both = true},
};
enum { MOTIONS = sizeof motions / sizeof *motions };

static void friction_adjoint_A7_A8_for_every_kind_of_pair(void** state) {
  (void)state;
  Random random = {191};
  for (int kind = 0; kind < PAIR_KINDS; kind++)
    for (int m = 0; m < MOTIONS; m++) {
      if (kind == PAIR_RANDOM_512 || ((kind == PAIR_RANDOM_64 || kind == PAIR_UNEQUAL) && m != 1)) continue;
      PairStep s = pair_step_create((PairKind)kind, &motions[m], &random, 0.8);
      char what[100];
      snprintf(what, sizeof what, "seed 191, %s, motion %d", pair_kind_name((PairKind)kind), m);
      check_step(&s, 1e-6, what);
      pair_step_free(&s);
    }
}

/* Near the edge of contact (gap near 2 s / (1 - s)) and deep in it. */
static void friction_adjoint_A8_at_other_gaps(void** state) {
  (void)state;
  Random random = {192};
  static const PairKind kinds[] = {PAIR_VERTEX_FACE, PAIR_NEARLY_FACES, PAIR_RANDOM_17, PAIR_HALF_SPACE_FACE};
  static const double gaps[] = {0.2, 1.6};
  for (int k = 0; k < 4; k++)
    for (int g = 0; g < 2; g++) {
      PairStep s = pair_step_create(kinds[k], &motions[1], &random, gaps[g]);
      char what[100];
      snprintf(what, sizeof what, "seed 192, %s, gap %g", pair_kind_name(kinds[k]), gaps[g]);
      check_step(&s, 1e-6, what);
      pair_step_free(&s);
    }
}

/* One contact point: the spin of the plane is fixed, so the order is 2. */
static void friction_adjoint_A7_at_one_point(void** state) {
  (void)state;
  Random random = {193};
  for (int m = 0; m < MOTIONS; m++) {
    PairStep s = pair_step_tips(&motions[m], &random, 0.8);
    assert_int_equal(pair_step_slip_order(&s), 2);
    char what[100];
    snprintf(what, sizeof what, "seed 193, tips, motion %d", m);
    check_step(&s, 1e-6, what);
    pair_step_free(&s);
  }
}

/* The half-space translates and rotates from t to t + dt. */
static void friction_adjoint_A13_on_a_moving_half_space(void** state) {
  (void)state;
  Random random = {194};
  for (int k = 0; k < 2; k++)
    for (int m = 0; m < MOTIONS; m++) {
      PairMotion motion = motions[m];
      motion.ground = motion.both = true;
      PairStep s = pair_step_create(k ? PAIR_HALF_SPACE_RANDOM : PAIR_HALF_SPACE_FACE, &motion, &random, 0.7);
      assert_int_equal(pair_step_slip_order(&s), 2);
      char what[100];
      snprintf(what, sizeof what, "seed 194, half-space %d, motion %d", k, m);
      check_step(&s, 1e-6, what);
      pair_step_free(&s);
    }
}

/* Worked example of friction.md: weights 1 and 1 at one point, slips +-1.5, eps = 16. By symmetry the force on the
 * first body is half of its own Hessian times the change of its motion. With mu = dt = 1 this is dg/dx = 0.102611. */
static void friction_adjoint_A7_worked_example(void** state) {
  (void)state;
  double h = 16 / pow(18.25, 1.5);
  compare_near(0.5 * h, 0.102611, 1e-6, "half of h");
  FrictionVertex vertices[2] = {{.local = {0, 0, -0.005}, .weight = 1}, {.local = {0, 0, 0.005}, .weight = 1}};
  FrictionLag lag = {.e1 = {1, 0, 0}, .e2 = {0, 1, 0}, .normal = {0, 0, 1}, .count = {1, 1}, .vertices = vertices};
  lag.start[0] = lag.start[1] = pose_identity(), lag.order = 2, lag.length = 1, lag.total_weight = 2;
  FrictionParameters parameters = {.coefficient = 1, .smoothing = 16, .dt = 1};
  Pose moved = {mat3_identity(), vec3(3, 0, 0)}, still = pose_identity();
  PairDerivatives d;
  memset(&d, 0, sizeof d);
  double energy, twist[2][6] = {{0, 0, 0, 1, 0, 0}, {0}};
  assert_true(friction_evaluate(&lag, &parameters, &moved, &still, moved.t, still.t, &d, &energy) >= 0);
  PairBody now[2] = {{.hull = {.pose = still}}, {.hull = {.pose = still}}}, next[2] = {now[0], now[1]};
  next[0].hull.pose = moved;
  PlaneSolution plane = {.plane = {.n = {0, 0, 0.9}}, .norm_first = -1, .norm_second = 1};
  for (int side = 0; side < 2; side++) /* any that is definite: it does not matter at t + dt */
    for (int k = 0; k < 10; k++) plane.side[side].second[k] = k == 0 || k == 4 || k == 7 || k == 9;
  VertexShare share[2][1];
  ActiveVertex room[3];
  ActiveSides then = {.vertices = room};
  PairShares out = {.share = {share[0], share[1]}};
  friction_adjoint(&lag, &parameters, 0.01, now, next, false, &plane, twist, NULL, &then, &out);
  compare_near(out.value, 1.5 / sqrt(18.25), 1e-12, "force along the motion");
  compare_near(out.move_now[0].x, -0.5 * h, 1e-12, "by the body's displacement at t");
  compare_near(out.move_now[1].x, 0.5 * h, 1e-12, "by the other's");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(friction_adjoint_A7_A8_for_every_kind_of_pair),
      cmocka_unit_test(friction_adjoint_A8_at_other_gaps),
      cmocka_unit_test(friction_adjoint_A7_at_one_point),
      cmocka_unit_test(friction_adjoint_A13_on_a_moving_half_space),
      cmocka_unit_test(friction_adjoint_A7_worked_example),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
