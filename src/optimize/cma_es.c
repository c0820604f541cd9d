/* CMA-ES method (Hansen 2016): samples from a normal distribution that adapts to the best samples, without gradients.
 * docs/derivations/update.md explains why no library is used. Coordinates are variables divided by the step of their
 * block. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "linalg/dense.h"
#include "optimize/optimizer.h"
#include "optimize/rule.h"

/* Largest number of variables with a full covariance matrix. With more variables, the covariance is diagonal (Ros,
 * Hansen 2008). */
#define FULL_COVARIANCE_MAX 100
/* The search ends if the largest standard deviation of the samples is below this fraction of the step sizes in the
 * settings. */
#define WIDTH_MIN 1e-12
/* Lower limit of the standard deviation along an axis relative to the largest one. Smaller values are rounding errors.
 */
#define AXIS_MIN 1e-10
#define EULER 2.718281828459045

/* Indices into the state of the rule: samples drawn, generation, current sample in its generation, width of the
 * distribution, generation of the last eigendecomposition. The arrays of Distribution follow. */
enum { SAMPLES_DRAWN, GENERATION, SAMPLE_INDEX, WIDTH, LAST_EIGEN, ARRAYS };

/* Constants of the CMA-ES method (O14) for n variables, named as in Hansen's tutorial. */
typedef struct {
  int n, samples, parents;
  bool full;
  double effective_parents; /* effective number of parents, mu_eff */
  /* c_...: learning rates; damping: damping of changes of the distribution's width */
  double c_sigma, damping, c_c, c_1, c_mu;
  double expected_norm; /* expected length of a standard normal vector */
} Constants;

/* Arrays in the state of CMA-ES, for n variables. mean: centre of the distribution (n). path_sigma, path_c: evolution
 * paths of its width and covariance (n). cov: covariance, n x n if full, otherwise n variances. axes: eigenvectors of
 * the covariance by rows, if full. scale: square roots of its eigenvalues (n). y: samples as (x - mean) / width
 * (samples x n). value, excess: loss and constraint violation of each sample (samples). */
typedef struct {
  double *mean, *path_sigma, *path_c, *cov, *axes, *scale, *y, *value, *excess;
} Distribution;

static int sample_count(const TaskOptimizer* settings, int n) {
  return settings->population > 0 ? settings->population : 4 + (int)floor(3 * math_log(n > 1 ? n : 1));
}

static int parent_count(int samples) { return samples / 2 > 0 ? samples / 2 : 1; }

/* Returns the unnormalized weight of a parent; rank 0: best sample. */
static double raw_weight(int samples, int rank) { return math_log(0.5 * (samples + 1)) - math_log(rank + 1); }

static Constants get_constants(const TaskOptimizer* settings, int count) {
  Constants r = {.n = count, .samples = sample_count(settings, count), .full = count <= FULL_COVARIANCE_MAX};
  double n = count, sum = 0, squares = 0;
  r.parents = parent_count(r.samples);
  for (int k = 0; k < r.parents; k++) {
    double w = raw_weight(r.samples, k);
    sum += w;
    squares += w * w;
  }
  double m = r.effective_parents = sum * sum / squares;
  r.c_sigma = (m + 2) / (n + m + 5);
  r.damping = 1 + 2 * fmax(0, sqrt((m - 1) / (n + 1)) - 1) + r.c_sigma;
  r.c_c = (4 + m / n) / (n + 4 + 2 * m / n);
  r.c_1 = 2 / ((n + 1.3) * (n + 1.3) + m);
  r.c_mu = 2 * (m - 2 + 1 / m) / ((n + 2) * (n + 2) + m);
  double faster = r.full ? 1 : (n + 2) / 3; /* a diagonal covariance needs fewer samples */
  r.c_1 = fmin(1, r.c_1 * faster);
  r.c_mu = fmin(1 - r.c_1, r.c_mu * faster);
  r.expected_norm = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
  return r;
}

static int state_size(const TaskOptimizer* settings, int count) {
  int samples = sample_count(settings, count), square = count <= FULL_COVARIANCE_MAX ? count * count : 0;
  int covariance = square > 0 ? 2 * square : count;
  return ARRAYS + 4 * count + covariance + samples * (count + 2);
}

static Distribution get_distribution(const Optimizer* o, const Constants* r) {
  Distribution c;
  int n = r->n, square = r->full ? n * n : n;
  c.mean = o->rule_state + ARRAYS;
  c.path_sigma = c.mean + n;
  c.path_c = c.path_sigma + n;
  c.scale = c.path_c + n;
  c.cov = c.scale + n;
  c.axes = c.cov + square;
  c.y = c.axes + (r->full ? square : 0);
  c.value = c.y + r->samples * n;
  c.excess = c.value + r->samples;
  return c;
}

/* Workspace: three vectors, the order of the samples and their weights. */
static int work_size(const TaskOptimizer* settings, const FeasibleSet* set) {
  return 3 * set->count + 2 * sample_count(settings, set->count);
}

