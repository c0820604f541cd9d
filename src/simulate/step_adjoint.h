/* Private to simulate/: a recorded step and the dependence of its equations on states and model, for reverse
 * (step_adjoint.c, step_adjoint_spread.c, step_adjoint_start.c) and forward derivatives (step_forward.c). */
#ifndef SDRS_SIMULATE_STEP_ADJOINT_H
#define SDRS_SIMULATE_STEP_ADJOINT_H

#include "simulate/closures_adjoint.h"
#include "simulate/feedback.h"
#include "simulate/spin_adjoint.h"
#include "simulate/tree_flight.h"

typedef struct {
  Vec3 w, v;
} Twist;
/* Returns the twist with the components (w, v). */
static inline Twist twist_of(const double t[6]) { return (Twist){vec3(t[0], t[1], t[2]), vec3(t[3], t[4], t[5])}; }

/* Derivatives with respect to one number of the step's clock, at fixed states (I11): of the equations F, and of the
 * scalar directly, through momenta, rates and forces at t + dt. */
typedef struct {
  bool known;
  double* equations; /* (nv) */
  double direct;
} LengthSlope;
enum { LENGTH_SLOPES = 4 }; /* derivatives with respect to dt, dt_before, dt_older and time */
/* Derivatives with respect to step lengths, which depend on events of the run (simulate/step_lengths.c). */
typedef struct {
  bool fixed; /* step lengths are constants: no derivatives */
  LengthSlope by[LENGTH_SLOPES];
  double by_dt, by_before, by_end; /* derivatives of later steps with respect to the length of the step before them, of
                                      the one before that, and the time at which they start [1/s] */
  double *lambda, *reduced, *nu;   /* scratch for the event: its adjoint solution (nv), its derivatives with respect to
                                      coordinates (nv), multipliers (closure rows) */
  double by_prescribed;            /* derivative with respect to the end time of the present step through the prescribed
                                      coordinates at t + dt [1/s] */
  double* rates;                   /* scratch: rates of the prescribed coordinates (nv) */
  double (*event_bar)[3][4];       /* derivatives of the event function with respect to poses (links) */
  double (*unused_bar)[3][4];      /* unused output of contact_replay_adjoint (links) */
  double (*lost)[6];    /* inertia forces that rounding of targets takes from a derivative: torque, force (links) */
  ModelGradient unused; /* unused output of contact_replay_adjoint */
} StepLengths;

