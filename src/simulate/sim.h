/* Private to simulate/: all state that changes during a run, grouped by the function that writes it. */
#ifndef SDRS_SIMULATE_SIM_H
#define SDRS_SIMULATE_SIM_H

#include "simulate/closures.h"
#include "simulate/simulate.h"
#include "simulate/terms.h"

/* Coordinates and poses of the links, with the energies and joint terms at these coordinates. A Sim stores two
 * configurations: the accepted one and the trial of the line search. */
typedef struct {
  double* q;          /* joint coordinates (size: nq) */
  Pose* pose;         /* poses of the links (size: links) */
  double* inertia;    /* inertial and gravitational energy of every link [J] (size: links) */
  JointTerms* joints; /* joint terms of each link (size: links) */
  double* tendons;    /* energies of the tendons [J]; NULL without tendons (size: tendons) */
  double* bushings;   /* energies of the bushings [J]; NULL without bushings (size: bushings) */
  double* closures;   /* values of the closure equations [m, 1]; NULL without closures (size: rows) */
} Configuration;

/* Sums of the magnitudes of all forces and torques on a link and its descendants. They scale the tolerance of
 * residuals. */
typedef struct {
  double force;  /* sum of force magnitudes [N] */
  double torque; /* about the link's centre of mass [N m] */
} ForceMagnitudes;

/* An island: a set of trees that contact, closures or other pair terms couple in Newton's quadratic model. Islands are
 * independent in this model, so each island has its own step length in the line search. */
typedef struct {
  double alpha;
  double share; /* fraction of the search direction that the line search tries first; below 1 for links with very many
                   triangles */
  /* derivative of the energy along the search direction, summed over the island's degrees of freedom [J] */
  double slope;
  double curvature;        /* second derivative of the energy along the search direction, by the Hessian from which the
                              direction was computed [J] */
  double allowed_increase; /* admissible energy increase while prescribed joints move to their targets [J] */
  double rounding;         /* rounding error of the island's energy [J]; a smaller decrease cannot be detected */
  double change;           /* energy change of the island from the accepted to the trial configuration [J] */
  double local_change; /* part of `change` that excludes the energies of pairs, closures, tendons and bushings [J] */
  double excess;       /* energy change of the island's group minus the admissible change [J] */
  bool settled;        /* true if all trees are balanced, so the island does not move */
  bool moved;          /* true if the island has moved since local_change was computed */
  bool shorten;        /* true if the island made the trial fail, so its step length must be halved */
  bool below_rounding; /* true if the predicted decrease is below rounding, so that the energy is not tested */
  bool turns_fast;     /* true if a joint turns by more than half a turn in the repeat of the last motion, which is then
                          made     without a test of the energy */
} Island;

/* Moves (joint increments) of the solver that were accepted since the last call of sim_path. */
typedef struct {
  double *delta, *time; /* delta: joint increments of each move (capacity x nv); time: end time of the substep of each
                           move [s] (size: capacity) */
  int count, capacity;
  int first; /* index of the first move of the present step */
  int parts; /* number of substeps since the last call of sim_path */
  int saved_count,
      saved_substeps; /* copies of `count` and `parts` from the start of a step, stored by path_save_counts */
  int block; /* index of the first move in the present block of moves. One straight move replaces a full block if bodies
                provably do not intersect along it */
  bool straight;      /* true if the path has a single move, which is the straight path of a step */
  double* begin;      /* coordinates at the start of the present step (size: nq) */
  double* from;       /* coordinates at the start of the straight path along which a proof is tried (size: nq) */
  double* recorded_q; /* coordinates at the last call of sim_path (size: nq) */
  double* increments; /* increments of the straight path from `from` (size: nv) */
  Pose* poses;        /* poses at the coordinates `from` (size: links) */
  Screw* screws;      /* screws of the joints at the coordinates `from` (size: nv) */
  MotionBounds bounds;
  Proof* proof; /* proof of straight paths between recorded states that are several substeps apart; NULL until needed */
  bool is_proof_at_recorded_state; /* true if the last state of `proof` is `recorded_q` */
} Path;

/* State at the start of a step, to which a failed step returns. It contains everything that sim_step writes except
 * SimState. */
typedef struct {
  double *q_now, *q_old;                  /* q^t, q^{t-1} (size: nq) */
  double* difference_old;                 /* q^t - q^{t-1} in joint increments (size: nv) */
  double* rate;                           /* copy of SimState.rate (size: nv) */
  Vec3* momentum;                         /* copy of SimState.momentum (size: links) */
  Vec3* contact_force;                    /* SimState.contact_force  (links), or NULL */
  Pose *pose_now, *pose_old, *pose_older; /* T^t, T^{t-1}, T^{t-2} (size: links) */
  double* q_older;                        /* q^{t-2}, or NULL (size: nq) */
} SimPast;

/* Choice of the number of substeps of the next step (simulate/substep.c). */
typedef struct {
  int last_count;          /* number of substeps of the last step */
  int steps_without_retry; /* number of consecutive steps that succeeded in the first attempt, with `last_count`
                              substeps */
  int attempted;           /* number of equal substeps of the last attempt, without the short substeps of impacts */
  int minimum;             /* smallest number of substeps with which this step may start */
  int reached;             /* number of solved substeps of the last attempt */
  bool may_refine; /* true if this attempt may be rejected in favour of more substeps, to resolve an oscillation of a
                      tree in free flight (tree_flight_needs_refinement) */
  bool is_refined; /* true if an attempt of this step was rejected because tree_flight_needs_refinement returned true */
} SubstepMemory;

