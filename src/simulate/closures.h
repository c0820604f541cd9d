/* Private to simulate/: closures, joints that close loops of links (docs/derivations/closures.md). Their equations
 * c(q) = 0 hold at the end of every step. The step minimizes over the coordinates q
 *   O(q) + sum mu c + sum rho/2 c^2,                                                                         (Z2)
 * O: objective without closures; mu: multipliers, the forces of the closures [N, N m]; rho: stiffness. mu is chosen so
 * that Newton's direction delta closes the equations: C delta = -c with the slopes C = dc/dq (Z3). */
#ifndef SDRS_SIMULATE_CLOSURES_H
#define SDRS_SIMULATE_CLOSURES_H

#include "simulate/simulate.h"
#include "simulate/terms.h"

/* Force, moment and Hessian terms of one closure on its two links, summed over the rows of the closure. */
typedef struct {
  Vec3 force[2];
  Mat3 moment[2];
  double hessian[12][12]; /* sum over rows of the row's force times the second derivative of its equation with respect
                             to the twists of both links. The stiffness times the square of the first derivative is
                             added separately (RowTerms) */
} ClosureLinkTerms;

/* Poses of both links of a closure, and its attachment points in the world. */
typedef struct {
  Pose pose[2];
  Vec3 end[2], separation; /* separation = end[0] - end[1]: vector from the point on b to the point on a [m] */
} ClosureAttachments;

/* One row (scalar equation) of a closure at given poses, world axes. u, v: the two directions of an ALIGN row, which
 * must be perpendicular. force: force on a for a unit multiplier; the force on b is the opposite. torque: torques on a
 * and b about their centres of mass for a unit multiplier. */
typedef struct {
  Vec3 u, v, force, torque[2];
} ClosureRowGeometry;

/* Force of a closure with a force limit (Z5, Z21). */
typedef struct {
  double before, now; /* now: force in the last substep that is not skipped [N]; before: force in the substep before it
                         that is not skipped [N] */
  int known;          /* number of known forces among `now` and `before`, 0 to 2 */
  int skipped; /* number of skipped substeps since the closure closed, at most closing_substeps. Their forces contain
                  the impulse of the closing */
  double opening_fraction; /* fraction of the next substep after which the closure opens; INFINITY if the closure stays
                              closed */
} ClosureForceHistory;
/* Number of substeps after closing whose closure force contains the impulse that stops the relative motion. The
 * integrator second_order stops this motion over three substeps. */
enum { CLOSING_SUBSTEPS = 1, CLOSING_SUBSTEPS_SECOND_ORDER = 3 };

/* Largest number of past steps for the extrapolation of the next step's increments. */
enum { EXTRAPOLATION_STEPS = 4 };

/* A row (scalar equation) whose derivatives with respect to the coordinates are not all zero. closure: closure or
 * coupling of the row; row: number of the row within it; index: number among all rows. */
typedef struct {
  int closure, row, index;
} ClosureRowIndex;

/* Derivatives of one row's equation with respect to the coordinates, nonzero entries only. slope[n] belongs to the
 * degree of freedom dof[n], n < count. */
typedef struct {
  int count;
  const int* dof;
  const double* slope;
} JacobianRow;

/* A row whose derivatives with respect to the coordinates are not all zero, and its nonzero derivatives. */
typedef struct {
  ClosureRowIndex of;
  JacobianRow along;
} NonzeroRow;

/* A range of degrees of freedom, first to end - 1. */
typedef struct {
  int first, end;
} DofRun;

/* Mobilities of the two links of a closure, each as a free body; 0 for a link that cannot move. */
typedef struct {
  double move[2], turn[2]; /* move: 1 / mass [1/kg]; turn: 1 / (half the trace of the inertia tensor) [1/(kg m^2)] */
} ClosureMobility;