struct StepAdjoint {
  const Model* model;
  Sim* sim;
  ContactReplay* replay;
  ClosureAdjoint* closures; /* NULL: the model has no closures */
  SpinAdjoint* spin;        /* NULL: no link integrates its angular momentum */
  StepLengths* lengths;
  const Vec3* by_pair; /* derivatives with respect to forces of single pairs at t + dt, borrowed from guess_adjoint.c;
                          NULL: those of `spin` */
  double *lambda, *reduced, *product, *zero; /* (nv) */
  double (*twist)[6];                        /* twists of the links by lambda, about their centres of mass (links) */
  double (*wrench)[6];                       /* scratch: torque about the centre of mass, and force (links) */
  double (*motion)[3][4];                    /* the twists as changes of [R | t] at t + dt (links) */
  double rounding;                           /* rounding error of the step (StepAdjointReport.rounding) */
  double (*rate_bar)[3][4];                  /* derivatives with respect to dT/dt of the initial velocities  (links) */
  double (*ground_bar)[3][4];                /* derivatives with respect to poses of half-spaces at t + dt  (links) */
  Vec3* force;                               /* scratch (links) */
  Vec3 *felt, *pulled; /* derivatives with respect to the forces measured at the start of the step, and at its end;
                          NULL: no drive measures forces (links) */
  /* Derivatives with respect to delayed measurements of earlier states; NULL: no drive has a delay. */
  struct DelayPending* late;
  double (*expected_bar)[3][4]; /* derivatives with respect to the poses that contact extrapolates to t + dt, the
                                   targets of the step (links) */
  struct RollShift* shift_bar;  /* derivatives with respect to Sim.shifts; NULL: none (links) */
  double (*own_bar)[3][4];  /* derivatives with respect to the poses of the solve before, whose forces limit friction
                               (links) */
  double (*slip_wrench)[6]; /* K delta of (I16): torque about the centre of mass, force (links) */
  double* slip_residual;    /* scratch of slip_adjoint (nv) */
  StateBar solve_bar;       /* derivatives with respect to the end of the solve that own_force_adjoint processes */
  Vec3 *momentum_aside, *felt_aside; /* derivatives with respect to momenta and measured forces at t, of later solves of
                                        the step (links) */
  Vec3* guess_aside;                 /* derivatives with respect to momenta at t during guess_adjoint (links) */
  Vec3* bar_force;                   /* composed forces: sums over a link and its descendants (links) */
  Mat3* bar_moment;                  /* composed first moments about the frame origins (links) */
  Vec3 *turn_torque, *turn_force, *turn_curve; /* scratch of step_adjoint_turn_motion (links) */
  Mat3* turn_moment;                           /* scratch of reverse_turns (links) */
  double (*target)[JOINT_MAX_DOF], (*target_rate)[JOINT_MAX_DOF],
      (*push)[JOINT_MAX_DOF]; /* derivatives with respect to targets, rates and forces of one joint's drives
                                 (controllers) */
  double (*gains)[JOINT_GAIN_KINDS][JOINT_MAX_DOF]; /* derivatives with respect to their gains (controllers) */
  bool reacts;                                      /* the scalar depends on joint reactions of the present step (O3) */
  double (*field)[6], (*field_now)[6]; /* virtual motions whose work the reactions are: twists about the centres of mass
                                          at t + dt, and about the frame origins at t (links) */
  Vec3* field_at;                      /* scratch (links) */
  double* field_rows; /* work of a unit force of every closure row in this motion; NULL: no closures (rows) */
  double (*aim_bar)[3][4], (*back_bar)[3][4], (*behind_bar)[3][4],
      (*beyond_bar)[3][4]; /* derivatives with respect to the aims of links of flying trees and to their poses `before`,
                              `behind` and `beyond` (TreeFlight); NULL: no tree flies (links) */
};

/* Loads a recorded step: value and derivatives of all terms at t + dt. forward: steps are processed from first to last.
 * Borrows step until the next call. Returns false if the contact of the record is not reproduced, or the closures'
 * forces are not found. */
bool step_adjoint_load(StepAdjoint* a, const RecordedStep* step, bool forward, Assembly* assembly);
/* Adds to bar[links] the derivatives with respect to poses at t + dt that follow from those with respect to contact
 * forces: `force` (NULL: none) and by_pair (pairs). pose[links] and sim->reference: of that state. */
void step_adjoint_pull_forces(StepAdjoint* a, const ForceSlopes* force, size_t pairs, const Pose* pose,
                              double (*bar)[3][4]);
/* Adds to bar[links] the derivatives with respect to poses at t + dt that follow from those with respect to the loads
 * carried by contact pairs (contact_replay_loads). Returns false if there are none. */
bool step_adjoint_pull_loads(StepAdjoint* a, const Pose* pose, double (*bar)[3][4]);
/* Adds a->wrench[links] (torque about the centre of mass, force) to bar[links], as derivatives with respect to the
 * entries of the poses. pose[links] and sim->reference: of one state. */
void step_adjoint_wrench_bars(const StepAdjoint* a, const Pose* pose, double (*bar)[3][4]);
/* Adds `wrench` (links; torque about the centre of mass, force) at the poses at t + dt, reduced to coordinates, to
 * reduced (nv). bar (links): scratch, overwritten, as is a->wrench. */
void step_adjoint_reduce_wrenches(StepAdjoint* a, const RecordedStep* step, const double (*wrench)[6],
                                  double (*bar)[3][4], double* reduced);
