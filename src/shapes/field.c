/* Values of signed distance fields (Y1-Y6). docs/derivations/fields.md */
#include "shapes/shapes.h"
#include <assert.h>
#include <string.h>
#include "shapes/shape.h"

/* ---------------------------------------------------------------- convex shapes */

/* Returns the signed distance field of a smooth polytope: its dimensionless level function phi times its reference
 * length l (Y2). */
static FieldValue polytope_field(const Shape* shape, Vec3 x) {
  ShapeValue v = polytope_evaluate(shape, x);
  double length = shape->length;
  Vec3 gradient = vec3_scale(v.gradient, length);
  return (FieldValue){v.value * length, gradient, gradient, mat3_scale(v.hessian, length)};
}

static FieldValue shape_field(const Shape* shape, Vec3 x) {
  if (shape->kind == SMOOTH_POLYTOPE) return polytope_field(shape, x);
  FieldValue out = {.value = -shape->inner};
  double distance = vec3_norm(x);
  if (!(distance > 1e-12 * shape->inner)) return out;
  Gauge gauge = shape_gauge(shape, x);
  double inverse = 1 / gauge.value, steepness = vec3_norm(gauge.gradient);
  out.value = distance * (1 - inverse);
  out.gradient =
      vec3_add(vec3_scale(x, (1 - inverse) / distance), vec3_scale(gauge.gradient, distance * inverse * inverse));
  out.outward = vec3_scale(gauge.gradient, 1 / steepness);
  Mat3 tangential = mat3_sub(mat3_identity(), mat3_outer(out.outward, out.outward));
  out.outward_jacobian = mat3_scale(mat3_mul(tangential, gauge.hessian), 1 / steepness);
  return out;
}

/* ---------------------------------------------------------------- points with normals */

static void add_outer(Mat3* sum, double factor, Vec3 a, Vec3 b) {
  *sum = mat3_add(*sum, mat3_scale(mat3_outer(a, b), factor));
}

/* Returns the field of points p_i with normals n_i (Y3). E is the weighted mean over the points, b_i = -(x - p_i) /
 * radius^2, and h_i = n_i . (x - p_i) is the height of x above the plane of point i:
 *     gradient = E[n] + E[h b] - phi E[b]
 *     Hessian = E[n b^T] + E[b n^T] + E[h b b^T] - gradient E[b]^T - E[b] gradient^T - phi E[b b^T] */
static FieldValue points_field(const Field* field, Vec3 x) {
  double inverse = 1 / (field->radius * field->radius), nearest = HUGE_VAL, sum = 0, height = 0;
  for (int i = 0; i < field->count; i++) {
    Vec3 arm = vec3_sub(x, field->points[i]);
    nearest = fmin(nearest, vec3_dot(arm, arm));
  }
  Vec3 normal = vec3(0, 0, 0), mean_arm = normal, height_arm = normal;
  Mat3 hessian_sum = mat3_zero(), arm_outer = hessian_sum;
  for (int i = 0; i < field->count; i++) {
    Vec3 arm = vec3_sub(x, field->points[i]), b = vec3_scale(arm, -inverse), n = field->normals[i];
    double w = math_exp_nonpositive(0.5 * inverse * (nearest - vec3_dot(arm, arm)));
    if (!(w > 0)) continue;
    double h = vec3_dot(n, arm);
    sum += w;
    height += w * h;
    normal = vec3_add_scaled(normal, w, n);
    mean_arm = vec3_add_scaled(mean_arm, w, b);
    height_arm = vec3_add_scaled(height_arm, w * h, b);
    add_outer(&hessian_sum, w, n, b);
    add_outer(&hessian_sum, w, b, n);
    add_outer(&hessian_sum, w * h, b, b);
    add_outer(&arm_outer, w, b, b);
  }
  FieldValue out = {.value = height / sum};
  mean_arm = vec3_scale(mean_arm, 1 / sum);
  out.gradient = vec3_add_scaled(vec3_scale(vec3_add(normal, height_arm), 1 / sum), -out.value, mean_arm);
  out.outward = out.gradient;
  out.outward_jacobian = mat3_scale(hessian_sum, 1 / sum);
  add_outer(&out.outward_jacobian, -1, out.gradient, mean_arm);
  add_outer(&out.outward_jacobian, -1, mean_arm, out.gradient);
  out.outward_jacobian = mat3_add(out.outward_jacobian, mat3_scale(arm_outer, -out.value / sum));
  return out;
}

