/* Random smooth shapes, and an independent implementation of their level functions in long double. */
#ifndef SDRS_TESTS_SUPPORT_SHAPES_H
#define SDRS_TESTS_SUPPORT_SHAPES_H

#include "shapes/shapes.h"
#include "support/compare.h"

enum { TEST_FACES = 12 };

/* A form with its own faces. */
typedef struct {
  ShapeDefinition form;
  double faces[TEST_FACES][4];
} TestForm;

/* How far from ordinary: sizes 10^+-size, their ratios up to 10^aspect, beta up to beta, exponents up to exponent. */
typedef struct {
  double size, aspect, beta, exponent;
} Wildness;

/* Moderate: sizes 0.5 to 2, beta 20, exponents 1 to 8. */
extern const Wildness WILD_NOT;
/* The most extreme shapes that queries must support: sizes 1e-3 to 1e3, ratios to 1e3, beta to 1e3, exponents to 32. */
extern const Wildness WILD_MOST;

/* A form that shape_create accepts; draws until one is. */
void test_form(TestForm* out, Random* random, SmoothKind kind, const Wildness* wild);
/* The same form with its parameters, in the order of shape_parameter_count, at `values`. */
void test_form_set(TestForm* form, const double* values);
void test_form_get(const TestForm* form, double* values);
/* phi of a form at z by its definition. */
long double plain_phi(const ShapeDefinition* form, const long double z[3]);
/* The gauge by halving a bracket of plain_phi. */
long double plain_gauge(const ShapeDefinition* form, const long double y[3]);

#endif
