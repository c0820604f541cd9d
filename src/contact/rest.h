/* Private to contact/: equilibrium of two parallel faces under a force (docs/contact-parameters.md). The n_a vertices
 * of one face are at the distance c_a from the separating plane. The n_b vertices of the other face are at the distance
 * c_b. D is the gap between the faces, and a = |n| is the length of the plane's normal. P_s: vertex barrier of the
 * support s. W: barrier that keeps a below 1. kappa: contact stiffness. The plane minimises the potential
 *   U = W(1 - a) + n_a P_s(c_a) + n_b P_s(c_b),  c_a + c_b = a D.
 * At the minimum
 *   lambda = n_a |P_s'(c_a)| = n_b |P_s'(c_b)|,   |W'(1 - a)| = D lambda,   force = kappa a lambda               (R1)
 * lambda: force of either face for stiffness 1 and |n| = 1. A half-space as second face has n_b = 1 (R2). */
#ifndef SDRS_CONTACT_REST_H
#define SDRS_CONTACT_REST_H

#include "model/model.h"

/* Lower end of the bisections over z, the clearance of the vertices of one face divided by the barrier distance. They
 * are in log z, down to neighbouring doubles, because forces grow like powers of 1 / z. REST_BISECTIONS_MAX is larger
 * than the number of bisections of this range. */
#define REST_Z_MIN 1e-20
enum { REST_BISECTIONS_MAX = 120 };

/* Returns the equilibrium of two faces for the clearance c_a = z s of face a from the plane, 0 < z < 1. support: s > 0
 * [m]. n_a, n_b: numbers of vertices in contact on both sides. If a number overflows or underflows, the result is NaN
 * or 0, which the callers reject. */
ContactEquilibrium rest_at_clearance(double support, int n_a, int n_b, double z);

#endif
