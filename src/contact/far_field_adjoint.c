/* Adjoint of the potential of two bodies (law-long_range.md, N11, N12). */
#include <assert.h>
#include <string.h>

#include "contact/far_field_walk.h"

typedef struct {
  const FarField* field;
  FieldWork* work;
  const FieldPair* pair;
  const double (*twist)[6];
  FieldShares* out;
} FieldReverse;

static Vec3 angular_rate(const FieldReverse* r, int side) { return vec3_at(r->twist[side]); }

static Vec3 point_rate(const FieldReverse* r, int side, Vec3 x) {
  return vec3_add(vec3_at(r->twist[side] + 3),
                  vec3_cross(angular_rate(r, side), vec3_sub(x, r->pair->reference[side])));
}

/* Returns the rate of change of the vector between the centres of two nodes if the bodies move with the given
 * twists. */
static Vec3 center_difference_rate(const FieldReverse* r, const NodePair* at) {
  Vec3 rate = point_rate(r, 0, at->center[0]);
  if (r->pair->ground) return rate;
  return vec3_sub(rate, point_rate(r, 1, at->center[1]));
}

static double distance_rate(const FieldReverse* r, const NodePair* at) {
  return vec3_dot(at->direction, center_difference_rate(r, at));
}

/* Adds the derivatives of the scalar alpha df/dt + beta f with respect to the centres of both nodes. f(r): function of
 * the distance r of the centres, with f' = first and f'' = second. df/dt: rate of f if the bodies move with their
 * twists. alpha, beta: constant factors. */
static void reverse_center(const FieldReverse* r, const NodePair* at, double first, double second, double alpha,
                           double beta) {
  Vec3 g = vec3_scale(at->direction, first), rate = center_difference_rate(r, at);
  Vec3 by_position = vec3_add_scaled(vec3_scale(center_hessian(r->pair, at, first, second, rate), alpha), beta, g);
  Vec3* center[2] = {&r->work->bars[0].center[at->node[0]], NULL};
  *center[0] = vec3_add(*center[0], vec3_add_scaled(by_position, alpha, vec3_cross(g, angular_rate(r, 0))));
  if (!r->pair->ground) {
    center[1] = &r->work->bars[1].center[at->node[1]];
    *center[1] = vec3_sub(*center[1], vec3_add_scaled(by_position, alpha, vec3_cross(g, angular_rate(r, 1))));
    return;
  }
  ground_add(&r->out->ground, vec3_scale(by_position, -1), at->center[0], r->pair->ground->pose.t);
  r->out->ground.torque = vec3_add_scaled(r->out->ground.torque, -alpha, vec3_cross(rate, g));
}

/* Sets b->beta, the factor beta of reverse_center for the potentials inside a blend (N11). The blend multiplies these
 * potentials by 1 - phi, where phi is the weight of the point potential. */
static void enter_blend(const FieldTraversal* w, Blend* b) {
  b->beta =
      b->parent->beta * (1 - b->phi.value) - b->parent->weight * b->phi.first * distance_rate(w->context, &b->nodes);
}

static void leave_blend(const FieldTraversal* w, Blend* b) {
  const FieldReverse* r = w->context;
  const BlendWeight* phi = &b->phi;
  const CentredPotential* c = &b->centred;
  double along = distance_rate(r, &b->nodes), outer = b->parent->weight, outer_beta = b->parent->beta;
  double step = c->value - b->inner, phi_rate = phi->first * along;
  double alpha = outer * step, beta = outer * (c->first * along - b->inner_rate) + outer_beta * step;
  reverse_center(r, &b->nodes, c->first, c->second, outer * phi->value, outer_beta * phi->value + outer * phi_rate);
  reverse_center(r, &b->nodes, phi->first, phi->second, alpha, beta);
  double by_near = beta * phi->by_near + alpha * along * phi->first_by_near;
  for (int side = 0; side < (r->pair->ground ? 1 : 2); side++)
    r->work->bars[side].radius[b->nodes.node[side]] += by_near;
  r->out->by_blend += beta * phi->by_blend + alpha * along * phi->first_by_blend;
  b->parent->inner += blend_value(b);
  b->parent->inner_rate += blend_center_derivatives(b).first * along + (1 - phi->value) * b->inner_rate;
}

static void reverse_center_pair(const FieldTraversal* w, const NodePair* at, const CentredPotential* centred,
                                Blend* parent) {
  parent->inner_rate += centred->first * distance_rate(w->context, at);
  reverse_center(w->context, at, centred->first, centred->second, parent->weight, parent->beta);
}

static void reverse_centres(const FieldTraversal* w, const ChildPairs* at, LaneBits far, Blend* parent) {
  field_visit_centers(w, at, far, parent, reverse_center_pair);
}

static void plane_rate(const PlaneResponse* response, const double twist[2][6], double dp[4]) {
  for (int k = 0; k < 4; k++) {
    dp[k] = 0;
    for (int i = 0; i < 12; i++) dp[k] += response->dp[k][i] * twist[i / 6][i % 6];
  }
}

