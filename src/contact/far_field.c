#include "contact/far_field.h"

#include <string.h>

/* ---------------------------------------------------------------- the blend (N7) */

BlendWeight blend_weight(double r, double near, double blend) {
  double width = blend * near, t = (r - near) / width;
  if (!(t > 0)) return (BlendWeight){0};
  if (!(t < 1)) return (BlendWeight){.value = 1};
  double u = 1 - t, by_t = 30 * t * t * u * u, by_tt = 60 * t * u * (1 - 2 * t), slope = -r / (width * near);
  return (BlendWeight){.value = t * t * t * (10 + t * (6 * t - 15)),
                       .first = by_t / width,
                       .second = by_tt / (width * width),
                       .by_near = by_t * slope,
                       .first_by_near = by_tt * slope / width - by_t / (width * near),
                       .by_blend = -by_t * t / blend,
                       .first_by_blend = -(by_tt * t + by_t) / (blend * width)};
}

/* ---------------------------------------------------------------- workspace */

void field_work_create(FieldWork* w, const Model* model, const Hierarchy* hierarchy) {
  int largest = 8, second = 8;
  for (int i = 0; i < model->hull_count; i++) {
    int n = model->hulls[i].points.padded;
    second = n > largest ? largest : n > second ? n : second;
    largest = n > largest ? n : largest;
  }
  int capacity = largest + second;
  *w = (FieldWork){.scratch = {MEMORY_NEW(double, capacity), MEMORY_NEW(double, capacity), MEMORY_NEW(double, capacity),
                               capacity, 0}};
  for (int side = 0; side < 2; side++)
    w->bars[side] = (NodeBars){MEMORY_NEW(Vec3, hierarchy->largest + 1), MEMORY_NEW(double, hierarchy->largest + 1)};
}

void field_work_destroy(FieldWork* w) {
  memory_free(w->terms);
  memory_free(w->pieces);
  memory_free(w->scratch.x);
  memory_free(w->scratch.y);
  memory_free(w->scratch.z);
  for (int side = 0; side < 2; side++) {
    memory_free(w->bars[side].center);
    memory_free(w->bars[side].radius);
  }
}

static FieldTerm* add_term(FieldWork* w, FieldTermKind kind, int parent, const NodePlaces* at) {
  if (w->count == w->capacity) {
    int more = 2 * w->capacity + 16;
    w->terms = memory_resize(w->terms, sizeof(FieldTerm) * (size_t)w->capacity, sizeof(FieldTerm) * (size_t)more);
    w->capacity = more;
  }
  FieldTerm* term = &w->terms[w->count++];
  term->kind = kind;
  term->parent = parent;
  term->piece = -1;
  term->at = *at;
  term->value = term->inner = 0;
  if (kind == FIELD_BLEND) memset(term->inner_gradient, 0, sizeof(term->inner_gradient));
  return term;
}

static FieldPiece* add_piece(FieldWork* w) {
  if (w->piece_count == w->piece_capacity) {
    int more = 2 * w->piece_capacity + 4;
    w->pieces =
        memory_resize(w->pieces, sizeof(FieldPiece) * (size_t)w->piece_capacity, sizeof(FieldPiece) * (size_t)more);
    w->piece_capacity = more;
  }
  return &w->pieces[w->piece_count++];
}

/* ---------------------------------------------------------------- the walk down both trees (N8) */

typedef struct {
  const FarField* field;
  FieldWork* work;
  const FieldPair* pair;
} Walk;

static const BodyTree* tree_of(const FarField* f, const FieldPair* pair, int side) {
  return &f->hierarchy->trees[pair->link[side]];
}

static const TreeNode* node_of(const FarField* f, const FieldPair* pair, int side, int node) {
  return &tree_of(f, pair, side)->nodes[node];
}

static Vec3 center_of(const FarField* f, const FieldPair* pair, int side, int node) {
  return pose_apply(pair->pose[side], node_of(f, pair, side, node)->center);
}

static double radius_of(const FarField* f, const FieldPair* pair, int side, int node) {
  return node_of(f, pair, side, node)->radius;
}

