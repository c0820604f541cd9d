/* simulate: the state of a run, and the time step that advances it (SDRS section IV; docs/derivations/step.md). A Sim
 * owns its state and borrows the Model, which must outlive the Sim. A function that allocates memory or can fail says
 * so. sim_step allocates only while the set of neighbouring pairs grows. Results do not depend on the number of
 * threads. */
#ifndef SDRS_SIMULATE_H
#define SDRS_SIMULATE_H

#include "contact/contact.h"
#include "model/model.h"

typedef struct Sim Sim;

typedef struct {
  int threads; /* number of threads, >= 1 */
  double
      tolerance; /* largest admissible residual, relative to the acting forces; 0 selects the tolerance of the scene */
  bool path;     /* true to record the solver's moves for sim_path */
  bool scheme_work;          /* true to measure the energy change by the scheme for sim_scheme_work */
  bool (*interrupted)(void); /* callback that all threads call in every iteration. The step stops if the callback
                                returns true. NULL: the step never stops */
} SimOptions;

/* State after `step` steps. */
typedef struct {
  int step;
  double time;    /* time of the state [s] */
  double* q;      /* joint coordinates  [m or rad, unit quaternions] (size: nq) */
  double* rate;   /* mean rates of the coordinates over the last step, in link axes for ball joints [m/s or rad/s] (nv:
                     number of degrees of freedom) */
  Pose* pose;     /* world pose of every link frame (size: links) */
  Vec3* center;   /* world centre of mass  [m] (size: links) */
  Vec3* momentum; /* angular momentum about the centre of mass, world axes, of links that integrate it (integrator
                     `momentum`), otherwise 0 [kg m^2/s] (size: links) */
  Vec3* contact_force; /* contact and friction force on each link in the last step, world axes [N]; 0 at the start; NULL
                 if no drive measures a contact force (size: links) */
  double* delayed; /* delayed measurements that drives receive now, followed by their time derivatives; NULL if no drive
                      has a delay (2 * Model.delayed_count) */
} SimState;

/* Role of a step or substep in an impact, the collision of two bodies or of a joint with its limit
 * (docs/derivations/step.md, S15). */
typedef enum {
  STEP_FREE,
  STEP_IMPACT_BEGINS, /* integrator second_order with restitution 0: the approach of two bodies ends in this step.
                   STEP_IMPACT_BEGINS, STEP_IMPACT_ACTS and STEP_IMPACT_ENDS use first-order weights */
  STEP_IMPACT_ACTS,   /* a step after STEP_IMPACT_BEGINS in which contact forces of the impact act, or a step in which a
                         contact force vanishes */
  STEP_IMPACT_ENDS,   /* one more step after STEP_IMPACT_ACTS */
  STEP_IMPACT_SUBSTEP, /* one of the short substeps of an impact */
  STEP_AFTER_IMPACT, /* the first step after an impact. Without second_order also a step or substep near an impact whose
                  length differs from the length of the step before */
} StepKind;
/* The rule that sets the end time of a substep (impact.md, I10). */
typedef enum {
  END_AT_FRACTION, /* the substep covers the fraction StepClock.share of the remaining step; with fraction 1 it ends at
                      the end of the step */
  END_AT_FIXED_LENGTH, /* the substep has a fixed length, which does not depend on the state */
  END_AT_EVENT, /* the substep ends when an impact of two hulls, or of a joint with its limit, begins, or when a closure
                closes */
  END_AT_CLOSURE_OPENING, /* the substep ends when a closure opens. The fraction StepClock.share follows from the force
                of the closure in the two substeps before (closures.md, Z21) */
} StepEnd;

/* The event at the end of a substep with END_AT_EVENT. */
typedef enum {
  EVENT_HULLS,   /* an impact of two hulls begins (impact.md, I10) */
  EVENT_LOWER,   /* an impact of a coordinate at its lower limit begins (impact.md, I15) */
  EVENT_UPPER,   /* an impact of a coordinate at its upper limit begins (impact.md, I15) */
  EVENT_CLOSURE, /* a closure closes (closures.md, Z20) */
} StepEventKind;
typedef struct {
  StepEventKind kind;
  int hull_a, hull_b; /* the two hulls that collide, for EVENT_HULLS; otherwise 0 */
  union {
    int dof;     /* degree of freedom that reaches its limit, for EVENT_LOWER and EVENT_UPPER */
    int closure; /* index of the closure, for EVENT_CLOSURE and END_AT_CLOSURE_OPENING */
  };
  double rise; /* for END_AT_CLOSURE_OPENING: change of the closure force in the previous substep [N] */
} StepEvent;

/* Time interval of a step, with the lengths of the two steps before. */
typedef struct {
  double time;      /* end time [s] */
  double dt;        /* length of the step [s] */
  double dt_before; /* length of the previous step, which led to the present state; 0 at the start of the run [s] */
  double dt_older;  /* length of the step before the previous one; 0 if there is none [s] */
  StepKind kind,
      kind_before; /* kind: kind of this step; kind_before: kind of the step that ended in the present state */
  StepEnd end;
  double share;      /* for END_AT_FRACTION: length of the substep as a fraction of the remaining step */
  StepEvent event;   /* event that ends the substep, for END_AT_EVENT */
  bool begin_varies; /* true if the start time depends on the state */
  bool dt_varies, before_varies, older_varies; /* true if dt, dt_before or dt_older depends on the state */
} StepClock;

