/* simulate: the state of a run and the step that advances it (SDRS section IV; docs/derivations/step.md). A Sim owns
 * its state and borrows the Model, which must outlive it. sim_create allocates; sim_step allocates only while the set
 * of neighbouring pairs grows. Results do not depend on the number of threads. */
#ifndef SDRS_SIMULATE_H
#define SDRS_SIMULATE_H

#include "contact/contact.h"
#include "model/model.h"

typedef struct Sim Sim;

typedef struct {
  int threads;      /* >= 1 */
  double tolerance; /* relative to the acting forces; 0 = the scene's */
  bool path;        /* record the solver's moves for sim_path */
  bool scheme_work; /* measure the energy change by the scheme for sim_scheme_work */
  bool (*interrupted)(
      void); /* polled in every iteration of a step, by all threads; true interrupts the step. NULL: never */
} SimOptions;

/* State after `step` steps. */
typedef struct {
  int step;
  double time;     /* s */
  double* q;       /* joint coordinates  [m or rad, unit quaternions]  (nq) */
  double* rate;    /* (q - q_before) / dt, link axes for balls [m/s or rad/s]  (nv) */
  Pose* pose;      /* world pose of every link frame  (links) */
  Vec3* center;    /* world centre of mass  [m]  (links) */
  Vec3* momentum;  /* angular momentum about the centre of mass, world axes, of links that integrate it (integrator
                      `momentum`), otherwise 0 [kg m^2/s] (links) */
  Vec3* felt;      /* contact and friction force on each link over the last step, world axes, 0 at the start; NULL if no
                      drive measures one [N] (links) */
  double* delayed; /* for each drive with feedback and a delay: the delayed measurements that it receives now, then
                      their time derivatives; NULL without such drives (2 * Model.delayed_count) */
} SimState;

/* Role of a step or substep in an impact (docs/derivations/step.md, S15). */
typedef enum {
  STEP_FREE,
  STEP_STRIKES,  /* second_order, restitution 0: an approach ends in it; first order, as the next two */
  STEP_STRUCK,   /* a step after that while contact forces of the impact act, or in which the last contact ends */
  STEP_RECOVERS, /* one more step after STEP_STRUCK */
  STEP_IMPACT,   /* one of the short substeps of an impact */
  STEP_LEAVES,   /* the first step after an impact; without second_order also a step or substep near an impact whose
                    length differs from the one before */
} StepKind;
/* The rule that sets the end of a substep (impact.md, I10). */
typedef enum {
  END_SHARE, /* after a given fraction of the remaining step; 1: at the end of the step */
  END_SHORT, /* a fixed length that does not depend on the state */
  END_EVENT, /* the start of the impact of a pair of hulls, or of a joint at its limit, or a closure closes */
  END_OPENS, /* a closure opens: as END_SHARE, and the fraction follows from its force in the two substeps before
                (closures.md, Z21) */
} StepEnd;

/* The event at the end of a substep with END_EVENT. */
typedef enum {
  EVENT_HULLS,   /* an impact of two hulls begins (impact.md, I10) */
  EVENT_LOWER,   /* an impact of a coordinate at its lower limit begins (impact.md, I15) */
  EVENT_UPPER,   /* the same at its upper limit */
  EVENT_CLOSURE, /* a closure closes (closures.md, Z20) */
} StepEventKind;
typedef struct {
  StepEventKind kind;
  int hull_a, hull_b; /* for EVENT_HULLS, otherwise 0 */
  union {
    int dof;     /* for EVENT_LOWER, EVENT_UPPER */
    int closure; /* for EVENT_CLOSURE, END_OPENS */
  };
  double rise; /* for END_OPENS: change of the closure's force in the substep before [N] */
} StepEvent;

/* Time interval of a step, with the lengths of the two steps before. */
typedef struct {
  double time;                /* end time [s] */
  double dt;                  /* s */
  double dt_before;           /* length of the step that led to the present state; 0: start of the run [s] */
  double dt_older;            /* length of the step before that; 0: none [s] */
  StepKind kind, kind_before; /* kind_before: kind of the step that led to the present state */
  StepEnd end;
  double share;                                /* fraction of the remaining step, for END_SHARE */
  StepEvent event;                             /* for END_EVENT */
  bool begin_varies;                           /* the start time depends on the state */
  bool dt_varies, before_varies, older_varies; /* dt, dt_before, dt_older depend on the state */
} StepClock;

