/* Energies of the drives, limits and damping of one joint (docs/derivations/step.md, S4-S7). */
#include <assert.h>
#include <string.h>

#include "contact/restitution.h"
#include "simulate/ball_limits.h"
#include "simulate/ball_springs.h"
#include "simulate/limits.h"

/* If 1 - w is below this value, the series replaces the closed form, which loses digits as w -> 1. */
#define SERIES_THRESHOLD 0.25
enum { SERIES_TERMS = 24 };

/* Sets g[0] to g(w) = angle / |v| of a unit quaternion (w, v), w >= 0, g[1] to dg/dw and g[2] to d2g/dw2. Series: g = 2
 * sum_n n!/(2n+1)!! (1-w)^n; closed form: g = 2 acos(w) / sqrt(1-w^2). */
static void compute_angle_over_sine(double w, double g[3]) {
  double u = 1.0 - w;
  if (u < SERIES_THRESHOLD) {
    double a = 2.0, power[3] = {1, 0, 0}; /* powers of u = 1 - w with the exponents n, n - 1 and n - 2 */
    g[0] = g[1] = g[2] = 0;
    for (int n = 0; n < SERIES_TERMS; n++) {
      g[0] += a * power[0];
      g[1] -= a * n * power[1];
      g[2] += a * n * (n - 1) * power[2];
      a *= (n + 1.0) / (2.0 * n + 3.0);
      power[2] = power[1];
      power[1] = power[0];
      power[0] *= u;
    }
    return;
  }
  double s2 = 1.0 - w * w;
  g[0] = 2.0 * math_acos(w) / sqrt(s2);
  g[1] = (w * g[0] - 2.0) / s2;
  g[2] = (g[0] + 3.0 * w * g[1]) / s2;
}

