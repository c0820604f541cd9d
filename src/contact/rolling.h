/* Private to contact/: rolling and spinning friction of a pair (docs/derivations/rolling.md). Friction at contact
 * points does not provide it, because these do not slip while a ball rolls. With rho the relative angular velocity of
 * the bodies since t, rho_n its component along the pair's normal at t, and p the pair's force at t,
 *   D = p dt [ c_r (sqrt(|rho - n rho_n|^2 + e) - sqrt(e)) + c_s (sqrt(rho_n^2 + e) - sqrt(e)) ],                  (T1)
 *   rho = (axial(R_a R_a^t^T) - axial(R_b R_b^t^T)) / dt
 * Coefficients are lengths [m]: the moment is at most c p. All for stiffness 1. */
#ifndef SDRS_CONTACT_ROLLING_H
#define SDRS_CONTACT_ROLLING_H

#include "contact/adjoint.h"

/* sqrt(e) [rad/s]: at lower rates the moment decreases with the rate, so that a body held by it creeps. */
#define ROLLING_RATE 1e-2

typedef struct {
  double rolling, spinning; /* c_r, c_s [m], with the factor of an impact on the force */
  double dt;
} RollingParameters;

/* Reference state of rolling friction, at t. */
typedef struct {
  Mat3 turn[2];
  Vec3 normal;  /* unit */
  double force; /* p [1/m^2] */
} RollingLag;

/* Returns the reference state: copies of rotations and normal, and the force p [1/m^2]. */
RollingLag rolling_lag(const HullInstance* a, const HullInstance* b, const Plane* plane, double force);
/* Returns D for stiffness 1 (T1), 0 without rotation since t. a, b: poses at t + dt. */
double rolling_value(const RollingLag* lag, const RollingParameters* parameters, const Pose* a, const Pose* b);
/* Adds the derivatives of D to out: moments, and the rotational rows of the Hessian. A half-space has no rows. */
void rolling_derivatives(const RollingLag* lag, const RollingParameters* parameters, const Pose* a, const Pose* b,
                         bool half_space, PairDerivatives* out);
/* Adds to out the derivatives of Phi = dD/d(twists) . twist with respect to c_r and c_s (PairShares.rolling, spinning),
 * to rotations at t and to the normal at t. Returns the derivative with respect to the force p, for
 * impact_pressure_adjoint. */
double rolling_adjoint(const RollingLag* lag, const RollingParameters* parameters, double support,
                       const ImpactMoment* now, const PairBody next[2], const double twist[2][6], ActiveSides* then,
                       PairShares* out);

#endif
