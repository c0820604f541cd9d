/* Private to simulate/: tendons through points of links (docs/derivations/loads.md, L5-L7). Sim.tendons is NULL without
 * tendons in the scene. */
#ifndef SDRS_SIMULATE_TENDONS_H
#define SDRS_SIMULATE_TENDONS_H

#include "simulate/sim.h"

/* Terms of a pair of links due to a tendon segment between the neighbouring points a and b. A segment without a wrap
 * has one term, for the links of a and b. A segment around a wrap w has TENDON_TERMS_WRAPPED = 3 terms, for the links
 * of a and w, of b and w, and of a and b. */
typedef struct {
  int link[2];    /* indices of the two links; -1: the world */
  Vec3 slope;     /* derivative of the segment's length with respect to point a (in the second term: point b); the
                     derivative for the other link is the opposite */
  Mat3 curvature; /* derivative of `slope` with respect to the same point [1/m] */
  Vec3 arm[2];    /* vector from the centre of mass of each link to the point where the tendon pulls [m] */
  Vec3 force[2];  /* derivatives of the energy with respect to translations of the links [N] */
  Mat3 moment[2]; /* first moments of these derivatives about the centres of mass [N m] */
  double hessian[12][12];
} TendonSegment;

enum { TENDON_TERMS_WRAPPED = 3 };
/* Returns the number of terms (TendonSegment) of the segment that starts at a point of the tendon. */
static inline int tendon_terms(const SceneTendon* tendon, int point) {
  return tendon->points[point].wrap > 0 ? TENDON_TERMS_WRAPPED : 1;
}

/* Returns the degree of freedom of one joint coordinate in the sum that defines the tendon's length. */
static inline int tendon_dof(const Model* model, const SceneCouplingTerm* joint) {
  return model->links[joint->link].dof_first + joint->coordinate;
}

typedef struct TendonSystem {
  const Model* model;
  double* tension; /* value of the tension signals at the end of the step [N] (size: tendons) */
  /* weights of the lengths at t + dt, t and the state before in the spring force (drives.md, M10) (size: tendons) */
  SpringTimeWeights* at;
  double* past;      /* contribution of the states at t and before to the time-weighted length [m] (size: tendons) */
  double *now, *old; /* lengths at t and at the previous state; set only where needed [m] (size: tendons) */
  double rate_now, rate_old; /* factors of the integrator's rate (step.md, S3), copied from StepWeights [1/s] */
  double* force_magnitude;   /* sum of the magnitudes of the forces whose sum is `pull` [N] (size: tendons) */
  double *pull, *extent;     /* pull: force at the assembled configuration [N]; extent: length plus the distances of the
                                points from the world's origin, for rounding errors [m] (size: tendons) */
  int *first, count;         /* first term of each tendon (tendons + 1); number of all terms */
  int* tendon;               /* index of the tendon to which each term belongs */
  TendonSegment* segment;    /* the terms at the assembled configuration */
  int *dof_first,
      *dof;      /* degrees of freedom that change the length of tendon k: dof[dof_first[k] .. dof_first[k+1]-1] */
  double* slope; /* derivatives of the lengths with respect to the degrees of freedom at the assembled configuration, in
                    the order of `dof`. Set for tendons with stiffness */
  CouplingTerms* stretched; /* Hessian terms of each tendon, its stiffness times the square of the length's derivatives,
                               for the assembly (size: tendons) */
  int* place;               /* scratch: position of a degree of freedom in the list of the present tendon (size: nv) */
  uint64_t* pairs; /* pairs of trees that tendons couple, sorted; the pair of trees a < b is stored as a << 32 | b
 (size: pair_count) */
  int pair_count;
} TendonSystem;

/* Returns the tendons of a run, which the caller frees with tendons_destroy. Returns NULL if the model has no tendons.
 */
TendonSystem* tendons_create(const Model* model);
/* Frees the system and everything that the system owns. Accepts NULL. */
void tendons_destroy(TendonSystem* system);

/* Prepares the tendons for the step of sim->clock. Sets tensions [N] (0 without a signal), lengths at t and at the
 * previous state, and time weights. */
void tendons_prepare_step(Sim* sim);
/* Returns the time-weighted length of tendon k at which its spring acts, minus the rest length [m]; 0 if the tendon is
 * slack. length: length at t + dt [m]. */
double tendon_weighted_stretch(const TendonSystem* system, int k, double length);
/* Computes the energy of every tendon, energies (tendons) [J] (L94). It is tension x length + stiffness/2 stretch^2 +
 * the energy of the limits, with the stretch of tendon_weighted_stretch. poses[links], q[nq]. */
void tendons_energies(const TendonSystem* system, const Pose* poses, const double* q, double* energies);
/* Energy of a tendon's length limits, their damping, and its friction in a step, with derivatives (L94, L97). Zeros for
 * a tendon without limits and friction. */
