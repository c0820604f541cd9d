/* Tests controllers, limits and damping of a joint (S4-S7). Gradient and Hessian are compared with central differences
 * for every joint type, both limit laws and both integrators. Also tests the rotation vector's derivatives on both
 * branches and near pi. */
#include "simulate/terms.h"

#include <string.h>

#include "support/bodies.h"
#include "support/joints.h"
#include "support/sweep.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---------------------------------------------------------------- rotation vector */

typedef struct {
  Quat q;
} AtQuat;

static Quat turned(Quat q, const double* d) {
  return quat_mul(quat_mul(quat_mul(q, quat_about(vec3(1, 0, 0), d[0])), quat_about(vec3(0, 1, 0), d[1])),
                  quat_about(vec3(0, 0, 1), d[2]));
}

static bool rotation_vector_at(void* context, const double* d, double* y) {
  Vec3 v = quat_log(turned(((AtQuat*)context)->q, d)); /* linalg's own logarithm: a second method */
  y[0] = v.x, y[1] = v.y, y[2] = v.z;
  return true;
}

/* first derivatives at R Rx(d1) Ry(d2) Rz(d3), in these d: by chain rule from the increments there. */
static bool rotation_slope_at(void* context, const double* d, double* y) {
  const double h = 1e-5; /* fourth order: error h^4, rounding 1e-11 */
  for (int j = 0; j < 3; j++) {
    double value[4][3];
    const double at[4] = {-2 * h, -h, h, 2 * h};
    for (int k = 0; k < 4; k++) {
      double x[3] = {d[0], d[1], d[2]};
      x[j] += at[k];
      rotation_vector_at(context, x, value[k]);
    }
    for (int i = 0; i < 3; i++)
      y[3 * i + j] = (value[0][i] - 8 * value[1][i] + 8 * value[2][i] - value[3][i]) / (12 * h);
  }
  return true;
}

static void check_rotation_vector(double angle, Vec3 axis) {
  AtQuat at = {quat_about(axis, angle)};
  RotationVector r = rotation_vector_derivatives(at.q);
  Vec3 wanted = quat_log(at.q);
  compare_vec3(vec3(r.value[0], r.value[1], r.value[2]), wanted,
               1e-14 * (1 + 1 / fmax(M_PI - fabs(angle), 1e-8) * 1e-1), "angle %.17g: value", angle);
  const double unit[3] = {1, 1, 1};
  double room = M_PI - fabs(angle);
  Sweep first = {rotation_vector_at, &at, 3, 3, NULL, unit, NULL, fmin(0.1, 0.3 * room), 5, 8};
  sweep_expect(&first, &r.first[0][0], 0, 1e-8, "angle %.17g: first derivative", angle);
  double second[27];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) second[(3 * i + j) * 3 + k] = r.second[i][j][k];
  Sweep slope = {rotation_slope_at, &at, 3, 9, NULL, unit, NULL, fmin(0.1, 0.3 * room), 4, 6};
  sweep_expect(&slope, second, 0, 1e-6, "angle %.17g: second derivative", angle);
}

/* cos(angle / 2) = 0.75 is where the series ends: angle = 1.4454684956268313. */
static void rotation_vector_derivatives_match_central_differences(void** state) {
  (void)state;
  Random random = {61};
  static const double angles[] = {0, 1e-9, 1e-4, 0.3, 1.0, 1.4454684, 1.44546849, 1.4454686, 1.5, 2.5, 3.0, 3.1, 3.14};
  for (int k = 0; k < COUNT(angles); k++)
    for (int i = 0; i < 3; i++) {
      Vec3 axis = random_direction(&random);
      check_rotation_vector(angles[k], axis);
      check_rotation_vector(-angles[k], axis);
    }
}

/* Both formulas at the same place: the numbers on the two sides of the switch differ by no more than rounding. */
static void rotation_vector_branches_meet(void** state) {
  (void)state;
  Vec3 axis = vec3_normalized(vec3(1, -2, 0.5));
  double angle = 2 * acos(0.75);
  RotationVector below = rotation_vector_derivatives(quat_about(axis, angle - 1e-9)),
                 above = rotation_vector_derivatives(quat_about(axis, angle + 1e-9));
  compare_arrays(below.value, above.value, 3, 4e-9, "value");
  compare_arrays(&below.first[0][0], &above.first[0][0], 9, 1e-8, "first");
  compare_arrays(&below.second[0][0][0], &above.second[0][0][0], 27, 1e-7, "second");
}

