/* Value of a field of points with normals (Y3), and its derivatives with respect to the points (Y10). Private to
 * shapes/. docs/derivations/fields.md */
#ifndef SDRS_SHAPES_FIELD_MEAN_H
#define SDRS_SHAPES_FIELD_MEAN_H

#include "shapes/shapes.h"

/* Weighted means over the points of a field, evaluated at `place`, a position in the field's frame [m]. */
typedef struct {
  const Field* field; /* borrowed */
  Vec3 place;
  double least, sum, value; /* least squared distance [m^2]; sum of the weights; phi [m] */
  Vec3 gradient, pull;      /* gradient of phi; E[b] [1/m] */
} FieldMean;

/* Derivatives of the quantities of one point of the field: height h, exponent of its weight, normal, and b. */
typedef struct {
  double height, exponent;
  Vec3 normal, pull;
} FieldChange;

/* Accumulated derivatives of the sums over all points. Zero it before the first field_mean_change. */
typedef struct {
  double value, exponent;
  Vec3 outward;
} FieldSlope;

/* Returns the means at x [m, field's frame]. The result borrows the field. Does not allocate. */
FieldMean field_mean_at(const Field* field, Vec3 x);
/* Returns the unnormalized weight of point i, 1 for the nearest point. */
static inline double field_mean_weight(const FieldMean* mean, int i) {
  Vec3 arm = vec3_sub(mean->place, mean->field->points[i]);
  double radius = mean->field->radius;
  return math_decay((mean->least - vec3_dot(arm, arm)) / (2 * radius * radius));
}
/* Returns the derivatives of the quantities of point i when the point moves by `moved` [m] and its normal changes by
 * `turned`. */
FieldChange field_point_change(const FieldMean* mean, int i, Vec3 moved, Vec3 turned);
/* Adds the contribution of point i, whose derivatives are d, to *sum. */
void field_mean_change(const FieldMean* mean, int i, const FieldChange* d, FieldSlope* sum);
/* Sets *value and *outward to the derivatives of phi and of the outward vector N, computed from the accumulated sums
 * (Y10). */
void field_mean_slope(const FieldMean* mean, const FieldSlope* sum, double* value, Vec3* outward);

#endif
