/* Gauge of all kinds of shapes, computed from phi (shapes.md, B4). */
#include <assert.h>

#include "shapes/shape.h"

/* Largest number of Newton and bisection steps along a ray. Usually a few steps suffice. */
#define MAX_RAY_STEPS 200

static double polytope_surface_factor(const Shape* shape, Vec3 d) {
  double steepest = 0;
  for (int i = 0; i < shape->face_count; i++)
    steepest = fmax(steepest, (shape->nx[i] * d.x + shape->ny[i] * d.y + shape->nz[i] * d.z) / shape->offset[i]);
  return 1 / steepest;
}

/* Returns the factor s for which the point s d lies on the surface of the truncated cone with sharp edges. d: direction
 * of any length. */
static double cone_surface_factor(const Shape* shape, Vec3 d) {
  double below = shape->size[2], above = shape->size[3], rate = (shape->size[1] - shape->size[0]) / (below + above);
  double side = (sqrt(d.y * d.y + d.z * d.z) - rate * d.x) / (shape->size[0] + rate * below);
  return 1 / fmax(side, fmax(-d.x / below, d.x / above));
}

/* Returns an approximation of the factor s for which the point s d lies on the surface of the shape. d: direction of
 * any length. */
static double estimate_surface_factor(const Shape* shape, Vec3 d) {
  if (shape->kind == SMOOTH_POLYTOPE) return polytope_surface_factor(shape, d);
  if (shape->kind == SMOOTH_CONE) return cone_surface_factor(shape, d);
  return 1 / (1 + shape_evaluate(shape, d).value);
}

/* Returns the factor s for which the point s y lies on the surface of the shape, where its level function phi is 0.
 * Sets *evaluated to evaluate(shape, s y). Newton's method starts on the surface of the body with sharp edges, slightly
 * outside of the smooth body, where it converges quickly. */
static double find_surface_factor(const Shape* shape, Vec3 y, ShapeValue (*evaluate)(const Shape*, Vec3),
                                  ShapeValue* evaluated) {
  double length = vec3_norm(y), low = 0.999 * shape->inner / length, high = 1.001 * shape->outer / length;
  double s = fmax(low, fmin(estimate_surface_factor(shape, y), high));
  for (int step = 0; step < MAX_RAY_STEPS; step++) {
    *evaluated = evaluate(shape, vec3_scale(y, s));
    if (evaluated->value < 0)
      low = fmax(low, s);
    else
      high = fmin(high, s);
    double slope = vec3_dot(evaluated->gradient, y), next = s - evaluated->value / slope;
    if (!(slope > 0) || !(next >= low && next <= high)) next = 0.5 * (low + high);
    if (fabs(next - s) <= 1e-15 * s) break;
    s = next;
  }
  return s;
}

/* Let phi be the level function of the shape, gamma its gauge at y, z = y / gamma, g = grad phi(z) and m = g / (z . g).
 * The gradient of the gauge is m. Its Hessian is (I - m z^T) grad^2 phi (I - z m^T) / (gamma z . g). */
Gauge shape_gauge(const Shape* shape, Vec3 y) {
  assert(vec3_norm(y) > 0);
  if (shape_methods(shape->kind)->gauge) {
    ShapeValue v = shape_evaluate(shape, y);
    return (Gauge){v.value + 1, v.gradient, v.hessian};
  }
  ShapeValue evaluated;
  double s = find_surface_factor(shape, y, shape_evaluate, &evaluated);
  Vec3 z = vec3_scale(y, s);
  double d = vec3_dot(z, evaluated.gradient);
  Vec3 m = vec3_scale(evaluated.gradient, 1 / d);
  Mat3 right = mat3_sub(mat3_identity(), mat3_outer(z, m));
  Mat3 hessian = mat3_mul(mat3_mul(mat3_transpose(right), evaluated.hessian), right);
  return (Gauge){1 / s, m, mat3_scale(hessian, s / d)};
}

double shape_gauge_value(const Shape* shape, Vec3 y) {
  if (shape_methods(shape->kind)->gauge) return shape_evaluate(shape, y).value + 1;
  ShapeValue evaluated;
  return 1 / find_surface_factor(
                 shape, y, shape->kind == SMOOTH_POLYTOPE ? polytope_value_and_gradient : shape_evaluate, &evaluated);
}

double shape_extent_bound(const Shape* shape, Vec3 direction) {
  assert(fabs(vec3_norm(direction) - 1) < 1e-6);
  return estimate_surface_factor(shape, direction);
}
