/* Derivatives of the distance of hulls whose nearest points are not unique (growth.md, H7): face on face, edge on face,
 * parallel edges. */
#include <assert.h>

#include "query/features.h"

/* Overlap of the two nearest features, projected onto a plane perpendicular to the normal. */
enum { PATCH_CORNERS_MAX = 2 * FEATURE_CORNERS + 4 };
typedef struct {
  double at[PATCH_CORNERS_MAX][2];
  int count;
} OverlapPatch;

/* Sets axis to two unit vectors perpendicular to the unit normal n and to each other. */
static void tangent_axes(Vec3 n, Vec3 axis[2]) {
  Vec3 e = fabs(n.x) < 0.5 ? vec3_axis(0) : vec3_axis(1);
  axis[0] = vec3_normalized(vec3_cross(n, e));
  axis[1] = vec3_cross(n, axis[0]);
}

/* Returns a number in -1 to 3 that increases with the angle of (x, y). Used for sorting, because it is cheaper than
 * atan2. */
static double angle_order(double x, double y) {
  double part = y / (fabs(x) + fabs(y));
  return x < 0 ? 2 - part : part;
}

/* Projects the vertices of a face or edge onto the plane of the two axes and sorts them counterclockwise about their
 * mean. An edge has two vertices. */
static void project_feature(const Feature* f, PointView view, Pose pose, const Vec3 axis[2], OverlapPatch* out) {
  double order[FEATURE_CORNERS], mean[2] = {0, 0};
  out->count = 0;
  for (int i = 0; i < f->corners; i++) {
    int v = f->corner[i];
    Vec3 world = pose_apply(pose, point_at(view, v));
    for (int k = 0; k < 2; k++) {
      out->at[i][k] = vec3_dot(axis[k], world);
      mean[k] += out->at[i][k] / f->corners;
    }
  }
  for (int i = 0; i < f->corners; i++) { /* insertion sort */
    const double x = out->at[i][0], y = out->at[i][1], here = angle_order(x - mean[0], y - mean[1]);
    int k = out->count++;
    for (; k > 0 && order[k - 1] > here; k--) {
      order[k] = order[k - 1];
      out->at[k][0] = out->at[k - 1][0];
      out->at[k][1] = out->at[k - 1][1];
    }
    order[k] = here;
    out->at[k][0] = x;
    out->at[k][1] = y;
  }
}

/* Clips the overlap polygon to the half-plane of all points x with normal . (x - from) >= -slack. */
static void clip_to_half_plane(OverlapPatch* patch, const double from[2], const double normal[2], double slack) {
  OverlapPatch kept = {.count = 0};
  for (int i = 0; i < patch->count; i++) {
    const double *p = patch->at[i], *q = patch->at[(i + 1) % patch->count];
    double at_p = normal[0] * (p[0] - from[0]) + normal[1] * (p[1] - from[1]) + slack;
    double at_q = normal[0] * (q[0] - from[0]) + normal[1] * (q[1] - from[1]) + slack;
    if (at_p >= 0 && kept.count < PATCH_CORNERS_MAX) {
      kept.at[kept.count][0] = p[0];
      kept.at[kept.count++][1] = p[1];
    }
    if ((at_p >= 0) != (at_q >= 0) && kept.count < PATCH_CORNERS_MAX) {
      double t = at_p / (at_p - at_q);
      kept.at[kept.count][0] = p[0] + t * (q[0] - p[0]);
      kept.at[kept.count++][1] = p[1] + t * (q[1] - p[1]);
    }
  }
  *patch = kept;
}

/* Clips the overlap polygon to the other hull's nearest face, or to its parallel edge if `face` is false. */
static void clip_to_feature(OverlapPatch* patch, const OverlapPatch* other, bool face, double slack) {
  for (int i = 0; i < other->count && patch->count > 0; i++) {
    const double *p = other->at[i], *q = other->at[(i + 1) % other->count];
    const double x = q[0] - p[0], y = q[1] - p[1], length = sqrt(x * x + y * y);
    if (!(length > 0)) continue;
    const double inward[2] = {(face ? -y : x) / length, (face ? x : y) / length};
    clip_to_half_plane(patch, p, inward, slack);
  }
}

/* Finds the overlap of the nearest faces or edges of both hulls, seen along the normal. If slack > 0 [m], features that
 * share only their boundary also count as overlapping. If slack < 0, the overlap must be wider than -slack. Returns
 * false if there is no overlap. */
