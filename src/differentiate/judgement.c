/* A gradient held against central differences of its function, direction by direction (docs/derivations/gradcheck.md).
 * The differences judge themselves first: the step where they say most decides, whatever the gradient says. */
#include <string.h>

#include "differentiate/gradcheck.h"

/* The sweep: from GRADCHECK_LARGEST_STEP of the scale down by half decades; and by three decades more where the
 * function is rough down to there (J11). */
enum { SWEEP = 15, FINE_SWEEP = GRADCHECK_SWEEP };
/* ... and those say less of the slope than this part of it. */
#define FINE_FROM 1e-2
/* After so many steps in a row that say less than the best one, rounding has taken over, if that one says enough; as
 * many tell how large rounding is. */
enum { GROWING = 4 };
/* The h^4 of the even part reaches farther, so that fewer of these are looked at. */
enum { EVEN = 2 };
/* The difference that decides may be off by so many times what its neighbours and the noise of the sweep suggest. Of
 * 960 000 right gradients of functions with noise, half of them with kinks of the second derivative, three are called
 * wrong; with a factor of 3 it is 166 (test_judgement.c looks at a tenth of them). */
#define TRUST 5
/* A kink that three steps agree on to this part, so many times clear of the noise of its slopes; a jump, of rounding.
 */
#define KINK_STEADY 0.02
#define KINK_CLEAR 30
/* (J10) Places beside x: so many pairs of random ones, and two along the gradient, at distances that fall by tens; the
 * slope of each over a hundredth of its distance. */
enum { NEAR_PAIRS = 6, NEAR_PLACES = 2 * NEAR_PAIRS + 2, NEAR_SIZES = 4 };
#define NEAR_LARGEST 1e-3
#define NEAR_FALL 0.1
#define NEAR_STEP 1e-2
/* Slopes that stand to this part of how far they are apart; gradients so much of that beyond them may be of a piece
 * that no place has met. */
#define NEAR_STEADY 0.1
#define NEAR_BEYOND 1
/* (J12) What differs from one step to the next by so many times what it does from there on, and than the noise, has
 * crossed a jump: of what is smooth it falls by 32 at most, but for terms of h^9 and more. */
#define JUMP_FALL 1e4
/* ... if it is as much as this part of the slope: less is of steps that end after fewer rounds (J7). */
#define JUMP_LEAST 1e-2

/* ---------------------------------------------------------------- what the differences say by themselves */

/* (J2), Richardson: the h^2 of two neighbouring differences cancels. */
static double extrapolate(const GradcheckDirection* d, int k) {
  if (k == 0) return NAN;
  double ratio = d->step[k - 1] / d->step[k], square = ratio * ratio;
  return d->difference[k] + (d->difference[k] - d->difference[k - 1]) / (square - 1);
}

static double change_at(const GradcheckDirection* d, int k) {
  return fabs(d->extrapolated[k] - d->extrapolated[k - 1]);
}

/* What is left of the even part at step k when its value and its h^2 are taken out: three times the noise of a value at
 * most, and h^4. */
static double even_rest(const GradcheckDirection* d, int k) {
  double ratio = d->step[k] / d->step[k - 1], here = d->sum[k] - d->sum[k - 1], before = d->sum[k - 1] - d->sum[k - 2];
  return fabs(here - ratio * ratio * before);
}

/* (J3): noise of one value of the function, from the end of the sweep, and at least the rounding of its terms: what the
 * odd part says, */
static double odd_noise_of(const GradcheckDirection* d, double rounding) {
  double noise = rounding; /* fmax leaves NaN out */
  for (int k = d->tried - 1; k > 1 && k >= d->tried - GROWING; k--) noise = fmax(noise, change_at(d, k) * d->step[k]);
  return noise;
}

/* ... plus the even part, which also contains kinks. */
static double noise_of(const GradcheckDirection* d, double rounding) {
  double noise = odd_noise_of(d, rounding);
  for (int k = d->tried - 1; k > 1 && k >= d->tried - EVEN; k--) noise = fmax(noise, even_rest(d, k) / 2);
  return noise;
}

/* (J6): the first step with nothing but values beside it; differences over longer ones reach across a place that has
 * none. */
static int first_unbroken(const GradcheckDirection* d) {
  int first = d->tried;
  while (first > 0 && isfinite(d->difference[first - 1])) first--;
  return first;
}

/* What the odd and the even part at step k differ by from those of the next one. */
static double odd_change(const GradcheckDirection* d, int k) {
  return fabs(d->difference[k] - d->difference[k + 1]) * d->step[k];
}
static double even_change(const GradcheckDirection* d, int k) { return fabs(d->sum[k] - d->sum[k + 1]); }

