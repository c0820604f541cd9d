/* Private to simulate/: all state that changes during a run, grouped by the function that writes it. */
#ifndef SDRS_SIMULATE_SIM_H
#define SDRS_SIMULATE_SIM_H

#include "simulate/closures.h"
#include "simulate/simulate.h"
#include "simulate/terms.h"

/* A configuration and its terms. A Sim stores two: accepted and trial. */
typedef struct {
  double* q;          /* (nq) */
  Pose* pose;         /* (links) */
  double* inertia;    /* inertial and gravitational energy of every link [J]  (links) */
  JointTerms* joints; /* (links) */
  double* tendons;    /* energies of the tendons [J]; NULL without tendons  (tendons) */
  double* bushings;   /* energies of the bushings [J]; NULL without bushings  (bushings) */
  double* closures;   /* values of the closure equations [m, 1]; NULL without closures  (rows) */
} Configuration;

/* Sums of the magnitudes of the forces that act on a link and its descendants. */
typedef struct {
  double force;  /* N */
  double torque; /* about the link's centre of mass [N m] */
} WorkingForce;

/* Trees coupled in Newton's model. Islands are independent there, so each has its own line-search step length. */
typedef struct {
  double alpha;
  double share;      /* fraction of the direction that is tried first: below 1 for links of very many triangles */
  double slope;      /* gradient . delta over its degrees of freedom [J] */
  double curvature;  /* delta . H delta of the model from which delta was computed [J] */
  double rise;       /* largest energy increase by prescribed joints on their way over the step [J] */
  double rounding;   /* decrease that is below rounding [J] */
  double change;     /* change of its energy at the trial [J] */
  double own_change; /* that change without pairs, closures, tendons and bushings [J] */
  double excess;     /* change of its group above the admissible one [J] */
  bool settled;      /* balanced: does not move */
  bool moved;        /* moved since own_change was computed */
  bool shorten;      /* made the trial fail */
  bool blind; /* the predicted decrease is below rounding: the full step is accepted without a test of the energy */
} Island;

/* Accepted moves since the last sim_path. */
typedef struct {
  double *delta, *time; /* (capacity x nv), (capacity) */
  int count, capacity;
  int first;                  /* move of the present step */
  int parts;                  /* number of substeps since the last sim_path */
  int kept_count, kept_parts; /* values at the start of a step with substeps */
  int block; /* first move of the present block; a full block is merged to one move if its straight path is proved */
  bool straight;  /* the only move is the straight path of its step */
  double* begin;  /* coordinates at the start of the present step  (nq) */
  double* from;   /* coordinates at the start of the path that is examined  (nq) */
  double* marked; /* coordinates at the last sim_path  (nq) */
  double* way;    /* increments of the straight path  (nv) */
  Pose* poses;    /* poses at the start of the path  (links) */
  Screw* screws;  /* (nv) */
  MotionBounds bounds;
  Proof* proof;     /* proof over recorded states several substeps apart; NULL: not needed so far */
  bool proof_there; /* its last state is `marked` */
} Path;

/* State at the start of a step: everything that sim_step writes except SimState. */
typedef struct {
  double *q_now, *q_old;                  /* q^t, q^{t-1}  (nq) */
  double* difference_old;                 /* q^t - q^{t-1} in joint increments  (nv) */
  double* rate;                           /* SimState.rate  (nv) */
  Vec3* momentum;                         /* SimState.momentum  (links) */
  Vec3* felt;                             /* SimState.felt  (links), or NULL */
  Pose *pose_now, *pose_old, *pose_older; /* T^t, T^{t-1}, T^{t-2}  (links) */
  double* q_older;                        /* q^{t-2}, or NULL  (nq) */
} SimPast;

/* Number of substeps with which the next step starts (simulate/substep.c). */
typedef struct {
  int recent;   /* number of the last step */
  int calm;     /* number of consecutive steps that succeeded with it at once */
  int tried;    /* equal substeps of the last attempt, without those of impacts */
  int least;    /* smallest number with which this step may start */
  int reached;  /* number of solved substeps of the last attempt */
  bool refines; /* this attempt may be rejected for a finer one because of flying trees (tree_flight_coarse) */
  bool coarse;  /* an attempt of this step was rejected so */
} SubstepMemory;

/* Solves of the substeps of a step but the last one of each. */
typedef struct {
  int count, capacity;
  SimSolve* list;       /* (capacity) */
  int* record_capacity; /* of list[k].contacts (capacity) */
} SolveStore;

