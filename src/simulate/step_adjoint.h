/* Private to simulate/: a recorded step and what its equations depend on, for going through a run backwards
 * (step_adjoint.c, step_adjoint_spread.c, step_adjoint_start.c) and forwards (step_forward.c). */
#ifndef SDRS_SIMULATE_STEP_ADJOINT_H
#define SDRS_SIMULATE_STEP_ADJOINT_H

#include "simulate/closures_adjoint.h"
#include "simulate/feedback.h"
#include "simulate/spin_adjoint.h"
#include "simulate/tree_flight.h"

typedef struct {
  Vec3 w, v;
} Twist;
/* Returns the twist of six numbers (w, v). */
static inline Twist twist_of(const double t[6]) { return (Twist){vec3(t[0], t[1], t[2]), vec3(t[3], t[4], t[5])}; }

/* Derivatives of a step by one number of its clock, at fixed states (I11): of its equations F, and of the scalar
 * through momenta, rates and forces at t + dt. */
typedef struct {
  bool known;
  double* equations; /* (nv) */
  double direct;
} LengthSlope;
enum { LENGTH_SLOPES = 4 }; /* derivatives with respect to dt, dt_before, dt_older and time */
/* Derivatives by the lengths of steps, which events of the run decide (simulate/step_lengths.c). */
typedef struct {
  bool fixed; /* lengths are constants */
  LengthSlope by[LENGTH_SLOPES];
  double by_dt, by_before, by_end; /* by the length of the step that comes next, of the one before it, by its end:
                                      of the steps after it [1/s] */
  double *lambda, *reduced, *nu;   /* of the event (nv), (nv), (closure rows) */
  double by_prescribed;       /* by time, through the prescribed coordinates at t + dt, of the present step [1/s] */
  double* rates;              /* of the prescribed coordinates (nv) */
  double (*event_bar)[3][4];  /* (links) */
  double (*unused_bar)[3][4]; /* where contact_replay_adjoint writes beside the shares of half-spaces (links) */
  ModelGradient unused;       /* alike */
} StepLengths;

struct StepAdjoint {
  const Model* model;
  Sim* sim;
  ContactReplay* replay;
  ClosureAdjoint* closures; /* NULL: there are none */
  SpinAdjoint* spin;        /* NULL: nothing spins */
  StepLengths* lengths;
  const Vec3* by_pair; /* derivatives with respect to forces of single pairs at t + dt, borrowed from guess_adjoint.c;
                          NULL: those of `spin` */
  double *lambda, *reduced, *product, *zero; /* (nv) */
  double (*twist)[6];                        /* of every link by lambda, about its centre of mass  (links) */
  double (*wrench)[6];                       /* (links) */
  double (*motion)[3][4];                    /* the twists as changes of [R | t] at t + dt  (links) */
  double rounding;                           /* of the step (StepAdjointReport) */
  double (*rate_bar)[3][4];                  /* derivatives with respect to dT/dt of the initial velocities  (links) */
  double (*ground_bar)[3][4];                /* derivatives with respect to poses of half-spaces at t + dt  (links) */
  Vec3* force;                               /* (links) */
  Vec3 *felt, *pulled; /* by the forces that drives measured at the step's begin, and by those at its end; NULL: none
                          does (links) */
  struct DelayPending* late;    /* by measurements of states that come yet; NULL: none comes late */
  double (*expected_bar)[3][4]; /* derivatives with respect to the poses that contact expects at t + dt, the step's aims
                                   (links) */
  double (*own_bar)[3][4];      /* derivatives with respect to poses of the solve before, whose forces friction rests on
                                   (links) */
  StateBar solve_bar;           /* of the solve that own_force_adjoint is at */
  Vec3 *momentum_aside, *felt_aside;           /* by momenta and measured forces at t, of the solves after it (links) */
  Vec3* guess_aside;                           /* by momenta at t while guess_adjoint is at work (links) */
  Vec3* bar_force;                             /* (links) */
  Mat3* bar_moment;                            /* (links) */
  Vec3 *turn_torque, *turn_force, *turn_curve; /* (links) */
  Mat3* turn_moment;                           /* (links) */
  double (*target)[JOINT_MAX_DOF], (*target_rate)[JOINT_MAX_DOF], (*push)[JOINT_MAX_DOF]; /* (controllers) */
  double (*gains)[JOINT_GAIN_KINDS][JOINT_MAX_DOF];                                       /* (controllers) */
  bool reacts;                         /* something hangs on reactions of the present step (O3) */
  double (*field)[6], (*field_now)[6]; /* motions that reactions are the work of: of every link about its centre of mass
                                          at t + dt, about its frame's origin at t  (links) */
  Vec3* field_at;                      /* scratch (links) */
  double* field_rows; /* their work against a unit of every closure row's force; NULL: no closures  (rows) */
  double (*aim_bar)[3][4], (*back_bar)[3][4], (*beyond_bar)[3][4]; /* by aims of links of flying trees, by where they
                                                 come from, by where their motion goes on to; NULL: none flies  (links)
                                               */
};

