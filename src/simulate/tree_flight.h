/* Private to simulate/: trees in free flight, integrator `momentum` (docs/derivations/spin.md, W11-W18). A tree in free
 * flight is a tree of joints that conserves its momentum; ModelTree.flies marks such trees. Single free bodies are in
 * spin.h. Trees joined by closures or couplings form one group. The functions do nothing for other integrators. */
#ifndef SDRS_SIMULATE_TREE_FLIGHT_H
#define SDRS_SIMULATE_TREE_FLIGHT_H

#include "simulate/sim.h"

/* Trees whose target poses are solved together, given as ranges of the lists of TreeFlight: trees; links, parents
 * first; closures, then couplings. */
typedef struct {
  int tree_first, tree_count;
  int link_first, link_count;
  int closure_first, closure_count;
} FlightGroup;

/* The degrees of freedom of a tree that are not prescribed, and a matrix A of the tree (W14). A is the inertia matrix,
 * the product J^T M J, with the first J at time t and the second at the target pose. J: derivatives of the positions
 * with respect to the coordinates; M: masses. */
typedef struct {
  int free_first, free_count;
  double* matrix; /* the matrix A, free_count x free_count, row-major; its L U factors after factoring */
  int sign; /* result of the LU factorization of `matrix`: 1; -1 if a pivot is negative; 0 if the matrix is singular */
} FlightTree;

/* Closure rows of one group, and the factored matrix S for their forces (W16). S is the product C A^-1 C^T, with the
 * first C at the target and the second at time t. C: derivatives of the rows' equations with respect to the
 * coordinates; A: FlightTree.matrix. Arrays are allocated for `capacity` rows. */
typedef struct {
  int count, rank, capacity;
  ClosureRowIndex* active;
  double *matrix, *right, *unit, *work; /* matrix: the factored matrix S (capacity^2); right: right-hand side; unit:
                                           scale of each row; work: scratch (capacity (capacity + 1)) */
  int *equation, *unknown;
  double* column; /* A^-1 C^T with C at time t: displacements due to unit forces of the rows, one row for each closure
                     row (capacity x nv) */
} FlightRows;

