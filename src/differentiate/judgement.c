/* Compares a gradient with central differences of its function, one direction after the other
 * (docs/derivations/gradcheck.md). The gradient does not influence the choice of the most accurate difference. */
#include <string.h>

#include "differentiate/gradcheck.h"
#include "linalg/arrays.h"

/* Number of step sizes of a sweep. The step sizes decrease from GRADCHECK_LARGEST_STEP by half decades. FINE_SWEEP adds
 * three decades if the function is still rough at the smallest step of SWEEP (J11). */
enum { SWEEP = 15, FINE_SWEEP = GRADCHECK_SWEEP };
/* A function counts as noisy ("rough") if the relative uncertainty of its best difference is above this limit. */
#define FINE_FROM 1e-2
/* The sweep stops after this number of consecutive steps with growing uncertainty, because rounding then dominates. The
 * noise is estimated from as many steps. */
enum { GROWING = 4 };
/* Number of steps for the noise estimate of the even part. It is smaller because the h^4 term of the even part persists
 * to smaller steps. */
enum { EVEN = 2 };
/* Safety factor on the uncertainty estimated from neighbouring steps and noise. With 5, test_judgement.c calls 3 of 960
 * 000 correct gradients of noisy functions wrong; with 3, 166. */
#define TRUST 5
/* Conditions for a kink and a jump. KINK_STEADY: largest relative difference of the estimates of a kink at three steps.
 * KINK_CLEAR: smallest ratio of a kink to the noise of its slopes, and smallest ratio of a jump to rounding errors. */
#define KINK_STEADY 0.02
#define KINK_CLEAR 30
/* (J10) Points near x at which slopes are taken: NEAR_PAIRS pairs of random points and one pair along the gradient.
 * Their NEAR_SIZES distances start at NEAR_LARGEST, in scales, and decrease by NEAR_FALL. NEAR_STEP: step of a slope
 * relative to the distance. */
enum { NEAR_PAIRS = 6, NEAR_PLACES = 2 * NEAR_PAIRS + 2, NEAR_SIZES = 4 };
#define NEAR_LARGEST 1e-3
#define NEAR_FALL 0.1
#define NEAR_STEP 1e-2
/* NEAR_STEADY: slopes count as constant if they change by less than this fraction of their spread. NEAR_BEYOND: a
 * gradient outside the slopes by at most this multiple of the spread may belong to an unvisited piece of the function.
 */
#define NEAR_STEADY 0.1
#define NEAR_BEYOND 1
/* (J12) A jump is found if the change between neighbouring steps exceeds the later changes and the noise by this
 * factor. For a smooth function the change decreases at most by a factor of 32, up to terms of h^9. */
#define JUMP_FALL 1e4
/* A difference of the function values counts as a jump only above this fraction of slope times step length. Smaller
 * differences occur when simulation steps need fewer solver iterations (J7). */
#define JUMP_LEAST 1e-2

/* ---------------------------------------------------------------- differences, without the gradient */

/* (J2) Returns the Richardson extrapolation of the differences at step k and the step before, which cancels their h^2
 * terms. */
static double extrapolate(const GradcheckDirection* d, int k) {
  if (k == 0) return NAN;
  double ratio = d->step[k - 1] / d->step[k], square = ratio * ratio;
  return d->difference[k] + (d->difference[k] - d->difference[k - 1]) / (square - 1);
}

static double change_at(const GradcheckDirection* d, int k) {
  return fabs(d->extrapolated[k] - d->extrapolated[k - 1]);
}

/* Returns the even part of the function at step k, without the function value and the h^2 term. It is at most three
 * times the noise of a value, plus terms of h^4. */
static double even_rest(const GradcheckDirection* d, int k) {
  double ratio = d->step[k] / d->step[k - 1], here = d->sum[k] - d->sum[k - 1], before = d->sum[k - 1] - d->sum[k - 2];
  return fabs(here - ratio * ratio * before);
}

/* (J3) Returns the noise of one function value, estimated from the odd part at the last steps. Returns at least
 * `rounding`, the rounding error of a value. */
static double odd_noise_of(const GradcheckDirection* d, double rounding) {
  double noise = rounding; /* fmax ignores NaN */
  for (int k = d->tried - 1; k > 1 && k >= d->tried - GROWING; k--) noise = fmax(noise, change_at(d, k) * d->step[k]);
  return noise;
}

/* (J3) Returns the noise of one function value, estimated from the odd and the even part. The even part also contains
 * kinks. */
static double noise_of(const GradcheckDirection* d, double rounding) {
  double noise = odd_noise_of(d, rounding);
  for (int k = d->tried - 1; k > 1 && k >= d->tried - EVEN; k--) noise = fmax(noise, even_rest(d, k) / 2);
  return noise;
}

/* (J6) Returns the first step that is smaller than all steps with a failed value. A larger step spans a point without a
 * value. */
