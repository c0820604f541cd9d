/* Derivatives of signed distance fields with respect to their parameters (Y10, Y11; docs/derivations/fields.md).
 * Several parameters are handled in one call, so that common quantities are computed once. */
#include <assert.h>

#include "shapes/field_mean.h"
#include "shapes/shape.h"

/* ---------------------------------------------------------------- convex shapes */

/* Computes the derivatives of the field of a smooth polytope, its reference length l times its level function phi. The
 * length l may depend on the parameters of one face. */
static void polytope_derivatives(const Shape* shape, Vec3 x, int first, int count, double* value, Vec3* outward) {
  ShapeValue v = polytope_evaluate(shape, x);
  double l = shape->length;
  for (int j = 0; j < count; j++) {
    int k = first + j, face = k > 0 ? (k - 1) / 4 : -1, entry = (k - 1) % 4;
    Vec3 normal_change;
    double value_change, stretch = 0;
    polytope_parameter_derivative(shape, x, k, &value_change, &normal_change);
    if (face >= 0 && face == shape->length_face) { /* l = offset / |n| */
      double norm = shape->face_norm[face];
      stretch = entry == 3 ? 1 / norm : -l * shape->given_faces[4 * face + entry] / (norm * norm);
    }
    value[j] = l * value_change + stretch * v.value;
    outward[j] = vec3_add(vec3_scale(normal_change, l), vec3_scale(v.gradient, stretch));
  }
}

/* Computes the derivatives of the field (Y1) of a convex shape with level function phi and gauge gamma. From phi(x /
 * gamma) = 0 follows dgamma = gamma dphi / (grad phi . z) at the surface point z = x / gamma. Here dphi is the
 * derivative of phi with respect to the parameter. The normal has the direction of grad phi at z. */
static void shape_derivatives(const Shape* shape, Vec3 x, int first, int count, double* value, Vec3* outward) {
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
  double steepness = vec3_norm(at.gradient);
  Vec3 n = vec3_scale(at.gradient, 1 / steepness), hessian_z = mat3_mul_vec(at.hessian, z);
  for (int j = 0; j < count; j++) {
    double value_change;
    Vec3 normal_change;
    shape_parameter_derivative(shape, z, first + j, &value_change, &normal_change);
    double gauge_change = gamma * value_change / vec3_dot(at.gradient, z);
    Vec3 change = vec3_add_scaled(normal_change, -gauge_change / gamma, hessian_z);
    value[j] = distance * gauge_change / (gamma * gamma);
    outward[j] = vec3_scale(vec3_project(change, n), 1 / steepness);
  }
}

/* ---------------------------------------------------------------- points with normals */

FieldMean field_mean_at(const Field* field, Vec3 x) {
  FieldMean out = {.field = field, .position = x, .least_square = HUGE_VAL};
  double radius_square = field->radius * field->radius;
  for (int i = 0; i < field->count; i++) {
    Vec3 arm = vec3_sub(x, field->points[i]);
    out.least_square = fmin(out.least_square, vec3_dot(arm, arm));
  }
  for (int i = 0; i < field->count; i++) {
    double w = field_mean_weight(&out, i), h = vec3_dot(field->normals[i], vec3_sub(x, field->points[i]));
    out.sum += w;
    out.value += w * h;
  }
  out.value /= out.sum;
  for (int i = 0; i < field->count; i++) {
    double w = field_mean_weight(&out, i) / out.sum;
    Vec3 arm = vec3_sub(x, field->points[i]), b = vec3_scale(arm, -1 / radius_square);
    out.mean_arm = vec3_add_scaled(out.mean_arm, w, b);
    out.gradient = vec3_add_scaled(out.gradient, w, field->normals[i]);
    out.gradient = vec3_add_scaled(out.gradient, w * (vec3_dot(field->normals[i], arm) - out.value), b);
  }
  return out;
}

void field_mean_add_derivative(const FieldMean* mean, int i, const PointDerivative* d, MeanDerivative* sum) {
  const Field* field = mean->field;
  double w = field_mean_weight(mean, i) / mean->sum;
  if (!(w > 0)) return;
  Vec3 arm = vec3_sub(mean->position, field->points[i]), b = vec3_scale(arm, -1 / (field->radius * field->radius));
  double above = vec3_dot(field->normals[i], arm) - mean->value;
  Vec3 part = vec3_add_scaled(field->normals[i], above, b);
  Vec3 outward = vec3_add_scaled(vec3_add_scaled(d->normal, d->height, b), above, d->mean_arm);
  sum->value += w * (d->height + above * d->exponent);
  sum->exponent += w * d->exponent;
  sum->outward = vec3_add_scaled(sum->outward, w, vec3_add_scaled(outward, d->exponent, part));
}

