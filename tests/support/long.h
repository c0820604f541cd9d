/* Selects the long form of a test. `make check-all` runs every row, `make check` a selection of different rows. */
#ifndef SDRS_TESTS_SUPPORT_LONG_H
#define SDRS_TESTS_SUPPORT_LONG_H

#include <stdbool.h>
#include <stdlib.h>

/* Is SDRS_LONG set in the environment? */
static inline bool tests_are_long(void) { return getenv("SDRS_LONG") != NULL; }

/* A count of rows, seeds or rounds in either form. */
static inline int tests_count(int short_form, int long_form) { return tests_are_long() ? long_form : short_form; }

/* Is the pair run in this form? The long form runs every row with every setting (an integrator, a method), the short
 * one each row with one of `settings`, and each setting with rows of its own. */
static inline bool tests_pair(int row, int setting, int settings) {
  return tests_are_long() || row % settings == setting;
}

#endif
