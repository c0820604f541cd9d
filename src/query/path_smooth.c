/* Smoothing of a path: minimizes length and curvature while the growth distance alpha from every obstacle is at least
 * `bound` (G18-G20). The method is an augmented Lagrangian with Gauss-Newton steps and a banded Cholesky factorization.
 * docs/derivations/growth.md */
#include <assert.h>
#include <string.h>

#include "linalg/dense.h"
#include "query/path.h"

/* BAND: half bandwidth of the Hessian, because the three coordinates of each point are coupled to the coordinates of
 * two neighbours. */
enum { BAND = 8, ROUNDS = 12, STEPS = 12, HALVINGS = 20 };
/* INITIAL_PENALTY: initial penalty factor of violated constraints, relative to the mean length of a segment.
 * PENALTY_GROWTH: factor by which the penalty factor is multiplied while constraints are violated. */
#define INITIAL_PENALTY 10.0
#define PENALTY_GROWTH 3.0
/* VIOLATION_TOLERANCE: a constraint counts as satisfied if the growth distance is at least its bound minus this value.
 * DECREASE_MIN: the minimization ends below this relative decrease of the objective. */
#define VIOLATION_TOLERANCE 1e-4
#define DECREASE_MIN 1e-7

typedef struct {
  const PathProblem* problem;
  int* queries;
  int inner; /* number of movable points, 1 .. inner */
  double bound;
  double energy;      /* weight of squared first differences, 1 / (2 h); h: mean segment length */
  double bending;     /* weight of squared second differences, smoothness / (2 h^3) */
  double penalty;     /* penalty factor mu of violated constraints [m] */
  double* multiplier; /* multipliers [position][obstacle] [m]; a position is a point or a midpoint */
  double *matrix, *gradient,
      *step; /* matrix: (3 inner) x (BAND + 1), lower band stored by rows; gradient and step: 3 inner each */
} Smoothing;

static int count_positions(const Smoothing* s) { return 2 * s->inner + 1; }

/* Returns position j of the path. For even j the position is the midpoint of points j / 2 and j / 2 + 1, for odd j
 * point (j + 1) / 2. */
static Vec3 path_position(const Vec3* points, int j) {
  return j % 2 ? points[(j + 1) / 2] : vec3_scale(vec3_add(points[j / 2], points[j / 2 + 1]), 0.5);
}

static double bounding_ball_alpha(const PathProblem* problem, Vec3 at, int k) {
  return vec3_norm(vec3_sub(at, problem->poses[k].t)) / (problem->body->outer + problem->obstacles[k].outer);
}

/* Returns max(0, lambda - mu c) for the constraint c = alpha - bound of position j and obstacle k, with multiplier
 * lambda and penalty mu. Returns 0 without a query if the bounding balls show that the constraint is inactive. A query
 * also sets *slope, unless slope is NULL, to the gradient of alpha. */
static double active_constraint(const Smoothing* s, Vec3 at, int j, int k, Vec3* slope) {
  double lambda = s->multiplier[j * s->problem->count + k];
  if (lambda - s->penalty * (bounding_ball_alpha(s->problem, at, k) - s->bound) <= 0) return 0;
  double alpha = slope ? path_alpha_gradient(s->problem, at, k, slope, s->queries)
                       : path_alpha_lower_bound(s->problem, at, k, s->queries);
  return fmax(0, lambda - s->penalty * (alpha - s->bound));
}

/* Returns the objective of the smoothing, for the points x_i and the active constraints (G18, G19): energy * sum
 * |x_(i+1) - x_i|^2 + bending * sum |x_(i+1) - 2 x_i + x_(i-1)|^2 + sum active^2 / (2 mu). */
static double evaluate_objective(const Smoothing* s, const Vec3* x) {
  double sum = 0;
  for (int i = 0; i <= s->inner; i++) {
    Vec3 d = vec3_sub(x[i + 1], x[i]);
    sum += s->energy * vec3_dot(d, d);
  }
  for (int i = 1; i <= s->inner; i++) {
    Vec3 d = vec3_sub(vec3_add(x[i + 1], x[i - 1]), vec3_scale(x[i], 2));
    sum += s->bending * vec3_dot(d, d);
  }
  for (int j = 0; j < count_positions(s); j++)
    for (int k = 0; k < s->problem->count; k++) {
      double a = active_constraint(s, path_position(x, j), j, k, NULL);
      sum += a * a / (2 * s->penalty);
    }
  return sum;
}

/* Adds the 3 x 3 block of second derivatives for points p and q to the lower band of the matrix. Ignores fixed points
 * and the upper triangle. */
static void add_block(Smoothing* s, int p, int q, Mat3 block) {
  if (p < 1 || q < 1 || p > s->inner || q > s->inner || p < q) return;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      int row = 3 * (p - 1) + r, column = 3 * (q - 1) + c;
      if (column <= row) s->matrix[row * (BAND + 1) + column - row + BAND] += block.m[r][c];
    }
}

static void add_gradient(Smoothing* s, int p, Vec3 v) {
  if (p < 1 || p > s->inner) return;
  double* g = &s->gradient[3 * (p - 1)];
  g[0] += v.x, g[1] += v.y, g[2] += v.z;
}

/* Adds gradient and Hessian of a squared difference of neighbouring points: weight * |sum_i c_i x_(first + i)|^2, with
 * coefficients c (count). */
