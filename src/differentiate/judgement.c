/* Verdict on a gradient g along a direction d: compares g . d with central differences of the function
 * (docs/derivations/gradcheck.md). The gradient does not influence the choice of the most accurate difference. */
#include <assert.h>
#include <string.h>

#include "differentiate/gradcheck.h"
#include "linalg/arrays.h"

/* Number of step sizes of a sweep. They decrease from GRADCHECK_LARGEST_STEP by a factor of sqrt(10). FINE_SWEEP adds
 * three decades for functions that are still noisy at the smallest step of SWEEP (J11). */
enum { SWEEP = 15, FINE_SWEEP = GRADCHECK_SWEEP };
/* Relative uncertainty of the best difference above which a function counts as noisy. */
#define NOISY_RESOLUTION 1e-2
/* A sweep ends after this number of consecutive steps with growing uncertainty, because rounding then dominates. The
 * noise is estimated from the same number of steps. */
enum { GROWING_STEPS = 4 };
/* Number of steps for the noise estimate of the even part (L(x + h d) + L(x - h d)) / 2, whose h^4 term persists to
 * smaller steps. */
enum { EVEN_STEPS = 2 };
/* Safety factor on uncertainties that are estimated from neighbouring steps and noise. With 5, test_judgement.c calls 3
 * of 960 000 correct gradients of noisy functions wrong; with 3, 166. */
#define SAFETY_FACTOR 5
/* KINK_TOLERANCE: largest relative difference of the estimates of a kink at three steps. NOISE_RATIO: smallest ratio of
 * a kink to the noise of its slopes, and of a jump to rounding errors. */
#define KINK_TOLERANCE 0.02
#define NOISE_RATIO 30
/* Points near x at which slopes are measured (J10): NEAR_PAIRS random pairs x +- p and one pair along the gradient, at
 * NEAR_SIZES distances that start at NEAR_LARGEST (in scales) and decrease by NEAR_REDUCTION. NEAR_STEP: difference
 * step relative to the distance. */
enum { NEAR_PAIRS = 6, NEAR_POINTS = 2 * NEAR_PAIRS + 2, NEAR_SIZES = 4 };
#define NEAR_LARGEST 1e-3
#define NEAR_REDUCTION 0.1
#define NEAR_STEP 1e-2
/* SLOPE_TOLERANCE: slopes count as constant if their change is below this fraction of their spread. SLOPE_MARGIN: a
 * gradient outside the measured slopes by at most this multiple of their spread may be the slope of another piece of
 * the function. */
#define SLOPE_TOLERANCE 0.1
#define SLOPE_MARGIN 1
/* A jump changes the differences of neighbouring steps by more than this factor times the later changes and the noise
 * (J12). For smooth functions the factor is at most 32, up to terms of h^9. */
#define JUMP_RATIO 1e4
/* Smallest jump of function values relative to slope times step length. Smaller jumps occur when simulation steps need
 * fewer solver iterations (J7). */
#define JUMP_SMALLEST 1e-2

/* Returns the Richardson extrapolation of the central differences at step size k and the one before. It cancels their
 * error terms proportional to the squared step size (J2). */
static double extrapolate(const GradcheckDirection* d, int k) {
  assert(k >= 0 && k < GRADCHECK_SWEEP);
  if (k == 0) return NAN;
  double ratio = d->step[k - 1] / d->step[k], square = ratio * ratio;
  return d->difference[k] + (d->difference[k] - d->difference[k - 1]) / (square - 1);
}

static double extrapolation_change(const GradcheckDirection* d, int k) {
  return fabs(d->extrapolated[k] - d->extrapolated[k - 1]);
}

/* Returns the sum of the function values at both ends of step k without its terms of order 0 and 2 in the step size.
 * Without terms of order 4 it is at most three times the noise of a value. */
static double even_remainder(const GradcheckDirection* d, int k) {
  double ratio = d->step[k] / d->step[k - 1], here = d->sum[k] - d->sum[k - 1], before = d->sum[k - 1] - d->sum[k - 2];
  return fabs(here - ratio * ratio * before);
}

/* Returns the noise of one function value, estimated from the differences at the last steps, and at least the rounding
 * error of a value (J3). */
static double estimate_odd_noise(const GradcheckDirection* d, double rounding) {
  double noise = rounding; /* fmax ignores NaN */
  for (int k = d->tried - 1; k > 1 && k >= d->tried - GROWING_STEPS; k--)
    noise = fmax(noise, extrapolation_change(d, k) * d->step[k]);
  return noise;
}

/* Returns the noise of one function value, estimated from the differences and the even part (J3). A kink also increases
 * the estimate. */
static double estimate_noise(const GradcheckDirection* d, double rounding) {
  double noise = estimate_odd_noise(d, rounding);
  for (int k = d->tried - 1; k > 1 && k >= d->tried - EVEN_STEPS; k--) noise = fmax(noise, even_remainder(d, k) / 2);
  return noise;
}

/* Returns the first step that is smaller than all steps at which a function value failed (J6). */
static int first_step_without_failure(const GradcheckDirection* d) {
  int first = d->tried;
  while (first > 0 && isfinite(d->difference[first - 1])) first--;
  return first;
}

/* Return two changes from step size k to the next: of the central difference, times the step size; of the sum of both
 * values. */
static double odd_change(const GradcheckDirection* d, int k) {
  return fabs(d->difference[k] - d->difference[k + 1]) * d->step[k];
}
static double even_change(const GradcheckDirection* d, int k) { return fabs(d->sum[k] - d->sum[k + 1]); }

