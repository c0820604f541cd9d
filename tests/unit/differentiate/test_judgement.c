/* Tests the verdict on gradients of functions with known derivative and noise. Right gradients are never called wrong,
 * and wrong ones are found at any scale. Gradients that noise hides are called unchecked. */
#include <float.h>
#include <string.h>

#include "differentiate/differentiate.h"
#include "support/compare.h"
#include "support/long.h"

enum { NUMBERS = 24, LEAST = 6, MOST = 4 };

/* f(x) = size * sum a_k sin(w_k x_k / unit_k + p_k) + c_k x_k / unit_k + x_k x_(k+1) / ..., and noise of even
 * distribution in it. */
typedef struct {
  double size, noise;
  double unit[NUMBERS], amplitude[NUMBERS], wave[NUMBERS], phase[NUMBERS];
  double base[NUMBERS], gradient[NUMBERS];
  Random random;
  int calls, stop_after;
  bool fails, kinked;
  double bend;                        /* slope by which the first derivative jumps at the base, in every variable */
  double jump, own;                   /* what comes to the value beyond the base in y_0, and at the base alone */
  double aside;                       /* how far beyond */
  double piece[LEAST][MOST][NUMBERS]; /* slopes: the least of the largest of them comes to the value */
  bool pieces;
  double rough;    /* slope of its waves of every size from 1e-3 down to 1e-7 */
  int finer_waves; /* and on from there by half decades */
  double
      fence; /* no value from here to four times as far from the base, in units, and another slope behind it; 0: none */
  double far_slope; /* that slope, of every number, where the one of the distance is not meant; 0: that one is */
} Function;

enum { ROUGH_SIZES = 9 };
static double rough_wave(int size) { return 1e3 * pow(10, 0.5 * size); } /* per unit */

/* Returns the term beyond the discontinuity, or NaN on the discontinuity. */
static double beyond_fence(const Function* f, double distance) {
  if (!(f->fence > 0) || distance < f->fence) return 0;
  return distance < 4 * f->fence ? (double)NAN : f->far_slope > 0 ? 0 : 1000 * distance;
}

/* The least of the largest, homogeneous in the distance from the base; piece: which one it is. */
static double least_of_largest(const Function* f, const double* over, const double** piece) {
  double least = HUGE_VAL;
  for (int i = 0; i < LEAST; i++) {
    double largest = -HUGE_VAL;
    const double* own = NULL;
    for (int j = 0; j < MOST; j++) {
      double sum = 0;
      for (int k = 0; k < NUMBERS; k++) sum += f->piece[i][j][k] * over[k];
      if (sum > largest) largest = sum, own = f->piece[i][j];
    }
    if (largest < least) least = largest, *piece = own;
  }
  return least;
}

/* Returns the terms that are not smooth at the base point, except for kinks of one variable. */
static double broken_part(const Function* f, const double* over) {
  const double* piece;
  double sum = f->pieces ? least_of_largest(f, over, &piece) : 0;
  bool there = true;
  for (int k = 0; k < NUMBERS; k++) there = there && over[k] == 0;
  return sum + (over[0] > f->aside ? f->jump : 0) + (there ? f->own : 0);
}

static double value_of(void* context, const double* x) {
  Function* f = context;
  double sum = 0, y[NUMBERS];
  f->calls++;
  double square = 0;
  if (f->fails) return NAN;
  for (int k = 0; k < NUMBERS; k++) y[k] = x[k] / f->unit[k];
  for (int k = 0; k < NUMBERS; k++) square += pow(y[k] - f->base[k] / f->unit[k], 2);
  sum += copysign(beyond_fence(f, sqrt(square)), y[0] - f->base[0] / f->unit[0]);
  for (int k = 0; k < NUMBERS; k++) {
    sum += f->amplitude[k] * sin(f->wave[k] * y[k] + f->phase[k]) + 0.3 * y[k] * y[(k + 1) % NUMBERS];
    double over = y[k] - f->base[k] / f->unit[k];
    sum += 0.5 * f->bend * fabs(over);
    if (f->far_slope > 0 && sqrt(square) > f->fence) sum += f->far_slope * over + 0.1;
    if (f->kinked && over > 0) sum += 5 * over * over; /* the second derivative jumps at the base */
  }
  double over[NUMBERS];
  for (int k = 0; k < NUMBERS; k++) over[k] = y[k] - f->base[k] / f->unit[k];
  sum += broken_part(f, over);
  for (int k = 0; k < NUMBERS; k++)
    for (int m = 0; m < ROUGH_SIZES + f->finer_waves && f->rough > 0; m++)
      sum += f->rough / rough_wave(m) * sin(rough_wave(m) * (y[k] - f->base[k] / f->unit[k]) + f->phase[k] + m);
  return f->size * (sum + f->noise * random_uniform(&f->random, -1, 1));
}

