/* Builds and checks tendons, and computes their lengths and elastic energy (docs/derivations/loads.md, L5). */
#include <assert.h>

#include "model/build.h"

/* Distance below which two points of a tendon count as coincident [m]. */
#define COINCIDE 1e-300

TendonPiece tendon_piece(Vec3 apart, double eyelet) {
  assert(eyelet >= 0);
  double d = vec3_norm(apart), u = eyelet > 0 ? d / eyelet : 1;
  TendonPiece piece = {.length = d, .slope = vec3(0, 0, 0), .curvature = mat3_zero()};
  if (!(d > COINCIDE) && !(eyelet > 0)) return piece; /* coincident points have no direction */
  /* with the length l as a function of the distance d: l'/d and (l'' - l'/d) / d^2 */
  double share = 1 / d, bend = -1 / (d * d * d);
  if (u < 1) {
    piece.length = eyelet * (0.375 + 0.75 * u * u - 0.125 * u * u * u * u);
    share = 0.5 * (3 - u * u) / eyelet;
    bend = -1 / (eyelet * eyelet * eyelet);
  }
  piece.slope = vec3_scale(apart, share);
  piece.curvature = mat3_add(mat3_scale(mat3_identity(), share), mat3_scale(mat3_outer(apart, apart), bend));
  return piece;
}

TendonSpan tendon_span(const SceneTendon* tendon, int point, const Pose* poses) {
  assert(point >= 0 && point + 1 < tendon->count);
  const SceneTendonPoint* at = &tendon->points[point];
  TendonSpan span = {.end = {tendon_point(&at[0], poses), tendon_point(&at[1], poses)}};
  const SceneTendonWrap* wrap = scene_tendon_wrap(tendon, point);
  TendonWrap path = {0};
  if (wrap) path = tendon_wrap(wrap, tendon_wrap_pose(wrap, poses), span.end[0], span.end[1]);
  Vec3 slope = tendon_piece(vec3_sub(span.end[0], span.end[1]), tendon->eyelet).slope;
  span.touches = path.touches;
  for (int side = 0; side < 2; side++)
    span.slope[side] = path.touches ? path.slope[side] : vec3_scale(slope, side == 0 ? 1 : -1);
  return span;
}

double tendon_length(const Model* model, const SceneTendon* tendon, const Pose* poses, const double* q) {
  double sum = 0;
  for (int i = 0; i < tendon->joint_count; i++) {
    const SceneCouplingTerm* joint = &tendon->joints[i];
    sum += joint->ratio * q[model->links[joint->link].coordinate_first + joint->coordinate];
  }
  if (tendon->count == 0) return sum;
  Vec3 last = tendon_point(&tendon->points[0], poses);
  for (int i = 1; i < tendon->count; i++) {
    Vec3 next = tendon_point(&tendon->points[i], poses);
    const SceneTendonWrap* wrap = scene_tendon_wrap(tendon, i - 1);
    TendonWrap path = {0};
    if (wrap) path = tendon_wrap(wrap, tendon_wrap_pose(wrap, poses), last, next);
    sum += path.touches ? path.length : tendon_piece(vec3_sub(last, next), tendon->eyelet).length;
    last = next;
  }
  return sum;
}

double tendon_stretch(const SceneTendon* tendon, double length) {
  return tendon->stiffness > 0 ? fmax(length - tendon->rest_length, 0) : 0;
}

double model_tendon_energy(const Model* model, const Pose* poses, const double* q) {
  double sum = 0;
  for (int k = 0; k < model->tendon_count; k++) {
    const SceneTendon* tendon = model->tendons[k].source;
    double stretch = tendon_stretch(tendon, tendon_length(model, tendon, poses, q));
    sum += 0.5 * tendon->stiffness * stretch * stretch;
  }
  return sum;
}

/* Returns the distance of a point of the tendon from a wrap's axis or centre [m]. */
static double wrap_distance(const SceneTendon* tendon, const SceneTendonWrap* wrap, int point, const Pose* poses) {
  Pose pose = tendon_wrap_pose(wrap, poses);
  Vec3 at = tendon_point(&tendon->points[point], poses);
  Vec3 arm = vec3_sub(mat3_tmul_vec(pose.r, vec3_sub(at, pose.t)), wrap->position);
  return wrap->type == WRAP_SPHERE ? vec3_norm(arm) : vec3_norm(vec3_cross(arm, vec3_normalized(wrap->axis)));
}

