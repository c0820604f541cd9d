/* Private to simulate/: derivatives of the equations of a recorded step with respect to states and model. Used for
 * reverse (step_adjoint.c, step_adjoint_distribute.c, step_adjoint_start.c) and forward derivatives (step_forward.c).
 */
#ifndef SDRS_SIMULATE_STEP_ADJOINT_H
#define SDRS_SIMULATE_STEP_ADJOINT_H

#include "contact/step.h"
#include "simulate/closures_adjoint.h"
#include "simulate/delay.h"
#include "simulate/feedback.h"
#include "simulate/spin_adjoint.h"
#include "simulate/tree_flight.h"

typedef struct {
  Vec3 w, v;
} Twist;
static inline Twist twist_from_array(const double t[6]) {
  return (Twist){vec3(t[0], t[1], t[2]), vec3(t[3], t[4], t[5])};
}

/* Derivatives with respect to one number of the step's clock, at fixed states (I11). equations: derivatives of the
 * step's equations F. direct: contribution of the momenta, rates and forces at t + dt to the derivative of the
 * differentiated scalar. */
typedef struct {
  bool known;
  double* equations; /* derivatives of the step's equations (size: nv) */
  double direct;
} ClockDerivative;
enum {
  CLOCK_DERIVATIVES = CONTACT_CLOCK_ENTRIES
}; /* clock entries with derivatives: dt, dt_before, dt_older and time */
/* Derivatives of the scalar with respect to step lengths, which depend on events of the run (simulate/step_lengths.c).
 */
typedef struct {
  bool fixed; /* true if step lengths are constants, without derivatives */
  ClockDerivative by[CLOCK_DERIVATIVES];
  double dt_bar, dt_before_bar,
      end_time_bar; /* derivatives of the differentiated scalar, summed over all later steps [1/s]. dt_bar: with respect
                       to the length of the present step; dt_before_bar: with respect to the length of the previous
                       step; end_time_bar: with respect to the end time of the present step */
  double *lambda, *reduced,
      *nu; /* scratch for the event at the end of a substep. lambda: adjoint solution (nv). reduced: derivatives of the
              event function with respect to coordinates (nv). nu: multipliers (closure rows) */
  double prescribed_bar; /* contribution of the prescribed coordinates at t + dt to the derivative with respect to the
                           end time of the present step [1/s] */
  DelayTimeBars delay_bars;    /* derivatives with respect to times on which delayed measurements depend */
  double* rates;               /* scratch: rates of the prescribed coordinates (size: nv) */
  Pose* expected;              /* scratch: expected poses for friction while lengths are differentiated (size: links) */
  bool has_round_bodies;       /* true if friction depends on the expected poses */
  double (*event_bar)[3][4];   /* derivatives of the event function with respect to poses (size: links) */
  double (*unused_bar)[3][4];  /* unused output of contact_replay_adjoint (size: links) */
  double (*rounding_force)[6]; /* inertia forces that belong to the rounding error of the target poses: torque, force.
                                  They are added to ClockDerivative.equations (size: links) */
  ModelGradient unused;        /* unused output of contact_replay_adjoint */
} StepLengths;