typedef struct TreeFlight {
  FlightGroup* group;
  int group_count;
  int *trees, *links, *closures; /* lists of the groups, concatenated */
  int* group_of;                 /* group of every tree; -1 if the tree does not conserve its momentum (size: trees) */
  FlightTree* tree;              /* degrees of freedom and matrix of each tree (size: trees) */
  int* free;                     /* degrees of freedom that are not prescribed, tree by tree (size: nv) */
  bool* contains_joint_forces;   /* true if the target of the tree contains the forces of springs, dampers and drives in
                                    the tree's joints (W51) (size: trees) */
  bool* contains_loads; /* true if the target of the tree contains the loads on its links (W52) (size: trees) */
  bool* is_load_direct; /* true if the force of loads on the degree of freedom acts in the step's objective, not in the
                           target (W52) (size: nv) */
  double* load_force;   /* forces of loads on the degrees of freedom at t [N, N m]; 0 where contains_loads is false
                           (size: nv) */
  double (*load_bar)[3][4]; /* scratch (size: links) */
  bool* has_target; /* true if the tree has a target pose in the present step that satisfies its joints (W11) (size:
                       trees) */
  bool* is_wheel;   /* true if the link rotates relative to its parent only about one axis through its centre of
                       mass, and carries no other link (W54) (size: links) */
  bool* is_steady_wheel;  /* true if the link is a wheel whose axis has a constant direction. Its target is exact at any
                             angular velocity (W14, W54) (size: links) */
  bool* has_joint_forces; /* true if the target may contain the forces of the link's joint (W51). A spring, damper,
                             armature or drive then acts on a scalar coordinate, and the link is no balanced wheel
(size: links) */
  ModelLink* target_links;  /* copies of the links with has_joint_forces. A copy has only those joint terms that the
                               target contains (size: links) */
  bool* is_without_contact; /* scratch; true if has_target is true for the tree's group and no link of the group is in
                               contact (size: trees) */
  double *before_q, *target_q; /* before_q: coordinates one step before t, extrapolated from the present motion;
                                  target_q: coordinates of the target (size: nq) */
  double *behind_q, *beyond_q; /* coordinates before t (behind_q) and after t (beyond_q). They are extrapolated from the
                                  present motion over the longer of the present and the last step (size: nq) */
  Pose *pose_before, *target_pose;   /* poses at `before_q` and at `target_q` (size: links) */
  Pose *pose_behind, *pose_beyond;   /* poses at `behind_q` and at `beyond_q` (size: links) */
  Screw *screws_now, *target_screws; /* screws of the joints at time t and at `target_q` (size: nv) */
  Screw* screws_side;                /* scratch of tree_flight_adjoint and flight_oscillation_angle (size: nv) */
  double *side, *less;               /* scratch of flight_oscillation_angle  (nq), (size: nv) */
  Pose* pose_side;                   /* scratch: poses at the coordinates `side` (size: links) */
  bool needs_refinement; /* true if shorter substeps are needed to resolve an oscillation of a tree, or to find the
                            target of a tree (W14, W50) */
  bool is_regular;       /* scratch; true if the matrix of the present group is not singular */
  double *last_displacement, factor; /* last_displacement: joint displacement of the last step (nv). `before_q` is the
                                        coordinates at t moved by -factor times `last_displacement` */
  double extrapolation_factor;       /* `beyond_q` is the coordinates at t moved by extrapolation_factor times
                                        `last_displacement` */
  double bracket_weight; /* weight of the correction for unequal step lengths in the target (bracket in W11): (1 - h'/h)
                            / 2, times (h/h')^2 if h' > h. h: present step; h': last step */
  double gravity_time; /* displacement of the target per unit of acceleration, h (h + h') / 2 with the lengths h and h'
                          of the present and the last step [s^2] */
  double (*bar)[3][4]; /* scratch: for each link a force on every entry of its pose (size: links) */
  Vec3* force;         /* scratch: forces summed over descendants (size: links) */
  Mat3* moment;        /* scratch: first moments summed over descendants (size: links) */
  double *reduced, *change, *packed; /* scratch. reduced: generalized forces; change: increments of the target; packed:
                                        unknowns of one tree (size: nv) */
  double* matrices;                  /* storage of FlightTree.matrix */
  /* joint_force: forces of springs, dampers and drives in joints at the target (W51) [N, N m]; joint_stiffness:
   * derivatives of the joint forces with respect to their coordinates [N/m, N m/rad]. Both are 0 where the target does
   * not contain joint forces (size: nv) */
  double *joint_force, *joint_stiffness;
  double* wheel_bar; /* scratch of tree_flight_adjoint: derivatives of slopes . reactions with respect to the target
                        coordinates, through the terms of wheels (W54) (size: nv) */
  double* drive;     /* forces on prescribed joints at the target [N, N m] (size: nv) */
  ClosureSystem *closures_now,
      *closures_at_target; /* closures placed at time t and at the target; NULL if there are no closures or couplings */
  const double* by_row;    /* derivatives with respect to the row forces that the targets contain, borrowed from
                              ClosureAdjoint.by_row; NULL if there are none (size: rows) */
  double *row_impulse, *eta; /* row_impulse: forces of the closure rows in the target times `gravity_time` [kg m, kg
                                m^2]; eta: adjoint variable of `row_impulse` (size: rows) */
  Vec3 *center_now, *center_target; /* centres of mass at time t and at the target (size: links) */
  FlightRows rows;
} TreeFlight;

/* Returns the data of the trees in free flight. The caller frees the data with tree_flight_destroy. Returns NULL if no
 * tree conserves its momentum. */
TreeFlight* tree_flight_create(const Sim* sim);
/* Frees the data of tree_flight_create. Accepts NULL. */
void tree_flight_destroy(TreeFlight* flight);

/* Replaces the target poses of trees in free flight by poses that satisfy the joints, closures and couplings of the
 * trees (W11, W15). A group keeps the targets of single links if these equations have no solution near the group's
 * present motion, for example at rotations of about a right angle per step. Call after step_prepare has set the targets
 * of single links (Sim.target) and the prescribed coordinates. */