static int first_unbroken(const GradcheckDirection* d) {
  int first = d->tried;
  while (first > 0 && isfinite(d->difference[first - 1])) first--;
  return first;
}

/* Return the change of the odd part and of the even part from step k to the next. */
static double odd_change(const GradcheckDirection* d, int k) {
  return fabs(d->difference[k] - d->difference[k + 1]) * d->step[k];
}
static double even_change(const GradcheckDirection* d, int k) { return fabs(d->sum[k] - d->sum[k + 1]); }

/* (J12) Returns the first step that does not cross a jump near x, or 0 if there is no jump. */
static int first_below_jump(const GradcheckDirection* d, double noise) {
  for (int k = d->tried - 3; k >= first_unbroken(d); k--) {
    double least = JUMP_LEAST * fmax(fabs(d->difference[k + 1]), fabs(d->analytic)) * d->step[k];
    bool odd = odd_change(d, k) >= fmax(least, JUMP_FALL * fmax(odd_change(d, k + 1), noise));
    bool even = even_change(d, k) >= fmax(least, JUMP_FALL * fmax(even_change(d, k + 1), noise));
    if (odd || even) return k + 1;
  }
  return 0;
}

/* Returns the first step that is smaller than all steps with a failed value or across a jump. */
static int first_sound(const GradcheckDirection* d, double noise) {
  int unbroken = first_unbroken(d), below = first_below_jump(d, noise);
  return below > unbroken ? below : unbroken;
}

/* Returns the uncertainty of the extrapolation at step k: its change from the step before. Returns INFINITY if there is
 * no step before. After invalid steps, the first estimate is compared with the plain difference of the step before. */
static double doubt_before(const GradcheckDirection* d, int k, double noise) {
  int first = first_sound(d, noise);
  if (k < (first > 0 ? first + 1 : 2)) return INFINITY;
  double change = first > 0 && k == first + 1 ? fabs(d->extrapolated[k] - d->difference[k - 1]) : change_at(d, k);
  return isfinite(change) ? fmax(change, noise / d->step[k]) : (double)INFINITY;
}

/* (J4) Returns the uncertainty of the extrapolation at step k. Includes its disagreement, beyond noise, with all
 * smaller steps, because a function that is rough at every size can agree at two steps by chance. */
static double doubt(const GradcheckDirection* d, int k, double noise) {
  double most = doubt_before(d, k, noise);
  for (int j = k + 1; j < d->tried; j++)
    most = fmax(most, fabs(d->extrapolated[j] - d->extrapolated[k]) - TRUST * noise / d->step[j]);
  return most;
}

/* Returns the deciding step, which has the smallest uncertainty. Returns -1 if every uncertainty is infinite. */
static int least_doubt(const GradcheckDirection* d, double noise,
                       double (*doubt_at)(const GradcheckDirection* d, int k, double noise)) {
  int best = -1;
  double least = INFINITY;
  for (int k = 1; k < d->tried; k++) {
    double here = doubt_at(d, k, noise);
    if (here < least) best = k, least = here;
  }
  return best;
}

/* ---------------------------------------------------------------- comparison with the gradient */

/* Returns the reference of relative errors: the larger of |g . d| and the extrapolated difference at step k (-1 for
 * none). A gradient that is too small therefore gives a large error. */
static double scale_of(const GradcheckDirection* d, int k) {
  return fmax(fabs(d->analytic), k < 0 ? 0 : fabs(d->extrapolated[k]));
}

static double relative(double x, double scale) { return scale > 0 ? x / scale : x > 0 ? (double)INFINITY : 0; }

/* Returns the verdict from the error and the resolution of the direction (J5). bound: relative error that passes. */
static GradcheckVerdict verdict_of(const GradcheckDirection* d, double bound) {
  if (!isfinite(d->analytic)) return GRADCHECK_WRONG;
  if (d->error > bound && d->error > d->resolution) return GRADCHECK_WRONG;
  return d->resolution <= bound ? GRADCHECK_RIGHT : GRADCHECK_UNCHECKED;
}

static double error_of(const GradcheckDirection* d, double difference) {
  return fabs(difference - d->analytic) / d->scale;
}

/* Errors below this multiple of the noise do not enter the order of convergence. */
#define CLEAR_OF_NOISE 30

/* Returns the observed order of convergence in h of the plain differences. Uses the last decade of steps above noise,
 * up to the deciding step. Returns NaN if there is none. */
static double observed_order(const GradcheckDirection* d, int best, double noise) {
  int to = best;
  while (to > 0 && !(error_of(d, d->difference[to]) * d->scale > CLEAR_OF_NOISE * noise / d->step[to])) to--;
  if (to == 0) return NAN;
  int from = to > 1 ? to - 2 : 0;
  return math_log(error_of(d, d->difference[from]) / error_of(d, d->difference[to])) /
         math_log(d->step[from] / d->step[to]);
}

/* Sets error, resolution, order and verdict of the direction. best: the deciding step, or -1. zero: rounding error of g
 * . d. */
