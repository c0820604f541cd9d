/* Independent search for the equilibrium gap of parallel faces. Golden-section search minimises the contact energy over
 * the plane. The force is a difference quotient, and bisection finds the gap. */
#ifndef SDRS_TEST_MODEL_REST_SEARCH_H
#define SDRS_TEST_MODEL_REST_SEARCH_H

#include <math.h>

#define NORM_WIDTH 1e-3 /* sigma of contact.md, C1 */

static inline double barrier(double c, double s) { return c >= s ? 0 : pow(c - s, 4) / pow(c, 5); }

typedef struct {
  double s, gap;
  int n_a, n_b;
  double norm;
} Faces;

typedef double (*Function)(const Faces* faces, double x);

static inline double minimum(Function f, const Faces* faces, double low, double high) {
  const double golden = 0.6180339887498949;
  double a = high - golden * (high - low), b = low + golden * (high - low), fa = f(faces, a), fb = f(faces, b);
  for (int i = 0; i < 80; i++) { /* 0.618^80 = 2e-17 of the interval */
    if (fa < fb) {
      high = b;
      b = a;
      fb = fa;
      fa = f(faces, a = high - golden * (high - low));
    } else {
      low = a;
      a = b;
      fa = fb;
      fb = f(faces, b = low + golden * (high - low));
    }
  }
  return fmin(fa, fb);
}

static inline double energy_of_distance(const Faces* faces, double c) {
  return faces->n_a * barrier(c, faces->s) + faces->n_b * barrier(faces->norm * faces->gap - c, faces->s);
}

static inline double energy_of_norm(const Faces* faces, double norm) {
  Faces inner = *faces;
  inner.norm = norm;
  double sum = norm * faces->gap;
  /* Q((1 - a) / sigma) / s is sigma / s times the barrier of support sigma */
  return NORM_WIDTH / faces->s * barrier(1 - norm, NORM_WIDTH) +
         minimum(energy_of_distance, &inner, 1e-6 * sum, sum * (1 - 1e-6));
}

static inline double energy(double s, int n_a, int n_b, double gap) {
  Faces faces = {s, gap, n_a, n_b, 0};
  return minimum(energy_of_norm, &faces, 1 - NORM_WIDTH, 1 - 1e-6 * NORM_WIDTH);
}

/* Fourth-order difference quotient: the search leaves about 1e-15 of the energy, the quotient 1e-8 of the force. */
static inline double searched_force(double s, int n_a, int n_b, double gap) {
  double h = 1e-3 * gap;
  double one = energy(s, n_a, n_b, gap + h) - energy(s, n_a, n_b, gap - h);
  double two = energy(s, n_a, n_b, gap + 2 * h) - energy(s, n_a, n_b, gap - 2 * h);
  return -(8 * one - two) / (12 * h);
}

/* Gap at which the searched force is the wanted one, by bisection. */
static inline double searched_gap(double s, int n_a, int n_b, double wanted) {
  double low = 0.05 * s, high = 2 * s;
  for (int i = 0; i < 30; i++) {
    double middle = 0.5 * (low + high);
    if (searched_force(s, n_a, n_b, middle) > wanted)
      low = middle;
    else
      high = middle;
  }
  return 0.5 * (low + high);
}

#endif
