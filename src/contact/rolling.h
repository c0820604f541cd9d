/* Private to contact/: rolling and spinning friction of a pair (docs/derivations/rolling.md). Friction at contact
 * points does not resist rolling, because the contact points of a rolling ball do not slip. rho: relative angular
 * velocity of the bodies over the step from t; rho_n: component of rho along the pair's normal at t; p: force of the
 * pair at t. D = p dt [ c_r (sqrt(|rho - n rho_n|^2 + e) - sqrt(e)) + c_s (sqrt(rho_n^2 + e) - sqrt(e)) ], (T1) rho =
 * (axial(R_a R_a^t^T) - axial(R_b R_b^t^T)) / dt The coefficients c_r and c_s are lengths [m]; the moments are at most
 * c_r p and c_s p. All values are for stiffness 1. */
#ifndef SDRS_CONTACT_ROLLING_H
#define SDRS_CONTACT_ROLLING_H

#include "contact/adjoint.h"

/* sqrt(e) [rad/s]. At lower angular velocities, the moment decreases with the angular velocity, so that a body that
 * rolling friction keeps in place creeps. */
#define ROLLING_RATE 1e-2

typedef struct {
  double rolling, spinning; /* c_r, c_s [m], times the impact factor of the force */
  double dt;
} RollingParameters;

/* Reference state of rolling friction, at t. */
typedef struct {
  Mat3 turn[2];
  Vec3 normal;  /* unit */
  double force; /* p [1/m^2] */
} RollingLag;

/* Returns the reference state: rotations of both bodies at t, normal of the plane, and `force`, p [1/m^2]. */
RollingLag rolling_lag(const HullInstance* a, const HullInstance* b, const Plane* plane, double force);
/* Returns D for stiffness 1 (T1); 0 if the bodies have not rotated relative to each other since t. a, b: poses at t +
 * dt. */
double rolling_value(const RollingLag* lag, const RollingParameters* parameters, const Pose* a, const Pose* b);
/* Adds to *out the derivatives of D with respect to the rotations of both bodies: moments, and rotational rows of the
 * Hessian. half_space: true if b has no rows. */
void rolling_derivatives(const RollingLag* lag, const RollingParameters* parameters, const Pose* a, const Pose* b,
                         bool half_space, PairDerivatives* out);
/* Adds to *out the derivatives of Phi = dD/d(twists) . twist with respect to c_r and c_s (PairShares.rolling,
 * spinning), to the rotations at t, and to the normal at t. Returns the derivative of Phi with respect to the force p,
 * for impact_pressure_adjoint. */
double rolling_adjoint(const RollingLag* lag, const RollingParameters* parameters, double support,
                       const ImpactMoment* now, const PairBody next[2], const double twist[2][6], ActiveSides* then,
                       PairShares* out);

#endif
