/* Private to simulate/: equations c(q) = 0 that hold at the end of every step, their forces and their part in Newton's
 * method (docs/derivations/closures.md). With the multipliers mu [N, N m] the step minimizes
 *   O(q) + sum mu c + sum rho/2 c^2                                                                          (Z2)
 * over q, and mu is what makes the motion along Newton's direction close: C delta = -c (Z3). */
#ifndef SDRS_SIMULATE_CLOSURES_H
#define SDRS_SIMULATE_CLOSURES_H

#include "simulate/simulate.h"
#include "simulate/terms.h"

/* Terms of one closure, summed over its rows. */
typedef struct {
  Vec3 force[2];
  Mat3 moment[2];
  double hessian[12][12]; /* of mu and rho c times the rows' second derivatives; rho C^T C is added along the dofs */
} ClosureSum;

/* The ends of a closure, and what its rows are made of. */
typedef struct {
  Pose pose[2];
  Vec3 end[2], apart; /* world [m] */
} ClosureEnds;

/* A row in the world: directions of ALIGN; the force on a (on b its opposite) and the torques about both centres that a
 * unit of its multiplier gives. */
typedef struct {
  Vec3 u, v, force, torque[2];
} ClosureRowPlace;

/* Number of steps from which the next is extrapolated. */
enum { WAYS = 4 };

/* A row that some joint moves: of which closure, which of its rows, its number among all. */
typedef struct {
  int closure, row, index;
} ClosureActive;

/* A row of slopes with the degrees of freedom that they are of  (count). */
typedef struct {
  int count;
  const int* dof;
  const double* slope;
} SlopeRow;

/* Both of one row. */
typedef struct {
  ClosureActive of;
  SlopeRow along;
} MovingRow;

/* Degrees of freedom first .. end - 1. */
typedef struct {
  int first, end;
} DofRun;

/* How easily the links at both ends follow, by themselves. */
typedef struct {
  double move[2], turn[2]; /* 1/kg, 1/(kg m^2) */
} ClosureEase;

typedef struct ClosureSystem {
  const Model* model;
  int count, row_count; /* of closures, then couplings: `closure` below is any of them */
  double gap_before;    /* of the Newton iteration before */
  double exact;         /* part of a closure's size, and angle, that it holds to */
  /* of every row */
  double *multiplier, *accepted, *saved, *kept; /* of the iteration, the present state, the step's begin, of
                                               another direction [N or N m] */
  double *stiffness, *value;                    /* rho [N/m ...], c at the configuration that was assembled [m, 1] */
  double* change;                               /* of the multipliers, by the last direction */
  double* pushed;                               /* scratch of closures_add_stiff_force */
  double* aimed; /* forces in the step's aim, beside the multipliers [N or N m] (spin.md, W15) */
  bool aims;     /* some of them are not 0 */
  /* of every closure */
  bool *open, *open_saved; /* it has broken */
  bool ambiguous;          /* a direction of this step found rows that say the same twice */
  double stiffening;       /* weight of rho C^T C in the step's Hessian, which was indefinite with less */
  bool* convex;            /* the curvature of its equations is left out */
  double* broken_at;       /* time of the state in which it broke; INFINITY: it holds [s] */
  ModelClosure* placed;    /* those of the model, which stand where they closed; NULL: none has `active` (closures) */
  SimJoin* joined;         /* since when they hold, and where; NULL alike (closures) */
  Vec3* direction;         /* ClosureRow.v in the frame of a, at the start (rows) */
  ClosureEase* ease;
  ClosureSum* sum;      /* terms at the configuration that was assembled */
  double* gap;          /* closure_gap there */
  double* energy;       /* closure_energy there, of the multipliers that closure_rounding found [J] */
  double* extent;       /* how large its positions are: what they are rounded by [m] */
  int *dof_first, *dof; /* degrees of freedom that move an end: closure k has dof[dof_first[k] .. dof_first[k+1]-1] */
  int* dof_tree;        /* the tree of each of these, in their order */
  int* dof_beyond;      /* and the first behind it that is of another tree, or another closure's */
  int* home;            /* a link of its that has a tree */
  uint64_t* pairs;      /* trees that they couple, a << 32 | b with a < b, sorted  (pair_count) */
  int pair_count;
  int* group;             /* of every tree: the first of those that closures join it to, through others too  (trees) */
  CouplingTerms* coupled; /* terms of the couplings */
  RowTerms* rows;         /* rho C^T C of the closures */
  bool* moves;            /* of every row: some joint moves it */
  unsigned* moved;        /* the same of every closure, bits */
  unsigned char* side;    /* which end each of them moves: bits */
  size_t* slope_first;    /* where the closure's rows begin in slope */
  double* slope;          /* C, row by row over the closure's dof */
  MovingRow* moving;      /* the rows that move, of all closures and couplings  (rows) */
  int moving_count;
  /* the last steps of their trees (Z10) */
  bool* tree_moves_on; /* of every tree: one of them acts on it */
  int way_count;       /* steps of equal length behind the present state, up to WAYS */
  double* way;         /* their increments, the last first; and those of closures_save  (2 WAYS, nv) [m, rad] */
  int way_count_saved;
  double share; /* fraction of the tolerance that these trees must meet in this round (Z10) */
  /* found at coordinates, and kept for as long as these stay */
  bool found;
  double* found_q;        /* (nq) */
  double* found_value;    /* c there [m, 1]  (rows) */
  ClosureEnds* ends;      /* (closures) */
  ClosureRowPlace* place; /* directions and forces; torques once it is placed  (rows) */
  /* at the same coordinates and a weight */
  double placed_weight; /* -1: not placed there yet */
  bool sloped;          /* slopes and moves are those of these coordinates */
  Vec3 (*arm)[2];       /* of the ends, from the links' centres of mass [m]  (closures) */
  /* work of closures_solve, of one cluster at a time: components of the solver that rows join */
  bool* done;             /* (closures) */
  int* cluster;           /* of every tree: the first of its cluster  (trees) */
  int* component;         /* of every tree  (trees) */
  int* first_tree;        /* of every component  (trees) */
  int* solved_for;        /* of every component: with which columns it was solved last  (trees) */
  int* touched;           /* components that four columns lie in  (trees) */
  unsigned* touching;     /* of every component, which of the four: bits  (trees) */
  DofRun* run;            /* its degrees of freedom, run by run  (trees) */
  int* active;            /* which of the rows that move  (rows) */
  double* column;         /* H^-1 C^T, `width` columns beside each other  (nv, capacity) */
  double *matrix, *right; /* C H^-1 C^T of its rows, right-hand side   (capacity^2, capacity) */
  double *unit, *work;    /* what their multipliers are measured in    (capacity, 2 capacity) */
  double* apart;          /* how far they are open, over their size    (capacity) */
  int width;              /* rows of the cluster, up to whole fours */
  int capacity;           /* rows, whole fours */
} ClosureSystem;

