/* simulate: the state of a run and the step that advances it (SDRS section IV; docs/derivations/step.md).
 * A Sim owns its state and borrows the Model, which must outlive it. sim_create allocates, sim_step does not once the
 * set of neighbouring pairs has stopped growing. Results do not depend on the number of threads. */
#ifndef SDRS_SIMULATE_H
#define SDRS_SIMULATE_H

#include "contact/contact.h"
#include "model/model.h"

typedef struct Sim Sim;

typedef struct {
  int threads;      /* >= 1 */
  double tolerance; /* relative to the forces at work; 0 = the scene's */
  bool path;        /* keep the moves of the solver for sim_path */
  bool scheme_work; /* measure the energy of the scheme itself for sim_scheme_work */
  bool (*interrupted)(
      void); /* asked in every round of a step, by all threads; true: the step is given up. NULL: never */
} SimOptions;

/* What has been reached: the state after `step` steps. */
typedef struct {
  int step;
  double time;     /* s */
  double* q;       /* joint coordinates  [m or rad, unit quaternions]  (nq) */
  double* rate;    /* (q - q_before) / dt, link axes for balls [m/s or rad/s]  (nv) */
  Pose* pose;      /* world pose of every link frame  (links) */
  Vec3* center;    /* world centre of mass  [m]  (links) */
  Vec3* momentum;  /* angular, about the centre of mass, world axes; of links that carry theirs (integrator `momentum`),
                      else 0  [kg m^2/s]  (links) */
  Vec3* felt;      /* contact and friction force on every link over the step that led here, world axes, 0 at the start;
                      NULL where no drive measures one  [N]  (links) */
  double* delayed; /* of drives with feedback and a delay what they get to know now, and its slope by time, drive by
                      drive; NULL where there is none  (2 * Model.delayed_count) */
} SimState;

/* What a step, or a part of one, does about impacts (docs/derivations/step.md, S15). */
typedef enum {
  STEP_FREE,
  STEP_STRIKES,  /* second_order, restitution 0: an approach ends in it; of first order, as are the next two */
  STEP_STRUCK,   /* a step after that, until nothing is pressed together any more; one in which the last contact ends */
  STEP_RECOVERS, /* and one more */
  STEP_IMPACT,   /* one of the short substeps of an impact */
  STEP_LEAVES,   /* the first after them; not second_order: a step or part near them of another length than before it */
} StepKind;
/* What ends a substep (impact.md, I10). */
typedef enum {
  END_SHARE, /* a share of what is left of the step, all of it for share 1 */
  END_SHORT, /* a length that is the same in all runs */
  END_EVENT, /* the impact of a pair of hulls begins there */
} StepEnd;

/* A step in time, by its end and its length and those of the two before it. */
typedef struct {
  double time;                /* at its end [s] */
  double dt;                  /* s */
  double dt_before;           /* of the step that led to the present state; 0: the run began there [s] */
  double dt_older;            /* of the one before that; 0: there was none [s] */
  StepKind kind, kind_before; /* kind_before: of the step that led to the present state */
  StepEnd end;
  double share;                                /* of END_SHARE */
  int hull_a, hull_b;                          /* of END_EVENT */
  bool begin_varies;                           /* the time at which it begins depends on the state */
  bool dt_varies, before_varies, older_varies; /* so do dt, dt_before, dt_older */
} StepClock;

typedef enum {
  STEP_CONVERGED,      /* in balance to the tolerance */
  STEP_ROUNDING_FLOOR, /* gradient above it, but the predicted decrease is below rounding */
  STEP_MAX_ITERATIONS, /* not converged: the state of the step before is kept */
  STEP_LINE_SEARCH,    /* no acceptable step length: the state before is kept */
  STEP_BLOCKED,        /* a prescribed link cannot move without passing through something */
  STEP_OPEN,           /* a closure cannot be closed: the state before is kept */
  STEP_CROSSED,        /* two bodies would change sides, each on a way round the other: the state before is kept */
  STEP_NOT_FINITE,     /* a number overflowed: the state before is kept */
  STEP_INTERRUPTED,    /* SimOptions.interrupted said so: the state before is kept */
} StepOutcome;
/* The word that outputs have for it: static, never NULL. Undefined for what is no StepOutcome; not to be freed. */
const char* step_outcome_text(StepOutcome outcome);
/* True unless the step reached balance, to the tolerance or to rounding. Nothing is allocated. */
bool step_outcome_failed(StepOutcome outcome);

