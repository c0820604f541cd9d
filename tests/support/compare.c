#include "support/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_LENGTH = 300 };

/* Formats the arguments after `what` as `text`. */
#define FORMAT_WHAT                              \
  char text[TEXT_LENGTH];                        \
  va_list arguments;                             \
  va_start(arguments, what);                     \
  vsnprintf(text, sizeof text, what, arguments); \
  va_end(arguments)

void compare_near(double found, double wanted, double tolerance, const char* what, ...) {
  if (fabs(found - wanted) <= tolerance) return;
  FORMAT_WHAT;
  fail_msg("%s: found %.17g, wanted %.17g (difference %.3g, allowed %.3g)", text, found, wanted, found - wanted,
           tolerance);
}

void compare_relative(double found, double wanted, double tolerance, const char* what, ...) {
  double scale = fmax(fabs(found), fabs(wanted));
  if (fabs(found - wanted) <= tolerance * scale) return;
  FORMAT_WHAT;
  fail_msg("%s: found %.17g, wanted %.17g (relative difference %.3g, allowed %.3g)", text, found, wanted,
           (found - wanted) / scale, tolerance);
}

void compare_at_most(double found, double limit, const char* what, ...) {
  if (found <= limit) return;
  FORMAT_WHAT;
  fail_msg("%s: found %.17g, at most %.17g allowed", text, found, limit);
}

void compare_vec3(Vec3 found, Vec3 wanted, double tolerance, const char* what, ...) {
  if (vec3_norm(vec3_sub(found, wanted)) <= tolerance) return;
  FORMAT_WHAT;
  fail_msg("%s: found (%.17g, %.17g, %.17g), wanted (%.17g, %.17g, %.17g) (distance %.3g, allowed %.3g)", text, found.x,
           found.y, found.z, wanted.x, wanted.y, wanted.z, vec3_norm(vec3_sub(found, wanted)), tolerance);
}

void compare_arrays(const double* found, const double* wanted, int count, double tolerance, const char* what, ...) {
  double scale = 0;
  for (int k = 0; k < count; k++) scale = fmax(scale, fabs(wanted[k]));
  for (int k = 0; k < count; k++) {
    if (fabs(found[k] - wanted[k]) <= tolerance * scale) continue;
    FORMAT_WHAT;
    fail_msg("%s: entry %d: found %.17g, wanted %.17g (difference %.3g, allowed %.3g)", text, k, found[k], wanted[k],
             found[k] - wanted[k], tolerance * scale);
  }
}

void compare_bytes(const void* found, const void* wanted, size_t size, const char* what, ...) {
  if (size == 0 || memcmp(found, wanted, size) == 0) return; /* empty arrays may be NULL */
  FORMAT_WHAT;
  size_t at = 0;
  const unsigned char *a = found, *b = wanted;
  while (a[at] == b[at]) at++;
  double x = 0, y = 0;
  size_t from = at / sizeof(double) * sizeof(double);
  if (from + sizeof(double) <= size) {
    memcpy(&x, a + from, sizeof x);
    memcpy(&y, b + from, sizeof y);
  }
  fail_msg("%s: byte %zu of %zu differs; as doubles there: found %.17g, wanted %.17g", text, at, size, x, y);
}
