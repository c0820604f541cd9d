/* All pairs of the smooth shapes in many poses: every answer must be proved. */
#ifndef SDRS_TESTS_SUPPORT_GROWTH_SWEEP_H
#define SDRS_TESTS_SUPPORT_GROWTH_SWEEP_H

#include "query/query.h"
#include "support/compare.h"

/* The proof of one answer and what follows from it: bounds, multipliers, inner and outer radii. Fails the test. */
void growth_check(const Shape* a, const Shape* b, double distance, const Growth* g, const char* what);
/* poses: of every pair, alpha from 1e-3 to 1e3 evenly in its logarithm, half of them along warm paths. Prints how many
 * took the bracketing method. */
void growth_sweep(uint64_t seed, int poses);

#endif
