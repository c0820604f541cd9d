/* Private to decompose/. Fits superquadrics to a solid. The solid is given by points inside, outside and on its surface
 * (docs/derivations/shapes.md). */
#ifndef SDRS_DECOMPOSE_SUPERQUADRIC_H
#define SDRS_DECOMPOSE_SUPERQUADRIC_H

#include "decompose/decompose.h"
#include "shapes/shapes.h"

/* Number of variables of a superquadric. The variables are base-2 logarithms of three semi-axes, two exponents, three
 * rotations about the superquadric's axes and three displacements. */
enum { SUPERQUADRIC_VARIABLES = 11 };

/* A superquadric prepared for distance evaluation. */
typedef struct {
  Superquadric own;
  Shape shape; /* contains no arrays and need not be freed */
  Mat3 turn;   /* matrix of own.rotation */
} Primitive;

/* Prepares a superquadric for distance evaluation. Semi-axes and exponents must be in the ranges that shape_create
 * accepts. */
Primitive primitive_create(const Superquadric* own);
/* Returns the radial distance of the point `place` from the surface (B10) [mesh unit], clamped to -limit .. limit. */
double primitive_distance(const Primitive* primitive, Vec3 place, double limit);
/* Sets slope (SUPERQUADRIC_VARIABLES) to the derivatives of the radial distance of the point `place` with respect to
 * the variables. */
void primitive_derivatives(const Primitive* primitive, Vec3 place, double* slope);
/* Adds step (SUPERQUADRIC_VARIABLES) to the variables of the superquadric `from`. Returns the resulting superquadric.
 * The semi-axes are clamped to [least, largest], and every exponent to [0.1, 1]. */
Superquadric superquadric_add_step(const Superquadric* from, const double* step, double least, double largest);

/* A point to which the superquadrics are fitted (B11). At a point on the surface of the solid, the distance of the
 * union should be 0. At any other point, the distance should have the sign of `side`. other: distance of the point from
 * the superquadrics that are not fitted. */
typedef struct {
  Vec3 place;
  double weight, other;
  int side; /* -1 inside, 0 on the surface, 1 outside */
} FitPoint;
typedef struct {
  FitPoint* points;
  int count;
  double least, largest; /* limits of the semi-axes, mesh unit */
  int threads;
} FitProblem;

/* Returns the cost of the superquadrics `list` (count): the sum over the points of weight * misfit^2. Misfits are
 * limited to `width` (B11). Allocates temporary memory. */
double fit_cost(const FitProblem* problem, const Superquadric* list, int count, double width);
/* Fits all superquadrics of `list` (count) together by the Levenberg-Marquardt method, in place. iterations: largest
 * number of iterations. width: as for fit_cost. Returns the cost (B12). */
double fit_improve(const FitProblem* problem, Superquadric* list, int count, double width, int iterations);

/* Samples of a solid: distances at the nodes of a grid (x fastest), and points on the surface. The arrays are owned. */
typedef struct {
  Vec3 low;
  double edge;
  int size[3];      /* number of nodes along x, y, z */
  double* distance; /* distance of every node from the surface, negative inside */
  Vec3* surface;    /* points distributed evenly over the surface */
  int surface_count;
  double area;
} SolidSamples;
/* Samples a closed surface on a grid. The grid has `cells` cells along the longest edge of the bounding box, plus a
 * margin. The caller frees the result with solid_samples_free. */
SolidSamples solid_samples_create(const ConvexHull* surface, int cells, int threads);
/* Frees the arrays. */
void solid_samples_free(SolidSamples* samples);
int solid_samples_count(const SolidSamples* samples);
Vec3 solid_samples_position(const SolidSamples* samples, int node);

/* Measures how well the superquadrics out->list approximate the surface, at points that the fit did not use. Sets the
 * quality measures of *out. */
void superquadrics_measure(SuperquadricUnion* out, const ConvexHull* surface, int threads);

#endif