/* Outcome of a step, from the best to the worst. The outcome of several solves is the worst of their outcomes. */
typedef enum {
  STEP_CONVERGED,      /* converged: the residual is at most the tolerance */
  STEP_ROUNDING_FLOOR, /* the residual is above the tolerance, but further iterations cannot reduce it because of
                          rounding */
  STEP_NO_SOLUTION,    /* Newton's method found no solution, and the previous state is kept. StepReport.residual is not
                          finite if a number overflowed */
  STEP_BLOCKED,        /* a prescribed link cannot move without penetrating something */
  STEP_CLOSURE_OPEN,   /* the error of a closure cannot be reduced to its tolerance, and the previous state is kept */
  STEP_CROSSED,        /* two bodies would tunnel through each other within the step, and the previous state is kept */
  STEP_INTERRUPTED,    /* SimOptions.interrupted stopped the step, and the previous state is kept */
} StepOutcome;
/* Returns the name of the outcome in output files, a static string. Never NULL. Undefined for an invalid outcome. */
const char* step_outcome_text(StepOutcome outcome);
/* Returns false for STEP_CONVERGED and STEP_ROUNDING_FLOOR, true for all other outcomes. */
bool step_outcome_failed(StepOutcome outcome);

/* Energies of the new state [J]. The members from inertia to friction are the terms of the energy that the step
 * minimizes. stored: contact energy without the energy that impacts dissipate. */
typedef struct {
  double inertia, gravity, controller, limit, damping, contact, friction;
  double stored;
} StepTerms;

/* The pair of links that made a step fail. For STEP_CROSSED, it is the two links that would tunnel through each other.
 * Otherwise it is the pair with the largest overlap in the last trial, or with the largest contact force if there is no
 * overlap. */
typedef struct {
  bool known;
  int link_a, link_b;
  double gap;   /* gap of the pair in the last line-search evaluation [m], negative for an overlap; INFINITY if unknown
                   (STEP_CROSSED, and links with too many hulls for a single pair) */
  double force; /* contact force between the two links before the last line-search evaluation [N] */
} BlockingPair;

typedef struct {
  StepOutcome outcome;
  int iterations; /* number of Newton iterations. The members iterations, trials, certified_intervals and factor_retries
                     are sums over all substeps and failed attempts */
  int trials;     /* number of line-search evaluations */
  double residual;       /* largest residual force of a degree of freedom, relative to the acting forces
                            (docs/derivations/step.md, S8) */
  double residual_force; /* absolute value of the force that `residual` measures [N, N m] */
  int residual_dof;      /* degree of freedom with the largest residual */
  double speed_error;    /* for STEP_ROUNDING_FLOOR: change of speed that the residual force causes in a substep
                           (balance_speed_error) [m/s] */
  StepTerms terms;
  int active_pairs;        /* number of hull pairs with nonzero contact energy */
  int candidate_pairs;     /* number of hull pairs that the broad phase found */
  int certified_intervals; /* number of path intervals that the certificate examined */
  int factor_retries;      /* number of times that the Hessian of the step's energy was not positive definite */
  int substeps;            /* number of substeps of the step, short substeps of impacts included */
  int open_closure;        /* for STEP_CLOSURE_OPEN: index of the closure that stays open */
  double open_gap;         /* for STEP_CLOSURE_OPEN: error of the closure that stays open [m or rad] */
  bool halved;             /* true if the step needed more substeps than the scene requests */
  bool friction_open;      /* true if the normal force that limits friction has not converged within
                              contact.friction_iterations */
  int friction_links[2];   /* if friction_open is true: the pair of links whose normal force changed most in the last
                              solve */
  double late_friction;    /* largest change of speed that results from friction acting one step late
                              (contact_friction_delay_speed)    [m/s]; 0 if friction was iterated
                              (contact.friction_iterations    > 0) */
  int late_links[2];       /* if late_friction > 0: the pair of links for which this change of speed was found */
  BlockingPair squeeze;    /* the pair of links that made the step fail */
} StepReport;

/* Statistics of the steps of a run that are not fully solved. The members steps, residual, time, dof and speed describe
 * steps that ended with STEP_ROUNDING_FLOOR, whose residual is above the tolerance. A zeroed struct means that there
 * are no such steps. */
typedef struct {
  int steps;
  double residual; /* largest residual of these steps, relative to the acting forces */
  double time;     /* end time of the step with the largest residual [s] */
  int dof;         /* degree of freedom with the largest residual, or -1 if unknown */
  double speed;    /* largest change of speed that a residual causes (StepReport.speed_error) [m/s] */
  /* Number of steps with StepReport.friction_open; end time [s] and links of the first of these steps. */
  int friction_open;
  double friction_time;
  int friction_links[2];
  /* Largest StepReport.late_friction of all steps [m/s], with the end time [s] and the links of its step. */
  double late_friction, late_time;
  int late_links[2];
} UnconvergedSteps;
/* Adds the step that ended at `time` [s] to the statistics. Does nothing for a step that is fully solved. */
void unconverged_add(UnconvergedSteps* unconverged, const StepReport* report, double time);

/* Wall time by phase [s], summed over the run. */
typedef struct {
  double broad_phase, contact, friction, assembly, factor, certificate, other, total;
} SimTimes;

