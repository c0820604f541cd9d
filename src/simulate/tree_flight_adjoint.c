/* Trees that fly, backwards (docs/derivations/spin.md, W13). */
#include <string.h>

#include "simulate/step_adjoint.h"

/* The displacement [dR | dt] of a pose under a twist (w, v) about its origin. */
static void motion_of(const double twist[6], Pose pose, double out[3][4]) {
  Mat3 turn = mat3_mul(mat3_cross(vec3_at(twist)), pose.r);
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) out[r][c] = turn.m[r][c];
    out[r][3] = twist[3 + r];
  }
}

/* mu = A^-T (derivatives by increments of the aim), into a->product; false: nothing flies. */
static bool find_multipliers(StepAdjoint* a) {
  const Sim* s = a->sim;
  const Model* m = a->model;
  TreeFlight* f = s->flight;
  bool any = false;
  memset(a->product, 0, sizeof(double) * (size_t)m->dof_count);
  step_adjoint_compose(a, f->pose_ahead, a->aim_bar);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (!tree_flight_found(f, link)) continue;
    LinkSpan one = {&i, 1};
    bars_reduce(m, one, f->pose_ahead, f->screws_ahead, a->bar_force, a->bar_moment, a->product);
  }
  for (int tree = 0; tree < m->tree_count; tree++)
    if (f->found[tree]) any = tree_flight_solve_transposed(s, tree, a->product) || any;
  return any;
}

/* -mu . J(q^t)^T D S by everything in D and S of one link; leaves D S, negative, in f->bar. */
static void reverse_displacement(StepAdjoint* a, int i, StateBar now, ModelGradient* gradient) {
  const Sim* s = a->sim;
  const ModelLink* link = &a->model->links[i];
  TreeFlight* f = s->flight;
  double motion[3][4], d[3][4], by_d[3][4];
  motion_of(a->twist[i], s->pose_now[i], motion);
  tree_flight_displacement(s, i, d);
  inertia_times(link, (const double(*)[4])motion, by_d);
  inertia_times(link, (const double(*)[4])d, f->bar[i]);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 4; c++) {
      now.pose[i][r][c] += 2 * by_d[r][c];
      a->aim_bar[i][r][c] -= by_d[r][c];
      a->back_bar[i][r][c] = -by_d[r][c];
      f->bar[i][r][c] = -f->bar[i][r][c];
      for (int k = 0; k < 4; k++) gradient->moment[i].s[c][k] -= motion[r][c] * d[r][k];
    }
  Vec3 pull = vec3(by_d[0][3], by_d[1][3], by_d[2][3]);
  gradient->gravity = vec3_add_scaled(gradient->gravity, f->gravity_time * (1 - link->gravity_compensation), pull);
}

/* By where the tree came from, to the states that told it. */
static void reverse_before(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old,
                           ModelGradient* gradient) {
  const Sim* s = a->sim;
  const Model* m = a->model;
  TreeFlight* f = s->flight;
  step_adjoint_compose(a, f->pose_before, a->back_bar);
  step_adjoint_origins(a, f->pose_before, gradient);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (!tree_flight_found(f, link) || link->dof_count == 0) continue;
    double *by_before = f->reduced + link->dof_first, by_way[JOINT_MAX_DOF] = {0};
    Screw* screws = f->screws_ahead; /* those at the aim are done with */
    model_link_screws(m, i, f->before, f->pose_before, screws);
    memset(by_before, 0, sizeof(double) * (size_t)link->dof_count);
    bars_reduce(m, (LinkSpan){&i, 1}, f->pose_before, screws, a->bar_force, a->bar_moment, f->reduced);
    joint_continue_adjoint(&link->joint, f->way + link->dof_first, -f->factor, by_before, now.q + link->dof_first,
                           by_way);
    if (s->clock.dt_before > 0)
      joint_difference_adjoint(&link->joint, step->q_old + link->coordinate_first, step->q_now + link->coordinate_first,
                               by_way, old.q + link->dof_first, now.q + link->dof_first);
    else
      for (int k = 0; k < link->dof_count; k++) gradient->velocities[link->dof_first + k] += by_way[k];
  }
}

void tree_flight_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old,
                         ModelGradient* gradient) {
  const Sim* s = a->sim;
  const Model* m = a->model;
  TreeFlight* f = s->flight;
  if (!f || !find_multipliers(a)) return;
  Vec3* at = a->force;
  for (int i = 0; i < m->link_count; i++) at[i] = s->pose_now[i].t;
  step_adjoint_twists(m, f->screws_now, at, a->product, a->twist);
  memset(f->bar, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  memset(a->back_bar, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  for (int i = 0; i < m->link_count; i++)
    if (tree_flight_found(f, &m->links[i])) reverse_displacement(a, i, now, gradient);
  step_adjoint_compose(a, f->pose_ahead, a->aim_bar);
  step_adjoint_origins(a, f->pose_ahead, gradient);
  step_adjoint_rates(a, s->pose_now, f->screws_now, f->bar, now.q, a->product, NULL, gradient);
  reverse_before(a, step, now, old, gradient);
}