/* Returns the first step that does not cross a jump near x, or 0 without a jump (J12). */
static int first_step_below_jump(const GradcheckDirection* d, double noise) {
  for (int k = d->tried - 3; k >= first_step_without_failure(d); k--) {
    double least = JUMP_SMALLEST * fmax(fabs(d->difference[k + 1]), fabs(d->analytic)) * d->step[k];
    bool odd = odd_change(d, k) >= fmax(least, JUMP_RATIO * fmax(odd_change(d, k + 1), noise));
    bool even = even_change(d, k) >= fmax(least, JUMP_RATIO * fmax(even_change(d, k + 1), noise));
    if (odd || even) return k + 1;
  }
  return 0;
}

/* Returns the first step that is smaller than all steps with a failed value and all steps across a jump. */
static int first_valid_step(const GradcheckDirection* d, double noise) {
  int unbroken = first_step_without_failure(d), below = first_step_below_jump(d, noise);
  return below > unbroken ? below : unbroken;
}

/* Returns the uncertainty of the extrapolation at step k: its change from the step before. The first valid
 * extrapolation is compared with the plain difference. Returns INFINITY if there is no step before. */
static double change_uncertainty(const GradcheckDirection* d, int k, double noise) {
  int first = first_valid_step(d, noise);
  if (k < (first > 0 ? first + 1 : 2)) return INFINITY;
  double change =
      first > 0 && k == first + 1 ? fabs(d->extrapolated[k] - d->difference[k - 1]) : extrapolation_change(d, k);
  return isfinite(change) ? fmax(change, noise / d->step[k]) : (double)INFINITY;
}

/* Returns the uncertainty of the extrapolation at step k, including its disagreement with all smaller steps beyond
 * noise (J4). Otherwise a noisy function could agree at two steps by chance. */
static double compute_uncertainty(const GradcheckDirection* d, int k, double noise) {
  double most = change_uncertainty(d, k, noise);
  for (int j = k + 1; j < d->tried; j++)
    most = fmax(most, fabs(d->extrapolated[j] - d->extrapolated[k]) - SAFETY_FACTOR * noise / d->step[j]);
  return most;
}

/* Returns the step with the smallest uncertainty, or -1 if all uncertainties are infinite. */
static int find_best_step(const GradcheckDirection* d, double noise,
                          double (*uncertainty_at)(const GradcheckDirection* d, int k, double noise)) {
  int best = -1;
  double least = INFINITY;
  for (int k = 1; k < d->tried; k++) {
    double here = uncertainty_at(d, k, noise);
    if (here < least) best = k, least = here;
  }
  return best;
}

/* Returns the divisor of relative errors: the larger of the gradient's slope |g . d| and the extrapolated difference at
 * step k. For k = -1 it is |g . d| alone. A gradient that is too small therefore gives a large error. */
static double error_scale(const GradcheckDirection* d, int k) {
  return fmax(fabs(d->analytic), k < 0 ? 0 : fabs(d->extrapolated[k]));
}

static double relative_error(double x, double scale) { return scale > 0 ? x / scale : x > 0 ? (double)INFINITY : 0; }

/* Returns the verdict from the relative error of the gradient along the direction and from the uncertainty of the
 * differences (J5). bound: largest relative error that passes. */
static GradcheckVerdict check_identifiability(const GradcheckDirection* d, double bound) {
  if (!isfinite(d->analytic)) return GRADCHECK_WRONG;
  if (d->error > bound && d->error > d->resolution) return GRADCHECK_WRONG;
  return d->resolution <= bound ? GRADCHECK_RIGHT : GRADCHECK_UNCHECKED;
}

static double compute_error(const GradcheckDirection* d, double difference) {
  return fabs(difference - d->analytic) / d->scale;
}

/* Errors below this multiple of the noise do not enter the order of convergence. */
#define ORDER_NOISE_RATIO 30

/* Returns the observed order of convergence of the plain differences in the step size h, from the last decade of steps
 * above noise. Returns NaN if there are too few steps. */
static double observed_order(const GradcheckDirection* d, int best, double noise) {
  int to = best;
  while (to > 0 && !(compute_error(d, d->difference[to]) * d->scale > ORDER_NOISE_RATIO * noise / d->step[to])) to--;
  if (to == 0) return NAN;
  int from = to > 1 ? to - 2 : 0;
  return math_log(compute_error(d, d->difference[from]) / compute_error(d, d->difference[to])) /
         math_log(d->step[from] / d->step[to]);
}

/* Sets relative error, uncertainty (resolution), order of convergence and verdict of the direction from the step size
 * `best`. best -1: no step size is usable. */
static void set_verdict(GradcheckDirection* d, int best, double noise, double gradient_rounding, double bound) {
  d->scale = error_scale(d, best);
  d->resolution =
      best < 0 ? (double)INFINITY
               : relative_error(SAFETY_FACTOR * compute_uncertainty(d, best, noise) + gradient_rounding, d->scale);
  d->error = best < 0 ? (double)NAN : relative_error(fabs(d->extrapolated[best] - d->analytic), d->scale);
  d->best_step = best < 0 ? (double)NAN : d->step[best];
  d->verdict = check_identifiability(d, bound);
  d->order = best < 0 || d->scale == 0 ? (double)NAN : observed_order(d, best, noise);
}

/* Returns half the difference between the slopes of the function on both sides of x, from step sizes k - 1 and k (J8).
 */
