/* Surface points, extents and mass of a smooth shape. */
#include <assert.h>

#include "shapes/shapes.h"

/* Quadrature directions are points of the surface of a box around the centre. STRIPS: number of strips along each edge
 * of a face of the box. POINTS: number of Gauss points per strip. */
enum { STRIPS = 8, POINTS = 8 };

HullResult shape_mesh(const Shape* shape, int level, ConvexHull* mesh) {
  assert(level >= 0);
  int count;
  Vec3* points = primitive_sphere_points(level, &count);
  *mesh = (ConvexHull){0};
  if (!points) return HULL_FAILED;
  for (int i = 0; i < count; i++) points[i] = vec3_scale(points[i], 1 / shape_gauge_value(shape, points[i]));
  HullResult result = hull_create(mesh, points, count);
  memory_free(points);
  return result;
}

/* Nodes and weights of Gauss-Legendre quadrature on [-1, 1] with 8 points. */
static const double NODE[POINTS] = {-0.9602898564975363, -0.7966664774136267, -0.5255324099163290, -0.1834346424956498,
                                    0.1834346424956498,  0.5255324099163290,  0.7966664774136267,  0.9602898564975363};
static const double WEIGHT[POINTS] = {0.1012285362903763, 0.2223810344533745, 0.3137066458778873, 0.3626837833783620,
                                      0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};

/* Returns the position of Gauss point i, counted over all strips of the interval [-1, 1]. */
static double strip_position(int i) {
  int strip = i / POINTS;
  return (2 * strip + 1 + NODE[i % POINTS]) / STRIPS - 1;
}

/* Adds the moments of a thin cone from the shape's centre through a patch at the point x of a box around the shape. The
 * cone ends at the surface point x / gamma(x), with the gauge gamma. patch: area of the patch times its distance from
 * the centre [m^3], so the volume is patch / (3 gamma^3). */
static void add_cone(const Shape* shape, const double x[3], double patch, MassMoment* sum) {
  double gamma = shape_gauge_value(shape, vec3(x[0], x[1], x[2]));
  double volume = patch / (3 * gamma * gamma * gamma), first = volume * 3 / (4 * gamma);
  double second = volume * 3 / (5 * gamma * gamma);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) sum->s[i][k] += second * x[i] * x[k];
    sum->s[i][3] += first * x[i];
    sum->s[3][i] += first * x[i];
  }
  sum->s[3][3] += volume;
}

/* A Gauss point on a face of the box of directions, with the weight of its patch. */
typedef struct {
  double x[3]; /* position on the box, divided by the half extents of the shape */
  double weight;
} Direction;

enum { FACES = 6, ROW = STRIPS * POINTS, DIRECTIONS = FACES * ROW * ROW };

static Direction quadrature_direction(int number) {
  int face = number / (ROW * ROW), i = number / ROW % ROW, k = number % ROW, a = face / 2;
  Direction d = {.weight = WEIGHT[i % POINTS] * WEIGHT[k % POINTS] / (STRIPS * STRIPS)};
  d.x[a] = face % 2 ? 1 : -1;
  d.x[(a + 1) % 3] = strip_position(i);
  d.x[(a + 2) % 3] = strip_position(k);
  return d;
}

/* Returns true if the body is symmetric about the plane perpendicular to an axis of its frame. All bodies are symmetric
 * in this sense, except polytopes, and cones for the direction of their own axis. */
static bool is_symmetric(const Shape* shape, int axis) {
  return shape->kind != SMOOTH_POLYTOPE && !(shape->kind == SMOOTH_CONE && axis == 0);
}

/* Doubles the weight of a direction for each plane of symmetry. Returns false if the direction is the mirror image of
 * another one. */
static bool reduce_by_symmetry(const Shape* shape, Direction* d) {
  for (int i = 0; i < 3; i++) {
    if (!is_symmetric(shape, i)) continue;
    if (d->x[i] < 0) return false;
    d->weight *= 2;
  }
  return true;
}

/* Sets the moments to zero that are zero because of the symmetry of the shape. */
static void zero_odd_moments(const Shape* shape, MassMoment* sum) {
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 4 && is_symmetric(shape, i); k++)
      if (k != i) sum->s[i][k] = sum->s[k][i] = 0;
}

MassMoment shape_mass(const Shape* shape) {
  Vec3 e = shape_extents(shape);
  MassMoment sum = mass_moment_zero();
  for (int n = 0; n < DIRECTIONS; n++) {
    Direction d = quadrature_direction(n);
    if (!reduce_by_symmetry(shape, &d)) continue;
    const double x[3] = {e.x * d.x[0], e.y * d.x[1], e.z * d.x[2]};
    add_cone(shape, x, e.x * e.y * e.z * d.weight, &sum);
  }
  zero_odd_moments(shape, &sum);
  return sum;
}

/* ---------------------------------------------------------------- derivatives with respect to shape parameters
 * (shapes.md, B8) */

