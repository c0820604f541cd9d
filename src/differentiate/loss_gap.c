/* Gap: max(margin - smallest distance of the links' hulls, 0)^2, mean over the window.
 *
 * Hulls: d = |sum_i w_i (a_i - b_i)| with n from a to b at the nearest points. w is where d is least, so d changes with
 * the vertices as if w were constant: dd/da_i = -w_i n, dd/db_i = w_i n.
 * Hull over a half-space: d = min_i n . x_i - offset, in the half-space's frame. */
#include "differentiate/loss.h"

/* ---------------------------------------------------------------- creation */

static bool has_hull(const Model* model, int link, bool bounded) {
  const ModelLink* l = &model->links[link];
  for (int h = l->hull_first; h < l->hull_first + l->hull_count; h++)
    if (!bounded || model->hulls[h].kind->bounded) return true;
  return false;
}

void loss_gap_prepare(LossTerm* term, const LossOrigin* origin) {
  const Model* model = origin->model;
  const TaskLoss* source = origin->source;
  if (term->link == term->other)
    loss_complain(origin, source->other.place, "'%.60s' has no gap to itself", model->links[term->link].name);
  else if (!has_hull(model, term->link, false))
    loss_complain(origin, source->link.place, "'%.60s' has no shape", model->links[term->link].name);
  else if (!has_hull(model, term->other, false))
    loss_complain(origin, source->other.place, "'%.60s' has no shape", model->links[term->other].name);
  else if (!has_hull(model, term->link, true) && !has_hull(model, term->other, true))
    loss_complain(origin, source->place, "two half-spaces have no gap");
}

/* ---------------------------------------------------------------- distance of two hulls */

/* The nearest points of hulls a and b, in their links' frames, as combinations of up to three vertices. */
typedef struct {
  double distance; /* m; below a half-space's surface negative */
  int a, b;        /* hulls of the model */
  Vec3 normal;     /* of the distance, from a to b, world */
  Vec3 point_a, point_b;
  int count;                    /* 0: hulls that meet have no direction to part in */
  int vertex_a[4], vertex_b[4]; /* -1: of a half-space */
  double weight[4];
} Nearest;

static Vec3 vertex(PointView view, int i) { return vec3(view.x[i], view.y[i], view.z[i]); }

void loss_nearest_weights(const Vec3* corner, int count, double* weight) {
  weight[0] = 1;
  weight[1] = weight[2] = weight[3] = 0;
  if (count < 2) return;
  Vec3 to = vec3_scale(corner[0], -1), u = vec3_sub(corner[1], corner[0]);
  if (count == 2) {
    weight[1] = vec3_dot(to, u) / vec3_dot(u, u);
  } else {
    Vec3 w = vec3_sub(corner[2], corner[0]), normal = vec3_cross(u, w);
    double square = vec3_dot(normal, normal);
    weight[1] = vec3_dot(vec3_cross(to, w), normal) / square;
    weight[2] = vec3_dot(vec3_cross(u, to), normal) / square;
  }
  weight[0] = 1 - weight[1] - weight[2];
}

static Nearest nearest_of_hulls(const Model* model, int a, int b, Pose pose_a, Pose pose_b) {
  PointView view_a = model->hulls[a].points, view_b = model->hulls[b].points;
  GjkCache simplex = {0};
  GjkResult gjk = gjk_distance(view_a, pose_a, view_b, pose_b, &simplex);
  if (!(gjk.distance > 0)) return (Nearest){.a = a, .b = b};
  Nearest out = {.distance = gjk.distance, .a = a, .b = b, .normal = gjk.normal, .count = simplex.count};
  out.point_a = pose_apply_inverse(pose_a, gjk.witness_a);
  out.point_b = pose_apply_inverse(pose_b, gjk.witness_b);
  Vec3 difference[4];
  for (int i = 0; i < simplex.count; i++) {
    out.vertex_a[i] = simplex.a[i];
    out.vertex_b[i] = simplex.b[i];
    difference[i] =
        vec3_sub(pose_apply(pose_a, vertex(view_a, simplex.a[i])), pose_apply(pose_b, vertex(view_b, simplex.b[i])));
  }
  loss_nearest_weights(difference, simplex.count, out.weight);
  return out;
}

