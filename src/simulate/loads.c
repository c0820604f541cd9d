/* Forces, torques and fields that act on links (docs/derivations/loads.md). */
#include "simulate/loads.h"

#include <assert.h>
#include <string.h>

LinkLoad* loads_create(const Sim* s) {
  bool any = s->model->load_count > 0 || s->internal_forces;
  return any ? MEMORY_NEW(LinkLoad, s->model->link_count) : NULL;
}

/* The result is R P, with the rotation R at the start of the step. P = 1 + r E + r (r - 1) / 2 E^2, with E = R_old^T R
 * - 1 and the ratio r of the step lengths. P is the binomial series of (R_old^T R)^r, exact for r = 0, 1, 2 (L3). In
 * the first step the result is R + dt rate. */
Mat3 load_rotation(const StepClock* clock, Mat3 now, Mat3 old, Mat3 rate) {
  assert(!(clock->dt < 0));
  if (!(clock->dt_before > 0)) return mat3_add(now, mat3_scale(rate, clock->dt));
  double r = clock->dt / clock->dt_before;
  Mat3 e = mat3_sub(mat3_mul(mat3_transpose(old), now), mat3_identity());
  Mat3 p = mat3_add(mat3_identity(), mat3_scale(e, r));
  if (r != 1) p = mat3_add(p, mat3_scale(mat3_mul(e, e), 0.5 * r * (r - 1)));
  return mat3_mul(now, p);
}

void load_rotation_adjoint(const StepClock* clock, Mat3 now, Mat3 old, Mat3 bar, Mat3* now_bar, Mat3* old_bar,
                           Mat3* rate_bar) {
  assert(clock->dt > 0 && (rate_bar || clock->dt_before > 0));
  if (!(clock->dt_before > 0)) {
    *now_bar = mat3_add(*now_bar, bar);
    *rate_bar = mat3_add(*rate_bar, mat3_scale(bar, clock->dt));
    return;
  }
  double r = clock->dt / clock->dt_before, c = 0.5 * r * (r - 1);
  Mat3 e = mat3_sub(mat3_mul(mat3_transpose(old), now), mat3_identity());
  Mat3 p = mat3_add(mat3_identity(), mat3_add(mat3_scale(e, r), mat3_scale(mat3_mul(e, e), c)));
  Mat3 p_bar = mat3_mul(mat3_transpose(now), bar), back = mat3_transpose(e);
  Mat3 both = mat3_add(mat3_mul(p_bar, back), mat3_mul(back, p_bar));
  Mat3 e_bar = mat3_add(mat3_scale(p_bar, r), mat3_scale(both, c));
  *now_bar = mat3_add(*now_bar, mat3_add(mat3_mul(bar, mat3_transpose(p)), mat3_mul(old, e_bar)));
  *old_bar = mat3_add(*old_bar, mat3_mul(now, mat3_transpose(e_bar)));
}

Vec3 load_value(const Signal* signal, const StepSpan* span) {
  double value[3] = {0}, rate[3];
  if (signal->source->channels > 0) step_signal_mean(signal, span, value, rate);
  return vec3(value[0], value[1], value[2]);
}

void load_matrix(const LinkLoad* load, Mat3 r, double out[3][4]) {
  Vec3 turning = vec3(load->turning[0][3], load->turning[1][3], load->turning[2][3]);
  memcpy(out, load->fixed, sizeof(load->fixed));
  pose_matrix_add(out, mat3_mul(r, pose_matrix_rotation(load->turning)), mat3_mul_vec(r, turning));
  pose_matrix_add(out, mat3_mul(mat3_scale(mat3_cross(load->torque), 0.5), r), vec3(0, 0, 0));
}

Vec3 load_origin_torque(const double b[3][4], Mat3 r) {
  return mat3_axial(mat3_mul(pose_matrix_rotation(b), mat3_transpose(r)));
}

/* Adds a force at a point and a torque in world axes to the loads of a link (L1). rotation: predicted rotation of the
 * link (load_rotation). */
static void add_world_load(Vec3 force, Vec3 point, Vec3 torque, Mat3 rotation, LinkLoad* sum) {
  Mat3 turn = mat3_mul(mat3_scale(mat3_cross(torque), 0.5), rotation);
  pose_matrix_add(sum->b, mat3_add(mat3_outer(force, point), turn), force);
  pose_matrix_add(sum->fixed, mat3_outer(force, point), force);
  sum->torque = vec3_add(sum->torque, torque);
  sum->any = true;
}

