/* Barrier method for the growth distance (growth.md, G6). Maximizes u + mu (log(1 - gamma_a^2) + log(1 - gamma_b^2))
 * over p and u for decreasing mu; gamma_a and gamma_b are the gauges of the bodies. The function is concave for every
 * shape, because gauges are convex, so damped Newton steps converge from any interior point. */
#include <assert.h>

#include "query/growth.h"

enum { SIZE = 4, STAGES = 22, STEPS = 60, HALVINGS = 60 };
#define STAGE_FACTOR 0.2
/* The minimization for one barrier weight mu ends when the Newton decrement, in units of mu, falls below this value. */
#define DECREMENT_SMALL 1e-8
/* The minimization for one barrier weight mu ends when the Newton decrement falls below this rounding error of u, which
 * is about 1. */
#define DECREMENT_ROUNDING 1e-16
/* Newton steps are limited to this length, because the Hessian may be singular along a straight line of the surface. No
 * body is larger than this value. */
#define STEP_LENGTH_MAX 4.0

typedef struct {
  double value, gradient[SIZE], hessian[SIZE][SIZE];
  Gauge a, b; /* gauges, with derivatives in a's axes and in units of scale */
} Barrier4;

static bool evaluate_gauges(const GrowthProblem* problem, const double x[SIZE], Gauge* a, Gauge* b) {
  double s = problem->scale;
  Vec3 p = vec3(x[0], x[1], x[2]), q = mat3_tmul_vec(problem->r, vec3_add_scaled(p, -x[3], problem->d));
  if (!(vec3_norm(p) > 0) || !(vec3_norm(q) > 0)) return false;
  *a = shape_gauge(problem->a, vec3_scale(p, s));
  *b = shape_gauge(problem->b, vec3_scale(q, s));
  a->gradient = vec3_scale(a->gradient, s);
  a->hessian = mat3_scale(a->hessian, s * s);
  b->gradient = vec3_scale(mat3_mul_vec(problem->r, b->gradient), s);
  b->hessian = mat3_scale(mat3_mul(mat3_mul(problem->r, b->hessian), mat3_transpose(problem->r)), s * s);
  return a->value < 1 && b->value < 1;
}

/* Adds the barrier term -mu log(1 - gamma^2) of one body. moves: false for body a, whose gauge is evaluated at p; true
 * for body b, whose gauge is evaluated at p - u d. */
static void add_barrier_term(Barrier4* f, const Gauge* gauge, Vec3 d, bool moves, double mu) {
  double rest = 1 - gauge->value * gauge->value, first = 2 * gauge->value / rest;
  double second = 2 / rest + first * first;
  Vec3 g = gauge->gradient;
  Vec3 hd = mat3_mul_vec(gauge->hessian, d);
  double along = moves ? -vec3_dot(g, d) : 0;
  const double grad[SIZE] = {g.x, g.y, g.z, along};
  const double cross[3] = {hd.x, hd.y, hd.z};
  f->value -= mu * math_log(rest);
  for (int i = 0; i < SIZE; i++) {
    f->gradient[i] += mu * first * grad[i];
    for (int k = 0; k < SIZE; k++) f->hessian[i][k] += mu * second * grad[i] * grad[k];
  }
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) f->hessian[i][k] += mu * first * gauge->hessian.m[i][k];
    if (moves) f->hessian[i][3] -= mu * first * cross[i];
    if (moves) f->hessian[3][i] -= mu * first * cross[i];
  }
  if (moves) f->hessian[3][3] += mu * first * vec3_dot(hd, d);
}

static bool evaluate_barrier(const GrowthProblem* problem, const double x[SIZE], double mu, Barrier4* f) {
  *f = (Barrier4){.value = -x[3], .gradient = {0, 0, 0, -1}};
  if (!evaluate_gauges(problem, x, &f->a, &f->b)) return false;
  add_barrier_term(f, &f->a, problem->d, false, mu);
  add_barrier_term(f, &f->b, problem->d, true, mu);
  return true;
}

/* Sets step to -H^-1 g by Cholesky factorization, with Hessian H and gradient g of *f. The diagonal is raised until the
 * factorization succeeds. Returns the squared Newton decrement, or 0 if no factorization succeeded. */