/* Energies at the new state [J]: the terms of the objective, and what contact has stored, without what impacts take. */
typedef struct {
  double inertia, gravity, controller, limit, damping, contact, friction;
  double stored;
} StepTerms;

/* Two links that were too much for a step: they stood in each other's way, or pressed hardest. */
typedef struct {
  bool known;
  int link_a, link_b;
  double gap;   /* that the last trial left between them; negative: they would overlap by so much [m];
                   INFINITY where their pieces are too many to say it of one pair */
  double force; /* between them before that trial [N] */
} StepSqueeze;

typedef struct {
  StepOutcome outcome;
  int iterations;  /* Newton steps taken, of all substeps and of the tries that failed; so are trials, intervals and
                      retries */
  int trials;      /* line-search evaluations */
  double residual; /* largest imbalance, relative to the forces at work (docs/derivations/step.md, S8) */
  double residual_force; /* the same as it is [N, N m] */
  int residual_dof;      /* where */
  StepTerms terms;
  int active_pairs;        /* hull pairs with non-zero contact energy */
  int candidate_pairs;     /* hull pairs the broad phase kept */
  int certified_intervals; /* pieces of path the certificate looked at */
  int factor_retries;      /* times the Hessian was not positive definite */
  int substeps;            /* parts that the step was taken in: equal ones, or those of an impact as well */
  int open_closure;        /* of STEP_OPEN: which one ... */
  double open_gap;         /* ... and how far from closed it stayed [m or rad] */
  bool halved;             /* they are more than the scene asks for */
  bool friction_open;      /* the force that friction rests on has not settled (contact.friction_iterations) ... */
  int friction_links[2];   /* ... and changed most between these links */
  StepSqueeze squeeze;     /* of a step that failed */
} StepReport;

/* Steps of a run that are not wholly solved: ended as STEP_ROUNDING_FLOOR, above the tolerance, or with friction open.
 * Zeroed: none so far. */
typedef struct {
  int steps;
  double residual; /* largest of them, relative to the forces at work ... */
  double time;     /* ... the time that its step leads to [s] ... */
  int dof;         /* ... and where; -1: unknown */
  /* Steps of StepReport.friction_open: how many, the time that the first leads to [s], and its links. */
  int friction_open;
  double friction_time;
  int friction_links[2];
} UnconvergedSteps;
/* Counts a step that led to this time [s], if it is one of them. */
void unconverged_add(UnconvergedSteps* unconverged, const StepReport* report, double time);

/* Wall time by phase [s], summed over the run. */
typedef struct {
  double broad_phase, contact, friction, assembly, factor, certificate, other, total;
} SimTimes;

/* A touching pair of links (a < b by index): contact and friction forces of all its hull pairs. */
typedef struct {
  int a, b;
  double gap; /* smallest distance of their hulls (exact GJK) [m] */
  Vec3 force; /* on b, world [N] */
  /* With OUTPUT_CONTACT_POINTS or OUTPUT_PRESSURE, else zero: */
  Vec3 point;   /* centre of pressure, mean over their hulls by normal force [m] */
  Vec3 moment;  /* about it, on b [N m] */
  double press; /* sum of the normal forces [N] */
} SimContact;

typedef struct {
  double kinetic, potential; /* J; kinetic: armatures too; potential: gravity, zero at the
                                world's origin, and joints' springs */
  double total;          /* kinetic and potential at the moment of kinetic, which may be the step's middle (S20) [J] */
  double smallest_gap;   /* over all pairs near each other; INFINITY when there is none [m] */
  Vec3 momentum;         /* of all that can move [kg m/s] */
  Vec3 angular_momentum; /* about the world's origin [kg m^2/s] */
} SimMeasure;

/* What the links' motion carries, from the integrator's own velocity (docs/derivations/step.md, S19). */
typedef struct {
  double kinetic;        /* J */
  Vec3 momentum;         /* kg m/s */
  Vec3 angular_momentum; /* about the world's origin [kg m^2/s] */
} SimMotion;
/* The motion that now[links], old[links] and older[links], the poses at the end of a step and of the two before tell
 * of, every link taken by its points: bodies that carry their angular momentum hold another one, and another energy.
 * Before the start the poses repeat the first. World axes; links that cannot move count for nothing. [J, kg m/s, kg
 * m^2/s] By value. Cannot fail. */
