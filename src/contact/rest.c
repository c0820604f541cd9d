/* Equilibrium gap and force of two parallel faces, by bisection over the distance of one side, in which both are
 * monotone. */
#include <assert.h>

#include "contact/rest.h"

#include "contact/plane.h"

/* Bisection in the logarithm of z = c / s over (Z_MIN, 1), down to neighbouring doubles: the force grows like z^-6. */
#define Z_MIN 1e-20
enum { BISECTIONS = 120, NORM_ITERATIONS = 60 };

/* Returns -s^2 P_s'(c) at z = c / s. */
static double slope(double z) { return -barrier_eval(z).first; }

static double slope_inverse(double q) {
  double low = Z_MIN, high = 1;
  for (int i = 0; i < BISECTIONS; i++) {
    double middle = sqrt(low * high);
    if (middle <= low || middle >= high) break; /* neighbouring doubles */
    if (slope(middle) > q)
      low = middle;
    else
      high = middle;
  }
  return high;
}

/* Returns the equilibrium with one side at the distance z s. The norm a = 1 - sigma y and the gap depend on each other
 * by a factor of order sigma, and are found by fixed-point iteration. */
static ContactRest rest_at_distance(double s, int n_a, int n_b, double z) {
  double q = n_a * slope(z), other = n_a == n_b ? z : slope_inverse(q / n_b);
  double sum = s * (z + other), gap = sum, a = 1;
  for (int i = 0; i < NORM_ITERATIONS; i++) {
    double before = gap;
    a = 1 - BARRIER_NORM_WIDTH *
                slope_inverse(BARRIER_NORM_WIDTH * gap / s * q); /* |W'(1 - a)| = D lambda, times sigma s */
    gap = sum / a;
    if (gap == before) break;
  }
  double compliance = 1 / (n_a * barrier_eval(z).second) + 1 / (n_b * barrier_eval(other).second);
  return (ContactRest){gap, a * q / (s * s), 1 / (s * s * s * compliance)};
}

ContactRest rest_under_force(double support, int n_a, int n_b, double force) {
  assert(!(support <= 0) && !(force < 0)); /* numbers beyond doubles are 0 or NaN; the callers refuse them */
  double low = Z_MIN, high = 1;
  for (int i = 0; i < BISECTIONS; i++) {
    double middle = sqrt(low * high);
    if (middle <= low || middle >= high) break;
    if (rest_at_distance(support, n_a, n_b, middle).force > force)
      low = middle;
    else
      high = middle;
  }
  return rest_at_distance(support, n_a, n_b, low);
}

ContactRest rest_at_gap(double support, int n_a, int n_b, double gap) {
  double low = Z_MIN, high = 1;
  for (int i = 0; i < BISECTIONS; i++) {
    double middle = sqrt(low * high);
    if (middle <= low || middle >= high) break;
    if (rest_at_distance(support, n_a, n_b, middle).gap < gap)
      low = middle;
    else
      high = middle;
  }
  return rest_at_distance(support, n_a, n_b, low);
}
