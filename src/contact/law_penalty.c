/* Penalty contact of smooth convex shapes (docs/derivations/law-penalty.md). The normal force is a power of the growth
 * gap, after Hertz. Coulomb friction acts at the witness points at the start of the step (point_friction.h). Bodies in
 * contact overlap slightly. Body b may be a half-space. The contact energy is
 *     E = kappa delta^(p+1) / (p+1),   delta = -gap > 0                                                         (G11)
 * Section (G16) lists the differences from the published force. */
#include <float.h>
#include <string.h>

#include "contact/law.h"
#include "query/query.h"

enum { COLUMNS = QUERY_POSE_COLUMNS };
#define ENERGY_ROUNDINGS 50.0

/* Overlap of two bodies. */
typedef struct {
  double gap;
  Vec3 normal; /* unit, from a to b */
  Vec3 witness[2];
  double gradient[COLUMNS]; /* gradient of the gap with respect to twists about the origins of the shapes */
  Growth growth;
  HalfSpaceGap height;
  bool found;
} Overlap;

/* Workspace of one thread. */
typedef struct {
  double* slopes; /* derivatives of growth and gap */
  Overlap then;   /* overlap at t that `points` found for `reverse_points` */
} Work;

typedef struct {
  const Model* model;
  double stiffness, exponent;
  int columns; /* largest number of columns of the derivatives of a pair: motions of both bodies and their shape
                  parameters */
  Work* work;
  int threads;
} Law;

/* Solution (p, u) of the growth problem in one state, from which the next solution starts. warm: 1 if there is a
 * solution, otherwise 0. All members are doubles, so that a state block can store them. */
typedef struct {
  double warm, p[3], u;
} Own;

/* ---------------------------------------------------------------- the scene */

#define ONLY "penalty"
static const SchemaRow rows[] = {
    {"contact", "stiffness", VALUE_NUMBER, offsetof(ContactForm, contact.stiffness), .only = ONLY,
     .unit = "N/m^exponent", .range = RANGE_ABOVE(0), .fallback = "(derived from the scene)",
     .meaning = "Stiffness: the force of two bodies that overlap by delta is about stiffness delta^exponent."},
    {"contact_law", "exponent", VALUE_NUMBER, offsetof(ContactForm, contact.own[0]), .only = ONLY, .fallback = "1.5",
     .range = RANGE_BETWEEN(1, 4), .meaning = "Exponent of the overlap in the force; 1.5 for Hertz contact."},
    LAW_FRICTION_ROW(ONLY),
    LAW_SMOOTHING_ROW(ONLY),
};

static int parameters_of(const Model* model, int hull) {
  const ModelHull* h = &model->hulls[hull];
  return hull_is_convex_smooth(h) ? shape_parameter_count(&h->smooth->field.shape) : 0;
}

static void* create(const Model* model, int threads, double tolerance, const LawStep* step) {
  (void)tolerance;
  (void)step;
  Law* law = MEMORY_NEW(Law, 1);
  int most = 0;
  for (int k = 0; k < model->hull_count; k++) most = (int)fmax(most, parameters_of(model, k));
  *law = (Law){.model = model,
               .stiffness = model->contact.stiffness,
               .exponent = model->contact.own[0],
               .columns = COLUMNS + 2 * most,
               .work = MEMORY_NEW(Work, threads),
               .threads = threads};
  for (int t = 0; t < threads; t++) law->work[t].slopes = MEMORY_NEW(double, (GROWTH_ROWS + GAP_ROWS) * law->columns);
  return law;
}

static void destroy(void* instance) {
  Law* law = instance;
  for (int t = 0; t < law->threads; t++) memory_free(law->work[t].slopes);
  memory_free(law->work);
  memory_free(law);
}

static double range(const Model* model) {
  (void)model;
  return 0;
}

/* ---------------------------------------------------------------- two bodies */

typedef struct {
  const Shape* shape[2]; /* NULL for a half-space, which is always b */
  Pose pose[2];          /* pose of each shape; for a half-space, pose of its link */
  Vec3 arm[2];           /* from the reference point of each link to the origin of its shape, world axes [m] */
  Vec3 normal;           /* outward normal of the half-space */
  double offset;
} Bodies;