static void judge_at(GradcheckDirection* d, int best, double noise, double zero, double bound) {
  d->scale = scale_of(d, best);
  d->resolution = best < 0 ? (double)INFINITY : relative(TRUST * doubt(d, best, noise) + zero, d->scale);
  d->error = best < 0 ? (double)NAN : relative(fabs(d->extrapolated[best] - d->analytic), d->scale);
  d->best_step = best < 0 ? (double)NAN : d->step[best];
  d->verdict = verdict_of(d, bound);
  d->order = best < 0 || d->scale == 0 ? (double)NAN : observed_order(d, best, noise);
}

/* (J8) Returns half the difference of the one-sided slopes at steps k - 1 and k. */
static double bend_at(const GradcheckDirection* d, int k) {
  return (d->sum[k - 1] - d->sum[k]) / (2 * (d->step[k - 1] - d->step[k]));
}

/* Returns half the difference of the one-sided slopes at step k, without its term of first order in h. This term is the
 * second derivative or its jump. */
static double kink_at(const GradcheckDirection* d, int k) {
  double here = bend_at(d, k), before = bend_at(d, k - 1);
  return here + (here - before) / (d->step[k - 1] / d->step[k] - 1);
}

/* Returns true if three consecutive estimates of a kink agree. */
static bool is_steady(double here, double before, double earlier) {
  return fabs(here - before) <= KINK_STEADY * fabs(here) && fabs(here - earlier) <= 5 * KINK_STEADY * fabs(here);
}

/* (J8) Returns true if the function has a kink at x and g . d lies between the two one-sided slopes. Half the
 * difference of the slopes decreases with h for a smooth function. At a kink it is equal at three steps. */
static bool lies_in_kink(const GradcheckDirection* d, double noise) { /* noise of the odd part */
  for (int k = first_sound(d, noise) + 4; k < d->tried; k++) {
    double half = kink_at(d, k), least = KINK_CLEAR * noise / d->step[k];
    bool steady = is_steady(half, kink_at(d, k - 1), kink_at(d, k - 2));
    if (!steady || !(fabs(half) > least)) continue;
    return fabs(d->analytic - d->difference[k]) <= (1 + KINK_STEADY) * fabs(half);
  }
  return false;
}

/* (J13) Smallest step of all sweeps. A gradient that is valid only over smaller steps cannot be checked. */
#define FINEST_STEP 1e-12

/* (J13) Returns true if the differences agree at no step and the gradient may be valid over less than the smallest
 * step. The function's structure is then finer than all steps. */
static bool is_too_fine(const GradcheckDirection* d, double noise, double rounding) {
  double range = 0;
  for (int k = first_unbroken(d); k < d->tried; k++) range = fmax(range, fabs(d->difference[k]) * d->step[k]);
  if (!(range > KINK_CLEAR * rounding && range < FINEST_STEP * fabs(d->analytic))) return false;
  int best = least_doubt(d, noise, doubt);
  return best < 0 || TRUST * doubt(d, best, noise) > fabs(d->extrapolated[best]);
}

/* (J9) Return, at step k, half the difference of the values on both sides, and the deviation of their mean from
 * `value`. */
static double odd_jump(const GradcheckDirection* d, int k) { return d->difference[k] * d->step[k]; }
static double even_jump(const GradcheckDirection* d, int k, double value) { return d->sum[k] / 2 - value; }

/* Returns true if the jump `even` exceeds the variation of the even part from step k on. Up to three values may exceed
 * the jump, because one outlier enters three remainders. */
static bool is_clear(const GradcheckDirection* d, int k, double even) {
  int above = 0;
  for (int j = k; j < d->tried; j++) above += KINK_CLEAR * even_rest(d, j) / 2 > fabs(even);
  return above <= 3;
}

/* (J9) Returns true if the function has a jump of at least `least` at x. value: function value at x. */
static bool jumps(const GradcheckDirection* d, double value, double least, double rounding) {
  /* values beyond a failed step or a jump near x belong to another piece of the function */
  for (int k = first_below_jump(d, noise_of(d, rounding)) + 2; k < d->tried; k++) {
    double odd = odd_jump(d, k), even = even_jump(d, k, value), jump = 0;
    if (is_steady(odd, odd_jump(d, k - 1), odd_jump(d, k - 2))) jump = fabs(odd);
    if (is_steady(even, even_jump(d, k - 1, value), even_jump(d, k - 2, value)) && is_clear(d, k, even))
      jump = fmax(jump, fabs(even));
    if (jump >= least && jump > KINK_CLEAR * rounding) return true;
  }
  return false;
}

/* (J9) Returns the smallest jump that explains the error at the deciding step. */
static double excusing_jump(const GradcheckDirection* d) {
  return isfinite(d->best_step) ? 2 * d->best_step * d->error * d->scale : 0;
}