/* q and -q are one rotation. */
static void rotation_vector_does_not_see_the_sign_of_q(void** state) {
  (void)state;
  Random random = {62};
  for (int k = 0; k < 50; k++) {
    Quat q = quat_about(random_direction(&random), random_uniform(&random, -3.1, 3.1)),
         minus = {-q.w, -q.x, -q.y, -q.z};
    RotationVector a = rotation_vector_derivatives(q), b = rotation_vector_derivatives(minus);
    compare_arrays(b.value, a.value, 3, 1e-15, "value");
    compare_arrays(&b.first[0][0], &a.first[0][0], 9, 1e-15, "first");
    compare_arrays(&b.second[0][0][0], &a.second[0][0][0], 27, 1e-15, "second");
  }
}

/* ---------------------------------------------------------------- joints */

typedef struct {
  ModelLink link;
  double q[JOINT_MAX_COORDINATE], q_now[JOINT_MAX_COORDINATE], difference_old[JOINT_MAX_DOF];
  JointDrive drives[2];
  double rate_before[JOINT_MAX_DOF];
  JointInput in;
} Driven;

static void joint_set(Driven* j, int slides, int rotation, const StepWeights* weights, Random* random) {
  memset(j, 0, sizeof *j);
  j->link = link_of(slides, rotation);
  joint_zero(&j->link.joint, j->q_now);
  double d[JOINT_MAX_DOF];
  for (int k = 0; k < j->link.dof_count; k++) {
    j->link.damping[k] = 0.3 + 0.1 * k;
    d[k] = 0.5 * random_normal(random);
    j->difference_old[k] = 0.02 * random_normal(random);
  }
  joint_increment(&j->link.joint, j->q_now, d, j->q_now);
  for (int k = 0; k < j->link.dof_count; k++) d[k] = 0.03 * random_normal(random);
  joint_increment(&j->link.joint, j->q_now, d, j->q);
  for (int c = 0; c < 2; c++) {
    double target[JOINT_MAX_DOF];
    for (int k = 0; k < j->link.dof_count; k++) {
      target[k] = random_normal(random);
      j->drives[c].target_rate[k] = random_normal(random);
      j->drives[c].position_gain[k] = 5 + k;
      j->drives[c].velocity_gain[k] = 0.01 * (1 + k);
      j->drives[c].damping_gain[k] = 0.1 * (1 + c + k);
    }
    joint_coordinates_from_target(&j->link.joint, target, j->drives[c].target);
  }
  j->in = (JointInput){&j->link, j->q,      j->q_now, j->difference_old, j->drives, 2,   0.01, *weights, NULL,
                       0,        {0, 0, 0}, 0,        j->rate_before,    NULL,      NULL};
  for (int k = 0; k < j->link.dof_count; k++) j->rate_before[k] = 0.3 * (k + 1);
}

static double energy_of(const JointTerms* t) { return t->controller + t->limit + t->damping; }

static bool terms_at(Driven* j, const double* d, JointTerms* t) {
  double moved[JOINT_MAX_COORDINATE];
  joint_increment(&j->link.joint, j->q, d, moved);
  JointInput in = j->in;
  in.q = moved;
  return joint_terms(&in, true, t);
}

static bool energy_at(void* context, const double* d, double* y) {
  JointTerms t;
  if (!terms_at(context, d, &t)) return false;
  y[0] = energy_of(&t);
  return true;
}

static bool gradient_at(void* context, const double* d, double* y) {
  Driven* j = context;
  JointTerms t;
  if (!terms_at(j, d, &t)) return false;
  memcpy(y, t.gradient, sizeof(double) * (size_t)j->link.dof_count);
  return true;
}