/* All solves of the substeps of a step, except the last solve of each substep. */
typedef struct {
  int count, capacity;
  SimSolve* list;       /* the solves, in the order of time (size: capacity) */
  int* record_capacity; /* capacity of the array list[k].contacts (size: capacity) */
} SolveStore;

/* States between the substeps of the last step, one entry for each state. */
typedef struct {
  int count, capacity;
  StepClock* clock;    /* clock of the substep that ended in each state (size: capacity) */
  double* q;           /* coordinates in each state (capacity * nq) */
  Pose* pose;          /* poses of the links in each state (capacity * links) */
  Vec3* momentum;      /* angular momenta of the links in each state (capacity * links) */
  Vec3* contact_force; /* contact forces on the links in each state; NULL if no drive measures a force (capacity *
                          links) */
  double* delayed;     /* SimState.delayed, or NULL  (capacity * 2 delayed_count) */
  ContactRecord* contacts;
  int* contact_first_row; /* index in `contacts` of the first contact of each state (capacity + 1) */
  int contact_capacity;
  int* solve_end;    /* for each state: index in SolveStore.list after the last solve of the substep (size: capacity) */
  SimSubstate* list; /* the states, as sim_substates returns them (size: capacity) */
} SubstateStore;

/* Energies of the inertia and of the joint of one link [J]. */
typedef struct {
  double inertia, joint;
} LinkPart;

/* Vectors of Newton's method (size: nv unless stated). */
typedef struct {
  double* gradient; /* derivative of the step energy [N, N m] */
  double* delta;    /* search direction [m, rad] */
  double* scaled;   /* search direction times the step length of each tree [m, rad] */
  double* rhs;      /* right side of the linear system [N, N m] */
  double* solution; /* solution of the linear system, one entry for each unknown */
  /* change of the forces when prescribed joints move to their targets, the Hessian times `rhs` */
  double* push;
  double*
      curvature; /* contribution of each tree to the second derivative of the energy along `delta` [J] (size: trees) */
} NewtonVectors;

/* The present trial of the line search. */
typedef struct {
  bool* moving;                  /* true if the tree moves (size: trees) */
  double* step_length;           /* step length of each tree in the last trial; NAN without a trial in this line search
                                    (size: trees) */
  int *moved_trees, moved_count; /* list of the trees whose step length differs from the last trial; other trees keep
                                    their poses of that trial (size: trees) */
  bool* same;                    /* true if the accepted and the trial configuration have equal data of the link (size:
                                    links) */
  bool* moved_link;   /* true if the link may have moved since the last evaluation of contact (size: links) */
  bool* inside;       /* true if the joints of the tree are within their limits (size: trees) */
  LinkPart* rounding; /* rounding errors of the energies of each link (size: links) */
  LinkPart* change;   /* energy changes of each link (size: links) */
} LineSearchTrial;

/* Terms that are out of date, and trees that need no direction. */
typedef struct {
  bool* stale;              /* true if the terms of the tree are out of date (size: trees) */
  bool* stale_blocks;       /* true if the Hessian block of a tree is out of date, indexed by the place of the tree in
                               Sim.scope (size: trees) */
  bool* always_stale;       /* true if closures, tendons or bushings act on the tree (size: trees) */
  bool all_stale;           /* true if all terms are out of date, including the terms of immovable links */
  bool* balanced;           /* result of the last balance_test_tree: true if the tree was balanced (size: trees) */
  bool* is_balance_current; /* true if no term of the tree has been assembled since the last balance_test_tree (size:
                               trees) */
  bool* needs_direction;    /* true if a direction is computed for the tree (size: trees) */
  bool* link;               /* scratch: set of links to which a function applies (size: links) */
} SolverMarks;

/* Components of the block matrix: sets of trees that the matrix couples (at most trees). */
typedef struct {
  int* of_tree; /* component of each tree (size: trees) */
  bool *wanted, *solved, *failed;
  double* lift; /* lower bound to which the eigenvalues of each component are raised */
} MatrixComponents;

/* Quantities of links from which the step's energy is assembled. */
typedef struct {
  double (*twist)[6];  /* motion of each link under NewtonVectors.delta (size: links) */
  Screw* screws;       /* screws of the joints at the accepted configuration (size: nv) */
  Vec3* reference;     /* centres of mass of the links, world [m] (size: links) */
  LinkTerms* terms;    /* terms of each link; after the assembly sums over the link and its descendants (size: links) */
  TreeTermLists sides; /* pair terms of each tree in the last assembly */
} LinkAssembly;

/* Magnitudes of forces, to which residuals are compared. */
typedef struct {
  ForceMagnitudes* link; /* magnitudes of the forces on each link and its descendants (size: links) */
  double* dof;           /* reference force of each degree of freedom for its residual [N, N m] (size: nv) */
} ForceScales;

/* Islands of the accepted state (at most trees). */
typedef struct {
  int* of_tree; /* index of the island of each tree (size: trees) */
  int* of_link; /* island of each link, -1 if it cannot move (size: links) */
  Island* list;
  bool* refused; /* true if some pair of the island makes the trial fail */
  int* group;    /* group of each island; islands of a group interact in the trial */
  int count;
} IslandSet;

