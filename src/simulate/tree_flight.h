/* Private to simulate/: trees of joints that keep their momentum, integrator `momentum` (docs/derivations/spin.md,
 * W11-W14). Which trees fly the model says (ModelTree.flies); single free bodies spin (spin.h). All functions do
 * nothing for the other integrators. */
#ifndef SDRS_SIMULATE_TREE_FLIGHT_H
#define SDRS_SIMULATE_TREE_FLIGHT_H

#include "simulate/sim.h"

typedef struct TreeFlight {
  bool* found;                      /* its aim is that of W11 in the present step  (trees) */
  bool* untouched;                  /* scratch: nothing touches it  (trees) */
  double *before, *ahead;           /* coordinates that the tree comes from and that it aims at  (nq) */
  Pose *pose_before, *pose_ahead;   /* there  (links) */
  Screw *screws_now, *screws_ahead; /* (nv) */
  double *way, factor;              /* before = q^t continued by -factor times way  (nv) */
  double gravity_time;              /* h (h + h') / 2 [s^2] */
  double (*bar)[3][4];              /* scratch  (links) */
  Vec3* force;                      /* scratch: composed  (links) */
  Mat3* moment;                     /* scratch: composed  (links) */
  double *reduced, *change;         /* scratch  (nv) */
  double* matrix;                   /* scratch: of the largest tree, by rows */
} TreeFlight;

/* NULL when no tree flies; owned by the caller. Freed with tree_flight_destroy. */
TreeFlight* tree_flight_create(const Sim* sim);
/* Frees it and all that it owns; NULL is accepted. */
void tree_flight_destroy(TreeFlight* flight);

/* After the affine targets: those of flying trees become poses that their joints allow (W11). A tree whose equations
 * have no solution near its motion so far, at a turn by about a right angle a step, keeps the affine ones. */
void tree_flight_aim(Sim* sim);
/* Is the aim of this link that of W11? */
static inline bool tree_flight_found(const TreeFlight* flight, const ModelLink* link) {
  return flight && link->tree >= 0 && flight->found[link->tree];
}
/* For a start of Newton's iteration: increments to their aims in `delta` (nv), of trees that touch nothing; `untouched`
 * says which. [m, rad]; of other trees it stays as it is. */
void tree_flight_increments(Sim* sim, double* delta);
/* Does this link, too, after tree_flight_increments? */
static inline bool tree_flight_starts_at_aim(const TreeFlight* flight, const ModelLink* link) {
  return tree_flight_found(flight, link) && flight->untouched[link->tree];
}

/* For the way back, of one found tree: x <- A^-T x over its degrees of freedom (nv), A by W11 at its aim. false: a
 * pivot is not positive, which the aim would have met first. Only the tree's entries of x change. Uses the flight's
 * matrix, so one tree at a time. */
bool tree_flight_solve_transposed(const Sim* sim, int tree, double* x);
/* D of a link: the displacement of W11 before it is projected. out: 3 x 4, entries of (R | t), set [1, m]. */
void tree_flight_displacement(const Sim* sim, int link, double out[3][4]);

#endif
