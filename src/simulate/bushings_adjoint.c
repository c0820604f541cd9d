/* Adjoint of bushings (docs/derivations/loads.md, L19). Given the derivatives of a scalar with respect to the forces
 * and rates of bushings, computes the derivatives of the scalar with respect to earlier states and bushing
 * parameters. */
#include "simulate/bushings.h"

#include <assert.h>
#include <string.h>

static bool is_movable(const Model* m, int link) { return link >= 0 && m->links[link].tree >= 0; }

static void copy_twists(const Model* m, const int link[2], const double (*twist)[6], double both[12]) {
  memset(both, 0, sizeof(double[12]));
  for (int side = 0; side < 2; side++)
    if (is_movable(m, link[side])) memcpy(both + 6 * side, twist[link[side]], sizeof(double[6]));
}

void bushings_hessian_product(const BushingSystem* s, const double (*twist)[6], double (*wrench)[6]) {
  for (int k = 0; s && k < s->model->bushing_count; k++) {
    const int* link = s->model->bushings[k].source->link;
    double both[12];
    copy_twists(s->model, link, twist, both);
    for (int i = 0; i < 12; i++)
      for (int j = 0; link[i / 6] >= 0 && j < 12; j++) wrench[link[i / 6]][i % 6] += s->term[k].hessian[i][j] * both[j];
  }
}

/* Adds the derivatives of a scalar with respect to the positions of both frames to `numbers`. by[6]: derivatives of the
 * scalar with respect to the displacement u of frame b relative to frame a, at the poses `poses`. */
static void add_position_bars(const SceneBushing* b, const Pose* poses, const double by[6], double* numbers) {
  Vec3 by_position = mat3_mul_vec(mat3_from_quat(b->rotation[0]), vec3_at(by));
  Vec3 world = mat3_mul_vec(bushing_frame(b, 0, poses).r, vec3_at(by));
  if (b->link[1] >= 0) world = mat3_tmul_vec(poses[b->link[1]].r, world);
  vec3_store(vec3_sub(vec3_at(numbers + BUSHING_POSITION_A), by_position), numbers + BUSHING_POSITION_A);
  vec3_store(vec3_add(vec3_at(numbers + BUSHING_POSITION_B), world), numbers + BUSHING_POSITION_B);
}

void bushing_displacement_adjoint(const SceneBushing* b, const Pose* poses, const double by[6], double (*bar)[3][4],
                                  double numbers[BUSHING_NUMBERS]) {
  Pose at[2] = {bushing_frame(b, 0, poses), bushing_frame(b, 1, poses)};
  RotationVector phi = rotation_vector_derivatives(quat_from_mat3(mat3_mul(mat3_transpose(at[0].r), at[1].r)));
  Mat3 first;
  memcpy(first.m, phi.first, sizeof first.m);
  Vec3 force = mat3_mul_vec(at[0].r, vec3_at(by)),
       torque = mat3_mul_vec(at[1].r, mat3_tmul_vec(first, vec3_at(by + 3)));
  Vec3 by_position = mat3_mul_vec(mat3_from_quat(b->rotation[0]), vec3_at(by)), separation = vec3_sub(at[1].t, at[0].t);
  for (int side = 0; side < 2; side++) {
    int link = b->link[side];
    if (link < 0) continue;
    Vec3 energy_gradient = vec3_scale(force, side == 0 ? -1 : 1);
    Mat3 by_r = mat3_add(mat3_outer(energy_gradient, b->position[side]),
                         mat3_scale(mat3_mul(mat3_cross(torque), poses[link].r), side == 0 ? -0.5 : 0.5));
    if (side == 0) by_r = mat3_add(by_r, mat3_outer(separation, by_position));
    pose_matrix_add(bar[link], by_r, energy_gradient);
  }
  add_position_bars(b, poses, by, numbers);
}

/* Adds the derivatives of Phi = (force of bushing k) . (change of its displacement u by the twists lambda) to the
 * adjoints of the states and to the gradient. */
