/* Tests derivatives of a joint's gradient by the previous state, targets and their rates (A3) against central
 * differences of joint_terms. Covers every joint type, several drives, damping, both integrators and large rotations.
 * Also tests how differences and targets pass derivatives on. */
#include "simulate/terms.h"

#include <stdio.h>
#include <string.h>

#include "support/bodies.h"
#include "support/joints.h"
#include "support/sweep.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
enum { DRIVES = 3 };

/* Weights of the steps of both integrators, dt = 0.01 (step.md, S3). */
static const StepWeights schemes[] = {
    {1, 1, 0, 0, 1, 100, 0}, {1, 2, -1, 0, 0, 100, 0}, {2, 3, -2, 0, -1, 150, 50}, {2, 2.5, -2, 0.5, 0, 150, 50}};

typedef struct {
  int slides;
  int rotation;
} Kind;
static const Kind kinds[] = {{1, 0}, {3, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 1}, {3, 3}};

typedef struct {
  ModelLink link;
  double q[JOINT_MAX_COORDINATE], q_now[JOINT_MAX_COORDINATE], difference_old[JOINT_MAX_DOF];
  JointDrive drives[DRIVES];
  StepWeights weights;
  SpringTimeWeights spring;
  double rate_past, rate_before[JOINT_MAX_DOF];
} Driven;

static void link_set(ModelLink* link, Kind kind) { *link = link_of(kind.slides, kind.rotation); }

/* q moved by a rotation of exactly `angle` and slides of this size. */
static void move(const ModelLink* link, const double* q, double angle, Random* random, double* out) {
  double d[JOINT_MAX_DOF] = {0};
  Vec3 axis = random_direction(random);
  int plain = link->joint.scalar_count;
  for (int k = 0; k < plain; k++) d[k] = angle * random_normal(random);
  joint_increment(&link->joint, q, d, out);
  if (!link->joint.quaternion) return;
  const double* at = q + plain;
  Quat turned = quat_mul((Quat){at[0], at[1], at[2], at[3]}, quat_about(axis, angle));
  out[plain] = turned.w, out[plain + 1] = turned.x, out[plain + 2] = turned.y, out[plain + 3] = turned.z;
}

/* step: rotation from q^t to q; far: from the targets to q [rad]. */
static void joint_set(Driven* j, Kind kind, const StepWeights* weights, double step, double far, Random* random) {
  memset(j, 0, sizeof *j);
  link_set(&j->link, kind);
  j->weights = *weights;
  j->spring = (SpringTimeWeights){0.3, 0.2, 0.1};
  j->rate_past = 0.3;
  joint_zero(&j->link.joint, j->q_now);
  move(&j->link, j->q_now, 1.3, random, j->q_now);
  move(&j->link, j->q_now, step, random, j->q);
  for (int k = 0; k < j->link.dof_count; k++) {
    j->link.damping[k] = 0.3 + 0.1 * k;
    j->difference_old[k] = step * random_normal(random);
    j->rate_before[k] = random_normal(random);
  }
  for (int c = 0; c < DRIVES; c++) {
    move(&j->link, j->q, c == 0 ? far : 0.4 * c, random, j->drives[c].target);
    for (int k = 0; k < j->link.dof_count; k++) {
      j->drives[c].target_rate[k] = random_normal(random);
      j->drives[c].position_gain[k] = 5 + k;
      j->drives[c].velocity_gain[k] = 0.01 * (1 + k);
      j->drives[c].damping_gain[k] = 0.1 * (1 + c + k);
    }
  }
}

static JointInput input_of(const Driven* j) {
  return (JointInput){&j->link, j->q, j->q_now,  j->difference_old, j->drives,      DRIVES, 0.01, j->weights,
                      NULL,     0,    j->spring, j->rate_past,      j->rate_before, NULL,   NULL};
}

/* ---------------------------------------------------------------- joint_adjoint */

/* Number of inputs of a joint with n degrees of freedom. */
static int input_count(int n) { return n * (3 + 2 * DRIVES) + 1; }

/* x: increments of q^t, then the difference before, then of every drive the target's increments and its rate, then the
 * rate before, then theta of the dampers. */
