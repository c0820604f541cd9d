/* What a kind of shape has to do: a row of the table in shape.c. Private to shapes/. */
#ifndef SDRS_SHAPES_SHAPE_H
#define SDRS_SHAPES_SHAPE_H

#include "shapes/shapes.h"

typedef struct {
  const char* name;
  int own;    /* parameters besides faces */
  bool gauge; /* phi = gamma - 1 */
  const char* (*create)(Shape* shape, const ShapeForm* form);
  ShapeValue (*evaluate)(const Shape* shape, Vec3 z);
  void (*slope)(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
} ShapeMethods;

const ShapeMethods* shape_methods(SmoothKind kind);

const char* polytope_create(Shape* shape, const ShapeForm* form);
ShapeValue polytope_evaluate(const Shape* shape, Vec3 z);
void polytope_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
const char* cone_create(Shape* shape, const ShapeForm* form);
ShapeValue cone_evaluate(const Shape* shape, Vec3 z);
void cone_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);
const char* super_create(Shape* shape, const ShapeForm* form);
ShapeValue super_evaluate(const Shape* shape, Vec3 z);
void super_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);

/* e^x for x <= 0, below -700 zero: by plain arithmetic, so that gcc makes vectors of it and every processor gets the
 * same bits. Relative error below 3e-16: Taylor's series to the 13th power on |r| <= log(2)/2. */
static inline double decay(double x) {
  double clipped = x < -700.0 ? -700.0 : x;
  double shifted = clipped * 0x1.71547652b82fep+0 + 0x1.8p52; /* rounded to a whole number k */
  double k = shifted - 0x1.8p52;
  double r = (clipped - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
  double s = r * r;
  double even = 1.0 / 2 + s * (1.0 / 24 + s * (1.0 / 720 + s * (1.0 / 40320 + s * (1.0 / 3628800 + s / 479001600.0))));
  double odd =
      1.0 / 6 + s * (1.0 / 120 + s * (1.0 / 5040 + s * (1.0 / 362880 + s * (1.0 / 39916800 + s / 6227020800.0))));
  double power = 1.0 + (r + s * (even + r * odd));
  union {
    double number;
    uint64_t bits;
  } word = {.number = shifted};
  word.bits = (word.bits + 1023) << 52; /* 2^k */
  return x < -700.0 ? 0.0 : power * word.number;
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