/* The centres are known. */
static void measure(const FarField* f, const FieldPair* pair, NodePlaces* at) {
  at->near = radius_of(f, pair, 0, at->node[0]);
  if (pair->ground) {
    at->direction = pair->ground->normal;
    at->distance = vec3_dot(at->direction, at->center[0]) - pair->ground->offset;
    return;
  }
  Vec3 d = vec3_sub(at->center[0], at->center[1]);
  at->distance = vec3_norm(d);
  at->direction = vec3_scale(d, 1 / at->distance);
  at->near += radius_of(f, pair, 1, at->node[1]);
}

static bool solve_pieces(const Walk* w, const NodePlaces* at, int parent) {
  const Model* model = w->field->model;
  const ModelHull* hull = &model->hulls[node_of(w->field, w->pair, 0, at->node[0])->hull];
  HullInstance a = pair_hull_at(hull, &w->pair->pose[0]), b;
  if (w->pair->ground)
    b = *w->pair->ground;
  else
    b = pair_hull_at(&model->hulls[node_of(w->field, w->pair, 1, at->node[1])->hull], &w->pair->pose[1]);
  GjkResult found;
  if (!(pair_distance(&a, &b, NULL, &found) > 0)) return false;
  FieldPiece* piece = add_piece(w->work);
  if (!reciprocal_solve(&a, &b, &found, &w->work->scratch, &piece->solution)) return false;
  FieldTerm* term = add_term(w->work, FIELD_PIECES, parent, at);
  term->piece = w->work->piece_count - 1;
  term->value = piece->solution.energy;
  return true;
}

/* A node's children with their centres; a leaf stands for itself. Returns how many. */
static int children_of(const Walk* w, int side, const NodePlaces* at, int child[2], Vec3 center[2]) {
  child[0] = at->node[side];
  center[0] = at->center[side];
  if (child[0] < 0) return 1;
  const TreeNode* node = node_of(w->field, w->pair, side, child[0]);
  if (node->hull >= 0) return 1;
  for (int k = 0; k < 2; k++) {
    child[k] = node->child[k];
    center[k] = center_of(w->field, w->pair, side, child[k]);
  }
  return 2;
}

/* Of `at` nodes and centres are set. */
static bool walk(const Walk* w, NodePlaces* at, int parent) {
  int child[2][2], count[2];
  Vec3 center[2][2];
  measure(w->field, w->pair, at);
  if (!w->field->plain || w->pair->ground) {
    bool far = at->distance >= (1 + w->field->blend) * at->near;
    if (far && w->pair->ground) return true;
    if (far || at->distance > at->near) {
      (void)add_term(w->work, far ? FIELD_CENTRES : FIELD_BLEND, parent, at);
      if (far) return true;
      parent = w->work->count - 1;
    }
  }
  for (int side = 0; side < 2; side++) count[side] = children_of(w, side, at, child[side], center[side]);
  if (count[0] == 1 && count[1] == 1) return solve_pieces(w, at, parent);
  for (int i = 0; i < count[0]; i++)
    for (int j = 0; j < count[1]; j++) {
      NodePlaces below = {.node = {child[0][i], child[1][j]}, .center = {center[0][i], center[1][j]}};
      if (!walk(w, &below, parent)) return false;
    }
  return true;
}

static NodePlaces places_of(const FarField* f, const FieldPair* pair, const int node[2]) {
  NodePlaces at = {.node = {node[0], node[1]}, .center[0] = center_of(f, pair, 0, node[0])};
  if (!pair->ground) at.center[1] = center_of(f, pair, 1, node[1]);
  return at;
}

static bool list_terms(const FarField* f, FieldWork* w, const FieldPair* pair) {
  Walk state = {f, w, pair};
  w->count = w->piece_count = 0;
  NodePlaces roots = places_of(f, pair, pair->root);
  return walk(&state, &roots, -1);
}

/* ---------------------------------------------------------------- values, from the last term to the first */

