/* Private to simulate/: trees of joints that keep their momentum, integrator `momentum` (docs/derivations/spin.md,
 * W11-W18). Which trees fly the model says (ModelTree.flies); single free bodies spin (spin.h). Trees that closures or
 * couplings join fly as one group. All functions do nothing for the other integrators. */
#ifndef SDRS_SIMULATE_TREE_FLIGHT_H
#define SDRS_SIMULATE_TREE_FLIGHT_H

#include "simulate/sim.h"

/* Trees that aim together, parts of the lists of TreeFlight: trees; all links of theirs, parents first; what joins
 * them. */
typedef struct {
  int tree_first, tree_count;
  int link_first, link_count;
  int closure_first, closure_count;
} FlightGroup;

/* A tree's degrees of freedom that nothing prescribes, and its A. */
typedef struct {
  int free_first, free_count;
  double* matrix; /* free_count x free_count, by rows; factored */
  int sign;       /* of factor_tree */
} FlightTree;

/* The rows of one group that joints move: C(q^) A^-1 C(q^t)^T in the units of Z8, factored (W16). Room for `capacity`
 * rows. */
typedef struct {
  int count, rank, capacity;
  ClosureActive* active;
  double *matrix, *right, *unit, *work; /* work: capacity (capacity + 1) */
  int *equation, *unknown;
  double* column; /* A^-1 C(q^t)^T, row by row  (capacity x nv) */
} FlightRows;

typedef struct TreeFlight {
  FlightGroup* group;
  int group_count;
  int *trees, *links, *closures;   /* of the groups, one after the other */
  int* group_of;                   /* of every tree; -1: it does not fly  (trees) */
  FlightTree* tree;                /* (trees) */
  int* free;                       /* degrees of freedom that nothing prescribes, tree by tree  (nv) */
  bool* found;                     /* its aim is that of W11 in the present step  (trees) */
  bool* steady;                    /* turns_in_place of every link  (links) */
  bool* untouched;                 /* scratch: nothing touches it or what it is joined to  (trees) */
  double *before, *ahead, *beyond; /* coordinates that the tree comes from, that it aims at, and its motion so far gone
                                      on with  (nq) */
  Pose *pose_before, *pose_ahead, *pose_beyond; /* there  (links) */
  Screw *screws_now, *screws_ahead;             /* (nv) */
  Screw* screws_side;                           /* scratch of tree_flight_adjoint and flight_tension (nv) */
  double *side, *less;                          /* scratch of flight_tension  (nq), (nv) */
  Pose* pose_side;                              /* (links) */
  bool coarse;         /* shorter substeps resolve the tension of a tree, or find the aim of one (W14, W50) */
  bool turns;          /* scratch: all motions of the group have inertia */
  double *way, factor; /* before = q^t continued by -factor times way  (nv) */
  double bend;         /* share of beyond: (1 - h'/h) / 2 */
  double gravity_time; /* h (h + h') / 2 [s^2] */
  double (*bar)[3][4]; /* scratch  (links) */
  Vec3* force;         /* scratch: composed  (links) */
  Mat3* moment;        /* scratch: composed  (links) */
  double *reduced, *change, *packed; /* scratch  (nv) */
  double* matrices;                  /* of all trees */
  double* drive;                     /* what holds prescribed joints to their aim [N, N m]  (nv) */
  ClosureSystem *at_now, *at_ahead;  /* placed at q^t and at the aim; NULL: nothing joins trees */
  double *push, *eta;                /* forces of the rows in W15 [kg m, kg m^2], and adjoint  (rows) */
  Vec3 *center_now, *center_ahead;   /* centres of mass  (links) */
  FlightRows rows;
} TreeFlight;

/* NULL when no tree flies; owned by the caller. Freed with tree_flight_destroy. */
TreeFlight* tree_flight_create(const Sim* sim);
/* Frees it and all that it owns; NULL is accepted. */
void tree_flight_destroy(TreeFlight* flight);

/* After the affine targets and prescribed coordinates: targets of flying trees become poses that their joints, closures
 * and couplings allow (W11, W15). A group whose equations have no solution near its motion so far, at a turn by about a
 * right angle a step, keeps the affine ones. */
void tree_flight_aim(Sim* sim);
/* Largest rotation of a link of a flying tree in a substep [rad] (W14). */
#define TREE_TURN 0.25
/* Returns the largest angular speed of a link of a flying tree at the present, but for wheels that are balanced about
 * an axis of constant direction [rad/s]; 0: no tree flies. */
double tree_flight_speed(const Sim* sim);
/* After tree_flight_aim: true if shorter substeps are wanted for a tree's sake (W14, W50). */
static inline bool tree_flight_coarse(const TreeFlight* flight) { return flight && flight->coarse; }
/* A step is divided into so many substeps for that at most, times those that the scene asks for. */
enum { FLIGHT_SUBSTEPS_MOST = 16 };
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

/* For the way back, of one found group, with x derivatives by its aim: x <- mu over its free degrees of freedom, 0 over
 * prescribed ones (nv), and flight->eta of its rows (W18). false: a pivot is not positive, which the aim would have met
 * first. Only the group's entries change. Uses flight->rows and `push`, so one group at a time. */
bool tree_flight_solve_transposed(const Sim* sim, int group, double* x);
/* D of a link: the displacement of W11 before it is projected. out: 3 x 4, entries of (R | t), set [1, m]. */
void tree_flight_displacement(const Sim* sim, int link, double out[3][4]);

/* ---- simulate/tree_flight_rows.c: the rows of a group; all nothing for one that nothing joins */
/* Rows placed at q^t, and no force of theirs yet. */
void flight_rows_begin(const Sim* sim, const FlightGroup* group);
/* Placed at the aim as it stands. */
void flight_rows_place(const Sim* sim, const FlightGroup* group);
/* reduced += C(q^t)^T push of flight->push. */
void flight_rows_push(const Sim* sim, const FlightGroup* group);
/* After trees were factored: S factored. false: not finite. */
bool flight_rows_factor(const Sim* sim, const FlightGroup* group);
/* change = A^-1 reduced becomes what closes, c(q^) = C change; push and reduced grow by what that takes. */
void flight_rows_close(const Sim* sim, const FlightGroup* group);
/* Does every row hold, as placed? */
bool flight_rows_hold(const Sim* sim, const FlightGroup* group);
/* Replaces forces with the same effect by the smallest. */
void flight_rows_shorten(const Sim* sim, const FlightGroup* group);
/* After S was factored at the aim, x = A^-T (derivatives): eta, and in x what is left to solve for: C(q^)^T eta (nv).
 */
void flight_rows_solve_transposed(const Sim* sim, const FlightGroup* group, const double* x, double* out);
/* x <- A^-1 x of one tree, entries of other trees and of prescribed joints are not looked at. x[nv]. */
void flight_tree_solve(const TreeFlight* flight, int tree, double* x);
/* x <- A^-T x. */
void flight_tree_solve_transposed(const TreeFlight* flight, int tree, double* x);

/* ---- simulate/tree_flight_tension.c */
/* Returns frequency times substep [rad] of the fastest oscillation that the forces of the joints give a tree whose aim
 * was found (W50). span: its links. Overwrites flight->change, reduced, bar. */
double flight_tension(Sim* sim, int tree, LinkSpan span);

#endif
