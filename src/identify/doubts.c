/* Tests whether subsets of the data contradict each other or the priors. A contradiction shows that the model cannot
 * reproduce the measurements (docs/derivations/identify.md, Q12). */
#include <assert.h>
#include <string.h>

#include "identify/fit.h"
#include "linalg/dense.h"

/* Probability of a false alarm in a fit, over all comparisons. */
#define FALSE_ALARM 0.01
enum { PAIRS = PARTS / 2 };
/* A deviation from a prior by more than this number of standard deviations is a contradiction. */
#define PRIOR_APART 3.0
#define PRIOR_SHARE 0.52

/* Limits the change of a variable that a subset of the data does not determine: this multiple of the deviation of its
 * prior, or of its scale. */
#define WIDE 10.0

/* Two complementary subsets of the data, with the normal equations of each subset b: matrix A_b, right-hand side g_b,
 * prior D. */
typedef struct {
  const Identification* id;
  int first;       /* the pair's first subset, SUBSET_BEFORE_CONTACT, SUBSET_FIRST_HALF or SUBSET_POSITIONS */
  double* root[2]; /* Cholesky factors of A_b + D (variables^2) */
  double* sum[2];  /* A_b (variables^2) */
} PartPair;

/* Returns z such that a standard normal variable satisfies |x| > z with probability p. The error is below 5e-4
 * (Abramowitz and Stegun 1964, 26.2.23). */
static double normal_beyond(double p) {
  double t = sqrt(-2 * math_log(0.5 * p));
  return t - (2.515517 + t * (0.802853 + 0.010328 * t)) / (1 + t * (1.432788 + t * (0.189269 + 0.001308 * t)));
}

static bool takes_part(const Identification* id, int k) {
  return !id->held[k] && id->x[k] > id->low[k] && id->x[k] < id->high[k];
}

/* Factorizes A_b + D of a subset over the fitted variables. Returns false without data. */
static bool factor_part(const PartPair* pair, int side) {
  const Identification* id = pair->id;
  int n = id->variables;
  double *a = pair->sum[side], *l = pair->root[side], information = 0;
  memset(a, 0, sizeof(double) * (size_t)(n * n));
  for (int s = 0; s < id->shot_count; s++) {
    const double* own = id->sums[s].part_a + (size_t)((pair->first + side) * n * n);
    for (int i = 0; i < n && id->shots[s].usable; i++)
      for (int k = 0; k <= i; k++) a[i * n + k] += own[i * n + k];
  }
  for (int i = 0; i < n; i++) {
    double width = WIDE * (id->prior[i] > 0 ? id->prior[i] : id->scale[i]);
    information += a[i * n + i];
    for (int k = 0; k <= i; k++) {
      bool in = takes_part(id, i) && takes_part(id, k);
      a[k * n + i] = a[i * n + k] = in ? a[i * n + k] : 0;
      l[i * n + k] = in ? a[i * n + k] + (i == k) / (width * width) : i == k;
    }
  }
  return information > 0 && dense_cholesky(n, l);
}

/* Sets out to -(A_b + D)^-1 g_b, the change of the variables fitted to a subset. g_b is the sum over the shots of run
 * `run`, or of all runs if run is -1. */
static void change_of(const PartPair* pair, int side, int run, double* out) {
  const Identification* id = pair->id;
  int n = id->variables;
  memset(out, 0, sizeof(double) * (size_t)n);
  for (int s = 0; s < id->shot_count; s++) {
    if (!id->shots[s].usable || (run >= 0 && id->shots[s].run_index != run)) continue;
    const double* g = id->sums[s].part_g + (size_t)((pair->first + side) * n);
    for (int k = 0; k < n; k++) out[k] -= takes_part(id, k) ? g[k] : 0;
  }
  dense_solve(n, pair->root[side], out);
}

