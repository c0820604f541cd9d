/* Penalty contact of smooth convex shapes (docs/derivations/law-penalty.md). The normal force is a power of the growth
 * gap, after Hertz. Coulomb friction acts in the tangent plane at the start of the step. Bodies in contact overlap
 * slightly. Body b may be a half-space. The contact energy is
 *     E = kappa delta^(p+1) / (p+1),   delta = -gap > 0                                                         (G11)
 * Section (G16) lists the differences from the published force. */
#include <float.h>
#include <string.h>

#include "contact/law.h"
#include "query/query.h"

enum { COLUMNS = QUERY_POSE_COLUMNS };
#define ENERGY_ROUNDINGS 50.0

typedef struct {
  const Model* model;
  double stiffness, exponent, smoothing;
  const LawStep* step;
  int columns;   /* largest number of columns of the derivatives of a pair: motions of both bodies and their shape
                    parameters */
  double** work; /* workspaces for the derivatives of growth and gap; the list ends with NULL  (threads) */
} Law;

/* Solution (p, u) of the growth problem in one state, from which the next solution starts. warm: 1 if there is a
 * solution, otherwise 0. All members are doubles, so that a state block can store them. */
typedef struct {
  double warm, p[3], u;
} Own;

/* Friction reference: the contact of the pair at the start of the step. */
typedef struct {
  double on;         /* 1 if the pair was in contact at the start of the step, otherwise 0 */
  double load;       /* delta^p at the start of the step: normal force for stiffness 1 */
  double n[3];       /* normal from a to b */
  double x[2][3];    /* contact point of each body in the frame of its link [m] */
  double then[2][3]; /* contact point of each body at the start of the step, world [m] */
} Memory;

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
  Law* law = MEMORY_NEW(Law, 1);
  int most = 0;
  for (int k = 0; k < model->hull_count; k++) most = (int)fmax(most, parameters_of(model, k));
  *law = (Law){.model = model,
               .stiffness = model->contact.stiffness,
               .exponent = model->contact.own[0],
               .smoothing = model->contact.smoothing,
               .step = step,
               .columns = COLUMNS + 2 * most};
  law->work = MEMORY_NEW(double*, threads + 1); /* ends with NULL */
  for (int t = 0; t < threads; t++) law->work[t] = MEMORY_NEW(double, (GROWTH_ROWS + GAP_ROWS) * law->columns);
  return law;
}

static void destroy(void* instance) {
  Law* law = instance;
  for (int t = 0; law->work[t]; t++) memory_free(law->work[t]);
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
  Pose link[2];
  Vec3 arm[2]; /* from the reference point of each link to the origin of its shape, world axes [m] */
  Vec3 normal; /* outward normal of the half-space */
  double offset;
} Bodies;

static Bodies bodies_of(const Law* law, const int item[2], const HullInstance* a, const HullInstance* b,
                        const Vec3 reference[2]) {
  const HullInstance* at[2] = {a, b};
  Bodies out = {.normal = b->normal, .offset = b->offset};
  for (int k = 0; k < 2; k++) {
    const ModelSmooth* smooth = law->model->hulls[item[k]].smooth;
    out.link[k] = out.pose[k] = at[k]->pose;
    if (!smooth) continue;
    out.shape[k] = &smooth->field.shape;
    out.pose[k] = pose_mul(at[k]->pose, smooth->pose);
    out.arm[k] = vec3_sub(out.pose[k].t, reference[k]);
  }
  return out;
}

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

/* Returns the overlap of two bodies. own: solution from which the growth problem starts, replaced by the new solution.
 * If own is NULL, the growth problem starts without a known solution. */
static Overlap overlap_of(const Bodies* b, Own* own) {
  Overlap o = {.gap = 0};
  if (!b->shape[1]) {
    over_ground(b, &o);
    return o;
  }
  GrowthCache cache = {.warm = own && own->warm > 0};
  if (own) {
    cache.p = vec3_at(own->p);
    cache.u = own->u;
  }
  between_shapes(b, &cache, &o);
  if (own) *own = (Own){cache.warm, {cache.p.x, cache.p.y, cache.p.z}, cache.u};
  return o;
}

/* Returns the derivatives of the overlap as a matrix. The constants GAP_... number its rows. The columns are the poses
 * and, if `parameters` is true, the shape parameters. Returns NULL if the derivatives do not exist. The law owns the
 * array, which is valid until the next call of the thread. */