SimMotion motion_between(const Model* model, const StepClock* clock, const Pose* now, const Pose* old,
                         const Pose* older);

/* What the scheme takes each link's centre of mass to be driven by in a step, m (x'' - g) [N] (links), from the poses
 * (links each) at its end and at those of the three before. False: the step starts from velocities, which are no poses.
 * All of force is set, world axes, also of links that cannot move. Returns false with force as it was. Nothing is
 * allocated. */
bool motion_forces(const Model* model, const StepClock* clock, const Pose* now, const Pose* old, const Pose* older,
                   const Pose* oldest, Vec3* force);

/* The force of a load of the model in the step of `clock` from the poses `begin`, with those a step before, `before`;
 * not in a run's first step [N] (docs/derivations/loads.md). World axes; zero on links that cannot move. No
 * allocation. load below Model.load_count: undefined beyond, not checked. */
Vec3 sim_load_force(const Model* model, int load, const StepClock* clock, const Pose* begin, const Pose* before);
/* Potential energy of buoyancy at poses (links) [J] (docs/derivations/fluid.md); 0 without a fluid. Allocates for the
 * time of the call. */
double sim_fluid_energy(const Model* model, const Pose* poses);
/* At the start that the model tells. *out is the caller's, for sim_destroy. STATUS_BAD_INPUT, a message and *out = NULL
 * where bodies intersect at the start, a closure is open there, or a recorded start does not fit. options: copied.
 * The model is borrowed and must outlive the sim. */
Status sim_create(Sim** out, const Model* model, const SimOptions* options, Diagnostics* diagnostics);
/* Frees all that the sim owns, not the model; NULL is accepted. */
void sim_destroy(Sim* sim);
/* Advance by dt: in simulation.substeps equal substeps (or as many as the steps before needed), and when that fails, in
 * twice, four times ... as many, up to SUBSTEPS_FINEST, and once more with all iterations (docs/derivations/step.md,
 * S13, S14). On failure the state is that before the call, and the report is that of the finest try. Allocates only
 * while pairs, parts or patterns grow. */
StepReport sim_step(Sim* sim);
/* The same, tried first in exactly so many substeps (>= 1). On failure as sim_step. Allocates as sim_step does. */
StepReport sim_step_in(Sim* sim, int substeps);
/* The same in the parts that another run took, by their clocks, whatever they come to: where that run resolved an
 * impact this one does. Not taken in finer ones when it fails. parts[count]: times in s, at the end and the length of
 * each; borrowed for the call. count 0 is an error of the caller; on failure the state is that before the call. */
StepReport sim_step_as(Sim* sim, const StepClock* parts, int count);
/* Adds `the solver failed at t = ... (step n): why; ...` for the step that was tried last and failed
 * (simulate/failure.c). Words only: nothing is freed or reset, and the step may be tried again. out grows as it
 * needs and stays the caller's; it never fails itself. */
void sim_failure_text(Text* out, const Model* model, Sim* sim, const StepReport* report);
/* Borrowed for the life of the sim: after the next sim_step it is the next state, and pose points elsewhere. Never
 * NULL, not to be freed. */
const SimState* sim_state(const Sim* sim);
/* Clock time, so it differs from run to run; no result depends on it. Seconds, copied out; asking never fails. */
SimTimes sim_times(const Sim* sim);
/* The substep that led to the present state; all zero at the start. Times in s; kind tells what it did about impacts.
 * Copied out; asking never fails. */
StepClock sim_clock(const Sim* sim);
/* A state inside the last step, with the substep that led to it. */
typedef struct {
  StepClock clock;
  const double* q;       /* (nq) */
  const Pose* pose;      /* (links) */
  const Vec3* momentum;  /* SimState.momentum (links) */
  const Vec3* felt;      /* SimState.felt (links), or NULL */
  const double* delayed; /* SimState.delayed, or NULL */
  const ContactRecord* contacts;
  int contact_count;
} SimSubstate;
/* States between the last two that sim_state has shown, in the order of time, an array of length *count: none for a
 * step taken as a whole. Valid until the next step. *count is their number, below the substeps of the step. NULL or
 * not, the list means nothing when *count is 0. Owned by the sim, as the states' arrays. */
