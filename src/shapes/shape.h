/* Interface of a kind of shape: an entry of the table in shape.c. Private to shapes/. */
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

/* Table entry of a kind; static. */
const ShapeMethods* shape_methods(SmoothKind kind);

/* Creates a polytope (B1) in *shape, whose kind is set and the rest zero. Returns NULL, or the violated rule (static).
 * Allocates one block at nx, freed by shape_free. */
const char* polytope_create(Shape* shape, const SmoothForm* form);
/* phi and its derivatives [1/m, 1/m^2] at z [m], shape's frame. No function here allocates or fails, except as stated.
 */
ShapeValue polytope_evaluate(const Shape* shape, Vec3 z);
/* phi and its gradient, bit-identical to polytope_evaluate; the Hessian may be left zero. */
ShapeValue polytope_level(const Shape* shape, Vec3 z);
/* Derivatives of phi and of its gradient by parameter k, as shape_parameter_slope, here and below. */
void polytope_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* Creates a cone (B2). Returns NULL, or the violated rule (static), for example that the body is not convex. */
const char* cone_create(Shape* shape, const SmoothForm* form);
/* phi and its derivatives, as polytope_evaluate. */
ShapeValue cone_evaluate(const Shape* shape, Vec3 z);
/* Derivatives by parameter k: beta, then size[k - 1]. */
void cone_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* Creates a superellipsoid or cylinder (B3). Returns NULL, or the violated rule (static). */
const char* super_create(Shape* shape, const SmoothForm* form);
/* phi and its derivatives; at the centre, where phi is not differentiable, gradient and Hessian are zero. */
ShapeValue super_evaluate(const Shape* shape, Vec3 z);
/* Derivatives by parameter k: the exponent, then size[k - 1]; zero at the centre. */
void super_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* Creates a superquadric (B7). Returns NULL, or the violated rule (static). */
const char* quadric_create(Shape* shape, const SmoothForm* form);
/* phi and its derivatives, as super_evaluate. */
ShapeValue quadric_evaluate(const Shape* shape, Vec3 z);
/* Derivatives by parameter k: e1, e2, then size[k - 2]; zero at the centre. */
void quadric_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);

#endif
