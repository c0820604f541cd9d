/* Adjoint of tendons (docs/derivations/loads.md, L7, L8, L96, L97). */
#include "simulate/tendons.h"

#include <assert.h>
#include <string.h>

#include "simulate/signal_span.h"

static bool is_movable(const Model* m, int link) { return link >= 0 && m->links[link].tree >= 0; }

/* Adds the change of the wrenches on both links of a term to wrench[links]: (Hessian of the term) twists, plus the
 * force by a change of the pull. */
static void add_term_product(const TendonSystem* s, int index, double pull_change, const double (*twist)[6],
                             double (*wrench)[6]) {
  const TendonSegment* t = &s->segment[index];
  double both[12] = {0};
  for (int side = 0; side < 2; side++)
    if (is_movable(s->model, t->link[side])) memcpy(both + 6 * side, twist[t->link[side]], sizeof(double[6]));
  for (int side = 0; side < 2; side++) {
    Vec3 force = vec3_scale(t->slope, side == 0 ? pull_change : -pull_change);
    double change[6];
    vec3_store(vec3_cross(t->arm[side], force), change);
    vec3_store(force, change + 3);
    for (int i = 0; t->link[side] >= 0 && i < 6; i++) {
      for (int j = 0; j < 12; j++) change[i] += t->hessian[6 * side + i][j] * both[j];
      wrench[t->link[side]][i] += change[i];
    }
  }
}

/* Returns the rate of change of the length of the tendon segment of term `index` when the links move by twist[links].
 */
static double term_length_rate(const TendonSystem* s, int index, const double (*twist)[6]) {
  const TendonSegment* t = &s->segment[index];
  double rate = 0;
  for (int side = 0; side < 2; side++) {
    if (!is_movable(s->model, t->link[side])) continue;
    const double* link_twist = twist[t->link[side]];
    Vec3 v = vec3_add(vec3_at(link_twist + 3), vec3_cross(vec3_at(link_twist), t->arm[side]));
    rate += side == 0 ? vec3_dot(t->slope, v) : -vec3_dot(t->slope, v);
  }
  return rate;
}

void tendons_hessian_product(const TendonSystem* s, const double (*twist)[6], double (*wrench)[6]) {
  for (int k = 0; s && k < s->model->tendon_count; k++) {
    double rate = 0, stiffness = s->stretched[k].stiffness;
    for (int n = s->first[k]; stiffness != 0 && n < s->first[k + 1]; n++) rate += term_length_rate(s, n, twist);
    for (int n = s->first[k]; n < s->first[k + 1]; n++) add_term_product(s, n, stiffness * rate, twist, wrench);
  }
}

/* Rotation matrix r of the link to which a point of a tendon belongs. dr, x_dot: directional derivatives of r and of
 * the point along the adjoint solution lambda. */
typedef struct {
  Mat3 r, dr;
  Vec3 x_dot;
} PointMotion;

static PointMotion compute_point_motion(const Model* model, const Pose* poses, const SceneTendonPoint* point,
                                        const double (*motion)[3][4]) {
  PointMotion out = {mat3_identity(), mat3_zero(), vec3(0, 0, 0)};
  if (point->link < 0) return out;
  out.r = poses[point->link].r;
  if (!is_movable(model, point->link)) return out;
  const double(*m)[4] = motion[point->link];
  out.dr = pose_matrix_rotation(m);
  out.x_dot = vec3_add(mat3_mul_vec(out.dr, point->point), pose_matrix_translation(m));
  return out;
}

/* Path between two neighbouring points of a tendon, with the path's directional derivative along lambda. Index 0: first
 * end; index 1: second end. */
typedef struct {
  PointMotion at[2];
  const SceneTendonWrap* wrap; /* wrap that the path touches; NULL: the path is straight */
  PointMotion of_wrap;
  Mat3 turn;       /* directional derivative of the wrap's rotation matrix R along lambda, times the transpose of R */
  Vec3 arm[2];     /* vector from the centre of the wrap to each end of the path [m] */
  TendonWrap path; /* path around the wrap. Its slopes are also set for a straight path */
  Vec3 dot[2];     /* displacement of each end relative to the wrap along lambda [m] */
  Vec3 bent[2];    /* product of the path's curvature matrix and `dot` */
  double rate;     /* directional derivative of the path's length along lambda [m] */
} PathMotion;

