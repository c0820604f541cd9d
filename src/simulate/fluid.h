/* Private to simulate/: drag and buoyancy (docs/derivations/fluid.md). A scene without `fluid` has none of it:
 * Sim.fluid is NULL and nothing is computed. */
#ifndef SDRS_SIMULATE_FLUID_H
#define SDRS_SIMULATE_FLUID_H

#include <complex.h>

#include "simulate/sim.h"

/* A number and its change in one direction, as imaginary part: z = x + i dx with dx far below a rounding of x (L15). */
typedef double complex FluidNumber;
typedef struct {
  FluidNumber x, y, z;
} FluidVector;

/* A triangle of a hull, counter-clockwise seen from outside. */
typedef struct {
  int link, hull;
  int corner[3]; /* vertices of the hull */
  Vec3 point[3]; /* link frame [m] */
} FluidFace;

typedef struct FluidSystem {
  const Model* model;
  FluidFace* face; /* sorted by link */
  int* first;      /* of every link's faces (links + 1) */
  double* slowing; /* of every hull: 3 / (2 r), r the radius of a sphere of its surface [1/m] (L13)  (hulls) */
  double* surface; /* of every hull [m^2]  (hulls) */
  double* scale;   /* of every hull: its triangles are enlarged so that they hold its volume (L10)  (hulls) */
} FluidSystem;

/* NULL: the scene has no fluid, or nothing that can move. Owned by the caller. Freed with fluid_destroy. */
FluidSystem* fluid_create(const Model* model);
/* Frees it and all that it owns; NULL is accepted. */
void fluid_destroy(FluidSystem* system);
/* Does it act on the link? system may be NULL. */
static inline bool fluid_acts(const FluidSystem* system, int link) {
  return system && system->first[link + 1] > system->first[link];
}

/* Energy whose derivative by the link's pose at the end of the step is minus force and torque [J] (L9). */
double fluid_energy(const Sim* sim, int link, const Pose* pose);
/* Adds force, moment and Hessian. */
void fluid_add_terms(const Sim* sim, int link, const Pose* pose, LinkTerms* terms);
/* Force and torque about the origin of the link's frame, world axes [N, N m]. */
void fluid_wrench(const Sim* sim, int link, const Pose* pose, Vec3* force, Vec3* torque);
/* Size of both, about the centre of mass. */
WorkingForce fluid_at_work(const Sim* sim, int link, const Pose* pose);
/* Potential energy of buoyancy at a pose [J]; fluid may be NULL: 0. */
double fluid_potential(const FluidSystem* fluid, int link, const Pose* pose);
/* wrench[links]: + the change of force and torque about the centres of mass while all links move by twist[links], both
 * (links x 6). Nothing without a fluid. */
void fluid_product(const Sim* sim, const double (*twist)[6], double (*wrench)[6]);
/* lambda . dF/d(poses before, vertices, numbers of the fluid) (L15) (simulate/fluid_adjoint.c). motion: of every link
 * by lambda, the change of [R | t] at t + dt  (links). Added to now, old and gradient; nothing without a fluid. */
void fluid_adjoint(const Sim* sim, const double (*motion)[3][4], StateBar now, StateBar old, ModelGradient* gradient);

/* ---- shared with fluid_adjoint.c */
/* All that the force on a face depends on. */
typedef struct {
  FluidNumber pose[3][4], now[3][4], old[3][4]; /* [R | t] at t + dt, t, t - dt */
  FluidVector point[3];
  FluidNumber number[FLUID_NUMBERS];
  FluidNumber slowing;
  double ahead, at_now, at_old, whole; /* shares of the poses, and of the whole, in buoyancy (L14) */
  double dt;
  Vec3 gravity, up;
  bool has_level;
} FluidInput;
/* Inputs of all faces of a link at the given pose: poses, the fluid's numbers, gravity. */
FluidInput fluid_input(const Sim* sim, int link, const Pose* pose);
/* Points and slowing of a face. */
void fluid_take_face(const FluidSystem* system, int index, FluidInput* in);
/* Derivative of the face's energy by [R | t] at t + dt, added (L10-L13). */
void fluid_face_slope(const FluidInput* in, FluidNumber slope[3][4]);
/* The change by which a direction is marked. */
#define FLUID_CHANGE 1e-200

#endif