typedef struct {
  double value, first,
      second; /* energy [J], and its first and second derivatives with respect to the length at t + dt [N, N/m] */
  double force_magnitude; /* sum of the magnitudes of spring and damper force [N] */
  double by_now, by_old;  /* derivatives of `first` with respect to the length at t (by_now) and at the previous state
                             (by_old) [N/m] */
  double by_friction;     /* derivative of `first` with respect to the friction force of the tendon */
} TendonLimit;
/* Returns true if the tendon has length limits or friction, so that tendon_limit can be nonzero. */
static inline bool tendon_resists(const SceneTendon* tendon) { return tendon->limited || tendon->friction > 0; }
TendonLimit tendon_limit(const TendonSystem* system, int k, double length);
/* Force of a tendon at t without damping and friction (L21) [N]. target, step: with the time weights of the targets of
 * trees and of the step's objective. */
typedef struct {
  double target, step;
  double target_by_length, step_by_length; /* derivatives with respect to the length at t [N/m] */
  double stretch;                          /* elongation at t [m] */
} TendonStartPull;
/* Returns the force of tendon k at t. Call after tendons_prepare_step. */
TendonStartPull tendon_start_pull(const TendonSystem* system, int k);
/* Computes the terms of all tendons at poses[links] and q[nq]: the members segment, pull, force_magnitude, extent,
 * slope and stretched of the system. reference: centres of mass (links). */
void tendons_assemble(TendonSystem* system, const Pose* poses, const double* q, const Vec3* reference,
                      const Screw* screws);
/* Adds the forces of tendons whose length is a weighted sum of joint coordinates, tendon force times weight, to
 * gradient[nv] [N, N m]. system may be NULL. */
void tendons_add_joint_gradient(const TendonSystem* system, double* gradient);
/* Adds to force_scale[nv] the magnitudes of forces that the pair terms do not contain: forces of tendons whose length
 * is a sum of joint coordinates, and forces of limits that balance the tension of the same tendon. system may be NULL.
 */
void tendons_add_force_magnitudes(const TendonSystem* system, double* force_scale);
/* Returns the pair terms of the tendon segments for Assembly, borrowed until the next tendons_assemble. system may be
 * NULL. */
ContactTermList tendons_terms(const TendonSystem* system);
/* Sets Assembly.stretched, the stiffness terms of the tendons, borrowed until the next tendons_assemble. */
void tendons_set_assembly_terms(const TendonSystem* system, Assembly* assembly);
/* Returns the rounding error of a tendon's energy [J]. */
double tendon_rounding(const TendonSystem* system, int k);
/* Adds the derivatives of the length of tendon k with respect to the degrees of freedom to slope[nv] [1, m/rad]. Call
 * after tendons_assemble. screws[nv]: of the joints at poses[links]. */
void tendon_add_slope(const TendonSystem* system, int k, const Pose* poses, const Screw* screws, double* slope);
/* Adds the generalized forces of all tendons to force[nv] [N, N m]: minus the tendon force times the derivative of the
 * length with respect to each degree of freedom. screws[nv]: of the joints at poses[links]. Does nothing if system is
 * NULL. */
void tendons_add_force(const TendonSystem* system, const Pose* poses, const Screw* screws, double* force);

/* Multiplies the Hessian of the tendons' energy by a small motion of all links and adds the result to wrench (links x
 * 6: torque, force). twist (links x 6: rotation, displacement of the centre of mass): the motion
 * (simulate/tendons_adjoint.c). Does nothing if system is NULL. */
void tendons_hessian_product(const TendonSystem* system, const double (*twist)[6], double (*wrench)[6]);
/* Adds the tendons' share of lambda . dF/dx to gradient, now and old (L7). lambda[nv]: adjoint solution; F: equations
 * of the step. x: tensions, stiffness, rest lengths, points, wraps, states at t and before. motion (links): change of
 * every link's rotation matrix and position [R | t] at t + dt by joint increments lambda. Does nothing without tendons.
 */
void tendons_adjoint(const Sim* sim, const double* lambda, const double (*motion)[3][4], StateBar now, StateBar old,
                     ModelGradient* gradient);
/* Differentiates factor times the rate of change of the length of tendon k at the poses T = poses[links]. The rate
 * contains the path of the tendon but not its joints. motion[links]: time derivatives dT/dt of the poses. Adds the
 * derivatives with respect to T to pose_bar[links], with respect to dT/dt to motion_bar[links], and with respect to
 * points and wraps to gradient. */
void tendon_rate_adjoint(const Model* model, int k, const Pose* poses, const double (*motion)[3][4], double factor,
                         double (*pose_bar)[3][4], double (*motion_bar)[3][4], ModelGradient* gradient);
/* Returns the rate of change of the length of the path of tendon k at poses[links] [m]. motion[links]: time derivatives
 * of the poses. */
double tendon_path_rate(const Model* model, int k, const Pose* poses, const double (*motion)[3][4]);
/* Adds by_length times the derivatives of the length of tendon k at the earlier state (poses[links]) with respect to
 * points, wraps, poses and joint coordinates to `to` and gradient. */
void tendon_length_adjoint(const Model* model, int k, const Pose* poses, double by_length, StateBar to,
                           ModelGradient* gradient);
/* Adds `rate` times the derivatives of the tension of tendon k with respect to its signal to gradient. */
void tendon_tension_adjoint(const Sim* sim, int k, double rate, ModelGradient* gradient);

#endif
