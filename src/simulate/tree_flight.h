/* Private to simulate/: trees of joints that conserve their momentum in free flight, integrator `momentum`
 * (docs/derivations/spin.md, W11-W18). ModelTree.flies selects them; single free bodies are in spin.h. Trees joined by
 * closures or couplings form one group. All functions do nothing for the other integrators. */
#ifndef SDRS_SIMULATE_TREE_FLIGHT_H
#define SDRS_SIMULATE_TREE_FLIGHT_H

#include "simulate/sim.h"

/* Trees whose aims are solved together, as ranges of the lists of TreeFlight: trees, links (parents first), closures
 * and couplings. */
typedef struct {
  int tree_first, tree_count;
  int link_first, link_count;
  int closure_first, closure_count;
} FlightGroup;

/* The degrees of freedom of a tree that are not prescribed, and its matrix A = J(q^t)^T M J(q^) (W14). */
typedef struct {
  int free_first, free_count;
  double* matrix; /* A, free_count x free_count, row-major; L U factors after factoring */
  int sign;       /* result of the factoring: 1, or -1 for a negative pivot, 0 for a singular matrix */
} FlightTree;

/* Moving rows of one group: S = C(q^) A^-1 C(q^t)^T, scaled as in Z8, factored (W16). Room for `capacity` rows. */
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
  int *trees, *links, *closures; /* lists of the groups, concatenated */
  int* group_of;                 /* group of every tree; -1: it does not fly (trees) */
  FlightTree* tree;              /* (trees) */
  int* free;                     /* degrees of freedom that are not prescribed, tree by tree (nv) */
  bool* holds;                   /* the aim of the tree contains the forces of its joints (W51) (trees) */
  bool* found;                   /* the aim of the tree in the present step is the solution of W11 (trees) */
  bool* steady;                  /* result of turns_in_place for every link (links) */
  bool* acts; /* the aim contains the forces of the link's joint: a spring, damper, armature or drive acts on a plain
                 coordinate, and the link is no balanced wheel (W51) (links) */
  bool* untouched;                  /* scratch: the tree and its group have an aim and no contact (trees) */
  double *before, *ahead;           /* coordinates one step before q^t by the present motion; at the aim (nq) */
  double *behind, *beyond;          /* coordinates the longer of h and h' before and after q^t by this motion (nq) */
  Pose *pose_before, *pose_ahead;   /* poses at these coordinates (links) */
  Pose *pose_behind, *pose_beyond;  /* poses at these coordinates (links) */
  Screw *screws_now, *screws_ahead; /* (nv) */
  Screw* screws_side;               /* scratch of tree_flight_adjoint and flight_tension (nv) */
  double *side, *less;              /* scratch of flight_tension  (nq), (nv) */
  Pose* pose_side;                  /* (links) */
  bool coarse;         /* shorter substeps would resolve a tree's oscillation, or let its aim be found (W14, W50) */
  bool turns;          /* scratch: the group's matrix is not singular */
  double *way, factor; /* displacement of the last step; before = q^t continued by -factor way (nv) */
  double span;         /* beyond = q^t continued by span way */
  double bend;         /* weight of the bracket of W11: (1 - h'/h) / 2, times (h/h')^2 where h' is longer */
  double gravity_time; /* h (h + h') / 2 [s^2]: displacement per acceleration */
  double (*bar)[3][4]; /* scratch  (links) */
  Vec3* force;         /* scratch: forces summed over descendants (links) */
  Mat3* moment;        /* scratch: first moments summed over descendants (links) */
  double *reduced, *change, *packed; /* scratch  (nv) */
  double* matrices;                  /* storage of FlightTree.matrix */
  double *held, *stiff; /* F of W51 at the aim and its derivative by the coordinate; 0 where the aim does not
                           contain it [N, N m], [N/m, N m/rad] (nv) */
  double* drive;        /* forces on prescribed joints at the aim [N, N m] (nv) */
  ClosureSystem *at_now, *at_ahead; /* closures placed at q^t and at the aim; NULL: no closures or couplings */
  const double* by_row; /* derivatives with respect to the row forces of the aims, borrowed from ClosureAdjoint.by_row;
                           NULL: none (rows) */
  double *push, *eta;   /* forces of the rows, times gravity_time, in W15 [kg m, kg m^2], and their adjoint (rows) */
  Vec3 *center_now, *center_ahead; /* centres of mass at q^t and at the aim (links) */
  FlightRows rows;
} TreeFlight;

/* Returns NULL if no tree flies. The caller frees it with tree_flight_destroy. */
TreeFlight* tree_flight_create(const Sim* sim);
/* Frees it and all that it owns; NULL is accepted. */
void tree_flight_destroy(TreeFlight* flight);

/* Call after the affine targets and prescribed coordinates are set. Replaces the targets of flying trees by poses that
 * their joints, closures and couplings allow (W11, W15). A group keeps the affine targets if the equations have no
 * solution near its present motion, which happens at rotations of about a right angle per step. */