/* Sparsity pattern of the block matrix. */
typedef struct {
  int version;
  bool is_set;
  uint64_t *couplings, *fresh_couplings; /* couplings: pairs of trees in the sparsity pattern, sorted; fresh_couplings:
                                            pairs of trees that are being collected */
  int known_couplings, capacity, fresh_capacity;
} SparsityPattern;

/* Workspace of the certificate and of sim_finds_tunneling. */
typedef struct {
  MotionBounds bounds;
  bool* is_still; /* true if the motion bounds of the tree in `bounds` are zero (size: trees) */
  double* q;      /* coordinates on the path (size: nq) */
  double* extent; /* radius of each link about its centre of mass [m], half-spaces excluded; 0 if the link has no other
                     hull (size: links) */
  Vec3* moved;    /* displacement of each centre of mass [m] (size: links) */
} CertificateWork;

/* Parts of the scene that are solved independently (simulate/subsystems.c). */
typedef struct {
  struct Subsystems* parts;     /* NULL if the scene is not solved in independent parts */
  struct SubsystemMoves* moves; /* moves accepted in an independent part; NULL in the solve of the whole scene */
  const int* solved_in;         /* independent part in which each tree has been solved in this step, or -1; NULL if no
                                   tree has been solved in a part (size: trees) */
  bool leaves_region;           /* true if the motion of the independent part leaves the region of the part */
} SubsystemSolve;

/* Steps that are computed again from a recording. */
typedef struct {
  bool steps;             /* true if the steps are recorded steps, whose terms are differentiated */
  const StepClock* clock; /* while a recorded step is differentiated with respect to its length: borrowed clock of that
                             step, about which signals are linear (signal_span.h); otherwise NULL */
} ReplayedSteps;

/* Drives of all joints. */
typedef struct {
  JointDrive* drives; /* drives of all joints, sorted by link */
  int* first;         /* index of the first drive of each link (size: links + 1) */
} DriveList;

/* Links of each tree. */
typedef struct {
  int* first; /* index of the first link of each tree in `links` (size: trees + 1) */
  int* links; /* links by tree, parents first (size: links) */
} TreeLinks;

/* Prescribed joints. */
typedef struct {
  double* target; /* target coordinates (size: nq) */
  bool* is_fixed; /* true if the degree of freedom is prescribed (size: nv) */
  int count;      /* number of prescribed degrees of freedom */
} PrescribedJoints;

/* Impacts at joint limits (simulate/stops.c). */
typedef struct {
  JointStop* stop; /* impact of each coordinate with a limit; NULL if no limit has restitution (size: nv) */
  double* mass; /* mass of each coordinate at the start of the run, rounded to a power of two [kg, kg m^2] (size: nv) */
} JointStops;

/* Forces and reactions along joints; NULL if not requested. substep_forces, substep_reactions: values of the last
 * substep. forces, reactions: values of the last step, written by sim_step. */
typedef struct {
  double *substep_forces, *forces; /* forces along the joints, by kind and degree of freedom [N, N m] (kinds * nv) */
  double (*substep_reactions)[6], (*reactions)[6]; /* force and torque in the joint of each link (size: links) */
  double (*reaction_sum)[6];                       /* scratch: force and torque on each link [N, N m] (size: links) */
} JointReports;

/* Friction by the force of the same step (simulate/initial_friction.c, simulate/friction_iteration.c). */
typedef struct {
  bool iterates;    /* true while friction_iteration_solve runs; the step is then solved except for friction */
  bool has_initial; /* true if `initial` belongs to the last step */
  InitialFriction initial;
  double* initial_q;  /* memory for initial.q; NULL until needed (size: nq) */
  Pose* initial_pose; /* memory for initial.pose (size: links) */
} FrictionSolve;

/* Substeps of the last step. */
typedef struct {
  SubstateStore states; /* states between the substeps */
  SolveStore solves;
} SubstepStore;

/* State at the start of a step, to which a failed attempt returns. */
typedef struct {
  SimPast past; /* allocated in the first step */
  StepClock reached, clock;
  StepWeights weights;
} SavedStart;

/* Arrays that sim_contacts and sim_contact_records return. */
typedef struct {
  SimContact* contacts;
  ContactRecord* records;
  int contact_capacity, record_capacity;
} ReportedContacts;

/* The state of a run. sim_serialize_state (simulate/snapshot.c) must also store new members on which later steps
 * depend. */
struct Sim {
  const Model* model;
  Model* own_model; /* copy of the model, which `model` points to; NULL if no closure is switched by the key `active` */
  SimOptions options;
  double tolerance; /* largest admissible residual force, relative to the acting forces (balance.c) */
  SimState state;   /* public state; state.pose points to pose_now */

  /* history, written by sim_step at its end */
  double *q_now, *q_old;                  /* q^t, q^{t-1} (size: nq) */
  double* difference_old;                 /* q^t - q^{t-1} in joint increments (size: nv) */
  double* q_older;                        /* q^{t-2}; NULL if no joint has an armature (size: nq) */
  Pose *pose_now, *pose_old, *pose_older; /* T^t, T^{t-1}, T^{t-2} (size: links) */
  Pose* pose_rate;                        /* dT/dt of the initial velocities (affine) (size: links) */
  double* start_rate;                     /* initial velocities (size: nv) */
  double* rate_before; /* rates in the previous step; initial velocities before the first step (size: nv) */