/* Returns the commutator by which differences of the gradient exceed the Hessian of R Rx Ry Rz (see tests/gradient). */
static double commutator(const Driven* j, const double* gradient, int row, int column) {
  int i = row - j->link.joint.scalar_count, k = column - j->link.joint.scalar_count;
  if (!j->link.joint.quaternion || i < 0 || k <= i) return 0;
  double sign = i == (k + 1) % 3 ? 1 : -1;
  return sign * gradient[j->link.joint.scalar_count + 3 - i - k];
}

static void check_joint(Driven* j, const char* what) {
  int n = j->link.dof_count;
  JointTerms t, plain;
  const double zero[JOINT_MAX_DOF] = {0};
  assert_true(terms_at(j, zero, &t));
  assert_true(joint_terms(&j->in, false, &plain));
  /* an increment of zero still normalises the quaternion: one rounding */
  compare_relative(energy_of(&plain), energy_of(&t), 1e-14, "%s: energy with and without derivatives", what);
  double h[36];
  for (int r = 0; r < n; r++)
    for (int c = 0; c < n; c++) h[r * n + c] = t.hessian[r][c] + commutator(j, t.gradient, r, c);
  Sweep energy = {energy_at, j, n, 1, NULL, NULL, NULL, 1e-2, 4, 8};
  sweep_expect(&energy, t.gradient, 1e-6, 1e-7, "%s: gradient", what);
  Sweep slope = {gradient_at, j, n, n, NULL, NULL, NULL, 1e-2, 4, 8};
  sweep_expect(&slope, h, 1e-6, 1e-7, "%s: Hessian", what);
}

static const StepWeights integrators[] = {{1, 2, -1, 0, 0, 100, 0}, {2, 2.5, -2, 0.5, 0, 150, 50}};

static void joint_S4_S5_drives_and_damping_of_every_kind(void** state) {
  (void)state;
  Random random = {63};
  for (int w = 0; w < 2; w++)
    for (int slides = 0; slides <= 3; slides++)
      for (int rotation = 0; rotation <= 3; rotation++) {
        if (slides + rotation == 0) continue;
        Driven j;
        joint_set(&j, slides, rotation, &integrators[w], &random);
        char what[80];
        snprintf(what, sizeof what, "seed 63, %d slides, rotation %d, integrator %d", slides, rotation, w);
        check_joint(&j, what);
        j.in.rate_past = 0.2;
        check_joint(&j, what);
      }
}

/* M8: a torque limit on the rotation of a free joint, whose coordinates begin after the three slides. */
static void joint_M8_limited_drives_of_a_free_joint(void** state) {
  (void)state;
  Random random = {71};
  for (int w = 0; w < 2; w++) {
    Driven j;
    joint_set(&j, 3, 3, &integrators[w], &random);
    for (int c = 0; c < 2; c++) {
      j.drives[c].limit_width = LIMIT_WIDTH_DEFAULT;
      for (int k = 3; k < 6; k++) j.drives[c].max_force[k] = 2;
    }
    JointTerms limited, free;
    assert_true(joint_terms(&j.in, true, &limited));
    check_joint(&j, w ? "limited, momentum" : "limited, first order");
    j.in.rate_past = 0.2;
    check_joint(&j, "limited, dampers act in part at the rate before");
    j.in.rate_past = 0;
    for (int c = 0; c < 2; c++) memset(j.drives[c].max_force, 0, sizeof j.drives[c].max_force);
    assert_true(joint_terms(&j.in, true, &free));
    compare_at_most(limited.controller, free.controller - 1, "energy [J]: the limit acts");
  }
}

/* S4 in numbers: one hinge, torque kp (q - target), kd / dt (rate - target rate); damping c rate. */
static void joint_S4_S5_worked_example(void** state) {
  (void)state;
  Random random = {1};
  Driven j;
  joint_set(&j, 0, 1, &integrators[0], &random);
  j.in.drive_count = 1;
  j.q_now[0] = 0.1;
  j.q[0] = 0.12;                  /* rate (0.12 - 0.1) 100 = 2 rad/s */
  j.drives[0].target[0] = 0.5;    /* error -0.38 */
  j.drives[0].target_rate[0] = 1; /* rate error 1 */
  j.drives[0].position_gain[0] = 10;
  j.drives[0].velocity_gain[0] = 0.04;
  j.drives[0].damping_gain[0] = 0;
  j.link.damping[0] = 0.3;
  JointTerms t;
  assert_true(joint_terms(&j.in, true, &t));
  compare_near(t.controller, 0.5 * 10 * 0.38 * 0.38 + 0.5 * 0.04 * 1, 1e-12, "controller energy");
  compare_near(t.damping, 0.5 * 0.3 * 0.01 * 4, 1e-12, "damping energy");
  compare_near(t.gradient[0], -3.8 + 0.04 / 0.01 * 1 + 0.3 * 2, 1e-12, "gradient");
  compare_near(t.hessian[0][0], 10 + 0.04 / 1e-4 + 0.3 / 0.01, 1e-9, "Hessian");
}

