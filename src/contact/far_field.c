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
  memory_free(w->scratch.x);
  memory_free(w->scratch.y);
  memory_free(w->scratch.z);
  for (int side = 0; side < 2; side++) {
    memory_free(w->bars[side].center);
    memory_free(w->bars[side].radius);
  }
}

/* ---------------------------------------------------------------- the walk down both trees (N8) */

/* A blend whose terms are being walked through; the outermost stands for the pair and blends nothing. */
typedef struct Blend {
  struct Blend* within;
  NodePlaces at;
  BlendWeight phi;
  CentredPotential centred;
  double weight, beta;              /* dP_total/d(inner), and that of the reverse (N11) */
  double inner, inner_gradient[12]; /* A, and its derivatives by both twists */
  double inner_rate;                /* reverse: of A with the twists */
} Blend;

typedef struct Walk Walk;
/* What is done with the terms that are not zero. */
typedef struct {
  bool (*pieces)(const Walk* walk, const NodePlaces* at, Blend* within); /* false: no plane was found */
  void (*centres)(const Walk* walk, const NodePlaces* at, const CentredPotential* centred, Blend* within);
  void (*enter)(const Walk* walk, Blend* blend); /* NULL: nothing */
  void (*leave)(const Walk* walk, Blend* blend); /* all that is in it has been told */
} Visitor;

struct Walk {
  const FarField* field;
  FieldWork* work;
  const FieldPair* pair;
  const Visitor* visitor;
  void* context;
};

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

