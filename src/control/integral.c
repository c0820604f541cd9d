/* Signals that are rates: their integral from 0 to t, in closed form.
 *   rows    trapezoids between rows, rectangles where the first or the last is held
 *   sines   offset t + sum A t sin(phi + x) sin(x) / x,   x = pi f t: the product formula keeps its digits for small f
 */
#include "control/kinds.h"

/* ---------------------------------------------------------------- rows */

void integral_create(Signal* signal) {
  const SceneSignal* s = signal->source;
  if (s->type == SIGNAL_SINES) return;
  size_t channels = (size_t)s->channels;
  signal->areas = MEMORY_NEW(double, (size_t)s->rows* channels);
  for (int row = 1; row < s->rows; row++) {
    double width = signal_row_time(s, row) - signal_row_time(s, row - 1);
    for (size_t c = 0; c < channels; c++) {
      size_t at = (size_t)row * channels + c;
      signal->areas[at] = signal->areas[at - channels] + 0.5 * width * (s->values[at] + s->values[at - channels]);
    }
  }
}

/* value += sign * (integral from the first row's time to t). */
static void add_area(const Signal* signal, double t, double sign, double* value) {
  const SceneSignal* s = signal->source;
  Span span = span_find(s, t);
  size_t first = (size_t)span.row * (size_t)s->channels;
  const double *from = s->values + first, *to = from + s->channels;
  double way = t - signal_row_time(s, span.row);
  for (int c = 0; c < s->channels; c++) {
    double change = span.width == 0 ? 0 : to[c] - from[c];
    value[c] += sign * (signal->areas[first + (size_t)c] + way * (from[c] + 0.5 * span.fraction * change));
  }
}

void rows_integral(const Signal* signal, double t, double* value) {
  for (int c = 0; c < signal->source->channels; c++) value[c] = 0;
  add_area(signal, t, 1, value);
  add_area(signal, 0, -1, value);
}

static void add_area_vjp(const Signal* signal, double t, double sign, const double* a, double* gradient) {
  const SceneSignal* s = signal->source;
  Span span = span_find(s, t);
  double way = t - signal_row_time(s, span.row), part = span.width == 0 ? 0 : 0.5 * span.fraction;
  for (int c = 0; c < s->channels; c++) {
    double weight = sign * a[c], *own = gradient + c;
    for (int row = 1; row <= span.row; row++) {
      double half = 0.5 * weight * (signal_row_time(s, row) - signal_row_time(s, row - 1));
      own[row * s->channels] += half;
      own[(row - 1) * s->channels] += half;
    }
    own[span.row * s->channels] += weight * way * (1 - part);
    if (span.width != 0) own[(span.row + 1) * s->channels] += weight * way * part;
  }
}

void rows_integral_vjp(const Signal* signal, double t, const double* a, double* gradient) {
  add_area_vjp(signal, t, 1, a, gradient);
  add_area_vjp(signal, 0, -1, a, gradient);
}

/* ---------------------------------------------------------------- sines */

/* sin(x) / x and its derivative; below this x the series, whose next terms are below rounding: x^8 / 362880, and
 * x^7 / 45360 of the derivative, 1e-18 and 1e-16 of it. */
#define SERIES_BELOW 0.02

static double sinc(double x, double* slope) {
  double x2 = x * x, sine, cosine;
  if (fabs(x) < SERIES_BELOW) {
    *slope = -x / 3 * (1 - x2 / 10 * (1 - x2 / 28));
    return 1 - x2 / 6 * (1 - x2 / 20 * (1 - x2 / 42));
  }
  math_sincos(x, &sine, &cosine);
  *slope = (cosine - sine / x) / x;
  return sine / x;
}

void sines_integral(const Signal* signal, double t, double* value) {
  const SceneSignal* s = signal->source;
  for (int c = 0; c < s->channels; c++) {
    value[c] = s->values[c] * t;
    for (int k = c * s->terms; k < (c + 1) * s->terms; k++) {
      double x = M_PI * s->frequency[k] * t, slope;
      value[c] += s->amplitude[k] * t * math_sin(s->phase[k] + x) * sinc(x, &slope);
    }
  }
}

void sines_integral_vjp(const Signal* signal, double t, const double* a, double* gradient) {
  const SceneSignal* s = signal->source;
  int terms = s->channels * s->terms;
  double *offset = gradient, *amplitude = offset + s->channels, *frequency = amplitude + terms,
         *phase = frequency + terms;
  for (int c = 0; c < s->channels; c++) {
    offset[c] += a[c] * t;
    for (int k = c * s->terms; k < (c + 1) * s->terms; k++) {
      double x = M_PI * s->frequency[k] * t, sine, cosine, slope, ratio = sinc(x, &slope);
      math_sincos(s->phase[k] + x, &sine, &cosine);
      double size = a[c] * s->amplitude[k] * t;
      amplitude[k] += a[c] * t * sine * ratio;
      frequency[k] += size * (cosine * ratio + sine * slope) * M_PI * t;
      phase[k] += size * cosine * ratio;
    }
  }
}
