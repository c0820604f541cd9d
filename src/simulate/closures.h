/* Private to simulate/: equations c(q) = 0 that hold at the end of every step, their forces and their share in Newton's
 * method (docs/derivations/closures.md). The step minimizes over q
 *   O(q) + sum mu c + sum rho/2 c^2,                                                                         (Z2)
 * O: objective without closures; mu: multipliers [N, N m]. mu makes Newton's direction delta close: C delta = -c
 * (Z3). */
#ifndef SDRS_SIMULATE_CLOSURES_H
#define SDRS_SIMULATE_CLOSURES_H

#include "simulate/simulate.h"
#include "simulate/terms.h"

/* Terms of one closure, summed over its rows. */
typedef struct {
  Vec3 force[2];
  Mat3 moment[2];
  double hessian[12][12]; /* sum over rows of (mu + rho c) d2c / d(twists)^2; rho C^T C is added in joint coordinates
                             (RowTerms) */
} ClosureSum;

/* Poses of both links of a closure, and its attachment points in the world. */
typedef struct {
  Pose pose[2];
  Vec3 end[2], apart; /* apart = end[0] - end[1] */
} ClosureEnds;

/* A row in the world. u, v: the two directions of an ALIGN row. force, torque: force on a (b receives the opposite) and
 * torques on a and b about their centres of mass, per unit of the row's multiplier. */
typedef struct {
  Vec3 u, v, force, torque[2];
} ClosureRowPlace;

/* Force of a closure with a force limit (Z5, Z21). */
typedef struct {
  double before, now; /* force in the last two substeps that count [N] */
  int known;          /* how many of the two exist */
  int skipped;        /* substeps since closing, whose forces do not count, at most CLOSING_SUBSTEPS */
  double due;         /* fraction of the next substep after which it opens; INFINITY: does not */
} ClosureLoad;
/* Substeps after closing whose force contains the impulse that ends the relative motion. second_order ends that motion
 * over three substeps. */
enum { CLOSING_SUBSTEPS = 1, CLOSING_SUBSTEPS_SECOND_ORDER = 3 };

/* Largest number of past steps from which the next step's increments are extrapolated. */
enum { WAYS = 4 };

/* A row whose slope C is not zero: closure (or coupling), row within it, and index among all rows. */
typedef struct {
  int closure, row, index;
} ClosureActive;

/* Nonzero entries of a row of C: slope[n] is the entry of degree of freedom dof[n], n < count. */
typedef struct {
  int count;
  const int* dof;
  const double* slope;
} SlopeRow;

/* A moving row and its slopes. */
typedef struct {
  ClosureActive of;
  SlopeRow along;
} MovingRow;

/* The degrees of freedom first .. end - 1. */
typedef struct {
  int first, end;
} DofRun;

/* Mobilities of the links at both ends, each as a free body; 0 for a link that cannot move. */
typedef struct {
  double move[2], turn[2]; /* 1 / mass [1/kg]; 1 / (half the trace of the inertia tensor) [1/(kg m^2)] */
} ClosureEase;

