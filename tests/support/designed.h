/* Fields whose parameters a test can change. */
#ifndef SDRS_TESTS_SUPPORT_DESIGNED_H
#define SDRS_TESTS_SUPPORT_DESIGNED_H

#include "shapes/shapes.h"

enum { DESIGNED_MAX = 128 };
/* kind FIELD_POINTS: twelve points round a ball; FIELD_UNION: a superquadric and an ellipsoid; FIELD_SUBTRACTION: that
 * union without those points. Each in a pose of its own; x: what is added to each parameter, in the order of
 * field_parameter_count, or NULL. Freed by field_free. */
Field designed_field(FieldKind kind, const double* x);

#endif