/* Rows of a closure or coupling, and the first of them. */
static inline int closure_rows(const ClosureSystem* s, int k) {
  return k < s->model->closure_count ? s->model->closures[k].row_count : 1;
}
/* Index of its first row among those of all closures and couplings. */
static inline int closure_first(const ClosureSystem* s, int k) {
  const Model* m = s->model;
  return k < m->closure_count ? m->closures[k].row_first : m->couplings[k - m->closure_count].row;
}
/* Returns whether its first three rows are points, along the three directions of its frame. */
static inline bool closure_has_points(const ModelClosure* c) {
  return c->type == CLOSURE_WELD || c->type == CLOSURE_BALL || c->type == CLOSURE_HINGE;
}
/* Returns a world vector in the directions along which the closure's points are measured. */
static inline Vec3 closure_framed(const ModelClosure* c, Vec3 v) { return c->framed ? mat3_mul_vec(c->frame, v) : v; }
/* NULL: k is a closure. */
static inline const ModelCoupling* closure_coupling(const ClosureSystem* s, int k) {
  return k < s->model->closure_count ? NULL : &s->model->couplings[k - s->model->closure_count];
}

/* NULL: the model has none. tolerance: of the step, relative. Borrows the model; freed with closures_destroy. */
ClosureSystem* closures_create(const Model* model, double tolerance);
/* Frees it and all that it owns; NULL is accepted. */
void closures_destroy(ClosureSystem* system);

/* The equations (Z1), each with its place among the closure's rows. Both ends from the poses[links], world [m]. */
ClosureEnds closure_ends(const ModelClosure* closure, const Pose* poses);
/* c of one row [m], of directions without unit (a cosine). */
double closure_row_value(const ModelClosure* closure, const ClosureRow* row, const ClosureEnds* ends);
/* The same of a coupling [m or rad]; q[nq]. */
double closure_coupling_value(const ModelCoupling* coupling, const double* q);
/* The direction that the row measures `apart` along; zero for directions. */
Vec3 closure_row_direction(const ModelClosure* closure, const ClosureRow* row, const ClosureEnds* ends);
/* Values of all rows at the poses[rows]. values[rows], set, of closures that have broken too. Where the rows stand
 * there is kept for closures_place. */
void closures_values(ClosureSystem* system, const Pose* poses, const double* q, double* values);
/* Values and stiffness of all closures, which the multipliers have no part in, broken ones too: they may be put back.
 * Arguments are those of closures_assemble. Kept for as long as q and weight stay what they are. poses, reference
 * [links], q[nq], screws[nv]. */
