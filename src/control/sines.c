/* Offset plus a sum of sines: value_c = offset_c + sum_k A_ck sin(2 pi f_ck t + phi_ck). */
#include "control/kinds.h"

static const double TWO_PI = 6.283185307179586476925286766559;

void sines_eval(const Signal* signal, double t, double* value, double* rate) {
  const SceneSignal* source = signal->source;
  for (int c = 0; c < source->channels; c++) {
    value[c] = source->values[c];
    rate[c] = 0;
    for (int k = 0; k < source->terms; k++) {
      int i = c * source->terms + k;
      double omega = TWO_PI * source->frequency[i], angle = omega * t + source->phase[i];
      double sine, cosine;
      math_sincos(angle, &sine, &cosine);
      value[c] += source->amplitude[i] * sine;
      rate[c] += source->amplitude[i] * omega * cosine;
    }
  }
}

void sines_acceleration(const Signal* signal, double t, double* acceleration) {
  const SceneSignal* source = signal->source;
  for (int c = 0; c < source->channels; c++)
    for (int i = c * source->terms; i < (c + 1) * source->terms; i++) {
      double omega = TWO_PI * source->frequency[i];
      acceleration[c] -= source->amplitude[i] * omega * omega * math_sin(omega * t + source->phase[i]);
    }
}

void sines_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient) {
  const SceneSignal* source = signal->source;
  int terms = source->channels * source->terms;
  double *offset = gradient, *amplitude = offset + source->channels;
  double *frequency = amplitude + terms, *phase = frequency + terms;
  for (int c = 0; c < source->channels; c++) {
    offset[c] += a[c];
    for (int k = 0; k < source->terms; k++) {
      int i = c * source->terms + k;
      double omega = TWO_PI * source->frequency[i], angle = omega * t + source->phase[i];
      double sine, cosine, size = source->amplitude[i];
      math_sincos(angle, &sine, &cosine);
      double by_angle = size * (a[c] * cosine - b[c] * omega * sine);
      amplitude[i] += a[c] * sine + b[c] * omega * cosine;
      frequency[i] += TWO_PI * (by_angle * t + b[c] * size * cosine); /* omega is in the angle and in front of cos */
      phase[i] += by_angle;
    }
  }
}