static void set_straight_motion(PathMotion* w, TendonPiece t) {
  Vec3 dot = vec3_sub(w->at[0].x_dot, w->at[1].x_dot);
  w->rate = vec3_dot(t.slope, dot);
  for (int k = 0; k < 2; k++) {
    w->path.slope[k] = vec3_scale(t.slope, k == 0 ? 1 : -1);
    w->bent[k] = vec3_scale(mat3_mul_vec(t.curvature, dot), k == 0 ? 1 : -1);
  }
}

static void set_wrapped_motion(PathMotion* w, const Model* model, const Pose* poses, const Vec3 end[2],
                               const double (*motion)[3][4]) {
  const SceneTendonWrap* wrap = w->wrap;
  Pose pose = tendon_wrap_pose(wrap, poses);
  w->of_wrap = compute_point_motion(model, poses, &(SceneTendonPoint){wrap->link, wrap->position, 0}, motion);
  w->turn = mat3_mul(w->of_wrap.dr, mat3_transpose(pose.r));
  Vec3 center = pose_apply(pose, wrap->position);
  for (int k = 0; k < 2; k++) {
    w->arm[k] = vec3_sub(end[k], center);
    Vec3 carried = vec3_add(w->of_wrap.x_dot, mat3_mul_vec(w->turn, w->arm[k]));
    w->dot[k] = vec3_sub(w->at[k].x_dot, carried);
    w->rate += vec3_dot(w->path.slope[k], w->dot[k]);
  }
  const Mat3* c = w->path.curvature;
  w->bent[0] = vec3_add(mat3_mul_vec(c[0], w->dot[0]), mat3_mul_vec(c[2], w->dot[1]));
  w->bent[1] = vec3_add(mat3_mul_vec(c[1], w->dot[1]), mat3_tmul_vec(c[2], w->dot[0]));
}

/* Returns the path from point i of a tendon to the next point at poses[links]. */
static PathMotion compute_path_motion(const Model* model, const SceneTendon* tendon, int i, const Pose* poses,
                                      const double (*motion)[3][4]) {
  const SceneTendonPoint* point = &tendon->points[i];
  const SceneTendonWrap* wrap = scene_tendon_wrap(tendon, i);
  PathMotion w = {.at = {compute_point_motion(model, poses, &point[0], motion),
                         compute_point_motion(model, poses, &point[1], motion)}};
  Vec3 end[2] = {tendon_point(&point[0], poses), tendon_point(&point[1], poses)};
  if (wrap) w.path = tendon_wrap(wrap, tendon_wrap_pose(wrap, poses), end[0], end[1]);
  w.wrap = w.path.touches ? wrap : NULL;
  if (w.wrap)
    set_wrapped_motion(&w, model, poses, end, motion);
  else
    set_straight_motion(&w, tendon_piece(vec3_sub(end[0], end[1]), tendon->eyelet));
  return w;
}

double tendon_path_rate(const Model* model, int k, const Pose* poses, const double (*motion)[3][4]) {
  assert(k >= 0 && k < model->tendon_count);
  const SceneTendon* tendon = model->tendons[k].source;
  double rate = 0;
  for (int i = 0; i + 1 < tendon->count; i++) rate += compute_path_motion(model, tendon, i, poses, motion).rate;
  return rate;
}

/* Converts by_turn, the derivative of a scalar with respect to a rotation of a wrap about its centre in world axes,
 * into its derivative with respect to the wrap's axis in the link's frame, and adds the result to bar. */
static void add_wrap_axis_bar(const SceneTendonWrap* wrap, Mat3 r, Vec3 by_turn, double* bar) {
  if (wrap->type != WRAP_CYLINDER) return;
  double size = vec3_norm(wrap->axis);
  Vec3 by = vec3_scale(vec3_cross(mat3_tmul_vec(r, by_turn), wrap->axis), 1 / (size * size));
  vec3_store(vec3_add(vec3_at(bar + WRAP_NUMBER_AXIS), by), bar + WRAP_NUMBER_AXIS);
}

static void add_point_bar(Mat3 r, Vec3 by_ends, double* bar) {
  Vec3 by_position = mat3_tmul_vec(r, by_ends);
  vec3_store(vec3_sub(vec3_at(bar + WRAP_NUMBER_POSITION), by_position), bar + WRAP_NUMBER_POSITION);
}