/* The value of a term whose inner ones are summed, and what it is made of. */
static void evaluate_term(const FarField* f, const FieldPair* pair, FieldTerm* t) {
  if (t->kind == FIELD_PIECES) return;
  t->centred = pair->ground ? (CentredPotential){0, 0, 0} : centred_potential(t->at.distance);
  t->value = t->centred.value;
  if (t->kind != FIELD_BLEND) return;
  t->phi = blend_weight(t->at.distance, t->at.near, f->blend);
  t->value = (1 - t->phi.value) * t->inner + t->phi.value * t->centred.value;
}

static double sum_values(const FarField* f, FieldWork* w, const FieldPair* pair) {
  double total = 0;
  for (int k = w->count - 1; k >= 0; k--) {
    FieldTerm* t = &w->terms[k];
    evaluate_term(f, pair, t);
    if (t->parent >= 0)
      w->terms[t->parent].inner += t->value;
    else
      total += t->value;
  }
  return total;
}

bool field_value(const FarField* f, FieldWork* w, const FieldPair* pair, double* value) {
  if (!list_terms(f, w, pair)) return false;
  *value = sum_values(f, w, pair);
  return true;
}

/* ---------------------------------------------------------------- gradients and Hessians (N9, N10) */

/* The difference of two centres moves with the twists of both bodies by J = [-[r_a]x, I, [r_b]x, -I], r the arms. */
typedef struct {
  Vec3 arm[2];
  int sides; /* that move: one before a half-space */
} CenterMotion;

static CenterMotion motion_of(const FieldPair* pair, const FieldTerm* t) {
  int sides = pair->ground ? 1 : 2;
  CenterMotion m = {.sides = sides};
  for (int side = 0; side < sides; side++) m.arm[side] = vec3_sub(t->at.center[side], pair->reference[side]);
  return m;
}

/* J^T v. */
static void motion_transposed(const CenterMotion* m, Vec3 v, double out[12]) {
  memset(out, 0, 12 * sizeof(double));
  for (int side = 0; side < m->sides; side++) {
    Vec3 force = side == 0 ? v : vec3_scale(v, -1);
    vec3_store(vec3_cross(m->arm[side], force), out + 6 * side);
    vec3_store(force, out + 6 * side + 3);
  }
}

/* A function of r with its first two derivatives, as one of both centres: gradient f' e, Hessian f'' e e^T +
 * f' / r (I - e e^T); before a half-space the second part is none. */
static double across_of(const FieldPair* pair, const FieldTerm* t, double first) {
  return pair->ground ? 0 : first / t->at.distance;
}
static Vec3 center_hessian(const FieldPair* pair, const FieldTerm* t, double first, double second, Vec3 y) {
  double across = across_of(pair, t, first);
  return vec3_add_scaled(vec3_scale(y, across), (second - across) * vec3_dot(t->at.direction, y), t->at.direction);
}

/* That Hessian times the columns of J, by components: of a turn about axis k, e_k x arm, and of e_k. */
typedef struct {
  double x[12], y[12], z[12];
} HessianMotion;

static void hessian_times_side(Vec3 e, double across, double along, Vec3 r, double sign, double* x, double* y,
                               double* z) {
  const double cx[6] = {0, sign * r.z, -sign * r.y, sign, 0, 0}, cy[6] = {-sign * r.z, 0, sign * r.x, 0, sign, 0};
  const double cz[6] = {sign * r.y, -sign * r.x, 0, 0, 0, sign};
  for (int k = 0; k < 6; k++) {
    double part = along * (e.x * cx[k] + e.y * cy[k] + e.z * cz[k]);
    x[k] = cx[k] * across + part * e.x;
    y[k] = cy[k] * across + part * e.y;
    z[k] = cz[k] * across + part * e.z;
  }
}