void field_mean_derivative(const FieldMean* mean, const MeanDerivative* sum, double* value, Vec3* outward) {
  *value = sum->value;
  *outward =
      vec3_add_scaled(vec3_add_scaled(sum->outward, -sum->exponent, mean->gradient), -sum->value, mean->mean_arm);
}

PointDerivative field_point_derivative(const FieldMean* mean, int i, Vec3 displacement, Vec3 normal_change) {
  double inverse = 1 / (mean->field->radius * mean->field->radius);
  Vec3 arm = vec3_sub(mean->position, mean->field->points[i]);
  return (PointDerivative){.height = vec3_dot(normal_change, arm) - vec3_dot(mean->field->normals[i], displacement),
                           .exponent = vec3_dot(arm, displacement) * inverse,
                           .normal = normal_change,
                           .mean_arm = vec3_scale(displacement, inverse)};
}

/* Returns the derivatives of a field of points with respect to the radius of the weights. The radius changes the weight
 * of every point p and the vector (p - position) / radius^2. */
static MeanDerivative radius_derivative(const FieldMean* mean) {
  const Field* field = mean->field;
  double inverse = 1 / (field->radius * field->radius);
  MeanDerivative sum = {0};
  for (int i = 0; i < field->count; i++) {
    Vec3 arm = vec3_sub(mean->position, field->points[i]);
    PointDerivative d = {.exponent = vec3_dot(arm, arm) * inverse / field->radius,
                         .mean_arm = vec3_scale(arm, 2 * inverse / field->radius)};
    field_mean_add_derivative(mean, i, &d, &sum);
  }
  return sum;
}

/* Computes the derivatives of a field of points. Parameter 0 is the radius. Then follow x, y, z of each point and of
 * its unit normal; each of these parameters affects one point only. */
static void points_derivatives(const Field* field, Vec3 x, int first, int count, double* value, Vec3* outward) {
  FieldMean mean = field_mean_at(field, x);
  for (int j = 0; j < count; j++) {
    int k = first + j, i = (k - 1) / 6;
    MeanDerivative sum = {0};
    if (k == 0) {
      sum = radius_derivative(&mean);
    } else {
      Vec3 e = vec3_axis(k - 1), n = field->normals[i], none = {0, 0, 0};
      bool moves = (k - 1) % 6 < 3;
      PointDerivative d = field_point_derivative(&mean, i, moves ? e : none, moves ? none : vec3_project(e, n));
      field_mean_add_derivative(&mean, i, &d, &sum);
    }
    field_mean_derivative(&mean, &sum, &value[j], &outward[j]);
  }
}

/* ---------------------------------------------------------------- unions */

/* Smallest logarithm of a part's weight, equal to the value in field.c. */
#define MIN_LOG_WEIGHT (-40.0)

/* Maps parameter k of a union or difference to a part. Sets *part to the index of the part, or to -1 for the smoothing.
 * Returns the number of the parameter within the part: 0 to 5 for rotations and translations, then the part's own
 * parameters. */
static int locate_parameter(const Field* field, int k, int* part) {
  *part = -1;
  if (k == 0) return 0;
  for (k--, *part = 0; k >= PART_POSE_PARAMETERS + field_parameter_count(&field->parts[*part]); (*part)++)
    k -= PART_POSE_PARAMETERS + field_parameter_count(&field->parts[*part]);
  return k;
}

/* Computes the derivatives at x with respect to a motion k of a part (0 to 2: rotation about the origin of the part's
 * frame, 3 to 5: translation). v: field of the part at x. */
static void part_pose_derivative(const Field* part, const FieldValue* v, Vec3 x, int k, double* value, Vec3* outward) {
  Vec3 e = vec3_axis(k), point_velocity = k < 3 ? vec3_cross(e, vec3_sub(x, part->pose.t)) : e;
  *value = -vec3_dot(v->gradient, point_velocity);
  *outward = vec3_scale(mat3_mul_vec(v->outward_jacobian, point_velocity), -1);
  if (k < 3) *outward = vec3_add(*outward, vec3_cross(e, v->outward));
}

/* Field of a union or difference at a point, in the frame of the union or difference. For a difference, value and
 * outward are negated. */
typedef struct {
  double value, tau, sign; /* sign: -1 for a difference, otherwise 1 */
  Vec3 outward;
} CombinedField;

static double part_sign(const Field* field, int i) { return field->kind == FIELD_SUBTRACTION && i == 0 ? -1 : 1; }

