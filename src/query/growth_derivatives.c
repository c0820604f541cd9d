/* Derivatives of a growth answer: the implicit function theorem on its conditions (G3). */
#include "query/growth.h"
#include "query/small_solve.h"

enum { ORDER = 6 };
/* Centres nearer than this, of the bodies' size: the direction between them, and all that follows, is rounding. */
#define CENTRES_APART 1e-8
/* What may be left of the conditions of the optimum, which are 1. */
#define BALANCED 1e-7

/* The answer in world axes and units of scale. */
typedef struct {
  const Shape *a, *b;
  Pose pose_a, pose_b;
  double scale, distance; /* distance: |r| in units of scale */
  Vec3 d, p, s;           /* p, s = p - u d: from the centres to the points on the bodies */
  double u, va, vb;
  ShapeValue fa, fb;
  double inverse[ORDER][ORDER];
  double condition;
} Answer;

static ShapeValue turned(const Shape* shape, Mat3 r, Vec3 place, double scale) {
  ShapeValue v = shape_evaluate(shape, vec3_scale(mat3_tmul_vec(r, place), scale));
  v.gradient = vec3_scale(mat3_mul_vec(r, v.gradient), scale);
  v.hessian = mat3_scale(mat3_mul(mat3_mul(r, v.hessian), mat3_transpose(r)), scale * scale);
  return v;
}

static Answer answer_of(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* g) {
  Answer x = {.a = a, .b = b, .pose_a = pose_a, .pose_b = pose_b};
  x.scale = ldexp(1, ilogb(a->outer + b->outer));
  double over = 1 / x.scale;
  Vec3 r = vec3_scale(vec3_sub(pose_b.t, pose_a.t), over);
  x.distance = vec3_norm(r);
  x.d = vec3_scale(r, 1 / x.distance);
  x.p = vec3_scale(vec3_sub(g->witness_a, pose_a.t), over);
  x.s = vec3_scale(vec3_sub(g->witness_b, pose_b.t), over);
  x.u = x.distance / g->alpha;
  x.va = g->multiplier_a * x.u / g->alpha;
  x.vb = g->multiplier_b * x.u / g->alpha;
  x.fa = turned(a, pose_a.r, x.p, x.scale);
  x.fb = turned(b, pose_b.r, x.s, x.scale);
  return x;
}

/* Do the conditions (G3) hold, so that their derivatives are the answer's? A proof bounds alpha alone, which is flat at
 * its optimum: the point of the method that cannot fail may be known to the root of that. */
static bool holds(const Answer* x) {
  Vec3 a = vec3_scale(x->fa.gradient, x->va), b = vec3_scale(x->fb.gradient, x->vb);
  return vec3_norm(vec3_add(a, b)) <= BALANCED * vec3_norm(a) && fabs(vec3_dot(b, x->d) + 1) <= BALANCED;
}

/* The Jacobian of (G3) by p, u, va, vb, inverted; its condition in the 1-norm. */
static bool invert(Answer* x) {
  double j[ORDER][ORDER] = {{0}};
  int row[ORDER] = {0};
  Vec3 hd = mat3_mul_vec(x->fb.hessian, x->d);
  const double a[3] = {x->fa.gradient.x, x->fa.gradient.y, x->fa.gradient.z};
  const double b[3] = {x->fb.gradient.x, x->fb.gradient.y, x->fb.gradient.z}, h[3] = {hd.x, hd.y, hd.z};
  double bd = vec3_dot(x->fb.gradient, x->d);
  for (int k = 0; k < 3; k++) {
    j[0][k] = a[k];
    j[1][k] = b[k];
    for (int l = 0; l < 3; l++) j[2 + k][l] = x->va * x->fa.hessian.m[k][l] + x->vb * x->fb.hessian.m[k][l];
    j[2 + k][3] = -x->vb * h[k];
    j[2 + k][4] = a[k];
    j[2 + k][5] = b[k];
    j[5][k] = x->vb * h[k];
  }
  j[1][3] = -bd;
  j[5][3] = -x->vb * vec3_dot(hd, x->d);
  j[5][5] = bd;
  x->condition = lu_inverse(ORDER, ORDER, &j[0][0], row, &x->inverse[0][0]);
  return isfinite(x->condition);
}

/* What one displacement changes by itself, the unknowns held. */
typedef struct {
  Vec3 centre_a, centre_b; /* how the centres move */
  double length;           /* |r| */
  double phi_a, phi_b;
  Vec3 grad_a, grad_b;
  Vec3 d;
} Cause;

static void move_cause(const Answer* x, bool of_b, Vec3 e, Cause* c) {
  double sign = of_b ? 1 : -1;
  *(of_b ? &c->centre_b : &c->centre_a) = e;
  c->length = sign * vec3_dot(e, x->d);
  c->d = vec3_scale(vec3_add_scaled(e, -vec3_dot(e, x->d), x->d), sign / x->distance);
  Vec3 s = vec3_scale(c->d, -x->u);
  c->phi_b = vec3_dot(x->fb.gradient, s);
  c->grad_b = mat3_mul_vec(x->fb.hessian, s);
}

