/* SIMD vectors of doubles, and elementary functions of these vectors. Results are bit-identical to scalar arithmetic on
 * every processor. */
#ifndef SDRS_BASE_LANES_H
#define SDRS_BASE_LANES_H

#include <math.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif
#include "base/base.h"

/* The warning about the ABI of older processors does not apply, because vectors are passed only within one file. */
#pragma GCC diagnostic ignored "-Wpsabi"

/* Number of doubles in a vector. A file may define another number before it includes this header. */
#ifndef LANES
#define LANES 4
#endif
typedef double Lanes __attribute__((vector_size(8 * LANES)));
typedef int64_t LaneBits __attribute__((vector_size(8 * LANES)));
typedef uint64_t LaneUnsigned __attribute__((vector_size(8 * LANES)));

/* LANES three-dimensional vectors, one per lane. */
typedef struct {
  Lanes x, y, z;
} Lanes3;

static inline Lanes lanes_broadcast(double x) { return x - (Lanes){0}; }
/* Returns yes in lanes whose mask bits are set, otherwise no. */
static inline Lanes lanes_select(LaneBits mask, Lanes yes, Lanes no) {
  return (Lanes)(((LaneBits)yes & mask) | ((LaneBits)no & ~mask));
}

/* Returns e^r for |r| <= log(2)/2 by the Taylor series of degree 13. The relative error is below 3e-16. */
static inline Lanes lanes_exp_reduced(Lanes r) {
  Lanes s = r * r, s2 = s * s;
  /* terms are evaluated in pairs, because this shortens dependency chains */
  Lanes low = (r * (1.0 / 6) + 1.0 / 2) + s * (r * (1.0 / 120) + 1.0 / 24);
  Lanes middle = (r * (1.0 / 5040) + 1.0 / 720) + s * (r * (1.0 / 362880) + 1.0 / 40320);
  Lanes high = (r * (1.0 / 39916800) + 1.0 / 3628800) + s * (r * (1.0 / 6227020800) + 1.0 / 479001600);
  return (r + s * (low + s2 * (middle + s2 * high))) + 1.0;
}

/* Returns e^x for x <= 0, and 0 for x < -700. The relative error is below 3e-16. Method: e^x = 2^k e^r. k is x / log 2,
 * rounded by adding 1.5 * 2^52. */
static inline Lanes lanes_exp_nonpositive(Lanes x) {
  const Lanes lowest = lanes_broadcast(-700.0), shift = lanes_broadcast(0x1.8p52);
  LaneBits underflow = x < lowest;
  Lanes clipped = lanes_select(underflow, lowest, x);
  Lanes shifted = clipped * 0x1.71547652b82fep+0 + shift, k = shifted - shift;
  Lanes power = lanes_exp_reduced((clipped - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33);
  Lanes scale = (Lanes)(((LaneBits)shifted + 1023) << 52); /* 2^k */
  return (Lanes)((LaneBits)(power * scale) & ~underflow);
}

/* Returns log x for x in [1e-300, 1e300]. Method: x = 2^k m with m in [sqrt 1/2, sqrt 2), and the series of log m = 2
 * artanh((m - 1) / (m + 1)). The error is 4e-16 times the larger of the result and 1. */
static inline Lanes lanes_log(Lanes x) {
  LaneUnsigned word = (LaneUnsigned)x,
               k = (word + 0x95f619980c433u) >> 52; /* the addition increments the exponent if m >= sqrt 2 */
  Lanes m = (Lanes)(word - ((k - 1023) << 52)), whole = (Lanes)(k + (0x4338000000000000u - 1023)) - 0x1.8p52;
  Lanes s = (m - 1) / (m + 1), q = s * s, q2 = q * q, q4 = q2 * q2;
  Lanes low = (2.0 / 3 + q * (2.0 / 5)) + q2 * (2.0 / 7 + q * (2.0 / 9));
  Lanes middle = (2.0 / 11 + q * (2.0 / 13)) + q2 * (2.0 / 15 + q * (2.0 / 17)), high = 2.0 / 19 + q * (2.0 / 21);
  return whole * 0x1.62e42fefa39efp-1 + (2 * s + s * q * (low + q4 * (middle + q4 * high)));
}

static inline Lanes lanes_abs(Lanes x) { return (Lanes)((LaneBits)x & INT64_MAX); }
static inline Lanes lanes_elementwise_max(Lanes a, Lanes b) { return lanes_select(a > b, a, b); }
static inline Lanes lanes_elementwise_min(Lanes a, Lanes b) { return lanes_select(a < b, a, b); }
/* Returns the elementwise square root, correctly rounded. */
static inline Lanes lanes_sqrt(Lanes x) {
#if defined(__AVX512F__) && LANES == 8
  return (Lanes)_mm512_sqrt_pd((__m512d)x);
#elif defined(__SSE2__)
  union {
    Lanes all;
    __m128d pair[LANES / 2];
  } root = {x};
  for (int i = 0; i < LANES / 2; i++) root.pair[i] = _mm_sqrt_pd(root.pair[i]);
  return root.all;
#else
  Lanes root = {0};
  for (int i = 0; i < LANES; i++) root[i] = sqrt(x[i]);
  return root;
#endif
}
/* Returns true if any lane of the mask is set. */
static inline bool lanes_any(LaneBits mask) {
#if LANES == 8
  mask |= __builtin_shufflevector(mask, mask, 4, 5, 6, 7, 0, 1, 2, 3);
  mask |= __builtin_shufflevector(mask, mask, 2, 3, 0, 1, 6, 7, 4, 5);
  return (mask[0] | mask[1]) != 0;
#else
  int64_t any = 0;
  for (int i = 0; i < LANES; i++) any |= mask[i];
  return any != 0;
#endif
}

/* Returns the sigmoid 1 / (1 + e^-x). Sets *rest to 1 minus the sigmoid, without cancellation. */
static inline Lanes lanes_sigmoid(Lanes x, Lanes* rest) {
  Lanes less = lanes_exp_nonpositive(-lanes_abs(x)), most = 1 / (1 + less), part = less * most;
  *rest = lanes_select(x < 0, most, part);
  return lanes_select(x < 0, part, most);
}

#endif