/* States inside the last step. */
typedef struct {
  int count, capacity;
  StepClock* clock; /* (capacity) */
  double* q;        /* (capacity * nq) */
  Pose* pose;       /* (capacity * links) */
  Vec3* momentum;   /* (capacity * links) */
  Vec3* felt;       /* (capacity * links); NULL: no force is measured */
  double* delayed;  /* SimState.delayed, or NULL  (capacity * 2 delayed_count) */
  ContactRecord* contacts;
  int* contact_first; /* (capacity + 1) */
  int contact_capacity;
  int* solve_end;    /* in SolveStore, of each state (capacity) */
  SimSubstate* list; /* (capacity) */
} SubstateStore;

/* Energies of a link itself: of its inertia and its joint [J]. */
typedef struct {
  double inertia, joint;
} LinkPart;

/* State that lasts from one step to the next is stored by snapshot.c, too. */
struct Sim {
  const Model* model;
  SimOptions options;
  double tolerance; /* relative (balance.c) */
  SimState state;   /* public state; pose points into the history */

  /* written by sim_step at its end: history */
  double *q_now, *q_old;                  /* q^t, q^{t-1}  (nq) */
  double* difference_old;                 /* q^t - q^{t-1} in joint increments  (nv) */
  double* q_older;                        /* q^{t-2}; NULL: no joint has an armature  (nq) */
  Pose *pose_now, *pose_old, *pose_older; /* T^t, T^{t-1}, T^{t-2}  (links) */
  Pose* pose_rate;                        /* dT/dt of the initial velocities (affine)  (links) */
  double* start_rate;                     /* initial velocities  (nv) */

  ClosureSystem* closures;        /* NULL without closures */
  struct TendonSystem* tendons;   /* NULL without tendons */
  struct BushingSystem* bushings; /* NULL without bushings */
  struct FluidSystem* fluid;      /* NULL without a fluid */
  struct DelayHistory* delays;    /* NULL without delayed measurements */
  struct Spinner* spinners;       /* links that integrate their angular momentum; NULL without them  (links) */
  struct TreeFlight* flight;      /* trees that conserve their momentum; NULL without them */

  StepClock clock;   /* clock of the current substep, or of the next one */
  StepClock reached; /* clock of the substep that ended in the current state */
  /* Reference step length of velocity gains [s]: their dampers do not depend on the length of a substep. */
  double gain_dt;

  /* written by step_prepare: targets of the present step */
  StepWeights weights;
  Pose* target;                  /* Y of every link (affine)  (links) */
  struct RollShift* shifts;      /* of friction of rolling bodies; NULL: no tree flies (links) */
  JointDrive* drives;            /* sorted by link */
  int* drive_first;              /* (links + 1) */
  struct LinkLoad* loads;        /* NULL without loads  (links) */
  struct SchemeBalance* balance; /* energy added by the scheme (simulate/scheme_work.c); NULL: not measured */
  double* joint_aim;             /* q - q^t by inertia alone; NULL without armatures  (nv) */
  bool recorded;                 /* steps are recorded ones, whose terms are differentiated */
  JointStop* stops;              /* impacts at limits; NULL: no limit has restitution  (nv) */
  double* stop_mass;             /* mass of each coordinate at the start, a power of two [kg, kg m^2]  (nv) */
  double* prescribed;            /* target coordinates of prescribed joints  (nq) */
  bool* fixed;                   /* dof is prescribed  (nv) */
  int fixed_count;

  SolveScope scope;        /* trees that Newton's method solves: all, or those of a part (simulate/parts.c) */
  struct StepParts* parts; /* NULL: the scene is not solved in independent parts */
  struct PartMoves* moves; /* accepted moves, in a part; otherwise NULL */
  const int* begun; /* the part by which each tree has been solved in this step, -1: none; NULL: no tree  (trees) */
  bool leaves;      /* the part must move beyond its region */

  int iteration_limit; /* iteration limit of the present attempt (simulate/substep.c) */