/* ---------------------------------------------------------------- limits */

static void limit_only(Driven* j, int slides, int rotation, LimitLaw law, Random* random) {
  joint_set(j, slides, rotation, &integrators[0], random);
  j->in.drive_count = 0;
  memset(j->link.damping, 0, sizeof j->link.damping);
  j->link.limit_law = law;
  j->link.limit_stiffness = law == LIMIT_BARRIER ? 0.7 : 900;
  j->link.limit_margin = 0.05;
}

/* Far inside, within the margin, near the limit, and (penalty) a little and far beyond. */
static void joint_S6_S7_limits_of_plain_coordinates(void** state) {
  (void)state;
  Random random = {64};
  static const double inside[] = {0.2, 0.0501, 0.0499, 0.02, 0.003, -0.003, -0.049, -0.051, -0.3};
  for (int law = 0; law < 2; law++)
    for (int side = 0; side < 2; side++)
      for (int k = 0; k < COUNT(inside); k++) {
        if (law == LIMIT_BARRIER && inside[k] <= 0) continue;
        Driven j;
        limit_only(&j, 1, 2, law ? LIMIT_PENALTY : LIMIT_BARRIER, &random);
        j.link.limit_law = (LimitLaw)law;
        for (int d = 0; d < 3; d++) {
          j.link.limited[d] = true;
          j.link.lower[d] = side == 0 ? -1 - 0.1 * d : -HUGE_VAL;
          j.link.upper[d] = side == 0 ? 1 : 1 + 0.1 * d;
          j.q[d] = side == 0 ? j.link.lower[d] + inside[k] : j.link.upper[d] - inside[k];
        }
        JointTerms t;
        const double zero[3] = {0};
        assert_true(terms_at(&j, zero, &t));
        if (inside[k] > 0.05 && law == LIMIT_BARRIER) compare_near(t.limit, 0, 0, "beyond the margin");
        double unit[3], floor = 1e-3;
        /* small against the distances to the limit and to the margin */
        for (int d = 0; d < 3; d++) unit[d] = fmin(fabs(inside[k]), 3 * fabs(fabs(inside[k]) - 0.05) + 1e-5);
        double h[9];
        for (int r = 0; r < 9; r++) h[r] = t.hessian[r / 3][r % 3];
        Sweep energy = {energy_at, &j, 3, 1, NULL, unit, NULL, 0.1, 4, 8};
        sweep_expect(&energy, t.gradient, floor * unit[0], 1e-6, "law %d, side %d, %g inside: gradient", law, side,
                     inside[k]);
        Sweep slope = {gradient_at, &j, 3, 3, NULL, unit, NULL, 0.1, 4, 8};
        /* the penalty's curvature has a kink at 0 and at the margin: differences across it are of first order */
        if (law == LIMIT_BARRIER)
          sweep_expect(&slope, h, floor, 1e-6, "law %d, side %d, %g inside: Hessian", law, side, inside[k]);
        else {
          SweepResult r = sweep_jacobian(&slope, h, floor);
          compare_at_most(r.error[r.best], 1e-6, "law %d, side %d, %g inside: Hessian", law, side, inside[k]);
        }
      }
}