static const double* slopes_of(const Law* law, int thread, const Bodies* b, const Overlap* o, bool parameters) {
  double *work = law->work[thread], *out = work + GROWTH_ROWS * law->columns;
  const char* why =
      b->shape[1]
          ? growth_gap_derivatives(b->shape[0], b->pose[0], b->shape[1], b->pose[1], &o->growth, parameters, work, out)
          : half_space_gap_derivatives(b->shape[0], b->pose[0], b->pose[1].t, &o->height, parameters, out);
  return why ? NULL : out;
}

/* ---------------------------------------------------------------- derivatives by twists */

/* Adds J^T C J to the Hessian of *out. J converts twists about the reference points of the bodies to twists about the
 * origins of their shapes, by v_c = v + w x arm. */
static void add_shifted(const Bodies* b, int sides, const double (*c)[COLUMNS], PairDerivatives* out) {
  double j[COLUMNS][COLUMNS] = {{0}}, cj[COLUMNS][COLUMNS];
  int n = 6 * sides;
  for (int side = 0; side < sides; side++) {
    Mat3 back = mat3_scale(mat3_cross(b->arm[side]), -1);
    for (int i = 0; i < 6; i++) j[6 * side + i][6 * side + i] = 1;
    for (int i = 0; i < 9; i++) j[6 * side + 3 + i / 3][6 * side + i % 3] = back.m[i / 3][i % 3];
  }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      cj[i][k] = 0;
      for (int l = 0; l < n; l++) cj[i][k] += c[i][l] * j[l][k];
    }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int l = 0; l < n; l++) out->hessian[i][k] += j[l][i] * cj[l][k];
}

/* Adds a force at the origin of the shape of body `side`, and a torque about this origin, to *out. The torque
 * contributes only to the antisymmetric part of the moment. */
static void add_wrench(const Bodies* b, int side, Vec3 torque, Vec3 force, PairDerivatives* out) {
  out->force[side] = vec3_add(out->force[side], force);
  Mat3 moment = mat3_add(mat3_outer(force, b->arm[side]), mat3_scale(mat3_cross(torque), 0.5));
  out->moment[side] = mat3_add(out->moment[side], moment);
}

/* (G12) Adds the gradient -kappa delta^p g and the Hessian kappa (p delta^(p-1) g g^T - delta^p dg) to *out. kappa:
 * stiffness; delta: overlap; p: exponent of the law; g: gradient of the gap; dg: symmetric derivative of g. Returns
 * false if dg does not exist; the Hessian then lacks its second term. */
static bool add_contact(const Law* law, int thread, const Bodies* b, const Overlap* o, PairDerivatives* out) {
  double delta = -o->gap, p = law->exponent, c[COLUMNS][COLUMNS];
  double first = law->stiffness * math_pow(delta, p), second = law->stiffness * p * math_pow(delta, p - 1);
  const double *g = o->gradient, *slopes = slopes_of(law, thread, b, o, false);
  int sides = b->shape[1] ? 2 : 1;
  for (int side = 0; side < sides; side++)
    add_wrench(b, side, vec3_scale(vec3_at(g + 6 * side), -first), vec3_scale(vec3_at(g + 6 * side + 3), -first), out);
  if (sides == 1) out->force[1] = vec3_sub(out->force[1], vec3_scale(vec3_at(g + 3), -first));
  for (int i = 0; i < COLUMNS; i++)
    for (int k = 0; k < COLUMNS; k++) {
      double bend = 0;
      if (slopes) bend = 0.5 * (slopes[(GAP_GRADIENT + i) * COLUMNS + k] + slopes[(GAP_GRADIENT + k) * COLUMNS + i]);
      c[i][k] = second * g[i] * g[k] - first * bend;
    }
  add_shifted(b, sides, (const double(*)[COLUMNS])c, out);
  return slopes != NULL;
}

/* ---------------------------------------------------------------- friction (G14) */

/* Motion of the contact points since the start of the step: present positions x [m], velocity of point 1 relative to
 * point 0, and slip, the component of the velocity perpendicular to the normal [m/s]. */
typedef struct {
  Vec3 x[2], velocity, slip;
  double rho; /* sqrt(slip^2 + epsilon) */
} Slip;

