#include "check.h"

/* Each kind through the table: created, evaluated, counted, destroyed; the source is left as it was. */
static void every_kind_goes_through_the_table(void** state) {
  (void)state;
  double times[] = {0, 1, 2, 3}, values[] = {1, 2, 4, 8}, amplitude[] = {0.5}, frequency[] = {1}, phase[] = {0.2};
  const SignalType types[] = {SIGNAL_CONSTANT, SIGNAL_KEYFRAMES, SIGNAL_SPLINE, SIGNAL_SINES, SIGNAL_SEQUENCE};
  const int counts[] = {1, 4, 4, 4, 4};
  for (int i = 0; i < 5; i++) {
    bool single = types[i] == SIGNAL_CONSTANT || types[i] == SIGNAL_SINES;
    SceneSignal source = {.type = types[i],
                          .channels = 1,
                          .times = times,
                          .values = values,
                          .rows = single ? 1 : 4,
                          .terms = types[i] == SIGNAL_SINES ? 1 : 0,
                          .amplitude = amplitude,
                          .frequency = frequency,
                          .phase = phase,
                          .interval = 1};
    Signal signal;
    signal_create(&signal, &source);
    assert_ptr_equal(signal.source, &source);
    assert_int_equal(signal_parameter_count(&signal), counts[i]);
    assert_true(isfinite(value_at(&signal, 0.3, 0)) && isfinite(rate_at(&signal, 0.3, 0)));
    signal_destroy(&signal);
    assert_null(signal.source);
    assert_null(signal.curvature);
    assert_true(values[3] == 8 && times[3] == 3);
  }
}

static void destroy_accepts_a_zeroed_signal(void** state) {
  (void)state;
  Signal signal = {0};
  signal_destroy(&signal);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_goes_through_the_table),
      cmocka_unit_test(destroy_accepts_a_zeroed_signal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
