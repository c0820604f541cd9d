/* Compares a gradient with central differences of its function, one direction after the other
 * (docs/derivations/gradcheck.md). The gradient does not influence the choice of the most accurate difference. */
#include <string.h>

#include "differentiate/gradcheck.h"

/* Number of step sizes of a sweep, which decrease from GRADCHECK_LARGEST_STEP by half decades. FINE_SWEEP adds three
 * decades if the function is still rough at the smallest step of SWEEP (J11). */
enum { SWEEP = 15, FINE_SWEEP = GRADCHECK_SWEEP };
/* A function is rough if the relative uncertainty of its smallest differences is above this. */
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
/* Conditions for a kink and a jump. KINK_STEADY: relative agreement of the estimates of a kink at three steps.
 * KINK_CLEAR: least ratio of a kink to the noise of its slopes, and of a jump to rounding. */
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
/* Smallest jump, relative to the slope times the step. Smaller jumps come from simulation steps with fewer solver
 * iterations (J7). */
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
  if (!(range > KINK_CLEAR * rounding && range < 0.1 * FINEST_STEP * fabs(d->analytic))) return false;
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

/* (J14) Adds a difference averaged over `samples` step lengths, spaced logarithmically from h over half a decade
 * downwards. Averaging divides the noise by the square root of `samples`. For a smooth function the mean has the same
 * power series in the mean step length. */
static void average_step(const Sweep* s, double h, int samples, GradcheckDirection* d) {
  double length = 0, sum = 0, difference = 0;
  for (int j = 0; j < samples; j++) {
    double here = h * math_pow(0.1, 0.5 * j / samples), plus = value_beside(s, here), minus = value_beside(s, -here);
    length += here / samples;
    sum += (plus + minus) / samples;
    difference += (plus - minus) / (2 * here) / samples;
  }
  int k = d->tried++;
  d->step[k] = length;
  d->sum[k] = sum;
  d->difference[k] = difference;
  d->extrapolated[k] = extrapolate(d, k);
}

/* (J14) Repeats the sweep with averaged differences if noise hides the slope. Keeps the result if its resolution is
 * better. Returns false if interrupted. */
static bool average(const Sweep* s, const GradcheckOptions* options, double zero, GradcheckDirection* d) {
  bool hidden = d->verdict == GRADCHECK_UNCHECKED && !d->kink && !d->jump && d->resolution < 1;
  if (!hidden || options->average <= 1) return true;
  GradcheckDirection mean = *d;
  mean.tried = 0;
  while (mean.tried < d->tried && !stopped(options))
    average_step(s, GRADCHECK_LARGEST_STEP * math_pow(0.1, 0.5 * mean.tried), options->average, &mean);
  if (stopped(options)) return false;
  judge(&mean, s->rounding, zero, options->bound);
  if (mean.resolution < d->resolution) *d = mean;
  return true;
}

/* Exponent of the noise in the error of the best step, at which the truncation error h^4 equals noise / h. */
#define NOISE_POWER 0.8
/* Factor on the estimated number of step lengths. With 1, averages resolved the bound in 69 of 153 test functions; with
 * this factor in 133. */
#define MORE_LENGTHS 4

/* (J14) Returns the number of step lengths that must be averaged until the noise is below the error bound. Returns
 * INFINITY if rounding prevents this, or if averaging did not improve the resolution. alone: resolution without
 * averaging. */
static double lengths_needed(const GradcheckDirection* d, double alone, double rounding, double zero,
                             const GradcheckOptions* options) {
  int taken = options->average > 1 ? options->average : 1;
  double floor = relative(zero, d->scale), left = (options->bound - floor) / (d->resolution - floor);
  if (!(left > 0) || !(d->noise * math_pow(left, 1 / NOISE_POWER) >= rounding)) return INFINITY;
  if (taken > 1 && !(d->resolution < alone)) return INFINITY;
  return MORE_LENGTHS * taken * math_pow(left, -2 / NOISE_POWER);
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

static void add_direction(GradcheckBlockReport* report, const GradcheckDirection* d) {
  worsen(&report->error, d->error);
  worsen(&report->resolution, d->resolution);
  if (!isfinite(report->order) || d->order < report->order) report->order = d->order;
  if (d->verdict > report->verdict) report->verdict = d->verdict;
  report->kink = report->kink || d->kink;
  report->jump = report->jump || d->jump;
  report->rough = report->rough || d->rough;
  if (d->verdict != GRADCHECK_UNCHECKED) return;
  report->noise = fmax(report->noise, d->noise);
  report->needed = fmax(report->needed, d->needed);
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

void gradcheck_vector(int count, const double* gradient, const double* scale, const double* base, GradcheckFloor floor,
                      GradcheckValue value, void* context, const GradcheckOptions* options, uint64_t seed,
                      GradcheckBlockReport* report) {
  *report = (GradcheckBlockReport){.count = count, .order = NAN};
  if (count == 0) return;
  double* direction = MEMORY_NEW(double, (2 + NEAR_PLACES) * (size_t)count);
  double *values = direction + count, *places = values + count;
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
    report->directions++;
    add_direction(report, d);
  }
  memory_free(direction);
}
