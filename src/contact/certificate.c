/* Proof that no hulls intersect along the path of a step (docs/derivations/certificate.md).
 *
 * Let x(alpha) be the path of a vertex of a hull, alpha in [0, 1]. Let the separating plane, with the normal n and the
 * offset o, be interpolated linearly between its values (n0, o0) and (n1, o1) at both ends. sigma: -1 for body a, +1
 * for body b. The second derivative of the clearance c(alpha) = sigma (n . x + o) is bounded by |c''| <= B = 2 |n1 -
 * n0| |x'| + max|n| |x''|. Hence
 *   c(alpha) >= (1 - alpha) c0 + alpha c1 - alpha (1 - alpha) / 2 B.                                             (P4)
 * If this lower bound is not positive, the interval is halved, and the plane is computed at its middle. */
#include <assert.h>
#include <string.h>

#include "contact/system.h"

/* Largest number of halvings. If an interval of 2^-14 of the path has no proof, the certificate fails. */
enum { MAX_HALVINGS = 14 };
/* contact_certify_arrival may halve the path this many times less than contact_certify. A later proof of the same path
 * with contact_certify then also succeeds if its separating planes differ by rounding errors. */
enum { ARRIVAL_HALVINGS_LESS = 6 };

/* A pair of hulls at the point alpha of its path. */
typedef struct {
  double alpha;
  HullInstance a, b;
  bool has_plane;
  Plane plane;
  double clearance[2]; /* lower bounds on the clearances of both hulls from the plane [m] */
  double separation;   /* lower bound on the distance of the hulls [m] */
  Vec3 axis;           /* unit vector from a to b; direction along which the gap was last computed */
  Mat3 frame; /* rotation of the common ancestor of the pair's links; bounds on motion are relative to this ancestor;
                 identity for the world */
} PathPoint;

/* Upper bounds on the motion of a hull's points over the whole path, alpha in [0, 1]. They bound the first and the
 * second derivative of the positions with respect to alpha [m]. */
typedef struct {
  double speed, acceleration;
} PointBound;

typedef struct {
  ContactSystem* system;
  ContactPair* pair;
  PointBound a, b;
  ContactPath poses_at;
  void* context;
  int* intervals;
  ContactFailure* failure;
} PairProof;

static PointBound point_bound(const MotionBound* m, double arm) {
  return (PointBound){m->speed + m->spin * arm, m->acceleration + (m->spin * m->spin + m->spin_rate) * arm};
}

/* Returns upper bounds on the motion of the link `link` relative to its ancestor `ancestor`. */
static MotionBound relative_bound(const Model* model, const JointBound* joints, int ancestor, int link) {
  if (link == ancestor) return (MotionBound){0, 0, 0, 0};
  return motion_bound_below(relative_bound(model, joints, ancestor, model->links[link].parent), &joints[link]);
}

/* Returns upper bounds on the motion of a link relative to the common ancestor of the pair's links. If the links have
 * no common ancestor, the motion is relative to the world. A motion of the common ancestor does not change the distance
 * of the links. */
static MotionBound link_bound(const ContactSystem* s, const ContactPair* p, const MotionBounds* bounds, int link) {
  return p->common_ancestor < 0 ? bounds->link[link]
                                : relative_bound(s->model, bounds->joint, p->common_ancestor, link);
}

/* Sets q->a and q->b to upper bounds on the motion of the points of both hulls. ma, mb: upper bounds on the motion of
 * the links to which these hulls belong. */
