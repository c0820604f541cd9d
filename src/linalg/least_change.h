/* Equations that need not hold where their matrix was taken (linalg/least_change.c). */
#ifndef SDRS_LINALG_LEAST_CHANGE_H
#define SDRS_LINALG_LEAST_CHANGE_H

#include <stdbool.h>

/* symmetric_least_change (linalg.h) of equations that are open where A was taken. gap: how far each is from holding,
 * over its size (order; NULL: they hold): equations that say the same where they hold say something else in proportion
 * to that, by eigenvalues of A as small as the square of it, which are left out as rounding is. matrix (order x order,
 * full, rows `stride` apart; destroyed with what lies behind each row up to the stride, best a multiple of four); x:
 * the right-hand side on entry (order); scale: order, > 0; work: 2 order. ambiguous: set to true where something is
 * left out, else left alone; may be NULL. false: not finite. No allocation. */
bool symmetric_least_change_open(int order, int stride, double* matrix, double* x, const double* scale,
                                 const double* gap, double* work, bool* ambiguous);

#endif