static bool find_overlap(const Feature f[2], PointView a, Pose pose_a, PointView b, Pose pose_b, const Vec3 axis[2],
                         double slack, OverlapPatch* patch) {
  OverlapPatch side[2];
  project_feature(&f[0], a, pose_a, axis, &side[0]);
  project_feature(&f[1], b, pose_b, axis, &side[1]);
  int clip = f[0].directions > f[1].directions ? 0 : 1; /* the feature that is a face, if there is one */
  *patch = side[1 - clip];
  clip_to_feature(patch, &side[clip], f[clip].directions == 2, slack);
  return patch->count > 0;
}

/* Evaluates the derivatives of the distance at all corners of the overlap polygon. The least and the greatest are the
 * one-sided derivatives with respect to a rotation. Sets out to their mean, and *kinked to true if they differ by more
 * than rounding. */
static void mean_gradient_over_patch(const OverlapPatch* patch, const Vec3 axis[2], Vec3 normal, const Distance* answer,
                                     Vec3 at_a, Vec3 at_b, double size, double out[QUERY_POSE_COLUMNS], bool* kinked) {
  double low[QUERY_POSE_COLUMNS], high[QUERY_POSE_COLUMNS];
  for (int k = 0; k < QUERY_POSE_COLUMNS; k++) {
    low[k] = HUGE_VAL;
    high[k] = -HUGE_VAL;
  }
  for (int i = 0; i < patch->count; i++) {
    Vec3 over = vec3_add(vec3_scale(axis[0], patch->at[i][0]), vec3_scale(axis[1], patch->at[i][1]));
    Vec3 a = vec3_add_scaled(over, vec3_dot(normal, answer->witness_a), normal);
    Vec3 b = vec3_add_scaled(over, vec3_dot(normal, answer->witness_b), normal);
    double slope[QUERY_POSE_COLUMNS];
    distance_gradient_at_points(normal, vec3_sub(a, at_a), vec3_sub(b, at_b), slope);
    for (int k = 0; k < QUERY_POSE_COLUMNS; k++) {
      low[k] = fmin(low[k], slope[k]);
      high[k] = fmax(high[k], slope[k]);
    }
  }
  for (int k = 0; k < QUERY_POSE_COLUMNS; k++) {
    out[k] = 0.5 * (low[k] + high[k]);
    *kinked = *kinked || high[k] - low[k] > FEATURE_PARALLEL * size;
  }
}

const char* distance_slope(PointView a, Pose pose_a, PointView b, Pose pose_b, const Distance* answer,
                           double out[QUERY_POSE_COLUMNS], bool* kinked) {
  assert(a.count > 0 && b.count > 0 && kinked);
  double size = point_view_size(a) + point_view_size(b), slack = FEATURE_TOLERANCE * size;
  Vec3 normal = answer->normal, axis[2];
  if (!(vec3_dot(normal, normal) > 0.5)) return "the normal is not known";
  const Feature f[2] = {feature_find(a, pose_a, normal, slack), feature_find(b, pose_b, vec3_scale(normal, -1), slack)};
  const bool face = f[0].directions == 2 || f[1].directions == 2, edges = f[0].directions + f[1].directions == 2;
  if (f[0].corners >= FEATURE_CORNERS || f[1].corners >= FEATURE_CORNERS) return REASON_TOO_MANY_VERTICES;
  OverlapPatch patch;
  tangent_axes(normal, axis);
  /* Separated hulls have a unique normal along the witness points. Touching hulls have a unique normal only if the
   * contact lies inside a face. */
  if (fabs(answer->distance) <= slack &&
      !(face && find_overlap(f, a, pose_a, b, pose_b, axis, -FEATURE_PARALLEL * size, &patch)))
    return "the hulls touch where the normal is not unique";
  if (answer->distance < -slack && !face && !edges) return "the normal is not that of a face or of two edges";
  *kinked = false;
  if (features_are_parallel(f) && (find_overlap(f, a, pose_a, b, pose_b, axis, 0, &patch) ||
                                   find_overlap(f, a, pose_a, b, pose_b, axis, slack, &patch)))
    mean_gradient_over_patch(&patch, axis, normal, answer, pose_a.t, pose_b.t, size, out, kinked);
  else
    distance_gradient_at_points(normal, vec3_sub(answer->witness_a, pose_a.t), vec3_sub(answer->witness_b, pose_b.t),
                                out);
  return NULL;
}