static void hessian_motion(const FieldPair* pair, const FieldTerm* t, double first, double second,
                           const CenterMotion* m, HessianMotion* h) {
  double across = across_of(pair, t, first), along = second - across;
  hessian_times_side(t->at.direction, across, along, m->arm[0], 1, h->x, h->y, h->z);
  if (m->sides == 2)
    hessian_times_side(t->at.direction, across, along, m->arm[1], -1, h->x + 6, h->y + 6, h->z + 6);
  else
    for (int k = 6; k < 12; k++) h->x[k] = h->y[k] = h->z[k] = 0;
}

/* The six rows of one side. */
static void add_rows(const HessianMotion* h, Vec3 r, double sign, double (*rows)[12]) {
  r = vec3_scale(r, sign);
  for (int j = 0; j < 12; j++) {
    rows[0][j] += r.y * h->z[j] - r.z * h->y[j];
    rows[1][j] += r.z * h->x[j] - r.x * h->z[j];
    rows[2][j] += r.x * h->y[j] - r.y * h->x[j];
    rows[3][j] += sign * h->x[j];
    rows[4][j] += sign * h->y[j];
    rows[5][j] += sign * h->z[j];
  }
}

static void add_center_terms(const FieldPair* pair, const FieldTerm* t, const CenterMotion* m, double first,
                             double second, PairDerivatives* out) {
  Vec3 g = vec3_scale(t->at.direction, first);
  HessianMotion h;
  hessian_motion(pair, t, first, second, m, &h);
  out->force[0] = vec3_add(out->force[0], g);
  out->force[1] = vec3_sub(out->force[1], g);
  out->moment[0] = mat3_add(out->moment[0], mat3_outer(g, m->arm[0]));
  add_rows(&h, m->arm[0], 1, out->hessian);
  if (pair->ground) return;
  out->moment[1] = mat3_sub(out->moment[1], mat3_outer(g, m->arm[1]));
  add_rows(&h, m->arm[1], -1, out->hessian + 6);
}

/* By both twists, from forces and moments; those on a half-space are none of its own. */
static void gradient_of(const PairDerivatives* d, bool ground, double out[12]) {
  for (int side = 0; side < 2; side++) {
    double* g = out + 6 * side;
    if (side == 1 && ground) {
      memset(g, 0, 6 * sizeof(double));
      continue;
    }
    const Mat3* m = &d->moment[side]; /* sum g r^T; the torque is sum r x g */
    g[0] = m->m[2][1] - m->m[1][2];
    g[1] = m->m[0][2] - m->m[2][0];
    g[2] = m->m[1][0] - m->m[0][1];
    vec3_store(d->force[side], g + 3);
  }
}

static void derive_piece(const FieldPair* pair, FieldPiece* piece) {
  plane_derivatives(&piece->solution, pair->ground != NULL, pair->reference[0], pair->reference[1], &piece->derivatives,
                    &piece->response);
}

/* A term that is not of pieces as a function of r, the terms of a blend held: derivatives of (1 - phi) A + phi P_c. */
typedef struct {
  double first, second;
} CenterSlopes;

static CenterSlopes slopes_of(const FieldTerm* t) {
  if (t->kind == FIELD_CENTRES) return (CenterSlopes){t->centred.first, t->centred.second};
  double step = t->centred.value - t->inner;
  return (CenterSlopes){t->phi.first * step + t->phi.value * t->centred.first,
                        t->phi.second * step + 2 * t->phi.first * t->centred.first + t->phi.value * t->centred.second};
}

/* Values and, for those that belong to a blend, gradients: from the last term to the first. */
static void sum_gradients(const FarField* f, FieldWork* w, const FieldPair* pair) {
  for (int k = w->count - 1; k >= 0; k--) {
    FieldTerm* t = &w->terms[k];
    double own[12];
    if (t->kind == FIELD_PIECES) derive_piece(pair, &w->pieces[t->piece]);
    evaluate_term(f, pair, t);
    if (t->parent < 0) continue;
    FieldTerm* parent = &w->terms[t->parent];
    parent->inner += t->value;
    if (t->kind == FIELD_PIECES)
      gradient_of(&w->pieces[t->piece].derivatives, pair->ground != NULL, own);
    else {
      CenterMotion m = motion_of(pair, t);
      motion_transposed(&m, vec3_scale(t->at.direction, slopes_of(t).first), own);
      for (int i = 0; t->kind == FIELD_BLEND && i < 12; i++) own[i] += (1 - t->phi.value) * t->inner_gradient[i];
    }
    for (int i = 0; i < 12; i++) parent->inner_gradient[i] += own[i];
  }
}

