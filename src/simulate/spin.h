/* Private to simulate/: bodies that carry their angular momentum, integrator `momentum` (docs/derivations/spin.md).
 * A body spins when it is alone in its tree, has all six degrees of freedom, and nobody prescribes them; all other
 * links are taken forward as at first order. All functions do nothing for the other integrators. */
#ifndef SDRS_SIMULATE_SPIN_H
#define SDRS_SIMULATE_SPIN_H

#include "simulate/sim.h"

typedef struct Spinner {
  bool spins;     /* this link carries its momentum */
  Mat3 mobility;  /* inverse of the inertia tensor about the centre of mass, link axes [1/(kg m^2)] */
  Mat3 second;    /* sum m r r^T about the centre of mass, link axes [kg m^2] */
  Mat3 drift;     /* rotation part of the affine extrapolation, which only carries the centre of mass */
  bool touches;   /* scratch: contact, friction or a load acts on it in the accepted configuration */
  Vec3 lack;      /* scratch: force on its centre that nothing explains [N] */
  double at_work; /* scratch: sum of its pairs' forces [N] */
} Spinner;

/* The links that spin (links), or NULL when none does; owned by the caller. Freed with memory_free. */
Spinner* spinners_create(const Model* model);
/* Angular momenta of the initial velocities: L = R I w. Sets SimState.momentum of spinning links, world axes [kg
 * m^2/s]. */
void spin_start(Sim* sim);
/* After the affine targets: those of spinning bodies become rigid (W4). The centre of mass stays where the affine
 * target has it. */
void spin_aim(Sim* sim);
/* From the solved configuration, before it becomes the present: the momenta at t + dt (W5). Links that nothing touches
 * keep theirs to the bit. */
void spin_advance(Sim* sim);
/* After the rates by differences: angular velocities of spinning bodies from their momenta, J R^T L, link axes (W7).
 * The last three of the joint's rates [rad/s]. */
void spin_rates(Sim* sim);
/* Part of the forces at work that may be out of balance before what a pair does is taken for not known. A step that was
 * solved is far below (the largest tolerance is 0.1); one that ended at rounding with its barrier crushed is not, and
 * millions of newtons that move nothing must not turn anything. */
#define SPIN_BALANCE 0.2
/* Sets lack and at_work of spinning bodies from the pairs' forces, at the accepted configuration. Only when some body
 * spins. */
void spin_balance(Sim* sim, ContactTermList contact);
/* Torques that two spinning bodies in contact exchange beyond those about their new centres: torques about a point that
 * moves with the velocity of the lighter one, in the limit (W6). */
typedef struct {
  bool both;       /* both spin, and their forces are in balance; else there is nothing */
  double share[2]; /* m_a, m_b over their sum */
  Vec3 way;        /* e: of the centre of a less that of b, in the step [m] */
} SpinExchange;
/* now, next: poses (links) at both ends of the step. */
SpinExchange spin_exchange(const Model* model, const Spinner* spinners, int a, int b, const Pose* now,
                           const Pose* next);
/* Angular velocity of a spinning link, link axes [rad/s]. momentum: world axes [kg m^2/s]. */
Vec3 spin_velocity(const Spinner* spinner, Pose pose, Vec3 momentum);

/* Friction on a body that rotates by theta in a step has the lever arm r cos(theta) (W10). spin_parts returns the
 * number of equal substeps, a power of two, in which spinning bodies in contact rotate by at most SPIN_TURN, and links
 * of flying trees by at most TREE_TURN (W14). */
#define SPIN_TURN 0.18
/* dt [s]. At most SPIN_PARTS_MOST (spin.c). */
int spin_parts(Sim* sim, double dt);

/* For a start of Newton's iteration: increments to their targets in `delta` (nv), of spinning bodies that touch
 * nothing; Spinner.touches is set. What touches something goes on as before more likely than where its momentum alone
 * takes it. [m, rad]; of other links it stays as it is. */
void spin_increments(Sim* sim, double* delta);

#endif