static Function function_with(uint64_t seed, double size, double noise, double unit) {
  Function f = {.size = size, .noise = noise, .random = {seed}};
  double y[NUMBERS];
  for (int k = 0; k < NUMBERS; k++) {
    f.unit[k] = unit * exp2(floor(random_uniform(&f.random, -4, 4)));
    f.amplitude[k] = random_normal(&f.random);
    f.wave[k] = random_uniform(&f.random, 0.3, 5);
    f.phase[k] = random_uniform(&f.random, 0, 6);
    y[k] = random_normal(&f.random);
    f.base[k] = f.unit[k] * y[k];
  }
  for (int k = 0; k < NUMBERS; k++) {
    double slope = f.amplitude[k] * f.wave[k] * cos(f.wave[k] * y[k] + f.phase[k]);
    slope += 0.3 * (y[(k + 1) % NUMBERS] + y[(k + NUMBERS - 1) % NUMBERS]);
    f.gradient[k] = size * slope / f.unit[k];
  }
  return f;
}

static bool interrupted_never(void) { return false; }
static bool interrupted_always(void) { return true; }

static GradcheckBlockReport judged_by_means(Function* f, const double* gradient, int average, int directions,
                                            uint64_t seed) {
  GradcheckOptions options = {
      .directions = directions, .bound = 1e-6, .interrupted = interrupted_never, .fit_lengths = average};
  GradcheckFloor floor = {.value = f->size * 10 * DBL_EPSILON};
  GradcheckBlockReport report;
  gradcheck_vector(NUMBERS, gradient, f->unit, f->base, floor, value_of, f, &options, seed, &report);
  return report;
}

static GradcheckBlockReport judged(Function* f, const double* gradient, int directions, uint64_t seed) {
  return judged_by_means(f, gradient, 1, directions, seed);
}

static const char* const WORDS[] = {"right", "unchecked", "wrong"};

/* How often each verdict falls over many functions of one noise, with the gradient times 1 + off. */
static void count_verdicts(double noise, double off, bool kinked, int functions, int counts[3]) {
  memset(counts, 0, 3 * sizeof(int));
  for (int n = 0; n < functions; n++) {
    uint64_t seed = 1000 + (uint64_t)n;
    Function f = function_with(seed, 1, noise, 1);
    f.kinked = kinked;
    for (int k = 0; k < NUMBERS; k++) f.gradient[k] *= 1 + off;
    GradcheckBlockReport report = judged(&f, f.gradient, 3, seed);
    counts[report.verdict]++;
    if (off == 0 && report.verdict == GRADCHECK_WRONG)
      fail_msg("seed %llu, noise %g: a right gradient is called wrong: error %g, resolution %g",
               (unsigned long long)seed, noise, report.error, report.resolution);
  }
}

/* Checks 3 directions of many functions for each noise. The bound of 1e-6 can be resolved down to a noise of 1e-11. */
static void judgement_J1_J2_J3_J4_right_gradients_are_never_wrong(void** state) {
  (void)state;
  int functions = tests_count(250, 1000);
  for (double noise = 1e-16; noise < 0.5; noise *= 10)
    for (int kinked = 0; kinked < 2; kinked++) {
      int counts[3];
      count_verdicts(noise, 0, kinked, functions, counts);
      if (noise < 1e-11 && !kinked) assert_int_equal(counts[GRADCHECK_RIGHT], functions);
      if (noise > 1e-7) assert_int_equal(counts[GRADCHECK_UNCHECKED], functions);
    }
}

/* Noise that hides the bound: a fit to 64 lengths resolves it for correct gradients without calling them wrong, and
 * finds gradients that are wrong by 2e-5. */
static void judgement_J14_means_tell_more(void** state) {
  (void)state;
  int plain = 0, mean = 0, wrong = 0, nearer = 0;
  enum { FUNCTIONS = 200 };
  for (int n = 0; n < FUNCTIONS; n++) {
    uint64_t seed = 3000 + (uint64_t)n;
    Function f = function_with(seed, 1, 1e-9, 1);
    GradcheckBlockReport one = judged(&f, f.gradient, 1, seed), many = judged_by_means(&f, f.gradient, 64, 1, seed);
    plain += one.verdict == GRADCHECK_RIGHT;
    mean += many.verdict == GRADCHECK_RIGHT;
    nearer += many.resolution < one.resolution / 2;
    if (many.verdict == GRADCHECK_WRONG)
      fail_msg("seed %d: a right gradient is called wrong: error %g, resolution %g", 3000 + n, many.error,
               many.resolution);
    for (int k = 0; k < NUMBERS; k++) f.gradient[k] *= 1 + 2e-5;
    wrong += judged_by_means(&f, f.gradient, 64, 1, seed).verdict == GRADCHECK_WRONG;
  }
  print_message("right by single lengths %d, by means %d, half the resolution %d, wrong found %d of %d\n", plain, mean,
                nearer, wrong, FUNCTIONS);
  assert_true(plain < FUNCTIONS / 2);
  assert_true(mean > 9 * FUNCTIONS / 10);
  assert_int_equal(wrong, FUNCTIONS);
}

/* The proposed number of step lengths resolves the bound for most functions. No number is proposed if rounding exceeds
 * the bound. */
