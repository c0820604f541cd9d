#include <assert.h>
#include <string.h>
#include "shapes/shape.h"

static const ShapeMethods METHODS[SMOOTH_KINDS] = {
    [SMOOTH_POLYTOPE] = {"smooth_polytope", 1, false, polytope_create, polytope_evaluate,
                         polytope_parameter_derivative},
    [SMOOTH_CONE] = {"truncated_cone", 5, false, cone_create, cone_evaluate, cone_parameter_derivative},
    [SMOOTH_SUPERELLIPSOID] = {"superellipsoid", 4, true, super_create, super_evaluate, super_parameter_derivative},
    [SMOOTH_CYLINDER] = {"superelliptic_cylinder", 3, true, super_create, super_evaluate, super_parameter_derivative},
    [SMOOTH_SUPERQUADRIC] = {"superquadric", 5, true, quadric_create, quadric_evaluate, quadric_parameter_derivative},
};

const ShapeMethods* shape_methods(SmoothKind kind) {
  assert((unsigned)kind < sizeof METHODS / sizeof *METHODS);
  return &METHODS[kind];
}

const char* shape_kind_name(SmoothKind kind) {
  assert(kind >= 0 && kind < SMOOTH_KINDS);
  return METHODS[kind].name;
}

/* Returns the number of entries of ShapeDefinition.size that a kind of shape uses. */
static int size_count(SmoothKind kind) {
  static const int count[SMOOTH_KINDS] = {
      [SMOOTH_CONE] = 4, [SMOOTH_SUPERELLIPSOID] = 3, [SMOOTH_CYLINDER] = 2, [SMOOTH_SUPERQUADRIC] = 3};
  return count[kind];
}

const char* shape_create(Shape* shape, const ShapeDefinition* definition) {
  *shape = (Shape){.kind = definition->kind};
  for (int i = 0; i < size_count(definition->kind); i++)
    if (!(definition->size[i] > 0 && definition->size[i] < HUGE_VAL)) return "sizes must be > 0";
  const char* rule = METHODS[definition->kind].create(shape, definition);
  if (rule) shape_free(shape);
  return rule;
}

void shape_free(Shape* shape) {
  memory_free(shape->nx); /* nx is the start of the block with all arrays */
  *shape = (Shape){0};
}

ShapeValue shape_evaluate(const Shape* shape, Vec3 z) {
  switch (shape->kind) {
    case SMOOTH_POLYTOPE:
      return polytope_evaluate(shape, z);
    case SMOOTH_CONE:
      return cone_evaluate(shape, z);
    case SMOOTH_SUPERQUADRIC:
      return quadric_evaluate(shape, z);
    default:
      return super_evaluate(shape, z);
  }
}

double* shape_definition_parameter(const ShapeDefinition* definition, int k) {
  assert(k >= 0);
  union { /* discards const: the owner of the definition may write to it */
    const ShapeDefinition* read;
    ShapeDefinition* writable;
  } f = {.read = definition};
  union { /* discards const: the owner of the faces may write to them */
    const double (*read)[4];
    double (*writable)[4];
  } faces = {.read = definition->faces};
  if (definition->kind == SMOOTH_SUPERQUADRIC) return k < 2 ? &f.writable->exponents[k] : &f.writable->size[k - 2];
  if (definition->kind == SMOOTH_POLYTOPE)
    return k == 0 ? &f.writable->beta : &faces.writable[(k - 1) / 4][(k - 1) % 4];
  if (definition->kind == SMOOTH_CONE) return k == 0 ? &f.writable->beta : &f.writable->size[k - 1];
  return k == 0 ? &f.writable->exponent : &f.writable->size[k - 1];
}

int shape_definition_parameter_count(const ShapeDefinition* definition) {
  return METHODS[definition->kind].parameter_count +
         (definition->kind == SMOOTH_POLYTOPE ? 4 * definition->face_count : 0);
}

bool shape_parameter_can_change(const Shape* shape, int k, double change) {
  assert(k >= 0 && k < shape_parameter_count(shape));
  bool has_exponent = shape->kind == SMOOTH_SUPERELLIPSOID || shape->kind == SMOOTH_CYLINDER;
  if (has_exponent && k == 0) return shape->exponent - change >= 1 && shape->exponent + change <= SHAPE_EXPONENT_MAX;
  if (shape->kind == SMOOTH_SUPERQUADRIC && k < 2)
    return shape->exponents[k] - change >= SHAPE_EXPONENT_MIN && shape->exponents[k] + change <= 1;
  return true;
}

int shape_parameter_count(const Shape* shape) { return METHODS[shape->kind].parameter_count + 4 * shape->face_count; }

void shape_parameter_derivative(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient) {
  assert(k >= 0 && k < shape_parameter_count(shape));
  METHODS[shape->kind].parameter_derivative(shape, z, k, value, gradient);
}
