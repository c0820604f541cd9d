#include "optimize_driving.h"

/* (1 - x)^2 + 100 (y - x^2)^2, minimum 0 at (1, 1). */
static double rosenbrock(const void* context, int count, const double* x, double* gradient) {
  (void)context;
  assert_int_equal(count, 2);
  double a = 1 - x[0], b = x[1] - x[0] * x[0];
  gradient[0] = -2 * a - 400 * x[0] * b;
  gradient[1] = 200 * b;
  return a * a + 100 * b * b;
}

static void rosenbrock_is_solved(void** state) {
  (void)state;
  TestSet* t = test_set_create(2, 0);
  t->block[1] = 1;
  TaskOptimizer s = test_settings(OPTIMIZER_LBFGS);
  s.control_step = 0.2;
  Optimizer* optimizer = optimizer_create(&s, &t->set);
  double x[2] = {-1.2, 1};
  TestDrive drive = test_drive(optimizer, t, rosenbrock, NULL, 120, x);
  compare_arrays(x, (double[]){1, 1}, 2, 1e-7, "minimum after %d + %d trials", drive.accepted, drive.rejected);
  compare_at_most(drive.loss, 1e-15, "loss");
  optimizer_destroy(optimizer);
  memory_free(t);
}

/* x <= 1/2 holds: the minimum is then at y = x^2 = 1/4. With x + y = 1 instead: on the line, where a cubic says. */
static void rosenbrock_with_bounds_and_rows(void** state) {
  (void)state;
  TestSet* t = test_set_create(2, 0);
  t->high[0] = 0.5;
  TaskOptimizer s = test_settings(OPTIMIZER_LBFGS);
  Optimizer* optimizer = optimizer_create(&s, &t->set);
  double x[2] = {-1.2, 1};
  test_drive(optimizer, t, rosenbrock, NULL, 120, x);
  compare_near(x[0], 0.5, 0, "at the bound");
  compare_near(x[1], 0.25, 1e-9, "best there");
  optimizer_destroy(optimizer);
  memory_free(t);

  t = test_set_create(2, 1);
  t->dense[0][0] = t->dense[0][1] = 1;
  t->row_low[0] = t->row_high[0] = 1;
  test_set_pack(t);
  optimizer = optimizer_create(&s, &t->set);
  double start[2] = {0.2, 0.8}; /* the other valley of the line, at x = -1.6, is further */
  test_drive(optimizer, t, rosenbrock, NULL, 120, start);
  /* d/dx of (1-x)^2 + 100 (1 - x - x^2)^2 = 0, by bisection between 0.5 and 1. */
  double low = 0.5, high = 1;
  for (int k = 0; k < 100; k++) {
    double m = 0.5 * (low + high), slope = -2 * (1 - m) - 200 * (1 - m - m * m) * (1 + 2 * m);
    *(slope < 0 ? &low : &high) = m;
  }
  compare_near(start[0], low, 1e-7, "on the line");
  optimizer_destroy(optimizer);
  memory_free(t);
}

/* In one variable the secant of a quadratic is its curvature: the second step is Newton's. */
static void O9_second_step_of_a_line_is_newtons(void** state) {
  (void)state;
  TestSet* t = test_set_create(1, 0);
  TaskOptimizer s = test_settings(OPTIMIZER_LBFGS);
  s.design_step = 0.25;
  Optimizer* optimizer = optimizer_create(&s, &t->set);
  /* Loss 3 (x - 2)^2. First as far as the bound allows; then the secant is exact. */
  double x[1] = {1.7}, g[1] = {6 * (1.7 - 2)}, trial[1];
  optimizer_propose(optimizer, x, 0, g, trial);
  compare_near(trial[0], 1.95, 1e-15, "first step: the bound");
  optimizer_report_outcome(optimizer, true, 0);
  x[0] = trial[0];
  g[0] = 6 * (x[0] - 2);
  optimizer_propose(optimizer, x, 0, g, trial);
  compare_near(trial[0], 2, 1e-14, "second step: the minimum");
  /* Refused: shorter, though the bound was far away. */
  optimizer_report_outcome(optimizer, false, 0);
  optimizer_propose(optimizer, x, 0, g, trial);
  compare_at_most(trial[0] - x[0], 0.025 * (1 + 1e-6), "at most half of it");
  compare_at_most(0.0125, trial[0] - x[0], "and more than a quarter");
  optimizer_destroy(optimizer);
  memory_free(t);
}

