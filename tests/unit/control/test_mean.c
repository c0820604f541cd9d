#include "check.h"

/* Tests signal_mean (docs/derivations/loads.md, L98): closed forms of means, derivatives with respect to the parameters
 * of a signal, and derivatives with respect to the ends of the span. */

static double TIMES[] = {0.1, 0.4, 0.55, 0.9, 1.3};
static double VALUES[] = {1, -2, 3, 0.5, 4};
static double AMPLITUDE[] = {0.7, -0.3}, FREQUENCY[] = {1.5, 0.4}, PHASE[] = {0.2, 1}, OFFSET[] = {0.3};

static SceneSignal source_of(SignalType type) {
  if (type == SIGNAL_SINES)
    return (SceneSignal){.type = type,
                         .channels = 1,
                         .values = OFFSET,
                         .rows = 1,
                         .terms = 2,
                         .amplitude = AMPLITUDE,
                         .frequency = FREQUENCY,
                         .phase = PHASE,
                         .ramp = 0.6};
  return (SceneSignal){.type = type, .channels = 1, .times = TIMES, .values = VALUES, .rows = 5, .interval = 0.3};
}

static const SignalType TYPES[] = {SIGNAL_CONSTANT, SIGNAL_KEYFRAMES, SIGNAL_SPLINE,
                                   SIGNAL_SINES,    SIGNAL_SEQUENCE,  SIGNAL_ZERO_ORDER_HOLD};
enum { TYPE_COUNT = sizeof TYPES / sizeof *TYPES };
/* Spans within a piece, over corners, over the start at t = 0, and without length. */
static const SignalSpan SPANS[] = {{0.2, 0.23}, {0.05, 1.1}, {0.35, 0.62}, {-0.2, 0.3}, {1.2, 2}, {0.7, 0.7}};
enum { SPAN_COUNT = sizeof SPANS / sizeof *SPANS };

static double mean_of(const Signal* signal, SignalSpan span, double* rate) {
  double value;
  signal_mean(signal, span, &value, rate);
  return value;
}

/* The mean of many short means is the mean of the whole span, and a short mean is the value in its middle. */
static void signal_mean_L98_against_a_sum(void** state) {
  (void)state;
  for (int k = 0; k < TYPE_COUNT; k++) {
    SceneSignal source = source_of(TYPES[k]);
    Signal signal;
    signal_create(&signal, &source);
    for (int s = 0; s < SPAN_COUNT; s++) {
      enum { PARTS = 30000 };
      double sum = 0, rate, length = SPANS[s].to - SPANS[s].from;
      for (int i = 0; i < PARTS; i++) sum += value_at(&signal, SPANS[s].from + length * (i + 0.5) / PARTS, 0);
      bool sines = TYPES[k] == SIGNAL_SINES, jumps = TYPES[k] == SIGNAL_ZERO_ORDER_HOLD;
      double omega = 2 * acos(-1.0) * 1.5 * length; /* of the fast sine; its ramp adds as much */
      check_near(mean_of(&signal, SPANS[s], &rate), sum / PARTS,
                 sines   ? 1e-8 + 2 * pow(omega, 4) / 4320
                 : jumps ? 3e-4
                         : 1e-7,
                 "mean");
      if (length > 0 && !jumps && !sines)
        check_near(rate, (value_at(&signal, SPANS[s].to, 0) - value_at(&signal, SPANS[s].from, 0)) / length, 1e-12,
                   "mean of the rate");
    }
    signal_destroy(&signal);
  }
}

static void signal_mean_L98_of_a_constant_has_its_bits(void** state) {
  (void)state;
  double third[] = {1.0 / 3};
  SceneSignal source = {.type = SIGNAL_CONSTANT, .channels = 1, .values = third, .rows = 1};
  Signal signal;
  signal_create(&signal, &source);
  double rate;
  assert_true(mean_of(&signal, (SignalSpan){0.123, 0.4567}, &rate) == third[0] && rate == 0);
  signal_destroy(&signal);
}

typedef struct {
  SceneSignal* source;
  SignalSpan span, change;
  int index; /* of the parameter */
} Place;