typedef struct ClosureSystem {
  const Model* model;
  int count, row_count; /* count: closures, then couplings; a `closure` k below is an index into this list */
  double gap_before;    /* largest closure gap in the previous Newton iteration */
  double exact;         /* tolerance of closure errors, relative to the closure's size or in rad */
  /* arrays over all rows (rows) */
  double *multiplier, *accepted, *saved, *kept; /* mu of the iteration, of the present state, at the start of the step,
                                                   stored by closures_keep [N or N m] */
  double *stiffness, *value;                    /* rho [N/m, N m/rad], and c at the assembled configuration [m or 1] */
  double* change;                               /* change of mu by the last Newton direction */
  double* pushed;                               /* scratch of closures_add_stiff_force */
  double* aimed; /* row forces that the aims of flying trees contain; they add to mu [N or N m] (spin.md, W15) */
  bool aims;     /* some entry of `aimed` is not 0 */
  /* arrays over all closures and couplings */
  bool *open, *open_saved; /* open: broken or switched off; open_saved: the same at the start of the step */
  bool ambiguous;          /* a direction of this step found linearly dependent rows */
  double stiffening;       /* factor of rho C^T C in the Hessian of the direction; raised until the Hessian is positive
                              definite */
  bool* convex;            /* true: the second derivatives of its equations are left out of the Hessian */
  double* broken_at;       /* time of the state in which it broke; INFINITY: intact [s] */
  ModelClosure* placed; /* the model's closures, which the run rewrites when one closes; NULL: no closure has `active`
                           (closures) */
  SimJoin* joined;      /* time of closing and relative pose then; NULL if `placed` is NULL (closures) */
  bool meets;           /* some closure has `within` */
  bool limited;         /* some closure has a force limit */
  int closing_substeps; /* CLOSING_SUBSTEPS of the integrator */
  ClosureLoad *load, *load_saved; /* now, and at the start of the step; NULL unless `limited` (closures) */
  SimJoin* joined_saved;          /* the same at the start of the step (closures) */
  Vec3* direction;                /* ClosureRow.v in the frame of a at the start; NULL if `placed` is NULL (rows) */
  ClosureEase* ease;
  ClosureSum* sum;      /* terms at the assembled configuration */
  double* gap;          /* closure_gap at the assembled configuration */
  double* energy;       /* closure_energy at the assembled configuration, set by closure_rounding [J] */
  double* extent;       /* largest length in its equations, to which their rounding error is proportional [m] */
  int *dof_first, *dof; /* degrees of freedom that move an end of closure k: dof[dof_first[k] .. dof_first[k+1]-1] */
  int* dof_tree;        /* tree of each entry of dof */
  int* dof_beyond; /* for each entry n of dof: index after n of the first entry that belongs to another tree or closure
                    */
  int* home;       /* one link of each closure that has a tree */
  uint64_t* pairs; /* pairs of trees that a closure couples, a << 32 | b with a < b, sorted (pair_count) */
  int pair_count;
  int* group; /* for every tree: first tree of the set joined to it by closures and couplings, directly or indirectly
                 (trees) */
  CouplingTerms* coupled; /* terms of the couplings for the assembly (couplings) */
  RowTerms* rows;         /* rho C^T C of the closures for the assembly (closures) */
  bool* moves;            /* true: some entry of the row of C is not zero (rows) */
  unsigned* moved;        /* `moves` of every closure as bits, bit i for its row i */
  unsigned char* side;    /* for each entry of dof: bit 0: it moves the end on a, bit 1: on b */
  size_t* slope_first;    /* index in `slope` of the first row of every closure */
  double* slope;          /* C, row by row, each over the degrees of freedom of its closure */
  MovingRow* moving;      /* the rows with `moves`, of all closures and couplings (moving_count) */
  int moving_count;
  /* increments of past steps, for the extrapolation (Z10) */
  bool* tree_moves_on; /* true: a closure or coupling acts on the tree (trees) */
  int way_count;       /* number of stored past steps, all of the present step's length, at most WAYS */
  double* way; /* increments of past steps, newest first, then the copy of closures_save (2 WAYS, nv) [m, rad] */
  int way_count_saved;
  double share; /* fraction of the step's tolerance that trees with closures must meet in this solve (Z10) */
  /* values at the coordinates found_q, reused while these stay the same */
  bool found;
  double* found_q;        /* coordinates of the last evaluation (nq) */
  double* found_value;    /* c at found_q [m, 1] (rows) */
  ClosureEnds* ends;      /* (closures) */
  ClosureRowPlace* place; /* u, v and force at found_q; torques too once placed_weight is set (rows) */
  /* stiffness, torques and slopes at found_q */
  double placed_weight; /* weight for which `stiffness` was computed; -1: not computed at found_q */
  bool sloped;          /* true: slope and moves belong to found_q */
  Vec3 (*arm)[2];       /* from the links' centres of mass to the attachment points [m] (closures) */
  /* workspace of closures_solve. A cluster is a set of solver components joined by rows; one is solved at a time. */
  bool* done;             /* closure is solved, or open (closures) */
  int* cluster;           /* for every tree: first tree of its cluster (trees) */
  int* component;         /* for every tree: its component of the solver (trees) */
  int* first_tree;        /* first tree of every component (trees) */
  int* solved_for;        /* scratch: for every component, the last group of four columns with entries in it (trees) */
  int* touched;           /* components in which the present four columns have entries (trees) */
  unsigned* touching;     /* for every component: bits of the four columns that have entries in it (trees) */
  DofRun* run;            /* degrees of freedom of the cluster, as consecutive ranges (trees) */
  int* active;            /* the cluster's rows, as indices into `moving` (rows) */
  double* column;         /* H^-1 C^T by degree of freedom, `width` columns each (nv, capacity) */
  double *matrix, *right; /* C H^-1 C^T of the cluster's rows, and the right-hand side (capacity^2, capacity) */
  double *unit, *work;    /* scaling of the multipliers, and workspace (capacity, 2 capacity) */
  double* apart;          /* closure error c of each row, divided by the row's reference size (capacity) */
  int width;              /* number of rows of the cluster, rounded up to a multiple of four */
  int capacity;           /* rows that the arrays have room for, a multiple of four */
} ClosureSystem;