static void judgement_J14_foretells_how_many(void** state) {
  (void)state;
  int told = 0, held = 0;
  for (int n = 0; n < 100; n++) {
    uint64_t seed = 7000 + (uint64_t)n;
    Function f = function_with(seed, 1, 3e-10 * pow(10, n / 100.0), 1);
    GradcheckBlockReport one = judged(&f, f.gradient, 1, seed);
    if (one.verdict != GRADCHECK_UNCHECKED || !(one.lengths_needed <= 256)) continue;
    int count = 2;
    while (count < one.lengths_needed) count *= 2;
    told++;
    held += judged_by_means(&f, f.gradient, count, 1, seed).verdict == GRADCHECK_RIGHT;
  }
  print_message("told %d, held %d\n", told, held);
  assert_true(told > 20 && 4 * held > 3 * told);
  Function exact = function_with(1, 1, 0, 1);
  GradcheckOptions options = {.directions = 1, .bound = 1e-14, .interrupted = interrupted_never};
  GradcheckFloor floor = {.value = 10 * DBL_EPSILON};
  GradcheckBlockReport report;
  gradcheck_vector(NUMBERS, exact.gradient, exact.unit, exact.base, floor, value_of, &exact, &options, 1, &report);
  assert_int_equal(report.verdict, GRADCHECK_UNCHECKED);
  assert_true(isinf(report.lengths_needed));
}

/* Fits with default options and a sufficient resolution of 1e-4. The functions have noise of 1e-9 to 1e-3, with and
 * without kinks of the second derivative. Correct gradients are never called wrong. At noise 1e-9 all smooth functions
 * pass, and an error of 1e-4 is found in all of them. */
static void judgement_J14_fits_by_default(void** state) {
  (void)state;
  int functions = tests_count(16, 400);
  for (double noise = 1e-9; noise < 5e-3; noise *= 10)
    for (int kinked = 0; kinked < 2; kinked++) {
      int right = 0, found = 0;
      for (int n = 0; n < functions; n++) {
        uint64_t seed = 20000 + (uint64_t)n;
        Function f = function_with(seed, 1, noise, 1);
        f.kinked = kinked;
        GradcheckOptions options = {.directions = 3, .bound = 1e-6, .accepted_resolution = 1e-4};
        GradcheckFloor floor = {.value = 10 * DBL_EPSILON};
        GradcheckBlockReport report;
        gradcheck_vector(NUMBERS, f.gradient, f.unit, f.base, floor, value_of, &f, &options, seed, &report);
        if (report.verdict == GRADCHECK_WRONG)
          fail_msg("seed %llu, noise %g: a right gradient is called wrong: error %g, resolution %g",
                   (unsigned long long)seed, noise, report.error, report.resolution);
        right += report.verdict == GRADCHECK_RIGHT;
        for (int k = 0; k < NUMBERS; k++) f.gradient[k] *= 1 + 1e-4;
        gradcheck_vector(NUMBERS, f.gradient, f.unit, f.base, floor, value_of, &f, &options, seed, &report);
        found += report.verdict == GRADCHECK_WRONG;
      }
      print_message("noise %g%s: %d right, %d errors found, of %d\n", noise, kinked ? ", kinks" : "", right, found,
                    functions);
      if (noise < 5e-9 && !kinked) assert_true(right == functions && found == functions);
    }
}

/* x + tanh(x / 1e-10), of slope 1e10 over steps below 1e-10 only: a kink for gradcheck. Slopes that are wrong by a
 * factor of 1.1 or -1 there are wrong. */
static double steep(void* context, const double* x) {
  (void)context;
  return x[0] + tanh(x[0] / 1e-10);
}

static void judgement_J16_a_narrow_range(void** state) {
  (void)state;
  static const double factor[] = {1, 1.1, -1}, one = 1, zero = 0;
  GradcheckOptions options = {.directions = 2, .bound = 1e-6};
  for (int k = 0; k < 3; k++) {
    double slope = factor[k] * (1 + 1e10);
    GradcheckBlockReport report;
    gradcheck_vector(1, &slope, &one, &zero, (GradcheckFloor){.value = 1e-16}, steep, NULL, &options, 1, &report);
    assert_int_equal(report.verdict, k == 0 ? GRADCHECK_UNCHECKED : GRADCHECK_WRONG);
    assert_int_equal(report.kink, k == 0);
    if (k == 0) assert_true(report.valid_step >= 1e-12 && report.valid_step < 1e-10);
  }
}

/* exp(x) and a gradient with an error of rounding of up to 5e-6 that varies with x. */
static double exponential(void* context, const double* x) {
  (void)context;
  return exp(x[0]);
}
static bool rounded_slope(void* context, const double* x, double* gradient) {
  (void)context;
  gradient[0] = exp(x[0]) * (1 + 5e-6 * sin(1e13 * x[0] + 1));
  return true;
}