static double scalar_of_parameter(void* context, double x) {
  const Place* p = context;
  double *at = signal_parameter(p->source, p->index), kept = *at, value, rate;
  *at = x;
  Signal signal;
  signal_create(&signal, p->source);
  value = mean_of(&signal, p->span, &rate);
  signal_destroy(&signal);
  *at = kept;
  return 0.7 * value - 0.2 * rate;
}

static void signal_mean_vjp_L98(void** state) {
  (void)state;
  const double a[] = {0.7}, b[] = {-0.2};
  for (int k = 0; k < TYPE_COUNT; k++)
    for (int s = 0; s < SPAN_COUNT; s++) {
      SceneSignal source = source_of(TYPES[k]);
      Signal signal;
      signal_create(&signal, &source);
      double gradient[20] = {0};
      signal_mean_vjp(&signal, SPANS[s], a, b, gradient);
      for (int i = 0; i < signal_parameter_count(&signal); i++) {
        Place place = {.source = &source, .span = SPANS[s], .index = i};
        check_derivative(scalar_of_parameter, &place, *signal_parameter(&source, i), gradient[i], 1, "parameter");
      }
      signal_destroy(&signal);
    }
}

static double scalar_of_ends(void* context, double x) {
  const Place* p = context;
  Signal signal;
  signal_create(&signal, p->source);
  double rate,
      value = mean_of(&signal, (SignalSpan){p->span.from + x * p->change.from, p->span.to + x * p->change.to}, &rate);
  signal_destroy(&signal);
  return p->index == 0 ? value : rate;
}

/* Both ends move in directions that cross no corner within the largest difference step. */
static void signal_mean_change_L98(void** state) {
  (void)state;
  const SignalType types[] = {SIGNAL_KEYFRAMES, SIGNAL_SPLINE};
  const SignalSpan spans[] = {{0.2, 0.3}, {0.25, 1.1}, {0.7, 0.7}}, changes[] = {{0.3, -0.1}, {0.4, 0.9}, {0.9, 0.9}};
  for (int k = 0; k < 2; k++)
    for (int s = 0; s < 3; s++) {
      SceneSignal source = source_of(types[k]);
      Signal signal;
      signal_create(&signal, &source);
      double value, rate;
      signal_mean_change(&signal, spans[s], changes[s], &value, &rate);
      Place place = {.source = &source, .span = spans[s], .change = changes[s], .index = 0};
      check_derivative(scalar_of_ends, &place, 0, value, 10, "value");
      place.index = 1;
      check_derivative(scalar_of_ends, &place, 0, rate, 100, "rate");
      signal_destroy(&signal);
    }
}

/* A jump is a segment shorter than 10 ms between much longer ones. Its time is its middle, whatever the values. */
static void signal_first_jump_L99(void** state) {
  (void)state;
  double times[] = {0.2, 0.201, 0.5, 0.52, 0.521, 0.523, 0.7, 0.704}, values[8] = {0};
  SceneSignal source = {.type = SIGNAL_KEYFRAMES, .channels = 1, .times = times, .values = values, .rows = 8};
  Signal signal;
  signal_create(&signal, &source);
  check_near(signal_first_jump(&signal, (SignalSpan){0, 1}, 0.01), 0.2005, 1e-12, "first");
  check_near(signal_first_jump(&signal, (SignalSpan){0.2006, 1}, 0.01), 0.702, 1e-12, "two short segments are none");
  check_near(signal_first_jump(&signal, (SignalSpan){0.2006, 1}, 0.0015), 0.5205, 1e-12, "jumps within 1.5 ms");
  assert_true(isinf(signal_first_jump(&signal, (SignalSpan){0.2006, 0.7}, 0.01)));
  assert_true(isinf(signal_first_jump(&signal, (SignalSpan){0, 1}, 0.0005)));
  assert_true(isinf(signal_first_jump(&signal, (SignalSpan){0.6, 1}, 0.1775))); /* 0.523 to 0.7 s is a sample */
  signal.begin = 0.1;
  check_near(signal_first_jump(&signal, (SignalSpan){0, 1}, 0.01), 0.1005, 1e-12, "in shifted time");
  signal_destroy(&signal);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signal_mean_L98_against_a_sum), cmocka_unit_test(signal_mean_L98_of_a_constant_has_its_bits),
      cmocka_unit_test(signal_mean_vjp_L98),           cmocka_unit_test(signal_mean_change_L98),
      cmocka_unit_test(signal_first_jump_L99),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