/* Computes the closures' forces of the loaded step. Returns false if they are not found; true without closures. */
bool step_adjoint_closure_forces(StepAdjoint* a, Assembly* assembly);
/* ---- simulate/step_lengths.c */
/* Allocates all arrays. Freed with step_lengths_destroy. */
StepLengths* step_lengths_create(const Model* model);
/* Frees all that it owns; NULL is accepted. */
void step_lengths_destroy(StepLengths* lengths);
/* Clears the derivatives with respect to lengths. */
void step_lengths_begin(StepLengths* lengths);
/* Multiplies the derivatives with respect to lengths by factor. */
void step_lengths_discount(StepLengths* lengths, double factor);
/* Call after step_adjoint_load. Sets LengthSlope of the lengths that vary. rate (nv) and force: as of step_adjoint,
 * borrowed for the call. Evaluates the step's terms again and sets assembly. Returns false if the terms are not
 * found. */
bool step_lengths_load(StepAdjoint* a, const RecordedStep* step, const double* rate, const ForceSlopes* force,
                       Assembly* assembly);
/* Sets the event that ends the step (StepClock.event): *event (of two hulls), its
 * derivatives with respect to poses at t + dt (event_bar; composed in bar_force, bar_moment) and to coordinates
 * (reduced). Returns false if the pair is not in the record. */
bool step_lengths_event(StepAdjoint* a, const RecordedStep* step, EventTerms* event);
/* Adds nu times the derivatives of the event function with respect to the model: for a pair by the next
 * contact_replay_adjoint, for a limit directly to gradient. */
void step_lengths_seed_event(StepAdjoint* a, const RecordedStep* step, const EventTerms* event, double nu,
                             ModelGradient* gradient);
/* Call after lambda is solved. Adds the contribution of an event at the step's end to lambda, reduced and gradient.
 * force: as of step_adjoint. Returns false if the length has no derivative. */
bool step_lengths_solve(StepAdjoint* a, const RecordedStep* step, const ForceSlopes* force, const Assembly* assembly,
                        ModelGradient* gradient);
/* Sets the rates of the prescribed coordinates at time t [s], 0 for all others. rates[nv] in m/s or rad/s. */
void step_lengths_rates(const StepAdjoint* a, double t, double* rates);
/* by_prescribed += derivatives with respect to the prescribed coordinates at time t [s], product[nv], times their
 * rates. */
void step_lengths_prescribed(StepAdjoint* a, const double* product, double t);
/* Call after step_adjoint_spread. Replaces by_dt, by_before and by_end by those for the step before. */
void step_lengths_spread(StepAdjoint* a, const RecordedStep* step);
/* Returns the derivatives with respect to the forces of single pairs, borrowed; NULL if there are none. */
static inline const Vec3* step_adjoint_pair_slopes(const StepAdjoint* a) {
  return a->by_pair ? a->by_pair : spin_adjoint_pairs(a->spin);
}
/* Returns the input of contact_replay_adjoint: twists of links (NULL: none), derivatives with respect to forces on
 * links and between them (NULL: none), and to forces of single pairs. Borrows all of it. */
static inline ContactField step_adjoint_field(double (*twist)[6], const ForceSlopes* force, const Vec3* pairs) {
  const ForceSlopes none = {0};
  const ForceSlopes* f = force ? force : &none;
  return (ContactField){twist, f->link, pairs, f->between};
}
/* ---- simulate/own_force_adjoint.c: friction limited by the forces of the solve before (docs/derivations/friction.md,
 * F8, F9) */
/* Returns the solve before the last one as a recorded step; solve_count > 0. Borrows from `step`. */
RecordedStep own_force_step(const RecordedStep* step);
/* Call after step_adjoint_spread. Sets own_bar to the derivatives with respect to the poses of that solve. */
void own_force_bars(StepAdjoint* a, const RecordedStep* step);
/* Call after step_adjoint of the last solve, which sets own_bar. Processes the earlier solves from last to first and
 * adds to the states before and the model. A report that is not sound replaces *report. */
