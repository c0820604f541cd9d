/* The table of signal kinds. */
#include "control/kinds.h"

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

int signal_parameter_count(const Signal* signal) {
  const SceneSignal* source = signal->source;
  if (source->type == SIGNAL_CONSTANT) return source->channels;
  if (source->type == SIGNAL_SINES) return source->channels * (1 + 3 * source->terms);
  return source->rows * source->channels;
}

void signal_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient) {
  KINDS[signal->source->type].vjp(signal, t, a, b, gradient);
}
