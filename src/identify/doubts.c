/* Finds subsets of the data that contradict each other or the priors. The model cannot reproduce such measurements
 * (docs/derivations/identify.md, Q12). */
#include <assert.h>
#include <string.h>

#include "identify/fit.h"
#include "linalg/dense.h"

/* Probability of a false alarm in a fit, over all comparisons. */
#define FALSE_ALARM_PROBABILITY 0.01
enum { SUBSET_PAIRS = SUBSETS / 2 };
/* Deviation from a prior, in standard deviations, above which data and prior contradict each other. */
#define PRIOR_LIMIT 3.0
#define PRIOR_SHARE 0.52

/* Largest change of a variable that a subset does not determine, in standard deviations of the prior, or in units of
 * the variable's scale. */
#define CHANGE_MAX 10.0

/* Two complementary subsets of the data. Normal equations of subset b: matrix A_b, gradient g_b. D: diagonal matrix of
 * the priors of the variables. */
typedef struct {
  const Identification* id;
  int first;       /* first subset of the pair */
  double* root[2]; /* Cholesky factor of A_b + D for each subset: matrix of its normal equations plus priors
                      (variables^2) */
  double* sum[2];  /* matrix A_b of the normal equations of each subset (size: variables^2) */
} SubsetPair;

/* Returns z with P(|x| > z) = p for a standard normal variable x. The error is below 5e-4 (Abramowitz and Stegun 1964,
 * 26.2.23). */
static double normal_quantile(double p) {
  double t = sqrt(-2 * math_log(0.5 * p));
  return t - (2.515517 + t * (0.802853 + 0.010328 * t)) / (1 + t * (1.432788 + t * (0.189269 + 0.001308 * t)));
}

static bool is_free_variable(const Identification* id, int k) {
  return !id->fixed[k] && id->x[k] > id->low[k] && id->x[k] < id->high[k];
}

/* Factorizes the matrix of a subset's normal equations plus priors, over the free variables. Returns false without
 * data. */
static bool factorize_subset(const SubsetPair* pair, int side) {
  const Identification* id = pair->id;
  int n = id->variables;
  double *a = pair->sum[side], *l = pair->root[side], information = 0;
  memset(a, 0, sizeof(double) * (size_t)(n * n));
  for (int s = 0; s < id->shot_count; s++) {
    const double* subset = id->sums[s].subset_a + (size_t)((pair->first + side) * n * n);
    for (int i = 0; i < n && id->shots[s].usable; i++)
      for (int k = 0; k <= i; k++) a[i * n + k] += subset[i * n + k];
  }
  for (int i = 0; i < n; i++) {
    double width = CHANGE_MAX * (id->prior[i] > 0 ? id->prior[i] : id->scale[i]);
    information += a[i * n + i];
    for (int k = 0; k <= i; k++) {
      bool in = is_free_variable(id, i) && is_free_variable(id, k);
      a[k * n + i] = a[i * n + k] = in ? a[i * n + k] : 0;
      l[i * n + k] = in ? a[i * n + k] + (i == k) / (width * width) : i == k;
    }
  }
  return information > 0 && dense_cholesky(n, l);
}

/* Computes the change of the variables that fits a subset of the data, -(A_b + D)^-1 g_b. The gradient g_b is the sum
 * over the shots of one run, or of all runs for run -1. */
static void compute_change(const SubsetPair* pair, int side, int run, double* out) {
  const Identification* id = pair->id;
  int n = id->variables;
  memset(out, 0, sizeof(double) * (size_t)n);
  for (int s = 0; s < id->shot_count; s++) {
    if (!id->shots[s].usable || (run >= 0 && id->shots[s].run_index != run)) continue;
    const double* g = id->sums[s].subset_g + (size_t)((pair->first + side) * n);
    for (int k = 0; k < n; k++) out[k] -= is_free_variable(id, k) ? g[k] : 0;
  }
  dense_solve(n, pair->root[side], out);
}

/* Adds the variance that measurement noise causes in the difference between the estimates of both subsets (variables).
 */
static void add_noise_variance(const SubsetPair* pair, double* variance) {
  const Identification* id = pair->id;
  int n = id->variables;
  double* column = MEMORY_NEW(double, n + 1);
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < n; i++) { /* row i of L^-1 A L^-1, with the symmetric factor */
      memset(column, 0, sizeof(double) * (size_t)n);
      column[i] = 1;
      dense_solve(n, pair->root[side], column);
      double sum = 0;
      for (int k = 0; k < n; k++)
        for (int m = 0; m < n; m++) sum += column[k] * pair->sum[side][k * n + m] * column[m];
      variance[i] += id->noise * id->noise * sum;
    }
  memory_free(column);
}

static int compute_run_variance(const SubsetPair* pair, const double* difference, double* variance) {
  const Identification* id = pair->id;
  int n = id->variables, runs = 0;
  double* change[2] = {MEMORY_NEW(double, n + 1), MEMORY_NEW(double, n + 1)};
  for (int r = 0; r < id->data.count; r++) runs += id->data.runs[r].train;
  for (int r = 0; r < id->data.count; r++) {
    if (!id->data.runs[r].train) continue;
    for (int side = 0; side < 2; side++) compute_change(pair, side, r, change[side]);
    for (int k = 0; k < n; k++) {
      double unexplained = change[0][k] - change[1][k] - difference[k] / runs;
      variance[k] += runs > 1 ? unexplained * unexplained * runs / (runs - 1.0) : 0;
    }
  }
  memory_free(change[0]);
  memory_free(change[1]);
  return runs;
}

