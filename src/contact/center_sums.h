/* Private to contact/: derivatives of functions of two centres' distance, four at a time (law-long_range.md, N9). The
 * difference of two centres moves with the twists of both bodies by J = [-[r_a]x, I, [r_b]x, -I], r the arms; such a
 * function has the gradient g = f' e by it and the Hessian H = f'' e e^T + f' / r (I - e e^T). */
#ifndef SDRS_CONTACT_CENTER_SUMS_H
#define SDRS_CONTACT_CENTER_SUMS_H

#include "base/lanes.h"
#include "contact/pair.h"

/* Sums over terms of centres, four terms at a time. With C = [r]x H for either arm, the twelve rows and columns of J^T
 * H J consist of H, C_a, C_b, and [r]x C^T of two arms; those of one arm are symmetric (N9). */
enum { TWO = 6, NINE = 9 }; /* entries of a symmetric 3x3 matrix by rows from the diagonal on, and of any by rows */
typedef struct {
  Lanes force[3], moment[2][NINE];               /* sum g, sum g r^T of either arm */
  Lanes across[TWO], turn[2][NINE], own[2][TWO]; /* H, C, r x (rows of C) of the same arm */
  Lanes both[NINE];                              /* of b's arm and C_a */
} CenterSums;

/* Four terms: arms r [m], direction e (unit), f', f'' and f' / r, zeros for one that is none. */
typedef struct {
  Lanes arm[2][3], direction[3], first, second, across;
} CenterTerms;

/* Added to sums, which begin zeroed. Cannot fail, allocates nothing. */
void center_sums_add(CenterSums* sums, const CenterTerms* terms);
/* Added to a pair's derivatives: forces, moments, and of the Hessian (12 x 12) what stands on or above the diagonal.
 * ground: b is a half-space, and only what a feels is added. Cannot fail, allocates nothing. */
void center_sums_give(const CenterSums* sums, bool ground, PairDerivatives* out);

static inline void lanes_cross(const Lanes r[3], const Lanes v[3], Lanes out[3]) {
  out[0] = r[1] * v[2] - r[2] * v[1];
  out[1] = r[2] * v[0] - r[0] * v[2];
  out[2] = r[0] * v[1] - r[1] * v[0];
}

#endif