/* The rounding of a gradient is measured: an error below five of its deviations is unchecked, larger ones are wrong. */
static void judgement_J17_rounding_of_the_gradient(void** state) {
  (void)state;
  static const double off[] = {4e-6, 1e-4, -1e-4, -2}, one = 1, zero = 0;
  GradcheckOptions options = {.directions = 2, .bound = 1e-6};
  for (int k = 0; k < 4; k++) {
    double slope = 1 + off[k];
    GradcheckFloor floor = {.value = 1e-16, .gradient = 0, .gradient_at = rounded_slope};
    GradcheckBlockReport report;
    gradcheck_vector(1, &slope, &one, &zero, floor, exponential, NULL, &options, 1, &report);
    assert_int_equal(report.verdict, k == 0 ? GRADCHECK_UNCHECKED : GRADCHECK_WRONG);
    if (k == 0) assert_true(report.scatter > 1e-6 && report.scatter < 5e-6);
  }
}

/* Models the loss of an unstable run. Every step size sees oscillations, and only the smallest resolves the slope. Two
 * neighbouring step sizes are not enough to call a gradient wrong. */
static void judgement_J4_of_what_is_rough_at_every_size(void** state) {
  (void)state;
  int unchecked = 0, functions = tests_count(250, 1000);
  for (int n = 0; n < functions; n++) {
    Function f = function_with(5000 + (uint64_t)n, 1, 1e-16, 1);
    f.rough = 0.03;
    for (int k = 0; k < NUMBERS; k++)
      for (int m = 0; m < ROUGH_SIZES; m++) f.gradient[k] += f.rough / f.unit[k] * cos(f.phase[k] + m);
    GradcheckBlockReport report = judged(&f, f.gradient, 3, 1);
    unchecked += report.verdict == GRADCHECK_UNCHECKED;
    if (report.verdict == GRADCHECK_WRONG)
      fail_msg("seed %d: a right gradient is called wrong: error %g, resolution %g", 5000 + n, report.error,
               report.resolution);
  }
  assert_int_equal(unchecked, functions);
}

/* Oscillations extend to the smallest step of the sweep. The whole sweep then sees the slope of coarser oscillations,
 * and two steps agree by chance. Smaller steps must be evaluated before a gradient is called wrong. */
static void judgement_J11_of_what_is_rough_down_to_the_smallest_step(void** state) {
  (void)state;
  int wrong = 0, count = tests_count(200, 1000);
  for (int n = 0; n < count; n++) {
    Function f = function_with(9000 + (uint64_t)n, 1, 1e-16, 1);
    f.rough = 3;
    f.finer_waves = 3 + n % 2;
    for (int k = 0; k < NUMBERS; k++)
      for (int m = 0; m < ROUGH_SIZES + f.finer_waves; m++) f.gradient[k] += f.rough / f.unit[k] * cos(f.phase[k] + m);
    GradcheckBlockReport report = judged(&f, f.gradient, 3, 1);
    if (report.verdict == GRADCHECK_WRONG)
      fail_msg("seed %d: a right gradient is called wrong: error %g, resolution %g", 9000 + n, report.error,
               report.resolution);
    for (int k = 0; k < NUMBERS; k++) f.gradient[k] = -f.gradient[k];
    wrong += judged(&f, f.gradient, 3, 1).verdict == GRADCHECK_WRONG;
  }
  assert_int_equal(wrong, count);
}

/* exp(x), and beside 0 another slope, as of steps that end after fewer rounds. */
static double two_plateaus(void* context, const double* x) {
  (void)context;
  return exp(x[0]) + (fabs(x[0]) < 4e-7 ? 1.2e-5 * x[0] : 0);
}

/* Slope 1 by all but the least steps: unchecked. A slope that neither plateau has is wrong. */
static void judgement_J7_of_two_plateaus(void** state) {
  (void)state;
  static const double slope[] = {1, 1.001, -1}, one = 1, zero = 0;
  static const GradcheckVerdict wanted[] = {GRADCHECK_UNCHECKED, GRADCHECK_WRONG, GRADCHECK_WRONG};
  GradcheckOptions options = {.directions = 1, .bound = 1e-12}; /* so that the sweep goes all the way */
  for (int k = 0; k < 3; k++) {
    GradcheckBlockReport report;
    gradcheck_vector(1, &slope[k], &one, &zero, (GradcheckFloor){.value = 1e-16}, two_plateaus, NULL, &options, 1,
                     &report);
    assert_int_equal(report.verdict, wanted[k]);
    if (k == 0) assert_true(report.error <= 1e-6);
  }
}

/* exp(x) of runs whose steps are solved to a tolerance: the residual adds a multiple of *context that varies with x
 * over 1e-3, and differs on both sides of 0. The slope of this part is constant over steps below 1e-4. */
static double loosely_solved(void* context, const double* x) {
  double part = fabs(x[0]) < 1e-4 ? x[0] / 1e-4 : tanh(x[0] / 1e-4);
  return exp(x[0]) + *(const double*)context * part;
}

static double tightly_solved(void* context, const double* x) {
  double tolerance = *(const double*)context, tight = GRADCHECK_PRECISE_FACTOR * tolerance;
  return loosely_solved(&tight, x);
}

