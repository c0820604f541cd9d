/* Superquadric (shapes.md, B7) as two nested norms: phi = gamma - 1, gamma = (r^q + |z/c|^q)^(1/q), r = (|x/a|^p +
 * |y/b|^p)^(1/p). */
#include "shapes/shape.h"

/* Norm of order n of two numbers (u, v), and quantities for its derivatives. norm: (u^n + v^n)^(1/n). ratio_to_norm: u
 * and v divided by norm. scaled_power: ratio_to_norm^(n - 2). */
typedef struct {
  double norm, ratio_to_norm[2], scaled_power[2];
} PairNorm;

/* For ratios t below this value, t^n is computed by math_pow. */
#define MIN_DIRECT_RATIO 1e-5

/* Returns t^n for a ratio t in [0, 1], with an absolute error of 4e-16. */
static double unit_power(double t, double n) {
  if (t == 1 || n == 0) return 1;
  if (t < MIN_DIRECT_RATIO) return t > 0 ? math_pow(t, n) : 0;
  return math_exp_nonpositive(-n * math_log_above_one(1 / t));
}

static PairNorm compute_norm(double u, double v, double n) {
  PairNorm m = {.norm = 0};
  double largest = fmax(u, v);
  if (!(largest > 0)) {
    m.scaled_power[0] = m.scaled_power[1] = n == 2;
    return m;
  }
  const double ratio[2] = {u / largest, v / largest}, full[2] = {unit_power(ratio[0], n), unit_power(ratio[1], n)};
  double sum = full[0] + full[1], inverse = math_exp_nonpositive(math_log_above_one(sum) * (-1 / n));
  m.norm = largest / inverse;
  for (int k = 0; k < 2; k++) {
    m.ratio_to_norm[k] = ratio[k] * inverse;
    double square = m.ratio_to_norm[k] * m.ratio_to_norm[k];
    m.scaled_power[k] = ratio[k] < MIN_DIRECT_RATIO ? unit_power(m.ratio_to_norm[k], n - 2) : full[k] / (sum * square);
  }
  return m;
}

typedef struct {
  double p, q;
  PairNorm inner, outer; /* inner: r, the norm of x/a and y/b; outer: gamma, the norm of r and z/c */
  double slope[3];       /* dr/dx, dr/dy, d gamma/dz */
} QuadricNorms;

static double sign(double x) { return x < 0 ? -1 : 1; }

static QuadricNorms compute_norms_and_slopes(const Shape* shape, Vec3 z) {
  const double* size = shape->size;
  QuadricNorms s = {.p = 2 / shape->exponents[1], .q = 2 / shape->exponents[0]};
  s.inner = compute_norm(fabs(z.x) / size[0], fabs(z.y) / size[1], s.p);
  s.outer = compute_norm(s.inner.norm, fabs(z.z) / size[2], s.q);
  s.slope[0] = s.inner.scaled_power[0] * s.inner.ratio_to_norm[0] * sign(z.x) / size[0];
  s.slope[1] = s.inner.scaled_power[1] * s.inner.ratio_to_norm[1] * sign(z.y) / size[1];
  s.slope[2] = s.outer.scaled_power[1] * s.outer.ratio_to_norm[1] * sign(z.z) / size[2];
  return s;
}

ShapeValue quadric_evaluate(const Shape* shape, Vec3 z) {
  ShapeValue v = {.value = -1};
  QuadricNorms s = compute_norms_and_slopes(shape, z);
  if (!(s.outer.norm > 0)) return v;
  const double* size = shape->size;
  double inverse = 1 / s.outer.norm, by_inner = s.outer.scaled_power[0] * s.outer.ratio_to_norm[0];
  v.value = s.outer.norm - 1;
  v.gradient = vec3(by_inner * s.slope[0], by_inner * s.slope[1], s.slope[2]);
  double outer_curvature = (s.q - 1) * inverse * (s.outer.scaled_power[0] - by_inner * by_inner);
  double inner_curvature = (s.p - 1) * inverse * s.outer.scaled_power[0]; /* d gamma/dr (p - 1)/r */
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 2; k++) v.hessian.m[i][k] = (outer_curvature - inner_curvature) * s.slope[i] * s.slope[k];
    v.hessian.m[i][i] += inner_curvature * s.inner.scaled_power[i] / (size[i] * size[i]);
    v.hessian.m[i][2] = v.hessian.m[2][i] = -(s.q - 1) * inverse * by_inner * s.slope[i] * s.slope[2];
  }
  v.hessian.m[2][2] = (s.q - 1) * inverse * (s.outer.scaled_power[1] / (size[2] * size[2]) - s.slope[2] * s.slope[2]);
  return v;
}