void tendon_tension_adjoint(const Sim* sim, int k, double rate, ModelGradient* gradient) {
  assert(k >= 0 && k < sim->model->tendon_count);
  const ModelTendon* tendon = &sim->model->tendons[k];
  double zero = 0;
  StepSpan span = step_span(sim, SIGNAL_IS_FORCE);
  if (tendon->tension.source->channels > 0)
    signal_mean_vjp(&tendon->tension, span.at, &rate, &zero, gradient->control + tendon->tension_first);
}

/* Adds by_length times the derivatives of the length of a wrapped path at an earlier state, with respect to the wrap's
 * parameters to by_wrap and with respect to the pose of the wrap's link to bar. */
static void earlier_wrap_adjoint(const SceneTendonWrap* wrap, const TendonWrap* path, const Vec3 end[2], Pose pose,
                                 double by_length, double (*bar)[3][4], double* by_wrap) {
  Vec3 center = pose_apply(pose, wrap->position), turn = vec3(0, 0, 0), sum = turn;
  for (int k = 0; k < 2; k++) {
    Vec3 by = vec3_scale(path->slope[k], by_length), by_local = mat3_tmul_vec(pose.r, by);
    sum = vec3_add(sum, by);
    turn = vec3_sub(turn, vec3_cross(vec3_sub(end[k], center), by));
    if (wrap->link < 0) continue;
    double y[3], f[3], g[3];
    vec3_store(vec3_sub(end[k], pose.t), y);
    vec3_store(by_local, f);
    vec3_store(by, g);
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) bar[wrap->link][i][j] += y[i] * f[j];
      bar[wrap->link][i][3] -= g[i];
    }
  }
  by_wrap[WRAP_NUMBER_RADIUS] += by_length * path->by_radius;
  add_point_bar(pose.r, sum, by_wrap);
  add_wrap_axis_bar(wrap, pose.r, turn, by_wrap);
}

void tendon_length_adjoint(const Model* model, int k, const Pose* poses, double by_length, StateBar to,
                           ModelGradient* gradient) {
  assert(k >= 0 && k < model->tendon_count);
  const ModelTendon* tendon = &model->tendons[k];
  const SceneTendon* source = tendon->source;
  double(*bar)[3][4] = to.pose;
  for (int i = 0; i < source->joint_count; i++)
    to.q[tendon_dof(model, &source->joints[i])] += by_length * source->joints[i].ratio;
  for (int i = 0; by_length != 0 && i + 1 < source->count; i++) {
    Vec3 end[2] = {tendon_point(&source->points[i], poses), tendon_point(&source->points[i + 1], poses)};
    const SceneTendonWrap* wrap = scene_tendon_wrap(source, i);
    TendonWrap path = {0};
    if (wrap) path = tendon_wrap(wrap, tendon_wrap_pose(wrap, poses), end[0], end[1]);
    if (path.touches)
      earlier_wrap_adjoint(wrap, &path, end, tendon_wrap_pose(wrap, poses), by_length, bar,
                           gradient->tendon_wraps[tendon->wrap_first + source->points[i].wrap - 1]);
    Vec3 slope = vec3_scale(tendon_piece(vec3_sub(end[0], end[1]), source->eyelet).slope, by_length);
    for (int side = 0; side < 2; side++) {
      const SceneTendonPoint* point = &source->points[i + side];
      Vec3 by = path.touches ? vec3_scale(path.slope[side], by_length)
                : side == 0  ? slope
                             : vec3_scale(slope, -1),
           *point_bar = &gradient->tendon_points[tendon->point_first + i + side];
      *point_bar = vec3_add(*point_bar, point->link < 0 ? by : mat3_tmul_vec(poses[point->link].r, by));
      double f[3] = {by.x, by.y, by.z}, x[4] = {point->point.x, point->point.y, point->point.z, 1};
      for (int n = 0; point->link >= 0 && n < 12; n++) bar[point->link][n / 4][n % 4] += f[n / 4] * x[n % 4];
    }
  }
}

/* Adds the derivatives of pull * rate with respect to the parameters of the wrap of a path at t + dt to bar. pull:
 * tendon force; rate: directional derivative of the path's length along lambda. slack: derivative of the scalar with
 * respect to the path's length. */
