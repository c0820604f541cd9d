/* Adjoint of loads (docs/derivations/loads.md, L4, L17). */
#include "simulate/internal_forces.h"
#include "simulate/spin_adjoint.h"

static void add_signal_parameter_bars(const Signal* signal, const StepSpan* span, Vec3 bar, double* gradient) {
  const double value[3] = {bar.x, bar.y, bar.z}, rate[3] = {0};
  if (signal->source->channels > 0) signal_mean_vjp(signal, span->at, value, rate, gradient);
}

/* Destination of the derivatives of a scalar with respect to loads. in_target: true for the loads that targets contain
 * (spin.md, W52). old and rate_bar are then not used. */
typedef struct {
  bool in_target;
  StateBar now, old;
  double (*rate_bar)[3][4];
  ModelGradient* gradient;
} LoadBars;

/* Returns true if link i can move and its loads belong to the loads that `to` selects. */
static bool is_selected(const Sim* s, int i, const LoadBars* to) {
  return i >= 0 && s->model->links[i].tree >= 0 && load_is_in_target(s, i) == to->in_target;
}

/* Returns the rotation of a link in the matrix B of its loads. */
static Mat3 matrix_rotation(const Sim* s, int i, const LoadBars* to) {
  return to->in_target ? s->pose_now[i].r
                       : load_rotation(&s->clock, s->pose_now[i].r, s->pose_old[i].r, s->pose_rate[i].r);
}

/* Let Phi be the change of a load's energy by a motion of its link. Adds the derivatives of Phi with respect to the
 * parameters of the force signal and the centre of mass. Returns the derivative with respect to the predicted rotation
 * of the link. m, v: rotation part and translation part of the motion. */
static Mat3 force_adjoint(const Sim* s, const ModelLoad* load, Mat3 rotation, Mat3 m, Vec3 v, ModelGradient* gradient) {
  const StepSpan span = step_span(s, SIGNAL_IS_FORCE);
  Vec3 local = load_value(&load->force, &span);
  Vec3 force = load->link_axes ? mat3_mul_vec(rotation, local) : local;
  Vec3 bar = vec3_scale(vec3_add(mat3_mul_vec(m, model_load_point(s->model, load)), v), -1);
  if (load->at_center) {
    Vec3 by_center = vec3_scale(mat3_tmul_vec(m, force), -1);
    model_gradient_center(s->model, load->link, by_center, gradient);
  }
  Vec3 by_own = load->link_axes ? mat3_tmul_vec(rotation, bar) : bar;
  add_signal_parameter_bars(&load->force, &span, by_own, gradient->control + load->force_first);
  return load->link_axes ? mat3_outer(bar, local) : mat3_zero();
}

static Mat3 torque_adjoint(const Sim* s, const ModelLoad* load, Mat3 rotation, Mat3 m, ModelGradient* gradient) {
  const StepSpan span = step_span(s, SIGNAL_IS_FORCE);
  Mat3 cross = mat3_cross(load_value(&load->torque, &span)), back = mat3_transpose(rotation);
  Vec3 bar = mat3_axial(load->link_axes ? mat3_mul(back, m) : mat3_mul(m, back));
  add_signal_parameter_bars(&load->torque, &span, vec3_scale(bar, -0.5), gradient->control + load->torque_first);
  return mat3_scale(load->link_axes ? mat3_mul(m, cross) : mat3_mul(cross, m), 0.5);
}

/* Adds the derivatives through the rotation of a link in the matrix B: the rotation at t if a target contains the load,
 * otherwise load_rotation. */
static void rotation_adjoint(const Sim* s, int link, Mat3 bar, const LoadBars* to) {
  StateBar now = to->now;
  if (to->in_target) {
    pose_matrix_add_rotation(now.pose[link], bar);
    return;
  }
  Mat3 now_bar = mat3_zero(), old_bar = mat3_zero(), by_rate = mat3_zero();
  load_rotation_adjoint(&s->clock, s->pose_now[link].r, s->pose_old[link].r, bar, &now_bar, &old_bar, &by_rate);
  pose_matrix_add_rotation(now.pose[link], now_bar);
  if (s->clock.dt_before > 0)
    pose_matrix_add_rotation(to->old.pose[link], old_bar);
  else
    pose_matrix_add_rotation(to->rate_bar[link], by_rate);
}

/* Motion of a link along lambda. v: velocity of the link's centre of mass. w: angular velocity such that the change of
 * the load's energy is -force . v - torque . w. m: rotation part of the motion. rotation: predicted rotation of the
 * link (load_rotation). */
typedef struct {
  Vec3 v, w;
  Mat3 m, rotation;
} AdjointMotion;