RotationVector rotation_vector_derivatives(Quat q) {
  assert(!(fabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1) > 1e-6));
  static const Quat unit[3] = {{0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  if (q.w < 0) q = (Quat){-q.w, -q.x, -q.y, -q.z};
  double g[3], v[3] = {q.x, q.y, q.z};
  compute_angle_over_sine(q.w, g);
  RotationVector out;
  Quat first[3];
  for (int i = 0; i < 3; i++) {
    out.value[i] = g[0] * v[i];
    first[i] = quat_mul(q, unit[i]); /* twice the first derivative */
  }
  for (int j = 0; j < 3; j++) {
    double dv[3] = {0.5 * first[j].x, 0.5 * first[j].y, 0.5 * first[j].z}, dw = 0.5 * first[j].w;
    for (int i = 0; i < 3; i++) out.first[i][j] = g[1] * dw * v[i] + g[0] * dv[i];
  }
  for (int j = 0; j < 3; j++)
    for (int k = j; k < 3; k++) {
      Quat s = quat_mul(first[j], unit[k]); /* four times the second derivative, with increment j applied before k */
      double d2w = 0.25 * s.w, d2v[3] = {0.25 * s.x, 0.25 * s.y, 0.25 * s.z};
      double wj = 0.5 * first[j].w, wk = 0.5 * first[k].w;
      double vj[3] = {0.5 * first[j].x, 0.5 * first[j].y, 0.5 * first[j].z};
      double vk[3] = {0.5 * first[k].x, 0.5 * first[k].y, 0.5 * first[k].z};
      for (int i = 0; i < 3; i++) {
        double value = g[2] * wj * wk * v[i] + g[1] * (d2w * v[i] + wj * vk[i] + wk * vj[i]) + g[0] * d2v[i];
        out.second[i][j][k] = out.second[i][k][j] = value;
      }
    }
  return out;
}

/* ---------------------------------------------------------------- limits and drives of one coordinate */

Limits joint_limits(const ModelLink* link, int dof) {
  assert(dof >= 0 && dof < link->dof_count);
  return (Limits){link->limit_law,       link->lower[dof],   link->upper[dof],
                  link->limit_stiffness, link->limit_margin, link->limit_restitution};
}

Limits joint_limits_outside_impact(const ModelLink* link, int dof) {
  assert(dof >= 0 && dof < link->dof_count);
  Limits limits = joint_limits(link, dof);
  if (limits.law == LIMIT_BARRIER && limits.restitution > 0) limits.margin *= IMPACT_ENTRY - STOP_MAX_DISPLACEMENT;
  return limits;
}

/* Sets *law to the energy of a limit and its derivatives with respect to d. d: distance of the coordinate inside the
 * limit (negative: beyond the limit). Returns false beyond a barrier. */
static bool evaluate_limit_law(const Limits* limits, double d, LimitEnergy* law) {
  *law = (LimitEnergy){0, 0, 0};
  double m = limits->margin, k = limits->stiffness;
  if (limits->law == LIMIT_BARRIER) {
    /* barrier energy: stiffness times a function of the distance divided by the margin (S6) */
    if (!(d > 0)) return false;
    if (d >= m) return true;
    Barrier b = barrier_eval(d / m);
    *law = (LimitEnergy){k * b.value, k * b.first / m, k * b.second / (m * m)};
    return true;
  }
  double excess = -d; /* penalty energy; its second derivative rises from 0 to the stiffness within the margin beyond
                         the limit (S7) */
  if (!(excess > 0)) return true;
  if (excess < m)
    *law = (LimitEnergy){k * excess * excess * excess / (6 * m), -k * excess * excess / (2 * m), k * excess / m};
  else
    *law = (LimitEnergy){k * (m * m / 6 + m * (excess - m) / 2 + (excess - m) * (excess - m) / 2),
                         -k * (m / 2 + excess - m), k};
  return true;
}

bool limits_energy(const Limits* limits, double x, LimitEnergy* sum) {
  *sum = (LimitEnergy){0, 0, 0};
  LimitEnergy low = {0, 0, 0}, high = {0, 0, 0};
  if (isfinite(limits->lower) && !evaluate_limit_law(limits, x - limits->lower, &low)) return false;
  if (isfinite(limits->upper) && !evaluate_limit_law(limits, limits->upper - x, &high)) return false;
  *sum = (LimitEnergy){low.value + high.value, low.first - high.first, low.second + high.second};
  return true;
}

LimitEnergy joint_rebound_energy(const JointStop* stop, double displacement) {
  double off = displacement - stop->aim;
  if (!stop->rebounds || !(stop->sign * off < stop->slack)) return (LimitEnergy){0, 0, 0};
  return (LimitEnergy){0.5 * stop->stiffness * off * off, stop->stiffness * off, stop->stiffness};
}

/* Sets *sum to the energy of both limits of a degree of freedom at coordinate q, with its derivatives with respect to
 * q. Returns false if q is beyond a barrier. */
static bool evaluate_dof_limits(const ModelLink* link, int dof, double q, LimitEnergy* sum) {
  *sum = (LimitEnergy){0, 0, 0};
  if (!link->limited[dof]) return true;
  Limits limits = joint_limits_outside_impact(link, dof);
  return limits_energy(&limits, q, sum);
}

/* Sets *sum to the limit energy of coordinate k, a hinge angle or a displacement. During an impact the energy of the
 * rebound replaces the energy of the barrier. Returns false if the coordinate is beyond a barrier. */
static bool evaluate_coordinate_limits(const JointInput* in, int k, LimitEnergy* sum) {
  *sum = (LimitEnergy){0, 0, 0};
  bool inside = evaluate_dof_limits(in->link, k, in->q[k], sum);
  if (inside && joint_is_in_impact(in, k)) *sum = joint_rebound_energy(&in->stop[k], in->q[k] - in->q_now[k]);
  return inside;
}

/* ---- resistance to motion away from a limit (S22) */

/* Rate at which the resistance to leaving a limit reaches its full value [m/s, rad/s]. The resistance is smaller for
 * slower motion, so a rate of this size can remain after an impact. */
#define LIMIT_RESISTANCE_SPEED 1e-3

/* Returns friction of magnitude 1 that acts on positive rates only: a quintic from 0 at rest to 1 at
 * LIMIT_RESISTANCE_SPEED, so that the limit alone carries a load at rest. first: force; value: integral of the force
 * over the rate; second: derivative of the force with respect to the rate. */
static LimitEnergy one_way_friction(double rate) {
  double x = rate / LIMIT_RESISTANCE_SPEED, s = x * x;
  if (!(x > 0)) return (LimitEnergy){0, 0, 0};
  if (!(x < 1)) return (LimitEnergy){rate - 0.5 * LIMIT_RESISTANCE_SPEED, 1, 0};
  return (LimitEnergy){LIMIT_RESISTANCE_SPEED * s * s * (2.5 - x * (3 - x)), s * x * (10 - x * (15 - 6 * x)),
                       30 * s * (1 - x) * (1 - x) / LIMIT_RESISTANCE_SPEED};
}

LimitResistance limits_resistance(const Limits* limits, double now, double rate, double rate_now) {
  /* at a barrier the rebound has already returned the energy due to the restitution (impact.md, I15) */
  double lost = limits->law == LIMIT_BARRIER ? 1 : 1 - limits->restitution * limits->restitution;
  LimitResistance out = {0};
  for (int side = 0; lost > 0 && side < 2; side++) {
    double sign = side == 0 ? 1 : -1, bound = side == 0 ? limits->lower : limits->upper;
    LimitEnergy law = {0, 0, 0};
    if (!isfinite(bound) || !evaluate_limit_law(limits, sign * (now - bound), &law) || !(law.first < 0)) continue;
    LimitEnergy friction = one_way_friction(sign * rate);
    out.value -= lost * law.first / rate_now * friction.value;
    out.first -= sign * lost * law.first * friction.first;
    out.by_rate -= lost * law.first * friction.second;
    out.by_now -= lost * law.second * friction.first;
  }
  return out;
}

LimitResistance joint_limit_resistance(const JointInput* in, int k, double rate) {
  assert(k >= 0 && k < in->link->dof_count);
  if (!in->link->limited[k] || joint_is_in_impact(in, k)) return (LimitResistance){0};
  Limits limits = joint_limits_outside_impact(in->link, k);
  return limits_resistance(&limits, in->q_now[k], rate, in->weights.rate_now);
}

/* A shift of a bound shifts the limit law and the resistance. The derivatives of the limit force with respect to the
 * bound are therefore minus its derivatives with respect to the coordinate. */
LimitForceDerivatives limits_force_derivatives(const Limits* limits, double q, double now, double rate,
                                               double rate_now) {
  LimitForceDerivatives out = {0, 0, 0};
  for (int side = 0; side < 2; side++) {
    Limits one = *limits;
    double* by = side == 0 ? &out.lower : &out.upper;
    if (side == 0) one.upper = (double)INFINITY;
    if (side == 1) one.lower = -(double)INFINITY;
    LimitEnergy law;
    (void)limits_energy(&one, q, &law);
    *by = -law.second - limits_resistance(&one, now, rate, rate_now).by_now;
  }
  if (limits->law == LIMIT_PENALTY && limits->restitution < 1) {
    double lost = 1 - limits->restitution * limits->restitution;
    out.restitution = -2 * limits->restitution / lost * limits_resistance(limits, now, rate, rate_now).first;
  }
  return out;
}

LimitForceDerivatives joint_limit_force_derivatives(const JointInput* in, int k, double rate) {
  assert(k >= 0 && k < in->link->dof_count);
  LimitForceDerivatives out = {0, 0, 0};
  if (!in->link->limited[k]) return out;
  Limits limits = joint_limits_outside_impact(in->link, k);
  if (!joint_is_in_impact(in, k))
    return limits_force_derivatives(&limits, in->q[k], in->q_now[k], rate, in->weights.rate_now);
  LimitEnergy bounce = joint_rebound_energy(&in->stop[k], in->q[k] - in->q_now[k]);
  out.restitution = -bounce.second * in->stop[k].by_restitution;
  return out;
}

/* Returns the energy of a drive with limited force (drives.md, M2) and its derivatives. unlimited: energy without the
 * limit; its force -first depends linearly on the coordinate with slope -second. The integral of the limited force over
 * the coordinate is therefore its integral over the force, divided by `second`. displacement: displacement since t. */
static LimitEnergy limit_drive_energy(LimitEnergy unlimited, double limit, double width, double displacement) {
  LimitedForce f = limited_force(-unlimited.first, limit, width);
  double energy = unlimited.second > 0 ? f.energy / unlimited.second : -f.force * displacement;
  return (LimitEnergy){energy, -f.force, unlimited.second * f.slope};
}

/* ---------------------------------------------------------------- hinge angles and displacements */

static bool add_scalar_coordinate_terms(const JointInput* in, int k, bool derivatives, JointTerms* out) {
  const ModelLink* link = in->link;
  double rate = joint_step_rate(in, k), damped = joint_damper_rate(in, k), a = joint_damper_slope(in);
  LimitEnergy limit;
  if (!evaluate_coordinate_limits(in, k, &limit)) return false;
  out->limit += limit.value;
  LimitResistance stop = joint_limit_resistance(in, k, rate);
  out->damping += 0.5 * link->damping[k] / a * damped * damped + stop.value;
  double gradient = limit.first + link->damping[k] * damped + stop.first;
  double hessian = limit.second + link->damping[k] * a + stop.by_rate * in->weights.rate_now;
  out->inertia_force[k] = fabs(stop.first) + fabs(limit.first); /* drives can push joints against limits */
  if (link->passive) {
    PassiveTerms passive = joint_passive(in, k, rate);
    out->limit += passive.spring;
    out->damping += passive.friction;
    out->inertia += passive.inertia;
    out->inertia_force[k] += passive.inertia_force;
    gradient += passive.gradient;
    hessian += passive.hessian;
  }
  for (int c = 0; c < in->drive_count; c++) {
    const JointDrive* drive = &in->drives[c];
    double e = joint_spring_position(in, k) - drive->target[k], de = damped - drive->target_rate[k];
    double ahead = spring_weight_of_end(&in->spring), kp = (1 - in->spring.missing) * drive->position_gain[k];
    double kd = joint_rate_gain(in, drive, k);
    LimitEnergy law = {0.5 * kp / ahead * e * e + 0.5 * kd * de * de - drive->push[k] * (in->q[k] - in->q_now[k]),
                       kp * e + kd * a * de - drive->push[k], kp * ahead + kd * a * a};
    if (drive->max_force[k] > 0)
      law = limit_drive_energy(law, drive->max_force[k], drive->limit_width, in->q[k] - in->q_now[k]);
    out->controller += law.value;
    gradient += law.first;
    hessian += law.second;
  }
  if (derivatives) {
    out->gradient[k] += gradient;
    out->hessian[k][k] += hessian;
  }
  return true;
}

/* ---------------------------------------------------------------- ball joints */

/* Adds the gradient and the Hessian of an energy f(phi) of a rotation vector phi, with respect to the joint increments,
 * to *out. f1, f2: gradient and diagonal Hessian of f with respect to phi. */
static void add_rotation_vector_derivatives(const RotationVector* phi, const double f1[3], const double f2[3], int base,
                                            JointTerms* out) {
  for (int j = 0; j < 3; j++) {
    for (int i = 0; i < 3; i++) out->gradient[base + j] += f1[i] * phi->first[i][j];
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < 3; i++)
        out->hessian[base + j][base + k] += f2[i] * phi->first[i][j] * phi->first[i][k] + f1[i] * phi->second[i][j][k];
  }
}