/* Two touching links (a < b by index): contact and friction forces of all their hull pairs. */
typedef struct {
  int a, b;
  double gap;        /* smallest distance between the hulls of a and b, computed exactly [m] */
  Vec3 force;        /* force of a on b, world axes [N] */
  bool exerts_force; /* true if hulls of a and b exert a force, or if the contact law lists pairs by their range */
  /* Members set with OUTPUT_CONTACT_POINTS or OUTPUT_PRESSURE, otherwise zero: point, moment and `press`. */
  Vec3 point;   /* centre of pressure: mean over the pairs of hulls, weighted by normal force, world [m] */
  Vec3 moment;  /* moment on b about the centre of pressure [N m] */
  double press; /* sum of the normal forces of all pairs of hulls [N] */
  /* Normal forces of the last substep that limit friction, copies of the members load, owed and lost of FrictionAccount
   * [N]. Zero unless contact_keeps_account returns true. */
  double friction_load, friction_owed, friction_lost;
} SimContact;

typedef struct {
  double kinetic, potential; /* kinetic: energy of the links and of the joints' armatures [J]; potential: energy of
                                gravity, zero at the world's origin, and of joint springs [J] */
  double total; /* kinetic plus potential energy at the time of `kinetic`, which may be the midpoint of the step (S20)
                   [J] */
  double smallest_gap;   /* smallest gap of all neighbouring pairs; INFINITY if there are none [m] */
  Vec3 momentum;         /* momentum of all movable links [kg m/s] */
  Vec3 angular_momentum; /* about the world's origin [kg m^2/s] */
} SimMeasure;

/* Kinetic energy and momenta of the links, from the integrator's velocity (docs/derivations/step.md, S19). */
typedef struct {
  double kinetic;        /* kinetic energy [J] */
  Vec3 momentum;         /* linear momentum [kg m/s] */
  Vec3 angular_momentum; /* about the world's origin [kg m^2/s] */
} SimMotion;
/* Returns kinetic energy and momenta of the movable links at the end of a step. now[links]: poses at the end of the
 * step. old[links], older[links]: poses at the ends of the two previous steps; poses before the start equal the first.
 * The mass of a link moves with its points. World axes [J, kg m/s, kg m^2/s]. The result does not apply to links that
 * integrate their angular momentum. */
SimMotion motion_between(const Model* model, const StepClock* clock, const Pose* now, const Pose* old,
                         const Pose* older);

/* Sets force[links] to the sum of all forces on each link except gravity and loads, world axes [N]. The sum is m (x'' -
 * g) minus the loads. m: mass; g: gravity; x'': acceleration of the centre of mass, from the integrator's difference of
 * positions. now, old, older, oldest (links each): poses at the end of the step and at the ends of the three previous
 * steps. Immovable links are included. Returns false, with force unchanged, if the step starts from velocities instead
 * of poses, or if the scene has a fluid. */
bool motion_forces(const Model* model, const StepClock* clock, const Pose* now, const Pose* old, const Pose* older,
                   const Pose* oldest, Vec3* force);

/* Meaning of a signal in the equations of a step. */
typedef enum {
  SIGNAL_IS_FORCE, /* force, torque, tension, or strength of a field */
  SIGNAL_IS_RATE,  /* target of the rate of a coordinate */
  SIGNAL_IS_HELD,  /* input that a program gives for each step */
} SignalUse;
/* Returns the meaning of the signal of a drive, for drives of type pd that of its rate. */
SignalUse controller_signal_use(const ModelController* controller);
/* Returns the span of time over which the step of `clock` takes the mean of a signal (docs/derivations/loads.md, L98).
 * If from = to, the step uses the value at this time. */
SignalSpan signal_span(Integrator integrator, const StepClock* clock, SignalUse use);

/* Returns the force of load number `load` in the step of `clock`, world axes [N] (docs/derivations/loads.md). The
 * force on immovable links is zero. begin[links]: poses at the start of the step. before[links]: poses at the start of
 * the previous step, unused in the first step. */
Vec3 sim_load_force(const Model* model, int load, const StepClock* clock, const Pose* begin, const Pose* before);
/* Returns the potential energy of buoyancy at poses[links] [J] (docs/derivations/fluid.md), or 0 without a fluid.
 * Allocates temporary memory. */
double sim_fluid_energy(const Model* model, const Pose* poses);
/* Creates a simulation in the model's initial state. The caller frees *out with sim_destroy. Copies options. Borrows
 * the model, which must outlive the sim. If bodies intersect, a closure is open, or a stored state does not belong to
 * the model, sets *out to NULL, adds a message to diagnostics and returns STATUS_BAD_INPUT. */
Status sim_create(Sim** out, const Model* model, const SimOptions* options, Diagnostics* diagnostics);
/* Frees the sim, but not the model. Accepts NULL. */
void sim_destroy(Sim* sim);
/* Advances the simulation by one time step dt. The step has simulation.substeps equal substeps, or as many as the
 * previous steps needed. After a failure the number of substeps is doubled repeatedly, up to SUBSTEPS_FINEST. The last
 * attempts have no reduced iteration limit (docs/derivations/step.md, S13, S14). If all attempts fail, the state is
 * unchanged and the report describes the attempt with the most substeps. Allocates only while pairs, substeps or
 * patterns grow. */
StepReport sim_step(Sim* sim);
/* Advances the simulation by one time step. The first attempt has exactly `substeps` >= 1 equal substeps. After a
 * failure the number of substeps is doubled repeatedly, up to SUBSTEPS_FINEST. If all attempts fail, the state is
 * unchanged. Allocates only while pairs, substeps or patterns grow. */
