/* Adjoint of the target poses of trees in free flight (docs/derivations/spin.md, W13, W18). */
#include <assert.h>
#include <string.h>

#include "simulate/loads.h"
#include "simulate/step_adjoint.h"

/* Sets out to the change of rotation matrix and position of a pose by a small motion (rotation, displacement of its
 * origin). */
static void pose_change_of_twist(const double twist[6], Pose pose, double out[3][4]) {
  Mat3 turn = mat3_mul(mat3_cross(vec3_at(twist)), pose.r);
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) out[r][c] = turn.m[r][c];
    out[r][3] = twist[3 + r];
  }
}

static bool has_group_target(const TreeFlight* f, int group) {
  return f->has_target[f->trees[f->group[group].tree_first]];
}

/* Sets the adjoint variables mu of the target's force balance (a->product) and eta of its closure rows (f->eta) from
 * the derivatives of a scalar with respect to the targets (W18). Returns false if no group has a target. */
static bool solve_multipliers(StepAdjoint* a) {
  const Sim* s = a->sim;
  const Model* m = a->model;
  TreeFlight* f = s->flight;
  bool any = false;
  memcpy(a->product, f->wheel_bar, sizeof(double) * (size_t)m->dof_count);
  step_adjoint_compose(a, f->target_pose, a->aim_bar);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (!tree_flight_has_target(f, link)) continue;
    LinkSpan one = {&i, 1};
    pose_bars_reduce(m, one, f->target_pose, f->target_screws, a->bar_force, a->bar_moment, a->product);
    for (int d = link->dof_first; d < link->dof_first + link->dof_count;
         d++) /* adds the derivative of -lambda . (joint forces in the target) with respect to the target (W51) */
      a->product[d] -= f->joint_stiffness[d] * a->lambda[d];
  }
  for (int k = 0; k < f->group_count; k++)
    if (has_group_target(f, k)) any = tree_flight_solve_transposed(s, k, a->product) || any;
  return any;
}

/* Adds the derivatives of minus the work of the inertial force of link i in the motion mu. The force is D S, with the
 * displacement D (tree_flight_displacement) and the second moment S of the mass. Sets f->bar[i] to -D S. a->twist must
 * hold the twists of the links by mu. */
static void displacement_adjoint(StepAdjoint* a, int i, StateBar now, ModelGradient* gradient) {
  const Sim* s = a->sim;
  const ModelLink* link = &a->model->links[i];
  TreeFlight* f = s->flight;
  double motion[3][4], d[3][4], by_d[3][4];
  pose_change_of_twist(a->twist[i], s->pose_now[i], motion);
  tree_flight_displacement(s, i, d);
  inertia_second_moment_product(link, (const double(*)[4])motion, by_d);
  inertia_second_moment_product(link, (const double(*)[4])d, f->bar[i]);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 4; c++) {
      now.pose[i][r][c] += 2 * (1 - f->bracket_weight) * by_d[r][c];
      a->aim_bar[i][r][c] -= by_d[r][c];
      a->back_bar[i][r][c] -= by_d[r][c];
      a->behind_bar[i][r][c] += f->bracket_weight * by_d[r][c];
      a->beyond_bar[i][r][c] += f->bracket_weight * by_d[r][c];
      f->bar[i][r][c] = -f->bar[i][r][c];
      for (int k = 0; k < 4; k++) gradient->moment[i].s[c][k] -= motion[r][c] * d[r][k];
    }
  Vec3 pull = vec3(by_d[0][3], by_d[1][3], by_d[2][3]);
  gradient->gravity = vec3_add_scaled(gradient->gravity, f->gravity_time * (1 - link->gravity_compensation), pull);
}

/* Adds the contribution of closures and couplings to the derivatives of the adjoint's scalar with respect to poses,
 * targets and closures. The scalar depends on the row forces at time t, which change with the motion mu, and on the
 * closure rows at the target. */
static void rows_adjoint(StepAdjoint* a, int group, const double* mu, StateBar now) {
  assert(group >= 0 && group < a->sim->flight->group_count);
  const Sim* s = a->sim;
  const Model* m = a->model;
  TreeFlight* f = s->flight;
  const FlightGroup* g = &f->group[group];
  for (int n = 0; n < g->closure_count; n++) {
    int k = f->closures[g->closure_first + n], first = closure_first_row(f->closures_now, k);
    if (s->closures->open[k]) continue;
    if (closure_coupling(f->closures_now, k)) {
      closure_adjoint_coupling(a->closures, m, k - m->closure_count, -f->row_impulse[first], 0, mu, s->q_now);
      closure_adjoint_coupling(a->closures, m, k - m->closure_count, 0, -f->eta[first], mu, f->target_q);
      continue;
    }
    for (int row = first; row < first + closure_row_count(f->closures_now, k); row++) {
      f->row_impulse[row] = -f->row_impulse[row];
      f->eta[row] = -f->eta[row];
    }
    closure_adjoint_rows(a->closures, m, k, s->pose_now, (const double(*)[3][4])a->motion, f->row_impulse, NULL,
                         (ClosurePoseBars){now.pose, f->bar});
    closure_adjoint_rows(a->closures, m, k, f->target_pose, NULL, NULL, f->eta, (ClosurePoseBars){a->aim_bar, NULL});
    for (int row = first; row < first + closure_row_count(f->closures_now, k); row++)
      f->row_impulse[row] = -f->row_impulse[row]; /* restores the sign, because the forward derivatives call this
                                       function once for each equation of a step */
  }
}

