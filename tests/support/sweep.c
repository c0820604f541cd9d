#include "support/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Second order is seen as an exponent of at least this, measured over the part of the sweep that is neither coarse
 * (error above COARSE) nor rounding (error below NOISE times the least). */
#define LEAST_ORDER 1.7
#define COARSE 0.1
#define NOISE 20.0
#define EXACT 1e-13 /* rounding of numbers of order 1 */

static bool quotients(const Sweep* s, double h, double* quotient) {
  int n = s->inputs, m = s->outputs;
  double* x = MEMORY_NEW(double, n);
  double* y = MEMORY_NEW(double, 2 * m);
  bool defined = true;
  if (s->x) memcpy(x, s->x, sizeof(double) * (size_t)n);
  for (int j = 0; j < n && defined; j++) {
    double at = x[j], step = h * (s->unit ? s->unit[j] : 1.0);
    x[j] = at + step;
    double wide = x[j];
    defined = s->function(s->context, x, y);
    x[j] = at - step;
    wide -= x[j];
    defined = defined && s->function(s->context, x, y + m);
    x[j] = at;
    for (int i = 0; i < m; i++) quotient[i * n + j] = (y[i] - y[m + i]) / wide;
  }
  memory_free(x);
  memory_free(y);
  return defined;
}

static double weight(const Sweep* s, int i, int j) {
  return (s->unit ? s->unit[j] : 1.0) / (s->scale ? s->scale[i] : 1.0);
}

/* Largest weighted difference; NaN counts as infinite. */
static double largest_error(const Sweep* s, const double* a, const double* b, int* row, int* column) {
  double worst = -1;
  for (int i = 0; i < s->outputs; i++)
    for (int j = 0; j < s->inputs; j++) {
      double e = fabs((a[i * s->inputs + j] - (b ? b[i * s->inputs + j] : 0.0)) * weight(s, i, j));
      if (!(e <= worst)) {
        worst = isnan(e) ? HUGE_VAL : e;
        *row = i;
        *column = j;
      }
    }
  return worst;
}

static double observed_order(const Sweep* s, const SweepResult* r) {
  int from = 0, to = r->best;
  while (from < r->best && r->error[from] > COARSE) from++;
  while (to > from && r->error[to] < fmax(NOISE * r->error[r->best], EXACT)) to--;
  if (to <= from) return NAN;
  return log(r->error[from] / r->error[to]) / (log(s->factor) * (to - from));
}

SweepResult sweep_jacobian(const Sweep* s, const double* jacobian, double floor) {
  SweepResult r = {.best = 0};
  double* quotient = MEMORY_NEW(double, s->inputs * s->outputs);
  int row = 0, column = 0;
  double size = fmax(largest_error(s, jacobian, NULL, &row, &column), floor), h = s->first;
  if (size == 0) size = 1;
  for (int k = 0; k < s->steps; k++, h /= s->factor) {
    bool defined = quotients(s, h, quotient);
    r.error[k] = defined ? largest_error(s, quotient, jacobian, &row, &column) / size : HUGE_VAL;
    if (k > 0 && !(r.error[k] < r.error[r.best])) continue;
    r.best = k;
    r.row = row;
    r.column = column;
    r.found = jacobian[row * s->inputs + column];
    r.wanted = quotient[row * s->inputs + column];
  }
  r.order = observed_order(s, &r);
  memory_free(quotient);
  return r;
}

static void print_errors(const Sweep* s, const SweepResult* r) {
  double h = s->first;
  for (int k = 0; k < s->steps; k++, h /= s->factor) print_message("    step %.1e: error %.2e\n", h, r->error[k]);
}

void sweep_expect(const Sweep* s, const double* jacobian, double floor, double tolerance, const char* what, ...) {
  SweepResult r = sweep_jacobian(s, jacobian, floor);
  bool small = r.error[r.best] <= tolerance, square = isnan(r.order) || r.order >= LEAST_ORDER;
  if (small && square) return;
  char text[300];
  va_list arguments;
  va_start(arguments, what);
  vsnprintf(text, sizeof text, what, arguments);
  va_end(arguments);
  print_errors(s, &r);
  if (!small)
    fail_msg("%s: entry (%d, %d): found %.17g, central difference %.17g (least error of the sweep %.3g, allowed %.3g)",
             text, r.row, r.column, r.found, r.wanted, r.error[r.best], tolerance);
  fail_msg("%s: the error falls with the power %.2f of the step, not 2 (least error %.3g)", text, r.order,
           r.error[r.best]);
}