static void set_point_bounds(PairProof* q, MotionBound ma, MotionBound mb) {
  const ContactSystem* s = q->system;
  const ModelHull *a = &s->model->hulls[q->pair->hull_a], *b = &s->model->hulls[q->pair->hull_b];
  q->a = point_bound(&ma, vec3_norm(a->center) + a->radius);
  if (b->kind->bounded) {
    q->b = point_bound(&mb, vec3_norm(b->center) + b->radius);
    return;
  }
  /* The second derivative of the height of a point x over a half-space is n'' . (x - t) + 2 n' . (x' - t') + n . (x'' -
   * t''), with the origin t and the normal n of the half-space. */
  const HullInstance* at = &s->instance[s->current][q->pair->hull_a];
  double arm = vec3_norm(vec3_sub(at->center, s->pose[s->current][b->link].t)) + at->radius + q->a.speed + mb.speed;
  q->b = point_bound(&mb, arm);
  q->b.acceleration += 2 * mb.spin * (q->a.speed + mb.speed);
}

static void set_bounds(PairProof* q, const MotionBounds* bounds) {
  set_point_bounds(q, link_bound(q->system, q->pair, bounds, q->pair->link_a),
                   link_bound(q->system, q->pair, bounds, q->pair->link_b));
}

/* Returns true if a clearance is provably positive on an interval of the path: (1-t) c0 + t c1 - t (1-t) / 2 B > 0 for
 * all t in [0, 1]. c0, c1: clearances at both ends. B = bound: upper bound on the second derivative of the
 * clearance. */
static bool stays_positive(double c0, double c1, double bound) {
  if (!(c0 > 0) || !(c1 > 0)) return false;
  double least = c0 < c1 ? c0 : c1;
  if (bound < 8 * least) return true;
  if (bound <= 2 * fabs(c1 - c0)) return true; /* the function is monotone, so its minimum is at an end */
  double t = 0.5 - (c1 - c0) / bound;
  return (1 - t) * c0 + t * c1 - 0.5 * t * (1 - t) * bound > 0;
}

/* ---------------------------------------------------------------- three proofs for an interval of length h */

/* Returns true if the distances of the hulls at both ends of an interval prove that the hulls do not intersect within
 * it. This is the case if the sum of both distances exceeds the sum of the lengths of both hulls' paths. h: length of
 * the interval. */
static bool is_proved_by_length(const PairProof* q, const PathPoint* s0, const PathPoint* s1, double h) {
  return s0->separation + s1->separation > h * (q->a.speed + q->b.speed);
}

static bool is_proved_by_planes(const PairProof* q, const PathPoint* s0, const PathPoint* s1, double h) {
  if (!s0->has_plane || !s1->has_plane || s0->b.half_space) return false;
  double normal_change =
      vec3_norm(vec3_sub(mat3_tmul_vec(s1->frame, s1->plane.n), mat3_tmul_vec(s0->frame, s0->plane.n)));
  double length = fmax(vec3_norm(s0->plane.n), vec3_norm(s1->plane.n));
  double bound_a = h * (2 * normal_change * q->a.speed + length * q->a.acceleration * h);
  double bound_b = h * (2 * normal_change * q->b.speed + length * q->b.acceleration * h);
  return stays_positive(s0->clearance[0], s1->clearance[0], bound_a) &&
         stays_positive(s0->clearance[1], s1->clearance[1], bound_b);
}

/* Returns true if a fixed direction proves that the hulls do not intersect within an interval of length h. This is the
 * case if the gap of the hulls along `axis` stays positive. axis: direction in the frame of the common ancestor. */
static bool is_proved_by_axis(const PairProof* q, const PathPoint* s0, const PathPoint* s1, double h, Vec3 axis) {
  if (!(vec3_dot(axis, axis) > 0.5)) return false;
  double bound = h * h * (q->a.acceleration + q->b.acceleration);
  double gap0 = pair_gap_along(&s0->a, &s0->b, mat3_mul_vec(s0->frame, axis));
  return gap0 > 0 && stays_positive(gap0, pair_gap_along(&s1->a, &s1->b, mat3_mul_vec(s1->frame, axis)), bound);
}

