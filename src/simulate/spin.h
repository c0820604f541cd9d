/* Private to simulate/: single bodies that integrate their angular momentum, integrator `momentum`
 * (docs/derivations/spin.md). Such a body is the only link of its tree and is not prescribed. It has six degrees of
 * freedom, or moves freely in a plane (ModelLink.spins). All other links use the first-order scheme. The functions do
 * nothing for other integrators. */
#ifndef SDRS_SIMULATE_SPIN_H
#define SDRS_SIMULATE_SPIN_H

#include "contact/step.h"
#include "simulate/sim.h"
#include "simulate/spin_arm.h"

/* Directions in which a link can roll. ROLLS_IN_ALL_DIRECTIONS: the only hull of the link is a sphere.
 * ROLLS_ABOUT_AXIS: the only hull is a capsule or a round solid of circles. ROLLS_NOT: all other links, and links whose
 * centre of mass is off the centre or axis by more than ROLLING_OFFSET times the radius. */
typedef enum { ROLLS_NOT, ROLLS_ABOUT_AXIS, ROLLS_IN_ALL_DIRECTIONS } Rolling;

typedef struct SpinBody {
  bool spins;      /* true if the link integrates its angular momentum; if false, the other members are unused */
  Rolling rolling; /* directions in which the link can roll */
  bool is_round;   /* true if the only hull is a ball, a capsule or a round solid of circles */
  bool is_ball, is_capsule; /* kind of a round hull; both false: circles */
  Vec3 axis;                /* unit axis of a round hull, link axes; 0 for a ball */
  Vec3 offset;              /* SpinArmBody.offset of a round hull; 0 if the link rolls [m] */
  Mat3 mobility;            /* inertia_mobility of the link [1/(kg m^2)] */
  Mat3 second; /* second moment of the mass, sum m r r^T with the vectors r from the centre of mass to the mass points
                  m, link axes [kg m^2] */
  Mat3 drift;  /* linear part of the inertial target pose (the pose at t + dt under inertia and gravity alone) before
                  spin_set_targets replaces it by a rotation */
  bool has_forces;     /* scratch; true if contact, friction or (depending on the caller) a load acts on the link in the
                       accepted configuration */
  Vec3 residual_force; /* scratch: residual force on the centre of mass after inertia, loads, joint and pair forces [N]
                        */
  Vec3 arm_change;     /* scratch: change of the angular momentum by the lever arms at t in the last substep (W21) [kg
                          m^2/s] */
  double pair_force_sum; /* scratch: sum of the magnitudes of the forces of the link's pairs [N] */
} SpinBody;

/* Returns an entry for every link (links), or NULL if no link integrates its momentum. The caller frees it with
 * memory_free. */
SpinBody* spin_bodies_create(const Model* model);
/* Sets SimState.momentum of the links that integrate their angular momentum from the initial velocities, world axes [kg
 * m^2/s]. The momentum is R I w. R: rotation matrix of the link; I: inertia tensor, link axes; w: angular velocity,
 * link axes. */
void spin_set_initial_momenta(Sim* sim);
/* Replaces the target poses of bodies that integrate their angular momentum by rigid poses. The rotation is the
 * rotation of a torque-free body (W4). The position of the centre of mass does not change. Call spin_set_targets after
 * step_prepare has set the other targets (Sim.target). */
void spin_set_targets(Sim* sim);
/* Computes the momenta at t + dt from the solved configuration (W5). A body without forces keeps its momentum
 * bit-identically. Call spin_update_momenta before the solved configuration becomes the present one. */
void spin_update_momenta(Sim* sim);
/* Computes the angular velocities of bodies that integrate their angular momentum, from this momentum, in link axes
 * (W7) [rad/s]. Stores the angular velocities as the rates of the joint's rotations. Call spin_update_rates after the
 * rates by finite differences are set. */
void spin_update_rates(Sim* sim);
/* Largest residual force, relative to the pair forces, at which two bodies exchange angular momentum (W6). A converged
 * step is far below this limit (the largest tolerance is 0.1). A step that stopped at rounding error with strongly
 * compressed contacts can exceed it, and its pair forces are not reliable. */
#define SPIN_RESIDUAL_MAX 0.2
/* Largest distance between the centre of mass and the centre or axis of a rolling body, divided by its radius. Within
 * this distance the moment of the normal force about the centre of mass is neglected (W6). */
#define ROLLING_OFFSET 1e-3
/* Sets SpinBody.residual_force and SpinBody.pair_force_sum of all links from the forces at the accepted configuration.
 * contact: terms of the pairs of hulls in contact. sim->spin_bodies must not be NULL. */
void spin_compute_residual_forces(Sim* sim, ContactTermList contact);
/* Exchange of angular momentum between two bodies in contact that integrate their momentum (W6). The exchange is added
 * to the torques about the bodies' new centres of mass. The torques act about a point that moves with the rolling body,
 * or with the lighter body if the mass ratio is large. */
