/* Private to simulate/: drag and buoyancy (docs/derivations/fluid.md). Sim.fluid is NULL without `fluid` in the
 * scene. */
#ifndef SDRS_SIMULATE_FLUID_H
#define SDRS_SIMULATE_FLUID_H

#include <complex.h>

#include "simulate/fluid_drag.h"
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
  int* body; /* index of the first hull of the body to which a hull belongs. All triangles of a surface are one body,
                any other hull is a body of its own (size: hulls) */
  double* slowing; /* factor on the viscous drag of a body, at the index of its first hull, 3 / (2 r) [1/m]. r: radius
                      of the sphere with the surface area of the body (L13) (size: hulls) */
  double* surface; /* surface area of a body, at the index of its first hull [m^2] (size: hulls) */
  double* scale; /* factor that scales the triangulated surface of a round solid or smooth shape to its exact volume; 1
                    for other hulls (L10) (size: hulls) */
  double* volume_slope; /* derivatives of the exact volumes with respect to the parameters of shapes (size:
                           Model.shape_parameter_count) */
  double (*volume)[4];  /* volume of every link [m^3], times its centroid (x, y, z, 1), link frame [m] (size: links) */
  DragForce* force;     /* of the present step, with buoyancy if the fluid has no surface (size: links) */
} FluidSystem;

/* Returns the point about which the triangulated surface of a hull is scaled (L10), link frame [m]. It does not depend
 * on the parameters of the shape: the origin of a smooth shape, and the centre of the box of a round solid. */
static inline Vec3 fluid_scale_center(const ModelHull* hull) {
  return hull_is_convex_smooth(hull) ? hull->smooth->pose.t : hull->center;
}

/* Returns the fluid of a run, which the caller frees with fluid_destroy. Returns NULL if the scene has no fluid or no
 * movable link. */
FluidSystem* fluid_create(const Model* model);
/* Frees the system and everything that the system owns. Accepts NULL. */
void fluid_destroy(FluidSystem* system);
/* Returns true if the fluid acts on the link. system may be NULL. */
static inline bool fluid_acts_on(const FluidSystem* system, int link) {
  return system && system->first[link + 1] > system->first[link];
}

/* Computes the force on every link that does not depend on its pose at t + dt. Call after the weights of the step have
 * been set. Does nothing without a fluid. */
void fluid_prepare_step(Sim* sim);
/* Returns true if the buoyancy of a link acts with its lever arms and at the pose of t (L23). */
bool fluid_buoyancy_acts_at_start(const Sim* sim, int link);
/* Sets slope to the derivative of the energy of buoyancy with respect to the link's rotation matrix and position [R |
 * t] at `pose` (L10). */
void fluid_buoyancy_slope_at(const Sim* sim, int link, const Pose* pose, double slope[3][4]);
/* Adds the derivatives of factor times the sum of slope : motion, with the slope of fluid_buoyancy_slope_at at a
 * constant `motion`, to pose_bar and gradient (simulate/fluid_adjoint.c). */
void fluid_buoyancy_slope_adjoint(const Sim* sim, int link, const Pose* pose, const double motion[3][4], double factor,
                                  double pose_bar[3][4], ModelGradient* gradient);
/* Returns the energy of the fluid's force on a link, up to a constant of the step [J] (L9). The force and torque are
 * its negative derivative with respect to the link's pose at t + dt. */
double fluid_energy(const Sim* sim, int link, const Pose* pose);
/* Adds the derivative of fluid_energy with respect to the link's motion, the first moment of this derivative and the
 * Hessian to terms. */
void fluid_add_terms(const Sim* sim, int link, const Pose* pose, LinkTerms* terms);
/* Sets *force [N] and *torque [N m] of the fluid on a link, in world axes. The torque is about the origin of the link's
 * frame. */
void fluid_wrench(const Sim* sim, int link, const Pose* pose, Vec3* force, Vec3* torque);
/* Returns the magnitudes of the fluid's force and of its torque about the centre of mass. */
ForceMagnitudes fluid_force_magnitudes(const Sim* sim, int link, const Pose* pose);
/* Adds the derivative of the energy of buoyancy in the substep that has ended with respect to the link's rotation
 * matrix and position [R | t] at its end to bar. The fluid must act on the link. */
void fluid_add_buoyancy_slope(const Sim* sim, int link, double bar[3][4]);
/* Returns the potential energy of buoyancy at a pose [J]; 0 for fluid NULL. */
double fluid_potential(const FluidSystem* fluid, int link, const Pose* pose);
/* Adds H twist to wrench. H is the Hessian of the fluid's energy with respect to the link poses. twist, wrench (links x
 * 6): the angular part about the centre of mass comes first, then the linear part. Does nothing without a fluid. */
void fluid_hessian_product(const Sim* sim, const double (*twist)[6], double (*wrench)[6]);
/* Adds the fluid's contribution to lambda . dF/dx to now, old, rate_bar (links) and gradient (L15). lambda: adjoint
 * solution; F: equations of the step. x: poses at t and t - dt, initial velocities, vertices, masses, parameters of the
 * fluid. motion (links): directional derivative along lambda of every link's rotation matrix and position [R | t] at
 * t + dt. Does nothing without a fluid. Defined in fluid_adjoint.c. */
void fluid_adjoint(const Sim* sim, const double (*motion)[3][4], StateBar now, StateBar old, double (*rate_bar)[3][4],
                   ModelGradient* gradient);

/* ---- shared with fluid_adjoint.c */
/* Weights of the poses at t + dt, t and t - dt at which buoyancy acts (L14). drag, buoyancy: factors on the forces,
 * fractions of the step in which they act. */
typedef struct {
  double ahead, now, old, drag, buoyancy;
} FluidWeights;
/* Variables on which the buoyancy of a face depends, in a fluid with a surface. */
typedef struct {
  FluidNumber pose[3][4]; /* rotation matrix and position [R | t] of the link where buoyancy acts (L14) */
  FluidVector point[3];
  FluidNumber density, level;
  FluidVector up; /* unit vector against gravity */
  double gravity; /* [m/s^2] */
  FluidWeights at;
} BuoyancyInput;
/* Returns the weights of a link in the step of sim->clock. */
FluidWeights fluid_weights(const Sim* sim, int link);
/* Returns the variables of drag that all hulls of a link share. pose: pose of the link at t + dt. */
DragInput fluid_drag_input(const Sim* sim, int link, const Pose* pose);
/* Returns the variables of buoyancy that all faces of a link share. pose, now, old: poses of the link at t + dt, t and
 * t - dt. */
BuoyancyInput fluid_buoyancy_input(const Sim* sim, int link, const Pose* pose, const Pose* now, const Pose* old);
/* Sets in->point to the corners of a face. */
void fluid_set_face(const FluidFace* face, BuoyancyInput* in);
/* Adds the derivative of the energy of the buoyancy of a face with respect to the link's rotation matrix and position
 * to slope (L10). */
void fluid_buoyancy_slope(const BuoyancyInput* in, FluidNumber slope[3][4]);
/* Imaginary part that is added to a number to differentiate with respect to it. 1e-200 because its square must vanish
 * against any real part. */
#define FLUID_COMPLEX_STEP 1e-200

#endif
