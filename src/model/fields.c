/* Force fields between two links, or between a link and the world (docs/derivations/loads.md, L16). */
#include <assert.h>

#include "model/build.h"

/* Vacuum permeability / 4 pi [T m/A]. */
#define MAGNETIC_CONSTANT 1e-7

static Vec3 other_point(const Model* m, const SceneField* field) {
  return field->has_at || field->to < 0 ? field->at : m->links[field->to].center;
}

FieldGeometry field_geometry(const Model* m, const ModelLoad* load, const Pose* poses) {
  assert(load->field);
  const SceneField* field = load->field;
  const Pose* a = &poses[load->link];
  bool linked = field->to >= 0; /* otherwise the other point belongs to the world */
  Pose b = linked ? poses[field->to] : (Pose){mat3_identity(), vec3(0, 0, 0)};
  Vec3 p = model_load_point(m, load), o = other_point(m, field);
  Vec3 end = linked ? pose_apply(b, o) : o;
  FieldGeometry place = {.d = vec3_sub(pose_apply(*a, p), end)};
  place.u = mat3_mul_vec(a->r, field->axis);
  place.v = linked ? mat3_mul_vec(b.r, field->other) : field->other;
  place.arm_a = mat3_mul_vec(a->r, vec3_sub(p, m->links[load->link].center));
  if (linked) place.arm_b = mat3_mul_vec(b.r, vec3_sub(o, m->links[field->to].center));
  return place;
}

/* ---------------------------------------------------------------- field of a point with softening s and power p;
 * energy's derivative with respect to d: d (d^2 + s^2)^(-(p + 1) / 2) */

static FieldEnergy point_gradient(const SceneField* field, const FieldGeometry* at) {
  double p = field->power, square = vec3_dot(at->d, at->d) + field->softening * field->softening;
  double energy = p == 1 ? 0.5 * math_log(square) : math_pow(square, 0.5 * (1 - p)) / (1 - p);
  return (FieldEnergy){.energy = energy, .d = vec3_scale(at->d, math_pow(square, -0.5 * (p + 1)))};
}

static FieldEnergy point_hessian_product(const SceneField* field, const FieldGeometry* at,
                                         const FieldEnergy* displacement) {
  double p = field->power, square = vec3_dot(at->d, at->d) + field->softening * field->softening;
  double share = math_pow(square, -0.5 * (p + 1)), along = vec3_dot(at->d, displacement->d);
  Vec3 by_length = vec3_scale(at->d, -(p + 1) * along * share / square);
  return (FieldEnergy){.energy = share * along, .d = vec3_add_scaled(by_length, share, displacement->d)};
}

/* ---------------------------------------------------------------- two magnetic dipoles
 * Energy for dipoles along u and v at the vector d, r = |d|: k ( u.v / r^3 - 3 (u.d) (v.d) / r^5 ) */

static FieldEnergy dipole_gradient(const FieldGeometry* at) {
  double square = vec3_dot(at->d, at->d), third = MAGNETIC_CONSTANT / (square * sqrt(square)),
         fifth = 3 * third / square;
  double uv = vec3_dot(at->u, at->v), ud = vec3_dot(at->u, at->d), vd = vec3_dot(at->v, at->d);
  FieldEnergy out = {.energy = third * uv - fifth * ud * vd};
  out.u = vec3_add_scaled(vec3_scale(at->v, third), -fifth * vd, at->d);
  out.v = vec3_add_scaled(vec3_scale(at->u, third), -fifth * ud, at->d);
  out.d = vec3_scale(at->d, fifth * (5 * ud * vd / square - uv));
  out.d = vec3_add_scaled(vec3_add_scaled(out.d, -fifth * vd, at->u), -fifth * ud, at->v);
  return out;
}