typedef struct ClosureSystem {
  const Model* model;
  int count, row_count; /* count: number of closures and couplings. An index `closure` or k below numbers the closures
                           first, then the couplings */
  double gap_before;    /* largest closure_relative_error in the previous Newton iteration */
  double exact; /* tolerance of closure errors, relative to ModelClosure.size for lengths and in rad for angles */
  /* arrays over all rows (size: rows) */
  double *multiplier, *accepted, *saved; /* multipliers mu [N or N m]. multiplier: of the present iteration; accepted:
                                            of the present state; saved: of the state at the start of the step */
  double *stiffness, *value; /* stiffness: penalty stiffness rho of each row [N/m, N m/rad]; value: closure error c of
                                each row at the assembled configuration [m or 1] */
  double* change;            /* change of the multipliers mu by the last Newton direction [N or N m] */
  double* pushed;            /* scratch of closures_add_stiffness_force */
  double* target_force;  /* row forces that the target poses of trees in free flight (tree_flight.h) already contain [N
                     or N m];  the total row force is the sum of mu and these forces (spin.md, W15) */
  bool has_target_force; /* true if some entry of `target_force` is not 0 */
  /* arrays over all closures and couplings */
  bool *open, *open_saved; /* open: true if the closure is broken or switched off; open_saved: copy of `open` from the
                              start of the step */
  bool ambiguous;          /* true if linearly dependent rows were found for a Newton direction of this step */
  double stiffening;    /* factor on the closures' stiffness terms in the Hessian; raised until the Hessian is positive
                           definite */
  bool* convex;         /* true if the Hessian omits the second derivatives of the closure's equations */
  double* broken_at;    /* time of the state in which the closure broke [s]; INFINITY if intact */
  ModelClosure* placed; /* closures of the model, which are rewritten when a closure closes; NULL if no closure has
                           `active` (size: closures) */
  SimJoin* joined;      /* time of closing, and relative pose of the links at that time; NULL if `placed` is NULL (size:
                           closures) */
  bool has_range_closures; /* true if some closure has the key `within` */
  bool limited;            /* true if some closure has a force limit */
  int closing_substeps;    /* CLOSING_SUBSTEPS or CLOSING_SUBSTEPS_SECOND_ORDER, depending on the integrator */
  ClosureForceHistory *load, *load_saved; /* force of each closure with a force limit. load: at present; load_saved: at
                                             the start of the step. NULL unless `limited` (size: closures) */
  SimJoin* joined_saved;                  /* `joined` at the start of the step (size: closures) */
  Vec3* direction; /* direction v of each row (ClosureRow.v), in the frame of link a at the start; NULL if `placed` is
                      NULL (size: rows) */
  ClosureMobility* mobility;
  ClosureLinkTerms* sum; /* terms of each closure at the assembled configuration */
  double* gap;           /* relative error of each closure at the assembled configuration (closure_relative_error) */
  double* energy;        /* energy of each closure at the assembled configuration, set by closure_rounding [J] */
  double* extent;        /* largest length in the equations of the closure [m], proportional to their rounding error */
  int *dof_first, *dof;  /* degrees of freedom that move a link of closure k: dof[dof_first[k] .. dof_first[k+1]-1] */
  int* dof_tree;         /* tree of each degree of freedom in `dof` */
  int* dof_beyond; /* for each entry n of `dof`: index of the next entry that belongs to another tree or another closure
                    */
  int* tree_link;  /* for each closure, one of its links that belongs to a tree */
  uint64_t* pairs; /* pairs of trees that a closure couples, sorted; the pair of trees a < b is stored as a << 32 | b
 (size: pair_count) */
  int pair_count;
  int* group; /* first tree of the set of trees that closures and couplings connect to each tree, directly or indirectly
 (size: trees) */
  CouplingTerms* coupled; /* terms of the couplings for the assembly (size: couplings) */
  RowTerms* rows;         /* stiffness terms of the closures for the assembly (size: closures) */
  bool* moves; /* true if some derivative of the row's equation with respect to the coordinates is not zero (size: rows)
                */
  unsigned* moved;     /* for each closure a set of bits: bit i is set if `moves` is true for the closure's row i */
  unsigned char* side; /* for each entry of `dof`: bit 0 is set if the degree of freedom moves the attachment point on
                          a. Bit 1 is set if it moves the point on b */
  size_t* slope_first; /* index in `slope` of the first row of every closure */
  double* slope; /* derivatives of the closure equations with respect to the coordinates, row by row; a row has an entry
                    for each degree of freedom of its closure */
  NonzeroRow* nonzero_rows; /* rows of all closures and couplings for which `moves` is true (size: nonzero_count) */
  int nonzero_count;
  /* increments of past steps, for the extrapolation (Z10) */
  bool* tree_has_closures; /* true if a closure or coupling acts on the tree (size: trees) */
  int past_count; /* number of stored past steps, at most EXTRAPOLATION_STEPS; all have the length of the present step
                   */
  double* past_increments; /* joint increments of past steps, newest step first [m, rad]. The second half of the array
                              is the copy that closures_save makes (2 EXTRAPOLATION_STEPS, nv) */
  int past_count_saved;
  double tolerance_factor; /* factor on the step's tolerance for trees with closures in this solve, at most 1 (Z10) */
  /* closure values at the coordinates evaluated_q. They are reused while the coordinates do not change */
  bool found;
  double* evaluated_q;             /* coordinates of the last evaluation (size: nq) */
  double* evaluated_value;         /* closure errors c at evaluated_q [m, 1] (size: rows) */
  ClosureAttachments* attachments; /* attachment points of each closure at evaluated_q (size: closures) */
  ClosureRowGeometry* place;       /* geometry of each row at evaluated_q: u, v and force. The torques are set once
                                      evaluated_weight is set (size: rows) */
  /* stiffness, torques and slopes at evaluated_q */
  double evaluated_weight; /* weight for which `stiffness` was computed; -1 if not computed at evaluated_q */
  bool has_jacobian;       /* true if `slope` and `moves` were computed at evaluated_q */
  Vec3 (*arm)[2];          /* vectors from the links' centres of mass to the attachment points [m] (size: closures) */
  /* workspace of closures_solve. A cluster is a set of solver components joined by rows. Clusters are solved one at a
   * time. */
  bool* done;         /* true if the present solve has treated the closure, or the closure is open (size: closures) */
  int* cluster;       /* for every tree: first tree of its cluster (size: trees) */
  int* component;     /* for every tree: component of the solver to which the tree belongs (size: trees) */
  int* first_tree;    /* first tree of every component (size: trees) */
  int* solved_for;    /* scratch of closures_solve.c: last group of four Jacobian columns that has entries in each
                         component, or -1 (size: trees) */
  int* touched;       /* components in which the present four columns have entries (size: trees) */
  unsigned* touching; /* for every component: bits of the four columns that have entries in it (size: trees) */
  DofRun* run;        /* degrees of freedom of the cluster, as consecutive ranges (size: trees) */
  int* active;        /* rows of the cluster, as indices into `nonzero_rows` (size: rows) */
  double* column; /* columns of H^-1 C^T: displacements of the coordinates by a unit force of each row of the cluster.
                     H: Hessian; C: derivatives of the rows. `width` numbers for each degree of freedom (size: nv x
                     capacity) */
  /* matrix: C H^-1 C^T of the cluster's rows (capacity^2); right: right-hand side (size: capacity) */
  double *matrix, *right;
  double *unit, *work; /* unit: scaling factors of the multipliers (capacity); work: workspace (2 capacity) */
  double* separation;  /* closure error c of each row, divided by the row's reference size (size: capacity) */
  int width;           /* number of rows of the cluster, rounded up to a multiple of four */
  int capacity;        /* number of rows for which the arrays are allocated, a multiple of four */
} ClosureSystem;

