/* Fits several superquadrics together to points whose side of the solid is known. The misfit of the union at a point
 * depends only on the nearest superquadric, so the normal equations split into one 11 x 11 block per superquadric
 * (shapes.md, B12). */
#include <assert.h>
#include <string.h>

#include "decompose/superquadric.h"
#include "linalg/dense.h"

enum { NUMBERS = SUPERQUADRIC_VARIABLES, CHUNK = 2048 };

/* Damping of the Levenberg-Marquardt method: initial value (DAMPING_FIRST), bounds, and factors after a successful and
 * after a failed step. */
#define DAMPING_FIRST 1e-2
#define DAMPING_MIN 1e-7
#define DAMPING_MAX 1e7
#define DAMPING_DECREASE 0.3
#define DAMPING_INCREASE 5
/* The iteration ends below this relative decrease of the cost. */
#define GAIN_MIN 1e-5
/* Regularization: the diagonal gets this fraction of its largest entry, so that variables without effect do not change.
 */
#define DIAGONAL_SHARE 1e-9

/* Normal equations of one superquadric: J^T J (upper triangle) and J^T r. r: misfits of the points; J: their
 * derivatives with respect to the superquadric's variables. */
typedef struct {
  double square[NUMBERS][NUMBERS], slope[NUMBERS];
} NormalEquations;

typedef struct {
  const FitProblem* problem;
  const Primitive* list;
  int count;
  double width;
  double* cost;            /* cost of the points of every chunk, the points that one task handles (size: chunks) */
  NormalEquations* normal; /* normal equations (size: chunks x count); NULL for the cost only */
} Sums;

static int chunk_count(const FitProblem* problem) { return (problem->count + CHUNK - 1) / CHUNK; }

/* Returns the misfit of a point: the error of its distance from the union of superquadrics (FitPoint). Sets *nearest to
 * the superquadric that determines the distance, or to -1. */
static double misfit(const Sums* s, const FitPoint* point, int* nearest) {
  double least = fmin(point->other, s->width);
  *nearest = -1;
  for (int k = 0; k < s->count && !(point->side < 0 && least <= 0); k++) {
    double distance = primitive_distance(&s->list[k], point->point, s->width);
    if (distance < least) least = distance, *nearest = k;
  }
  if (point->side != 0 && point->side * least >= 0) return 0; /* the point is on the same side of solid and union */
  if (fabs(least) >= s->width) *nearest = -1;
  return fmax(least, -s->width);
}

static void add_normal(NormalEquations* normal, const double* slope, double weight, double value) {
  for (int i = 0; i < NUMBERS; i++) {
    normal->slope[i] += weight * value * slope[i];
    for (int j = i; j < NUMBERS; j++) normal->square[i][j] += weight * slope[i] * slope[j];
  }
}

static void sum_chunk(void* context, int chunk, int thread) {
  const Sums* s = context;
  (void)thread;
  int first = chunk * CHUNK, end = first + CHUNK < s->problem->count ? first + CHUNK : s->problem->count;
  double cost = 0, slope[NUMBERS];
  for (int i = first; i < end; i++) {
    const FitPoint* point = &s->problem->points[i];
    int nearest;
    double value = misfit(s, point, &nearest);
    cost += point->weight * value * value;
    if (!s->normal || nearest < 0 || value == 0) continue;
    primitive_derivatives(&s->list[nearest], point->point, slope);
    add_normal(&s->normal[(size_t)chunk * (size_t)s->count + (size_t)nearest], slope, point->weight, value);
  }
  s->cost[chunk] = cost;
}

/* Returns the total cost. Sets normal[count] to the normal equations unless normal is NULL. Sums chunks in a fixed
 * order, so that the result does not depend on the number of threads. */
static double sum_all(const FitProblem* problem, const Superquadric* list, int count, double width,
                      NormalEquations* normal) {
  int chunks = chunk_count(problem);
  Primitive* made = MEMORY_NEW(Primitive, count);
  for (int k = 0; k < count; k++) made[k] = primitive_create(&list[k]);
  Sums sums = {problem, made, count, width, MEMORY_NEW(double, chunks), NULL};
  if (normal) sums.normal = MEMORY_NEW(NormalEquations, (size_t)chunks * (size_t)count);
  parallel_for(problem->threads, chunks, 2, 1, sum_chunk, &sums);
  double cost = 0;
  if (normal) memset(normal, 0, sizeof *normal * (size_t)count);
  for (int c = 0; c < chunks; c++) {
    cost += sums.cost[c];
    for (int k = 0; normal && k < count; k++) {
      const NormalEquations* part = &sums.normal[(size_t)c * (size_t)count + (size_t)k];
      for (int i = 0; i < NUMBERS; i++) {
        normal[k].slope[i] += part->slope[i];
        for (int j = i; j < NUMBERS; j++) normal[k].square[i][j] += part->square[i][j];
      }
    }
  }
  memory_free(sums.normal);
  memory_free(sums.cost);
  memory_free(made);
  return cost;
}

double fit_cost(const FitProblem* problem, const Superquadric* list, int count, double width) {
  assert(count >= 0 && width > 0);
  return sum_all(problem, list, count, width, NULL);
}

/* Solves (J^T J + damping D) step = -J^T r for one superquadric with the regularized diagonal D of J^T J. Returns false
 * if the equations cannot be solved. */
static bool solve_normal(const NormalEquations* normal, double damping, double* step) {
  double largest = 0, lower[NUMBERS * NUMBERS];
  for (int i = 0; i < NUMBERS; i++) largest = fmax(largest, normal->square[i][i]);
  if (!(largest > 0)) return false;
  for (int i = 0; i < NUMBERS; i++) {
    for (int j = 0; j < i; j++) lower[i * NUMBERS + j] = normal->square[j][i];
    lower[i * NUMBERS + i] = normal->square[i][i] + damping * (normal->square[i][i] + DIAGONAL_SHARE * largest);
    step[i] = -normal->slope[i];
  }
  if (!dense_cholesky(NUMBERS, lower)) return false;
  dense_solve(NUMBERS, lower, step);
  return true;
}

static void move_all(const FitProblem* problem, const NormalEquations* normal, double damping, const Superquadric* from,
                     int count, Superquadric* to) {
  double step[NUMBERS];
  for (int k = 0; k < count; k++) {
    to[k] = from[k];
    if (solve_normal(&normal[k], damping, step))
      to[k] = superquadric_add_step(&from[k], step, problem->size_min, problem->size_max);
  }
}

double fit_improve(const FitProblem* problem, Superquadric* list, int count, double width, int iterations) {
  assert(iterations >= 0 && width > 0);
  NormalEquations* normal = MEMORY_NEW(NormalEquations, count);
  Superquadric* trial = MEMORY_NEW(Superquadric, count);
  double damping = DAMPING_FIRST, cost = sum_all(problem, list, count, width, normal);
  for (int i = 0; i < iterations && damping < DAMPING_MAX; i++) {
    move_all(problem, normal, damping, list, count, trial);
    double next = fit_cost(problem, trial, count, width);
    if (!(next < cost)) {
      damping *= DAMPING_INCREASE;
      continue;
    }
    bool last = cost - next < GAIN_MIN * cost;
    memcpy(list, trial, sizeof *list * (size_t)count);
    damping = fmax(damping * DAMPING_DECREASE, DAMPING_MIN);
    cost = last ? next : sum_all(problem, list, count, width, normal);
    if (last) break;
  }
  memory_free(trial);
  memory_free(normal);
  return cost;
}
