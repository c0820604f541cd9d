/* Tendons backwards (docs/derivations/loads.md, L7). */
#include "simulate/tendons.h"

#include <string.h>

static bool moves(const Model* m, int link) { return link >= 0 && m->links[link].tree >= 0; }

/* Change of the wrenches on both links: hessian x twists, and of the pull that changes with the length. */
static void segment_product(const TendonSystem* s, int index, double pull_change, const double (*twist)[6],
                            double (*wrench)[6]) {
  const TendonSegment* t = &s->segment[index];
  int k = s->tendon[index];
  const SceneTendonPoint* point = &s->model->tendons[k].source->points[index - s->first[k]];
  double both[12] = {0};
  for (int side = 0; side < 2; side++)
    if (moves(s->model, point[side].link)) memcpy(both + 6 * side, twist[point[side].link], sizeof(double[6]));
  for (int side = 0; side < 2; side++) {
    Vec3 force = vec3_scale(t->slope, side == 0 ? pull_change : -pull_change);
    double own[6];
    vec3_store(vec3_cross(t->arm[side], force), own);
    vec3_store(force, own + 3);
    for (int i = 0; point[side].link >= 0 && i < 6; i++) {
      for (int j = 0; j < 12; j++) own[i] += t->hessian[6 * side + i][j] * both[j];
      wrench[point[side].link][i] += own[i];
    }
  }
}

/* How fast the segment's length grows. */
static double segment_lengthening(const TendonSystem* s, int index, const double (*twist)[6]) {
  const TendonSegment* t = &s->segment[index];
  int k = s->tendon[index];
  const SceneTendonPoint* point = &s->model->tendons[k].source->points[index - s->first[k]];
  double rate = 0;
  for (int side = 0; side < 2; side++) {
    if (!moves(s->model, point[side].link)) continue;
    const double* own = twist[point[side].link];
    Vec3 v = vec3_add(vec3_at(own + 3), vec3_cross(vec3_at(own), t->arm[side]));
    rate += side == 0 ? vec3_dot(t->slope, v) : -vec3_dot(t->slope, v);
  }
  return rate;
}

void tendons_product(const TendonSystem* s, const double (*twist)[6], double (*wrench)[6]) {
  for (int k = 0; s && k < s->model->tendon_count; k++) {
    double rate = 0, stiffness = s->stretched[k].stiffness;
    for (int n = s->first[k]; stiffness != 0 && n < s->first[k + 1]; n++) rate += segment_lengthening(s, n, twist);
    for (int n = s->first[k]; n < s->first[k + 1]; n++) segment_product(s, n, stiffness * rate, twist, wrench);
  }
}

/* How the link of a point stands, and how lambda moves both. */
typedef struct {
  Mat3 r, dr;
  Vec3 x_dot;
} MovedPoint;

static MovedPoint moved_point(const Sim* sim, const SceneTendonPoint* point, const double (*motion)[3][4]) {
  const Pose* poses = sim->configuration[sim->current].pose;
  MovedPoint out = {mat3_identity(), mat3_zero(), vec3(0, 0, 0)};
  if (point->link < 0) return out;
  out.r = poses[point->link].r;
  if (!moves(sim->model, point->link)) return out;
  const double(*m)[4] = motion[point->link];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out.dr.m[i][j] = m[i][j];
  out.x_dot = vec3_add(mat3_mul_vec(out.dr, point->point), vec3(m[0][3], m[1][3], m[2][3]));
  return out;
}

/* Of a segment: its rate slope . d', and curvature x d'. */
typedef struct {
  double rate;
  Vec3 across;
} SegmentRate;

static SegmentRate segment_rate(const TendonSegment* t, const MovedPoint* a, const MovedPoint* b) {
  Vec3 dot = vec3_sub(a->x_dot, b->x_dot);
  return (SegmentRate){vec3_dot(t->slope, dot), mat3_mul_vec(t->curvature, dot)};
}

static void add_tension(const Sim* sim, const ModelTendon* tendon, double rate, ModelGradient* gradient) {
  double zero = 0;
  if (tendon->tension.source->channels > 0)
    signal_eval_vjp(&tendon->tension, sim->clock.time, &rate, &zero, gradient->control + tendon->tension_first);
}

