/* Growth distance (growth.md, G1). A few interior-point steps are followed by Newton's method on the optimality
 * conditions of the growth problem (growth.h). The bounds of the result are proven (G3, G4, G23). */
#include <assert.h>

#include "query/growth.h"

enum { ORDER = 4, PATH_STEPS = 25 };
/* Relative rounding error of gauges (scale factors at which the surface reaches a point) and of normals. */
#define BOUND_ROUNDING 1e-14
/* Start of the interior path, as a fraction of a body's extent along the line of centres. A cone starts deeper, because
 * its implicit function phi is not convex near its surface. */
#define START_FRACTION 0.8
#define START_FRACTION_CONE 0.45
/* The interior path starts at a point where the implicit functions of both bodies are at most -START_DEPTH, that is,
 * inside both. */
#define START_DEPTH 0.02
/* CENTERING: ratio of the complementarity (multiplier times slack) that a path step aims at to its current value.
 * NEWTON_COMPLEMENTARITY: Newton's method is first tried when the complementarity, relative to u, falls below this
 * value. */
#define CENTERING 0.3
#define NEWTON_COMPLEMENTARITY 0.1
#define NEWTON_COMPLEMENTARITY_ELLIPSOIDS \
  1.0 /* for two ellipsoids Newton's method is tried from the start, because their curvature is positive everywhere */
/* NEWTON_COMPLEMENTARITY_SHORT_STEP: replaces NEWTON_COMPLEMENTARITY after a short step. NEWTON_RETRY_FACTOR: after a
 * failed attempt, Newton's method is tried again when the complementarity has fallen by this factor. */
#define NEWTON_COMPLEMENTARITY_SHORT_STEP 0.01
#define NEWTON_RETRY_FACTOR 0.5
#define LONGEST_STEP 1.0
/* A step from a point inside both bodies keeps at least this fraction of the slack (-phi) of each body. */
#define SLACK_KEPT 0.05
/* Pivots of the LDL^T factorization are raised to at least this fraction of the diagonal entry. */
#define PIVOT_MIN 1e-12
/* A step uses at most this fraction of the distance to the point where a slack or multiplier becomes zero. */
#define BOUNDARY_FRACTION 0.9

GrowthValue growth_evaluate(const GrowthProblem* problem, const GrowthPoint* x) {
  double s = problem->scale;
  Vec3 q = mat3_tmul_vec(problem->r, vec3_add_scaled(x->p, -x->u, problem->d));
  GrowthValue v = {shape_evaluate(problem->a, vec3_scale(x->p, s)), shape_evaluate(problem->b, vec3_scale(q, s))};
  v.a.gradient = vec3_scale(v.a.gradient, s);
  v.a.hessian = mat3_scale(v.a.hessian, s * s);
  v.b.gradient = vec3_scale(mat3_mul_vec(problem->r, v.b.gradient), s);
  v.b.hessian = mat3_scale(mat3_rotate_tensor(problem->r, v.b.hessian), s * s);
  return v;
}

/* Bounds of the largest distance u_max of the centres at which the bodies share a point (G4). Lower bound: let m be the
 * larger of the gauges of both bodies at p. The point p / m and the distance u / m satisfy both constraints, so u_max
 * >= u / m. Upper bound: u_max n . d <= h_a(n) + h_b(-n) for every direction n. h_a and h_b are the support functions
 * of the bodies, d is the unit vector between the centres. The code uses the gradient of each gauge as n and takes the
 * smaller of the two upper bounds. */
