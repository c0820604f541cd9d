/* Private to simulate/: springs and dampers between frames of two links (docs/derivations/loads.md, L18, L19). A scene
 * without bushings has none of it: Sim.bushings is NULL and nothing is computed. */
#ifndef SDRS_SIMULATE_BUSHINGS_H
#define SDRS_SIMULATE_BUSHINGS_H

#include "simulate/sim.h"

/* One bushing as assembled. Twists (w, v) of both links are about their centres of mass, a's first. */
typedef struct {
  Pose frame[2];       /* world */
  Vec3 arm[2];         /* of the frames about the centres of mass [m] */
  double slope[6][12]; /* of u by both twists */
  double push[6];      /* derivative of the step's energy by u [N, N m] */
  double stiff[6][6];  /* slope of push by u */
  Vec3 force[2];       /* derivatives of the energy by the links' motion [N] */
  Mat3 moment[2];      /* N m */
  double hessian[12][12];
} BushingTerm;

typedef struct BushingSystem {
  const Model* model;
  SpringTime* at;              /* when the springs act in the present step (M10)  (bushings) */
  double rate_now, rate_old;   /* of StepWeights [1/s] */
  double (*now)[6], (*old)[6]; /* u at t and at the state before  (bushings) */
  BushingTerm* term;           /* (bushings) */
  uint64_t* pairs;             /* trees that they couple, a << 32 | b with a < b, sorted  (pair_count) */
  int pair_count;
  bool convex; /* the next assembly leaves out what may make a Hessian indefinite */
} BushingSystem;

/* Rotation that no step goes beyond [rad]: at pi the rotation vector jumps. */
#define BUSHING_ROTATION_MOST 3.1

/* NULL: the model has none. Owned by the caller. Freed with bushings_destroy. */
BushingSystem* bushings_create(const Model* model);
/* Frees it and all that it owns; NULL is accepted. */
void bushings_destroy(BushingSystem* system);

/* Sets what the states before have of u, for the step of sim->clock. Nothing without bushings. */
void bushings_aim(Sim* sim);
/* Energy of every bushing in the step [J] (L18): springs, preload and dampers; INFINITY beyond BUSHING_ROTATION_MOST.
 * energies (bushings): set; poses[links]. */
void bushings_energies(const BushingSystem* system, const Pose* poses, double* energies);
/* Terms of all bushings at the poses[links]; reference: centres of mass (links). No allocation. */
void bushings_assemble(BushingSystem* system, const Pose* poses, const Vec3* reference);
/* Terms for Assembly; system may be NULL. Borrowed until the next bushings_assemble. */
ContactTermList bushings_terms(const BushingSystem* system);
/* Smallest change of a bushing's energy that means something [J]. */
double bushing_rounding(const BushingSystem* system, int k);
/* Spring and preload alone: derivative of their energy by u at t + dt, given u [N, N m]. */
void bushing_spring_push(const BushingSystem* system, int k, const double u[6], double push[6]);
/* Adds what bushings do along the degrees of freedom, as assembled [N, N m]. screws[nv]; reference[links]; force (nv).
 * system NULL: nothing. */
void bushings_add_force(const BushingSystem* system, const Vec3* reference, const Screw* screws, double* force);

/* wrench[links]: + the change of force and torque that bushings put on a link while all move by twist[links]
 * (simulate/bushings_adjoint.c). Both are (links x 6); nothing for system NULL. */
void bushings_product(const BushingSystem* system, const double (*twist)[6], double (*wrench)[6]);
/* lambda . dF/d(numbers of bushings, poses before) (L19). twist (links x 6): of every link by lambda. Added to
 * gradient, now and old; nothing without bushings. */
void bushings_adjoint(const Sim* sim, const double (*twist)[6], StateBar now, StateBar old, ModelGradient* gradient);
/* Adds factor times the derivatives of d u[direction] / dt at poses[links], while the links move by motion[links] =
 * dT/dt: with respect to T in pose_bar[links], to dT/dt in motion_bar[links], to the bushing's positions in numbers.
 * The rate of a rotation is the difference of the angular velocities along a's axis. */
void bushing_rate_adjoint(const SceneBushing* bushing, int direction, const Pose* poses, const double (*motion)[3][4],
                          double factor, double (*pose_bar)[3][4], double (*motion_bar)[3][4],
                          double numbers[BUSHING_NUMBERS]);

#endif