/* (J7) Replaces a verdict GRADCHECK_WRONG if the differences contradict each other. They do if the step with the best
 * agreement with its neighbours supports the gradient. The verdict is then set again with that step deciding. */
static void judge_again(GradcheckDirection* d, double noise, double zero, double bound) {
  int other = least_doubt(d, noise, doubt_before);
  if (other >= 0 && fabs(d->extrapolated[other] - d->analytic) <= TRUST * doubt_before(d, other, noise) + zero)
    judge_at(d, other, noise, zero, bound);
}

/* Sets the verdict of a direction, its noise, rough and kink. rounding: rounding error of a function value. zero:
 * rounding error of g . d. bound: largest relative error that passes. */
static void judge(GradcheckDirection* d, double rounding, double zero, double bound) {
  double noise = noise_of(d, rounding);
  judge_at(d, least_doubt(d, noise, doubt), noise, zero, bound);
  if (d->verdict == GRADCHECK_WRONG) judge_again(d, noise, zero, bound);
  d->noise = noise;
  d->rough = noise > KINK_CLEAR * rounding;
  int below = first_below_jump(d, noise);
  d->beside = below > 0 ? d->step[below - 1] : 0;
  d->kink = d->verdict != GRADCHECK_RIGHT && lies_in_kink(d, odd_noise_of(d, rounding));
  if (d->kink) d->verdict = GRADCHECK_UNCHECKED;
}

/* ---------------------------------------------------------------- the sweep */

/* Sets direction[count] to a random direction of length about 1 in the numbers' scales. Adds a component along the
 * gradient, so that |g . d| >= |g| / sqrt(n) in the scales. Returns g . d. */
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

/* Input of a sweep. */
typedef struct {
  GradcheckValue value;
  void* context;
  int count;
  const double *base, *direction;
  double* values;
  double rounding; /* rounding error of one function value */
} Sweep;

static double value_beside(const Sweep* s, double h) {
  for (int k = 0; k < s->count; k++) s->values[k] = s->base[k] + h * s->direction[k];
  return s->value(s->context, s->values);
}

static bool said_enough(const Sweep* s, const GradcheckDirection* d, int best, double bound) {
  return TRUST * doubt_before(d, best, s->rounding) <= bound * scale_of(d, best);
}

static bool stopped(const GradcheckOptions* options) { return options->interrupted && options->interrupted(); }

/* Evaluates the difference at the next smaller step. Returns false if interrupted. */
static bool take_step(const Sweep* s, const GradcheckOptions* options, GradcheckDirection* d) {
  double h = d->tried == 0 ? GRADCHECK_LARGEST_STEP : sqrt(0.1) * d->step[d->tried - 1];
  double plus = value_beside(s, h), minus = value_beside(s, -h);
  if (stopped(options)) return false;
  int k = d->tried++;
  d->step[k] = h;
  d->sum[k] = plus + minus;
  d->difference[k] = (plus - minus) / (2 * h); /* (J1) */
  d->extrapolated[k] = extrapolate(d, k);
  return true;
}

/* Evaluates differences at decreasing steps until rounding dominates, for at most SWEEP steps. Returns false if
 * interrupted. */
static bool sweep(const Sweep* s, const GradcheckOptions* options, GradcheckDirection* d) {
  int best = -1, growing = 0;
  d->tried = 0;
  while (d->tried < SWEEP && growing < GROWING) {
    if (!take_step(s, options, d)) return false;
    int now = least_doubt(d, s->rounding, doubt_before);
    growing = now == best && best >= 0 && said_enough(s, d, best, options->bound) ? growing + 1 : 0;
    best = now;
  }
  return true;
}

/* Continues the sweep to `count` steps. Returns false if interrupted. */
static bool sweep_on(const Sweep* s, const GradcheckOptions* options, int count, GradcheckDirection* d) {
  while (d->tried < count)
    if (!take_step(s, options, d)) return false;
  return true;
}

/* ---------------------------------------------------------------- least squares over many step lengths (J14) */

/* Default number of step lengths of a fit. 16 lengths improve the resolution of noisy smooth functions by factors of 5
 * to 9. */
enum { FIT_LENGTHS = 16 };
/* Longest and shortest step length of a fit, relative to the deciding step. */
#define FIT_LONGEST 10
#define FIT_SHORTEST 0.3
/* FIT_POWERS: largest number of powers of h in a fit. FIT_FREE: smallest excess of the number of differences over the
 * number of powers. The noise is estimated from this excess. */
enum { FIT_POWERS = 5, FIT_FREE = 6 };
/* Uncertainty of a fit in standard deviations, before the factor TRUST. With 2, no correct gradient of 7200 random
 * noisy functions is called wrong. With 1, six are called wrong. */
#define FIT_DOUBT 2

/* Central differences for a fit, ordered by increasing step length. */
typedef struct {
  int count;
  double *step, *difference;
} Samples;