  /* systems of the scene, created once */
  ContactSystem* contact;         /* contact between hulls; NULL without contact */
  ClosureSystem* closures;        /* closures and couplings; NULL without them */
  struct TendonSystem* tendons;   /* tendons; NULL without tendons */
  struct BushingSystem* bushings; /* bushings; NULL without bushings */
  struct FluidSystem* fluid;      /* drag and buoyancy of the fluid; NULL without a fluid */
  struct DelayHistory* delays;    /* measurements at earlier states; NULL without delayed measurements */
  struct SpinBody* spin_bodies;   /* links that integrate their angular momentum; NULL without them (size: links) */
  struct TreeFlight* flight;      /* trees that conserve their momentum; NULL without them */
  JointStops joint_stops;
  DriveList drive_list;
  double* feedback; /* feedback inputs of all drives in the present substep, set by step_prepare; NULL without feedback
                       (Model.feedback_count) */
  double gain_dt;   /* reference step length of velocity gains [s]: their dampers do not depend on the length of a
                       substep */
  TreeLinks trees;
  BlockSolver* solver;

  StepClock clock;   /* clock of the current substep, or of the next one */
  StepClock reached; /* clock of the substep that ended in the current state */

  /* targets of the present step, written by step_prepare */
  StepWeights weights;
  Pose* target; /* target pose of every link: its pose at t + dt if no force except gravity acted (size: links) */
  struct RollShift* shifts; /* changes of hinge axes and lever arms for friction of rolling bodies (roll_shift.h); NULL
                               if no tree conserves its momentum in flight (size: links) */
  struct LinkLoad* loads;   /* sum of the loads on each link; NULL without loads (size: links) */
  struct InternalForces* internal_forces; /* loads of tendons at t (loads.md, L21); NULL if there are none */
  double* armature_target; /* displacement of each coordinate since t that armature inertia alone predicts; NULL without
                              armatures (size: nv) */
  PrescribedJoints prescribed_joints;
  ReplayedSteps replayed;

  /* solve of a substep */
  SolveScope scope; /* trees that Newton's method solves: all trees of the scene, or the trees of an independent set of
                       islands (simulate/subsystems.c) */
  SubsystemSolve subsystems;
  int iteration_limit; /* iteration limit of the present attempt (simulate/substep.c) */
  Configuration configuration[2];
  int current; /* index of the accepted configuration */
  NewtonVectors newton;
  LineSearchTrial trial;
  SolverMarks marks;
  MatrixComponents components;
  SparsityPattern pattern;
  IslandSet island_set;
  LinkAssembly assembly;
  ForceScales force_scales;
  CertificateWork certificate;
  FrictionSolve friction_solve;
  SimTimes times;
  Path path; /* result of sim_path, written by simulate/path.c */

  /* substeps and their states, written by sim_step */
  SubstepMemory substep_memory;
  SubstepStore substeps;
  SavedStart saved;

  /* results for output */
  struct SchemeBalance* balance; /* energy added by the scheme (simulate/scheme_work.c); NULL if not measured */
  struct MiddleMotion* middle;   /* scratch for kinetic energy and angular momentum; NULL unless the integrator is
                                    `momentum` (simulate/measure.c) */
  JointReports joint_reports;
  ReportedContacts reported;
};

/* ---- simulate/path.c; the functions do nothing without options.path */
/* Allocates sim->path, which path_destroy frees. Does nothing if options.path is false. Also does nothing if the scene
 * has no certificate or no degree of freedom. */
void path_create(Sim* sim);
/* Frees everything that the path owns. Accepts a zeroed path. */
void path_destroy(Path* path);
/* Makes the present state the start of the path. Copies its coordinates (nq). */
void path_restart(Sim* sim);
/* Begins recording the moves of a (sub)step. Stores the coordinates (nq) at its start and marks the pairs in contact.
 * Call before the (sub)step is solved. path_end must follow. */
void path_begin(Sim* sim);
/* Ends recording the moves of a (sub)step. time: time of the new state [s]. If reached is false, drops the moves since
 * path_begin. Otherwise replaces them by fewer moves where a straight path is proved. */
void path_end(Sim* sim, bool reached, double time);
/* Stores the numbers of moves and substeps at the start of a step. Copies no moves. */
void path_save_counts(Sim* sim);
/* Drops the moves and substeps since path_save_counts. Call after a substep has failed. */
void path_restore_counts(Sim* sim);
/* Appends a move with zero increments and returns its increments (nv), owned by the path. Returns NULL if moves are
 * not recorded. Allocates when a step has more moves than any before. */
double* path_append_zero_move(Sim* sim);
/* Appends the move s->scaled (nv, copied), before it is accepted. Allocates when a step has more moves than any before.
 */
void path_append_move(Sim* sim);

/* ---- simulate/crossing.c (docs/derivations/certificate.md, P9) */
/* Returns the array for Sim.extent (links) [m]. The caller frees it with memory_free. */
double* crossing_link_radii(const Model* model);
/* Returns true if two links tunnel through each other between the poses from[links] and to[links]. The links would
 * collide on straight paths, and each is behind the other at the end. Sets *found to these links. Returns false if the
 * scene has no certificate. Pairs without a barrier are not examined. Overwrites Sim.moved. */
bool sim_finds_tunneling(const Sim* sim, const Pose* from, const Pose* to, BlockingPair* found);