bool growth_bounds(const GrowthProblem* problem, const GrowthPoint* x, double* low, double* high) {
  double s = problem->scale;
  Vec3 q = mat3_tmul_vec(problem->r, vec3_add_scaled(x->p, -x->u, problem->d));
  if (!(vec3_norm(x->p) > 0) || !(vec3_norm(q) > 0) || !(x->u > 0)) return false;
  Gauge a = shape_gauge(problem->a, vec3_scale(x->p, s)), b = shape_gauge(problem->b, vec3_scale(q, s));
  *low = x->u / fmax(a.value, b.value);
  *high = HUGE_VAL;
  Vec3 n = vec3_scale(a.gradient, s), w = vec3_scale(mat3_mul_vec(problem->r, b.gradient), s);
  double k = -vec3_dot(n, w) / vec3_dot(w, w), nd = vec3_dot(n, problem->d);
  if (k > 0 && nd > 0) *high = fmin(*high, (1 + k + problem->b->outer / s * vec3_norm(vec3_add_scaled(n, k, w))) / nd);
  k = -vec3_dot(n, w) / vec3_dot(n, n);
  double wd = -vec3_dot(w, problem->d);
  if (k > 0 && wd > 0) *high = fmin(*high, (1 + k + problem->a->outer / s * vec3_norm(vec3_add_scaled(w, k, n))) / wd);
  *low *= 1 - BOUND_ROUNDING;
  *high *= 1 + BOUND_ROUNDING;
  return *low > 0 && isfinite(*high);
}

/* Slacks of the interior path. a, b: slack s = -phi > 0 of the point in bodies a and b. mu: product of slack and
 * multiplier. Slacks and mu are zero at the end of the path. */
typedef struct {
  double a, b, mu;
} Slack;

/* Assembles the Newton system of the interior path in p and u, with the multipliers eliminated (G7): (W + sum k c c^T)
 * step = e_u - sum r c. The sums run over both bodies; c is the gradient of phi in (p, u), k = v / s, r = k (phi + s) +
 * mu / s, W the Hessian of the Lagrangian, e_u the unit vector of u. Sets the lower triangle of the matrix w, and f to
 * the right-hand side. */
static void assemble_newton_system(const GrowthProblem* problem, const GrowthPoint* x, const GrowthValue* v,
                                   const Slack* s, double w[ORDER][ORDER], double f[ORDER]) {
  Vec3 d = problem->d, ga = v->a.gradient, gb = v->b.gradient, hd = mat3_mul_vec(v->b.hessian, d);
  const double a[3] = {ga.x, ga.y, ga.z}, b[ORDER] = {gb.x, gb.y, gb.z, -vec3_dot(gb, d)}, h[3] = {hd.x, hd.y, hd.z};
  double va = x->va, vb = x->vb, ka = va / s->a, kb = vb / s->b;
  double fa = ka * (v->a.value + s->a) + s->mu / s->a, fb = kb * (v->b.value + s->b) + s->mu / s->b;
  for (int k = 0; k < 3; k++) {
    for (int l = 0; l <= k; l++)
      w[k][l] = va * v->a.hessian.m[k][l] + vb * v->b.hessian.m[k][l] + ka * a[k] * a[l] + kb * b[k] * b[l];
    w[3][k] = kb * b[3] * b[k] - vb * h[k];
    f[k] = -fa * a[k] - fb * b[k];
  }
  w[3][3] = kb * b[3] * b[3] + vb * vec3_dot(hd, d);
  f[3] = 1 - fb * b[3];
}

/* Solves w x = f by an LDL^T factorization and replaces f by x. w is overwritten. Pivots that vanish by rounding or
 * non-convexity are raised to PIVOT_MIN times the diagonal, which shortens the step. */
static void solve_positive(double w[ORDER][ORDER], double f[ORDER]) {
  double over[ORDER], least[ORDER];
  for (int k = 0; k < ORDER; k++) least[k] = PIVOT_MIN * fabs(w[k][k]);
  for (int k = 0; k < ORDER; k++) {
    over[k] = 1 / (w[k][k] > least[k] ? w[k][k] : least[k]);
    for (int i = k + 1; i < ORDER; i++) {
      double factor = w[i][k] * over[k];
      for (int j = k + 1; j <= i; j++) w[i][j] -= factor * w[j][k];
      f[i] -= factor * f[k];
    }
  }
  for (int i = ORDER - 1; i >= 0; i--) {
    for (int j = i + 1; j < ORDER; j++) f[i] -= w[j][i] * f[j];
    f[i] *= over[i];
  }
}

