/* Private to simulate/: single bodies that integrate their angular momentum, integrator `momentum`
 * (docs/derivations/spin.md). Such a body is alone in its tree, has six degrees of freedom and is not prescribed. All
 * other links use the first-order scheme. All functions do nothing for the other integrators. */
#ifndef SDRS_SIMULATE_SPIN_H
#define SDRS_SIMULATE_SPIN_H

#include "simulate/sim.h"

/* How a link rolls whose only piece is a round solid with the centre of mass on its axis, to ROLLING_OFFSET of the
 * radius: ABOUT_AXIS a capsule or a solid of circles, EVERY_WAY a sphere. */
typedef enum { ROLLS_NOT, ROLLS_ABOUT_AXIS, ROLLS_EVERY_WAY } Rolling;

typedef struct Spinner {
  bool spins;      /* this link integrates its angular momentum; false: the rest is unused */
  Rolling rolling; /* how this link rolls */
  Mat3 mobility;   /* inverse of the inertia tensor about the centre of mass, link axes [1/(kg m^2)] */
  Mat3 second;     /* sum m r r^T about the centre of mass, link axes [kg m^2] */
  Mat3 drift; /* rotation part of the affine extrapolation, which determines only the position of the centre of mass */
  bool touches;   /* scratch: contact, friction or (depending on the caller) a load acts on the link in the accepted
                     configuration */
  Vec3 lack;      /* scratch: residual force on the centre of mass after inertia, loads, joint and pair forces [N] */
  double at_work; /* scratch: sum of the magnitudes of its pairs' forces [N] */
} Spinner;

/* Returns an entry for every link (links), or NULL if no link integrates its momentum. The caller frees it with
 * memory_free. */
Spinner* spinners_create(const Model* model);
/* Sets SimState.momentum of these links from the initial velocities: L = R I w, world axes [kg m^2/s]. */
void spin_start(Sim* sim);
/* Call after the affine targets are set. Replaces the targets of these bodies by rigid poses: the torque-free rotation
 * (W4), with the centre of mass at its affine target. */
void spin_aim(Sim* sim);
/* Sets the momenta at t + dt from the solved configuration, before it becomes the present one (W5). A body on which
 * nothing acts keeps its momentum bit-identically. */
void spin_advance(Sim* sim);
/* Call after the rates by differences are set. Sets the angular velocities of these bodies, the last three rates of the
 * joint, from their momenta: J R^T L, link axes (W7) [rad/s]. */
void spin_rates(Sim* sim);
/* The pairs of a body exchange angular momentum (W6) only if its residual force, relative to its pair forces, is at
 * most this. A converged step is far below this limit (the largest tolerance is 0.1). A step with strongly compressed
 * contacts that stopped at rounding error can exceed it. The pair forces of such a step are not reliable. */
#define SPIN_BALANCE 0.2
/* Largest distance of the centre of mass from the axis or centre of what rolls, over the radius. The normal force then
 * has no moment about it (W6). */
#define ROLLING_OFFSET 1e-3
/* Sets lack and at_work from the pairs' forces at the accepted configuration. sim->spinners must not be NULL. */
void spin_balance(Sim* sim, ContactTermList contact);
/* Angular momentum that two such bodies in contact exchange, beyond the torques about their new centres of mass. It
 * results from torques about a point that moves with the lighter body's velocity, in the limit, or with what rolls
 * (W6). */
typedef struct {
  bool both; /* both bodies integrate their momentum and their forces balance; false: no exchange, the rest is unset */
  double share[2]; /* of a and b: 0 of what rolls more ways and 1 of the other; of two spheres 0; else m_a and m_b over
                      their sum */
  bool by_mass;    /* the shares follow from the masses */
  Vec3 way;        /* e: displacement of the centre of a minus that of b in the step [m] */
} SpinExchange;
/* Returns the exchange of links a and b. now, next: poses (links) at the start and the end of the step. */
SpinExchange spin_exchange(const Model* model, const Spinner* spinners, int a, int b, const Pose* now,
                           const Pose* next);
/* Returns the angular velocity of a link that integrates its momentum, link axes [rad/s]. momentum: world axes [kg
 * m^2/s]. */
Vec3 spin_velocity(const Spinner* spinner, Pose pose, Vec3 momentum);

/* Largest rotation of a body in contact per substep [rad]: friction on a body that rotates by theta in a step has the
 * lever arm r cos(theta) (W10). */
#define SPIN_TURN 0.18
/* Returns the largest angular speed of bodies that touch another in the accepted configuration and integrate their
 * momentum [rad/s]. */
double spin_touching_speed(Sim* sim);
/* Returns the number of equal substeps of a step dt [s]: a power of two up to SPIN_PARTS_MOST (spin.c), such that
 * bodies in contact that integrate their momentum rotate by at most SPIN_TURN, and links of flying trees by at most
 * TREE_TURN (W14). */
int spin_parts(Sim* sim, double dt);

/* For the start of Newton's iteration: sets `delta` (nv) [m, rad] to the increments to the targets, for bodies without
 * contact and load; sets Spinner.touches. A body with contact keeps the extrapolation of its motion, the better guess.
 * Other entries are unchanged. */
void spin_increments(Sim* sim, double* delta);

#endif