/* Returns the energy sum_i k_i/2 (scale phi_i - b_i)^2 of a rotation vector phi, with three gains k. If derivatives is
 * true, adds its gradient and Hessian to *out. */
static double add_quadratic_energy(const RotationVector* phi, const double k[3], double scale, const double b[3],
                                   bool derivatives, int base, JointTerms* out) {
  double f1[3], f2[3], energy = 0;
  for (int i = 0; i < 3; i++) {
    double e = scale * phi->value[i] - b[i];
    energy += 0.5 * k[i] * e * e;
    f1[i] = k[i] * scale * e;
    f2[i] = k[i] * scale * scale;
  }
  if (derivatives) add_rotation_vector_derivatives(phi, f1, f2, base, out);
  return energy;
}

/* Adds the dry friction energy f / a (sqrt(|r|^2 + v^2) - v) of a ball joint (M5). r = a phi - b: rate, with the
 * rotation vector phi of the step; f: friction torque; v: speed of the smoothing. */
static void add_ball_friction(const JointInput* in, const RotationVector* step, const double b[3], bool derivatives,
                              int base, JointTerms* out) {
  double a = in->weights.rate_now, speed = in->link->friction_speed, f = joint_ball_friction(in->link, base);
  double r[3], square = 0, f1[3], f2[3], along[3] = {0, 0, 0};
  for (int i = 0; i < 3; i++) {
    r[i] = a * step->value[i] - b[i];
    square += r[i] * r[i];
  }
  double root = sqrt(square + speed * speed);
  out->damping += f / a * (square / (root + speed));
  if (!derivatives) return;
  for (int i = 0; i < 3; i++) {
    f1[i] = f * r[i] / root;
    f2[i] = f * a / root;
    for (int j = 0; j < 3; j++) along[j] += r[i] / root * step->first[i][j];
  }
  add_rotation_vector_derivatives(step, f1, f2, base, out);
  for (int j = 0; j < 3; j++)
    for (int k = 0; k < 3; k++) out->hessian[base + j][base + k] -= f * a / root * along[j] * along[k];
}

