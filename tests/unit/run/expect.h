/* Fails unless |actual - expected| <= tolerance, and prints both values. */
#ifndef SDRS_TEST_EXPECT_H
#define SDRS_TEST_EXPECT_H

#include <math.h>

static inline void expect_near_at(double actual, double expected, double tolerance, const char* file, int line) {
  if (fabs(actual - expected) <= tolerance) return;
  print_error("got %.17g, expected %.17g +- %g\n", actual, expected, tolerance);
  _fail(file, line);
}
#define expect_near(actual, expected, tolerance) expect_near_at(actual, expected, tolerance, __FILE__, __LINE__)

#endif