typedef enum {
  STEP_CONVERGED,      /* balanced to the tolerance */
  STEP_ROUNDING_FLOOR, /* residual above the tolerance, but the predicted decrease is below rounding */
  STEP_MAX_ITERATIONS, /* not converged: the previous state is kept */
  STEP_LINE_SEARCH,    /* no acceptable step length: the previous state is kept */
  STEP_BLOCKED,        /* a prescribed link cannot move without penetrating something */
  STEP_OPEN,           /* a closure cannot be closed: the previous state is kept */
  STEP_CROSSED,        /* two bodies would change sides, each around the other: the previous state is kept */
  STEP_NOT_FINITE,     /* overflow: the previous state is kept */
  STEP_INTERRUPTED,    /* interrupted by SimOptions.interrupted: the previous state is kept */
} StepOutcome;
/* Returns the word used in output files; static, never NULL. Undefined for an invalid outcome. */
const char* step_outcome_text(StepOutcome outcome);
/* Returns true unless the step reached balance to the tolerance or to rounding. Allocates nothing. */
bool step_outcome_failed(StepOutcome outcome);

/* Energies of the new state [J]: the terms of the objective, and the stored contact energy without the part dissipated
 * by impacts. */
typedef struct {
  double inertia, gravity, controller, limit, damping, contact, friction;
  double stored;
} StepTerms;

/* The pair of links that made a step fail: they blocked each other, or had the largest contact force. */
typedef struct {
  bool known;
  int link_a, link_b;
  double gap;   /* gap in the last trial; negative: overlap [m]; INFINITY: too many pieces for a single pair */
  double force; /* force between them before that trial [N] */
} StepSqueeze;

typedef struct {
  StepOutcome outcome;
  int iterations;  /* Newton iterations; like trials, certified_intervals and factor_retries, summed over all substeps
                      and failed attempts */
  int trials;      /* line-search evaluations */
  double residual; /* largest imbalance relative to the acting forces (docs/derivations/step.md, S8) */
  double residual_force; /* the same imbalance, absolute [N, N m] */
  int residual_dof;      /* degree of freedom of the residual */
  double speed_left;     /* at the rounding floor, change of speed that the imbalance is worth [m/s] */
  StepTerms terms;
  int active_pairs;        /* hull pairs with non-zero contact energy */
  int candidate_pairs;     /* hull pairs kept by the broad phase */
  int certified_intervals; /* path intervals examined by the certificate */
  int factor_retries;      /* times the Hessian was not positive definite */
  int substeps;            /* number of substeps, equal ones or those of impacts */
  int open_closure;        /* for STEP_OPEN: index of the closure that stays open */
  double open_gap;         /* for STEP_OPEN: its closure error [m or rad] */
  bool halved;             /* the step needed more substeps than the scene requests */
  bool friction_open;      /* the normal force that limits friction has not converged (contact.friction_iterations) */
  int friction_links[2];   /* the links between which this force changed most */
  double late_friction;    /* with friction_iterations = 0, largest change of speed by contact_late_friction [m/s] */
  int late_links[2];       /* its links, if it is above 0 */
  StepSqueeze squeeze;     /* the pair that stopped a failed step */
} StepReport;

/* Steps of a run that are not fully solved: STEP_ROUNDING_FLOOR, above the tolerance, or unconverged friction. Zeroed:
 * none. */
typedef struct {
  int steps;
  double residual; /* largest residual, relative to the acting forces */
  double time;     /* end time of the step with the largest residual [s] */
  int dof;         /* degree of freedom of the largest residual; -1: unknown */
  double speed;    /* largest StepReport.speed_left [m/s] */
  /* Steps with StepReport.friction_open: number, end time of the first [s], and its links. */
  int friction_open;
  double friction_time;
  int friction_links[2];
  /* The largest StepReport.late_friction [m/s], the end time of its step [s], and its links. */
  double late_friction, late_time;
  int late_links[2];
} UnconvergedSteps;
/* Counts the step that ended at `time` [s] if it is not fully solved. */
void unconverged_add(UnconvergedSteps* unconverged, const StepReport* report, double time);

/* Wall time by phase [s], summed over the run. */
typedef struct {
  double broad_phase, contact, friction, assembly, factor, certificate, other, total;
} SimTimes;

