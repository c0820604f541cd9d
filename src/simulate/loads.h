/* Private to simulate/: forces and torques of loads on links (docs/derivations/loads.md). Sim.loads is NULL without
 * loads in the scene. */
#ifndef SDRS_SIMULATE_LOADS_H
#define SDRS_SIMULATE_LOADS_H

#include "simulate/signal_span.h"

/* Sum of all loads on a link in a step. The energy of the loads is minus the sum over all entries i, j of B_ij T_ij. T
 * = [R | t]: rotation matrix and position of the link. B is a 3x4 matrix, constant within the step (L1). A matrix B has
 * three columns of torques [N m], then the force [N]. */
typedef struct LinkLoad {
  bool any;
  bool in_target;    /* true: the target of the link's tree contains the loads at t, and the step's objective does not
                        (spin.md, W52). tree_flight_set_targets sets this member */
  double b[3][4];    /* the matrix B of the step's objective while in_target is false */
  double rest[3][4]; /* the matrix B of the step's objective while in_target is true (L21) */
  /* parts of the matrix B at a rotation matrix R of the link, B = fixed + [torque]x R / 2 + R turning (W52) */
  double fixed[3][4];   /* forces in world axes at their points */
  double turning[3][4]; /* loads in link axes */
  Vec3 torque;          /* torques in world axes [N m] */
} LinkLoad;

/* Force on a link and torque about its centre of mass, world axes [N, N m]. */
typedef struct {
  Vec3 force, torque;
} LinkWrench;

/* Returns zeroed loads (links), or NULL if the model has neither loads nor internal forces (L21). The caller frees them
 * with memory_free. */
LinkLoad* loads_create(const Sim* sim);
/* Sets Sim.loads of every link for the step of sim->clock, with in_target false. */
void loads_prepare_step(Sim* sim);
/* Adds the wrenches of internal forces to the loads of a link that can move (L21). start: contained in the target, if
 * the target contains loads; start_in_step: replaces `start` if the objective contains the loads; ahead: always
 * contained in the objective. */
void load_add_internal_wrenches(Sim* sim, int link, const LinkWrench* start, const LinkWrench* start_in_step,
                                const LinkWrench* ahead);
/* Returns true if the step's objective contains loads on the link. */
static inline bool load_acts_in_step(const Sim* sim, int link) {
  return sim->loads && sim->loads[link].any && (!sim->loads[link].in_target || sim->internal_forces);
}
/* Returns the matrix B of the loads in the step's objective, borrowed. */
static inline const double (*load_in_step(const LinkLoad* load))[4] { return load->in_target ? load->rest : load->b; }
/* Returns true if the target of the link's tree contains loads on the link. */
static inline bool load_is_in_target(const Sim* sim, int link) { return sim->loads && sim->loads[link].in_target; }
/* Sets out to the matrix B of the loads on a link with the rotation matrix r. */
void load_matrix(const LinkLoad* load, Mat3 r, double out[3][4]);
/* Returns the torque of the loads about the origin of the link's frame, world axes [N m]. b: matrix B; r: rotation
 * matrix of the link. */
Vec3 load_origin_torque(const double b[3][4], Mat3 r);
/* Returns the energy of the loads on a link, relative to the start of the step [J]. pose: present pose of the link;
 * now: its pose at the start of the step. */
static inline double load_energy(const LinkLoad* load, const Pose* pose, const Pose* now) {
  double sum = 0;
  const double(*b)[4] = load_in_step(load);
  const double t[3] = {pose->t.x - now->t.x, pose->t.y - now->t.y, pose->t.z - now->t.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) sum -= b[i][j] * (pose->r.m[i][j] - now->r.m[i][j]);
    sum -= b[i][3] * t[i];
  }
  return sum;
}
/* Adds the derivative of the load's energy with respect to translations, and the first moment of this derivative about
 * the centre of mass (L2), world axes [N, N m]. pose: pose of the link. The Hessian with respect to the link's own
 * twist is zero. */
void load_add_terms(const LinkLoad* load, const ModelLink* link, Pose pose, LinkTerms* terms);
/* Returns the magnitudes of a link's load: the force, and the torque about the centre of mass. They scale the tolerance
 * of residuals (step.md, S8). */
ForceMagnitudes load_force_magnitudes(const LinkLoad* load, const ModelLink* link, Pose pose);
/* Returns the force of a link's loads in the step's objective, world axes [N]. */
static inline Vec3 load_force(const LinkLoad* load) {
  const double(*b)[4] = load_in_step(load);
  return vec3(b[0][3], b[1][3], b[2][3]);
}

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

/* Load on a free body, with its lever arm and direction at t (L93). */
typedef struct {
  Vec3 own_force, own_torque;      /* means of the signals, axes of the load [N, N m] */
  Vec3 arm;                        /* vector from the centre of mass to the point of action, link frame [m] */
  Vec3 force, torque;              /* world axes; torque in addition to that of the force at `point` [N, N m] */
  Vec3 point;                      /* point of the link at whose pose at t + dt the force acts, link frame [m] */
  double late;                     /* fraction of the lever arm that belongs to t + dt, 0 to 1 */
  Vec3 late_by_force, late_by_arm; /* derivatives of `late` [1/N, 1/m] */
  Mat3 late_by_mobility;           /* derivative of `late` with respect to the inverse inertia tensor */
} LoadAtStart;
/* Returns a load on a link that integrates its angular momentum, with means over the span of time. */
LoadAtStart load_at_start(const Sim* sim, const ModelLoad* load, const StepSpan* span);

/* Adds the share of loads in lambda . dF/dx to now, old and gradient (L4, L93) (simulate/loads_adjoint.c). Loads that a
 * target contains are omitted. lambda: adjoint solution; F: equations of the step. x: earlier poses, signals, centres
 * of mass. motion (links): change of every link's rotation matrix and position [R | t] at t + dt by joint increments
 * lambda. rate_bar (links): receives derivatives with respect to the time derivatives of the poses at the start of the
 * run. */
void loads_adjoint(const Sim* sim, const double (*motion)[3][4], StateBar now, StateBar old, double (*rate_bar)[3][4],
                   ModelGradient* gradient);
/* Adds the derivatives of -sum B : motion over the links whose loads a target contains (W52). The derivatives are those
 * with respect to poses at t, at a constant motion, to now, and with respect to signals and centres of mass to
 * gradient. motion (links): change of [R | t] at t. */
void loads_target_adjoint(const Sim* sim, const double (*motion)[3][4], StateBar now, ModelGradient* gradient);

#endif