void closures_place(ClosureSystem* system, const Pose* poses, const double* q, const Vec3* reference,
                    const Screw* screws, double weight);
/* The same and the slopes, which only directions and sums along the degrees of freedom ask for: what is said below of
 * rows `as placed`. Kept alike. poses, reference[links], q[nq], screws[nv]. */
void closures_find_slopes(ClosureSystem* system, const Pose* poses, const double* q, const Vec3* reference,
                          const Screw* screws, double weight);
/* All of it for one closure or coupling alone, wherever the others stand; nothing of it is kept for later calls. poses,
 * reference[links], q[nq], screws[nv]. Not for a system that closures_place is asked of. */
void closures_place_one(ClosureSystem* system, int k, const Pose* poses, const double* q, const Vec3* reference,
                        const Screw* screws, double weight);
/* C x of one row of closure k, as placed. x[nv]. */
double closures_row_product(const ClosureSystem* system, int k, int row, const double* x);
/* x += factor C^T of one row. x[nv]. */
void closures_add_row(const ClosureSystem* system, int k, int row, double factor, double* x);
/* The same of the entries' sizes. x[nv]. */
void closures_add_size(const ClosureSystem* system, int k, int row, double factor, double* x);
/* Everything at the poses: values, stiffness, terms; slopes where a step aims with forces of closures. weight: factor /
 * dt^2 [1/s^2]. reference[links]: centres of mass [m]; screws[nv]. */
void closures_assemble(ClosureSystem* system, const Pose* poses, const double* q, const Vec3* reference,
                       const Screw* screws, double weight);
/* The terms for Assembly; link -1: the world. Borrowed until the next closures_assemble; system NULL: an empty list. */
ContactTermList closures_terms(const ClosureSystem* system);
/* Those of couplings; system may be NULL. Borrowed alike. */
void closures_couple(const ClosureSystem* system, Assembly* assembly);
/* Sizes of the couplings' forces, added to those at work (nv). [N, N m]; of the configuration that was assembled. */
void closures_add_work(const ClosureSystem* system, double* at_work);
/* How far the closure is from closed, in what is promised: closed up to 1. One that has broken: 0. Without unit; values
 * (rows) [m, 1]. */
double closure_gap(const ClosureSystem* system, int k, const double* values);
/* Is it closed, at the configuration that was assembled? */
static inline bool closure_holds(const ClosureSystem* system, int closure) { return system->gap[closure] <= 1; }
/* A closure at the present poses that is so far open that a first step should not tear it shut: its number, or -1.
 * Sets value. system NULL: -1. poses[links], q[nq]. */
int closures_open_at_start(ClosureSystem* system, const Pose* poses, const double* q);
/* Returns the reference size of a row's value: the size of the closure's links [m], 1 for directions; for a coupling
 * its own [m or rad]. */
double closure_row_size(const ClosureSystem* system, int k, int row);
/* The largest of all; *worst (or NULL): whose. system NULL: 0. *worst stays as it is when the gap is 0. */
double closures_gap(const ClosureSystem* system, int* worst);
/* Its largest value [m or rad]. Of the values that stand in the system. */
double closure_open_by(const ClosureSystem* system, int k);
/* Energy of a closure, from its rows' values [J]. values[rows]; 0 when it has broken. */
double closure_energy(const ClosureSystem* system, int k, const double* values);
/* Smallest energy that means something, from that of positions [J], at the configuration that was assembled. Sets
 * energy[k]. */
double closure_rounding(ClosureSystem* system, int k);
/* Torque and force (about the centre of mass) of both ends, a first, of the rows' multipliers nu alone. nu[rows] [N, N
 * m]; wrench: torque [N m] and force [N] of a, then of b. Not for couplings. */
void closure_row_wrench(const ClosureSystem* system, int k, const Pose* poses, const Vec3* reference, const double* nu,
                        double wrench[12]);
/* The first link of the closure that has a tree; at least one has. An index below Model.link_count. */
int closure_link(const ClosureSystem* system, int k);

/* Applies the closure equations to x = H^-1 (..) after components of the solver were factored. It finds the change of
 * the rows' multipliers for which x - H^-1 C^T change satisfies C x = -values (values NULL: = 0), and subtracts the
 * second term from x. Dependent rows: least squares, smallest change. If values are the system's own, the rows' present
 * errors, rows that differ only by these count as dependent. solved (components; NULL: all): components to use.
 * change[rows] is set for their rows, 0 for others. fixed: degrees of freedom that the solver holds. x[nv] is changed
 * in place; multipliers in N or N m. Returns false if the result is not finite. */
