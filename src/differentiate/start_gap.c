/* Initial gaps between vertices of two hulls along a fixed direction, and their derivatives. */
#include <assert.h>
#include "differentiate/nearest.h"

static Vec3 hull_vertex(const ModelHull* hull, int vertex) {
  if (vertex < 0) return vec3_scale(hull->normal, hull->offset);
  return point_at(hull->points, vertex);
}

static double height_along(const ModelHull* hull, const Pose* pose, int vertex, Vec3 direction) {
  return vec3_dot(direction, pose_apply(pose[hull->link], hull_vertex(hull, vertex)));
}

double start_gap(const Model* model, const Pose* pose, const StartGap* gap) {
  return height_along(&model->hulls[gap->hull[1]], pose, gap->vertex[1], gap->normal) -
         height_along(&model->hulls[gap->hull[0]], pose, gap->vertex[0], gap->normal);
}

/* Returns the vertex of a hull that is farthest along sign * direction, or -1 for the surface of a half-space. */
static int find_farthest_vertex(const ModelHull* hull, const Pose* pose, Vec3 direction, double sign) {
  int found = -1;
  double best = -HUGE_VAL;
  for (int i = 0; hull->kind->bounded && i < hull->points.count; i++) {
    double h = sign * height_along(hull, pose, i, direction);
    if (h > best) found = i;
    best = fmax(best, h);
  }
  return found;
}

/* Designs and result of find_start_gaps. */
typedef struct {
  const Model *current, *trial;
  Pose *current_pose, *trial_pose; /* initial poses of all links in the current and in the trial design (size: links) */
  StartGap* out;
  int count, capacity;
} GapSearch;

/* Appends a gap that is smaller in the trial design than its lower bound. */
static void append_gap(GapSearch* s, const StartGap* gap) {
  if (s->count < s->capacity && start_gap(s->trial, s->trial_pose, gap) < gap->least) s->out[s->count++] = *gap;
}

/* Appends the small gaps between each vertex of one hull and the farthest vertex of the other hull, in both directions.
 */
static void append_hull_gaps(GapSearch* s, int hull_a, int hull_b, double least) {
  const ModelHull* pair[2] = {&s->current->hulls[hull_a], &s->current->hulls[hull_b]};
  if (!pair[0]->kind->bounded && !pair[1]->kind->bounded) return;
  NearestPoints nearest =
      find_nearest_points(pair[0], pair[1], s->current_pose[pair[0]->link], s->current_pose[pair[1]->link]);
  if (nearest.count == 0 || !(nearest.distance > 0)) return;
  StartGap gap = {.normal = nearest.normal, .least = fmin(least, nearest.distance)};
  gap.hull[0] = (int)(nearest.a - s->current->hulls);
  gap.hull[1] = (int)(nearest.b - s->current->hulls);
  const ModelHull *a = &s->trial->hulls[gap.hull[0]], *b = &s->trial->hulls[gap.hull[1]];
  int foremost_a = find_farthest_vertex(a, s->trial_pose, gap.normal, 1),
      foremost_b = find_farthest_vertex(b, s->trial_pose, gap.normal, -1);
  gap.vertex[0] = foremost_a;
  for (gap.vertex[1] = 0; gap.vertex[1] < b->points.count; gap.vertex[1]++) append_gap(s, &gap);
  gap.vertex[1] = foremost_b;
  for (gap.vertex[0] = 0; a->kind->bounded && gap.vertex[0] < a->points.count; gap.vertex[0]++)
    if (gap.vertex[0] != foremost_a) append_gap(s, &gap);
}

int find_start_gaps(const Model* current, const Model* trial, int link_a, int link_b, double least, StartGap* out,
                    int capacity) {
  assert(capacity >= 0);
  GapSearch s = {.current = current, .trial = trial, .out = out, .capacity = capacity};
  s.current_pose = MEMORY_NEW(Pose, current->link_count);
  s.trial_pose = MEMORY_NEW(Pose, current->link_count);
  model_poses(current, current->initial_coordinates, s.current_pose);
  model_poses(trial, trial->initial_coordinates, s.trial_pose);
  const ModelLink *a = &current->links[link_a], *b = &current->links[link_b];
  for (int i = a->hull_first; i < a->hull_first + a->hull_count; i++)
    for (int k = b->hull_first; k < b->hull_first + b->hull_count; k++) append_hull_gaps(&s, i, k, least);
  memory_free(s.current_pose);
  memory_free(s.trial_pose);
  return s.count;
}

void start_gap_seed(const Recording* recording, const StartGap* gap, LossSeeds* seeds) {
  for (int side = 0; side < 2; side++) {
    const ModelHull* hull = &recording->model->hulls[gap->hull[side]];
    WeightedVertices carrier = {.count = 1, .vertex = {gap->vertex[side]}, .weight = {1}};
    carrier.point = hull_vertex(hull, gap->vertex[side]);
    Vec3 g = vec3_scale(gap->normal, side == 0 ? -1 : 1);
    loss_seed_pose(recording, hull->link, 0, carrier.point, g, seeds);
    add_nearest_vertex_seeds(hull, &carrier, mat3_tmul_vec(recording_link_pose(recording, 0, hull->link).r, g), seeds);
  }
}