static void add_piece_terms(const PairDerivatives* d, double weight, PairDerivatives* out) {
  for (int k = 0; k < 2; k++) {
    out->force[k] = vec3_add_scaled(out->force[k], weight, d->force[k]);
    out->moment[k] = mat3_add(out->moment[k], mat3_scale(d->moment[k], weight));
  }
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) out->hessian[i][j] += weight * d->hessian[i][j];
}

/* Of two centres, or a blend. */
static void add_term_of_centers(const FieldPair* pair, const FieldTerm* t, PairDerivatives* out) {
  CenterSlopes slopes = slopes_of(t);
  CenterMotion m = motion_of(pair, t);
  add_center_terms(pair, t, &m, t->weight * slopes.first, t->weight * slopes.second, out);
  if (t->kind != FIELD_BLEND) return;
  double u[12];
  motion_transposed(&m, vec3_scale(t->at.direction, t->weight * t->phi.first), u);
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) out->hessian[i][j] -= u[i] * t->inner_gradient[j] + t->inner_gradient[i] * u[j];
}

/* Halfway between the nodes' centres; before a half-space halfway to it. */
static Vec3 between_centers(const FieldTerm* t) {
  return vec3_add_scaled(t->at.center[0], -0.5 * t->at.distance, t->at.direction);
}

bool field_center(const FarField* f, FieldWork* w, const FieldPair* pair, Vec3* point, double* press) {
  PairDerivatives all;
  Vec3 sum = {0, 0, 0};
  *press = 0;
  if (!field_derivatives(f, w, pair, &all)) return false;
  for (int k = 0; k < w->count; k++) {
    const FieldTerm* t = &w->terms[k];
    bool piece = t->kind == FIELD_PIECES;
    double force = piece ? vec3_norm(w->pieces[t->piece].derivatives.force[0]) : fabs(slopes_of(t).first);
    Vec3 at = piece ? reciprocal_center(&w->pieces[t->piece].solution) : between_centers(t);
    sum = vec3_add_scaled(sum, t->weight * force, at);
    *press += t->weight * force;
  }
  if (!(*press > 0)) return false;
  *point = vec3_scale(sum, 1 / *press);
  return true;
}

bool field_derivatives(const FarField* f, FieldWork* w, const FieldPair* pair, PairDerivatives* out) {
  memset(out, 0, sizeof(*out));
  if (!list_terms(f, w, pair)) return false;
  sum_gradients(f, w, pair);
  for (int k = 0; k < w->count; k++) {
    FieldTerm* t = &w->terms[k];
    const FieldTerm* parent = t->parent >= 0 ? &w->terms[t->parent] : NULL;
    t->weight = parent ? parent->weight * (1 - parent->phi.value) : 1;
    if (!parent) out->energy += t->value;
    if (t->kind == FIELD_PIECES)
      add_piece_terms(&w->pieces[t->piece].derivatives, t->weight, out);
    else
      add_term_of_centers(pair, t, out);
  }
  return true;
}

/* ---------------------------------------------------------------- backwards (N11, N12) */

typedef struct {
  const FarField* field;
  FieldWork* work;
  const FieldPair* pair;
  const double (*twist)[6];
  FieldShares* out;
} Reverse;

static Vec3 turn_rate(const Reverse* r, int side) { return vec3_at(r->twist[side]); }

static Vec3 field_at(const Reverse* r, int side, Vec3 x) {
  return vec3_add(vec3_at(r->twist[side] + 3), vec3_cross(turn_rate(r, side), vec3_sub(x, r->pair->reference[side])));
}