static void joint_S6_barrier_is_never_passed(void** state) {
  (void)state;
  Random random = {65};
  Driven j;
  limit_only(&j, 1, 0, LIMIT_BARRIER, &random);
  j.link.limit_law = LIMIT_BARRIER;
  j.link.limited[0] = true;
  j.link.lower[0] = -1;
  j.link.upper[0] = 1;
  JointTerms t;
  static const double bad[] = {-1, 1, -1.001, 7, NAN};
  for (int k = 0; k < COUNT(bad); k++) {
    j.q[0] = bad[k];
    if (joint_terms(&j.in, true, &t)) fail_msg("coordinate %g passes a barrier limit of [-1, 1]", bad[k]);
  }
  j.q[0] = 0.9999999;
  assert_true(joint_terms(&j.in, true, &t));
  assert_true(t.gradient[0] > 1e10); /* pushes back */
}

/* S7: value, slope and curvature of the penalty are continuous at the limit and at the margin beyond it. */
static void joint_S7_penalty_is_twice_continuous(void** state) {
  (void)state;
  Random random = {66};
  Driven j;
  limit_only(&j, 1, 0, LIMIT_PENALTY, &random);
  j.link.limited[0] = true;
  j.link.lower[0] = -HUGE_VAL;
  j.link.upper[0] = 1;
  for (int at = 0; at < 2; at++) {
    JointTerms a, b;
    double corner = 1 + 0.05 * at;
    j.q[0] = corner - 1e-9;
    assert_true(joint_terms(&j.in, true, &a));
    j.q[0] = corner + 1e-9;
    assert_true(joint_terms(&j.in, true, &b));
    compare_near(b.limit, a.limit, 1e-7, "value at %g", corner);
    compare_near(b.gradient[0], a.gradient[0], 1e-5, "slope at %g", corner);
    compare_near(b.hessian[0][0], a.hessian[0][0], 1e-4, "curvature at %g", corner);
  }
  /* far beyond: k (over - m/2) */
  j.q[0] = 3;
  JointTerms t;
  assert_true(joint_terms(&j.in, true, &t));
  compare_near(t.gradient[0], 900 * (2 - 0.025), 1e-9, "slope far beyond");
  compare_near(t.hessian[0][0], 900, 1e-9, "curvature far beyond");
}

/* S22: the resistance of a penalty limit has the factor 1 - restitution^2; slope against differences of the resistance.
 */
static void joint_S22_slope_by_restitution(void** state) {
  (void)state;
  Random random = {72};
  Driven j;
  limit_only(&j, 1, 0, LIMIT_PENALTY, &random);
  j.link.limited[0] = true;
  j.link.lower[0] = -HUGE_VAL;
  j.link.upper[0] = 1;
  j.q_now[0] = 1.03;
  j.q[0] = 1.02;
  const double rate = -1, h = 1e-4;
  static const double restitutions[] = {0.1, 0.5, 0.9};
  for (int k = 0; k < COUNT(restitutions); k++) {
    double force[2];
    for (int side = 0; side < 2; side++) {
      j.link.limit_restitution = restitutions[k] + (side ? h : -h);
      force[side] = joint_limit_resistance(&j.in, 0, rate).first;
    }
    double wanted = (force[1] - force[0]) / (2 * h);
    assert_true(fabs(wanted) > 1);
    j.link.limit_restitution = restitutions[k];
    compare_relative(joint_limit_force_derivatives(&j.in, 0, rate).restitution, wanted, 1e-7, "restitution %g",
                     restitutions[k]);
  }
}

