/* Adjoint of the time step of bodies that integrate their angular momentum (docs/derivations/spin.md, W8-W9). */
#include "simulate/spin_adjoint.h"

#include <assert.h>
#include <string.h>

#include "simulate/free_rotation.h"

struct SpinAdjoint {
  const Model* model;
  Vec3* momentum_bar;        /* derivatives of the scalar with respect to the angular momenta at t + dt; after
                                spin_adjoint_target, with respect to those at t (size: links) */
  Mat3* target_rotation_bar; /* derivatives with respect to the entries of the target's rotation (size: links) */
  Vec3* pair_force_bar;      /* derivatives with respect to the force of each pair on the first link of the pair (size:
                                capacity) */
  ContactWork* work_bar;     /* derivatives with respect to the members of ContactWork of each pair (size: capacity) */
  int capacity;
  bool has_pair_force_bars; /* true: `pair_force_bar` belongs to the present step */
};

SpinAdjoint* spin_adjoint_create(const Sim* sim) {
  if (!sim->spin_bodies) return NULL;
  SpinAdjoint* a = MEMORY_NEW(SpinAdjoint, 1);
  a->model = sim->model;
  a->momentum_bar = MEMORY_NEW(Vec3, sim->model->link_count);
  a->target_rotation_bar = MEMORY_NEW(Mat3, sim->model->link_count);
  return a;
}

void spin_adjoint_destroy(SpinAdjoint* a) {
  if (!a) return;
  memory_free(a->momentum_bar);
  memory_free(a->target_rotation_bar);
  memory_free(a->pair_force_bar);
  memory_free(a->work_bar);
  memory_free(a);
}

void spin_adjoint_begin(SpinAdjoint* a) {
  if (!a) return;
  memset(a->momentum_bar, 0, sizeof(Vec3) * (size_t)a->model->link_count);
  memset(a->target_rotation_bar, 0, sizeof(Mat3) * (size_t)a->model->link_count);
  a->has_pair_force_bars = false;
}

void spin_adjoint_seed(SpinAdjoint* a, int link, int axis) {
  assert(link >= 0 && link < a->model->link_count && axis >= 0 && axis < 3);
  spin_adjoint_begin(a);
  a->momentum_bar[link] = vec3(axis == 0, axis == 1, axis == 2);
}

void spin_adjoint_add_product(const SpinAdjoint* a, const double* sensitivity, int columns, double* row) {
  assert(columns >= 0);
  for (int i = 0; a && i < a->model->link_count; i++) {
    double by[3];
    vec3_store(a->momentum_bar[i], by);
    for (int k = 0; k < 3; k++)
      for (int j = 0; by[k] != 0 && j < columns; j++)
        row[j] += by[k] * sensitivity[((size_t)i * 3 + (size_t)k) * (size_t)columns + (size_t)j];
  }
}

void spin_adjoint_discount(SpinAdjoint* a, double factor) {
  for (int i = 0; a && i < a->model->link_count; i++) a->momentum_bar[i] = vec3_scale(a->momentum_bar[i], factor);
}

void spin_adjoint_move_momentum_bars(SpinAdjoint* adjoint, Vec3* aside) {
  if (adjoint) memcpy(aside, adjoint->momentum_bar, sizeof(Vec3) * (size_t)adjoint->model->link_count);
  spin_adjoint_begin(adjoint);
}

void spin_adjoint_add_momentum_bars(SpinAdjoint* adjoint, const Vec3* aside) {
  for (int i = 0; adjoint && i < adjoint->model->link_count; i++)
    adjoint->momentum_bar[i] = vec3_add(adjoint->momentum_bar[i], aside[i]);
}

const Vec3* spin_adjoint_pairs(const SpinAdjoint* a) { return a && a->has_pair_force_bars ? a->pair_force_bar : NULL; }

const ContactWork* spin_adjoint_work_bars(const SpinAdjoint* a) {
  return a && a->has_pair_force_bars ? a->work_bar : NULL;
}

/* Converts bar, the derivative of a scalar with respect to the second moment of the mass about the centre of mass. Adds
 * the derivative with respect to the second moment about the frame origin to out. */
static void add_central_moment_bar(const ModelLink* link, Mat3 bar, MassMoment* out) {
  Vec3 x = link->center, column = vec3_add(mat3_mul_vec(bar, x), mat3_tmul_vec(bar, x));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out->s[i][j] += bar.m[i][j];
  out->s[0][3] -= column.x;
  out->s[1][3] -= column.y;
  out->s[2][3] -= column.z;
  out->s[3][3] += 0.5 * vec3_dot(x, column);
}

