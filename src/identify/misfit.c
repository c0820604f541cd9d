/* Separates residuals into noise and model error (docs/derivations/identify.md, Q10). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "identify/fit.h"

/* Median of |x| for a standard normal variable x. */
#define NORMAL_MEDIAN 0.6744897501960817
/* Largest length of rotation vectors that are used [rad]. The rotation vector of the next sample may differ by a full
 * turn from a longer vector. */
#define ROTATION_MAX 2.0

void add_misfit_samples(ErrorRows* out, int part, double unit, const double* r, int samples, int stride) {
  assert(part >= 0 && part < ERROR_KINDS && unit > 0 && samples >= 0 && stride > 0);
  for (int k = 0; k < samples; k++) {
    double value = r[k * stride];
    if (isnan(value)) continue;
    out->square[part] += unit * unit * value * value;
    out->squares[part]++;
    if (k == 0 || k == samples - 1) continue;
    double second = r[(k - 1) * stride] - 2 * value + r[(k + 1) * stride];
    if (isnan(second) || (part == 1 && fabs(unit * value) > ROTATION_MAX)) continue;
    out->second[part] =
        memory_grow_array(out->second[part], sizeof(double), out->second_count[part], &out->second_capacity[part]);
    out->second[part][out->second_count[part]++] = unit * fabs(second);
  }
}

static int compare_numbers(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Returns the standard deviation of the noise, from the median of second differences. White noise of variance s^2 has
 * second differences of variance 6 s^2. Model errors are smooth except at impacts, which the median ignores. */
static double estimate_noise(double* second, int count) {
  if (count == 0) return NAN;
  qsort(second, (size_t)count, sizeof(double), compare_numbers);
  double middle = 0.5 * (second[(count - 1) / 2] + second[count / 2]);
  return middle / (NORMAL_MEDIAN * sqrt(6));
}

void compute_misfit(Identification* id, const ErrorRows* rows) {
  assert(rows || id->data.count == 0);
  for (int train = 0; train < 2; train++)
    for (int part = 0; part < ERROR_KINDS; part++) {
      double square = 0, *all = NULL;
      int squares = 0, count = 0, room = 0;
      for (int r = 0; r < id->data.count; r++) {
        if (id->data.runs[r].train != (train == 1)) continue;
        square += rows[r].square[part];
        squares += rows[r].squares[part];
        for (int k = 0; k < rows[r].second_count[part]; k++) {
          all = memory_grow_array(all, sizeof(double), count, &room);
          all[count++] = rows[r].second[part][k];
        }
      }
      double noise = estimate_noise(all, count);
      id->misfit[train].noise[part] = noise;
      id->misfit[train].model[part] = squares > 0 ? sqrt(fmax(0, square / squares - noise * noise)) : (double)NAN;
      memory_free(all);
    }
}