static void joint_S6_S7_limit_of_a_ball(void** state) {
  (void)state;
  Random random = {67};
  static const double angles[] = {0.3, 0.851, 0.849, 0.88, 0.897, 0.93, 1.3, 2.5};
  for (int law = 0; law < 2; law++)
    for (int k = 0; k < COUNT(angles); k++) {
      if (law == LIMIT_BARRIER && angles[k] > 0.9) continue;
      Driven j;
      limit_only(&j, 0, 3, LIMIT_BARRIER, &random);
      j.link.limit_law = (LimitLaw)law;
      j.link.limited[0] = true;
      j.link.lower[0] = -HUGE_VAL;
      j.link.upper[0] = 0.9;
      Quat q = quat_about(random_direction(&random), angles[k]);
      j.q[0] = q.w, j.q[1] = q.x, j.q[2] = q.y, j.q[3] = q.z;
      JointTerms t;
      const double zero[3] = {0};
      assert_true(terms_at(&j, zero, &t));
      double unit[3], h[9];
      for (int d = 0; d < 3; d++) unit[d] = fmin(0.05, fabs(0.9 - angles[k]));
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) h[r * 3 + c] = t.hessian[r][c] + commutator(&j, t.gradient, r, c);
      Sweep energy = {energy_at, &j, 3, 1, NULL, unit, NULL, 0.1, 4, 8};
      sweep_expect(&energy, t.gradient, 1e-3 * unit[0], 1e-6, "law %d, angle %g of 0.9: gradient", law, angles[k]);
      Sweep slope = {gradient_at, &j, 3, 3, NULL, unit, NULL, 0.1, 4, 8};
      SweepResult r = sweep_jacobian(&slope, h, 1e-3);
      compare_at_most(r.error[r.best], 1e-6, "law %d, angle %g of 0.9: Hessian", law, angles[k]);
    }
  Driven j;
  limit_only(&j, 0, 3, LIMIT_BARRIER, &random);
  j.link.limited[0] = true;
  j.link.upper[0] = 0.9;
  Quat q = quat_about(vec3(0, 1, 0), 0.95);
  j.q[0] = q.w, j.q[1] = q.x, j.q[2] = q.y, j.q[3] = q.z;
  JointTerms t;
  assert_false(joint_terms(&j.in, true, &t));
}

/* A limit narrower than its margin is felt at zero angle already: nothing may become 0 / 0 there. */
static void joint_S6_limit_of_a_ball_at_zero_angle(void** state) {
  (void)state;
  Random random = {68};
  Driven j;
  limit_only(&j, 0, 3, LIMIT_BARRIER, &random);
  j.link.limited[0] = true;
  j.link.lower[0] = -HUGE_VAL;
  j.link.upper[0] = 0.04; /* margin 0.05 */
  j.q[0] = 1, j.q[1] = j.q[2] = j.q[3] = 0;
  JointTerms t;
  assert_true(joint_terms(&j.in, true, &t));
  for (int r = 0; r < 3; r++) {
    if (!isfinite(t.gradient[r])) fail_msg("gradient %d at zero angle is %g", r, t.gradient[r]);
    for (int c = 0; c < 3; c++)
      if (!isfinite(t.hessian[r][c])) fail_msg("Hessian (%d, %d) at zero angle is %g", r, c, t.hessian[r][c]);
  }
}

/* A ball's swing off an axis and its twist about it (S24), both near their ends, under both laws. */
static void joint_S24_swing_and_twist_of_a_ball(void** state) {
  (void)state;
  Random random = {69};
  static const double at[][2] = {{0.88, 0.1}, {0.3, 0.67}, {0.86, -0.48}, {0.87, 0.69}, {0.97, 0.8}, {1.3, -0.9}};
  for (int law = 0; law < 2; law++)
    for (int k = 0; k < COUNT(at); k++) {
      if (law == LIMIT_BARRIER && at[k][0] > 0.9) continue;
      Driven j;
      limit_only(&j, 0, 3, LIMIT_BARRIER, &random);
      j.link.limit_law = (LimitLaw)law;
      for (int d = 0; d < 3; d++) j.link.limited[d] = d > 0;
      Vec3 axis = j.link.joint.axis[0] = random_direction(&random);
      j.link.lower[1] = -HUGE_VAL, j.link.upper[1] = 0.9;
      j.link.lower[2] = -0.5, j.link.upper[2] = 0.7;
      Vec3 across = vec3_normalized(vec3_cross(axis, random_direction(&random)));
      Quat q = quat_mul(quat_about(across, at[k][0]), quat_about(axis, at[k][1])); /* bent, after it was twisted */
      double sign = k % 2 ? -1 : 1;
      j.q[0] = sign * q.w, j.q[1] = sign * q.x, j.q[2] = sign * q.y, j.q[3] = sign * q.z;
      JointTerms t;
      const double zero[3] = {0};
      assert_true(terms_at(&j, zero, &t));
      double h[9], room = fmin(fabs(0.9 - at[k][0]), fmin(fabs(0.7 - at[k][1]), fabs(at[k][1] + 0.5)));
      const double unit[3] = {fmin(0.05, room), fmin(0.05, room), fmin(0.05, room)};
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) h[r * 3 + c] = t.hessian[r][c] + commutator(&j, t.gradient, r, c);
      bool felt = law == LIMIT_BARRIER || at[k][0] > 0.9 || at[k][1] > 0.7 || at[k][1] < -0.5;
      if ((t.limit > 0) != felt) fail_msg("law %d, place %d: the limit's energy is %g J", law, k, t.limit);
      Sweep energy = {energy_at, &j, 3, 1, NULL, unit, NULL, 0.1, 4, 8};
      sweep_expect(&energy, t.gradient, 1e-3 * unit[0], 1e-6, "law %d, place %d: gradient", law, k);
      Sweep slope = {gradient_at, &j, 3, 3, NULL, unit, NULL, 0.1, 4, 8};
      SweepResult r = sweep_jacobian(&slope, h, 1e-3);
      compare_at_most(r.error[r.best], 1e-6, "law %d, place %d: Hessian", law, k);
    }
}

