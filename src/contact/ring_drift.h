/* Private to contact/: displacement of the contact point of a body on circles, because the point runs round the body in
 * the step (docs/derivations/friction.md, F17). */
#ifndef SDRS_CONTACT_RING_DRIFT_H
#define SDRS_CONTACT_RING_DRIFT_H

#include "contact/pair.h"
#include "contact/step.h"

/* Direction from the centre of a circle to its point nearest to the other body, at one time. */
typedef struct {
  Vec3 axis, nearest;   /* unit vectors, world axes; axis: axis of the circle */
  double cosine, sine;  /* cosine and sine of the angle between the axis and the direction to the other body */
  RingArmWeight weight; /* weight of the lever arm */
} RingNearest;
/* Displacement of the contact point on a body with circular cross-sections (cylinder, cone, disc), per unit radius. For
 * a circle of the radius a the point moves by (a / 2) * weight * (roll x (nearest[1] - nearest[0])). */
typedef struct {
  bool acts;              /* false: weight and displacement are 0 and the other members are not set */
  RingNearest nearest[2]; /* at t and in the expected pose at t + dt */
  Vec3 direction, roll;   /* copies of the arguments of ring_drift */
  double weight;          /* product of the weights of both lever arms */
  Vec3 displacement;      /* roll x (nearest[1] - nearest[0]) */
} RingDrift;
/* Returns the displacement of a body. direction: unit vector to the other body; roll: rotation of the body in the step
 * (FrictionLag.roll) [rad]; turn: rotation at t and expected rotation at t + dt, which may be affine; world axes.
 * support: range of the contact force [m]. */
RingDrift ring_drift(const HullInstance* hull, Vec3 direction, Vec3 roll, const Mat3 turn[2], double support);

/* Derivatives of a scalar through RingDrift.weight and RingDrift.displacement. The derivatives with respect to an axis
 * are perpendicular to it. largest: with respect to the largest radius of the circles. */
typedef struct {
  Vec3 direction, roll, axis[2];
  double largest, support;
} RingDriftBar;
/* Returns the derivatives of the scalar. drift->acts must be true. by: derivative with respect to weight times
 * displacement. */
RingDriftBar ring_drift_reverse(const RingDrift* drift, Vec3 by);

#endif
