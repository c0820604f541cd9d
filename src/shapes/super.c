/* Superellipsoid and superelliptic cylinder (shapes.md, B3): phi = gamma - 1 with gamma = (sum_i t_i^2n)^(1/2n) and t_i
 * = |x_i| / a_i. Here a_i are the semi-axes, n the exponent. For a cylinder the distance from its axis is the first of
 * two coordinates x_i. */
#include "base/lanes.h"
#include "shapes/shape.h"

/* Powers t^(2n) and t^(2n-2) of three ratios t in [0, 1], for the exponent n of the shape. */
typedef struct {
  Lanes power, scaled_power;
} RatioPowers;

static RatioPowers compute_powers(const Shape* shape, Lanes t) {
  Lanes square = t * t;
  if (shape->integer_exponent == 0) {
    RatioPowers p = {{0}, {0}};
    for (int i = 0; i < 3; i++) {
      if (!(t[i] > 0)) continue; /* the powers stay zero, because the exponent is above 1 */
      p.power[i] = math_pow(square[i], shape->exponent);
      p.scaled_power[i] = p.power[i] / square[i];
    }
    return p;
  }
  Lanes scaled_power = lanes_broadcast(1), factor = square;
  for (int k = shape->integer_exponent - 1; k > 0; k >>= 1, factor *= factor)
    if (k & 1) scaled_power *= factor;
  return (RatioPowers){scaled_power * square, scaled_power};
}

/* Gauge gamma of a superellipsoid or cylinder, with the quantities that its derivatives need. Lane i belongs to
 * semi-axis i; unused lanes are zero. */
typedef struct {
  double gamma;
  int parts;
  Lanes x, power, scaled_power, ratio; /* x: coordinates x_i; power, scaled_power, ratio: t_i^2n, t_i^(2n-2) and t_i for
                                          t_i = |x_i| / (a_i gamma) */
} GaugeParts;

static GaugeParts compute_gauge_parts(const Shape* shape, Vec3 z) {
  GaugeParts s = {0};
  bool is_cylinder = shape->kind == SMOOTH_CYLINDER;
  s.parts = is_cylinder ? 2 : 3;
  if (is_cylinder)
    s.x = (Lanes){sqrt(z.y * z.y + z.z * z.z), fabs(z.x)};
  else
    s.x = (Lanes){fabs(z.x), fabs(z.y), fabs(z.z)};
  s.ratio = s.x * (Lanes){shape->inverse_size[0], shape->inverse_size[1], is_cylinder ? 0 : shape->inverse_size[2]};
  double largest = s.ratio[0] > s.ratio[1] ? s.ratio[0] : s.ratio[1];
  if (s.ratio[2] > largest) largest = s.ratio[2];
  if (!(largest > 0)) return s;
  double inverse_largest = 1 / largest;
  RatioPowers p =
      compute_powers(shape, lanes_select(s.ratio == largest, lanes_broadcast(1), s.ratio * inverse_largest));
  double sum = p.power[0] + p.power[1] + p.power[2]; /* in [1, 3], so its root loses no digits */
  double inverse = shape->integer_exponent == 1
                       ? 1 / sqrt(sum)
                       : math_exp_nonpositive(math_log_above_one(sum) * (-0.5 / shape->exponent));
  double root = 1 / inverse, whole = 1 / sum, scaled_power = whole * root * root;
  s.gamma = largest * root;
  s.ratio *= inverse * inverse_largest;
  s.power = p.power * whole;
  s.scaled_power = p.scaled_power * scaled_power;
  return s;
}

/* The closed form of ellipsoids is used if the squared gauge gamma^2 is between MIN_SQUARE and MAX_SQUARE. In this
 * range, derivatives neither overflow nor underflow. */
#define MAX_SQUARE 1e200
#define MIN_SQUARE 1e-200

/* Evaluates an ellipsoid (n = 1): gamma^2 = sum (x_i / a_i)^2, gradient g_i = x_i / (a_i^2 gamma), Hessian (diag(1 /
 * a_i^2) - g g^T) / gamma. square: gamma^2. */
static ShapeValue ellipsoid_evaluate(const Shape* shape, Vec3 z, double square) {
  const double* inverse = shape->inverse_size;
  double gamma = sqrt(square), inverse_largest = 1 / gamma;
  Vec3 curvatures = vec3(inverse[0] * inverse[0] * inverse_largest, inverse[1] * inverse[1] * inverse_largest,
                         inverse[2] * inverse[2] * inverse_largest);
  Vec3 g = vec3(curvatures.x * z.x, curvatures.y * z.y, curvatures.z * z.z), b = vec3_scale(g, -inverse_largest);
  // clang-format off
  return (ShapeValue){gamma - 1, g, {{{curvatures.x + g.x * b.x, g.x * b.y, g.x * b.z},
                                      {g.x * b.y, curvatures.y + g.y * b.y, g.y * b.z},
                                      {g.x * b.z, g.y * b.z, curvatures.z + g.z * b.z}}}};
  // clang-format on
}

/* Component i of the gradient g is ratio_i^(2n-2) x_i / (a_i^2 gamma), with semi-axes a_i, exponent n and gauge gamma.
 * The Hessian is -(2n-1)/gamma g g^T plus the curvature of the single terms. */
