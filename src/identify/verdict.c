/* Finds, before the fit, the variables that the data do not determine (docs/derivations/identify.md, Q5). */
#include <string.h>

#include "identify/fit.h"
#include "linalg/dense.h"

/* Smallest component of a direction, relative to its largest component, whose variable the text names. */
#define NAMED_MIN 0.15

/* Returns the matrix of the normal equations, in variables divided by their scales. The caller frees it. */
static double* scaled_matrix(const Identification* id) {
  int n = id->variables;
  double* a = MEMORY_NEW(double, n* n + 1);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) a[i * n + k] = id->raw_a[i * n + k] * id->scale[i] * id->scale[k];
  return a;
}

static const char* variable_name(const Identification* id, int k) {
  return optimization_variable(id->optimization, k).name;
}

/* Two components count as equal in magnitude if their relative difference is below this value. */
#define MAGNITUDE_TOLERANCE 0.02
static const char* combination_word(const Identification* id, const double* v, int a, int b) {
  double da = v[a] * id->scale[a], db = v[b] * id->scale[b], xa = id->initial[a], xb = id->initial[b];
  double ra = xa != 0 ? da / xa : 0, rb = xb != 0 ? db / xb : 0;
  if (ra != 0 && rb != 0 && fabs(ra - rb) < MAGNITUDE_TOLERANCE * fabs(ra)) return "ratio";
  if (ra != 0 && rb != 0 && fabs(ra + rb) < MAGNITUDE_TOLERANCE * fabs(ra)) return "product";
  if (fabs(da + db) < MAGNITUDE_TOLERANCE * fabs(da)) return "sum";
  return fabs(da - db) < MAGNITUDE_TOLERANCE * fabs(da) ? "difference" : NULL;
}

/* Adds a sentence such as "mass and stiffness appear only as their ratio". For more than two variables, the sentence
 * says that all of them change in proportion. */
static void add_words(Identification* id, const double* v, const int* named, int count) {
  const char* word = combination_word(id, v, named[0], named[1]);
  for (int k = 2; k < count && word; k++) {
    const char* other = combination_word(id, v, named[0], named[k]);
    if (strcmp(word, "ratio") != 0 || !other || strcmp(other, word) != 0) word = NULL;
  }
  if (!word) return;
  text_add(&id->verdict, "; ");
  for (int k = 0; k < count; k++)
    text_add(&id->verdict, "%s%s", k == 0 ? "" : k == count - 1 ? " and " : ", ", variable_name(id, named[k]));
  text_add(&id->verdict, " appear only as their %s%s", word, count > 2 ? "s" : "");
}

/* Adds an undetermined direction to the text, scaled to a largest component of 1. */
static void add_direction(Identification* id, const double* v) {
  int named = 0, best = 0;
  for (int k = 0; k < id->variables; k++) {
    if (fabs(v[k]) > fabs(v[best])) best = k;
  }
  for (int k = 0; k < id->variables; k++) named += fabs(v[k]) > NAMED_MIN * fabs(v[best]);
  if (named == 1) {
    text_add(&id->verdict, "the data says nothing about %s", variable_name(id, best));
    return;
  }
  text_add(&id->verdict, "the data does not tell apart ");
  for (int k = 0, said = 0; k < id->variables; k++) {
    if (!(fabs(v[k]) > NAMED_MIN * fabs(v[best]))) continue;
    text_add(&id->verdict, "%s%s", said == 0 ? "" : said == named - 1 ? " and " : ", ", variable_name(id, k));
    said++;
  }
  text_add(&id->verdict, ": the residuals do not change if these parameters change together by");
  for (int k = 0; k < id->variables; k++)
    if (fabs(v[k]) > NAMED_MIN * fabs(v[best])) text_add(&id->verdict, " %+.3g", v[k] / v[best] * id->scale[k]);
  int* list = MEMORY_NEW(int, named + 1);
  for (int k = 0, next = 0; k < id->variables; k++)
    if (fabs(v[k]) > NAMED_MIN * fabs(v[best])) list[next++] = k;
  add_words(id, v, list, named);
  memory_free(list);
}