static double slope_jump(const GradcheckDirection* d, int k) {
  return (d->sum[k - 1] - d->sum[k]) / (2 * (d->step[k - 1] - d->step[k]));
}

/* Returns half the difference between the slopes on both sides of x at step k, without its term of first order in the
 * step size. That term is the second derivative or its jump. */
static double corrected_slope_jump(const GradcheckDirection* d, int k) {
  double here = slope_jump(d, k), before = slope_jump(d, k - 1);
  return here + (here - before) / (d->step[k - 1] / d->step[k] - 1);
}

/* Returns true if the estimates of a kink at three consecutive step sizes agree. */
static bool is_constant(double here, double before, double earlier) {
  return fabs(here - before) <= KINK_TOLERANCE * fabs(here) && fabs(here - earlier) <= 5 * KINK_TOLERANCE * fabs(here);
}

/* Returns true if the function has a kink at x and g . d lies between the one-sided slopes (J8). For a smooth function
 * the difference of the slopes decreases with h; at a kink it stays constant over three steps. noise: noise of the
 * differences. */
static bool is_kink(const GradcheckDirection* d, double noise) {
  for (int k = first_valid_step(d, noise) + 4; k < d->tried; k++) {
    double half = corrected_slope_jump(d, k), least = NOISE_RATIO * noise / d->step[k];
    bool steady = is_constant(half, corrected_slope_jump(d, k - 1), corrected_slope_jump(d, k - 2));
    if (!steady || !(fabs(half) > least)) continue;
    return fabs(d->analytic - d->difference[k]) <= (1 + KINK_TOLERANCE) * fabs(half);
  }
  return false;
}

/* Smallest step of all sweeps (J13). */
#define FINEST_STEP 1e-12

/* Returns true if the differences agree at no step while the gradient may hold over steps below the smallest (J13). The
 * function then varies on a scale finer than all steps. */
static bool is_below_resolution(const GradcheckDirection* d, double noise, double rounding) {
  double range = 0;
  for (int k = first_step_without_failure(d); k < d->tried; k++)
    range = fmax(range, fabs(d->difference[k]) * d->step[k]);
  if (!(range > NOISE_RATIO * rounding && range < FINEST_STEP * fabs(d->analytic))) return false;
  int best = find_best_step(d, noise, compute_uncertainty);
  return best < 0 || SAFETY_FACTOR * compute_uncertainty(d, best, noise) > fabs(d->extrapolated[best]);
}

/* Return half the difference of the values at both ends of step k, and the deviation of their mean from `value` (J9).
 */
static double odd_value_jump(const GradcheckDirection* d, int k) { return d->difference[k] * d->step[k]; }
static double even_value_jump(const GradcheckDirection* d, int k, double value) { return d->sum[k] / 2 - value; }

/* Returns true if the jump `even` exceeds the variation of the mean of both end values from step k on. Up to three
 * exceptions are allowed, because one outlier enters three remainders. */
static bool exceeds_variation(const GradcheckDirection* d, int k, double even) {
  int above = 0;
  for (int j = k; j < d->tried; j++) above += NOISE_RATIO * even_remainder(d, j) / 2 > fabs(even);
  return above <= 3;
}

/* Returns true if the function jumps at x by `least` or more (J9). value: function value at x. */
static bool has_jump(const GradcheckDirection* d, double value, double least, double rounding) {
  /* larger steps cross a failed value or a jump near x and belong to another piece of the function */
  for (int k = first_step_below_jump(d, estimate_noise(d, rounding)) + 2; k < d->tried; k++) {
    double odd = odd_value_jump(d, k), even = even_value_jump(d, k, value), jump = 0;
    if (is_constant(odd, odd_value_jump(d, k - 1), odd_value_jump(d, k - 2))) jump = fabs(odd);
    if (is_constant(even, even_value_jump(d, k - 1, value), even_value_jump(d, k - 2, value)) &&
        exceeds_variation(d, k, even))
      jump = fmax(jump, fabs(even));
    if (jump >= least && jump > NOISE_RATIO * rounding) return true;
  }
  return false;
}

/* Returns the smallest jump at x that explains the error of the direction (J9). */
static double smallest_relevant_jump(const GradcheckDirection* d) {
  return isfinite(d->best_step) ? 2 * d->best_step * d->error * d->scale : 0;
}

/* Replaces the verdict GRADCHECK_WRONG if the differences contradict each other (J7): the step that agrees best with
 * its neighbours then decides. */
static void recheck_contradiction(GradcheckDirection* d, double noise, double gradient_rounding, double bound) {
  int other = find_best_step(d, noise, change_uncertainty);
  if (other >= 0 && fabs(d->extrapolated[other] - d->analytic) <=
                        SAFETY_FACTOR * change_uncertainty(d, other, noise) + gradient_rounding)
    set_verdict(d, other, noise, gradient_rounding, bound);
}

/* Sets the verdict of a direction, its noise and kink. rounding: rounding error of a function value. gradient_rounding:
 * rounding error of g . d. bound: largest relative error that passes. */
static void judge_direction(GradcheckDirection* d, double rounding, double gradient_rounding, double bound) {
  double noise = estimate_noise(d, rounding);
  set_verdict(d, find_best_step(d, noise, compute_uncertainty), noise, gradient_rounding, bound);
  if (d->verdict == GRADCHECK_WRONG) recheck_contradiction(d, noise, gradient_rounding, bound);
  d->noise = noise;
  d->is_noisy = noise > NOISE_RATIO * rounding;
  int below = first_step_below_jump(d, noise);
  d->jump_step = below > 0 ? d->step[below - 1] : 0;
  d->kink = d->verdict != GRADCHECK_RIGHT && is_kink(d, estimate_odd_noise(d, rounding));
  if (d->kink) d->verdict = GRADCHECK_UNCHECKED;
}

