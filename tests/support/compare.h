/* Comparisons that print both values. `what` is a printf format that names the compared quantity. */
#ifndef SDRS_TESTS_SUPPORT_COMPARE_H
#define SDRS_TESTS_SUPPORT_COMPARE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "linalg/linalg.h"

/* |found - wanted| <= tolerance, else the test fails; NaN fails. */
void compare_near(double found, double wanted, double tolerance, const char* what, ...)
    __attribute__((format(printf, 4, 5)));
/* |found - wanted| <= tolerance max(|found|, |wanted|). */
void compare_relative(double found, double wanted, double tolerance, const char* what, ...)
    __attribute__((format(printf, 4, 5)));
/* found <= limit, else the test fails; NaN fails. */
void compare_at_most(double found, double limit, const char* what, ...) __attribute__((format(printf, 3, 4)));
void compare_vec3(Vec3 found, Vec3 wanted, double tolerance, const char* what, ...)
    __attribute__((format(printf, 4, 5)));
/* Every entry within tolerance times the largest entry of wanted. */
void compare_arrays(const double* found, const double* wanted, int count, double tolerance, const char* what, ...)
    __attribute__((format(printf, 5, 6)));
/* Same bytes. */
void compare_bytes(const void* found, const void* wanted, size_t size, const char* what, ...)
    __attribute__((format(printf, 4, 5)));

#endif