/* Adds the derivatives of Phi with respect to one vertex of a side to *out. Phi is the power of the contact forces. The
 * force on the vertex is P' n, with the derivative P' of its energy with respect to the clearance and the normal n of
 * the plane. x: position of the vertex relative to the origin of the plane [m]. dp: rate of the plane if the bodies
 * move with their twists. share: RECIPROCAL_PIECE divided by the number of vertices of the piece. */
static void reverse_vertex(const FieldReverse* r, const Blend* parent, int side, const Plane* plane, const double dp[4],
                           double share, Vec3 x, Vec3* out) {
  double sigma = side == 0 ? -1 : 1, c = sigma * (vec3_dot(plane->n, x) + plane->o);
  double first = -share / (c * c), second = 2 * share / (c * c * c);
  Vec3 dn = vec3(dp[0], dp[1], dp[2]), at = vec3_add(plane->origin, x), rate = point_rate(r, side, at);
  double clearance_rate = vec3_dot(plane->n, rate) + vec3_dot(x, dn) + dp[3];
  Vec3 g = vec3_scale(plane->n, sigma * first);
  Vec3 change = vec3_add_scaled(vec3_scale(plane->n, second * clearance_rate), sigma * first, dn);
  Vec3 by_position = vec3_add_scaled(vec3_scale(change, parent->weight), parent->beta, g);
  *out = vec3_add(*out, vec3_add_scaled(by_position, parent->weight, vec3_cross(g, angular_rate(r, side))));
  if (!r->pair->ground) return;
  ground_add(&r->out->ground, vec3_scale(by_position, -1), at, r->pair->ground->pose.t);
  r->out->ground.torque = vec3_add_scaled(r->out->ground.torque, -parent->weight, vec3_cross(rate, g));
}

static void reverse_vertices(const FieldReverse* r, const NodePair* at, const Blend* parent, const Plane* plane,
                             const double dp[4]) {
  for (int side = 0; side < (r->pair->ground ? 1 : 2); side++) {
    const BodyTree* tree = body_tree(r->field, r->pair, side);
    const ModelHull* hull = &r->field->model->hulls[tree->nodes[at->node[side]].hull];
    Vec3* out = r->out->vertices[side] + (r->pair->ground ? 0 : hull->vertex_first - tree->vertex_first);
    for (int m = 0; m < hull->points.count; m++) {
      Vec3 local = point_at(hull->points, m);
      Vec3 x = vec3_sub(pose_apply(r->pair->pose[side], local), plane->origin);
      reverse_vertex(r, parent, side, plane, dp, RECIPROCAL_PIECE / hull->points.count, x, &out[m]);
    }
  }
}

static double total_rate(const PairDerivatives* d, bool ground, const double twist[2][6]) {
  double g[12], rate = 0;
  field_gradient(d, ground, g);
  for (int i = 0; i < 12; i++) rate += g[i] * twist[i / 6][i % 6];
  return rate;
}

static bool reverse_leaves(const FieldTraversal* w, const NodePair* at, Blend* parent) {
  const FieldReverse* r = w->context;
  PlaneSolution room;
  PlaneResponse response;
  PairDerivatives d;
  double dp[4];
  const PlaneSolution* solution = field_solution_derivatives(w, at, parent, &room, &d, &response);
  if (!solution) return false;
  plane_rate(&response, r->twist, dp);
  parent->inner_rate += total_rate(&d, w->pair->ground != NULL, r->twist);
  reverse_vertices(r, at, parent, &solution->plane, dp);
  return true;
}

static const Visitor REVERSE = {reverse_leaves, reverse_centres, enter_blend, leave_blend};

static void clear_bars(const FieldReverse* r) {
  for (int side = 0; side < (r->pair->ground ? 1 : 2); side++) {
    size_t nodes = (size_t)body_tree(r->field, r->pair, side)->count;
    memset(r->work->bars[side].center, 0, sizeof(Vec3) * nodes);
    memset(r->work->bars[side].radius, 0, sizeof(double) * nodes);
  }
}

static void bars_to_vertices(const FieldReverse* r) {
  const Model* model = r->field->model;
  if (r->pair->ground) {
    hierarchy_leaf_to_vertices(model, body_tree(r->field, r->pair, 0), r->pair->root[0], r->pair->pose[0].r,
                               &r->work->bars[0], r->out->vertices[0]);
    return;
  }
  for (int side = 0; side < 2; side++)
    hierarchy_to_vertices(model, body_tree(r->field, r->pair, side), r->pair->pose[side].r, &r->work->bars[side],
                          r->out->vertices[side]);
}

bool field_reverse(const FarField* f, FieldWork* w, const FieldPair* pair, const double twist[2][6], FieldShares* out) {
  assert(pair && out);
  FieldReverse r = {f, w, pair, twist, out};
  Blend all;
  clear_bars(&r);
  if (!field_traverse(f, w, pair, &REVERSE, &r, &all)) return false;
  out->value = all.inner_rate;
  bars_to_vertices(&r);
  return true;
}
