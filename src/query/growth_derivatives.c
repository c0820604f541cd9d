/* Derivatives of the growth distance by the implicit function theorem on its optimality conditions (growth.md, G3).
 * Several columns are computed at a time. */
#include <assert.h>
#include <string.h>
#include "base/lanes.h"
#include "query/growth.h"

enum { ORDER = 6 };
/* The centres count as coincident below this distance, relative to the bodies' size, because rounding then dominates
 * the direction between them. */
#define CENTRE_DISTANCE_MIN 1e-8
/* Largest residual of the dimensionless optimality conditions at which derivatives are computed. */
#define RESIDUAL_MAX 1e-7

/* ---------------------------------------------------------------- vectors of numbers */

static inline Lanes3 add(Lanes3 a, Lanes3 b) { return (Lanes3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline Lanes3 sub(Lanes3 a, Lanes3 b) { return (Lanes3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline Lanes3 times(Lanes s, Vec3 v) { return (Lanes3){s * v.x, s * v.y, s * v.z}; }
static inline Lanes3 scaled(double s, Lanes3 v) { return (Lanes3){s * v.x, s * v.y, s * v.z}; }
static inline Lanes dot(Vec3 a, Lanes3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline Lanes3 mul(const Mat3* m, Lanes3 v) {
  return (Lanes3){m->m[0][0] * v.x + m->m[0][1] * v.y + m->m[0][2] * v.z,
                  m->m[1][0] * v.x + m->m[1][1] * v.y + m->m[1][2] * v.z,
                  m->m[2][0] * v.x + m->m[2][1] * v.y + m->m[2][2] * v.z};
}
/* Velocity of a point under unit motions along the three world axes e, one per lane. translation_columns: e.
 * rotation_columns: e x v, for a point at the arm v. */
static inline Lanes3 translation_columns(void) { return (Lanes3){{1}, {0, 1}, {0, 0, 1}}; }
static inline Lanes3 rotation_columns(Vec3 v) { return (Lanes3){{0, v.z, -v.y}, {-v.z, 0, v.x}, {v.y, -v.x, 0}}; }

/* ---------------------------------------------------------------- the system */

/* The growth distance in world axes and units of scale, with the inverse of the Jacobian of its optimality conditions
 * (G22). */
typedef struct {
  const Shape *a, *b;
  Pose pose_a, pose_b;
  double scale, distance; /* distance: distance of the centres, in units of scale */
  Vec3 d, p, s; /* d: unit direction between the centres; p, s = p - u d: from the centres of a and b to the points on
                   the bodies */
  double u, va, vb;
  ShapeValue fa, fb;
  Lanes3 t, ha, hb; /* t: tangent motions of p (lanes 0 and 1), grad phi_a (lane 2); ha: va H_a t; hb: vb H_b times the
                       motion of s */
  Lanes tu;         /* change of the centre distance u that belongs to the motions t */
  double inverse_hessian[2][2]; /* inverse of the 2 x 2 Hessian in the tangent motions */
  Lanes surface[ORDER]; /* rows of the inverse Jacobian; lanes: columns of phi_a, phi_b and the last condition */
  Lanes balance[ORDER]; /* rows of the inverse Jacobian; lanes: columns of the three balance conditions */
  double condition;
} LinearizedGrowth;

/* Returns column k of a matrix in three lanes. */
static inline Lanes column(const Mat3* m, int k) { return (Lanes){m->m[0][k], m->m[1][k], m->m[2][k]}; }

/* Transforms gradient and Hessian to the frame whose axes are the columns of r. rows: the matrix r as Mat3. */
static inline void rotate_value(ShapeValue* v, const Lanes r[3], const Mat3* rows) {
  Lanes gradient = r[0] * v->gradient.x + r[1] * v->gradient.y + r[2] * v->gradient.z, half[3], whole[3];
  for (int k = 0; k < 3; k++)
    half[k] = r[0] * v->hessian.m[0][k] + r[1] * v->hessian.m[1][k] + r[2] * v->hessian.m[2][k];
  for (int k = 0; k < 3; k++) whole[k] = half[0] * rows->m[k][0] + half[1] * rows->m[k][1] + half[2] * rows->m[k][2];
  v->gradient = vec3(gradient[0], gradient[1], gradient[2]);
  v->hessian = (Mat3){{{whole[0][0], whole[1][0], whole[2][0]},
                       {whole[1][0], whole[1][1], whole[2][1]},
                       {whole[2][0], whole[2][1], whole[2][2]}}};
}

static void linearize(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* g, LinearizedGrowth* x) {
  x->a = a;
  x->b = b;
  x->pose_a = pose_a;
  x->pose_b = pose_b;
  x->scale = growth_scale(a, b);
  double over = 1 / x->scale;
  Vec3 r = vec3_scale(vec3_sub(pose_b.t, pose_a.t), over);
  x->distance = vec3_norm(r);
  x->d = vec3_scale(r, 1 / x->distance);
  x->p = vec3_scale(vec3_sub(g->witness_a, pose_a.t), over);
  x->s = vec3_scale(vec3_sub(g->witness_b, pose_b.t), over);
  x->u = x->distance / g->alpha;
  x->va = g->multiplier_a * x->u / g->alpha;
  x->vb = g->multiplier_b * x->u / g->alpha;
  x->fa = g->at_a;
  x->fb = g->at_b;
  const Mat3* frame = g->of_b ? &x->pose_b.r : &x->pose_a.r;
  const Lanes axis[3] = {column(frame, 0), column(frame, 1), column(frame, 2)};
  rotate_value(&x->fa, axis, frame);
  rotate_value(&x->fb, axis, frame);
}

/* Returns true if the optimality conditions (G3) hold accurately enough for derivatives. A proven result bounds the
 * error of alpha only. alpha is stationary at its optimum. A point from the barrier method can therefore have an error
 * as large as the square root of the relative width of the bounds. */
static bool are_conditions_satisfied(const LinearizedGrowth* x) {
  Vec3 a = vec3_scale(x->fa.gradient, x->va), b = vec3_scale(x->fb.gradient, x->vb), rest = vec3_add(a, b);
  return vec3_dot(rest, rest) <= RESIDUAL_MAX * RESIDUAL_MAX * vec3_dot(a, a) &&
         fabs(vec3_dot(b, x->d) + 1) <= RESIDUAL_MAX;
}

static inline Vec3 lane(const Lanes3* v, int k) { return vec3(v->x[k], v->y[k], v->z[k]); }

static inline Lanes3 exchanged(Lanes3 v) { /* exchanges lanes 0 and 1 */
  return (Lanes3){__builtin_shufflevector(v.x, v.x, 1, 0, 2, 3), __builtin_shufflevector(v.y, v.y, 1, 0, 2, 3),
                  __builtin_shufflevector(v.z, v.z, 1, 0, 2, 3)};
}
static inline Lanes dots(Lanes3 a, Lanes3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static void factor(LinearizedGrowth* x) {
  Vec3 g = x->fa.gradient, t[2];
  growth_tangents(g, t);
  x->t = (Lanes3){{t[0].x, t[1].x, g.x}, {t[0].y, t[1].y, g.y}, {t[0].z, t[1].z, g.z}};
  x->tu = dot(x->fb.gradient, x->t) * (1 / vec3_dot(x->fb.gradient, x->d));
  Lanes3 s = sub(x->t, times(x->tu, x->d));
  x->ha = scaled(x->va, mul(&x->fa.hessian, x->t));
  x->hb = scaled(x->vb, mul(&x->fb.hessian, s));
  Lanes diagonal = dots(x->ha, x->t) + dots(x->hb, s), other = dots(x->ha, exchanged(x->t)) + dots(x->hb, exchanged(s));
  double inverse = 1 / (diagonal[0] * diagonal[1] - other[1] * other[1]);
  x->inverse_hessian[0][0] = diagonal[1] * inverse;
  x->inverse_hessian[1][1] = diagonal[0] * inverse;
  x->inverse_hessian[0][1] = x->inverse_hessian[1][0] = -other[1] * inverse;
}

/* Solves J y = f for J the Jacobian of the optimality conditions (G3). y: changes of contact point p, centre distance u
 * and multipliers va, vb. The given p and u satisfy the conditions that p lies on both surfaces. missing: residual of
 * stationarity along both tangent motions. balance, last: the corresponding entries of f. */
static inline void complete_solution(const LinearizedGrowth* x, Lanes3 p, Lanes u, const Lanes missing[2],
                                     Lanes3 balance, Lanes last, Lanes y[ORDER]) {
  Vec3 ga = x->fa.gradient, gb = x->fb.gradient, d = x->d;
  double over_a = 1 / vec3_dot(ga, ga), over_b = 1 / vec3_dot(gb, d);
  for (int i = 0; i < 2; i++) {
    Lanes along = x->inverse_hessian[i][0] * missing[0] + x->inverse_hessian[i][1] * missing[1];
    p = add(p, times(along, lane(&x->t, i)));
    u += along * x->tu[i];
  }
  Lanes3 push = scaled(x->vb, mul(&x->fb.hessian, sub(p, times(u, d))));
  y[0] = p.x;
  y[1] = p.y;
  y[2] = p.z;
  y[3] = u;
  y[5] = (last - dot(d, push)) * over_b;
  y[4] = (dot(ga, sub(sub(balance, push), times(y[5], gb))) - dot(lane(&x->ha, 2), p)) * over_a;
}

/* Sets y to the columns of the inverse Jacobian for three conditions: the point lies on surface a, the point lies on
 * surface b, and the condition that scales the multipliers. */
static inline void solve_surface(const LinearizedGrowth* x, Lanes y[ORDER]) {
  Vec3 ga = x->fa.gradient, gb = x->fb.gradient;
  const Lanes on_a = {1}, on_b = {0, 1}, last = {0, 0, 1}, none = {0};
  Lanes3 p = times(on_a * (1 / vec3_dot(ga, ga)), ga);
  Lanes u = (dot(gb, p) - on_b) * (1 / vec3_dot(gb, x->d)), missing[2];
  Lanes3 s = sub(p, times(u, x->d));
  for (int i = 0; i < 2; i++) missing[i] = none - x->tu[i] * last - dot(lane(&x->ha, i), p) - dot(lane(&x->hb, i), s);
  complete_solution(x, p, u, missing, (Lanes3){none, none, none}, last, y);
}

/* Sets y to the columns of the inverse Jacobian for the balance conditions: the weighted gradients of both bodies
 * cancel. */
static inline void solve_balance(const LinearizedGrowth* x, Lanes y[ORDER]) {
  const Lanes3* t = &x->t;
  const Lanes none = {0}, missing[2] = {{t->x[0], t->y[0], t->z[0]}, {t->x[1], t->y[1], t->z[1]}};
  complete_solution(x, (Lanes3){none, none, none}, none, missing, translation_columns(), none, y);
}

static double larger(double a, double b) { return a > b ? a : b; }

/* Returns the 1-norm of the Jacobian of the optimality conditions of the growth distance (G3). */
static double jacobian_norm(const LinearizedGrowth* x) {
  Vec3 hd = mat3_mul_vec(x->fb.hessian, x->d), ga = x->fa.gradient, gb = x->fb.gradient;
  const double a[3] = {ga.x, ga.y, ga.z}, b[3] = {gb.x, gb.y, gb.z}, h[3] = {hd.x, hd.y, hd.z};
  double bd = fabs(vec3_dot(gb, x->d)), sum_a = 0, sum_b = 0, sum_h = 0, norm = 0;
  for (int k = 0; k < 3; k++) {
    double sum = fabs(a[k]) + fabs(b[k]) + x->vb * fabs(h[k]);
    for (int l = 0; l < 3; l++) sum += fabs(x->va * x->fa.hessian.m[l][k] + x->vb * x->fb.hessian.m[l][k]);
    norm = larger(norm, sum);
    sum_a += fabs(a[k]);
    sum_b += fabs(b[k]);
    sum_h += x->vb * fabs(h[k]);
  }
  return larger(larger(norm, bd + sum_h + x->vb * fabs(vec3_dot(hd, x->d))), larger(sum_a, sum_b + bd));
}

/* Inverts the Jacobian of the optimality conditions and sets x->condition to the condition number in the 1-norm.
 * Returns false if the inverse is not finite. */
static bool invert_jacobian(LinearizedGrowth* x) {
  Lanes surface = {0}, balance = {0};
  factor(x);
  solve_surface(x, x->surface);
  solve_balance(x, x->balance);
  for (int r = 0; r < ORDER; r++) {
    surface += lanes_abs(x->surface[r]);
    balance += lanes_abs(x->balance[r]);
  }
  Lanes most = lanes_elementwise_max(surface, balance), all = surface + balance;
  if (!isfinite(all[0] + all[1] + all[2])) return false;
  x->condition = larger(larger(most[0], most[1]), most[2]) * jacobian_norm(x);
  return isfinite(x->condition);
}

/* ---------------------------------------------------------------- causes (displacements and parameters) and
 * derivatives */

/* Partial derivatives of the optimality conditions with respect to displacements or shape parameters, one per lane, at
 * constant unknowns. The centre of a does not move. */
typedef struct {
  /* derivatives of the centre of body b, and of the unit direction d from the centre of a to the centre of b */
  Lanes3 centre_b, d;
  Lanes length; /* derivative of the distance of the centres */
  Lanes phi_a, phi_b;
  Lanes3 grad_a, grad_b;
} Displacement;

/* Kind of displacement. BY_ROTATION and BY_TRANSLATION rotate and translate body b, while a is fixed. Only
 * BY_TRANSLATION changes the distance and direction between the centres. Only BY_SHAPE can change the surface of a. */
typedef enum { BY_ROTATION, BY_TRANSLATION, BY_SHAPE } DisplacementKind;

static inline void rotation_displacement(const LinearizedGrowth* x, Displacement* c) {
  Lanes3 s = rotation_columns(vec3_scale(x->s, -1));
  c->phi_b = dot(x->fb.gradient, s);
  c->grad_b = add(rotation_columns(x->fb.gradient), mul(&x->fb.hessian, s));
}

static inline void translation_displacement(const LinearizedGrowth* x, Displacement* c) {
  c->centre_b = translation_columns();
  c->length = (Lanes){x->d.x, x->d.y, x->d.z};
  c->d = scaled(1 / x->distance, sub(translation_columns(), times(c->length, x->d)));
  Lanes3 s = scaled(-x->u, c->d);
  c->phi_b = dot(x->fb.gradient, s);
  c->grad_b = mul(&x->fb.hessian, s);
}

/* Sets lane `lane` to the partial derivatives with respect to shape parameter k. The count_a parameters of a come
 * first, then the parameters of b. */
static void parameter_displacement(const LinearizedGrowth* x, int count_a, int k, int lane, Displacement* c) {
  bool of_b = k >= count_a;
  double value;
  Vec3 gradient;
  const Shape* shape = of_b ? x->b : x->a;
  Mat3 r = of_b ? x->pose_b.r : x->pose_a.r;
  Vec3 place = vec3_scale(mat3_tmul_vec(r, of_b ? x->s : x->p), x->scale);
  shape_parameter_derivative(shape, place, of_b ? k - count_a : k, &value, &gradient);
  gradient = vec3_scale(mat3_mul_vec(r, gradient), x->scale);
  Lanes3* grad = of_b ? &c->grad_b : &c->grad_a;
  (of_b ? &c->phi_b : &c->phi_a)[0][lane] = value;
  grad->x[lane] = gradient.x;
  grad->y[lane] = gradient.y;
  grad->z[lane] = gradient.z;
}

static void write_components(Lanes3 v, Lanes out[3]) {
  out[0] = v.x;
  out[1] = v.y;
  out[2] = v.z;
}

/* Sets y to the derivatives of the contact point p, the centre distance u and the multipliers va, vb with respect to
 * the displacements in *c. */
static inline void differentiate_unknowns(const LinearizedGrowth* x, const Displacement* c, DisplacementKind kind,
                                          Lanes y[ORDER]) {
  Lanes3 balance = scaled(x->vb, c->grad_b);
  if (kind == BY_SHAPE) balance = add(scaled(x->va, c->grad_a), balance);
  Lanes last = dot(x->d, c->grad_b);
  if (kind == BY_TRANSLATION) last += dot(x->fb.gradient, c->d);
  last *= x->vb;
  for (int r = 0; r < ORDER; r++) {
    const Lanes *s = &x->surface[r], *b = &x->balance[r];
    Lanes out = {0};
    if (kind == BY_SHAPE) out -= (*s)[0] * c->phi_a;
    out -= (*s)[1] * c->phi_b;
    y[r] = out - (*b)[0] * balance.x - (*b)[1] * balance.y - (*b)[2] * balance.z - (*s)[2] * last;
  }
}

/* Sets rows to the derivatives of all outputs with respect to the displacements in *c. */
static inline void differentiate_outputs(const LinearizedGrowth* x, const Displacement* c, DisplacementKind kind,
                                         Lanes rows[GROWTH_ROWS]) {
  Lanes y[ORDER];
  differentiate_unknowns(x, c, kind, y);
  double scale = x->scale, over = 1 / vec3_norm(x->fa.gradient), per_length = 1 / x->distance, per_u = 1 / x->u;
  double alpha = x->distance * per_u, growth = alpha * alpha * per_length;
  Vec3 n = vec3_scale(x->fa.gradient, over);
  Lanes3 dp = {y[0], y[1], y[2]}, ds = sub(dp, times(y[3], x->d)), dg = mul(&x->fa.hessian, dp);
  Lanes gap = kind == BY_TRANSLATION ? c->length - y[3] : -y[3];
  Lanes by_alpha = (kind == BY_TRANSLATION ? c->length - alpha * y[3] : -alpha * y[3]) * per_u, stretch = 2 * by_alpha;
  if (kind == BY_TRANSLATION) {
    ds = add(c->centre_b, sub(ds, scaled(x->u, c->d)));
    stretch -= (alpha * per_length) * c->length;
  }
  if (kind == BY_SHAPE) dg = add(dg, c->grad_a);
  stretch *= alpha * per_length; /* multiplier of alpha = multiplier v of the growth problem * alpha^2 / distance */
  rows[GROWTH_ALPHA] = by_alpha;
  rows[GROWTH_GAP] = scale * gap;
  write_components(scaled(scale, add(times(by_alpha, x->p), scaled(alpha, dp))), rows + GROWTH_POINT);
  write_components(scaled(over, sub(dg, times(dot(n, dg), n))), rows + GROWTH_NORMAL);
  write_components(scaled(scale, dp), rows + GROWTH_WITNESS_A);
  write_components(scaled(scale, ds), rows + GROWTH_WITNESS_B);
  rows[GROWTH_MULTIPLIERS] = growth * y[4] + x->va * stretch;
  rows[GROWTH_MULTIPLIERS + 1] = growth * y[5] + x->vb * stretch;
}

static void store_rows(const Lanes rows[GROWTH_ROWS], int count, double* out, int stride) {
  for (int r = 0; r < GROWTH_ROWS; r++) memcpy(out + r * stride, &rows[r], sizeof(double) * (size_t)count);
}

/* Writes one row of derivatives with respect to both poses. all_turns, all_moves: derivatives when both bodies rotate
 * or translate together, which only transforms positions and directions. The columns of a are all_turns and all_moves
 * minus the columns of b. A rotation of both bodies about a's centre also translates b by e x r for the axis e. Each
 * 4-lane store overwrites the unused last lane of the previous one. */
static inline void write_row(Lanes turns, Lanes moves, Lanes all_turns, Lanes all_moves, Vec3 r, double* out) {
  const Lanes next = {r.y, r.z, r.x}, last = {r.z, r.x, r.y}; /* r x m = next * m_last - last * m_next */
  Lanes m_next = __builtin_shufflevector(moves, moves, 1, 2, 0, 3);
  Lanes m_last = __builtin_shufflevector(moves, moves, 2, 0, 1, 3);
  Lanes turns_a = all_turns - (turns + (next * m_last - last * m_next)), moves_a = all_moves - moves;
  Lanes first = __builtin_shufflevector(turns_a, moves_a, 0, 1, 2, 4);
  Lanes second = __builtin_shufflevector(moves_a, turns, 1, 2, 4, 5);
  Lanes third = __builtin_shufflevector(turns, moves, 2, 4, 5, 6);
  memcpy(out, &first, sizeof first);
  memcpy(out + 4, &second, sizeof second);
  memcpy(out + 8, &third, sizeof third);
}

static void write_pose_columns(const LinearizedGrowth* x, const Growth* g, double* out, int columns) {
  Lanes turned[GROWTH_ROWS], moved[GROWTH_ROWS];
  Displacement turns, moves;
  rotation_displacement(x, &turns);
  differentiate_outputs(x, &turns, BY_ROTATION, turned);
  translation_displacement(x, &moves);
  differentiate_outputs(x, &moves, BY_TRANSLATION, moved);
  double by = 1 / x->scale; /* converts derivatives per unit length `scale` to derivatives per metre */
  for (int i = 0; i < GROWTH_ROWS; i++) moved[i] *= by;
  const Vec3 r = vec3_sub(x->pose_b.t, x->pose_a.t), place[3] = {g->point, g->witness_a, g->witness_b};
  const int point[3] = {GROWTH_POINT, GROWTH_WITNESS_A, GROWTH_WITNESS_B};
  const Lanes none = {0};
  const Lanes3 all_moves = translation_columns(), carried = rotation_columns(g->normal);
  const int still[4] = {GROWTH_ALPHA, GROWTH_GAP, GROWTH_MULTIPLIERS, GROWTH_MULTIPLIERS + 1};
  for (int k = 0; k < 4; k++)
    write_row(turned[still[k]], moved[still[k]], none, none, r, out + (ptrdiff_t)still[k] * columns);
  for (int k = 0; k < 3; k++) {
    const int at = point[k];
    Lanes3 all_turns = rotation_columns(vec3_sub(place[k], x->pose_a.t));
    write_row(turned[at], moved[at], all_turns.x, all_moves.x, r, out + (ptrdiff_t)at * columns);
    write_row(turned[at + 1], moved[at + 1], all_turns.y, all_moves.y, r, out + (ptrdiff_t)(at + 1) * columns);
    write_row(turned[at + 2], moved[at + 2], all_turns.z, all_moves.z, r, out + (ptrdiff_t)(at + 2) * columns);
  }
  const int at = GROWTH_NORMAL;
  write_row(turned[at], moved[at], carried.x, none, r, out + (ptrdiff_t)at * columns);
  write_row(turned[at + 1], moved[at + 1], carried.y, none, r, out + (ptrdiff_t)(at + 1) * columns);
  write_row(turned[at + 2], moved[at + 2], carried.z, none, r, out + (ptrdiff_t)(at + 2) * columns);
}

const char* growth_derivatives(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* answer,
                               bool parameters, double* out, double* condition) {
  assert(answer && out && condition);
  *condition = HUGE_VAL;
  if (answer->coincident) return "the centres coincide";
  if (!answer->proved) return "the answer is not proved";
  LinearizedGrowth x;
  linearize(a, pose_a, b, pose_b, answer, &x);
  if (x.distance < CENTRE_DISTANCE_MIN) return "the centres coincide";
  if (!are_conditions_satisfied(&x)) return "the contact point is not accurate enough for derivatives";
  if (!invert_jacobian(&x)) return "the system is singular";
  *condition = x.condition;
  if (!(x.condition <= QUERY_CONDITION_MAX)) return "the condition of the system is above 1e8";
  int count_a = parameters ? shape_parameter_count(a) : 0, own_b = parameters ? shape_parameter_count(b) : 0;
  int shape_columns = count_a + own_b, columns = QUERY_POSE_COLUMNS + shape_columns;
  write_pose_columns(&x, answer, out, columns);
  for (int k = 0; k < shape_columns; k += LANES) {
    Displacement cause = {.length = {0}};
    Lanes rows[GROWTH_ROWS];
    int count = shape_columns - k < LANES ? shape_columns - k : LANES;
    for (int i = 0; i < count; i++) parameter_displacement(&x, count_a, k + i, i, &cause);
    differentiate_outputs(&x, &cause, BY_SHAPE, rows);
    store_rows(rows, count, out + QUERY_POSE_COLUMNS + k, columns);
  }
  return NULL;
}

/* The gradient of the growth distance alpha follows from the gradient of the gap and gap = |r| (1 - 1 / alpha), with
 * the vector r between the centres (G25). */
const char* growth_slopes(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* answer,
                          double alpha[QUERY_POSE_COLUMNS], double gap[QUERY_POSE_COLUMNS]) {
  if (answer->coincident) return "the centres coincide";
  if (!answer->proved) return "the answer is not proved";
  LinearizedGrowth x;
  linearize(a, pose_a, b, pose_b, answer, &x);
  if (x.distance < CENTRE_DISTANCE_MIN) return "the centres coincide";
  if (!are_conditions_satisfied(&x)) return "the contact point is not accurate enough for derivatives";
  const double length = x.distance * x.scale, growth = answer->alpha, part = 1 - 1 / growth;
  const double by_length[3] = {x.d.x, x.d.y, x.d.z};
  growth_gap_gradient(pose_a, pose_b, answer, gap);
  for (int k = 0; k < QUERY_POSE_COLUMNS; k++) {
    double longer = k % 6 < 3 ? 0 : (k < 6 ? -1 : 1) * by_length[k % 3];
    alpha[k] = growth * growth / length * (gap[k] - part * longer);
  }
  return NULL;
}
