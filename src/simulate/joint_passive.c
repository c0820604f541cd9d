/* Passive forces of a joint on each hinge angle and displacement: spring, dry friction, armature
 * (docs/derivations/drives.md). */
#include <assert.h>

#include "base/base.h"
#include "simulate/terms.h"

/* Adds the spring energy k/2 (q - rest)^2 (M4) with its gradient and Hessian. q: coordinate with the time weights of
 * the spring (M10). */
static void add_spring(const JointInput* in, int k, PassiveTerms* out) {
  double ahead = spring_weight_of_end(&in->spring), stiffness = (1 - in->spring.missing) * in->link->stiffness[k];
  double extension = joint_spring_position(in, k) - in->link->rest[k];
  out->spring = 0.5 * stiffness / ahead * extension * extension;
  out->gradient += stiffness * extension;
  out->hessian += stiffness * ahead;
}

/* Returns the integral of exp(-(2 v t + t^2) / s^2) over t from 0 to `end`, for v <= s, a part of the static friction
 * energy (M11). Uses Gauss quadrature with 8 points on intervals of at most s, with a relative error below 1e-14.
 * Beyond 6 s the integrand is below 3e-16. */
static double stribeck_integral(double end, double v, double s) {
  static const double NODE[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  static const double WEIGHT[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  end = fmin(end, 6 * s);
  int count = (int)fmax(1, ceil(end / s));
  double half = 0.5 * end / count, sum = 0;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < 8; j++) {
      double t = half * (2 * i + 1 + (j < 4 ? -NODE[j] : NODE[j - 4]));
      sum += WEIGHT[j % 4] * math_exp_nonpositive(-t * (2 * v + t) / (s * s));
    }
  return half * sum;
}

StaticFriction joint_static_friction(const ModelLink* link, int k, double rate) {
  assert(k >= 0 && k < JOINT_MAX_DOF);
  if (!(link->static_friction[k] > 0)) return (StaticFriction){0};
  double more = link->static_friction[k] - link->friction[k], v = link->friction_speed, s = link->stribeck_speed;
  double root = sqrt(rate * rate + v * v), bend = (v / root) * (v / root) / root;
  double share = math_exp_nonpositive(-(rate / s) * (rate / s)), by_static = share * rate / root;
  return (StaticFriction){more * stribeck_integral(rate * rate / (root + v), v, s), more * by_static,
                          more * share * (bend - 2 * (rate / s) * (rate / s) / root), by_static};
}

/* Adds the dry friction energy f / a (sqrt(r^2 + v^2) - v), whose force is f r / sqrt(r^2 + v^2) (M5), and the energy
 * of the excess of static friction (M11). r: rate; f: friction force; v: speed of the smoothing; a: derivative of the
 * rate with respect to the coordinate. */
static void add_friction(const JointInput* in, int k, double rate, PassiveTerms* out) {
  double force = in->link->friction[k], speed = in->link->friction_speed, a = in->weights.rate_now;
  double root = sqrt(rate * rate + speed * speed);
  StaticFriction more = joint_static_friction(in->link, k, rate);
  out->friction = force / a * (rate * rate / (root + speed)) + more.work / a;
  out->gradient += force * rate / root + more.force;
  out->hessian += force * a * (speed / root) * (speed / root) / root + more.slope * a;
}

/* Adds the armature energy A w/2 (q - y)^2 with its gradient and Hessian. A: armature; w: weight of inertial energies;
 * y: coordinate predicted by armature inertia alone (M6). */
static void add_armature(const JointInput* in, int k, PassiveTerms* out) {
  double mass = in->link->armature[k] * in->inertia_weight, deviation = in->q[k] - in->q_now[k] - in->aim[k];
  out->inertia = 0.5 * mass * deviation * deviation;
  out->inertia_force = fabs(mass * deviation);
  out->gradient += mass * deviation;
  out->hessian += mass;
}

PassiveTerms joint_passive(const JointInput* in, int k, double rate) {
  assert(k >= 0 && k < JOINT_MAX_DOF);
  PassiveTerms out = {0};
  if (in->link->stiffness[k] > 0) add_spring(in, k, &out);
  bool has_friction = in->link->friction[k] > 0 || in->link->static_friction[k] > 0;
  if (has_friction) add_friction(in, k, rate, &out);
  if (in->link->armature[k] > 0 && in->aim) add_armature(in, k, &out);
  return out;
}

double joint_ball_friction(const ModelLink* link, int base) {
  assert(base >= 0 && base + 3 <= JOINT_MAX_DOF);
  const double* f = link->friction + base;
  return (f[0] + f[1] + f[2]) / 3;
}

double joint_friction_slope(const ModelLink* link, int k, double rate) {
  assert(k >= 0 && k < JOINT_MAX_DOF);
  double more = joint_static_friction(link, k, rate).slope;
  if (!(link->friction[k] > 0)) return more;
  double speed = link->friction_speed, root = sqrt(rate * rate + speed * speed);
  return link->friction[k] * (speed / root) * (speed / root) / root + more;
}

/* Returns y - q^t from the displacements d1 = q^t - q^(t-1) and d2 = q^(t-1) - q^(t-2) and the initial rate `start`
 * (M6). y: coordinate predicted by armature inertia alone. */
double armature_aim(const StepWeights* w, double dt, double d1, double d2, double start) {
  assert(dt > 0);
  return -w->y_old * d1 - w->y_older * (d1 + d2) + w->y_rate * dt * start;
}