static bool is_interval_proved(const PairProof* q, const PathPoint* s0, const PathPoint* s1) {
  double h = s1->alpha - s0->alpha;
  ++*q->intervals;
  return is_proved_by_length(q, s0, s1, h) || is_proved_by_planes(q, s0, s1, h) ||
         is_proved_by_axis(q, s0, s1, h, mat3_tmul_vec(s0->frame, s0->axis)) ||
         is_proved_by_axis(q, s0, s1, h, mat3_tmul_vec(s1->frame, s1->axis));
}

/* ---------------------------------------------------------------- hulls and planes at points of the path */

static PathPoint path_point_of_state(const ContactSystem* s, const ContactPair* p, int which, double alpha) {
  const PairState* state = &p->state[which];
  PathPoint out = {.alpha = alpha,
                   .a = s->instance[which][p->hull_a],
                   .b = s->instance[which][p->hull_b],
                   .has_plane = state->has_plane,
                   .frame = p->common_ancestor < 0 ? mat3_identity() : s->pose[which][p->common_ancestor].r,
                   .separation = state->separation,
                   .axis = state->axis};
  if (state->has_plane) {
    out.plane = state->plane;
    memcpy(out.clearance, state->clearance, sizeof out.clearance);
  }
  return out;
}

static HullInstance hull_at_poses(const ContactSystem* s, int hull, const Pose* poses) {
  const ModelHull* h = &s->model->hulls[hull];
  HullInstance out = s->instance[s->current][hull];
  out.pose = poses[h->link];
  out.center = pose_apply(out.pose, h->center);
  if (!h->kind->bounded) {
    out.normal = mat3_mul_vec(out.pose.r, h->normal);
    out.offset = h->offset + vec3_dot(out.normal, out.pose.t);
  }
  return out;
}

/* Sets `poses` of both links of the pair and of their ancestors to the poses at the point alpha in [0, 1] of the
 * path. */
static void pair_poses_at(const PairProof* q, double alpha, Pose* poses) {
  const ContactPair* p = q->pair;
  q->poses_at(q->context, alpha, p->link_a, -1, poses);
  q->poses_at(q->context, alpha, p->link_b, p->common_ancestor, poses);
}

static PathPoint path_point_at(const PairProof* q, double alpha, const Pose* poses) {
  int common = q->pair->common_ancestor;
  return (PathPoint){.alpha = alpha,
                     .frame = common < 0 ? mat3_identity() : poses[common].r,
                     .a = hull_at_poses(q->system, q->pair->hull_a, poses),
                     .b = hull_at_poses(q->system, q->pair->hull_b, poses)};
}

/* Sets a separating plane of a path point, and the clearances of both hulls from it. Any plane that separates the hulls
 * is valid for the proof. */
static bool find_separating_plane(const ContactSystem* s, const GjkResult* found, PathPoint* out) {
  const SceneLaw* law = s->laws.laws;
  if (law->row->overlaps) return false;
  if (law->row->part)
    return law->row->part(law->data, s->first_thread, &out->a, &out->b, found, &out->plane, out->clearance);
  out->plane = (Plane){vec3_scale(vec3_add(found->witness_a, found->witness_b), 0.5), found->normal, 0};
  out->clearance[0] = out->clearance[1] = 0.5 * found->distance;
  return true;
}

static bool measure_path_point(PairProof* q, PathPoint* out) {
  ContactSystem* s = q->system;
  if (out->b.half_space) {
    out->axis = vec3_scale(out->b.normal, -1.0);
    out->separation = pair_gap_along(&out->a, &out->b, out->axis);
    return out->separation > 0;
  }
  GjkCache cache = q->pair->gjk;
  GjkResult found;
  pair_distance(&out->a, &out->b, &cache, &found);
  if (!(found.distance > 0)) return false;
  out->separation = found.distance;
  out->axis = found.normal;
  if (found.distance >= s->range) return true;
  out->has_plane = find_separating_plane(s, &found, out);
  return true;
}

