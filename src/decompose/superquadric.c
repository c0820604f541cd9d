/* Distance of a point from the surface of a superquadric along the ray from its centre, and its derivatives with
 * respect to the superquadric's variables.
 */
#include "decompose/superquadric.h"

#include <assert.h>

/* Range of the exponents, from nearly a box (0.1) to an ellipsoid (1). */
#define EXPONENT_MIN 0.1
#define EXPONENT_MAX 1.0
#define LOG_2 0.693147180559945309417

Primitive primitive_create(const Superquadric* superquadric) {
  Primitive out = {.superquadric = *superquadric, .rotation = mat3_from_quat(superquadric->rotation)};
  ShapeDefinition form = {.kind = SMOOTH_SUPERQUADRIC,
                          .size = {superquadric->size[0], superquadric->size[1], superquadric->size[2]},
                          .exponents = {superquadric->exponents[0], superquadric->exponents[1]}};
  (void)shape_create(&out.shape, &form);
  return out;
}

/* Returns true if x is outside the bounding box by at least `limit`. The radial distance is then at least `limit`. */
static bool is_beyond_box(const double* size, Vec3 x, double limit) {
  return fabs(x.x) >= size[0] + limit || fabs(x.y) >= size[1] + limit || fabs(x.z) >= size[2] + limit;
}

double primitive_distance(const Primitive* primitive, Vec3 point, double limit) {
  assert(limit > 0);
  Vec3 x = mat3_tmul_vec(primitive->rotation, vec3_sub(point, primitive->superquadric.position));
  if (is_beyond_box(primitive->superquadric.size, x, limit)) return limit;
  double length = vec3_norm(x), inner = primitive->shape.inner;
  if (length <= inner - limit) return -limit;
  double gauge = 1 + shape_evaluate(&primitive->shape, x).value;
  if (!(gauge > 0)) return -fmin(limit, inner);
  return fmax(-limit, fmin(limit, length * (1 - 1 / gauge)));
}

double primitives_distance(const Primitive* list, int count, Vec3 point, double limit) {
  double distance = limit;
  for (int k = 0; k < count; k++) distance = fmin(distance, primitive_distance(&list[k], point, limit));
  return distance;
}

void primitive_derivatives(const Primitive* primitive, Vec3 point, double* slope) {
  const Shape* shape = &primitive->shape;
  Vec3 x = mat3_tmul_vec(primitive->rotation, vec3_sub(point, primitive->superquadric.position));
  ShapeValue v = shape_evaluate(shape, x);
  double length = vec3_norm(x), gauge = 1 + v.value, by_gauge = length / (gauge * gauge);
  /* The gauge function depends on x / a only, with semi-axis a. Its derivative with respect to log a is therefore -x
   * times its derivative with respect to x. */
  Vec3 at = vec3_scale(v.gradient, by_gauge);
  slope[0] = -LOG_2 * at.x * x.x, slope[1] = -LOG_2 * at.y * x.y, slope[2] = -LOG_2 * at.z * x.z;
  for (int k = 0; k < 2; k++) {
    double value;
    Vec3 gradient;
    shape_parameter_derivative(shape, x, k, &value, &gradient);
    slope[3 + k] = by_gauge * value;
  }
  Vec3 by_place = vec3_add_scaled(at, (1 - 1 / gauge) / length, x);
  vec3_store(vec3_cross(by_place, x), slope + 5);
  vec3_store(vec3_scale(mat3_mul_vec(primitive->rotation, by_place), -1), slope + 8);
}

static double clamp(double value, double low, double high) { return fmin(fmax(value, low), high); }

Superquadric superquadric_add_step(const Superquadric* from, const double* step, double size_min, double size_max) {
  assert(size_min > 0 && size_min <= size_max);
  Superquadric to = *from;
  for (int k = 0; k < 3; k++)
    to.size[k] = clamp(from->size[k] * math_pow(2, clamp(step[k], -1, 1)), size_min, size_max);
  for (int k = 0; k < 2; k++) to.exponents[k] = clamp(from->exponents[k] + step[3 + k], EXPONENT_MIN, EXPONENT_MAX);
  to.rotation = quat_normalized(quat_mul(from->rotation, quat_exp(vec3_at(step + 5))));
  to.position = vec3_add(from->position, vec3_at(step + 8));
  return to;
}