/* Returns the number of rows of closure or coupling k. */
static inline int closure_rows(const ClosureSystem* s, int k) {
  return k < s->model->closure_count ? s->model->closures[k].row_count : 1;
}
/* Returns the index of the first row of closure or coupling k among all rows. */
static inline int closure_first(const ClosureSystem* s, int k) {
  const Model* m = s->model;
  return k < m->closure_count ? m->closures[k].row_first : m->couplings[k - m->closure_count].row;
}
/* Returns true if the first three rows are of kind CLOSURE_POINT, along the three directions of ModelClosure.frame. */
static inline bool closure_has_points(const ModelClosure* c) {
  return c->type == CLOSURE_WELD || c->type == CLOSURE_BALL || c->type == CLOSURE_HINGE;
}
/* Returns the components of a world vector along the directions in which the closure's points are measured. */
static inline Vec3 closure_framed(const ModelClosure* c, Vec3 v) { return c->framed ? mat3_mul_vec(c->frame, v) : v; }
/* Returns the coupling with index k, or NULL if k is a closure. */
static inline const ModelCoupling* closure_coupling(const ClosureSystem* s, int k) {
  return k < s->model->closure_count ? NULL : &s->model->couplings[k - s->model->closure_count];
}

/* Returns the closures of a run, or NULL if the model has none. tolerance: relative tolerance of the step. Borrows the
 * model; freed with closures_destroy. */
ClosureSystem* closures_create(const Model* model, double tolerance);
/* Frees it and all that it owns; NULL is accepted. */
void closures_destroy(ClosureSystem* system);

/* The equations (Z1). Returns both ends at poses[links], world axes [m]. */
ClosureEnds closure_ends(const ModelClosure* closure, const Pose* poses);
/* Returns the value c of one row [m], without unit for ALIGN (a cosine). */
double closure_row_value(const ModelClosure* closure, const ClosureRow* row, const ClosureEnds* ends);
/* Returns the value c of a coupling [m or rad] at q[nq]. */
double closure_coupling_value(const ModelCoupling* coupling, const double* q);
/* Returns the derivative of the row's value with respect to `apart`, world axes; zero for ALIGN. */
Vec3 closure_row_direction(const ModelClosure* closure, const ClosureRow* row, const ClosureEnds* ends);
/* Sets values[rows] to c at poses[links] and q[nq], also for broken closures. Stores intermediate results for
 * closures_place. */
void closures_values(ClosureSystem* system, const Pose* poses, const double* q, double* values);
/* Sets value, stiffness, arms and torques of all closures and couplings, broken ones included, because closures_restore
 * can make them intact again. The multipliers have no influence. Does nothing if q and weight are those of the last
 * call. Arguments as of closures_assemble: poses, reference [links], q[nq], screws[nv]. */
