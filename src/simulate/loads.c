/* Forces, torques and fields that act on links (docs/derivations/loads.md). */
#include "simulate/loads.h"

#include <assert.h>
#include <string.h>

LinkLoad* loads_create(const Model* m) { return m->load_count > 0 ? MEMORY_NEW(LinkLoad, m->link_count) : NULL; }

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

static void add_force_matrix(Mat3 b, Vec3 force, LinkLoad* sum) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum->b[i][j] += b.m[i][j];
  sum->b[0][3] += force.x;
  sum->b[1][3] += force.y;
  sum->b[2][3] += force.z;
  sum->any = true;
}

/* Adds the matrix B of a load, with the means over the span of time, to *sum (L1): B = [F p^T + 1/2 [M]x R* | F] for a
 * force F and a torque M in world axes, B = R* [f p^T + 1/2 [m]x | f] for a force f and a torque m in link axes. p:
 * point of action in the link frame; rotation: R*. */
static void add_load(const Model* m, const ModelLoad* load, const StepSpan* span, Mat3 rotation, LinkLoad* sum) {
  Vec3 force = load_value(&load->force, span);
  Mat3 twist = mat3_scale(mat3_cross(load_value(&load->torque, span)), 0.5);
  if (load->link_axes) force = mat3_mul_vec(rotation, force);
  Mat3 turn = load->link_axes ? mat3_mul(rotation, twist) : mat3_mul(twist, rotation);
  add_force_matrix(mat3_add(mat3_outer(force, model_load_point(m, load)), turn), force, sum);
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

/* Adds the matrix B of a force at the centre of mass and a torque on link i, both in world axes (L1). Does nothing if
 * the link cannot move. */
static void add_wrench(Sim* s, int i, Vec3 force, Vec3 torque) {
  const ModelLink* link = &s->model->links[i];
  if (link->tree < 0) return;
  Mat3 rotation = load_rotation(&s->clock, s->pose_now[i].r, s->pose_old[i].r, s->pose_rate[i].r);
  Mat3 turn = mat3_mul(mat3_scale(mat3_cross(torque), 0.5), rotation);
  add_force_matrix(mat3_add(mat3_outer(force, link->center), turn), force, &s->loads[i]);
}

static void add_field_load(Sim* s, const ModelLoad* load, const StepSpan* span) {
  FieldWrench w = field_wrench(s->model, load, span, s->pose_now);
  add_wrench(s, load->link, w.force[0], w.torque[0]);
  if (load->field->to >= 0) add_wrench(s, load->field->to, w.force[1], w.torque[1]);
}

void loads_prepare_step(Sim* s) {
  assert(s->clock.dt > 0);
  const Model* m = s->model;
  if (!s->loads) return;
  StepSpan span = step_span(s, SIGNAL_IS_FORCE);
  memset(s->loads, 0, sizeof(LinkLoad) * (size_t)m->link_count);
  for (int k = 0; k < m->load_count; k++) {
    const ModelLoad* load = &m->loads[k];
    int i = load->link;
    if (load->field) add_field_load(s, load, &span);
    if (load->field || m->links[i].tree < 0) continue;
    Mat3 rotation = load_rotation(&s->clock, s->pose_now[i].r, s->pose_old[i].r, s->pose_rate[i].r);
    add_load(m, load, &span, rotation, &s->loads[i]);
  }
}

/* Returns the first moment of the load's energy gradient about the centre of mass, world axes. */
static Mat3 first_moment(const LinkLoad* load, const ModelLink* link, Mat3 r) {
  Mat3 local = mat3_outer(load_force(load), link->center);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) local.m[i][j] -= load->b[i][j];
  return mat3_mul(local, mat3_transpose(r));
}

void load_add_terms(const LinkLoad* load, const ModelLink* link, Pose pose, LinkTerms* terms) {
  terms->force = vec3_sub(terms->force, load_force(load));
  terms->moment = mat3_add(terms->moment, first_moment(load, link, pose.r));
}

ForceMagnitudes load_force_magnitudes(const LinkLoad* load, const ModelLink* link, Pose pose) {
  return (ForceMagnitudes){vec3_norm(load_force(load)), vec3_norm(mat3_axial(first_moment(load, link, pose.r)))};
}

Vec3 sim_load_force(const Model* m, int load, const StepClock* clock, const Pose* begin, const Pose* before) {
  assert(load >= 0 && load < m->load_count);
  const ModelLoad* l = &m->loads[load];
  StepSpan span = {.at = signal_span(m->simulation.integrator, clock, SIGNAL_IS_FORCE)};
  if (l->field) return field_wrench(m, l, &span, begin).force[0];
  Vec3 force = load_value(&l->force, &span);
  if (m->links[l->link].tree < 0) return vec3(0, 0, 0);
  if (!l->link_axes) return force;
  return mat3_mul_vec(load_rotation(clock, begin[l->link].r, before[l->link].r, mat3_zero()), force);
}
