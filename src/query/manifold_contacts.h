/* Contacts of a pair of bodies (X1-X6). Private to query/. Included by manifold.c for dual numbers and by
 * manifold_values.c for plain numbers (DUAL_PLAIN). Both files define surface_point, evaluate_fields and write_contact
 * before the inclusion. docs/derivations/manifold.md */
static Dual3 from_a_to_b(int outward_of, Dual3 normal) {
  return outward_of == 0 ? normal : dual3_scale(normal, dual_constant(-1));
}

/* ---------------------------------------------------------------- soft choice */

typedef struct {
  double depth;
  int index;
} RankedDepth;

static int deepest_first(const void* a, const void* b) {
  const RankedDepth *x = a, *y = b;
  if (x->depth != y->depth) return x->depth > y->depth ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

/* A point or edge has zero weight if the chosen point or edge is deeper by more than this value, in units of the
 * smoothing. The omitted weight e^-37 is below rounding. */
#define NEGLIGIBLE_EXPONENT 37.0

/* Sets out (count) to the indices of all points or edges with a depth of at least last - NEGLIGIBLE_EXPONENT *
 * smoothing. last: smallest depth of a chosen point or edge. Returns the number of indices. */
static int find_candidates(const Dual* depth, int count, double last, double smoothing, int* out) {
  int found = 0;
  double gone = NEGLIGIBLE_EXPONENT * smoothing;
  for (int i = 0; i < count; i++)
    if (last - dual_value(depth[i]) <= gone) out[found++] = i;
  return found;
}

/* Points (width 1) or edges (width 2) of a body among which the deepest are chosen. Each member has `width` positions:
 * the point, or both ends of the edge. of[i]: indices of the positions of member i; if of is NULL, the positions are
 * stored one after the other. */
typedef struct {
  const Dual* depth;
  const Dual3* places;
  const int (*of)[2];
  int count, width;
} RankedSet;

static Dual3 member_position(const RankedSet* m, int member, int k) {
  return m->places[m->of ? m->of[member][k] : member * m->width + k];
}

static Vec3 member_midpoint(const RankedSet* m, int member) {
  Vec3 sum = {0, 0, 0};
  for (int k = 0; k < m->width; k++) sum = vec3_add(sum, dual3_value(member_position(m, member, k)));
  return vec3_scale(sum, 1.0 / m->width);
}

/* Returns the squared distance of two points. For two edges, returns the sum of the squared distances of their ends
 * [m^2]. */
static Dual squared_distance(const RankedSet* m, int a, int b) {
  Dual sum = dual_constant(0);
  for (int k = 0; k < m->width; k++) {
    Dual3 apart = dual3_sub(member_position(m, a, k), member_position(m, b, k));
    sum = dual_add(sum, dual3_dot(apart, apart));
  }
  return sum;
}

/* Sets weight (count) to the weights of the candidates (count) in a soft choice of the point or edge `chosen` (X1). The
 * weight of candidate i is proportional to exp(-|depth_chosen - depth_i| / smoothing - |place_chosen - place_i|^2 /
 * smoothing^2). */
static void compute_choice_weights(const RankedSet* m, const int* candidates, int count, int chosen, Dual smoothing,
                                   Dual* weight) {
  Dual sum = dual_constant(0), over = dual_inverse(smoothing);
  for (int first = 0; first < count; first += LANES) {
    int wide = count - first < LANES ? count - first : LANES;
    Dual apart[LANES];
    Lanes at = lanes_broadcast(-HUGE_VAL);
    for (int k = 0; k < wide; k++) {
      apart[k] = dual_mul(dual_sub(m->depth[chosen], m->depth[candidates[first + k]]), over);
      if (dual_value(apart[k]) > 0) apart[k] = dual_negate(apart[k]);
      Dual square = squared_distance(m, chosen, candidates[first + k]);
      apart[k] = dual_sub(apart[k], dual_mul(square, dual_mul(over, over)));
      at[k] = dual_value(apart[k]) < -NEGLIGIBLE_EXPONENT ? -HUGE_VAL : dual_value(apart[k]);
    }
    at = lanes_exp_nonpositive(at);
    for (int k = 0; k < wide; k++) {
      weight[first + k] = dual_chain(apart[k], at[k], at[k]);
      sum = dual_add(sum, weight[first + k]);
    }
  }
  over = dual_inverse(sum);
  for (int i = 0; i < count; i++) weight[i] = dual_mul(weight[i], over);
}

/* Sets order (wanted) to the indices and depths of the `wanted` deepest points or edges, deepest first. */
static void rank_by_depth(const Dual* depth, int count, int wanted, RankedDepth* order) {
  int known = 0;
  for (int i = 0; i < count; i++) {
    RankedDepth candidate = {dual_value(depth[i]), i};
    if (known == wanted && deepest_first(&candidate, &order[known - 1]) > 0) continue;
    int at = known < wanted ? known++ : known - 1;
    for (; at > 0 && deepest_first(&candidate, &order[at - 1]) < 0; at--) order[at] = order[at - 1];
    order[at] = candidate;
  }
}

/* Depths that differ by less than this value, relative to the smoothing, count as equal. */
#define TIE_TOLERANCE 1e-3
/* A distance counts as longer than another distance if their ratio exceeds this factor, so that rounding does not
 * decide. */
#define LONGER_FACTOR (1 + 1e-9)

/* Points or edges of equal depth (count). member: indices. distance: distance of each from the nearest member that is
 * already chosen [m]. */
typedef struct {
  int* member;
  double* distance;
  int count;
} EqualDepths;

/* Sets *out to the points or edges whose depth equals `last` within `equal` [m]. out->distance: distance of each member
 * from the nearest deeper point or edge; these are the first `deeper` entries of order. If deeper = 0, out->distance is
 * the distance from the mean of the members. */
static void find_equal_depths(const RankedSet* m, double last, double equal, const RankedDepth* order, int deeper,
                              EqualDepths* out) {
  Vec3 mean = {0, 0, 0};
  for (int i = 0; i < m->count; i++) {
    if (fabs(dual_value(m->depth[i]) - last) > equal) continue;
    out->member[out->count++] = i;
    mean = vec3_add(mean, member_midpoint(m, i));
  }
  mean = vec3_scale(mean, 1.0 / out->count);
  for (int i = 0; i < out->count; i++) {
    Vec3 midpoint = member_midpoint(m, out->member[i]);
    out->distance[i] = deeper > 0 ? HUGE_VAL : vec3_norm(vec3_sub(midpoint, mean));
    for (int k = 0; k < deeper; k++)
      out->distance[i] = fmin(out->distance[i], vec3_norm(vec3_sub(midpoint, member_midpoint(m, order[k].index))));
  }
}

/* Removes from points or edges of equal depth the member that is farthest from the members chosen so far. Returns the
 * index of the removed member. first: true if no member was chosen before. */
static int remove_farthest(const RankedSet* m, EqualDepths* ties, bool first) {
  int best = 0;
  for (int i = 1; i < ties->count; i++)
    if (ties->distance[i] > ties->distance[best] * LONGER_FACTOR) best = i;
  int chosen = ties->member[best];
  ties->count--;
  for (int i = best; i < ties->count; i++) {
    ties->member[i] = ties->member[i + 1];
    ties->distance[i] = ties->distance[i + 1];
  }
  for (int i = 0; i < ties->count; i++) {
    double distance = vec3_norm(vec3_sub(member_midpoint(m, ties->member[i]), member_midpoint(m, chosen)));
    ties->distance[i] = first ? distance : fmin(ties->distance[i], distance);
  }
  return chosen;
}

/* Chooses, among points or edges of equal depth, members that are far from each other, so that the contact resists
 * tilting. Fills the last entries of order (wanted) with these members. Returns the number of equally deep members that
 * are left out. ties: empty, with arrays for all points or edges. */
static int choose_among_equal_depths(const RankedSet* m, int wanted, double smoothing, RankedDepth* order,
                                     EqualDepths ties) {
  double last = order[wanted - 1].depth, equal = TIE_TOLERANCE * smoothing;
  int deeper = 0;
  while (order[deeper].depth - last > equal) deeper++;
  find_equal_depths(m, last, equal, order, deeper, &ties);
  if (ties.count <= wanted - deeper) return 0;
  for (int place = deeper; place < wanted; place++) {
    int chosen = remove_farthest(m, &ties, place == 0);
    order[place] = (RankedDepth){dual_value(m->depth[chosen]), chosen};
  }
  return ties.count;
}

/* Sets out to `wanted` softly chosen points or edges (X1), `width` positions each. Each result is a weighted mean of
 * one of the deepest points or edges and of others that are similarly deep and near. */
static void choose_deepest_members(ManifoldPair* s, const RankedSet* m, int wanted, Dual3* out) {
  assert(wanted >= 0 && wanted <= m->count);
  RankedDepth* order = allocate_from_workspace(s, sizeof *order * (size_t)m->count);
  int* candidates = allocate_from_workspace(s, sizeof *candidates * (size_t)m->count);
  double* distance = allocate_from_workspace(s, sizeof *distance * (size_t)m->count);
  Dual* weight = allocate_from_workspace(s, sizeof(Dual) * (size_t)m->count);
  if (wanted == 0) return;
  rank_by_depth(m->depth, m->count, wanted, order);
  double last = order[wanted - 1].depth;
  s->omitted +=
      choose_among_equal_depths(m, wanted, dual_value(s->smoothing), order, (EqualDepths){candidates, distance, 0});
  int near = find_candidates(m->depth, m->count, last, dual_value(s->smoothing), candidates);
  for (int place = 0; place < wanted; place++) {
    compute_choice_weights(m, candidates, near, order[place].index, s->smoothing, weight);
    for (int k = 0; k < m->width; k++) {
      Dual3 sum = dual3_constant(vec3(0, 0, 0));
      for (int c = 0; c < near; c++)
        if (dual_value(weight[c]) > 0)
          sum = dual3_add(sum, dual3_scale(member_position(m, candidates[c], k), weight[c]));
      out[place * m->width + k] = sum;
    }
  }
}

/* ---------------------------------------------------------------- points */

/* Points of a body that may be in contact, in the frame of body b, and their depths in the other body [m]. */
typedef struct {
  Dual3* place;
  Dual* depth;
} Points;

static void write_point_contact(const ManifoldPair* s, int body, Dual3 place, const DualField* other, int64_t at) {
  write_contact(s, body == 0 ? CONTACT_POINT_A : CONTACT_POINT_B, place, other->value,
                from_a_to_b(1 - body, other->normal), dual_constant(1), at);
}

/* Writes the contacts of a body's points, numbered from `next`. Keeps positions and depths of the points in the
 * workspace. Returns `next` plus the number of contacts. */
static int64_t write_point_contacts(ManifoldPair* s, int body, Points* points, int64_t next) {
  const ManifoldBody* surface = s->body[body];
  int count = count_points(surface), wanted = chosen_count(count, s->options->points);
  *points = (Points){allocate_from_workspace(s, sizeof(Dual3) * (size_t)count),
                     allocate_from_workspace(s, sizeof(Dual) * (size_t)count)};
  DualField other[BLOCK];
  for (int first = 0; first < count; first += BLOCK) {
    int block = count - first < BLOCK ? count - first : BLOCK;
    Dual3* place = points->place + first;
    for (int i = 0; i < block; i++)
      place[i] = surface_point(s, body, surface->only ? surface->only[first + i] : first + i);
    evaluate_fields(s, 1 - body, place, block, s->out && wanted == count, other);
    for (int i = 0; i < block; i++) {
      points->depth[first + i] = dual_negate(other[i].value);
      if (wanted == count) write_point_contact(s, body, place[i], &other[i], next++);
    }
  }
  if (wanted == count) return next;
  Dual3* place = allocate_from_workspace(s, sizeof(Dual3) * (size_t)wanted);
  const RankedSet members = {points->depth, points->place, NULL, count, 1};
  choose_deepest_members(s, &members, wanted, place);
  for (int i = 0; i < wanted; i++) {
    if (i % BLOCK == 0) evaluate_fields(s, 1 - body, place + i, wanted - i < BLOCK ? wanted - i : BLOCK, s->out, other);
    write_point_contact(s, body, place[i], &other[i % BLOCK], next++);
  }
  return next;
}

#include "query/manifold_faces.h"

/* ---------------------------------------------------------------- a pair of edges */

/* Squared distance of a point on an edge from a point on another edge, up to a factor and a constant: (x^2 q11 + 2 x y
 * q12 + y^2 q22) / 2 + x c1 + y c2. x and y are the positions along the edges, 0 to 1. */
typedef struct {
  Dual q11, q12, q22, c1, c2;
} EdgeDistance;

static Dual evaluate_edge_distance(const EdgeDistance* q, Dual x, Dual y) {
  Dual square = dual_add(dual_mul(q->q11, dual_mul(x, x)), dual_mul(q->q22, dual_mul(y, y)));
  Dual quadratic = dual_add(dual_times(0.5, square), dual_mul(q->q12, dual_mul(x, y)));
  return dual_add(dual_add(quadratic, dual_mul(q->c1, x)), dual_mul(q->c2, y));
}

/* Returns log(1 + e^x). */
static Lanes softplus(Lanes x) {
  return lanes_elementwise_max(x, lanes_broadcast(0)) + lanes_log(1 + lanes_exp_nonpositive(-lanes_abs(x)));
}

/* Sets out to the four numbers x, clamped smoothly to 0 .. 1: eps softplus(x / eps) - eps softplus((x - 1) / eps),
 * where eps is `softness`. */
static void clamp_smoothly(const Dual x[4], double softness, Dual out[4]) {
  Lanes bare = lanes_broadcast(0);
  for (int k = 0; k < 4; k++) bare[k] = dual_value(x[k]);
  Lanes low = bare / softness, high = (bare - 1) / softness, rest;
  Lanes slope = lanes_sigmoid(low, &rest) - lanes_sigmoid(high, &rest), value = softplus(low) - softplus(high);
  for (int k = 0; k < 4; k++) out[k] = dual_chain(x[k], softness * value[k], slope[k]);
}

/* Returns about 1 if 0 < x < 1 and 0 < y < 1, otherwise about 0. The result is a product of sigmoids of width
 * `softness`. */
static Dual indicator_of_unit_square(Dual x, Dual y, double softness) {
  Lanes at = {dual_value(x), 1 - dual_value(x), dual_value(y), 1 - dual_value(y)}, rest;
  Lanes in = lanes_sigmoid(at / softness, &rest);
  double value = in[0] * in[1] * (in[2] * in[3]), over = value / softness;
  return dual_add(dual_chain(x, value, over * (rest[0] - rest[1])), dual_chain(y, 0, over * (rest[2] - rest[3])));
}

/* Sets *x and *y to a smooth minimizer of the edge distance q where one nearest point is an end of its edge (X3). The
 * result is the mean of the minimizers on the four sides of the unit square, weighted by the softmin of their values.
 */
static void minimize_on_boundary(const EdgeDistance* q, double softness, Dual* x, Dual* y) {
  const Dual one = dual_constant(1), zero = dual_constant(0);
  Dual over1 = dual_inverse(q->q11), over2 = dual_inverse(q->q22);
  const Dual bare[4] = {dual_negate(dual_mul(q->c1, over1)), dual_negate(dual_mul(dual_add(q->q12, q->c1), over1)),
                        dual_negate(dual_mul(dual_add(q->q12, q->c2), over2)), dual_negate(dual_mul(q->c2, over2))};
  Dual side[4];
  clamp_smoothly(bare, softness, side);
  const Dual px[4] = {one, zero, side[1], side[0]}, py[4] = {side[2], side[3], one, zero};
  Dual cost[4], sum = zero;
  double value[4], least = HUGE_VAL;
  for (int k = 0; k < 4; k++) {
    cost[k] = evaluate_edge_distance(q, px[k], py[k]);
    value[k] = dual_value(cost[k]);
    least = value[k] < least ? value[k] : least;
  }
  *x = *y = zero;
  Lanes above = {least - value[0], least - value[1], least - value[2], least - value[3]};
  Lanes weight = lanes_exp_nonpositive(above / softness);
  for (int k = 0; k < 4; k++) {
    Dual w = dual_chain(cost[k], weight[k], -weight[k] / softness);
    sum = dual_add(sum, w);
    *x = dual_add(*x, dual_mul(w, px[k]));
    *y = dual_add(*y, dual_mul(w, py[k]));
  }
  *x = dual_div(*x, sum);
  *y = dual_div(*y, sum);
}

/* Sets *x and *y to a smooth minimizer of the edge distance q over positions in 0 .. 1 (X2-X4). Returns about 1 if the
 * nearest points of the two infinite lines lie inside both edges, otherwise about 0. */
static Dual minimize_in_unit_square(const EdgeDistance* q, double softness, Dual* x, Dual* y) {
  Dual over = dual_inverse(dual_sub(dual_mul(q->q11, q->q22), dual_mul(q->q12, q->q12)));
  Dual free_x = dual_mul(dual_sub(dual_mul(q->q12, q->c2), dual_mul(q->q22, q->c1)), over);
  Dual free_y = dual_mul(dual_sub(dual_mul(q->q12, q->c1), dual_mul(q->q11, q->c2)), over);
  Dual inside = indicator_of_unit_square(free_x, free_y, softness), outside = dual_add_constant(dual_negate(inside), 1);
  minimize_on_boundary(q, softness, x, y);
  *x = dual_add(dual_mul(inside, free_x), dual_mul(outside, *x));
  *y = dual_add(dual_mul(inside, free_y), dual_mul(outside, *y));
  return inside;
}

/* Returns the squared distance between two edges as a function of the positions along the edges. The distance is
 * relative to the mean squared length of the edges. regularization: weight of a term that moves the minimum towards the
 * midpoints of the edges. */
static EdgeDistance squared_edge_distance(const Dual3 a[2], const Dual3 b[2], double regularization) {
  Dual3 along = dual3_sub(a[1], a[0]), back = dual3_sub(b[0], b[1]), between_starts = dual3_sub(a[0], b[0]);
  EdgeDistance q = {dual3_dot(along, along), dual3_dot(along, back), dual3_dot(back, back),
                    dual3_dot(along, between_starts), dual3_dot(back, between_starts)};
  Dual over = dual_inverse(dual_times(0.5, dual_add(q.q11, q.q22)));
  Dual* const entry[5] = {&q.q11, &q.q12, &q.q22, &q.c1, &q.c2};
  for (int k = 0; k < 5; k++) *entry[k] = dual_mul(*entry[k], over);
  q.q11 = dual_add_constant(q.q11, regularization);
  q.q22 = dual_add_constant(q.q22, regularization);
  q.c1 = dual_add_constant(q.c1, -0.5 * regularization);
  q.c2 = dual_add_constant(q.c2, -0.5 * regularization);
  return q;
}

static Dual3 point_on_edge(const Dual3 edge[2], Dual x) {
  return dual3_add(edge[0], dual3_scale(dual3_sub(edge[1], edge[0]), x));
}

typedef struct {
  Dual3 witness[2], direction; /* witness: witness points on a's edge and on b's edge; direction: direction from b's
                                  witness point to a's, of length at most 1 */
  Dual distance, inside;       /* distance: unsigned distance of the witness points [m]; inside: about 1 if both witness
                               points lie       inside their edges, about 0 if one is an end of its edge */
  Dual near[2]; /* weights of the contacts on a's edge and on b's edge, larger if the edges are nearer than other pairs
                   (X6) */
} EdgePair;

/* Squared sine of the angle between two edges at which the weight (activity) of their contact is halved (X6b). */
#define MUTUAL_SINE 1e-4

/* Returns a factor that vanishes for parallel edges: S / (S + MUTUAL_SINE), where S is the squared sine of the angle
 * between the edges. */
static Dual nonparallel_factor(const Dual3 a[2], const Dual3 b[2]) {
  Dual3 u = dual3_sub(a[1], a[0]), v = dual3_sub(b[1], b[0]);
  Dual uv = dual3_dot(u, v), lengths = dual_mul(dual3_dot(u, u), dual3_dot(v, v));
  Dual square = dual_add_constant(dual_negate(dual_div(dual_mul(uv, uv), lengths)), 1);
  return dual_div(square, dual_add_constant(square, MUTUAL_SINE));
}

static void compute_edge_pair(const ManifoldPair* s, const Dual3 a[2], const Dual3 b[2], EdgePair* out) {
  EdgeDistance q = squared_edge_distance(a, b, s->options->regularization);
  Dual x, y, floor = dual_times(DIRECTION_FLOOR, s->smoothing);
  out->inside = minimize_in_unit_square(&q, s->options->softness, &x, &y);
  if (s->options->mutual) out->inside = dual_mul(out->inside, nonparallel_factor(a, b));
  out->witness[0] = point_on_edge(a, x);
  out->witness[1] = point_on_edge(b, y);
  Dual3 apart = dual3_sub(out->witness[0], out->witness[1]);
  Dual square = dual_add(dual3_dot(apart, apart), dual_mul(floor, floor));
  out->direction = dual3_scale(apart, dual_inverse(dual_sqrt(square)));
  out->distance = dual3_dot(apart, out->direction);
}

/* The two contacts of a pair of edges. */
typedef struct {
  Dual3 normal[2]; /* from a to b */
  Dual distance[2], activity[2];
} EdgeContacts;

/* Constants of edge contacts for which each witness point must lie in the other body (X6b). MUTUAL_WIDTH: multiple of
 * the smoothing over which the weight rises with the penetration. MUTUAL_COSINE, MUTUAL_COSINE_WIDTH: the weight falls
 * when the cosine of the angle between the outward normals of both bodies exceeds MUTUAL_COSINE, over a width of
 * MUTUAL_COSINE_WIDTH. */
#define MUTUAL_WIDTH 0.1
#define MUTUAL_COSINE 0.5
#define MUTUAL_COSINE_WIDTH 0.1

/* Sets the signed distances, normals and weights of the two contacts of a pair of edges. The sign of the contact on one
 * body follows from the normal of the other body at that body's witness point (X5). The weight `activity` follows from
 * penetration and opposing normals (X6, X6b). at[side][body]: distance field of `body` at the witness point on the edge
 * of body `side`; normals are set if body == side. */
static void compute_edge_contacts(const ManifoldPair* s, const DualField* at[2][2], const EdgePair* pair,
                                  EdgeContacts* out) {
  bool mutual = s->options->mutual;
  double softness = s->options->softness, blur = mutual ? MUTUAL_COSINE_WIDTH : softness,
         limit = mutual ? MUTUAL_COSINE : 0;
  const Dual3 direction = pair->direction;
  const Dual normal_cosine = dual3_dot(at[0][0]->normal, at[1][1]->normal);
  const Dual outward[2] = {dual3_dot(at[1][1]->normal, direction), dual_negate(dual3_dot(at[0][0]->normal, direction))};
  const Dual width = dual_times(mutual ? MUTUAL_WIDTH : 1, s->smoothing);
  const Dual depth[2] = {dual_negate(dual_div(at[0][1]->value, width)), dual_negate(dual_div(at[1][0]->value, width))};
  const double steep = 2 / softness; /* tanh x = 2 sigmoid(2 x) - 1 */
  const Lanes judged = {steep * dual_value(outward[0]), steep * dual_value(outward[1]), dual_value(depth[0]),
                        dual_value(depth[1])};
  Lanes rest, opposed_rest, part = lanes_sigmoid(judged, &rest), slope = part * rest;
  Lanes opposed = lanes_sigmoid((Lanes){(limit - dual_value(normal_cosine)) / blur}, &opposed_rest);
  double opposed_slope = opposed[0] * opposed_rest[0];
  Dual active = dual_mul(pair->inside, dual_chain(normal_cosine, opposed[0], -opposed_slope / blur));
  const Dual inside[2] = {dual_chain(depth[0], part[2], slope[2]), dual_chain(depth[1], part[3], slope[3])};
  const Dual both = dual_mul(inside[0], inside[1]);
  for (int k = 0; k < 2; k++) {
    Dual sign = dual_chain(outward[k], part[k] - rest[k], 2 * steep * slope[k]);
    out->distance[k] = dual_mul(sign, pair->distance);
    out->normal[k] = dual3_scale(direction, dual_negate(sign)); /* points from a to b on both edges */
    out->activity[k] = dual_mul(dual_mul(active, mutual ? both : inside[k]), pair->near[k]);
  }
}

/* ---------------------------------------------------------------- edges */

/* Returns the depths of all edges of a body (edge_count), borrowed from the workspace. all: positions of both ends of
 * each edge; the function evaluates their depths in the other body. If all is NULL, the depths of the ends are taken
 * from `points`. */
static Dual* edge_depths(ManifoldPair* s, int body, const Points* points, const Dual3* all) {
  const ManifoldBody* surface = s->body[body];
  Dual* depth = allocate_from_workspace(s, sizeof(Dual) * (size_t)surface->edge_count);
  for (int i = 0; i < surface->edge_count; i++) {
    const int* end = surface->edges[i];
    if (!all) depth[i] = dual_times(0.5, dual_add(points->depth[end[0]], points->depth[end[1]]));
  }
  DualField at[BLOCK];
  for (int i = 0; all && i < surface->edge_count; i++) {
    int left = 2 * (surface->edge_count - i);
    if (2 * i % BLOCK == 0)
      evaluate_fields(s, 1 - body, all + 2 * (ptrdiff_t)i, left < BLOCK ? left : BLOCK, false, at);
    depth[i] = dual_times(-0.5, dual_add(at[2 * i % BLOCK].value, at[(2 * i + 1) % BLOCK].value));
  }
  return depth;
}

/* Returns the deepest edges of a body, as positions of both ends, borrowed from the workspace. Sets *wanted to the
 * number of edges. */
static Dual3* choose_edges(ManifoldPair* s, int body, const Points* points, int* wanted) {
  const ManifoldBody* surface = s->body[body];
  *wanted = chosen_count(surface->edge_count, s->options->edges);
  bool ranked = *wanted < surface->edge_count, copied = !ranked || surface->only;
  Dual3* all = copied ? allocate_from_workspace(s, sizeof(Dual3[2]) * (size_t)surface->edge_count) : NULL;
  for (int i = 0; copied && i < surface->edge_count; i++)
    for (int k = 0; k < 2; k++) all[2 * i + k] = surface_point(s, body, surface->edges[i][k]);
  if (!ranked) return all;
  Dual* depth = edge_depths(s, body, points, all);
  Dual3* out = allocate_from_workspace(s, sizeof(Dual3[2]) * (size_t)*wanted);
  const RankedSet members = {depth, copied ? all : points->place, copied ? NULL : (const int(*)[2])surface->edges,
                             surface->edge_count, 2};
  choose_deepest_members(s, &members, *wanted, out);
  return out;
}

/* Sets the nearness weights of all edge pairs that share one edge: exp(-distance / smoothing), normalized to the sum 1
 * (X6). The pairs are first[i * stride] for i < count. side: body of the shared edge, 0 for a, 1 for b. */
static void set_nearness(EdgePair* first, int stride, int count, Dual smoothing, int side) {
  Dual sum = dual_constant(0), over = dual_inverse(smoothing);
  double least = HUGE_VAL;
  for (int i = 0; i < count; i++) least = fmin(least, dual_value(first[i * stride].distance));
  for (int i = 0; i < count; i += LANES) {
    int wide = count - i < LANES ? count - i : LANES;
    Dual scaled[LANES];
    Lanes at = lanes_broadcast(0);
    for (int k = 0; k < wide; k++) {
      scaled[k] = dual_mul(dual_add_constant(first[(i + k) * stride].distance, -least), over);
      at[k] = -dual_value(scaled[k]);
    }
    at = lanes_exp_nonpositive(at);
    for (int k = 0; k < wide; k++) {
      Dual* near = &first[(i + k) * stride].near[side];
      *near = dual_chain(scaled[k], at[k], -at[k]);
      sum = dual_add(sum, *near);
    }
  }
  over = dual_inverse(sum);
  for (int i = 0; i < count; i++) first[i * stride].near[side] = dual_mul(first[i * stride].near[side], over);
}

/* Writes the two contacts of a pair of edges. first: number of the contact on a's edge; the contact on b's edge has the
 * next number. */
static void write_edge_contacts(const ManifoldPair* s, const EdgePair* pair, const EdgeContacts* c, int64_t first) {
  for (int side = 0; side < 2; side++)
    write_contact(s, side == 0 ? CONTACT_EDGE_A : CONTACT_EDGE_B, pair->witness[side], c->distance[side],
                  c->normal[side], c->activity[side], first + side);
}

/* Writes the two contacts of a pair of edges whose weight (activity) is negligible (X13). The distance is unsigned and
 * the activity 0, because the fields are not evaluated. */
static void write_inactive_edge_contacts(const ManifoldPair* s, const EdgePair* pair, int64_t first) {
  EdgeContacts c;
  for (int side = 0; side < 2; side++) {
    c.distance[side] = pair->distance;
    c.normal[side] = dual3_scale(pair->direction, dual_constant(-1));
    c.activity[side] = dual_constant(0);
  }
  write_edge_contacts(s, pair, &c, first);
}

/* Evaluates and writes the contacts of the edge pairs with the indices which[count], count <= BLOCK. first: number of
 * the first contact of all edge pairs. */
static void write_contacts_of_pairs(const ManifoldPair* s, const EdgePair* pairs, const int* which, int count,
                                    int64_t first) {
  assert(count >= 0 && count <= BLOCK);
  Dual3 place[BLOCK];
  DualField at[2][2][BLOCK];
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < count; k++) place[k] = pairs[which[k]].witness[side];
    for (int body = 0; body < 2; body++) evaluate_fields(s, body, place, count, body == side, at[side][body]);
  }
  for (int k = 0; k < count; k++) {
    const DualField* here[2][2] = {{&at[0][0][k], &at[0][1][k]}, {&at[1][0][k], &at[1][1][k]}};
    EdgeContacts c;
    compute_edge_contacts(s, here, &pairs[which[k]], &c);
    write_edge_contacts(s, &pairs[which[k]], &c, first + 2 * (int64_t)which[k]);
  }
}

