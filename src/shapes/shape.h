/* Methods of each kind of smooth shape, collected in a table in shape.c. Private to shapes/. */
#ifndef SDRS_SHAPES_SHAPE_H
#define SDRS_SHAPES_SHAPE_H

#include "shapes/shapes.h"

/* Largest exponent n of superellipsoids and cylinders: the 2n-th power of a ratio above 1/2 does not underflow. */
#define SHAPE_EXPONENT_MAX 64.0
/* Least e1, e2 of superquadrics, so that p and q are at most 64. */
#define SHAPE_EXPONENT_LEAST (1.0 / 32)

typedef struct {
  const char* name;
  int own;    /* number of parameters besides faces */
  bool gauge; /* phi = gamma - 1 */
  const char* (*create)(Shape* shape, const SmoothForm* form);
  ShapeValue (*evaluate)(const Shape* shape, Vec3 z);
  void (*slope)(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
} ShapeMethods;

/* Returns the methods of a kind of shape. Static, never NULL. */
const ShapeMethods* shape_methods(SmoothKind kind);

/* Creates a polytope (B1) in *shape, in which only the kind is set and all else is zero. Returns NULL on success, else
 * the violated rule (static text). Allocates one block at shape->nx, which shape_free frees. */
const char* polytope_create(Shape* shape, const SmoothForm* form);
/* Returns phi and its derivatives [1/m, 1/m^2] at z [m, shape's frame]. No function of this header allocates or fails,
 * except where stated. */
ShapeValue polytope_evaluate(const Shape* shape, Vec3 z);
/* Returns phi and its gradient, bit-identical to polytope_evaluate. The Hessian may be left zero. */
ShapeValue polytope_level(const Shape* shape, Vec3 z);
/* Sets *value and *gradient to the derivatives of phi and of the gradient of phi by parameter k at z, as
 * shape_parameter_slope does. This holds for every function *_slope below. */
void polytope_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* Creates a cone (B2). Returns NULL on success, else the violated rule (static text), for example if the body is not
 * convex. */
const char* cone_create(Shape* shape, const SmoothForm* form);
/* Returns phi and its derivatives at z, as polytope_evaluate does. */
ShapeValue cone_evaluate(const Shape* shape, Vec3 z);
/* Sets the derivatives by parameter k. Parameter 0 is beta, parameter k >= 1 is size[k - 1]. */
void cone_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* Creates a superellipsoid or cylinder (B3). Returns NULL on success, else the violated rule (static text). */
const char* super_create(Shape* shape, const SmoothForm* form);
/* Returns phi and its derivatives at z. At the centre, where phi is not differentiable, gradient and Hessian are zero.
 * */
ShapeValue super_evaluate(const Shape* shape, Vec3 z);
/* Sets the derivatives by parameter k. Parameter 0 is the exponent, parameter k >= 1 is size[k - 1]. All are zero at
 * the centre. */
void super_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* Creates a superquadric (B7). Returns NULL on success, else the violated rule (static text). */
const char* quadric_create(Shape* shape, const SmoothForm* form);
/* Returns phi and its derivatives at z, as super_evaluate does. */
ShapeValue quadric_evaluate(const Shape* shape, Vec3 z);
/* Sets the derivatives by parameter k. Parameters 0 and 1 are e1 and e2, parameter k >= 2 is size[k - 2]. All are zero
 * at the centre. */
void quadric_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);

#endif
