/* Overhang: sum over surface triangles of a link of A max(0, -n . b - sin(angle))^2, with area A, outward normal n and
 * build direction b. A surface that overhangs by more than `angle` needs support. Triangles inside another hull of the
 * link, or on the bed at the link's lowest level, need none.
 * Derivative, with S = A n, s = sin(angle) and e = max(0, -S . b / |S| - s):
 * f = |S| e^2,   df/dS = e^2 S/|S| + 2 e (-b - (S . -b) S / |S|^2) */
#include "differentiate/loss.h"

/* Tolerance for a triangle inside another hull or on the bed, relative to the link's size. */
#define TOLERANCE 1e-9

typedef struct {
  const LossTerm* term;
  const Model* model;
  Vec3 up;
  double bed, tolerance, sine; /* height of the bed and tolerance [m]; sine of the angle */
} BuildSetup;

static const ConvexHull* hull_solid(const BuildSetup* p, int hull) {
  return &p->model->hulls[p->term->hulls[hull].hull].solid;
}

static bool is_inside(const ConvexHull* solid, Vec3 point, double tolerance) {
  for (int t = 0; t < solid->triangle_count; t++) {
    const int* c = solid->triangles[t];
    Vec3 a = solid->vertices[c[0]];
    Vec3 n = vec3_cross(vec3_sub(solid->vertices[c[1]], a), vec3_sub(solid->vertices[c[2]], a));
    if (vec3_dot(n, vec3_sub(point, a)) > tolerance * vec3_norm(n)) return false;
  }
  return true;
}

static bool needs_no_support(const BuildSetup* p, int hull, Vec3 middle) {
  if (vec3_dot(p->up, middle) <= p->bed + p->tolerance) return true;
  for (int other = 0; other < p->term->hull_count; other++)
    if (other != hull && is_inside(hull_solid(p, other), middle, p->tolerance)) return true;
  return false;
}

static BuildSetup create_setup(const LossTerm* term, const Recording* recording) {
  BuildSetup p = {.term = term, .model = recording->model, .up = term->direction, .bed = HUGE_VAL};
  double high = -HUGE_VAL;
  for (int h = 0; h < term->hull_count; h++)
    for (int i = 0; i < term->hulls[h].vertex_count; i++) {
      double height = vec3_dot(p.up, hull_solid(&p, h)->vertices[i]);
      p.bed = fmin(p.bed, height);
      high = fmax(high, height);
    }
  p.tolerance = TOLERANCE * (high - p.bed);
  p.sine = math_sin(term->angle);
  return p;
}

/* Returns the value f of the triangle with corners c[3]. Sets *by_area to df/dS if f is not 0. */
static double triangle_value(const BuildSetup* p, int hull, const int* c, Vec3* by_area) {
  const Vec3* x = hull_solid(p, hull)->vertices;
  Vec3 s = vec3_scale(vec3_cross(vec3_sub(x[c[1]], x[c[0]]), vec3_sub(x[c[2]], x[c[0]])), 0.5);
  double area = vec3_norm(s), down = -vec3_dot(s, p->up), excess = down / area - p->sine;
  if (!(area > 0) || !(excess > 0)) return 0;
  if (needs_no_support(p, hull, vec3_scale(vec3_add(x[c[0]], vec3_add(x[c[1]], x[c[2]])), 1.0 / 3))) return 0;
  Vec3 n = vec3_scale(s, 1 / area);
  *by_area = vec3_add(vec3_scale(n, excess * excess - 2 * excess * down / area), vec3_scale(p->up, -2 * excess));
  return area * excess * excess;
}

double loss_overhang(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  BuildSetup p = create_setup(term, recording);
  double sum = 0;
  for (int h = 0; h < term->hull_count; h++) {
    const ConvexHull* solid = hull_solid(&p, h);
    for (int t = 0; t < solid->triangle_count; t++) {
      const int* c = solid->triangles[t];
      Vec3 by_area = {0, 0, 0};
      double triangle = triangle_value(&p, h, c, &by_area);
      sum += triangle;
      if (!seeds || triangle == 0) continue;
      Vec3* gradient = seeds->vertices + term->hulls[h].first_vertex;
      for (int k = 0; k < 3; k++) { /* dS/dx_k v = (x_l - x_m) x v / 2, with l and m the next two corners */
        Vec3 side = vec3_sub(solid->vertices[c[(k + 2) % 3]], solid->vertices[c[(k + 1) % 3]]);
        gradient[c[k]] = vec3_add_scaled(gradient[c[k]], term->weight / 2, vec3_cross(by_area, side));
      }
    }
  }
  return term->weight * sum;
}