static bool solve_pieces(const Walk* w, const NodePlaces* at, PlaneSolution* solution) {
  const Model* model = w->field->model;
  const ModelHull* hull = &model->hulls[node_of(w->field, w->pair, 0, at->node[0])->hull];
  HullInstance a = pair_hull_at(hull, &w->pair->pose[0]), b;
  w->work->piece_count++;
  if (w->pair->ground)
    b = *w->pair->ground;
  else
    b = pair_hull_at(&model->hulls[node_of(w->field, w->pair, 1, at->node[1])->hull], &w->pair->pose[1]);
  GjkResult found;
  return pair_distance(&a, &b, NULL, &found) > 0 && reciprocal_solve(&a, &b, &found, &w->work->scratch, solution);
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

static bool walk(const Walk* w, NodePlaces* at, Blend* within);

static bool walk_children(const Walk* w, const NodePlaces* at, Blend* within) {
  int child[2][2], count[2];
  Vec3 center[2][2];
  for (int side = 0; side < 2; side++) count[side] = children_of(w, side, at, child[side], center[side]);
  if (count[0] == 1 && count[1] == 1) return w->visitor->pieces(w, at, within);
  for (int i = 0; i < count[0]; i++)
    for (int j = 0; j < count[1]; j++) {
      NodePlaces below = {.node = {child[0][i], child[1][j]}, .center = {center[0][i], center[1][j]}};
      if (!walk(w, &below, within)) return false;
    }
  return true;
}

/* Of `at` nodes and centres are set. */
static bool walk(const Walk* w, NodePlaces* at, Blend* within) {
  const bool ground = w->pair->ground != NULL;
  measure(w->field, w->pair, at);
  bool exact = (w->field->plain && !ground) || !(at->distance > at->near);
  bool far = !exact && at->distance >= (1 + w->field->blend) * at->near;
  if (far && ground) return true;
  w->work->count += !exact;
  if (exact) return walk_children(w, at, within);
  CentredPotential centred = ground ? (CentredPotential){0, 0, 0} : centred_potential(at->distance);
  if (far) {
    w->visitor->centres(w, at, &centred, within);
    return true;
  }
  Blend blend = {.within = within, .at = *at, .centred = centred};
  blend.phi = blend_weight(at->distance, at->near, w->field->blend);
  blend.weight = within->weight * (1 - blend.phi.value);
  w->work->blend_count++;
  if (w->visitor->enter) w->visitor->enter(w, &blend);
  if (!walk_children(w, at, &blend)) return false;
  w->visitor->leave(w, &blend);
  return true;
}

static NodePlaces places_of(const FarField* f, const FieldPair* pair, const int node[2]) {
  NodePlaces at = {.node = {node[0], node[1]}, .center[0] = center_of(f, pair, 0, node[0])};
  if (!pair->ground) at.center[1] = center_of(f, pair, 1, node[1]);
  return at;
}

/* all: set, with what the outermost terms add up to. */
static bool walk_pair(const FarField* f, FieldWork* work, const FieldPair* pair, const Visitor* visitor, void* context,
                      Blend* all) {
  Walk w = {f, work, pair, visitor, context};
  *all = (Blend){.weight = 1};
  work->count = work->piece_count = work->blend_count = 0;
  NodePlaces roots = places_of(f, pair, pair->root);
  bool found = walk(&w, &roots, all);
  work->count += work->piece_count;
  return found;
}

/* ---------------------------------------------------------------- values */

static double blend_value(const Blend* b) { return (1 - b->phi.value) * b->inner + b->phi.value * b->centred.value; }

static bool add_piece_value(const Walk* w, const NodePlaces* at, Blend* within) {
  PlaneSolution solution;
  if (!solve_pieces(w, at, &solution)) return false;
  within->inner += solution.energy;
  return true;
}

static void add_center_value(const Walk* w, const NodePlaces* at, const CentredPotential* centred, Blend* within) {
  (void)w;
  (void)at;
  within->inner += centred->value;
}

static void add_blend_value(const Walk* w, Blend* b) {
  (void)w;
  b->within->inner += blend_value(b);
}

static const Visitor VALUES = {add_piece_value, add_center_value, NULL, add_blend_value};

bool field_value(const FarField* f, FieldWork* w, const FieldPair* pair, double* value) {
  Blend all;
  if (!walk_pair(f, w, pair, &VALUES, NULL, &all)) return false;
  *value = all.inner;
  return true;
}

/* ---------------------------------------------------------------- gradients and Hessians (N9, N10) */

/* The difference of two centres moves with the twists of both bodies by J = [-[r_a]x, I, [r_b]x, -I], r the arms. */
typedef struct {
  Vec3 arm[2];
  int sides; /* that move: one before a half-space */
} CenterMotion;

static CenterMotion motion_of(const FieldPair* pair, const NodePlaces* at) {
  int sides = pair->ground ? 1 : 2;
  CenterMotion m = {.sides = sides};
  for (int side = 0; side < sides; side++) m.arm[side] = vec3_sub(at->center[side], pair->reference[side]);
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
static double across_of(const FieldPair* pair, const NodePlaces* at, double first) {
  return pair->ground ? 0 : first / at->distance;
}
static Vec3 center_hessian(const FieldPair* pair, const NodePlaces* at, double first, double second, Vec3 y) {
  double across = across_of(pair, at, first);
  return vec3_add_scaled(vec3_scale(y, across), (second - across) * vec3_dot(at->direction, y), at->direction);
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

static void hessian_motion(const FieldPair* pair, const NodePlaces* at, double first, double second,
                           const CenterMotion* m, HessianMotion* h) {
  double across = across_of(pair, at, first), along = second - across;
  hessian_times_side(at->direction, across, along, m->arm[0], 1, h->x, h->y, h->z);
  if (m->sides == 2)
    hessian_times_side(at->direction, across, along, m->arm[1], -1, h->x + 6, h->y + 6, h->z + 6);
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

static void add_center_terms(const FieldPair* pair, const NodePlaces* at, const CenterMotion* m, double first,
                             double second, PairDerivatives* out) {
  Vec3 g = vec3_scale(at->direction, first);
  HessianMotion h;
  hessian_motion(pair, at, first, second, m, &h);
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

/* A blend as a function of r, the terms in it held: derivatives of (1 - phi) A + phi P_c. */
typedef struct {
  double first, second;
} CenterSlopes;

static CenterSlopes slopes_of(const Blend* b) {
  double step = b->centred.value - b->inner;
  return (CenterSlopes){b->phi.first * step + b->phi.value * b->centred.first,
                        b->phi.second * step + 2 * b->phi.first * b->centred.first + b->phi.value * b->centred.second};
}

static void add_twelve(const double* from, double* to) {
  for (int i = 0; i < 12; i++) to[i] += from[i];
}

static void add_piece_terms(const PairDerivatives* d, double weight, PairDerivatives* out) {
  for (int k = 0; k < 2; k++) {
    out->force[k] = vec3_add_scaled(out->force[k], weight, d->force[k]);
    out->moment[k] = mat3_add(out->moment[k], mat3_scale(d->moment[k], weight));
  }
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) out->hessian[i][j] += weight * d->hessian[i][j];
}

/* The plane between two pieces with its derivatives; its energy goes into what is within. */
static bool solve_with_derivatives(const Walk* w, const NodePlaces* at, Blend* within, PlaneSolution* solution,
                                   PairDerivatives* d, PlaneResponse* response) {
  const FieldPair* pair = w->pair;
  if (!solve_pieces(w, at, solution)) return false;
  plane_derivatives(solution, pair->ground != NULL, pair->reference[0], pair->reference[1], d, response);
  within->inner += solution->energy;
  return true;
}

static bool derive_pieces(const Walk* w, const NodePlaces* at, Blend* within) {
  PlaneSolution solution;
  PlaneResponse response;
  PairDerivatives d;
  double own[12];
  if (!solve_with_derivatives(w, at, within, &solution, &d, &response)) return false;
  gradient_of(&d, w->pair->ground != NULL, own);
  add_twelve(own, within->inner_gradient);
  add_piece_terms(&d, within->weight, w->context);
  return true;
}

static void derive_centres(const Walk* w, const NodePlaces* at, const CentredPotential* centred, Blend* within) {
  CenterMotion m = motion_of(w->pair, at);
  double own[12];
  motion_transposed(&m, vec3_scale(at->direction, centred->first), own);
  within->inner += centred->value;
  add_twelve(own, within->inner_gradient);
  add_center_terms(w->pair, at, &m, within->weight * centred->first, within->weight * centred->second, w->context);
}

static void derive_blend(const Walk* w, Blend* b) {
  PairDerivatives* out = w->context;
  CenterSlopes slopes = slopes_of(b);
  CenterMotion m = motion_of(w->pair, &b->at);
  double own[12], u[12], weight = b->within->weight;
  motion_transposed(&m, vec3_scale(b->at.direction, slopes.first), own);
  for (int i = 0; i < 12; i++) own[i] += (1 - b->phi.value) * b->inner_gradient[i];
  b->within->inner += blend_value(b);
  add_twelve(own, b->within->inner_gradient);
  add_center_terms(w->pair, &b->at, &m, weight * slopes.first, weight * slopes.second, out);
  motion_transposed(&m, vec3_scale(b->at.direction, weight * b->phi.first), u);
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) out->hessian[i][j] -= u[i] * b->inner_gradient[j] + b->inner_gradient[i] * u[j];
}

static const Visitor DERIVATIVES = {derive_pieces, derive_centres, NULL, derive_blend};

bool field_derivatives(const FarField* f, FieldWork* w, const FieldPair* pair, PairDerivatives* out) {
  Blend all;
  memset(out, 0, sizeof(*out));
  bool found = walk_pair(f, w, pair, &DERIVATIVES, out, &all);
  if (!found) memset(out, 0, sizeof(*out));
  out->energy = found ? all.inner : 0;
  return found;
}

/* ---------------------------------------------------------------- where it presses */

typedef struct {
  Vec3 sum;
  double press;
} Center;

static void press_at(Center* c, double force, Vec3 at) {
  c->sum = vec3_add_scaled(c->sum, force, at);
  c->press += force;
}

/* Halfway between the nodes' centres; before a half-space halfway to it. */
static Vec3 between_centers(const NodePlaces* at) {
  return vec3_add_scaled(at->center[0], -0.5 * at->distance, at->direction);
}

static bool press_pieces(const Walk* w, const NodePlaces* at, Blend* within) {
  PlaneSolution solution;
  PlaneResponse response;
  PairDerivatives d;
  if (!solve_pieces(w, at, &solution)) return false;
  plane_derivatives(&solution, w->pair->ground != NULL, w->pair->reference[0], w->pair->reference[1], &d, &response);
  within->inner += solution.energy;
  press_at(w->context, within->weight * vec3_norm(d.force[0]), reciprocal_center(&solution));
  return true;
}

static void press_centres(const Walk* w, const NodePlaces* at, const CentredPotential* centred, Blend* within) {
  within->inner += centred->value;
  press_at(w->context, within->weight * fabs(centred->first), between_centers(at));
}

static void press_blend(const Walk* w, Blend* b) {
  b->within->inner += blend_value(b);
  press_at(w->context, b->within->weight * fabs(slopes_of(b).first), between_centers(&b->at));
}

static const Visitor PRESS = {press_pieces, press_centres, NULL, press_blend};

bool field_center(const FarField* f, FieldWork* w, const FieldPair* pair, Vec3* point, double* press) {
  Blend all;
  Center center = {{0, 0, 0}, 0};
  *press = 0;
  if (!walk_pair(f, w, pair, &PRESS, &center, &all) || !(center.press > 0)) return false;
  *press = center.press;
  *point = vec3_scale(center.sum, 1 / center.press);
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
static Vec3 center_rate(const Reverse* r, const NodePlaces* at) {
  Vec3 rate = field_at(r, 0, at->center[0]);
  if (r->pair->ground) return rate;
  return vec3_sub(rate, field_at(r, 1, at->center[1]));
}

static double rate_along(const Reverse* r, const NodePlaces* at) { return vec3_dot(at->direction, center_rate(r, at)); }

/* A function of r that counts with alpha for its rate and with beta for itself. */
static void reverse_center(const Reverse* r, const NodePlaces* at, double first, double second, double alpha,
                           double beta) {
  Vec3 g = vec3_scale(at->direction, first), rate = center_rate(r, at);
  Vec3 by_place = vec3_add_scaled(vec3_scale(center_hessian(r->pair, at, first, second, rate), alpha), beta, g);
  Vec3* center[2] = {&r->work->bars[0].center[at->node[0]], NULL};
  *center[0] = vec3_add(*center[0], vec3_add_scaled(by_place, alpha, vec3_cross(g, turn_rate(r, 0))));
  if (!r->pair->ground) {
    center[1] = &r->work->bars[1].center[at->node[1]];
    *center[1] = vec3_sub(*center[1], vec3_add_scaled(by_place, alpha, vec3_cross(g, turn_rate(r, 1))));
    return;
  }
  ground_add(&r->out->ground, vec3_scale(by_place, -1), at->center[0], r->pair->ground->pose.t);
  r->out->ground.torque = vec3_add_scaled(r->out->ground.torque, -alpha, vec3_cross(rate, g));
}

/* What is in it counts with 1 - phi, and with the change of that. */
static void reverse_into(const Walk* w, Blend* b) {
  b->beta = b->within->beta * (1 - b->phi.value) - b->within->weight * b->phi.first * rate_along(w->context, &b->at);
}

static void reverse_blend(const Walk* w, Blend* b) {
  const Reverse* r = w->context;
  const BlendWeight* phi = &b->phi;
  const CentredPotential* c = &b->centred;
  double along = rate_along(r, &b->at), outer = b->within->weight, outer_beta = b->within->beta;
  double step = c->value - b->inner, phi_rate = phi->first * along;
  double alpha = outer * step, beta = outer * (c->first * along - b->inner_rate) + outer_beta * step;
  reverse_center(r, &b->at, c->first, c->second, outer * phi->value, outer_beta * phi->value + outer * phi_rate);
  reverse_center(r, &b->at, phi->first, phi->second, alpha, beta);
  double by_near = beta * phi->by_near + alpha * along * phi->first_by_near;
  for (int side = 0; side < (r->pair->ground ? 1 : 2); side++) r->work->bars[side].radius[b->at.node[side]] += by_near;
  r->out->by_blend += beta * phi->by_blend + alpha * along * phi->first_by_blend;
  b->within->inner += blend_value(b);
  b->within->inner_rate += slopes_of(b).first * along + (1 - phi->value) * b->inner_rate;
}

static void reverse_centres(const Walk* w, const NodePlaces* at, const CentredPotential* centred, Blend* within) {
  within->inner += centred->value;
  within->inner_rate += centred->first * rate_along(w->context, at);
  reverse_center(w->context, at, centred->first, centred->second, within->weight, within->beta);
}

static void plane_change(const PlaneResponse* response, const double twist[2][6], double dp[4]) {
  for (int k = 0; k < 4; k++) {
    dp[k] = 0;
    for (int i = 0; i < 12; i++) dp[k] += response->dp[k][i] * twist[i / 6][i % 6];
  }
}

/* One vertex at x (from the plane's origin) of a side: its force P' n turns and changes as the bodies move. */
static void reverse_vertex(const Reverse* r, const Blend* within, int side, const Plane* plane, const double dp[4],
                           double share, Vec3 x, Vec3* out) {
  double sigma = side == 0 ? -1 : 1, c = sigma * (vec3_dot(plane->n, x) + plane->o);
  double first = -share / (c * c), second = 2 * share / (c * c * c);
  Vec3 dn = vec3(dp[0], dp[1], dp[2]), at = vec3_add(plane->origin, x), rate = field_at(r, side, at);
  double moved = vec3_dot(plane->n, rate) + vec3_dot(x, dn) + dp[3];
  Vec3 g = vec3_scale(plane->n, sigma * first);
  Vec3 change = vec3_add_scaled(vec3_scale(plane->n, second * moved), sigma * first, dn);
  Vec3 by_place = vec3_add_scaled(vec3_scale(change, within->weight), within->beta, g);
  *out = vec3_add(*out, vec3_add_scaled(by_place, within->weight, vec3_cross(g, turn_rate(r, side))));
  if (!r->pair->ground) return;
  ground_add(&r->out->ground, vec3_scale(by_place, -1), at, r->pair->ground->pose.t);
  r->out->ground.torque = vec3_add_scaled(r->out->ground.torque, -within->weight, vec3_cross(rate, g));
}

static void reverse_sides(const Reverse* r, const NodePlaces* at, const Blend* within, const Plane* plane,
                          const double dp[4]) {
  for (int side = 0; side < (r->pair->ground ? 1 : 2); side++) {
    const BodyTree* tree = tree_of(r->field, r->pair, side);
    const ModelHull* hull = &r->field->model->hulls[tree->nodes[at->node[side]].hull];
    Vec3* out = r->out->vertices[side] + (r->pair->ground ? 0 : hull->vertex_first - tree->vertex_first);
    for (int m = 0; m < hull->points.count; m++) {
      Vec3 local = vec3(hull->points.x[m], hull->points.y[m], hull->points.z[m]);
      Vec3 x = vec3_sub(pose_apply(r->pair->pose[side], local), plane->origin);
      reverse_vertex(r, within, side, plane, dp, RECIPROCAL_PIECE / hull->points.count, x, &out[m]);
    }
  }
}

static double total_rate(const PairDerivatives* d, bool ground, const double twist[2][6]) {
  double g[12], rate = 0;
  gradient_of(d, ground, g);
  for (int i = 0; i < 12; i++) rate += g[i] * twist[i / 6][i % 6];
  return rate;
}

static bool reverse_pieces(const Walk* w, const NodePlaces* at, Blend* within) {
  const Reverse* r = w->context;
  PlaneSolution solution;
  PlaneResponse response;
  PairDerivatives d;
  double dp[4];
  if (!solve_with_derivatives(w, at, within, &solution, &d, &response)) return false;
  plane_change(&response, r->twist, dp);
  within->inner_rate += total_rate(&d, w->pair->ground != NULL, r->twist);
  reverse_sides(r, at, within, &solution.plane, dp);
  return true;
}

static const Visitor REVERSE = {reverse_pieces, reverse_centres, reverse_into, reverse_blend};

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

bool field_reverse(const FarField* f, FieldWork* w, const FieldPair* pair, const double twist[2][6], FieldShares* out) {
  Reverse r = {f, w, pair, twist, out};
  Blend all;
  clear_bars(&r);
  if (!walk_pair(f, w, pair, &REVERSE, &r, &all)) return false;
  out->value = all.inner_rate;
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