/* Two touching links (a < b by index): contact and friction forces of all their hull pairs. */
typedef struct {
  int a, b;
  double gap; /* smallest distance of their hulls (exact GJK) [m] */
  Vec3 force; /* on b, world [N] */
  bool felt;  /* some pair of hulls exerts a force */
  /* With OUTPUT_CONTACT_POINTS or OUTPUT_PRESSURE, else zero: */
  Vec3 point;   /* centre of pressure, mean over their hulls by normal force [m] */
  Vec3 moment;  /* about the centre of pressure, on b [N m] */
  double press; /* sum of the normal forces [N] */
  /* If contact_keeps_account, else zero: the account of friction in the last substep (FrictionAccount) [N]. */
  double friction_load, friction_owed, friction_lost;
} SimContact;

typedef struct {
  double kinetic, potential; /* kinetic: armatures included; potential: gravity, zero at the world's origin, and joint
                                springs [J] */
  double total;          /* kinetic plus potential energy at the time of `kinetic`, which may be mid-step (S20) [J] */
  double smallest_gap;   /* smallest gap of all neighbouring pairs; INFINITY without any [m] */
  Vec3 momentum;         /* momentum of all movable links [kg m/s] */
  Vec3 angular_momentum; /* about the world's origin [kg m^2/s] */
} SimMeasure;

/* Kinetic energy and momenta of the links, from the integrator's velocity (docs/derivations/step.md, S19). */
typedef struct {
  double kinetic;        /* J */
  Vec3 momentum;         /* kg m/s */
  Vec3 angular_momentum; /* about the world's origin [kg m^2/s] */
} SimMotion;
/* Returns the motion given by poses now[links], old[links] and older[links] at the end of a step and of the two before,
 * with each link's mass at its points; links that integrate their angular momentum have another momentum and energy.
 * Poses before the start equal the first. Immovable links are excluded. World axes [J, kg m/s, kg m^2/s]. Cannot fail.
 */
SimMotion motion_between(const Model* model, const StepClock* clock, const Pose* now, const Pose* old,
                         const Pose* older);

/* Sets force[links] to the sum of all forces on each link except gravity and loads, m (x'' - g) - loads [N], with x''
 * by the integrator's difference. now, old, older, oldest (links each): poses at the end of the step and at the ends of
 * the three steps before. World axes; immovable links are included. Returns false, force unchanged, if the step starts
 * from velocities instead of poses or the scene has a fluid. Allocates nothing. */
bool motion_forces(const Model* model, const StepClock* clock, const Pose* now, const Pose* old, const Pose* older,
                   const Pose* oldest, Vec3* force);

/* Returns the force of a load in the step of `clock` from the poses `begin`, with those of the step before, `before`
 * (unused in the first step) [N] (docs/derivations/loads.md). World axes; zero on immovable links. load <
 * Model.load_count, unchecked. Allocates nothing. */
Vec3 sim_load_force(const Model* model, int load, const StepClock* clock, const Pose* begin, const Pose* before);
/* Returns the potential energy of buoyancy at poses[links] [J] (docs/derivations/fluid.md); 0 without a fluid.
 * Allocates temporarily. */
double sim_fluid_energy(const Model* model, const Pose* poses);
/* Creates a simulation in the model's initial state. The caller frees *out with sim_destroy. Returns STATUS_BAD_INPUT
 * with a message, and *out = NULL, if bodies intersect, a closure is open, or a stored state does not fit. Copies
 * options. Borrows the model, which must outlive the sim. */
Status sim_create(Sim** out, const Model* model, const SimOptions* options, Diagnostics* diagnostics);
/* Frees the sim and everything it owns, not the model. Accepts NULL. */
void sim_destroy(Sim* sim);
/* Advances by dt in simulation.substeps equal substeps (or as many as the steps before needed). After a failure it
 * retries with twice, four times ... as many, up to SUBSTEPS_FINEST, and finally with all iterations
 * (docs/derivations/step.md, S13, S14). If all fail, the state is unchanged and the report is that of the finest
 * attempt. Allocates only while pairs, substeps or patterns grow. */
StepReport sim_step(Sim* sim);
/* As sim_step, with a first attempt in exactly `substeps` >= 1 substeps. */
StepReport sim_step_in(Sim* sim, int substeps);
/* Advances in the given substeps of another run, with its impacts, whatever the result; does not refine after a
 * failure. parts[count], count >= 1: times in s, at the end and the length of each; borrowed for the call. After a
 * failure the state is unchanged. */
StepReport sim_step_as(Sim* sim, const StepClock* parts, int count);
/* Appends `the solver failed at t = ... (step n): why; ...` for the last failed step (simulate/failure.c). Frees and
 * resets nothing; the step may be repeated. The caller owns out. Never fails. */
void sim_failure_text(Text* out, const Model* model, Sim* sim, const StepReport* report);
/* Returns the state, borrowed for the life of the sim. It changes with sim_step, which also changes the address of
 * pose. Never NULL. */
