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

const ShapeMethods* shape_methods(SmoothKind kind);

const char* polytope_create(Shape* shape, const SmoothForm* form);
ShapeValue polytope_evaluate(const Shape* shape, Vec3 z);
void polytope_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
const char* cone_create(Shape* shape, const SmoothForm* form);
ShapeValue cone_evaluate(const Shape* shape, Vec3 z);
void cone_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
const char* super_create(Shape* shape, const SmoothForm* form);
ShapeValue super_evaluate(const Shape* shape, Vec3 z);
void super_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
const char* quadric_create(Shape* shape, const SmoothForm* form);
ShapeValue quadric_evaluate(const Shape* shape, Vec3 z);
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

/* e^x for x <= 0, below -700 zero. Relative error below 3e-16: e^x = 2^k e^r by Taylor's series to the 13th power on
 * |r| <= log(2)/2; a whole number k is what is left of x / log 2 + 1.5 2^52. */
static inline Lanes decay(Lanes x) {
  const Lanes least = lanes_of(-700.0), shift = lanes_of(0x1.8p52);
  LaneBits gone = x < least;
  Lanes clipped = lanes_chosen(gone, least, x);
  Lanes shifted = clipped * 0x1.71547652b82fep+0 + shift, k = shifted - shift;
  Lanes r = (clipped - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33, s = r * r;
  Lanes even = s * (1.0 / 479001600) + 1.0 / 3628800, odd = s * (1.0 / 6227020800) + 1.0 / 39916800;
  even = s * even + 1.0 / 40320;
  odd = s * odd + 1.0 / 362880;
  even = s * even + 1.0 / 720;
  odd = s * odd + 1.0 / 5040;
  even = s * even + 1.0 / 24;
  odd = s * odd + 1.0 / 120;
  even = s * even + 1.0 / 2;
  odd = s * odd + 1.0 / 6;
  Lanes power = (r + s * (even + r * odd)) + 1.0;
  Lanes scale = (Lanes)(((LaneBits)shifted + 1023) << 52); /* 2^k */
  return (Lanes)((LaneBits)(power * scale) & ~gone);
}

/* log x for x in [1, 2^20], to 3e-16 of the larger of the result and 1, likewise: x = 2^k m with m in [sqrt 1/2, sqrt
 * 2), log m = 2 artanh((m - 1) / (m + 1)) by its series. */
static inline double log_of_sum(double x) {
  union {
    double number;
    uint64_t bits;
  } word = {.number = x};
  int64_t k = (int64_t)((word.bits + 0x95f619980c433u) >> 52) - 1023; /* carries where m >= sqrt 2 */
  word.bits -= (uint64_t)k << 52;
  double s = (word.number - 1) / (word.number + 1), q = s * s, q2 = q * q;
  double even = 2.0 / 3 + q2 * (2.0 / 7 + q2 * (2.0 / 11 + q2 * (2.0 / 15 + q2 * (2.0 / 19))));
  double odd = 2.0 / 5 + q2 * (2.0 / 9 + q2 * (2.0 / 13 + q2 * (2.0 / 17 + q2 * (2.0 / 21))));
  return (double)k * 0x1.62e42fefa39efp-1 + (2 * s + s * q * (even + q * odd));
}

#endif