static void wrap_adjoint(const PathMotion* w, double pull, double slack, double* bar) {
  Vec3 by_ends = vec3(0, 0, 0), turn = by_ends;
  bar[WRAP_NUMBER_RADIUS] += slack * w->path.by_radius;
  for (int k = 0; k < 2; k++) {
    Vec3 by = vec3_add(vec3_scale(w->bent[k], pull), vec3_scale(w->path.slope[k], slack));
    by_ends = vec3_add(by_ends, by);
    turn = vec3_add_scaled(turn, pull, vec3_cross(w->path.slope[k], w->dot[k]));
    turn = vec3_sub(turn, vec3_cross(w->arm[k], by));
    bar[WRAP_NUMBER_RADIUS] += pull * vec3_dot(w->path.slope_by_radius[k], w->dot[k]);
  }
  add_point_bar(w->of_wrap.r, by_ends, bar);
  add_wrap_axis_bar(w->wrap, w->of_wrap.r, turn, bar);
}

/* Adds the derivatives of pull * rate with respect to the ends of a path at t + dt, in the frames of their links, to
 * bar[2]. slack: derivative with respect to the path's length. */
static void path_ends_adjoint(const PathMotion* w, double pull, double slack, Vec3* bar) {
  for (int side = 0; side < 2; side++) {
    Vec3 by_dot = vec3_scale(w->path.slope[side], pull);
    Vec3 by = vec3_add(vec3_scale(w->bent[side], pull), vec3_scale(w->path.slope[side], slack));
    if (w->wrap) by = vec3_sub(by, mat3_tmul_vec(w->turn, by_dot));
    Vec3 by_end = vec3_add(mat3_tmul_vec(w->at[side].r, by), mat3_tmul_vec(w->at[side].dr, by_dot));
    bar[side] = vec3_add(bar[side], by_end);
  }
}

/* Adds the derivatives of Phi = pull * rate of tendon k with respect to earlier states and the tendon's parameters.
 * rate: directional derivative of the tendon's length along lambda; pull = tension + stiffness * stretch + limit
 * force. */
static void tendon_adjoint(const Sim* sim, int k, const double* lambda, const double (*motion)[3][4], StateBar now,
                           StateBar old, ModelGradient* gradient) {
  const TendonSystem* s = sim->tendons;
  const ModelTendon* tendon = &s->model->tendons[k];
  const SceneTendon* source = tendon->source;
  const SpringTimeWeights* spring = &s->at[k];
  const Configuration* c = &sim->configuration[sim->current];
  double rate = 0, length = tendon_length(s->model, source, c->pose, c->q);
  double stretch = tendon_weighted_stretch(s, k, length);
  TendonLimit limit = tendon_limit(s, k, length);
  for (int i = 0; i < source->joint_count; i++)
    rate += source->joints[i].ratio * lambda[tendon_dof(s->model, &source->joints[i])];
  rate += tendon_path_rate(s->model, k, c->pose, motion);
  double by_stretch = stretch > 0 ? (1 - spring->missing) * source->stiffness * rate : 0;
  double slack = spring_weight_of_end(spring) * by_stretch + limit.second * rate;
  tendon_tension_adjoint(sim, k, rate, gradient);
  gradient->tendons[k][TENDON_NUMBER_STIFFNESS] += (1 - spring->missing) * stretch * rate;
  gradient->tendons[k][TENDON_NUMBER_REST] -= by_stretch;
  gradient->tendons[k][TENDON_NUMBER_FRICTION] += limit.by_friction * rate;
  if (stretch > 0) {
    double past_now = tendon_length(s->model, source, sim->pose_now, sim->q_now);
    double past_old = tendon_length(s->model, source, sim->pose_old, sim->q_old);
    SpringTimeWeights by_theta = spring_time_weights_derivative(&sim->clock, &sim->weights, tendon->theta, true);
    SpringTimeWeights by = {by_stretch * (past_now - length), by_stretch * (past_old - length),
                            -source->stiffness * stretch * rate};
    gradient->thetas[model_theta_index(sim->model, THETA_TENDON, k)] += spring_time_dot(&by, &by_theta);
  }
  tendon_length_adjoint(s->model, k, sim->pose_now, spring->now * by_stretch + limit.by_now * rate, now, gradient);
  tendon_length_adjoint(s->model, k, sim->pose_old, spring->old * by_stretch + limit.by_old * rate, old, gradient);
  for (int i = 0; i + 1 < source->count; i++) {
    PathMotion w = compute_path_motion(s->model, source, i, c->pose, motion);
    path_ends_adjoint(&w, s->pull[k], slack, &gradient->tendon_points[tendon->point_first + i]);
    if (w.wrap)
      wrap_adjoint(&w, s->pull[k], slack, gradient->tendon_wraps[tendon->wrap_first + source->points[i].wrap - 1]);
  }
}