/* Returns t^n log t for t = m->part[k], where n is the order of the norm *m. */
static double power_times_log(const PairNorm* m, int k) {
  return m->ratio_to_norm[k] > 0
             ? m->scaled_power[k] * m->ratio_to_norm[k] * m->ratio_to_norm[k] * math_log(m->ratio_to_norm[k])
             : 0;
}

static double log_or_zero(double t) { return t > 0 ? math_log(t) : 0; }

/* The components of the gradient are products of powers, so their logarithms are differentiated. Parameters k = 0 to 4
 * are e1, e2, a, b, c. */
void quadric_parameter_derivative(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient) {
  QuadricNorms s = compute_norms_and_slopes(shape, z);
  ShapeValue v = quadric_evaluate(shape, z);
  *value = 0;
  *gradient = vec3(0, 0, 0);
  if (!(s.outer.norm > 0)) return;
  double inner_share = s.outer.scaled_power[0] * s.outer.ratio_to_norm[0] *
                       s.outer.ratio_to_norm[0]; /* share of r^q in gamma^q = r^q + |z/c|^q */
  double dq = k == 0 ? -2 / (shape->exponents[0] * shape->exponents[0]) : 0;
  double dp = k == 1 ? -2 / (shape->exponents[1] * shape->exponents[1]) : 0;
  double size[3] = {0}; /* derivatives of the logarithms of the semi-axes a, b, c with respect to the parameter */
  if (k >= 2) size[k - 2] = 1 / shape->size[k - 2];
  /* derivative of log r, where r is the norm of order p of x/a and y/b */
  double inner = dp * (power_times_log(&s.inner, 0) + power_times_log(&s.inner, 1)) / s.p;
  for (int i = 0; i < 2; i++)
    inner -= s.inner.scaled_power[i] * s.inner.ratio_to_norm[i] * s.inner.ratio_to_norm[i] * size[i];
  double outer = dq * (power_times_log(&s.outer, 0) + power_times_log(&s.outer, 1)) / s.q + inner_share * inner -
                 s.outer.scaled_power[1] * s.outer.ratio_to_norm[1] * s.outer.ratio_to_norm[1] *
                     size[2]; /* derivative of the logarithm of the gauge */
  *value = s.outer.norm * outer;
  double factor[3];
  for (int i = 0; i < 2; i++)
    factor[i] = (s.q - 1) * (inner - outer) + dq * log_or_zero(s.outer.ratio_to_norm[0]) +
                (s.p - 1) * (-size[i] - inner) + dp * log_or_zero(s.inner.ratio_to_norm[i]) - size[i];
  factor[2] = (s.q - 1) * (-size[2] - outer) + dq * log_or_zero(s.outer.ratio_to_norm[1]) - size[2];
  *gradient = vec3(v.gradient.x * factor[0], v.gradient.y * factor[1], v.gradient.z * factor[2]);
}

/* Returns the distance of the farthest point in the x-y plane (B5). The maximum of u^2 + v^2 subject to (u/a)^n +
 * (v/b)^n = 1, n >= 2, is the squared norm of (a, b) of order 2 n / (n - 2). */
static double farthest_distance(double a, double b, double n) {
  double largest = fmax(a, b), order = 2 * n / (n - 2);
  if (n == 2) return largest;
  return largest * math_pow(math_pow(a / largest, order) + math_pow(b / largest, order), 1 / order);
}

const char* quadric_create(Shape* shape, const ShapeDefinition* definition) {
  for (int k = 0; k < 2; k++) {
    if (!(definition->exponents[k] >= SHAPE_EXPONENT_MIN && definition->exponents[k] <= 1))
      return "exponents must be between 1/32 and 1";
    shape->exponents[k] = definition->exponents[k];
  }
  const double* size = definition->size;
  for (int k = 0; k < 3; k++) shape->size[k] = size[k];
  shape->inner = fmin(size[0], fmin(size[1], size[2]));
  shape->outer =
      farthest_distance(farthest_distance(size[0], size[1], 2 / shape->exponents[1]), size[2], 2 / shape->exponents[0]);
  shape->exponent = 1 / fmin(shape->exponents[0], shape->exponents[1]);
  return NULL;
}