struct StepAdjoint {
  const Model* model;
  Sim* sim;
  ContactReplay* replay;
  ClosureAdjoint* closures; /* NULL if the model has no closures */
  SpinAdjoint* spin;        /* NULL if no link integrates its angular momentum */
  StepLengths* lengths;
  const Vec3* by_pair; /* derivatives with respect to the forces of single hull pairs at t + dt, borrowed from
                          initial_friction_adjoint.c; NULL selects the derivatives that `spin` holds */
  /* adjoint solution; derivatives with respect to the coordinates at t + dt; H lambda; zeros (size: nv) */
  double *lambda, *reduced, *product, *zero;
  double (*twist)[6];       /* twists of the links along lambda, about the centres of mass of the links (size: links) */
  double (*wrench)[6];      /* scratch: torque about the centre of mass, and force (size: links) */
  double (*motion)[3][4];   /* change of rotation matrix and position of each link at t + dt along lambda, computed from
                               `twist` (size: links) */
  double rounding;          /* estimated rounding error of the step's gradient (StepAdjointReport.rounding) */
  double (*rate_bar)[3][4]; /* derivatives with respect to dT/dt of the initial velocities (size: links) */
  double (*ground_bar)[3][4]; /* derivatives with respect to poses of half-spaces at t + dt (size: links) */
  Vec3* force;                /* scratch: one vector for each link (size: links) */
  Vec3 *contact_force,
      *contact_force_at_end; /* derivatives with respect to measured contact forces: `contact_force` at the start of
         the step, `contact_force_at_end` at the end; NULL if no drive measures forces (size: links) */
  /* Derivatives with respect to delayed measurements of earlier states; NULL if no drive has a delay. */
  struct DelayPending* pending_delays;
  double (*expected_bar)[3][4]; /* derivatives with respect to the poses that contact extrapolates to t + dt, the
                                   targets of the step (size: links) */
  struct RollShift* shift_bar;  /* derivatives with respect to Sim.shifts; NULL if there are none (size: links) */
  double (*friction_iteration_bar)[3][4]; /* derivatives with respect to the poses of the previous solve of the step,
                              whose forces limit friction (size: links) */
  double (*slip_wrench)[6]; /* product of the Hessian of friction and a small correction of `lambda` (I16): torque about
                               the centre of mass, force (size: links) */
  double* slip_residual;    /* scratch of slip_adjoint (size: nv) */
  StateBar
      solve_bar; /* derivatives with respect to the state that the solve under friction_iteration_adjoint ends in */
  Vec3 *momentum_aside, *stored_contact_force; /* derivatives with respect to angular momenta and measured forces at t,
                                                  from later solves of the step (size: links) */
  Vec3* guess_aside; /* derivatives with respect to angular momenta at t, stored during initial_friction_adjoint (links)
                      */
  Vec3* bar_force;  /* derivatives with respect to translations, summed over a link and its descendants (size: links) */
  Mat3* bar_moment; /* first moments of these derivatives about the frame origins, summed over a link and its
                       descendants (size: links) */
  Vec3 *turn_torque, *turn_force, *turn_curve; /* scratch of step_adjoint_frame_rotations_of_motion (size: links) */
  Mat3* turn_moment; /* scratch for the derivatives with respect to frame rotations (size: links) */
  double (*target)[JOINT_MAX_DOF], (*target_rate)[JOINT_MAX_DOF],
      (*push)[JOINT_MAX_DOF]; /* derivatives with respect to targets, rates and forces of one joint's drives
 (size: controllers) */
  double (*gains)[JOINT_GAIN_KINDS][JOINT_MAX_DOF]; /* derivatives of the scalar with respect to the gains of the drives
                                                       of the present joint (size: controllers) */
  bool reacts; /* true if the scalar depends on joint reactions of the present step (update.md, O3) */
  /* virtual motion of the links. The work of the step's forces in it equals the sum of the joint reactions, weighted by
   * the derivatives with respect to them (O3). field: twists about the centres of mass at t + dt; field_now: twists
   * about the frame origins at t (size: links) */
  double (*field)[6], (*field_now)[6];
  Vec3* field_at;     /* scratch: one vector for each link (size: links) */
  double* field_rows; /* for every closure row, work of a unit row force in this virtual motion; NULL if there are no
                         closures (size: rows) */
  double (*aim_bar)[3][4], (*back_bar)[3][4], (*behind_bar)[3][4],
      (*beyond_bar)[3][4]; /* derivatives for links of trees in free flight (tree_flight.h); NULL if there are no such
                              trees (links). aim_bar: with respect to the target poses. back_bar, behind_bar,
                              beyond_bar: with respect to TreeFlight.pose_before, pose_behind and pose_beyond */
};

/* Loads a recorded step. Sets the Sim to the state at t + dt and *assembly to the terms of the step. forward: true if
 * steps are processed from first to last. Borrows step until the next call. Returns false if the recorded contact is
 * not reproduced, or if the forces of the closures are not found. */
