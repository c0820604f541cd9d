/* What a joint does by itself, coordinate by coordinate: spring, dry friction, armature (docs/derivations/drives.md).
 */
#include "simulate/terms.h"

/* k/2 (q - rest)^2 (M4), the force at the spring's own time (M10). */
static void add_spring(const JointInput* in, int k, PassiveTerms* out) {
  double ahead = spring_ahead(&in->spring), stiffness = (1 - in->spring.missing) * in->link->stiffness[k];
  double way = joint_spring_position(in, k) - in->link->rest[k];
  out->spring = 0.5 * stiffness / ahead * way * way;
  out->gradient += stiffness * way;
  out->hessian += stiffness * ahead;
}

/* f / a (sqrt(r^2 + v^2) - v): the force f r / sqrt(r^2 + v^2) (M5). */
static void add_friction(const JointInput* in, int k, double rate, PassiveTerms* out) {
  double force = in->link->friction[k], speed = in->link->friction_speed, a = in->weights.rate_now;
  double root = sqrt(rate * rate + speed * speed);
  out->friction = force / a * (rate * rate / (root + speed));
  out->gradient += force * rate / root;
  out->hessian += force * a * (speed / root) * (speed / root) / root;
}

/* A w/2 (q - y)^2, y the coordinate that inertia alone would have (M6). */
static void add_armature(const JointInput* in, int k, PassiveTerms* out) {
  double mass = in->link->armature[k] * in->inertia_weight, way = in->q[k] - in->q_now[k] - in->aim[k];
  out->inertia = 0.5 * mass * way * way;
  out->inertia_force = fabs(mass * way);
  out->gradient += mass * way;
  out->hessian += mass;
}

PassiveTerms joint_passive(const JointInput* in, int k, double rate) {
  PassiveTerms out = {0};
  if (in->link->stiffness[k] > 0) add_spring(in, k, &out);
  if (in->link->friction[k] > 0) add_friction(in, k, rate, &out);
  if (in->link->armature[k] > 0 && in->aim) add_armature(in, k, &out);
  return out;
}

double joint_ball_friction(const ModelLink* link, int base) {
  const double* f = link->friction + base;
  return (f[0] + f[1] + f[2]) / 3;
}

double joint_friction_slope(const ModelLink* link, int k, double rate) {
  if (!(link->friction[k] > 0)) return 0;
  double speed = link->friction_speed, root = sqrt(rate * rate + speed * speed);
  return link->friction[k] * (speed / root) * (speed / root) / root;
}

/* y - q^t from the steps before, d1 = q^t - q^(t-1) and d2 the one before that, and the initial rate (M6). */
double armature_aim(const StepWeights* w, double dt, double d1, double d2, double start) {
  return -w->y_old * d1 - w->y_older * (d1 + d2) + w->y_rate * dt * start;
}