static bool gradient_at(void* context, const double* x, double* y) {
  const Driven* base = context;
  Driven j = *base;
  int n = j.link.dof_count;
  joint_increment(&j.link.joint, base->q_now, x, j.q_now);
  for (int k = 0; k < n; k++) j.difference_old[k] += x[n + k];
  for (int c = 0; c < DRIVES; c++) {
    const double* own = x + 2 * n + 2 * n * c;
    joint_increment(&j.link.joint, base->drives[c].target, own, j.drives[c].target);
    for (int k = 0; k < n; k++) j.drives[c].target_rate[k] += own[n + k];
  }
  for (int k = 0; k < n; k++) j.rate_before[k] += x[(2 + 2 * DRIVES) * n + k];
  j.rate_past -= x[(3 + 2 * DRIVES) * n];
  JointInput in = input_of(&j);
  JointTerms terms;
  if (!joint_terms(&in, true, &terms)) return false;
  memcpy(y, terms.gradient, sizeof(double) * (size_t)n);
  return true;
}

static void row_of(const Driven* j, const double* lambda, double* row) {
  double target[DRIVES][JOINT_MAX_DOF], target_rate[DRIVES][JOINT_MAX_DOF], push[DRIVES][JOINT_MAX_DOF];
  double gain[DRIVES][JOINT_GAIN_KINDS][JOINT_MAX_DOF];
  JointBars shares = {.target = target, .target_rate = target_rate, .push = push, .gains = gain};
  JointInput in = input_of(j);
  size_t n = (size_t)j->link.dof_count, bytes = sizeof(double) * n;
  joint_adjoint(&in, lambda, &shares);
  memcpy(row, shares.now, bytes);
  memcpy(row + n, shares.difference_old, bytes);
  for (size_t c = 0; c < DRIVES; c++) {
    memcpy(row + (2 + 2 * c) * n, target[c], bytes);
    memcpy(row + (3 + 2 * c) * n, target_rate[c], bytes);
  }
  memcpy(row + (2 + 2 * DRIVES) * n, shares.rate_before, bytes);
  row[(3 + 2 * DRIVES) * n] = shares.damper_theta;
}

static void check_joint(Driven* j, const char* what) {
  int n = j->link.dof_count, inputs = input_count(n);
  double* jacobian = MEMORY_NEW(double, n* inputs);
  for (int row = 0; row < n; row++) {
    double lambda[JOINT_MAX_DOF] = {0};
    lambda[row] = 1;
    row_of(j, lambda, jacobian + row * inputs);
  }
  Sweep sweep = {gradient_at, j, inputs, n, NULL, NULL, NULL, 0.02, 5, 7};
  sweep_expect(&sweep, jacobian, 0, 1e-8, "%s", what);
  memory_free(jacobian);
}

/* Small steps as in a run, and rotations on both sides of where the rotation vector's series ends (1.4455 rad). */
static void joint_adjoint_A3_matches_central_differences(void** state) {
  (void)state;
  Random random = {171};
  static const double steps[] = {0, 0.03, 1.4, 1.5, 2.5}, fars[] = {0, 1.4, 1.5, 2.8};
  for (int k = 0; k < COUNT(kinds); k++)
    for (int s = 0; s < COUNT(schemes); s++)
      for (int a = 0; a < COUNT(steps); a++)
        for (int b = 0; b < COUNT(fars); b++) {
          Driven j;
          char what[120];
          joint_set(&j, kinds[k], &schemes[s], steps[a], fars[b], &random);
          snprintf(what, sizeof what, "seed 171, %d slides and rotation %d, scheme %d, step %g, target at %g",
                   kinds[k].slides, kinds[k].rotation, s, steps[a], fars[b]);
          check_joint(&j, what);
          for (int i = 0; i < JOINT_MAX_DOF; i++) { /* the targets alone, which the rates' gains outweigh */
            j.link.damping[i] = 0;
            for (int c = 0; c < DRIVES; c++) j.drives[c].velocity_gain[i] = j.drives[c].damping_gain[i] = 0;
          }
          check_joint(&j, what);
        }
}

/* It is linear in lambda, and a limit, which depends on q alone, adds nothing. */
static void joint_adjoint_is_linear_and_does_not_see_limits(void** state) {
  (void)state;
  Random random = {172};
  for (int k = 0; k < COUNT(kinds); k++) {
    Driven j;
    joint_set(&j, kinds[k], &schemes[3], 0.1, 1, &random);
    int n = j.link.dof_count, inputs = input_count(n);
    double lambda[2][JOINT_MAX_DOF], sum[JOINT_MAX_DOF], row[3][JOINT_MAX_DOF * (3 + 2 * DRIVES) + 1];
    for (int i = 0; i < n; i++) {
      lambda[0][i] = random_normal(&random), lambda[1][i] = random_normal(&random);
      sum[i] = lambda[0][i] - 3 * lambda[1][i];
    }
    row_of(&j, lambda[0], row[0]);
    row_of(&j, lambda[1], row[1]);
    for (int i = 0; i < n; i++) {
      j.link.limited[i] = true;
      j.link.lower[i] = -4, j.link.upper[i] = 4;
    }
    j.link.limit_law = LIMIT_PENALTY, j.link.limit_stiffness = 10, j.link.limit_margin = 1;
    row_of(&j, sum, row[2]);
    for (int i = 0; i < inputs; i++) row[0][i] -= 3 * row[1][i];
    compare_arrays(row[2], row[0], inputs, 1e-13, "seed 172, kind %d", k);
  }
}