/* The distance fields are not evaluated for a pair of edges whose weight is below this value, e^-37 (X13). */
#define NEGLIGIBLE_ACTIVITY 8.533047625744066e-17

static bool is_negligible(const ManifoldPair* s, const EdgePair* pair) {
  return s->options->cull &&
         !(dual_value(pair->inside) * fmax(dual_value(pair->near[0]), dual_value(pair->near[1])) > NEGLIGIBLE_ACTIVITY);
}

static void write_all_edge_contacts(ManifoldPair* s, const Points points[2], int64_t first) {
  int count[2];
  Dual3* edges[2];
  for (int body = 0; body < 2; body++) edges[body] = choose_edges(s, body, &points[body], &count[body]);
  EdgePair* pairs = allocate_from_workspace(s, sizeof(EdgePair) * (size_t)count[0] * (size_t)count[1]);
  for (int i = 0; i < count[0]; i++)
    for (int k = 0; k < count[1]; k++)
      compute_edge_pair(s, edges[0] + 2 * (ptrdiff_t)i, edges[1] + 2 * (ptrdiff_t)k, &pairs[i * count[1] + k]);
  for (int i = 0; i < count[0]; i++) set_nearness(pairs + i * count[1], 1, count[1], s->smoothing, 0);
  for (int k = 0; k < count[1]; k++) set_nearness(pairs + k, count[1], count[0], s->smoothing, 1);
  int which[BLOCK] = {0}, wanted = 0;
  for (int k = 0; k < count[0] * count[1]; k++) {
    if (is_negligible(s, &pairs[k]))
      write_inactive_edge_contacts(s, &pairs[k], first + 2 * (int64_t)k);
    else
      which[wanted++] = k;
    if (wanted == BLOCK) {
      write_contacts_of_pairs(s, pairs, which, wanted, first);
      wanted = 0;
    }
  }
  write_contacts_of_pairs(s, pairs, which, wanted, first);
}

static void write_all_contacts(ManifoldPair* s) {
  Points points[2];
  int64_t next = 0;
  if (has_faces(s)) {
    const FaceSet faces[2] = {face_planes_of(s, 0), face_planes_of(s, 1)};
    for (int body = 0; body < 2; body++) next = write_face_contacts(s, body, faces, &points[body], next);
  } else {
    for (int body = 0; body < 2; body++) next = write_point_contacts(s, body, &points[body], next);
  }
  write_all_edge_contacts(s, points, next);
}