  /* written by Newton's method */
  Configuration configuration[2];
  int current;
  double *gradient, *delta, *scaled, *rhs; /* (nv) */
  double* solution;                        /* for each unknown of the linear system */
  double* push;                            /* H rhs: forces by the motion of prescribed joints  (nv) */
  bool* moving;                            /* the tree moves in the trial  (trees) */
  double* moved_by;                        /* step lengths of the last trial; NAN: of another line search  (trees) */
  int *moved_trees,
      moved_count;    /* trees that move in this trial; the others are unchanged since the last trial  (trees) */
  bool* same;         /* both configurations have equal data of the link  (links) */
  bool* moved_link;   /* the link may have moved since the last evaluation of contact  (links) */
  bool* stale;        /* terms of the tree are out of date  (trees) */
  bool* stale_blocks; /* its block of the Hessian is out of date  (trees, by place) */
  bool* always_stale; /* closures, tendons or bushings act on the tree  (trees) */
  bool* balanced;     /* the tree was balanced at the last check  (trees) */
  bool* noted;        /* no term of the tree has been assembled since that check  (trees) */
  LinkPart *rounding, *change;  /* energies of each link at the start of the line search, and in the trial  (links) */
  bool* inside;                 /* the tree is within its limits in the trial  (trees) */
  int *tree_first, *tree_links; /* links by tree, parents first  (trees + 1, links) */
  bool all_stale;               /* terms of immovable links are out of date, too */
  bool* wanted;                 /* a direction is computed for the tree  (trees) */
  bool* marked_link;            /* (links) */
  int* component;               /* matrix component of each tree  (trees) */
  bool *wanted_component, *solved_component, *failed_component; /* (at most trees) */
  double* lift;       /* smallest eigenvalue of a component  (at most trees) */
  double* curvature;  /* share of each tree in delta . H delta [J]  (trees) */
  double (*twist)[6]; /* motion of each link under delta  (links) */
  Screw* screws;
  Vec3* reference;
  LinkTerms* link_terms;
  TermSides sides;    /* of the last assembly */
  WorkingForce* work; /* (links) */
  double* at_work;    /* reference force of each degree of freedom for its residual [N, N m]  (nv) */
  MotionBounds bounds;
  bool* bounded_still; /* `bounds` of the tree are zero  (trees) */
  int* island;         /* index of the island of each tree: trees coupled by contact or friction  (trees) */
  Island* islands;     /* (trees) */
  int* link_island;    /* island of each link, -1 if it cannot move  (links) */
  bool* refused;       /* some pair of the island makes the trial fail  (trees) */
  int* group;          /* islands that interact in the trial, as groups  (trees) */
  int island_count;
  double* path_q; /* coordinates on the path, for the certificate  (nq) */
  double* extent; /* radius of the bounded hulls of each link about its centre of mass; 0: none  (links) [m] */
  Vec3* moved;    /* displacement of each centre of mass in the substep that is examined  (links) [m] */
  BlockSolver* solver;
  int pattern_version;
  uint64_t *couplings, *fresh_couplings; /* couplings of the sparsity pattern, sorted, and those being collected */
  int known_couplings, coupling_capacity, fresh_capacity;
  bool pattern_set;
  ContactSystem* contact; /* NULL without contact */
  SimTimes times;

  /* written by simulate/path.c: the result of sim_path */
  Path path;

  /* written by sim_step: a step taken in substeps */
  SubstepMemory substep_memory;
  SubstateStore between;
  SolveStore solves;
  SimPast backup; /* allocated in the first step */
  StepClock backup_reached, backup_clock;
  StepWeights backup_weights;

  /* written by sim_advance and, after a solved step, by sim_step; NULL: not requested (kinds * nv) */
  double *part_forces, *joint_forces;
  Model* own_model;                             /* the target of `model` if closures are switched; otherwise NULL */
  double (*part_reactions)[6], (*reactions)[6]; /* (links) */
  double (*reaction_sum)[6];                    /* scratch  (links) */

  /* written by simulate/guess.c */
  SimGuess guess;
  bool settling;    /* own_force_settle is running: the step is solved except for friction */
  bool guessed;     /* valid for the last step */
  double* guess_q;  /* memory of guess; NULL: not needed so far  (nq) */
  Pose* guess_pose; /* (links) */

  /* written by sim_contacts */
  SimContact* contacts;
  int contact_capacity;

  /* written by sim_contact_records */
  ContactRecord* records;
  int record_capacity;
};

/* ---- simulate/path.c; all functions do nothing without options.path */
/* Allocates the path; does nothing without options.path, a certificate or a degree of freedom. Freed with path_destroy.
 */