static void propagate_bushing(const Sim* sim, int k, const double (*twist)[6], StateBar now, StateBar old,
                              StateBar older, ModelGradient* gradient) {
  const BushingSystem* s = sim->bushings;
  const SceneBushing* b = s->model->bushings[k].source;
  const BushingTerm* t = &s->term[k];
  const Pose* poses = sim->configuration[sim->current].pose;
  const BushingTimeWeights* at = &s->at[k];
  double *numbers = gradient->bushings[k], both[12], change[6], u[6], place[6], pull[6], drag[6], by[4][6];
  copy_twists(s->model, b->link, twist, both);
  bushing_difference(b, poses, u);
  for (int i = 0; i < 6; i++) {
    change[i] = 0;
    for (int j = 0; j < 12; j++) change[i] += t->slope[i][j] * both[j];
    place[i] = at->ahead * u[i] + at->now * s->now[k][i] + at->old * s->old[k][i] + at->older * s->older[k][i];
    double rate = s->rate_now[k] * (u[i] - s->now[k][i]) - s->rate_old[k] * (s->now[k][i] - s->old[k][i]);
    numbers[BUSHING_STIFFNESS + i] += (1 - at->missing) * place[i] * change[i];
    numbers[BUSHING_DAMPING + i] += rate * change[i];
    numbers[BUSHING_PRELOAD + i] -= (1 - at->missing) * change[i];
  }
  BushingTimeWeights slope;
  (void)bushing_time_weights(sim, k, &slope);
  bushing_times(b->stiffness, change, pull);
  bushing_times(b->damping, change, drag);
  double by_theta = 0, by_damper = 0, before = sim->clock.dt_before;
  for (int i = 0; i < 6; i++) {
    double last = s->now[k][i] - s->old[k][i];
    double rate = sim->weights.rate_now * (u[i] - s->now[k][i]) - sim->weights.rate_old * last;
    if (before > 0) by_damper += drag[i] * (rate - last / before);
    double moved =
        slope.ahead * u[i] + slope.now * s->now[k][i] + slope.old * s->old[k][i] + slope.older * s->older[k][i];
    by_theta -= slope.missing * (place[i] * pull[i] - b->preload[i] * change[i]);
    pull[i] *= 1 - at->missing;
    by_theta += moved * pull[i];
    by[0][i] = at->ahead * pull[i] + s->rate_now[k] * drag[i];
    by[1][i] = at->now * pull[i] - (s->rate_now[k] + s->rate_old[k]) * drag[i];
    by[2][i] = at->old * pull[i] + s->rate_old[k] * drag[i];
    by[3][i] = at->older * pull[i];
  }
  gradient->thetas[model_theta_index(s->model, THETA_BUSHING_SPRING, k)] += by_theta;
  gradient->thetas[model_theta_index(s->model, THETA_BUSHING_DAMPER, k)] += by_damper;
  add_position_bars(b, poses, by[0], numbers);
  bushing_displacement_adjoint(b, sim->pose_now, by[1], now.pose, numbers);
  bushing_displacement_adjoint(b, sim->pose_old, by[2], old.pose, numbers);
  if (at->older != 0) bushing_displacement_adjoint(b, sim->pose_older, by[3], older.pose, numbers);
  /* derivative of Phi with respect to the position of b's frame on link b. The position rotates with b, and the
   * displacement u is measured in the axes of a */
  Vec3 turn = vec3_sub(vec3_at(both + 6), vec3_at(both)), by_b = vec3_cross(t->force[1], turn);
  if (b->link[1] >= 0) by_b = mat3_tmul_vec(poses[b->link[1]].r, by_b);
  vec3_store(vec3_add(vec3_at(numbers + BUSHING_POSITION_B), by_b), numbers + BUSHING_POSITION_B);
}

void bushings_adjoint(const Sim* sim, const double (*twist)[6], StateBar now, StateBar old, StateBar older,
                      ModelGradient* gradient) {
  for (int k = 0; sim->bushings && k < sim->model->bushing_count; k++)
    propagate_bushing(sim, k, twist, now, old, older, gradient);
}

/* Rotation r of a link, time derivative dr of this rotation, and velocity dt of the link's origin. For the world:
 * identity and zeros. */
typedef struct {
  Mat3 r, dr;
  Vec3 dt;
} LinkAndRates;

static LinkAndRates link_and_rates(int link, const Pose* poses, const double (*motion)[3][4]) {
  LinkAndRates out = {mat3_identity(), mat3_zero(), vec3(0, 0, 0)};
  if (link < 0) return out;
  out.r = poses[link].r;
  for (int n = 0; n < 9; n++) out.dr.m[n / 3][n % 3] = motion[link][n / 3][n % 3];
  out.dt = vec3(motion[link][0][3], motion[link][1][3], motion[link][2][3]);
  return out;
}

/* Adds the derivatives of a translation rate, the time derivative of a component of d in a's axes, with respect to
 * poses, their rates and the positions of both frames. d: vector from the origin of a's frame to the origin of b's
 * frame. */