/* Adds the energy of a spring of three rotations with three stiffnesses (M10). Returns the energy. */
static double add_ball_spring(const BallSpring* spring, const double stiffness[3], bool derivatives, int base,
                              JointTerms* out) {
  double scaled[3];
  for (int i = 0; i < 3; i++) scaled[i] = spring->factor * stiffness[i];
  return add_quadratic_energy(&spring->end, scaled, spring->weight, spring->minus, derivatives, base, out);
}

void ball_drive_terms(const JointInput* in, const JointDrive* drive, const RotationVector* step, int base,
                      bool derivatives, JointTerms* out) {
  assert(base >= 0 && base + 3 <= in->link->dof_count);
  double a = joint_damper_slope(in), zero[3] = {0, 0, 0}, kd[3], goal[3], push[3], along = 0;
  BallSpring spring = ball_spring(in, base, drive->target + base);
  out->controller += add_ball_spring(&spring, drive->position_gain + base, derivatives, base, out);
  for (int i = 0; i < 3; i++) {
    kd[i] = joint_rate_gain(in, drive, base + i);
    goal[i] = joint_damper_offset(in, base + i) + drive->target_rate[base + i];
    push[i] = -drive->push[base + i];
    along += push[i] * step->value[i];
  }
  out->controller += add_quadratic_energy(step, kd, a, goal, derivatives, base, out);
  if (push[0] == 0 && push[1] == 0 && push[2] == 0) return;
  out->controller += along; /* the torque acts about the axes of the link halfway through the step */
  if (derivatives) add_rotation_vector_derivatives(step, push, zero, base, out);
}