/* By the length of a tendon at a state before: its points, and the poses that carry them. */
static void reverse_past(const Sim* sim, int k, const Pose* poses, double by_length, double (*bar)[3][4],
                         ModelGradient* gradient) {
  const ModelTendon* tendon = &sim->tendons->model->tendons[k];
  const SceneTendon* source = tendon->source;
  for (int i = 0; by_length != 0 && i + 1 < source->count; i++) {
    Vec3 end[2] = {tendon_point(&source->points[i], poses), tendon_point(&source->points[i + 1], poses)};
    Vec3 slope = vec3_scale(tendon_piece(vec3_sub(end[0], end[1]), source->eyelet).slope, by_length);
    for (int side = 0; side < 2; side++) {
      const SceneTendonPoint* point = &source->points[i + side];
      Vec3 by = side == 0 ? slope : vec3_scale(slope, -1),
           *own = &gradient->tendon_points[tendon->point_first + i + side];
      *own = vec3_add(*own, point->link < 0 ? by : mat3_tmul_vec(poses[point->link].r, by));
      double f[3] = {by.x, by.y, by.z}, x[4] = {point->point.x, point->point.y, point->point.z, 1};
      for (int n = 0; point->link >= 0 && n < 12; n++) bar[point->link][n / 4][n % 4] += f[n / 4] * x[n % 4];
    }
  }
}

/* Phi = pull x rate with rate = d length by lambda, and pull = tension + stiffness x stretch. */
static void reverse_tendon(const Sim* sim, int k, const double (*motion)[3][4], StateBar now, StateBar old,
                           ModelGradient* gradient) {
  const TendonSystem* s = sim->tendons;
  const ModelTendon* tendon = &s->model->tendons[k];
  const SceneTendon* source = tendon->source;
  const SpringTime* spring = &s->at[k];
  double rate = 0, length = tendon_length(source, sim->configuration[sim->current].pose);
  double stretch = tendon_stretch_in_step(s, k, length);
  for (int i = 0; i + 1 < source->count; i++) {
    MovedPoint a = moved_point(sim, &source->points[i], motion), b = moved_point(sim, &source->points[i + 1], motion);
    rate += segment_rate(&s->segment[s->first[k] + i], &a, &b).rate;
  }
  double by_stretch = stretch > 0 ? (1 - spring->missing) * source->stiffness * rate : 0;
  double slack = spring_ahead(spring) * by_stretch;
  add_tension(sim, tendon, rate, gradient);
  gradient->tendons[k][TENDON_NUMBER_STIFFNESS] += (1 - spring->missing) * stretch * rate;
  gradient->tendons[k][TENDON_NUMBER_REST] -= by_stretch;
  reverse_past(sim, k, sim->pose_now, spring->now * by_stretch, now.pose, gradient);
  reverse_past(sim, k, sim->pose_old, spring->old * by_stretch, old.pose, gradient);
  for (int i = 0; i + 1 < source->count; i++) {
    MovedPoint at[2] = {moved_point(sim, &source->points[i], motion), moved_point(sim, &source->points[i + 1], motion)};
    const TendonSegment* segment = &s->segment[s->first[k] + i];
    SegmentRate part = segment_rate(segment, &at[0], &at[1]);
    Vec3 by_dot = vec3_scale(segment->slope, s->pull[k]);
    Vec3 by = vec3_add(vec3_scale(part.across, s->pull[k]), vec3_scale(segment->slope, slack));
    for (int side = 0; side < 2; side++) {
      Vec3 own = vec3_add(mat3_tmul_vec(at[side].r, by), mat3_tmul_vec(at[side].dr, by_dot));
      Vec3* bar = &gradient->tendon_points[tendon->point_first + i + side];
      *bar = vec3_add_scaled(*bar, side == 0 ? 1 : -1, own);
    }
  }
}

void tendons_adjoint(const Sim* sim, const double (*motion)[3][4], StateBar now, StateBar old,
                     ModelGradient* gradient) {
  for (int k = 0; sim->tendons && k < sim->model->tendon_count; k++) reverse_tendon(sim, k, motion, now, old, gradient);
}
