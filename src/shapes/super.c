/* Superellipsoid and superelliptic cylinder (B3): phi = gamma - 1 with gamma = (sum_i t_i^2n)^(1/2n) and t_i = |x_i| /
 * a_i. The first component of a cylinder is the distance from its axis. */
#include "base/lanes.h"
#include "shapes/shape.h"

/* t^(2n) and t^(2n-2) for ratios t in [0, 1]. */
typedef struct {
  Lanes full, less;
} Powers;

static Powers powers_of(const Shape* shape, Lanes t) {
  Lanes square = t * t;
  if (shape->whole == 0) {
    Powers p = {{0}, {0}};
    for (int i = 0; i < 3; i++) {
      if (!(t[i] > 0)) continue; /* the powers stay zero, because the exponent is above 1 */
      p.full[i] = math_pow(square[i], shape->exponent);
      p.less[i] = p.full[i] / square[i];
    }
    return p;
  }
  Lanes less = lanes_broadcast(1), factor = square;
  for (int k = shape->whole - 1; k > 0; k >>= 1, factor *= factor)
    if (k & 1) less *= factor;
  return (Powers){less * square, less};
}

/* Gauge gamma of a superellipsoid or cylinder, with the quantities that its derivatives need. Lane i belongs to
 * semi-axis i; unused lanes are zero. */
typedef struct {
  double gamma;
  int parts;
  Lanes x, full, less, ratio; /* t_i^2n, t_i^(2n-2) and t_i for t_i = |x_i| / (a_i gamma) */
} Super;

static Super super_parts(const Shape* shape, Vec3 z) {
  Super s = {0};
  bool round = shape->kind == SMOOTH_CYLINDER;
  s.parts = round ? 2 : 3;
  if (round)
    s.x = (Lanes){sqrt(z.y * z.y + z.z * z.z), fabs(z.x)};
  else
    s.x = (Lanes){fabs(z.x), fabs(z.y), fabs(z.z)};
  s.ratio = s.x * (Lanes){shape->over[0], shape->over[1], round ? 0 : shape->over[2]};
  double largest = s.ratio[0] > s.ratio[1] ? s.ratio[0] : s.ratio[1];
  if (s.ratio[2] > largest) largest = s.ratio[2];
  if (!(largest > 0)) return s;
  double by = 1 / largest;
  Powers p = powers_of(shape, lanes_select(s.ratio == largest, lanes_broadcast(1), s.ratio * by));
  double sum = p.full[0] + p.full[1] + p.full[2]; /* in [1, 3], so its root loses no digits */
  double over =
      shape->whole == 1 ? 1 / sqrt(sum) : math_exp_nonpositive(math_log_above_one(sum) * (-0.5 / shape->exponent));
  double root = 1 / over, whole = 1 / sum, less = whole * root * root;
  s.gamma = largest * root;
  s.ratio *= over * by;
  s.full = p.full * whole;
  s.less = p.less * less;
  return s;
}

/* The closed form of ellipsoids is used if the squared gauge gamma^2 is between SQUARE_LEAST and SQUARE_MOST. In this
 * range, derivatives neither overflow nor underflow. */
#define SQUARE_MOST 1e200
#define SQUARE_LEAST 1e-200

/* Ellipsoid (n = 1): gamma^2 = sum (x_i / a_i)^2, the gradient is g_i = x_i / (a_i^2 gamma), the Hessian (diag(1 /
 * a_i^2) - g g^T) / gamma. */
static ShapeValue ellipsoid_evaluate(const Shape* shape, Vec3 z, double square) {
  const double* over = shape->over;
  double gamma = sqrt(square), by = 1 / gamma;
  Vec3 flat = vec3(over[0] * over[0] * by, over[1] * over[1] * by, over[2] * over[2] * by);
  Vec3 g = vec3(flat.x * z.x, flat.y * z.y, flat.z * z.z), b = vec3_scale(g, -by);
  // clang-format off
  return (ShapeValue){gamma - 1, g, {{{flat.x + g.x * b.x, g.x * b.y, g.x * b.z},
                                      {g.x * b.y, flat.y + g.y * b.y, g.y * b.z},
                                      {g.x * b.z, g.y * b.z, flat.z + g.z * b.z}}}};
  // clang-format on
}

