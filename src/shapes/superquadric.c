/* Superquadric (B7) as two nested norms: phi = gamma - 1, gamma = (r^q + |z/c|^q)^(1/q), r = (|x/a|^p +
 * |y/b|^p)^(1/p). */
#include "shapes/shape.h"

/* Norm of order n of two numbers (u, v), and quantities for its derivatives. norm: (u^n + v^n)^(1/n). part: u and v
 * divided by norm. less: part^(n - 2). */
typedef struct {
  double norm, part[2], less[2];
} Norm;

/* For ratios t below this value, t^n is computed by math_pow. */
#define RATIO_SMALL 1e-5

/* Returns t^n for a ratio t in [0, 1], with an absolute error of 4e-16. */
static double power(double t, double n) {
  if (t == 1 || n == 0) return 1;
  if (t < RATIO_SMALL) return t > 0 ? math_pow(t, n) : 0;
  return math_exp_nonpositive(-n * math_log_above_one(1 / t));
}

static Norm norm_of(double u, double v, double n) {
  Norm m = {.norm = 0};
  double largest = fmax(u, v);
  if (!(largest > 0)) {
    m.less[0] = m.less[1] = n == 2;
    return m;
  }
  const double ratio[2] = {u / largest, v / largest}, full[2] = {power(ratio[0], n), power(ratio[1], n)};
  double sum = full[0] + full[1], over = math_exp_nonpositive(math_log_above_one(sum) * (-1 / n));
  m.norm = largest / over;
  for (int k = 0; k < 2; k++) {
    m.part[k] = ratio[k] * over;
    double square = m.part[k] * m.part[k];
    m.less[k] = ratio[k] < RATIO_SMALL ? power(m.part[k], n - 2) : full[k] / (sum * square);
  }
  return m;
}

typedef struct {
  double p, q;
  Norm round, whole; /* round: norm of x and y; whole: norm of `round` and z */
  double slope[3];   /* dr/dx, dr/dy, d gamma/dz */
} Quadric;

static double sign(double x) { return x < 0 ? -1 : 1; }

static Quadric quadric_parts(const Shape* shape, Vec3 z) {
  const double* size = shape->size;
  Quadric s = {.p = 2 / shape->exponents[1], .q = 2 / shape->exponents[0]};
  s.round = norm_of(fabs(z.x) / size[0], fabs(z.y) / size[1], s.p);
  s.whole = norm_of(s.round.norm, fabs(z.z) / size[2], s.q);
  s.slope[0] = s.round.less[0] * s.round.part[0] * sign(z.x) / size[0];
  s.slope[1] = s.round.less[1] * s.round.part[1] * sign(z.y) / size[1];
  s.slope[2] = s.whole.less[1] * s.whole.part[1] * sign(z.z) / size[2];
  return s;
}

ShapeValue quadric_evaluate(const Shape* shape, Vec3 z) {
  ShapeValue v = {.value = -1};
  Quadric s = quadric_parts(shape, z);
  if (!(s.whole.norm > 0)) return v;
  const double* size = shape->size;
  double over = 1 / s.whole.norm, by_round = s.whole.less[0] * s.whole.part[0];
  v.value = s.whole.norm - 1;
  v.gradient = vec3(by_round * s.slope[0], by_round * s.slope[1], s.slope[2]);
  double bend = (s.q - 1) * over * (s.whole.less[0] - by_round * by_round);
  double within = (s.p - 1) * over * s.whole.less[0]; /* d gamma/dr (p - 1)/r */
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 2; k++) v.hessian.m[i][k] = (bend - within) * s.slope[i] * s.slope[k];
    v.hessian.m[i][i] += within * s.round.less[i] / (size[i] * size[i]);
    v.hessian.m[i][2] = v.hessian.m[2][i] = -(s.q - 1) * over * by_round * s.slope[i] * s.slope[2];
  }
  v.hessian.m[2][2] = (s.q - 1) * over * (s.whole.less[1] / (size[2] * size[2]) - s.slope[2] * s.slope[2]);
  return v;
}

/* Returns t^n log t for t = m->part[k], where n is the order of the norm *m. */
static double entropy(const Norm* m, int k) {
  return m->part[k] > 0 ? m->less[k] * m->part[k] * m->part[k] * math_log(m->part[k]) : 0;
}

static double logarithm(double t) { return t > 0 ? math_log(t) : 0; }

/* The components of the gradient are products of powers, so their logarithms are differentiated. Parameters k = 0 to 4
 * are e1, e2, a, b, c. */
void quadric_parameter_derivative(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient) {
  Quadric s = quadric_parts(shape, z);
  ShapeValue v = quadric_evaluate(shape, z);
  *value = 0;
  *gradient = vec3(0, 0, 0);
  if (!(s.whole.norm > 0)) return;
  double in_whole = s.whole.less[0] * s.whole.part[0] * s.whole.part[0]; /* share of r^q in gamma^q = r^q + |z/c|^q */
  double dq = k == 0 ? -2 / (shape->exponents[0] * shape->exponents[0]) : 0;
  double dp = k == 1 ? -2 / (shape->exponents[1] * shape->exponents[1]) : 0;
  double size[3] = {0}; /* derivatives of the logarithms of the semi-axes */
  if (k >= 2) size[k - 2] = 1 / shape->size[k - 2];
  double round = dp * (entropy(&s.round, 0) + entropy(&s.round, 1)) / s.p; /* derivative of log r */
  for (int i = 0; i < 2; i++) round -= s.round.less[i] * s.round.part[i] * s.round.part[i] * size[i];
  double whole = dq * (entropy(&s.whole, 0) + entropy(&s.whole, 1)) / s.q + in_whole * round -
                 s.whole.less[1] * s.whole.part[1] * s.whole.part[1] * size[2]; /* derivative of log gamma */
  *value = s.whole.norm * whole;
  double factor[3];
  for (int i = 0; i < 2; i++)
    factor[i] = (s.q - 1) * (round - whole) + dq * logarithm(s.whole.part[0]) + (s.p - 1) * (-size[i] - round) +
                dp * logarithm(s.round.part[i]) - size[i];
  factor[2] = (s.q - 1) * (-size[2] - whole) + dq * logarithm(s.whole.part[1]) - size[2];
  *gradient = vec3(v.gradient.x * factor[0], v.gradient.y * factor[1], v.gradient.z * factor[2]);
}

/* Returns the distance of the farthest point in the x-y plane (B5). The maximum of u^2 + v^2 subject to (u/a)^n +
 * (v/b)^n = 1, n >= 2, is the squared norm of (a, b) of order 2 n / (n - 2). */
static double farthest(double a, double b, double n) {
  double largest = fmax(a, b), order = 2 * n / (n - 2);
  if (n == 2) return largest;
  return largest * math_pow(math_pow(a / largest, order) + math_pow(b / largest, order), 1 / order);
}

const char* quadric_create(Shape* shape, const ShapeDefinition* form) {
  for (int k = 0; k < 2; k++) {
    if (!(form->exponents[k] >= SHAPE_EXPONENT_MIN && form->exponents[k] <= 1))
      return "exponents must be between 1/32 and 1";
    shape->exponents[k] = form->exponents[k];
  }
  const double* size = form->size;
  for (int k = 0; k < 3; k++) shape->size[k] = size[k];
  shape->inner = fmin(size[0], fmin(size[1], size[2]));
  shape->outer = farthest(farthest(size[0], size[1], 2 / shape->exponents[1]), size[2], 2 / shape->exponents[0]);
  shape->exponent = 1 / fmin(shape->exponents[0], shape->exponents[1]);
  return NULL;
}