/* Adds the derivatives of a scalar with respect to the prescribed coordinates of the target, from the composed forces
 * on links and from couplings. */
static void prescribed_adjoint(StepAdjoint* a, const RecordedStep* step, ModelGradient* gradient) {
  const Sim* s = a->sim;
  const Model* m = a->model;
  TreeFlight* f = s->flight;
  if (s->prescribed_joints.count == 0) return;
  memcpy(f->change, f->wheel_bar, sizeof(double) * (size_t)m->dof_count);
  for (int i = 0; i < m->link_count; i++)
    if (m->links[i].prescribed >= 0 && tree_flight_has_target(f, &m->links[i]))
      pose_bars_reduce(m, (LinkSpan){&i, 1}, f->target_pose, f->target_screws, a->bar_force, a->bar_moment, f->change);
  for (int k = 0; k < m->coupling_count; k++) {
    const ModelCoupling* c = &m->couplings[k];
    if (!tree_flight_has_target(f, &m->links[m->dof_link[c->dof[0]]])) continue;
    for (int i = 0; i < c->count; i++) f->change[c->dof[i]] -= f->eta[c->row] * c->slope[i];
  }
  step_adjoint_prescribed(a, f->change, step->clock.time, gradient);
}

/* Coordinates and poses reached from those at time t by `factor` times the last displacement (TreeFlight.before_q,
 * behind_q or beyond_q). bar: derivatives of a scalar with respect to these poses. */
typedef struct {
  const double* q;
  const Pose* pose;
  double (*bar)[3][4];
  double factor;
} ExtrapolatedState;

/* Converts the derivatives of an ExtrapolatedState into derivatives with respect to the states at t and one step
 * before. In the first step, converts them into derivatives with respect to the initial velocities. */
static void extrapolated_state_adjoint(StepAdjoint* a, const RecordedStep* step, const ExtrapolatedState* side,
                                       StateBar now, StateBar old, ModelGradient* gradient) {
  const Sim* s = a->sim;
  const Model* m = a->model;
  TreeFlight* f = s->flight;
  step_adjoint_compose(a, side->pose, side->bar);
  step_adjoint_frames(a, side->pose, gradient);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (!tree_flight_has_target(f, link) || link->dof_count == 0) continue;
    double *by = f->reduced + link->dof_first, by_way[JOINT_MAX_DOF] = {0};
    Screw* screws = f->screws_side;
    model_link_screws(m, i, side->q, side->pose, screws);
    memset(by, 0, sizeof(double) * (size_t)link->dof_count);
    pose_bars_reduce(m, (LinkSpan){&i, 1}, side->pose, screws, a->bar_force, a->bar_moment, f->reduced);
    joint_continue_adjoint(&link->joint, f->last_displacement + link->dof_first, side->factor, by,
                           now.q + link->dof_first, by_way);
    if (s->clock.dt_before > 0)
      joint_difference_adjoint(&link->joint, step->q_old + link->coordinate_first, step->q_now + link->coordinate_first,
                               by_way, old.q + link->dof_first, now.q + link->dof_first);
    else
      for (int k = 0; k < link->dof_count; k++) gradient->velocities[link->dof_first + k] += by_way[k];
  }
}

/* Sets a->motion of the links to the changes of the poses at t by the twists a->twist. */
static void set_motion_at_start(StepAdjoint* a) {
  for (int i = 0; i < a->model->link_count; i++) pose_change_of_twist(a->twist[i], a->sim->pose_now[i], a->motion[i]);
}

/* Adds the derivatives of a scalar through the loads that the targets contain (W52). a->product must hold mu.
 * Overwrites flight->bar and flight->change. */
