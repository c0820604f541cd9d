/* Target, momentum and joint rates of single bodies that integrate their angular momentum (docs/derivations/spin.md,
 * W4-W6). */
#include <assert.h>

#include "simulate/spin.h"

#include "simulate/free_rotation.h"
#include "simulate/fluid.h"
#include "simulate/loads.h"
#include "simulate/tree_flight.h"

/* Returns how a link rolls: ROLLS_NOT unless it consists of a single round piece. Sets the members of *body that
 * describe a round hull. */
static Rolling classify_rolling(const Model* m, const ModelLink* link, SpinBody* body) {
  if (link->hull_count != 1 || !hull_is_round(&m->hulls[link->hull_first])) return ROLLS_NOT;
  const RoundBody* core = &m->hulls[link->hull_first].smooth->core;
  body->is_capsule = core->ring_count == 0 && core->points.count == 2;
  body->is_ball = core->ring_count == 0 && core->points.count == 1;
  body->is_round = core->ring_count > 0 || body->is_capsule || body->is_ball;
  if (!body->is_round) return ROLLS_NOT;
  Vec3 at = core->ring_count > 0 ? core->rings[0].center : point_at(core->points, 0);
  Vec3 offset = vec3_sub(at, link->center);
  double radius = core->rounding + (core->ring_count > 0 ? core->rings[0].radius : 0);
  if (!body->is_ball) { /* component of the offset perpendicular to the axis */
    body->axis = core->ring_count > 0 ? core->rings[0].axis : vec3_normalized(vec3_sub(point_at(core->points, 1), at));
    offset = vec3_add_scaled(offset, -vec3_dot(offset, body->axis), body->axis);
  }
  bool rolls = vec3_norm(offset) <= ROLLING_OFFSET * radius;
  if (!rolls) body->offset = offset;
  return !rolls ? ROLLS_NOT : body->is_ball ? ROLLS_IN_ALL_DIRECTIONS : ROLLS_ABOUT_AXIS;
}

SpinBody* spin_bodies_create(const Model* m) {
  SpinBody* spin_bodies = MEMORY_NEW(SpinBody, m->link_count);
  bool any = false;
  for (int i = 0; i < m->link_count; i++) {
    if (!m->links[i].spins) continue;
    Mat3 inertia = mass_moment_inertia_tensor(&m->links[i].moment);
    Mat3 second = mat3_sub(mat3_scale(mat3_identity(), 0.5 * mat3_trace(inertia)), inertia);
    spin_bodies[i] = (SpinBody){.spins = true, .mobility = inertia_mobility(&m->links[i]), .second = second};
    spin_bodies[i].rolling = classify_rolling(m, &m->links[i], &spin_bodies[i]);
    any = true;
  }
  if (any) return spin_bodies;
  memory_free(spin_bodies);
  return NULL;
}

void spin_set_initial_momenta(Sim* s) {
  const Model* m = s->model;
  for (int i = 0; s->spin_bodies && i < m->link_count; i++) {
    if (!s->spin_bodies[i].spins) continue;
    Vec3 w = joint_free_angular_velocity(&m->links[i].joint, m->initial_velocities + m->links[i].dof_first);
    Mat3 inertia = mass_moment_inertia_tensor(&m->links[i].moment);
    s->state.momentum[i] = mat3_mul_vec(s->pose_now[i].r, mat3_mul_vec(inertia, w));
  }
}

void spin_set_targets(Sim* s) {
  for (int i = 0; s->spin_bodies && i < s->model->link_count; i++) {
    SpinBody* body = &s->spin_bodies[i];
    if (!body->spins) continue;
    Vec3 middle = s->model->links[i].center, at = pose_apply(s->target[i], middle);
    Mat3 r = s->pose_now[i].r;
    Vec3 momentum = mat3_tmul_vec(r, s->state.momentum[i]);
    body->drift = s->target[i].r;
    s->target[i].r = mat3_mul(r, mat3_from_quat(free_rotation(body->mobility, momentum, s->clock.dt)));
    s->target[i].t = vec3_sub(at, mat3_mul_vec(s->target[i].r, middle));
  }
}