static AdjointMotion link_motion(const Sim* s, int i, const double (*motion)[3][4], const LoadBars* to) {
  AdjointMotion out = {.m = mat3_zero(), .rotation = mat3_identity()};
  if (!is_selected(s, i, to)) return out;
  for (int row = 0; row < 3; row++)
    for (int j = 0; j < 3; j++) out.m.m[row][j] = motion[i][row][j];
  out.rotation = matrix_rotation(s, i, to);
  out.v = mat3_mul_vec(out.m, s->model->links[i].center);
  out.v = vec3_add(out.v, vec3(motion[i][0][3], motion[i][1][3], motion[i][2][3]));
  out.w = vec3_scale(mat3_axial(mat3_mul(out.m, mat3_transpose(out.rotation))), 0.5);
  return out;
}

/* Adds the derivative of a scalar with respect to a link's pose to `pose`. local: a point of the link (shift true) or a
 * direction fixed to the link (shift false), link frame. bar: derivative of the scalar with respect to this point or
 * direction in world axes. */
static void add_point_bar(double pose[3][4], Vec3 bar, Vec3 local, bool shift) {
  const double b[3] = {bar.x, bar.y, bar.z}, x[4] = {local.x, local.y, local.z, shift ? 1 : 0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) pose[i][j] += b[i] * x[j];
}

/* One of the two links of a field, with the derivatives of a scalar with respect to the point of action (end_bar), the
 * lever arm (arm_bar) and the axis (axis_bar) of the link, world axes. */
typedef struct {
  int link;
  Vec3 point, axis; /* point of action [m] and axis, in the frame of the link */
  bool at_center;
  Vec3 end_bar, arm_bar, axis_bar;
} FieldSide;

static void field_side_adjoint(const Sim* s, const FieldSide* side, const AdjointMotion* moved, const FieldWrench* w,
                               int which, const LoadBars* to) {
  StateBar now = to->now;
  int i = side->link;
  if (i < 0) return;
  const ModelLink* link = &s->model->links[i];
  Mat3 r = s->pose_now[i].r;
  add_point_bar(now.pose[i], side->end_bar, side->point, true);
  add_point_bar(now.pose[i], side->arm_bar, vec3_sub(side->point, link->center), false);
  add_point_bar(now.pose[i], side->axis_bar, side->axis, false);
  Vec3 center = vec3_scale(mat3_tmul_vec(moved->m, w->force[which]), -1);
  center = side->at_center ? vec3_add(center, mat3_tmul_vec(r, side->end_bar))
                           : vec3_sub(center, mat3_tmul_vec(r, side->arm_bar));
  model_gradient_center(s->model, i, center, to->gradient);
  if (!is_selected(s, i, to)) return;
  Mat3 bar = mat3_scale(mat3_mul(mat3_cross(w->torque[which]), moved->m), 0.5);
  rotation_adjoint(s, i, bar, to);
}

/* Links that are not selected do not move, so the contributions of both selections add up to the derivatives. */
static void field_adjoint(const Sim* s, const ModelLoad* load, const double (*motion)[3][4], const LoadBars* to) {
  if (!is_selected(s, load->link, to) && !is_selected(s, load->field->to, to)) return;
  const Model* m = s->model;
  const SceneField* field = load->field;
  const StepSpan span = step_span(s, SIGNAL_IS_FORCE);
  FieldGeometry at = field_geometry(m, load, s->pose_now);
  FieldEnergy slope = field_energy_gradient(field, &at);
  AdjointMotion a = link_motion(s, load->link, motion, to), b = link_motion(s, field->to, motion, to);
  FieldEnergy motion_of_field = {.u = vec3_cross(a.w, at.u),
                                 .v = field->to >= 0 ? vec3_cross(b.w, at.v) : vec3(0, 0, 0)};
  motion_of_field.d = vec3_add(vec3_sub(a.v, b.v), vec3_sub(vec3_cross(a.w, at.arm_a), vec3_cross(b.w, at.arm_b)));
  FieldEnergy change = field_hessian_product(field, &at, &motion_of_field);
  double strength = load_value(&load->force, &span).x;
  add_signal_parameter_bars(&load->force, &span, vec3(change.energy, 0, 0), to->gradient->control + load->force_first);
  bool moved = field->to >= 0;
  FieldSide side[2] = {{.link = load->link, .point = model_load_point(m, load), .axis = field->axis},
                       {.link = field->to, .point = field->at, .axis = field->other}};
  side[0].at_center = load->at_center;
  side[1].at_center = moved && !field->has_at;
  if (side[1].at_center) side[1].point = m->links[field->to].center;
  side[0].end_bar = vec3_scale(change.d, strength);
  side[1].end_bar = vec3_scale(change.d, -strength);
  side[0].arm_bar = vec3_scale(vec3_cross(slope.d, a.w), strength);
  side[1].arm_bar = vec3_scale(vec3_cross(slope.d, b.w), -strength);
  side[0].axis_bar = vec3_scale(vec3_add(change.u, vec3_cross(slope.u, a.w)), strength);
  side[1].axis_bar = vec3_scale(vec3_add(change.v, vec3_cross(slope.v, b.w)), strength);
  FieldWrench w = field_wrench(m, load, &span, s->pose_now);
  field_side_adjoint(s, &side[0], &a, &w, 0, to);
  field_side_adjoint(s, &side[1], &b, &w, 1, to);
}

