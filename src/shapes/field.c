/* Values of signed distance fields (Y1-Y6). docs/derivations/fields.md */
#include "shapes/shapes.h"
#include <assert.h>
#include <string.h>
#include "shapes/shape.h"

/* ---------------------------------------------------------------- convex shapes */

/* Returns l phi, which is the signed distance field of a polytope (Y2). */
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
  double over = 1 / gauge.value, steep = vec3_norm(gauge.gradient);
  out.value = distance * (1 - over);
  out.gradient = vec3_add(vec3_scale(x, (1 - over) / distance), vec3_scale(gauge.gradient, distance * over * over));
  out.outward = vec3_scale(gauge.gradient, 1 / steep);
  Mat3 across = mat3_sub(mat3_identity(), mat3_outer(out.outward, out.outward));
  out.turn = mat3_scale(mat3_mul(across, gauge.hessian), 1 / steep);
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
  double over = 1 / (field->radius * field->radius), nearest = HUGE_VAL, sum = 0, height = 0;
  for (int i = 0; i < field->count; i++) {
    Vec3 apart = vec3_sub(x, field->points[i]);
    nearest = fmin(nearest, vec3_dot(apart, apart));
  }
  Vec3 normal = vec3(0, 0, 0), pull = normal, raised = normal;
  Mat3 bent = mat3_zero(), spread = bent;
  for (int i = 0; i < field->count; i++) {
    Vec3 apart = vec3_sub(x, field->points[i]), b = vec3_scale(apart, -over), n = field->normals[i];
    double w = math_exp_nonpositive(0.5 * over * (nearest - vec3_dot(apart, apart)));
    if (!(w > 0)) continue;
    double h = vec3_dot(n, apart);
    sum += w;
    height += w * h;
    normal = vec3_add_scaled(normal, w, n);
    pull = vec3_add_scaled(pull, w, b);
    raised = vec3_add_scaled(raised, w * h, b);
    add_outer(&bent, w, n, b);
    add_outer(&bent, w, b, n);
    add_outer(&bent, w * h, b, b);
    add_outer(&spread, w, b, b);
  }
  FieldValue out = {.value = height / sum};
  pull = vec3_scale(pull, 1 / sum);
  out.gradient = vec3_add_scaled(vec3_scale(vec3_add(normal, raised), 1 / sum), -out.value, pull);
  out.outward = out.gradient;
  out.turn = mat3_scale(bent, 1 / sum);
  add_outer(&out.turn, -1, out.gradient, pull);
  add_outer(&out.turn, -1, pull, out.gradient);
  out.turn = mat3_add(out.turn, mat3_scale(spread, -out.value / sum));
  return out;
}

/* ---------------------------------------------------------------- unions */

/* Sums over the parts of a union, weighted by w_i = exp((least - phi_i) / tau). least: smallest phi_i so far. */
typedef struct {
  double least, sum;
  Vec3 gradient, outward;
  Mat3 turn, mixed; /* sum of w_i turn_i; sum of w_i outward_i gradient_i^T */
} SoftLeast;

static void rescale(SoftLeast* s, double factor) {
  s->sum *= factor;
  s->gradient = vec3_scale(s->gradient, factor);
  s->outward = vec3_scale(s->outward, factor);
  s->turn = mat3_scale(s->turn, factor);
  s->mixed = mat3_scale(s->mixed, factor);
}

/* A part is skipped if the logarithm of its weight is below this value. A relative weight of exp(-40) is below the
 * rounding error. */
#define WEIGHT_GONE (-40.0)

/* Adds the value and derivatives of a part to the sums. If sign is -1, the field of the part is negated. */
static void add_part(SoftLeast* s, double tau, double sign, const FieldValue* part) {
  double value = sign * part->value;
  if (value < s->least) {
    rescale(s, s->sum > 0 ? math_exp_nonpositive((value - s->least) / tau) : 0);
    s->least = value;
  }
  double exponent = (s->least - value) / tau;
  if (exponent < WEIGHT_GONE) return;
  double w = math_exp_nonpositive(exponent);
  s->sum += w;
  s->gradient = vec3_add_scaled(s->gradient, sign * w, part->gradient);
  s->outward = vec3_add_scaled(s->outward, sign * w, part->outward);
  s->turn = mat3_add(s->turn, mat3_scale(part->turn, sign * w));
  add_outer(&s->mixed, w, part->outward, part->gradient);
}

