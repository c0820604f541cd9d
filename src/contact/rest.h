/* Private to contact/: equilibrium of two parallel faces (docs/contact-parameters.md). n_a vertices of one side are at
 * the distance c_a from the separating plane, n_b of the other at c_b; gap D, |n| = a. The plane minimises
 *   U = W(1 - a) + n_a P_s(c_a) + n_b P_s(c_b),  c_a + c_b = a D:
 *   lambda = n_a |P_s'(c_a)| = n_b |P_s'(c_b)|,   |W'(1 - a)| = D lambda,   force = kappa a lambda               (R1)
 * A half-space has n_b = 1 (R2). */
#ifndef SDRS_CONTACT_REST_H
#define SDRS_CONTACT_REST_H

#include "model/model.h"

/* Returns the equilibrium under the force `force` > 0, given as the force divided by kappa [1/m^2]. support > 0 [m].
 * n_a, n_b: numbers of vertices in contact on both sides. Uses bisection. Never fails. */
ContactRest rest_under_force(double support, int n_a, int n_b, double force);
/* Returns the equilibrium at a gap in (0, 2 s) [m]. For other gaps, returns the equilibrium at the nearest end of this
 * interval. */
ContactRest rest_at_gap(double support, int n_a, int n_b, double gap);

#endif