/* (J12): the first step after the last one that reaches across a jump beside x, where the function has another piece;
 * 0: there is none. */
static int first_below_jump(const GradcheckDirection* d, double noise) {
  for (int k = d->tried - 3; k >= first_unbroken(d); k--) {
    double least = JUMP_LEAST * fmax(fabs(d->difference[k + 1]), fabs(d->analytic)) * d->step[k];
    bool odd = odd_change(d, k) >= fmax(least, JUMP_FALL * fmax(odd_change(d, k + 1), noise));
    bool even = even_change(d, k) >= fmax(least, JUMP_FALL * fmax(even_change(d, k + 1), noise));
    if (odd || even) return k + 1;
  }
  return 0;
}

/* The first step that says something of x. */
static int first_sound(const GradcheckDirection* d, double noise) {
  int unbroken = first_unbroken(d), below = first_below_jump(d, noise);
  return below > unbroken ? below : unbroken;
}

/* How far the estimate at step k may be off, by the step before it; infinite where there is none. After longer steps
 * that say nothing of x, the first estimate is held against the plain difference before it. */
static double doubt_before(const GradcheckDirection* d, int k, double noise) {
  int first = first_sound(d, noise);
  if (k < (first > 0 ? first + 1 : 2)) return INFINITY;
  double change = first > 0 && k == first + 1 ? fabs(d->extrapolated[k] - d->difference[k - 1]) : change_at(d, k);
  return isfinite(change) ? fmax(change, noise / d->step[k]) : (double)INFINITY;
}

/* (J4): the same by all smaller steps, too: what they say otherwise and noise does not explain. A function that is
 * rough at every size agrees with itself here and there. */
static double doubt(const GradcheckDirection* d, int k, double noise) {
  double most = doubt_before(d, k, noise);
  for (int j = k + 1; j < d->tried; j++)
    most = fmax(most, fabs(d->extrapolated[j] - d->extrapolated[k]) - TRUST * noise / d->step[j]);
  return most;
}

/* The step that decides; -1 when none does. */
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

/* ---------------------------------------------------------------- the gradient against them */

/* A gradient that is too small is held against what the differences give. */
static double scale_of(const GradcheckDirection* d, int k) {
  return fmax(fabs(d->analytic), k < 0 ? 0 : fabs(d->extrapolated[k]));
}

static double relative(double x, double scale) { return scale > 0 ? x / scale : x > 0 ? (double)INFINITY : 0; }

/* (J5) */
static GradcheckVerdict verdict_of(const GradcheckDirection* d, double bound) {
  if (!isfinite(d->analytic)) return GRADCHECK_WRONG;
  if (d->error > bound && d->error > d->resolution) return GRADCHECK_WRONG;
  return d->resolution <= bound ? GRADCHECK_RIGHT : GRADCHECK_UNCHECKED;
}

static double error_of(const GradcheckDirection* d, double difference) {
  return fabs(difference - d->analytic) / d->scale;
}

/* Errors below this multiple of their step's noise do not show the order of convergence. */
#define CLEAR_OF_NOISE 30

/* The power of h with which the errors of the plain differences fall, over the last decade before the step that decides
 * which is clear of noise; NaN when there is none. */
static double observed_order(const GradcheckDirection* d, int best, double noise) {
  int to = best;
  while (to > 0 && !(error_of(d, d->difference[to]) * d->scale > CLEAR_OF_NOISE * noise / d->step[to])) to--;
  if (to == 0) return NAN;
  int from = to > 1 ? to - 2 : 0;
  return math_log(error_of(d, d->difference[from]) / error_of(d, d->difference[to])) /
         math_log(d->step[from] / d->step[to]);
}

/* The verdict if step `best` decides; zero: rounding of g . d. */
static void judge_at(GradcheckDirection* d, int best, double noise, double zero, double bound) {
  d->scale = scale_of(d, best);
  d->resolution = best < 0 ? (double)INFINITY : relative(TRUST * doubt(d, best, noise) + zero, d->scale);
  d->error = best < 0 ? (double)NAN : relative(fabs(d->extrapolated[best] - d->analytic), d->scale);
  d->best_step = best < 0 ? (double)NAN : d->step[best];
  d->verdict = verdict_of(d, bound);
  d->order = best < 0 || d->scale == 0 ? (double)NAN : observed_order(d, best, noise);
}

/* (J8) Half of what the slopes on the two sides differ by, by steps k - 1 and k. */
static double bend_at(const GradcheckDirection* d, int k) {
  return (d->sum[k - 1] - d->sum[k]) / (2 * (d->step[k - 1] - d->step[k]));
}

