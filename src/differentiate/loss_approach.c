/* Approach: mean over the window of max(D - margin^2, 0), with D the smoothed squared distance of two links.
 * A pair p is a vertex of one link and a hull of the other. d_p: squared distance of the vertex from the hull [m^2]. s:
 * smoothing length [m].
 * D = -s^2 log( mean_p exp(-d_p / s^2) ),   dD/d d_p = w_p = exp(-d_p / s^2) / sum_p exp(-d_p / s^2)
 * The squared distance from a convex set is differentiable. With P the point of the hull nearest to the vertex x, its
 * derivative with respect to x is 2 (x - P). Its derivative with respect to a vertex of the hull is -2 (x - P) times
 * the barycentric coordinate of P. Both are zero if x is inside the hull. */
#include <string.h>

#include "differentiate/loss.h"

/* Pairs with d_p / s^2 above the smallest value by more than this are skipped, because their weights are below
 * rounding: exp(-40) = 4e-18. */
#define WEIGHT_EXPONENT_MAX 40.0

typedef struct {
  const Recording* recording;
  int step, vertex_hull, vertex, hull;
  Pose pose, other; /* world pose of the link with the vertex; world pose of the link with the hull */
} VertexHullPair;

/* Squared distance of a vertex from a hull, and the nearest point. */
typedef struct {
  double square;       /* squared distance [m^2] */
  Vec3 from, nearest;  /* vertex and nearest point, world */
  int count, index[4]; /* vertices of the hull that span the nearest point; 0 for a half-space */
  double weight[4];
} VertexDistance;

static VertexDistance half_space_distance(const VertexHullPair* p, const ModelHull* half, Vec3 x) {
  Vec3 normal = mat3_mul_vec(p->other.r, half->normal);
  double height = vec3_dot(half->normal, pose_apply_inverse(p->other, x)) - half->offset;
  double outside = fmax(height, 0); /* NaN becomes 0 */
  return (VertexDistance){.square = outside * outside, .from = x, .nearest = vec3_add_scaled(x, -outside, normal)};
}

static VertexDistance vertex_distance(const VertexHullPair* p) {
  const Model* m = p->recording->model;
  const ModelHull *hull = &m->hulls[p->hull], *vertex_hull = &m->hulls[p->vertex_hull];
  Vec3 x = pose_apply(p->pose, point_at(vertex_hull->points, p->vertex));
  if (!hull->kind->bounded) return half_space_distance(p, hull, x);
  double coordinates[3][POINT_VIEW_PADDING] __attribute__((aligned(64)));
  GjkCache simplex = {0};
  GjkResult found = gjk_distance(point_view_of_one(point_at(vertex_hull->points, p->vertex), coordinates), p->pose,
                                 hull->points, p->other, &simplex);
  VertexDistance out = {.square = found.distance * found.distance, .from = x, .nearest = x};
  if (!(found.distance > 0)) return out;
  Vec3 corner[4];
  out.nearest = found.witness_b;
  out.count = simplex.count;
  for (int k = 0; k < simplex.count; k++) {
    out.index[k] = simplex.b[k];
    corner[k] = vec3_sub(x, pose_apply(p->other, point_at(hull->points, simplex.b[k])));
  }
  loss_nearest_weights(corner, simplex.count, out.weight);
  return out;
}

/* Returns a lower bound of the squared distance of the pair [m^2], from the bounding sphere of the hull. */
static double distance_bound(const VertexHullPair* p) {
  const Model* m = p->recording->model;
  const ModelHull *hull = &m->hulls[p->hull], *vertex_hull = &m->hulls[p->vertex_hull];
  if (!hull->kind->bounded) return 0;
  Vec3 x = pose_apply(p->pose, point_at(vertex_hull->points, p->vertex));
  double least = vec3_norm(vec3_sub(x, pose_apply(p->other, hull->center))) - hull->radius;
  return least > 0 ? least * least : 0;
}

typedef void (*PairCallback)(const VertexHullPair* pair, void* context);

/* Calls callback for every vertex of link `from` with every hull of link `to`. */
static void for_each_pair(const Recording* r, int step, int from, int to, PairCallback callback, void* context) {
  const Model* m = r->model;
  const ModelLink *first = &m->links[from], *other = &m->links[to];
  VertexHullPair p = {.recording = r,
                      .step = step,
                      .pose = recording_link_pose(r, step, from),
                      .other = recording_link_pose(r, step, to)};
  for (p.vertex_hull = first->hull_first; p.vertex_hull < first->hull_first + first->hull_count; p.vertex_hull++)
    for (p.vertex = 0; p.vertex < m->hulls[p.vertex_hull].points.count; p.vertex++)
      for (p.hull = other->hull_first; p.hull < other->hull_first + other->hull_count; p.hull++) callback(&p, context);
}