StepReport sim_step_with_substeps(Sim* sim, int substeps);
/* Advances the simulation by one time step in the recorded substeps of another run, impacts included. parts[count],
 * count >= 1: clocks of these substeps, borrowed for the call. Makes a single attempt. If the attempt fails, the state
 * is unchanged. */
StepReport sim_step_repeat(Sim* sim, const StepClock* parts, int count);
/* Appends the reason why the last step failed: `the solver failed at t = ... (step n): why; ...` (simulate/failure.c).
 * The sim does not change, so the step may be repeated. The caller owns out. */
void sim_failure_text(Text* out, const Model* model, Sim* sim, const StepReport* report);
/* Returns the present state, which the sim owns. sim_step changes the state and the address of SimState.pose. Never
 * NULL. */
const SimState* sim_state(const Sim* sim);
/* Returns the wall times of the phases of the run so far [s]. They differ between runs and affect no result. */
SimTimes sim_times(const Sim* sim);
/* Returns the clock of the substep that ended in the present state, or all zeros at the start. */
StepClock sim_clock(const Sim* sim);
/* Solution of a substep that was followed by another solve of the same substep. The contact forces of this solution
 * limit the friction of the next solve (docs/derivations/friction.md, F8). */
typedef struct {
  const double* q;  /* joint coordinates (size: nq) */
  const Pose* pose; /* poses of the links (size: links) */
  const ContactRecord* contacts;
  int contact_count;
} SimSolve;
/* A state between two substeps of the last step. The member clock: clock of the substep that ended in this state. */
typedef struct {
  StepClock clock;
  const double* q;           /* joint coordinates (size: nq) */
  const Pose* pose;          /* poses of the links (size: links) */
  const Vec3* momentum;      /* angular momenta of the links, as in SimState.momentum (size: links) */
  const Vec3* contact_force; /* SimState.contact_force (links), or NULL */
  const double* delayed;     /* SimState.delayed, or NULL */
  const ContactRecord* contacts;
  int contact_count;
  const SimSolve* solves; /* solves of the substep before its last solve (size: solve_count) */
  int solve_count;
} SimSubstate;
/* Returns the states between the substeps of the last step, in order of time. Sets *count to the number of these
 * states, 0 for a step with a single substep. The sim owns the array. It is valid until the next step. */
const SimSubstate* sim_substates(const Sim* sim, int* count);
/* Returns the solves of the last substep, except the last one, in order of time. Sets *count to the number of these
 * solves. The sim owns the array. It is valid until the next step. */
const SimSolve* sim_solves(const Sim* sim, int* count);
/* Returns a copy of solves[count] in one block, or NULL for count 0. The caller frees the copy with memory_free. */
SimSolve* sim_solves_copy(const SimSolve* solves, int count, const Model* model);
size_t sim_solves_size(const SimSolve* solves, int count,
                       const Model* model); /* Returns the size of the copy that sim_solves_copy makes [bytes]. */
/* Solution of a run's first substep without friction, which sets the limits of friction (docs/derivations/friction.md,
 * F6). Also contains the contact forces at both ends of the substep. */
typedef struct {
  StepClock clock;
  const double* q;          /* coordinates at the end of the substep (size: nq) */
  const Pose* pose;         /* poses at the end of the substep (size: links) */
  ContactForces start, end; /* contact forces at the start and at the end of the substep */
} InitialFriction;
/* Returns the frictionless solution of the last step. Returns NULL if this step was not the first of the run, or if no
 * friction acted at its start. The sim owns the result. It is valid until the next step. */
const InitialFriction* sim_initial_friction(const Sim* sim);
/* Returns a copy of the frictionless solution in one block, which the caller frees with memory_free. */
InitialFriction* sim_initial_friction_copy(const InitialFriction* initial_friction, const Model* model);
/* Returns the size of the copy that sim_initial_friction_copy makes [bytes]. */
size_t sim_initial_friction_size(const InitialFriction* initial_friction, const Model* model);
/* Stored states (simulate/snapshot.c). A stored state contains everything on which later steps depend. A run that
 * continues from a stored state of the same model is bit-identical to an uninterrupted run, for any number of threads.
 * After sim_restore, sim_substates returns no states and sim_path starts anew. */
typedef struct SimSnapshot SimSnapshot;
/* Returns a copy of the present state. The caller frees it with sim_snapshot_destroy. The size is sim_snapshot_size
 * bytes. The sim does not change. Never NULL. */
SimSnapshot* sim_save(Sim* sim);
/* Returns an empty stored state for sim_save_over. The caller frees it with sim_snapshot_destroy. */
SimSnapshot* sim_snapshot_create(void);
/* Replaces the stored state by the present state. Allocates only if the stored state needs more memory than before. */
void sim_save_over(Sim* sim, SimSnapshot* snapshot);
/* Restores a state saved from this sim, bit-identically, after a failed or interrupted step. After a failure,
 * sim_step itself restores the state only to rounding, because it recomputes contact planes. Keeps the moves of
 * sim_path. Allocates if the stored state has more pairs than this sim ever had. */
void sim_restore_after_failure(Sim* sim, const SimSnapshot* snapshot);
/* Restores a stored state, which can be restored again. Asserts that the snapshot belongs to a run of the same model.
 * Contact is restored bit-identically. sim_times is not restored. Allocates if the stored state has more pairs than
 * this sim ever had. */