static bool path_point_between(PairProof* q, double alpha, PathPoint* out) {
  pair_poses_at(q, alpha, q->system->certificate_poses);
  *out = path_point_at(q, alpha, q->system->certificate_poses);
  return measure_path_point(q, out);
}

static bool certify_interval(PairProof* q, const PathPoint* s0, const PathPoint* s1, int depth) {
  if (is_interval_proved(q, s0, s1)) return true;
  q->failure->alpha = 0.5 * (s0->alpha + s1->alpha);
  if (depth == MAX_HALVINGS) return false;
  PathPoint midpoint;
  if (!path_point_between(q, q->failure->alpha, &midpoint)) {
    q->failure->intersects = true;
    return false;
  }
  return certify_interval(q, s0, &midpoint, depth + 1) && certify_interval(q, &midpoint, s1, depth + 1);
}

/* ---------------------------------------------------------------- aggregate pairs */

typedef struct {
  AggregatePath path;
  PairProof search;
  ContactPair* pair; /* pair of one hull of each link that is being proved; prove_hulls sets it */
  int depth;
} AggregateProof;

static PathPoint aggregate_path_point(const AggregateProof* w, int point) {
  const ModelHull* hulls = w->search.system->model->hulls;
  return (PathPoint){.alpha = (double)point / AGGREGATE_PATH_INTERVALS,
                     .a = pair_hull_at(&hulls[w->pair->hull_a], &w->path.pose[0][point]),
                     .b = pair_hull_at(&hulls[w->pair->hull_b], &w->path.pose[1][point]),
                     .frame = w->path.frame[point]};
}

static bool prove_hulls(AggregatePath* path, int hull_a, int hull_b, int from, int to) {
  AggregateProof* w = (AggregateProof*)path;
  PairProof* q = &w->search;
  int depth = w->depth;
  for (int intervals_of_path = to - from; intervals_of_path < AGGREGATE_PATH_INTERVALS; intervals_of_path *= 2) depth++;
  w->pair->hull_a = hull_a;
  w->pair->hull_b = hull_b;
  w->pair->gjk = (GjkCache){0};
  set_point_bounds(q, path->bound[0], path->bound[1]);
  PathPoint s0 = aggregate_path_point(w, from), s1 = aggregate_path_point(w, to);
  q->failure->alpha = s0.alpha;
  q->failure->intersects = !measure_path_point(q, &s0) || !measure_path_point(q, &s1);
  return !q->failure->intersects && certify_interval(q, &s0, &s1, depth);
}

/* Proves that no hulls of an aggregate pair intersect on the path. Returns false if there is no proof, and true for two
 * links that are no aggregate pair. start, end: poses of all links at both ends of the path (size: links). depth:
 * number of halvings that must not be used. */
static bool certify_aggregate(const PairProof* q, const MotionBounds* bounds, const Pose* start, const Pose* end,
                              int depth) {
  ContactSystem* s = q->system;
  const ContactPair* p = q->pair;
  if (!contact_is_aggregate_pair(s, p->link_a, p->link_b))
    return true; /* the pairs of hulls of these links are proved one by one */
  AggregateProof w;
  w.search = *q;
  w.search.pair = w.pair = &s->path_pair;
  w.depth = depth;
  w.path.link[0] = w.pair->link_a = p->link_a;
  w.path.link[1] = w.pair->link_b = p->link_b;
  w.path.common_ancestor = w.pair->common_ancestor = p->common_ancestor;
  w.path.start = start;
  w.path.end = end;
  w.path.bound[0] = link_bound(s, p, bounds, p->link_a);
  w.path.bound[1] = link_bound(s, p, bounds, p->link_b);
  w.path.poses_at = q->poses_at;
  w.path.context = q->context;
  w.path.prove = prove_hulls;
  ++*q->intervals;
  return contact_prove_aggregate_path(s, &w.path);
}

