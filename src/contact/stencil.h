/* Private to contact/: the distance of a vertex and a triangle, or of two edges, with its derivatives
 * (docs/derivations/law-ipc.md, N17-Z4). A stencil is a difference y = sum c_i x_i of two closest points, with weights
 * that are affine in up to two free coordinates; d = |y|. Once differentiable where the features change that are
 * nearest. */
#ifndef SDRS_CONTACT_STENCIL_H
#define SDRS_CONTACT_STENCIL_H

#include "contact/pair.h"

enum { STENCIL_POINTS = 4 };

typedef struct {
  int count;                         /* points */
  int side[STENCIL_POINTS];          /* the body that a point belongs to */
  int vertex[STENCIL_POINTS];        /* its number there */
  Vec3 x[STENCIL_POINTS];            /* world [m] */
  double c[STENCIL_POINTS];          /* weights in y */
  int free;                          /* free coordinates of the closest points */
  double by_free[2][STENCIL_POINTS]; /* of the weights */
  Vec3 along[2];                     /* of y */
  Vec3 y, n;                         /* the difference [m], and its direction: from b to a, or as y of two of edges */
  double d;                          /* m */
  bool edges;                        /* points 0, 1 and 2, 3 are edges */
  bool plane;                        /* one point before a half-space: d = n . x - offset, n fixed */
} Stencil;

/* Point 0 against the triangle of points 1, 2, 3; edges (0, 1) and (2, 3). side, vertex and x are set before. All else
 * is set. [m], world axes. */
void stencil_point_triangle(Stencil* s);
/* All else is set; parallel edges have a pair of closest points of many. */
void stencil_edge_edge(Stencil* s);
/* Point 0 before a half-space. normal: unit, world; offset [m]. d is negative below it. */
void stencil_half_space(Stencil* s, Vec3 normal, double offset);

/* A function of d and of sin^2 of the angle of two edges, with derivatives (N19): e by d and by s = sin^2. */
typedef struct {
  double value, by_d, by_s, by_dd, by_ds, by_ss;
} StencilEnergy;

/* Gradient and Hessian of the energy by the points. */
typedef struct {
  Vec3 gradient[STENCIL_POINTS];
  double hessian[3 * STENCIL_POINTS][3 * STENCIL_POINTS];
} StencilDerivatives;
/* gradient (count), hessian (3 count x 3 count, row-major); all else of out is zero. */
void stencil_derivatives(const Stencil* s, const StencilEnergy* energy, StencilDerivatives* out);

/* sin^2 of the angle between the edges, its gradient and Hessian by their vectors u, v (6, 6x6; NULL: not wanted). u, v
 * are not zero. */
double edges_sine_squared(Vec3 u, Vec3 v, double gradient[6], double hessian[6][6]);

/* A scalar that grows by y_bar . dy + c_bar . dc: adds what it grows by the points (N20). World axes; out (count). */
void stencil_reverse(const Stencil* s, Vec3 y_bar, const double c_bar[STENCIL_POINTS], Vec3 out[STENCIL_POINTS]);

#endif