/* Draws a random direction of length about 1 in the scales of the parameters, direction[count]. Its component along the
 * gradient ensures |g . d| >= |g| / sqrt(n). Returns g . d. */
static double draw_direction(Random* random, const double* gradient, double norm, const double* scale, int count,
                             double* direction) {
  double along = 0, moved = 0, share = 1 / sqrt((double)count);
  for (int k = 0; k < count; k++) {
    direction[k] = scale[k] * random_normal(random) * share;
    along += gradient[k] * direction[k];
  }
  for (int k = 0; k < count; k++) {
    if (norm > 0) direction[k] += copysign(share, along) * (gradient[k] * scale[k] / norm) * scale[k];
    moved += gradient[k] * direction[k];
  }
  return moved;
}

/* Function and direction of a sweep of difference steps. */
typedef struct {
  GradcheckValue value;
  void* context;
  int count;
  const double *base, *direction;
  double* values;
  double rounding; /* rounding error of one function value */
} Sweep;

static double evaluate_at(const Sweep* s, double h) {
  for (int k = 0; k < s->count; k++) s->values[k] = s->base[k] + h * s->direction[k];
  return s->value(s->context, s->values);
}

static bool is_complete(const Sweep* s, const GradcheckDirection* d, int best, double bound) {
  return SAFETY_FACTOR * change_uncertainty(d, best, s->rounding) <= bound * error_scale(d, best);
}

static bool is_interrupted(const GradcheckOptions* options) { return options->interrupted && options->interrupted(); }

/* Evaluates the central difference at the next smaller step. Returns false if interrupted. */
static bool add_step(const Sweep* s, const GradcheckOptions* options, GradcheckDirection* d) {
  double h = d->tried == 0 ? GRADCHECK_LARGEST_STEP : sqrt(0.1) * d->step[d->tried - 1];
  double plus = evaluate_at(s, h), minus = evaluate_at(s, -h);
  if (is_interrupted(options)) return false;
  int k = d->tried++;
  d->step[k] = h;
  d->sum[k] = plus + minus;
  d->difference[k] = (plus - minus) / (2 * h); /* central difference (J1) */
  d->extrapolated[k] = extrapolate(d, k);
  return true;
}

/* Evaluates central differences at decreasing steps until rounding dominates, for at most SWEEP steps. Returns false if
 * interrupted. */
static bool run_sweep(const Sweep* s, const GradcheckOptions* options, GradcheckDirection* d) {
  int best = -1, growing = 0;
  d->tried = 0;
  while (d->tried < SWEEP && growing < GROWING_STEPS) {
    if (!add_step(s, options, d)) return false;
    int now = find_best_step(d, s->rounding, change_uncertainty);
    growing = now == best && best >= 0 && is_complete(s, d, best, options->bound) ? growing + 1 : 0;
    best = now;
  }
  return true;
}

/* Continues the sweep up to `count` steps. Returns false if interrupted. */
static bool continue_sweep(const Sweep* s, const GradcheckOptions* options, int count, GradcheckDirection* d) {
  while (d->tried < count)
    if (!add_step(s, options, d)) return false;
  return true;
}

/* ---------------------------------------------------------------- least-squares fits over many step lengths (J14) */

/* Default number of step lengths of a fit. With 16, the resolution for noisy smooth functions improves by factors of 5
 * to 9. */
enum { FIT_LENGTHS = 16 };
/* Longest and shortest step length of a fit, relative to the best step of the sweep. */
#define FIT_LONGEST 10
#define FIT_SHORTEST 0.3
/* FIT_POWERS: largest number of powers of h in a fit. FIT_EXCESS: smallest number of differences beyond the number of
 * powers, from which the noise is estimated. */
enum { FIT_POWERS = 5, FIT_EXCESS = 6 };
/* Uncertainty of a fit in standard deviations, before SAFETY_FACTOR. With 2, no correct gradient of 7200 random noisy
 * functions is called wrong. With 1, six are. */
#define FIT_DEVIATIONS 2

/* Central differences of the function, sorted by increasing step length. */
typedef struct {
  int count;
  double *step, *difference;
} Samples;

/* Result of a fit to central differences. slope: fitted difference for step length 0. noise: standard deviation of step
 * length times difference. spread: standard deviation of the slope for noise 1. */
typedef struct {
  double slope, spread, noise;
} Fit;

/* Sets a[n] to one column of the weighted least-squares fit: a[i] = h_i (h_i / longest)^power for the step lengths h_i.
 * The factor h_i is the weight. */
static void fill_column(const Samples* s, int n, double power, double* a) {
  for (int j = 0; j < n; j++) a[j] = s->step[j] * math_pow(s->step[j] / s->step[n - 1], power);
}

static double root_mean_square(const double* rest, int first, int n, double free) {
  return sqrt(array_dot(n - first, rest + first, rest + first) / free);
}

/* Fits slope + sum_m c_m h^(m power), with m < powers and step length h, to the differences of the n shortest steps by
 * weighted least squares. The noise of a difference is proportional to 1 / step. Returns the larger of the noise
 * estimates from all differences and from the longer half. memory: (FIT_POWERS + 1) n numbers. */