bool closures_solve(ClosureSystem* system, BlockSolver* solver, const bool* solved, const bool* fixed,
                    const double* values, double* x, double* change);
/* After slopes were set: which rows have any (closures_find_slopes does it). */
void closures_list_moving(ClosureSystem* system);
/* Extends marks on components of the solver to all components that closures connect to them, directly or through
 * others. marked (components): changed in place. */
void closures_spread(const ClosureSystem* system, BlockSolver* solver, bool* marked);
/* g += C^T change. gradient[nv], change[rows]; system NULL: nothing. */
void closures_add_force(const ClosureSystem* system, const double* change, double* gradient);
/* g += factor C^T rho c. gradient[nv] [N, N m], at the configuration that was assembled. */
void closures_add_stiff_force(ClosureSystem* system, double factor, double* gradient);
/* The next larger stiffening, which only the direction's matrix sees (Z3). false: there is none, and it is 1 again. */
bool closures_stiffen(ClosureSystem* system);

/* Sets the multipliers to those of the start of a step, without those in its aim, and gives every closure its curvature
 * again. */
void closures_begin(ClosureSystem* system);
/* Stores the multipliers before a direction of another model than the objective's own. One set is stored at a time. */
void closures_keep(ClosureSystem* system);
/* Restores the multipliers of closures_keep. */
void closures_put_back(ClosureSystem* system);
/* Omits the curvature of the equations in the next terms, for closures of marked links. marked (links). */
void closures_straighten(ClosureSystem* system, const bool* marked);
/* Restores the curvature of all closures. */
void closures_bend(ClosureSystem* system);
/* Accepts the multipliers of the iteration for a step that ends at `time` [s], and breaks closures with too large a
 * force from then on (Z5). */
void closures_advance(ClosureSystem* system, double time);
/* Stores the increments of a solved step (nv) [m, rad]. even: it is as long as the step before. */
void closures_note_way(ClosureSystem* system, const double* increments, bool even);
/* Extrapolates increments[nv] [m, rad] from the last steps by a polynomial, for trees with closures (Z10). Others are
 * unchanged, and all before the second step. */
void closures_foretell(const ClosureSystem* system, double* increments);
/* Call before a solve by Newton's method, with the iterations so far. tolerance: relative, of the step. */
void closures_begin_round(ClosureSystem* system, int iterations, double tolerance);
/* Returns the fraction of the tolerance to which the tree is solved (Z10). */
static inline double closures_share(const ClosureSystem* system, int tree) {
  return system->tree_moves_on[tree] ? system->share : 1;
}
/* Stores multipliers and broken closures of the present state. */
void closures_save(ClosureSystem* system);
/* Restores the state of closures_save; closures that broke since are intact again. */
void closures_restore(ClosureSystem* system);
/* Passes the state that lasts from one step to the next: forces (rows) [N, N m], and times at which closures broke
 * (closures) [s]. */
void closures_pass_state(ClosureSystem* system, StateBlock* block);

/* ---- simulate/closures_switch.c: closures with `active` (docs/derivations/closures.md, Z12) */
/* A copy of the model with closures of its own, for a run in which some are switched; NULL: none is. Freed with
 * closures_free_model. */
Model* closures_own_model(const Model* model);
/* Frees it; NULL is accepted. */
void closures_free_model(Model* own);
/* Notes where b stands in a's frame at the start, where the model's closures were placed: start[links], copied. The
 * arrays are the system's, freed with it. system->model must be that of closures_own_model. */
void closures_switch_create(ClosureSystem* system, const Pose* start);
/* Before a step from this time [s]: those whose signal says so open, or close where they find their links. poses
 * (links). True: one closes, and takes energy from its links. */
bool closures_switch(ClosureSystem* system, const Pose* poses, double time);
/* Places all as joined (closures) says; open and closed. */
void closures_put(ClosureSystem* system, const SimJoin* joined);
/* Has closure k a signal? */
static inline bool closure_is_switched(const Model* model, int k) {
  return k < model->closure_count && model->closures[k].active.source;
}

/* `the hinge of 'rod' and 'piston'`, or `the coupling of 'rack'` (simulate/failure.c). index: couplings follow the
 * closures. */
void closure_add_name(Text* text, const Model* model, int index);
/* Returns the results of sim_coupling and sim_closure. k: index of Model.couplings, or of its closures; q[nq] [m, rad].
 */
SimClosure coupling_state(const ClosureSystem* system, int k, const double* q);
/* poses[links]: of the present state. All 0 once it has broken, but for broken_at. */
SimClosure closure_state(const ClosureSystem* system, int k, const Pose* poses);

#endif
