/* Complete elliptic integrals, for closed forms of tops and pendulums. */
#ifndef SDRS_TESTS_SUPPORT_ELLIPTIC_H
#define SDRS_TESTS_SUPPORT_ELLIPTIC_H

#include <math.h>

/* K(m), the integral of 1/sqrt(1 - m sin^2) from 0 to pi/2, by the arithmetic-geometric mean of 1 and sqrt(1 - m). */
static inline double elliptic_quarter_period(double m) {
  double a = 1, b = sqrt(1 - m);
  for (int k = 0; k < 40; k++) {
    double next = 0.5 * (a + b);
    b = sqrt(a * b);
    a = next;
  }
  return 0.5 * 3.14159265358979323846 / a;
}

#endif