/* Converts bar, the derivative of a scalar with respect to the inertia tensor about the centre of mass, into its
 * derivative with respect to the second moment of the mass about the frame origin, and adds the result to out. */
static void add_inertia_bar(const ModelLink* link, Mat3 bar, MassMoment* out) {
  add_central_moment_bar(link, mat3_sub(mat3_scale(mat3_identity(), mat3_trace(bar)), bar), out);
}

void spin_adjoint_mobility(Mat3 mobility, const ModelLink* link, Mat3 bar, MassMoment* out) {
  add_inertia_bar(link, mat3_scale(mat3_mul(mobility, mat3_mul(bar, mobility)), -1.0), out);
}

/* Adds the contribution of the angular velocity of link i, which follows from its angular momentum, to the derivatives
 * of a scalar. rate: derivatives of the scalar with respect to this angular velocity, link axes. */
static void angular_velocity_adjoint(SpinAdjoint* a, const SpinBody* spin_body, int i, Pose pose, Vec3 momentum,
                                     Vec3 rate, StateBar next, ModelGradient* gradient) {
  Vec3 local = mat3_mul_vec(spin_body->mobility, rate);
  a->momentum_bar[i] = vec3_add(a->momentum_bar[i], mat3_mul_vec(pose.r, local));
  pose_matrix_add_rotation(next.pose[i], mat3_outer(momentum, local));
  spin_adjoint_mobility(spin_body->mobility, &a->model->links[i], mat3_outer(rate, mat3_tmul_vec(pose.r, momentum)),
                        &gradient->moment[i]);
}

/* Adds the contribution of the momentum update of link i to the derivatives of a scalar with respect to poses, target
 * and masses. The update adds axial(K) / dt to the angular momentum, K = (R - R^) S_c R^^T. R, R^: rotation matrices of
 * the link at t + dt and of its target; S_c: second moment of the mass about the centre of mass. */
static void momentum_update_adjoint(SpinAdjoint* a, const Sim* s, int i, Pose pose, StateBar next,
                                    ModelGradient* gradient) {
  const SpinBody* spin_body = &s->spin_bodies[i];
  Mat3 to = s->target[i].r, apart = mat3_sub(pose.r, to);
  Mat3 bar = mat3_scale(mat3_cross(a->momentum_bar[i]), 1 / s->clock.dt);
  Mat3 by_apart = mat3_mul(bar, mat3_mul(to, spin_body->second));
  pose_matrix_add_rotation(next.pose[i], by_apart);
  a->target_rotation_bar[i] = mat3_sub(mat3_mul(mat3_transpose(bar), mat3_mul(apart, spin_body->second)), by_apart);
  add_central_moment_bar(&a->model->links[i], mat3_mul(mat3_transpose(apart), mat3_mul(bar, to)), &gradient->moment[i]);
}

/* Converts bar, the derivative of a scalar with respect to a link's centre of mass in world axes, into its derivatives
 * with respect to the link's pose and masses, and adds these to pose_bar and to the gradient. */
static void add_center_bar(const Model* m, int link, Mat3 r, Vec3 bar, double pose_bar[3][4], ModelGradient* gradient) {
  pose_matrix_add_rotation(pose_bar, mat3_outer(bar, m->links[link].center));
  pose_bar[0][3] += bar.x;
  pose_bar[1][3] += bar.y;
  pose_bar[2][3] += bar.z;
  model_gradient_center(m, link, mat3_tmul_vec(r, bar), gradient);
}

/* Adds the derivatives of a scalar through the exchange of angular momentum between links a and b of a pair (W6).
 * Returns the derivative of the scalar with respect to the force on a. */
static Vec3 exchange_adjoint(SpinAdjoint* a, const Sim* s, const RecordedStep* step, ContactTerms t, StateBar next,
                             StateBar now, ModelGradient* gradient) {
  const Model* m = a->model;
  SpinExchange e = spin_exchange(m, s->spin_bodies, t.link_a, t.link_b, step->pose_now, step->pose_next);
  if (!e.is_exchanged) return vec3(0, 0, 0);
  double dt = spin_force_time(s), mass = m->links[t.link_a].mass + m->links[t.link_b].mass;
  Vec3 f = vec3_scale(t.force[0], -1.0);
  Vec3 sum = vec3_scale(a->momentum_bar[t.link_a], dt * e.share[0]);
  sum = vec3_add_scaled(sum, dt * e.share[1], a->momentum_bar[t.link_b]);
  double by_share = !e.by_mass ? 0
                               : dt * vec3_dot(vec3_cross(e.displacement, f),
                                               vec3_sub(a->momentum_bar[t.link_a], a->momentum_bar[t.link_b]));
  gradient->moment[t.link_a].s[3][3] += by_share * e.share[1] / mass;
  gradient->moment[t.link_b].s[3][3] -= by_share * e.share[0] / mass;
  Vec3 by_way = vec3_cross(f, sum), back = vec3_scale(by_way, -1.0);
  add_center_bar(m, t.link_a, step->pose_next[t.link_a].r, by_way, next.pose[t.link_a], gradient);
  add_center_bar(m, t.link_a, step->pose_now[t.link_a].r, back, now.pose[t.link_a], gradient);
  add_center_bar(m, t.link_b, step->pose_next[t.link_b].r, back, next.pose[t.link_b], gradient);
  add_center_bar(m, t.link_b, step->pose_now[t.link_b].r, by_way, now.pose[t.link_b], gradient);
  return vec3_cross(sum, e.displacement);
}