/* Indices of the multipliers in a step, after p and u. */
enum { STEP_A = ORDER, STEP_B, STEP_SIZE };
static bool compute_path_step(const GrowthProblem* problem, const GrowthPoint* x, const GrowthValue* v, const Slack* s,
                              double step[STEP_SIZE]) {
  double w[ORDER][ORDER];
  assemble_newton_system(problem, x, v, s, w, step);
  solve_positive(w, step);
  Vec3 dp = vec3(step[0], step[1], step[2]), dq = vec3_add_scaled(dp, -step[3], problem->d);
  step[STEP_A] = (x->va * (vec3_dot(v->a.gradient, dp) + v->a.value) + s->mu) / s->a;
  step[STEP_B] = (x->vb * (vec3_dot(v->b.gradient, dq) + v->b.value) + s->mu) / s->b;
  double sum = 0;
  for (int k = 0; k < STEP_SIZE; k++) sum += step[k];
  return isfinite(sum);
}

static GrowthPoint add_step(const GrowthPoint* x, const double step[STEP_SIZE], double t) {
  return (GrowthPoint){vec3_add_scaled(x->p, t, vec3(step[0], step[1], step[2])), x->u + t * step[3],
                       x->va + t * step[STEP_A], x->vb + t * step[STEP_B]};
}

static double start_fraction(const Shape* shape) {
  return shape->kind == SMOOTH_CONE ? START_FRACTION_CONE : START_FRACTION;
}

/* Returns the start of the interior path, a point inside both bodies on the line of centres. The multipliers belong to
 * surfaces perpendicular to this line. Sets *v to the values at the point. */
static GrowthPoint path_start(const GrowthProblem* problem, GrowthValue* v) {
  Vec3 d = problem->d, back = mat3_tmul_vec(problem->r, vec3_scale(d, -1));
  double a = start_fraction(problem->a) * shape_extent_bound(problem->a, d) / problem->scale;
  double b = start_fraction(problem->b) * shape_extent_bound(problem->b, back) / problem->scale;
  GrowthPoint x = {vec3_scale(d, a), a + b, 1, 1};
  *v = growth_evaluate(problem, &x);
  for (int k = 0; k < 60 && !(v->a.value < -START_DEPTH && v->b.value < -START_DEPTH); k++) {
    if (!(v->a.value < -START_DEPTH)) a *= 0.7;
    if (!(v->b.value < -START_DEPTH)) b *= 0.7;
    x = (GrowthPoint){vec3_scale(d, a), a + b, 1, 1};
    *v = growth_evaluate(problem, &x);
  }
  double slope_a = vec3_dot(v->a.gradient, d), slope_b = -vec3_dot(v->b.gradient, d);
  x.va = slope_a > 0 ? 1 / slope_a : 1;
  x.vb = slope_b > 0 ? 1 / slope_b : 1;
  return x;
}

/* Returns the largest fraction, at most 1, of a step that keeps `value` positive. step: change of the value in a full
 * step. */
static double step_to_boundary(double value, double step) { return step < 0 ? BOUNDARY_FRACTION * value / -step : 1; }

/* Shortens the step *t until the point lies inside both bodies and keeps SLACK_KEPT of the slacks. Sets the slacks to
 * -phi. */
static void shorten_to_interior(const GrowthProblem* problem, const GrowthPoint* from, const double step[STEP_SIZE],
                                double* t, GrowthPoint* y, GrowthValue* v, Slack* s) {
  for (int k = 0; k < 30 && !(v->a.value < -SLACK_KEPT * s->a && v->b.value < -SLACK_KEPT * s->b); k++) {
    *t *= 0.6;
    *y = add_step(from, step, *t);
    *v = growth_evaluate(problem, y);
  }
  s->a = -v->a.value;
  s->b = -v->b.value;
}

/* Takes one interior-point step towards the solution of the growth problem. Returns false if the step is not finite or
 * no interior point was found. */
