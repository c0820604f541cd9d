/* Interface of a kind of shape: a row of the table in shape.c. Private to shapes/. */
#ifndef SDRS_SHAPES_SHAPE_H
#define SDRS_SHAPES_SHAPE_H

#include "shapes/shapes.h"

/* Largest n of superellipsoids and cylinders: the 2n-th power of a ratio above 1/2 is still a number. */
#define SHAPE_EXPONENT_MAX 64.0
/* Least e1, e2 of superquadrics: p and q are at most 64. */
#define SHAPE_EXPONENT_LEAST (1.0 / 32)

typedef struct {
  const char* name;
  int own;    /* parameters besides faces */
  bool gauge; /* phi = gamma - 1 */
  const char* (*create)(Shape* shape, const SmoothForm* form);
  ShapeValue (*evaluate)(const Shape* shape, Vec3 z);
  void (*slope)(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
} ShapeMethods;

/* The row of a kind; static. */
const ShapeMethods* shape_methods(SmoothKind kind);

/* (B1). Fills *shape, whose kind and zeros are set; returns NULL, or the rule that the form breaks (static). The one
 * that allocates: one block at nx, freed by shape_free. */
const char* polytope_create(Shape* shape, const SmoothForm* form);
/* phi and its derivatives [1/m, 1/m^2] at z [m], shape's frame, here and below. No allocation, never fails. */
ShapeValue polytope_evaluate(const Shape* shape, Vec3 z);
/* The same bits of phi and its gradient alone; the Hessian may be left zero. */
ShapeValue polytope_level(const Shape* shape, Vec3 z);
/* Derivatives of phi and of its gradient by parameter k, as shape_parameter_slope, here and below. */
void polytope_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* (B2). NULL, or the rule that is broken (static): also a body that is not convex. No allocation. */
const char* cone_create(Shape* shape, const SmoothForm* form);
/* As polytope_evaluate. */
ShapeValue cone_evaluate(const Shape* shape, Vec3 z);
/* k: beta, then size[k - 1]. */
void cone_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* (B3), superellipsoids and cylinders. NULL, or the rule that is broken (static). No allocation. */
const char* super_create(Shape* shape, const SmoothForm* form);
/* As polytope_evaluate; at the centre, where phi has a tip, gradient and Hessian are zero. */
ShapeValue super_evaluate(const Shape* shape, Vec3 z);
/* k: the exponent, then size[k - 1]; both zero at the centre. */
void super_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
/* (B7). NULL, or the rule that is broken (static). No allocation. */
const char* quadric_create(Shape* shape, const SmoothForm* form);
/* As super_evaluate. */
ShapeValue quadric_evaluate(const Shape* shape, Vec3 z);
/* k: e1, e2, then size[k - 2]; both zero at the centre. */
void quadric_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);

#endif
