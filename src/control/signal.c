/* The table of signal kinds. */
#include "control/kinds.h"

#include <assert.h>

typedef struct {
  void (*create)(Signal* signal); /* NULL: nothing to prepare */
  SignalEval eval;
  SignalVjp vjp;
} SignalKind;

static const SignalKind KINDS[] = {
    [SIGNAL_CONSTANT] = {NULL, piecewise_eval, piecewise_eval_vjp},
    [SIGNAL_KEYFRAMES] = {NULL, piecewise_eval, piecewise_eval_vjp},
    [SIGNAL_SPLINE] = {spline_create, spline_eval, spline_eval_vjp},
    [SIGNAL_SINES] = {NULL, sines_eval, sines_eval_vjp},
    [SIGNAL_SEQUENCE] = {NULL, piecewise_eval, piecewise_eval_vjp},
    [SIGNAL_HELD] = {NULL, held_eval, held_eval_vjp},
};

void signal_create(Signal* signal, const SceneSignal* source) {
  *signal = (Signal){.source = source};
  if (KINDS[source->type].create) KINDS[source->type].create(signal);
}

void signal_destroy(Signal* signal) {
  memory_free(signal->curvature);
  memory_free(signal->pivots);
  *signal = (Signal){0};
}

void signal_eval(const Signal* signal, double t, double* value, double* rate) {
  KINDS[signal->source->type].eval(signal, t, value, rate);
}

int signal_values(const SceneSignal* s) {
  return s->type == SIGNAL_SINES || s->type == SIGNAL_CONSTANT ? s->channels : s->rows * s->channels;
}

int signal_terms(const SceneSignal* s) { return s->type == SIGNAL_SINES ? s->channels * s->terms : 0; }

int signal_parameter_count(const Signal* signal) {
  return signal_values(signal->source) + 3 * signal_terms(signal->source);
}

double* signal_parameter(SceneSignal* s, int index) {
  int values = signal_values(s), terms = signal_terms(s);
  if (index < values) return &s->values[index];
  double* part[3] = {s->amplitude, s->frequency, s->phase};
  assert(index < values + 3 * terms);
  return &part[(index - values) / terms][(index - values) % terms];
}

void signal_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient) {
  KINDS[signal->source->type].vjp(signal, t, a, b, gradient);
}
