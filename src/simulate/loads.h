/* Private to simulate/: forces and torques on links (docs/derivations/loads.md). Without loads in the scene Sim.loads
 * is NULL and nothing is computed. */
#ifndef SDRS_SIMULATE_LOADS_H
#define SDRS_SIMULATE_LOADS_H

#include "simulate/sim.h"

/* Sum of all loads on a link in a step. Their energy is -B : T, with T = [R | t] the link's pose and B constant within
 * the step (L1). */
typedef struct LinkLoad {
  bool any;
  double b[3][4]; /* [N m | N] */
} LinkLoad;

/* Returns zeroed loads (links), or NULL if the model has none. The caller frees them with memory_free. */
LinkLoad* loads_create(const Model* model);
/* Sets B of every link for the step of sim->clock. Call after step_prepare has set the aims. */
void loads_aim(Sim* sim);
/* Returns -B : (T - T^t) [J]: the energy relative to the pose at the start of the step. */
static inline double load_energy(const LinkLoad* load, const Pose* pose, const Pose* now) {
  double sum = 0;
  const double t[3] = {pose->t.x - now->t.x, pose->t.y - now->t.y, pose->t.z - now->t.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) sum -= load->b[i][j] * (pose->r.m[i][j] - now->r.m[i][j]);
    sum -= load->b[i][3] * t[i];
  }
  return sum;
}
/* Adds derivative and first moment about the centre of mass (L2), world axes [N, N m]; pose: of the link. The Hessian
 * with respect to the link's own twist is zero. */
void load_add_terms(const LinkLoad* load, const ModelLink* link, Pose pose, LinkTerms* terms);
/* Returns the magnitudes of force and of torque about the centre of mass; they enter the residual's scale (S8). */
WorkingForce load_at_work(const LinkLoad* load, const ModelLink* link, Pose pose);
/* Returns the total force, world axes [N]. */
static inline Vec3 load_push(const LinkLoad* load) { return vec3(load->b[0][3], load->b[1][3], load->b[2][3]); }

/* Force and torque by a field on the load's link (0) and on the other (1), about their centres of mass (L16). World
 * axes. */
typedef struct {
  Vec3 force[2], torque[2]; /* N, N m */
} FieldWrench;
/* Returns the forces of a load with a field at time t [s] and poses[links]; forces on the world are unused. */
FieldWrench field_wrench(const Model* model, const ModelLoad* load, double t, const Pose* poses);

/* Returns the value of a load's signal at time t, in the axes of the load; zero if the signal is absent [N, N m]. */
Vec3 load_value(const Signal* signal, double t);
/* Returns the predicted rotation of a link at the end of a step, if it continues to rotate as in the last step (L3).
 * now, old: at the start of the step and one step before; rate: dR/dt at the start, used in the first step. Exactly a
 * rotation for steps of equal length; otherwise, and in the first step, approximately. */
Mat3 load_rotation(const StepClock* clock, Mat3 now, Mat3 old, Mat3 rate);
/* For a scalar with derivative bar with respect to load_rotation: adds its derivatives with respect to now, old and
 * rate. All are elementwise (3x3); rate_bar only in the first step. */
void load_rotation_adjoint(const StepClock* clock, Mat3 now, Mat3 old, Mat3 bar, Mat3* now_bar, Mat3* old_bar,
                           Mat3* rate_bar);

/* Adds lambda . dF/d(everything that loads depend on besides the state at t + dt): earlier poses, signals, centres of
 * mass (L4), to now, old and gradient (simulate/loads_adjoint.c). motion (links): change of every link's [R | t] at t +
 * dt by lambda. rate_bar (links): receives derivatives with respect to dT/dt of the initial velocities. */
void loads_adjoint(const Sim* sim, const double (*motion)[3][4], StateBar now, StateBar old, double (*rate_bar)[3][4],
                   ModelGradient* gradient);

#endif
