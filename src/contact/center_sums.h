/* Private to contact/: sums of the derivatives of functions f(r) of the distance r of two centres, four terms at a time
 * (law-long_range.md, N9). The difference of the centres changes with the twists of both bodies by J = [-[r_a]x, I,
 * [r_b]x, -I], with r_a and r_b the arms from the reference points to the centres. With e the unit direction of the
 * difference, f has with respect to it the gradient g = f' e and the Hessian H = f'' e e^T + f' / r (I - e e^T). */
#ifndef SDRS_CONTACT_CENTER_SUMS_H
#define SDRS_CONTACT_CENTER_SUMS_H

#include "base/lanes.h"
#include "contact/pair.h"

/* Sums over terms; each of the four lanes sums every fourth term. With C_a = [r_a]x H and C_b = [r_b]x H, the blocks of
 * J^T H J are H, C_a, C_b and the products [r]x C^T, which are symmetric if both arms are the same (N9). */
enum { TWO = 6, NINE = 9 }; /* entries by rows: of a symmetric 3x3 matrix from the diagonal on; of any */
typedef struct {
  Lanes force[3], moment[2][NINE];               /* sum g; sum g r^T, for the arm of a and of b */
  Lanes across[TWO], turn[2][NINE], own[2][TWO]; /* sum H; per arm: sum C, sum r x (rows of C) */
  Lanes both[NINE];                              /* sum r_b x (rows of C_a) */
} CenterSums;

/* Four terms: arms r [m], direction e (unit), first = f', second = f'', across = f' / r (0 for a half-space). An unused
 * lane has zeros. */
typedef struct {
  Lanes arm[2][3], direction[3], first, second, across;
} CenterTerms;

/* Adds four terms to sums, which the caller zeroes first. Cannot fail, allocates nothing. */
void center_sums_add(CenterSums* sums, const CenterTerms* terms);
/* Adds the sums to *out: forces, moments, and the upper triangle of the Hessian (12 x 12). ground: true if b is a
 * half-space; then only moment and rows of a are added, and the opposite of the force of a is added to the force of b.
 * Cannot fail, allocates nothing. */
void center_sums_give(const CenterSums* sums, bool ground, PairDerivatives* out);

static inline void lanes_cross(const Lanes r[3], const Lanes v[3], Lanes out[3]) {
  out[0] = r[1] * v[2] - r[2] * v[1];
  out[1] = r[2] * v[0] - r[0] * v[2];
  out[2] = r[0] * v[1] - r[1] * v[0];
}

#endif