bool step_adjoint_load(StepAdjoint* a, const RecordedStep* step, bool forward, Assembly* assembly);
/* Converts derivatives with respect to contact forces into derivatives with respect to poses at t + dt, and adds these
 * to bar[links]. force: derivatives with respect to forces on and between links (NULL if there are none); a->by_pair
 * (pairs): with respect to forces of single pairs. pose[links] and sim->assembly.reference must be those at t + dt. */
void step_adjoint_forces_to_poses(StepAdjoint* a, const ForceSlopes* force, size_t pairs, const Pose* pose,
                                  double (*bar)[3][4]);
/* Converts derivatives with respect to the loads that contact pairs carry to the next step
 * (contact_replay_add_carried_derivatives) into derivatives with respect to poses at t + dt, and adds these to
 * bar[links]. pose[links]: at t + dt. Returns false if no pair carries a load. */
bool step_adjoint_carried_loads_to_poses(StepAdjoint* a, const Pose* pose, double (*bar)[3][4]);
/* Adds a->wrench[links] (torque about the centre of mass, force) to bar[links], converted into derivatives with respect
 * to the entries of the poses. pose[links] and sim->assembly.reference must belong to the same state. */
void step_adjoint_wrenches_to_poses(const StepAdjoint* a, const Pose* pose, double (*bar)[3][4]);
/* Adds wrench[links] (torque about the centre of mass, force) at the poses at t + dt to reduced[nv], converted into
 * generalized forces along the coordinates. Overwrites bar[links] and a->wrench. */
void step_adjoint_reduce_wrenches(StepAdjoint* a, const RecordedStep* step, const double (*wrench)[6],
                                  double (*bar)[3][4], double* reduced);
/* Computes the forces of the closures in the loaded step. Returns false if they are not found. Returns true if the
 * model has no closures. */
bool step_adjoint_closure_forces(StepAdjoint* a, Assembly* assembly);
/* ---- simulate/step_lengths.c */
/* Returns new StepLengths with all arrays allocated. The caller frees them with step_lengths_destroy. */
StepLengths* step_lengths_create(const Model* model);
/* Frees `lengths` and everything that it owns. Accepts NULL. */
void step_lengths_destroy(StepLengths* lengths);
/* Sets the derivatives with respect to step lengths to 0. */
void step_lengths_begin(StepLengths* lengths);
/* Multiplies the derivatives with respect to step lengths by factor. */
void step_lengths_discount(StepLengths* lengths, double factor);
/* Computes the derivatives with respect to the varying step lengths, StepLengths.by. Call after step_adjoint_load.
 * rate[nv]: derivatives of the scalar with respect to the rates at t + dt. force: derivatives with respect to forces
 * at t + dt, or NULL. Evaluates the terms of the step again and sets *assembly to them. Returns false if this
 * evaluation fails. */
bool step_lengths_compute(StepAdjoint* a, const RecordedStep* step, const double* rate, const ForceSlopes* force,
                          Assembly* assembly);
/* Evaluates the event that ends the step (StepClock.event), with derivatives. Sets *event for an event of two hulls.
 * Sets the derivatives of the event function with respect to poses at t + dt (event_bar; composed in a->bar_force and
 * a->bar_moment) and to coordinates (StepLengths.reduced). Returns false if the record does not contain the pair. */
bool step_lengths_event(StepAdjoint* a, const RecordedStep* step, EventTerms* event);
/* Adds nu times the derivatives of the event function with respect to the model. For a pair of hulls the next
 * contact_replay_adjoint adds them; for a limit they are added to gradient here. */
void step_lengths_seed_event(StepAdjoint* a, const RecordedStep* step, const EventTerms* event, double nu,
                             ModelGradient* gradient);
/* Adds the contribution of the event at the end of the step to a->lambda, a->reduced and gradient. force:
 * derivatives of the scalar with respect to forces at t + dt, or NULL. Call after a->lambda is solved. Returns false
 * if the step length has no derivative. */
bool step_lengths_solve(StepAdjoint* a, const RecordedStep* step, const ForceSlopes* force, const Assembly* assembly,
                        ModelGradient* gradient);
/* Sets rates[nv] to the rates of the prescribed coordinates at time t [s], and to 0 for all other degrees of freedom
 * [m/s or rad/s]. */