/* Returns the smooth minimum -tau log sum exp(-phi_i / tau) and its derivatives (Y4). The weights w_i, proportional to
 * exp(-phi_i / tau) with sum 1, have the gradients -w_i (gradient_i - gradient) / tau. */
static FieldValue soft_least(const SoftLeast* s, double tau) {
  double over = 1 / s->sum;
  FieldValue out = {.value = s->least - tau * math_log_above_one(s->sum)};
  out.gradient = vec3_scale(s->gradient, over);
  out.outward = vec3_scale(s->outward, over);
  out.turn = mat3_scale(s->turn, over);
  Mat3 apart = mat3_sub(mat3_scale(s->mixed, over), mat3_outer(out.outward, out.gradient));
  out.turn = mat3_add(out.turn, mat3_scale(apart, -1 / tau));
  return out;
}

/* Returns |x - c|^2 - (outer + reach)^2 [m^2], where c is the centre of the part and outer the radius of a ball that
 * contains the part. If the result is positive, phi(x) > reach, because fields (Y1) satisfy phi >= |x - c| - outer.
 * Returns -HUGE_VAL for kinds of fields without such a bound. */
static double far_square(const Field* part, Vec3 x, double reach) {
  if (part->kind != FIELD_SHAPE || part->shape.kind == SMOOTH_POLYTOPE) return -HUGE_VAL;
  Vec3 apart = vec3_sub(x, part->pose.t);
  double outer = part->shape.outer + reach;
  return vec3_dot(apart, apart) - outer * outer;
}

/* Adds the parts of a union to the sums. The part that is probably nearest to x is added first. Parts with negligible
 * weight are skipped. */
static void join_parts(const Field* field, Vec3 x, SoftLeast* s) {
  int first = 0;
  double nearest = HUGE_VAL;
  for (int i = 0; i < field->part_count; i++) {
    double far = far_square(&field->parts[i], x, 0);
    if (!(far < nearest)) continue;
    nearest = far;
    first = i;
  }
  for (int k = -1; k < field->part_count; k++) {
    const Field* own = &field->parts[k < 0 ? first : k];
    double reach = s->least - WEIGHT_GONE * field->smoothing;
    if (k == first || (k >= 0 && reach > -own->shape.outer && far_square(own, x, reach) > 0)) continue;
    FieldValue part = field_evaluate(own, x);
    add_part(s, field->smoothing, 1, &part);
  }
}

static FieldValue joined_field(const Field* field, Vec3 x) {
  SoftLeast s = {.least = HUGE_VAL};
  bool subtraction = field->kind == FIELD_SUBTRACTION;
  if (!subtraction) join_parts(field, x, &s);
  for (int i = 0; subtraction && i < field->part_count; i++) {
    FieldValue part = field_evaluate(&field->parts[i], x);
    add_part(&s, field->smoothing, i == 0 ? -1 : 1, &part);
  }
  FieldValue out = soft_least(&s, field->smoothing);
  if (!subtraction) return out;
  return (FieldValue){-out.value, vec3_scale(out.gradient, -1), vec3_scale(out.outward, -1), mat3_scale(out.turn, -1)};
}

FieldValue field_evaluate(const Field* field, Vec3 place) {
  Vec3 x = pose_apply_inverse(field->pose, place);
  FieldValue v;
  if (field->kind == FIELD_SHAPE)
    v = shape_field(&field->shape, x);
  else if (field->kind == FIELD_POINTS)
    v = points_field(field, x);
  else
    v = joined_field(field, x);
  Mat3 r = field->pose.r;
  v.gradient = mat3_mul_vec(r, v.gradient);
  v.outward = mat3_mul_vec(r, v.outward);
  v.turn = mat3_mul(mat3_mul(r, v.turn), mat3_transpose(r));
  return v;
}

/* ---------------------------------------------------------------- creation and destruction */

/* Distance of the test points of field_check_points from the mean of the points, relative to the distance of the
 * farthest point from the mean. */
#define FAR_AWAY 10

/* Returns true if the field (Y3) of the points and normals (count) is negative at x. */
static bool is_inside(const Vec3* points, const Vec3* normals, int count, double radius, Vec3 x) {
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
    Vec3 way = vec3(k % 3 - 1, row - 1, layer - 1);
    if (k != 13)
      inside +=
          is_inside(points, normals, count, radius, vec3_add_scaled(center, FAR_AWAY * reach, vec3_normalized(way)));
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