/* Result of a fit. slope: the fitted difference at h = 0. noise: standard deviation of the noise of a difference times
 * the step length. spread: standard deviation of the slope for a noise of 1. */
typedef struct {
  double slope, spread, noise;
} Fit;

/* Sets a[n] to step, the weight of a difference, times (step / longest)^power. */
static void fill_column(const Samples* s, int n, double power, double* a) {
  for (int j = 0; j < n; j++) a[j] = s->step[j] * math_pow(s->step[j] / s->step[n - 1], power);
}

static double root_mean(const double* rest, int first, int n, double free) {
  return sqrt(array_dot(n - first, rest + first, rest + first) / free);
}

/* Fits slope + sum c_m h^(m power), m < powers, to the differences of the n shortest steps by weighted least squares.
 * The noise of a difference is proportional to 1 / step. The noise of the fit is estimated from all differences and
 * from the longer half, and the larger estimate is returned. memory: (FIT_POWERS + 1) n numbers. */
static Fit fit_powers(const Samples* s, int n, int powers, double power, double* memory) {
  double *rest = memory + (size_t)FIT_POWERS * (size_t)n, lead[FIT_POWERS], slope = 0, square = 0;
  for (int j = 0; j < n; j++) rest[j] = s->step[j] * s->difference[j];
  /* The slope is the coefficient of the last column after the other columns are orthogonalized (Gram-Schmidt). */
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
  double whole = root_mean(rest, 0, n, n - powers), upper = root_mean(rest, half, n, fmax(1, n - half - 0.7 * powers));
  return (Fit){slope, 1 / sqrt(square), fmax(whole, upper)};
}

/* The fit with the smallest standard deviation of the slope. deviation is INFINITY if there are too few differences.
 * longest: longest step length of the fit. */
typedef struct {
  double slope, deviation, longest;
} BestFit;

/* Returns the best fit in powers of h^power over all numbers of differences and of powers. Each fit has one power more
 * than the fit that measures the noise, so that the remaining truncation error is below the noise. */
static BestFit best_fit(const Samples* s, double power, double* memory) {
  BestFit best = {0, INFINITY, 0};
  for (int n = FIT_FREE + 2; n <= s->count; n++)
    for (int powers = 1; powers < FIT_POWERS && n - powers - 1 >= FIT_FREE; powers++) {
      Fit more = fit_powers(s, n, powers + 1, power, memory);
      double deviation = fit_powers(s, n, powers, power, memory).noise * more.spread;
      if (deviation < best.deviation) best = (BestFit){more.slope, deviation, s->step[n - 1]};
    }
  return best;
}

/* Inserts a difference in the order of step lengths. Ignores a difference that is not finite. */
static void add_sample(Samples* s, double step, double difference) {
  if (!isfinite(difference)) return;
  int k = s->count++;
  for (; k > 0 && s->step[k - 1] > step; k--) s->step[k] = s->step[k - 1], s->difference[k] = s->difference[k - 1];
  s->step[k] = step;
  s->difference[k] = difference;
}

/* Collects the differences of the sweep and of `lengths` more step lengths around the deciding step. Ignores steps that
 * cross a jump near x. Returns false if interrupted. */
static bool take_samples(const Sweep* s, const GradcheckOptions* options, const GradcheckDirection* d, int lengths,
                         Samples* samples) {
  int first = first_sound(d, d->noise);
  double longest = first > 0 ? d->step[first] : GRADCHECK_LARGEST_STEP, ratio = FIT_LONGEST / FIT_SHORTEST;
  for (int k = first; k < d->tried; k++) add_sample(samples, d->step[k], d->difference[k]);
  for (int j = 0; j < lengths && !stopped(options); j++) {
    double h = FIT_SHORTEST * d->best_step * math_pow(ratio, (j + 0.5) / lengths);
    if (h > longest) break;
    add_sample(samples, h, (value_beside(s, h) - value_beside(s, -h)) / (2 * h));
  }
  return !stopped(options);
}

static int lengths_of(const GradcheckOptions* options) { return options->average > 0 ? options->average : FIT_LENGTHS; }

/* (J14) Judges the direction by a fit to many step lengths if noise hides the slope, and keeps the result if its
 * resolution is better. zero: rounding error of g . d. Returns false if interrupted. */