/* grad_i = less_i x_i / (a_i^2 gamma); H = -(2n-1)/gamma g g^T + curvature of the parts. */
ShapeValue super_evaluate(const Shape* shape, Vec3 z) {
  ShapeValue v = {.value = -1};
  if (shape->kind == SMOOTH_SUPERELLIPSOID && shape->whole == 1) {
    const double x = z.x * shape->over[0], y = z.y * shape->over[1], w = z.z * shape->over[2];
    double square = x * x + y * y + w * w;
    if (square > SQUARE_LEAST && square < SQUARE_MOST) return ellipsoid_evaluate(shape, z, square);
  }
  Super s = super_parts(shape, z);
  if (!(s.gamma > 0)) return v;
  double odd = 2 * shape->exponent - 1, over = 1 / s.gamma, bend = -odd * over;
  Lanes per = {shape->over[0], shape->over[1], shape->over[2]}, flat = s.less * over * per * per;
  bool round = shape->kind == SMOOTH_CYLINDER;
  Vec3 g =
      round ? vec3(flat[1] * z.x, flat[0] * z.y, flat[0] * z.z) : vec3(flat[0] * z.x, flat[1] * z.y, flat[2] * z.z);
  double xx = g.x * g.x * bend, yy = g.y * g.y * bend, zz = g.z * g.z * bend;
  double xy = g.x * g.y * bend, xz = g.x * g.z * bend, yz = g.y * g.z * bend;
  if (round) {
    double along = s.x[0] > 0 ? (odd - 1) * flat[0] / (s.x[0] * s.x[0]) : 0;
    xx += odd * flat[1];
    yy += flat[0] + along * z.y * z.y;
    zz += flat[0] + along * z.z * z.z;
    yz += along * z.y * z.z;
  } else {
    xx += odd * flat[0];
    yy += odd * flat[1];
    zz += odd * flat[2];
  }
  return (ShapeValue){s.gamma - 1, g, {{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}}};
}

/* d gamma / da_k = -gamma t_k^2n / a_k, d gamma / dn = gamma/n sum t_i^2n log t_i. The components of the gradient are
 * products of powers and are differentiated logarithmically. */
void super_parameter_derivative(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient) {
  Super s = super_parts(shape, z);
  ShapeValue v = super_evaluate(shape, z);
  double n = shape->exponent, factor[3] = {0};
  *value = 0;
  *gradient = vec3(0, 0, 0);
  if (!(s.gamma > 0)) return;
  if (k == 0) {
    double mean = 0;
    for (int i = 0; i < s.parts; i++) mean += s.ratio[i] > 0 ? s.full[i] * math_log(s.ratio[i]) / n : 0;
    *value = s.gamma * mean;
    for (int i = 0; i < s.parts; i++) factor[i] = s.ratio[i] > 0 ? 2 * math_log(s.ratio[i]) - (2 * n - 1) * mean : 0;
  } else {
    double size = shape->size[k - 1];
    *value = -s.gamma * s.full[k - 1] / size;
    for (int i = 0; i < s.parts; i++) factor[i] = ((2 * n - 1) * s.full[k - 1] - (i == k - 1 ? 2 * n : 0)) / size;
  }
  bool round = shape->kind == SMOOTH_CYLINDER;
  *gradient = vec3(v.gradient.x * factor[round ? 1 : 0], v.gradient.y * factor[round ? 0 : 1],
                   v.gradient.z * factor[round ? 0 : 2]);
}

/* Returns the distance of the farthest point from the centre (B5). The square of the distance is the maximum of sum
 * a_i^2 s_i subject to sum s_i^n = 1, which is the dual norm of the a_i^2. */
static double farthest(const Shape* shape, int parts) {
  double largest = 0, sum = 0, n = shape->exponent;
  for (int i = 0; i < parts; i++) largest = fmax(largest, shape->size[i]);
  if (n == 1) return largest;
  for (int i = 0; i < parts; i++) sum += math_pow(shape->size[i] / largest, 2 * n / (n - 1));
  return largest * math_pow(sum, (n - 1) / (2 * n));
}

const char* super_create(Shape* shape, const ShapeDefinition* form) {
  int parts = form->kind == SMOOTH_CYLINDER ? 2 : 3;
  if (!(form->exponent >= 1 && form->exponent <= SHAPE_EXPONENT_MAX)) return "exponent must be between 1 and 64";
  shape->exponent = form->exponent;
  shape->whole = floor(form->exponent) == form->exponent ? (int)form->exponent : 0;
  shape->inner = form->size[0];
  for (int i = 0; i < parts; i++) {
    shape->size[i] = form->size[i];
    shape->over[i] = 1 / form->size[i];
    shape->inner = fmin(shape->inner, form->size[i]);
  }
  shape->outer = farthest(shape, parts);
  return NULL;
}