/* Returns the number of rows of closure k, or of coupling k - closure_count. */
static inline int closure_row_count(const ClosureSystem* s, int k) {
  return k < s->model->closure_count ? s->model->closures[k].row_count : 1;
}
/* Returns the index of the first row of closure or coupling k in arrays over all rows. */
static inline int closure_first_row(const ClosureSystem* s, int k) {
  const Model* m = s->model;
  return k < m->closure_count ? m->closures[k].row_first : m->couplings[k - m->closure_count].row;
}
/* Returns true if the first three rows are of kind CLOSURE_POINT, along the three directions of ModelClosure.frame. */
static inline bool closure_has_points(const ModelClosure* c) {
  return c->type == CLOSURE_WELD || c->type == CLOSURE_BALL || c->type == CLOSURE_HINGE;
}
/* Returns the components of a world vector along the axes of the closure's point equations. */
static inline Vec3 closure_frame_components(const ModelClosure* c, Vec3 v) {
  return c->framed ? mat3_mul_vec(c->frame, v) : v;
}
static inline const ModelCoupling* closure_coupling(const ClosureSystem* s, int k) {
  return k < s->model->closure_count ? NULL : &s->model->couplings[k - s->model->closure_count];
}

/* Returns the closures of a run, or NULL if the model has no closures and couplings. The caller frees the result with
 * closures_destroy. tolerance: relative tolerance of the step. Borrows the model. */
