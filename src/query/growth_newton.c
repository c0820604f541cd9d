/* Newton's method for the growth problem (growth.h) in the shared point p and the centre distance u (growth.md, G2).
 * The multipliers minimize the residual (G21). A step satisfies the linearized surface conditions and is stationary
 * along both surfaces (G22). The last evaluation proves the solution (G23). */
#include "query/growth.h"

enum { STEPS = 14 };
/* Newton's method has converged if the predicted next step is below NEXT_STEP_MAX and the last step below
 * LAST_STEP_MAX, in units of the bodies' size. */
#define NEXT_STEP_MAX 1e-15
#define LAST_STEP_MAX 1e-5
/* Newton's method has also converged if its steps stop decreasing and are below STAGNATION_STEP_MAX. */
#define STAGNATION_STEP_MAX 1e-9
/* Newton's method has also converged if the step is below STEP_ROUNDING, the level of rounding. */
#define STEP_ROUNDING 1e-13
/* Relative rounding error of a bound of the growth distance. */
#define BOUND_ROUNDING 1e-14

typedef struct {
  Vec3 p;
  double u, length;
} Step;

bool growth_multipliers(const GrowthProblem* problem, const GrowthValue* v, double* va, double* vb) {
  double bd = vec3_dot(v->b.gradient, problem->d), aa = vec3_dot(v->a.gradient, v->a.gradient);
  if (!(bd < 0 && aa > 0)) return false;
  *vb = -1 / bd;
  *va = -*vb * vec3_dot(v->a.gradient, v->b.gradient) / aa;
  return true;
}

/* Computes the Newton step of the shared point p and the centre distance u (G22). Returns false if the step is not
 * finite. */
static bool compute_newton_step(const GrowthProblem* problem, const GrowthValue* v, double va, double vb, Step* step) {
  Vec3 d = problem->d, ga = v->a.gradient, gb = v->b.gradient, t[2], s[2], at[2];
  double over = -vb, u[2], rhs[2]; /* 1 / grad phi_b . d */
  if (va < 0) va = 0;
  Vec3 p = vec3_scale(ga, -v->a.value / vec3_dot(ga, ga));
  double up = (vec3_dot(gb, p) + v->b.value) * over;
  Vec3 q = vec3_add_scaled(p, -up, d);
  growth_tangents(ga, t);
  double h[2][2];
  for (int i = 0; i < 2; i++) {
    u[i] = vec3_dot(gb, t[i]) * over;
    s[i] = vec3_add_scaled(t[i], -u[i], d);
    at[i] = vec3_scale(mat3_mul_vec(v->a.hessian, t[i]), va);
    Vec3 bs = vec3_scale(mat3_mul_vec(v->b.hessian, s[i]), vb);
    rhs[i] = u[i] - vec3_dot(at[i], p) - vec3_dot(bs, q);
    for (int k = 0; k <= i; k++) h[i][k] = vec3_dot(at[i], t[k]) + vec3_dot(bs, s[k]);
  }
  double inverse = 1 / (h[0][0] * h[1][1] - h[1][0] * h[1][0]);
  double y = (rhs[0] * h[1][1] - rhs[1] * h[1][0]) * inverse, z = (rhs[1] * h[0][0] - rhs[0] * h[1][0]) * inverse;
  step->p = vec3_add_scaled(vec3_add_scaled(p, y, t[0]), z, t[1]);
  step->u = up + y * u[0] + z * u[1];
  step->length = fabs(step->u) + fabs(step->p.x) + fabs(step->p.y) + fabs(step->p.z);
  return isfinite(step->length);
}

/* Computes proven bounds of the largest centre distance u for bodies whose implicit function phi is convex (G23). Sets
 * end->low and end->high. Returns true if the bounds prove the solution. */
static bool compute_bounds(const GrowthProblem* problem, const GrowthPoint* x, const GrowthValue* v, double va,
                           double vb, GrowthSolution* end) {
  double a = v->a.value * shape_level_to_scale(problem->a), b = v->b.value * shape_level_to_scale(problem->b);
  double further = a > b ? a : b, outside = further > 0 ? further : 0;
  Vec3 rest = vec3_add(vec3_scale(v->a.gradient, va), vec3_scale(v->b.gradient, vb));
  double radius = problem->a->outer / problem->scale;
  double normal = vb * vec3_norm(v->b.gradient), rounding = BOUND_ROUNDING * (x->u + normal * radius);
  end->low = (x->u / (1 + outside)) * (1 - BOUND_ROUNDING);
  end->high = x->u + vec3_dot(rest, x->p) - va * v->a.value - vb * v->b.value + radius * vec3_norm(rest) + rounding;
  return end->low > 0 && end->high - end->low <= GROWTH_PROOF * end->low;
}

/* Completes the solution after the last step. Computes gradients and multipliers at the solution x, then bounds of u.
 * from, v, va, vb: point, values and multipliers before the step. Returns true if the bounds prove the solution. */
static bool complete_solution(const GrowthProblem* problem, const GrowthPoint* from, const GrowthValue* v,
                              const Step* step, double va, double vb, GrowthPoint* x, GrowthSolution* end) {
  Vec3 q = vec3_add_scaled(step->p, -step->u, problem->d);
  end->value = *v;
  end->value.a.gradient = vec3_add(v->a.gradient, mat3_mul_vec(v->a.hessian, step->p));
  end->value.b.gradient = vec3_add(v->b.gradient, mat3_mul_vec(v->b.hessian, q));
  if (!growth_multipliers(problem, &end->value, &x->va, &x->vb) || !(x->u > 0 && x->va > 0)) return false;
  if (shape_has_convex_level(problem->a) && shape_has_convex_level(problem->b))
    return compute_bounds(problem, from, v, va, vb, end);
  return growth_bounds(problem, x, &end->low, &end->high) && end->high - end->low <= GROWTH_PROOF * end->low;
}

bool growth_newton(const GrowthProblem* problem, GrowthPoint* x, GrowthSolution* end, int* iterations) {
  double before = HUGE_VAL;
  for (int k = 0; k < STEPS; k++) {
    GrowthValue v = growth_evaluate(problem, x);
    GrowthPoint from = *x;
    Step step;
    double va, vb;
    ++*iterations;
    if (!growth_multipliers(problem, &v, &va, &vb) || !compute_newton_step(problem, &v, va, vb, &step)) return false;
    x->p = vec3_add(x->p, step.p);
    x->u += step.u;
    if (!(x->u > 0) && k > 1) return false;
    /* quadratic convergence: the next step is about c * length^2 with c = length / before^2 */
    double length = step.length, left = length / (before * before) * length * length;
    bool ended = length <= STEP_ROUNDING || (length <= LAST_STEP_MAX && k > 0 && left <= NEXT_STEP_MAX);
    bool stuck = !(length < 4) || (k > 3 && length > 0.5 * before);
    if ((ended || (stuck && length <= STAGNATION_STEP_MAX)) &&
        complete_solution(problem, &from, &v, &step, va, vb, x, end))
      return true;
    if (stuck) return false;
    before = length;
  }
  return false;
}