static Slip slip_of(const Law* law, const Bodies* now, const Memory* m) {
  Slip s;
  Vec3 moved[2], n = vec3_at(m->n);
  for (int k = 0; k < 2; k++) {
    s.x[k] = pose_apply(now->link[k], vec3_at(m->x[k]));
    moved[k] = vec3_sub(s.x[k], vec3_at(m->then[k]));
  }
  s.velocity = vec3_scale(vec3_sub(moved[1], moved[0]), 1 / law->step->dt);
  s.slip = vec3_add_scaled(s.velocity, -vec3_dot(n, s.velocity), n);
  s.rho = sqrt(vec3_dot(s.slip, s.slip) + law->smoothing);
  return s;
}

static Memory memory_of(const Law* law, const Bodies* b, const Overlap* o) {
  Memory m = {.on = 1, .load = math_pow(-o->gap, law->exponent), .n = {o->normal.x, o->normal.y, o->normal.z}};
  for (int k = 0; k < 2; k++) {
    Vec3 x = pose_apply_inverse(b->link[k], o->witness[k]);
    memcpy(m.x[k], (const double[3]){x.x, x.y, x.z}, sizeof(m.x[k]));
    memcpy(m.then[k], (const double[3]){o->witness[k].x, o->witness[k].y, o->witness[k].z}, sizeof(m.then[k]));
  }
  return m;
}

static void add_friction(const Law* law, const Bodies* now, const Memory* m, double mu, PairDerivatives* out) {
  Slip s = slip_of(law, now, m);
  double weight = law->stiffness * mu * m->load / s.rho;
  Vec3 n = vec3_at(m->n), pull = vec3_scale(s.slip, weight);
  Mat3 h = mat3_sub(mat3_sub(mat3_identity(), mat3_outer(n, n)),
                    mat3_scale(mat3_outer(s.slip, s.slip), 1 / (s.rho * s.rho)));
  h = mat3_scale(h, weight / law->step->dt);
  int sides = now->shape[1] ? 2 : 1;
  Vec3 arm[2] = {{0, 0, 0}, {0, 0, 0}};
  for (int side = 0; side < sides; side++) {
    Vec3 force = vec3_scale(pull, side == 0 ? -1 : 1);
    arm[side] = vec3_add(now->arm[side], vec3_sub(s.x[side], now->pose[side].t));
    out->force[side] = vec3_add(out->force[side], force);
    out->moment[side] = mat3_add(out->moment[side], mat3_outer(force, arm[side]));
  }
  if (sides == 1) out->force[1] = vec3_add(out->force[1], pull);
  for (int i = 0; i < 6 * sides; i++)
    for (int k = 0; k < 6 * sides; k++) {
      Vec3 e = vec3_axis(i), f = vec3_axis(k);
      Vec3 u = i % 6 < 3 ? vec3_cross(e, arm[i / 6]) : e, v = k % 6 < 3 ? vec3_cross(f, arm[k / 6]) : f;
      out->hessian[i][k] += (i / 6 == k / 6 ? 1 : -1) * vec3_dot(u, mat3_mul_vec(h, v));
    }
}

/* ---------------------------------------------------------------- a pair in a run */

static Bodies bodies_at(const LawPair* p) { return bodies_of(p->law, p->item, p->a, p->b, p->reference); }

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

/* If neither body has moved since the accepted state, copies the contact of that state to the trial state and returns
 * true. The copy is correct because the contact does not depend on the friction reference. Returns false if a body has
 * moved or the accepted state was not evaluated. */
static bool repeats(const LawPair* p, const LawOrigin* from) {
  const PairState* old = from->state;
  if (!from->stays || !(old->outcome == PAIR_PRESSED || old->separation > 0)) return false;
  *(Own*)p->own = *(const Own*)from->own;
  p->state->outcome = old->outcome;
  p->state->separation = old->separation;
  p->state->axis = old->axis;
  p->state->has_plane = old->has_plane;
  p->state->plane = old->plane;
  p->state->contact_energy = old->contact_energy;
  p->state->has_terms = old->outcome == PAIR_PRESSED;
  return true;
}