ClosureSystem* closures_create(const Model* model, double tolerance);
/* Frees the system and everything that the system owns. Accepts NULL. */
void closures_destroy(ClosureSystem* system);

/* Returns the link poses and attachment points of a closure at poses[links], world axes [m] (Z1). */
ClosureAttachments closure_attachments(const ModelClosure* closure, const Pose* poses);
/* Returns the value c of one row of a closure [m], or a cosine for an ALIGN row. */
double closure_row_value(const ModelClosure* closure, const ClosureRow* row, const ClosureAttachments* attachments);
/* Returns the value c of a coupling [m or rad] at q[nq]. */
double closure_coupling_value(const ModelCoupling* coupling, const double* q);
/* Returns the derivative of the row's value with respect to the vector between the attachment points, world axes; zero
 * for an ALIGN row. */
Vec3 closure_row_direction(const ModelClosure* closure, const ClosureRow* row, const ClosureAttachments* attachments);
/* Sets values[rows] to the closure errors at poses[links] and q[nq], also for broken closures. Stores intermediate
 * results for closures_evaluate. */
void closures_compute_values(ClosureSystem* system, const Pose* poses, const double* q, double* values);
/* Sets value, stiffness, arms and torques of all closures and couplings. Includes broken closures, because
 * closures_restore can make them intact again. The results do not depend on the multipliers. Does nothing if q and
 * weight are the same as in the last call. poses[links], q[nq], reference[links], screws[nv] and weight are as for
 * closures_assemble. */
void closures_evaluate(ClosureSystem* system, const Pose* poses, const double* q, const Vec3* reference,
                       const Screw* screws, double weight);
/* Does the same as closures_evaluate, and also computes C, the derivatives of all rows with respect to the coordinates.
 * Newton directions and products with C require them. Does nothing if q has not changed. poses[links], q[nq],
 * reference[links], screws[nv]. */
void closures_compute_jacobian(ClosureSystem* system, const Pose* poses, const double* q, const Vec3* reference,
                               const Screw* screws, double weight);
/* Does the same as closures_compute_jacobian for closure or coupling k only, so that each closure can be placed at a
 * different configuration. Later calls do not reuse the results. Must not be mixed with closures_evaluate on the same
 * system. poses[links], q[nq], reference[links], screws[nv]. */
void closures_evaluate_one(ClosureSystem* system, int k, const Pose* poses, const double* q, const Vec3* reference,
                           const Screw* screws, double weight);
/* Returns the scalar product of x[nv] and the derivatives of one row's equation with respect to the coordinates. k:
 * closure or coupling; row: row of k. Call after closures_compute_jacobian. */
double closures_row_product(const ClosureSystem* system, int k, int row, const double* x);
/* Adds factor times the derivatives of one row's equation with respect to the coordinates to x[nv]. k: closure or
 * coupling; row: row of k. */
void closures_add_row(const ClosureSystem* system, int k, int row, double factor, double* x);
/* Adds the magnitudes of factor times the derivatives of one row's equation with respect to the coordinates to x[nv].
 * k: closure or coupling; row: row of k. */
void closures_add_row_magnitudes(const ClosureSystem* system, int k, int row, double factor, double* x);
/* Computes values, stiffness and terms of all closures and couplings at poses[links] and q[nq]. Also computes the
 * derivatives with respect to coordinates if system->has_target_force is true. reference[links]: centres of mass [m];
 * screws[nv]. weight: weight of the inertial energy, StepWeights.factor / dt^2 [1/s^2]. */