/* Returns true if the distances or the planes of the pair's accepted and trial state prove the complete path without
 * halving. This function copies no states, so it is fast. */
static bool is_proved_without_halving(const ContactSystem* s, const ContactPair* p, const PointBound* a,
                                      const PointBound* b) {
  const PairState *s0 = &p->state[s->current], *s1 = &p->state[1 - s->current];
  if (s0->separation + s1->separation > a->speed + b->speed) return true;
  if (!s0->has_plane || !s1->has_plane || s->instance[0][p->hull_b].half_space) return false;
  Vec3 n0 = s0->plane.n, n1 = s1->plane.n;
  if (p->common_ancestor >= 0) {
    n0 = mat3_tmul_vec(s->pose[s->current][p->common_ancestor].r, n0);
    n1 = mat3_tmul_vec(s->pose[1 - s->current][p->common_ancestor].r, n1);
  }
  double normal_change = vec3_norm(vec3_sub(n1, n0)); /* the factor max|n| of the bound B (P4) is below 1 */
  const double *c0 = s0->clearance, *c1 = s1->clearance;
  return stays_positive(c0[0], c1[0], 2 * normal_change * a->speed + a->acceleration) &&
         stays_positive(c0[1], c1[1], 2 * normal_change * b->speed + b->acceleration);
}

/* Returns true if the upper bounds on motion relative to the world prove that the hulls of a pair are too far apart to
 * intersect. This proof succeeds for most pairs. */
static bool is_too_far_apart(const ContactSystem* s, const ContactPair* p, const MotionBounds* bounds) {
  const ModelHull *a = &s->model->hulls[p->hull_a], *b = &s->model->hulls[p->hull_b];
  if (!b->kind->bounded && s->model->links[b->link].tree >= 0) return false;
  const MotionBound *ma = &bounds->link[a->link], *mb = &bounds->link[b->link];
  double path = ma->speed + ma->spin * (vec3_norm(a->center) + a->radius);
  if (b->kind->bounded) path += mb->speed + mb->spin * (vec3_norm(b->center) + b->radius);
  return p->state[0].separation + p->state[1].separation > path;
}

bool contact_certify(ContactSystem* s, const MotionBounds* bounds, ContactPath poses_at, void* context, int* intervals,
                     ContactFailure* failure) {
  assert(s->phase == CONTACT_FEASIBLE);
  *intervals += s->sleeping_hulls;
  for (int n = 0; n < s->awake_count; n++) {
    int k = s->awake[n];
    ContactPair* p = contact_pair(s, k);
    PairProof q = {s, p, .poses_at = poses_at, .context = context, .intervals = intervals, .failure = failure};
    if (p->is_link_pair) {
      *failure = (ContactFailure){.candidate = k};
      if (!certify_aggregate(&q, bounds, s->pose[s->current], s->pose[1 - s->current], 0)) return false;
      continue;
    }
    if (contact_is_represented(s, p->key)) continue;
    if (is_too_far_apart(s, p, bounds)) {
      ++*intervals;
      continue;
    }
    set_bounds(&q, bounds);
    if (is_proved_without_halving(s, p, &q.a, &q.b)) {
      ++*intervals;
      continue;
    }
    PathPoint s0 = path_point_of_state(s, p, s->current, 0), s1 = path_point_of_state(s, p, 1 - s->current, 1);
    if (s0.b.half_space) s0.axis = s1.axis = vec3_scale(s0.b.normal, -1.0);
    *failure = (ContactFailure){.candidate = k};
    if (!certify_interval(&q, &s0, &s1, 0)) return false;
  }
  return true;
}

/* ---------------------------------------------------------------- proof of another path to the accepted state */