/* The two loops against the BFGS matrix itself, updated pair by pair:
 *   H <- (I - r s y^T) H (I - r y s^T) + r s s^T,  r = 1 / s.y,  from H = (s.y / y.y) I of the newest pair. */
static void O9_two_loops_match_the_matrix(void** state) {
  (void)state;
  enum { N = 4, MEMORY = 3, STEPS = 7 };
  Random random = {51};
  TestSet* t = test_set_create(N, 0);
  TestQuadratic* q = test_quadratic_create(&random, N);
  TaskOptimizer s = test_settings(OPTIMIZER_LBFGS);
  s.memory = MEMORY;
  s.design_step = 1e3; /* no cap, so that the direction itself is seen */
  Optimizer* optimizer = optimizer_create(&s, &t->set);
  double xs[STEPS][N], gs[STEPS][N], trial[N];
  for (int k = 0; k < STEPS; k++) {
    for (int i = 0; i < N; i++) xs[k][i] = random_normal(&random);
    test_quadratic(q, N, xs[k], gs[k]);
    optimizer_propose(optimizer, xs[k], 0, gs[k], trial);
    optimizer_report_outcome(optimizer, true, 0);
  }
  double h[N][N] = {{0}}, left[N][N], next[N][N];
  for (int k = STEPS - MEMORY; k < STEPS; k++) {
    double sy = 0, yy = 0, step[N], change[N];
    for (int i = 0; i < N; i++) {
      step[i] = xs[k][i] - xs[k - 1][i];
      change[i] = gs[k][i] - gs[k - 1][i];
      sy += step[i] * change[i];
      yy += change[i] * change[i];
    }
    if (k == STEPS - MEMORY) {
      double last_sy = 0, last_yy = 0;
      for (int i = 0; i < N; i++) {
        double a = xs[STEPS - 1][i] - xs[STEPS - 2][i], b = gs[STEPS - 1][i] - gs[STEPS - 2][i];
        last_sy += a * b;
        last_yy += b * b;
      }
      for (int i = 0; i < N; i++) h[i][i] = last_sy / last_yy;
    }
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        left[i][j] = h[i][j];
        for (int m = 0; m < N; m++) left[i][j] -= step[i] * change[m] / sy * h[m][j];
      }
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        next[i][j] = left[i][j] + step[i] * step[j] / sy;
        for (int m = 0; m < N; m++) next[i][j] -= left[i][m] * change[m] * step[j] / sy;
      }
    memcpy(h, next, sizeof h);
  }
  for (int i = 0; i < N; i++) {
    double wanted = xs[STEPS - 1][i];
    for (int j = 0; j < N; j++) wanted -= h[i][j] * gs[STEPS - 1][j];
    compare_near(trial[i], wanted, 1e-10, "entry %d", i);
  }
  optimizer_destroy(optimizer);
  memory_free(q);
  memory_free(t);
}

/* On a plane n . x = c the direction equals that of the unconstrained problem in two orthonormal coordinates of the
 * plane. Without step limit, so that directions are compared. */