void closures_assemble(ClosureSystem* system, const Pose* poses, const double* q, const Vec3* reference,
                       const Screw* screws, double weight);
/* Returns the terms of the closures for Assembly, borrowed until the next closures_assemble. Link -1 is the world; both
 * links of an open closure are -1. Returns an empty list if system is NULL. */
ContactTermList closures_terms(const ClosureSystem* system);
/* Sets the members rows and couplings of *assembly, which are borrowed until the next closures_assemble. Does nothing
 * if system is NULL. */
void closures_set_assembly_rows(const ClosureSystem* system, Assembly* assembly);
/* Adds the magnitudes of the forces of couplings and of the row forces system->target_force, at the assembled
 * configuration, to force_scale[nv] [N, N m]. */
void closures_add_force_magnitudes(const ClosureSystem* system, double* force_scale);
/* Returns the error of closure or coupling k divided by its tolerance. Results up to 1 count as closed. Returns 0 for
 * an open closure. values[rows]: closure errors [m, 1]. */
double closure_relative_error(const ClosureSystem* system, int k, const double* values);
static inline bool closure_is_satisfied(const ClosureSystem* system, int closure) { return system->gap[closure] <= 1; }
/* Returns the index of a closure whose initial error is too large, or -1 if there is none. The first step would close
 * such an error with large velocities. poses[links], q[nq]: initial state. Returns -1 if system is NULL. Sets
 * system->value. */
int closures_find_open_at_start(ClosureSystem* system, const Pose* poses, const double* q);
/* Returns the reference size of a row's value. It is the size of the closure's links for a row that is a length [m], 1
 * for a row that is a cosine, and ModelCoupling.size for a coupling [m or rad]. */
double closure_row_size(const ClosureSystem* system, int k, int row);
/* Returns the largest closure_relative_error of all closures and couplings, or 0 if system is NULL. Sets *worst, unless
 * NULL, to the index of this closure. *worst is unchanged if the result is 0. */
double closures_largest_error(const ClosureSystem* system, int* worst);
/* Returns the largest absolute constraint error of closure or coupling k [m or rad]. The errors of its rows are read
 * from system->value. */
double closure_absolute_error(const ClosureSystem* system, int k);
/* Returns the energy of closure k [J], the sum of mu c + rho/2 c^2 over its rows; 0 for an open closure. mu:
 * multiplier; rho: stiffness; c: error of the row, values[rows]. */
double closure_energy(const ClosureSystem* system, int k, const double* values);
/* Returns the rounding error of the energy of closure k that the rounding of positions causes at the assembled
 * configuration [J]. Sets system->energy[k]. */
double closure_rounding(ClosureSystem* system, int k);
/* Computes the torque [N m] and force [N] of closure k on both links for given multipliers. wrench: torque about the
 * centre of mass and force on link a, then on link b. nu[rows]: multipliers [N, N m]. The stiffness is not included.
 * poses[links]; reference[links]: centres of mass. Not for couplings. */
void closure_row_wrench(const ClosureSystem* system, int k, const Pose* poses, const Vec3* reference, const double* nu,
                        double wrench[12]);
/* Returns a link of closure k that belongs to a tree. Every closure has such a link. */
int closure_link(const ClosureSystem* system, int k);

/* Corrects a solution x[nv] of the linear system H x = b so that x satisfies the closure equations. Finds the change of
 * the rows' multipliers [N or N m] for which x' = x - H^-1 C^T change satisfies C x' = -values, or C x' = 0 if values
 * is NULL. Replaces x by x'. Dependent rows are solved in the least-squares sense with the smallest change. If
 * values is system->value, the present errors of the rows, rows that differ only by these errors count as dependent.
 * solved (components): components of the solver to use; NULL means all. Sets change[rows] for the rows of these
 * components, and to 0 for other rows. fixed[nv]: degrees of freedom that the solver keeps constant. Call after the
 * components of the solver are factored. Returns false if the result is not finite. */
bool closures_solve(ClosureSystem* system, BlockSolver* solver, const bool* solved, const bool* fixed,
                    const double* values, double* x, double* change);