/* Returns the correction of the lever arms of pair `index` in the recorded step, with link -1 if it has none. Sets
 * *work to the ContactWork of the pair. */
static SpinCorrection recorded_correction(const Sim* s, const RecordedStep* step, ContactTermList contact, int index,
                                          ContactTerms t, ContactWork* work) {
  int side = spin_corrected_side(s, t);
  if (side < 0 || !contact_replay_work(contact.holder, index, work)) return (SpinCorrection){.link = -1, .partner = -1};
  return spin_correction(s, side, t, work, step->pose_now, step->pose_next);
}

/* Adds the contribution of the centre of mass, about which the torque of a pair acts, to *gradient. by_torque:
 * derivative of a scalar with respect to the torque. force: normal force. r: rotation matrix of the link. */
static void add_torque_center_bar(const Model* m, int link, Mat3 r, Vec3 by_torque, Vec3 force,
                                  ModelGradient* gradient) {
  model_gradient_center(m, link, mat3_tmul_vec(r, vec3_cross(by_torque, force)), gradient);
}

/* Adds the derivatives of a scalar through the lever arms at t of a pair (W21). Adds the derivative with respect to the
 * force on the first link to *pair_force_bar. Returns the derivatives with respect to the members of ContactWork. */
static ContactWork arm_adjoint(SpinAdjoint* a, const Sim* s, const RecordedStep* step, const SpinCorrection* c,
                               const ContactWork* work, StateBar next, StateBar now, Vec3* pair_force_bar,
                               ModelGradient* gradient) {
  int link = c->link, side = c->side;
  Vec3 by = a->momentum_bar[link];
  if (c->partner >= 0) by = vec3_sub(by, a->momentum_bar[c->partner]);
  const SpinArmBody body = spin_arm_body(s, link);
  SpinArmBar bar = spin_arm_reverse(&c->arm, body, work, by);
  const Mat3 turn[2] = {step->pose_now[link].r, step->pose_next[link].r};
  Vec3 by_offset = {0, 0, 0};
  for (int k = 0; k < 2; k++) {
    double(*pose)[4] = k == 0 ? now.pose[link] : next.pose[link];
    pose_matrix_add_rotation(pose, mat3_outer(bar.axis[k], body.axis));
    pose_matrix_add_rotation(pose, mat3_outer(bar.offset[k], body.offset));
    by_offset = vec3_add(by_offset, mat3_tmul_vec(turn[k], bar.offset[k]));
  }
  bool is_offset = !vec3_is_zero(body.offset); /* the offset of a rolling body is a constant 0 */
  Vec3 by_center = vec3_scale(body.axis, bar.center + (is_offset ? vec3_dot(body.axis, by_offset) : 0));
  if (is_offset) by_center = vec3_sub(by_center, by_offset);
  model_gradient_center(a->model, link, by_center, gradient);
  *pair_force_bar = vec3_add_scaled(*pair_force_bar, side == 0 ? 1 : -1, vec3_add(bar.friction, bar.total));
  add_torque_center_bar(a->model, link, step->pose_next[link].r, bar.work.torque[side], work->force[side], gradient);
  return bar.work;
}

/* Adds the derivatives of a scalar through the change of angular momentum that removes the energy of a pair (W20).
 * Returns the derivatives with respect to the members of ContactWork. */
