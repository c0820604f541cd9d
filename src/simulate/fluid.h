/* Private to simulate/: drag and buoyancy (docs/derivations/fluid.md). Sim.fluid is NULL without `fluid` in the
 * scene. */
#ifndef SDRS_SIMULATE_FLUID_H
#define SDRS_SIMULATE_FLUID_H

#include <complex.h>

#include "simulate/sim.h"

/* A number for complex-step differentiation (L15). The real part is its value. The imaginary part is proportional to
 * its derivative in one direction, and far below the rounding of the value. */
typedef double complex FluidNumber;
typedef struct {
  FluidNumber x, y, z;
} FluidVector;

/* A triangle of a hull's surface, counter-clockwise seen from outside. */
typedef struct {
  int link, hull;
  int corner[3]; /* indices of the hull's vertices */
  Vec3 point[3]; /* positions of the corners, link frame [m] */
} FluidFace;

typedef struct FluidSystem {
  const Model* model;
  FluidFace* face; /* triangles of all hulls on which the fluid acts, sorted by link */
  int* first;      /* first face of every link (links + 1) */
  double* slowing; /* factor on the viscous drag of every hull, 3 / (2 r) [1/m]. r: radius of the sphere with the
                      surface area of the hull (L13) (size: hulls) */
  double* surface; /* surface area of every hull [m^2] (size: hulls) */
  double* scale; /* factor that scales the triangulated surface of a round solid to its exact volume; 1 for other hulls
                    (L10) (size: hulls) */
} FluidSystem;

/* Returns the fluid of a run, which the caller frees with fluid_destroy. Returns NULL if the scene has no fluid or no
 * movable link. */
FluidSystem* fluid_create(const Model* model);
/* Frees the system and everything that the system owns. Accepts NULL. */
void fluid_destroy(FluidSystem* system);
/* Returns true if the fluid acts on the link. system may be NULL. */
static inline bool fluid_acts_on(const FluidSystem* system, int link) {
  return system && system->first[link + 1] > system->first[link];
}

/* Returns the energy of the fluid's force on a link [J] (L9). The force and torque are its negative derivative with
 * respect to the link's pose at t + dt. */
double fluid_energy(const Sim* sim, int link, const Pose* pose);
/* Adds the derivative of fluid_energy with respect to the link's motion, the first moment of this derivative and the
 * Hessian to terms. */
void fluid_add_terms(const Sim* sim, int link, const Pose* pose, LinkTerms* terms);
/* Sets *force [N] and *torque [N m] of the fluid on a link, in world axes. The torque is about the origin of the link's
 * frame. */
void fluid_wrench(const Sim* sim, int link, const Pose* pose, Vec3* force, Vec3* torque);
/* Returns the magnitudes of the fluid's force and of its torque about the centre of mass. */
ForceMagnitudes fluid_force_magnitudes(const Sim* sim, int link, const Pose* pose);
/* Returns the potential energy of buoyancy at a pose [J]; 0 for fluid NULL. */
double fluid_potential(const FluidSystem* fluid, int link, const Pose* pose);
/* Adds H twist to wrench. H is the Hessian of the fluid's energy with respect to the link poses. twist, wrench (links x
 * 6): the angular part about the centre of mass comes first, then the linear part. Does nothing without a fluid. */
void fluid_hessian_product(const Sim* sim, const double (*twist)[6], double (*wrench)[6]);
/* Adds the fluid's contribution to lambda . dF/dx to now, old and gradient (L15). lambda: adjoint solution; F:
 * equations of the step. x: poses at t and t - dt, vertices, parameters of the fluid. motion (links): directional
 * derivative along lambda of every link's rotation matrix and position [R | t] at t + dt. Does nothing without a fluid.
 * Defined in fluid_adjoint.c. */
void fluid_adjoint(const Sim* sim, const double (*motion)[3][4], StateBar now, StateBar old, ModelGradient* gradient);

/* ---- shared with fluid_adjoint.c */
/* Variables on which the force on a face depends. */
typedef struct {
  /* rotation matrix and position [R | t] of the link at t + dt (pose), t (now) and t - dt (old) */
  FluidNumber pose[3][4], now[3][4], old[3][4];
  FluidVector point[3];
  FluidNumber number[FLUID_NUMBERS];
  FluidNumber slowing;
  double ahead, at_now, at_old, whole; /* weights of the poses at t + dt, t and t - dt at which buoyancy acts; `whole`:
                                          factor on the buoyancy force (L14) */
  double dt;
  Vec3 gravity, up;
  bool has_level;
} FluidInput;
/* Returns the variables that all faces of a link share at the given pose: poses, fluid numbers, gravity. */
FluidInput fluid_input(const Sim* sim, int link, const Pose* pose);
/* Sets the variables of one face: its points, and `slowing` of its hull. */
void fluid_set_face(const FluidSystem* system, int index, FluidInput* in);
/* Adds the derivative of the energy of the fluid's force on a face with respect to the link's rotation matrix and
 * position [R | t] at t + dt (L10-L13). */
void fluid_face_slope(const FluidInput* in, FluidNumber slope[3][4]);
/* Imaginary part that is added to a number to differentiate with respect to it. 1e-200 because its square must vanish
 * against any real part. */
#define FLUID_COMPLEX_STEP 1e-200

#endif
