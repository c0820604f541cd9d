/* Spin of wheels in the targets of trees that conserve their momentum (docs/derivations/spin.md, W54). */
#include <assert.h>
#include <math.h>

#include "simulate/tree_flight.h"

int flight_wheel_dof(const Sim* s, int link) {
  assert(s->flight && link >= 0 && link < s->model->link_count);
  return s->model->links[link].dof_first + s->model->links[link].joint.slide_count;
}

/* Returns the wheel's moment of inertia about its axis [kg m^2]. */
static double axial_inertia(const ModelLink* wheel) {
  Vec3 axis = wheel->joint.axis[0];
  return vec3_dot(axis, mat3_mul_vec(mass_moment_inertia_tensor(&wheel->moment), axis));
}

/* Rotation of a wheel relative to its parent from t to the target, and from one step before t to t [rad]. */
typedef struct {
  double target, last;
} WheelRotation;

static WheelRotation wheel_rotation(const Sim* s, int link) {
  const TreeFlight* f = s->flight;
  int q = s->model->links[link].coordinate_first + s->model->links[link].joint.slide_count;
  return (WheelRotation){f->target_q[q] - s->q_now[q], f->factor * f->last_displacement[flight_wheel_dof(s, link)]};
}

double flight_wheel_residual(const Sim* s, int link) {
  WheelRotation d = wheel_rotation(s, link);
  return axial_inertia(&s->model->links[link]) * ((d.target - math_sin(d.target)) - (d.last - math_sin(d.last)));
}

double flight_wheel_stiffness(const Sim* s, int link) {
  return axial_inertia(&s->model->links[link]) * (1 - math_cos(wheel_rotation(s, link).target));
}

void flight_wheel_adjoint(const Sim* s, int link, double by, StateBar now, StateBar old, ModelGradient* gradient) {
  const ModelLink* wheel = &s->model->links[link];
  int dof = flight_wheel_dof(s, link);
  WheelRotation d = wheel_rotation(s, link);
  double inertia = by * axial_inertia(wheel), by_last = -inertia * (1 - math_cos(d.last)) * s->flight->factor;
  now.q[dof] -= inertia * (1 - math_cos(d.target));
  if (s->clock.dt_before > 0) {
    now.q[dof] += by_last;
    old.q[dof] -= by_last;
  } else {
    gradient->velocities[dof] += by_last;
  }
  double by_inertia = by * ((d.target - math_sin(d.target)) - (d.last - math_sin(d.last)));
  const double axis[3] = {wheel->joint.axis[0].x, wheel->joint.axis[0].y, wheel->joint.axis[0].z};
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) gradient->moment[link].s[r][c] += by_inertia * ((r == c) - axis[r] * axis[c]);
}
