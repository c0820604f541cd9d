/* Springs and position gains of three rotations, with the time weights of springs (docs/derivations/drives.md, M10). */
#ifndef SDRS_SIMULATE_BALL_SPRINGS_H
#define SDRS_SIMULATE_BALL_SPRINGS_H

#include "simulate/terms.h"

/* Mean rotation at which a spring of three rotations acts (M10): e* = a e - minus, in the axes of the neutral rotation.
 * e: rotation vector from the neutral rotation to the rotation at t + dt. The spring of stiffness k has the energy
 * factor k / 2 |e*|^2. */
typedef struct {
  Quat rotation;      /* from the neutral rotation to the rotation at t + dt */
  RotationVector end; /* e [rad] */
  double now[3];      /* rotation vector from the neutral rotation to the rotation at t [rad] */
  double old[3];      /* the same one step before t; 0 if its weight is 0 [rad] */
  double minus[3];    /* minus the weighted sum of now and old [rad] */
  double weight;      /* a, weight of the end */
  double factor;      /* (1 - missing) / a */
} BallSpring;
/* Returns the mean rotation for the neutral rotation, given as a quaternion of 4 numbers. base: first of the three
 * degrees of freedom. */
BallSpring ball_spring(const JointInput* in, int base, const double* neutral);

/* Derivatives of a scalar with respect to a BallSpring, at a constant rotation at t + dt. */
typedef struct {
  double rotation[3]; /* with respect to small rotations that follow BallSpring.rotation, about its own axes */
  double now[3];      /* with respect to BallSpring.now, at constant `minus` */
  double minus[3];    /* with respect to BallSpring.minus */
  double weight;      /* with respect to BallSpring.weight, at constant `minus` and `missing` */
  double missing;     /* with respect to SpringTimeWeights.missing */
} BallSpringBars;
/* Continues bars to the neutral rotation, the rotation at t, the previous displacement and the time weights. Adds the
 * derivatives with respect to increments of the neutral rotation to neutral_bar[3], and all other derivatives to *out.
 */
void ball_spring_adjoint(const JointInput* in, int base, const double* neutral, const BallSpring* spring,
                         const BallSpringBars* bars, double* neutral_bar, JointBars* out);

/* Adds the derivatives of Phi(p) = sum_j lambda_j dE/dd_j with respect to increments on the right of p to by_right[3].
 * E: energy of the rotation vector phi of p, with gradient f1 and Hessian diag(f2) - rank rank^T; rank may be NULL for
 * zero. Sets along[3] to (dphi/dd) lambda. f1, f2, rank and lambda have 3 entries. (simulate/joint_adjoint.c) */
void rotation_vector_energy_adjoint(const RotationVector* phi, const double f1[3], const double f2[3],
                                    const double* rank, const double lambda[3], double by_right[3], double along[3]);
/* Let p be the rotation from q_left to q. Converts by_right, the derivative of a scalar with respect to increments
 * applied after p, into its derivative with respect to increments of q_left. Adds the result to out[3].
 * (simulate/joint_adjoint.c) */
void add_left_increment_bars(Quat p, const double by_right[3], double* out);

#endif