static void initialize(Optimizer* o, const Constants* r, const double* x) {
  Distribution c = get_distribution(o, r);
  for (int i = 0; i < r->n; i++) {
    c.mean[i] = x[i] / o->step_of[i];
    c.scale[i] = 1;
    c.cov[r->full ? i * r->n + i : i] = 1;
    if (r->full) c.axes[i * r->n + i] = 1;
  }
  o->rule_state[WIDTH] = 1;
}

/* Draws the sample y[n] = axes^T scale z, with z standard normal (O15). axes: eigenvectors of the covariance by rows.
 * scale: square roots of its eigenvalues. z depends only on the index of the sample.
 */
static void draw_sample(const Optimizer* o, const Constants* r, const Distribution* c, double* y) {
  Random random = {o->settings.seed};
  random.state = random_bits(&random) + (uint64_t)o->rule_state[SAMPLES_DRAWN];
  random.state = random_bits(&random);
  memset(y, 0, sizeof(double) * (size_t)r->n);
  for (int k = 0; k < r->n; k++) {
    double z = c->scale[k] * random_normal(&random);
    if (!r->full) y[k] = z;
    for (int i = 0; r->full && i < r->n; i++) y[i] += z * c->axes[k * r->n + i];
  }
}

/* Sets the trial to the next sample, projected onto the feasible set, and stores it. */
static bool propose(Optimizer* o, const double* x, const double* gradient, double* trial) {
  (void)gradient;
  Constants r = get_constants(&o->settings, o->set->count);
  if (o->rule_state[WIDTH] == 0) initialize(o, &r, x);
  Distribution c = get_distribution(o, &r);
  double *y = c.y + (int)o->rule_state[SAMPLE_INDEX] * r.n, width = o->rule_state[WIDTH];
  draw_sample(o, &r, &c, y);
  for (int i = 0; i < r.n; i++) trial[i] = (c.mean[i] + width * y[i]) * o->step_of[i];
  if (!rule_project(o, trial)) return false;
  for (int i = 0; i < r.n; i++) y[i] = (trial[i] / o->step_of[i] - c.mean[i]) / width;
  return true;
}

static void set_sample(Optimizer* o, const double* trial) {
  Constants r = get_constants(&o->settings, o->set->count);
  Distribution c = get_distribution(o, &r);
  double* y = c.y + (int)o->rule_state[SAMPLE_INDEX] * r.n;
  for (int i = 0; i < r.n; i++)
    y[i] = (trial[i] / (o->unit ? o->unit[i] : 1) / o->step_of[i] - c.mean[i]) / o->rule_state[WIDTH];
}

/* Returns true if sample a is better: smaller violation, then smaller loss. Failed samples are last. */
static bool ranks_before(const Distribution* c, int a, int b) {
  bool none_a = !isfinite(c->value[a]), none_b = !isfinite(c->value[b]);
  if (none_a || none_b) return none_b && !none_a;
  double excess_a = fmax(0, c->excess[a]), excess_b = fmax(0, c->excess[b]);
  if (excess_a != excess_b) return excess_a < excess_b;
  return c->value[a] < c->value[b];
}

/* Sorts the samples by rank, order[samples]. Equal samples keep their order. */
static void rank_samples(const Constants* r, const Distribution* c, double* order) {
  for (int k = 0; k < r->samples; k++) {
    int at = k;
    for (; at > 0 && ranks_before(c, k, (int)order[at - 1]); at--) order[at] = order[at - 1];
    order[at] = k;
  }
}

/* Computes v <- C^-1/2 v (n), with C the covariance. work: (n). */
static void whiten(const Constants* r, const Distribution* c, double* v, double* work) {
  if (!r->full) {
    for (int i = 0; i < r->n; i++) v[i] /= c->scale[i];
    return;
  }
  memset(work, 0, sizeof(double) * (size_t)r->n);
  for (int k = 0; k < r->n; k++) {
    double part = 0;
    for (int i = 0; i < r->n; i++) part += c->axes[k * r->n + i] * v[i];
    part /= c->scale[k];
    for (int i = 0; i < r->n; i++) work[i] += part * c->axes[k * r->n + i];
  }
  memcpy(v, work, sizeof(double) * (size_t)r->n);
}

static double squared_norm(int n, const double* v) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += v[i] * v[i];
  return sum;
}

/* Updates the covariance from the parents and the evolution path (O16):
 * C <- (1 - c_1 - c_mu) C + c_1 p p^T + c_mu sum w y y^T, with path p, weights w and samples y. */
