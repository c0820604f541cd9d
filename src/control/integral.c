/* Computes integrals of signals from 0 to t in closed form. Signals that prescribe rates need them.
 *   rows    trapezoids between rows, rectangles before the first and after the last row
 *   sines   offset t + sum A t sin(phi + x) sin(x) / x,   x = pi f t
 * The formula for sines has no cancellation for small frequencies f. While the amplitudes rise by a polynomial ramp,
 * the sines are integrated by parts. */
#include <assert.h>

#include "control/kinds.h"

void integral_create(Signal* signal) {
  const SceneSignal* s = signal->source;
  if (s->type == SIGNAL_SINES) return;
  size_t channels = (size_t)s->channels;
  signal->integrals = MEMORY_NEW(double, (size_t)s->rows* channels);
  for (int row = 1; row < s->rows; row++) {
    double width = signal_row_time(s, row) - signal_row_time(s, row - 1);
    for (size_t c = 0; c < channels; c++) {
      size_t at = (size_t)row * channels + c;
      signal->integrals[at] =
          signal->integrals[at - channels] + 0.5 * width * (s->values[at] + s->values[at - channels]);
    }
  }
}

/* Adds sign times an integral of a piecewise linear signal to value[channels]. The integral is from the first row to
 * time t. */
static void add_area(const Signal* signal, double t, double sign, double* value) {
  const SceneSignal* s = signal->source;
  SignalSegment span = signal_find_segment(s, t);
  size_t first = (size_t)span.row * (size_t)s->channels;
  const double *from = s->values + first, *to = from + s->channels;
  double elapsed = t - signal_row_time(s, span.row);
  for (int c = 0; c < s->channels; c++) {
    double change = span.width == 0 ? 0 : to[c] - from[c];
    value[c] += sign * (signal->integrals[first + (size_t)c] + elapsed * (from[c] + 0.5 * span.fraction * change));
  }
}

void piecewise_integral(const Signal* signal, double t, double* value) {
  for (int c = 0; c < signal->source->channels; c++) value[c] = 0;
  add_area(signal, t, 1, value);
  add_area(signal, 0, -1, value);
}

static void add_area_vjp(const Signal* signal, double t, double sign, const double* a, double* gradient) {
  const SceneSignal* s = signal->source;
  SignalSegment span = signal_find_segment(s, t);
  double elapsed = t - signal_row_time(s, span.row), part = span.width == 0 ? 0 : 0.5 * span.fraction;
  for (int c = 0; c < s->channels; c++) {
    double weight = sign * a[c], *by_channel = gradient + c;
    for (int row = 1; row <= span.row; row++) {
      double half = 0.5 * weight * (signal_row_time(s, row) - signal_row_time(s, row - 1));
      by_channel[row * s->channels] += half;
      by_channel[(row - 1) * s->channels] += half;
    }
    by_channel[span.row * s->channels] += weight * elapsed * (1 - part);
    if (span.width != 0) by_channel[(span.row + 1) * s->channels] += weight * elapsed * part;
  }
}

void piecewise_integral_vjp(const Signal* signal, double t, const double* a, double* gradient) {
  add_area_vjp(signal, t, 1, a, gradient);
  add_area_vjp(signal, 0, -1, a, gradient);
}

/* Below this |x|, sin(x) / x and its derivative are computed by their series. The relative truncation errors are below
 * rounding: 1e-18 of the value and 1e-16 of the derivative. */
#define SERIES_THRESHOLD 0.02

static double sinc(double x, double* slope) {
  double x2 = x * x, sine, cosine;
  if (fabs(x) < SERIES_THRESHOLD) {
    *slope = -x / 3 * (1 - x2 / 10 * (1 - x2 / 28));
    return 1 - x2 / 6 * (1 - x2 / 20 * (1 - x2 / 42));
  }
  math_sincos(x, &sine, &cosine);
  *slope = (cosine - sine / x) / x;
  return sine / x;
}

/* Integral of a sine over time, and the derivatives of this integral with respect to phase and frequency f. The
 * integrand is size * sin(2 pi f s + phase), with the amplitude `size`, and s runs from 0 to t. */
typedef struct {
  /* units s (value), s/rad (by_phase) and s/Hz (by_frequency), times the unit of the amplitude */
  double value, by_phase, by_frequency;
} WaveIntegral;

static WaveIntegral constant_amplitude_wave(double size, double frequency, double phase, double t) {
  double x = M_PI * frequency * t, sine, cosine, slope, ratio = sinc(x, &slope);
  math_sincos(phase + x, &sine, &cosine);
  size *= t;
  return (WaveIntegral){size * sine * ratio, size * cosine * ratio, size * (cosine * ratio + sine * slope) * M_PI * t};
}

enum { SWELL_DEGREE = 6 };

/* Computes two alternating sums of derivatives of the polynomial p(x) = sum_k p_k x^k. With d_k = p^(k)(x) / turn^k,
 * *even is d_0 - d_2 + d_4 - d_6 and *odd is d_1 - d_3 + d_5. */
static void alternating_derivatives(const double* p, double x, double turn, double* even, double* odd) {
  double derivative[SWELL_DEGREE + 1], sum[2] = {0, 0}, scale = 1;
  for (int k = 0; k <= SWELL_DEGREE; k++) derivative[k] = p[k];
  for (int k = 0; k <= SWELL_DEGREE; k++) {
    double value = 0;
    for (int j = SWELL_DEGREE - k; j >= 0; j--) value = value * x + derivative[j];
    sum[k % 2] += (k / 2 % 2 ? -scale : scale) * value;
    for (int j = 0; j < SWELL_DEGREE - k; j++) derivative[j] = (j + 1) * derivative[j + 1];
    scale /= turn;
  }
  *even = sum[0];
  *odd = sum[1];
}

