/* Evaluates signals by a table of the signal types. */
#include "control/kinds.h"

#include <assert.h>

typedef struct {
  void (*create)(Signal* signal); /* NULL if the type needs no preparation */
  SignalEval eval;
  SignalVjp vjp;
  void (*integral)(const Signal* signal, double t,
                   double* value); /* NULL if signals of this type cannot be integrated */
  void (*integral_vjp)(const Signal* signal, double t, const double* a, double* gradient);
} SignalKind;

static const SignalKind KINDS[] = {
    [SIGNAL_CONSTANT] = {NULL, piecewise_eval, piecewise_eval_vjp, piecewise_integral, piecewise_integral_vjp},
    [SIGNAL_KEYFRAMES] = {NULL, piecewise_eval, piecewise_eval_vjp, piecewise_integral, piecewise_integral_vjp},
    [SIGNAL_SPLINE] = {spline_create, spline_eval, spline_eval_vjp, NULL, NULL},
    [SIGNAL_SINES] = {NULL, sines_eval, sines_eval_vjp, sines_integral, sines_integral_vjp},
    [SIGNAL_SEQUENCE] = {NULL, piecewise_eval, piecewise_eval_vjp, piecewise_integral, piecewise_integral_vjp},
    [SIGNAL_ZERO_ORDER_HOLD] = {NULL, zero_order_hold_eval, zero_order_hold_eval_vjp, NULL, NULL},
};

void signal_create(Signal* signal, const SceneSignal* source) {
  assert(source && source->channels >= 0);
  *signal = (Signal){.source = source};
  if (KINDS[source->type].create) KINDS[source->type].create(signal);
  if (source->integrated) integral_create(signal);
}

void signal_destroy(Signal* signal) {
  memory_free(signal->curvature);
  memory_free(signal->pivots);
  memory_free(signal->integrals);
  *signal = (Signal){0};
}

/* Returns true if t is before the start of the signal. Delays can request such times; signal_eval then uses the value
 * at the start. */
static bool before_start(const Signal* signal, double t) { return t + signal->begin < 0; }

void signal_eval(const Signal* signal, double t, double* value, double* rate) {
  assert(signal->source && value && rate);
  const SignalKind* kind = &KINDS[signal->source->type];
  if (before_start(signal, t)) {
    signal_eval(signal, -signal->begin, value, rate);
    for (int c = 0; c < signal->source->channels; c++) rate[c] = 0;
    return;
  }
  t += signal->begin;
  if (!signal->source->integrated) {
    kind->eval(signal, t, value, rate);
    return;
  }
  kind->eval(signal, t, rate, value); /* `value` receives a rate that the next line overwrites */
  kind->integral(signal, t, value);
}

void signal_acceleration(const Signal* signal, double t, double* acceleration) {
  assert(signal->source && acceleration);
  const SceneSignal* source = signal->source;
  double value[JOINT_MAX_DOF];
  for (int c = 0; c < source->channels; c++) acceleration[c] = 0;
  if (before_start(signal, t)) return;
  t += signal->begin;
  if (source->integrated)
    KINDS[source->type].eval(signal, t, value, acceleration);
  else if (source->type == SIGNAL_SPLINE)
    spline_acceleration(signal, t, acceleration);
  else if (source->type == SIGNAL_SINES)
    sines_acceleration(signal, t, acceleration);
}

int signal_value_count(const SceneSignal* s) {
  assert(s);
  return s->type == SIGNAL_SINES || s->type == SIGNAL_CONSTANT ? s->channels : s->rows * s->channels;
}

int signal_sine_count(const SceneSignal* s) {
  assert(s);
  return s->type == SIGNAL_SINES ? s->channels * s->terms : 0;
}

int signal_parameter_count(const Signal* signal) {
  assert(signal->source);
  return signal_value_count(signal->source) + 3 * signal_sine_count(signal->source);
}

double* signal_parameter(SceneSignal* s, int index) {
  assert(index >= 0);
  int values = signal_value_count(s), terms = signal_sine_count(s);
  if (index < values) return &s->values[index];
  double* part[3] = {s->amplitude, s->frequency, s->phase};
  assert(index < values + 3 * terms);
  return &part[(index - values) / terms][(index - values) % terms];
}

void signal_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient) {
  static const double zero[JOINT_MAX_DOF] = {0};
  const SignalKind* kind = &KINDS[signal->source->type];
  if (before_start(signal, t)) {
    signal_eval_vjp(signal, -signal->begin, a, zero, gradient);
    return;
  }
  t += signal->begin;
  if (!signal->source->integrated) {
    kind->vjp(signal, t, a, b, gradient);
    return;
  }
  kind->vjp(signal, t, b, zero, gradient);
  kind->integral_vjp(signal, t, a, gradient);
}
