/* Limits of ball joints: on the total angle of rotation, and on swing and twist (docs/derivations/step.md, S22, S24).
 * Each limit is a limit law of one of these angles. */
#include <assert.h>

#include "simulate/ball_limits.h"

#include "simulate/limits.h"

/* Total angle, swing or twist of a ball joint [rad], with first and second derivatives with respect to small rotations
 * about the link's axes. */
typedef struct {
  double value, first[3], second[3][3];
} BallAngle;

/* Parts of a quaternion q with the real part w and the vector part v. p: component of v along an axis. With first (w1,
 * p1) and second (w2, p2) derivatives with respect to small rotations about the link's axes. The sign of q is chosen so
 * that w >= 0. */
typedef struct {
  double w, p, perpendicular; /* perpendicular: length of v x axis, the part of v perpendicular to the axis */
  double w1[3], p1[3], w2[3][3], p2[3][3];
} AxisComponents;

/* Returns the members w, p and perpendicular of AxisComponents, without derivatives. */
static AxisComponents axis_components_value(Quat q, Vec3 axis) {
  double sign = q.w < 0 ? -1 : 1;
  Vec3 v = vec3(sign * q.x, sign * q.y, sign * q.z);
  return (AxisComponents){.w = sign * q.w, .p = vec3_dot(v, axis), .perpendicular = vec3_norm(vec3_cross(axis, v))};
}