/* With a smaller tolerance the error of the right slope 1 decreases, and that of slopes wrong by 1e-5 does not. */
static void judgement_J18_errors_of_the_solver(void** state) {
  (void)state;
  static const double slope[] = {1, 1 + 1e-5, 1 - 1e-5, -1}, one = 1, zero = 0;
  double tolerance = 3e-10; /* the slope 3e-6 of the loose runs exceeds the bound, 3e-8 of the tight runs does not */
  GradcheckOptions options = {.directions = 1, .bound = 1e-6};
  for (int precise = 0; precise < 2; precise++)
    for (int k = 0; k < 4; k++) {
      GradcheckFloor floor = {.value = 1e-16, .precise_value = precise ? tightly_solved : NULL};
      GradcheckBlockReport report;
      gradcheck_vector(1, &slope[k], &one, &zero, floor, loosely_solved, &tolerance, &options, 1, &report);
      assert_int_equal(report.verdict, precise && k == 0 ? GRADCHECK_RIGHT : GRADCHECK_WRONG);
      assert_true(report.precise == (precise && k == 0));
      if (k > 0) assert_true(report.error > 6e-6);
    }
}

/* Adds oscillations of 1e-3 in all directions that are shorter than any step, as in a chaotic run after some impacts.
 */
static double finer_than_all(void* context, const double* x) {
  double along = 0;
  for (int k = 0; k < 3; k++) along += (k + 1) * x[k];
  return *(const double*)context * along + 1e-3 * sin(1e16 * along);
}

/* Of slope 1e13 at 0: unchecked, and one that is wrong by a factor of 1e13 where differences agree is wrong. */
static void judgement_J13_of_what_is_finer_than_the_smallest_step(void** state) {
  (void)state;
  static const double one[] = {1, 1, 1}, zero[] = {0, 0, 0};
  GradcheckOptions options = {.directions = 3, .bound = 1e-6};
  for (uint64_t seed = 1; seed <= 100; seed++)
    for (int steep = 0; steep < 2; steep++) {
      double slope = steep ? 1e3 : 0, factor = slope + 1e13; /* steep: the waves are small beside it, from 1e-6 on */
      double gradient[] = {factor, 2 * factor, 3 * factor};
      GradcheckBlockReport report;
      gradcheck_vector(3, gradient, one, zero, (GradcheckFloor){.value = 1e-16}, finer_than_all, &slope, &options, seed,
                       &report);
      assert_int_equal(report.verdict, steep ? GRADCHECK_WRONG : GRADCHECK_UNCHECKED);
      if (!steep) assert_true(report.is_noisy && report.resolution > 1);
    }
}

static double other_at_zero(void* context, const double* x) {
  (void)context;
  return x[0] == 0 ? 0.5 + 1e-13 : 0.5;
}

/* The variable has no influence. A difference at x itself is solver noise and must not count as a jump that hides a
 * slope. */
static void judgement_J9_not_of_what_does_not_matter(void** state) {
  (void)state;
  const double one = 1, zero = 0;
  GradcheckOptions options = {.directions = 2, .bound = 1e-6};
  GradcheckBlockReport report;
  gradcheck_vector(1, &zero, &one, &zero, (GradcheckFloor){.value = 1e-17}, other_at_zero, NULL, &options, 1, &report);
  assert_int_equal(report.verdict, GRADCHECK_UNCHECKED);
  assert_false(report.jump);
}

static void judgement_J5_wrong_by_a_factor(void** state) {
  (void)state;
  static const double off[] = {2.5e-6, -2.5e-6, 1e-5, 1e-3, -1, -2};
  for (int k = 0; k < 6; k++) {
    int counts[3];
    count_verdicts(1e-14, off[k], false, 300, counts);
    if (counts[GRADCHECK_WRONG] != 300) fail_msg("times 1 + %g: found %d of 300", off[k], counts[GRADCHECK_WRONG]);
  }
}

/* Noise of 1e-5 hides a relative error of 1e-6, but a wrong sign must still be found. */
static void judgement_J5_wrong_above_the_resolution(void** state) {
  (void)state;
  int counts[3];
  count_verdicts(1e-5, -2, false, 300, counts);
  assert_int_equal(counts[GRADCHECK_WRONG], 300);
  count_verdicts(1e-5, 1e-5, false, 300, counts);
  assert_int_equal(counts[GRADCHECK_UNCHECKED], 300);
}

/* One entry: of the wrong sign, missing, or off by a thousandth of the gradient. */
static void judgement_finds_one_wrong_entry(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 100; seed++)
    for (int way = 0; way < 3; way++) {
      Function f = function_with(seed, 1, 1e-14, 1);
      int entry = (int)(seed % NUMBERS);
      double* g = &f.gradient[entry];
      if (fabs(*g * f.unit[entry]) < 1e-3) continue;
      *g = way == 0 ? -*g : way == 1 ? 0 : *g + 1e-3 / f.unit[entry];
      GradcheckBlockReport report = judged(&f, f.gradient, 3, seed);
      if (report.verdict != GRADCHECK_WRONG)
        fail_msg("seed %llu, way %d: %s, error %g, resolution %g", (unsigned long long)seed, way, WORDS[report.verdict],
                 report.error, report.resolution);
    }
}

