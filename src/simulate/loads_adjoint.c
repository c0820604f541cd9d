/* Adjoint of loads (docs/derivations/loads.md, L4, L17). */
#include "simulate/loads.h"

static void add_rotation_bar(double pose[3][4], Mat3 bar) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) pose[i][j] += bar.m[i][j];
}

static void add_signal_parameter_bars(const Signal* signal, const StepSpan* span, Vec3 bar, double* gradient) {
  const double value[3] = {bar.x, bar.y, bar.z}, rate[3] = {0};
  if (signal->source->channels > 0) signal_mean_vjp(signal, span->at, value, rate, gradient);
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

static void predicted_rotation_adjoint(const Sim* s, int link, Mat3 bar, StateBar now, StateBar old,
                                       double (*rate_bar)[3][4]) {
  Mat3 now_bar = mat3_zero(), old_bar = mat3_zero(), by_rate = mat3_zero();
  load_rotation_adjoint(&s->clock, s->pose_now[link].r, s->pose_old[link].r, bar, &now_bar, &old_bar, &by_rate);
  add_rotation_bar(now.pose[link], now_bar);
  if (s->clock.dt_before > 0)
    add_rotation_bar(old.pose[link], old_bar);
  else
    add_rotation_bar(rate_bar[link], by_rate);
}

/* Motion of a link along lambda. v: velocity of the link's centre of mass. w: angular velocity such that the change of
 * the load's energy is -force . v - torque . w. m: rotation part of the motion. rotation: predicted rotation of the
 * link (load_rotation). */
typedef struct {
  Vec3 v, w;
  Mat3 m, rotation;
} AdjointMotion;

static AdjointMotion link_motion(const Sim* s, int i, const double (*motion)[3][4]) {
  AdjointMotion out = {.m = mat3_zero(), .rotation = mat3_identity()};
  if (i < 0 || s->model->links[i].tree < 0) return out;
  for (int row = 0; row < 3; row++)
    for (int j = 0; j < 3; j++) out.m.m[row][j] = motion[i][row][j];
  out.rotation = load_rotation(&s->clock, s->pose_now[i].r, s->pose_old[i].r, s->pose_rate[i].r);
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
  Vec3 point, axis; /* link frame: point of action [m], axis */
  bool at_center;
  Vec3 end_bar, arm_bar, axis_bar;
} FieldSide;

static void field_side_adjoint(const Sim* s, const FieldSide* side, const AdjointMotion* moved, const FieldWrench* w,
                               int which, StateBar now, StateBar old, double (*rate_bar)[3][4],
                               ModelGradient* gradient) {
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
  model_gradient_center(s->model, i, center, gradient);
  if (link->tree < 0) return;
  Mat3 bar = mat3_scale(mat3_mul(mat3_cross(w->torque[which]), moved->m), 0.5);
  predicted_rotation_adjoint(s, i, bar, now, old, rate_bar);
}

static void field_adjoint(const Sim* s, const ModelLoad* load, const double (*motion)[3][4], StateBar now, StateBar old,
                          double (*rate_bar)[3][4], ModelGradient* gradient) {
  const Model* m = s->model;
  const SceneField* field = load->field;
  const StepSpan span = step_span(s, SIGNAL_IS_FORCE);
  FieldGeometry at = field_geometry(m, load, s->pose_now);
  FieldEnergy slope = field_energy_gradient(field, &at);
  AdjointMotion a = link_motion(s, load->link, motion), b = link_motion(s, field->to, motion);
  FieldEnergy motion_of_field = {.u = vec3_cross(a.w, at.u),
                                 .v = field->to >= 0 ? vec3_cross(b.w, at.v) : vec3(0, 0, 0)};
  motion_of_field.d = vec3_add(vec3_sub(a.v, b.v), vec3_sub(vec3_cross(a.w, at.arm_a), vec3_cross(b.w, at.arm_b)));
  FieldEnergy change = field_hessian_product(field, &at, &motion_of_field);
  double strength = load_value(&load->force, &span).x;
  add_signal_parameter_bars(&load->force, &span, vec3(change.energy, 0, 0), gradient->control + load->force_first);
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
  field_side_adjoint(s, &side[0], &a, &w, 0, now, old, rate_bar, gradient);
  field_side_adjoint(s, &side[1], &b, &w, 1, now, old, rate_bar, gradient);
}

void loads_adjoint(const Sim* s, const double (*motion)[3][4], StateBar now, StateBar old, double (*rate_bar)[3][4],
                   ModelGradient* gradient) {
  const Model* model = s->model;
  for (int k = 0; k < model->load_count; k++) {
    const ModelLoad* load = &model->loads[k];
    int i = load->link;
    if (load->field) field_adjoint(s, load, motion, now, old, rate_bar, gradient);
    if (load->field || model->links[i].tree < 0) continue;
    Mat3 m, rotation = load_rotation(&s->clock, s->pose_now[i].r, s->pose_old[i].r, s->pose_rate[i].r);
    for (int row = 0; row < 3; row++)
      for (int j = 0; j < 3; j++) m.m[row][j] = motion[i][row][j];
    Vec3 v = vec3(motion[i][0][3], motion[i][1][3], motion[i][2][3]);
    Mat3 bar = force_adjoint(s, load, rotation, m, v, gradient);
    bar = mat3_add(bar, torque_adjoint(s, load, rotation, m, gradient));
    predicted_rotation_adjoint(s, i, bar, now, old, rate_bar);
  }
}