BallTorqueLimit ball_torque_limit(const JointInput* in, const JointDrive* drive, int base, double energy) {
  assert(base >= 0 && base + 3 <= in->link->dof_count);
  double a = joint_damper_slope(in), square = 0;
  const double* m = drive->max_force + base;
  BallTorqueLimit out = {.limit = (m[0] + m[1] + m[2]) / 3, .scale = 1};
  BallSpring spring = ball_spring(in, base, drive->target + base);
  for (int i = 0; i < 3; i++) {
    double kp = (1 - in->spring.missing) * drive->position_gain[base + i], kd = joint_rate_gain(in, drive, base + i);
    out.displacement[i] = spring.minus[i] - spring.weight * spring.now[i];
    out.rate_target[i] = joint_damper_offset(in, base + i) + drive->target_rate[base + i];
    out.unlimited_torque[i] = kp * out.displacement[i] + a * kd * out.rate_target[i] + drive->push[base + i];
    out.stiffness += (spring.weight * kp + a * a * kd) / 3;
    out.now += 0.5 * kp / spring.weight * out.displacement[i] * out.displacement[i] +
               0.5 * kd * out.rate_target[i] * out.rate_target[i];
    square += out.unlimited_torque[i] * out.unlimited_torque[i];
  }
  square += 2 * out.stiffness * (energy - out.now);
  out.size = square > 0 ? sqrt(square) : 0;
  out.force = limited_force(out.size, out.limit, drive->limit_width);
  if (!(out.limit > 0) || !(out.force.force < out.size)) return out;
  out.scale = out.force.force / out.size;
  out.bend = (out.force.slope - out.scale) / square;
  return out;
}

