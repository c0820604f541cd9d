/* Penalty contact of smooth convex shapes (docs/derivations/law-penalty.md). The normal force is a power of the growth
 * gap, after Hertz. Coulomb friction acts at the witness points at the start of the step (point_friction.c). Bodies in
 * contact overlap slightly. Body b may be a half-space. With the stiffness kappa, the exponent p and the overlap delta,
 * the contact energy is
 *     E = kappa delta^(p+1) / (p+1),   delta = -gap > 0                                                         (G11)
 * Section (G16) lists the differences from the published force. */
#include <float.h>
#include <string.h>

#include "contact/law.h"
#include "query/query.h"

enum { COLUMNS = QUERY_POSE_COLUMNS, ROWS = GROWTH_ROWS + GAP_ROWS };
#define ENERGY_ROUNDINGS 50.0

typedef struct {
  const Model* model;
  double stiffness, exponent;
  int columns;         /* largest number of columns of the derivatives of a pair: motions of both bodies and their shape
                          parameters */
  double* slopes;      /* derivatives of growth and gap (threads x ROWS x columns) */
  BodyGap* point_gaps; /* gap at t that `points` found for `reverse_points` (size: threads) */
} Law;

/* ---------------------------------------------------------------- creation and parameters of the law */

#define ONLY "penalty"
static const SchemaRow rows[] = {
    {"contact", "stiffness", VALUE_NUMBER, offsetof(ContactForm, contact.stiffness), .only = ONLY,
     .unit = "N/m^exponent", .range = RANGE_ABOVE(0), .fallback = "(derived from the scene)",
     .meaning = "Stiffness: the force of two bodies that overlap by delta is about stiffness delta^exponent."},
    {"contact_law", "exponent", VALUE_NUMBER, offsetof(ContactForm, contact.law_parameters[0]), .only = ONLY,
     .fallback = "1.5", .range = RANGE_BETWEEN(1, 4),
     .meaning = "Exponent of the overlap in the force; 1.5 for Hertz contact."},
    LAW_FRICTION_ROW(ONLY),
    LAW_SMOOTHING_ROW(ONLY),
};

static void* create(const Model* model, int threads, double tolerance, const LawStep* step) {
  (void)tolerance, (void)step;
  int columns = COLUMNS;
  for (int k = 0; k < model->hull_count; k++)
    columns = (int)fmax(columns, COLUMNS + 2 * hull_parameter_count(&model->hulls[k]));
  Law* law = MEMORY_NEW(Law, 1);
  *law = (Law){.model = model,
               .stiffness = model->contact.stiffness,
               .exponent = model->contact.law_parameters[0],
               .columns = columns,
               .slopes = MEMORY_NEW(double, threads* ROWS* columns),
               .point_gaps = MEMORY_NEW(BodyGap, threads)};
  return law;
}

static void destroy(void* data) {
  Law* law = data;
  memory_free(law->slopes);
  memory_free(law->point_gaps);
  memory_free(law);
}

/* ---------------------------------------------------------------- gap of two bodies */

static GapBodies bodies_at(const LawPair* p) {
  const ModelHull* hulls = ((const Law*)p->law)->model->hulls;
  const HullInstance* at[2] = {p->a, p->b};
  GapBodies out = {.normal = p->b->normal, .offset = p->b->offset};
  for (int k = 0; k < 2; k++) {
    const ModelSmooth* smooth = hulls[p->item[k]].smooth;
    out.pose[k] = smooth ? pose_mul(at[k]->pose, smooth->pose) : at[k]->pose;
    out.shape[k] = smooth ? &smooth->field.shape : NULL;
  }
  return out;
}

/* Two bodies and their gap. arm: vectors from the reference points of the links to the origins of their shapes, world
 * axes [m]. */
typedef struct {
  GapBodies bodies;
  BodyGap gap;
  Vec3 arm[2];
} Overlap;

/* Sets *o in the state of a pair, from the solution of this state if it is known. Returns true if the bodies overlap.
 */
static bool find_overlap(const LawPair* p, Overlap* o) {
  GrowthCache cache = p->data ? *(const GrowthCache*)p->data : (GrowthCache){.warm = 0};
  o->bodies = bodies_at(p);
  o->gap = body_gap(&o->bodies, false, &cache);
  for (int k = 0; k < 2; k++) o->arm[k] = vec3_sub(o->bodies.pose[k].t, p->reference[k]);
  return o->gap.found && o->gap.gap < 0;
}