/* Rate of the difference of the centres. */
static Vec3 center_rate(const Reverse* r, const FieldTerm* t) {
  Vec3 rate = field_at(r, 0, t->at.center[0]);
  if (r->pair->ground) return rate;
  return vec3_sub(rate, field_at(r, 1, t->at.center[1]));
}

/* A function of r that counts with alpha for its rate and with beta for itself. */
static void reverse_center(const Reverse* r, const FieldTerm* t, double first, double second, double alpha,
                           double beta) {
  Vec3 g = vec3_scale(t->at.direction, first), rate = center_rate(r, t);
  Vec3 by_place = vec3_add_scaled(vec3_scale(center_hessian(r->pair, t, first, second, rate), alpha), beta, g);
  Vec3* center[2] = {&r->work->bars[0].center[t->at.node[0]], NULL};
  *center[0] = vec3_add(*center[0], vec3_add_scaled(by_place, alpha, vec3_cross(g, turn_rate(r, 0))));
  if (!r->pair->ground) {
    center[1] = &r->work->bars[1].center[t->at.node[1]];
    *center[1] = vec3_sub(*center[1], vec3_add_scaled(by_place, alpha, vec3_cross(g, turn_rate(r, 1))));
    return;
  }
  ground_add(&r->out->ground, vec3_scale(by_place, -1), t->at.center[0], r->pair->ground->pose.t);
  r->out->ground.torque = vec3_add_scaled(r->out->ground.torque, -alpha, vec3_cross(rate, g));
}

static void reverse_blend(const Reverse* r, FieldTerm* t) {
  const BlendWeight* b = &t->phi;
  const CentredPotential* c = &t->centred;
  double along = vec3_dot(t->at.direction, center_rate(r, t)), inner_rate = 0;
  for (int i = 0; i < 12; i++) inner_rate += t->inner_gradient[i] * r->twist[i / 6][i % 6];
  double step = c->value - t->inner, phi = b->value, phi_rate = b->first * along;
  double alpha = t->alpha * step, beta = t->alpha * (c->first * along - inner_rate) + t->beta * step;
  reverse_center(r, t, c->first, c->second, t->alpha * phi, t->beta * phi + t->alpha * phi_rate);
  reverse_center(r, t, b->first, b->second, alpha, beta);
  double by_near = beta * b->by_near + alpha * along * b->first_by_near;
  for (int side = 0; side < (r->pair->ground ? 1 : 2); side++) r->work->bars[side].radius[t->at.node[side]] += by_near;
  r->out->by_blend += beta * b->by_blend + alpha * along * b->first_by_blend;
  t->beta = t->beta * (1 - phi) - t->alpha * phi_rate; /* now of its terms */
  t->alpha *= 1 - phi;
}

static void plane_change(const PlaneResponse* response, const double twist[2][6], double dp[4]) {
  for (int k = 0; k < 4; k++) {
    dp[k] = 0;
    for (int i = 0; i < 12; i++) dp[k] += response->dp[k][i] * twist[i / 6][i % 6];
  }
}

/* One vertex at x (from the plane's origin) of a side: its force P' n turns and changes as the bodies move. */
static void reverse_vertex(const Reverse* r, const FieldTerm* t, int side, const Plane* plane, const double dp[4],
                           double share, Vec3 x, Vec3* out) {
  double sigma = side == 0 ? -1 : 1, c = sigma * (vec3_dot(plane->n, x) + plane->o);
  double first = -share / (c * c), second = 2 * share / (c * c * c);
  Vec3 dn = vec3(dp[0], dp[1], dp[2]), at = vec3_add(plane->origin, x), rate = field_at(r, side, at);
  double moved = vec3_dot(plane->n, rate) + vec3_dot(x, dn) + dp[3];
  Vec3 g = vec3_scale(plane->n, sigma * first);
  Vec3 change = vec3_add_scaled(vec3_scale(plane->n, second * moved), sigma * first, dn);
  Vec3 by_place = vec3_add_scaled(vec3_scale(change, t->alpha), t->beta, g);
  *out = vec3_add(*out, vec3_add_scaled(by_place, t->alpha, vec3_cross(g, turn_rate(r, side))));
  if (!r->pair->ground) return;
  ground_add(&r->out->ground, vec3_scale(by_place, -1), at, r->pair->ground->pose.t);
  r->out->ground.torque = vec3_add_scaled(r->out->ground.torque, -t->alpha, vec3_cross(rate, g));
}