/* Adds a force at a point and a torque in link axes to the loads of a link (L1). */
static void add_link_axes_load(Vec3 force, Vec3 point, Vec3 torque, Mat3 rotation, LinkLoad* sum) {
  Mat3 twist = mat3_scale(mat3_cross(torque), 0.5);
  Vec3 turned = mat3_mul_vec(rotation, force);
  pose_matrix_add(sum->b, mat3_add(mat3_outer(turned, point), mat3_mul(rotation, twist)), turned);
  pose_matrix_add(sum->turning, mat3_add(mat3_outer(force, point), twist), force);
  sum->any = true;
}

/* Sets the fraction of the lever arm that belongs to t + dt, and its derivatives (L93). The squared frequency is that
 * of a pendulum about the direction of the force, with the sum of the mobilities across the arm. */
static void set_lateness(const Sim* s, int link, LoadAtStart* out) {
  double force = vec3_norm(out->force), arm = vec3_norm(out->arm), slope;
  if (!(force > 0 && arm > 0)) return;
  Mat3 mobility = inertia_mobility(&s->model->links[link]);
  Vec3 response = mat3_mul_vec(mobility, out->arm), by_arm;
  double trace = mat3_trace(mobility), across = arm * arm * trace - vec3_dot(out->arm, response);
  double square = force * across / arm * s->clock.dt * s->clock.dt;
  out->late = 2 * spring_implicitness(square, &slope) - 1;
  double by = 2 * slope * s->clock.dt * s->clock.dt;
  by_arm = vec3_scale(vec3_sub(vec3_scale(out->arm, trace), response), 2 / arm);
  by_arm = vec3_add_scaled(by_arm, -across / (arm * arm * arm), out->arm);
  out->late_by_force = vec3_scale(out->force, by * across / (arm * force));
  out->late_by_arm = vec3_scale(by_arm, by * force);
  Mat3 plane = mat3_sub(mat3_scale(mat3_identity(), arm), mat3_scale(mat3_outer(out->arm, out->arm), 1 / arm));
  out->late_by_mobility = mat3_scale(plane, by * force);
}

LoadAtStart load_at_start(const Sim* s, const ModelLoad* load, const StepSpan* span) {
  assert(!load->field && s->model->links[load->link].spins);
  Vec3 center = s->model->links[load->link].center;
  Mat3 r = s->pose_now[load->link].r;
  LoadAtStart out = {.own_force = load_value(&load->force, span), .own_torque = load_value(&load->torque, span)};
  out.arm = vec3_sub(model_load_point(s->model, load), center);
  out.point = center;
  if (load->link_axes) {
    out.force = mat3_mul_vec(r, out.own_force);
    out.torque = mat3_mul_vec(r, vec3_add(out.own_torque, vec3_cross(out.arm, out.own_force)));
    return out;
  }
  out.force = out.own_force;
  set_lateness(s, load->link, &out);
  Vec3 at_start = vec3_cross(mat3_mul_vec(r, out.arm), out.force);
  out.torque = vec3_add_scaled(out.own_torque, 1 - out.late, at_start);
  out.point = vec3_add_scaled(center, out.late, out.arm);
  return out;
}

FieldWrench field_wrench(const Model* m, const ModelLoad* load, const StepSpan* span, const Pose* poses) {
  assert(load->field);
  FieldGeometry at = field_geometry(m, load, poses);
  FieldEnergy slope = field_energy_gradient(load->field, &at);
  double strength = load_value(&load->force, span).x;
  Vec3 force = vec3_scale(slope.d, -strength);
  FieldWrench w = {.force = {force, vec3_scale(force, -1)}};
  w.torque[0] = vec3_sub(vec3_cross(at.arm_a, force), vec3_scale(vec3_cross(at.u, slope.u), strength));
  if (load->field->to >= 0)
    w.torque[1] = vec3_sub(vec3_cross(at.arm_b, w.force[1]), vec3_scale(vec3_cross(at.v, slope.v), strength));
  return w;
}

static Mat3 predicted_rotation(const Sim* s, int i) {
  return load_rotation(&s->clock, s->pose_now[i].r, s->pose_old[i].r, s->pose_rate[i].r);
}

/* Adds the force and torque of a field at the centre of mass of link i. Does nothing if the link cannot move. */
static void add_wrench(Sim* s, int i, Vec3 force, Vec3 torque) {
  const ModelLink* link = &s->model->links[i];
  if (link->tree >= 0) add_world_load(force, link->center, torque, predicted_rotation(s, i), &s->loads[i]);
}

static bool is_zero(const LinkWrench* w) { return vec3_norm(w->force) == 0 && vec3_norm(w->torque) == 0; }

/* Adds a wrench about the centre of mass to a matrix B. rotation: predicted rotation of the link. */
static void add_wrench_matrix(const LinkWrench* w, Vec3 center, Mat3 rotation, double b[3][4]) {
  Mat3 turn = mat3_mul(mat3_scale(mat3_cross(w->torque), 0.5), rotation);
  pose_matrix_add(b, mat3_add(mat3_outer(w->force, center), turn), w->force);
}