/* The numbers of step.md's S4, S5 with their derivatives by hand: torque k_p (q - u) + (k + c) rate - k u',
 * k = 0.04 / dt = 4, a = 100. */
static void joint_adjoint_A3_worked_example(void** state) {
  (void)state;
  Driven j;
  memset(&j, 0, sizeof j);
  link_set(&j.link, (Kind){0, 1});
  j.link.damping[0] = 0.3;
  j.q_now[0] = 0.1, j.q[0] = 0.12, j.weights = schemes[0];
  j.drives[0] = (JointDrive){.target = {0.5}, .target_rate = {1}, .position_gain = {10}, .velocity_gain = {0.04}};
  double row[3 + 2 * DRIVES + 1], lambda[1] = {2};
  row_of(&j, lambda, row);
  compare_near(row[0], 2 * -100 * (4 + 0.3), 1e-10, "by q^t");
  compare_near(row[1], 0, 0, "by the difference before: not of this scheme");
  compare_near(row[2], 2 * -10, 1e-13, "by the target");
  compare_near(row[3], 2 * -4, 1e-13, "by its rate");
}

/* ---------------------------------------------------------------- differences and targets */

typedef struct {
  ModelLink link;
  double from[JOINT_MAX_COORDINATE], to[JOINT_MAX_COORDINATE], zero[JOINT_MAX_DOF];
} Two;

static bool difference_at(void* context, const double* x, double* y) {
  const Two* t = context;
  double from[JOINT_MAX_COORDINATE], to[JOINT_MAX_COORDINATE];
  joint_increment(&t->link.joint, t->from, x, from);
  joint_increment(&t->link.joint, t->to, x + t->link.dof_count, to);
  joint_difference(&t->link.joint, from, to, y);
  return true;
}

static void joint_difference_adjoint_A3_matches_central_differences(void** state) {
  (void)state;
  Random random = {173};
  static const double angles[] = {0, 1e-3, 0.5, 1.4, 1.5, 3};
  for (int k = 0; k < COUNT(kinds); k++)
    for (int a = 0; a < COUNT(angles); a++) {
      Two t = {.zero = {0}};
      link_set(&t.link, kinds[k]);
      joint_zero(&t.link.joint, t.from);
      move(&t.link, t.from, 1, &random, t.from);
      move(&t.link, t.from, angles[a], &random, t.to);
      int n = t.link.dof_count;
      double jacobian[2 * JOINT_MAX_DOF * JOINT_MAX_DOF] = {0};
      for (int row = 0; row < n; row++) {
        double bar[JOINT_MAX_DOF] = {0};
        bar[row] = 1;
        joint_difference_adjoint(&t.link.joint, t.from, t.to, bar, jacobian + 2 * n * row, jacobian + 2 * n * row + n);
      }
      Sweep sweep = {difference_at, &t, 2 * n, n, NULL, NULL, NULL, 0.02, 5, 7};
      sweep_expect(&sweep, jacobian, 0, 1e-9, "seed 173, %d slides and rotation %d, angle %g", kinds[k].slides,
                   kinds[k].rotation, angles[a]);
    }
}

/* Increments of q and changes of d, to increments of where that leads. */
typedef struct {
  ModelLink link;
  double q[JOINT_MAX_COORDINATE], d[JOINT_MAX_DOF], to[JOINT_MAX_COORDINATE], factor;
} Going;

static bool continued_at(void* context, const double* x, double* y) {
  const Going* g = context;
  int n = g->link.dof_count;
  double q[JOINT_MAX_COORDINATE], d[JOINT_MAX_DOF];
  joint_increment(&g->link.joint, g->q, x, q);
  for (int k = 0; k < n; k++) d[k] = g->d[k] + x[n + k];
  joint_extrapolate(&g->link.joint, q, d, g->factor, q);
  joint_difference(&g->link.joint, g->to, q, y);
  return true;
}