static void target_loads_adjoint(StepAdjoint* a, StateBar now, ModelGradient* gradient) {
  const Sim* s = a->sim;
  const Model* m = a->model;
  TreeFlight* f = s->flight;
  bool any = false;
  for (int k = 0; k < m->tree_count; k++) any = any || f->contains_loads[k];
  if (!any) return;
  for (int d = 0; d < m->dof_count; d++)
    f->change[d] = f->is_load_direct[d] ? a->lambda[d] : -f->gravity_time * a->product[d];
  for (int i = 0; i < m->link_count; i++) a->force[i] = s->pose_now[i].t;
  step_adjoint_twists(m, f->screws_now, a->force, f->change, a->twist);
  set_motion_at_start(a);
  loads_target_adjoint(s, (const double(*)[3][4])a->motion, now, gradient);
  for (int i = 0; i < m->link_count; i++) {
    memset(f->bar[i], 0, sizeof(f->bar[i]));
    if (!load_is_in_target(s, i)) continue;
    load_matrix(&s->loads[i], s->pose_now[i].r, f->bar[i]);
    for (int n = 0; n < 12; n++) f->bar[i][n / 4][n % 4] *= -1;
  }
  step_adjoint_rates(a, s->pose_now, f->screws_now, f->bar, now.q, f->change, NULL, gradient);
}

/* Adds the contribution of the inertial forces and loads in the targets to the derivatives of slopes . reactions. The
 * joint reactions contain these forces (update.md, O3). */
static void reactions_adjoint(StepAdjoint* a, StateBar now, StateBar old, ModelGradient* gradient) {
  const TreeFlight* f = a->sim->flight;
  for (int i = 0; a->reacts && i < a->model->link_count; i++) {
    if (!tree_flight_has_target(f, &a->model->links[i])) continue;
    for (int k = 0; k < 6; k++) a->twist[i][k] = -a->field_now[i][k] / f->gravity_time;
    displacement_adjoint(a, i, now, gradient);
    if (!f->is_wheel[i]) continue;
    Vec3 axis = f->screws_now[flight_wheel_dof(a->sim, i)].w;
    double by = vec3_dot(axis, vec3_at(a->field_now[i])) / f->gravity_time;
    f->wheel_bar[flight_wheel_dof(a->sim, i)] = by * flight_wheel_stiffness(a->sim, i);
    flight_wheel_adjoint(a->sim, i, by, now, old, gradient);
  }
  if (!a->reacts || !a->sim->loads) return;
  memcpy(a->twist, a->field_now, sizeof(double[6]) * (size_t)a->model->link_count);
  set_motion_at_start(a);
  loads_target_adjoint(a->sim, (const double(*)[3][4])a->motion, now, gradient);
}

void tree_flight_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old,
                         ModelGradient* gradient) {
  const Sim* s = a->sim;
  const Model* m = a->model;
  TreeFlight* f = s->flight;
  if (!f) return;
  memset(a->back_bar, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  memset(a->behind_bar, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  memset(a->beyond_bar, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  memset(f->wheel_bar, 0, sizeof(double) * (size_t)m->dof_count);
  reactions_adjoint(a, now, old, gradient);
  f->by_row = a->closures && a->closures->loaded ? a->closures->by_row : NULL;
  if (!solve_multipliers(a)) return;
  Vec3* at = a->force;
  for (int i = 0; i < m->link_count; i++) at[i] = s->pose_now[i].t;
  step_adjoint_twists(m, f->screws_now, at, a->product, a->twist);
  memset(f->bar, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  for (int i = 0; i < m->link_count; i++) {
    if (!tree_flight_has_target(f, &m->links[i])) continue;
    displacement_adjoint(a, i, now, gradient);
    if (f->is_wheel[i]) flight_wheel_adjoint(s, i, -a->product[flight_wheel_dof(s, i)], now, old, gradient);
    pose_change_of_twist(a->twist[i], s->pose_now[i], a->motion[i]);
  }
  for (int k = 0; k < f->group_count; k++)
    if (has_group_target(f, k)) rows_adjoint(a, k, a->product, now);
  step_adjoint_compose(a, f->target_pose, a->aim_bar);
  step_adjoint_frames(a, f->target_pose, gradient);
  prescribed_adjoint(a, step, gradient);
  step_adjoint_rates(a, s->pose_now, f->screws_now, f->bar, now.q, a->product, NULL, gradient);
  target_loads_adjoint(a, now, gradient);
  const ExtrapolatedState before = {f->before_q, f->pose_before, a->back_bar, -f->factor};
  extrapolated_state_adjoint(a, step, &before, now, old, gradient);
  if (f->bracket_weight == 0) return;
  const ExtrapolatedState behind = {f->behind_q, f->pose_behind, a->behind_bar, -f->extrapolation_factor};
  const ExtrapolatedState beyond = {f->beyond_q, f->pose_beyond, a->beyond_bar, f->extrapolation_factor};
  extrapolated_state_adjoint(a, step, &behind, now, old, gradient);
  extrapolated_state_adjoint(a, step, &beyond, now, old, gradient);
}