void own_force_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old, StateBar older,
                       ModelGradient* gradient, StepAdjointReport* report);
/* The adjoint of the last solve only; arguments and result as of step_adjoint: rate (nv), force (links). Sets
 * own_bar. */
StepAdjointReport step_adjoint_solve(StepAdjoint* a, const RecordedStep* step, StateBar next, const double* rate,
                                     const ForceSlopes* force, StateBar now, StateBar old, StateBar older,
                                     ModelGradient* gradient);
/* ---- simulate/slip_adjoint.c: friction limited by the impulse of an impact (docs/derivations/impact.md, I16) */
/* Call after lambda is final. Sets slip_wrench, which step_adjoint_spread adds to the products of lambda, and subtracts
 * it from the derivatives with respect to the poses at t. assembly: of the loaded step. Overwrites the solver's
 * matrix. */
void slip_adjoint(StepAdjoint* a, const RecordedStep* step, Assembly* assembly, StateBar now);
/* ---- simulate/guess_adjoint.c: friction of a run's first step is limited by the forces of RecordedStep.guess
 * (friction.md, F7) */
/* Call after step_adjoint_spread of the step. Adds the derivatives through the pairs' friction limits; does nothing
 * without a guess. A report that is not sound replaces *report. */
void guess_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old, StateBar older,
                   ModelGradient* gradient, StepAdjointReport* report);
/* Returns the solve without friction as a recorded step. Borrows from `step`. */
RecordedStep guess_step(const RecordedStep* step);
/* Loads the pairs in contact at the start of the run, with the first state as both states of the replay. Sets
 * sim->reference. Returns false if they are not reproduced. */
bool guess_load_start(StepAdjoint* a, const RecordedStep* step, bool forward);
/* Call after guess_load_start. slope (start.count): derivatives with respect to the pairs' forces. Adds those with
 * respect to the poses and the model. */
void guess_start_forces(StepAdjoint* a, const RecordedStep* step, const Vec3* slope, double (*now)[3][4],
                        ModelGradient* gradient);
/* Assembles and factors H, by the indefinite factorization if it is not positive definite, which report tells
 * (indefinite, singular, eigenvalue). right (nv): the entries of fixed degrees of freedom are set to 0. Returns false
 * if H is singular. */
bool step_adjoint_factor(StepAdjoint* a, const Assembly* assembly, double* right, StepAdjointReport* report);
/* Adds lambda . dF / d(earlier states, model) (simulate/step_adjoint_spread.c). Reads lambda; NULL members of `force`
 * are skipped. */
void step_adjoint_spread(StepAdjoint* a, const RecordedStep* step, const ForceSlopes* force, StateBar now, StateBar old,
                         StateBar older, ModelGradient* gradient);
/* Converts derivatives bar[links] with respect to poses into force and first moment about each link's frame origin,
 * summed over the link and its descendants. Sets bar_force and bar_moment (links), world axes. */
void step_adjoint_compose(StepAdjoint* a, const Pose* pose, double (*bar)[3][4]);
/* reduced[nv] += the composed derivatives along the screws. */
void step_adjoint_reduce(const StepAdjoint* a, const Pose* pose, const Screw* screws, double* reduced);
/* Adds the derivatives with respect to joint positions: force[links], world axes, rotated into the parents' axes. */
void step_adjoint_attachments(const StepAdjoint* a, const Pose* pose, const Vec3* force, ModelGradient* gradient);
/* Adds the composed derivatives with respect to rotations of joint frames and axes (simulate/turn_adjoint.c, A20). Does
 * nothing for a gradient `without_turns`. Skips free bodies on the world, whose joint frames cannot rotate. */
void step_adjoint_turns(const StepAdjoint* a, const Pose* pose, ModelGradient* gradient);
/* Input for derivatives with respect to rotations of joint frames of psi = sum rates_k dE/dq_k. The members describe E:
 * forces, first moments about `at`, and their change by the rates. */
