/* Inertias as variables. The parametrization admits physical inertias only (docs/derivations/design.md, D9). */
#include "optimize/design.h"

#include <assert.h>

#define EULER 2.718281828459045

/* Returns the second moment of the mass about the centre of mass, P = tr(I) / 2 1 - I with the inertia matrix I.
 * inertia: entries xx, yy, zz, xy, xz, yz of I. */
static Mat3 second_moment(const double inertia[6]) {
  double half = 0.5 * (inertia[0] + inertia[1] + inertia[2]);
  return (Mat3){{{half - inertia[0], -inertia[3], -inertia[4]},
                 {-inertia[3], half - inertia[1], -inertia[5]},
                 {-inertia[4], -inertia[5], half - inertia[2]}}};
}

/* Computes the upper triangular factor V of the second moment of the mass, P = V V^T. Returns false if P is not
 * positive definite. */
static bool factor_upper(Mat3 p, Mat3* v) {
  *v = mat3_zero();
  for (int j = 2; j >= 0; j--) {
    double rest = p.m[j][j];
    for (int k = j + 1; k < 3; k++) rest -= v->m[j][k] * v->m[j][k];
    if (!(rest > 0)) return false;
    v->m[j][j] = sqrt(rest);
    for (int i = 0; i < j; i++) {
      double sum = p.m[i][j];
      for (int k = j + 1; k < 3; k++) sum -= v->m[i][k] * v->m[j][k];
      v->m[i][j] = sum / v->m[j][j];
    }
  }
  return true;
}

bool inertia_factor(const double inertia[6], double root[6]) {
  assert(inertia && root);
  Mat3 v;
  if (!factor_upper(second_moment(inertia), &v)) return false;
  const double out[6] = {v.m[0][0], v.m[1][1], v.m[2][2], v.m[0][1], v.m[0][2], v.m[1][2]};
  for (int k = 0; k < 6; k++) root[k] = out[k];
  return true;
}

void design_inertia_values(const DesignInertia* parameters, const double* x, double inertia[6]) {
  const double* t = x + parameters->variable_first;
  double d[3], above[3];
  for (int k = 0; k < 3; k++) d[k] = math_pow(EULER, t[k]);
  const double column[3] = {d[1], d[2], d[2]};
  for (int k = 0; k < 3; k++) above[k] = parameters->full ? t[3 + k] : parameters->above[k] * column[k];
  Mat3 v = {{{d[0], above[0], above[1]}, {0, d[1], above[2]}, {0, 0, d[2]}}}, p = mat3_mul(v, mat3_transpose(v));
  double trace = mat3_trace(p);
  for (int k = 0; k < 3; k++) inertia[k] = trace - p.m[k][k];
  inertia[3] = -p.m[0][1];
  inertia[4] = -p.m[0][2];
  inertia[5] = -p.m[1][2];
}

/* Chain rule from the six entries of the inertia I to the factor V of P = V V^T, then to the variables (D9). dI =
 * tr(dP) 1 - dP and dP = dV V^T + V dV^T, so that the derivative with respect to V is 2 B V. B = tr(G) 1 - G, with G
 * the derivative of the loss with respect to I. */
void design_inertia_gradient(const DesignInertia* parameters, const double inertia[6], const double by_inertia[6],
                             double* gradient) {
  const double* g = by_inertia;
  double trace = g[0] + g[1] + g[2], *out = gradient + parameters->variable_first;
  Mat3 v, b = {{{trace - g[0], -0.5 * g[3], -0.5 * g[4]},
                {-0.5 * g[3], trace - g[1], -0.5 * g[5]},
                {-0.5 * g[4], -0.5 * g[5], trace - g[2]}}};
  if (!factor_upper(second_moment(inertia), &v)) return; /* the values are no physical inertia */
  Mat3 bar = mat3_scale(mat3_mul(b, v), 2);
  const double above[3] = {bar.m[0][1], bar.m[0][2], bar.m[1][2]};
  for (int k = 0; k < 3; k++) out[k] += bar.m[k][k] * v.m[k][k];
  for (int k = 0; k < 3 && parameters->full; k++) out[3 + k] += above[k];
  if (parameters->full) return;
  out[1] +=
      above[0] * v.m[0][1]; /* entries above the diagonal are proportional to the diagonal entry of their column */
  out[2] += above[1] * v.m[0][2] + above[2] * v.m[1][2];
}
