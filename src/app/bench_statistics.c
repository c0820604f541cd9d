#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "app/bench.h"

static int compare_doubles(const void* left, const void* right) {
  double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

double bench_median(double* values, int count) {
  assert(count >= 0);
  if (count == 0) return 0.0;
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

double bench_mean(const double* values, int count) {
  assert(count >= 0);
  double sum = 0.0;
  for (int i = 0; i < count; i++) sum += values[i];
  return count > 0 ? sum / count : 0.0;
}

double bench_exponent(const double* x, const double* y, int count, double low, double high) {
  assert(count >= 0);
  assert(low <= high);
  double n = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (int i = 0; i < count; i++) {
    if (!(x[i] >= low && x[i] <= high)) continue;
    double u = math_log(x[i]), v = math_log(y[i]);
    n++;
    sum_x += u;
    sum_y += v;
    sum_xx += u * u;
    sum_xy += u * v;
  }
  double spread = n * sum_xx - sum_x * sum_x;
  return n >= 2 && spread > 0.0 ? (n * sum_xy - sum_x * sum_y) / spread : (double)NAN;
}