static void update_covariance(const Constants* r, const Distribution* c, const double* order, const double* weight,
                              double missing) {
  int n = r->n;
  double keep = 1 - r->c_1 - r->c_mu + r->c_1 * missing;
  for (int i = 0; i < n; i++)
    for (int j = r->full ? 0 : i; j <= i; j++) {
      double sum = r->c_1 * c->path_c[i] * c->path_c[j];
      for (int k = 0; k < r->parents; k++) {
        const double* y = c->y + (int)order[k] * n;
        sum += r->c_mu * weight[k] * y[i] * y[j];
      }
      double* entry = r->full ? &c->cov[i * n + j] : &c->cov[i];
      *entry = keep * *entry + sum;
      if (r->full) c->cov[j * n + i] = *entry;
    }
}

/* Updates the eigendecomposition of the covariance, unless the last one is recent. */
static void update_axes(Optimizer* o, const Constants* r, const Distribution* c) {
  int n = r->n;
  if (!r->full) {
    for (int i = 0; i < n; i++) c->scale[i] = sqrt(c->cov[i]);
    return;
  }
  double every = fmax(1, floor(1 / (10 * n * (r->c_1 + r->c_mu))));
  if (o->rule_state[GENERATION] - o->rule_state[LAST_EIGEN] < every) return;
  o->rule_state[LAST_EIGEN] = o->rule_state[GENERATION];
  memcpy(c->axes, c->cov, sizeof(double) * (size_t)n * (size_t)n);
  if (dense_eigen(n, c->axes, c->scale)) {
    double least = AXIS_MIN * AXIS_MIN * c->scale[n - 1];
    for (int k = 0; k < n; k++) c->scale[k] = sqrt(fmax(c->scale[k], least));
    return;
  }
  memset(
      c->axes, 0,
      sizeof(double) * (size_t)n * (size_t)n); /* the decomposition failed: isotropic distribution until the next one */
  for (int k = 0; k < n; k++) c->axes[k * n + k] = c->scale[k] = 1;
}

/* Updates mean, width and covariance of the distribution from the best samples of a generation (O16). */
static void end_generation(Optimizer* o, const Constants* r) {
  Distribution c = get_distribution(o, r);
  int n = r->n;
  double *step = o->work, *work = step + n, *order = work + 2 * n, *weight = order + r->samples, sum = 0;
  rank_samples(r, &c, order);
  for (int k = 0; k < r->parents; k++) sum += weight[k] = raw_weight(r->samples, k);
  memset(step, 0, sizeof(double) * (size_t)n);
  for (int k = 0; k < r->parents; k++) {
    weight[k] /= sum;
    for (int i = 0; i < n; i++) step[i] += weight[k] * c.y[(int)order[k] * n + i];
  }
  for (int i = 0; i < n; i++) c.mean[i] += o->rule_state[WIDTH] * step[i];
  double rest = 1 - r->c_c, fresh = sqrt(r->c_c * (2 - r->c_c) * r->effective_parents);
  double s_rest = 1 - r->c_sigma, s_fresh = sqrt(r->c_sigma * (2 - r->c_sigma) * r->effective_parents);
  o->rule_state[GENERATION] += 1;
  double begun = 1 - math_pow(s_rest, 2 * o->rule_state[GENERATION]);
  memcpy(work, step, sizeof(double) * (size_t)n);
  whiten(r, &c, work, work + n);
  for (int i = 0; i < n; i++) c.path_sigma[i] = s_rest * c.path_sigma[i] + s_fresh * work[i];
  double expected_norm = sqrt(squared_norm(n, c.path_sigma));
  bool steady = expected_norm / sqrt(begun) < (1.4 + 2.0 / (n + 1)) * r->expected_norm;
  for (int i = 0; i < n; i++) c.path_c[i] = rest * c.path_c[i] + (steady ? fresh * step[i] : 0);
  update_covariance(r, &c, order, weight, steady ? 0 : r->c_c * (2 - r->c_c));
  o->rule_state[WIDTH] *= math_pow(EULER, fmin(1, r->c_sigma / r->damping * (expected_norm / r->expected_norm - 1)));
  update_axes(o, r, &c);
}

static bool report_loss(Optimizer* o, double loss, double violation) {
  Constants r = get_constants(&o->settings, o->set->count);
  Distribution c = get_distribution(o, &r);
  int number = (int)o->rule_state[SAMPLE_INDEX];
  c.value[number] = loss;
  c.excess[number] = violation;
  o->rule_state[SAMPLES_DRAWN] += 1;
  o->rule_state[SAMPLE_INDEX] = number + 1;
  if (number + 1 < r.samples) return true;
  o->rule_state[SAMPLE_INDEX] = 0;
  end_generation(o, &r);
  double widest = 0;
  for (int i = 0; i < r.n; i++) widest = fmax(widest, c.scale[i]);
  return o->rule_state[WIDTH] * widest >= WIDTH_MIN;
}

const UpdateRule RULE_CMA_ES = {.descends = true,
                                .factor_limit = 1,
                                .state_size = state_size,
                                .work_size = work_size,
                                .propose = propose,
                                .set_trial = set_sample,
                                .report_loss = report_loss,
                                .samples = sample_count};