void path_create(Sim* sim);
/* Frees what the path owns. Accepts a zeroed path. */
void path_destroy(Path* path);
/* Makes the present state the start of the path. Copies its coordinates (nq). */
void path_restart(Sim* sim);
/* Call before a (sub)step; path_end follows with the time [s] of the new state, and keeps or drops the moves. Copies
 * the coordinates (nq), and marks the pairs of contact. */
void path_begin(Sim* sim);
/* Ends path_begin. reached false: drops the moves since then. Otherwise merges moves where it can. */
void path_end(Sim* sim, bool reached, double time);
/* Stores the number of moves and substeps before a step with substeps. Copies no moves. */
void path_save(Sim* sim);
/* Drops the moves and substeps since path_save, after a substep failed. */
void path_restore(Sim* sim);
/* Returns a zeroed row for one more move  (nv); NULL: moves are not recorded. Allocates as path_add. */
double* path_add_row(Sim* sim);
/* Appends the move s->scaled (nv, copied), before it is accepted. Allocates when a step has more moves than any before.
 */
void path_add(Sim* sim);

/* ---- simulate/crossing.c (docs/derivations/certificate.md, P9) */
/* Returns Sim.extent of a model (link_count numbers). The caller frees it with memory_free. Cannot fail. */
double* crossing_extents(const Model* model);
/* Returns true if two links change sides between the poses `from` and `to` (links), world frame [m]: they would collide
 * on straight paths, and are behind each other at the end. Sets found to the two links. False without a certificate,
 * and for pairs without a barrier. Sets Sim.moved. Allocates nothing. */
bool sim_crosses(const Sim* sim, const Pose* from, const Pose* to, StepSqueeze* found);

/* Measures, writes or reads (block->pass) all state on which later steps depend (simulate/snapshot.c). Sets
 * block->failed if a block does not fit. */
void sim_pass_state(Sim* sim, StateBlock* block);
/* Reads and publishes a state. Returns false if the block is not a state of this model; the Sim can then only be
 * destroyed. */
bool sim_read_state(Sim* sim, StateBlock* block);
/* Starts the run from the model's stored state (simulate/start.c). Contact must be created, and not evaluated yet.
 * Returns STATUS_BAD_INPUT and a message if the state is damaged or bodies intersect in it; the Sim must then be
 * destroyed. */
Status sim_begin_recorded(Sim* sim, Diagnostics* diagnostics);

/* Creates a Sim without contact in the initial state, for the terms of single steps. Freed with sim_destroy. Cannot
 * fail. */
Sim* sim_create_bare(const Model* model, int threads);

/* Sets weights, targets, drives, loads and tensions for the step of sim->clock (simulate/prepare.c). Allocates nothing.
 */
void step_prepare(Sim* sim);
/* Returns the weights of the step for steps of unequal length (S3, S13). Lengths of steps in s; rates in 1/s. */
StepWeights step_weights(Integrator integrator, const StepClock* clock);
/* Returns true if the end time of the substep depends on the state. */
static inline bool step_end_varies(const StepClock* clock) {
  return clock->end == END_EVENT || clock->end == END_OPENS ||
         (clock->begin_varies && !(clock->end == END_SHARE && clock->share == 1));
}
/* Returns the time over which a force of the step changes momenta [s], > 0: dt / factor with first-order weights, dt
 * with second-order weights, whose later steps do the rest (S13, S15). */
double step_force_time(Integrator integrator, const StepClock* clock);
/* Returns the force time of the step before over that of this step; 1 for the first step (impact.md, I5). */
double step_force_ratio(Integrator integrator, const StepClock* clock);
/* Makes the solved configuration the present state and advances the clock. Sets momenta, rates and measured forces of
 * SimState, and keeps the poses of the two states before. Allocates only for delays. */
void sim_advance(Sim* sim);
/* Updates SimState: copies q (nq) and centres of mass (links); state.pose points to the present poses. */
void sim_publish(Sim* sim);
/* Sets time and length [s] of substep `index` (0 to count - 1) of the next step. Leaves the rest of the clock. */
void sim_set_clock(Sim* sim, int count, int index);
/* Returns true for the first substep of a run if friction acts at its start; its normal forces are then found first
 * (friction.md, F6). */
bool guess_needed(const Sim* sim);
/* Solves that substep without friction, sets each pair's grip, and returns to its start. Returns false, with the reason
 * in *report, if it is not solved; otherwise adds the work to *report. Allocates. */
