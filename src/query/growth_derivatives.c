/* Derivatives of a growth answer: the implicit function theorem on its conditions (G3), several displacements at a
 * time.
 */
#include <string.h>
#define LANES 8
#include "base/lanes.h"
#include "query/growth.h"

enum { ORDER = 6 };
/* Centres nearer than this, of the bodies' size: the direction between them, and all that follows, is rounding. */
#define CENTRES_APART 1e-8
/* What may be left of the conditions of the optimum, which are 1. */
#define BALANCED 1e-7

/* ---------------------------------------------------------------- several numbers at a time */

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
/* Of motions of a body: lanes 0 to 2 turn it about the world's axes e, lanes 3 to 5 move it along them; e, e x v. */
enum { MOTIONS = 6 };
static inline Lanes3 axes(void) { return (Lanes3){{0, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 1}}; }
static inline Lanes3 swept(Vec3 v) { return (Lanes3){{0, v.z, -v.y}, {-v.z, 0, v.x}, {v.y, -v.x, 0}}; }

/* ---------------------------------------------------------------- the system */

/* The answer in world axes and units of scale, and the system's solution by motions along the surfaces (G22). */
typedef struct {
  const Shape *a, *b;
  Pose pose_a, pose_b;
  double scale, distance; /* distance: |r| in units of scale */
  Vec3 d, p, s;           /* p, s = p - u d: from the centres to the points on the bodies */
  double u, va, vb;
  ShapeValue fa, fb;
  Vec3 t[2], ha[2], hb[2], across; /* motions of p, what they change, va H_a grad phi_a */
  double tu[2], bend[2][2];        /* of u; the inverse of the Hessian along both */
  Lanes inverse[ORDER];            /* rows; columns in lanes */
  double condition;
} Answer;

static void turn_value(ShapeValue* v, Mat3 r) {
  v->gradient = mat3_mul_vec(r, v->gradient);
  v->hessian = mat3_turned(r, v->hessian);
}

static void answer_of(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* g, Answer* x) {
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
  Mat3 frame = g->of_b ? pose_b.r : pose_a.r;
  turn_value(&x->fa, frame);
  turn_value(&x->fb, frame);
}

/* Do the conditions (G3) hold, so that their derivatives are the answer's? A proof bounds alpha alone, which is flat at
 * its optimum: the point of the method that cannot fail may be known to the root of that. */
static bool holds(const Answer* x) {
  Vec3 a = vec3_scale(x->fa.gradient, x->va), b = vec3_scale(x->fb.gradient, x->vb);
  return vec3_norm(vec3_add(a, b)) <= BALANCED * vec3_norm(a) && fabs(vec3_dot(b, x->d) + 1) <= BALANCED;
}

static void factor(Answer* x) {
  Vec3 ga = x->fa.gradient, gb = x->fb.gradient, s[2];
  double over = 1 / vec3_dot(gb, x->d), h[2][2];
  growth_across(ga, x->t);
  for (int i = 0; i < 2; i++) {
    x->tu[i] = vec3_dot(gb, x->t[i]) * over;
    s[i] = vec3_add_scaled(x->t[i], -x->tu[i], x->d);
    x->ha[i] = vec3_scale(mat3_mul_vec(x->fa.hessian, x->t[i]), x->va);
    x->hb[i] = vec3_scale(mat3_mul_vec(x->fb.hessian, s[i]), x->vb);
    for (int k = 0; k <= i; k++) h[i][k] = vec3_dot(x->ha[i], x->t[k]) + vec3_dot(x->hb[i], s[k]);
  }
  double inverse = 1 / (h[0][0] * h[1][1] - h[1][0] * h[1][0]);
  x->bend[0][0] = h[1][1] * inverse;
  x->bend[1][1] = h[0][0] * inverse;
  x->bend[0][1] = x->bend[1][0] = -h[1][0] * inverse;
  x->across = vec3_scale(mat3_mul_vec(x->fa.hessian, ga), x->va);
}