static AxisComponents axis_components(Quat q, Vec3 axis) {
  static const Quat unit[3] = {{0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  AxisComponents out = axis_components_value(q, axis);
  if (q.w < 0) q = (Quat){-q.w, -q.x, -q.y, -q.z};
  for (int j = 0; j < 3; j++) {
    Quat first = quat_mul(q, unit[j]); /* twice the first derivative */
    out.w1[j] = 0.5 * first.w;
    out.p1[j] = 0.5 * vec3_dot(vec3(first.x, first.y, first.z), axis);
    for (int k = j; k < 3; k++) {
      Quat s = quat_mul(first, unit[k]); /* four times the second derivative, with increment j applied before k */
      out.w2[j][k] = out.w2[k][j] = 0.25 * s.w;
      out.p2[j][k] = out.p2[k][j] = 0.25 * vec3_dot(vec3(s.x, s.y, s.z), axis);
    }
  }
  return out;
}

static double twist_value(const AxisComponents* a) { return 2 * math_atan2(a->p, a->w); }
static double swing_value(const AxisComponents* a) {
  return 2 * math_atan2(a->perpendicular, sqrt(a->w * a->w + a->p * a->p));
}

/* Returns the twist angle about the axis, 2 atan2(p, w), with its derivatives with respect to small rotations (S24).
 * Requires w^2 + p^2 > 0, which holds for a swing below pi. */
static BallAngle twist_of(const AxisComponents* a) {
  double c = a->w * a->w + a->p * a->p;
  BallAngle out = {.value = twist_value(a)};
  for (int j = 0; j < 3; j++) {
    double turn = a->w * a->p1[j] - a->p * a->w1[j];
    out.first[j] = 2 * turn / c;
    for (int k = 0; k < 3; k++) {
      double c1 = 2 * (a->w * a->w1[k] + a->p * a->p1[k]);
      double turn1 = a->w1[k] * a->p1[j] + a->w * a->p2[j][k] - a->p1[k] * a->w1[j] - a->p * a->w2[j][k];
      out.second[j][k] = 2 * (turn1 - turn * c1 / c) / c;
    }
  }
  return out;
}

/* Returns the swing angle of the axis, acos(2 c - 1) with c = w^2 + p^2, with its derivatives with respect to small
 * rotations (S24). w, p: members of AxisComponents. d swing/dc = -1 / sqrt(c (1 - c)). Requires a->perpendicular > 0,
 * which holds for a nonzero swing. */
static BallAngle swing_of(const AxisComponents* a) {
  double c = a->w * a->w + a->p * a->p, root = sqrt(c) * a->perpendicular;
  double by_c = -1 / root, by_cc = (1 - 2 * c) / (2 * root * root * root), c1[3];
  BallAngle out = {.value = swing_value(a)};
  for (int j = 0; j < 3; j++) c1[j] = 2 * (a->w * a->w1[j] + a->p * a->p1[j]);
  for (int j = 0; j < 3; j++) {
    out.first[j] = by_c * c1[j];
    for (int k = 0; k < 3; k++) {
      double c2 = 2 * (a->w1[j] * a->w1[k] + a->w * a->w2[j][k] + a->p1[j] * a->p1[k] + a->p * a->p2[j][k]);
      out.second[j][k] = by_c * c2 + by_cc * c1[j] * c1[k];
    }
  }
  return out;
}

/* Returns the total angle of rotation, the length of the rotation vector phi, with its derivatives with respect to
 * small rotations. size: this length, must be positive. */
static BallAngle total_of(const RotationVector* phi, double size) {
  BallAngle out = {.value = size};
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++) out.first[j] += phi->value[i] / size * phi->first[i][j];
  for (int j = 0; j < 3; j++)
    for (int k = 0; k < 3; k++) {
      double square = 0;
      for (int i = 0; i < 3; i++) {
        square += phi->first[i][j] * phi->first[i][k];
        out.second[j][k] += phi->value[i] / size * phi->second[i][j][k];
      }
      out.second[j][k] += (square - out.first[j] * out.first[k]) / size;
    }
  return out;
}

double ball_angle(const ModelLink* link, int angle_kind, Quat q) {
  assert(angle_kind >= 0 && angle_kind < BALL_ANGLES);
  if (angle_kind == BALL_TOTAL) return vec3_norm(quat_log(q));
  AxisComponents a = axis_components_value(q, link->joint.axis[0]);
  return angle_kind == BALL_TWIST ? twist_value(&a) : swing_value(&a);
}

/* Sets *out to one angle of the rotation q. Returns false, with zero derivatives, where the angle is not
 * differentiable: at a total angle or a swing of 0, and at a swing of pi. */
static bool angle_of(const ModelLink* link, int angle_kind, Quat q, BallAngle* out) {
  if (angle_kind == BALL_TOTAL) {
    RotationVector phi = rotation_vector_derivatives(q);
    double size = vec3_norm(vec3(phi.value[0], phi.value[1], phi.value[2]));
    *out = (BallAngle){.value = size};
    if (size > 0) *out = total_of(&phi, size);
    return size > 0;
  }
  AxisComponents a = axis_components(q, link->joint.axis[0]);
  bool directed = a.w * a.w + a.p * a.p > 0 && (angle_kind == BALL_TWIST || a.perpendicular > 0);
  if (directed && angle_kind == BALL_TWIST) *out = twist_of(&a);
  if (directed && angle_kind == BALL_SWING) *out = swing_of(&a);
  if (!directed) *out = (BallAngle){.value = angle_kind == BALL_TWIST ? twist_value(&a) : swing_value(&a)};
  return directed;
}

void ball_angle_slope(const ModelLink* link, int angle_kind, Quat q, double slope[3]) {
  assert(angle_kind >= 0 && angle_kind < BALL_ANGLES);
  BallAngle angle;
  (void)angle_of(link, angle_kind, q, &angle);
  for (int j = 0; j < 3; j++) slope[j] = angle.first[j];
}

/* Returns the limits of an angle. The penalty law has the restitution 1, because its spring returns all of its energy.
 */
static Limits limits_of(const JointInput* in, int dof) {
  Limits limits = joint_limits_outside_impact(in->link, dof);
  if (limits.law == LIMIT_PENALTY) limits.restitution = 1;
  return limits;
}

/* Returns the resistance of a limit to motion away from it (S22), for the motion from the angle `now` at t to `angle`.
 * Returns zeros in an impact. */
static LimitResistance resistance(const JointInput* in, int dof, double now, double angle) {
  Limits limits = limits_of(in, dof);
  if (joint_is_in_impact(in, dof)) return (LimitResistance){0};
  double a = in->weights.rate_now;
  return limits_resistance(&limits, now, a * (angle - now), a);
}

static void add_limit_terms(const BallAngle* angle, const LimitEnergy* law, int base, JointTerms* out) {
  for (int j = 0; j < 3; j++) {
    out->gradient[base + j] += law->first * angle->first[j];
    for (int k = 0; k < 3; k++)
      out->hessian[base + j][base + k] +=
          law->second * angle->first[j] * angle->first[k] + law->first * angle->second[j][k];
  }
}

bool ball_limits(const JointInput* in, int base, bool derivatives, JointTerms* out) {
  assert(base >= 0 && base + BALL_ANGLES <= JOINT_MAX_DOF);
  for (int angle_kind = 0; angle_kind < BALL_ANGLES; angle_kind++) {
    if (!in->link->limited[base + angle_kind]) continue;
    Limits limits = limits_of(in, base + angle_kind);
    bool is_in_impact = joint_is_in_impact(in, base + angle_kind);
    BallAngle angle;
    LimitEnergy law;
    bool directed = angle_of(in->link, angle_kind, quat_at(in->q + base), &angle);
    double now = ball_angle(in->link, angle_kind, quat_at(in->q_now + base));
    if (!limits_energy(&limits, angle.value, &law)) return false;
    if (is_in_impact) law = joint_rebound_energy(&in->stop[base + angle_kind], angle.value - now);
    out->limit += law.value;
    if (!directed) continue;
    LimitResistance stop = resistance(in, base + angle_kind, now, angle.value);
    out->damping += stop.value;
    if (!derivatives) continue;
    double slope = is_in_impact ? law.first : stop.first;
    for (int j = 0; j < 3; j++) out->inertia_force[base + j] += fabs(slope * angle.first[j]);
    law.first += stop.first;
    law.second += stop.by_rate * in->weights.rate_now;
    if (law.first != 0 || law.second != 0) add_limit_terms(&angle, &law, base, out);
  }
  return true;
}

static double dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Quat ball_rotation_before(Quat now, const double difference[3]) {
  return quat_mul(now, quat_exp(vec3(-difference[0], -difference[1], -difference[2])));
}

/* Adds the derivatives of the rebound force of an angle in an impact. The force is proportional to the difference
 * between the change of the angle since t and its required change `aim`, a function of the previous change of the angle
 * (impact.md, I15). The derivatives with respect to the rotation at t are added to now, those with respect to the last
 * displacement to difference_old. force_change: stiffness times the derivative of the angle along lambda. */
static void rebound_adjoint(const JointInput* in, int base, int angle_kind, double force_change, double* now,
                            double* difference_old) {
  static const Joint BALL = {.quaternion = true};
  const double* d = in->difference_old + base;
  Quat at = quat_at(in->q_now + base);
  double by_way = -force_change * in->stop[base + angle_kind].by_difference, slope[3], by_old[3];
  ball_angle_slope(in->link, angle_kind, at, slope);
  for (int j = 0; j < 3; j++) now[j] += (by_way - force_change) * slope[j];
  ball_angle_slope(in->link, angle_kind, ball_rotation_before(at, d), slope);
  for (int j = 0; j < 3; j++) by_old[j] = -by_way * slope[j];
  joint_continue_adjoint(&BALL, d, -1, by_old, now, difference_old);
}

void ball_limits_adjoint(const JointInput* in, int base, const double* lambda, double* now, double* difference_old) {
  assert(base >= 0 && base + BALL_ANGLES <= JOINT_MAX_DOF);
  for (int angle_kind = 0; angle_kind < BALL_ANGLES; angle_kind++) {
    if (!in->link->limited[base + angle_kind]) continue;
    BallAngle angle, before;
    if (!angle_of(in->link, angle_kind, quat_at(in->q + base), &angle)) continue;
    if (!angle_of(in->link, angle_kind, quat_at(in->q_now + base), &before)) continue;
    double along = dot3(lambda, angle.first);
    if (joint_is_in_impact(in, base + angle_kind)) {
      LimitEnergy bounce = joint_rebound_energy(&in->stop[base + angle_kind], angle.value - before.value);
      if (bounce.second > 0) rebound_adjoint(in, base, angle_kind, along * bounce.second, now, difference_old);
      continue;
    }
    LimitResistance stop = resistance(in, base + angle_kind, before.value, angle.value);
    double slope = along * (stop.by_now - in->weights.rate_now * stop.by_rate);
    for (int j = 0; j < 3; j++) now[j] += slope * before.first[j];
  }
}

void ball_limits_parameter_adjoint(const JointInput* in, int base, const double* lambda, double (*out)[JOINT_OWN_COUNT],
                                   double first[JOINT_OWN_COUNT]) {
  assert(base >= 0 && base + BALL_ANGLES <= JOINT_MAX_DOF);
  for (int angle_kind = 0; angle_kind < BALL_ANGLES; angle_kind++) {
    if (!in->link->limited[base + angle_kind]) continue;
    BallAngle angle;
    (void)angle_of(in->link, angle_kind, quat_at(in->q + base), &angle);
    Limits limits = limits_of(in, base + angle_kind);
    double along = dot3(lambda, angle.first), a = in->weights.rate_now;
    double now = ball_angle(in->link, angle_kind, quat_at(in->q_now + base));
    if (joint_is_in_impact(in, base + angle_kind)) {
      const JointStop* stop = &in->stop[base + angle_kind];
      LimitEnergy bounce = joint_rebound_energy(stop, angle.value - now);
      first[JOINT_RESTITUTION] -= along * bounce.second * stop->by_restitution;
      continue;
    }
    LimitForceDerivatives slopes = limits_force_derivatives(&limits, angle.value, now, a * (angle.value - now), a);
    out[angle_kind][JOINT_LOWER] += along * slopes.lower;
    out[angle_kind][JOINT_UPPER] += along * slopes.upper;
    first[JOINT_RESTITUTION] += along * slopes.restitution;
  }
}
