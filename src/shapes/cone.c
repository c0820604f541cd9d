/* Truncated cone (shapes.md, B2): a smooth maximum of three functions that are negative inside, f_s for the conical
 * side and f_b, f_t for the bottom and top ends. */
#include "base/lanes.h"
#include "shapes/shape.h"

enum { SIDE, BOTTOM, TOP, PIECES };
/* Smallest radius of the conical side, relative to the radius of the smaller end. The limit applies only far outside of
 * the body, near the apex of the extended cone. */
#define MIN_RADIUS_RATIO 1e-3
/* Number of samples along the axis for the check that the body is convex. */
enum { CONVEX_SAMPLES = 4000 };

typedef struct {
  double f[PIECES], weight[PIECES], value;
  double radius, radius_rate; /* R(x) and dR/dx of (B2); the derivative is 0 where the radius is limited */
  double r2;
} Cone;

static Cone evaluate_pieces(const Shape* shape, Vec3 z) {
  double bottom = shape->size[0], top = shape->size[1], below = shape->size[2], above = shape->size[3];
  Cone c = {.r2 = z.y * z.y + z.z * z.z};
  double slope = (top - bottom) / (below + above);
  c.radius = bottom + slope * (z.x + below);
  c.radius_rate = slope;
  double min_radius = MIN_RADIUS_RATIO * fmin(bottom, top);
  if (!(c.radius > min_radius)) {
    c.radius = min_radius;
    c.radius_rate = 0;
  }
  c.f[SIDE] = c.r2 / (c.radius * c.radius) - 1;
  c.f[BOTTOM] = -z.x / below - 1;
  c.f[TOP] = z.x / above - 1;
  double largest = fmax(c.f[SIDE], fmax(c.f[BOTTOM], c.f[TOP])), sum = 0;
  Lanes height = {c.f[SIDE] - largest, c.f[BOTTOM] - largest, c.f[TOP] - largest, -HUGE_VAL};
  Lanes weight = lanes_exp_nonpositive(height * shape->beta);
  for (int i = 0; i < PIECES; i++) sum += weight[i];
  for (int i = 0; i < PIECES; i++) c.weight[i] = weight[i] / sum;
  c.value = largest + math_log_above_one(sum) / shape->beta;
  return c;
}

static void cone_gradients(const Shape* shape, Vec3 z, const Cone* c, Vec3 g[PIECES]) {
  double q = 1 / (c->radius * c->radius);
  g[SIDE] = vec3(-2 * c->r2 * q / c->radius * c->radius_rate, 2 * z.y * q, 2 * z.z * q);
  g[BOTTOM] = vec3(-1 / shape->size[2], 0, 0);
  g[TOP] = vec3(1 / shape->size[3], 0, 0);
}

static Vec3 weighted_mean(const Cone* c, const Vec3 g[PIECES]) {
  Vec3 mean = vec3(0, 0, 0);
  for (int i = 0; i < PIECES; i++) mean = vec3_add_scaled(mean, c->weight[i], g[i]);
  return mean;
}

/* The gradient is the weighted mean of the gradients of the three functions. The Hessian is the weighted mean of their
 * Hessians plus beta times the covariance of their gradients. */
ShapeValue cone_evaluate(const Shape* shape, Vec3 z) {
  Cone c = evaluate_pieces(shape, z);
  Vec3 g[PIECES];
  cone_gradients(shape, z, &c, g);
  ShapeValue v = {.value = c.value, .gradient = weighted_mean(&c, g)};
  for (int i = 0; i < PIECES; i++) {
    Vec3 deviation = vec3_sub(g[i], v.gradient);
    v.hessian = mat3_add(v.hessian, mat3_scale(mat3_outer(deviation, deviation), shape->beta * c.weight[i]));
  }
  double q = 1 / (c.radius * c.radius), w = c.weight[SIDE], taper = c.radius_rate / c.radius;
  v.hessian.m[1][1] += 2 * w * q;
  v.hessian.m[2][2] += 2 * w * q;
  v.hessian.m[0][1] -= 4 * w * q * taper * z.y;
  v.hessian.m[1][0] -= 4 * w * q * taper * z.y;
  v.hessian.m[0][2] -= 4 * w * q * taper * z.z;
  v.hessian.m[2][0] -= 4 * w * q * taper * z.z;
  v.hessian.m[0][0] += 6 * w * q * taper * taper * c.r2;
  return v;
}

/* Sets *radius to the derivative of the cone's radius at the axial position z with respect to size[k]. Sets
 * *radius_rate to the derivative of the slope of the radius along the axis. size: bottom_radius, top_radius, below,
 * above. The radius is bottom_radius + slope (z + below), the slope (top_radius - bottom_radius) / (below + above). */
static void radius_slope(const Shape* shape, double z, int k, double* radius, double* radius_rate) {
  double h = shape->size[2] + shape->size[3], t = (z + shape->size[2]) / h;
  double slope = (shape->size[1] - shape->size[0]) / h;
  const double by_rate[4] = {-1 / h, 1 / h, -slope / h, -slope / h};
  const double by_radius[4] = {1 - t, t, slope * (1 - t), -slope * t};
  *radius_rate = by_rate[k];
  *radius = by_radius[k];
}

static void beta_slope(const Shape* shape, const Cone* c, const Vec3 g[PIECES], double* value, Vec3* gradient) {
  double mean = 0;
  *gradient = vec3(0, 0, 0);
  for (int i = 0; i < PIECES; i++) mean += c->weight[i] * c->f[i];
  for (int i = 0; i < PIECES; i++) *gradient = vec3_add_scaled(*gradient, c->weight[i] * (c->f[i] - mean), g[i]);
  *value = (mean - c->value) / shape->beta;
}

