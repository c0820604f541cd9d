#include <assert.h>

#include "contact/impact.h"

/* y: compression of a pair (impact_compression); z: clearance of its vertices divided by the support. For small
 * clearances, the derivative |dy/dz| is about COMPRESSION_SLOPE y^(7/5) (impact.md, I2). */
#define COMPRESSION_SLOPE 2.5
/* Displacement in one step at the rest speed, divided by the contact range. The width eta of the impact law is the
 * change of the compression y in such a step. Below FINE_STEP_FRACTION, eta also accounts for the derivative of y with
 * respect to the clearance at the edge of the range (I2). */
#define FINE_STEP_FRACTION 5e-4

double impact_compression(double support, double potential) {
  assert(support > 0);
  return potential > 0 ? sqrt(support * potential / POTENTIAL_TERMS) : 0;
}

/* (I3) Returns the factor phi(t) of the impact force: 0 for t < 0, t for t > 1, and a quintic polynomial in between.
 * phi is twice continuously differentiable. */
static double ramp(double t) {
  if (t >= 1) return t;
  return t > 0 ? t * t * t * (6 + t * (3 * t - 8)) : 0;
}

static double ramp_derivative(double t) {
  if (t >= 1) return 1;
  return t > 0 ? t * t * (18 + t * (15 * t - 32)) : 0;
}

/* Returns the integral of phi(1 + (y - before) / width) y over y in [from, to], with phi(t) = ramp(t). Uses
 * Gauss-Legendre quadrature with four points, which is exact up to degree seven. The integrand has degree six where phi
 * is a quintic, and degree two where phi is linear. */
static double integrate_ramp(double from, double to, double before, double width) {
  static const double node[2] = {0.33998104358485626, 0.86113631159405258},
                      weight[2] = {0.65214515486254614, 0.34785484513745386};
  double middle = 0.5 * (from + to), half = 0.5 * (to - from), sum = 0;
  if (!(half > 0)) return 0;
  for (int k = 0; k < 4; k++) {
    double y = middle + (k % 2 ? half : -half) * node[k / 2];
    sum += weight[k / 2] * ramp(1 + (y - before) / width) * y;
  }
  return half * sum;
}

/* step_fraction returns h = v_r dt / (2 s), the displacement in one step at the rest speed v_r divided by the contact
 * range 2 s (I2). edge_width returns the term eps(h) of the width of the impact law, which makes the width positive at
 * the compression 0. */
static double step_fraction(const ImpactParameters* p) { return p->rest_speed * p->dt / (2 * p->support); }

static double edge_width(double fraction) {
  double fineness = fraction / FINE_STEP_FRACTION;
  return fineness < 1 ? fineness * fineness : 1;
}

Impact impact_evaluate_with_entry(const ImpactParameters* p, double potential, double before, double entry) {
  assert(entry > 0 && entry <= 1);
  if (!(p->rest_speed > 0) || !(potential > 0)) return (Impact){.value = potential, .first = 1};
  double min_compression = impact_compression(p->support, impact_potential(p->support, entry));
  bool begins = before < min_compression;
  if (begins) before = min_compression;
  double s = p->support, y = impact_compression(s, potential), fraction = step_fraction(p), edge = edge_width(fraction);
  double width = fraction * COMPRESSION_SLOPE * (1 + before) * sqrt(edge + before); /* (I2) */
  double growth =
      edge < 1 ? edge / (edge + before) : 0; /* derivative of ln(sqrt(edge + before)) with respect to ln h */
  double t = 1 + (y - before) / width, slope = ramp_derivative(t) / width, excess = y - before;
  double lower = fmax(0, before - width), kink = fmin(y, before);
  double sum = integrate_ramp(lower, kink, before, width) + integrate_ramp(before, y, before, width);
  double by_before =
      -slope * (1 + 1.5 * excess / (1 + before) + 0.5 * excess * (1 - edge) / ((1 + before) * (edge + before)));
  return (Impact){.value = 2 * POTENTIAL_TERMS / s * sum,
                  .first = ramp(t),
                  .second = slope * s / (2 * POTENTIAL_TERMS * y),
                  .by_before = begins ? 0 : by_before,
                  .by_support = slope * (0.5 * y + excess * (1 + growth)) / s,
                  .by_rest_speed = -slope * excess * (1 + growth) / p->rest_speed};
}