void closures_place(ClosureSystem* system, const Pose* poses, const double* q, const Vec3* reference,
                    const Screw* screws, double weight);
/* As closures_place, and sets the slopes C, which Newton directions and products with C need. Does nothing for
 * unchanged q. poses, reference[links], q[nq], screws[nv]. */
void closures_find_slopes(ClosureSystem* system, const Pose* poses, const double* q, const Vec3* reference,
                          const Screw* screws, double weight);
/* As closures_find_slopes for a single closure or coupling k, so that each can be placed at a different configuration.
 * Results are not reused by later calls. poses, reference[links], q[nq], screws[nv]. Not for a system used with
 * closures_place. */
void closures_place_one(ClosureSystem* system, int k, const Pose* poses, const double* q, const Vec3* reference,
                        const Screw* screws, double weight);
/* Returns C x for one row of closure k. The slopes must be set. x[nv]. */
double closures_row_product(const ClosureSystem* system, int k, int row, const double* x);
/* x += factor C^T of one row of closure k. x[nv]. */
void closures_add_row(const ClosureSystem* system, int k, int row, double factor, double* x);
/* x += |factor C^T|, entry by entry, of one row of closure k. x[nv]. */
void closures_add_size(const ClosureSystem* system, int k, int row, double factor, double* x);
/* Sets values, stiffness and terms; also slopes if `aims` is set. weight: factor / dt^2 [1/s^2]. poses[links], q[nq];
 * reference[links]: centres of mass [m]; screws[nv]. */
void closures_assemble(ClosureSystem* system, const Pose* poses, const double* q, const Vec3* reference,
                       const Screw* screws, double weight);
/* Returns the terms of the closures for Assembly; link -1: the world, or no link of an open closure. Borrowed until the
 * next closures_assemble. system NULL: an empty list. */
ContactTermList closures_terms(const ClosureSystem* system);
/* Sets rows and couplings of the assembly, borrowed until the next closures_assemble. Does nothing for system NULL. */
void closures_couple(const ClosureSystem* system, Assembly* assembly);
/* Adds the magnitudes of the couplings' forces and of the forces in `aimed` to at_work (nv) [N, N m], at the assembled
 * configuration. */
void closures_add_work(const ClosureSystem* system, double* at_work);
/* Returns the closure error relative to its tolerance: at most 1 counts as closed; 0 for an open closure. values (rows)
 * [m, 1]. */
double closure_gap(const ClosureSystem* system, int k, const double* values);
/* Returns true if the closure is closed to its tolerance at the assembled configuration. */
static inline bool closure_holds(const ClosureSystem* system, int closure) { return system->gap[closure] <= 1; }
/* Returns the index of a closure whose error at the given poses is too large to start from, or -1: the first step would
 * close it with large velocities. Sets system->value. system NULL: -1. poses[links], q[nq]. */
int closures_open_at_start(ClosureSystem* system, const Pose* poses, const double* q);
/* Returns the reference size of a row's value: the size of the closure's links [m], 1 for directions; for a coupling
 * its own [m or rad]. */
double closure_row_size(const ClosureSystem* system, int k, int row);
/* Returns the largest closure gap of all. *worst (or NULL): its index, unchanged if the gap is 0. system NULL: 0. */
double closures_gap(const ClosureSystem* system, int* worst);
/* Returns the largest |c| of the closure's rows in system->value [m or rad]. */
double closure_open_by(const ClosureSystem* system, int k);
/* Returns the energy sum mu c + rho/2 c^2 of a closure [J]. values[rows]: c; 0 for an open closure. */
double closure_energy(const ClosureSystem* system, int k, const double* values);
/* Returns the rounding error of the closure's energy due to the rounding of positions [J], at the assembled
 * configuration. Sets energy[k]. */
double closure_rounding(ClosureSystem* system, int k);
/* Sets torques [N m] about the centres of mass and forces [N] on both ends by the rows' multipliers nu[rows] [N, N m],
 * without stiffness. wrench: torque and force of a, then of b. Not for couplings. */
