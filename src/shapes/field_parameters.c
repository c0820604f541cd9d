/* Derivatives of signed distance fields with respect to their parameters (Y10, Y11). Several parameters are handled in
 * one call, so that common quantities are computed once. docs/derivations/fields.md */
#include <assert.h>

#include "shapes/field_mean.h"
#include "shapes/shape.h"

/* ---------------------------------------------------------------- convex shapes */

/* Computes the derivatives of the field l phi of a polytope. The length l may depend on the parameters of one face. */
static void polytope_slopes(const Shape* shape, Vec3 x, int first, int count, double* value, Vec3* outward) {
  ShapeValue v = polytope_evaluate(shape, x);
  double l = shape->length;
  for (int j = 0; j < count; j++) {
    int k = first + j, face = k > 0 ? (k - 1) / 4 : -1, entry = (k - 1) % 4;
    Vec3 turned;
    double up, stretch = 0;
    polytope_parameter_derivative(shape, x, k, &up, &turned);
    if (face >= 0 && face == shape->length_face) { /* l = offset / |n| */
      double norm = shape->face_norm[face];
      stretch = entry == 3 ? 1 / norm : -l * shape->face_given[4 * face + entry] / (norm * norm);
    }
    value[j] = l * up + stretch * v.value;
    outward[j] = vec3_add(vec3_scale(turned, l), vec3_scale(v.gradient, stretch));
  }
}

/* Computes the derivatives of the field (Y1) of a convex shape. From phi(x / gamma) = 0 follows dgamma = gamma dphi /
 * (grad phi . z) at z = x / gamma, where dphi is the derivative of phi with respect to the parameter. The normal has
 * the direction of grad phi at z. */
static void shape_slopes(const Shape* shape, Vec3 x, int first, int count, double* value, Vec3* outward) {
  double distance = vec3_norm(x);
  if (!(distance > 1e-12 * shape->inner)) {
    for (int j = 0; j < count; j++) {
      value[j] = 0;
      outward[j] = vec3(0, 0, 0);
    }
    return;
  }
  double gamma = shape_gauge(shape, x).value;
  Vec3 z = vec3_scale(x, 1 / gamma);
  ShapeValue at = shape_evaluate(shape, z);
  double steep = vec3_norm(at.gradient);
  Vec3 n = vec3_scale(at.gradient, 1 / steep), bent = mat3_mul_vec(at.hessian, z);
  for (int j = 0; j < count; j++) {
    double up;
    Vec3 turned;
    shape_parameter_derivative(shape, z, first + j, &up, &turned);
    double grown = gamma * up / vec3_dot(at.gradient, z);
    Vec3 change = vec3_add_scaled(turned, -grown / gamma, bent);
    value[j] = distance * grown / (gamma * gamma);
    outward[j] = vec3_scale(vec3_add_scaled(change, -vec3_dot(n, change), n), 1 / steep);
  }
}

/* ---------------------------------------------------------------- points with normals */

FieldMean field_mean_at(const Field* field, Vec3 x) {
  FieldMean out = {.field = field, .place = x, .least = HUGE_VAL};
  double wide = field->radius * field->radius;
  for (int i = 0; i < field->count; i++) {
    Vec3 arm = vec3_sub(x, field->points[i]);
    out.least = fmin(out.least, vec3_dot(arm, arm));
  }
  for (int i = 0; i < field->count; i++) {
    double w = field_mean_weight(&out, i), h = vec3_dot(field->normals[i], vec3_sub(x, field->points[i]));
    out.sum += w;
    out.value += w * h;
  }
  out.value /= out.sum;
  for (int i = 0; i < field->count; i++) {
    double w = field_mean_weight(&out, i) / out.sum;
    Vec3 arm = vec3_sub(x, field->points[i]), b = vec3_scale(arm, -1 / wide);
    out.pull = vec3_add_scaled(out.pull, w, b);
    out.gradient = vec3_add_scaled(out.gradient, w, field->normals[i]);
    out.gradient = vec3_add_scaled(out.gradient, w * (vec3_dot(field->normals[i], arm) - out.value), b);
  }
  return out;
}

void field_mean_add_derivative(const FieldMean* mean, int i, const PointDerivative* d, MeanDerivative* sum) {
  const Field* field = mean->field;
  double w = field_mean_weight(mean, i) / mean->sum;
  if (!(w > 0)) return;
  Vec3 arm = vec3_sub(mean->place, field->points[i]), b = vec3_scale(arm, -1 / (field->radius * field->radius));
  double above = vec3_dot(field->normals[i], arm) - mean->value;
  Vec3 part = vec3_add_scaled(field->normals[i], above, b);
  Vec3 own = vec3_add_scaled(vec3_add_scaled(d->normal, d->height, b), above, d->pull);
  sum->value += w * (d->height + above * d->exponent);
  sum->exponent += w * d->exponent;
  sum->outward = vec3_add_scaled(sum->outward, w, vec3_add_scaled(own, d->exponent, part));
}