const SimState* sim_state(const Sim* sim);
/* Returns wall times [s], which differ between runs and affect no result. Never fails. */
SimTimes sim_times(const Sim* sim);
/* Returns the substep that led to the present state, with its role in an impact; zero at the start. Times in s. Never
 * fails. */
StepClock sim_clock(const Sim* sim);
/* A solution of a substep before its last one: friction of the solve after it rests on its forces
 * (docs/derivations/friction.md, F8). */
typedef struct {
  const double* q;  /* (nq) */
  const Pose* pose; /* (links) */
  const ContactRecord* contacts;
  int contact_count;
} SimSolve;
/* A state inside the last step, and the substep that led to it. */
typedef struct {
  StepClock clock;
  const double* q;       /* (nq) */
  const Pose* pose;      /* (links) */
  const Vec3* momentum;  /* SimState.momentum (links) */
  const Vec3* felt;      /* SimState.felt (links), or NULL */
  const double* delayed; /* SimState.delayed, or NULL */
  const ContactRecord* contacts;
  int contact_count;
  const SimSolve* solves; /* (solve_count) */
  int solve_count;
} SimSubstate;
/* Returns the states inside the last step in order of time; *count: their number, 0 for a step without substeps. Valid
 * until the next step. Owned by the sim. */
const SimSubstate* sim_substates(const Sim* sim, int* count);
/* Returns the solves before the last one of the substep that led to the present state, in order; *count: their number.
 * Owned by the sim, valid until the next step. */
const SimSolve* sim_solves(const Sim* sim, int* count);
/* Returns a copy of solves[count] in one block, which the caller frees with memory_free; NULL for none. */
SimSolve* sim_solves_copy(const SimSolve* solves, int count, const Model* model);
size_t sim_solves_size(const SimSolve* solves, int count, const Model* model); /* Returns its size [bytes]. */
/* Warm start of friction in a run's first substep: the solution of the step without friction, and the contact forces at
 * both its ends (docs/derivations/friction.md, F6). */
typedef struct {
  StepClock clock;
  const double* q;          /* coordinates at its end (nq) */
  const Pose* pose;         /* poses at its end (links) */
  ContactForces start, end; /* contact forces at its beginning and its end */
} SimGuess;
/* Returns the warm start of the last step; NULL unless it was the first step and friction acted at its start. Borrowed
 * until the next step. */
const SimGuess* sim_guess(const Sim* sim);
/* Returns a copy in one block, which the caller frees with memory_free. */
SimGuess* sim_guess_copy(const SimGuess* guess, const Model* model);
size_t sim_guess_size(const SimGuess* guess, const Model* model); /* Returns the size of a copy [bytes]. */
/* Stored states (simulate/snapshot.c). A state contains everything that later steps depend on: a continued run is
 * bit-identical to an uninterrupted one, on any number of threads, for runs of the same model. sim_restore restores the
 * visible state, except states inside its last step (sim_substates: none) and moves (sim_path restarts). */
typedef struct SimSnapshot SimSnapshot;
/* Returns a stored state of sim_snapshot_size bytes, which the caller frees with sim_snapshot_destroy. Never NULL. The
 * sim does not change. */
SimSnapshot* sim_save(Sim* sim);
/* Returns an empty stored state for sim_save_over. The caller frees it with sim_snapshot_destroy. */
SimSnapshot* sim_snapshot_create(void);
/* Replaces the stored state by the present one. Allocates only where the old one was smaller. Never fails. */
void sim_save_over(Sim* sim, SimSnapshot* snapshot);
/* Returns to a state saved from this sim, bit-identically, after a failed or interrupted step. (After a failure
 * sim_step itself restores the state only to rounding, because contact planes are recomputed.) Keeps the moves of
 * sim_path. Allocates as sim_restore. Never fails. */
void sim_return(Sim* sim, const SimSnapshot* snapshot);
/* Restores a state, which is copied and can be restored again. Asserts that it belongs to a run of the same model.
 * Contact is restored bit-identically, sim_times is not. Allocates if that state had more pairs than this sim ever had.
 */
void sim_restore(Sim* sim, const SimSnapshot* snapshot);
/* Frees the stored state. Accepts NULL. */
void sim_snapshot_destroy(SimSnapshot* snapshot);
/* Returns the size of a stored state [bytes]. Cannot fail. */
size_t sim_snapshot_size(const SimSnapshot* snapshot);
/* Writes the present state as a file of kind STATE_KIND, which Scene.start can use. Requires at least one step. The
 * caller frees *file with number_file_free; earlier content is not freed. Never fails. */
