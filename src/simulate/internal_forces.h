/* Private to simulate/: time of the lever arms and directions of internal forces and buoyancy with the integrator
 * `momentum` (docs/derivations/loads.md, L21, L24, L25; fluid.md, L23). Sim.internal_forces is NULL without such
 * forces. */
#ifndef SDRS_SIMULATE_INTERNAL_FORCES_H
#define SDRS_SIMULATE_INTERNAL_FORCES_H

#include "simulate/loads.h"

/* Kinds of torques of a ball joint (L25). */
enum { BALL_SPRING = 1, BALL_DAMPER = 2, BALL_DRIVES = 4, BALL_ALL = 7 };
/* Torque of a ball joint that acts about the axes at t, in the axes of the link (L25). It is the derivative of an
 * energy with respect to increments of the joint, minus the torque on the link. */
typedef struct {
  double now[3], ahead[3]; /* with the axes at t and at the predicted rotation [N m] */
  bool acts;               /* false: both are zero, and all axes are those at t + dt */
} BallStart;

typedef struct InternalForces {
  Pose* predicted; /* predicted poses at t + dt (size: links) */
  /* wrenches of the forces at t, in the directions at t. `start`: with the weights of the target (spin.md, W52);
   * start_in_step: with the weights of the step's objective (size: links) */
  LinkWrench *start, *start_in_step;
  double* fraction;            /* StartFraction.fraction of each tendon (size: tendons) */
  double* bushing_bound;       /* bushing_frequency_bound of each bushing (size: bushings) */
  double (*bushing_wrench)[6]; /* BushingStart.wrench times BushingStart.fraction of each bushing (size: bushings) */
  LinkWrench* ahead; /* minus the wrenches of the same forces in the directions at the predicted poses (size: links) */
  LinkWrench* scratch;   /* (size: links) */
  bool* has_ball_torque; /* true: ball_torque_acts (size: links) */
  BallStart* ball;       /* torques of ball joints (size: links) */
  /* derivatives of a scalar with respect to BallStart.now and BallStart.ahead, summed over all equations of the step
   * (size: links) */
  Vec3 *ball_now_bar, *ball_ahead_bar;
  /* scratch of the adjoint (size: links): changes of [R | t] at t and at the predicted poses, and derivatives with
   * respect to them and to the predicted poses */
  double (*motion_now)[3][4], (*motion_ahead)[3][4], (*motion_now_bar)[3][4], (*motion_ahead_bar)[3][4];
  double (*ahead_bar)[3][4];
} InternalForces;

/* Returns true if the rotations of InternalForces.predicted are rotation matrices to rounding (L3), as the derivatives
 * of wraps and of bushings require. */
static inline bool internal_forces_predict_rotations(const StepClock* c) {
  return !c->dt_varies && !c->before_varies && is_step_length(c, c->dt_before);
}

/* Returns the data of the forces of a run, which the caller frees with internal_forces_destroy. Returns NULL without
 * tendons and buoyancy that act at t, or with another integrator. Call after fluid_create. */
InternalForces* internal_forces_create(const Sim* sim);
/* Frees `forces` and everything that it owns. Accepts NULL. */
void internal_forces_destroy(InternalForces* forces);
/* Adds to Sim.loads the loads that give tendons, bushings, ball joints and buoyancy the directions and lever arms of
 * the time t (loads.md, L21, L24, L25; fluid.md, L23). Call after loads_prepare_step, tendons_prepare_step and
 * bushings_prepare_step. */
void internal_forces_prepare_step(Sim* sim);

/* Adds the generalized forces of the loads of (L21) that belong to the spring of tendon k in the last step to force[nv]
 * [N, N m]. screws[nv], center[links]: screws of the joints and centres of mass at t + dt. Call after the step. */
void internal_forces_add_spring_force(const Sim* sim, int k, const Screw* screws, const Vec3* center, double* force);

/* Adds the generalized forces of the loads of (L24) that belong to bushing k in the last step to force[nv] [N, N m].
 * screws[nv], center[links]: screws of the joints and centres of mass at t + dt. Call after the step. */
void internal_forces_add_bushing_force(const Sim* sim, int k, const Screw* screws, const Vec3* center, double* force);

/* Adds the generalized forces of the loads of (L23), the buoyancy of all links, to force[nv] [N, N m]. screws[nv],
 * center[links]: screws of the joints and centres of mass at t + dt. Call after the step. */
void internal_forces_add_buoyancy(const Sim* sim, const Screw* screws, const Vec3* center, double* force);