const SimSubstate* sim_substates(const Sim* sim, int* count);
/* What the friction of a run's first step (of its first substep) rests on: the same step solved without friction, and
 * what presses without friction at both its ends (docs/derivations/friction.md, F6). */
typedef struct {
  StepClock clock;
  const double* q;          /* where it ends (nq) ... */
  const Pose* pose;         /* (links) */
  ContactForces start, end; /* ... and what presses where it begins, and there */
} SimGuess;
/* Of the step taken last; NULL: it was not the first one, or nothing rubbed at its start. Borrowed until the next step.
 */
const SimGuess* sim_guess(const Sim* sim);
/* A copy, in one block for memory_free. Allocates. */
SimGuess* sim_guess_copy(const SimGuess* guess, const Model* model);
size_t sim_guess_size(const SimGuess* guess, const Model* model); /* of a copy [bytes] */
/* ---- a state kept (simulate/snapshot.c): everything that the steps to come depend on, so that a run which goes on
 * from it takes the same steps to the bit as one that never stopped, on any number of threads. For runs of the same
 * model. After sim_restore a state shows what it showed when it was saved, except for states inside its last step
 * (sim_substates: none) and the moves that led to it (sim_path begins anew). */
typedef struct SimSnapshot SimSnapshot;
/* The caller frees it with sim_snapshot_destroy. Allocates; never NULL. A block of sim_snapshot_size bytes; the sim
 * itself does not change. */
SimSnapshot* sim_save(Sim* sim);
/* One that holds nothing yet, for sim_save_over. Owned by the caller; freed with sim_snapshot_destroy. */
SimSnapshot* sim_snapshot_create(void);
/* The present in place of what the snapshot held; allocates only where that was smaller. Never fails. */
void sim_save_over(Sim* sim, SimSnapshot* snapshot);
/* After a step that failed or was interrupted: the state before it to the bit, as saved from this sim. (What sim_step
 * goes back to by itself is that to rounding: the planes of contacts are found anew.) The moves of sim_path stay.
 * Allocates as sim_restore does. Never fails. */
void sim_return(Sim* sim, const SimSnapshot* snapshot);
/* Asserts that the snapshot is of a run of the same model. It is copied, and can be restored again. Allocates while
 * that state had more pairs than this one ever. Contact is as it was to the bit; sim_times is not. */
void sim_restore(Sim* sim, const SimSnapshot* snapshot);
/* Frees it and all that it owns; NULL is accepted. */
void sim_snapshot_destroy(SimSnapshot* snapshot);
/* Of its own and what it owns; never fails. */
size_t sim_snapshot_size(const SimSnapshot* snapshot); /* bytes */
/* The present state as a file of kind STATE_KIND, which number_file_free frees: what Scene.start may begin with. Not
 * before the first step. The caller owns the file; an earlier content of *file is not freed. Never fails. */
void sim_state_file(Sim* sim, NumberFile* file);
/* A closure at the present state (simulate/closures.c). */
typedef struct {
  bool broken;
  double broken_at; /* time of the state in which it broke; INFINITY: it holds [s] */
  double gap;       /* how far it is from being closed: largest of its lengths [m] ... */
  double angle;     /* ... and of its angles [rad] */
  Vec3 force;       /* on a, world; zero at the start [N] */
  Vec3 torque;      /* on a about its end, world [N m] */
} SimClosure;
/* index: below Model.closure_count. World axes [m, N]. An index beyond is undefined, not checked; copied out. */
SimClosure sim_closure(const Sim* sim, int index);
/* The same of a coupling: gap [m or rad], and in force.x its force along the coordinate that follows [N or N m]. index:
 * below Model.coupling_count. An index beyond is undefined, not checked; copied out. */
SimClosure sim_coupling(const Sim* sim, int index);
/* Times at which closures broke (closures), NULL when there is none. Borrowed. Seconds; INFINITY of those that hold.
 * Not to be freed. */
const double* sim_closures_broken(const Sim* sim);
/* Coordinates and poses at the substep before, and poses at the one before that; at the start of a run they say nothing
 * yet. Borrowed until the next step. */