static Fit fit_powers(const Samples* s, int n, int powers, double power, double* memory) {
  double *rest = memory + (size_t)FIT_POWERS * (size_t)n, lead[FIT_POWERS], slope = 0, square = 0;
  for (int j = 0; j < n; j++) rest[j] = s->step[j] * s->difference[j];
  /* the slope is the coefficient of the last column after Gram-Schmidt orthogonalization of the other columns */
  for (int m = 0; m < powers; m++) {
    double* column = memory + (size_t)m * (size_t)n;
    fill_column(s, n, power * (powers - 1 - m), column);
    for (int twice = 0; twice < 2; twice++)
      for (int k = 0; k < m; k++) {
        const double* other = memory + (size_t)k * (size_t)n;
        double share = array_dot(n, column, other) / lead[k];
        for (int j = 0; j < n; j++) column[j] -= share * other[j];
      }
    lead[m] = array_dot(n, column, column);
    square = lead[m];
    slope = array_dot(n, column, rest) / square;
    for (int j = 0; j < n; j++) rest[j] -= slope * column[j];
  }
  int half = n / 2;
  double whole = root_mean_square(rest, 0, n, n - powers),
         upper = root_mean_square(rest, half, n, fmax(1, n - half - 0.7 * powers));
  return (Fit){slope, 1 / sqrt(square), fmax(whole, upper)};
}

/* Fit with the smallest standard deviation of the slope. deviation: INFINITY with too few differences. longest: longest
 * step length. */
typedef struct {
  double slope, deviation, longest;
} BestFit;

/* Returns the best of the fits with different numbers of differences and of powers of h^power, with h the step length.
 * The slope is taken from a fit with one power more than the fit that measures the noise. Its truncation error is then
 * below the noise. */
static BestFit find_best_fit(const Samples* s, double power, double* memory) {
  BestFit best = {0, INFINITY, 0};
  for (int n = FIT_EXCESS + 2; n <= s->count; n++)
    for (int powers = 1; powers < FIT_POWERS && n - powers - 1 >= FIT_EXCESS; powers++) {
      Fit more = fit_powers(s, n, powers + 1, power, memory);
      double deviation = fit_powers(s, n, powers, power, memory).noise * more.spread;
      if (deviation < best.deviation) best = (BestFit){more.slope, deviation, s->step[n - 1]};
    }
  return best;
}

/* Inserts a finite difference in the order of step lengths. */
static void add_sample(Samples* s, double step, double difference) {
  if (!isfinite(difference)) return;
  int k = s->count++;
  for (; k > 0 && s->step[k - 1] > step; k--) s->step[k] = s->step[k - 1], s->difference[k] = s->difference[k - 1];
  s->step[k] = step;
  s->difference[k] = difference;
}

/* Collects the differences of the sweep and of `lengths` more step lengths around its best step. Skips steps across a
 * jump near x. Returns false if interrupted. */
static bool collect_samples(const Sweep* s, const GradcheckOptions* options, const GradcheckDirection* d, int lengths,
                            Samples* samples) {
  int first = first_valid_step(d, d->noise);
  double longest = first > 0 ? d->step[first] : GRADCHECK_LARGEST_STEP, ratio = FIT_LONGEST / FIT_SHORTEST;
  for (int k = first; k < d->tried; k++) add_sample(samples, d->step[k], d->difference[k]);
  for (int j = 0; j < lengths && !is_interrupted(options); j++) {
    double h = FIT_SHORTEST * d->best_step * math_pow(ratio, (j + 0.5) / lengths);
    if (h > longest) break;
    add_sample(samples, h, (evaluate_at(s, h) - evaluate_at(s, -h)) / (2 * h));
  }
  return !is_interrupted(options);
}

static int fit_length_count(const GradcheckOptions* options) {
  return options->fit_lengths > 0 ? options->fit_lengths : FIT_LENGTHS;
}

/* Replaces error and resolution of a noisy direction by those of a fit over many step lengths, if the resolution is
 * better (J14). Returns false if interrupted. */
static bool improve_by_fit(const Sweep* s, const GradcheckOptions* options, double gradient_rounding,
                           GradcheckDirection* d) {
  bool hidden = d->verdict == GRADCHECK_UNCHECKED && !d->kink && !d->jump && d->resolution < 1;
  int lengths = fit_length_count(options);
  if (!hidden || lengths <= 1 || relative_error(gradient_rounding, d->scale) >= options->bound) return true;
  size_t most = (size_t)lengths + (size_t)d->tried;
  double* memory = MEMORY_NEW(double, (3 + FIT_POWERS) * most);
  Samples samples = {0, memory, memory + most};
  bool complete = collect_samples(s, options, d, lengths, &samples);
  BestFit best = {0, INFINITY, 0}, other = best;
  if (complete)
    best = find_best_fit(&samples, 2, memory + 2 * most), other = find_best_fit(&samples, 1, memory + 2 * most);
  memory_free(memory);
  double compute_uncertainty =
      fmax(FIT_DEVIATIONS * fmin(best.deviation, other.deviation), fabs(best.slope - other.slope) / 2);
  if (other.deviation < best.deviation) best = other;
  for (int k = 1; k < d->tried; k++) /* disagreement with shorter steps beyond noise (J4) */
    if (d->step[k] < best.longest)
      compute_uncertainty =
          fmax(compute_uncertainty, fabs(d->extrapolated[k] - best.slope) - SAFETY_FACTOR * d->noise / d->step[k]);
  double scale = fmax(fabs(d->analytic), fabs(best.slope)),
         resolution = relative_error(SAFETY_FACTOR * compute_uncertainty + gradient_rounding, scale);
  if (!(resolution < d->resolution)) return complete;
  d->scale = scale;
  d->resolution = resolution;
  d->error = relative_error(fabs(best.slope - d->analytic), scale);
  d->best_step = best.longest;
  d->verdict = check_identifiability(d, options->bound);
  return complete;
}

