/* The field of points with normals at a place (Y3) and how it changes with its points (Y10). Private to shapes/.
 * docs/derivations/fields.md */
#ifndef SDRS_SHAPES_FIELD_MEAN_H
#define SDRS_SHAPES_FIELD_MEAN_H

#include "shapes/shapes.h"

/* Means over the points by their weights at a place of the field's frame. */
typedef struct {
  const Field* field; /* borrowed */
  Vec3 place;
  double least, sum, value; /* least square of a distance [m^2]; of the weights; phi [m] */
  Vec3 gradient, pull;      /* of phi; E[b] [1/m] */
} FieldMean;

/* Change of a point: its height, exponent, normal, weight b. */
typedef struct {
  double height, exponent;
  Vec3 normal, pull;
} FieldChange;

/* Sums over points that change; zeroed before. */
typedef struct {
  double value, exponent;
  Vec3 outward;
} FieldSlope;

/* Sums over all points; the field must outlive it. No allocation. */
FieldMean field_mean_at(const Field* field, Vec3 x);
/* Weight of point i, over the sum `sum`. */
static inline double field_mean_weight(const FieldMean* mean, int i) {
  Vec3 arm = vec3_sub(mean->place, mean->field->points[i]);
  double radius = mean->field->radius;
  return math_decay((mean->least - vec3_dot(arm, arm)) / (2 * radius * radius));
}
/* Effect of a point that moves by `moved` and whose normal changes by `turned`. */
FieldChange field_point_change(const FieldMean* mean, int i, Vec3 moved, Vec3 turned);
/* Adds what point i does. */
void field_mean_change(const FieldMean* mean, int i, const FieldChange* d, FieldSlope* sum);
/* dphi and dN of all that was added (Y10). */
void field_mean_slope(const FieldMean* mean, const FieldSlope* sum, double* value, Vec3* outward);

#endif
