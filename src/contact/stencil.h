/* Private to contact/: the distance between a vertex and a triangle, or between two edges, with derivatives
 * (docs/derivations/law-ipc.md, N17-N20). A stencil is the difference y = sum c_i x_i of two closest points. The
 * weights c_i are affine in up to two free coordinates. The distance is d = |y|; it is only once differentiable where
 * the nearest features change. */
#ifndef SDRS_CONTACT_STENCIL_H
#define SDRS_CONTACT_STENCIL_H

#include "contact/pair.h"

enum { STENCIL_POINTS = 4 };

typedef struct {
  int count;                         /* number of points */
  int side[STENCIL_POINTS];          /* the body that a point belongs to */
  int vertex[STENCIL_POINTS];        /* vertex number of a point in its body */
  Vec3 x[STENCIL_POINTS];            /* world [m] */
  double c[STENCIL_POINTS];          /* weights in y */
  int free;                          /* number of free coordinates of the closest points */
  double by_free[2][STENCIL_POINTS]; /* derivatives of the weights with respect to the free coordinates */
  Vec3 along[2];                     /* derivatives of y with respect to the free coordinates [m] */
  Vec3 y, n;                         /* y [m], and its unit direction */
  double d;                          /* m */
  bool edges;                        /* points 0, 1 and 2, 3 are edges */
  bool plane;                        /* one point and a half-space: d = n . x - offset, n fixed */
} Stencil;

/* Computes the stencil of point 0 and the triangle of points 1, 2 and 3. The caller sets side, vertex and x (world axes
 * [m]); the function sets all other members. */
void stencil_point_triangle(Stencil* s);
/* As stencil_point_triangle, for the edges (0, 1) and (2, 3). For parallel edges, chooses one of the pairs of closest
 * points. */
void stencil_edge_edge(Stencil* s);
/* Computes the stencil of point 0 and a half-space. normal: unit, world; offset [m]. d is negative below its boundary.
 */
void stencil_half_space(Stencil* s, Vec3 normal, double offset);

/* Energy e(d, s) of a stencil with its derivatives; s: sin^2 of the angle of two edges (N19). */
typedef struct {
  double value, by_d, by_s, by_dd, by_ds, by_ss;
} StencilEnergy;

/* Gradient and Hessian of the energy with respect to the points. */
typedef struct {
  Vec3 gradient[STENCIL_POINTS];
  double hessian[3 * STENCIL_POINTS][3 * STENCIL_POINTS];
} StencilDerivatives;
/* Sets the gradient (count) and the Hessian (3 count x 3 count) of the energy with respect to the points of the
 * stencil, and zeroes the remaining entries of *out. */
void stencil_derivatives(const Stencil* s, const StencilEnergy* energy, StencilDerivatives* out);

/* Returns sin^2 of the angle between the edge vectors u and v, which must not be zero. Sets gradient (6) and hessian
 * (6x6) to its derivatives with respect to (u, v); NULL: not computed. */
double edges_sine_squared(Vec3 u, Vec3 v, double gradient[6], double hessian[6][6]);

/* Adds to out (count) the derivatives of a scalar with respect to the points of the stencil, world axes (N20). The
 * differential of the scalar is y_bar . dy + c_bar . dc. */
void stencil_reverse(const Stencil* s, Vec3 y_bar, const double c_bar[STENCIL_POINTS], Vec3 out[STENCIL_POINTS]);

#endif