void sim_state_file(Sim* sim, NumberFile* file);
/* State of a closure (simulate/closures.c). */
typedef struct {
  bool broken;
  double broken_at; /* time of the state in which it broke; INFINITY: intact [s] */
  double gap;       /* closure error: largest of its lengths [m] */
  double angle;     /* closure error: largest of its angles [rad] */
  Vec3 force;       /* on a, world; zero at the start [N] */
  Vec3 torque;      /* on a, about its attachment point, world [N m] */
} SimClosure;
/* Returns the state of closure `index` < Model.closure_count (undefined otherwise). World axes [m, N]. */
SimClosure sim_closure(const Sim* sim, int index);
/* Returns the state of coupling `index` < Model.coupling_count (undefined otherwise): gap [m or rad]; force.x: force
 * along the dependent coordinate [N or N m]. */
SimClosure sim_coupling(const Sim* sim, int index);
/* Returns the times at which closures broke [s] (closures), INFINITY for intact ones; NULL without closures. Borrowed.
 */
const double* sim_closures_broken(const Sim* sim);
/* Coordinates and poses one substep before, and poses two substeps before; undefined at the start of a run. Borrowed
 * until the next step. */
typedef struct {
  const double *q_old, *q_older;     /* (nq); older: two substeps before, NULL if no joint has an armature */
  const Pose *pose_old, *pose_older; /* (links) */
} SimHistory;
/* Returns coordinates (nq) and poses (links) of the two states before, at the time differences dt and dt_before of
 * sim_clock [s]. Borrowed until the next step, never NULL. */
SimHistory sim_history(const Sim* sim);
/* ---- velocities of links, forces along joints (simulate/joint_forces.c, simulate/measure.c) */

/* Sets the velocities of the links, world axes. v[links]: of the centre of mass, by the integrator's difference that
 * defines momentum and kinetic energy [m/s]. w[links]: angular velocity from the joint rates [rad/s]. At the start
 * these are the initial velocities. Cannot fail, allocates nothing. */
void sim_link_velocities(Sim* sim, Vec3* v, Vec3* w);

/* Kinds of forces along a joint's coordinates. A kind is a word and a row of functions in joint_forces.c. */
typedef enum {
  JOINT_FORCE_DRIVE,    /* all drives of the joint; for a prescribed joint the force that enforces its motion */
  JOINT_FORCE_LOAD,     /* loads on the link and its descendants */
  JOINT_FORCE_FRICTION, /* dry friction */
  JOINT_FORCE_DAMPING,
  JOINT_FORCE_SPRING,
  JOINT_FORCE_LIMIT,
  JOINT_FORCE_CLOSURE, /* closures and couplings */
  JOINT_FORCE_KINDS
} JointForceKind;
/* Returns the word in columns and keys; static, never NULL. Undefined for an invalid kind. */
const char* joint_force_name(JointForceKind kind);
/* Returns the joint forces of the last (sub)step, force[kind * nv + dof], acting on the link along the increments of
 * the coordinates; for a ball the torques about link axes [N, N m]. NULL unless the scene's simulation.output requests
 * forces; zero at the start. Borrowed until the next step. */
const double* sim_joint_forces(const Sim* sim);

/* Returns the joint reactions of the last (sub)step: force and torque by the parent (or the world) on the link, about
 * the origin of the link frame, world axes. They include the joint's constraint, drives, springs, limits and friction.
 * reaction[link]: force [N], torque [N m] (links). NULL unless the scene's simulation.output requests reactions; zero
 * at the start. Borrowed until the next step (docs/derivations/observables.md, O1). */
const double (*sim_reactions(const Sim* sim))[6];

/* Returns true if derivatives with respect to a link's reaction are available (O3): not for an immovable link, nor
 * where closures take part in the aim of a momentum-conserving tree. link: unchecked. */
bool sim_reaction_derives(const Model* model, int link);

/* State of a closure with `active` after the last step: time of closing, and pose of b relative to a at that time. */
typedef struct {
  double since; /* time of the state in which it closed; INFINITY: open [s] */
  double until; /* time of the state in which its force opened it; INFINITY: has not since then [s] */
  bool barred;  /* its force opened it, and the condition that it be closed again has held ever since */
  Pose at;      /* pose of b in the frame of a [m] */
} SimJoin;
/* Returns true if the closure is closed. */
static inline bool join_holds(const SimJoin* join) {
  return join->since < (double)INFINITY && !(join->until < (double)INFINITY);
}
/* Returns the states of all closures (closures); NULL if none has `active`. Borrowed until the next step. */
const SimJoin* sim_closures_joined(const Sim* sim);

