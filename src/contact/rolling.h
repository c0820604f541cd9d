/* Private to contact/: rolling and spinning friction of a pair (docs/derivations/rolling.md). Friction at contact
 * points does not resist rolling, because the contact points of a rolling ball do not slip. The friction energy of the
 * step from t is
 *   D = p dt [ c_r (sqrt(|rho - n rho_n|^2 + e) - sqrt(e)) + c_s (sqrt(rho_n^2 + e) - sqrt(e)) ],             (T1)
 *   rho = (axial(R_a R_a^t^T) - axial(R_b R_b^t^T)) / dt
 * R_a, R_b: rotations of both bodies at t + dt; R_a^t, R_b^t: their rotations at t. rho: relative angular velocity of
 * the bodies over the step. n: unit normal of the pair at t. rho_n: component of rho along n. p: normal force of the
 * pair at t. e: square of ROLLING_RATE. The coefficients c_r of rolling and c_s of spinning friction are lengths [m].
 * The moments are at most c_r p and c_s p. All values are for stiffness 1. */
#ifndef SDRS_CONTACT_ROLLING_H
#define SDRS_CONTACT_ROLLING_H

#include "contact/adjoint.h"

/* Relative angular velocity sqrt(e) [rad/s] below which the moment of rolling friction decreases towards 0. A body that
 * only rolling friction keeps at rest therefore creeps slowly. */
#define ROLLING_RATE 1e-2

typedef struct {
  double rolling, spinning; /* coefficients c_r and c_s of rolling and spinning friction [m], multiplied by the impact
                               factor of the normal force */
  double dt;
} RollingParameters;

/* State of the pair at t from which rolling friction is computed: rotations of both bodies, unit normal and normal
 * force. */
typedef struct {
  Mat3 turn[2];
  Vec3 normal;  /* unit normal of the contact plane */
  double force; /* normal force p [1/m^2] */
} RollingLag;

/* Returns the reference state of rolling friction for the present poses. plane: contact plane, of which only the normal
 * is used. force: normal force of the pair for stiffness 1 [1/m^2]. */
RollingLag rolling_lag(const HullInstance* a, const HullInstance* b, const Plane* plane, double force);
/* Returns the friction energy D for stiffness 1 (T1). It is 0 if the bodies have not rotated relative to each other
 * since t. a, b: poses at t + dt. */
double rolling_value(const RollingLag* lag, const RollingParameters* parameters, const Pose* a, const Pose* b);
/* Adds the derivatives of the friction energy D (T1) with respect to the rotations of both bodies to *out: moments, and
 * the rotational rows and columns of the Hessian. a, b: poses at t + dt. half_space: true if b is a half-space, which
 * has no rows in the Hessian. */
void rolling_derivatives(const RollingLag* lag, const RollingParameters* parameters, const Pose* a, const Pose* b,
                         bool half_space, PairDerivatives* out);
/* Phi is the directional derivative of the friction energy D (T1) along the twists of both bodies. Adds the derivatives
 * of Phi to *out: with respect to the coefficients (PairShares.rolling, spinning), to the rotations at t, and to the
 * normal at t. Returns the derivative of Phi with respect to the normal force p, for impact_pressure_adjoint. */
double rolling_adjoint(const RollingLag* lag, const RollingParameters* parameters, double support,
                       const ImpactMoment* now, const PairBody next[2], const double twist[2][6], ActiveSides* sides,
                       PairShares* out);

#endif
