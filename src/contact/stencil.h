/* Private to contact/: distance of a vertex from a triangle, or of two edges, with derivatives
 * (docs/derivations/law-ipc.md, N17-N20). A stencil is the difference y = sum c_i x_i of two closest points, with the
 * distance d = |y|. The points x_i are the up to four vertices of both features. The weights c_i are affine functions
 * of up to two free coordinates, which give the positions of the closest points on the features. Where the nearest
 * features change, d is only once differentiable. */
#ifndef SDRS_CONTACT_STENCIL_H
#define SDRS_CONTACT_STENCIL_H

#include "contact/pair.h"

enum { STENCIL_POINTS = 4 };

typedef struct {
  int count;                         /* number of points x */
  int side[STENCIL_POINTS];          /* side of the pair (0 or 1) to which each point belongs */
  int vertex[STENCIL_POINTS];        /* number of each point among the vertices of its body */
  Vec3 x[STENCIL_POINTS];            /* positions of the points, world [m] */
  double c[STENCIL_POINTS];          /* weights c_i of the points in y = sum c_i x_i */
  int free_count;                    /* number of free coordinates of the closest points */
  double by_free[2][STENCIL_POINTS]; /* derivatives of the weights with respect to the free coordinates */
  Vec3 tangent[2];                   /* derivatives of y with respect to the free coordinates [m] */
  Vec3 y, n;                         /* difference y of the closest points [m], and its unit direction n */
  double d;                          /* distance [m]; negative for a point inside a half-space */
  bool is_edge_pair;                 /* true if the stencil has the edges (0, 1) and (2, 3) */
  bool is_half_space; /* true if the stencil has one point and a half-space; then d = n . x - offset with fixed n */
} Stencil;

/* Computes the stencil of point 0 and the triangle of points 1, 2 and 3. The caller sets side, vertex and x (world axes
 * [m]). The function sets all other members. */
void stencil_point_triangle(Stencil* s);
/* Computes the stencil of the edges (0, 1) and (2, 3). The caller sets side, vertex and x (world axes [m]). The
 * function sets all other members. For parallel edges, uses one of the pairs of closest points. */
void stencil_edge_edge(Stencil* s);
/* Computes the stencil of point 0 and a half-space. normal: outward unit normal, world. offset: value of normal . x on
 * the boundary [m]. */
void stencil_half_space(Stencil* s, Vec3 normal, double offset);

/* Energy e(d, s) of a stencil with its derivatives. d: distance of the closest points. s: squared sine of the angle
 * between two edges (N19). by_d is de/dd, by_ds is d2e/(dd ds), and so on. */
typedef struct {
  double value, by_d, by_s, by_dd, by_ds, by_ss;
} StencilEnergy;

/* Gradient and Hessian of a stencil's energy with respect to the positions of its points. */
typedef struct {
  Vec3 gradient[STENCIL_POINTS];
  double hessian[3 * STENCIL_POINTS][3 * STENCIL_POINTS];
} StencilDerivatives;
/* Computes gradient (count) and Hessian (3 count x 3 count) of a stencil's energy with respect to the positions of its
 * points. Zeroes the remaining entries of *out. */
void stencil_derivatives(const Stencil* s, const StencilEnergy* energy, StencilDerivatives* out);

/* Returns the squared sine of the angle between the nonzero edge vectors u and v (asserted). Sets gradient (6) and
 * hessian (6x6), unless NULL, to the derivatives of the result with respect to (u, v). */
double edges_sine_squared(Vec3 u, Vec3 v, double gradient[6], double hessian[6][6]);

/* Adds the derivatives of a scalar with respect to the points of the stencil, world axes, to out (count) (N20). y_bar,
 * c_bar: derivatives of the scalar with respect to the difference Stencil.y of the closest points and to the weights
 * Stencil.c. */
void stencil_reverse(const Stencil* s, Vec3 y_bar, const double c_bar[STENCIL_POINTS], Vec3 out[STENCIL_POINTS]);

#endif