typedef struct {
  const double *q_old, *q_older;     /* (nq); older: that of two substeps before, NULL where no joint has an armature */
  const Pose *pose_old, *pose_older; /* (links) */
} SimHistory;
/* The times between them are dt and dt_before of sim_clock [s]. Coordinates (nq) and poses (links) of the state
 * before and of the one before that; borrowed until the next step, never NULL. */
SimHistory sim_history(const Sim* sim);
/* ---- what moves how fast, and what acts along the joints (simulate/joint_forces.c, simulate/measure.c) */

/* Velocities of the links at the current state, world axes: of the centre of mass, by the integrator's own difference,
 * which is what momentum and kinetic energy are made of [m/s], and the angular velocity that the joints' rates give it
 * [rad/s]. v[links], w[links]; set. At the start the initial velocities count. Cannot fail, allocates nothing; both
 * arrays are the caller's own. */
void sim_link_velocities(Sim* sim, Vec3* v, Vec3* w);

/* What acts along a joint's coordinates. A new kind is a word and a row of functions in joint_forces.c. */
typedef enum {
  JOINT_FORCE_DRIVE,    /* all drives of the joint; of a prescribed one what holds it on its course */
  JOINT_FORCE_LOAD,     /* loads on the link and on all that hangs on it */
  JOINT_FORCE_FRICTION, /* dry */
  JOINT_FORCE_DAMPING,
  JOINT_FORCE_SPRING,
  JOINT_FORCE_LIMIT,
  JOINT_FORCE_CLOSURE, /* closures and couplings */
  JOINT_FORCE_KINDS
} JointForceKind;
/* Its word in columns and keys; static. Undefined for what is no JointForceKind; never NULL, not to be freed. */
const char* joint_force_name(JointForceKind kind);
/* Those of the last step (of its last part, if it had several), force[kind * nv + dof] as it acts on the link, along
 * the increments of the coordinates: a ball's are torques about the link's axes [N, N m]. NULL unless the scene's
 * simulation.output asks for forces; zero at the start. Borrowed until the next step. Not to be freed. */
const double* sim_joint_forces(const Sim* sim);

/* What passes through every link's joint in the last step (of its last substep, if it had several): force and torque
 * that the parent (the world) exerts on the link, about the origin of the link's frame, world axes: of the joint's
 * constraint, and of its drives, springs, limits and friction. reaction[link]: force [N], torque [N m] (links). NULL
 * unless the scene's simulation.output asks for reactions; zero at the start. Borrowed until the next step. Not to be
 * freed (docs/derivations/observables.md, O1). */
const double (*sim_reactions(const Sim* sim))[6];

/* Do derivatives by a link's reaction reach the model (O3)? Not of one that cannot move, nor where closures take part
 * in the aim of a tree that keeps its momentum. link: not checked. */
bool sim_reaction_derives(const Model* model, int link);

/* A closure with `active` as the last step had it: since when it holds, and where b stands in a's frame then. */
typedef struct {
  double since; /* time of the state in which it closed; INFINITY: it is open [s] */
  Pose at;      /* of b in the frame of a [m] */
} SimJoin;
/* Of all closures (closures); NULL where none has `active`. Borrowed until the next step. Not to be freed. */
const SimJoin* sim_closures_joined(const Sim* sim);

/* Touching link pairs at the current state, an array of length *count, sorted by (a, b); valid until the next call.
 * Allocates while their number grows. NULL and a count of 0 without contact. Lengths in m, forces in N, world axes.
 * Owned by the sim, not to be freed. */
const SimContact* sim_contacts(Sim* sim, int* count);
/* Of the present state. Goes through all candidates for the gap. [J], the gap in m: INFINITY without candidates, no
 * error. Allocates nothing of its own. Copied out. */
SimMeasure sim_measure(Sim* sim);
/* Energy that the scheme itself has given (> 0) or taken since the start, by the balance of kinetic and potential
 * energy against the work of all forces (docs/derivations/step.md, S23). */
