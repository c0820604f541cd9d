#include <assert.h>
#include <math.h>
#include "base/base.h"

/* Uses the generator splitmix64 (Steele, Lea, Flood 2014). */
uint64_t random_bits(Random* random) {
  uint64_t z = random->state += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

double random_uniform(Random* random, double low, double high) {
  assert(low <= high);
  double unit = (double)(random_bits(random) >> 11) * 0x1p-53; /* in [0, 1) */
  return low + (high - low) * unit;
}

/* Uses the Box-Muller method. Discards the second number of each pair, so that the state needs one word only. */
double random_normal(Random* random) {
  double radius = sqrt(-2.0 * math_log(1.0 - random_uniform(random, 0.0, 1.0)));
  return radius * math_cos(6.283185307179586 * random_uniform(random, 0.0, 1.0));
}