static void add_difference(Smoothing* s, const Vec3* x, int first, const double* c, int count, double weight) {
  Vec3 d = vec3(0, 0, 0);
  for (int i = 0; i < count; i++) d = vec3_add_scaled(d, c[i], x[first + i]);
  for (int i = 0; i < count; i++) {
    add_gradient(s, first + i, vec3_scale(d, 2 * weight * c[i]));
    for (int k = 0; k <= i; k++)
      add_block(s, first + i, first + k, mat3_scale(mat3_identity(), 2 * weight * c[i] * c[k]));
  }
}

/* Assembles the gradient and the Gauss-Newton Hessian of the objective. Each active constraint on
 * the growth distance alpha contributes mu g g^T to the Hessian, where g is the gradient of alpha. */
static void assemble_system(Smoothing* s, const Vec3* x) {
  static const double first[2] = {-1, 1}, second[3] = {1, -2, 1}, half[2] = {0.5, 0.5}, whole[1] = {1};
  memset(s->matrix, 0, sizeof(double) * (size_t)(3 * s->inner * (BAND + 1)));
  memset(s->gradient, 0, sizeof(double) * (size_t)(3 * s->inner));
  for (int i = 0; i <= s->inner; i++) add_difference(s, x, i, first, 2, s->energy);
  for (int i = 0; i < s->inner; i++) add_difference(s, x, i, second, 3, s->bending);
  for (int j = 0; j < count_positions(s); j++)
    for (int k = 0; k < s->problem->count; k++) {
      Vec3 slope;
      double a = active_constraint(s, path_position(x, j), j, k, &slope);
      if (!(a > 0)) continue;
      int point = j % 2 ? (j + 1) / 2 : j / 2, count = j % 2 ? 1 : 2;
      const double* part = j % 2 ? whole : half;
      for (int p = 0; p < count; p++) {
        add_gradient(s, point + p, vec3_scale(slope, -a * part[p]));
        for (int q = 0; q <= p; q++)
          add_block(s, point + p, point + q, mat3_scale(mat3_outer(slope, slope), s->penalty * part[p] * part[q]));
      }
    }
}

/* Solves for the Gauss-Newton step: minus the inverse of the Hessian `matrix` times the gradient. The matrix is
 * positive definite, because the ends are fixed. Returns false if the factorization fails. */
static bool solve_step(Smoothing* s) {
  int n = 3 * s->inner;
  for (int i = 0; i < n; i++) s->step[i] = -s->gradient[i];
  return dense_solve_band(n, BAND, s->matrix, s->step);
}

/* Takes one Gauss-Newton step with backtracking. Returns false if no step was found or the relative decrease is below
 * DECREASE_MIN. */
static bool take_gauss_newton_step(Smoothing* s, Vec3* x, Vec3* trial, double* value) {
  assemble_system(s, x);
  if (!solve_step(s)) return false;
  double factor = 1;
  for (int h = 0; h < HALVINGS; h++, factor *= 0.5) {
    for (int i = 1; i <= s->inner; i++) {
      const double* d = &s->step[3 * (i - 1)];
      trial[i] = vec3_add_scaled(x[i], factor, vec3(d[0], d[1], d[2]));
    }
    double objective = evaluate_objective(s, trial);
    if (!(objective < *value)) continue;
    bool gained = *value - objective > DECREASE_MIN * *value;
    memcpy(x + 1, trial + 1, sizeof(Vec3) * (size_t)s->inner);
    *value = objective;
    return gained;
  }
  return false;
}

/* Updates every constraint's multiplier lambda to max(0, lambda - mu c), with the constraint c >= 0 and the penalty
 * factor mu (G20). Returns the largest change divided by mu, which measures the violation. */
static double update_multipliers(Smoothing* s, const Vec3* x) {
  double worst = 0;
  for (int j = 0; j < count_positions(s); j++)
    for (int k = 0; k < s->problem->count; k++) {
      double* lambda = &s->multiplier[j * s->problem->count + k];
      double now = active_constraint(s, path_position(x, j), j, k, NULL);
      worst = fmax(worst, (now - *lambda) / s->penalty);
      *lambda = now;
    }
  return worst;
}

void path_smooth(const PathProblem* problem, Vec3* points, double bound, int* queries) {
  assert(!(bound < 0));
  int inner = problem->points - 2;
  double length = 0;
  for (int i = 0; i <= inner; i++) length += vec3_norm(vec3_sub(points[i + 1], points[i]));
  double h = length / (inner + 1);
  Smoothing s = {.problem = problem,
                 .inner = inner,
                 .bound = bound,
                 .energy = 1 / (2 * h),
                 .bending = problem->smoothness / (2 * h * h * h),
                 .penalty = INITIAL_PENALTY * h,
                 .multiplier = MEMORY_NEW(double, (2 * inner + 1) * (problem->count + 1)),
                 .matrix = MEMORY_NEW(double, 3 * inner * (BAND + 1)),
                 .gradient = MEMORY_NEW(double, 3 * inner),
                 .step = MEMORY_NEW(double, 3 * inner)};
  s.queries = queries;
  Vec3* trial = MEMORY_NEW(Vec3, inner + 2);
  memcpy(trial, points, sizeof(Vec3) * (size_t)(inner + 2));
  double worst = HUGE_VAL;
  for (int round = 0; round < ROUNDS && worst > VIOLATION_TOLERANCE; round++) {
    double value = evaluate_objective(&s, points);
    for (int i = 0; i < STEPS && take_gauss_newton_step(&s, points, trial, &value); i++) continue;
    worst = update_multipliers(&s, points);
    if (worst > VIOLATION_TOLERANCE) s.penalty *= PENALTY_GROWTH;
  }
  memory_free(s.multiplier);
  memory_free(s.matrix);
  memory_free(s.gradient);
  memory_free(s.step);
  memory_free(trial);
}
