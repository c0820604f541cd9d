/* Signal of an offset plus a sum of sines with a ramp w: value_c = offset_c + w(t) sum_k A_ck sin(2 pi f_ck t +
 * phi_ck). */
#include "control/kinds.h"

static const double TWO_PI = 6.283185307179586476925286766559;

/* Ramp w of the amplitudes, from 0 to 1, and its derivatives: w = 10 x^3 - 15 x^4 + 6 x^5, x = t / ramp up to 1. The
 * ramp is twice continuously differentiable, so that accelerations are continuous. Without a ramp w is 1. */
typedef struct {
  double size, rate, acceleration; /* w and its time derivatives [1, 1/s, 1/s^2] */
} AmplitudeRamp;

static AmplitudeRamp amplitude_ramp(const SceneSignal* source, double t) {
  double x = source->ramp > 0 ? t / source->ramp : 1;
  if (!(x < 1)) return (AmplitudeRamp){1, 0, 0};
  double rest = 1 - x, per_second = 1 / source->ramp;
  return (AmplitudeRamp){x * x * x * (10 - 15 * x + 6 * x * x), 30 * x * x * rest * rest * per_second,
                         60 * x * rest * (rest - x) * per_second * per_second};
}

void sines_eval(const Signal* signal, double t, double* value, double* rate) {
  const SceneSignal* source = signal->source;
  AmplitudeRamp ramp = amplitude_ramp(source, t);
  for (int c = 0; c < source->channels; c++) {
    value[c] = source->values[c];
    rate[c] = 0;
    for (int k = 0; k < source->terms; k++) {
      int i = c * source->terms + k;
      double omega = TWO_PI * source->frequency[i], angle = omega * t + source->phase[i];
      double sine, cosine;
      math_sincos(angle, &sine, &cosine);
      double size = ramp.size * source->amplitude[i];
      value[c] += size * sine;
      rate[c] += size * omega * cosine + ramp.rate * source->amplitude[i] * sine;
    }
  }
}

void sines_acceleration(const Signal* signal, double t, double* acceleration) {
  const SceneSignal* source = signal->source;
  AmplitudeRamp ramp = amplitude_ramp(source, t);
  for (int c = 0; c < source->channels; c++)
    for (int i = c * source->terms; i < (c + 1) * source->terms; i++) {
      double omega = TWO_PI * source->frequency[i], size = source->amplitude[i], sine, cosine;
      math_sincos(omega * t + source->phase[i], &sine, &cosine);
      acceleration[c] += size * (ramp.acceleration * sine + 2 * ramp.rate * omega * cosine);
      acceleration[c] -= ramp.size * size * omega * omega * sine;
    }
}

void sines_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient) {
  const SceneSignal* source = signal->source;
  int terms = source->channels * source->terms;
  double *offset = gradient, *amplitude = offset + source->channels;
  double *frequency = amplitude + terms, *phase = frequency + terms;
  AmplitudeRamp ramp = amplitude_ramp(source, t);
  for (int c = 0; c < source->channels; c++) {
    /* Weights of the value V and rate R of the sum of sines in the signal: value = w V, rate = w R + w' V. */
    double by_value = ramp.size * a[c] + ramp.rate * b[c], by_rate = ramp.size * b[c];
    offset[c] += a[c];
    for (int k = 0; k < source->terms; k++) {
      int i = c * source->terms + k;
      double omega = TWO_PI * source->frequency[i], angle = omega * t + source->phase[i];
      double sine, cosine, size = source->amplitude[i];
      math_sincos(angle, &sine, &cosine);
      double by_angle = size * (by_value * cosine - by_rate * omega * sine);
      amplitude[i] += by_value * sine + by_rate * omega * cosine;
      /* the frequency occurs in the angle and as a factor of the cosine in the rate */
      frequency[i] += TWO_PI * (by_angle * t + by_rate * size * cosine);
      phase[i] += by_angle;
    }
  }
}