/* ---------------------------------------------------------------- unions */

/* Sums over the parts of a union with the weights w_i = exp((minimum - phi_i) / tau). phi_i: field value of part i;
 * tau: smoothing length of the union; minimum: smallest phi_i so far. */
typedef struct {
  double minimum, sum;
  Vec3 gradient, outward;
  Mat3 outward_jacobian, outward_gradient; /* outward_jacobian: sum of w_i outward_jacobian_i; outward_gradient: sum of
                                              w_i outward_i gradient_i^T */
} SmoothMinimum;

static void rescale(SmoothMinimum* s, double factor) {
  s->sum *= factor;
  s->gradient = vec3_scale(s->gradient, factor);
  s->outward = vec3_scale(s->outward, factor);
  s->outward_jacobian = mat3_scale(s->outward_jacobian, factor);
  s->outward_gradient = mat3_scale(s->outward_gradient, factor);
}

/* Smallest logarithm of a part's weight. A relative weight of exp(-40) is below the rounding error. */
#define MIN_LOG_WEIGHT (-40.0)

/* Adds the field value and derivatives of a part to the sums of a union. tau: smoothing length. If sign is -1, the
 * field of the part is negated. */
static void add_to_smooth_minimum(SmoothMinimum* s, double tau, double sign, const FieldValue* part) {
  double value = sign * part->value;
  if (value < s->minimum) {
    rescale(s, s->sum > 0 ? math_exp_nonpositive((value - s->minimum) / tau) : 0);
    s->minimum = value;
  }
  double exponent = (s->minimum - value) / tau;
  if (exponent < MIN_LOG_WEIGHT) return;
  double w = math_exp_nonpositive(exponent);
  s->sum += w;
  s->gradient = vec3_add_scaled(s->gradient, sign * w, part->gradient);
  s->outward = vec3_add_scaled(s->outward, sign * w, part->outward);
  s->outward_jacobian = mat3_add(s->outward_jacobian, mat3_scale(part->outward_jacobian, sign * w));
  add_outer(&s->outward_gradient, w, part->outward, part->gradient);
}

/* Returns the smooth minimum -tau log sum exp(-phi_i / tau) of the parts' field values phi_i, and its derivatives (Y4).
 * tau: smoothing length. The normalized weights w_i have the gradients -w_i (gradient_i - gradient) / tau. */
static FieldValue smooth_minimum(const SmoothMinimum* s, double tau) {
  double inverse = 1 / s->sum;
  FieldValue out = {.value = s->minimum - tau * math_log_above_one(s->sum)};
  out.gradient = vec3_scale(s->gradient, inverse);
  out.outward = vec3_scale(s->outward, inverse);
  out.outward_jacobian = mat3_scale(s->outward_jacobian, inverse);
  Mat3 arm = mat3_sub(mat3_scale(s->outward_gradient, inverse), mat3_outer(out.outward, out.gradient));
  out.outward_jacobian = mat3_add(out.outward_jacobian, mat3_scale(arm, -1 / tau));
  return out;
}

/* Returns |x - c|^2 - (outer + margin)^2 [m^2] for a part with centre c and a bounding ball of radius outer. If the
 * result is positive, phi(x) > margin, because phi >= |x - c| - outer (Y1). Returns -HUGE_VAL for kinds of fields
 * without such a bound. */
static double square_outside_ball(const Field* part, Vec3 x, double margin) {
  if (part->kind != FIELD_SHAPE || part->shape.kind == SMOOTH_POLYTOPE) return -HUGE_VAL;
  Vec3 arm = vec3_sub(x, part->pose.t);
  double outer = part->shape.outer + margin;
  return vec3_dot(arm, arm) - outer * outer;
}

/* Adds the parts of a union to the sums, beginning with the part that is probably nearest to x. Parts with negligible
 * weight are skipped. */