bool guess_grips(Sim* sim, StepReport* report);
/* Frees the warm start. */
void guess_free(Sim* sim);
/* Returns to the start of the substep (CONTACT_PART), or of the step with all that its substeps wrote (CONTACT_STEP).
 * contact_remember must have been called there. Allocates as contact_reset. */
void step_reject(Sim* sim, ContactMemory to);
/* Adds iterations, trials, intervals and retries of `from`. */
void step_add_work(StepReport* to, const StepReport* from);
/* Frees the memory of substeps and the backup of the state. */
void substates_free(Sim* sim);
/* ---- simulate/own_force.c: friction limited by the step's own normal force (docs/derivations/friction.md, F8) */
/* Call after step_solve succeeded: solves again with friction of the new normal forces, until these converge, at most
 * contact.friction_iterations times. Keeps the solves before the last. Adds its work to *report; sets friction_open if
 * they do not converge. Allocates as contact_lag. */
void own_force_settle(Sim* sim, StepReport* report);
/* Discards the solves that belong to no state of the step so far. Cannot fail. */
void own_force_begin(Sim* sim);
/* Frees what own_force_settle allocated. */
void own_force_free(Sim* sim);
/* ---- simulate/parts.c: uncoupled trees are first solved independently (docs/derivations/step.md, S17) */
/* Allocates the parts; does nothing for scenes without independent trees. Call after contact_reset. Freed with
 * parts_destroy. */
void parts_create(Sim* sim);
/* Frees the parts with their workers. Accepts NULL. */
void parts_destroy(struct StepParts* parts);
/* Solves independent parts at the start of a step, when everything is stale and the configuration is evaluated. The
 * caller solves the rest. Adds the work to *report, with the iterations of unsolved parts. The outcome is
 * STEP_CONVERGED or STEP_ROUNDING_FLOOR with the largest residual if all parts are solved, otherwise
 * STEP_MAX_ITERATIONS. Returns the largest number of iterations. Allocates while lists grow. */
int parts_solve(Sim* sim, StepReport* report);
/* Returns how many parts of the last solve stopped at the bounds of their regions and were left to the joint solve. */
int parts_left(const Sim* sim);
/* Records the move s->scaled of a part before it is accepted. Allocates as path_add. */
void parts_add_move(Sim* sim);
/* Iterates Newton's method from the accepted configuration until the step is solved or fails (simulate/newton.c). */
void step_rounds(Sim* sim, StepReport* report);
/* Computes screws, centre of mass and inertia of a link at the present configuration (simulate/step_terms.c). */
void step_link_terms(Sim* sim, int i);
/* Solves the step by Newton's method with line search from the accepted configuration (simulate/newton.c), with at most
 * s->iteration_limit iterations. Returns the reason why it stopped; after a failure the caller restores the
 * configuration. */
StepReport step_solve(Sim* sim);
/* Returns true if a controller prescribes the motion of a link (simulate/substep.c). */
bool step_leads(const Sim* sim);
/* Computes the acting forces s->at_work (nv) [N, N m] at the present configuration, from link terms that contain
 * inertia only (simulate/balance.c). */
void balance_measure(Sim* sim, const Assembly* assembly);
/* Returns the admissible residual of a degree of freedom [N, N m]: tolerance times the acting forces, plus the scene's
 * absolute tolerance (times the link's reach for a torque). */
double balance_allowed(const Sim* sim, int dof);
/* Returns true if the residual of a degree of freedom is admissible; false for NaN. */
bool balance_reached(const Sim* sim, int dof);
/* Returns true if the trees with closures are as near to balance as this iteration requires (closures.md, Z10). */
bool balance_of_machines(const Sim* sim);
/* Sets s->balanced[tree] from the present gradient. */
void balance_note(Sim* sim, int tree);
/* Returns true if the tree was balanced at the last balance_note. arrived: prescribed joints are at their targets;
 * otherwise a tree with one is not balanced. */
bool balance_tree(const Sim* sim, int tree, bool arrived);
/* Largest residual, relative to the acting forces, with which a step may end at the rounding floor. */
#define FLOOR_MOST 1e-2
/* Returns true if the residual does not exceed the effect of the rounding of coordinates on the forces of inertia,
 * drives, joints and contact (S16). assembly: of the accepted state and of these trees; NULL: without contact. */