static void evaluate(const LawPair* p, const LawOrigin* from) {
  if (repeats(p, from)) return;
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
  state->outcome = PAIR_PRESSED;
  state->separation = o.gap;
  state->axis = o.normal;
  state->has_plane = true; /* contact_wrench reads the plane */
  state->plane = (Plane){vec3_scale(vec3_add(o.witness[0], o.witness[1]), 0.5), o.normal, 0};
  state->contact_energy = law->stiffness * math_pow(-o.gap, law->exponent + 1) / (law->exponent + 1);
  state->has_terms = true;
}

static bool friction_acts(const LawPair* p) {
  const Memory* m = p->memory;
  return p->lagged && m->on > 0 && p->material->value[MATERIAL_FRICTION] > 0;
}

static bool evaluate_friction(const LawPair* p, const LawOrigin* from) {
  (void)from;
  const Law* law = p->law;
  const Memory* m = p->memory;
  Bodies b = bodies_at(p);
  Slip s = slip_of(law, &b, m);
  double square = vec3_dot(s.slip, s.slip), mu = p->material->value[MATERIAL_FRICTION];
  p->state->friction_energy = law->stiffness * mu * m->load * law->step->dt * square / (s.rho + sqrt(law->smoothing));
  p->state->has_terms = true;
  return true;
}

static void derive(const LawPair* p) {
  const Law* law = p->law;
  Bodies b = bodies_at(p);
  PairDerivatives* d = p->derivatives;
  memset(d, 0, sizeof(*d));
  if (p->state->outcome == PAIR_PRESSED) {
    Own own = *(const Own*)p->own;
    Overlap o = overlap_of(&b, &own);
    if (o.found && o.gap < 0) add_contact(law, p->thread, &b, &o, d);
  }
  if (friction_acts(p)) add_friction(law, &b, p->memory, p->material->value[MATERIAL_FRICTION], d);
}

static double rounding(const LawPair* p, double reach) {
  const Law* law = p->law;
  double delta = p->state->separation < 0 ? -p->state->separation : 0;
  double slope = delta > 0 ? law->stiffness * math_pow(delta, law->exponent) : 0;
  return DBL_EPSILON * ENERGY_ROUNDINGS * (slope * reach + p->state->contact_energy + p->state->friction_energy);
}

static size_t lag(const LawPair* p, void* room) {
  if (!room) return 0;
  Memory* m = p->memory;
  *m = (Memory){.on = 0};
  if (!p->lagged) return 0;
  Bodies b = bodies_at(p);
  Own own = *(const Own*)p->own;
  Overlap o = overlap_of(&b, &own);
  if (o.found && o.gap < 0) *m = memory_of(p->law, &b, &o);
  return 0;
}

/* ---------------------------------------------------------------- recorded pairs */

static Bodies recorded_bodies(const LawReplay* p, const PairBody body[2]) {
  const int item[2] = {p->record->hull_a, p->record->hull_b};
  const Vec3 reference[2] = {body[0].reference, body[1].reference};
  return bodies_of(p->law, item, &body[0].hull, &body[1].hull, reference);
}

static bool replay(const LawReplay* p, PairDerivatives* out) {
  const Law* law = p->law;
  Bodies next = recorded_bodies(p, p->next);
  if (p->record->active) {
    Overlap o = overlap_of(&next, NULL);
    if (!o.found) return false;
    if (o.gap < 0 && !add_contact(law, p->thread, &next, &o, out)) return false;
  }
  if (!p->record->has_friction) return true;
  Bodies now = recorded_bodies(p, p->now);
  Overlap then = overlap_of(&now, NULL);
  if (!then.found || !(then.gap < 0)) return false;
  Memory m = memory_of(law, &now, &then);
  add_friction(law, &next, &m, p->material->value[MATERIAL_FRICTION], out);
  return true;
}

/* ---------------------------------------------------------------- reverse (G13, G15); for stiffness 1 */

/* Sets out[COLUMNS] to the twists of both bodies about the origins of their shapes. twist: twists about the reference
 * points of the bodies. The twist of a half-space becomes zero. */