void tree_flight_set_targets(Sim* sim);
/* Largest rotation per substep of a link of a tree in free flight [rad] (W14). */
#define TREE_ROTATION_MAX 0.25
/* Returns the largest angular speed of the links of trees in free flight in the present state [rad/s]; 0 if there are
 * no such links. Links with TreeFlight.is_steady_wheel are left out. */
double tree_flight_angular_speed(const Sim* sim);
static inline bool tree_flight_needs_refinement(const TreeFlight* flight) { return flight && flight->needs_refinement; }
/* Largest factor by which the number of substeps of the scene is multiplied because tree_flight_needs_refinement
 * returns true. */
enum { FLIGHT_SUBSTEPS_FACTOR_MAX = 16 };
/* Returns true if the link belongs to a tree in free flight whose target pose satisfies the joints of the tree (W11).
 */
static inline bool tree_flight_has_target(const TreeFlight* flight, const ModelLink* link) {
  return flight && link->tree >= 0 && flight->has_target[link->tree];
}
/* Sets the start of Newton's iteration for groups in free flight without contact. The entries of delta[nv] [m, rad] of
 * the groups become the increments from the accepted to the target pose. Other entries are unchanged. Sets
 * TreeFlight.is_without_contact. */
void tree_flight_set_start_increments(Sim* sim, double* delta);
/* Returns true if tree_flight_set_start_increments set the increments of this link. */
static inline bool tree_flight_starts_at_target(const TreeFlight* flight, const ModelLink* link) {
  return tree_flight_has_target(flight, link) && flight->is_without_contact[link->tree];
}

/* Solves the transposed equations of the target of one group, for the adjoint (W18). On entry x[nv] holds the
 * derivatives of the scalar with respect to increments of the target. On return x holds the adjoint solution for free
 * degrees of freedom and 0 for prescribed ones. Sets flight->eta for the rows of the group. Changes only the entries of
 * this group. Returns false if the matrix is singular. Overwrites flight->rows and flight->row_impulse, so groups must
 * be processed one at a time. */
bool tree_flight_solve_transposed(const Sim* sim, int group, double* x);
/* Sets out (3 x 4, rotation matrix and position) to the displacement that inertia resists [1, m] (D of W11): the second
 * difference of the link's pose minus the displacement by gravity, before projection to the joints. */
void tree_flight_displacement(const Sim* sim, int link, double out[3][4]);

/* ---- simulate/tree_flight_rows.c: closures and couplings of a group; these functions do nothing for a group without
 * any */
/* Evaluates the closure equations (rows) of the group and their derivatives at time t, and sets their entries of
 * flight->row_impulse to 0. */
void flight_rows_begin(const Sim* sim, const FlightGroup* group);
/* Evaluates the closure equations (rows) of the group and their derivatives at the present iterate of the target. */
void flight_rows_evaluate(const Sim* sim, const FlightGroup* group);
/* Adds the generalized forces of flight->row_impulse, in the directions at time t, to flight->reduced. */
void flight_rows_add_forces(const Sim* sim, const FlightGroup* group);
/* Computes and factors FlightRows.matrix, the matrix of the row forces. Call after the matrices of the trees are
 * factored. Returns false if an entry is not finite. */
bool flight_rows_factor(const Sim* sim, const FlightGroup* group);
/* Call when flight->change is the solution of the trees' matrices for flight->reduced. Finds the row forces for which
 * the increment `change` closes the closures of the group. Adds them to flight->row_impulse, and their effects to
 * change and reduced. */
void flight_rows_solve(const Sim* sim, const FlightGroup* group);
/* Returns true if the error of every row is within its tolerance at the target where the rows were placed. */
bool flight_rows_are_satisfied(const Sim* sim, const FlightGroup* group);
/* Replaces the row forces of dependent rows by the smallest forces that have the same effect. */
void flight_rows_minimize_forces(const Sim* sim, const FlightGroup* group);
/* Solves for flight->eta, the adjoint of the row forces. flight_rows_factor must have been called at the target. x[nv]:
 * derivatives multiplied by the inverse transposed matrices of the trees. Sets out[nv] to C^T eta, a right-hand side
 * for the trees. C: derivatives of the rows at the target. */