typedef struct {
  double work;       /* of all that moves [J] */
  int link;          /* first link of the tree whose own part of it is the largest share of its energy; -1: none */
  double link_work;  /* that part [J] */
  double link_scale; /* the largest energy that this tree had or exchanged [J] */
} SimSchemeWork;
/* By value; zero without SimOptions.scheme_work. Cannot fail, allocates nothing. */
SimSchemeWork sim_scheme_work(const Sim* sim);
/* The moves that led from one recorded state to the next, each proved (simulate/path.c;
 * docs/derivations/certificate.md, P6). Nothing where the straight way does as well. Borrowed until the next call. */
typedef struct {
  int count;
  const double* time;  /* of the state that a move leads to or towards [s]  (count) */
  const double* delta; /* increments of the joints: q (+) delta  (count x nv) */
} SimPath;
/* Moves since the last call; without SimOptions.path, or a certificate, there are none. Increments in m and rad,
 * row-major; time in s. Borrowed until the next step; NULL moves where there are none. Asking twice gives none the
 * second time. */
SimPath sim_path(Sim* sim);
/* Total contact and friction force on every link at the current state, world [N] (links); set. 0 without contact: no
 * error. Allocates nothing; force is the caller's own. */
void sim_link_forces(const Sim* sim, Vec3* force);
/* The same of single pairs of links (count); set. World axes [N]; on `link` of each pair, by `other`. 0 for a pair
 * that does not touch, no error. force[count] is the caller's own; nothing is allocated. */
void sim_pair_forces(const Sim* sim, const ForcePair* pairs, int count, Vec3* force);
/* Records of the pairs in contact at the current state, an array of length *count; valid until the next call. NULL and
 * a count of 0 without contact. Allocates while their number grows. Owned by the sim, not to be freed. */
const ContactRecord* sim_contact_records(Sim* sim, int* count);

/* ---------------------------------------------------------------- proof over recorded states
 * (simulate/proof.c) Between two recorded states every joint coordinate goes in a straight line, and a ball joint along
 * the increments Rx(alpha d1) Ry(alpha d2) Rz(alpha d3) that lead from one to the other. A proof shows for every pair
 * of hulls that may touch that they are apart all along this motion. Where they are not (a body that rolls dips below
 * its arc), one that leads through places beside it is looked for (docs/derivations/certificate.md, P5). */
typedef struct Proof Proof;

typedef enum {
  PROOF_APART, /* proved */
  PROOF_MEET,  /* two hulls meet in the new state, or at `fraction` of the way to it */
  PROOF_OPEN,  /* neither a proof nor a place where they meet was found */
} ProofOutcome;

typedef struct {
  ProofOutcome outcome;
  int link_a, link_b; /* who; set unless PROOF_APART */
  double fraction;    /* of the straight way, or of the moves, where they do; 1 = in the new state */
  double miss;        /* largest difference of a pose where the moves end from the new state's [m or 1] */
  bool detour;        /* proved for a way beside the straight one */
  int intervals;      /* pieces of path looked at */
  double gap;         /* smallest of the new state, INFINITY: nobody is near anybody [m] */
  int gap_a, gap_b;   /* between whom; -1: nobody */
} ProofReport;

/* Increments of the straight way from q to `to` (nv). q[nq], to[nq] and delta[nv], in m and rad; set. Cannot fail. Of
 * a ball the shorter of both turns; nothing is allocated. */
void proof_way(const Model* model, const double* q, const double* to, double* delta);
/* Copies what it needs of the model but borrows its arrays, which must outlive it. Freed with proof_destroy. Never
 * NULL; threads below 1 count as 1. */
Proof* proof_create(const Model* model, int threads);
/* Frees it and all that it owns; NULL is accepted. */
void proof_destroy(Proof* proof);
/* Forget the last state: this is a first one. q[nq], copied. Allocates while candidates grow. Returns a failed
 * outcome only where hulls meet in q. */
ProofReport proof_restart(Proof* proof, const double* q);
/* The next recorded state, by its coordinates q[nq]; the first call has no way to it. Where two hulls meet in a state,
 * there is no way to the next one either: that one is a first again. q is copied. Never fails otherwise than by the
 * report's outcome. */