static double compute_descent_step(const Barrier4* f, double step[SIZE]) {
  double trace = 0, lift = 0;
  for (int i = 0; i < SIZE; i++) trace += f->hessian[i][i];
  for (int attempt = 0; attempt<40; attempt++, lift = lift> 0 ? 10 * lift : 1e-15 * trace) {
    double l[SIZE][SIZE] = {{0}}, y[SIZE];
    bool positive = true;
    for (int i = 0; i < SIZE && positive; i++)
      for (int k = 0; k <= i; k++) {
        double sum = f->hessian[i][k] + (i == k ? lift : 0);
        for (int m = 0; m < k; m++) sum -= l[i][m] * l[k][m];
        if (i == k) positive = sum > 1e-16 * trace;
        l[i][k] = i == k ? sqrt(positive ? sum : 1) : sum / l[k][k];
      }
    if (!positive) continue;
    for (int i = 0; i < SIZE; i++) {
      y[i] = -f->gradient[i];
      for (int k = 0; k < i; k++) y[i] -= l[i][k] * y[k];
      y[i] /= l[i][i];
    }
    for (int i = SIZE - 1; i >= 0; i--) {
      step[i] = y[i];
      for (int k = i + 1; k < SIZE; k++) step[i] -= l[k][i] * step[k];
      step[i] /= l[i][i];
    }
    double decrement = 0;
    for (int i = 0; i < SIZE; i++) decrement -= f->gradient[i] * step[i];
    return decrement;
  }
  return 0;
}

/* Minimizes the barrier function for one barrier weight mu, starting from x. Returns the number of Newton steps. */
static int minimize(const GrowthProblem* problem, double x[SIZE], double mu) {
  assert(mu > 0);
  Barrier4 f, next_value;
  if (!evaluate_barrier(problem, x, mu, &f)) return 0;
  for (int k = 0; k < STEPS; k++) {
    double step[SIZE] = {0}, decrement = compute_descent_step(&f, step);
    if (!(decrement > fmax(DECREMENT_SMALL * mu, DECREMENT_ROUNDING))) return k;
    double next[SIZE] = {0}, length = 0;
    bool falls = false;
    for (int i = 0; i < SIZE; i++) length += fabs(step[i]);
    double t = fmin(1, STEP_LENGTH_MAX / length);
    for (int halved = 0; halved < HALVINGS && !falls; halved++, t *= 0.5) {
      for (int i = 0; i < SIZE; i++) next[i] = x[i] + t * step[i];
      falls = evaluate_barrier(problem, next, mu, &next_value) && next_value.value <= f.value - 0.1 * t * decrement;
    }
    if (!falls) return k;
    for (int i = 0; i < SIZE; i++) x[i] = next[i];
    f = next_value;
  }
  return STEPS;
}

int growth_barrier(const GrowthProblem* problem, GrowthPoint* point) {
  double a = 0.5 * problem->a->inner / problem->scale, b = 0.5 * problem->b->inner / problem->scale;
  double x[SIZE] = {a * problem->d.x, a * problem->d.y, a * problem->d.z, a + b}, mu = 1;
  int steps = 0;
  double best_low = 0, best_high = HUGE_VAL;
  for (int stage = 0; stage < STAGES; stage++, mu *= STAGE_FACTOR) {
    steps += minimize(problem, x, mu);
    Gauge ga, gb;
    if (!evaluate_gauges(problem, x, &ga, &gb)) break;
    GrowthPoint here = {vec3(x[0], x[1], x[2]), x[3], 2 * mu * ga.value / (1 - ga.value * ga.value),
                        2 * mu * gb.value / (1 - gb.value * gb.value)};
    double low, high;
    bool bounded = growth_bounds(problem, &here, &low, &high);
    if (stage == 0 || (bounded && high - low < best_high - best_low)) {
      *point = here;
      /* scale the point to the boundary, where the larger gauge is 1 */
      double grow = 1 / fmax(ga.value, gb.value);
      point->p = vec3_scale(point->p, grow);
      point->u *= grow;
      best_low = bounded ? low : 0;
      best_high = bounded ? high : HUGE_VAL;
    }
  }
  return steps;
}