void closure_row_wrench(const ClosureSystem* system, int k, const Pose* poses, const Vec3* reference, const double* nu,
                        double wrench[12]);
/* Returns a link of the closure that has a tree; at least one has. An index below Model.link_count. */
int closure_link(const ClosureSystem* system, int k);

/* Applies the closure equations to x = H^-1 (..) after components of the solver were factored. It finds the change of
 * the rows' multipliers for which x - H^-1 C^T change satisfies C x = -values (values NULL: = 0), and subtracts the
 * second term from x. Dependent rows: least squares, smallest change. If values are the system's own, the rows' present
 * errors, rows that differ only by these count as dependent. solved (components; NULL: all): components to use.
 * change[rows] is set for their rows, 0 for others. fixed: degrees of freedom that the solver holds. x[nv] is changed
 * in place; multipliers in N or N m. Returns false if the result is not finite. */
bool closures_solve(ClosureSystem* system, BlockSolver* solver, const bool* solved, const bool* fixed,
                    const double* values, double* x, double* change);
/* Lists the rows that have nonzero slopes. Call after slopes changed; closures_find_slopes does. */
void closures_list_moving(ClosureSystem* system);
/* Extends marks on components of the solver to all components that closures connect to them, directly or through
 * others. marked (components): changed in place. */
void closures_spread(const ClosureSystem* system, BlockSolver* solver, bool* marked);
/* g += C^T change. gradient[nv], change[rows]; system NULL: nothing. */
void closures_add_force(const ClosureSystem* system, const double* change, double* gradient);
/* g += factor C^T rho c. gradient[nv] [N, N m], at the configuration that was assembled. */
void closures_add_stiff_force(ClosureSystem* system, double factor, double* gradient);
/* Raises `stiffening` to the next larger value; only the Hessian of the direction contains it (Z3). Returns false after
 * the largest value, and resets it to 1. */
bool closures_stiffen(ClosureSystem* system);

/* Sets the multipliers at the start of a step: those accepted, without the forces in `aimed`. Restores the curvature of
 * every closure. */
void closures_begin(ClosureSystem* system);
/* Stores the multipliers before a direction of another model than the objective is solved. One set is stored at a
 * time. */
void closures_keep(ClosureSystem* system);
/* Restores the multipliers of closures_keep. */
void closures_put_back(ClosureSystem* system);
/* Omits the curvature of the equations in the next terms, for closures of marked links. marked (links). */
void closures_straighten(ClosureSystem* system, const bool* marked);
/* Restores the curvature of all closures. */
void closures_bend(ClosureSystem* system);
/* Accepts the multipliers of the iteration for the substep `clock`. Opens the closure of END_OPENS, and closures whose
 * force exceeded the limit in the first substep that counts; sets the others' `due` (Z21). */
void closures_advance(ClosureSystem* system, const StepClock* clock);
/* Returns the force on the closure's points [N]; multiplier[rows], and aimed[rows] added to it. */
double closure_force(const ClosureSystem* system, int k, const double* multiplier, const double* aimed);
/* Returns the closure that opens first in the next substep, with ClosureLoad.due; -1: none. system may be NULL. */
int closures_due(const ClosureSystem* system);
/* Stores the increments of a solved step (nv) [m, rad]. even: its length equals that of the step before. */
void closures_note_way(ClosureSystem* system, const double* increments, bool even);
/* Replaces the increments[nv] [m, rad] of trees with closures by the polynomial extrapolation of past steps (Z10).
 * Changes nothing until two steps of equal length are stored. */
void closures_foretell(const ClosureSystem* system, double* increments);
/* Sets `share` for a Newton solve after `iterations` iterations: before the first one the extrapolation must meet a
 * fraction of the tolerance. tolerance: relative, of the step. */