/* Safety factor on the estimated number of step lengths. */
#define LENGTHS_FACTOR 2
/* Resolution of a fit over FIT_LENGTHS step lengths relative to the resolution without a fit. Measured: 0.11 to 0.21.
 */
#define FIT_GAIN 0.2

/* Returns the number of step lengths after which a fit would be accurate enough to show an error as small as the bound
 * (J14). The resolution is proportional to 1/sqrt(number). Returns INFINITY if rounding prevents this or a fit did not
 * improve the resolution. single_resolution: resolution without a fit. */
static double lengths_needed(const GradcheckDirection* d, double single_resolution, double rounding,
                             double gradient_rounding, const GradcheckOptions* options) {
  int lengths = fit_length_count(options);
  double fitted = lengths > 1 ? d->resolution : FIT_GAIN * d->resolution;
  double floor = relative_error(gradient_rounding, d->scale), left = (options->bound - floor) / (fitted - floor);
  if (!(left > 0) || !(d->noise * left >= rounding)) return INFINITY;
  if (lengths > 1 && !(d->resolution < single_resolution)) return INFINITY;
  return LENGTHS_FACTOR * (lengths > 1 ? lengths : FIT_LENGTHS) / (left * left);
}

/* Continues the sweep to smaller steps if the function is still noisy at the smallest step (J11). Returns false if
 * interrupted. */
static bool refine_noisy_sweep(const Sweep* s, const GradcheckOptions* options, double gradient_rounding,
                               GradcheckDirection* d) {
  bool blind = d->verdict == GRADCHECK_WRONG || d->resolution > NOISY_RESOLUTION;
  if (!blind || !d->is_noisy || d->tried < SWEEP) return true;
  GradcheckDirection closer = *d;
  if (!continue_sweep(s, options, FINE_SWEEP, &closer)) return false;
  judge_direction(&closer, s->rounding, gradient_rounding, options->bound);
  if (closer.best_step <= d->step[SWEEP - 1]) *d = closer;
  return true;
}

/* Measures the slopes along the direction at the points base + size * displacements (J10). Sets slope[NEAR_POINTS]. */
static void compute_nearby_slopes(const Sweep* s, const double* displacements, double size, double* slope) {
  double step = NEAR_STEP * size;
  for (int n = 0; n < NEAR_POINTS; n++) {
    double beside[2];
    for (int side = 0; side < 2; side++) {
      double along = side ? -step : step;
      for (int k = 0; k < s->count; k++)
        s->values[k] = s->base[k] + size * displacements[n * s->count + k] + along * s->direction[k];
      beside[side] = s->value(s->context, s->values);
    }
    slope[n] = (beside[0] - beside[1]) / (2 * step);
  }
}

/* Draws pairs of opposite displacements from x, about as long as the direction. The last pair is along the gradient. */
static void draw_displacements(const Sweep* s, Random* random, const double* gradient, double norm, const double* scale,
                               double* displacements) {
  double share = 1 / sqrt((double)s->count);
  for (int n = 0; n < NEAR_POINTS; n += 2) {
    double *one = displacements + n * s->count, *other = one + s->count;
    for (int k = 0; k < s->count; k++) {
      double drawn = share * random_normal(random);
      one[k] = scale[k] * (n < 2 * NEAR_PAIRS ? drawn : norm > 0 ? gradient[k] * scale[k] / norm : 0);
      other[k] = -one[k];
    }
  }
}

typedef struct {
  double low, high;
} SlopeRange;

static SlopeRange slope_range(const double* slope) {
  SlopeRange r = {INFINITY, -INFINITY};
  for (int n = 0; n < NEAR_POINTS; n++)
    if (isfinite(slope[n])) r = (SlopeRange){fmin(r.low, slope[n]), fmax(r.high, slope[n])};
  return r;
}

static double largest_change(const double* slope, const double* before) {
  double most = 0; /* fmax ignores NaN */
  for (int n = 0; n < NEAR_POINTS; n++) most = fmax(most, fabs(slope[n] - before[n]));
  return most;
}

/* Returns true if the function has a kink at x across the direction, and g . d can be the slope of one of its pieces
 * (J10). At such a kink, for example the tip of a cone, slopes at nearby points do not converge with their distance
 * from x. */
static bool is_kink_across(const Sweep* s, const double* displacements, const GradcheckDirection* d, double noise) {
  double slope[NEAR_POINTS], before[NEAR_POINTS], size = NEAR_LARGEST;
  compute_nearby_slopes(s, displacements, size, before);
  for (int m = 1; m < NEAR_SIZES; m++) {
    size *= NEAR_REDUCTION;
    compute_nearby_slopes(s, displacements, size, slope);
    SlopeRange r = slope_range(slope);
    double width = r.high - r.low, beyond = SLOPE_MARGIN * width;
    if (!(width > NOISE_RATIO * noise / (NEAR_STEP * size))) return false;
    if (largest_change(slope, before) <= SLOPE_TOLERANCE * width)
      return d->analytic >= r.low - beyond && d->analytic <= r.high + beyond;
    memcpy(before, slope, sizeof slope);
  }
  return false;
}