/* The true error of the differences is below the resolution that they claim, for every direction; both are relative. */
static void judgement_J4_resolution_holds(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 300; seed++)
    for (double noise = 1e-15; noise < 1e-2; noise *= 31) {
      Function f = function_with(seed, 1, noise, 1);
      GradcheckBlockReport report = judged(&f, f.gradient, 3, seed);
      for (int n = 0; n < 3; n++) {
        const GradcheckDirection* d = &report.direction[n];
        if (!(d->error <= d->resolution))
          fail_msg("seed %llu, noise %g: error %g, resolution %g", (unsigned long long)seed, noise, d->error,
                   d->resolution);
      }
    }
}

/* Scaling by powers of two changes no bit of relative results. The function is tested in picounits and terameters. */
static void judgement_has_no_scale(void** state) {
  (void)state;
  Function plain = function_with(7, 1, 1e-13, 1);
  GradcheckBlockReport wanted = judged(&plain, plain.gradient, 3, 7);
  static const double sizes[] = {0x1p-40, 0x1p+40}, units[] = {0x1p-30, 0x1p+30};
  for (int s = 0; s < 2; s++)
    for (int u = 0; u < 2; u++) {
      Function f = function_with(7, sizes[s], 1e-13, units[u]);
      GradcheckBlockReport report = judged(&f, f.gradient, 3, 7);
      assert_int_equal(report.verdict, wanted.verdict);
      compare_bytes(&report.error, &wanted.error, sizeof(double), "error");
      compare_bytes(&report.resolution, &wanted.resolution, sizeof(double), "resolution");
    }
}

/* Of a function that does not change but for its rounding nothing can be said, whatever rounding the gradient has. */
static void judgement_of_zero_gradients(void** state) {
  (void)state;
  static const double tiny[] = {0, 1e-19, -1e-17};
  for (int k = 0; k < 3; k++) {
    Function f = function_with(3, 1, 1e-16, 1);
    memset(f.amplitude, 0, sizeof f.amplitude);
    memset(f.base, 0, sizeof f.base);
    for (int i = 0; i < NUMBERS; i++) f.gradient[i] = tiny[k];
    for (int i = 0; i < NUMBERS; i++) f.unit[i] = 1e20; /* the products vanish too */
    GradcheckOptions options = {.directions = 3, .bound = 1e-6};
    GradcheckFloor floor = {.value = 1e-15};
    GradcheckBlockReport report;
    double ones[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) ones[i] = 1;
    gradcheck_vector(NUMBERS, f.gradient, ones, f.base, floor, value_of, &f, &options, 1, &report);
    assert_int_equal(report.verdict, GRADCHECK_UNCHECKED);
    assert_true(report.resolution >= 1);
  }
}

/* A gradient that is zero where the function's is not; one that is not finite. */
static void judgement_of_missing_gradients(void** state) {
  (void)state;
  Function f = function_with(3, 1, 1e-15, 1);
  double none[NUMBERS] = {0};
  GradcheckBlockReport report = judged(&f, none, 2, 1);
  assert_int_equal(report.verdict, GRADCHECK_WRONG);
  compare_near(report.error, 1, 1e-12, "relative to the differences");
  none[3] = NAN;
  assert_int_equal(judged(&f, none, 2, 1).verdict, GRADCHECK_WRONG);
  none[3] = INFINITY;
  assert_int_equal(judged(&f, none, 2, 1).verdict, GRADCHECK_WRONG);
}

static void judgement_without_values(void** state) {
  (void)state;
  Function f = function_with(3, 1, 0, 1);
  f.fails = true;
  GradcheckBlockReport report = judged(&f, f.gradient, 2, 1);
  assert_int_equal(report.verdict, GRADCHECK_UNCHECKED);
  assert_true(isnan(report.error) && isinf(report.resolution));
}

/* Differences across a jump agree with each other but do not show the slope on this side. Sweep steps shrink by less
 * than the distance to the jump, so that one step crosses the jump. The smaller steps still find a wrong gradient. */
static void judgement_J6_behind_a_jump(void** state) {
  (void)state;
  int wrong = 0;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    Function f = function_with(seed, 1, 1e-9, 1);
    f.fence = exp2(-(double)(8 + seed % 8));
    assert_int_not_equal(judged(&f, f.gradient, 2, seed).verdict, GRADCHECK_WRONG);
    for (int k = 0; k < NUMBERS; k++) f.gradient[k] *= 2;
    wrong += judged(&f, f.gradient, 2, seed).verdict == GRADCHECK_WRONG;
  }
  assert_int_equal(wrong, 40);
}

/* The jump is so near that larger steps already agree. Before the verdict "wrong", the sweep continues down to the
 * smallest step. If the value at the base does not fit the far branch, there is a jump. */
static void judgement_J6_behind_a_near_jump(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    Function f = function_with(seed, 1, 0, 1);
    f.fence = exp2(-(double)(20 + seed % 6));
    f.far_slope = 0.3;
    GradcheckBlockReport report = judged(&f, f.gradient, 2, seed);
    assert_int_not_equal(report.verdict, GRADCHECK_WRONG);
    assert_true(report.verdict == GRADCHECK_RIGHT || report.jump);
  }
}