static void shift_twists(const Bodies* b, const double twist[2][6], double out[COLUMNS]) {
  for (int side = 0; side < 2; side++) {
    Vec3 w = vec3_at(twist[side]), v = vec3_add(vec3_at(twist[side] + 3), vec3_cross(w, b->arm[side]));
    const double six[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
    for (int k = 0; k < 6; k++) out[6 * side + k] = side == 0 || b->shape[1] ? six[k] : 0;
  }
}

/* Adds `value` to the derivative with respect to shape parameter k of the pair. The parameters of body a come before
 * the parameters of body b. */
static void add_parameter(const Bodies* b, int k, double value, PairShares* out) {
  int first = shape_parameter_count(b->shape[0]);
  if (k < first)
    out->shape[0][k] += value;
  else
    out->shape[1][k - first] += value;
}

static int pair_parameters(const Bodies* b) {
  return shape_parameter_count(b->shape[0]) + (b->shape[1] ? shape_parameter_count(b->shape[1]) : 0);
}

/* Adds the derivatives of Phi = -delta^p g . t, with the overlap delta, the gradient g of the gap and the twists t. The
 * derivative with respect to column k is p delta^(p-1) gap_k (g . t) - delta^p g_k . t, where gap_k and g_k are the
 * derivatives of gap and g. */
static void reverse_contact(const LawReplay* p, const Bodies* b, const double twist[2][6], PairShares* out) {
  const Law* law = p->law;
  Overlap o = overlap_of(b, NULL);
  if (!o.found || !(o.gap < 0)) return;
  int columns = COLUMNS + pair_parameters(b);
  const double* slopes = slopes_of(law, p->thread, b, &o, true);
  double t[COLUMNS], along = 0, delta = -o.gap, first = math_pow(delta, law->exponent);
  double second = law->exponent * math_pow(delta, law->exponent - 1), by[COLUMNS];
  shift_twists(b, twist, t);
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
      add_parameter(b, k - COLUMNS, value, out);
  }
  /* The caller obtains the derivatives with respect to poses at t + dt from the Hessian, except the derivatives with
   * respect to poses of half-spaces. */
  if (b->shape[1] || !slopes) return;
  out->ground_next.torque = vec3_add(out->ground_next.torque, vec3_at(by + 6));
  out->ground_next.force = vec3_add(out->ground_next.force, vec3_at(by + 9));
}

/* Derivatives of the friction contribution to Phi with respect to the normal, load and contact points of the friction
 * reference. */
typedef struct {
  Vec3 n;
  double load;
  Vec3 moved[2], then[2]; /* moved: with respect to the contact points in their links, in axes rotated to t + dt; then:
                             with respect to their positions at the start of the step */
} LagBar;

static LagBar reverse_slip(const LawReplay* p, const Bodies* next, const Memory* m, const double twist[2][6],
                           PairShares* out) {
  const Law* law = p->law;
  Slip s = slip_of(law, next, m);
  double mu = p->material->value[MATERIAL_FRICTION];
  Vec3 n = vec3_at(m->n), zeta = {0, 0, 0}, w[2] = {vec3_at(twist[0]), vec3_at(twist[1])};
  int sides = next->shape[1] ? 2 : 1;
  for (int k = 0; k < sides; k++) {
    Vec3 arm = vec3_add(next->arm[k], vec3_sub(s.x[k], next->pose[k].t));
    zeta = vec3_add_scaled(zeta, k == 0 ? -1 : 1, vec3_add(vec3_at(twist[k] + 3), vec3_cross(w[k], arm)));
  }
  Vec3 across = vec3_add_scaled(zeta, -vec3_dot(n, zeta), n);
  double phi = vec3_dot(s.slip, across) / s.rho, value = mu * m->load * phi;
  out->value += value;
  out->friction += m->load * phi;
  out->smoothing -= 0.5 * value / (s.rho * s.rho);
  Vec3 slip_bar = vec3_scale(vec3_add_scaled(across, -phi / s.rho, s.slip), mu * m->load / s.rho);
  Vec3 zeta_bar = vec3_scale(s.slip, mu * m->load / s.rho);
  LagBar bar = {.load = mu * phi};
  bar.n = vec3_add(vec3_scale(slip_bar, -vec3_dot(n, s.velocity)), vec3_scale(zeta_bar, -vec3_dot(n, zeta)));
  for (int k = 0; k < 2; k++) {
    Vec3 step = vec3_scale(slip_bar, (k == 0 ? -1 : 1) / law->step->dt);
    bar.then[k] = vec3_scale(step, -1);
    bar.moved[k] = step;
    if (k < sides) bar.moved[k] = vec3_add(step, vec3_cross(vec3_scale(zeta_bar, k == 0 ? -1 : 1), w[k]));
  }
  if (sides == 1) ground_add(&out->ground_next, vec3_scale(slip_bar, 1 / law->step->dt), s.x[1], next->pose[1].t);
  return bar;
}