static void O9_direction_in_a_face_is_that_of_its_coordinates(void** state) {
  (void)state;
  enum { STEPS = 6 };
  Random random = {52};
  TestSet *space = test_set_create(3, 1), *plane = test_set_create(2, 0);
  TestQuadratic* q = test_quadratic_create(&random, 3);
  Vec3 n = vec3_normalized(vec3(1, -2, 0.5)), e[2] = {vec3_normalized(vec3_cross(n, vec3(0, 0, 1)))};
  e[1] = vec3_cross(n, e[0]);
  memcpy(space->dense[0], &n, sizeof n);
  space->row_low[0] = space->row_high[0] = 0.7;
  test_set_pack(space);
  TaskOptimizer s = test_settings(OPTIMIZER_LBFGS);
  s.design_step = 1e3;
  Optimizer *in_space = optimizer_create(&s, &space->set), *in_plane = optimizer_create(&s, &plane->set);
  for (int k = 0; k < STEPS; k++) {
    double u[2] = {random_normal(&random), random_normal(&random)}, x[3], g[3], h[2], trial[3], flat[2];
    Vec3 point = vec3_add_scaled(vec3_add_scaled(vec3_scale(n, 0.7), u[0], e[0]), u[1], e[1]);
    memcpy(x, &point, sizeof point);
    test_quadratic(q, 3, x, g);
    for (int i = 0; i < 2; i++) h[i] = vec3_dot(vec3(g[0], g[1], g[2]), e[i]);
    optimizer_propose(in_space, x, 0, g, trial);
    optimizer_propose(in_plane, u, 0, h, flat);
    Vec3 wanted = vec3_add_scaled(vec3_add_scaled(vec3_scale(n, 0.7), flat[0], e[0]), flat[1], e[1]);
    if (k > 0) compare_vec3(vec3(trial[0], trial[1], trial[2]), wanted, 1e-11, "after %d pairs", k);
    optimizer_report_outcome(in_space, true, 0);
    optimizer_report_outcome(in_plane, true, 0);
  }
  optimizer_destroy(in_space);
  optimizer_destroy(in_plane);
  memory_free(q);
  memory_free(space);
  memory_free(plane);
}

/* A pair along which the loss bends down would turn the direction uphill: it is left out, and the step goes down. */
static void pairs_without_curvature_are_left_out(void** state) {
  (void)state;
  TestSet* t = test_set_create(2, 0);
  TaskOptimizer s = test_settings(OPTIMIZER_LBFGS);
  Optimizer* optimizer = optimizer_create(&s, &t->set);
  double trial[2];
  optimizer_propose(optimizer, (double[]){0, 0}, 0, (double[]){1, 1}, trial);
  optimizer_report_outcome(optimizer, true, 0);
  double x[2] = {-0.1, -0.1}, g[2] = {2, 3}; /* s.y = -0.1 - 0.2 < 0 */
  optimizer_propose(optimizer, x, 0, g, trial);
  /* Steepest descent, as long as the bound: 1.5 x 0.1 in the largest entry. */
  compare_arrays(trial, (double[]){-0.2, -0.25}, 2, 1e-15, "steepest descent");
  optimizer_destroy(optimizer);
  memory_free(t);
}

/* At a corner that holds against the gradient, and where rows do, there is no step. */
static void stationary_points_stay(void** state) {
  (void)state;
  TestSet* t = test_set_create(3, 1);
  t->low[0] = 0;
  t->dense[0][1] = 1, t->dense[0][2] = 2;
  t->row_low[0] = 3;
  test_set_pack(t);
  TaskOptimizer s = test_settings(OPTIMIZER_LBFGS);
  Optimizer* optimizer = optimizer_create(&s, &t->set);
  double x[3] = {0, 1, 1}, g[3] = {5, 1, 2}, trial[3];
  optimizer_propose(optimizer, x, 0, g, trial);
  compare_bytes(trial, x, sizeof x, "no step");
  optimizer_destroy(optimizer);
  memory_free(t);
}