static void propagate_translation_rate(const SceneBushing* b, const LinkAndRates at[2], Vec3 d, Vec3 axis,
                                       double (*pose_bar)[3][4], double (*motion_bar)[3][4], double* numbers) {
  Vec3 by_d = mat3_mul_vec(at[0].dr, axis), by_rate = mat3_mul_vec(at[0].r, axis), change = vec3(0, 0, 0);
  for (int side = 0; side < 2; side++) {
    double sign = side == 0 ? -1 : 1, *position_bar = numbers + (side == 0 ? BUSHING_POSITION_A : BUSHING_POSITION_B);
    Vec3 x = b->position[side], moved = vec3_add(mat3_mul_vec(at[side].dr, x), at[side].dt);
    change = vec3_add_scaled(change, sign, moved);
    Vec3 by = vec3_add(mat3_tmul_vec(at[side].r, by_d), mat3_tmul_vec(at[side].dr, by_rate));
    vec3_store(vec3_add_scaled(vec3_at(position_bar), sign, by), position_bar);
    if (b->link[side] < 0) continue;
    pose_matrix_add(pose_bar[b->link[side]], mat3_scale(mat3_outer(by_d, x), sign), vec3_scale(by_d, sign));
    pose_matrix_add(motion_bar[b->link[side]], mat3_scale(mat3_outer(by_rate, x), sign), vec3_scale(by_rate, sign));
  }
  pose_matrix_add(motion_bar[b->link[0]], mat3_outer(d, axis), vec3(0, 0, 0));
  pose_matrix_add(pose_bar[b->link[0]], mat3_outer(change, axis), vec3(0, 0, 0));
}

/* Adds the derivatives of a rotation rate with respect to poses and their rates. The rate is the component of the
 * relative angular velocity of links a and b along an axis of the frame on a. */
static void propagate_rotation_rate(const SceneBushing* b, const LinkAndRates at[2], Vec3 axis,
                                    double (*pose_bar)[3][4], double (*motion_bar)[3][4]) {
  Vec3 relative_rate = vec3(0, 0, 0);
  Mat3 half = mat3_scale(mat3_cross(mat3_mul_vec(at[0].r, axis)), 0.5);
  for (int side = 0; side < 2; side++) {
    double sign = side == 0 ? -1 : 1;
    Mat3 spin = mat3_mul(at[side].dr, mat3_transpose(at[side].r));
    relative_rate =
        vec3_add_scaled(relative_rate, 0.5 * sign,
                        vec3(spin.m[2][1] - spin.m[1][2], spin.m[0][2] - spin.m[2][0], spin.m[1][0] - spin.m[0][1]));
    if (b->link[side] < 0) continue;
    pose_matrix_add(motion_bar[b->link[side]], mat3_scale(mat3_mul(half, at[side].r), sign), vec3(0, 0, 0));
    pose_matrix_add(pose_bar[b->link[side]], mat3_scale(mat3_mul(half, at[side].dr), -sign), vec3(0, 0, 0));
  }
  pose_matrix_add(pose_bar[b->link[0]], mat3_outer(relative_rate, axis), vec3(0, 0, 0));
}

void bushing_rates(const SceneBushing* b, const Pose* poses, const double (*motion)[3][4], double rates[6]) {
  LinkAndRates at[2] = {link_and_rates(b->link[0], poses, motion), link_and_rates(b->link[1], poses, motion)};
  Mat3 axes = mat3_from_quat(b->rotation[0]);
  Vec3 d = vec3_sub(bushing_frame(b, 1, poses).t, bushing_frame(b, 0, poses).t), moved[2], spin[2];
  for (int side = 0; side < 2; side++) {
    moved[side] = vec3_add(mat3_mul_vec(at[side].dr, b->position[side]), at[side].dt);
    spin[side] = vec3_scale(mat3_axial(mat3_mul(at[side].dr, mat3_transpose(at[side].r))), 0.5);
  }
  Vec3 change = vec3_add(mat3_tmul_vec(at[0].dr, d), mat3_tmul_vec(at[0].r, vec3_sub(moved[1], moved[0])));
  vec3_store(mat3_tmul_vec(axes, change), rates);
  vec3_store(mat3_tmul_vec(axes, mat3_tmul_vec(at[0].r, vec3_sub(spin[1], spin[0]))), rates + 3);
}

void bushing_rate_adjoint(const SceneBushing* b, int direction, const Pose* poses, const double (*motion)[3][4],
                          double factor, double (*pose_bar)[3][4], double (*motion_bar)[3][4],
                          double numbers[BUSHING_NUMBERS]) {
  assert(direction >= 0 && direction < 6);
  LinkAndRates at[2] = {link_and_rates(b->link[0], poses, motion), link_and_rates(b->link[1], poses, motion)};
  Vec3 axis = vec3_scale(mat3_mul_vec(mat3_from_quat(b->rotation[0]), vec3_axis(direction)), factor);
  Vec3 d = vec3_sub(bushing_frame(b, 1, poses).t, bushing_frame(b, 0, poses).t);
  if (direction < 3)
    propagate_translation_rate(b, at, d, axis, pose_bar, motion_bar, numbers);
  else
    propagate_rotation_rate(b, at, axis, pose_bar, motion_bar);
}
