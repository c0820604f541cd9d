/* Private to decompose/: superquadrics that are fitted to a solid, given by points whose side of its surface is known.
 * docs/derivations/shapes.md */
#ifndef SDRS_DECOMPOSE_SUPERQUADRIC_H
#define SDRS_DECOMPOSE_SUPERQUADRIC_H

#include "decompose/decompose.h"
#include "shapes/shapes.h"

/* Variables: base-2 logarithms of the three semi-axes, two exponents, a rotation about the own axes, a displacement. */
enum { SUPERQUADRIC_NUMBERS = 11 };

/* One that distances can be asked of. */
typedef struct {
  Superquadric own;
  Shape shape; /* without arrays: need not be freed */
  Mat3 turn;   /* of own.rotation */
} Primitive;

/* Sizes and exponents must be in the range of shape_create. */
Primitive primitive_of(const Superquadric* own);
/* Radial distance of a place (B10) [unit of the mesh], but `limit` where it is not below that; never less than -limit.
 */
double primitive_distance(const Primitive* primitive, Vec3 place, double limit);
/* Its derivatives by the numbers, in the order above, to slope (SUPERQUADRIC_NUMBERS). */
void primitive_slopes(const Primitive* primitive, Vec3 place, double* slope);
/* Moved by a step of all numbers; sizes stay in [least, largest], exponents in their range. */
Superquadric superquadric_moved(const Superquadric* from, const double* step, double least, double largest);

/* A place that the union is held against (B11): on the surface it is wanted at distance 0, elsewhere on the same side
 * as the solid's. `other`: distance of the primitives that do not take part. */
typedef struct {
  Vec3 place;
  double weight, other;
  int side; /* -1 inside, 0 on the surface, 1 outside */
} FitPoint;
typedef struct {
  FitPoint* points;
  int count;
  double least, largest; /* semi-axes, unit of the mesh */
  int threads;
} FitProblem;

/* Sum over the points of weight times square misfit, misfits beyond `width` counting as that (B11). Allocates for the
 * time of the call. */
double fit_cost(const FitProblem* problem, const Superquadric* list, int count, double width);
/* Levenberg and Marquardt's method on all superquadrics at once, which improves them; returns the cost (B12). */
double fit_improve(const FitProblem* problem, Superquadric* list, int count, double width, int iterations);

/* Samples of the solid on the nodes of a grid, x running fastest, and on its surface. Owns its arrays. */
typedef struct {
  Vec3 low;
  double edge;
  int size[3];      /* nodes along x, y, z */
  double* distance; /* of every node from the surface, negative inside */
  Vec3* surface;    /* places spread evenly over it */
  int surface_count;
  double area;
} SolidSamples;
/* Samples of a closed surface; `cells` along the longest edge of its box, a margin beyond it. Freed by
 * solid_samples_free. */
SolidSamples solid_samples_create(const ConvexHull* surface, int cells, int threads);
/* Frees the arrays. */
void solid_samples_free(SolidSamples* samples);
int solid_samples_count(const SolidSamples* samples);
Vec3 solid_samples_place(const SolidSamples* samples, int node);

/* Fill in what the decomposition's superquadrics are worth, from places that the fit has not seen. */
void superquadrics_measure(SuperquadricUnion* out, const ConvexHull* surface, int threads);

#endif