/* Writes all state on which later steps depend to a block of memory, reads it, or measures its size
 * (simulate/snapshot.c). block->pass selects the operation. Sets block->failed if a block that is read is not a state
 * of this model. */
void sim_serialize_state(Sim* sim, StateBlock* block);
/* Reads the state from the block and updates SimState. Returns false if the block is not a state of this model; the
 * caller must then destroy the Sim. */
bool sim_read_state(Sim* sim, StateBlock* block);
/* Starts the run from the model's stored state (simulate/start.c). Contact must be created, but not evaluated yet. If
 * the stored state is damaged or bodies intersect, adds a message to diagnostics and returns STATUS_BAD_INPUT. The
 * caller must then destroy the Sim. */
Status sim_start_from_stored_state(Sim* sim, Diagnostics* diagnostics);

/* Returns a Sim in the initial state, without contact, for evaluating the equations of single steps. The caller frees
 * the Sim with sim_destroy. */
Sim* sim_create_without_contact(const Model* model, int threads);

/* Sets weights, targets, drives, loads and tensions for the step of sim->clock (simulate/prepare.c). */
void step_prepare(Sim* sim);
/* Returns the integrator's weights for the step of `clock`. The length of this step may differ from the length of the
 * previous steps (S3, S13). */
StepWeights step_weights(Integrator integrator, const StepClock* clock);
/* Returns true if the end time of the substep depends on the state. */
static inline bool step_end_depends_on_state(const StepClock* clock) {
  return clock->end == END_AT_EVENT || clock->end == END_AT_CLOSURE_OPENING ||
         (clock->begin_varies && !(clock->end == END_AT_FRACTION && clock->share == 1));
}
/* Returns the time over which a force of the step changes the momentum [s], > 0 (S13, S15). With first-order weights,
 * it is dt / factor. With second-order weights, which spread the change over later steps, it is dt. */
double step_force_time(Integrator integrator, const StepClock* clock);
/* Returns step_force_time of the previous step divided by step_force_time of this step, or 1 for the first step
 * (impact.md, I5). */
double step_force_ratio(Integrator integrator, const StepClock* clock);
/* Makes the solved configuration the present state and advances the clock. Sets momenta, rates and measured forces of
 * SimState. Stores the poses of the two previous states. Allocates only for delays. */
void sim_advance(Sim* sim);
/* Sets q_old (nq) to the coordinates from which the model's initial velocities lead to q (nq) in a step of length dt
 * [s], and difference (nv) to dt times these velocities. */
void sim_coordinates_before_start(const Model* model, const double* q, double dt, double* difference, double* q_old);
/* Updates SimState: copies q (nq) and centres of mass (links); state.pose points to the present poses. */
void sim_update_public_state(Sim* sim);
/* Sets sim->clock to equal substep `index` (0 to count - 1) of the next step. Sets end time and length [s], and
 * END_AT_FRACTION with share 1. */
void sim_set_clock(Sim* sim, int count, int index);
/* Returns true if initial_friction_solve must be called before the substep is solved (friction.md, F6). This is the
 * first substep of a run if friction acts at the start. */
bool initial_friction_needed(const Sim* sim);
/* Solves the first substep without friction, and sets the friction limits of the pairs from its normal forces. Then
 * returns to the start of the substep. Sets *report to the report of this solve. Returns false if the solve fails.
 * Allocates. */
bool initial_friction_solve(Sim* sim, StepReport* report);
/* Frees the memory of the frictionless solution of the first step. */
void initial_friction_free(Sim* sim);
/* Returns to the start of the substep (CONTACT_SUBSTEP_START), or to the start of the step (CONTACT_STEP_START), which
 * undoes all its substeps. contact_save must have been called at that state. Allocates while the contact candidates
 * grow. */
void step_restore(Sim* sim, ContactMemory to);
/* Adds the work counters of `from` to the work counters of `to`: iterations, trials, certified_intervals and
 * factor_retries. */
void step_add_counters(StepReport* to, const StepReport* from);
/* Frees the memory of substeps and the backup of the state. */
void substates_free(Sim* sim);
/* ---- simulate/friction_iteration.c: the normal force of the same step limits friction (docs/derivations/friction.md,
 * F8) */
/* Repeats the solve of a step until the normal forces that limit friction converge. Makes at most
 * contact.friction_iterations solves. Stores all solves except the last. Adds the work counters to *report, and sets
 * report->friction_open if the forces do not converge. Call after step_solve has succeeded. Allocates while contact
 * pairs or stored solves grow. */
void friction_iteration_solve(Sim* sim, StepReport* report);
/* Discards the stored solves of a substep that was not accepted. */
void friction_iteration_discard(Sim* sim);
/* Frees what friction_iteration_solve allocated. */
void friction_iteration_free(Sim* sim);
/* ---- simulate/subsystems.c: trees that are not coupled are first solved independently (docs/derivations/step.md, S17)
 */
/* Allocates sim->parts, which subsystems_destroy frees. Does nothing if the scene has no independent trees. Call after
 * contact_reset. */
void subsystems_create(Sim* sim);
/* Frees the independent parts of the scene and their copies of the Sim. Accepts NULL. */
void subsystems_destroy(struct Subsystems* parts);
/* Solves independent parts of the scene. Call at the start of a step, when all terms are out of date and the
 * configuration is evaluated. Adds the work to *report, including the work of parts that were not solved. If all trees
 * are solved, sets the outcome to the worst one of a part and the residual to the largest one. Sets the outcome to
 * STEP_INTERRUPTED if a part was interrupted. Otherwise the caller must solve the remaining trees. Returns the largest
 * number of iterations of a part. Allocates while lists grow. */