/* The barrier's energy is that of a hinge with the same angle: swing 0.88 of 0.9, twist 0.69 of 0.7. */
static void joint_S24_energy_is_that_of_a_hinge(void** state) {
  (void)state;
  Random random = {70};
  for (int which = 1; which <= 2; which++) {
    double end = which == 1 ? 0.9 : 0.7, angle = which == 1 ? 0.88 : 0.69;
    Driven ball, hinge;
    limit_only(&ball, 0, 3, LIMIT_BARRIER, &random);
    limit_only(&hinge, 0, 1, LIMIT_BARRIER, &random);
    ball.link.joint.axis[0] = vec3(0, 0, 1);
    for (int d = 0; d < 3; d++) ball.link.limited[d] = d == which;
    ball.link.lower[which] = -HUGE_VAL, ball.link.upper[which] = end;
    hinge.link.limited[0] = true, hinge.link.lower[0] = -HUGE_VAL, hinge.link.upper[0] = end;
    Quat bend = quat_about(vec3(0, 1, 0), which == 1 ? angle : 1.2);
    Quat q = quat_mul(bend, quat_about(vec3(0, 0, 1), which == 2 ? angle : -2.0));
    ball.q[0] = q.w, ball.q[1] = q.x, ball.q[2] = q.y, ball.q[3] = q.z;
    hinge.q[0] = angle;
    JointTerms b, h;
    assert_true(joint_terms(&ball.in, false, &b));
    assert_true(joint_terms(&hinge.in, false, &h));
    compare_near(b.limit, h.limit, 1e-12 * h.limit, "energy of slot %d", which);
    double past = end + 0.01;
    q = quat_mul(quat_about(vec3(0, 1, 0), which == 1 ? past : 1.2),
                 quat_about(vec3(0, 0, 1), which == 2 ? past : -2.0));
    ball.q[0] = q.w, ball.q[1] = q.x, ball.q[2] = q.y, ball.q[3] = q.z;
    assert_false(joint_terms(&ball.in, false, &b));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rotation_vector_derivatives_match_central_differences),
      cmocka_unit_test(rotation_vector_branches_meet),
      cmocka_unit_test(rotation_vector_does_not_see_the_sign_of_q),
      cmocka_unit_test(joint_S4_S5_drives_and_damping_of_every_kind),
      cmocka_unit_test(joint_M8_limited_drives_of_a_free_joint),
      cmocka_unit_test(joint_S4_S5_worked_example),
      cmocka_unit_test(joint_S6_S7_limits_of_plain_coordinates),
      cmocka_unit_test(joint_S6_barrier_is_never_passed),
      cmocka_unit_test(joint_S7_penalty_is_twice_continuous),
      cmocka_unit_test(joint_S22_slope_by_restitution),
      cmocka_unit_test(joint_S6_S7_limit_of_a_ball),
      cmocka_unit_test(joint_S6_limit_of_a_ball_at_zero_angle),
      cmocka_unit_test(joint_S24_swing_and_twist_of_a_ball),
      cmocka_unit_test(joint_S24_energy_is_that_of_a_hinge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