ProofReport proof_next(Proof* proof, const double* q);
/* Two links near each other in the state that was proved last. */
typedef struct {
  int a, b;    /* a < b */
  double gap;  /* smallest distance of their hulls [m]; beyond the contact range a lower bound that is beyond it too */
  bool active; /* contact presses */
  Vec3 force;  /* of the contact without friction, on b, as a whole step from the state before makes it [N] */
  double load; /* sum of the sizes of that force over the pairs of hulls [N] */
} ProofPair;
/* All of them, an array of length *count, sorted by (a, b); valid until the next call. None when the state could not be
 * entered. NULL and a count of 0 then. Owned by the proof, not to be freed. Distances in m. */
const ProofPair* proof_pairs(Proof* proof, int* count);

/* The same without looking for a way beside the straight one. q[nq]. Copied, as in proof_next; fails where that way
 * has no proof, though another may have. */
ProofReport proof_next_straight(Proof* proof, const double* q);
/* The same along recorded moves (count x nv) instead of a straight way. report.miss: how far from q they end; what is
 * left of the last move is then to q. moves: row-major, increments in m and rad, borrowed for the call. Allocates
 * while candidates grow. */
ProofReport proof_next_along(Proof* proof, const double* moves, int count, const double* q);

/* ---------------------------------------------------------------- one recorded step backwards
 * (simulate/step_adjoint.c) The step from t to t + dt solves F(next; now, old, older, model) = 0. Given the derivatives
 * of a scalar by all that the state at t + dt holds, the adjoint solves H lambda = -(those by its coordinates) and adds
 * lambda . dF/d(rest) to the derivatives by the states before and by the model (SDRS Eq. 86-88;
 * docs/derivations/adjoint.md). */
typedef struct StepAdjoint StepAdjoint;

/* Derivatives of a scalar by a state, poses and coordinates each as if independent of the other. */
typedef struct {
  double (*pose)[3][4]; /* by (R | t) of every link's frame, entry by entry  (links) */
  double* q;            /* by increments of the coordinates  (nv) */
} StateBar;

/* A step out of a run: poses and coordinates of its states; before the start they repeat the first. */
typedef struct {
  StepClock clock;
  int64_t number;                                 /* of the state at t + dt in its run, 1..; 0: not known */
  const double *q_next, *q_now, *q_old, *q_older; /* q_older: looked at where a joint has an armature */
  const Pose *pose_next, *pose_now, *pose_old, *pose_older;
  const Vec3 *momentum_next, *momentum_now;
  const Vec3* felt_now;      /* NULL: nothing is */
  const double* delayed_now; /* SimState.delayed; NULL: nothing is */
  const ContactRecord *contacts_next, *contacts_now;
  int contact_count_next, contact_count_now;
  const SimGuess* guess;          /* of a run's first step; NULL: its friction rests on the state before alone */
  const double* closures_broken;  /* of the run: the time of the state in which every closure broke; NULL: none did */
  const SimJoin* closures_joined; /* sim_closures_joined after the step; NULL: none has `active`  (closures) */
} RecordedStep;

typedef struct {
  bool sound;            /* false: the gradient is not one; the rest says why */
  bool contact_failed;   /* a plane or a slip of the record was not found again */
  bool friction_open;    /* the iteration for friction's own force does not converge backwards */
  bool grazes;           /* bodies only graze each other where an impact begins: its time has no derivative */
  bool singular;         /* H to rounding */
  bool indefinite;       /* H: the state is no minimum; the gradient stands */
  double eigenvalue;     /* of H nearest to zero, when it is singular or indefinite */
  double residual;       /* of the step's equations [N, N m] */
  double largest_lambda; /* infinity norm of lambda */
  double rounding; /* what rounding of positions makes of the step's share of a gradient, in its numbers' scales */
} StepAdjointReport;

/* Borrows the model. Freed with step_adjoint_destroy. Never NULL; threads below 1 count as 1. */
StepAdjoint* step_adjoint_create(const Model* model, int threads);
/* Frees it and all that it owns; NULL is accepted. */
void step_adjoint_destroy(StepAdjoint* adjoint);
/* Forget what was gathered for the initial velocities. So too for what was measured late and what contact carried: the
 * next step is the last of a run. Cannot fail, allocates nothing. */
void step_adjoint_begin(StepAdjoint* adjoint);
/* Lengths of substeps are constants, as in a run that repeats those of another one (sim_step_as), or, as at first, what
 * the run itself makes of them (docs/derivations/impact.md, I11). */