/* Returns the derivative of the gauge gamma at a fixed point y with respect to parameter k. From phi(y / gamma) = 0
 * follows dphi = (grad phi . z) dgamma / gamma at z = y / gamma, where dphi is the derivative of phi with respect to
 * the parameter. */
static double gauge_derivative(const Shape* shape, Vec3 y, double gamma, int k) {
  double value;
  Vec3 z = vec3_scale(y, 1 / gamma), gradient;
  shape_parameter_derivative(shape, z, k, &value, &gradient);
  return gamma * value / vec3_dot(z, shape_evaluate(shape, z).gradient);
}

/* Returns the extent of the body along a unit axis of its frame. If k >= 0, returns the derivative of the extent with
 * respect to parameter k. */
static double axis_extent(const Shape* shape, Vec3 axis, int k) {
  double gamma = shape_gauge_value(shape, axis);
  return k < 0 ? 1 / gamma : -gauge_derivative(shape, axis, gamma, k) / (gamma * gamma);
}

static Vec3 mean_extents(const Shape* shape, int k) {
  double e[3];
  for (int i = 0; i < 3; i++) {
    Vec3 axis = vec3(i == 0, i == 1, i == 2);
    e[i] = 0.5 * (axis_extent(shape, axis, k) + axis_extent(shape, vec3_scale(axis, -1), k));
  }
  return vec3_at(e);
}

Vec3 shape_extents(const Shape* shape) { return mean_extents(shape, -1); }

Vec3 shape_extents_derivative(const Shape* shape, int k) {
  assert(k >= 0 && k < shape_parameter_count(shape));
  return mean_extents(shape, k);
}

static Vec3 scale_components(Vec3 s, Vec3 e) { return vec3(s.x * e.x, s.y * e.y, s.z * e.z); }

void shape_surface_points(const Shape* shape, Vec3* points, int count) {
  assert(points || count == 0);
  Vec3 e = shape_extents(shape);
  for (int i = 0; i < count; i++) {
    Vec3 x = scale_components(points[i], e);
    points[i] = vec3_scale(x, 1 / shape_gauge_value(shape, x));
  }
}

Vec3 shape_surface_point(const Shape* shape, Vec3 s) {
  shape_surface_points(shape, &s, 1);
  return s;
}

Vec3 shape_surface_derivative(const Shape* shape, Vec3 s, int k) {
  assert(k >= 0 && k < shape_parameter_count(shape));
  Vec3 x = scale_components(s, shape_extents(shape)), dx = scale_components(s, shape_extents_derivative(shape, k));
  Gauge g = shape_gauge(shape, x);
  double change = gauge_derivative(shape, x, g.value, k) + vec3_dot(g.gradient, dx);
  return vec3_scale(vec3_add_scaled(dx, -change / g.value, x), 1 / g.value);
}

/* Adds the derivative, with respect to a shape parameter, of the moments of the cone of add_cone. volume: volume of the
 * cone. gauge: gauge at x. dx: derivative of the point x. patch, gamma: derivatives of the logarithms of the patch area
 * and of the gauge. */
static void add_cone_derivative(const double x[3], const double dx[3], double volume, double gauge, double patch,
                                double gamma, MassMoment* sum) {
  double first = volume * 3 / (4 * gauge), second = volume * 3 / (5 * gauge * gauge);
  double by_volume = patch - 3 * gamma, by_first = patch - 4 * gamma, by_second = patch - 5 * gamma;
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) sum->s[i][k] += second * (by_second * x[i] * x[k] + dx[i] * x[k] + x[i] * dx[k]);
    sum->s[i][3] += first * (by_first * x[i] + dx[i]);
    sum->s[3][i] += first * (by_first * x[i] + dx[i]);
  }
  sum->s[3][3] += volume * by_volume;
}

void shape_mass_derivatives(const Shape* shape, MassMoment* out) {
  int count = shape_parameter_count(shape);
  Vec3 e = shape_extents(shape), *de = MEMORY_NEW(Vec3, count);
  for (int k = 0; k < count; k++) {
    de[k] = shape_extents_derivative(shape, k);
    out[k] = mass_moment_zero();
  }
  for (int n = 0; n < DIRECTIONS; n++) {
    Direction d = quadrature_direction(n);
    if (!reduce_by_symmetry(shape, &d)) continue;
    Vec3 s = vec3_at(d.x), x = scale_components(s, e);
    const double at[3] = {x.x, x.y, x.z};
    Gauge g = shape_gauge(shape, x);
    double volume = e.x * e.y * e.z * d.weight / (3 * g.value * g.value * g.value);
    for (int k = 0; k < count; k++) {
      Vec3 dx = scale_components(s, de[k]);
      const double moved[3] = {dx.x, dx.y, dx.z};
      double gamma = (gauge_derivative(shape, x, g.value, k) + vec3_dot(g.gradient, dx)) / g.value;
      add_cone_derivative(at, moved, volume, g.value, de[k].x / e.x + de[k].y / e.y + de[k].z / e.z, gamma, &out[k]);
    }
  }
  for (int k = 0; k < count; k++) zero_odd_moments(shape, &out[k]);
  memory_free(de);
}