static void mark_bodies_with_forces(Sim* s, bool loads) {
  for (int n = 0; n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    s->spin_bodies[i].has_forces = loads && ((s->loads && s->loads[i].any) || fluid_acts_on(s->fluid, i));
  }
  int count = s->contact ? contact_term_count(s->contact) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact_term(s->contact, k);
    if (s->model->link_tree[t.link_a] >= 0) s->spin_bodies[t.link_a].has_forces = true;
    if (s->model->link_tree[t.link_b] >= 0) s->spin_bodies[t.link_b].has_forces = true;
  }
}

/* Returns true if contact, friction, a load, a drive, damping or a limit acts on the link. Otherwise the angular
 * momentum of the link stays bit-identical, so that residuals within the tolerance do not accumulate. */
static bool has_acting_force(const Sim* s, int link) {
  const double* gradient = s->configuration[s->current].joints[link].gradient;
  bool any = s->spin_bodies[link].has_forces;
  for (int k = 0; k < s->model->links[link].dof_count; k++) any = any || gradient[k] != 0;
  return any;
}

/* Returns the force on the centre of mass of link i that contact must balance: the inertial force minus the forces of
 * loads, fluid and the joint's slides. The inertial force is mass times weight of inertia times distance of the centre
 * of mass from its target. */
static Vec3 required_contact_force(const Sim* s, int i) {
  const ModelLink* link = &s->model->links[i];
  const Configuration* c = &s->configuration[s->current];
  Vec3 displacement = vec3_sub(pose_apply(c->pose[i], link->center), pose_apply(s->target[i], link->center));
  Vec3 force = vec3_scale(displacement, step_inertia_weight(s) * link->mass);
  Mat3 joint = mat3_mul(c->pose[i].r, mat3_transpose(joint_motion(&link->joint, c->q + link->coordinate_first).r));
  for (int k = 0; k < link->joint.slide_count; k++)
    force = vec3_add_scaled(force, c->joints[i].gradient[k], mat3_mul_vec(joint, link->joint.slide_axis[k]));
  if (s->loads) force = vec3_sub(force, load_force(&s->loads[i]));
  if (fluid_acts_on(s->fluid, i)) {
    Vec3 push, torque;
    fluid_wrench(s, i, &c->pose[i], &push, &torque);
    force = vec3_sub(force, push);
  }
  return force;
}

void spin_compute_residual_forces(Sim* s, ContactTermList contact) {
  assert(s->spin_bodies);
  for (int i = 0; i < s->model->link_count; i++) {
    SpinBody* body = &s->spin_bodies[i];
    body->pair_force_sum = 0;
    if (body->spins) body->residual_force = required_contact_force(s, i);
  }
  int count = contact.holder ? contact.count(contact.holder) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact.at(contact.holder, k);
    int link[2] = {t.link_a, t.link_b};
    for (int side = 0; side < 2; side++) { /* the force is minus the gradient */
      s->spin_bodies[link[side]].residual_force = vec3_add(s->spin_bodies[link[side]].residual_force, t.force[side]);
      s->spin_bodies[link[side]].pair_force_sum += vec3_norm(t.force[side]);
    }
  }
  for (int i = 0; i < s->model->link_count; i++) /* the joint balances forces along its hinge without a slide */
    if (s->spin_bodies[i].spins && s->model->links[i].joint.slide_count == 2) {
      Vec3 axis = mat3_mul_vec(s->configuration[s->current].pose[i].r, s->model->links[i].joint.axis[0]);
      Vec3* force = &s->spin_bodies[i].residual_force;
      *force = vec3_add_scaled(*force, -vec3_dot(axis, *force), axis);
    }
}

static bool are_forces_balanced(const SpinBody* body) {
  return body->spins && vec3_norm(body->residual_force) <= SPIN_RESIDUAL_MAX * body->pair_force_sum;
}