/* ... without what is of first order in h: the second derivative, or its jump. */
static double kink_at(const GradcheckDirection* d, int k) {
  double here = bend_at(d, k), before = bend_at(d, k - 1);
  return here + (here - before) / (d->step[k - 1] / d->step[k] - 1);
}

/* Of three steps in a row. */
static bool is_steady(double here, double before, double earlier) {
  return fabs(here - before) <= KINK_STEADY * fabs(here) && fabs(here - earlier) <= 5 * KINK_STEADY * fabs(here);
}

/* (J8) Does the function bend at x itself, and does the gradient lie between its two slopes? Of a smooth function the
 * half falls with h; here three steps agree on it. */
static bool lies_in_kink(const GradcheckDirection* d, double noise) { /* of the odd part */
  for (int k = first_sound(d, noise) + 4; k < d->tried; k++) {
    double half = kink_at(d, k), least = KINK_CLEAR * noise / d->step[k];
    bool steady = is_steady(half, kink_at(d, k - 1), kink_at(d, k - 2));
    if (!steady || !(fabs(half) > least)) continue;
    return fabs(d->analytic - d->difference[k]) <= (1 + KINK_STEADY) * fabs(half);
  }
  return false;
}

/* (J13) The shortest step of all sweeps; over what is shorter a gradient cannot be looked at. */
#define FINEST_STEP 1e-12

/* (J13) Does the function vary by so little that it goes along with the gradient over less than the shortest step, and
 * do its differences agree at no step? Then it is finer than they are. */
static bool is_too_fine(const GradcheckDirection* d, double noise, double rounding) {
  double range = 0;
  for (int k = first_unbroken(d); k < d->tried; k++) range = fmax(range, fabs(d->difference[k]) * d->step[k]);
  if (!(range > KINK_CLEAR * rounding && range < 0.1 * FINEST_STEP * fabs(d->analytic))) return false;
  int best = least_doubt(d, noise, doubt);
  return best < 0 || TRUST * doubt(d, best, noise) > fabs(d->extrapolated[best]);
}

/* (J9) What the values on both sides differ by, and their mean from `value`, at step k; half and whole. */
static double odd_jump(const GradcheckDirection* d, int k) { return d->difference[k] * d->step[k]; }
static double even_jump(const GradcheckDirection* d, int k, double value) { return d->sum[k] / 2 - value; }

/* Is it clear of what the even part varies by over the steps from k on? A place where it has another value is in three
 * rests. */
static bool is_clear(const GradcheckDirection* d, int k, double even) {
  int above = 0;
  for (int j = k; j < d->tried; j++) above += KINK_CLEAR * even_rest(d, j) / 2 > fabs(even);
  return above <= 3;
}

/* (J9) Does the function jump at x itself, where it has `value`, by at least so much? */
static bool jumps(const GradcheckDirection* d, double value, double least, double rounding) {
  /* beyond steps without a value, too, what lies there is another piece; beyond a jump beside x it is not of x */
  for (int k = first_below_jump(d, noise_of(d, rounding)) + 2; k < d->tried; k++) {
    double odd = odd_jump(d, k), even = even_jump(d, k, value), jump = 0;
    if (is_steady(odd, odd_jump(d, k - 1), odd_jump(d, k - 2))) jump = fabs(odd);
    if (is_steady(even, even_jump(d, k - 1, value), even_jump(d, k - 2, value)) && is_clear(d, k, even))
      jump = fmax(jump, fabs(even));
    if (jump >= least && jump > KINK_CLEAR * rounding) return true;
  }
  return false;
}

/* (J9) The least jump after which the step that decides says nothing. */
static double excusing_jump(const GradcheckDirection* d) {
  return isfinite(d->best_step) ? 2 * d->best_step * d->error * d->scale : 0;
}

/* (J7) Where D says wrong: does what the neighbours alone would choose speak for the gradient? Then the differences
 * contradict each other, and that step decides. */
static void judge_again(GradcheckDirection* d, double noise, double zero, double bound) {
  int other = least_doubt(d, noise, doubt_before);
  if (other >= 0 && fabs(d->extrapolated[other] - d->analytic) <= TRUST * doubt_before(d, other, noise) + zero)
    judge_at(d, other, noise, zero, bound);
}

/* rounding: rounding error of a value. */
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

/* A random direction with components of the numbers' own scale, of length about one in that scale; a share of the
 * gradient keeps it from lying across: |g . d| >= |g| / sqrt(n), all in the scales. */
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

/* What a sweep moves and what it looks at. */
typedef struct {
  GradcheckValue value;
  void* context;
  int count;
  const double *base, *direction;
  double* values;
  double rounding; /* of a value */
} Sweep;