void tendons_adjoint(const Sim* sim, const double* lambda, const double (*motion)[3][4], StateBar now, StateBar old,
                     ModelGradient* gradient) {
  for (int k = 0; sim->tendons && k < sim->model->tendon_count; k++)
    tendon_adjoint(sim, k, lambda, motion, now, old, gradient);
}

/* ---------------------------------------------------------------- derivatives of the rate of a length (drives.md,
 * M10) */

static void add_rotation_bar(double (*bar)[3][4], int link, Mat3 by) {
  for (int n = 0; n < 9; n++) bar[link][n / 3][n % 3] += by.m[n / 3][n % 3];
}

/* Adds the derivatives of factor * rate with respect to the pose and the motion of the wrap's link. by_pose:
 * derivatives with respect to the ends at constant motion. */
static void wrap_motion_adjoint(const PathMotion* w, Pose pose, const Vec3 by_pose[2], double factor,
                                double (*pose_bar)[3][4], double (*motion_bar)[3][4]) {
  int link = w->wrap->link;
  if (link < 0) return;
  Vec3 torque = vec3_scale(vec3_add(by_pose[0], by_pose[1]), -1);
  pose_bar_add_point(pose_bar, link, torque, w->wrap->position);
  torque = vec3(0, 0, 0);
  for (int k = 0; k < 2; k++) {
    Vec3 slope = vec3_scale(w->path.slope[k], factor), bent = vec3_scale(w->bent[k], factor);
    torque = vec3_add(torque, vec3_cross(slope, w->dot[k]));
    torque = vec3_sub(torque, vec3_cross(w->arm[k], bent));
    add_rotation_bar(pose_bar, link, mat3_scale(mat3_outer(w->arm[k], mat3_tmul_vec(w->of_wrap.dr, slope)), -1));
    Vec3 carried = vec3_add(w->wrap->position, mat3_tmul_vec(pose.r, w->arm[k]));
    pose_bar_add_point(motion_bar, link, vec3_scale(slope, -1), carried);
  }
  add_rotation_bar(pose_bar, link, mat3_scale(mat3_mul(mat3_cross(torque), pose.r), 0.5));
}

void tendon_rate_adjoint(const Model* model, int k, const Pose* poses, const double (*motion)[3][4], double factor,
                         double (*pose_bar)[3][4], double (*motion_bar)[3][4], ModelGradient* gradient) {
  assert(k >= 0 && k < model->tendon_count);
  const ModelTendon* tendon = &model->tendons[k];
  const SceneTendon* source = tendon->source;
  for (int i = 0; i + 1 < source->count; i++) {
    PathMotion w = compute_path_motion(model, source, i, poses, motion);
    Vec3 by_pose[2];
    for (int side = 0; side < 2; side++) {
      const SceneTendonPoint* point = &source->points[i + side];
      by_pose[side] = vec3_scale(w.bent[side], factor);
      if (w.wrap)
        by_pose[side] = vec3_sub(by_pose[side], mat3_tmul_vec(w.turn, vec3_scale(w.path.slope[side], factor)));
      pose_bar_add_point(pose_bar, point->link, by_pose[side], point->point);
      pose_bar_add_point(motion_bar, point->link, vec3_scale(w.path.slope[side], factor), point->point);
    }
    path_ends_adjoint(&w, factor, 0, &gradient->tendon_points[tendon->point_first + i]);
    if (!w.wrap) continue;
    Pose pose = tendon_wrap_pose(w.wrap, poses);
    wrap_motion_adjoint(&w, pose, by_pose, factor, pose_bar, motion_bar);
    wrap_adjoint(&w, factor, 0, gradient->tendon_wraps[tendon->wrap_first + source->points[i].wrap - 1]);
  }
}