/* Sets system->nonzero_rows to the rows that have nonzero slopes. closures_compute_jacobian calls this function when
 * slopes have changed. */
void closures_list_nonzero_rows(ClosureSystem* system);
/* Marks all components of the solver that closures connect to a marked component, directly or indirectly. marked
 * (components): changed in place. */
void closures_mark_connected(const ClosureSystem* system, BlockSolver* solver, bool* marked);
/* Adds the generalized forces of a change of the multipliers, change[rows], to gradient[nv]. Does nothing if system is
 * NULL. */
void closures_add_force(const ClosureSystem* system, const double* change, double* gradient);
/* Adds factor times the generalized forces of the closures' stiffness (stiffness times error of each row) at the
 * assembled configuration to gradient[nv] [N, N m]. */
void closures_add_stiffness_force(ClosureSystem* system, double factor, double* gradient);
/* Raises system->stiffening to the next larger value. Only the Hessian of the Newton direction contains this factor
 * (Z3). Returns false if the largest value was already in use, and then resets the factor to 1. */
bool closures_stiffen(ClosureSystem* system);

/* Prepares the multipliers for a new step. They become the accepted ones minus the forces system->target_force. Makes
 * the Hessian include the curvature of every closure. */
void closures_begin_step(ClosureSystem* system);
/* Makes the Hessian omit the curvature of the equations of marked closures from the next assembly on. Closure k is
 * marked if marked[closure_link(k)] is true. marked[links]. */
void closures_omit_curvature(ClosureSystem* system, const bool* marked);
/* Makes the Hessian include the curvature of all closures again. */
void closures_include_curvature(ClosureSystem* system);
/* Accepts the multipliers of the last iteration, and opens overloaded closures. Call when the substep of `clock` is
 * accepted. Opens the closure of an END_AT_CLOSURE_OPENING substep, and closures whose force exceeded the limit in the
 * first substep that counts. Sets ClosureForceHistory.opening_fraction of the other closures (Z21). */
void closures_advance(ClosureSystem* system, const StepClock* clock);
/* Returns the magnitude of the force on the attachment points of closure k [N]. The row forces are multiplier[rows] +
 * target_force[rows]. */
double closure_force(const ClosureSystem* system, int k, const double* multiplier, const double* target_force);
/* Returns the index of the closure that opens first in the next substep (ClosureForceHistory.opening_fraction), or -1
 * if none opens. system may be NULL. */
int closures_find_opening(const ClosureSystem* system);
/* Stores the joint increments of a solved step, increments[nv] [m, rad], for extrapolation. even: true if this step and
 * the previous step have the same length. */
void closures_store_increments(ClosureSystem* system, const double* increments, bool even);
/* Extrapolates increments[nv] [m, rad] of trees with closures from past steps by a polynomial (Z10). Other entries are
 * unchanged. Does nothing until two steps of equal length are stored. */
void closures_extrapolate(const ClosureSystem* system, double* increments);
/* Sets system->tolerance_factor, the factor on the tolerance, after `iterations` iterations of Newton's method. Before
 * the first iteration, the extrapolated start must meet only a fraction of the tolerance. tolerance: relative tolerance
 * of the step. */
void closures_set_tolerance_factor(ClosureSystem* system, int iterations, double tolerance);
/* Returns the factor on the tolerance for the residuals of a tree (Z10): at most 1 for a tree with closures, 1 for
 * other trees. */
static inline double closures_tolerance_factor(const ClosureSystem* system, int tree) {
  return system->tree_has_closures[tree] ? system->tolerance_factor : 1;
}
/* Stores the multipliers of the present state, and which closures are open. */
void closures_save(ClosureSystem* system);
/* Restores the state stored by closures_save. Closures that broke after closures_save are intact again. */
void closures_restore(ClosureSystem* system);
/* Writes or reads the state that persists between steps, or measures its size. The state consists of multipliers (rows)
 * [N, N m], breaking times [s], past increments, and SimJoin of closures with `active`. */
void closures_serialize_state(ClosureSystem* system, StateBlock* block);

