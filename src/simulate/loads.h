/* Private to simulate/: forces and torques on links (docs/derivations/loads.md). A scene without loads has none of it:
 * Sim.loads is NULL and nothing is computed. */
#ifndef SDRS_SIMULATE_LOADS_H
#define SDRS_SIMULATE_LOADS_H

#include "simulate/sim.h"

/* All loads on a link in a step: their energy is -B : T, B constant within the step, the same for all loads added up
 * (L1). */
typedef struct LinkLoad {
  bool any;
  double b[3][4]; /* [N m | N] */
} LinkLoad;

/* Room for the loads of a step (links); NULL when the model has none. Owned by the caller. Freed with memory_free. */
LinkLoad* loads_create(const Model* model);
/* Sets B of every link for the step of sim->clock; after the aims of step_prepare. */
void loads_aim(Sim* sim);
/* -B : (T - T^t) [J]: without what is the same for all configurations of the step. */
static inline double load_energy(const LinkLoad* load, const Pose* pose, const Pose* now) {
  double sum = 0;
  const double t[3] = {pose->t.x - now->t.x, pose->t.y - now->t.y, pose->t.z - now->t.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) sum -= load->b[i][j] * (pose->r.m[i][j] - now->r.m[i][j]);
    sum -= load->b[i][3] * t[i];
  }
  return sum;
}
/* Adds force and first moment about the centre of mass (L2). The Hessian by the link's own twist is zero. World axes
 * [N, N m]; pose: of the link. */
void load_add_terms(const LinkLoad* load, const ModelLink* link, Pose pose, LinkTerms* terms);
/* Sizes of force and torque about the centre of mass, for what a step is solved to (S8). */
WorkingForce load_at_work(const LinkLoad* load, const ModelLink* link, Pose pose);
/* The force itself, world axes [N]. */
static inline Vec3 load_push(const LinkLoad* load) { return vec3(load->b[0][3], load->b[1][3], load->b[2][3]); }

/* At the centre of mass of the load's link, then of the other (L16). World axes. */
typedef struct {
  Vec3 force[2], torque[2]; /* N, N m */
} FieldWrench;
/* Returns the forces of a load with a field at time t [s] and poses[links]; forces on the world are unused. */
FieldWrench field_wrench(const Model* model, const ModelLoad* load, double t, const Pose* poses);

/* Value of a load's signal at time t; zero where there is none [N, N m]. Axes are those that the load is given in. */
Vec3 load_value(const Signal* signal, double t);
/* Rotation that a link has at the end of a step if it turns on as in the step before (L3). rate: dR/dt at the start,
 * for the first step. now, old: at the step's start and a step before. A rotation where both steps are as long; else,
 * and in the first step, nearly one. */
Mat3 load_rotation(const StepClock* clock, Mat3 now, Mat3 old, Mat3 rate);
/* For a scalar with derivative bar by it: adds its derivatives by what it is made of, entry by entry. Entry by entry of
 * 3x3 matrices; rate_bar only for the first step. */
void load_rotation_adjoint(const StepClock* clock, Mat3 now, Mat3 old, Mat3 bar, Mat3* now_bar, Mat3* old_bar,
                           Mat3* rate_bar);

/* lambda . dF/d(what the loads depend on besides the state at t + dt): poses before, signals, centres of mass (L4)
 * (simulate/loads_adjoint.c). motion: of every link by lambda, the change of [R | t] at t + dt  (links); rate_bar: by
 * dT/dt of the initial velocities  (links). Added to gradient too. */
void loads_adjoint(const Sim* sim, const double (*motion)[3][4], StateBar now, StateBar old, double (*rate_bar)[3][4],
                   ModelGradient* gradient);

#endif
