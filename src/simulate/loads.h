/* Private to simulate/: forces and torques of loads on links (docs/derivations/loads.md). Sim.loads is NULL without
 * loads in the scene. */
#ifndef SDRS_SIMULATE_LOADS_H
#define SDRS_SIMULATE_LOADS_H

#include "simulate/signal_span.h"

/* Sum of all loads on a link in a step. The energy of the loads is minus the sum over all entries i, j of B_ij T_ij. T
 * = [R | t]: rotation matrix and position of the link. B is a 3x4 matrix, constant within the step (L1). */
typedef struct LinkLoad {
  bool any;
  double b[3][4]; /* the matrix B: three columns of torques [N m], then the force [N] */
} LinkLoad;

/* Returns zeroed loads (links), or NULL if the model has none. The caller frees them with memory_free. */
LinkLoad* loads_create(const Model* model);
/* Sets LinkLoad.b of every link for the step of sim->clock. Call after step_prepare has set the targets. */
void loads_prepare_step(Sim* sim);
/* Returns the energy of the loads on a link, relative to the start of the step [J]. pose: present pose of the link;
 * now: its pose at the start of the step. */
static inline double load_energy(const LinkLoad* load, const Pose* pose, const Pose* now) {
  double sum = 0;
  const double t[3] = {pose->t.x - now->t.x, pose->t.y - now->t.y, pose->t.z - now->t.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) sum -= load->b[i][j] * (pose->r.m[i][j] - now->r.m[i][j]);
    sum -= load->b[i][3] * t[i];
  }
  return sum;
}
/* Adds the derivative of the load's energy with respect to translations, and the first moment of this derivative about
 * the centre of mass (L2), world axes [N, N m]. pose: pose of the link. The Hessian with respect to the link's own
 * twist is zero. */
void load_add_terms(const LinkLoad* load, const ModelLink* link, Pose pose, LinkTerms* terms);
/* Returns the magnitudes of a link's load: the force, and the torque about the centre of mass. They scale the tolerance
 * of residuals (S8). */
ForceMagnitudes load_force_magnitudes(const LinkLoad* load, const ModelLink* link, Pose pose);
static inline Vec3 load_force(const LinkLoad* load) { return vec3(load->b[0][3], load->b[1][3], load->b[2][3]); }

/* Force and torque of a field (attraction of points, dipoles, or a uniform field) between two links. Entry [0] acts on
 * the load's link, entry [1] on the other link; about their centres of mass, world axes (L16). */
typedef struct {
  Vec3 force[2], torque[2]; /* force [N] and torque [N m] on both links */
} FieldWrench;
/* Returns the forces of a load with a field at poses[links], with the mean strength over the span of time. Forces on
 * the world are not used. */
FieldWrench field_wrench(const Model* model, const ModelLoad* load, const StepSpan* span, const Pose* poses);

/* Returns the mean of a load's signal over the span of time, in the axes of the load; zero if the signal is absent [N,
 * N m]. */
Vec3 load_value(const Signal* signal, const StepSpan* span);
/* Returns the predicted rotation of a link at the end of a step (L3). The link continues to rotate as in the last step.
 * now, old: rotations at the start of the step and one step before; rate: time derivative of the rotation matrix at the
 * start, used in the first step. The result is an exact rotation for steps of equal length, otherwise and in the first
 * step an approximation. */
Mat3 load_rotation(const StepClock* clock, Mat3 now, Mat3 old, Mat3 rate);
/* Adds the derivatives of a scalar of load_rotation with respect to now, old and rate. bar: derivative of the scalar
 * with respect to the result of load_rotation. All derivatives are with respect to the single entries of 3x3 matrices.
 * rate_bar is set only in the first step. */
void load_rotation_adjoint(const StepClock* clock, Mat3 now, Mat3 old, Mat3 bar, Mat3* now_bar, Mat3* old_bar,
                           Mat3* rate_bar);

/* Adds the loads' share of lambda . dF/dx to now, old and gradient (L4) (simulate/loads_adjoint.c). lambda: adjoint
 * solution; F: equations of the step. x: earlier poses, signals, centres of mass. motion (links): change of every
 * link's rotation matrix and position [R | t] at t + dt by joint increments lambda. rate_bar (links): receives
 * derivatives with respect to the time derivatives of the poses at the start of the run. */
void loads_adjoint(const Sim* sim, const double (*motion)[3][4], StateBar now, StateBar old, double (*rate_bar)[3][4],
                   ModelGradient* gradient);

#endif
