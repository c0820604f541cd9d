/* Central differences over a sweep of step sizes. A derivative is right if the error falls with the square of the step
 * down to rounding, and the smallest error is small. A single step may agree by chance. */
#ifndef SDRS_TESTS_SUPPORT_SWEEP_H
#define SDRS_TESTS_SUPPORT_SWEEP_H

#include "support/compare.h"

/* y (outputs) at x (inputs); false where the function is not defined. */
typedef bool (*SweepFunction)(void* context, const double* x, double* y);

typedef struct {
  SweepFunction function;
  void* context;
  int inputs, outputs;
  const double* x;     /* where (inputs); NULL = zero */
  const double* unit;  /* step of an input = unit times h (inputs); NULL = 1 */
  const double* scale; /* an output counts in units of this (outputs); NULL = 1 */
  double first;        /* largest h */
  double factor;       /* from one h to the next, > 1 */
  int steps;           /* number of h */
} Sweep;

/* Errors are max over the entries of |difference quotient - J| unit / scale, divided by the largest entry of J so
 * scaled (or by `floor`, when that is larger: what counts as zero). */
typedef struct {
  double error[16];
  int best;             /* index of the least error */
  double order;         /* observed exponent of the step above the least error; NAN when rounding was met at once */
  int row, column;      /* worst entry at the best step */
  double found, wanted; /* the analytic entry; the difference quotient */
} SweepResult;

/* jacobian (outputs x inputs), row-major, at x. */
SweepResult sweep_jacobian(const Sweep* sweep, const double* jacobian, double floor);
/* The same, failing unless the least error is at most `tolerance` and the error fell at second order before that. */
void sweep_expect(const Sweep* sweep, const double* jacobian, double floor, double tolerance, const char* what, ...)
    __attribute__((format(printf, 5, 6)));

#endif
