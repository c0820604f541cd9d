/* Collision-free path of a translating body among obstacles: search, smoothing and proof by growth distances (G17).
 * docs/derivations/growth.md */
#include <assert.h>

#include "query/path.h"

/* Least radius of a ball in the proof, relative to the body's inner radius. The proof fails if a smaller ball is
 * needed. */
#define BALL_RADIUS_MIN 1e-3
/* Margin added to the clearance during smoothing. The margin is doubled, up to WIDENINGS times, if a segment violates
 * the clearance between its points. */
#define SMOOTHING_MARGIN 0.02
enum { WIDENINGS = 6 };

/* Returns a lower bound of the growth distance alpha of the body at `at` and obstacle k from the bounding balls:
 * distance of the centres / sum of the outer radii. */
static double bounding_ball_alpha(const PathProblem* problem, Vec3 at, int k) {
  return vec3_norm(vec3_sub(at, problem->poses[k].t)) / (problem->body->outer + problem->obstacles[k].outer);
}

double path_alpha_lower_bound(const PathProblem* problem, Vec3 at, int k, int* queries) {
  assert(k >= 0);
  Pose pose = {problem->turn, at};
  ++*queries;
  return growth_query(problem->body, pose, &problem->obstacles[k], problem->poses[k], NULL).low;
}

double path_alpha_gradient(const PathProblem* problem, Vec3 at, int k, Vec3* slope, int* queries) {
  Pose pose = {problem->turn, at};
  double by_pose[QUERY_POSE_COLUMNS], gap[QUERY_POSE_COLUMNS];
  Growth g = growth_query(problem->body, pose, &problem->obstacles[k], problem->poses[k], NULL);
  ++*queries;
  bool known = growth_slopes(problem->body, pose, &problem->obstacles[k], problem->poses[k], &g, by_pose, gap) == NULL;
  *slope = known ? vec3(by_pose[3], by_pose[4], by_pose[5]) : vec3(0, 0, 0);
  return g.alpha;
}

/* Returns the radius [m] of a ball of collision-free positions about the position `at`: the growth distance from every
 * obstacle is at least 1 + clearance (G17). The radius is at most `radius_max`. */
static double free_radius(const PathProblem* problem, Vec3 at, double radius_max, int* queries) {
  double radius = radius_max, wanted = 1 + problem->clearance;
  for (int k = 0; k < problem->count && radius > 0; k++) {
    double inner = problem->body->inner + problem->obstacles[k].inner;
    if ((bounding_ball_alpha(problem, at, k) - wanted) * inner >= radius) continue;
    radius = fmin(radius, (path_alpha_lower_bound(problem, at, k, queries) - wanted) * inner);
  }
  return radius;
}

bool path_is_segment_free(const PathProblem* problem, Vec3 a, Vec3 b, int* queries) {
  double length = vec3_norm(vec3_sub(b, a)), passed = 0;
  while (passed <= length) {
    Vec3 at = length > 0 ? vec3_add_scaled(a, passed / length, vec3_sub(b, a)) : a;
    double radius = free_radius(problem, at, length - passed + problem->body->inner, queries);
    if (!(radius > BALL_RADIUS_MIN * problem->body->inner)) return false;
    passed += radius;
  }
  return true;
}

double path_length(const Vec3* points, int count) {
  assert(points || count == 0);
  double sum = 0;
  for (int i = 0; i + 1 < count; i++) sum += vec3_norm(vec3_sub(points[i + 1], points[i]));
  return sum;
}