static void add_parts(const Field* field, Vec3 x, SmoothMinimum* s) {
  int first = 0;
  double nearest = HUGE_VAL;
  for (int i = 0; i < field->part_count; i++) {
    double far = square_outside_ball(&field->parts[i], x, 0);
    if (!(far < nearest)) continue;
    nearest = far;
    first = i;
  }
  for (int k = -1; k < field->part_count; k++) {
    const Field* part_field = &field->parts[k < 0 ? first : k];
    double reach = s->minimum - MIN_LOG_WEIGHT * field->smoothing;
    if (k == first || (k >= 0 && reach > -part_field->shape.outer && square_outside_ball(part_field, x, reach) > 0))
      continue;
    FieldValue part = field_evaluate(part_field, x);
    add_to_smooth_minimum(s, field->smoothing, 1, &part);
  }
}

static FieldValue combined_field(const Field* field, Vec3 x) {
  SmoothMinimum s = {.minimum = HUGE_VAL};
  bool subtraction = field->kind == FIELD_SUBTRACTION;
  if (!subtraction) add_parts(field, x, &s);
  for (int i = 0; subtraction && i < field->part_count; i++) {
    FieldValue part = field_evaluate(&field->parts[i], x);
    add_to_smooth_minimum(&s, field->smoothing, i == 0 ? -1 : 1, &part);
  }
  FieldValue out = smooth_minimum(&s, field->smoothing);
  if (!subtraction) return out;
  return (FieldValue){-out.value, vec3_scale(out.gradient, -1), vec3_scale(out.outward, -1),
                      mat3_scale(out.outward_jacobian, -1)};
}

FieldValue field_evaluate(const Field* field, Vec3 position) {
  Vec3 x = pose_apply_inverse(field->pose, position);
  FieldValue v;
  if (field->kind == FIELD_SHAPE)
    v = shape_field(&field->shape, x);
  else if (field->kind == FIELD_POINTS)
    v = points_field(field, x);
  else
    v = combined_field(field, x);
  Mat3 r = field->pose.r;
  v.gradient = mat3_mul_vec(r, v.gradient);
  v.outward = mat3_mul_vec(r, v.outward);
  v.outward_jacobian = mat3_mul(mat3_mul(r, v.outward_jacobian), mat3_transpose(r));
  return v;
}

/* ---------------------------------------------------------------- creation and destruction */

/* Distance of the test positions from the mean of the points, relative to the distance of the farthest point from the
 * mean. */
#define TEST_DISTANCE 10

/* Returns true if the field (Y3) of the points and normals (count) is negative at x. */
static bool is_negative_at(const Vec3* points, const Vec3* normals, int count, double radius, Vec3 x) {
  double nearest = HUGE_VAL, sum = 0;
  for (int i = 0; i < count; i++) nearest = fmin(nearest, vec3_norm(vec3_sub(x, points[i])));
  for (int i = 0; i < count; i++) {
    Vec3 arm = vec3_sub(x, points[i]);
    double beyond = (vec3_dot(arm, arm) - nearest * nearest) / (2 * radius * radius);
    sum += math_pow(2, -beyond * 0x1.71547652b82fep+0) * vec3_dot(vec3_normalized(normals[i]), arm);
  }
  return sum < 0;
}

const char* field_check_points(const Vec3* points, const Vec3* normals, int count, double radius) {
  assert(points && normals && count > 0 && radius > 0);
  Vec3 center = {0, 0, 0};
  double reach = radius;
  int inside = 0;
  for (int i = 0; i < count; i++) center = vec3_add_scaled(center, 1.0 / count, points[i]);
  for (int i = 0; i < count; i++) reach = fmax(reach, vec3_norm(vec3_sub(points[i], center)));
  for (int k = 0; k < 27; k++) {
    const int row = k / 3 % 3, layer = k / 9;
    Vec3 direction = vec3(k % 3 - 1, row - 1, layer - 1);
    if (k != 13)
      inside += is_negative_at(points, normals, count, radius,
                               vec3_add_scaled(center, TEST_DISTANCE * reach, vec3_normalized(direction)));
  }
  return inside < 26 ? NULL : "its points are inside out: their normals must point outward";
}

void field_free(Field* field) {
  assert(field);
  for (int i = 0; i < field->part_count; i++) field_free(&field->parts[i]);
  memory_free(field->parts);
  memory_free(field->points);
  memory_free(field->normals);
  shape_free(&field->shape);
  *field = (Field){0};
}