typedef struct {
  const Vec3* at;            /* (links) */
  const Mat3* moment;        /* sum g r^T of the link and its descendants */
  const Vec3* force;         /* force of the link and its descendants */
  const double* rates;       /* (nv) */
  const Screw* screws;       /* (nv) */
  const double (*twist)[6];  /* twists of the links by the rates; only w is used */
  const double (*change)[6]; /* change of torque about `at` and of force of each single link, without the curvature of
                                the motion; NULL: none */
} TurnMotion;
/* Adds to gradient->turns and axes; does nothing for a gradient `without_turns`. */
void step_adjoint_turn_motion(StepAdjoint* a, const Pose* pose, const TurnMotion* in, ModelGradient* gradient);
/* Adds the composed derivatives with respect to joint frames: attachments and turns. */
static inline void step_adjoint_origins(const StepAdjoint* a, const Pose* pose, ModelGradient* gradient) {
  step_adjoint_attachments(a, pose, a->bar_force, gradient);
  step_adjoint_turns(a, pose, gradient);
}
/* psi = sum bar : dT/dt, with dT/dt from the joint rates `velocities` (A12). Adds the derivatives with respect to
 * increments of the coordinates to q_bar, with respect to rates to velocities_bar (NULL: not needed) (nv). screws: of
 * the joints at pose. Overwrites twist, force, bar_force and bar_moment (simulate/step_adjoint_start.c). */
void step_adjoint_rates(StepAdjoint* a, const Pose* pose, const Screw* screws, double (*bar)[3][4], double* q_bar,
                        const double* velocities, double* velocities_bar, ModelGradient* gradient);
/* ---- simulate/spring_theta_adjoint.c */
/* Converts gradient->thetas to derivatives with respect to the model and the initial coordinates (unless the run starts
 * from another state), added. thetas become 0. Overwrites poses and screws of the Sim. Allocates temporarily. */
void step_adjoint_thetas(StepAdjoint* a, ModelGradient* gradient);
/* Sets twist[links] to the twists (w, v) of all links about the points `at` (links) for joint rates[nv], world axes
 * (links x 6) [rad/s, m/s]. */
void step_adjoint_twists(const Model* model, const Screw* screws, const Vec3* at, const double* rates,
                         double (*twist)[6]);
/* Adds the derivatives with respect to the parameters of a controller's signal, given those with respect to its target
 * and the target's rate (JOINT_MAX_DOF each) at time t [s]. */
void step_adjoint_signal(StepAdjoint* a, int controller, double t, const double* target_bar, const double* rate_bar,
                         ModelGradient* gradient);
/* Adds the derivatives with respect to the signals of prescribed joints, given those with respect to prescribed
 * coordinates at time t [s]: bar (nv), other entries are ignored. */
void step_adjoint_prescribed(StepAdjoint* a, const double* bar, double t, ModelGradient* gradient);
/* ---- simulate/reactions_adjoint.c (docs/derivations/observables.md, O3) */
/* Call after step_adjoint_load. slopes (links; NULL: none): derivatives with respect to joint reactions. Sets reacts,
 * the fields and field_rows. Adds to next.pose the derivatives through poses at t + dt, to now.pose those through poses
 * at t. */
void reaction_adjoint_load(StepAdjoint* a, const RecordedStep* step, const double (*slopes)[6], StateBar next,
                           StateBar now);
/* twist += field, if the scalar depends on reactions. */
void reaction_adjoint_add(StepAdjoint* a);
/* Returns slopes . reactions of the assembled terms; slopes (links) or NULL. */
double reaction_account(const StepAdjoint* a, const double (*slopes)[6]);
/* Converts aim_bar, the derivatives with respect to the aims of flying trees, to derivatives with respect to earlier
 * states, velocities and the model (simulate/tree_flight_adjoint.c, W13), added. Does nothing if no tree flies. */
void tree_flight_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old, ModelGradient* gradient);

#endif