WrapEntry model_find_wrap_entry(const Model* model, const Pose* poses) {
  WrapEntry entry = {.tendon = -1};
  for (int k = 0; k < model->tendon_count && entry.tendon < 0; k++) {
    const SceneTendon* tendon = model->tendons[k].source;
    for (int i = 0; i < 2 * tendon->wrap_count && entry.tendon < 0; i++) {
      const SceneTendonWrap* wrap = &tendon->wraps[i / 2];
      int point = wrap->after + i % 2;
      double depth = wrap->radius - wrap_distance(tendon, wrap, point, poses);
      if (depth > 0) entry = (WrapEntry){k, point, depth};
    }
  }
  return entry;
}

static void warn_of_range(const Model* model, const SceneTendon* tendon, const Pose* poses, Diagnostics* diagnostics) {
  double length = tendon_length(model, tendon, poses, model->initial_coordinates);
  if (!tendon->limited || (length >= tendon->lower && length <= tendon->upper)) return;
  diagnostics_add(diagnostics, SEVERITY_WARNING, tendon->place,
                  "the tendon starts with a length of %.6g m, outside its range [%.6g, %.6g], so the limit exerts up "
                  "to %.4g N: change the initial coordinates, or widen 'range'",
                  length, tendon->lower, tendon->upper,
                  tendon->range_stiffness * fmax(tendon->lower - length, length - tendon->upper));
}

void check_tendons(const Model* model, Diagnostics* diagnostics) {
  if (model->tendon_count == 0) return;
  Pose* poses = initial_poses(model);
  for (int k = 0; k < model->tendon_count; k++) {
    const SceneTendon* tendon = model->tendons[k].source;
    warn_of_range(model, tendon, poses, diagnostics);
    for (int i = 0; i < tendon->wrap_count; i++) {
      const SceneTendonWrap* wrap = &tendon->wraps[i];
      for (int p = wrap->after; p <= wrap->after + 1; p++) {
        double far = wrap_distance(tendon, wrap, p, poses);
        if (far >= wrap->radius) continue;
        diagnostics_add(diagnostics, SEVERITY_ERROR, wrap->place,
                        "point %d of the tendon is %.6g m from the %s at the start, within the radius of %.6g m: put "
                        "the point outside, or make 'radius' smaller",
                        p, far, wrap->type == WRAP_SPHERE ? "centre" : "axis", wrap->radius);
      }
    }
  }
  memory_free(poses);
}

static int find_home(const Model* model, const SceneTendon* tendon) {
  for (int i = 0; i < tendon->count; i++)
    if (tendon->points[i].link >= 0 && model->links[tendon->points[i].link].tree >= 0) return tendon->points[i].link;
  for (int i = 0; i < tendon->wrap_count; i++)
    if (tendon->wraps[i].link >= 0 && model->links[tendon->wraps[i].link].tree >= 0) return tendon->wraps[i].link;
  for (int i = 0; i < tendon->joint_count; i++)
    if (model->links[tendon->joints[i].link].tree >= 0) return tendon->joints[i].link;
  return -1;
}

void build_tendons(Builder* builder) {
  Model* model = builder->model;
  const Scene* scene = builder->scene;
  model->tendon_count = scene->tendon_count;
  model->tendons = MEMORY_NEW(ModelTendon, scene->tendon_count);
  for (int k = 0; k < scene->tendon_count; k++) {
    ModelTendon* tendon = &model->tendons[k];
    *tendon = (ModelTendon){
        .source = &scene->tendons[k], .point_first = model->tendon_point_count, .wrap_first = model->tendon_wrap_count};
    model->tendon_point_count += tendon->source->count;
    model->tendon_wrap_count += tendon->source->wrap_count;
    tendon->home = find_home(model, tendon->source);
    tendon->tension_first = build_signal(model, &tendon->tension, &tendon->source->tension);
  }
}