int subsystems_solve(Sim* sim, StepReport* report);
/* Returns the number of parts that left their region in the last solve. The caller solves the trees of these parts
 * together. */
int subsystems_left_region(const Sim* sim);
/* Records the move s->scaled (joint increments) in the solve of a subsystem, before the move is accepted. Allocates
 * when a subsystem has more moves than any before. */
void subsystem_add_move(Sim* sim);
/* Iterates Newton's method from the accepted configuration until the step is solved or fails, and sets the outcome in
 * *report (simulate/newton.c). */
void newton_iterate(Sim* sim, StepReport* report);
/* Computes the screws of the joint, the centre of mass and the terms of inertia of link i at the present configuration
 * (simulate/step_terms.c). */
void step_link_terms(Sim* sim, int i);
/* Returns the worse of two outcomes of a solve, the later one in the order of StepOutcome. */
static inline StepOutcome step_worse(StepOutcome a, StepOutcome b) { return a > b ? a : b; }
/* Returns the report of a step before its first iteration. residual: INFINITY if the step failed by overflow, otherwise
 * 0. */
static inline StepReport step_unsolved(double residual) {
  return (StepReport){.outcome = STEP_NO_SOLUTION, .residual = residual, .residual_dof = -1};
}
/* Returns the report of a step with nothing to solve, to which reports of work are added. */
static inline StepReport step_no_work(void) { return (StepReport){.outcome = STEP_CONVERGED, .residual_dof = -1}; }
/* Solves the step by Newton's method with line search (simulate/newton.c). Starts from the accepted configuration and
 * makes at most s->iteration_limit iterations. Returns the reason why it stopped. After a failure, the caller restores
 * the configuration. */
StepReport step_solve(Sim* sim);
/* Returns true if a controller prescribes the motion of some link (simulate/substep.c). */
bool sim_has_prescribed_motion(const Sim* sim);
/* Computes the acting forces s->force_scale (nv) [N, N m] at the present configuration (simulate/balance.c). Link terms
 * must contain inertia only. */
void balance_compute_force_scales(Sim* sim, const Assembly* assembly);
/* Returns the admissible residual of a degree of freedom [N, N m]. It is the tolerance times the acting forces, plus
 * the scene's absolute tolerance. For a torque, the absolute tolerance is multiplied by ModelLink.reach of the link. */
double balance_tolerance(const Sim* sim, int dof);
/* Returns true if the residual of a degree of freedom is admissible. NaN is not admissible. */
bool balance_is_reached(const Sim* sim, int dof);
/* Returns true if all trees with closures meet the stricter tolerance of this iteration (closures_tolerance_factor;
 * closures.md, Z10). */
bool balance_closures_are_reached(const Sim* sim);
/* Tests whether a tree is balanced, and stores the result in s->balanced[tree]. A tree is balanced if all free degrees
 * of freedom have an admissible residual in the present gradient. */
void balance_test_tree(Sim* sim, int tree);
/* Returns true if the tree was balanced at the last balance_test_tree. arrived: true if prescribed joints are at their
 * targets. If false, a tree with a prescribed joint counts as not balanced. */
bool balance_tree_is_reached(const Sim* sim, int tree, bool arrived);
/* Largest residual, relative to the acting forces, with which a step may end as STEP_ROUNDING_FLOOR. */
#define ROUNDING_FLOOR_RESIDUAL_MAX 1e-2
/* Tolerance of the times of jumps, relative to the time step, so that rounding does not decide: a jump just before the
 * end of a span belongs to the next span, and a jump just before the start of a substep has not passed. */
#define JUMP_TOLERANCE 1e-9
/* Returns true if rounding explains all residuals that are above the admissible one (S16). The rounding of coordinates
 * causes errors in the forces of inertia, drives, joints and contact. assembly: terms of the accepted state for the
 * trees of sim->scope; NULL ignores contact. */
bool balance_is_at_rounding(const Sim* sim, const Assembly* assembly);
/* Returns the change of speed that the residual force |g| of a degree of freedom causes in this substep [m/s]. It is
 * |g| dt v / M. v: largest speed of a link at a unit rate of the degree of freedom. M: sum over the links of mass times
 * squared speed at this rate. Contact and springs, which reduce this change, are ignored. Returns INFINITY if the
 * degree of freedom moves no mass. */
double balance_speed_error(const Sim* sim, int dof);
/* Returns the largest number from which the position `place` of a link is computed [m]. It determines the rounding
 * error of the position. The number is the distance of `place` from the world's origin, or the largest displacement of
 * a slide joint between the world and the link. q[nq]: coordinates. */
double balance_position_magnitude(const Sim* sim, int link, Vec3 place, const double* q);
/* Returns the largest balance_position_magnitude of all movable links in the present state [m]. */
double balance_largest_position(const Sim* sim);
/* Returns the largest residual of the free degrees of freedom, relative to the acting forces. It is at most the
 * tolerance if all are balanced. Returns NaN if a gradient is not finite. Sets *worst to the degree of freedom with
 * this residual, or to -1 if all residuals are zero. */
