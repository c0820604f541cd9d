/* Functions that compute one value from arrays of numbers: scalar product, largest magnitude, test for finite numbers.
 * Sums add their terms in the order of the array. */
#ifndef SDRS_LINALG_ARRAYS_H
#define SDRS_LINALG_ARRAYS_H

#include <math.h>
#include <stdbool.h>

/* Returns the scalar product of x (count) and y (count). */
static inline double array_dot(int count, const double* x, const double* y) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum += x[k] * y[k];
  return sum;
}

/* Returns the largest absolute value of x (count), or 0 if the array is empty. */
static inline double array_largest(int count, const double* x) {
  double largest = 0;
  for (int k = 0; k < count; k++) largest = fmax(largest, fabs(x[k]));
  return largest;
}

/* Returns true if no number of x (count) is infinite or NaN. */
static inline bool array_finite(int count, const double* x) {
  for (int k = 0; k < count; k++)
    if (!isfinite(x[k])) return false;
  return true;
}

#endif