static void for_each_pair_both_ways(const LossTerm* term, const Recording* r, int step, PairCallback callback,
                                    void* context) {
  for_each_pair(r, step, term->link, term->other, callback, context);
  for_each_pair(r, step, term->other, term->link, callback, context);
}

typedef struct {
  double square, least,
      sum; /* square: square of the smoothing length s; least: smallest squared distance of all pairs; sum: sum of the
              weights of all pairs, each divided by the weight of the pair with the smallest distance */
  int count;
  double factor; /* derivative of the loss with respect to the smoothed squared distance of the links */
  LossSeeds* seeds;
} SmoothedDistance;

static void update_least(const VertexHullPair* p, void* context) {
  SmoothedDistance* s = context;
  s->count++;
  if (distance_bound(p) >= s->least) return;
  double square = vertex_distance(p).square;
  if (!(square >= s->least)) s->least = square; /* also if `square` is NaN */
}

static bool has_weight(const VertexHullPair* p, const SmoothedDistance* s) {
  return distance_bound(p) <= s->least + WEIGHT_EXPONENT_MAX * s->square;
}

/* Returns NaN if the pose is not finite, otherwise 0. Distances may be finite for such a pose. */
static double check_pose(Pose pose) {
  double sum = pose.t.x + pose.t.y + pose.t.z;
  for (int k = 0; k < 9; k++) sum += pose.r.m[k / 3][k % 3];
  return 0 * sum;
}

static double pair_weight(const VertexDistance* distance, const SmoothedDistance* s) {
  return math_pow(M_E, -(distance->square - s->least) / s->square);
}

static void add_weight(const VertexHullPair* p, void* context) {
  SmoothedDistance* s = context;
  if (!has_weight(p, s)) return;
  VertexDistance distance = vertex_distance(p);
  s->sum += pair_weight(&distance, s);
}

static void add_seeds(const VertexHullPair* p, void* context) {
  SmoothedDistance* s = context;
  if (!has_weight(p, s)) return;
  const Recording* r = p->recording;
  const ModelHull *vertex_hull = &r->model->hulls[p->vertex_hull], *hull = &r->model->hulls[p->hull];
  VertexDistance distance = vertex_distance(p);
  Vec3 g = vec3_scale(vec3_sub(distance.from, distance.nearest), 2 * s->factor * pair_weight(&distance, s) / s->sum);
  loss_seed_pose(r, vertex_hull->link, p->step, point_at(vertex_hull->points, p->vertex), g, s->seeds);
  loss_seed_pose(r, hull->link, p->step, pose_apply_inverse(p->other, distance.nearest), vec3_scale(g, -1), s->seeds);
  Vec3* vertex = &s->seeds->vertices[vertex_hull->vertex_first + p->vertex];
  *vertex = vec3_add(*vertex, mat3_tmul_vec(p->pose.r, g));
  Vec3 local = mat3_tmul_vec(p->other.r, vec3_scale(g, -1)), *vertices = s->seeds->vertices + hull->vertex_first;
  for (int k = 0; k < distance.count; k++)
    vertices[distance.index[k]] = vec3_add_scaled(vertices[distance.index[k]], distance.weight[k], local);
}

double loss_approach(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_state_weight(term);
  for (int k = term->first; k <= term->last; k++) {
    SmoothedDistance s = {
        .square = term->smoothing * term->smoothing, .least = HUGE_VAL, .factor = share, .seeds = seeds};
    for_each_pair_both_ways(term, recording, k, update_least, &s);
    for_each_pair_both_ways(term, recording, k, add_weight, &s);
    double sound = check_pose(recording_link_pose(recording, k, term->link)) +
                   check_pose(recording_link_pose(recording, k, term->other));
    double excess = sound + s.least - s.square * math_log(s.sum / s.count) - term->margin * term->margin;
    if (excess <= 0) continue; /* if `excess` is NaN, the sum becomes NaN */
    sum += excess;
    if (seeds) for_each_pair_both_ways(term, recording, k, add_seeds, &s);
  }
  return share * sum;
}
