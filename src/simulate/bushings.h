/* Private to simulate/: bushings, springs and dampers between frames of two links (docs/derivations/loads.md, L18,
 * L19). Sim.bushings is NULL without bushings in the scene. */
#ifndef SDRS_SIMULATE_BUSHINGS_H
#define SDRS_SIMULATE_BUSHINGS_H

#include "simulate/sim.h"

/* Terms of one bushing between links a and b at the assembled configuration. u: displacement of the frame on b relative
 * to the frame on a, and rotation vector between both frames. A twist is the angular velocity, then the velocity of the
 * centre of mass; the twist of a comes first, then the twist of b. */
typedef struct {
  Pose frame[2];               /* world poses of the attachment frames on a and on b */
  Vec3 arm[2];                 /* from the centres of mass to the frame origins [m] */
  double slope[6][12];         /* derivative of u with respect to both twists */
  double energy_gradient[6];   /* derivative of the step's energy with respect to u [N, N m] */
  double energy_hessian[6][6]; /* second derivative of the step's energy with respect to u */
  Vec3 force[2];               /* derivatives of the energy with respect to translations of the links [N] */
  Mat3 moment[2];              /* first moments of these derivatives about the centres of mass [N m] */
  double hessian[12][12];
} BushingTerm;

/* Weights of the states in the spring force of a step (L20), without unit. The spring acts at the weighted displacement
 * ahead u(t + dt) + now u(t) + old u(1 step before t) + older u(2 steps before t). The stiffness is multiplied by 1 -
 * missing. */
typedef struct {
  double ahead, now, old, older, missing;
} BushingTimeWeights;

typedef struct BushingSystem {
  const Model* model;
  BushingTimeWeights* at; /* time weights of every bushing in the present step (size: bushings) */
  /* factors of the rate of every bushing (drives.md, M12): rate = rate_now (u - u^t) - rate_old (u^t - u^(t-1)) (size:
   * bushings) [1/s] */
  double *rate_now, *rate_old;
  double (*now)[6], (*old)[6], (*older)[6]; /* displacement and rotation u of every bushing (BushingTerm) at t and at
                                               the two states before (size: bushings) */
  bool* meets_tendon; /* true if joints and bushings connect the links of the bushing to a link of a tendon (L24) (size:
                         bushings) */
  BushingTerm* term;  /* terms at the assembled configuration (size: bushings) */
  uint64_t* pairs;    /* pairs of trees that bushings couple, sorted; the pair of trees a < b is stored as a << 32 | b
    (size: pair_count) */
  int pair_count;
  bool convex; /* true if the next assembly leaves out the second derivative of u with respect to the link motions,
                  which can make the Hessian indefinite */
} BushingSystem;

/* Largest admissible relative rotation of the two frames of a bushing [rad]. The energy is INFINITY beyond it. 3.1
 * because the rotation vector is discontinuous at pi. */
#define BUSHING_ROTATION_MAX 3.1

/* Returns the bushings of a run, which the caller frees with bushings_destroy. Returns NULL if the model has no
 * bushings. */
BushingSystem* bushings_create(const Model* model);
/* Frees the system and everything that the system owns. Accepts NULL. */
void bushings_destroy(BushingSystem* system);

/* Prepares the bushings for the step of sim->clock. Sets the members now, old and older, the displacements of the
 * bushings at t and at the two previous states, and the time weights. Does nothing without bushings. */
void bushings_prepare_step(Sim* sim);
/* Returns the time weights of bushing k in the step of sim->clock (L20). Sets *slope to the derivatives of the weights
 * with respect to ModelBushing.theta. */
BushingTimeWeights bushing_time_weights(const Sim* sim, int k, BushingTimeWeights* slope);
/* Sets energies (bushings) to the energy of every bushing in the step [J] (L18). It contains springs, preload and
 * dampers, and is INFINITY beyond BUSHING_ROTATION_MAX. poses[links]: at t + dt. */
void bushings_energies(const BushingSystem* system, const Pose* poses, double* energies);
/* Computes the terms of all bushings, forces and Hessian, at poses[links]. reference[links]: centres of mass. */
void bushings_assemble(BushingSystem* system, const Pose* poses, const Vec3* reference);
/* Returns the pair terms of the bushings for Assembly, borrowed until the next bushings_assemble. system may be NULL.
 */
ContactTermList bushings_terms(const BushingSystem* system);
/* Returns the rounding error of a bushing's energy [J]. */
double bushing_rounding(const BushingSystem* system, int k);
/* Sets energy_gradient to the derivative of the energy of spring and preload with respect to the displacement and
 * rotation u at t + dt [N, N m]. The damper is not included. */
void bushing_spring_gradient(const BushingSystem* system, int k, const double u[6], double energy_gradient[6]);
/* Adds the generalized forces of the assembled bushings to force (nv) [N, N m]. screws[nv]: screws of the joints, the
 * world motions per unit rate of each degree of freedom. reference[links]: centres of mass. Does nothing for system
 * NULL. */
void bushings_add_force(const BushingSystem* system, const Vec3* reference, const Screw* screws, double* force);

/* Multiplies the Hessian of the bushings' energy by a small motion of all links and adds the result to wrench (links x
 * 6: torque, force). twist (links x 6: rotation, displacement of the centre of mass): the motion
 * (simulate/bushings_adjoint.c). Does nothing if system is NULL. */
void bushings_hessian_product(const BushingSystem* system, const double (*twist)[6], double (*wrench)[6]);
/* Adds the bushings' share of lambda . dF/dx to gradient, now, old and older (L19). lambda: adjoint solution of the
 * step; F: equations of the step. x: numbers of bushings, poses at t and before. twist (links x 6): twists of the links
 * by joint increments lambda. Does nothing without bushings. */
void bushings_adjoint(const Sim* sim, const double (*twist)[6], StateBar now, StateBar old, StateBar older,
                      ModelGradient* gradient);
/* Adds the derivatives of a scalar with respect to poses[links] to bar[links], and with respect to the positions of
 * both frames to `numbers`. by[6]: derivatives of the scalar with respect to bushing_difference at the poses. */
void bushing_displacement_adjoint(const SceneBushing* bushing, const Pose* poses, const double by[6],
                                  double (*bar)[3][4], double numbers[BUSHING_NUMBERS]);
/* Sets rates[6] to the time derivatives of a bushing's displacement, and to the relative angular velocity in the axes
 * of the frame on link a. motion[links]: time derivatives dT/dt of the poses T = poses[links]. */
void bushing_rates(const SceneBushing* bushing, const Pose* poses, const double (*motion)[3][4], double rates[6]);
/* Differentiates factor times the time derivative of component `direction` of a bushing's displacement and rotation u.
 * Adds the derivatives to three arguments. motion[links]: time derivatives dT/dt of the poses T = poses[links].
 * pose_bar[links]: derivatives with respect to T. motion_bar[links]: with respect to dT/dt. numbers: with respect to
 * the bushing's attachment positions. The rate of a rotation is the component of the relative angular velocity along an
 * axis of the frame on link a. */
void bushing_rate_adjoint(const SceneBushing* bushing, int direction, const Pose* poses, const double (*motion)[3][4],
                          double factor, double (*pose_bar)[3][4], double (*motion_bar)[3][4],
                          double numbers[BUSHING_NUMBERS]);

#endif