/* Returns `count` points at equal distances along a polyline. The caller frees the points with memory_free. */
static Vec3* resample_evenly(const Vec3* corners, int corner_count, int count) {
  assert(corner_count >= 2 && count >= 2);
  Vec3* out = MEMORY_NEW(Vec3, count);
  double total = path_length(corners, corner_count), passed = 0;
  int at = 0;
  for (int i = 0; i < count; i++) {
    double wanted = total * i / (count - 1), side = vec3_norm(vec3_sub(corners[at + 1], corners[at]));
    while (at + 2 < corner_count && passed + side < wanted) {
      passed += side;
      at++;
      side = vec3_norm(vec3_sub(corners[at + 1], corners[at]));
    }
    double part = side > 0 ? fmin(1, (wanted - passed) / side) : 0;
    out[i] = vec3_add_scaled(corners[at], part, vec3_sub(corners[at + 1], corners[at]));
  }
  out[count - 1] = corners[corner_count - 1];
  return out;
}

static bool is_path_free(const PathProblem* problem, const Vec3* points, int count, int* queries) {
  for (int i = 0; i + 1 < count; i++)
    if (!path_is_segment_free(problem, points[i], points[i + 1], queries)) return false;
  return true;
}

static double smallest_alpha(const PathProblem* problem, const Vec3* points, int count, int* queries) {
  double least = HUGE_VAL;
  for (int i = 0; i < 2 * count - 1; i++) {
    Vec3 at = i % 2 ? vec3_scale(vec3_add(points[i / 2], points[i / 2 + 1]), 0.5) : points[i / 2];
    for (int k = 0; k < problem->count; k++)
      if (bounding_ball_alpha(problem, at, k) < least)
        least = fmin(least, path_alpha_lower_bound(problem, at, k, queries));
  }
  return least;
}

/* Returns the vertices of a polyline and additional points spaced evenly on its segments, *count points in total.
 * Increases *count if there are more vertices. The caller frees the points with memory_free. */
static Vec3* subdivide(const Vec3* corners, int corner_count, int* count) {
  assert(corner_count >= 2);
  int spare = *count - corner_count;
  if (spare < 0) *count = corner_count, spare = 0;
  Vec3* out = MEMORY_NEW(Vec3, *count);
  double total = path_length(corners, corner_count), passed = 0;
  int made = 0;
  for (int i = 0; i + 1 < corner_count; i++) {
    Vec3 side = vec3_sub(corners[i + 1], corners[i]);
    int before = total > 0 ? (int)(spare * passed / total) : 0;
    passed = i + 2 < corner_count ? passed + vec3_norm(side) : total;
    int parts = 1 + (total > 0 ? (int)(spare * passed / total) : spare) - before;
    for (int k = 0; k < parts; k++) out[made++] = vec3_add_scaled(corners[i], (double)k / parts, side);
  }
  out[made] = corners[corner_count - 1];
  return out;
}

PlannedPath path_plan(const PathProblem* problem) {
  assert(problem->points >= 3 && problem->clearance > 0 && problem->count >= 0);
  PlannedPath path = {.outcome = PATH_BLOCKED_END};
  if (!path_is_segment_free(problem, problem->from, problem->from, &path.queries) ||
      !path_is_segment_free(problem, problem->to, problem->to, &path.queries))
    return path;
  int corner_count = 0;
  Vec3* corners = path_search(problem, &corner_count, &path.queries);
  path.outcome = PATH_NONE;
  if (!corners) return path;
  path.start_length = path_length(corners, corner_count);
  path.count = problem->points;
  path.outcome = PATH_FOUND;
  double margin = SMOOTHING_MARGIN;
  for (int i = 0; i < WIDENINGS && !path.smoothed; i++, margin *= 2) {
    memory_free(path.points);
    path.points = resample_evenly(corners, corner_count, path.count);
    path_smooth(problem, path.points, 1 + problem->clearance + margin, &path.queries);
    path.smoothed = is_path_free(problem, path.points, path.count, &path.queries);
  }
  if (!path.smoothed) {
    memory_free(path.points);
    path.points = subdivide(corners, corner_count, &path.count);
  }
  memory_free(corners);
  path.length = path_length(path.points, path.count);
  path.least = smallest_alpha(problem, path.points, path.count, &path.queries);
  return path;
}

void path_free(PlannedPath* path) {
  memory_free(path->points);
  *path = (PlannedPath){.points = NULL};
}