static FieldEnergy dipole_hessian_product(const FieldGeometry* at, const FieldEnergy* displacement) {
  Vec3 d = at->d, u = at->u, v = at->v;
  double square = vec3_dot(d, d), third = MAGNETIC_CONSTANT / (square * sqrt(square)), fifth = 3 * third / square;
  double uv = vec3_dot(u, v), ud = vec3_dot(u, d), vd = vec3_dot(v, d);
  double along = vec3_dot(d, displacement->d) / square, third_way = -3 * third * along, fifth_way = -5 * fifth * along;
  double uv_way = vec3_dot(displacement->u, v) + vec3_dot(u, displacement->v),
         ud_way = vec3_dot(displacement->u, d) + vec3_dot(u, displacement->d);
  double vd_way = vec3_dot(displacement->v, d) + vec3_dot(v, displacement->d);
  double share = 5 * ud * vd / square - uv;
  double share_way = 5 * (ud_way * vd + ud * vd_way) / square - 10 * ud * vd * along / square - uv_way;
  FieldEnergy out = {.energy =
                         third_way * uv + third * uv_way - fifth_way * ud * vd - fifth * (ud_way * vd + ud * vd_way)};
  out.u = vec3_add_scaled(vec3_scale(v, third_way), third, displacement->v);
  out.u = vec3_add_scaled(vec3_add_scaled(out.u, -(fifth_way * vd + fifth * vd_way), d), -fifth * vd, displacement->d);
  out.v = vec3_add_scaled(vec3_scale(u, third_way), third, displacement->u);
  out.v = vec3_add_scaled(vec3_add_scaled(out.v, -(fifth_way * ud + fifth * ud_way), d), -fifth * ud, displacement->d);
  out.d = vec3_add_scaled(vec3_scale(d, fifth_way * share + fifth * share_way), fifth * share, displacement->d);
  out.d = vec3_add_scaled(vec3_add_scaled(out.d, -(fifth_way * vd + fifth * vd_way), u), -fifth * vd, displacement->u);
  out.d = vec3_add_scaled(vec3_add_scaled(out.d, -(fifth_way * ud + fifth * ud_way), v), -fifth * ud, displacement->v);
  return out;
}

FieldEnergy field_energy_gradient(const SceneField* field, const FieldGeometry* at) {
  if (field->type == FIELD_POINT) return point_gradient(field, at);
  if (field->type == FIELD_DIPOLE) return dipole_gradient(at);
  return (FieldEnergy){.energy = -vec3_dot(at->u, at->v), .u = vec3_scale(at->v, -1), .v = vec3_scale(at->u, -1)};
}

FieldEnergy field_hessian_product(const SceneField* field, const FieldGeometry* at, const FieldEnergy* displacement) {
  if (field->type == FIELD_POINT) return point_hessian_product(field, at, displacement);
  if (field->type == FIELD_DIPOLE) return dipole_hessian_product(at, displacement);
  return (FieldEnergy){.energy = -vec3_dot(displacement->u, at->v) - vec3_dot(at->u, displacement->v),
                       .u = vec3_scale(displacement->v, -1),
                       .v = vec3_scale(displacement->u, -1)};
}

double model_field_energy(const Model* m, const Pose* poses) {
  double sum = 0;
  for (int k = 0; k < m->load_count; k++) {
    const ModelLoad* load = &m->loads[k];
    if (!load->field || load->force.source->type != SIGNAL_CONSTANT) continue;
    double strength, rate;
    signal_eval(&load->force, 0, &strength, &rate);
    FieldGeometry at = field_geometry(m, load, poses);
    sum += strength * field_energy_gradient(load->field, &at).energy;
  }
  return sum;
}

void check_fields(const Model* model, Diagnostics* diagnostics) {
  if (model->load_count == 0) return;
  Pose* poses = initial_poses(model);
  for (int k = 0; k < model->load_count; k++) {
    const SceneField* field = model->loads[k].field;
    if (!field || field->type == FIELD_UNIFORM) continue;
    if (field->type == FIELD_POINT && (field->power <= -1 || field->softening > 0)) continue;
    Vec3 d = field_geometry(model, &model->loads[k], poses).d;
    if (vec3_norm(d) > 0) continue;
    diagnostics_add(
        diagnostics, SEVERITY_ERROR, model->scene->loads[k].place,
        "the two points of the field coincide at the start, where its force is infinite: move one of them%s",
        field->type == FIELD_POINT ? ", or give 'softening'" : "");
  }
  memory_free(poses);
}
