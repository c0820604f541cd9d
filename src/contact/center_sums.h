/* Private to contact/: sums the derivatives of functions f(r) of the distance r of two centres, four terms at a time
 * (docs/derivations/law-long_range.md, N9). The difference of two centres changes with the twists (rotation,
 * displacement) of both bodies by the matrix J = [-[r_a]x, I, [r_b]x, -I]. r_a and r_b are the vectors from the
 * reference points of the bodies to the centres. [r]x is the matrix of the cross product with r. e is the unit
 * direction of the difference. With respect to the difference, f has the gradient g = f' e and the Hessian H = f'' e
 * e^T + f' / r (I - e e^T). */
#ifndef SDRS_CONTACT_CENTER_SUMS_H
#define SDRS_CONTACT_CENTER_SUMS_H

#include "base/lanes.h"
#include "contact/pair.h"

/* Numbers of stored entries of a 3x3 matrix, by rows: upper triangle of a symmetric matrix, and full matrix. */
enum { SYMMETRIC_ENTRIES = 6, FULL_ENTRIES = 9 };
/* The sums over all terms (pairs of centres), in four SIMD lanes. Each lane sums every fourth term. With C_a = [r_a]x H
 * and C_b = [r_b]x H, the blocks of J^T H J are H, C_a, C_b and the products [r]x C^T (N9). A product [r]x C^T is
 * symmetric if the lever arm r and the lever arm of C belong to the same body. */
typedef struct {
  Lanes force[3];                              /* sum of the gradients g */
  Lanes moment[2][FULL_ENTRIES];               /* sum of g r^T with the arm r of each body */
  Lanes hessian[SYMMETRIC_ENTRIES];            /* sum of the Hessians H */
  Lanes arm_hessian[2][FULL_ENTRIES];          /* sum of C = [r]x H with the arm r of each body */
  Lanes arm_hessian_arm[2][SYMMETRIC_ENTRIES]; /* sum of the cross products of r with the rows of C, with the arm r of
                                                  each body */
  Lanes cross_hessian[FULL_ENTRIES];           /* sum of the cross products of r_b with the rows of C_a */
} CenterSums;

/* Four terms of the sums, one in each lane. arm: vectors from the reference points of both bodies to the centres [m].
 * direction: unit vector e of the difference of the centres. first, second: f' and f'', the derivatives of f with
 * respect to the distance r. transverse: f' / r, or 0 for a half-space. Unused lanes contain zeros. */
typedef struct {
  Lanes arm[2][3], direction[3], first, second, transverse;
} CenterTerms;

/* Adds four terms to *sums. The caller zeroes *sums before the first call. */
void center_sums_add(CenterSums* sums, const CenterTerms* terms);
/* Adds the sums to *out: forces, moments and the upper triangle of the Hessian (12 x 12). If ground is true, b is a
 * half-space. In the moments and the Hessian, only the entries of a are then added. The opposite of the force of a is
 * added to the force of b. */
void center_sums_add_to_derivatives(const CenterSums* sums, bool ground, PairDerivatives* out);

static inline void lanes_cross(const Lanes r[3], const Lanes v[3], Lanes out[3]) {
  out[0] = r[1] * v[2] - r[2] * v[1];
  out[1] = r[2] * v[0] - r[0] * v[2];
  out[2] = r[0] * v[1] - r[1] * v[0];
}

#endif