SpinExchange spin_exchange(const Model* m, const SpinBody* spin_bodies, int a, int b, const Pose* now,
                           const Pose* next) {
  assert(a >= 0 && a < m->link_count && b >= 0 && b < m->link_count);
  SpinExchange out = {.is_exchanged = are_forces_balanced(&spin_bodies[a]) && are_forces_balanced(&spin_bodies[b])};
  if (!out.is_exchanged) return out;
  double mass = m->links[a].mass + m->links[b].mass;
  Rolling first = spin_bodies[a].rolling, second = spin_bodies[b].rolling;
  out.by_mass = first == second && first != ROLLS_IN_ALL_DIRECTIONS;
  out.share[0] = out.by_mass ? m->links[a].mass / mass : first < second;
  out.share[1] = out.by_mass ? m->links[b].mass / mass : second < first;
  Vec3 displacement[2];
  for (int side = 0; side < 2; side++) {
    int link = side == 0 ? a : b;
    Vec3 middle = m->links[link].center;
    displacement[side] = vec3_sub(pose_apply(next[link], middle), pose_apply(now[link], middle));
  }
  out.displacement = vec3_sub(displacement[0], displacement[1]);
  return out;
}

/* Adds the exchange of angular momentum between the bodies of each contact pair (W6). Each body receives its share
 * (SpinExchange) of dt times displacement x contact force. */
static void exchange_momenta(Sim* s) {
  const Configuration* c = &s->configuration[s->current];
  int count = s->contact ? contact_term_count(s->contact) : 0;
  spin_compute_residual_forces(s, contact_term_list(s->contact));
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact_term(s->contact, k);
    SpinExchange e = spin_exchange(s->model, s->spin_bodies, t.link_a, t.link_b, s->pose_now, c->pose);
    if (!e.is_exchanged) continue;
    Vec3 momentum_change =
        vec3_scale(vec3_cross(e.displacement, t.force[0]), -spin_force_time(s)); /* the force is minus the gradient */
    s->state.momentum[t.link_a] = vec3_add_scaled(s->state.momentum[t.link_a], e.share[0], momentum_change);
    s->state.momentum[t.link_b] = vec3_add_scaled(s->state.momentum[t.link_b], e.share[1], momentum_change);
  }
}

double spin_force_time(const Sim* s) { return s->clock.dt / s->weights.factor; }

int spin_corrected_side(const Sim* s, ContactTerms t) {
  const int link[2] = {t.link_a, t.link_b};
  for (int side = 0; side < 2; side++) {
    const SpinBody *body = &s->spin_bodies[link[side]], *other = &s->spin_bodies[link[1 - side]];
    bool is_on_fixed = s->model->link_tree[link[1 - side]] < 0;
    bool is_on_other = body->rolling == ROLLS_ABOUT_AXIS && other->rolling == ROLLS_NOT;
    if ((is_on_fixed || is_on_other) && body->spins && body->rolling != ROLLS_IN_ALL_DIRECTIONS) return side;
  }
  return -1;
}

SpinArmBody spin_arm_body(const Sim* s, int link) {
  const SpinBody* body = &s->spin_bodies[link];
  return (SpinArmBody){body->axis, vec3_dot(body->axis, s->model->links[link].center), body->offset, body->is_ball};
}

/* Returns true if the lever arms at t of (W21) correct the contact torques of a body. Otherwise (W20) applies. */
static bool has_arm(const SpinBody* body, int side, const ContactWork* work) {
  return body->is_round && (work->profile[side].largest > 0 || body->is_capsule || body->is_ball);
}

static SpinExcess find_excess(const Sim* s, int side, int link, const ContactWork* work, const Pose* now,
                              const Pose* next) {
  const ModelLink* body = &s->model->links[link];
  SpinExcess out = {.is_removed = false};
  out.displacement = vec3_sub(pose_apply(next[link], body->center), pose_apply(now[link], body->center));
  out.rotation = vec3_scale(mat3_axial(mat3_mul(next[link].r, mat3_transpose(now[link].r))), 0.5);
  out.energy =
      vec3_dot(work->force[side], out.displacement) + vec3_dot(work->torque[side], out.rotation) + work->stored;
  double square = vec3_dot(out.rotation, out.rotation);
  double bound = vec3_norm(work->force[side]) * (body->reach + vec3_norm(body->center)) * square;
  out.is_removed = out.energy > 0 && out.energy <= bound;
  if (!out.is_removed) return out;
  out.factor = -spin_force_time(s) / square;
  out.momentum_change = vec3_scale(out.rotation, out.factor * out.energy);
  return out;
}