void field_mean_derivative(const FieldMean* mean, const MeanDerivative* sum, double* value, Vec3* outward) {
  *value = sum->value;
  *outward = vec3_add_scaled(vec3_add_scaled(sum->outward, -sum->exponent, mean->gradient), -sum->value, mean->pull);
}

PointDerivative field_point_derivative(const FieldMean* mean, int i, Vec3 moved, Vec3 turned) {
  double over = 1 / (mean->field->radius * mean->field->radius);
  Vec3 arm = vec3_sub(mean->place, mean->field->points[i]);
  return (PointDerivative){.height = vec3_dot(turned, arm) - vec3_dot(mean->field->normals[i], moved),
                           .exponent = vec3_dot(arm, moved) * over,
                           .normal = turned,
                           .pull = vec3_scale(moved, over)};
}

/* Returns the derivatives with respect to the radius. The radius changes the weight and the vector b_i of every
 * point. */
static MeanDerivative radius_slope(const FieldMean* mean) {
  const Field* field = mean->field;
  double over = 1 / (field->radius * field->radius);
  MeanDerivative sum = {0};
  for (int i = 0; i < field->count; i++) {
    Vec3 arm = vec3_sub(mean->place, field->points[i]);
    PointDerivative d = {.exponent = vec3_dot(arm, arm) * over / field->radius,
                         .pull = vec3_scale(arm, 2 * over / field->radius)};
    field_mean_add_derivative(mean, i, &d, &sum);
  }
  return sum;
}

/* Computes the derivatives of a field of points. Parameter 0 is the radius. Then follow x, y, z of each point and of
 * its unit normal; each of these parameters affects one point only. */
static void points_slopes(const Field* field, Vec3 x, int first, int count, double* value, Vec3* outward) {
  FieldMean mean = field_mean_at(field, x);
  for (int j = 0; j < count; j++) {
    int k = first + j, i = (k - 1) / 6;
    MeanDerivative sum = {0};
    if (k == 0) {
      sum = radius_slope(&mean);
    } else {
      Vec3 e = vec3_axis(k - 1), n = field->normals[i], none = {0, 0, 0};
      bool moves = (k - 1) % 6 < 3;
      PointDerivative d =
          field_point_derivative(&mean, i, moves ? e : none, moves ? none : vec3_add_scaled(e, -vec3_dot(n, e), n));
      field_mean_add_derivative(&mean, i, &d, &sum);
    }
    field_mean_derivative(&mean, &sum, &value[j], &outward[j]);
  }
}

/* ---------------------------------------------------------------- unions */

/* A part is skipped if the logarithm of its weight is below this value, which is the same in field.c. */
#define WEIGHT_GONE (-40.0)

/* Maps parameter k of a union or difference to a part. Sets *part to the index of the part, or to -1 for the smoothing.
 * Returns the number of the parameter within the part: 0 to 5 for rotations and translations, then the part's own
 * parameters. */
static int part_number(const Field* field, int k, int* part) {
  *part = -1;
  if (k == 0) return 0;
  for (k--, *part = 0; k >= PART_POSE_PARAMETERS + field_parameter_count(&field->parts[*part]); (*part)++)
    k -= PART_POSE_PARAMETERS + field_parameter_count(&field->parts[*part]);
  return k;
}

/* Computes the derivatives at x with respect to a motion k of a part (0 to 2: rotation about the origin of the part's
 * frame, 3 to 5: translation). v: field of the part at x. */
static void part_moved(const Field* part, const FieldValue* v, Vec3 x, int k, double* value, Vec3* outward) {
  Vec3 e = vec3_axis(k), way = k < 3 ? vec3_cross(e, vec3_sub(x, part->pose.t)) : e;
  *value = -vec3_dot(v->gradient, way);
  *outward = vec3_scale(mat3_mul_vec(v->turn, way), -1);
  if (k < 3) *outward = vec3_add(*outward, vec3_cross(e, v->outward));
}

/* Value of a union or difference at a point in its own frame. For a difference, value and outward are negated. */
typedef struct {
  double value, tau, sign; /* sign: -1 for a difference, otherwise 1 */
  Vec3 outward;
} WholeField;

static double part_sign(const Field* field, int i) { return field->kind == FIELD_SUBTRACTION && i == 0 ? -1 : 1; }