static Bodies bodies_at(const LawPair* p) {
  const HullInstance* at[2] = {p->a, p->b};
  Bodies out = {.normal = p->b->normal, .offset = p->b->offset};
  for (int k = 0; k < 2; k++) {
    const ModelSmooth* smooth = ((const Law*)p->law)->model->hulls[p->item[k]].smooth;
    out.pose[k] = at[k]->pose;
    if (!smooth) continue;
    out.shape[k] = &smooth->field.shape;
    out.pose[k] = pose_mul(at[k]->pose, smooth->pose);
    out.arm[k] = vec3_sub(out.pose[k].t, p->reference[k]);
  }
  return out;
}

static void between_shapes(const Bodies* b, GrowthCache* cache, Overlap* o) {
  o->growth = growth_query(b->shape[0], b->pose[0], b->shape[1], b->pose[1], cache);
  o->found = o->growth.proved && !o->growth.coincident;
  if (!o->found) return;
  o->gap = o->growth.gap;
  o->normal = o->growth.normal;
  o->witness[0] = o->growth.witness_a;
  o->witness[1] = o->growth.witness_b;
  growth_gap_gradient(b->pose[0], b->pose[1], &o->growth, o->gradient);
}

static void over_ground(const Bodies* b, Overlap* o) {
  o->height = half_space_gap(b->shape[0], b->pose[0], b->normal, b->offset);
  o->found = true;
  o->gap = o->height.gap;
  o->normal = vec3_scale(b->normal, -1);
  o->witness[0] = o->height.point;
  o->witness[1] = vec3_add_scaled(o->height.point, -o->gap, b->normal);
  half_space_gap_gradient(&o->height, o->gradient);
}

/* Returns the overlap of two bodies. own: solution from which the growth problem starts, replaced by the new
 * solution. */
static Overlap overlap_of(const Bodies* b, Own* own) {
  Overlap o = {.gap = 0};
  if (!b->shape[1]) {
    over_ground(b, &o);
    return o;
  }
  GrowthCache cache = {.warm = own->warm > 0, .p = vec3_at(own->p), .u = own->u};
  between_shapes(b, &cache, &o);
  *own = (Own){cache.warm, {cache.p.x, cache.p.y, cache.p.z}, cache.u};
  return o;
}

/* Returns the overlap in the state of a pair, from the solution of this state if it is known. */
static Overlap overlap_at(const LawPair* p, const Bodies* b) {
  Own own = p->own ? *(const Own*)p->own : (Own){.warm = 0};
  return overlap_of(b, &own);
}

/* Returns the derivatives of the overlap as a matrix. The constants GAP_... number its rows. The columns are the poses
 * and, if `parameters` is true, the shape parameters. Returns NULL if the derivatives do not exist. The law owns the
 * array, which is valid until the next call of the thread. */
static const double* slopes_of(const Law* law, int thread, const Bodies* b, const Overlap* o, bool parameters) {
  double *work = law->work[thread].slopes, *out = work + GROWTH_ROWS * law->columns;
  const char* why =
      b->shape[1]
          ? growth_gap_derivatives(b->shape[0], b->pose[0], b->shape[1], b->pose[1], &o->growth, parameters, work, out)
          : half_space_gap_derivatives(b->shape[0], b->pose[0], b->pose[1].t, &o->height, parameters, out);
  return why ? NULL : out;
}

/* ---------------------------------------------------------------- a pair in a trial */

/* Returns true if the bounding balls of two shapes are separated. In this case, also marks *state as separated, with
 * the distance of the balls as separation. */
static bool balls_apart(const Bodies* b, PairState* state) {
  if (!b->shape[0] || !b->shape[1]) return false;
  Vec3 r = vec3_sub(b->pose[1].t, b->pose[0].t);
  double length = vec3_norm(r), apart = length - b->shape[0]->outer - b->shape[1]->outer;
  if (!(apart > 0)) return false;
  pair_set_apart(state, apart, vec3_scale(r, 1 / length));
  return true;
}

/* Returns a lower bound of the distance of two separated bodies [m]: the distance of the parallel tangent planes at the
 * witness points. The gap is not a lower bound, because it is measured along the line of centres. */
static double distance_bound(const Bodies* b, const Overlap* o) {
  if (!b->shape[1]) return o->gap;
  return o->gap * vec3_dot(o->normal, vec3_normalized(vec3_sub(b->pose[1].t, b->pose[0].t)));
}