/* ---- simulate/closures_switch.c: closures with a signal `active`, which opens and closes them
 * (docs/derivations/closures.md, Z12) */
/* Returns a copy of the model with a separate array of closures, which the run rewrites when closures close. Returns
 * NULL if no closure has `active`. The caller frees the copy with closures_free_model. */
Model* closures_copy_model(const Model* model);
/* Frees the copy of closures_copy_model. Accepts NULL. */
void closures_free_model(Model* copy);
/* Allocates the data of closures with `active`, all open at first. start[links]: poses at which the model's closures
 * were placed; they give the relative poses of b and a. closures_destroy frees the arrays. system->model must be the
 * result of closures_copy_model. */
void closures_switch_create(ClosureSystem* system, const Pose* start);
/* Smallest time between a closing closure and the start or end of a substep, as a fraction of the time step (Z20).
 * Rounding would dominate speeds over a shorter substep. */
#define CLOSING_TIME_MIN 1e-5
/* Opens or closes each closure as its `active` signal requires, before a substep that starts at `time` [s]. begin:
 * start of the step [s], at most `time`. A closure closes at the present relative pose of its links. A closure with
 * `within` closes only if the distance of its points is at most `within`, or will be after a fraction CLOSING_TIME_MIN
 * of a substep. A closure that opened in the step remains open until the step ends. poses[links]: present poses;
 * old[links]: poses before the last substep. system may be NULL. Returns true if a closure closes, which dissipates
 * energy. */
bool closures_update_active(ClosureSystem* system, const Pose* poses, const Pose* old, double begin, double time);
/* A closure whose distance falls below the closing distance `within` during a substep. */
typedef struct {
  int closure;
  double before, after; /* before: distance minus `within`, divided by `within`, at the start of the substep; after: the
                           same ratio at the end */
} ClosingClosure;
/* Returns true if the distance of an open closure that may close falls below its `within` during a motion. now[links],
 * ahead[links]: poses at the start and at the end of the motion. Sets *entry to the first such closure. begin: start
 * time of the step [s]. system may be NULL. */
bool closures_find_closing(const ClosureSystem* system, const Pose* now, const Pose* ahead, double begin,
                           ClosingClosure* entry);
/* Returns true if closures_update_active would close a closure at the poses ahead[links] that is not near enough at
 * now[links]. Its distance at now[links] is above `within`. Sets *entry to this closure. begin: start time of the step
 * [s]. system may be NULL. */
bool closures_find_closing_at_end(const ClosureSystem* system, const Pose* now, const Pose* ahead, double begin,
                                  ClosingClosure* entry);
/* Returns the distance of the points of closure k at poses[links] minus its `within`, divided by `within`. */
double closures_range_excess(const Model* model, int k, const Pose* poses);
/* Adds the derivatives of closures_range_excess with respect to the poses, at poses[links], to bar[links]. */
void closures_range_excess_adjoint(const Model* model, int k, const Pose* poses, double (*bar)[3][4]);
static inline bool closures_have_events(const ClosureSystem* system) { return system && system->has_range_closures; }
/* Places all closures with a signal `active` at the relative poses of their links in joined[closures], and marks each
 * as open or closed accordingly. */
void closures_apply_joined(ClosureSystem* system, const SimJoin* joined);
/* Returns true if k is a closure with a signal `active`, false for couplings and other closures. */
static inline bool closure_is_switched(const Model* model, int k) {
  return k < model->closure_count && model->closures[k].active.source;
}

/* Appends the name of a closure or coupling to text, e.g. `the hinge of 'rod' and 'piston'` or `the coupling of 'rack'`
 * (simulate/failure.c). index: closures first, then couplings. */
void closure_add_name(Text* text, const Model* model, int index);
/* Returns error and force of a coupling, the result of sim_coupling. k: index of Model.couplings; q[nq] [m, rad]. */
SimClosure coupling_state(const ClosureSystem* system, int k, const double* q);
/* Returns errors and forces of a closure, the result of sim_closure. k: index of Model.closures. poses[links]: poses of
 * the present state. For a broken closure, all members except broken and broken_at are 0. */
SimClosure closure_state(const ClosureSystem* system, int k, const Pose* poses);

#endif
