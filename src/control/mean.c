/* Means of signals over an interval of time (docs/derivations/loads.md, L98). */
#include <assert.h>

#include "control/kinds.h"

/* Relative tolerance of times. A corner of the signal closer to the end of the interval adds a piece that has no
 * length. */
#define CORNER_TOLERANCE 1e-12

/* Returns the first time after t at which the signal or a derivative may jump [s]; INFINITY if there is none. */
static double next_corner(const Signal* signal, double t) {
  const SceneSignal* s = signal->source;
  double own = t + signal->begin;
  if (own < 0) return -signal->begin;
  if (s->type == SIGNAL_CONSTANT) return (double)INFINITY;
  if (s->type == SIGNAL_SINES) return own < s->ramp ? s->ramp - signal->begin : (double)INFINITY;
  if (s->type == SIGNAL_ZERO_ORDER_HOLD) return zero_order_hold_next_end(s, own) - signal->begin;
  int row = signal_next_row(s, own);
  return row < s->rows ? signal_row_time(s, row) - signal->begin : (double)INFINITY;
}

/* Returns the end of the piece of the span that begins at t: the next corner of the signal or the end of the span. */
static double piece_end(const Signal* signal, SignalSpan span, double t) {
  double corner = next_corner(signal, t);
  return corner < span.to - CORNER_TOLERANCE * fabs(span.to) ? corner : span.to;
}

/* Nodes of the Gauss quadrature with two points, exact for cubics: the middle of the piece plus and minus this fraction
 * of its length. */
#define GAUSS_OFFSET 0.28867513459481287

/* Returns node `k` (0 or 1) of the piece from `from` to `to` [s]. */
static double gauss_node(double from, double to, int k) {
  return 0.5 * (from + to) + (k == 0 ? -GAUSS_OFFSET : GAUSS_OFFSET) * (to - from);
}

void signal_mean(const Signal* signal, SignalSpan span, double* value, double* rate) {
  assert(span.from <= span.to);
  int channels = signal->source->channels;
  if (span.from == span.to) {
    signal_eval(signal, span.to, value, rate);
    return;
  }
  for (int c = 0; c < channels; c++) value[c] = rate[c] = 0;
  for (double from = span.from, to; from < span.to; from = to) {
    to = piece_end(signal, span, from);
    double weight = 0.5 * ((to - from) / (span.to - span.from));
    for (int k = 0; k < 2; k++) {
      double v[JOINT_MAX_DOF], r[JOINT_MAX_DOF];
      signal_eval(signal, gauss_node(from, to, k), v, r);
      for (int c = 0; c < channels; c++) {
        value[c] += weight * v[c];
        rate[c] += weight * r[c];
      }
    }
  }
}

void signal_mean_vjp(const Signal* signal, SignalSpan span, const double* a, const double* b, double* gradient) {
  assert(span.from <= span.to);
  int channels = signal->source->channels;
  if (span.from == span.to) {
    signal_eval_vjp(signal, span.to, a, b, gradient);
    return;
  }
  for (double from = span.from, to; from < span.to; from = to) {
    to = piece_end(signal, span, from);
    double weight = 0.5 * ((to - from) / (span.to - span.from)), by_value[JOINT_MAX_DOF], by_rate[JOINT_MAX_DOF];
    for (int c = 0; c < channels; c++) {
      by_value[c] = weight * a[c];
      by_rate[c] = weight * b[c];
    }
    for (int k = 0; k < 2; k++) signal_eval_vjp(signal, gauss_node(from, to, k), by_value, by_rate, gradient);
  }
}

/* Sets value and rate to the derivatives of the quadrature of a sum of sines, which is not exact. They agree with
 * differences of signal_mean. */
static void change_of_sines(const Signal* signal, SignalSpan span, SignalSpan change, double* value, double* rate) {
  int channels = signal->source->channels;
  for (int c = 0; c < channels; c++) value[c] = rate[c] = 0;
  for (int k = 0; k < 2; k++) {
    double unused[JOINT_MAX_DOF], slope[JOINT_MAX_DOF], acceleration[JOINT_MAX_DOF];
    double t = gauss_node(span.from, span.to, k), by = 0.5 * gauss_node(change.from, change.to, k);
    signal_eval(signal, t, unused, slope);
    signal_acceleration(signal, t, acceleration);
    for (int c = 0; c < channels; c++) {
      value[c] += slope[c] * by;
      rate[c] += acceleration[c] * by;
    }
  }
}

void signal_mean_change(const Signal* signal, SignalSpan span, SignalSpan change, double* value, double* rate) {
  double mean[2][JOINT_MAX_DOF], from[2][JOINT_MAX_DOF], to[2][JOINT_MAX_DOF], length = span.to - span.from;
  if (signal->source->type == SIGNAL_SINES && span.from + signal->begin >= 0 && length > 0) {
    change_of_sines(signal, span, change, value, rate);
    return;
  }
  signal_eval(signal, span.to, to[0], to[1]);
  if (length == 0) {
    assert(change.from == change.to);
    signal_acceleration(signal, span.to, mean[0]);
    for (int c = 0; c < signal->source->channels; c++) {
      value[c] = to[1][c] * change.to;
      rate[c] = mean[0][c] * change.to;
    }
    return;
  }
  signal_eval(signal, span.from, from[0], from[1]);
  signal_mean(signal, span, mean[0], mean[1]);
  for (int c = 0; c < signal->source->channels; c++) {
    value[c] = ((to[0][c] - mean[0][c]) * change.to + (mean[0][c] - from[0][c]) * change.from) / length;
    rate[c] = ((to[1][c] - mean[1][c]) * change.to + (mean[1][c] - from[1][c]) * change.from) / length;
  }
}