bool balance_at_rounding(const Sim* sim, const Assembly* assembly);
/* Returns the change of speed in this substep that the imbalance |g| of a degree of freedom is worth [m/s]: |g| dt v /
 * M, where a unit rate moves the links by at most the speed v and M = sum m v^2. Contact and springs, which would make
 * it less, are ignored. INFINITY: the degree of freedom moves no mass. */
double balance_speed_left(const Sim* sim, int dof);
/* Returns the magnitude of the numbers from which a link's position is computed [m]: its distance from the origin, or
 * the displacement of a joint between, if larger. q: (nq). */
double balance_place_size(const Sim* sim, int link, Vec3 place, const double* q);
/* Returns the largest of these magnitudes over all movable links in the accepted state [m]. */
double balance_largest_place(const Sim* sim);
/* Returns the largest residual of the free degrees of freedom relative to the acting forces: at most the tolerance when
 * all are balanced, NaN if a gradient is not finite. *worst: its degree of freedom, -1 when all are zero. */
double balance_residual(const Sim* sim, int* worst);
/* Result of the line search along s->delta within feasibility, Armijo's rule and the certificate
 * (simulate/line_search.c). */
typedef enum {
  SEARCH_ACCEPTED,
  SEARCH_AT_ROUNDING, /* accepted without a test of the energy: the decrease is below rounding */
  SEARCH_LOST,        /* nothing accepted; the possible decrease was near rounding */
  SEARCH_FAILED,
  SEARCH_LEAVES, /* nothing accepted: the path leaves the part's region */
} StepSearch;
/* Searches along s->delta. Adds trials and intervals to the report. arrived: prescribed joints are at their targets. */
StepSearch step_search(Sim* sim, bool arrived, StepReport* report);
/* Tries the motion of the last time step as a start. Returns true if it lowers the objective well and was accepted;
 * otherwise the accepted configuration is unchanged. */
bool step_repeat_last(Sim* sim, StepReport* report);
/* ---- simulate/step_terms.c */
/* Assembles gradient, link terms and the data of assemble_hessian at the present configuration, with the given contact
 * terms. `assembly` borrows from the Sim and the list until the next assembly. Sets s->gradient (nv) and s->at_work. */
void step_assemble(Sim* sim, ContactTermList contact, Assembly* assembly);
/* Marks all assembled terms as out of date, at the start of a step. Later only trees that moved, and those coupled to
 * them by a pair before or after the move, are out of date. */
void step_all_stale(Sim* sim);
/* Marks terms as out of date after a move was accepted, from s->moving (trees) and the contact terms. */
void step_moved_stale(Sim* sim);
/* Marks the trees of the marked links. links[links]. */
void step_mark_stale(Sim* sim, const bool* links);
/* Returns true if all increments of a tree are zero. v[nv]. */
static inline bool step_tree_still(const Sim* sim, int tree, const double* v) {
  const ModelTree* t = &sim->model->trees[tree];
  bool still = true;
  for (int d = t->dof_first; d < t->dof_first + t->dof_count; d++) still = still && v[d] == 0;
  return still;
}
/* Returns true if the terms of the link are out of date. */
static inline bool step_is_stale(const Sim* sim, int link) {
  int tree = sim->model->link_tree[link];
  return sim->all_stale || (tree >= 0 && sim->stale[tree]);
}
/* As step_assemble for everything, leaving s->at_work unchanged. */
void step_assemble_unmeasured(Sim* sim, ContactTermList contact, Assembly* assembly);
/* Computes the slopes of the closure rows of the last assembly, for directions and forces along joints. Does nothing
 * without closures. */
void step_closure_slopes(Sim* sim);
/* ---- simulate/pattern.c */
/* Adds the couplings of the terms to the sparsity pattern of the Hessian. Allocates when there are more couplings than
 * before. */
void step_pattern(Sim* sim, ContactTermList contact);
/* Updates the pattern if the candidates of contact have changed. Allocates alike. */
void step_update_pattern(Sim* sim);
/* ---- simulate/direction.c */
/* Computes Newton's direction s->delta (nv) from the assembled gradient and terms, for trees that are not balanced or
 * whose prescribed joints have s->rhs left; 0 for the others (S9). An indefinite Hessian is first made definite
 * cheaply: it omits the curvature of the motion (Gauss-Newton) and projects each pair's Hessian. If that is not enough,
 * its eigenvalues are lifted, component by component. It then assembles again. Returns false if some tree got no
 * direction. Allocates as step_pattern. */