/* The weight of the gradient at the point, by a scan of the dual function. The step is then along the aggregate. */
static void O25_aggregate_has_the_weight_of_the_dual(void** state) {
  (void)state;
  TestSet* t = test_set_create(2, 0);
  TaskOptimizer s = test_settings(OPTIMIZER_LBFGS);
  for (int k = 0; k < 2; k++) { /* with units 1, and with units 4 and 1/2 */
    const double unit[2] = {k ? 4 : 1, k ? 0.5 : 1};
    Optimizer* optimizer = optimizer_create_scaled(&s, &t->set, unit);
    /* the loss 10 |x| - 2 y at (0.01, 0), in variables x / unit */
    double x[2] = {0.01 * unit[0], 0}, g[2] = {10 / unit[0], -2 / unit[1]}, trial[2];
    optimizer_propose(optimizer, x, 0.1, g, trial);
    double a = trial[0] / unit[0], b = trial[1] / unit[1], loss = 10 * fabs(a) - 2 * b;
    assert_true(a < 0 && loss > 0.1);
    double trial_gradient[2] = {-10 / unit[0], -2 / unit[1]};
    optimizer_reject(optimizer, &(LossAtPoint){x, 0.1, g}, &(LossAtPoint){trial, loss, trial_gradient});
    optimizer_report_outcome(optimizer, false, loss);
    optimizer_propose(optimizer, x, 0.1, g, trial);
    /* Without pairs H = step / |g|_inf, in units of the step: 0.1 / 10 in variables. */
    double best = HUGE_VAL, weight = 0, error = fabs(0.1 - loss - 10 * (a - 0.01) - 2 * b);
    for (int i = 0; i <= 100000; i++) {
      double w = i / 1e5, p = w * 10 - (1 - w) * 10, dual = 0.5 * 0.01 * (p * p + 4) + (1 - w) * error;
      if (dual < best) best = dual, weight = w;
    }
    double slope = (10 * (2 * weight - 1)) / -2;
    compare_near((trial[0] / unit[0] - 0.01) / (trial[1] / unit[1]), slope, 1e-3, "direction with units %d", k);
    optimizer_destroy(optimizer);
  }
  memory_free(t);
}

/* 10 |y - x^2| + (1 - x)^2: a curved valley with a kink at its bottom. Minimum 0 at (1, 1). */
static double kinked_valley(const void* context, int count, const double* x, double* gradient) {
  (void)context;
  assert_int_equal(count, 2);
  double d = x[1] - x[0] * x[0], side = d > 0 ? 10 : -10;
  gradient[0] = -2 * side * x[0] - 2 * (1 - x[0]);
  gradient[1] = side;
  return side * d + (1 - x[0]) * (1 - x[0]);
}

/* The gradients of rejected trials lower the loss after 80 trials, in the geometric mean over six starts. */
static void O25_follows_a_kink(void** state) {
  (void)state;
  TestSet* t = test_set_create(2, 0);
  TaskOptimizer s = test_settings(OPTIMIZER_LBFGS);
  double gain = 0;
  for (int start = 0; start < 6; start++)
    for (int with = 0; with < 2; with++) {
      Optimizer* optimizer = optimizer_create(&s, &t->set);
      double x[2] = {0.1 * start, 0.5};
      TestDrive drive = test_drive_with(optimizer, t, kinked_valley, NULL, 80, with == 1, x);
      gain += (with ? -1 : 1) * log(drive.loss) / 6;
      optimizer_destroy(optimizer);
    }
  compare_at_most(exp(-gain), 0.5, "loss with these gradients by loss without");
  memory_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rosenbrock_is_solved),
      cmocka_unit_test(rosenbrock_with_bounds_and_rows),
      cmocka_unit_test(O9_second_step_of_a_line_is_newtons),
      cmocka_unit_test(O9_two_loops_match_the_matrix),
      cmocka_unit_test(O9_direction_in_a_face_is_that_of_its_coordinates),
      cmocka_unit_test(pairs_without_curvature_are_left_out),
      cmocka_unit_test(stationary_points_stay),
      cmocka_unit_test(O25_aggregate_has_the_weight_of_the_dual),
      cmocka_unit_test(O25_follows_a_kink),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