/* A hull over a half-space, which is a of the two: the surface's point below the lowest vertex. */
static Nearest nearest_of_half_space(const Model* model, int half_space, int hull, Pose half_space_pose,
                                     Pose hull_pose) {
  const ModelHull* half = &model->hulls[half_space];
  const ModelHull* over = &model->hulls[hull];
  Nearest out = {
      .a = half_space, .b = hull, .normal = mat3_mul_vec(half_space_pose.r, half->normal), .count = 1, .weight = {1}};
  out.vertex_a[0] = -1;
  over->kind->support(over, mat3_tmul_vec(hull_pose.r, vec3_scale(out.normal, -1)), &out.vertex_b[0]);
  out.point_b = vertex(over->points, out.vertex_b[0]);
  Vec3 seen = pose_apply_inverse(half_space_pose, pose_apply(hull_pose, out.point_b));
  out.distance = vec3_dot(half->normal, seen) - half->offset;
  out.point_a = vec3_add_scaled(seen, -out.distance, half->normal);
  return out;
}

/* Where the two links of a term stand. */
typedef struct {
  int link;
  Pose pose, other;
} TwoPoses;

static Pose pose_of_hull(const Model* model, const TwoPoses* poses, int hull) {
  return model->hulls[hull].link == poses->link ? poses->pose : poses->other;
}

static Nearest nearest_between(const Model* model, const TwoPoses* poses, int a, int b) {
  const ModelHull *hull_a = &model->hulls[a], *hull_b = &model->hulls[b];
  Pose pose_a = pose_of_hull(model, poses, a), pose_b = pose_of_hull(model, poses, b);
  if (!hull_a->kind->bounded) return nearest_of_half_space(model, a, b, pose_a, pose_b);
  if (!hull_b->kind->bounded) return nearest_of_half_space(model, b, a, pose_b, pose_a);
  return nearest_of_hulls(model, a, b, pose_a, pose_b);
}

/* What the distance cannot be below, by the bounding spheres; NaN when a pose is not a number. */
static double distance_bound(const Model* model, const TwoPoses* poses, int a, int b) {
  const ModelHull *hull_a = &model->hulls[a], *hull_b = &model->hulls[b];
  Vec3 center_a = pose_apply(pose_of_hull(model, poses, a), hull_a->center);
  Vec3 center_b = pose_apply(pose_of_hull(model, poses, b), hull_b->center);
  double between = vec3_norm(vec3_sub(center_a, center_b));
  if (!isnan(between) && (!hull_a->kind->bounded || !hull_b->kind->bounded)) return -HUGE_VAL;
  return between - hull_a->radius - hull_b->radius;
}

/* Of all pairs of hulls; farther than margin, margin and whatever pair. */
static Nearest nearest_of_links(const LossTerm* term, const Model* model, const TwoPoses* poses) {
  const ModelLink *link = &model->links[term->link], *other = &model->links[term->other];
  Nearest best = {.distance = term->margin};
  for (int a = link->hull_first; a < link->hull_first + link->hull_count; a++)
    for (int b = other->hull_first; b < other->hull_first + other->hull_count; b++) {
      if (!model->hulls[a].kind->bounded && !model->hulls[b].kind->bounded) continue;
      double bound = distance_bound(model, poses, a, b);
      if (isnan(bound)) return (Nearest){.distance = NAN};
      if (bound >= best.distance) continue;
      Nearest found = nearest_between(model, poses, a, b);
      if (found.distance < best.distance) best = found;
    }
  return best;
}

/* ---------------------------------------------------------------- the loss */

/* g = dL/dx of the nearest point of one side: to its pose and to the vertices that carry it. */
static void seed_side(const Recording* recording, int step, int hull, Vec3 point, const Nearest* nearest,
                      const int* index, Vec3 g, LossSeeds* seeds) {
  const Model* model = recording->model;
  int link = model->hulls[hull].link;
  loss_seed_pose(recording, link, step, point, g, seeds);
  if (index[0] < 0) return;
  Vec3 local = mat3_tmul_vec(recording_link_pose(recording, step, link).r, g);
  Vec3* vertices = seeds->vertices + model->hulls[hull].vertex_first;
  for (int i = 0; i < nearest->count; i++)
    vertices[index[i]] = vec3_add_scaled(vertices[index[i]], nearest->weight[i], local);
}

double loss_gap(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_share(term);
  for (int k = term->first; k <= term->last; k++) {
    TwoPoses poses = {term->link, recording_link_pose(recording, k, term->link),
                      recording_link_pose(recording, k, term->other)};
    Nearest nearest = nearest_of_links(term, recording->model, &poses);
    double lack = term->margin - nearest.distance;
    if (lack == 0) continue;
    sum += lack * lack;
    if (!seeds || nearest.count == 0) continue;
    Vec3 g = vec3_scale(nearest.normal, 2 * share * lack);
    seed_side(recording, k, nearest.a, nearest.point_a, &nearest, nearest.vertex_a, g, seeds);
    seed_side(recording, k, nearest.b, nearest.point_b, &nearest, nearest.vertex_b, vec3_scale(g, -1), seeds);
  }
  return share * sum;
}