void sim_restore(Sim* sim, const SimSnapshot* snapshot);
/* Frees the stored state. Accepts NULL. */
void sim_snapshot_destroy(SimSnapshot* snapshot);
/* Returns the size of a stored state [bytes]. */
size_t sim_snapshot_size(const SimSnapshot* snapshot);
/* Sets *file to the present state, as a file of kind STATE_KIND that Scene.start can name. Requires at least one step.
 * The caller frees *file with number_file_free. Earlier content of *file is not freed. */
void sim_state_file(Sim* sim, NumberFile* file);
/* State of a closure (simulate/closures.c). */
typedef struct {
  bool broken;
  double broken_at; /* time of the state in which the closure broke [s]; INFINITY if intact */
  double gap;       /* largest error of the closure's equations for lengths [m] */
  double angle;     /* largest error of the closure's equations for angles [rad] */
  Vec3 force;       /* force on a, world axes; zero at the start [N] */
  Vec3 torque;      /* torque on a about the attachment point of a, world axes [N m] */
} SimClosure;
/* Returns errors and forces of closure number `index`, world axes [m, N]. */
SimClosure sim_closure(const Sim* sim, int index);
/* Returns errors and forces of coupling number `index`. gap: error of the coupling [m or rad]. force.x: force along
 * the dependent coordinate [N or N m]. */
SimClosure sim_coupling(const Sim* sim, int index);
/* Returns the times at which closures broke [s] (closures), INFINITY for intact ones. Returns NULL without closures.
 * The sim owns the array. */
const double* sim_closures_broken(const Sim* sim);
/* States of the two previous substeps; undefined at the start of a run. The sim owns the arrays. They are valid until
 * the next step. */
typedef struct {
  const double *q_old,
      *q_older; /* coordinates one and two substeps before; q_older is NULL if no joint has an armature (size: nq) */
  const Pose *pose_old, *pose_older; /* poses one and two substeps before (size: links) */
} SimHistory;
/* Returns coordinates (nq) and poses (links) of the two states before the present one. The time differences between the
 * three states are dt and dt_before of sim_clock [s]. The sim owns the arrays. They are valid until the next step.
 * Never NULL. */
SimHistory sim_history(const Sim* sim);
/* ---- velocities of links, forces along joints (simulate/joint_forces.c, simulate/measure.c) */

/* Sets the velocities of the links, world axes. v[links]: velocities of the centres of mass, by the integrator's
 * difference that also defines momentum and kinetic energy [m/s]. w[links]: angular velocities that follow from the
 * joint rates [rad/s]. At the start both are the initial velocities. */
void sim_link_velocities(Sim* sim, Vec3* v, Vec3* w);

/* Kinds of forces along a joint's coordinates. A table in joint_forces.c lists the name and the functions of each
 * kind. */
typedef enum {
  JOINT_FORCE_DRIVE, /* force of all drives of the joint; for a prescribed joint the force that enforces the motion */
  JOINT_FORCE_LOAD,  /* loads on the link and its descendants */
  JOINT_FORCE_FRICTION, /* dry friction */
  JOINT_FORCE_DAMPING,
  JOINT_FORCE_SPRING,
  JOINT_FORCE_LIMIT,
  JOINT_FORCE_CLOSURE, /* closures and couplings */
  JOINT_FORCE_KINDS
} JointForceKind;
/* Returns the name of the kind in columns and keys of files, a static string. Never NULL. Undefined for an invalid
 * kind. */
const char* joint_force_name(JointForceKind kind);
/* Returns the joint forces of the last (sub)step, force[kind * nv + dof] [N, N m]. Each force acts on the link along
 * the increment of one coordinate. For a ball joint, the forces are torques about the link axes. The forces are zero at
 * the start. Returns NULL if the scene's simulation.output does not request forces. Borrowed until the next step. */
const double* sim_joint_forces(const Sim* sim);

/* Returns the joint reactions of the last (sub)step (docs/derivations/observables.md, O1). reaction[link]: force [N]
 * and torque [N m] of the parent (or the world) on the link, about the origin of the link frame, world axes (links).
 * The reactions include the joint's constraint, drives, springs, limits and friction. They are zero at the start.
 * Returns NULL if the scene's simulation.output does not request reactions. Borrowed until the next step. */
const double (*sim_reactions(const Sim* sim))[6];

/* Returns the feedback inputs of all drives in the last (sub)step, K y of (feedback.md, E2) or the output of the
 * network, in the unit of the drive's target (Model.feedback_count; ModelController.feedback_first is the first of a
 * drive). They are zero at the start. Returns NULL if no drive has feedback. Borrowed until the next step. */
const double* sim_feedback(const Sim* sim);

/* Returns true if derivatives with respect to a link's reaction are available (update.md, O3). They are not available
 * for immovable links. They are not available either for a tree that conserves its momentum and whose target pose
 * (TreeFlight) is solved together with closures. link is not checked. */
bool sim_reaction_derives(const Model* model, int link);