void cone_parameter_derivative(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient) {
  Cone c = evaluate_pieces(shape, z);
  Vec3 g[PIECES];
  cone_gradients(shape, z, &c, g);
  if (k == 0) {
    beta_slope(shape, &c, g, value, gradient);
    return;
  }
  double f[PIECES] = {
      0}; /* f, df: derivatives of the three functions, and of their gradients, with respect to the parameter */
  Vec3 df[PIECES] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  double radius = 0, radius_rate = 0, q = 1 / (c.radius * c.radius);
  if (c.radius_rate != 0 || shape->size[0] == shape->size[1]) radius_slope(shape, z.x, k - 1, &radius, &radius_rate);
  double shrink = -2 * q * radius / c.radius; /* derivative of 1 / R^2, where R is the cone's radius */
  f[SIDE] = c.r2 * shrink;
  df[SIDE] = vec3(-2 * c.r2 * (q / c.radius * radius_rate - 3 * q * q * c.radius_rate * radius), 2 * z.y * shrink,
                  2 * z.z * shrink);
  if (k == 3) {
    f[BOTTOM] = z.x / (shape->size[2] * shape->size[2]);
    df[BOTTOM].x = 1 / (shape->size[2] * shape->size[2]);
  }
  if (k == 4) {
    f[TOP] = -z.x / (shape->size[3] * shape->size[3]);
    df[TOP].x = -1 / (shape->size[3] * shape->size[3]);
  }
  Vec3 mean = weighted_mean(&c, g);
  *value = 0;
  *gradient = vec3(0, 0, 0);
  for (int i = 0; i < PIECES; i++) {
    *value += c.weight[i] * f[i];
    *gradient = vec3_add_scaled(*gradient, shape->beta * c.weight[i] * f[i], vec3_sub(g[i], mean));
    *gradient = vec3_add_scaled(*gradient, c.weight[i], df[i]);
  }
}

/* Returns the radius of the rounded body at position z of the axis: R sqrt(1 + log(1 - e^(beta f_b) - e^(beta f_t)) /
 * beta). R is the radius of the cone with sharp edges; f_b and f_t are the functions of its ends (B2). Returns -1 if
 * the formula has no real value. */
static double profile_radius(const Shape* shape, double z) {
  double beta = shape->beta, slope = (shape->size[1] - shape->size[0]) / (shape->size[2] + shape->size[3]);
  double ends = 0, f[2] = {-z / shape->size[2] - 1, z / shape->size[3] - 1};
  for (int i = 0; i < 2; i++) ends += f[i] < 0 ? math_exp_nonpositive(beta * f[i]) : 1;
  if (!(ends < 1)) return -1;
  double square = 1 + math_log(1 - ends) / beta;
  return square < 0 ? -1 : (shape->size[0] + slope * (z + shape->size[2])) * sqrt(square);
}

/* Returns the position at which the surface crosses the axis, by bisection between a position inside and a position
 * outside of the body. */
static double profile_end(const Shape* shape, double inside, double outside) {
  for (int k = 0; k < 60; k++) {
    double middle = 0.5 * (inside + outside);
    *(profile_radius(shape, middle) < 0 ? &outside : &inside) = middle;
  }
  return inside;
}

/* Returns the distance of the origin from the line through two points of the profile. a, b: position along the axis and
 * radius of each point. */
static double chord_distance(const double a[2], const double b[2]) {
  double dz = b[0] - a[0], dr = b[1] - a[1];
  return fabs(a[0] * dr - a[1] * dz) / sqrt(dz * dz + dr * dr);
}

/* Returns true if the profile, the radius as a function of the axial position, is concave, so that the body is convex.
 * Sets shape->inner to the smallest distance of a chord of the profile from the origin, because chords lie inside the
 * body (B5). */
static bool check_profile(Shape* shape) {
  double low = profile_end(shape, 0, -shape->size[2]), high = profile_end(shape, 0, shape->size[3]);
  double step = (high - low) / CONVEX_SAMPLES, previous[2] = {low, 0}, before_previous[2] = {low, 0};
  bool concave = true;
  shape->inner = fmin(-low, high);
  for (int i = 0; i <= CONVEX_SAMPLES; i++) {
    double z = i == CONVEX_SAMPLES ? high : low + i * step;
    double current[2] = {z, fmax(0, profile_radius(shape, z))};
    if (current[0] > previous[0] || current[1] > previous[1])
      shape->inner = fmin(shape->inner, chord_distance(previous, current));
    if (i > 1)
      concave = concave &&
                previous[1] - 0.5 * (before_previous[1] + current[1]) >= -1e-12 * (shape->size[0] + shape->size[1]);
    for (int k = 0; k < 2; k++) {
      before_previous[k] = previous[k];
      previous[k] = current[k];
    }
  }
  return concave;
}

const char* cone_create(Shape* shape, const ShapeDefinition* definition) {
  if (!(definition->beta > 0)) return "sharpness must be > 0";
  shape->beta = definition->beta;
  for (int i = 0; i < 4; i++) shape->size[i] = definition->size[i];
  if (!(cone_evaluate(shape, vec3(0, 0, 0)).value < 0)) return "sharpness must be above log 3: the origin lies inside";
  bool concave = check_profile(shape);
  for (int i = 0; i < 2; i++) /* the body lies inside the cone with sharp edges */
    shape->outer = fmax(shape->outer, sqrt(shape->size[i] * shape->size[i] + shape->size[2 + i] * shape->size[2 + i]));
  if (!concave) return "with these radii and this sharpness the body is not convex";
  return NULL;
}
