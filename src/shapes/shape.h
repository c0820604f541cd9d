/* Private to shapes/: the functions of each kind of smooth shape. Unless stated otherwise, they neither allocate nor
 * fail. */
#ifndef SDRS_SHAPES_SHAPE_H
#define SDRS_SHAPES_SHAPE_H

#include "shapes/shapes.h"

/* Largest exponent n of superellipsoids and cylinders: the 128th power of a ratio above 1/2 does not underflow. */
#define SHAPE_EXPONENT_MAX 64.0
/* Smallest shape exponents e1 and e2 of superquadrics (shapes.md, B7). The powers of the coordinates, 2 / e1 and 2 /
 * e2, are then at most 64. */
#define SHAPE_EXPONENT_MIN (1.0 / 32)

typedef struct {
  const char* name;
  int parameter_count; /* number of parameters, without the parameters of the faces of a polytope */
  bool gauge; /* true if the level function phi is the gauge minus 1; the gauge is the factor by which the body is
                 scaled to reach a point (B4) */
  const char* (*create)(Shape* shape, const ShapeDefinition* form);
  ShapeValue (*evaluate)(const Shape* shape, Vec3 z);
  void (*parameter_derivative)(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
} ShapeMethods;

/* Returns the functions of a kind of shape (static). */
const ShapeMethods* shape_methods(SmoothKind kind);

/* Creates a smooth polytope, a polyhedron with rounded edges (B1), in *shape, where only the kind is set. Returns NULL
 * on success, otherwise the violated rule (static text). Allocates one block at shape->nx, which shape_free frees. */
const char* polytope_create(Shape* shape, const ShapeDefinition* definition);
/* Returns the level function phi of a smooth polytope, gradient and Hessian [1/m, 1/m^2] at the point z [m, shape's
 * frame]. */
ShapeValue polytope_evaluate(const Shape* shape, Vec3 z);
/* Returns the level function phi of a smooth polytope and its gradient at the point z, bit-identical to the results of
 * polytope_evaluate. The Hessian of the result is unspecified. */
ShapeValue polytope_value_and_gradient(const Shape* shape, Vec3 z);
/* Sets *value and *gradient to the derivatives of phi and of the gradient of phi at z with respect to parameter k, in
 * the order of shape_parameter_count. */
void polytope_parameter_derivative(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* Creates a truncated cone (B2). Returns NULL on success, otherwise the violated rule (static text), for example that
 * the body is not convex. */
const char* cone_create(Shape* shape, const ShapeDefinition* definition);
/* Returns the level function phi of a truncated cone, gradient and Hessian [1/m, 1/m^2] at the point z [m, shape's
 * frame]. */
ShapeValue cone_evaluate(const Shape* shape, Vec3 z);
/* Sets *value and *gradient to the derivatives of phi and of the gradient of phi at the point z with respect to
 * parameter k. Parameter 0 is the sharpness beta, parameter k >= 1 is size[k - 1]. */
void cone_parameter_derivative(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* Creates a superellipsoid or cylinder (B3). Returns NULL on success, otherwise the violated rule (static text). */
const char* super_create(Shape* shape, const ShapeDefinition* definition);
/* Returns the level function phi of a superellipsoid or superelliptic cylinder, gradient and Hessian at the point z [m,
 * shape's frame]. At the centre, where phi is not differentiable, gradient and Hessian are zero. */
ShapeValue super_evaluate(const Shape* shape, Vec3 z);
/* Sets *value and *gradient to the derivatives of phi and of the gradient of phi at the point z with respect to
 * parameter k. Parameter 0 is the exponent, parameter k >= 1 is size[k - 1]. All derivatives are zero at the centre. */
void super_parameter_derivative(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* Creates a superquadric (B7). Returns NULL on success, otherwise the violated rule (static text). */
const char* quadric_create(Shape* shape, const ShapeDefinition* definition);
/* Returns the level function phi of a superquadric, gradient and Hessian at the point z [m, shape's frame]. At the
 * centre, where phi is not differentiable, gradient and Hessian are zero. */
ShapeValue quadric_evaluate(const Shape* shape, Vec3 z);
/* Sets *value and *gradient to the derivatives of phi and of the gradient of phi at the point z with respect to
 * parameter k. Parameters 0 and 1 are the exponents e1 and e2, parameter k >= 2 is size[k - 2]. All derivatives are
 * zero at the centre. */
void quadric_parameter_derivative(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);

#endif
