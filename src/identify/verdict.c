/* What the data cannot tell, said before anything is fitted (docs/derivations/identify.md, Q5). */
#include <string.h>

#include "identify/fit.h"

/* A part of a direction that is worth naming. */
#define NAMED 0.15

/* A in units of large changes. */
static double* scaled_matrix(const Identification* id) {
  int n = id->variables;
  double* a = MEMORY_NEW(double, n* n + 1);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) a[i * n + k] = id->raw_a[i * n + k] * id->scale[i] * id->scale[k];
  return a;
}

static const char* name_of(const Identification* id, int k) { return optimization_variable(id->optimization, k).name; }

/* The largest part of a direction is 1 in what is printed. */
static void add_direction(Identification* id, const double* v) {
  int named = 0, best = 0;
  for (int k = 0; k < id->variables; k++) {
    if (fabs(v[k]) > fabs(v[best])) best = k;
  }
  for (int k = 0; k < id->variables; k++) named += fabs(v[k]) > NAMED * fabs(v[best]);
  if (named == 1) {
    text_add(&id->verdict, "the data says nothing about %s", name_of(id, best));
    return;
  }
  text_add(&id->verdict, "the data does not tell apart ");
  for (int k = 0, said = 0; k < id->variables; k++) {
    if (!(fabs(v[k]) > NAMED * fabs(v[best]))) continue;
    text_add(&id->verdict, "%s%s", said == 0 ? "" : said == named - 1 ? " and " : ", ", name_of(id, k));
    said++;
  }
  text_add(&id->verdict, ": all stays as it is when they change together, by");
  for (int k = 0; k < id->variables; k++)
    if (fabs(v[k]) > NAMED * fabs(v[best])) text_add(&id->verdict, " %+.3g", v[k] / v[best] * id->scale[k]);
}

/* Directions without information are spanned with one variable of its own each: held, it makes the others known. */
static void hold_variables(Identification* id, int first) {
  int n = id->variables, count = n - first;
  double* basis = MEMORY_NEW(double, count* n + 1);
  memcpy(basis, id->directions + (size_t)first * (size_t)n, sizeof(double) * (size_t)(count * n));
  for (int row = 0; row < count; row++) {
    int best_row = row, best = 0;
    for (int i = row; i < count; i++)
      for (int k = 0; k < n; k++)
        if (fabs(basis[i * n + k]) > fabs(basis[best_row * n + best])) best_row = i, best = k;
    for (int k = 0; k < n; k++) {
      double other = basis[row * n + k];
      basis[row * n + k] = basis[best_row * n + k];
      basis[best_row * n + k] = other;
    }
    if (!(fabs(basis[row * n + best]) > 0)) break;
    id->held[best] = true;
    for (int i = 0; i < count; i++) {
      double factor = basis[i * n + best] / basis[row * n + best];
      for (int k = 0; k < n && i != row; k++) basis[i * n + k] -= factor * basis[row * n + k];
    }
  }
  memory_free(basis);
}

void find_verdict(Identification* id) {
  int n = id->variables;
  double *a = scaled_matrix(id), *values = MEMORY_NEW(double, n + 1);
  dense_eigen(n, a, values, id->directions);
  id->undetermined = 0;
  for (int k = 0; k < n; k++) {
    double floor = 1e-15 * fmax(values[0], 0);
    id->singular[k] = sqrt(fmax(values[k], 0));
    id->deviation[k] = values[k] > floor ? 1 / id->singular[k] : (double)INFINITY;
    if (id->deviation[k] <= 1) continue;
    if (id->undetermined++ > 0) text_add(&id->verdict, "\n");
    add_direction(id, id->directions + (size_t)k * (size_t)n);
    text_add(&id->verdict, " (left uncertain by %.3g times that)", id->deviation[k]);
  }
  if (id->undetermined > 0) hold_variables(id, n - id->undetermined);
  memory_free(a);
  memory_free(values);
}
