/* Helpers of the signal tests: comparison that prints both values, and derivatives by central differences. */
#ifndef SDRS_TEST_CONTROL_CHECK_H
#define SDRS_TEST_CONTROL_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "control/control.h"

enum { CHANNELS_MAX = 4 };

static inline void check_near(double found, double wanted, double tolerance, const char* what) {
  if (fabs(found - wanted) <= tolerance) return;
  fail_msg("%s: found %.17g, wanted %.17g (difference %.3g, allowed %.3g)", what, found, wanted, found - wanted,
           tolerance);
}

static inline double value_at(const Signal* signal, double t, int channel) {
  double value[CHANNELS_MAX], rate[CHANNELS_MAX];
  signal_eval(signal, t, value, rate);
  return value[channel];
}

static inline double rate_at(const Signal* signal, double t, int channel) {
  double value[CHANNELS_MAX], rate[CHANNELS_MAX];
  signal_eval(signal, t, value, rate);
  return rate[channel];
}

/* Returns the smallest error of a central difference over the steps 1e-1 ... 1e-9. For a smooth function the error at h
 * = 1e-2 must be 100 times that at 1e-3, unless both are rounding errors. */
typedef double (*Function)(void* context, double x);
static inline void check_derivative(Function f, void* context, double x, double derivative, double scale,
                                    const char* what) {
  double error[10], best = INFINITY;
  for (int k = 1; k < 10; k++) {
    double h = pow(10, -k);
    error[k] = fabs((f(context, x + h) - f(context, x - h)) / (2 * h) - derivative);
    best = fmin(best, error[k]);
  }
  if (!(best <= 1e-9 * scale))
    fail_msg("%s: derivative %.17g is off by %.3g at every step (1e-1: %.3g, 1e-3: %.3g, 1e-5: %.3g)", what, derivative,
             best, error[1], error[3], error[5]);
  if (error[2] > 1e-8 * scale && !(error[3] < error[2] / 50))
    fail_msg("%s: error of the central difference does not fall with h^2: %.3g at 1e-2, %.3g at 1e-3", what, error[2],
             error[3]);
}

static inline double value_of_time(void* context, double t) { return value_at(context, t, 0); }

/* Parameters of a signal as one vector, in the documented order. */
static inline double* parameter(const SceneSignal* source, int index) {
  int values = source->type == SIGNAL_SINES ? source->channels : source->rows * source->channels;
  int terms = source->channels * source->terms;
  if (index < values) return &source->values[index];
  index -= values;
  return index < terms       ? &source->amplitude[index]
         : index < 2 * terms ? &source->frequency[index - terms]
                             : &source->phase[index - 2 * terms];
}

/* sum_c a_c value_c + b_c rate_c as a function of one parameter; the signal is prepared anew. */
typedef struct {
  const SceneSignal* source;
  int index;
  double t;
  const double *a, *b;
} Weighted;

static inline double weighted_sum(void* context, double x) {
  const Weighted* w = context;
  double* p = parameter(w->source, w->index);
  double kept = *p, value[CHANNELS_MAX], rate[CHANNELS_MAX], sum = 0;
  *p = x;
  Signal signal;
  signal_create(&signal, w->source);
  signal_eval(&signal, w->t, value, rate);
  signal_destroy(&signal);
  *p = kept;
  for (int c = 0; c < w->source->channels; c++) sum += w->a[c] * value[c] + w->b[c] * rate[c];
  return sum;
}

/* Compares each entry of the parameter derivative at time t with central differences. The derivative is added to the
 * array's previous content. */
static inline void check_vjp(const SceneSignal* source, double t, double scale) {
  const double a[CHANNELS_MAX] = {0.7, -1.3, 0.4, 2.1}, b[CHANNELS_MAX] = {-0.2, 0.5, 1.1, -0.9};
  Signal signal;
  signal_create(&signal, source);
  int count = signal_parameter_count(&signal);
  double* gradient = MEMORY_NEW(double, count);
  for (int i = 0; i < count; i++) gradient[i] = 3.0;
  signal_eval_vjp(&signal, t, a, b, gradient);
  for (int i = 0; i < count; i++) {
    char what[80];
    snprintf(what, sizeof what, "parameter %d at t = %g", i, t);
    Weighted w = {source, i, t, a, b};
    check_derivative(weighted_sum, &w, *parameter(source, i), gradient[i] - 3.0, scale, what);
  }
  memory_free(gradient);
  signal_destroy(&signal);
}

#endif