Impact impact_evaluate(const ImpactParameters* p, double potential, double before) {
  return impact_evaluate_with_entry(p, potential, before, p->restitution > 0 ? IMPACT_ENTRY : 1);
}

double impact_friction_factor_by_ratio(const Impact* now) {
  double x = now->first - 1;
  return x > 0 ? x * (x * x) / (1 + x * x) : 0;
}

/* Returns the derivative of impact_friction_factor(...).first with respect to now->first. x: now->first - 1. */
static double friction_factor_derivative(double x, double ratio) {
  double square = x * x;
  return 1 + (ratio - 1) * square * (3 + square) / ((1 + square) * (1 + square));
}

Impact impact_friction_factor(const Impact* now, double ratio) {
  assert(ratio >= 0);
  Impact load = *now;
  double x = now->first - 1;
  if (ratio == 1 || !(x > 0)) return load;
  double slope = friction_factor_derivative(x, ratio);
  load.first = now->first + (ratio - 1) * impact_friction_factor_by_ratio(now);
  load.second *= slope;
  load.by_before *= slope;
  load.by_support *= slope;
  load.by_rest_speed *= slope;
  return load;
}

static void pair_gradient(const PairDerivatives* d, int side, double g[6]) {
  Vec3 torque = mat3_axial(d->moment[side]), force = d->force[side];
  const double all[6] = {torque.x, torque.y, torque.z, force.x, force.y, force.z};
  for (int k = 0; k < 6; k++) g[k] = all[k];
}

void impact_scale(const Impact* impact, bool half_space, PairDerivatives* d) {
  double g[12] = {0};
  pair_gradient(d, 0, g);
  if (!half_space) pair_gradient(d, 1, g + 6);
  for (int i = 0; i < 12; i++) {
    double row = impact->second * g[i];
    for (int j = 0; j < 12; j++) d->hessian[i][j] = impact->first * d->hessian[i][j] + row * g[j];
  }
  for (int k = 0; k < 2; k++) {
    d->force[k] = vec3_scale(d->force[k], impact->first);
    d->moment[k] = mat3_scale(d->moment[k], impact->first);
  }
}

void impact_return_wrench(const PairDerivatives* potential, double share, const Vec3 reference[2],
                          const Pose* const pose[2], ReturnWrench* out) {
  for (int k = 0; k < 2; k++) {
    Vec3 arm = vec3_sub(reference[k], pose[k]->t);
    Vec3 torque = vec3_add(mat3_axial(potential->moment[k]), vec3_cross(arm, potential->force[k]));
    out->force[k] = vec3_scale(potential->force[k], share);
    out->moment[k] = mat3_cross(vec3_scale(torque, 0.5 * share));
    out->start[k] = *pose[k];
  }
}

static Mat3 rotation_since(const ReturnWrench* wrench, int k, const Pose* pose) {
  return mat3_mul(pose->r, mat3_transpose(wrench->start[k].r));
}

double impact_return_energy(const ReturnWrench* wrench, const Pose* const pose[2]) {
  double energy = 0;
  for (int k = 0; k < 2; k++) {
    energy += vec3_dot(wrench->force[k], vec3_sub(pose[k]->t, wrench->start[k].t));
    energy += 0.5 * vec3_dot(mat3_axial(wrench->moment[k]), mat3_axial(rotation_since(wrench, k, pose[k])));
  }
  return energy;
}

void impact_return_derivatives(const ReturnWrench* wrench, const Vec3 reference[2], const Pose* const pose[2],
                               PairDerivatives* d) {
  for (int k = 0; k < 2; k++) {
    Mat3 turned = mat3_mul(wrench->moment[k], mat3_transpose(rotation_since(wrench, k, pose[k])));
    Mat3 shifted = mat3_outer(wrench->force[k], vec3_sub(pose[k]->t, reference[k]));
    d->force[k] = vec3_add(d->force[k], wrench->force[k]);
    d->moment[k] = mat3_add(d->moment[k], mat3_add(turned, shifted));
  }
}