void step_lengths_rates(const StepAdjoint* a, double t, double* rates);
/* Adds product[nv] . (rates of the prescribed coordinates at time t [s]) to StepLengths.prescribed_bar. product:
 * derivatives with respect to the prescribed coordinates. */
void step_lengths_prescribed(StepAdjoint* a, const double* product, double t);
/* Call after step_adjoint_distribute. Updates StepLengths.dt_bar, dt_before_bar and end_time_bar for the adjoint of the
 * previous step.
 */
void step_lengths_update(StepAdjoint* a, const RecordedStep* step);
/* Returns the derivatives with respect to the forces of single pairs (pairs), borrowed, or NULL if there are none. */
static inline const Vec3* step_adjoint_pair_slopes(const StepAdjoint* a) {
  return a->by_pair ? a->by_pair : spin_adjoint_pairs(a->spin);
}
/* Returns the input of contact_replay_adjoint. twist[links]: twists of links (NULL if there are none). force:
 * derivatives with respect to forces on links and between links (NULL if there are none). pairs: derivatives with
 * respect to forces of single pairs (NULL if there are none). Borrows all arrays. */
static inline ContactField step_adjoint_field(double (*twist)[6], const ForceSlopes* force, const Vec3* pairs) {
  const ForceSlopes none = {0};
  const ForceSlopes* f = force ? force : &none;
  return (ContactField){twist, f->link, pairs, f->between};
}
/* ---- simulate/friction_iteration_adjoint.c: forces of the previous solve limit friction
 * (docs/derivations/friction.md, F8, F9) */
/* Returns the second-to-last solve of the step as a recorded step. Requires step->solve_count > 0. Borrows from `step`.
 */
RecordedStep friction_iteration_step(const RecordedStep* step);
/* Call after step_adjoint_distribute. Sets a->friction_iteration_bar to the derivatives with respect to the poses of
 * the second-to-last solve. */
void friction_iteration_bars(StepAdjoint* a, const RecordedStep* step);
/* Applies the adjoint of all solves of the step except the last one, from last to first. Adds the derivatives with
 * respect to the earlier states and the model to now, old, older and gradient. If the report of a solve is not sound,
 * it replaces *report. Call after step_adjoint_solve of the last solve, which sets a->friction_iteration_bar. */
void friction_iteration_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old, StateBar older,
                                ModelGradient* gradient, StepAdjointReport* report);
/* Applies the adjoint of the last solve of the step. next: derivatives of the scalar with respect to the state at t
 * + dt. rate[nv], force: derivatives with respect to rates and forces at t + dt, force NULL if there are none. Adds
 * the derivatives with respect to earlier states and the model to now, old, older and gradient. Sets
 * a->friction_iteration_bar. If the report's `sound` is false, the added numbers are not derivatives. */
StepAdjointReport step_adjoint_solve(StepAdjoint* a, const RecordedStep* step, StateBar next, const double* rate,
                                     const ForceSlopes* force, StateBar now, StateBar old, StateBar older,
                                     ModelGradient* gradient);
/* ---- simulate/slip_adjoint.c: friction limited by the impulse of an impact (docs/derivations/impact.md, I16) */
/* Sets a->slip_wrench (links x 6) to the product of two factors: the Hessian K of friction that is limited by an
 * impulse, and the twists of `rates` (nv). Returns false if no pair has such friction. */
bool slip_product(StepAdjoint* a, const double* rates);
/* Computes a->slip_wrench, which step_adjoint_distribute adds to the products with lambda. Subtracts slip_wrench from
 * the derivatives with respect to the poses at t. assembly: terms of the loaded step. Overwrites the matrix of the
 * solver. Call after a->lambda is final. */
void slip_adjoint(StepAdjoint* a, const RecordedStep* step, Assembly* assembly, StateBar now);
/* ---- simulate/initial_friction_adjoint.c: friction of a run's first step is limited by the forces of
 * RecordedStep.initial_friction (friction.md, F7) */
/* Adds the contribution of the friction limits of the pairs in a run's first step to now, old, older and gradient. Does
 * nothing if step->initial_friction is NULL. If the report of the solve without friction is not sound, that report
 * replaces *report. Call after step_adjoint_distribute of the step. */
