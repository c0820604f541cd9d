/* Loads backwards (docs/derivations/loads.md, L4). */
#include "simulate/loads.h"

static void add_rotation(double pose[3][4], Mat3 bar) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) pose[i][j] += bar.m[i][j];
}

static void add_parameters(const Signal* signal, double t, Vec3 bar, double* gradient) {
  const double value[3] = {bar.x, bar.y, bar.z}, rate[3] = {0};
  if (signal->source->channels > 0) signal_eval_vjp(signal, t, value, rate, gradient);
}

/* Phi = -B : M by f, its point and R*; m: the rotation part of M, v the rest of it. */
static Mat3 reverse_force(const Sim* s, const ModelLoad* load, Mat3 rotation, Mat3 m, Vec3 v, ModelGradient* gradient) {
  Vec3 own = load_value(&load->force, s->clock.time);
  Vec3 force = load->link_axes ? mat3_mul_vec(rotation, own) : own;
  Vec3 bar = vec3_scale(vec3_add(mat3_mul_vec(m, model_load_point(s->model, load)), v), -1);
  if (load->at_center) {
    Vec3 by_center = vec3_scale(mat3_tmul_vec(m, force), -1);
    model_gradient_center(s->model, load->link, by_center, gradient);
  }
  Vec3 by_own = load->link_axes ? mat3_tmul_vec(rotation, bar) : bar;
  add_parameters(&load->force, s->clock.time, by_own, gradient->control + load->force_first);
  return load->link_axes ? mat3_outer(bar, own) : mat3_zero();
}

static Mat3 reverse_torque(const Sim* s, const ModelLoad* load, Mat3 rotation, Mat3 m, ModelGradient* gradient) {
  Mat3 own = mat3_cross(load_value(&load->torque, s->clock.time)), back = mat3_transpose(rotation);
  Vec3 bar = mat3_axial(load->link_axes ? mat3_mul(back, m) : mat3_mul(m, back));
  add_parameters(&load->torque, s->clock.time, vec3_scale(bar, -0.5), gradient->control + load->torque_first);
  return mat3_scale(load->link_axes ? mat3_mul(m, own) : mat3_mul(own, m), 0.5);
}

static void reverse_rotation(const Sim* s, int link, Mat3 bar, StateBar now, StateBar old, double (*rate_bar)[3][4]) {
  Mat3 now_bar = mat3_zero(), old_bar = mat3_zero(), by_rate = mat3_zero();
  load_rotation_adjoint(&s->clock, s->pose_now[link].r, s->pose_old[link].r, bar, &now_bar, &old_bar, &by_rate);
  add_rotation(now.pose[link], now_bar);
  if (s->clock.dt_before > 0)
    add_rotation(old.pose[link], old_bar);
  else
    add_rotation(rate_bar[link], by_rate);
}

void loads_adjoint(const Sim* s, const double (*motion)[3][4], StateBar now, StateBar old, double (*rate_bar)[3][4],
                   ModelGradient* gradient) {
  const Model* model = s->model;
  for (int k = 0; k < model->load_count; k++) {
    const ModelLoad* load = &model->loads[k];
    int i = load->link;
    if (model->links[i].tree < 0) continue;
    Mat3 m, rotation = load_rotation(&s->clock, s->pose_now[i].r, s->pose_old[i].r, s->pose_rate[i].r);
    for (int row = 0; row < 3; row++)
      for (int j = 0; j < 3; j++) m.m[row][j] = motion[i][row][j];
    Vec3 v = vec3(motion[i][0][3], motion[i][1][3], motion[i][2][3]);
    Mat3 bar = reverse_force(s, load, rotation, m, v, gradient);
    bar = mat3_add(bar, reverse_torque(s, load, rotation, m, gradient));
    reverse_rotation(s, i, bar, now, old, rate_bar);
  }
}
