/* Private to decompose/. Fits superquadrics to a solid that is given by points inside, outside and on its surface
 * (docs/derivations/shapes.md). */
#ifndef SDRS_DECOMPOSE_SUPERQUADRIC_H
#define SDRS_DECOMPOSE_SUPERQUADRIC_H

#include "decompose/decompose.h"
#include "shapes/shapes.h"

/* Number of variables of a superquadric: base-2 logarithms of three semi-axes, two exponents, three rotations about the
 * superquadric's axes, three displacements. */
enum { SUPERQUADRIC_NUMBERS = 11 };

/* A superquadric prepared for distance evaluation. */
typedef struct {
  Superquadric own;
  Shape shape; /* without arrays, need not be freed */
  Mat3 turn;   /* matrix of own.rotation */
} Primitive;

/* Returns a superquadric prepared for distance evaluation. Semi-axes and exponents must be in the ranges that
 * shape_create accepts. */
Primitive primitive_of(const Superquadric* own);
/* Returns the radial distance of a point from the surface (B10) [mesh unit], clamped to -limit .. limit. */
double primitive_distance(const Primitive* primitive, Vec3 place, double limit);
/* Sets slope (SUPERQUADRIC_NUMBERS) to the derivatives of the radial distance of a point by the variables. */
void primitive_slopes(const Primitive* primitive, Vec3 place, double* slope);
/* Returns the superquadric whose variables are those of `from` plus step (SUPERQUADRIC_NUMBERS). The semi-axes are
 * clamped to [least, largest], every exponent to its range. */
Superquadric superquadric_moved(const Superquadric* from, const double* step, double least, double largest);

/* A point that the superquadrics are fitted to (B11). At a point on the surface of the solid the distance of the union
 * should be 0; at other points its sign should be that of `side`. other: distance of the point from the superquadrics
 * that are not fitted. */
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

/* Returns the sum over the points of weight * misfit^2 for the superquadrics of list (count), with misfits limited to
 * `width` (B11). Allocates temporarily. */
double fit_cost(const FitProblem* problem, const Superquadric* list, int count, double width);
/* Fits all superquadrics of list (count) together, in place, with at most `iterations` iterations of the
 * Levenberg-Marquardt method. Returns the cost (B12). */
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
/* Samples a closed surface on a grid with `cells` cells along the longest edge of its bounding box, plus a margin. The
 * caller frees the result with solid_samples_free. */
SolidSamples solid_samples_create(const ConvexHull* surface, int cells, int threads);
/* Frees the arrays. */
void solid_samples_free(SolidSamples* samples);
int solid_samples_count(const SolidSamples* samples);
Vec3 solid_samples_place(const SolidSamples* samples, int node);

/* Sets the quality measures of *out by comparing the superquadrics out->list with the surface at points that the fit
 * did not use. */
void superquadrics_measure(SuperquadricUnion* out, const ConvexHull* surface, int threads);

#endif