void initial_friction_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old, StateBar older,
                              ModelGradient* gradient, StepAdjointReport* report);
/* Returns the solve without friction (step->initial_friction) as a recorded step. Borrows from `step`. */
RecordedStep initial_friction_step(const RecordedStep* step);
/* Loads the pairs in contact at the start of the run; both states of the contact replay are the first state. Sets
 * sim->assembly.reference. Returns false if these contacts are not reproduced. */
bool initial_friction_load_start(StepAdjoint* a, const RecordedStep* step, bool forward);
/* Call after initial_friction_load_start. slope (start.count): derivatives with respect to the forces of the pairs at
 * the start. Converts them into derivatives with respect to the poses and the model, and adds these to now[links] and
 * gradient. */
void initial_friction_start_forces(StepAdjoint* a, const RecordedStep* step, const Vec3* slope, double (*now)[3][4],
                                   ModelGradient* gradient);
/* Assembles and factors the Hessian H of the step's energy. If H is not positive definite, uses the indefinite
 * factorization and sets indefinite, singular and eigenvalue of *report. Sets the entries of right[nv] for fixed
 * degrees of freedom to 0. Returns false if H is singular. */
bool step_adjoint_factor(StepAdjoint* a, const Assembly* assembly, double* right, StepAdjointReport* report);
/* Adds a->lambda times the derivatives of the step's equations with respect to the earlier states and the model to now,
 * old, older and gradient (simulate/step_adjoint_distribute.c). NULL members of `force` are skipped. */
void step_adjoint_distribute(StepAdjoint* a, const RecordedStep* step, const ForceSlopes* force, StateBar now,
                             StateBar old, StateBar older, ModelGradient* gradient);
/* Converts bar[links], derivatives with respect to the poses pose[links], into force and first moment about the origin
 * of each link's frame, summed over the link and its descendants. Sets a->bar_force and a->bar_moment (links), world
 * axes. */
void step_adjoint_compose(StepAdjoint* a, const Pose* pose, double (*bar)[3][4]);
/* Call after step_adjoint_compose. Adds the derivatives with respect to increments of the joint coordinates to
 * reduced[nv]. screws[nv]: of the joints at pose[links]. */
void step_adjoint_reduce(const StepAdjoint* a, const Pose* pose, const Screw* screws, double* reduced);
/* Adds force[links] (world axes), rotated into the axes of each link's parent, to the derivatives of gradient with
 * respect to joint positions. */
void step_adjoint_frame_positions(const StepAdjoint* a, const Pose* pose, const Vec3* force, ModelGradient* gradient);
/* Call after step_adjoint_compose. Adds the derivatives with respect to rotations of joint frames and axes to gradient
 * (simulate/frame_rotation_adjoint.c, A20). Does nothing if gradient->without_turns is true. Skips free bodies on the
 * world, whose joint frames cannot rotate. */
void step_adjoint_frame_rotations(const StepAdjoint* a, const Pose* pose, ModelGradient* gradient);
/* Input of step_adjoint_frame_rotations_of_motion: an energy E of the links and the rates of the coordinates q. The
 * rate of change of E, psi = sum rates_k dE/dq_k, is differentiated with respect to rotations of joint frames. E is
 * given by forces, first moments about the points `at`, and their changes by the rates. */
typedef struct {
  const Vec3* at;      /* reference points of the first moments (size: links) */
  const Mat3* moment;  /* first moment of the link and its descendants: sum g r^T, with the force g on a point and the
                          vector r from `at` to the point */
  const Vec3* force;   /* force of the link and its descendants */
  const double* rates; /* rates of the coordinates (size: nv) */
  const Screw* screws; /* screws of the joints (size: nv) */
  const double (*twist)[6];  /* twists of the links by the rates; only w is used */
  const double (*change)[6]; /* change of torque about `at` and of force of each single link, without the curvature of
                                the motion; NULL if there are none */
} FrameRotationInput;
/* Adds the derivatives of FrameRotationInput's psi, the rate of change of an energy, with respect to rotations of joint
 * frames and axes to gradient->turns and gradient->axes. Does nothing if gradient->without_turns is true. */