static bool average(const Sweep* s, const GradcheckOptions* options, double zero, GradcheckDirection* d) {
  bool hidden = d->verdict == GRADCHECK_UNCHECKED && !d->kink && !d->jump && d->resolution < 1;
  int lengths = lengths_of(options);
  if (!hidden || lengths <= 1 || relative(zero, d->scale) >= options->bound) return true;
  size_t most = (size_t)lengths + (size_t)d->tried;
  double* memory = MEMORY_NEW(double, (3 + FIT_POWERS) * most);
  Samples samples = {0, memory, memory + most};
  bool complete = take_samples(s, options, d, lengths, &samples);
  BestFit best = {0, INFINITY, 0}, other = best;
  if (complete) best = best_fit(&samples, 2, memory + 2 * most), other = best_fit(&samples, 1, memory + 2 * most);
  memory_free(memory);
  double doubt = fmax(FIT_DOUBT * fmin(best.deviation, other.deviation), fabs(best.slope - other.slope) / 2);
  if (other.deviation < best.deviation) best = other;
  for (int k = 1; k < d->tried; k++) /* disagreement with shorter steps that noise does not explain (J4) */
    if (d->step[k] < best.longest)
      doubt = fmax(doubt, fabs(d->extrapolated[k] - best.slope) - TRUST * d->noise / d->step[k]);
  double scale = fmax(fabs(d->analytic), fabs(best.slope)), resolution = relative(TRUST * doubt + zero, scale);
  if (!(resolution < d->resolution)) return complete;
  d->scale = scale;
  d->resolution = resolution;
  d->error = relative(fabs(best.slope - d->analytic), scale);
  d->best_step = best.longest;
  d->verdict = verdict_of(d, options->bound);
  return complete;
}

/* Factor on the estimated number of step lengths. */
#define MORE_LENGTHS 2
/* Resolution of a fit to FIT_LENGTHS step lengths, as a fraction of the resolution of single lengths. Tests gave 0.11
 * to 0.21. */
#define FIT_GAIN 0.2

/* (J14) Returns the number of step lengths whose fit would resolve the bound. The resolution of a fit is proportional
 * to lengths^(-1/2). Returns INFINITY if rounding prevents this, or if a fit did not improve the resolution. alone:
 * resolution without a fit. */
static double lengths_needed(const GradcheckDirection* d, double alone, double rounding, double zero,
                             const GradcheckOptions* options) {
  int lengths = lengths_of(options);
  double fitted = lengths > 1 ? d->resolution : FIT_GAIN * d->resolution;
  double floor = relative(zero, d->scale), left = (options->bound - floor) / (fitted - floor);
  if (!(left > 0) || !(d->noise * left >= rounding)) return INFINITY;
  if (lengths > 1 && !(d->resolution < alone)) return INFINITY;
  return MORE_LENGTHS * (lengths > 1 ? lengths : FIT_LENGTHS) / (left * left);
}

/* (J11) Extends the sweep to smaller steps if the function is still rough at the smallest step. Smaller steps may
 * resolve the slope. Returns false if interrupted. */
static bool look_closer(const Sweep* s, const GradcheckOptions* options, double zero, GradcheckDirection* d) {
  bool blind = d->verdict == GRADCHECK_WRONG || d->resolution > FINE_FROM;
  if (!blind || !d->rough || d->tried < SWEEP) return true;
  GradcheckDirection closer = *d;
  if (!sweep_on(s, options, FINE_SWEEP, &closer)) return false;
  judge(&closer, s->rounding, zero, options->bound);
  if (closer.best_step <= d->step[SWEEP - 1]) *d = closer;
  return true;
}

/* ---------------------------------------------------------------- kinks across the direction */

/* (J10) Sets slope[NEAR_PLACES] to the slopes along the direction at the points base + size * places. */
static void slopes_beside(const Sweep* s, const double* places, double size, double* slope) {
  double step = NEAR_STEP * size;
  for (int n = 0; n < NEAR_PLACES; n++) {
    double beside[2];
    for (int side = 0; side < 2; side++) {
      double along = side ? -step : step;
      for (int k = 0; k < s->count; k++)
        s->values[k] = s->base[k] + size * places[n * s->count + k] + along * s->direction[k];
      beside[side] = s->value(s->context, s->values);
    }
    slope[n] = (beside[0] - beside[1]) / (2 * step);
  }
}

/* Draws the displacements of the points near x. They are pairs on both sides of x, about as long as the direction. The
 * last pair is along the gradient. */