void flight_rows_solve_transposed(const Sim* sim, const FlightGroup* group, const double* x, double* out);
/* Solves A y = x with the matrix A of one tree (FlightTree.matrix) and replaces x[nv] by y. Entries of other trees and
 * of prescribed joints are ignored. */
void flight_tree_solve(const TreeFlight* flight, int tree, double* x);
/* Solves A^T y = x with the matrix A of one tree (FlightTree.matrix) and replaces x[nv] by y. Entries of other trees
 * and of prescribed joints are ignored. */
void flight_tree_solve_transposed(const TreeFlight* flight, int tree, double* x);

/* ---- simulate/tree_flight_joints.c (W51) */
/* Sets flight->target_links of a link with flight->has_joint_forces, whose target contains forces of the joint. */
void flight_joints_begin(const Sim* sim, int link);
/* Returns the input of joint_terms and joint_adjoint for the forces of the link's joint that the target contains, at
 * the target. Borrows the Sim. */
JointInput flight_joint_input(const Sim* sim, int link);
/* Sets the tree's entries of flight->contains_joint_forces to false, and of flight->joint_force and
 * flight->joint_stiffness to 0. */
void flight_joints_clear(const Sim* sim, int tree);
/* Sets flight->joint_force and flight->joint_stiffness of the link's joint at the present iterate of the target. Does
 * nothing if flight->contains_joint_forces is false for the tree. */
void flight_joints_evaluate(const Sim* sim, int link);
/* Returns the forces of the link's joint (dof) that the target pose contains, or NULL if the target contains no joint
 * forces. */
static inline const double* flight_joint_forces(const TreeFlight* flight, const ModelLink* link) {
  return flight && link->tree >= 0 && flight->contains_joint_forces[link->tree] ? flight->joint_force + link->dof_first
                                                                                : NULL;
}

/* ---- simulate/tree_flight_loads.c (W52). Sim.loads may be NULL */
/* Sets flight->contains_loads of the tree to true if loads act on its links, and LinkLoad.in_target of these links.
 * Returns flight->contains_loads. */
bool flight_loads_begin(const Sim* sim, int tree, LinkSpan span);
/* Sets flight->contains_loads of the tree and LinkLoad.in_target of its links to false, and flight->load_force to 0. */
void flight_loads_clear(const Sim* sim, int tree, LinkSpan span);
/* Sets flight->load_force of a tree, and flight->joint_force of the degrees of freedom with flight->is_load_direct.
 * Needs flight->screws_now. Does nothing if flight->contains_loads is false for the tree. */
void flight_loads_project(const Sim* sim, int tree, LinkSpan span);
/* Adds factor times the generalized forces of the loads that the target contains, at pose[links], to out[nv].
 * screws[nv]: of the joints at pose. Overwrites flight->load_bar, force and moment. */
void flight_loads_add_forces(const Sim* sim, LinkSpan span, const Pose* pose, const Screw* screws, double factor,
                             double* out);

/* ---- simulate/tree_flight_wheels.c (W54). TreeFlight.is_wheel must be true for the link; the target is that of the
 * present iterate */
/* Returns the index of the degree of freedom by which the wheel rotates. */
int flight_wheel_dof(const Sim* sim, int link);
/* Returns the term of the wheel in the force balance of its rotation [kg m^2]: the difference between its angular
 * momentum and that of its pose displacements (W54), times the length of the substep. */
double flight_wheel_residual(const Sim* sim, int link);
/* Returns the derivative of flight_wheel_residual with respect to the coordinate of the target [kg m^2]. */
double flight_wheel_stiffness(const Sim* sim, int link);
/* Adds `by` times the derivatives of flight_wheel_residual with respect to the states at t and one step before, the
 * initial velocities and the mass moments. The derivative with respect to the target is flight_wheel_stiffness. */
void flight_wheel_adjoint(const Sim* sim, int link, double by, StateBar now, StateBar old, ModelGradient* gradient);

/* ---- simulate/tree_flight_tension.c */
/* Returns the angular frequency of the fastest oscillation due to the joint forces of a tree, times the length of the
 * substep [rad] (W50). tree_flight_has_target must be true for the tree. span: links of the tree. Overwrites
 * flight->change, reduced and bar. */
double flight_oscillation_angle(Sim* sim, int tree, LinkSpan span);

#endif
