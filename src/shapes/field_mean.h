/* Field of points with normals at a point (Y3), and its derivatives by the points (Y10). Private to shapes/.
 * docs/derivations/fields.md */
#ifndef SDRS_SHAPES_FIELD_MEAN_H
#define SDRS_SHAPES_FIELD_MEAN_H

#include "shapes/shapes.h"

/* Weighted means over the points at a point of the field's frame. */
typedef struct {
  const Field* field; /* borrowed */
  Vec3 place;
  double least, sum, value; /* least squared distance [m^2]; sum of the weights; phi [m] */
  Vec3 gradient, pull;      /* gradient of phi; E[b] [1/m] */
} FieldMean;

/* Derivatives of one point's quantities: height h, exponent of its weight, normal, b. */
typedef struct {
  double height, exponent;
  Vec3 normal, pull;
} FieldChange;

/* Accumulated derivative; initialize with zeros. */
typedef struct {
  double value, exponent;
  Vec3 outward;
} FieldSlope;

/* Means at x; borrows the field. Does not allocate. */
FieldMean field_mean_at(const Field* field, Vec3 x);
/* Unnormalized weight of point i. */
static inline double field_mean_weight(const FieldMean* mean, int i) {
  Vec3 arm = vec3_sub(mean->place, mean->field->points[i]);
  double radius = mean->field->radius;
  return math_decay((mean->least - vec3_dot(arm, arm)) / (2 * radius * radius));
}
/* Derivatives of point i for a displacement `moved` and a change `turned` of its normal. */
FieldChange field_point_change(const FieldMean* mean, int i, Vec3 moved, Vec3 turned);
/* Adds the contribution of point i. */
void field_mean_change(const FieldMean* mean, int i, const FieldChange* d, FieldSlope* sum);
/* Derivatives of phi and N from the accumulated sums (Y10). */
void field_mean_slope(const FieldMean* mean, const FieldSlope* sum, double* value, Vec3* outward);

#endif