static ContactWork excess_adjoint(SpinAdjoint* a, const RecordedStep* step, const SpinCorrection* c,
                                  const ContactWork* work, StateBar next, StateBar now, ModelGradient* gradient) {
  const Model* m = a->model;
  const SpinExcess e = c->excess;
  int link = c->link, side = c->side;
  ContactWork bar = {.stored = 0};
  Vec3 by = a->momentum_bar[link];
  bar.stored = e.factor * vec3_dot(by, e.rotation); /* derivative with respect to the energy */
  bar.force[side] = vec3_scale(e.displacement, bar.stored);
  bar.torque[side] = vec3_scale(e.rotation, bar.stored);
  Vec3 by_displacement = vec3_scale(work->force[side], bar.stored);
  Vec3 by_rotation = vec3_add_scaled(vec3_scale(work->torque[side], bar.stored), e.factor * e.energy, by);
  by_rotation = vec3_add_scaled(by_rotation, -2 * bar.stored * e.energy / vec3_dot(e.rotation, e.rotation), e.rotation);
  Mat3 r_now = step->pose_now[link].r, r_next = step->pose_next[link].r;
  Mat3 by_product = mat3_scale(mat3_cross(by_rotation), 0.5); /* derivative with respect to R+ R_t^T */
  pose_matrix_add_rotation(next.pose[link], mat3_mul(by_product, r_now));
  pose_matrix_add_rotation(now.pose[link], mat3_mul(mat3_transpose(by_product), r_next));
  add_center_bar(m, link, r_next, by_displacement, next.pose[link], gradient);
  add_center_bar(m, link, r_now, vec3_scale(by_displacement, -1), now.pose[link], gradient);
  add_torque_center_bar(m, link, r_next, bar.torque[side], work->force[side], gradient);
  return bar;
}

static void reserve_pairs(SpinAdjoint* a, int count) {
  if (count <= a->capacity) return;
  memory_free(a->pair_force_bar);
  memory_free(a->work_bar);
  a->capacity = count + count / 2 + 16;
  a->work_bar = MEMORY_NEW(ContactWork, a->capacity);
  a->pair_force_bar = MEMORY_NEW(Vec3, a->capacity);
}

void spin_adjoint_advance(SpinAdjoint* a, Sim* s, const RecordedStep* step, const double* rate, ContactTermList contact,
                          StateBar next, StateBar now, ModelGradient* gradient) {
  if (!a) return;
  for (int i = 0; i < a->model->link_count; i++) {
    if (!s->spin_bodies[i].spins) continue;
    Vec3 w = joint_free_angular_velocity(&a->model->links[i].joint, rate + a->model->links[i].dof_first);
    Pose pose = step->pose_next[i];
    angular_velocity_adjoint(a, &s->spin_bodies[i], i, pose, step->momentum_next[i], w, next, gradient);
    momentum_update_adjoint(a, s, i, pose, next, gradient);
  }
  int count = contact.holder ? contact.count(contact.holder) : 0;
  reserve_pairs(a, count);
  a->has_pair_force_bars = true;
  spin_compute_residual_forces(s, contact);
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact.at(contact.holder, k);
    a->pair_force_bar[k] = exchange_adjoint(a, s, step, t, next, now, gradient);
    ContactWork work;
    SpinCorrection c = recorded_correction(s, step, contact, k, t, &work);
    a->work_bar[k] = (ContactWork){.stored = 0};
    if (c.arm.acts) a->work_bar[k] = arm_adjoint(a, s, step, &c, &work, next, now, &a->pair_force_bar[k], gradient);
    if (c.excess.is_removed) a->work_bar[k] = excess_adjoint(a, step, &c, &work, next, now, gradient);
  }
}

/* Returns the total derivative of a scalar with respect to the angular momentum of link i at t + dt: the stored
 * derivative plus the derivative through the rates. */
static Vec3 momentum_bar(const SpinAdjoint* a, const Sim* s, const RecordedStep* step, const double* rate, int i) {
  Vec3 w = joint_free_angular_velocity(&a->model->links[i].joint, rate + a->model->links[i].dof_first);
  Vec3 local = mat3_mul_vec(s->spin_bodies[i].mobility, w);
  return vec3_add(a->momentum_bar[i], mat3_mul_vec(step->pose_next[i].r, local));
}

