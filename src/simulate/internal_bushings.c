/* Lever arms and directions of bushing forces at t (docs/derivations/loads.md, L24). */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "simulate/bushings.h"
#include "simulate/internal_forces.h"
#include "simulate/spin_adjoint.h"

/* Returns the rotation vector between both frames, with its derivatives with respect to small rotations of b. */
static RotationVector relative_rotation(const SceneBushing* b, const Pose* poses) {
  Mat3 relative = mat3_mul(mat3_transpose(bushing_frame(b, 0, poses).r), bushing_frame(b, 1, poses).r);
  return rotation_vector_derivatives(quat_from_mat3(relative));
}

/* One side of a bushing in the bound of the frequency (L24). */
typedef struct {
  double turning;      /* (|a|^2 tr M - a . M a) / |a| [1/(kg m)] */
  double inverse_mass; /* [1/kg] */
  double length;       /* |a| [m] */
  Vec3 arm;            /* a, from the centre of mass to the frame, link frame [m] */
  Mat3 offset;         /* |a|^2 1 - a a^T [m^2] */
  Mat3 mobility;       /* M, inverse inertia tensor about the frame's origin [1/(kg m^2)] */
} SideMobility;

static SideMobility side_mobility(const Model* m, const SceneBushing* b, int side) {
  SideMobility out = {.offset = mat3_zero(), .mobility = mat3_zero()};
  int index = b->link[side];
  if (index < 0 || m->links[index].tree < 0 || !(m->links[index].mass > 0)) return out;
  const ModelLink* link = &m->links[index];
  out.arm = vec3_sub(b->position[side], link->center);
  double square = vec3_dot(out.arm, out.arm);
  out.length = sqrt(square);
  out.inverse_mass = 1 / link->mass;
  out.offset = mat3_sub(mat3_scale(mat3_identity(), square), mat3_outer(out.arm, out.arm));
  Mat3 inertia = mat3_add(mass_moment_inertia_tensor(&link->moment), mat3_scale(out.offset, link->mass));
  out.mobility = mat3_inverse(inertia);
  if (out.length > 0)
    out.turning =
        (square * mat3_trace(out.mobility) - vec3_dot(out.arm, mat3_mul_vec(out.mobility, out.arm))) / out.length;
  return out;
}

/* Adds the derivatives of a scalar through one side. by_turning, by_length: derivatives with respect to the members;
 * by_mass: with respect to the link's mass. */
static void side_mobility_adjoint(const Sim* s, const SceneBushing* b, int side, double by_turning, double by_length,
                                  double by_mass, double* position_bar, ModelGradient* gradient) {
  SideMobility p = side_mobility(s->model, b, side);
  int index = b->link[side];
  if (!(p.inverse_mass > 0)) return;
  const ModelLink* link = &s->model->links[index];
  Vec3 by_arm = vec3(0, 0, 0);
  if (p.length > 0) {
    double by_numerator = by_turning / p.length;
    Mat3 by_mobility = mat3_scale(p.offset, by_numerator);
    Mat3 by_inertia = mat3_scale(mat3_mul(p.mobility, mat3_mul(by_mobility, p.mobility)), -1);
    Mat3 by_offset = mat3_add(mat3_scale(by_inertia, link->mass), mat3_scale(p.mobility, by_numerator));
    by_arm = vec3_sub(vec3_scale(p.arm, 2 * mat3_trace(by_offset)), vec3_scale(mat3_mul_vec(by_offset, p.arm), 2));
    by_arm = vec3_add_scaled(by_arm, (by_length - p.turning * by_numerator) / p.length, p.arm);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) by_mass += by_inertia.m[i][j] * p.offset.m[i][j];
    spin_adjoint_mobility(p.mobility, link, by_mobility, &gradient->moment[index]);
  }
  gradient->moment[index].s[3][3] += by_mass;
  vec3_store(vec3_add(vec3_at(position_bar), by_arm), position_bar);
  model_gradient_center(s->model, index, vec3_scale(by_arm, -1), gradient);
}

double bushing_frequency_bound(const Model* m, int k) {
  assert(k >= 0 && k < m->bushing_count);
  const SceneBushing* b = m->bushings[k].source;
  SideMobility side[2] = {side_mobility(m, b, 0), side_mobility(m, b, 1)};
  double length = side[0].length + side[1].length, mass = side[0].inverse_mass + side[1].inverse_mass;
  return length > 0 ? side[0].turning + side[1].turning + mass / length : (double)INFINITY;
}