static double value_beside(const Sweep* s, double h) {
  for (int k = 0; k < s->count; k++) s->values[k] = s->base[k] + h * s->direction[k];
  return s->value(s->context, s->values);
}

static bool said_enough(const Sweep* s, const GradcheckDirection* d, int best, double bound) {
  return TRUST * doubt_before(d, best, s->rounding) <= bound * scale_of(d, best);
}

static bool stopped(const GradcheckOptions* options) { return options->interrupted && options->interrupted(); }

/* False when it was interrupted. */
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

/* Until rounding has taken over, at most to the smallest step. False when it was interrupted. */
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

/* On to so many steps, whatever was said. False when it was interrupted. */
static bool sweep_on(const Sweep* s, const GradcheckOptions* options, int count, GradcheckDirection* d) {
  while (d->tried < count)
    if (!take_step(s, options, d)) return false;
  return true;
}

/* (J14) The mean over `samples` step lengths, spread evenly (in their logarithm) over half a decade down from each one:
 * of a smooth function the same series in the mean length, of noise a root of `samples` less. */
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

/* (J14) Repeats the sweep with means where noise hides the differences. False when it was
 * interrupted. */
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

/* What is left at the best step goes like h^4 and noise / h: so like noise^0.8. */
#define NOISE_POWER 0.8
/* By that alone means of 69 of 153 functions told the bound, the largest of several samples being what it is; of twice
 * as many lengths 104, of four times as many 133, of eight times 145. */
#define MORE_LENGTHS 4

/* (J14) How many step lengths it takes until means tell the bound; infinite where that lies below what the rounding of
 * the gradient or of the values leaves, or where means have not helped. alone: resolution of single lengths. */
static double lengths_needed(const GradcheckDirection* d, double alone, double rounding, double zero,
                             const GradcheckOptions* options) {
  int taken = options->average > 1 ? options->average : 1;
  double floor = relative(zero, d->scale), left = (options->bound - floor) / (d->resolution - floor);
  if (!(left > 0) || !(d->noise * math_pow(left, 1 / NOISE_POWER) >= rounding)) return INFINITY;
  if (taken > 1 && !(d->resolution < alone)) return INFINITY;
  return MORE_LENGTHS * taken * math_pow(left, -2 / NOISE_POWER);
}

/* (J11) A function that is rough down to the smallest step and no farther has its slope below that: what is decided
 * there counts. False when it was interrupted. */
static bool look_closer(const Sweep* s, const GradcheckOptions* options, double zero, GradcheckDirection* d) {
  bool blind = d->verdict == GRADCHECK_WRONG || d->resolution > FINE_FROM;
  if (!blind || !d->rough || d->tried < SWEEP) return true;
  GradcheckDirection closer = *d;
  if (!sweep_on(s, options, FINE_SWEEP, &closer)) return false;
  judge(&closer, s->rounding, zero, options->bound);
  if (closer.best_step <= d->step[SWEEP - 1]) *d = closer;
  return true;
}

/* ---------------------------------------------------------------- beside a kink */

/* (J10) Slopes along the direction at the places beside x, from `size` away. */
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

/* Pairs of places on both sides of x, about as far off as the direction is long; the last two along the gradient. */
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

/* Largest change of a slope. */
static double most_changed(const double* slope, const double* before) {
  double most = 0; /* fmax leaves NaN out */
  for (int n = 0; n < NEAR_PLACES; n++) most = fmax(most, fabs(slope[n] - before[n]));
  return most;
}

/* (J10) Does the function bend at x, whatever it does along this direction, and may the gradient be one of its pieces?
 * At a kink the slopes beside x do not come together with the distance: it is a cone. */
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

/* Worst of the directions; NaN, where no step decides, counts as worst. */
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

/* A direction that was found wrong: a small kink is seen at small steps only (J8), a jump by the value at x (J9), a
 * kink that does not bend along it beside x (J10), what no step reaches by all of them (J13). False when it was
 * interrupted. */
static bool look_for_kinks(const Sweep* s, const double* places, GradcheckFloor floor, const GradcheckOptions* options,
                           GradcheckDirection* d) {
  GradcheckDirection again = *d;
  if (!sweep_on(s, options, SWEEP, &again)) return false;
  judge(&again, floor.value, floor.gradient / sqrt((double)s->count), options->bound);
  double noise = odd_noise_of(&again, floor.value);
  int first = first_unbroken(&again);
  bool broken = first > 0 && again.step[first - 1] < d->best_step; /* the step that decided decides nothing (J6) */
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
    /* what does not matter hides no slope in the bits by which x itself differs: solved from other guesses */
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