static void joint_continue_adjoint_W13_matches_central_differences(void** state) {
  (void)state;
  Random random = {175};
  static const double factors[] = {-1, -0.5, 1, 2.5};
  for (int k = 0; k < COUNT(kinds); k++)
    for (int trial = 0; trial < COUNT(factors); trial++) {
      Going g = {.factor = factors[trial]};
      link_set(&g.link, kinds[k]);
      int n = g.link.dof_count;
      joint_zero(&g.link.joint, g.q);
      move(&g.link, g.q, 1, &random, g.q);
      for (int i = 0; i < n; i++) g.d[i] = 0.4 * random_normal(&random);
      joint_extrapolate(&g.link.joint, g.q, g.d, g.factor, g.to);
      double jacobian[2 * JOINT_MAX_DOF * JOINT_MAX_DOF] = {0};
      for (int row = 0; row < n; row++) {
        double bar[JOINT_MAX_DOF] = {0};
        bar[row] = 1;
        joint_continue_adjoint(&g.link.joint, g.d, g.factor, bar, jacobian + 2 * n * row, jacobian + 2 * n * row + n);
      }
      Sweep sweep = {continued_at, &g, 2 * n, n, NULL, NULL, NULL, 0.02, 5, 7};
      sweep_expect(&sweep, jacobian, 0, 1e-9, "seed 175, %d slides and rotation %d, factor %g", kinds[k].slides,
                   kinds[k].rotation, g.factor);
    }
}

typedef struct {
  ModelLink link;
  double value[JOINT_MAX_DOF], rate[JOINT_MAX_DOF], target[JOINT_MAX_COORDINATE];
} Aim;

/* From changes of a signal's value and rate to increments of the target and the rate in link axes. */
static bool target_at(void* context, const double* x, double* y) {
  const Aim* aim = context;
  int n = aim->link.dof_count, k = aim->link.joint.scalar_count;
  double value[JOINT_MAX_DOF], rate[JOINT_MAX_DOF], target[JOINT_MAX_COORDINATE];
  for (int i = 0; i < n; i++) value[i] = aim->value[i] + x[i], rate[i] = aim->rate[i] + x[n + i];
  joint_coordinates_from_target(&aim->link.joint, value, target);
  joint_difference(&aim->link.joint, aim->target, target, y);
  if (aim->link.joint.quaternion) {
    Vec3 w = rotation_rate(vec3(value[k], value[k + 1], value[k + 2]), vec3(rate[k], rate[k + 1], rate[k + 2]));
    rate[k] = w.x, rate[k + 1] = w.y, rate[k + 2] = w.z;
  }
  memcpy(y + n, rate, sizeof(double) * (size_t)n);
  return true;
}

static void joint_target_adjoint_A3_matches_central_differences(void** state) {
  (void)state;
  Random random = {174};
  for (int k = 0; k < COUNT(kinds); k++)
    for (int trial = 0; trial < 6; trial++) {
      Aim aim;
      memset(&aim, 0, sizeof aim);
      link_set(&aim.link, kinds[k]);
      int n = aim.link.dof_count;
      for (int i = 0; i < n; i++) { /* trial 0: at zero, where J_r is a series */
        aim.value[i] = 0.5 * trial * random_normal(&random);
        aim.rate[i] = random_normal(&random);
      }
      joint_coordinates_from_target(&aim.link.joint, aim.value, aim.target);
      double jacobian[4 * JOINT_MAX_DOF * JOINT_MAX_DOF];
      for (int row = 0; row < 2 * n; row++) {
        double bar[2 * JOINT_MAX_DOF] = {0}, *own = jacobian + 2 * n * row;
        bar[row] = 1;
        joint_target_adjoint(&aim.link.joint, aim.value, aim.rate, bar, bar + n, own, own + n);
      }
      Sweep sweep = {target_at, &aim, 2 * n, 2 * n, NULL, NULL, NULL, 0.05, 5, 7};
      sweep_expect(&sweep, jacobian, 0, 1e-9, "seed 174, %d slides and rotation %d, trial %d", kinds[k].slides,
                   kinds[k].rotation, trial);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joint_adjoint_A3_matches_central_differences),
      cmocka_unit_test(joint_adjoint_is_linear_and_does_not_see_limits),
      cmocka_unit_test(joint_adjoint_A3_worked_example),
      cmocka_unit_test(joint_difference_adjoint_A3_matches_central_differences),
      cmocka_unit_test(joint_continue_adjoint_W13_matches_central_differences),
      cmocka_unit_test(joint_target_adjoint_A3_matches_central_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