/* Value and derivatives of all terms at t + dt; false: the contact of the record was not found. forward: steps come
 * from the first to the last. step is borrowed until the next one. false also: closures' forces were not found. */
bool step_adjoint_load(StepAdjoint* a, const RecordedStep* step, bool forward, Assembly* assembly);
/* Adds to bar[links] the derivatives with respect to poses at t + dt that follow from those with respect to contact
 * forces: `force` (NULL: none) and by_pair (pairs). pose[links] and sim->reference: of that state. */
void step_adjoint_pull_forces(StepAdjoint* a, const ForceSlopes* force, size_t pairs, const Pose* pose,
                              double (*bar)[3][4]);
/* Adds to bar[links] the derivatives with respect to poses at t + dt that follow from the loads that pairs carry on
 * (contact_replay_loads). Returns false if there are none. */
bool step_adjoint_pull_loads(StepAdjoint* a, const Pose* pose, double (*bar)[3][4]);
/* The wrenches of links (torque about the centre of mass, force; wrench[links]) as derivatives by poses, added to
 * bar[links]. pose[links], and sim->reference: of one state. */
void step_adjoint_wrench_bars(const StepAdjoint* a, const Pose* pose, double (*bar)[3][4]);
/* The closures' forces, as step_adjoint_load finds them; true without closures. */
bool step_adjoint_closure_forces(StepAdjoint* a, Assembly* assembly);
/* ---- simulate/step_lengths.c */
/* Allocates; freed with step_lengths_destroy. */
StepLengths* step_lengths_create(const Model* model);
/* Frees all that it owns; NULL is accepted. */
void step_lengths_destroy(StepLengths* lengths);
/* Nothing hangs on lengths yet. */
void step_lengths_begin(StepLengths* lengths);
/* Derivatives by lengths times a factor. */
void step_lengths_discount(StepLengths* lengths, double factor);
/* After step_adjoint_load, where lengths vary: sets LengthSlope. rate (nv) and force: of step_adjoint, borrowed for the
 * call. Evaluates the step's terms anew, so assembly is set again. False: they were not found. */
bool step_lengths_load(StepAdjoint* a, const RecordedStep* step, const double* rate, const ForceSlopes* force,
                       Assembly* assembly);
/* The pair at whose potential the step ends, or the limit that a coordinate comes to: sets *event (of a pair), and the
 * potential's derivatives by poses at t + dt (event_bar, composed: bar_force, bar_moment) and by coordinates (reduced).
 * False: it is not in the record. */
bool step_lengths_event(StepAdjoint* a, const RecordedStep* step, EventTerms* event);
/* Seeds nu times the event's function: by the pair's bodies in the next contact_replay_adjoint, or by the limit, added
 * to gradient. */
void step_lengths_seed_event(StepAdjoint* a, const RecordedStep* step, const EventTerms* event, double nu,
                             ModelGradient* gradient);
/* After lambda is solved: adds what an event at the step's end makes of it, to lambda, reduced and gradient. force: of
 * step_adjoint. False: the length has no derivative. */
bool step_lengths_solve(StepAdjoint* a, const RecordedStep* step, const ForceSlopes* force, const Assembly* assembly,
                        ModelGradient* gradient);