/* Rounding errors of a gradient block beside much larger blocks are not errors. */
static void judgement_J5_rounding_of_the_gradient(void** state) {
  (void)state;
  Function f = function_with(3, 1e-9, 0, 1);
  GradcheckOptions options = {.directions = 2, .bound = 1e-6};
  GradcheckBlockReport report;
  for (int k = 0; k < NUMBERS; k++) f.gradient[k] *= 1 + 1e-5;
  GradcheckFloor floor = {.value = 1e-24, .gradient = 0};
  gradcheck_vector(NUMBERS, f.gradient, f.unit, f.base, floor, value_of, &f, &options, 1, &report);
  assert_int_equal(report.verdict, GRADCHECK_WRONG);
  floor.gradient = 1e-12; /* of a block of size one */
  gradcheck_vector(NUMBERS, f.gradient, f.unit, f.base, floor, value_of, &f, &options, 1, &report);
  assert_int_equal(report.verdict, GRADCHECK_UNCHECKED);
}

/* A kink at the base: gradients between the slopes of both sides cannot be judged, others are wrong. */
static void judgement_J8_of_a_kink(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    Function f = function_with(700 + seed, 1, seed % 2 ? 0 : 1e-12, 1);
    double gradient[NUMBERS];
    f.bend = 3;
    for (int k = 0; k < NUMBERS; k++) gradient[k] = f.gradient[k] + (k % 2 ? 1.4 : -1.4) / f.unit[k];
    GradcheckBlockReport report = judged(&f, gradient, 2, seed);
    if (report.verdict != GRADCHECK_UNCHECKED || !report.kink) fail_msg("seed %d: inside the kink", (int)seed);
    for (int k = 0; k < NUMBERS; k++) gradient[k] = 3 * f.gradient[k] + 40 / f.unit[k];
    report = judged(&f, gradient, 2, seed);
    if (report.verdict != GRADCHECK_WRONG || report.kink) fail_msg("seed %d: outside of it", (int)seed);
    f.bend = 0;
    for (int k = 0; k < NUMBERS; k++) gradient[k] = f.gradient[k] + (k % 2 ? 1.4 : -1.4) / f.unit[k];
    f.kinked = true; /* of the second derivative only */
    report = judged(&f, gradient, 2, seed);
    if (report.verdict != GRADCHECK_WRONG || report.kink) fail_msg("seed %d: there is none", (int)seed);
  }
}

/* The value jumps on one side of the base or at the base only. No gradient is called wrong if a jump of this size can
 * explain the difference. A jump at the base only is invisible to differences and must be reported. If the jump is too
 * small or absent, the verdict is "wrong". */
static void judgement_J9_of_a_jump(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    double size = 4 * exp2(-(double)(seed % 4)), none[NUMBERS] = {0};
    Function f = function_with(900 + seed, 1, seed % 2 ? 0 : 1e-12, 1);
    bool alone = seed % 3 == 0;
    f.jump = alone ? 0 : size;
    f.own = seed % 3 == 1 ? size / 2 : size; /* in the middle, level with one side, above both */
    GradcheckBlockReport report = judged(&f, f.gradient, 2, seed);
    if (report.verdict == GRADCHECK_WRONG) fail_msg("seed %d: a right gradient", (int)seed);
    if (report.jump == alone) fail_msg("seed %d: a jump that hides the slope", (int)seed);
    report = judged(&f, none, 2, seed);
    if (report.verdict != GRADCHECK_UNCHECKED || (alone && !report.jump)) fail_msg("seed %d: no jump", (int)seed);
    f.jump *= 1e-8;
    f.own *= 1e-8;
    report = judged(&f, none, 2, seed);
    if (report.verdict != GRADCHECK_WRONG || report.jump) fail_msg("seed %d: too small", (int)seed);
    f.jump = f.own = 0;
    report = judged(&f, none, 2, seed);
    if (report.verdict != GRADCHECK_WRONG || report.jump) fail_msg("seed %d: there is none", (int)seed);
  }
}

/* A jump lies beside the base, at a distance of 1e-6 to 1e-2. A right gradient is right and not reported as at a jump.
 * A gradient wrong by a factor of 1 + 1e-5 is wrong, however large the jump. If noise hides the slope below the jump,
 * the gradient is unchecked and the nearby jump is reported. The value at the base also has noise, so few of 200
 * functions are reported to jump there. */
static void judgement_J12_of_a_jump_beside(void** state) {
  (void)state;
  int named = 0, mistaken = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    Function f = function_with(5000 + seed, 1, 0, 1);
    f.jump = seed % 2 ? 3 : -0.5;
    f.aside = 1e-6 * pow(10, 4 * (double)(seed % 7) / 6);
    GradcheckBlockReport report = judged(&f, f.gradient, 2, seed);
    if (report.verdict == GRADCHECK_WRONG || report.jump) fail_msg("seed %d: a right gradient", (int)seed);
    if (f.aside > 1e-5 && report.verdict != GRADCHECK_RIGHT) fail_msg("seed %d: not resolved", (int)seed);
    double off[NUMBERS];
    for (int k = 0; k < NUMBERS; k++) off[k] = f.gradient[k] * (1 + 1e-5);
    report = judged(&f, off, 2, seed);
    if (f.aside > 1e-5 && report.verdict != GRADCHECK_WRONG) fail_msg("seed %d: wrong by a factor", (int)seed);
    memset(off, 0, sizeof off);
    report = judged(&f, off, 2, seed);
    if (report.verdict != GRADCHECK_WRONG) fail_msg("seed %d: no gradient", (int)seed);
    f.noise = 1e-9;
    report = judged(&f, f.gradient, 2, seed);
    if (report.verdict == GRADCHECK_WRONG) fail_msg("seed %d: in noise", (int)seed);
    mistaken += report.jump;
    if (report.verdict == GRADCHECK_UNCHECKED && report.jump_step > 0) named++;
  }
  if (named < 50 || mistaken > 4) fail_msg("named %d times, mistaken %d times", named, mistaken);
}

