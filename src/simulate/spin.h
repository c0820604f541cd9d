/* Private to simulate/: single bodies that integrate their angular momentum, integrator `momentum`
 * (docs/derivations/spin.md). Such a body is alone in its tree, has six degrees of freedom and is not prescribed. All
 * other links use the first-order scheme. All functions do nothing for the other integrators. */
#ifndef SDRS_SIMULATE_SPIN_H
#define SDRS_SIMULATE_SPIN_H

#include "simulate/sim.h"

/* How a link can roll. ROLLS_EVERY_WAY: the only hull of the link is a sphere. ROLLS_ABOUT_AXIS: the only hull is a
 * capsule or a round solid of circles. ROLLS_NOT: all other links, and links whose centre of mass is off the centre or
 * axis by more than ROLLING_OFFSET times the radius. */
typedef enum { ROLLS_NOT, ROLLS_ABOUT_AXIS, ROLLS_EVERY_WAY } Rolling;

typedef struct Spinner {
  bool spins;      /* true if this link integrates its angular momentum; false: the other members are unused */
  Rolling rolling; /* how this link rolls */
  Mat3 mobility;   /* inverse of the inertia tensor about the centre of mass, link axes [1/(kg m^2)] */
  Mat3 second;     /* sum m r r^T about the centre of mass, link axes [kg m^2] */
  Mat3 drift;      /* rotation part of the affine target pose, which spin_aim replaces */
  bool touches;    /* scratch; true if contact, friction or (depending on the caller) a load acts on the link in the
                      accepted configuration */
  Vec3 lack;       /* scratch: residual force on the centre of mass after inertia, loads, joint and pair forces [N] */
  double at_work;  /* scratch: sum of the magnitudes of the forces of the link's pairs [N] */
} Spinner;

/* Returns an entry for every link (links), or NULL if no link integrates its momentum. The caller frees it with
 * memory_free. */
Spinner* spinners_create(const Model* model);
/* Sets SimState.momentum of the links that integrate their angular momentum from the initial velocities: L = R I w,
 * world axes [kg m^2/s]. */
void spin_start(Sim* sim);
/* Call after the affine targets are set. Replaces the targets of bodies that integrate their angular momentum by rigid
 * poses: the rotation is that of a torque-free body (W4), and the centre of mass stays at its affine target. */
void spin_aim(Sim* sim);
/* Sets the momenta at t + dt from the solved configuration, before it becomes the present one (W5). A body on which
 * nothing acts keeps its momentum bit-identically. */
void spin_advance(Sim* sim);
/* Call after the rates by differences are set. Sets the angular velocities of bodies that integrate their angular
 * momentum, which are the last three rates of the joint, to J R^T L, link axes (W7) [rad/s]. */
void spin_rates(Sim* sim);
/* The pairs of a body exchange angular momentum (W6) only if its residual force, relative to its pair forces, is at
 * most this. A converged step is far below this limit (the largest tolerance is 0.1). A step with strongly compressed
 * contacts that stopped at rounding error can exceed it. The pair forces of such a step are not reliable. */
#define SPIN_BALANCE 0.2
/* Largest distance between the centre of mass and the centre or axis of a rolling body, divided by its radius. Within
 * this distance the moment of the normal force about the centre of mass is neglected (W6). */
#define ROLLING_OFFSET 1e-3
/* Sets Spinner.lack and Spinner.at_work of all links from the forces at the accepted configuration. contact: terms of
 * the pairs. sim->spinners must not be NULL. */
void spin_balance(Sim* sim, ContactTermList contact);
/* Exchange of angular momentum between two bodies in contact that integrate their momentum, in addition to the torques
 * about their new centres of mass. The exchange results from taking torques about a point that moves with the rolling
 * body, or, in the limit of a large mass ratio, with the lighter body (W6). */
typedef struct {
  bool both;       /* true if both bodies integrate their momentum and their forces balance (SPIN_BALANCE); false: no
                      exchange, the other members are unset */
  double share[2]; /* shares of a and b. Two bodies of the same Rolling kind: m_a and m_b divided by their sum; for two
                      spheres 0. Otherwise 0 for the body that rolls in more directions and 1 for the other */
  bool by_mass;    /* true if the shares follow from the masses */
  Vec3 way;        /* e: displacement of the centre of mass of a minus that of b in the step [m] */
} SpinExchange;
/* Returns the exchange of angular momentum between links a and b. now, next: poses (links) at the start and the end of
 * the step. */
SpinExchange spin_exchange(const Model* model, const Spinner* spinners, int a, int b, const Pose* now,
                           const Pose* next);
/* Returns the angular velocity of a link that integrates its momentum, link axes [rad/s]. momentum: angular momentum of
 * the link, world axes [kg m^2/s]. */
Vec3 spin_velocity(const Spinner* spinner, Pose pose, Vec3 momentum);

/* Largest rotation of a body in contact per substep [rad]: friction on a body that rotates by theta in a step has the
 * lever arm r cos(theta) (W10). */
#define SPIN_TURN 0.18
/* Returns the largest angular speed of the bodies that integrate their momentum and are in contact in the accepted
 * configuration [rad/s]; 0 if there are none. */
double spin_touching_speed(Sim* sim);
/* Returns the number of equal substeps into which a step of length dt [s] is divided: a power of two, at most
 * SPIN_PARTS_MOST (spin.c). In a substep, bodies in contact that integrate their momentum then rotate by at most
 * SPIN_TURN, and links of flying trees by at most TREE_TURN (W14). */
int spin_parts(Sim* sim, double dt);

/* Sets the start of Newton's iteration for bodies that integrate their momentum and have no contact and no load: sets
 * their entries of delta[nv] [m, rad] to the increments from the accepted to the target pose. Other entries are
 * unchanged; bodies in contact keep the extrapolation of their motion. Sets Spinner.touches. */
void spin_increments(Sim* sim, double* delta);

#endif
