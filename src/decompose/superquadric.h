/* Private to decompose/. Fits superquadrics to a solid, which points inside, outside and on its surface represent
 * (docs/derivations/shapes.md). */
#ifndef SDRS_DECOMPOSE_SUPERQUADRIC_H
#define SDRS_DECOMPOSE_SUPERQUADRIC_H

#include "decompose/decompose.h"
#include "shapes/shapes.h"

/* Number of variables of a superquadric: base-2 logarithms of three semi-axes, two exponents, three rotations about its
 * axes and three displacements of its centre. */
enum { SUPERQUADRIC_VARIABLES = 11 };

/* A superquadric prepared for distance evaluation. */
typedef struct {
  Superquadric superquadric;
  Shape shape;   /* has no arrays and need not be freed */
  Mat3 rotation; /* rotation matrix from the superquadric's frame to the mesh frame */
} Primitive;

/* Prepares a superquadric for distance evaluation. Semi-axes and exponents must be in the ranges of shape_create. The
 * result owns nothing. */
Primitive primitive_create(const Superquadric* superquadric);
/* Returns the signed distance of a point from the surface, along the ray from the centre through the point [mesh unit]
 * (B10). Negative inside, clamped to -limit .. limit. limit > 0 (asserted).
 */
double primitive_distance(const Primitive* primitive, Vec3 point, double limit);
/* Returns the smallest primitive_distance of a point from the superquadrics list[count] [mesh unit], clamped to
 * -limit .. limit. limit > 0 (asserted). */
double primitives_distance(const Primitive* list, int count, Vec3 point, double limit);
/* Sets slope[SUPERQUADRIC_VARIABLES] to the derivatives of the unclamped primitive_distance with respect to the
 * superquadric's variables. */
void primitive_derivatives(const Primitive* primitive, Vec3 point, double* slope);
/* Returns the superquadric `from` with step[SUPERQUADRIC_VARIABLES] added to its variables. Clamps the semi-axes to
 * [size_min, size_max] and the exponents to [0.1, 1]. */
Superquadric superquadric_add_step(const Superquadric* from, const double* step, double size_min, double size_max);

/* A point to which superquadrics are fitted (B11). The distance of a point from the union of superquadrics should be 0
 * if side is 0, and should otherwise have the sign of `side`. other: distance of the point from the superquadrics that
 * are not fitted. */
typedef struct {
  Vec3 point;
  double weight, other;
  int side; /* -1 inside, 0 on the surface, 1 outside */
} FitPoint;
typedef struct {
  FitPoint* points;
  int count;
  double size_min, size_max; /* limits of the semi-axes [mesh unit] */
  int threads;
} FitProblem;

/* Returns the cost of the superquadrics list[count]: the sum over the points of weight * misfit^2. A misfit is an error
 * of a point's distance (B11). width: largest misfit that counts. */
double fit_cost(const FitProblem* problem, const Superquadric* list, int count, double width);
/* Fits all superquadrics of list[count] together by the Levenberg-Marquardt method, in place. width: largest error of a
 * point's distance that counts (B11). iterations: largest number of iterations. Returns the final fit_cost (B12). */
double fit_improve(const FitProblem* problem, Superquadric* list, int count, double width, int iterations);

/* Samples of a solid: its signed distance at the nodes of a grid, x varying fastest, and points on its surface. low:
 * first node. edge: node spacing. Owns its arrays. */
typedef struct {
  Vec3 low;
  double edge;
  int size[3];      /* number of nodes along x, y, z */
  double* distance; /* distance of every node from the surface, negative inside */
  Vec3* surface;    /* points distributed evenly over the surface (size: surface_count) */
  int surface_count;
  double area; /* area of the surface [mesh unit^2] */
} SolidSamples;
/* Samples a closed surface on a grid of `cells` cells along the longest edge of the bounding box, plus a margin. The
 * caller frees the result with solid_samples_free. */
SolidSamples solid_samples_create(const ConvexHull* surface, int cells, int threads);
/* Frees the arrays. */
void solid_samples_free(SolidSamples* samples);
int solid_samples_count(const SolidSamples* samples);
Vec3 solid_samples_position(const SolidSamples* samples, int node);

/* Measures how well the superquadrics out->list approximate the surface, at points that the fit did not use. Sets the
 * quality measures of *out. */
void superquadrics_measure(SuperquadricUnion* out, const ConvexHull* surface, int threads);

#endif
