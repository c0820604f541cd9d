/* Private to model/: two parallel faces at rest on each other (docs/contact-parameters.md).
 * n_a vertices of one side at distance c_a from the separating plane, n_b of the other at c_b; gap D, |n| = a. The
 * plane minimises  U = W(1 - a) + n_a P_s(c_a) + n_b P_s(c_b),  c_a + c_b = a D: lambda = n_a |P_s'(c_a)| = n_b
 * |P_s'(c_b)|,   |W'(1 - a)| = D lambda,   force = kappa a lambda      (R1) n_a = n_b (R2) half-space: n_b = 1 */
#ifndef SDRS_MODEL_REST_H
#define SDRS_MODEL_REST_H

typedef struct {
  double gap;   /* D [m] */
  double force; /* at stiffness 1, so N / kappa */
  double
      stiffness; /* |d force / d D| at stiffness 1 [1/m], to order sigma: 1/k = 1/(n_a P''(c_a)) + 1/(n_b P''(c_b)) */
} Rest;

/* At rest under a force > 0 (already divided by kappa), or at a gap in (0, 2s). support > 0. */
Rest rest_under_force(double support, int n_a, int n_b, double force);
Rest rest_at_gap(double support, int n_a, int n_b, double gap);

#endif
