/* Approach: mean over the window of max(D - margin^2, 0), with D the smoothed squared distance of two links.
 * p runs over all pairs of a vertex of one link and a hull of the other. d_p is the squared distance of the vertex from
 * the hull [m^2], and s the smoothing length [m].
 * D = -s^2 log( mean_p exp(-d_p / s^2) ),   dD/d d_p = w_p = exp(-d_p / s^2) / sum_p exp(-d_p / s^2)
 * The squared distance from a convex set is differentiable everywhere. With P the point of the hull nearest to the
 * vertex x, its derivative with respect to x is 2 (x - P). The derivative with respect to the hull's vertices is -2 (x
 * - P) times the barycentric coordinates of P, as if P were fixed in the hull. Both are zero if x is inside. */
#include <string.h>

#include "differentiate/loss.h"

/* Pairs are skipped if d_p / s^2 exceeds the smallest value by more than this value, because their weights are below
 * rounding: exp(-40) = 4e-18. */
#define SHARES_WITHIN 40.0

/* A vertex and a hull, in world poses. */
typedef struct {
  const Recording* recording;
  int step, vertex_hull, vertex, hull;
  Pose pose, other; /* of the vertex's link; of the hull's link */
} Pair;

/* Returns vertex i of a point set as a set of one point, stored in `room`. */
static PointView alone(PointView view, int i, double room[3][8]) {
  for (int k = 0; k < 8; k++) {
    room[0][k] = view.x[i];
    room[1][k] = view.y[i];
    room[2][k] = view.z[i];
  }
  return (PointView){room[0], room[1], room[2], 1, 8};
}

/* Squared distance of a vertex from a hull, with the nearest points. */
typedef struct {
  double square;       /* m^2 */
  Vec3 from, nearest;  /* world */
  int count, index[4]; /* vertices of the hull that span the nearest point; count is 0 for a half-space */
  double weight[4];
} VertexReach;

static VertexReach reach_half_space(const Pair* p, const ModelHull* half, Vec3 x) {
  Vec3 normal = mat3_mul_vec(p->other.r, half->normal);
  double height = vec3_dot(half->normal, pose_apply_inverse(p->other, x)) - half->offset;
  double outside = fmax(height, 0); /* NaN becomes 0 */
  return (VertexReach){.square = outside * outside, .from = x, .nearest = vec3_add_scaled(x, -outside, normal)};
}

