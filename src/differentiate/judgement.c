/* A gradient held against central differences of its function, direction by direction (docs/derivations/gradcheck.md).
 * The differences judge themselves first: the step where they say most decides, whatever the gradient says. */
#include "differentiate/gradcheck.h"

/* The sweep: from GRADCHECK_LARGEST_STEP of the scale down by half decades. */
enum { SWEEP = GRADCHECK_SWEEP };
/* After so many steps in a row that say less than the best one, rounding has taken over, if that one says enough; as
 * many tell how large rounding is. */
enum { GROWING = 4 };
/* The h^4 of the even part reaches farther, so that fewer of these are looked at. */
enum { EVEN = 2 };
/* The difference that decides may be off by so many times what its neighbours and the noise of the sweep suggest. Of
 * 960 000 right gradients of functions with noise, half of them with kinks of the second derivative, three are called
 * wrong; with a factor of 3 it is 166 (test_judgement.c looks at a tenth of them). */
#define TRUST 5
/* A kink that three steps agree on to this part, so many times clear of the noise of its slopes. */
#define KINK_STEADY 0.02
#define KINK_CLEAR 30

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

/* ... and the even part, which a kink is in, too. */
static double noise_of(const GradcheckDirection* d, double rounding) {
  double noise = odd_noise_of(d, rounding);
  for (int k = d->tried - 1; k > 1 && k >= d->tried - EVEN; k--) noise = fmax(noise, even_rest(d, k) / 2);
  return noise;
}

/* How far the estimate at step k may be off, by the step before it; infinite where there is none. */
static double doubt_before(const GradcheckDirection* d, int k, double noise) {
  if (k < 2) return INFINITY;
  double change = change_at(d, k);
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

/* (J6): the first step with nothing but values beside it; differences over longer ones reach across a place that has
 * none. */
static int first_unbroken(const GradcheckDirection* d) {
  int first = d->tried;
  while (first > 0 && isfinite(d->difference[first - 1])) first--;
  return first;
}

/* The step that decides; -1 when none does. */
static int least_doubt(const GradcheckDirection* d, double noise,
                       double (*doubt_at)(const GradcheckDirection* d, int k, double noise)) {
  int best = -1, first = first_unbroken(d);
  double least = INFINITY;
  for (int k = first + 2; k < d->tried; k++) {
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

/* Errors below so many times the noise of their step say nothing of how they fall. */
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

/* (J8) Does the function bend at x itself, and does the gradient lie between its two slopes? Of a smooth function the
 * half falls with h; here three steps agree on it. */
static bool lies_in_kink(const GradcheckDirection* d, double noise) { /* of the odd part */
  for (int k = first_unbroken(d) + 4; k < d->tried; k++) {
    double half = kink_at(d, k), least = KINK_CLEAR * noise / d->step[k];
    bool steady = fabs(half - kink_at(d, k - 1)) <= KINK_STEADY * fabs(half) &&
                  fabs(half - kink_at(d, k - 2)) <= 5 * KINK_STEADY * fabs(half);
    if (!steady || !(fabs(half) > least)) continue;
    return fabs(d->analytic - d->difference[k]) <= (1 + KINK_STEADY) * fabs(half);
  }
  return false;
}

/* (J7) Where D says wrong: does what the neighbours alone would choose speak for the gradient? Then the differences
 * contradict each other, and that step decides. */
static void judge_again(GradcheckDirection* d, double noise, double zero, double bound) {
  int other = least_doubt(d, noise, doubt_before);
  if (other >= 0 && fabs(d->extrapolated[other] - d->analytic) <= TRUST * doubt_before(d, other, noise) + zero)
    judge_at(d, other, noise, zero, bound);
}

/* rounding: of a value. */
static void judge(GradcheckDirection* d, double rounding, double zero, double bound) {
  double noise = noise_of(d, rounding);
  judge_at(d, least_doubt(d, noise, doubt), noise, zero, bound);
  if (d->verdict == GRADCHECK_WRONG) judge_again(d, noise, zero, bound);
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

/* whole: down to the smallest step whatever was said. False when it was interrupted. */
static bool sweep(const Sweep* s, const GradcheckOptions* options, bool whole, GradcheckDirection* d) {
  double h = GRADCHECK_LARGEST_STEP;
  int best = -1, growing = 0;
  for (d->tried = 0; d->tried < SWEEP && (whole || growing < GROWING); h *= sqrt(0.1)) {
    double plus = value_beside(s, h), minus = value_beside(s, -h);
    if (stopped(options)) return false;
    int k = d->tried++;
    d->step[k] = h;
    d->sum[k] = plus + minus;
    d->difference[k] = (plus - minus) / (2 * h); /* (J1) */
    d->extrapolated[k] = extrapolate(d, k);
    int now = least_doubt(d, s->rounding, doubt_before);
    growing = now == best && best >= 0 && said_enough(s, d, best, options->bound) ? growing + 1 : 0;
    best = now;
  }
  return true;
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
}

void gradcheck_vector(int count, const double* gradient, const double* scale, const double* base, GradcheckFloor floor,
                      GradcheckValue value, void* context, const GradcheckOptions* options, uint64_t seed,
                      GradcheckBlockReport* report) {
  *report = (GradcheckBlockReport){.count = count, .order = NAN};
  if (count == 0) return;
  double *direction = MEMORY_NEW(double, 2 * (size_t)count), *values = direction + count;
  for (int k = 0; k < count; k++) report->norm += gradient[k] * scale[k] * gradient[k] * scale[k];
  report->norm = sqrt(report->norm);
  double share = 1 / sqrt((double)count);
  Random random = {seed};
  Sweep s = {value, context, count, base, direction, values, floor.value};
  for (int n = 0; n < options->directions && n < GRADCHECK_DIRECTIONS && !stopped(options); n++) {
    GradcheckDirection* d = &report->direction[n];
    d->analytic = draw_direction(&random, gradient, report->norm, scale, count, direction);
    if (!sweep(&s, options, false, d)) break;
    judge(d, floor.value, floor.gradient * share, options->bound);
    if (d->verdict == GRADCHECK_WRONG) { /* a small kink is seen at small steps only */
      GradcheckDirection again = *d;
      if (!sweep(&s, options, true, &again)) break;
      judge(&again, floor.value, floor.gradient * share, options->bound);
      if (again.kink) *d = again;
    }
    report->directions++;
    add_direction(report, d);
  }
  memory_free(direction);
}