/* Sets the rates of the prescribed coordinates at time t [s], 0 for all others. rates[nv] in m/s or rad/s. */
void step_lengths_rates(const StepAdjoint* a, double t, double* rates);
/* Adds to by_prescribed the derivatives by the prescribed coordinates at time t [s] (product[nv]) times their rates. */
void step_lengths_prescribed(StepAdjoint* a, const double* product, double t);
/* After step_adjoint_spread: by_dt, by_before and by_end become those of the step before. */
void step_lengths_spread(StepAdjoint* a, const RecordedStep* step);
/* Slopes by the forces of single pairs: of bodies that carry their momentum, or in a solve without friction of its
 * grips. Borrowed; NULL: none. */
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
/* ---- simulate/own_force_adjoint.c: friction that rests on the solve before (docs/derivations/friction.md, F8, F9) */
/* Returns the solve before the last one as a step of its own; solve_count > 0. Borrows from `step`. */
RecordedStep own_force_step(const RecordedStep* step);
/* After step_adjoint_spread: sets own_bar to the derivatives by the poses of that solve. */
void own_force_bars(StepAdjoint* a, const RecordedStep* step);
/* After step_adjoint of the last solve, whose own_bar is set: the solves before it, from the last to the first, to the
 * states before and the model. Added to all; a report that is not sound takes the place of the step's. */
void own_force_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old, StateBar older,
                       ModelGradient* gradient, StepAdjointReport* report);
/* step_adjoint of the last solve alone, with the same arguments: rate (nv), force (links) and by_pair as there. Sets
 * own_bar. */
StepAdjointReport step_adjoint_solve(StepAdjoint* a, const RecordedStep* step, StateBar next, const double* rate,
                                     const ForceSlopes* force, StateBar now, StateBar old, StateBar older,
                                     ModelGradient* gradient);
/* ---- simulate/guess_adjoint.c: friction of a run's first step rests on RecordedStep.guess (friction.md, F7) */
/* From the pairs' grips, after step_adjoint_spread of the step, to the start; nothing without a guess. Added to all; a
 * report that is not sound takes the place of the step's. */
void guess_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old, StateBar older,
                   ModelGradient* gradient, StepAdjointReport* report);
/* The solve without friction as a step. Borrows from `step`. */
RecordedStep guess_step(const RecordedStep* step);
/* Loads the pairs in contact at the start: that state is both states of the replay. Returns false if they were not
 * reproduced. Sets sim->reference. */
bool guess_load_start(StepAdjoint* a, const RecordedStep* step, bool forward);
/* After that: a scalar that grows by slope (start.count) times the forces, by the poses there and the model, added. */
void guess_start_forces(StepAdjoint* a, const RecordedStep* step, const Vec3* slope, double (*now)[3][4],
                        ModelGradient* gradient);
/* H into the solver, and -reduced into lambda, with prescribed coordinates left out. lambda and reduced (nv). */
void step_adjoint_hessian(StepAdjoint* a, const Assembly* assembly);
/* lambda . dF / d(the rest), added (simulate/step_adjoint_spread.c). Reads lambda; what is NULL in `force` is left
 * out. */
void step_adjoint_spread(StepAdjoint* a, const RecordedStep* step, const ForceSlopes* force, StateBar now, StateBar old,
                         StateBar older, ModelGradient* gradient);
/* Derivatives by poses become force and first moment about every link's frame origin, summed over what hangs on it;
 * these are added to derivatives by coordinates, and to those by attachments (force: bar_force). bar[links] is read;
 * sets bar_force and bar_moment (links), world axes. */
void step_adjoint_compose(StepAdjoint* a, const Pose* pose, double (*bar)[3][4]);
/* reduced[nv], added to. */
void step_adjoint_reduce(const StepAdjoint* a, const Pose* pose, const Screw* screws, double* reduced);
/* force[links], world axes; gradient->attachments in the parent's axes. */
void step_adjoint_attachments(const StepAdjoint* a, const Pose* pose, const Vec3* force, ModelGradient* gradient);
/* The same by turns of joint frames and of joints' axes, from what is composed (simulate/turn_adjoint.c, A20). Nothing
 * for a gradient `without_turns`. Only of links whose joint frame may turn: all but free bodies that hang on the
 * world. */