/* Returns the touching link pairs of the present state, sorted by (a, b); *count: their number. NULL and 0 without
 * contact. Lengths in m, forces in N, world axes. Valid until the next call; owned by the sim. Allocates while the
 * number of pairs grows. */
const SimContact* sim_contacts(Sim* sim, int* count);
/* Returns energies, momenta and the smallest gap of the present state; computes the gaps of all candidates. Allocates
 * nothing. */
SimMeasure sim_measure(Sim* sim);
/* Energy added (> 0) or dissipated by the scheme since the start: change of kinetic and potential energy minus work of
 * all forces (docs/derivations/step.md, S23). */
typedef struct {
  double work;       /* energy change of all movable links [J] */
  int link;          /* first link of the tree with the largest change relative to its energy; -1: none */
  double link_work;  /* change in that tree [J] */
  double link_scale; /* largest energy that this tree had or exchanged [J] */
} SimSchemeWork;
/* Returns the energy change; zero without SimOptions.scheme_work. Cannot fail, allocates nothing. */
SimSchemeWork sim_scheme_work(const Sim* sim);
/* Moves that led from one recorded state to the next, each with a proof (simulate/path.c;
 * docs/derivations/certificate.md, P6). Empty if the straight path has a proof. Borrowed until the next call. */
typedef struct {
  int count;
  const double* time;  /* time of the state that a move leads to [s] (count) */
  const double* delta; /* increments of the joints: q (+) delta  (count x nv) */
} SimPath;
/* Returns the moves since the last call; NULL moves without SimOptions.path or a certificate. Increments in m and rad,
 * row-major; time in s. Borrowed until the next step. */
SimPath sim_path(Sim* sim);
/* Sets the total contact and friction force on each link in the present state, world [N] (links). Allocates nothing. */
void sim_link_forces(const Sim* sim, Vec3* force);
/* Sets force[count] to the contact and friction force on `link` of each pair, by `other`, world axes [N]; 0 for a pair
 * without contact. Allocates nothing. */
void sim_pair_forces(const Sim* sim, const ForcePair* pairs, int count, Vec3* force);
/* Returns the records of pairs in contact in the present state; *count: their number. NULL and 0 without contact. Valid
 * until the next call; owned by the sim. Allocates while the number of pairs grows. */
const ContactRecord* sim_contact_records(Sim* sim, int* count);

/* ---------------------------------------------------------------- proof over recorded states
 * (simulate/proof.c) Between two recorded states every joint coordinate moves in a straight line, and a ball joint
 * along the increments Rx(alpha d1) Ry(alpha d2) Rz(alpha d3) from one to the other. A proof shows that every pair of
 * hulls that may touch stays apart during this motion. If there is none (a rolling body dips below its arc), the proof
 * searches for a detour (docs/derivations/certificate.md, P5). */
typedef struct Proof Proof;

typedef enum {
  PROOF_APART, /* proved */
  PROOF_MEET,  /* two hulls intersect in the new state, or at `fraction` of the path to it */
  PROOF_OPEN,  /* no proof and no intersection found */
} ProofOutcome;

typedef struct {
  ProofOutcome outcome;
  int link_a, link_b; /* the links; set unless PROOF_APART */
  double fraction;    /* fraction of the path at which they intersect; 1 = in the new state */
  double miss;        /* largest difference between the end of the moves and the new state's poses [m or 1] */
  bool detour;        /* proved for a detour instead of the straight path */
  int intervals;      /* path intervals examined */
  double gap;         /* smallest gap of the new state; INFINITY: no neighbours [m] */
  int gap_a, gap_b;   /* links with this gap; -1: none */
} ProofReport;

/* Sets delta[nv] to the increments of the straight path from q[nq] to `to` [nq], in m and rad; for a ball the shorter
 * rotation. Cannot fail, allocates nothing. */
void proof_way(const Model* model, const double* q, const double* to, double* delta);
/* Creates a proof. Copies the model struct and borrows its arrays, which must outlive the proof. Freed with
 * proof_destroy. Never NULL; threads below 1 count as 1. */
Proof* proof_create(const Model* model, int threads);
/* Frees the proof and everything it owns. Accepts NULL. */
void proof_destroy(Proof* proof);
/* Sets the first state q[nq] (copied). Returns a failed outcome only if hulls intersect in q. Allocates while
 * candidates grow. */