SpinCorrection spin_correction(const Sim* s, int side, ContactTerms t, const ContactWork* work, const Pose* now,
                               const Pose* next) {
  assert(side == 0 || side == 1);
  SpinCorrection out = {.link = side == 0 ? t.link_a : t.link_b, .side = side, .partner = -1};
  int other = side == 0 ? t.link_b : t.link_a;
  const SpinBody* body = &s->spin_bodies[out.link];
  if (s->spin_bodies[other].spins) {
    out.partner = other;
    if (!are_forces_balanced(body) || !are_forces_balanced(&s->spin_bodies[other])) return out;
  }
  if (has_arm(body, side, work)) {
    const Mat3 turn[2] = {now[out.link].r, next[out.link].r};
    out.arm = spin_arm(spin_arm_body(s, out.link), spin_force_time(s), side, t, work, turn);
    out.momentum_change = out.arm.momentum_change;
  } else if (s->model->link_tree[other] < 0) {
    out.excess = find_excess(s, side, out.link, work, now, next);
    out.momentum_change = out.excess.momentum_change;
  }
  return out;
}

static void add_momentum(Sim* s, const SpinCorrection* c, int link, double sign) {
  SpinBody* body = &s->spin_bodies[link];
  if (c->arm.acts) body->arm_change = vec3_add_scaled(body->arm_change, sign, c->momentum_change);
  s->state.momentum[link] = vec3_add_scaled(s->state.momentum[link], sign, c->momentum_change);
}

/* Corrects the lever arms of contact forces (W20, W21). Call after spin_compute_residual_forces. */
static void correct_lever_arms(Sim* s) {
  for (int i = 0; i < s->model->link_count; i++) s->spin_bodies[i].arm_change = vec3(0, 0, 0);
  int count = s->contact ? contact_term_count(s->contact) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact_term(s->contact, k);
    ContactWork work;
    int side = spin_corrected_side(s, t);
    if (side < 0 || !contact_term_work(s->contact, k, &work)) continue;
    SpinCorrection c = spin_correction(s, side, t, &work, s->pose_now, s->configuration[s->current].pose);
    if (!c.arm.acts && !c.excess.is_removed) continue;
    add_momentum(s, &c, c.link, 1);
    if (c.partner >= 0) add_momentum(s, &c, c.partner, -1);
  }
}

void spin_update_momenta(Sim* s) {
  if (!s->spin_bodies) return;
  const Configuration* c = &s->configuration[s->current];
  mark_bodies_with_forces(s, true);
  for (int i = 0; i < s->model->link_count; i++) {
    const SpinBody* body = &s->spin_bodies[i];
    if (!body->spins || !has_acting_force(s, i)) continue;
    Mat3 pose_change = mat3_sub(c->pose[i].r, s->target[i].r);
    Mat3 arm = mat3_mul(body->second, mat3_transpose(s->target[i].r));
    /* sum over the points of mass times (arm at the target) x (change of the arm from target to solution), arms about
     * the centre of mass (W5) */
    Vec3 momentum_change = mat3_axial(mat3_mul(pose_change, arm));
    s->state.momentum[i] = vec3_add_scaled(s->state.momentum[i], 1 / s->clock.dt, momentum_change);
  }
  exchange_momenta(s);
  correct_lever_arms(s);
}

Vec3 spin_velocity(const SpinBody* spinner, Pose pose, Vec3 momentum) {
  assert(spinner->spins);
  return mat3_mul_vec(spinner->mobility, mat3_tmul_vec(pose.r, momentum));
}

