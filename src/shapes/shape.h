/* Methods of each kind of smooth shape. The table of methods is in shape.c. Private to shapes/. */
#ifndef SDRS_SHAPES_SHAPE_H
#define SDRS_SHAPES_SHAPE_H

#include "shapes/shapes.h"

/* Largest exponent n of superellipsoids and cylinders. 64, because then the 2n-th power of a ratio above 1/2 does not
 * underflow. */
#define SHAPE_EXPONENT_MAX 64.0
/* Least exponents e1, e2 of superquadrics. 1/32, because then p = 2 / e2 and q = 2 / e1 are at most 64. */
#define SHAPE_EXPONENT_LEAST (1.0 / 32)

typedef struct {
  const char* name;
  int own;    /* number of parameters, without the parameters of the faces */
  bool gauge; /* true if phi = gamma - 1, where gamma is the gauge (B4) */
  const char* (*create)(Shape* shape, const SmoothForm* form);
  ShapeValue (*evaluate)(const Shape* shape, Vec3 z);
  void (*slope)(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
} ShapeMethods;

/* Returns the methods of a kind of shape. The methods are static. Never returns NULL. */
const ShapeMethods* shape_methods(SmoothKind kind);

/* Creates a smooth polytope (B1). In *shape, only the kind is set and all other members are zero. Returns NULL on
 * success, otherwise the violated rule (static text). Allocates one block at shape->nx, which shape_free frees. */
const char* polytope_create(Shape* shape, const SmoothForm* form);
/* Returns phi and its derivatives [1/m, 1/m^2] at z [m, shape's frame]. The functions of this header neither allocate
 * nor fail, except where stated. */
ShapeValue polytope_evaluate(const Shape* shape, Vec3 z);
/* Returns phi and its gradient at z, bit-identical to the results of polytope_evaluate. The Hessian may be zero. */
ShapeValue polytope_level(const Shape* shape, Vec3 z);
/* Sets *value and *gradient to the derivatives of phi and of the gradient of phi at z with respect to parameter k. The
 * parameters are numbered as in shape_parameter_slope. The other functions *_slope do the same for their shapes. */
void polytope_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* Creates a truncated cone (B2). Returns NULL on success, otherwise the violated rule (static text), for example that
 * the body is not convex. */
const char* cone_create(Shape* shape, const SmoothForm* form);
/* Returns phi and its derivatives at z, as polytope_evaluate does. */
ShapeValue cone_evaluate(const Shape* shape, Vec3 z);
/* Sets *value and *gradient to the derivatives at z with respect to parameter k. Parameter 0 is beta, parameter k >= 1
 * is size[k - 1]. */
void cone_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* Creates a superellipsoid or cylinder (B3). Returns NULL on success, otherwise the violated rule (static text). */
const char* super_create(Shape* shape, const SmoothForm* form);
/* Returns phi and its derivatives at z. At the centre, where phi is not differentiable, gradient and Hessian are
 * zero. */
ShapeValue super_evaluate(const Shape* shape, Vec3 z);
/* Sets *value and *gradient to the derivatives at z with respect to parameter k. Parameter 0 is the exponent, parameter
 * k >= 1 is size[k - 1]. All derivatives are zero at the centre. */
void super_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* Creates a superquadric (B7). Returns NULL on success, otherwise the violated rule (static text). */
const char* quadric_create(Shape* shape, const SmoothForm* form);
/* Returns phi and its derivatives at z, as super_evaluate does. */
ShapeValue quadric_evaluate(const Shape* shape, Vec3 z);
/* Sets *value and *gradient to the derivatives at z with respect to parameter k. Parameters 0 and 1 are e1 and e2,
 * parameter k >= 2 is size[k - 2]. All derivatives are zero at the centre. */
void quadric_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);

#endif
