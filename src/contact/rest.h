/* Private to contact/: two parallel faces at rest on each other (docs/contact-parameters.md).
 * n_a vertices of one side at distance c_a from the separating plane, n_b of the other at c_b; gap D, |n| = a. The
 * plane minimises  U = W(1 - a) + n_a P_s(c_a) + n_b P_s(c_b),  c_a + c_b = a D: lambda = n_a |P_s'(c_a)| = n_b
 * |P_s'(c_b)|,   |W'(1 - a)| = D lambda,   force = kappa a lambda      (R1) n_a = n_b (R2) half-space: n_b = 1 */
#ifndef SDRS_CONTACT_REST_H
#define SDRS_CONTACT_REST_H

#include "model/model.h"

/* At rest under a force > 0 (already divided by kappa), or at a gap in (0, 2s). support > 0. support [m]; n_a, n_b:
 * vertices of either side. By bisection; never fails. */
ContactRest rest_under_force(double support, int n_a, int n_b, double force);
/* gap [m]; outside of (0, 2s) the nearest end. */
ContactRest rest_at_gap(double support, int n_a, int n_b, double gap);

#endif