BushingStart bushing_start(const Sim* s, int k) {
  assert(s->bushings && k >= 0 && k < s->model->bushing_count);
  const SceneBushing* b = s->model->bushings[k].source;
  BushingStart out = {.rotation = relative_rotation(b, s->pose_now)};
  double slope;
  bushing_times(b->stiffness, s->bushings->now[k], out.gradient);
  for (int i = 0; i < 6; i++) out.gradient[i] -= b->preload[i];
  memcpy(out.wrench, out.gradient, sizeof(double[3]));
  for (int i = 0; i < 3; i++) out.wrench[3 + i] = vec3_dot(vec3_at(out.rotation.first[i]), vec3_at(out.gradient + 3));
  double force = vec3_norm(vec3_at(out.wrench)), sum = s->internal_forces->bushing_bound[k];
  double time = s->clock.dt * s->clock.dt;
  if (!isfinite(sum) || s->bushings->meets_tendon[k] || !internal_forces_predict_rotations(&s->clock)) return out;
  out.fraction = 2 - 2 * spring_implicitness(force * sum * time, &slope);
  out.by_force = -2 * slope * sum * time;
  out.by_sum = -2 * slope * force * time;
  return out;
}

/* Adds the derivatives through the derivative of the rotation vector, first[i][j], by which the torque is J h.
 * by[i][j]: derivatives of a scalar with respect to first[i][j]. */
static void rotation_slope_adjoint(const Sim* s, const SceneBushing* b, const RotationVector* phi, double by[3][3],
                                   StateBar now) {
  double turn[3] = {0, 0, 0}; /* derivatives with respect to small rotations of b about its axes */
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < 3; j++) {
      /* Rotations about k and then j are rotations about j and then k, followed by one about their cross product. */
      Vec3 order = k > j ? vec3_cross(vec3_axis(k), vec3_axis(j)) : vec3(0, 0, 0);
      for (int i = 0; i < 3; i++)
        turn[k] += by[i][j] * (phi->second[i][j][k] + vec3_dot(vec3_at(phi->first[i]), order));
    }
  Mat3 half = mat3_scale(mat3_cross(mat3_mul_vec(bushing_frame(b, 1, s->pose_now).r, vec3_at(turn))), 0.5);
  for (int side = 0; side < 2; side++)
    if (b->link[side] >= 0)
      pose_matrix_add_rotation(now.pose[b->link[side]],
                               mat3_scale(mat3_mul(half, s->pose_now[b->link[side]].r), side == 0 ? -1 : 1));
}

void bushing_start_adjoint(const Sim* s, int k, const BushingStart* start, const double wrench_bar[6],
                           double by_fraction, StateBar now, ModelGradient* gradient) {
  assert(k >= 0 && k < s->model->bushing_count);
  const SceneBushing* b = s->model->bushings[k].source;
  double *numbers = gradient->bushings[k], by[6], by_u[6], by_first[3][3];
  double force = vec3_norm(vec3_at(start->wrench));
  for (int i = 0; i < 3; i++) {
    by[i] = wrench_bar[i] + (force > 0 ? by_fraction * start->by_force * start->wrench[i] / force : 0);
    by[3 + i] = 0;
    for (int j = 0; j < 3; j++) {
      by[3 + i] += start->rotation.first[j][i] * wrench_bar[3 + j];
      by_first[i][j] = wrench_bar[3 + i] * start->gradient[3 + j];
    }
  }
  for (int i = 0; i < 6; i++) {
    numbers[BUSHING_STIFFNESS + i] += s->bushings->now[k][i] * by[i];
    numbers[BUSHING_PRELOAD + i] -= by[i];
  }
  bushing_times(b->stiffness, by, by_u);
  bushing_displacement_adjoint(b, s->pose_now, by_u, now.pose, numbers);
  rotation_slope_adjoint(s, b, &start->rotation, by_first, now);
  double by_sum = by_fraction * start->by_sum;
  SideMobility side[2] = {side_mobility(s->model, b, 0), side_mobility(s->model, b, 1)};
  double length = side[0].length + side[1].length, mass = side[0].inverse_mass + side[1].inverse_mass;
  if (by_sum == 0 || !(length > 0)) return;
  for (int n = 0; n < 2; n++)
    side_mobility_adjoint(s, b, n, by_sum, -by_sum * mass / (length * length),
                          -by_sum * side[n].inverse_mass * side[n].inverse_mass / length,
                          numbers + (n == 0 ? BUSHING_POSITION_A : BUSHING_POSITION_B), gradient);
}

void bushing_add_wrenches(const Model* m, const SceneBushing* b, const Pose* poses, const double wrench[6],
                          double factor, LinkWrench* out) {
  Pose frame = bushing_frame(b, 0, poses);
  Vec3 at = bushing_frame(b, 1, poses).t, force = vec3_scale(mat3_mul_vec(frame.r, vec3_at(wrench)), factor),
       torque = vec3_scale(mat3_mul_vec(frame.r, vec3_at(wrench + 3)), factor);
  for (int side = 0; side < 2; side++) {
    int link = b->link[side];
    if (link < 0 || m->links[link].tree < 0) continue;
    double sign = side == 0 ? 1 : -1;
    Vec3 arm = vec3_sub(at, pose_apply(poses[link], m->links[link].center));
    out[link].force = vec3_add_scaled(out[link].force, sign, force);
    out[link].torque = vec3_add_scaled(out[link].torque, sign, vec3_add(torque, vec3_cross(arm, force)));
  }
}
