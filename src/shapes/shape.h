/* What a kind of shape has to do: a row of the table in shape.c. Private to shapes/. */
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

/* Vectors are passed between functions of one file only, so how they are passed on older processors does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

/* Four numbers at a time: element by element, so the bits are those of plain arithmetic on every processor. */
typedef double Lanes __attribute__((vector_size(32)));
typedef int64_t LaneBits __attribute__((vector_size(32)));
enum { LANES = 4 };

static inline Lanes lanes_of(double x) { return (Lanes){x, x, x, x}; }
static inline Lanes lanes_chosen(LaneBits where, Lanes yes, Lanes no) {
  return (Lanes)(((LaneBits)yes & where) | ((LaneBits)no & ~where));
}

/* Without a branch: which lane it is in cannot be guessed. */
static inline double lanes_largest(Lanes x) {
  Lanes other = {x[2], x[3], x[0], x[1]};
  x = lanes_chosen(other > x, other, x);
  other = (Lanes){x[1], x[0], x[3], x[2]};
  x = lanes_chosen(other > x, other, x);
  return x[0];
}

/* e^x for x <= 0, below -700 zero. Relative error below 3e-16: e^x = 2^k e^r by Taylor's series to the 13th power on
 * |r| <= log(2)/2; a whole number k is what is left of x / log 2 + 1.5 2^52. */
static inline Lanes decay(Lanes x) {
  const Lanes least = lanes_of(-700.0), shift = lanes_of(0x1.8p52);
  LaneBits gone = x < least;
  Lanes clipped = lanes_chosen(gone, least, x);
  Lanes shifted = clipped * 0x1.71547652b82fep+0 + shift, k = shifted - shift;
  Lanes r = (clipped - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33, s = r * r, s2 = s * s;
  /* in pairs, so that none waits long for another */
  Lanes low = (r * (1.0 / 6) + 1.0 / 2) + s * (r * (1.0 / 120) + 1.0 / 24);
  Lanes middle = (r * (1.0 / 5040) + 1.0 / 720) + s * (r * (1.0 / 362880) + 1.0 / 40320);
  Lanes high = (r * (1.0 / 39916800) + 1.0 / 3628800) + s * (r * (1.0 / 6227020800) + 1.0 / 479001600);
  Lanes power = (r + s * (low + s2 * (middle + s2 * high))) + 1.0;
  Lanes scale = (Lanes)(((LaneBits)shifted + 1023) << 52); /* 2^k */
  return (Lanes)((LaneBits)(power * scale) & ~gone);
}

#endif
