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

/* Returns the number of entries of ShapeDefinition.size that a kind of shape uses. All of these entries must be
 * positive. */
static int size_count(SmoothKind kind) {
  static const int count[SMOOTH_KINDS] = {
      [SMOOTH_CONE] = 4, [SMOOTH_SUPERELLIPSOID] = 3, [SMOOTH_CYLINDER] = 2, [SMOOTH_SUPERQUADRIC] = 3};
  return count[kind];
}

const char* shape_create(Shape* shape, const ShapeDefinition* form) {
  *shape = (Shape){.kind = form->kind};
  for (int i = 0; i < size_count(form->kind); i++)
    if (!(form->size[i] > 0 && form->size[i] < HUGE_VAL)) return "sizes must be > 0";
  const char* rule = METHODS[form->kind].create(shape, form);
  if (rule) shape_free(shape);
  return rule;
}

void shape_free(Shape* shape) {
  memory_free(shape->nx); /* nx is the start of one block with all arrays */
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

/* The parameters have the same order as in shape_parameter_count. */
double* shape_definition_parameter(const ShapeDefinition* form, int k) {
  assert(k >= 0);
  union { /* discards const, because the owner of the form may write to it */
    const ShapeDefinition* read;
    ShapeDefinition* own;
  } f = {.read = form};
  union { /* discards const, because the owner of the faces may write to them */
    const double (*read)[4];
    double (*own)[4];
  } faces = {.read = form->faces};
  if (form->kind == SMOOTH_SUPERQUADRIC) return k < 2 ? &f.own->exponents[k] : &f.own->size[k - 2];
  if (form->kind == SMOOTH_POLYTOPE) return k == 0 ? &f.own->beta : &faces.own[(k - 1) / 4][(k - 1) % 4];
  if (form->kind == SMOOTH_CONE) return k == 0 ? &f.own->beta : &f.own->size[k - 1];
  return k == 0 ? &f.own->exponent : &f.own->size[k - 1];
}

int shape_definition_parameter_count(const ShapeDefinition* form) {
  return METHODS[form->kind].own + (form->kind == SMOOTH_POLYTOPE ? 4 * form->face_count : 0);
}

bool shape_parameter_can_change(const Shape* shape, int k, double way) {
  assert(k >= 0 && k < shape_parameter_count(shape));
  bool power = shape->kind == SMOOTH_SUPERELLIPSOID || shape->kind == SMOOTH_CYLINDER;
  if (power && k == 0) return shape->exponent - way >= 1 && shape->exponent + way <= SHAPE_EXPONENT_MAX;
  if (shape->kind == SMOOTH_SUPERQUADRIC && k < 2)
    return shape->exponents[k] - way >= SHAPE_EXPONENT_MIN && shape->exponents[k] + way <= 1;
  return true;
}

int shape_parameter_count(const Shape* shape) { return METHODS[shape->kind].own + 4 * shape->face_count; }

void shape_parameter_derivative(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient) {
  assert(k >= 0 && k < shape_parameter_count(shape));
  METHODS[shape->kind].slope(shape, z, k, value, gradient);
}
