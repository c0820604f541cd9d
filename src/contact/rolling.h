/* Private to contact/: rolling and spinning friction of a pair (docs/derivations/rolling.md): what friction at points
 * cannot give, as nothing slips where a ball rolls. With the relative turning rate rho of the bodies since t, its part
 * rho_n along the pair's normal at t, and the pair's force p at t,
 *   D = p dt [ c_r (sqrt(|rho - n rho_n|^2 + e) - sqrt(e)) + c_s (sqrt(rho_n^2 + e) - sqrt(e)) ],                  (T1)
 *   rho = (axial(R_a R_a^t^T) - axial(R_b R_b^t^T)) / dt
 * Coefficients are lengths [m]: the moment is at most c p. Everything for stiffness 1. */
#ifndef SDRS_CONTACT_ROLLING_H
#define SDRS_CONTACT_ROLLING_H

#include "contact/adjoint.h"

/* sqrt(e): below about this the moment goes down with the rate, and what it holds creeps [rad/s]. */
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

/* Poses and normal are copied; force: p [1/m^2]. */
RollingLag rolling_lag(const HullInstance* a, const HullInstance* b, const Plane* plane, double force);
/* D for stiffness 1 (T1), 0 where nothing has turned since t. a, b: poses at t + dt. */
double rolling_value(const RollingLag* lag, const RollingParameters* parameters, const Pose* a, const Pose* b);
/* Added to out. A half-space has no rows. Forces do not change, only moments and the Hessian's rows of turning. */
void rolling_derivatives(const RollingLag* lag, const RollingParameters* parameters, const Pose* a, const Pose* b,
                         bool half_space, PairDerivatives* out);
/* The derivative of Phi = dD/d(twists) . twist by what D depends on besides the poses at t + dt, added to out: by c_r
 * and c_s (PairShares.rolling, spinning), the turning at t, the normal at t; returned: by the force p, for
 * impact_pressure_adjoint. */
double rolling_adjoint(const RollingLag* lag, const RollingParameters* parameters, double support,
                       const ImpactMoment* now, const PairBody next[2], const double twist[2][6], ActiveSides* then,
                       PairShares* out);

#endif
