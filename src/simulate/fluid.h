/* Private to simulate/: drag and buoyancy (docs/derivations/fluid.md). Without `fluid` in the scene Sim.fluid is NULL
 * and nothing is computed. */
#ifndef SDRS_SIMULATE_FLUID_H
#define SDRS_SIMULATE_FLUID_H

#include <complex.h>

#include "simulate/sim.h"

/* A number z = x + i dx for complex-step differentiation (L15). The imaginary part dx is proportional to the derivative
 * in one direction; dx is far below the rounding of x. */
typedef double complex FluidNumber;
typedef struct {
  FluidNumber x, y, z;
} FluidVector;

/* A triangle of a hull's surface, counter-clockwise seen from outside. */
typedef struct {
  int link, hull;
  int corner[3]; /* indices of the hull's vertices */
  Vec3 point[3]; /* link frame [m] */
} FluidFace;

typedef struct FluidSystem {
  const Model* model;
  FluidFace* face; /* sorted by link */
  int* first;      /* first face of every link (links + 1) */
  double* slowing; /* 3 / (2 r) of every hull, r the radius of the sphere with the hull's surface area; factor of the
                      viscous drag [1/m] (L13) (hulls) */
  double* surface; /* surface area of every hull [m^2] (hulls) */
  double* scale; /* of every hull: factor that gives its triangulated surface the exact volume of a round solid; else 1
                    (L10) (hulls) */
} FluidSystem;

/* Returns the fluid of a run, which the caller frees with fluid_destroy. Returns NULL if the scene has no fluid or no
 * movable link. */
FluidSystem* fluid_create(const Model* model);
/* Frees the system and everything that the system owns. Accepts NULL. */
void fluid_destroy(FluidSystem* system);
/* Returns true if the fluid acts on the link. system may be NULL. */
static inline bool fluid_acts(const FluidSystem* system, int link) {
  return system && system->first[link + 1] > system->first[link];
}

/* Returns the energy whose negative derivative with respect to the link's pose at t + dt is the fluid's force and
 * torque [J] (L9). */
double fluid_energy(const Sim* sim, int link, const Pose* pose);
/* Adds derivative, first moment and Hessian of fluid_energy to terms. */
void fluid_add_terms(const Sim* sim, int link, const Pose* pose, LinkTerms* terms);
/* Sets the fluid's force and torque about the origin of the link's frame, world axes [N, N m]. */
void fluid_wrench(const Sim* sim, int link, const Pose* pose, Vec3* force, Vec3* torque);
/* Returns the magnitudes of the fluid's force and of its torque about the centre of mass. */
WorkingForce fluid_at_work(const Sim* sim, int link, const Pose* pose);
/* Returns the potential energy of buoyancy at a pose [J]; 0 for fluid NULL. */
double fluid_potential(const FluidSystem* fluid, int link, const Pose* pose);
/* Adds to wrench (links x 6) the change of the fluid's torque about the centre of mass and force on each link, as
 * derivatives of energy, if all links move by twist (links x 6). Does nothing without a fluid. */
void fluid_product(const Sim* sim, const double (*twist)[6], double (*wrench)[6]);
/* Adds lambda . dF/d(poses at t and before, vertices, numbers of the fluid) (L15) to now, old and gradient
 * (simulate/fluid_adjoint.c). motion (links): change of every link's [R | t] at t + dt by lambda. Does nothing without
 * a fluid. */
void fluid_adjoint(const Sim* sim, const double (*motion)[3][4], StateBar now, StateBar old, ModelGradient* gradient);

/* ---- shared with fluid_adjoint.c */
/* Variables on which the force on a face depends. */
typedef struct {
  FluidNumber pose[3][4], now[3][4], old[3][4]; /* [R | t] at t + dt, t, t - dt */
  FluidVector point[3];
  FluidNumber number[FLUID_NUMBERS];
  FluidNumber slowing;
  double ahead, at_now, at_old,
      whole; /* weights of the poses at which buoyancy acts; `whole`: factor of buoyancy as a whole (L14) */
  double dt;
  Vec3 gravity, up;
  bool has_level;
} FluidInput;
/* Returns the variables common to all faces of a link at the given pose: poses, fluid numbers, gravity. */
FluidInput fluid_input(const Sim* sim, int link, const Pose* pose);
/* Sets the variables of one face: its points and `slowing` of its hull. */
void fluid_take_face(const FluidSystem* system, int index, FluidInput* in);
/* Adds the derivative of the face's energy with respect to [R | t] at t + dt (L10-L13). */
void fluid_face_slope(const FluidInput* in, FluidNumber slope[3][4]);
/* Imaginary step of the complex-step derivatives: squares of it vanish against any real part. */
#define FLUID_CHANGE 1e-200

#endif
