/* Support point (farthest point along a direction) of a smooth shape, and its derivatives (shapes.md, B9). */
#include <assert.h>

#include "shapes/shape.h"

enum { MAX_NEWTON_STEPS = 100, MAX_HALVINGS = 50 };
/* Newton's method ends when the Newton decrement, relative to the squared extent along the direction, is below this
 * value. */
#define CONVERGED_DECREMENT 1e-28
/* If the Newton decrement is below this value, Newton's method takes full steps without a line search, because rounding
 * then hides a decrease of the value. */
#define FULL_STEP_DECREMENT 1e-12
/* A pivot of the Cholesky factor of the Hessian must be above this value, relative to the trace of the Hessian. */
#define MIN_PIVOT 1e-15
/* Longest step of Newton's method, relative to the size of the shape. The limit is needed because the Hessian is
 * singular on a flat face. */
#define MAX_STEP 1.0
/* The support point counts as unique if the surface's least curvature is above this value, in units of 1 / outer. */
#define MIN_CURVATURE 1e-8

/* ---------------------------------------------------------------- shapes given by norms: closed form */

/* Maximizes the linear function sum n_i x_i over the body on whose surface the ratios x_i / a_i have the norm 1 of
 * order m. length: semi-axes a_i (count); n: coefficients (count). Returns the maximum, which is the norm of order m /
 * (m - 1) of the products a_i n_i. Sets part to the ratios x_i / a_i of the maximizing point. */
static double maximize_linear(const double* length, const double* n, int count, double m, double* part) {
  double largest = 0, sum = 0, order = m / (m - 1);
  for (int i = 0; i < count; i++) largest = fmax(largest, fabs(length[i] * n[i]));
  for (int i = 0; i < count; i++) part[i] = 0;
  if (!(largest > 0)) return 0;
  for (int i = 0; i < count; i++) {
    double t = fabs(length[i] * n[i]) / largest;
    sum += t > 0 ? math_pow(t, order) : 0;
  }
  double norm = largest * math_pow(sum, 1 / order);
  for (int i = 0; i < count; i++) {
    double t = fabs(length[i] * n[i]) / norm;
    part[i] = t > 0 ? copysign(math_pow(t, order - 1), n[i]) : 0;
  }
  return norm;
}

static Vec3 superellipsoid_point(const Shape* shape, Vec3 d) {
  const double n[3] = {d.x, d.y, d.z};
  double part[3];
  maximize_linear(shape->size, n, 3, 2 * shape->exponent, part);
  return vec3(shape->size[0] * part[0], shape->size[1] * part[1], shape->size[2] * part[2]);
}

static Vec3 cylinder_point(const Shape* shape, Vec3 d) {
  double radial = sqrt(d.y * d.y + d.z * d.z), part[2];
  const double n[2] = {radial, d.x};
  maximize_linear(shape->size, n, 2, 2 * shape->exponent, part);
  double round = radial > 0 ? shape->size[0] * part[0] / radial : 0;
  return vec3(shape->size[1] * part[1], round * d.y, round * d.z);
}

static Vec3 superquadric_point(const Shape* shape, Vec3 d) {
  const double n[2] = {d.x, d.y};
  double inner_ratio[2], part[2];
  const double inner_and_z[2] = {maximize_linear(shape->size, n, 2, 2 / shape->exponents[1], inner_ratio), d.z};
  const double length[2] = {1, shape->size[2]};
  maximize_linear(length, inner_and_z, 2, 2 / shape->exponents[0], part);
  return vec3(shape->size[0] * part[0] * inner_ratio[0], shape->size[1] * part[0] * inner_ratio[1],
              shape->size[2] * part[1]);
}

/* ---------------------------------------------------------------- other shapes: minimum of gamma^2 / 2 - d . z */

/* Computes the Cholesky factor L of h + shift I. Returns false if a pivot is not above min_pivot. */
static bool cholesky_factor(Mat3 h, double shift, double min_pivot, double l[3][3]) {
  for (int i = 0; i < 3; i++)
    for (int k = 0; k <= i; k++) {
      double sum = h.m[i][k] + (i == k ? shift : 0);
      for (int m = 0; m < k; m++) sum -= l[i][m] * l[k][m];
      if (i == k && !(sum > min_pivot)) return false;
      l[i][k] = i == k ? sqrt(sum) : sum / l[k][k];
    }
  return true;
}

/* Solves h step = -g for a positive semidefinite Hessian h. The diagonal is raised while pivots are too small, because
 * h is singular on a flat face. Returns the squared Newton decrement. */
static double newton_step(Mat3 h, Vec3 g, Vec3* step) {
  double trace = mat3_trace(h), l[3][3], shift = 0;
  *step = vec3(0, 0, 0);
  while (!cholesky_factor(h, shift, MIN_PIVOT * trace, l)) {
    if (!(shift <= trace)) return 0; /* h is not finite */
    shift = shift > 0 ? 10 * shift : MIN_PIVOT * trace;
  }
  double y[3] = {-g.x, -g.y, -g.z};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < i; k++) y[i] -= l[i][k] * y[k];
    y[i] /= l[i][i];
  }
  for (int i = 2; i >= 0; i--) {
    for (int k = i + 1; k < 3; k++) y[i] -= l[k][i] * y[k];
    y[i] /= l[i][i];
  }
  *step = vec3_at(y);
  return -vec3_dot(g, *step);
}

