/* Private to simulate/: lever arm at t of the contact forces of a free body that rolls on circles or
 * on a ball (docs/derivations/spin.md, W21). */
#ifndef SDRS_SIMULATE_SPIN_ARM_H
#define SDRS_SIMULATE_SPIN_ARM_H

#include "contact/step.h"

/* Body of revolution. */
typedef struct {
  Vec3 axis; /* unit axis, link axes; unused for a ball */
  double
      center;  /* position of the centre of mass along the axis, from the origin of the link frame [m]; 0 for a ball */
  Vec3 offset; /* shortest vector from the centre of mass to the axis, or to the centre of a ball, link axes [m] */
  bool is_ball;
} SpinArmBody;

/* Lever arms of the contact force on a body of revolution at t [0] and at t + dt [1], and the difference of the contact
 * torques with the two arms (spin.md, W21). The arm has a part along the axis of the body and a part along the radius
 * of its circles. */
typedef struct {
  int side;  /* side of the moving link: 0 for link_a, 1 for link_b */
  bool acts; /* false if the body is flat or has no normal force. Then momentum_change is 0 and the other members
                are not set */
  Vec3 normal, axis[2]; /* unit vectors: direction of the normal force, and axis of the body, world axes */
  Vec3 across[2];       /* axis x normal */
  double square[2];     /* |across|^2 */
  double slope[2];      /* axis . normal / |across| */
  double force;         /* magnitude of the normal force [N] */
  double radius;        /* radius at the position of the normal force along the axis [m] */
  enum {
    ARM_BETWEEN,
    ARM_ON_LEAST,
    ARM_ON_LARGEST
  } circle; /* ARM_BETWEEN: `radius` follows from the torque. Otherwise it is the least or the largest radius of the
               circles */
  Vec3 axial_torque; /* torque of the normal force about the point of the axis nearest to the centre of mass, at t + dt
                        [N m] */
  double moment;     /* axial_torque . across / |across|^2 at t + dt [N m] */
  double moment_start; /* the same for the arm at t [N m] */
  double along;        /* arm along the axis [m] */
  Vec3 friction;       /* friction force on the body [N] */
  Vec3 total;          /* normal force and friction on the body [N] */
  Vec3 offset[2];      /* SpinArmBody.offset, world axes [m] */
  RingArmWeight weight[2];
  Vec3 torque;          /* torque with the arm at t minus torque with the arm at t + dt, without the weights [N m] */
  double time;          /* time for which forces act in the step [s] */
  Vec3 momentum_change; /* change of the angular momentum, world axes [kg m^2/s] */
} SpinArm;

/* Derivatives of a scalar through SpinArm.momentum_change. */
typedef struct {
  ContactWork work; /* with respect to the members of ContactWork */
  Vec3 friction;    /* with respect to the friction force on the body */
  Vec3 total;       /* with respect to the total force on the body, at fixed friction */
  Vec3 offset[2];   /* with respect to SpinArm.offset */
  Vec3 axis[2];     /* with respect to the axis of the body at t and at t + dt, world axes */
  double center;    /* with respect to the position of the centre of mass along the axis */
} SpinArmBar;

/* Returns the lever arms of the link of side `side` of a pair. time: time for which forces act in the step [s]. terms:
 * forces of the pair. work: its normal force. turn: rotation matrices of the link at the start and at the end of the
 * step. */
SpinArm spin_arm(SpinArmBody body, double time, int side, ContactTerms terms, const ContactWork* work,
                 const Mat3 turn[2]);
/* Returns the derivatives of a scalar through arm->momentum_change. by_momentum: derivative of the scalar with respect
 * to the angular momentum. arm->acts must be true. */
SpinArmBar spin_arm_reverse(const SpinArm* arm, SpinArmBody body, const ContactWork* work, Vec3 by_momentum);

#endif
