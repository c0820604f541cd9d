/* Equilibrium gap and force of two parallel faces. Both depend monotonically on the distance of one face from the
 * plane. */
#include <assert.h>

#include "contact/rest.h"

#include "contact/plane.h"

enum { NORM_ITERATIONS_MAX = 60 };

/* Returns the scaled force -s^2 P_s'(c) of the barrier P_s of one vertex at the scaled clearance z = c / s. c:
 * clearance; s: barrier distance. */
static double scaled_force(double z) { return -barrier_eval(z).first; }

static double scaled_force_inverse(double q) {
  double low = REST_Z_MIN, high = 1;
  for (int i = 0; i < REST_BISECTIONS_MAX; i++) {
    double middle = sqrt(low * high);
    if (middle <= low || middle >= high) break; /* no double lies between low and high */
    if (scaled_force(middle) > q)
      low = middle;
    else
      high = middle;
  }
  return high;
}

/* The length of the separating plane's normal and the gap of the faces depend on each other. The length depends only
 * weakly on the gap, by a factor of order BARRIER_NORM_WIDTH, so a fixed-point iteration over the gap converges. */
ContactEquilibrium rest_at_clearance(double s, int n_a, int n_b, double z) {
  assert(!(s <= 0) && z > 0);
  double q = n_a * scaled_force(z), clearance_b = n_a == n_b ? z : scaled_force_inverse(q / n_b);
  double sum = s * (z + clearance_b), gap = sum, a = 1;
  for (int i = 0; i < NORM_ITERATIONS_MAX; i++) {
    double previous_gap = gap;
    a = 1 - BARRIER_NORM_WIDTH * scaled_force_inverse(BARRIER_NORM_WIDTH * gap / s *
                                                      q); /* a solves |W'(1 - a)| = gap times force of one face, with
                                                             the barrier W of the length a of the normal */
    gap = sum / a;
    if (gap == previous_gap) break;
  }
  double compliance = 1 / (n_a * barrier_eval(z).second) + 1 / (n_b * barrier_eval(clearance_b).second);
  return (ContactEquilibrium){gap, a * q / (s * s), 1 / (s * s * s * compliance)};
}