static bool take_path_step(const GrowthProblem* problem, bool inside, GrowthPoint* y, GrowthValue* v, Slack* s,
                           double* t) {
  double step[STEP_SIZE];
  s->mu = CENTERING * 0.5 * (y->va * s->a + y->vb * s->b);
  if (!compute_path_step(problem, y, v, s, step)) return false;
  Vec3 dp = vec3(step[0], step[1], step[2]);
  double da = -(v->a.value + s->a) - vec3_dot(v->a.gradient, dp);
  double db = -(v->b.value + s->b) - vec3_dot(v->b.gradient, vec3_add_scaled(dp, -step[3], problem->d));
  double length = fabs(step[0]) + fabs(step[1]) + fabs(step[2]) + fabs(step[3]);
  *t = fmin(fmin(1, LONGEST_STEP / length),
            fmin(step_to_boundary(y->va, step[STEP_A]), step_to_boundary(y->vb, step[STEP_B])));
  if (!inside) *t = fmin(*t, fmin(step_to_boundary(s->a, da), step_to_boundary(s->b, db)));
  GrowthPoint from = *y;
  *y = add_step(y, step, *t);
  *v = growth_evaluate(problem, y);
  if (inside) {
    shorten_to_interior(problem, &from, step, t, y, v, s);
    return s->a > 0 && s->b > 0;
  }
  s->a = fmax(s->a + *t * da, -v->a.value);
  s->b = fmax(s->b + *t * db, -v->b.value);
  return true;
}

/* Follows the interior path until Newton's method solves the growth problem. Newton's method is tried once the
 * complementarity is small. inside: true if all points of the path must lie inside both bodies. Returns true if the
 * problem was solved and the solution proven. */
static bool follow_interior_path(const GrowthProblem* problem, bool inside, GrowthPoint* x, GrowthSolution* end,
                                 int* iterations) {
  GrowthValue v;
  GrowthPoint y = path_start(problem, &v);
  Slack s = {-v.a.value, -v.b.value, 0};
  bool ellipsoids = problem->a->exponent == 1 && problem->b->exponent == 1;
  double tried = ellipsoids ? NEWTON_COMPLEMENTARITY_ELLIPSOIDS : NEWTON_COMPLEMENTARITY, t = 1;
  for (int k = 0; k < PATH_STEPS; k++) {
    double complement = 0.5 * (y.va * s.a + y.vb * s.b);
    if (complement < (t > 0.5 ? tried : fmin(tried, NEWTON_COMPLEMENTARITY_SHORT_STEP)) * y.u) {
      *x = y;
      if (growth_newton(problem, x, end, iterations)) return true;
      tried = NEWTON_RETRY_FACTOR * complement / y.u;
    }
    ++*iterations;
    if (!take_path_step(problem, inside, &y, &v, &s, &t)) return false;
  }
  return false;
}

/* ---------------------------------------------------------------- growth distance */

static GrowthProblem create_problem(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, double* distance) {
  GrowthProblem problem = {.a = a, .b = b, .r = mat3_mul(mat3_transpose(pose_a.r), pose_b.r)};
  Vec3 r = mat3_tmul_vec(pose_a.r, vec3_sub(pose_b.t, pose_a.t));
  /* scale first, because the square of a small vector may underflow */
  double largest = fmax(fabs(r.x), fmax(fabs(r.y), fabs(r.z)));
  *distance = largest > 0 ? largest * vec3_norm(vec3_scale(r, 1 / largest)) : 0;
  if (*distance > 0) problem.d = vec3_scale(vec3_scale(r, 1 / largest), largest / *distance);
  problem.scale = growth_scale(a, b);
  return problem;
}

static Growth coincident_result(Pose pose_a) { return (Growth){.point = pose_a.t, .proved = true, .coincident = true}; }

/* Solves the growth problem by the barrier method. Used if Newton's method does not converge. Returns true if the
 * solution is proven. */
static bool solve_by_barrier(const GrowthProblem* problem, GrowthPoint* x, GrowthSolution* end, Growth* answer) {
  answer->bracketed = true;
  answer->iterations += growth_barrier(problem, x);
  GrowthPoint polished = *x;
  if (growth_newton(problem, &polished, end, &answer->iterations)) {
    *x = polished;
    return true;
  }
  if (!growth_bounds(problem, x, &end->low, &end->high)) end->low = end->high = NAN;
  end->value = growth_evaluate(problem, x);
  growth_multipliers(problem, &end->value, &x->va,
                     &x->vb); /* the barrier's multipliers refer to the gauges instead of phi */
  return end->high - end->low <= GROWTH_PROOF * end->low;
}