void step_adjoint_fix_lengths(StepAdjoint* adjoint, bool fixed);
/* Derivatives by contact forces at a state: on every link (links, NULL: none), and between links; and by the reactions
 * of joints (sim_reactions; links, NULL: none). */
typedef struct {
  const Vec3* link;
  ForcePairSlopes between;
  const double (*reaction)[6];
} ForceSlopes;
/* next: complete on entry, its q grows by what rates and forces hand on; rate[nv]: by SimState.rate at t + dt; force:
 * by the contact forces at t + dt (NULL: none). now, old, older and gradient are added to (older:
 * poses only). Steps must come from the last to the first. sound = false in the report: what was added is no
 * derivative. Nothing is allocated but room that grows with the pairs of a step. */
StepAdjointReport step_adjoint(StepAdjoint* adjoint, const RecordedStep* step, StateBar next, const double* rate,
                               const ForceSlopes* force, StateBar now, StateBar old, StateBar older,
                               ModelGradient* gradient);
/* After a step: what it handed to the momenta before it, times a factor. Factor without unit, 1: nothing changes.
 * Cannot fail, allocates nothing. */
void step_adjoint_discount(StepAdjoint* adjoint, double factor);
/* The start: from the derivatives by the first state to the initial coordinates and velocities, the signals of
 * prescribed joints and the attachments. q[nq] and pose[links] of the first state; rate[nv]: derivatives by the
 * rates there. All is added to gradient. Cannot fail: the start is a state, not a step. */
void step_adjoint_start(StepAdjoint* adjoint, const double* q, const Pose* pose, StateBar first, const double* rate,
                        ModelGradient* gradient);

/* ---------------------------------------------------------------- recorded steps forwards
 * (simulate/step_forward.c) How the states of a run change with some parameters (docs/derivations/identify.md, I1). The
 * Jacobian of a step is found row by row: the reverse derivative of one of its equations is a row; so it costs as many
 * of these as the model has degrees of freedom, whatever the number of parameters, and a back-substitution for each
 * parameter. Not for bodies that carry their angular momentum. */
typedef struct StepForward StepForward;
/* Adds, for a scalar with these derivatives by the model's numbers, those by the parameters (count) to row. */
typedef void (*ForwardChain)(void* context, const ModelGradient* gradient, double* row);
/* Borrows the model and context. Freed with step_forward_destroy. Keeps (nv x parameters) numbers for each of several
 * states. Never NULL. */
StepForward* step_forward_create(const Model* model, int parameters, ForwardChain chain, void* context);
/* Frees it and all that it owns; NULL is accepted. */
void step_forward_destroy(StepForward* forward);
/* No parameter turns a joint's frame or axis: what the chain is given is without_turns. Before step_forward_begin; it
 * saves their part of each row. Cannot be taken back, and fails for no model; allocates nothing. */
void step_forward_skip_turns(StepForward* forward);
/* Closures hold links as they are at these coordinates, q[nq], borrowed, which no parameter moves, and not as at the
 * run's start. Allocates: once in the life of `forward`. Called twice it would leave the first arrays without an
 * owner: an error of the caller. */
void step_forward_place(StepForward* forward, const double* q);
/* At the start: from the model's initial coordinates and velocities. q[nq] and pose[links] are copied. Cannot
 * fail; allocates nothing. */
void step_forward_begin(StepForward* forward, const double* q, const Pose* pose);
/* Over one step, from the first to the last. false: it has no derivative, or its contact is not found again. Allocates
 * and frees. After false its rows are undefined. */
bool step_forward_advance(StepForward* forward, const RecordedStep* step);
/* Derivatives of the coordinates' increments where it stands, and a state before (nv x parameters). Row-major, a row a
 * degree of freedom; before: 0 the present state, 1 the one before, up to 3. Borrowed until the next
 * step_forward_advance. before from 4 on is undefined, not checked. Not to be freed. */
const double* step_forward_state(const StepForward* forward, int before);
/* For a scalar with these derivatives by the poses (as LossSeeds.pose, of all links) at a state with its sensitivity:
 * its derivatives by the parameters, added to row[parameters]. bar[links] is 3 x 4 by entries of (R | t), q[nq] and
 * pose[links] of that state. */
void step_forward_row(StepForward* forward, const double* q, const Pose* pose, int before, double (*bar)[3][4],
                      double* row);

#endif