ProofReport proof_restart(Proof* proof, const double* q);
/* Proves the straight path, or a detour, from the last state to q[nq] (copied); the first call has no path. After a
 * state with an intersection the next one is a first state again. Failures appear in the report's outcome only. */
ProofReport proof_next(Proof* proof, const double* q);
/* Two neighbouring links in the state that was proved last. */
typedef struct {
  int a, b;    /* a < b */
  double gap;  /* smallest distance of their hulls [m]; beyond the contact range a lower bound beyond it */
  bool active; /* nonzero contact energy */
  Vec3 force;  /* contact force without friction, on b, for a whole step from the state before [N] */
  double load; /* sum of the force magnitudes over the hull pairs [N] */
} ProofPair;
/* Returns the neighbouring links, sorted by (a, b); *count: their number. NULL and 0 if the state has an intersection.
 * Distances in m. Valid until the next call; owned by the proof. */
const ProofPair* proof_pairs(Proof* proof, int* count);

/* As proof_next without detours: fails where the straight path has no proof. q[nq] is copied. */
ProofReport proof_next_straight(Proof* proof, const double* q);
/* As proof_next along recorded moves (count x nv), row-major, increments in m and rad, borrowed for the call.
 * report.miss: distance of their end from q; the rest of the last move leads to q. Allocates while candidates grow. */
ProofReport proof_next_along(Proof* proof, const double* moves, int count, const double* q);

/* ---------------------------------------------------------------- adjoint of one recorded step
 * (simulate/step_adjoint.c) The step from t to t + dt solves F(next; now, old, older, model) = 0. Input: the
 * derivatives of a scalar with respect to the state at t + dt. The adjoint solves H lambda = -(derivatives with respect
 * to its coordinates). It adds lambda . dF/d(rest) to the derivatives with respect to the states before and to the
 * model (SDRS Eq. 86-88; docs/derivations/adjoint.md). */
typedef struct StepAdjoint StepAdjoint;

/* Derivatives of a scalar by a state, with poses and coordinates as independent variables. */
typedef struct {
  double (*pose)[3][4]; /* derivatives with respect to (R | t) of every link frame, elementwise (links) */
  double* q;            /* derivatives with respect to increments of the coordinates  (nv) */
} StateBar;

/* A step of a run: poses and coordinates of its states; those before the start equal the first. */
typedef struct {
  StepClock clock;
  int64_t number; /* number of the state at t + dt in its run, counted from 1; 0: unknown */
  const double *q_next, *q_now, *q_old, *q_older; /* (nq); q_older: only if a joint has an armature */
  const Pose *pose_next, *pose_now, *pose_old, *pose_older;
  const Vec3 *momentum_next, *momentum_now;
  const Vec3* felt_now;      /* NULL: no force is measured */
  const double* delayed_now; /* SimState.delayed; NULL: no delays */
  const ContactRecord *contacts_next, *contacts_now;
  int contact_count_next, contact_count_now;
  const SimSolve* solves; /* solves of the step before its last one, which gives the state at t + dt (solve_count) */
  int solve_count;
  const SimGuess* guess;          /* warm start of a run's first step; NULL: friction uses the previous state only */
  const double* closures_broken;  /* breaking times of the run's closures; NULL: none broke */
  const SimJoin* closures_joined; /* sim_closures_joined after the step; NULL: no closure has `active` (closures) */
} RecordedStep;

typedef struct {
  bool sound;            /* false: the result is not a gradient, for the reasons below */
  bool contact_failed;   /* a contact plane or a slip in the record could not be reproduced */
  bool grazes;           /* bodies only graze each other at the start of an impact: its time has no derivative */
  bool singular;         /* H is singular to rounding */
  bool indefinite;       /* H is indefinite: the state is not a minimum; the gradient is still valid */
  double eigenvalue;     /* eigenvalue of H nearest to zero, if singular or indefinite */
  double residual;       /* residual of the step's equations [N, N m] */
  double largest_lambda; /* infinity norm of lambda */
  double rounding; /* contribution of the rounding of positions to the step's gradient, in the scales of its numbers */
} StepAdjointReport;

/* Creates the adjoint of steps. Borrows the model. Freed with step_adjoint_destroy. Never NULL; threads below 1 count
 * as 1. */
StepAdjoint* step_adjoint_create(const Model* model, int threads);
/* Frees the adjoint and everything it owns. Accepts NULL. */
void step_adjoint_destroy(StepAdjoint* adjoint);
/* Clears derivatives accumulated for initial velocities, delayed measurements and contact history: the next step is the
 * last of a run. Cannot fail, allocates nothing. */