double spin_adjoint_momentum_product(const SpinAdjoint* a, Sim* s, const RecordedStep* step, const double* rate,
                                     ContactTermList contact) {
  double sum = 0;
  if (!a) return sum;
  for (int i = 0; i < a->model->link_count; i++) {
    const SpinBody* spin_body = &s->spin_bodies[i];
    if (!spin_body->spins) continue;
    Mat3 apart = mat3_sub(step->pose_next[i].r, s->target[i].r);
    Vec3 turn = mat3_axial(mat3_mul(apart, mat3_mul(spin_body->second, mat3_transpose(s->target[i].r))));
    sum += vec3_dot(momentum_bar(a, s, step, rate, i), turn) / s->clock.dt;
  }
  int count = contact.holder ? contact.count(contact.holder) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact.at(contact.holder, k);
    ContactWork work;
    SpinCorrection c = recorded_correction(s, step, contact, k, t, &work);
    if (c.link >= 0) sum += vec3_dot(momentum_bar(a, s, step, rate, c.link), c.momentum_change);
    if (c.link >= 0 && c.partner >= 0) sum -= vec3_dot(momentum_bar(a, s, step, rate, c.partner), c.momentum_change);
    SpinExchange e = spin_exchange(a->model, s->spin_bodies, t.link_a, t.link_b, step->pose_now, step->pose_next);
    if (!e.is_exchanged) continue;
    Vec3 turn = vec3_scale(vec3_cross(e.displacement, t.force[0]), -spin_force_time(s));
    sum += e.share[0] * vec3_dot(momentum_bar(a, s, step, rate, t.link_a), turn);
    sum += e.share[1] * vec3_dot(momentum_bar(a, s, step, rate, t.link_b), turn);
  }
  return sum;
}

void spin_adjoint_target(SpinAdjoint* a, const Sim* s, int link, double target_bar[3][4], StateBar now,
                         ModelGradient* gradient) {
  assert(link >= 0 && link < s->model->link_count);
  if (!a || !s->spin_bodies[link].spins) return;
  const SpinBody* spin_body = &s->spin_bodies[link];
  const ModelLink* body = &a->model->links[link];
  Mat3 r = s->pose_now[link].r, to = s->target[link].r, bar = a->target_rotation_bar[link];
  Vec3 place = vec3(target_bar[0][3], target_bar[1][3], target_bar[2][3]);
  for (int row = 0; row < 3; row++)
    for (int k = 0; k < 3; k++) bar.m[row][k] += target_bar[row][k];

  /* target of the frame's origin: t^ = c^ - R^ X_c, with the affine extrapolation c^ of the centre of mass */
  bar = mat3_sub(bar, mat3_outer(place, body->center));
  Vec3 by_center = vec3_sub(mat3_tmul_vec(spin_body->drift, place), mat3_tmul_vec(to, place));
  model_gradient_center(a->model, link, by_center, gradient);
  Mat3 affine = mat3_outer(place, body->center);
  for (int row = 0; row < 3; row++)
    for (int k = 0; k < 3; k++) target_bar[row][k] = affine.m[row][k];

  /* target rotation: R^ = R turn(p), with the torque-free rotation `turn` of the momentum p = R^T L */
  Vec3 local = mat3_tmul_vec(r, s->state.momentum[link]), by_local = {0, 0, 0};
  Mat3 by_mobility = mat3_zero();
  free_rotation_vjp(spin_body->mobility, local, s->clock.dt, mat3_axial(mat3_mul(mat3_transpose(to), bar)), &by_local,
                    &by_mobility);
  spin_adjoint_mobility(spin_body->mobility, body, by_mobility, &gradient->moment[link]);
  a->momentum_bar[link] = vec3_add(a->momentum_bar[link], mat3_mul_vec(r, by_local));
  pose_matrix_add_rotation(now.pose[link], mat3_mul(bar, mat3_mul(mat3_transpose(to), r)));
  pose_matrix_add_rotation(now.pose[link], mat3_outer(s->state.momentum[link], by_local));
}

/* Adds the contribution of the initial angular momenta to the derivatives of a scalar with respect to pose, initial
 * velocities and masses. */
void spin_adjoint_start(SpinAdjoint* a, const Sim* s, const Pose* pose, StateBar first, ModelGradient* gradient) {
  for (int i = 0; a && i < a->model->link_count; i++) {
    if (!s->spin_bodies[i].spins) continue;
    const ModelLink* link = &a->model->links[i];
    Mat3 inertia = mass_moment_inertia_tensor(&link->moment);
    Vec3 w = joint_free_angular_velocity(&link->joint, a->model->initial_velocities + link->dof_first);
    Vec3 local = mat3_tmul_vec(pose[i].r, a->momentum_bar[i]);
    double by_rate[JOINT_MAX_DOF], *out = gradient->velocities + link->dof_first;
    joint_set_free_rotation_rates(&link->joint, mat3_mul_vec(inertia, local), by_rate);
    for (int k = link->joint.slide_count; k < link->dof_count; k++) out[k] += by_rate[k];
    pose_matrix_add_rotation(first.pose[i], mat3_outer(a->momentum_bar[i], mat3_mul_vec(inertia, w)));
    add_inertia_bar(link, mat3_outer(local, w), &gradient->moment[i]);
  }
}