/* y: of p, u, va, vb with J y = f, J the Jacobian of (G3). */
static void solve(const Answer* x, const Lanes f[ORDER], Lanes y[ORDER]) {
  Vec3 ga = x->fa.gradient, gb = x->fb.gradient, d = x->d;
  double over_a = 1 / vec3_dot(ga, ga), over_b = 1 / vec3_dot(gb, d);
  Lanes3 balance = {f[2], f[3], f[4]}, p = times(f[0] * over_a, ga);
  Lanes u = (dot(gb, p) - f[1]) * over_b, g[2];
  Lanes3 s = sub(p, times(u, d));
  for (int i = 0; i < 2; i++) g[i] = dot(x->t[i], balance) - x->tu[i] * f[5] - dot(x->ha[i], p) - dot(x->hb[i], s);
  for (int i = 0; i < 2; i++) {
    Lanes along = x->bend[i][0] * g[0] + x->bend[i][1] * g[1];
    p = add(p, times(along, x->t[i]));
    u += along * x->tu[i];
  }
  Lanes3 push = scaled(x->vb, mul(&x->fb.hessian, sub(p, times(u, d))));
  y[0] = p.x;
  y[1] = p.y;
  y[2] = p.z;
  y[3] = u;
  y[5] = (f[5] - dot(d, push)) * over_b;
  y[4] = (dot(ga, sub(sub(balance, push), times(y[5], gb))) - dot(x->across, p)) * over_a;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* The largest sum of the magnitudes in a column of J. */
static double norm_of(const Answer* x) {
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

/* The inverse of J, and its condition in the 1-norm. */
static bool invert(Answer* x) {
  double norm = 0;
  Lanes f[ORDER] = {{0}}, sum = {0};
  factor(x);
  for (int k = 0; k < ORDER; k++) f[k][k] = 1;
  solve(x, f, x->inverse);
  for (int r = 0; r < ORDER; r++) sum += lanes_magnitude(x->inverse[r]);
  for (int k = 0; k < ORDER; k++) {
    if (!isfinite(sum[k])) return false;
    norm = larger(norm, sum[k]);
  }
  x->condition = norm * norm_of(x);
  return isfinite(x->condition);
}

/* ---------------------------------------------------------------- causes and what they change */

/* What displacements change by themselves, the unknowns held. */
typedef struct {
  Lanes3 centre_a, centre_b; /* how the centres move */
  Lanes length;              /* |r| */
  Lanes phi_a, phi_b;
  Lanes3 grad_a, grad_b, d;
} Cause;

/* b's motions. Every member is set: to clear them all before takes a tenth of the whole. */
static void motion_cause(const Answer* x, Cause* c) {
  const Lanes none = lanes_of(0);
  c->centre_a = c->grad_a = (Lanes3){none, none, none};
  c->phi_a = none;
  c->centre_b = axes();
  c->length = (Lanes){0, 0, 0, x->d.x, x->d.y, x->d.z};
  c->d = scaled(1 / x->distance, sub(axes(), times(c->length, x->d)));
  Lanes3 s = sub(scaled(-x->u, c->d), swept(x->s));
  c->phi_b = dot(x->fb.gradient, s);
  c->grad_b = add(swept(x->fb.gradient), mul(&x->fb.hessian, s));
}

/* Lane `lane`: parameter k of a's, then b's. */
static void shape_cause(const Answer* x, int own_a, int k, int lane, Cause* c) {
  bool of_b = k >= own_a;
  double value;
  Vec3 gradient;
  const Shape* shape = of_b ? x->b : x->a;
  Mat3 r = of_b ? x->pose_b.r : x->pose_a.r;
  Vec3 place = vec3_scale(mat3_tmul_vec(r, of_b ? x->s : x->p), x->scale);
  shape_parameter_slope(shape, place, of_b ? k - own_a : k, &value, &gradient);
  gradient = vec3_scale(mat3_mul_vec(r, gradient), x->scale);
  Lanes3* grad = of_b ? &c->grad_b : &c->grad_a;
  (of_b ? &c->phi_b : &c->phi_a)[0][lane] = value;
  grad->x[lane] = gradient.x;
  grad->y[lane] = gradient.y;
  grad->z[lane] = gradient.z;
}

static void put(Lanes3 v, Lanes out[3]) {
  out[0] = v.x;
  out[1] = v.y;
  out[2] = v.z;
}

/* The unknowns' change by the system, then every output's. */
static void rows_of(const Answer* x, const Cause* c, Lanes rows[GROWTH_ROWS]) {
  Vec3 ga = x->fa.gradient, gb = x->fb.gradient;
  Lanes3 balance = add(scaled(x->va, c->grad_a), scaled(x->vb, c->grad_b));
  const Lanes f[ORDER] = {c->phi_a,  c->phi_b,  balance.x,
                          balance.y, balance.z, x->vb * (dot(x->d, c->grad_b) + dot(gb, c->d))};
  Lanes y[ORDER];
  for (int r = 0; r < ORDER; r++) {
    y[r] = lanes_of(0);
    for (int k = 0; k < ORDER; k++) y[r] -= x->inverse[r][k] * f[k];
  }
  double alpha = x->distance / x->u, scale = x->scale, over = 1 / vec3_norm(ga), growth = alpha * alpha;
  Vec3 n = vec3_scale(ga, over);
  Lanes3 dp = {y[0], y[1], y[2]}, ds = sub(sub(dp, times(y[3], x->d)), scaled(x->u, c->d));
  Lanes by_alpha = (c->length - alpha * y[3]) / x->u;
  Lanes3 dg = add(mul(&x->fa.hessian, dp), c->grad_a);
  /* lambda = v alpha^2 / |r| */
  Lanes stretch = alpha * (2 * by_alpha - (alpha / x->distance) * c->length);
  rows[GROWTH_ALPHA] = by_alpha;
  rows[GROWTH_GAP] = scale * (c->length - y[3]);
  put(scaled(scale, add(c->centre_a, add(times(by_alpha, x->p), scaled(alpha, dp)))), rows + GROWTH_POINT);
  put(scaled(over, sub(dg, times(dot(n, dg), n))), rows + GROWTH_NORMAL);
  put(scaled(scale, add(c->centre_a, dp)), rows + GROWTH_WITNESS_A);
  put(scaled(scale, add(c->centre_b, ds)), rows + GROWTH_WITNESS_B);
  rows[GROWTH_MULTIPLIERS] = (growth * y[4] + x->va * stretch) / x->distance;
  rows[GROWTH_MULTIPLIERS + 1] = (growth * y[5] + x->vb * stretch) / x->distance;
}

static void store(const Lanes rows[GROWTH_ROWS], int count, double* out, int stride) {
  for (int r = 0; r < GROWTH_ROWS; r++) memcpy(out + r * stride, &rows[r], sizeof(double) * (size_t)count);
}

/* How a turn of everything about a's centre, a move of everything carry the answer: points and directions, nothing
 * else. */
static void carried(const Answer* x, const Growth* g, Lanes rows[GROWTH_ROWS]) {
  const int point[3] = {GROWTH_POINT, GROWTH_WITNESS_A, GROWTH_WITNESS_B};
  const Vec3 place[3] = {g->point, g->witness_a, g->witness_b};
  for (int r = 0; r < GROWTH_ROWS; r++) rows[r] = lanes_of(0);
  for (int k = 0; k < 3; k++) put(add(swept(vec3_sub(place[k], x->pose_a.t)), axes()), rows + point[k]);
  put(swept(g->normal), rows + GROWTH_NORMAL);
}

/* Everything moved alike changes nothing but places and directions, so a's motion does what that does less what b's
 * does; a turn of everything about a's centre also moves b, by e x r. */
static void pose_columns(const Answer* x, const Growth* g, double* out, int columns) {
  Lanes of_b[GROWTH_ROWS], of_a[GROWTH_ROWS];
  Cause motions;
  motion_cause(x, &motions);
  rows_of(x, &motions, of_b);
  double by = 1 / x->scale; /* motions of the world's lengths */
  const Lanes factor = {1, 1, 1, by, by, by};
  Vec3 r = vec3_sub(x->pose_b.t, x->pose_a.t);
  const Lanes next = {r.y, r.z, r.x}, last = {r.z, r.x, r.y}; /* r x m = next m_last - last m_next */
  carried(x, g, of_a);
  for (int i = 0; i < GROWTH_ROWS; i++) {
    Lanes row = of_b[i] *= factor;
    Lanes m_next = __builtin_shufflevector(row, row, 4, 5, 3, 6, 6, 6, 6, 6);
    Lanes m_last = __builtin_shufflevector(row, row, 5, 3, 4, 6, 6, 6, 6, 6);
    of_a[i] -= row + (next * m_last - last * m_next);
  }
  store(of_b, MOTIONS, out + MOTIONS, columns);
  store(of_a, MOTIONS, out, columns);
}

const char* growth_derivatives(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* answer,
                               bool parameters, double* out, double* condition) {
  *condition = HUGE_VAL;
  if (answer->coincident) return "the centres coincide";
  if (!answer->proved) return "the answer is not proved";
  Answer x;
  answer_of(a, pose_a, b, pose_b, answer, &x);
  if (x.distance < CENTRES_APART) return "the centres coincide";
  if (!holds(&x)) return "the point is not known well enough";
  if (!invert(&x)) return "the system is singular";
  *condition = x.condition;
  if (!(x.condition <= QUERY_CONDITION_MAX)) return "the condition of the system is above 1e8";
  int own_a = parameters ? shape_parameter_count(a) : 0, own_b = parameters ? shape_parameter_count(b) : 0;
  int own = own_a + own_b, columns = QUERY_POSE_COLUMNS + own;
  pose_columns(&x, answer, out, columns);
  for (int k = 0; k < own; k += LANES) {
    Cause cause = {.length = {0}};
    Lanes rows[GROWTH_ROWS];
    int count = own - k < LANES ? own - k : LANES;
    for (int i = 0; i < count; i++) shape_cause(&x, own_a, k + i, i, &cause);
    rows_of(&x, &cause, rows);
    store(rows, count, out + QUERY_POSE_COLUMNS + k, columns);
  }
  return NULL;
}