static void evaluate(const LawPair* p, const LawOrigin* from) {
  const Law* law = p->law;
  PairState* state = p->state;
  Own* own = p->own;
  Bodies b = bodies_at(p);
  *own = (Own){.warm = 0};
  if (balls_apart(&b, state)) return;
  if (from->state->outcome == PAIR_PRESSED) *own = *(const Own*)from->own;
  Overlap o = overlap_of(&b, own);
  if (!o.found) {
    state->outcome = PAIR_FAILED;
    return;
  }
  if (!(o.gap < 0)) {
    *own = (Own){.warm = 0};
    pair_set_apart(state, distance_bound(&b, &o), o.normal);
    return;
  }
  pair_set_pressed(state, o.gap, vec3_scale(vec3_add(o.witness[0], o.witness[1]), 0.5), o.normal);
  state->contact_energy = law->stiffness * math_pow(-o.gap, law->exponent + 1) / (law->exponent + 1);
  state->has_terms = true;
}

/* ---------------------------------------------------------------- the accepted state */

/* (G12) Adds the gradient -kappa delta^p g and the Hessian kappa (p delta^(p-1) g g^T - delta^p dg). kappa: stiffness;
 * delta: overlap; p: exponent of the law; g: gradient of the gap; dg: symmetric derivative of g. If dg does not exist,
 * the Hessian lacks its second term. */
static bool derive(const LawPair* p) {
  const Law* law = p->law;
  if (p->state->outcome != PAIR_PRESSED) return true;
  Bodies b = bodies_at(p);
  Overlap o = overlap_at(p, &b);
  if (!o.found || !(o.gap < 0)) return o.found;
  double delta = -o.gap, exponent = law->exponent, c[COLUMNS][COLUMNS], gradient[COLUMNS];
  double first = law->stiffness * math_pow(delta, exponent);
  double second = law->stiffness * exponent * math_pow(delta, exponent - 1);
  const double *g = o.gradient, *slopes = slopes_of(law, p->thread, &b, &o, false);
  for (int i = 0; i < COLUMNS; i++) {
    gradient[i] = -first * g[i];
    for (int k = 0; k < COLUMNS; k++) {
      double bend = 0;
      if (slopes) bend = 0.5 * (slopes[(GAP_GRADIENT + i) * COLUMNS + k] + slopes[(GAP_GRADIENT + k) * COLUMNS + i]);
      c[i][k] = second * g[i] * g[k] - first * bend;
    }
  }
  pair_add_shifted(b.arm, p->b->half_space, gradient, (const double(*)[COLUMNS])c, p->derivatives);
  return slopes != NULL;
}

static double rounding(const LawPair* p, double reach) {
  const Law* law = p->law;
  double delta = p->state->separation < 0 ? -p->state->separation : 0;
  double slope = delta > 0 ? law->stiffness * math_pow(delta, law->exponent) : 0;
  return DBL_EPSILON * ENERGY_ROUNDINGS * (slope * reach + p->state->contact_energy + p->state->friction_energy);
}

/* The contact point of each body is its witness point, with the normal force delta^p. */
static void points(const LawPair* p, bool reverses, FrictionPoints* out) {
  const Law* law = p->law;
  const Pose* pose[2] = {&p->a->pose, &p->b->pose};
  Bodies b = bodies_at(p);
  Overlap o = overlap_at(p, &b);
  if (!o.found || !(o.gap < 0)) return;
  friction_points_add(out, pose, math_pow(-o.gap, law->exponent), o.normal, o.witness[0], o.witness[1]);
  if (reverses) law->work[p->thread].then = o;
}

/* ---------------------------------------------------------------- reverse (G13, G15); for stiffness 1 */

/* Adds a derivative with respect to shape parameter k of the pair. The parameters of body a come before the parameters
 * of body b. */
static void add_parameter(const Bodies* b, int k, double value, PairShares* out) {
  int first = shape_parameter_count(b->shape[0]);
  out->shape[k < first ? 0 : 1][k < first ? k : k - first] += value;
}

static int columns_of(const Bodies* b) {
  int parameters = shape_parameter_count(b->shape[0]) + (b->shape[1] ? shape_parameter_count(b->shape[1]) : 0);
  return COLUMNS + parameters;
}

/* Sets out[COLUMNS] to the twists of both bodies about the origins of their shapes. twist: twists about the reference
 * points of the bodies. The twist of a half-space becomes zero. */