/* Fraction of a tendon's force that acts in the direction at t, from 0 to 1, with its derivatives (L21). */
typedef struct {
  double fraction;
  double sum;      /* sum over the segments of mobility of both ends / length [1/(kg m)] */
  double by_force; /* derivative of `fraction` with respect to the magnitude of the force [1/N] */
  double by_sum;   /* derivative of `fraction` with respect to `sum` [kg m] */
} StartFraction;
/* Returns the fraction for tendon k with the force `pull` at t. */
StartFraction tendon_start_fraction(const Sim* sim, int k, double pull);
/* Adds factor times the derivatives of StartFraction.sum of tendon k with respect to poses at t, points, masses and
 * centres of mass. */
void tendon_start_sum_adjoint(const Sim* sim, int k, double factor, StateBar now, ModelGradient* gradient);

/* ---- simulate/internal_bushings.c (L24) */
/* Force of a bushing at t, which acts in the directions at t. u: displacement and rotation of frame b relative to frame
 * a (L18). */
typedef struct {
  double gradient[6];      /* derivative of the energy of spring and preload with respect to u, at t [N, N m] */
  double wrench[6];        /* force and torque of a on b, reversed, in the axes of frame a [N, N m] */
  RotationVector rotation; /* rotation vector of u at t, with its derivatives with respect to rotations of b */
  double fraction;         /* fraction of the wrench that acts in the directions at t, from 0 to 1 */
  double by_force;         /* derivative of `fraction` with respect to the magnitude of the force [1/N] */
  double by_sum;           /* derivative of `fraction` with respect to InternalForces.bushing_bound [kg m] */
} BushingStart;
/* Returns the bound of the squared angular frequency of bushing k per force [1/(kg m)]. INFINITY if both frames are at
 * centres of mass of links, or at links that cannot move. */
double bushing_frequency_bound(const Model* model, int k);
BushingStart bushing_start(const Sim* sim, int k);
/* Adds the derivatives of a scalar through a bushing's force at t. wrench_bar: derivatives with respect to
 * start->wrench; by_fraction: with respect to start->fraction. */
void bushing_start_adjoint(const Sim* sim, int k, const BushingStart* start, const double wrench_bar[6],
                           double by_fraction, StateBar now, ModelGradient* gradient);
/* Adds factor times the wrenches of a bushing at poses[links] to out[links]. wrench: in the axes of frame a, as
 * BushingStart.wrench. */
void bushing_add_wrenches(const Model* model, const SceneBushing* bushing, const Pose* poses, const double wrench[6],
                          double factor, LinkWrench* out);

/* ---- simulate/internal_balls.c (L25) */
/* Returns true if springs, dampers or drives act on the three rotations of the link's joint. */
bool ball_torque_acts(const Model* model, int link);
/* Returns the torque of a ball joint at t. kinds: sum of BALL_SPRING, BALL_DAMPER and BALL_DRIVES. in->q is not used.
 * The result is zero in the first step and in steps whose length differs from that of the step before. */
BallStart ball_start(const JointInput* in, const StepClock* clock, unsigned kinds);
/* Adds the torques on link i and on its parent to the wrenches of Sim.internal_forces. */
void ball_add_wrenches(const Sim* sim, int i, const BallStart* start);
/* Sets out to the generalized force on the three rotations of link i's joint, the change of its torque by (L25) [N m].
 * now[links], pose[links]: poses at t and at t + dt. */
void ball_start_force(const Sim* sim, int i, const BallStart* start, const Pose* now, const Pose* pose, double out[3]);
/* Adds the derivatives of a scalar through BallStart.now and BallStart.ahead. now, ahead: derivatives with respect to
 * them. Adds those with respect to stiffness and damping to own (dof x JOINT_OWN_COUNT), all others to *out. Returns
 * the derivative with respect to ModelLink.spring_theta. */
double ball_start_adjoint(const JointInput* in, const double now[3], const double ahead[3], JointBars* out,
                          double (*own)[JOINT_OWN_COUNT]);

/* Adds the share of (L21) in the derivatives of -sum B : motion, where B are the matrices of the loads (L1). in_target:
 * true for the loads that targets contain (W52); old and rate_bar are then not used. motion (links): change of
 * [R | t]. The derivatives through the torques of ball joints are left in ball_now_bar and ball_ahead_bar. */
void internal_forces_adjoint(const Sim* sim, const double (*motion)[3][4], bool in_target, StateBar now, StateBar old,
                             double (*rate_bar)[3][4], ModelGradient* gradient);

#endif