/* The function is the smallest of six maxima of four terms. A branch that is reached beside the base may have a slope
 * outside the two one-sided slopes at the base, even if the function has no kink at the base. */
static void judgement_J10_of_a_least_of_largest(void** state) {
  (void)state;
  int outside = 0, wrong = 0;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    Function f = function_with(2000 + seed, 1, seed % 2 ? 0 : 1e-14, 1);
    double gradient[NUMBERS], over[NUMBERS];
    const double* met = NULL;
    f.pieces = true;
    for (int n = 0; n < LEAST * MOST * NUMBERS; n++) (&f.piece[0][0][0])[n] = random_normal(&f.random);
    for (int k = 0; k < NUMBERS; k++) over[k] = random_normal(&f.random);
    least_of_largest(&f, over, &met);
    for (int k = 0; k < NUMBERS; k++) gradient[k] = f.gradient[k] + met[k] / f.unit[k];
    GradcheckBlockReport report = judged(&f, gradient, 2, seed);
    wrong += report.verdict != GRADCHECK_UNCHECKED || !report.kink;
    for (int n = 0; n < 2; n++) {
      const GradcheckDirection* d = &report.direction[n];
      outside +=
          fabs(d->analytic - d->difference[8]) > 1.01 * fabs(d->sum[7] - d->sum[8]) / (2 * (d->step[7] - d->step[8]));
    }
    for (int k = 0; k < NUMBERS; k++) gradient[k] = 3 * f.gradient[k] + 40 / f.unit[k];
    report = judged(&f, gradient, 2, seed);
    if (report.verdict != GRADCHECK_WRONG || report.kink) fail_msg("seed %d: none of them", (int)seed);
  }
  assert_in_range(wrong, 0, 3);       /* whose piece is too far from all that were met: 1 */
  assert_in_range(outside, 100, 600); /* not between the slopes of both sides */
}

static void judgement_stops_when_interrupted(void** state) {
  (void)state;
  Function f = function_with(3, 1, 0, 1);
  GradcheckOptions options = {.directions = 2, .bound = 1e-6, .interrupted = interrupted_always};
  GradcheckFloor floor = {0};
  GradcheckBlockReport report;
  gradcheck_vector(NUMBERS, f.gradient, f.unit, f.base, floor, value_of, &f, &options, 1, &report);
  assert_int_equal(report.directions, 0);
  assert_true(f.calls <= 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(judgement_J1_J2_J3_J4_right_gradients_are_never_wrong),
      cmocka_unit_test(judgement_J14_means_tell_more),
      cmocka_unit_test(judgement_J14_foretells_how_many),
      cmocka_unit_test(judgement_J14_fits_by_default),
      cmocka_unit_test(judgement_J16_a_narrow_range),
      cmocka_unit_test(judgement_J17_rounding_of_the_gradient),
      cmocka_unit_test(judgement_J18_errors_of_the_solver),
      cmocka_unit_test(judgement_J4_of_what_is_rough_at_every_size),
      cmocka_unit_test(judgement_J7_of_two_plateaus),
      cmocka_unit_test(judgement_J11_of_what_is_rough_down_to_the_smallest_step),
      cmocka_unit_test(judgement_J13_of_what_is_finer_than_the_smallest_step),
      cmocka_unit_test(judgement_J9_not_of_what_does_not_matter),
      cmocka_unit_test(judgement_J5_wrong_by_a_factor),
      cmocka_unit_test(judgement_J5_wrong_above_the_resolution),
      cmocka_unit_test(judgement_finds_one_wrong_entry),
      cmocka_unit_test(judgement_J4_resolution_holds),
      cmocka_unit_test(judgement_has_no_scale),
      cmocka_unit_test(judgement_of_zero_gradients),
      cmocka_unit_test(judgement_of_missing_gradients),
      cmocka_unit_test(judgement_without_values),
      cmocka_unit_test(judgement_J6_behind_a_jump),
      cmocka_unit_test(judgement_J6_behind_a_near_jump),
      cmocka_unit_test(judgement_J5_rounding_of_the_gradient),
      cmocka_unit_test(judgement_J8_of_a_kink),
      cmocka_unit_test(judgement_J9_of_a_jump),
      cmocka_unit_test(judgement_J12_of_a_jump_beside),
      cmocka_unit_test(judgement_J10_of_a_least_of_largest),
      cmocka_unit_test(judgement_stops_when_interrupted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