/* Returns the derivatives of the gap as a matrix. The constants GAP_... number its rows. The columns are the poses and,
 * if `parameters` is true, the shape parameters. Returns NULL if the derivatives do not exist. The law owns the array,
 * which is valid until the next call of the thread. */
static const double* slopes_of(const LawPair* p, const GapBodies* bodies, const BodyGap* gap, bool parameters) {
  const Law* law = p->law;
  double* work = law->slopes + (ptrdiff_t)p->thread * ROWS * law->columns;
  double* out = work + GROWTH_ROWS * law->columns;
  return body_gap_derivatives(bodies, gap, parameters, work, out) ? NULL : out;
}

static void evaluate(const LawPair* p, const LawOrigin* from) {
  const Law* law = p->law;
  GrowthCache* data = p->data;
  GapBodies bodies = bodies_at(p);
  *data = from->state->outcome == PAIR_PRESSED ? *(const GrowthCache*)from->data : (GrowthCache){.warm = 0};
  BodyGap gap = body_gap(&bodies, true, data);
  if (!gap.found || !(gap.gap < 0)) {
    *data = (GrowthCache){.warm = 0};
    p->state->outcome = PAIR_FAILED;
    if (gap.found) pair_set_apart(p->state, gap.distance, gap.normal);
    return;
  }
  pair_set_in_contact(p->state, gap.gap, vec3_scale(vec3_add(gap.witness[0], gap.witness[1]), 0.5), gap.normal);
  p->state->contact_energy = law->stiffness * math_pow(-gap.gap, law->exponent + 1) / (law->exponent + 1);
  p->state->has_terms = true;
}

/* (G12) Adds the gradient -kappa delta^p g and the Hessian kappa (p delta^(p-1) g g^T - delta^p dg). kappa: stiffness;
 * delta: overlap; p: exponent of the law; g: gradient of the gap; dg: symmetric derivative of g. If dg does not exist,
 * the Hessian lacks its second term. */
static bool derive(const LawPair* p) {
  const Law* law = p->law;
  if (p->state->outcome != PAIR_PRESSED) return true;
  Overlap o;
  if (!find_overlap(p, &o)) return o.gap.found;
  double delta = -o.gap.gap, exponent = law->exponent, hessian[COLUMNS][COLUMNS], gradient[COLUMNS];
  double first = law->stiffness * math_pow(delta, exponent);
  double second = law->stiffness * exponent * math_pow(delta, exponent - 1);
  const double *g = o.gap.gradient, *slopes = slopes_of(p, &o.bodies, &o.gap, false);
  for (int i = 0; i < COLUMNS; i++) {
    gradient[i] = -first * g[i];
    for (int k = 0; k < COLUMNS; k++) {
      double bend = 0;
      if (slopes) bend = 0.5 * (slopes[(GAP_GRADIENT + i) * COLUMNS + k] + slopes[(GAP_GRADIENT + k) * COLUMNS + i]);
      hessian[i][k] = second * g[i] * g[k] - first * bend;
    }
  }
  pair_add_shifted(o.arm, p->b->half_space, gradient, (const double(*)[COLUMNS])hessian, p->derivatives);
  return slopes != NULL;
}

static double rounding(const LawPair* p, double reach) {
  const Law* law = p->law;
  double slope = law->stiffness * math_pow(fmax(0, -p->state->separation), law->exponent);
  return DBL_EPSILON * ENERGY_ROUNDINGS * (slope * reach + p->state->contact_energy + p->state->friction_energy);
}

/* The contact point of each body is its witness point, with the normal force delta^p. */
static void points(const LawPair* p, bool reverses, FrictionPoints* out) {
  const Law* law = p->law;
  const Pose* pose[2] = {&p->a->pose, &p->b->pose};
  Overlap o;
  if (!find_overlap(p, &o)) return;
  friction_points_add(out, pose, math_pow(-o.gap.gap, law->exponent), o.gap.normal, o.gap.witness[0], o.gap.witness[1]);
  if (reverses) law->point_gaps[p->thread] = o.gap;
}

/* ---------------------------------------------------------------- reverse derivatives (G13, G15), for stiffness 1 */

/* Stores the derivative with respect to column k: of a pose in by[k], of a shape parameter in *out. The parameters of
 * body a come before the parameters of body b. */