/* Returns the velocity, in unit motion k, of the witness point as a point fixed in body `side`. Returns zero if k is a
 * shape parameter. */
static Vec3 carried(const Bodies* b, int side, const Overlap* o, int k) {
  Vec3 e = vec3_axis(k);
  if (k >= COLUMNS || k / 6 != side) return vec3(0, 0, 0);
  return k % 6 >= 3 ? e : vec3_cross(e, vec3_sub(o->witness[side], b->pose[side].t));
}

static Vec3 row_at(const double* slopes, int row, int columns, int k) {
  const double* at = slopes + row * columns + k;
  return vec3(at[0], at[columns], at[(ptrdiff_t)2 * columns]);
}

/* Adds the derivatives by[COLUMNS] with respect to the poses at t to *out. There they are stored as forces and torques
 * about the origins of the links. */
static void hand_poses(const Bodies* now, const double by[COLUMNS], PairShares* out) {
  for (int side = 0; side < 2; side++) {
    Vec3 force = vec3_at(by + 6 * side + 3), torque = vec3_at(by + 6 * side);
    if (!now->shape[side]) {
      out->ground_now = (GroundShare){vec3_add(out->ground_now.force, force), vec3_add(out->ground_now.torque, torque)};
      continue;
    }
    Vec3 arm = vec3_sub(now->pose[side].t, now->link[side].t);
    out->move_now[side] = vec3_add(out->move_now[side], force);
    out->turn_now[side] = vec3_add(out->turn_now[side], vec3_add(torque, vec3_cross(arm, force)));
  }
}

static void reverse_friction(const LawReplay* p, const Bodies* next, const double twist[2][6], PairShares* out) {
  const Law* law = p->law;
  Bodies now = recorded_bodies(p, p->now);
  Overlap o = overlap_of(&now, NULL);
  const double* slopes = o.found && o.gap < 0 ? slopes_of(law, p->thread, &now, &o, true) : NULL;
  if (!slopes) return;
  Memory m = memory_of(law, &now, &o);
  LagBar bar = reverse_slip(p, next, &m, twist, out);
  int columns = COLUMNS + pair_parameters(&now);
  double by[COLUMNS], slope = -law->exponent * math_pow(-o.gap, law->exponent - 1);
  Mat3 turn[2];
  out->own[0] += bar.load * m.load * math_log(-o.gap);
  for (int side = 0; side < 2; side++) turn[side] = mat3_mul(next->link[side].r, mat3_transpose(now.link[side].r));
  for (int k = 0; k < columns; k++) {
    double value =
        bar.load * slope * slopes[GAP_VALUE * columns + k] + vec3_dot(bar.n, row_at(slopes, GAP_NORMAL, columns, k));
    for (int side = 0; side < 2; side++) {
      Vec3 dx = row_at(slopes, side == 0 ? GAP_WITNESS_A : GAP_WITNESS_B, columns, k);
      Vec3 own = mat3_mul_vec(turn[side], vec3_sub(dx, carried(&now, side, &o, k)));
      value += vec3_dot(bar.moved[side], own) + vec3_dot(bar.then[side], dx);
    }
    if (k < COLUMNS)
      by[k] = value;
    else
      add_parameter(&now, k - COLUMNS, value, out);
  }
  hand_poses(&now, by, out);
}

static void reverse(const LawReplay* p, const double twist[2][6], const PairCarry* carry, PairShares* out) {
  (void)carry;
  Bodies next = recorded_bodies(p, p->next);
  if (p->record->active) reverse_contact(p, &next, twist, out);
  if (p->record->has_friction) reverse_friction(p, &next, twist, out);
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
    .pair_size = sizeof(Memory),
    .state_size = sizeof(Own),
    .vertex_shares = 1,
    .create = create,
    .destroy = destroy,
    .range = range,
    .evaluate = evaluate,
    .evaluate_friction = evaluate_friction,
    .friction_acts = friction_acts,
    .derive = derive,
    .rounding = rounding,
    .lag = lag,
    .replay = replay,
    .reverse = reverse,
};