/* Replaces *worst by `value` if this is larger. NaN counts as the largest value. */
static void update_worst(double* worst, double value) {
  if (!isnan(*worst) && !(value <= *worst)) *worst = value;
}

static void report_direction(GradcheckBlockReport* report, const GradcheckDirection* d, double bound) {
  update_worst(&report->error, d->error);
  update_worst(&report->resolution, d->resolution);
  if (!isfinite(report->order) || d->order < report->order) report->order = d->order;
  if (d->verdict > report->verdict) report->verdict = d->verdict;
  report->kink = report->kink || d->kink;
  report->jump = report->jump || d->jump;
  report->is_noisy = report->is_noisy || d->is_noisy;
  report->precise = report->precise || d->precise;
  report->valid_step = fmax(report->valid_step, d->valid_step);
  if (d->verdict == GRADCHECK_WRONG || !(d->resolution > bound)) return;
  report->noise = fmax(report->noise, d->noise);
  report->lengths_needed = fmax(report->lengths_needed, d->lengths_needed);
  report->scatter = fmax(report->scatter, d->scatter);
  if (d->verdict != GRADCHECK_UNCHECKED) return;
  if (!d->jump) report->jump_step = fmax(report->jump_step, d->jump_step);
}

/* Changes a wrong verdict to GRADCHECK_UNCHECKED if the differences cannot show the slope at x: a kink at small steps
 * (J8), a jump at x (J9), a kink across the direction (J10) or variation finer than all steps (J13). Returns false if
 * interrupted. */
static bool excuse_wrong_verdict(const Sweep* s, const double* displacements, GradcheckFloor floor,
                                 const GradcheckOptions* options, GradcheckDirection* d) {
  GradcheckDirection again = *d;
  if (!continue_sweep(s, options, SWEEP, &again)) return false;
  judge_direction(&again, floor.value, floor.gradient / sqrt((double)s->count), options->bound);
  double noise = estimate_odd_noise(&again, floor.value);
  int first = first_step_without_failure(&again);
  bool broken = first > 0 && again.step[first - 1] < d->best_step; /* the best step crosses a failed value (J6) */
  bool right = broken && again.verdict == GRADCHECK_RIGHT;
  again.jump =
      !again.kink && !right && has_jump(&again, evaluate_at(s, 0), smallest_relevant_jump(&again), floor.value);
  again.kink = again.kink || (!again.jump && is_kink_across(s, displacements, &again, noise));
  bool fine = !again.kink && !again.jump && isfinite(again.analytic) &&
              is_below_resolution(&again, estimate_noise(&again, floor.value), floor.value);
  if (fine) again.resolution = INFINITY, again.is_noisy = true;
  if (again.kink || again.jump || fine) again.verdict = GRADCHECK_UNCHECKED;
  if (again.kink || again.jump || fine || broken) *d = again;
  return !is_interrupted(options);
}

/* A gradient holds over short steps only (J16) if the differences over these steps agree with it to AGREEMENT, and the
 * differences over all steps that are at least STEP_RATIO times as long deviate from it by more than DISAGREEMENT
 * (relative). */
#define AGREEMENT 0.01
#define DISAGREEMENT 0.5
#define STEP_RATIO 1e3

static double relative_deviation(const GradcheckDirection* d, int k) {
  return fabs(d->difference[k] - d->analytic) / fabs(d->analytic);
}

/* Returns the longest step of the sweep up to which the gradient holds, or 0 if it holds at no step or at all steps
 * (J16). rounding: rounding error of a function value. */
static double find_valid_step(const GradcheckDirection* d, double rounding) {
  int first = d->tried;
  while (first > 0 && relative_deviation(d, first - 1) <= AGREEMENT) first--;
  if (first == 0 || d->tried - first < 2) return 0;
  double range = d->step[first];
  if (!(rounding / d->step[d->tried - 1] <= AGREEMENT * fabs(d->analytic))) return 0;
  bool longer = false;
  for (int k = 0; k < first && d->step[k] >= STEP_RATIO * range; k++) {
    if (relative_deviation(d, k) <= DISAGREEMENT) return 0;
    longer = true;
  }
  return longer ? range : 0;
}

/* Extends the sweep to the finest step if the gradient disagrees with the largest step by more than DISAGREEMENT (J16).
 * A gradient that holds at the finest steps only is reported as a kink. Returns false if interrupted. */
static bool check_finest_steps(const Sweep* s, const GradcheckOptions* options, GradcheckDirection* d) {
  if (d->tried == 0 || !isfinite(d->analytic) || !(relative_deviation(d, 0) > DISAGREEMENT)) return true;
  GradcheckDirection fine = *d;
  if (!continue_sweep(s, options, FINE_SWEEP, &fine)) return false;
  d->valid_step = find_valid_step(&fine, s->rounding);
  if (d->valid_step > 0) d->kink = true, d->verdict = GRADCHECK_UNCHECKED;
  return true;
}

/* Number of gradients at perturbed points, and distance of the first point from x in scales (J17). */
enum { SCATTER_RUNS = 6 };
#define SCATTER_STEP 1e-12

/* Measures the rounding error of g . d by its standard deviation over points that differ by rounding errors, and adds
 * it to the resolution of the verdict (J17). memory: count numbers. Returns false if interrupted. */