/* State of a closure with the key `active` after the last step. */
typedef struct {
  double since; /* time of the state in which the closure closed [s]; INFINITY if the closure is open */
  double until; /* time of the state in which a force above the limit, or the signal within a step, opened the closure
                   [s]; INFINITY if not opened since `since` */
  bool barred;  /* true if a force above the limit opened the closure and its closing condition has held ever since. The
                   closure then does not close again */
  Pose at;      /* pose of b in the frame of a [m] at the time of closing */
} SimJoin;
/* Returns true if the closure is closed. */
static inline bool closure_is_closed(const SimJoin* join) {
  return join->since < (double)INFINITY && !(join->until < (double)INFINITY);
}
/* Returns the states of all closures (closures), or NULL if no closure has `active`. The sim owns the array. It is
 * valid until the next step. */
const SimJoin* sim_closures_joined(const Sim* sim);

/* Returns the pairs of links in contact in the present state, sorted by (a, b). Sets *count to the number of these
 * pairs. Lengths in m, forces in N, world axes. Returns NULL, with *count 0, if the scene has no contact. The sim owns
 * the array. It is valid until the next call. Allocates while the number of pairs grows. */
const SimContact* sim_contacts(Sim* sim, int* count);
/* Returns energies, momenta and the smallest gap of the present state. Computing the gap takes the distances of all
 * candidate pairs. */
SimMeasure sim_measure(Sim* sim);
/* Energy that the time-stepping scheme added (> 0) or dissipated (< 0) since the start (docs/derivations/step.md, S23).
 * It is the change of kinetic and potential energy minus the work of all forces. */
typedef struct {
  double work; /* energy change of all movable links [J] */
  int link;    /* first link of the tree whose energy change is largest relative to `link_scale`; -1 if there is none */
  double link_work;  /* energy change of the tree that contains `link` [J] */
  double link_scale; /* largest energy that the tree of `link` had or exchanged [J] */
} SimSchemeWork;
/* Returns the energy change by the scheme, or zeros without SimOptions.scheme_work. */
SimSchemeWork sim_scheme_work(const Sim* sim);
/* Moves of the solver that lead from one recorded state to the next (simulate/path.c; docs/derivations/certificate.md,
 * P6). No hulls intersect during the moves, which is proved. The list is empty if the straight path between the states
 * is proved. */
typedef struct {
  int count;
  const double* time;  /* end time of the substep to which each move belongs [s] (size: count) */
  const double* delta; /* joint increments of each move [m, rad] (joint_increment) (count x nv) */
} SimPath;
/* Returns the moves since the last call: increments [m, rad], row-major, and times [s]. The list is empty without
 * SimOptions.path, and if the scene has no certificate. Borrowed until the next step. */
SimPath sim_path(Sim* sim);
/* Sets the total contact and friction force on each link in the present state, world [N] (links). */
void sim_link_forces(const Sim* sim, Vec3* force);
/* Sets force[count] to the contact and friction force that ForcePair.other exerts on ForcePair.link, for each of
 * pairs[count], world axes [N]. The force is 0 for a pair without contact. */
void sim_pair_forces(const Sim* sim, const ForcePair* pairs, int count, Vec3* force);
/* Returns the records of the pairs in contact in the present state. Sets *count to the number of records. Returns NULL,
 * with *count 0, if the scene has no contact. The sim owns the array. It is valid until the next call. Allocates while
 * the number of pairs grows. */
const ContactRecord* sim_contact_records(Sim* sim, int* count);

/* ---------------------------------------------------------------- proof over recorded states (simulate/proof.c) */
/* Proof that no two hulls intersect between recorded states. The straight path between two states moves every joint
 * coordinate linearly. A ball joint moves along the increments Rx(alpha d1) Ry(alpha d2) Rz(alpha d3), alpha in [0, 1].
 * If the straight path has no proof, the proof searches for a detour (docs/derivations/certificate.md, P5). For
 * example, the straight path of a rolling body cuts into the ground. */
typedef struct Proof Proof;

typedef enum {
  PROOF_DISJOINT,     /* no two hulls intersect, which is proved */
  PROOF_INTERSECTING, /* two hulls intersect at ProofReport.fraction of the path */
  PROOF_UNDECIDED,    /* neither a proof nor an intersection was found */
} ProofOutcome;

typedef struct {
  ProofOutcome outcome;
  int link_a, link_b; /* the two links that intersect or have no proof; not set for PROOF_DISJOINT */
  double fraction; /* for PROOF_INTERSECTING: fraction of the path at which the links intersect, 1 in the new state */
  double miss;     /* largest difference between the poses at the end of the moves and in the new state [m or 1] */
  bool detour;     /* true if a detour was proved instead of the straight path */
  int intervals;   /* number of path intervals that were examined */
  double gap; /* smallest gap between neighbouring hulls in the new state [m]; INFINITY if there are no neighbours */
  int gap_a, gap_b; /* the two links with the smallest gap; -1 if there are no neighbours */
} ProofReport;

/* Computes the increments delta[nv] of the straight path from the coordinates q[nq] to the coordinates to[nq] [m, rad].
 * A ball joint takes the shorter rotation. */
void proof_straight_increments(const Model* model, const double* q, const double* to, double* delta);
/* Creates a proof. The caller frees it with proof_destroy. Copies the Model struct and borrows the arrays of the model,
 * which must outlive the proof. threads below 1 counts as 1. Never NULL. */
Proof* proof_create(const Model* model, int threads);
/* Frees the proof. Accepts NULL. */
void proof_destroy(Proof* proof);
/* Makes q[nq] (copied) the first state. The outcome is PROOF_INTERSECTING if hulls intersect in q, otherwise not.
 * Allocates while candidates grow. */