/* Integrals of a sine and of a cosine with polynomial amplitude p. The integrands are p(tau / ramp) sin(omega tau +
 * phase) and p(tau / ramp) cos(omega tau + phase), for tau from 0 to t. */
typedef struct {
  double sine, cosine; /* the two integrals [s] */
} WavePair;

/* Computes both integrals by parts: sine = [O sin - E cos]_0^t / omega, cosine = [O cos + E sin]_0^t / omega. E and O
 * are *even and *odd of alternating_derivatives. */
static WavePair integrate_by_parts(const double* p, double ramp, double omega, double phase, double t) {
  WavePair sum = {0, 0};
  for (int end = 0; end < 2; end++) {
    double at = end == 1 ? t : 0, sign = (end == 1 ? 1 : -1) / omega, sine, cosine, even, odd;
    alternating_derivatives(p, at / ramp, omega * ramp, &even, &odd);
    math_sincos(omega * at + phase, &sine, &cosine);
    sum.sine += sign * (odd * sine - even * cosine);
    sum.cosine += sign * (odd * cosine + even * sine);
  }
  return sum;
}

/* Computes the two integrals of WavePair by Gauss quadrature with twelve points. */
static WavePair integrate_by_quadrature(const double* p, double ramp, double omega, double phase, double t) {
  static const double NODE[6] = {0.125233408511468916, 0.367831498998180194, 0.587317954286617447,
                                 0.769902674194304687, 0.904117256370474857, 0.981560634246719251};
  static const double WEIGHT[6] = {0.249147045813402785, 0.233492536538354809, 0.203167426723065922,
                                   0.160078328543346226, 0.106939325995318431, 0.0471753363865118272};
  WavePair sum = {0, 0};
  for (int k = 0; k < 12; k++) {
    double at = 0.5 * t * (1 + (k % 2 ? NODE[k / 2] : -NODE[k / 2])), value = 0, sine, cosine;
    for (int j = SWELL_DEGREE; j >= 0; j--) value = value * (at / ramp) + p[j];
    math_sincos(omega * at + phase, &sine, &cosine);
    sum.sine += 0.5 * t * WEIGHT[k / 2] * value * sine;
    sum.cosine += 0.5 * t * WEIGHT[k / 2] * value * cosine;
  }
  return sum;
}

/* Angle omega t [rad] below which the integrals are computed by quadrature, otherwise by parts. Below, the quadrature
 * error is below rounding. Above, integration by parts has no cancellation, because d_3 / d_0 is at most (3 / omega
 * t)^3. */
#define BY_PARTS_ANGLE_MIN 4.0

static WavePair integrate_wave(const double* p, double ramp, double omega, double phase, double t) {
  return (fabs(omega * t) < BY_PARTS_ANGLE_MIN ? integrate_by_quadrature : integrate_by_parts)(p, ramp, omega, phase,
                                                                                               t);
}

/* Returns the integral of a sine with a ramp: the integral over the ramp plus the integral with full amplitude
 * afterwards. */
static WaveIntegral ramped_wave(double ramp, double size, double frequency, double phase, double t) {
  static const double SWELL[SWELL_DEGREE + 1] = {0, 0, 0, 10, -15, 6, 0};
  static const double TIMES_X[SWELL_DEGREE + 1] = {0, 0, 0, 0, 10, -15, 6};
  double omega = 2 * M_PI * frequency, end = t < ramp ? t : ramp;
  WavePair pair = integrate_wave(SWELL, ramp, omega, phase, end),
           slope = integrate_wave(TIMES_X, ramp, omega, phase, end);
  WaveIntegral sum = {size * pair.sine, size * pair.cosine, size * 2 * M_PI * ramp * slope.cosine};
  if (!(t > ramp)) return sum;
  WaveIntegral whole = constant_amplitude_wave(size, frequency, phase, t),
               before = constant_amplitude_wave(size, frequency, phase, ramp);
  return (WaveIntegral){sum.value + (whole.value - before.value), sum.by_phase + (whole.by_phase - before.by_phase),
                        sum.by_frequency + (whole.by_frequency - before.by_frequency)};
}

/* Returns the integral of sine k of the signal, with `size` in place of its amplitude. */
static WaveIntegral wave_integral(const SceneSignal* s, int k, double size, double t) {
  assert(k >= 0);
  if (s->ramp > 0) return ramped_wave(s->ramp, size, s->frequency[k], s->phase[k], t);
  return constant_amplitude_wave(size, s->frequency[k], s->phase[k], t);
}

void sines_integral(const Signal* signal, double t, double* value) {
  const SceneSignal* s = signal->source;
  for (int c = 0; c < s->channels; c++) {
    value[c] = s->values[c] * t;
    for (int k = c * s->terms; k < (c + 1) * s->terms; k++) value[c] += wave_integral(s, k, s->amplitude[k], t).value;
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
      WaveIntegral wave = wave_integral(s, k, a[c] * s->amplitude[k], t);
      amplitude[k] += wave_integral(s, k, a[c], t).value;
      frequency[k] += wave.by_frequency;
      phase[k] += wave.by_phase;
    }
  }
}
