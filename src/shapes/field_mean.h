/* Private to shapes/: value of a signed distance field given by points with normals, a weighted mean of the heights
 * above the points' planes (fields.md, Y3). Also its derivatives with respect to the points (Y10). */
#ifndef SDRS_SHAPES_FIELD_MEAN_H
#define SDRS_SHAPES_FIELD_MEAN_H

#include "shapes/shapes.h"

/* Weighted means over the points of a field at one position. */
typedef struct {
  const Field* field;              /* borrowed */
  Vec3 position;                   /* [m, field's frame] */
  double least_square, sum, value; /* least_square: smallest squared distance of a point [m^2]; sum: sum of the weights
                                      of all points; value: value of the field [m] */
  Vec3 gradient, mean_arm; /* gradient: gradient of the field value. mean_arm: weighted mean over the points p_i of (p_i
                              - position) / radius^2, with the radius of the weights [1/m] */
} FieldMean;

/* Derivatives of four quantities of one point of the field with respect to a parameter (Y10): height of
 * FieldMean.position above the point's plane, exponent of the point's weight, its normal, and the vector (point -
 * position) / radius^2. */
typedef struct {
  double height, exponent;
  Vec3 normal, mean_arm;
} PointDerivative;

/* Sums over the points of a field, from which field_mean_derivative computes the derivatives of the field (Y10). Zero
 * before the first call of field_mean_add_derivative. */
typedef struct {
  double value, exponent;
  Vec3 outward;
} MeanDerivative;

/* Returns the weighted means over the points of a field, evaluated at the position x [m, field's frame]. The result
 * borrows the field. Does not allocate. */
FieldMean field_mean_at(const Field* field, Vec3 x);
/* Returns the weight of point i in the means of the field, not divided by the sum of weights. The weight of the nearest
 * point is 1. */
static inline double field_mean_weight(const FieldMean* mean, int i) {
  Vec3 arm = vec3_sub(mean->position, mean->field->points[i]);
  double radius = mean->field->radius;
  return math_exp_nonpositive((mean->least_square - vec3_dot(arm, arm)) / (2 * radius * radius));
}
/* Returns the derivatives of the quantities of point i, which moves by `displacement` [m] and whose normal changes by
 * normal_change. */
PointDerivative field_point_derivative(const FieldMean* mean, int i, Vec3 displacement, Vec3 normal_change);
/* Adds the contribution of point i to the sums *sum. d: derivatives of the quantities of point i. */
void field_mean_add_derivative(const FieldMean* mean, int i, const PointDerivative* d, MeanDerivative* sum);
/* Computes the derivatives of the field from the sums over all points (Y10). Sets *value to the derivative of the field
 * value, and *outward to the derivative of the outward vector. */
void field_mean_derivative(const FieldMean* mean, const MeanDerivative* sum, double* value, Vec3* outward);

#endif
