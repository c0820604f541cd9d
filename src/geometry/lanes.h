/* Private to geometry/: SIMD vectors of doubles, with as many lanes as a register of the processor. Written with the
 * vector extension of gcc and clang. AVX-512 uses intrinsics where compilers do not select the instruction. */
#ifndef SDRS_GEOMETRY_LANES_H
#define SDRS_GEOMETRY_LANES_H

#include <stdint.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define LANES_AVX512
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif

typedef double Lanes __attribute__((vector_size(8 * LANES)));
/* Mask or indices of the lanes. A mask is true if all bits of the lane are set. */
typedef int64_t LaneMask __attribute__((vector_size(8 * LANES)));

static inline Lanes lanes_load(const double* aligned) { return *(const Lanes*)aligned; }

static inline Lanes lanes_fill(double value) { return (Lanes){0} + value; }

static inline LaneMask lanes_fill_index(int64_t value) { return (LaneMask){0} + value; }

/* Returns a b + c with two roundings on every processor. A fused operation would make results depend on the processor.
 */
static inline Lanes lanes_multiply_add(Lanes a, Lanes b, Lanes c) { return a * b + c; }

static inline LaneMask lanes_choose_index(LaneMask mask, LaneMask yes, LaneMask no) {
  return (mask & yes) | (~mask & no);
}

static inline Lanes lanes_max(Lanes a, Lanes b) {
#ifdef LANES_AVX512
  return (Lanes)_mm512_max_pd((__m512d)a, (__m512d)b);
#else
  return (Lanes)lanes_choose_index(a > b, (LaneMask)a, (LaneMask)b);
#endif
}

/* Returns the largest of the lanes. */
static inline double lanes_maximum(Lanes a) {
#ifdef LANES_AVX512
  return _mm512_reduce_max_pd((__m512d)a);
#else
  double maximum = a[0];
  for (int i = 1; i < LANES; i++) maximum = a[i] > maximum ? a[i] : maximum;
  return maximum;
#endif
}

/* Returns a bit mask in which bit i is set if lane i is true. */
static inline unsigned lanes_bits(LaneMask mask) {
#ifdef LANES_AVX512
  return (unsigned)_mm512_movepi64_mask((__m512i)mask);
#elif defined(__AVX__)
  return (unsigned)_mm256_movemask_pd((__m256d)mask);
#else
  unsigned bits = 0;
  for (int i = 0; i < LANES; i++) bits |= (unsigned)(mask[i] & 1) << i;
  return bits;
#endif
}

#endif