/* Adds the derivatives of Phi = -B : M of a load on a free body (L93). m, v: rotation part and translation part of M.
 */
static void load_at_start_adjoint(const Sim* s, const ModelLoad* load, Mat3 m, Vec3 v, const LoadBars* to) {
  int i = load->link;
  const StepSpan span = step_span(s, SIGNAL_IS_FORCE);
  const ModelLink* link = &s->model->links[i];
  LoadAtStart l = load_at_start(s, load, &span);
  Mat3 r = s->pose_now[i].r, rotation = matrix_rotation(s, i, to);
  Vec3 force = vec3_scale(vec3_add(mat3_mul_vec(m, l.point), v), -1), own;
  Vec3 torque = vec3_scale(mat3_axial(mat3_mul(m, mat3_transpose(rotation))), -0.5);
  Vec3 center = vec3_scale(mat3_tmul_vec(m, l.force), -1), own_torque = torque, by_arm;
  rotation_adjoint(s, i, mat3_scale(mat3_mul(mat3_cross(l.torque), m), 0.5), to);
  if (load->link_axes) {
    Vec3 moment = vec3_add(l.own_torque, vec3_cross(l.arm, l.own_force));
    own_torque = mat3_tmul_vec(r, torque);
    own = vec3_add(mat3_tmul_vec(r, force), vec3_cross(own_torque, l.arm));
    by_arm = vec3_cross(l.own_force, own_torque);
    pose_matrix_add_rotation(to->now.pose[i], mat3_add(mat3_outer(force, l.own_force), mat3_outer(torque, moment)));
  } else {
    Vec3 arm = mat3_mul_vec(r, l.arm), by_world_arm = vec3_scale(vec3_cross(l.force, torque), 1 - l.late);
    double late = vec3_dot(center, l.arm) - vec3_dot(torque, vec3_cross(arm, l.force));
    own = vec3_add_scaled(force, 1 - l.late, vec3_cross(torque, arm));
    own = vec3_add_scaled(own, late, l.late_by_force);
    by_arm = vec3_add_scaled(mat3_tmul_vec(r, by_world_arm), l.late, center);
    by_arm = vec3_add_scaled(by_arm, late, l.late_by_arm);
    pose_matrix_add_rotation(to->now.pose[i], mat3_outer(by_world_arm, l.arm));
    spin_adjoint_mobility(s->spin_bodies[i].mobility, link, mat3_scale(l.late_by_mobility, late),
                          &to->gradient->moment[i]);
  }
  add_signal_parameter_bars(&load->force, &span, own, to->gradient->control + load->force_first);
  add_signal_parameter_bars(&load->torque, &span, own_torque, to->gradient->control + load->torque_first);
  if (!load->at_center) center = vec3_sub(center, by_arm); /* arm = point - centre of mass */
  model_gradient_center(s->model, i, center, to->gradient);
}

static void load_adjoint(const Sim* s, const ModelLoad* load, const double (*motion)[3][4], const LoadBars* to) {
  int i = load->link;
  if (!is_selected(s, i, to)) return;
  Mat3 m;
  for (int row = 0; row < 3; row++)
    for (int j = 0; j < 3; j++) m.m[row][j] = motion[i][row][j];
  Vec3 v = vec3(motion[i][0][3], motion[i][1][3], motion[i][2][3]);
  if (s->model->links[i].spins) {
    load_at_start_adjoint(s, load, m, v, to);
    return;
  }
  Mat3 rotation = matrix_rotation(s, i, to);
  Mat3 bar = force_adjoint(s, load, rotation, m, v, to->gradient);
  bar = mat3_add(bar, torque_adjoint(s, load, rotation, m, to->gradient));
  rotation_adjoint(s, i, bar, to);
}

static void selected_loads_adjoint(const Sim* s, const double (*motion)[3][4], const LoadBars* to) {
  for (int k = 0; k < s->model->load_count; k++) {
    const ModelLoad* load = &s->model->loads[k];
    (load->field ? field_adjoint : load_adjoint)(s, load, motion, to);
  }
}

void loads_adjoint(const Sim* s, const double (*motion)[3][4], StateBar now, StateBar old, double (*rate_bar)[3][4],
                   ModelGradient* gradient) {
  selected_loads_adjoint(s, motion, &(LoadBars){false, now, old, rate_bar, gradient});
  internal_forces_adjoint(s, motion, false, now, old, rate_bar, gradient);
}

void loads_target_adjoint(const Sim* s, const double (*motion)[3][4], StateBar now, ModelGradient* gradient) {
  selected_loads_adjoint(s, motion, &(LoadBars){true, now, {NULL, NULL}, NULL, gradient});
  internal_forces_adjoint(s, motion, true, now, (StateBar){NULL, NULL}, NULL, gradient);
}
