/* Private to shapes/: value of a field of points with normals (Y3), and its derivatives with respect to the points
 * (Y10). */
#ifndef SDRS_SHAPES_FIELD_MEAN_H
#define SDRS_SHAPES_FIELD_MEAN_H

#include "shapes/shapes.h"

/* Weighted means over the points of a field at one position. */
typedef struct {
  const Field* field; /* borrowed */
  Vec3 position;      /* [m, field's frame] */
  double least_square, sum,
      value; /* least_square: smallest squared distance of a point [m^2]; sum: sum of the weights; value: phi [m] */
  Vec3 gradient,
      mean_arm; /* gradient of phi; weighted mean of b_i = (p_i - position) / radius^2 over the points p_i [1/m] */
} FieldMean;

/* Derivatives of four quantities of one point of the field: height of `position` above the plane of the point, exponent
 * of the point's weight, normal, and vector b_i (Y10). */
typedef struct {
  double height, exponent;
  Vec3 normal, mean_arm;
} PointDerivative;

/* Derivatives of the sums over all points, zero before the first call of field_mean_add_derivative. */
typedef struct {
  double value, exponent;
  Vec3 outward;
} MeanDerivative;

/* Returns the weighted means over the points of a field, evaluated at the position x [m, field's frame]. The result
 * borrows the field. Does not allocate. */
FieldMean field_mean_at(const Field* field, Vec3 x);
/* Returns the unnormalized weight of point i. The weight of the nearest point is 1. */
static inline double field_mean_weight(const FieldMean* mean, int i) {
  Vec3 arm = vec3_sub(mean->position, mean->field->points[i]);
  double radius = mean->field->radius;
  return math_exp_nonpositive((mean->least_square - vec3_dot(arm, arm)) / (2 * radius * radius));
}
/* Returns the derivatives of the quantities of point i, which moves by `displacement` [m] and whose normal changes by
 * normal_change. */
PointDerivative field_point_derivative(const FieldMean* mean, int i, Vec3 displacement, Vec3 normal_change);
/* Adds the derivatives d of point i to the derivatives of the sums over all points, *sum. */
void field_mean_add_derivative(const FieldMean* mean, int i, const PointDerivative* d, MeanDerivative* sum);
/* Computes the derivatives of the field from the sums over all points (Y10). Sets *value to the derivative of phi, and
 * *outward to the derivative of the outward vector. */
void field_mean_derivative(const FieldMean* mean, const MeanDerivative* sum, double* value, Vec3* outward);

#endif
