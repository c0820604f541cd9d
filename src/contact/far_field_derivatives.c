#include "contact/far_field.h"

#include <string.h>

#include "contact/center_sums.h"
#include "contact/far_field_walk.h"

/* ---------------------------------------------------------------- value of the potential */

static bool add_leaf_value(const FieldTraversal* w, const NodePair* at, Blend* parent) {
  PlaneSolution room;
  const PlaneSolution* solution = field_solution(w, at, &room);
  if (!solution) return false;
  parent->inner += solution->energy;
  return true;
}

/* Returns the sum of the lanes of x that are marked in `where`. The lanes are added in order. */
static double sum_selected_lanes(Lanes x, LaneBits where) {
  x = lanes_select(where, x, (Lanes){0});
  return ((x[0] + x[1]) + x[2]) + x[3];
}

/* Returns the potential of two points (centred_potential) for four distances r. */
static Lanes centred_values(Lanes r) {
  Lanes s = 1 + 1 / lanes_sqrt(r);
  return RECIPROCAL_PLANE * s * s;
}

static void add_center_values(const FieldTraversal* w, const ChildPairs* at, LaneBits far, Blend* parent) {
  (void)w;
  parent->inner += sum_selected_lanes(centred_values(at->distance), far);
}

static void add_blend_value(const FieldTraversal* w, Blend* b) {
  (void)w;
  b->parent->inner += blend_value(b);
}

static const Visitor VALUES = {add_leaf_value, add_center_values, NULL, add_blend_value};

bool field_value(const FarField* f, FieldWork* w, const FieldPair* pair, double* value) {
  Blend all;
  if (field_cache_is_valid(pair) && pair->cache->value_known) {
    *value = pair->cache->value;
    return true;
  }
  if (!field_traverse(f, w, pair, &VALUES, NULL, &all)) return false;
  *value = all.inner;
  if (pair->cache) pair->cache->value = *value, pair->cache->value_known = true;
  return true;
}

/* ---------------------------------------------------------------- gradients and Hessians (law-long_range.md, N9, N10)
 */

/* Vectors r_a, r_b from the reference points of both bodies to two centres [m]. They determine the derivative of the
 * difference of the centres with respect to both twists, J = [-[r_a]x, I, [r_b]x, -I]. [r]x is the matrix of the cross
 * product with r. */
typedef struct {
  Vec3 arm[2];
  int sides; /* number of bodies that move: 2, or 1 for a half-space */
} CenterMotion;

static CenterMotion center_motion(const FieldPair* pair, const NodePair* at) {
  int sides = pair->ground ? 1 : 2;
  CenterMotion m = {.sides = sides};
  for (int side = 0; side < sides; side++) m.arm[side] = vec3_sub(at->center[side], pair->reference[side]);
  return m;
}

/* Sets out (12) to J^T v, with the matrix J of CenterMotion. */
static void apply_motion_transposed(const CenterMotion* m, Vec3 v, double out[12]) {
  memset(out, 0, 12 * sizeof(double));
  for (int side = 0; side < m->sides; side++) {
    Vec3 force = side == 0 ? v : vec3_scale(v, -1);
    vec3_store(vec3_cross(m->arm[side], force), out + 6 * side);
    vec3_store(force, out + 6 * side + 3);
  }
}

static void add_twelve(const double* from, double* to) {
  for (int i = 0; i < 12; i++) to[i] += from[i];
}

/* Upper triangle of a 12x12 matrix. Each row is stored in groups of four columns. Groups entirely below the diagonal
 * are not used. */
enum { GROUPS = 12 / LANES };
typedef struct {
  Lanes row[12][GROUPS];
} UpperRows;

static void load_groups(const double* from, Lanes to[GROUPS]) { memcpy(to, from, GROUPS * sizeof(Lanes)); }

/* Adds weight * h to the LANES rows of *to that start with row LANES * group. In each of these rows, only the groups of
 * columns from number `group` on are added. The first of these groups contains the diagonal. */
static inline void add_rows(const double (*h)[12], double weight, int group, UpperRows* to) {
  for (int i = LANES * group; i < LANES * (group + 1); i++) {
    Lanes from[GROUPS];
    load_groups(h[i], from);
    for (int g = group; g < GROUPS; g++) to->row[i][g] += weight * from[g];
  }
}

/* Subtracts u v^T + v u^T from the rows and columns to which add_rows adds for the same `group`. */
static inline void subtract_rows(const double* u, const double* v, int group, UpperRows* from) {
  Lanes us[GROUPS], vs[GROUPS];
  load_groups(u, us);
  load_groups(v, vs);
  for (int i = LANES * group; i < LANES * (group + 1); i++)
    for (int g = group; g < GROUPS; g++) from->row[i][g] -= u[i] * vs[g] + v[i] * us[g];
}

/* Sums of one traversal. `out`: forces and moments of pairs of leaves. `upper`: Hessians of pairs of leaves, and the
 * rank-two terms of blends. `sums`: terms of pairs of centres. `pending`: terms of the centres of up to four blends,
 * which are added to `sums` together. */