void spin_update_rates(Sim* s) {
  for (int i = 0; s->spin_bodies && i < s->model->link_count; i++) {
    if (!s->spin_bodies[i].spins) continue;
    const ModelLink* link = &s->model->links[i];
    Vec3 w = spin_velocity(&s->spin_bodies[i], s->pose_now[i], s->state.momentum[i]);
    joint_set_free_rotation_rates(&link->joint, w, s->state.rate + link->dof_first);
  }
}

/* Largest number of substeps that spin_substep_count returns. Users can request more. */
enum { SPIN_SUBSTEPS_MAX = 16 };

double spin_contact_angular_speed(Sim* s) {
  double fastest = 0;
  if (s->spin_bodies) mark_bodies_with_forces(s, false);
  for (int i = 0; s->spin_bodies && i < s->model->link_count; i++) {
    const SpinBody* body = &s->spin_bodies[i];
    if (!body->spins || !body->has_forces) continue;
    fastest = fmax(fastest, vec3_norm(spin_velocity(body, s->pose_now[i], s->state.momentum[i])));
  }
  return fastest;
}

double spin_turning_rate(const Sim* s) {
  double fastest = 0;
  int count = s->spin_bodies && s->contact ? contact_term_count(s->contact) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact_term(s->contact, k);
    int side = spin_corrected_side(s, t), link = side == 0 ? t.link_a : t.link_b;
    if (side < 0 || !s->spin_bodies[link].is_round) continue;
    ContactCircle circle = contact_term_circle(s->contact, k, side);
    if (!(circle.radius > 0)) continue;
    const Pose* pose = &s->pose_now[link];
    Vec3 axis = mat3_mul_vec(pose->r, s->spin_bodies[link].axis), across = vec3_cross(axis, circle.normal);
    Vec3 w = mat3_mul_vec(pose->r, spin_velocity(&s->spin_bodies[link], *pose, s->state.momentum[link]));
    Vec3 change = vec3_cross(vec3_cross(w, axis), circle.normal);
    double square = vec3_dot(across, across);
    if (!(ring_arm_weight(square, circle.radius, circle.support).value > 0)) continue;
    fastest = fmax(fastest, fabs(vec3_dot(circle.normal, vec3_cross(across, change))) / square);
  }
  return fastest;
}

int spin_substep_count(Sim* s, double dt) {
  assert(dt > 0);
  int parts = 1;
  double in_contact = fmax(spin_contact_angular_speed(s), spin_turning_rate(s)) / SPIN_ROTATION_MAX;
  double rotation = dt * fmax(tree_flight_angular_speed(s) / TREE_ROTATION_MAX, in_contact);
  while (parts < SPIN_SUBSTEPS_MAX && rotation > parts) parts *= 2;
  return parts;
}

void spin_set_start_increments(Sim* s, double* delta) {
  if (!s->spin_bodies) return;
  mark_bodies_with_forces(s, true);
  for (int n = 0; n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    if (!s->spin_bodies[i].spins || s->spin_bodies[i].has_forces) continue;
    const ModelLink* link = &s->model->links[i];
    Pose at = s->configuration[s->current].pose[i], to = s->target[i];
    double* d = delta + link->dof_first;
    Mat3 joint = mat3_mul(
        at.r, mat3_transpose(joint_motion(&link->joint, s->configuration[s->current].q + link->coordinate_first).r));
    int slides = link->joint.slide_count;
    for (int k = 0; k < slides; k++) /* the slide axes are orthogonal */
      d[k] = vec3_dot(mat3_mul_vec(joint, link->joint.slide_axis[k]), vec3_sub(to.t, at.t));
    if (link->joint.quaternion) {
      vec3_store(xyz_angles_from_mat3(mat3_mul(mat3_transpose(at.r), to.r)), d + slides);
      continue;
    }
    Vec3 w = spin_velocity(&s->spin_bodies[i], s->pose_now[i], s->state.momentum[i]);
    int angle = link->coordinate_first + slides;
    d[slides] =
        s->clock.dt * vec3_dot(link->joint.axis[0], w) + s->q_now[angle] - s->configuration[s->current].q[angle];
  }
}