static void reverse_pieces(const Reverse* r, const FieldTerm* t) {
  const FieldPiece* piece = &r->work->pieces[t->piece];
  const Plane* plane = &piece->solution.plane;
  double dp[4];
  plane_change(&piece->response, r->twist, dp);
  for (int side = 0; side < (r->pair->ground ? 1 : 2); side++) {
    const BodyTree* tree = tree_of(r->field, r->pair, side);
    const ModelHull* hull = &r->field->model->hulls[tree->nodes[t->at.node[side]].hull];
    Vec3* out = r->out->vertices[side] + (r->pair->ground ? 0 : hull->vertex_first - tree->vertex_first);
    for (int m = 0; m < hull->points.count; m++) {
      Vec3 local = vec3(hull->points.x[m], hull->points.y[m], hull->points.z[m]);
      Vec3 x = vec3_sub(pose_apply(r->pair->pose[side], local), plane->origin);
      reverse_vertex(r, t, side, plane, dp, RECIPROCAL_PIECE / hull->points.count, x, &out[m]);
    }
  }
}

static void clear_bars(const Reverse* r) {
  for (int side = 0; side < (r->pair->ground ? 1 : 2); side++) {
    size_t nodes = (size_t)tree_of(r->field, r->pair, side)->count;
    memset(r->work->bars[side].center, 0, sizeof(Vec3) * nodes);
    memset(r->work->bars[side].radius, 0, sizeof(double) * nodes);
  }
}

static void bars_to_vertices(const Reverse* r) {
  const Model* model = r->field->model;
  if (r->pair->ground) {
    hierarchy_leaf_to_vertices(model, tree_of(r->field, r->pair, 0), r->pair->root[0], r->pair->pose[0].r,
                               &r->work->bars[0], r->out->vertices[0]);
    return;
  }
  for (int side = 0; side < 2; side++)
    hierarchy_to_vertices(model, tree_of(r->field, r->pair, side), r->pair->pose[side].r, &r->work->bars[side],
                          r->out->vertices[side]);
}

static double total_rate(const PairDerivatives* d, bool ground, const double twist[2][6]) {
  double g[12], rate = 0;
  gradient_of(d, ground, g);
  for (int i = 0; i < 12; i++) rate += g[i] * twist[i / 6][i % 6];
  return rate;
}

bool field_reverse(const FarField* f, FieldWork* w, const FieldPair* pair, const double twist[2][6], FieldShares* out) {
  Reverse r = {f, w, pair, twist, out};
  PairDerivatives d;
  if (!field_derivatives(f, w, pair, &d)) return false;
  out->value = total_rate(&d, pair->ground != NULL, twist);
  clear_bars(&r);
  for (int k = 0; k < w->count; k++) {
    FieldTerm* t = &w->terms[k];
    t->alpha = t->parent >= 0 ? w->terms[t->parent].alpha : 1;
    t->beta = t->parent >= 0 ? w->terms[t->parent].beta : 0;
    if (t->kind == FIELD_PIECES) reverse_pieces(&r, t);
    if (t->kind == FIELD_BLEND) reverse_blend(&r, t);
    if (t->kind == FIELD_CENTRES) reverse_center(&r, t, t->centred.first, t->centred.second, t->alpha, t->beta);
  }
  bars_to_vertices(&r);
  return true;
}

/* ---------------------------------------------------------------- the local part (N14) */

FieldLocal field_local(const FarField* f, const int leaf[2], const FieldPair* pair) {
  NodePlaces at = places_of(f, pair, leaf);
  measure(f, pair, &at);
  BlendWeight phi = blend_weight(at.distance, at.near, f->blend);
  return (FieldLocal){1 - phi.value, -phi.first, -phi.by_near, -phi.by_blend, at.direction};
}