void tree_flight_aim(Sim* sim);
/* Largest rotation of a link of a flying tree in a substep [rad] (W14). */
#define TREE_TURN 0.25
/* Returns the largest angular speed of the links of flying trees at the present state [rad/s], except of balanced
 * wheels with an axis of constant direction; 0 if no tree flies. */
double tree_flight_speed(const Sim* sim);
/* Returns true if tree_flight_aim found that shorter substeps are needed (W14, W50). */
static inline bool tree_flight_coarse(const TreeFlight* flight) { return flight && flight->coarse; }
/* Largest number of substeps into which a step is divided for this reason, per substep that the scene requests. */
enum { FLIGHT_SUBSTEPS_MOST = 16 };
/* Returns true if the target of this link is the solution of W11. */
static inline bool tree_flight_found(const TreeFlight* flight, const ModelLink* link) {
  return flight && link->tree >= 0 && flight->found[link->tree];
}
/* For the start of Newton's iteration: sets `delta` (nv) [m, rad] to the increments to the aims, for groups without
 * contact (`untouched`, set here). Other entries are unchanged. */
void tree_flight_increments(Sim* sim, double* delta);
/* Returns true if tree_flight_increments set the increments of this link. */
static inline bool tree_flight_starts_at_aim(const TreeFlight* flight, const ModelLink* link) {
  return tree_flight_found(flight, link) && flight->untouched[link->tree];
}

/* Solves the transposed equations of one group with an aim, for the adjoint (W18). x holds derivatives with respect to
 * the aim's increments and becomes mu over the free degrees of freedom, 0 over prescribed ones (nv); sets flight->eta
 * of the group's rows. Returns false if the matrix is singular. Changes only the group's entries. Overwrites
 * flight->rows and uses `push`, so groups must be processed one at a time. */
bool tree_flight_solve_transposed(const Sim* sim, int group, double* x);
/* Sets out (3 x 4, entries of (R | t)) to D of W11, the second difference of the link's pose minus gravity's
 * displacement, before projection [1, m]. */
void tree_flight_displacement(const Sim* sim, int link, double out[3][4]);

/* ---- simulate/tree_flight_rows.c: closures and couplings of a group; these functions do nothing for a group without
 * any */
/* Places the rows at q^t and sets their forces `push` to 0. */
void flight_rows_begin(const Sim* sim, const FlightGroup* group);
/* Places the rows at the present aim. */
void flight_rows_place(const Sim* sim, const FlightGroup* group);
/* reduced += C(q^t)^T push of flight->push. */
void flight_rows_push(const Sim* sim, const FlightGroup* group);
/* Computes and factors S, after the trees' matrices are factored. Returns false if it is not finite. */
bool flight_rows_factor(const Sim* sim, const FlightGroup* group);
/* On entry change = A^-1 reduced. Adds the row forces for which the step `change` closes the rows, c(q^) = C change, to
 * change, push and reduced. */
void flight_rows_close(const Sim* sim, const FlightGroup* group);
/* Returns true if every row is closed to its tolerance at the placed aim. */
bool flight_rows_hold(const Sim* sim, const FlightGroup* group);
/* Replaces row forces of dependent rows by the smallest with the same effect. */
void flight_rows_shorten(const Sim* sim, const FlightGroup* group);
/* Solves for eta with S factored at the aim and x = A^-T (derivatives). Sets out (nv) to C(q^)^T eta, the remaining
 * right-hand side. */
void flight_rows_solve_transposed(const Sim* sim, const FlightGroup* group, const double* x, double* out);
/* x <- A^-1 x for one tree; entries of other trees and of prescribed joints are ignored. x[nv]. */
void flight_tree_solve(const TreeFlight* flight, int tree, double* x);
/* x <- A^-T x, as flight_tree_solve. */
void flight_tree_solve_transposed(const TreeFlight* flight, int tree, double* x);

/* ---- simulate/tree_flight_joints.c (W51) */
/* Returns the input of joint_terms for the link's joint at the aim. Borrows the Sim. */
JointInput flight_joint_input(const Sim* sim, int link);
/* Sets holds of the tree to false and its entries of held and stiff to 0. */
void flight_joints_clear(const Sim* sim, int tree);
/* Sets held and stiff of the link's joint at the present aim, if its tree holds. */
void flight_joints_place(const Sim* sim, int link);
/* Returns F^ of the link's joint (dof), or NULL if its aim does not contain it. */
static inline const double* flight_held(const TreeFlight* flight, const ModelLink* link) {
  return flight && link->tree >= 0 && flight->holds[link->tree] ? flight->held + link->dof_first : NULL;
}

/* ---- simulate/tree_flight_tension.c */
/* Returns frequency times substep [rad] of the fastest oscillation due to the joint forces of a tree with an aim (W50).
 * span: its links. Overwrites flight->change, reduced, bar. */
double flight_tension(Sim* sim, int tree, LinkSpan span);

#endif
