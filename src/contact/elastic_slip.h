/* Private to contact/: the displacement of a pair in a step, and the numbers that friction of the next step takes from
 * it: the elastic slip (F16) and the squared slip velocity (F12) (docs/derivations/friction.md).
 *   V = Pi [ s d / dt + a ],  a' = phi(V) = V / (1 + (|V| / a_max)^16)^(1/16),  v^2 = |Pi d|^2 / dt^2
 * d: displacement of body a relative to body b (friction_displacement); dt: length of the step; Pi: projection onto the
 * contact plane; a, a': elastic slips at t and at t + dt; V: trial elastic slip; phi: return map; s: ElasticShare. */
#ifndef SDRS_CONTACT_ELASTIC_SLIP_H
#define SDRS_CONTACT_ELASTIC_SLIP_H

#include "contact/friction.h"

/* Slip velocity of a pair in a step (F12). */
typedef struct {
  bool known;    /* true if friction acted in that step; also true, with zero slip, at the start of a run */
  double square; /* squared slip velocity v^2 [(m/s)^2] */
  double dt;     /* length of the step [s]; 0 if the slip is a constant without derivatives */
} FrictionSlip;
/* Returns the slip of a step. displacement: d [m]. */
FrictionSlip friction_slip(const FrictionLag* lag, Vec3 displacement, double dt);

/* Factor s on the displacement of a step in the trial elastic slip (F16). by_start, by_now: derivatives of s with
 * respect to the normal forces at t and at t + dt. */
typedef struct {
  double value, by_start, by_now;
} ElasticShare;
/* Returns the factor s = 2 N / (N + N'). start, now: normal forces N at t and N' at t + dt, not both 0. */
static inline ElasticShare elastic_share(double start, double now) {
  double sum = start + now;
  return (ElasticShare){2 * start / sum, 2 * now / (sum * sum), -2 * start / (sum * sum)};
}

/* Elastic slip of a pair at the end of a step (F16). by_force: derivative with respect to the normal force at the same
 * time for stiffness 1 [m^3/s]. by_dt: derivative with respect to the length of the step [m/s^2]. Both are derivatives
 * at fixed poses and at fixed elastic slip of earlier steps. */
typedef struct {
  Vec3 value, by_force, by_dt; /* elastic slip [m/s], and its two derivatives */
} ElasticSlip;
/* Returns the elastic slip at t + dt. displacement: d [m]. smoothing: smoothing eps of friction [(m/s)^2]. */
ElasticSlip elastic_slip_next(const FrictionLag* lag, Vec3 displacement, ElasticShare share, double dt,
                              double smoothing);

/* Returns the elastic slip phi(V) (F16) [m/s]. trial: V. A body at rest creeps at the velocity V - phi(V) (R14).
 * smoothing: smoothing eps of friction [(m/s)^2]. */
Vec3 elastic_slip_return_map(Vec3 trial, double smoothing);
/* Differentiates the scalar product of `by` and elastic_slip_return_map. Returns the derivative with respect to V =
 * trial. Sets *by_smoothing to the derivative with respect to the smoothing eps. */
Vec3 elastic_slip_return_map_reverse(Vec3 trial, double smoothing, Vec3 by, double* by_smoothing);

/* Derivatives of a scalar through the displacement d of a step. */
typedef struct {
  Vec3 displacement;                           /* displacement d of body a relative to body b in the step [m] */
  Vec3 by_displacement, by_normal, by_elastic; /* with respect to d, to the contact normal, and to the elastic slip at
                                                  t */
  double by_share, by_smoothing;               /* with respect to the factor s and to the smoothing of friction */
} DisplacementBar;
/* Differentiates the sum of `by_elastic` . a' and by_square v^2. next: poses of both bodies at t + dt. share: factor s.
 */
DisplacementBar displacement_reverse(const FrictionLag* lag, const Pose* const next[2], double share, double dt,
                                     double smoothing, Vec3 by_elastic, double by_square);
/* Adds the derivatives with respect to the motion of both bodies at t + dt, through d, to wrench: torque about
 * reference[2], and force. Adds nothing for a half-space. by_displacement: derivative with respect to d. */
void displacement_wrench(const FrictionLag* lag, const Pose* const next[2], const Vec3 reference[2],
                         Vec3 by_displacement, double wrench[2][6]);

#endif