typedef struct {
  PairDerivatives* out;
  UpperRows upper;
  CenterSums sums;
  CenterTerms pending;
  int pending_count;
} DerivativeSums;

static void flush_pending(DerivativeSums* d) {
  for (int k = d->pending_count; k < LANES; k++) {
    d->pending.first[k] = d->pending.second[k] = d->pending.transverse[k] = 0;
    for (int i = 0; i < 3; i++) d->pending.arm[0][i][k] = d->pending.arm[1][i][k] = d->pending.direction[i][k] = 0;
  }
  if (d->pending_count > 0) center_sums_add(&d->sums, &d->pending);
  d->pending_count = 0;
}

static void add_pending(DerivativeSums* d, const CenterMotion* m, Vec3 direction, double first, double second,
                        double transverse) {
  const double e[3] = {direction.x, direction.y, direction.z};
  int k = d->pending_count++;
  for (int side = 0; side < 2; side++) {
    const double r[3] = {m->arm[side].x, m->arm[side].y, m->arm[side].z};
    for (int i = 0; i < 3; i++) d->pending.arm[side][i][k] = r[i];
  }
  for (int i = 0; i < 3; i++) d->pending.direction[i][k] = e[i];
  d->pending.first[k] = first;
  d->pending.second[k] = second;
  d->pending.transverse[k] = transverse;
  if (d->pending_count == LANES) flush_pending(d);
}

static bool add_leaf_derivatives(const FieldTraversal* w, const NodePair* at, Blend* parent) {
  DerivativeSums* context = w->context;
  PlaneSolution room;
  PlaneResponse response;
  PairDerivatives d;
  double gradient[12];
  if (!field_solution_derivatives(w, at, parent, &room, &d, &response)) return false;
  field_gradient(&d, w->pair->ground != NULL, gradient);
  add_twelve(gradient, parent->inner_gradient);
  const double(*h)[12] = (const double(*)[12])d.hessian;
  add_rows(h, parent->weight, 0, &context->upper);
  add_rows(h, parent->weight, 1, &context->upper);
  add_rows(h, parent->weight, 2, &context->upper);
  for (int k = 0; k < 2; k++) {
    context->out->force[k] = vec3_add_scaled(context->out->force[k], parent->weight, d.force[k]);
    context->out->moment[k] = mat3_add(context->out->moment[k], mat3_scale(d.moment[k], parent->weight));
  }
  return true;
}

/* Adds the gradients J^T g of the terms marked in `far` with respect to both twists to out (12). g = f' e: gradient of
 * a term f(r) with respect to the difference of its centres, e: unit direction; J: matrix of CenterMotion. */
static void add_marked_gradient(const CenterTerms* t, LaneBits far, double out[12]) {
  Lanes g[3], torque[3];
  for (int i = 0; i < 3; i++) {
    g[i] = t->first * t->direction[i];
    double force = sum_selected_lanes(g[i], far);
    out[3 + i] += force;
    out[9 + i] -= force;
  }
  for (int side = 0; side < 2; side++) {
    lanes_cross(t->arm[side], g, torque);
    for (int i = 0; i < 3; i++) out[6 * side + i] += (side == 0 ? 1 : -1) * sum_selected_lanes(torque[i], far);
  }
}

static void add_center_derivatives(const FieldTraversal* w, const ChildPairs* at, LaneBits far, Blend* parent) {
  const Lanes none = {0};
  DerivativeSums* d = w->context;
  CenterTerms t = {.direction = {at->direction.x, at->direction.y, at->direction.z}};
  for (int side = 0; side < 2; side++) {
    Vec3 from = w->pair->reference[side];
    t.arm[side][0] = at->center[side].x - from.x;
    t.arm[side][1] = at->center[side].y - from.y;
    t.arm[side][2] = at->center[side].z - from.z;
  }
  /* these formulas for the potential of two points are those of centred_potential */
  Lanes s = 1 / lanes_sqrt(at->distance), s3 = s / at->distance;
  parent->inner += sum_selected_lanes(RECIPROCAL_PLANE * (1 + s) * (1 + s), far);
  t.first = -RECIPROCAL_PLANE * (1 + s) * s3;
  add_marked_gradient(&t, far, parent->inner_gradient);
  t.second = RECIPROCAL_PLANE * (0.5 * s3 * s3 + 1.5 * (1 + s) * s3 / at->distance);
  t.first = lanes_select(far, parent->weight * t.first, none);
  t.second = lanes_select(far, parent->weight * t.second, none);
  t.transverse = t.first / at->distance;
  center_sums_add(&d->sums, &t);
}

