/* What is measured of a whole body: its surface for pictures, its mass. */
#include "shapes/shapes.h"

/* Each face of the cube of directions in so many strips both ways, with so many Gauss points each. */
enum { STRIPS = 8, POINTS = 8 };

HullResult shape_mesh(const Shape* shape, int level, ConvexHull* mesh) {
  ConvexHull sphere;
  HullResult result = primitive_sphere(&sphere, 1, level);
  if (result != HULL_OK) return result;
  for (int i = 0; i < sphere.vertex_count; i++)
    sphere.vertices[i] = vec3_scale(sphere.vertices[i], 1 / shape_gauge(shape, sphere.vertices[i]).value);
  result = hull_create(mesh, sphere.vertices, sphere.vertex_count);
  hull_free(&sphere);
  return result;
}

/* Gauss-Legendre on [-1, 1], of order 8. */
static const double NODE[POINTS] = {-0.9602898564975363, -0.7966664774136267, -0.5255324099163290, -0.1834346424956498,
                                    0.1834346424956498,  0.5255324099163290,  0.7966664774136267,  0.9602898564975363};
static const double WEIGHT[POINTS] = {0.1012285362903763, 0.2223810344533745, 0.3137066458778873, 0.3626837833783620,
                                      0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};

/* Gauss point i of the strips of [-1, 1]. */
static double place_of(int i) {
  int strip = i / POINTS;
  return (2 * strip + 1 + NODE[i % POINTS]) / STRIPS - 1;
}

/* The cone from the centre over a patch du dv of the box's face reaches to x / gamma(x): volume dV / gamma^3 with
 * dV = e_1 e_2 e_3 du dv / 3, and moments alike. */
static void add_cone(const Shape* shape, const double x[3], double patch, MassMoment* sum) {
  double gamma = shape_gauge(shape, vec3(x[0], x[1], x[2])).value;
  double volume = patch / (3 * gamma * gamma * gamma), first = volume * 3 / (4 * gamma);
  double second = volume * 3 / (5 * gamma * gamma);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) sum->s[i][k] += second * x[i] * x[k];
    sum->s[i][3] += first * x[i];
    sum->s[3][i] += first * x[i];
  }
  sum->s[3][3] += volume;
}

MassMoment shape_mass(const Shape* shape) {
  double extent[3], product = 1;
  MassMoment sum = mass_moment_zero();
  for (int k = 0; k < 3; k++) {
    Vec3 axis = vec3(k == 0, k == 1, k == 2);
    extent[k] = 0.5 / shape_gauge(shape, axis).value + 0.5 / shape_gauge(shape, vec3_scale(axis, -1)).value;
    product *= extent[k];
  }
  for (int face = 0; face < 6; face++)
    for (int i = 0; i < STRIPS * POINTS; i++)
      for (int k = 0; k < STRIPS * POINTS; k++) {
        double u = place_of(i);
        double v = place_of(k);
        int a = face / 2, b = (a + 1) % 3, c = (a + 2) % 3;
        double x[3];
        x[a] = face % 2 ? extent[a] : -extent[a];
        x[b] = u * extent[b];
        x[c] = v * extent[c];
        add_cone(shape, x, product * WEIGHT[i % POINTS] * WEIGHT[k % POINTS] / (STRIPS * STRIPS), &sum);
      }
  return sum;
}