void contact_mark_path_start(ContactSystem* s) {
  memcpy(s->path_travelled, s->travelled, sizeof(double) * (size_t)s->model->hull_count);
  s->path_moved = false;
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    const PairState* state = &p->state[s->current];
    p->path_start = (PathStart){.set = true, .has_plane = state->has_plane, .separation = state->separation};
    p->path_start.axis = state->axis;
    if (!state->has_plane) continue;
    p->path_start.plane = state->plane;
    memcpy(p->path_start.clearance, state->clearance, sizeof p->path_start.clearance);
  }
}

/* Sets *out to the point at the start of the path. If `marked` is true and the pair has a PathStart, distance and plane
 * are copied from there. Otherwise they are computed. Returns false if the hulls intersect. */
static bool path_point_at_start(PairProof* q, bool marked, PathPoint* out) {
  const PathStart* start = &q->pair->path_start;
  pair_poses_at(q, 0, q->system->path_poses);
  *out = path_point_at(q, 0, q->system->path_poses);
  if (!marked || !start->set) return measure_path_point(q, out);
  out->has_plane = start->has_plane;
  out->plane = start->plane;
  memcpy(out->clearance, start->clearance, sizeof out->clearance);
  out->separation = start->separation;
  out->axis = out->b.half_space ? vec3_scale(out->b.normal, -1.0) : start->axis;
  return true;
}

/* Returns true if the hulls of one pair provably do not intersect on the path to the accepted state. Usually the
 * distance in the accepted state is sufficient for the proof. */
static bool certify_pair_arrival(PairProof* q, const MotionBounds* bounds, bool marked) {
  ContactSystem* s = q->system;
  const PairState* now = &q->pair->state[s->current];
  set_bounds(q, bounds);
  if (now->separation > q->a.speed + q->b.speed)
    return true; /* no point moves by more than the distance of the hulls */
  PathPoint s0, s1 = path_point_of_state(s, q->pair, s->current, 1);
  if (s1.b.half_space) s1.axis = vec3_scale(s1.b.normal, -1.0);
  return path_point_at_start(q, marked, &s0) && certify_interval(q, &s0, &s1, ARRIVAL_HALVINGS_LESS);
}

bool contact_certify_arrival(ContactSystem* s, const MotionBounds* bounds, ContactPath poses_at, void* context,
                             bool marked) {
  int intervals = 0, unlisted;
  ContactFailure failure;
  const uint64_t* keys = contact_find_unlisted(s, bounds, marked, &unlisted);
  for (int k = 0; k < s->list_count + unlisted; k++) {
    ContactPair* pair = &s->path_pair;
    if (k < s->list_count)
      pair = contact_pair(s, k);
    else
      contact_add_pair(s, pair, keys[k - s->list_count]);
    PairProof q = {s, pair, .poses_at = poses_at, .context = context, .intervals = &intervals, .failure = &failure};
    if (pair->is_link_pair) {
      pair_poses_at(&q, 0, s->path_poses);
      if (!certify_aggregate(&q, bounds, s->path_poses, s->pose[s->current], ARRIVAL_HALVINGS_LESS)) return false;
      continue;
    }
    if (contact_is_represented(s, pair->key)) continue;
    if (!certify_pair_arrival(&q, bounds, marked)) return false;
  }
  return true;
}

ContactDirectionalGap contact_directional_gap(const ContactSystem* s, int index) {
  assert(index >= 0 && index < contact_candidate_count(s));
  const ContactPair* p = contact_pair(s, index);
  const PairState* before = &p->state[s->current];
  if (p->is_link_pair) return (ContactDirectionalGap){p->link_a, p->link_b, .gap = INFINITY, .before = INFINITY};
  const HullInstance *a = &s->instance[1 - s->current][p->hull_a], *b = &s->instance[1 - s->current][p->hull_b];
  Vec3 axis = b->half_space ? vec3_scale(b->normal, -1.0) : before->axis;
  Vec3 at;
  pair_support(a, axis, &at);
  return (ContactDirectionalGap){p->link_a, p->link_b, axis, at, pair_gap_along(a, b, axis), before->separation};
}