void load_add_internal_wrenches(Sim* sim, int link, const LinkWrench* start, const LinkWrench* start_in_step,
                                const LinkWrench* ahead) {
  assert(link >= 0 && link < sim->model->link_count);
  LinkLoad* load = &sim->loads[link];
  Vec3 center = sim->model->links[link].center;
  if (is_zero(start) && is_zero(start_in_step) && is_zero(ahead)) return;
  Mat3 rotation = predicted_rotation(sim, link);
  load->any = true;
  load->torque = vec3_add(load->torque, start->torque);
  pose_matrix_add(load->fixed, mat3_outer(start->force, center), start->force);
  add_wrench_matrix(start_in_step, center, rotation, load->b);
  add_wrench_matrix(ahead, center, rotation, load->b);
  add_wrench_matrix(ahead, center, rotation, load->rest);
}

static void add_field_load(Sim* s, const ModelLoad* load, const StepSpan* span) {
  FieldWrench w = field_wrench(s->model, load, span, s->pose_now);
  add_wrench(s, load->link, w.force[0], w.torque[0]);
  if (load->field->to >= 0) add_wrench(s, load->field->to, w.force[1], w.torque[1]);
}

static void add_load(Sim* s, const ModelLoad* load, const StepSpan* span) {
  int i = load->link;
  Mat3 rotation = predicted_rotation(s, i);
  if (s->model->links[i].spins) {
    LoadAtStart at = load_at_start(s, load, span);
    add_world_load(at.force, at.point, at.torque, rotation, &s->loads[i]);
    return;
  }
  Vec3 force = load_value(&load->force, span), torque = load_value(&load->torque, span);
  (load->link_axes ? add_link_axes_load : add_world_load)(force, model_load_point(s->model, load), torque, rotation,
                                                          &s->loads[i]);
}

void loads_prepare_step(Sim* s) {
  assert(s->clock.dt > 0);
  const Model* m = s->model;
  if (!s->loads) return;
  StepSpan span = step_span(s, SIGNAL_IS_FORCE);
  memset(s->loads, 0, sizeof(LinkLoad) * (size_t)m->link_count);
  for (int k = 0; k < m->load_count; k++) {
    const ModelLoad* load = &m->loads[k];
    if (load->field)
      add_field_load(s, load, &span);
    else if (m->links[load->link].tree >= 0)
      add_load(s, load, &span);
  }
}

/* Returns the first moment of the load's energy gradient about the centre of mass, world axes. b: the matrix B. */
static Mat3 first_moment(const double b[3][4], const ModelLink* link, Mat3 r) {
  Mat3 local = mat3_sub(mat3_outer(vec3(b[0][3], b[1][3], b[2][3]), link->center), pose_matrix_rotation(b));
  return mat3_mul(local, mat3_transpose(r));
}

void load_add_terms(const LinkLoad* load, const ModelLink* link, Pose pose, LinkTerms* terms) {
  terms->force = vec3_sub(terms->force, load_force(load));
  terms->moment = mat3_add(terms->moment, first_moment(load_in_step(load), link, pose.r));
}

static ForceMagnitudes matrix_magnitudes(const double b[3][4], const ModelLink* link, Pose pose) {
  Vec3 force = vec3(b[0][3], b[1][3], b[2][3]);
  return (ForceMagnitudes){vec3_norm(force), vec3_norm(mat3_axial(first_moment(b, link, pose.r)))};
}

ForceMagnitudes load_force_magnitudes(const LinkLoad* load, const ModelLink* link, Pose pose) {
  ForceMagnitudes all = matrix_magnitudes((const double(*)[4])load->b, link, pose);
  ForceMagnitudes rest = matrix_magnitudes((const double(*)[4])load->rest, link, pose);
  return (ForceMagnitudes){all.force + rest.force, all.torque + rest.torque};
}

Vec3 sim_load_force(const Model* m, int load, const StepClock* clock, const Pose* begin, const Pose* before) {
  assert(load >= 0 && load < m->load_count);
  const ModelLoad* l = &m->loads[load];
  StepSpan span = {.at = signal_span(m->simulation.integrator, clock, SIGNAL_IS_FORCE)};
  if (l->field) return field_wrench(m, l, &span, begin).force[0];
  Vec3 force = load_value(&l->force, &span);
  if (m->links[l->link].tree < 0) return vec3(0, 0, 0);
  if (!l->link_axes) return force;
  if (m->links[l->link].spins || m->trees[m->links[l->link].tree].flies)
    return mat3_mul_vec(begin[l->link].r, force); /* the force has its direction at t (L93, W52) */
  return mat3_mul_vec(load_rotation(clock, begin[l->link].r, before[l->link].r, mat3_zero()), force);
}