typedef struct {
  bool is_exchanged; /* true if both bodies integrate their momentum and their forces balance (SPIN_RESIDUAL_MAX).
                Otherwise there is no exchange, and the other members are not set */
  double share[2];   /* shares of links a and b in the exchanged angular momentum. Two bodies of the same Rolling kind:
                        the masses m_a and m_b divided by their sum. Two spheres: 0. Otherwise 0 for the body that rolls
                        in more directions and 1 for the other */
  bool by_mass;      /* true if the shares follow from the masses */
  Vec3 displacement; /* displacement of the centre of mass of link a in the step, minus the displacement of the centre
                        of mass of link b [m] */
} SpinExchange;
/* Returns the exchange of angular momentum between links a and b. now, next: poses (links) at the start and the end of
 * the step. */
SpinExchange spin_exchange(const Model* model, const SpinBody* spin_bodies, int a, int b, const Pose* now,
                           const Pose* next);
/* Returns the time for which forces act in the step [s] (docs/derivations/step.md, S15). */
double spin_force_time(const Sim* sim);
/* Returns the side of a pair whose lever arms have a correction (SpinCorrection): 0 for link_a, 1 for link_b, -1 if
 * there is none. This link integrates its momentum and is not a sphere. The other link is fixed, or the link rolls
 * about an axis and the other link does not roll. */
int spin_corrected_side(const Sim* sim, ContactTerms terms);
/* Energy that the normal force of a pair would add to a link, and the change of angular momentum that removes this
 * energy (W20). */
typedef struct {
  bool is_removed;             /* false if the energy is at most 0, or larger than (W20) permits, which is a rounding
                                  error. Then factor and momentum_change are 0 */
  Vec3 displacement, rotation; /* displacement of the centre of mass [m]; sine of the rotation angle times the unit axis
                                  of the rotation of the moving link in the step, world axes */
  double energy;               /* work of the normal force minus the decrease of the stored energy [J] */
  double factor;               /* momentum_change divided by energy and rotation [s] */
  Vec3 momentum_change;        /* world axes [kg m^2/s] */
} SpinExcess;
/* Correction of the lever arms of the forces of a pair on a link. For round hulls (W21)
 * applies, for other bodies on fixed partners (W20). */
typedef struct {
  int link, side;       /* the corrected link; side: 0 if it is link_a, 1 if it is link_b */
  int partner;          /* the other link if it integrates its momentum. Its momentum then changes by -momentum_change.
                           Otherwise -1 */
  SpinArm arm;          /* arm.acts is false unless (W21) changes the momentum */
  SpinExcess excess;    /* excess.is_removed is false unless (W20) changes the momentum */
  Vec3 momentum_change; /* of arm or excess, 0 without a correction; world axes [kg m^2/s] */
} SpinCorrection;
/* Returns the geometry of a link with SpinBody.is_round. */
SpinArmBody spin_arm_body(const Sim* sim, int link);
/* Returns the correction for the link of side `side` of a pair, from spin_corrected_side. work: normal force of the
 * pair and change of its stored energy. now, next: poses (size: links) at the start and at the end of the step. Call
 * after spin_compute_residual_forces. */
SpinCorrection spin_correction(const Sim* sim, int side, ContactTerms terms, const ContactWork* work, const Pose* now,
                               const Pose* next);
/* Returns the angular velocity of a link that integrates its momentum, link axes [rad/s]. momentum: angular momentum of
 * the link, world axes [kg m^2/s]. */
Vec3 spin_velocity(const SpinBody* spinner, Pose pose, Vec3 momentum);

/* Largest rotation of a body in contact per substep [rad]. The limit is needed because friction on a body of radius r
 * that rotates by theta in a step has the lever arm r cos(theta) (W10). */
#define SPIN_ROTATION_MAX 0.18
/* Returns the largest angular speed of the bodies that integrate their momentum and are in contact in the accepted
 * configuration [rad/s]; 0 if there are none. */
double spin_contact_angular_speed(Sim* sim);
/* Returns the largest rate at which the contact point of a body to which (W21) applies runs round the body, in the
 * accepted configuration [rad/s]. Returns 0 if there is no such body. */
double spin_turning_rate(const Sim* sim);
/* Returns the number of equal substeps into which a step of length dt [s] is divided. The number is the smallest power
 * of two that limits the rotation per substep. A body in contact that integrates its momentum rotates by at most
 * SPIN_ROTATION_MAX, and the contact point of a body on circles runs round by at most SPIN_ROTATION_MAX (W21). A link
 * of a tree in free flight (tree_flight.h) rotates by at most TREE_ROTATION_MAX (W14). The number is at most
 * SPIN_SUBSTEPS_MAX (spin.c). */
int spin_substep_count(Sim* sim, double dt);

/* Sets the start of Newton's iteration for bodies without contact and load that integrate their momentum. Their entries
 * of delta[nv] [m, rad] become the increments from the accepted to the target pose. Other entries are unchanged. Sets
 * SpinBody.has_forces. */
void spin_set_start_increments(Sim* sim, double* delta);

#endif