ProofReport proof_restart(Proof* proof, const double* q);
/* Proves the straight path, or a detour, from the last state to q[nq] (copied). Then q becomes the last state. The
 * first call, and the call after a state with an intersection, examine only the state q itself. The outcome alone
 * reports a failure. */
ProofReport proof_next(Proof* proof, const double* q);
/* Two neighbouring links in the last proved state. */
typedef struct {
  int a, b;    /* indices of the two links, a < b */
  double gap;  /* smallest distance between the hulls of a and b [m]; beyond the contact range a lower bound, which is
                  also larger than the range */
  bool active; /* true if the contact energy of the two links is not zero */
  Vec3 force;  /* contact force on b without friction [N], for a step of full length from the previous state */
  double load; /* sum of the force magnitudes over the hull pairs [N] */
} ProofPair;
/* Returns the pairs of neighbouring links, sorted by (a, b). Sets *count to the number of pairs. Returns NULL, with
 * *count 0, if bodies intersect in the state. The proof owns the array. It is valid until the next call. */
const ProofPair* proof_pairs(Proof* proof, int* count);

/* Tries to prove that no hulls intersect on the straight path from the last state to q[nq] (copied). Never searches
 * for a detour. Returns PROOF_DISJOINT only if the straight path is proved. Then q becomes the last state. */
ProofReport proof_next_straight(Proof* proof, const double* q);
/* Proves that no hulls intersect along recorded moves from the last state to q[nq] (copied). moves (count x nv,
 * row-major): increments [m, rad], borrowed for the call. If the end of the moves differs from q, the last move is
 * extended to end in q. The report's `miss` is the difference. Allocates while contact candidates grow. */
ProofReport proof_next_along(Proof* proof, const double* moves, int count, const double* q);

/* ---------------------------------------------------------------- adjoint of one recorded step
 * (simulate/step_adjoint.c) */
/* Computes the adjoint of one step (SDRS Eq. 86-88; docs/derivations/adjoint.md). The step from t to t + dt solves
 * F(next; now, old, older, model) = 0, with the Hessian H = dF/d(next). g: derivatives of a scalar with respect to the
 * coordinates at t + dt. The adjoint solves H lambda = -g. Then it adds lambda . dF/dx to the derivatives of the scalar
 * with respect to each earlier state and the model, in place of x. */
typedef struct StepAdjoint StepAdjoint;

/* Derivatives of a scalar with respect to a state. Poses and coordinates count as independent variables. */
typedef struct {
  double (*pose)[3][4]; /* derivatives with respect to (R | t) of every link frame, entry by entry (size: links) */
  double* q;            /* derivatives with respect to increments of the coordinates (size: nv) */
} StateBar;

/* A recorded step of a run. next, now, old, older: states at t + dt, at t, and one and two steps before t. States
 * before the start of the run equal the first state. */
typedef struct {
  StepClock clock;
  int64_t number; /* number of the state at t + dt in the run, counted from 1; 0 if unknown */
  const double *q_next, *q_now, *q_old,
      *q_older; /* coordinates at the four states (nq); q_older is set only if a joint has an armature */
  const Pose *pose_next, *pose_now, *pose_old, *pose_older;
  const Vec3 *momentum_next, *momentum_now;
  const Vec3* contact_force_now; /* NULL if no force is measured */
  const double* delayed_now;     /* SimState.delayed; NULL if there are no delays */
  const ContactRecord *contacts_next, *contacts_now;
  int contact_count_next, contact_count_now;
  const SimSolve* solves; /* all solves of the step except the last one, whose solution is the state at t + dt (size:
                             solve_count) */
  int solve_count;
  const InitialFriction* initial_friction; /* frictionless solution of a run's first step (sim_initial_friction); NULL
                                              if only the previous state limits friction */
  const double* closures_broken;           /* times at which closures broke (sim_closures_broken); NULL if none broke */
  const SimJoin* closures_joined; /* states of the closures after the step (sim_closures_joined); NULL if no closure is
                                     switched by the key `active` (size: closures) */
} RecordedStep;

typedef struct {
  bool sound; /* false if the result is not a gradient. The members contact_failed, grazes and singular give the reason
               */
  bool contact_failed; /* true if a contact plane or a slip of the recorded step could not be reproduced */
  bool grazes;     /* true if bodies only graze each other at the start of an impact. The time of the impact then has no
                      derivative */
  bool singular;   /* true if the Hessian H is singular to within rounding */
  bool indefinite; /* true if the Hessian H is indefinite. The state then does not minimize the objective, but the
                      gradient is still valid */
  double eigenvalue;     /* eigenvalue of H nearest to zero, if H is singular or indefinite */
  double residual;       /* residual of the step's equations [N, N m] */
  double largest_lambda; /* largest absolute entry of the adjoint solution lambda */
  double rounding; /* estimated rounding error of the step's gradient due to the rounding of positions, relative to the
                      scales of the model's numbers */
} StepAdjointReport;

/* Creates an adjoint. The caller frees it with step_adjoint_destroy. Borrows the model. threads below 1 counts as 1.
 * Never NULL. */
StepAdjoint* step_adjoint_create(const Model* model, int threads);
/* Frees the adjoint. Accepts NULL. */
void step_adjoint_destroy(StepAdjoint* adjoint);
/* Clears the accumulated derivatives with respect to initial velocities, delayed measurements and contact history. Call
 * before the last step of a run is processed. */