static void turn_cause(const Answer* x, bool of_b, Vec3 e, Cause* c) {
  const ShapeValue* f = of_b ? &x->fb : &x->fa;
  Vec3 sweep = vec3_cross(e, of_b ? x->s : x->p);
  *(of_b ? &c->phi_b : &c->phi_a) = -vec3_dot(f->gradient, sweep);
  *(of_b ? &c->grad_b : &c->grad_a) = vec3_sub(vec3_cross(e, f->gradient), mat3_mul_vec(f->hessian, sweep));
}

static void shape_cause(const Answer* x, bool of_b, int k, Cause* c) {
  double value;
  Vec3 gradient;
  const Shape* shape = of_b ? x->b : x->a;
  Mat3 r = of_b ? x->pose_b.r : x->pose_a.r;
  shape_parameter_slope(shape, vec3_scale(mat3_tmul_vec(r, of_b ? x->s : x->p), x->scale), k, &value, &gradient);
  *(of_b ? &c->phi_b : &c->phi_a) = value;
  *(of_b ? &c->grad_b : &c->grad_a) = vec3_scale(mat3_mul_vec(r, gradient), x->scale);
}

/* One column: the unknowns' change by the system, then every output's. */
static void column_of(const Answer* x, const Cause* c, double* out, int stride) {
  Vec3 ga = x->fa.gradient, gb = x->fb.gradient;
  Vec3 balance = vec3_add(vec3_scale(c->grad_a, x->va), vec3_scale(c->grad_b, x->vb));
  double f[ORDER] = {c->phi_a,  c->phi_b,  balance.x,
                     balance.y, balance.z, x->vb * (vec3_dot(c->grad_b, x->d) + vec3_dot(gb, c->d))};
  double y[ORDER];
  for (int r = 0; r < ORDER; r++) {
    y[r] = 0;
    for (int k = 0; k < ORDER; k++) y[r] -= x->inverse[r][k] * f[k];
  }
  Vec3 dp = vec3(y[0], y[1], y[2]), n = vec3_normalized(ga);
  double u = x->u, alpha = x->distance / u, scale = x->scale;
  double by_alpha = (c->length - alpha * y[3]) / u;
  Vec3 ds = vec3_sub(vec3_add_scaled(dp, -y[3], x->d), vec3_scale(c->d, u));
  Vec3 dg = vec3_add(mat3_mul_vec(x->fa.hessian, dp), c->grad_a);
  Vec3 dn = vec3_scale(vec3_add_scaled(dg, -vec3_dot(dg, n), n), 1 / vec3_norm(ga));
  Vec3 point = vec3_add(c->centre_a, vec3_add(vec3_scale(x->p, by_alpha), vec3_scale(dp, alpha)));
  Vec3 wa = vec3_add(c->centre_a, dp), wb = vec3_add(c->centre_b, ds);
  double growth = alpha * alpha;
  const double rows[GROWTH_ROWS] = {
      by_alpha,
      scale * (c->length - y[3]),
      scale * point.x,
      scale * point.y,
      scale * point.z,
      dn.x,
      dn.y,
      dn.z,
      scale * wa.x,
      scale * wa.y,
      scale * wa.z,
      scale * wb.x,
      scale * wb.y,
      scale * wb.z,
      /* lambda = v alpha^2 / |r| */
      (growth * y[4] + x->va * alpha * (2 * by_alpha - alpha * c->length / x->distance)) / x->distance,
      (growth * y[5] + x->vb * alpha * (2 * by_alpha - alpha * c->length / x->distance)) / x->distance,
  };
  for (int r = 0; r < GROWTH_ROWS; r++) out[r * stride] = rows[r];
}

const char* growth_derivatives(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* answer,
                               bool parameters, double* out, double* condition) {
  *condition = HUGE_VAL;
  if (answer->coincident) return "the centres coincide";
  if (!answer->proved) return "the answer is not proved";
  Answer x = answer_of(a, pose_a, b, pose_b, answer);
  if (x.distance < CENTRES_APART) return "the centres coincide";
  if (!holds(&x)) return "the point is not known well enough";
  if (!invert(&x)) return "the system is singular";
  *condition = x.condition;
  if (!(x.condition <= QUERY_CONDITION_MAX)) return "the condition of the system is above 1e8";
  int own_a = parameters ? shape_parameter_count(a) : 0, own_b = parameters ? shape_parameter_count(b) : 0;
  int columns = QUERY_POSE_COLUMNS + own_a + own_b;
  for (int k = 0; k < columns; k++) {
    Cause cause = {.phi_a = 0};
    int axis = k % 3;
    Vec3 e = vec3(axis == 0, axis == 1, axis == 2), step = vec3_scale(e, 1 / x.scale);
    if (k >= QUERY_POSE_COLUMNS)
      shape_cause(&x, k - QUERY_POSE_COLUMNS >= own_a,
                  k - QUERY_POSE_COLUMNS - (k - QUERY_POSE_COLUMNS >= own_a ? own_a : 0), &cause);
    else if (k % 6 >= 3)
      move_cause(&x, k >= 6, step, &cause);
    else
      turn_cause(&x, k >= 6, e, &cause);
    column_of(&x, &cause, out + k, columns);
  }
  return NULL;
}