void step_adjoint_turns(const StepAdjoint* a, const Pose* pose, ModelGradient* gradient);
/* Derivatives by turns of psi = sum rates_k dE/dq_k, E with forces, moments about `at` and the change of both that the
 * rates make. */
typedef struct {
  const Vec3* at;            /* (links) */
  const Mat3* moment;        /* of the link and all that hangs on it: sum g r^T (links) */
  const Vec3* force;         /* alike */
  const double* rates;       /* (nv) */
  const Screw* screws;       /* (nv) */
  const double (*twist)[6];  /* of links by the rates; only w counts */
  const double (*change)[6]; /* of torque about `at` and force of each link alone, without curvature; NULL: none */
} TurnMotion;
/* Added to gradient->turns and axes; nothing for a gradient `without_turns`. */
void step_adjoint_turn_motion(StepAdjoint* a, const Pose* pose, const TurnMotion* in, ModelGradient* gradient);
/* Adds the composed derivatives with respect to joint frames: attachments and turns. */
static inline void step_adjoint_origins(const StepAdjoint* a, const Pose* pose, ModelGradient* gradient) {
  step_adjoint_attachments(a, pose, a->bar_force, gradient);
  step_adjoint_turns(a, pose, gradient);
}
/* psi = sum bar : dT/dt, dT/dt by joint rates `velocities` where joints have these screws (A12): its derivatives by
 * increments of the coordinates are added to q_bar, those by the rates to velocities_bar (NULL: not wanted) (nv).
 * Overwrites twist, force, bar_force and bar_moment (simulate/step_adjoint_start.c). */
void step_adjoint_rates(StepAdjoint* a, const Pose* pose, const Screw* screws, double (*bar)[3][4], double* q_bar,
                        const double* velocities, double* velocities_bar, ModelGradient* gradient);
/* ---- simulate/spring_theta_adjoint.c */
/* Moves gradient->thetas on to what they depend on: the model and the initial coordinates (unless the run has another
 * start). Added to; thetas become 0. Sets poses and screws of the Sim. Allocates temporarily. */
void step_adjoint_thetas(StepAdjoint* a, ModelGradient* gradient);
/* Twists (w, v) of all links about `at` (links) for joint rates[nv]. twist[links], set, world axes. (links x 6)
 * [rad/s, m/s] for rates in m/s and rad/s. */
void step_adjoint_twists(const Model* model, const Screw* screws, const Vec3* at, const double* rates,
                         double (*twist)[6]);
/* Derivatives by a controller's target and its rate at time t [s] (JOINT_MAX_DOF each) to its signal's parameters,
 * added. */
void step_adjoint_signal(StepAdjoint* a, int controller, double t, const double* target_bar, const double* rate_bar,
                         ModelGradient* gradient);
/* Derivatives by the prescribed coordinates at time t (nv, others are ignored) to their signals, added. t [s]. */
void step_adjoint_prescribed(StepAdjoint* a, const double* bar, double t, ModelGradient* gradient);
/* ---- simulate/reactions_adjoint.c (docs/derivations/observables.md, O3) */
/* After step_adjoint_load: sets reacts, the fields and field_rows by slopes (links; NULL: none), and adds to next.pose
 * what reactions depend on of the poses at t + dt, to now.pose what they do of those at t. */
void reaction_adjoint_load(StepAdjoint* a, const RecordedStep* step, const double (*slopes)[6], StateBar next,
                           StateBar now);
/* twist += field, where something hangs on reactions. */
void reaction_adjoint_add(StepAdjoint* a);
/* slopes . reactions as the step's terms are assembled; slopes (links) or NULL. */
double reaction_account(const StepAdjoint* a, const double (*slopes)[6]);
/* Trees that fly, from aim_bar, the derivatives by their links' aims, to the states before, velocities and the model
 * (simulate/tree_flight_adjoint.c, W13). Added to all; nothing when no tree flies. */
void tree_flight_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old, ModelGradient* gradient);

#endif
