/* Private to decompose/: fit of superquadrics to a solid, given by points with known side. docs/derivations/shapes.md
 */
#ifndef SDRS_DECOMPOSE_SUPERQUADRIC_H
#define SDRS_DECOMPOSE_SUPERQUADRIC_H

#include "decompose/decompose.h"
#include "shapes/shapes.h"

/* Number of variables: base-2 logarithms of three semi-axes, two exponents, rotation about its own axes, displacement.
 */
enum { SUPERQUADRIC_NUMBERS = 11 };

/* A superquadric prepared for distance evaluation. */
typedef struct {
  Superquadric own;
  Shape shape; /* without arrays, need not be freed */
  Mat3 turn;   /* matrix of own.rotation */
} Primitive;

/* Prepares a superquadric; sizes and exponents must be in the range of shape_create. */
Primitive primitive_of(const Superquadric* own);
/* Radial distance of a point (B10) [mesh unit], clamped to -limit .. limit. */
double primitive_distance(const Primitive* primitive, Vec3 place, double limit);
/* Derivatives of the radial distance by the variables, to slope (SUPERQUADRIC_NUMBERS). */
void primitive_slopes(const Primitive* primitive, Vec3 place, double* slope);
/* Applies step, (SUPERQUADRIC_NUMBERS) long, to all variables; sizes are clamped to [least, largest], every exponent to
 * its range. */
Superquadric superquadric_moved(const Superquadric* from, const double* step, double least, double largest);

/* A fit point (B11). On the surface the union's distance should be 0, elsewhere have the same sign as the solid's.
 * other: distance of the superquadrics that are not fitted. */
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

/* Sum over the points of weight * misfit^2, with misfits limited to `width` (B11). list (count). Allocates temporarily.
 */
double fit_cost(const FitProblem* problem, const Superquadric* list, int count, double width);
/* Levenberg-Marquardt on all superquadrics (count) together, in place; returns the cost (B12). */
double fit_improve(const FitProblem* problem, Superquadric* list, int count, double width, int iterations);

/* Samples of a solid: distances at the nodes of a grid, x fastest, and points on its surface. Owns its arrays. */
typedef struct {
  Vec3 low;
  double edge;
  int size[3];      /* nodes along x, y, z */
  double* distance; /* distance of every node from the surface, negative inside */
  Vec3* surface;    /* points distributed evenly over the surface */
  int surface_count;
  double area;
} SolidSamples;
/* Samples a closed surface; cells: along the longest edge of its box, plus a margin. Freed by solid_samples_free. */
SolidSamples solid_samples_create(const ConvexHull* surface, int cells, int threads);
/* Frees the arrays. */
void solid_samples_free(SolidSamples* samples);
int solid_samples_count(const SolidSamples* samples);
Vec3 solid_samples_place(const SolidSamples* samples, int node);

/* Measures the quality of the superquadrics with points that the fit did not use. */
void superquadrics_measure(SuperquadricUnion* out, const ConvexHull* surface, int threads);

#endif