static Vec3 minimize_for_support_point(const Shape* shape, Vec3 d) {
  double scale = shape->outer * vec3_norm(d);
  Vec3 z = vec3_scale(d, shape->inner / vec3_norm(d)); /* scaled so that the reach is about 1 */
  z = vec3_scale(z, 1 / shape_gauge(shape, z).value);
  z = vec3_scale(z, vec3_dot(d, z) / scale);
  Gauge gauge = shape_gauge(shape, z);
  for (int k = 0; k < MAX_NEWTON_STEPS; k++) {
    Vec3 n = vec3_scale(d, 1 / scale), step;
    Vec3 g = vec3_sub(vec3_scale(gauge.gradient, gauge.value), n);
    Mat3 h = mat3_add(mat3_outer(gauge.gradient, gauge.gradient), mat3_scale(gauge.hessian, gauge.value));
    double decrement = newton_step(h, g, &step), value = 0.5 * gauge.value * gauge.value - vec3_dot(n, z);
    double longest = fmin(1, MAX_STEP * shape->outer / vec3_norm(step)), t = longest;
    if (!(decrement > CONVERGED_DECREMENT)) break;
    bool is_evaluated = false; /* true if `at` already belongs to the next point */
    for (int halved = 0; halved < MAX_HALVINGS && decrement > FULL_STEP_DECREMENT; halved++, t *= 0.5) {
      Vec3 next = vec3_add_scaled(z, t, step);
      is_evaluated = vec3_dot(next, next) > 0;
      if (is_evaluated) gauge = shape_gauge(shape, next);
      double gamma = is_evaluated ? gauge.value : 0;
      if (0.5 * gamma * gamma - vec3_dot(n, next) <= value - 0.1 * t * decrement) break;
      is_evaluated = false;
    }
    z = vec3_add_scaled(z, t, step);
    if (!is_evaluated) gauge = shape_gauge(shape, z);
    if (t < 1e-12 * longest) break;
  }
  return vec3_scale(z, 1 / gauge.value);
}

ShapeSupport shape_support(const Shape* shape, Vec3 direction) {
  assert(vec3_norm(direction) > 0);
  ShapeSupport s;
  if (shape->kind == SMOOTH_SUPERELLIPSOID)
    s.point = superellipsoid_point(shape, direction);
  else if (shape->kind == SMOOTH_CYLINDER)
    s.point = cylinder_point(shape, direction);
  else if (shape->kind == SMOOTH_SUPERQUADRIC)
    s.point = superquadric_point(shape, direction);
  else
    s.point = minimize_for_support_point(shape, direction);
  s.reach = vec3_dot(direction, s.point);
  s.at = shape_evaluate(shape, s.point);
  return s;
}

/* Differentiates the conditions of the support point z in the direction d: phi(z) = 0, and lambda grad phi = d with a
 * multiplier lambda, for the level function phi. The result is dz = -dphi z / (z . g) + T c, where dphi is the
 * derivative of phi with respect to the parameter, g the gradient and T c a combination of two tangents. */
bool shape_support_derivative(const Shape* shape, const ShapeSupport* support, Vec3 direction,
                              const Vec3* direction_change, int k, Vec3* change) {
  assert(k < shape_parameter_count(shape));
  Vec3 z = support->point, g = support->at.gradient, gradient_derivative = {0, 0, 0}, t[2], right_side = {0, 0, 0};
  double value_derivative = 0, lambda = vec3_dot(direction, z) / vec3_dot(g, z), a[2][2], b[2];
  if (k >= 0) shape_parameter_derivative(shape, z, k, &value_derivative, &gradient_derivative);
  *change = vec3_scale(z, -value_derivative / vec3_dot(z, g));
  if (direction_change) right_side = *direction_change;
  right_side =
      vec3_add_scaled(right_side, -lambda, vec3_add(gradient_derivative, mat3_mul_vec(support->at.hessian, *change)));
  Vec3 n = vec3_normalized(direction);
  t[0] = vec3_perpendicular(n);
  t[1] = vec3_cross(n, t[0]);
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) a[i][j] = lambda * vec3_dot(t[i], mat3_mul_vec(support->at.hessian, t[j]));
    b[i] = vec3_dot(t[i], right_side);
  }
  double trace = a[0][0] + a[1][1], det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
  if (!(det > MIN_CURVATURE * trace * vec3_norm(direction) / shape->outer)) return false;
  *change = vec3_add_scaled(*change, (a[1][1] * b[0] - a[0][1] * b[1]) / det, t[0]);
  *change = vec3_add_scaled(*change, (a[0][0] * b[1] - a[1][0] * b[0]) / det, t[1]);
  return true;
}