static bool measure_gradient_rounding(const Sweep* s, GradcheckGradient gradient_at, const GradcheckOptions* options,
                                      double* memory, GradcheckDirection* d) {
  double slope[SCATTER_RUNS], mean = 0, square = 0;
  for (int n = 0; n < SCATTER_RUNS; n++) {
    double h = SCATTER_STEP * (n % 2 ? -1 : 1) * (1 + 0.5 * n);
    for (int k = 0; k < s->count; k++) s->values[k] = s->base[k] + h * s->direction[k];
    if (!gradient_at(s->context, s->values, memory)) return !is_interrupted(options);
    slope[n] = array_dot(s->count, memory, s->direction);
    mean += slope[n] / SCATTER_RUNS;
  }
  for (int n = 0; n < SCATTER_RUNS; n++) square += (slope[n] - mean) * (slope[n] - mean);
  double scatter = sqrt(square / (SCATTER_RUNS - 1)) / d->scale, resolution = d->resolution + SAFETY_FACTOR * scatter;
  if (d->error > resolution) return !is_interrupted(options);
  d->scatter = scatter;
  d->resolution = resolution;
  d->verdict = check_identifiability(d, options->bound);
  return !is_interrupted(options);
}

/* Repeats the check of a wrong direction with time steps solved to a smaller tolerance, and takes the new result if its
 * verdict is right (J18), or if its verdict is unchecked and its error plus its resolution is below the former error.
 * The error of a step that is solved to a tolerance varies with x, so it gives the differences a slope that no gradient
 * has. Returns false if interrupted. */
static bool check_precisely(const Sweep* s, GradcheckFloor floor, const GradcheckOptions* options,
                            GradcheckDirection* d) {
  Sweep precise = *s;
  GradcheckDirection again = {.analytic = d->analytic};
  double gradient_rounding = floor.gradient / sqrt((double)s->count);
  precise.value = floor.precise_value;
  if (!run_sweep(&precise, options, &again)) return false;
  judge_direction(&again, floor.value, gradient_rounding, options->bound);
  if (!improve_by_fit(&precise, options, gradient_rounding, &again)) return false;
  bool hidden = again.verdict == GRADCHECK_UNCHECKED && !(again.error + again.resolution < d->error);
  if (again.verdict == GRADCHECK_WRONG || hidden) return true;
  again.precise = true;
  *d = again;
  return true;
}

/* Accepts a direction whose differences are too noisy for the bound, if their relative uncertainty is at most
 * options->accepted_resolution (J14). */
static void accept_resolution(const GradcheckOptions* options, GradcheckDirection* d) {
  bool hidden = d->verdict == GRADCHECK_UNCHECKED && !d->kink && !d->jump;
  if (hidden && d->error <= d->resolution && d->resolution <= options->accepted_resolution)
    d->verdict = GRADCHECK_RIGHT;
}

void gradcheck_vector(int count, const double* gradient, const double* scale, const double* base, GradcheckFloor floor,
                      GradcheckValue value, void* context, const GradcheckOptions* options, uint64_t seed,
                      GradcheckBlockReport* report) {
  assert(count >= 0 && options->directions >= 0);
  *report = (GradcheckBlockReport){.count = count, .order = NAN};
  if (count == 0) return;
  double* direction = MEMORY_NEW(double, (3 + NEAR_POINTS) * (size_t)count);
  double *values = direction + count, *other = values + count, *displacements = other + count;
  for (int k = 0; k < count; k++) report->norm += gradient[k] * scale[k] * gradient[k] * scale[k];
  report->norm = sqrt(report->norm);
  double share = 1 / sqrt((double)count);
  Random random = {seed}, places_random = {~seed};
  Sweep s = {value, context, count, base, direction, values, floor.value};
  for (int n = 0; n < options->directions && n < GRADCHECK_DIRECTIONS && !is_interrupted(options); n++) {
    GradcheckDirection* d = &report->direction[n];
    d->analytic = draw_direction(&random, gradient, report->norm, scale, count, direction);
    if (!run_sweep(&s, options, d)) break;
    judge_direction(d, floor.value, floor.gradient * share, options->bound);
    if (!refine_noisy_sweep(&s, options, floor.gradient * share, d)) break;
    /* a jump without effect on the slope may come from another initial guess of the solver at x */
    if (d->verdict == GRADCHECK_UNCHECKED && !d->kink && d->scale > 0)
      d->jump = has_jump(d, evaluate_at(&s, 0), 0, floor.value);
    double single_resolution = d->resolution;
    if (!improve_by_fit(&s, options, floor.gradient * share, d)) break;
    d->lengths_needed = lengths_needed(d, single_resolution, floor.value, floor.gradient * share, options);
    if (d->verdict == GRADCHECK_WRONG && floor.precise_value && !check_precisely(&s, floor, options, d)) break;
    if (d->verdict == GRADCHECK_WRONG) {
      draw_displacements(&s, &places_random, gradient, report->norm, scale, displacements);
      if (!excuse_wrong_verdict(&s, displacements, floor, options, d)) break;
    }
    if (d->verdict != GRADCHECK_RIGHT && !check_finest_steps(&s, options, d)) break;
    bool measured = d->verdict == GRADCHECK_WRONG && floor.gradient_at;
    if (measured && !measure_gradient_rounding(&s, floor.gradient_at, options, other, d)) break;
    accept_resolution(options, d);
    report->directions++;
    report_direction(report, d, options->bound);
  }
  memory_free(direction);
}