/* Adds the energy of a drive of a ball joint with a torque limit, which scales the gradient down (M8). */
static void add_limited_ball_drive(const JointInput* in, const JointDrive* drive, const RotationVector* step, int base,
                                   bool derivatives, JointTerms* out) {
  JointTerms unlimited = {.controller = 0};
  ball_drive_terms(in, drive, step, base, derivatives, &unlimited);
  BallTorqueLimit l = ball_torque_limit(in, drive, base, unlimited.controller);
  bool rigid = !(l.stiffness > 0);
  double less = rigid ? 0 : (l.force.energy - 0.5 * l.size * l.size) / l.stiffness;
  out->controller += rigid ? l.scale * unlimited.controller : unlimited.controller + (l.scale < 1 ? less : 0);
  if (!derivatives) return;
  const double* g = unlimited.gradient + base;
  for (int j = 0; j < 3; j++) {
    out->gradient[base + j] += l.scale * g[j];
    for (int k = 0; k < 3; k++)
      out->hessian[base + j][base + k] +=
          l.scale * unlimited.hessian[base + j][base + k] + l.bend * l.stiffness * g[j] * g[k];
  }
}

static bool add_ball_terms(const JointInput* in, int base, bool derivatives, JointTerms* out) {
  const ModelLink* link = in->link;
  double a = joint_damper_slope(in), damping[3], b[3], offset[3];
  bool still = in->drive_count == 0 && !link->passive;
  for (int i = 0; i < 3; i++) still = still && !(link->damping[base + i] > 0);
  if (!ball_limits(in, base, derivatives, out)) return false;
  if (still) return true; /* no property of the joint except limits contributes energy */
  RotationVector step =
      rotation_vector_derivatives(quat_mul(quat_conjugate(quat_at(in->q_now + base)), quat_at(in->q + base)));
  bool damped = false;
  for (int i = 0; i < 3; i++) {
    damping[i] = link->damping[base + i] / a;
    damped = damped || damping[i] > 0;
    b[i] = in->weights.rate_old * in->difference_old[base + i];
    offset[i] = joint_damper_offset(in, base + i);
  }
  if (damped) out->damping += add_quadratic_energy(&step, damping, a, offset, derivatives, base, out);
  if (link->passive) {
    BallSpring spring = ball_spring(in, base, link->rest + base);
    out->limit += add_ball_spring(&spring, link->stiffness + base, derivatives, base, out);
    if (joint_ball_friction(link, base) > 0) add_ball_friction(in, &step, b, derivatives, base, out);
  }
  for (int c = 0; c < in->drive_count; c++) {
    const JointDrive* drive = &in->drives[c];
    bool limits = drive->max_force[base] + drive->max_force[base + 1] + drive->max_force[base + 2] > 0;
    (limits ? add_limited_ball_drive : ball_drive_terms)(in, drive, &step, base, derivatives, out);
  }
  return true;
}

/* Subtracts the energy of the joint force that the target of a tree in free flight (tree_flight.h) already contains
 * (spin.md, W51): force times displacement since t. The scale of the residual includes the magnitude of this force. */
static void subtract_target_forces(const JointInput* in, int k, bool derivatives, JointTerms* out) {
  out->inertia -= in->held[k] * (in->q[k] - in->q_now[k]);
  out->inertia_force[k] += fabs(in->held[k]);
  if (derivatives) out->gradient[k] -= in->held[k];
}

bool joint_terms(const JointInput* in, bool derivatives, JointTerms* out) {
  assert(in->weights.rate_now > 0 && in->drive_count >= 0);
  const Joint* joint = &in->link->joint;
  out->controller = out->limit = out->damping = out->inertia = 0;
  memset(out->inertia_force, 0, sizeof(out->inertia_force));
  if (derivatives) {
    memset(out->gradient, 0, sizeof(out->gradient));
    memset(out->hessian, 0, sizeof(out->hessian));
  }
  out->outside = false;
  for (int k = 0; k < joint->scalar_count; k++)
    out->outside = out->outside || !add_scalar_coordinate_terms(in, k, derivatives, out);
  if (joint->quaternion && !out->outside) out->outside = !add_ball_terms(in, joint->scalar_count, derivatives, out);
  for (int k = 0; in->held && k < joint->scalar_count; k++) subtract_target_forces(in, k, derivatives, out);
  return !out->outside;
}