static void add_blend_derivatives(const FieldTraversal* w, Blend* b) {
  DerivativeSums* d = w->context;
  CenterDerivatives slopes = blend_center_derivatives(b);
  CenterMotion m = center_motion(w->pair, &b->nodes);
  double gradient[12], u[12], weight = b->parent->weight;
  apply_motion_transposed(&m, vec3_scale(b->nodes.direction, slopes.first), gradient);
  for (int i = 0; i < 12; i++) gradient[i] += (1 - b->phi.value) * b->inner_gradient[i];
  b->parent->inner += blend_value(b);
  add_twelve(gradient, b->parent->inner_gradient);
  add_pending(d, &m, b->nodes.direction, weight * slopes.first, weight * slopes.second,
              transverse_stiffness(w->pair, &b->nodes, weight * slopes.first));
  apply_motion_transposed(&m, vec3_scale(b->nodes.direction, weight * b->phi.first), u);
  subtract_rows(u, b->inner_gradient, 0, &d->upper);
  subtract_rows(u, b->inner_gradient, 1, &d->upper);
  subtract_rows(u, b->inner_gradient, 2, &d->upper);
}

static const Visitor DERIVATIVES = {add_leaf_derivatives, add_center_derivatives, NULL, add_blend_derivatives};

static bool compute_derivatives(const FarField* f, FieldWork* w, const FieldPair* pair, PairDerivatives* out) {
  Blend all;
  DerivativeSums d = {.out = out};
  if (!field_traverse(f, w, pair, &DERIVATIVES, &d, &all)) return false;
  flush_pending(&d);
  memcpy(out->hessian, &d.upper, sizeof(out->hessian));
  center_sums_add_to_derivatives(&d.sums, pair->ground != NULL, out);
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < i; j++) out->hessian[i][j] = out->hessian[j][i];
  out->energy = all.inner;
  return true;
}

static bool has_same_references(const FieldCache* cache, const FieldPair* pair) {
  return memcmp(cache->reference, pair->reference, sizeof(cache->reference)) == 0;
}

bool field_derivatives(const FarField* f, FieldWork* w, const FieldPair* pair, PairDerivatives* out) {
  FieldCache* cache = pair->cache;
  if (field_cache_is_valid(pair) && cache->derivatives_known && has_same_references(cache, pair)) {
    *out = *cache->derivatives;
    return true;
  }
  memset(out, 0, sizeof(*out));
  if (!compute_derivatives(f, w, pair, out)) {
    memset(out, 0, sizeof(*out));
    return false;
  }
  if (!cache) return true;
  if (!cache->derivatives) cache->derivatives = MEMORY_NEW(PairDerivatives, 1);
  *cache->derivatives = *out;
  memcpy(cache->reference, pair->reference, sizeof(cache->reference));
  cache->derivatives_known = true;
  return true;
}

/* ---------------------------------------------------------------- contact point of two bodies */

typedef struct {
  Vec3 sum;
  double press;
} WeightedPoint;

static void add_weighted_point(WeightedPoint* c, double force, Vec3 at) {
  c->sum = vec3_add_scaled(c->sum, force, at);
  c->press += force;
}

/* Returns the midpoint of the centres of two nodes. For a half-space, returns the midpoint of the first centre and its
 * projection on the half-space. */
static Vec3 midpoint(const NodePair* at) { return vec3_add_scaled(at->center[0], -0.5 * at->distance, at->direction); }

static bool add_leaf_point(const FieldTraversal* w, const NodePair* at, Blend* parent) {
  PlaneSolution room;
  PlaneResponse response;
  PairDerivatives d;
  const PlaneSolution* solution = field_solution_derivatives(w, at, parent, &room, &d, &response);
  if (!solution) return false;
  add_weighted_point(w->context, parent->weight * vec3_norm(d.force[0]), reciprocal_center(solution));
  return true;
}

static void add_center_point(const FieldTraversal* w, const NodePair* at, const CentredPotential* centred,
                             Blend* parent) {
  add_weighted_point(w->context, parent->weight * fabs(centred->first), midpoint(at));
}

static void add_center_points(const FieldTraversal* w, const ChildPairs* at, LaneBits far, Blend* parent) {
  field_visit_centers(w, at, far, parent, add_center_point);
}

static void add_blend_point(const FieldTraversal* w, Blend* b) {
  b->parent->inner += blend_value(b);
  add_weighted_point(w->context, b->parent->weight * fabs(blend_center_derivatives(b).first), midpoint(&b->nodes));
}

static const Visitor CENTER = {add_leaf_point, add_center_points, NULL, add_blend_point};

bool field_force_center(const FarField* f, FieldWork* w, const FieldPair* pair, Vec3* point, double* press) {
  Blend all;
  WeightedPoint center = {{0, 0, 0}, 0};
  *press = 0;
  if (!field_traverse(f, w, pair, &CENTER, &center, &all) || !(center.press > 0)) return false;
  *press = center.press;
  *point = vec3_scale(center.sum, 1 / center.press);
  return true;
}

/* ---------------------------------------------------------------- factor on friction (N14) */

FieldFrictionFactor field_friction_factor(const FarField* f, const int leaf[2], const FieldPair* pair) {
  NodePair at = field_node_pair(f, pair, leaf);
  BlendWeight phi = blend_weight(at.distance, at.radius_sum, f->blend);
  return (FieldFrictionFactor){1 - phi.value, -phi.first, -phi.by_near, -phi.by_blend, at.direction};
}
