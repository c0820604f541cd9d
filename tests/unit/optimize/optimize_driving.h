/* Helpers of the optimizer tests: losses with known minima, and the optimization loop. */
#ifndef SDRS_TESTS_OPTIMIZE_DRIVING_H
#define SDRS_TESTS_OPTIMIZE_DRIVING_H

#include "optimize_testing.h"

static inline TaskOptimizer test_settings(TaskOptimizerType type) {
  return (TaskOptimizer){.type = type,
                         .iterations = 1000,
                         .design_step = 0.1,
                         .control_step = 0.1,
                         .norm = NORM_INFINITY,
                         .beta1 = 0.9,
                         .beta2 = 0.999,
                         .epsilon = 1e-8,
                         .memory = 8,
                         .schedule = SCHEDULE_CONSTANT,
                         .decay = 1,
                         .decay_every = 1,
                         .clip = HUGE_VAL,
                         .discount = 1,
                         .shrink = 0.5,
                         .grow = 1.5};
}

/* Loss at x and its gradient. */
typedef double (*TestLoss)(const void* context, int count, const double* x, double* gradient);

/* 1/2 (x - centre)^T H (x - centre), H = B^T B + I: strongly convex with constant 1. */
typedef struct {
  double centre[TEST_COUNT_MAX], h[TEST_COUNT_MAX][TEST_COUNT_MAX];
} TestQuadratic;

static inline TestQuadratic* test_quadratic_create(Random* random, int count) {
  TestQuadratic* q = memory_alloc(sizeof *q);
  static double b[TEST_COUNT_MAX][TEST_COUNT_MAX];
  for (int i = 0; i < count; i++) {
    q->centre[i] = random_uniform(random, -2, 2);
    for (int j = 0; j < count; j++) b[i][j] = random_normal(random) / sqrt(count);
  }
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++) {
      q->h[i][j] = i == j;
      for (int k = 0; k < count; k++) q->h[i][j] += b[k][i] * b[k][j];
    }
  return q;
}

static inline double test_quadratic(const void* context, int count, const double* x, double* gradient) {
  const TestQuadratic* q = context;
  double loss = 0;
  for (int i = 0; i < count; i++) {
    gradient[i] = 0;
    for (int j = 0; j < count; j++) gradient[i] += q->h[i][j] * (x[j] - q->centre[j]);
    loss += 0.5 * gradient[i] * (x[i] - q->centre[i]);
  }
  return loss;
}

/* Returns an upper bound on the distance of x from the minimum over the set. By strong convexity the bound is the norm
 * of the gradient's component outside of the normal cone. The norm is within sqrt(count) of the largest entry, which
 * the reference computes. */
static inline double test_distance_bound(const TestSet* t, const double* gradient, const double* x, double near) {
  TestCone* cone = memory_alloc(sizeof *cone);
  double minus[TEST_COUNT_MAX];
  for (int i = 0; i < t->set.count; i++) minus[i] = -gradient[i];
  test_cone_normals(cone, t, x, near);
  double residual = test_cone_residual(cone, minus);
  memory_free(cone);
  return residual * sqrt(t->set.count);
}

typedef struct {
  int accepted, rejected;
  bool gave_up;
  double loss;
} TestDrive;

/* x is the start and the result; in the set. Each trial must be in the set too. with_rejected: the optimizer receives
 * the gradients of rejected trials. */
static inline TestDrive test_drive_with(Optimizer* optimizer, const TestSet* t, TestLoss function, const void* context,
                                        int trials, bool with_rejected, double* x) {
  int count = t->set.count;
  double gradient[TEST_COUNT_MAX], trial[TEST_COUNT_MAX], trial_gradient[TEST_COUNT_MAX];
  TestDrive drive = {.loss = function(context, count, x, gradient)};
  for (int k = 0; k < trials && !drive.gave_up; k++) {
    optimizer_propose(optimizer, x, drive.loss, gradient, trial);
    test_expect_inside(t, trial, 1e-11, "trial", k);
    double loss = function(context, count, trial, trial_gradient);
    bool accepted = !optimizer_descends(optimizer) || loss < drive.loss;
    if (!accepted && with_rejected && optimizer_uses_rejected(optimizer))
      optimizer_reject(optimizer, &(LossAtPoint){x, drive.loss, gradient}, &(LossAtPoint){trial, loss, trial_gradient});
    drive.gave_up = !optimizer_report_outcome(optimizer, accepted, loss);
    if (accepted) {
      drive.loss = loss;
      memcpy(x, trial, sizeof(double) * (size_t)count);
      memcpy(gradient, trial_gradient, sizeof(double) * (size_t)count);
    }
    drive.accepted += accepted;
    drive.rejected += !accepted;
  }
  return drive;
}

/* Does the same as test_drive_with, with the gradients of rejected trials. */
static inline TestDrive test_drive(Optimizer* optimizer, const TestSet* t, TestLoss function, const void* context,
                                   int trials, double* x) {
  return test_drive_with(optimizer, t, function, context, trials, true, x);
}

#endif