void step_adjoint_begin(StepAdjoint* adjoint);
/* Derivatives of a scalar with respect to forces at a state. link: with respect to contact forces on links (links), or
 * NULL. between: with respect to contact forces between links. reaction: with respect to joint reactions
 * (sim_reactions) (links), or NULL. feedback: with respect to feedback inputs of the step (sim_feedback)
 * (Model.feedback_count), or NULL. */
typedef struct {
  const Vec3* link;
  ForcePairSlopes between;
  const double (*reaction)[6];
  const double* feedback;
} ForceSlopes;
/* Applies the adjoint of one step. Steps must be processed from last to first. All derivatives are of one scalar. next:
 * derivatives with respect to the state at t + dt, complete on entry; the contributions of rates and forces are added
 * to next.q. rate[nv]: derivatives with respect to SimState.rate at t + dt. force: derivatives with respect to forces
 * at t + dt, or NULL. Adds the derivatives with respect to the earlier states and the model to now, old, older (poses
 * only) and gradient. If the report's `sound` is false, the added numbers are not derivatives. Allocates only as the
 * pairs of a step grow. */
StepAdjointReport step_adjoint(StepAdjoint* adjoint, const RecordedStep* step, StateBar next, const double* rate,
                               const ForceSlopes* force, StateBar now, StateBar old, StateBar older,
                               ModelGradient* gradient);
/* Multiplies the accumulated derivatives with respect to earlier steps by a factor, 1 for no change. They are
 * derivatives with respect to momenta, delayed measurements and contact history. Call after step_adjoint. */
void step_adjoint_discount(StepAdjoint* adjoint, double factor);
/* Adds the derivatives of a scalar with respect to the initial coordinates to q_bar (nv), and those with respect to the
 * initial velocities and joint positions to gradient, if the model continues an earlier motion. before: derivatives
 * with respect to the state before the first one; its contents are changed. q[nq]: the first state. */
void step_adjoint_before_start(StepAdjoint* adjoint, const double* q, StateBar before, double* q_bar,
                               ModelGradient* gradient);
/* Converts the derivatives `first` with respect to the first state into derivatives with respect to the initial values.
 * These are initial coordinates and velocities, signals of prescribed joints, and joint positions. A first state that
 * was restored from a file is constant. Then converts the derivatives with respect to the implicitness of springs and
 * dampers. Adds the result to gradient. q[nq], pose[links]: the first state. rate[nv]: derivatives with respect to the
 * rates of the first state. */
void step_adjoint_start(StepAdjoint* adjoint, const double* q, const Pose* pose, StateBar first, const double* rate,
                        ModelGradient* gradient);

/* ---------------------------------------------------------------- forward sensitivities over recorded steps
 * (simulate/step_forward.c) */
/* Computes the derivatives of the states of a run with respect to some parameters (docs/derivations/identify.md, Q1).
 * Each row of a step's Jacobian is computed by reverse differentiation of one equation of the step. The cost is one
 * reverse differentiation per degree of freedom, for any number of parameters, and one back-substitution per
 * parameter. */
typedef struct StepForward StepForward;
/* Callback that converts derivatives with respect to the model's numbers into derivatives with respect to the
 * parameters. Adds the result to row (parameters). gradient: derivatives of a scalar with respect to the model's
 * numbers. */
typedef void (*ForwardChain)(void* context, const ModelGradient* gradient, double* row);
/* Creates forward sensitivities, which store (nv x parameters) numbers for several states. The caller frees them with
 * step_forward_destroy. Borrows the model and context. Never NULL. */
StepForward* step_forward_create(const Model* model, int parameters, ForwardChain chain, void* context);
/* Frees the sensitivities. Accepts NULL. */
void step_forward_destroy(StepForward* forward);
/* Declares that no parameter rotates a joint frame or axis. Sets `without_turns` in the gradients that the chain
 * receives. Call before step_forward_begin. It cannot be undone. */
void step_forward_skip_frame_rotations(StepForward* forward);
/* Places closures at the constant coordinates q[nq] (borrowed) instead of the coordinates at the start of the run.
 * Allocates. Call at most once; a second call leaks memory. */
void step_forward_set_closure_coordinates(StepForward* forward, const double* q);
/* Sets the sensitivities of the first state from the model's initial coordinates and velocities. q[nq], pose[links]:
 * the first state, copied. */
void step_forward_begin(StepForward* forward, const double* q, const Pose* pose);
/* Advances the sensitivities over one step. Steps must be processed in order of time. Returns false if the step has no
 * derivative or its contact is not reproduced; the sensitivities are then undefined. Allocates and frees. */
bool step_forward_advance(StepForward* forward, const RecordedStep* step);
/* Returns the derivatives of the coordinates with respect to the parameters (nv x parameters, row-major).
 * Coordinates change by increments. before: 0 for the present state, 1 to 3 for an earlier one. Borrowed until the
 * next step_forward_advance. */
const double* step_forward_state(const StepForward* forward, int before);
/* Converts derivatives of a scalar with respect to the poses of a state into its derivatives with respect to the
 * parameters. Adds the result to row[parameters]. bar[links]: derivatives with respect to the entries of (R | t), 3 x
 * 4. q[nq], pose[links]: the state. before: 0 for the present state, 1 to 3 for an earlier one. */
void step_forward_row(StepForward* forward, const double* q, const Pose* pose, int before, double (*bar)[3][4],
                      double* row);

#endif
