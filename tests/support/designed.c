#include "support/designed.h"

#include "support/bodies.h"
#include "support/compare.h"

/* Takes the next of the changes. */
static double next(const double** x) {
  double change = *x ? **x : 0;
  if (*x) ++*x;
  return change;
}

static Field points(const double* x) {
  Random random = {5};
  Field field = {.kind = FIELD_POINTS, .pose = random_pose(&random, 0.1), .radius = 0.4, .count = 12};
  field.points = MEMORY_NEW(Vec3, field.count);
  field.normals = MEMORY_NEW(Vec3, field.count);
  field.radius += next(&x);
  for (int i = 0; i < field.count; i++) {
    Vec3 n = random_direction(&random), p = vec3_scale(n, 0.45 + 0.1 * random_uniform(&random, 0, 1));
    double change[6];
    for (int k = 0; k < 6; k++) change[k] = next(&x);
    field.points[i] = vec3_add(p, vec3(change[0], change[1], change[2]));
    field.normals[i] = vec3_normalized(vec3_add(n, vec3(change[3], change[4], change[5])));
  }
  return field;
}

static Field shape(int number, const double* x) {
  Random random = {(uint64_t)(17 + number)};
  ShapeDefinition form = {.kind = number ? SMOOTH_SUPERELLIPSOID : SMOOTH_SUPERQUADRIC,
                          .exponent = 1.6,
                          .size = {0.6, 0.45, 0.5},
                          .exponents = {0.7, 0.5}};
  Field field = {.kind = FIELD_SHAPE, .pose = random_pose(&random, 0.2)};
  for (int k = 0; k < shape_definition_parameter_count(&form); k++) *shape_definition_parameter(&form, k) += next(&x);
  const char* rule = shape_create(&field.shape, &form);
  assert_null(rule);
  return field;
}

/* Returns a component whose frame the first six changes in x rotate and translate. */
static Field part(const double* x, Field (*make)(const double* x)) {
  Field field = make(x ? x + PART_POSE_PARAMETERS : NULL);
  if (x) field.pose = pose_twisted(field.pose, field.pose.t, x);
  return field;
}

static Field first_shape(const double* x) { return shape(0, x); }
static Field second_shape(const double* x) { return shape(1, x); }

static Field joined(FieldKind kind, const double* x, Field (*make[2])(const double* x)) {
  Random random = {(uint64_t)(31 + kind)};
  Field field = {.kind = kind, .pose = random_pose(&random, 0.1), .smoothing = 0.08, .part_count = 2};
  field.parts = MEMORY_NEW(Field, 2);
  field.smoothing += next(&x);
  for (int i = 0; i < 2; i++) {
    field.parts[i] = part(x, make[i]);
    if (x) x += PART_POSE_PARAMETERS + field_parameter_count(&field.parts[i]);
  }
  return field;
}

static Field both_shapes(const double* x) {
  return joined(FIELD_UNION, x, (Field(*[2])(const double*)){first_shape, second_shape});
}

/* Those points where they take a bite. */
static Field points_aside(const double* x) {
  Field field = points(x);
  field.pose.t = vec3(0.7, 0.2, -0.1);
  return field;
}

Field designed_field(FieldKind kind, const double* x) {
  if (kind == FIELD_POINTS) return points(x);
  if (kind == FIELD_UNION) return both_shapes(x);
  return joined(FIELD_SUBTRACTION, x, (Field(*[2])(const double*)){both_shapes, points_aside});
}