void step_adjoint_begin(StepAdjoint* adjoint);
/* fixed: treats substep lengths as constants, as in a run that repeats those of another (sim_step_as). Otherwise, and
 * initially, they depend on the state (docs/derivations/impact.md, I11). */
void step_adjoint_fix_lengths(StepAdjoint* adjoint, bool fixed);
/* Derivatives by forces at a state: contact forces on links (links, NULL: none) and between links; joint reactions
 * (sim_reactions; links, NULL: none). */
typedef struct {
  const Vec3* link;
  ForcePairSlopes between;
  const double (*reaction)[6];
} ForceSlopes;
/* Applies the adjoint of one step; steps must be processed from last to first. next: complete on entry; its q also
 * receives derivatives by rates and forces. rate[nv]: by SimState.rate at t + dt; force: by contact forces at t + dt
 * (NULL: none). Adds to now, old, older (poses only) and gradient; these are not derivatives if the report's sound is
 * false. Allocates only as the pairs of a step grow. */
StepAdjointReport step_adjoint(StepAdjoint* adjoint, const RecordedStep* step, StateBar next, const double* rate,
                               const ForceSlopes* force, StateBar now, StateBar old, StateBar older,
                               ModelGradient* gradient);
/* Multiplies the step's derivatives with respect to earlier momenta by a factor (1: no change). Call after a step.
 * Cannot fail, allocates nothing. */
void step_adjoint_discount(StepAdjoint* adjoint, double factor);
/* Adds to gradient the derivatives by initial coordinates and velocities, signals of prescribed joints and attachments
 * that follow from those by the first state. q[nq] and pose[links] of the first state; rate[nv]: derivatives by its
 * rates. Cannot fail. */
void step_adjoint_start(StepAdjoint* adjoint, const double* q, const Pose* pose, StateBar first, const double* rate,
                        ModelGradient* gradient);

/* ---------------------------------------------------------------- forward sensitivities over recorded steps
 * (simulate/step_forward.c) Derivatives of the states of a run with respect to some parameters
 * (docs/derivations/identify.md, I1). Each row of a step's Jacobian is the reverse derivative of one of its equations.
 * The cost is one reverse derivative per degree of freedom, whatever the number of parameters, and a back-substitution
 * per parameter. */
typedef struct StepForward StepForward;
/* Adds to row (count) the derivatives of a scalar with respect to the parameters, given its derivatives with respect to
 * the model's numbers. */
typedef void (*ForwardChain)(void* context, const ModelGradient* gradient, double* row);
/* Creates forward sensitivities, which store (nv x parameters) numbers for several states. Borrows the model and
 * context. Freed with step_forward_destroy. Never NULL. */
StepForward* step_forward_create(const Model* model, int parameters, ForwardChain chain, void* context);
/* Frees the sensitivities and everything they own. Accepts NULL. */
void step_forward_destroy(StepForward* forward);
/* Declares that no parameter rotates a joint frame or axis, and sets without_turns in the gradients passed to the
 * chain. Call before step_forward_begin; permanent. Cannot fail, allocates nothing. */
void step_forward_skip_turns(StepForward* forward);
/* Makes closures use the constant coordinates q[nq] (borrowed) instead of those at the start of the run. Allocates;
 * call at most once (a second call leaks). */
void step_forward_place(StepForward* forward, const double* q);
/* Initializes from the model's initial coordinates and velocities. Copies q[nq] and pose[links]. Cannot fail, allocates
 * nothing. */
void step_forward_begin(StepForward* forward, const double* q, const Pose* pose);
/* Advances the sensitivities over one step, in order of time. False, with undefined rows, if it has no derivative or
 * its contact is not reproduced. Allocates and frees. */
bool step_forward_advance(StepForward* forward, const RecordedStep* step);
/* Returns derivatives of the increments of the coordinates (nv x parameters), row-major, at the present state (before
 * 0) or up to 3 states before. Undefined for larger `before`. Borrowed until the next step_forward_advance. */
const double* step_forward_state(const StepForward* forward, int before);
/* Adds to row[parameters] the derivatives by the parameters of a scalar with derivatives bar by the poses at a state.
 * bar[links]: 3 x 4, by entries of (R | t), as LossSeeds.pose. q[nq] and pose[links] of that state; before as of
 * step_forward_state. */
void step_forward_row(StepForward* forward, const double* q, const Pose* pose, int before, double (*bar)[3][4],
                      double* row);

#endif