bool step_direction(Sim* sim, Assembly* assembly, StepReport* report);
/* Call after a substep of an impact was solved: adds to the forces of pairs with restitution the change of one more
 * Newton step, which is below the rounding of positions (impact.md, I13). Overwrites delta and twist. Allocates as
 * step_pattern. */
void step_refine_impacts(Sim* sim);
/* Copies the degrees of freedom of the scope between arrays (nv). */
void step_copy_scope(const Sim* sim, double* to, const double* from);
/* Forces along the joints at the solved configuration, before it becomes the present state (simulate/joint_forces.c).
 */
/* Allocates the joint forces (JOINT_FORCE_KINDS x nv, row-major) if the scene's output requests forces; freed by
 * sim_destroy. */
void joint_forces_create(Sim* sim);
/* Computes s->part_forces [N, N m]; does nothing unless requested. */
void joint_forces_note(Sim* sim);
/* Makes the last noted forces those of the step: copies JOINT_FORCE_KINDS x nv numbers. Does nothing unless requested.
 */
void joint_forces_keep(Sim* sim);
/* ---- simulate/reactions.c (docs/derivations/observables.md, O1) */
/* Allocates the reactions if the scene's output requests them; freed by sim_destroy. */
void reactions_create(Sim* sim);
/* Computes s->part_reactions at the solved configuration, before it becomes the present state; does nothing unless
 * requested. Assembles the terms again. */
void reactions_note(Sim* sim);
/* Makes the last noted reactions those of the step. */
void reactions_keep(Sim* sim);
/* Sets out (links) from the assembled terms: force, then torque about the origins of the link frames. */
void reactions_find(Sim* sim, double (*out)[6]);
/* ---- simulate/scheme_work.c (docs/derivations/step.md, S23); all functions do nothing without SimOptions.scheme_work
 */
/* Allocates Sim.balance, which scheme_balance_destroy frees, for the present initial state. */
void scheme_balance_create(Sim* sim);
/* Frees the balance and everything it owns. Accepts NULL. */
void scheme_balance_destroy(struct SchemeBalance* balance);
/* Adds energies and work of the substep sim->clock, after it became the present state. Allocates nothing. */
void scheme_balance_note(Sim* sim);
/* Stores the sums before the substeps of a step. */
void scheme_balance_save(Sim* sim);
/* Restores the sums of scheme_balance_save, after a substep failed. */
void scheme_balance_restore(Sim* sim);
/* Call after the present state was replaced: the next substep only computes its energies. */
void scheme_balance_forget(Sim* sim);
/* Passes the sums through a block of a stored state. Fails as state_block_int. */
void scheme_balance_pass_state(Sim* sim, StateBlock* block);
/* ---- simulate/configuration.c */
/* Returns the weights of a spring with implicitness theta in the step of the clock (M10). flies: in a tree that
 * conserves its momentum, where the first step has gravity for half its length. */
SpringTime spring_time(const StepClock* clock, const StepWeights* weights, double theta, bool flies);
/* Returns the derivative of spring_time with respect to theta. */
SpringTime spring_time_slope(const StepClock* clock, const StepWeights* weights, double theta, bool flies);
/* Returns the weights of springs and position gains of a link's joint in the present step (M10). */
SpringTime step_spring_time(const Sim* sim, int link);
/* Returns the derivative of step_spring_time with respect to ModelLink.spring_theta. */
SpringTime step_spring_time_slope(const Sim* sim, int link);
/* Returns the input of joint_terms for a link's joint at c. Borrows c and the Sim. */
JointInput step_joint_input(const Sim* sim, const Configuration* c, int link);
/* Evaluates pose, inertia, joints, tendons and closures of c at its q. Returns false if a limit is exceeded; everything
 * is set in any case. */
bool configuration_evaluate(Sim* sim, Configuration* c);
/* Sets `to` to the accepted configuration moved by s->scaled, and evaluates it; trees that do not move keep their data.
 * Returns false if a limit is exceeded. */
bool configuration_move(Sim* sim, Configuration* to);

/* Returns factor / dt^2, the weight of the inertial energy [1/s^2] (S1). */
static inline double step_inertia_weight(const Sim* sim) {
  return sim->weights.factor / (sim->clock.dt * sim->clock.dt);
}

/* Returns the length of the present step over that of the step before; 1 for the first. */
static inline double step_length_ratio(const Sim* sim) {
  return sim->clock.dt_before > 0 ? sim->clock.dt / sim->clock.dt_before : 1;
}

#endif