/* Returns the weight of a part of a union or difference, exp((all->value - part) / all->tau), where `part` is the
 * part's field value. Sets *exponent to the logarithm of the weight. */
static double part_weight(const CombinedField* all, double part, double* exponent) {
  *exponent = (all->value - part) / all->tau;
  return *exponent < MIN_LOG_WEIGHT ? 0 : *exponent > 0 ? 1 : math_exp_nonpositive(*exponent);
}

/* Writes the derivatives of the field of a union or difference. value_change: derivative of its value. The outward
 * vector is the sum of w_i N_i over the parts, with weights w_i and the parts' outward vectors N_i. change: derivative
 * of this sum while phi in the weights w_i = exp((phi - phi_i) / tau) is constant. */
static void write_combined_derivative(const CombinedField* all, double value_change, Vec3 change, double* value,
                                      Vec3* outward) {
  *value = all->sign * value_change;
  *outward = vec3_scale(vec3_add_scaled(change, value_change / all->tau, all->outward), all->sign);
}

static void smoothing_derivative(const Field* field, const CombinedField* all, Vec3 x, double* value, Vec3* outward) {
  double value_change = 0, exponent;
  Vec3 change = {0, 0, 0};
  for (int i = 0; i < field->part_count; i++) {
    FieldValue part = field_evaluate(&field->parts[i], x);
    double sign = part_sign(field, i), w = part_weight(all, sign * part.value, &exponent);
    value_change += w * exponent;
    change = vec3_add_scaled(change, -sign * w * exponent / all->tau, part.outward);
  }
  write_combined_derivative(all, value_change, change, value, outward);
}

/* Computes the derivatives with respect to `count` parameters of part number `part_index` of a union or difference,
 * beginning with its parameter `number`. */
static void part_derivatives(const Field* field, const CombinedField* all, Vec3 x, int part_index, int number,
                             int count, double* value, Vec3* outward) {
  const Field* part = &field->parts[part_index];
  FieldValue v = field_evaluate(part, x);
  double exponent, sign = part_sign(field, part_index), w = part_weight(all, sign * v.value, &exponent);
  int motions = number < PART_POSE_PARAMETERS ? PART_POSE_PARAMETERS - number : 0;
  if (motions > count) motions = count;
  for (int j = 0; j < motions; j++) part_pose_derivative(part, &v, x, number + j, &value[j], &outward[j]);
  if (count > motions)
    field_parameter_derivatives(part, x, number + motions - PART_POSE_PARAMETERS, count - motions, value + motions,
                                outward + motions);
  for (int j = 0; j < count; j++) {
    double slope = sign * value[j];
    Vec3 change = vec3_add_scaled(vec3_scale(outward[j], sign * w), -sign * w * slope / all->tau, v.outward);
    write_combined_derivative(all, w * slope, change, &value[j], &outward[j]);
  }
}

static void combined_derivatives(const Field* field, Vec3 x, int first, int count, double* value, Vec3* outward) {
  Field whole = *field;
  whole.pose = pose_identity();
  FieldValue v = field_evaluate(&whole, x);
  double sign = field->kind == FIELD_SUBTRACTION ? -1 : 1;
  CombinedField all = {sign * v.value, field->smoothing, sign, vec3_scale(v.outward, sign)};
  for (int j = 0; j < count;) {
    int part_index, number = locate_parameter(field, first + j, &part_index), parameter_count = 1;
    if (part_index < 0) {
      smoothing_derivative(field, &all, x, &value[j], &outward[j]);
    } else {
      parameter_count = PART_POSE_PARAMETERS + field_parameter_count(&field->parts[part_index]) - number;
      if (parameter_count > count - j) parameter_count = count - j;
      part_derivatives(field, &all, x, part_index, number, parameter_count, value + j, outward + j);
    }
    j += parameter_count;
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

void field_parameter_derivatives(const Field* field, Vec3 position, int first, int count, double* value,
                                 Vec3* outward) {
  assert(first >= 0 && count >= 0 && first + count <= field_parameter_count(field));
  Vec3 x = pose_apply_inverse(field->pose, position);
  if (field->kind == FIELD_POINTS)
    points_derivatives(field, x, first, count, value, outward);
  else if (field->kind != FIELD_SHAPE)
    combined_derivatives(field, x, first, count, value, outward);
  else if (field->shape.kind == SMOOTH_POLYTOPE)
    polytope_derivatives(&field->shape, x, first, count, value, outward);
  else
    shape_derivatives(&field->shape, x, first, count, value, outward);
  for (int j = 0; j < count; j++) outward[j] = mat3_mul_vec(field->pose.r, outward[j]);
}