static void add_column(const GapBodies* bodies, int k, double value, double by[COLUMNS], PairShares* out) {
  int first = shape_parameter_count(bodies->shape[0]), parameter = k - COLUMNS;
  if (parameter < 0)
    by[k] = value;
  else
    out->shape[parameter >= first][parameter < first ? parameter : parameter - first] += value;
}

/* Adds the derivatives of Phi = -delta^p g . t, with the overlap delta, the gradient g of the gap and the twists t
 * about the origins of the shapes. The derivative with respect to column k is p delta^(p-1) gap_k (g . t) - delta^p g_k
 * . t, where gap_k and g_k are the derivatives of gap and g. The caller obtains the derivatives with respect to poses
 * at t + dt from the Hessian, except the derivatives with respect to poses of half-spaces. */
static void reverse(const LawReplay* replay, const double twist[2][6], const PairCarry* carry, PairShares* out) {
  (void)carry;
  PairState state;
  LawPair p = law_recorded_pair(replay, true, &state);
  const Law* law = p.law;
  Overlap o;
  if (state.outcome != PAIR_PRESSED || !find_overlap(&p, &o)) return;
  double t[COLUMNS], by[COLUMNS] = {0}, along = 0, delta = -o.gap.gap, first = math_pow(delta, law->exponent);
  double second = law->exponent * math_pow(delta, law->exponent - 1);
  int columns = body_gap_columns(&o.bodies);
  const double* slopes = slopes_of(&p, &o.bodies, &o.gap, true);
  pair_shift_twists(o.arm, p.b->half_space, twist, t);
  for (int i = 0; i < COLUMNS; i++) along += o.gap.gradient[i] * t[i];
  out->value -= first * along;
  out->law_parameters[0] -= first * math_log(delta) * along;
  for (int k = 0; slopes && k < columns; k++) {
    double bend = 0;
    for (int i = 0; i < COLUMNS; i++) bend += slopes[(GAP_GRADIENT + i) * columns + k] * t[i];
    add_column(&o.bodies, k, second * slopes[GAP_VALUE * columns + k] * along - first * bend, by, out);
  }
  if (!p.b->half_space) return;
  out->ground_next.torque = vec3_add(out->ground_next.torque, vec3_at(by + 6));
  out->ground_next.force = vec3_add(out->ground_next.force, vec3_at(by + 9));
}

/* bar: derivative of a scalar with respect to a vector. Returns its scalar product with the derivative of this vector,
 * column k of three rows of the matrix of derivatives. */
static double along_rows(Vec3 bar, const double* slopes, int row, int columns, int k) {
  const double* at = slopes + row * columns + k;
  return vec3_dot(bar, vec3(at[0], at[columns], at[(ptrdiff_t)2 * columns]));
}

static void reverse_points(const LawReplay* replay, PairShares* out) {
  PairState state;
  LawPair p = law_recorded_pair(replay, false, &state);
  const Law* law = p.law;
  const PointBar* bar = replay->bars;
  const BodyGap* gap = &law->point_gaps[p.thread];
  GapBodies bodies = bodies_at(&p);
  const double* slopes = slopes_of(&p, &bodies, gap, true);
  int columns = body_gap_columns(&bodies);
  double by[COLUMNS] = {0}, slope = -law->exponent * math_pow(-gap->gap, law->exponent - 1);
  out->law_parameters[0] += bar->load * p.points->load * math_log(-gap->gap);
  for (int k = 0; slopes && k < columns; k++) {
    double value = bar->load * slope * slopes[GAP_VALUE * columns + k];
    value += along_rows(bar->n, slopes, GAP_NORMAL, columns, k);
    value += along_rows(bar->x[0], slopes, GAP_WITNESS_A, columns, k);
    value += along_rows(bar->x[1], slopes, GAP_WITNESS_B, columns, k);
    add_column(&bodies, k, value, by, out);
  }
  for (int side = 0; side < 2; side++)
    law_add_motion_now(replay, side, bodies.pose[side].t, vec3_at(by + 6 * side + 3), vec3_at(by + 6 * side), out);
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
    .state_size = sizeof(GrowthCache),
    .vertex_shares = 1,
    .create = create,
    .destroy = destroy,
    .evaluate = evaluate,
    .derive = derive,
    .rounding = rounding,
    .points = points,
    .reverse_points = reverse_points,
    .reverse = reverse,
};