static bool solve_problem(const GrowthProblem* problem, const GrowthCache* cache, GrowthPoint* x, GrowthSolution* end,
                          Growth* answer) {
  double s = problem->scale;
  if (cache && cache->warm > 0) {
    *x = (GrowthPoint){vec3_scale(cache->p, 1 / s), cache->u / s, 1, 1};
    if (growth_newton(problem, x, end, &answer->iterations)) return true;
  }
  if (follow_interior_path(problem, true, x, end, &answer->iterations)) return true;
  if (follow_interior_path(problem, false, x, end, &answer->iterations))
    return true; /* second attempt with inside = false, because the interior path may stall at the boundary of flat
                    bodies */
  return solve_by_barrier(problem, x, end, answer);
}

typedef struct {
  const Shape* shape;
  Pose pose;
} Placed;

/* Returns the growth distance, with the smaller body as a. Positions are measured from the centre of the smaller body,
 * so that they keep full relative accuracy. */
static Growth query_smaller_first(Placed small, Placed large, GrowthCache* cache) {
  const Shape *a = small.shape, *b = large.shape;
  Pose pose_a = small.pose, pose_b = large.pose;
  double distance;
  GrowthProblem problem = create_problem(a, pose_a, b, pose_b, &distance);
  if (!(distance > 0)) return coincident_result(pose_a);
  Growth g = {0};
  GrowthPoint x;
  GrowthSolution end;
  g.proved = solve_problem(&problem, cache, &x, &end, &g);
  double s = problem.scale, u = fmin(fmax(x.u, end.low), end.high) * s;
  g.at_a = end.value.a;
  g.at_b = end.value.b;
  if (cache) *cache = (GrowthCache){g.proved ? 1 : 0, vec3_scale(x.p, s), u};
  g.low = distance / (end.high * s);
  g.high = distance / (end.low * s);
  double alpha = g.alpha = fmin(fmax(distance / u, g.low), g.high);
  g.normal = mat3_mul_vec(
      pose_a.r, vec3_normalized(vec3_sub(vec3_scale(g.at_a.gradient, x.va), vec3_scale(g.at_b.gradient, x.vb))));
  Vec3 on_a = mat3_mul_vec(pose_a.r, vec3_scale(x.p, s));
  Vec3 on_b = mat3_mul_vec(pose_a.r, vec3_scale(vec3_add_scaled(x.p, -x.u, problem.d), s));
  g.point = vec3_add_scaled(pose_a.t, alpha, on_a);
  g.witness_a = vec3_add(pose_a.t, on_a);
  g.witness_b = vec3_add(pose_b.t, on_b);
  g.gap = distance - u;
  g.multiplier_a =
      alpha * x.va /
      x.u; /* multipliers of max u times |r| / u^2 are the multipliers of min alpha; r: vector between the centres */
  g.multiplier_b = alpha * x.vb / x.u;
  return g;
}

static Growth exchange_bodies(Growth g) {
  Vec3 witness = g.witness_a;
  double multiplier = g.multiplier_a;
  ShapeValue at = g.at_a;
  g.normal = vec3_scale(g.normal, -1);
  g.witness_a = g.witness_b;
  g.witness_b = witness;
  g.multiplier_a = g.multiplier_b;
  g.multiplier_b = multiplier;
  g.at_a = g.at_b;
  g.at_b = at;
  g.of_b = true;
  return g;
}

Growth growth_query(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, GrowthCache* cache) {
  assert(a->outer > 0 && b->outer > 0);
  Placed first = {a, pose_a}, second = {b, pose_b};
  if (a->outer <= b->outer) return query_smaller_first(first, second, cache);
  return exchange_bodies(query_smaller_first(second, first, cache));
}