double balance_residual(const Sim* sim, int* worst);
/* Result of the line search along s->delta (simulate/line_search.c). An accepted step is feasible, satisfies Armijo's
 * rule and has a certificate. */
typedef enum {
  SEARCH_ACCEPTED,
  SEARCH_AT_ROUNDING, /* a step was accepted without a test of the energy, because the predicted decrease is below
                         rounding */
  SEARCH_FAILED,
  SEARCH_LEAVES_REGION, /* no step was accepted, because the path leaves the region of the independent part */
} LineSearchResult;
/* Performs the line search along s->delta. Adds trials and certified_intervals to *report. arrived: true if prescribed
 * joints are at their targets. */
LineSearchResult line_search_run(Sim* sim, bool arrived, StepReport* report);
/* Tries the motion of the last time step as a start for Newton's method. Returns true if this motion passes the line
 * search's tests and was accepted. Otherwise returns false, and the accepted configuration is unchanged. */
bool line_search_repeat_last_step(Sim* sim, StepReport* report);
/* ---- simulate/step_terms.c */
/* Assembles the gradient of the step's energy and the link terms at the accepted configuration. contact: contact terms.
 * Sets s->gradient (nv), s->force_scale, and *assembly, the input of assemble_hessian. *assembly borrows from the Sim
 * and from `contact` until the next assembly. */
void step_assemble(Sim* sim, ContactTermList contact, Assembly* assembly);
/* Marks all assembled terms as out of date. Call at the start of a step. */
void step_mark_all_stale(Sim* sim);
/* Marks the terms of the trees that moved (s->moving) as out of date. Also marks trees that a pair couples to these
 * trees before or after the move. Call after a move was accepted. */
void step_mark_moved_stale(Sim* sim);
/* Marks the terms of trees as out of date. links[link] is true for each link whose tree is marked. */
void step_mark_stale(Sim* sim, const bool* links);
/* Returns true if the increments v[nv] of all degrees of freedom of the tree are zero. */
static inline bool step_tree_is_still(const Sim* sim, int tree, const double* v) {
  const ModelTree* t = &sim->model->trees[tree];
  bool still = true;
  for (int d = t->dof_first; d < t->dof_first + t->dof_count; d++) still = still && v[d] == 0;
  return still;
}
/* Returns true if the terms of the link are out of date. */
static inline bool step_is_stale(const Sim* sim, int link) {
  int tree = sim->model->link_tree[link];
  return sim->marks.all_stale || (tree >= 0 && sim->marks.stale[tree]);
}
/* Assembles gradient and link terms at the accepted configuration for all trees, without changing the force scales
 * s->force_scale. contact: contact terms. *assembly is borrowed until the next assembly. */
void step_assemble_keeping_scales(Sim* sim, ContactTermList contact, Assembly* assembly);
/* Computes the derivatives of the closure equations with respect to the coordinates, at the configuration of the last
 * assembly. Newton directions and joint forces require them. Does nothing without closures. */
void step_compute_closure_jacobian(Sim* sim);
/* ---- simulate/pattern.c */
/* Adds the pairs of trees that the contact terms couple to the sparsity pattern of the Hessian. Allocates if the
 * pattern grows. */
void step_extend_pattern(Sim* sim, ContactTermList contact);
/* Updates the sparsity pattern if the candidate pairs of contact have changed. Allocates if the pattern grows. */
void step_update_pattern(Sim* sim);
/* ---- simulate/direction.c */
/* Computes Newton's direction s->delta (nv) from the assembled gradient and terms (S9). The direction is 0 for trees
 * that are balanced and whose prescribed joints have reached their targets (s->rhs is 0). If the Hessian is indefinite,
 * the stiffness of closures is raised first (closures_stiffen). If the Hessian is still indefinite, the terms are
 * assembled again without the curvature of the motion (Gauss-Newton) and with each pair's Hessian projected to a
 * semidefinite one. In the last resort, the eigenvalues of each component of the matrix are raised to positive values.
 * Returns false if some tree got no direction. Allocates as step_extend_pattern. */
bool step_direction(Sim* sim, Assembly* assembly, StepReport* report);
/* Corrects the forces of pairs with restitution by one more Newton step (impact.md, I13). Its displacement is below
 * the rounding of positions. Call after a substep of an impact was solved. Overwrites s->delta and s->twist. Allocates
 * if the sparsity pattern grows. */
void step_refine_impacts(Sim* sim);
/* Copies the entries of from[nv] to to[nv] for the degrees of freedom of sim->scope. */
void solve_scope_copy(const Sim* sim, double* to, const double* from);
/* Forces along the joints at the solved configuration (simulate/joint_forces.c). They are computed before the
 * configuration becomes the present state. */
/* Allocates the joint forces (JOINT_FORCE_KINDS x nv, row-major) if the scene's output requests forces; freed by
 * sim_destroy. */
void joint_forces_create(Sim* sim);
/* Computes s->substep_forces (JOINT_FORCE_KINDS x nv) [N, N m]. Does nothing if the output does not request forces. */
void joint_forces_compute(Sim* sim);
/* Copies s->substep_forces to s->joint_forces, the forces of the step. Does nothing if the output does not request
 * forces.
 */
void joint_forces_publish(Sim* sim);
/* ---- simulate/reactions.c (docs/derivations/observables.md, O1) */
/* Allocates the reactions if the scene's output requests them; freed by sim_destroy. */
void reactions_create(Sim* sim);
/* Computes s->substep_reactions (links) at the solved configuration. Assembles the terms again. Does nothing if the
 * output does not request reactions. Call before the configuration becomes the present state. */