void closures_begin_round(ClosureSystem* system, int iterations, double tolerance);
/* Returns the fraction of the tolerance to which the tree is solved (Z10). */
static inline double closures_share(const ClosureSystem* system, int tree) {
  return system->tree_moves_on[tree] ? system->share : 1;
}
/* Stores multipliers and broken closures of the present state. */
void closures_save(ClosureSystem* system);
/* Restores the state of closures_save; closures that broke since are intact again. */
void closures_restore(ClosureSystem* system);
/* Passes the state that persists between steps: multipliers (rows) [N, N m], breaking times [s], past increments, and
 * SimJoin of switched closures. */
void closures_pass_state(ClosureSystem* system, StateBlock* block);

/* ---- simulate/closures_switch.c: closures with `active` (docs/derivations/closures.md, Z12) */
/* Returns a copy of the model with its own closures, which a run with `active` closures rewrites; NULL if none has
 * `active`. Freed with closures_free_model. */
Model* closures_own_model(const Model* model);
/* Frees the copy. Accepts NULL. */
void closures_free_model(Model* own);
/* Stores the pose of b relative to a at the start, at which the model's closures were placed. start[links], copied. The
 * arrays are freed with the system. system->model must be that of closures_own_model. */
void closures_switch_create(ClosureSystem* system, const Pose* start);
/* Fraction of a time step: closures do not close nearer than this to the beginning or end of a substep, because a
 * substep that short gives no speeds (Z20). */
#define CLOSES_APART 1e-5
/* Call before a step that starts at `time` [s]. Opens or closes each closure whose `active` signal demands it; a
 * closure closes at the links' present poses (links), and with `within` only where its points are so near, or will be
 * within CLOSES_APART. old[links]: poses before the last substep. Returns true if one closes, which dissipates energy.
 */
bool closures_switch(ClosureSystem* system, const Pose* poses, const Pose* old, double time);
/* Closes closures with `within` whose points are so near at poses[links] (old as above), between two substeps at `time`
 * [s]. begin: time at which the step began. Returns true if one closes. */
bool closures_meet(ClosureSystem* system, const Pose* poses, const Pose* old, double begin, double time);
/* A closure whose distance falls below `within`. */
typedef struct {
  int closure;
  double before, after; /* distance beyond `within` at both poses, in units of `within` */
} ClosureEntry;
/* Returns true if a closure that is open and may close comes within its distance between poses now[links] and
 * ahead[links]; entry: set to the first one. begin: time at which the step began [s]. system may be NULL. */
bool closures_entry(const ClosureSystem* system, const Pose* now, const Pose* ahead, double begin, ClosureEntry* entry);
/* Returns true if closures_switch closes one at poses ahead[links], and not at now[links]; entry: set to it. begin: as
 * above. system may be NULL. */
bool closures_end(const ClosureSystem* system, const Pose* now, const Pose* ahead, double begin, ClosureEntry* entry);
/* Returns the distance of closure k beyond its `within`, in units of it, at poses[links]. */
double closures_ahead(const Model* model, int k, const Pose* poses);
/* Adds the derivative of closures_ahead with respect to the poses to bar[links]. */
void closures_ahead_adjoint(const Model* model, int k, const Pose* poses, double (*bar)[3][4]);
/* Returns true if some closure has `within`. system may be NULL. */
static inline bool closures_have_events(const ClosureSystem* system) { return system && system->meets; }
/* Places all switched closures and marks them open or closed according to joined (closures). */
void closures_put(ClosureSystem* system, const SimJoin* joined);
/* Returns true if closure k has a signal `active`. */
static inline bool closure_is_switched(const Model* model, int k) {
  return k < model->closure_count && model->closures[k].active.source;
}

/* Appends the name `the hinge of 'rod' and 'piston'`, or `the coupling of 'rack'` (simulate/failure.c). index:
 * closures, then couplings. */
void closure_add_name(Text* text, const Model* model, int index);
/* Returns the result of sim_coupling. k: index of Model.couplings; q[nq] [m, rad]. */
SimClosure coupling_state(const ClosureSystem* system, int k, const double* q);
/* Returns the result of sim_closure. k: index of Model.closures; poses[links]: of the present state. All 0 once it has
 * broken, except broken and broken_at. */
SimClosure closure_state(const ClosureSystem* system, int k, const Pose* poses);

#endif