void step_adjoint_frame_rotations_of_motion(StepAdjoint* a, const Pose* pose, const FrameRotationInput* in,
                                            ModelGradient* gradient);
/* Call after step_adjoint_compose. Adds the derivatives with respect to positions and rotations of joint frames to
 * gradient. */
static inline void step_adjoint_frames(const StepAdjoint* a, const Pose* pose, ModelGradient* gradient) {
  step_adjoint_frame_positions(a, pose, a->bar_force, gradient);
  step_adjoint_frame_rotations(a, pose, gradient);
}
/* Let psi be the sum over all links of bar times the time derivative of the pose, entry by entry. The time derivatives
 * follow from the joint rates velocities[nv] (adjoint.md, A12). Adds the derivatives of psi with respect to increments
 * of the coordinates to q_bar[nv], with respect to the rates to velocities_bar[nv] (NULL if not needed), and with
 * respect to joint frames to gradient. pose[links]; screws[nv]: of the joints at pose; bar[links]. Overwrites a->twist,
 * force, bar_force and bar_moment (simulate/step_adjoint_start.c). */
void step_adjoint_rates(StepAdjoint* a, const Pose* pose, const Screw* screws, double (*bar)[3][4], double* q_bar,
                        const double* velocities, double* velocities_bar, ModelGradient* gradient);
/* ---- simulate/spring_theta_adjoint.c */
/* Converts gradient->thetas, the derivatives with respect to the implicitness of springs, into derivatives with respect
 * to the model and, if the run starts from the initial coordinates, with respect to these. Adds the result to gradient
 * and sets gradient->thetas to 0. Overwrites poses and screws of the Sim. Allocates temporary memory. */
void step_adjoint_spring_thetas(StepAdjoint* a, ModelGradient* gradient);
/* Sets twist (links x 6) to the twists (w, v) of all links about the points at[links], world axes, for the joint rates
 * rates[nv] [rad/s, m/s]. */
void step_adjoint_twists(const Model* model, const Screw* screws, const Vec3* at, const double* rates,
                         double (*twist)[6]);
/* Converts derivatives with respect to the target of a controller and the rate of the target, target_bar and rate_bar
 * (JOINT_MAX_DOF each) at time t [s], into derivatives with respect to the parameters of the controller's signal. Adds
 * them to gradient. */
void step_adjoint_controller_signal(StepAdjoint* a, int controller, double t, const double* target_bar,
                                    const double* rate_bar, ModelGradient* gradient);
/* Converts bar[nv], the derivatives with respect to prescribed coordinates at time t [s], into derivatives with respect
 * to the signals of prescribed joints. Adds them to gradient. Entries of other degrees of freedom are ignored. */
void step_adjoint_prescribed(StepAdjoint* a, const double* bar, double t, ModelGradient* gradient);
/* ---- simulate/reactions_adjoint.c (docs/derivations/observables.md, O3) */
/* Call after step_adjoint_load. slopes (links; NULL if there are none): derivatives with respect to joint reactions.
 * Sets a->reacts, field, field_now and field_rows. Adds the direct derivatives with respect to poses at t + dt to
 * next.pose, and with respect to poses at t to now.pose. */
void reaction_adjoint_load(StepAdjoint* a, const RecordedStep* step, const double (*slopes)[6], StateBar next,
                           StateBar now);
/* Adds the virtual motion a->field of the links to a->twist if the scalar depends on joint reactions (a->reacts). */
void reaction_adjoint_add(StepAdjoint* a);
/* Returns the sum of slopes[links] . (joint reactions that follow from the assembled terms); 0 if slopes is NULL. */
double reaction_product(const StepAdjoint* a, const double (*slopes)[6]);
/* Converts a->aim_bar, the derivatives with respect to the target poses of trees in free flight, into derivatives with
 * respect to earlier states, velocities and the model, and adds the results to now, old and gradient
 * (simulate/tree_flight_adjoint.c, W13). Does nothing if no tree flies. */
void tree_flight_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old, ModelGradient* gradient);

#endif