void reactions_compute(Sim* sim);
/* Copies s->substep_reactions, the joint reactions of the last substep, to s->reactions, the reactions of the step. */
void reactions_publish(Sim* sim);
/* Sets out (links) to the force and torque of each joint on its link that balance the assembled terms. Each has the
 * force [N], then the torque about the origin of the link frame [N m]. */
void reactions_from_terms(Sim* sim, double (*out)[6]);
/* ---- simulate/measure.c */

/* Configuration and velocities in the middle of a substep. */
typedef struct MiddleMotion {
  double* q;     /* coordinates (size: nq) */
  Pose* pose;    /* poses of the links (size: links) */
  Screw* screws; /* screws of the joints (size: nv) */
  /* centres of mass [m], their velocities [m/s], angular velocities [rad/s], world (size: links) */
  Vec3 *center, *v, *w;
} MiddleMotion;

/* Creates Sim.middle if the integrator is `momentum`; otherwise it stays NULL. The Sim owns it. */
void middle_motion_create(Sim* sim);
/* Frees `middle` and its arrays, which the caller owns. NULL is allowed. */
void middle_motion_destroy(MiddleMotion* middle);

/* ---- simulate/scheme_work.c (docs/derivations/step.md, S23); all functions do nothing without SimOptions.scheme_work
 */
/* Allocates Sim.balance, the energy balance of the scheme, and sets it for the present initial state.
 * scheme_balance_destroy frees it. */
void scheme_balance_create(Sim* sim);
/* Stores the contact energy of the initial state. Contact may do this much work on bodies. Call after contact has
 * evaluated the initial state. Does nothing without sim->balance or contact. */
void scheme_balance_set_contact_energy(Sim* sim);
/* Frees the balance and everything that the balance owns. Accepts NULL. */
void scheme_balance_destroy(struct SchemeBalance* balance);
/* Adds the energy change of the links and the work of forces in an accepted substep to the sums of the energy balance.
 * Call after the substep of sim->clock. */
void scheme_balance_add_substep(Sim* sim);
/* Stores the sums of the energy balance at the start of a step. */
void scheme_balance_save(Sim* sim);
/* Restores the sums of scheme_balance_save. Call after a substep has failed. */
void scheme_balance_restore(Sim* sim);
/* Discards the energies with which the next substep is compared. The next substep then adds nothing to the sums. Call
 * after the present state was replaced. */
void scheme_balance_reset_reference(Sim* sim);
/* Writes or reads the sums of the energy balance in a block of a stored state, or measures their size. Sets
 * block->failed if the block ends too early. */
void scheme_balance_serialize_state(Sim* sim, StateBlock* block);
/* ---- simulate/configuration.c */
/* Returns the weights of the coordinates at t + dt, t and before at which a spring acts in the step of `clock`
 * (drives.md, M10). theta: implicitness of the spring. flies: true if the spring belongs to a tree that conserves its
 * momentum. The first step of such a tree contains gravity for half of its length. */
SpringTimeWeights spring_time_weights(const StepClock* clock, const StepWeights* weights, double theta, bool flies);
/* Returns the derivative of spring_time_weights with respect to theta. */
SpringTimeWeights spring_time_weights_derivative(const StepClock* clock, const StepWeights* weights, double theta,
                                                 bool flies);
/* Returns the time weights of the springs and position gains of a link's joint in the present step (M10). */
SpringTimeWeights step_spring_time_weights(const Sim* sim, int link);
/* Returns the derivative of step_spring_time_weights with respect to ModelLink.spring_theta. */
SpringTimeWeights step_spring_time_weights_derivative(const Sim* sim, int link);
/* Returns the input of joint_terms for a link's joint at the configuration c. Borrows c and the Sim. */
JointInput step_joint_input(const Sim* sim, const Configuration* c, int link);
/* Sets the members pose, inertia, joints, tendons, bushings and closures of c from the coordinates c->q. Returns false
 * if a coordinate is beyond a barrier limit; all members are set in both cases. */
bool configuration_evaluate(Sim* sim, Configuration* c);
/* Sets *to to the accepted configuration moved by the joint increments s->scaled (nv), and evaluates *to. Trees whose
 * step length has not changed since the last trial keep their data. Returns false if a coordinate is beyond a barrier
 * limit. */
bool configuration_set_trial(Sim* sim, Configuration* to);

/* Returns the weight of the inertial energy in the present step, StepWeights.factor / dt^2 [1/s^2] (S1). */
static inline double step_inertia_weight(const Sim* sim) {
  return sim->weights.factor / (sim->clock.dt * sim->clock.dt);
}

/* Step lengths with a relative difference below this count as equal. */
#define EQUAL_LENGTH_TOLERANCE 1e-9
/* Returns true if a step length [s] equals that of the step of `clock`. */
static inline bool is_step_length(const StepClock* clock, double length) {
  return fabs(length - clock->dt) < EQUAL_LENGTH_TOLERANCE * clock->dt;
}

/* Returns the length of the present step divided by the length of the previous step; 1 for the first step. */
static inline double step_length_ratio(const Sim* sim) {
  return sim->clock.dt_before > 0 ? sim->clock.dt / sim->clock.dt_before : 1;
}

#endif