/* Stores a contradiction if the estimates of a variable differ by more than `limit` standard deviations. */
static void check_difference(Identification* id, Contradiction contradiction, double limit) {
  if (!(contradiction.difference > 1)) return;
  double difference = fabs(contradiction.first - contradiction.second);
  /* part of the difference that noise does not explain. For a prior it is the fraction PRIOR_SHARE of the difference,
   * so that the interval contains both values */
  double unexplained = contradiction.kind == CONTRADICTION_PRIOR
                           ? PRIOR_SHARE * difference
                           : sqrt(1 - 1 / (contradiction.difference * contradiction.difference)) * difference;
  id->contradiction_width[contradiction.variable] = fmax(id->contradiction_width[contradiction.variable], unexplained);
  if (!(contradiction.difference > limit)) return;
  id->contradictions = memory_grow_array(id->contradictions, sizeof(Contradiction), id->contradiction_count,
                                         &id->contradiction_capacity);
  id->contradictions[id->contradiction_count++] = contradiction;
}

/* Computes the variance of the difference between the estimates of both subsets, for each variable. Returns the
 * difference, in standard deviations, above which the subsets contradict each other. */
static double compute_limit(const SubsetPair* pair, const double* difference, double* variance) {
  int n = pair->id->variables;
  double* by_runs = MEMORY_NEW(double, n + 1);
  memset(variance, 0, sizeof(double) * (size_t)n);
  memset(by_runs, 0, sizeof(double) * (size_t)n);
  add_noise_variance(pair, variance);
  int runs = compute_run_variance(pair, difference, by_runs);
  if (runs >= RUNS_FOR_VARIANCE) memcpy(variance, by_runs, sizeof(double) * (size_t)n);
  memory_free(by_runs);
  int compared = 0;
  for (int k = 0; k < n; k++) compared += is_free_variable(pair->id, k);
  double z = normal_quantile(FALSE_ALARM_PROBABILITY / fmax(1, SUBSET_PAIRS * compared));
  return runs >= RUNS_FOR_VARIANCE ? student_quantile(z, runs - 1) : z;
}

static void compare_subsets(SubsetPair* pair, ContradictionKind kind) {
  Identification* id = (Identification*)pair->id;
  int n = id->variables;
  if (!factorize_subset(pair, 0) || !factorize_subset(pair, 1)) return;
  double* change[2] = {MEMORY_NEW(double, n + 1), MEMORY_NEW(double, n + 1)};
  double *difference = MEMORY_NEW(double, n + 1), *variance = MEMORY_NEW(double, n + 1);
  for (int side = 0; side < 2; side++) compute_change(pair, side, -1, change[side]);
  for (int k = 0; k < n; k++) difference[k] = change[0][k] - change[1][k];
  double limit = compute_limit(pair, difference, variance);
  for (int k = 0; k < n; k++) {
    if (is_free_variable(id, k) && variance[k] > 0)
      check_difference(id,
                       (Contradiction){k, kind, id->x[k] + change[0][k], id->x[k] + change[1][k],
                                       fabs(difference[k]) / sqrt(variance[k])},
                       limit);
  }
  memory_free(change[0]);
  memory_free(change[1]);
  memory_free(difference);
  memory_free(variance);
}

void find_contradictions(Identification* id) {
  assert(id->shot_count >= 0 && id->variables >= 0);
  size_t room = (size_t)id->variables * (size_t)id->variables + 1;
  id->contradiction_count = 0;
  memset(id->contradiction_width, 0, sizeof(double) * (size_t)id->variables);
  SubsetPair pair = {id, SUBSET_BEFORE_CONTACT, {MEMORY_NEW(double, room), MEMORY_NEW(double, room)}, {0}};
  for (int side = 0; side < 2; side++) pair.sum[side] = MEMORY_NEW(double, room);
  for (int kind = CONTRADICTION_CONTACT; kind <= CONTRADICTION_ROTATIONS; kind++) {
    pair.first = 2 * kind;
    compare_subsets(&pair, (ContradictionKind)kind);
  }
  for (int side = 0; side < 2; side++) {
    memory_free(pair.root[side]);
    memory_free(pair.sum[side]);
  }
  for (int k = 0; k < id->variables; k++) {
    double difference = fabs(id->x[k] - id->initial[k]) / id->prior[k];
    if (id->prior[k] > 0 && !id->fixed[k])
      check_difference(id, (Contradiction){k, CONTRADICTION_PRIOR, id->initial[k], id->x[k], difference}, PRIOR_LIMIT);
  }
  if (id->noise < NOISE_OF_ROUNDING) id->contradiction_count = 0;
  if (id->contradiction_count == 0) memset(id->contradiction_width, 0, sizeof(double) * (size_t)id->variables);
}

bool identification_append_unconverged(const Identification* id, Text* out) {
  assert(out && (id->next_change || id->variables == 0));
  int count = 0;
  for (int k = 0; k < id->variables; k++) {
    if (id->next_change[k] == 0) continue;
    text_add(out, "%s%s by %.3g", count++ > 0 ? ", " : "", optimization_variable(id->optimization, k).name,
             id->next_change[k]);
  }
  return count > 0;
}

int identification_contradiction_count(const Identification* id) { return id->contradiction_count; }

void identification_append_contradiction(const Identification* id, int k, Text* out) {
  assert(k >= 0);
  static const char* const words[][2] = {
      {"measurements before contact give", "measurements after contact"},
      {"the first halves of runs or windows say", "the second halves"},
      {"positions give", "rotations"},
      {"its prior says", "the fit"},
  };
  const Contradiction* d = &id->contradictions[k];
  text_add(out, "%s: ", optimization_variable(id->optimization, d->variable).name);
  text_add(out, "%s %.6g, %s %.3g %s", words[d->kind][0], d->first, words[d->kind][1], fabs(d->second - d->first),
           d->second > d->first ? "more" : "less");
  text_add(out, " (%.3g standard deviations apart)", d->difference);
}