static void draw_places(const Sweep* s, Random* random, const double* gradient, double norm, const double* scale,
                        double* places) {
  double share = 1 / sqrt((double)s->count);
  for (int n = 0; n < NEAR_PLACES; n += 2) {
    double *one = places + n * s->count, *other = one + s->count;
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

static SlopeRange range_of(const double* slope) {
  SlopeRange r = {INFINITY, -INFINITY};
  for (int n = 0; n < NEAR_PLACES; n++)
    if (isfinite(slope[n])) r = (SlopeRange){fmin(r.low, slope[n]), fmax(r.high, slope[n])};
  return r;
}

/* Returns the largest difference between slope[n] and before[n]. */
static double most_changed(const double* slope, const double* before) {
  double most = 0; /* fmax ignores NaN */
  for (int n = 0; n < NEAR_PLACES; n++) most = fmax(most, fabs(slope[n] - before[n]));
  return most;
}

/* (J10) Returns true if the function has a kink at x across the direction and g . d can be the slope of one of its
 * pieces. At a kink, for example the tip of a cone, slopes at nearby points do not converge as the points approach x.
 */
static bool lies_among_slopes(const Sweep* s, const double* places, const GradcheckDirection* d, double noise) {
  double slope[NEAR_PLACES], before[NEAR_PLACES], size = NEAR_LARGEST;
  slopes_beside(s, places, size, before);
  for (int m = 1; m < NEAR_SIZES; m++) {
    size *= NEAR_FALL;
    slopes_beside(s, places, size, slope);
    SlopeRange r = range_of(slope);
    double width = r.high - r.low, beyond = NEAR_BEYOND * width;
    if (!(width > KINK_CLEAR * noise / (NEAR_STEP * size))) return false;
    if (most_changed(slope, before) <= NEAR_STEADY * width)
      return d->analytic >= r.low - beyond && d->analytic <= r.high + beyond;
    memcpy(before, slope, sizeof slope);
  }
  return false;
}

/* Sets *worst to the larger of *worst and value. NaN counts as the largest, because no step decides then. */
static void worsen(double* worst, double value) {
  if (!isnan(*worst) && !(value <= *worst)) *worst = value;
}

static void add_direction(GradcheckBlockReport* report, const GradcheckDirection* d, double bound) {
  worsen(&report->error, d->error);
  worsen(&report->resolution, d->resolution);
  if (!isfinite(report->order) || d->order < report->order) report->order = d->order;
  if (d->verdict > report->verdict) report->verdict = d->verdict;
  report->kink = report->kink || d->kink;
  report->jump = report->jump || d->jump;
  report->rough = report->rough || d->rough;
  report->narrow = fmax(report->narrow, d->narrow);
  if (d->verdict == GRADCHECK_WRONG || !(d->resolution > bound)) return;
  report->noise = fmax(report->noise, d->noise);
  report->needed = fmax(report->needed, d->needed);
  report->scatter = fmax(report->scatter, d->scatter);
  if (d->verdict != GRADCHECK_UNCHECKED) return;
  if (!d->jump) report->beside = fmax(report->beside, d->beside);
}

/* Changes a wrong verdict to GRADCHECK_UNCHECKED if a reason is found: a kink at small steps (J8), a jump at x (J9), a
 * kink across the direction (J10) or structure finer than all steps (J13). Returns false if interrupted. */
static bool look_for_kinks(const Sweep* s, const double* places, GradcheckFloor floor, const GradcheckOptions* options,
                           GradcheckDirection* d) {
  GradcheckDirection again = *d;
  if (!sweep_on(s, options, SWEEP, &again)) return false;
  judge(&again, floor.value, floor.gradient / sqrt((double)s->count), options->bound);
  double noise = odd_noise_of(&again, floor.value);
  int first = first_unbroken(&again);
  bool broken = first > 0 &&
                again.step[first - 1] < d->best_step; /* the deciding step spans a failed value and is invalid (J6) */
  bool right = broken && again.verdict == GRADCHECK_RIGHT;
  again.jump = !again.kink && !right && jumps(&again, value_beside(s, 0), excusing_jump(&again), floor.value);
  again.kink = again.kink || (!again.jump && lies_among_slopes(s, places, &again, noise));
  bool fine = !again.kink && !again.jump && isfinite(again.analytic) &&
              is_too_fine(&again, noise_of(&again, floor.value), floor.value);
  if (fine) again.resolution = INFINITY, again.rough = true;
  if (again.kink || again.jump || fine) again.verdict = GRADCHECK_UNCHECKED;
  if (again.kink || again.jump || fine || broken) *d = again;
  return !stopped(options);
}

/* (J16) Differences agree with a gradient to this fraction over the steps where it holds, and disagree by more than
 * NARROW_OTHER over all steps longer by NARROW_RATIO. */
#define NARROW_AGREE 0.01
#define NARROW_OTHER 0.5
#define NARROW_RATIO 1e3

static double off_at(const GradcheckDirection* d, int k) {
  return fabs(d->difference[k] - d->analytic) / fabs(d->analytic);
}

/* (J16) Returns the longest step of the sweep over which the gradient holds, if it holds at no longer step; otherwise
 * 0. rounding: rounding error of a function value. */
static double narrow_range(const GradcheckDirection* d, double rounding) {
  int first = d->tried;
  while (first > 0 && off_at(d, first - 1) <= NARROW_AGREE) first--;
  if (first == 0 || d->tried - first < 2) return 0;
  double range = d->step[first];
  if (!(rounding / d->step[d->tried - 1] <= NARROW_AGREE * fabs(d->analytic))) return 0;
  bool longer = false;
  for (int k = 0; k < first && d->step[k] >= NARROW_RATIO * range; k++) {
    if (off_at(d, k) <= NARROW_OTHER) return 0;
    longer = true;
  }
  return longer ? range : 0;
}

/* (J16) Called for a direction that is not right. If the gradient exceeds all differences of the sweep or disagrees
 * with them by more than NARROW_OTHER, extends the sweep to the finest step; a gradient that holds at the finest steps
 * only is a kink. Returns false if interrupted. */
static bool look_for_narrow(const Sweep* s, const GradcheckOptions* options, GradcheckDirection* d) {
  if (d->tried == 0 || !isfinite(d->analytic) || !(off_at(d, 0) > NARROW_OTHER)) return true;
  GradcheckDirection fine = *d;
  if (!sweep_on(s, options, FINE_SWEEP, &fine)) return false;
  d->narrow = narrow_range(&fine, s->rounding);
  if (d->narrow > 0) d->kink = true, d->verdict = GRADCHECK_UNCHECKED;
  return true;
}

/* (J17) Number of gradients at moved points, and the distance to the first of them, in scales. */
enum { SCATTER_RUNS = 6 };
#define SCATTER_STEP 1e-12

/* (J17) Measures the rounding error of g . d by its standard deviation over points that lie a rounding of the numbers
 * apart, and repeats the verdict with it. The gradient at x is not one of them. memory: count numbers. Returns false if
 * interrupted. */
static bool measure_scatter(const Sweep* s, GradcheckGradient gradient_at, const GradcheckOptions* options,
                            double* memory, GradcheckDirection* d) {
  double slope[SCATTER_RUNS], mean = 0, square = 0;
  for (int n = 0; n < SCATTER_RUNS; n++) {
    double h = SCATTER_STEP * (n % 2 ? -1 : 1) * (1 + 0.5 * n);
    for (int k = 0; k < s->count; k++) s->values[k] = s->base[k] + h * s->direction[k];
    if (!gradient_at(s->context, s->values, memory)) return !stopped(options);
    slope[n] = array_dot(s->count, memory, s->direction);
    mean += slope[n] / SCATTER_RUNS;
  }
  for (int n = 0; n < SCATTER_RUNS; n++) square += (slope[n] - mean) * (slope[n] - mean);
  double scatter = sqrt(square / (SCATTER_RUNS - 1)) / d->scale, resolution = d->resolution + TRUST * scatter;
  if (d->error > resolution) return !stopped(options);
  d->scatter = scatter;
  d->resolution = resolution;
  d->verdict = verdict_of(d, options->bound);
  return !stopped(options);
}

/* (J14) Lets a direction pass whose bound is hidden by noise but whose resolution is options->enough. */
static void pass_enough(const GradcheckOptions* options, GradcheckDirection* d) {
  bool hidden = d->verdict == GRADCHECK_UNCHECKED && !d->kink && !d->jump;
  if (hidden && d->error <= d->resolution && d->resolution <= options->enough) d->verdict = GRADCHECK_RIGHT;
}

void gradcheck_vector(int count, const double* gradient, const double* scale, const double* base, GradcheckFloor floor,
                      GradcheckValue value, void* context, const GradcheckOptions* options, uint64_t seed,
                      GradcheckBlockReport* report) {
  *report = (GradcheckBlockReport){.count = count, .order = NAN};
  if (count == 0) return;
  double* direction = MEMORY_NEW(double, (3 + NEAR_PLACES) * (size_t)count);
  double *values = direction + count, *other = values + count, *places = other + count;
  for (int k = 0; k < count; k++) report->norm += gradient[k] * scale[k] * gradient[k] * scale[k];
  report->norm = sqrt(report->norm);
  double share = 1 / sqrt((double)count);
  Random random = {seed}, places_random = {~seed};
  Sweep s = {value, context, count, base, direction, values, floor.value};
  for (int n = 0; n < options->directions && n < GRADCHECK_DIRECTIONS && !stopped(options); n++) {
    GradcheckDirection* d = &report->direction[n];
    d->analytic = draw_direction(&random, gradient, report->norm, scale, count, direction);
    if (!sweep(&s, options, d)) break;
    judge(d, floor.value, floor.gradient * share, options->bound);
    if (!look_closer(&s, options, floor.gradient * share, d)) break;
    /* a jump without effect on the slope may come from other warm starts at x */
    if (d->verdict == GRADCHECK_UNCHECKED && !d->kink && d->scale > 0)
      d->jump = jumps(d, value_beside(&s, 0), 0, floor.value);
    double alone = d->resolution;
    if (!average(&s, options, floor.gradient * share, d)) break;
    d->needed = lengths_needed(d, alone, floor.value, floor.gradient * share, options);
    if (d->verdict == GRADCHECK_WRONG) {
      draw_places(&s, &places_random, gradient, report->norm, scale, places);
      if (!look_for_kinks(&s, places, floor, options, d)) break;
    }
    if (d->verdict != GRADCHECK_RIGHT && !look_for_narrow(&s, options, d)) break;
    bool measured = d->verdict == GRADCHECK_WRONG && floor.gradient_at;
    if (measured && !measure_scatter(&s, floor.gradient_at, options, other, d)) break;
    pass_enough(options, d);
    report->directions++;
    add_direction(report, d, options->bound);
  }
  memory_free(direction);
}