/* Smallest coefficient of a base parameter that is written, in units of the variables' scales. */
#define COEFFICIENT_MIN 1e-3

/* Finds the base parameters, the linear combinations of variables that are constant along all undetermined directions
 * (Q9). The base parameters are x_j - sum over fixed variables d of (dx_j / dx_d) x_d. basis: undetermined directions,
 * one per row; pivot[row]: the variable that is fixed for this direction. */
static void find_base_parameters(Identification* id, const double* basis, const int* pivot, int count) {
  int n = id->variables;
  for (int j = 0; j < n; j++) {
    id->base_parameters[j * n + j] = 1;
    bool combined = false;
    for (int row = 0; row < count && !id->fixed[j]; row++) {
      double slope = basis[row * n + j] / basis[row * n + pivot[row]];
      if (fabs(slope) < COEFFICIENT_MIN) continue;
      id->base_parameters[j * n + pivot[row]] = -slope * id->scale[j] / id->scale[pivot[row]];
      combined = true;
    }
    if (!combined) continue;
    if (id->determined.length > 0) text_add(&id->determined, "\n");
    text_add(&id->determined, "%s", variable_name(id, j));
    for (int k = 0; k < n; k++)
      if (k != j && id->base_parameters[j * n + k] != 0)
        text_add(&id->determined, " %+.4g %s", id->base_parameters[j * n + k], variable_name(id, k));
  }
}

/* Fixes one variable for each undetermined direction, so that the data determine all other variables. */
static void fix_variables(Identification* id, int first) {
  int n = id->variables, count = n - first, rows = 0;
  int* pivot = MEMORY_NEW(int, count + 1);
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
    id->fixed[best] = true;
    pivot[rows++] = best;
    for (int i = 0; i < count; i++) {
      double factor = basis[i * n + best] / basis[row * n + best];
      for (int k = 0; k < n && i != row; k++) basis[i * n + k] -= factor * basis[row * n + k];
    }
  }
  find_base_parameters(id, basis, pivot, rows);
  memory_free(basis);
  memory_free(pivot);
}

/* Computes the eigenvectors of the scaled matrix of the normal equations, id->directions, and its eigenvalues (n),
 * descending. A matrix that is not finite determines nothing and gives 0. */
static void find_directions(Identification* id, double* values) {
  int n = id->variables;
  double *a = scaled_matrix(id), *ascending = MEMORY_NEW(double, n + 1);
  bool sound = dense_eigen(n, a, ascending);
  for (int k = 0; k < n; k++) {
    const double* vector = a + (size_t)(n - 1 - k) * (size_t)n;
    values[k] = sound ? ascending[n - 1 - k] : 0;
    for (int i = 0; i < n; i++) id->directions[k * n + i] = sound ? vector[i] : i == k;
  }
  memory_free(a);
  memory_free(ascending);
}

void check_identifiability(Identification* id) {
  int n = id->variables;
  double* values = MEMORY_NEW(double, n + 1);
  find_directions(id, values);
  id->undetermined = 0;
  for (int k = 0; k < n; k++) {
    double floor = 1e-15 * fmax(values[0], 0);
    id->singular_values[k] = sqrt(fmax(values[k], 0));
    id->deviation[k] = values[k] > floor ? 1 / id->singular_values[k] : (double)INFINITY;
    if (id->deviation[k] <= 1) continue;
    if (id->undetermined++ > 0) text_add(&id->verdict, "\n");
    add_direction(id, id->directions + (size_t)k * (size_t)n);
    if (isfinite(id->deviation[k])) text_add(&id->verdict, " (left uncertain by %.3g times that)", id->deviation[k]);
  }
  if (id->undetermined > 0) fix_variables(id, n - id->undetermined);
  memory_free(values);
}