ShapeValue super_evaluate(const Shape* shape, Vec3 z) {
  ShapeValue v = {.value = -1};
  if (shape->kind == SMOOTH_SUPERELLIPSOID && shape->integer_exponent == 1) {
    const double x = z.x * shape->inverse_size[0], y = z.y * shape->inverse_size[1], w = z.z * shape->inverse_size[2];
    double square = x * x + y * y + w * w;
    if (square > MIN_SQUARE && square < MAX_SQUARE) return ellipsoid_evaluate(shape, z, square);
  }
  GaugeParts s = compute_gauge_parts(shape, z);
  if (!(s.gamma > 0)) return v;
  double odd = 2 * shape->exponent - 1, inverse = 1 / s.gamma, curvature = -odd * inverse;
  Lanes per = {shape->inverse_size[0], shape->inverse_size[1], shape->inverse_size[2]},
        curvatures = s.scaled_power * inverse * per * per;
  bool is_cylinder = shape->kind == SMOOTH_CYLINDER;
  Vec3 g = is_cylinder ? vec3(curvatures[1] * z.x, curvatures[0] * z.y, curvatures[0] * z.z)
                       : vec3(curvatures[0] * z.x, curvatures[1] * z.y, curvatures[2] * z.z);
  double xx = g.x * g.x * curvature, yy = g.y * g.y * curvature, zz = g.z * g.z * curvature;
  double xy = g.x * g.y * curvature, xz = g.x * g.z * curvature, yz = g.y * g.z * curvature;
  if (is_cylinder) {
    double radial = s.x[0] > 0 ? (odd - 1) * curvatures[0] / (s.x[0] * s.x[0]) : 0;
    xx += odd * curvatures[1];
    yy += curvatures[0] + radial * z.y * z.y;
    zz += curvatures[0] + radial * z.z * z.z;
    yz += radial * z.y * z.z;
  } else {
    xx += odd * curvatures[0];
    yy += odd * curvatures[1];
    zz += odd * curvatures[2];
  }
  return (ShapeValue){s.gamma - 1, g, {{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}}};
}

/* For the gauge gamma, semi-axes a_k, exponent n and ratios t_k = |x_k| / (a_k gamma): d gamma / da_k = -gamma t_k^2n /
 * a_k, d gamma / dn = gamma/n sum t_i^2n log t_i. The components of the gradient are products of powers and are
 * differentiated logarithmically. */
void super_parameter_derivative(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient) {
  GaugeParts s = compute_gauge_parts(shape, z);
  ShapeValue v = super_evaluate(shape, z);
  double n = shape->exponent, factor[3] = {0};
  *value = 0;
  *gradient = vec3(0, 0, 0);
  if (!(s.gamma > 0)) return;
  if (k == 0) {
    double mean = 0;
    for (int i = 0; i < s.parts; i++) mean += s.ratio[i] > 0 ? s.power[i] * math_log(s.ratio[i]) / n : 0;
    *value = s.gamma * mean;
    for (int i = 0; i < s.parts; i++) factor[i] = s.ratio[i] > 0 ? 2 * math_log(s.ratio[i]) - (2 * n - 1) * mean : 0;
  } else {
    double size = shape->size[k - 1];
    *value = -s.gamma * s.power[k - 1] / size;
    for (int i = 0; i < s.parts; i++) factor[i] = ((2 * n - 1) * s.power[k - 1] - (i == k - 1 ? 2 * n : 0)) / size;
  }
  bool is_cylinder = shape->kind == SMOOTH_CYLINDER;
  *gradient = vec3(v.gradient.x * factor[is_cylinder ? 1 : 0], v.gradient.y * factor[is_cylinder ? 0 : 1],
                   v.gradient.z * factor[is_cylinder ? 0 : 2]);
}

/* Returns the distance of the farthest point from the centre (B5). The square of the distance is the maximum of sum
 * a_i^2 s_i subject to sum s_i^n = 1, which is the dual norm of the a_i^2. */
static double farthest_distance(const Shape* shape, int parts) {
  double largest = 0, sum = 0, n = shape->exponent;
  for (int i = 0; i < parts; i++) largest = fmax(largest, shape->size[i]);
  if (n == 1) return largest;
  for (int i = 0; i < parts; i++) sum += math_pow(shape->size[i] / largest, 2 * n / (n - 1));
  return largest * math_pow(sum, (n - 1) / (2 * n));
}

const char* super_create(Shape* shape, const ShapeDefinition* definition) {
  int parts = definition->kind == SMOOTH_CYLINDER ? 2 : 3;
  if (!(definition->exponent >= 1 && definition->exponent <= SHAPE_EXPONENT_MAX))
    return "exponent must be between 1 and 64";
  shape->exponent = definition->exponent;
  shape->integer_exponent = floor(definition->exponent) == definition->exponent ? (int)definition->exponent : 0;
  shape->inner = definition->size[0];
  for (int i = 0; i < parts; i++) {
    shape->size[i] = definition->size[i];
    shape->inverse_size[i] = 1 / definition->size[i];
    shape->inner = fmin(shape->inner, definition->size[i]);
  }
  shape->outer = farthest_distance(shape, parts);
  return NULL;
}