static void shift_twists(const Bodies* b, const double twist[2][6], double out[COLUMNS]) {
  for (int side = 0; side < 2; side++) {
    Vec3 w = vec3_at(twist[side]), v = vec3_add(vec3_at(twist[side] + 3), vec3_cross(w, b->arm[side]));
    const double six[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
    for (int k = 0; k < 6; k++) out[6 * side + k] = side == 0 || b->shape[1] ? six[k] : 0;
  }
}

/* Adds the derivatives of Phi = -delta^p g . t, with the overlap delta, the gradient g of the gap and the twists t. The
 * derivative with respect to column k is p delta^(p-1) gap_k (g . t) - delta^p g_k . t, where gap_k and g_k are the
 * derivatives of gap and g. */
static void reverse(const LawReplay* p, const double twist[2][6], const PairCarry* carry, PairShares* out) {
  (void)carry;
  const Law* law = p->law;
  PairState state;
  LawPair next = law_recorded_pair(p, true, &state);
  Bodies b = bodies_at(&next);
  Overlap o = overlap_at(&next, &b);
  if (!p->record->active || !o.found || !(o.gap < 0)) return;
  int columns = columns_of(&b);
  const double* slopes = slopes_of(law, p->thread, &b, &o, true);
  double t[COLUMNS], along = 0, delta = -o.gap, first = math_pow(delta, law->exponent);
  double second = law->exponent * math_pow(delta, law->exponent - 1), by[COLUMNS];
  shift_twists(&b, twist, t);
  for (int i = 0; i < COLUMNS; i++) along += o.gradient[i] * t[i];
  out->value -= first * along;
  out->own[0] -= first * math_log(delta) * along;
  for (int k = 0; slopes && k < columns; k++) {
    double bend = 0;
    for (int i = 0; i < COLUMNS; i++) bend += slopes[(GAP_GRADIENT + i) * columns + k] * t[i];
    double value = second * slopes[GAP_VALUE * columns + k] * along - first * bend;
    if (k < COLUMNS)
      by[k] = value;
    else
      add_parameter(&b, k - COLUMNS, value, out);
  }
  /* The caller obtains the derivatives with respect to poses at t + dt from the Hessian, except the derivatives with
   * respect to poses of half-spaces. */
  if (b.shape[1] || !slopes) return;
  out->ground_next.torque = vec3_add(out->ground_next.torque, vec3_at(by + 6));
  out->ground_next.force = vec3_add(out->ground_next.force, vec3_at(by + 9));
}

static Vec3 row_at(const double* slopes, int row, int columns, int k) {
  const double* at = slopes + row * columns + k;
  return vec3(at[0], at[columns], at[(ptrdiff_t)2 * columns]);
}

static void reverse_points(const LawReplay* p, PairShares* out) {
  const Law* law = p->law;
  const PointBar* bar = p->bars;
  const Overlap* o = &law->work[p->thread].then;
  PairState state;
  LawPair now = law_recorded_pair(p, false, &state);
  Bodies b = bodies_at(&now);
  const double* slopes = slopes_of(law, p->thread, &b, o, true);
  int columns = columns_of(&b);
  double by[COLUMNS], slope = -law->exponent * math_pow(-o->gap, law->exponent - 1);
  out->own[0] += bar->load * p->points->load * math_log(-o->gap);
  for (int k = 0; slopes && k < columns; k++) {
    double value = bar->load * slope * slopes[GAP_VALUE * columns + k];
    value += vec3_dot(bar->n, row_at(slopes, GAP_NORMAL, columns, k));
    value += vec3_dot(bar->x[0], row_at(slopes, GAP_WITNESS_A, columns, k));
    value += vec3_dot(bar->x[1], row_at(slopes, GAP_WITNESS_B, columns, k));
    if (k < COLUMNS)
      by[k] = value;
    else
      add_parameter(&b, k - COLUMNS, value, out);
  }
  for (int side = 0; slopes && side < 2; side++)
    law_add_motion_now(p, side, b.pose[side].t, vec3_at(by + 6 * side + 3), vec3_at(by + 6 * side), out);
}

const ContactLaw LAW_penalty = {
    .name = "penalty",
    .parameters = rows,
    .parameter_count = sizeof(rows) / sizeof(rows[0]),
    .own_count = 1,
    .shapes = true,
    .overlaps = true,
    .smooth_only =
        "needs smooth convex shapes (superellipsoid, superelliptic_cylinder, truncated_cone, "
        "smooth_polytope, superquadric) and half_spaces",
    .state_size = sizeof(Own),
    .vertex_shares = 1,
    .create = create,
    .destroy = destroy,
    .range = range,
    .evaluate = evaluate,
    .derive = derive,
    .rounding = rounding,
    .points = points,
    .reverse_points = reverse_points,
    .reverse = reverse,
};