/* Returns the weight exp((phi - v_i) / tau) of a part with the value `part`. Sets *exponent to the logarithm of the
 * weight. */
static double part_weight(const WholeField* all, double part, double* exponent) {
  *exponent = (all->value - part) / all->tau;
  return *exponent < WEIGHT_GONE ? 0 : *exponent > 0 ? 1 : math_exp_nonpositive(*exponent);
}

/* Writes the derivatives of the field of a union or difference. up: derivative of phi. change: sum of w_i dN_i and of
 * the weight terms, where N = sum w_i N_i is the outward vector and N_i the outward vector of part i. */
static void put_whole(const WholeField* all, double up, Vec3 change, double* value, Vec3* outward) {
  *value = all->sign * up;
  *outward = vec3_scale(vec3_add_scaled(change, up / all->tau, all->outward), all->sign);
}

static void smoothing_slope(const Field* field, const WholeField* all, Vec3 x, double* value, Vec3* outward) {
  double up = 0, exponent;
  Vec3 change = {0, 0, 0};
  for (int i = 0; i < field->part_count; i++) {
    FieldValue part = field_evaluate(&field->parts[i], x);
    double sign = part_sign(field, i), w = part_weight(all, sign * part.value, &exponent);
    up += w * exponent;
    change = vec3_add_scaled(change, -sign * w * exponent / all->tau, part.outward);
  }
  put_whole(all, up, change, value, outward);
}

/* Computes the derivatives with respect to `count` parameters of part number `own` of a union or difference, beginning
 * with its parameter `number`. */
static void part_slopes(const Field* field, const WholeField* all, Vec3 x, int own, int number, int count,
                        double* value, Vec3* outward) {
  const Field* part = &field->parts[own];
  FieldValue v = field_evaluate(part, x);
  double exponent, sign = part_sign(field, own), w = part_weight(all, sign * v.value, &exponent);
  int motions = number < PART_POSE_PARAMETERS ? PART_POSE_PARAMETERS - number : 0;
  if (motions > count) motions = count;
  for (int j = 0; j < motions; j++) part_moved(part, &v, x, number + j, &value[j], &outward[j]);
  if (count > motions)
    field_parameter_derivatives(part, x, number + motions - PART_POSE_PARAMETERS, count - motions, value + motions,
                                outward + motions);
  for (int j = 0; j < count; j++) {
    double slope = sign * value[j];
    Vec3 change = vec3_add_scaled(vec3_scale(outward[j], sign * w), -sign * w * slope / all->tau, v.outward);
    put_whole(all, w * slope, change, &value[j], &outward[j]);
  }
}

static void joined_slopes(const Field* field, Vec3 x, int first, int count, double* value, Vec3* outward) {
  Field whole = *field;
  whole.pose = pose_identity();
  FieldValue v = field_evaluate(&whole, x);
  double sign = field->kind == FIELD_SUBTRACTION ? -1 : 1;
  WholeField all = {sign * v.value, field->smoothing, sign, vec3_scale(v.outward, sign)};
  for (int j = 0; j < count;) {
    int own, number = part_number(field, first + j, &own), run = 1;
    if (own < 0) {
      smoothing_slope(field, &all, x, &value[j], &outward[j]);
    } else {
      run = PART_POSE_PARAMETERS + field_parameter_count(&field->parts[own]) - number;
      if (run > count - j) run = count - j;
      part_slopes(field, &all, x, own, number, run, value + j, outward + j);
    }
    j += run;
  }
}

/* ---------------------------------------------------------------- all fields */

int field_parameter_count(const Field* field) {
  if (field->kind == FIELD_SHAPE) return shape_parameter_count(&field->shape);
  if (field->kind == FIELD_POINTS) return 1 + 6 * field->count;
  int count = 1;
  for (int i = 0; i < field->part_count; i++) count += PART_POSE_PARAMETERS + field_parameter_count(&field->parts[i]);
  return count;
}

void field_parameter_derivatives(const Field* field, Vec3 place, int first, int count, double* value, Vec3* outward) {
  assert(first >= 0 && count >= 0 && first + count <= field_parameter_count(field));
  Vec3 x = pose_apply_inverse(field->pose, place);
  if (field->kind == FIELD_POINTS)
    points_slopes(field, x, first, count, value, outward);
  else if (field->kind != FIELD_SHAPE)
    joined_slopes(field, x, first, count, value, outward);
  else if (field->shape.kind == SMOOTH_POLYTOPE)
    polytope_slopes(&field->shape, x, first, count, value, outward);
  else
    shape_slopes(&field->shape, x, first, count, value, outward);
  for (int j = 0; j < count; j++) outward[j] = mat3_mul_vec(field->pose.r, outward[j]);
}