static VertexReach reach_of(const Pair* p) {
  const Model* m = p->recording->model;
  const ModelHull *hull = &m->hulls[p->hull], *own = &m->hulls[p->vertex_hull];
  Vec3 x = pose_apply(p->pose, point_at(own->points, p->vertex));
  if (!hull->kind->bounded) return reach_half_space(p, hull, x);
  double room[3][8] __attribute__((aligned(64)));
  GjkCache simplex = {0};
  GjkResult found = gjk_distance(alone(own->points, p->vertex, room), p->pose, hull->points, p->other, &simplex);
  VertexReach out = {.square = found.distance * found.distance, .from = x, .nearest = x};
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

/* Returns a lower bound of the squared distance [m^2]. */
static double bound_of(const Pair* p) {
  const Model* m = p->recording->model;
  const ModelHull *hull = &m->hulls[p->hull], *own = &m->hulls[p->vertex_hull];
  if (!hull->kind->bounded) return 0;
  Vec3 x = pose_apply(p->pose, point_at(own->points, p->vertex));
  double least = vec3_norm(vec3_sub(x, pose_apply(p->other, hull->center))) - hull->radius;
  return least > 0 ? least * least : 0;
}

typedef void (*PairVisit)(const Pair* pair, void* context);

/* Calls body for every vertex of `from` with every hull of `to`. */
static void visit(const Recording* r, int step, int from, int to, PairVisit body, void* context) {
  const Model* m = r->model;
  const ModelLink *own = &m->links[from], *other = &m->links[to];
  Pair p = {.recording = r,
            .step = step,
            .pose = recording_link_pose(r, step, from),
            .other = recording_link_pose(r, step, to)};
  for (p.vertex_hull = own->hull_first; p.vertex_hull < own->hull_first + own->hull_count; p.vertex_hull++)
    for (p.vertex = 0; p.vertex < m->hulls[p.vertex_hull].points.count; p.vertex++)
      for (p.hull = other->hull_first; p.hull < other->hull_first + other->hull_count; p.hull++) body(&p, context);
}

static void visit_both(const LossTerm* term, const Recording* r, int step, PairVisit body, void* context) {
  visit(r, step, term->link, term->other, body, context);
  visit(r, step, term->other, term->link, body, context);
}

typedef struct {
  double square, least, sum; /* s^2; smallest squared distance of all pairs; sum of weights relative to that pair */
  int count;
  double factor; /* dL/dD */
  LossSeeds* seeds;
} Smooth;

static void take_least(const Pair* p, void* context) {
  Smooth* s = context;
  s->count++;
  if (bound_of(p) >= s->least) return;
  double square = reach_of(p).square;
  if (!(square >= s->least)) s->least = square; /* also true for NaN */
}

static bool counts(const Pair* p, const Smooth* s) { return bound_of(p) <= s->least + SHARES_WITHIN * s->square; }

/* Returns NaN if the pose is not finite. Distances may be finite for such a pose. */
static double sound_pose(Pose pose) {
  double sum = pose.t.x + pose.t.y + pose.t.z;
  for (int k = 0; k < 9; k++) sum += pose.r.m[k / 3][k % 3];
  return 0 * sum;
}

static double share_of(const VertexReach* reach, const Smooth* s) {
  return math_pow(M_E, -(reach->square - s->least) / s->square);
}

static void add_share(const Pair* p, void* context) {
  Smooth* s = context;
  if (!counts(p, s)) return;
  VertexReach reach = reach_of(p);
  s->sum += share_of(&reach, s);
}

static void add_seeds(const Pair* p, void* context) {
  Smooth* s = context;
  if (!counts(p, s)) return;
  const Recording* r = p->recording;
  const ModelHull *own = &r->model->hulls[p->vertex_hull], *hull = &r->model->hulls[p->hull];
  VertexReach reach = reach_of(p);
  Vec3 g = vec3_scale(vec3_sub(reach.from, reach.nearest), 2 * s->factor * share_of(&reach, s) / s->sum);
  loss_seed_pose(r, own->link, p->step, point_at(own->points, p->vertex), g, s->seeds);
  loss_seed_pose(r, hull->link, p->step, pose_apply_inverse(p->other, reach.nearest), vec3_scale(g, -1), s->seeds);
  Vec3* vertex = &s->seeds->vertices[own->vertex_first + p->vertex];
  *vertex = vec3_add(*vertex, mat3_tmul_vec(p->pose.r, g));
  Vec3 local = mat3_tmul_vec(p->other.r, vec3_scale(g, -1)), *vertices = s->seeds->vertices + hull->vertex_first;
  for (int k = 0; k < reach.count; k++)
    vertices[reach.index[k]] = vec3_add_scaled(vertices[reach.index[k]], reach.weight[k], local);
}

double loss_approach(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_state_weight(term);
  for (int k = term->first; k <= term->last; k++) {
    Smooth s = {.square = term->smoothing * term->smoothing, .least = HUGE_VAL, .factor = share, .seeds = seeds};
    visit_both(term, recording, k, take_least, &s);
    visit_both(term, recording, k, add_share, &s);
    double sound = sound_pose(recording_link_pose(recording, k, term->link)) +
                   sound_pose(recording_link_pose(recording, k, term->other));
    double excess = sound + s.least - s.square * math_log(s.sum / s.count) - term->margin * term->margin;
    if (excess <= 0) continue; /* false for NaN, which propagates */
    sum += excess;
    if (seeds) visit_both(term, recording, k, add_seeds, &s);
  }
  return share * sum;
}