/* Adds the variance due to noise of the difference between the estimates from both subsets. */
static void add_variance_of_noise(const PartPair* pair, double* variance) {
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

static int variance_between_runs(const PartPair* pair, const double* apart, double* variance) {
  const Identification* id = pair->id;
  int n = id->variables, runs = 0;
  double* own[2] = {MEMORY_NEW(double, n + 1), MEMORY_NEW(double, n + 1)};
  for (int r = 0; r < id->data.count; r++) runs += id->data.runs[r].train;
  for (int r = 0; r < id->data.count; r++) {
    if (!id->data.runs[r].train) continue;
    for (int side = 0; side < 2; side++) change_of(pair, side, r, own[side]);
    for (int k = 0; k < n; k++) {
      double off = own[0][k] - own[1][k] - apart[k] / runs;
      variance[k] += runs > 1 ? off * off * runs / (runs - 1.0) : 0;
    }
  }
  memory_free(own[0]);
  memory_free(own[1]);
  return runs;
}

/* Records a contradiction if the two estimates of a variable differ by more than `most` standard deviations. */
static void weigh(Identification* id, Contradiction said, double most) {
  if (!(said.apart > 1)) return;
  double apart = fabs(said.first - said.second);
  /* part of the difference that noise does not explain; PRIOR_SHARE of the difference for a prior, so that the interval
   * contains both values */
  double off = said.kind == CONTRADICTION_PRIOR ? PRIOR_SHARE * apart : sqrt(1 - 1 / (said.apart * said.apart)) * apart;
  id->spread[said.variable] = fmax(id->spread[said.variable], off);
  if (!(said.apart > most)) return;
  id->doubts = memory_grow_array(id->doubts, sizeof(Contradiction), id->doubt_count, &id->doubt_room);
  id->doubts[id->doubt_count++] = said;
}

/* Sets the variances of the differences `apart`, and returns the limit of a contradiction in standard deviations. */
static double judge_pair(const PartPair* pair, const double* apart, double* variance) {
  int n = pair->id->variables;
  double* by_runs = MEMORY_NEW(double, n + 1);
  memset(variance, 0, sizeof(double) * (size_t)n);
  memset(by_runs, 0, sizeof(double) * (size_t)n);
  add_variance_of_noise(pair, variance);
  int runs = variance_between_runs(pair, apart, by_runs);
  if (runs >= RUNS_FOR_VARIANCE) memcpy(variance, by_runs, sizeof(double) * (size_t)n);
  memory_free(by_runs);
  int compared = 0;
  for (int k = 0; k < n; k++) compared += takes_part(pair->id, k);
  double z = normal_beyond(FALSE_ALARM / fmax(1, PAIRS * compared));
  return runs >= RUNS_FOR_VARIANCE ? student_quantile(z, runs - 1) : z;
}

static void compare_parts(PartPair* pair, ContradictionKind kind) {
  Identification* id = (Identification*)pair->id;
  int n = id->variables;
  if (!factor_part(pair, 0) || !factor_part(pair, 1)) return;
  double* change[2] = {MEMORY_NEW(double, n + 1), MEMORY_NEW(double, n + 1)};
  double *apart = MEMORY_NEW(double, n + 1), *variance = MEMORY_NEW(double, n + 1);
  for (int side = 0; side < 2; side++) change_of(pair, side, -1, change[side]);
  for (int k = 0; k < n; k++) apart[k] = change[0][k] - change[1][k];
  double most = judge_pair(pair, apart, variance);
  for (int k = 0; k < n; k++) {
    if (takes_part(id, k) && variance[k] > 0)
      weigh(id,
            (Contradiction){k, kind, id->x[k] + change[0][k], id->x[k] + change[1][k],
                            fabs(apart[k]) / sqrt(variance[k])},
            most);
  }
  memory_free(change[0]);
  memory_free(change[1]);
  memory_free(apart);
  memory_free(variance);
}

void find_contradictions(Identification* id) {
  size_t room = (size_t)id->variables * (size_t)id->variables + 1;
  id->doubt_count = 0;
  memset(id->spread, 0, sizeof(double) * (size_t)id->variables);
  PartPair pair = {id, SUBSET_BEFORE_CONTACT, {MEMORY_NEW(double, room), MEMORY_NEW(double, room)}, {0}};
  for (int side = 0; side < 2; side++) pair.sum[side] = MEMORY_NEW(double, room);
  for (int kind = CONTRADICTION_CONTACT; kind <= CONTRADICTION_ROTATIONS; kind++) {
    pair.first = 2 * kind;
    compare_parts(&pair, (ContradictionKind)kind);
  }
  for (int side = 0; side < 2; side++) {
    memory_free(pair.root[side]);
    memory_free(pair.sum[side]);
  }
  for (int k = 0; k < id->variables; k++) {
    double apart = fabs(id->x[k] - id->initial[k]) / id->prior[k];
    if (id->prior[k] > 0 && !id->held[k])
      weigh(id, (Contradiction){k, CONTRADICTION_PRIOR, id->initial[k], id->x[k], apart}, PRIOR_APART);
  }
  if (id->noise < NOISE_OF_ROUNDING) id->doubt_count = 0;
  if (id->doubt_count == 0) memset(id->spread, 0, sizeof(double) * (size_t)id->variables);
}

bool identification_append_unconverged(const Identification* id, Text* out) {
  int count = 0;
  for (int k = 0; k < id->variables; k++) {
    if (id->ahead[k] == 0) continue;
    text_add(out, "%s%s by %.3g", count++ > 0 ? ", " : "", optimization_variable(id->optimization, k).name,
             id->ahead[k]);
  }
  return count > 0;
}

int identification_contradiction_count(const Identification* id) { return id->doubt_count; }

void identification_append_contradiction(const Identification* id, int k, Text* out) {
  assert(k >= 0);
  static const char* const words[][2] = {
      {"what was measured before bodies meet says", "what was measured after that"},
      {"the first halves of runs or windows say", "the second halves"},
      {"where bodies are says", "how they are turned"},
      {"its prior says", "the fit"},
  };
  const Contradiction* d = &id->doubts[k];
  text_add(out, "%s: ", optimization_variable(id->optimization, d->variable).name);
  text_add(out, "%s %.6g, %s %.3g %s", words[d->kind][0], d->first, words[d->kind][1], fabs(d->second - d->first),
           d->second > d->first ? "more" : "less");
  text_add(out, " (%.3g standard deviations apart)", d->apart);
}
